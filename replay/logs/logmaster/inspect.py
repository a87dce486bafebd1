"""What is in a log: a census of its records and tables for people and programs, and one record field by field.

Nothing is rendered here and no row image is decoded for the census: headers are counted batch by batch, so that memory grows with the number of
units of recovery and names, not with the log. Counts are of sound records; damaged ones are reported, and counted nowhere else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay import codecs
from replay.catalog import ColumnFormat, TableVersion
from replay.changes import CHANGE_OF_TYPE, DISPOSITIONS, ORIGINS, ROW_CHANGES, SQLTYPES, TABLE_EVENTS, UNIT_DISPOSITIONS, Change, compare
from replay.errors import EXIT_ERROR, EXIT_OK, EXIT_UNUSABLE, EXIT_WARNING, Finding, InputError, UsageError, Where
from replay.images import describe_image
from replay.layout import Field, Kind
from replay.logs.logmaster.data import Reading, find_images, halfwords, payload
from replay.logs.logmaster.framing import Framing
from replay.logs.logmaster.headers import Headers
from replay.logs.logmaster.layouts import CONTROL
from replay.logs.logmaster.reader import LogmasterLog
from replay.terminal import FieldRow, aligned, byte_lines, counted, field_lines, hexadecimal, printable, wrapped

Bytes = npt.NDArray[np.uint8]
Index = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Bytes of log walked at once, records counted at once, findings shown, names shown of each kind.
_BLOCK, _BATCH, _FINDINGS, _TOP = 16 << 20, 65_536, 20, 20
_NAMES = {"authids": ("authid", "AUTHID"), "plans": ("plan", "PLAN"), "correlations": ("correlation", "CORRELATIONID")}
_NAMES["connections"] = ("connection", "CONNECTID")

#: What is known about a unit of recovery, as bits.
_COMMITTED, _ABORTED, _INCOMPLETE, _DEPENDENT, _AFTER = 1, 2, 4, 8, 16

_MEANING: dict[str, Mapping[str, str]] = {
    "CHANGE TYPE": {code.strip(): kind.name.lower().replace("_", " ") for code, kind in CHANGE_OF_TYPE.items()},
    "LOGRECDISP": DISPOSITIONS,
    "UORDISP": UNIT_DISPOSITIONS,
    "SQLSRCTYPE": {code.strip() or "blank": meaning for code, meaning in ORIGINS.items()},
    "SQLTYPE": {code.strip() or "blank": meaning for code, meaning in SQLTYPES.items()},
}


@dataclass(frozen=True)
class _Kind:
    """What changes have in common that are counted together; codes are text as on the data file page."""

    version: int
    code: str
    disposition: str
    unit_disposition: str
    origin: str
    sqltype: str

    @property
    def change(self) -> Change:
        return CHANGE_OF_TYPE[self.code]

    @property
    def committed(self) -> bool:
        return self.unit_disposition == "C" and self.disposition == "C"


@dataclass
class _Census:
    """What was counted. ``kinds`` is of changes (a segmented change counts once), the other counts are of records."""

    log: LogmasterLog
    records: Counter[int] = field(default_factory=Counter)
    kinds: Counter[_Kind] = field(default_factory=Counter)
    units: dict[bytes, int] = field(default_factory=dict)
    members: Counter[int] = field(default_factory=Counter)
    names: dict[str, Counter[bytes]] = field(default_factory=lambda: {kind: Counter() for kind in _NAMES})
    ranges: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    segmented: int = 0
    damaged: int = 0
    findings: list[Finding] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)

    def read(self) -> None:
        """Count all records of all files; where a file's framing is damaged, up to there."""
        for file in range(len(self.log.files)):
            try:
                for block in self.log.blocks(file, _BLOCK):
                    for start in range(0, len(block.offsets), _BATCH):
                        part = slice(start, start + _BATCH)
                        self._add(file, block.first_record + start, block.offsets[part], block.lengths[part])
            except InputError as error:
                self.unreadable.append(str(error))

    def _add(self, file: int, first_record: int, offsets: Index, lengths: npt.NDArray[np.int32]) -> None:
        envelope = self.log.envelope(file, offsets, lengths)
        change, version = self.log.classify(envelope)
        self.records[file] += len(offsets)
        damaged = self.log.check(envelope, lengths, change, version)
        for row in np.flatnonzero(damaged)[: max(0, _FINDINGS - len(self.findings))].tolist():
            self.findings.append(self.log.header_finding(file, first_record + row, int(offsets[row]), int(lengths[row])))
        rows = np.flatnonzero(~damaged)
        self.damaged += len(offsets) - len(rows)
        if not len(rows):
            return
        envelope, change, version = envelope.take(rows), change[rows], version[rows]
        self._check_images(file, first_record + rows, offsets[rows], lengths[rows], envelope, change, version)
        self._count_kinds(envelope, version)
        self._count_units(envelope)
        self._widen(envelope)
        for member, count in zip(*np.unique(envelope.member(), return_counts=True), strict=True):
            self.members[int(member)] += int(count)
        for kind, (name, spelled) in _NAMES.items():
            if spelled in envelope.layout.names:
                values = _fixed(envelope.name(name).view(np.uint8).reshape(len(rows), -1)).value_counts()
                self.names[kind].update({entry["values"]: entry["counts"] for entry in values.to_pylist()})

    def _check_images(
        self,
        file: int,
        numbers: Index,
        offsets: Index,
        lengths: npt.NDArray[Any],
        envelope: Headers,
        change: Bytes,
        version: npt.NDArray[Any],
    ) -> None:
        """Whether the lengths in DATA of changes in one record close. (Values, and segments, are checked when statements are written.)"""
        log, buffer, whole = self.log, self.log.buffer(file), envelope.segments() <= 1
        for kind, codes in ((Change.UPDATE, (Change.UPDATE,)), (Change.INSERT, (Change.INSERT, Change.DELETE))):
            rows = np.flatnonzero(whole & np.isin(change, codes))
            start, end = offsets[rows] + log.shape.header, offsets[rows] + lengths[rows]
            bounds = find_images(buffer, start, end, kind, log.reading, True)
            bad = np.flatnonzero(bounds.bad)
            self.damaged += len(bad)
            for place in bad[: max(0, _FINDINGS - len(self.findings))].tolist():
                row = int(rows[place])
                table = log.catalog.versions[int(version[row])].name
                where = Where(log.files[file].name, int(numbers[row]), int(start[place]), "DATA", table)
                self.findings.append(Finding("LR2014", where, *bounds.reason(place), "The record is damaged"))

    def _count_kinds(self, envelope: Headers, version: npt.NDArray[np.int32]) -> None:
        code = envelope.change_type().astype(np.int64)
        key = (version.astype(np.int64) + 1) << 42 | (code >> 8) << 35 | (code & 127) << 28
        key |= envelope.disposition().astype(np.int64) << 21 | envelope.unit_disposition().astype(np.int64) << 14
        key |= envelope.origin().astype(np.int64) << 7 | envelope.sqltype()
        first = envelope.segment() <= 1
        self.segmented += int((first & (envelope.segments() > 1)).sum())
        for value, count in zip(*(column.tolist() for column in np.unique(key[first], return_counts=True)), strict=True):
            text = [chr(value >> shift & 127) for shift in (35, 28, 21, 14, 7, 0)]
            self.kinds[_Kind((value >> 42) - 1, text[0] + text[1], *text[2:])] += count

    def _count_units(self, envelope: Headers) -> None:
        bits = np.where(envelope.unit_disposition() == ord("C"), _COMMITTED, _ABORTED).astype(np.uint8)
        bits[envelope.incomplete_unit()] |= _INCOMPLETE
        bits[envelope.incomplete_dependency()] |= _DEPENDENT
        dependent = self.log.dependent_position
        if dependent is not None:
            bits[compare(envelope.unit_position(), dependent) >= 0] |= _AFTER
        encoded = _fixed(envelope.unit()).dictionary_encode()
        known = np.zeros(len(encoded.dictionary), np.uint8)
        np.bitwise_or.at(known, encoded.indices.to_numpy(), bits)
        for unit, value in zip(encoded.dictionary.to_pylist(), known.tolist(), strict=True):
            self.units[unit] = self.units.get(unit, 0) | value

    def _widen(self, envelope: Headers) -> None:
        positions = {name: envelope.position(name) for name in ("LOGLRSN", "LOGRBA")} | {"commit": envelope.commit()}
        times = {"commit time": envelope.commit_time()} | (
            {"record time": envelope.time("TIMESTAMP")} if "TIMESTAMP" in envelope.layout.names else {}
        )
        for name, block in (positions | times).items():
            present = block[block.any(axis=1)]
            if len(present):
                low, high = (pc.min_max(_fixed(present)).as_py()[end] for end in ("min", "max"))
                known = self.ranges.get(name, (low, high))
                self.ranges[name] = min(low, known[0]), max(high, known[1])


