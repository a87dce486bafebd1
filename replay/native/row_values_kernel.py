"""Machine code that says the values of row images: digits, characters and moments, in the forms of
all families (:class:`replay.decoding.plain_rows.ValueForm`).

As :mod:`replay.native.fast_path_kernel`, this is imported by who makes the code anew, and by
nobody else. Functions that write do so to ``out`` from ``place`` on, and return the place behind
it, or -1 where the bytes are not what they should be, or not plain.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from replay.native.fast_path_tables import (
    BINARY_DATE,
    BLANK_FOR_NONE,
    CHARSET,
    DATE,
    DECIMAL_TEXT,
    EVEN,
    HIGH,
    INTEGER,
    KEPT,
    KIND,
    LEAST,
    LITTLE,
    LOW,
    MOST,
    PACKED,
    PACKED_DATE,
    PACKED_TIMESTAMP,
    PRECISION,
    SCALE,
    SEVERAL,
    TEXT_STRIPPED,
    TIME,
    TIMESTAMP,
    UTF8,
    UTF8_STRIPPED,
    UTF16,
    UTF16_STRIPPED,
)
from replay.native.shared_kernel import Array, U, half, machine_code, octet

#: Days of the months by number; none in month 0.
_DAYS = np.array([0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], np.int64)
#: Characters of a timestamp up to its fraction, the point included.
_SECONDS = 20
#: Added to the year of a moment in binary fields, and the last year.
_BIAS, _LAST_YEAR = 0x8000, 9999


@machine_code
def unsigned_digits(value: Any, out: Array, place: int) -> int:
    """A number without a sign, as digits."""
    digits = 1
    rest = value // np.uint64(10)
    while rest:
        digits += 1
        rest //= np.uint64(10)
    for index in range(place + digits - 1, place - 1, -1):
        rest = value // np.uint64(10)
        out[U(index)] = np.uint8(48) + np.uint8(value - rest * np.uint64(10))
        value = rest
    return place + digits


@machine_code
def _integer(
    buffer: Array, at: int, size: int, little: bool, low: int, high: int, out: Array, place: int
) -> int:
    """Two's complement, as digits; -1 outside of ``low`` to ``high``, where that is a range."""
    first = buffer[U(at + size - 1)] if little else buffer[U(at)]
    value = np.uint64(0xFFFF_FFFF_FFFF_FFFF) if first >= 128 else np.uint64(0)
    for index in range(size):
        byte = buffer[U(at + size - 1 - index)] if little else buffer[U(at + index)]
        value = (value << np.uint64(8)) | np.uint64(byte)
    if high > low and (np.int64(value) < low or np.int64(value) > high):
        return -1
    if first >= 128:
        value = ~value + np.uint64(1)
        out[U(place)] = 45
        place += 1
    return unsigned_digits(value, out, place)


@machine_code
def _nibble(buffer: Array, at: int, index: int) -> int:
    byte = int(buffer[U(at + (index >> 1))])
    return byte & 15 if index & 1 else byte >> 4


@machine_code
def _packed(
    buffer: Array, at: int, size: int, scale: int, even: bool, out: Array, place: int
) -> int:
    """Packed digits; -1 where a nibble is none, or no sign, and where the first one of an ``even``
    number of digits is used."""
    digits = 2 * size - 1
    sign = _nibble(buffer, at, digits)
    if sign < 10:
        return -1
    if even and _nibble(buffer, at, 0):
        return -1
    zero = True
    for index in range(digits):
        digit = _nibble(buffer, at, index)
        if digit > 9:
            return -1
        zero = zero and digit == 0
    if not zero and (sign == 0xB or sign == 0xD):
        out[U(place)] = 45
        place += 1
    leading = True
    for index in range(digits - scale):
        digit = _nibble(buffer, at, index)
        if digit or not leading:
            leading = False
            out[U(place)] = 48 + digit
            place += 1
    if leading:
        out[U(place)] = 48
        place += 1
    if scale:
        out[U(place)] = 46
        place += 1
        for index in range(digits - scale, digits):
            out[U(place)] = 48 + (_nibble(buffer, at, index) if index >= 0 else 0)
            place += 1
    return place


@machine_code
def _none(least: int, out: Array, place: int) -> int:
    """An empty text where it may not be one."""
    if least != BLANK_FOR_NONE:
        return -1
    out[U(place)] = 32
    return place + 1


