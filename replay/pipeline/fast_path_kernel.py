"""Machine code for what most changes are: row images -> statements in one pass, row by row, without
anything in between.

Numba compiles these functions, and :mod:`replay.decoding.machine_code` keeps what came of it, so
that only who makes it anew imports this module. They know plain cases only. A row that is anything
else (damaged, an odd character, an hour 24) gets the status ``ODD`` and no text, and is left to
:mod:`replay.pipeline.rows`, which every rule and every message belong to.
:mod:`replay.pipeline.fast_path` prepares the tables that the functions work from.
"""

from __future__ import annotations

import numpy as np

from replay.decoding.shared_kernel import Array, U, machine_code, machine_code_in_place
from replay.pipeline.fast_path_tables import (
    AGAIN,
    ASSIGNED,
    CELLS,
    CELLS_END,
    CHANGED,
    CHARSET,
    COLUMN,
    DATE,
    ELEMENTS,
    ELEMENTS_END,
    EMITTED,
    EMPTY,
    EXCLUDED_COLUMNS,
    EXPANDED,
    FIXED,
    GIVEN,
    GIVEN_BEFORE,
    IMAGES,
    INTEGER,
    KEYED,
    KIND,
    LEAST,
    LISTED,
    MOVED,
    MOVING,
    NO_CHANGE,
    NOTED,
    NULL,
    NULLABLE,
    ODD,
    PACKED,
    PREFIX,
    REKEYED,
    SCALE,
    SEVERAL,
    SHOWN,
    SIDE,
    STANDS,
    STAYING,
    SUFFIX,
    SUFFIX_END,
    TEXT_STRIPPED,
    TIME,
    TIMES,
    VARIABLE,
    WATCHED,
    WHEN,
    WIDTH,
)

#: Rows whose images are fetched from memory together, and the bytes that come at once.
AHEAD, LINE = 64, 64

#: Days of the months by number; none in month 0.
_DAYS = np.array([0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], np.int64)


@machine_code
def _walk(
    buffer: Array,
    place: int,
    end: int,
    cells: Array,
    at: Array,
    size: Array,
    null: Array,
    side: int,
) -> bool:
    """Where the columns of an image lie; False where they do not end exactly where it ends."""
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
            length = (int(buffer[U(place)]) << 8) | int(buffer[U(place + 1)])
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
def _same(buffer: Array, one: int, other: int, size: int) -> bool:
    """Whether two values have the same bytes."""
    same = True
    for place in range(size):
        same = same and buffer[U(one + place)] == buffer[U(other + place)]
    return same


@machine_code
def _copy(pool: Array, start: int, end: int, out: Array, place: int) -> int:
    """A text of the pool."""
    into = U(place)
    for index in range(U(start), U(end)):
        out[into] = pool[index]
        into += U(1)
    return int(place + end - start)


