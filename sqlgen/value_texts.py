"""Values as people and catalogs write them, read by the type of their column."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal, InvalidOperation

import numpy as np

from sqlgen.schema import Column, SqlType

Value = int | str | float | bool | bytes

#: Bits of the whole numbers of a type, without the sign.
WHOLE_BITS = {SqlType.SMALLINT: 15, SqlType.INTEGER: 31, SqlType.BIGINT: 63}
#: A number in digits.
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
_DATES = (
    re.compile(r"(?P<year>\d{4})-(?P<month>\d\d?)-(?P<day>\d\d?)", re.ASCII),
    re.compile(r"(?P<month>\d\d?)/(?P<day>\d\d?)/(?P<year>\d{4})", re.ASCII),
    re.compile(r"(?P<day>\d\d?)\.(?P<month>\d\d?)\.(?P<year>\d{4})", re.ASCII),
)
_TIME = re.compile(r"(\d\d?)(?:[:.](\d\d)(?:[:.](\d\d))?)?(?: *([AaPp])\.?[Mm]\.?)?", re.ASCII)
_TIMESTAMP = re.compile(
    r"(\d{4}-\d\d?-\d\d?)(?:[ Tt-](\d\d?[:.]\d\d(?:[:.]\d\d)?)(?:\.(\d{0,12}))?)?", re.ASCII
)
_ZONE = re.compile(r"\s*(?:([Zz])|([+-]\d\d):?(\d\d))$", re.ASCII)
_QUOTED = re.compile(r"'((?:[^']|'')*)'")
_BITS = re.compile(r"(?:\\x([0-9A-Fa-f]*)|[XxBb]?[Xx]'([0-9A-Fa-f]*)'|([0-9A-Fa-f]*))")


def unquoted(text: str) -> str:
    """A text without the quotation marks of a literal, where it has them."""
    found = _QUOTED.fullmatch(text)
    return text if found is None else found[1].replace("''", "'")


def value_of(text: str, column: Column) -> Value:
    """The value that a text is in a column, as :mod:`sqlgen.schema` has it: numbers in any
    spelling, dates and times in those of Db2. ValueError for what is no value of the type."""
    kind = column.type
    if kind in WHOLE_BITS:
        return _whole(text.strip(), kind)
    reader = _READERS.get(kind)
    if reader is not None:
        return reader(text.strip(), column)
    if column.length and not column.unsized and len(text.rstrip(" ")) > column.length:
        raise ValueError(text)
    return text


def constant(text: str, column: Column) -> Value | None:
    """The value of a constant of SQL in a column; None for NULL. ValueError for what is none: a
    special register, a function."""
    text = text.strip()
    if text.upper() == "NULL":
        return None
    if column.type in (*WHOLE_BITS, *_NUMBERS, SqlType.BOOLEAN):
        return value_of(text, column)
    if column.type in _BYTES and text[:1] in "XxBb":
        return value_of(text, column)
    if column.type in _BYTES or _QUOTED.fullmatch(text) is None:
        raise ValueError(text)
    return value_of(unquoted(text), column)


def _decimal(text: str) -> Decimal:
    if not NUMBER.fullmatch(text):
        raise ValueError(text)
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(text) from None


def _whole(text: str, kind: SqlType) -> int:
    number = _decimal(text)
    if number.adjusted() > 18 or number != int(number):
        raise ValueError(text)
    if not -(1 << WHOLE_BITS[kind]) <= int(number) < 1 << WHOLE_BITS[kind]:
        raise ValueError(text)
    return int(number)


def _digits(text: str, column: Column) -> str:
    """A DECIMAL with all digits of its scale."""
    number = _decimal(text)
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    if number.adjusted() > 400:
        raise ValueError(text)
    whole, _, fraction = f"{abs(number):f}".partition(".")
    whole, fraction = whole.lstrip("0"), fraction.rstrip("0")
    if len(fraction) > column.scale or (
        column.length and len(whole) > column.length - column.scale
    ):
        raise ValueError(text)
    minus = "-" if sign and any(digits) else ""
    point = f".{fraction.ljust(column.scale, '0')}" if column.scale else ""
    return f"{minus}{whole or '0'}{point}"


def _real(text: str, column: Column) -> float:
    named = text.lower().lstrip("+-") in ("inf", "infinity", "nan")
    if not named and not NUMBER.fullmatch(text):
        raise ValueError(text)
    with np.errstate(over="ignore"):
        value = float(np.float32(text)) if column.type is SqlType.REAL else float(text)
    if not named and value in (float("inf"), float("-inf")):
        raise ValueError(text)
    return value


def _free_decimal(text: str, column: Column) -> str:
    if not NUMBER.fullmatch(text) and text.lower().lstrip("+-") not in (
        "nan", "snan", "inf", "infinity",
    ):  # fmt: skip
        raise ValueError(text)
    return text


def _date(text: str, column: Column) -> str:
    for form in _DATES:
        if found := form.fullmatch(text):
            return date(int(found["year"]), int(found["month"]), int(found["day"])).isoformat()
    raise ValueError(text)


def _time(text: str, column: Column) -> str:
    found = _TIME.fullmatch(text)
    if found is None or not (found[2] or found[4]):
        raise ValueError(text)
    hour, minute, second = int(found[1]), int(found[2] or 0), int(found[3] or 0)
    if found[4]:
        later = found[4] in "Pp"
        if hour > 12 or (later and not hour):
            raise ValueError(text)
        if (hour, minute, second, later) == (12, 0, 0, False):
            return "24:00:00"  # 00:00 AM is the beginning of the day, 12:00 AM its end
        hour = hour % 12 + 12 * later
    if minute > 59 or second > 59 or hour > 24 or (hour == 24 and (minute or second)):
        raise ValueError(text)
    return f"{hour:02}:{minute:02}:{second:02}"


def _timestamp(text: str, column: Column) -> str:
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        raise ValueError(text)
    fraction = (found[3] or "").rstrip("0")
    time = _time(found[2] or "00:00", column)
    if len(fraction) > column.length or (time.startswith("24") and fraction):
        raise ValueError(text)
    point = f".{fraction.ljust(column.length, '0')}" if column.length else ""
    return f"{_date(found[1], column)} {time}{point}"


def _timestamp_tz(text: str, column: Column) -> str:
    found = _ZONE.search(text)
    if found is None:
        raise ValueError(text)
    zone = "+00:00" if found[1] else f"{found[2]}:{found[3]}"
    return _timestamp(text[: found.start()], column) + zone


def _boolean(text: str, column: Column) -> bool:
    if text.lower() not in ("true", "false", "1", "0"):
        raise ValueError(text)
    return text.lower() in ("true", "1")


def _octets(text: str, column: Column) -> bytes:
    found = _BITS.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return bytes.fromhex(next((part for part in found.groups() if part is not None), ""))


_NUMBERS = (SqlType.DECIMAL, SqlType.REAL, SqlType.DOUBLE, SqlType.DECFLOAT)
_BYTES = (SqlType.BINARY, SqlType.VARBINARY, SqlType.BLOB)
_READERS: dict[SqlType, Callable[[str, Column], Value]] = {
    SqlType.DECIMAL: _digits,
    SqlType.REAL: _real,
    SqlType.DOUBLE: _real,
    SqlType.DECFLOAT: _free_decimal,
    SqlType.DATE: _date,
    SqlType.TIME: _time,
    SqlType.TIMESTAMP: _timestamp,
    SqlType.TIMESTAMP_TZ: _timestamp_tz,
    SqlType.BOOLEAN: _boolean,
    **dict.fromkeys(_BYTES, _octets),
}
