"""Scripts leave a row of somebody else alone whose key or text the target's collation takes for
the same, and one that has a unique value of a row that they put in place."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import duckdb
import pymysql
import pytest

import replay
from replay.changes.options import ScriptOptions
from sqlgen.choices import Assertion
from sqlgen.render_options import RenderOptions
from tests.support.engines import Engine, Place, statements_of
from tests.support.logbuilder import Col, LogBuilder, Tab
from tests.support.servers import of_kind

pytestmark = pytest.mark.long

#: Types of text that take A for a, or (MariaDB) a blank at the end for nothing.
FOLDING = {
    "sqlite": ("TEXT COLLATE NOCASE",),
    "duckdb": ("VARCHAR COLLATE NOCASE",),
    "mariadb": (
        "varchar(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
        "varchar(10) CHARACTER SET latin1 COLLATE latin1_swedish_ci",
    ),
}
REFUSALS = (sqlite3.IntegrityError, duckdb.ConstraintException, pymysql.IntegrityError)
KEYED = Tab("NAMES", (Col("N", "VCHR", 10, key=1), Col("V", "INT", 4)))
KEYLESS = Tab("NAMES", (Col("N", "VCHR", 10), Col("V", "INT", 4)))
NUMBERED = Tab("NAMES", (Col("K", "INT", 4, key=1), Col("N", "VCHR", 10)))
Rows = list[tuple[object, ...]]


def script(folder: Path, log: LogBuilder, dialect: str, mode: str, **how: object) -> list[str]:
    """The statements of a log's script, which take what they find."""
    control, data = log.write(folder, seed=1)
    options = ScriptOptions(dialect=dialect, render=RenderOptions(**how), asserts=Assertion.NONE)
    made = replay.write_script(control, data, folder / "out", mode=mode, options=options)
    return list(statements_of(made.folder.glob("*.sql")))


def ran(engine: Engine, statements: list[str]) -> str:
    """The error that stops a script, '' for none; what came before it is undone."""
    try:
        for statement in statements:
            engine.run(statement)
    except REFUSALS as error:
        engine.run("ROLLBACK")
        return str(error)
    return ""


def table(engine: Engine, definition: str, *rows: str) -> None:
    engine.run(f"CREATE TABLE testown.names ({definition})")
    for row in rows:
        engine.run(f"INSERT INTO testown.names VALUES ({row})")


def rows_of(engine: Engine) -> Rows:
    return sorted(engine.rows("SELECT * FROM testown.names"))


@pytest.mark.parametrize("mode", ["redo", "undo"])
@pytest.mark.parametrize(
    ("tab", "upsert"),
    [(KEYED, False), (KEYED, True), (KEYLESS, False)],
    ids=["key", "key, upsert", "no key"],
)
def test_updates_and_deletes(
    place: Place, tmp_path: Path, tab: Tab, mode: str, upsert: bool
) -> None:
    log = LogBuilder([tab])
    log.unit().update(tab, ("a", 1), ("a", 2)) if mode == "redo" else log.unit().insert(
        tab, ("a", 1)
    )
    log.unit().delete(tab, ("a", 2)) if mode == "redo" else log.unit()
    statements = script(tmp_path, log, place.dialect, mode, upsert=upsert)
    if upsert:
        statements = [line for line in statements if not line.startswith("INSERT")]
    others = ["A", "a "] if place.dialect in ("mariadb", "mysql") else ["A"]
    for kind in of_kind(FOLDING, place.dialect):
        for other in others:
            key = ", UNIQUE (n)" if tab is KEYED else ""
            with place.engine("testown") as engine:
                table(engine, f"n {kind}, v INTEGER{key}", f"'{other}', 1")
                assert ran(engine, statements) == ""
                assert rows_of(engine) == [(other, 1)]
                engine.run("UPDATE testown.names SET n = 'a'")
                assert ran(engine, statements) == ""
                assert rows_of(engine) == []


def test_what_is_put_in_place(place: Place, tmp_path: Path) -> None:
    log = LogBuilder([KEYED])
    log.unit().insert(KEYED, ("a", 2))
    statements = script(tmp_path, log, place.dialect, "redo", upsert=True)
    for kind in of_kind(FOLDING, place.dialect):
        with place.engine("testown") as engine:
            table(engine, f"n {kind}, v INTEGER, PRIMARY KEY (n)", "'A', 1")
            if place.dialect == "duckdb":  # a unique index knows no collation there
                assert ran(engine, statements) == ""
                assert rows_of(engine) == [("A", 1), ("a", 2)]
                continue
            assert ran(engine, statements) != ""
            assert rows_of(engine) == [("A", 1)]
            engine.run("UPDATE testown.names SET n = 'a'")
            for _ in range(2):
                assert ran(engine, statements) == ""
                assert rows_of(engine) == [("a", 2)]


def test_a_unique_value_that_another_row_has(place: Place, tmp_path: Path) -> None:
    log = LogBuilder([NUMBERED])
    log.unit().insert(NUMBERED, (1, "x"))
    statements = script(tmp_path, log, place.dialect, "redo", upsert=True)
    with place.engine("testown") as engine:
        table(engine, "k INTEGER PRIMARY KEY, n varchar(10) UNIQUE", "2, 'x'")
        assert ran(engine, statements) != ""
        assert rows_of(engine) == [(2, "x")]
