"""A look over the headers of a log: from where to where its committed units reach, and where a time
lies among them."""

from __future__ import annotations

import fnmatch
import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeVar

import numpy as np

from replay.changes.envelope import bounds_of, compare, opaque
from replay.changes.notation import first_of_time, time_text
from replay.changes.position import HIGHEST, LOWEST, Position, UnitId
from replay.changes.selection import REASON, UNSATISFIED, Selection, balance_of, left_out
from replay.engine.contract import Engine, ScanJob
from replay.errors import InputError, some_of
from replay.logs import LogFile, MadeOfLogs, Split
from replay.logs.record_facts import final_position, long_before_end, refuse_behind_end
from replay.pipeline.plan import Plan
from replay.pipeline.scan import SPLIT, HeaderBlock, all_headers, headers, judged_headers
from sqlgen.errors import did_you_mean
from sqlgen.lazy_imports import when_used

with when_used():  # for Spark
    from replay.pipeline import range_walk

#: Kinds of names in headers, and their options.
_NAMES = {
    "authid": "--user",
    "plan": "--plan",
    "correlation": "--job",
    "connection": "--connection",
}

Octets = TypeVar("Octets", bytes, Position)


@dataclass(frozen=True)
class LogExtent:
    """``first`` and ``last`` commit position of committed records (None: there are none), ``late``,
    the lowest one whose commit time is later than what was asked, and the ``earliest`` and
    ``latest`` commit time (17 packed bytes, as in the header; None: the log does not tell it).
    ``begins`` and ``ends``: what the log says of where it does, as far as it is known: before the
    first unit, and behind the last one, may lie transactions without rows. ``stated``: where the
    log says that it ends, though units may be open there."""

    first: Position | None = None
    last: Position | None = None
    late: Position | None = None
    earliest: bytes | None = None
    latest: bytes | None = None
    begins: Position | None = None
    ends: Position | None = None
    stated: Position | None = None

    @property
    def low(self) -> Position | None:
        """From where on all is in the log."""
        told = [place for place in (self.first, self.begins) if place is not None]
        return min(told, default=None)

    @property
    def start(self) -> Position | None:
        """Where a target stands that holds nothing before this log: below its first unit, and not
        behind its end, where that is open there."""
        told = [place for place in (self.first and self.first.below, self.stated) if place]
        return None if self.first is None else min(told)

    def is_outside(self, position: Position | None = None, time: bytes | None = None) -> bool:
        """Whether a point lies before or behind all of the log: a ``position``, or the last moment
        that a ``time`` may mean. The lowest and the highest position are the ends of any log."""
        if self.first is None or self.last is None:
            return False
        if time is not None:
            early = self.earliest is not None and time < self.earliest
            return early or (self.latest is not None and first_of_time(time) > self.latest)
        if position is None or position in (LOWEST, HIGHEST):
            return False
        low, high = self.low or self.first, max(self.last, self.ends or self.last)
        return (position < low and position.above != low) or position > high

    def outside(
        self, text: str, position: Position | None = None, time: bytes | None = None
    ) -> tuple[str, ...]:
        """What is said of a point that the log does not reach, for nobody knows what committed
        between; nothing of another one."""
        if not self.is_outside(position, time):
            return ()
        return (f"{text} lies outside of the log: {self}",)

    def __str__(self) -> str:
        if self.first is None or self.last is None:
            return "the log has no committed unit of recovery"
        ends = [
            position.hexadecimal + (f" ({time_text(time)})" if time else "")
            for position, time in ((self.first, self.earliest), (self.last, self.latest))
        ]
        return f"the log goes from commit position {ends[0]} to {ends[1]}"


def log_extent(
    log: LogFile,
    time: bytes | None = None,
    engine: Engine | None = None,
    split_bytes: int | None = None,
) -> LogExtent:
    """Read all headers: tasks of ``engine`` do, where they index the log, in splits of
    ``split_bytes``, which a plan of the same run has, too (None: those that there are, if any).
    ``time``: 17 packed bytes, as in the header. Raises what tasks raise."""
    found = range_walk.files_by_tasks(log, split_bytes, engine)
    parts: Iterable[LogExtent]
    if found is None or engine is None:
        parts = (_extent_of(some, time) for some in all_headers(log, split_bytes or SPLIT))
    else:
        parts = map(pickle.loads, engine.results(ExtentJob(time), log, found.splits))
    stated = log.stated_end or final_position(log) if isinstance(log, MadeOfLogs) else None
    extent = reduce(_joined, parts, LogExtent())
    return replace(extent, begins=log.begins, ends=log.ends, stated=stated)


def ends_early(log: LogFile, extent: LogExtent) -> tuple[str, ...]:
    """What is said of data that end long before their control file says: a data file is missing, or
    of another run."""
    if extent.first is None or extent.last is None:
        return ()
    end = long_before_end(log, extent.first, extent.last)
    return (f"the data end long before their control file says: {extent}, {end}",) if end else ()


def data_end_early(
    log: LogFile, first: Position | None, last: Position | None, engine: Engine | None
) -> tuple[str, ...]:
    """As :func:`ends_early`, for who saw the commits from ``first`` to ``last`` (None: none), which
    may be a part: only where these end early, all headers are read."""
    if final_position(log) is None:
        return ()
    seen = LogExtent(first, last)
    early = last is None or ends_early(log, seen)
    return ends_early(log, log_extent(log, engine=engine)) if early else ()


