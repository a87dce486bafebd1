"""Ranges of objects in a store: an array is as long as its object, and filled where somebody asked
for bytes."""

from __future__ import annotations

import mmap
import os
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from replay import storage
from replay.arrays import Bytes
from replay.temp_folders import scratch_file

#: Bytes of an object that are asked for together, and at most at once.
_BLOCK, _REQUEST = 256 << 10, 8 << 20


def versioned(url: str) -> str:
    """A URL with what tells this version of the object from others, for :func:`ranges`. Raises
    OSError."""
    version = storage.version_of(url)
    # where the store tells no time, each opening of a log reads anew
    other = f"-{os.urandom(8).hex()}" if version.endswith("-None") else ""
    return f"{url}{storage.VERSION}{version}{other}"


@lru_cache(maxsize=16)
def ranges(place: str) -> StoredRanges:
    """The object at a :func:`versioned` URL. Raises OSError, where it is another one by now
    too."""
    return StoredRanges(place)


class StoredRanges:
    """An object of which ranges are read: an array as long as the object, in which only those
    ranges are filled that were asked for. They are kept in a scratch file, of which only what was
    written takes room, so that none is fetched twice."""

    def __init__(self, place: str) -> None:
        self._url, _, self._version = place.partition(storage.VERSION)
        self._check()
        self.size = int(self._version.partition("-")[0])
        self._file = storage.StoredFile(self._url)
        self._filled = np.zeros(-(-self.size // _BLOCK), bool)
        self._one = threading.Lock()
        self._scratch = scratch_file()
        weakref.finalize(self, self._scratch.close)  # arrays keep what they are of
        os.ftruncate(self._scratch.fileno(), max(self.size, 1))
        memory = mmap.mmap(self._scratch.fileno(), max(self.size, 1), access=mmap.ACCESS_READ)
        self._array: Bytes = np.frombuffer(memory, np.uint8)[: self.size]

    def __len__(self) -> int:
        return self.size

    def filled(self, start: npt.NDArray[Any], stop: npt.NDArray[Any]) -> Bytes:
        """The array with the ranges ``start:stop`` (``int64[n]`` each) filled."""
        blocks = _blocks(np.clip(start, 0, self.size), np.clip(stop, 0, self.size))
        with self._one:
            missing = blocks[~self._filled[blocks]]
            if len(missing):
                pieces = list(_requests(missing, self.size))
                with ThreadPoolExecutor(min(storage.REQUESTS, len(pieces))) as pool:
                    for (low, _), got in zip(pieces, pool.map(self._range, pieces), strict=True):
                        self._keep(low, got)
                self._check()  # else what came may be of two objects
                self._filled[missing] = True
        return self._array

    def _check(self) -> None:
        storage.check_version(self._url, self._version, "the log was opened")

    def _range(self, piece: tuple[int, int]) -> bytes:
        low, high = piece
        got = self._file.read_at(high - low, low)
        if len(got) != high - low:
            raise OSError(5, f"{len(got)} bytes came of {high - low} from byte {low} on")
        return got

    def _keep(self, low: int, content: bytes) -> None:
        """Write something at an offset: not through the map, where a full disk ends the process."""
        rest = memoryview(content)
        while rest:
            count = os.pwrite(self._scratch.fileno(), rest, low)
            low, rest = low + count, rest[count:]


def _blocks(start: npt.NDArray[Any], stop: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The blocks that ranges touch, in order, each once."""
    there = stop > start
    first, last = start[there] // _BLOCK, (stop[there] - 1) // _BLOCK
    count = last - first + 1
    begin = np.cumsum(count) - count
    return np.unique(np.repeat(first - begin, count) + np.arange(int(count.sum())))


def _requests(blocks: npt.NDArray[np.int64], size: int) -> Iterator[tuple[int, int]]:
    """Byte ranges of blocks, neighbours together."""
    most = _REQUEST // _BLOCK
    cuts = np.flatnonzero(np.diff(blocks) != 1) + 1
    for run in np.split(blocks, cuts):
        for begin in range(0, len(run), most):
            part = run[begin : begin + most]
            yield int(part[0]) * _BLOCK, min((int(part[-1]) + 1) * _BLOCK, size)
