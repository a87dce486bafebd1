"""The passes over a log that questions to the dependency graph take.

The *survey* reads the headers: at which units the question starts, which tables were emptied. The
*edges* lie between all units, by key. The last pass *collects* the changes of those units only that
can be reached.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field

import numpy as np

from replay.arrays import Bytes, Hashes, Index, Lengths, Mask, Records, Versions, take_rows
from replay.changes import order
from replay.changes.envelope import (
    CANCELLED,
    RECORD,
    ROW_CHANGES,
    WHOLE_TABLE,
    Change,
    Envelope,
    as_bytes,
    compare,
    opaque,
)
from replay.changes.position import (
    LOWEST,
    POSITION,
    UNIT,
    Position,
    UnitId,
    highest_of,
    lowest_of,
)
from replay.changes.selection import RecordFacts, Selection, decide, lacks_its_beginning
from replay.changes.units import UnitCommits, UnitSet
from replay.decoding.hashes import unit_hash, unit_hashes
from replay.dependencies.graph import packed_edges
from replay.dependencies.key_spaces import KeySpaces
from replay.dependencies.links import form_edges, links, row_spaces, touch_order
from replay.dependencies.preconditions import (
    QUESTION,
    AskedUnits,
    SpaceRoles,
    contrary_rows,
    first_versions,
    questions,
)
from replay.dependencies.write_sets import TOUCH, ChangeBatch, WriteSets
from replay.engine.contract import ScanJob
from replay.errors import counted, some_of
from replay.logs import LogFile, Split
from replay.logs.record_facts import other_versions
from replay.pipeline.scan import in_commit_order, packed, sort_records
from replay.spill import Growing, spilled

#: Buckets of keys; each is sorted by one task.
KEY_BUCKETS = 16
#: The bucket of units with changes that cannot be read.
UNREAD_BUCKET = KEY_BUCKETS
#: Records that are looked at together: of a batch, every table and kind of change is a step of its
#: own, so larger batches than those of scripts pay (a quarter of the time, at 50 MB more).
TOGETHER = 65_536
#: Bytes of edges in one result.
EDGES = 8 << 20
#: A change that cannot be read; ``version``: of its table, -1 where that is not known either.
UNREAD = np.dtype([("commit", POSITION), ("unit", UNIT), ("version", "<i4")])
#: Stands for the key space of a table that is not known.
ANY_TABLE = -1
#: A unit that changed a table, by the table's key space.
FOLLOWER = np.dtype([("unit", UNIT), ("space", "<i8")])


@dataclass
class HeaderSurvey:
    """What the headers say. ``start``: unit -> commit position of the units that are asked about;
    ``flagged``: units with INCOMPLETEDEP; ``evented``: key spaces of tables that were emptied;
    ``pieces``: the records of segmented changes; ``changes``: how many took effect; ``last``: the
    highest commit position; ``contrary``: changes that the second pass found to contradict the one
    before of their row; ``unread``: units of which it could not read a change; ``blind``: by the
    key space of a table (:data:`ANY_TABLE`: it is not known which), where the first unit of
    ``start`` commits that has such a change of the table; ``untold``: units behind incomplete ones
    of whose references neither the log nor a state tells."""

    start: UnitCommits = field(default_factory=UnitCommits)
    flagged: UnitCommits = field(default_factory=UnitCommits)
    evented: set[int] = field(default_factory=set)
    pieces: list[bytes] = field(default_factory=list)
    changes: int = 0
    last: Position = LOWEST
    contrary: int = 0
    unread: UnitSet = field(default_factory=UnitSet)
    blind: Mapping[int, Position] = field(default_factory=dict)
    untold: UnitSet = field(default_factory=UnitSet)

    def warnings(self) -> list[str]:
        """What a user must know of a log that contradicts itself, or cannot be read."""
        texts = []
        if self.unread:
            texts.append(
                f"{counted(len(self.unread), 'unit has', 'units have')} changes that cannot be"
                " read, so what they depend on, and what depends on them, is not known:"
                f" {self.unread_units()}; logreplay check names the records"
            )
        if self.contrary:
            texts.append(
                f"{counted(self.contrary, 'change')} found their row other than the one before in"
                " the log left it: a record is damaged or missing, or the log was written with a"
                " filter. Do not use the result before you know which; logreplay check names"
                " them"
            )
        if self.untold:
            texts.append(
                f"{counted(len(self.untold), 'unit')} of recovery deleted rows that others may"
                " refer to, after an incomplete unit that may have changed these; the log flags"
                f" none of them, so they are taken: {some_of(self.untold, len(self.untold))};"
                " --baseline (the state before the log) proves it"
            )
        return texts

    def unread_units(self, among: Iterable[UnitId] | None = None) -> str:
        """The units (of some) of which a change cannot be read, in words; empty where none is."""
        units = self.unread if among is None else self.unread & among
        return some_of(units, len(units))

    def add(self, other: HeaderSurvey) -> None:
        """Add what another split says."""
        for mine, found in ((self.start, other.start), (self.flagged, other.flagged)):
            mine.put(found.units().column(), found.commits())
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
    units: Set[UnitId] = frozenset()

    def mask(self, log: LogFile, envelope: Envelope, change: Bytes, version: Versions) -> Mask:
        """Which records make their unit one of these."""
        wanted = (
            envelope.incomplete_unit().copy() if self.incomplete else np.zeros(len(envelope), bool)
        )
        if self.selection is not None:
            taken = log.catalog.taken_by(self.selection.takes_tables)
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
class Walked:
    """Records of a split that lie one behind the other, the first of which is number
    ``first_record``; ``damaged``: with a wrong header, or ``headless``, which end units of which
    other records are not in the log."""

    first_record: int
    offsets: Index
    lengths: Lengths
    envelope: Envelope
    damaged: Mask
    headless: Mask


@dataclass(frozen=True)
class Look:
    """What the passes share: walking a split and sorting out the records that took effect."""

    spaces: KeySpaces

    def batches(
        self, log: LogFile, split: Split, seen: Callable[[Walked], None] | None = None
    ) -> Iterator[tuple[Records, Envelope, Bytes, Versions]]:
        """The changes that took effect; ``seen`` is called with all records, in log order."""
        for first_record, offsets, lengths in log.records(split, TOGETHER):
            envelope = log.envelope(split.file, offsets, lengths)
            change, version = log.classify(envelope)
            headless = lacks_its_beginning(envelope, change)
            damaged = log.check(envelope, lengths, change, version) | headless
            kept = np.flatnonzero(effective(envelope, change, version, damaged))
            if seen is not None:
                seen(Walked(first_record, offsets, lengths, envelope, damaged, headless))
            if len(kept):
                records = sort_records(
                    split.file, first_record, offsets, lengths, envelope, change, version, kept
                )
                yield records, envelope.take(kept), change[kept], version[kept]


def in_one_piece(records: Records, change: Bytes, version: Versions, rows: Index) -> ChangeBatch:
    """The changes that those of some records are which are not cut into segments."""
    every = np.arange(len(rows), dtype=np.int64)
    return ChangeBatch(
        take_rows(records, rows), every, np.ones_like(every), change[rows], version[rows]
    )


def begun_in(split: Split, pieces: Records) -> ChangeBatch:
    """The changes in segments of which the first lies in a split, of all ``pieces`` of a log."""
    batch = assemble(pieces)
    first = batch.records[batch.head]
    inside = (first["offset"] >= split.start) & (first["offset"] < split.stop)
    return batch.part(np.flatnonzero((first["file"] == split.file) & inside))


@dataclass(frozen=True)
class SurveyJob(ScanJob, Look):
    """The first pass."""

    title = "survey units of recovery"

    start: StartUnits

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
                units.put(*(records[name][rows[first]] for name in ("unit", "commit")))
            emptied = np.unique(version[np.isin(change, WHOLE_TABLE)])
            exchanges = records[change == Change.EXCHANGE]
            places = (exchanges[name] for name in ("file", "offset", "length"))
            emptied = np.unique(np.concatenate([emptied, *other_versions(log, *places)]))
            survey.evented |= {self.spaces.table_space[int(index)] for index in emptied.tolist()}
            survey.changes += int((envelope.segment() <= 1).sum())
            survey.last = max(survey.last, highest_of(records["commit"]))
            cut = np.flatnonzero(envelope.segments() > 1)
            if len(cut):
                survey.pieces.append(records[cut].tobytes())
        yield 0, pickle.dumps(survey)


@dataclass(frozen=True)
class EdgeJob(Look):
    """The second pass: touches by key, and the edges between units. ``pieces`` are the records of
    segmented changes, taken up where the first of each lies."""

    title = "find what depends on what"

    evented: frozenset[int]
    pieces: Records
    buckets: int = KEY_BUCKETS + 1
    #: The units about whose rows is asked, too, what they found.
    asked: AskedUnits | None = None

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        """Blocks of touches by bucket."""
        write_sets = WriteSets(log, self.spaces, self.evented, with_forms=True)
        unread: list[bytes] = []

        def note(walked: Walked) -> None:
            """Units with a record whose header is wrong beyond what identifies its unit."""
            if walked.damaged.any():
                named = walked.damaged & log.names_its_unit(walked.envelope, walked.lengths)
                part = walked.envelope.take(np.flatnonzero(named))
                _, version = log.classify(part)
                commit, unit = opaque(part.commit()), opaque(part.unit())
                unread.append(_unread(commit, unit, version).tobytes())

        for records, envelope, change, version in self.batches(log, split, note):
            kept = np.flatnonzero(envelope.segments() <= 1)
            batch = in_one_piece(records, change, version, kept)
            yield from self._by_bucket(write_sets, batch)
        yield from self._by_bucket(write_sets, begun_in(split, self.pieces))
        yield UNREAD_BUCKET, b"".join(unread)

    def _by_bucket(self, write_sets: WriteSets, batch: ChangeBatch) -> Iterator[tuple[int, bytes]]:
        touches = np.array(write_sets.touches(batch))
        heads = batch.records[batch.head]
        touches["change"] = change_places(heads)[touches["change"]]
        bucket = (np.ascontiguousarray(touches["key"]) >> np.uint64(32)) % np.uint64(KEY_BUCKETS)
        for number in np.unique(bucket).tolist():
            rows = np.flatnonzero(bucket == number)
            yield int(number), take_rows(touches, rows).tobytes()
        for rows in write_sets.unread:
            commit, unit = heads["commit"][rows], heads["unit"][rows]
            yield UNREAD_BUCKET, _unread(commit, unit, batch.version[rows]).tobytes()

    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The different edges of a bucket, packed, up to :data:`EDGES` of them in a result; then
        the questions that it leaves open, how many changes contradict the one before, and those
        that cannot be read (:data:`UNREAD`)."""
        if bucket == UNREAD_BUCKET:
            yield pickle.dumps((b"", b"", 0, b"".join(blocks)))
            return
        touches = np.frombuffer(b"".join(blocks), TOUCH)
        touches = take_rows(touches, touch_order(touches))
        edges = packed_edges(touches, links(touches, row_spaces(self.spaces, self.evented)))
        asked, contrary = np.zeros(0, QUESTION), 0
        if len(touches):
            roles = SpaceRoles.of(self.spaces, self.evented)
            contrary = contrary_rows(touches, roles)
        if self.asked is not None and len(touches):
            asked = questions(touches, self.asked, roles, first_versions(self.spaces))
        edges += form_edges(touches)
        for low in range(0, len(edges), EDGES):
            yield pickle.dumps((edges[low : low + EDGES], b"", 0, b""))
        yield pickle.dumps((b"", asked.tobytes(), contrary, b""))


