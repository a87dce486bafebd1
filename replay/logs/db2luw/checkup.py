"""What the published pages of Db2 LUW's log leave open, and what one log has to say of it (format
notes, sections 23 and 27): counts, never a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from replay.arrays import Bytes, Index, Mask, one_of
from replay.changes.catalog import ColumnFormat
from replay.changes.envelope import ROW_CHANGES
from replay.logs.db2luw import layouts
from replay.logs.db2luw.layouts import COMPENSATION, DMS, DOM, RecordKind, RecordRole, numbers
from replay.logs.db2luw.reader import LuwFile, LuwLog
from replay.logs.indexed_inspect import tables_laid_out, tally, tally_faults
from replay.logs.readings import Checkup, Evidence, Tallies, seen

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
    tallies, known = Tallies(), Counter[str | int]()
    for number, file in enumerate(log.files):
        entries = log.entries()[file.first : file.first + file.count]
        _look(file, log.buffer(number), np.ascontiguousarray(entries["offset"]), tallies, known)
    counts = tallies.by_field() | {
        "fault": tally_faults(log.entries()),
        "unit": tally(log.units()["disposition"], chr),
    }
    return Checkup(_laid_out(log), counts, tuple(_evidence(log, known)))


def _laid_out(log: LuwLog) -> dict[str, Any]:
    return {
        "files": [{"shape": str(file.shape), "records": file.count} for file in log.files],
        "cut off at the end": [file.tail is not None for file in log.files],
        "positions are LSNs": log.ordered_by_lsn,
        "tables": tables_laid_out(log, lambda entry: entry.code),
    }


def _look(
    file: LuwFile, buffer: Bytes, offsets: Index, tallies: Tallies, known: Counter[str | int]
) -> None:
    """Count the types, flags and functions of the records of a file; in ``known`` what is not
    known of these, and roles by number (compensations: -1)."""
    shape = file.shape
    kind, general = (
        numbers(buffer, offsets, shape.dialect.header[name], shape.big).astype(np.int64)
        for name in ("type", "flags")
    )
    tallies.codes(
        "record type",
        kind & 255,
        lambda code: f"{code:02X} {layouts.TYPE_NAMES.get(code, 'not known')}",
    )
    known["types"] += int((layouts.KIND_OF_TYPE[kind & 255] == RecordKind.UNKNOWN).sum())
    size = np.where(kind == layouts.BACKOUT_FREE, shape.dialect.sizes[1], shape.dialect.sizes[0])
    propagated: Mask = (general & layouts.PROPAGATABLE) > 0
    of_undo = np.where(propagated, shape.dialect.sizes[2], shape.dialect.sizes[1])
    size = np.where(kind == COMPENSATION, of_undo, size)
    component = layouts.KIND_OF_TYPE[kind & 255] == RecordKind.COMPONENT
    body = offsets[component] + size[component]
    owner, function = (
        numbers(buffer, body, layouts.DMS_HEADER[name], shape.big).astype(np.int64)
        for name in ("component", "function")
    )
    tallies.codes("function", owner << 8 | function, _function)
    tallies.codes("general flags", general, lambda code: f"{code:04X}")
    of_rows = one_of(owner.astype(np.uint8), (DMS, DOM)) & (owner < 256)
    roles = shape.dialect.roles[owner[of_rows], function[of_rows]]
    known["functions"] += int((roles == RecordRole.UNKNOWN).sum())
    for role, count in zip(*np.unique(roles, return_counts=True), strict=True):
        known[int(role)] += int(count)
    known[-1] += int((kind == COMPENSATION).sum())
    commits = kind[layouts.KIND_OF_TYPE[kind & 255] == RecordKind.COMMIT]
    plain_ones = int(np.isin(commits, layouts.PLAIN_COMMITS).sum())  # of two bytes each
    known["plain"] += plain_ones
    known["other"] += len(commits) - plain_ones


def _function(pair: int) -> str:
    who, what = pair >> 8, pair & 255
    return f"{who}/{what} {layouts.FUNCTION_NAMES.get((who, what), '')}".strip()


def _evidence(log: LuwLog, known: Counter[str | int]) -> Iterator[Evidence]:
    entries = log.entries()
    shapes = Counter[str]()
    for file in log.files:
        shapes[str(file.shape)] += file.count
    taken = next(iter(shapes)) if len(shapes) == 1 else ""
    yield Evidence("shape", len(entries), dict(shapes), taken)
    closed, short, forms, looked = _rows(log)
    yield Evidence("row-place", looked, {"closes": closed}, "closes")
    yield seen("row-form", forms)
    several = _of_tables(log, lambda columns: sum(entry.variable for entry in columns) > 1)
    yield seen("value-order", {"changes of tables with several such columns": several})
    yield seen("short-rows", {"ends before its last columns": short})
    moved = int((entries["segments"] > 1).sum())
    yield seen("moved-rows", {"records of changes made of several": moved})
    for name, wanted in _FUNCTIONS.items():
        yield seen(name, {"records": sum(known[role] for role in wanted)})
    unmatched = int((entries["fault"] == 1).sum())
    fits = {"matched": known[-1] - unmatched, "not": unmatched}
    yield Evidence("compensation", known[-1], fits, "matched")
    yield seen("commit-records", {name: known[name] for name in ("plain", "other")})
    graphic = _of_tables(log, lambda columns: any(entry.code in _GRAPHIC for entry in columns))
    yield seen("graphic-lengths", {"changes of tables with such columns": graphic})
    yield seen("unknown-records", {name: known[name] for name in ("types", "functions")})


def _of_tables(log: LuwLog, wanted: Callable[[Sequence[ColumnFormat]], bool]) -> int:
    """How many changes are of tables with such columns."""
    return sum(
        int((log.entries()["version"] == version.index).sum())
        for version in log.catalog.versions
        if wanted(version.format.columns)
    )


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
