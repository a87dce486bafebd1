"""Questions to the dependency graph: which units really depend on incomplete ones, and who built on
the changes that shall be undone.

Every question takes three passes over the log: a *survey* of the headers (at which units the
question starts, which tables were emptied), the *edges* between all units, by key, and then the
changes of those units only that can be reached. What is kept in memory at the end is in proportion
to these; the edges in between are 16 bytes for each pair of units.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

import numpy as np

from replay.arrays import Bytes, Hashes, Index, Mask, Records, Versions
from replay.changes import order
from replay.changes.balance import Verdict
from replay.changes.envelope import (
    CANCELLED,
    RECORD,
    ROW_CHANGES,
    WHOLE_TABLE,
    Change,
    Envelope,
    octets,
    opaque,
)
from replay.changes.position import (
    LOWEST,
    UNIT,
    Position,
    UnitId,
    commit_of,
    highest_of,
    unit_of,
)
from replay.changes.selection import RecordFacts, Selection, decide
from replay.decoding.hashes import unit_hash, unit_hashes
from replay.dependencies.forms import form_edges, form_links
from replay.dependencies.graph import (
    ChangeLink,
    DependencyGraph,
    Edges,
    Link,
    column_links,
    grouped,
    joined,
    links,
    others,
    packed_edges,
    row_spaces,
    touch_order,
)
from replay.dependencies.proof import (
    ASK_WORDS,
    QUESTION,
    Ask,
    SpaceRoles,
    contrary_rows,
    first_versions,
    questions,
)
from replay.dependencies.write_sets import TOUCH, ChangeBatch, KeyRole, KeySpaces, WriteSets
from replay.logs import LogFile, Split
from replay.pipeline.engine import Runner
from replay.pipeline.scan import INCOMPLETE_UNIT, UNPROVEN_UNIT, sort_records
from sqlgen.statements import RenderOptions

#: The code of a unit that is set aside because of what it builds on.
DEPENDENT_UNIT = "LR3011"
#: Buckets of keys; each is sorted by one task.
KEY_BUCKETS = 16
#: The bucket of units with changes that cannot be read.
UNREAD_BUCKET = KEY_BUCKETS
#: Records that are looked at together: of a batch, every table and kind of change is a step of its
#: own, so larger batches than those of scripts pay (a quarter of the time, at 50 MB more).
TOGETHER = 65_536
#: Units that are named in a message.
_NAMED = 20


@dataclass
class HeaderSurvey:
    """What the headers say. ``start``: unit -> commit position of the units that are asked about;
    ``flagged``: units with INCOMPLETEDEP; ``evented``: key spaces of tables that were emptied;
    ``pieces``: the records of segmented changes; ``changes``: how many took effect; ``last``: the
    highest commit position; ``contrary``: changes that the second pass found to contradict the one
    before of their row; ``unread``: units of which it could not read a change."""

    start: dict[UnitId, Position] = field(default_factory=dict)
    flagged: dict[UnitId, Position] = field(default_factory=dict)
    evented: set[int] = field(default_factory=set)
    pieces: list[bytes] = field(default_factory=list)
    changes: int = 0
    last: Position = LOWEST
    contrary: int = 0
    unread: frozenset[UnitId] = frozenset()

    def warnings(self) -> list[str]:
        """What a user must know of a log that contradicts itself, or cannot be read."""
        texts = []
        if self.unread:
            texts.append(
                f"{len(self.unread):,} unit(s) of recovery have changes that cannot be read, so"
                " what they build on, and what builds on them, is not known:"
                f" {self.unread_units()}; logreplay check names the records"
            )
        if self.contrary:
            texts.append(
                f"{self.contrary:,} changes found their row other than the one before in the log"
                " left it: a record is damaged or missing, or the log was written with a filter;"
                " logreplay check names them"
            )
        return texts

    def unread_units(self, among: Iterable[UnitId] | None = None) -> str:
        """The units (of some) of which a change cannot be read, in words; empty where none is."""
        units = sorted(self.unread if among is None else self.unread.intersection(among))
        more = f" and {len(units) - _NAMED} more" if len(units) > _NAMED else ""
        return ", ".join(map(str, units[:_NAMED])) + more

    def add(self, other: HeaderSurvey) -> None:
        """Add what another split says."""
        self.start.update(other.start)
        self.flagged.update(other.flagged)
        self.evented |= other.evented
        self.pieces += other.pieces
        self.changes += other.changes
        self.last = max(self.last, other.last)


@dataclass(frozen=True)
class StartUnits:
    """Which units a question is about: the ``incomplete`` ones, those with a change that
    ``selection`` takes, and ``units``."""

    incomplete: bool = False
    selection: Selection | None = None
    units: frozenset[UnitId] = frozenset()

    def mask(self, log: LogFile, envelope: Envelope, change: Bytes, version: Versions) -> Mask:
        """Which records make their unit one of these."""
        wanted = (
            envelope.incomplete_unit().copy() if self.incomplete else np.zeros(len(envelope), bool)
        )
        if self.selection is not None:
            taken = np.array(
                [self.selection.takes_table(known.name) for known in log.catalog.versions]
                or [False],
                bool,
            )
            wanted |= (
                decide(
                    self.selection,
                    envelope,
                    RecordFacts(change, version, taken, log.dependent_position, True),
                )
                == 0
            )
        if self.units:
            wanted |= np.isin(unit_hash(envelope.unit()), unit_hashes(self.units))
        return wanted


def effective(envelope: Envelope, change: Bytes, version: Versions, damaged: Mask) -> Mask:
    """Records of changes that took effect: committed, of a known table, not of the redo set, and
    with a sound header."""
    committed = (
        (envelope.unit_disposition() == ord("C"))
        & np.isin(envelope.disposition(), (ord("C"), CANCELLED))
        & (envelope.sqltype() != ord("R"))
    )
    return np.asarray(
        committed & ~damaged & (version >= 0) & np.isin(change, (*ROW_CHANGES, *WHOLE_TABLE))
    )


@dataclass(frozen=True)
class Look:
    """What the passes share: walking a split and sorting out the records that took effect."""

    spaces: KeySpaces

    def batches(
        self, log: LogFile, split: Split, unread: list[bytes] | None = None
    ) -> Iterator[tuple[Records, Envelope, Bytes, Versions]]:
        """What took effect; ``unread`` takes the ids of units with a record whose header is wrong
        beyond what identifies its unit."""
        for first_record, offsets, lengths in log.records(split, TOGETHER):
            envelope = log.envelope(split.file, offsets, lengths)
            change, version = log.classify(envelope)
            damaged = log.check(envelope, lengths, change, version)
            kept = np.flatnonzero(effective(envelope, change, version, damaged))
            if unread is not None and damaged.any():
                named = damaged & log.names_its_unit(envelope, lengths)
                unread.append(opaque(envelope.unit()[named]).tobytes())
            if len(kept):
                records = sort_records(
                    split.file, first_record, offsets, lengths, envelope, change, version, kept
                )
                yield records, envelope.take(kept), change[kept], version[kept]


@dataclass(frozen=True)
class SurveyJob(Look):
    """The first pass."""

    start: StartUnits
    buckets: int = 0

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        """One result a split: its :class:`HeaderSurvey`."""
        survey = HeaderSurvey()
        for records, envelope, change, version in self.batches(log, split):
            for mask, units in (
                (self.start.mask(log, envelope, change, version), survey.start),
                (envelope.incomplete_dependency(), survey.flagged),
            ):
                rows = np.flatnonzero(mask)
                _, first = np.unique(opaque(envelope.unit()[rows]), return_index=True)
                for record in records[rows[first]]:
                    units[unit_of(record)] = commit_of(record)
            emptied = np.unique(version[np.isin(change, WHOLE_TABLE)])
            survey.evented |= {self.spaces.table_space[index] for index in emptied.tolist()}
            survey.changes += int((envelope.segment() <= 1).sum())
            survey.last = max(survey.last, highest_of(records["commit"]))
            cut = np.flatnonzero(envelope.segments() > 1)
            if len(cut):
                survey.pieces.append(records[cut].tobytes())
        yield 0, pickle.dumps(survey)

    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Nothing meets."""
        return iter(())


