"""Images of fixed places: what machine code must know of them to take those that are plain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from replay.arrays import Bytes, Index, Mask, Records


@dataclass(frozen=True)
class FoundImages:
    """Where the images of some ``changes`` (rising) lie in a ``buffer``: (start, end) of the first
    image and of the second one, int64[2 | 4, n]. The second one of a change that has one is empty
    and lies where the first ends."""

    changes: Index
    buffer: Bytes
    bounds: Index


@runtime_checkable
class PlainImages(Protocol):
    """A log that finds the row images of changes of several kinds together. No member raises an
    error but OSError where a file is gone."""

    def plain_images(
        self, records: Records, heads: Index, weights: Index, updates: Mask
    ) -> Iterator[FoundImages]:
        """The images of inserts, deletes and ``updates`` (bool[m]); ``heads`` and ``weights`` as
        for :meth:`replay.logs.ImageSource.images`. Each change comes at most once: those that are
        missing need that method. ``changes`` of each part rise; all bounds lie in the buffer."""
        ...