@machine_code
def _sequence(buffer: Array, at: int, size: int) -> int:
    """Octets of the character of several that begins here, of ``size`` that are left; 0 where there
    is none."""
    first = octet(buffer, at)
    octets = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
    if first < 0xC2 or first > 0xF4 or octets > size:
        return 0
    for index in range(1, octets):
        if buffer[U(at + index)] & 0xC0 != 0x80:
            return 0
    second = octet(buffer, at + 1)
    if (first == 0xE0 and second < 0xA0) or (first == 0xED and second > 0x9F):
        return 0  # too long for its character; half of a pair
    if (first == 0xF0 and second < 0x90) or (first == 0xF4 and second > 0x8F):
        return 0
    return octets


@machine_code
def _text(
    buffer: Array,
    at: int,
    size: int,
    strip: bool,
    least: int,
    lengths: Array,
    codes: Array,
    charset: int,
    utf8: bool,
    out: Array,
    place: int,
) -> int:
    """Characters as UTF-8, quotes as the dialect writes them; -1 where one needs more than that,
    and for a text that is too short. ``lengths``: the octet that a character is written as, or
    :data:`SEVERAL` and how many they are; none for the octets of those that are ``utf8``."""
    if strip:
        while size and codes[U(charset), buffer[U(at + size - 1)], 0] == 32:
            size -= 1
    if not size and least:
        return _none(least, out, place)
    seen = np.uint8(0)
    for index in range(size):
        letter = lengths[U(charset), buffer[U(at + index)]]
        out[U(place + index)] = letter
        seen |= letter
    if seen < SEVERAL:
        return int(place + size)
    index = 0
    while index < size:
        byte = buffer[U(at + index)]
        letter = lengths[U(charset), byte]
        if letter == SEVERAL:
            octets = _sequence(buffer, at + index, size - index) if utf8 else 0
            if octets == 0:
                return -1
            for part in range(octets):
                out[U(place)] = buffer[U(at + index + part)]
                place += 1
            index += octets
            continue
        for part in range(letter - SEVERAL if letter > SEVERAL else 1):
            out[U(place)] = codes[U(charset), byte, U(part)]
            place += 1
        index += 1
    return place


@machine_code
def _text_utf16(
    buffer: Array,
    at: int,
    size: int,
    strip: bool,
    least: int,
    lengths: Array,
    codes: Array,
    charset: int,
    out: Array,
    place: int,
) -> int:
    """As :func:`_text`, of characters in UTF-16, the higher octet first. ``charset``: how those of
    ASCII are written."""
    if size & 1:
        return -1
    if strip:
        while size and half(buffer, at + size - 2) == 32:
            size -= 2
    if not size and least:
        return _none(least, out, place)
    index = 0
    while index < size:
        point = half(buffer, at + index)
        index += 2
        if point < 0x80:
            letter = lengths[U(charset), U(point)]
            if letter == SEVERAL:
                return -1
            for part in range(letter - SEVERAL if letter > SEVERAL else 1):
                out[U(place)] = codes[U(charset), U(point), U(part)]
                place += 1
            continue
        if 0xD800 <= point < 0xE000:
            if point >= 0xDC00 or index == size:
                return -1
            low = half(buffer, at + index)
            if low < 0xDC00 or low >= 0xE000:
                return -1
            point = 0x10000 + ((point & 0x3FF) << 10) + (low & 0x3FF)
            index += 2
        place = _character(point, out, place)
    return place


@machine_code
def _character(point: int, out: Array, place: int) -> int:
    """A character beyond ASCII, in UTF-8."""
    if point < 0x800:
        out[U(place)] = 0xC0 | (point >> 6)
        place += 1
    else:
        if point < 0x10000:
            out[U(place)] = 0xE0 | (point >> 12)
            place += 1
        else:
            out[U(place)] = 0xF0 | (point >> 18)
            out[U(place + 1)] = 0x80 | ((point >> 12) & 0x3F)
            place += 2
        out[U(place)] = 0x80 | ((point >> 6) & 0x3F)
        place += 1
    out[U(place)] = 0x80 | (point & 0x3F)
    return place + 1


@machine_code
def _two(out: Array, place: int) -> int:
    return 10 * (int(out[U(place)]) - 48) + int(out[U(place + 1)]) - 48


