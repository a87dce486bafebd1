"""What the published pages of Db2 LUW's log leave open, and what one log has to say of it (format
notes, sections 23 and 27): counts, never a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from replay.arrays import Bytes, Index, Mask, one_of
from replay.changes.envelope import ROW_CHANGES
from replay.logs.db2luw import layouts
from replay.logs.db2luw.layouts import COMPENSATION, DMS, DOM, RecordKind, RecordRole, numbers
from replay.logs.db2luw.reader import LuwFile, LuwLog
from replay.logs.indexed_inspect import tables_laid_out, tally, tally_faults
from replay.logs.readings import Checkup, Evidence

#: Reading -> functions of the data manager that exercise it.
_FUNCTIONS: dict[str, frozenset[RecordRole]] = {
    "partial-updates": frozenset({RecordRole.PARTIAL_UPDATE}),
    "many-rows": frozenset({RecordRole.INSERT_ROWS, RecordRole.UNDO_INSERT_ROWS}),
    "structure-records": frozenset(
        {
            RecordRole.ADD_COLUMNS,
            RecordRole.UNDO_ADD_COLUMNS,
            RecordRole.DROP_COLUMNS,
            RecordRole.UNDO_DROP_COLUMNS,
            RecordRole.SCHEMA,
            RecordRole.STATEMENT,
        }
    ),
}
_GRAPHIC = ("GRAPHIC", "VARGRAPHIC", "LONG VARGRAPHIC")


def checkup(log: LuwLog) -> Checkup:
    """What ``logreplay doctor`` says of a log."""
    kinds: Counter[str] = Counter()
    functions: Counter[str] = Counter()
    flags: Counter[str] = Counter()
    roles: Counter[int] = Counter()
    unknown = Counter[str]()
    for number, file in enumerate(log.files):
        entries = log.entries()[file.first : file.first + file.count]
        offsets = np.ascontiguousarray(entries["offset"])
        _look(file, log.buffer(number), offsets, kinds, functions, flags, roles, unknown)
    entries = log.entries()
    counts = {
        "record type": dict(sorted(kinds.items())),
        "function": dict(sorted(functions.items())),
        "general flags": dict(sorted(flags.items())),
        "fault": tally_faults(entries),
        "unit": tally(log.units()["disposition"], chr),
    }
    return Checkup(_laid_out(log), counts, tuple(_evidence(log, roles, unknown)))


def _laid_out(log: LuwLog) -> dict[str, Any]:
    return {
        "files": [{"shape": str(file.shape), "records": file.count} for file in log.files],
        "cut off at the end": [file.tail is not None for file in log.files],
        "positions are LSNs": log.ordered_by_lsn,
        "tables": tables_laid_out(log, lambda entry: entry.code),
    }


def _look(
    file: LuwFile,
    buffer: Bytes,
    offsets: Index,
    kinds: Counter[str],
    functions: Counter[str],
    flags: Counter[str],
    roles: Counter[int],
    unknown: Counter[str],
) -> None:
    """Count the types, flags and functions of the records of a file."""
    shape = file.shape
    kind, general = (
        numbers(buffer, offsets, shape.dialect.header[name], shape.big).astype(np.int64)
        for name in ("type", "flags")
    )
    for code, count in zip(*np.unique(kind & 255, return_counts=True), strict=True):
        name = layouts.TYPE_NAMES.get(int(code), "not known")
        kinds[f"{int(code):02X} {name}"] += int(count)
        unknown["types"] += int(count) * int(layouts.KIND_OF_TYPE[code] == RecordKind.UNKNOWN)
    for code, count in zip(*np.unique(general, return_counts=True), strict=True):
        flags[f"{int(code):04X}"] += int(count)
    plain, middle, large = shape.dialect.sizes
    propagated: Mask = (general & layouts.PROPAGATABLE) > 0
    size = np.where(kind == layouts.BACKOUT_FREE, middle, plain)
    size = np.where(kind == COMPENSATION, np.where(propagated, large, middle), size)
    component = layouts.KIND_OF_TYPE[kind & 255] == RecordKind.COMPONENT
    body = offsets[component] + size[component]
    owner, function = (
        numbers(buffer, body, layouts.DMS_HEADER[name], shape.big).astype(np.int64)
        for name in ("component", "function")
    )
    for pair, count in zip(*np.unique(owner << 8 | function, return_counts=True), strict=True):
        who, what = int(pair) >> 8, int(pair) & 255
        name = layouts.FUNCTION_NAMES.get((who, what), "")
        functions[f"{who}/{what} {name}".strip()] += int(count)
        if who in (DMS, DOM):
            role = int(shape.dialect.roles[who, what])
            roles[role] += int(count)
            unknown["functions"] += int(count) * (role == RecordRole.UNKNOWN)
    roles[-1] += int((kind == COMPENSATION).sum())
    commits = kind[layouts.KIND_OF_TYPE[kind & 255] == RecordKind.COMMIT]
    plain_ones = int(np.isin(commits, layouts.PLAIN_COMMITS).sum())  # of two octets each
    unknown["plain commits"] += plain_ones
    unknown["other commits"] += len(commits) - plain_ones


def _evidence(log: LuwLog, roles: Counter[int], unknown: Counter[str]) -> Iterator[Evidence]:
    entries = log.entries()
    shapes = Counter[str]()
    for file in log.files:
        shapes[str(file.shape)] += file.count
    taken = next(iter(shapes)) if len(shapes) == 1 else ""
    yield Evidence("shape", len(entries), dict(shapes), taken)
    closed, short, forms, looked = _rows(log)
    yield Evidence("row-place", looked, {"closes": closed}, "closes")
    yield Evidence("row-form", forms.total(), dict(sorted(forms.items())))
    several = sum(
        int((entries["version"] == version.index).sum())
        for version in log.catalog.versions
        if sum(entry.variable for entry in version.format.columns) > 1
    )
    yield Evidence("value-order", several, {"changes of tables with several such columns": several})
    yield Evidence("short-rows", short, {"ends before its last columns": short})
    moved = int((entries["segments"] > 1).sum())
    yield Evidence("moved-rows", moved, {"records of changes made of several": moved})
    for name, wanted in _FUNCTIONS.items():
        count = sum(roles[role] for role in wanted)
        yield Evidence(name, count, {"records": count})
    unmatched = int((entries["fault"] == 1).sum())
    yield Evidence(
        "compensation", roles[-1], {"matched": roles[-1] - unmatched, "not": unmatched}, "matched"
    )
    commits = {name: unknown[f"{name} commits"] for name in ("plain", "other")}
    yield Evidence("commit-records", sum(commits.values()), commits)
    graphic = sum(
        int((entries["version"] == version.index).sum())
        for version in log.catalog.versions
        if any(entry.code in _GRAPHIC for entry in version.format.columns)
    )
    yield Evidence("graphic-lengths", graphic, {"changes of tables with such columns": graphic})
    strange = {name: unknown[name] for name in ("types", "functions")}
    yield Evidence("unknown-records", sum(strange.values()), strange)


def _rows(log: LuwLog) -> tuple[int, int, Counter[str], int]:
    """(images that close, those that are short, inner types, images looked at)."""
    entries, closed, short, looked = log.entries(), 0, 0, 0
    forms = Counter[str]()
    live = one_of(entries["change"], ROW_CHANGES) & (entries["version"] >= 0)
    for version in np.unique(entries["version"][live]).tolist():
        for side in ("before", "after"):
            for number, file in enumerate(log.files):
                rows = np.flatnonzero(
                    live
                    & (entries["version"] == version)
                    & (entries[side] >= 0)
                    & (entries[f"{side}_file"] == number)
                )
                if not len(rows):
                    continue
                start = entries[side][rows].astype(np.int64)
                walk = log.walk(
                    version, log.buffer(number), start, start + entries[f"{side}_size"][rows]
                )
                looked += len(rows)
                closed += int((~walk.bad).sum())
                inner, fixed = (
                    numbers(
                        log.buffer(number), start, layouts.ROW_HEADER[name], file.shape.big
                    ).astype(np.int64)
                    for name in ("inner", "fixed")
                )
                for code, count in zip(*np.unique(inner, return_counts=True), strict=True):
                    forms[f"inner type {int(code):02X}"] += int(count)
                last = max(
                    (entry.position for entry in log.catalog.versions[version].format.columns),
                    default=0,
                )
                formatted = (inner & layouts.COMPRESSED) == 0
                short += int((formatted & (fixed <= last)).sum())
    return closed, short, forms, looked
