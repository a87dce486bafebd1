"""Work on arrays as long as logs in bounded memory: window by window, and part by part.

What is said of each row lies in a file beyond a size (:mod:`replay.logs.scratch_arrays`), and is
made a window of rows at a time. Where rows must come together that lie apart, they are put into
parts by what they have in common, of which each is small enough for memory and has its rows in the
order of the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from replay.arrays import Hashes, Index, Mask
from replay.decoding.hashes import mixed
from replay.logs import scratch_arrays

#: Rows of a window, and of a part.
WINDOW = 1 << 17
#: Rows of some hundred bytes that stay near the processor while field after field of them is
#: written; with more, each field fetches all of them from memory again.
NEAR = 1 << 13
#: Bytes of an array up to which it lies in memory.
BUDGET = 1 << 20
#: Rows that are looked at to find where parts begin, for each part.
_SAMPLE = 32

#: What is said of some rows, given by their numbers.
Said = Callable[[Index], npt.NDArray[Any]]


def windows(count: int, most: int | None = None) -> Iterator[slice]:
    """The windows of ``count`` rows, in order, of ``most`` rows each (None: :data:`WINDOW`)."""
    step = most or WINDOW
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


def near_windows(count: int) -> Iterator[slice]:
    """The same of :data:`NEAR` rows at most, for work on many fields of each row."""
    return windows(count, min(NEAR, WINDOW))


def windows_back(count: int) -> Iterator[slice]:
    """The same from the end on: as they are, the last one first."""
    for start in range((count - 1) // WINDOW * WINDOW, -1, -WINDOW):
        yield slice(start, min(start + WINDOW, count))


def any_of(values: npt.NDArray[Any]) -> bool:
    """Whether one of them is not zero."""
    return any(bool(values[part].any()) for part in windows(len(values)))


def all_of(values: npt.NDArray[Any], rows: Index | None = None) -> bool:
    """Whether none of ``n`` values, or of those of some ``rows``, is zero."""
    if rows is None:
        return all(bool(values[part].all()) for part in windows(len(values)))
    return all(bool(values[rows[part]].all()) for part in windows(len(rows)))


@dataclass(frozen=True)
class LongArrays:
    """Makes arrays, the large ones in files of ``folder`` (None: all in memory). What makes them
    raises OSError where the disk has no room."""

    folder: str | None

    def zeros(self, count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """``count`` zeros."""
        return scratch_arrays.zeros(count, np.dtype(dtype), self.folder, BUDGET)

    def kept(self, count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """``count`` zeros, of what is put into a file of its own later."""
        return scratch_arrays.kept(count, np.dtype(dtype), self.folder, BUDGET)

    def full(self, count: int, value: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """``count`` times ``value``."""
        array = self.zeros(count, dtype)
        array[:] = value
        return array

    def copied(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Another array of the same."""
        array = self.zeros(len(values), values.dtype)
        for part in windows(len(values)):
            array[part] = values[part]
        return array

    def collected(
        self, parts: Iterable[npt.NDArray[Any]], dtype: npt.DTypeLike
    ) -> npt.NDArray[Any]:
        """Arrays behind each other."""
        return scratch_arrays.collected(parts, np.dtype(dtype), self.folder, BUDGET)

    def growing(self, dtype: npt.DTypeLike, *, kept: bool = False) -> scratch_arrays.GrowingArray:
        """An array to which others are added; ``kept`` as :meth:`kept`."""
        return scratch_arrays.GrowingArray(np.dtype(dtype), self.folder, BUDGET, kept=kept)

    def places(self, count: int, holds: Callable[[slice], Mask]) -> Index:
        """The rows among ``count`` of which something holds, which is said of windows: rising."""
        found = (np.flatnonzero(holds(part)) + part.start for part in windows(count))
        return self.collected(found, np.int64)

    def chosen(self, rows: Index, holds: Callable[[Index], Mask]) -> Index:
        """Those of some rows of which something holds, in their order."""
        return self.collected(
            (mine[holds(mine)] for mine in (rows[part] for part in windows(len(rows)))), np.int64
        )

    def by(self, rows: Index, key: Said) -> Index:
        """Rows in the order of a number, those of the same one in the order in which they are."""
        if len(rows) <= WINDOW:
            return rows[np.argsort(key(rows), kind="stable")]
        keys, rises = self._keys(rows, key)
        if rises:
            return rows
        step = max(WINDOW // (2 * _SAMPLE), 1)
        wanted = np.sort(keys[::step])[:: max(WINDOW // (2 * step), 1)]
        often = wanted[1:][wanted[1:] == wanted[:-1]]
        # a number that many rows have is a part by itself, which needs no order
        behind = often[often < np.iinfo(keys.dtype).max] + keys.dtype.type(1)
        bounds = np.unique(np.concatenate([wanted, behind]))
        grouped, sorted_keys, edges = self._grouped(
            rows,
            lambda part: np.searchsorted(bounds, keys[part], side="right"),
            len(bounds) + 1,
            keys,
        )
        for begin, end in pairwise(edges.tolist()):
            mine, held = grouped[begin:end], sorted_keys[begin:end]
            if end - begin <= 2 * WINDOW:
                mine[:] = mine[np.argsort(held, kind="stable")]
            elif not _rises(held):
                ordered = self.by(mine, key)
                for part in windows(end - begin):
                    mine[part] = ordered[part]
        return grouped

    def _keys(self, rows: Index, key: Said) -> tuple[npt.NDArray[Any], bool]:
        """(the number of each row, whether they never fall)."""
        keys = self.zeros(len(rows), key(rows[:1]).dtype)
        for part in windows(len(rows)):
            keys[part] = key(rows[part])
        return keys, _rises(keys)

    def _grouped(
        self,
        rows: Index,
        part_of: Callable[[slice], Index],
        count: int,
        keys: npt.NDArray[Any] | None = None,
    ) -> tuple[Index, npt.NDArray[Any], Index]:
        """(rows by the part that ``part_of`` windows of them says, in their order; their ``keys``
        in the same one; where each of ``count`` parts begins, and the last one ends)."""
        sizes = np.zeros(count, np.int64)
        for part in windows(len(rows)):
            sizes += np.bincount(part_of(part), minlength=count)
        edges = np.concatenate([[0], np.cumsum(sizes)])
        grouped = self.zeros(len(rows), np.int64)
        moved = self.zeros(
            0 if keys is None else len(rows), np.int64 if keys is None else keys.dtype
        )
        free = edges[:-1].copy()
        for part in windows(len(rows)):
            of = part_of(part)
            order = np.argsort(of, kind="stable")
            held = np.bincount(of, minlength=count)
            rank = np.arange(len(of)) - np.repeat(np.cumsum(held) - held, held)
            target = np.repeat(free, held) + rank
            grouped[target] = rows[part][order]
            if keys is not None:
                moved[target] = keys[part][order]
            free += held
        return grouped, moved, edges

    def together(
        self,
        one: Index,
        key: Callable[[Index], Hashes],
        other: Index,
        other_key: Callable[[Index], Hashes],
    ) -> Iterator[tuple[Index, Index]]:
        """Rows of two kinds in parts: those of one key are in the same part, each kind in its
        order. Keys are hashes, or any numbers."""
        count = max(len(one), len(other)) // WINDOW + 1
        if count == 1:
            yield np.array(one), np.array(other)
            return
        parts = []
        for rows, said in ((one, key), (other, other_key)):

            def part_of(part: slice, rows: Index = rows, said: Any = said) -> Index:
                spread: Index = (mixed(said(rows[part])) % np.uint64(count)).astype(np.int64)
                return spread

            grouped, _, edges = self._grouped(rows, part_of, count)
            parts.append([grouped[begin:end] for begin, end in pairwise(edges)])
        yield from zip(*parts, strict=True)


def _rises(values: npt.NDArray[Any]) -> bool:
    """Whether no value is below the one before."""
    for part in windows(len(values)):
        mine = values[max(part.start - 1, 0) : part.stop]
        if (mine[1:] < mine[:-1]).any():
            return False
    return True
