"""Index of either byte order, taken from many places of a buffer at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Hashes, Index
from replay.logs.db2luw.layouts import Part


def numbers(buffer: Bytes, base: Index, part: Part, big: bool) -> Hashes:
    """The unsigned number of a field (1, 2, 4, 6 or 8 bytes) of structures that begin at ``base``.
    Places outside the buffer read as 0."""
    if part.size in (1, 2, 4, 8):
        return _words(buffer, base + part.offset, part.size, big)
    high = _words(buffer, base + part.offset + (0 if big else 4), 2, big)
    low = _words(buffer, base + part.offset + (2 if big else 0), 4, big)
    return (high << np.uint64(32)) | low


def _words(buffer: Bytes, place: Index, size: int, big: bool) -> Hashes:
    count = len(buffer) - size + 1
    if count <= 0:
        return np.zeros(len(place), np.uint64)
    windows: npt.NDArray[np.unsignedinteger] = np.ndarray(
        (count,), f"{'>' if big else '<'}u{size}", buffer, 0, (1,)
    )
    inside = (place >= 0) & (place < count)
    if inside.all():
        return windows[place].astype(np.uint64)
    return np.where(inside, windows[np.where(inside, place, 0)].astype(np.uint64), np.uint64(0))


def number(record: bytes, base: int, part: Part, big: bool) -> int:
    """The same of one record; 0 where it ends before the field."""
    piece = record[base + part.offset : base + part.offset + part.size]
    return int.from_bytes(piece, "big" if big else "little") if len(piece) == part.size else 0
