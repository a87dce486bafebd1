"""What is in a log that its family indexes (:mod:`replay.logs.indexed_log`), and one record of it:
what is said alike of all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from replay.arrays import Records, one_of
from replay.changes.catalog import ColumnFormat, TableVersion
from replay.changes.envelope import RECORD, ROW_CHANGES, Change
from replay.errors import Finding, UsageError, Where
from replay.logs.description import Description, exit_code_of
from replay.logs.indexed_log import IndexedFile, IndexedLog
from replay.logs.text import byte_lines, image_lines

_FINDINGS, _BATCH = 20, 65_536


def describe(
    log: IndexedLog,
    *,
    opened: Mapping[str, Any],
    file: Callable[[int], Mapping[str, Any]],
    records: Mapping[str, Any],
    units: Mapping[str, Any],
    commits: Callable[[int], Mapping[str, Any]],
    table: Callable[[TableVersion], Mapping[str, Any]],
) -> Description:
    """What is in a log. A family adds how it was ``opened``, what is known of a ``file`` (its
    number), of ``records`` and ``units``, of a unit that commits first or last (its place) and of a
    ``table``."""
    entries, warnings = log.entries(), log.warnings(log.catalog.versions)
    damaged = np.flatnonzero(entries["fault"] > 0)
    bad_rows, bad = _bad_rows(log)
    findings = [_fault(log, int(row)) for row in damaged[:_FINDINGS]] + bad
    values = {
        "files": [
            {
                "name": entry.name,
                "records": entry.count,
                **file(number),
                "repeated": int((_of(log, entry)["change"] == Change.REPEATED).sum()),
            }
            for number, entry in enumerate(log.files)
        ],
        **opened,
        "records": {"count": len(entries), "by_change": changes_of(entries), **records},
        "units": {"count": len(log.units()), **units},
        "commits": _commits(log, commits),
        "tables": [
            {
                "name": version.name,
                "key": list(version.table.key),
                **table(version),
                "changes": changes_of(entries[entries["version"] == version.index]),
            }
            for version in log.catalog.versions
            if (entries["version"] == version.index).any()
        ],
        "structure": [
            {
                "file": log.files[number].name,
                "record": int(log.find(number, np.array([place]))[0]) - log.files[number].first + 1,
                "table": f"{change.table.schema}.{change.table.name}".strip("."),
                "what": change.note or change.action.value,
            }
            for (number, place), change in sorted(log.changes.items(), key=lambda item: item[0])
        ],
        "damaged": {
            "count": len(damaged) + bad_rows,
            "findings": [str(finding) for finding in findings],
        },
        "warnings": warnings,
        "exit_code": exit_code_of(len(damaged) or bad_rows, warnings),
    }
    return Description(
        values,
        sentences={
            "structure": lambda row: (
                f"{row['table']}: {row['what']} ({row['file']}, record {row['record']})"
            )
        },
    )


def tally(values: npt.NDArray[Any], name: Callable[[Any], str] = str) -> dict[str, int]:
    """How often each of some values is there, by its name."""
    codes, counts = np.unique(values, return_counts=True)
    return {name(code): n for code, n in zip(codes.tolist(), counts.tolist(), strict=True)}


def tally_faults(entries: Records) -> dict[str, int]:
    """How many entries have each fault, for ``logreplay doctor``."""
    return tally(entries["fault"], lambda code: f"fault {code}" if code else "none")


def tables_laid_out(log: IndexedLog, code: Callable[[ColumnFormat], str]) -> list[dict[str, Any]]:
    """How the tables of a log's changes are laid out, for ``logreplay doctor``; ``code``: the type
    of a column in the words of its catalog."""
    held = log.entries()["version"]
    return [
        {
            "columns": len(version.format.columns),
            "key": len(version.table.key),
            "codes": [f"{code(entry)}({entry.length})" for entry in version.format.columns],
        }
        for version in log.catalog.versions
        if (held == version.index).any()
    ]


def changes_of(entries: Records) -> dict[str, int]:
    """How many changes of each kind begin in some entries."""
    first = entries["change"][entries["segment"] <= 1]
    return tally(first, lambda code: Change(code).name.lower() if code else "unknown")


def _of(log: IndexedLog, file: IndexedFile) -> Records:
    return log.entries()[file.first : file.first + file.count]


def _commits(log: IndexedLog, told: Callable[[int], Mapping[str, Any]]) -> dict[str, Any] | None:
    """The first and the last commit."""
    units = log.units()
    done = np.flatnonzero(units["disposition"] == ord("C"))
    if not len(done):
        return None
    ordered = done[np.argsort(np.ascontiguousarray(units["commit"][done]).view("S10"))]
    return {
        name: {"position": units["commit"][unit].tobytes().hex().upper(), **told(unit)}
        for name, unit in (("first", int(ordered[0])), ("last", int(ordered[-1])))
    }


def _fault(log: IndexedLog, row: int) -> Finding:
    entry = log.entries()[row]
    place = int(entry[log.PLACE_IN_FILE])
    number = row - log.files[int(entry["file"])].first + 1
    return log.header_finding(int(entry["file"]), number, place, 0)


def _records(log: IndexedLog, rows: npt.NDArray[Any]) -> Records:
    """Entries as the records that :meth:`replay.logs.ImageSource.images` takes."""
    found = np.zeros(len(rows), RECORD)
    found["file"] = log.entries()["file"][rows]
    found["offset"] = log.entries()[log.PLACE_IN_FILE][rows]
    return found


def _bad_rows(log: IndexedLog) -> tuple[int, list[Finding]]:
    """How many row images of changes that count do not fit their tables, and the first of them."""
    count, findings = 0, list[Finding]()
    for start in range(0, len(log.entries()), _BATCH):
        part = log.entries()[start : start + _BATCH]
        live = one_of(part["change"], ROW_CHANGES) & (part["version"] >= 0)
        live &= (part["segment"] <= 1) & (part["fault"] == 0)
        if "cancelled" in (part.dtype.names or ()):
            live &= ~part["cancelled"]
        pairs = part["version"].astype(np.int64) << 8 | part["change"]
        for pair in np.unique(pairs[live]).tolist():
            rows = start + np.flatnonzero(live & (pairs == pair))
            for row, (found, expected, field) in _wrong(log, rows, pair >> 8, Change(pair & 255)):
                count += 1
                if len(findings) < _FINDINGS:
                    findings.append(_finding(log, row, found, expected, field))
    return count, findings


def _wrong(
    log: IndexedLog, rows: npt.NDArray[Any], version: int, kind: Change
) -> list[tuple[int, tuple[str, str, str]]]:
    """(entry, (found, expected, field)) of images of changes of a kind that are bad."""
    wrong: list[tuple[int, tuple[str, str, str]]] = []
    every, one = np.arange(len(rows)), np.ones(len(rows), np.int64)
    for places, images in log.images(_records(log, rows), every, one, kind):
        wrong += [
            (int(rows[places[bad]]), (*images.reason(int(bad))[:2], "image"))
            for bad in np.flatnonzero(images.bad)
        ]
        good = np.flatnonzero(~images.bad)
        for name, side in (("before", images.before), ("after", images.after)):
            if side is not None:
                walk = log.walk(version, images.buffer, side[0][good], side[1][good])
                for bad in np.flatnonzero(walk.bad).tolist():
                    field, found, expected = walk.reason(bad)
                    what = (found, expected, f"{field} ({name} image)")
                    wrong.append((int(rows[places[good[bad]]]), what))
    return wrong


def _finding(log: IndexedLog, row: int, found: str, expected: str, field: str) -> Finding:
    entry = log.entries()[row]
    file = log.files[int(entry["file"])]
    offset = int(entry[log.PLACE_IN_FILE]) if log.has_offsets else None
    table = log.catalog.versions[int(entry["version"])].name
    where = Where(file.name, row - file.first + 1, offset, field, table)
    return Finding("LR2014", where, found, expected, "Does the catalog belong to this log?")


# -- one record
# -------------------------------------------------------------------------------------------------


def place_of(log: IndexedLog, record: int, file: int) -> int:
    """The entry of a record; ``record`` and ``file`` count from 1. UsageError (LR1004) when there
    is no such file or record."""
    if not 1 <= file <= len(log.files):
        raise UsageError("LR1004", f"found --file {file}; expected 1 to {len(log.files)}")
    entry = log.files[file - 1]
    if not 1 <= record <= entry.count:
        raise UsageError(
            "LR1004",
            f"found --record {record}; expected 1 to {entry.count}, the records of {entry.name}",
        )
    return entry.first + record - 1


def kind_of(entry: np.void) -> str:
    """What a record is taken as."""
    change = int(entry["change"])
    return Change(change).name.lower().replace("_", " ") if change else "unknown"


def fault_lines(log: IndexedLog, place: int) -> list[str]:
    """What is wrong with a record, if anything is."""
    return [f"*** damaged: {_fault(log, place)}"] if log.entries()[place]["fault"] else []


def row_lines(log: IndexedLog, place: int) -> list[str]:
    """The row images of a record's change, column by column."""
    entry = log.entries()[place]
    if entry["version"] < 0 or entry["change"] not in ROW_CHANGES or entry["segment"] > 1:
        return []
    version = log.catalog.versions[int(entry["version"])]
    columns: Sequence[str] = [column.column.name for column in version.format.columns]
    lines = []
    every, one = np.zeros(1, np.int64), np.ones(1, np.int64)
    records = _records(log, np.array([place]))
    for _, images in log.images(records, every, one, Change(entry["change"])):
        if images.bad[0]:
            lines.append("*** found {}; expected {}".format(*images.reason(0)[:2]))
            continue
        for name, side in (("before", images.before), ("after", images.after)):
            if side is not None:
                title = f"{name} image of {version.name}: {int(side[1][0] - side[0][0])} bytes"
                lines += image_lines(title, log.walk(version.index, images.buffer, *side), columns)
    return lines


def made_image_lines(log: IndexedLog, entry: Any) -> list[str]:
    """The bytes of the images that opening the log made of an entry."""
    lines = []
    for side in ("before", "after"):
        start, size = int(entry[side]), int(entry[f"{side}_size"])
        if size and start >= 0:
            lines += [f"  {side}", *byte_lines(log.array(2)[start : start + size].tobytes(), 0)]
    return lines
