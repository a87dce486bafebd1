"""What is in a solidDB log, for people and programs, and one record field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from replay.changes.catalog import TableVersion
from replay.logs import indexed_inspect
from replay.logs.description import Description
from replay.logs.indexed_inspect import fault_lines, kind_of, place_of, row_lines, tally
from replay.logs.soliddb import ddl, layouts
from replay.logs.soliddb.export import NONE
from replay.logs.soliddb.layouts import Rec
from replay.logs.soliddb.reader import SolidLog
from replay.logs.text import byte_lines, hexadecimal


def describe(log: SolidLog) -> Description:
    """What is in a log."""
    entries, units = log.entries(), log.units()
    size = log.logaddr().shape[1]
    return indexed_inspect.describe(
        log,
        opened={
            "shape": {
                "framing": str(log.shape.framing),
                "columns": log.shape.columns,
                "reads_the_same": list(log.alike),
            },
            "manifest": {
                "file": log.manifest.path,
                "sessions": len(log.manifest.sessions),
                "partition": log.manifest.partition,
            },
            "positions_are": log.position_kind,
        },
        file=lambda number: _covered(log, number),
        records={"by_kind": tally(entries["recid"], layouts.rec_name)},
        units={
            "committed": int((units["disposition"] == ord("C")).sum()),
            "cut off at the end": int((units["disposition"] == ord("F")).sum()),
            "flagged CAPTURE_OFF": _flagged(entries),
        },
        commits=lambda unit: {"LOGADDR": hexadecimal(units["address"][unit].tobytes()[:size])},
        table=_table,
    )


def _flagged(entries: Any) -> int:
    flags = np.maximum(entries["flags"], 0) & layouts.FLAG_CAPTURE_OFF
    return int(((entries["recid"] == Rec.START) & (flags > 0)).sum())


def _covered(log: SolidLog, number: int) -> dict[str, Any]:
    """The first and the last LOGADDR in a file."""
    file = log.files[number]
    addresses = log.logaddr()[file.first : file.first + file.count]
    known = np.flatnonzero(addresses.any(axis=1))
    return {
        name: hexadecimal(addresses[known[place]].tobytes()) if len(known) else None
        for name, place in (("from", 0), ("to", -1))
    }


def _table(version: TableVersion) -> Mapping[str, Any]:
    seen = {column.name for column in version.table.columns}
    return {
        "relid": version.obid,
        "columns": [
            {
                "name": c.column.name,
                "type": c.code,
                "stored_as": c.subtype,
                "number": c.position,
                "nullable": c.nullable,
                "hidden": c.column.name not in seen,
            }
            for c in version.format.columns
        ],
    }


# -- one record
# -------------------------------------------------------------------------------------------------


def dump_record(log: SolidLog, record: int, file: int = 1, with_hex: bool = False) -> list[str]:
    """One row, column by column; ``record`` and ``file`` count from 1. UsageError when there is no
    such file or row."""
    place = place_of(log, record, file)
    indexed = log.entries()[place]
    kind = int(indexed["recid"])
    lines = [f"{log.files[file - 1].name}, record {record}"]
    named = (
        layouts.REC_PREFIX + layouts.REC_NAMES[Rec(kind)]
        if kind in list(Rec)
        else "not published"
        if kind >= 0
        else "NOP"
    )
    lines.append(f"RECID {kind if kind >= 0 else 'NULL'} ({named}); taken as {kind_of(indexed)}")
    for name, field in (("TRXID", "trx"), ("STMTTRXID", "statement"), ("RELID", "table")):
        lines.append(f"  {name}: {'NULL' if indexed[field] == NONE else int(indexed[field])}")
    lines.append(f"  FLAGS: {int(indexed['flags'])} ({_flag_names(int(indexed['flags']))})")
    lines.append(f"  LOGADDR: {hexadecimal(log.logaddr()[place].tobytes())}")
    lines += fault_lines(log, place)
    data = log.data()[
        int(indexed["start"]) : int(indexed["start"]) + int(indexed["size"])
    ].tobytes()
    if kind == Rec.DDL:
        lines += _ddl_lines(log, data)
    elif kind == Rec.SQL:
        lines.append(f"  statement: {ddl.read_text(data, log.charset)}")
    else:
        lines += row_lines(log, place)
    return [*lines, "", "DATA", *byte_lines(data, 0)] if with_hex and data else lines


def _flag_names(flags: int) -> str:
    names = {
        layouts.FLAG_DATA: "DATA",
        layouts.FLAG_SHUTDOWN: "SHUTDOWN",
        layouts.FLAG_CAPTURE_OFF: "CAPTURE_OFF",
    }
    return ", ".join(name for bit, name in names.items() if flags & bit) or "NOP"


def _ddl_lines(log: SolidLog, data: bytes) -> list[str]:
    event = ddl.read(data, log.charset, log.shape.framing)
    if event is None:
        return ["*** found a DDL record in none of the known layouts"]
    name = ".".join(
        part for part in (event.name.catalog, event.name.schema, event.name.name) if part
    )
    return [
        f"  LOGRECID: {int(event.kind)} ({layouts.DDL_NAMES[event.kind]})",
        f"  INFO: {name}",
        *([f"  statement: {event.text}"] if event.text else []),
    ]
