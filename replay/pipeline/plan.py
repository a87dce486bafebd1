"""The plan of a run, as data: what is selected, in which mode, cut into which splits (to read) and
buckets (to write).

A plan is made before anything is rendered and does not depend on the number of cores or partitions;
two engines that follow one plan write the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from replay.arrays import Bytes, Hashes, Index, Lengths, Mask, Records
from replay.changes.balance import Tally
from replay.changes.choices import EngineName, Mode
from replay.changes.envelope import Envelope, as_bytes, opaque
from replay.changes.options import Export, ScriptOptions
from replay.changes.position import (
    UNIT_POSITION,
    UNIT_POSITION_FIELDS,
    Position,
    UnitId,
    commit_of,
    leading_words,
    unit_of,
)
from replay.changes.selection import (
    BUILT_ON,
    CHOSEN_BY,
    INCOMPLETE,
    NOT_ASKED,
    REASON,
    TAKEN_BEFORE,
    RecordFacts,
    Selection,
    VerdictCodes,
    decide,
)
from replay.changes.units import AppliedUnits, UnitTable, Verdicts, unit_column
from replay.decoding.hashes import unit_hash
from replay.engine.contract import Engine
from replay.errors import UsageError
from replay.logs import LogFile, Split
from replay.logs.files import seen_unchanged
from replay.pipeline.input_digests import FileDigest
from sqlgen.errors import settle_choices
from sqlgen.lazy_imports import when_used
from sqlgen.schema import Constraints

if TYPE_CHECKING:
    from sqlgen.type_capacity import ValueLimit

with when_used():  # for Spark
    from replay.pipeline import range_walk


@dataclass(frozen=True)
class UnitDecisions:
    """What the dependency graph decided about units; it has the last word over the selection.

    ``held``: unit -> why it is set aside. ``dropped``: unit -> why it is left out, an index of
    :data:`replay.changes.selection.REASONS`. ``added``: units taken whole although they are not
    selected. ``left``: places (:func:`places_of`, rising) of changes left out because others built
    on them. ``unlike``: places of changes whose row is not as their images show it, because changes
    of its other columns are not written. ``only``: when given, all other units are left out.
    """

    held: Verdicts = field(default_factory=Verdicts)
    dropped: Mapping[UnitId, int] = field(default_factory=dict)
    added: frozenset[UnitId] = frozenset()
    left: Index = field(default_factory=lambda: np.zeros(0, np.int64))
    unlike: Index = field(default_factory=lambda: np.zeros(0, np.int64))
    only: Set[UnitId] | None = None

    def __getstate__(self) -> dict[str, Any]:
        # texts may be long, and tasks need none
        return {**self.__dict__, "held": self.held.without_texts()}

    def judge(
        self, verdict: VerdictCodes, envelope: Envelope, file: Index | int, offsets: Index
    ) -> VerdictCodes:
        """The verdicts of the selection for some records of a file (or each of its own),
        corrected."""
        verdict = verdict.copy()
        mark = self._marks(envelope.unit())
        verdict[(mark == _ADDED) & np.isin(verdict, CHOSEN_BY)] = 0
        verdict[(verdict == 0) & np.isin(places_of(file, offsets), self.left)] = REASON[BUILT_ON]
        decided = (mark > 0) & (mark != _ADDED)
        verdict = np.where((verdict == 0) & decided, mark, verdict)
        if self.only is not None:
            verdict[(verdict == 0) & (mark != _ADDED)] = REASON[NOT_ASKED]
        return verdict

    def _marks(self, units: Bytes) -> Bytes:
        marked, hashes, codes = self._marked
        if not len(marked):
            return np.zeros(len(units), np.uint8)
        place = np.minimum(np.searchsorted(hashes, unit_hash(units)), len(hashes) - 1)
        return np.where(opaque(marked)[place] == opaque(units), codes[place], 0).astype(np.uint8)

    @cached_property
    def _marked(self) -> tuple[Bytes, Hashes, Bytes]:
        """(units, their hashes rising, what they are marked with)."""
        marked = _Marks()
        for some, mark in (
            (self.added, _ADDED),
            (self.only or (), _ADDED),
            (self.dropped, np.array(list(self.dropped.values()), np.uint8)),
            (self.held, INCOMPLETE),
        ):
            column = unit_column(some)
            marked.put(column, np.broadcast_to(np.uint8(mark), len(column)))
        units, marks = marked.units().column(), marked.columns()[1]
        hashes = unit_hash(as_bytes(units))
        rising = np.argsort(hashes)
        return as_bytes(units)[rising], hashes[rising], marks[rising]


class _Marks(UnitTable[int]):
    DTYPES = (np.uint8,)


#: The mark of a unit that is taken whatever the selection says.
_ADDED = 253


def places_of(file: Index | int, offsets: Index) -> Index:
    """The place of records of a file as one number each."""
    return (offsets << 16) | file


@dataclass(frozen=True)
class Plan:
    """What a run reads, where the output is cut, and what it writes.

    ``mode`` is ``redo`` (forward) or ``undo`` (inverse, reverse order). ``bounds`` are the first
    8 bytes of the highest commit position of each bucket but the last, rising. ``quarantine`` holds
    units known to be contradictory. ``version_taken`` says per table version whether ``--table``
    and ``--exclude-table`` take it; ``decisions`` what the dependency graph decided, None when
    it was not asked; ``flags_resolved``: it named the incomplete units, so the log's flags count no
    more; ``constraints`` what is known of the tables' unique and foreign keys; ``enforced``: these
    foreign keys act where the statements run. ``steps``: each
    script gets what :mod:`replay.output.steps` describes; ``prepared``: its statements are calls of
    prepared ones (:mod:`sqlgen.shapes`).
    ``units_stay_out``: units were set aside, or lie beyond a selected time, that may have written
    what the images of others show; ``rows_differ``: so rows may be others by now.
    ``export``: datasets are written, not scripts. ``limits``: table version -> column -> what
    values the live database's column holds, where its type alone does not tell.
    ``continued``: what bundles before this one took. ``copies``: the family whose log the records
    become again as they are, None where they become something else. ``digests``: those of inputs
    that tasks made while they indexed them, by input. ``awaited``: units that were set
    aside before, which results name where they find them."""

    mode: Mode
    selection: Selection
    options: ScriptOptions
    splits: tuple[Split, ...]
    bounds: Hashes
    version_taken: Mask
    quarantine: frozenset[UnitId] = frozenset()
    decisions: UnitDecisions | None = None
    flags_resolved: bool = False
    constraints: Constraints = field(default_factory=Constraints)
    enforced: bool = True
    steps: bool = False
    prepared: bool = False
    export: Export | None = None
    units_stay_out: bool = False
    rows_differ: bool = False
    limits: Mapping[int, Mapping[str, ValueLimit]] = field(default_factory=dict)
    continued: AppliedUnits | None = None
    copies: str | None = None
    digests: Mapping[str, FileDigest] = field(default_factory=dict)
    awaited: frozenset[UnitId] = frozenset()

    def __post_init__(self) -> None:
        settle_choices(self, mode=Mode)

    @property
    def whole_rows(self) -> bool:
        """Whether each change of a row that the log has is written, up to what the run ends with:
        none stays out of the scripts that came before it (redo) or after it (undo)."""
        chosen = self.selection
        if not chosen.whole_tables:
            return False
        if self.mode == "undo" and not chosen.whole_to_the_end:
            decisions = self._asked_of_selection
            if decisions is None or len(decisions.unlike):
                return False
        return not self.units_stay_out

    @property
    def puts_whole(self) -> bool:
        """Whether an upsert puts rows in place as their images show them, in every column: the
        target shall hold that then. All but those that the graph found to be unlike their images
        (:attr:`UnitDecisions.unlike`)."""
        if not self.options.render.upsert or self.units_stay_out:
            return False
        chosen = self.selection
        if self._asked_of_selection is None:
            return chosen.whole_to_the_end if self.mode == "undo" else chosen.whole_tables
        return self.mode == "undo" or replace(chosen, excepted=None).whole_tables

    @property
    def _asked_of_selection(self) -> UnitDecisions | None:
        """The decisions, where the graph was asked what the selection leaves behind."""
        chosen = self.selection
        part = not chosen.whole_to_the_end if self.mode == "undo" else chosen.excepted is not None
        return self.decisions if part and not self.steps and chosen.cascade != "force" else None

    @property
    def acting(self) -> Constraints:
        """The unique keys, and the foreign keys that act where the statements run."""
        return self.constraints if self.enforced else self.constraints.without_foreign_keys()

    @property
    def parts_units(self) -> bool:
        """Whether scripts lack changes that lie between others of their unit, and that must be
        known for the order of these."""
        scripts = self.export is None and self.copies is None
        return scripts and self.selection.parts_units

    @property
    def held(self) -> Verdicts:
        """The units that the dependency graph set aside, and why (in tasks: with empty texts)."""
        return self.decisions.held if self.decisions is not None else Verdicts()

    def writes_as(self, other: Plan) -> bool:
        """Whether this plan, made from ``other`` by what its run came upon, would write the same:
        it holds the same units, reads the log's flags alike and has the same options."""
        return (
            self.held.units() == other.held.units()
            and self.flags_resolved == other.flags_resolved
            and self.rows_differ == other.rows_differ
            and self.options == other.options
        )

    @property
    def buckets(self) -> int:
        """Number of output files at most (a bucket without statements writes none)."""
        return len(self.bounds) + 1

    def without_taken(self, verdict: VerdictCodes, envelope: Envelope) -> VerdictCodes:
        """The verdicts of some records, corrected by what was taken before."""
        if self.continued is None:
            return verdict
        taken = self.continued.covers(envelope) & ((verdict == 0) | (verdict == INCOMPLETE))
        return np.where(taken, np.uint8(REASON[TAKEN_BEFORE]), verdict)

    def bucket_of(self, commit: Records) -> Index:
        """The bucket of each commit position. Units that share a commit position share a bucket."""
        return np.searchsorted(self.bounds, leading_words(commit), side="left").astype(np.int64)

    def file_name(self, bucket: int) -> str:
        """Name of a bucket's script; sorted names are the order to run them in."""
        place = bucket if self.mode == "redo" else self.buckets - 1 - bucket
        apart = "quarantined-" if self.decisions and self.decisions.only is not None else ""
        return f"{self._numbered(place)}-{apart}{self.mode}.sql"

    def part_name(self, bucket: int) -> str:
        """The part of a file name that distinguishes the buckets of an export."""
        return self._numbered(bucket)

    def _numbered(self, place: int) -> str:
        """As wide as the plan needs, so that names sort as numbers do."""
        return f"{place:0{max(4, len(str(self.buckets - 1)))}d}"


