"""Logs of Db2 LUW in which tables come, grow and go, in units that are also taken back, wholly or
in part: scripts end in the true rows, also at points of the log, and undo in those before. And
rows that only their places tell apart."""

from __future__ import annotations

import json
import random
import re
import sqlite3
import threading
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from replay.cli.main import main
from tests.independent.luw_history import ORDERS, Form
from tests.independent.luw_records import FRAMINGS, Log, RowWriter, write_catalog
from tests.independent.tables import Column, Place, Row, Table
from tests.support.seeds import seeds

K, N, X = Column("K", "INTEGER", nullable=False), Column("N", "VARCHAR", 9), Column("X", "INTEGER")
FIRST = 0xA00


@dataclass
class Structured:
    """Units one behind the other: ``states`` are the tables behind each commit, with their columns
    and rows; ``gone`` tells of those units that dropped a table."""

    seed: int
    form: Form
    units: int = 12
    shapes: dict[str, Table] = field(default_factory=dict)
    states: list[dict[str, tuple[Table, dict[Place, Row]]]] = field(default_factory=list)
    gone: set[int] = field(default_factory=set)
    commits: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pick = random.Random(f"structure {self.seed}")
        self.log, self.slot = Log(self.form, self.pick), 4
        self.writer = RowWriter(self.form, self.pick)
        self.unit = FIRST
        self.rows: dict[str, dict[Place, Row]] = {}
        self.ever: dict[str, Table] = {}
        for number in range(2):
            self._know(Table("APP", f"T{number}", (2, 5 + number), (K, N), (0,), 2))
            for key in range(3):
                self.rows[f"T{number}"][self._place()] = (key, f"r{key}")
        self._keep()
        for _ in range(self.units):
            self._unit()

    def _know(self, table: Table) -> None:
        self.shapes[table.name], self.rows[table.name] = table, {}
        self.ever[table.name] = table

    def _keep(self) -> None:
        self.states.append({n: (t, dict(self.rows[n])) for n, t in self.shapes.items()})

    def _place(self) -> Place:
        self.slot += 1
        return self.slot // 50 + 1, self.slot % 50

    def _bytes(self, table: Table, row: Row) -> bytes:
        return self.writer.row(table, row, len(row) < len(table.columns), 0, False)

    def _unit(self) -> None:
        pick = self.pick
        before = dict(self.shapes), {name: dict(rows) for name, rows in self.rows.items()}
        self.unit += 1
        # each: where its record lies, and what takes it back
        self.done: list[tuple[int, Any]] = []
        fate = pick.random()
        for _ in range(pick.randint(1, 4)):
            self._act()
        if fate < 0.3:  # to the start, and on from there or not at all
            while self.done:
                at, again = self.done.pop()
                again((self.done[-1][0] if self.done else 0, at))
            self.shapes, self.rows = before
            if fate < 0.15:
                self.log.abort(self.unit)
                return
            self._change(pick.choice([*self.shapes.values()]))
        self.log.commit(self.unit)
        if before[0].keys() - self.shapes.keys():
            self.gone.add(len(self.commits))
        self.commits.append(self.unit)
        self._keep()

    def _act(self) -> None:
        pick, what, log, unit = self.pick, self.pick.random(), self.log, self.unit
        table = pick.choice([*self.shapes.values()])
        if what < 0.2:
            number = len(self.ever)
            made = Table("APP", f"N{number}", (9, 40 + number), (K, N), (0,), 2)
            self._know(made)
            self.done.append((log.create(unit, made), lambda back: log.create(unit, made, back)))
            log.table(unit, made)
            self._change(made)
        elif what < 0.3 and len(self.shapes) > 2:
            del self.shapes[table.name]
            self.rows[table.name] = {}
            self.done.append((log.drop(unit, table), lambda back: log.drop(unit, table, back)))
        elif what < 0.5 and self.form.release == "v7" and len(table.columns) == 2:
            wide = replace(table, columns=(*table.columns, X), rows={}, held={})
            self.shapes[table.name] = self.ever[table.name] = wide
            old, new = table.columns, wide.columns
            at = log.columns(unit, wide, old, new)
            self.done.append((at, lambda back: log.columns(unit, wide, new, old, back)))
        else:
            self._change(table)

    def _change(self, table: Table) -> None:
        pick, log, unit, rows = self.pick, self.log, self.unit, self.rows[table.name]
        what = pick.random()
        if what < 0.4 or not rows:
            row: Row = (self.slot, pick.choice(("a", "b'", None)), 7)[: len(table.columns)]
            place = self._place()
            data = self._bytes(table, row)
            rows[place] = row
            at = log.insert(unit, table, place, data)
            back = lambda undone: log.no_insert(unit, table, place, len(data), undone)  # noqa: E731
        else:
            place = pick.choice(list(rows))
            old = self._bytes(table, rows[place])
            if what < 0.8:
                rows[place] = (rows[place][0], f"u{unit % 100}", 8)[: len(table.columns)]
                new = self._bytes(table, rows[place])
                at = log.update(unit, table, place, old, new)
                back = lambda undone: log.no_update(unit, table, place, old, undone)  # noqa: E731
            else:
                del rows[place]
                at = log.delete(unit, table, place, old)
                back = lambda undone: log.no_delete(unit, table, place, old, undone)  # noqa: E731
        self.done.append((at, back))


