"""Arrays of any length: in memory while they are short, else in scratch files.

They are made (:class:`Spill`), appended to (:class:`Growing`), sorted (:func:`merged`,
:meth:`Spill.by`) and grouped (:func:`in_parts`, :meth:`Spill.together`), window by window, so that
the memory that this takes does not grow with them. A file without a folder has no name and goes
with the process, however that ends; one in a folder goes with its array. Files are read through
memory maps, so that the operating system takes the memory back when it is needed elsewhere. They
are written by plain writes, or have all their room from the beginning: where a disk is full when a
mapped page is written to, the process ends. OSError names the folder that has no room.
"""

from __future__ import annotations

import heapq
import os
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import IO, Any, cast

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from replay.arrays import Index, Mask, take_rows
from replay.machine import room_for
from replay.temp_folders import scratch_file

#: Rows that are worked on together.
WINDOW = 1 << 17
#: Rows of some hundred bytes that stay near the processor while field after field of them is
#: written; with more, each field fetches all of them from memory again.
NEAR = 1 << 13
#: Bytes of an array up to which it lies in memory.
BUDGET = 1 << 20
#: Rows of one run, and of all of them, that a step of merging looks at.
STEP, TOGETHER = 4096, 1 << 19
#: Into how many parts rows are divided at most by :func:`in_parts`: each may be an open file.
PARTS = 64
#: An odd number that spreads what it multiplies over the high bits.
_SPREAD = np.uint64(0x9E37_79B9_7F4A_7C15)
#: The files of arrays that are in use and have a name, by it.
_NAMED: dict[str, weakref.finalize[..., Any]] = {}

#: What some rows have, given by their numbers.
OfRows = Callable[[Index], npt.NDArray[Any]]
#: The order of the rows of an array.
Order = Callable[[npt.NDArray[Any]], Index]
#: What the order compares of a row of an array.
Key = Callable[[npt.NDArray[Any], int], Any]


def windows(count: int, most: int | None = None) -> Iterator[slice]:
    """The windows of ``count`` rows, in order, of ``most`` rows each (None: :data:`WINDOW`)."""
    step = most or WINDOW
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


def near_windows(count: int) -> Iterator[slice]:
    """The same of :data:`NEAR` rows at most, for work on many fields of each row."""
    return windows(count, min(NEAR, WINDOW))


