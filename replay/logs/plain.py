"""Headers and images of fixed places: what machine code must know of them to take those that are
plain, and to write comments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol, runtime_checkable

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


class Said(Enum):
    """How the octets of a header are said: two digits each, as a number (big-endian, not above
    8 octets), as 34 packed digits that are a moment (``unknown`` for zeros), as text in code page
    037 without the blanks at its end."""

    HEXADECIMAL = "hexadecimal"
    NUMBER = "number"
    TIME = "time"
    TEXT = "text"


class HeaderField(NamedTuple):
    """A field of a comment: its ``name``, how it is said, the ``place`` of its
    ``width`` octets in a header (of a field that it has not, none), and the place of those that
    count where all of these are zero (-1: there are none)."""

    name: str
    said: Said
    place: int
    width: int
    otherwise: int = -1


@runtime_checkable
class PlainUnits(Protocol):
    """Headers of which machine code may write the comments of units
    (:meth:`replay.logs.LogFacts.unit_fields`) and of changes. No member raises an error."""

    def plain_unit(self) -> tuple[Bytes, Sequence[HeaderField]]:
        """The headers (``uint8[n, width]``), and the fields of a comment in their order; no fields
        where the layout is another one."""
        ...

    def plain_trace(self) -> tuple[Bytes, Sequence[HeaderField]]:
        """The headers (``uint8[n, width]``), and the fields of what
        :meth:`replay.logs.LogFacts.trace` says, where these stand with a blank in between; no
        fields where the layout is another one."""
        ...
