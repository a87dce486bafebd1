"""What a DuckDB tells about a table: its columns and what they hold, its keys, and what acts by
itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from replay.targets import TableFacts
from replay.targets.hazards import Hazard, HazardKind
from replay.targets.outcomes import comparisons, standard_name
from sqlgen.type_capacity import holding_of

Query = Callable[..., list[tuple[Any, ...]]]
#: Texts that a collation may take for 'a'.
_LIKE_A = {"A": "upper and lower case", "á": "accents", "a ": "blanks at the end"}


def table_facts(query: Query, schema: str, table: str) -> TableFacts | None:
    """The facts of a table, None when there is none of that name. ``query`` asks the database."""
    columns = columns_of(query, schema, table)
    if not columns:
        return None
    unique_keys = query(_KEYS, (schema, table))
    unique_keys += [
        (names,)
        for (text,) in query(_INDEXES, (schema, table))
        if (names := _index_columns(text, columns))
    ]
    return TableFacts(
        tuple(column.name for column in columns),
        tuple(column.name for column in columns if column.computed),
        unique_keys=tuple(tuple(names) for (names,) in unique_keys),
        types=tuple(column.kind for column in columns),
        holdings=tuple(holding_of(column.kind, "duckdb") for column in columns),
        hazards=tuple(_hazards(query, schema, table, columns)),
    )


class TableColumn(NamedTuple):
    """A column: its name and type, whether it may be null, whether it has a default, and whether it
    is computed."""

    name: str
    kind: str
    nullable: bool
    defaulted: bool
    computed: bool


def columns_of(query: Query, schema: str, table: str) -> list[TableColumn]:
    """The columns of a table in order."""
    return [
        TableColumn(column, kind, null == "YES", default is not None, generated == "ALWAYS")
        for column, kind, null, default, generated in query(_COLUMNS, (schema, table))
    ]


def _hazards(
    query: Query, schema: str, table: str, columns: Sequence[TableColumn]
) -> Iterator[Hazard]:
    if query(_VIEW, (schema, table)):
        yield Hazard(HazardKind.NO_TABLE, "a view")
        return
    if _has_triggers(query):
        for (trigger,) in query(_TRIGGERS, (schema, table)):
            yield Hazard(HazardKind.TRIGGER, trigger)
    for column in columns:
        if column.computed:
            yield Hazard(HazardKind.GENERATED, "an expression", column.name)
        elif not (column.nullable or column.defaulted):
            yield Hazard(HazardKind.REQUIRED, "NOT NULL", column.name)
        if column.name.lower() == "rowid":
            yield Hazard(HazardKind.NO_ROW_ID, "a column of it is called rowid")
    texts = [column.name for column in columns if column.kind in _TEXTS]
    yield from comparisons(query, standard_name(schema, table), texts, _LIKE_A)


def _has_triggers(query: Query) -> bool:
    """Whether this DuckDB is 2.0 or later. To look for the function in its catalog takes longer
    than all else that is asked of a table."""
    ((version,),) = query("SELECT version()")
    return int(version.lstrip("v").partition(".")[0]) >= 2


def _index_columns(text: str, columns: Sequence[TableColumn]) -> list[str]:
    """The columns of an index's expressions ``[a, "B"]``; none when one is not a column."""
    known = {column.name for column in columns}
    names = [part.strip().strip("'").strip('"') for part in re.sub(r"^\[|\]$", "", text).split(",")]
    return names if set(names) <= known else []


_TEXTS = ("VARCHAR",)
_COLUMNS = """SELECT column_name, data_type, is_nullable, column_default, is_generated FROM
information_schema.columns
WHERE table_catalog = current_database() AND table_schema = %s AND table_name = %s ORDER BY
ordinal_position"""
_KEYS = """SELECT constraint_column_names FROM duckdb_constraints()
WHERE schema_name = %s AND table_name = %s AND constraint_type IN ('PRIMARY KEY', 'UNIQUE')
ORDER BY constraint_index"""
_INDEXES = (
    "SELECT expressions FROM duckdb_indexes() WHERE is_unique AND schema_name = %s AND table_name ="
    " %s ORDER BY index_name"
)
_VIEW = "SELECT 1 FROM duckdb_views() WHERE schema_name = %s AND view_name = %s"
_TRIGGERS = """SELECT trigger_name FROM duckdb_triggers() WHERE schema_name = %s AND table_name = %s
ORDER BY 1"""
