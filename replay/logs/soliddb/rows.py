"""Row images -> value columns: where the values of DATA lie under a framing (section 7.2), and what
they say (sections 7.5 to 7.8).

Values follow each other in the order of the columns, each behind its length; together they must
fill the image exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Mask
from replay.changes.catalog import ColumnFormat, RowFormat
from replay.decoding import codecs
from replay.decoding.codecs import Decoded
from replay.logs.soliddb import layouts
from replay.logs.soliddb.layouts import InternalType, ValueFraming
from sqlgen.schema import ARROW_TYPES, SqlType

#: Bytes of a value shown in a finding.
_SHOWN = 64
_FILLED = "values that fill the image to its last byte"


@dataclass
class Cells:
    """Where the values of a column lie: ``place``, ``length``, and which are null."""

    place: Index
    length: Index
    null: Mask


@dataclass
class SolidRowWalk:
    """The columns of ``n`` row images of one table version. Implements
    :class:`replay.logs.Walk`."""

    format: RowFormat
    buffer: Bytes
    start: Index
    end: Index
    bad: Mask
    columns: list[Cells] = field(default_factory=list)
    reasons: dict[int, tuple[str, str, str]] = field(default_factory=dict)

    def reason(self, row: int) -> tuple[str, str, str]:
        """Of a bad image: (field, found, expected)."""
        return self.reasons.get(row, ("", "a damaged row", _FILLED))

    def equal(self, other: SolidRowWalk, index: int) -> Mask:
        """Where column ``index`` is the same in two images: both null, or both not and the same
        bytes."""
        mine, theirs = self.columns[index], other.columns[index]
        same = (mine.length == theirs.length) & ~mine.null & ~theirs.null & ~self.bad & ~other.bad
        same[same] = codecs.same_bytes(
            self.buffer, mine.place[same], other.buffer, theirs.place[same], mine.length[same]
        )
        return np.asarray(same | (mine.null & theirs.null))

    def nulls(self, index: int) -> Mask | None:
        """Where column ``index`` is null (None: nowhere)."""
        return self.columns[index].null

    def decode(self, index: int, rows: Index | None = None) -> tuple[pa.Array, Mask | None]:
        """Values of a column by the contract of :mod:`sqlgen.schema`, and which of them cannot be
        decoded (None: all can)."""
        column, cells = self.format.columns[index], self.columns[index]
        chosen = np.arange(len(self.start)) if rows is None else rows
        null = cells.null[chosen] | self.bad[chosen]
        place, length = (
            np.where(null, 0, cells.place[chosen]),
            np.where(null, 0, cells.length[chosen]),
        )
        return _decoded(column, self.buffer, place, length, null)

    def explain(self, index: int, row: int) -> tuple[str, str]:
        """Of a value that cannot be decoded: (found, expected)."""
        column, cells = self.format.columns[index], self.columns[index]
        raw = self.buffer[cells.place[row] : cells.place[row] + cells.length[row]].tobytes()
        digits = raw[:_SHOWN].hex().upper() + ("…" if len(raw) > _SHOWN else "")
        found = (
            f"X'{digits}' at byte {int(cells.place[row] - self.start[row])} in {column.code} column"
            f" {column.column.name}"
        )
        return found, _expected(column)


def walk(
    fmt: RowFormat,
    buffer: Bytes,
    start: Index,
    end: Index,
    framing: ValueFraming,
    *,
    until_bad: bool = False,
) -> SolidRowWalk:
    """Find the columns of the images ``buffer[start:end]``. Nothing outside an image is read;
    images that do not fit are bad. ``until_bad``: columns behind one in which an image is found to
    be bad are not looked for; what is asked is whether all images fit."""
    result = SolidRowWalk(fmt, np.asarray(buffer), start, end, np.zeros(len(start), bool))
    _Walker(result, framing).run(until_bad)
    return result


class _Walker:
    def __init__(self, result: SolidRowWalk, framing: ValueFraming) -> None:
        self.result, self.framing, self.lengths = result, framing, framing.lengths
        self.cursor = result.start.astype(np.int64)
        self._fail(
            (result.start < 0) | (result.end > len(result.buffer)),
            "DATA",
            "an image outside the data",
            "one inside",
        )

    def _fail(self, wrong: Mask, column: str, found: str, expected: str, *values: Index) -> None:
        """Mark rows as bad; ``found`` is a format for each row's ``values``."""
        if not wrong.any():
            return
        rows = np.flatnonzero(wrong & ~self.result.bad)
        self.result.bad[rows] = True
        for row in rows[:_SHOWN].tolist():
            self.result.reasons[row] = (
                column,
                found.format(*(int(value[row]) for value in values)),
                expected,
            )

    def run(self, until_bad: bool) -> None:
        result = self.result
        columns = result.format.columns
        if self.framing.count:
            count = self._take("number of values", self.framing.count, True, ~result.bad)
            self._fail(
                count != len(columns),
                "number of values",
                "{} values",
                f"{len(columns)}, as the table has columns",
                count,
            )
        for column in columns:
            if until_bad and result.bad.any():
                return
            result.columns.append(self._cell(column))
        size = result.end - result.start
        self._fail(
            self.cursor != result.end,
            "DATA",
            "values that end at byte {} of {}",
            _FILLED,
            self.cursor - result.start,
            size,
        )

    def _take(self, what: str, size: int, big: bool, rows: Mask) -> Index:
        """A number at the cursor of ``rows``, which moves behind it; 0 elsewhere."""
        short = rows & (self.cursor + size > self.result.end)
        self._fail(
            short,
            what,
            "an image that ends at byte {}",
            "a length and a value for every column",
            self.result.end - self.result.start,
        )
        rows = rows & ~short
        value = np.zeros(len(rows), np.int64)
        for byte in range(size):
            place = np.where(rows, self.cursor + byte, 0)
            part = self.result.buffer[place].astype(np.int64) if len(self.result.buffer) else value
            value |= part << (8 * (size - 1 - byte if big else byte))
        self.cursor += np.where(rows, size, 0)
        return np.where(rows, value, 0)

    def _cell(self, column: ColumnFormat) -> Cells:
        """Find one column: its length, whether it is null, its bytes."""
        result, name = self.result, column.column.name
        length, null = self._length(name)
        here = ~result.bad & ~null
        over = here & (self.cursor + length > result.end)
        self._fail(
            over,
            name,
            "a value of {} bytes in an image of {}",
            "one inside the image",
            length,
            result.end - result.start,
        )
        here &= ~over
        place = np.where(here, self.cursor, 0)
        length = np.where(here, length, 0)
        self.cursor += length
        kind = InternalType[column.subtype]
        if self.framing.nul and kind in layouts.ENDS_IN_NUL:
            last = np.where(here & (length > 0), place + length - 1, 0)
            ends = (length > 0) & (result.buffer[last] == 0) if len(result.buffer) else length > 0
            self._fail(
                here & ~ends, name, "a value of {} bytes without a X'00' at its end", "one", length
            )
            length = np.where(here & ends, length - 1, 0)
        self._fail(
            null & ~result.bad & (not column.nullable),
            name,
            "a null",
            "a value: the column allows no nulls",
        )
        here &= ~result.bad
        widths = layouts.WIDTHS.get(kind)
        if widths is not None:
            wrong = here.copy()
            for width in widths:
                wrong &= length != width
            expected = " or ".join(map(str, widths))
            self._fail(wrong, name, "a value of {} bytes", expected, length)
        if kind is InternalType.UNICODE:
            self._fail(
                here & (length % 2 > 0),
                name,
                "a value of {} bytes",
                "an even number: UTF-16",
                length,
            )
        return Cells(place, np.where(here, length, 0), null & ~result.bad)

    def _length(self, name: str) -> tuple[Index, Mask]:
        """(length, whether null) of the values at the cursor."""
        lengths, rows = self.lengths, ~self.result.bad
        null = np.zeros(len(rows), bool)
        if lengths.null_byte is not None:
            mark = self._take(name, 1, True, rows)
            self._fail(rows & (mark > 1), name, "null byte {}", "0 or 1", mark)
            rows = ~self.result.bad
            null = rows & (mark == lengths.null_byte)
        counted = rows if lengths.null_has_length else rows & ~null
        length = self._take(name, lengths.size, lengths.big, counted)
        if lengths.null_has_length:
            self._fail(null & (length != 0), name, "a null of {} bytes", "0 bytes", length)
        if lengths.escapes:
            long = counted & ~self.result.bad & (length >= layouts.VA_LONG)
            outside = long & (length == layouts.VA_OUTSIDE)
            long_lengths = self._take(name, 4, False, long)
            length = np.where(long, long_lengths, length)
            self._fail(
                outside,
                name,
                "a value of which only a part of {} bytes is in the log",
                "the whole value",
                length,
            )
        if lengths.null is not None:
            null = ~self.result.bad & (length == lengths.null)
            length = np.where(null, 0, length)
        return length, null


