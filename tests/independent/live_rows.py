"""Tables of a true history in a database of PostgreSQL, made and read by nothing of ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import psycopg

from tests.independent.tables import Column, State, Table, place_of, quoted

_TYPES = {
    "SMALLINT": "smallint",
    "INTEGER": "integer",
    "BIGINT": "bigint",
    "DATE": "date",
    "REAL": "double precision",
    "DOUBLE": "double precision",
    "TIME": "time(0)",
}


def type_of(column: Column) -> str:
    if column.bit:
        return "bytea"
    if column.kind == "DECIMAL":
        return f"numeric({column.length},{column.scale})"
    if column.kind == "TIMESTAMP":
        return f"timestamp({column.scale})"
    return _TYPES.get(column.kind, "text")


def shown(column: Column, value: object) -> object:
    """One form of a value of either side."""
    if value is None:
        return None
    if column.bit:
        return bytes(value)  # type: ignore[call-overload]
    if column.kind in ("REAL", "DOUBLE"):
        return float(value)  # type: ignore[arg-type]
    if column.kind == "DECIMAL":
        return Decimal(str(value))
    if column.kind == "TIMESTAMP":
        moment, _, fraction = str(value).partition(".")
        return f"{moment}.{fraction:<06}".rstrip(".")
    text = str(value)
    return text.rstrip(" ") if column.kind == "CHAR" else text


def _create(table: Table) -> str:
    parts = [
        f"{quoted(c.name)} {type_of(c)}{'' if c.nullable else ' NOT NULL'}" for c in table.columns
    ]
    if table.key:
        names = ", ".join(quoted(table.columns[number].name) for number in table.key)
        parts.append(f"PRIMARY KEY ({names})")
    return f"CREATE TABLE {place_of(table)} ({', '.join(parts)})"


def fill(url: str, tables: Sequence[Table], rows: State) -> None:
    """Make the tables, with rows."""
    with psycopg.connect(url, autocommit=True) as base:
        run: Any = base.execute
        for schema in sorted({quoted(table.schema) for table in tables}):
            run(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        for table in tables:
            run(_create(table))
            marks = ", ".join(
                "%s" if c.bit or type_of(c) == "text" else f"%s::text::{type_of(c)}"
                for c in table.columns
            )
            for row in rows[table.name]:
                values = [repr(v) if isinstance(v, float) else v for v in row]
                values = [format(v, "f") if isinstance(v, Decimal) else v for v in values]
                run(f"INSERT INTO {place_of(table)} VALUES ({marks})", values)


def read(url: str, table: Table) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as base:
        base.execute("SET extra_float_digits = 3")
        names = ", ".join(
            quoted(c.name) if c.bit else f"{quoted(c.name)}::text" for c in table.columns
        )
        run: Any = base.execute
        return list(run(f"SELECT {names} FROM {place_of(table)}").fetchall())


def difference(url: str, tables: Sequence[Table], state: State) -> str | None:
    """What the database lacks of a state and has beside it, of the first table that differs."""
    for table in tables:

        def counted(rows: Sequence[Sequence[object]], table: Table = table) -> Counter[object]:
            return Counter(tuple(map(shown, table.columns, row)) for row in rows)

        found, expected = counted(read(url, table)), counted(state[table.name])
        if found != expected:
            less, more = (expected - found).most_common(3), (found - expected).most_common(3)
            return f"{table.name} key {table.key} lacks {less}, has {more} beside"
    return None