def source_of(log: Log, tables: list[Table], folder: Path, told: str | None = None) -> list[str]:
    (folder / "log").write_bytes(b"".join(record.bytes for record in log.records))
    write_catalog(tables, folder / "catalog.csv")
    words = ["--source", "db2luw", "--log", str(folder / "log"), "--catalog"]
    release = told or ("v95" if log.form.release == "v95" else None)
    named = ["--log-option", f"dialect={release}"] if release else []
    return [*words, str(folder / "catalog.csv"), *named]


def scripts(source: list[str], out: Path, *words: str) -> str:
    assert main([*words[:1], *source, "--dialect", "sqlite", "--engine", "local",
                 "--out", str(out), *words[1:]]) in (0, 4)  # fmt: skip
    return "".join(one.read_text(encoding="utf-8") for one in sorted(out.glob("*.sql")))


def database(tables: dict[str, tuple[Table, dict[Place, Row]]]) -> sqlite3.Connection:
    base = sqlite3.connect(":memory:", isolation_level=None)
    base.execute("ATTACH ':memory:' AS app")
    for name, (table, rows) in tables.items():
        columns = ", ".join(one.name for one in table.columns)  # with a type, -0.0 is 0
        base.execute(f"CREATE TABLE app.{name} ({columns})")
        for row in rows.values():
            base.execute(f"INSERT INTO app.{name} VALUES ({', '.join('?' * len(row))})", row)
    return base


def check(base: sqlite3.Connection, state: dict[str, tuple[Table, dict[Place, Row]]]) -> None:
    """The tables are these, with their columns and rows."""
    found = {name.upper() for (name,) in base.execute("SELECT name FROM app.sqlite_master")}
    assert {name for name in found if not name.startswith("SQLITE_")} == set(state)
    for name, (table, rows) in state.items():
        names = [one.upper() for _, one, *_ in base.execute(f"PRAGMA app.table_info({name})")]
        assert names == [column.name for column in table.columns]
        wide = (row + (None,) * (len(names) - len(row)) for row in rows.values())
        assert Counter(base.execute(f"SELECT * FROM app.{name}").fetchall()) == Counter(wide)


@pytest.mark.parametrize("seed", seeds(long=20))
@pytest.mark.parametrize("release", FRAMINGS)
def test_tables_that_come_grow_and_go(release: str, seed: int, tmp_path: Path) -> None:
    pick = random.Random(seed)
    form = Form(release, pick.choice(ORDERS), pick.choice(FRAMINGS[release]))
    made = Structured(seed, form)
    source = source_of(made.log, [*made.ever.values()], tmp_path)
    redo = scripts(source, tmp_path / "redo", "redo")
    with closing(database(made.states[0])) as base:
        base.executescript(redo)
        check(base, made.states[-1])
        if not made.gone:  # what was dropped cannot be had back
            base.executescript(scripts(source, tmp_path / "undo", "undo", "--schema", "none"))
            check(base, made.states[0])
    named = re.findall("^-- unit TID=([0-9A-F]+) .*? commit-[a-z]+=([0-9A-F]+)", redo, re.M)
    number, position = pick.choice(named)
    until = scripts(source, tmp_path / "part", "redo", "--until-position", position)
    with closing(database(made.states[0])) as base:
        base.executescript(until)
        check(base, made.states[made.commits.index(int(number, 16)) + 1])


