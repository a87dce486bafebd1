"""Where the fields of a LOAD file lie: cut at delimiters (CSV), or at fixed positions (SDF). A
record is a line; in a CSV file, line ends inside of delimited values belong to the value."""

from __future__ import annotations

from codecs import BOM_UTF8
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Mask
from replay.decoding import codecs
from replay.errors import InputError, Where
from replay.logs.logmaster_load.control import (
    FieldCondition,
    IntoTable,
    LoadField,
    LoadStatement,
)

_RETURN, _BLANK = "\r", " "


def parts(column: pa.Array) -> tuple[Bytes, Index]:
    """(octets, ``n + 1`` offsets) of a binary array; nulls are empty."""
    filled = pc.fill_null(column, b"")
    _, places, octets = filled.buffers()
    offsets = np.frombuffer(places, np.int32)[filled.offset : filled.offset + len(filled) + 1]
    data = np.frombuffer(octets or b"", np.uint8)[offsets[0] : offsets[-1]]
    return data, (offsets - offsets[0]).astype(np.int64)


def encoded(character: str, ccsid: int) -> int:
    """A character as the octet that it is in a file."""
    octets = codecs.encode_text(character, ccsid)
    return octets[0]


def line_end(raw: Bytes, ccsid: int) -> int:
    """The octet that ends lines: LF, or where an EBCDIC file has none, NL."""
    feed = encoded("\n", ccsid)
    return feed if (raw == feed).any() or ccsid in (819, 1208) else encoded("\x85", ccsid)


def without_mark(raw: Bytes, ccsid: int) -> Bytes:
    """A file without the octets before its text by which some programs say that it is UTF-8."""
    marked = ccsid == 1208 and raw[: len(BOM_UTF8)].tobytes() == BOM_UTF8
    return raw[len(BOM_UTF8) :] if marked else raw


def cut(
    raw: Bytes, statement: LoadStatement, ccsid: int, name: str
) -> FixedRecords | DelimitedRecords:
    """The records of a file. InputError LR2006 where a delimited value does not end."""
    if statement.delimited:
        return _delimited(raw, statement, ccsid, name)
    ends = np.flatnonzero(raw == line_end(raw, ccsid))
    start, stop = _between(_ended(ends, ends, len(raw)))
    stop = _without_return(raw, start, stop, encoded(_RETURN, ccsid))
    full = stop > start
    return FixedRecords(raw, start[full], stop[full], encoded(_BLANK, ccsid), ccsid)


def _ended(ends: Index, lines: Index, size: int) -> Index:
    """``ends`` and the end of the file, unless that is the last of the ``lines`` that end."""
    return ends if len(lines) and lines[-1] == size - 1 else np.append(ends, size)


def _between(ends: Index) -> tuple[Index, Index]:
    """(start, stop) of what lies between the octets at ``ends``."""
    return np.concatenate([[0], ends[:-1] + 1]).astype(np.int64), ends.astype(np.int64)


def _without_return(raw: Bytes, start: Index, stop: Index, octet: int) -> Index:
    if not len(raw):
        return stop
    return np.asarray(stop - ((stop > start) & (raw[np.maximum(stop - 1, 0)] == octet)))


# -- fixed positions
# -------------------------------------------------------------------------------------------------


@dataclass
class FixedRecords:
    """Records ``raw[start:stop]`` of fixed positions; a transfer may have taken blanks at the end
    away."""

    raw: Bytes
    start: Index
    stop: Index
    blank: int
    ccsid: int

    def __len__(self) -> int:
        return len(self.start)

    def sizes(self) -> Index:
        """Octets of each record, ``int64[n]``."""
        return np.asarray(self.stop - self.start)

    def bad(self, rows: Index, table: IntoTable, images: int) -> Mask:
        """``bool[m]``: which of ``rows`` have not the fields of ``table`` with ``images`` (1 or 2)
        row images."""
        size = self.sizes()[rows]
        _, width, end = _image(table)
        last = max((one.start for one in table.fields), default=0) + (images - 1) * width
        return np.asarray((size <= last) | (size > end + (images - 1) * width))

    def values(self, rows: Index, table: IntoTable, number: int, shift: int) -> pa.Array:
        """Field ``number`` of ``rows`` (``int64[m]``), ``shift`` images further on, as a binary
        array of ``m``; null where it is null."""
        one = table.fields[number]
        away = shift * _image(table)[1]
        block = self._block(rows, one.start + away, one.stop - one.start)
        null = self._null(rows, table, one, away)
        width = block.shape[1]
        # blanks at the end fill a field up
        kept = block != self.blank
        length = np.where(kept.any(axis=1), width - np.argmax(kept[:, ::-1], axis=1), 0)
        data, offsets = codecs.gather_varying(
            block.reshape(-1), np.arange(len(rows)) * width, length
        )
        return codecs.binary_values(data, offsets, null if null.any() else None)

    def _block(self, rows: Index, start: int, width: int) -> Bytes:
        """Octets of records, blanks behind their end, ``uint8[m, width]``."""
        places = self.start[rows, None] + start + np.arange(width)
        inside = places < self.stop[rows, None]
        block = np.full(places.shape, self.blank, np.uint8)
        block[inside] = self.raw[places[inside]]
        return block

    def _null(self, rows: Index, table: IntoTable, one: LoadField, away: int) -> Mask:
        condition = one.null_if
        if condition is None:
            return np.zeros(len(rows), bool)
        start, width = condition.start, condition.stop - condition.start
        if condition.name:
            number, moves = _about(table, condition)
            about = table.fields[number]
            start, width = about.start, about.stop - about.start
            away = away if moves else 0
        wanted = np.frombuffer(
            codecs.encode_text(condition.value.ljust(width), self.ccsid), np.uint8
        )
        block = self._block(rows, start + away, width)
        return np.asarray((block == wanted[:width]).all(axis=1))


