"""Whether the images of each row agree along the log: every change finds the row as the one before
left it.

All touches of one key by one unit of recovery are a *visit*: it finds the key in one state and
leaves it in another (a state is the hash of an image, or 0: no row). Within a visit the order does
not count, because keys may shift inside of one statement (1→2, 2→3 in any order): each touch is a
step from a state to a state, and what the steps do not balance is where they begin and end.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from replay.arrays import Hashes, Index, Mask, Records
from replay.changes import order
from replay.changes.envelope import as_bytes
from replay.changes.position import sortable
from replay.decoding.hashes import mixed, unit_hash
from replay.dependencies.write_sets import KeyRole

#: No units.
_NO_UNITS: Hashes = np.zeros(0, np.uint64)


class Contradiction(IntEnum):
    """How a change contradicts the one before it."""

    ROW_THERE = 1
    NO_ROW = 2
    OTHER_ROW = 3
    WITHIN_UNIT = 4
    POSITION = 5


@dataclass(frozen=True)
class Contradictions:
    """What was found in sorted touches: ``place`` of a touch, ``previous`` touch of the row (-1:
    none), ``kind`` (:class:`Contradiction`), and how much was ``compared`` or not, by reason."""

    place: Index
    previous: Index
    kind: Index
    counts: Counter[str]


@dataclass(frozen=True)
class Visits:
    """By visit: its first and last touch, whether its key is that of the visit before, the states
    it begins and ends in, whether these are known (``open``), balanced (``closed``: it ends as it
    began, in one of several states) or neither, and the table version (-2: several)."""

    first: Index
    last: Index
    follows: Mask
    begin: Hashes
    end: Hashes
    open: Mask
    closed: Mask
    version: Index
    #: Hashes of (visit, state) of all states of visits of several touches, sorted.
    states: Hashes

    def has_state(self, state: Hashes) -> Mask:
        """Whether each visit, one of several touches, was in a state."""
        return np.isin(_of_visit(np.arange(len(self.first)), state), self.states)


def contradictions(
    touches: Records,
    events: Records,
    table: Index,
    rising: bool,
    incomplete: Hashes = _NO_UNITS,
) -> Contradictions:
    """The contradictions in ``touches`` of row identities, which stand in
    :func:`replay.dependencies.links.touch_order`. ``events`` are touches of role EVENT; ``table``
    gives by key space the key space of its table; ``rising``: positions in the log rise along the
    versions of a row that one member wrote; ``incomplete``: hashes of units that lack records, of
    whose rows nothing is said."""
    counts: Counter[str] = Counter()
    if not len(touches):
        none = np.zeros(0, np.int64)
        return Contradictions(none, none, none, counts)
    visits = row_visits(touches)
    count = len(visits.first)
    number = np.arange(count)
    begins = np.maximum.accumulate(np.where(visits.follows, 0, number))
    latest = np.maximum.accumulate(np.where(visits.open, number, -1))
    before = np.append(-1, latest[:-1])
    before = np.where(before >= begins, before, -1)
    emptied = _emptied(touches, events, table, visits, before)
    there = before >= 0
    same = there & (visits.version[before] == visits.version) & (visits.version != -2)
    checked = same & ~emptied & (visits.open | visits.closed)
    counts["rows"] = int((~visits.follows).sum())
    counts["compared"] = int(checked.sum())
    counts["first"] = int((~there).sum())
    # what a change of the table's columns within the unit did to the row is not in the log
    reshaped = (visits.version == -2) & ~visits.open & ~visits.closed
    counts["generation"] = int(((there & ~same) | reshaped).sum())
    counts["emptied"] = int((same & emptied).sum())
    end, begin = visits.end[before], visits.begin
    kind = np.zeros(count, np.int64)
    kind[(end != 0) & (begin == 0)] = Contradiction.ROW_THERE
    kind[(end == 0) & (begin != 0)] = Contradiction.NO_ROW
    kind[(end != 0) & (begin != 0) & (end != begin)] = Contradiction.OTHER_ROW
    known = visits.has_state(end)
    kind = np.where(visits.closed, np.where(known, 0, Contradiction.OTHER_ROW), kind)
    kind[~checked] = 0
    kind[~visits.open & ~visits.closed & ~reshaped] = Contradiction.WITHIN_UNIT
    if rising:
        kind[(kind == 0) & _falling(touches, visits)] = Contradiction.POSITION
    lacks = np.isin(unit_hash(as_bytes(touches["unit"][visits.first])), incomplete)
    lacks |= there & lacks[before]
    counts["incomplete"] = int((lacks & (kind > 0)).sum())
    kind[lacks] = 0
    wrong = np.flatnonzero(kind)
    previous = np.where(before[wrong] >= 0, visits.last[before[wrong]], -1)
    previous[kind[wrong] == Contradiction.WITHIN_UNIT] = -1
    return Contradictions(visits.first[wrong], previous, kind[wrong], counts)


def _of_visit(visit: Index, state: Hashes) -> Hashes:
    return mixed(mixed(visit.astype(np.uint64)) ^ state)


def row_visits(touches: Records) -> Visits:
    """The visits of touches of row identities, which stand in
    :func:`replay.dependencies.links.touch_order`."""
    count = len(touches)
    new_key, new_visit = np.ones(count, bool), np.ones(count, bool)
    new_key[1:] = False
    for name in ("space", "key", "check"):
        column = np.ascontiguousarray(touches[name])
        new_key[1:] |= column[1:] != column[:-1]
    new_visit[1:] = new_key[1:]
    for name in ("commit", "unit"):
        column = np.ascontiguousarray(touches[name])
        new_visit[1:] |= column[1:] != column[:-1]
    visit = np.cumsum(new_visit) - 1
    first = np.flatnonzero(new_visit)
    last = np.append(first[1:], count) - 1
    before, after = states_of(touches, "before"), states_of(touches, "after")
    version = np.ascontiguousarray(touches["version"])
    begin, end = before[first].copy(), after[last].copy()
    opened, closed = np.ones(len(first), bool), np.zeros(len(first), bool)
    one_version = np.logical_and.reduceat(version == version[first][visit], first)
    several = np.flatnonzero(last > first)
    states = np.zeros(0, np.uint64)
    if len(several):
        rows = np.flatnonzero((last > first)[visit])
        of, state = np.tile(visit[rows], 2), np.concatenate([before[rows], after[rows]])
        sign = np.repeat(np.array([1, -1]), len(rows))
        sequence = np.lexsort([state, of])
        of, state, sign = of[sequence], state[sequence], sign[sequence]
        head = np.ones(len(of), bool)
        head[1:] = (of[1:] != of[:-1]) | (state[1:] != state[:-1])
        starts = np.flatnonzero(head)
        total, of, state = np.add.reduceat(sign, starts), of[starts], state[starts]
        surplus = np.bincount(of, np.maximum(total, 0), len(first)).astype(np.int64)
        opened[several], closed[several] = surplus[several] == 1, surplus[several] == 0
        begin[of[total > 0]], end[of[total < 0]] = state[total > 0], state[total < 0]
        states = np.sort(_of_visit(of, state))
        unordered = _changes_only(touches, first, last) & ~_in_order(
            before, after, visit, len(first)
        )
        opened &= ~unordered
        closed &= ~unordered
    return Visits(
        first,
        last,
        ~new_key[first],
        begin,
        end,
        opened,
        closed,
        np.where(one_version, version[first], -2).astype(np.int64),
        states,
    )


def states_of(touches: Records, side: str) -> Hashes:
    """The states that touches find (``before``) or leave (``after``); of rows with large objects
    only whether there is a row."""
    state, large = np.ascontiguousarray(touches[side]), touches["version"] < 0
    return np.where(large, (state != 0).astype(np.uint64), state)


def _changes_only(touches: Records, first: Index, last: Index) -> Mask:
    role = np.ascontiguousarray(touches["role"])
    return np.asarray(np.logical_and.reduceat(role == KeyRole.CHANGE, first) & (last > first))


def _in_order(before: Hashes, after: Hashes, visit: Index, count: int) -> Mask:
    """Visits whose touches follow one another as they stand: the key stays with its row."""
    broken = (visit[1:] == visit[:-1]) & (after[:-1] != before[1:])
    return np.asarray(np.bincount(visit[1:][broken], minlength=count) == 0)


def _emptied(
    touches: Records, events: Records, table: Index, visits: Visits, before: Index
) -> Mask:
    """Visits between which and the one before something happened to the whole table."""
    result = np.zeros(len(before), bool)
    if not len(events):
        return result
    both = {
        name: np.concatenate([touches[name][visits.first], events[name]])
        for name in ("commit", "unit")
    }
    sequence = order.lexical_order(
        [word for column in both.values() for word in order.words(column)]
    )
    changed = np.zeros(len(sequence), bool)
    for column in both.values():
        changed[1:] |= column[sequence][1:] != column[sequence][:-1]
    rank = np.zeros(len(sequence), np.int64)
    rank[sequence] = np.cumsum(changed)
    mine, theirs = rank[: len(before)], rank[len(before) :]
    of = table[touches["space"][visits.first]]
    space = np.ascontiguousarray(events["space"]).astype(np.int64)
    for number in np.unique(space):
        moments = np.sort(theirs[space == number])
        rows = np.flatnonzero((of == number) & (before >= 0))
        low = np.searchsorted(moments, mine[before[rows]], "left")
        result[rows] = low < np.searchsorted(moments, mine[rows], "right")
    return result


def _falling(touches: Records, visits: Visits) -> Mask:
    """Visits that stand before the visit before them in the log of their member."""
    here, there = visits.first, np.append(0, visits.last[:-1])
    position = np.ascontiguousarray(touches["position"])
    member = as_bytes(np.ascontiguousarray(touches["unit"]))[:, 10:]
    same = visits.follows & (member[here] == member[there]).all(axis=1)
    later = sortable(as_bytes(position[there])) > sortable(as_bytes(position[here]))
    return np.asarray(same & later)
