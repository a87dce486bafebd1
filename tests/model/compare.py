"""Runs scripts on SQLite, and compares what they leave with the model.

A target is made from the model's tables, with or without their keys; a script is run as its own
first line says, to the first error. Nothing of the program that is tested is used.
"""

from __future__ import annotations

import contextlib
import sqlite3
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.model.rows import Column, Row, Table

State = Mapping[str, Sequence[Row]]

KEYS = ("none", "primary", "keys", "foreign", "cascade")
"""What a target enforces: nothing; primary keys; unique keys too; foreign keys too, which refuse;
or which cascade."""

TYPES: dict[str, tuple[str, str]] = {
    # kind: SQLite, PostgreSQL
    "smallint": ("INTEGER", "smallint"),
    "integer": ("INTEGER", "integer"),
    "bigint": ("INTEGER", "bigint"),
    "decimal": ("TEXT", "decimal({length},{scale})"),
    "char": ("TEXT", "char({length})"),
    "varchar": ("TEXT", "varchar({length})"),
    "varbinary": ("BLOB", "bytea"),
    "real": ("REAL", "real"),
    "double": ("REAL", "double precision"),
    "date": ("TEXT", "date"),
    "time": ("TEXT", "time"),
    "timestamp": ("TEXT", "timestamp"),
}


class Failed(Exception):
    """The target refused a statement of a script."""


def type_of(column: Column, dialect: str) -> str:
    sqlite, other = TYPES[column.kind]
    if dialect == "sqlite":
        return sqlite
    return other.format(length=column.length, scale=column.scale)


def literal(value: Any, dialect: str) -> str:
    """A value for the DEFAULT of a column."""
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


def lower(name: str) -> str:
    return name.lower()


def definition(table: Table, keys: str, dialect: str, schema: bool = True) -> str:
    """CREATE TABLE, with the keys that are enforced."""
    parts: list[str] = []
    for column in table.columns:
        text = f"{lower(column.name)} {type_of(column, dialect)}"
        if not column.nullable:
            text += " NOT NULL"
        if column.default is not None:
            text += f" DEFAULT {literal(column.default, dialect)}"
        parts.append(text)
    if keys != "none":
        if table.key:
            parts.append(f"PRIMARY KEY ({listed(table.key)})")
        if keys != "primary":
            parts += [f"UNIQUE ({listed(key)})" for key in table.unique]
    if keys in ("foreign", "cascade"):
        for foreign in table.foreign:
            parent = lower(foreign.parent)
            if dialect == "sqlite":
                parent = parent.split(".")[1]
            rule = foreign.on_delete if keys == "cascade" else "no action"
            parts.append(
                f"FOREIGN KEY ({listed(foreign.columns)}) REFERENCES {parent}"
                f" ({listed(foreign.parent_columns)}) ON DELETE {rule.upper()}"
            )
    return f"CREATE TABLE {lower(table.name)} (\n  " + ",\n  ".join(parts) + "\n)"


def listed(names: Iterable[str]) -> str:
    return ", ".join(lower(name) for name in names)


def schema_text(tables: Iterable[Table]) -> str:
    """The tables with all their keys, in PostgreSQL's words, for ``--schema``."""
    made = [definition(table, "cascade", "postgres") for table in parents_first(tables)]
    return "CREATE SCHEMA test;\n" + ";\n".join(made) + ";\n"


def parents_first(tables: Iterable[Table]) -> list[Table]:
    waiting, out = list(tables), []
    while waiting:
        for table in waiting:
            if all(f.parent in {t.name for t in out} | {table.name} for f in table.foreign):
                waiting.remove(table)
                out.append(table)
                break
    return out


# ---------------------------------------------------------------------------------------------
# Values, the same from every database


def given(value: Any, column: Column) -> Any:
    """A value as it is loaded."""
    if isinstance(value, Decimal):
        return f"{value:.{column.scale}f}"
    return value


