"""Machine code that says the values of row images: digits, characters and moments
(:class:`replay.decoding.image_layouts.ValueForm`).

As :mod:`replay.native.fast_path_kernel`, this is imported by who makes the code anew, and by
nobody else. Functions that write do so to ``out`` from ``place`` on, and return the place behind
it, or -1 where the bytes are not what they should be, or not plain.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from replay.native.fast_path_tables import (
    BLANK_FOR_NONE,
    CHARSET,
    DATE,
    EXPANDED,
    INTEGER,
    KEPT,
    KIND,
    LEAST,
    NULLABLE,
    PACKED,
    SCALE,
    SEVERAL,
    TEXT_STRIPPED,
    TIME,
    TIMESTAMP,
    UTF8,
    UTF8_STRIPPED,
    UTF16,
    UTF16_STRIPPED,
    VARIABLE,
    WIDTH,
)
from replay.native.shared_kernel import Array, U, half, machine_code, octet

#: Days of the months by number; none in month 0.
_DAYS = np.array([0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], np.int64)
#: Characters of a timestamp up to its fraction, the point included.
_SECONDS = 20


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
def _integer(buffer: Array, at: int, size: int, out: Array, place: int) -> int:
    """Two's complement, as digits."""
    first = buffer[U(at)]
    value = np.uint64(0xFFFF_FFFF_FFFF_FFFF) if first >= 128 else np.uint64(0)
    for index in range(size):
        value = (value << np.uint64(8)) | np.uint64(buffer[U(at + index)])
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
def _packed(buffer: Array, at: int, size: int, scale: int, out: Array, place: int) -> int:
    """Packed digits; -1 where a nibble is none, or no sign."""
    digits = 2 * size - 1
    sign = _nibble(buffer, at, digits)
    if sign < 10:
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
    """Bytes of the character of several that begins here, of ``size`` that are left; 0 where there
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
    and for a text that is too short. ``lengths``: the byte that a character is written as, or
    :data:`SEVERAL` and how many they are; none for the bytes of those that are ``utf8``."""
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
    """As :func:`_text`, of characters in UTF-16, the higher byte first. ``charset``: how those of
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
def _cut(out: Array, place: int, end: int, kept: int) -> int:
    """A timestamp with no more than so many digits of a fraction; -1 where others than zeros would
    be lost."""
    behind = place + _SECONDS + kept
    for index in range(behind, end):
        if out[U(index)] != 48:
            return -1
    return min(behind, end)


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
    if kind == INTEGER:
        return _integer(buffer, at, size, out, place)
    if kind == PACKED:
        return _packed(buffer, at, size, cells[U(column), SCALE], out, place)
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
    end = _moment(buffer, at, size, kind, pictures, accepted, out, place)
    if kind != TIMESTAMP or end < 0:
        return end
    return _cut(out, place, end, cells[U(column), KEPT])


# -- where columns lie
# -------------------------------------------------------------------------------------------------
# Machine code that finds the columns of a row image
# (:class:`replay.decoding.image_layouts.PlainRows`). Only images that are plain from end to end are
# taken: for any other False is returned, and then nothing that was found counts.


@machine_code
def find_columns(
    buffer: Array,
    place: int,
    end: int,
    cells: Array,
    at: Array,
    size: Array,
    null: Array,
    side: int,
) -> bool:
    """Where the columns of an image lie, and which are null: ``at``, ``size`` and ``null`` from
    ``side`` times their number on. One column stands after the other, each behind its null byte and
    the length of what varies; False too where they do not end exactly where the image ends."""
    for column in range(len(cells)):
        here = side * len(cells) + column
        null[U(here)] = False
        if cells[U(column), NULLABLE]:
            if place >= end:
                return False
            flag = buffer[U(place)]
            place += 1
            if flag != 0:
                if flag != 0xFF:
                    return False
                null[U(here)] = True
        length = cells[U(column), WIDTH]
        taken = length
        if cells[U(column), VARIABLE]:
            if place + 2 > end:
                return False
            length = half(buffer, place)
            place += 2
            if cells[U(column), EXPANDED]:
                length = min(length, taken)
            else:
                taken = length
        if place + taken > end:
            return False
        at[U(here)] = place
        size[U(here)] = length
        place += taken
    return place == end
