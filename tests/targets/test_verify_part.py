"""Verify after a replay of a part of a log: what was left out had changed the same rows, which were
deleted and came again, or moved to other keys."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

import replay
from replay.errors import LogReplayError
from tests.support.logbuilder import Col, LogBuilder, Tab

TABLE = Tab("T", (Col("K", "INT", 4, key=1), *(Col(name, "INT", 4) for name in "AB")))
Row = tuple[int, int, int]
MADE = "CREATE TABLE t (k integer PRIMARY KEY, a integer, b integer)"
#: Units as (whether it is replayed, changes as (before, after)); rows (1, 0, 0), (2, 0, 0).
Units = list[tuple[bool, list[tuple[Row | None, Row | None]]]]
MOVES: Units = [
    (False, [((1, 0, 0), (1, 0, 5))]),
    (True, [((1, 0, 5), (7, 0, 5))]),
]


def target(folder: Path, rows: list[Row]) -> tuple[str, Path]:
    """The URL of a target with these rows, and the folder of a state with them."""
    state = folder / "state"
    state.mkdir()
    lines = ["k,a,b", *(",".join(map(str, row)) for row in rows)]
    (state / "t.csv").write_text("\n".join(lines) + "\n")
    with closing(sqlite3.connect(folder / "testown.db")) as database:
        database.execute(MADE)
        database.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        database.commit()
    return f"sqlite:///{folder}/testown.db", state


def replayed(folder: Path, rows: list[Row], units: Units) -> tuple[replay.Selected, str, Path]:
    """A part of a log that was replayed, the target's URL and the state before it."""
    log = LogBuilder([TABLE])
    for taken, changes in units:
        unit = log.unit(member=1 if taken else 2)
        for before, after in changes:
            if before is None:
                unit.insert(TABLE, after)
            elif after is None:
                unit.delete(TABLE, before)
            else:
                unit.update(TABLE, before, after)
    control, data = log.write(folder, seed=1)
    url, state = target(folder, rows)
    work = replay.open_log(source="logmaster", control=control, data=data).select(members=(1,))
    with work.replay(url) as plan:
        plan.apply()
    return work, url, state


def spoiled(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "testown.db")) as database:
        assert database.execute(statement).rowcount == 1
        database.commit()


def test_rows_that_move_while_changes_are_left_out_are_not_proven(tmp_path: Path) -> None:
    work, url, state = replayed(tmp_path, [(1, 0, 0), (2, 0, 0)], MOVES)
    found = work.verify(url, state)
    assert found.exit_code == 8, found  # nothing is compared
    assert "t is not proven, for the log moves its rows to other keys" in str(found)
    note = "table t: changes of its rows are left out, and others give them new keys"
    assert note in found.findings["not_compared"]
    assert not found.findings["tables"]


@pytest.mark.parametrize("seed", range(40))
def test_random_histories(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    start: list[Row] = [(key, 0, 0) for key in range(5)]
    rows = {row[0]: row for row in start}
    units = []
    for _ in range(12):
        taken = rng.random() < 0.6
        changes: list[tuple[Row | None, Row | None]] = []
        for _ in range(rng.randint(1, 3)):
            key = rng.randrange(8)
            before = rows.pop(key, None)
            kind = rng.choice(["value", "value", "delete"]) if taken else "value"
            if before is None:
                if not taken:
                    continue
                after = (key, rng.randrange(9), rng.randrange(9))
            elif kind == "delete":
                after = None
            else:
                after = (key, rng.randrange(9), before[2]) if rng.random() < 0.5 else (
                    key, before[1], rng.randrange(9))  # fmt: skip
            if after is not None:
                rows[after[0]] = after
            if before != after:
                changes.append((before, after))
        units.append((taken, changes))
    with suppress(LogReplayError):
        work, url, state = replayed(tmp_path, start, units)
        found = work.verify(url, state)
        assert found.exit_code == 0, found
        spoiled(tmp_path, "INSERT INTO t VALUES (99, 1, 1)")
        assert work.verify(url, state).exit_code == 8
