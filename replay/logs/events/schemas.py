"""Connect's schemas, which stand beside the events: the columns of a table by its rows, and how
each value is written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from replay.changes.catalog import ColumnFormat, RowFormat
from sqlgen.schema import Column, SqlType

#: Characters that a text may have of which the schema tells no length.
_LONGEST = 10_485_760
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
    f"{_CONNECT}Time": (SqlType.VARCHAR, "time3"),
    f"{_CONNECT}Timestamp": (SqlType.TIMESTAMP, "timestamp"),
    f"{_DATA}VariableScaleDecimal": (SqlType.DECFLOAT, "variable"),
    f"{_DATA}Uuid": (SqlType.VARCHAR, "text"),
    f"{_DATA}Json": (SqlType.VARCHAR, "text"),
    f"{_DATA}Xml": (SqlType.VARCHAR, "text"),
    f"{_DATA}Enum": (SqlType.VARCHAR, "text"),
    f"{_DATA}EnumSet": (SqlType.VARCHAR, "text"),
    f"{_DATA}Ltree": (SqlType.VARCHAR, "text"),
    f"{_TIME}Date": (SqlType.DATE, "date"),
    f"{_TIME}Time": (SqlType.VARCHAR, "time3"),
    f"{_TIME}MicroTime": (SqlType.VARCHAR, "time6"),
    f"{_TIME}NanoTime": (SqlType.VARCHAR, "time9"),
    f"{_TIME}Timestamp": (SqlType.TIMESTAMP, "timestamp"),
    f"{_TIME}MicroTimestamp": (SqlType.TIMESTAMP, "timestamp"),
    f"{_TIME}NanoTimestamp": (SqlType.TIMESTAMP, "timestamp"),
    f"{_TIME}ZonedTimestamp": (SqlType.TIMESTAMP_TZ, "zoned"),
    f"{_TIME}Interval": (SqlType.VARCHAR, "text"),
    f"{_TIME}Year": (SqlType.INTEGER, "whole"),
}
_DIGITS = {f"{_TIME}MicroTimestamp": 6, f"{_TIME}NanoTimestamp": 9, f"{_TIME}ZonedTimestamp": 6}
_TICKS = {"time3": 12, "time6": 15, "time9": 18}

#: Parameters of a column where the connector is asked for its declared type
#: (column.propagate.source.type).
_DECLARED, _DECLARED_LENGTH = "__debezium.source.column.type", "__debezium.source.column.length"
_TEXTS = {"BPCHAR": SqlType.CHAR, "CHAR": SqlType.CHAR, "VARCHAR": SqlType.VARCHAR}
#: Declared types whose values are not exact, or say nothing, in another form than the usual one.
_UNUSUAL = {"BYTEA": "bytes", "HSTORE": "map", "NUMERIC": "double", "MONEY": "double"}

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
class RowSchema:
    """How rows of a table are written: the columns, and which of them must have a value."""

    format: RowFormat
    required: tuple[bool, ...]

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [entry.column.name for entry in self.format.columns]


def row_schema(text: str) -> RowSchema | None:
    """The rows of a table by the schema of its events, which has the fields ``before`` and
    ``after``; None where it has none. ValueError where it is no schema."""
    schema = json.loads(text)
    fields = schema.get("fields") if isinstance(schema, Mapping) else None
    if not isinstance(fields, list):
        raise ValueError("found no fields")
    sides = [one for one in fields if one.get("field") in ("before", "after")]
    rows = [one for one in sides if one.get("type") == "struct"]
    if not rows:
        return None
    entries = rows[-1]["fields"]
    return RowSchema(
        RowFormat(tuple(_column(entry) for entry in entries)),
        tuple(not entry.get("optional", False) for entry in entries),
    )


def _column(entry: Mapping[str, Any]) -> ColumnFormat:
    name, kind = entry.get("name"), str(entry.get("type"))
    parameters = entry.get("parameters") or {}
    found = _PLAIN.get(kind) if name is None else _NAMED.get(name)
    made, code = found or (SqlType.VARCHAR, "unread")
    declared = str(parameters.get(_DECLARED, "")).upper()
    length, scale = _LONGEST, 0
    if declared in _UNUSUAL and (kind == _UNUSUAL[declared]) == (_UNUSUAL[declared] == "double"):
        made, code = SqlType.VARCHAR, "unread"
    elif code == "text" and declared in _TEXTS:
        length = min(int(parameters.get(_DECLARED_LENGTH, _LONGEST)), _LONGEST)
        made = _TEXTS[declared] if length < _LONGEST else made
    if code == "decimal":
        length = int(parameters.get("connect.decimal.precision", _MONEY))
        scale = int(parameters.get("scale", 0))
    elif made in (SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ):
        length = _DIGITS.get(str(name), 3)
    elif code in _TICKS:
        length = _TICKS[code]
    elif made not in (SqlType.CHAR, SqlType.VARCHAR, SqlType.VARBINARY):
        length = 0
    column = Column(
        str(entry["field"]),
        made,
        bool(entry.get("optional", False)),
        length,
        scale,
        unsized=length == _LONGEST,
    )
    return ColumnFormat(
        column, code, length, scale, column.nullable, variable=True, raw=code == "unread"
    )


def described(schema: RowSchema, text: str) -> dict[str, str]:
    """Of columns whose values events do not hold exactly: how Debezium writes them."""
    fields = json.loads(text)["fields"]
    rows = [one for one in fields if one.get("field") == "after"] or fields
    return {
        entry.column.name: str(field.get("name") or field.get("type"))
        for entry, field in zip(schema.format.columns, rows[-1]["fields"], strict=True)
        if entry.raw
    }


def key_names(text: str | None) -> tuple[str, ...]:
    """The columns of the key, by the schema of the key of an event; none without."""
    if text is None:
        return ()
    schema = json.loads(text)
    return tuple(str(one["field"]) for one in (schema or {}).get("fields") or ())
