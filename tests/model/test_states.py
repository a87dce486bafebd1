"""What a log alone shows of rows at a point: those of the model that the log touches."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest

from tests.model.case import Case
from tests.model.compare import State, bag, make_sqlite, rows_of_sqlite
from tests.model.rows import Column, Database, Edit, History, Table
from tests.model.sites import LogMasterSite, LuwSite, Site, SolidSite
from tests.support.seeds import seeds

KEYED = Table("TEST.T0", (Column("K", "integer"), Column("V", "integer")), ("K",))
KEYLESS = Table("TEST.T1", (Column("K", "integer"), Column("V", "integer")))
SITES: dict[str, type[Site]] = {"logmaster": LogMasterSite, "db2luw": LuwSite, "soliddb": SolidSite}


def drawn(rng: random.Random) -> History:
    """Rows that are equal (but for the key), whose keys move and whose values come again."""
    database = Database([KEYED, KEYLESS])
    for table in (KEYED, KEYLESS):
        for key in rng.sample(range(1, 9), 5):
            row = {"K": key if table.key else key % 2, "V": rng.randrange(2)}
            database.statement([Edit(table.name, None, row)])
    history = History(database)
    for _ in range(rng.randrange(1, 4)):
        unit = history.begin()
        for _ in range(rng.randrange(1, 4)):
            edits = statement(rng, database)
            order = rng.sample(range(len(edits)), len(edits))
            history.statement(unit, edits, order)
        history.commit(unit)
    return history


def statement(rng: random.Random, database: Database) -> list[Edit]:
    table = rng.choice((KEYED, KEYED, KEYLESS))
    rows = database.rows[table.name]
    some = sorted(rng.sample(sorted(rows), rng.randrange(min(4, len(rows)) + 1)))
    keys = [rows[rid]["K"] for rid in some]
    how = rng.choice(("same", "values", "turn", "delete", "insert"))
    if how == "insert" or not some:
        free = max([row["K"] for row in rows.values()], default=0) + 1
        return [Edit(table.name, None, {"K": free if table.key else 1, "V": rng.randrange(2)})]
    if how == "delete":
        return [Edit(table.name, rid, None) for rid in some]
    if how == "turn":
        free = max(row["K"] for row in rows.values()) + 1
        keys = [*keys[1:], rng.choice((keys[0], free))]
    values = [rows[rid]["V"] if how != "values" else rng.randrange(2) for rid in some]
    new = [{"K": key, "V": value} for key, value in zip(keys, values, strict=True)]
    return [Edit(table.name, rid, row) for rid, row in zip(some, new, strict=True)]


def touched(case: Case, at: Database) -> State:
    """The rows at a point that committed work has, before the point or after it."""
    mine = {
        (change.table.name, change.rid)
        for change in chain.from_iterable(unit.effective for unit in case.history.committed)
    }
    return {
        name: [row for rid, row in rows.items() if (name, rid) in mine]
        for name, rows in at.rows.items()
    }


def of_log(case: Case, at: str) -> State:
    """The rows that the command has at a point, without a state before or after the log."""
    path = case.folder / f"{at}.db"
    make_sqlite(case.tables, {table.name: [] for table in case.tables}, path)
    answer = case.said("state", "--at", at, "--to", f"sqlite:///{path}?schema=test")
    assert answer.code in (0, 4), answer.text
    return rows_of_sqlite(case.tables, path)


def made(family: str, seed: int) -> Case:
    rng = random.Random(f"states {family} {seed}")
    history = drawn(rng)
    make: Callable[[Path], Site] = lambda folder: SITES[family](history, rng, folder)  # noqa: E731
    return Case(seed, "states", history, make)


@pytest.mark.parametrize("seed", seeds(long=20))
@pytest.mark.parametrize("family", SITES)
def test_rows_that_the_log_touches(family: str, seed: int) -> None:
    case = made(family, seed)
    units = len(case.effective)
    try:
        for at, stand in (("start", case.history.initial), ("end", case.history.database)):
            want, found = touched(case, stand), of_log(case, at)
            for table in case.tables:
                have, true = bag(found[table.name], table), bag(want[table.name], table)
                assert not have - true, (at, table.name, have - true)
                # without places, or where rows may move, equal rows may be the same one
                told = family == "db2luw" and (table.key or units == 1)
                assert not told or have == true, (at, table.name, true - have)
    finally:
        case.close()
