"""What an undo or a redo of all but some takes along: what is left to the target counts as taken,
dependents are not what was asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replay import native
from replay.changes.selection import Selection
from replay.cli import main
from replay.dependencies.cascade import limits_changes
from replay.errors import Refusal
from replay.output.bundle import Bundle
from sqlgen.schema import Constraints, ForeignKey
from tests.support.history import CHILD, PARENT
from tests.support.logbuilder import ACCT, Col, LogBuilder, Tab, Unit, acct, statements

FK = Constraints(foreign_keys=(ForeignKey("FK", "TESTOWN.CHILD", ("PID",), "TESTOWN.PARENT"),))


def undo(log: LogBuilder, folder: Path, *units: Unit, cascade: str = "none", **how: Any) -> Bundle:
    asked = tuple(unit.key for unit in units)
    return log.selected(folder, "undo", FK, units=asked, cascade=cascade, **how)


def test_what_ri_skip_leaves_to_the_target_is_no_dependent(tmp_path: Path) -> None:
    log = LogBuilder((PARENT, CHILD))
    one = log.unit()
    one.update(PARENT, (1, "A", 0, 0), (2, "A", 0, 0))
    one.update(CHILD, (7, 1, 0), (7, 2, 0), SQLSRCTYPE="R")
    bundle = undo(log, tmp_path, one, ri="skip")
    assert bundle.manifest["consequences"]["conflicts"] == []
    assert len(statements(bundle)) == 1
    with pytest.raises(Refusal, match="LR3010"):
        undo(log, tmp_path, one, tables=("*.PARENT",))


def test_what_triggers_skip_leaves_to_the_target_is_no_dependent(tmp_path: Path) -> None:
    log = LogBuilder()
    one = log.unit()
    one.update(ACCT, acct(1), acct(1, "X"))
    one.update(ACCT, acct(1, "X"), acct(1, "Y"), SQLSRCTYPE="T")
    bundle = undo(log, tmp_path, one, triggers="skip")
    assert bundle.manifest["consequences"]["conflicts"] == []
    assert len(statements(bundle)) == 1


@pytest.mark.parametrize("quick", [True, False])
def test_a_condition_on_values_does_not_cut_what_is_undone_too(
    quick: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if quick:
        monkeypatch.setattr(native, "WORTH", 0)
    log = LogBuilder((PARENT, CHILD))
    one, two, three = log.unit(), log.unit(), log.unit()
    one.insert(PARENT, (1, "A", 5, 0))
    one.insert(PARENT, (2, "B", 6, 0))
    two.update(PARENT, (1, "A", 5, 0), (1, "A", 7, 0))
    two.insert(CHILD, (7, None, 0))
    three.delete(PARENT, (1, "A", 7, 0))
    bundle = undo(log, tmp_path, one, where="after.a = 5", cascade="all")
    assert statements(bundle) == [
        "INSERT INTO testown.parent (id, code, a, b) VALUES (1, 'A', 7, 0);",
        "DELETE FROM testown.child WHERE id = 7;",
        "UPDATE testown.parent SET a = 5 WHERE id = 1;",
        "DELETE FROM testown.parent WHERE id = 1;",
    ]


@pytest.mark.parametrize("other", [None, 7])
@pytest.mark.parametrize("keyed", [True, False])
def test_a_value_that_is_only_spelled_anew_is_written_and_so_counts(
    tmp_path: Path, other: int | None, keyed: bool
) -> None:
    """12.34 with the sign X'F' is 12.34 with X'C', and yet an update that is written: what it wrote
    must not go without what came later, nor stay where what it builds on goes."""
    columns = (
        Col("K", "INT", 4, key=int(keyed)),
        Col("V", "DEC", 3, scale=2, nulls="Y"),
        Col("W", "INT", 4, nulls="Y"),
    )
    table = Tab("T", columns)
    log = LogBuilder((table,))
    first = log.unit()
    first.update(table, (1, "1.00", other), (1, "12.34", other))
    spelled = log.unit()
    change = spelled.update(table, (1, "12.34", other), (1, "12.34", other))
    at = change.images[1].index(b"\x4c")
    change.images[1] = change.images[1][:at] + b"\x4f" + change.images[1][at + 1 :]
    undo(log, tmp_path, spelled)
    with pytest.raises(Refusal, match="LR3010"):
        undo(log, tmp_path, first)
    log.unit().update(table, (1, "12.34", other), (1, "56.78", other))
    with pytest.raises(Refusal, match="LR3010"):
        undo(log, tmp_path, spelled)


def chain(folder: Path) -> tuple[list[str], list[Unit]]:
    """Three units that build on each other, and one on its own."""
    log = LogBuilder()
    units = [log.unit() for _ in range(4)]
    for number, unit in enumerate(units[:3]):
        unit.update(ACCT, acct(1, f"V{number}"), acct(1, f"V{number + 1}"))
    units[3].insert(ACCT, acct(2))
    control, data = log.write(folder)
    return ["--control", str(control), "--data", *map(str, data), "--engine", "local"], units


def test_whatif_tells_what_was_asked_for_from_what_must_go_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, (one, two, three, _) = chain(tmp_path)
    assert main.main(["whatif", *log, "--ur", one.name, "--json"]) == 4
    answer = json.loads(capsys.readouterr().out)
    (warning,) = answer["warnings"]
    assert "no foreign keys are known" in warning
    assert answer["without"] == [one.name]
    assert answer["units"] == [two.name, three.name]
    assert [(entry["unit"], entry["on"]) for entry in answer["conflicts"]] == [(two.name, one.name)]
    assert answer["tables"] == {"TESTOWN.ACCT": {"update": 3}}
    assert answer["undo_cascade"] == {"units": 3, "statements": 3}
    assert answer["redo_except"] == {"statements": 1, "left_out": 3}


def test_whatif_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, (one, two, three, alone) = chain(tmp_path)
    assert main.main(["whatif", *log, "--ur", one.name]) == 4
    assert capsys.readouterr().err.startswith("warning: no foreign keys are known")
    log += ["--schema", "none"]
    assert main.main(["whatif", *log, "--ur", one.name]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert lines[0].startswith(f"without {one.name} (the log was read to its end")
    assert lines[2].split() == ["selected", "units", "1"]
    assert lines[3].endswith("2 (1 directly)")
    assert lines[7] == "2 dependent units:"
    assert lines[8].split()[:5] == ["unit", "committed", "who", "table", "key"]
    parts = lines[9].split("  ")
    assert parts[0] == two.name
    assert one.name in lines[9]
    assert "later changed the same row" in lines[9]
    assert lines[10].startswith(three.name)
    assert two.name in lines[10]
    assert lines[10].endswith("2")
    assert main.main(["whatif", *log, "--ur", alone.name]) == 0
    assert "nothing in the log depends on it" in capsys.readouterr().out


def many(later: int) -> tuple[LogBuilder, Unit, list[Unit]]:
    """A unit of as many inserts as there are units later on that update a row of it."""
    log = LogBuilder()
    one, *others = (log.unit() for _ in range(later + 1))
    for number in range(later):
        one.insert(ACCT, acct(number))
    for number, unit in enumerate(others):
        unit.update(ACCT, acct(number), acct(number, "X"))
    return log, one, others


@pytest.mark.parametrize("later", [1, 20, 21, 23])
def test_a_refusal_names_some_and_counts_all(tmp_path: Path, later: int) -> None:
    log, one, others = many(later)
    with pytest.raises(Refusal) as refused:
        undo(log, tmp_path, one)
    head, titles, *rows = refused.value.message.split("\n")
    assert refused.value.code == "LR3010"
    assert head == (
        f"found {later} later unit{'s' * (later > 1)} that depend{'s' * (later == 1)} on what is to"
        f" be undone, {later} of them directly; expected none"
    )
    assert titles.split() == ["unit", "why", "row", "of", "unit"]
    assert [(row.split()[0], row.split()[-1]) for row in rows[:8]] == [
        (unit.name, one.name) for unit in others[:8]
    ]
    assert rows[8:] == ([f"  and {later - 8} more"] if later > 8 else [])
    ways = str(refused.value).split("\n")[2 + len(rows) :]
    assert ways == [
        "Three ways out, with the same command and:",
        f"  --cascade non-conflicting  undoes 0 changes, and leaves {later} that later work depends"
        " on",
        f"  --cascade all              undoes {later} more unit{'s' * (later > 1)}, the dependent"
        " ones first",
        "  --cascade force            undoes what was asked for, without any check",
        "logreplay whatif shows all of it",
    ]


def test_consequences_as_data(tmp_path: Path) -> None:
    log, one, (other,) = many(1)
    bundle = undo(log, tmp_path, one, cascade="force")
    told = bundle.manifest["consequences"]
    assert told["conflicts"] == [
        {"unit": other.name, "on": one.name, "key": "acct/0", "link": "row"}
    ]
    assert (told["units"], told["blocked_changes"]) == ([other.name], 1)
    assert told.keys() == {
        *("scanned_to", "conflicts", "units", "blocked_changes", "blocked_by_table"),
    } | (told.keys() & {"cascade", "mode"})
    assert len(statements(bundle)) == 1
    assert len(statements(undo(log, tmp_path, one, cascade="all"))) == 2
    assert statements(undo(log, tmp_path, one, cascade="non-conflicting")) == []


def test_an_incomplete_dependent_is_named(tmp_path: Path) -> None:
    log, one, (first, second) = many(2)
    second.update(ACCT, acct(1, "X"), acct(1, "Y"), INCOMPLETETRANS="Y")
    with pytest.raises(Refusal) as refused:
        undo(log, tmp_path, one, cascade="all")
    assert refused.value.code == "LR3010"
    assert refused.value.message == (
        f"found unit {second.name} among the dependents, which is incomplete (INCOMPLETETRANS);"
        " expected units that can be undone"
    )
    assert refused.value.hint == "--cascade non-conflicting leaves alone what it depends on"
    assert len(statements(undo(log, tmp_path, first, cascade="all"))) == 1


@pytest.mark.parametrize(
    ("selection", "limits"),
    [
        (Selection(), False),
        (Selection(from_position=bytes(10)), False),
        (Selection(from_time=bytes(13)), False),
        (Selection(ri="skip"), False),
        (Selection(until_position=bytes(10)), True),
        (Selection(units=((bytes(10), 0),)), True),
        (Selection(authids=("ME",)), True),
        (Selection(until_time=bytes(13)), True),
        (Selection(tables=("*.ACCT",)), True),
        (Selection(exclude_tables=("*.ACCT",)), True),
        (Selection(ops=("insert",)), True),
        (Selection(where="after.ID = 1"), True),
    ],
)
def test_which_selections_leave_out_a_later_change(selection: Selection, limits: bool) -> None:
    assert limits_changes(selection) is limits


@pytest.mark.parametrize("command", ["whatif", "redo"])
def test_units_named_in_several_ways_are_all_left_out(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = LogBuilder()
    units = [log.unit() for _ in range(4)]
    for number, (unit, who) in enumerate(
        zip(units, ("CLERK1", "CLERK2", "CLERK2", "CLERK3"), strict=True)
    ):
        unit.insert(ACCT, acct(number), AUTHID=who, PLAN=f"PLAN{number}")
    control, data = log.write(tmp_path)
    words = ["--control", str(control), "--data", *map(str, data), "--schema", "none"]
    words += ["--engine", "local"]
    option = "--except"
    if command == "whatif":
        query = f"authid = 'CLERK1' OR unit = '{units[1].name}' OR plan = 'PLAN3'"
        words += ["--units", f"SELECT unit FROM units WHERE {query}"]
        assert main.main(["whatif", *words, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)["without"]
        assert sorted(found) == sorted(units[number].name for number in (0, 1, 3))
        return
    words += [option, "authid=CLERK1", option, units[1].name, option, "plan=PLAN3"]
    assert main.main(["redo", *words, "--out", str(tmp_path / "out")]) == 0
    inserts = [
        line
        for path in (tmp_path / "out").glob("*.sql")
        for line in path.read_text().splitlines()
        if line.startswith("INSERT")
    ]
    assert len(inserts) == 1
    assert "VALUES (2, " in inserts[0]
