"""The Sakila workload in the words of Db2 LUW: the changes of the bundled Log Master log, read with
its own reader and encoded again.

Transactions stay as they were: interleaved, with work rolled back to savepoints, and aborted. Some
rows move on the way, which the original had no need to say.
"""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from replay.changes.catalog import ColumnFormat
from replay.changes.envelope import ROW_CHANGES, Change
from replay.logs.logmaster.opening import open_log
from replay.logs.logmaster.reader import LogmasterLog
from sqlgen.schema import SqlType
from tests.support.luwbuilder import Col, LogBuilder, Logged, Tab, Transaction

_PLAIN = {
    SqlType.SMALLINT: "SMALLINT", SqlType.INTEGER: "INTEGER", SqlType.BIGINT: "BIGINT",
    SqlType.REAL: "REAL", SqlType.DOUBLE: "DOUBLE",
    SqlType.DATE: "DATE", SqlType.TIME: "TIME",
}  # fmt: skip


@dataclass
class Work:
    """One change: where it stood, whose it was, what became of it, and its row images."""

    order: bytes
    unit: bytes
    kept: bool
    change: Change
    table: int
    rid: tuple[int, int]
    before: tuple[Any, ...] | None = None
    after: tuple[Any, ...] | None = None


@dataclass
class Encoded:
    """The log, its tables, and the LSN of the commit of each original commit position."""

    data: bytes
    tables: list[Tab]
    commits: dict[bytes, int] = field(default_factory=dict)

    def until(self, commit: bytes) -> int:
        """The LSN of the last commit up to an original commit position."""
        return self.commits[max(known for known in self.commits if known <= commit)]


def column(entry: ColumnFormat, key: int) -> Col:
    name, kind, null = entry.column.name, entry.column.type, entry.nullable
    if kind in _PLAIN:
        return Col(name, _PLAIN[kind], null=null, key=key)
    if kind is SqlType.DECIMAL:
        return Col(name, "DECIMAL", 2 * entry.length - 1, entry.scale, null, key=key)
    if kind is SqlType.TIMESTAMP:
        return Col(name, "TIMESTAMP", scale=entry.column.length, null=null, key=key)
    if kind is SqlType.BINARY:
        return Col(name, "BINARY", entry.length, null=null, key=key)
    if kind is SqlType.VARBINARY:
        return Col(name, "VARCHAR", 32672, null=null, page=0, key=key)
    # characters that took one byte may take three; a time zone is text here, because Db2 LUW has no
    # such type
    return Col(
        name,
        "CHARACTER" if kind is SqlType.CHAR else "VARCHAR",
        min(3 * entry.length, 32672),
        null=null,
        key=key,
    )


def encode(sakila: Path, dialect: str, big: bool, framing: str, seed: int = 1) -> Encoded:
    """The workload as a log of Db2 LUW, made once in a process; each caller has a copy."""
    return copy.deepcopy(_encoded(sakila, dialect, big, framing, seed))


@cache
def _encoded(sakila: Path, dialect: str, big: bool, framing: str, seed: int) -> Encoded:
    with TemporaryDirectory() as scratch:
        files = sakila / "sakila.ctl", [sakila / "sakila.dat.gz"]
        log = open_log(*files, scratch=Path(scratch))
        return encode_log(log, dialect, big, framing, seed)


def encode_log(log: LogmasterLog, dialect: str, big: bool, framing: str, seed: int = 1) -> Encoded:
    """The changes of a log as a log of Db2 LUW."""
    tables = []
    for version in log.catalog.versions:
        keys = {name: number for number, name in enumerate(version.table.key, 1)}
        columns = tuple(
            column(entry, keys.get(entry.column.name, 0)) for entry in version.format.columns
        )
        tables.append(
            Tab(4, 100 + version.index, version.table.schema, version.table.name, columns)
        )
    return _Encoder(tables, LogBuilder(dialect, big, framing), seed).run(*work_of(log))


def work_of(log: LogmasterLog) -> tuple[list[Work], dict[bytes, tuple[bytes, bool]]]:
    """All row changes, and the commit position and outcome of each unit."""
    works: list[Work] = []
    units: dict[bytes, tuple[bytes, bool]] = {}
    for split, offsets, lengths in log.splits(1 << 30):
        envelope = log.envelope(split.file, offsets, lengths)
        change, version = log.classify(envelope)
        records = np.zeros(
            len(offsets),
            [("file", "<u2"), ("offset", "<i8"), ("length", "<i4"), ("segment", "<u2")],
        )
        records["file"], records["offset"], records["length"], records["segment"] = (
            split.file,
            offsets,
            lengths,
            envelope.segment(),
        )
        order = np.lexsort(
            [
                envelope.segment(),
                _integers(envelope.position("LOGRBA")),
                _integers(envelope.position("LOGLRSN")),
            ]
        )
        envelope, change, version, records = (
            envelope.take(order),
            change[order],
            version[order],
            records[order],
        )
        keys, commits, good = (
            envelope.unit(),
            envelope.commit(),
            envelope.unit_disposition() == ord("C"),
        )
        for row in range(len(records)):
            units[keys[row].tobytes()] = commits[row].tobytes(), bool(good[row])
        heads = np.flatnonzero((envelope.segment() <= 1) & np.isin(change, ROW_CHANGES))
        weights = np.maximum(envelope.segments()[heads], 1)
        kept, rids = envelope.disposition() == ord("C"), envelope.raw("RID")
        begin = len(works)
        for place, head in enumerate(heads.tolist(), begin):
            rid = int.from_bytes(rids[head].tobytes()[-4:], "big")
            works.append(
                Work(
                    place.to_bytes(8, "big"),
                    keys[head].tobytes(),
                    bool(kept[head]),
                    Change(int(change[head])),
                    int(version[head]),
                    (rid >> 8, rid & 255),
                )
            )
        _read_images(log, records, heads, weights, works[begin:])
    return works, units


