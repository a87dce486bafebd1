"""Ranges of objects in a store: an array is as long as its object, and filled where somebody asked
for bytes."""

from __future__ import annotations

import mmap
import os
import sys
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from replay import storage
from replay.answers import AnsweringFile
from replay.arrays import Bytes
from replay.leftovers import scratch_file
from replay.machine import is_full

#: Bytes of an object that are asked for together, and at most at once; how many bytes of an object
#: a process keeps in memory.
_BLOCK, _REQUEST, _KEPT = 256 << 10, 8 << 20, 256 << 20


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
    ranges are filled that were asked for. Those of a large object are kept in a scratch file, so
    that none is fetched twice; where there is no room for that, in memory, where some give way to
    others."""

    def __init__(self, place: str) -> None:
        url, _, version = place.partition(storage.VERSION)
        system, path = storage.system_of(url)
        self._place, self._version = url, version
        self._check()
        self.size = int(version.partition("-")[0])
        self._file: AnsweringFile = system.open_input_file(path)
        self._filled = np.zeros(-(-self.size // _BLOCK), bool)
        self._one = threading.Lock()
        self._room: _Scratch | _Memory = _room(self.size)

    def __len__(self) -> int:
        return self.size

    def read(self, start: npt.NDArray[Any], stop: npt.NDArray[Any]) -> Bytes:
        """The array with the ranges ``start:stop`` (``int64[n]`` each) filled. Threads take turns:
        each finds in its array what it asked for, whatever others replace."""
        with self._one:
            return self._read(start, stop)

    def _read(self, start: npt.NDArray[Any], stop: npt.NDArray[Any]) -> Bytes:
        wanted = _blocks(np.clip(start, 0, self.size), np.clip(stop, 0, self.size))
        missing = wanted[~self._filled[wanted]]
        if not len(missing):
            return self._room.array
        held = (int(self._filled.sum()) + len(missing)) * _BLOCK
        if isinstance(self._room, _Memory) and held > _KEPT:
            return self._fetched_anew(wanted)
        try:
            return self._fetched(missing)
        except _NoRoomError:
            return self._fetched_anew(wanted)

    def _fetched_anew(self, blocks: npt.NDArray[np.int64]) -> Bytes:
        """Forget what is held. Arrays that were given out keep what they are of."""
        self._room = _Memory(self.size)
        self._filled[:] = False
        return self._fetched(blocks)

    def _fetched(self, blocks: npt.NDArray[np.int64]) -> Bytes:
        """The array with these blocks. Raises OSError, _NoRoomError."""
        pieces = list(_requests(blocks, self.size))
        with ThreadPoolExecutor(min(storage.REQUESTS, len(pieces))) as pool:
            for (low, _), got in zip(pieces, pool.map(self._range, pieces), strict=True):
                self._room.put(low, got)
        self._check()  # else what came may be of two objects
        self._filled[blocks] = True
        return self._room.array

    def _check(self) -> None:
        if not self._version.startswith(storage.version_of(self._place)):
            raise OSError(5, "it has changed since the log was opened", self._place)

    def _range(self, piece: tuple[int, int]) -> bytes:
        low, high = piece
        got = self._file.read_at(high - low, low)
        if len(got) != high - low:
            raise OSError(5, f"{len(got)} bytes came of {high - low} from byte {low} on")
        return got


class _Memory:
    """Memory of which only those pages exist that were written to, and an array over it."""

    def __init__(self, size: int) -> None:
        # not accounted for as a whole: MAP_NORESERVE, which Python 3.11 does not name
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (0x4000 if sys.platform == "linux" else 0)
        memory = mmap.mmap(-1, max(size, 1), flags=flags)
        if hasattr(mmap, "MADV_NOHUGEPAGE"):
            memory.madvise(mmap.MADV_NOHUGEPAGE)
        self._view = memoryview(memory)
        self.array: Bytes = np.frombuffer(memory, np.uint8)[:size]
        self.array.flags.writeable = False

    def put(self, low: int, content: bytes) -> None:
        """Write something at an offset."""
        self._view[low : low + len(content)] = content


def _room(size: int) -> _Scratch | _Memory:
    """Where an object of a size is kept."""
    if size > _KEPT:
        with suppress(OSError):  # no folder for temporary files, or one that takes none so large
            return _Scratch(size)
    return _Memory(size)


class _NoRoomError(Exception):
    """The disk has no room for a scratch file."""


class _Scratch:
    """A file without a name, of which only those blocks exist that were written to, and an array
    over it."""

    def __init__(self, size: int) -> None:
        self._file = scratch_file()
        weakref.finalize(self, self._file.close)  # the map keeps what it is of
        os.ftruncate(self._file.fileno(), size)
        memory = mmap.mmap(self._file.fileno(), size, access=mmap.ACCESS_READ)
        self.array: Bytes = np.frombuffer(memory, np.uint8)

    def put(self, low: int, content: bytes) -> None:
        """Write something at an offset: not through the map, where a full disk ends the process.
        Raises _NoRoomError."""
        rest = memoryview(content)
        try:
            while rest:
                count = os.pwrite(self._file.fileno(), rest, low)
                low, rest = low + count, rest[count:]
        except OSError as error:
            if is_full(error):
                raise _NoRoomError from error
            raise


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