@machine_code
def _possible(out: Array, place: int, kind: int) -> bool:
    """Whether there is a moment that is written there, at an hour up to 23."""
    clock = place
    if kind != TIME:
        year, month, day = (
            100 * _two(out, place) + _two(out, place + 2),
            _two(out, place + 5),
            _two(out, place + 8),
        )
        if year == 0 or month > 12 or day == 0 or day > _DAYS[U(month)]:
            return False
        if month == 2 and day == 29 and (year % 4 or (year % 100 == 0 and year % 400)):
            return False
        clock += 11
    return kind == DATE or (
        _two(out, clock) <= 23 and _two(out, clock + 3) <= 59 and _two(out, clock + 6) <= 59
    )


@machine_code
def _span(kind: int, precision: int) -> int:
    """Characters of a moment."""
    if kind == DATE:
        return 10
    if kind == TIME:
        return 8
    return _SECONDS + precision if precision else _SECONDS - 1


@machine_code
def _packed_moment(
    buffer: Array, at: int, kind: int, precision: int, pictures: Array, out: Array, place: int
) -> int:
    """A moment in packed digits without a sign."""
    first = 11 if kind == TIME else 0
    size, digit = _span(kind, precision), 0
    for index in range(size):
        letter = pictures[U(first + index)]
        if letter == 48:
            value = _nibble(buffer, at, digit)
            if value > 9:
                return -1
            letter += value
            digit += 1
        out[U(place + index)] = letter
    return place + size if _possible(out, place, kind) else -1


@machine_code
def _decimal_digits(value: int, digits: int, out: Array, place: int) -> int:
    """A number with zeros before it."""
    for index in range(place + digits - 1, place - 1, -1):
        out[U(index)] = 48 + value % 10
        value //= 10
    return place + digits


@machine_code
def _binary_moment(
    buffer: Array, at: int, kind: int, pictures: Array, out: Array, place: int
) -> int:
    """A moment in 11 octets: year (2), month, day, hour, minute, second, nanoseconds (4), the
    higher octet first. What its type has not is not looked at, but the fraction of a time is 0."""
    year = half(buffer, at)
    if year >= _BIAS:
        year -= _BIAS
    month, day = octet(buffer, at + 2), octet(buffer, at + 3)
    hour, minute, second = (
        octet(buffer, at + 4),
        octet(buffer, at + 5),
        octet(buffer, at + 6),
    )
    fraction = (half(buffer, at + 7) << 16) | half(buffer, at + 9)
    if kind != TIME and (year > _LAST_YEAR or month > 12 or day > 31):
        return -1
    if kind != DATE and (hour > 23 or minute > 59 or second > 59):
        return -1
    if (kind == TIME and fraction) or (kind == TIMESTAMP and fraction >= 1_000_000_000):
        return -1
    first = 11 if kind == TIME else 0
    size = _span(kind, 9)
    for index in range(size):
        out[U(place + index)] = pictures[U(first + index)]
    clock = place
    if kind != TIME:
        _decimal_digits(year, 4, out, place)
        _decimal_digits(month, 2, out, place + 5)
        _decimal_digits(day, 2, out, place + 8)
        clock += 11
    if kind != DATE:
        _decimal_digits(hour, 2, out, clock)
        _decimal_digits(minute, 2, out, clock + 3)
        _decimal_digits(second, 2, out, clock + 6)
    if kind == TIMESTAMP:
        _decimal_digits(fraction, 9, out, place + _SECONDS)
    return place + size if _possible(out, place, kind) else -1


@machine_code
def _cut(out: Array, place: int, end: int, kept: int) -> int:
    """A timestamp with no more than so many digits of a fraction; -1 where others than zeros would
    be lost."""
    behind = place + _SECONDS + kept
    for index in range(behind, end):
        if out[U(index)] != 48:
            return -1
    return min(behind, end)


@machine_code
def _is_digit(byte: int) -> bool:
    return 48 <= byte <= 57


