"""The plan of a run, as data: what is selected, in which mode, cut into which splits (to read) and buckets (to write).

A plan is made before anything is rendered and does not depend on the number of cores or partitions; two engines that follow one plan
write the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from replay.changes import Envelope, opaque
from replay.errors import UsageError
from replay.keys import unit_hash
from replay.logs import LogFile, Split
from replay.selection import BUILT_ON, CHOSEN_BY, INCOMPLETE, NOT_ASKED, REASON, Facts, Selection, Verdicts, decide
from sqlgen.constraints import Constraints
from sqlgen.mapping import TableMap
from sqlgen.statements import RenderOptions
from sqlgen.upsert import check_keys

#: Of this many records one is looked at to place the bounds of the buckets.
SAMPLE_EVERY = 64


@dataclass(frozen=True)
class ScriptOptions:
    """How scripts are written. ``commit_every`` units share a target transaction; a file holds about ``records_per_file`` records. ``mapping`` says
    what tables and columns become (its exclusions stand in ``render`` too)."""

    dialect: str = "postgres"
    names: str = "lower"
    commit_every: int = 1
    records_per_file: int = 250_000
    trace: bool = False
    strict: bool = False
    render: RenderOptions = field(default_factory=RenderOptions)
    mapping: TableMap | None = None

    @property
    def masked(self) -> frozenset[str]:
        """The columns (OWNER.NAME.COLUMN) whose values are masked."""
        return frozenset() if self.mapping is None else self.mapping.masked()


@dataclass(frozen=True)
class Export:
    """What is written in place of scripts. ``format`` is one of :data:`replay.formats.FORMATS`. ``types`` (Parquet): ``portable``, or ``native`` where
    Arrow has a closer type that not every reader knows; ``null`` (CSV): what stands for null; ``schemas`` (Debezium): ``inline`` in every event,
    or ``apart`` in the manifest. ``source`` names the database that wrote the log; ``unknown``: facts (:data:`replay.logs.FACTS`) that the log cannot
    tell."""

    format: str
    types: str = "portable"
    null: str = ""
    schemas: str = "inline"
    source: str = ""
    unknown: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Resolved:
    """What the dependency graph decided about units; it has the last word over the selection.

    ``held``: unit -> why it is set aside. ``dropped``: unit -> why it is left out, one of :data:`replay.selection.REASONS`. ``added``: units
    taken whole although they are not selected. ``left``: places (:func:`place_of`, rising) of changes left out because others built on them.
    ``only``: when given, all other units are left out.
    """

    held: Mapping[bytes, str] = field(default_factory=dict)
    dropped: Mapping[bytes, str] = field(default_factory=dict)
    added: frozenset[bytes] = frozenset()
    left: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    only: frozenset[bytes] | None = None

    def judge(self, verdict: Verdicts, envelope: Envelope, file: int, offsets: npt.NDArray[np.int64]) -> Verdicts:
        """The verdicts of the selection for some records of a file, corrected."""
        verdict = verdict.copy()
        mark = self._marks(envelope.unit())
        verdict[(mark == _ADDED) & np.isin(verdict, CHOSEN_BY)] = 0
        verdict[(verdict == 0) & np.isin(place_of(file, offsets), self.left)] = REASON[BUILT_ON]
        told = (mark > 0) & (mark != _ADDED)
        verdict = np.where((verdict == 0) & told, mark, verdict)
        if self.only is not None:
            verdict[(verdict == 0) & (mark != _ADDED)] = REASON[NOT_ASKED]
        return verdict

    def _marks(self, units: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        known, hashes, codes = self._known
        if not len(known):
            return np.zeros(len(units), np.uint8)
        place = np.minimum(np.searchsorted(hashes, unit_hash(units)), len(hashes) - 1)
        return np.where(opaque(known)[place] == opaque(units), codes[place], 0).astype(np.uint8)

    @cached_property
    def _known(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint64], npt.NDArray[np.uint8]]:
        """(units, their hashes rising, what they are marked with)."""
        marks = dict.fromkeys(self.added | (self.only or frozenset()), _ADDED)
        marks |= {unit: REASON[reason] for unit, reason in self.dropped.items()}
        marks |= dict.fromkeys(self.held, INCOMPLETE)
        units = np.frombuffer(b"".join(marks), np.uint8).reshape(-1, 12)
        hashes = unit_hash(units)
        rising = np.argsort(hashes)
        return units[rising], hashes[rising], np.array(list(marks.values()), np.uint8)[rising]


#: The mark of a unit that is taken whatever the selection says.
_ADDED = 253


def place_of(file: int, offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The place of records of a file as one number."""
    return (offsets << 16) | file


