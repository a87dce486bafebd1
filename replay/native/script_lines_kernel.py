"""Machine code that puts the lines of a script one after the other: statements from where they were
made, in the order of the script, with their checks, and what stands before units.

As :mod:`replay.native.fast_path_kernel`, this is imported by who makes the code anew, and by
nobody else.
"""

from __future__ import annotations

import numpy as np

from replay.native.script_lines_tables import (
    AT,
    BEFORE_END,
    BEGINS,
    CHECK,
    CHECKED,
    CLOSES,
    CLOSING,
    COMMITS,
    DEFERS,
    HEXADECIMAL,
    INTEGER,
    KIND,
    LABEL,
    NAMED,
    NUMBER,
    OPENING,
    OPENS,
    OTHERWISE,
    PART,
    SLOT,
    TEXT,
    TEXT_END,
    TIME,
    TIME_OCTETS,
    TOLD,
    UNIT,
    WIDTH,
)
from replay.native.shared_kernel import Array, U, copied, machine_code

#: Days of the months by number; none in month 0.
_DAYS = np.array([0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], np.int64)
#: How a moment is written, and that there is none.
_PICTURE = np.frombuffer(b"0000-00-00 00:00:00.000000000000", np.uint8)
_UNKNOWN = np.frombuffer(b"unknown", np.uint8)


@machine_code
def _digits(number: int, out: Array, place: int) -> int:
    """A number that is not below zero."""
    behind, rest = place + 1, number // 10
    while rest:
        behind += 1
        rest //= 10
    rest = number
    for index in range(behind - 1, place - 1, -1):
        out[U(index)] = np.uint8(48 + rest % 10)
        rest //= 10
    return behind


@machine_code
def _filled(
    part: int,
    pieces: Array,
    pool: Array,
    names: Array,
    low: int,
    high: int,
    number: int,
    out: Array,
    place: int,
) -> int:
    """A part of what stands beside a statement, with the name of its unit (between ``low`` and
    ``high``) and its number."""
    for piece in range(len(pieces)):
        if pieces[U(piece), PART] != part:
            continue
        start, end = pieces[U(piece), TEXT], pieces[U(piece), TEXT_END]
        place = copied(pool, start, end, out, place)
        slot = pieces[U(piece), SLOT]
        if slot == UNIT:
            place = copied(names, low, high, out, place)
        elif slot == NUMBER:
            place = _digits(number, out, place)
    return place


@machine_code
def _before(
    what: int,
    frame: Array,
    frame_ends: Array,
    comments: Array,
    start: int,
    end: int,
    out: Array,
    place: int,
) -> int:
    """What stands before a unit, whose comment lies between ``start`` and ``end``."""
    if what & COMMITS:
        place = copied(frame, 0, frame_ends[U(0)], out, place)
    if what & TOLD:
        place = copied(comments, start, end, out, place)
        out[U(place)] = 10
        place += 1
    if what & BEGINS:
        place = copied(frame, frame_ends[U(0)], frame_ends[U(1)], out, place)
    if what & DEFERS:
        place = copied(frame, frame_ends[U(1)], frame_ends[U(2)], out, place)
    return place


@machine_code
def put_lines(
    texts: Array,
    offsets: Array,
    picked: Array,
    starts: Array,
    before: Array,
    frame: Array,
    frame_ends: Array,
    comments: Array,
    comment_offsets: Array,
    notes: Array,
    note_offsets: Array,
    needs: Array,
    numbers: Array,
    name_starts: Array,
    name_ends: Array,
    pieces: Array,
    pool: Array,
    first: int,
    last: int,
    head: int,
    out: Array,
) -> int:
    """Write the texts ``picked`` from row ``first`` to before row ``last`` into ``out``, each with
    the end of a line. ``out`` has room for it. How much was written.

    ``head`` units begin before row ``first``. At the rows ``starts``, rising, units begin:
    ``before`` says what stands there, ``comments`` has a text for each, and ``frame`` the other
    texts, which end at ``frame_ends``.

    Behind each text stands the next one of ``notes``, unless there are none (``note_offsets`` are
    then less than rows). Where ``needs`` are not empty they say for each row what else it needs, of
    which ``numbers`` says the number of the statement; ``name_starts`` and ``name_ends`` say where
    in its comment the name of each unit lies, and ``pieces`` and ``pool`` are those of
    :class:`replay.output.script_lines.Checks`.
    """
    place, low, high, needed, number = 0, 0, 0, 0, 0
    if head and len(needs):
        low, high = name_starts[U(head - 1)], name_ends[U(head - 1)]
    for row in range(first, last):
        if head < len(starts) and starts[U(head)] == row:
            start, end = comment_offsets[U(head)], comment_offsets[U(head + 1)]
            place = _before(
                before[U(head)], frame, frame_ends, comments, start, end, out, place
            )  # fmt: skip
            if len(needs):
                low, high = name_starts[U(head)], name_ends[U(head)]
            head += 1
        start, end = offsets[U(picked[U(row)])], offsets[U(picked[U(row)] + 1)]
        if len(needs):
            needed, number = needs[U(row)], numbers[U(row)]
        if needed & OPENS:
            place = _filled(OPENING, pieces, pool, comments, low, high, number, out, place)
        if needed & CHECKED:
            named = start
            while named < end and texts[U(named)] != NAMED:
                named += 1
            if named < end:
                place = copied(texts, start, named, out, place)
                place = _filled(LABEL, pieces, pool, comments, low, high, number, out, place)
                start = named + 1
        place = copied(texts, start, end, out, place)
        if len(note_offsets) > len(picked):
            start, end = note_offsets[U(row)], note_offsets[U(row + 1)]
            place = copied(notes, start, end, out, place)
        if needed & CHECKED:
            place = _filled(CHECK, pieces, pool, comments, low, high, number, out, place)
        if needed & CLOSES:
            place = _filled(CLOSING, pieces, pool, comments, low, high, number, out, place)
        out[U(place)] = 10
        place += 1
    return place