@dataclass(frozen=True)
class EdgeJob(Look):
    """The second pass: touches by key, and the edges between units. ``pieces`` are the records of
    segmented changes, taken up where the first of each lies."""

    evented: frozenset[int]
    pieces: Records
    buckets: int = KEY_BUCKETS + 1
    #: Sorted hashes of the units about whose rows is asked, too, what they found.
    flagged: Hashes = field(default_factory=lambda: np.zeros(0, np.uint64))

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        """Blocks of touches by bucket."""
        write_sets = WriteSets(log, self.spaces, self.evented, with_forms=True)
        unread: list[bytes] = []
        for records, envelope, change, version in self.batches(log, split, unread):
            kept = np.flatnonzero(envelope.segments() <= 1)
            whole = records[kept]
            every = np.arange(len(kept), dtype=np.int64)
            batch = ChangeBatch(whole, every, np.ones_like(every), change[kept], version[kept])
            yield from self._by_bucket(write_sets, batch)
        batch = assemble(log, self.pieces)
        first = batch.records[batch.head]
        here = (
            (first["file"] == split.file)
            & (first["offset"] >= split.start)
            & (first["offset"] < split.stop)
        )
        rows = np.flatnonzero(here)
        if len(rows):
            yield from self._by_bucket(write_sets, batch.part(rows))
        yield UNREAD_BUCKET, b"".join(unread)

    def _by_bucket(self, write_sets: WriteSets, batch: ChangeBatch) -> Iterator[tuple[int, bytes]]:
        touches = np.array(write_sets.touches(batch))
        heads = batch.records[batch.head]
        touches["change"] = change_places(heads)[touches["change"]]
        bucket = (np.ascontiguousarray(touches["key"]) >> np.uint64(32)) % np.uint64(KEY_BUCKETS)
        opened = touches.view(f"V{TOUCH.itemsize}")
        for number in np.unique(bucket).tolist():
            yield int(number), opened[bucket == number].tobytes()
        for rows in write_sets.unread:
            yield UNREAD_BUCKET, np.ascontiguousarray(heads["unit"][rows]).tobytes()

    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The different edges of a bucket, packed, the questions that it leaves open, how many
        changes contradict the one before, and units of which a change cannot be read."""
        if bucket == UNREAD_BUCKET:
            yield pickle.dumps((b"", b"", 0, _units_in(b"".join(blocks))))
            return
        touches = np.frombuffer(b"".join(blocks), TOUCH)
        touches = touches.view(f"V{TOUCH.itemsize}")[touch_order(touches)].view(TOUCH)
        edges = packed_edges(touches, links(touches, row_spaces(self.spaces, self.evented)))
        asked, contrary = np.zeros(0, QUESTION), 0
        if len(touches):
            roles = SpaceRoles.of(self.spaces, self.evented)
            contrary = contrary_rows(touches, roles)
        if len(self.flagged) and len(touches):
            asked = questions(touches, self.flagged, roles, first_versions(self.spaces))
        yield pickle.dumps((edges + form_edges(touches), asked.tobytes(), contrary, frozenset()))


def _units_in(ids: bytes) -> frozenset[UnitId]:
    """The different units among ids one behind the other."""
    return frozenset(UnitId(unit.tobytes()) for unit in np.unique(np.frombuffer(ids, UNIT)))


def _torn_units(log: LogFile, pieces: Records) -> frozenset[UnitId]:
    """The units of changes in segments of which not all are there."""
    batch = assemble(log, pieces)
    if int(batch.weight.sum()) == len(pieces):
        return frozenset()
    every = order.commit_order(pieces)
    missing = np.ones(len(pieces), bool)
    first = np.cumsum(batch.weight) - batch.weight
    missing[np.repeat(batch.head - first, batch.weight) + np.arange(batch.weight.sum())] = False
    return _units_in(np.ascontiguousarray(pieces["unit"][every[missing]]).tobytes())


@dataclass(frozen=True)
class CollectJob(Look):
    """The third pass: the records of the units (by hash) that the question reaches."""

    units: Hashes
    buckets: int = 0

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        """Blocks of records."""
        for records, _, _, _ in self.batches(log, split):
            hashes = unit_hash(octets(records["unit"]))
            place = np.minimum(np.searchsorted(self.units, hashes), max(len(self.units) - 1, 0))
            wanted = (
                np.flatnonzero(self.units[place] == hashes)
                if len(self.units)
                else np.zeros(0, np.int64)
            )
            if len(wanted):
                yield 0, records[wanted].tobytes()

    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Nothing meets."""
        return iter(())


