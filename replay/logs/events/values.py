"""The values in row images of change events (:mod:`replay.logs.made_images`)."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Index, Mask
from replay.changes.catalog import ColumnFormat
from replay.decoding import codecs
from replay.decoding.codecs import Decoded
from replay.logs.made_images import ABSENT, MadeWalk, mask, unlike, usable
from sqlgen.schema import ARROW_TYPES, SqlType
from sqlgen.value_texts import WHOLE_BITS

_SHOWN = 40
#: Days, and ticks of a second by the digits of its fraction, that a date of four digits may have.
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_SECONDS = 86_400
_LONGEST_SPAN = (838 * 3600 + 59 * 60 + 59) * 1_000_000
_UNITS = {0: "s", 3: "ms", 6: "us", 9: "ns"}
_WHOLE = r"^-?[0-9]{1,18}$"
#: How texts of dates, of times of day, and of Connect's moments look.
DAY, CLOCK = r"[0-9]{4}-[0-9]{2}-[0-9]{2}", r"[0-9]{2}:[0-9]{2}:[0-9]{2}"
_ZONED = rf"^{DAY}T{CLOCK}([.][0-9]{{1,6}}0*)?Z$"


# -- values
# -------------------------------------------------------------------------------------------------


def _numbers(text: pa.Array) -> tuple[pa.Array, Mask]:
    """Whole numbers of 64 bits. What has more than 18 digits is looked at alone."""
    fails = unlike(text, _WHOLE)
    for row in np.flatnonzero(fails).tolist():
        value = text[row].as_py()
        if value.lstrip("-").isdecimal() and -(1 << 63) <= int(value) < 1 << 63:
            fails[row] = False
    return pc.cast(usable(text, fails, "0"), pa.int64()), fails


def _whole(text: pa.Array, column: ColumnFormat) -> Decoded:
    values, fails = _numbers(text)
    limit = 1 << WHOLE_BITS[column.column.type]
    if limit < 1 << 63:
        fails |= mask(pc.or_(pc.less(values, -limit), pc.greater_equal(values, limit)))
    return values, fails


def _float(text: pa.Array, column: ColumnFormat) -> Decoded:
    plain = r"^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$|^NaN$|^-?Infinity$"
    fails = unlike(text, plain)
    values = pc.cast(usable(text, fails, "0"), pa.float64())
    return pc.cast(values, ARROW_TYPES[column.column.type]), fails


def _boolean(text: pa.Array, column: ColumnFormat) -> Decoded:
    return pc.equal(text, "true"), unlike(text, "^(true|false)$")


def _text(text: pa.Array, column: ColumnFormat) -> Decoded:
    size = column.column.length
    long = mask(pc.greater(pc.utf8_length(text), size))
    return (pc.utf8_rpad(text, size) if column.column.type is SqlType.CHAR else text), long


def _unread(text: pa.Array, column: ColumnFormat) -> Decoded:
    return text, np.asarray(text.is_valid())


def each(text: pa.Array, read: Callable[[str], object], kind: pa.DataType) -> Decoded:
    """Values that are read one by one; None, and what no base64 is, are none."""
    found = list[object]()
    for one in text.to_pylist():
        try:
            found.append(None if one is None else read(one))
        except ValueError:
            found.append(None)
    values = pa.array(found, kind)
    return values, mask(pc.and_(values.is_null(), text.is_valid()))


def _raw(text: str) -> bytes:
    return b64decode(text, validate=True)


def _bytes(text: pa.Array, column: ColumnFormat) -> Decoded:
    return each(text, _raw, pa.binary())


def _signed(text: str) -> int:
    """Two's complement in base64. ValueError for none."""
    if not (raw := _raw(text)):
        raise ValueError(text)
    return int.from_bytes(raw, signed=True)


def _digits(number: int, scale: int) -> str:
    shown = str(abs(number)).rjust(scale + 1, "0")
    sign = "-" if number < 0 else ""
    return f"{sign}{shown[:-scale]}.{shown[-scale:]}" if scale else f"{sign}{shown}"


def _decimal(text: pa.Array, column: ColumnFormat) -> Decoded:
    """With the scale of the schema."""
    limit = 10**column.length

    def read(one: str) -> str | None:
        number = _signed(one)
        return _digits(number, column.scale) if -limit < number < limit else None

    return each(text, read, pa.string())


def _variable(text: pa.Array, column: ColumnFormat) -> Decoded:
    """``{"scale": 2, "value": "…"}``."""
    pattern = re.compile(r'\{"scale":([0-9]{1,5}),"value":"([A-Za-z0-9+/=]+)"\}')

    def read(one: str) -> str | None:
        found = pattern.fullmatch(one)
        return _digits(_signed(found[2]), int(found[1])) if found else None

    return each(text, read, pa.string())


