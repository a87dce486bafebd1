"""What opening a Db2 LUW log warns of: units that lack records or an end, records that are missing,
or may be of another unit, and what was passed over."""

from __future__ import annotations

import numpy as np

from replay.arrays import Index, Mask, Records
from replay.logs.db2luw import chains, units
from replay.logs.db2luw.framing import OpenedFile
from replay.logs.db2luw.layouts import RecordKind, RecordRole
from replay.logs.db2luw.scan import UNKNOWN

#: Units that a warning names.
_NAMED = 20


def untimed(
    records: Records, result: units.Units, seconds: Index, files: list[OpenedFile]
) -> list[str]:
    """A warning about units with changes whose commit record has no time. (A unit of one record has
    no commit record, and nothing is wrong with it.)"""
    holds = np.bincount(result.unit[changing(records, result)], minlength=len(seconds)) > 0
    lacking = np.sort(
        result.last[holds & (seconds == 0) & (records["kind"][result.last] == RecordKind.COMMIT)]
    )
    if not len(lacking):
        return []
    row = records[lacking[0]]
    return [
        f"{len(lacking)} unit(s) of recovery, of which the first ends at offset"
        f" {int(row['offset'])} of {files[row['file']].name}, have a commit record without a time:"
        " for --from-time and --until-time they count as just before the next unit that has one"
    ]


def incomplete(
    records: Records, result: units.Units, lacking: Mask, known_units: Records
) -> list[str]:
    """A warning that names the committed units with changes that lack records; and one about those
    whose commit is all that the files behind the first one have of them."""
    holds = np.bincount(result.unit[changing(records, result)], minlength=len(lacking)) > 0
    committed = lacking & (result.disposition == ord("C"))
    chosen = np.flatnonzero(committed & holds)
    bare = int((committed & ~holds & (records["file"][result.first] > 0)).sum())
    texts = [
        f"{bare} unit(s) of recovery have their commit here and their changes between two files"
    ]
    if not len(chosen):
        return texts if bare else []
    names = [
        known_units["unit"][number].tobytes()[4:10].hex().upper() for number in chosen[:_NAMED]
    ]
    more = f" and {len(chosen) - _NAMED} more" if len(chosen) > _NAMED else ""
    done = (
        "they are set aside (--log-option headless=apply writes what is there)"
        if known_units["incomplete"].any()
        else "what is there of them is written (--log-option headless=apply)"
    )
    return (texts if bare else []) + [
        f"{len(chosen)} unit(s) of recovery, TID {', '.join(names)}{more}, begin before the log or"
        f" have records that lie between its files: {done}"
    ]


def changing(records: Records, result: units.Units) -> Mask:
    """FramedRecords that change rows, were not taken back and are of a unit."""
    changes = np.isin(
        records["role"],
        (RecordRole.INSERT, RecordRole.DELETE, RecordRole.UPDATE, RecordRole.TRUNCATE),
    )
    return np.asarray((result.unit >= 0) & ~result.cancelled & changes)


def endless(records: Records, result: units.Units) -> list[str]:
    """A warning about changes of units without an end whose transaction id begins again: the record
    that ends them is not in the log."""
    holds = np.bincount(result.unit[changing(records, result)], minlength=len(result.tid)) > 0
    cut = holds[:-1] & (result.tid[:-1] == result.tid[1:]) & (result.disposition[:-1] == ord("F"))
    count = int(cut.sum())
    return (
        [
            f"{count} unit(s) of recovery have no end, though their transaction ids come again"
            " later; they are left out"
        ]
        if count
        else []
    )


def missing(records: Records, holes: chains.Holes, files: list[OpenedFile]) -> list[str]:
    """A warning about records that are missing in files that hold all others."""
    if not len(holes.behind):
        return []
    row = records[holes.behind[0]]
    return [
        f"LR2030 {len(holes.behind)} place(s) where records are missing in a log that holds all"
        f" others, the first behind the record at offset {int(row['offset'])} of"
        f" {files[row['file']].name}: positions go on {int(holes.size[0])} bytes further than the"
        " records are long. Collect the log again; what can be told of the units that lack them is"
        " set aside"
    ]


def suspicious(records: Records, suspects: Index, files: list[OpenedFile]) -> list[str]:
    """A warning about first records of units that may be of another unit."""
    if not len(suspects):
        return []
    row = records[suspects[0]]
    return [
        f"LR2030 {len(suspects)} record(s), the first at offset {int(row['offset'])} of"
        f" {files[row['file']].name}, begin a unit of recovery, name a record before them that"
        " is not known to be of it, and fit a unit without an end, or a gap in another: if their"
        " transaction id or log stream is damaged, that unit is written without them, or not at"
        " all. Compare the file with another copy, or collect the log again"
    ]


def other_warnings(records: Records, files: list[OpenedFile]) -> list[str]:
    """Warnings of what was passed over: chains that lead out of the log, the ends of files, loads,
    rows, types and functions that are not known."""
    texts = []
    lost = units.lost(records)
    if len(lost):
        row = records[lost[0]]
        place = f"the first one at offset {int(row['offset'])} of {files[row['file']].name}"
        texts.append(
            f"{len(lost)} record(s), {place}, name one before them in their transaction that is not"
            " in the log, where those of the others are: it was lost, filtered out, or lies before"
            " this log"
        )
    for file in files:
        if file.records.tail is not None:
            left = len(file.buffer) - file.records.tail
            texts.append(
                f"LR2006 {file.name}: the last {left} bytes, from offset {file.records.tail} on,"
                " are no whole record and are not read"
            )
    loads = records[records["kind"] == RecordKind.LOAD]
    if len(loads):
        texts.append(
            f"{len(loads)} load(s) began; rows that a load brings are not in the log, so copy the"
            " tables again"
        )
    unknown = np.flatnonzero(records["kind"] == RecordKind.UNKNOWN)
    if len(unknown):
        texts.append(f"{len(unknown)} record(s) of unknown types were passed over by their length")
    texts += _of_unknown_rows(records, files)
    odd = np.flatnonzero(records["role"] == RecordRole.UNKNOWN)
    if len(odd):
        names = sorted(
            {f"{int(records['component'][row])}/{int(records['function'][row])}" for row in odd}
        )
        texts.append(
            f"{len(odd)} record(s) of unknown functions (component/function"
            f" {', '.join(names[:10])}) were passed over"
        )
    return texts


def _of_unknown_rows(records: Records, files: list[OpenedFile]) -> list[str]:
    """A warning about formatted rows whose outer type is not known (section 10.1)."""
    types: set[int] = set()
    found = []
    for side in ("before", "after"):
        rows = np.flatnonzero(records[f"{side}_is"] == UNKNOWN)
        found.append(rows)
        for place, file in enumerate(files):
            mine = rows[records["file"][rows] == place]
            types.update(np.unique(file.buffer[records[side][mine]]).tolist())
    all_rows = np.concatenate(found)
    if not len(all_rows):
        return []
    first = records[int(all_rows.min())]
    return [
        f"{len(all_rows)} row(s) of unknown outer types"
        f" ({', '.join(f'0x{each:02X}' for each in sorted(types))}), the first in the"
        f" record at offset {int(first['offset'])} of {files[first['file']].name}, are taken for"
        " none that users see, and left out; if they are, their units are written without them"
    ]
