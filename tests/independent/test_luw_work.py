"""Logs of Db2 LUW by a third reading of the format notes, with tables that come, grow and go:
scripts on DuckDB, with the types that ``migrate`` gives the tables, and exports end in the true
rows, also at drawn points of the log, and undo in those before.

One seed: ``scripts/run test -n 0 -k "drawn_work and 17"``.
"""

from __future__ import annotations

import json
import random
import re
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from replay.cli.main import main
from tests.independent import luw_desk, luw_work
from tests.independent.luw_desk import Column, Desk
from tests.independent.luw_work import Row, State, Table, Unit, Work

RELEASES = tuple(luw_desk.FRAMINGS)
SEEDS = range(6)
Rows = dict[str, Counter[tuple[object, ...]]]
Shape = Mapping[str, Sequence[Column]]
#: A connection to a database, of one driver or another.
Base = Any


def text_of(column: Column, value: Any) -> object:
    """A value as tests compare it, from the work, a database or lines of JSON."""
    if value is None:
        return None
    if column.type == "DOUBLE":
        return repr(float(value))
    if column.type == "DECIMAL":
        return format(Decimal(str(value)), "f")
    if column.bits:
        return bytes.fromhex(value) if isinstance(value, str) else bytes(value)
    if column.type == "CHARACTER":
        return value.rstrip(" ")
    text = str(value).replace("T", " ") if column.type == "TIMESTAMP" else str(value)
    if column.type == "TIMESTAMP":
        whole, _, fraction = text.partition(".")
        return f"{whole}.{fraction.ljust(column.scale, '0')}"
    return text


def row_of(columns: Sequence[Column], values: Iterable[Any]) -> tuple[object, ...]:
    return tuple(map(text_of, columns, values))


def rows_of(state: State, shape: Shape) -> Rows:
    return {
        name: Counter(row_of(columns, values) for values in state[name].values())
        for name, columns in shape.items()
    }


@dataclass
class Log:
    """A log on disk, and a DuckDB that its scripts are run on."""

    work: Work
    folder: Path
    source: tuple[str, ...]

    @classmethod
    def of(cls, work: Work, folder: Path) -> Log:
        ever = {name for shape in work.shapes for name in shape}
        tables = [table for table in work.tables if table.name in ever]
        log, catalog = folder / "log", folder / "catalog.csv"
        log.write_bytes(b"".join(work.desk.records))
        catalog.write_text(luw_work.catalog(tables), encoding="utf-8")
        named = ("--log-option", "dialect=v95") if work.desk.release == "v95" else ()
        source = ("--source", "db2luw", "--log", str(log), "--catalog", str(catalog), *named)
        return cls(work, folder, (*source, "--engine", "local"))

    def run(self, command: str, *words: str, fine: tuple[int, ...] = (0,)) -> Path:
        out = self.folder / f"{command}-{len(list(self.folder.iterdir()))}"
        code = main([command, *self.source, *words, "--out", str(out)])
        assert code in fine, (command, code)
        return out

    def scripts(self, command: str, *words: str, fine: tuple[int, ...] = (0,)) -> Path:
        return self.run(command, "--dialect", "duckdb", *words, fine=fine)

    def target(self) -> duckdb.DuckDBPyConnection:
        """The tables as they were before the log, with their rows."""
        base = duckdb.connect()
        self.fill(base, "duckdb", "?")
        tables = base.execute("SELECT upper(table_name) FROM information_schema.tables").fetchall()
        assert {name for (name,) in tables} == set(self.work.shapes[0])
        return base

    def fill(self, base: Base, dialect: str, mark: str) -> None:
        schema = self.run("migrate", "--dialect", dialect, fine=(0, 4)) / "10-schema.sql"
        base.execute(schema.read_text(encoding="utf-8"))
        for name, columns in self.work.shapes[0].items():
            marks = ", ".join(mark for _ in columns)
            for values in self.work.states[0][name].values():
                plain = [format(v, "f") if isinstance(v, Decimal) else v for v in values]
                base.execute(f"INSERT INTO app.{name.lower()} VALUES ({marks})", plain)

    def check(self, base: Base, at: int) -> None:
        """The rows are those behind so many commits."""
        shape = self.work.shapes[at]
        found: Rows = {}
        for name, columns in shape.items():
            shown = ", ".join(
                f"CAST({one.name} AS VARCHAR)"
                if one.type.startswith(("DATE", "TIME"))
                else one.name
                for one in columns
            )
            lines = base.execute(f"SELECT {shown} FROM app.{name.lower()}").fetchall()
            found[name] = Counter(row_of(columns, line) for line in lines)
        assert found == rows_of(self.work.states[at], shape)

    def positions(self, scripts: Path) -> dict[int, str]:
        """The commit positions of units, by their ids."""
        text = "".join(one.read_text(encoding="utf-8") for one in sorted(scripts.glob("*.sql")))
        found = re.findall("^-- unit TID=([0-9A-F]+) .*? commit-[a-z]+=([0-9A-F]+)", text, re.M)
        return {int(unit, 16): position for unit, position in found}