def windows_back(count: int) -> Iterator[slice]:
    """The same as :func:`windows`, from the end on: the last one first."""
    for start in range((count - 1) // WINDOW * WINDOW, -1, -WINDOW):
        yield slice(start, min(start + WINDOW, count))


class _Scratch:
    """A file of one array, as ``numpy.save`` writes it. It is closed and removed with this object,
    unless :meth:`mapped` has given the file to an array."""

    def __init__(self, dtype: np.dtype[Any], folder: str | None) -> None:
        self.dtype, self._place = dtype, folder or tempfile.gettempdir()
        with room_for(self._place):
            self.file: IO[bytes] = (
                scratch_file() if folder is None else cast(IO[bytes], _named_file(folder))
            )
        self.name = "" if folder is None else self.file.name
        self._end = weakref.finalize(self, _ended, self.file, self.name)
        self.begin = self._headed(0)

    def _headed(self, count: int) -> int:
        """Write the header for ``count`` entries. How long it is, which does not depend on them."""
        self.file.seek(0)
        shape = {"descr": npy.dtype_to_descr(self.dtype), "fortran_order": False, "shape": (count,)}
        with room_for(self._place):
            npy.write_array_header_1_0(self.file, shape)
            return self.file.tell()

    def reserve(self, count: int) -> None:
        """Have room for ``count`` entries of zeros."""
        with room_for(self._place):
            self.file.flush()
            os.posix_fallocate(self.file.fileno(), self.begin, count * self.dtype.itemsize)

    def write(self, part: npt.NDArray[Any]) -> None:
        """Put entries behind the others."""
        with room_for(self._place):
            self.file.write(np.ascontiguousarray(part).view(np.uint8).data)

    def mapped(self, count: int) -> npt.NDArray[Any]:
        """All ``count`` entries. The file is open only through the array from now on."""
        self._headed(count)
        with room_for(self._place):
            self.file.flush()
        # a plain array: every slice of a memmap object would be one too, which costs more than it
        array = np.asarray(np.memmap(self.file, self.dtype, "r+", self.begin, (count,)))
        self._end.detach()
        self.file.close()
        if self.name:
            _NAMED[self.name] = weakref.finalize(array.base, _removed, self.name)
        return array


def _named_file(folder: str) -> Any:
    return tempfile.NamedTemporaryFile(suffix=".npy", prefix="array-", dir=folder, delete=False)


def _ended(file: IO[bytes], name: str) -> None:
    with suppress(OSError):  # what could not be written, nobody reads
        file.close()
    if name:
        _removed(name)


def _removed(name: str) -> None:
    _NAMED.pop(name, None)
    with suppress(OSError):
        os.unlink(name)


def file_of(array: npt.NDArray[Any]) -> str | None:
    """The file in a folder that an array is, as ``numpy.save`` writes it, which stays from now on;
    None where it is not one."""
    mapped = array.base
    name = str(mapped.filename) if isinstance(mapped, np.memmap) else ""
    if mapped is None or name not in _NAMED or array.shape != mapped.shape:
        return None
    _NAMED.pop(name).detach()
    return name


def zeros(count: int, dtype: npt.DTypeLike, folder: str | None = None) -> npt.NDArray[Any]:
    """``count`` zeros."""
    kind = np.dtype(dtype)
    if count * kind.itemsize <= BUDGET:
        return np.zeros(count, kind)
    scratch = _Scratch(kind, folder)
    scratch.reserve(count)
    return scratch.mapped(count)


class Growing:
    """An array of one dtype to which others are added at its end; ``budget``: bytes of it that lie
    in memory (None: :data:`BUDGET`)."""

    def __init__(
        self, dtype: npt.DTypeLike, folder: str | None = None, budget: int | None = None
    ) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self._folder = folder
        self._budget = BUDGET if budget is None else budget
        self._count = 0
        self._held: list[npt.NDArray[Any]] = []
        self._scratch: _Scratch | None = None

    def __len__(self) -> int:
        return self._count

    def add(self, part: npt.NDArray[Any]) -> None:
        """Add entries at the end; they must be of the array's dtype."""
        if part.dtype != self.dtype:
            raise TypeError(f"found values of {part.dtype}; expected {self.dtype}")
        self._count += len(part)
        if self._scratch is not None:
            self._scratch.write(part)
            return
        self._held.append(part)
        if self._count * self.dtype.itemsize > self._budget:
            self._scratch = _Scratch(self.dtype, self._folder)
            while self._held:
                self._scratch.write(self._held.pop(0))

    def array(self) -> npt.NDArray[Any]:
        """All entries, after which no more are added."""
        if self._scratch is None:
            self._held = [np.concatenate([np.zeros(0, self.dtype), *self._held])]
            return self._held[0]
        scratch, self._scratch = self._scratch, None
        self._held = [scratch.mapped(self._count)]
        return self._held[0]


def spilled(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array, in a file where it is long."""
    if values.nbytes <= BUDGET:
        return values
    made = Growing(values.dtype)
    for part in windows(len(values)):
        made.add(values[part])
    return made.array()


# -- sorted
# -------------------------------------------------------------------------------------------------


def merged(
    runs: Iterable[npt.NDArray[Any]], order: Order, key: Key, folder: str | None = None
) -> npt.NDArray[Any]:
    """Sorted runs (one at least) as one array; of equal rows those of an earlier run come first.
    ``order`` is that of the rows of an array, equal ones staying as they are; ``key`` is what it
    compares of one row. A run is written down before the next one is asked for; one alone stays
    what it is."""
    each = iter(runs)
    first, second = next(each), next(each, None)
    if second is None:
        return first
    written, ends = Growing(first.dtype, folder), [0]
    for run in chain((first, second), each):
        written.add(run)
        ends.append(len(written))
    whole, made = written.array(), Growing(first.dtype, folder)
    for part in _steps([whole[low:high] for low, high in pairwise(ends) if low < high], order, key):
        made.add(part)
    return made.array()


def _steps(runs: Sequence[npt.NDArray[Any]], order: Order, key: Key) -> Iterator[npt.NDArray[Any]]:
    """Sorted runs as one, in steps. Each run has a window of its next rows. A step takes what does
    not come after the least of the last rows of windows: whatever lies behind them is greater."""
    most = max(min(STEP, TOGETHER // max(len(runs), 1)), 1)
    start, stop = [0] * len(runs), [min(most, len(run)) for run in runs]
    firsts = [(key(run, 0), number) for number, run in enumerate(runs)]
    lasts = [(key(run, stop[number] - 1), number) for number, run in enumerate(runs)]
    heapq.heapify(firsts)
    heapq.heapify(lasts)
    while lasts:
        bound, least = heapq.heappop(lasts)
        numbers = []
        while firsts and firsts[0] <= (bound, least):
            numbers.append(heapq.heappop(firsts)[1])
        pieces = []
        for number in sorted(numbers):
            run, low = runs[number], start[number]
            high = _behind(run, low, stop[number], bound, key, number <= least)
            start[number] = high
            pieces.append(run[low:high])
            if high < len(run):
                heapq.heappush(firsts, (key(run, high), number))
        if start[least] < len(runs[least]):
            stop[least] = min(start[least] + most, len(runs[least]))
            heapq.heappush(lasts, (key(runs[least], stop[least] - 1), least))
        together = np.concatenate(pieces)
        yield take_rows(together, order(together)) if len(pieces) > 1 else together


def _behind(run: npt.NDArray[Any], low: int, high: int, bound: Any, key: Key, equal: bool) -> int:
    """The first row from ``low`` on, ``high`` at most, that comes behind ``bound``; of those that
    equal it none does where ``equal``, else all do."""
    while low < high:
        middle = (low + high) // 2
        found = key(run, middle)
        if found < bound or (equal and found == bound):
            low = middle + 1
        else:
            high = middle
    return low


def _by_number(pairs: npt.NDArray[Any]) -> Index:
    return np.argsort(pairs["number"], kind="stable")


def _number(pairs: npt.NDArray[Any], row: int) -> Any:
    return pairs["number"][row].item()


# -- grouped
# -------------------------------------------------------------------------------------------------


def in_parts(
    blocks: Iterable[npt.NDArray[Any]],
    part_of: Callable[[npt.NDArray[Any]], Index],
    count: int,
    dtype: npt.DTypeLike,
) -> Iterator[npt.NDArray[Any]]:
    """The rows of ``blocks`` (arrays of ``dtype``) that ``part_of`` gives one number (of 0 …
    ``count - 1``), of each number in turn, in the order in which they came."""
    parts = [Growing(dtype, budget=16 * BUDGET // count) for _ in range(count)]
    for block in blocks:
        number = part_of(block)
        order = np.argsort(number, kind="stable")
        edges = np.searchsorted(number[order], np.arange(count + 1)).tolist()
        for place, part in enumerate(parts):
            if edges[place] < edges[place + 1]:
                part.add(take_rows(block, order[edges[place] : edges[place + 1]]))
    parts.reverse()
    while parts:
        yield parts.pop().array()


# -- those of a folder
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spill:
    """Makes arrays whose files lie in ``folder`` (None: where temporary files lie)."""

    folder: str | None = None

    def zeros(self, count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """``count`` zeros."""
        return zeros(count, dtype, self.folder)

    def full(self, count: int, value: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """``count`` times ``value``."""
        array = self.zeros(count, dtype)
        array[:] = value
        return array

    def copied(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Another array of the same."""
        array = self.zeros(len(values), values.dtype)
        array[:] = values
        return array

    def growing(self, dtype: npt.DTypeLike) -> Growing:
        """An array to which others are added."""
        return Growing(dtype, self.folder)

    def collected(
        self, parts: Iterable[npt.NDArray[Any]], dtype: npt.DTypeLike
    ) -> npt.NDArray[Any]:
        """Arrays behind each other."""
        array = self.growing(dtype)
        for part in parts:
            array.add(part)
        return array.array()

    def places(self, count: int, holds: Callable[[slice], Mask]) -> Index:
        """The rows among ``count`` of which something holds, which is said of windows: rising."""
        found = (np.flatnonzero(holds(part)) + part.start for part in windows(count))
        return self.collected(found, np.int64)

    def chosen(self, rows: Index, holds: Callable[[Index], Mask]) -> Index:
        """Those of some rows of which something holds, in their order."""
        return self.collected(
            (mine[holds(mine)] for mine in (rows[part] for part in windows(len(rows)))), np.int64
        )

    def by(self, rows: Index, number: OfRows) -> Index:
        """Rows in the order of a number, those of the same one in the order in which they are."""
        if len(rows) <= WINDOW:
            return rows[np.argsort(number(rows), kind="stable")]

        def runs() -> Iterator[npt.NDArray[Any]]:
            for part in windows(len(rows)):
                numbers = number(rows[part])
                pairs = np.zeros(len(numbers), [("number", numbers.dtype), ("row", np.int64)])
                pairs["number"], pairs["row"] = numbers, rows[part]
                yield take_rows(pairs, _by_number(pairs))

        return self.copied(merged(runs(), _by_number, _number, self.folder)["row"])

    def together(
        self, one: Index, key: OfRows, other: Index, other_key: OfRows
    ) -> Iterator[tuple[Index, Index]]:
        """Rows of two kinds in parts: those of one key are in the same part, each kind in its
        order. Keys are hashes, or any numbers from 0 on."""
        count = max(len(one), len(other)) // WINDOW + 1
        if count == 1:
            yield np.array(one), np.array(other)
            return
        parts = []
        for rows, key_of in ((one, key), (other, other_key)):

            def part_of(some: Index, key_of: OfRows = key_of) -> Index:
                spread = key_of(some).astype(np.uint64) * _SPREAD >> np.uint64(32)
                part: Index = (spread % np.uint64(count)).astype(np.int64)
                return part

            sizes = np.zeros(count, np.int64)
            for window in windows(len(rows)):
                sizes += np.bincount(part_of(rows[window]), minlength=count)
            grouped = self.by(rows, part_of)
            edges = [0, *np.cumsum(sizes).tolist()]
            parts.append([grouped[low:high] for low, high in pairwise(edges)])
        yield from zip(*parts, strict=True)
