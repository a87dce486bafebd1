"""The Sakila log on SQLite, DuckDB and MariaDB: redo leads to the state after it, undo back to the
state before. The tables are those that the log describes; three more of the states never change."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import replay
from replay.changes.options import ScriptOptions
from replay.logs.logmaster.opening import open_log
from sqlgen import ddl
from sqlgen.constraints import Constraints
from sqlgen.names import table_expression
from sqlgen.render_options import RenderOptions
from sqlgen.schema import ARROW_TYPES, Table
from tests.support.engines import (
    Engine,
    Place,
    run_all,
    shape,
    state,
    state_file,
    statements_of,
    table_names,
    typed,
)

pytestmark = pytest.mark.long


def log_tables(sakila: Path, scratch: Path) -> dict[str, Table]:
    log = open_log(sakila / "sakila.ctl", [sakila / "sakila.dat.gz"], scratch=str(scratch))
    return {version.table.name.lower(): version.table for version in log.catalog.versions}


@cache
def values_of(folder: Path, table: Table) -> dict[str, pa.Array]:
    file = state_file(folder, table.name.lower())
    return {
        column.name: pa.array(
            [typed(text, column) for text in file[column.name.lower()].to_pylist()],
            ARROW_TYPES[column.type],
        )
        for column in table.columns
    }


@cache
def rows_of(folder: Path, table: Table) -> list[tuple[Any, ...]]:
    """The rows of a table in a state, as :func:`state` gives those of an engine."""
    values = values_of(folder, table)
    rows = zip(*(values[column.name].to_pylist() for column in table.columns), strict=True)
    return sorted((tuple(map(shape, table.columns, row)) for row in rows), key=repr)


def load(engine: Engine, folder: Path, tables: dict[str, Table]) -> None:
    for name in table_names(folder) & tables.keys():
        table = tables[name]
        engine.run(ddl.create_table(table, engine.profile))
        name = table_expression(table, engine.profile, "lower").sql(dialect=engine.profile.sqlglot)
        engine.load(name, pa.table(values_of(folder, table)))


def differences(engine: Engine, folder: Path, tables: dict[str, Table]) -> list[str]:
    return [
        name
        for name in table_names(folder) & tables.keys()
        if state(engine, tables[name]) != rows_of(folder, tables[name])
    ]


@pytest.mark.parametrize("where", ["key", "guard", "all"])
@pytest.mark.long
def test_redo_then_undo(
    place: Place, where: str, sakila: Path, sakila_small: Path, tmp_path: Path
) -> None:
    """DuckDB, which is slow at single rows, has the first units of the log;
    :mod:`tests.targets.test_replay_targets` has them all. So has MariaDB, but for one way to find
    rows: each statement is a message there and back."""
    short = place.dialect == "duckdb" or (place.dialect in ("mariadb", "mysql") and where != "key")
    control, data = (
        (sakila_small / "small.ctl", sakila_small / "small.dat")
        if short
        else (sakila / "sakila.ctl", sakila / "sakila.dat.gz")
    )
    states = {"redo": (sakila_small if short else sakila) / "final", "undo": sakila / "initial"}
    tables = log_tables(sakila, tmp_path)
    options = ScriptOptions(
        dialect=place.dialect, render=RenderOptions(where_columns=where), commit_every=50
    )
    with place.engine("sakila") as engine:
        assert len(tables.keys() & table_names(states["redo"])) == 11
        load(engine, sakila / "initial", tables)
        assert differences(engine, sakila / "initial", tables) == []
        for mode, folder in states.items():
            bundle = replay.write_script(
                control,
                [data],
                tmp_path / mode,
                mode=mode,
                options=options,
                constraints=Constraints(),
            )
            assert bundle.exit_code == 0
            assert run_all(engine, statements_of(bundle.folder.glob("*.sql"))) == []
            assert differences(engine, folder, tables) == []
