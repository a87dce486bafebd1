"""The Sakila workload in the words of solidDB: the committed changes of the bundled Log Master log,
encoded again as rows of SYS_LOG.

Units come whole and in the order of their commits; what was rolled back never comes. Changes of a
key become a delete and an insert.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from replay.changes.catalog import ColumnFormat
from replay.changes.envelope import Change
from replay.logs.logmaster.opening import open_log
from replay.logs.logmaster.reader import LogmasterLog
from sqlgen.schema import SqlType
from tests.support.luwsakila import Work, work_of
from tests.support.solidbuilder import Col, Framing, LogBuilder, Tab

_PLAIN = {
    SqlType.SMALLINT: "SMALLINT", SqlType.INTEGER: "INTEGER", SqlType.BIGINT: "BIGINT",
    SqlType.REAL: "REAL",
    SqlType.DOUBLE: "DOUBLE PRECISION", SqlType.DATE: "DATE", SqlType.TIME: "TIME",
    SqlType.TIMESTAMP: "TIMESTAMP",
    SqlType.BINARY: "BINARY", SqlType.VARBINARY: "LONG VARBINARY",
}  # fmt: skip


@dataclass
class Encoded:
    """The log, its tables, and the LOGADDR of the commit of each original commit position."""

    log: LogBuilder
    tables: list[Tab]
    commits: dict[bytes, bytes]

    def until(self, commit: bytes) -> bytes:
        """The LOGADDR of the last commit up to an original commit position."""
        return self.commits[max(known for known in self.commits if known <= commit)]


def column(entry: ColumnFormat) -> Col:
    name, kind, null = entry.column.name, entry.column.type, entry.nullable
    if kind in _PLAIN:
        return Col(name, _PLAIN[kind], entry.length, null=null)
    if kind is SqlType.DECIMAL:
        return Col(name, "DECIMAL", 2 * entry.length - 1, entry.scale, null)
    # one column in two is wide; a time zone is text here, because solidDB has no such type
    wide = len(name) % 2 == 0
    if kind is SqlType.CHAR:
        return Col(name, "WCHAR" if wide else "CHAR", entry.length, null=null)
    return Col(name, "WVARCHAR" if wide else "VARCHAR", entry.length, null=null)


def encode(sakila: Path, framing: Framing, size: int = 20) -> Encoded:
    """The workload as rows of SYS_LOG, made once in a process; each caller has a copy."""
    made: Encoded = pickle.loads(_pickled(sakila, framing, size))
    return made


@cache
def _pickled(sakila: Path, framing: Framing, size: int) -> bytes:
    with TemporaryDirectory() as scratch:
        files = sakila / "sakila.ctl", [sakila / "sakila.dat.gz"]
        return pickle.dumps(encode_log(open_log(*files, scratch=Path(scratch)), framing, size))


def encode_log(source: LogmasterLog, framing: Framing, size: int = 20) -> Encoded:
    """The changes of a log as rows of SYS_LOG."""
    tables = []
    for version in source.catalog.versions:
        columns = [column(entry) for entry in version.format.columns]
        hidden = Col("RS_ANAME_TUPLE_VERSION", "BIGINT", attr=2)
        name = version.table.name
        tables.append(
            Tab(
                10_000 + version.index,
                version.table.schema,
                name,
                (*columns, hidden),
                tuple(version.table.key),
            )
        )
    works, units = work_of(source)
    mine: dict[bytes, list[Work]] = {}
    for work in works:
        if work.kept and units[work.unit][1]:
            mine.setdefault(work.unit, []).append(work)
    log = LogBuilder(framing, size=size)
    commits = {}
    for commit, unit in sorted((commit, unit) for unit, (commit, good) in units.items() if good):
        made = log.begin()
        for work in mine.get(unit, []):
            table = tables[work.table]
            if work.change is Change.UPDATE:
                made.update(
                    table, _row(work.before), _row(work.after), turned=bool(len(log.rows) % 3 == 0)
                )
            elif work.change is Change.INSERT:
                made.insert(table, _row(work.after))
            else:
                made.delete(table, _row(work.before))
        commits[commit] = made.commit()
    return Encoded(log, tables, commits)


def _row(values: tuple[Any, ...] | None) -> tuple[Any, ...]:
    assert values is not None
    return values
