"""Who builds on a change is asked by column: undo, its cascades and what-if say the same, and of
columns that the undo leaves alone nothing is a conflict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.cli.main import main
from replay.errors import Refusal
from replay.output.bundle import Bundle
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Constraints
from tests.support.logbuilder import ACCT, Col, LogBuilder, Tab, Unit, acct, statements


def built() -> tuple[LogBuilder, list[Unit]]:
    """Unit 0 inserts a row, 1 changes its name and balance, 2 the balance, 3 the name."""
    log = LogBuilder()
    units = [log.unit() for _ in range(4)]
    units[0].insert(ACCT, acct(1, "A", "1.00"))
    units[1].update(ACCT, acct(1, "A", "1.00"), acct(1, "B", "2.00"))
    units[2].update(ACCT, acct(1, "B", "2.00"), acct(1, "B", "3.00"))
    units[3].update(ACCT, acct(1, "B", "3.00"), acct(1, "C", "3.00"))
    return log, units


def words(folder: Path, log: LogBuilder) -> list[str]:
    control, data = log.write(folder)
    return ["--control", str(control), "--data", *map(str, data), "--schema", "none"]


def undo(log: LogBuilder, folder: Path, unit: Unit, cascade: str = "none", **render: Any) -> Bundle:
    options = ScriptOptions(render=RenderOptions(**render))
    which = {"units": (unit.key,), "cascade": cascade}
    return log.selected(folder, "undo", Constraints(), options, **which)


def dependents(folder: Path, log: LogBuilder, unit: Unit, *columns: str) -> list[str]:
    """What the ways of asking say; they must agree."""
    control, data = log.write(folder)
    files = ["--control", str(control), "--data", *map(str, data), "--schema", "none"]
    out = folder / "answer.json"
    tail = ["--engine", "local", "--json", "--out", str(out), "--overwrite"]
    assert main(["whatif", *files, "--ur", unit.name, *columns, *tail]) == 0
    asked = json.loads(out.read_text())
    direct = {entry["unit"] for entry in asked["conflicts"]}
    options = {
        word.removeprefix("--").replace("-", "_"): (glob,)
        for word, glob in zip(columns[::2], columns[1::2], strict=True)
    }
    if direct:
        with pytest.raises(Refusal, match="LR3010") as refused:
            undo(log, folder, unit, **options)
        assert all(unit in str(refused.value) for unit in direct)
    bundle = undo(log, folder, unit, "all", **options)
    assert bundle.manifest["consequences"]["units"] == asked["units"]
    return [str(unit) for unit in asked["units"]]


def test_work_on_another_column_is_no_conflict(tmp_path: Path) -> None:
    log, (_, one, two, three) = built()
    assert dependents(tmp_path, log, one) == [two.name, three.name]
    assert dependents(tmp_path, log, two) == []
    assert dependents(tmp_path, log, three) == []


def test_work_on_a_column_that_the_undo_leaves_alone_is_none_either(tmp_path: Path) -> None:
    log, (_, one, two, three) = built()
    assert dependents(tmp_path, log, one, "--exclude-columns", "NAME") == [two.name]
    assert dependents(tmp_path, log, one, "--exclude-columns", "BAL") == [three.name]
    bundle = undo(log, tmp_path, one, "all", exclude_columns=("BAL",))
    assert statements(bundle) == [
        "UPDATE testown.acct SET name = 'B' WHERE id = 1;",
        "UPDATE testown.acct SET name = 'A' WHERE id = 1;",
    ]
    assert statements(undo(log, tmp_path, three, exclude_columns=("BAL",))) == [
        "UPDATE testown.acct SET name = 'B' WHERE id = 1;"
    ]
    assert statements(undo(log, tmp_path, one, "non-conflicting", exclude_columns=("BAL",))) == []
    left = undo(log, tmp_path, one, "non-conflicting", exclude_columns=("NAME", "BAL"))
    assert left.manifest["balance"]["skipped"]["update touches excluded columns only"] == 1


def test_a_way_of_finding_rows_by_all_columns_counts_those_that_it_names(tmp_path: Path) -> None:
    log, (_, one, two, three) = built()
    everything = {"where_columns": "all"}
    with pytest.raises(Refusal, match=two.name):
        undo(log, tmp_path, one, **everything)
    with pytest.raises(Refusal, match=three.name):
        undo(log, tmp_path, one, exclude_columns=("BAL",), **everything)
    alone = undo(log, tmp_path, one, "all", exclude_columns=("NAME",), **everything)
    assert alone.manifest["consequences"]["units"] == [two.name]


@pytest.mark.parametrize("unique", [(), ("CODE",)])
def test_a_row_without_a_key_is_found_by_all_of_its_columns(
    tmp_path: Path, unique: tuple[str, ...]
) -> None:
    """A unique column that may hold NULL tells rows apart, and the WHERE names all of them."""
    columns = (
        Col("CODE", "INT", 4, nulls="Y"),
        Col("A", "INT", 4),
        Col("B", "INT", 4),
    )
    bare = Tab("BARE", columns)
    log = LogBuilder((bare,))
    units = [log.unit() for _ in range(2)]
    units[0].update(bare, (7, 1, 1), (7, 2, 1))
    units[1].update(bare, (7, 2, 1), (7, 2, 2))
    keys = Constraints(keys=(("TESTOWN.BARE", unique),) if unique else (), complete=True)
    with pytest.raises(Refusal, match=units[1].name):
        written(log, tmp_path, "undo", keys=keys, units=chosen(units[0]).units)
    assert written(log, tmp_path, "redo", keys=keys, excepted=chosen(units[0])) == ""


def test_who_wrote_to_a_row_builds_on_its_insert_whatever_the_column(tmp_path: Path) -> None:
    """To take the insert back deletes the whole row."""
    log, (first, one, two, three) = built()
    every = [one.name, two.name, three.name]
    assert dependents(tmp_path, log, first) == every
    assert dependents(tmp_path, log, first, "--exclude-columns", "BAL") == every
    assert dependents(tmp_path, log, first, "--exclude-columns", "*.ACCT.[BNR]*") == every


def test_a_later_delete_builds_on_what_is_taken_back(tmp_path: Path) -> None:
    log, (_, one, two, three) = built()
    last = log.unit()
    last.delete(ACCT, acct(1, "C", "3.00"))
    assert dependents(tmp_path, log, two) == [last.name]
    assert dependents(tmp_path, log, two, "--exclude-columns", "NAME") == [last.name]
    assert dependents(tmp_path, log, two, "--exclude-columns", "BAL") == []
    assert dependents(tmp_path, log, one, "--exclude-columns", "BAL") == [three.name, last.name]


def test_only_the_columns_that_are_named(tmp_path: Path) -> None:
    log, (_, one, _, three) = built()
    both = ["--columns", "ID", "--columns", "NAME"]
    files = words(tmp_path, log)
    out = tmp_path / "answer.json"
    tail = ["--engine", "local", "--json", "--out", str(out)]
    assert main(["whatif", *files, "--ur", one.name, *both, *tail]) == 0
    answer = json.loads(out.read_text())
    assert answer["units"] == [three.name]
    for command in answer["commands"].values():
        assert "--columns ID --columns NAME" in command


def test_a_redo_without_a_unit_keeps_what_touched_other_columns(tmp_path: Path) -> None:
    log, (_, one, two, three) = built()
    files = [*words(tmp_path, log), "--except", one.name, "--out", str(tmp_path / "out")]
    assert main(["redo", *files, "--exclude-columns", "BAL", "--overwrite"]) == 4
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["consequences"]["units"] == [three.name]
    assert main(["redo", *files, "--overwrite"]) == 4
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["consequences"]["units"] == [two.name, three.name]


def exchanged(*later: int) -> tuple[LogBuilder, list[Unit]]:
    """Unit 0 changes the balance of row 1; 1 exchanges the names of rows 1 and 2, which are unique;
    2 changes the balance of the rows ``later``."""
    log = LogBuilder()
    units = [log.unit() for _ in range(3)]
    units[0].update(ACCT, acct(1, "A", "1.00"), acct(1, "A", "9.00"))
    units[1].update(ACCT, acct(1, "A", "9.00"), acct(1, "B", "9.00"))
    units[1].update(ACCT, acct(2, "B", "2.00"), acct(2, "A", "2.00"))
    for number, name, balance in ((1, "B", "9.00"), (2, "A", "2.00")):
        if number in later:
            units[2].update(ACCT, acct(number, name, balance), acct(number, name, "11.00"))
    return log, units


UNIQUE_NAMES = Constraints(keys=(("TESTOWN.ACCT", ("NAME",)),), complete=True)


def written(
    log: LogBuilder,
    folder: Path,
    mode: str,
    cascade: str = "none",
    keys: Constraints = UNIQUE_NAMES,
    **chosen: Any,
) -> str:
    """The statements of a script where keys are unique."""
    bundle = log.selected(folder, mode, keys, cascade=cascade, **chosen)
    return "\n".join(statements(bundle))


def chosen(unit: Unit) -> Selection:
    return Selection(units=(unit.key,))


def test_a_row_that_other_work_stays_on_is_not_removed_and_put_back(tmp_path: Path) -> None:
    """Of the two rows that exchange a unique value, the other one is: what is put back is as the
    log shows it, which the first row is not while a change of its balance stays or is left out."""
    log, units = exchanged(2)
    left_out = written(log, tmp_path, "redo", excepted=chosen(units[0]))
    assert "DELETE FROM testown.acct WHERE id = 2" in left_out
    assert "SET name = 'B' WHERE id = 1" in left_out
    assert "9.00" not in left_out
    for later, removed in ((1, 2), (2, 1)):
        log, units = exchanged(later)
        taken_back = written(log, tmp_path, "undo", units=chosen(units[1]).units)
        assert f"DELETE FROM testown.acct WHERE id = {removed}" in taken_back
        assert "11.00" not in taken_back
        # nor where a change of the unit, on which later work depends, is left as it is
        units[1].update(ACCT, acct(7, "C", "7.00"), acct(7, "D", "7.00"))
        units[2].update(ACCT, acct(7, "D", "7.00"), acct(7, "E", "7.00"))
        rest = written(log, tmp_path, "undo", "non-conflicting", units=chosen(units[1]).units)
        assert f"DELETE FROM testown.acct WHERE id = {removed}" in rest
        assert "11.00" not in rest


def test_where_no_row_may_be_removed_the_unit_is_refused(tmp_path: Path) -> None:
    log, units = exchanged(1, 2)
    for cascade in ("none", "all", "non-conflicting"):
        with pytest.raises(Refusal, match="LR3012") as refused:
            written(log, tmp_path, "undo", cascade, units=chosen(units[1]).units)
        assert "later work on its other columns" in str(refused.value.hint)
    forced = written(log, tmp_path, "undo", "force", units=chosen(units[1]).units)
    assert "INSERT INTO testown.acct" in forced  # as if nothing had come after it
    both = (*chosen(units[1]).units, *chosen(units[2]).units)
    assert "INSERT INTO testown.acct" in written(log, tmp_path, "undo", units=both)