def _unread(commit: Records, unit: Records, version: Versions) -> Records:
    unread = np.zeros(len(version), UNREAD)
    unread["commit"], unread["unit"], unread["version"] = commit, unit, version
    return unread


def torn_changes(log: LogFile, pieces: Records) -> Records:
    """The changes in segments of which not all are there (dtype :data:`UNREAD`)."""
    batch = assemble(pieces)
    if int(batch.weight.sum()) == len(pieces):
        return np.zeros(0, UNREAD)
    every = order.commit_order(pieces)
    missing = np.ones(len(pieces), bool)
    first = np.cumsum(batch.weight) - batch.weight
    missing[np.repeat(batch.head - first, batch.weight) + np.arange(batch.weight.sum())] = False
    torn = pieces[every[missing]]
    return _unread(torn["commit"], torn["unit"], torn["version"])


def first_blind(spaces: KeySpaces, unread: Records, start: UnitCommits) -> dict[int, Position]:
    """Of changes that cannot be read (dtype :data:`UNREAD`), :attr:`HeaderSurvey.blind`."""
    blind: dict[int, Position] = {}
    for version in np.unique(unread["version"]).tolist():
        some = unread[unread["version"] == version]
        rows, there = start.rows_of(some["unit"])
        if there.any():
            both = [some["commit"][there], start.commits()[rows[there]]]
            first = lowest_of(np.concatenate(both))
            space = spaces.table_space[version] if version >= 0 else ANY_TABLE
            blind[space] = min(blind.get(space, first), first)
    return blind


