"""Tables without a primary key whose rows a unique index tells apart: statements find them by its
columns, in place of all."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

from replay.changes.catalog import Catalog, TableVersion, names_alike
from replay.logs import LogFile
from sqlgen.constraints import Constraints
from sqlgen.schema import SqlType
from sqlgen.statements import RenderOptions, shown_columns

#: Values that another database may hold with another last bit.
_INEXACT = (SqlType.REAL, SqlType.DOUBLE, SqlType.DECFLOAT)


def with_unique_keys(
    log: LogFile, constraints: Constraints, render: RenderOptions
) -> tuple[LogFile, list[str]]:
    """The log with a key for each table that has none, where a unique key of ``constraints`` holds
    no NULL, no value that the log may lack and no float, and all of its columns are written; and a
    note for each of these tables. Not of tables whose names differ in case only, which constraints
    do not tell apart."""
    alike = names_alike(version.name for version in log.catalog.versions)
    versions = tuple(
        version if version.name in alike else _keyed(version, constraints, render)
        for version in log.catalog.versions
    )
    if versions == log.catalog.versions:
        return log, []
    keyed: Any = copy(log)
    keyed.catalog = Catalog(versions)
    found = {
        version.name: version.table.key
        for version, before in zip(versions, log.catalog.versions, strict=True)
        if version != before
    }
    notes = [
        f"{name} has no primary key: rows are found by its unique key ({', '.join(key)})"
        for name, key in found.items()
    ]
    return keyed, notes


def _keyed(version: TableVersion, constraints: Constraints, render: RenderOptions) -> TableVersion:
    table = version.table
    if table.key or not table.columns:
        return version
    usable = {column.name for column in shown_columns(table, render)} & {
        entry.column.name
        for entry in version.format.columns
        if not entry.nullable and not entry.lob and entry.column.type not in _INEXACT
    }
    keys = [key for key in constraints.keys_of(version.name.upper()) if set(key) <= usable]
    if not keys:
        return version
    return replace(version, table=replace(table, key=keys[0]))
