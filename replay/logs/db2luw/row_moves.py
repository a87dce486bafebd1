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


@dataclass
class _Open:
    """What still waits for its other half, in one unit and table: overflow records and pointer
    records."""

    insert: int | None = None
    delete: int | None = None
    pointer: int | None = None


@dataclass
class Pairing:
    """``moved`` changes; ``half`` pointer records whose overflow record is missing; ``single``
    overflow records that stay changes of their own."""

    moved: list[Moved] = field(default_factory=list)
    half: list[int] = field(default_factory=list)
    single: list[int] = field(default_factory=list)


def pair(records: Records, unit: Index, live: Mask) -> Pairing:
    """Pair the moved rows among the ``live`` records."""
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
    waiting: dict[tuple[int, int, int], _Open] = {}
    leaving: dict[int, int] = {}
    for row in np.flatnonzero(live & (overflow | pointer | between)).tolist():
        if between[row]:
            _partition(records, row, int(unit[row]), leaving, result)
            continue
        move = waiting.setdefault(
            (int(unit[row]), int(records["space"][row]), int(records["table"][row])), _Open()
        )
        _add(records, row, move, bool(pointer[row]), result)
        _match(records, move, result)
    for move in waiting.values():
        result.half += [row for row in (move.pointer,) if row is not None]
        result.single += [row for row in (move.insert, move.delete) if row is not None]
    result.single += list(leaving.values())
    return result


def _partition(
    records: Records, row: int, unit: int, leaving: dict[int, int], result: Pairing
) -> None:
    """A delete and the insert after it, both marked, are one update of a row that moved between
    partitions."""
    if records["role"][row] == RecordRole.DELETE:
        if unit in leaving:
            result.single.append(leaving[unit])
        leaving[unit] = row
    elif unit in leaving:
        gone = leaving.pop(unit)
        result.moved.append(Moved((gone, row), (gone, "before"), (row, "after")))
    else:
        result.single.append(row)


def _add(records: Records, row: int, move: _Open, pointer: bool, result: Pairing) -> None:
    if pointer:
        if move.pointer is not None:
            result.half.append(move.pointer)
        move.pointer = row
        return
    name = "insert" if records["role"][row] == RecordRole.INSERT else "delete"
    if getattr(move, name) is not None:
        result.single.append(getattr(move, name))
    setattr(move, name, row)


def _match(entries: Records, move: _Open, result: Pairing) -> None:
    """Complete a change when all its records are there."""
    row, insert, delete = move.pointer, move.insert, move.delete
    if row is None:
        return
    was_pointer, is_pointer = (
        entries["before_is"][row] == POINTS,
        entries["after_is"][row] == POINTS,
    )
    removed = entries["role"][row] == RecordRole.DELETE
    if (was_pointer and delete is None) or (is_pointer and insert is None):
        return
    before = (row, "before") if delete is None or not was_pointer else (delete, "before")
    after = (
        None
        if removed
        else (row, "after")
        if insert is None or not is_pointer
        else (insert, "after")
    )
    rows = {row, before[0]} | (set() if after is None else {after[0]})
    move.pointer = None
    move.delete = None if was_pointer else delete
    move.insert = None if is_pointer else insert
    result.moved.append(Moved(tuple(sorted(rows)), before, after))
