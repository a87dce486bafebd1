"""A log in parts that others read side by side: where each part lies, its rows as Arrow batches,
and which parts a condition leaves out.

What becomes of every record is found out once, before the first part is given out
(:mod:`replay.output.trial`), because a damaged record may hold units of other parts back. What was
found out is kept in a folder, so that the next query of the same log begins to read at once. A
condition decides nothing about changes: it leaves out parts, and whole units of recovery within
them, that no row it asks for can be of.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import socket
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from replay import storage
from replay.arrays import Index, Records
from replay.changes.balance import Tally
from replay.changes.envelope import (
    ENVELOPE,
    Change,
    compare,
    octets,
    opaque,
    take_records,
)
from replay.changes.position import POSITION, leading_words
from replay.dependencies.baseline import StateBefore
from replay.errors import InputError, UsageError, Where, first_finding_error
from replay.frames.options import Damage, RowKind, SourceOptions
from replay.leftovers import WorkFolder
from replay.live.target_state import baseline_of
from replay.logs import Inputs, LogFile, Split, envelope_batch
from replay.logs.unchanged import seen_unchanged
from replay.output.bundle import consequences_told, raise_for, selection_warnings
from replay.output.change_batches import forms_of, is_of, merged
from replay.output.datasets import export_bucket
from replay.output.formats import OPS, export_request
from replay.output.lake_columns import conformed, widened
from replay.output.trial import BucketPlace, Trial, try_export
from replay.pipeline import local
from replay.pipeline.packed_records import packed, unpacked_together
from replay.pipeline.plan import Plan
from replay.pipeline.request import Demand, OpenLog, Request, open_source
from replay.pipeline.scan import BATCH, scan_split

#: The rows of a report: ``kind`` is ``warning``, ``balance`` (``text`` is what became of ``count``
#: log records), ``unit`` (a unit of recovery that is set aside, and why) or ``finding``.
REPORT = pa.schema(
    [
        ("kind", pa.string()),
        ("code", pa.string()),
        ("unit", pa.string()),
        ("count", pa.int64()),
        ("text", pa.string()),
    ]
)
_TO_FAIL = (
    "With option damage = set-aside (the usual) its unit, and what builds on it, is left out and"
    " reported"
)


@dataclass(frozen=True)
class Pushed:
    """What is asked of rows, as far as it helps to read less: the commit positions ``low`` to
    ``high`` (10 octets, both inclusive), the names of operations
    (:data:`replay.output.formats.OPS`) and of tables (OWNER.NAME; of an envelope ``owners`` and
    ``names``), and of an envelope the words for ``kinds`` of change. None: nothing is asked. Other
    rows that a part gives are left to who asks."""

    low: bytes | None = None
    high: bytes | None = None
    ops: frozenset[str] | None = None
    tables: frozenset[str] | None = None
    owners: frozenset[str] | None = None
    names: frozenset[str] | None = None
    kinds: frozenset[str] | None = None

    @property
    def asks(self) -> bool:
        """Whether anything is asked."""
        return self != Pushed()

    def meets(self, low: int, high: int) -> bool:
        """Whether a range of leading octets of positions has one that is asked for."""
        return not (
            (self.low is not None and high < _leading(self.low))
            or (self.high is not None and low > _leading(self.high))
        )

    def versions(self, log: LogFile) -> frozenset[int] | None:
        """The table versions that rows may be of; None: any."""
        if self.tables is None and self.owners is None and self.names is None:
            return None
        every = [version.table for version in log.catalog.versions]
        names = [f"{table.schema}.{table.name}" if table.schema else table.name for table in every]
        if self.tables is not None and not self.tables <= set(names):
            return None  # what is asked for by another name is not told by the table
        return frozenset(
            number
            for number, (table, name) in enumerate(zip(every, names, strict=True))
            if (self.tables is None or name in self.tables)
            and (self.owners is None or table.schema in self.owners)
            and (self.names is None or table.name in self.names)
        )

    def changes(self) -> frozenset[int] | None:
        """The kinds of change that rows may be of; None: any."""
        if self.ops is None:
            return None
        return frozenset(int(change) for change in Change if OPS.get(change) in self.ops)

    def units(self, records: Records, log: LogFile) -> Index:
        """Which sort records (of whole units) are of units that may have a row. A unit is taken
        whole: its rows are numbered."""
        commit = octets(records["commit"])
        taken = np.ones(len(records), bool)
        if self.low is not None:
            taken &= compare(commit, self.low) >= 0
        if self.high is not None:
            taken &= compare(commit, self.high) <= 0
        asked = taken.copy()
        for field_name, wanted in (("change", self.changes()), ("version", self.versions(log))):
            if wanted is not None:
                asked &= np.isin(records[field_name], sorted(wanted))
        if asked.all():
            return np.flatnonzero(taken)
        units = opaque(octets(records["unit"]))
        return np.flatnonzero(taken & np.isin(units, np.unique(units[asked])))


def _leading(position: bytes) -> int:
    return int(leading_words(np.frombuffer(position, POSITION))[0])


@dataclass(frozen=True)
class LogPart:
    """One part: a bucket of changes, a split of records, or (neither) what there is to report."""

    place: BucketPlace | None = None
    split: Split | None = None

    def size(self, plan: Plan | None) -> int:
        """The bytes of the log that hold it (of a log of rows: how many rows)."""
        splits = [self.split] if self.split is not None else []
        if self.place is not None and plan is not None:
            splits = [plan.splits[number] for number in self.place.splits]
        return local.read_size(splits)


@dataclass(frozen=True)
class SplitFacts:
    """What a split of records has: the lowest and the highest commit position as in
    :class:`replay.output.trial.BucketPlace`, table versions, and words for kinds of change."""

    split: Split
    low: int
    high: int
    versions: frozenset[int]
    kinds: frozenset[str]


@dataclass(frozen=True)
class Prepared:
    """A log that is open, and what was found out of the changes that are wanted: ``schema`` of the
    rows, ``plan`` that whoever reads a part carries out (None for an envelope), where its buckets
    lie, ``notes`` for a report. ``folder`` has what opening the log made."""

    log: LogFile
    schema: pa.Schema
    options: SourceOptions
    folder: str
    plan: Plan | None = None
    places: tuple[BucketPlace, ...] = ()
    notes: tuple[tuple[str, str | None, str | None, int | None, str], ...] = ()
    #: The machine on which the log was opened.
    host: str = field(default_factory=socket.gethostname)

    # -- parts
    # ---------------------------------------------------------------------------------------------

    def parts(self, condition: Pushed) -> list[LogPart]:
        """The parts that a condition does not leave out, in the order of commits or records."""
        if self.options.rows is RowKind.REPORT:
            return [LogPart()]
        if self.plan is None:
            return [LogPart(split=split) for split in self._splits(condition)]
        changes, versions = condition.changes(), condition.versions(self.log)
        return [
            LogPart(place)
            for place in self.places
            if condition.meets(place.low, place.high)
            and (changes is None or changes & place.changes)
            and (versions is None or versions & place.versions)
        ]

    def _splits(self, condition: Pushed) -> list[Split]:
        if not condition.asks:
            return [split for split, _, _ in self.log.splits(self.options.split_bytes)]
        versions = condition.versions(self.log)
        return [
            facts.split
            for facts in self._split_facts
            if condition.meets(facts.low, facts.high)
            and (versions is None or versions & facts.versions)
            and (condition.kinds is None or condition.kinds & facts.kinds)
        ]

    @cached_property
    def _split_facts(self) -> list[SplitFacts]:
        kept = Path(self.folder) / "splits.pickle"
        if kept.is_file():
            facts: list[SplitFacts] = pickle.loads(kept.read_bytes())
            return facts
        facts = list(_facts_of_splits(self.log, self.options.split_bytes))
        _keep(kept, facts)
        return facts

    # -- rows
    # ---------------------------------------------------------------------------------------------

    def read(self, part: LogPart, condition: Pushed) -> Iterator[pa.RecordBatch]:
        """The rows of a part. InputError for a log that is damaged where that was to end the
        query, or that is another one now: elsewhere, where a copy may have another time of writing,
        as far as counts tell it."""
        with seen_unchanged(self.log) if self.host == socket.gethostname() else nullcontext():
            yield from self._read(part, condition)

    def _read(self, part: LogPart, condition: Pushed) -> Iterator[pa.RecordBatch]:
        if part.place is not None:
            yield from self._changes(part.place, condition)
        elif part.split is not None:
            for first, offsets, lengths in self.log.records(part.split, BATCH):
                yield envelope_batch(self.log, part.split.file, first, offsets, lengths)
        else:
            rows = [dict(zip(REPORT.names, note, strict=True)) for note in self.notes]
            yield pa.RecordBatch.from_pylist(rows, schema=REPORT)

    def _changes(self, place: BucketPlace, condition: Pushed) -> Iterator[pa.RecordBatch]:
        assert self.plan is not None
        tally = Tally()
        found = [
            block
            for number in place.splits
            for bucket, block in scan_split(self.plan, self.log, self.plan.splits[number], tally)
            if bucket == place.bucket
        ]
        if condition.asks:
            records = unpacked_together(found)
            records = take_records(records, condition.units(records, self.log))
            found = [packed(records.view(np.uint8))] if len(records) else []
        if not found:
            return
        with WorkFolder() as work:
            result = export_bucket(self.plan, self.log, place.bucket, found, Path(work))
            self._check(result.tally, place, condition)
            names = [file.name for file in result.files if is_of(self.schema, file.name)]
            for table in merged([Path(work) / name for name in names], self._fitted):
                yield from table.replace_schema_metadata(None).to_batches()

    def _fitted(self, rows: pa.Table) -> pa.Table:
        """Rows of an earlier form of the table with the columns that it has got since."""
        return rows if rows.schema.equals(self.schema) else conformed(rows, self.schema)

    def _check(self, tally: Tally, place: BucketPlace, condition: Pushed) -> None:
        """InputError for damage where that ends the query, and for a bucket that is not as it was
        found."""
        assert self.plan is not None
        raise_for(self.plan, replace(tally, read=tally.read or 1))  # they were read elsewhere
        held = {str(unit) for unit in self.plan.held}
        new = [finding for finding in tally.findings if finding.where.unit not in held]
        if self.options.damage is Damage.FAIL and new:
            error = first_finding_error(new[0])
            raise InputError(error.code, error.message, error.where, _TO_FAIL)
        if place.written is not None and not condition.asks and tally.statements != place.written:
            raise InputError(
                "LR2001",
                f"found {tally.statements:,} changes where {place.written:,} were before; expected"
                " a log that stays as it is while it is read",
                Where(", ".join(self.log.inputs()[:3])),
                "Read it again",
            )


# -- preparing
# -------------------------------------------------------------------------------------------------


def prepared(options: SourceOptions, work: str) -> Prepared:
    """A log, opened and looked through for what is wanted of it, or what is kept of that in the
    folder ``work``. Errors as those of :func:`replay.pipeline.request.open_source`,
    :func:`replay.output.formats.export_request` and
    :func:`replay.output.change_batches.change_batches`."""
    check_rows(options)
    inputs = options.named()
    kept = Path(work) / f"{_key_of(options, inputs)}.pickle"
    if kept.is_file():
        found: Prepared = pickle.loads(kept.read_bytes())
        return found
    folder = tempfile.mkdtemp(prefix="log-", dir=work)
    inputs = replace(inputs, scratch=folder)
    if options.rows is RowKind.ENVELOPE:
        opened = open_source(options.source, inputs)
        opened.family.admit(opened.log)
        found = Prepared(opened.log, ENVELOPE, options, folder)
    else:
        demand = demand_of(options)
        opened = open_source(options.source, inputs, demand, options.selection)
        found = of_changes(options, opened, demand, folder)
    _keep(kept, found)
    return found


def of_changes(options: SourceOptions, opened: OpenLog, demand: Demand, folder: str) -> Prepared:
    """The changes of a log, looked through."""
    request = export_request(opened, options.selection, demand, options.keys)
    schema = REPORT if options.rows is RowKind.REPORT else typed_schema(request)
    plan = request.plan(options.split_bytes)
    images = options.damage is Damage.SET_ASIDE
    with baseline_of(request) as rows:
        state = None if rows is None else StateBefore(rows)
        trial = try_export(plan, request.log, local.ENGINE, images, state)
    raise_for(trial.plan, trial.outcome.tally)
    notes = tuple(_notes(request, trial))
    return Prepared(request.log, schema, options, folder, trial.plan, trial.places, notes)


def demand_of(options: SourceOptions) -> Demand:
    """What the options want of a log."""
    return Demand(options=options.values, export=options.export, baseline=options.baseline)


def typed_schema(request: Request) -> pa.Schema:
    """The schema of the rows of a request: of a table that got columns within the log, with all of
    them. Refusal LR4006 where a column changed its type."""
    first, *others = forms_of(request)
    for other in others:
        first = widened(first, other, request.versions[0].name)
    return first


def schema_for(options: SourceOptions, work: str) -> pa.Schema:
    """The schema of the rows. Errors as those of :func:`prepared`; row images are not read."""
    check_rows(options)
    if options.rows is not RowKind.CHANGES:
        return REPORT if options.rows is RowKind.REPORT else ENVELOPE
    with tempfile.TemporaryDirectory(dir=work) as folder:
        demand = demand_of(options)
        inputs = replace(options.named(), scratch=folder)
        opened = open_source(options.source, inputs, demand, options.selection)
        return typed_schema(export_request(opened, options.selection, demand, options.keys))


def check_rows(options: SourceOptions) -> None:
    """UsageError (LR1001) for rows that cannot be had as they are asked for."""
    if options.selection.include_aborted:
        raise UsageError(
            "LR1001", "found rolled-back work (include_aborted) among changes in commit order"
        )
    known = {*options.selection.describe(), "table", "except", "baseline"}
    selects = known & options.given.keys()
    if options.rows is RowKind.ENVELOPE and selects:
        found = "table" if "table" in selects else min(selects)
        raise UsageError(
            "LR1001",
            f"found {found} with rows = envelope, which shows every record; expected rows = changes"
            " (or a filter of the frame)",
        )


def _notes(
    request: Request, trial: Trial
) -> Iterator[tuple[str, str | None, str | None, int | None, str]]:
    outcome, tally = trial.outcome, trial.outcome.tally
    warnings = [
        *request.warnings,
        *consequences_told(outcome),
        *([] if outcome.differences is None else outcome.differences.warnings()),
        *outcome.contradictions(),
        *selection_warnings(trial.plan, request.log, tally, local.ENGINE),
    ]
    for text in warnings:
        yield "warning", None, None, None, text
    balance = tally.balance()
    for name in ("read", "emitted", "quarantined", "failed"):
        yield "balance", None, None, balance[name], name
    for reason, count in balance["skipped"].items():
        yield "balance", None, None, count, f"skipped: {reason}"
    for unit, verdict in tally.quarantined_units.items():
        yield "unit", verdict.code or None, str(unit), None, verdict.text
    for finding in sorted(tally.findings, key=str):
        yield "finding", finding.code, finding.where.unit, None, str(finding)


def _key_of(options: SourceOptions, inputs: Inputs) -> str:
    """What tells one preparation from others: the options, and the files as they are."""
    paths = [
        *(path for path in (inputs.control, inputs.catalog) if path),
        *(path for pair in inputs.pairs for path in (pair.control, *pair.data)),
        *inputs.data,
        *inputs.log,
        *(value for value in inputs.options.values() if os.path.exists(value)),
        *([options.schema] if options.schema and os.path.exists(options.schema) else []),
        *_files_of(options.baseline),
    ]
    state: list[object] = []
    for path in paths:
        if storage.is_url(path) or not os.path.exists(path):
            state.append((path, os.urandom(8).hex()))  # nothing tells whether it is the same
            continue
        status = os.stat(path)
        state.append((path, status.st_size, status.st_mtime_ns))
    for place in (options.schema, options.baseline):
        if place is not None and "://" in place:
            state.append(os.urandom(8).hex())
    text = json.dumps([dict(options.given), state, os.getcwd()], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _files_of(folder: str | None) -> list[str]:
    """The files of a state on this machine."""
    if folder is None or not os.path.isdir(folder):
        return []
    return sorted(entry.path for entry in os.scandir(folder) if entry.is_file())


def _keep(path: Path, value: object) -> None:
    """Write a file whole or not at all: other processes look for it."""
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        pickle.dump(value, file)
    os.replace(name, path)


def _facts_of_splits(log: LogFile, split_bytes: int) -> Iterator[SplitFacts]:
    """What each split of a log has, from its headers."""
    for split, _, _ in log.splits(split_bytes):
        low, high, versions, kinds = 2**64 - 1, 0, set[int](), set[str]()
        for _, offsets, lengths in log.records(split, BATCH):
            envelope = log.envelope(split.file, offsets, lengths)
            words = leading_words(opaque(envelope.commit()))
            low, high = min(low, int(words.min())), max(high, int(words.max()))
            versions.update(np.unique(log.classify(envelope)[1]).tolist())
            kinds.update(log.record_fields(envelope)["change_type"].unique().to_pylist())
        yield SplitFacts(split, low, high, frozenset(versions), frozenset(kinds))