def _fixed(block: Bytes) -> pa.Array:
    """``uint8[n, w]`` as binary values of one width."""
    packed = np.ascontiguousarray(block)
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(packed.shape[1]), len(packed), [None, pa.py_buffer(packed)])


# -- the description -----------------------------------------------------------------------------------------------------------------------


def describe(log: LogmasterLog) -> dict[str, Any]:
    """What is in a log, as JSON-able data. ``exit_code``: 0, 4 with warnings, 8 with damaged records, 12 where a file cannot be read on."""
    census = _Census(log)
    census.read()
    limits = list(_limits(log, census))
    code = EXIT_WARNING if any(entry["warning"] for entry in limits) else EXIT_OK
    code = EXIT_UNUSABLE if census.unreadable else EXIT_ERROR if census.damaged else code
    described: dict[str, Any] = {
        "control": _control(log),
        "files": _files(log, census),
        "records": _records(census),
        "units": _units(census),
        "ranges": _ranges(log, census),
        "members": {str(member): census.members[member] for member in sorted(census.members)},
        "tables": [_table(version, census) for version in log.catalog.versions],
        "names": {kind: _top(names) for kind, names in census.names.items()},
        "damaged": {"count": census.damaged, "findings": [str(finding) for finding in census.findings], "unreadable": census.unreadable},
        "limits": limits,
        "exit_code": code,
    }
    return described


