"""Rows that moved: several records of one change put together (format notes, section 17).

When an update makes a row too long for its place, the row is written somewhere else as an overflow
record and a pointer stays behind. The log then holds an insert and perhaps a delete of overflow
records beside an update whose images are pointers.
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
        for at in np.flatnonzero(live[rows] & (overflow | pointer | between)).tolist():
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
