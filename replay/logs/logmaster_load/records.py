"""Where the fields of a LOAD file lie, which are cut at delimiters (CSV). A record is a line; line
ends inside of delimited values belong to the value."""

from __future__ import annotations

from codecs import BOM_UTF8
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Mask
from replay.decoding import codecs
from replay.errors import InputError, Where
from replay.logs.logmaster_load.control import IntoTable, LoadStatement

_RETURN, _BLANK = "\r", " "


def parts(column: pa.Array) -> tuple[Bytes, Index]:
    """(bytes, ``n + 1`` offsets) of a binary array; nulls are empty."""
    filled = pc.fill_null(column, b"")
    _, places, octets = filled.buffers()
    offsets = np.frombuffer(places, np.int32)[filled.offset : filled.offset + len(filled) + 1]
    data = np.frombuffer(octets or b"", np.uint8)[offsets[0] : offsets[-1]]
    return data, (offsets - offsets[0]).astype(np.int64)


@cache
def encoded(character: str, ccsid: int) -> int:
    """A character as the byte that it is in a file."""
    octets, _ = codecs.decode_text(np.arange(256, dtype=np.uint8), np.arange(257), ccsid)
    found: list[str | None] = octets.to_pylist()
    if character not in found:
        raise InputError(
            "LR2015",
            f"found CCSID {ccsid}; expected one with {character!r} as one byte",
            hint="Name the right one with --log-option ccsid=",
        )
    return found.index(character)


def line_end(raw: Bytes, ccsid: int) -> int:
    """The byte that ends lines: LF, or where an EBCDIC file has none, NL."""
    feed = encoded("\n", ccsid)
    return encoded("\x85", ccsid) if feed == 0x25 and not (raw == feed).any() else feed


def without_mark(raw: Bytes, ccsid: int) -> Bytes:
    """A file without the bytes before its text by which some programs say that it is UTF-8."""
    marked = ccsid == 1208 and raw[: len(BOM_UTF8)].tobytes() == BOM_UTF8
    return raw[len(BOM_UTF8) :] if marked else raw


def _ended(ends: Index, lines: Index, size: int) -> Index:
    """``ends`` and the end of the file, unless that is the last of the ``lines`` that end."""
    return ends if len(lines) and lines[-1] == size - 1 else np.append(ends, size)


def _between(ends: Index) -> tuple[Index, Index]:
    """(start, stop) of what lies between the bytes at ``ends``."""
    return np.concatenate([[0], ends[:-1] + 1]).astype(np.int64), ends.astype(np.int64)


def _without_return(raw: Bytes, start: Index, stop: Index, octet: int) -> Index:
    if not len(raw):
        return stop
    return np.asarray(stop - ((stop > start) & (raw[np.maximum(stop - 1, 0)] == octet)))


