"""``--assert rows``: a statement that does not touch exactly one row stops the script and is named
with its unit; all others do what they do without."""

from __future__ import annotations

import re
import sqlite3
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pymysql
import pytest
import sqlglot

import replay
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.errors import TargetError, UsageError
from replay.output.bundle import Bundle
from replay.targets import target_named
from sqlgen import row_checks
from sqlgen.choices import Assertion
from sqlgen.dialects import BUILT_IN, LABEL, profile_named
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Constraints
from tests.support.client_readers import inlined_compound, statements_of_clp
from tests.support.engines import Place, statements_of
from tests.support.few import few
from tests.support.logbuilder import Col, LogBuilder, Tab, Unit, statements, text_of

ITEM = Tab(
    "ITEM", (Col("N", "INT", 4, key=1), Col("WORD", "VCHR", 20, nulls="Y", subtype="S")), "SHOP"
)
LOOSE = Tab("LOOSE", (Col("N", "INT", 4), Col("WORD", "CHAR", 1)), "SHOP", obid=4)
POSTGRES = target_named("postgres")


def log_of(*words: str) -> tuple[LogBuilder, Unit]:
    """Row 1 takes these words in turn in one unit, and a row of a table without key comes."""
    log = LogBuilder((ITEM, LOOSE))
    unit = log.unit()
    for old, new in pairwise(words):
        unit.update(ITEM, (1, old), (1, new))
    unit.insert(LOOSE, (1, "x"))
    return log, unit


def script(log: LogBuilder, folder: Path, mode: str = "undo", **how: Any) -> Bundle:
    control, data = log.write(folder)
    selection = how.pop("selection", None)
    return replay.write_script(
        control,
        data,
        folder / f"out-{len(list(folder.iterdir()))}",
        mode=mode,
        selection=selection,
        constraints=Constraints(),
        options=ScriptOptions(**how),
    )


def failure(url: str, bundle: Bundle, rows: str) -> str:
    """What psql says of a script on a new table that holds ``rows``."""
    setup = bundle.folder.parent / "setup.sql"
    setup.write_text(
        "CREATE SCHEMA shop; CREATE TABLE shop.item (n int, word varchar(40));"
        "CREATE TABLE shop.loose (n int, word char(1)); INSERT INTO shop.loose VALUES (1, 'x');"
        f"INSERT INTO shop.item VALUES {rows};"
    )
    POSTGRES.run_scripts(url, [setup])
    try:
        POSTGRES.run_scripts(url, sorted(bundle.folder.glob("*.sql")))
    except TargetError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("rows", "number", "count"),
    [("(1, 'c')", 0, 1), ("(2, 'c')", 2, 0), ("(1, 'c'), (1, 'd')", 2, 2)],
)
def test_an_undo_on_postgresql_stops_where_a_row_is_not_there_once(
    fresh_database: str, tmp_path: Path, rows: str, number: int, count: int
) -> None:
    log, unit = log_of("a", "b", "c")
    said = failure(fresh_database, script(log, tmp_path), rows)
    if not number:
        assert said == ""
        return
    name = f"URID={unit.key[0].hex().upper()} member=1"
    assert f"{name}: statement {number} finds {count} rows instead of 1" in said


def test_other_engines_stop_too(place: Place, tmp_path: Path) -> None:
    log, unit = log_of("a", "b", "c")
    bundle = script(log, tmp_path, dialect=place.dialect)
    lines = list(statements_of(bundle.folder.glob("*.sql")))
    for rows, number in ((1, 0), (0, 2)):
        with place.engine("shop") as engine:
            engine.run("CREATE TABLE shop.item (n INT PRIMARY KEY, word VARCHAR(40))")
            engine.run("CREATE TABLE shop.loose (n INT, word CHAR(1))")
            engine.run("INSERT INTO shop.loose VALUES (1, 'x')")
            if rows:
                engine.run("INSERT INTO shop.item VALUES (1, 'c')")
            said = ""
            try:
                for line in lines:
                    engine.run(line)
            except (sqlite3.Error, duckdb.Error, pymysql.Error) as error:
                said = str(error)
                engine.run("ROLLBACK")
            if number:
                name = f"URID={unit.key[0].hex().upper()} member=1: statement {number} "
                assert name in said
            else:
                assert said == ""
                assert engine.rows("SELECT word FROM shop.item") == [("a",)]
                assert engine.rows("SELECT COUNT(*) FROM shop.loose") == [(0,)]


