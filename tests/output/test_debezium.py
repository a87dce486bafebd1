"""Debezium events: the envelope, its schemas, keys, tombstones and numbers."""

from __future__ import annotations

import base64
import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from replay.cli.main import main
from replay.pipeline import partition
from tests.output.test_datasets import FULL, KINDS, NULLS, lines, written
from tests.support.exported import export
from tests.support.logbuilder import ACCT, Col, LogBuilder, Tab, acct

FREE = Tab("FREE", (Col("A", "INT", 4), Col("B", "VCHR", 10, nulls="Y")), obid=8)
_TYPES: dict[str, tuple[type, ...]] = {
    "int16": (int,), "int32": (int,), "int64": (int,), "float": (float, int),
    "double": (float, int), "boolean": (bool,), "string": (str,),
    "bytes": (str,),
}  # fmt: skip


def check(schema: dict[str, Any], value: Any, where: str) -> None:
    """Fails unless ``value`` is what a Kafka Connect ``schema`` says, with no field more or
    less."""
    if value is None:
        assert schema["optional"], f"{where} is null"
        return
    if schema["type"] == "struct":
        assert set(value) == {field["field"] for field in schema["fields"]}, where
        for field in schema["fields"]:
            check(field, value[field["field"]], f"{where}.{field['field']}")
    elif schema["type"] == "array":
        for number, item in enumerate(value):
            check(schema["items"], item, f"{where}[{number}]")
    else:
        assert isinstance(value, _TYPES[schema["type"]]), f"{where} is {value!r}"


@pytest.fixture
def events(tmp_path: Path) -> list[dict[str, Any]]:
    """The life of a row in three units; a table without key beside it."""
    log = LogBuilder((ACCT, FREE))
    unit = log.unit(member=2)
    unit.insert(ACCT, acct(1))
    unit.insert(FREE, (1, "x"))
    unit.update(ACCT, acct(1), acct(1, "NEW", "2.00"))
    unit = log.unit()
    unit.update(ACCT, acct(1, "NEW", "2.00"), acct(7, "NEW", "2.00"))
    unit.delete(FREE, (1, "x"))
    unit.insert(ACCT, acct(8))
    log.unit().delete(ACCT, acct(7, "NEW", "2.00"))
    manifest = export(written(log, tmp_path), tmp_path / "out", "--format", "debezium")
    assert (manifest["changes"], manifest["units"]) == (7, 3)
    assert [(entry["topic"], entry["changes"]) for entry in manifest["datasets"]] == [
        ("logreplay.testown.acct", 5), ("logreplay.testown.free", 2), ("logreplay.transaction", 0),
    ]  # fmt: skip
    return [*lines(tmp_path / "out", "testown.acct"), *lines(tmp_path / "out", "testown.free")]


def test_keys_and_values_are_as_their_schemas_say(events: list[dict[str, Any]]) -> None:
    for event in events:
        for part in ("key", "value"):
            if event[part] is not None:
                assert set(event[part]) == {"schema", "payload"}
                check(event[part]["schema"], event[part]["payload"], part)
    schema = events[0]["value"]["schema"]
    assert [field["field"] for field in schema["fields"]] == [
        "before",
        "after",
        "source",
        "transaction",
        "op",
        "ts_ms",
    ]
    assert schema["name"] == "logreplay.testown.acct.Envelope"
    assert events[0]["key"]["schema"] == {
        "type": "struct", "fields": [{"type": "int32", "optional": False, "field": "id"}],
        "optional": False, "name": "logreplay.testown.acct.Key",
    }  # fmt: skip


def test_what_happened(events: list[dict[str, Any]]) -> None:
    """(topic, key, op, transaction order, order in the collection) of every event; a tombstone has
    no value."""
    shown = []
    for event in events:
        key = event["key"] and event["key"]["payload"]["id"]
        value = event["value"] and event["value"]["payload"]
        numbers = value and (
            value["op"],
            value["transaction"]["total_order"],
            value["transaction"]["data_collection_order"],
        )
        shown.append((event["topic"].rpartition(".")[2], key, numbers))
    assert shown == [
        ("acct", 1, ("c", 1, 1)),
        ("acct", 1, ("u", 3, 2)),
        ("acct", 1, ("d", 1, 1)),
        ("acct", 1, None),
        ("acct", 7, ("c", 2, 2)),
        ("acct", 8, ("c", 4, 3)),
        ("acct", 7, ("d", 1, 1)),
        ("acct", 7, None),
        ("free", None, ("c", 2, 1)),
        ("free", None, ("d", 3, 1)),
    ]  # fmt: skip