# -- values
# -------------------------------------------------------------------------------------------------

_DIGITS = r"^[+-]?[0-9]+\.?[0-9]*\x00?$|^[+-]?\.[0-9]+\x00?$"
_INTEGERS = frozenset({SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT})


def _expected(column: ColumnFormat) -> str:
    if column.column.type in (SqlType.DECIMAL, SqlType.DECFLOAT):
        scale = (
            f", at most {column.scale} of them after the point"
            if column.column.type is SqlType.DECIMAL
            else ""
        )
        return f"at most {layouts.MOST_DIGITS} decimal digits{scale}"
    if column.column.type in (SqlType.DATE, SqlType.TIMESTAMP):
        return (
            f"a date of the years 1 to {layouts.LAST_YEAR} (a year beyond may be a negative one),"
            " with its time"
        )
    return {
        SqlType.SMALLINT: f"a {column.code}",
        SqlType.TIME: "a time of day",
        SqlType.REAL: "a number in the range of single precision",
        SqlType.DOUBLE: "a number",
    }.get(column.column.type, "characters of the column's character set")


def _decoded(
    column: ColumnFormat, buffer: Bytes, place: Index, length: Index, null: Mask
) -> Decoded:
    kind, missing = column.column.type, null if null.any() else None
    if kind in _INTEGERS:
        values, _ = codecs.decode_integer(
            codecs.gather_padded(
                buffer, place, length, layouts.WIDTHS[InternalType[column.subtype]][0]
            ),
            missing,
        )
        limits = _limits(column)
        return values, None if limits is None else _some(~_within(values, *limits))
    if kind in (SqlType.REAL, SqlType.DOUBLE):
        return _floats(kind, buffer, place, length, null)
    if kind in (SqlType.DATE, SqlType.TIME, SqlType.TIMESTAMP):
        return moments(kind, codecs.gather_padded(buffer, place, length, 11), null)
    data, offsets = codecs.gather_varying(buffer, place, length)
    if kind in (SqlType.DECIMAL, SqlType.DECFLOAT):
        return _decimals(column, data, offsets, null)
    if column.ccsid is None:
        return codecs.binary_values(data, offsets, missing), None
    return codecs.decode_text(data, offsets, column.ccsid, missing)


