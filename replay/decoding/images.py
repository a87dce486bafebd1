"""Row images -> value columns: one cursor per row, one step per column (format notes, sections 6.3
to 6.5).

:func:`walk` finds where every column of every image lies and insists that each image ends exactly
where its record says; :meth:`ImageWalk.decode` and :meth:`ImageWalk.equal` look at one column at a
time, so that nothing is decoded that nobody asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from replay.arrays import Bytes, Index, Mask
from replay.changes.catalog import ColumnFormat, RowFormat
from replay.decoding import codecs, image_layouts
from replay.decoding.image_layouts import (
    NULL_BYTE,
    Cell,
    ccsid_of,
    decode_fixed,
    expected,
    is_binary,
    layouts,
)
from replay.errors import InputError
from sqlgen.schema import ARROW_TYPES

_EXACT = "columns that end exactly where the image ends"
_INSIDE = "columns that fit the image"
_FILLED = "whole characters that fit the column, and blanks or zeros after them"
#: What fills expanded graphic columns up, two bytes each: zeros, EBCDIC's and ASCII's blanks, and
#: the blanks of UTF-16, Shift-JIS, GBK and KS, and Big5.
_FILLERS = np.array([0, 0x4040, 0x2020, 0x20, 0x3000, 0x8140, 0xA1A1, 0xA140], ">u2")
_LOB = (
    "a large object column that fills the rest as its length says (its layout in a row is not"
    " documented)"
)


@dataclass(frozen=True)
class ImageFailure:
    """Rows that do not fit at one column, for the same reason; ``found`` is a format string for the
    row's ``numbers``."""

    rows: Index
    column: str
    found: str
    numbers: tuple[Index, ...]
    expected: str


@dataclass
class ImageWalk:
    """Where the columns of ``n`` images lie. Columns of rows that are ``bad`` point into some good
    image; when no row is good, nowhere.

    ``null[i]`` is None when no row is null, ``at(i)`` where the data of column ``i`` begins,
    ``length[i]`` its bytes (one number when fixed). ``reading`` is the index of the reading of the
    format (:func:`replay.decoding.image_layouts.layouts`) that was taken.
    """

    format: RowFormat
    buffer: Bytes
    start: Index
    end: Index
    bad: Mask
    null: list[Mask | None] = field(default_factory=list)
    length: list[Index | int] = field(default_factory=list)
    base: list[tuple[Index, int]] = field(default_factory=list)
    failures: list[ImageFailure] = field(default_factory=list)
    reading: int = 0

    def at(self, index: int) -> Index:
        """Where the data of a column begins, in the buffer."""
        base, shift = self.base[index]
        return base + shift

    @property
    def empty(self) -> bool:
        """True when there is no good image, so that columns lie nowhere."""
        return bool(self.bad.all())

    def reason(self, row: int) -> tuple[str, str, str]:
        """Of a bad row: the first column that does not fit, what was found and what was
        expected."""
        for failure in self.failures:
            place = int(np.searchsorted(failure.rows, row))
            if place < len(failure.rows) and failure.rows[place] == row:
                return (
                    failure.column,
                    failure.found.format(*(int(values[place]) for values in failure.numbers)),
                    failure.expected,
                )
        return "", "nothing wrong", _EXACT

    def equal(self, other: ImageWalk, index: int) -> Mask:
        """Where column ``index`` is the same in two images: both null, or both not and the same
        bytes. Meaningless in bad rows."""
        return _equal(self, other, index)

    def nulls(self, index: int) -> Mask | None:
        """Where column ``index`` is null (None: nowhere)."""
        return None if self.empty else self.null[index]

    def decode(self, index: int, rows: Index | None = None) -> tuple[pa.Array, Mask | None]:
        """The values of column ``index`` in ``rows`` (all when None), and which of them cannot be
        decoded (None: all can).

        Values follow the contract of :mod:`sqlgen.schema`; bad ones are null. ``InputError`` when
        the column's character set is not known.
        """
        column = self.format.columns[index]
        if self.empty:
            count = len(self.bad) if rows is None else len(rows)
            return pa.nulls(count, ARROW_TYPES[column.column.type]), None
        return image_layouts.decode(column, self.buffer, *self._values(index, rows))

    def readable(self, index: int) -> bool:
        """Whether any bytes are a value of column ``index``. ``InputError`` when the column's
        character set is not known."""
        return image_layouts.readable(self.format.columns[index])

    def explain(self, index: int, row: int) -> tuple[str, str]:
        """Of a value that cannot be decoded: what was found (its bytes) and what was expected."""
        start, _, length = self._values(index, np.array([row]))
        size = length if isinstance(length, int) else int(length[0])
        data = self.buffer[int(start[0]) : int(start[0]) + size]
        return image_layouts.explain(self.format.columns[index], data)

    def _values(self, index: int, rows: Index | None) -> tuple[Index, Mask | None, Index | int]:
        """Where the values of a column begin, which are null, and how long they are."""
        start, null, length = self.at(index), self.null[index], self.length[index]
        if rows is not None:
            start = start[rows]
            null = None if null is None else null[rows]
            length = length if isinstance(length, int) else length[rows]
        return start, null, length