def test_a_changed_key_names_the_other_one(events: list[dict[str, Any]]) -> None:
    gone, tombstone, come = events[2:5]
    assert {name: key["payload"] for name, key in gone["headers"].items()} == {
        "__debezium.newkey": {"id": 7}
    }
    assert {name: key["payload"] for name, key in come["headers"].items()} == {
        "__debezium.oldkey": {"id": 1}
    }
    assert gone["headers"]["__debezium.newkey"]["schema"] == gone["key"]["schema"]
    assert (gone["value"]["payload"]["before"]["id"], gone["value"]["payload"]["after"]) == (
        1,
        None,
    )
    assert (come["value"]["payload"]["before"], come["value"]["payload"]["after"]["id"]) == (
        None,
        7,
    )
    assert tombstone == {"topic": "logreplay.testown.acct", "key": gone["key"], "value": None}
    assert [event for event in events if "headers" in event] == [gone, come]


def test_source_has_the_facts_of_the_unit(events: list[dict[str, Any]]) -> None:
    payload = events[0]["value"]["payload"]
    committed = round(datetime(2024, 3, 15, 10, 21, 0, 500_000, UTC).timestamp() * 1000)
    expected = {
        "connector": "logreplay", "name": "logreplay", "ts_ms": committed, "db": "DB2P",
        "schema": "testown", "table": "acct", "member": 2,
        "authid": "CLERK", "plan": "PLANA", "correlation_id": "CORR01", "connection_id": "CICSA",
        "origin": "direct", "log_record": 1,
    }  # fmt: skip
    assert {name: payload["source"][name] for name in expected} == expected
    assert payload["ts_ms"] == committed
    assert payload["transaction"]["id"] == f"{payload['source']['urid']}/2"
    assert (
        len({event["value"]["payload"]["transaction"]["id"] for event in events if event["value"]})
        == 3
    )


def of_units(events: list[dict[str, Any]]) -> dict[str, Counter[str]]:
    """Events of each unit by data collection, as the events themselves say."""
    counts: dict[str, Counter[str]] = {}
    for event in events:
        if event["value"] is not None:
            payload = event["value"]["payload"]
            name = f"{payload['source']['schema']}.{payload['source']['table']}"
            counts.setdefault(payload["transaction"]["id"], Counter())[name] += 1
    return counts


def transactions(folder: Path) -> dict[str, Counter[str]]:
    """Events of each unit as its END says; BEGIN comes before it, once."""
    ended: dict[str, Counter[str]] = {}
    begun = ""
    for event in lines(folder, "transactions"):
        assert event["topic"] == "logreplay.transaction"
        for part in ("key", "value"):
            check(event[part]["schema"], event[part]["payload"], part)
        value = event["value"]["payload"]
        assert event["key"]["payload"] == {"id": value["id"]}
        if value["status"] == "BEGIN":
            assert begun == ""
            assert value["id"] not in ended
            begun = value["id"]
            continue
        assert (value["status"], begun) == ("END", value["id"])
        begun = ""
        listed = {
            entry["data_collection"]: entry["event_count"] for entry in value["data_collections"]
        }
        assert value["event_count"] == sum(listed.values())
        ended[value["id"]] = Counter(listed)
    assert begun == ""
    return ended


def test_units_begin_and_end_with_their_counts(
    events: list[dict[str, Any]], tmp_path: Path
) -> None:
    told = transactions(tmp_path / "out")
    assert told == of_units(events)
    assert [dict(counts) for counts in told.values()] == [
        {"testown.acct": 2, "testown.free": 1},
        {"testown.acct": 3, "testown.free": 1},
        {"testown.acct": 1},
    ]


