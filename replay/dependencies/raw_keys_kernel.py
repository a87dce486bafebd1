"""Machine code that learns whether a key is taken and touched again within a unit of recovery, of
keys that lie at fixed places of the images.

As :mod:`replay.pipeline.fast_path_kernel`, this is imported by who makes the code anew, and by
nobody else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from replay.decoding.shared_kernel import Array, U, fetched, machine_code

#: The images of so many changes together are fetched from memory before these are looked at: one
#: by one, each would wait for where its page lies in memory.
CHANGES_FETCHED = 16


@machine_code
def _hashed(
    buffer: Array, start: int, end: int, unit: int, space: int, columns: Array, low: int, high: int
) -> Any:
    """A hash of a key in a unit, never 0; 0 where the image is too short to have it."""
    odd = np.uint64(0x9E37_79B9_7F4A_7C15)
    value = np.uint64(unit) * odd ^ np.uint64(space)
    for column in range(low, high):
        place, size = start + columns[U(column), 0], columns[U(column), 1]
        if place < start or place + size > end:
            return np.uint64(0)
        word = np.uint64(0)
        for index in range(size):
            word = (word << np.uint64(8)) | np.uint64(buffer[U(place + index)])
        value = (value ^ (value >> np.uint64(29))) * odd + word
    value = (value ^ (value >> np.uint64(32))) * odd
    value ^= value >> np.uint64(29)
    return value | np.uint64(1)


@machine_code
def _fetch(buffer: Array, bounds: Array, row: int) -> None:
    """Have where the images of the next :data:`CHANGES_FETCHED` changes begin come from memory,
    where ``row`` is the first of as many."""
    if row % CHANGES_FETCHED:
        return
    for ahead in range(row + CHANGES_FETCHED, min(row + 2 * CHANGES_FETCHED, bounds.shape[1])):
        for side in range(0, bounds.shape[0], 2):
            fetched(buffer, bounds[U(side), U(ahead)])


@machine_code
def _touched(value: Any, takes: bool, seen: Array, taken: Array) -> int:
    """Note that a key is touched: 2 where the touch before took it, 1 where it is new, else 0."""
    mask = len(seen) - 1
    place = np.int64(value >> np.uint64(8)) & mask
    while seen[U(place)] != 0 and seen[U(place)] != value:
        place = (place + 1) & mask
    new = seen[U(place)] == 0
    again = not new and taken[U(place)] != 0
    seen[U(place)], taken[U(place)] = value, takes
    return 2 if again else 1 if new else 0


@machine_code
def taken_keys_met(
    buffer: Array,
    bounds: Array,
    unit: Array,
    version: Array,
    two: Array,
    takes: Array,
    keys_of: Array,
    keys: Array,
    columns: Array,
    seen: Array,
    taken: Array,
) -> int:
    """0 where no key that a change takes is touched by a later change of its unit; else 1, and
    where that cannot be told.

    Of changes in their order: the bounds of their images (int64[2 | 4, n], all within ``buffer``),
    their units, their table versions (int64[n]), and whether they have ``two`` images and whether
    the first one ``takes`` its keys (uint8[n]). ``keys_of`` int64[v, 2] are the keys of a version,
    from and up to; of each of the ``keys`` (int64[k, 4]) its space, whether it tells rows apart,
    and which ``columns`` (int64[c, 2], place in the image and octets) are its own. ``seen``
    (uint64[a power of two], zeros) and ``taken`` (uint8 of that size) are for the work.
    """
    left = len(seen) // 2
    for row in range(len(unit)):
        _fetch(buffer, bounds, row)
        of_version = version[U(row)]
        for key in range(keys_of[U(of_version), 0], keys_of[U(of_version), 1]):
            space, low, high = keys[U(key), 0], keys[U(key), 2], keys[U(key), 3]
            start, end = bounds[0, U(row)], bounds[1, U(row)]
            value = _hashed(buffer, start, end, unit[U(row)], space, columns, low, high)
            if value == 0 or left < 2:
                return 1
            if two[U(row)]:
                start, end = bounds[2, U(row)], bounds[3, U(row)]
                after = _hashed(buffer, start, end, unit[U(row)], space, columns, low, high)
                if after == 0:
                    return 1
                if after == value:
                    met = _touched(value, False, seen, taken) if keys[U(key), 1] else 0
                else:
                    met = _touched(value, False, seen, taken)
                    left -= met & 1
                    if met < 2:
                        met = _touched(after, True, seen, taken)
            else:
                met = _touched(value, takes[U(row)] != 0, seen, taken)
            if met == 2:
                return 1
            left -= met
    return 0
