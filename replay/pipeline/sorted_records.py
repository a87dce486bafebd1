"""The sort records of a bucket in commit order: in memory where they are few, else merged from
sorted runs on disk, so that a unit of recovery may be of any size.

Runs and what is merged from them lie in files without a name, which go with the process. They are
read through memory maps: what is looked at is cached by the operating system, which takes its
memory back when it is needed elsewhere.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, pairwise
from typing import IO

import numpy as np

from replay.arrays import Bytes, Index, Records
from replay.changes.envelope import RECORD, field_slice, take_records
from replay.changes.order import commit_order
from replay.decoding.machine_code import NUMBER, ArrayOf, Kernel, available
from replay.pipeline.packed_records import PackedRecords
from replay.temp_folders import scratch_file

#: Records that are sorted in memory; a bucket of more is sorted by runs of so many.
RUN = 1 << 19
#: Runs that are merged together, and the records of each that a step looks at.
TOGETHER, WINDOW = 128, 4096
#: Records that make it worth to load machine code, and by how many places it may move one, on
#: average.
WORTH, _MOVES = 50_000, 8
_MODULE = "replay.pipeline.sorted_records_kernel"
_KERNEL = Kernel(
    _MODULE,
    "settle_order",
    (ArrayOf("uint8"), NUMBER, NUMBER, ArrayOf("int64", fixed=True), NUMBER),
)
_JOIN = Kernel(
    _MODULE,
    "join_fields",
    (ArrayOf("uint64", 2, fixed=True), ArrayOf("uint64"), ArrayOf("uint64")),
)
#: Words that the latter needs for itself.
_STATE = 10
_RANK = Kernel(
    _MODULE,
    "rank_words",
    (ArrayOf("uint64", fixed=True), ArrayOf("uint64", 3), ArrayOf("int64"), ArrayOf("int64")),
)
#: Counts that it needs: of seven digits of 10 bits, and of each value that one has.
_COUNTS = 7 << 10


def in_commit_order(blocks: Iterable[bytes]) -> Records:
    """The records of ``blocks`` (:mod:`replay.pipeline.packed_records`) in the order of
    :func:`replay.changes.order.commit_order`. More than :data:`RUN` of them are merged in a
    file, to which the array refers. Raises OSError where that cannot be written."""
    runs = _runs(blocks)
    first = next(runs, np.zeros(0, RECORD))
    second = next(runs, None)
    if second is None:
        return first
    with scratch_file() as file:
        ends = _written(file, chain((first, second), runs))
        records = _mapped(file)
    while len(ends) > 1:
        with scratch_file() as file:
            parts = [records[start:stop] for start, stop in pairwise([0, *ends])]
            groups = (parts[low : low + TOGETHER] for low in range(0, len(parts), TOGETHER))
            ends = [_written(file, merged(group))[-1] for group in groups]
            records = _mapped(file)
    return records


def _runs(blocks: Iterable[bytes]) -> Iterator[Records]:
    """Sorted runs of the records as they come; the last one may be shorter."""
    pieces, room = list[PackedRecords](), RUN
    for block in blocks:
        rest = PackedRecords.of(block)
        while rest.count > room:
            run = _sorted([*pieces, rest.part(0, room)])
            pieces, rest, room = [], rest.part(room, rest.count), RUN
            yield run
        pieces.append(rest)
        room -= rest.count
    if room < RUN:
        yield _sorted(pieces)


def _sorted(pieces: Sequence[PackedRecords]) -> Records:
    """The records of all ``pieces`` in their order."""
    count = sum(piece.count for piece in pieces)
    together = [piece.rest for piece in pieces if piece.is_whole]
    if len(together) > 1:  # many that are small
        others = [piece for piece in pieces if not piece.is_whole]
        pieces = [PackedRecords.whole(np.concatenate(together)), *others]
    settle = available(_KERNEL) if count >= WORTH else None
    octets = None if settle is None else _nearly_sorted(pieces, count)
    if settle is None or octets is None:
        records = np.concatenate([piece.records() for piece in pieces])
        return take_records(records, commit_order(records))
    unsettled = settle(octets, RECORD.itemsize, *_key_places(), _MOVES * count)
    records = octets.view(RECORD)[:count]
    return take_records(records, commit_order(records)) if unsettled else records


def _nearly_sorted(pieces: Sequence[PackedRecords], count: int) -> Bytes | None:
    """The octets of the records in the order of their leading words, with room for one record
    more. None where there is no machine code."""
    starts = np.cumsum([0, *(piece.count for piece in pieces)]).tolist()
    join, rank = available(_JOIN), available(_RANK)
    if join is None or rank is None:
        return None
    fields = np.empty((count, 4), np.uint64)
    for piece, start in zip(pieces, starts, strict=False):
        if not piece.leading_words(fields[start : start + piece.count]):
            return None
    # of one commit mostly records of one unit
    words, ranks = np.empty(count, np.uint64), np.empty(count, np.int64)
    join(fields, np.empty(_STATE, np.uint64), words)
    rank(words, fields.reshape(2, count, 2), np.empty(_COUNTS, np.int64), ranks)
    octets = np.empty((count + 1) * RECORD.itemsize, np.uint8)
    for piece, start in zip(pieces, starts, strict=False):
        if not piece.put(ranks[start : start + piece.count], octets):
            return None
    return octets


@cache
def _key_places() -> tuple[int, Index]:
    """(words, octets): what :func:`replay.changes.order.commit_order` compares of a record, which
    are the words that it begins with, and then these octets, of numbers the last one first."""
    places: list[int] = []
    for name in ("commit", "unit", "position", "segment", "file", "offset"):
        octets = range(RECORD.itemsize)[field_slice(name)]
        places += octets if RECORD[name].kind == "V" else reversed(octets)
    words = next(n for n, place in enumerate([*places, -1]) if n != place) // 8
    return words, np.array(places[8 * words :], np.int64)


def merged(runs: Sequence[Records]) -> Iterator[Records]:
    """Sorted runs as one, in steps. A step takes of the next :data:`WINDOW` records of each run
    those that do not come after the least of the last ones: whatever comes later is greater."""
    places = [0] * len(runs)
    left = [number for number, run in enumerate(runs) if len(run)]
    while left:
        stops = {number: min(places[number] + WINDOW, len(runs[number])) for number in left}
        bound = min(_key(runs[number], stop - 1) for number, stop in stops.items())
        pieces = list[PackedRecords]()
        for number, stop in stops.items():
            start, run = places[number], runs[number]
            places[number] = _after(run, start, stop, bound)
            part = np.ascontiguousarray(run[start : places[number]])
            pieces.append(PackedRecords.whole(part.view(np.uint8)))
        yield _sorted(pieces)
        left = [number for number in left if places[number] < len(runs[number])]


def _key(records: Records, row: int) -> tuple[bytes | int, ...]:
    """What :func:`replay.changes.order.commit_order` compares of a record."""
    record = records[row]
    fields = (record[name].tobytes() for name in ("commit", "unit", "position"))
    return *fields, *(int(record[name]) for name in ("segment", "file", "offset"))


def _after(records: Records, low: int, high: int, bound: tuple[bytes | int, ...]) -> int:
    """The first row from ``low`` on, ``high`` at most, that comes after ``bound``."""
    while low < high:
        middle = (low + high) // 2
        if _key(records, middle) <= bound:
            low = middle + 1
        else:
            high = middle
    return low


def _written(file: IO[bytes], runs: Iterable[Records]) -> list[int]:
    """Where each run ends that was put into a file, counted in records from its beginning."""
    ends = []
    for run in runs:
        file.write(run.data if run.flags.c_contiguous else run.tobytes())
        ends.append(file.tell() // RECORD.itemsize)
    return ends


def _mapped(file: IO[bytes]) -> Records:
    file.flush()
    return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), RECORD)
