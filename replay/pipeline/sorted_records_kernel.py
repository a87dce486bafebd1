"""Machine code that orders the words of sort records, proves that records are in their order, and
moves the few that are not.

As :mod:`replay.pipeline.fast_path_kernel`, this is imported by who makes the code anew, and by
nobody else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from replay.decoding.shared_kernel import Array, U, copied, leading_word, machine_code

#: Bits of a digit: as many counts as stay near the processor.
DIGIT = 10


@machine_code
def _digit(word: Any, number: int) -> Any:
    """The ``number``-th digit of a word, the last one first."""
    return (word >> np.uint64(DIGIT * number)) & np.uint64((1 << DIGIT) - 1)


@machine_code
def rank_words(words: Array, pairs: Array, counts: Array, ranks: Array) -> int:
    """Say of each of ``words`` (uint64[n]) which place it has in their order; equal ones stay in
    theirs. Digit by digit, the last one first, each pass keeping the order of the one before.
    ``pairs`` (uint64[2, n, 2]: words and their numbers) and ``counts`` (int64, one for each value
    of each digit that a word may have) are for this function. How many digits there are."""
    count, size, every = len(words), 1 << DIGIT, np.uint64(0)
    for index in range(count):
        every |= words[U(index)]
    digits = 1
    while digits * DIGIT < 64 and every >> np.uint64(digits * DIGIT):
        digits += 1
    for index in range(digits * size):
        counts[U(index)] = 0
    for index in range(count):
        word = words[U(index)]
        for number in range(digits):
            counts[U(number * size) + U(_digit(word, number))] += 1
    for number in range(digits):
        before = 0
        for value in range(size):
            here = counts[U(number * size + value)]
            counts[U(number * size + value)] = before
            before += here
    for number in range(digits):
        begin, source, target = U(number * size), U(number & 1), U(1 - (number & 1))
        for index in range(count):
            if number:
                word, origin = pairs[source, U(index), U(0)], pairs[source, U(index), U(1)]
            else:
                word, origin = words[U(index)], np.uint64(index)
            place = begin + U(_digit(word, number))
            rank = counts[place]
            counts[place] = rank + 1
            if number == digits - 1:
                ranks[U(origin)] = rank
            else:
                pairs[target, U(rank), U(0)], pairs[target, U(rank), U(1)] = word, origin
    return digits


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


@machine_code
def _word(fields: Array, record: int, at: int, least: Any) -> Any:
    """The number whose first 8 octets and last 2 stand at ``at`` and behind, without ``least`` of
    the former."""
    return ((fields[U(record), U(at)] - least) << np.uint64(16)) | fields[U(record), U(at + 1)]


@machine_code
def _zeros(word: Any) -> Any:
    """With how many zeros a word ends; 63 at most."""
    count = np.uint64(0)
    while count < np.uint64(63) and (word >> count) & np.uint64(1) == np.uint64(0):
        count += np.uint64(1)
    return count


@machine_code
def _bits(word: Any) -> Any:
    """How many bits a word has."""
    count = np.uint64(0)
    while word:
        word >>= np.uint64(1)
        count += np.uint64(1)
    return count


@machine_code
def join_fields(fields: Array, state: Array, out: Array) -> int:
    """Make one word of the commit and, as far as there is room, the position of each record:
    ``fields`` are (uint64[n, 4], n at least 1) the first 8 octets and the last 2 of both. Of each
    the least one is taken off, and zeros that all end with. ``state`` (uint64[10]) is for this
    function. How many of the two the words have; with 0, those of the commit are too long, and the
    words are its first octets."""
    count = len(fields)
    for number in range(2):
        low = high = fields[U(0), U(2 * number)]
        for record in range(1, count):
            value = fields[U(record), U(2 * number)]
            low, high = min(low, value), max(high, value)
        state[U(number)], state[U(2 + number)] = low, high - low
    for number in range(2):
        least = state[U(number)]
        first = _word(fields, 0, 2 * number, least)
        low, high, differ = first, first, np.uint64(0)
        for record in range(1, count):
            value = _word(fields, record, 2 * number, least)
            low, high = min(low, value), max(high, value)
            differ |= first ^ value
        zeros = _zeros(differ)
        state[U(4 + number)], state[U(6 + number)] = low, zeros
        state[U(8 + number)] = _bits((high - low) >> zeros)
    if _bits(state[U(2)]) > np.uint64(48):
        for record in range(count):
            out[U(record)] = fields[U(record), U(0)]
        return 0
    bits = state[U(9)]
    both = _bits(state[U(3)]) <= np.uint64(48) and state[U(8)] + bits <= np.uint64(64)
    for record in range(count):
        value = (_word(fields, record, 0, state[U(0)]) - state[U(4)]) >> state[U(6)]
        if both:
            position = (_word(fields, record, 2, state[U(1)]) - state[U(5)]) >> state[U(7)]
            value = (value << bits) | position if bits < np.uint64(64) else position
        out[U(record)] = value
    return 2 if both else 1