# -- the sample of commit positions
# -------------------------------------------------------------------------------------------------
# A sample of the commit positions of what is selected, by which the bounds of output files are
# placed.
#
# Of so many records one is looked at, by its number in its file: a sample is that of the log,
# however the log was cut for reading, and whoever read it.


#: Of this many records one is looked at to place the bounds of the buckets.
SAMPLE_EVERY = 64


def sampled(
    log: LogFile,
    selection: Selection,
    taken: Mask,
    split: Split,
    offsets: Index,
    lengths: Lengths,
) -> Hashes:
    """Of the records of a split (all of them are given), those that a sample looks at and the
    selection takes: the leading words of their commit positions."""
    phase = -(split.first_record - 1) % SAMPLE_EVERY
    chosen, chosen_lengths = offsets[phase::SAMPLE_EVERY], lengths[phase::SAMPLE_EVERY]
    if not len(chosen):
        return np.zeros(0, np.uint64)
    envelope = log.envelope(split.file, chosen, chosen_lengths)
    change, version = log.classify(envelope)
    facts = RecordFacts(change, version, taken, log.dependent_position)
    kept = decide(selection, envelope, facts) == 0
    return leading_words(opaque(envelope.commit()[kept]))


@dataclass(frozen=True)
class LogIndex:
    """What is known of a log that was read once: its splits, the leading words of sampled commit
    positions, and digests of inputs, by input."""

    splits: tuple[Split, ...]
    words: Hashes
    digests: Mapping[str, FileDigest]


