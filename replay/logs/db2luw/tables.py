"""Tables of a Db2 LUW log: the catalog export, table descriptors from the log, and the layout of
row images that either gives.

A log names tables by (table space id, table id) only. Names and keys come from the export (format
notes, section 20); the layout comes from the last descriptor in the log, else it is computed from
the export in column order (11.4).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from replay.changes.catalog import ColumnFormat, RowFormat
from replay.errors import InputError, Where
from replay.logs.db2luw import layouts
from replay.logs.db2luw.framing import LuwShape
from replay.logs.db2luw.layouts import number
from replay.storage import read_text
from sqlgen.schema import Column, SqlType, Table

#: (table space id, table id).
TableId = tuple[int, int]

NEEDED = (
    "TBSPACEID",
    "TABLEID",
    "TABSCHEMA",
    "TABNAME",
    "COLNO",
    "COLNAME",
    "TYPENAME",
    "LENGTH",
    "SCALE",
    "NULLS",
)
_HINT = "Export it with the query of `logreplay docs` (collect a log), with a header line"

_SQL_TYPES = {
    "SMALLINT": SqlType.SMALLINT, "INTEGER": SqlType.INTEGER, "BIGINT": SqlType.BIGINT,
    "DECIMAL": SqlType.DECIMAL, "REAL": SqlType.REAL,
    "DOUBLE": SqlType.DOUBLE, "CHARACTER": SqlType.CHAR, "VARCHAR": SqlType.VARCHAR,
    "LONG VARCHAR": SqlType.CLOB, "DATE": SqlType.DATE,
    "TIME": SqlType.TIME, "TIMESTAMP": SqlType.TIMESTAMP, "BLOB": SqlType.BLOB,
    "CLOB": SqlType.CLOB, "BINARY": SqlType.BINARY,
    "VARBINARY": SqlType.VARBINARY, "GRAPHIC": SqlType.CHAR, "VARGRAPHIC": SqlType.VARCHAR,
    "LONG VARGRAPHIC": SqlType.CLOB,
    "DBCLOB": SqlType.CLOB,
}  # fmt: skip
#: What holds text without a code page: FOR BIT DATA.
_OF_BITS = {
    "CHARACTER": SqlType.BINARY,
    "VARCHAR": SqlType.VARBINARY,
    "LONG VARCHAR": SqlType.BLOB,
}
_FIXED = {
    "SMALLINT": 2,
    "INTEGER": 4,
    "BIGINT": 8,
    "REAL": 4,
    "DOUBLE": 8,
    "DATE": 4,
    "TIME": 3,
    "BOOLEAN": 1,
}
#: Types whose value lies behind the fixed section, and those of them whose value is not in the row
#: (or only a large object's first form).
_VARIABLE = (
    "VARCHAR",
    "LONG VARCHAR",
    "DATALINK",
    "BLOB",
    "CLOB",
    "VARGRAPHIC",
    "LONG VARGRAPHIC",
    "DBCLOB",
    "VARBINARY",
    "XML",
)
_LARGE = (*layouts.LOB_TYPES, "LONG VARCHAR", "LONG VARGRAPHIC", "DATALINK", "XML")
_GRAPHIC = ("GRAPHIC", "VARGRAPHIC", "LONG VARGRAPHIC", "DBCLOB")
_SPELLED = {
    "CHAR": "CHARACTER",
    "DEC": "DECIMAL",
    "NUMERIC": "DECIMAL",
    "INT": "INTEGER",
    "FLOAT": "DOUBLE",
    "LONGVAR": "LONG VARCHAR",
}
_UTF16 = 1200
#: In place of a default that the log says to be somebody's own, and not which: no constant.
_OWN = "?"
#: Types whose own default is zero, and those whose is empty (of fixed length: blanks).
_NUMBER_TYPES = ("SMALLINT", "INTEGER", "BIGINT", "DECIMAL", "REAL", "DOUBLE")
_TEXT_TYPES = ("CHARACTER", "VARCHAR", "GRAPHIC", "VARGRAPHIC")


@dataclass(frozen=True)
class LuwTable:
    """A table of the export: its id, name, columns with their layout, and whether it is organized
    by column (TABLEORG C), so that its rows are not in the log."""

    id: TableId
    table: Table
    format: RowFormat
    by_column: bool = False


@lru_cache(maxsize=1 << 16)  # tables share what they have alike
def column_format(
    name: str,
    kind: str,
    length: int,
    scale: int,
    nullable: bool,
    code_page: int,
    offset: int,
    key: int = 0,
    initial: str | None = None,
) -> ColumnFormat:
    """A column by its catalog type; ``length`` in bytes as the catalog or a descriptor gives it (of
    DECIMAL the precision), ``offset`` from the start of the formatted record, ``initial`` as
    :class:`ColumnFormat` has it. Types that are not known are kept as bytes."""
    kind = _SPELLED.get(kind, kind)
    variable = kind in _VARIABLE
    sql = _SQL_TYPES.get(kind, SqlType.BLOB if variable else SqlType.BINARY)
    bit_data = kind in _OF_BITS and code_page == 0
    if bit_data:
        sql = _OF_BITS[kind]
    if kind == "TIMESTAMP":
        column = Column(name, sql, nullable, scale if length != 10 or scale else 6)
    elif kind == "DECIMAL":
        column = Column(name, sql, nullable, length, scale)
    else:
        column = Column(name, sql, nullable, 0 if kind in _LARGE else length)
    size = 4 if variable else fixed_size(kind, length)
    text = sql in (SqlType.CHAR, SqlType.VARCHAR, SqlType.CLOB)
    ccsid = (_UTF16 if kind in _GRAPHIC else code_page) if text else None
    return ColumnFormat(
        column, kind, size, column.scale, nullable, variable, "U", "B" if bit_data else "", ccsid,
        position=offset, key_sequence=key, raw=kind not in _SQL_TYPES, lob=kind in _LARGE,
        initial=initial,
    )  # fmt: skip


def fixed_size(kind: str, length: int) -> int:
    """Bytes of the fixed part of a type without variable part (section 12)."""
    if kind == "DECIMAL":
        return (length + 2) // 2
    if kind == "TIMESTAMP":
        return length if 7 <= length <= 13 else 10
    if kind == "GRAPHIC":
        return 2 * length
    return _FIXED.get(kind, length)


def width(column: ColumnFormat) -> int:
    """Bytes a column takes in the fixed section, its null byte included."""
    return column.length + column.nullable


# -- the export
# -------------------------------------------------------------------------------------------------


def read_export(
    path: str, code_page: int, partitions: str | None = None
) -> dict[TableId, LuwTable]:
    """The tables of a catalog export. ``code_page`` is that of the database, for columns whose row
    does not say.

    InputError LR2031 where the export lacks a column, has an unusable value, or contradicts itself.
    """
    rows: dict[TableId, list[_Line]] = {}
    for line in _lines(path, NEEDED):
        rows.setdefault((line.number("TBSPACEID"), line.number("TABLEID")), []).append(line)
    tables = {key: _table(key, lines, code_page) for key, lines in rows.items()}
    if partitions is not None:
        by_name = {(each.table.schema, each.table.name): each for each in tables.values()}
        for line in _lines(partitions, ("TBSPACEID", "PARTITIONOBJECTID", "TABSCHEMA", "TABNAME")):
            if line.name not in by_name:
                expected = "a table of the catalog export"
                raise line.unusable("TABNAME", ".".join(line.name), expected)
            key = line.number("TBSPACEID"), line.number("PARTITIONOBJECTID")
            tables[key] = by_name[line.name]
    return tables


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of an export, by the names of its columns."""

    path: str
    place: int
    values: Mapping[str, str]

    @property
    def name(self) -> tuple[str, str]:
        """Schema and name of its table."""
        return self.values["TABSCHEMA"].rstrip(), self.values["TABNAME"].rstrip()

    def unusable(self, field: str, found: str, expected: str) -> InputError:
        """An error about one of its values (LR2031)."""
        where = Where(self.path, self.place, None, field)
        return InputError("LR2031", f"found {found!r}; expected {expected}", where, _HINT)

    def number(self, field: str, default: int | None = None) -> int:
        """A value as a number; ``default`` where there is none."""
        text = self.values.get(field, "")
        value = default if default is not None and not text.strip() else _whole_number(text)
        if value is None:
            raise self.unusable(field, text.strip(), "a number")
        return value


