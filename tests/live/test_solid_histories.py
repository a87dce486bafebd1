"""Random histories of a solidDB, with DDL in the middle, as scripts on a live PostgreSQL: what the
tables hold there is what the history ended with."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest

from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.cli.main import main
from replay.engine import local
from replay.logs import Inputs
from replay.logs.soliddb.reader import SolidLog, open_log
from replay.output.bundle import write_bundle
from replay.pipeline.plan import make_plan
from replay.targets import target_named
from sqlgen.ddl import create_schema, create_table
from sqlgen.dialects import profile_named
from tests.logs.soliddb.test_histories import opened
from tests.support.solidbuilder import Framing, LogBuilder, Tab, write_catalog, write_rows
from tests.support.solidhistory import COLUMNS, History

POSTGRES, PROFILE = target_named("postgres"), profile_named("postgres")


def prepared(url: str, log: SolidLog, folder: Path) -> None:
    """The tables as they are before the log."""
    first = {
        version.obid: version.table
        for version in reversed(log.catalog.versions)
        if version.table.name in ("MAIN", "PAIR")
    }
    path = folder / "tables.sql"
    path.write_text(
        "\n".join(
            [
                create_schema("APP", PROFILE),
                *(create_table(table, PROFILE) for table in first.values()),
            ]
        )
    )
    POSTGRES.run_scripts(url, [path])


def scripts(log: SolidLog, out: Path, mode: str) -> list[Path]:
    bundle = write_bundle(
        make_plan(log, mode, Selection(), ScriptOptions(records_per_file=300), 1 << 14),
        log,
        out,
        local.ENGINE,
    )
    assert (bundle.exit_code, bundle.manifest["quarantined_units"]) == (0, [])
    return sorted(out.glob("*.sql"))


def held(url: str, history: History) -> dict[str, list[tuple[Any, ...]]]:
    found = {}
    with psycopg.connect(url) as connection:
        for name, table in history.tables.items():
            columns = ", ".join(f'"{column.name.lower()}"' for column in table.user())
            found[name] = sorted(
                (
                    tuple(map(plain, row))
                    for row in connection.execute(f"SELECT {columns} FROM app.{name}")
                ),
                key=repr,
            )
    return {name: rows for name, rows in found.items() if rows}


def expected(history: History) -> dict[str, list[tuple[Any, ...]]]:
    def shown(value: Any, kind: str) -> Any:
        if value is None:
            return None
        if kind == "TIMESTAMP":
            return value[:26]
        return (
            format(Decimal(value).quantize(Decimal("0.001")), "f")
            if kind == "DECIMAL"
            else plain(value)
        )

    return {
        name: sorted(
            (
                tuple(
                    shown(value, column.type)
                    for value, column in zip(row, history.tables[name].user(), strict=True)
                )
                for row in rows.values()
            ),
            key=repr,
        )
        for name, rows in history.rows.items()
        if rows
    }


def plain(value: Any) -> Any:
    if value is None or isinstance(value, int | float | bytes):
        return value
    if hasattr(value, "microsecond"):
        return value.isoformat(sep=" ", timespec="microseconds")
    return format(value, "f") if isinstance(value, Decimal) else str(value)


@pytest.mark.parametrize("seed", range(4))
def test_the_state_of_a_history(fresh_database: str, tmp_path: Path, seed: int) -> None:
    history = History(seed * 101 + 9, Framing("va")).run(250)
    log = opened(tmp_path, history)
    prepared(fresh_database, log, tmp_path)
    POSTGRES.run_scripts(fresh_database, scripts(log, tmp_path / "redo", "redo"))
    assert held(fresh_database, history) == expected(history)


@pytest.mark.parametrize("seed", range(3))
def test_there_and_back(fresh_database: str, tmp_path: Path, seed: int) -> None:
    """Without what destroys rows, everything can be taken back, DDL too."""
    history = History(seed, Framing())
    history.kinds = ("create", "add", "index")
    history.run(250)
    log = opened(tmp_path, history)
    assert len(log.changes) == 3
    prepared(fresh_database, log, tmp_path)
    before = tables_of(fresh_database)
    POSTGRES.run_scripts(fresh_database, scripts(log, tmp_path / "redo", "redo"))
    assert held(fresh_database, history) == expected(history)
    assert tables_of(fresh_database) != before
    POSTGRES.run_scripts(fresh_database, scripts(log, tmp_path / "undo", "undo"))
    assert tables_of(fresh_database) == before
    with psycopg.connect(fresh_database) as connection:
        assert [
            connection.execute(f"SELECT count(*) FROM app.{name}").fetchone()
            for name in ("main", "pair")
        ] == [(0,), (0,)]


@pytest.mark.parametrize("how", [["--mode", "strict"], ["--mode", "bulk"]])
def test_replay_there_and_back(fresh_database: str, tmp_path: Path, how: list[str]) -> None:
    history = History(7, Framing())
    history.kinds = ("create", "add", "index")
    history.run(250)
    log = opened(tmp_path, history)
    prepared(fresh_database, log, tmp_path)
    before = tables_of(fresh_database)
    named = [
        "--source",
        "soliddb",
        "--log",
        str(tmp_path / "syslog.parquet"),
        "--catalog",
        str(tmp_path),
        "--engine",
        "local",
    ]
    assert main(["replay", *named, "--to", fresh_database, "--apply", *how]) == 0
    assert held(fresh_database, history) == expected(history)
    assert (
        main(["replay", *named, "--to", fresh_database, "--apply", "--until-lrsn", "0" * 40]) == 0
    )
    assert tables_of(fresh_database) == before


def test_a_replay_goes_on_with_the_next_session(fresh_database: str, tmp_path: Path) -> None:
    history = History(11, Framing(), structure=False).run(60)
    rows, log = [dict(row) for row in history.log.rows], opened(tmp_path, history)
    prepared(fresh_database, log, tmp_path)
    cut = (
        next(
            place for place, row in enumerate(rows) if row["RECID"] == 12 and place > len(rows) // 2
        )
        + 1
    )
    named = [
        "--source",
        "soliddb",
        "--catalog",
        str(tmp_path),
        "--engine",
        "local",
        "--to",
        fresh_database,
        "--apply",
    ]
    first, second = (
        str(write_rows(tmp_path / f"{name}.parquet", part))
        for name, part in (("a", rows[:cut]), ("b", rows[cut:]))
    )
    assert main(["replay", "--log", first, *named]) == 0
    assert held(fresh_database, history) != expected(history)
    assert main(["replay", "--log", first, second, *named]) == 0
    assert held(fresh_database, history) == expected(history)


def test_rows_without_key_that_are_alike(fresh_database: str, tmp_path: Path) -> None:
    """One of several rows that are the same is changed, and one is taken back."""
    table = Tab(10_400, "APP", "MAIN", COLUMNS)
    alike = (1, "a", "w", "1.500", "2001-01-01", None, 0.1, b"x")
    log = LogBuilder()
    for work in (
        lambda unit: [unit.insert(table, alike) for _ in range(3)],
        lambda unit: (unit.update(table, alike, (2, *alike[1:])), unit.delete(table, alike)),
    ):
        unit = log.begin()
        work(unit)
        unit.commit()
    write_catalog(tmp_path, [table])
    path = write_rows(tmp_path / "syslog.parquet", log.rows)
    found = open_log(Inputs(log=(str(path),), catalog=str(tmp_path)))
    prepared(fresh_database, found, tmp_path)
    POSTGRES.run_scripts(fresh_database, scripts(found, tmp_path / "redo", "redo"))
    with psycopg.connect(fresh_database) as connection:
        assert connection.execute("SELECT id FROM app.main ORDER BY 1").fetchall() == [(1,), (2,)]
    POSTGRES.run_scripts(fresh_database, scripts(found, tmp_path / "undo", "undo"))
    with psycopg.connect(fresh_database) as connection:
        assert connection.execute("SELECT count(*) FROM app.main").fetchone() == (0,)


def tables_of(url: str) -> list[tuple[Any, ...]]:
    query = (
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'app'"
        " ORDER BY 1, 2"
    )
    with psycopg.connect(url) as connection:
        indexes = connection.execute(
            "SELECT indexname, '' FROM pg_indexes WHERE schemaname = 'app' ORDER BY 1"
        ).fetchall()
        return [*connection.execute(query).fetchall(), *indexes]
