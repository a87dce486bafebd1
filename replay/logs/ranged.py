"""Logs whose data files can be walked from the middle, so that tasks find the records of a file
side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy.typing as npt

from replay.arrays import Bytes, Index, Lengths
from replay.logs import DataFile


@runtime_checkable
class BufferedLog(Protocol):
    """A log of files of bytes, of which any range can be had. ``file`` is a place among its
    files."""

    def buffer(
        self,
        file: int,
        start: npt.NDArray[Any] | int | None = None,
        stop: npt.NDArray[Any] | int | None = None,
    ) -> Bytes:
        """The bytes of a data file (``uint8[size]``), of which those of ``start:stop`` (numbers, or
        ``int64[n]`` each) are there. InputError LR2001 where it cannot be read."""
        ...


@runtime_checkable
class RangedLog(BufferedLog, Protocol):
    """A log of files with records one after the other. Places in a file are bytes from its
    beginning. No member raises an error but those that
    it names."""

    @property
    def files(self) -> Sequence[DataFile]:
        """The data files, in the order of the log."""
        ...

    @property
    def walks_ranges(self) -> bool:
        """Whether a walk by ranges learns all that one from beginning to end does."""
        ...

    def size(self, file: int) -> int:
        """Bytes of a data file. InputError LR2001 where it cannot be read."""
        ...

    def read_in_place(self, file: int) -> str | None:
        """The input, as the user named it, whose very bytes are those of a data file; None where
        the data file was made of it."""
        ...

    def walked(
        self, file: int, start: int, stop: int, first_record: int
    ) -> tuple[int, Index, Lengths]:
        """The ``n`` records that begin in ``start:stop``, where ``start`` is the begin of one
        (number ``first_record``) or of a block of them: (where the last one ends, offsets
        ``int64[n]``, lengths ``int32[n]``). InputError where the framing is damaged, or none."""
        ...

    def likely_starts(self, file: int, start: int, stop: int) -> Iterator[int]:
        """Places in ``start:stop`` at which a record may begin, rising: some records follow one
        another from there. A guess, for whoever can prove it."""
        ...
