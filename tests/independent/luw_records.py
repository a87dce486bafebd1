"""Log records of Db2 LUW by the format notes: rows, headers, framings, and a catalog export.

Numbers of sections in comments are those of the notes on that format.
"""

from __future__ import annotations

import csv
import random
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Literal

from tests.independent.tables import Column, Place, Row, Table
from tests.independent.values import Value

Order = Literal["little", "big"]

#: Release -> the framings that it is handed out in (2).
FRAMINGS = {
    "v7": ("raw", "lsn6"),
    "v95": ("raw", "lsn6", "flt16/6"),
    "v97": ("raw", "lsn8", "flt16"),
    "v10": ("raw", "lsn8", "lri48", "flt56"),
}
#: Bytes in front of a record.
FRAME = {"raw": 0, "lsn6": 6, "lsn8": 8, "flt16": 16, "flt16/6": 16, "lri48": 48, "flt56": 56}
#: Release -> fields of the record's header: place, length, name (4).
HEADER = {
    "v7": ((0, 4, "length"), (4, 2, "type"), (6, 2, "flags"), (8, 6, "previous"), (14, 6, "tid")),
    "v97": (
        *((0, 4, "length"), (4, 2, "type"), (6, 2, "flags"), (8, 8, "previous"), (16, 6, "tid")),
        (22, 2, "pad"),
    ),
    "v10": (
        *((0, 4, "length"), (4, 2, "type"), (6, 2, "flags"), (8, 8, "lsn"), (16, 8, "flush")),
        *((24, 8, "previous"), (32, 6, "tid"), (38, 2, "stream")),
    ),
}
HEADER["v95"] = HEADER["v7"]
PLAIN = {"v7": 20, "v95": 20, "v97": 24, "v10": 40}
#: What a compensation record's header has more.
COMPENSATION = {"v7": 12, "v95": 12, "v97": 16, "v10": 24}
#: Bytes before the row of an insert or delete.
PREFIX = {"v7": 18, "v95": 20, "v97": 20, "v10": 20}

NORMAL, COMPENSATED, ABORT, REDO = 0x4E, 0x43, 0x41, 0x52
#: Kind of commit -> its record type up to 9.5, and later (14).
COMMITS = {
    "normal": (0x4D, 0x84),
    "heuristic": (0x59, 0x87),
    "coordinator": (0x63, 0x86),
    "subordinator": (0x73, 0x85),
    "pending": (0x45, 0x8A),
}
#: Flags of a record (4).
PROPAGATABLE, TEMPORARY = 2, 4
#: Bytes of the fixed part of types that have no length (12).
FIXED = {
    "SMALLINT": 2,
    "INTEGER": 4,
    "BIGINT": 8,
    "REAL": 4,
    "DOUBLE": 8,
    "DATE": 4,
    "TIME": 3,
    "VARCHAR": 4,
    "VARGRAPHIC": 4,
    "CLOB": 4,
    "VARBINARY": 4,
}
VARYING = {"VARCHAR", "VARGRAPHIC", "CLOB", "VARBINARY"}
NUMBERS = {"SMALLINT": "h", "INTEGER": "i", "BIGINT": "q", "REAL": "f", "DOUBLE": "d"}
#: Field types of table descriptions (11.3).
CODES = {
    "SMALLINT": 0,
    "INTEGER": 1,
    "DECIMAL": 2,
    "DOUBLE": 3,
    "REAL": 4,
    "BIGINT": 5,
    "CHAR": 0x100,
    "VARCHAR": 0x101,
    "DATE": 0x105,
    "TIME": 0x106,
    "TIMESTAMP": 0x107,
    "CLOB": 0x109,
    "BINARY": 0x110,
    "VARBINARY": 0x111,
    "GRAPHIC": 0x200,
    "VARGRAPHIC": 0x201,
}
INLINE = b"\x69\0\0\0"


def fixed_size(column: Column) -> int:
    if column.kind == "DECIMAL":
        return (column.length + 2) // 2
    if column.kind == "TIMESTAMP":
        return 7 + (column.scale + 1) // 2
    lengths = {"CHAR": 1, "BINARY": 1, "GRAPHIC": 2}
    if column.kind in lengths:
        return lengths[column.kind] * column.length
    return FIXED[column.kind]


