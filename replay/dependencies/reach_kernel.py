"""Machine code that carries the bits of nodes along the edges of a graph, and counts who has each.

As :mod:`replay.pipeline.fast_path_kernel`, this is imported by who makes the code anew, and by
nobody else.

Nodes are in an ``order`` (int64[n]) in which those of one ``group`` lie together. Edges: their
``source``; where those out of a node begin among all (``out``, int64[n + 1]); those that lead into
it (``back``, between ``into``, int64[n + 1]). ``masks`` (uint64[s, w]) are the bits that are
carried, ``slot`` (int64[n]) is the place of each node there, -1 where it has none, and ``left``
(int64[s]) how many edges out of its group were not looked at; ``free`` (int64[s]) are the places
that are not in use, the last ones first. Counts are the sum of ``planes`` and of those ``waiting``
that are ``full`` (uint64[k, w], int64[k]), each 2 ** its number times.
"""

from __future__ import annotations

import numpy as np

from replay.decoding.shared_kernel import Array, U, machine_code


@machine_code
def _copied(source: Array, row: int, target: Array, place: int) -> int:
    for word in range(source.shape[1]):
        target[U(place), U(word)] = source[U(row), U(word)]
    return 0


@machine_code
def _summed(planes: Array, waiting: Array, level: int, more: Array, row: int) -> int:
    """Add three bits of each column; what is carried replaces what was waiting."""
    for word in range(planes.shape[1]):
        one, other = planes[U(level), U(word)], waiting[U(level), U(word)]
        third = more[U(row), U(word)]
        either = one ^ other
        planes[U(level), U(word)] = either ^ third
        waiting[U(level), U(word)] = (one & other) | (third & either)
    return 0


@machine_code
def _counted(masks: Array, row: int, planes: Array, waiting: Array, full: Array, level: int) -> int:
    """Count the bits of a row, 2 ** ``level`` times each. Of each power of two there is a plane of
    sums, and one more row may wait for the next that comes."""
    if full[U(level)] == 0:
        full[U(level)] = 1
        return _copied(masks, row, waiting, level)
    _summed(planes, waiting, level, masks, row)
    full[U(level)] = 0
    while full[U(level + 1)] != 0:
        _summed(planes, waiting, level + 1, waiting, level)
        level += 1
        full[U(level)] = 0
    full[U(level + 1)] = 1
    return _copied(waiting, level, waiting, level + 1)


@machine_code
def _counted_times(
    masks: Array, row: int, planes: Array, waiting: Array, full: Array, times: int
) -> int:
    level = 0
    while times:
        if times & 1:
            _counted(masks, row, planes, waiting, full, level)
        times >>= 1
        level += 1
    return level


@machine_code
def _joined(masks: Array, row: int, place: int) -> int:
    for word in range(masks.shape[1]):
        masks[U(place), U(word)] |= masks[U(row), U(word)]
    return 0


@machine_code
def _emptied(masks: Array, row: int) -> int:
    for word in range(masks.shape[1]):
        masks[U(row), U(word)] = np.uint64(0)
    return 0


@machine_code
def _behind(order: Array, group: Array, place: int) -> int:
    """The place behind the group that begins at one."""
    behind = place + 1
    while behind < len(order) and group[U(order[U(behind)])] == group[U(order[U(place)])]:
        behind += 1
    return behind


@machine_code
def _put(order: Array, low: int, high: int, slot: Array, value: int) -> int:
    for at in range(low, high):
        slot[U(order[U(at)])] = value
    return high


@machine_code
def carry_bits(
    order: Array,
    group: Array,
    out: Array,
    into: Array,
    back: Array,
    source: Array,
    begins: Array,
    slot: Array,
    left: Array,
    free: Array,
    masks: Array,
    planes: Array,
    waiting: Array,
    full: Array,
    allowed: int,
) -> int:
    """Walk from the first of the places ``begins`` (int64[b], rising), at each of which a bit is
    put down, until no bit is carried any more, or ``allowed`` edges were looked at behind the last
    one. How many groups, that were reached, have edges to others that were not looked at: where 0,
    ``slot``, ``left`` and ``free`` are ready for another walk."""
    end, place, begun, live, looked = len(order), begins[0], 0, 0, 0
    spare, start = len(free), begins[0]
    while place < end:
        if live == 0:
            if begun == len(begins):
                break
            place = begins[U(begun)]
        if begun == len(begins) and looked >= allowed:
            break
        first, behind = group[U(order[U(place)])], _behind(order, group, place)
        used, leads = -1, 0
        for at in range(place, behind):
            node = order[U(at)]
            leads += out[U(node + 1)] - out[U(node)]
            low, high = into[U(node)], into[U(node + 1)]
            if begun == len(begins):
                looked += high - low
            for edge in range(low, high):
                before = source[U(back[U(edge)])]
                if group[U(before)] == first:
                    leads -= 1
                    continue
                theirs = slot[U(before)]
                if theirs < 0:
                    continue
                left[U(theirs)] -= 1
                if left[U(theirs)] == 0:
                    live -= 1
                    if used < 0:  # nobody else needs it
                        used = theirs
                        continue
                if used < 0:
                    spare -= 1
                    used = free[U(spare)]
                    _copied(masks, theirs, masks, used)
                else:
                    _joined(masks, theirs, used)
                if left[U(theirs)] == 0:
                    free[U(spare)] = theirs
                    spare += 1
        if begun < len(begins) and begins[U(begun)] == place:
            if used < 0:
                spare -= 1
                used = free[U(spare)]
                _emptied(masks, used)
            masks[U(used), U(begun >> 6)] |= np.uint64(1) << np.uint64(begun & 63)
            begun += 1
        if used >= 0:
            _counted_times(masks, used, planes, waiting, full, behind - place)
            if leads:
                live += 1
                left[U(used)] = leads
                _put(order, place, behind, slot, used)
            else:
                free[U(spare)] = used
                spare += 1
        place = behind
    _put(order, start, place, slot, -1)
    return live