def execute(base: duckdb.DuckDBPyConnection, scripts: Path) -> None:
    for file in sorted(scripts.glob("*.sql")):
        base.execute(file.read_text(encoding="utf-8"))


def form_of(seed: int) -> tuple[str, str, str]:
    release = RELEASES[seed % len(RELEASES)]
    framings = luw_desk.FRAMINGS[release]
    return release, "<>"[seed // 2 % 2], framings[seed // 4 % len(framings)]


@pytest.mark.parametrize("structure", [0, pytest.param(0.08, marks=pytest.mark.long)])
@pytest.mark.parametrize("seed", SEEDS)
def test_drawn_work(seed: int, structure: float, tmp_path: Path) -> None:
    work = luw_work.draw_work(seed, *form_of(seed), structure=structure)
    log = Log.of(work, tmp_path)
    redo = log.scripts("redo")
    with closing(log.target()) as base:
        execute(base, redo)
        log.check(base, -1)
        goes = any(number == luw_work.DROPPED for live in work.lives for _, number, *_ in live)
        if not goes:  # what was dropped cannot be had back
            execute(base, log.scripts("undo", "--schema", "none"))
            log.check(base, 0)
    places = log.positions(redo)
    units = [unit.number for unit in work.ended]
    points = [n for n in range(len(units) - 1) if {units[n], units[n + 1]} <= places.keys()]
    if not points:
        return
    at = random.Random(seed).choice(points)
    with closing(log.target()) as base:
        execute(base, log.scripts("redo", "--until-position", places[units[at]]))
        log.check(base, at + 1)
        rest = ("--from-position", places[units[at + 1]], "--where-columns", "all")
        execute(base, log.scripts("redo", *rest))
        log.check(base, -1)


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS[:4])
def test_drawn_work_as_data(seed: int, tmp_path: Path) -> None:
    """Every change in the order of commits, and each finds the row as it was left."""
    work = luw_work.draw_work(seed, *form_of(seed))
    tables = {table.name: table for table in work.tables}
    folder = Log.of(work, tmp_path).run("export", "--format", "jsonl")
    events = []
    for file in folder.rglob("*.json*"):
        name = file.relative_to(folder).parts[0].removeprefix("app.").upper()
        if name not in tables:
            continue
        columns = tables[name].columns
        for line in file.read_text(encoding="utf-8").split("\n")[:-1]:
            event = json.loads(line)
            order = [event[part] for part in ("commit_lrsn", "urid", "member", "sequence")]
            images = [
                event[side] and row_of(columns, (event[side][c.name.lower()] for c in columns))
                for side in ("before", "after")
            ]
            events.append((order, name, *images))
    found = rows_of(work.states[0], work.shapes[0])
    for _, name, before, after in sorted(events, key=lambda event: event[0]):
        if before:
            assert found[name][before] > 0
            found[name][before] -= 1
        if after:
            found[name][after] += 1
    assert {n: +rows for n, rows in found.items()} == rows_of(work.states[-1], work.shapes[-1])


