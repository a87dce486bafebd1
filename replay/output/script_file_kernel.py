"""Machine code that puts the lines of a script one after the other: statements from where they were
made, in the order of the script, and what stands before units.

As :mod:`replay.pipeline.fast_path_kernel`, this is imported by who makes the code anew, and by
nobody else.
"""

from __future__ import annotations

from replay.decoding.shared_kernel import Array, U, machine_code


@machine_code
def _copied(texts: Array, start: int, end: int, out: Array, place: int) -> int:
    for index in range(end - start):
        out[U(place + index)] = texts[U(start + index)]
    return int(place + end - start)


@machine_code
def put_lines(
    texts: Array,
    offsets: Array,
    picked: Array,
    heads: Array,
    head_offsets: Array,
    starts: Array,
    out: Array,
) -> int:
    """Write the texts ``picked`` into ``out``, each with the end of a line; before the rows
    ``starts``, rising, the next one of ``heads``. ``out`` has room for it. How much was
    written."""
    place, head = 0, 0
    for row in range(len(picked)):
        if head < len(starts) and starts[U(head)] == row:
            low, high = head_offsets[U(head)], head_offsets[U(head + 1)]
            place = _copied(heads, low, high, out, place)
            head += 1
        number = picked[U(row)]
        place = _copied(texts, offsets[U(number)], offsets[U(number + 1)], out, place)
        out[U(place)] = 10
        place += 1
    return place
