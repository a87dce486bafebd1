"""SQLite and DuckDB in this process, MariaDB and MySQL in containers, behind one face: run a
statement, read rows back in the value contract's text."""

from __future__ import annotations

import math
import sqlite3
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import duckdb
import pyarrow as pa
import pymysql
from pymysql.constants import CLIENT

from sqlgen.dialects import Profile, profile_named
from sqlgen.names import identifier, table_expression
from sqlgen.schema import Column, SqlType, Table


class Engine(Protocol):
    """A database of one dialect."""

    profile: Profile

    def run(self, statement: str) -> int:
        """Run one statement; the rows it touched."""

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""

    def load(self, name: str, values: pa.Table) -> None:
        """Put rows into an empty table, past our own statements."""


class Sqlite:
    """An in-memory SQLite database; a schema is attached where it is named."""

    profile = profile_named("sqlite")

    def __init__(self, *schemas: str) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        for schema in schemas:
            self.connection.execute(f"ATTACH ':memory:' AS {schema}")

    def run(self, statement: str) -> int:
        return self.connection.execute(statement).rowcount

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(query).fetchall()

    def load(self, name: str, values: pa.Table) -> None:
        marks = ", ".join("?" * values.num_columns)
        self.connection.executemany(
            f"INSERT INTO {name} VALUES ({marks})",
            zip(*(c.to_pylist() for c in values.columns), strict=True),
        )

    def close(self) -> None:
        self.connection.close()


class Duckdb:
    """An in-memory DuckDB database."""

    profile = profile_named("duckdb")

    def __init__(self, *schemas: str) -> None:
        self.connection = duckdb.connect(":memory:")
        self.connection.execute("SET TimeZone = 'UTC'; SET threads = 1")
        for schema in schemas:
            self.connection.execute(f"CREATE SCHEMA {schema}")

    def run(self, statement: str) -> int:
        found = self.connection.execute(statement).fetchall()
        return int(found[0][0]) if found and isinstance(found[0][0], int) else 0

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(query).fetchall()

    def load(self, name: str, values: pa.Table) -> None:
        self.connection.register("loaded", values)
        self.connection.execute(f"INSERT INTO {name} SELECT * FROM loaded")
        self.connection.unregister("loaded")

    def close(self) -> None:
        self.connection.close()


class MysqlServer:
    """A MariaDB or MySQL server, empty before and after."""

    def __init__(self, url: str, *schemas: str) -> None:
        parts = urlsplit(url)
        self.profile = profile_named(parts.scheme)
        self.connection = pymysql.connect(
            host=parts.hostname,
            port=parts.port,
            user=parts.username,
            password=parts.password,
            autocommit=True,
            client_flag=CLIENT.FOUND_ROWS,
        )
        self.schemas = schemas
        for statement in (
            *self.profile.session,
            *(f"CREATE DATABASE {schema}" for schema in schemas),
        ):
            self.run(statement)

    def run(self, statement: str) -> int:
        with self.connection.cursor() as cursor:
            return cursor.execute(statement)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with self.connection.cursor() as cursor:
            cursor.execute(query)
            return list(cursor.fetchall())

    def load(self, name: str, values: pa.Table) -> None:
        marks = ", ".join(["%s"] * values.num_columns)
        with self.connection.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO {name} VALUES ({marks})",
                list(zip(*(c.to_pylist() for c in values.columns), strict=True)),
            )

    def close(self) -> None:
        for schema in self.schemas:
            self.run(f"DROP DATABASE {schema}")
        self.connection.close()


@dataclass(frozen=True)
class Place:
    """Where an engine is to be had: its dialect, and the URL of its server where it has one."""

    dialect: str
    url: str = ""

    @contextmanager
    def engine(self, *schemas: str) -> Iterator[Sqlite | Duckdb | MysqlServer]:
        engine = (
            MysqlServer(self.url, *schemas)
            if self.url
            else {"sqlite": Sqlite, "duckdb": Duckdb}[self.dialect](*schemas)
        )
        try:
            yield engine
        finally:
            engine.close()


