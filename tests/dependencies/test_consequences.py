"""What follows from doing without some changes: the closure of units and the changes that others
built on, against models that take one step after the other; selections by value; words."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import replay
from replay.changes.envelope import RECORD, Change
from replay.changes.selection import Selection
from replay.cli.main import main
from replay.dependencies import cascade
from replay.dependencies.links import Link
from replay.dependencies.write_sets import ChangeBatch
from replay.errors import Refusal, UsageError
from replay.output.bundle import Bundle
from sqlgen.schema import Constraints
from tests.support.history import CHILD, PARENT
from tests.support.logbuilder import ACCT, LogBuilder, Unit, acct, statements

# -- closure and what is blocked
# -------------------------------------------------------------------------------------------------

#: Of a change: whether its unit is that of the one before, its origin, kind and table, its row,
#: whether it is asked for.
DRAWN = st.tuples(
    st.booleans(),
    st.sampled_from("  RT"),
    st.sampled_from([Change.INSERT, Change.UPDATE, Change.DELETE]),
    st.integers(0, 1),
    st.integers(0, 3),
    st.booleans(),
)
History = list[tuple[bool, str, Change, int, int, bool]]


def numbered(history: History) -> list[int]:
    """The unit of each change."""
    units, unit = [], 0
    for number, (same, *_) in enumerate(history):
        unit += bool(number) and not same
        units.append(unit)
    return units


def subgraph_of(history: History) -> Any:
    """As much of a subgraph as the two need: changes of a log in which each has two records."""
    count = len(history)
    records = np.zeros(2 * count, RECORD)
    units = np.array([b"unit %07d" % unit for unit in numbered(history)], "S12")
    records["unit"] = np.repeat(units.view("V12") if count else np.zeros(0, "V12"), 2)
    records["offset"] = np.arange(2 * count)
    origins = np.repeat(np.array([ord(entry[1]) for entry in history], np.uint8), 2)
    batch = ChangeBatch(
        records,
        np.arange(count) * 2,
        np.full(count, 2),
        np.array([entry[2] for entry in history], np.uint8),
        np.array([entry[3] for entry in history], np.int32),
    )
    log = SimpleNamespace(
        envelope=lambda file, offset, length: SimpleNamespace(origin=lambda: origins[offset])
    )
    rows = [entry[4] for entry in history]
    lineage = np.array([sorted(set(rows)).index(row) for row in rows], np.int64)
    return SimpleNamespace(batch=batch, log=log, lineage=lineage)


def groups_of(history: History) -> list[int]:
    """Changes and what they cause; neighbouring direct ones of a table that are no inserts are one
    cause."""
    groups: list[int] = []
    units = numbered(history)
    for number, (_, origin, change, table, *_) in enumerate(history):
        before = history[number - 1]
        first = not number or units[number] != units[number - 1]
        like = before[1:4] == (" ", change, table) and change is not Change.INSERT
        groups.append(number if first or (origin == " " and not like) else groups[-1])
    return groups


@given(st.data(), st.lists(DRAWN, max_size=9))
def test_closure_and_blocked_changes_are_those_of_a_model(
    data: st.DataObject, history: History
) -> None:
    count, units, groups = len(history), numbered(history), groups_of(history)
    pairs = [(one, other) for other in range(count) for one in range(other)]
    links = data.draw(st.lists(st.sampled_from(pairs), max_size=6) if pairs else st.just([]))
    asked = {number for number, entry in enumerate(history) if entry[5]}
    subgraph = subgraph_of(history)
    chosen = np.array([entry[5] for entry in history], bool)
    source, target = (np.array([link[side] for link in links], np.int64) for side in (0, 1))

    gone, added = set(asked), set[int]()
    for _ in range(count + 1):
        added |= {units[other] for one, other in links if one in gone and other not in gone}
        gone |= {number for number in range(count) if units[number] in added}
    found = cascade._closure(subgraph, chosen, source, target)
    assert [bytes(unit) for unit in found] == [b"unit %07d" % unit for unit in sorted(added)]

    derived = {groups[number] for number, entry in enumerate(history) if entry[1] != " "}
    blocked = set[int]()
    for _ in range(3 * count + 1):
        blocked |= {
            one for one, other in links if one in asked and (other not in asked or other in blocked)
        }
        whole = {groups[number] for number in blocked} & derived
        blocked |= {number for number in asked if groups[number] in whole}
        blocked |= {
            number
            for number in asked
            for later in tuple(blocked)
            if history[number][4] == history[later][4] and units[number] <= units[later]
        }
    held = cascade._blocked(subgraph, chosen, source, target)
    assert held.dtype == bool
    assert np.flatnonzero(held).tolist() == sorted(blocked)
    assert chosen.tolist() == [entry[5] for entry in history], "the caller's mask stays"


def test_long_chains_are_followed_to_their_end() -> None:
    """One unit after the other, each of which only the one before leads to."""
    history: History = [(False, " ", Change.UPDATE, 0, number, number == 0) for number in range(7)]
    source, target = np.arange(6), np.arange(1, 7)
    subgraph = subgraph_of(history)
    first = np.arange(7) == 0
    assert len(cascade._closure(subgraph, first, source, target)) == 6
    assert cascade._blocked(subgraph, first, source, target).tolist() == first.tolist()
    all_but_one = np.arange(7) < 6
    assert cascade._blocked(subgraph, all_but_one, source, target).tolist() == all_but_one.tolist()


# -- logs
# -------------------------------------------------------------------------------------------------


def undo(log: LogBuilder, folder: Path, cascade: str = "none", **which: Any) -> Bundle:
    return log.selected(folder, "undo", Constraints(), cascade=cascade, **which)


def words(folder: Path, log: LogBuilder) -> list[str]:
    control, data = log.write(folder)
    files = ["--control", str(control), "--data", *map(str, data)]
    return [*files, "--schema", "none", "--engine", "local"]


def by_value() -> tuple[LogBuilder, list[Unit]]:
    """Rows of two tables; the balance of a row tells who takes it. One unit builds on another."""
    log = LogBuilder((ACCT, PARENT))
    units = [log.unit() for _ in range(6)]
    units[0].insert(ACCT, acct(1, "A", "5.00"), cuts=(10, 30))
    units[1].insert(ACCT, acct(2, "A", "9.00"))
    units[2].insert(PARENT, (1, "A", 0, 0))
    units[3].update(ACCT, acct(1, "A", "5.00"), acct(1, "B", "5.00"), cuts=(40,))
    units[4].delete(ACCT, acct(3, "C", "5.00"))
    units[5].update(ACCT, acct(2, "A", "9.00"), acct(2, "A", "1.00"))
    return log, units


def graphed(folder: Path, log: LogBuilder, *which: str) -> dict[str, bool]:
    """Units of a graph, and whether they were asked for."""
    out = folder / "graph.json"
    asked = ["graph", *words(folder, log), *which, "--format", "json", "--overwrite"]
    assert main([*asked, "--out", str(out)]) in (0, 4)
    page = json.loads(out.read_text())
    return {unit: unit in page["chosen"] for unit in page["units"]["name"]}


def test_a_graph_of_rows_by_value(tmp_path: Path) -> None:
    log, units = by_value()
    found = graphed(
        tmp_path, log, "--table", "*.ACCT", "--where", "after.BAL = 5 OR before.BAL = 5"
    )
    assert found == {units[0].name: True, units[3].name: True, units[4].name: True}
    found = graphed(tmp_path, log, "--table", "*.ACCT", "--where", "after.NAME = 'B'")
    assert found == {units[3].name: True}
    one = graphed(tmp_path, log, "--ur", units[0].name)
    assert one == {units[0].name: True, units[3].name: False}


def test_an_undo_of_rows_by_value(tmp_path: Path) -> None:
    log, units = by_value()
    with pytest.raises(Refusal, match=re.escape(units[3].name)) as refused:
        undo(log, tmp_path, tables=("*.ACCT",), where="after.BAL = 5 AND after.NAME = 'A'")
    assert units[5].name not in str(refused.value)
    told = undo(log, tmp_path, "force", tables=("*.ACCT",), where="after.BAL >= 5")
    assert told.manifest["consequences"]["conflicts"] == [
        {"unit": units[5].name, "on": units[1].name, "key": "acct/2", "link": "row"}
    ]
    deleted = undo(log, tmp_path, tables=("*.ACCT",), where="before.BAL = 5 AND before.NAME = 'C'")
    assert len(statements(deleted)) == 1


def test_changes_of_incomplete_units_count_as_asked_for(tmp_path: Path) -> None:
    """Whether a unit is incomplete is found out elsewhere: here it is a change like others."""
    log = LogBuilder()
    one, two = log.unit(INCOMPLETETRANS="Y"), log.unit()
    one.insert(ACCT, acct(1))
    two.update(ACCT, acct(1), acct(1, "X"))
    answer = tmp_path / "answer.json"
    asked = ["whatif", *words(tmp_path, log), "--ur", one.name, "--json"]
    assert main([*asked, "--out", str(answer)]) in (0, 4)
    told = json.loads(answer.read_text())
    assert (told["without"], told["units"]) == ([one.name], [two.name])
    assert told["conflicts"] == [{"unit": two.name, "on": one.name, "key": "acct/1", "link": "row"}]
    assert told["blocked_changes"] == 1


def test_a_what_if_counts_by_table_and_kind(tmp_path: Path) -> None:
    log = LogBuilder((ACCT, PARENT, CHILD))
    one, two, other = log.unit(), log.unit(), log.unit()
    one.insert(PARENT, (1, "A", 0, 0))
    one.insert(ACCT, acct(1))
    one.insert(ACCT, acct(2), cuts=(10,))
    one.delete(CHILD, (1, None, 0))
    two.update(ACCT, acct(2), acct(2, "X"), cuts=(30,))
    two.update(PARENT, (1, "A", 0, 0), (1, "A", 1, 0))
    two.delete(ACCT, acct(9))
    other.insert(ACCT, acct(8))
    answer = tmp_path / "answer.json"
    asked = ["whatif", *words(tmp_path, log), "--ur", one.name, "--json"]
    assert main([*asked, "--out", str(answer)]) == 0
    told = json.loads(answer.read_text())
    assert told["warnings"] == []
    assert "unread" not in told
    assert told["tables"] == {
        "TESTOWN.ACCT": {"delete": 1, "insert": 2, "update": 1},
        "TESTOWN.CHILD": {"delete": 1},
        "TESTOWN.PARENT": {"insert": 1, "update": 1},
    }
    assert [list(told["tables"]), list(told["tables"]["TESTOWN.ACCT"])] == [
        ["TESTOWN.ACCT", "TESTOWN.CHILD", "TESTOWN.PARENT"], ["delete", "insert", "update"],
    ]  # fmt: skip
    assert told["undo_cascade"] == {"units": 2, "statements": 7}
    assert told["redo_except"] == {"statements": 1, "left_out": 7}
    assert [(entry["unit"], entry["on"]) for entry in told["conflicts"]] == [(two.name, one.name)]
    assert told["blocked_changes"] == 2


def test_segments_of_changes_that_others_built_on_stay_together(tmp_path: Path) -> None:
    """Some changes of a unit have several records: those, and only those, are left out."""
    log = LogBuilder()
    one, two = log.unit(), log.unit()
    one.insert(ACCT, acct(1))
    one.insert(ACCT, acct(2), cuts=(10, 30))
    one.insert(ACCT, acct(3))
    one.insert(ACCT, acct(4), cuts=(20,))
    for number in (2, 4):
        two.update(ACCT, acct(number), acct(number, "X"))
    left = undo(log, tmp_path, "non-conflicting", units=(one.key,))
    found = sorted(statements(left))
    assert [re.search(r"id = (\d)", text)[1] for text in found] == ["1", "3"]  # type: ignore[index]
    assert all(text.startswith("DELETE") for text in found)
    assert left.manifest["consequences"]["blocked_changes"] == 2
    assert left.manifest["consequences"]["blocked_by_table"] == {"TESTOWN.ACCT": 2}
    said = "not undone: 2 changes of TESTOWN.ACCT (2) (5 records; a long row is several), so units"
    assert any(said in warning for warning in left.manifest["warnings"])
    skipped = left.manifest["balance"]["skipped"]
    assert (
        sum(count for reason, count in skipped.items() if "a later change depends" in reason) == 5
    )


def test_the_way_back_of_all_but_some_units_is_refused(tmp_path: Path) -> None:
    """Nothing was left out of it: it undid the units that were to stay."""
    log = LogBuilder()
    unit, stays = log.unit(), log.unit()
    unit.insert(ACCT, acct(1))
    stays.insert(ACCT, acct(2))
    control, data = log.write(tmp_path)
    target, script = tmp_path / "testown.db", tmp_path / "tables.sql"
    words = ["--control", str(control), "--data", *map(str, data), "--out", str(script)]
    assert main(["ddl", *words, "--dialect", "sqlite"]) == 0
    with closing(sqlite3.connect(target)) as base:
        base.executescript(script.read_text().replace("testown.", ""))
    with replay.open_log(control=control, data=data) as opened:
        to = f"sqlite:///{target}?schema=testown"
        other = opened.take(Selection(excepted=Selection(units=(unit.key,))))
        assert other.replay(to, schema="none").apply().units == 1
        for write in (
            lambda: other.undo(schema="none").write(tmp_path / "out"),
            lambda: other.replay(to, schema="none", until="0" * 20),
        ):
            with pytest.raises(UsageError, match="found --except on the way back"):
                write()


def test_what_is_left_out_must_be_readable(tmp_path: Path) -> None:
    log = LogBuilder()
    one, two = log.unit(), log.unit()
    one.insert(ACCT, acct(1))
    change = one.insert(ACCT, acct(2))
    change.images[-1] = change.images[-1][:-1]
    two.update(ACCT, acct(1), acct(1, "X"))
    control, data = log.write(tmp_path)
    with replay.open_log(control=control, data=data) as opened:
        redo = opened.take(Selection()).redo
        with pytest.raises(Refusal) as refused:
            redo(schema="none", excepted=Selection(units=(one.key,))).write(tmp_path / "out")
    assert refused.value.code == "LR3010"
    assert refused.value.message == (
        "found changes that cannot be read in the units to leave out, so the units that depend on"
        f" them are not known: units {one.name}; expected units whose changes can be read"
    )
    assert refused.value.hint == (
        "logreplay check names the records: transfer the log again. A redo sets such units aside by"
        " itself, with what provably depends on them"
    )


def test_a_conflict_in_words_and_as_data() -> None:
    one = cascade.Conflict(  # type: ignore[arg-type]
        unit="U2", on="U1", key="acct/1", link=Link.ROW
    )
    assert str(one) == "unit U2 later changed the same row: acct/1, of unit U1"
    assert one.describe() == {"unit": "U2", "on": "U1", "key": "acct/1", "link": "row"}


def test_a_what_if_of_a_part_of_a_unit_on_which_the_rest_builds(tmp_path: Path) -> None:
    log = LogBuilder((PARENT, CHILD))
    one = log.unit()
    one.insert(PARENT, (1, "A", 0, 0))
    one.insert(CHILD, (1, 1, 0))
    schema = tmp_path / "keys.sql"
    schema.write_text("ALTER TABLE testown.child ADD FOREIGN KEY (pid) REFERENCES testown.parent;")
    answer, how = tmp_path / "answer.json", ["--schema", str(schema)]
    asked = ["whatif", *words(tmp_path, log)[:-4], *how, "--table", "PARENT"]
    assert main([*asked, "--json", "--out", str(answer)]) in (0, 4)
    told = json.loads(answer.read_text())
    assert (told["units"], told["without"], told["dependents"]) == ([one.name], [one.name], [])
