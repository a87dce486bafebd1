"""The first look at a large log, by tasks: each finds the records of a range of a file, and says
what their headers do. What records say of each other comes later, of all of them
(:mod:`replay.logs.db2luw.index`)."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Index, Lengths, Mask
from replay.logs import Split
from replay.logs.by_tasks import OpeningTasks
from replay.logs.db2luw import layouts
from replay.logs.db2luw.binary import numbers
from replay.logs.db2luw.framing import LuwShape, OpenedFile, check_end, walked
from replay.logs.db2luw.layouts import RecordKind
from replay.logs.db2luw.scan import SCANNED, Scanned, scan_records
from replay.logs.files import in_place, mapped, size_of
from replay.logs.long_arrays import LongArrays
from replay.storage import is_url

#: Bytes of log from which on tasks look at it.
TASKS_FROM = 256 << 20
#: Records that must follow one another where one is taken to begin, and places tried together.
_FOLLOWING, _TRIED = 4, 1 << 16


@dataclass(frozen=True)
class FramedFile:
    """A file whose shape is known: its name, and the path of its (unpacked) bytes."""

    name: str
    path: str
    shape: LuwShape


@dataclass(frozen=True)
class FramedLog:
    """Files whose records are looked for. Implements :class:`replay.logs.ranged.RangedLog`; cheap
    to pickle."""

    files: Sequence[FramedFile]

    @classmethod
    def of(cls, files: Sequence[OpenedFile]) -> FramedLog:
        """Some files."""
        return cls([FramedFile(file.name, file.path, file.shape) for file in files])

    #: Nothing is learned from the order of records before all are found.
    walks_ranges = True

    def size(self, file: int) -> int:
        """Bytes of a file."""
        return size_of(self.files[file].path)

    def buffer(
        self,
        file: int,
        start: npt.NDArray[Any] | int | None = None,
        stop: npt.NDArray[Any] | int | None = None,
    ) -> Bytes:
        """The bytes of a file, of which those of ``start:stop`` are there."""
        return mapped(self.files[file].path, start, stop)

    def read_in_place(self, file: int) -> str | None:
        """The input that a file is as it is."""
        entry = self.files[file]
        return entry.name if in_place(entry.path, entry.name) else None

    def steps(self, file: int, start: int, stop: int) -> Iterator[tuple[Index, Lengths]]:
        """(offsets, lengths) of the records whose framing begins in ``start:stop``, where that of
        one begins at ``start``, many at a time."""
        shape = self.files[file].shape
        lead, reach = shape.framing.size, stop + shape.framing.size + 4
        buffer = self.buffer(file, start, reach)
        for offsets, lengths in walked(buffer, shape, max(start, shape.start)):
            count = int(np.searchsorted(offsets, stop + lead))
            yield offsets[:count], lengths[:count]
            if count < len(offsets):
                return

    def walked(
        self, file: int, start: int, stop: int, first_record: int
    ) -> tuple[int, Index, Lengths]:
        """As :meth:`replay.logs.ranged.RangedLog.walked`; what is no whole record at the end of the
        file is passed over. InputError LR2005."""
        entry, size = self.files[file], self.size(file)
        parts = list(self.steps(file, start, stop))
        offsets, lengths = (np.concatenate(each) for each in zip(*parts, strict=True))
        place = max(start, entry.shape.start)
        if len(offsets):
            place = int(offsets[-1]) + int(lengths[-1])
        if place < stop:
            buffer = self.buffer(file, place, size)
            check_end(buffer, entry.shape, entry.name, first_record - 1 + len(offsets), place)
            place = size
        return place, offsets, lengths

    def likely_starts(self, file: int, start: int, stop: int) -> Iterator[int]:
        """Places from which on some records follow one another."""
        for low in range(start, stop, _TRIED):
            places = np.arange(low, min(low + _TRIED, stop))
            at, left = places.copy(), np.arange(len(places))
            for _ in range(_FOLLOWING):
                fits, behind = self._likely(file, at[left])
                at[left] = behind
                left = left[fits]
            yield from places[left].tolist()

    def _likely(self, file: int, at: Index) -> tuple[Mask, Index]:
        """(whether a record, or the end of the file, is likely at places; where it ends)."""
        shape, size = self.files[file].shape, self.size(file)
        begin = at + shape.framing.size
        buffer = self.buffer(file, begin, begin + 8)
        header, big = shape.dialect.header, shape.big
        length, kind, flags = (
            numbers(buffer, begin, header[name], big).astype(np.int64)
            for name in ("length", "type", "flags")
        )
        fits = (length >= shape.dialect.sizes[0]) & (length <= layouts.LONGEST_RECORD)
        fits &= (begin + length <= size) & (flags & layouts.FLAGS_UNUSED == 0) & (kind < 256)
        fits &= layouts.KIND_OF_TYPE[np.minimum(kind, 255)] != RecordKind.UNKNOWN
        return fits | (at == size), np.where(fits, begin + length, at)


@dataclass(frozen=True)
class LookJob:
    """Looks at the records of ranges that begin and end at records. Results are pickled
    :class:`_Look`."""

    title = "index ranges"

    buckets: int = 0

    def scan(self, log: FramedLog, split: Split) -> Iterator[tuple[int, bytes]]:
        """The records of one range, in pieces."""
        entry = log.files[split.file]
        opened, count = OpenedFile(entry.name, entry.path, entry.shape), 0
        for offsets, lengths in log.steps(split.file, split.start, split.stop):
            names: dict[bytes, int] = {b"": 0}
            for records in scan_records(opened, split.file, offsets, lengths, names):
                end = int(offsets[-1]) + int(lengths[-1])
                look = _Look(split.file, split.start, count, end, [*names], records.tobytes())
                yield self.buckets, pickle.dumps(look)
                count += 1

    def reduce(self, log: FramedLog, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Never called: there are no buckets."""
        raise AssertionError