@pytest.mark.parametrize("seed", SEEDS)
def test_tables_are_those_that_were_committed(seed: int, tmp_path: Path) -> None:
    """Their first and last forms; what a unit took back, or left open at the end, is none."""
    release = ("v7", "v7", "v10")[seed % 3]
    work = luw_work.draw_work(seed, release, "<", "lsn6" if release == "v7" else "lri48", 12, 0.2)
    log = Log.of(work, tmp_path)
    for generation, shapes in (("first", work.shapes[::-1]), ("last", work.shapes)):
        forms = {name: columns for shape in shapes for name, columns in shape.items()}
        out = tmp_path / generation
        words = ("--dialect", "duckdb", "--generation", generation, "--out", str(out))
        assert main(["ddl", *log.source[:-2], *words]) == 0
        with closing(duckdb.connect()) as base:
            base.execute(out.read_text(encoding="utf-8"))
            columns = base.execute(
                "SELECT upper(table_name), upper(column_name) FROM information_schema.columns"
                " ORDER BY ordinal_position"
            ).fetchall()
        found: dict[str, list[str]] = {}
        for table, column in columns:
            found.setdefault(table, []).append(column)
        assert found.keys() == forms.keys()
        for name, form in forms.items():
            names = [one.name for one in form]
            if generation == "first" and name in work.made:  # its unit may have added columns
                names = names[: len(found[name])]
            assert found[name] == names