@dataclass(frozen=True)
class FollowJob(ScanJob, Look):
    """Which units changed a table after a change in it that cannot be read: ``blind`` as in
    :class:`HeaderSurvey`. Results are blocks of :data:`FOLLOWER`."""

    title = "find what may depend on damaged records"

    blind: Mapping[int, Position]

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        """Blocks of units, each once in a batch with each table."""
        table_space = np.array(self.spaces.table_space, np.int64)
        for records, envelope, _, version in self.batches(log, split):
            behind = np.zeros(len(records), bool)
            for space, commit in self.blind.items():
                later = compare(envelope.commit(), commit) >= 0
                behind |= later & ((table_space[version] == space) | (space == ANY_TABLE))
            followers = np.zeros(int(behind.sum()), FOLLOWER)
            followers["unit"] = records["unit"][behind]
            followers["space"] = table_space[version[behind]]
            yield 0, np.unique(followers).tobytes()


@dataclass(frozen=True)
class CollectJob(ScanJob, Look):
    """The third pass: the records of the units (by hash) that the question reaches, and the touches
    of their changes that are in one piece, which are numbered by :func:`change_places`."""

    title = "collect changes of units"

    units: Hashes
    evented: frozenset[int]

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        """Blocks of records, each with their touches."""
        write_sets = WriteSets(log, self.spaces, self.evented, with_forms=True, each=True)
        for records, envelope, change, version in self.batches(log, split):
            hashes = unit_hash(as_bytes(records["unit"]))
            place = np.minimum(np.searchsorted(self.units, hashes), max(len(self.units) - 1, 0))
            wanted = (
                np.flatnonzero(self.units[place] == hashes)
                if len(self.units)
                else np.zeros(0, np.int64)
            )
            if len(wanted):
                whole = wanted[envelope.segments()[wanted] <= 1]
                batch = in_one_piece(records, change, version, whole)
                touches = np.array(write_sets.touches(batch))
                touches["change"] = change_places(batch.records)[touches["change"]]
                block = packed(records[wanted].view(np.uint8))
                yield 0, pickle.dumps((block, touches.tobytes()))