def _lines(path: str, needed: Sequence[str]) -> Iterator[_Line]:
    text = read_text(path, "utf-8-sig")
    delimiter = max(",;|\t", key=text.partition("\n")[0].count)
    reader = csv.DictReader(io.StringIO(text), delimiter=delimiter)
    names = {name.strip().upper(): name for name in reader.fieldnames or ()}
    missing = [name for name in needed if name not in names]
    if missing:
        raise InputError(
            "LR2031",
            f"found a catalog export without {', '.join(missing)}; expected {', '.join(needed)}",
            Where(path, 1),
            _HINT,
        )
    for place, row in enumerate(reader, 2):
        yield _Line(path, place, {name: row[spelled] or "" for name, spelled in names.items()})


@lru_cache(maxsize=1 << 16)
def _whole_number(text: str) -> int | None:
    text = text.strip()
    return int(text) if re.fullmatch("-?[0-9]+", text) else None


def _table(key: TableId, lines: list[_Line], code_page: int) -> LuwTable:
    first, names = lines[0], {line.name for line in lines}
    if len(names) > 1:
        tables = " and ".join(sorted(".".join(name) for name in names))
        found = f"{tables} with the ids {key[0]}, {key[1]}"
        raise first.unusable("TABLEID", found, "one table for each pair of ids")
    columns, offset = [], 0
    for place, line in enumerate(sorted(lines, key=lambda line: line.number("COLNO"))):
        if line.number("COLNO") != place:
            expected = f"{place}: every column of the table, from 0"
            raise line.unusable("COLNO", line.values["COLNO"], expected)
        if line.values["NULLS"].strip() not in ("Y", "N"):
            raise line.unusable("NULLS", line.values["NULLS"], "Y or N")
        column = column_format(
            line.values["COLNAME"].rstrip(),
            line.values["TYPENAME"].strip(),
            line.number("LENGTH"),
            line.number("SCALE"),
            line.values["NULLS"].strip() == "Y",
            line.number("CODEPAGE", code_page),
            offset,
            line.number("KEYSEQ", 0),
            _initial(line.values),
        )
        columns.append(column)
        offset += width(column)
    keyed = sorted(
        (column.key_sequence, column.column.name) for column in columns if column.key_sequence
    )
    table = Table(
        *first.name,
        tuple(column.column for column in columns),
        tuple(column for _, column in keyed),
    )
    organization = first.values.get("TABLEORG", "").strip()
    if organization not in ("", "R", "N", "C"):
        raise first.unusable("TABLEORG", organization, "R, C or N")
    return LuwTable(key, table, RowFormat(tuple(columns)), organization == "C")