def _control(log: LogmasterLog) -> dict[str, Any]:
    control = log.control
    header = control.header
    known = ("XTYP", control.common), ("DLDS", control.data_set), ("DLGE", control.end)
    return {
        "name": control.name,
        "framing": control.framing.value,
        **{tag: {name: _json(CONTROL[tag].names[name], value) for name, value in values.items()} for tag, values in known},
        "filters": list(control.filters),
        "dependent_position": None if log.dependent_position is None else hexadecimal(log.dependent_position),
        "records": dict(control.counts),
        "unknown_records": dict(control.unknown),
        "header": {
            "described_by": "XHDF records" if control.header_described else "the built-in layout (v11.1)",
            "bytes_described": header.size,
            "bytes_in_records": log.shape.header,
            "fields": [{"name": entry.name, "offset": entry.offset, "length": entry.length} for entry in header.names.values()],
        },
    }


def _json(entry: Field, value: Any) -> Any:
    """A control field's value as JSON-able data: times as text, other bytes in hexadecimal."""
    if not isinstance(value, bytes):
        return value
    return _time(value) if entry.kind is Kind.PACKED_TIME else hexadecimal(value)


def _files(log: LogmasterLog, census: _Census) -> list[dict[str, Any]]:
    return [
        {"name": file.name, "bytes": len(log.buffer(number)), "framing": file.framing.value, "records": census.records[number]}
        for number, file in enumerate(log.files)
    ]


def _records(census: _Census) -> dict[str, Any]:
    log = census.log
    later = "every segment has its own length" if log.later_segments_have_length else "only the first segment has a length"
    changes = Counter({kind: count for kind, count in census.kinds.items() if kind.change <= Change.EXCHANGE})

    def by(attribute: str, counts: Counter[_Kind], order: Mapping[str, str] | None = None) -> dict[str, int]:
        found: Counter[str] = Counter()
        for kind, count in counts.items():
            found[getattr(kind, attribute)] += count
        return {code.strip() or "blank": found[code] for code in (order or sorted(found)) if found[code]}

    return {
        "count": sum(census.records.values()),
        "changes": changes.total(),
        "other": census.kinds.total() - changes.total(),
        "segmented_changes": census.segmented,
        "data_reading": log.reading.value,
        "segments": later if log.reading is Reading.A else "segments carry DATA in pieces, without a length of their own",
        "change_types": by("code", census.kinds),
        "dispositions": by("disposition", changes, DISPOSITIONS),
        "unit_dispositions": by("unit_disposition", changes, UNIT_DISPOSITIONS),
        "origins": by("origin", changes, ORIGINS),
        "sqltypes": by("sqltype", changes, SQLTYPES),
    }


