"""Sort records as they go from task to task: what all records of a block have in common stands
there once. Of 75 octets of a record some 30 are left, for positions begin alike.

A packed block is: how many records there are (4 octets), how many octets differ (1), their places
in a record (1 each), the first record, then of each record the octets that differ. Few records,
which are not worth the time, stand there as they are, behind the octets that say so.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from replay.arrays import Bytes, Records
from replay.changes.envelope import RECORD

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
    columns = np.flatnonzero((rows != rows[0]).any(axis=0))
    rest = np.ascontiguousarray(rows[:, columns]).reshape(-1)
    head = count.to_bytes(_COUNT, "little") + bytes([len(columns), *columns.tolist()])
    return b"".join((head, octets[:_SIZE].data, rest.data))


def unpacked(block: bytes) -> Records:
    """The records of a packed block."""
    octets = np.frombuffer(block, np.uint8)
    if block.startswith(_WHOLE):
        return octets[len(_WHOLE) :].view(RECORD)
    count, start = int(octets[:_COUNT].view("<u4")[0]), _COUNT + 1 + block[_COUNT]
    columns = octets[_COUNT + 1 : start].astype(np.int64)
    out = np.empty((count, _SIZE), np.uint8)
    out[:] = octets[start : start + _SIZE]
    out[:, columns] = octets[start + _SIZE :].reshape(count, len(columns))
    return out.reshape(-1).view(RECORD)


def unpacked_together(blocks: Iterable[bytes]) -> Records:
    """The records of packed blocks, as they come."""
    return np.concatenate([np.zeros(0, RECORD), *map(unpacked, blocks)])
