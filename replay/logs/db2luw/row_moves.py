"""Rows that moved: several records of one change put together (format notes, section 17).

When an update makes a row too long for its place, the row is written somewhere else as an overflow
record and a pointer stays behind. The log then holds an insert and perhaps a delete of overflow
records beside an update whose images are pointers. Such records are few; they are paired one by
one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from replay.arrays import Index, Mask, Records
from replay.logs.db2luw.layouts import RecordRole
from replay.logs.db2luw.scan import NORMAL, OVERFLOWN, POINTS


@dataclass(frozen=True)
class Moved:
    """One change made of ``records`` (rising). ``before`` and ``after`` say which record's image on
    which side is the row, or None."""

    records: tuple[int, ...]
    before: tuple[int, str] | None
    after: tuple[int, str] | None


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
    """``moved`` changes; ``half`` pointer records whose overflow record is missing; ``single``
    overflow records that stay changes of their own."""

    moved: list[Moved] = field(default_factory=list)
    half: list[int] = field(default_factory=list)
    single: list[int] = field(default_factory=list)


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
        role, before, after = records["role"], records["before_is"], records["after_is"]
        overflow = ((role == RecordRole.INSERT) & (after == OVERFLOWN)) | (
            (role == RecordRole.DELETE) & (before == OVERFLOWN)
        )
        there = np.isin(before, (NORMAL, OVERFLOWN, POINTS)) & np.isin(
            after, (NORMAL, OVERFLOWN, POINTS)
        )
        pointer = (role == RecordRole.DELETE) & (before == POINTS) | (
            role == RecordRole.UPDATE
        ) & there & ((before == POINTS) | (after == POINTS))
        between = (
            records["moves"]
            & np.isin(role, (RecordRole.INSERT, RecordRole.DELETE))
            & ((before == NORMAL) | (after == NORMAL))
        )
        result = Pairing()
        for place in np.flatnonzero(live & (overflow | pointer | between)).tolist():
            row = _Half(
                place + first, RecordRole(int(role[place])), int(before[place]), int(after[place])
            )
            if between[place]:
                _partition(row, int(unit[place]), self._leaving, result)
                continue
            key = int(unit[place]), int(records["space"][place]), int(records["table"][place])
            move = self._waiting.setdefault(key, _Open())
            _add(row, move, bool(pointer[place]), result)
            _match(move, result)
            if move.insert is None and move.delete is None and move.pointer is None:
                del self._waiting[key]
        return result

    def rest(self) -> Pairing:
        """What has no other half in the log."""
        result = Pairing()
        for move in self._waiting.values():
            result.half += [half.row for half in (move.pointer,) if half is not None]
            result.single += [half.row for half in (move.insert, move.delete) if half is not None]
        result.single += [half.row for half in self._leaving.values()]
        return result


def _partition(row: _Half, unit: int, leaving: dict[int, _Half], result: Pairing) -> None:
    """A delete and the insert after it, both marked, are one update of a row that moved between
    partitions."""
    if row.role == RecordRole.DELETE:
        if unit in leaving:
            result.single.append(leaving[unit].row)
        leaving[unit] = row
    elif unit in leaving:
        gone = leaving.pop(unit).row
        result.moved.append(Moved((gone, row.row), (gone, "before"), (row.row, "after")))
    else:
        result.single.append(row.row)


def _add(row: _Half, move: _Open, pointer: bool, result: Pairing) -> None:
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


def _match(move: _Open, result: Pairing) -> None:
    """Complete a change when all its records are there."""
    half, insert, delete = move.pointer, move.insert, move.delete
    if half is None:
        return
    row, was_pointer, is_pointer = half.row, half.before == POINTS, half.after == POINTS
    if (was_pointer and delete is None) or (is_pointer and insert is None):
        return
    before = (row, "before") if delete is None or not was_pointer else (delete.row, "before")
    after = (
        None
        if half.role == RecordRole.DELETE
        else (row, "after")
        if insert is None or not is_pointer
        else (insert.row, "after")
    )
    rows = {row, before[0]} | (set() if after is None else {after[0]})
    move.pointer = None
    move.delete = None if was_pointer else delete
    move.insert = None if is_pointer else insert
    result.moved.append(Moved(tuple(sorted(rows)), before, after))