@pytest.mark.parametrize("damaged", [False, True])
def test_a_long_unit_ends_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: bool
) -> None:
    """A unit that is read in several pieces; one with a bad record at its end is not told of."""
    monkeypatch.setattr(partition, "CHUNK", 16)
    log = LogBuilder((ACCT, FREE))
    log.unit().insert(FREE, (0, "first"))
    unit = log.unit()
    for number in range(100):
        unit.insert(ACCT if number % 3 else FREE, acct(number) if number % 3 else (number, "x"))
    if damaged:
        unit.insert(ACCT, (100, "1", "2024-13-99", *acct(100)[3:]))
    log.unit().delete(FREE, (0, "first"))
    manifest = export(
        written(log, tmp_path), tmp_path / "out", "--format", "debezium", "--engine", "local"
    )
    told = transactions(tmp_path / "out")
    found = [
        event for name in ("testown.acct", "testown.free")
        if (tmp_path / "out" / name).exists() for event in lines(tmp_path / "out", name)
    ]  # fmt: skip
    assert told == of_units(found)
    assert len(told) == manifest["units"] == (2 if damaged else 3)
    assert sum(sum(counts.values()) for counts in told.values()) == manifest["changes"]


def test_values_are_what_their_semantic_types_say(tmp_path: Path) -> None:
    log = LogBuilder((KINDS,))
    log.unit().insert(KINDS, FULL)
    log.unit().insert(KINDS, NULLS)
    export(written(log, tmp_path), tmp_path / "out", "--format", "debezium")
    found = lines(tmp_path / "out", "testown.kinds")
    value = found[0]["value"]
    (columns,) = (
        field["fields"] for field in value["schema"]["fields"] if field["field"] == "after"
    )
    types = {
        column["field"]: (column["type"], column.get("name", "").rpartition(".")[2])
        for column in columns
    }
    seconds = round(datetime(2024, 2, 29, 23, 59, 59, tzinfo=UTC).timestamp())
    after = value["payload"]["after"]
    assert {name: (*types[name], after[name]) for name in after} == {
        "id": ("int64", "", 1),
        "small": ("int16", "", -32768),
        "amount": ("string", "", "-1234567890123456789012345.678901"),
        "ratio": ("double", "", 0.1),
        "day": ("int32", "Date", (date(1, 1, 1) - date(1970, 1, 1)).days),
        "at": ("int32", "Time", (24 * 3600 - 2) * 1000),
        "stamp": ("int64", "MicroTimestamp", seconds * 1_000_000 + 123_456),
        "fine": ("int64", "NanoTimestamp", seconds * 1_000_000_000 + 123_456_000),
        "zoned": ("string", "ZonedTimestamp", "2024-02-29T23:59:59.123456000000+05:30"),
        "code": ("string", "", "AB"),
        "name": ("string", "", FULL[10]),
        "raw": ("bytes", "", base64.b64encode(FULL[11]).decode("ascii")),
    }
    assert found[1]["value"]["payload"]["after"] == {**dict.fromkeys(after), "id": 3}
    assert json.dumps(columns) == json.dumps(
        next(f["fields"] for f in value["schema"]["fields"] if f["field"] == "before")
    )


def test_schemas_apart(tmp_path: Path) -> None:
    log = LogBuilder()
    log.unit().insert(ACCT, acct(1))
    log.unit().delete(ACCT, acct(1))
    source = written(log, tmp_path)
    export(source, tmp_path / "inline", "--format", "debezium")
    manifest = export(source, tmp_path / "out", "--format", "debezium", "--schemas", "apart")
    schemas = manifest["datasets"][0]["schemas"]
    for plain, whole in zip(
        lines(tmp_path / "out", "testown.acct"),
        lines(tmp_path / "inline", "testown.acct"),
        strict=True,
    ):
        for part in ("key", "value"):
            assert whole[part] == (
                None if plain[part] is None else {"schema": schemas[part], "payload": plain[part]}
            )


def test_names_that_no_topic_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Connectors put ``_`` in their place; two tables never share a topic."""
    odd, same = replace(FREE, name="A#B-C"), replace(FREE, name="A$B-C", obid=9)
    log = LogBuilder((odd, same))
    log.unit().insert(odd, (1, "x"))
    words = [*written(log, tmp_path), "--format", "debezium"]
    manifest = export([*words, "--exclude-table", "*A$*"], tmp_path / "out")
    assert manifest["datasets"][0]["topic"] == "logreplay.testown.a_b-c"
    (path,) = (tmp_path / "out").glob("testown.a*/**/part-*")
    schema = json.loads(path.read_text().splitlines()[0])["value"]["schema"]
    assert schema["name"] == "logreplay.testown.a_b_c.Envelope"
    capsys.readouterr()
    assert main(["export", *words, "--out", str(tmp_path / "two")]) == 12
    assert "TESTOWN.A#B-C and TESTOWN.A$B-C, whose events" in capsys.readouterr().err
