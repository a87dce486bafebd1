"""Kafka Connect schemas of datasets, with Debezium's semantic types (documentation of its Db2
connector, "Data type mappings")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from replay.output.formats import Dataset, topic_named
from sqlgen.schema import Column, SqlType

Schema = dict[str, Any]

#: Topics, and the names of schemas, begin with it.
PREFIX = "logreplay"

_SCHEMAS: dict[SqlType, Schema] = {
    SqlType.SMALLINT: {"type": "int16"},
    SqlType.INTEGER: {"type": "int32"},
    SqlType.BIGINT: {"type": "int64"},
    SqlType.REAL: {"type": "float"},
    SqlType.DOUBLE: {"type": "double"},
    SqlType.BOOLEAN: {"type": "boolean"},
    SqlType.BINARY: {"type": "bytes"},
    SqlType.VARBINARY: {"type": "bytes"},
    SqlType.BLOB: {"type": "bytes"},
    SqlType.DATE: {"type": "int32", "name": "io.debezium.time.Date", "version": 1},
    SqlType.TIME: {"type": "int32", "name": "io.debezium.time.Time", "version": 1},
    SqlType.TIMESTAMP_TZ: {
        "type": "string",
        "name": "io.debezium.time.ZonedTimestamp",
        "version": 1,
    },
    SqlType.XML: {"type": "string", "name": "io.debezium.data.Xml", "version": 1},
}
#: Fraction digits up to which a timestamp has a schema, its name, and the unit it counts.
_TIMESTAMPS = ((3, "Timestamp", "ms"), (6, "MicroTimestamp", "us"), (12, "NanoTimestamp", "ns"))
#: The fraction digits of a source that declares none: nanoseconds do not reach 9999-12-31, which
#: many tables have for ever, and few clocks tell them.
UNSIZED_DIGITS = 6

#: ``source``: name, type, may be null. The facts of the unit that Debezium has no place for stand
#: there too.
SOURCE_FIELDS: tuple[tuple[str, str, bool], ...] = (
    ("version", "string", False), ("connector", "string", False), ("name", "string", False),
    ("ts_ms", "int64", True),
    ("snapshot", "string", True), ("db", "string", False), ("schema", "string", False),
    ("table", "string", False),
    ("change_lsn", "string", True), ("commit_lsn", "string", True), ("urid", "string", True),
    ("member", "int32", True),
    ("authid", "string", True), ("plan", "string", True), ("correlation_id", "string", True),
    ("connection_id", "string", True),
    ("origin", "string", True), ("log_file", "string", True), ("log_record", "int64", True),
)  # fmt: skip


def struct(name: str, fields: list[Schema], optional: bool, **more: Any) -> Schema:
    """The schema of a struct; ``more`` are its ``field`` and ``version``."""
    return {"type": "struct", "fields": fields, "optional": optional, "name": name, **more}


#: The schema of ``source``.
SOURCE = struct(
    f"{PREFIX}.Source",
    [{"type": kind, "optional": optional, "field": name} for name, kind, optional in SOURCE_FIELDS],
    False,
    field="source",
)


def column_schema(column: Column, name: str) -> Schema:
    """The Kafka Connect schema of a column."""
    schema = _SCHEMAS.get(column.type, {"type": "string"})
    if column.type is SqlType.TIMESTAMP:
        schema = {
            "type": "int64",
            "name": f"io.debezium.time.{timestamp_of(column)[1]}",
            "version": 1,
        }
    return {**schema, "optional": column.nullable, "field": name}


def timestamp_of(column: Column) -> tuple[int, str, str]:
    """Of a timestamp: up to how many fraction digits it has, the name of its type and the unit it
    counts."""
    digits = UNSIZED_DIGITS if column.unsized else column.length
    return next(entry for entry in _TIMESTAMPS if digits <= entry[0])


@dataclass(frozen=True)
class Schemas:
    """The schemas of a dataset's events: of the key (None without one) and of the value."""

    key: Schema | None
    value: Schema


def schemas_of(dataset: Dataset) -> Schemas:
    """The schemas of the events of a dataset."""
    topic = topic_of(dataset).replace("-", "_")  # which names of Avro have none of
    columns = [
        column_schema(column, name)
        for column, name in zip(dataset.columns, dataset.names, strict=True)
    ]
    key = (
        struct(f"{topic}.Key", [entry for entry in columns if entry["field"] in dataset.key], False)
        if dataset.key
        else None
    )
    block = [
        {"type": "string", "optional": False, "field": "id"},
        {"type": "int64", "optional": False, "field": "total_order"},
        {"type": "int64", "optional": False, "field": "data_collection_order"},
    ]
    fields = [
        struct(f"{topic}.Value", columns, True, field="before"),
        struct(f"{topic}.Value", columns, True, field="after"),
        SOURCE,
        struct("event.block", block, True, version=1, field="transaction"),
        {"type": "string", "optional": False, "field": "op"},
        {"type": "int64", "optional": True, "field": "ts_ms"},
    ]
    return Schemas(key, struct(f"{topic}.Envelope", fields, False, version=1))


def topic_of(dataset: Dataset) -> str:
    """The topic of a dataset's events; all generations of a table share it."""
    return topic_named((PREFIX, *dataset.topic))