@dataclass
class DelimitedRecords:
    """Records of a ``table`` whose fields are ``raw[start:stop]``, those of a record from ``first``
    on, ``count`` many; ``quoted`` ones have lost their delimiters, and may hold them doubled."""

    raw: Bytes
    start: Index
    stop: Index
    quoted: Mask
    first: Index
    count: Index
    quote: int
    ccsid: int
    table: IntoTable

    def __len__(self) -> int:
        return len(self.first)

    def some(self, rows: Index, table: IntoTable) -> DelimitedRecords:
        """Some of them, as those of a table."""
        return replace(self, first=self.first[rows], count=self.count[rows], table=table)

    def text(self, number: int) -> pa.Array:
        """Field ``number`` as text without blanks around; null where it is no text."""
        value = self.values(np.arange(len(self)), number, 0)
        null = np.asarray(value.is_null())
        text, _ = codecs.decode_text(*parts(value), self.ccsid, null if null.any() else None)
        return pc.utf8_trim_whitespace(text)

    def sizes(self) -> Index:
        """Bytes of each record, ``int64[n]``."""
        return np.asarray(self.stop[self.first + self.count - 1] - self.start[self.first])

    @property
    def _moved(self) -> int:
        """How many fields a row image has."""
        return len(self.table.fields) - self.table.info

    def bad(self, rows: Index, images: int) -> Mask:
        """``bool[m]``: which of ``rows`` have not the fields of the table with ``images`` (1 or 2)
        row images."""
        one, count = len(self.table.fields), self.count[rows]
        two = one + self._moved
        if images == 2:
            return np.asarray(count != two)
        # there may be room for the second image, with nothing in it
        wrong = (count != one) & (count != two)
        for row in np.flatnonzero(count == two).tolist():
            first = self.first[rows[row]]
            rest = slice(first + one, first + two)
            wrong[row] = bool((self.stop[rest] > self.start[rest]).any() or self.quoted[rest].any())
        return np.asarray(wrong)

    def values(self, rows: Index, number: int, shift: int) -> pa.Array:
        """Field ``number`` of ``rows`` (``int64[m]``), ``shift`` images further on, as a binary
        array of ``m``; null where it is null."""
        values = self._texts(rows, number, shift)
        condition = self.table.fields[number].null_if
        if condition is None:
            return values
        about = [one.name for one in self.table.fields].index(condition.name)
        octets = self._texts(rows, about, shift if about >= self.table.info else 0)
        text, _ = codecs.decode_text(*parts(octets), self.ccsid)
        # as Db2 compares text, without the blanks at its end
        same = pc.equal(pc.utf8_rtrim(text, _BLANK), condition.value.rstrip(_BLANK))
        is_null = pc.and_(pc.fill_null(same, False), pc.is_valid(octets))
        return pc.if_else(is_null, pa.scalar(None, pa.binary()), values)

    def _texts(self, rows: Index, number: int, shift: int) -> pa.Array:
        """As :meth:`values`, whatever NULLIF says."""
        place = np.minimum(self.first[rows] + number + shift * self._moved, len(self.start) - 1)
        start, stop, quoted = self.start[place], self.stop[place], self.quoted[place]
        null = (start == stop) & ~quoted
        data, offsets = codecs.gather_varying(self.raw, start, stop - start)
        values = codecs.binary_values(data, offsets, null if null.any() else None)
        mark = bytes([self.quote])
        if not (self.raw == self.quote).any():
            return values
        return pc.if_else(pa.array(quoted), pc.replace_substring(values, mark + mark, mark), values)


def cut(raw: Bytes, statement: LoadStatement, ccsid: int, name: str) -> DelimitedRecords:
    """The records of a file. InputError LR2006 where a delimited value does not end."""
    quote, comma = (encoded(one, ccsid) for one in (statement.character, statement.column))
    end = line_end(raw, ccsid)
    marks = raw == quote
    inside = np.bitwise_xor.accumulate(marks) if len(raw) else marks
    if len(raw) and inside[-1]:
        lines = int(np.count_nonzero(raw == end))
        raise InputError(
            "LR2006",
            f"found a delimited value that does not end in a file of {lines} lines; expected"
            f" CHARDEL {statement.character} in pairs",
            Where(name),
            "Transfer the file again; CHARDEL in the LOAD control file must be the file's",
        )
    ends_line = (raw == end) & ~inside
    ends = np.flatnonzero(((raw == comma) & ~inside) | ends_line)
    start, stop = _between(_ended(ends, np.flatnonzero(ends_line), len(raw)))
    last = np.ones(len(stop), bool)
    known = stop < len(raw)
    last[known] = ends_line[stop[known]]
    stop[last] = _without_return(raw, start[last], stop[last], encoded(_RETURN, ccsid))
    first = np.concatenate([[0], np.flatnonzero(last)[:-1] + 1]).astype(np.int64)
    count = np.flatnonzero(last) + 1 - first
    empty = (count == 1) & (start[first] == stop[first])  # blank lines, and what follows the last
    first, count = first[~empty], count[~empty]
    quoted = np.zeros(len(start), bool)
    wide = stop - start >= 2
    quoted[wide] = (raw[start[wide]] == quote) & (raw[stop[wide] - 1] == quote)
    return DelimitedRecords(
        raw, start + quoted, stop - quoted, quoted, first, count, quote, ccsid, statement.tables[0]
    )
