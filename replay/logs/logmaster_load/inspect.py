"""What is in LOAD files, for people and programs, and one record field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from replay.changes.envelope import Change
from replay.changes.position import UnitId
from replay.errors import EXIT_ERROR, EXIT_OK, EXIT_WARNING, UsageError
from replay.logs.logmaster_load.reader import LoadLog
from replay.logs.text import (
    byte_lines,
    counted,
    hexadecimal,
    image_lines,
    rest_text,
    wrapped,
)

_FINDINGS = 20


def describe(log: LoadLog) -> dict[str, Any]:
    """What is in a log, as JSON-able data. ``exit_code``: 0, 4 with warnings, 8 with damaged
    records."""
    entries, units = log.entries(), log.units()
    damaged = np.flatnonzero(entries["fault"] > 0)
    warnings = log.warnings(log.catalog.versions)
    commits = np.sort(np.ascontiguousarray(units["commit"]).view("S10"))
    return {
        "files": [{"name": file.name, "records": file.count} for file in log.files],
        "columns": list(log.columns),
        "lacking": dict(log.lacking),
        "records": {"count": len(entries), "by_change": _changes(entries["change"])},
        "units": len(units),
        "commits": {
            "first": commits[0].ljust(10, b"\0").hex().upper(),
            "last": commits[-1].ljust(10, b"\0").hex().upper(),
        },
        "tables": [
            {
                "name": version.name,
                "key": list(version.table.key),
                "columns": len(version.table.columns),
                "records": _changes(entries["change"][entries["version"] == version.index]),
            }
            for version in log.catalog.versions
        ],
        "damaged": {
            "count": len(damaged),
            "findings": [
                str(
                    log.header_finding(
                        int(entry["file"]), int(entry["row"]) + 1, int(entry["row"]), 0
                    )
                )
                for entry in entries[damaged[:_FINDINGS]]
            ],
        },
        "warnings": warnings,
        "exit_code": EXIT_ERROR if len(damaged) else EXIT_WARNING if warnings else EXIT_OK,
    }


def _changes(codes: Any) -> dict[str, int]:
    kinds, counts = np.unique(codes, return_counts=True)
    return {
        Change(kind).name.lower() if kind else "unknown": count
        for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True)
    }


def text(description: Mapping[str, Any]) -> str:
    """What :func:`describe` gave as text for a terminal."""
    commits = description["commits"]
    lines = [
        *(f"{file['name']}: {file['records']:,} records" for file in description["files"]),
        f"Changes: {counted(description['records']['by_change'])}",
        f"Units of recovery: {description['units']:,},"
        f" committed {commits['first']} to {commits['last']}",
        f"Informational columns: {' '.join(description['columns'])}",
        *(f"  {fact}: {why}" for fact, why in description["lacking"].items()),
        "Tables",
        *(
            f"  {table['name']}: {counted(table['records'])};"
            f" key {', '.join(table['key']) or 'none'}"
            for table in description["tables"]
        ),
        *rest_text({**description, "structure": []}, "record"),
    ]
    return "\n".join(map(wrapped, lines))


def dump_record(log: LoadLog, number: int, file: int, with_hex: bool) -> list[str]:
    """One record in lines. UsageError LR1004 where there is none."""
    if not 1 <= file <= len(log.files) or not 1 <= number <= log.files[file - 1].count:
        raise UsageError("LR1004", f"found --record {number}; expected a record of the log")
    entry = log.entries()[log.files[file - 1].first + number - 1]
    version = log.catalog.versions[int(entry["version"])]
    unit = log.units()[entry["unit"]]
    change = int(entry["change"])
    lines = [
        f"record {number} of {log.files[file - 1].name}",
        f"  table {version.name}, {Change(change).name.lower() if change else 'unknown'}",
        f"  unit {UnitId(unit['unit'].tobytes())}",
        f"  committed {hexadecimal(unit['commit'].tobytes())}",
        f"  position {hexadecimal(entry['position'].tobytes())}",
    ]
    if entry["fault"]:
        lines.append(f"  *** {log.header_finding(file - 1, number, number - 1, 0)}")
    for side in ("before", "after"):
        start, size = int(entry[side]), int(entry[f"{side}_size"])
        if not size or start < 0:
            continue
        octets = log.array(2)[start : start + size]
        walk = log.walk(version.index, octets, np.zeros(1, np.int64), np.full(1, size))
        columns = [column.name for column in version.table.columns]
        lines += image_lines(f"row image {side}", walk, columns)
        lines += byte_lines(octets.tobytes(), 0) if with_hex else []
    return lines