def _units(census: _Census) -> dict[str, int]:
    bits = np.fromiter(census.units.values(), np.uint8, len(census.units))

    def count(mask: Mask) -> int:
        return int(mask.sum())

    incomplete = (bits & _INCOMPLETE) > 0
    return {
        "count": len(bits),
        "committed": count((bits & (_COMMITTED | _ABORTED)) == _COMMITTED),
        "aborted": count((bits & (_COMMITTED | _ABORTED)) == _ABORTED),
        "contradictory": count((bits & (_COMMITTED | _ABORTED)) == _COMMITTED | _ABORTED),
        "incomplete": count(incomplete),
        "possibly_dependent": count(((bits & _DEPENDENT) > 0) & ~incomplete),
        "from_dependent_position": count((bits & _AFTER) > 0),
    }


def _ranges(log: LogmasterLog, census: _Census) -> dict[str, Any]:
    ranges: dict[str, Any] = {"positions_are": "LRSN (data sharing)" if not census.ranges or log.uses_lrsn() else "RBA"}
    for name in ("LOGLRSN", "LOGRBA", "commit", "record time", "commit time"):
        ends = census.ranges.get(name)
        shown = _time if name.endswith("time") else hexadecimal
        ranges[name] = None if ends is None else {"first": shown(ends[0]), "last": shown(ends[1])}
    return ranges


def _table(version: TableVersion, census: _Census) -> dict[str, Any]:
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
    shown = [
        {"name": text, "records": count}
        for text, count in sorted(((name.decode("latin-1").rstrip(" \0"), n) for name, n in names.items()), key=lambda e: (-e[1], e[0]))
    ]
    return {"count": len(shown), "most": shown[:_TOP]}


def _limits(log: LogmasterLog, census: _Census) -> Iterator[dict[str, Any]]:
    """What the scripts cannot do, and why. Those that are no ``warning`` are notes."""

    def limit(what: str, why: str, table: str | None = None, warning: bool = True) -> dict[str, Any]:
        return {"table": table, "what": what, "why": why, "warning": warning}

    versions = [version for version in log.catalog.versions if any(kind.version == version.index for kind in census.kinds)]
    events: Counter[tuple[int, Change]] = Counter()
    catalog = 0
    for kind, count in census.kinds.items():
        if kind.committed and kind.change in TABLE_EVENTS:
            events[kind.version, kind.change] += count
        catalog += count if kind.change is Change.CATALOG and kind.unit_disposition == "C" else 0
    for (index, change), count in sorted(events.items()):
        why = "the log holds no images of the rows: undo refuses (LR3002)"
        yield limit(f"{count} committed {change.name.lower().replace('_', ' ')}(s)", why, log.catalog.versions[index].name)
    for version in versions:
        large = [column.column.name for column in version.format.columns if column.lob]
        raw = [f"{column.column.name} ({column.code})" for column in version.format.columns if column.raw]
        if large:
            yield limit(
                f"large object columns: {', '.join(large)}",
                "their values are not in the log; leave them out (--exclude-columns)",
                version.name,
            )
        if version.unlogged:
            yield limit(f"the log lacks {version.unlogged} columns of the table", "undo does not bring their values back", version.name)
        if raw:
            yield limit(f"columns of an unknown type: {', '.join(raw)}", "they are written as hexadecimal bytes", version.name)
    for name, generations in Counter(version.name for version in versions).items():
        if generations > 1:
            yield limit(f"{generations} generations of the table", "the scripts hold no DDL: change the target's table between them", name)
    if catalog:
        yield limit(
            f"{catalog} committed catalog change(s), type CO", "they are DDL, which the scripts neither repeat nor take back", warning=False
        )
    units = _units(census)
    if units["incomplete"] or units["possibly_dependent"] or log.dependent_position is not None:
        what = f"{units['incomplete']} incomplete unit(s) of recovery and {units['possibly_dependent']} that may depend on them"
        yield limit(what, "changes are missing from the log (INCOMPLETETRANS, INCOMPLETEDEP): the units are set aside (--incomplete)")
    if units["contradictory"]:
        yield limit(
            f"{units['contradictory']} unit(s) of recovery both committed and aborted", "their records contradict each other (LR2016)"
        )
    for version in versions:
        if not version.table.key:
            yield limit("no key", "rows are found by all columns; of duplicate rows one is taken", version.name, False)