def _int64(text: pa.Array) -> tuple[npt.NDArray[np.int64], Mask, Mask]:
    """(numbers, 0 where there is none; which are null; which are no numbers)."""
    values, fails = _numbers(text)
    null = mask(text.is_null())
    return pc.fill_null(values, 0).to_numpy(zero_copy_only=False), null, fails


def of_ticks(ticks: npt.NDArray[np.int64], null: Mask, digits: int) -> tuple[pa.Array, Mask]:
    """Ticks since 1970, of a second with so many digits, as moments; which are not of the years
    0001 to 9999."""
    days = ticks // (_SECONDS * 10**digits)
    fails = np.asarray(((days < _FIRST_DAY) | (days > _LAST_DAY)) & ~null)
    moments = np.where(fails | null, 0, ticks).astype(f"datetime64[{_UNITS[digits]}]")
    shown = np.char.replace(moments.astype(str), "T", " ")
    return pa.array(shown, pa.string(), mask=null), fails


def _date(text: pa.Array, column: ColumnFormat) -> Decoded:
    days, null, fails = _int64(text)
    near = np.clip(days, _FIRST_DAY - 1, _LAST_DAY + 1)  # in seconds others have over 64 bits
    shown, wrong = of_ticks(near * _SECONDS, null, 0)
    return pc.utf8_slice_codeunits(shown, 0, 10), fails | wrong


def _timestamp(text: pa.Array, column: ColumnFormat) -> Decoded:
    """Ticks since 1970, of a source without a zone."""
    ticks, null, fails = _int64(text)
    shown, wrong = of_ticks(ticks, null, column.column.length)
    return shown, fails | wrong