@dataclass(frozen=True)
class _Look:
    """Piece ``number`` of the records of a range, which begins at ``start`` of a file: ``names`` by
    their numbers, ``records`` (dtype :data:`SCANNED`); the last record ends before ``end``."""

    file: int
    start: int
    number: int
    end: int
    names: list[bytes]
    records: bytes


def reached_by(tasks: OpeningTasks | None, given: Sequence[str], paths: Sequence[str]) -> bool:
    """Whether tasks look at files, which the user ``given`` and whose bytes are at ``paths``: at
    large ones that they find."""
    if tasks is None or sum(map(size_of, paths)) <= TASKS_FROM or not tasks.pays:
        return False
    return tasks.on_this_machine or all(
        is_url(path) or in_place(path, name) for path, name in zip(paths, given, strict=True)
    )


def look_by_tasks(
    files: Sequence[OpenedFile], splits: Sequence[Split], tasks: OpeningTasks, arrays: LongArrays
) -> tuple[list[OpenedFile], Scanned]:
    """(files with what is left at their ends, their records), looked at by tasks, which know where
    the records are. Raises what tasks raise."""
    log = FramedLog.of(files)
    names: dict[bytes, int] = {b"": 0}
    ends = [file.shape.start for file in files]
    came, growing = list[tuple[tuple[int, int, int], int, int]](), arrays.growing(SCANNED)
    for packed in tasks.results(LookJob(), log, splits):
        look = pickle.loads(packed)
        records = np.frombuffer(bytearray(look.records), SCANNED)
        numbers_ = np.array([names.setdefault(name, len(names)) for name in look.names])
        records["name"] = numbers_[records["name"]]
        came.append(((look.file, look.start, look.number), growing.count, len(records)))
        growing.add(records)
        ends[look.file] = max(ends[look.file], look.end)
    together = growing.array()
    if any(one[0] > other[0] for one, other in pairwise(came)):
        pieces = (together[start : start + count] for _, start, count in sorted(came))
        together = arrays.collected(pieces, SCANNED)
    sizes = (log.size(number) for number in range(len(files)))
    opened = [
        replace(file, tail=end if end < size else None)
        for file, end, size in zip(files, ends, sizes, strict=True)
    ]
    return opened, Scanned(together, names)