@dataclass(frozen=True)
class Plan:
    """``mode`` is ``redo`` (forward) or ``undo`` (inverse, reverse order). ``bounds`` are the first 8 bytes of the highest commit position of
    each bucket but the last, rising. ``quarantine`` holds units known to be contradictory. ``version_taken`` says per table version
    whether ``--table`` and ``--exclude-table`` take it; ``resolved`` what the dependency graph decided, None when nobody asked it;
    ``flags_resolved``: it named the incomplete units, so the log's flags count no more;
    ``constraints`` what is known of the tables' unique and foreign keys. ``steps``: each script gets what :mod:`replay.steps` describes;
    ``prepared``: its statements are calls of prepared ones (:mod:`sqlgen.shapes`). ``units_stay_out``: units were set aside that may have written later.
    ``export``: datasets are written, not scripts."""

    mode: str
    selection: Selection
    options: ScriptOptions
    splits: tuple[Split, ...]
    bounds: npt.NDArray[np.uint64]
    version_taken: npt.NDArray[np.bool_]
    quarantine: frozenset[bytes] = frozenset()
    resolved: Resolved | None = None
    flags_resolved: bool = False
    constraints: Constraints = field(default_factory=Constraints)
    steps: bool = False
    prepared: bool = False
    export: Export | None = None
    units_stay_out: bool = False

    @property
    def whole_rows(self) -> bool:
        """Whether the image of a row that an upsert writes holds what the target shall hold then, in every column: no change stays out of the
        scripts that came before it (redo) or after it (undo)."""
        chosen = self.selection
        limits = ("ops", "units", "authids", "plans", "correlations", "connections", "members", "where", "until_time", "excepted")
        if any(getattr(chosen, name) for name in limits) or chosen.incomplete == "quarantine":
            return False
        return self.mode == "redo" or not (chosen.until_position or chosen.from_time or self.units_stay_out)

    @property
    def buckets(self) -> int:
        """Number of output files at most (a bucket without statements writes none)."""
        return len(self.bounds) + 1

    def bucket_of(self, commit: npt.NDArray[np.void]) -> npt.NDArray[np.int64]:
        """The bucket of each commit position. Units that share a commit position share a bucket."""
        return np.searchsorted(self.bounds, commit_prefix(commit), side="left").astype(np.int64)

    def file_name(self, bucket: int) -> str:
        """Name of a bucket's script; sorted names are the order to run them in."""
        place = bucket if self.mode == "redo" else self.buckets - 1 - bucket
        apart = "quarantined-" if self.resolved is not None and self.resolved.only is not None else ""
        return f"{place:04d}-{apart}{self.mode}.sql"


def commit_prefix(commit: npt.NDArray[np.void]) -> npt.NDArray[np.uint64]:
    """The first 8 of the 10 bytes of commit positions, as integers that sort alike."""
    raw = np.ascontiguousarray(commit).view(np.uint8).reshape(len(commit), commit.dtype.itemsize)
    return np.ascontiguousarray(raw[:, :8]).view(">u8").astype(np.uint64).reshape(-1)


def make_plan(log: LogFile, mode: str, selection: Selection, options: ScriptOptions, split_bytes: int = 128 << 20) -> Plan:
    """Index the data files, sample the commit positions of what is selected, and cut.

    Raises InputError where a file's framing is damaged; UsageError (LR1001) and SqlgenError (LR3013) for an upsert that cannot be had.
    """
    if options.render.upsert:
        _check_upsert(selection, options)
        check_keys(version.table for version in log.catalog.versions if version.table.columns and selection.takes_table(version.name))
    taken = np.array([selection.takes_table(f"{v.table.schema}.{v.table.name}") for v in log.catalog.versions] or [False], bool)
    samples: list[npt.NDArray[np.uint64]] = []
    splits: list[Split] = []
    for split, offsets, lengths in log.splits(split_bytes):
        splits.append(split)
        phase = -(split.first_record - 1) % SAMPLE_EVERY
        chosen, chosen_lengths = offsets[phase::SAMPLE_EVERY], lengths[phase::SAMPLE_EVERY]
        if not len(chosen):
            continue
        envelope = log.envelope(split.file, chosen, chosen_lengths)
        change, version = log.classify(envelope)
        verdict = decide(selection, envelope, Facts(change, version, taken, log.dependent_position))
        kept = (verdict == 0) & (verdict != INCOMPLETE)
        commit = np.ascontiguousarray(envelope.commit()[kept])
        samples.append(commit_prefix(commit.view("V10").reshape(-1)))
    sample = np.sort(np.concatenate(samples)) if samples else np.zeros(0, np.uint64)
    files = max(1, -(-len(sample) * SAMPLE_EVERY // options.records_per_file))
    cuts = sample[[len(sample) * k // files for k in range(1, files)]] if len(sample) else sample
    return Plan(mode, selection, options, tuple(splits), np.unique(cuts), taken)


def _check_upsert(selection: Selection, options: ScriptOptions) -> None:
    """UsageError (LR1001) for what a script that may be applied again cannot be combined with."""
    again = "may be applied again"
    for option, found, expected, why in (
        (
            "--where-columns",
            options.render.where_columns,
            "key",
            f"A script that {again} finds rows by their key alone: what they hold differs",
        ),
        ("--ri", selection.ri, "apply", f"What the target's foreign keys do by themselves is not the same when a script {again}"),
        ("--triggers", selection.triggers, "apply", f"The target's triggers would act each time that a script {again}"),
    ):
        if found != expected:
            raise UsageError("LR1001", f"found --upsert with {option} {found}; expected {expected}", hint=why)
    if selection.cascade == "force":
        hint = "It would put the former row in the place of one that a later change made; undo the later changes too (--cascade all)"
        raise UsageError("LR1001", "found --upsert with --cascade force; expected none, all or non-conflicting", hint=hint)
