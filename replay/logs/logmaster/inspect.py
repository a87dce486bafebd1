"""What is in a logical log, described for people and programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from replay.arrays import Mask
from replay.changes.catalog import ColumnFormat, TableVersion
from replay.changes.envelope import (
    DISPOSITIONS,
    ORIGINS,
    SQLTYPES,
    TABLE_EVENTS,
    UNIT_DISPOSITIONS,
    Change,
)
from replay.decoding.layout import Field, FieldKind
from replay.errors import EXIT_UNUSABLE, counted
from replay.logs.description import Description, exit_code_of
from replay.logs.logmaster.census import (
    ABORTED,
    AFTER,
    COMMITTED,
    DEPENDENT,
    INCOMPLETE,
    Census,
    ChangeKind,
)
from replay.logs.logmaster.data import Reading
from replay.logs.logmaster.headers import CODE_MEANINGS, timestamp_text
from replay.logs.logmaster.layouts import CONTROL
from replay.logs.logmaster.reader import LogmasterLog
from replay.logs.text import hexadecimal

#: Names shown of each kind.
_TOP = 20


def describe(log: LogmasterLog) -> Description:
    """What is in a log; damaged are records whose header is (rows, segments and records given twice
    are looked at by redo and undo)."""
    census = Census(log)
    census.read()
    limits = list(_limits(log, census))
    code = exit_code_of(census.damaged, any(entry["warning"] for entry in limits))
    timeline = log.timeline()
    described: dict[str, Any] = {
        **({"set": timeline} if timeline else {}),
        "control": _control(log),
        "files": _files(log, census),
        "records": _records(census),
        "units": _units(census),
        "ranges": _ranges(log, census),
        "members": {str(member): census.members[member] for member in sorted(census.members)},
        "tables": [_table(version, census) for version in log.catalog.versions],
        "names": {kind: _top(names) for kind, names in census.names.items()},
        "damaged": {
            "count": census.damaged,
            "findings": [str(finding) for finding in census.findings],
            "unreadable": census.unreadable,
        },
        "limits": limits,
        "exit_code": EXIT_UNUSABLE if census.unreadable else code,
    }
    return Description(described, _MEANINGS, {"limits": _sentence, "set": _covered}, _APART)


#: Counts of codes, by the field that has them.
_MEANINGS = {
    "change_types": CODE_MEANINGS["CHANGE TYPE"],
    "changes": CODE_MEANINGS["CHANGE TYPE"],
    "dispositions": DISPOSITIONS,
    "unit_dispositions": UNIT_DISPOSITIONS,
    "origins": CODE_MEANINGS["SQLSRCTYPE"],
    "sqltypes": CODE_MEANINGS["SQLTYPE"],
}
#: What only programs want.
_APART = frozenset({"fields", "changes_by_disposition", "data", "CNTLRECORDTYPE"})


def _sentence(limit: Mapping[str, Any]) -> str:
    table = f"{limit['table']}: " if limit["table"] else ""
    return f"{'warning' if limit['warning'] else 'note'}: {table}{limit['what']}: {limit['why']}"


def _covered(log: Mapping[str, Any]) -> str:
    """What a log of a set covers, below the hole before it."""
    low, high = (log[end] or log[place] for end, place in (("begin", "first"), ("end", "last")))
    hole = "*** GAP: nothing covers {} to {}\n  ".format(*log["hole"]) if log["hole"] else ""
    parts = [
        f"{hole}{log['control']} ({log['joint']}): {low or 'nothing'} to {high or 'nothing'}",
        counted(log["records"], "record"),
        *([f"{log['repeated']:,} of them in another log too"] if log["repeated"] else []),
        *([f"ends at {log['end_time']}"] if log["end_time"] else []),
        *([f"dependent position {log['dependent_position']}"] if log["dependent_position"] else []),
    ]
    return ", ".join(parts)


def _control(log: LogmasterLog) -> dict[str, Any]:
    control = log.control
    header = control.header
    records = ("XTYP", control.common), ("DLDS", control.data_set), ("DLGE", control.end)
    return {
        "name": control.name,
        "framing": control.framing.value,
        **{
            tag: {name: _json(CONTROL[tag].names[name], value) for name, value in values.items()}
            for tag, values in records
        },
        "filters": list(control.filters),
        "dependent_position": (
            None if log.dependent_position is None else hexadecimal(log.dependent_position)
        ),
        "records": dict(control.counts),
        "unknown_records": dict(control.unknown),
        "header": {
            "described_by": (
                "XHDF records" if control.header_described else "the built-in layout (v11.1)"
            ),
            "bytes_described": header.size,
            "bytes_in_records": log.shape.header,
            "fields": [
                {"name": entry.name, "offset": entry.offset, "length": entry.length}
                for entry in header.names.values()
            ],
        },
    }


def _json(entry: Field, value: Any) -> Any:
    """A control field's value as JSON-able data: times as text, other bytes in hexadecimal."""
    if not isinstance(value, bytes):
        return value
    return timestamp_text(value) if entry.kind is FieldKind.PACKED_TIME else hexadecimal(value)


