"""Questions to the dependency graph: which units really depend on incomplete ones, and who built on the changes that shall be undone.

Every question takes three passes over the log: a *survey* of the headers (which units are asked about, which tables were emptied), the *edges*
between all units, by key, and then the changes of those units only that the question reaches. What is kept in memory at the end is in
proportion to the answer; the edges in between are 16 bytes for each pair of units.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from replay import order
from replay.changes import RECORD, ROW_CHANGES, WHOLE_TABLE, Change, Envelope, compare, opaque, unit_text
from replay.graph import DependencyGraph, Edges, Evidence, Link, column_links, joined, links, others, packed_edges, row_spaces, touch_order
from replay.keys import TOUCH, Batch, Hashes, KeySpaces, Mask, Role, Toucher, octets, unit_hash, unit_hashes
from replay.logs import LogFile, Split
from replay.scan import BATCH, INCOMPLETE_UNIT, sort_records
from replay.selection import Facts, Selection, decide
from replay.stages import Runner

#: The code of a unit that is set aside because of what it builds on.
DEPENDENT_UNIT = "LR3011"
#: Buckets of keys; each is sorted by one task.
KEY_BUCKETS = 16


@dataclass
class Survey:
    """What the headers say. ``seeds``: unit -> commit position of the units that are asked about; ``flagged``: units with INCOMPLETEDEP;
    ``evented``: key spaces of tables that were emptied; ``pieces``: the records of segmented changes; ``changes``: how many took effect; ``last``: the
    highest commit position."""

    seeds: dict[bytes, bytes] = field(default_factory=dict)
    flagged: dict[bytes, bytes] = field(default_factory=dict)
    evented: set[int] = field(default_factory=set)
    pieces: list[bytes] = field(default_factory=list)
    changes: int = 0
    last: bytes = bytes(10)

    def add(self, other: Survey) -> None:
        """Add what another split says."""
        self.seeds.update(other.seeds)
        self.flagged.update(other.flagged)
        self.evented |= other.evented
        self.pieces += other.pieces
        self.changes += other.changes
        self.last = max(self.last, other.last)


@dataclass(frozen=True)
class Seeds:
    """Which units a question is about: the ``incomplete`` ones, those with a change that ``selection`` takes, and ``units``."""

    incomplete: bool = False
    selection: Selection | None = None
    units: frozenset[bytes] = frozenset()

    def mask(self, log: LogFile, envelope: Envelope, change: npt.NDArray[np.uint8], version: npt.NDArray[np.int32]) -> Mask:
        """Which records make their unit a seed."""
        wanted = envelope.incomplete_unit().copy() if self.incomplete else np.zeros(len(envelope), bool)
        if self.selection is not None:
            taken = np.array([self.selection.takes_table(known.name) for known in log.catalog.versions] or [False], bool)
            wanted |= decide(self.selection, envelope, Facts(change, version, taken, log.dependent_position, True)) == 0
        if self.units:
            wanted |= np.isin(unit_hash(envelope.unit()), unit_hashes(self.units))
        return wanted


def effective(envelope: Envelope, change: npt.NDArray[np.uint8], version: npt.NDArray[np.int32], damaged: Mask) -> Mask:
    """Records of changes that took effect: committed, of a known table, not of the redo set, and with a sound header."""
    committed = (envelope.unit_disposition() == ord("C")) & (envelope.disposition() == ord("C")) & (envelope.sqltype() != ord("R"))
    return np.asarray(committed & ~damaged & (version >= 0) & np.isin(change, (*ROW_CHANGES, *WHOLE_TABLE)))


@dataclass(frozen=True)
class _Look:
    """What the passes share: walking a split and sorting out the records that took effect."""

    spaces: KeySpaces

    def batches(
        self, log: LogFile, split: Split
    ) -> Iterator[tuple[npt.NDArray[np.void], Envelope, npt.NDArray[np.uint8], npt.NDArray[np.int32]]]:
        for first_record, offsets, lengths in log.records(split, BATCH):
            envelope = log.envelope(split.file, offsets, lengths)
            change, version = log.classify(envelope)
            kept = np.flatnonzero(effective(envelope, change, version, log.check(envelope, lengths, change, version)))
            if len(kept):
                records = sort_records(split.file, first_record, offsets, lengths, envelope, change, version, kept)
                yield records, envelope.take(kept), change[kept], version[kept]


@dataclass(frozen=True)
class SurveyJob(_Look):
    """The first pass."""

    seeds: Seeds
    buckets: int = 0

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        """One result a split: its :class:`Survey`."""
        found = Survey()
        for records, envelope, change, version in self.batches(log, split):
            for mask, units in (
                (self.seeds.mask(log, envelope, change, version), found.seeds),
                (envelope.incomplete_dependency(), found.flagged),
            ):
                rows = np.flatnonzero(mask)
                _, first = np.unique(opaque(envelope.unit()[rows]), return_index=True)
                for record in records[rows[first]]:
                    units[record["unit"].tobytes()] = record["commit"].tobytes()
            emptied = np.unique(version[np.isin(change, WHOLE_TABLE)])
            found.evented |= {self.spaces.table_space[index] for index in emptied.tolist()}
            found.changes += int((envelope.segment() <= 1).sum())
            found.last = max(found.last, np.sort(octets(records["commit"]).view("S10").reshape(-1))[-1].ljust(10, b"\0"))
            cut = np.flatnonzero(envelope.segments() > 1)
            if len(cut):
                found.pieces.append(records[cut].tobytes())
        yield 0, pickle.dumps(found)

    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Nothing meets."""
        return iter(())


