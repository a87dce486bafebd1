"""Row images of change events, and the values in them.

An image is, for each column, the length of its value as four octets, then the values behind each
other, as text of JSON (strings without quotes). A length of -1 is null. One below that is *absent*:
the event does not tell the value, of which ``-2 - length`` octets, of no meaning, stand there.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Mask
from replay.changes.catalog import ColumnFormat, RowFormat
from replay.decoding import codecs
from replay.decoding.codecs import Decoded
from sqlgen.schema import ARROW_TYPES, SqlType

NULL, ABSENT = -1, -2
_SHOWN = 40
#: Days, and ticks of a second by the digits of its fraction, that a date of four digits may have.
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_DAY = 86_400
_UNITS = {3: "ms", 6: "us", 9: "ns"}
_ZONED = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6}0*)?Z$"
_WHOLE = r"^-?[0-9]{1,18}$"


# -- images
# -------------------------------------------------------------------------------------------------


def images(columns: Sequence[pa.Array], absent: Sequence[Mask | None]) -> pa.Array:
    """Row images of ``n`` rows, binary, of a string array of ``n`` a column and which of its values
    are absent (None: none); what is absent is null in the array."""
    lengths = np.stack(
        [
            np.asarray(pc.fill_null(pc.binary_length(one), NULL).to_numpy(zero_copy_only=False))
            for one in columns
        ],
        axis=1,
    ).astype("<i4")
    for index, mask in enumerate(absent):
        if mask is not None:
            lengths[mask, index] = ABSENT
    head = codecs.binary_rows(np.ascontiguousarray(lengths).view(np.uint8))
    parts = [one.cast(pa.binary()) for one in columns]
    return pc.binary_join_element_wise(
        head, *parts, b"", null_handling="replace", null_replacement=b""
    )


def forget(buffer: Bytes, starts: Index, count: int, columns: Sequence[int]) -> None:
    """Make values of some ``columns`` (of ``count``) absent in images that begin at ``starts``."""
    for column in columns:
        places = starts[:, None] + 4 * column + np.arange(4)
        length = np.ascontiguousarray(buffer[places]).view("<i4").reshape(-1)
        less = np.where(length <= ABSENT, length, ABSENT - np.maximum(length, 0)).astype("<i4")
        buffer[places] = less.view(np.uint8).reshape(-1, 4)


@dataclass
class EventWalk:
    """The columns of ``n`` row images of one table version. Implements
    :class:`replay.logs.Walk`; images are whole, because opening the log made them."""

    format: RowFormat
    buffer: Bytes
    bad: Mask
    place: Index
    length: Index

    def reason(self, row: int) -> tuple[str, str, str]:
        """As :meth:`replay.logs.Walk.reason`."""
        return "image", "an image that is not whole", "a value for every column"

    def nulls(self, index: int) -> Mask | None:
        """As :meth:`replay.logs.log_file.NullTelling.nulls`."""
        null = np.asarray(self.length[:, index] == NULL)
        return null if null.any() else None

    def absent(self, index: int) -> Mask | None:
        """As :meth:`replay.logs.log_file.PartialImages.absent`."""
        missing = np.asarray(self.length[:, index] <= ABSENT)
        return missing if missing.any() else None

    def equal(self, other: EventWalk, index: int) -> Mask:
        """As :meth:`replay.logs.Walk.equal`. What the other image, the row as it became, does not
        tell is what was not changed."""
        mine, theirs = self.length[:, index], other.length[:, index]
        same = mine == theirs
        rows = np.flatnonzero(same & (mine > 0))
        if len(rows):
            ours, offsets = codecs.gather_varying(self.buffer, self.place[rows, index], mine[rows])
            others, _ = codecs.gather_varying(other.buffer, other.place[rows, index], mine[rows])
            differ = np.flatnonzero(ours != others)
            same[rows[np.searchsorted(offsets, differ, side="right") - 1]] = False
        same |= theirs <= ABSENT
        return np.asarray(same & ~self.bad & ~other.bad)

    def decode(self, index: int, rows: Index | None = None) -> tuple[pa.Array, Mask | None]:
        """As :meth:`replay.logs.Walk.decode`."""
        column = self.format.columns[index]
        chosen = np.arange(len(self.place)) if rows is None else rows
        length = self.length[chosen, index]
        none = (length < 0) | self.bad[chosen]
        data, offsets = codecs.gather_varying(
            self.buffer, np.where(none, 0, self.place[chosen, index]), np.where(none, 0, length)
        )
        text, bad = codecs.decode_text(data, offsets, 1208, none if none.any() else None)
        values, fails = DECODERS[column.code](text, column)
        missing = (length <= ABSENT) & ~self.bad[chosen]
        for more in (bad, missing):
            if more is not None and more.any():
                fails = more if fails is None else fails | more
        return values, fails if fails is not None and fails.any() else None

    def explain(self, index: int, row: int) -> tuple[str, str]:
        """As :meth:`replay.logs.Walk.explain`."""
        column, length = self.format.columns[index], int(self.length[row, index])
        if length <= ABSENT:
            return (
                f"no value of column {column.column.name}, because the event does not have it",
                "one: with REPLICA IDENTITY FULL the events would have it",
            )
        start = int(self.place[row, index])
        text = self.buffer[start : start + max(length, 0)].tobytes().decode("utf-8", "replace")
        shown = text[:_SHOWN] + ("…" if len(text) > _SHOWN else "")
        return f"{shown!r} in column {column.column.name}", EXPECTED[column.code]


def walk(layout: RowFormat, buffer: Bytes, start: Index, end: Index) -> EventWalk:
    """The columns of the ``n`` images ``buffer[start:end]`` (``int64[n]`` each)."""
    count = len(layout.columns)
    head = 4 * count
    bad = (start < 0) | (end - start < head) | (end > len(buffer))
    begin = np.where(bad, 0, start)
    length = np.full((len(start), count), NULL, np.int64)
    good = np.flatnonzero(~bad)
    if len(good) and count:
        block = codecs.gather(buffer, begin[good], head)
        length[good] = np.ascontiguousarray(block).view("<i4").astype(np.int64)
    sizes = np.where(length <= ABSENT, ABSENT - length, np.maximum(length, 0))
    place = begin[:, None] + head + np.cumsum(sizes, axis=1) - sizes
    return EventWalk(layout, np.asarray(buffer), np.asarray(bad), place, length)


# -- values
# -------------------------------------------------------------------------------------------------


def _mask(values: pa.Array) -> Mask:
    return np.asarray(pc.fill_null(values, False).to_numpy(zero_copy_only=False), bool)


def _unlike(text: pa.Array, pattern: str) -> Mask:
    return ~np.asarray(
        pc.fill_null(pc.match_substring_regex(text, pattern), True).to_numpy(zero_copy_only=False),
        bool,
    )


def _usable(text: pa.Array, fails: Mask, instead: str) -> pa.Array:
    return pc.if_else(pa.array(fails), instead, text) if fails.any() else text


def _numbers(text: pa.Array) -> tuple[pa.Array, Mask]:
    """Whole numbers of 64 bits. What has more than 18 digits is looked at alone."""
    fails = _unlike(text, _WHOLE)
    for row in np.flatnonzero(fails).tolist():
        value = text[row].as_py()
        if value.lstrip("-").isdecimal() and -(1 << 63) <= int(value) < 1 << 63:
            fails[row] = False
    return pc.cast(_usable(text, fails, "0"), pa.int64()), fails


_RANGES = {SqlType.SMALLINT: 15, SqlType.INTEGER: 31, SqlType.BIGINT: 63}


def _whole(text: pa.Array, column: ColumnFormat) -> Decoded:
    values, fails = _numbers(text)
    limit = 1 << _RANGES[column.column.type]
    if limit < 1 << 63:
        fails |= _mask(pc.or_(pc.less(values, -limit), pc.greater_equal(values, limit)))
    return values, fails


def _float(text: pa.Array, column: ColumnFormat) -> Decoded:
    plain = r"^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$|^NaN$|^-?Infinity$"
    fails = _unlike(text, plain)
    values = pc.cast(_usable(text, fails, "0"), pa.float64())
    return pc.cast(values, ARROW_TYPES[column.column.type]), fails


def _boolean(text: pa.Array, column: ColumnFormat) -> Decoded:
    return pc.equal(text, "true"), _unlike(text, "^(true|false)$")


def _text(text: pa.Array, column: ColumnFormat) -> Decoded:
    size = column.column.length
    long = _mask(pc.greater(pc.utf8_length(text), size))
    return (pc.utf8_rpad(text, size) if column.column.type is SqlType.CHAR else text), long


def _unread(text: pa.Array, column: ColumnFormat) -> Decoded:
    return text, np.asarray(text.is_valid())


def _decoded(text: pa.Array) -> list[bytes | None]:
    """Bytes of base64; None for nulls, and for what is no base64."""
    return [None if one is None else _of_base64(one) for one in text.to_pylist()]


def _of_base64(text: str) -> bytes | None:
    try:
        return b64decode(text, validate=True)
    except (NotBase64, ValueError):
        return None


def _bytes(text: pa.Array, column: ColumnFormat) -> Decoded:
    values = pa.array(_decoded(text), pa.binary())
    return values, _mask(pc.and_(values.is_null(), text.is_valid()))


def _digits(number: int, scale: int) -> str:
    shown = str(abs(number)).rjust(scale + 1, "0")
    sign = "-" if number < 0 else ""
    return f"{sign}{shown[:-scale]}.{shown[-scale:]}" if scale else f"{sign}{shown}"


def _decimal(text: pa.Array, column: ColumnFormat) -> Decoded:
    """Two's complement in base64, with the scale of the schema."""
    scale, limit = column.scale, 10**column.length
    found: list[str | None] = []
    for raw in _decoded(text):
        number = int.from_bytes(raw, signed=True) if raw else None
        fits = number is not None and -limit < number < limit
        found.append(_digits(number, scale) if number is not None and fits else None)
    values = pa.array(found, pa.string())
    return values, _mask(pc.and_(values.is_null(), text.is_valid()))