def assemble(records: Records) -> ChangeBatch:
    """Records (dtype RECORD, any order) as changes in commit order; changes with missing segments
    are left out."""
    return _changes(records[order.commit_order(records)] if len(records) else records)


def collected(results: Iterable[bytes]) -> tuple[ChangeBatch, Records]:
    """The changes of the third pass, and the touches that came with them (:data:`TOUCH`), which lie
    in files where they are many. OSError where there is no room for these."""
    touches = Growing(TOUCH)

    def blocks() -> Iterator[bytes]:
        for result in results:
            block, some = pickle.loads(result)
            touches.add(np.frombuffer(some, TOUCH))
            yield block

    batch = _changes(in_commit_order(blocks()))
    return batch, touches.array()


def _changes(records: Records) -> ChangeBatch:
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
    head = head[whole]
    return ChangeBatch(
        records,
        spilled(head),
        spilled(weight[whole]),
        spilled(change[head]),
        spilled(version[head]),
    )


#: Bits of a record's number in the place of a change.
_NUMBER = 40


def change_places(heads: Records) -> Index:
    """The places of changes in the log as one number each, from their first records."""
    return np.asarray(heads["file"].astype(np.int64) << _NUMBER | heads["number"])


def file_and_number(place: int) -> tuple[int, int]:
    """The first record of a change at a place: its file, and its number there."""
    return place >> _NUMBER, place & ((1 << _NUMBER) - 1)
