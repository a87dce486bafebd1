"""Rows that moved: several records of one change put together (format notes, section 17).

When an update makes a row too long for its place, the row is written somewhere else as an overflow record and a pointer stays behind. The log then
holds an insert and perhaps a delete of overflow records beside an update whose images are pointers. Such records are few; they are paired one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from replay.logs.db2luw.layouts import Role
from replay.logs.db2luw.scan import NORMAL, OVERFLOWN, POINTS

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Moved:
    """One change made of ``records`` (rising). ``before`` and ``after`` say which record's image on which side is the row, or None."""

    records: tuple[int, ...]
    before: tuple[int, str] | None
    after: tuple[int, str] | None


@dataclass
class _Open:
    """What still waits for its other half, in one unit and table: overflow records and pointer records."""

    insert: int | None = None
    delete: int | None = None
    pointer: int | None = None


@dataclass
class Pairing:
    """``moved`` changes; ``half`` pointer records whose overflow record is missing; ``single`` overflow records that stay changes of their own."""

    moved: list[Moved] = field(default_factory=list)
    half: list[int] = field(default_factory=list)
    single: list[int] = field(default_factory=list)


def pair(found: npt.NDArray[np.void], unit: npt.NDArray[np.int64], live: Mask) -> Pairing:
    """Pair the moved rows among the ``live`` records."""
    role, before, after = found["role"], found["before_is"], found["after_is"]
    overflow = ((role == Role.INSERT) & (after == OVERFLOWN)) | ((role == Role.DELETE) & (before == OVERFLOWN))
    there = np.isin(before, (NORMAL, OVERFLOWN, POINTS)) & np.isin(after, (NORMAL, OVERFLOWN, POINTS))
    pointer = (role == Role.DELETE) & (before == POINTS) | (role == Role.UPDATE) & there & ((before == POINTS) | (after == POINTS))
    between = found["moves"] & np.isin(role, (Role.INSERT, Role.DELETE)) & ((before == NORMAL) | (after == NORMAL))
    result = Pairing()
    waiting: dict[tuple[int, int, int], _Open] = {}
    leaving: dict[int, int] = {}
    for row in np.flatnonzero(live & (overflow | pointer | between)).tolist():
        if between[row]:
            _partition(found, row, int(unit[row]), leaving, result)
            continue
        known = waiting.setdefault((int(unit[row]), int(found["space"][row]), int(found["table"][row])), _Open())
        _add(found, row, known, bool(pointer[row]), result)
        _match(found, known, result)
    for known in waiting.values():
        result.half += [row for row in (known.pointer,) if row is not None]
        result.single += [row for row in (known.insert, known.delete) if row is not None]
    result.single += list(leaving.values())
    return result


def _partition(found: npt.NDArray[np.void], row: int, unit: int, leaving: dict[int, int], result: Pairing) -> None:
    """A delete and the insert after it, both marked, are one update of a row that moved between partitions."""
    if found["role"][row] == Role.DELETE:
        if unit in leaving:
            result.single.append(leaving[unit])
        leaving[unit] = row
    elif unit in leaving:
        gone = leaving.pop(unit)
        result.moved.append(Moved((gone, row), (gone, "before"), (row, "after")))
    else:
        result.single.append(row)


def _add(found: npt.NDArray[np.void], row: int, known: _Open, pointer: bool, result: Pairing) -> None:
    if pointer:
        if known.pointer is not None:
            result.half.append(known.pointer)
        known.pointer = row
        return
    name = "insert" if found["role"][row] == Role.INSERT else "delete"
    if getattr(known, name) is not None:
        result.single.append(getattr(known, name))
    setattr(known, name, row)


def _match(found: npt.NDArray[np.void], known: _Open, result: Pairing) -> None:
    """Complete a change when all its records are there."""
    row, insert, delete = known.pointer, known.insert, known.delete
    if row is None:
        return
    was_pointer, is_pointer = found["before_is"][row] == POINTS, found["after_is"][row] == POINTS
    removed = found["role"][row] == Role.DELETE
    if (was_pointer and delete is None) or (is_pointer and insert is None):
        return
    before = (row, "before") if delete is None or not was_pointer else (delete, "before")
    after = None if removed else (row, "after") if insert is None or not is_pointer else (insert, "after")
    records = {row, before[0]} | (set() if after is None else {after[0]})
    known.pointer = None
    known.delete = None if was_pointer else delete
    known.insert = None if is_pointer else insert
    result.moved.append(Moved(tuple(sorted(records)), before, after))
