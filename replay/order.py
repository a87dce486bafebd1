"""Order: the sort key of a log, where units of recovery begin, and the order in which a unit is undone.

Key (data file page and spec section 8): UORCOMMITLRSN, unit (UORID + MEMBERID), LOGRBA, SEGNUM, place in the files. A unit runs on one
member, so LOGRBA rises inside it; equal commit LRSNs of two members stay whole units because the unit is part of the key.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from replay.changes import Change

Index = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def words(column: npt.NDArray[np.void]) -> list[npt.NDArray[np.unsignedinteger]]:
    """A big-endian byte column as unsigned integers, most significant first, so that comparing them in turn compares the bytes."""
    width = column.dtype.itemsize
    raw = np.ascontiguousarray(column).view(np.uint8).reshape(len(column), width)
    words: list[npt.NDArray[np.unsignedinteger]] = [np.ascontiguousarray(raw[:, :8]).view(">u8").astype(np.uint64).reshape(-1)]
    if width > 8:
        tail = np.zeros((len(column), 4), np.uint8)
        tail[:, 12 - width :] = raw[:, 8:]
        words.append(tail.view(">u4").astype(np.uint32).reshape(-1))
    return words


def commit_order(records: npt.NDArray[np.void]) -> Index:
    """Positions of ``records`` (dtype :data:`replay.changes.RECORD`) in commit order. Ties end at the place in the files, so the order is total."""
    keys: list[npt.NDArray[np.generic]] = []
    for name in ("commit", "unit", "position"):
        keys.extend(words(records[name]))
    keys.extend(np.ascontiguousarray(records[name]) for name in ("segment", "file", "offset"))
    needed = [key for key in keys if len(key) and key.min() != key.max()]
    if not needed:
        return np.arange(len(records), dtype=np.int64)
    return np.lexsort(needed[::-1])


def run_starts(column: npt.NDArray[np.generic]) -> Index:
    """Where each run of equal neighbours begins (``[0, …]``); empty for an empty column."""
    if len(column) == 0:
        return np.zeros(0, np.int64)
    return np.concatenate([[0], np.flatnonzero(column[1:] != column[:-1]) + 1]).astype(np.int64)


def undo_order(unit: Index, direct: Mask, derived: Mask, change: npt.NDArray[np.integer], table: npt.NDArray[np.integer]) -> Index:
    """The order in which changes given in log order are undone: the exact reverse, but what RI caused comes after the undo of its cause.

    ``unit`` numbers the unit of each change (rising), ``direct`` marks SQLSRCTYPE blank, ``derived`` marks R and B. A reversal of
    (delete parent, cascade-delete children) would insert children first, and the target's foreign key would refuse them. So a *cause* (a run
    of direct deletes or updates of one table) is undone before what follows it up to the next direct change, if any of that is R or B; the
    followers are undone table by table in the order the cascade reached the tables (parents first). A table's followers are undone in reverse,
    which keeps every row's own versions in reverse; where they are all deletes, each of another row, in log order, because a cascade within one
    table deletes parents first. All other changes are undone in plain reverse.

    Returns a permutation of ``0 … n-1``.
    """
    count = len(unit)
    if not derived.any():
        return np.arange(count - 1, -1, -1, dtype=np.int64)
    group, cause = cause_groups(unit, direct, change, table)
    groups = int(group[-1]) + 1
    has_derived = np.zeros(groups, bool)
    has_derived[group[derived]] = True
    moved = has_derived[group]
    position = np.arange(count, dtype=np.int64)
    # rank of the table by first appearance among the followers of its group; causes rank before all followers
    follower_rank = np.zeros(count, np.int64)
    followers = np.flatnonzero(moved & ~cause)
    key = group[followers] * (int(table.max()) + 2) + table[followers] + 1
    values, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    follower_rank[followers] = followers[first][inverse] + 1
    deletes_only = np.bincount(inverse, change[followers] != Change.DELETE, len(values)) == 0
    forward = np.zeros(count, bool)
    forward[followers] = deletes_only[inverse]
    return np.lexsort((np.where(forward, position, -position), np.where(moved, follower_rank, 0), -group, -unit))


def cause_groups(unit: Index, direct: Mask, change: npt.NDArray[np.integer], table: npt.NDArray[np.integer]) -> tuple[Index, Mask]:
    """``(group, cause)``: the number of the group each change belongs to (rising), and which changes are the cause of their group.

    A group begins at a unit's first change and at each direct change, except that neighbouring direct deletes (or updates) of the same table
    form one cause: one statement may delete several parents before any cascade is logged.
    """
    count = len(unit)
    new_unit = np.ones(count, bool)
    new_unit[1:] = unit[1:] != unit[:-1]
    continues = np.zeros(count, bool)
    same = (table[1:] == table[:-1]) & (change[1:] == change[:-1]) & (change[1:] != Change.INSERT)
    continues[1:] = direct[1:] & direct[:-1] & same & ~new_unit[1:]
    starts = new_unit | (direct & ~continues)
    group = np.cumsum(starts).astype(np.int64) - 1
    return group, direct.copy()


def unit_safe_cuts(direct: Mask, change: npt.NDArray[np.integer], table: npt.NDArray[np.integer], first_segment: Mask) -> Mask:
    """Where a unit too long for one chunk may be cut: True at a change that begins a cause group (see :func:`undo_order`) with its first segment."""
    count = len(direct)
    starts = np.zeros(count, bool)
    if count:
        same = (table[1:] == table[:-1]) & (change[1:] == change[:-1]) & (change[1:] != Change.INSERT)
        starts[1:] = direct[1:] & ~(direct[:-1] & same) & first_segment[1:]
    return starts
