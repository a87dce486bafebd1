"""What is in LOAD files, for people and programs, and one record field by field."""

from __future__ import annotations

from replay.changes.position import UnitId
from replay.logs import indexed_inspect
from replay.logs.description import Description
from replay.logs.indexed_inspect import fault_lines, kind_of, place_of, row_lines
from replay.logs.logmaster_load.reader import LoadLog
from replay.logs.text import byte_lines, hexadecimal


def describe(log: LoadLog) -> Description:
    """What is in a log."""
    return indexed_inspect.describe(
        log,
        opened={"columns": list(log.columns), "lacking": dict(log.lacking)},
        file=lambda number: {},
        records={},
        units={},
        commits=lambda unit: {},
        table=lambda version: {"columns": len(version.table.columns)},
    )


def dump_record(log: LoadLog, number: int, file: int, with_hex: bool) -> list[str]:
    """One record in lines. UsageError LR1004 where there is none."""
    place = place_of(log, number, file)
    entry = log.entries()[place]
    unit = log.units()[entry["unit"]]
    lines = [
        f"record {number} of {log.files[file - 1].name}",
        f"  table {log.catalog.versions[int(entry['version'])].name}, {kind_of(entry)}",
        f"  unit {UnitId(unit['unit'].tobytes())}",
        f"  committed {hexadecimal(unit['commit'].tobytes())}",
        f"  position {hexadecimal(entry['position'].tobytes())}",
        *fault_lines(log, place),
        *row_lines(log, place),
    ]
    for side in ("before", "after") if with_hex else ():
        start, size = int(entry[side]), int(entry[f"{side}_size"])
        if size and start >= 0:
            lines += [f"  {side}", *byte_lines(log.array(2)[start : start + size].tobytes(), 0)]
    return lines
