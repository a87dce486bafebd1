"""Row images -> value columns: where the columns of formatted and of value-compressed rows lie
(format notes, section 10).

An image begins with the row header. A formatted row has a fixed section, with a null byte after
each nullable column and an (offset, length) pair in place of each varying value, and then the
varying values one after the other, which must fill the row exactly: a pair that is off is found,
not followed. A row may end before columns that were added after it was written. Of a value outside
its row, the row holds a descriptor, which is no value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Mask
from replay.changes.catalog import ColumnFormat, RowFormat
from replay.decoding import codecs
from replay.decoding.codecs import Decoded
from replay.logs.db2luw import layouts
from replay.logs.db2luw.layouts import Dialect, numbers
from replay.logs.db2luw.tables import is_packed, width
from replay.logs.db2luw.values import (
    EXPECTED,
    default_bytes,
    fixed_values,
    initial_value,
)

#: Bytes of a value shown in a finding.
_SHOWN = 64
_HEAD = layouts.ROW_HEADER_SIZE
_FITS = "a fixed section as long as the table's columns make it"
_TILED = "values of varying length that follow each other to the end of the row"


@dataclass
class _Column:
    """Where a column lies in each image: ``place`` (bytes of the buffer) and ``length``; ``null``;
    ``default``: rows that hold no value and mean the system's default; ``absent``: rows written
    before the column was added; ``outside``: rows that hold only where the value is.
    """

    place: Index
    length: Index
    null: Mask
    default: Mask
    absent: Mask
    outside: Mask


@dataclass
class LuwRowWalk:
    """The columns of ``n`` row images of one table version. Implements
    :class:`replay.logs.Walk`."""

    format: RowFormat
    buffer: Bytes
    big: bool
    dialect: Dialect
    start: Index
    end: Index
    bad: Mask
    columns: list[_Column] = field(default_factory=list)
    reasons: dict[int, tuple[str, str, str]] = field(default_factory=dict)

    def reason(self, row: int) -> tuple[str, str, str]:
        """Of a bad image: (field, found, expected)."""
        return self.reasons.get(row, ("", "a damaged row", _FITS))

    def equal(self, other: LuwRowWalk, index: int) -> Mask:
        """Where column ``index`` is the same in two images: both null, or both not and the same
        bytes."""
        mine, theirs = self.columns[index], other.columns[index]
        null, other_null = self._nulls(index), other._nulls(index)
        same = (
            (mine.absent == theirs.absent)
            & (mine.length == theirs.length)
            & ~null
            & ~other_null
            & (mine.default == theirs.default)
            & ~self.bad
            & ~other.bad
        )
        same &= mine.outside == theirs.outside
        rows = np.flatnonzero(same & ~mine.default)
        same[rows] = codecs.same_bytes(
            self.buffer, mine.place[rows], other.buffer, theirs.place[rows], mine.length[rows]
        )
        return np.asarray(same | (null & other_null))

    def nulls(self, index: int) -> Mask | None:
        """Where column ``index`` is null (None: nowhere)."""
        return self._nulls(index)

    def _nulls(self, index: int) -> Mask:
        cells, initial = self.columns[index], initial_value(self.format.columns[index])
        known_null = initial is not None and not initial.is_valid
        return cells.null | cells.absent if known_null else cells.null

    def decode(self, index: int, rows: Index | None = None) -> tuple[pa.Array, Mask | None]:
        """Values of a column by the contract of :mod:`sqlgen.schema`, and which of them cannot be
        decoded (None: all can)."""
        column, cells = self.format.columns[index], self.columns[index]
        chosen = np.arange(len(self.start)) if rows is None else rows
        null = cells.null[chosen] | cells.absent[chosen] | self.bad[chosen]
        initial = initial_value(column)
        older = cells.absent[chosen] & ~self.bad[chosen]
        empty = cells.default[chosen] | null
        place, length = (
            np.where(empty, 0, cells.place[chosen]),
            np.where(empty, 0, cells.length[chosen]),
        )
        if column.variable:
            values, bad = self._varying(column, place, length, null, cells.outside[chosen] & ~empty)
        else:
            values, bad = fixed_values(
                column, self._block(column, place, cells.default[chosen], null), null, self.big
            )
        if initial is None and older.any():
            bad = older if bad is None else bad | older
        elif initial is not None and initial.is_valid and older.any():
            values = pc.if_else(pa.array(older), initial, values)
        return values, bad

    def explain(self, index: int, row: int) -> tuple[str, str]:
        """Of a value that cannot be decoded: (found, expected)."""
        column, cells = self.format.columns[index], self.columns[index]
        name = f"{column.code} column {column.column.name}"
        if cells.absent[row]:
            return (
                f"a row written before {name} was added",
                "a default of the column that the catalog export says (C.DEFAULT in its query), or"
                " none",
            )
        raw = self.buffer[cells.place[row] : cells.place[row] + cells.length[row]].tobytes()
        digits = raw[:_SHOWN].hex().upper() + ("…" if len(raw) > _SHOWN else "")
        if column.lob or cells.outside[row]:
            marked = self._marked(column) and not cells.outside[row]
            what = (
                "which does not begin with the mark of a value"
                if marked
                else "which says where the value is"
            )
            hint = (
                "a value within the row: what lies outside it is not in the log (leave the column"
                " out: --exclude-columns)"
            )
            return f"X'{digits}' in {name}, {what}", hint
        return f"X'{digits}' in {name}", EXPECTED.get(column.column.type, "a value of its type")

    def _block(self, column: ColumnFormat, place: Index, default: Mask, null: Mask) -> Bytes:
        """The bytes of a fixed column, ``uint8[n, w]``; zeros where there is no value, the system's
        default where that is meant."""
        block = codecs.gather_padded(
            self.buffer, place, np.where(default | null, 0, column.length), column.length
        )
        if default.any():
            block[default] = np.frombuffer(default_bytes(column), np.uint8)
        return block

    def _marked(self, column: ColumnFormat) -> bool:
        """Whether a column's values may lie in the row with a mark before them."""
        return self.dialect.inline_lobs and column.code in layouts.LOB_TYPES

    def _varying(
        self, column: ColumnFormat, place: Index, length: Index, null: Mask, elsewhere: Mask
    ) -> Decoded:
        bad: Mask | None = None
        if column.lob and not self._marked(column):
            elsewhere = (length > 0) & ~null
        elif column.lob:
            first = np.where(length > 0, self.buffer[np.where(length > 0, place, 0)], 0)
            inline = (first == layouts.LOB_INLINE) & (length >= layouts.LOB_LEAD)
            elsewhere = elsewhere | (length > 0) & ~inline & (first != layouts.LOB_EMPTY) & ~null
            place = place + np.where(inline, layouts.LOB_LEAD, 0)
            length = np.where(inline, length - layouts.LOB_LEAD, 0)
        if elsewhere.any():
            bad = elsewhere
        missing = null if bad is None else null | bad
        data, offsets = codecs.gather_varying(self.buffer, place, np.where(missing, 0, length))
        if column.ccsid is None:
            return codecs.binary_values(data, offsets, missing if missing.any() else None), bad
        values, wrong = codecs.decode_text(
            data, offsets, column.ccsid, missing if missing.any() else None
        )
        if wrong is not None:
            bad = wrong if bad is None else bad | wrong
        return values, bad