def walk(
    fmt: RowFormat, buffer: Bytes, start: Index, end: Index, reading: int | None = None
) -> ImageWalk:
    """Find the columns of the images ``buffer[start:end]``. Nothing outside an image is read;
    images that do not fit are ``bad``.

    Where the notes leave a unit open (graphic lengths, large object indicators), the reading under
    which all images end exactly is taken, for the whole batch, never per row. ``reading`` (an index
    of ``layouts``, as in ``ImageWalk.reading``) settles it beforehand; ``ValueError`` when
    there is none.
    """
    buffer = np.asarray(buffer)  # a plain array: indexing a memmap makes memmaps
    tried: list[ImageWalk] = []
    for number, cells in enumerate(layouts(fmt)):
        if reading is not None and number != reading:
            continue
        result = _Walker(fmt, cells, buffer, start, end).run()
        result.reading = number
        if not result.bad.any():
            return result
        tried.append(result)
    if not tried:
        raise ValueError(f"row images of this format have no reading {reading}")
    return min(tried, key=lambda result: int(result.bad.sum()))


@dataclass(frozen=True)
class _Run:
    """Columns ``first`` to ``last - 1`` (the last may be a varying one) whose places are known once
    the first one's is. ``edges`` has where each begins, and where the run ends: the length halfword
    of the varying column included."""

    first: int
    last: int
    edges: tuple[int, ...]


def _runs(cells: tuple[Cell, ...]) -> list[_Run]:
    runs, first, edges = [], 0, [0]
    for index, cell in enumerate(cells):
        edges.append(edges[-1] + cell.nullable + (2 if cell.variable else cell.width))
        if cell.variable:
            runs.append(_Run(first, index + 1, tuple(edges)))
            first, edges = index + 1, [0]
    runs.append(_Run(first, len(cells), tuple(edges)))
    return runs


