"""Kafka Connect schemas of Debezium's events, and the events that are no changes of rows: changes
of structure, and where units begin and end (documentation of its connectors, "Data type mappings",
"Schema change topic", "Transaction metadata")."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Index
from replay.changes import order
from replay.output.formats import STRUCTURE, TRANSACTIONS, Dataset, topic_named
from sqlgen.schema import Column, SqlType
from sqlgen.statements import joined
from sqlgen.structure import Action

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


def plain(field: str, kind: str, optional: bool = False) -> Schema:
    """That of a field of a plain type."""
    return {"type": kind, "optional": optional, "field": field}


#: The schema of ``source``.
SOURCE = struct(
    f"{PREFIX}.Source", [plain(*entry) for entry in SOURCE_FIELDS], False, field="source"
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
    if dataset.table is TRANSACTIONS:
        return Schemas(UNIT_KEY, UNIT_VALUE)
    if dataset.table is STRUCTURE:
        return Schemas(STRUCTURE_KEY, STRUCTURE_VALUE)
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
        plain("id", "string"),
        plain("total_order", "int64"),
        plain("data_collection_order", "int64"),
    ]
    fields = [
        struct(f"{topic}.Value", columns, True, field="before"),
        struct(f"{topic}.Value", columns, True, field="after"),
        SOURCE,
        struct("event.block", block, True, version=1, field="transaction"),
        plain("op", "string"),
        plain("ts_ms", "int64", True),
    ]
    return Schemas(key, struct(f"{topic}.Envelope", fields, False, version=1))


def topic_of(dataset: Dataset) -> str:
    """The topic of a dataset's events; all generations of a table share it."""
    return topic_named((PREFIX, *dataset.topic))


# -- changes of structure
# -------------------------------------------------------------------------------------------------

#: ``java.sql.Types`` of each type.
_JDBC: dict[str, int] = {
    SqlType.SMALLINT.value: 5,
    SqlType.INTEGER.value: 4,
    SqlType.BIGINT.value: -5,
    SqlType.DECIMAL.value: 3,
    SqlType.REAL.value: 7,
    SqlType.DOUBLE.value: 8,
    SqlType.CHAR.value: 1,
    SqlType.VARCHAR.value: 12,
    SqlType.BINARY.value: -2,
    SqlType.VARBINARY.value: -3,
    SqlType.DATE.value: 91,
    SqlType.TIME.value: 92,
    SqlType.TIMESTAMP.value: 93,
    SqlType.TIMESTAMP_TZ.value: 2014,
    SqlType.BOOLEAN.value: 16,
    SqlType.CLOB.value: 2005,
    SqlType.BLOB.value: 2004,
    SqlType.XML.value: 2009,
}
_OTHER = 1111
_KINDS = {
    Action.CREATE_TABLE.value: "CREATE",
    Action.DROP_TABLE.value: "DROP",
    Action.ADD_COLUMNS.value: "ALTER",
    Action.DROP_COLUMNS.value: "ALTER",
    Action.RENAME_TABLE.value: "ALTER",
    Action.RENAME_COLUMN.value: "ALTER",
}
_STATEMENT = re.compile(r"\s*(CREATE|ALTER|DROP)\s+TABLE\b", re.IGNORECASE)
#: Fields of a column: name, type, may be null.
_COLUMN: tuple[tuple[str, str, bool], ...] = (
    ("name", "string", False), ("jdbcType", "int32", False), ("nativeType", "int32", True),
    ("typeName", "string", False),
    ("typeExpression", "string", True), ("charsetName", "string", True), ("length", "int32", True),
    ("scale", "int32", True),
    ("position", "int32", False), ("optional", "boolean", True),
    ("autoIncremented", "boolean", True), ("generated", "boolean", True),
)  # fmt: skip


def _array(items: Schema, field: str) -> Schema:
    return {"type": "array", "items": items, "optional": False, "field": field}


_TABLE_SCHEMA = struct(
    "io.debezium.connector.schema.Table",
    [
        plain("defaultCharsetName", "string", True),
        _array({"type": "string", "optional": False}, "primaryKeyColumnNames"),
        _array(
            struct(
                "io.debezium.connector.schema.Column", [plain(*entry) for entry in _COLUMN], False
            ),
            "columns",
        ),
    ],
    True,
    field="table",
)
#: Those of the key and value of a change of structure.
STRUCTURE_KEY = struct(
    "logreplay.SchemaChangeKey", [plain("databaseName", "string")], False, version=1
)
STRUCTURE_VALUE = struct(
    "logreplay.SchemaChangeValue",
    [
        SOURCE,
        plain("ts_ms", "int64", True),
        plain("databaseName", "string", True),
        plain("schemaName", "string", True),
        plain("ddl", "string", True),
        _array(
            struct(
                "io.debezium.connector.schema.Change",
                [plain("type", "string"), plain("id", "string"), _TABLE_SCHEMA],
                False,
            ),
            "tableChanges",
        ),
    ],
    False,
    version=1,
)


