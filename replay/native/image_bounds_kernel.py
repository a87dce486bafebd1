"""Machine code that finds the row images of changes whose lengths all close. Where one does not,
:func:`replay.logs.logmaster.data.find_images` finds them all, and says what is wrong.

As :mod:`replay.native.fast_path_kernel`, this is imported by who makes the code anew, and by
nobody else.
"""

from __future__ import annotations

from replay.native.shared_kernel import Array, U, fetched, half, machine_code

#: How many changes before it is looked at the data of a change is fetched from memory.
AHEAD = 32


@machine_code
def closing_images(
    buffer: Array,
    start: Array,
    end: Array,
    two: Array,
    outer: int,
    inclusive: int,
    bounds: Array,
) -> int:
    """Bounds of the images in DATA from ``start`` to ``end``: ``bounds`` (int64[2 | 4, n]) become
    where the first image begins and ends, and of changes with ``two`` images (uint8[n]) the second
    one; where there is none, an empty one at the end, if ``bounds`` have room.

    ``outer``: octets of the length of all of it, 0 or 2; ``inclusive``: octets of an image's own
    length that it counts. 0, or 1 where lengths of a row do not fill its DATA exactly.
    """
    sides = bounds.shape[0] // 2
    for row in range(len(start)):
        if row + AHEAD < len(start):
            fetched(buffer, start[U(row + AHEAD)])
        place, stop = start[U(row)], end[U(row)]
        if place < 0 or stop > len(buffer):
            return 1
        if outer:
            if place + 2 > stop:
                return 1
            total = half(buffer, place)
            if total != stop - place:
                return 1
            place += 2
        images = 2 if two[U(row)] else 1
        if images > sides:
            return 1
        for image in range(images):
            if place + 2 > stop:
                return 1
            size = half(buffer, place)
            place += 2
            bounds[U(2 * image), U(row)] = place
            place += size - inclusive
            if size < inclusive or place > stop:
                return 1
            bounds[U(2 * image + 1), U(row)] = place
        if place != stop:
            return 1
        if images < sides:
            bounds[U(2), U(row)] = bounds[U(3), U(row)] = place
    return 0
