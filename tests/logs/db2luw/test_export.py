"""Exports of Db2 LUW logs: what such a log does not know is null, and changes of table structure
are a dataset."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.logs.db2luw.test_damage import structure, two_units, written
from tests.output.test_datasets import lines
from tests.output.test_debezium import check
from tests.support.exported import export, rows
from tests.support.luwbuilder import PLAIN, Tab, catalog_csv
from tests.support.words import of_family

LATE = Tab(3, 300, "APP", "LATE", PLAIN.columns[:4])


def source(folder: Path, work: Any) -> list[str]:
    (folder / "x.log").write_bytes(written(work))
    (folder / "catalog.csv").write_text(catalog_csv((PLAIN, LATE)), encoding="utf-8")
    return [*of_family("db2luw", folder / "x.log", folder / "catalog.csv"), "--engine", "local"]


def test_facts_that_are_not_in_the_log_are_null(tmp_path: Path) -> None:
    manifest = export(source(tmp_path, two_units), tmp_path / "out")
    assert (manifest["exit_code"], manifest["changes"], manifest["units"]) == (0, 4, 2)
    found = rows(
        tmp_path / "out",
        "app.plain",
        "op, sequence, plan, correlation_id, connection_id, origin, before.name, after.name",
    )
    assert found == [
        ("insert", 1, None, None, None, None, None, "Ann"),
        ("update", 2, None, None, None, None, "Ann", "Bea"),
        ("insert", 1, None, None, None, None, None, "Ann"),
        ("delete", 2, None, None, None, None, "Bea", None),
    ]
    assert all(
        row == (False, False, False)
        for row in rows(
            tmp_path / "out", "app.plain", "authid IS NULL, member IS NULL, commit_time IS NULL"
        )
    )


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_changes_of_structure_are_a_dataset(tmp_path: Path, form: str) -> None:
    manifest = export(source(tmp_path, structure), tmp_path / "out", "--format", form)
    assert manifest["balance"]["closes"]
    assert [entry["name"] for entry in manifest["datasets"]] == [
        "app.late",
        "app.plain",
        "schema_changes",
    ]
    found = rows(
        tmp_path / "out",
        "schema_changes",
        "op, after.table_owner, after.table_name, after.action, after.note",
        form,
    )
    assert found == [
        ("schema", "APP", "LATE", "create table", ""),
        ("schema", "APP", "PLAIN", "note", "reorganised"),
        ("schema", "APP", "LATE", "drop table", ""),
    ]  # fmt: skip
    definition = json.loads(
        rows(tmp_path / "out", "schema_changes", "after.definition::VARCHAR", form)[0][0]
    )
    assert [column["name"] for column in definition["columns"]] == [
        column.name for column in LATE.columns
    ]
    assert rows(tmp_path / "out", "app.plain", "op", form) == [("truncate",)]


def test_changes_of_structure_as_events(tmp_path: Path) -> None:
    export(source(tmp_path, structure), tmp_path / "out", "--format", "debezium")
    found = lines(tmp_path / "out", "schema_changes")
    assert {event["topic"] for event in found} == {"logreplay.schema_changes"}
    for event in found:
        for part in ("key", "value"):
            check(event[part]["schema"], event[part]["payload"], part)
    payloads = [event["value"]["payload"] for event in found]
    assert [(entry["schemaName"], entry["ddl"]) for entry in payloads] == [
        ("APP", "-- APP.LATE: create table"),
        ("APP", "-- APP.PLAIN: reorganised"),
        ("APP", "-- APP.LATE: drop table"),
    ]
    changes = [
        [(change["type"], change["id"]) for change in entry["tableChanges"]] for entry in payloads
    ]
    assert changes == [
        [("CREATE", '"db2luw"."APP"."LATE"')],
        [],
        [("DROP", '"db2luw"."APP"."LATE"')],
    ]
    made = payloads[0]["tableChanges"][0]["table"]
    assert [column["name"] for column in made["columns"]] == [
        column.name for column in LATE.columns
    ]
    assert [column["jdbcType"] for column in made["columns"]] == [4, 12, 3, 91]
    assert payloads[2]["tableChanges"][0]["table"] is None
    assert all(entry["source"]["table"] == "schema_changes" for entry in payloads)