def _integers(positions: Any) -> Any:
    return np.ascontiguousarray(positions[:, 2:]).view(">u8").reshape(-1).astype(np.uint64)


def _read_images(
    log: LogmasterLog, records: Any, heads: Any, weights: Any, works: list[Work]
) -> None:
    for kind in ROW_CHANGES:
        for table in range(len(log.catalog.versions)):
            rows = np.array(
                [
                    number
                    for number, work in enumerate(works)
                    if work.change is kind and work.table == table
                ],
                np.int64,
            )
            if not len(rows):
                continue
            for part, images in log.images(records, heads[rows], weights[rows], kind):
                for side, bounds in (("before", images.before), ("after", images.after)):
                    if bounds is None:
                        continue
                    walk = log.walk(table, images.buffer, *bounds)
                    values = [
                        walk.decode(index)[0].to_pylist()
                        for index in range(len(log.catalog.versions[table].format.columns))
                    ]
                    for number, row in zip(
                        rows[part].tolist(), zip(*values, strict=True), strict=True
                    ):
                        setattr(works[number], side, row)


class _Encoder:
    def __init__(self, tables: list[Tab], log: LogBuilder, seed: int) -> None:
        self.tables, self.log, self.random = tables, log, random.Random(seed)
        self.open: dict[bytes, Transaction] = {}
        self.taken_back: dict[bytes, list[Logged]] = {}
        self.moved: dict[tuple[int, tuple[int, int]], tuple[int, int]] = {}
        self.place = 1 << 20

    def run(self, works: list[Work], units: dict[bytes, tuple[bytes, bool]]) -> Encoded:
        left = dict.fromkeys(units, 0)
        for work in works:
            left[work.unit] += 1
        result = Encoded(b"", self.tables)
        waiting = sorted((commit, unit) for unit, (commit, good) in units.items() if good)
        ready: set[bytes] = {unit for _, unit in waiting if not left[unit]}
        number = 0
        for work in works:
            self.change(work, units[work.unit][1])
            left[work.unit] -= 1
            if not left[work.unit]:
                ready.add(work.unit)
                if not units[work.unit][1]:
                    self.end_in_vain(work.unit)
            while waiting and waiting[0][1] in ready:
                commit, unit = waiting.pop(0)
                number += 1
                result.commits[commit] = self.commit(unit, number)
        assert not waiting
        result.data = self.log.bytes()
        return result

    def change(self, work: Work, good: bool) -> None:
        unit = self.open.setdefault(work.unit, self.log.begin())
        if work.kept:
            self.savepoint(work.unit)
        before = len(unit.written)
        self.write(unit, work, good and work.kept)
        if not work.kept:
            self.taken_back.setdefault(work.unit, []).extend(unit.written[before:])

    def savepoint(self, key: bytes) -> None:
        """Take back what was rolled back to a savepoint, newest first."""
        for logged in reversed(self.taken_back.pop(key, [])):
            self.open[key].undo(logged, named=self.random.random() < 0.7)

    def write(self, unit: Transaction, work: Work, lasting: bool) -> None:
        table, place = self.tables[work.table], (work.table, work.rid)
        home = self.moved.get(place)
        if work.change is Change.INSERT:
            assert work.after is not None
            unit.insert(table, work.after, work.rid)
            return
        assert work.before is not None
        if work.change is Change.DELETE:
            if home is not None:
                unit.delete_pointer(table, work.rid)
            unit.delete(table, work.before, home or work.rid, outer=4 if home else 0)
            if lasting:
                self.moved.pop(place, None)
            return
        assert work.after is not None
        if not lasting or home is not None or self.random.random() > 0.1:
            unit.update(table, work.before, work.after, home or work.rid, outer=4 if home else 0)
            return
        self.place += 1
        there = (self.place, 1)
        unit.insert(table, work.after, there, outer=4)
        unit.update(table, table.row(work.before, self.log.big), unit.pointer(), work.rid)
        self.moved[place] = there

    def commit(self, key: bytes, number: int) -> int:
        unit = self.open.pop(key, None) or self.log.begin()
        if key in self.taken_back:
            self.open[key] = unit
            self.savepoint(key)
            del self.open[key]
        lsn = self.log.lsn
        unit.commit(1_700_000_000 + number)
        return lsn

    def end_in_vain(self, key: bytes) -> None:
        unit = self.open.pop(key)
        self.taken_back.pop(key, None)
        unit.rollback_to(0, named=self.random.random() < 0.7)
        unit.abort()
