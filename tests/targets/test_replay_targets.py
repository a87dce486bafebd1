"""Replay into databases of other kinds than PostgreSQL, in this process and in containers: to every
point and back, exactly once, and what is refused or found out."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from replay.cli.main import main
from replay.csv_states.state_csv import first_line
from replay.logs.logmaster.opening import open_log
from replay.targets import Target, target_named
from replay.targets.states import state_tables
from sqlgen.ddl.ddl_reader import parse_constraints
from sqlgen.schema import Column, SqlType, Table
from tests.support.engines import typed
from tests.support.servers import kinds, server_of
from tests.support.states import state_batches
from tests.targets.test_verify import checked

KINDS = kinds("duckdb", "sqlite", "mariadb")


@pytest.fixture(params=KINDS)
def target(request: pytest.FixtureRequest) -> Target:
    return target_named(request.param)


@pytest.fixture(scope="module")
def states(sakila: Path, sakila_small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The states of the Sakila workload, with the tables that its log describes."""
    folder = tmp_path_factory.mktemp("states")
    log = open_log(sakila / "sakila.ctl", [sakila / "sakila.dat.gz"], scratch=folder)
    tables = {version.table.name.lower(): version.table for version in log.catalog.versions}
    found = {state: sakila / state for state in ("initial", "pit1", "pit2", "pit3", "final")} | {
        "small": sakila_small / "final"
    }
    for state, source in found.items():
        (folder / state).mkdir()
        for name, path in state_tables(source).items():
            if name in tables:
                texts = pa.schema([(column, pa.string()) for column in first_line(path)])
                rows = pa.Table.from_batches(state_batches(path), texts)
                write_state(folder / state / f"{name}.csv", rows, tables[name])
    return folder


