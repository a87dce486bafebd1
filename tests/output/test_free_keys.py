"""An undo that leaves units out runs on a database where they are still there: no row comes a
second time, whether the database enforces keys or not, and none is lost."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sqlglot import parse_one

import replay
from replay.changes.options import ScriptOptions
from replay.errors import Refusal
from replay.output.bundle import Bundle
from sqlgen.choices import DIALECTS, Assertion
from sqlgen.dialects import profile_named
from sqlgen.render_options import RenderOptions
from tests.support.few import few
from tests.support.logbuilder import ACCT, LogBuilder, acct, statements, text_of

Shown = list[tuple[int, str]]
Runner = Callable[[Shown, str], Shown]

A, B, C = acct(1, "A"), acct(1, "B"), acct(1, "C")


COLUMNS = "id INT, bal DECIMAL(9, 2), open_dt DATE, name TEXT, rate DOUBLE, upd TIMESTAMP"


def sqlite(rows: Shown, script: str) -> Shown:
    """The rows that a script leaves, in a table without any enforced key."""
    with sqlite3.connect(":memory:", isolation_level=None) as place:
        place.execute("ATTACH ':memory:' AS testown")
        place.execute(f"CREATE TABLE testown.acct ({COLUMNS})")
        _fill(place, rows)
        place.executescript(script)
        return sorted(place.execute("SELECT id, name FROM testown.acct").fetchall())


def duck(rows: Shown, script: str) -> Shown:
    """As :func:`sqlite`."""
    with duckdb.connect() as place:
        place.execute("CREATE SCHEMA testown")
        place.execute(f"CREATE TABLE testown.acct ({COLUMNS})")
        _fill(place, rows)
        place.execute(script)
        return sorted(place.execute("SELECT id, name FROM testown.acct").fetchall())


def _fill(place: Any, rows: Shown) -> None:
    for number, name in rows:
        place.execute("INSERT INTO testown.acct VALUES (?, ?, ?, ?, ?, ?)", acct(number, name))


ENGINES = {"sqlite": sqlite, "duckdb": duck}


def shown(*rows: Any) -> Shown:
    return [(row[0], row[3]) for row in rows]


def undo(log: LogBuilder, folder: Path, dialect: str, **more: Any) -> Bundle:
    control, data = log.write(folder)
    options = ScriptOptions(dialect=dialect, **more)
    return replay.write_script(control, data, folder / "out", mode="undo", options=options)


def left_out(log: LogBuilder) -> Any:
    return log.unit(INCOMPLETETRANS="Y")


@pytest.mark.parametrize("dialect", ENGINES)
def test_a_row_that_is_removed_and_put_back(tmp_path: Path, dialect: str) -> None:
    log = LogBuilder()
    unit = log.unit()
    unit.delete(ACCT, A)
    unit.insert(ACCT, B)
    left_out(log).update(ACCT, B, C)
    script = text_of(undo(log, tmp_path, dialect))
    assert ENGINES[dialect](shown(C), script) == shown(C)
    assert ENGINES[dialect](shown(B), script) == shown(A)


@pytest.mark.parametrize("dialect", ENGINES)
def test_a_row_that_comes_back_where_another_one_is(tmp_path: Path, dialect: str) -> None:
    log = LogBuilder()
    log.unit().delete(ACCT, A)
    left_out(log).insert(ACCT, C)
    script = text_of(undo(log, tmp_path, dialect))
    assert ENGINES[dialect](shown(C), script) == shown(C)
    assert ENGINES[dialect]([], script) == shown(A)


@pytest.mark.parametrize("dialect", ENGINES)
def test_a_key_that_goes_back_to_where_another_row_is(tmp_path: Path, dialect: str) -> None:
    log = LogBuilder()
    log.unit().update(ACCT, A, acct(2, "A"))
    left_out(log).insert(ACCT, C)
    script = text_of(undo(log, tmp_path, dialect))
    assert ENGINES[dialect](shown(C, acct(2, "A")), script) == shown(C, acct(2, "A"))
    assert ENGINES[dialect](shown(acct(2, "A")), script) == shown(A)


def exchange(*changed: int) -> tuple[LogBuilder, Shown]:
    """A unit in which three rows exchange their keys, and what a database holds where a unit that
    is left out changed the rows that are under some keys then, and another one."""
    log = LogBuilder()
    unit, after = log.unit(), {2: "A", 3: "B", 1: "C"}
    for before, key in ((1, 2), (2, 3), (3, 1)):
        unit.update(ACCT, acct(before, after[key]), acct(key, after[key]))
    other = left_out(log)
    for key in (*changed, 9):
        other.update(ACCT, acct(key, after.get(key, "Z")), acct(key, "X"))
        after[key] = "X"
    return log, sorted(after.items())


@pytest.mark.parametrize("dialect", ENGINES)
@pytest.mark.parametrize("changed", [1, 2, 3])
def test_keys_that_were_exchanged_come_back_together_or_not_at_all(
    tmp_path: Path, dialect: str, changed: int
) -> None:
    """Each key stays and gets the values of another row: all rows must be as the log shows them,
    and none of them is removed, for others may refer to it."""
    log, rows = exchange(changed)
    bundle = undo(log, tmp_path, dialect)
    assert "rows are counted" in bundle.manifest["warnings"][-1]
    assert "DELETE" not in text_of(bundle)
    with pytest.raises((sqlite3.Error, duckdb.Error), match="instead of 1|finds 0"):
        ENGINES[dialect](rows, text_of(bundle))


@pytest.mark.parametrize("dialect", ENGINES)
def test_keys_that_were_exchanged_and_nobody_touched_since(tmp_path: Path, dialect: str) -> None:
    log, rows = exchange()
    script = text_of(undo(log, tmp_path, dialect))
    assert ENGINES[dialect](rows, script) == [(1, "A"), (2, "B"), (3, "C"), (9, "X")]


def test_without_counts_an_exchange_is_refused(tmp_path: Path) -> None:
    log, _ = exchange(2)
    with pytest.raises(Refusal, match=r"LR3012.*--assert rows"):
        undo(log, tmp_path, "sqlite", asserts=Assertion.NONE)


@pytest.mark.parametrize("dialect", ENGINES)
@pytest.mark.parametrize("mode", ["redo", "undo"])
@pytest.mark.parametrize("where", ["guard", "all"])
def test_guards_that_are_asked_for(tmp_path: Path, dialect: str, mode: str, where: str) -> None:
    """Without counts a statement whose row is not as in the log does nothing, an INSERT too."""
    log = LogBuilder()
    unit = log.unit()
    unit.delete(ACCT, A)
    unit.insert(ACCT, B)
    control, data = log.write(tmp_path)
    options = ScriptOptions(
        dialect=dialect,
        render=RenderOptions(where_columns=where),  # type: ignore[arg-type]
        asserts=Assertion.NONE,
    )
    bundle = replay.write_script(control, data, tmp_path / "out", mode=mode, options=options)
    script = text_of(bundle)
    assert ENGINES[dialect](shown(C), script) == shown(C)
    before, after = (A, B) if mode == "redo" else (B, A)
    assert ENGINES[dialect](shown(before), script) == shown(after)


def test_counted_rows_need_no_look_at_the_key(tmp_path: Path) -> None:
    """Where nothing is left out, scripts are as they were."""
    log = LogBuilder()
    log.unit().delete(ACCT, A)
    for mode in ("redo", "undo"):
        control, data = log.write(tmp_path)
        bundle = replay.write_script(control, data, tmp_path / mode, mode=mode)
        assert "EXISTS" not in "".join(statements(bundle))


#: Dialects that can say it: solidDB cannot (a key that is taken stops the script), and Db2 for z/OS
#: says what Db2 does, in short lines.
LOOKING = [name for name in DIALECTS if name not in ("soliddb", "db2zos")]


@pytest.mark.parametrize("dialect", few(LOOKING, "postgres", "mysql", "oracle"))
def test_words_of_each_dialect(tmp_path: Path, dialect: str) -> None:
    """Dialects that have a MERGE say it that way, which gives literals the types of columns;
    MariaDB and MySQL set down what they find before they change the table."""
    log = LogBuilder()
    unit = log.unit()
    unit.delete(ACCT, A)
    unit.update(ACCT, acct(2, "B"), acct(3, "B"))
    left_out(log).update(ACCT, acct(3, "B"), acct(3, "C"))
    lines = text_of(undo(log, tmp_path, dialect)).lower().splitlines()
    verbs = ("insert into", "update", "merge into")
    move, insert = (line for line in lines if line.startswith(verbs))
    merges = profile_named(dialect).upsert.kind == "merge"
    parse_one(insert, dialect=profile_named(dialect).sqlglot)
    assert "values (1, " in insert if "merge into" in insert else "select 1, " in insert
    assert ("when not matched then insert" in insert) == merges
    assert insert.count("id = 1") == ("s.id" not in insert)
    begin = "set id = 2 where id = 3 and not exists(select 1 from "
    assert begin in move
    assert ("limit 1) as taken" in move) == (dialect in ("mysql", "mariadb"))
    assert "where id = 2" in move
    assert "not (id = 3)" in move
