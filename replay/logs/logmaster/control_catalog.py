"""The tables of a control file: generations, columns in order with type, length and code page,
keys, indexes (format notes, sections 3, 4 and 6.3 to 6.5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from replay.changes.catalog import Catalog, ColumnFormat, RowFormat, TableVersion
from replay.changes.position import LOWEST, Position
from replay.decoding.layout import FieldKind
from replay.errors import InputError, Where, counted
from replay.logs.logmaster.layouts import CLOCK, CONTROL, DLCI, REMAKE_CONTROL, ControlRecord
from sqlgen.schema import Column, SqlType, Table

#: LLCOLUMNTYPE -> (type, varying, text). Codes that are not here are kept as raw bytes.
_COLUMN_TYPES: dict[str, tuple[SqlType, bool, bool]] = {
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
_LARGE_OBJECTS = frozenset({"BLOB", "CLOB", "DBCL"})
#: (LLCOLUMNTYPE, LLCOLUMNSUBTYPE) of what a row holds of a large object in place of its value: the
#: first part of one that is stored inline, the number of a document (sections 4.7 and 6.4).
_PARTS_OF_LARGE_OBJECTS = frozenset({("CHAR", "I"), ("VCHR", "I"), ("LVCH", "I"), ("INT", "D")})
_GRAPHIC = frozenset({"GRPH", "VGRF", "LVGR"})
_INTEGERS = {2: SqlType.SMALLINT, 4: SqlType.INTEGER, 8: SqlType.BIGINT}
_FLOATS = {4: SqlType.REAL, 8: SqlType.DOUBLE}
#: ENCODINGSCHEME, and how XTYP spells it in the names of its CCSIDs.
SCHEMES = {"E": "EBCDIC", "A": "ASCII", "U": "UNICODE"}

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


@dataclass(frozen=True)
class ColumnReader:
    """What columns hang on beside their records: the name of the control file, the fields of XTYP,
    the CCSIDs that the user gave, and whether varying columns are expanded (DLDS.EXPANDVAR)."""

    name: str
    common: Mapping[str, Any]
    ccsids: Mapping[str, int]
    expanded: bool

    def column(
        self, record: ControlRecord, values: Mapping[str, Any], scheme: str, where: Where
    ) -> ColumnFormat:
        """The column of a DLCI record with these field values, of a table at ``where`` with an
        encoding scheme (E, A or U). InputError LR2009 for a field that cannot be used."""
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
        check_length(values, "COLUMNNAME", place)
        name = str(values["COLUMNNAME"] or "")
        kind, varying, text = _COLUMN_TYPES.get(code, (SqlType.VARBINARY, False, False))
        raw = code not in _COLUMN_TYPES and code not in _LARGE_OBJECTS
        lob = code in _LARGE_OBJECTS or (code, subtype) in _PARTS_OF_LARGE_OBJECTS
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
        bit_data = subtype == "B" and text
        if bit_data:
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
            bit_data=bit_data,
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
        value = self.common.get(f"{SCHEMES[scheme]}{kind}CCSID")
        if value in (None, 0, 65534):
            default = {"DOUBLE": 1200, "MIXED": 1208}.get(kind) if scheme == "U" else None
            value = default or (
                self.common.get(f"{SCHEMES[scheme]}SINGLECCSID") if kind == "MIXED" else None
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


def check_length(values: Mapping[str, Any], field: str, where: Where) -> None:
    """InputError (LR2009) where a name goes on behind the bytes that its length states (section
    4.6): it would be another one's."""
    size, found = values[f"{field}LEN"], str(values[field] or "")
    if size and len(found) > size:
        raise InputError(
            "LR2009",
            f"found {size}, and {found!r}; expected blanks after the {field} of that length",
            Where(where.file, where.record, where.offset, f"{field}LEN", where.table),
            REMAKE_CONTROL,
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


def check_positions(formats: Sequence[ColumnFormat], where: Where) -> None:
    """LLCOLUMNPOS of the columns up to the first varying one must rise by what each column takes
    (section 4.7); else InputError LR2009."""
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


def digits_of(tag: str, raw: bytes, name: str) -> bytes | None:
    """The 6 bytes of a position that is 12 characters of hexadecimal text, as it was before v11.1
    (section 4.4); None of one that is not."""
    place = CONTROL[tag].names[name].offset
    return _digits(raw[place : place + 12])


@lru_cache(maxsize=1 << 12)
def _digits(octets: bytes) -> bytes | None:
    text = octets.decode("cp037")
    return bytes.fromhex(text) if re.fullmatch("[0-9A-F]{12}", text) else None


def widened(digits: bytes) -> bytes:
    """A position of 6 bytes as one of 10: an LRSN from byte 1, an RBA from byte 4 (section 3)."""
    return b"\0" + digits + bytes(3) if digits[0] >= CLOCK else bytes(4) + digits


_NUMBERS = FieldKind.NUMBER, FieldKind.HEX


def _edge(values: dict[str, Any], raw: bytes, name: str) -> bytes:
    """Where a generation begins or ends: an LRSN, or an RBA without data sharing (section 3)."""
    digits = digits_of("DTBI", raw, name)
    if digits is None:
        return values[name] or LOWEST
    if digits in (bytes(6), b"\xff" * 6):
        return digits[:1] * Position.SIZE
    return widened(digits)


#: By tag: the layout, and the fields that hold numbers in text.
_READINGS = {
    tag: (layout, [(name, one) for name, one in layout.names.items() if one.kind in _NUMBERS])
    for tag, layout in CONTROL.items()
}
#: What tells the generation of a table: DBID, TBOBID and SEQUENCENUMBER.
_Generation = tuple[int, int, int]
#: A DLCI record, and the values of its fields, in which the generation may be another one.
_Described = tuple[ControlRecord, dict[str, Any]]
#: Where a DLCI record names the generation.
_IDS = slice(DLCI.names["DBID"].offset, DLCI.names["TBOBID"].end)
_SEQUENCE = slice(DLCI.names["SEQUENCENUMBER"].offset, DLCI.names["SEQUENCENUMBER"].end)


@dataclass(frozen=True)
class _Row:
    """What tables with the same columns share."""

    columns: tuple[Column, ...]
    key: tuple[str, ...]
    format: RowFormat


class CatalogBuilder:
    """Makes the catalog of a control file called ``name`` from its DTBI, DLCI, DIXI and DCXI
    records. ``common`` and ``data_set`` are the fields of XTYP and DLDS, ``ccsids`` as for
    :func:`replay.logs.logmaster.control.read_control`."""

    def __init__(
        self,
        name: str,
        common: Mapping[str, Any],
        data_set: Mapping[str, Any],
        ccsids: Mapping[str, int],
    ) -> None:
        self.name, self.common, self.ccsids = name, common, ccsids
        self.reader = ColumnReader(name, common, ccsids, data_set.get("EXPANDVAR") == "Y")
        #: What is described alike, by the dictionaries of :meth:`_columns`.
        self.formats: dict[tuple[str, int], ColumnFormat] = {}
        self.rows: dict[tuple[str | int, ...], _Row] = {}
        self.date_format = (
            "SAS" if str(data_set.get("DATEFORMAT") or "").startswith("SAS") else "ISO"
        )

    @property
    def settings(self) -> tuple[Any, ...]:
        """What tables hang on beside their records."""
        pages = {name: value for name, value in self.common.items() if name.endswith("CCSID")}
        return (
            sorted(pages.items()),
            sorted(self.ccsids.items()),
            self.reader.expanded,
            self.date_format,
        )

    def catalog(self, by_tag: Mapping[str, list[ControlRecord]]) -> Catalog:
        """The tables that control records, by tag, describe. InputError LR2008 where records of a
        table are missing, LR2009 for a field that cannot be used; both name record and offset."""
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
        for record in tables:
            values = self._read(record)
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
                f"found DLCI records of {counted(len(orphans), 'table generation')} without a DTBI"
                " record;"
                " expected one DTBI for each"
            )
            raise InputError(
                "LR2008", message, Where(self.name, record.number, record.offset), REMAKE_CONTROL
            )
        self._check_generations(versions, tables)
        return Catalog(tuple(versions))

    def _columns(self, records: list[ControlRecord]) -> dict[_Generation, list[_Described]]:
        """DLCI records by table generation. Many say the same but for that: these are read once,
        and described by one dictionary."""
        columns: dict[_Generation, list[_Described]] = {}
        described: dict[bytes, dict[str, Any]] = {}
        generations: dict[tuple[bytes, bytes], _Generation] = {}
        for record in records:
            raw = record.raw
            ids = raw[_IDS], raw[_SEQUENCE]
            text = raw[: _IDS.start] + raw[_IDS.stop : _SEQUENCE.start] + raw[_SEQUENCE.stop :]
            if ids not in generations or text not in described:
                values = self._read(record)
                described.setdefault(text, values)
                generations[ids] = values["DBID"], values["TBOBID"], values["SEQUENCENUMBER"] or 1
            columns.setdefault(generations[ids], []).append((record, described[text]))
        return columns

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

    def _read(self, record: ControlRecord) -> dict[str, Any]:
        layout, numbers = _READINGS[record.tag]
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
        for name in ("TABLEOWNER", "TABLENAME"):
            check_length(values, name, where)
        if values["LLNUMCOL"] != len(columns):
            message = f"found {len(columns)} DLCI records; expected {values['LLNUMCOL']} (LLNUMCOL)"
            raise InputError("LR2008", message, where, REMAKE_CONTROL)
        if values["ENCODINGSCHEME"] not in SCHEMES:
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
                self.formats[alike] = self.reader.column(record, fields, scheme, where)
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
        check_positions(formats, where)
        key = tuple(
            entry.column.name
            for entry in sorted(formats, key=lambda entry: entry.key_sequence)
            if entry.key_sequence
        )
        columns = tuple(entry.column for entry in formats)
        return _Row(columns, key, RowFormat(tuple(formats), self.date_format))


def _long_name(values: Mapping[str, Any], name: str, flag: str, unicode_name: str) -> str:
    """The full name; the Unicode original where the EBCDIC one could not hold it (section 4.6)."""
    if values.get(flag) == "Y" and values.get(unicode_name):
        size = values.get(f"{unicode_name}LEN") or 128
        return bytes(values[unicode_name][:size]).decode("utf-8", "replace").rstrip(" \0")
    return str(values[name] or "")