def column_text(column: Column, profile: Profile, names: str = "lower") -> str:
    """How a column is read back: decimals, dates and times as text, floats as doubles."""
    name = identifier(column.name, profile, names).sql(dialect=profile.sqlglot)
    if profile.name in ("mariadb", "mysql"):
        if column.type in (SqlType.REAL, SqlType.DOUBLE):
            return f"{name} + 0e0"  # a FLOAT alone is shown with six digits
        if column.type is SqlType.TIMESTAMP:
            return f"DATE_FORMAT({name}, '%Y-%m-%d %H:%i:%s.%f')"
        if column.type in (SqlType.DECIMAL, SqlType.DATE, SqlType.TIME):
            return f"CAST({name} AS CHAR)"
    if profile.name == "spark" and column.type in (SqlType.TIMESTAMP, SqlType.DATE):
        return (
            f"date_format({name},"
            f" 'yyyy-MM-dd{' HH:mm:ss.SSSSSS' if column.type is SqlType.TIMESTAMP else ''}')"
        )
    if profile.name == "duckdb":
        if column.type in (SqlType.REAL, SqlType.DOUBLE):
            return f"{name}::DOUBLE"
        if column.type is SqlType.TIMESTAMP:
            return f"strftime({name}, '%Y-%m-%d %H:%M:%S.%f')"
        if column.type is SqlType.TIMESTAMP_TZ:
            return f"strftime({name} AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M:%S.%f')"
        if column.type in (SqlType.DECIMAL, SqlType.DATE, SqlType.TIME):
            return f"{name}::VARCHAR"
    return name


def state(engine: Engine, table: Table) -> list[tuple[Any, ...]]:
    """All rows of a table, in a fixed order."""
    shown = ", ".join(column_text(column, engine.profile) for column in table.columns)
    name = table_expression(table, engine.profile, "lower").sql(dialect=engine.profile.sqlglot)
    rows = engine.rows(f"SELECT {shown} FROM {name}")
    return sorted((tuple(map(shape, table.columns, row)) for row in rows), key=repr)


def shape(column: Column, value: Any) -> Any:
    """A value as it is compared: floats by their bits (all NaN alike), decimals with all their
    digits, CHAR without padding."""
    if value is None:
        return None
    if column.type in (SqlType.REAL, SqlType.DOUBLE):
        return "nan" if math.isnan(value) else struct.pack(">d", float(value))
    if column.type is SqlType.DECIMAL:
        from decimal import Decimal

        return f"{Decimal(str(value)):.{column.scale}f}"
    if column.type is SqlType.CHAR:
        return value.rstrip(" ")
    return value


def typed(text: str | None, column: Column) -> Any:
    """A value of a state's file as :func:`shape` compares it, before shaping."""
    if text is None:
        return None
    if column.type in (SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT):
        return int(text)
    if column.type in (SqlType.REAL, SqlType.DOUBLE):
        return float(text)
    if column.type in (SqlType.BINARY, SqlType.VARBINARY):
        return bytes.fromhex(text.removeprefix("\\x"))
    if column.type is SqlType.TIMESTAMP:
        whole, _, fraction = text.partition(".")
        return f"{whole}.{fraction:0<{column.length}}" if column.length else whole
    return text


def statements_of(scripts: Iterable[Path]) -> Iterator[str]:
    """The statements of scripts, in order: each stands on a line of its own."""
    for script in sorted(scripts):
        with script.open(encoding="utf-8", newline="\n") as lines:
            for line in lines:
                if not line.startswith("--"):
                    yield line.rstrip("\n")


def run_all(engine: Engine, statements: Iterable[str]) -> Sequence[str]:
    """Run statements; those that changed other than exactly one row, transaction words apart."""
    odd = []
    for statement in statements:
        count = engine.run(statement)
        if statement.startswith(("INSERT", "UPDATE", "DELETE")) and count != 1:
            odd.append(statement)
    return odd
