"""Machine code that finds the columns of a row image, as the family that wrote it lays them out
(:mod:`replay.decoding.plain_rows`).

As :mod:`replay.native.fast_path_kernel`, this is imported by who makes the code anew, and by
nobody else. Only images that are plain from end to end are taken: each function returns False for
any other, and then nothing that it found counts.
"""

from __future__ import annotations

from typing import Any

from replay.native.fast_path_tables import (
    BIG,
    COUNT_SIZE,
    COUNTED,
    EXPANDED,
    FIXED_AT,
    HEAD,
    INNER,
    INNER_AT,
    INNER_BITS,
    LENGTH_AT,
    LENGTH_BIG,
    LENGTH_SIZE,
    LONG,
    NUL,
    NULL_BYTE,
    NULL_HAS_LENGTH,
    NULL_LENGTH,
    NULLABLE,
    OFFSET_AT,
    OTHER_WIDTH,
    OUTSIDE,
    POSITION,
    SECTION,
    SECTIONED,
    SHAPE,
    SIZE_AT,
    UNIT,
    VARIABLE,
    WIDTH,
)
from replay.native.shared_kernel import Array, U, half, machine_code, octet


@machine_code
def find_columns(
    buffer: Array,
    place: int,
    end: int,
    program: Array,
    cells: Array,
    at: Array,
    size: Array,
    null: Array,
    side: int,
) -> bool:
    """Where the columns of an image lie, and which are null: ``at``, ``size`` and ``null`` from
    ``side`` times their number on. False where the image is not plain."""
    if program[U(SHAPE)] == COUNTED:
        return find_counted(buffer, place, end, cells, at, size, null, side)
    if program[U(SHAPE)] == SECTIONED:
        return _sectioned(buffer, place, end, program, cells, at, size, null, side)
    return _framed(buffer, place, end, program, cells, at, size, null, side)


@machine_code
def find_counted(
    buffer: Array,
    place: int,
    end: int,
    cells: Array,
    at: Array,
    size: Array,
    null: Array,
    side: int,
) -> bool:
    """One column after the other, each behind its null byte and the length of what varies; False
    too where they do not end exactly where the image ends."""
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


@machine_code
def _half(buffer: Array, place: int, big: bool) -> Any:
    return half(buffer, place) if big else octet(buffer, place) | (octet(buffer, place + 1) << 8)


@machine_code
def _sectioned(
    buffer: Array,
    place: int,
    end: int,
    program: Array,
    cells: Array,
    at: Array,
    size: Array,
    null: Array,
    side: int,
) -> bool:
    """A header, a fixed section that has all columns, and behind it the varying values in their
    order."""
    big = program[U(BIG)] != 0
    body, whole = place + program[U(HEAD)], end - place
    section = program[U(SECTION)]
    if body + section > end or _half(buffer, place + program[U(LENGTH_AT)], big) != whole:
        return False
    inner = octet(buffer, place + program[U(INNER_AT)])
    if inner & program[U(INNER_BITS)] != program[U(INNER)]:
        return False
    if _half(buffer, place + program[U(FIXED_AT)], big) != section:
        return False
    cursor = section
    for column in range(len(cells)):
        here = side * len(cells) + column
        begin = body + cells[U(column), POSITION]
        length = cells[U(column), WIDTH]
        null[U(here)] = False
        if cells[U(column), NULLABLE]:
            flag = buffer[U(begin + length)]
            if flag > 1:
                return False
            null[U(here)] = flag != 0
        if cells[U(column), VARIABLE]:
            offset = _half(buffer, begin + program[U(OFFSET_AT)], big)
            length = _half(buffer, begin + program[U(SIZE_AT)], big)
            if null[U(here)]:
                length = 0
            # an offset beyond 15 bits may be a mark of a value that lies elsewhere
            if length and (offset != cursor or offset >= 0x8000):
                return False
            begin = body + cursor
            cursor += length
            if body + cursor > end:
                return False
        at[U(here)] = begin
        size[U(here)] = length
    return bool(body + cursor == end)


@machine_code
def _number_at(buffer: Array, place: int, size: int, big: bool) -> int:
    value = 0
    for index in range(size):
        byte = octet(buffer, place + index)
        value = (value << 8) | byte if big else value | (byte << (8 * index))
    return value


@machine_code
def _framed(
    buffer: Array,
    place: int,
    end: int,
    program: Array,
    cells: Array,
    at: Array,
    size: Array,
    null: Array,
    side: int,
) -> bool:
    """Values one after the other, each behind its length, perhaps behind how many they are."""
    count, octets = program[U(COUNT_SIZE)], program[U(LENGTH_SIZE)]
    big, mark = program[U(LENGTH_BIG)] != 0, program[U(NULL_BYTE)]
    with_length, null_length = program[U(NULL_HAS_LENGTH)] != 0, program[U(NULL_LENGTH)]
    if count:
        if place + count > end or _number_at(buffer, place, count, True) != len(cells):
            return False
        place += count
    for column in range(len(cells)):
        here = side * len(cells) + column
        missing, length = False, 0
        if mark >= 0:
            if place >= end or buffer[U(place)] > 1:
                return False
            missing = buffer[U(place)] == mark
            place += 1
        if with_length or not missing:
            if place + octets > end:
                return False
            length = _number_at(buffer, place, octets, big)
            place += octets
            if missing and length:
                return False
            if program[U(LONG)] >= 0 and length >= program[U(LONG)]:
                if length == program[U(OUTSIDE)] or place + 4 > end:
                    return False
                length = _number_at(buffer, place, 4, False)
                place += 4
        if null_length >= 0 and length == null_length:
            missing, length = True, 0
        if missing and not cells[U(column), NULLABLE]:
            return False
        if place + length > end:
            return False
        at[U(here)] = place
        null[U(here)] = missing
        place += length
        if not missing:
            if cells[U(column), NUL]:
                if length == 0 or buffer[U(place - 1)] != 0:
                    return False
                length -= 1
            width, other = cells[U(column), WIDTH], cells[U(column), OTHER_WIDTH]
            if width and length != width and length != other:
                return False
            if cells[U(column), UNIT] == 2 and length & 1:
                return False
        size[U(here)] = length
    return place == end
