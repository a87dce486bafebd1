"""The index of a log: what became of every record, made once when a log is opened and looked up by
place afterwards.

The first look (:mod:`scan`), units and compensations (:mod:`units`), moved rows (:mod:`row_moves`)
and tables (:mod:`table_history`) come together in two arrays, one entry a record
(:mod:`index_entries`) and one entry a unit (:mod:`index_units`), which lie in files, so that
engines map them instead of carrying them. All of it goes window by window, or part by part
(:mod:`replay.spill`), so that memory does not grow with the log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from replay.arrays import Index, Records
from replay.errors import InputError, Where
from replay.logs.db2luw import chains, opening_warnings, repeats, units
from replay.logs.db2luw.framing import OpenedFile, lsns_rise
from replay.logs.db2luw.index_entries import ENTRY, fill, mark_headless, moved_rows, with_repeated
from replay.logs.db2luw.index_units import units_told
from replay.logs.db2luw.scan import SCANNED, pass_over_temporary, scanned_files
from replay.logs.db2luw.strays import strays
from replay.logs.db2luw.subtransactions import parents_of
from replay.logs.db2luw.table_history import LuwTableHistory, build
from replay.logs.db2luw.tables import LuwTable, TableId
from replay.spill import Spill, windows
from sqlgen.structure import StructureChange

_ORDER = "Give the files in the order in which they were collected, each once, and complete"
_STREAMS = "; records of several log streams as db2ReadLog merges them, by their positions"


@dataclass(frozen=True)
class LuwIndex:
    """``entries`` (dtype :data:`ENTRY`), of which each of the ``files`` has so many (``counts``),
    and ``units`` (:mod:`replay.logs.db2luw.index_units`); ``offsets`` are those of entries, by
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