@pytest.mark.parametrize(("release", "taken_for"), [("v7", "v95"), ("v95", "v7")])
def test_changes_in_the_form_of_another_release_are_not_passed_over(
    release: str, taken_for: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Releases 5 to 9.5 have one header; only the functions of their records tell them apart."""
    made = Structured(3, Form(release, "little", "lsn6"))
    source = source_of(made.log, [*made.ever.values()], tmp_path, taken_for)
    out = tmp_path / "out"
    assert main(["redo", *source, "--engine", "local", "--out", str(out)]) == 8
    balance = json.loads((out / "manifest.json").read_text(encoding="utf-8"))["balance"]
    assert balance["emitted"] == 0
    assert balance["failed"] + balance["quarantined"] > 0
    assert "--log-option dialect=v95 for 9.1 and 9.5" in capsys.readouterr().out


def updates(folder: Path, table: Table, *changes: tuple[Row, Row]) -> list[str]:
    """The log of a unit that updates some rows, each at a place of its own."""
    form = Form("v97", "little", "lsn8")
    log, writer = Log(form, random.Random(1)), RowWriter(form, random.Random(1))
    for slot, images in enumerate(changes, 1):
        old, new = (writer.row(table, row, False, 0, False) for row in images)
        log.update(FIRST, table, (1, slot), old, new)
    log.commit(FIRST)
    return source_of(log, [table], folder)


#: Values that Db2 takes for the same and a target need not.
ALIKE = [("VARCHAR", " ", ""), ("VARCHAR", "a", "a "), ("DOUBLE", 0.0, -0.0), ("DOUBLE", -0.0, 0.0)]


@pytest.mark.parametrize(("kind", "one", "other"), ALIKE)
def test_keys_change_places_between_rows_that_are_alike(
    kind: str, one: Any, other: Any, tmp_path: Path
) -> None:
    """Two rows take each other's key. They differ in what Db2 does not compare, so it is not one
    row that came back."""
    table = Table("APP", "T", (2, 5), (K, Column("C", kind, 3)), (0,), 2)
    source = updates(tmp_path, table, ((1, one), (2, one)), ((2, other), (1, other)))
    rows = {(1, 1): (1, one), (1, 2): (2, other)}
    with closing(database({"T": (table, rows)})) as base:
        base.executescript(scripts(source, tmp_path / "redo", "redo"))
        assert sorted(map(repr, base.execute("SELECT * FROM app.t"))) == sorted(
            map(repr, [(2, one), (1, other)])
        )
        base.executescript(scripts(source, tmp_path / "undo", "undo", "--schema", "none"))
        check(base, {"T": (table, rows)})


LOOSE = Table("APP", "T", (2, 5), (Column("A", "INTEGER", nullable=False), N), (), 2)


def filled(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as base:
        base.execute("CREATE SCHEMA app; CREATE TABLE app.t (a integer NOT NULL, n varchar(9))")
        base.execute("INSERT INTO app.t VALUES (1, 'a'), (2, 'a')")


def test_a_row_without_a_key_that_is_not_there(
    fresh_database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is said of what the target has in its place, for no key tells that."""
    source = updates(tmp_path, LOOSE, ((1, "a"), (1, "z")))
    filled(fresh_database)
    with psycopg.connect(fresh_database, autocommit=True) as base:
        base.execute("UPDATE app.t SET n = 'q' WHERE a = 1")
    words = ["--engine", "local", "--to", fresh_database, "--apply"]
    assert main(["replay", *source, *words]) == 8
    said = capsys.readouterr().err
    assert "no-row: the update in APP.T touched 0 rows" in said
    assert "before image: {'A': '1', 'N': 'a'}" in said
    assert "in the target" not in said


@pytest.mark.parametrize("how", [[], ["--mode", "bulk"], ["--on", "no-row=skip"]], ids=" ".join)
def test_a_row_that_another_session_writes_is_there(
    how: list[str], fresh_database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row without a key is found by its place, and an update by somebody else gives it another
    one while the replay waits for it."""
    source = updates(tmp_path, LOOSE, ((1, "a"), (1, "z")))
    filled(fresh_database)
    with (
        psycopg.connect(fresh_database, autocommit=True) as base,
        psycopg.connect(fresh_database) as other,
    ):
        other.execute("UPDATE app.t SET n = n WHERE a = 1")

        def write() -> None:
            waiting = (
                "SELECT pg_sleep(0.02) FROM pg_stat_activity"
                " WHERE application_name = 'logreplay' AND wait_event_type = 'Lock'"
            )
            while not base.execute(waiting).fetchone():
                pass
            other.commit()

        thread = threading.Thread(target=write)
        thread.start()
        words = ["--engine", "local", "--to", fresh_database, "--apply", *how]
        assert main(["replay", *source, *words]) == 0
        thread.join()
        assert sorted(base.execute("SELECT * FROM app.t").fetchall()) == [(1, "z"), (2, "a")]
    assert "not applied as the log says" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "changes", [(), ("--changes", "redo"), ("--changes", "undo")], ids=" ".join
)
def test_ddl_warns_of_structure_that_the_log_does_not_tell(
    changes: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A column is altered, and the log does not say how: the table may not be as it is written."""
    log = Log(Form("v10", "little", "lri48"), random.Random(1))
    log.alter(FIRST, LOOSE)
    log.commit(FIRST)
    source = source_of(log, [LOOSE], tmp_path)
    words = ["--dialect", "duckdb", *changes, "--out", str(tmp_path / "tables.sql")]
    assert main(["ddl", *source, *words]) == 4
    assert "warning: APP.T: alter column length is in the log" in capsys.readouterr().err
