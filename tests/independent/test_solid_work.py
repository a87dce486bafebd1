"""Databases of solidDB whose tables change amid their rows, drawn from seeds: every value that is
exported, the rows after a migration, and what may not be answered, against what is true."""

from __future__ import annotations

import json
import sqlite3
import struct
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from replay.cli.main import main
from tests.independent.solid_work import Work
from tests.independent.solid_work_form import Column, Kind, Table, Way, version_column

SEEDS = (1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (0, *range(2, 9))))
INTEGER = Kind("INTEGER", "INTEGER", 4, 1, 4, 10)
TEXT = Kind("VARCHAR(20)", "VARCHAR", 12, 0, 20)


def options(work: Work, folder: Path) -> list[str]:
    path = work.write(folder)
    return ["--source", "soliddb", "--log", str(path), "--catalog", str(folder)]


def run(*words: object) -> int:
    return main([*map(str, words), "--engine", "local"])


def is_as(found: Any, true: Any) -> bool:
    """Whether a value of an export as JSON is the true one, to the last bit."""
    if true is None or found is None:
        return found is true
    if isinstance(true, float):
        exact = struct.pack(">d", found) == struct.pack(">d", true)
        return exact or (abs(found) < 3e38 and struct.pack(">f", found) == struct.pack(">f", true))
    if isinstance(true, Decimal):
        return Decimal(found) == true
    if isinstance(true, bytes):
        return bytes.fromhex(found) == true
    if isinstance(true, str) and len(true) == 29:  # perhaps a TIMESTAMP
        found = found.ljust(29, "0")
    return bool(found == true)


def is_row(found: Any, true: dict[str, Any] | None) -> bool:
    if true is None or found is None:
        return found is true
    names = [name.lower() for name in true]
    return list(found) == names and all(map(is_as, found.values(), true.values()))


