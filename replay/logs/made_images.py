"""Row images that opening a log made, because its rows lie in files as text: for each column the
length of its value as four bytes (little-endian, -1: null), then the values behind each other.

A length below -1 is *absent*: the log does not tell the value, of which ``-2 - length`` bytes, of
no meaning, stand there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Mask
from replay.changes.catalog import RowFormat
from replay.decoding import codecs

NULL, ABSENT = -1, -2


def mask(values: pa.Array) -> Mask:
    """Truth values; null is none."""
    return np.asarray(pc.fill_null(values, False).to_numpy(zero_copy_only=False), bool)


def unlike(text: pa.Array, pattern: str) -> Mask:
    """Which texts do not match a pattern; null does."""
    return ~mask(pc.fill_null(pc.match_substring_regex(text, pattern), True))


def usable(text: pa.Array, fails: Mask, instead: str) -> pa.Array:
    """Texts with another one in place of those that fail."""
    return pc.if_else(pa.array(fails), instead, text) if fails.any() else text


def images(columns: Sequence[pa.Array], absent: Sequence[Mask | None] = ()) -> pa.Array:
    """Row images of ``n`` rows, binary, of an array of ``n`` texts or byte strings a column and
    which of its values are ``absent`` (None: none); what is absent is null in the array."""
    lengths = np.stack(
        [
            np.asarray(pc.fill_null(pc.binary_length(one), NULL).to_numpy(zero_copy_only=False))
            for one in columns
        ],
        axis=1,
    ).astype("<i4")
    for index, mask in enumerate(absent):
        if mask is not None:
            lengths[mask, index] = ABSENT
    head = codecs.binary_rows(np.ascontiguousarray(lengths).view(np.uint8))
    parts = [one.cast(pa.binary()) for one in columns]
    return pc.binary_join_element_wise(
        head, *parts, b"", null_handling="replace", null_replacement=b""
    )


def forget(buffer: Bytes, starts: Index, count: int, columns: Sequence[int]) -> None:
    """Make values of some ``columns`` (of ``count``) absent in images that begin at ``starts``."""
    for column in columns:
        places = starts[:, None] + 4 * column + np.arange(4)
        length = np.ascontiguousarray(buffer[places]).view("<i4").reshape(-1)
        less = np.where(length <= ABSENT, length, ABSENT - np.maximum(length, 0)).astype("<i4")
        buffer[places] = less.view(np.uint8).reshape(-1, 4)


@dataclass
class MadeWalk:
    """The columns of ``n`` row images of one table version: what :class:`replay.logs.Walk` asks for
    but values. Images are whole, because opening the log made them."""

    format: RowFormat
    buffer: Bytes
    bad: Mask
    place: Index
    length: Index

    @classmethod
    def of(cls, layout: RowFormat, buffer: Bytes, start: Index, end: Index) -> Self:
        """The columns of the ``n`` images ``buffer[start:end]`` (``int64[n]`` each)."""
        count = len(layout.columns)
        head = 4 * count
        bad = (start < 0) | (end - start < head) | (end > len(buffer))
        begin = np.where(bad, 0, start)
        length = np.full((len(start), count), NULL, np.int64)
        good = np.flatnonzero(~bad)
        if len(good) and count:
            block = codecs.gather(buffer, begin[good], head)
            length[good] = np.ascontiguousarray(block).view("<i4").astype(np.int64)
        sizes = np.where(length <= ABSENT, ABSENT - length, np.maximum(length, 0))
        place = begin[:, None] + head + np.cumsum(sizes, axis=1) - sizes
        return cls(layout, np.asarray(buffer), np.asarray(bad), place, length)

    def reason(self, row: int) -> tuple[str, str, str]:
        """As :meth:`replay.logs.Walk.reason`."""
        return "image", "an image that is not whole", "a value for every column"

    def nulls(self, index: int) -> Mask | None:
        """As :meth:`replay.logs.log_file.NullTelling.nulls`."""
        null = np.asarray(self.length[:, index] == NULL)
        return null if null.any() else None

    def equal(self, other: Self, index: int) -> Mask:
        """As :meth:`replay.logs.Walk.equal`. What the other image, the row as it became, does not
        tell is what was not changed."""
        mine, theirs = self.length[:, index], other.length[:, index]
        same = mine == theirs
        rows = np.flatnonzero(same & (mine > 0))
        if len(rows):
            ours, offsets = codecs.gather_varying(self.buffer, self.place[rows, index], mine[rows])
            others, _ = codecs.gather_varying(other.buffer, other.place[rows, index], mine[rows])
            differ = np.flatnonzero(ours != others)
            same[rows[np.searchsorted(offsets, differ, side="right") - 1]] = False
        same |= theirs <= ABSENT
        return np.asarray(same & ~self.bad & ~other.bad)

    def among(self, index: int, rows: Index | None) -> tuple[Index, Mask, Bytes, Index]:
        """Of a column in some ``rows`` (None: all): their numbers, in which there is no value, and
        :meth:`values`."""
        chosen = np.arange(len(self.place)) if rows is None else rows
        none = (self.length[chosen, index] < 0) | self.bad[chosen]
        return chosen, none, *self.values(index, chosen, none)

    def values(self, index: int, chosen: Index, none: Mask) -> tuple[Bytes, Index]:
        """The bytes of a column in ``chosen`` rows (``int64[k]``), none of those that are ``none``,
        and where each begins (``int64[k + 1]``)."""
        return codecs.gather_varying(
            self.buffer,
            np.where(none, 0, self.place[chosen, index]),
            np.where(none, 0, self.length[chosen, index]),
        )

    def raw(self, index: int, row: int) -> bytes:
        """The bytes of one value; none of a null."""
        start = int(self.place[row, index])
        return self.buffer[start : start + max(int(self.length[row, index]), 0)].tobytes()
