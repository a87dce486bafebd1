"""Logs of Db2 LUW: rows that only their places tell apart, and what a log does not say of its
tables."""

from __future__ import annotations

import json
import random
import sqlite3
import threading
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from replay.cli.main import main
from tests.independent.luw_history import Form
from tests.independent.luw_records import Log, RowWriter, write_catalog
from tests.independent.tables import Column, Place, Row, Table
from tests.model.structures import LuwStructures, Structures

K, N = Column("K", "INTEGER", nullable=False), Column("N", "VARCHAR", 9)
FIRST = 0xA00


def source_of(log: Log, tables: list[Table], folder: Path) -> list[str]:
    (folder / "log").write_bytes(b"".join(record.bytes for record in log.records))
    write_catalog(tables, folder / "catalog.csv")
    words = ["--source", "db2luw", "--log", str(folder / "log"), "--catalog"]
    return [*words, str(folder / "catalog.csv")]


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


@pytest.mark.parametrize(("release", "taken_for"), [("v7", "v95"), ("v95", "v7")])
def test_changes_in_the_form_of_another_release_are_not_passed_over(
    release: str, taken_for: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Releases 5 to 9.5 have one header; only the functions of their records tell them apart."""
    made = LuwStructures(Structures(3, "db2luw"), Form(release, "little", "lsn6"))
    words = made.write(tmp_path)
    source = [*words[:6], "--log-option", f"dialect={taken_for}"]
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