def _files(log: LogmasterLog, census: Census) -> list[dict[str, Any]]:
    return [
        {
            "name": file.name,
            "bytes": log.size(number),
            "framing": file.framing.value,
            "records": census.records[number],
        }
        for number, file in enumerate(log.files)
    ]


def _records(census: Census) -> dict[str, Any]:
    log = census.log
    later = (
        "every segment has its own length"
        if log.later_segments_have_length
        else "only the first segment has a length"
    )
    changes = Counter(
        {kind: count for kind, count in census.kinds.items() if kind.change <= Change.EXCHANGE}
    )

    def by(
        attribute: str, counts: Counter[ChangeKind], order: Mapping[str, str] | None = None
    ) -> dict[str, int]:
        totals: Counter[str] = Counter()
        for kind, count in counts.items():
            totals[getattr(kind, attribute)] += count
        return {
            code.strip() or "blank": totals[code]
            for code in order or sorted(totals)
            if totals[code]
        }

    return {
        "count": sum(census.records.values()),
        "changes": changes.total(),
        "other": census.kinds.total() - changes.total(),
        "segmented_changes": census.segmented,
        "data_reading": log.reading.value,
        "segments": (
            later
            if log.reading is Reading.A
            else "segments carry DATA in pieces, without a length of their own"
        ),
        "change_types": by("code", census.kinds),
        "dispositions": by("disposition", changes, DISPOSITIONS),
        "unit_dispositions": by("unit_disposition", changes, UNIT_DISPOSITIONS),
        "origins": by("origin", changes, ORIGINS),
        "sqltypes": by("sqltype", changes, SQLTYPES),
    }


def _units(census: Census) -> dict[str, int]:
    bits = np.fromiter(census.units.values(), np.uint8, len(census.units))

    def count(mask: Mask) -> int:
        return int(mask.sum())

    incomplete = (bits & INCOMPLETE) > 0
    return {
        "count": len(bits),
        "committed": count((bits & (COMMITTED | ABORTED)) == COMMITTED),
        "aborted": count((bits & (COMMITTED | ABORTED)) == ABORTED),
        "contradictory": count((bits & (COMMITTED | ABORTED)) == COMMITTED | ABORTED),
        "incomplete": count(incomplete),
        "possibly_dependent": count(((bits & DEPENDENT) > 0) & ~incomplete),
        "from_dependent_position": count((bits & AFTER) > 0),
    }


def _ranges(log: LogmasterLog, census: Census) -> dict[str, Any]:
    ranges: dict[str, Any] = {
        "positions_are": "LRSN (data sharing)" if not census.ranges or log.uses_lrsn() else "RBA"
    }
    for name in ("LOGLRSN", "LOGRBA", "commit", "record time", "commit time"):
        ends = census.ranges.get(name)
        as_text = timestamp_text if name.endswith("time") else hexadecimal
        ranges[name] = (
            None if ends is None else {"first": as_text(ends[0]), "last": as_text(ends[1])}
        )
    return ranges


def _table(version: TableVersion, census: Census) -> dict[str, Any]:
    changes: Counter[str] = Counter()
    dispositions: Counter[str] = Counter()
    for kind, count in census.kinds.items():
        if kind.version == version.index:
            changes[kind.code.strip()] += count
            dispositions[f"{kind.code.strip()}/{kind.disposition}"] += count
    columns = version.format.columns
    return {
        "name": version.name,
        "dbid": f"{version.dbid:04X}",
        "psid": f"{version.psid:04X}",
        "obid": f"{version.obid:04X}",
        "sequence": version.sequence,
        "version": version.version,
        "created": hexadecimal(version.created),
        "dropped": hexadecimal(version.dropped),
        "encoding": columns[0].encoding if columns else "",
        "ccsids": sorted({column.ccsid for column in columns if column.ccsid is not None}),
        "row_type": version.row_type,
        "edit_procedure": version.edit_proc,
        "key": list(version.table.key),
        "indexes": list(version.indexes),
        "columns": [_column(column) for column in columns],
        "changes": {code: changes[code] for code in sorted(changes)},
        "changes_by_disposition": {code: dispositions[code] for code in sorted(dispositions)},
    }


