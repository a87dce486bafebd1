"""Logs of Db2 LUW, written from the format specification alone.

A :class:`LuwLog` takes changes of rows and puts out the bytes that a reader of Db2's log would
have got: dialects ``v7``, ``v97`` and ``v10``, both byte orders, every framing, chains of previous
positions, compensation records, all kinds of commit. Nothing here knows the program under test.
"""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

from tests.model.luw_model import Column, Row, Table

FRAMINGS = {
    "v7": ("raw", "lsn6"),
    "v97": ("raw", "lsn8", "flt16"),
    "v10": ("raw", "lsn8", "lri48", "flt56"),
}

#: Kind of commit -> record type in v7, and in v97 and v10.
COMMITS = {
    "normal": (0x4D, 0x84),
    "heuristic": (0x59, 0x87),
    "coordinator": (0x63, 0x86),
    "subordinator": (0x73, 0x85),
    "pending": (0x45, 0x8A),
}

NORMAL, REDO, COMPENSATION, ABORT = 0x4E, 0x52, 0x43, 0x41
PROPAGATABLE, TEMPORARY, SINGULAR, ROLLBACK = 0x0002, 0x0004, 0x0010, 0x0200

_CODES = {
    "SMALLINT": 0,
    "INTEGER": 1,
    "DECIMAL": 2,
    "DOUBLE": 3,
    "REAL": 4,
    "BIGINT": 5,
    "CHARACTER": 0x100,
    "VARCHAR": 0x101,
    "DATE": 0x105,
    "TIME": 0x106,
    "TIMESTAMP": 0x107,
}

_FIXED = {
    "SMALLINT": 2,
    "INTEGER": 4,
    "BIGINT": 8,
    "REAL": 4,
    "DOUBLE": 8,
    "DATE": 4,
    "TIME": 3,
    "TIMESTAMP": 10,
    "VARCHAR": 4,
}


def fixed_size(column: Column) -> int:
    """Bytes of a column's fixed part, without its null indicator."""
    if column.type == "DECIMAL":
        return (column.length + 2) // 2
    if column.type == "CHARACTER":
        return column.length
    return _FIXED[column.type]


@dataclass
class Form:
    """How a log is written."""

    dialect: str = "v97"
    big: bool = False
    framing: str = "raw"
    #: Form of 6-byte positions on little-endian servers: ``little``, ``big``.
    lsn6: str = "little"
    #: Bytes of other people's work between records, so that positions have holes.
    holes: bool = False
    #: Garbage below a null indicator.
    garbage: bool = False
    outer: int = 0

    @classmethod
    def drawn(cls, rng: random.Random, **fixed: object) -> Form:
        """Any form; what is given stays as it is."""
        dialect = str(fixed.get("dialect") or rng.choice(sorted(FRAMINGS)))
        form = cls(
            dialect=dialect,
            big=rng.random() < 0.5,
            framing=rng.choice(FRAMINGS[dialect]),
            lsn6=rng.choice(["little", "big"]),
            holes=rng.random() < 0.3,
            garbage=rng.random() < 0.5,
            outer=rng.choice([0, 0, 0x10]),
        )
        for name, value in fixed.items():
            setattr(form, name, value)
        return form

    def __str__(self) -> str:
        flags = [name for name in ("holes", "garbage") if getattr(self, name)]
        order = "big" if self.big else f"little(lsn6 {self.lsn6})"
        return " ".join([self.dialect, order, self.framing, *flags])


@dataclass
class Record:
    """One record as it stands in the file, and what tests want to know of it."""

    framing: bytes
    body: bytes
    lsn: int
    tid: int
    what: str
    #: Length of the log manager's header.
    header: int

    @property
    def bytes(self) -> bytes:
        return self.framing + self.body


def packed(digits: str, sign: int | None = None) -> bytes:
    """Packed decimal digits, with a sign nibble when one is given."""
    text = digits + (f"{sign:X}" if sign is not None else "")
    return bytes.fromhex(text.rjust(len(text) + len(text) % 2, "0"))


