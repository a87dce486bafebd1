"""Machine code for what most changes are: row images -> statements in one pass, row by row, without
anything in between.

Numba compiles these functions, and :mod:`replay.native.machine_code` keeps what came of it, so
that only who makes it anew imports this module. They know plain cases only. A row that is anything
else (damaged, an odd character, an hour 24) gets the status ``ODD`` and no text, and is left to
:mod:`replay.pipeline.rows`, which every rule and every message belong to.
:mod:`replay.native.fast_path` prepares the tables that the functions work from.
"""

from __future__ import annotations

from replay.native.fast_path_tables import (
    AGAIN,
    ASSIGNED,
    CELLS,
    CELLS_END,
    CHANGED,
    COLUMN,
    COMPARED,
    ELEMENTS,
    ELEMENTS_END,
    EMITTED,
    EMPTY,
    EXCLUDED_COLUMNS,
    FIXED,
    IMAGES,
    KEYED,
    LISTED,
    MOVED,
    MOVING,
    NO_CHANGE,
    NOTED,
    NULL,
    ODD,
    PREFIX,
    REKEYED,
    SHOWN,
    SIDE,
    STANDS,
    STAYING,
    SUFFIX,
    SUFFIX_END,
    TIMES,
    WATCHED,
    WHEN,
)
from replay.native.row_values_kernel import find_columns, said_value
from replay.native.shared_kernel import (
    Array,
    U,
    copied,
    fetched,
    machine_code,
    same_octets,
)

#: So many rows together are fetched from memory, while those before them are written, and the bytes
#: that come at once. Fetched one by one, each would wait for where its page lies in memory.
ROWS_FETCHED, LINE = 16, 64


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
            different = length != size[U(other)] or not same_octets(
                buffer, at[U(column)], at[U(other)], length
            )
        changed[U(column)] = different
        if not cells[U(column), COMPARED]:
            continue
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
def _fetch(buffer: Array, bounds: Array, row: int) -> None:
    """Have the images of the next :data:`ROWS_FETCHED` rows come from memory, where ``row`` is the
    first of as many."""
    if row % ROWS_FETCHED:
        return
    for ahead in range(row + ROWS_FETCHED, min(row + 2 * ROWS_FETCHED, bounds.shape[1])):
        for side in range(bounds.shape[0] // 2):
            low, high = bounds[U(2 * side), U(ahead)], bounds[U(2 * side + 1), U(ahead)]
            for place in range(low, high, LINE):
                fetched(buffer, place)


@machine_code
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
            place = copied(out, noted, noted_end, out, place)
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
        place = copied(pool, start, end, out, place)
        if column >= 0 and not empty:
            place = said_value(
                buffer, at[U(here)], size[U(here)], cells, column, lengths, codes, pictures,
                accepted, out, place,
            )  # fmt: skip
            if place < 0:
                return -1
            start, end = elements[U(element), SUFFIX], elements[U(element), SUFFIX_END]
            place = copied(pool, start, end, out, place)
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
def _room(bounds: Array, program: Array, row: int) -> int:
    """Bytes that the statement of a row takes at most."""
    of_images = 0
    for side in range(program[U(IMAGES)]):
        of_images += bounds[U(2 * side + 1), U(row)] - bounds[U(2 * side), U(row)]
    return int(program[U(FIXED)] + program[U(TIMES)] * 4 * of_images)


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
) -> int:
    """Statements of the rows from ``start`` on, as far as ``out`` has room; the first row that has
    none yet.

    ``bounds`` int64[2 | 4, n] are (start, end) of each row's image, of an update's before and after
    images, all within ``buffer``; a row of one image among those of two has an empty second one
    where the first ends. ``program_of`` int64[n] says which of the ``programs`` writes a row; the
    other tables are those of :class:`replay.native.fast_program.KernelTables`. ``work``
    int64[4, 2 * columns] is for the functions here. ``offsets[row + 1]``, ``status[row]`` and,
    where there is a statement, ``codes_of_rows[row]`` are set for each row done.
    """
    at, size, null, changed = work[0], work[1], work[2], work[3]
    place = offsets[U(start)]
    for row in range(start, bounds.shape[1]):
        _fetch(buffer, bounds, row)
        program = programs[U(program_of[U(row)])]
        if place + _room(bounds, program, row) > len(out):
            return row
        cells = all_cells[program[U(CELLS)] : program[U(CELLS_END)]]
        elements = all_elements[program[U(ELEMENTS)] : program[U(ELEMENTS_END)]]
        sides, result, moved, rekeyed = program[U(IMAGES)], EMITTED, 0, False
        for side in range(sides):
            begin, end = bounds[U(2 * side), U(row)], bounds[U(2 * side + 1), U(row)]
            if not find_columns(buffer, begin, end, cells, at, size, null, side):
                result = ODD
        if sides == 2 and result != ODD:
            result = _changes(buffer, cells, at, size, null, changed)
            moved, rekeyed = result & MOVED, (result & REKEYED) != 0
            result &= ~(MOVED | REKEYED)
        if result != ODD:
            behind = _statement(
                buffer, cells, elements, pool, lengths, codes, pictures, accepted,
                at, size, null, changed, out, place, codes_of_rows, row, rekeyed,
            )  # fmt: skip
            if behind < 0:
                result = ODD
            elif result == EMITTED:
                place = behind
        offsets[U(row + 1)], status[U(row)] = place, result if result == ODD else result + moved
    return len(status)
