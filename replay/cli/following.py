"""``logreplay follow``: a folder is watched, and a target or an export brought up to date as logs
arrive."""

from __future__ import annotations

import argparse
import datetime
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from replay import storage
from replay.changes.catalog import Catalog
from replay.changes.choices import Arrival, OnTrouble
from replay.changes.position import Position
from replay.cli.follow_sinks import (
    DatabaseReceiver,
    ExportReceiver,
    Receiver,
    Stopped,
    all_of,
    reading_of,
)
from replay.cli.outcome import full_place
from replay.cli.request import LogInput, export_of, live_options_of, mapping_of
from replay.cli.stopping import told_to_stop
from replay.errors import (
    EXIT_ERROR,
    EXIT_OK,
    EXIT_WARNING,
    InputError,
    LogReplayError,
    UsageError,
    cause_of,
    counted,
)
from replay.live import status, verify
from replay.live.replay_request import input_of
from replay.logs import LogPair, source_named
from replay.logs.arrivals import (
    Arrived,
    arrived,
    in_turn,
    places_held,
    stated_end,
    still_needed,
)
from replay.logs.files import control_name, control_names
from replay.pipeline.request import Demand
from replay.temp_folders import WorkFolder

#: Codes of errors that pass: the target is down, or another run is under way.
_PASSING = ("LR4003", "LR4004")
#: Codes of errors of logs that are damaged or missing.
_OF_LOGS = ("LR4007",)
#: That of logs with units that count as taken and are in no log that was given.
_PASSED = "LR2039"
#: Seconds between two tries at most.
_LONGEST = 60.0


@dataclass
class Folder:
    """What is known of a folder that is followed: how many ``logs`` are whole, how many files are
    ``waiting`` to be, which logs nobody needs any more, whether it is ``paused``, when it was
    looked at (seconds since 1970), and where no log is there, why."""

    logs: int = 0
    waiting: int = 0
    unneeded: tuple[str, ...] = ()
    paused: bool = False
    looked_at: float = 0.0
    without_logs: str | None = None