def assemble(log: LogFile, records: Records) -> ChangeBatch:
    """Records (dtype RECORD, any order) as changes in commit order; changes with missing segments
    are left out."""
    records = records[order.commit_order(records)] if len(records) else records
    if not len(records):
        none = np.zeros(0, np.int64)
        return ChangeBatch(
            np.zeros(0, RECORD), none, none, np.zeros(0, np.uint8), np.zeros(0, np.int32)
        )
    change, version, number, segments = (
        np.ascontiguousarray(records[name]) for name in ("change", "version", "segment", "segments")
    )
    begins = np.ones(len(records), bool)
    begins[1:] = (number[1:] <= 1) | (segments[1:] <= 1)
    for name in ("unit", "position"):
        begins[1:] |= records[name][1:] != records[name][:-1]
    head = np.flatnonzero(begins)
    weight = np.diff(np.append(head, len(records)))
    whole = np.flatnonzero(weight == np.maximum(segments[head], 1))
    return ChangeBatch(
        records, head[whole], weight[whole], change[head[whole]], version[head[whole]]
    )


def change_places(heads: Records) -> Index:
    """The places of changes in the log, from their first records: file << 32 | number."""
    return np.asarray(heads["file"].astype(np.int64) << 32 | heads["number"].astype(np.int64))


