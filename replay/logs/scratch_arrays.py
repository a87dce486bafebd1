"""Arrays with an entry for each record of a log, which are as large as logs are: beyond a budget
they lie in files without a name, mapped, so that the memory of this process does not grow with
them."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from replay.arrays import Mask
from replay.leftovers import scratch_file

#: Bytes of an array up to which it lies in memory.
BUDGET = 32 << 20
#: Entries that are copied at a time.
_COPIED = 1 << 16


def zeros(
    count: int, dtype: np.dtype[Any], folder: str | None, budget: int | None = None
) -> npt.NDArray[Any]:
    """``count`` entries of zeros: in memory, or where they are many and there is a ``folder``, in a
    file there. ``budget``: bytes that lie in memory (None: :data:`BUDGET`). Raises OSError where
    the disk has no room for it."""
    size = count * dtype.itemsize
    if folder is None or size <= (BUDGET if budget is None else budget):
        return np.zeros(count, dtype)
    with scratch_file(Path(folder)) as file:
        # all of it now: where a disk is full when a mapped page is written to, the process ends
        os.posix_fallocate(file.fileno(), 0, size)
        return _mapped(file, dtype, count)


def collected(
    parts: Iterable[npt.NDArray[Any]],
    dtype: np.dtype[Any],
    folder: str | None,
    budget: int | None = None,
) -> npt.NDArray[Any]:
    """Arrays of a dtype behind each other, where :func:`zeros` has them; of those that go to a file
    no two are in memory. Raises OSError where the disk has no room for it."""
    growing = GrowingArray(dtype, folder, budget)
    for part in parts:
        growing.add(part)
    return growing.array()


class GrowingArray:
    """An array to which others are added at its end; lies where :func:`zeros` has it."""

    def __init__(self, dtype: np.dtype[Any], folder: str | None, budget: int | None = None) -> None:
        self.dtype, self.folder = dtype, folder
        self.most = BUDGET if budget is None else budget
        self.count = 0
        self._held: list[npt.NDArray[Any]] = []
        self._file: IO[bytes] | None = None

    def add(self, part: npt.NDArray[Any]) -> None:
        """Add some at the end. Raises OSError where the disk has no room for it."""
        self.count += len(part)
        if self._file is not None:
            _written(self._file, part)
            return
        self._held.append(part)
        if self.folder is not None and self.count * self.dtype.itemsize > self.most:
            self._file = scratch_file(Path(self.folder))
            weakref.finalize(self, self._file.close)  # where an error ends this before array()
            while self._held:
                _written(self._file, self._held.pop(0))

    def array(self) -> npt.NDArray[Any]:
        """All of them, after which no more are added."""
        if self._file is None:
            return np.concatenate([np.zeros(0, self.dtype), *self._held])
        with self._file as file:
            file.flush()
            return _mapped(file, self.dtype, self.count)


def chosen(array: npt.NDArray[Any], those: Mask, folder: str | None) -> npt.NDArray[Any]:
    """The entries of an array that a mask (``bool[n]``) names, as :func:`collected`."""
    places = range(0, len(array), _COPIED)
    return collected(
        (array[at : at + _COPIED][those[at : at + _COPIED]] for at in places), array.dtype, folder
    )


def _written(file: IO[bytes], part: npt.NDArray[Any]) -> None:
    file.write(np.ascontiguousarray(part).view(np.uint8).data)


def _mapped(file: IO[bytes], dtype: np.dtype[Any], count: int) -> npt.NDArray[Any]:
    # a plain array: every slice of a memmap object would be one too, which costs more than itself
    return np.asarray(np.memmap(file, dtype, "r+", shape=(count,)))
