"""The units of recovery of a log as its index has them: how they are called, and where they lie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from replay.arrays import Hashes, Index, Records
from replay.logs.long_arrays import LongArrays, windows
from replay.logs.soliddb.export_values import NONE
from replay.logs.soliddb.joined_rows import Joined
from replay.logs.soliddb.transactions import SolidTransactions

#: One entry a unit: ``commit`` (10 bytes, sorts in log order), ``unit`` (use of the id, TRXID, 12
#: bytes), ``start``, ``address`` of the commit record.
UNIT = np.dtype(
    [
        ("commit", "V10"),
        ("unit", "V12"),
        ("start", "V10"),
        ("address", "V28"),
        ("disposition", "u1"),
        ("trx", "<i8"),
    ]
)


@dataclass(frozen=True)
class UnitsBefore:
    """What comes before the units of a stretch of a log: so many ``rows``; the highest beginning of
    an address that commits have (``reached``), which the last of them has by itself."""

    rows: int = 0
    reached: int = 0


def units_of(rows: Joined, bounds: SolidTransactions) -> tuple[Records, bool]:
    """The units of a log (dtype :data:`UNIT`), and whether commits are positioned by address: where
    the first 8 bytes of the addresses tell all of them apart."""
    told = heads_of(rows, bounds)
    by_address = told.tell_apart
    table = placed_units(rows, bounds, by_address, UnitsBefore())
    name_units(table, rows.arrays)
    return table, by_address


def placed_units(
    rows: Joined, bounds: SolidTransactions, by_address: bool, behind: UnitsBefore
) -> Records:
    """The units of a stretch of a log, which :func:`name_units` has yet to name; their ids are in
    ``trx``."""
    table = rows.arrays.zeros(len(bounds.first), UNIT)
    reached, rank_before = behind.reached, 0
    before = behind.reached if behind.reached else -1
    for part in windows(len(table)):
        first, last = bounds.first[part], bounds.last[part]
        if by_address:
            value = np.maximum.accumulate(np.append(np.uint64(reached), _heads(rows, bounds, part)))
            value, reached = value[1:], int(value[-1])
        else:
            file = rows.file[last].astype(np.uint64) + np.uint64(1)
            value = (file << np.uint64(48)) | rows.row[last].astype(np.uint64)
        fresh = np.append(int(value[0]) != before, value[1:] != value[:-1])
        place = np.arange(len(value))
        rank = place - np.maximum.accumulate(np.where(fresh, place, -1 - rank_before))
        before, rank_before = int(value[-1]), int(rank[-1])
        commit = np.zeros((len(value), 10), np.uint8)
        commit[:, :8] = value.astype(">u8").view(np.uint8).reshape(-1, 8)
        commit[:, 8:] = np.minimum(rank, 0xFFFF).astype(">u2").view(np.uint8).reshape(-1, 2)
        start = np.zeros((len(value), 10), np.uint8)
        begin = first + behind.rows + 1
        start[:, 2:] = begin.astype(">u8").view(np.uint8).reshape(-1, 8)
        address = np.zeros((len(value), 28), np.uint8)
        address[:, : rows.address.shape[1]] = rows.address[last]
        units = table[part]
        units["disposition"] = bounds.disposition[part]
        units["commit"] = commit.view("V10").reshape(-1)
        units["start"] = start.view("V10").reshape(-1)
        units["address"] = address.view("V28").reshape(-1)
        units["trx"] = _ids(rows, bounds, part)
    return table


def _ids(rows: Joined, bounds: SolidTransactions, part: slice) -> Index:
    """The TRXIDs of units."""
    ids = rows.numbers["TRXID"]
    trx: Index = ids[bounds.first[part]]
    for number in (part.start + np.flatnonzero(trx == NONE)).tolist():
        inside = ids[bounds.first[number] : bounds.last[number] + 1]
        given = inside[inside != NONE]
        trx[number - part.start] = given[0] if len(given) else 0
    return trx


def _heads(rows: Joined, bounds: SolidTransactions, part: slice) -> Hashes:
    """The beginnings of the addresses of commits that are whole and new, of other units 0."""
    octets = np.ascontiguousarray(rows.address[bounds.last[part], :8])
    value = octets.view(">u8").reshape(-1).astype(np.uint64)
    new = bounds.whole[part] & ~bounds.repeated[part]
    return np.where(new, value, np.uint64(0))


@dataclass(frozen=True)
class CommitHeads:
    """Whether the beginnings of the addresses of new commits ``rise`` from each to the next; those
    of the ``first`` and the ``last`` of ``count``."""

    rise: bool = True
    first: int = 0
    last: int = 0
    count: int = 0

    @property
    def tell_apart(self) -> bool:
        """Whether they tell commits apart."""
        return self.rise and (self.first > 0 or not self.count)

    def followed_by(self, other: CommitHeads) -> CommitHeads:
        """Those of two stretches, one behind the other."""
        if not self.count or not other.count:
            return self if self.count else other
        rise = self.rise and other.rise and self.last < other.first
        return CommitHeads(rise, self.first, other.last, self.count + other.count)


def heads_of(rows: Joined, bounds: SolidTransactions) -> CommitHeads:
    """What they are in a log, or a stretch of one."""
    found = CommitHeads()
    for part in windows(len(bounds.first)):
        new = bounds.whole[part] & ~bounds.repeated[part]
        done = _heads(rows, bounds, part)[new]
        if len(done):
            rise = bool((done[1:] > done[:-1]).all())
            mine = CommitHeads(rise, int(done[0]), int(done[-1]), len(done))
            found = found.followed_by(mine)
    return found


def name_units(table: Records, arrays: LongArrays) -> None:
    """Name units by their TRXID, and how often it was used before: it may come again (section
    3)."""
    trx = table["trx"]
    everyone = arrays.places(len(table), lambda part: np.ones(part.stop - part.start, bool))
    order = arrays.by(everyone, lambda some: np.asarray(trx[some]))
    before, uses = -1, 0
    for part in windows(len(order)):
        mine: Index = order[part]
        value, place = trx[mine], np.arange(len(mine))
        fresh = np.append(part.start == 0 or int(value[0]) != before, value[1:] != value[:-1])
        again = place - np.maximum.accumulate(np.where(fresh, place, -uses))
        before, uses = int(value[-1]), int(again[-1]) + 1
        raw = np.zeros((len(mine), 12), np.uint8)
        raw[:, :4] = again.astype(">u4").view(np.uint8).reshape(-1, 4)
        low = (value & ((1 << 48) - 1)).astype(">u8").view(np.uint8).reshape(-1, 8)
        raw[:, 4:10] = low[:, 2:]
        table["unit"][mine] = raw.view("V12").reshape(-1)
