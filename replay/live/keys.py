"""The source of the keys of tables: a file of DDL, a database, or the log's own catalog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from replay import storage
from replay.errors import UsageError, Where
from replay.pipeline.request import KeySource, TargetKeys
from replay.targets import target_of
from sqlgen.errors import SqlgenError
from sqlgen.lazy_imports import when_used
from sqlgen.schema import Constraints, Table

with when_used():  # where there is DDL
    from sqlgen.ddl import ddl_reader, ddl_tokens

#: What ``schema`` says where there are no foreign keys.
NO_SCHEMA = "none"


def key_source(
    schema: str | Path | Constraints | None,
    dialect: str,
    target: str | None = None,
    encoding: str = "",
) -> KeySource:
    """The keys that a schema file or database knows of; where it is not given, those of the
    database ``target``, else (None) those that came with the log. ``none``: there are none; a
    ``target`` is asked all the same, for it knows. ``encoding``: the code page of a file that is no
    UTF-8."""
    if isinstance(schema, Constraints):
        return schema
    if schema == NO_SCHEMA and target is None:
        return Constraints()
    place = target if schema in (None, NO_SCHEMA) else str(schema)
    if place is None:
        return None
    if place == target:
        return TargetKeys(partial(_keys_of_target, place))
    of_database = storage.is_database(place)
    return (
        partial(_keys_of, place) if of_database else partial(_read_keys, place, dialect, encoding)
    )


def _keys_of(url: str, tables: Sequence[Table]) -> Constraints:
    keys = target_of(url).keys(url, [table.name for table in tables])
    return ddl_reader.parse_constraints(keys, "postgres", tables, lenient=True)


def _keys_of_target(url: str, tables: Sequence[Table]) -> Constraints:
    """Those of the database that is written to: it has none where it states none."""
    return replace(_keys_of(url, tables), strange=False)


def _read_keys(place: str, dialect: str, encoding: str, tables: Sequence[Table]) -> Constraints:
    text, notes = schema_text(place, dialect, encoding)
    return replace(ddl_reader.parse_constraints(text, dialect, tables), notes=notes)


def schema_text(place: str, dialect: str, encoding: str) -> tuple[str, tuple[str, ...]]:
    """A schema file as text, and notes on how it was read. UsageError (LR1010) for bytes that are
    no text in its code page."""
    try:
        return ddl_tokens.decoded(storage.read_bytes(place), dialect, encoding)
    except SqlgenError as error:
        raise UsageError(error.code, error.message, Where(place), error.hint) from None
