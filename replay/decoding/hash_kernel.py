"""Machine code that hashes byte ranges, as :func:`replay.decoding.hashes.hash_ranges` says.

It is imported by who makes the code anew (:mod:`replay.decoding.machine_code`), and by nobody else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from replay.decoding.shared_kernel import Array, U, machine_code, word_of

_ADDED, _ONE, _OTHER = (
    np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
)  # fmt: skip


@machine_code
def _mixed(value: Any) -> Any:
    value = value + _ADDED
    value = (value ^ (value >> np.uint64(30))) * _ONE
    value = (value ^ (value >> np.uint64(27))) * _OTHER
    return value ^ (value >> np.uint64(31))


@machine_code
def hash_pieces(octets: Array, start: Array, end: Array, seed: Array, out: Array) -> int:
    """Hash the octets from every ``start`` to its ``end``. How many there are."""
    count, spread = len(start), seed[0]
    for row in range(count):
        here, size = start[U(row)], end[U(row)] - start[U(row)]
        total = _mixed(np.uint64(size) ^ spread)
        if size < 8:
            word = np.uint64(0)
            for index in range(size):
                word |= np.uint64(octets[U(here + index)]) << np.uint64(8 * index)
            total += _mixed(word ^ spread)
        else:
            for place in range((size + 7) >> 3):
                at = here + min(place << 3, size - 8)
                total += _mixed(word_of(octets, at) ^ _mixed(np.uint64(place) ^ spread))
        out[U(row)] = _mixed(total)
    return count
