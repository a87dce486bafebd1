"""Sort records as they go from task to task: what all records of a block have in common stands
there once. Of 75 octets of a record some 30 are left, for positions begin alike. Those that come
together in a task are sorted, in a file where they are many (:func:`in_commit_order`).

A packed block is: how many records there are (4 octets), how many octets differ (1), their places
in a record (1 each), the first record, then of each record the octets that differ. Few records,
which are not worth the time, stand there as they are, behind the octets that say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Index, Records, take_rows
from replay.changes.envelope import RECORD
from replay.changes.order import commit_order
from replay.spill import merged

#: Records from which on those that came are sorted as one run; runs are merged.
RUN = 1 << 19
#: Records that are worth to be packed: less than half a microsecond each.
FEW = 32
#: Octets that say how many records there are; how a block begins whose records are as they are.
_COUNT = 4
_WHOLE = b"\0\0\0\0\xff"
_SIZE = RECORD.itemsize


def packed(octets: Bytes) -> bytes:
    """The records (:data:`replay.changes.envelope.RECORD`) that ``octets`` are, packed."""
    count = len(octets) // _SIZE
    if count < FEW:
        return b"".join((_WHOLE, octets.data))
    rows = octets.reshape(count, _SIZE)
    columns = np.flatnonzero(np.bitwise_or.reduce(rows ^ rows[0], axis=0))
    rest = np.empty((count, len(columns)), np.uint8)
    for place, at, size in _stretches(columns):
        _column(rest, place, size)[:] = _column(rows, at, size)
    head = count.to_bytes(_COUNT, "little") + bytes([len(columns), *columns.tolist()])
    return b"".join((head, octets[:_SIZE].data, rest.data))


def unpacked(block: bytes) -> Records:
    """The records of a packed block."""
    return unpacked_together([block])


def unpacked_together(blocks: Iterable[bytes]) -> Records:
    """The records of packed blocks, as they come."""
    each = list(blocks)
    ends = np.cumsum([0, *map(count_of, each)]).tolist()
    out = np.empty((ends[-1], _SIZE), np.uint8)
    for block, (begin, end) in zip(each, pairwise(ends), strict=True):
        _unpack(block, out[begin:end])
    return out.reshape(-1).view(RECORD)


def count_of(block: bytes) -> int:
    """How many records a packed block has."""
    if block.startswith(_WHOLE):
        return (len(block) - len(_WHOLE)) // _SIZE
    return int(np.frombuffer(block, "<u4", 1)[0])


def _unpack(block: bytes, out: Bytes) -> None:
    octets = np.frombuffer(block, np.uint8)
    if block.startswith(_WHOLE):
        out[:] = octets[len(_WHOLE) :].reshape(out.shape)
        return
    start = _COUNT + 1 + block[_COUNT]
    columns = octets[_COUNT + 1 : start].astype(np.int64)
    rest = octets[start + _SIZE :].reshape(len(out), len(columns))
    _column(out, 0, _SIZE)[:] = octets[start : start + _SIZE].view(f"V{_SIZE}")
    for place, at, size in _stretches(columns):
        _column(out, at, size)[:] = _column(rest, place, size)


def _stretches(columns: Index) -> Iterator[tuple[int, int, int]]:
    """(place among ``columns``, octet of a record, octets) of columns that follow one another."""
    ends = np.append(np.flatnonzero(np.diff(columns) > 1) + 1, len(columns)).tolist()
    start = 0
    for end in ends if len(columns) else ():
        yield start, int(columns[start]), end - start
        start = end


def _column(rows: Bytes, at: int, size: int) -> npt.NDArray[Any]:
    """``size`` octets of each row, which lie together, as one value: NumPy copies them as such."""
    count, width = rows.shape
    return np.ndarray((count,), f"V{size}", rows, at, (width,))


def in_commit_order(blocks: Iterable[bytes]) -> Records:
    """The records of packed blocks in the order of :func:`replay.changes.order.commit_order`; in a
    file where they are more than :data:`RUN`, so that a unit of recovery may be of any size.
    OSError where that cannot be written."""
    return merged(_runs(blocks), commit_order, _key)


def _runs(blocks: Iterable[bytes]) -> Iterator[Records]:
    """Sorted runs of the records as they come, one at least; the last one may be shorter."""
    held, count = list[bytes](), 0
    for block in blocks:
        if count >= RUN:
            yield _sorted(held)
            held, count = [], 0
        held.append(block)
        count += count_of(block)
    yield _sorted(held)


def _sorted(blocks: Sequence[bytes]) -> Records:
    records = unpacked_together(blocks)
    return take_rows(records, commit_order(records))


def _key(records: Records, row: int) -> tuple[bytes | int, ...]:
    """What :func:`replay.changes.order.commit_order` compares of a record."""
    record = records[row]
    fields = (record[name].tobytes() for name in ("commit", "unit", "position"))
    return *fields, *(int(record[name]) for name in ("segment", "file", "offset"))