@dataclass(frozen=True)
class EdgeJob(_Look):
    """The second pass: touches by key, and the edges between units. ``low`` is the commit position before which nothing matters; ``pieces`` the
    records of segmented changes, taken up where the first of each lies."""

    evented: frozenset[int]
    low: bytes
    pieces: npt.NDArray[np.void]
    buckets: int = KEY_BUCKETS

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        """Blocks of touches by bucket."""
        toucher = Toucher(log, self.spaces, self.evented)
        for records, envelope, change, version in self.batches(log, split):
            late = octets(records["commit"])
            kept = np.flatnonzero((envelope.segments() <= 1) & (compare(late, self.low) >= 0))
            whole = records[kept]
            every = np.arange(len(kept), dtype=np.int64)
            yield from self._by_bucket(toucher.touches(Batch(whole, every, np.ones_like(every), change[kept], version[kept])))
        batch = assemble(log, self.pieces)
        first = batch.records[batch.head]
        here = (first["file"] == split.file) & (first["offset"] >= split.start) & (first["offset"] < split.stop)
        rows = np.flatnonzero(here & (compare(octets(first["commit"]), self.low) >= 0))
        if len(rows):
            chosen = Batch(batch.records, batch.head[rows], batch.weight[rows], batch.change[rows], batch.version[rows])
            yield from self._by_bucket(toucher.touches(chosen))

    def _by_bucket(self, touches: npt.NDArray[np.void]) -> Iterator[tuple[int, bytes]]:
        bucket = (np.ascontiguousarray(touches["key"]) >> np.uint64(32)) % np.uint64(self.buckets)
        opened = touches.view(f"V{TOUCH.itemsize}")
        for number in np.unique(bucket).tolist():
            yield int(number), opened[bucket == number].tobytes()

    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The different edges of a bucket, packed."""
        touches = np.frombuffer(b"".join(blocks), TOUCH)
        touches = touches.view(f"V{TOUCH.itemsize}")[touch_order(touches)].view(TOUCH)
        yield packed_edges(touches, links(touches, row_spaces(self.spaces, self.evented)))


@dataclass(frozen=True)
class CollectJob(_Look):
    """The third pass: the records of the units (by hash) that the question reaches."""

    units: Hashes
    buckets: int = 0

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        """Blocks of records."""
        for records, _, _, _ in self.batches(log, split):
            hashes = unit_hash(octets(records["unit"]))
            place = np.minimum(np.searchsorted(self.units, hashes), max(len(self.units) - 1, 0))
            wanted = np.flatnonzero(self.units[place] == hashes) if len(self.units) else np.zeros(0, np.int64)
            if len(wanted):
                yield 0, records[wanted].tobytes()

    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Nothing meets."""
        return iter(())


