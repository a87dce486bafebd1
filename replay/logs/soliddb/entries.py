"""Entries and units of the index of a solidDB log: what became of each row, how units of recovery
are called, and where they lie. Only committed work is in SYS_LOG, without times and names."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from replay.arrays import Bytes, Hashes, Index, Records
from replay.changes.envelope import CANCELLED
from replay.logs import indexed_envelope
from replay.logs.soliddb.export import NONE
from replay.logs.soliddb.joined_rows import Joined
from replay.logs.soliddb.transactions import SolidTransactions
from replay.spill import Spill, windows

#: One entry a row, in fetch order. ``unit`` indexes the units (-1 none); ``place`` orders the
#: changes of a unit; ``before`` and ``after`` are places in the data. ``fault`` is an index of
#: :data:`replay.logs.soliddb.faults.FAULTS`, ``other`` the row it speaks of.
ENTRY = np.dtype(
    [
        ("file", "<u4"), ("row", "<i8"), ("recid", "<i4"), ("trx", "<i8"), ("statement", "<i8"),
        ("table", "<i8"), ("flags", "<i4"),
        ("unit", "<i8"), ("place", "<i8"), ("segment", "<u2"), ("segments", "<u2"),
        ("version", "<i4"), ("change", "u1"), ("fault", "u1"), ("cancelled", "?"),
        ("other", "<i8"), ("start", "<i8"), ("size", "<i4"), ("before", "<i8"),
        ("before_size", "<i4"), ("after", "<i8"), ("after_size", "<i4"),
    ]
)  # fmt: skip


class SolidEntries(indexed_envelope.IndexedEnvelope):
    """``place``: statements that move keys have their deletes first."""

    place: ClassVar[str] = "place"

    def disposition(self) -> Bytes:
        """C, or that of changes that their own statement takes back."""
        codes = super().disposition()
        codes[self.rows["cancelled"]] = CANCELLED
        return codes


# -- units
# -------------------------------------------------------------------------------------------------

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


def units_of(rows: Joined, bounds: SolidTransactions) -> tuple[Records, bool]:
    """The units of a log (dtype :data:`UNIT`), of which copies are as what they are copies of, and
    whether commits are positioned by address: where the first 8 bytes of the addresses tell all of
    them apart."""
    by_address = _told_apart(rows, bounds)
    table = _placed_units(rows, bounds, by_address)
    _name_units(table, bounds, rows.arrays)
    for part in windows(len(table)):
        copies = part.start + np.flatnonzero(bounds.copy_of[part] >= 0)
        table[copies] = table[bounds.copy_of[copies]]
    return table, by_address


def _placed_units(rows: Joined, bounds: SolidTransactions, by_address: bool) -> Records:
    """The units of a log, which :func:`_name_units` has yet to name; their ids are in ``trx``."""
    table = rows.arrays.zeros(len(bounds.first), UNIT)
    reached, before, rank_before = 0, -1, 0
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
        start[:, 2:] = (first + 1).astype(">u8").view(np.uint8).reshape(-1, 8)
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
    new = bounds.whole[part] & (bounds.copy_of[part] < 0)
    return np.where(new, value, np.uint64(0))


def _told_apart(rows: Joined, bounds: SolidTransactions) -> bool:
    """Whether the beginnings of the addresses of new commits rise from each to the next."""
    before = np.zeros(1, np.uint64)
    for part in windows(len(bounds.first)):
        new = bounds.whole[part] & (bounds.copy_of[part] < 0)
        done = np.concatenate([before, _heads(rows, bounds, part)[new]])
        if not (done[1:] > done[:-1]).all():
            return False
        before = done[-1:]
    return True


def _name_units(table: Records, bounds: SolidTransactions, arrays: Spill) -> None:
    """Name units by their TRXID, and how often it was used before: it may come again (section
    3). Copies have no names yet."""
    trx = table["trx"]
    units = arrays.places(len(table), lambda part: bounds.copy_of[part] < 0)
    order = arrays.by(units, lambda some: np.asarray(trx[some]))
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