def walk(
    fmt: RowFormat, buffer: Bytes, start: Index, end: Index, big: bool, dialect: Dialect
) -> LuwRowWalk:
    """Find the columns of the images ``buffer[start:end]``, row headers included. Nothing outside
    an image is read; images that do not fit are bad."""
    buffer = np.asarray(buffer)
    result = LuwRowWalk(fmt, buffer, big, dialect, start, end, np.zeros(len(start), bool))
    walker = _Walker(result)
    walker.headers()
    walker.run()
    return result


def _section_ends(columns: Sequence[ColumnFormat]) -> Index:
    """The lengths that the fixed section may have, the whole one last: it may end before columns
    that were added later, which lie behind all others."""
    if not columns:
        return np.zeros(1, np.int64)
    begin = np.array([column.position for column in columns], np.int64)
    reached = np.maximum.accumulate(begin + [width(column) for column in columns])
    added = np.minimum.accumulate(begin[::-1])[::-1]
    whole = np.append(added[1:] >= reached[:-1], True)
    ends: Index = reached[whole]
    return ends


class _Walker:
    def __init__(self, result: LuwRowWalk) -> None:
        self.result = result
        self.size = result.end - result.start
        self.body = result.start + _HEAD
        self.compressed = np.zeros(len(self.size), bool)
        self.fixed = np.zeros(len(self.size), np.int64)

    def _fail(self, wrong: Mask, column: str, found: str, expected: str, *values: Index) -> None:
        """Mark rows as bad; ``found`` is a format for each row's ``values``."""
        rows = np.flatnonzero(wrong & ~self.result.bad)
        self.result.bad[rows] = True
        for row in rows.tolist():
            self.result.reasons[row] = (
                column,
                found.format(*(int(value[row]) for value in values)),
                expected,
            )

    def _number(self, name: str) -> Index:
        return numbers(
            self.result.buffer, self.result.start, layouts.ROW_HEADER[name], self.result.big
        ).astype(np.int64)

    def headers(self) -> None:
        """Check the row headers (section 10.1)."""
        outside = (
            (self.result.start < 0)
            | (self.size < _HEAD)
            | (self.result.end > len(self.result.buffer))
        )
        self._fail(outside, "row header", "an image of {} bytes", f"at least {_HEAD}", self.size)
        length, inner = self._number("length"), self._number("inner")
        self._fail(
            length != self.size,
            "row header",
            "a row length of {} in an image of {} bytes",
            "the same",
            length,
            self.size,
        )
        self._fail(
            (inner & (layouts.FORMATTED | layouts.COMPRESSED)) == 0,
            "row header",
            "inner type {}",
            "a user row (1 or 2)",
            inner,
        )
        self.compressed = (inner & layouts.COMPRESSED) > 0
        self.fixed = self._number("fixed")
        beyond = ~self.compressed & (self.fixed > self.size - _HEAD)
        self._fail(
            beyond,
            "row header",
            "a fixed section of {} bytes in a row of {}",
            "one inside the row",
            self.fixed,
            self.size,
        )

    def run(self) -> None:
        formatted, compressed = self._formatted(), None
        if (self.compressed & ~self.result.bad).any():
            compressed = self._compressed()
        for index, column in enumerate(formatted):
            if compressed is not None:
                other = compressed[index]
                for name in ("place", "length", "null", "default", "absent", "outside"):
                    setattr(
                        column,
                        name,
                        np.where(self.compressed, getattr(other, name), getattr(column, name)),
                    )
            self.result.columns.append(column)

    # -- formatted rows (section 10.2)
    # ---------------------------------------------------------------------------------------------

    def _formatted(self) -> list[_Column]:
        columns = self.result.format.columns
        ends = _section_ends(columns)
        plain = ~self.compressed
        usable = np.isin(self.fixed, ends) | (len(columns) == 0)
        packed = is_packed(columns)
        if not packed:  # there may be room behind the last column, too
            usable |= self.fixed > ends[-1]
        text = "a fixed section of {} bytes"
        self._fail(
            plain & ~usable,
            "row header",
            text,
            f"{_FITS}: {int(ends[-1])} bytes, or less by its last columns",
            self.fixed,
        )
        cursor = self.fixed.copy()
        self.astray = np.zeros(len(cursor), bool)
        cells = [self._cell(column, plain, cursor, packed) for column in columns]
        self._untiled(plain & self.astray, cells)
        wrong = plain & (cursor != self.size - _HEAD)
        self._fail(
            wrong, "row", "values that end at byte {} of {}", _TILED, cursor, self.size - _HEAD
        )
        return cells

    def _untiled(self, rows: Mask, cells: list[_Column]) -> None:
        """Where varying values lie in another order than their columns, they must follow each other
        all the same."""
        varying = [
            cell
            for cell, column in zip(cells, self.result.format.columns, strict=True)
            if column.variable
        ]
        chosen = np.flatnonzero(rows & ~self.result.bad)
        if not len(chosen):
            return
        place = np.stack([cell.place[chosen] for cell in varying])
        length = np.stack([cell.length[chosen] for cell in varying])
        place = np.where(length > 0, place, np.iinfo(np.int64).max)
        order = np.argsort(place, axis=0, kind="stable")
        place, length = (np.take_along_axis(values, order, axis=0) for values in (place, length))
        begin = (self.result.start + _HEAD + self.fixed)[chosen]
        expected = begin + np.cumsum(length, axis=0) - length
        untiled = np.zeros(len(rows), bool)
        untiled[chosen] = ((place != expected) & (length > 0)).any(axis=0)
        self._fail(untiled, "row", "values with room between them, or one in another", _TILED)

    def _cell(self, column: ColumnFormat, plain: Mask, cursor: Index, packed: bool) -> _Column:
        """Find one column; the data of a varying one must begin at ``cursor``, which moves behind
        it. Where a table is not ``packed``, it may lie elsewhere: the row is ``astray``."""
        result = self.result
        absent = plain & (column.position + width(column) > self.fixed)
        usable = plain & ~absent & ~result.bad
        place = np.where(usable, self.body + column.position, 0)
        null = np.zeros(len(place), bool)
        if column.nullable and len(result.buffer):
            flags = np.where(usable, result.buffer[np.where(usable, place + column.length, 0)], 0)
            expected = "a null byte X'00' (value) or X'01' (null)"
            self._fail(
                flags > layouts.NULL_BIT,
                column.column.name,
                "null byte {}",
                expected,
                flags.astype(np.int64),
            )
            null = flags == layouts.NULL_BIT
        length, outside = np.full(len(place), column.length, np.int64), np.zeros(len(place), bool)
        if column.variable:
            at = numbers(result.buffer, place, layouts.PAIR["offset"], result.big).astype(np.int64)
            length = numbers(result.buffer, place, layouts.PAIR["length"], result.big).astype(
                np.int64
            )
            length = np.where(usable & ~null, length, 0)
            if result.dialect.out_of_row:
                outside = (
                    usable
                    & ((at & layouts.OUT_OF_ROW_BIT) > 0)
                    & (length == layouts.OUT_OF_ROW_SIZE)
                )
                at = np.where(outside, at & ~layouts.OUT_OF_ROW_BIT, at)
            elsewhere = usable & (length > 0) & (at != cursor)
            self.astray |= elsewhere
            outside_row = elsewhere & ((at < self.fixed) | (at + length > self.size - _HEAD))
            self._fail(
                outside_row if not packed else elsewhere,
                column.column.name,
                "a value at byte {} of the row, where byte {} follows the one before",
                _TILED,
                at,
                cursor,
            )
            over = usable & (cursor + length > self.size - _HEAD)
            self._fail(
                over,
                column.column.name,
                "a value of {} bytes in a row of {}",
                "one inside the row",
                length,
                self.size - _HEAD,
            )
            place = np.where(usable, self.body + np.where(elsewhere, at, cursor), 0)
            cursor += np.where(result.bad, 0, length)
        length = np.where(usable & ~result.bad, length, 0)
        return _Column(place, length, null, np.zeros(len(place), bool), absent, outside)

    # -- value compression (section 10.3)
    # ---------------------------------------------------------------------------------------------

    def _compressed(self) -> list[_Column]:
        result, columns = self.result, self.result.format.columns
        rows = self.compressed
        count = np.where(rows, self.fixed, 0)
        self._fail(
            rows & (count > len(columns)),
            "row header",
            "{} columns",
            f"{len(columns)} at most",
            count,
        )
        array = 2 * (count + 1)
        self._fail(
            rows & (_HEAD + array > self.size),
            "row header",
            "{} columns in a row of {} bytes",
            "room for their offsets",
            count,
            self.size,
        )
        part = layouts.PAIR["offset"]
        first = (
            numbers(result.buffer, np.where(rows, self.body, 0), part, result.big).astype(np.int64)
            & ~layouts.ATTRIBUTE_BIT
        )
        base = np.where(first == 0, array, 0)
        self._fail(
            rows & (first != 0) & (first != array),
            "row",
            "a first offset of {}",
            "0, or the length of the offsets",
            first,
        )
        cells, reached = [], array.copy()
        for index, column in enumerate(columns):
            here = rows & ~result.bad & (index < count)
            raw = numbers(
                result.buffer, np.where(here, self.body + 2 * index, 0), part, result.big
            ).astype(np.int64)
            following = numbers(
                result.buffer, np.where(here, self.body + 2 * index + 2, 0), part, result.big
            ).astype(np.int64)
            begin, stop = (
                (raw & ~layouts.ATTRIBUTE_BIT) + base,
                (following & ~layouts.ATTRIBUTE_BIT) + base,
            )
            cells.append(
                self._span(
                    column,
                    here,
                    rows & ~here,
                    (raw & layouts.ATTRIBUTE_BIT) > 0,
                    begin,
                    stop,
                    reached,
                )
            )
            reached = np.where(here, stop, reached)
        self._fail(
            rows & (reached != self.size - _HEAD),
            "row",
            "values that end at byte {} of {}",
            _TILED,
            reached,
            self.size - _HEAD,
        )
        return cells

    def _span(
        self,
        column: ColumnFormat,
        here: Mask,
        absent: Mask,
        attribute: Mask,
        begin: Index,
        stop: Index,
        reached: Index,
    ) -> _Column:
        result, name = self.result, column.column.name
        wrong = here & ((begin != reached) | (stop < begin) | (stop > self.size - _HEAD))
        self._fail(wrong, name, "a value from byte {} to {} of the row", _TILED, begin, stop)
        here = here & ~result.bad
        place = np.where(here, self.body + begin, 0)
        mark = np.where(
            here & attribute & (stop > begin),
            result.buffer[np.minimum(place, len(result.buffer) - 1)],
            0,
        )
        without_value = (mark == layouts.ATTRIBUTE_NULL) | (mark == layouts.ATTRIBUTE_DEFAULT)
        self._fail(
            here & attribute & (~without_value | (stop - begin != 1)),
            name,
            "attribute {}",
            "X'01' (null) or X'80' (default)",
            mark.astype(np.int64),
        )
        null = here & attribute & (mark == layouts.ATTRIBUTE_NULL)
        self._fail(
            null & (not column.nullable), name, "a null", "a value: the column allows no nulls"
        )
        length = np.where(here & ~attribute, stop - begin, 0)
        if not column.variable:
            wrong = here & ~attribute & (length != column.length)
            self._fail(wrong, name, "a value of {} bytes", f"one of {column.length}", length)
        return _Column(
            place, length, null, here & attribute & ~null, absent, np.zeros(len(place), bool)
        )