def _initial(row: Mapping[str, str]) -> str | None:
    """What a column came with, as far as the export says: its default of today, or NULL where it
    has none. An export without DEFAULT does not say."""
    if "DEFAULT" not in row:
        return None
    return row["DEFAULT"].strip() or ("NULL" if row["NULLS"].strip() == "Y" else None)


# -- descriptors in the log
# -------------------------------------------------------------------------------------------------


def descriptor_columns(
    array: bytes, count: int, big: bool, code_page: int
) -> list[ColumnFormat] | None:
    """The columns of ``count`` descriptors (section 11.2), called C1 to Cn; None where they cannot
    be right."""
    if not 0 < count <= layouts.MOST_COLUMNS or len(array) < count * layouts.DESCRIPTOR_SIZE:
        return None
    columns = []
    offsets = [
        number(array, place * layouts.DESCRIPTOR_SIZE, layouts.DESCRIPTOR["offset"], big)
        for place in range(count)
    ]
    for place in range(count):
        entry = array[place * layouts.DESCRIPTOR_SIZE : (place + 1) * layouts.DESCRIPTOR_SIZE]
        values = {name: number(entry, 0, part, big) for name, part in layouts.DESCRIPTOR.items()}
        kind = layouts.FIELD_TYPES.get(values["type"], f"X'{values['type']:04X}'")
        length, scale = values["length"], 0
        if kind == "DECIMAL":
            length, scale = values["precision"], values["scale"]
        elif kind == "TIMESTAMP":  # two digits a byte, behind the seconds
            scale = 2 * (fixed_size(kind, length) - fixed_size(kind, 7))
        nullable = not values["null"] & layouts.NOT_NULLABLE
        if kind == "GRAPHIC":  # the unit of the length is not documented (27.4)
            after = min((other for other in offsets if other > values["offset"]), default=0)
            if after - values["offset"] - nullable != 2 * length:
                length //= 2
        columns.append(
            column_format(
                f"C{place + 1}", kind, length, scale, nullable, code_page, values["offset"],
                initial=_came_with(kind, values["null"]),
            )
        )  # fmt: skip
    offset = 0
    for column in sorted(columns, key=lambda column: column.position):
        if column.position < offset:
            return None
        offset = column.position + width(column)
    return columns


def _came_with(kind: str, flags: int) -> str | None:
    """What a column was added with, by the null flags of its descriptor: a default that is
    somebody's own is not in the log, and that of dates and times is when it was added."""
    if flags & layouts.TYPE_DEFAULT:
        return system_default(kind)
    if flags & layouts.USER_DEFAULT:
        return _OWN
    return None if flags & layouts.NOT_NULLABLE else "NULL"


def system_default(kind: str) -> str | None:
    """What WITH DEFAULT alone gives in a type; None where that depends on the moment."""
    if kind in _NUMBER_TYPES:
        return "0"
    return "''" if kind in _TEXT_TYPES else None


