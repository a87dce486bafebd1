"""Machine code that makes sort records of headers that are plain and of a known class. All others
are left to :mod:`replay.pipeline.scan`, which every rule and every message belong to.

As :mod:`replay.native.fast_path_kernel`, this is imported by who makes the code anew, and by
nobody else; :mod:`replay.pipeline.plain_scan` prepares the tables that it works from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from replay.native.scan_tables import (
    BEGIN,
    CHANGE,
    COMMIT,
    COMMIT_ELSE,
    COUNTED,
    EXCESS,
    EXCESS_LATER,
    FILE,
    FIRST,
    LEAST,
    MEMBER,
    ORIGIN,
    POSITION,
    SEGMENT,
    SEGMENTS,
    TIME,
    UNIT,
    UNIT_DISPOSITION,
    VERSION,
)
from replay.native.shared_kernel import (
    Array,
    U,
    copied,
    half,
    leading_word,
    machine_code,
    word_of,
)

#: Octets of a position, of the number of a member, and of a time.
WIDE, NARROW, LONG = 10, 2, 17


@machine_code
def _zero(octets: Array, place: int) -> bool:
    return bool(word_of(octets, place) == np.uint64(0) and half(octets, place + 8) == 0)


@machine_code
def _falls(octets: Array, one: int, other: int) -> bool:
    """Whether the position at ``one`` is above that at ``other``."""
    first, second = leading_word(octets, one), leading_word(octets, other)
    if first != second:
        return bool(first > second)
    return bool(half(octets, one + 8) > half(octets, other + 8))


@machine_code
def _digits(word: Any) -> bool:
    """Whether no half of an octet is above 9."""
    wrong = (word >> np.uint64(3)) & ((word >> np.uint64(2)) | (word >> np.uint64(1)))
    return bool((wrong & np.uint64(0x1111_1111_1111_1111)) == np.uint64(0))


@machine_code
def _class_of(
    octets: Array, begin: int, places: Array, masks: Array, keys: Array, slots: Array
) -> int:
    """The class of the header at ``begin``, -1 where it is not known. A class is found from the
    slot that its key's hash names on; the slot behind the last class of a run is -1."""
    mixed = np.uint64(0)
    for index in range(len(places)):
        word = word_of(octets, begin + places[U(index)]) & masks[U(index)]
        mixed = (mixed ^ word) * np.uint64(0x9E37_79B9_7F4A_7C15)
        mixed ^= mixed >> np.uint64(29)
    slot = mixed & np.uint64(len(slots) - 1)
    while slots[U(slot)] >= 0:
        found, same = slots[U(slot)], True
        for index in range(len(places)):
            word = word_of(octets, begin + places[U(index)]) & masks[U(index)]
            same = same and word == keys[U(found), U(index)]
        if same:
            return int(found)
        slot = (slot + np.uint64(1)) & np.uint64(len(slots) - 1)
    return -1


@machine_code
def _plain(
    octets: Array, begin: int, length: int, facts: Array, known: int,
    spec: Array, filled: Array, rising: Array,
) -> bool:  # fmt: skip
    """Whether what the class does not tell is plain."""
    for index in range(len(filled)):
        if _zero(octets, begin + filled[U(index)]):
            return False
    for index in range(len(rising)):
        one, other = rising[U(index), U(0)], rising[U(index), U(1)]
        if _falls(octets, begin + one, begin + other) and not _zero(octets, begin + other):
            return False
    time = begin + spec[U(TIME)]
    for part in range(2):
        if not _digits(word_of(octets, time + 8 * part)):
            return False
    if not _digits(np.uint64(octets[U(time + 16)])):
        return False
    excess = spec[U(EXCESS)] if facts[U(known), U(SEGMENT)] <= 1 else spec[U(EXCESS_LATER)]
    if excess >= 0:
        more = half(octets, begin + spec[U(COUNTED)]) - length
        if more & 0xFFFF != excess:
            return False
    return True


@machine_code
def _put(rows: Array, place: int, value: int, size: int) -> int:
    """A number, its lowest octet first."""
    for index in range(size):
        rows[U(place + index)] = np.uint8((value >> (8 * index)) & 0xFF)
    return place + size


@machine_code
def _facts(octets: Array, begin: int, number: Any, spec: Array, factor: Any) -> Any:
    """:func:`replay.changes.envelope.unit_facts` of a header."""
    place = begin + spec[U(BEGIN)]
    number = number * factor + word_of(octets, place)
    for index in range(8, WIDE):
        number = number * factor + np.uint64(octets[U(place + index)])
    place = begin + spec[U(TIME)]
    for part in range(2):
        number = number * factor + word_of(octets, place + 8 * part)
    return number * factor + np.uint64(octets[U(place + LONG - 1)])


