"""Connect's schemas, which stand beside the events: the columns of a table by its rows, and how
each value is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from replay.changes.catalog import ColumnFormat, RowFormat, TableVersion
from sqlgen.schema import Column, SqlType

#: Characters that a text may have of which the schema tells no length.
LONGEST = 10_485_760
#: Digits of a decimal whose schema tells no precision (money of PostgreSQL).
_MONEY = 19
_CONNECT, _TIME, _DATA = "org.apache.kafka.connect.data.", "io.debezium.time.", "io.debezium.data."

#: Type of a value without a name -> (type of the column, how it is decoded).
_PLAIN: dict[str, tuple[SqlType, str]] = {
    "int8": (SqlType.SMALLINT, "whole"),
    "int16": (SqlType.SMALLINT, "whole"),
    "int32": (SqlType.INTEGER, "whole"),
    "int64": (SqlType.BIGINT, "whole"),
    "float": (SqlType.REAL, "float"),
    "double": (SqlType.DOUBLE, "float"),
    "boolean": (SqlType.BOOLEAN, "boolean"),
    "string": (SqlType.VARCHAR, "text"),
    "bytes": (SqlType.VARBINARY, "bytes"),
}
#: The same of those with a name.
_NAMED: dict[str, tuple[SqlType, str]] = {
    f"{_CONNECT}Decimal": (SqlType.DECIMAL, "decimal"),
    f"{_CONNECT}Date": (SqlType.DATE, "date"),
    f"{_DATA}VariableScaleDecimal": (SqlType.DECFLOAT, "variable"),
    f"{_DATA}Uuid": (SqlType.VARCHAR, "text"),
    f"{_DATA}Json": (SqlType.VARCHAR, "text"),
    f"{_DATA}Xml": (SqlType.VARCHAR, "text"),
    f"{_DATA}Enum": (SqlType.VARCHAR, "text"),
    f"{_DATA}EnumSet": (SqlType.VARCHAR, "text"),
    f"{_DATA}Ltree": (SqlType.VARCHAR, "text"),
    f"{_TIME}Date": (SqlType.DATE, "date"),
    f"{_TIME}Time": (SqlType.VARCHAR, "time"),
    f"{_TIME}MicroTime": (SqlType.VARCHAR, "time"),
    f"{_TIME}NanoTime": (SqlType.VARCHAR, "time"),
    f"{_TIME}Timestamp": (SqlType.TIMESTAMP, "timestamp"),
    f"{_TIME}MicroTimestamp": (SqlType.TIMESTAMP, "timestamp"),
    f"{_TIME}NanoTimestamp": (SqlType.TIMESTAMP, "timestamp"),
    f"{_TIME}ZonedTimestamp": (SqlType.TIMESTAMP_TZ, "zoned"),
    f"{_TIME}Interval": (SqlType.VARCHAR, "text"),
    f"{_TIME}Year": (SqlType.INTEGER, "whole"),
}
#: Those that MySQL and MariaDB write otherwise.
_BINLOG: dict[str, tuple[SqlType, str]] = {
    f"{_DATA}Enum": (SqlType.VARCHAR, "enum"),
    f"{_DATA}Json": (SqlType.VARCHAR, "json"),
    f"{_DATA}Bits": (SqlType.DECIMAL, "bits"),
    f"{_TIME}MicroTime": (SqlType.VARCHAR, "span"),
}
_DIGITS = {f"{_TIME}MicroTimestamp": 6, f"{_TIME}NanoTimestamp": 9, f"{_TIME}ZonedTimestamp": 6}
_TICKS = {f"{_TIME}Time": 12, f"{_TIME}MicroTime": 15, f"{_TIME}NanoTime": 18}
#: Digits of a number of 64 bits without a sign.
_UNSIGNED_DIGITS = 20

#: Parameters of a column where the connector is asked for its declared type
#: (column.propagate.source.type).
DECLARED, DECLARED_LENGTH = "__debezium.source.column.type", "__debezium.source.column.length"
_TEXTS = {
    **dict.fromkeys(("BPCHAR", "CHAR", "NCHAR"), SqlType.CHAR),
    **dict.fromkeys(("VARCHAR", "NVARCHAR", "VARCHAR2", "NVARCHAR2"), SqlType.VARCHAR),
}
#: Declared types whose values are not exact, or say nothing, in another form than the usual one.
_UNUSUAL = {
    **dict.fromkeys(("BYTEA", "BINARY", "VARBINARY", "TINYBLOB", "BLOB"), "bytes"),
    **dict.fromkeys(("MEDIUMBLOB", "LONGBLOB", "IMAGE", "RAW"), "bytes"),
    "HSTORE": "map",
    **dict.fromkeys(("NUMERIC", "MONEY", "DECIMAL", "DECIMAL UNSIGNED"), "double"),
    **dict.fromkeys(("NUMBER", "SMALLMONEY"), "double"),
}
_LARGE = "BIGINT UNSIGNED"
#: Types that changes of structure declare, by table and column.
DeclaredTypes = dict[tuple[str, str], dict[str, set[str]]]

#: What a key-only image has in a column that must have a value, as text of JSON.
ZEROS = frozenset(
    (
        "0",
        "0.0",
        "",
        "false",
        "AA==",
        "[]",
        "{}",
        "1970-01-01T00:00:00Z",
        '{"scale":0,"value":"AA=="}',
    )
)


@dataclass(frozen=True)
class Shape:
    """How rows of a table are written, the columns of its key, and how what is not exact is written
    (``inexact``, by column). ``whole``: its old rows are."""

    format: RowFormat
    key: tuple[str, ...]
    inexact: Mapping[str, str] = field(default_factory=dict)
    whole: bool = False


def shape(text: str, key: str | None, binlog: bool) -> Shape | None:
    """How rows of a table are written, by the schema of its events, which has the fields ``before``
    and ``after`` (None where it has none), and that of their keys. ``binlog``: of MySQL or MariaDB.
    ValueError where it is no schema."""
    schema = json.loads(text)
    fields = schema.get("fields") if isinstance(schema, Mapping) else None
    if not isinstance(fields, list):
        raise ValueError("found no fields")
    sides = [one for one in fields if one.get("field") in ("before", "after")]
    rows = [one["fields"] for one in sides if one.get("type") == "struct"]
    if not rows:
        return None
    return shape_of(rows[-1], _key_names(key), binlog)


def shape_of(fields: Sequence[Mapping[str, Any]], key: Sequence[str], binlog: bool) -> Shape:
    """How rows of some fields are written."""
    columns = [(_column(entry, binlog), entry) for entry in fields]
    inexact = {
        one.column.name: str(entry.get("name") or entry.get("type"))
        for one, entry in columns
        if one.raw
    }
    return Shape(RowFormat(tuple(one for one, _ in columns)), tuple(key), inexact)


def _column(entry: Mapping[str, Any], binlog: bool) -> ColumnFormat:
    name, kind = entry.get("name"), str(entry.get("type"))
    parameters = entry.get("parameters") or {}
    found = _PLAIN.get(kind) if name is None else _NAMED.get(name)
    if binlog:
        found = _BINLOG.get(str(name), found)
    made, code = found or (SqlType.VARCHAR, "unread")
    declared = str(parameters.get(DECLARED, "")).upper()
    length, scale = LONGEST, 0
    if declared in _UNUSUAL and (kind == _UNUSUAL[declared]) == (_UNUSUAL[declared] == "double"):
        made, code = SqlType.VARCHAR, "unread"
    elif code == "text" and declared in _TEXTS:
        length = min(int(parameters.get(DECLARED_LENGTH, LONGEST)), LONGEST)
        made = _TEXTS[declared] if length < LONGEST else made
    if binlog and (name, kind) == (None, "int64"):
        made, code = _whole_number({declared} - {""})
    if code == "decimal" and int(parameters.get("scale", 0)) < 0:
        code = "unread"
    if code in ("bits", "unsigned"):
        length = _UNSIGNED_DIGITS
    elif code == "decimal":
        length = int(parameters.get("connect.decimal.precision", _MONEY))
        scale = int(parameters.get("scale", 0))
    elif made in (SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ):
        length = _DIGITS.get(str(name), 3)
    elif code in ("time", "span"):
        length = 17 if code == "span" else _TICKS[str(name)]
    elif made not in (SqlType.CHAR, SqlType.VARCHAR, SqlType.VARBINARY):
        length = 0
    column = Column(
        str(entry["field"]),
        made,
        bool(entry.get("optional", False)),
        length,
        scale,
        unsized=length == LONGEST,
    )
    return ColumnFormat(
        column, code, length, scale, column.nullable, variable=True, raw=code == "unread"
    )


def _whole_number(declared: set[str]) -> tuple[SqlType, str]:
    """How a number of 64 bits of MySQL is decoded: one without a sign comes as a negative one, and
    only the declared type tells which it is."""
    if declared == {_LARGE}:
        return SqlType.DECIMAL, "unsigned"
    return SqlType.BIGINT, "whole" if declared and _LARGE not in declared else "either"


def tables_of_change(text: str | None) -> Iterator[tuple[list[str], Sequence[Mapping[str, Any]]]]:
    """The parts of the name of each table that a change of structure (``tableChanges``, text of
    JSON) is about, and its columns."""
    for change in json.loads(text or "[]") or ():
        columns = (change.get("table") or {}).get("columns") or ()
        yield str(change.get("id")).replace('"', "").split("."), columns


def add_declared(changes: pa.Array, types: DeclaredTypes) -> None:
    """Add the types that changes of structure (text of JSON) declare."""
    for text in pc.unique(pc.drop_null(changes)).to_pylist():
        for parts, columns in tables_of_change(text):
            if len(parts) == 2:
                known = types.setdefault((parts[0], parts[1]), {})
                for column in columns:
                    declared = str(column.get("typeName", "")).upper()
                    known.setdefault(str(column.get("name")), set()).add(declared)


def _with_columns(
    version: TableVersion, change: Callable[[ColumnFormat], ColumnFormat]
) -> TableVersion:
    """A table version with other columns."""
    made = tuple(map(change, version.format.columns))
    table = replace(version.table, columns=tuple(entry.column for entry in made))
    return replace(version, table=table, format=RowFormat(made))


def with_declared(version: TableVersion, types: DeclaredTypes, signed: bool) -> TableVersion:
    """A table version whose numbers of 64 bits are decoded as changes of structure tell, or as the
    user does, who knows that they are ``signed``."""
    known = types.get((version.table.schema, version.table.name), {})

    def told(entry: ColumnFormat) -> ColumnFormat:
        if entry.code != "either":
            return entry
        kind, code = _whole_number({"BIGINT"} if signed else known.get(entry.column.name, set()))
        length = _UNSIGNED_DIGITS if code == "unsigned" else 0
        column = replace(entry.column, type=kind, length=length)
        return replace(entry, column=column, code=code, length=length)

    return _with_columns(version, told)


def with_key(version: TableVersion, key: Sequence[str]) -> TableVersion:
    """A table version with a key, whose columns have values in all rows."""

    def told(entry: ColumnFormat) -> ColumnFormat:
        if entry.column.name not in key:
            return entry
        return replace(entry, nullable=False, column=replace(entry.column, nullable=False))

    found = _with_columns(version, told)
    return replace(found, table=replace(found.table, key=tuple(key)))


def in_own_dialect(version: TableVersion, dialect: str) -> TableVersion:
    """A table version as MySQL and MariaDB have it: instants are moments in UTC, for texts have no
    zones there; times, and MySQL's JSON, are compared as such, for their texts there are others."""
    compared = {"span": "TIME(6)"} | ({"json": "JSON"} if dialect == "mysql" else {})

    def told(entry: ColumnFormat) -> ColumnFormat:
        zoned = entry.column.type is SqlType.TIMESTAMP_TZ
        kind = SqlType.TIMESTAMP if zoned else entry.column.type
        column = replace(entry.column, type=kind, compared=compared.get(entry.code, ""))
        return replace(entry, column=column)

    return _with_columns(version, told)


def _key_names(text: str | None) -> tuple[str, ...]:
    """The columns of the key, by the schema of the key of an event; none where one of them may be
    null: a unique index stands for a primary key there, and does not tell such rows apart."""
    fields = ((json.loads(text) if text else None) or {}).get("fields") or ()
    if any(one.get("optional", False) for one in fields):
        return ()
    return tuple(str(one["field"]) for one in fields)
