"""What may be of any length: in memory while it is short, else in a file without a name.

Such a file lies where temporary files lie and goes with the process, however that ends. It is read
through a memory map, so that the operating system takes the memory back when it is needed
elsewhere; it is written by plain writes, for through a map a full disk ends the process.
"""

from __future__ import annotations

import mmap
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Index
from replay.changes.text_columns import Texts, column_from, ends_of, octets_of
from replay.temp_folders import scratch_file

#: Octets of one column that are kept in memory; where there are more, all of it lies in a file.
BUDGET = 16 << 20
#: Octets of texts that are put down together.
_BLOCK = 1 << 16
#: Texts that are kept once, however many rows have them.
_COMMON = 256
#: Into how many parts rows are divided at most: each may be an open file.
PARTS = 64


class Octets:
    """Octets that are put one behind the other; ``budget``: how many of them are kept in memory
    (None: :data:`BUDGET`). OSError, which names the folder of temporary files, where there is no
    room for them."""

    def __init__(self, start: bytes = b"", budget: int | None = None) -> None:
        self._budget = BUDGET if budget is None else budget
        self._parts: list[bytes] = [start]
        self._size = len(start)
        self._file: IO[bytes] | None = None
        self._read: Bytes | None = None

    def __len__(self) -> int:
        return self._size

    def __reduce__(self) -> tuple[type[Octets], tuple[bytes]]:
        return Octets, (self.array().tobytes(),)

    def add(self, content: bytes) -> None:
        """Put octets behind the others."""
        self._read = None
        self._size += len(content)
        if self._file is None:
            self._parts.append(content)
            if self._size <= self._budget:
                return
            content, self._parts = b"".join(self._parts), []
        try:
            if self._file is None:
                self._file = scratch_file()
                self._end = weakref.finalize(self, _close, self._file)
            self._file.write(content)
        except OSError as error:
            raise _named(error) from error

    def array(self) -> Bytes:
        """All of them (``uint8[n]``, not to be written to)."""
        if self._read is None:
            self._read = self._mapped() if self._file is not None else self._joined()
        return self._read

    def done(self) -> Bytes:
        """The same, where nothing is added any more: the file is open only through its map."""
        array = self.array()
        if self._file is not None:
            self._end()
        return array

    def _joined(self) -> Bytes:
        whole = b"".join(self._parts)
        self._parts = [whole]
        return np.frombuffer(whole, np.uint8)

    def _mapped(self) -> Bytes:
        assert self._file is not None
        try:
            self._file.flush()
        except OSError as error:
            raise _named(error) from error
        return np.frombuffer(mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)


def _close(file: IO[bytes]) -> None:
    with suppress(OSError):  # what could not be written, nobody reads
        file.close()


def _named(error: OSError) -> OSError:
    """The error with the folder that it is about."""
    return OSError(error.errno, error.strerror or str(error), tempfile.gettempdir())


class KeptColumn:
    """A column of one dtype, which grows; ``budget`` and OSError as :class:`Octets`."""

    def __init__(self, dtype: npt.DTypeLike, budget: int | None = None) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self._octets = Octets(budget=budget)

    def __len__(self) -> int:
        return len(self._octets) // self.dtype.itemsize

    def add(self, values: npt.NDArray[Any]) -> None:
        """Put values behind the others; they must be of the column's dtype."""
        if values.dtype != self.dtype:
            raise TypeError(f"found values of {values.dtype}; expected {self.dtype}")
        self._octets.add(values.tobytes())

    def array(self) -> npt.NDArray[Any]:
        """All values (not to be written to), where none are added any more."""
        return self._octets.done().view(self.dtype)

    def so_far(self) -> npt.NDArray[Any]:
        """The values that are there (not to be written to)."""
        return self._octets.array().view(self.dtype)


def column_of(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array, which lies in a file where it is long."""
    if values.nbytes <= BUDGET:
        return values
    column = KeptColumn(values.dtype)
    step = max(1, BUDGET // values.dtype.itemsize)
    for low in range(0, len(values), step):
        column.add(values[low : low + step])
    return column.array()


class KeptTexts:
    """Texts by the numbers under which they were put down, from 0. OSError as :class:`Octets`."""

    def __init__(self) -> None:
        self._octets, self._ends = Octets(), KeptColumn("<i8")
        self._waiting, self._ends_waiting = bytearray(), [0]
        self._common: dict[str, int] = {}
        self._count = 0

    def add(self, text: str) -> int:
        """The number of a text."""
        known = self._common.get(text)
        if known is not None:
            return known
        self._waiting += text.encode("utf-8", "surrogatepass")
        self._ends_waiting.append(len(self._octets) + len(self._waiting))
        number = self._count
        self._count += 1
        if len(self._common) < _COMMON:
            self._common[text] = number
        if len(self._waiting) >= _BLOCK:
            self._put_down()
        return number

    def add_all(self, texts: Texts) -> Index:
        """The numbers of many texts, each of which is kept."""
        self._put_down()
        self._octets.add(octets_of(texts).tobytes())
        ends = ends_of(texts)
        self._ends.add(ends[1:] - ends[-1] + len(self._octets))
        first, self._count = self._count, self._count + len(texts)
        return np.arange(first, self._count, dtype=np.int64)

    def all(self) -> Texts:
        """The column of all texts: a number is its row there."""
        self._put_down()
        return column_from(self._ends.so_far(), self._octets.array())

    def _put_down(self) -> None:
        if self._ends_waiting:
            self._octets.add(bytes(self._waiting))
            self._ends.add(np.array(self._ends_waiting, "<i8"))
            self._waiting, self._ends_waiting = bytearray(), []

    def __getitem__(self, number: int) -> str:
        self._put_down()
        ends = self._ends.so_far()
        low, high = int(ends[number]), int(ends[number + 1])
        return self._octets.array()[low:high].tobytes().decode("utf-8", "surrogatepass")

    def __len__(self) -> int:
        return self._count


def in_parts(
    blocks: Iterable[npt.NDArray[Any]],
    part_of: Callable[[npt.NDArray[Any]], Index],
    count: int,
    dtype: npt.DTypeLike,
) -> Iterator[npt.NDArray[Any]]:
    """The rows of ``blocks`` (arrays of ``dtype``) that ``part_of`` gives one number (of 0 …
    ``count - 1``), of each number in turn, in the order in which they came. OSError as
    :class:`Octets`."""
    parts = [KeptColumn(dtype, BUDGET // count) for _ in range(count)]
    for block in blocks:
        if count == 1:
            parts[0].add(block)
            continue
        number = part_of(block)
        rising = np.argsort(number, kind="stable")
        edges = np.searchsorted(number[rising], np.arange(count + 1)).tolist()
        raw = np.ascontiguousarray(block).view(f"V{block.dtype.itemsize}")
        for place, part in enumerate(parts):
            if edges[place] < edges[place + 1]:
                rows = rising[edges[place] : edges[place + 1]]
                part.add(raw[rows].view(dtype))
    for place in range(count):
        part = parts[place]
        parts[place] = KeptColumn(dtype)
        yield part.array()
