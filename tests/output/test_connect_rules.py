"""Events by the rules of Kafka Connect's JsonConverter (its documentation, and that of Connect's
data types), written down here anew: what a consumer takes apart with ``schemas.enable=true``."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.exported import export
from tests.support.places import FIXTURES

SMALL = FIXTURES / "sakila" / "small"
LOG = ["--control", str(SMALL / "small.ctl"), "--data", str(SMALL / "small.dat")]
#: Whole numbers by type, in bits.
BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
PLAIN = {*BITS, "float", "double", "boolean", "string", "bytes"}
#: What a schema may say beside its type.
SAYS = {"type", "optional", "name", "version", "doc", "parameters", "default", "field"}
#: Logical types, and the types that carry them.
LOGICAL = {
    "org.apache.kafka.connect.data.Decimal": "bytes",
    "io.debezium.time.Date": "int32",
    "io.debezium.time.Time": "int32",
    "io.debezium.time.Timestamp": "int64",
    "io.debezium.time.MicroTimestamp": "int64",
    "io.debezium.time.NanoTimestamp": "int64",
    "io.debezium.time.ZonedTimestamp": "string",
    "io.debezium.data.Xml": "string",
}


def schema_fault(schema: Mapping[str, Any]) -> str | None:
    """What is wrong with a schema."""
    kind = schema.get("type")
    if kind not in PLAIN | {"struct", "array", "map"}:
        return f"type {kind!r}"
    more = {"struct": {"fields"}, "array": {"items"}, "map": {"keys", "values"}}.get(kind, set())
    if set(schema) - SAYS - more:
        return f"{kind} says {sorted(set(schema) - SAYS - more)}"
    if type(schema.get("optional")) is not bool:
        return f"{kind} does not say whether it is optional"
    if type(schema.get("version", 1)) is not int:
        return f"version {schema['version']!r}"
    if any(type(value) is not str for value in schema.get("parameters", {}).values()):
        return "a parameter that is no text"
    name = schema.get("name")
    if name in LOGICAL and kind != LOGICAL[name]:
        return f"{name} carried by {kind}"
    if name == "org.apache.kafka.connect.data.Decimal" and "scale" not in schema["parameters"]:
        return "a Decimal without scale"
    fields = schema.get("fields", ())
    names = [field.get("field") for field in fields]
    if None in names or len(set(names)) != len(names):
        return f"fields {names}"
    inside = [*fields, *(schema[part] for part in ("items", "keys", "values") if part in schema)]
    return next((fault for one in inside if (fault := schema_fault(one))), None)


def value_fault(schema: Mapping[str, Any], value: Any) -> str | None:
    """What keeps a value from being read by its schema."""
    kind = schema["type"]
    if value is None:
        return None if schema["optional"] else f"null in {schema.get('field')}"
    if kind == "struct":
        names = {field["field"] for field in schema["fields"]}
        if not isinstance(value, dict) or set(value) != names:
            return f"{schema.get('name')} with other fields"
        faults = (value_fault(field, value[field["field"]]) for field in schema["fields"])
        return next((fault for fault in faults if fault), None)
    if kind == "array":
        return next((fault for one in value if (fault := value_fault(schema["items"], one))), None)
    if kind in BITS:
        limit = 1 << BITS[kind] - 1
        fits = type(value) is int and -limit <= value < limit
    elif kind == "bytes":
        fits = isinstance(value, str)
        base64.b64decode(value, validate=True)
    elif kind in ("float", "double"):
        fits = type(value) in (int, float)
    else:
        fits = type(value) is {"boolean": bool, "string": str}[kind]
    return None if fits else f"{value!r} in {schema.get('field')} of type {kind}"


def event_fault(event: Mapping[str, Any]) -> str | None:
    """What is wrong with a record: key, value and headers are envelopes, or null."""
    parts = [event["key"], event["value"], *event.get("headers", {}).values()]
    for part in parts:
        if part is None:
            continue
        if set(part) != {"schema", "payload"}:
            return f"an envelope of {sorted(part)}"
        if part["schema"] is None:
            return "an envelope without schema"
        fault = schema_fault(part["schema"]) or value_fault(part["schema"], part["payload"])
        if fault:
            return fault
    return None


def test_every_event_is_read_by_the_rules(tmp_path: Path) -> None:
    manifest = export([*LOG, "--engine", "local"], tmp_path / "out", "--format", "debezium")
    faults: list[str | None] = []
    for path in sorted((tmp_path / "out").glob("*/*/*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            faults += [event_fault(json.loads(line)) for line in lines]
    # a delete is followed by its tombstone, and units begin and end
    assert len(faults) >= manifest["changes"] + 2 * manifest["units"]
    assert set(faults) == {None}


TEXT = {"type": "string", "optional": False, "field": "a"}
BROKEN = {
    "another type": {"type": "int128", "optional": True},
    "not whether optional": {"type": "int32"},
    "two fields of a name": {"type": "struct", "optional": True, "fields": [TEXT, TEXT]},
    "another carrier": {"type": "int64", "optional": True, "name": "io.debezium.time.Date"},
    "a parameter": {"type": "bytes", "optional": True, "parameters": {"scale": 2}},
    "another word": {"type": "bytes", "optional": True, "nullable": True},
}


@pytest.mark.parametrize("schema", BROKEN.values(), ids=BROKEN)
def test_the_rules_refuse_a_schema(schema: dict[str, Any]) -> None:
    assert schema_fault(schema)


@pytest.mark.parametrize(
    ("kind", "value"), [("int16", 32768), ("int32", 1.0), ("string", 1), ("boolean", 0)]
)
def test_the_rules_refuse_a_value(kind: str, value: Any) -> None:
    assert value_fault({"type": kind, "optional": False}, value)