@pytest.mark.parametrize("seed", SEEDS)
def test_every_value_of_an_export(seed: int, tmp_path: Path) -> None:
    work = Work(seed, micro=seed % 2 == 0)
    work.leave_open()
    log, out = options(work, tmp_path / "log"), tmp_path / "out"
    assert run("export", *log, "--format", "jsonl", "--out", out) == 4  # of the open transaction
    found = defaultdict(list)
    for path in sorted(out.glob("*/*/*.jsonl")):
        table = unquote(path.parent.parent.name).partition("@")[0]
        for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
            change = json.loads(line)
            if table != "schema_changes":
                found[change["urid"]].append((table, change))
    for unit in work.units:
        changes = found.pop(f"{unit.trxid:020X}", [])
        for true in unit.changes:
            if true.op == "update" and true.before == true.after:
                continue
            same = [
                one
                for one in changes
                if (one[0], one[1]["op"]) == (f"dba.{true.table}".lower(), true.op)
                and is_row(one[1]["before"], true.before)
                and is_row(one[1]["after"], true.after)
            ]
            assert same, f"{true} is not among {changes}"
            changes.remove(same[0])
        assert not changes, unit
    assert not found


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sound_log_agrees(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run("check", *options(Work(seed), tmp_path / "log"))
    assert code in (0, 4), capsys.readouterr().out


def comparable(value: Any, kind: Kind) -> Any:
    """A value of the source, or of SQLite, which has texts for decimals and times, and no -0.0."""
    if value is None:
        return None
    if kind.code == 5:
        return Decimal(str(value)).normalize() if Decimal(str(value)) else Decimal(0)
    if kind.code in (2, 3):
        return struct.pack(">f" if kind.code == 2 else ">d", value + 0.0 or 0.0)
    return bytes(value) if kind.code == 6 else value


def difference(base: sqlite3.Connection, tables: dict[str, Table]) -> str | None:
    """What is otherwise in the database, of the first table that differs."""
    names = {name for (name,) in base.execute("SELECT name FROM dba.sqlite_master")}
    there = {name for name in names if not name.startswith("sqlite_")}
    if there != {name.lower() for name in tables}:
        return f"tables {there}, not {set(tables)}"
    for table in tables.values():
        columns = ", ".join(f'"{column.name.lower()}"' for column in table.columns)
        found = base.execute(f'SELECT {columns} FROM dba."{table.name.lower()}"').fetchall()
        kinds = [column.kind for column in table.columns]
        have = sorted(repr([*map(comparable, row, kinds)]) for row in found)
        want = sorted(
            repr([comparable(row[c.ident], c.kind) for c in table.columns]) for row in table.rows
        )
        if have != want:
            return f"{table.name} has {have}, not {want}"
    return None


@pytest.mark.parametrize("seed", SEEDS)
def test_a_migration_ends_in_the_rows_of_the_source(seed: int, tmp_path: Path) -> None:
    """Also of tables that the log makes, renames or drops: the schema has what was before it."""
    work = Work(seed)
    work.leave_open()
    log, out = options(work, tmp_path / "log"), tmp_path / "out"
    initial = work.write_initial(tmp_path / "initial")
    code = run("migrate", *log, "--dialect", "sqlite", "--initial", initial, "--out", out)
    assert code in (0, 4)
    base = sqlite3.connect(":memory:", isolation_level=None)
    base.execute("ATTACH ':memory:' AS dba")
    for script in sorted(out.rglob("*.sql")):
        base.executescript(
            script.read_text(encoding="utf-8")
        )  # a check of a table without one, too
    assert difference(base, work.tables) is None


def two_columns() -> tuple[Work, Table]:
    """Two rows in a table with two columns of text."""
    work = Work(1, units=0, way=Way())
    columns = [Column(1, "K", INTEGER, 0, False), Column(2, "A", TEXT, 1), Column(3, "B", TEXT, 2)]
    table = Table(30000, "T", columns, (1,), hidden=[version_column(9, 3)])
    work.tables = {"T": table}
    work.initial, work.states, work.log = work.snapshot(), [work.snapshot()], []
    work.begin()
    for number in (1, 2):
        work.insert(table, {1: number, 2: f"a{number}", 3: f"b{number}"})
    work.commit()
    work.begin()
    return work, table


def dropped_and_added() -> Work:
    work, table = two_columns()
    work.drop(table, table.columns[2])
    work.add(table, "B", TEXT)
    return work


def swapped() -> Work:
    work, table = two_columns()
    for place, name in ((1, "X"), (2, "A"), (1, "B")):
        work.rename(table, table.columns[place], name)
    return work


def done(work: Work) -> Work:
    """With one more row, which says nothing of the others."""
    work.commit()
    (table,) = work.tables.values()
    work.begin()
    work.insert(table, dict.fromkeys((c.ident for c in table.columns), None) | {1: 3})
    work.commit()
    return work


@pytest.mark.parametrize("change", [dropped_and_added, swapped])
@pytest.mark.parametrize("known", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_state_keeps_columns_of_one_name_apart(
    change: Any, known: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a column held that was dropped is no value of the next one with its name."""
    work = done(change())
    log = options(work, tmp_path / "log")
    more = ["--initial", work.write_initial(tmp_path / "initial")] if known else []
    code = run("state", *log, "--at", "end", *more, "--format", "csv", "--out", tmp_path / "out")
    assert (code, (tmp_path / "out").exists()) == (8, False)
    assert "LR3002" in capsys.readouterr().err
    before = work.units[0].address
    code = run("state", *log, "--at", before, *more, "--format", "csv", "--out", tmp_path / "then")
    assert code == (0 if known else 4)
    assert (tmp_path / "then" / "t.csv").read_text() == "k,a,b\n1,a1,b1\n2,a2,b2\n"


def table_renamed() -> Work:
    work, table = two_columns()
    work.rename_table(table, "U")
    return work


def test_a_state_follows_no_table_to_another_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows that the log does not touch are in the file of the name before."""
    work = done(table_renamed())
    log, initial = options(work, tmp_path / "log"), work.write_initial(tmp_path / "initial")
    assert run("state", *log, "--at", "end", "--initial", initial, "--out", tmp_path / "out") == 8
    assert "DBA.T is called DBA.U" in capsys.readouterr().err


def test_a_state_needs_no_rows_of_tables_that_the_log_makes(tmp_path: Path) -> None:
    work, table = two_columns()
    work.create("NEW", table.columns[:2], (1,))
    work.insert(work.tables["NEW"], {1: 7, 2: "n"})
    work.commit()
    log, initial = options(work, tmp_path / "log"), work.write_initial(tmp_path / "initial")
    words = ["--initial", initial, "--format", "csv", "--out", tmp_path / "out"]
    assert run("state", *log, "--at", "end", *words) == 0
    assert (tmp_path / "out" / "new.csv").read_text() == "k,a\n7,n\n"


@pytest.mark.long
def test_rows_under_another_name_are_no_contradiction(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those that the log changes, too: they are not in the state under the name that they have."""
    work = Work(7)
    log, initial = options(work, tmp_path / "log"), work.write_initial(tmp_path / "initial")
    assert run("state", *log, "--at", "end", "--initial", initial, "--out", tmp_path / "out") == 8
    assert "DBA.N6 is called DBA.M21" in capsys.readouterr().err
