"""Builds Db2 LUW logs for tests: an encoder on its own feet, written from the format notes with
``struct``, sharing nothing with the reader.

A :class:`LogBuilder` makes records of one dialect and byte order; a :class:`Transaction` makes the
records of one transaction and remembers what is needed to take them back.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

Row = Sequence[Any]

#: Header bytes (plain, compensation, propagatable compensation) and commit type by dialect.
SIZES = {"v7": (20, 26, 32), "v95": (20, 26, 32), "v97": (24, 32, 40), "v10": (40, 56, 64)}
TYPE_CODES = {
    "SMALLINT": 0, "INTEGER": 1, "DECIMAL": 2, "DOUBLE": 3, "REAL": 4, "BIGINT": 5,
    "CHARACTER": 0x100, "VARCHAR": 0x101, "LONG VARCHAR": 0x104,
    "DATE": 0x105, "TIME": 0x106, "TIMESTAMP": 0x107, "BLOB": 0x108, "CLOB": 0x109, "BINARY": 0x110,
    "VARBINARY": 0x111, "GRAPHIC": 0x200,
    "VARGRAPHIC": 0x201, "LONG VARGRAPHIC": 0x202, "DBCLOB": 0x203, "DATALINK": 0x10C, "XML": 0x112,
}  # fmt: skip
VARYING = (
    "VARCHAR",
    "LONG VARCHAR",
    "VARBINARY",
    "VARGRAPHIC",
    "LONG VARGRAPHIC",
    "BLOB",
    "CLOB",
    "DBCLOB",
    "DATALINK",
    "XML",
)
DEFAULT = object()


@dataclass(frozen=True)
class Col:
    name: str
    type: str
    length: int = 0
    scale: int = 0
    null: bool = False
    page: int = 1208
    key: int = 0
    #: What the catalog says of its default (None: nothing), and bits of its null flags.
    default: str | None = None
    flags: int = 0

    @property
    def fixed(self) -> int:
        sizes = {
            "SMALLINT": 2,
            "INTEGER": 4,
            "BIGINT": 8,
            "REAL": 4,
            "DOUBLE": 8,
            "DATE": 4,
            "TIME": 3,
        }
        if self.type in VARYING:
            return 4
        if self.type == "DECIMAL":
            return (self.length + 2) // 2
        if self.type == "TIMESTAMP":
            return 7 + (self.scale + 1) // 2
        return 2 * self.length if self.type == "GRAPHIC" else sizes.get(self.type, self.length)

    @property
    def catalog_length(self) -> int:
        return (
            self.fixed
            if self.type
            in (
                "SMALLINT",
                "INTEGER",
                "BIGINT",
                "REAL",
                "DOUBLE",
                "DATE",
                "TIME",
                "TIMESTAMP",
            )
            else self.length
        )

    def encode(self, value: Any, big: bool) -> bytes:
        order = ">" if big else "<"
        codes = {"SMALLINT": "h", "INTEGER": "i", "BIGINT": "q", "REAL": "f", "DOUBLE": "d"}
        if self.type in codes:
            return struct.pack(order + codes[self.type], value)
        if self.type == "DECIMAL":
            digits = str(abs(int(Decimal(value).scaleb(self.scale)))).zfill(2 * self.fixed - 1)
            return bytes.fromhex(digits + ("D" if Decimal(value) < 0 else "C"))
        if self.type in ("DATE", "TIME", "TIMESTAMP"):
            digits = "".join(character for character in value if character.isdigit())
            return bytes.fromhex(digits.ljust(2 * self.fixed, "0"))
        if self.type in ("BLOB", "CLOB", "DBCLOB"):
            raw = (
                value
                if isinstance(value, bytes)
                else value.encode("utf-16-be" if self.type == "DBCLOB" else "utf-8")
            )
            return b"\x69\0\0\0" + raw
        if isinstance(value, bytes):
            return value.ljust(self.length, b"\0") if self.type == "BINARY" else value
        if self.type in ("GRAPHIC", "VARGRAPHIC"):
            return (
                str(value).ljust(self.length if self.type == "GRAPHIC" else 0).encode("utf-16-be")
            )
        raw = str(value).encode("utf-8")
        return raw.ljust(self.length) if self.type == "CHARACTER" else raw


@dataclass(frozen=True)
class Tab:
    space: int
    id: int
    schema: str
    name: str
    columns: tuple[Col, ...]
    compressed: bool = False

    @property
    def fixed(self) -> int:
        return sum(column.fixed + column.null for column in self.columns)

    def row(self, values: Row, big: bool, outer: int = 0) -> bytes:
        body = self._compressed(values, big) if self.compressed else self._formatted(values, big)
        count = len(self.columns) if self.compressed else self.fixed
        order = ">" if big else "<"
        return (
            struct.pack(
                f"{order}BBHBBH", outer, 0, 8 + len(body), 2 if self.compressed else 1, 0, count
            )
            + body
        )

    def _formatted(self, values: Row, big: bool) -> bytes:
        fixed, varying = b"", b""
        for column, value in zip(self.columns, values, strict=True):
            if value is None:
                fixed += bytes(column.fixed) + b"\1"
                continue
            raw = column.encode(value, big)
            if column.type in VARYING:
                place = self.fixed + len(varying) if raw else 0
                fixed += struct.pack(">HH" if big else "<HH", place, len(raw))
                varying += raw
            else:
                fixed += raw
            fixed += b"\0" if column.null else b""
        return fixed + varying

    def _compressed(self, values: Row, big: bool) -> bytes:
        spans = [
            b"\1" if value is None else b"\x80" if value is DEFAULT else column.encode(value, big)
            for column, value in zip(self.columns, values, strict=True)
        ]
        offsets, place = [], 2 * (len(spans) + 1)
        for span, value in zip(spans, values, strict=True):
            offsets.append(place | (0x8000 if value is None or value is DEFAULT else 0))
            place += len(span)
        return struct.pack(f"{'>' if big else '<'}{len(spans) + 1}H", *offsets, place) + b"".join(
            spans
        )

    def descriptors(self, big: bool, count: int | None = None) -> bytes:
        out, offset = b"", 0
        for column in self.columns[:count]:
            length = (
                bytes([column.length, column.scale])
                if column.type == "DECIMAL"
                else struct.pack(">H" if big else "<H", column.catalog_length)
            )
            order = ">" if big else "<"
            out += (
                struct.pack(order + "H", TYPE_CODES[column.type])
                + length
                + struct.pack(order + "HH", (1 if column.null else 2) | column.flags, offset)
            )
            offset += column.fixed + column.null
        return out


def catalog_csv(tables: Sequence[Tab]) -> str:
    lines = [
        "TBSPACEID,TABLEID,TABSCHEMA,TABNAME,DATACAPTURE,COLNO,COLNAME,TYPENAME,LENGTH,SCALE,NULLS,CODEPAGE,KEYSEQ,GENERATED,IDENTITY"
    ]
    said = any(column.default is not None for table in tables for column in table.columns)
    lines[0] += ",DEFAULT" if said else ""
    for table in tables:
        for number, column in enumerate(table.columns):
            text = column.type in (
                "CHARACTER",
                "VARCHAR",
                "CLOB",
                "LONG VARCHAR",
                "GRAPHIC",
                "VARGRAPHIC",
                "DBCLOB",
            )
            lines.append(
                f"{table.space},{table.id},{table.schema} "
                f" ,{table.name},Y,{number},{column.name},{column.type},{column.catalog_length},"
                f"{column.scale},{'Y' if column.null else 'N'},{column.page if text else 0},"
                f"{column.key or ''},,N{',' + (column.default or '') if said else ''}"
            )
    return "\n".join(lines) + "\n"


@dataclass
class Logged:
    """A record as it was written: its position, and what takes it back."""

    lsn: int
    lso: int
    before: int
    function: int
    table: Tab | None
    rid: tuple[int, int]
    row: bytes = b""


#: Tables that many tests use.
COLUMNS = (
    Col("ID", "INTEGER", key=1),
    Col("NAME", "VARCHAR", 60, null=True),
    Col("PRICE", "DECIMAL", 8, 3, null=True),
    Col("BORN", "DATE"),
    Col("AT", "TIMESTAMP", scale=6, null=True),
    Col("CODE", "CHARACTER", 4),
    Col("SHARE", "DOUBLE"),
    Col("NOTE", "VARCHAR", 60),
)
ADDED = (Col("MORE", "BIGINT", null=True), Col("WHY", "VARCHAR", 30, null=True))
PLAIN = Tab(3, 8, "APP", "PLAIN", COLUMNS)
LATE = Tab(3, 300, "APP", "LATE", COLUMNS[:4])


@dataclass
class LogBuilder:
    dialect: str = "v97"
    big: bool = False
    framing: str = "flt16"
    lsn: int = 0xBB8
    next_tid: int = 0xA1F
    free: int = 3840
    records: list[bytes] = field(default_factory=list)

    @property
    def order(self) -> str:
        return ">" if self.big else "<"

    def pack(self, code: str, *values: Any) -> bytes:
        return struct.pack(self.order + code, *values)

    def six(self, value: int) -> bytes:
        return value.to_bytes(6, "big" if self.big else "little")

    def begin(self, stream: int = 0) -> Transaction:
        transaction = Transaction(self, self.next_tid, stream)
        self.next_tid += 1
        return transaction

    def add(
        self,
        kind: int,
        flags: int,
        tid: int,
        stream: int,
        previous: int,
        extra: bytes,
        payload: bytes,
    ) -> tuple[int, int]:
        """Append a record; its (LSN, LSO)."""
        size = SIZES[self.dialect][0] + len(extra) + len(payload)
        lsn, lso = self.lsn, 0x100000 + self.lsn
        if self.dialect in ("v7", "v95"):
            header = self.pack("IHH", size, kind, flags) + self.six(previous) + self.six(tid)
        elif self.dialect == "v97":
            header = self.pack("IHHQ", size, kind, flags, previous) + self.six(tid) + b"\0\0"
        else:
            header = (
                self.pack("IHHQQQ", size, kind, flags, lsn, 0x55, previous)
                + self.six(tid)
                + self.pack("H", stream)
            )
        self.records.append(self.frame(lsn, lso, stream, size) + header + extra + payload)
        self.lsn += size
        return lsn, lso

    def frame(self, lsn: int, lso: int, stream: int, size: int) -> bytes:
        lri = self.pack("QQQ", 1, 0x55, lsn) + self.pack("QQQ", 2, stream, lso)
        words: dict[str, Callable[[], bytes]] = {
            "raw": lambda: b"",
            "lsn6": lambda: self.six(lsn),
            "lsn8": lambda: self.pack("Q", lsn),
            "flt16": lambda: self.pack("QIi", lsn, size, 0),
            "flt16/6": lambda: self.six(lsn) + b"\0\0" + self.pack("Ii", size, 0),
            "lri48": lambda: lri,
            "flt56": lambda: lri + self.pack("Ii", size, 0),
        }
        return words[self.framing]()

    def bytes(self) -> bytes:
        return b"".join(self.records)


@dataclass
class Transaction:
    log: LogBuilder
    tid: int
    stream: int
    previous: int = 0
    written: list[Logged] = field(default_factory=list)

    @property
    def old(self) -> bool:
        return self.log.dialect == "v7"

    def add(
        self, kind: int, payload: bytes, extra: bytes = b"", flags: int = 2
    ) -> tuple[int, int, int]:
        """Append a record; (its LSN, its LSO, the position of the record before it)."""
        before = self.previous
        positions = self.log.add(kind, flags, self.tid, self.stream, self.previous, extra, payload)
        self.previous = positions[1] if self.log.dialect == "v10" else positions[0]
        return *positions, before

    # -- rows
    # ---------------------------------------------------------------------------------------------

    def rid(self, rid: tuple[int, int]) -> bytes:
        page, slot = rid
        return self.log.pack("I", page << 8 | slot) if self.old else self.log.pack("HI", slot, page)

    def prefix(
        self, function: int, table: Tab, rid: tuple[int, int], length: int, flags: int = 0
    ) -> bytes:
        head = bytes([1, function]) + self.log.pack("HH", table.space, table.id)
        if self.old:
            return (
                head + bytes(2) + self.rid(rid) + self.log.pack("HHH", length, self.log.free, 4000)
            )
        return (
            head
            + self.log.pack("HHH", flags, length, self.log.free)
            + self.rid(rid)
            + self.log.pack("H", 4000)
        )

    def one(
        self, function: int, table: Tab, rid: tuple[int, int], row: bytes, flags: int = 0
    ) -> Logged:
        positions = self.add(0x4E, self.prefix(function, table, rid, len(row), flags) + row)
        return self.remember(Logged(*positions, function, table, rid, row))

    def remember(self, logged: Logged) -> Logged:
        self.written.append(logged)
        return logged

    def insert(
        self, table: Tab, values: Row, rid: tuple[int, int], outer: int = 0, flags: int = 0
    ) -> Logged:
        return self.one(
            118 if self.old else 162, table, rid, table.row(values, self.log.big, outer), flags
        )

    def delete(
        self, table: Tab, values: Row, rid: tuple[int, int], outer: int = 0, flags: int = 0
    ) -> Logged:
        return self.one(
            106 if self.old else 161, table, rid, table.row(values, self.log.big, outer), flags
        )

    def delete_pointer(self, table: Tab, rid: tuple[int, int]) -> Logged:
        return self.one(106 if self.old else 161, table, rid, self.pointer())

    def update(
        self,
        table: Tab,
        before: Row | bytes,
        after: Row | bytes,
        rid: tuple[int, int],
        outer: int = 0,
    ) -> Logged:
        old, new = (
            side if isinstance(side, bytes) else table.row(side, self.log.big, outer)
            for side in (before, after)
        )
        function = 120 if self.old else 163
        halves = (
            self.prefix(function, table, rid, len(new))
            + old
            + self.prefix(function, table, rid, len(old))
            + new
        )
        positions = self.add(0x4E, halves)
        return self.remember(Logged(*positions, function, table, rid, old))

    def pointer(self) -> bytes:
        return self.log.pack("BBHHH", 2, 0, 8, 0, 0)

    def undo(self, logged: Logged, named: bool = True) -> None:
        """The compensation record of a change of this transaction."""
        function = {118: 110, 162: 110, 106: 111, 161: 111, 120: 112, 163: 112, 102: 104}[
            logged.function
        ]
        table = logged.table
        assert table is not None
        if function == 110:
            head = bytes([1, 110]) + self.log.pack("HH", table.space, table.id) + bytes(2)
            sizes = self.log.pack("HH", len(logged.row), self.log.free + len(logged.row))
            payload = head + (
                self.rid(logged.rid) + sizes if self.old else sizes + self.rid(logged.rid)
            )
        elif function == 104:
            payload = bytes([1, 104]) + self.log.pack("HH", table.space, table.id) + bytes(10)
        else:
            payload = self.prefix(function, table, logged.rid, len(logged.row)) + logged.row
        at = logged.lso if self.log.dialect == "v10" else logged.lsn
        self.add(0x43, payload, self.compensation(at if named else 0, logged.before))
        self.written.remove(logged)

    def compensation(self, at: int, before: int) -> bytes:
        if self.log.dialect in ("v7", "v95"):
            return self.log.six(before) + self.log.six(at)
        if self.log.dialect == "v97":
            return self.log.pack("QQ", before, at)
        return self.log.pack("H", self.stream) + bytes(6) + self.log.pack("QQ", before, at)

    def rollback_to(self, mark: int, named: bool = True) -> None:
        """Take back all changes but the first ``mark``, newest first."""
        while len(self.written) > mark:
            self.undo(self.written[-1], named)

    # -- structure
    # ---------------------------------------------------------------------------------------------

    def dms(self, function: int, table: Tab, rest: bytes, kind: int = 0x4E) -> Logged:
        positions = self.add(
            kind, bytes([1, function]) + self.log.pack("HH", table.space, table.id) + rest
        )
        return Logged(*positions, function, table, (0, 0))

    def dom(
        self, function: int, table: Tab, rest: bytes, kind: int = 0x4E, extra: bytes = b""
    ) -> None:
        self.add(
            kind,
            bytes([4, function])
            + self.log.pack("HHHH", table.space, table.id + 1000, table.space, table.id)
            + bytes(2)
            + rest,
            extra,
        )

    def create(self, table: Tab) -> None:
        self.dom(101, table, bytes(56))
        array = table.descriptors(self.log.big)
        lobs = sum(column.type in ("BLOB", "CLOB", "DBCLOB") for column in table.columns)
        description = b"\0\0" + self.log.pack("H", len(table.columns)) + array + bytes(12 * lobs)
        if self.log.dialect == "v10":
            head = self.log.six(self.log.lsn) + bytes(76) + self.log.pack("I", len(description))
        else:
            head = (
                self.log.six(self.log.lsn)
                + b"\1"
                + bytes(71)
                + self.log.pack("I", len(description))
            )
        self.dms(128, table, head + description, 0x52)

    def undo_create(self, table: Tab) -> None:
        self.dom(130, table, bytes(56), 0x43, self.compensation(0, self.previous))

    def add_columns(self, table: Tab, old: int) -> Logged:
        """``table`` has the columns after the change, of which the first ``old`` were there
        before."""
        new = len(table.columns)
        arrays = (
            table.descriptors(self.log.big, old)
            + bytes(12 * old)
            + table.descriptors(self.log.big)
            + bytes(12 * new)
        )
        return self.remember(
            self.dms(102, table, bytes(2) + self.log.pack("ii", old, new) + arrays)
        )

    def drop(self, table: Tab) -> None:
        self.dom(4, table, bytes(56))

    def truncate(self, table: Tab) -> None:
        self.dom(11, table, bytes(20), 0x52)

    def reorg(self, table: Tab) -> None:
        self.dom(35, table, bytes(252) + self.log.pack("HH", 1, 0))

    def index(self, table: Tab, create: bool) -> None:
        self.dom(2 if create else 3, table, bytes(2) + self.log.pack("HI", 3, 77), 0x55)

    def attribute(self, table: Tab, mask: int, values: int) -> None:
        self.dms(
            124,
            table,
            (
                bytes(2) + self.log.pack("ii", mask, values)
                if self.old
                else self.log.pack("QQ", mask, values)
            ),
        )

    def statement(self, text: str, schema: str = "S", undo: bool = False, cut: int = 0) -> None:
        """DDL as the relation manager logs it, its first ``cut`` bytes in a record before."""
        raw, owner = text.encode(), schema.encode()
        for piece, left in [(raw[:cut], len(raw) - cut)] * (cut > 0) + [(raw[cut:], 0)]:
            head = bytes([11, 5 if undo else 4]) + bytes(6)
            head += self.log.pack("HHHHIIHH", 1, 1, 0, 1, left, len(piece), 1, len(owner))
            extra = self.compensation(0, self.previous) if undo else b""
            self.add(0x43 if undo else 0x4E, head + owner + piece, extra)

    # -- ends
    # ---------------------------------------------------------------------------------------------

    def commit(
        self, seconds: int = 946684798, authid: str = "DB2INST1", kind: int | None = None
    ) -> None:
        name = authid.encode()
        if self.old:
            self.add(kind or 0x4D, self.log.pack("I", seconds) + name)
        else:
            self.add(kind or 0x84, self.log.pack("QH", seconds, len(name)) + name)

    def abort(self, authid: str = "DB2INST1") -> None:
        self.add(
            0x41, authid.encode() if self.old else self.log.pack("H", len(authid)) + authid.encode()
        )

    def prepare(self) -> None:
        self.add(0x5A if self.old else 0x7C, bytes(24))
