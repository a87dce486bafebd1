"""The values in row images of change events (:mod:`replay.logs.made_images`)."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Index, Mask
from replay.changes.catalog import ColumnFormat
from replay.decoding import codecs
from replay.decoding.codecs import Decoded
from replay.logs.events.lines import mask
from replay.logs.made_images import ABSENT, MadeWalk, unlike, usable
from sqlgen.schema import ARROW_TYPES, SqlType
from sqlgen.value_texts import WHOLE_BITS

_SHOWN = 40
#: Days, and ticks of a second by the digits of its fraction, that a date of four digits may have.
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_DAY = 86_400
_LONGEST_SPAN = (838 * 3600 + 59 * 60 + 59) * 1_000_000
_UNITS = {3: "ms", 6: "us", 9: "ns"}
_ZONED = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6}0*)?Z$"
_WHOLE = r"^-?[0-9]{1,18}$"


# -- images
# -------------------------------------------------------------------------------------------------


class EventWalk(MadeWalk):
    """The columns of ``n`` row images of one table version, values as text of JSON (strings without
    quotes). Implements :class:`replay.logs.Walk`."""

    def absent(self, index: int) -> Mask | None:
        """As :meth:`replay.logs.log_file.PartialImages.absent`."""
        missing = np.asarray(self.length[:, index] <= ABSENT)
        return missing if missing.any() else None

    def decode(self, index: int, rows: Index | None = None) -> tuple[pa.Array, Mask | None]:
        """As :meth:`replay.logs.Walk.decode`."""
        column = self.format.columns[index]
        chosen, none, data, offsets = self.among(index, rows)
        text, bad = codecs.decode_text(data, offsets, 1208, none if none.any() else None)
        values, fails = DECODERS[column.code](text, column)
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
        return f"{shown!r} in column {column.column.name}", EXPECTED[column.code]


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
    return values, mask(pc.and_(values.is_null(), text.is_valid()))


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
    return values, mask(pc.and_(values.is_null(), text.is_valid()))


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
    return values, mask(pc.and_(values.is_null(), text.is_valid()))


def _int64(text: pa.Array) -> tuple[npt.NDArray[np.int64], Mask, Mask]:
    """(numbers, 0 where there is none; which are null; which are no numbers)."""
    values, fails = _numbers(text)
    null = mask(text.is_null())
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


def _span(text: pa.Array, column: ColumnFormat) -> Decoded:
    """Microseconds of MySQL's TIME, which goes from -838:59:59 to 838:59:59."""
    ticks, null, fails = _int64(text)
    fails |= (np.abs(ticks) > _LONGEST_SPAN) & ~null
    exact = _clock(np.where(fails | null, 0, np.abs(ticks)), 6, null)
    sign = pc.if_else(pa.array((ticks < 0) & ~fails), "-", "")
    return pc.binary_join_element_wise(sign, exact, ""), fails


def _time(digits: int) -> Callable[[pa.Array, ColumnFormat], Decoded]:
    """Ticks since midnight; 24:00:00 is one."""

    def decode(text: pa.Array, column: ColumnFormat) -> Decoded:
        ticks, null, fails = _int64(text)
        fails |= ((ticks < 0) | (ticks > _DAY * 10**digits)) & ~null
        return _clock(np.where(fails | null, 0, ticks), digits, null), fails

    return decode


