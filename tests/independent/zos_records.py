"""Log Master's logs on disk: the records of changes, the control file (4 of the format notes), and
how a transfer left them (2.2)."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.independent.tables import Column, Table
from tests.independent.zos_headers import (
    INFORMATION,
    NO_POSITION,
    SYSTEM,
    Change,
    Form,
    Headers,
    characters,
    packed_time,
    scheme,
    short_name,
    text_time,
)
from tests.independent.zos_rows import CODES, VARYING, RowWriter, sort_of
from tests.independent.zos_text import UNICODE, UNKNOWN

#: Bytes of images that a record holds.
MOST = 32_000
_OF_ROWS = ("UB", "I ", "IL", "D ")


@dataclass(frozen=True)
class Generation:
    """A table's first ``columns`` columns, from a position up to another one (0: none)."""

    number: int
    create: int
    drop: int
    columns: int


class Log:
    """Changes, and what the control file says of their tables."""

    def __init__(self, form: Form, pick: random.Random) -> None:
        self.form, self.pick = form, pick
        self.headers, self.rows = Headers(form, pick), RowWriter(form, pick)
        self.changes: list[Change] = []
        self.generations: dict[str, list[Generation]] = {}

    # -- data

    def records(self, change: Change) -> list[bytes]:
        """The records of a change (6.2, 9), without their framing."""
        form = self.form
        if change.kind not in _OF_ROWS:
            datas = [b"".join(change.images) or form.nothing]
        elif form.reading == "A":
            datas = self._segments(b"".join(struct.pack(">H", len(i)) + i for i in change.images))
        else:
            own = 2 if form.reading == "B" else 0
            datas = [b"".join(struct.pack(">H", len(i) + own) + i for i in change.images)]
        return [
            self.headers.header(change, len(datas), number, len(data)) + data
            for number, data in enumerate(datas, 1)
        ]

    def _segments(self, payload: bytes) -> list[bytes]:
        cuts: list[int] = []
        if len(payload) > MOST:
            cuts = list(range(self.pick.randint(1, MOST), len(payload), MOST))
        elif self.form.segments and self.pick.random() < 0.15 and len(payload) > 8:
            cuts = sorted(self.pick.sample(range(1, len(payload)), self.pick.randint(1, 3)))
        found = []
        for start, end in zip([0, *cuts], [*cuts, len(payload)], strict=True):
            part = payload[start:end]
            own = struct.pack(">H", len(part) + 2)
            found.append(own + part if self.form.heads == "each" or not start else part)
        return found

    def data(self, changes: Iterable[Change]) -> list[bytes]:
        """The records of some changes, in no order (1)."""
        found = [record for change in changes for record in self.records(change)]
        self.pick.shuffle(found)
        return found

    # -- the control file

    def control(self, tables: Sequence[Table], end: int) -> list[bytes]:
        """Its records, the first of which is the type record."""
        pairs = ((table, one) for table in tables for one in self.generations[table.name])
        return self.control_of(pairs, end, NO_POSITION)

    def control_of(
        self, pairs: Iterable[tuple[Table, Generation]], end: int, dependent: bytes
    ) -> list[bytes]:
        """The same with these generations of tables. ``dependent``: DEPENDENTRBA."""
        form, head = self.form, self.headers
        parts = [] if form.header == "plain" else self._fields()
        flags = f"{'NY'[form.expand]}{'NY'[form.segments]}NNNNNN"
        name = characters("PROD.LOG.DATA", 44)
        parts.append(characters("DLDS") + name + characters("VB DB2I    " + flags))
        if form.header == "old":
            digits = characters((dependent[1:7] if form.sharing else dependent[4:]).hex().upper())
            parts.append(characters("DLGE") + head.edge(end) + text_time(end)[:20] + digits)
        else:
            time = packed_time(end) + bytes(3)
            parts.append(characters("DLGE") + head.edge(end) + time + dependent + bytes(2))
        for table, generation in pairs:
            parts += self._table(table, generation)
        self.pick.shuffle(parts)
        return [self._type(), *parts]

    def _number(self, value: int, size: int) -> str:
        return f"{value:{self.form.numbers if value >= 0 else '>'}{size}}"

    def _type(self) -> bytes:
        mixed = "NY"[self.form.ebcdic.mixed != UNKNOWN]
        schemes = (self.form.ebcdic, self.form.ascii, UNICODE)
        pages = [page for s in schemes for page in (s.single, s.double, s.mixed)]
        text = "".join(self._number(page, 5) for page in pages)
        return characters(f"XTYPDB2 V1210 {SYSTEM}'{mixed}.{text}") + bytes(10)

    def _fields(self) -> list[bytes]:
        """XHDF records (4.2); fields that a log can do without may not be described."""
        pick, found = self.pick, []
        for name, at, size, sort in self.headers.fields:
            if name in INFORMATION and pick.random() < 0.2:
                continue
            if name == "ORDERVALUE" and not self.form.ordervalue:
                continue
            kind = "CHAR" if sort == "C" else "DTTM" if size == 26 else "BIN"
            if sort == "B" and size in (2, 4) and pick.random() < 0.3:
                kind = "INT"
            shown = name.replace(" ", "") if pick.random() < 0.5 else name
            text = characters(shown, 18) + characters(kind, 4)
            place = self._number(size, 5) + self._number(at + self.form.base, 5)
            found.append(
                characters("XHDF") + text + characters(f"{'U' * (kind == 'BIN'):1}{place}")
            )
        return found

    def _table(self, table: Table, generation: Generation) -> list[bytes]:
        """DTBI, DLCI, DIXI and DICL records (4.6 to 4.9)."""
        dbid, psid = f"{table.number[0]:04X}", f"{2 * table.number[1]:04X}"
        obid = f"{2 * table.number[1] + 1:04X}"
        columns = table.columns[: generation.columns]
        number, text = self._number, characters
        sequence, version = number(generation.number, 3), number(generation.number - 1, 3)
        varies = any(column.kind in VARYING for column in columns)
        owner, name = table.schema, table.name
        edges = self.headers.edge(generation.create) + self.headers.edge(generation.drop)
        found = [
            text("DTBI" + SYSTEM + dbid + psid + obid + "TB")
            + text(number(len(columns), 3) + number(1000, 5) + number(len(columns), 3))
            + text(number(4000, 5) + "FV"[varies] + sequence) + edges
            + text(scheme(table) + number(0, 3)) + text("", 24)
            + text(number(3, 3)) + text("DB1", 24)
            + text(number(3, 3)) + text(f"TS{table.number[1]}", 24)
            + text(number(len(owner.encode()), 3)) + text(owner, 128) + text(owner[:8], 8)
            + text(number(len(name.encode()), 3)) + text(name, 128) + text(short_name(table), 18)
            + text(version)
            + text("N" + number(len(owner), 3)) + owner.encode().ljust(128)
            + text("N" + number(len(name), 3)) + name.encode().ljust(128) + text("NN")
        ]  # fmt: skip
        place = 4 if self.form.reading == "A" else 2
        for count, column in enumerate(columns):
            width = self.rows.length(column)
            varying = column.kind in VARYING
            size = width * self.rows.unit(column) + column.nullable + 2 * varying
            at = table.key.index(count) + 1 if count in table.key else 0
            scale = column.scale if column.kind == "DECIMAL" else 0
            found.append(
                text("DLCI" + SYSTEM + dbid + obid + number(count + 1, 3))
                + text(CODES[column.kind], 4) + text(number(width, 5) + number(scale, 2))
                + text("NY"[column.nullable] + number(place, 5))
                + text(self._subtype(table, column) + (number(at, 3) if at else "   ") + "A")
                + text(number(width, 5) * 2 + number(size, 5) + sequence)
                + text(number(len(column.name.encode()), 3)) + text(column.name, 128)
                + text(version)
            )  # fmt: skip
            if place >= 0:
                place = -1 if varying and not self.form.expand else place + size
        if self.form.index and table.key:
            ids, keys = SYSTEM + dbid + f"{0x400 + table.number[1]:04X}", number(len(table.key), 3)
            head = text("DIXI" + ids + obid + keys + sequence + "P" + number(len(owner), 3))
            found.append(head + text(owner, 128) + text(number(3, 3)) + text("IX1", 128))
            entries = "".join(number(part + 1, 3) + "A" for part in table.key)
            counts = number(1, 2) + number(len(table.key), 2)
            found.append(text("DICL" + ids + counts + sequence + entries))
        return found

    def _subtype(self, table: Table, column: Column) -> str:
        """LLCOLUMNSUBTYPE, of CHAR and VCHR only."""
        if column.kind not in ("CHAR", "VARCHAR"):
            return " "
        return "B" if column.bit else sort_of(table, column, self.form)


