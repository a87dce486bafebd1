"""Logs of solidDB with tables that change amid their rows: what a migration ends in, and which
states may not be answered."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from replay.cli.main import main
from tests.independent.solid_ddl import Attribute, Changing, Relation
from tests.independent.solid_export import Form, form_of
from tests.independent.tables import stored
from tests.independent.values import Value
from tests.support.seeds import seeds


def run(*words: object) -> int:
    return main([*map(str, words), "--engine", "local"])


def comparable(value: Value) -> object:
    text = str(stored(value))
    return value if value is None or isinstance(value, bytes) else text.rstrip("0").rstrip(".")


@pytest.mark.parametrize("seed", seeds(long=10))
def test_a_migration_ends_in_the_rows_of_the_source(seed: int, tmp_path: Path) -> None:
    """Also of tables that the log makes, renames or drops: the schema has what was before it."""
    made = Changing(seed, replace(form_of(seed), hidden=False, nothing=False), 14)
    log, out = made.write(0, made.stands[-1], tmp_path / "log"), tmp_path / "out"
    initial = made.write_rows(tmp_path / "initial")
    words = ["--dialect", "sqlite", "--initial", initial, "--out", out]
    assert run("migrate", *log, *words) in (0, 4)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as base:
        base.execute("ATTACH ':memory:' AS dba")
        for script in sorted(out.rglob("*.sql")):
            base.executescript(script.read_text(encoding="utf-8"))
        names = {name for (name,) in base.execute("SELECT name FROM dba.sqlite_master")}
        tables = made.stands[-1].tables
        there = {name for name in names if not name.startswith("sqlite_")}
        assert there == {table.name.lower() for table in tables}
        for table in tables:
            columns = ", ".join(one.name for one in table.shown())
            rows = base.execute(f"SELECT {columns} FROM dba.{table.name}").fetchall()
            want = [[row[one.name] for one in table.shown()] for row in table.rows]
            assert Counter(tuple(map(comparable, row)) for row in rows) == Counter(
                tuple(map(comparable, row)) for row in want
            )


def two_columns() -> tuple[Changing, Relation, int]:
    """Two rows in a table with two columns of text, and a transaction that has begun."""
    made = Changing(1, Form("len32"), 0)
    columns = [
        Attribute("K", "INTEGER", False),
        Attribute("A", "VARCHAR"),
        Attribute("B", "VARCHAR"),
    ]
    table = Relation(made.relid + 50, "T", columns, ["K"])
    made.tables = {"T": table}
    made.before = [table.form()]
    first = made.begin()
    for number in (1, 2):
        made.put(first, table, {"K": number, "A": f"a{number}", "B": f"b{number}"})
    made.commit(first)
    return made, table, made.begin()


def dropped_and_added() -> Changing:
    made, table, trx = two_columns()
    made.remove(trx, table, table.columns[2])
    made.add(trx, table, Attribute("B", "VARCHAR"))
    return done(made, trx)


def swapped() -> Changing:
    made, table, trx = two_columns()
    for place, name in ((1, "X"), (2, "A"), (1, "B")):
        made.rename(trx, table, table.columns[place], name)
    return done(made, trx)


def table_renamed() -> Changing:
    made, table, trx = two_columns()
    made.move(trx, table, "U")
    return done(made, trx)


def done(made: Changing, trx: int) -> Changing:
    """With one more row, which says nothing of the others."""
    made.commit(trx)
    (table,) = made.tables.values()
    trx = made.begin()
    made.put(trx, table, {**dict.fromkeys(one.name for one in table.shown()), "K": 3})
    made.commit(trx)
    return made


def state(made: Changing, folder: Path, known: bool, at: str, out: str) -> int:
    log = made.write(0, made.stands[-1], folder / f"log-{out}")
    more = ["--initial", made.write_rows(folder / f"initial-{out}")] if known else []
    return run("state", *log, "--at", at, *more, "--format", "csv", "--out", folder / out)


@pytest.mark.parametrize("change", [dropped_and_added, swapped])
@pytest.mark.parametrize("known", [True, False])
def test_a_state_keeps_columns_of_one_name_apart(
    change: Callable[[], Changing], known: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a column held that was dropped is no value of the next one with its name."""
    made = change()
    assert state(made, tmp_path, known, "end", "out") == 8
    assert not (tmp_path / "out").exists()
    assert "LR3002" in capsys.readouterr().err
    before = made.export.lines[made.stands[0].lines - 1].address.hex().upper()
    assert state(made, tmp_path, known, before, "then") == (0 if known else 4)
    assert (tmp_path / "then" / "t.csv").read_text() == "k,a,b\n1,a1,b1\n2,a2,b2\n"


def test_a_state_follows_no_table_to_another_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows that the log does not touch are in the file of the name before."""
    assert state(table_renamed(), tmp_path, True, "end", "out") == 8
    assert "DBA.T is called DBA.U" in capsys.readouterr().err


def test_a_state_needs_no_rows_of_tables_that_the_log_makes(tmp_path: Path) -> None:
    made, _, trx = two_columns()
    made._create(trx, "NEW")
    table = made.tables["NEW"]
    row = {one.name: None if one.nullable else "7" for one in table.columns}
    for one in table.columns:
        if not one.nullable and one.kind != "VARCHAR":
            row[one.name] = 7  # type: ignore[assignment]
    made.put(trx, table, row)  # type: ignore[arg-type]
    made.commit(trx)
    assert state(made, tmp_path, True, "end", "out") == 0
    assert len((tmp_path / "out" / "new.csv").read_text().splitlines()) == 2


def test_a_state_has_the_defaults_of_columns_that_came_later(tmp_path: Path) -> None:
    made, table, trx = two_columns()
    made._alter(trx, table, "ADD COLUMN C INTEGER DEFAULT 7")
    table.columns.append(Attribute("C", "INTEGER"))
    made.put(trx, table, {"K": 3, "A": "a3", "B": "b3", "C": 8})
    made.commit(trx)
    assert state(made, tmp_path, False, "end", "out") == 4
    text = (tmp_path / "out" / "t.csv").read_text()
    assert text == "k,a,b,c\n1,a1,b1,7\n2,a2,b2,7\n3,a3,b3,8\n"
