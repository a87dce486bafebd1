"""The index of a large log, made by tasks: where its records are, how many, and the digests of its
files.

Each task reads a range of a file. Where the range begins nobody knows where a record does, so the
task guesses: it takes a place that looks like a record and walks from there. The guess is proven by
the task before it, whose walk must end exactly at that place; the first range of a file begins with
a record. So the chain of all ranges is the one walk from beginning to end, or it is not taken: a
range whose task guessed wrong is walked again from where the range before it ended. Damage is left
to the walk from the last proven place on, which names the record.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import cast
from weakref import finalize

import numpy as np

from replay.arrays import Mask
from replay.changes.choices import EngineName
from replay.changes.selection import Selection
from replay.engine.contract import SPLIT_BYTES, Engine, ScanJob
from replay.errors import InputError
from replay.logs import LogFile, Split
from replay.logs.files import KnowsFiles
from replay.logs.log_file import RangedLog
from replay.pipeline.input_digests import RANGE_BYTES, WHOLE_BYTES, FileDigest, digest_of_ranges
from replay.pipeline.plan import LogIndex, sampled

#: Bytes of log from which on tasks index it.
TASKS_FROM = 1 << 30
#: Starts that a task tries, and how often ranges are walked again, before the driver walks on.
_TRIES, _ROUNDS = 4, 4
#: Bytes that are digested at a time.
_HASHED = 16 << 20


@dataclass(frozen=True)
class WalkedRange:
    """The walk of one range: it begins at the record at ``begin`` and ends where the one at ``end``
    begins. ``cuts`` are its parts, (start, stop, records) each. None of it is there (-1) where no
    walk came through. ``digest`` is that of the range's bytes, empty where nobody asked."""

    file: int
    stop: int
    begin: int = -1
    end: int = -1
    cuts: tuple[tuple[int, int, int], ...] = ()
    digest: bytes = b""


@dataclass(frozen=True)
class RangeWalkJob(ScanJob):
    """Walks ranges of data files. The ``first_record`` of a split is 0 where its start is any
    place, 1 where a record begins there. Results are pickled :class:`WalkedRange`."""

    title = "index and digest ranges"
    together = 4

    split_bytes: int
    digests: bool

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        """Walk one range, and digest it."""
        assert isinstance(log, RangedLog)
        hashed = _Hashed(log, split)
        result = WalkedRange(split.file, split.stop)
        starts: Iterable[int] = (split.start,)
        if not split.first_record:
            starts = islice(log.likely_starts(split.file, split.start, split.stop), _TRIES)
        for start in starts:
            cuts = self._cuts(log, split, start, hashed)
            if cuts:
                result = replace(result, begin=start, end=cuts[-1][1], cuts=cuts)
                break
        if self.digests:
            hashed.up_to(split.stop)
            result = replace(result, digest=hashed.digest.digest())
        yield self.buckets, pickle.dumps(result)

    def _cuts(
        self, log: RangedLog, split: Split, start: int, hashed: _Hashed
    ) -> tuple[tuple[int, int, int], ...]:
        """The parts of a walk from ``start`` on; none where it does not come through."""
        cuts = []
        while start < split.stop:
            try:
                wanted = min(start + self.split_bytes, split.stop)
                stop, offsets, _ = log.walked(split.file, start, wanted, 1)
            except InputError:
                return ()
            cuts.append((start, stop, len(offsets)))
            start = stop
            if self.digests:
                hashed.up_to(stop)
        return tuple(cuts)


class _Hashed:
    """The digest of a range, made while it is walked, so that its bytes are read once."""

    def __init__(self, log: RangedLog, split: Split) -> None:
        self.log, self.split = log, split
        self.place, self.digest = split.start, hashlib.sha256()

    def up_to(self, place: int) -> None:
        """Digest the bytes up to ``place`` that were not yet."""
        while self.place < min(place, self.split.stop):
            stop = min(self.place + _HASHED, place, self.split.stop)
            buffer = self.log.buffer(self.split.file, self.place, stop)
            self.digest.update(np.ascontiguousarray(buffer[self.place : stop]).data)
            self.place = stop


@dataclass(frozen=True)
class SampleJob(ScanJob):
    """Samples the commit positions of a log whose splits are known. Results are the leading words
    of them (``uint64[n]``) as bytes."""

    title = "sample commit positions"
    together = 8

    selection: Selection
    taken: Mask

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        """The sample of one split."""
        for _, offsets, lengths in log.records(split, split.stop - split.start):
            words = sampled(log, self.selection, self.taken, split, offsets, lengths)
            yield self.buckets, words.tobytes()


def index_by_tasks(
    log: LogFile, selection: Selection, taken: Mask, split_bytes: int, engine: Engine | None
) -> LogIndex | None:
    """The index of a log, made by tasks of ``engine``. None where that does not pay (no Spark, a
    small log), where the log's files cannot be walked by ranges, and where their framing is
    damaged: the driver's walk reports it."""
    found = files_by_tasks(log, split_bytes, engine)
    if found is None or engine is None:
        return None
    words = b"".join(engine.results(SampleJob(selection, taken), log, found.splits))
    return LogIndex(found.splits, np.frombuffer(words, np.uint64), found.digests)