def _limits(column: ColumnFormat) -> tuple[int, int] | None:
    """The lowest and the highest value of a small integer type."""
    for code, span in layouts.RANGES.items():
        if layouts.SQL_TYPES[code][0] == column.code:
            return span
    return None


def _some(bad: Mask) -> Mask | None:
    return bad if bad.any() else None


def _within(values: pa.Array, low: int, high: int) -> Mask:
    inside = pc.and_(pc.greater_equal(values, low), pc.less_equal(values, high))
    return np.asarray(pc.fill_null(inside, True).to_numpy(zero_copy_only=False), bool)


def _floats(kind: SqlType, buffer: Bytes, place: Index, length: Index, null: Mask) -> Decoded:
    """Doubles MSB first, or single ones where a value has 4 bytes. What is no number is bad; a REAL
    is the single next to its double (section 7.5)."""
    wide = codecs.gather_padded(buffer, place, length, 8).view(">f8").reshape(-1).astype(np.float64)
    narrow = codecs.gather_padded(buffer, place, length, 4).view(">f4").reshape(-1)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        values = np.where(length == 4, narrow.astype(np.float64), wide)
        numbers = values.astype(np.float32 if kind is SqlType.REAL else np.float64)
        bad = ~np.isfinite(numbers)
    bad &= ~null
    return pa.array(numbers, ARROW_TYPES[kind], mask=null | bad), _some(bad)