def _clock(ticks: npt.NDArray[np.int64], digits: int, null: Mask) -> pa.Array:
    """Ticks of a second as ``12:00:00.5``, without zeros at the end."""
    whole, rest = np.divmod(ticks, 10**digits)
    hour, minute, second, fraction = (
        pc.utf8_lpad(pa.array(part).cast(pa.string()), width, "0")
        for part, width in (
            (whole // 3600, 2),
            (whole // 60 % 60, 2),
            (whole % 60, 2),
            (rest, digits),
        )
    )
    shown = pc.binary_join_element_wise(hour, minute, second, ":")
    shown = pc.binary_join_element_wise(shown, fraction, ".")
    exact = pc.replace_substring_regex(shown, r"(\.[0-9]*[1-9])0+$|\.0+$", r"\1")
    return pc.if_else(pa.array(null), pa.scalar(None, pa.string()), exact)


def _zoned(text: pa.Array, column: ColumnFormat) -> Decoded:
    """``2024-02-29T21:59:59.123456Z``: an instant, in UTC, with its zone where the type has one."""
    fails = unlike(text, _ZONED) | mask(pc.starts_with(text, "0000"))
    text = usable(text, fails, "1970-01-01T00:00:00Z")
    moment = pc.replace_substring(pc.utf8_slice_codeunits(text, 0, 19), "T", " ")
    rest = pc.utf8_slice_codeunits(pc.utf8_rtrim(text, "Z"), 20)
    rest = pc.utf8_slice_codeunits(pc.utf8_rpad(rest, 6, "0"), 0, 6)
    shown = pc.binary_join_element_wise(moment, rest, ".")
    zone = "+00:00" if column.column.type is SqlType.TIMESTAMP_TZ else ""
    return pc.binary_join_element_wise(shown, zone, ""), fails


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
    found = [None if raw is None else str(int.from_bytes(raw, "little")) for raw in _decoded(text)]
    values = pa.array(found, pa.string())
    return values, mask(pc.and_(values.is_null(), text.is_valid()))


def _enum(text: pa.Array, column: ColumnFormat) -> Decoded:
    """A name of an enumeration; the connector writes a comma in it as ``\\,``."""
    return pc.replace_substring(text, "\\,", ","), np.zeros(len(text), bool)


# -- values as PostgreSQL writes them
# -------------------------------------------------------------------------------------------------

_PG_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_PG_MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?$"
#: A byte of bytea_output=escape.
_PG_ESCAPED = r"[\x20-\x5b\x5d-\x7e]|\\\\|\\[0-3][0-7]{2}"
_PG_ZONED = (
    r"^(?P<moment>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.][0-9]{1,6})?)"
    r"(?P<sign>[+-])(?P<hours>[0-9]{2})(?::(?P<minutes>[0-9]{2}))?(?::(?P<seconds>[0-9]{2}))?$"
)


def _pg_boolean(text: pa.Array, column: ColumnFormat) -> Decoded:
    return pc.equal(text, "t"), unlike(text, "^[tf]$")


def _pg_bytes(text: pa.Array, column: ColumnFormat) -> Decoded:
    """Bytes in hexadecimal digits, or (bytea_output=escape) as they are with ``\\\\`` and
    ``\\ooo``."""
    fails = unlike(text, rf"^\\x([0-9a-f]{{2}})*$|^({_PG_ESCAPED})*$")
    found = [
        None if one is None else _of_escaped(one) for one in usable(text, fails, "").to_pylist()
    ]
    return pa.array(found, pa.binary()), fails


def _of_escaped(text: str) -> bytes:
    if text.startswith("\\x"):
        return bytes.fromhex(text[2:])
    parts = re.findall(_PG_ESCAPED, text)
    return bytes(int(one[1:], 8) if len(one) == 4 else ord(one[-1]) for one in parts)


def _pg_number(text: pa.Array, column: ColumnFormat) -> Decoded:
    scale, kind = column.scale, column.column.type
    behind = rf"[.][0-9]{{{scale}}}" if scale else ""
    return text, unlike(
        text, rf"^-?[0-9]+{behind}$" if kind is SqlType.DECIMAL else r"^-?[0-9]+([.][0-9]+)?$"
    )


def _pg_date(text: pa.Array, column: ColumnFormat) -> Decoded:
    fails = unlike(text, _PG_DATE)
    return usable(text, fails, "1970-01-01"), fails


def _pg_timestamp(text: pa.Array, column: ColumnFormat) -> Decoded:
    fails = unlike(text, _PG_MOMENT)
    text = usable(text, fails, "1970-01-01 00:00:00")
    return _with_digits(text, column.column.length), fails


def _with_digits(moment: pa.Array, digits: int) -> pa.Array:
    """Moments with so many digits of a second."""
    whole = pc.utf8_slice_codeunits(moment, 0, 19)
    rest = pc.utf8_rpad(pc.utf8_slice_codeunits(moment, 20), digits, "0")
    return pc.binary_join_element_wise(whole, rest, ".") if digits else whole


def _pg_zoned(text: pa.Array, column: ColumnFormat) -> Decoded:
    fails = unlike(text, _PG_ZONED)
    parts = pc.extract_regex(usable(text, fails, "1970-01-01 00:00:00+00"), _PG_ZONED)
    moment = pc.struct_field(parts, "moment")
    ticks = np.array(pc.fill_null(moment, "1970-01-01").to_pylist(), "datetime64[us]")
    away = np.zeros(len(ticks), np.int64)
    for name, size in (("hours", 3600), ("minutes", 60), ("seconds", 1)):
        part = pc.fill_null(pc.struct_field(parts, name), "")
        away += size * pc.cast(pc.if_else(pc.equal(part, ""), "0", part), pa.int64()).to_numpy()
    ahead = mask(pc.equal(pc.struct_field(parts, "sign"), "+"))
    ticks = ticks - np.where(ahead, away, -away) * np.timedelta64(1_000_000, "us")
    days = ticks.astype("datetime64[D]").astype(np.int64)
    null = mask(text.is_null())
    fails |= ((days < _FIRST_DAY) | (days > _LAST_DAY)) & ~null
    good = np.where(fails | null, np.datetime64(0, "us"), ticks)
    shown = np.char.replace(good.astype(str), "T", " ")
    made = _with_digits(pa.array(shown, pa.string(), mask=null), 6)
    return pc.binary_join_element_wise(made, "+00:00", ""), fails


#: How a column of each code is decoded: text of JSON -> values, and which are none.
DECODERS: dict[str, Callable[[pa.Array, ColumnFormat], Decoded]] = {
    "whole": _whole,
    "float": _float,
    "boolean": _boolean,
    **dict.fromkeys(("text", "json"), _text),
    "bytes": _bytes,
    "decimal": _decimal,
    "variable": _variable,
    "date": _date,
    "timestamp": _timestamp,
    "time3": _time(3),
    "time6": _time(6),
    "time9": _time(9),
    "zoned": _zoned,
    "either": _either,
    "unsigned": _unsigned,
    "bits": _bits,
    "enum": _enum,
    "span": _span,
    "unread": _unread,
    "pg text": _text,
    "pg boolean": _pg_boolean,
    "pg bytes": _pg_bytes,
    "pg number": _pg_number,
    "pg date": _pg_date,
    "pg timestamp": _pg_timestamp,
    "pg zoned": _pg_zoned,
}
_MOMENT = "a moment of the years 0001 to 9999"
#: What a value of each code is, for messages.
EXPECTED = {
    "whole": "a whole number of the column's type",
    "float": "a number, NaN or Infinity",
    "boolean": "true or false",
    **dict.fromkeys(("text", "json"), "text"),
    "bytes": "bytes in base64 (binary.handling.mode=bytes)",
    "decimal": "a decimal of the column's digits in base64 (decimal.handling.mode=precise)",
    "variable": "a scale and a decimal in base64 (decimal.handling.mode=precise)",
    "date": "a day of the years 0001 to 9999",
    "timestamp": _MOMENT,
    "time3": "a time of day",
    "time6": "a time of day",
    "time9": "a time of day",
    "zoned": _MOMENT,
    "either": (
        "one that is not negative, because BIGINT UNSIGNED above 2^63 comes as a negative number:"
        " events of structure (include.schema.changes=true), column.propagate.source.type or"
        " --log-option bigint=signed tell which it is"
    ),
    "unsigned": "a whole number of 64 bits",
    "bits": "bits in base64",
    "enum": "text",
    "pg text": "text",
    "pg boolean": "t or f",
    "pg bytes": "bytes in hexadecimal digits, or escaped",
    "pg number": "a decimal of the column's digits",
    **dict.fromkeys(("pg date", "pg timestamp", "pg zoned"), f"{_MOMENT}, in DateStyle ISO"),
    "span": "a time from -838:59:59 to 838:59:59",
    "unread": (
        "a type whose values events hold exactly (see the reference about events);"
        " --exclude-columns leaves the column out"
    ),
}