@machine_code
def _integer(buffer: Array, at: int, size: int, out: Array, place: int) -> int:
    """Two's complement, big-endian, as digits."""
    first = buffer[U(at)]
    value = np.uint64(0xFFFF_FFFF_FFFF_FFFF) if first >= 128 else np.uint64(0)
    for index in range(size):
        value = (value << np.uint64(8)) | np.uint64(buffer[U(at + index)])
    if first >= 128:
        value = ~value + np.uint64(1)
        out[U(place)] = 45
        place += 1
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
def _text(
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
    """Characters as UTF-8, quotes as the dialect writes them; -1 where one needs more than that,
    and for a text that is too short. ``lengths``: the octet that a
    character is written as, or :data:`SEVERAL` and how many they are."""
    if strip:
        while size and codes[U(charset), buffer[U(at + size - 1)], 0] == 32:
            size -= 1
    if size < least:
        return -1
    seen = np.uint8(0)
    for index in range(size):
        letter = lengths[U(charset), buffer[U(at + index)]]
        out[U(place + index)] = letter
        seen |= letter
    if seen < SEVERAL:
        return int(place + size)
    for index in range(size):
        byte = buffer[U(at + index)]
        letter = lengths[U(charset), byte]
        if letter == SEVERAL:
            return -1
        for part in range(letter - SEVERAL if letter > SEVERAL else 1):
            out[U(place)] = codes[U(charset), byte, U(part)]
            place += 1
    return place


@machine_code
def _two(out: Array, place: int) -> int:
    return 10 * (int(out[U(place)]) - 48) + int(out[U(place + 1)]) - 48


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
    clock = place
    if kind != TIME:
        year, month, day = (
            100 * _two(out, place) + _two(out, place + 2),
            _two(out, place + 5),
            _two(out, place + 8),
        )
        if year == 0 or month > 12 or day == 0 or day > _DAYS[U(month)]:
            return -1
        if month == 2 and day == 29 and (year % 4 or (year % 100 == 0 and year % 400)):
            return -1
        clock += 11
    if kind != DATE and (
        _two(out, clock) > 23 or _two(out, clock + 3) > 59 or _two(out, clock + 6) > 59
    ):
        return -1
    return place + size


@machine_code
def _value(
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
    if kind <= TEXT_STRIPPED:
        return _text(
            buffer,
            at,
            size,
            kind == TEXT_STRIPPED,
            cells[U(column), LEAST],
            lengths,
            codes,
            cells[U(column), CHARSET],
            out,
            place,
        )
    return _moment(buffer, at, size, kind, pictures, accepted, out, place)


@machine_code
def _changes(
    buffer: Array, cells: Array, at: Array, size: Array, null: Array, changed: Array
) -> int:
    """Which columns differ between the images of a row; what becomes of it, :data:`MOVED` and
    :data:`REKEYED`."""
    result, moved, rekeyed = NO_CHANGE, 0, 0
    columns = len(cells)
    for column in range(columns):
        other = columns + column
        different = null[U(column)] != null[U(other)]
        if not different and not null[U(column)]:
            length = size[U(column)]
            different = length != size[U(other)] or not _same(
                buffer, at[U(column)], at[U(other)], length
            )
        changed[U(column)] = different
        if different and cells[U(column), SHOWN]:
            result = EMITTED
        elif different and result == NO_CHANGE:
            result = EXCLUDED_COLUMNS
        if different and cells[U(column), WATCHED]:
            moved = MOVED
        if different and cells[U(column), KEYED]:
            rekeyed = REKEYED
    return result + moved + rekeyed


@machine_code
def _touch(buffer: Array, bounds: Array, start: int, stop: int) -> int:
    """Read a byte of each cache line of the images of some rows, all at once: one after the other,
    each would be waited for."""
    seen = 0
    for row in range(start, min(stop, bounds.shape[1])):
        for place in range(bounds[U(0), U(row)], bounds[U(bounds.shape[0] - 1), U(row)], LINE):
            seen ^= buffer[U(place)]
    return seen


@machine_code_in_place
def _statement(
    buffer: Array,
    cells: Array,
    elements: Array,
    pool: Array,
    lengths: Array,
    codes: Array,
    pictures: Array,
    accepted: Array,
    at: Array,
    size: Array,
    null: Array,
    changed: Array,
    out: Array,
    place: int,
    codes_of_rows: Array,
    row: int,
    rekeyed: bool,
    given: Array,
    given_offsets: Array,
) -> int:
    """The statement of one row, whose images were walked, and its code; -1 where a value is not
    plain."""
    first, code = True, 0
    noted, noted_end = place, place
    for element in range(len(elements)):
        column, when = elements[U(element), COLUMN], elements[U(element), WHEN]
        if when == ASSIGNED and not changed[U(column)]:
            continue
        if when == STAYING:
            if rekeyed:
                return -1
            continue
        if when == NOTED:
            noted, noted_end = noted_end, place
            continue
        if when == AGAIN:
            place = _copy(out, noted, noted_end, out, place)
            continue
        kept, still_first = place, first
        side = elements[U(element), SIDE]
        here = side * len(cells) + column
        empty = column >= 0 and null[U(here)] != 0
        text = NULL if empty else PREFIX
        start, end = elements[U(element), U(text)], elements[U(element), U(text + 1)]
        if elements[U(element), LISTED]:
            if end == start and elements[U(element), EMPTY] < 0:
                return -1
            if end > start:
                start += 2 if first else 0
                first = False
        place = _copy(pool, start, end, out, place)
        if column >= 0 and not empty:
            if cells[U(column), KIND] == GIVEN:
                texts = cells[U(column), U(GIVEN_BEFORE + side)]
                start, end = given_offsets[U(texts), U(row)], given_offsets[U(texts), U(row + 1)]
                place = _copy(given, start, end, out, place)
            else:
                place = _value(
                    buffer, at[U(here)], size[U(here)], cells, column, lengths, codes, pictures,
                    accepted, out, place,
                )  # fmt: skip
            if place < 0:
                return -1
            start, end = elements[U(element), SUFFIX], elements[U(element), SUFFIX_END]
            place = _copy(pool, start, end, out, place)
        if (when == CHANGED and not changed[U(column)]) or (when == MOVING and not rekeyed):
            # it was only read: a value that the other way looks at must be right here too
            place, first = kept, still_first
        else:
            if elements[U(element), STANDS] >= 0:
                code |= 1 << elements[U(element), STANDS]
            if empty and elements[U(element), EMPTY] >= 0:
                code |= 1 << elements[U(element), EMPTY]
    codes_of_rows[U(row)] = code
    return int(place)


@machine_code
def _room(bounds: Array, program: Array, row: int, given_offsets: Array) -> int:
    """Bytes that the statement of a row takes at most."""
    of_images = 0
    for side in range(program[U(IMAGES)]):
        of_images += bounds[U(2 * side + 1), U(row)] - bounds[U(2 * side), U(row)]
    room = 4 * of_images
    for texts in range(len(given_offsets)):
        room += given_offsets[U(texts), U(row + 1)] - given_offsets[U(texts), U(row)]
    return int(program[U(FIXED)] + program[U(TIMES)] * room)


@machine_code
def render_rows(
    buffer: Array,
    bounds: Array,
    programs: Array,
    program_of: Array,
    all_cells: Array,
    all_elements: Array,
    pool: Array,
    lengths: Array,
    codes: Array,
    pictures: Array,
    accepted: Array,
    start: int,
    work: Array,
    out: Array,
    offsets: Array,
    status: Array,
    codes_of_rows: Array,
    given: Array,
    given_offsets: Array,
) -> int:
    """Statements of the rows from ``start`` on, as far as ``out`` has room; the first row that has
    none yet.

    ``bounds`` int64[2 | 4, n] are (start, end) of each row's image, of an update's before and after
    images, all within ``buffer``; a row of one image among those of two has an empty second one
    where the first ends. ``program_of`` int64[n] says which of the ``programs`` writes a row; the
    other tables are those of :class:`replay.pipeline.fast_path.KernelTables`. ``work`` int64[4, 2 *
    columns] is for the functions here. ``offsets[row + 1]``, ``status[row]`` and, where there is a
    statement, ``codes_of_rows[row]`` are set for each row done. The texts of values that are given
    lie in ``given``, set ``g`` of them between ``given_offsets[g]`` (int64[g, n + 1]).
    """
    at, size, null, changed = work[0], work[1], work[2], work[3]
    place = offsets[U(start)]
    for row in range(start, bounds.shape[1]):
        if (row - start) % AHEAD == 0:
            work[U(0), U(0)] = _touch(buffer, bounds, row, row + AHEAD)
        program = programs[U(program_of[U(row)])]
        if place + _room(bounds, program, row, given_offsets) > len(out):
            return row
        cells = all_cells[program[U(CELLS)] : program[U(CELLS_END)]]
        elements = all_elements[program[U(ELEMENTS)] : program[U(ELEMENTS_END)]]
        sides, result, moved, rekeyed = program[U(IMAGES)], EMITTED, 0, False
        for side in range(sides):
            begin, end = bounds[U(2 * side), U(row)], bounds[U(2 * side + 1), U(row)]
            if not _walk(buffer, begin, end, cells, at, size, null, side):
                result = ODD
        if sides == 2 and result != ODD:
            result = _changes(buffer, cells, at, size, null, changed)
            moved, rekeyed = result & MOVED, (result & REKEYED) != 0
            result &= ~(MOVED | REKEYED)
        if result != ODD:
            behind = _statement(
                buffer, cells, elements, pool, lengths, codes, pictures, accepted,
                at, size, null, changed, out, place, codes_of_rows, row, rekeyed,
                given, given_offsets,
            )  # fmt: skip
            if behind < 0:
                result = ODD
            elif result == EMITTED:
                place = behind
        offsets[U(row + 1)], status[U(row)] = place, result if result == ODD else result + moved
    return len(status)


@machine_code
def locate_rows(
    buffer: Array,
    bounds: Array,
    cells: Array,
    columns: Array,
    work: Array,
    places: Array,
    sizes: Array,
    nulls: Array,
    bad: Array,
) -> int:
    """Where some ``columns`` (int64[k]) of the images of rows lie; how many rows have an image that
    does not fit the table.

    ``bounds``, ``cells`` and ``work`` as for :func:`render_rows`. ``places``, ``sizes`` (int64[s *
    k, n]: the columns of the first image, then of the second) and ``nulls`` (bool of that shape)
    are set for each row but those that are ``bad`` (bool[n]).
    """
    sides = bounds.shape[0] // 2
    at, size, null = work[0], work[1], work[2]
    count = 0
    for row in range(bounds.shape[1]):
        if row % AHEAD == 0:
            work[U(3), U(0)] = _touch(buffer, bounds, row, row + AHEAD)
        for side in range(sides):
            begin, end = bounds[U(2 * side), U(row)], bounds[U(2 * side + 1), U(row)]
            if not _walk(buffer, begin, end, cells, at, size, null, side):
                bad[U(row)] = True
        if bad[U(row)]:
            count += 1
            continue
        for side in range(sides):
            for chosen in range(len(columns)):
                here = side * len(cells) + columns[U(chosen)]
                into = side * len(columns) + chosen
                places[U(into), U(row)] = at[U(here)]
                sizes[U(into), U(row)] = size[U(here)]
                nulls[U(into), U(row)] = null[U(here)] != 0
    return count