# -- what is reached
# -------------------------------------------------------------------------------------------------


#: One link between two changes, given by their places in a batch. ``gone``: the key is in the
#: target's before image.
LINK = np.dtype(
    [("source", "<i8"), ("target", "<i8"), ("kind", "u1"), ("space", "<i8"), ("gone", "?")]
)


@dataclass
class Subgraph:
    """What a question reaches: the changes of all units in ``graph`` in commit order, and the links
    between them (dtype :data:`LINK`). ``torn`` are flagged units that found a row other than the
    log last left it; ``keys`` are the words of links that were asked for,
    ``words`` the keys of changes by table version, space, kind and side."""

    log: LogFile
    spaces: KeySpaces
    survey: HeaderSurvey
    torn: frozenset[UnitId]
    unproven: Mapping[UnitId, Records]
    batch: ChangeBatch
    links: Records
    lineage: Index
    graph: DependencyGraph
    keys: dict[ChangeLink, str] = field(default_factory=dict, repr=False)
    words: dict[tuple[int, int, int, str], dict[int, str]] = field(default_factory=dict, repr=False)

    def unit(self, change: int) -> UnitId:
        """The unit of a change."""
        return unit_of(self.batch.records[self.batch.head[change]])


class Prover(Protocol):
    """Knows more of rows than the log does. Errors of :mod:`replay.errors` where what it knows them
    from cannot be read."""

    def proven(self, analysis: DependencyAnalysis, asked: Records, pieces: Records) -> Mask:
        """``bool[n]``: which of ``n`` questions (dtype :data:`replay.dependencies.proof.QUESTION`)
        have the answer that the log needs; ``pieces`` are the records of its segmented changes
        (dtype :data:`replay.changes.envelope.RECORD`)."""
        ...


