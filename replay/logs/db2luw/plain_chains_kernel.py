"""Machine code that goes along the records of a log: whether their chains have nothing unusual.

As :mod:`replay.pipeline.fast_path_kernel`, this is imported by who makes the code anew, and by
nobody else.

``records`` are the bytes of records, in which ``fields`` says where these are: length, type, kind,
flags, tid, lsn, lfs, lso, previous, part; and how many bytes a record has. ``ids`` and ``places``
(int64[2 ** k]) are a table of the transactions that are open: their ids (0: none), and how long the
records before the last one of each are. ``state``: see :mod:`replay.logs.db2luw.plain_chains`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from replay.decoding.shared_kernel import Array, U, machine_code, octet, word_of
from replay.logs.db2luw.plain_chains import BASE, FORM, LFS, LSN, NAMED, OPEN, PLACE, STREAM

#: Spreads ids over the table.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
#: Places in ``fields``.
_LENGTH, _TYPE, _KIND, _FLAGS, _TID, _LSN, _LFS, _LSO, _PREVIOUS, _PART, _SIZE = range(11)


@machine_code
def _number(octets: Array, place: int) -> Any:
    return np.int64(word_of(octets, place))


@machine_code
def _short(octets: Array, place: int) -> Any:
    return octet(octets, place) | (octet(octets, place + 1) << 8)


@machine_code
def _home(tid: int, bits: int) -> Any:
    """Where an id is looked for first."""
    return np.int64((np.uint64(tid) * _SPREAD) >> np.uint64(64 - bits))


@machine_code
def _slot(ids: Array, tid: int, bits: int) -> Any:
    """Where an id is, or may be put."""
    last = len(ids) - 1
    slot = _home(tid, bits)
    while ids[U(slot)] != 0 and ids[U(slot)] != tid:
        slot = (slot + 1) & last
    return slot


@machine_code
def _removed(ids: Array, places: Array, slot: int, bits: int) -> int:
    """Take an id out of the table; those behind it come nearer to where they are looked for."""
    last = len(ids) - 1
    free, other = slot, (slot + 1) & last
    while ids[U(other)] != 0:
        home = _home(ids[U(other)], bits)
        if ((other - home) & last) >= ((other - free) & last):
            ids[U(free)], places[U(free)] = ids[U(other)], places[U(other)]
            free = other
        other = (other + 1) & last
    ids[U(free)] = 0
    return 0


@machine_code
def go_along(
    records: Array,
    count: int,
    fields: Array,
    outside: Array,
    ends: Array,
    ids: Array,
    places: Array,
    bits: int,
    state: Array,
) -> int:
    """How many records have nothing unusual before them. ``outside``: types of no transaction's
    records; ``ends``: kinds that end one, and (behind 256) that which does with the flag that is
    the last of them."""
    singular, component = octet(ends, 257), octet(ends, 256)
    for row in range(count):
        here = row * fields[_SIZE]
        if _short(records, here + fields[_PART]) != 0:
            continue
        length = _number(records, here + fields[_LENGTH]) & 0xFFFFFFFF
        kind, tid = octet(records, here + fields[_KIND]), _number(records, here + fields[_TID])
        lsn, lfs = _number(records, here + fields[_LSN]), _number(records, here + fields[_LFS])
        lso, previous = (
            _number(records, here + fields[_LSO]),
            _number(records, here + fields[_PREVIOUS]),
        )
        place, stream = state[U(PLACE)], (tid >> 48) & 0xFFFF
        form = (1 if lso != 0 else 0) | (2 if lsn != 0 else 0) | (4 if lfs != 0 else 0)
        if state[U(FORM)] < 0:
            state[U(FORM)], state[U(STREAM)] = form, stream
            state[U(LSN)], state[U(LFS)] = -1, -1
        if form != state[U(FORM)] or stream != state[U(STREAM)] or length <= 0:
            return row
        if lsn < 0 or lfs < 0 or lso < 0 or previous < 0:
            return row
        told = form == 2 or (form & 1) != 0
        if told:
            base = (lso if lso != 0 else lsn) - place
            if state[U(BASE)] < 0:
                state[U(BASE)] = base
            if base != state[U(BASE)] or base <= 0:
                return row
        elif form == 6:
            if lfs < state[U(LFS)] or (lfs == state[U(LFS)] and lsn < state[U(LSN)]):
                return row
            state[U(LSN)], state[U(LFS)] = lsn, lfs
        state[U(PLACE)] = place + length
        if outside[U(octet(records, here + fields[_TYPE]))] != 0 or (tid & 0xFFFFFFFFFFFF) == 0:
            # of no transaction: nothing is before it, and no other has its id
            if previous != 0 or (tid & 0xFFFFFFFFFFFF) != 0:
                return row
            continue
        slot = _slot(ids, tid, bits)
        if previous != 0:
            if ids[U(slot)] == 0:
                return row
            base = previous - places[U(slot)]
            if state[U(BASE)] < 0:
                state[U(BASE)] = base
            if base != state[U(BASE)] or base <= 0:
                return row
            state[U(NAMED)] += 1
        elif ids[U(slot)] == 0:
            state[U(OPEN)] += 1
            if 2 * state[U(OPEN)] > len(ids):
                return row
            ids[U(slot)] = tid
        places[U(slot)] = place
        flags = _short(records, here + fields[_FLAGS])
        if ends[U(kind)] != 0 or (kind == component and (flags & singular) != 0):
            _removed(ids, places, slot, bits)
            state[U(OPEN)] -= 1
    return count
