"""Tables of which events have no schemas: their columns as DDL declares them (``--catalog``), in
the form of the schema that the connector would have written by its default settings."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from replay.errors import InputError, Where
from sqlgen.ddl.ddl_facts import Facts
from sqlgen.ddl.ddl_reader import read_schema
from sqlgen.errors import SqlgenError

#: Type of PostgreSQL -> what Connect has of it: type, and name where it is a logical one.
_POSTGRES: dict[str, tuple[str, str | None]] = {
    **dict.fromkeys(("smallint", "int2", "smallserial"), ("int16", None)),
    **dict.fromkeys(("integer", "int", "int4", "serial"), ("int32", None)),
    **dict.fromkeys(("bigint", "int8", "bigserial"), ("int64", None)),
    **dict.fromkeys(("real", "float4"), ("float", None)),
    **dict.fromkeys(("double precision", "float8"), ("double", None)),
    **dict.fromkeys(("boolean", "bool"), ("boolean", None)),
    **dict.fromkeys(("char", "character", "bpchar", "varchar"), ("string", None)),
    **dict.fromkeys(("character varying", "text", "citext"), ("string", None)),
    **dict.fromkeys(("inet", "cidr", "macaddr"), ("string", None)),
    **dict.fromkeys(("int4range", "int8range", "numrange", "tsrange"), ("string", None)),
    **dict.fromkeys(("tstzrange", "daterange"), ("string", None)),
    "bytea": ("bytes", None),
    "uuid": ("string", "io.debezium.data.Uuid"),
    **dict.fromkeys(("json", "jsonb"), ("string", "io.debezium.data.Json")),
    "date": ("int32", "io.debezium.time.Date"),
}
#: The same of MySQL and MariaDB.
_MYSQL: dict[str, tuple[str, str | None]] = {
    **dict.fromkeys(("tinyint", "smallint", "bool", "boolean"), ("int16", None)),
    **dict.fromkeys(("tinyint unsigned",), ("int16", None)),
    **dict.fromkeys(("smallint unsigned", "mediumint", "mediumint unsigned"), ("int32", None)),
    **dict.fromkeys(("int", "integer"), ("int32", None)),
    **dict.fromkeys(("int unsigned", "integer unsigned", "bigint"), ("int64", None)),
    "bigint unsigned": ("int64", None),
    "double": ("double", None),
    **dict.fromkeys(("char", "varchar", "tinytext", "text", "mediumtext"), ("string", None)),
    "longtext": ("string", None),
    **dict.fromkeys(("binary", "varbinary", "tinyblob", "blob", "mediumblob"), ("bytes", None)),
    "longblob": ("bytes", None),
    "json": ("string", "io.debezium.data.Json"),
    "enum": ("string", "io.debezium.data.Enum"),
    "set": ("string", "io.debezium.data.EnumSet"),
    "date": ("int32", "io.debezium.time.Date"),
    "year": ("int32", "io.debezium.time.Year"),
    "time": ("int64", "io.debezium.time.MicroTime"),
    "timestamp": ("string", "io.debezium.time.ZonedTimestamp"),
}
_DECIMAL = "org.apache.kafka.connect.data.Decimal"
_VARIABLE = "io.debezium.data.VariableScaleDecimal"
_TYPE = re.compile(r"^([a-z][a-z0-9 ]*?) ?(?:\(([^()]*)\))?( unsigned| with(?:out)? time zone)?$")
_TIME, _MILLIS = "io.debezium.time.", 3
_SIZED = ("char", "character", "bpchar", "varchar", "character varying")
_DECLARED, _DECLARED_LENGTH = "__debezium.source.column.type", "__debezium.source.column.length"


class DeclaredTables:
    """The tables that the DDL in a file declares."""

    def __init__(self, path: str, binlog: bool) -> None:
        """InputError LR2001 for a file that cannot be read, LR2031 for one that is no DDL."""
        self.path, self.binlog = path, binlog
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
            found = read_schema(text, "mysql" if binlog else "postgres", None, lenient=True)
        except (OSError, UnicodeDecodeError) as error:
            raise InputError("LR2001", f"cannot be read: {error}", Where(path)) from None
        except SqlgenError as error:
            raise InputError("LR2031", error.message, Where(path), error.hint) from None
        keys: dict[str, Sequence[str]] = {}
        for name, key in found.constraints.keys:
            keys.setdefault(name.upper(), key)
        self._tables = {
            f"{schema}.{name}".upper(): (
                [*found.facts.get(place, Facts()).columns.values()],
                keys.get(place.upper(), ()),
            )
            for place, (schema, name) in found.tables.items()
        }

    def schemas(self, name: tuple[str, str], row: str | None) -> tuple[str, str] | None:
        """The schemas of the events of a table and of their keys, as text of JSON; None for a table
        that is not declared. Names are spelled as in ``row``. ValueError where it has others."""
        known = self._tables.get(".".join(name).upper())
        if known is None:
            return None
        columns, key = known
        there = [*json.loads(row)] if row else [one.name.lower() for one in columns]
        spelled = {one.upper(): one for one in there}
        names = [one.name.upper() for one in columns]
        if sorted(spelled) != sorted(names) or len(spelled) < len(there):
            raise ValueError(f"columns {', '.join(there)}, other than {self.path} declares")
        fields = [
            self._field(spelled[upper], one.type, one.nullable and upper not in key)
            for upper, one in zip(names, columns, strict=True)
        ]
        rows = {"field": "after", "type": "struct", "fields": fields}
        of_key = [{"field": spelled[one.upper()]} for one in key]
        return json.dumps({"fields": [rows]}), json.dumps({"fields": of_key})

    def _field(self, name: str, declared: str, optional: bool) -> dict[str, Any]:
        kind, logical, parameters = _connect(declared.lower(), self.binlog)
        return {
            "field": name,
            "type": kind,
            "name": logical,
            "optional": optional,
            "parameters": parameters,
        }


def _connect(declared: str, binlog: bool) -> tuple[str, str | None, dict[str, str]]:
    """Type, name and parameters of a declared type in Connect; what is not known is its own."""
    found = _TYPE.match(declared)
    base, given, rest = found.groups() if found else (declared, None, None)
    sizes = [int(one) for one in (given or "").split(",") if one.strip().isdigit()]
    size, rest = sizes[0] if sizes else None, (rest or "").strip()
    if base in ("numeric", "decimal", "dec"):
        if not sizes and not binlog:
            return "struct", _VARIABLE, {}
        digits, scale = (*(sizes or [10]), 0)[:2]
        given_digits = {"scale": str(scale), "connect.decimal.precision": str(digits)}
        return "bytes", _DECIMAL, given_digits
    if base == "money" and not binlog:
        return "bytes", _DECIMAL, {"scale": "2"}
    # ticks of moments and of times of day depend on their digits
    fine = (size or 0) > _MILLIS if binlog else size is None or size > _MILLIS
    if base == ("datetime" if binlog else "timestamp") and rest != "with time zone":
        return "int64", f"{_TIME}{'Micro' * fine}Timestamp", {}
    if base == "time" and rest != "with time zone" and not binlog:
        return "int64", f"{_TIME}{'Micro' * fine}Time", {}
    if not binlog and f"{base} {rest}" in ("timestamptz ", "timestamp with time zone"):
        return "string", f"{_TIME}ZonedTimestamp", {}
    if base == "bit" and binlog:
        several = size is not None and size > 1
        return ("bytes", "io.debezium.data.Bits", {}) if several else ("boolean", None, {})
    base = f"{base} {rest}".strip()
    parameters = {_DECLARED: base}
    if base in _SIZED:
        length = size or (None if "var" in base else 1)
        parameters = {_DECLARED: "VARCHAR" if "var" in base else "CHAR"}
        parameters |= {_DECLARED_LENGTH: str(length)} if length else {}
    kind, logical = (_MYSQL if binlog else _POSTGRES).get(base, (declared, None))
    return kind, logical, parameters
