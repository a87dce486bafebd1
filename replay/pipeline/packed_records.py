"""Sort records as they go from task to task: what all records of a block have in common stands
there once. Of 75 octets of a record some 30 are left, for positions begin alike.

A packed block is: how many records there are (4 octets), how many octets differ (1), their places
in a record (1 each), the first record, then of each record the octets that differ. Few records,
which are not worth the time, stand there as they are, behind the octets that say so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from replay.arrays import Bytes, Hashes, Index, Records
from replay.changes.envelope import RECORD, field_slice
from replay.decoding.machine_code import NUMBER, ArrayOf, Kernel, available, once_worth

#: Octets of records that make it worth to load machine code.
WORTH = 2 << 20
_MODULE = "replay.pipeline.packed_records_kernel"
_FIXED, _PLACES = ArrayOf("uint8", fixed=True), ArrayOf("int64", fixed=True)
_PACK = Kernel(
    _MODULE,
    "pack_records",
    (_FIXED, NUMBER, ArrayOf("uint64"), ArrayOf("int64"), ArrayOf("uint8")),
)
_UNPACK = Kernel(_MODULE, "unpack_records", (_FIXED, _PLACES, _FIXED, _PLACES, ArrayOf("uint8")))
_WORDS = Kernel(
    _MODULE,
    "leading_words",
    (_FIXED, _PLACES, _PLACES, ArrayOf("uint8"), NUMBER, NUMBER, ArrayOf("uint64", 2)),
)
#: Records that are worth to be packed: less than half a microsecond each.
FEW = 32
#: Octets that say how many records there are; how a block begins whose records are as they are.
_COUNT = 4
_WHOLE = b"\0\0\0\0\xff"
_SIZE = RECORD.itemsize
#: Where the fields lie that records are ordered by first, and which octets of a record are of them.
_COMMIT, _POSITION = (field_slice(name).start for name in ("commit", "position"))
_ORDERS = np.zeros(_SIZE, bool)
_ORDERS[field_slice("commit")] = _ORDERS[field_slice("position")] = True


def packed(octets: Bytes) -> bytes:
    """The records (:data:`replay.changes.envelope.RECORD`) that ``octets`` are, packed."""
    count = len(octets) // _SIZE
    if count < FEW:
        return b"".join((_WHOLE, octets.data))
    pack = once_worth(_PACK, len(octets), WORTH)
    if pack is None:
        rows = octets.reshape(count, _SIZE)
        columns = np.flatnonzero((rows != rows[0]).any(axis=0))
        rest = np.ascontiguousarray(rows[:, columns]).reshape(-1)
    else:
        words, columns = np.zeros(-(-_SIZE // 8), np.uint64), np.empty(_SIZE, np.int64)
        rest = np.empty(len(octets), np.uint8)
        columns = columns[: pack(octets, _SIZE, words, columns, rest)]
        rest = rest[: count * len(columns)]
    head = count.to_bytes(_COUNT, "little") + bytes([len(columns), *columns.tolist()])
    return b"".join((head, octets[:_SIZE].data, rest.data))


def unpacked(block: bytes) -> Records:
    """The records of a packed block."""
    return PackedRecords.of(block).records()


def unpacked_together(blocks: Iterable[bytes]) -> Records:
    """The records of packed blocks, as they come."""
    return np.concatenate([np.zeros(0, RECORD), *map(unpacked, blocks)])


@dataclass(frozen=True)
class PackedRecords:
    """A packed block, taken apart: ``count`` records that are as ``first`` (uint8[size]), but for
    the octets at ``columns``, which are in ``rest`` (uint8[count * len(columns)])."""

    count: int
    columns: Index
    first: Bytes
    rest: Bytes

    @classmethod
    def of(cls, block: bytes) -> PackedRecords:
        """What :func:`packed` made."""
        octets = np.frombuffer(block, np.uint8)
        if block.startswith(_WHOLE):
            return cls.whole(octets[len(_WHOLE) :])
        start = _COUNT + 1 + block[_COUNT]
        return cls(
            int(octets[:_COUNT].view("<u4")[0]),
            octets[_COUNT + 1 : start].astype(np.int64),
            octets[start : start + _SIZE],
            octets[start + _SIZE :],
        )

    @classmethod
    def whole(cls, octets: Bytes) -> PackedRecords:
        """Records as they are, of which nothing is left out."""
        return cls(len(octets) // _SIZE, np.arange(_SIZE), np.zeros(_SIZE, np.uint8), octets)

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left out."""
        return len(self.columns) == _SIZE

    def part(self, start: int, stop: int) -> PackedRecords:
        """Some of the records."""
        differ = len(self.columns)
        return PackedRecords(
            stop - start, self.columns, self.first, self.rest[start * differ : stop * differ]
        )

    def records(self) -> Records:
        """The records."""
        if self.is_whole:
            return self.rest.view(RECORD)
        out = np.empty((self.count, _SIZE), np.uint8)
        if once_worth(_UNPACK, out.size, WORTH) is None:
            out[:] = self.first
            out[:, self.columns] = self.rest.reshape(self.count, len(self.columns))
        else:
            self.put(np.arange(self.count), out.reshape(-1))
        return out.reshape(-1).view(RECORD)

    def put(self, ranks: Index, out: Bytes) -> bool:
        """Have the n-th record become that of ``out`` that ``ranks`` (int64[count]) says; False
        where there is no machine code for it."""
        unpack = available(_UNPACK)
        if unpack is None:
            return False
        unpack(self.rest, self.columns, self.first, ranks, out)
        return True

    def leading_words(self, fields: Hashes) -> bool:
        """Put the first 8 octets and the last 2 of the commit and of the position of each record
        into ``fields`` (uint64[count, 4]); False where there is no machine code for it."""
        read = available(_WORDS)
        if read is None:
            return False
        some = np.flatnonzero(_ORDERS[self.columns])
        read(self.rest, self.columns, some, self.first.copy(), _COMMIT, _POSITION, fields)
        return True