class _Walker:
    """One walk under one reading. Rows that turn out bad go on as a good one, their donor: then no
    later step can leave the buffer."""

    def __init__(
        self, fmt: RowFormat, cells: tuple[Cell, ...], buffer: Bytes, start: Index, end: Index
    ) -> None:
        self.fmt, self.cells, self.buffer = fmt, cells, buffer
        self.cursor, self.end = start, end
        self.result = ImageWalk(fmt, buffer, start, end, np.zeros(len(start), bool))

    def run(self) -> ImageWalk:
        result = self.result
        outside = (self.cursor < 0) | (self.end < self.cursor) | (self.end > len(self.buffer))
        self._fail(
            outside,
            0,
            "an image from {} to {}",
            (result.start, result.end),
            "an image inside the data",
        )
        for run in _runs(self.cells):
            if not result.empty:
                self._step(run)
        if not result.empty:
            lob = [index for index, column in enumerate(self.fmt.columns) if column.lob]
            last, expected = (lob[0], _LOB) if lob else (len(self.cells) - 1, _EXACT)
            sizes = (self.end - result.start, self.cursor - result.start)
            self._fail(
                self.cursor != self.end,
                last,
                "an image of {} bytes whose columns end at byte {}",
                sizes,
                expected,
            )
        return result

    def _fail(
        self, wrong: Mask, column: int, found: str, numbers: tuple[Index, ...], expected: str
    ) -> None:
        """Mark rows, note why, and let them go on as their donor."""
        rows = np.flatnonzero(wrong & ~self.result.bad)
        if not len(rows):
            return
        name = self.fmt.columns[column].column.name if self.fmt.columns else ""
        self.result.failures.append(
            ImageFailure(rows, name, found, tuple(values[rows] for values in numbers), expected)
        )
        bad = self.result.bad
        bad[rows] = True
        good = np.flatnonzero(~bad)
        if len(good):
            self.cursor, self.end = self.cursor.copy(), self.end.copy()
            self.cursor[bad], self.end[bad] = self.cursor[good[0]], self.end[good[0]]

    def _step(self, run: _Run) -> None:
        size = run.edges[-1]
        if (self.cursor + size > self.end).any():
            for index, edge in enumerate(run.edges[1:], run.first):
                short = self.cursor + edge > self.end
                sizes = (self.end - self.result.start, self.cursor + edge - self.result.start)
                self._fail(
                    short,
                    index,
                    "an image of {} bytes in which this column goes to byte {}",
                    sizes,
                    _INSIDE,
                )
            if self.result.empty:
                return
        for index, edge in zip(range(run.first, run.last), run.edges, strict=False):
            cell = self.cells[index]
            null = self._null(index, edge) if cell.nullable else None
            if self.result.empty:
                return
            self.result.null.append(null)
            if cell.variable:
                self._varying(index, edge + cell.nullable)
            else:
                self.result.base.append((self.cursor, edge + cell.nullable))
                self.result.length.append(cell.width)
        if run.last == run.first or not self.cells[run.last - 1].variable:
            self.cursor = self.cursor + size

    def _null(self, index: int, edge: int) -> Mask | None:
        flags = self.buffer[self.cursor + edge]
        if not flags.any():
            return None
        wrong = (flags != 0) & (flags != 0xFF)
        if wrong.any():
            numbers = (flags.astype(np.int64), self.cursor + edge - self.result.start)
            self._fail(wrong, index, "X'{:02X}' at byte {} of the image", numbers, NULL_BYTE)
            flags = self.buffer[self.cursor + edge] if not self.result.empty else flags
        return np.asarray(flags != 0)

    def _varying(self, index: int, shift: int) -> None:
        """The last column of a run: its data follows the halfword at ``shift``, and the cursor goes
        to the end of it."""
        cell = self.cells[index]
        place = self.cursor + shift
        length = codecs.halfwords(self.buffer, place) * cell.unit
        taken: Index = np.full(len(length), cell.width) if cell.expanded else length
        over = place + 2 + taken > self.end
        if over.any():
            numbers = (taken, place - self.result.start, self.end - self.result.start)
            self._fail(
                over, index, "a length of {} bytes at byte {} of an image of {}", numbers, _INSIDE
            )
            if self.result.empty:
                return
            place, length, taken = self._of_donors(place, length, taken)
        if cell.filled:
            null = self.result.null[-1]
            wrong = ~_is_filled(self.buffer, place + 2, length, cell.width)
            wrong &= True if null is None else ~null
            numbers = (length, place - self.result.start, taken)
            self._fail(
                wrong, index, "a length of {} bytes at byte {} in a column of {}", numbers, _FILLED
            )
            if self.result.empty:
                return
            place, length, taken = self._of_donors(place, length, taken)
        self.result.base.append((place, 2))
        self.result.length.append(np.minimum(length, cell.width) if cell.expanded else length)
        self.cursor = place + 2 + taken

    def _of_donors(self, *values: Index) -> tuple[Index, ...]:
        """Values of rows; of bad ones those of a good one."""
        bad = self.result.bad
        if not bad.any():
            return values
        donor = np.flatnonzero(~bad)[0]
        return tuple(np.where(bad, found[donor], found) for found in values)


