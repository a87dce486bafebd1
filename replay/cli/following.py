"""``logreplay follow``: a folder is watched, and a target brought up to date as logs arrive."""

from __future__ import annotations

import argparse
import datetime
import json
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any

from replay.api import placed, replay_input, replay_request
from replay.changes.choices import Arrival, OnTrouble
from replay.changes.position import Position
from replay.changes.selection import Selection
from replay.cli.request import (
    engine_of,
    options_of,
    replay_words,
    request_of,
    selection_of,
)
from replay.errors import EXIT_ERROR, EXIT_OK, InputError, LogReplayError, TargetError, UsageError
from replay.leftovers import WorkFolder
from replay.live import replay as live
from replay.live import status, verify
from replay.live.route import Destination
from replay.logs import LogFile, LogPair, source_named
from replay.logs.arrivals import Arrived, arrived, stated_end, still_needed
from replay.pipeline.extent import LogExtent, log_extent
from replay.pipeline.request import Demand, Request

#: Codes of errors that pass: the target is down, or another replay is under way.
_PASSING = ("LR4003", "LR4004")
#: Codes of errors of logs that are damaged, late or missing.
_OF_LOGS = ("LR4007",)
#: Seconds between two tries at most.
_LONGEST = 60.0


class Stopped(BaseException):
    """The end of a run that was told to stop: between two transactions, with nothing lost."""


@dataclass
class Seen:
    """What is known of a target that is followed, for those who look from outside."""

    position: str | None = None
    units: int = 0
    statements: int = 0
    pending: int = 0
    waiting: int = 0
    logs: int = 0
    unneeded: tuple[str, ...] = ()
    trouble: str | None = None
    paused: bool = False
    reached: bool = False


