"""What opening a Db2 LUW log warns of: units that lack records or an end, records that are missing,
or may be of another unit, and what was passed over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from replay.arrays import Index, Mask, Records
from replay.errors import NAMED, counted, some_of
from replay.logs.db2luw import chains, layouts, strays, units
from replay.logs.db2luw.framing import OpenedFile
from replay.logs.db2luw.layouts import RecordKind, RecordRole, number
from replay.logs.db2luw.scan import UNKNOWN
from replay.logs.db2luw.tables import LuwTable, TableId
from replay.spill import Spill, windows


def at(record: np.void, files: list[OpenedFile]) -> str:
    """Where a record is, in words."""
    return f"offset {int(record['offset'])} of {files[record['file']].name}"


def untimed(
    records: Records, result: units.Units, holds: Mask, seconds: Index, files: list[OpenedFile]
) -> Iterator[str]:
    """Units with changes (``holds``) whose commit record has no time. (A unit of one record has no
    commit record, and nothing is wrong with it.)"""
    count, first = 0, len(records)
    for part in windows(len(holds)):
        last = result.last[part][holds[part] & (seconds[part] == 0)]
        last = last[records["kind"][last] == RecordKind.COMMIT]
        count, first = count + len(last), int(last.min(initial=first))
    if count:
        yield (
            f"no commit time of {counted(count, 'unit')} of recovery, of which the first ends at"
            f" {at(records[first], files)}: --from-time and --until-time take such a unit as just"
            " before the next one that has a time"
        )


def incomplete(
    records: Records, result: units.Units, holds: Mask, lacking: Mask, known_units: Records
) -> Iterator[str]:
    """The committed units with changes (``holds``) that lack records; and those whose commit is all
    that the files behind the first one have of them."""
    bare, count, set_aside = 0, 0, False
    names: list[str] = []
    for part in windows(len(holds)):
        committed = lacking[part] & (result.disposition[part] == ord("C"))
        later = records["file"][result.first[part]] > 0
        bare += int((committed & ~holds[part] & later).sum())
        chosen = np.flatnonzero(committed & holds[part]) + part.start
        count += len(chosen)
        names += [
            known_units["unit"][number].tobytes()[4:10].hex().upper()
            for number in chosen[: max(NAMED - len(names), 0)]
        ]
        set_aside |= bool(known_units["incomplete"][part].any())
    if bare:
        yield (
            f"{counted(bare, 'unit')} of recovery with the commit here and changes between two"
            " files"
        )
    if count:
        done = (
            "they are quarantined (--log-option headless=apply writes what is there)"
            if set_aside
            else "what is there of them is written (--log-option headless=apply)"
        )
        yield (
            f"{counted(count, 'unit')} of recovery, TID {some_of(names, count)}, with a begin"
            f" before the log, or records between its files: {done}"
        )


def changing(records: Records, result: units.Units, arrays: Spill) -> Mask:
    """``bool[units]``: which have records that change rows and were not taken back."""
    roles = (RecordRole.INSERT, RecordRole.DELETE, RecordRole.UPDATE, RecordRole.TRUNCATE)
    return strays.changing(records, result, arrays, roles)


def halves(count: int) -> Iterator[str]:
    """Overflow records that stay changes of their own."""
    if count:
        yield (
            f"{counted(count, 'overflow record')} of moved rows without the other half in the unit"
            " of recovery: taken as plain inserts and deletes"
        )


def endless(result: units.Units, holds: Mask) -> Iterator[str]:
    """Changes (of units that ``holds`` names) without an end whose transaction id begins again: the
    record that ends them is not in the log."""
    count = 0
    for part in windows(max(len(holds) - 1, 0)):
        tid = result.tid[part.start : part.stop + 1]
        cut = holds[part] & (tid[:-1] == tid[1:]) & (result.disposition[part] == ord("F"))
        count += int(cut.sum())
    if count:
        yield (
            f"left out: {counted(count, 'unit')} of recovery without an end, though the transaction"
            " id comes again later"
        )


def missing(records: Records, holes: chains.Holes, files: list[OpenedFile]) -> Iterator[str]:
    """Records that are missing in files that hold all others."""
    if len(holes.behind):
        yield (
            f"LR2030 {counted(len(holes.behind), 'place')} where records are missing in a log that"
            " holds all others, the first after the record at"
            f" {at(records[holes.behind[0]], files)}: positions go on"
            f" {int(holes.size[0])} bytes further than the records are long."
            " Collect the log again; units that are known to lack them are quarantined"
        )


def suspicious(records: Records, suspects: Index, files: list[OpenedFile]) -> Iterator[str]:
    """First records of units that may be of another unit."""
    if len(suspects):
        yield (
            f"LR2030 {counted(len(suspects), 'record')}, the first at"
            f" {at(records[suspects[0]], files)},"
            " begin a unit of recovery, name a record before them that is not known to be of it,"
            " and fit a unit without an end, or a gap in another: if their transaction id or log"
            " stream is damaged, that unit is written without them, or not at all. Compare the file"
            " with another copy, or collect the log again"
        )


def lost(records: Records, those: tuple[int, int], files: list[OpenedFile]) -> Iterator[str]:
    """Chains that lead out of the log, as :func:`units.lost` tells of them."""
    count, first = those
    if count:
        yield (
            f"{counted(count, 'record names', 'records name')} one of the transaction that is not"
            " in the log, where those of the others are (the first one at"
            f" {at(records[first], files)}): it was lost, filtered out, or lies before this log"
        )


def passed_over(
    records: Records, files: list[OpenedFile], tables: Mapping[TableId, LuwTable]
) -> Iterator[str]:
    """What was passed over: the ends of files, loads, rows, types and functions that are not known.
    ``tables`` are those of the catalog export."""
    for file in files:
        if file.tail is not None:
            yield (
                f"LR2006 {file.name}: the last {file.size - file.tail} bytes, from offset"
                f" {file.tail} on, are no whole record and are not read"
            )
    loads, unknown, others = list[TableId](), 0, 0
    functions: set[str] = set()
    for part in windows(len(records)):
        load = records["kind"][part] == RecordKind.LOAD
        loads += [_loaded(record, files) for record in records[part][load]]
        unknown += int((records["kind"][part] == RecordKind.UNKNOWN).sum())
        rows = records[part][records["role"][part] == RecordRole.UNKNOWN]
        others += len(rows)
        pairs = np.unique(rows["component"].astype(np.int64) << 8 | rows["function"]).tolist()
        functions |= {f"{pair >> 8}/{pair & 0xFF}" for pair in pairs}
    if loads:
        names = {
            f"{tables[key].table.schema}.{tables[key].table.name}"
            if key in tables
            else f"TS{key[0]}.T{key[1]}"
            for key in loads
        }
        yield (
            f"{counted(len(loads), 'load')} began, of {some_of(sorted(names), len(names))}; rows"
            " that a load brings are not in the log, so copy the tables again"
        )
    if unknown:
        yield f"skipped by length: {counted(unknown, 'record')} of unknown types"
    yield from _of_unknown_rows(records, files)
    if others:
        yield (
            f"skipped: {counted(others, 'record')} of unknown functions (component/function"
            f" {', '.join(sorted(functions)[:10])})"
        )


def _loaded(record: Records, files: list[OpenedFile]) -> TableId:
    """The table that a load start is of."""
    file = files[int(record["file"])]
    start = int(record["offset"])
    begin, end = start + int(record["header"]), start + int(record["length"])
    payload = file.buffer(begin, end)[begin:end].tobytes()
    space, table = (
        number(payload, 0, layouts.LOAD_START[name], file.shape.big)
        for name in ("tablespace", "table")
    )
    return space, table


def _of_unknown_rows(records: Records, files: list[OpenedFile]) -> Iterator[str]:
    """Formatted rows whose outer type is not known (section 10.1)."""
    types: set[int] = set()
    count, first_row = 0, len(records)
    for part in windows(len(records)):
        for side in ("before", "after"):
            rows = np.flatnonzero(records[f"{side}_is"][part] == UNKNOWN) + part.start
            count, first_row = count + len(rows), int(rows.min(initial=first_row))
            for place in np.unique(records["file"][rows]).tolist():
                mine = rows[records["file"][rows] == place]
                start = records[side][mine]
                types.update(np.unique(files[place].buffer(start, start + 1)[start]).tolist())
    if count:
        yield (
            f"left out: {counted(count, 'row')} of unknown outer types"
            f" ({', '.join(f'0x{each:02X}' for each in sorted(types))}), the first in the record at"
            f" {at(records[first_row], files)}: taken for none that users see; if they are, their"
            " units are written without them"
        )
