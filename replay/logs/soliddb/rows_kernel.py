"""Machine code that finds where the values of row images lie, image by image.

As :mod:`replay.pipeline.fast_path_kernel`, this is imported by who makes the code anew, and by
nobody else.
"""

from __future__ import annotations

from replay.decoding.shared_kernel import Array, U, machine_code, octet


@machine_code
def _number(buffer: Array, place: int, size: int, big: int) -> int:
    value = 0
    for index in range(size):
        value = (value << 8) | octet(buffer, place + (index if big else size - 1 - index))
    return value


@machine_code
def walk_rows(
    buffer: Array,
    start: Array,
    end: Array,
    framing: Array,
    columns: Array,
    places: Array,
    lengths: Array,
    nulls: Array,
) -> int:
    """Find the values of images as far as all of them fit: how many do; what stands in the results
    is whole if that is all. ``framing``: bytes of the number of values; bytes of a length, whether
    its highest is the first; the byte that marks a null (-1: there is none), whether a length
    follows it; the length that means null (-1); the lengths that announce 4 bytes (from which on;
    -1), and that of a value outside. ``columns``: of each, whether it may be null, ends in X'00',
    has one of two lengths (-1: any), has an even one. Results are one column behind the other."""
    counted, size, big, mark, both = framing[0], framing[1], framing[2], framing[3], framing[4]
    none, long, outside = framing[5], framing[6], framing[7]
    count, width = len(start), len(columns)
    for row in range(count):
        here, last = start[U(row)], end[U(row)]
        if here < 0 or last > len(buffer):
            return row
        if counted > 0:
            if here + counted > last or _number(buffer, here, counted, 1) != width:
                return row
            here += counted
        for number in range(width):
            null, length = False, 0
            if mark >= 0:
                if here + 1 > last:
                    return row
                found = octet(buffer, here)
                here += 1
                if found > 1:
                    return row
                null = found == mark
            if both or not null:
                if here + size > last:
                    return row
                length = _number(buffer, here, size, big)
                here += size
                if null and length != 0:
                    return row
                if long >= 0 and length >= long:
                    if length == outside or here + 4 > last:
                        return row
                    length = _number(buffer, here, 4, 0)
                    here += 4
            if none >= 0 and length == none:
                null = True
            at = number * count + row
            if null:
                if not columns[U(number), U(0)]:
                    return row
                places[U(at)], lengths[U(at)], nulls[U(at)] = 0, 0, 1
                continue
            if here + length > last:
                return row
            place = here
            here += length
            if columns[U(number), U(1)]:
                if length == 0 or octet(buffer, here - 1) != 0:
                    return row
                length -= 1
            one, other = columns[U(number), U(2)], columns[U(number), U(3)]
            if one >= 0 and length != one and length != other:
                return row
            if columns[U(number), U(4)] and length % 2 > 0:
                return row
            places[U(at)], lengths[U(at)], nulls[U(at)] = place, length, 0
        if here != last:
            return row
    return count
