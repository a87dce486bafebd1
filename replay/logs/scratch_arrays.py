"""Arrays with an entry for each record of a log, which are as large as logs are: beyond a budget
they lie in files without a name, mapped, so that the memory of this process does not grow with
them."""

from __future__ import annotations

import os
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
    held: list[npt.NDArray[Any]] = []
    size, rest, most = 0, iter(parts), BUDGET if budget is None else budget
    for part in rest:
        held.append(part)
        size += part.nbytes
        if folder is not None and size > most:
            break
    else:
        return np.concatenate([np.zeros(0, dtype), *held])
    with scratch_file(Path(folder)) as file:
        count = 0
        while held:
            count += _written(file, held.pop(0))
        for part in rest:
            count += _written(file, part)
        file.flush()
        return _mapped(file, dtype, count)


def chosen(array: npt.NDArray[Any], those: Mask, folder: str | None) -> npt.NDArray[Any]:
    """The entries of an array that a mask names, as :func:`collected`."""
    places = range(0, len(array), _COPIED)
    return collected(
        (array[at : at + _COPIED][those[at : at + _COPIED]] for at in places), array.dtype, folder
    )


def _written(file: IO[bytes], part: npt.NDArray[Any]) -> int:
    file.write(np.ascontiguousarray(part).view(np.uint8).data)
    return len(part)


def _mapped(file: IO[bytes], dtype: np.dtype[Any], count: int) -> npt.NDArray[Any]:
    # a plain array: every slice of a memmap object would be one too, which costs more than itself
    return np.asarray(np.memmap(file, dtype, "r+", shape=(count,)))
