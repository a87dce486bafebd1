"""Machine code that packs sort records and unpacks them.

As :mod:`replay.pipeline.fast_path_kernel`, this is imported by who makes the code anew, and by
nobody else.
"""

from __future__ import annotations

import numpy as np

from replay.decoding.shared_kernel import (
    Array,
    U,
    copied,
    fetched,
    leading_word,
    machine_code,
    word_of,
)

#: How many records ahead the memory is asked for that one is written to.
AHEAD = 12


@machine_code
def pack_records(octets: Array, size: int, words: Array, columns: Array, out: Array) -> int:
    """Find the octets that are not the same in all records of ``octets``, ``size`` each, and put
    these of each record into ``out``: their places in a record, in order, into ``columns``. How
    many places there are. ``words`` (zeros, one for each 8 octets begun) is for this function."""
    last = len(words) - 1
    for start in range(size, len(octets), size):
        for index in range(last):
            place = 8 * index
            words[U(index)] |= word_of(octets, place) ^ word_of(octets, start + place)
        for place in range(8 * last, size):
            differ = np.uint64(octets[U(place)] ^ octets[U(start + place)])
            words[U(last)] |= differ << np.uint64(8 * (place - 8 * last))
    count = 0
    for place in range(size):
        if (words[U(place // 8)] >> np.uint64(8 * (place % 8))) & np.uint64(0xFF):
            columns[U(count)] = place
            count += 1
    end = 0
    for start in range(0, len(octets), size):
        for index in range(count):
            out[U(end + index)] = octets[U(start + columns[U(index)])]
        end += count
    return count


@machine_code
def unpack_records(octets: Array, columns: Array, first: Array, ranks: Array, out: Array) -> int:
    """Make records again: each is as ``first``, but for its octets at ``columns``, which are the
    next of ``octets``. The n-th becomes that of ``out`` that ``ranks`` says. How many these are."""
    size, begin = len(first), 0
    for record in range(len(ranks)):
        if record + AHEAD < len(ranks):
            ahead = ranks[U(record + AHEAD)] * size
            fetched(out, ahead)
            fetched(out, ahead + size)
        start = ranks[U(record)] * size
        copied(first, 0, size, out, start)
        for index in range(len(columns)):
            out[U(start + columns[U(index)])] = octets[U(begin + index)]
        begin += len(columns)
    return len(ranks)


@machine_code
def leading_words(
    octets: Array, columns: Array, some: Array, row: Array, commit: int, position: int, out: Array
) -> int:
    """The fields of 10 octets at ``commit`` and ``position`` of packed records, each as its first
    8 octets and its last 2: ``out`` (uint64[n, 4]). ``columns`` are the places in a record of its
    next octets, of which ``some`` (indexes of them) lie in those fields. ``row`` is the first
    record at first. How many records there are."""
    count, begin = len(out), 0
    for record in range(count):
        for index in range(len(some)):
            one = some[U(index)]
            row[U(columns[U(one)])] = octets[U(begin + one)]
        begin += len(columns)
        for number in range(2):
            at = position if number else commit
            out[U(record), U(2 * number)] = leading_word(row, at)
            out[U(record), U(2 * number + 1)] = (
                np.uint64(row[U(at + 8)]) << np.uint64(8)
            ) | np.uint64(row[U(at + 9)])
    return count
