"""Order: the sort key of a log, where units of recovery begin, and the order in which a unit is
undone.

Key (data file page and spec section 8): UORCOMMITLRSN, unit (UORID + MEMBERID), LOGRBA, SEGNUM,
place in the files. A unit runs on one member, so LOGRBA rises inside it; equal commit LRSNs of two
members stay whole units because the unit is part of the key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from replay.arrays import Hashes, Index, Mask, Records
from replay.changes.envelope import Change


def words(column: Records) -> list[Hashes]:
    """A big-endian byte column of up to 16 bytes as integers, most significant first, so that
    comparing them in turn compares the bytes. One integer where the bytes that differ between the
    rows allow it."""
    width = column.dtype.itemsize
    size = min(width, 8)
    form = np.dtype(
        {
            "names": ["first", "last"],
            "formats": [f">u{size}", f">u{size}"],
            "offsets": [0, width - size],
            "itemsize": width,
        }
    )
    fields = column.view(form)
    first = fields["first"].astype(np.uint64)
    if width <= 8:
        return [first]
    bits = 8 * (width - 8)
    last = fields["last"].astype(np.uint64)
    last &= np.uint64((1 << bits) - 1)
    first -= first.min(initial=0xFFFF_FFFF_FFFF_FFFF)
    if len(first) and int(first.max()).bit_length() + bits <= 64:
        first <<= np.uint64(bits)
        first |= last
        return [first]
    return [first, last]


def commit_order(records: Records) -> Index:
    """Positions of ``records`` (dtype :data:`replay.changes.envelope.RECORD`) in commit order. Ties
    end at the place in the files, so the order is total."""
    return lexical_order(_columns(records))


def _columns(records: Records) -> Iterator[Hashes]:
    for name in ("commit", "unit", "position"):
        yield from words(records[name])
    for name in ("segment", "file", "offset"):
        yield records[name].astype(np.uint64)


def lexical_order(columns: Iterable[Hashes]) -> Index:
    """Positions in the order of the first column, among equals in that of the second, and so on;
    any order among rows that are equal in all. A column is asked for where those before it leave
    rows equal.

    As ``numpy.lexsort``, but by sorting machine words, which NumPy does several times as fast as it
    merges: after each column, the rows that are still equal share a number, and that number before
    the next column's value is one word again.
    """
    each = iter(columns)
    first = next(each)
    order = np.argsort(first)
    number = _numbered(first[order])  # of the group of equals that each row in order is in, rising
    for column in each:
        if not len(order) or int(number[-1]) == len(order) - 1:
            break
        here = column[order]
        step = (number[1:] == number[:-1]) & (here[1:] != here[:-1])
        if not step.any():
            continue
        here -= here.min()
        if int(number[-1]).bit_length() + int(here.max()).bit_length() > 64:
            here = np.unique(here, return_inverse=True)[1].reshape(-1).astype(np.uint64)
        word = (number << np.uint64(int(here.max()).bit_length())) | here
        sequence = np.argsort(word)
        order, number = order[sequence], _numbered(word[sequence])
    return order


def _numbered(words: Hashes) -> Hashes:
    """The number of each of sorted words, of which equal ones have one."""
    number = np.zeros(len(words), np.uint64)
    np.cumsum(words[1:] != words[:-1], out=number[1:])
    return number


def run_starts(column: npt.NDArray[np.generic]) -> Index:
    """Where each run of equal neighbours begins (``[0, …]``); empty for an empty column."""
    if len(column) == 0:
        return np.zeros(0, np.int64)
    return np.concatenate([[0], np.flatnonzero(column[1:] != column[:-1]) + 1]).astype(np.int64)


def undo_order(
    unit: Index,
    direct: Mask,
    derived: Mask,
    change: npt.NDArray[np.integer],
    table: npt.NDArray[np.integer],
) -> Index:
    """The order in which changes given in log order are undone: the exact reverse, but what RI
    caused comes after the undo of its cause.

    ``unit`` numbers the unit of each change (rising), ``direct`` marks SQLSRCTYPE blank,
    ``derived`` marks R and B. A reversal of (delete parent, cascade-delete children) would insert
    children first, and the target's foreign key would refuse them. So a *cause* (a run of direct
    deletes or updates of one table) is undone before what follows it up to the next direct change,
    if any of that is R or B; the followers are undone table by table in the order the cascade
    reached the tables (parents first). A table's followers are undone in reverse, which keeps every
    row's own versions in reverse; where they are all deletes, each of another row, in log order,
    because a cascade within one table deletes parents first. All other changes are undone in plain
    reverse.

    A row's own versions come before all that: where followers (of triggers, say) may have touched
    rows of the cause, the cause is undone after them. Those are an insert, which nothing that
    builds on it survives; an update whose table has followers; a delete whose table has inserts
    among its followers, which may have put the row there again (of that table, the followers alone
    go first).

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
    # rank of the table by first appearance among the followers of its group; causes rank before all
    # followers
    follower_rank = np.zeros(count, np.int64)
    followers = np.flatnonzero(moved & ~cause)
    leader = np.searchsorted(
        group, group
    )  # the first change of each one's group, which is a cause unless the unit begins without
    own = moved & ~cause & cause[leader] & (table == table[leader])
    touched, again = np.zeros(groups, bool), np.zeros(groups, bool)
    touched[group[own]], again[group[own & (change == Change.INSERT)]] = True, True
    late = (change == Change.UPDATE) & touched[group] | ~np.isin(
        change, (Change.UPDATE, Change.DELETE)
    )
    key = group[followers] * (int(table.max()) + 2) + table[followers] + 1
    values, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    follower_rank[followers] = followers[first][inverse] + 1
    follower_rank[own & again[group] & (change[leader] == Change.DELETE)] = -1
    follower_rank[moved & cause & late] = count + 1
    deletes_only = np.bincount(inverse, change[followers] != Change.DELETE, len(values)) == 0
    forward = np.zeros(count, bool)
    forward[followers] = deletes_only[inverse]
    return np.lexsort(
        (np.where(forward, position, -position), np.where(moved, follower_rank, 0), -group, -unit)
    )


def cause_groups(
    unit: Index, direct: Mask, change: npt.NDArray[np.integer], table: npt.NDArray[np.integer]
) -> tuple[Index, Mask]:
    """``(group, cause)``: the number of the group each change belongs to (rising), and which
    changes are the cause of their group.

    A group begins at a unit's first change and at each direct change, except that neighbouring
    direct deletes (or updates) of the same table form one cause: one statement may delete several
    parents before any cascade is logged.
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


def unit_safe_cuts(
    direct: Mask,
    change: npt.NDArray[np.integer],
    table: npt.NDArray[np.integer],
    first_segment: Mask,
) -> Mask:
    """Where a unit too long for one chunk may be cut: True at a change that begins a cause group
    (see :func:`undo_order`) with its first segment."""
    count = len(direct)
    starts = np.zeros(count, bool)
    if count:
        same = (
            (table[1:] == table[:-1]) & (change[1:] == change[:-1]) & (change[1:] != Change.INSERT)
        )
        starts[1:] = direct[1:] & ~(direct[:-1] & same) & first_segment[1:]
    return starts
