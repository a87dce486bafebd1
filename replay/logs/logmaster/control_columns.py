"""A column of a table, as a DLCI record describes it: type, length, code page (format notes,
sections 4.7 and 6.3 to 6.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from replay.changes.catalog import ColumnFormat, TableVersion
from replay.errors import InputError, Where
from replay.logs.logmaster.header_layout import REMAKE_CONTROL, ControlRecord
from sqlgen.schema import Column, SqlType

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