def _is_filled(buffer: Bytes, start: Index, length: Index, width: int) -> Mask:
    """Whether values of ``length`` bytes at ``start`` are whole double-byte characters, and what
    follows them up to ``width`` bytes is one of :data:`_FILLERS` again and again."""
    filled = (length <= width) & (length % 2 == 0)
    rest = np.where(filled, np.maximum(width - length, 0) & ~1, 0)
    begin = start + np.where(rest > 0, length, 0)
    data, offsets = codecs.gather_varying(buffer, begin, rest)
    pairs, first = data.view(">u2"), offsets[:-1] // 2
    wrong = ~np.isin(pairs, _FILLERS)
    expected = np.repeat(np.minimum(first, max(len(pairs) - 1, 0)), rest // 2)
    wrong |= pairs != pairs[expected] if len(pairs) else False
    filled[np.searchsorted(offsets, 2 * np.flatnonzero(wrong), side="right") - 1] = False
    return np.asarray(filled)


# -- the same values
# -------------------------------------------------------------------------------------------------


def _equal(one: ImageWalk, other: ImageWalk, index: int) -> Mask:
    count = len(one.bad)
    if one.empty or other.empty:
        return np.zeros(count, bool)
    lengths = one.length[index], other.length[index]
    if isinstance(lengths[0], int) and isinstance(lengths[1], int):
        same = (
            _same_fixed(one, other, index, lengths[0])
            if lengths[0] == lengths[1]
            else np.zeros(count, bool)
        )
    else:
        same = np.asarray(np.equal(*lengths))
        same = np.broadcast_to(same, count).copy()
        rows = np.flatnonzero(same)
        length = np.broadcast_to(lengths[0], count)[rows]
        mine, offsets = codecs.gather_varying(one.buffer, one.at(index)[rows], length)
        theirs, _ = codecs.gather_varying(other.buffer, other.at(index)[rows], length)
        differ = np.flatnonzero(mine != theirs)
        same[rows[np.searchsorted(offsets, differ, side="right") - 1]] = False
    null, other_null = one.null[index], other.null[index]
    if null is None and other_null is None:
        return same
    null = np.zeros(count, bool) if null is None else null
    other_null = np.zeros(count, bool) if other_null is None else other_null
    return np.asarray(np.where(null | other_null, null & other_null, same))


def _same_fixed(one: ImageWalk, other: ImageWalk, index: int, width: int) -> Mask:
    """Compare by machine words."""
    same = np.ones(len(one.bad), bool)
    if width == 0:
        return same
    word, places = codecs.word_places(width)
    mine, theirs = one.at(index), other.at(index)
    for shift in places:
        same &= _words(one.buffer, mine + shift, word) == _words(other.buffer, theirs + shift, word)
    return same


def _words(buffer: Bytes, start: Index, word: int) -> npt.NDArray[np.unsignedinteger]:
    windows: npt.NDArray[np.unsignedinteger] = np.ndarray(
        (len(buffer) - word + 1,), f"u{word}", buffer, 0, (1,)
    )
    return windows[start]


# -- images described
# -------------------------------------------------------------------------------------------------
# One row image column by column, for people.


def describe_image(fmt: RowFormat, image: bytes) -> list[tuple[str, int, str, str]]:
    """One image column by column: name, offset in the image, bytes in hexadecimal (null byte and
    length included), value or what is wrong.

    Never raises: a damaged image is shown as far as it can be read, and what is left over comes
    last. Walks on its own, one column after the other, and so serves as the referee of
    :func:`replay.decoding.images.walk`.
    """
    attempts = [_describe(fmt, cells, image) for cells in layouts(fmt)]
    return min(attempts, key=lambda attempt: attempt[1])[0]


def _describe(
    fmt: RowFormat, cells: tuple[Cell, ...], image: bytes
) -> tuple[list[tuple[str, int, str, str]], int]:
    """The lines, and how many bytes are missing or left over."""
    lines: list[tuple[str, int, str, str]] = []
    place = 0
    for column, cell in zip(fmt.columns, cells, strict=True):
        head = cell.nullable + (2 if cell.variable else 0)
        prefix = image[place : place + head]
        size = cell.width
        if cell.variable and len(prefix) == head:
            length = (prefix[-2] * 256 + prefix[-1]) * cell.unit
            size, value_size = (
                (cell.width, min(length, cell.width)) if cell.expanded else (length, length)
            )
        else:
            value_size = size
        piece = image[place : place + head + size]
        missing = head + size - len(piece)
        if missing > 0:
            lines.append(
                (column.column.name, place, piece.hex().upper(), f"*** {missing} bytes are missing")
            )
            return lines, missing
        text = _describe_value(
            column, cell, piece[0] if cell.nullable else 0, piece[head : head + value_size]
        )
        lines.append((column.column.name, place, piece.hex().upper(), text))
        place += head + size
    left = len(image) - place
    if left:
        lines.append(("", place, image[place:].hex().upper(), f"*** {left} bytes are left over"))
    return lines, left


def _describe_value(column: ColumnFormat, cell: Cell, flag: int, value: bytes) -> str:
    if flag == 0xFF:
        return "NULL"
    if flag:
        return f"*** null byte X'{flag:02X}'; expected {NULL_BYTE}"
    if column.lob:
        return "(its value is not in the log)"
    block = np.frombuffer(value, np.uint8).reshape(1, len(value))
    try:
        if cell.variable and not is_binary(column):
            values, bad = codecs.decode_fixed_text(block, ccsid_of(column))
        else:
            values, bad = decode_fixed(column, block, None)
    except InputError as error:
        return f"*** {error}"
    if bad is not None:
        return f"*** cannot be decoded; expected {expected(column, len(value))}"
    shown = values[0].as_py()
    return f"X'{shown.hex().upper()}'" if isinstance(shown, bytes) else str(shown)