def make_plan(
    log: LogFile,
    mode: Mode,
    selection: Selection,
    options: ScriptOptions,
    split_bytes: int = 128 << 20,
    engine: Engine | None = None,
) -> Plan:
    """Index the data files, sample the commit positions of what is selected, and cut. Tasks of
    ``engine`` index a large log (:mod:`replay.pipeline.range_walk`).

    Raises UsageError (LR1001) for an undo of all but some units, which only redo leaves out,
    InputError where a file's framing is damaged, or a file is another one than when the log was
    opened, and what tasks raise.
    """
    if selection.excepted is not None and mode is Mode.UNDO:
        raise UsageError(
            "LR1001",
            "found --except on the way back (undo, or a replay backward); expected it with redo,"
            " export or a replay forward",
            hint="Choose what is to be undone: --ur, --user, --job",
        )
    taken = log.catalog.taken_by(selection.takes_tables)
    with seen_unchanged(log):
        found = None
        if engine is not None and engine.name is EngineName.SPARK:
            found = range_walk.index_by_tasks(log, selection, taken, split_bytes, engine)
        if found is None:
            splits, words = list[Split](), [np.zeros(0, np.uint64)]
            for split, offsets, lengths in log.splits(split_bytes):
                splits.append(split)
                words.append(sampled(log, selection, taken, split, offsets, lengths))
            found = LogIndex(tuple(splits), np.concatenate(words), {})
    sample = np.sort(found.words)
    files = max(1, -(-len(sample) * SAMPLE_EVERY // options.records_per_file))
    cuts = sample[[len(sample) * k // files for k in range(1, files)]] if len(sample) else sample
    return Plan(
        mode, selection, options, found.splits, np.unique(cuts), taken, digests=found.digests
    )


# -- results
# -------------------------------------------------------------------------------------------------
# What became of the changes of a bucket: the files that were written, a tally, and the units that
# were seen, which are compared with those of other buckets.


@dataclass(frozen=True)
class WrittenFile:
    """A file of the output: its path within the folder, its bytes and their SHA-256, and the number
    of changes in it."""

    name: str
    size: int
    sha256: str
    changes: int


@dataclass(frozen=True)
class BucketResult:
    """What became of one bucket: its files, the tally, and the commit position and id of every unit
    seen (:data:`replay.changes.position.UNIT_POSITION`), for the check that no unit has two commit
    positions."""

    files: tuple[WrittenFile, ...]
    tally: Tally
    units: Records

    def commits(self) -> Iterator[tuple[Position, UnitId]]:
        """(commit position, unit) of every unit seen."""
        return ((commit_of(row), unit_of(row)) for row in self.units.view(UNIT_POSITION_FIELDS))


def contradictory_units(columns: Iterable[Records]) -> frozenset[UnitId]:
    """Units that occur with more than one commit position in columns of
    :data:`replay.changes.position.UNIT_POSITION`: at least one of their records is damaged."""
    seen = np.concatenate([np.zeros(0, UNIT_POSITION), *columns])
    units = np.ascontiguousarray(seen.view(UNIT_POSITION_FIELDS)["unit"])
    hashes = unit_hash(as_bytes(units))
    several = np.sort(hashes)
    several = several[1:][several[1:] == several[:-1]]
    if not len(several):
        return frozenset()
    values, counts = np.unique(units[np.isin(hashes, several)], return_counts=True)
    return frozenset(UnitId(value.tobytes()) for value in values[counts > 1])