def _variable(text: pa.Array, column: ColumnFormat) -> Decoded:
    """``{"scale": 2, "value": "…"}``, as digits with so many behind the point."""
    pattern = r'^\{"scale":(?P<scale>[0-9]{1,5}),"value":"(?P<value>[A-Za-z0-9+/=]+)"\}$'
    parts = pc.extract_regex(text, pattern)
    scales, raws = (pc.struct_field(parts, name).to_pylist() for name in ("scale", "value"))
    found: list[str | None] = []
    for scale, value in zip(scales, raws, strict=True):
        raw = _of_base64(value) if scale is not None else None
        found.append(_digits(int.from_bytes(raw, signed=True), int(scale)) if raw else None)
    values = pa.array(found, pa.string())
    return values, _mask(pc.and_(values.is_null(), text.is_valid()))


def _int64(text: pa.Array) -> tuple[npt.NDArray[np.int64], Mask, Mask]:
    """(numbers, 0 where there is none; which are null; which are no numbers)."""
    values, fails = _numbers(text)
    null = np.asarray(text.is_null().to_numpy(zero_copy_only=False), bool)
    return pc.fill_null(values, 0).to_numpy(zero_copy_only=False), null, fails


def _date(text: pa.Array, column: ColumnFormat) -> Decoded:
    days, null, fails = _int64(text)
    fails |= ((days < _FIRST_DAY) | (days > _LAST_DAY)) & ~null
    shown = np.where(fails | null, 0, days).astype("datetime64[D]").astype(str)
    return pa.array(shown, pa.string(), mask=null), fails