def _time(value: bytes) -> str | None:
    """A packed (or, of older releases, character) timestamp as text; None for zeros, the digits where they are no time."""
    block = np.frombuffer(value, np.uint8).reshape(1, -1)
    if len(value) != 17:
        return str(codecs.ebcdic_text(block)[0].as_py())
    shown, bad = codecs.decode_log_timestamp(block)
    return f"{hexadecimal(value)} (not a time)" if bad is not None else shown[0].as_py()


# -- the description as text ---------------------------------------------------------------------------------------------------------------


def text(description: Mapping[str, Any]) -> str:
    """The description for a terminal."""
    parts = (_control_text, _records_text, _units_text, _tables_text, _names_text, _limits_text)
    lines = ("\n".join(wrapped(line) for line in part(description)) for part in parts)
    return "\n\n".join(part for part in (*lines, "\n".join(_damaged_text(description))) if part)


def _control_text(description: Mapping[str, Any]) -> Iterator[str]:
    control = description["control"]
    common, header, data_set, end = control["XTYP"], control["header"], control["DLDS"], control["DLGE"]
    yield f"Control file {control['name']} (framing {control['framing']})"
    yield f"  subsystem {common['CNTLFILESYSID']}, {common['CNTLFILETYPE']}, version {common['CNTLFILETYPEVERSION']}"
    yield "  CCSIDs (single/mixed/double): " + ", ".join(
        f"{scheme} " + "/".join(str(common[f"{scheme.upper()}{kind}CCSID"]) for kind in ("SINGLE", "MIXED", "DOUBLE"))
        for scheme in ("EBCDIC", "ASCII", "Unicode")
    )
    appended = header["bytes_in_records"] - header["bytes_described"]
    more = f", {appended} more in the records" if appended else ""
    yield f"  header: {header['bytes_described']} bytes, {len(header['fields'])} fields, described by {header['described_by']}{more}"
    for tag, values in (("DLDS", data_set), ("DLGE", end)):
        shown = ", ".join(f"{name} {value}" for name, value in values.items() if name != "CNTLRECORDTYPE" and value not in (None, ""))
        yield f"  {tag}: {shown or 'no record'}"
    if control["dependent_position"]:
        yield f"  incomplete units: units from {control['dependent_position']} (DEPENDENTRBA) on may depend on them"
    yield "  records: " + counted(control["records"])
    if control["unknown_records"]:
        yield "  unknown records, not read: " + counted(control["unknown_records"])
    yield from (f"  filter: {filtered}" for filtered in control["filters"])


def _records_text(description: Mapping[str, Any]) -> Iterator[str]:
    records = description["records"]
    yield "Data"
    yield from aligned(
        ["  file", "bytes", "framing", "records"],
        [[f"  {file['name']}", f"{file['bytes']:,}", file["framing"], f"{file['records']:,}"] for file in description["files"]],
    )
    yield f"  {records['count']:,} records, {records['changes']:,} changes, {records['segmented_changes']:,} of them segmented"
    yield f"  {records['other']:,} records of catalog changes, commands and status"
    yield f"  DATA: reading {records['data_reading']}; {records['segments']}"
    yield "  change types: " + counted(records["change_types"], _MEANING["CHANGE TYPE"])
    yield "  dispositions: " + counted(records["dispositions"], DISPOSITIONS)
    yield "  of their units: " + counted(records["unit_dispositions"], UNIT_DISPOSITIONS)
    yield "  origins: " + counted(records["origins"], _MEANING["SQLSRCTYPE"])
    yield "  SQLTYPE: " + counted(records["sqltypes"], _MEANING["SQLTYPE"])
    yield "  members: " + counted(description["members"])


def _units_text(description: Mapping[str, Any]) -> Iterator[str]:
    units, ranges = description["units"], description["ranges"]
    yield f"Units of recovery: {units['count']:,}"
    yield "  " + ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in units.items() if name != "count")
    yield f"  positions: {ranges['positions_are']}"
    for name, title in (
        ("commit", "commits"),
        ("commit time", "committed"),
        ("LOGLRSN", "LOGLRSN"),
        ("LOGRBA", "LOGRBA"),
        ("record time", "logged"),
    ):
        ends = ranges[name]
        yield f"  {title:<9} " + ("none" if ends is None else f"{ends['first']} to {ends['last']}")