@dataclass
class Follower:
    """Follows a folder. ``stop`` ends it between two transactions."""

    arguments: argparse.Namespace
    folder: str
    stop: threading.Event = field(default_factory=threading.Event)
    seen: Seen = field(default_factory=Seen)
    heard: Callable[[Seen], None] = lambda seen: None
    _ends: dict[tuple[str, int], Position | None] = field(default_factory=dict)
    _done: tuple[Any, ...] | None = None

    def run(self) -> int:
        """Go round until told to stop; the exit code."""
        arguments, wait = self.arguments, float(self.arguments.every)
        while not self.stop.is_set():
            code = self._round()
            self.heard(self.seen)
            quiet = self.seen.trouble is None and not self.seen.waiting and not self.seen.paused
            if arguments.cut_over and quiet:
                return self._cut_over()
            if arguments.once or self.seen.reached:
                return code
            if self.seen.trouble is None:
                wait = float(arguments.every)
            else:
                wait = min(max(wait, 0.2) * 2, max(_LONGEST, float(arguments.every)))
            self.stop.wait(wait)
        self.tell("stopped", position=self.seen.position)
        return EXIT_OK

    def tell(self, event: str, **facts: Any) -> None:
        """Say what happened: a line of text, or of JSON."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        if self.arguments.log_json:
            print(json.dumps({"time": now, "event": event, **facts}), flush=True)
            return
        told = ", ".join(f"{name} {value}" for name, value in facts.items() if value is not None)
        print(f"{now} {event}" + (f": {told}" if told else ""), flush=True)

    # -- a round
    # ---------------------------------------------------------------------------------------------

    def _round(self) -> int:
        """Look once, and apply what is there. Raises what neither passes nor is to be waited
        for."""
        paused = status.is_paused(self.folder)
        if paused != self.seen.paused:
            self.tell("paused" if paused else "resumed")
        self.seen.paused = paused
        if paused:
            return EXIT_OK
        try:
            code = self._apply_what_is_there()
        except (LogReplayError, OSError) as error:
            if not self._passes(error):
                raise
            text = str(error).partition("\n")[0]
            if text != self.seen.trouble:
                self.tell("waiting", because=text)
            self.seen.trouble = text
            return EXIT_ERROR
        if self.seen.trouble is not None:
            self.tell("going on")
        self.seen.trouble = None
        return code

    def _passes(self, error: Exception) -> bool:
        """Whether to wait for an end of some trouble."""
        if isinstance(error, TargetError) and error.code in _PASSING:
            return True
        waits = OnTrouble(self.arguments.on_trouble) is OnTrouble.WAIT
        of_logs = isinstance(error, InputError) or getattr(error, "code", None) in _OF_LOGS
        return waits and (of_logs or isinstance(error, OSError))

    def _apply_what_is_there(self) -> int:
        arguments = self.arguments
        family = source_named(arguments.source)
        found = arrived(
            self.folder, family, Arrival(arguments.arrival), arguments.settle, time.time()
        )
        stand = status.stand(arguments.to)
        pairs = self._needed(found, stand)
        self.seen.waiting = len(found.waiting)
        self.seen.logs = len(found.pairs) + len(found.log)
        self._note(stand)
        state = (found.state, stand)
        if not (pairs or found.log) or state == self._done:
            return EXIT_OK
        code = self._replay(pairs, found.log)
        stand = status.stand(arguments.to)
        self._note(stand)
        self._done = (found.state, stand)
        self._tell_unneeded(found, stand)
        return code

    def _note(self, stand: status.Stand) -> None:
        seen = self.seen
        seen.position = None if stand.position is None else stand.position.hexadecimal
        seen.units, seen.statements, seen.pending = stand.units, stand.statements, stand.pending

    def _needed(self, found: Arrived, stand: status.Stand) -> list[LogPair]:
        ends = [self._end(pair, found) for pair in found.pairs]
        wanted = still_needed(ends, stand.position, bool(stand.pending))
        return [pair for pair, needed in zip(found.pairs, wanted, strict=True) if needed]

    def _end(self, pair: LogPair, found: Arrived) -> Position | None:
        changed = next(when for name, _, when in found.state if name == pair.control)
        key = pair.control, changed
        if key not in self._ends:
            self._ends[key] = stated_end(pair)
        return self._ends[key]

    def _tell_unneeded(self, found: Arrived, stand: status.Stand) -> None:
        """Name the logs that nobody needs any more, once."""
        ends = [self._end(pair, found) for pair in found.pairs]
        needed = still_needed(ends, stand.position, bool(stand.pending))
        unneeded = tuple(
            pair.control for pair, wanted in zip(found.pairs, needed, strict=True) if not wanted
        )
        new = [name for name in unneeded if name not in set(self.seen.unneeded)]
        if new:
            self.tell("no longer needed", logs=len(new), last=new[-1])
        self.seen.unneeded = unneeded

    def _replay(self, pairs: list[LogPair], log: tuple[str, ...]) -> int:
        """Replay into the target what some logs have and it has not."""
        arguments = self._named(pairs, log)
        demand = Demand(options=options_of(arguments), continued=True)
        with WorkFolder() as scratch:
            request = request_of(arguments, scratch, demand, _all_of(arguments), arguments.to)
            until = self._until(request)
            if until is None:
                self.seen.reached = True
                self.tell("reached", position=self.seen.position)
                return EXIT_OK
            wanted = replace(
                replay_request(request, arguments.to, until, replay_words(arguments), True),
                reached=self._between,
            )
            source = replay_input(request, engine_of(arguments, request.log, _quiet))
            with live.plan_replay(source, wanted, arguments.split_mb << 20) as plan:
                if plan.is_empty:
                    code, facts = plan.exit_code, {"units": 0}
                else:
                    report = plan.apply()
                    code = report.exit_code
                    facts = {"units": report.units, "statements": report.statements}
            if facts["units"]:
                self.tell("applied", logs=len(pairs) or len(log), **facts)
            self.seen.reached = self._goes_beyond(request.log, until)
        if self.seen.reached:
            self._note(status.stand(arguments.to))
            self.tell("reached", position=self.seen.position)
        return code

    def _named(self, pairs: list[LogPair], log: tuple[str, ...]) -> argparse.Namespace:
        words = [
            word for pair in pairs for word in (("control", [pair.control]), ("data", pair.data))
        ]
        named = {"in_turn": words, "log": list(log), "logs": [], "continues": True}
        return argparse.Namespace(**{**vars(self.arguments), **named})

    def _until(self, request: Request) -> Destination | None:
        """Where to go with some logs; None where the target is there already, because following
        never goes back."""
        position, name = self.arguments.until_position, self.arguments.until_mark
        last = placed(request, position)
        if name is not None:
            marks = status.stand(self.arguments.to).marks
            last = Destination(None, None, name).commit(LogExtent(), marks)
        if last is not None and (self.seen.position or "") >= last.hexadecimal:
            return None
        return Destination(last, self.arguments.until_time, None)

    def _goes_beyond(self, log: LogFile, until: Destination) -> bool:
        """Whether the logs go up to where a run shall stop."""
        if until.time is None and until.position is None:
            return False
        extent = log_extent(log, until.time)
        if until.position is None:
            return extent.late is not None
        return extent.last is not None and extent.last >= until.position

    def _between(self, point: str) -> None:
        """Where a run may end: a transaction was committed, or none has begun."""
        if point == "committed" and self.stop.is_set():
            raise Stopped

    # -- the end
    # ---------------------------------------------------------------------------------------------

    def _cut_over(self) -> int:
        """Compare the target with what it must hold, when all that arrived is applied."""
        arguments = self.arguments
        found = arrived(
            self.folder,
            source_named(arguments.source),
            Arrival(arguments.arrival),
            arguments.settle,
            time.time(),
        )
        named = self._named(list(found.pairs), found.log)
        demand = Demand(options=options_of(named), continued=True)
        with WorkFolder() as scratch:
            request = request_of(named, scratch, demand, _all_of(named))
            work = replay_input(request, engine_of(named, request.log, _quiet))
            code, _ = verify.compare(
                arguments.to, arguments.expected, work, print, False, None, None, None
            )
        self.tell("equal" if code == EXIT_OK else "not equal", position=self.seen.position)
        return code


def _quiet(stage: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


def _all_of(arguments: argparse.Namespace) -> Selection:
    """The selection without its ends: where a run stops is said to the replay."""
    return replace(selection_of(arguments), until_position=None, until_time=None)


def follow(arguments: argparse.Namespace) -> int:
    """The command."""
    if len(arguments.logs) != 1 or arguments.control or arguments.data or arguments.log:
        raise UsageError(
            "LR1001",
            f"found {len(arguments.logs)} folders to follow; expected one: --logs DIR, without"
            " --control, --data and --log",
        )
    if not Path(arguments.logs[0]).is_dir():
        raise UsageError("LR1004", f"found no folder {arguments.logs[0]}; expected one to follow")
    if arguments.cut_over and arguments.expected is None:
        raise UsageError("LR1001", "found --cut-over without --expected; expected both")
    follower = Follower(arguments, arguments.logs[0])

    def end(number: int, frame: FrameType | None) -> None:
        follower.stop.set()

    former = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        return follower.run()
    except Stopped:
        follower.tell("stopped")
        return EXIT_OK
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