class DependencyAnalysis:
    """Asks questions about one log with one engine. ``prover``: answers what the log leaves open of
    the rows before it."""

    def __init__(
        self,
        run: Runner,
        log: LogFile,
        splits: Sequence[Split],
        spaces: KeySpaces,
        prover: Prover | None = None,
    ) -> None:
        self.run, self.log, self.splits, self.spaces = run, log, splits, spaces
        self.prover = prover

    def survey(self, start: StartUnits) -> HeaderSurvey:
        """The first pass."""
        survey = HeaderSurvey()
        for blob in self.run(SurveyJob(self.spaces, start), self.log, self.splits):
            survey.add(pickle.loads(blob))
        return survey

    def reached(
        self,
        survey: HeaderSurvey,
        *,
        by_column: bool = False,
        gaps: bool = False,
        back: bool = False,
        written: RenderOptions | None = None,
    ) -> Subgraph:
        """The second and third pass: what can be reached from where a survey starts.

        ``by_column``: a later update of the row builds on an earlier one only where both changed
        the same column, one of those that statements with the options ``written`` name. ``gaps``:
        flagged units that found what the log does not prove, or that it contradicts, are starting
        points too. ``back``: also what these built on.
        """
        pieces = np.frombuffer(b"".join(survey.pieces), RECORD)
        flagged = unit_hashes(survey.flagged.keys() - survey.start.keys() if gaps else ())
        job = EdgeJob(self.spaces, frozenset(survey.evented), pieces, flagged=flagged)
        parts = [pickle.loads(blob) for blob in self.run(job, self.log, self.splits)]
        edges = Edges(edges for edges, _, _, _ in parts)
        asked = np.frombuffer(b"".join(asked for _, asked, _, _ in parts), QUESTION)
        survey.contrary = sum(count for _, _, count, _ in parts)
        survey.unread = _torn_units(self.log, pieces).union(*(units for _, _, _, units in parts))
        contrary = np.ascontiguousarray(asked["ask"]) == Ask.CONTRARY
        torn = frozenset(unit_of(question) for question in asked[contrary])
        unproven = self._unproven(asked[~contrary], torn, pieces)
        start = unit_hashes([*survey.start, *torn, *unproven])
        reached = (
            np.union1d(edges.reach(start), edges.turned().reach(start))
            if back
            else edges.reach(start)
        )
        blocks = b"".join(self.run(CollectJob(self.spaces, reached), self.log, self.splits))
        batch = assemble(self.log, np.frombuffer(blocks, RECORD))
        return self._subgraph(survey, torn, unproven, batch, by_column, written)

    def _unproven(
        self, asked: Records, torn: frozenset[UnitId], pieces: Records
    ) -> dict[UnitId, Records]:
        """The units of questions that the state before the log does not answer as the log needs it,
        with the first such question of each."""
        asked = asked[~np.isin(unit_hash(octets(asked["unit"])), unit_hashes(torn))]
        if self.prover is not None and len(asked):
            asked = asked[~self.prover.proven(self, asked, pieces)]
        asked = asked[np.lexsort([asked["change"], asked["ask"]])]
        _, first = np.unique(opaque(octets(asked["unit"])), return_index=True)
        return {unit_of(question): question for question in asked[first]}

    def _subgraph(
        self,
        survey: HeaderSurvey,
        torn: frozenset[UnitId],
        unproven: Mapping[UnitId, Records],
        batch: ChangeBatch,
        by_column: bool,
        written: RenderOptions | None,
    ) -> Subgraph:
        write_sets = WriteSets(
            self.log, self.spaces, frozenset(survey.evented), with_forms=True, each=True
        )
        touches = write_sets.touches(batch)
        touches = touches.view(f"V{TOUCH.itemsize}")[touch_order(touches)].view(TOUCH)
        rows = row_spaces(self.spaces, survey.evented)
        between = joined([links(touches, rows), form_links(touches)])
        change = np.ascontiguousarray(touches["change"])
        chain = np.isin(between.kind, (Link.ROW, Link.KEY))
        lineage = grouped(
            change[between.source[chain]], change[between.target[chain]], len(batch.head)
        )
        if by_column:
            masks = write_sets.column_masks(batch, written)
            between = joined([others(between, Link.ROW), column_links(touches, rows, *masks)])
        linked = np.zeros(len(between.kind), LINK)
        linked["source"], linked["target"] = change[between.source], change[between.target]
        linked["kind"], linked["space"] = between.kind, touches["space"][between.target]
        linked["gone"] = np.isin(
            touches["role"][between.target], (KeyRole.DESTROY, KeyRole.RELEASE)
        )
        names = ("gone", "space", "kind", "source", "target")
        linked = linked[np.lexsort([linked[name] for name in names])]
        subgraph = Subgraph(
            self.log, self.spaces, survey, torn, unproven, batch, linked, lineage, DependencyGraph()
        )
        _fill(subgraph)
        return subgraph