def is_packed(columns: Sequence[ColumnFormat]) -> bool:
    """Whether columns follow each other in their order, without room between them, as those of an
    export do. Descriptors may have them elsewhere: their fixed parts must not overlap, that is
    all."""
    offset = 0
    for column in columns:
        if column.position != offset:
            return False
        offset += width(column)
    return True


def named(
    columns: Sequence[ColumnFormat], key: TableId, table: LuwTable | None
) -> tuple[Table, RowFormat]:
    """Descriptor columns with the names of the export where they are the first columns of the table
    there; else ``TS2.T5`` with C1 to Cn."""
    if (
        table is not None
        and len(table.format.columns) >= len(columns)
        and all(map(_alike, columns, table.format.columns))
    ):
        chosen = tuple(
            replace(theirs, position=ours.position, initial=_came_first(ours, theirs))
            for ours, theirs in zip(columns, table.format.columns, strict=False)
        )
        names = {column.column.name for column in chosen}
        table_key = table.table.key if set(table.table.key) <= names else ()
        return Table(
            table.table.schema,
            table.table.name,
            tuple(column.column for column in chosen),
            table_key,
        ), RowFormat(chosen)
    return Table(
        f"TS{key[0]}", f"T{key[1]}", tuple(column.column for column in columns)
    ), RowFormat(tuple(columns))


def _came_first(ours: ColumnFormat, theirs: ColumnFormat) -> str | None:
    """What a column came with by a descriptor, else by the export; one of its own that only the log
    knows of is not known."""
    stated = theirs.initial not in (None, "NULL")
    return (
        theirs.initial
        if ours.initial is None or (ours.initial == _OWN and stated)
        else ours.initial
    )


def widened(
    table: Table, fmt: RowFormat, old: Sequence[ColumnFormat], new: Sequence[ColumnFormat]
) -> tuple[Table, RowFormat] | None:
    """A table of the ``old`` columns with those that ``new`` has more; None where its columns are
    others, or one of the added has a name of theirs."""
    names = {column.name for column in table.columns}
    added = new[len(old) :]
    if (
        len(fmt.columns) != len(old)
        or not all(map(_alike, old, fmt.columns))
        or any(column.column.name in names for column in added)
    ):
        return None
    return replace(
        table, columns=(*table.columns, *(column.column for column in added))
    ), RowFormat((*fmt.columns, *added))


def _alike(ours: ColumnFormat, theirs: ColumnFormat) -> bool:
    same_type = (
        ours.code == theirs.code
        and ours.nullable == theirs.nullable
        and ours.length == theirs.length
    )
    return same_type and (
        ours.variable
        or ours.code != "DECIMAL"
        or (ours.column.length, ours.scale) == (theirs.column.length, theirs.scale)
    )


def described(
    payload: bytes, shape: LuwShape, code_page: int
) -> tuple[list[ColumnFormat] | None, int]:
    """The columns of an initialize-table record, and its flags. Where v97 has the description is
    not published: the place that closes the record counts."""
    for dialect in (shape.dialect, layouts.DIALECTS["v7"], layouts.DIALECTS["v10"]):
        layout = dialect.initialize
        start, size = layout["description"].offset, number(payload, 0, layout["size"], shape.big)
        count = number(payload, start, layouts.DESCRIPTION["columns"], shape.big)
        if (
            start + size == len(payload)
            and count * layouts.DESCRIPTOR_SIZE + layouts.DESCRIPTION["array"].offset <= size
        ):
            columns = descriptor_columns(
                payload[start + layouts.DESCRIPTION["array"].offset :], count, shape.big, code_page
            )
            if columns is not None:
                return columns, number(payload, 0, layout["flags"], shape.big)
    return None, 0


def added_columns(
    payload: bytes, shape: LuwShape, code_page: int
) -> tuple[list[ColumnFormat], list[ColumnFormat]] | None:
    """(columns before, columns after) of an add-columns record; the former must be the first of the
    latter."""
    counts = [number(payload, 0, layouts.ADD_COLUMNS[name], shape.big) for name in ("old", "new")]
    each = layouts.DESCRIPTOR_SIZE + layouts.LOB_DESCRIPTOR_SIZE
    start = layouts.ADD_COLUMNS["arrays"].offset
    rest = len(payload) - start - each * sum(counts)
    if not 0 <= rest <= layouts.ADD_COLUMNS_TAIL or counts[1] <= counts[0]:
        return None
    old = descriptor_columns(payload[start:], counts[0], shape.big, code_page)
    new = descriptor_columns(payload[start + each * counts[0] :], counts[1], shape.big, code_page)
    if old is None or new is None or old != new[: len(old)]:
        return None
    return old, new