def framed(records: Sequence[bytes], framing: str, pick: random.Random) -> bytes:
    """Records as a transfer left them."""
    if framing == "none":
        return b"".join(records)
    if framing == "ftp":
        marks = [0x80] * (len(records) - 1) + [0x40]
        return b"".join(
            struct.pack(">BH", mark, len(record)) + record
            for mark, record in zip(marks, records, strict=bool(records))
        )
    words = [struct.pack(">HH", len(record) + 4, 0) + record for record in records]
    if framing == "rdw":
        return b"".join(words)
    blocks = list[bytes]()
    for word in words:
        if blocks and len(blocks[-1]) + len(word) <= 27_994 and pick.random() < 0.9:
            blocks[-1] += word
        else:
            blocks.append(word)
    return b"".join(struct.pack(">HH", len(block) + 4, 0) + block for block in blocks)


def write(
    log: Log, tables: Sequence[Table], folder: Path, end: int, name: str = "log"
) -> tuple[str, ...]:
    """A log on disk, and how the command is told of it. ``end``: up to where it goes."""
    control, data = folder / f"{name}.ctl", folder / f"{name}.dat"
    control.write_bytes(framed(log.control(tables, end), log.form.framing, log.pick))
    data.write_bytes(framed(log.data(log.changes), log.form.framing, log.pick))
    return "--control", str(control), "--data", str(data)
