"""Whether the database ``logreplay`` of a MariaDB or MySQL is as we make it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from replay.targets import OwnTable

Query = Callable[..., list[tuple[Any, ...]]]


def strange_tables(query: Query, tables: Mapping[str, OwnTable]) -> list[str]:
    """Why what stands under our names is not what we make of ``tables``."""
    strange = []
    columns_of: dict[str, list[tuple[Any, ...]]] = {}
    for name, *column in query(_COLUMNS):
        columns_of.setdefault(name, []).append(tuple(column))
    for name, kind, engine in query(_TABLES):
        if name not in tables:
            continue
        if kind != "BASE TABLE" or engine != "InnoDB":
            what = (
                f"a table of the engine {engine}" if kind == "BASE TABLE" else f"a {kind.lower()}"
            )
            strange.append(f"logreplay.{name} is {what}")
            continue
        columns = columns_of.get(name, [])
        if [column for column, *_ in columns] != [column for column, *_ in tables[name].columns]:
            strange.append(f"logreplay.{name} has other columns")
        strange += [
            f"logreplay.{name} has a column that computes, {column}"
            for column, extra, generated, default in columns
            if generated or extra or (default is not None and default != "NULL")
        ]
    strange += [f"logreplay.{table} has the trigger {name}" for table, name in query(_TRIGGERS)]
    strange += [f"logreplay.{table} has the {kind} {name}" for table, kind, name in query(_RULES)]
    return strange


_TABLES = """SELECT table_name, table_type, engine FROM information_schema.tables
WHERE table_schema = 'logreplay' ORDER BY 1"""
_COLUMNS = """SELECT table_name, column_name, extra, coalesce(generation_expression, ''),
column_default FROM information_schema.columns WHERE table_schema = 'logreplay'
ORDER BY table_name, ordinal_position"""
_TRIGGERS = """SELECT event_object_table, trigger_name FROM information_schema.triggers
WHERE event_object_schema = 'logreplay' ORDER BY 1, 2"""
_RULES = """SELECT table_name, constraint_type, constraint_name
FROM information_schema.table_constraints
WHERE table_schema = 'logreplay' AND constraint_type <> 'PRIMARY KEY' ORDER BY 1, 2, 3"""
