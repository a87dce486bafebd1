"""Machine code that goes from record to record by their lengths.

As :mod:`replay.pipeline.fast_path_kernel`, this is imported by who makes the code anew, and by
nobody else.
"""

from __future__ import annotations

from replay.decoding.shared_kernel import Array, U, machine_code


@machine_code
def walk_records(
    buffer: Array,
    place: Array,
    lead: int,
    big: int,
    least: int,
    most: int,
    offsets: Array,
    lengths: Array,
) -> int:
    """Walk from ``place`` on, where the framing of a record (``lead`` bytes) begins, and put where
    the records begin behind it and how long they are into ``offsets`` and ``lengths``, as many as
    there is room for. ``place`` is then where that ended: behind the last one. Their number. A
    length is one of ``least`` to ``most`` bytes of a record that is there; the walk ends before one
    that is not."""
    here, count, size = int(place[0]), 0, len(buffer)
    while count < len(offsets):
        begin = here + lead
        if begin + 4 > size:
            break
        length = 0
        for index in range(4):
            octet = int(buffer[U(begin + (index if big else 3 - index))])
            length = (length << 8) | octet
        if length < least or length > most or begin + length > size:
            break
        offsets[U(count)], lengths[U(count)] = begin, length
        here, count = begin + length, count + 1
    place[0] = here
    return count
