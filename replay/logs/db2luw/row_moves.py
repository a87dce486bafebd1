"""Rows that moved: several records of one change put together (format notes, section 17).

When an update makes a row too long for its place, the row is written somewhere else as an overflow
record and a pointer stays behind. The log then holds an insert and perhaps a delete of overflow
records beside an update whose images are pointers. Where the records of a unit and table are moves
one behind the other, they are paired together; others, of which logs have few, one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from replay.arrays import Index, Mask, Records, one_of
from replay.logs.db2luw.layouts import RecordRole
from replay.logs.db2luw.scan import NORMAL, OVERFLOWN, POINTS
from replay.spill import near_windows

#: A change made of several records. ``records``: their numbers in the log, rising, -1 behind the
#: last one; ``before`` and ``after``: those whose old and whose new image are the row, -1 for none
#: (a delete).
MOVED = np.dtype([("records", "<i8", 3), ("before", "<i8"), ("after", "<i8")])


@dataclass(frozen=True)
class _Half:
    """A record that waits: its number in the log, its role, and what its images are."""

    row: int
    role: RecordRole
    before: int
    after: int


@dataclass
class _Open:
    """What still waits for its other half, in one unit and table: overflow records and pointer
    records."""

    insert: _Half | None = None
    delete: _Half | None = None
    pointer: _Half | None = None


@dataclass
class Pairing:
    """``moved`` changes (dtype :data:`MOVED`), ``half`` pointer records whose overflow record is
    missing; ``single`` overflow records that stay changes of their own: numbers of records."""

    moved: Records
    half: Index
    single: Index


@dataclass
class _Found:
    """What becomes a :class:`Pairing`."""

    moved: list[Records] = field(default_factory=list)
    half: list[int] = field(default_factory=list)
    single: list[int] = field(default_factory=list)

    def add(self, rows: Iterable[int], before: int, after: int) -> None:
        """One change of some records."""
        one = np.zeros(1, MOVED)
        one["records"] = [*sorted(rows), -1, -1][:3]
        one["before"], one["after"] = before, after
        self.moved.append(one)

    def pairing(self) -> Pairing:
        """All of it."""
        return Pairing(
            np.concatenate([np.zeros(0, MOVED), *self.moved]),
            np.array(self.half, np.int64),
            np.array(self.single, np.int64),
        )


class Moves:
    """Pairs the moved rows of a log, of which it is given one stretch of records after the other:
    what still waits for its other half is of units that are open."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[int, int, int], _Open] = {}
        self._leaving: dict[int, _Half] = {}

    def pair(self, records: Records, unit: Index, live: Mask, first: int) -> Pairing:
        """Pair those among the ``live`` ones of some records, of which the ``first`` one has that
        number in the log. What is ``half`` or ``single`` for want of records behind them is not
        among it."""
        rows = _maybe_moved(records)
        some = records[rows]
        role, before, after = some["role"], some["before_is"], some["after_is"]
        overflow = ((role == RecordRole.INSERT) & (after == OVERFLOWN)) | (
            (role == RecordRole.DELETE) & (before == OVERFLOWN)
        )
        there = one_of(before, (NORMAL, OVERFLOWN, POINTS)) & one_of(
            after, (NORMAL, OVERFLOWN, POINTS)
        )
        pointer = (role == RecordRole.DELETE) & (before == POINTS) | (
            role == RecordRole.UPDATE
        ) & there & ((before == POINTS) | (after == POINTS))
        between = (
            some["moves"]
            & one_of(role, (RecordRole.INSERT, RecordRole.DELETE))
            & ((before == NORMAL) | (after == NORMAL))
        )
        found = _Found()
        live = live[rows] & (overflow | pointer | between)
        mine = np.flatnonzero(live & ~between)
        tokens = _Tokens(records, unit, rows[mine], pointer[mine])
        mine = np.searchsorted(rows, self._one_by_one(tokens, first, found))
        for at in np.sort(np.concatenate([mine, np.flatnonzero(live & between)])).tolist():
            place = int(rows[at])
            row = _Half(place + first, RecordRole(int(role[at])), int(before[at]), int(after[at]))
            if between[at]:
                _partition(row, int(unit[place]), self._leaving, found)
                continue
            key = int(unit[place]), int(records["space"][place]), int(records["table"][place])
            move = self._waiting.setdefault(key, _Open())
            _add(row, move, bool(pointer[at]), found)
            _match(move, found)
            if move.insert is None and move.delete is None and move.pointer is None:
                del self._waiting[key]
        return found.pairing()

    def _one_by_one(self, tokens: _Tokens, first: int, found: _Found) -> Index:
        """Pair together what are whole moves, one behind the other; the records of all other units
        and tables."""
        if not len(tokens.places):
            return tokens.places
        begin, size, whole = tokens.runs()
        bad = np.bincount(tokens.group[begin], ~whole, int(tokens.group[-1]) + 1) > 0
        for group, key in tokens.keys() if self._waiting else ():
            bad[group] |= key in self._waiting
        good = ~bad[tokens.group[begin]]
        if good.any():
            found.moved.append(tokens.moved(begin[good], size[good], first))
        return np.asarray(tokens.places[bad[tokens.group]])

    def rest(self) -> Pairing:
        """What has no other half in the log."""
        found = _Found()
        for move in self._waiting.values():
            found.half += [half.row for half in (move.pointer,) if half is not None]
            found.single += [half.row for half in (move.insert, move.delete) if half is not None]
        found.single += [half.row for half in self._leaving.values()]
        return found.pairing()