CHECKED = [name for name in BUILT_IN if profile_named(name).row_check is not None]


@pytest.mark.parametrize("dialect", few(CHECKED, "postgres", "db2", "mysql", "snowflake"))
def test_statements_are_those_of_a_script_without_checks(dialect: str, tmp_path: Path) -> None:
    log, _ = log_of(*(f"w{number}" for number in range(130)))
    unkeyed = ("snowflake", "bigquery", "redshift", "spark", "trino")
    selection = Selection(tables=("*.ITEM",)) if dialect in unkeyed else Selection()
    both = [
        script(log, tmp_path, dialect=dialect, selection=selection, asserts=asserts)
        for asserts in (Assertion.NONE, Assertion.ROWS)
    ]
    plain, checked = (statements(bundle) for bundle in both)
    lines = text_of(both[1]).split("\n")
    if dialect == "db2":
        found = list(statements_of_clp(text_of(both[1]), ";"))
        assert [f"{inlined_compound(one)[0]};" for one in found[:-1]] == plain  # type: ignore[index]
        assert found[-1] == "COMMIT"
    else:
        assert checked == plain
    assert both[1].manifest["options"]["assert"] == "rows"
    assert "assert" not in both[0].manifest["options"]
    assert LABEL not in text_of(both[1])
    assert "\n-- A statement that does not touch exactly one row stops the script" in text_of(
        both[1]
    )
    for number in range(1, 130):
        assert text_of(both[1]).count(f"statement {number} ") + text_of(both[1]).count(
            f"statement {number}:"
        ) == (1)
    if profile_named(dialect).row_check.kind is not row_checks.CheckKind.BLOCK:  # type: ignore[union-attr]
        for line in lines[-6:-2]:
            if dialect not in ("mariadb", "tsql", "bigquery", "db2"):  # not words of sqlglot's
                sqlglot.parse_one(line.rstrip(";"), read=profile_named(dialect).sqlglot)


def test_what_is_asserted_without_being_asked(tmp_path: Path) -> None:
    log, unit = log_of("a", "b")
    key = (unit.more["UORID"], 1)
    keyed = Selection(units=(key,), tables=("*.ITEM",))

    def asserts(mode: str, **how: Any) -> bool:
        return "assert" in script(log, tmp_path, mode, **how).manifest["options"]

    assert asserts("undo")
    assert not asserts("redo")
    assert asserts("redo", asserts=Assertion.ROWS)
    assert not asserts("undo", asserts=Assertion.NONE)
    assert asserts("undo", dialect="db2")
    assert not asserts("undo", dialect="db2zos")
    assert not asserts("undo", render=RenderOptions(upsert=True), selection=keyed)
    assert not asserts("undo", selection=Selection(units=(key,), cascade="force"))


def test_an_upsert_asserts_nothing(tmp_path: Path) -> None:
    log, _ = log_of("a", "b")
    with pytest.raises(UsageError, match=r"LR1001.*--assert rows with --upsert"):
        script(
            log,
            tmp_path,
            selection=Selection(tables=("*.ITEM",)),
            render=RenderOptions(upsert=True),
            asserts=Assertion.ROWS,
        )


def test_units_set_aside_leave_statements_that_may_find_no_row(tmp_path: Path) -> None:
    log, _ = log_of("a", "b")
    log.unit().update(ITEM, (1, "b"), (1, "c"), INCOMPLETETRANS="Y")
    bundle = script(log, tmp_path)
    if bundle.manifest["quarantined_units"]:
        assert "assert" not in bundle.manifest["options"]
    told = script(log, tmp_path, asserts=Assertion.ROWS)
    assert told.manifest["options"]["assert"] == "rows"


def test_numbers_go_on_in_a_unit_that_is_written_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from replay.pipeline import partition

    log, _ = log_of(*(f"w{number}" for number in range(40)))
    whole = script(log, tmp_path, dialect="mariadb")
    monkeypatch.setattr(partition, "CHUNK", 7)
    parts = script(log, tmp_path, dialect="mariadb")
    numbers = re.findall(r"statement (\d+) ", text_of(parts))
    assert numbers == [str(number) for number in range(1, 41)]
    assert statements(parts) == statements(whole)
