"""A look over the headers of a log: from where to where its committed units reach, and where a time
lies among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes
from replay.changes.envelope import compare
from replay.changes.position import Position
from replay.changes.selection import (
    REASON,
    UNSATISFIED,
    RecordFacts,
    Selection,
    balance_of,
    decide,
    left_out,
)
from replay.logs import LogFile
from replay.pipeline.plan import Plan
from replay.pipeline.scan import BATCH


@dataclass(frozen=True)
class LogExtent:
    """``first`` and ``last`` commit position of committed records (None: there are none), ``late``,
    the lowest one whose commit time is later than what was asked, and the ``earliest`` and
    ``latest`` commit time (17 packed bytes, as in the header; None: the log does not tell it).
    ``begins`` and ``ends``: what the log says of where it does, as far as it is known: before the
    first unit, and behind the last one, may lie transactions without rows."""

    first: Position | None = None
    last: Position | None = None
    late: Position | None = None
    earliest: bytes | None = None
    latest: bytes | None = None
    begins: Position | None = None
    ends: Position | None = None

    @property
    def low(self) -> Position | None:
        """From where on all is in the log."""
        told = [place for place in (self.first, self.begins) if place is not None]
        return min(told, default=None)

    def __str__(self) -> str:
        if self.first is None or self.last is None:
            return "the log has no committed unit of recovery"
        ends = [
            position.hexadecimal + (f" ({time_text(time)})" if time else "")
            for position, time in ((self.first, self.earliest), (self.last, self.latest))
        ]
        return f"the log goes from commit position {ends[0]} to {ends[1]}"


def time_text(time: bytes) -> str:
    """A time of 17 packed bytes as it is given on the command line, to the microsecond."""
    digits = time.hex()
    parts = (digits[0:4], digits[4:6], digits[6:8], digits[8:10], digits[10:12], digits[12:14])
    year, month, day, hour, minute, second = parts
    return f"{year}-{month}-{day} {hour}:{minute}:{second}.{digits[14:20]}"


def log_extent(log: LogFile, time: bytes | None = None, split_bytes: int = 64 << 20) -> LogExtent:
    """Read all headers. ``time``: 17 packed bytes, as in the header."""
    first: Position | None = None
    last: Position | None = None
    late: Position | None = None
    earliest: bytes | None = None
    latest: bytes | None = None
    for split, offsets, lengths in log.splits(split_bytes):
        for start in range(0, len(offsets), BATCH):
            envelope = log.envelope(
                split.file, offsets[start : start + BATCH], lengths[start : start + BATCH]
            )
            position = envelope.commit()
            # A record of no unit has no position.
            committed = (envelope.unit_disposition() == ord("C")) & position.any(axis=1)
            commit = position[committed]
            if not len(commit):
                continue
            low, high = map(Position, _bounds(commit))
            first = low if first is None else min(first, low)
            last = high if last is None else max(last, high)
            times = envelope.commit_time()[committed]
            known = times[times.any(axis=1)]
            if len(known):
                begin, end = _bounds(known)
                earliest = begin if earliest is None else min(earliest, begin)
                latest = end if latest is None else max(latest, end)
            if time is not None:
                later = commit[compare(times, time) > 0]
                if len(later):
                    low = Position(_bounds(later)[0])
                    late = low if late is None else min(late, low)
    return LogExtent(first, last, late, earliest, latest, log.begins, log.ends)


def clock_steps(log: LogFile, selection: Selection, split_bytes: int = 64 << 20) -> Iterator[str]:
    """A warning for each end of a selection by time that parts the units of the log in no one
    place, because the clock that gave the commit times was set back between two of them (to winter
    time, say): a unit beyond that end commits among those within. Reads all headers where the
    selection has such an end."""
    low, high = selection.from_time, selection.until_time
    if low is None and high is None:
        return
    # of commit positions, with their times: the first and the last within, the first that is too
    # late, and the last that is too early
    within: list[_Commit] = []
    late: list[_Commit] = []
    early: list[_Commit] = []
    for split, offsets, lengths in log.splits(split_bytes):
        for start in range(0, len(offsets), BATCH):
            envelope = log.envelope(
                split.file, offsets[start : start + BATCH], lengths[start : start + BATCH]
            )
            commits, times = envelope.commit(), envelope.commit_time()
            of_units = (envelope.unit_disposition() == ord("C")) & times.any(axis=1)
            of_units &= _between(commits, selection.from_position, selection.until_position)
            too_late = of_units & ~_between(times, None, high)
            too_early = of_units & ~_between(times, low, None)
            taken = of_units & ~too_late & ~too_early
            within = _ends(within, commits[taken], times[taken])
            late = _ends(late, commits[too_late], times[too_late])
            early = _ends(early, commits[too_early], times[too_early])
    if not within:
        return
    first, last = within[0], within[-1]
    if late and late[0].position < last.position:
        yield _step("--until-time", late[0], last, "before", late[0].position.below)
    if early and early[-1].position > first.position:
        yield _step("--from-time", early[-1], first, "behind", first.position)


@dataclass(frozen=True, order=True)
class _Commit:
    """Where and when units commit."""

    position: Position
    time: bytes

    def __str__(self) -> str:
        return f"{self.position.hexadecimal} ({time_text(self.time)})"


def _between(values: Bytes, low: bytes | None, high: bytes | None) -> npt.NDArray[np.bool_]:
    """Which values lie between two, both inclusive (None: no limit)."""
    inside = np.ones(len(values), np.bool_)
    if low is not None:
        inside &= compare(values, low) >= 0
    if high is not None:
        inside &= compare(values, high) <= 0
    return inside


def _ends(known: list[_Commit], commits: Bytes, times: Bytes) -> list[_Commit]:
    """The lowest and the highest of some commits and of those that are ``known`` (none, or two)."""
    if not len(commits):
        return known
    found = list(known)
    for bound in _bounds(commits):
        row = int(np.flatnonzero(compare(commits, bound) == 0)[0])
        found.append(_Commit(Position(bound), times[row].tobytes()))
    return [min(found), max(found)]


def _step(option: str, outside: _Commit, inside: _Commit, where: str, end: Position) -> str:
    name = option.replace("time", "position")
    return (
        f"commit times go back within the log: a unit beyond {option} commits at {outside}, {where}"
        f" one that is taken, at {inside}; so what is taken is no one stretch of the log, and may"
        f" build on what is not. Name the place by a commit position, for example {name}"
        f" {end.hexadecimal}"
    )


def commit_times(
    log: LogFile, positions: Iterable[Position], split_bytes: int = 64 << 20
) -> dict[Position, str]:
    """When units committed at these positions, as :func:`time_text` writes it; positions at which
    none did, or whose time the log does not tell, are not there. Reads all headers."""
    wanted, found = set(positions), dict[Position, str]()
    for split, offsets, lengths in log.splits(split_bytes):
        for start in range(0, len(offsets), BATCH):
            envelope = log.envelope(
                split.file, offsets[start : start + BATCH], lengths[start : start + BATCH]
            )
            commit, times = envelope.commit(), envelope.commit_time()
            known = (envelope.unit_disposition() == ord("C")) & times.any(axis=1)
            for position in wanted - found.keys():
                rows = np.flatnonzero(known & (compare(commit, position) == 0))
                if len(rows):
                    found[position] = time_text(times[rows[0]].tobytes())
    return found


def nothing_left(log: LogFile, selection: Selection, skipped: Mapping[str, int]) -> list[str]:
    """What a user must know whose selection takes nothing of a log: why (``skipped``, as in the
    balance sheet), and from where to where the log goes. Empty where the user chose nothing."""
    reason = left_out(selection, skipped)
    return [] if reason is None else [f"{reason}; {log_extent(log)}"]


def skipped_records(plan: Plan, log: LogFile) -> Counter[str]:
    """How many records a plan whose selection takes nothing leaves out, by reason."""
    skipped: Counter[str] = Counter()
    for split in plan.splits:
        for _, offsets, lengths in log.records(split, BATCH):
            envelope = log.envelope(split.file, offsets, lengths)
            change, version = log.classify(envelope)
            facts = RecordFacts(change, version, plan.version_taken, log.dependent_position, True)
            verdict = decide(plan.selection, envelope, facts)
            if plan.selection.where is not None:
                verdict[verdict == 0] = REASON[UNSATISFIED]
            counts = balance_of(verdict)
            skipped.update({log.in_words(reason): counts[reason] for reason in counts})
    return skipped


def _bounds(values: Bytes) -> tuple[bytes, bytes]:
    """The lowest and the highest of some values of one width (``uint8[n, w]``, n > 0)."""
    low = high = values
    for start in range(0, values.shape[1], 8):
        low = low[_words(low, start) == _words(low, start).min()]
        high = high[_words(high, start) == _words(high, start).max()]
    return low[0].tobytes(), high[0].tobytes()


def _words(values: Bytes, start: int) -> npt.NDArray[np.uint64]:
    """Up to eight bytes of each value as a number that sorts as they do."""
    words = np.zeros((len(values), 8), np.uint8)
    part = values[:, start : start + 8]
    words[:, : part.shape[1]] = part
    return words.view(">u8").reshape(-1).astype(np.uint64)