def _tables_text(description: Mapping[str, Any]) -> Iterator[str]:
    yield f"Tables: {len(description['tables'])} generation(s)"
    for table in description["tables"]:
        ccsids = "/".join(map(str, table["ccsids"])) or "none"
        yield ""
        yield (
            f"  {table['name']}: DBID/PSID/OBID {table['dbid']}/{table['psid']}/{table['obid']}, generation {table['sequence']}, "
            f"version {table['version']}, encoding {table['encoding']}, CCSID {ccsids}"
        )
        if set(table["created"] + table["dropped"]) - {"0"}:
            yield f"  valid from {table['created']} to {table['dropped']}"
        if table["edit_procedure"]:
            yield f"  edit procedure {table['edit_procedure']}"
        yield "  changes: " + (counted(table["changes"], _MEANING["CHANGE TYPE"]) or "none")
        yield from aligned(
            ["    column", "type", "code", "length", "scale", "null", "CCSID", "key"],
            [
                [f"    {column['name']}", column["type"], column["code"], str(column["length"]), str(column["scale"] or ""),
                 "yes" if column["nullable"] else "no", str(column["ccsid"] or ""), str(column["key"] or "")]
                for column in table["columns"]
            ],
        )  # fmt: skip


def _names_text(description: Mapping[str, Any]) -> Iterator[str]:
    yield "Who (records)"
    for kind, names in description["names"].items():
        rest = names["count"] - len(names["most"])
        shown = ", ".join(f"{printable(entry['name']) or '(blank)'} {entry['records']:,}" for entry in names["most"])
        yield f"  {kind}: {shown or 'none'}" + (f", and {rest:,} more" if rest > 0 else "")


def _limits_text(description: Mapping[str, Any]) -> Iterator[str]:
    limits = description["limits"]
    if limits:
        yield "What the scripts cannot do, and why"
    elif description["exit_code"] == EXIT_OK:
        yield "Everything that was committed can be repeated and undone."
    for entry in limits:
        name = f"{entry['table']}: " if entry["table"] else ""
        yield f"  {'warning' if entry['warning'] else 'note'}: {name}{entry['what']}: {entry['why']}"


def _damaged_text(description: Mapping[str, Any]) -> Iterator[str]:
    damaged = description["damaged"]
    yield f"Records with a damaged header: {damaged['count']:,} (rows, segments and records given twice are looked at by redo and undo)"
    yield from (f"  {finding}" for finding in damaged["findings"])
    if damaged["count"] > len(damaged["findings"]):
        yield f"  … {damaged['count'] - len(damaged['findings']):,} more"
    yield from (f"  {error}. What follows in this file was not read" for error in damaged["unreadable"])


# -- one record ----------------------------------------------------------------------------------------------------------------------------


def dump_record(log: LogmasterLog, number: int, file: int = 1, with_hex: bool = False) -> list[str]:
    """One physical record, field by field; ``number`` and ``file`` count from 1. Damaged records are shown as far as they can be read.

    UsageError when there is no such file or record, InputError when the file's framing is damaged before it.
    """
    if not 1 <= file <= len(log.files):
        raise UsageError("LR1004", f"found --file {file}; expected 1 to {len(log.files)}")
    offset, length = _find(log, number, file - 1)
    entry, buffer = log.files[file - 1], log.buffer(file - 1)
    record = buffer[offset : offset + length].tobytes()
    lead = {Framing.RDW: 4, Framing.BDW: 4, Framing.FTP: 3, Framing.NONE: 0}[entry.framing]
    before = f" (X'{hexadecimal(buffer[offset - lead : offset].tobytes())}' before it)" if lead else ""
    lines = [
        f"{entry.name}, record {number}",
        f"offset {offset} (X'{offset:X}'), {length} bytes, framing {entry.framing.value}{before}",
    ]
    offsets, lengths = np.array([offset]), np.array([length], np.int32)
    envelope = log.envelope(file - 1, offsets, lengths)
    change, version = log.classify(envelope)
    if log.check(envelope, lengths, change, version)[0]:
        lines.append(f"*** damaged: {log.header_finding(file - 1, number, offset, length)}")
    table = log.catalog.versions[int(version[0])] if version[0] >= 0 else None
    lines += [f"table {table.name if table else 'unknown'}{f', generation {table.sequence}' if table else ''}", "", "header"]
    lines += field_lines(_header_rows(log, record), with_hex)
    lines.append("")
    lines += _data_lines(log, record, envelope, int(change[0]), table, with_hex)
    return lines