@machine_code
def _hexadecimal(digit: int) -> int:
    return digit + 48 if digit < 10 else digit + 55


@machine_code
def _packed_digit(block: Array, row: int, at: int, index: int) -> int:
    octet = int(np.int64(block[U(row), U(at + (index >> 1))]))
    return octet & 15 if index & 1 else octet >> 4


@machine_code
def _pair(block: Array, row: int, at: int, index: int) -> int:
    octet = int(np.int64(block[U(row), U(at + index)]))
    return 10 * (octet >> 4) + (octet & 15)


@machine_code
def _time(block: Array, row: int, at: int, out: Array, place: int) -> int:
    """34 packed digits as a moment, of a fraction six digits or twelve; ``unknown`` for zeros; -1
    where they are no moment, and for hour 24."""
    some, fine = False, False
    for index in range(2 * TIME_OCTETS):
        digit = _packed_digit(block, row, at, index)
        if digit > 9:
            return -1
        some = some or digit > 0
        fine = fine or (20 <= index < 26 and digit > 0)
    if not some:
        return copied(_UNKNOWN, 0, len(_UNKNOWN), out, place)
    year = 100 * _pair(block, row, at, 0) + _pair(block, row, at, 1)
    month, day = _pair(block, row, at, 2), _pair(block, row, at, 3)
    if year == 0 or month > 12 or day == 0 or day > _DAYS[U(month)]:
        return -1
    if month == 2 and day == 29 and (year % 4 or (year % 100 == 0 and year % 400)):
        return -1
    if _pair(block, row, at, 4) > 23 or _pair(block, row, at, 5) > 59:
        return -1
    if _pair(block, row, at, 6) > 59:
        return -1
    index = 0
    for letter in range(32 if fine else 26):
        out[U(place + letter)] = _PICTURE[U(letter)]
        if _PICTURE[U(letter)] == 48:
            out[U(place + letter)] = 48 + _packed_digit(block, row, at, index)
            index += 1
    return int(place + (32 if fine else 26))


@machine_code
def _field(block: Array, row: int, field: Array, letters: Array, out: Array, place: int) -> int:
    """A field of a header as text; -1 where it is not plain."""
    kind, at, width = field[U(KIND)], field[U(AT)], field[U(WIDTH)]
    if field[U(OTHERWISE)] >= 0:
        some = False
        for index in range(width):
            some = some or block[U(row), U(at + index)] != 0
        if not some:
            at = field[U(OTHERWISE)]
    if kind == HEXADECIMAL:
        for index in range(width):
            octet = int(np.int64(block[U(row), U(at + index)]))
            out[U(place)], out[U(place + 1)] = _hexadecimal(octet >> 4), _hexadecimal(octet & 15)
            place += 2
        return int(place)
    if kind == INTEGER:
        value = 0
        for index in range(width):
            value = (value << 8) | int(np.int64(block[U(row), U(at + index)]))
        return _digits(value, out, place)
    if kind == TIME:
        return _time(block, row, at, out, place)
    while width and block[U(row), U(at + width - 1)] == 0x40:
        width -= 1
    for index in range(width):
        letter = letters[U(block[U(row), U(at + index)])]
        if letter == 0:
            return -1
        out[U(place + index)] = letter
    return int(place + width)


@machine_code
def put_comments(
    block: Array,
    fields: Array,
    pool: Array,
    letters: Array,
    named: int,
    out: Array,
    offsets: Array,
    name_ends: Array,
) -> int:
    """Write the comment of the unit of each of the headers ``block`` (uint8[n, width]) into
    ``out``, which has room; how many were written before the first one that is not plain.

    ``fields`` and ``pool`` are those of :class:`replay.output.script_lines.CommentLayout`,
    ``letters`` (uint8[256]) says how each octet of a text is written (0: it is not plain).
    ``offsets`` (int32[n + 1]) are set, and ``name_ends`` (int32[n]): where the first ``named``
    fields end.
    """
    place = 0
    for row in range(len(block)):
        start = 0
        for field in range(len(fields)):
            end = fields[U(field), BEFORE_END]
            place = copied(pool, start, end, out, place)
            place = _field(block, row, fields[U(field)], letters, out, place)
            if place < 0:
                return row
            if field < named:
                name_ends[U(row)] = place
            start = end
        offsets[U(row + 1)] = place
    return len(block)