def _decimals(column: ColumnFormat, data: Bytes, offsets: Index, null: Mask) -> Decoded:
    """Digits as text, perhaps with one X'00' behind them -> canonical digits; a DECIMAL with zeros
    up to its scale, else as many as were logged."""
    plain, _ = codecs.decode_text(data, offsets, 367, null if null.any() else None)
    fits = pc.match_substring_regex(plain, _DIGITS)
    wrong = ~np.asarray(pc.fill_null(fits, False).to_numpy(zero_copy_only=False), bool) & ~null
    text = pc.utf8_rtrim(pc.if_else(pa.array(wrong), None, plain), "\0")
    negative = pc.starts_with(text, "-")
    text = pc.utf8_ltrim(text, "+-")
    point = pc.find_substring(text, ".")
    whole = pc.utf8_ltrim(pc.replace_substring_regex(text, r"\..*$", ""), "0")
    whole = pc.if_else(pc.equal(whole, ""), "0", whole)
    fraction = pc.if_else(pc.less(point, 0), "", pc.replace_substring_regex(text, r"^[^.]*\.", ""))
    digits = pc.add(
        pc.utf8_length(pc.replace_substring_regex(whole, "^0$", "")), pc.utf8_length(fraction)
    )
    over = pc.greater(digits, layouts.MOST_DIGITS)
    if column.column.type is SqlType.DECIMAL:
        fraction = pc.utf8_rpad(pc.utf8_rtrim(fraction, "0"), column.scale, "0")
        over = pc.or_(over, pc.greater(pc.utf8_length(fraction), column.scale))
    wrong |= np.asarray(pc.fill_null(over, False).to_numpy(zero_copy_only=False), bool)
    zero = pc.and_(pc.equal(whole, "0"), pc.equal(pc.utf8_ltrim(fraction, "0"), ""))
    sign = pc.if_else(pc.and_(negative, pc.invert(zero)), "-", "")
    texts = pc.if_else(
        pc.equal(fraction, ""), whole, pc.binary_join_element_wise(whole, fraction, ".")
    )
    values = pc.if_else(pa.array(wrong | null), None, pc.binary_join_element_wise(sign, texts, ""))
    return values.cast(pa.string()), _some(wrong)


def _part(block: Bytes, name: str) -> Index:
    offset, size = layouts.MOMENT[name]
    value = np.zeros(len(block), np.int64)
    for byte in range(size):
        value = (value << 8) | block[:, offset + byte]
    return value


def years(block: Bytes) -> Index:
    """The years of 11-byte moments: with the bias taken off where the first bit says that there is
    one."""
    year = _part(block, "year")
    return np.asarray(np.where(year >= layouts.YEAR_BIAS, year - layouts.YEAR_BIAS, year), np.int64)


def in_range(block: Bytes) -> Mask:
    """Whether the fields of 11-byte moments can be such."""
    clock = (
        (_part(block, "hour") <= 23)
        & (_part(block, "minute") <= 59)
        & (_part(block, "second") <= 59)
    )
    day = (
        (_part(block, "month") <= 12)
        & (_part(block, "day") <= 31)
        & (_part(block, "fraction") < layouts.NANOSECONDS)
    )
    return np.asarray(clock & day)


def moments(kind: SqlType, block: Bytes, null: Mask) -> Decoded:
    """``uint8[n, 11]`` -> dates, times, and timestamps of nine fraction digits (section 7.7); the
    part that a type has not is not looked at."""
    picture = {SqlType.DATE: "YYYY-MM-DD", SqlType.TIME: "hh:mm:ss"}.get(
        kind, "YYYY-MM-DD hh:mm:ss.fffffffff"
    )
    value = {"Y": years(block)} | {
        letter: _part(block, name)
        for letter, name in zip(
            "MDhmsf", ("month", "day", "hour", "minute", "second", "fraction"), strict=True
        )
    }
    bad = np.zeros(len(block), bool)
    limits = {
        "Y": layouts.LAST_YEAR,
        "M": 12,
        "D": 31,
        "h": 23,
        "m": 59,
        "s": 59,
        "f": layouts.NANOSECONDS - 1,
    }
    for letter, most in limits.items():
        bad |= (value[letter] > most) if letter in picture else False
    if kind is SqlType.TIME:
        bad |= value["f"] > 0
    text = np.empty((len(block), len(picture)), np.uint8)
    left = {letter: picture.count(letter) for letter in limits}
    for place, character in enumerate(picture):
        if character not in left:
            text[:, place] = ord(character)
            continue
        left[character] -= 1
        text[:, place] = 48 + value[character] // 10 ** left[character] % 10
    decode = {SqlType.DATE: codecs.decode_date, SqlType.TIME: codecs.decode_time}.get(kind)
    missing = null | bad
    values, wrong = (
        decode(text, null=missing) if decode else codecs.decode_timestamp(text, null=missing)
    )
    bad = bad & ~null
    if wrong is not None:
        bad = bad | wrong
    return values, _some(bad)
