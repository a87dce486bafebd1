"""Machine code that brings octets together which lie far apart.

It is imported by who makes the code anew (:mod:`replay.decoding.machine_code`), and by nobody else.
"""

from __future__ import annotations

from replay.decoding.shared_kernel import Array, U, copied, fetched, machine_code

#: How many rows ahead the memory is asked for that a row is read from, and the octets that one
#: request brings.
AHEAD, LINE = 24, 64


@machine_code
def gather_rows(octets: Array, start: Array, width: int, out: Array) -> int:
    """Put ``width`` octets from every ``start`` behind each other. How many rows there are."""
    count = len(start)
    for row in range(count):
        if row + AHEAD < count:
            ahead = start[U(row + AHEAD)]
            for place in range(ahead, ahead + width, LINE):
                fetched(octets, place)
            fetched(octets, ahead + width - 1)
        place = start[U(row)]
        copied(octets, place, place + width, out, row * width)
    return count


@machine_code
def gather_pieces(octets: Array, start: Array, offsets: Array, out: Array) -> int:
    """Put the octets from every ``start`` on behind each other, so many as are between two
    ``offsets``. How many pieces there are."""
    count = len(start)
    for row in range(count):
        if row + AHEAD < count:
            ahead = start[U(row + AHEAD)]
            size = offsets[U(row + AHEAD + 1)] - offsets[U(row + AHEAD)]
            for place in range(ahead, ahead + size, LINE):
                fetched(octets, place)
        place, target = start[U(row)], offsets[U(row)]
        copied(octets, place, place + offsets[U(row + 1)] - target, out, target)
    return count
