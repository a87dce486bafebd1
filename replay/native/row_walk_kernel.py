"""Machine code that finds the columns of a row image (:mod:`replay.decoding.plain_rows`).

As :mod:`replay.native.fast_path_kernel`, this is imported by who makes the code anew, and by
nobody else. Only images that are plain from end to end are taken: for any other False is returned,
and then nothing that was found counts.
"""

from __future__ import annotations

from replay.native.fast_path_tables import EXPANDED, NULLABLE, VARIABLE, WIDTH
from replay.native.shared_kernel import Array, U, half, machine_code


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