@dataclass
class Follower:
    """Follows a folder. ``stop`` ends it between two transactions; ``heard`` is called after each
    look."""

    arguments: argparse.Namespace
    folder: str
    stop: threading.Event = field(default_factory=threading.Event)
    seen: Folder = field(default_factory=Folder)
    heard: Callable[[], None] = lambda: None
    receivers: list[Receiver] = field(default_factory=list)
    _ends: dict[tuple[str, int], Position | None] = field(default_factory=dict)
    _catalogs: dict[bytes, Catalog] = field(default_factory=dict)
    _done: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    _held: tuple[str, ...] = ()
    _waited_for: str | None = None

    def __post_init__(self) -> None:
        if self.arguments.to is not None:
            self.receivers.append(DatabaseReceiver(self.arguments, self.stop.is_set))
        if self.arguments.export is not None:
            self.receivers.append(ExportReceiver(self.arguments, self.stop.is_set))

    def run(self) -> int:
        """Go round until told to stop; the exit code."""
        arguments, wait = self.arguments, float(self.arguments.every)
        while not self.stop.is_set():
            code = self._round()
            self.heard()
            trouble = any(receiver.seen.trouble for receiver in self.receivers)
            quiet = not trouble and not self.seen.waiting and not self.seen.paused
            if arguments.cut_over and quiet:
                return self._cut_over()
            if arguments.cut_over and not trouble:
                self._tell_cut_over_waits()
            reached = all(receiver.seen.reached for receiver in self.receivers)
            if arguments.once or reached:
                return code
            if not trouble:
                wait = float(arguments.every)
            else:
                wait = min(max(wait, 0.2) * 2, max(_LONGEST, float(arguments.every)))
            self.stop.wait(wait)
        self.tell("stopped", position=self._position())
        return EXIT_OK

    def tell(self, event: str, **facts: Any) -> None:
        """Say what happened: a line of text, or of JSON, which has lists too. Why (``because``) is
        a sentence, and stands alone in text."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        if self.arguments.log_json:
            print(json.dumps({"time": now, "event": event, **facts}), flush=True)
            return
        why = facts.pop("because", None)
        plain = {name: value for name, value in facts.items() if not isinstance(value, list)}
        told = ", ".join(f"{name} {value}" for name, value in plain.items() if value is not None)
        print(f"{now} {event}" + "".join(f": {one}" for one in (told, why) if one), flush=True)

    def _tell_of(self, receiver: Receiver, event: str, **facts: Any) -> None:
        """Say what happened to one of several receivers, which is named then."""
        named = {"of": receiver.name} if len(self.receivers) > 1 else {}
        self.tell(event, **named, **facts)

    def _position(self) -> str | None:
        """The position of the receiver that has least."""
        return min(receiver.seen.position or "" for receiver in self.receivers) or None

    # -- a round
    # ---------------------------------------------------------------------------------------------

    def _round(self) -> int:
        """Look once, and bring every receiver up to what is there. Raises what neither passes nor
        is to be waited for."""
        paused = self._is_paused()
        if paused != self.seen.paused:
            self.tell("paused" if paused else "resumed")
        self.seen.paused, self.seen.looked_at = paused, time.time()
        if paused:
            with suppress(OSError):  # a store that is away, for which the pause is not ended
                found = self._look()
                for receiver in self.receivers:
                    self._measure_lag(receiver, found, {})
            return EXIT_OK
        codes, needed = [EXIT_OK], []
        for receiver in self.receivers:
            if receiver.seen.reached:
                continue
            seen = receiver.seen
            try:
                code, wanted = self._bring(receiver)
            except (LogReplayError, OSError) as error:
                if not self._passes(error):
                    raise
                text = str(error).partition("\n")[0]
                if isinstance(error, OSError) and error.errno is not None:
                    text = f"LR1006 found {cause_of(error)}{full_place(error, self.arguments)}"
                code_of = str(getattr(error, "code", "LR1006"))
                seen.errors[code_of] = seen.errors.get(code_of, 0) + 1
                seen.last_error = text
                if text != seen.trouble:
                    self._tell_of(receiver, "waiting", because=text)
                seen.trouble = text
                codes.append(EXIT_ERROR)
                continue
            if seen.trouble is not None:
                self._tell_of(receiver, "going on")
            seen.trouble = None
            codes.append(code)
            needed.append(wanted)
        if len(needed) == len(self.receivers):
            self._tell_unneeded(needed)
        return max(codes)

    def _is_paused(self) -> bool:
        """Whether the folder is paused; as before, where a store that is away does not tell."""
        try:
            return status.is_paused(self.folder)
        except (LogReplayError, OSError):
            if not storage.is_url(self.folder):
                raise
            return self.seen.paused

    def _passes(self, error: Exception) -> bool:
        """Whether to wait for an end of some trouble."""
        code = getattr(error, "code", None)
        if code in _PASSING:
            return True
        waits = OnTrouble(self.arguments.on_trouble) is OnTrouble.WAIT
        of_logs = isinstance(error, InputError) or code in _OF_LOGS
        return waits and (of_logs or isinstance(error, OSError))

    def _look(self) -> Arrived:
        arguments = self.arguments
        how, family = Arrival(arguments.arrival), source_named(arguments.source)
        found = arrived(self.folder, family, how, arguments.settle, time.time())
        if not found.under_way:
            return found
        changed = {name: when for name, _, when in found.state}
        ends = {
            pair.control: self._end(pair.control, changed[pair.control]) for pair in found.pairs
        }
        for control, when in found.under_way:
            try:
                ends[control] = self._end(control, when)
            except (InputError, OSError):  # it is not all there
                ends[control] = None
        return in_turn(found, ends)

    def _bring(self, receiver: Receiver) -> tuple[int, dict[str, bool]]:
        """Bring a receiver up to what is there; the exit code, and which logs it needs then, by
        control file."""
        found = self._look()
        self._note_files(found)
        self._measure_lag(receiver, found, {})
        stand = receiver.stand()
        needed = self._needed(receiver, found, stand)
        self._measure_lag(receiver, found, needed)
        pairs = [pair for pair in found.pairs if needed[pair.control]]
        state = (found.state, stand)
        if not (pairs or found.log) or state == self._done.get(receiver.name):
            return EXIT_OK, needed
        lag, began = receiver.seen.lag_seconds(time.time()), time.perf_counter()
        try:
            taken = receiver.take(pairs, found.log)
        except InputError as error:
            if error.code != _PASSED or len(pairs) == len(found.pairs):
                raise
            # a log may overlap, or repeat, one that was read long ago
            taken = receiver.take(found.pairs, found.log)
        seconds = time.perf_counter() - began
        stand = receiver.stand()
        if taken.units:
            receiver.seen.rate = taken.units / max(seconds, 1e-6)
            receiver.seen.applied_at = time.time()
            receiver.seen.new_units += taken.units
            receiver.seen.new_changes += taken.changes
            measured = {"units_per_second": round(receiver.seen.rate, 1), "lag_seconds": lag}
            measured |= {"pending": receiver.seen.pending, "held": receiver.seen.held}
            logs = len(pairs) or len(found.log)
            self._tell_of(receiver, "applied", logs=logs, **taken.facts, **measured)
        if receiver.seen.reached:
            self._tell_of(receiver, "reached", position=receiver.seen.position)
        self._done[receiver.name] = found.state, stand
        self._measure_lag(receiver, found, {})
        return taken.code, self._needed(receiver, found, stand)

    def _note_files(self, found: Arrived) -> None:
        """Note what is there. Where no log is, that is said once, and once more where files wait
        by then: a name may be mistyped, or the names of two files may not fit, and nothing else
        would tell."""
        before = self.seen.without_logs is not None, self.seen.waiting > 0
        if found.held and found.held != self._held:
            self.tell("waiting", because=_what_is_held(found))
        self._held = found.held
        self.seen.waiting = len(found.waiting)
        self.seen.logs = len(found.pairs) + len(found.log)
        self.seen.without_logs = _without_logs(self.folder, found)
        if self.seen.without_logs is not None and before != (True, bool(found.waiting)):
            self.tell("no log", because=self.seen.without_logs)

    def _measure_lag(self, receiver: Receiver, found: Arrived, needed: Mapping[str, bool]) -> None:
        """Note how much has arrived and is not applied by this receiver: what no run that came to
        its end has seen, without the logs that are known not to be ``needed``."""
        done = set(self._done[receiver.name][0]) if receiver.name in self._done else set()
        past = {
            name
            for pair in found.pairs
            if not needed.get(pair.control, True)
            for name in (pair.control, *pair.data)
        }
        left = [entry for entry in found.state if entry not in done and entry[0] not in past]
        receiver.seen.lag_bytes = sum(size for _, size, _ in left)
        receiver.seen.oldest = min((changed / 1e9 for _, _, changed in left), default=None)

    def _needed(self, receiver: Receiver, found: Arrived, stand: status.Stand) -> dict[str, bool]:
        """Which logs a receiver needs, by control file: all of them while one is there that ends
        before its position and that it has not read, for what that has may be in another one (and
        where two begin with the same control file, only their data tell which was read); all from
        the first one on that has what is quarantined."""
        sizes = {name: size for name, size, _ in found.state}
        changed = {name: when for name, _, when in found.state}
        ends = [self._end(pair.control, changed[pair.control]) for pair in found.pairs]
        names = [self._name(pair, changed[pair.control], sizes) for pair in found.pairs]
        there, known = control_names(names), control_names(stand.logs)
        unread = stand.position is not None and not all(
            there[name] == known[name] == 1
            for name, end in zip(names, ends, strict=True)
            if end is not None and end <= stand.position
        )
        held = None if unread else places_held(names, bool(stand.pending), stand.pending_logs)
        wanted = still_needed(ends, stand.position, held)
        return {pair.control: needed for pair, needed in zip(found.pairs, wanted, strict=True)}

    def _end(self, control: str, changed: int) -> Position | None:
        if (control, changed) not in self._ends:
            self._ends[control, changed] = stated_end(control, self._catalogs)
        return self._ends[control, changed]

    @staticmethod
    def _name(pair: LogPair, changed: int, sizes: Mapping[str, int]) -> str:
        """How the name of a log begins; how long what is packed is, is not known."""
        packed = any(name.lower().endswith(".gz") for name in pair.data)
        size = None if packed else sum(sizes[name] for name in pair.data)
        state = (sizes[pair.control], changed) if changed else None
        return control_name(pair.control, size, state)

    def _tell_unneeded(self, needed: Sequence[Mapping[str, bool]]) -> None:
        """Name the logs that no receiver needs any more, once."""
        unneeded = tuple(
            control for control in needed[0] if not any(one.get(control, True) for one in needed)
        )
        told = set(self.seen.unneeded)
        new = [name for name in unneeded if name not in told]
        if new:
            self.tell("no longer needed", logs=len(new), last=new[-1], names=new)
        self.seen.unneeded = unneeded

    # -- the end
    # ---------------------------------------------------------------------------------------------

    def _cut_over(self) -> int:
        """Compare the target with what it must hold, when all that arrived is applied."""
        arguments, found = self.arguments, self._look()
        if (without := _without_logs(self.folder, found)) is not None:
            expected = "expected all that the target was replayed from"
            raise UsageError("LR1004", f"found no log: {without}; {expected}")
        selection = all_of(arguments)
        reading = reading_of(LogInput.of(arguments), found.pairs, found.log)
        options = live_options_of(arguments, arguments.to, selection)
        with WorkFolder() as scratch:
            demand = Demand(options=options, mapping=mapping_of(arguments), continued=True)
            request = reading.request(scratch, demand, selection)
            work = input_of(request, reading.engine_for(request.log, _quiet))
            code, _ = verify.compare(
                arguments.to,
                arguments.expected,
                work,
                print,
                False,
                None,
                None,
                None,
                arguments.csv,
            )
        pending = max(receiver.seen.pending for receiver in self.receivers)
        self.tell(
            "not equal" if code == EXIT_ERROR else "equal",
            position=self._position(),
            pending=pending,
        )
        return max(code, EXIT_WARNING if pending else EXIT_OK)

    def _tell_cut_over_waits(self) -> None:
        """Say once which files a cut-over waits for, that are not whole."""
        waiting = self._look().waiting if self.seen.waiting else []
        because = f"before the cut-over, {_what_waits(waiting)}" if waiting else None
        if because is not None and because != self._waited_for:
            self.tell("waiting", because=because)
        self._waited_for = because


def _without_logs(folder: str, found: Arrived) -> str | None:
    """What to say of a folder, or a place in a store, that has no whole log."""
    if found.pairs or found.log:
        return None
    if not found.waiting:
        return f"no file of a log is in {folder} yet (or the name is mistyped)"
    return f"in {folder} {_what_waits(found.waiting)}"


def _what_is_held(found: Arrived) -> str:
    """What to say of logs that come behind one that is not whole."""
    first = next(name for name in found.waiting if name not in found.held)
    return (
        f"{counted(len(found.held), 'log')}, the first {storage.name_of(found.held[0])}, after one"
        f" that is not whole yet ({storage.name_of(first)}): logs are taken in the order of their"
        " positions"
    )


def _what_waits(waiting: Sequence[str]) -> str:
    files = "1 file waits" if len(waiting) == 1 else f"{len(waiting)} files wait"
    return (
        f"{files} to be whole, or for the other half (control file or data), such as"
        f" {storage.name_of(waiting[0])}"
    )


def _quiet(stage: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


def _check(arguments: argparse.Namespace) -> None:
    """UsageError (LR1001, LR1002, LR1004) for options that contradict each other."""
    if len(arguments.logs) != 1 or arguments.control or arguments.data or arguments.log:
        raise UsageError(
            "LR1001",
            f"found {len(arguments.logs)} folders to follow; expected one: --logs DIR, without"
            " --control, --data and --log",
        )
    folder = storage.at(arguments.logs[0])
    if isinstance(folder, Path) and not folder.is_dir():
        raise UsageError("LR1004", f"found no folder {arguments.logs[0]}; expected one to follow")
    if arguments.to is None and arguments.export is None:
        raise UsageError("LR1001", "found neither --to nor --export; expected one of them or both")
    if arguments.cut_over and (arguments.expected is None or arguments.to is None):
        missing = "--expected" if arguments.expected is None else "--to"
        raise UsageError("LR1001", f"found --cut-over without {missing}; expected both")
    if arguments.export is None:
        return
    export_of(arguments)
    for name in ("until_time", "until_mark"):
        if getattr(arguments, name) is not None:
            raise UsageError(
                "LR1001",
                f"found --{name.replace('_', '-')} with --export; expected --until-lrsn: an"
                " export cannot continue from a time or from a mark of a database",
            )


def follow(arguments: argparse.Namespace) -> int:
    """The command."""
    stop = threading.Event()
    with told_to_stop(stop):
        _check(arguments)
        follower = Follower(arguments, storage.settled(arguments.logs[0]), stop)
        if arguments.metrics_port is None:
            return _until_stopped(follower)
        from replay.cli.monitoring import Monitor

        with Monitor(follower, arguments.metrics_host, arguments.metrics_port) as monitor:
            follower.tell("listening", at=f"http://{monitor.address}")
            return _until_stopped(follower)


def _until_stopped(follower: Follower) -> int:
    try:
        return follower.run()
    except Stopped:
        follower.tell("stopped")
        return EXIT_OK
