"""Keys with nulls: a unique index of Db2 or SQL Server lets such a key be there once, the SQL
standard as often as one likes. Scripts are run on a database that enforces the one or the other."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest

import replay
from replay.changes.options import ScriptOptions
from sqlgen.choices import Assertion
from sqlgen.schema import Constraints
from tests.support.logbuilder import ACCT, LogBuilder, acct, statements

#: Names of rows by key; the name is unique.
State = dict[int, str | None]
Logged = list[tuple[tuple[int, str | None] | None, tuple[int, str | None] | None]]

NAMED = Constraints(keys=(("TESTOWN.ACCT", ("NAME",)),))
#: The index that enforces each reading, and a dialect whose databases have it.
ONCE, OFTEN = "IFNULL(name, 'no name')", "name"
DIALECT = {ONCE: "db2", OFTEN: "sqlite"}
COLUMNS = "id INT PRIMARY KEY, bal NUMERIC, open_dt TEXT, name TEXT, rate REAL, upd TEXT"


def script(folder: Path, log: Logged, mode: str, dialect: str) -> list[str]:
    builder = LogBuilder()
    unit = builder.unit()
    for before, after in log:
        if before is None:
            unit.insert(ACCT, acct(*after))  # type: ignore[misc]
        elif after is None:
            unit.delete(ACCT, acct(*before))
        else:
            unit.update(ACCT, acct(*before), acct(*after))
    control, data = builder.write(folder)
    options = ScriptOptions(dialect=dialect, asserts=Assertion.NONE)
    out = folder / f"out{len(list(folder.iterdir()))}"
    bundle = replay.write_script(control, data, out, mode=mode, constraints=NAMED, options=options)
    assert bundle.exit_code == 0
    return statements(bundle)


def run(rows: State, lines: list[str], index: str) -> State:
    """The rows that statements leave in a database that enforces a unique ``index``."""
    with sqlite3.connect(":memory:", isolation_level=None) as place:
        place.execute("ATTACH ':memory:' AS testown")
        place.execute(f"CREATE TABLE testown.acct ({COLUMNS})")
        place.execute(f"CREATE UNIQUE INDEX testown.u ON acct ({index})")
        for number, name in rows.items():
            place.execute("INSERT INTO testown.acct VALUES (?, ?, ?, ?, ?, ?)", acct(number, name))
        for line in lines:
            assert place.execute(line).rowcount == 1, line
        return dict(place.execute("SELECT id, name FROM testown.acct").fetchall())


class History:
    """Statements of one unit, each of which leaves every key once; their rows in any order."""

    def __init__(self, seed: int, index: str) -> None:
        self.pick, self.index = random.Random(seed), index
        names: list[str | None] = [None, "A", "B", "C", "D", "E"]
        if index == OFTEN:
            names += [None, None]
        self.names = names
        self.state: State = dict(enumerate(self.pick.sample(names, self.pick.randrange(2, 6))))
        self.first = dict(self.state)
        self.log: Logged = []
        for _ in range(self.pick.randrange(1, 5)):
            self.statement()

    def statement(self) -> None:
        after: State = dict(self.state)
        kind = self.pick.random()
        if kind < 0.2 and after:
            del after[self.pick.choice(list(after))]
        elif kind < 0.4:
            after[max(after, default=0) + 1] = self.pick.choice(self.names)
        else:
            chosen = [key for key in after if self.pick.random() < 0.7]
            free = [n for n in self.names if n not in self.state.values()]
            free += [self.state[key] for key in chosen]
            after.update(zip(chosen, self.pick.sample(free, len(chosen)), strict=True))
        taken = [n for n in after.values() if n is not None or self.index == ONCE]
        if len(set(taken)) < len(taken):
            return
        changes: Logged = [
            (
                (key, self.state[key]) if key in self.state else None,
                (key, after[key]) if key in after else None,
            )
            for key in self.state.keys() | after.keys()
            if (key in self.state, self.state.get(key)) != (key in after, after.get(key))
        ]
        self.pick.shuffle(changes)
        self.log += changes
        self.state = after


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("index", [ONCE, OFTEN])
def test_every_statement_finds_a_free_key(tmp_path: Path, index: str, seed: int) -> None:
    for number in range(5 * seed, 5 * seed + 5):
        history = History(number, index)
        if not history.log:
            continue
        folder = tmp_path / str(number)
        folder.mkdir()
        redo = script(folder, history.log, "redo", DIALECT[index])
        assert run(history.first, redo, index) == history.state, number
        undo = script(folder, history.log, "undo", DIALECT[index])
        assert run(history.state, undo, index) == history.first, number
        if index == ONCE:  # right where nulls are equal is right where they are not
            assert run(history.first, redo, OFTEN) == history.state, number


@pytest.mark.parametrize("mode", ["redo", "undo"])
@pytest.mark.parametrize("dialect", ["db2", "sqlite", "postgres"])
def test_a_null_moves_on_to_another_row(tmp_path: Path, mode: str, dialect: str) -> None:
    """In an order that every database takes, where one needs no row to be removed for it."""
    log: Logged = [((1, "A"), (1, None)), ((2, None), (2, "B"))]
    if mode == "undo":
        log.reverse()
    lines = script(tmp_path, log, mode, dialect)
    assert len(lines) == 2
    before, after = {1: "A", 2: None}, {1: None, 2: "B"}
    if mode == "undo":
        before, after = after, before
    if dialect != "postgres":
        assert run(before, lines, ONCE) == after
    assert "id = 2" in lines[0 if mode == "redo" else 1].lower()


@pytest.mark.parametrize("dialect", ["db2", "sqlite"])
def test_a_null_that_two_rows_exchange(tmp_path: Path, dialect: str) -> None:
    """A row is removed and put back only for a database that needs it."""
    lines = script(tmp_path, [((1, "A"), (1, None)), ((2, None), (2, "A"))], "redo", dialect)
    index = ONCE if dialect == "db2" else OFTEN
    assert run({1: "A", 2: None}, lines, index) == {1: None, 2: "A"}
    assert len(lines) == (3 if dialect == "db2" else 2)


def test_nulls_that_many_rows_have_say_nothing(tmp_path: Path) -> None:
    """A log in which such a key is there more than once is not ordered by it."""
    log: Logged = [
        ((1, "A"), (1, None)),
        ((2, "B"), (2, None)),
        ((3, "C"), (3, None)),
        ((4, None), (4, "D")),
    ]
    lines = script(tmp_path, log, "redo", "db2")
    assert [line.rpartition(" = ")[2] for line in lines] == ["1;", "2;", "3;", "4;"]
