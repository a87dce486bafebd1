"""What ``logreplay follow`` brings up to date: a live database, and an export that grows."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from replay.changes.selection import Selection
from replay.cli.commands import grow
from replay.cli.request import (
    LogInput,
    data_options_of,
    export_of,
    live_options_of,
    mapping_of,
    replay_words,
    selection_of,
)
from replay.errors import EXIT_OK
from replay.live import replay as live
from replay.live import status
from replay.live.replay_request import ReplayInput, input_of, placed, request_for
from replay.live.route import Destination
from replay.logs import LogPair
from replay.output.continuation import ended_at
from replay.output.growth import GrowingFolder
from replay.pipeline.extent import LogExtent, log_extent
from replay.pipeline.request import Demand, Request
from replay.pipeline.resolve_positions import marks_with
from replay.temp_folders import WorkFolder


class Stopped(BaseException):
    """The end of a run that was told to stop: between two transactions, with nothing lost."""


#: Codes of verdicts on units that are quarantined because of others.
_BECAUSE_OF_OTHERS = ("LR3011", "LR3014")


@dataclass
class Seen:
    """What is known of a receiver, for those who look from outside: where it stands, how many
    ``units`` and ``changes`` are in it, how many are quarantined (``pending``), of these those
    that only depend on others (``held``), what is in the way (``trouble``), and whether it is where
    a run shall end (``reached``).

    ``lag_bytes`` is the size of the logs that are not applied, ``oldest`` when the first of them
    arrived. ``new_units``, ``new_changes`` and ``errors`` (by code) are counts since the start,
    ``rate`` is that of the last run (units a second), ``applied_at`` its end. Times are seconds
    since 1970."""

    position: str | None = None
    units: int = 0
    changes: int = 0
    pending: int = 0
    held: int = 0
    trouble: str | None = None
    reached: bool = False
    lag_bytes: int = 0
    oldest: float | None = None
    new_units: int = 0
    new_changes: int = 0
    rate: float = 0.0
    applied_at: float = 0.0
    errors: dict[str, int] = field(default_factory=dict)
    last_error: str | None = None

    def lag_seconds(self, now: float) -> float:
        """How long the first log that is not applied has been there."""
        return 0.0 if self.oldest is None else max(0.0, round(now - self.oldest, 3))

    def measures(self, now: float) -> dict[str, float]:
        """What is measured, by the names of the metrics."""
        return {
            "lag_seconds": self.lag_seconds(now),
            "lag_bytes": self.lag_bytes,
            "units_pending": self.pending,
            "units_held": self.held,
            "units": self.new_units,
            "changes": self.new_changes,
            "units_per_second": self.rate,
            "last_applied_timestamp_seconds": self.applied_at,
            "trouble": self.trouble is not None,
        }


@dataclass(frozen=True)
class Taken:
    """What one run did: its exit code, and how many units and statements (or changes) came."""

    code: int
    units: int = 0
    changes: int = 0
    facts: dict[str, Any] = field(default_factory=dict)


class Receiver(Protocol):
    """What is brought up to date. Raises LogReplayError: the run that follows says which pass."""

    #: How it is called in messages.
    name: str
    seen: Seen

    def stand(self) -> status.Stand:
        """How far it is; notes that in ``seen``."""
        ...

    def take(self, pairs: Sequence[LogPair], log: Sequence[str]) -> Taken:
        """Bring it up to what some logs have."""
        ...


def reading_of(reading: LogInput, pairs: Sequence[LogPair], log: Sequence[str]) -> LogInput:
    """The same, of some logs."""
    words = [word for pair in pairs for word in (("control", [pair.control]), ("data", pair.data))]
    return replace(reading, in_turn=tuple(words), log=tuple(log), logs=(), continues=True)


def all_of(arguments: argparse.Namespace) -> Selection:
    """The selection without its ends: where a run stops is said to the replay."""
    selection = selection_of(arguments)
    return replace(selection, until_position=None, until_time=None, until_mark=None)


def _note(seen: Seen, stand: status.Stand) -> status.Stand:
    seen.position = None if stand.position is None else stand.position.hexadecimal
    seen.units, seen.changes, seen.pending = stand.units, stand.statements, len(stand.pending)
    seen.held = sum(reason.startswith(_BECAUSE_OF_OTHERS) for reason in stand.pending)
    return stand


class DatabaseReceiver:
    """A live database. ``stop`` says whether to end: between two transactions."""

    def __init__(self, arguments: argparse.Namespace, stop: Callable[[], bool]) -> None:
        self.arguments, self.stop, self.seen = arguments, stop, Seen()
        self.name = "target"

    def stand(self) -> status.Stand:
        """How far it is."""
        return _note(self.seen, status.stand(self.arguments.to))

    def take(self, pairs: Sequence[LogPair], log: Sequence[str]) -> Taken:
        """Replay what some logs have and it has not."""
        arguments, selection = self.arguments, all_of(self.arguments)
        reading = reading_of(LogInput.of(arguments), pairs, log)
        options = live_options_of(arguments, arguments.to, selection)
        with WorkFolder() as scratch:
            demand = Demand(options=options, mapping=mapping_of(arguments), continued=True)
            request = reading.request(scratch, demand, selection, arguments.to)
            until = self._until(request)
            if until is None:
                self.seen.reached = True
                return Taken(EXIT_OK)
            wanted = replace(
                request_for(request, arguments.to, until, replay_words(arguments), True),
                reached=self._between,
            )
            source = input_of(request, reading.engine_for(request.log, self._watch))
            with live.plan_replay(source, wanted, reading.split_bytes) as plan:
                if plan.is_empty:
                    taken = Taken(plan.exit_code)
                else:
                    report = plan.apply()
                    facts = {"units": report.units, "statements": report.statements}
                    taken = Taken(report.exit_code, report.units, report.statements, facts)
            self.seen.reached = self._goes_beyond(source, until)
        return taken

    def _until(self, request: Request) -> Destination | None:
        """Where to go with some logs; None where the target is there already, because following
        never goes back."""
        position, name = self.arguments.until_position, self.arguments.until_mark
        last = placed(request, position)
        if name is not None:
            there = status.stand(self.arguments.to).marks
            marks = marks_with(there, name, request.log, self.arguments.marks)
            last = Destination(None, None, name).commit(LogExtent(), marks)
        if last is not None and (self.seen.position or "") >= last.hexadecimal:
            return None
        return Destination(last, self.arguments.until_time, None, lasting=True)

    def _goes_beyond(self, source: ReplayInput, until: Destination) -> bool:
        """Whether the logs go up to where a run shall stop."""
        if until.time is None and until.position is None:
            return False
        extent = log_extent(source.log, until.time, source.engine)
        if until.position is None:
            return extent.late is not None
        return extent.last is not None and extent.last >= until.position

    def _between(self, point: str) -> None:
        """Where a run may end: a transaction was committed, or none has begun."""
        if point == "committed" and self.stop():
            raise Stopped

    def _watch(self, stage: str, done: int, total: int) -> None:
        """Progress of the plan, of which nothing is written yet."""
        if self.stop():
            raise Stopped


class ExportReceiver:
    """An export that grows. ``stop`` says whether to end: what is not committed is dropped."""

    def __init__(self, arguments: argparse.Namespace, stop: Callable[[], bool]) -> None:
        self.arguments, self.stop, self.seen, self.name = arguments, stop, Seen(), "export"

    def stand(self) -> status.Stand:
        """How far it is, as the manifest of its last commit says."""
        manifest = GrowingFolder(self.arguments.export).stand()
        if not manifest:
            return _note(self.seen, status.Stand(None, 0, 0, (), {}))
        sums = manifest["growth"]
        stand = status.Stand.of(ended_at(manifest), sums["units"], sums["changes"])
        return _note(self.seen, stand)

    def take(self, pairs: Sequence[LogPair], log: Sequence[str]) -> Taken:
        """Add what some logs have and it has not."""
        arguments, selection = self.arguments, selection_of(self.arguments)
        options = data_options_of(arguments, selection)
        demand = Demand(options=options, mapping=mapping_of(arguments), export=export_of(arguments))
        reading = reading_of(LogInput.of(arguments), pairs, log)
        growth = grow(arguments.export, reading, demand, selection, self._watch, self._look)
        manifest = growth.bundle.manifest
        facts = {"units": manifest["units"], "changes": manifest["changes"]}
        if growth.commit:
            facts["commit"] = growth.commit
        new = growth.commit is not None
        units, changes = (manifest["units"], manifest["changes"]) if new else (0, 0)
        return Taken(growth.bundle.exit_code, units, changes, facts)

    def _look(self, request: Request) -> None:
        """See whether the logs go up to where a run shall stop."""
        until = placed(request, self.arguments.until_position)
        if until is not None:
            last = log_extent(request.log).last
            self.seen.reached = last is not None and last >= until

    def _watch(self, stage: str, done: int, total: int) -> None:
        """Progress of what is not committed yet."""
        if self.stop():
            raise Stopped