def canonical(value: Any, column: Column) -> Any:
    """A value as it is compared."""
    if value is None:
        return None
    match column.kind:
        case "smallint" | "integer" | "bigint":
            return int(value) if not isinstance(value, str) else ("text", value)
        case "decimal":
            return Fraction(str(value))
        case "char":
            return str(value).rstrip(" ")
        case "varchar" | "date" | "time":
            return str(value)
        case "varbinary":
            return bytes(value)
        case "real":
            return struct.unpack(">f", struct.pack(">f", value))[0] + 0.0
        case "double":
            return float(value) + 0.0
        case "timestamp":
            return str(value)[:26]
    raise ValueError(column.kind)


def bag(rows: Iterable[Row], table: Table) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(canonical(row[c.name], c) for c in table.columns) for row in rows)


def difference(tables: Iterable[Table], wanted: State, found: State) -> str:
    """What is missing and what is too many, row by row; empty where all is the same."""
    out: list[str] = []
    for table in tables:
        want, have = bag(wanted[table.name], table), bag(found[table.name], table)
        for label, rows in (("missing", want - have), ("too many", have - want)):
            out += [f"{label} in {table.name}: {row} x{n}" for row, n in sorted(
                rows.items(), key=repr)]  # fmt: skip
    return "\n".join(out)


# ---------------------------------------------------------------------------------------------
# States


def write_state(tables: Iterable[Table], rows: State, folder: Path) -> None:
    """A state as files, one for each table."""
    for table in tables:
        with (folder / f"{table.name.split('.')[1]}.csv").open(
            "w", encoding="utf-8", newline=""
        ) as file:
            file.write(",".join(table.names) + "\n")
            for row in rows[table.name]:
                file.write(",".join(unloaded(row[c.name], c) for c in table.columns) + "\n")


def unloaded(value: Any, column: Column) -> str:
    """A value as an unload has it."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return "\\x" + value.hex()
    if isinstance(value, Decimal):
        return f"{value:.{column.scale}f}"
    if isinstance(value, int | float):
        return repr(value)
    return '"' + str(value).replace('"', '""') + '"'


def make_sqlite(tables: Sequence[Table], rows: State, path: Path) -> None:
    """A state as a database."""
    connection = sqlite3.connect(path)
    for table in parents_first(tables):
        text = definition(table, "primary", "sqlite").replace(" test.", " ", 1)
        connection.execute(text)
        connection.executemany(
            insertion(table, "?").replace(" test.", " ", 1),
            loaded(table, rows[table.name]),
        )
    connection.commit()
    connection.close()


def rows_of_sqlite(tables: Sequence[Table], path: Path) -> dict[str, list[Row]]:
    """What such a database holds."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return {
            table.name: rows_of(connection, table, table.name.split(".")[1]) for table in tables
        }


def rows_of(connection: sqlite3.Connection, table: Table, name: str) -> list[Row]:
    found = connection.execute(f"SELECT {listed(table.names)} FROM {lower(name)}")
    return [dict(zip(table.names, row, strict=True)) for row in found]


# ---------------------------------------------------------------------------------------------
# Scripts


def insertion(table: Table, mark: str) -> str:
    marks = ", ".join([mark] * len(table.columns))
    return f"INSERT INTO {lower(table.name)} ({listed(table.names)}) VALUES ({marks})"


def loaded(table: Table, rows: Iterable[Row]) -> list[tuple[Any, ...]]:
    return [tuple(given(row[c.name], c) for c in table.columns) for row in rows]


def run(
    tables: Sequence[Table], rows: State, scripts: Sequence[str], keys: str = "none"
) -> dict[str, list[Row]]:
    """Load rows into an empty database, run scripts in order and give back the rows; raises
    `Failed`. Each schema of the log is attached to it."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("ATTACH ':memory:' AS test")
        for table in parents_first(tables):
            connection.execute(definition(table, keys, "sqlite"))
            connection.executemany(insertion(table, "?"), loaded(table, rows[table.name]))
        if keys in ("foreign", "cascade"):
            connection.execute("PRAGMA foreign_keys = ON")
        for script in scripts:
            try:
                connection.executescript(script)
            except sqlite3.Error as error:
                raise Failed(str(error)) from None
            if connection.in_transaction:
                raise Failed("a transaction is left open")
        return {table.name: rows_of(connection, table, table.name) for table in tables}
