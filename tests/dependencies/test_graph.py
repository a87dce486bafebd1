"""Keys, edges, and what follows from them, on logs made for one question each."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import replay
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.cli import main
from replay.decoding.hashes import hash_ranges, hash_values
from replay.dependencies.graph import (
    Edges,
)
from replay.errors import Refusal
from replay.output.bundle import Bundle
from sqlgen.ddl.ddl_reader import parse_constraints
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Column, Constraints, ForeignKey, SqlType, Table
from tests.support.history import CHILD, DEPT, EMP, LOOSE, PARENT
from tests.support.logbuilder import ACCT, LogBuilder, Unit, acct, statements

FK = Constraints(foreign_keys=(ForeignKey("FK", "TESTOWN.CHILD", ("PID",), "TESTOWN.PARENT"),))


def undo(log: LogBuilder, folder: Path, *units: Unit, cascade: str = "none", **how: Any) -> Bundle:
    units_asked = tuple(unit.key for unit in units)
    return log.selected(folder, "undo", units=units_asked, cascade=cascade, **how)


# -- hashes
# -------------------------------------------------------------------------------------------------


@given(st.lists(st.binary(max_size=40), max_size=30), st.binary(max_size=9))
def test_equal_bytes_and_only_they_have_equal_hashes(values: list[bytes], around: bytes) -> None:
    data = np.frombuffer(around + b"".join(values) + around, np.uint8)
    length = np.array([len(value) for value in values], np.int64)
    start = len(around) + np.cumsum(length) - length
    hashes = hash_ranges(data, start, start + length).tolist()
    assert len(set(zip(values, hashes, strict=True))) == len(set(values)) == len(set(hashes))


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        (SqlType.CHAR, "AB  ", "AB"),
        (SqlType.VARCHAR, "", "   "),
        (SqlType.DECIMAL, "10.50", "10.5"),
        (SqlType.DECIMAL, "100.00", "100"),
        (SqlType.TIMESTAMP, "2024-01-01 10:00:00.100000", "2024-01-01 10:00:00.1"),
    ],
)
def test_what_db2_compares_as_equal_has_one_hash(kind: SqlType, one: str, other: str) -> None:
    found = hash_values(pa.array([one, other, one + "1"]), kind)
    assert found[0] == found[1] != found[2]


def test_numbers_nulls_and_zeros() -> None:
    whole = hash_values(pa.array([1, None, 0, -1]), SqlType.INTEGER)
    assert len(set(whole.tolist())) == 4
    floats = hash_values(pa.array([0.0, -0.0, None, 1.5]), SqlType.DOUBLE)
    assert floats[0] == floats[1]
    assert len(set(floats.tolist())) == 3
    text = hash_values(pa.array(["100", "1", None]), SqlType.DECIMAL)
    assert len(set(text.tolist())) == 3


def test_reach_follows_edges_forward() -> None:
    pairs = np.array([[1, 2], [2, 3], [4, 5], [3, 1]], np.uint64)
    edges = Edges([pairs[:2].tobytes(), b"", pairs[2:].tobytes()])
    assert edges.reach(np.array([1], np.uint64)).tolist() == [1, 2, 3]
    assert edges.reach(np.array([5, 4], np.uint64)).tolist() == [4, 5]
    assert Edges([]).reach(np.array([9], np.uint64)).tolist() == [9]


# -- undo of chosen units
# -------------------------------------------------------------------------------------------------


def changed_twice(first: dict[str, Any], second: dict[str, Any]) -> tuple[LogBuilder, Unit, Unit]:
    """A row inserted by one unit and changed by two more."""
    log = LogBuilder()
    row = acct(1)
    middle = acct(1, **first)
    last = tuple(
        new if new != old else kept
        for old, new, kept in zip(row, acct(1, **second), middle, strict=True)
    )
    log.unit().insert(ACCT, row)
    one, two = log.unit(), log.unit()
    one.update(ACCT, row, middle)
    two.update(ACCT, middle, last)
    return log, one, two


def test_updates_of_the_same_column_are(tmp_path: Path) -> None:
    log, one, two = changed_twice({"name": "NEW"}, {"name": "NEWER"})
    with pytest.raises(Refusal, match="LR3010") as refused:
        undo(log, tmp_path, one)
    assert two.name in str(refused.value)
    assert "acct/1" in str(refused.value)
    assert not (tmp_path / "out").exists()
    both = undo(log, tmp_path, one, cascade="all")
    assert both.exit_code == 4
    assert statements(both) == [
        "UPDATE testown.acct SET name = 'NEW' WHERE id = 1;",
        "UPDATE testown.acct SET name = 'ABCDE' WHERE id = 1;",
    ]
    assert both.manifest["consequences"]["units"] == [two.name]
    assert statements(undo(log, tmp_path, one, cascade="force")) == [
        "UPDATE testown.acct SET name = 'ABCDE' WHERE id = 1;"
    ]
    left = undo(log, tmp_path, one, cascade="non-conflicting")
    assert statements(left) == []
    assert (
        left.manifest["balance"]["skipped"][
            "a later change depends on it (--cascade non-conflicting)"
        ]
        == 1
    )


def test_a_value_set_and_set_back_is_a_conflict_all_the_same(tmp_path: Path) -> None:
    log = LogBuilder()
    log.unit().insert(ACCT, acct(1))
    one, two, three = log.unit(), log.unit(), log.unit()
    one.update(ACCT, acct(1), acct(1, "B"))
    two.update(ACCT, acct(1, "B"), acct(1))
    three.update(ACCT, acct(1), acct(1, "B"))
    with pytest.raises(Refusal) as refused:
        undo(log, tmp_path, one)
    assert two.name in str(refused.value)
    assert undo(log, tmp_path, one, cascade="all").manifest["consequences"]["units"] == [
        two.name,
        three.name,
    ]


def test_a_row_inserted_and_later_deleted_and_inserted_again(tmp_path: Path) -> None:
    log = LogBuilder()
    one, two, three = log.unit(), log.unit(), log.unit()
    one.insert(ACCT, acct(1))
    two.delete(ACCT, acct(1))
    three.insert(ACCT, acct(1, "C"))
    with pytest.raises(Refusal) as refused:
        undo(log, tmp_path, one)
    assert two.name in str(refused.value)
    with pytest.raises(Refusal) as refused:
        undo(log, tmp_path, two)
    assert three.name in str(refused.value)
    assert len(statements(undo(log, tmp_path, one, cascade="all"))) == 3


def test_children_keep_their_parent(tmp_path: Path) -> None:
    log = LogBuilder((PARENT, CHILD))
    one, two = log.unit(), log.unit()
    one.insert(PARENT, (1, "A", 0, 0))
    two.insert(CHILD, (7, 1, 0))
    assert undo(log, tmp_path, one).exit_code == 0
    with pytest.raises(Refusal, match="parent/1") as refused:
        undo(log, tmp_path, one, constraints=FK)
    assert "refers to the row" in str(refused.value)


def test_a_deleted_child_does_not_come_back_without_its_parent(tmp_path: Path) -> None:
    log = LogBuilder((PARENT, CHILD))
    one, two = log.unit(), log.unit()
    one.delete(CHILD, (7, 1, 0))
    two.delete(PARENT, (1, "A", 0, 0))
    with pytest.raises(Refusal, match="deleted the parent"):
        undo(log, tmp_path, one, constraints=FK)
    assert len(statements(undo(log, tmp_path, one, constraints=FK, cascade="all"))) == 2


def test_a_unique_value_that_somebody_took(tmp_path: Path) -> None:
    log = LogBuilder((PARENT,))
    one, two = log.unit(), log.unit()
    one.delete(PARENT, (1, "A", 0, 0))
    two.insert(PARENT, (2, "A", 0, 0))
    assert undo(log, tmp_path, one).exit_code == 0
    with pytest.raises(Refusal, match=r"later used the same key  parent/A"):
        undo(log, tmp_path, one, constraints=Constraints(keys=(("TESTOWN.PARENT", ("CODE",)),)))


def test_a_truncated_table_keeps_nothing_to_undo(tmp_path: Path) -> None:
    log = LogBuilder((ACCT, LOOSE))
    one, two, three = log.unit(), log.unit(), log.unit()
    one.insert(ACCT, acct(1))
    two.event(ACCT, "DT")
    three.insert(ACCT, acct(1))
    with pytest.raises(Refusal, match="emptied") as refused:
        undo(log, tmp_path, one)
    assert two.name in str(refused.value)
    left = log.selected(tmp_path, "redo", excepted=Selection(units=(two.key,)))
    assert left.manifest["consequences"]["units"] == [three.name]
    assert left.manifest["balance"]["skipped"] == {
        "depends on an excluded unit (--except)": 1,
        "excluded (--except)": 1,
    }


def test_selection_by_value_and_by_table(tmp_path: Path) -> None:
    log = LogBuilder((ACCT, LOOSE))
    one, two = log.unit(), log.unit()
    one.insert(ACCT, acct(1))
    one.insert(ACCT, acct(2))
    one.insert(LOOSE, ("p", 1))
    two.update(ACCT, acct(2), acct(2, "X"))
    assert len(statements(log.selected(tmp_path, "undo", where="after.ID = 1"))) == 1
    with pytest.raises(Refusal, match="acct/2"):
        log.selected(tmp_path, "undo", ops=("insert",), where="after.ID = 2")
    assert len(statements(log.selected(tmp_path, "undo", tables=("*.LOOSE",)))) == 1
    with pytest.raises(Refusal, match="acct/2"):
        log.selected(tmp_path, "undo", ops=("insert",))


def test_a_later_change_of_the_same_unit_counts_too(tmp_path: Path) -> None:
    log = LogBuilder()
    one = log.unit()
    one.insert(ACCT, acct(1))
    one.update(ACCT, acct(1), acct(1, "X"))
    with pytest.raises(Refusal, match="acct/1"):
        log.selected(tmp_path, "undo", ops=("insert",))


def test_the_history_of_a_row_is_never_torn(tmp_path: Path) -> None:
    log = LogBuilder()
    one, two, three = log.unit(), log.unit(), log.unit()
    one.update(ACCT, acct(1, "A", "1.00"), acct(1, "B", "1.00"))
    one.update(ACCT, acct(1, "B", "1.00"), acct(1, "B", "2.00"))
    one.update(ACCT, acct(2, "A"), acct(3, "A"))
    one.update(ACCT, acct(3, "A"), acct(3, "B"))
    one.update(ACCT, acct(4, "A"), acct(4, "B"))
    two.update(ACCT, acct(1, "B", "2.00"), acct(1, "B", "3.00"))
    two.update(ACCT, acct(3, "B"), acct(3, "C"))
    three.update(ACCT, acct(4, "B", "1.00"), acct(4, "B", "2.00"))
    left = undo(log, tmp_path, one, cascade="non-conflicting")
    assert statements(left) == ["UPDATE testown.acct SET name = 'A' WHERE id = 4;"]


def test_what_a_unit_did_before_another_that_is_left_is_left_too(tmp_path: Path) -> None:
    log = LogBuilder()
    one, two, three = log.unit(AUTHID="ME"), log.unit(AUTHID="ME"), log.unit()
    one.update(ACCT, acct(1, "A", "1.00"), acct(1, "B", "1.00"))
    two.update(ACCT, acct(1, "B", "1.00"), acct(1, "B", "2.00"))
    three.update(ACCT, acct(1, "B", "2.00"), acct(1, "B", "3.00"))
    two.update(ACCT, acct(2, "A", "1.00"), acct(2, "B", "1.00"))
    one.update(ACCT, acct(2, "A", "0.00"), acct(2, "A", "1.00"))
    left = log.selected(tmp_path, "undo", authids=("ME",), cascade="non-conflicting")
    assert [text for text in statements(left) if "id = 1" in text] == []
    assert len(statements(left)) == 2


def test_half_of_a_cause_is_never_left(tmp_path: Path) -> None:
    log = LogBuilder((PARENT, CHILD))
    one, two = log.unit(), log.unit()
    one.delete(PARENT, (1, "A", 0, 0))
    one.delete(CHILD, (7, 1, 0), SQLSRCTYPE="R")
    one.delete(CHILD, (8, 1, 0), SQLSRCTYPE="R")
    one.insert(PARENT, (2, "B", 0, 0))
    two.insert(CHILD, (8, None, 5))
    left = undo(log, tmp_path, one, cascade="non-conflicting", constraints=FK)
    assert statements(left) == ["DELETE FROM testown.parent WHERE id = 2;"]
    assert left.manifest["consequences"]["blocked_changes"] == 3


def test_a_selection_that_reaches_the_end_needs_no_question(tmp_path: Path) -> None:
    log, one, _ = changed_twice({"name": "NEW"}, {"name": "NEWER"})
    bundle = log.selected(tmp_path, "undo", from_position=one.more["UORCOMMITLRSN"])
    assert len(statements(bundle)) == 2
    assert "consequences" not in bundle.manifest


# -- incomplete units
# -------------------------------------------------------------------------------------------------


def quarantined(bundle: Bundle) -> dict[str, str]:
    return {entry["unit"]: entry["reason"] for entry in bundle.manifest["quarantined_units"]}


def test_flags_are_taken_back_where_nothing_depends(tmp_path: Path) -> None:
    log = LogBuilder()
    earlier, bad, released, built = (
        log.unit(),
        log.unit(INCOMPLETETRANS="Y"),
        log.unit(INCOMPLETEDEP="Y"),
        log.unit(INCOMPLETEDEP="Y"),
    )
    earlier.insert(ACCT, acct(2))
    bad.insert(ACCT, acct(1))
    released.update(ACCT, acct(2), acct(2, "NEW"))
    built.delete(ACCT, acct(1))
    bundle = log.selected(tmp_path, "redo")
    assert set(quarantined(bundle)) == {bad.name, built.name}
    assert (
        quarantined(bundle)[built.name]
        == f"LR3011 it depends on a unit that is incomplete (INCOMPLETETRANS): {bad.name} ->"
        f" acct/1 -> {built.name}"
    )
    assert released.name in (bundle.folder / "0000-redo.sql").read_text().replace(" member=", "/")
    apart = json.loads((bundle.folder / "quarantine" / "manifest.json").read_text())
    assert apart["statements"] == 2
    assert apart["missing_inputs"][0]["unit"] == bad.name
    assert apart["missing_inputs"][0]["holds"] == 2
    bundle = log.selected(tmp_path, "redo", incomplete="quarantine")
    assert set(quarantined(bundle)) == {bad.name, released.name, built.name}
    apart = json.loads((bundle.folder / "quarantine" / "manifest.json").read_text())
    assert {unit["unit"]: len(unit["path"]) for unit in apart["units"]} == {
        bad.name: 0,
        released.name: 0,
        built.name: 1,
    }
    assert apart["statements"] == 3
    assert apart["missing_inputs"][0]["holds"] == 2
    assert bundle.manifest["quarantine"]["released"] == 0


@pytest.mark.parametrize("how", ["quarantine", "dependentrba", "resolve"])
def test_units_that_build_on_flagged_ones_without_a_flag_are_named(
    tmp_path: Path, how: str
) -> None:
    """Where the flags alone decide, they are in the script, and that is said."""
    log = LogBuilder()
    bad, flagged, built = log.unit(INCOMPLETETRANS="Y"), log.unit(INCOMPLETEDEP="Y"), log.unit()
    bad.insert(ACCT, acct(1))
    flagged.update(ACCT, acct(1), acct(1, "A"))
    built.update(ACCT, acct(1, "A"), acct(1, "B"))
    log.unit().insert(ACCT, acct(2))
    bundle = log.selected(tmp_path, "redo", incomplete=how)
    text = (bundle.folder / "0000-redo.sql").read_text().replace(" member=", "/")
    told = [warning for warning in bundle.manifest["warnings"] if "by the log's flags" in warning]
    taken = bundle.manifest["quarantine"].get("taken")
    if how == "resolve":
        assert built.name in quarantined(bundle)
        assert (told, taken) == ([], None)
    else:
        # The log has no DEPENDENTRBA: all that is set aside says itself that it lacks changes.
        others = [built] if how == "quarantine" else [flagged, built]
        assert set(quarantined(bundle)) == {u.name for u in (bad, flagged)} - {
            one.name for one in others
        }
        assert taken == {"units": len(others), "first": [unit.name for unit in others]}
        for unit in others:
            assert unit.name in text
            assert unit.name in told[0]
        assert f"--incomplete {how}" in told[0]


@pytest.mark.parametrize("how", ["quarantine", "dependentrba"])
@pytest.mark.parametrize(
    ("selection", "named"),
    [
        ({}, ["one", "other"]),
        ({"where": "after.ID <> 1"}, ["other"]),
        ({"tables": ("*.EMP",)}, []),
        ({"until": 2}, ["one"]),
        ({"except": 2}, ["other"]),
    ],
)
def test_only_units_that_are_written_count_as_taken(
    tmp_path: Path, how: str, selection: dict[str, Any], named: list[str]
) -> None:
    """Units that build on flagged ones, but lie outside of what is selected, are not named."""
    log = LogBuilder((ACCT, EMP))
    bad = log.unit(INCOMPLETETRANS="Y")
    units = [log.unit() for _ in range(2)]
    free = log.unit()
    bad.insert(ACCT, acct(1))
    bad.insert(ACCT, acct(2))
    for number, unit in enumerate(units):
        unit.update(ACCT, acct(number + 1), acct(number + 1, "A"))
    free.insert(EMP, (1, None, None))
    last = selection.pop("until", None)
    if last is not None:
        selection["until_position"] = units[last - 2].more["UORCOMMITLRSN"]
    if selection.pop("except", None):
        selection["excepted"] = Selection(units=(units[0].key,))
    bundle = log.selected(tmp_path, "redo", incomplete=how, **selection)
    names = dict(zip(("one", "other"), [one.name for one in units], strict=True))
    wanted = [names[one] for one in named]
    taken = bundle.manifest.get("quarantine", {}).get("taken")
    assert taken == ({"units": len(wanted), "first": wanted} if wanted else None)
    text = "".join(path.read_text() for path in bundle.folder.glob("*.sql"))
    assert [name for name in names.values() if name in text.replace(" member=", "/")] == wanted


def test_what_builds_on_a_unit_that_only_its_flag_sets_aside_counts_as_taken(
    tmp_path: Path,
) -> None:
    """A flagged unit is left out whether or not it hangs on an incomplete one: what changes its
    rows later finds them otherwise."""
    log = LogBuilder()
    earlier, bad, flagged, built, free = (
        log.unit(),
        log.unit(INCOMPLETETRANS="Y"),
        log.unit(INCOMPLETEDEP="Y"),
        log.unit(),
        log.unit(),
    )
    earlier.insert(ACCT, acct(1))
    bad.insert(ACCT, acct(9))
    flagged.update(ACCT, acct(1), acct(1, "A"))
    built.update(ACCT, acct(1, "A"), acct(1, "B"))
    free.insert(ACCT, acct(2))
    bundle = log.selected(tmp_path, "redo", incomplete="quarantine")
    assert set(quarantined(bundle)) == {bad.name, flagged.name}
    assert bundle.manifest["quarantine"]["taken"] == {"units": 1, "first": [built.name]}


def test_upserts_by_flags_leave_whole_rows_only_where_a_flagged_unit_touched_them(
    tmp_path: Path,
) -> None:
    log = LogBuilder()
    bad, flagged, built, free = (
        log.unit(INCOMPLETETRANS="Y"),
        log.unit(INCOMPLETEDEP="Y"),
        log.unit(),
        log.unit(),
    )
    bad.insert(ACCT, acct(9))
    flagged.update(ACCT, acct(1), acct(1, "A"))
    flagged.update(ACCT, acct(2), acct(2, "A"))
    built.update(ACCT, acct(1, "A"), acct(3, "A"))
    free.update(ACCT, acct(4), acct(5))
    options = ScriptOptions(render=RenderOptions(upsert=True))
    bundle = log.selected(tmp_path, "redo", options=options, incomplete="quarantine")
    assert set(quarantined(bundle)) == {bad.name, flagged.name, built.name}
    assert quarantined(bundle)[built.name].startswith("a change of the unit is damaged, or cannot")
    assert [line.split()[0] for line in statements(bundle)] == ["DELETE", "INSERT"]


def test_a_row_that_the_log_left_otherwise_holds_a_flagged_unit(tmp_path: Path) -> None:
    log = LogBuilder()
    bad, first, second, third = (
        log.unit(INCOMPLETETRANS="Y"),
        log.unit(),
        log.unit(INCOMPLETEDEP="Y"),
        log.unit(INCOMPLETEDEP="Y"),
    )
    bad.insert(ACCT, acct(9))
    first.insert(ACCT, acct(1))
    second.update(ACCT, acct(1, "LOST"), acct(1, "NEW"))
    third.delete(ACCT, acct(1, "NEW"))
    found = quarantined(log.selected(tmp_path, "redo"))
    assert set(found) == {bad.name, second.name, third.name}
    assert "a record is missing" in found[second.name]
    assert found[third.name].endswith(f"{second.name} -> acct/1 -> {third.name}")


def test_what_builds_on_a_damaged_unit_is_held_too(tmp_path: Path) -> None:
    log = LogBuilder()
    bad, built, free = log.unit(), log.unit(), log.unit()
    bad.insert(ACCT, acct(1))
    bad.insert(ACCT, acct(3), LOGRECDISP="?")
    built.update(ACCT, acct(1), acct(1, "X"))
    free.insert(ACCT, acct(2))
    bundle = log.selected(tmp_path, "redo")
    assert bundle.exit_code == 8
    assert set(quarantined(bundle)) == {bad.name, built.name}
    assert "damaged" in quarantined(bundle)[built.name]
    assert len(statements(bundle)) == 1


def test_segmented_changes_are_followed(tmp_path: Path) -> None:
    log = LogBuilder()
    bad, built = log.unit(INCOMPLETETRANS="Y"), log.unit(INCOMPLETEDEP="Y")
    bad.insert(ACCT, acct(1), cuts=(10, 30))
    built.update(ACCT, acct(1), acct(1, "X"), cuts=(40,))
    control, data = log.write(tmp_path, seed=3, files=3)
    bundle = replay.write_script(control, data, tmp_path / "out")
    assert set(quarantined(bundle)) == {bad.name, built.name}
    assert bundle.manifest["balance"]["quarantined"] == 5


# -- the command line
# -------------------------------------------------------------------------------------------------


@pytest.fixture
def two_units(tmp_path: Path) -> tuple[list[str], Unit, Unit]:
    log, one, two = changed_twice({"name": "NEW"}, {"name": "NEWER"})
    control, data = log.write(tmp_path)
    return ["--control", str(control), "--data", *map(str, data), "--engine", "local"], one, two


def test_a_graph_draws_what_whatif_counts_as_direct(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One definition: by the columns that a change writes, as an undo decides."""
    log = LogBuilder()
    one, two, three = (log.unit() for _ in range(3))
    one.insert(ACCT, acct(1))
    two.update(ACCT, acct(1), acct(1, name="NEW"))
    three.delete(ACCT, acct(1, name="NEW"))
    control, data = log.write(tmp_path)
    words = ["--control", str(control), "--data", *map(str, data), "--schema", "none"]
    words += ["--engine", "local"]
    assert main.main(["whatif", *words, "--ur", one.name]) == 0
    assert "2 (2 directly)" in capsys.readouterr().out
    assert main.main(["graph", *words, "--ur", one.name, "--out", "-", "--format", "json"]) == 0
    edges = json.loads(capsys.readouterr().out)["edges"]
    assert edges["from"].count(0) == 2


