"""What is in a solidDB log, for people and programs, and one record field by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from replay.changes.catalog import TableVersion
from replay.changes.envelope import ROW_CHANGES, Change
from replay.errors import EXIT_ERROR, EXIT_OK, EXIT_WARNING, Finding, UsageError, Where
from replay.logs.soliddb import ddl, layouts
from replay.logs.soliddb.export_values import NONE
from replay.logs.soliddb.layouts import Rec
from replay.logs.soliddb.reader import SolidLog
from replay.logs.text import (
    aligned,
    byte_lines,
    counted,
    hexadecimal,
    image_lines,
    rest_text,
    wrapped,
)

_FINDINGS, _BATCH = 20, 65_536


def describe(log: SolidLog) -> dict[str, Any]:
    """What is in a log, as JSON-able data. ``exit_code``: 0, 4 with warnings, 8 with damaged
    records."""
    entries, units = log.entries(), log.units()
    damaged = np.flatnonzero(entries["fault"] > 0)
    bad_rows, bad_findings = _bad_rows(log)
    warnings = log.warnings(log.catalog.versions)
    code = EXIT_ERROR if len(damaged) or bad_rows else EXIT_WARNING if warnings else EXIT_OK
    findings = [str(_fault(log, int(row))) for row in damaged[:_FINDINGS]] + [
        str(finding) for finding in bad_findings
    ]
    return {
        "files": [
            {"name": file.name, "rows": file.count} | _covered(log, file.first, file.count)
            for file in log.files
        ],
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
        "records": {
            "count": len(entries),
            "by_kind": _kinds(entries),
            "by_change": _changes(entries),
        },
        "units": {
            "count": len(units),
            "committed": int((units["disposition"] == ord("C")).sum()),
            "cut off at the end": int((units["disposition"] == ord("F")).sum()),
            "flagged CAPTURE_OFF": _flagged(entries),
        },
        "commits": _commits(log),
        "tables": [
            _table(log, version)
            for version in log.catalog.versions
            if (entries["version"] == version.index).any()
        ],
        "structure": [
            {
                "file": log.files[file].name,
                "record": row + 1,
                "table": _name(change.table.schema, change.table.name),
                "what": change.note or change.action.value,
            }
            for (file, row), change in sorted(log.changes.items(), key=lambda item: item[0])
        ],
        "damaged": {"count": len(damaged) + bad_rows, "findings": findings},
        "warnings": warnings,
        "exit_code": code,
    }


def _name(schema: str, name: str) -> str:
    return f"{schema}.{name}" if schema else name


def _kinds(entries: Any) -> dict[str, int]:
    codes, counts = np.unique(entries["recid"], return_counts=True)
    named = {int(kind): name for kind, name in layouts.REC_NAMES.items()} | {-1: "NOP"}
    return {
        named.get(code, f"RECID {code}"): count
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True)
    }


def _changes(entries: Any) -> dict[str, int]:
    first = entries[entries["segment"] == 1]
    codes, counts = np.unique(first["change"], return_counts=True)
    return {
        Change(code).name.lower() if code else "unknown": count
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True)
    }


def _flagged(entries: Any) -> int:
    flagged = (
        (entries["recid"] == Rec.START)
        & (entries["flags"] > 0)
        & ((entries["flags"] & layouts.FLAG_CAPTURE_OFF) > 0)
    )
    return int(flagged.sum())


def _fault(log: SolidLog, row: int) -> Finding:
    entry = log.entries()[row]
    return log.header_finding(
        int(entry["file"]), int(entry["row"]) + 1, int(entry["row"]), int(entry["size"])
    )


def _bad_rows(log: SolidLog) -> tuple[int, list[Finding]]:
    """How many row images do not fit their tables, and the first of them."""
    entries, count, findings = log.entries(), 0, list[Finding]()
    live = np.flatnonzero(np.isin(entries["change"], ROW_CHANGES) & (entries["version"] >= 0))
    for version in np.unique(entries["version"][live]).tolist():
        mine = live[entries["version"][live] == version]
        for low in range(0, len(mine), _BATCH):
            rows = mine[low : low + _BATCH]
            start = entries["start"][rows].astype(np.int64)
            walk = log.walk(version, log.data(), start, start + entries["size"][rows])
            for place in np.flatnonzero(walk.bad).tolist():
                count += 1
                if len(findings) < _FINDINGS:
                    field, what, expected = walk.reason(place)
                    entry = entries[rows[place]]
                    where = Where(
                        log.files[entry["file"]].name,
                        int(entry["row"]) + 1,
                        None,
                        field,
                        log.catalog.versions[version].name,
                    )
                    findings.append(
                        Finding(
                            "LR2014",
                            where,
                            what,
                            expected,
                            "Does the export of the system tables belong to this log?",
                        )
                    )
    return count, findings


def _covered(log: SolidLog, first: int, count: int) -> dict[str, Any]:
    """What a file covers: the first and the last LOGADDR in it, and how many rows of changes
    another read session has too."""
    addresses = log.logaddr()[first : first + count]
    known = np.flatnonzero(addresses.any(axis=1))
    changes = log.entries()["change"][first : first + count]
    return {
        "from": hexadecimal(addresses[known[0]].tobytes()) if len(known) else None,
        "to": hexadecimal(addresses[known[-1]].tobytes()) if len(known) else None,
        "repeated": int((changes == Change.REPEATED).sum()),
    }


def _commits(log: SolidLog) -> dict[str, Any] | None:
    units = log.units()
    done = units[units["disposition"] == ord("C")]
    if not len(done):
        return None
    order = np.argsort(np.ascontiguousarray(done["commit"]).view("S10"))
    size = log.logaddr().shape[1]
    positions = "LOGADDR (its first 8 bytes)" if log.by_address else "file and row of the commit"
    commits = {"positions_are": positions}
    for name, place in (("first", order[0]), ("last", order[-1])):
        commits[name] = hexadecimal(done["commit"][place].tobytes())
        commits[f"{name}_logaddr"] = hexadecimal(done["address"][place].tobytes()[:size])
    return commits


def _table(log: SolidLog, version: TableVersion) -> dict[str, Any]:
    entries = log.entries()
    mine = entries[(entries["version"] == version.index) & (entries["segment"] == 1)]
    seen = {column.name for column in version.table.columns}
    return {
        "name": _name(version.table.schema, version.table.name),
        "relid": version.obid,
        "key": list(version.table.key),
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
        "changes": _changes(mine),
    }


# -- the description as text
# -------------------------------------------------------------------------------------------------


def text(description: Mapping[str, Any]) -> str:
    """The description for a terminal."""
    parts = (_files_text, _units_text, _tables_text, partial(rest_text, place="record"))
    return "\n\n".join("\n".join(wrapped(line) for line in part(description)) for part in parts)


def _files_text(description: Mapping[str, Any]) -> Iterator[str]:
    shape, manifest = description["shape"], description["manifest"]
    yield "Files"
    yield from aligned(
        ["  file", "rows", "from LOGADDR", "to LOGADDR", "repeated changes"],
        [
            [
                f"  {file['name']}",
                f"{file['rows']:,}",
                (file["from"] or "not told")[:16],
                (file["to"] or "not told")[:16],
                f"{file['repeated']:,}",
            ]
            for file in description["files"]
        ],
    )
    alike = (
        f" ({', '.join(shape['reads_the_same'])} would read the same)"
        if shape["reads_the_same"]
        else ""
    )
    yield f"  framing {shape['framing']}{alike}, column list {shape['columns']}"
    yield (
        f"  manifest: {manifest['file'] or 'none'}, {manifest['sessions']} read sessions, partition"
        f" {manifest['partition'] or 'not named'}"
    )
    yield (
        f"  {description['records']['count']:,} rows: {counted(description['records']['by_kind'])}"
    )
    yield f"  changes: {counted(description['records']['by_change'])}"


def _units_text(description: Mapping[str, Any]) -> Iterator[str]:
    units, commits = description["units"], description["commits"]
    yield f"Units of recovery: {units['count']:,}"
    yield "  " + ", ".join(f"{name} {count:,}" for name, count in units.items() if name != "count")
    if commits:
        yield f"  commits {commits['first']} to {commits['last']} ({commits['positions_are']})"
        yield f"  LOGADDR {commits['first_logaddr']} to {commits['last_logaddr']}"


def _tables_text(description: Mapping[str, Any]) -> Iterator[str]:
    yield f"Tables with changes: {len(description['tables'])}"
    for table in description["tables"]:
        yield f"  {table['name']}: RELID {table['relid']}, key {', '.join(table['key']) or 'none'}"
        yield f"  changes: {counted(table['changes'])}"
        rows = [
            [
                f"    {c['name']}",
                c["type"],
                c["stored_as"],
                str(c["number"]),
                "yes" if c["nullable"] else "no",
                "yes" if c["hidden"] else "",
            ]
            for c in table["columns"]
        ]
        yield from aligned(["    column", "type", "stored as", "number", "null", "hidden"], rows)


# -- one record
# -------------------------------------------------------------------------------------------------


def dump_record(log: SolidLog, record: int, file: int = 1, with_hex: bool = False) -> list[str]:
    """One row, column by column; ``record`` and ``file`` count from 1. UsageError when there is no
    such file or row."""
    if not 1 <= file <= len(log.files):
        raise UsageError("LR1004", f"found --file {file}; expected 1 to {len(log.files)}")
    entry = log.files[file - 1]
    if not 1 <= record <= entry.count:
        raise UsageError(
            "LR1004",
            f"found --record {record}; expected 1 to {entry.count}, the rows of {entry.name}",
        )
    place = entry.first + record - 1
    indexed = log.entries()[place]
    kind = int(indexed["recid"])
    lines = [f"{entry.name}, record {record}"]
    named = (
        layouts.REC_PREFIX + layouts.REC_NAMES[Rec(kind)]
        if kind in list(Rec)
        else "not published"
        if kind >= 0
        else "NOP"
    )
    change = (
        Change(int(indexed["change"])).name.lower().replace("_", " ")
        if indexed["change"]
        else "unknown"
    )
    lines.append(f"RECID {kind if kind >= 0 else 'NULL'} ({named}); taken as {change}")
    for name, field in (("TRXID", "trx"), ("STMTTRXID", "statement"), ("RELID", "table")):
        lines.append(f"  {name}: {'NULL' if indexed[field] == NONE else int(indexed[field])}")
    lines.append(f"  FLAGS: {int(indexed['flags'])} ({_flag_names(int(indexed['flags']))})")
    lines.append(f"  LOGADDR: {hexadecimal(log.logaddr()[place].tobytes())}")
    if indexed["fault"]:
        lines.append(f"*** damaged: {_fault(log, place)}")
    data = log.data()[
        int(indexed["start"]) : int(indexed["start"]) + int(indexed["size"])
    ].tobytes()
    if kind == Rec.DDL:
        lines += _ddl_lines(log, data)
    elif kind == Rec.SQL:
        lines.append(f"  statement: {ddl.read_text(data, log.charset)}")
    elif indexed["version"] >= 0 and indexed["change"] in ROW_CHANGES:
        lines += _image(log, indexed)
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


def _image(log: SolidLog, entry: np.void) -> list[str]:
    start = np.array([entry["start"]], np.int64)
    version = log.catalog.versions[int(entry["version"])]
    walk = log.walk(version.index, log.data(), start, start + entry["size"])
    return image_lines(
        f"row of {version.name}: {int(entry['size'])} bytes",
        walk,
        [column.column.name for column in version.format.columns],
    )