def write_state(path: Path, rows: pa.Table, table: Table) -> None:
    """Rows with their fractions of a second in full, as SQL of ours has them: for SQLite they are
    text."""
    columns = []
    for name, values in zip(rows.column_names, rows.columns, strict=True):
        column = table.column(name.upper())
        texts = [
            typed(text, column) if column.type is SqlType.TIMESTAMP else text
            for text in values.to_pylist()
        ]
        columns.append(
            ["" if text is None else '"' + text.replace('"', '""') + '"' for text in texts]
        )
    lines = [",".join(rows.column_names), *map(",".join, zip(*columns, strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def servers(target: Target, request: pytest.FixtureRequest) -> tuple[str | None, list[str]]:
    """Where databases of this kind are made (None: in temporary files), and the option for a
    scratch database."""
    other = server_of(request, target.dialect, "scratch")
    return server_of(request, target.dialect), [] if other is None else ["--scratch", other]


@pytest.fixture
def database(
    target: Target,
    servers: tuple[str | None, list[str]],
    sakila: Path,
    states: Path,
    tmp_path: Path,
) -> Iterator[str]:
    """The URL of a database in the state before the Sakila log, its tables made by ``logreplay
    ddl``."""
    script = tmp_path / "tables.sql"
    log = ["--control", str(sakila / "sakila.ctl"), "--data", str(sakila / "sakila.dat.gz")]
    assert main(["ddl", *log, "--dialect", target.dialect, "--out", str(script)]) == 0
    with target.scratch(servers[0]) as url:
        if target.dialect == "sqlite":  # there, a schema is a file
            with closing(target.connect(url)) as session:
                session.make_schema("sakila")
        target.run_scripts(url, [script])
        target.load_state(url, "sakila", states / "initial")
        yield url


def arguments(folder: Path, url: str) -> list[str]:
    """The options that name a log, ``sakila`` or ``small``, and the target."""
    (control,) = (path for path in folder.glob("*.ctl") if "nordw" not in path.name)
    (data,) = folder.glob(f"{control.stem}.dat*")
    return ["--control", str(control), "--data", str(data), "--engine", "local", "--to", url]


def rows(target: Target, url: str, statement: str) -> list[tuple[Any, ...]]:
    with closing(target.connect(url)) as session:
        if statement.startswith("SELECT"):
            return session.query(statement)
        session.begin()
        session.execute(statement)
        session.commit()
        return []


def test_a_database_is_the_state_before_the_log(
    target: Target, database: str, sakila_small: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    words = ["--dialect", target.dialect, "--schema", "none", "--out", str(out), "--overwrite"]
    run = [*arguments(sakila_small, database)[:-2], *words, "--baseline", database]
    for found in (0, 1):
        assert main(["redo", *run]) == 4 * found
        baseline = json.loads((out / "manifest.json").read_text())["baseline"]
        assert baseline["rows"] > 10
        assert baseline["differing"] == found
        if not found:
            name, changed = first_change(out)
            rows(target, database, f"DELETE FROM {name} WHERE {changed}")


def first_change(out: Path) -> tuple[str, str]:
    """Of a script, the table and the condition of the first DELETE or UPDATE."""
    for line in (out / "0000-redo.sql").read_text().splitlines():
        found = re.fullmatch(r"(?:DELETE FROM|UPDATE) ([\w.\"`]+) .*?WHERE (.*);", line)
        if found:
            return found[1], found[2]
    raise AssertionError("found no such statement")


def test_a_migration_is_run(
    target: Target, servers: tuple[str | None, list[str]], sakila: Path, tmp_path: Path
) -> None:
    """All scripts of a migration, those of tables without a change too; the last says SAME, or
    names the table that differs."""
    out = tmp_path / "out"
    log = ["--control", str(sakila / "sakila.ctl"), "--data", str(sakila / "sakila.dat.gz")]
    how = ["--initial", str(sakila / "initial"), "--schema", str(sakila / "schema-ri.sql")]
    part = ["--until-time", "2024-03-15 08:30", "--dialect", target.dialect, "--out", str(out)]
    assert main(["migrate", *log, "--engine", "local", *how, *part]) in (0, 4)
    *scripts, verify = sorted(out.rglob("*.sql"))
    with target.scratch(servers[0]) as url:
        if target.dialect == "sqlite":
            with closing(target.connect(url)) as session:
                session.make_schema("sakila")
        with contextlib.chdir(out):
            target.run_scripts(url, scripts)
            assert checked(target, url, verify) == [("SAME",)]
            rows(target, url, "DELETE FROM sakila.store WHERE store_id = 1")
            missing, verdict = checked(target, url, verify)
        assert (missing[:4], verdict) == (("SAKILA.STORE", 0, 1, 1), ("DIFFERENT",))


def test_a_percent_sign_is_itself(target: Target, database: str) -> None:
    with closing(target.connect(database)) as session:
        assert session.query("SELECT '100%%', '%%s'") == [("100%", "%s")]
        assert session.query("SELECT '%%s', %s", ("100%",)) == [("%s", "100%")]


def test_keys_of_a_target(target: Target, database: str) -> None:
    for statement in (
        (
            "CREATE TABLE sakila.p (a integer NOT NULL, b integer NOT NULL, c integer UNIQUE,"
            " PRIMARY KEY (b, a))"
        ),
        (
            "CREATE TABLE sakila.q (x integer PRIMARY KEY, pa integer, pb integer, FOREIGN KEY (pb,"
            " pa) REFERENCES p (b, a))"
            if target.dialect == "sqlite"
            else (
                "CREATE TABLE sakila.q (x integer PRIMARY KEY, pa integer, pb integer, FOREIGN KEY"
                " (pb, pa) REFERENCES sakila.p (b, a))"
            )
        ),
    ):
        rows(target, database, statement)
    tables = [
        Table("SAKILA", "P", tuple(Column(name, SqlType.INTEGER) for name in "ABC"), ("B", "A")),
        Table(
            "SAKILA",
            "Q",
            tuple(Column(name, SqlType.INTEGER) for name in ("X", "PA", "PB")),
            ("X",),
        ),
    ]
    found = parse_constraints(target.keys(database, ["P", "Q"]), "postgres", tables, lenient=True)
    assert {(name, columns) for name, columns in found.keys} == {
        ("SAKILA.P", ("B", "A")),
        ("SAKILA.P", ("C",)),
        ("SAKILA.Q", ("X",)),
    }
    assert [
        (key.table, key.columns, key.parent, key.parent_columns) for key in found.foreign_keys
    ] == [("SAKILA.Q", ("PB", "PA"), "SAKILA.P", ("B", "A"))]