def test_refused_undo_on_the_command_line(
    two_units: tuple[list[str], Unit, Unit], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, one, _ = two_units
    out = ["--dialect", "postgres", "--out", str(tmp_path / "o")]
    assert main.main(["undo", *log, *out, "--ur", one.name]) == 8
    assert "LR3010" in capsys.readouterr().err
    assert main.main(["undo", *log, *out, "--ur", one.name, "--cascade", "all"]) == 4
    assert "1 unit depends on what was chosen" in capsys.readouterr().err
    assert main.main(["redo", *log, *out, "--overwrite", "--except", one.name]) == 4
    manifest = json.loads((tmp_path / "o" / "manifest.json").read_text())
    assert manifest["selection"]["excepted"] == {"units": [one.name]}
    assert manifest["statements"] == 1


def test_a_schema_file(
    two_units: tuple[list[str], Unit, Unit], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = tmp_path / "s.sql"
    schema.write_text("CREATE TABLE testown.acct (id int, name text UNIQUE);")
    assert (
        main.main(["whatif", *two_units[0], "--ur", two_units[1].name, "--schema", str(schema)])
        == 0
    )
    schema.write_text("CREATE UNIQUE INDEX u ON testown.acct (lower(name));")
    assert (
        main.main(["whatif", *two_units[0], "--ur", two_units[1].name, "--schema", str(schema)])
        == 0
    )
    assert (
        "note: a key is not considered: unique index u on TESTOWN.ACCT: it is over an expression"
        in capsys.readouterr().err
    )
    schema.write_text(
        "CREATE TABLE testown.acct (id int);\nGRANT ALL ON testown.acct TO PUBLIC;\n"
        "ALTER TABLE testown.acct ADD FOREIGN KEY (id) REFERENCES testown.acct (id) SOMEHOW;"
        "\nCREATE TABLE other.one (id int, c char(1) DEFAULT ')');\nCREATE TABLE other.two (id int;"
    )
    db2 = ["--schema", str(schema), "--schema-dialect", "db2"]
    assert main.main(["whatif", *two_units[0], "--ur", two_units[1].name, *db2]) == 4
    said = capsys.readouterr()
    assert "so a key that it may state is not considered: line 3: FOREIGN KEY" in said.err
    assert "note: ignored in the schema (no key information): 1 statement" in said.err
    assert "line 5: CREATE TABLE other.two (id int: its brackets do not match" in said.err
    assert "other.one" not in said.err
    assert main.main(["ddl", *two_units[0][:4], "--dialect", "postgres", *db2]) == 4
    said = capsys.readouterr()
    assert "so a key that it may state is not considered: line 3: FOREIGN KEY" in said.err
    schema.write_text("CREATE TABLE testown.acct (UNIQUE (colour));")
    assert (
        main.main(["whatif", *two_units[0], "--ur", two_units[1].name, "--schema", str(schema)])
        == 12
    )
    assert "LR1010" in capsys.readouterr().err
    assert (
        main.main(
            [
                "whatif",
                *two_units[0],
                "--ur",
                two_units[1].name,
                "--schema",
                str(tmp_path / "none.sql"),
            ]
        )
        == 12
    )


# -- order within a unit
# -------------------------------------------------------------------------------------------------

STAFF = """
CREATE TABLE testown.dept (id int PRIMARY KEY, head int);
CREATE TABLE testown.emp (id int PRIMARY KEY, boss int REFERENCES testown.emp ON DELETE CASCADE,
dept int REFERENCES testown.dept);
ALTER TABLE testown.dept ADD CONSTRAINT head FOREIGN KEY (head) REFERENCES testown.emp;
"""


def staff(ddl: str = STAFF) -> Constraints:
    tables = [
        Table(
            "TESTOWN",
            tab.name,
            tuple(Column(c.name, SqlType.INTEGER) for c in tab.columns),
            ("ID",),
        )
        for tab in (EMP, DEPT)
    ]
    return parse_constraints(ddl, "postgres", tables)


def keys_in_order(bundle: Bundle) -> list[str]:
    return [
        re.sub(
            r"(INSERT|DELETE|UPDATE).*?(emp|dept).*?(?:VALUES \(|id = )(\d+).*", r"\1 \2 \3", line
        )
        for line in statements(bundle)
    ]


@pytest.mark.parametrize("constraints", [None, "staff"])
def test_undo_of_a_cascade_within_one_table(tmp_path: Path, constraints: str | None) -> None:
    log = LogBuilder((EMP,))
    one = log.unit()
    one.delete(EMP, (1, None, None))
    one.delete(EMP, (2, 1, None), SQLSRCTYPE="R")
    one.delete(EMP, (3, 2, None), SQLSRCTYPE="R")
    one.delete(EMP, (4, 1, None), SQLSRCTYPE="R")
    found = keys_in_order(log.selected(tmp_path, "undo", staff() if constraints else None))
    assert found.index("INSERT emp 1") < found.index("INSERT emp 2") < found.index("INSERT emp 3")
    assert found.index("INSERT emp 1") < found.index("INSERT emp 4")


def test_redo_deletes_children_before_their_parent(tmp_path: Path) -> None:
    log = LogBuilder((EMP,))
    one = log.unit()
    for row in ((3, 2, None), (1, None, None), (2, 1, None)):
        one.delete(EMP, row)
    assert keys_in_order(log.selected(tmp_path, "redo")) == [
        "DELETE emp 3",
        "DELETE emp 1",
        "DELETE emp 2",
    ]
    assert keys_in_order(log.selected(tmp_path, "redo", staff())) == [
        "DELETE emp 3",
        "DELETE emp 2",
        "DELETE emp 1",
    ]
    assert keys_in_order(log.selected(tmp_path, "undo", staff())) == [
        "INSERT emp 1",
        "INSERT emp 2",
        "INSERT emp 3",
    ]


def test_versions_of_a_row_stay_in_order(tmp_path: Path) -> None:
    log = LogBuilder((EMP, DEPT))
    one = log.unit()
    one.update(EMP, (2, 1, None), (2, 1, 5))
    one.delete(EMP, (1, None, None))
    one.update(EMP, (2, 1, 5), (2, None, 5), SQLSRCTYPE="R")
    one.delete(EMP, (2, None, 5))
    assert [
        line.split(" SET ")[-1] for line in statements(log.selected(tmp_path, "redo", staff()))
    ] == [
        "dept = 5 WHERE id = 2;",
        "boss = NULL WHERE id = 2;",
        "DELETE FROM testown.emp WHERE id = 1;",
        "DELETE FROM testown.emp WHERE id = 2;",
    ]


def test_rows_that_need_each_other_are_named(tmp_path: Path) -> None:
    log = LogBuilder((EMP, DEPT))
    one = log.unit()
    one.delete(DEPT, (5, 1))
    one.delete(EMP, (1, None, 5), SQLSRCTYPE="R")
    with pytest.raises(Refusal, match="LR3012") as refused:
        log.selected(tmp_path, "undo", staff())
    assert "delete of TESTOWN.DEPT 5" in str(refused.value)
    assert "delete of TESTOWN.EMP 1" in str(refused.value)


def circle(tmp_path: Path, dept: str, head: str) -> Bundle:
    """Undo of deletes of a department and its head, who belongs to it, with options at the foreign
    keys to the department and to its head."""
    ddl = STAFF.replace(
        "dept int REFERENCES testown.dept", f"dept int REFERENCES testown.dept {dept}"
    ).replace("emp;\n", f"emp {head};\n")
    log = LogBuilder((EMP, DEPT))
    one, other = log.unit(), log.unit()
    one.delete(DEPT, (5, 1))
    one.delete(EMP, (1, None, 5), SQLSRCTYPE="R")
    other.delete(DEPT, (6, None))
    return log.selected(tmp_path, "undo", staff(ddl))


@pytest.mark.parametrize(
    ("dept", "head", "order"),
    [
        ("DEFERRABLE", "", ["emp 1", "dept 5"]),
        ("", "DEFERRABLE INITIALLY DEFERRED", ["dept 5", "emp 1"]),
    ],
)
def test_one_key_of_a_circle_waits_and_the_other_is_kept(
    tmp_path: Path, dept: str, head: str, order: list[str]
) -> None:
    bundle = circle(tmp_path, dept, head)
    assert keys_in_order(bundle) == [f"INSERT {row}" for row in ("dept 6", *order)]
    text = (bundle.folder / "0000-undo.sql").read_text()
    assert text.count("SET CONSTRAINTS ALL DEFERRED;") == 1
    assert "BEGIN;\nSET CONSTRAINTS ALL DEFERRED;\nINSERT" in text.partition("COMMIT;")[2]


@pytest.mark.parametrize("dept", ["ON DELETE SET NULL DEFERRABLE", ""])
def test_what_happens_on_a_delete_does_not_wait(tmp_path: Path, dept: str) -> None:
    with pytest.raises(Refusal, match="LR3012"):
        circle(tmp_path, dept, "")
