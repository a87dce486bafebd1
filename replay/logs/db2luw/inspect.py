"""What is in a Db2 LUW log, for people and programs, and one record field by field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from replay.arrays import Index, Mask, Records, one_of
from replay.changes.catalog import TableVersion
from replay.changes.envelope import ROW_CHANGES, UNIT_DISPOSITIONS, Change
from replay.decoding import codecs
from replay.errors import EXIT_ERROR, EXIT_OK, EXIT_WARNING, Finding, UsageError, Where
from replay.logs.db2luw import layouts, scan
from replay.logs.db2luw.binary import number
from replay.logs.db2luw.endings import ending
from replay.logs.db2luw.framing import LuwShape, header_size
from replay.logs.db2luw.index_entries import ONE_PARTITION
from replay.logs.db2luw.layouts import DMS, DOM, Parts, RecordKind, RecordRole
from replay.logs.db2luw.reader import LuwLog
from replay.logs.db2luw.rows import LuwRowWalk
from replay.logs.text import (
    FieldRow,
    aligned,
    byte_lines,
    counted,
    field_lines,
    hexadecimal,
    image_lines,
    rest_text,
    wrapped,
)

_FINDINGS, _BATCH = 20, 65_536


def describe(log: LuwLog) -> dict[str, Any]:
    """What is in a log, as JSON-able data. ``exit_code``: 0, 4 with warnings, 8 with damaged
    records."""
    entries, units = log.entries(), log.units()
    damaged = np.flatnonzero(entries["fault"] > 0)
    bad_rows = _bad_rows(log)
    warnings = log.warnings(log.catalog.versions)
    code = EXIT_ERROR if len(damaged) or bad_rows[0] else EXIT_WARNING if warnings else EXIT_OK
    dispositions = Counter(chr(code) for code in units["disposition"].tolist())
    findings = [str(_fault(log, int(row))) for row in damaged[:_FINDINGS]] + [
        str(finding) for finding in bad_rows[1]
    ]
    return {
        "files": [
            {
                "name": file.name,
                "bytes": log.size(place),
                "shape": str(file.shape),
                "records": file.count,
                "incomplete_from": file.tail,
                **_covered(entries[file.first : file.first + file.count]),
            }
            for place, file in enumerate(log.files)
        ],
        "records": {
            "count": len(entries),
            "by_change": {
                Change(code).name.lower(): count for code, count in _tally(entries["change"])
            },
            "rolled_back_to_savepoint": int(entries["cancelled"].sum()),
        },
        "units": (
            {"count": len(units)}
            | {UNIT_DISPOSITIONS[code]: dispositions.get(code, 0) for code in "CAPF"}
        ),
        "open_units": [
            _unit(log, row)
            for row in np.flatnonzero(one_of(units["disposition"], (ord("F"), ord("P"))))[
                :_FINDINGS
            ].tolist()
        ],
        "commits": _commits(log),
        "authids": [{"name": name, "units": count} for name, count in _names(log)],
        "tables": [
            _table(log, version)
            for version in log.catalog.versions
            if (entries["version"] == version.index).any()
        ],
        "structure": [
            {
                "file": log.files[file].name,
                "offset": offset,
                "table": f"{change.table.schema}.{change.table.name}",
                "what": change.note or change.action.value,
            }
            for (file, offset), change in sorted(log.changes.items(), key=lambda item: item[0])
        ],
        "damaged": {"count": len(damaged) + bad_rows[0], "findings": findings},
        "warnings": warnings,
        "exit_code": code,
    }


def _tally(values: Any) -> list[tuple[int, int]]:
    codes, counts = np.unique(values, return_counts=True)
    return list(zip(codes.tolist(), counts.tolist(), strict=True))


def _fault(log: LuwLog, row: int) -> Finding:
    entry = log.entries()[row]
    file = log.files[entry["file"]]
    return log.header_finding(
        int(entry["file"]), row - file.first + 1, int(entry["offset"]), int(entry["length"])
    )


def _bad_rows(log: LuwLog) -> tuple[int, list[Finding]]:
    """How many row images of committed changes do not fit their tables, and the first of them."""
    entries, count, findings = log.entries(), 0, list[Finding]()
    for start in range(0, len(entries), _BATCH):
        part = entries[start : start + _BATCH]
        live = (
            one_of(part["change"], ROW_CHANGES)
            & (part["version"] >= 0)
            & ~part["cancelled"]
            & (part["segment"] == 1)
        )
        for row in np.flatnonzero(live & (part["problem"] > 0)).tolist():
            count += 1
            _add(log, findings, start + row, *scan.PROBLEMS[int(part["problem"][row])])
        for side, rows, walk in _walks(log, part, live & (part["problem"] == 0)):
            wrong = np.flatnonzero(walk.bad)
            count += len(wrong)
            for place in wrong[:_FINDINGS].tolist():
                name, what, expected = walk.reason(place)
                _add(
                    log,
                    findings,
                    start + int(rows[place]),
                    f"{side} image: {what} ({name})",
                    expected,
                    "Does the catalog export belong to this log?",
                )
    return count, findings


def _walks(log: LuwLog, part: Records, good: Mask) -> Iterator[tuple[str, Index, LuwRowWalk]]:
    """The images of the ``good`` ones of some entries, by table version, side and file: (side,
    places among the entries ``int64[n]``, where their columns lie)."""
    for version in np.unique(part["version"][good]).tolist():
        for side in ("before", "after"):
            there = good & (part["version"] == version) & (part[side] >= 0)
            for file in np.unique(part[f"{side}_file"][there]).tolist():
                rows = np.flatnonzero(there & (part[f"{side}_file"] == file))
                begin = part[side][rows].astype(np.int64)
                end = begin + part[f"{side}_size"][rows]
                yield side, rows, log.walk(version, log.buffer(file, begin, end), begin, end)


def _add(
    log: LuwLog, findings: list[Finding], row: int, found: str, expected: str, hint: str
) -> None:
    if len(findings) >= _FINDINGS:
        return
    entry = log.entries()[row]
    file = log.files[entry["file"]]
    where = Where(
        file.name,
        row - file.first + 1,
        int(entry["offset"]),
        None,
        log.catalog.versions[entry["version"]].name,
    )
    findings.append(Finding("LR2014", where, found, expected, hint))


def _unit(log: LuwLog, row: int) -> dict[str, Any]:
    unit = log.units()[row]
    changes = int(
        ((log.entries()["unit"] == row) & one_of(log.entries()["change"], ROW_CHANGES)).sum()
    )
    return {
        "tid": hexadecimal(bytes(unit["unit"])[4:10]),
        "state": UNIT_DISPOSITIONS[chr(unit["disposition"])],
        "changes": changes,
    }


def _commits(log: LuwLog) -> dict[str, Any] | None:
    units = log.units()
    done = units[units["disposition"] == ord("C")]
    if not len(done):
        return None
    order = np.argsort(np.ascontiguousarray(done["commit"]).view("S10"))
    raw = np.ascontiguousarray(done["time"][order[[0, -1]]]).view(np.uint8).reshape(2, 17)
    times, _ = codecs.decode_log_timestamp(raw)
    ends = [hexadecimal(done["commit"][place].tobytes()) for place in order[[0, -1]]]
    positions = "LSN" if log.ordered_by_lsn else "file and offset of the commit record"
    return {
        "positions_are": positions,
        "first": ends[0],
        "last": ends[1],
        "first_time": times[0].as_py(),
        "last_time": times[1].as_py(),
    }


def _names(log: LuwLog) -> list[tuple[str, int]]:
    names, counts = np.unique(log.units()["authid"], return_counts=True)
    shown = [
        (name.decode("utf-8", "replace"), count)
        for name, count in zip(names.tolist(), counts.tolist(), strict=True)
    ]
    return sorted(shown, key=lambda entry: (-entry[1], entry[0]))[:_FINDINGS]


def _table(log: LuwLog, version: TableVersion) -> dict[str, Any]:
    entries = log.entries()
    mine = entries[entries["version"] == version.index]
    return {
        "name": version.name,
        "table_space": version.psid,
        "table": version.obid,
        "key": list(version.table.key),
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
        "changes": {Change(code).name.lower(): count for code, count in _tally(mine["change"])},
    }


# -- the description as text
# -------------------------------------------------------------------------------------------------


def _covered(entries: Records) -> dict[str, Any]:
    """What a file covers: the first and the last LSN in it, where its records have some, and how
    many changes another file has too."""
    known = entries["lsn"][entries["lsn"] > 0]
    return {
        "from": f"{int(known[0]):X}" if len(known) else None,
        "to": f"{int(known[-1]):X}" if len(known) else None,
        "repeated": int((entries["change"] == Change.REPEATED).sum()),
    }


def text(description: Mapping[str, Any]) -> str:
    """The description for a terminal."""
    parts = (_files_text, _units_text, _tables_text, partial(rest_text, place="offset"))
    return "\n\n".join("\n".join(wrapped(line) for line in part(description)) for part in parts)


def _files_text(description: Mapping[str, Any]) -> Iterator[str]:
    yield "Files"
    yield from aligned(
        ["  file", "bytes", "shape", "records", "from LSN", "to LSN", "repeated changes"],
        [
            [
                f"  {file['name']}",
                f"{file['bytes']:,}",
                file["shape"],
                f"{file['records']:,}",
                file["from"] or "not told",
                file["to"] or "not told",
                f"{file['repeated']:,}",
            ]
            for file in description["files"]
        ],
    )
    records = description["records"]
    yield f"  {records['count']:,} records: {counted(records['by_change'])}"
    yield f"  rolled back to savepoints: {records['rolled_back_to_savepoint']:,}"


def _units_text(description: Mapping[str, Any]) -> Iterator[str]:
    units, commits = description["units"], description["commits"]
    yield f"Units of recovery: {units['count']:,}"
    yield "  " + ", ".join(f"{name} {count:,}" for name, count in units.items() if name != "count")
    if commits:
        yield f"  commits {commits['first']} to {commits['last']} ({commits['positions_are']})"
        yield (
            f"  committed {commits['first_time'] or 'unknown'} to"
            f" {commits['last_time'] or 'unknown'}"
        )
    for unit in description["open_units"]:
        yield f"  {unit['state']}: TID {unit['tid']}, {unit['changes']:,} changes, not written"
    yield "  authids: " + (
        ", ".join(
            f"{entry['name'] or '(none)'} {entry['units']:,}" for entry in description["authids"]
        )
        or "none"
    )


def _tables_text(description: Mapping[str, Any]) -> Iterator[str]:
    yield f"Tables with changes: {len(description['tables'])}"
    for table in description["tables"]:
        yield (
            f"  {table['name']}: table space {table['table_space']}, table {table['table']}, key"
            f" {', '.join(table['key']) or 'none'}"
        )
        yield f"  changes: {counted(table['changes'])}"
        yield from aligned(
            ["    column", "type", "offset", "length", "null", "code page"],
            [
                [
                    f"    {c['name']}",
                    c["type"],
                    str(c["offset"]),
                    str(c["length"]),
                    "yes" if c["nullable"] else "no",
                    str(c["code_page"] or ""),
                ]
                for c in table["columns"]
            ],
        )


# -- one record
# -------------------------------------------------------------------------------------------------


def dump_record(log: LuwLog, record: int, file: int = 1, with_hex: bool = False) -> list[str]:
    """One record, field by field; ``record`` and ``file`` count from 1. UsageError when there is no
    such file or record."""
    if not 1 <= file <= len(log.files):
        raise UsageError("LR1004", f"found --file {file}; expected 1 to {len(log.files)}")
    entry = log.files[file - 1]
    if not 1 <= record <= entry.count:
        raise UsageError(
            "LR1004",
            f"found --record {record}; expected 1 to {entry.count}, the records of {entry.name}",
        )
    indexed = log.entries()[entry.first + record - 1]
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
    lines.append(
        f"{layouts.TYPE_NAMES.get(kind, 'unknown type')}; taken as"
        f" {Change(int(indexed['change'])).name.lower().replace('_', ' ')}"
    )
    if indexed["fault"]:
        lines.append(f"*** damaged: {log.header_finding(file - 1, record, offset, length)}")
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
    for side in ("before", "after"):
        if (
            indexed[side] >= 0
            and indexed[f"{side}_size"] > 0
            and indexed["version"] >= 0
            and indexed["change"] in ROW_CHANGES
        ):
            lines += _image(log, indexed, side)
    return lines


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


def _image(log: LuwLog, entry: np.void, side: str) -> list[str]:
    start, size = int(entry[side]), int(entry[f"{side}_size"])
    version = log.catalog.versions[int(entry["version"])]
    walk = log.walk(
        version.index,
        log.buffer(int(entry[f"{side}_file"]), start, start + size),
        np.array([start]),
        np.array([start + size]),
    )
    return image_lines(
        f"{side} image of {version.name}: {size} bytes",
        walk,
        [column.column.name for column in version.format.columns],
    )