def info_count(table: IntoTable) -> int:
    """How many of the fields are informational columns: those at the beginning with a name that
    begins with ``#``."""
    for number, one in enumerate(table.fields):
        if not one.name.startswith("#"):
            return number
    return len(table.fields)


def _about(table: IntoTable, condition: FieldCondition) -> tuple[int, bool]:
    """The field that a condition names, and whether each row image has one of its own."""
    number = [one.name for one in table.fields].index(condition.name)
    return number, number >= info_count(table)


def _image(table: IntoTable) -> tuple[int, int, int]:
    """(where a row image begins, how wide it is, where it ends) in records of fixed positions,
    indicators of null before the first column included."""
    ahead, columns = table.fields[: info_count(table)], table.fields[info_count(table) :]
    begin = max((one.stop for one in ahead), default=0)
    end = begin
    for one in columns:
        end = max(end, one.stop, one.null_if.stop if one.null_if else 0)
    return begin, end - begin, end


# -- delimiters
# -------------------------------------------------------------------------------------------------


@dataclass
class DelimitedRecords:
    """Records whose fields are ``raw[start:stop]``, those of a record from ``first`` on, ``count``
    many; ``quoted`` ones have lost their delimiters, and may hold them doubled."""

    raw: Bytes
    start: Index
    stop: Index
    quoted: Mask
    first: Index
    count: Index
    quote: int
    ccsid: int

    def __len__(self) -> int:
        return len(self.first)

    def sizes(self) -> Index:
        """As :meth:`FixedRecords.sizes`."""
        return np.asarray(self.stop[self.first + self.count - 1] - self.start[self.first])

    def bad(self, rows: Index, table: IntoTable, images: int) -> Mask:
        """As :meth:`FixedRecords.bad`."""
        one, info = len(table.fields), info_count(table)
        count = self.count[rows]
        if images == 2:
            return np.asarray(count != 2 * one - info)
        # there may be room for the second image, with nothing in it
        wrong = (count != one) & (count != 2 * one - info)
        for row in np.flatnonzero(count == 2 * one - info).tolist():
            first = self.first[rows[row]]
            rest = slice(first + one, first + 2 * one - info)
            wrong[row] = bool((self.stop[rest] > self.start[rest]).any() or self.quoted[rest].any())
        return np.asarray(wrong)

    def values(self, rows: Index, table: IntoTable, number: int, shift: int) -> pa.Array:
        """As :meth:`FixedRecords.values`."""
        values = self._texts(rows, table, number, shift)
        condition = table.fields[number].null_if
        if condition is None:
            return values
        about, moves = _about(table, condition)
        octets = self._texts(rows, table, about, shift if moves else 0)
        text, _ = codecs.decode_text(*parts(octets), self.ccsid)
        # as Db2 compares text, without the blanks at its end
        same = pc.equal(pc.utf8_rtrim(text, _BLANK), condition.value.rstrip(_BLANK))
        is_null = pc.and_(pc.fill_null(same, False), pc.is_valid(octets))
        return pc.if_else(is_null, pa.scalar(None, pa.binary()), values)

    def _texts(self, rows: Index, table: IntoTable, number: int, shift: int) -> pa.Array:
        """As :meth:`values`, whatever NULLIF says."""
        away = shift * (len(table.fields) - info_count(table))
        place = np.minimum(self.first[rows] + number + away, len(self.start) - 1)
        start, stop, quoted = self.start[place], self.stop[place], self.quoted[place]
        null = (start == stop) & ~quoted
        data, offsets = codecs.gather_varying(self.raw, start, stop - start)
        values = codecs.binary_values(data, offsets, null if null.any() else None)
        mark = bytes([self.quote])
        if not (self.raw == self.quote).any():
            return values
        return pc.if_else(pa.array(quoted), pc.replace_substring(values, mark + mark, mark), values)


def _delimited(raw: Bytes, statement: LoadStatement, ccsid: int, name: str) -> DelimitedRecords:
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
    return DelimitedRecords(raw, start + quoted, stop - quoted, quoted, first, count, quote, ccsid)