@dataclass(frozen=True)
class Form:
    """How a log is written. ``gaps``: the log has records that were left out. ``odd``: the bytes
    below a null are anything, and signs of packed numbers too. ``base``: whether offsets of rows in
    short form count from their array, else from the data behind it. ``backwards``: values of
    varying length lie in the opposite order of their columns. ``streams``: members of a cluster,
    of which each counts its positions and its units for itself (10.1 and later). ``expanded``: the
    log reader made records longer than they are in the log. ``turned``: positions of 6 bytes lie
    in the other byte order."""

    release: str
    order: Order
    framing: str
    gaps: bool = False
    odd: bool = False
    base: bool = False
    backwards: bool = False
    streams: int = 1
    expanded: bool = False
    turned: bool = False

    @property
    def early(self) -> bool:
        """Whether headers and ends of units are those of releases 5 to 9.5."""
        return self.release in ("v7", "v95")

    @property
    def mark(self) -> str:
        """The byte order in the words of ``struct``."""
        return "<" if self.order == "little" else ">"

    def pack(self, form: str, *values: int | float) -> bytes:
        return struct.pack(self.mark + form, *values)

    def six(self, value: int) -> bytes:
        return value.to_bytes(6, self.order)

    def place(self, value: int) -> bytes:
        """A position of 6 bytes."""
        return self.six(value)[:: -1 if self.turned else 1]


@dataclass
class RowWriter:
    """Writes rows (10, 12)."""

    form: Form
    pick: random.Random
    #: Where the fixed parts of a table's columns lie, and how long they are together, if not one
    #: behind the other.
    places: dict[str, tuple[Sequence[int], int]] = field(default_factory=dict)

    def row(self, table: Table, row: Row, short: bool, outer: int, compressed: bool) -> bytes:
        """A row with its header; ``short``: it is older than the columns that were added."""
        columns = table.columns[: table.first] if short else table.columns
        inner, number, body = (
            self._compressed(columns, row)
            if compressed
            else self._formatted(columns, row, self.places.get(table.name))
        )
        head = bytes((outer, 0)) + self.form.pack("H", 8 + len(body))
        return head + bytes((inner, 0)) + self.form.pack("H", number) + body

    def pointer(self, place: Place) -> bytes:
        """What a row leaves behind that moved (17)."""
        pack = self.form.pack
        return bytes((2, 0)) + pack("H", 14) + bytes(2) + pack("HHI", 0, place[1], place[0])

    def _formatted(
        self, columns: Sequence[Column], row: Row, given: tuple[Sequence[int], int] | None
    ) -> tuple[int, int, bytes]:
        size = given[1] if given else sum(fixed_size(one) + one.nullable for one in columns)
        fixed, varying, places = b"", b"", dict[str, tuple[int, int]]()
        pairs = [pair for pair in zip(columns, row, strict=False) if pair[0].kind in VARYING]
        for column, value in reversed(pairs) if self.form.backwards else pairs:
            part = b"" if value is None else self.bytes_of(column, value)
            places[column.name] = size + len(varying), len(part)
            varying += part
        for column, value in zip(columns, row, strict=False):
            length = fixed_size(column)
            if value is None:
                below = self.pick.randbytes(length) if self.form.odd else bytes(length)
                fixed += below + b"\1"
                continue
            if column.kind in VARYING:
                fixed += self.form.pack("HH", *places[column.name])
            else:
                fixed += self.bytes_of(column, value)
            fixed += b"\0" if column.nullable else b""
        if given:
            fixed = self._placed(columns, fixed, *given)
        if len(fixed) != size:
            raise AssertionError(f"{len(fixed)} bytes of {size} for {row}")
        return 1, size, fixed + varying

    def _placed(
        self, columns: Sequence[Column], parts: bytes, offsets: Sequence[int], size: int
    ) -> bytes:
        """The fixed parts at the offsets that a description gives them (11.3)."""
        found = bytearray(size)
        for column, at in zip(columns, offsets, strict=True):
            length = fixed_size(column) + column.nullable
            found[at : at + length], parts = parts[:length], parts[length:]
        return bytes(found)

    def _compressed(self, columns: Sequence[Column], row: Row) -> tuple[int, int, bytes]:
        """VALUE COMPRESSION (10.3): offsets, then values or one byte in their place."""
        offsets, data = list[int](), b""
        start = 2 * (len(columns) + 1) if self.form.base else 0
        for column, value in zip(columns, row, strict=False):
            at = start + len(data)
            if value is None:
                offsets.append(at | 0x8000)
                data += b"\1"
            elif _is_default(column, value) and self.pick.random() < 0.7:
                offsets.append(at | 0x8000)
                data += b"\x80"
            else:
                offsets.append(at)
                data += self.bytes_of(column, value)
        offsets.append(start + len(data))
        return 2, len(columns), self.form.pack(f"{len(offsets)}H", *offsets) + data

    def bytes_of(self, column: Column, value: Value) -> bytes:
        """A value that is not null, without offset and length."""
        kind = column.kind
        if isinstance(value, Decimal):
            digits = format(value, "f").replace(".", "").replace("-", "")
            minus, plus = ("DB", "CCAEF") if self.form.odd else ("D", "C")
            sign = self.pick.choice(minus if value.is_signed() and value else plus)
            size = 2 * fixed_size(column) - 1
            return bytes.fromhex(digits[-size:].rjust(size, "0") + sign)
        if isinstance(value, int | float):
            return self.form.pack(NUMBERS[kind], value)
        if isinstance(value, bytes):
            return value
        if value is None:
            raise AssertionError(column.name)
        if kind in ("DATE", "TIME", "TIMESTAMP"):
            digits = "".join(letter for letter in value if letter.isdigit())
            return bytes.fromhex(digits + "0" * (len(digits) % 2))
        if "GRAPHIC" in kind:
            blanks = column.length - len(value.encode("utf-16-be")) // 2
            return (value + " " * (blanks if kind == "GRAPHIC" else 0)).encode("utf-16-be")
        part = value.encode()
        if kind == "CLOB":
            return INLINE + part
        return part.ljust(column.length) if kind == "CHAR" else part


