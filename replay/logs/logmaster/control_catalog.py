"""The tables of a control file: generations, columns in order, keys, indexes (format notes,
sections 3 and 4)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from replay.changes.catalog import Catalog, ColumnFormat, RowFormat, TableVersion
from replay.changes.position import LOWEST, Position
from replay.decoding.layout import FieldKind
from replay.errors import InputError, Where, counted
from replay.logs.logmaster.control_columns import (
    SCHEMES,
    ColumnReader,
    check_length,
    check_positions,
)
from replay.logs.logmaster.header_layout import REMAKE_CONTROL, ControlRecord
from replay.logs.logmaster.layouts import CLOCK, CONTROL, DLCI
from sqlgen.schema import Column, Table


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
