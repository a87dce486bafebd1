"""Tables without a primary key whose rows a unique index tells apart: statements find them by its
columns, in place of all."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

from replay.changes.catalog import Catalog, TableVersion
from replay.logs import LogFile
from sqlgen.constraints import Constraints
from sqlgen.names import alike
from sqlgen.render_options import RenderOptions, shown_columns
from sqlgen.schema import SqlType

#: Values that another database may hold with another last bit.
_INEXACT = (SqlType.REAL, SqlType.DOUBLE, SqlType.DECFLOAT)


def of_one_table(log: LogFile, constraints: Constraints) -> tuple[Constraints, list[str]]:
    """Constraints without the unique keys of tables that the log drops and makes again under their
    names, and of those whose names differ in case only: of which of them they are is not told, and
    another one may have rows with equal values. A note for each of these names."""
    tables: dict[str, set[tuple[int, int, int]]] = {}
    for version in log.catalog.versions:
        ids = version.dbid, version.psid, version.obid
        tables.setdefault(version.name.upper(), set()).add(ids)
    several = {name for name, ids in tables.items() if len(ids) > 1}
    several |= alike(one.name for one in log.catalog.versions)
    left = sorted({name for name, _ in constraints.keys} & several)
    if not left:
        return constraints, []
    kept = tuple((name, key) for name, key in constraints.keys if name not in several)
    notes = [
        f"unique keys of {name} are not considered: several tables have that name in the log"
        for name in left
    ]
    return replace(constraints, keys=kept), notes


def with_unique_keys(
    log: LogFile, constraints: Constraints, render: RenderOptions
) -> tuple[LogFile, list[str]]:
    """The log with a key for each table that has none, where a unique key of ``constraints`` holds
    no NULL, no value that the log may lack and no float, and all of its columns are written; and a
    note for each of these tables."""
    versions = tuple(_keyed(version, constraints, render) for version in log.catalog.versions)
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