def assemble(log: LogFile, records: npt.NDArray[np.void]) -> Batch:
    """Records (dtype RECORD, any order) as changes in commit order; changes with missing segments are left out."""
    records = records[order.commit_order(records)] if len(records) else records
    if not len(records):
        none = np.zeros(0, np.int64)
        return Batch(np.zeros(0, RECORD), none, none, np.zeros(0, np.uint8), np.zeros(0, np.int32))
    change, version, number, segments = (np.ascontiguousarray(records[name]) for name in ("change", "version", "segment", "segments"))
    begins = np.ones(len(records), bool)
    begins[1:] = (number[1:] <= 1) | (segments[1:] <= 1)
    for name in ("unit", "position"):
        begins[1:] |= records[name][1:] != records[name][:-1]
    head = np.flatnonzero(begins)
    weight = np.diff(np.append(head, len(records)))
    whole = np.flatnonzero(weight == np.maximum(segments[head], 1))
    return Batch(records, head[whole], weight[whole], change[head[whole]], version[head[whole]])


# -- answers -------------------------------------------------------------------------------------------------------------------------------


#: One link between two changes, given by their places in a batch. ``gone``: the key is in the target's before image.
LINK = np.dtype([("source", "<i8"), ("target", "<i8"), ("kind", "u1"), ("space", "<i8"), ("gone", "?")])


@dataclass
class Answer:
    """What a question reaches: the changes of all units in ``graph`` in commit order, and the links between them (dtype :data:`LINK`). ``torn`` are
    flagged units that found a row other than the log last left it."""

    log: LogFile
    spaces: KeySpaces
    survey: Survey
    torn: frozenset[bytes]
    batch: Batch
    links: npt.NDArray[np.void]
    graph: DependencyGraph

    def unit(self, change: int) -> bytes:
        """The unit of a change."""
        unit: bytes = self.batch.records["unit"][self.batch.head[change]].tobytes()
        return unit


class Asker:
    """Asks questions about one log with one engine."""

    def __init__(self, run: Runner, log: LogFile, splits: Sequence[Split], spaces: KeySpaces) -> None:
        self.run, self.log, self.splits, self.spaces = run, log, splits, spaces

    def survey(self, seeds: Seeds) -> Survey:
        """The first pass."""
        found = Survey()
        for blob in self.run(SurveyJob(self.spaces, seeds), self.log, self.splits):
            found.add(pickle.loads(blob))
        return found

    def ask(self, survey: Survey, *, by_column: bool = False, gaps: bool = False, back: bool = False) -> Answer:
        """The second and third pass: what the seeds of a survey reach.

        ``by_column``: a later update of the row builds on an earlier one only where both changed the same column. ``gaps``: flagged units that
        found a row other than the log last left it are seeds too. ``back``: also what the seeds built on.
        """
        low = bytes(10) if gaps or back else min(survey.seeds.values(), default=b"\xff" * 10)
        pieces = np.frombuffer(b"".join(survey.pieces), RECORD)
        job = EdgeJob(self.spaces, frozenset(survey.evented), low, pieces)
        edges = Edges(self.run(job, self.log, self.splits))
        torn = frozenset(unit for unit in survey.flagged if gaps and unit_hashes([unit])[0] in edges.gaps)
        seeds = unit_hashes([*survey.seeds, *torn])
        reached = np.union1d(edges.reach(seeds), edges.turned().reach(seeds)) if back else edges.reach(seeds)
        blocks = b"".join(self.run(CollectJob(self.spaces, reached), self.log, self.splits))
        return self._answer(survey, torn, assemble(self.log, np.frombuffer(blocks, RECORD)), by_column)

    def _answer(self, survey: Survey, torn: frozenset[bytes], batch: Batch, by_column: bool) -> Answer:
        toucher = Toucher(self.log, self.spaces, frozenset(survey.evented))
        touches = toucher.touches(batch)
        touches = touches.view(f"V{TOUCH.itemsize}")[touch_order(touches)].view(TOUCH)
        rows = row_spaces(self.spaces, survey.evented)
        found = others(links(touches, rows), Link.GAP)
        if by_column:
            found = joined([others(found, Link.ROW), column_links(touches, rows, toucher.changed_columns(batch))])
        change = np.ascontiguousarray(touches["change"])
        made = np.zeros(len(found.kind), LINK)
        made["source"], made["target"], made["kind"], made["space"] = (
            change[found.source],
            change[found.target],
            found.kind,
            touches["space"][found.target],
        )
        made["gone"] = np.isin(touches["role"][found.target], (Role.DESTROY, Role.RELEASE))
        made = made[np.lexsort([made[name] for name in ("gone", "space", "kind", "source", "target")])]
        answer = Answer(self.log, self.spaces, survey, torn, batch, made, DependencyGraph())
        _fill(answer)
        return answer


