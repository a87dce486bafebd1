"""Machine code that brings sort records to their places, proves that they are in their order, and
moves the few that are not.

As :mod:`replay.pipeline.fast_path_kernel`, this is imported by who makes the code anew, and by
nobody else.
"""

from __future__ import annotations

import numpy as np

from replay.decoding.shared_kernel import Array, U, leading_word, machine_code


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
        _copied(octets, hole, spare, size)
        while hole and _after(octets, hole - size, spare, words, places):
            _copied(octets, hole - size, hole, size)
            hole -= size
            moved += 1
        _copied(octets, spare, hole, size)
        if moved >= most:
            return 1
    return 0


@machine_code
def _copied(octets: Array, start: int, place: int, size: int) -> int:
    for index in range(size):
        octets[U(place + index)] = octets[U(start + index)]
    return size


@machine_code
def leading_words(octets: Array, size: int, commit: int, position: int, out: Array) -> int:
    """The fields of 10 octets at ``commit`` and ``position`` of records of ``size`` octets, each as
    its first 8 octets and its last 2: ``out`` (uint64[n, 4]). How many records there are."""
    count = len(octets) // size
    for record in range(count):
        place = record * size
        for number in range(2):
            at = place + (position if number else commit)
            out[U(record), U(2 * number)] = leading_word(octets, at)
            out[U(record), U(2 * number + 1)] = (
                np.uint64(octets[U(at + 8)]) << np.uint64(8)
            ) | np.uint64(octets[U(at + 9)])
    return count


@machine_code
def spread_records(octets: Array, size: int, ranks: Array, out: Array) -> int:
    """Put the records of ``octets``, ``size`` each, where ``ranks`` says, as the n-th of ``out``.
    How many records there are."""
    for record in range(len(ranks)):
        start, place = record * size, ranks[U(record)] * size
        for index in range(size):
            out[U(place + index)] = octets[U(start + index)]
    return len(ranks)