def _maybe_moved(records: Records) -> Index:
    """Those of some records that may be of a moved row by what their images are, or their flag."""
    kinds, found = (OVERFLOWN, POINTS), [np.zeros(0, np.int64)]
    for part in near_windows(len(records)):
        some = records["moves"][part] | one_of(records["before_is"][part], kinds)
        some |= one_of(records["after_is"][part], kinds)
        found.append(np.flatnonzero(some) + part.start)
    return np.concatenate(found)


class _Tokens:
    """Overflow records and those about pointers (``points``), at ``places`` among some records:
    by unit and table, of which each is a ``group``, in the order of the log."""

    def __init__(self, records: Records, unit: Index, places: Index, points: Mask) -> None:
        self.records, self.unit = records, unit
        of = np.unique(unit[places], return_inverse=True)[1].astype(np.int64) << 32
        of |= records["space"][places].astype(np.int64) << 16
        of |= records["table"][places]
        group = np.unique(of, return_inverse=True)[1]
        order = np.argsort(group, kind="stable")
        self.places, self.group, self.points = places[order], group[order], points[order]
        self.inserts = (records["role"][self.places] == RecordRole.INSERT) & ~self.points
        self.old = self.points & (records["before_is"][self.places] == POINTS)
        self.new = self.points & (records["after_is"][self.places] == POINTS)
        self.heads = np.flatnonzero(np.append(True, self.group[1:] != self.group[:-1]))

    def keys(self) -> Iterable[tuple[int, tuple[int, int, int]]]:
        """Each group, and the unit and table that it is of."""
        rows = self.places[self.heads]
        space, table = (self.records[name][rows].tolist() for name in ("space", "table"))
        of = zip(self.unit[rows].tolist(), space, table, strict=True)
        return zip(self.group[self.heads].tolist(), of, strict=True)

    def _open(self, comes: Mask, goes: Mask) -> Index:
        """How many more of a group came than went, up to each."""
        step = comes.astype(np.int64) - goes
        total = np.cumsum(step)
        before = total[self.heads] - step[self.heads]
        return np.asarray(total - np.repeat(before, np.diff(np.append(self.heads, len(step)))))

    def runs(self) -> tuple[Index, Index, Mask]:
        """(where runs begin behind which nothing waits, or a group ends; their sizes; which are one
        move: a pointer, and the overflow records that it asks for)."""
        waits = self._open(self.inserts, self.new) != 0
        waits |= self._open(~self.points & ~self.inserts, self.old) != 0
        ends = ~waits
        ends[self.heads[1:] - 1] = ends[-1] = True
        last = np.flatnonzero(ends)
        begin = np.append(0, last[:-1] + 1)
        whole = np.add.reduceat(self.points.astype(np.int64), begin) == 1
        return begin, last + 1 - begin, whole & ~waits[last]

    def moved(self, begin: Index, size: Index, first: int) -> Records:
        """The changes that runs are; ``first``: the number of the first of all records."""
        moved = np.zeros(len(begin), MOVED)
        at = begin[:, None] + np.minimum(np.arange(3), size[:, None] - 1)
        there = np.arange(3) < size[:, None]
        rows = self.places[at] + first
        # rising, for the order of a group is that of the log
        moved["records"] = np.where(there, rows, -1)

        def number(those: Mask) -> Index:
            return np.asarray(np.where(those[at] & there, rows, -1).max(axis=1))

        pointer, old = number(self.points), number(self.old)
        deletes, inserts = number(~self.points & ~self.inserts), number(self.inserts)
        moved["before"] = np.where(old < 0, pointer, deletes)
        updates = number(self.points & (self.records["role"][self.places] == RecordRole.UPDATE))
        moved["after"] = np.where(number(self.new) < 0, updates, inserts)
        return moved


def _partition(row: _Half, unit: int, leaving: dict[int, _Half], result: _Found) -> None:
    """A delete and the insert after it, both marked, are one update of a row that moved between
    partitions."""
    if row.role == RecordRole.DELETE:
        if unit in leaving:
            result.single.append(leaving[unit].row)
        leaving[unit] = row
    elif unit in leaving:
        gone = leaving.pop(unit).row
        result.add((gone, row.row), gone, row.row)
    else:
        result.single.append(row.row)


def _add(row: _Half, move: _Open, pointer: bool, result: _Found) -> None:
    if pointer:
        if move.pointer is not None:
            result.half.append(move.pointer.row)
        move.pointer = row
        return
    name = "insert" if row.role == RecordRole.INSERT else "delete"
    other: _Half | None = getattr(move, name)
    if other is not None:
        result.single.append(other.row)
    setattr(move, name, row)


def _match(move: _Open, result: _Found) -> None:
    """Complete a change when all its records are there."""
    half, insert, delete = move.pointer, move.insert, move.delete
    if half is None:
        return
    row, was_pointer, is_pointer = half.row, half.before == POINTS, half.after == POINTS
    if (was_pointer and delete is None) or (is_pointer and insert is None):
        return
    before = row if delete is None or not was_pointer else delete.row
    after = row if insert is None or not is_pointer else insert.row
    if half.role == RecordRole.DELETE:
        after = -1
    move.pointer = None
    move.delete = None if was_pointer else delete
    move.insert = None if is_pointer else insert
    result.add({row, before, after} - {-1}, before, after)