@pytest.mark.parametrize(("release", "taken_for"), [("v95", None), ("v7", "v95"), ("v95", "v7")])
def test_changes_in_the_form_of_another_release_are_not_passed_over(
    release: str, taken_for: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Releases 5 to 9.5 have one header; only the functions of their records tell them apart."""
    work = luw_work.draw_work(3, release, "<", "lsn6")
    log = Log.of(work, tmp_path)
    named = ("--log-option", f"dialect={taken_for}") if taken_for else ()
    log.source = (*log.source[:6], *named, "--engine", "local")
    manifest = log.run("redo", fine=(8,)) / "manifest.json"
    balance = json.loads(manifest.read_text(encoding="utf-8"))["balance"]
    assert balance["emitted"] == 0
    assert balance["failed"] + balance["quarantined"] > 0
    control = "control record of the log"
    assert balance["skipped"][control] <= 2 * len(work.desk.ends)  # commits, and rows' pointers
    assert "--log-option dialect=v95 for 9.1 and 9.5" in capsys.readouterr().out


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_points_forward_and_back(seed: int, fresh_database: str, tmp_path: Path) -> None:
    """A target goes to drawn points of a log in which tables change, of which it had a part."""
    work = luw_work.draw_work(seed, *form_of(seed), structure=0.06)
    log = Log.of(work, tmp_path)
    places = log.positions(log.scripts("redo"))
    units = [unit.number for unit in work.ended]
    pick = random.Random(seed)
    points = [n for n, unit in enumerate(units) if unit in places]
    drops = [
        n
        for n, live in enumerate(work.lives)
        if any(number == luw_work.DROPPED for _, number, *_ in live)
    ]
    at = 0
    with psycopg.connect(fresh_database, autocommit=True) as base:
        log.fill(base, "postgres", "%s")
        for point in [*pick.sample(points, min(4, len(points))), None]:
            until = ("--until-position", places[units[point]]) if point is not None else ()
            to = len(units) if point is None else point + 1
            code = main(["replay", *log.source, "--to", fresh_database, "--apply", *until])
            if any(to <= drop < at for drop in drops):
                assert code == 8  # its rows cannot be had back
                continue
            assert code == 0
            log.check(base, at := to)


def without_a_key(folder: Path) -> Log:
    """A unit that updates the first of the rows (1, 'a') and (2, 'a') of a table without a key."""
    columns = [Column("A", "INTEGER", nullable=False), Column("C", "VARCHAR", 3)]
    work = Work(Desk("v97", "<", "lsn8"), [Table("T", (2, 5), columns, [])], random.Random(1))
    work.options = dict.fromkeys(work.options, 0)
    table = work.tables[0]
    for number in (1, 2):
        table.rows[number] = Row([number, "a"], (1, number), None, 2)
        work.committed["T"][number] = [number, "a"]
    work.snap()
    unit = Unit(0xA00)
    work.update(unit, table, 1, [1, "z"])
    work.commit(unit)
    return Log.of(work, folder)


def test_a_row_without_a_key_that_is_not_there(
    fresh_database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is said of what the target has in its place, for no key tells that."""
    log = without_a_key(tmp_path)
    with psycopg.connect(fresh_database, autocommit=True) as base:
        log.fill(base, "postgres", "%s")
        base.execute("UPDATE app.t SET c = 'q' WHERE a = 1")
    assert main(["replay", *log.source, "--to", fresh_database, "--apply"]) == 8
    said = capsys.readouterr().err
    assert "no-row: the update in APP.T touched 0 rows" in said
    assert "before image: {'A': '1', 'C': 'a'}" in said
    assert "in the target" not in said


@pytest.mark.parametrize("how", [[], ["--mode", "bulk"], ["--on", "no-row=skip"]], ids=" ".join)
def test_a_row_that_another_session_writes_is_there(
    how: list[str], fresh_database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row without a key is found by its place, and an update by somebody else gives it another
    one while the replay waits for it."""
    log = without_a_key(tmp_path)
    with (
        psycopg.connect(fresh_database, autocommit=True) as base,
        psycopg.connect(fresh_database) as other,
    ):
        log.fill(base, "postgres", "%s")
        other.execute("UPDATE app.t SET c = c WHERE a = 1")

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
        assert main(["replay", *log.source, "--to", fresh_database, "--apply", *how]) == 0
        thread.join()
        log.check(base, -1)
    assert "not applied as the log says" not in capsys.readouterr().out


#: Values that Db2 takes for the same and a target need not.
ALIKE = [("VARCHAR", " ", ""), ("VARCHAR", "a", "a "), ("DOUBLE", 0.0, -0.0), ("DOUBLE", -0.0, 0.0)]


@pytest.mark.parametrize(("kind", "one", "other"), ALIKE)
@pytest.mark.parametrize("mode", ["redo", "undo"])
def test_keys_change_places_between_rows_that_are_alike(
    kind: str, one: Any, other: Any, mode: str, tmp_path: Path
) -> None:
    """Two rows take each other's key. They differ in what Db2 does not compare, so it is not one
    row that came back."""
    columns = [Column("K", "INTEGER", nullable=False), Column("C", kind, 3)]
    table = Table("T", (2, 5), columns, [0])
    work = Work(Desk("v97", "<", "lsn8"), [table], random.Random(1))
    work.options = dict.fromkeys(work.options, 0)
    for number, value in enumerate((one, other), 1):
        table.rows[number] = Row([number, value], (1, number), None, 2)
        work.committed["T"][number] = [number, value]
    work.snap()
    unit = Unit(0xA00)
    work.update(unit, table, 1, [2, one])
    work.update(unit, table, 2, [1, other])
    work.commit(unit)
    log = Log.of(work, tmp_path)
    with closing(log.target()) as base:
        execute(base, log.scripts("redo"))
        log.check(base, -1)
        if mode == "undo":
            execute(base, log.scripts("undo", "--schema", "none"))
            log.check(base, 0)


@pytest.mark.parametrize(
    "changes", [(), ("--changes", "redo"), ("--changes", "undo")], ids=" ".join
)
def test_ddl_warns_of_structure_that_the_log_does_not_tell(
    changes: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A column is altered, and the log does not say how: the table may not be as it is written."""
    table = Table("T", (2, 5), [Column("A", "INTEGER", nullable=False)], [0])
    work = Work(Desk("v10", "<", "lri48"), [table], random.Random(1))
    work.snap()
    unit = Unit(0xA00)
    unit.prev = work.desk.write(unit.number, 0, 0x4E, work.desk.ids(113, table.ids) + bytes(20))
    work.commit(unit)
    log = Log.of(work, tmp_path)
    words = ("--dialect", "duckdb", *changes, "--out", str(tmp_path / "tables.sql"))
    assert main(["ddl", *log.source[:-2], *words]) == 4
    assert "warning: APP.T: alter column length is in the log" in capsys.readouterr().err
