"""The control file: what it says about the log, its tables and the layout of its data record
headers (format notes, sections 3 to 5)."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from replay.changes.catalog import Catalog, ColumnFormat, RowFormat, TableVersion
from replay.changes.position import LOWEST, Position
from replay.decoding.layout import Field, FieldKind, Layout
from replay.errors import InputError, Where
from replay.logs.logmaster import framing
from replay.logs.logmaster.control_records import control_records
from replay.logs.logmaster.framing import Framing
from replay.logs.logmaster.header_layout import REMAKE_CONTROL, ControlRecord, header_layout
from replay.logs.logmaster.layouts import (
    CONTROL,
    DLCI,
)
from sqlgen.schema import Column, SqlType, Table

_NO_POSITION = {bytes(10), b"\xff" * 10, b"\0" + b"\xff" * 6 + bytes(3), bytes(4) + b"\xff" * 6}


@dataclass(frozen=True)
class ControlFile:
    """A control file. ``common`` is the XTYP record's fields, ``data_set`` those of DLDS and
    ``end`` those of DLGE (empty when there is none)."""

    name: str
    framing: Framing
    common: Mapping[str, Any]
    data_set: Mapping[str, Any]
    end: Mapping[str, Any]
    header: Layout
    header_described: bool
    catalog: Catalog
    counts: Mapping[str, int]
    unknown: Mapping[str, int] = field(default_factory=dict)
    filters: tuple[str, ...] = ()

    @property
    def system_id(self) -> bytes:
        """CNTLFILESYSID as it stands in the data records: four EBCDIC bytes."""
        return str(self.common["CNTLFILESYSID"]).ljust(4).encode("cp037")

    @property
    def dependent_position(self) -> bytes | None:
        """DLGE.DEPENDENTRBA, None where there is no record or it says "none" (section 7.4)."""
        value = self.end.get("DEPENDENTRBA")
        return None if value is None or value in _NO_POSITION else value


def read_control(
    raw: bytes,
    name: str,
    framed: Framing | None,
    ccsids: Mapping[str, int],
    known: dict[bytes, Catalog] | None = None,
) -> ControlFile:
    """Parse a control file. ``ccsids`` overrides the single-byte CCSID per encoding scheme (keys A,
    E, U); ``known`` keeps the catalogs of control files, for others that say the same.

    Raises InputError with the record's number and offset for a missing record, an unusable field or
    columns that contradict each other.
    """
    kind = framing.detect_control(raw[:16], name, framed)
    records = list(control_records(raw, kind, name))
    by_tag: dict[str, list[ControlRecord]] = {}
    for record in records:
        by_tag.setdefault(record.tag, []).append(record)
    common = CONTROL["XTYP"].read(by_tag["XTYP"][0].raw)
    if common["CNTLFILETYPE"] != "DB2":
        first = by_tag["XTYP"][0]
        raise InputError(
            "LR2009",
            f"found {common['CNTLFILETYPE']!r}; expected 'DB2'",
            Where(name, first.number, first.offset, "CNTLFILETYPE"),
            REMAKE_CONTROL,
        )
    data_set = CONTROL["DLDS"].read(by_tag["DLDS"][0].raw) if "DLDS" in by_tag else {}
    end = _end(by_tag["DLGE"][0].raw) if "DLGE" in by_tag else {}
    header = header_layout(by_tag.get("XHDF", []), name)
    catalog = _catalog(_Tables(name, common, data_set, ccsids), by_tag, known)
    counts = Counter(record.tag for record in records)
    return ControlFile(
        name,
        kind,
        common,
        data_set,
        end,
        header,
        "XHDF" in by_tag,
        catalog,
        counts,
        {tag: count for tag, count in counts.items() if tag not in CONTROL},
        tuple(
            CONTROL["DFDS"].read(record.raw)["DESCRIPTION"] or ""
            for record in by_tag.get("DFDS", [])
        ),
    )


#: Control records whose text is of one log alone, beside what :class:`_Tables` is made of.
_OF_ONE_LOG = frozenset({"XTYP", "DLDS", "DLGE", "DFID", "DFDS"})


def _catalog(
    tables: _Tables,
    by_tag: Mapping[str, list[ControlRecord]],
    known: dict[bytes, Catalog] | None,
) -> Catalog:
    """The catalog of a control file, or that of another one with the same records and settings."""
    if known is None:
        return tables.catalog(by_tag)
    digest = hashlib.sha256(repr(tables.settings).encode())
    for tag in sorted(set(by_tag) - _OF_ONE_LOG):
        for record in by_tag[tag]:
            digest.update(len(record.raw).to_bytes(4))
            digest.update(record.raw)
    key = digest.digest()
    if key not in known:
        known[key] = tables.catalog(by_tag)
    return known[key]


def _end(raw: bytes) -> dict[str, Any]:
    """The DLGE record. The positions of releases before v11.1 (:func:`_digits`) are put where the
    UORIDLRSN of their logs is: 6 bytes at byte 1."""
    values = CONTROL["DLGE"].read(raw)
    for name in ("ENDRBA", "DEPENDENTRBA"):
        if digits := _digits("DLGE", raw, name):
            values[name] = b"\0" + digits + bytes(3)
    return values


def _digits(tag: str, raw: bytes, name: str) -> bytes | None:
    """The 6 bytes of a position that is 12 characters of hexadecimal text, as it was before v11.1
    (section 4.4); None of one that is not."""
    place = CONTROL[tag].names[name].offset
    text = raw[place : place + 12].decode("cp037")
    return bytes.fromhex(text) if re.fullmatch("[0-9A-F]{12}", text) else None


#: First byte of six from which on a position is an LRSN, a reading of a clock that began in 1900:
#: it was this in 1971. No RBA has come so far.
_CLOCK = 0x80


def _edge(values: dict[str, Any], raw: bytes, name: str) -> bytes:
    """Where a generation begins or ends: an LRSN, or an RBA without data sharing (section 3)."""
    digits = _digits("DTBI", raw, name)
    if digits is None:
        return values[name] or LOWEST
    if digits in (bytes(6), b"\xff" * 6):
        return digits[:1] * Position.SIZE
    return b"\0" + digits + bytes(3) if digits[0] >= _CLOCK else bytes(4) + digits


#: LLCOLUMNTYPE -> (type, varying, text). Codes that are not here are kept as raw bytes.
COLUMN_TYPES: dict[str, tuple[SqlType, bool, bool]] = {
    "CHAR": (SqlType.CHAR, False, True),
    "VCHR": (SqlType.VARCHAR, True, True),
    "LVCH": (SqlType.VARCHAR, True, True),
    "GRPH": (SqlType.CHAR, False, True),
    "VGRF": (SqlType.VARCHAR, True, True),
    "LVGR": (SqlType.VARCHAR, True, True),
    "INT": (SqlType.INTEGER, False, False),
    "DEC": (SqlType.DECIMAL, False, False),
    "FLOT": (SqlType.DOUBLE, False, False),
    "DATE": (SqlType.DATE, False, False),
    "TIME": (SqlType.TIME, False, False),
    "DTTM": (SqlType.TIMESTAMP, False, False),
    "DTTZ": (SqlType.TIMESTAMP_TZ, False, False),
}
LARGE_OBJECTS = frozenset({"BLOB", "CLOB", "DBCL"})
#: (LLCOLUMNTYPE, LLCOLUMNSUBTYPE) of what a row holds of a large object in place of its value: the
#: first part of one that is stored inline, the number of a document (sections 4.7 and 6.4).
_PARTS_OF_LARGE_OBJECTS = frozenset({("CHAR", "I"), ("VCHR", "I"), ("LVCH", "I"), ("INT", "D")})
_GRAPHIC = frozenset({"GRPH", "VGRF", "LVGR"})
_INTEGERS = {2: SqlType.SMALLINT, 4: SqlType.INTEGER, 8: SqlType.BIGINT}
_FLOATS = {4: SqlType.REAL, 8: SqlType.DOUBLE}
_SCHEMES = {"E": "EBCDIC", "A": "ASCII", "U": "UNICODE"}


#: LLNULLS (section 4.7): nullable, not null, nullable large object; blank where a release does not
#: fill it.
_NULLS = frozenset({"Y", "N", "L", ""})
#: LLCOLUMNSUBTYPE of text: bit data, single-byte, mixed, a part of a large object; blank where it
#: is not filled, as always in LVCH.
_SUBTYPES = frozenset({"B", "S", "M", "I", ""})
#: Bytes that the text of a moment and packed digits can take (section 6.4), by LLCOLUMNTYPE, and
#: the same in words.
_MOMENTS = frozenset({19, *range(21, 33)})
_LENGTHS: dict[str, tuple[frozenset[int], str]] = {
    "DEC": (frozenset(range(1, 17)), "1 to 16 bytes"),
    "DATE": (frozenset({10}), "10"),
    "TIME": (frozenset({8}), "8"),
    "DTTM": (_MOMENTS, "19, or 21 to 32"),
    "DTTZ": (frozenset(length + 6 for length in _MOMENTS), "25, or 27 to 38"),
}


def _numbers(layout: Layout) -> list[tuple[str, Field]]:
    """Fields that hold numbers in text."""
    kinds = FieldKind.NUMBER, FieldKind.HEX
    return [(name, entry) for name, entry in layout.names.items() if entry.kind in kinds]


#: How a record is read, by tag: its layout, and the fields that hold numbers in text.
_Reading = tuple[Layout, list[tuple[str, Field]]]
_READINGS: dict[str, _Reading] = {tag: (entry, _numbers(entry)) for tag, entry in CONTROL.items()}
#: What tells the generation of a table: DBID, TBOBID and SEQUENCENUMBER.
_Generation = tuple[int, int, int]
#: A DLCI record, and the values of its fields, in which the generation may be another one.
_Described = tuple[ControlRecord, dict[str, Any]]
#: What reads no more of a DLCI record than the generation, and where it names that.
_NAMED = DLCI.only("DBID", "TBOBID", "SEQUENCENUMBER")
_OF_GENERATION: _Reading = _NAMED, _numbers(_NAMED)
_IDS = slice(DLCI.names["DBID"].offset, DLCI.names["TBOBID"].end)
_SEQUENCE = slice(DLCI.names["SEQUENCENUMBER"].offset, DLCI.names["SEQUENCENUMBER"].end)


@dataclass(frozen=True)
class _Row:
    """What tables with the same columns share."""

    columns: tuple[Column, ...]
    key: tuple[str, ...]
    format: RowFormat


def _nameless(raw: bytes) -> bytes:
    """A DLCI record without the bytes that name its generation."""
    return raw[: _IDS.start] + raw[_IDS.stop : _SEQUENCE.start] + raw[_SEQUENCE.stop :]


def _runs(records: list[ControlRecord]) -> tuple[list[slice], list[bytes]]:
    """Runs of DLCI records of one generation, and the bytes of each without those that name it."""
    raws = [record.raw for record in records]
    size = len(raws[0])
    if size < _SEQUENCE.stop or any(len(raw) != size for raw in raws):
        # of different lengths: one by one, the length before each
        texts = [len(raw).to_bytes(4) + _nameless(raw) for raw in raws]
        return [slice(place, place + 1) for place in range(len(raws))], texts
    block = np.frombuffer(bytearray().join(raws), np.uint8).reshape(-1, size)
    other = np.zeros(len(block), bool)
    for part in (_IDS, _SEQUENCE):
        other[1:] |= (block[1:, part] != block[:-1, part]).any(axis=1)
        block[:, part] = 0
    cuts = [0, *np.flatnonzero(other).tolist(), len(block)]
    text = block.tobytes()
    runs = [slice(start, stop) for start, stop in itertools.pairwise(cuts)]
    return runs, [text[run.start * size : run.stop * size] for run in runs]


class _Tables:
    """Builds the catalog from DTBI, DLCI, DIXI and DICL records."""

    def __init__(
        self,
        name: str,
        common: Mapping[str, Any],
        data_set: Mapping[str, Any],
        ccsids: Mapping[str, int],
    ) -> None:
        self.name, self.common, self.ccsids = name, common, ccsids
        #: What is described alike, by the dictionaries of :meth:`_columns`.
        self.described: dict[bytes, dict[str, Any]] = {}
        self.formats: dict[tuple[str, int], ColumnFormat] = {}
        self.rows: dict[tuple[str | int, ...], _Row] = {}
        self.expanded = data_set.get("EXPANDVAR") == "Y"
        self.date_format = (
            "SAS" if str(data_set.get("DATEFORMAT") or "").startswith("SAS") else "ISO"
        )

    @property
    def settings(self) -> tuple[Any, ...]:
        """What tables hang on beside their records."""
        pages = {name: value for name, value in self.common.items() if name.endswith("CCSID")}
        return sorted(pages.items()), sorted(self.ccsids.items()), self.expanded, self.date_format

    def catalog(self, by_tag: Mapping[str, list[ControlRecord]]) -> Catalog:
        columns = self._columns(by_tag.get("DLCI", []))
        indexes: dict[tuple[Any, ...], list[str]] = {}
        for record in by_tag.get("DIXI", []) + by_tag.get("DCXI", []):
            values = self._read(record)
            indexes.setdefault(
                (values["DBID"], values["TBOBID"], values["SEQUENCENUMBER"] or 1), []
            ).append(f"{values['IXCREATOR']}.{values['IXNAME']}")
        versions: list[TableVersion] = []
        tables = by_tag.get("DTBI", [])
        if not tables:
            raise InputError(
                "LR2008",
                "found no DTBI record; expected one for each table of the log",
                Where(self.name),
                REMAKE_CONTROL,
            )
        for record, values in zip(tables, self._read_all(tables), strict=True):
            key = (values["DBID"], values["TBOBID"], values["SEQUENCENUMBER"] or 1)
            versions.append(
                self._version(
                    len(versions), record, values, columns.get(key, []), tuple(indexes.get(key, []))
                )
            )
        orphans = set(columns) - {(v.dbid, v.obid, v.sequence) for v in versions}
        if orphans:
            record = columns[min(orphans)][0][0]
            message = (
                f"found DLCI records of {len(orphans)} table generation(s) without a DTBI record;"
                " expected one DTBI for each"
            )
            raise InputError(
                "LR2008", message, Where(self.name, record.number, record.offset), REMAKE_CONTROL
            )
        self._check_generations(versions, tables)
        return Catalog(tuple(versions))

    def _columns(self, records: list[ControlRecord]) -> dict[_Generation, list[_Described]]:
        """DLCI records by table generation. Many say the same but for that: they are read once, and
        described by one dictionary."""
        columns: dict[_Generation, list[_Described]] = {}
        if not records:
            return columns
        runs, texts = _runs(records)
        contents: dict[bytes, list[dict[str, Any]]] = {}
        ids = self._read_all([records[run.start] for run in runs], _OF_GENERATION)
        for run, named, text in zip(runs, ids, texts, strict=True):
            values = contents.get(text)
            if values is None:
                values = contents[text] = self._described(records[run])
            generation = named["DBID"], named["TBOBID"], named["SEQUENCENUMBER"] or 1
            columns.setdefault(generation, []).extend(zip(records[run], values, strict=True))
        return columns

    def _described(self, records: list[ControlRecord]) -> list[dict[str, Any]]:
        """The fields of DLCI records, the same dictionary for records that say the same."""
        return [
            self.described.setdefault(_nameless(record.raw), self._read(record))
            for record in records
        ]

    def _check_generations(self, versions: list[TableVersion], tables: list[ControlRecord]) -> None:
        """Generations of one table that begin at the same position cannot be told apart."""
        first: dict[tuple[int, int, int, bytes], TableVersion] = {}
        for version, record in zip(versions, tables, strict=True):
            other = first.setdefault(
                (version.dbid, version.psid, version.obid, version.created), version
            )
            if other.format != version.format:
                message = (
                    f"found generations {other.sequence} and {version.sequence} of a table with the"
                    " same CREATERBA and other columns"
                )
                where = Where(self.name, record.number, record.offset, "CREATERBA", version.name)
                raise InputError(
                    "LR2009",
                    f"{message}; expected each to begin where the one before it ended",
                    where,
                    REMAKE_CONTROL,
                )

    def _read_all(
        self, records: list[ControlRecord], reading: _Reading | None = None
    ) -> Iterator[dict[str, Any]]:
        """The values of records with one tag; where one lacks a number, all are read one by one, so
        that it is told of when those before it were made use of."""
        layout, numbers = reading or _READINGS[records[0].tag]
        read = layout.read_all([record.raw for record in records])
        if any(values[wanted] is None for wanted, _ in numbers for values in read):
            return (self._read(record, reading) for record in records)
        return iter(read)

    def _read(self, record: ControlRecord, reading: _Reading | None = None) -> dict[str, Any]:
        layout, numbers = reading or _READINGS[record.tag]
        values = layout.read(record.raw)
        for wanted, entry in numbers:
            if values[wanted] is not None:
                continue
            raw = record.raw[entry.offset : entry.end]
            # blanks mean that there is no number; anything else that is not one is damage, and must
            # not pass for zero
            if wanted in ("DBID", "TBOBID") or raw.strip(b"\x40\0"):
                raise InputError(
                    "LR2009",
                    f"found X'{raw.hex().upper()}'; expected a"
                    f" {entry.kind.value.removeprefix('a ').replace(' in EBCDIC text', '')} in"
                    " EBCDIC",
                    Where(self.name, record.number, record.offset + entry.offset, wanted),
                    REMAKE_CONTROL,
                )
        return values

    def _version(
        self,
        index: int,
        record: ControlRecord,
        values: dict[str, Any],
        columns: list[_Described],
        indexes: tuple[str, ...],
    ) -> TableVersion:
        owner = _long_name(values, "TABLEOWNER", "UNTRANOWNERFLAG", "UNITABLEOWNER")
        table = _long_name(values, "TABLENAME", "UNTRANNAMEFLAG", "UNITABLENAME")
        where = Where(self.name, record.number, record.offset, table=f"{owner}.{table}")
        if values["LLNUMCOL"] != len(columns):
            message = f"found {len(columns)} DLCI records; expected {values['LLNUMCOL']} (LLNUMCOL)"
            raise InputError("LR2008", message, where, REMAKE_CONTROL)
        if values["ENCODINGSCHEME"] not in _SCHEMES:
            raise InputError(
                "LR2009",
                f"found ENCODINGSCHEME {values['ENCODINGSCHEME']!r}; expected A, E or U",
                where,
                REMAKE_CONTROL,
            )
        scheme = values["ENCODINGSCHEME"]
        alike = (scheme, *[id(fields) for _, fields in columns])
        if alike not in self.rows:
            ordered = sorted(columns, key=lambda entry: entry[1]["LLCOLUMNNUM"] or 0)
            self.rows[alike] = self._row(ordered, scheme, where)
        row = self.rows[alike]
        return TableVersion(
            index,
            Table(owner, table, row.columns, row.key),
            values["DBID"],
            values["PSID"] or 0,
            values["TBOBID"],
            values["SEQUENCENUMBER"] or 1,
            values["VERSION"] or 0,
            _edge(values, record.raw, "CREATERBA"),
            _edge(values, record.raw, "DROPRBA"),
            values["SHORTOWNER"] or "",
            values["SHORTNAME"] or "",
            row.format,
            values["ROWTYPE"] or "",
            values["EDITPROCNAME"] or "",
            indexes,
            max(0, (values["DB2NUMCOL"] or 0) - len(columns)),
        )

    def _row(self, ordered: list[_Described], scheme: str, where: Where) -> _Row:
        """The columns of a table, which other tables with such columns share."""
        formats: list[ColumnFormat] = []
        for record, fields in ordered:
            alike = scheme, id(fields)
            if alike not in self.formats:
                self.formats[alike] = self._column(record, fields, scheme, where)
            formats.append(self.formats[alike])
        names = {entry.column.name for entry in formats}
        numbers = {fields["LLCOLUMNNUM"] for _, fields in ordered}
        if len(names) != len(ordered) or len(numbers) != len(ordered):
            raise InputError(
                "LR2009",
                "found two columns of the same name or number; expected each once",
                where,
                REMAKE_CONTROL,
            )
        _check_positions(formats, where)
        key = tuple(
            entry.column.name
            for entry in sorted(formats, key=lambda entry: entry.key_sequence)
            if entry.key_sequence
        )
        columns = tuple(entry.column for entry in formats)
        return _Row(columns, key, RowFormat(tuple(formats), self.date_format))

    def _column(
        self, record: ControlRecord, values: dict[str, Any], scheme: str, where: Where
    ) -> ColumnFormat:
        code, length, subtype = (
            str(values["LLCOLUMNTYPE"]),
            values["LLCOLUMNLEN"],
            str(values["LLCOLUMNSUBTYPE"] or ""),
        )
        place = Where(self.name, record.number, record.offset, table=where.table)
        for wanted in ("LLCOLUMNNUM", "LLCOLUMNLEN", *(("LLSCALE",) if code == "DEC" else ())):
            if values[wanted] is None:
                raise InputError(
                    "LR2009",
                    "found no number; expected one",
                    Where(place.file, place.record, place.offset, wanted, place.table),
                    REMAKE_CONTROL,
                )
        name = str(values["COLUMNNAME"] or "")[: values["COLUMNNAMELEN"] or 128]
        kind, varying, text = COLUMN_TYPES.get(code, (SqlType.VARBINARY, False, False))
        raw = code not in COLUMN_TYPES and code not in LARGE_OBJECTS
        lob = code in LARGE_OBJECTS or (code, subtype) in _PARTS_OF_LARGE_OBJECTS
        if values["LLNULLS"] not in _NULLS:
            raise _unusable("LLNULLS", f"{values['LLNULLS']!r}", "Y, N or L", name, place)
        if text and code not in _GRAPHIC and subtype not in _SUBTYPES:
            raise _unusable("LLCOLUMNSUBTYPE", f"{subtype!r}", "B, S, M or I", name, place)
        if code in _LENGTHS and length not in _LENGTHS[code][0]:
            raise _unusable("LLCOLUMNLEN", str(length), _LENGTHS[code][1], name, place)
        if code == "DEC" and not 0 <= values["LLSCALE"] <= 2 * length - 1:
            raise _unusable(
                "LLSCALE",
                str(values["LLSCALE"]),
                f"0 to {2 * length - 1}, the digits of {length} bytes",
                name,
                place,
            )
        if code == "INT":
            kind = _size(_INTEGERS, length, place, name)
        elif code == "FLOT":
            kind = _size(_FLOATS, length, place, name)
        if subtype == "B" and text:
            kind, text = (SqlType.VARBINARY if varying else SqlType.BINARY), False
        ccsid = self._ccsid(scheme, code, subtype) if text else None
        column = Column(
            name,
            kind,
            values["LLNULLS"] in ("Y", "L"),
            length // 2
            if code in _GRAPHIC and _counts_bytes(values)
            else _sql_length(kind, length),
            values["LLSCALE"] or 0,
        )
        nullable = values["LLNULLS"] in ("Y", "L")
        position = -1 if values["LLCOLUMNPOS"] is None else values["LLCOLUMNPOS"]
        return ColumnFormat(
            column, code, length, values["LLSCALE"] or 0, nullable, varying, scheme, subtype, ccsid,
            self.expanded and varying, position, values["KEYSEQ"] or 0, raw, lob,
        )  # fmt: skip

    def _ccsid(self, scheme: str, code: str, subtype: str) -> int | None:
        """XTYP's CCSID for an encoding scheme and kind of data (section 6.5); dummies (0, 65534) of
        a single-byte system fall back to single-byte. Where a system has mixed data, a column that
        does not say whether it holds them may: all text of one byte is the same as mixed data."""
        mixed = subtype == "M" or scheme == "U"
        if not subtype:
            mixed |= self.common.get("MIXED") == "Y" and scheme not in self.ccsids
        kind = "DOUBLE" if code in _GRAPHIC else "MIXED" if mixed else "SINGLE"
        if scheme in self.ccsids and kind == "SINGLE":
            return self.ccsids[scheme]
        value = self.common.get(f"{_SCHEMES[scheme]}{kind}CCSID")
        if value in (None, 0, 65534):
            default = {"DOUBLE": 1200, "MIXED": 1208}.get(kind) if scheme == "U" else None
            value = default or (
                self.common.get(f"{_SCHEMES[scheme]}SINGLECCSID") if kind == "MIXED" else None
            )
        return None if value in (None, 0, 65534) else int(value)


def column_warnings(version: TableVersion) -> Iterator[str]:
    """What a user should know of a table's columns."""
    columns = version.format.columns
    large = [entry.column.name for entry in columns if entry.lob]
    unknown = [f"{entry.column.name} ({entry.code})" for entry in columns if entry.raw]
    long = [
        entry.column.name for entry in columns if entry.code == "LVCH" and not entry.subtype.strip()
    ]
    if version.unlogged:
        yield (
            f"{version.name}: the log lacks {version.unlogged} of its columns: undo does not bring"
            " their values back"
        )
    if large:
        yield (
            f"{version.name}: the values of large object columns are not in the log:"
            f" {', '.join(large)}"
        )
    if unknown:
        yield (
            f"{version.name}: columns of an unknown type are written as hexadecimal bytes:"
            f" {', '.join(unknown)}"
        )
    if long:
        yield (
            f"{version.name}: LONG VARCHAR columns are read as text, as the log does not say"
            f" whether they are FOR BIT DATA: {', '.join(long)}"
        )


