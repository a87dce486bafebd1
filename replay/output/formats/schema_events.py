"""Debezium schema change events (documentation of its connectors, "Schema change topic"): what
happened to a table's structure, and the table."""

from __future__ import annotations

import json
import re
from typing import Any

from replay.output.formats.connect import SOURCE, Schema, struct
from sqlgen.schema import SqlType
from sqlgen.structure import Action

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
_TYPES = {
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


def _plain(field: str, kind: str, optional: bool) -> Schema:
    return {"type": kind, "optional": optional, "field": field}


_TABLE = struct(
    "io.debezium.connector.schema.Table",
    [
        _plain("defaultCharsetName", "string", True),
        _array({"type": "string", "optional": False}, "primaryKeyColumnNames"),
        _array(
            struct(
                "io.debezium.connector.schema.Column", [_plain(*entry) for entry in _COLUMN], False
            ),
            "columns",
        ),
    ],
    True,
    field="table",
)
#: The schemas of key and value.
KEY = struct(
    "logreplay.SchemaChangeKey", [_plain("databaseName", "string", False)], False, version=1
)
VALUE = struct(
    "logreplay.SchemaChangeValue",
    [
        SOURCE,
        _plain("ts_ms", "int64", True),
        _plain("databaseName", "string", True),
        _plain("schemaName", "string", True),
        _plain("ddl", "string", True),
        _array(
            struct(
                "io.debezium.connector.schema.Change",
                [_plain("type", "string", False), _plain("id", "string", False), _TABLE],
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
    return words[1].upper() if words else _TYPES.get(action, "")


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
