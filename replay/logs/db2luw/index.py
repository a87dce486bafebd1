"""The index of a log: what became of every record, made once when a log is opened and looked up by
place afterwards.

The first look (:mod:`scan`), units and compensations (:mod:`units`), moved rows (:mod:`row_moves`)
and tables (:mod:`table_history`) come together in two arrays, one entry a record
(:mod:`index_entries`) and one entry a unit (positions, times and users), which lie in files, so
that engines map them instead of carrying them. All of it goes window by window, or part by part
(:mod:`replay.spill`), so that memory does not grow with the log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from replay.arrays import Bytes, Index, Mask, Records, one_of
from replay.errors import InputError, Where
from replay.logs.db2luw import chains, opening_warnings, repeats, units
from replay.logs.db2luw.framing import OpenedFile, lsns_rise
from replay.logs.db2luw.index_entries import ENTRY, fill, mark_headless, moved_rows, with_repeated
from replay.logs.db2luw.layouts import RecordKind
from replay.logs.db2luw.scan import SCANNED, pass_over_temporary, scanned_files
from replay.logs.db2luw.strays import strays
from replay.logs.db2luw.table_events import LuwTableHistory
from replay.logs.db2luw.table_history import build
from replay.logs.db2luw.tables import LuwTable, TableId
from replay.logs.db2luw.units import parents_of
from replay.spill import Spill, windows, windows_back
from sqlgen.structure import StructureChange

_ORDER = "Give the files in the order in which they were collected, each once, and complete"
_STREAMS = "; records of several log streams as db2ReadLog merges them, by their positions"


@dataclass(frozen=True)
class LuwIndex:
    """``entries`` (dtype :data:`ENTRY`), of which each of the ``files`` has so many (``counts``),
    and ``units`` (:mod:`replay.logs.db2luw.index`); ``offsets`` are those of entries, by
    themselves; ``ordered_by_lsn``: commit positions are LSNs; else they are file and offset of the
    commit record."""

    files: Sequence[OpenedFile]
    entries: Records
    counts: Sequence[int]
    units: Records
    offsets: Index
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

    InputError LR2005 where a length in the middle of a file is impossible, LR2030 where records are
    out of order."""
    arrays = Spill(folder)
    scanned = scanned_files(files, arrays)
    files, found = scanned.files, scanned.records
    edges = _edges(found, files)
    again = repeats.repeated(found, files, edges, arrays)
    several = bool(again.any())
    records = found
    if several:
        kept = (found[part][~again[part]] for part in windows(len(found)))
        records = arrays.collected(kept, SCANNED)
    pass_over_temporary(records, arrays)
    tids, apart = parents_of(records, files, arrays)
    rising = all(lsns_rise(file.shape) for file in files)
    chained, holes = _in_order(records, files, rising, arrays)
    # a subtransaction has a first record of its own, which begins nothing; where no record names a
    # previous one, none says that it is the first
    splits = not apart and bool(records["previous"].any())
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
        ended = lacking[part] & (result.disposition[part] == ord("C")) & set_aside
        mark_headless(entries, result.last[part][ended])
    places = {
        (int(records["file"][row]), int(records["offset"][row])): change
        for row, change in timeline.changes.items()
    }
    missing = [*opening_warnings.missing(records, holes, files)]
    texts = (
        *(repeats.whole_files(again, found, files) if several else ()),
        *timeline.warnings,
        *opening_warnings.halves(halves),
        *untimed,
        *opening_warnings.incomplete(records, result, holds, lacking, known_units),
        *opening_warnings.endless(result, holds),
        *missing,
        *opening_warnings.suspicious(records, stray.suspects, files),
        *opening_warnings.lost(records, units.lost(records, arrays), files),
        *opening_warnings.passed_over(records, files, tables),
    )
    if several:
        entries = with_repeated(entries, found, again, arrays)
    offsets = arrays.zeros(len(entries), np.int64)
    for part in windows(len(entries)):
        offsets[part] = entries["offset"][part]
    return LuwIndex(
        files,
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
    records: Records, files: list[OpenedFile], rising: bool, arrays: Spill
) -> tuple[Records, chains.Holes]:
    """(the records with positions in the byte order in which they rise, what is missing among
    them). ``rising``: the byte order is known.

    InputError LR2030 where records cannot come after those before them."""
    ordered: Records | None = records
    if not rising:
        ordered = chains.rising_positions(records, _edges(records, files), arrays)
    wrong = units.tangled(records, arrays) if ordered is None else units.disorder(ordered, arrays)
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


# -- units
# -------------------------------------------------------------------------------------------------

#: A byte that is no packed digits, and greater than all that are.
_NO_DIGITS = 0xFF


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
    arrays: Spill,
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
    untimed = opening_warnings.untimed(records, result, holds, seconds, files)
    return table, by_lsn, list(untimed)


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


def _endings(records: Records, result: units.Units, arrays: Spill) -> tuple[Index, Index]:
    """(commit time in seconds since 1970, 0 for none; number of the authorization id) of each unit,
    from the record that ends it (section 14)."""
    seconds, code = (arrays.zeros(len(result.last), np.int64) for _ in range(2))
    for part in windows(len(result.last)):
        last = records[result.last[part]]
        ends = one_of(last["kind"], (RecordKind.COMMIT, RecordKind.ABORT))
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
