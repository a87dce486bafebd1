"""Arrays with an entry for each record of a log, which are as large as logs are: beyond a budget
they lie in files without a name, mapped, so that the memory of this process does not grow with
them."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from replay.arrays import Mask
from replay.temp_folders import scratch_file

#: Bytes of an array up to which it lies in memory.
BUDGET = 32 << 20
#: Bytes of an array from which on it is a file with a name, where it is to be one; how that begins;
#: and those of arrays that are still in use, by name.
KEPT, _KEPT = 1 << 20, "array-"
_NAMED: dict[str, weakref.finalize[..., Any]] = {}
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


def kept(
    count: int, dtype: np.dtype[Any], folder: str | None, budget: int = BUDGET
) -> npt.NDArray[Any]:
    """As :func:`zeros`, of what is to be put into a file of its own: where the array is a whole
    file already, that has a name (:func:`name_of`)."""
    if folder is None or count * dtype.itemsize <= min(KEPT, budget):
        return zeros(count, dtype, folder)
    with _named_file(folder) as file:
        try:
            begin = _headed(file, dtype, count)
            file.flush()
            os.posix_fallocate(file.fileno(), begin, count * dtype.itemsize)
        except OSError:
            _forgotten(file.name)
            raise
        return _mapped(file, dtype, count, begin)


def _named_file(folder: str) -> IO[bytes]:
    file: Any = tempfile.NamedTemporaryFile(  # noqa: SIM115  closed by who asks
        suffix=".npy", prefix=_KEPT, dir=folder, delete=False
    )
    return cast(IO[bytes], file)


def _headed(file: IO[bytes], dtype: np.dtype[Any], count: int) -> int:
    """Begin a file of ``count`` entries as ``numpy.save`` does; how many bytes that takes, which
    does not depend on their number."""
    file.seek(0)
    shape = {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": (count,)}
    npy.write_array_header_1_0(file, shape)
    return file.tell()


def name_of(array: npt.NDArray[Any]) -> str | None:
    """The file that an array is, as ``numpy.save`` writes it, which stays from now on; None where
    it is not one."""
    mapped = array.base
    name = str(mapped.filename) if isinstance(mapped, np.memmap) else ""
    if mapped is None or name not in _NAMED or array.shape != mapped.shape:
        return None
    _NAMED.pop(name).detach()
    return name


def _forgotten(name: str) -> None:
    """Remove the file of an array that is no more."""
    _NAMED.pop(name, None)
    with suppress(OSError):
        os.unlink(name)


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
    """An array to which others are added at its end; lies where :func:`zeros` has it, or where it
    is ``kept``, :func:`kept`."""

    def __init__(
        self,
        dtype: np.dtype[Any],
        folder: str | None,
        budget: int | None = None,
        *,
        kept: bool = False,
    ) -> None:
        self.dtype, self.folder, self.kept = dtype, folder, kept
        self.most = BUDGET if budget is None else budget
        self.count = 0
        self._held: list[npt.NDArray[Any]] = []
        self._file: IO[bytes] | None = None
        self._unused: weakref.finalize[..., Any] | None = None

    def add(self, part: npt.NDArray[Any]) -> None:
        """Add some at the end. Raises OSError where the disk has no room for it."""
        self.count += len(part)
        if self._file is not None:
            _written(self._file, part)
            return
        self._held.append(part)
        if self.folder is not None and self.count * self.dtype.itemsize > self.most:
            if self.kept:
                self._file = _named_file(self.folder)
                self._unused = weakref.finalize(self, _forgotten, self._file.name)
                _headed(self._file, self.dtype, 0)
            else:
                self._file = scratch_file(Path(self.folder))
            weakref.finalize(self, self._file.close)  # where an error ends this before array()
            while self._held:
                _written(self._file, self._held.pop(0))

    def array(self) -> npt.NDArray[Any]:
        """All of them, after which no more are added."""
        if self._file is None:
            return np.concatenate([np.zeros(0, self.dtype), *self._held])
        with self._file as file:
            begin = _headed(file, self.dtype, self.count) if self.kept else 0
            file.flush()
            array = _mapped(file, self.dtype, self.count, begin)
        if self._unused is not None:
            self._unused.detach()
        return array


def chosen(array: npt.NDArray[Any], those: Mask, folder: str | None) -> npt.NDArray[Any]:
    """The entries of an array that a mask (``bool[n]``) names, as :func:`collected`."""
    places = range(0, len(array), _COPIED)
    return collected(
        (array[at : at + _COPIED][those[at : at + _COPIED]] for at in places), array.dtype, folder
    )


def _written(file: IO[bytes], part: npt.NDArray[Any]) -> None:
    file.write(np.ascontiguousarray(part).view(np.uint8).data)


def _mapped(file: IO[bytes], dtype: np.dtype[Any], count: int, begin: int = 0) -> npt.NDArray[Any]:
    mapped = np.memmap(file, dtype, "r+", begin, (count,))
    if begin:
        _NAMED[file.name] = weakref.finalize(mapped, _forgotten, file.name)
    # a plain array: every slice of a memmap object would be one too, which costs more than itself
    return np.asarray(mapped)