def _is_default(column: Column, value: Value) -> bool:
    """Whether a value is the system's default: zero, or no text."""
    if isinstance(value, float):
        return value == 0 and not str(value).startswith("-")
    if isinstance(value, Decimal | int):
        return value == 0
    return value == "" and column.kind in ("CHAR", "VARCHAR")


@dataclass
class Record:
    """A record with its framing; ``what``: its function or class, for messages."""

    framing: bytes
    body: bytes
    what: str
    stream: int = 0

    @property
    def bytes(self) -> bytes:
        return self.framing + self.body


@dataclass
class Log:
    """The records of a log as they are written. ``next`` is the position of the next one, by
    stream."""

    form: Form
    pick: random.Random
    records: list[Record] = field(default_factory=list)
    next: dict[int, int] = field(default_factory=dict)
    sequence: int = 0x1000
    time: int = 946_684_798
    previous: dict[int, int] = field(default_factory=dict)

    def put(
        self,
        kind: int,
        unit: int,
        payload: bytes,
        what: str,
        undone: tuple[int, int] | None = None,
        flags: int = 2,
    ) -> int:
        """Write a record and say where it lies. ``undone``: what a compensation names, the record
        before the one that it takes back, and that one."""
        form, previous = self.form, self.previous.get(unit, 0)
        number, stream = divmod(unit, form.streams)
        here = self.next.setdefault(stream, 3000 + 70_000 * stream)
        pack, six = form.pack, form.six
        if form.early:
            head = pack("HH", kind, flags) + form.place(previous) + six(unit)
            head += b"".join(map(form.place, undone)) if undone else b""
        elif form.release == "v97":
            head = pack("HHQ", kind, flags, previous) + six(unit) + bytes(2)
            head += pack("QQ", *undone) if undone else b""
        else:
            flush = 0x55 + len(self.records) // 1000
            head = pack("HHQQQ", kind, flags, self.sequence, flush, previous) + six(number)
            head += pack("H", stream)
            head += pack("H", stream) + bytes(6) + pack("QQ", *undone) if undone else b""
        size = 4 + len(head) + len(payload)
        body = pack("I", size) + head + payload
        self.records.append(Record(self._framing(size, stream), body, what, stream))
        self.previous[unit] = here
        self.next[stream] += size
        if form.expanded and self.pick.random() < 0.5:
            self.next[stream] -= self.pick.randrange(size // 2)
        self.sequence += 1
        if form.gaps and (self.pick.random() < 0.5 or len(self.records) < 4):  # one may be a loss
            self.next[stream] += self.pick.choice((60, 100, 1000, 12_345))
            self.sequence += self.pick.randint(1, 5)
        return here

    def _framing(self, size: int, stream: int) -> bytes:
        pack, flush = self.form.pack, 0x55 + len(self.records) // 1000
        here = self.next[stream]
        places = (1, flush, self.sequence, 2, stream, here)
        match self.form.framing:
            case "raw":
                return b""
            case "lsn6":
                return self.form.place(here)
            case "lsn8":
                return pack("Q", self.sequence if self.form.release == "v10" else here)
            case "flt16":
                return pack("QIi", here, size, 0)
            case "flt16/6":
                return self.form.place(here) + pack("HIi", 0, size, 0)
            case "lri48":
                return pack("6Q", *places)
            case _:
                return pack("6QIi", *places, size, 0)

    # -- rows

    def half(self, function: int, table: Table, place: Place, length: int, row: bytes) -> bytes:
        """A row with what stands before it (9.2, 9.4, 9.5)."""
        pack, at = self.form.pack, (4000 + place[1] * 10) & 0xFFFF
        head = bytes((1, function)) + pack("HH", *table.number) + bytes(2)
        if self.form.release == "v7":
            return head + self.rid(place) + pack("HHH", length, 3840, at) + row
        head += pack("HH", length, 3840) + self.rid(place) + pack("H", at)
        if function in (164, 165, 166):  # of pages that are or become empty: the row lies at 26
            head += bytes(4) + pack("H", at)
        return head + row

    def rid(self, place: Place) -> bytes:
        page, slot = place
        if self.form.release == "v7":
            return self.form.pack("i", page << 8 | slot)
        return self.form.pack("HI", slot, page)

    def _one_of(self, early: int, late: int, empty: int, place: Place) -> int:
        if self.form.release == "v7":
            return early
        return empty if place[1] % 2 and self.pick.random() < 0.5 else late

    def insert(
        self, unit: int, table: Table, place: Place, row: bytes, flags: int = PROPAGATABLE
    ) -> int:
        function = self._one_of(118, 162, 165, place)
        payload = self.half(function, table, place, len(row), row)
        return self.put(NORMAL, unit, payload, f"insert {function}", flags=flags)

    def delete(self, unit: int, table: Table, place: Place, row: bytes) -> int:
        function = self._one_of(106, 161, 164, place)
        payload = self.half(function, table, place, len(row), row)
        return self.put(NORMAL, unit, payload, f"delete {function}")

    def update(self, unit: int, table: Table, place: Place, old: bytes, new: bytes) -> int:
        function = 120 if self.form.release == "v7" else 163
        payload = self.half(function, table, place, len(new), old)
        payload += self.half(function, table, place, len(old), new)
        return self.put(NORMAL, unit, payload, f"update {function}")

    def inserts(self, unit: int, table: Table, rows: Sequence[tuple[Place, bytes]]) -> int:
        """Several rows in one record (167)."""
        pack = self.form.pack
        parts = [self.rid(place) + pack("H", len(row)) + row for place, row in rows]
        sizes = sum(len(row) for _, row in rows), sum(map(len, parts))
        payload = bytes((1, 167)) + pack("HH", *table.number) + bytes(2)
        payload += pack("HHHH", len(rows), 0, *sizes) + bytes(4) + b"".join(parts)
        return self.put(NORMAL, unit, payload, "inserts 167")

    def no_inserts(
        self, unit: int, table: Table, places: Sequence[Place], undone: tuple[int, int]
    ) -> None:
        pack = self.form.pack
        payload = bytes((1, 168)) + pack("HH", *table.number) + bytes(2)
        payload += pack("H", len(places)) + bytes(10)
        payload += b"".join(self.rid(place) + pack("H", 30) for place in places)
        self.put(COMPENSATED, unit, payload, "no inserts 168", undone)

    def no_insert(
        self, unit: int, table: Table, place: Place, length: int, undone: tuple[int, int]
    ) -> None:
        """A compensation has no row where it takes back an insert (9.3)."""
        pack, function = self.form.pack, self._one_of(110, 110, 131, place)
        head = bytes((1, function)) + pack("HH", *table.number) + bytes(2)
        sizes = pack("HH", length, 3886)
        early = self.form.release == "v7"
        payload = head + (self.rid(place) + sizes if early else sizes + self.rid(place))
        self.put(COMPENSATED, unit, payload, f"no insert {function}", undone)

    def no_delete(
        self, unit: int, table: Table, place: Place, row: bytes, undone: tuple[int, int]
    ) -> None:
        function = self._one_of(111, 111, 166, place)
        payload = self.half(function, table, place, len(row), row)
        self.put(COMPENSATED, unit, payload, f"no delete {function}", undone)

    def no_update(
        self, unit: int, table: Table, place: Place, row: bytes, undone: tuple[int, int]
    ) -> None:
        payload = self.half(112, table, place, len(row), row)
        self.put(COMPENSATED, unit, payload, "no update 112", undone)

    # -- ends of units, tables (14, 9.6)

    def commit(self, unit: int, user: bytes = b"DB2INST1", kind: str | None = None) -> None:
        self.time += self.pick.choice((0, 0, 1, 5))
        early, pack = self.form.early, self.form.pack
        kind = kind or self.pick.choice(("normal", "normal", "normal", "heuristic"))
        head = pack("I" if early else "Q", self.time)
        who = user if early else pack("H", len(user)) + user
        if kind in ("coordinator", "subordinator"):
            head += self.pick.randbytes(20)
        if kind == "coordinator":
            nodes = self.pick.randrange(1, 40)
            head += pack("H", nodes) + self.pick.randbytes(nodes // 8 + 1)
        if kind == "pending":
            who = user.ljust(9) if early else who
            who += self.pick.randbytes(self.pick.randrange(12, 40))
        self.put(COMMITS[kind][not early], unit, head + who, "commit")

    def abort(self, unit: int, user: bytes = b"DB2INST1") -> None:
        length = b"" if self.form.early else self.form.pack("H", len(user))
        self.put(ABORT, unit, length + user, "abort")

    def table(self, unit: int, table: Table, offsets: Sequence[int] = ()) -> None:
        """Initialize a table: its columns (9.6, 11); ``offsets`` where they lie in rows, if not
        one behind the other."""
        pack = self.form.pack
        columns = b"\1\0" + pack("H", len(table.columns)) + self._described(table.columns, offsets)
        payload = (
            bytes((1, 128)) + pack("HH", *table.number) + self.form.six(self.next.get(0, 3000))
        )
        payload += bytes(2) + pack("HIi", 0, 0, 1) + bytes(60)
        payload += bytes(4) if self.form.release == "v10" else b""
        self.put(REDO, unit, payload + pack("I", len(columns)) + columns, "table 128")

    def _described(self, columns: Sequence[Column], offsets: Sequence[int] = ()) -> bytes:
        """Descriptors of columns, and of large objects behind them (11)."""
        pack, found, at, large = self.form.pack, b"", 0, b""
        for number, column in enumerate(columns):
            length = pack("H", column.length or fixed_size(column))
            if column.kind == "DECIMAL":
                length = bytes((column.length, column.scale))
            elif column.kind == "TIMESTAMP":
                length = pack("H", fixed_size(column))
            elif "GRAPHIC" in column.kind:  # bytes, as far as anybody knows (27.4)
                length = pack("H", 2 * column.length)
            elif column.kind == "CLOB":
                length, large = bytes(2), large + pack("III", column.length, 0, 1)
            place = offsets[number] if offsets else at
            found += pack("H", CODES[column.kind]) + length
            found += pack("HH", (1 if column.nullable else 2) | column.flags, place)
            at += fixed_size(column) + column.nullable
        return found + large

    def create(self, unit: int, table: Table, undone: tuple[int, int] | None = None) -> int:
        """A table is made, or that is taken back (101, 130)."""
        return self._object(130 if undone else 101, unit, table, undone, 56)

    def drop(self, unit: int, table: Table, undone: tuple[int, int] | None = None) -> int:
        """A table goes, or that is taken back (4, 5)."""
        return self._object(5 if undone else 4, unit, table, undone)

    def _object(
        self,
        function: int,
        unit: int,
        table: Table,
        undone: tuple[int, int] | None,
        more: int = 0,
    ) -> int:
        pack = self.form.pack
        payload = bytes((4, function)) + pack("HHHH", *table.number, *table.number) + bytes(4)
        kind = COMPENSATED if undone else NORMAL
        return self.put(kind, unit, payload + bytes(more), f"object {function}", undone)

    def columns(
        self,
        unit: int,
        table: Table,
        old: Sequence[Column],
        new: Sequence[Column],
        undone: tuple[int, int] | None = None,
    ) -> int:
        """Columns are added, or that is taken back (102, 104), as 7 logs it."""
        pack, function = self.form.pack, 104 if undone else 102
        payload = bytes((1, function)) + pack("HH", *table.number) + bytes(2)
        payload += pack("ii", len(old), len(new))
        for columns in (old, new):
            payload += self._described(columns) + bytes(12 * len(columns))
        kind = COMPENSATED if undone else NORMAL
        return self.put(kind, unit, payload, f"columns {function}", undone)

    def statement(
        self, unit: int, text: str, schema: str, undone: tuple[int, int] | None = None
    ) -> int:
        """A statement of DDL, or that it is taken back (15: relation manager, 4, 5)."""
        raw, owner, function = text.encode(), schema.encode(), 5 if undone else 4
        payload = bytes((11, function)) + bytes(6)
        payload += self.form.pack("HHHHIIHH", 1, 1, 0, 1, 0, len(raw), 1, len(owner)) + owner + raw
        kind = COMPENSATED if undone else NORMAL
        return self.put(kind, unit, payload, f"statement {function}", undone)

    def alter(self, unit: int, table: Table) -> int:
        """A column gets another length, and the record does not say how (113)."""
        payload = bytes((1, 113)) + self.form.pack("HH", *table.number) + bytes(20)
        return self.put(NORMAL, unit, payload, "alter 113")


def structure(log: Log) -> Iterator[tuple[int, int, int, str]]:
    """Places of a log's structure, no value of a row among them: number of the record, place in
    it, length, name."""
    form = log.form
    frame, prefix = FRAME[form.framing], PREFIX[form.release]
    for number, record in enumerate(log.records):
        if frame:
            yield number, 0, frame, "framing"
        for at, length, name in HEADER[form.release]:
            yield number, frame + at, length, name
        at = frame + PLAIN[form.release]
        end = len(record.bytes)
        if record.what.startswith("no "):
            yield number, at, COMPENSATION[form.release], "undone"
            at += COMPENSATION[form.release]
        function = record.what.split()[-1]
        if not function.isdigit():
            yield number, at, end - at, record.what
            continue
        if function in ("167", "168", "128", "4", "101", "102", "113"):
            continue
        before = prefix + (6 if function in ("164", "165", "166") else 0)
        yield number, at, min(before, end - at), "prefix"
        if end - at - before >= 8:
            yield number, at + before, 8, "row header"
        if record.what.startswith("update"):
            old = form.pack("H", 0)
            size = record.bytes[at + prefix + 2 : at + prefix + 2 + len(old)]
            second = at + prefix + int.from_bytes(size, form.order)
            yield number, second, prefix, "second prefix"
            yield number, second + prefix, 8, "second row header"


# -- the catalog export (20)

_NAMES = (
    *("TBSPACEID", "TABLEID", "TABSCHEMA", "TABNAME", "DATACAPTURE", "COLNO", "COLNAME"),
    *("TYPENAME", "LENGTH", "SCALE", "NULLS", "CODEPAGE", "KEYSEQ", "GENERATED", "IDENTITY"),
    "DEFAULT",
)


def write_catalog(tables: Sequence[Table], path: Path, defaults: bool = True) -> None:
    """``defaults``: whether it was exported with them."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        last = len(_NAMES) if defaults else -1
        writer.writerow(_NAMES[:last])
        for table in tables:
            for number, column in enumerate(table.columns):
                length = column.length or fixed_size(column)
                if column.kind == "TIMESTAMP":
                    length = fixed_size(column)
                page = 1208 if column.kind in ("CHAR", "VARCHAR", "CLOB") else 0
                page = 1200 if "GRAPHIC" in column.kind else 0 if column.bit else page
                key = table.key.index(number) + 1 if number in table.key else ""
                name = "CHARACTER" if column.kind == "CHAR" else column.kind
                row = [*table.number, table.schema, table.name, "Y", number, column.name, name]
                row += [
                    length,
                    column.scale,
                    "Y" if column.nullable else "N",
                    page,
                    key,
                    "",
                    "N",
                    column.default,
                ]
                writer.writerow(row[:last])