def _timestamp(text: pa.Array, column: ColumnFormat) -> Decoded:
    """Ticks since 1970, of a source without a zone."""
    ticks, null, fails = _int64(text)
    digits = column.column.length
    days = ticks // (_DAY * 10**digits)
    fails |= ((days < _FIRST_DAY) | (days > _LAST_DAY)) & ~null
    moments = np.where(fails | null, 0, ticks).astype(f"datetime64[{_UNITS[digits]}]")
    shown = np.char.replace(moments.astype(str), "T", " ")
    return pa.array(shown, pa.string(), mask=null), fails


def _time(digits: int) -> Callable[[pa.Array, ColumnFormat], Decoded]:
    """Ticks since midnight; 24:00:00 is one."""

    def decode(text: pa.Array, column: ColumnFormat) -> Decoded:
        ticks, null, fails = _int64(text)
        second = 10**digits
        fails |= ((ticks < 0) | (ticks > _DAY * second)) & ~null
        ticks = np.where(fails | null, 0, ticks)
        whole, rest = ticks // second, ticks % second
        parts = [pa.array(part) for part in (whole // 3600, whole // 60 % 60, whole % 60, rest)]
        hour, minute, second_, fraction = (
            pc.utf8_lpad(part.cast(pa.string()), width, "0")
            for part, width in zip(parts, (2, 2, 2, digits), strict=True)
        )
        shown = pc.binary_join_element_wise(hour, minute, second_, ":")
        shown = pc.binary_join_element_wise(shown, fraction, ".")
        exact = _without_zeros(shown)
        return pc.if_else(pa.array(null), pa.scalar(None, pa.string()), exact), fails

    return decode


def _without_zeros(shown: pa.Array) -> pa.Array:
    """``12:00:00.500`` as ``12:00:00.5``, and ``12:00:00.000`` as ``12:00:00``."""
    return pc.replace_substring_regex(shown, r"(\.[0-9]*[1-9])0+$|\.0+$", r"\1")


def _zoned(text: pa.Array, column: ColumnFormat) -> Decoded:
    """``2024-02-29T21:59:59.123456Z``: an instant, in UTC."""
    fails = _unlike(text, _ZONED) | _mask(pc.starts_with(text, "0000"))
    text = _usable(text, fails, "1970-01-01T00:00:00Z")
    moment = pc.replace_substring(pc.utf8_slice_codeunits(text, 0, 19), "T", " ")
    rest = pc.utf8_slice_codeunits(pc.utf8_rtrim(text, "Z"), 20)
    rest = pc.utf8_slice_codeunits(pc.utf8_rpad(rest, 6, "0"), 0, 6)
    shown = pc.binary_join_element_wise(moment, rest, ".")
    return pc.binary_join_element_wise(shown, "+00:00", ""), fails


#: How a column of each code is decoded: text of JSON -> values, and which are none.
DECODERS: dict[str, Callable[[pa.Array, ColumnFormat], Decoded]] = {
    "whole": _whole,
    "float": _float,
    "boolean": _boolean,
    "text": _text,
    "bytes": _bytes,
    "decimal": _decimal,
    "variable": _variable,
    "date": _date,
    "timestamp": _timestamp,
    "time3": _time(3),
    "time6": _time(6),
    "time9": _time(9),
    "zoned": _zoned,
    "unread": _unread,
}
_MOMENT = "a moment of the years 0001 to 9999"
#: What a value of each code is, for messages.
EXPECTED = {
    "whole": "a whole number of the column's type",
    "float": "a number, NaN or Infinity",
    "boolean": "true or false",
    "text": "text",
    "bytes": "bytes in base64 (binary.handling.mode=bytes)",
    "decimal": "a decimal of the column's digits in base64 (decimal.handling.mode=precise)",
    "variable": "a scale and a decimal in base64 (decimal.handling.mode=precise)",
    "date": "a day of the years 0001 to 9999",
    "timestamp": _MOMENT,
    "time3": "a time of day",
    "time6": "a time of day",
    "time9": "a time of day",
    "zoned": _MOMENT,
    "unread": (
        "a type whose values events hold exactly (see the reference about events);"
        " --exclude-columns leaves the column out"
    ),
}
