"""A look over the headers of a log: from where to where its committed units reach, and where a time
lies among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from replay.changes.envelope import bounds_of, compare
from replay.changes.notation import time_text
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
            low, high = map(Position, bounds_of(commit))
            first = low if first is None else min(first, low)
            last = high if last is None else max(last, high)
            times = envelope.commit_time()[committed]
            known = times[times.any(axis=1)]
            if len(known):
                begin, end = bounds_of(known)
                earliest = begin if earliest is None else min(earliest, begin)
                latest = end if latest is None else max(latest, end)
            if time is not None:
                later = commit[compare(times, time) > 0]
                if len(later):
                    low = Position(bounds_of(later)[0])
                    late = low if late is None else min(late, low)
    return LogExtent(first, last, late, earliest, latest, log.begins, log.ends)


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
