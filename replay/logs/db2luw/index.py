"""The index of a log: what became of every record, made once when a log is opened and looked up by
place afterwards.

The first look (:mod:`scan`), units and compensations (:mod:`units`), moved rows (:mod:`moves`) and
tables (:mod:`timeline`) come together in two arrays, one entry a record and one entry a unit, which
lie in files, so that engines map them instead of carrying them. All of it goes window by window, or
part by part (:mod:`replay.logs.long_arrays`), so that memory does not grow with the log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from replay.arrays import Bytes, Hashes, Index, Mask, Records
from replay.changes.envelope import Change
from replay.errors import InputError, Where
from replay.logs.db2luw import chains, layouts, opening_warnings, repeats, row_moves, units
from replay.logs.db2luw.binary import number
from replay.logs.db2luw.framing import OpenedFile, lsns_rise
from replay.logs.db2luw.layouts import RecordKind, RecordRole
from replay.logs.db2luw.scan import (
    HALF_MOVED,
    NORMAL,
    OVERFLOWN,
    POINTS,
    SCANNED,
    Scanned,
    pass_over_temporary,
    scanned_files,
)
from replay.logs.db2luw.strays import strays
from replay.logs.db2luw.table_history import LuwTableHistory, build
from replay.logs.db2luw.tables import LuwTable, TableId
from replay.logs.indexed_log import SavedArray
from replay.logs.long_arrays import LongArrays, any_of, windows, windows_back
from sqlgen.structure import StructureChange

#: One entry a record, in file order. ``unit`` indexes the units (-1 none); ``head`` is the number
#: of the change's first record, which is its place in the unit; images are places in
#: ``before_file`` and ``after_file``. ``space``, ``table`` (of a data partition its own) and
#: ``rid`` (its last ``rid_size`` octets, as in the log) say where the change's row lies.
#: ``problem`` is of the images (:data:`scan.PROBLEMS`),
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
        "the change it takes back, in the same unit of recovery",
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

#: The catalog's own table space and schema: what is logged of them repeats what DDL did.
_CATALOG_SPACE, _CATALOG_SCHEMA = 0, "SYSIBM"
#: What entries have as it was scanned.
_AS_SCANNED = (
    "file", "offset", "length", "lsn", "before", "before_size", "after", "after_size", "problem",
)  # fmt: skip
#: A byte that is no packed digits, and greater than all that are.
_NO_DIGITS = 0xFF
_ORDER = "Give the files in the order in which they were collected, each once, and complete"
_STREAMS = "; records of several log streams as db2ReadLog merges them, by their positions"


@dataclass(frozen=True)
class LuwIndex:
    """``entries`` (dtype :data:`ENTRY`), of which each file has so many (``counts``), and ``units``
    (see :func:`_unit_dtype`); ``offsets`` are those of entries, by themselves; ``ordered_by_lsn``:
    commit positions are LSNs; else they are file and offset of the commit record. Arrays that
    tasks wrote are paths of their files."""

    entries: SavedArray
    counts: Sequence[int]
    units: Records
    offsets: SavedArray
    timeline: LuwTableHistory
    structure: Mapping[tuple[int, int], StructureChange]
    ordered_by_lsn: bool
    warnings: tuple[str, ...]
    hole: str | None = None


def build_index(
    files: list[OpenedFile],
    tables: Mapping[TableId, LuwTable],
    code_page: int,
    *,
    set_aside: bool = True,
    folder: str | None = None,
    scanned: Scanned | None = None,
) -> LuwIndex:
    """Index a log. ``set_aside``: units that lack records are incomplete. What a file repeats of
    others is of no account. ``folder``: where large arrays lie (None: in memory). ``scanned``: the
    first look, where tasks had it.

    InputError LR2030 where records are out of order."""
    arrays = LongArrays(folder)
    scanned = scanned or scanned_files(files, arrays)
    found = scanned.records
    edges = _edges(found, files)
    again = repeats.repeated(found, files, edges, arrays)
    several = any_of(again)
    records = found
    if several:
        kept = (found[part][~again[part]] for part in windows(len(found)))
        records = arrays.collected(kept, SCANNED)
    pass_over_temporary(records, arrays)
    tids, apart = _parents(records, files, arrays)
    rising = all(lsns_rise(file.shape) for file in files)
    chained, holes = _in_order(records, tids, files, rising, arrays)
    # a subtransaction has a first record of its own, which begins nothing; where no record names a
    # previous one, none says that it is the first
    splits = not apart and any_of(records["previous"])
    result = units.resolve(records, tids, splits, arrays)
    timeline = build(records, result, files, tables, code_page, arrays)
    entries = arrays.zeros(len(records), ENTRY)
    stray = strays(chained, result, holes.position, arrays)
    foreign = units.foreign(chained, tids, result.unit, holes.position, arrays)
    fill(entries, records, files, result, timeline, (stray.contradicted, foreign))
    halves = moved_rows(records, result, entries)
    holds = opening_warnings.changing(records, result, arrays)
    known_units, by_lsn, untimed = units_told(
        records, result, holds, files, list(scanned.names), arrays
    )
    lacking = chains.lacking(chained, result.unit, len(result.last), holes, arrays)
    for part in windows(len(lacking)):
        known_units["incomplete"][part] = lacking[part] & set_aside
    places = {
        (int(records["file"][row]), int(records["offset"][row])): change
        for row, change in timeline.changes.items()
    }
    missing = opening_warnings.missing(records, holes, files)
    texts = (
        *(repeats.whole_files(again, found, files) if several else ()),
        *timeline.warnings,
        *opening_warnings.halves(halves),
        *untimed,
        *opening_warnings.incomplete(records, result, holds, lacking, known_units),
        *opening_warnings.endless(result, holds),
        *missing,
        *opening_warnings.suspicious(records, stray.suspects, files),
        *opening_warnings.other_warnings(records, files, arrays),
    )
    if several:
        entries = _with_repeated(entries, found, again, arrays)
    offsets = arrays.zeros(len(entries), np.int64)
    for part in windows(len(entries)):
        offsets[part] = entries["offset"][part]
    return LuwIndex(
        entries,
        [end - begin for begin, end in pairwise(edges)],
        known_units,
        offsets,
        timeline,
        places,
        by_lsn,
        texts,
        next(iter(missing), None),
    )


def _edges(records: Records, files: list[OpenedFile]) -> list[int]:
    """Where the records of each file begin, and those of the last one end."""
    counts = np.zeros(len(files), np.int64)
    for part in windows(len(records)):
        counts += np.bincount(records["file"][part], minlength=len(files))
    return [0, *np.cumsum(counts).tolist()]


def _in_order(
    records: Records, tids: Hashes, files: list[OpenedFile], rising: bool, arrays: LongArrays
) -> tuple[Records, chains.Holes]:
    """(the records with positions in the byte order in which they rise, what is missing among
    them). ``rising``: the byte order is known.

    InputError LR2030 where records cannot come after those before them."""
    ordered: Records | None = records
    if not rising:
        ordered = chains.rising_positions(records, tids, _edges(records, files), arrays)
    wrong = (
        units.tangled(records, arrays) if ordered is None else units.disorder(ordered, tids, arrays)
    )
    if wrong is None and not rising:
        wrong = units.tangled(records, arrays)
    chained = records if ordered is None else ordered
    holes = chains.holes(chained, arrays) if wrong is None else None
    if wrong is None and holes is not None:
        wrong = holes.misplaced
    if wrong is not None or holes is None:
        row = records[wrong]
        streams: set[int] = set()
        for part in windows(len(records)):
            streams.update(np.unique(records["tid"][part] >> np.uint64(48)).tolist())
        raise InputError(
            "LR2030",
            "found a record that cannot come after those before it; expected the records in log"
            " order",
            Where(files[row["file"]].name, None, int(row["offset"]), "position"),
            _ORDER + (_STREAMS if len(streams) > 1 else ""),
        )
    return chained, holes


def _parents(records: Records, files: list[OpenedFile], arrays: LongArrays) -> tuple[Hashes, bool]:
    """(the transaction of each record, with subtransactions (v10) given to the transaction that
    owns them, whether there are any); records that end one end nothing."""
    owners: dict[int, int] = {}
    found = arrays.places(
        len(records), lambda part: records["type"][part] == layouts.SUBTRANSACTION
    )
    for row in found.tolist():
        file = files[int(records["file"][row])]
        part = file.shape.dialect.header["tid"]
        payload = int(records["offset"][row]) + int(records["header"][row])
        if (
            file.shape.dialect.name != "v10"
            or records["length"][row] < records["header"][row] + part.size
        ):
            continue
        child = number(
            file.buffer(payload, payload + part.size)[payload : payload + part.size].tobytes(),
            0,
            layouts.Part(0, part.size),
            file.shape.big,
        )
        stream = int(records["tid"][row]) >> 48 << 48
        owners[stream | child] = int(records["tid"][row])
    tids = arrays.zeros(len(records), np.uint64)
    ends = (RecordKind.COMMIT, RecordKind.ABORT, RecordKind.PREPARE)
    children = np.array(sorted(owners), np.uint64)
    parents = np.array([owners[child] for child in sorted(owners)], np.uint64)
    apart = False
    for window in windows(len(records)):
        tid = records["tid"][window]
        tids[window] = tid
        if not len(children):
            continue
        place = np.minimum(np.searchsorted(children, tid), len(children) - 1)
        mine = np.flatnonzero(children[place] == tid)
        apart |= bool((parents[place[mine]] != tid[mine]).any())
        tids[window.start + mine] = parents[place[mine]]
        ended = mine[np.isin(records["kind"][window][mine], ends)] + window.start
        records["kind"][ended] = RecordKind.IGNORED
    return tids, apart


# -- entries
# -------------------------------------------------------------------------------------------------


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
    for part in windows(len(records)):
        mine, entry = records[part], entries[part]
        for name in _AS_SCANNED:
            entry[name] = mine[name]
        entry["before_file"] = entry["after_file"] = mine["file"]
        entry["unit"], entry["version"] = result.unit[part], timeline.version[part]
        entry["cancelled"] = result.cancelled[part]
        entry["head"] = np.arange(part.start, part.stop)
        entry["segment"] = entry["segments"] = 1
        entry["change"] = _changes(mine, timeline, part)
        committed = in_committed(result, result.unit[part])
        _judge(
            entry, mine, committed & result.unmatched[part],
            committed & np.logical_or.reduce([wrong[part] for wrong in contradicted]), committed,
        )  # fmt: skip
        _located(mine, files, entry)
    entries["cancelled"][_initialised_in_vain(records, result)] = True


def _judge(
    entry: Records, records: Records, unmatched: Mask, contradicted: Mask, committed: Mask
) -> None:
    """What is wrong with some records."""
    row = np.isin(entry["change"], (Change.INSERT, Change.UPDATE, Change.DELETE, Change.TRUNCATE))
    unknown = row & committed & ~entry["cancelled"] & (entry["version"] < 0)
    entry["fault"][unknown] = NO_TABLE
    entry["fault"][unmatched] = NO_TARGET
    entry["fault"][contradicted] = FOREIGN
    compensates = records["type"] == layouts.COMPENSATION
    undo = entry["change"] == Change.COMPENSATION
    entry["fault"][committed & ((row & compensates) | (undo & ~compensates) | records["odd"])] = (
        CONTRADICTS
    )
    entry["problem"][~row] = 0


def _with_repeated(entries: Records, found: Records, again: Mask, arrays: LongArrays) -> Records:
    """The entries of all records that were ``found``, in their order; those that repeat others are
    of no unit."""
    result = arrays.zeros(len(found), ENTRY)
    kept = arrays.places(len(found), lambda part: ~again[part])
    rows = (RecordRole.INSERT, RecordRole.UPDATE, RecordRole.PARTIAL_UPDATE, RecordRole.DELETE)
    for part in windows(len(found)):
        mine, entry = found[part], result[part]
        entry["unit"] = entry["version"] = -1
        for name in ("file", "offset", "length", "lsn", "before", "after"):
            entry[name] = mine[name]
        entry["before_file"] = entry["after_file"] = mine["file"]
        entry["head"] = np.arange(part.start, part.stop)
        entry["segment"] = entry["segments"] = 1
        entry["change"] = np.where(np.isin(mine["role"], rows), Change.REPEATED, Change.CONTROL)
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


def _changes(records: Records, timeline: LuwTableHistory, part: slice) -> Bytes:
    """The :class:`Change` of each of ``records``, a ``part`` of all, before moved rows are put
    together."""
    role, problem = records["role"], records["problem"] > 0
    before, after = (
        np.isin(records[name], (NORMAL, OVERFLOWN)) for name in ("before_is", "after_is")
    )
    undo = np.isin(
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
    ):
        change[(role == name) & (there | problem)] = change_kind
    change[role == RecordRole.TRUNCATE] = Change.TRUNCATE
    structural = [row - part.start for row in timeline.changes if part.start <= row < part.stop]
    change[structural] = Change.STRUCTURE
    changed = np.isin(
        change, (Change.INSERT, Change.UPDATE, Change.DELETE, Change.TRUNCATE, Change.STRUCTURE)
    )
    catalog = np.array(
        [version.table.schema == _CATALOG_SCHEMA for version in timeline.versions] + [False], bool
    )
    version = timeline.version[part]
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


# -- units
# -------------------------------------------------------------------------------------------------


def _unit_dtype(name_bytes: int) -> np.dtype[np.void]:
    """``commit`` (10 bytes, sorts in log order), ``unit`` (URID and stream, 12 bytes), ``start`` of
    the first record, ``time`` 34 packed digits, ``authid``, ``disposition``,
    ``incomplete``."""
    return np.dtype(
        [
            ("commit", "V10"),
            ("unit", "V12"),
            ("start", "V10"),
            ("time", "V17"),
            ("authid", f"S{max(name_bytes, 1)}"),
            ("disposition", "u1"),
            ("incomplete", "?"),
        ]
    )


def units_told(
    records: Records,
    result: units.Units,
    holds: Mask,
    files: list[OpenedFile],
    names: Sequence[bytes],
    arrays: LongArrays,
) -> tuple[Records, bool, list[str]]:
    """(the units, whether their positions are LSNs, warnings). ``holds``: units with changes;
    ``names``: authorization ids by their numbers."""

    def in_log_order(records_of: Index) -> Index:
        return arrays.by(everyone, lambda some: records_of[some])

    everyone = arrays.places(len(result.last), lambda part: np.ones(part.stop - part.start, bool))
    by_end = in_log_order(result.last)
    by_lsn = all(lsns_rise(file.shape) for file in files) and _told_by_lsn(records, result, by_end)
    seconds, code = _endings(records, result, arrays)
    used = {0}
    for part in windows(len(code)):
        used.update(np.unique(code[part]).tolist())
    table = arrays.zeros(len(result.last), _unit_dtype(max(len(names[each]) for each in used)))
    name_of = np.array(names, table.dtype["authid"])  # those of units are not cut
    _place(table["commit"], records, result.last, by_end, by_lsn)
    by_begin = in_log_order(result.first) if by_lsn else everyone
    _place(table["start"], records, result.first, by_begin, by_lsn)
    for part in windows(len(table)):
        unit = np.zeros((part.stop - part.start, 12), np.uint8)
        unit[:, :4] = result.again[part].astype(">u4").view(np.uint8).reshape(-1, 4)
        tid = result.tid[part]
        low = (tid & np.uint64((1 << 48) - 1)).astype(">u8").view(np.uint8).reshape(-1, 8)
        unit[:, 4:10] = low[:, 2:]
        unit[:, 10:] = (tid >> np.uint64(48)).astype(">u2").view(np.uint8).reshape(-1, 2)
        table["unit"][part] = unit.view("V12").reshape(-1)
        table["authid"][part] = name_of[code[part]]
        table["disposition"][part] = result.disposition[part]
        table["time"][part] = _packed_times(seconds[part]).view("V17").reshape(-1)
    _guess_times(table["time"], seconds, result, by_end)
    return table, by_lsn, opening_warnings.untimed(records, result, holds, seconds, files)


def _told_by_lsn(records: Records, result: units.Units, by_end: Index) -> bool:
    """Whether the LSNs of the records that end units are all known, and rise along the log."""
    before = np.zeros(0, np.uint64)
    for part in windows(len(by_end)):
        lsn = np.concatenate([before, records["lsn"][result.last[by_end[part]]]])
        if not lsn.all() or (lsn[1:] < lsn[:-1]).any():
            return False
        before = lsn[-1:]
    return bool(len(by_end))


def _place(positions: Records, records: Records, rows: Index, order: Index, by_lsn: bool) -> None:
    """Positions of records as 10 bytes: the LSN and, where several share one, which of them it is;
    or file and offset. ``order``: that of the log."""
    before, rank_before = -1, 0
    for part in windows(len(order)):
        mine = rows[order[part]]
        raw = np.zeros((len(mine), 10), np.uint8)
        value = (
            records["lsn"][mine]
            if by_lsn
            else ((records["file"][mine].astype(np.uint64) + 1) << np.uint64(48))
            | records["offset"][mine].astype(np.uint64)
        )
        raw[:, :8] = value.astype(">u8").view(np.uint8).reshape(-1, 8)
        if by_lsn:
            fresh = np.append(int(value[0]) != before, value[1:] != value[:-1])
            place = np.arange(len(mine))
            rank = place - np.maximum.accumulate(np.where(fresh, place, -1 - rank_before))
            raw[:, 8:] = np.minimum(rank, 0xFFFF).astype(">u2").view(np.uint8).reshape(-1, 2)
            before, rank_before = int(value[-1]), int(rank[-1])
        positions[order[part]] = raw.view("V10").reshape(-1)


def _endings(records: Records, result: units.Units, arrays: LongArrays) -> tuple[Index, Index]:
    """(commit time in seconds since 1970, 0 for none; number of the authorization id) of each unit,
    from the record that ends it (section 14)."""
    seconds, code = (arrays.zeros(len(result.last), np.int64) for _ in range(2))
    for part in windows(len(result.last)):
        last = records[result.last[part]]
        ends = np.isin(last["kind"], (RecordKind.COMMIT, RecordKind.ABORT))
        seconds[part] = np.where(ends, last["seconds"], 0)
        code[part] = np.where(ends, last["name"], 0)
    return seconds, code


def _guess_times(times: Records, seconds: Index, result: units.Units, by_end: Index) -> None:
    """Times of committed units without one: digits that are none, and lie just before the time of
    the next unit that has one. No time is shown, and whatever is compared with it knows the place
    that the unit has in the log."""
    later = 0
    for part in windows_back(len(by_end)):
        committed = by_end[part][result.disposition[by_end[part]] == ord("C")]
        if not len(committed):
            continue
        known = np.append(seconds[committed], later)
        place = np.where(known > 0, np.arange(len(known)), len(committed))
        following = known[np.minimum.accumulate(place[::-1])[::-1]][:-1]
        later = int(following[0])
        lacks = seconds[committed] == 0
        after = following[lacks]
        guess = _packed_times(after - (after > 0))
        guess[:, 7:16] = 0x99
        guess[after == 0] = _NO_DIGITS
        guess[:, 16] = _NO_DIGITS
        times[committed[lacks]] = guess.view("V17").reshape(-1)


def _packed_times(seconds: Index) -> Bytes:
    """34 packed digits, ``uint8[n, 17]``; zeros for no time."""
    text = np.datetime_as_string(seconds.astype("datetime64[s]"), unit="s")
    raw = np.frombuffer(text.astype("S19").tobytes(), np.uint8).reshape(-1, 19)
    digits = raw[:, [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18]] & 0x0F
    packed = np.zeros((len(seconds), 17), np.uint8)
    packed[:, :7] = (digits[:, 0::2] << 4) | digits[:, 1::2]
    packed[seconds == 0] = 0
    return packed
