"""Tables of which events have no schemas: their columns as DDL declares them (``--catalog``), in
the form of the schema that the connector would have written by its default settings."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from replay.errors import InputError, Where
from replay.logs.events.schemas import DECLARED, DECLARED_LENGTH, Shape, shape_of
from sqlgen.ddl.ddl_facts import Facts
from sqlgen.ddl.ddl_reader import read_schema
from sqlgen.errors import SqlgenError

#: What Connect has (type, and name where it is a logical one) of types of any database,
_ANY = {
    ("int16", None): "smallint",
    ("int32", None): "integer, int",
    ("int64", None): "bigint",
    ("string", None): "char, varchar, text",
    ("string", "io.debezium.data.Json"): "json",
    ("int32", "io.debezium.time.Date"): "date",
}
#: of PostgreSQL,
_POSTGRES = {
    ("int16", None): "int2, smallserial",
    ("int32", None): "int4, serial",
    ("int64", None): "int8, bigserial",
    ("float", None): "real, float4",
    ("double", None): "double precision, float8",
    ("boolean", None): "boolean, bool",
    (
        "string",
        None,
    ): "character, bpchar, character varying, citext, inet, cidr, macaddr, int4range,"
    " int8range, numrange, tsrange, tstzrange, daterange",
    ("bytes", None): "bytea",
    ("string", "io.debezium.data.Uuid"): "uuid",
    ("string", "io.debezium.data.Json"): "jsonb",
}
#: and of MySQL and MariaDB.
_MYSQL = {
    ("int16", None): "tinyint, bool, boolean, tinyint unsigned",
    ("int32", None): "smallint unsigned, mediumint, mediumint unsigned",
    ("int64", None): "int unsigned, integer unsigned, bigint unsigned",
    ("double", None): "double",
    ("string", None): "tinytext, mediumtext, longtext",
    ("bytes", None): "binary, varbinary, tinyblob, blob, mediumblob, longblob",
    ("string", "io.debezium.data.Enum"): "enum",
    ("string", "io.debezium.data.EnumSet"): "set",
    ("int32", "io.debezium.time.Year"): "year",
    ("int64", "io.debezium.time.MicroTime"): "time",
    ("string", "io.debezium.time.ZonedTimestamp"): "timestamp",
}
_DECIMAL = "org.apache.kafka.connect.data.Decimal"
_VARIABLE = "io.debezium.data.VariableScaleDecimal"
_TYPE = re.compile(r"^([a-z][a-z0-9 ]*?) ?(?:\(([^()]*)\))?( unsigned| with(?:out)? time zone)?$")
_TIME, _MILLIS = "io.debezium.time.", 3
_SIZED = ("char", "character", "bpchar", "varchar", "character varying")


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

    def shape(self, name: tuple[str, str], row: str | None) -> Shape | None:
        """How rows of a table are written; None for one that is not declared. Names are spelled as
        in ``row``. ValueError where it has others."""
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
        return shape_of(fields, [spelled[one.upper()] for one in key], self.binlog)

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
    parameters = {DECLARED: base}
    if base in _SIZED:
        length = size or (None if "var" in base else 1)
        parameters = {DECLARED: "VARCHAR" if "var" in base else "CHAR"}
        parameters |= {DECLARED_LENGTH: str(length)} if length else {}
    for (kind, logical), types in (*_ANY.items(), *(_MYSQL if binlog else _POSTGRES).items()):
        if base in types.split(", "):
            return kind, logical, parameters
    return declared, None, parameters