def fields_of(
    database: str,
    owner: str,
    table: str,
    action: str,
    definition: str,
    old_name: str,
    new_name: str,
    statement: str,
    note: str,
) -> str:
    """What the value says after ``source`` and ``ts_ms``, as JSON without the braces. What the log
    has no statement for is a comment in ``ddl``."""
    changes = []
    kind = _kind(action, statement)
    if kind:
        described = None if kind == "DROP" else _table(json.loads(definition))
        changes.append(
            {"type": kind, "id": f'"{database}"."{owner}"."{table}"', "table": described}
        )
    renamed = f" {old_name} to {new_name}" if new_name else ""
    ddl = statement or f"-- {owner}.{table}: {note or action + renamed}"
    said = {"databaseName": database, "schemaName": owner, "ddl": ddl, "tableChanges": changes}
    return json.dumps(said, ensure_ascii=True, separators=(",", ":"))[1:-1]


def _kind(action: str, statement: str) -> str:
    """What happened to the table itself: CREATE, ALTER, DROP, or nothing ('')."""
    words = _STATEMENT.match(statement)
    return words[1].upper() if words else _KINDS.get(action, "")


def _table(definition: dict[str, Any]) -> dict[str, Any]:
    columns = []
    for position, column in enumerate(definition["columns"], 1):
        kind = column["type"]
        scaled = kind == SqlType.DECIMAL.value
        columns.append(
            {
                "name": column["name"],
                "jdbcType": _JDBC.get(kind, _OTHER),
                "nativeType": None,
                "typeName": kind,
                "typeExpression": kind,
                "charsetName": None,
                "length": column["length"] or None,
                "scale": column["scale"] if scaled else None,
                "position": position,
                "optional": column["nullable"],
                "autoIncremented": None,
                "generated": None,
            }
        )
    return {
        "defaultCharsetName": None,
        "primaryKeyColumnNames": definition["key"],
        "columns": columns,
    }


# -- units
# -------------------------------------------------------------------------------------------------

_COLLECTION = struct(
    "event.collection",
    [
        plain("data_collection", "string"),
        plain("event_count", "int64"),
    ],
    False,
    version=1,
)
#: The schemas of key and value of a BEGIN or END.
UNIT_KEY = struct(
    "io.debezium.connector.common.TransactionMetadataKey",
    [plain("id", "string")],
    False,
    version=1,
)
UNIT_VALUE = struct(
    "io.debezium.connector.common.TransactionMetadataValue",
    [
        plain("status", "string"),
        plain("id", "string"),
        plain("event_count", "int64", True),
        {"type": "array", "items": _COLLECTION, "optional": True, "field": "data_collections"},
        plain("ts_ms", "int64", True),
    ],
    False,
    version=1,
)


def unit_id(urid: pa.Array, member: pa.Array) -> pa.Array:
    """What ``transaction.id`` says of units: URID, and the member where it is known."""
    return pc.binary_join_element_wise(
        urid, pc.cast(member, pa.string()), "/", null_handling="skip"
    )


def unit_lines(
    ids: pa.Array,
    moments: pa.Array,
    unit: Index,
    collection: Sequence[str],
    events: Index,
    wraps: tuple[tuple[str, str], tuple[str, str]],
) -> pa.Array:
    """BEGIN and END of ``n`` units, two lines in one text each.

    ``ids`` and ``moments`` (milliseconds as JSON) have ``n`` texts; ``unit`` (rising, each of 0 to
    n - 1 at least once), ``collection`` and ``events`` say how many events a unit has in a data
    collection. ``wraps``: what stands before and behind each key and value (their schemas).
    """
    names = pa.array([json.dumps(name, ensure_ascii=False) for name in collection], pa.string())
    entries = joined(
        [
            '{"data_collection":',
            names,
            ',"event_count":',
            pc.cast(pa.array(events), pa.string()),
            "}",
        ],
        len(unit),
    )
    starts = order.run_starts(unit)
    offsets = pa.array(np.append(starts, len(unit)).astype(np.int32))
    listed = pc.binary_join(pa.ListArray.from_arrays(offsets, entries), ",")
    total = pc.cast(pa.array(np.add.reduceat(events, starts)), pa.string())
    (key_before, key_after), (before, after) = wraps
    topic = json.dumps(f"{PREFIX}.transaction")
    head: list[str | pa.Array] = [
        f'{{"topic":{topic},"key":{key_before}{{"id":"',
        ids,
        f'"}}{key_after},"value":{before}{{"status":"',
    ]
    return joined(
        [
            *head,
            'BEGIN","id":"',
            ids,
            '","event_count":null,"data_collections":null,"ts_ms":',
            moments,
            f"}}{after}}}\n",
            *head,
            'END","id":"',
            ids,
            '","event_count":',
            total,
            ',"data_collections":[',
            listed,
            '],"ts_ms":',
            moments,
            f"}}{after}}}",
        ],
        len(ids),
    )


def wrapped(schema: Schema | None, inline: bool) -> tuple[str, str]:
    """What stands before and behind a payload: its schema, or nothing."""
    if schema is None or not inline:
        return "", ""
    text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    return f'{{"schema":{text},"payload":', "}"