def _fill(answer: Answer) -> None:
    starts = answer.batch.records[answer.batch.head]
    for row in order.run_starts(np.ascontiguousarray(starts["unit"])).tolist():
        answer.graph.add_unit(starts["unit"][row].tobytes(), starts["commit"][row].tobytes())
    for source, target, kind, space, gone in answer.links.tolist():
        if answer.unit(source) != answer.unit(target):
            answer.graph.add(answer.unit(source), answer.unit(target), Evidence(Link(kind), space, source, target, gone))


# -- incomplete units ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Resolution:
    """Which units stay out and why (``held``: unit -> reason), which flagged ones are released, and the evidence: a path to each held unit."""

    held: Mapping[bytes, str]
    released: frozenset[bytes]
    answer: Answer
    paths: Mapping[bytes, list[bytes]]


def resolve_incomplete(asker: Asker, damaged: Iterable[bytes] = (), *, incomplete: bool = True) -> Resolution:
    """Units with INCOMPLETETRANS (unless not ``incomplete``), units known to be ``damaged``, and all that provably builds on one of them, are held.

    Units that are only flagged (INCOMPLETEDEP) are released, unless a row they changed is not as the log last left it.
    """
    survey = asker.survey(Seeds(incomplete, units=frozenset(damaged)))
    answer = asker.ask(survey, gaps=incomplete)
    paths = answer.graph.paths([*survey.seeds, *answer.torn])
    held = {}
    for unit, path in paths.items():
        held[unit] = _reason(answer, path, frozenset(damaged))
    return Resolution(held, frozenset(set(survey.flagged) - set(held)), answer, paths)


def _reason(answer: Answer, path: list[bytes], damaged: frozenset[bytes]) -> str:
    first = path[0]
    if first in answer.survey.seeds:
        start = "damaged" if first in damaged else "incomplete (INCOMPLETETRANS)"
        if len(path) == 1:
            return f"{INCOMPLETE_UNIT} the unit is {start}"
        head = f"{DEPENDENT_UNIT} it depends on a unit that is {start}: {unit_text(first)}"
    else:
        head = f"{DEPENDENT_UNIT} a record is missing before its change of a row that the log left otherwise"
        if len(path) > 1:
            head = f"{DEPENDENT_UNIT} it depends on a unit before which a record is missing: {unit_text(first)}"
    steps = []
    for source, target in pairwise(path):
        evidence = answer.graph.evidence(source, target)[0]
        steps.append(f"{key_text(answer, evidence)} -> {unit_text(target)}")
    return " -> ".join([head, *steps])


def key_text(answer: Answer, evidence: Evidence) -> str:
    """A key in words, ``table/value`` (``table`` alone for a whole-table event)."""
    space = answer.spaces.spaces[evidence.space]
    table = space.table.partition(".")[2].lower()
    if space.kind == "table":
        return table
    if space.kind == "image":
        return f"{table}/(row without key)"
    return f"{table}/{key_values(answer, evidence)}"


def key_values(answer: Answer, evidence: Evidence) -> str:
    """The values of the key that links two changes, joined by a comma, as the later change has them."""
    version = int(answer.batch.version[evidence.target])
    use = next((use for use in answer.spaces.uses[version] if use.space == evidence.space), answer.spaces.uses[version][0])
    table = answer.log.catalog.versions[version].name
    if any(f"{table}.{column}" in answer.spaces.masked for column in use.columns):
        return "(masked)"
    side = "before" if evidence.gone or answer.batch.change[evidence.target] == Change.DELETE else "after"
    return ",".join(Toucher(answer.log, answer.spaces).values_of(answer.batch, evidence.target, side, use.columns))
