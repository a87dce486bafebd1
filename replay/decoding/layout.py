"""Record layouts as data: one table of fields gives a scalar reader, batch slices, a builder, a
hexadecimal dump and a page of documentation.

No other place states an offset. A record may be longer than its layout (newer releases append
fields) or shorter (trailing fields are absent, and read as None); that rule is here, once. Layouts
are values, because a log that describes its own header makes one at run time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any

import numpy as np

from replay.arrays import Bytes, Index

Buffer = bytes | bytearray | memoryview | np.ndarray[Any, np.dtype[np.uint8]]

#: Header and control text is EBCDIC; its letters, digits and signs lie where code page 037 has
#: them.
TEXT_CODE_PAGE = "cp037"


class FieldKind(Enum):
    """How the bytes of a field are read."""

    UNSIGNED = "unsigned big-endian binary"
    BYTES = "raw bytes"
    TEXT = "EBCDIC text, blank padded"
    NUMBER = "a decimal number in EBCDIC text"
    HEX = "a hexadecimal number in EBCDIC text"
    POSITION = "LRSN or RBA"
    PACKED_TIME = "34 packed digits YYYYMMDDHHMMSS and 20 fraction digits"
    RESERVED = "reserved"


#: What a field holds that nobody gives a value; others are zeros.
_DEFAULTS: dict[FieldKind, Any] = {FieldKind.TEXT: " ", FieldKind.NUMBER: 0, FieldKind.HEX: 0}
#: Bases of numbers in text.
_BASES = {FieldKind.NUMBER: 10, FieldKind.HEX: 16}


@dataclass(frozen=True, slots=True)
class Field:
    """``name`` as the vendor spells it, ``offset`` from the start of the record, ``length`` in
    bytes."""

    name: str
    offset: int
    length: int
    kind: FieldKind

    @property
    def end(self) -> int:
        """Offset of the byte after the field."""
        return self.offset + self.length

    def value(self, raw: bytes) -> Any:
        """The value of the field's bytes; None for an empty or unreadable number (see
        :meth:`problem`)."""
        if self.kind is FieldKind.UNSIGNED:
            return int.from_bytes(raw, "big")
        if self.kind is FieldKind.TEXT:
            return raw.decode(TEXT_CODE_PAGE).rstrip(" \0")
        if self.kind in _BASES:
            return _number(raw.decode(TEXT_CODE_PAGE), _BASES[self.kind])
        return raw

    def encode(self, value: Any) -> bytes:
        """Bytes of a value: the inverse of :meth:`value`. ``ValueError`` when it does not fit."""
        if value is None or self.kind is FieldKind.RESERVED:
            return bytes(self.length)
        if isinstance(value, bytes):
            raw = value
        elif self.kind is FieldKind.UNSIGNED:
            raw = int(value).to_bytes(self.length, "big")
        elif self.kind is FieldKind.NUMBER:
            raw = f"{int(value):0{self.length}d}".encode(TEXT_CODE_PAGE)
        elif self.kind is FieldKind.HEX:
            raw = f"{int(value):0{self.length}X}".encode(TEXT_CODE_PAGE)
        else:
            raw = str(value).ljust(self.length).encode(TEXT_CODE_PAGE)
        if len(raw) != self.length:
            raise ValueError(f"{self.name}: {len(raw)} bytes in a field of {self.length}")
        return raw


#: What a number in text may look like, by base: a sign only before decimal digits, and nothing else
#: that Python's ``int`` would take.
_NUMBERS = {10: re.compile("[+-]?[0-9]+"), 16: re.compile("[0-9A-Fa-f]+")}


@lru_cache(maxsize=1 << 16)
def _number(text: str, base: int) -> int | None:
    stripped = text.strip(" \0")
    return int(stripped, base) if _NUMBERS[base].fullmatch(stripped) else None


@dataclass(frozen=True)
class Layout:
    """A record: ``tag`` (its name), ``title``, ``size`` in bytes, ``fields`` in rising offset
    order, leaving no gap. Checked when made."""

    tag: str
    title: str
    size: int
    fields: tuple[Field, ...]
    _by_name: dict[str, Field] = field(init=False, repr=False, compare=False)
    _reads: tuple[tuple[str, int, int, FieldKind, int], ...] = field(
        init=False, repr=False, compare=False
    )
    _blank: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        place = 0
        for entry in self.fields:
            if entry.offset != place:
                raise ValueError(
                    f"{self.tag}.{entry.name} is at {entry.offset}, the field before it ends at"
                    f" {place}"
                )
            place = entry.end
        if place != self.size:
            raise ValueError(f"{self.tag} has {self.size} bytes, its fields end at {place}")
        named = [entry for entry in self.fields if entry.kind is not FieldKind.RESERVED]
        by_name = {entry.name: entry for entry in named}
        if len(by_name) != len(named):
            twice = next(entry.name for entry in named if by_name[entry.name] is not entry)
            raise ValueError(f"{self.tag} has two fields {twice}")
        object.__setattr__(self, "_by_name", by_name)
        reads = tuple(
            (entry.name, entry.offset, entry.end, entry.kind, _BASES.get(entry.kind, 0))
            for entry in named
        )
        object.__setattr__(self, "_reads", reads)
        blank = b"".join(entry.encode(_DEFAULTS.get(entry.kind)) for entry in self.fields)
        object.__setattr__(self, "_blank", blank)

    @property
    def names(self) -> Mapping[str, Field]:
        """The fields by name, reserved ones left out."""
        return self._by_name

    def read(self, record: Buffer) -> dict[str, Any]:
        """The values of one record's fields; None where the record is too short to have the
        field."""
        raw = bytes(record)
        text, size = raw.decode(TEXT_CODE_PAGE), len(raw)
        return {
            name: None
            if end > size
            else text[start:end].rstrip(" \0")
            if kind is FieldKind.TEXT
            else _number(text[start:end], base)
            if base
            else int.from_bytes(raw[start:end], "big")
            if kind is FieldKind.UNSIGNED
            else raw[start:end]
            for name, start, end, kind, base in self._reads
        }

    def slice(self, block: Bytes, name: str) -> Bytes:
        """The bytes of a field in ``block`` (``uint8[n, H]``): ``uint8[n, length]``, without
        copying."""
        entry = self._by_name[name]
        return block[:, entry.offset : entry.end]

    def integers(self, block: Bytes, name: str) -> Index:
        """An unsigned big-endian field of every row."""
        raw = self.slice(block, name)
        if raw.shape[1] in (1, 2, 4, 8) and raw.strides[1] == 1:
            return raw.view(f">u{raw.shape[1]}")[:, 0].astype(np.int64)
        total = np.zeros(len(block), np.int64)
        for column in raw.T:
            total = (total << 8) | column
        return total

    def build(self, **values: Any) -> bytes:
        """A record with these field values; fields not named are zero (binary) or blank (text).
        ``KeyError`` for a name that is no field."""
        unknown = values.keys() - self._by_name.keys()
        if unknown:
            raise KeyError(f"{self.tag} has no field {', '.join(sorted(unknown))}")
        record = bytearray(self._blank)
        for name, value in values.items():
            entry = self._by_name[name]
            record[entry.offset : entry.end] = entry.encode(value)
        return bytes(record)

    def dump(self, record: Buffer) -> list[tuple[str, int, str, str]]:
        """(name, offset, bytes in hexadecimal, value as text) of every field the record has, as far
        as it has it."""
        raw = bytes(record)
        lines = []
        for entry in self.fields:
            piece = raw[entry.offset : entry.end]
            if not piece:
                continue
            if len(piece) < entry.length:
                text = f"*** {entry.length - len(piece)} bytes are missing"
            else:
                value = entry.value(piece)
                text = (
                    ""
                    if entry.kind
                    in (
                        FieldKind.BYTES,
                        FieldKind.POSITION,
                        FieldKind.PACKED_TIME,
                        FieldKind.RESERVED,
                    )
                    else str(value)
                )
            lines.append((entry.name or "(reserved)", entry.offset, piece.hex().upper(), text))
        return lines

    def page(self) -> str:
        """The layout as a Markdown table."""
        lines = [
            f"### {self.tag}: {self.title} ({self.size} bytes)",
            "",
            "| field | offset | hex | length | content |",
            "|---|---|---|---|---|",
        ]
        lines += [
            f"| {f.name or '(reserved)'} | {f.offset} | {f.offset:02X} | {f.length} |"
            f" {f.kind.value} |"
            for f in self.fields
        ]
        return "\n".join(lines)


_KINDS = {
    "U": FieldKind.UNSIGNED,
    "B": FieldKind.BYTES,
    "C": FieldKind.TEXT,
    "N": FieldKind.NUMBER,
    "X": FieldKind.HEX,
    "P": FieldKind.POSITION,
    "T": FieldKind.PACKED_TIME,
    "R": FieldKind.RESERVED,
}


def layout(tag: str, title: str, page: str) -> Layout:
    """A layout from a table like the vendor's page: one line a field, ``NAME offset kind length``;
    ``-`` names a reserved field.

    Kinds: U unsigned, B bytes, C text, N decimal text, X hexadecimal text, P position, T packed
    time, R reserved. A name may hold blanks.
    """
    fields = []
    for line in page.strip().splitlines():
        *name, offset, kind, length = line.split()
        spelled = " ".join(name)
        fields.append(
            Field("" if spelled == "-" else spelled, int(offset), int(length), _KINDS[kind])
        )
    return Layout(tag, title, fields[-1].end, tuple(fields))
