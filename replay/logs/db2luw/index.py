"""The index of a log: what became of every record, made once when a log is opened and looked up by
place afterwards.

The first look (:mod:`scan`), units and compensations (:mod:`units`), moved rows (:mod:`moves`) and
tables (:mod:`timeline`) come together in two arrays, one entry a record and one entry a unit, which
lie in files, so that engines map them instead of carrying them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from replay.arrays import Bytes, Hashes, Index, Mask, Records
from replay.changes.envelope import Change
from replay.errors import InputError, Where
from replay.logs.db2luw import chains, layouts, opening_warnings, repeats, row_moves, units
from replay.logs.db2luw.binary import number, numbers
from replay.logs.db2luw.endings import EARLIEST, LATEST, authid, ending
from replay.logs.db2luw.framing import OpenedFile, lsns_rise
from replay.logs.db2luw.layouts import RecordKind, RecordRole
from replay.logs.db2luw.scan import (
    HALF_MOVED,
    NORMAL,
    OVERFLOWN,
    POINTS,
    SCANNED,
    pass_over_temporary,
    scan,
)
from replay.logs.db2luw.strays import strays
from replay.logs.db2luw.table_history import LuwTableHistory, build
from replay.logs.db2luw.tables import LuwTable, TableId
from replay.logs.scratch_arrays import chosen, collected, zeros
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
#: A byte that is no packed digits, and greater than all that are.
_NO_DIGITS = 0xFF
_ORDER = "Give the files in the order in which they were collected, each once, and complete"
_STREAMS = "; records of several log streams as db2ReadLog merges them, by their positions"


@dataclass(frozen=True)
class LuwIndex:
    """``entries`` (dtype :data:`ENTRY`) and ``units`` (see :func:`_unit_dtype`);
    ``ordered_by_lsn``: commit positions are LSNs; else they are file and offset of the commit
    record."""

    entries: Records
    units: Records
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
) -> LuwIndex:
    """Index a log. ``set_aside``: units that lack records are incomplete. What a file repeats of
    others is of no account. ``folder``: where large arrays lie (None: in memory).

    InputError LR2030 where records are out of order."""
    scanned = (
        part
        for place, file in enumerate(files)
        for part in scan(file.buffer, file.shape, place, file.records)
    )
    found = collected(scanned, SCANNED, folder)
    again = repeats.repeated(found, files)
    records = chosen(found, ~again, folder) if again.any() else found
    pass_over_temporary(records)
    tids = _parents(records, files)
    rising = all(lsns_rise(file.shape) for file in files)
    chained, holes = _in_order(records, tids, files, rising)
    # a subtransaction has a first record of its own, which begins nothing; where no record names a
    # previous one, none says that it is the first
    result = units.resolve(
        records,
        tids,
        splits_at_start=bool((tids == records["tid"]).all()) and bool(records["previous"].any()),
    )
    timeline = build(
        records,
        result,
        {place: (file.buffer, file.shape) for place, file in enumerate(files)},
        tables,
        code_page,
    )
    entries = zeros(len(records), ENTRY, folder)
    stray = strays(chained, result, holes.position)
    contradicted = stray.contradicted | units.foreign(chained, tids, result.unit, holes.position)
    _fill(entries, records, result, timeline, contradicted)
    _located(records, files, entries)
    warnings = _moved(records, result, entries)
    known_units, by_lsn, untimed = _units(records, result, files, rising)
    lacking = chains.lacking(chained, result.unit, len(result.last), holes)
    known_units["incomplete"] = lacking & set_aside
    places = {
        (int(records["file"][row]), int(records["offset"][row])): change
        for row, change in timeline.changes.items()
    }
    missing = opening_warnings.missing(records, holes, files)
    texts = (
        *repeats.whole_files(again, found, files),
        *timeline.warnings,
        *warnings,
        *untimed,
        *opening_warnings.incomplete(records, result, lacking, known_units),
        *opening_warnings.endless(records, result),
        *missing,
        *opening_warnings.suspicious(records, stray.suspects, files),
        *opening_warnings.other_warnings(records, files),
    )
    entries = _with_repeated(entries, found, again, folder)
    return LuwIndex(
        entries, known_units, timeline, places, by_lsn, texts, next(iter(missing), None)
    )


def _in_order(
    records: Records, tids: Hashes, files: list[OpenedFile], rising: bool
) -> tuple[Records, chains.Holes]:
    """(the records with positions in the byte order in which they rise, what is missing among
    them). ``rising``: the byte order is known.

    InputError LR2030 where records cannot come after those before them."""
    ordered = records if rising else chains.rising_positions(records, tids)
    wrong = units.tangled(records) if ordered is None else units.disorder(ordered, tids)
    if wrong is None and not rising:
        wrong = units.tangled(records)
    chained = records if ordered is None else ordered
    holes = chains.holes(chained)
    wrong = holes.misplaced if wrong is None else wrong
    if wrong is not None:
        row = records[wrong]
        raise InputError(
            "LR2030",
            "found a record that cannot come after those before it; expected the records in log"
            " order",
            Where(files[row["file"]].name, None, int(row["offset"]), "position"),
            _ORDER + (_STREAMS if len(np.unique(records["tid"] >> np.uint64(48))) > 1 else ""),
        )
    return chained, holes


def _parents(records: Records, files: list[OpenedFile]) -> Hashes:
    """The transaction of each record, with subtransactions (v10) given to the transaction that owns
    them; records that end one end nothing."""
    tids: Hashes = records["tid"].copy()
    for row in np.flatnonzero(records["type"] == layouts.SUBTRANSACTION).tolist():
        file = files[int(records["file"][row])]
        part = file.shape.dialect.header["tid"]
        payload = int(records["offset"][row]) + int(records["header"][row])
        if (
            file.shape.dialect.name != "v10"
            or records["length"][row] < records["header"][row] + part.size
        ):
            continue
        child = number(
            file.buffer[payload : payload + part.size].tobytes(),
            0,
            layouts.Part(0, part.size),
            file.shape.big,
        )
        stream = int(records["tid"][row]) >> 48 << 48
        mine = records["tid"] == np.uint64(stream | child)
        tids[mine] = records["tid"][row]
        records["kind"][
            mine
            & np.isin(records["kind"], (RecordKind.COMMIT, RecordKind.ABORT, RecordKind.PREPARE))
        ] = RecordKind.IGNORED
    return tids


# -- entries
# -------------------------------------------------------------------------------------------------


def _fill(
    entries: Records,
    records: Records,
    result: units.Units,
    timeline: LuwTableHistory,
    contradicted: Mask,
) -> None:
    for name in (
        "file",
        "offset",
        "length",
        "lsn",
        "before",
        "before_size",
        "after",
        "after_size",
        "problem",
    ):
        entries[name] = records[name]
    entries["before_file"] = entries["after_file"] = records["file"]
    entries["unit"], entries["version"], entries["cancelled"] = (
        result.unit,
        timeline.version,
        result.cancelled,
    )
    entries["head"] = np.arange(len(records))
    entries["segment"] = entries["segments"] = 1
    entries["change"] = _changes(records, timeline)
    entries["cancelled"][_initialised_in_vain(records, result)] = True
    committed = _in_committed(result)
    row = np.isin(entries["change"], (Change.INSERT, Change.UPDATE, Change.DELETE, Change.TRUNCATE))
    entries["fault"][row & committed & ~result.cancelled & (timeline.version < 0)] = NO_TABLE
    entries["fault"][committed & result.unmatched] = NO_TARGET
    entries["fault"][committed & contradicted] = FOREIGN
    compensates = records["type"] == layouts.COMPENSATION
    undo = entries["change"] == Change.COMPENSATION
    entries["fault"][committed & ((row & compensates) | (undo & ~compensates) | records["odd"])] = (
        CONTRADICTS
    )
    entries["problem"][~row] = 0


def _with_repeated(entries: Records, found: Records, again: Mask, folder: str | None) -> Records:
    """The entries of all records that were ``found``, in their order; those that repeat others are
    of no unit."""
    if not again.any():
        return entries
    kept = np.flatnonzero(~again)
    result = zeros(len(found), ENTRY, folder)
    result["unit"] = result["version"] = -1
    for name in ("file", "offset", "length", "lsn", "before", "after"):
        result[name] = found[name]
    result["before_file"] = result["after_file"] = found["file"]
    result["head"] = np.arange(len(found))
    result["segment"] = result["segments"] = 1
    changes = np.isin(
        found["role"],
        (RecordRole.INSERT, RecordRole.UPDATE, RecordRole.PARTIAL_UPDATE, RecordRole.DELETE),
    )
    result["change"] = np.where(changes, Change.REPEATED, Change.CONTROL)
    result[kept] = entries
    result["head"][kept] = kept[entries["head"]]
    return result


def _located(records: Records, files: list[OpenedFile], entries: Records) -> None:
    """Say of each record where its row lies."""
    entries["space"], entries["table"] = records["space"], records["table"]
    for place, file in enumerate(files):
        rows = np.flatnonzero(records["file"] == place)
        size = file.shape.dialect.row["rid"].size
        number_ = records["rid"][rows].astype(np.uint64)
        big = number_ if file.shape.big else number_.byteswap() >> np.uint64(64 - 8 * size)
        octets_ = np.ascontiguousarray(big.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 2:])
        entries["rid"][rows] = octets_.view("V6").reshape(-1)
        entries["rid_size"][rows] = size


def _in_committed(result: units.Units) -> Mask:
    disposition = np.append(result.disposition, 0)
    return np.asarray(disposition[result.unit] == ord("C"))


def _changes(records: Records, timeline: LuwTableHistory) -> Bytes:
    """The :class:`Change` of each record before moved rows are put together."""
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
    structural = np.zeros(len(records), bool)
    structural[list(timeline.changes)] = True
    change[structural] = Change.STRUCTURE
    changed = np.isin(
        change, (Change.INSERT, Change.UPDATE, Change.DELETE, Change.TRUNCATE, Change.STRUCTURE)
    )
    catalog = np.array(
        [version.table.schema == _CATALOG_SCHEMA for version in timeline.versions] + [False], bool
    )
    change[
        changed
        & (
            (records["space"] == _CATALOG_SPACE) & (timeline.version < 0)
            | catalog[timeline.version]
        )
    ] = Change.CATALOG
    return change


def _initialised_in_vain(records: Records, result: units.Units) -> list[int]:
    """Initialize-table records of tables whose creation was taken back."""
    gone = []
    for row in np.flatnonzero(result.cancelled & (records["role"] == RecordRole.CREATE)).tolist():
        same = (result.unit == result.unit[row]) & (records["role"] == RecordRole.INITIALIZE)
        for name in ("space", "table"):
            same &= records[name] == records[name][row]
        gone += [place for place in np.flatnonzero(same).tolist() if place > row][:1]
    return gone


def _points(records: Records, row: int) -> bool:
    """Whether a record is about the pointer that a moved row left in its own place."""
    return POINTS in (records["before_is"][row], records["after_is"][row])


def _moved(records: Records, result: units.Units, entries: Records) -> list[str]:
    """Make one change of the records of each moved row."""
    live = ~result.cancelled & (result.unit >= 0)
    pairing = row_moves.pair(records, result.unit, live)
    for moved in pairing.moved:
        rows = list(moved.records)
        entries["change"][rows] = Change.UPDATE if moved.before and moved.after else Change.DELETE
        entries["head"][rows] = rows[0]
        home = next((row for row in rows if _points(records, row)), rows[0])
        for name in ("space", "table", "rid"):
            entries[name][rows] = entries[name][home]
        entries["segment"][rows] = np.arange(1, len(rows) + 1)
        entries["segments"][rows] = len(rows)
        entries["version"][rows] = entries["version"][moved.after[0] if moved.after else rows[0]]
        for name, source in (("before", moved.before), ("after", moved.after)):
            if source is None:
                continue
            row, side = source
            entries[f"{name}_file"][rows[0]] = records["file"][row]
            entries[name][rows[0]], entries[f"{name}_size"][rows[0]] = (
                records[side][row],
                records[f"{side}_size"][row],
            )
        worst = int(entries["problem"][rows].max())
        entries["problem"][rows] = worst
    for row in pairing.half:
        entries["change"][row] = (
            Change.DELETE if records["role"][row] == RecordRole.DELETE else Change.UPDATE
        )
        entries["problem"][row] = entries["problem"][row] or HALF_MOVED
    committed = _in_committed(result)
    single = [row for row in pairing.single if committed[row]]
    if not single:
        return []
    return [
        f"{len(single)} overflow record(s) of moved rows have no other half in their unit of"
        " recovery; they are taken as plain inserts and deletes"
    ]


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


def _units(
    records: Records, result: units.Units, files: list[OpenedFile], rising: bool
) -> tuple[Records, bool, list[str]]:
    """(the units, whether their positions are LSNs, warnings)."""
    last, first = result.last, result.first
    lsn = records["lsn"][last]
    order = np.argsort(last)
    by_lsn = (
        rising
        and bool(len(lsn))
        and bool(lsn.all())
        and not bool((lsn[order][1:] < lsn[order][:-1]).any())
    )
    seconds, names = _endings(records, result, files)
    table = np.zeros(len(last), _unit_dtype(max(map(len, names), default=1)))
    table["commit"] = _positions(records, last, order, by_lsn)
    table["start"] = _positions(records, first, np.argsort(first), by_lsn)
    unit = np.zeros((len(last), 12), np.uint8)
    unit[:, :4] = result.again.astype(">u4").view(np.uint8).reshape(-1, 4)
    tid = (result.tid & np.uint64((1 << 48) - 1)).astype(">u8").view(np.uint8).reshape(-1, 8)
    unit[:, 4:10] = tid[:, 2:]
    unit[:, 10:] = (result.tid >> np.uint64(48)).astype(">u2").view(np.uint8).reshape(-1, 2)
    table["unit"] = unit.view("V12").reshape(-1)
    table["time"], table["authid"], table["disposition"] = (
        _committed_at(seconds, result),
        names,
        result.disposition,
    )
    return table, by_lsn, opening_warnings.untimed(records, result, seconds, files)


def _positions(records: Records, rows: Index, order: Index, by_lsn: bool) -> Records:
    """Positions of records as 10 bytes: the LSN and, where several share one, which of them it is;
    or file and offset."""
    raw = np.zeros((len(rows), 10), np.uint8)
    value = (
        records["lsn"][rows]
        if by_lsn
        else ((records["file"][rows].astype(np.uint64) + 1) << np.uint64(48))
        | records["offset"][rows].astype(np.uint64)
    )
    raw[:, :8] = value.astype(">u8").view(np.uint8).reshape(-1, 8)
    if by_lsn and len(rows):
        ordered = value[order]
        fresh = np.ones(len(rows), bool)
        fresh[1:] = ordered[1:] != ordered[:-1]
        begin = np.flatnonzero(fresh)
        rank = np.arange(len(rows)) - np.repeat(begin, np.diff(np.append(begin, len(rows))))
        ranks = np.empty(len(rows), np.int64)
        ranks[order] = rank
        raw[:, 8:] = np.minimum(ranks, 0xFFFF).astype(">u2").view(np.uint8).reshape(-1, 2)
    return raw.view("V10").reshape(-1)


def _endings(
    entries: Records, result: units.Units, files: list[OpenedFile]
) -> tuple[Index, list[bytes]]:
    """(commit time in seconds since 1970, 0 for none; authorization id) of each unit, from the
    record that ends it (section 14)."""
    times = np.zeros(len(result.last), np.int64)
    names = [b""] * len(result.last)
    for place, file in enumerate(files):
        mine = np.flatnonzero(
            (entries["file"][result.last] == place)
            & np.isin(entries["kind"][result.last], (RecordKind.COMMIT, RecordKind.ABORT))
        )
        rows = result.last[mine]
        raw_records = [
            file.buffer[start : start + size].tobytes()
            for start, size in zip(
                entries["offset"][rows].tolist(), entries["length"][rows].tolist(), strict=True
            )
        ]
        forms = [
            ending(record, int(entries["header"][row]), file.shape)
            for record, row in zip(raw_records, rows.tolist(), strict=True)
        ]
        body = entries["offset"][rows] + entries["header"][rows]
        for part in {form["time"] for form in forms if "time" in form}:
            chosen = np.array([form.get("time") == part for form in forms])
            fits = chosen & (entries["header"][rows] + part.size <= entries["length"][rows])
            times[mine[fits]] = _seconds(file, body[fits], part)
        for number_, row, record, form in zip(
            mine.tolist(), rows.tolist(), raw_records, forms, strict=True
        ):
            names[number_] = authid(record, int(entries["header"][row]), form, file.shape.big)
    return times, names


def _committed_at(seconds: Index, result: units.Units) -> Records:
    """Commit times as packed digits. A committed unit without one gets digits that are none, and
    lie just before the time of the next unit that has one: no time is shown, and whatever is
    compared with it knows the place that the unit has in the log.
    """
    packed = _packed_times(seconds)
    committed = np.flatnonzero(result.disposition == ord("C"))
    committed = committed[np.argsort(result.last[committed])]
    times = seconds[committed]
    place = np.where(times > 0, np.arange(len(times)), len(times))
    following = np.minimum.accumulate(place[::-1])[::-1]
    later = np.append(times, 0)[following]
    guess = _packed_times(later - (later > 0))
    guess[:, 7:16] = 0x99
    guess[later == 0] = _NO_DIGITS
    guess[:, 16] = _NO_DIGITS
    packed[committed[times == 0]] = guess[times == 0]
    return packed.view("V17").reshape(-1)


def _seconds(file: OpenedFile, body: Index, part: layouts.Part) -> Index:
    """Seconds since 1970; of an 8-byte time that is no date, the half that is one (section 14)."""
    low, high = EARLIEST, LATEST
    value = numbers(file.buffer, body, part, file.shape.big)
    if part.size == 8:
        for half in (0, 4):
            other = numbers(file.buffer, body, layouts.Part(part.offset + half, 4), file.shape.big)
            wrong = (value < low) | (value >= high)
            value = np.where(wrong & (other >= low) & (other < high), other, value)
    return np.where((value >= low) & (value < high), value, 0).astype(np.int64)


def _packed_times(seconds: Index) -> Bytes:
    """34 packed digits, ``uint8[n, 17]``; zeros for no time."""
    text = np.datetime_as_string(seconds.astype("datetime64[s]"), unit="s")
    raw = np.frombuffer(text.astype("S19").tobytes(), np.uint8).reshape(-1, 19)
    digits = raw[:, [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18]] & 0x0F
    packed = np.zeros((len(seconds), 17), np.uint8)
    packed[:, :7] = (digits[:, 0::2] << 4) | digits[:, 1::2]
    packed[seconds == 0] = 0
    return packed
