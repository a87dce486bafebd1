"""Bytes of Db2 LUW log records, a third reading of the format notes.

It knows releases v7, v95, v97 and v10, both byte orders and each framing, rows in both formats,
rows that move, several rows at once, compensation, and the records of table structure.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

FRAMINGS = {
    "v7": ("lsn6", "raw"),
    "v95": ("lsn6", "flt16/6", "raw"),
    "v97": ("lsn8", "flt16", "raw"),
    "v10": ("lri48", "flt56", "lsn8", "raw"),
}
HEADERS = {"v7": (20, 26, 32), "v95": (20, 26, 32), "v97": (24, 32, 40), "v10": (40, 56, 64)}
CODES = {
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
INSERT, DELETE, UPDATE = "insert", "delete", "update"
ROW_CODES = {"v7": {INSERT: 118, DELETE: 106, UPDATE: 120}}
LATER_ROW_CODES = {INSERT: 162, DELETE: 161, UPDATE: 163}
UNDO_CODES = {INSERT: 110, DELETE: 111, UPDATE: 112}
COMMITS = {"v7": 0x4D, "v95": 0x4D, "v97": 0x84, "v10": 0x84}
NORMAL, POINTER, OVERFLOW = 0x00, 0x02, 0x04
PROPAGATABLE, SINGULAR = 0x0002, 0x0010


@dataclass(frozen=True)
class Column:
    name: str
    type: str
    length: int = 0
    scale: int = 0
    nullable: bool = True
    bits: bool = False

    @property
    def varying(self) -> bool:
        return self.type == "VARCHAR"

    def size(self) -> int:
        """Octets of the fixed part, without the null octet."""
        sizes = {
            "SMALLINT": 2,
            "INTEGER": 4,
            "BIGINT": 8,
            "REAL": 4,
            "DOUBLE": 8,
            "DATE": 4,
            "TIME": 3,
            "VARCHAR": 4,
            "CHARACTER": self.length,
            "DECIMAL": (self.length + 2) // 2,
            "TIMESTAMP": 7 + (self.scale + 1) // 2,
        }
        return sizes[self.type]

    def catalog_length(self) -> int:
        return self.length if self.type in ("DECIMAL", "VARCHAR", "CHARACTER") else self.size()


def digits(text: str) -> bytes:
    return bytes.fromhex("".join(filter(str.isdigit, text)))


def value_bytes(column: Column, value: Any, order: str, plus: str = "c") -> bytes:
    """A value that is there, as the fixed part holds it (of VARCHAR the text itself)."""
    kind = column.type
    if kind in ("SMALLINT", "INTEGER", "BIGINT", "REAL", "DOUBLE"):
        letter = {"SMALLINT": "h", "INTEGER": "i", "BIGINT": "q", "REAL": "f", "DOUBLE": "d"}
        return struct.pack(order + letter[kind], value)
    if kind == "DECIMAL":
        sign, number, _ = Decimal(value).as_tuple()  # always with all digits of the scale
        whole = int("".join(map(str, number))) * (-1 if sign else 1)
        text = str(abs(whole)).rjust(column.size() * 2 - 1, "0")
        return bytes.fromhex(text + ("d" if whole < 0 else plus))
    if kind in ("DATE", "TIME"):
        return digits(value)
    if kind == "TIMESTAMP":
        fraction = value.partition(".")[2]
        whole = digits(value.partition(".")[0])
        return whole + (digits(fraction + "0" * (len(fraction) % 2)) if fraction else b"")
    raw = value if isinstance(value, bytes) else value.encode()
    return raw.ljust(column.length, b" ") if kind == "CHARACTER" else raw


def fixed_length(columns: list[Column]) -> int:
    return sum(column.size() + column.nullable for column in columns)


def plain_row(columns: list[Column], values: list[Any], order: str, plus: str = "c") -> bytes:
    """The formatted record (inner type 1): fixed section, variable section."""
    start, fixed, varying = fixed_length(columns), b"", b""
    for column, value in zip(columns, values, strict=True):
        if value is None:
            fixed += bytes(column.size()) + b"\1"
            continue
        data = value_bytes(column, value, order, plus)
        if column.varying:
            fixed += struct.pack(order + "HH", start + len(varying), len(data))
            varying += data
        else:
            fixed += data
        fixed += b"\0" if column.nullable else b""
    return fixed + varying


def compressed_row(columns: list[Column], values: list[Any], order: str, from_array: bool) -> bytes:
    """The record of a table with VALUE COMPRESSION (inner type 2)."""
    base = 2 * (len(columns) + 1) if from_array else 0
    offsets, data = [], b""
    for column, value in zip(columns, values, strict=True):
        if value is None:
            offsets.append(base + len(data) | 0x8000)
            data += b"\1"
        else:
            offsets.append(base + len(data))
            data += value_bytes(column, value, order)
    offsets.append(base + len(data))
    return struct.pack(f"{order}{len(offsets)}H", *offsets) + data


def description(columns: list[Column], order: str) -> bytes:
    """The table description record of an Initialize Table."""
    return struct.pack(order + "BBH", 1, 0, len(columns)) + descriptors(columns, order)


def descriptors(columns: list[Column], order: str) -> bytes:
    made, offset = b"", 0
    for column in columns:
        made += struct.pack(order + "H", CODES[column.type])
        if column.type == "DECIMAL":
            made += bytes([column.length, column.scale])
        else:
            made += struct.pack(order + "H", column.catalog_length())
        made += struct.pack(order + "HH", 1 if column.nullable else 2, offset)
        offset += column.size() + column.nullable
    return made


@dataclass
class Desk:
    """Writes records in one release, byte order and framing, and counts their positions."""

    release: str
    order: str  # "<" or ">"
    framing: str
    first: int = 0x10000
    gap: Any = None  # called before each record: octets of others that a filter left out
    records: list[bytes] = field(default_factory=list)
    ends: list[tuple[int, bytes]] = field(default_factory=list)  # of units: LSN, TID
    lsn: int = 0
    offset: int = 0
    flush: int = 7

    def __post_init__(self) -> None:
        self.offset = self.first
        self.lsn = 0x3000

    @property
    def later(self) -> bool:
        return self.release != "v7"

    def pack(self, form: str, *values: Any) -> bytes:
        return struct.pack(self.order + form, *values)

    def position_bytes(self, value: int) -> bytes:
        width = 6 if self.release in ("v7", "v95") else 8
        return value.to_bytes(width, "big" if self.order == ">" else "little")

    def tid_bytes(self, tid: int) -> bytes:
        return tid.to_bytes(6, "big" if self.order == ">" else "little")

    def write(
        self,
        tid: int,
        prev: int,
        kind: int,
        body: bytes,
        *,
        flags: int = PROPAGATABLE,
        undone: tuple[int, int] | None = None,
    ) -> int:
        """Add a record; returns its position, as later ones refer to it."""
        if self.gap:
            self.offset += self.gap()
        plain, _, both = HEADERS[self.release]
        size = (both if undone else plain) + len(body)
        head = self.pack("IHH", size, kind, flags)
        self.lsn += 1
        if self.release in ("v7", "v95"):
            head += self.position_bytes(prev) + self.tid_bytes(tid)
        elif self.release == "v97":
            head += self.pack("Q", prev) + self.tid_bytes(tid) + b"\0\0"
        else:
            self.flush += self.lsn % 5 == 0
            head += self.pack("QQQ", self.lsn, self.flush, prev) + self.tid_bytes(tid) + b"\0\0"
        if undone:
            stream = bytes(8) if self.release == "v10" else b""
            head += stream + b"".join(map(self.position_bytes, undone))
        record = head + body
        assert len(record) == size
        here = self.offset
        self.records.append(self.frame(here, size) + record)
        self.offset += size
        return here

    def frame(self, here: int, size: int) -> bytes:
        lsn = self.lsn if self.release == "v10" else here
        lri = self.pack("QQQQQQ", 1, self.flush, self.lsn, 2, 0, here)
        return {
            "raw": b"",
            "lsn6": self.position_bytes(lsn)[:6],
            "lsn8": self.pack("Q", lsn),
            "flt16": self.pack("QIi", lsn, size, 0),
            "flt16/6": self.position_bytes(lsn)[:6] + self.pack("HIi", 0, size, 0),
            "lri48": lri,
            "flt56": lri + self.pack("Ii", size, 0),
        }[self.framing]

    # rows

    def rid(self, rid: tuple[int, int]) -> bytes:
        page, slot = rid
        return self.pack("HI", slot, page) if self.later else self.pack("i", page << 8 | slot)

    def row(self, body: bytes, count: int, outer: int = NORMAL, inner: int = 1) -> bytes:
        return self.pack("BBHBBH", outer, 0, len(body) + 8, inner, 0, count) + body

    def pointer(self, rid: tuple[int, int]) -> bytes:
        body = self.rid(rid)
        return self.pack("BBH", POINTER, 0, len(body) + 4) + body

    def ids(self, function: int, ids: tuple[int, int]) -> bytes:
        return self.pack("BBHH", 1, function, *ids)

    def half(
        self,
        function: int,
        ids: tuple[int, int],
        rid: tuple[int, int],
        row: bytes,
        length: int | None = None,
        more: int = 0,
    ) -> bytes:
        length = len(row) if length is None else length
        made = self.ids(function, ids)
        if self.later:
            made += self.pack("HHH", 0, length, 900) + self.rid(rid)
            made += bytes(more) + self.pack("H", 4000) + row
        else:
            made += bytes(2) + self.rid(rid) + self.pack("HHH", length, 900, 4000) + row
        return made

    def code(self, operation: str) -> int:
        return ROW_CODES.get(self.release, LATER_ROW_CODES)[operation]

    def one(
        self,
        operation: str,
        ids: tuple[int, int],
        rid: tuple[int, int],
        row: bytes,
        empty_page: bool = False,
    ) -> bytes:
        if empty_page:
            # to an empty page: six octets more, the row at 26
            code = {INSERT: 165, DELETE: 164}[operation]
            head = self.ids(code, ids) + self.pack("HHH", 0, len(row), 900) + self.rid(rid)
            return head + bytes(6) + self.pack("H", 4000) + row
        return self.half(self.code(operation), ids, rid, row)

    def update(self, ids: tuple[int, int], rid: tuple[int, int], old: bytes, new: bytes) -> bytes:
        code = self.code(UPDATE)
        return self.half(code, ids, rid, old, len(new)) + self.half(code, ids, rid, new, len(old))

    def many(self, ids: tuple[int, int], rows: list[tuple[tuple[int, int], bytes]]) -> bytes:
        head = self.ids(167, ids) + self.pack(
            "HHHHHH", 0, len(rows), 0, sum(len(row) for _, row in rows), 0, 0
        )
        body = b"".join(self.rid(rid) + self.pack("H", len(row)) + row for rid, row in rows)
        return head[:14] + self.pack("H", len(body)) + head[16:] + self.pack("H", 0) + body

    def undo_many(self, ids: tuple[int, int], rids: list[tuple[int, int]]) -> bytes:
        head = self.ids(168, ids) + self.pack("HH", 0, len(rids)) + bytes(10)
        return head + b"".join(self.rid(rid) + bytes(2) for rid in rids)

    def undo(
        self,
        operation: str,
        ids: tuple[int, int],
        rid: tuple[int, int],
        row: bytes,
        code: int | None = None,
    ) -> bytes:
        code = code or UNDO_CODES[operation]
        if operation != INSERT:
            return self.half(code, ids, rid, row)
        made = self.ids(code, ids) + bytes(2)
        if self.later:
            return made + self.pack("HH", len(row), 900) + self.rid(rid)
        return made + self.rid(rid) + self.pack("HH", len(row), 900)

    # tables

    def dom(self, function: int, ids: tuple[int, int], more: int = 0) -> bytes:
        return self.pack("BBHHHHBB", 4, function, *ids, *ids, 0, 0) + bytes(more)

    def initialize(self, ids: tuple[int, int], columns: list[Column]) -> bytes:
        body = description(columns, self.order)
        gap = 4 if self.release == "v10" else 0
        return (
            self.ids(128, ids)
            + bytes(6)
            + self.pack("BBHII", 1, 0, 0, 0, 0)
            + bytes(56)
            + self.pack("I", 0)
            + bytes(gap)
            + self.pack("I", len(body))
            + body
        )

    def add_columns(
        self, ids: tuple[int, int], old: list[Column], new: list[Column], code: int = 102
    ) -> bytes:
        sets = b""
        for columns in (old, new):
            sets += descriptors(columns, self.order) + bytes(12 * len(columns))
        return self.ids(code, ids) + bytes(2) + self.pack("ii", len(old), len(new)) + sets

    # ends of units

    def commit(self, tid: int, prev: int, when: int, authid: str, kind: int | None = None) -> int:
        name = authid.encode()
        if self.release in ("v7", "v95"):
            body = self.pack("I", when) + name
        else:
            body = self.pack("QH", when, len(name)) + name
        at = self.write(tid, prev, kind or COMMITS[self.release], body)
        self.ends.append((self.lsn if self.release == "v10" else at, self.tid_bytes(tid)))
        return at

    def abort(self, tid: int, prev: int, authid: str) -> int:
        name = authid.encode()
        body = name if self.release in ("v7", "v95") else self.pack("H", len(name)) + name
        return self.write(tid, prev, 0x41, body)
