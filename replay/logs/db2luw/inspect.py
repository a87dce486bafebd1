"""What is in a Db2 LUW log, for people and programs, and one record field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from replay.arrays import one_of
from replay.changes.catalog import TableVersion
from replay.changes.envelope import ROW_CHANGES, UNIT_DISPOSITIONS, Change
from replay.decoding import codecs
from replay.logs import indexed_inspect
from replay.logs.db2luw import layouts, scan
from replay.logs.db2luw.endings import ending
from replay.logs.db2luw.framing import LuwShape, header_size
from replay.logs.db2luw.index_entries import ONE_PARTITION
from replay.logs.db2luw.layouts import DMS, DOM, Parts, RecordKind, RecordRole, number
from replay.logs.db2luw.reader import LuwLog
from replay.logs.description import Description
from replay.logs.indexed_inspect import fault_lines, kind_of, place_of, row_lines, tally
from replay.logs.text import FieldRow, byte_lines, field_lines, hexadecimal

#: Units and names shown of each kind.
_MOST = 20


def describe(log: LuwLog) -> Description:
    """What is in a log."""
    entries, units = log.entries(), log.units()
    ended = tally(units["disposition"], lambda code: UNIT_DISPOSITIONS[chr(code)])
    names = tally(units["authid"], lambda name: name.decode("utf-8", "replace"))
    by_count = sorted(names.items(), key=lambda entry: (-entry[1], entry[0]))
    unended = np.flatnonzero(one_of(units["disposition"], (ord("F"), ord("P"))))
    return indexed_inspect.describe(
        log,
        opened={"positions_are": log.position_kind},
        file=lambda number: _file(log, number),
        records={"rolled_back_to_savepoint": int(entries["cancelled"].sum())},
        units={
            **{name: ended.get(name, 0) for name in UNIT_DISPOSITIONS.values()},
            "not_ended": [_unit(log, row) for row in unended[:_MOST].tolist()],
            "authids": [{"name": name, "units": count} for name, count in by_count[:_MOST]],
        },
        commits=lambda unit: {"time": _time(log, unit)},
        table=_table,
    )


def _file(log: LuwLog, number: int) -> dict[str, Any]:
    file = log.files[number]
    lsn = log.entries()["lsn"][file.first : file.first + file.count]
    known = lsn[lsn > 0]
    return {
        "bytes": log.size(number),
        "shape": str(file.shape),
        "incomplete_from": file.tail,
        "from": f"{int(known[0]):X}" if len(known) else None,
        "to": f"{int(known[-1]):X}" if len(known) else None,
    }


def _unit(log: LuwLog, row: int) -> dict[str, Any]:
    unit, entries = log.units()[row], log.entries()
    return {
        "tid": hexadecimal(bytes(unit["unit"])[4:10]),
        "state": UNIT_DISPOSITIONS[chr(unit["disposition"])],
        "changes": int(((entries["unit"] == row) & one_of(entries["change"], ROW_CHANGES)).sum()),
    }


def _time(log: LuwLog, unit: int) -> str | None:
    raw = np.frombuffer(log.units()["time"][unit].tobytes(), np.uint8).reshape(1, 17)
    time: str | None = codecs.decode_log_timestamp(raw)[0][0].as_py()
    return time


def _table(version: TableVersion) -> Mapping[str, Any]:
    return {
        "table_space": version.psid,
        "table": version.obid,
        "columns": [
            {
                "name": c.column.name,
                "type": c.code,
                "offset": c.position,
                "length": c.length,
                "nullable": c.nullable,
                "code_page": c.ccsid,
            }
            for c in version.format.columns
        ],
    }


# -- one record
# -------------------------------------------------------------------------------------------------


def dump_record(log: LuwLog, record: int, file: int = 1, with_hex: bool = False) -> list[str]:
    """One record, field by field; ``record`` and ``file`` count from 1. UsageError when there is no
    such file or record."""
    place = place_of(log, record, file)
    entry = log.files[file - 1]
    indexed = log.entries()[place]
    offset, length = int(indexed["offset"]), int(indexed["length"])
    buffer, shape = log.buffer(file - 1, offset, offset + length), entry.shape
    raw = buffer[offset : offset + length].tobytes()
    kind, flags = (
        number(raw, 0, shape.dialect.header[name], shape.big) for name in ("type", "flags")
    )
    size = header_size(shape.dialect, kind, flags)
    lines = [
        f"{entry.name}, record {record}",
        f"offset {offset} (X'{offset:X}'), {length} bytes, {shape}",
    ]
    lines.append(f"{layouts.TYPE_NAMES.get(kind, 'unknown type')}; taken as {kind_of(indexed)}")
    lines += fault_lines(log, place)
    if indexed["change"] == Change.TRUNCATE:
        whole = indexed["problem"] != ONE_PARTITION
        lines.append(f"empties {'the table' if whole else 'one data partition of the table'}")
    elif indexed["problem"]:
        lines.append(
            "*** found {}; expected {}".format(*scan.PROBLEMS[int(indexed["problem"])][:2])
        )
    lines += ["", "header", *field_lines(_fields(raw, 0, shape.dialect.header, shape), with_hex)]
    if size > shape.dialect.sizes[0]:
        lines += field_lines(
            _fields(
                raw,
                0,
                {n: p for n, p in shape.dialect.compensation.items() if p.offset + p.size <= size},
                shape,
            ),
            with_hex,
        )
    lines += ["", *_payload(raw, size, shape, with_hex)]
    return lines + row_lines(log, place)


def _fields(raw: bytes, base: int, parts: Parts, shape: LuwShape) -> list[FieldRow]:
    rows = []
    for name, part in parts.items():
        piece = raw[base + part.offset : base + part.offset + part.size]
        if part.size and len(piece) == part.size:
            value = number(raw, base, part, shape.big)
            rows.append((name, base + part.offset, hexadecimal(piece), f"{value} (X'{value:X}')"))
    return rows


def _payload(raw: bytes, size: int, shape: LuwShape, with_hex: bool) -> list[str]:
    kind = number(raw, 0, shape.dialect.header["type"], shape.big)
    meaning = layouts.KIND_OF_TYPE[kind] if kind < 256 else RecordKind.UNKNOWN
    if meaning == RecordKind.COMMIT:
        return [
            "commit",
            *field_lines(_fields(raw, size, ending(raw, size, shape), shape), with_hex),
            *byte_lines(raw, size),
        ]
    if meaning != RecordKind.COMPONENT or len(raw) < size + 2:
        return ["data", *byte_lines(raw, size)]
    component, function = raw[size], raw[size + 1]
    owner = layouts.COMPONENTS.get(component, ("unknown component", 0))[0]
    lines = [
        f"{owner}: {layouts.FUNCTION_NAMES.get((component, function), f'function {function}')}"
    ]
    if component not in (DMS, DOM):
        return [*lines, *byte_lines(raw, size)]
    lines += field_lines(
        _fields(raw, size, layouts.DMS_HEADER if component == DMS else layouts.DOM_HEADER, shape),
        with_hex,
    )
    role = shape.dialect.roles[component, function]
    if role in (
        RecordRole.INSERT,
        RecordRole.DELETE,
        RecordRole.UPDATE,
        RecordRole.UNDO_DELETE,
        RecordRole.UNDO_UPDATE,
    ):
        lines += field_lines(_fields(raw, size, shape.dialect.row, shape), with_hex)
    if role == RecordRole.UNDO_INSERT:
        lines += field_lines(_fields(raw, size, shape.dialect.undo_row, shape), with_hex)
    return [*lines, "", "data", *byte_lines(raw, size)] if with_hex else lines