@dataclass(frozen=True)
class WalkedFiles:
    """Where the records of all files are: ``splits`` that begin and end at records, by file and
    place; ``digests`` of the files that are inputs as they are, by input."""

    splits: tuple[Split, ...]
    digests: Mapping[str, FileDigest]


@dataclass(frozen=True)
class _Known:
    """What tasks found of a log in splits of ``size``."""

    size: int
    walked: WalkedFiles


#: Of logs that are open, by their identity; of those alone that are refused where their files
#: change (:class:`KnowsFiles`).
_known: dict[int, _Known] = {}


def files_by_tasks(
    log: LogFile, split_bytes: int | None, engine: Engine | None
) -> WalkedFiles | None:
    """The records of a log in splits of about ``split_bytes`` (None: any size), found by tasks of
    ``engine``, once for as long as it is open (where it is a :class:`KnowsFiles`). None as
    :func:`index_by_tasks`."""
    if engine is None or engine.name is not EngineName.SPARK:
        return None
    size = split_bytes or SPLIT_BYTES
    if not isinstance(log, RangedLog) or not log.walks_ranges:
        return None
    known = _known.get(id(log))
    if known is not None and split_bytes in (None, known.size):
        return known.walked
    found = _walked(log, size, engine)
    if found is not None and isinstance(log, KnowsFiles):
        if known is None:
            finalize(log, _known.pop, id(log))
        _known[id(log)] = _Known(size, found)
    return found


def splits_of(log: LogFile, split_bytes: int, engine: Engine | None) -> Sequence[Split]:
    """The splits of a log, as tasks of ``engine`` find them or this process does. InputError where
    a file's framing is damaged."""
    found = files_by_tasks(log, split_bytes, engine)
    return [split for split, _, _ in log.splits(split_bytes)] if found is None else found.splits


def _walked(log: RangedLog, split_bytes: int, engine: Engine) -> WalkedFiles | None:
    """The records of a large log; None as :func:`index_by_tasks`."""
    numbers = range(len(log.files))
    if sum(map(log.size, numbers)) <= TASKS_FROM:
        return None
    ranges = [_ranges_of(number, log.size(number)) for number in numbers]
    walks = _walks(
        engine, log, RangeWalkJob(split_bytes, True), [r for each in ranges for r in each]
    )
    digests = {
        name: _file_digest(log.size(number), [walks[(number, r.stop)].digest for r in each])
        for number, each in zip(numbers, ranges, strict=True)
        if (name := log.read_in_place(number)) is not None
    }
    chains = _proven(engine, log, ranges, walks, split_bytes)
    if chains is None:
        return None
    splits = tuple(split for chain in chains for split in _splits_of(chain))
    return WalkedFiles(splits, digests)


def _ranges_of(file: int, size: int) -> list[Split]:
    """A file as ranges, all of which but the first begin anywhere."""
    width = size if size <= WHOLE_BYTES else RANGE_BYTES
    return [
        Split(file, start, min(start + width, size), int(start == 0))
        for start in range(0, size, width or 1)
    ]


_Walks = dict[tuple[int, int], WalkedRange]


def _walks(engine: Engine, log: RangedLog, job: RangeWalkJob, ranges: Sequence[Split]) -> _Walks:
    """Walks by (file, stop of the range)."""
    walks = map(pickle.loads, engine.results(job, cast(LogFile, log), ranges))
    return {(walk.file, walk.stop): walk for walk in walks}


def _file_digest(size: int, digests: Sequence[bytes]) -> FileDigest:
    if size > WHOLE_BYTES:
        return digest_of_ranges(size, digests)
    return FileDigest(size, (digests[0] if digests else hashlib.sha256().digest()).hex())


def _proven(
    engine: Engine,
    log: RangedLog,
    ranges: Sequence[Sequence[Split]],
    walks: _Walks,
    split_bytes: int,
) -> list[list[WalkedRange]] | None:
    """The walks of each file, each of which begins where the one before it ended; None where it
    takes too long to find them, as behind a damaged length."""
    for _ in range(1 + _ROUNDS):
        chains = [_chain(each, walks) for each in ranges]
        again = [split for _, wrong in chains for split in wrong]
        if not again:
            return [chain for chain, _ in chains]
        walks |= _walks(engine, log, RangeWalkJob(split_bytes, False), again)
    return None


def _chain(ranges: Sequence[Split], walks: _Walks) -> tuple[list[WalkedRange], list[Split]]:
    """The walks of a file as far as they follow one another, and the ranges to be walked from
    another start. Ranges in which no record begins have no part in it."""
    chain, wrong = [], []
    place: int | None = 0
    for part in ranges:
        if place is not None and place >= part.stop:
            continue
        walk = walks[(part.file, part.stop)]
        if place is not None and walk.begin != place:
            wrong.append(Split(part.file, place, part.stop, 1))
        chain.append(walk)
        place = walk.end if walk.begin >= 0 else None
    return chain, wrong


def _splits_of(chain: Iterable[WalkedRange]) -> Iterator[Split]:
    first = 1
    for walk in chain:
        for start, stop, count in walk.cuts:
            if count:
                yield Split(walk.file, start, stop, first)
            first += count