def _fill(subgraph: Subgraph) -> None:
    starts = subgraph.batch.records[subgraph.batch.head]
    for row in order.run_starts(np.ascontiguousarray(starts["unit"])).tolist():
        subgraph.graph.add_unit(unit_of(starts[row]), commit_of(starts[row]))
    for source, target, kind, space, gone in subgraph.links.tolist():
        if subgraph.unit(source) != subgraph.unit(target):
            subgraph.graph.add(
                subgraph.unit(source),
                subgraph.unit(target),
                ChangeLink(Link(kind), space, source, target, gone),
            )


# -- incomplete units
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Resolution:
    """Which units stay out and why (``held``), which flagged ones are ``released``, and what proves
    it: the ``paths`` to each held unit, from one that is incomplete or damaged, or that found what
    nothing proves."""

    held: Mapping[UnitId, Verdict]
    released: frozenset[UnitId]
    subgraph: Subgraph
    paths: Mapping[UnitId, list[UnitId]]


def resolve_incomplete(
    analysis: DependencyAnalysis, damaged: Iterable[UnitId] = (), *, incomplete: bool = True
) -> Resolution:
    """Units with INCOMPLETETRANS (unless not ``incomplete``), units known to be ``damaged``, and
    all that provably builds on one of them, are held.

    Units that are only flagged (INCOMPLETEDEP) are released where what they found is as the log, or
    the state before it (the prover of ``analysis``), says; else they are held, and what builds on
    them.
    """
    survey = analysis.survey(StartUnits(incomplete, units=frozenset(damaged)))
    subgraph = analysis.reached(survey, gaps=incomplete)
    certain = subgraph.graph.paths([*survey.start, *subgraph.torn])
    paths = {**subgraph.graph.paths(subgraph.unproven), **certain}
    damaged_units = frozenset(damaged)
    held = {unit: _verdict(subgraph, path, damaged_units) for unit, path in paths.items()}
    return Resolution(held, frozenset(set(survey.flagged) - set(held)), subgraph, paths)


#: Steps that are shown of either end of a path; more would take the square of its length.
_STEPS_SHOWN = 10


def shown_steps(path: Sequence[UnitId]) -> tuple[list[tuple[UnitId, UnitId]], int]:
    """The steps of a path that are shown: all, or those of its two ends; and how many are left out
    after the first :data:`_STEPS_SHOWN`."""
    more = max(0, len(path) - 1 - 2 * _STEPS_SHOWN)
    if not more:
        return list(pairwise(path)), 0
    ends = path[: _STEPS_SHOWN + 1], path[-_STEPS_SHOWN - 1 :]
    return [step for end in ends for step in pairwise(end)], more