def _unusable(field: str, found: str, expected: str, column: str, where: Where) -> InputError:
    place = Where(where.file, where.record, where.offset, field, where.table)
    return InputError(
        "LR2009", f"found {found} for column {column}; expected {expected}", place, REMAKE_CONTROL
    )


def _size(kinds: Mapping[int, SqlType], length: int, where: Where, name: str) -> SqlType:
    if length not in kinds:
        raise _unusable(
            "LLCOLUMNLEN", f"length {length}", " or ".join(map(str, sorted(kinds))), name, where
        )
    return kinds[length]


def _sql_length(kind: SqlType, length: int) -> int:
    """Column.length of the value contract: precision of a decimal, fraction digits of a timestamp,
    else the length in the log."""
    if kind is SqlType.DECIMAL:
        return 2 * length - 1
    if kind is SqlType.TIMESTAMP:
        return max(0, length - 20)
    if kind is SqlType.TIMESTAMP_TZ:
        return max(0, length - 26)
    return length


def _counts_bytes(values: Mapping[str, Any]) -> bool:
    """Whether LLCOLUMNLEN of a graphic column is certain to count bytes, two for each character
    that the column holds: what it takes in the log (LOGLOGBYTES) is no more, but perhaps a null
    byte and the length before it."""
    length, taken = values["LLCOLUMNLEN"], values["LOGLOGBYTES"]
    null, prefix = values["LLNULLS"] == "Y", 2 * (values["LLCOLUMNTYPE"] != "GRPH")
    before = {0, null, prefix, null + prefix}
    return length % 2 == 0 and taken in {length + more for more in before} - {
        2 * length + more for more in before
    }


