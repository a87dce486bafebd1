"""Positions as people give them by time, by unit or by mark: those of a selection, and where a
replay ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from replay.arrays import Bytes
from replay.changes.envelope import Envelope, compare, opaque
from replay.changes.notation import TIME_SIZE, UtcTime, time_text
from replay.changes.position import Position, leading_words, urids_of
from replay.changes.selection import Selection, unit_text
from replay.errors import UsageError
from replay.logs import LogFile
from replay.logs.record_facts import placed_unit, resolve_position
from replay.pipeline.scan import all_headers
from sqlgen.lazy_imports import when_used

with when_used():  # what positions that are not named as such need
    from replay.logs import marks
    from replay.pipeline import extent as extents

#: Marks that a message names.
_NAMED = 20


def place(selection: Selection, log: LogFile) -> Selection:
    """A selection with positions and units as this log places them. UsageError (LR1001) for those
    that its family does not have, and for times of another form than that of headers; errors as
    :func:`without_marks`."""
    selection = without_marks(selection, log)
    for name in ("from_time", "until_time"):
        time = getattr(selection, name)
        if time is not None and len(time) != TIME_SIZE:
            raise UsageError(
                "LR1001",
                f"found a {name} of {len(time)} bytes; expected {TIME_SIZE}, as in headers",
            )
        check_zone(time, log)
    bounds: dict[str, Any] = {
        name: resolve_position(log, getattr(selection, name), name == "until_position")
        for name in ("from_position", "until_position")
    }
    units = tuple((_placed_unit(log, unit, member), member) for unit, member in selection.units)
    excepted = place(selection.excepted, log) if selection.excepted else None
    return replace(selection, **bounds, units=units, excepted=excepted)


def check_zone(time: bytes | None, log: LogFile) -> None:
    """UsageError (LR1001) for a time in UTC where the times of the log have no zone."""
    if isinstance(time, UtcTime) and not getattr(log, "times_in_utc", False):
        plain = time_text(time)[:19]
        raise UsageError(
            "LR1001",
            f"found the time {plain}Z; expected one without a zone: times are those of the log,"
            " which does not say in which zone they are",
            hint=f"'{plain}' is what the clock of its database showed",
        )


def _placed_unit(log: LogFile, unit: bytes | str, member: int | None) -> bytes:
    if isinstance(unit, bytes):
        return placed_unit(log, unit)
    raise UsageError(
        "LR1001", f"found the unit {unit_text(unit, member)}; expected all 20 digits of its id"
    )


def check_ranges(selection: Selection) -> None:
    """UsageError (LR1001) for a range whose ends are the wrong way round: nothing lies in it."""
    if selection.excepted is not None:
        check_ranges(selection.excepted)
    low, high = selection.from_position, selection.until_position
    if low is not None and high is not None and low > high:
        raise UsageError("LR1001", "--from-position is higher than --until-position")
    first, last = selection.from_time, selection.until_time
    if first is not None and last is not None and first > last:
        raise UsageError("LR1001", "--from-time is later than --until-time")


def without_marks(selection: Selection, log: LogFile) -> Selection:
    """A selection with positions in place of its marks: until a mark is up to it, from one is
    behind it, so that two such parts have every change once. UsageError (LR1001) for a mark beside
    a position, and for ends the wrong way round; errors as :func:`replay.logs.marks.mark_of`."""
    found = selection
    for end in ("from", "until"):
        name = getattr(selection, f"{end}_mark")
        if name is None:
            continue
        if getattr(selection, f"{end}_position") is not None:
            raise UsageError(
                "LR1001",
                f"found --{end}-mark with --{end}-position; expected one of them",
            )
        position = marks.mark_of(log, name, marks.marks_place(log, selection.marks)).position
        if end == "from":
            found = replace(found, from_position=position.above, from_mark=None)
        else:
            found = replace(found, until_position=position, until_mark=None)
    low, high = found.from_position, found.until_position
    if found is not selection and low is not None and high is not None and low > high:
        ends = (
            f"--{end}-mark {mark}" if mark else f"--{end}-position"
            for end, mark in (("from", selection.from_mark), ("until", selection.until_mark))
        )
        raise UsageError(
            "LR1001",
            f"found {' and '.join(ends)}, which select nothing: a range begins after one mark"
            " and ends at a later one",
            hint="logreplay mark, without a name, lists them",
        )
    return found


def mark_notes(selection: Selection, log: LogFile) -> tuple[str, ...]:
    """Where the marks of a selection lie, and which are outside of what the log has."""
    ends = [("from", "after"), ("until", "up to")]
    named = [(getattr(selection, f"{end}_mark"), words) for end, words in ends]
    if not any(name for name, _ in named):
        return ()
    extent, place = extents.log_extent(log), marks.marks_place(log, selection.marks)
    notes = []
    for name, words in named:
        if name is None:
            continue
        mark = marks.mark_of(log, name, place)
        when = f" ({mark.committed})" if mark.committed else ""
        notes.append(f"{words} mark {name}: commit position {mark.position.hexadecimal}{when}")
        if lies_outside(mark.position, extent):
            notes[-1] += f", which lies outside of the log: {extent}"
    return tuple(notes)


def lies_outside(position: Position, extent: extents.LogExtent) -> bool:
    """Whether a position is not among the commits of a log, which may have none."""
    return extent.first is None or extent.is_outside(position)


def marks_with(
    known: Mapping[str, Position] | None, name: str | None, log: LogFile, named: str | None
) -> Mapping[str, Position]:
    """The marks of a live database (None: there is none), and the one called ``name`` of the file
    of marks (``named``, or beside the log). UsageError (LR1004) where neither has it, LR1001 where
    they differ; errors as :func:`replay.logs.marks.mark_of`."""
    where = "" if known is None else "the target, nor in "
    known = known or {}
    if name is None:
        return known
    place = marks.marks_place(log, named)
    there = {mark.name for mark in marks.read_marks(place)}
    if not there & {name.partition("(")[0].strip(), name.rpartition(".")[0]}:
        if name in known:
            return known
        shown = sorted({*known, *there})[:_NAMED]
        raise UsageError(
            "LR1004",
            f"found no mark {name!r} in {where}{place}",
            hint=f"Marks: {', '.join(shown) or 'none'}",
        )
    position = marks.mark_of(log, name, place).position
    if known.get(name, position) != position:
        raise UsageError(
            "LR1001",
            f"found the mark {name!r} at {known[name].hexadecimal} in the target, and at"
            f" {position.hexadecimal} in {place}; expected one of them",
            hint="Say --until-position, or name the mark of the file relatively: NAME(0)",
        )
    return {**known, name: position}


@dataclass(frozen=True)
class CommitPoint:
    """A commit position, ``committed`` when (in words; '' where the log does not tell, or nothing
    commits there), and how many ``units`` of recovery commit there."""

    position: Position
    committed: str
    units: int


def commit_point(
    log: LogFile,
    position: bytes | None = None,
    time: bytes | None = None,
    unit: tuple[bytes, int | None] | None = None,
) -> CommitPoint:
    """The commit position that is given, or of the last commit up to a ``time``, or of a ``unit``;
    without any, the last one of the log. UsageError (LR1001) for a position or a time that the log
    does not have, LR1004 where nothing commits there."""
    if position is not None:
        placed = resolve_position(log, position, True)
        assert placed is not None
        return _looked_at(log, placed)
    bound = None
    if time is not None:
        extent = extents.log_extent(log, time)
        if extent.earliest is None and extent.first is not None:
            raise UsageError(
                "LR1001",
                "found --time with a log that has no commit times; expected --position or --ur",
            )
        bound = extent.late
    wanted = None if unit is None else (placed_unit(log, unit[0]), unit[1])
    found: Position | None = None
    for envelope in _committed(log):
        commit = envelope.commit()
        rows = np.ones(len(commit), bool)
        if bound is not None:
            rows &= compare(commit, bound) < 0
        if wanted is not None:
            rows &= compare(urids_of(envelope.unit()), wanted[0]) == 0
            rows &= (envelope.member() == wanted[1]) | (wanted[1] is None)
        if rows.any():
            highest = Position(max(row.tobytes() for row in _highest(commit[rows])))
            found = highest if found is None else max(found, highest)
    if found is None:
        what = "no unit of recovery that commits" + ("" if unit or time else " in the log")
        raise UsageError("LR1004", f"found {what} there; expected one to mark")
    return _looked_at(log, found)


def _looked_at(log: LogFile, position: Position) -> CommitPoint:
    units: set[bytes] = set()
    committed = ""
    for envelope in _committed(log):
        rows = np.flatnonzero(compare(envelope.commit(), position) == 0)
        if len(rows):
            units.update(unit.tobytes() for unit in np.unique(envelope.unit()[rows], axis=0))
            moment = envelope.commit_time()[rows[0]].tobytes()
            committed = time_text(moment) if any(moment) else ""
    return CommitPoint(position, committed, len(units))


def _committed(log: LogFile) -> Iterator[Envelope]:
    """The headers of committed units, some at a time."""
    for some in all_headers(log):
        rows = np.flatnonzero(some.committed())
        if len(rows):
            yield some.envelope.take(rows)


def _highest(commit: Bytes) -> Bytes:
    """Those of some positions whose first bytes are the highest."""
    words = leading_words(opaque(commit))
    return np.unique(commit[words == words.max()], axis=0)