def _column(column: ColumnFormat) -> dict[str, Any]:
    return {
        "name": column.column.name,
        "type": column.column.type.value,
        "code": column.code,
        "length": column.length,
        "scale": column.scale,
        "nullable": column.nullable,
        "ccsid": column.ccsid,
        "key": column.key_sequence or None,
    }


def _top(names: Counter[bytes]) -> dict[str, Any]:
    names_by_count = [
        {"name": text, "records": count}
        for text, count in sorted(
            ((name.decode("latin-1").rstrip(" \0"), n) for name, n in names.items()),
            key=lambda e: (-e[1], e[0]),
        )
    ]
    return {"count": len(names_by_count), "most": names_by_count[:_TOP]}


def _limit(what: str, why: str, table: str | None = None, warning: bool = True) -> dict[str, Any]:
    return {"table": table, "what": what, "why": why, "warning": warning}


def _column_limits(version: TableVersion) -> Iterator[dict[str, Any]]:
    columns = version.format.columns
    large = [entry.column.name for entry in columns if entry.lob]
    raw = [f"{entry.column.name} ({entry.code})" for entry in columns if entry.raw]
    if large:
        yield _limit(
            f"large object columns: {', '.join(large)}",
            "their values are not in the log; leave them out (--exclude-columns)",
            version.name,
        )
    if version.unlogged:
        yield _limit(
            f"the log lacks {counted(version.unlogged, 'column')} of the table",
            "undo does not bring their values back",
            version.name,
        )
    if raw:
        yield _limit(
            f"columns of an unknown type: {', '.join(raw)}",
            "they are written as hexadecimal bytes",
            version.name,
        )


def _limits(log: LogmasterLog, census: Census) -> Iterator[dict[str, Any]]:
    """What the scripts cannot do, and why. Those that are no ``warning`` are notes."""
    for what, _, why in (text.partition(": ") for text in log.warnings(()) if log.empty):
        yield _limit(what, why)
    for entry in log.timeline():
        if entry["hole"] is not None:
            low, high = entry["hole"]
            yield _limit(
                f"a gap in the log set, from {low} to {high}, before {entry['control']}",
                "what changed there is in no log: redo and undo refuse (LR2037; --gaps)",
            )

    versions = [
        version
        for version in log.catalog.versions
        if any(kind.version == version.index for kind in census.kinds)
    ]
    events: Counter[tuple[int, Change]] = Counter()
    catalog = 0
    for kind, count in census.kinds.items():
        if kind.committed and kind.change in TABLE_EVENTS:
            events[kind.version, kind.change] += count
        catalog += count if kind.change is Change.CATALOG and kind.unit_disposition == "C" else 0
    for (index, change), count in sorted(events.items()):
        why = "the log holds no images of the rows: undo refuses (LR3002)"
        yield _limit(
            counted(count, f"committed {change.name.lower().replace('_', ' ')}"),
            why,
            log.catalog.versions[index].name,
        )
    for version in versions:
        yield from _column_limits(version)
    for name, generations in Counter(version.name for version in versions).items():
        if generations > 1:
            yield _limit(
                f"{generations} generations of the table",
                "the scripts hold no DDL: change the target's table between them",
                name,
            )
    if catalog:
        yield _limit(
            f"{counted(catalog, 'committed catalog change')}, type CO",
            "they are DDL, which the scripts neither repeat nor undo",
            warning=False,
        )
    units = _units(census)
    if units["incomplete"] or units["possibly_dependent"] or log.dependent_position is not None:
        what = (
            f"{counted(units['incomplete'], 'incomplete unit')} of recovery and"
            f" {units['possibly_dependent']} that may depend on them"
        )
        yield _limit(
            what,
            "changes are missing from the log (INCOMPLETETRANS, INCOMPLETEDEP): the units are"
            " quarantined (--incomplete)",
        )
    if units["contradictory"]:
        yield _limit(
            f"{counted(units['contradictory'], 'unit')} of recovery both committed and aborted",
            "their records contradict each other (LR2016)",
        )
    for version in versions:
        if not version.table.key:
            yield _limit(
                "no key",
                "rows are found by all columns; of duplicate rows one is taken",
                version.name,
                False,
            )