class Layout:
    """Where the columns of a table lie in its rows."""

    def __init__(self, table: Table, order: list[int] | None = None, gap: int = 0) -> None:
        self.table = table
        self.offsets = [0] * len(table.columns)
        running = 0
        for index in order or range(len(table.columns)):
            column = table.columns[index]
            self.offsets[index] = running
            running += fixed_size(column) + column.nullable + gap
        self.fixed = running


@dataclass
class LuwLog:
    """A log that grows by one record after the other."""

    form: Form
    rng: random.Random
    records: list[Record] = field(default_factory=list)
    layouts: dict[str, Layout] = field(default_factory=dict)
    position: int = 0xBB8
    counter: int = 0x1000
    flush: int = 0x55
    last: dict[int, int] = field(default_factory=dict)

    # -- scalars

    def u(self, size: int, value: int) -> bytes:
        return value.to_bytes(size, "big" if self.form.big else "little")

    def i(self, size: int, value: int) -> bytes:
        return value.to_bytes(size, "big" if self.form.big else "little", signed=True)

    def tid(self, value: int) -> bytes:
        return self.u(6, value)

    def lsn6(self, value: int) -> bytes:
        if self.form.big or self.form.lsn6 == "big":
            return value.to_bytes(6, "big")
        return value.to_bytes(6, "little")

    # -- records

    def put(
        self,
        tid: int,
        kind: int,
        payload: bytes,
        *,
        flags: int = PROPAGATABLE,
        undo_next: int = 0,
        compensated: int = 0,
        what: str = "",
    ) -> int:
        """Append a record; answer its position (v10: the LSO)."""
        form, rng = self.form, self.rng
        if form.holes and rng.random() < 0.7:
            self.position += rng.randrange(40, 400)
            self.counter += rng.randrange(1, 5)
        header = {"v7": 20, "v97": 24, "v10": 40}[form.dialect]
        if kind == COMPENSATION:
            step = {"v7": 6, "v97": 8, "v10": 16}[form.dialect]
            header += step + ((step if form.dialect != "v10" else 8) if flags & 2 else 0)
        length = header + len(payload)
        previous = self.last.get(tid, 0)
        lead = self.u(4, length) + self.u(2, kind) + self.u(2, flags)
        if form.dialect == "v7":
            lead += self.lsn6(previous) + self.tid(tid)
            if kind == COMPENSATION:
                lead += self.lsn6(undo_next) + (self.lsn6(compensated) if flags & 2 else b"")
        elif form.dialect == "v97":
            lead += self.u(8, previous) + self.tid(tid) + bytes(2)
            if kind == COMPENSATION:
                lead += self.u(8, undo_next) + (self.u(8, compensated) if flags & 2 else b"")
        else:
            if rng.random() < 0.2:
                self.flush += 1
            lead += self.u(8, self.counter) + self.u(8, self.flush) + self.u(8, previous)
            lead += self.tid(tid) + self.u(2, 0)
            if kind == COMPENSATION:
                lead += self.u(2, 0) + bytes(6) + self.u(8, undo_next)
                lead += self.u(8, compensated) if flags & 2 else b""
        assert len(lead) == header
        record = Record(self._framing(length), lead + payload, self.position, tid, what, header)
        self.records.append(record)
        here = self.position
        self.last[tid] = here
        self.position += length
        self.counter += 1
        return here

    def _framing(self, length: int) -> bytes:
        name, here = self.form.framing, self.position
        if name == "raw":
            return b""
        if name == "lsn6":
            return self.lsn6(here)
        if name == "lsn8":
            return self.u(8, self.counter if self.form.dialect == "v10" else here)
        if name == "flt16":
            return self.u(8, here) + self.u(4, length) + bytes(4)
        first = self.u(8, 1) + self.u(8, self.flush) + self.u(8, self.counter)
        second = self.u(8, 2) + self.u(8, 0) + self.u(8, here)
        if name == "lri48":
            return first + second
        return first + second + self.u(4, length) + bytes(4)

    # -- rows

    def value(self, column: Column, value: object) -> bytes:
        """The fixed part of a value; for VARCHAR the value itself."""
        kind = column.type
        if kind in ("SMALLINT", "INTEGER", "BIGINT"):
            return self.i(_FIXED[kind], int(value))
        if kind in ("REAL", "DOUBLE"):
            mark = ">" if self.form.big else "<"
            return struct.pack(mark + ("f" if kind == "REAL" else "d"), value)
        if kind == "DECIMAL":
            number = Decimal(value).scaleb(column.scale)
            digits = str(abs(int(number))).rjust(column.length, "0")
            return packed(digits, 13 if number < 0 else 12).rjust(fixed_size(column), b"\0")
        if kind == "DATE":
            return packed(f"{value:%Y%m%d}") if isinstance(value, date) else b""
        if kind == "TIME":
            return packed(f"{value:%H%M%S}") if isinstance(value, time) else b""
        if kind == "TIMESTAMP":
            return packed(f"{value:%Y%m%d%H%M%S%f}") if isinstance(value, datetime) else b""
        data = str(value).encode()
        return data.ljust(column.length, b" ") if kind == "CHARACTER" else data

    def row(self, table: Table, row: Row) -> bytes:
        """A row with its 8-byte header."""
        layout = self.layouts.get(table.name) or Layout(table)
        self.layouts[table.name] = layout
        fixed, variable = bytearray(layout.fixed), b""
        for column, offset in zip(table.columns, layout.offsets, strict=True):
            value, size = row[column.name], fixed_size(column)
            if value is None:
                assert column.nullable
                if self.form.garbage:
                    fixed[offset : offset + size] = self.rng.randbytes(size)
                fixed[offset + size] = 1
                continue
            data = self.value(column, value)
            if column.type == "VARCHAR":
                pair = self.u(2, layout.fixed + len(variable)) + self.u(2, len(data))
                fixed[offset : offset + 4] = pair
                variable += data
            else:
                fixed[offset : offset + size] = data
        length = 8 + len(fixed) + len(variable)
        head = bytes([self.form.outer, 0]) + self.u(2, length)
        return head + bytes([1, 0]) + self.u(2, layout.fixed) + bytes(fixed) + variable

    def _dms(self, function: int, table: Table) -> bytes:
        return bytes([1, function]) + self.u(2, table.space) + self.u(2, table.id)

    def _prefix(self, function: int, table: Table, rid: int, length: int) -> bytes:
        """What stands before a row: page = rid // 200 + 1, slot = rid % 200."""
        page, slot = rid // 200 + 1, rid % 200
        free = self.u(2, 3000)
        offset = self.u(2, 4000 - slot)
        head = self._dms(function, table) + bytes(2)
        if self.form.dialect == "v7":
            return head + self.u(4, page << 8 | slot) + self.u(2, length) + free + offset
        return head + self.u(2, length) + free + self.u(2, slot) + self.u(4, page) + offset

    def _function(self, op: str) -> int:
        old = self.form.dialect == "v7"
        return {"I": 118 if old else 162, "D": 106 if old else 161, "U": 120 if old else 163}[op]

    def change(
        self,
        tid: int,
        op: str,
        table: Table,
        rid: int,
        before: Row | None,
        after: Row | None,
        flags: int = PROPAGATABLE,
    ) -> int:
        """An insert, update or delete; answer its position."""
        function = self._function(op)
        if op == "U":
            assert before is not None
            assert after is not None
            old, new = self.row(table, before), self.row(table, after)
            payload = self._prefix(function, table, rid, len(new)) + old
            payload += self._prefix(function, table, rid, len(old)) + new
        else:
            image = self.row(table, (after if op == "I" else before) or {})
            payload = self._prefix(function, table, rid, len(image)) + image
        return self.put(tid, NORMAL, payload, flags=flags, what=f"{op} {table.name}")

    def compensate(
        self, tid: int, op: str, table: Table, rid: int, before: Row | None, at: int, below: int
    ) -> int:
        """The record that takes back the change at ``at``; ``below`` is the one before it."""
        flags = PROPAGATABLE | self.rng.choice([0, ROLLBACK])
        if op == "I":
            head = self._dms(110, table) + bytes(2)
            page, slot = rid // 200 + 1, rid % 200
            tail = self.u(2, 41) + self.u(2, 3000)
            if self.form.dialect == "v7":
                payload = head + self.u(4, page << 8 | slot) + tail
            else:
                payload = head + tail + self.u(2, slot) + self.u(4, page)
        else:
            image = self.row(table, before or {})
            payload = self._prefix(111 if op == "D" else 112, table, rid, len(image)) + image
        return self.put(
            tid,
            COMPENSATION,
            payload,
            flags=flags,
            undo_next=below,
            compensated=at,
            what=f"undo {op} {table.name}",
        )

    def commit(self, tid: int, kind: str, when: int, authid: str) -> int:
        """The record that ends a unit well."""
        name = authid.encode()
        old = self.form.dialect == "v7"
        stamp = self.u(4, when) if old else self.u(8, when)
        gxid = self.rng.randbytes(20)
        nodes = self.rng.randrange(1, 40)
        present = self.rng.randbytes(nodes // 8 + 1)
        who = name if old else self.u(2, len(name)) + name
        if kind == "coordinator":
            payload = stamp + gxid + self.u(2, nodes) + present + who
        elif kind == "subordinator":
            payload = stamp + gxid + who
        elif kind == "pending":
            who = name.ljust(9) if old else who
            payload = stamp + who + self.rng.randbytes(self.rng.randrange(12, 40))
        else:
            payload = stamp + who
        return self.put(tid, COMMITS[kind][0 if old else 1], payload, what=f"commit {kind}")

    def abort(self, tid: int, authid: str) -> int:
        name = authid.encode()
        who = name if self.form.dialect == "v7" else self.u(2, len(name)) + name
        return self.put(tid, ABORT, who, what="abort")

    # -- structure

    def initialise(self, tid: int, table: Table, layout: Layout | None = None) -> int:
        """Initialize Table, with the table's descriptor."""
        layout = layout or Layout(table)
        self.layouts[table.name] = layout
        description = bytes([0, 0]) + self.u(2, len(table.columns))
        for column, offset in zip(table.columns, layout.offsets, strict=True):
            size = column.length if column.type in ("VARCHAR",) else fixed_size(column)
            length = self.u(2, size)
            if column.type == "DECIMAL":
                length = bytes([column.length, column.scale])
            description += self.u(2, _CODES[column.type]) + length
            description += self.u(2, 1 if column.nullable else 2) + self.u(2, offset)
        head = self._dms(128, table)
        if self.form.dialect == "v7":
            head += self.lsn6(self.position) + bytes([0, 0]) + self.u(2, 0) + self.u(4, 1)
            head += self.u(4, 1) + bytes(56) + self.u(4, 0) + self.u(4, len(description))
        else:
            head += bytes(82) + self.u(4, len(description))
        return self.put(tid, REDO, head + description, what=f"initialize {table.name}")

    # -- files

    def split(self, parts: int) -> list[list[Record]]:
        """The records in so many files."""
        cuts = sorted(self.rng.sample(range(1, len(self.records)), min(parts - 1, 8)))
        ends = [0, *cuts, len(self.records)]
        return [self.records[a:b] for a, b in pairwise(ends)]


def write_log(path: Path, records: list[Record]) -> Path:
    path.write_bytes(b"".join(record.bytes for record in records))
    return path


def write_catalog(path: Path, tables: list[Table]) -> Path:
    """The catalog export that goes with a log."""
    lines = [
        "TBSPACEID,TABLEID,TABSCHEMA,TABNAME,DATACAPTURE,COLNO,COLNAME,TYPENAME,LENGTH,SCALE,"
        "NULLS,CODEPAGE,KEYSEQ,GENERATED,IDENTITY"
    ]
    for table in tables:
        for number, column in enumerate(table.columns):
            key = table.key.index(column.name) + 1 if column.name in table.key else ""
            text = column.type in ("CHARACTER", "VARCHAR")
            length = column.length or fixed_size(column)
            lines.append(
                f"{table.space},{table.id},{table.schema},{table.name},Y,{number},{column.name},"
                f"{column.type},{length},{column.scale},{'Y' if column.nullable else 'N'},"
                f"{1208 if text else 0},{key},,N"
            )
    path.write_text("\n".join(lines) + "\n")
    return path