@machine_code
def _record(
    octets: Array, begin: int, commit: int, length: int, number: int, facts: Array, known: int,
    spec: Array, factor: Any, rows: Array, place: int,
) -> int:  # fmt: skip
    """The sort record (:data:`replay.changes.envelope.RECORD`) of a header; its fields are written
    in their order."""
    place = copied(octets, commit, commit + WIDE, rows, place)
    place = copied(octets, begin + spec[U(UNIT)], begin + spec[U(UNIT)] + WIDE, rows, place)
    place = copied(octets, begin + spec[U(MEMBER)], begin + spec[U(MEMBER)] + NARROW, rows, place)
    place = copied(octets, begin + spec[U(POSITION)], begin + spec[U(POSITION)] + WIDE, rows, place)
    place = _put(rows, place, facts[U(known), U(SEGMENT)], 2)
    place = _put(rows, place, spec[U(FILE)], 4)
    place = _put(rows, place, begin, 8)
    place = _put(rows, place, length, 4)
    place = _put(rows, place, number, 8)
    rows[U(place)] = 0
    rows[U(place + 1)] = facts[U(known), U(CHANGE)]
    rows[U(place + 2)] = facts[U(known), U(ORIGIN)]
    place = _put(rows, place + 3, facts[U(known), U(SEGMENTS)], 2)
    place = _put(rows, place, facts[U(known), U(VERSION)], 4)
    of_unit = _facts(octets, begin, np.uint64(facts[U(known), U(UNIT_DISPOSITION)]), spec, factor)
    for index in range(8):
        rows[U(place + index)] = np.uint8((of_unit >> np.uint64(8 * index)) & np.uint64(0xFF))
    return place + 8


@machine_code
def scan_plain(
    octets: Array,
    offsets: Array,
    lengths: Array,
    spec: Array,
    places: Array,
    masks: Array,
    keys: Array,
    slots: Array,
    facts: Array,
    filled: Array,
    rising: Array,
    factor: Array,
    bounds: Array,
    size: int,
    bucket: Array,
    ends: Array,
    rows: Array,
    out: Array,
) -> int:
    """Sort records of ``size`` octets each of the headers that are plain, by bucket in ``out``.

    ``bucket[n]`` becomes that of each record, -1 of those that are left, and ``ends`` (one for each
    bucket, and one more, zeros at first) where the records of each end. ``rows``, as large as
    ``out``, is for this function. The other tables are those of
    :class:`replay.pipeline.plain_scan.PlainScan`. How many records there are in ``out``.
    """
    least = spec[U(LEAST)]
    for row in range(len(offsets)):
        begin, length = offsets[U(row)], int(lengths[U(row)])
        bucket[U(row)] = -1
        if length < least or begin < 0 or begin + least > len(octets):
            continue
        known = _class_of(octets, begin, places, masks, keys, slots)
        if known < 0 or not _plain(octets, begin, length, facts, known, spec, filled, rising):
            continue
        commit = begin + spec[U(COMMIT)]
        if _zero(octets, commit):
            commit = begin + spec[U(COMMIT_ELSE)]
        low, high, word = 0, len(bounds), leading_word(octets, commit)
        while low < high:
            middle = (low + high) // 2
            if bounds[U(middle)] < word:
                low = middle + 1
            else:
                high = middle
        bucket[U(row)] = low
        ends[U(low + 1)] += 1
        number = spec[U(FIRST)] + row
        _record(
            octets, begin, commit, length, number, facts, known, spec, factor[U(0)], rows,
            row * size,
        )  # fmt: skip
    for index in range(1, len(ends)):
        ends[U(index)] += ends[U(index - 1)]
    return _by_bucket(bucket, ends, rows, out, size)


@machine_code
def _by_bucket(bucket: Array, ends: Array, rows: Array, out: Array, size: int) -> int:
    """Put rows side by side that are of one bucket; ``ends`` begin as where those before each
    end."""
    count = ends[U(len(ends) - 1)]
    for row in range(len(bucket)):
        if bucket[U(row)] >= 0:
            start = row * size
            copied(rows, start, start + size, out, ends[U(bucket[U(row)])] * size)
            ends[U(bucket[U(row)])] += 1
    return int(count)
