"""The entries of the index of a log: what became of each record, once units of recovery and tables
are known. Rows that moved are one change of several records. And what an entry tells
beyond :class:`replay.logs.indexed_envelope.IndexedEnvelope`."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Index, Mask, Records, Versions, one_of
from replay.changes.envelope import Change
from replay.logs import indexed_envelope
from replay.logs.db2luw import layouts, row_moves, units
from replay.logs.db2luw.framing import OpenedFile
from replay.logs.db2luw.layouts import RecordRole
from replay.logs.db2luw.scan import HALF_MOVED, NORMAL, OVERFLOWN, POINTS
from replay.logs.db2luw.table_events import LuwTableHistory
from replay.spill import Spill, near_windows, windows

#: One entry a record, in file order. ``unit`` indexes the units (-1 none); ``head`` is the number
#: of the change's first record, which is its place in the unit; images are places in
#: ``before_file`` and ``after_file``. ``space``, ``table`` (of a data partition its own) and
#: ``rid`` (its last ``rid_size`` bytes, as in the log) say where the change's row lies.
#: ``problem`` is of the images (:data:`scan.PROBLEMS`), :data:`ONE_PARTITION` of a truncate;
#: ``fault`` of the record itself (:data:`FAULTS`).
ENTRY = np.dtype(
    [
        ("file", "<u2"), ("offset", "<i8"), ("length", "<i4"), ("unit", "<i8"), ("head", "<i8"),
        ("segment", "<u2"), ("segments", "<u2"),
        ("version", "<i4"), ("change", "u1"), ("cancelled", "?"), ("problem", "u1"),
        ("fault", "u1"), ("lsn", "<u8"),
        ("before_file", "<u2"), ("before", "<i8"), ("before_size", "<i4"), ("after_file", "<u2"),
        ("after", "<i8"), ("after_size", "<i4"),
        ("space", "<u2"), ("table", "<u2"), ("rid", "V6"), ("rid_size", "u1"),
    ]
)  # fmt: skip

#: What is wrong with a record: (code, field, found, expected).
FAULTS: tuple[tuple[str, str, str, str], ...] = (
    ("", "", "", ""),
    (
        "LR2032",
        "function",
        "a compensation record for a change that is not in the log",
        "the change it undoes, in the same unit of recovery",
    ),
    (
        "LR2011",
        "table id",
        "a table that neither the catalog export nor the log describes",
        "one that the catalog export lists",
    ),
    (
        "LR2030",
        "previous",
        "a record and its predecessor that are not of the same open transaction",
        "the predecessor that the record names",
    ),
    (
        "LR2010",
        "type or flags",
        "a record type or flags that contradict the record's function",
        "those that go with its function",
    ),
)
NO_TARGET, NO_TABLE, FOREIGN, CONTRADICTS = 1, 2, 3, 4
#: A truncate that empties a data partition, not its table.
ONE_PARTITION = 1

#: The catalog's own table space and schema: what is logged of them repeats what DDL did.
_CATALOG_SPACE, _CATALOG_SCHEMA = 0, "SYSIBM"
#: What entries have as it was scanned.
_AS_SCANNED = (
    "file", "offset", "length", "lsn", "before", "before_size", "after", "after_size", "problem",
)  # fmt: skip


def fill(
    entries: Records,
    records: Records,
    files: list[OpenedFile],
    result: units.Units,
    timeline: LuwTableHistory,
    contradicted: tuple[Mask, ...],
) -> None:
    """Say in entries what is known of their records, each for itself. ``contradicted``: which
    contradict others."""
    changed = np.array(sorted(timeline.changes), np.int64)
    emptied = sorted(timeline.emptied.items())
    catalog = np.array(
        [version.table.schema == _CATALOG_SCHEMA for version in timeline.versions] + [False], bool
    )
    for part in near_windows(len(records)):
        mine, entry = records[part], entries[part]
        for name in _AS_SCANNED:
            entry[name] = mine[name]
        entry["before_file"] = entry["after_file"] = mine["file"]
        entry["unit"], entry["version"] = result.unit[part], timeline.version[part]
        entry["cancelled"] = result.cancelled[part]
        entry["head"] = np.arange(part.start, part.stop)
        entry["segment"] = entry["segments"] = 1
        structural = changed[slice(*np.searchsorted(changed, (part.start, part.stop)))]
        entry["change"] = _changes(mine, timeline.version[part], structural - part.start, catalog)
        committed = in_committed(result, result.unit[part])
        _judge(
            entry, mine, committed & result.unmatched[part],
            committed & np.logical_or.reduce([wrong[part] for wrong in contradicted]), committed,
        )  # fmt: skip
        here = slice(*(bisect_left(emptied, (at,)) for at in (part.start, part.stop)))
        _emptied(entry, [(row - part.start, alone) for row, alone in emptied[here]])
        _located(mine, files, entry)
    entries["cancelled"][_initialised_in_vain(records, result)] = True


def _judge(
    entry: Records, records: Records, unmatched: Mask, contradicted: Mask, committed: Mask
) -> None:
    """What is wrong with some records."""
    row = one_of(entry["change"], (Change.INSERT, Change.UPDATE, Change.DELETE, Change.TRUNCATE))
    unknown = row & committed & ~entry["cancelled"] & (entry["version"] < 0)
    entry["fault"][unknown] = NO_TABLE
    entry["fault"][unmatched] = NO_TARGET
    entry["fault"][contradicted] = FOREIGN
    compensates = records["type"] == layouts.COMPENSATION
    undo = entry["change"] == Change.COMPENSATION
    entry["fault"][
        committed & ((row & compensates) | (undo & ~compensates) | records["contradicts"])
    ] = CONTRADICTS
    entry["problem"][~row] = 0


def _emptied(entry: Records, emptied: Iterable[tuple[int, bool]]) -> None:
    """Say of records of entries (places, as :attr:`LuwTableHistory.emptied`) what they empty."""
    for place, alone in emptied:
        entry["change"][place] = Change.TRUNCATE if alone else Change.CONTROL
        entry["problem"][place] = ONE_PARTITION if alone else 0


def mark_headless(entries: Records, ends: Index) -> None:
    """Say of the records that end units of which others are not in the files that they stand for
    these: what they changed, and in which tables, is not known."""
    control = ends[entries["change"][ends] == Change.CONTROL]
    entries["change"][control] = Change.HEADLESS


def with_repeated(entries: Records, found: Records, again: Mask, arrays: Spill) -> Records:
    """The entries of all records that were ``found``, in their order; those that repeat others are
    of no unit."""
    result = arrays.zeros(len(found), ENTRY)
    kept = arrays.places(len(found), lambda part: ~again[part])
    rows = (
        RecordRole.INSERT,
        RecordRole.UPDATE,
        RecordRole.PARTIAL_UPDATE,
        RecordRole.DELETE,
        RecordRole.FOREIGN,
    )
    for part in windows(len(found)):
        mine, entry = found[part], result[part]
        entry["unit"] = entry["version"] = -1
        for name in ("file", "offset", "length", "lsn", "before", "after"):
            entry[name] = mine[name]
        entry["before_file"] = entry["after_file"] = mine["file"]
        entry["head"] = np.arange(part.start, part.stop)
        entry["segment"] = entry["segments"] = 1
        entry["change"] = np.where(one_of(mine["role"], rows), Change.REPEATED, Change.CONTROL)
    for part in windows(len(kept)):
        result[kept[part]] = entries[part]
        result["head"][kept[part]] = kept[entries["head"][part]]
    return result


def _located(records: Records, files: list[OpenedFile], entries: Records) -> None:
    """Say of each record where its row lies."""
    entries["space"], entries["table"] = records["space"], records["table"]
    for place in np.unique(records["file"]).tolist():
        rows, shape = np.flatnonzero(records["file"] == place), files[place].shape
        size = shape.dialect.row["rid"].size
        number_ = records["rid"][rows].astype(np.uint64)
        big = number_ if shape.big else number_.byteswap() >> np.uint64(64 - 8 * size)
        octets_ = np.ascontiguousarray(big.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 2:])
        entries["rid"][rows] = octets_.view("V6").reshape(-1)
        entries["rid_size"][rows] = size


def in_committed(result: units.Units, unit: Index) -> Mask:
    """``bool[n]``: which of the units that are named (``int[n]``, -1: none) are committed."""
    if not len(result.disposition):
        return np.zeros(len(unit), bool)
    return np.asarray((unit >= 0) & (result.disposition[np.maximum(unit, 0)] == ord("C")))


def _changes(records: Records, version: Versions, structural: Index, catalog: Mask) -> Bytes:
    """The :class:`Change` of each of ``records``, of these table versions, before moved rows are
    put together. ``structural``: those that change tables; ``catalog``: versions of the catalog's
    own tables, and False behind them."""
    role, problem = records["role"], records["problem"] > 0
    before, after = (
        one_of(records[name], (NORMAL, OVERFLOWN)) for name in ("before_is", "after_is")
    )
    undo = one_of(
        role,
        (
            RecordRole.UNDO_INSERT,
            RecordRole.UNDO_DELETE,
            RecordRole.UNDO_UPDATE,
            RecordRole.UNDO_ADD_COLUMNS,
            RecordRole.UNDO_CREATE,
            RecordRole.UNDO_DROP,
        ),
    )
    change = np.full(len(records), Change.CONTROL, np.uint8)
    change[undo] = Change.COMPENSATION
    for name, change_kind, there in (
        (RecordRole.INSERT, Change.INSERT, after),
        (RecordRole.DELETE, Change.DELETE, before),
        (RecordRole.UPDATE, Change.UPDATE, before & after),
        (RecordRole.PARTIAL_UPDATE, Change.UPDATE, problem),
        (RecordRole.FOREIGN, Change.UPDATE, problem),
    ):
        change[(role == name) & (there | problem)] = change_kind
    change[role == RecordRole.TRUNCATE] = Change.TRUNCATE
    change[structural] = Change.STRUCTURE
    changed = one_of(
        change, (Change.INSERT, Change.UPDATE, Change.DELETE, Change.TRUNCATE, Change.STRUCTURE)
    )
    change[changed & ((records["space"] == _CATALOG_SPACE) & (version < 0) | catalog[version])] = (
        Change.CATALOG
    )
    return change


def _initialised_in_vain(records: Records, result: units.Units) -> list[int]:
    """Initialize-table records of tables whose creation was taken back."""
    gone: list[int] = []
    waiting: set[tuple[int, int, int]] = set()
    for part in windows(len(records)):
        role = records["role"][part]
        vain = result.cancelled[part] & (role == RecordRole.CREATE)
        for place in np.flatnonzero(vain | (role == RecordRole.INITIALIZE)).tolist():
            row = part.start + place
            key = int(result.unit[row]), int(records["space"][row]), int(records["table"][row])
            if vain[place]:
                waiting.add(key)
            elif key in waiting:
                waiting.remove(key)
                gone.append(row)
    return gone


def moved_rows(records: Records, result: units.Units, entries: Records) -> int:
    """Make one change of the records of each moved row; how many overflow records of committed
    units stay changes of their own."""
    moves = row_moves.Moves()
    single = 0
    for part in windows(len(records)):
        unit = result.unit[part]
        live = ~result.cancelled[part] & (unit >= 0)
        found = moves.pair(records[part], unit, live, part.start)
        single += _put_together(found, records, result, entries)
    return single + _put_together(moves.rest(), records, result, entries)


def _put_together(
    pairing: row_moves.Pairing, records: Records, result: units.Units, entries: Records
) -> int:
    """Make one change of the records of each moved row; how many of those that stay changes of
    their own are committed."""
    for part in windows(len(pairing.moved)):
        _make_one(pairing.moved[part], records, entries)
    half = pairing.half
    deletes = records["role"][half] == RecordRole.DELETE
    entries["change"][half] = np.where(deletes, Change.DELETE, Change.UPDATE)
    problem = entries["problem"][half]
    entries["problem"][half] = np.where(problem > 0, problem, HALF_MOVED)
    return int(in_committed(result, result.unit[pairing.single]).sum())


def _make_one(moved: Records, records: Records, entries: Records) -> None:
    """Make one change of the records of each of some moved rows."""
    rows, first = moved["records"], moved["records"][:, 0]
    there = rows >= 0
    points = there & (
        (records["before_is"][rows] == POINTS) | (records["after_is"][rows] == POINTS)
    )
    # where the pointer lies is where the row does
    home = rows[np.arange(len(rows)), np.argmax(points, axis=1)]
    of = np.broadcast_to(np.arange(len(rows))[:, None], rows.shape)[there]
    mine, count = rows[there], there.sum(axis=1)
    for name in ("space", "table", "rid"):
        entries[name][mine] = entries[name][home][of]
    updates = moved["after"] >= 0
    entries["change"][mine] = np.where(updates, Change.UPDATE, Change.DELETE)[of]
    entries["head"][mine] = first[of]
    entries["segment"][mine] = np.broadcast_to(np.arange(1, rows.shape[1] + 1), rows.shape)[there]
    entries["segments"][mine] = count[of]
    version = entries["version"][np.where(updates, moved["after"], first)]
    entries["version"][mine] = version[of]
    for name, source in (("before", moved["before"]), ("after", moved["after"])):
        to, row = first[source >= 0], source[source >= 0]
        entries[f"{name}_file"][to] = records["file"][row]
        for part in (name, f"{name}_size"):
            entries[part][to] = records[part][row]
    worst = np.where(there, entries["problem"][rows], 0).max(axis=1)
    entries["problem"][mine] = worst[of]


class LuwEntries(indexed_envelope.IndexedEnvelope):
    """Units have a commit time, a log stream and an authorization id, and may be rolled back to a
    savepoint."""

    place: ClassVar[str] = "head"

    def commit_time(self) -> Bytes:
        """Commit time as 34 packed digits."""
        return self.as_bytes("time")

    def incomplete_unit(self) -> Mask:
        """Units whose beginning is not in the log, or another part of them."""
        return np.asarray(self.of_unit("incomplete"), bool)

    def member(self) -> Index:
        """Log stream."""
        return np.ascontiguousarray(self.unit()[:, 10:]).view(">u2").reshape(-1).astype(np.int64)

    def disposition(self) -> Bytes:
        """C, S for what was rolled back to a savepoint, A in a unit that was not committed."""
        committed = self.unit_disposition() == ord("C")
        return np.where(
            self.rows["cancelled"], ord("S"), np.where(committed, ord("C"), ord("A"))
        ).astype(np.uint8)

    def location(self, kind: str) -> Index:
        """The id of the table space; nothing else has a number."""
        if kind != "tablespace":
            return super().location(kind)
        return self.rows["space"].astype(np.int64)

    def rid(self) -> Bytes:
        """The row's identifier, in the bytes of the log."""
        width = int(self.rows["rid_size"].max()) if len(self.rows) else 0
        raw = np.ascontiguousarray(self.rows["rid"]).view(np.uint8).reshape(-1, 6)
        return np.asarray(raw[:, 6 - width :])

    def name(self, kind: str) -> npt.NDArray[np.bytes_]:
        """The authorization id; other names are not in the log."""
        if kind != "authid":
            return super().name(kind)
        return np.asarray(self.of_unit("authid"), self.units.dtype["authid"])
