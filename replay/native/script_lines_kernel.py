"""Machine code that puts the lines of a script one after the other: statements from where they were
made, in the order of the script, with their checks, and what stands before units.

As :mod:`replay.native.fast_path_kernel`, this is imported by who makes the code anew, and by
nobody else.
"""

from __future__ import annotations

import numpy as np

from replay.native.script_lines_tables import (
    BEGINS,
    CHECK,
    CHECKED,
    CLOSES,
    CLOSING,
    COMMITS,
    DEFERS,
    LABEL,
    NAMED,
    NUMBER,
    OPENING,
    OPENS,
    PART,
    SLOT,
    TEXT,
    TEXT_END,
    TOLD,
    UNIT,
)
from replay.native.shared_kernel import Array, U, copied, machine_code


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
    :class:`replay.output.script_file.Checks`.
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