def _long_name(values: Mapping[str, Any], name: str, flag: str, unicode_name: str) -> str:
    """The full name; the Unicode original where the EBCDIC one could not hold it (section 4.6)."""
    if values.get(flag) == "Y" and values.get(unicode_name):
        size = values.get(f"{unicode_name}LEN") or 128
        return bytes(values[unicode_name][:size]).decode("utf-8", "replace").rstrip(" \0")
    return str(values[name] or "")


def _check_positions(formats: Sequence[ColumnFormat], where: Where) -> None:
    """LLCOLUMNPOS of the columns up to the first varying one must rise by what each column takes
    (section 4.7)."""
    place: int | None = None
    for entry in formats:
        if entry.position < 0:
            break
        if place is not None and entry.position not in (place, place + int(entry.nullable)):
            message = (
                f"found LLCOLUMNPOS {entry.position} for column {entry.column.name}; expected"
                f" {place} after the columns before it"
            )
            raise InputError(
                "LR2009",
                message,
                Where(where.file, where.record, where.offset, "LLCOLUMNPOS", where.table),
                REMAKE_CONTROL,
            )
        if entry.variable or entry.raw or entry.lob or entry.code in _GRAPHIC:
            break
        begins_after_null = place is not None and entry.nullable and entry.position == place + 1
        place = (
            entry.position + entry.length + (int(entry.nullable) if not begins_after_null else 0)
        )
