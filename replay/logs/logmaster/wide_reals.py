"""Short hexadecimal floats as doubles: REAL of Db2 reaches from 5.4E-79 to 7.2E+75, an IEEE single
from 1.4E-45 to 3.4E+38 only."""

from __future__ import annotations

from dataclasses import replace

from replay.changes.catalog import Catalog, ColumnFormat, TableVersion
from replay.logs.logmaster.reader import LogmasterLog
from sqlgen.schema import Column, SqlType


def with_wide_reals(log: LogmasterLog) -> LogmasterLog:
    """The log with its REAL columns as DOUBLE, which holds each value of them."""
    versions = tuple(_widened(version) for version in log.catalog.versions)
    if versions == log.catalog.versions:
        return log
    return replace(log, control=replace(log.control, catalog=Catalog(versions)))


def _widened(version: TableVersion) -> TableVersion:
    table = replace(version.table, columns=tuple(map(_double, version.table.columns)))
    columns = tuple(map(_wide, version.format.columns))
    return replace(version, table=table, format=replace(version.format, columns=columns))


def _wide(column: ColumnFormat) -> ColumnFormat:
    if column.column.type is not SqlType.REAL:
        return column
    return replace(column, column=_double(column.column), wide=True)


def _double(column: Column) -> Column:
    return replace(column, type=SqlType.DOUBLE) if column.type is SqlType.REAL else column