def _verdict(
    subgraph: Subgraph,
    path: list[UnitId],
    damaged: frozenset[UnitId],
) -> Verdict:
    """Why the last unit of ``path`` is held."""
    first, code = path[0], DEPENDENT_UNIT
    if first in subgraph.unproven:
        code = UNPROVEN_UNIT
        head = (
            f"it depends on a unit that may depend on an incomplete one: {first}"
            if len(path) > 1
            else _open_question(subgraph, first)
        )
    elif first in subgraph.survey.start:
        incomplete = subgraph.log.in_words("incomplete (INCOMPLETETRANS)")
        state = "damaged" if first in damaged else incomplete
        if len(path) == 1:
            return Verdict(INCOMPLETE_UNIT, f"the unit is {state}")
        head = f"it depends on a unit that is {state}: {first}"
    elif len(path) > 1:
        head = f"it depends on a unit before which a record is missing: {first}"
    else:
        head = "a record is missing before its change of a row that the log left otherwise"
    shown, more = shown_steps(path)
    steps = []
    for source, target in shown:
        link = subgraph.graph.links(source, target)[0]
        steps.append(f"{key_text(subgraph, link)} -> {target}")
    if more:
        steps.insert(_STEPS_SHOWN, f"({more:,} more steps)")
    return Verdict(code, " -> ".join([head, *steps]))


def _open_question(subgraph: Subgraph, unit: UnitId) -> str:
    """What nothing proves of a unit that is flagged."""
    question = subgraph.unproven[unit]
    batch = subgraph.batch
    change = int(np.flatnonzero(change_places(batch.records[batch.head]) == question["change"])[0])
    side = "after" if question["after"] else "before"
    space, version = int(question["space"]), int(batch.version[change])
    uses = subgraph.spaces.uses[version]
    use = next((use for use in uses if use.space == space), uses[0])
    if question["ask"] == Ask.PARENT:
        use = next((use for use in uses if use.space == space and use.how == "child"), use)
    key = _key_words(subgraph, space, version, use.columns, (batch, change, side))
    words = ASK_WORDS[Ask(int(question["ask"]))]
    flag = subgraph.log.in_words("it may depend on an incomplete unit (INCOMPLETEDEP)")
    return f"{flag}: {words}, {key}"


def _key_words(
    subgraph: Subgraph,
    number: int,
    version: int,
    columns: Sequence[str],
    image: tuple[ChangeBatch, int, str],
) -> str:
    """The values of a key in an image in words, ``table/value``."""
    space, log = subgraph.spaces.spaces[number], subgraph.log
    table = space.table.partition(".")[2].lower()
    if not columns:
        return f"{table}/(row without key)"
    name = log.catalog.versions[version].name
    if any(f"{name}.{column}" in subgraph.spaces.masked for column in columns):
        return f"{table}/(masked)"
    return f"{table}/{','.join(WriteSets(log, subgraph.spaces).values_of(*image, columns))}"


def key_text(subgraph: Subgraph, link: ChangeLink) -> str:
    """A key in words, ``table/value`` (``table`` alone for a whole-table event)."""
    space = subgraph.spaces.spaces[link.space]
    table = space.table.partition(".")[2].lower()
    if space.kind == "table":
        return table
    if space.kind == "image":
        return f"{table}/(row without key)"
    if link not in subgraph.keys:
        subgraph.keys[link] = f"{table}/{key_values(subgraph, link)}"
    return subgraph.keys[link]


def key_values(subgraph: Subgraph, link: ChangeLink) -> str:
    """The values of the key that links two changes, joined by a comma, as the later change has
    them."""
    version = int(subgraph.batch.version[link.target])
    use = next(
        (use for use in subgraph.spaces.uses[version] if use.space == link.space),
        subgraph.spaces.uses[version][0],
    )
    table = subgraph.log.catalog.versions[version].name
    if any(f"{table}.{column}" in subgraph.spaces.masked for column in use.columns):
        return "(masked)"
    batch, kind = subgraph.batch, int(subgraph.batch.change[link.target])
    side = "before" if link.gone or kind == Change.DELETE else "after"
    group = (version, link.space, kind, side)
    if group not in subgraph.words:  # who asks for one of them asks for many
        rows = np.unique(subgraph.links["target"][subgraph.links["space"] == link.space])
        rows = rows[(batch.version[rows] == version) & (batch.change[rows] == kind)]
        write_sets = WriteSets(subgraph.log, subgraph.spaces)
        values = write_sets.values_of_all(batch, rows, side, use.columns)
        texts = map(",".join, values)
        subgraph.words[group] = dict(zip(rows.tolist(), texts, strict=True))
    return subgraph.words[group][link.target]