def _find(log: LogmasterLog, number: int, file: int) -> tuple[int, int]:
    """(offset, length) of a record."""
    last = 0
    for block in log.blocks(file, _BLOCK):
        last = block.first_record + len(block.offsets) - 1
        place = number - block.first_record
        if 0 <= place < len(block.offsets):
            return int(block.offsets[place]), int(block.lengths[place])
    raise UsageError("LR1004", f"found --record {number}; expected 1 to {last}, the records of {log.files[file].name}")


def _header_rows(log: LogmasterLog, record: bytes) -> list[FieldRow]:
    fields = {entry.offset: entry for entry in log.control.header.fields}
    rows = [
        (name, offset, digits, _header_value(fields[offset], digits, shown))
        for name, offset, digits, shown in log.control.header.dump(record)
    ]
    appended = record[log.control.header.size : log.shape.header]
    if appended:
        rows.append(("(appended)", log.control.header.size, hexadecimal(appended), "fields of a newer release"))
    return rows


def _header_value(entry: Field, digits: str, shown: str) -> str:
    """The value of a header field for people: positions in hexadecimal, times readable, codes with their meaning."""
    if shown.startswith("***"):
        return shown
    if entry.kind is Kind.PACKED_TIME:
        return _time(bytes.fromhex(digits)) or "none"
    if entry.kind in (Kind.POSITION, Kind.BYTES, Kind.RESERVED):
        return f"X'{digits}'"
    if entry.name in _MEANING:
        code = shown.strip() or "blank"
        return f"{code if code.isprintable() else ascii(code)}: {_MEANING[entry.name].get(code, '*** unknown')}"
    return shown


def _data_lines(log: LogmasterLog, record: bytes, envelope: Headers, change: int, table: TableVersion | None, with_hex: bool) -> list[str]:
    start, end = log.shape.header, len(record)
    if end <= start:
        return ["no DATA"]
    segment, total = int(envelope.segment()[0]), int(envelope.segments()[0])
    lines = [f"DATA: {end - start} bytes at {start}, reading {log.reading.value}"]
    buffer, begin, stop = np.frombuffer(record, np.uint8), np.array([start]), np.array([end])
    if total > 1:
        at, size, bad = payload(buffer, begin, stop, log.reading, log.later_segments_have_length, np.array([segment]))
        lines.append(
            f"segment {segment} of {total} of a change: {int(size[0])} bytes at {int(at[0])}; a row image may begin in an earlier one"
        )
        if bad[0]:
            lines.append(f"*** found segment length {int(halfwords(buffer, begin)[0])}; expected {end - start}")
        return lines + byte_lines(record, int(at[0]))
    if change not in ROW_CHANGES:
        return lines + [
            "no row images" if change else "*** what lies here is unknown, because the change type is",
            *byte_lines(record, start),
        ]
    bounds = find_images(buffer, begin, stop, Change(change), log.reading, True)
    if log.reading is Reading.A:
        lines.append(f"segment length {int(halfwords(buffer, begin)[0])} (with itself)")
    if bounds.bad[0]:
        found, expected = bounds.reason(0)
        lines.append(f"*** found {found}; expected {expected}")
    names = ("before image", "after image") if bounds.second else ("row image" if table is None else _side(Change(change)),)
    for name, place in zip(names, (bounds.first, bounds.second), strict=False):
        if place is not None:
            lines += _image_lines(name, record, int(place[0][0]), int(place[1][0]), table, with_hex)
    return lines + (["", "DATA as it is", *byte_lines(record, start)] if bounds.bad[0] else [])


def _side(change: Change) -> str:
    return "after image (the row inserted)" if change is Change.INSERT else "before image (the row deleted)"


def _image_lines(name: str, record: bytes, start: int, end: int, table: TableVersion | None, with_hex: bool) -> list[str]:
    lines = ["", f"{name}: {end - start} bytes at {start}"]
    if start >= len(record) or end < start:
        return [*lines, "*** lies outside the record"]
    image = record[start:end]
    if len(image) < end - start:
        lines.append(f"*** {end - start - len(image)} of its bytes lie outside the record")
    if table is None:
        return [*lines, "*** the table is unknown, and with it the columns", *byte_lines(record[:end], start)]
    rows = [
        (column or "(left over)", start + offset, digits, value) for column, offset, digits, value in describe_image(table.format, image)
    ]
    return lines + field_lines(rows, with_hex)
