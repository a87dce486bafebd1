"""The sort records of a bucket in commit order: in memory where they are few, else merged from
sorted runs on disk, so that a unit of recovery may be of any size.

Runs and what is merged from them lie in files without a name, which go with the process. They are
read through memory maps: what is looked at is cached by the operating system, which takes its
memory back when it is needed elsewhere.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import IO

import numpy as np

from replay.arrays import Records
from replay.changes.envelope import RECORD, take_records
from replay.changes.order import commit_order
from replay.pipeline.packed_records import unpacked
from replay.temp_folders import scratch_file

#: Records that are sorted in memory; a bucket of more is sorted by runs of so many.
RUN = 1 << 19
#: Runs that are merged together, and the records of each that a step looks at.
TOGETHER, WINDOW = 128, 4096


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
    pieces, room = list[Records](), RUN
    for block in blocks:
        rest = unpacked(block)
        while len(rest) > room:
            run = _sorted([*pieces, rest[:room]])
            pieces, rest, room = [], rest[room:], RUN
            yield run
        pieces.append(rest)
        room -= len(rest)
    if room < RUN:
        yield _sorted(pieces)


def _sorted(pieces: Sequence[Records]) -> Records:
    """The records of all ``pieces`` in their order."""
    records = np.concatenate(pieces)
    return take_records(records, commit_order(records))


def merged(runs: Sequence[Records]) -> Iterator[Records]:
    """Sorted runs as one, in steps. A step takes of the next :data:`WINDOW` records of each run
    those that do not come after the least of the last ones: whatever comes later is greater."""
    places = [0] * len(runs)
    left = [number for number, run in enumerate(runs) if len(run)]
    while left:
        stops = {number: min(places[number] + WINDOW, len(runs[number])) for number in left}
        bound = min(_key(runs[number], stop - 1) for number, stop in stops.items())
        pieces = list[Records]()
        for number, stop in stops.items():
            start, run = places[number], runs[number]
            places[number] = _after(run, start, stop, bound)
            pieces.append(run[start : places[number]])
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