def _time(text: pa.Array, column: ColumnFormat) -> Decoded:
    """Ticks since midnight, of which 24:00:00 is one; MySQL's TIME goes from -838:59:59 on."""
    ticks, null, fails = _int64(text)
    span = column.code == "span"
    digits = 6 if span else column.column.length - len("00:00:00.")
    low, high = (-_LONGEST_SPAN, _LONGEST_SPAN) if span else (0, _SECONDS * 10**digits)
    fails |= ((ticks < low) | (ticks > high)) & ~null
    whole, rest = np.divmod(np.where(fails | null, 0, np.abs(ticks)), 10**digits)
    parts = ((whole // 3600, 2), (whole // 60 % 60, 2), (whole % 60, 2), (rest, digits))
    hour, minute, second, fraction = (
        pc.utf8_lpad(pa.array(part).cast(pa.string()), width, "0") for part, width in parts
    )
    shown = pc.binary_join_element_wise(hour, minute, second, ":")
    shown = pc.binary_join_element_wise(shown, fraction, ".")
    exact = pc.replace_substring_regex(shown, r"(\.[0-9]*[1-9])0+$|\.0+$", r"\1")
    sign = pc.if_else(pa.array((ticks < 0) & ~fails), "-", "")
    exact = pc.binary_join_element_wise(sign, exact, "")
    return pc.if_else(pa.array(null), pa.scalar(None, pa.string()), exact), fails


def _either(text: pa.Array, column: ColumnFormat) -> Decoded:
    """A number of 64 bits of which is not known whether it has a sign."""
    values, fails = _numbers(text)
    return values, fails | mask(pc.less(values, 0))


def _unsigned(text: pa.Array, column: ColumnFormat) -> Decoded:
    """A number of 64 bits without a sign, which comes as one with a sign."""
    numbers, null, fails = _int64(text)
    return pa.array(numbers.astype(np.uint64).astype(str), pa.string(), mask=null), fails


def _bits(text: pa.Array, column: ColumnFormat) -> Decoded:
    """Bits, the lowest byte first in base64, as a number."""
    return each(text, lambda one: str(int.from_bytes(_raw(one), "little")), pa.string())


def _enum(text: pa.Array, column: ColumnFormat) -> Decoded:
    """A name of an enumeration; the connector writes a comma in it as ``\\,``."""
    return pc.replace_substring(text, "\\,", ","), np.zeros(len(text), bool)


def moment(text: pa.Array, column: ColumnFormat, look: str, digits: int | None = None) -> Decoded:
    """Dates and moments that are text: with the ``digits`` of the column's fraction, and where the
    type has one with their zone, UTC."""
    fails = unlike(text, look) | mask(pc.starts_with(text, "0000"))
    kind = column.column.type
    text = usable(text, fails, "1970-01-01 00:00:00"[: 10 if kind is SqlType.DATE else None])
    digits = column.column.length if digits is None else digits
    shown = pc.replace_substring(pc.utf8_slice_codeunits(text, 0, 19), "T", " ")
    if digits:
        rest = pc.utf8_slice_codeunits(pc.utf8_rtrim(text, "Z"), 20, 26)
        shown = pc.binary_join_element_wise(shown, pc.utf8_rpad(rest, digits, "0"), ".")
    zone = "+00:00" if kind is SqlType.TIMESTAMP_TZ else ""
    return pc.binary_join_element_wise(shown, zone, ""), fails


@dataclass(frozen=True)
class Code:
    """How values of a code become those of a column: text of JSON -> values, and which are none;
    what is expected, for messages; the types of JSON that the connector writes (none: any)."""

    decode: Callable[[pa.Array, ColumnFormat], Decoded]
    expected: str
    written: frozenset[str] = frozenset()


_NUMBER, _STRING = frozenset({"BIGINT", "UBIGINT"}), frozenset({"VARCHAR"})
_PRECISE = "in base64 (decimal.handling.mode=precise)"
_MOMENT, _OF_DAY = "a moment of the years 0001 to 9999", "a time of day"
CODES = {
    "whole": Code(_whole, "a whole number of the column's type", _NUMBER),
    "float": Code(_float, "a number, NaN or Infinity", _NUMBER | {"DOUBLE", "VARCHAR"}),
    "boolean": Code(_boolean, "true or false", frozenset({"BOOLEAN"})),
    "text": Code(_text, "text", _STRING),
    "json": Code(_text, "text", _STRING),
    "bytes": Code(_bytes, "bytes in base64 (binary.handling.mode=bytes)", _STRING),
    "decimal": Code(_decimal, f"a decimal of the column's digits {_PRECISE}", _STRING),
    "variable": Code(_variable, f"a scale and a decimal {_PRECISE}", frozenset({"OBJECT"})),
    "date": Code(_date, "a day of the years 0001 to 9999", _NUMBER),
    "timestamp": Code(_timestamp, _MOMENT, _NUMBER),
    "time": Code(_time, _OF_DAY, _NUMBER),
    "span": Code(_time, "a time from -838:59:59 to 838:59:59", _NUMBER),
    "zoned": Code(partial(moment, look=_ZONED, digits=6), _MOMENT, _STRING),
    "either": Code(
        _either,
        "one that is not negative, because BIGINT UNSIGNED above 2^63 comes as a negative number:"
        " events of structure (include.schema.changes=true), column.propagate.source.type or"
        " --log-option bigint=signed tell which it is",
        _NUMBER,
    ),
    "unsigned": Code(_unsigned, "a whole number of 64 bits", _NUMBER),
    "bits": Code(_bits, "bits in base64", _STRING),
    "enum": Code(_enum, "text", _STRING),
    "unread": Code(
        _unread,
        "a type whose values events hold exactly (see the reference about events);"
        " --exclude-columns leaves the column out",
    ),
}


# -- images
# -------------------------------------------------------------------------------------------------


class EventWalk(MadeWalk):
    """The columns of ``n`` row images of one table version, values as text of JSON (strings without
    quotes). Implements :class:`replay.logs.Walk`."""

    CODES: ClassVar[Mapping[str, Code]] = CODES

    def absent(self, index: int) -> Mask | None:
        """As :meth:`replay.logs.log_file.PartialImages.absent`."""
        missing = np.asarray(self.length[:, index] <= ABSENT)
        return missing if missing.any() else None

    def decode(self, index: int, rows: Index | None = None) -> tuple[pa.Array, Mask | None]:
        """As :meth:`replay.logs.Walk.decode`."""
        column = self.format.columns[index]
        chosen, none, data, offsets = self.among(index, rows)
        text, bad = codecs.decode_text(data, offsets, 1208, none if none.any() else None)
        values, fails = self.CODES[column.code].decode(text, column)
        missing = (self.length[chosen, index] <= ABSENT) & ~self.bad[chosen]
        for more in (bad, missing):
            if more is not None and more.any():
                fails = more if fails is None else fails | more
        return values, fails if fails is not None and fails.any() else None

    def explain(self, index: int, row: int) -> tuple[str, str]:
        """As :meth:`replay.logs.Walk.explain`."""
        column = self.format.columns[index]
        if self.length[row, index] <= ABSENT:
            return (
                f"no value of column {column.column.name}, because the event does not have it",
                "one: with REPLICA IDENTITY FULL the events would have it",
            )
        text = self.raw(index, row).decode("utf-8", "replace")
        shown = text[:_SHOWN] + ("…" if len(text) > _SHOWN else "")
        return f"{shown!r} in column {column.column.name}", self.CODES[column.code].expected
