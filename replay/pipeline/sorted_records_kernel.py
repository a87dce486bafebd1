"""Machine code that proves that sort records are in their order, and moves the few that are not.

As :mod:`replay.pipeline.fast_path_kernel`, this is imported by who makes the code anew, and by
nobody else.
"""

from __future__ import annotations

from replay.decoding.shared_kernel import Array, U, copied, leading_word, machine_code


@machine_code
def _after(octets: Array, one: int, other: int, words: int, places: Array) -> bool:
    """Whether the record at octet ``one`` comes after that at ``other``."""
    for index in range(words):
        mine, theirs = (
            leading_word(octets, one + 8 * index),
            leading_word(octets, other + 8 * index),
        )
        if mine != theirs:
            return bool(mine > theirs)
    for index in range(len(places)):
        place = places[U(index)]
        if octets[U(one + place)] != octets[U(other + place)]:
            return bool(octets[U(one + place)] > octets[U(other + place)])
    return False


@machine_code
def settle_order(octets: Array, size: int, words: int, places: Array, most: int) -> int:
    """Bring the records of ``octets``, ``size`` each, which are nearly in order, into their order.

    The first ``words`` words of 8 octets decide, then the octets at ``places``, in turn. Behind the
    last record there is room for one more. 0, or 1 when records were moved by ``most`` places in
    all: all of them are still there, in some order.
    """
    count = len(octets) // size - 1
    spare, moved = count * size, 0
    for record in range(1, count):
        hole = record * size
        if not _after(octets, hole - size, hole, words, places):
            continue
        copied(octets, hole, hole + size, octets, spare)
        while hole and _after(octets, hole - size, spare, words, places):
            copied(octets, hole - size, hole, octets, hole)
            hole -= size
            moved += 1
        copied(octets, spare, spare + size, octets, hole)
        if moved >= most:
            return 1
    return 0