def refuse_other_run(
    log: LogFile, engine: Engine | None = None, split_bytes: int | None = None
) -> None:
    """InputError (LR2042) where a unit commits behind the end that a control file states, if all
    its records say so: a damaged position is no end. Reads all headers, as :func:`log_extent` does;
    a damaged framing is reported by whoever reads the records."""
    end = final_position(log)
    if end is None:
        return
    behind, sooner = set[bytes](), set[bytes]()
    with suppress(InputError):
        if (last := log_extent(log, None, engine, split_bytes).last) is not None and last > end:
            for some in all_headers(log):
                units, later = some.envelope.unit(), compare(some.envelope.commit(), end) > 0
                behind |= {*np.unique(opaque(units[later & some.committed()])).tolist()}
                sooner |= {*np.unique(opaque(units[~later])).tolist()}
    if behind - sooner:
        refuse_behind_end(log, last)


@dataclass(frozen=True)
class ExtentJob(ScanJob):
    """Reads the headers of splits. Results are the pickled :class:`LogExtent` of each, without what
    the log says of its own ends."""

    title = "find where the log begins and ends"
    together = 8

    time: bytes | None

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        """The extent of one split."""
        parts = (_extent_of(some, self.time) for some in headers(log, [split]))
        yield self.buckets, pickle.dumps(reduce(_joined, parts, LogExtent()))


def _extent_of(some: HeaderBlock, time: bytes | None) -> LogExtent:
    """The extent of some records."""
    envelope, committed = some.envelope, some.committed()
    commit = envelope.commit()[committed]
    if not len(commit):
        return LogExtent()
    times = envelope.commit_time()[committed]
    known = times[times.any(axis=1)]
    earliest, latest = bounds_of(known) if len(known) else (None, None)
    later = commit[:0] if time is None else commit[compare(times, time) > 0]
    late = Position(bounds_of(later)[0]) if len(later) else None
    first, last = map(Position, bounds_of(commit))
    return LogExtent(first, last, late, earliest, latest)


def _joined(one: LogExtent, other: LogExtent) -> LogExtent:
    """The extent of the records of two."""
    return LogExtent(
        _least(one.first, other.first),
        _greatest(one.last, other.last),
        _least(one.late, other.late),
        _least(one.earliest, other.earliest),
        _greatest(one.latest, other.latest),
    )


def _least(*values: Octets | None) -> Octets | None:
    return min((value for value in values if value is not None), default=None)


def _greatest(*values: Octets | None) -> Octets | None:
    return max((value for value in values if value is not None), default=None)


def commit_times(
    log: LogFile, positions: Iterable[Position], split_bytes: int = SPLIT
) -> dict[Position, str]:
    """When units committed at these positions, as :func:`time_text` writes it; positions at which
    none did, or whose time the log does not tell, are not there. Reads all headers."""
    wanted, found = set(positions), dict[Position, str]()
    for some in all_headers(log, split_bytes):
        commit, times = some.envelope.commit(), some.envelope.commit_time()
        known = some.committed() & times.any(axis=1)
        for position in wanted - found.keys():
            rows = np.flatnonzero(known & (compare(commit, position) == 0))
            if len(rows):
                found[position] = time_text(times[rows[0]].tobytes())
    return found


def nothing_left(
    log: LogFile, selection: Selection, skipped: Mapping[str, int], engine: Engine | None = None
) -> list[str]:
    """What a user must know whose selection takes nothing of a log: why (``skipped``, as in the
    balance sheet), and from where to where the log goes, as :func:`log_extent` finds it. Empty
    where the user chose nothing."""
    if (reason := left_out(selection, skipped)) is None:
        return []
    said = *unknown_names(log, selection), f"{reason}; {log_extent(log, engine=engine)}"
    return ["; ".join(said), *unknown_units(log, selection)]


def unknown_names(log: LogFile, selection: Selection) -> Iterator[str]:
    """What is said of users, jobs, plans and connections that no record of the log has."""
    for kind, option in _NAMES.items():
        if not (globs := getattr(selection, f"{kind}s")):
            continue
        names: set[bytes] = set()
        for some in all_headers(log):
            names |= set(np.unique(some.envelope.name(kind)).tolist())
        texts = sorted(name.decode("ascii", "replace").rstrip().upper() for name in names)
        lacking = [glob for glob in globs if not fnmatch.filter(texts, glob.upper())]
        if lacking and (known := [text for text in texts if text]):
            yield (
                f"found {option} {' '.join(lacking)}, which nothing in this log has; expected one"
                f" of: {some_of(known, len(known))}{did_you_mean(lacking, known)}"
            )


def unknown_units(log: LogFile, selection: Selection) -> list[str]:
    """What is said of ids that no unit of the log has, and whose position they are."""
    said = {bytes(unit): "" for unit, _ in selection.units if isinstance(unit, bytes)}
    for one in (some.envelope for some in all_headers(log)) if said else ():
        kinds = ("the commit", one.commit()), ("a record", one.log_position())
        for unit in list(said):
            for what, places in kinds:
                for row in np.flatnonzero(compare(places, unit) == 0)[:1]:
                    said[unit] = f"; {what} of unit {UnitId(one.unit()[row].tobytes())} is there"
            if (compare(one.unit()[:, : Position.SIZE], unit) == 0).any():
                del said[unit]
    known = "no unit of recovery of this log has the id"
    return [f"{known} {unit.hex().upper()} (--ur){more}" for unit, more in said.items()]


def skipped_records(plan: Plan, log: LogFile) -> Counter[str]:
    """How many records a plan whose selection takes nothing leaves out, by reason."""
    skipped: Counter[str] = Counter()
    for _, _, _, verdict in judged_headers(log, plan.splits, plan.selection, plan.version_taken):
        if plan.selection.where is not None:
            verdict[verdict == 0] = REASON[UNSATISFIED]
        counts = balance_of(verdict)
        skipped.update({log.in_words(reason): counts[reason] for reason in counts})
    return skipped
