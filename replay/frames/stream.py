"""A log that goes on: batches of whole units of recovery, one after the other, as logs arrive.

An offset says all that the next batch hangs on: up to which commit position units were taken, which
commit there, which were set aside, and which logs were read. What is set aside is found out when a
batch is planned and stands in its end offset, so that a batch of two offsets has the same rows
whenever it is read, whatever has arrived meanwhile.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from replay import storage
from replay.changes.balance import Tally
from replay.changes.catalog import Catalog
from replay.changes.choices import Gaps, Incomplete
from replay.changes.position import UNIT_POSITION, Position, UnitId, sortable, unit_positions
from replay.changes.selection import Selection
from replay.changes.verdicts import Verdict, Verdicts
from replay.dependencies.baseline import StateBefore
from replay.errors import InputError, UsageError, Where
from replay.frames.batch import LogPart, Prepared, Pushed, check_rows, demand_of, typed_schema
from replay.frames.options import Damage, RowKind, SourceOptions
from replay.leftovers import WorkFolder
from replay.live.target_state import baseline_of
from replay.logs import Inputs, LogPair, source_named
from replay.logs.arrivals import Ahead, arrived, places_held, stated_end, still_needed
from replay.logs.named import natural
from replay.output.bundle import raise_for
from replay.output.continuation import (
    Continuation,
    check_continuation,
    logs_named,
    plan_after,
    where_it_ended,
)
from replay.output.formats import export_request
from replay.output.lake_columns import widened
from replay.output.trial import look_through, try_export
from replay.pipeline import local
from replay.pipeline.late import digest_of_log
from replay.pipeline.packed_records import unpacked
from replay.pipeline.plan import Plan, UnitDecisions
from replay.pipeline.request import Request, open_source
from replay.pipeline.scan import scan_split
from replay.pipeline.taken import TakenUnits

#: What messages call the place where offsets are kept.
_CHECKPOINT = Path("the checkpoint of the stream")


@dataclass(frozen=True)
class Offset:
    """Where a batch ends. ``position`` (hexadecimal, '' before the first): the highest commit that
    was taken; ``units`` those that commit there; ``pending`` those that are set aside, and why;
    ``logs`` all logs that were read, ``read`` those of this batch, by digests of control files (or
    names of files, to which ``digests`` adds those of their contents); ``more``: whether they have
    units behind the position. ``taken``: the units of all batches, ``units_taken`` the last of
    them one by one (:meth:`replay.pipeline.taken.TakenUnits.describe`). ``pending_logs``: the
    digests of the logs that ``pending`` units are in or hang on (None: not known). ``reaches``
    (hexadecimal): where the logs ended, if that is behind ``position``."""

    source: str = ""
    position: str = ""
    units: tuple[str, ...] = ()
    pending: Mapping[str, str] = field(default_factory=dict)
    logs: frozenset[str] = frozenset()
    read: frozenset[str] = frozenset()
    more: bool = False
    taken: int = 0
    digests: frozenset[str] = frozenset()
    units_taken: Sequence[Mapping[str, Any]] = ()
    pending_logs: frozenset[str] | None = None
    reaches: str = ""

    def as_json(self) -> dict[str, Any]:
        """As a stream keeps it: texts, numbers and a dict of texts."""
        return {
            "source": self.source,
            "position": self.position,
            "units": "\n".join(self.units),
            "pending": dict(sorted(self.pending.items())),
            "logs": "\n".join(sorted(self.logs)),
            "read": "\n".join(sorted(self.read)),
            "more": self.more,
            "unitsTaken": self.taken,
            "digests": "\n".join(sorted(self.digests)),
            "takenOneByOne": json.dumps(list(self.units_taken)),
            "pendingLogs": json.dumps(
                None if self.pending_logs is None else sorted(self.pending_logs)
            ),
            "reaches": self.reaches,
        }

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Offset:
        """The inverse of :meth:`as_json`; an older version did not note the last ones."""
        named = json.loads(kept.get("pendingLogs", "null"))
        return cls(
            kept["source"],
            kept["position"],
            tuple(kept["units"].splitlines()),
            dict(kept["pending"]),
            frozenset(kept["logs"].splitlines()),
            frozenset(kept["read"].splitlines()),
            kept["more"],
            kept["unitsTaken"],
            frozenset(kept.get("digests", "").splitlines()),
            json.loads(kept.get("takenOneByOne", "[]")),
            None if named is None else frozenset(named),
            kept.get("reaches", ""),
        )

    def continuation(self) -> Continuation:
        """Where a run that goes on begins."""
        return Continuation(
            _CHECKPOINT,
            {},
            self.source,
            Position.from_hex(self.position) if self.position else None,
            frozenset(map(UnitId.of, self.units)),
            {UnitId.of(unit): why for unit, why in self.pending.items()},
            self.logs | self.digests,
            TakenUnits.of(self.units_taken),
            self.pending_logs,
            Position.from_hex(self.reaches) if self.reaches else None,
        )


@dataclass
class Stream:
    """The batches of a log. ``work`` is a folder for what opening logs makes; ``present`` limits
    what has arrived to these logs (None: whatever is there)."""

    options: SourceOptions
    work: str
    schema: pa.Schema | None = None
    present: frozenset[str] | None = None
    _ends: dict[tuple[str, int], Position | None] = field(default_factory=dict)
    _catalogs: dict[bytes, Catalog] = field(default_factory=dict)
    _digests: dict[tuple[str, int], str] = field(default_factory=dict)
    _changed: dict[str, int] = field(default_factory=dict)
    _ahead: Ahead = field(default_factory=lambda: Ahead(time.monotonic))
    _folders: dict[str, list[WorkFolder]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_stream(self.options)

    # -- what is there
    # ---------------------------------------------------------------------------------------------

    def logs(self) -> dict[str, LogPair]:
        """The logs that are whole, by what they are known by, in the order in which they end (files
        of families without control files: of their names). Errors as those of
        :func:`replay.logs.named.gathered`."""
        options = self.options
        if options.logs is not None and _is_folder(options.logs):
            family = source_named(options.source)
            place = storage.settled(options.logs)
            how, settle = options.arrival, options.settle
            found = arrived(place, family, how, settle, time.time(), self._ahead, time.sleep)
            self._changed = {name: changed for name, _, changed in found.state}
            pairs, files = found.pairs, found.log
        else:
            inputs = options.named()
            pairs, files = inputs.pairs, inputs.log
            if inputs.control is not None:
                pairs = (LogPair(inputs.control, inputs.data),)
        if pairs:
            known = {self._digest(pair): pair for pair in pairs}
            ordered = sorted(known, key=lambda name: self._end(known[name]) or b"\xff" * 10)
            known = {name: known[name] for name in ordered}
        else:
            known = {
                storage.name_of(name): LogPair("", (name,)) for name in sorted(files, key=natural)
            }
        if self.present is None:
            return known
        return {name: pair for name, pair in known.items() if name in self.present}

    def _key(self, pair: LogPair) -> tuple[str, int]:
        if pair.control in self._changed:
            return pair.control, self._changed[pair.control]
        path = Path(pair.control)
        return pair.control, path.stat().st_mtime_ns if path.exists() else 0

    def _digest(self, pair: LogPair) -> str:
        key = self._key(pair)
        if key not in self._digests:
            self._digests[key] = digest_of_log(pair.control)
        return self._digests[key]

    def _end(self, pair: LogPair) -> Position | None:
        if not pair.control or self.options.source != "logmaster":
            return None
        key = self._key(pair)
        if key not in self._ends:
            self._ends[key] = stated_end(pair, self._catalogs)
        return self._ends[key]

    def _wanted(self, start: Offset, there: Mapping[str, LogPair], limited: bool) -> list[str]:
        """Which logs the next batch reads; none where nothing is new."""
        new = [name for name in there if name not in start.logs]
        if not new and not start.more:
            return []
        if limited and self.options.max_logs is not None:
            new = new[: 0 if start.more else self.options.max_logs]
        at = Position.from_hex(start.position) if start.position else None
        ends = [self._end(pair) for pair in there.values()]
        late = at is not None and any(
            end is not None and end <= at
            for name, end in zip(there, ends, strict=True)
            if name in new
        )
        held = None if late else places_held([*there], bool(start.pending), start.pending_logs)
        needed = still_needed(ends, at, held)
        return [
            name
            for name, need in zip(there, needed, strict=True)
            if name in new or (need and name in start.logs)
        ]

    # -- batches
    # ---------------------------------------------------------------------------------------------

    def latest(self, start: Offset, limited: bool) -> Offset:
        """Where the batch behind ``start`` ends; ``start`` where nothing is new. ``limited``:
        within the limits of the options.

        Errors as those of a run that follows logs: InputError LR2037 for a hole, LR2039 for units
        that come late, else as those of an export."""
        there = self.logs()
        names = self._wanted(start, there, limited)
        if not names:
            return start
        with WorkFolder(parent=Path(self.work)) as folder:
            request = self.request([there[name] for name in names], folder)
            before = start.continuation() if start.source else None
            plan = self._plan(request, before)
            first = self._limit(plan, request, limited)
            if first is not None:
                selection = replace(plan.selection, until_position=first)
                plan = replace(plan, selection=selection)
            # the rows before the log are those before the first batch
            known = request if before is None else replace(request, baseline=None)
            with baseline_of(known) as rows:
                state = None if rows is None else StateBefore(rows, compared=False)
                trial = try_export(plan, request.log, local.ENGINE, state=state)
            tally = trial.outcome.tally
            if tally.read:
                raise_for(trial.plan, tally)
            skipped = None if plan.continued is None else plan.continued.skipped
            ended = where_it_ended(
                before, request.log, trial.plan, tally, trial.outcome.results, skipped
            )
        return Offset(
            ended["source"],
            ended["position"] or "",
            tuple(ended["units"]),
            ended["pending"],
            start.logs | frozenset(names),
            frozenset(names),
            first is not None,
            start.taken + tally.units,
            frozenset(ended["logs"]) - start.logs - frozenset(names),
            ended["taken"],
            logs_named(ended),
            ended.get("reaches", ""),
        )

    def parts(self, start: Offset, end: Offset) -> tuple[Prepared, list[LogPart]]:
        """The parts of the batch between two offsets. InputError LR2001 where a log that it was
        planned with is gone."""
        there = self.logs()
        gone = sorted(end.read - there.keys())
        if gone:
            raise InputError(
                "LR2001",
                f"found no log {gone[0]} (and {len(gone) - 1} more); expected those that the batch"
                " was planned with",
                Where(self.options.logs or str(_CHECKPOINT)),
                "Put back the logs that were removed: what was not read to its end is read again"
                " (digests are those of control files, sha256sum, first 16 digits)",
            )
        names = [name for name in there if name in end.read]
        folder = WorkFolder(parent=Path(self.work))
        self._folders.setdefault(_text(end), []).append(folder)
        request = self.request([there[name] for name in names], folder.name)
        plan = self._plan(request, start.continuation() if start.source else None)
        pending = {UnitId.of(unit): Verdict(*_verdict(why)) for unit, why in end.pending.items()}
        held = Verdicts(pending)
        until = Position.from_hex(end.position) if end.position else Position(bytes(10))
        plan = replace(
            plan,
            selection=replace(plan.selection, until_position=until),
            decisions=UnitDecisions(held=held),
            flags_resolved=plan.selection.incomplete is Incomplete.RESOLVE,
        )
        _, _, places = look_through(plan, request.log, local.ENGINE, images=False)
        options = replace(self.options, damage=Damage.FAIL)  # all that is damaged is held
        schema = self.schema if self.schema is not None else typed_schema(request)
        self._check_schema(request, schema)
        found = Prepared(request.log, schema, options, folder.name, plan, places)
        return found, found.parts(Pushed())

    def done(self, end: Offset) -> None:
        """Nobody asks for the batch that ends there any more."""
        for folder in self._folders.pop(_text(end), ()):
            folder.cleanup()

    def close(self) -> None:
        """Nobody asks for anything any more."""
        for folders in self._folders.values():
            for folder in folders:
                folder.cleanup()
        self._folders.clear()

    def request(self, logs: Sequence[LogPair], folder: str) -> Request:
        """What is wanted of some logs, which are opened into a folder. Errors as those of
        :func:`replay.output.formats.export_request`."""
        options = self.options
        demand = replace(demand_of(options), continued=True)
        inputs = inputs_of(options, logs, folder)
        opened = open_source(options.source, inputs, demand, options.selection)
        names = {version.name for version in opened.log.catalog.versions}
        selection = of_tables(options.selection, names)
        return export_request(opened, selection, demand, options.keys)

    def _plan(self, request: Request, before: Continuation | None) -> Plan:
        plan = request.plan(self.options.split_bytes)
        plan = replace(plan, selection=plan.selection.going_on())
        if before is None:
            return plan
        adjoining = self.options.inputs.gaps in (Gaps.WARN, Gaps.ALLOW)
        check_continuation(before, plan, request.log, adjoining)
        return plan_after(plan, request.log, before, self.options.late)

    def _limit(self, plan: Plan, request: Request, limited: bool) -> Position | None:
        """The commit position at which a batch is full; None where all fits."""
        most = self.options.max_units
        if most is None or not limited:
            return None
        seen = [np.zeros(0, UNIT_POSITION)]
        for split in plan.splits:
            for _, block in scan_split(plan, request.log, split, Tally()):
                records = unpacked(block)
                seen.append(np.unique(unit_positions(records["commit"], records["unit"])))
        units = np.unique(np.concatenate(seen))
        if len(units) <= most:
            return None
        commits = np.sort(sortable(np.ascontiguousarray(units).view("u1").reshape(-1, 22)[:, :10]))
        limit = bytes(commits[most - 1]).ljust(Position.SIZE, b"\0")
        return Position(limit) if bytes(commits[-1]).ljust(Position.SIZE, b"\0") > limit else None

    def _check_schema(self, request: Request, schema: pa.Schema) -> None:
        """UsageError (LR1001) where the table has got a column since the stream was begun; Refusal
        LR4006 where one changed its type."""
        if not request.versions:
            return
        if widened(schema, typed_schema(request), request.versions[0].name) != schema:
            raise UsageError(
                "LR1001",
                f"found {request.versions[0].name} with other columns; expected those with which"
                " the stream was begun",
                hint="Start the query again, with the same checkpoint: it then has the"
                " columns of the last log",
            )


def _is_folder(logs: str) -> bool:
    """Whether logs arrive in a place: a folder, or what names in a store begin with."""
    if not storage.is_url(logs):
        return Path(logs).is_dir()
    *_, name = logs.split("/")
    return not (name.lower().endswith(".toml") or "*" in name or storage.at(logs).is_file())


def of_tables(selection: Selection, names: Collection[str]) -> Selection:
    """A selection without what it says of tables that logs, which have those of some ``names``,
    know nothing of: other logs may."""

    def known(glob: str) -> bool:
        return any(map(Selection(tables=(glob,)).takes_table, names))

    taken, left = (
        tuple(filter(known, globs)) for globs in (selection.tables, selection.exclude_tables)
    )
    if selection.tables and names and not taken:
        left = ("*",)
    return replace(selection, tables=taken, exclude_tables=left) if names else selection


def inputs_of(options: SourceOptions, logs: Sequence[LogPair], folder: str) -> Inputs:
    """The inputs of a run over some logs."""
    inputs = replace(options.inputs, scratch=folder, continues=True)
    if logs and logs[0].control and options.source == "logmaster":
        return replace(inputs, pairs=tuple(logs))
    if logs and logs[0].control:
        return replace(inputs, control=logs[0].control, data=logs[0].data)
    return replace(inputs, log=tuple(name for pair in logs for name in pair.data))


def stream_schema(options: SourceOptions, work: str) -> pa.Schema:
    """The schema of the rows of a stream: that of the table in the last logs that have it.
    UsageError LR1001 where none has arrived, LR1004 where none has the table."""
    stream = Stream(options, work)
    there = list(stream.logs().values())
    if not there:
        raise UsageError(
            "LR1001",
            f"found no whole log in {options.logs}; expected at least one, to read the columns"
            " from",
            hint="Wait for the first one, or give the schema: readStream.schema(…)",
        )
    if not there[0].control:  # the tables are told beside the files
        there = [LogPair("", tuple(name for pair in there for name in pair.data))]
    for pair in reversed(there):
        with WorkFolder(parent=Path(work)) as folder:
            request = stream.request([pair], folder)
            if request.versions or options.table is None:
                return typed_schema(request)
    raise UsageError(
        "LR1004",
        f"found no table {options.table} in {len(there):,} log(s); expected a table that these"
        " logs have",
        hint="Wait for a log with it, or give the schema: readStream.schema(…)",
    )


def check_stream(options: SourceOptions) -> None:
    """UsageError (LR1001) for what no stream can go on from."""
    check_rows(options)
    chosen = options.selection
    found = None
    if options.rows is not RowKind.CHANGES:
        found = f"rows = {options.rows}"
    elif chosen.until_time is not None:
        found = "until_time"
    elif chosen.until_position is not None:
        found = "until"
    elif chosen.until_mark is not None:
        found = "until_mark"
    elif options.source == "logmaster-load" and options.logs is not None:
        found = "LOAD files in a folder"
    elif chosen.excepted is not None:
        found = "except"
    elif options.damage is Damage.FAIL:
        found = "damage = fail"
    if found is not None:
        raise UsageError(
            "LR1001",
            f"found {found} in a stream; expected rows = changes (or a table), without an end, of"
            " logs that go on",
        )


def _verdict(text: str) -> tuple[str, str]:
    code, _, rest = text.partition(" ")
    return (code, rest) if code.startswith("LR") else ("", text)


def _text(offset: Offset) -> str:
    return json.dumps(offset.as_json(), sort_keys=True)
