"""Arrays in files of which each task writes its own part."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from replay.logs.files import here


@dataclass(frozen=True)
class MadeArray:
    """The ``path`` of a file in which an array begins at a place."""

    path: str
    begin: int

    @classmethod
    def of(cls, path: Path, dtype: npt.DTypeLike, shape: Sequence[int]) -> MadeArray:
        """A new one. Raises OSError."""
        array = np.lib.format.open_memmap(path, "w+", np.dtype(dtype), tuple(shape))
        begin, size = int(array.offset), int(array.nbytes)
        del array
        with path.open("r+b") as file:
            # all of it now: who writes shall hear of a full disk
            os.posix_fallocate(file.fileno(), 0, begin + size)
        return cls(str(path), begin)

    def put(self, first: int, values: npt.NDArray[Any]) -> None:
        """Write entries from number ``first`` on. Raises OSError."""
        row = values.itemsize * int(np.prod(values.shape[1:]))
        octets, place = np.ascontiguousarray(values).reshape(-1).view(np.uint8), first * row
        with Path(here(self.path)).open("r+b") as file:
            while len(octets):
                written = os.pwrite(file.fileno(), octets.data, self.begin + place)
                octets, place = octets[written:], place + written