@machine_code
def _decimal_text(
    buffer: Array, at: int, size: int, scale: int, most: int, out: Array, place: int
) -> int:
    """A decimal number in ASCII, perhaps with one X'00' behind it, as digits with ``scale`` of them
    after the point; -1 where it is none, has more than ``most``, or would lose some."""
    end = at + size
    if size and buffer[U(end - 1)] == 0:
        end -= 1
    negative = False
    if at < end and (buffer[U(at)] == 43 or buffer[U(at)] == 45):
        negative = buffer[U(at)] == 45
        at += 1
    whole = at
    while at < end and _is_digit(buffer[U(at)]):
        at += 1
    point = at
    fraction = point
    if at < end and buffer[U(at)] == 46:
        at += 1
        fraction = at
        while at < end and _is_digit(buffer[U(at)]):
            at += 1
    if at != end or (whole == point and fraction == end):
        return -1
    while whole < point and buffer[U(whole)] == 48:
        whole += 1
    if (point - whole) + (end - fraction) > most:
        return -1
    while end > fraction and buffer[U(end - 1)] == 48:
        end -= 1
    if end - fraction > scale:
        return -1
    if negative and (whole < point or fraction < end):
        out[U(place)] = 45
        place += 1
    if whole == point:
        out[U(place)] = 48
        place += 1
    for index in range(whole, point):
        out[U(place)] = buffer[U(index)]
        place += 1
    if scale:
        out[U(place)] = 46
        place += 1
        for index in range(fraction, fraction + scale):
            out[U(place)] = buffer[U(index)] if index < end else 48
            place += 1
    return place


@machine_code
def _moment(
    buffer: Array,
    at: int,
    size: int,
    kind: int,
    pictures: Array,
    accepted: Array,
    out: Array,
    place: int,
) -> int:
    """A date, time or timestamp, EBCDIC or ASCII, in one form of separators; -1 where there is no
    such moment, and for hour 24."""
    ebcdic = buffer[U(at)] >= 0xF0
    page = 256 if ebcdic else 0
    zero = 0xF0 if ebcdic else 0x30
    first = 11 if kind == TIME else 0
    for index in range(size):
        byte = int(buffer[U(at + index)])
        separator = pictures[U(first + index)]
        if separator == 48:
            if byte < zero or byte > zero + 9:
                return -1
            out[U(place + index)] = byte - zero + 48
        else:
            if not accepted[U(separator), U(page + byte)]:
                return -1
            out[U(place + index)] = separator
    return place + size if _possible(out, place, kind) else -1


@machine_code
def said_value(
    buffer: Array,
    at: int,
    size: int,
    cells: Array,
    column: int,
    lengths: Array,
    codes: Array,
    pictures: Array,
    accepted: Array,
    out: Array,
    place: int,
) -> int:
    """One value, without what stands around it; -1 where it is not plain."""
    kind = cells[U(column), KIND]
    if kind in (INTEGER, LITTLE):
        low, high = cells[U(column), LOW], cells[U(column), HIGH]
        return _integer(buffer, at, size, kind == LITTLE, low, high, out, place)
    if kind == PACKED:
        even = cells[U(column), EVEN] != 0
        return _packed(buffer, at, size, cells[U(column), SCALE], even, out, place)
    if kind <= TEXT_STRIPPED or kind in (UTF8, UTF8_STRIPPED):
        return _text(
            buffer, at, size, kind in (TEXT_STRIPPED, UTF8_STRIPPED),
            cells[U(column), LEAST], lengths, codes, cells[U(column), CHARSET],
            kind >= UTF8, out, place,
        )  # fmt: skip
    if kind in (UTF16, UTF16_STRIPPED):
        return _text_utf16(
            buffer, at, size, kind == UTF16_STRIPPED, cells[U(column), LEAST],
            lengths, codes, cells[U(column), CHARSET], out, place,
        )  # fmt: skip
    if kind == DECIMAL_TEXT:
        scale, most = cells[U(column), SCALE], cells[U(column), MOST]
        return _decimal_text(buffer, at, size, scale, most, out, place)
    if kind <= TIMESTAMP:
        end = _moment(buffer, at, size, kind, pictures, accepted, out, place)
    elif kind <= PACKED_TIMESTAMP:
        kind -= PACKED_DATE - DATE
        precision = cells[U(column), PRECISION]
        end = _packed_moment(buffer, at, kind, precision, pictures, out, place)
    else:
        kind -= BINARY_DATE - DATE
        end = _binary_moment(buffer, at, kind, pictures, out, place)
    if kind != TIMESTAMP or end < 0:
        return end
    return _cut(out, place, end, cells[U(column), KEPT])
