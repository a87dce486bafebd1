"""Exports of solidDB logs: tables that change within the log, and statements about them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from replay.cli.main import main
from replay.output.formats import connect, parquet
from replay.output.formats.debezium import Debezium
from sqlgen.literals import ValueProblem
from sqlgen.schema import Column
from tests.logs.soliddb.test_structure import NEW, OLD, Tab, altered, unit
from tests.output.test_datasets import lines
from tests.support.exported import export, rows
from tests.support.few import few
from tests.support.solidbuilder import Col, LogBuilder, Unit, write_catalog, write_rows
from tests.support.words import of_family


def source(folder: Path, log: LogBuilder, *tables: Tab) -> list[str]:
    write_catalog(folder, tables)
    path = write_rows(folder / "syslog.parquet", log.rows)
    return [*of_family("soliddb", path, folder), "--engine", "local"]


def test_a_table_that_changes_has_two_datasets(tmp_path: Path) -> None:
    manifest = export(source(tmp_path, altered(), NEW), tmp_path / "out")
    assert [(entry["name"], entry["changes"]) for entry in manifest["datasets"]] == [
        ("dba.t@1", 1),
        ("dba.t@2", 1),
        ("schema_changes", 1),
    ]
    assert rows(tmp_path / "out", "dba.t@1", "after, member, commit_time") == [
        ({"id": 1, "name": "a"}, None, None)
    ]
    assert rows(tmp_path / "out", "dba.t@2", "after") == [({"id": 2, "name": "b", "more": 5},)]
    shown = "after.table_owner, after.table_name, after.action, after.statement"
    assert rows(tmp_path / "out", "schema_changes", shown) == [
        ("DBA", "T", "statement", "ALTER TABLE T ADD COLUMN MORE INTEGER")
    ]


def test_renaming_and_truncation(tmp_path: Path) -> None:
    after = Tab(10_300, "DBA", "N", OLD.columns, key=("ID",))
    log = LogBuilder()
    unit(log, lambda made: made.insert(OLD, (1, "a")))
    unit(log, lambda made: made.ddl(22, "T", OLD.relid, "ALTER TABLE T SET TABLE NAME N"))
    unit(log, lambda made: made.insert(after, (2, "b")))
    unit(log, lambda made: made.ddl(73, "N", OLD.relid, "TRUNCATE TABLE N"))
    log_of = source(tmp_path, log, after)
    export(log_of, tmp_path / "out", "--format", "debezium")
    assert [event["value"]["payload"]["op"] for event in lines(tmp_path / "out", "dba.t")] == ["c"]
    assert [event["value"]["payload"]["op"] for event in lines(tmp_path / "out", "dba.n")] == [
        "c",
        "t",
    ]
    (change,) = lines(tmp_path / "out", "schema_changes")
    payload = change["value"]["payload"]
    assert payload["ddl"] == "ALTER TABLE T SET TABLE NAME N"
    (made,) = payload["tableChanges"]
    assert (made["type"], [column["name"] for column in made["table"]["columns"]]) == (
        "ALTER",
        ["ID", "NAME"],
    )
    assert made["table"]["primaryKeyColumnNames"] == ["ID"]
    transaction = lines(tmp_path / "out", "dba.t")[0]["value"]["payload"]["transaction"]
    assert transaction == {
        "id": lines(tmp_path / "out", "dba.t")[0]["value"]["payload"]["source"]["urid"],
        "total_order": 1,
        "data_collection_order": 1,
    }


def test_the_last_day_of_tables_is_a_timestamp_in_debezium_and_native_parquet(
    tmp_path: Path,
) -> None:
    """No digits are declared: microseconds reach 9999-12-31, nanoseconds do not."""
    columns = (Col("ID", "INTEGER", null=False), Col("UNTIL", "TIMESTAMP"))
    table = Tab(10_301, "DBA", "T", columns, key=("ID",))
    log = LogBuilder()
    for number, until in enumerate(("9999-12-31 00:00:00", "2024-02-29 13:05:09.123456")):
        unit(log, partial(_insert, table, (number, until)))
    log_of = source(tmp_path, log, table)
    export(log_of, tmp_path / "out", "--format", "debezium")
    events = lines(tmp_path / "out", "dba.t")
    found = [event["value"]["payload"]["after"]["until"] for event in events]
    assert found == [253402214400000000, 1709211909123456]
    fields = events[0]["value"]["schema"]["fields"][1]["fields"]
    assert fields[1]["name"] == "io.debezium.time.MicroTimestamp"
    export(log_of, tmp_path / "native", "--parquet-types", "native")
    assert [after["until"] for (after,) in rows(tmp_path / "native", "dba.t", "after")] == [
        datetime(9999, 12, 31),
        datetime(2024, 2, 29, 13, 5, 9, 123456),
    ]


def test_more_digits_than_microseconds_have_are_refused_or_cut(tmp_path: Path) -> None:
    table = Tab(10_301, "DBA", "T", (Col("UNTIL", "TIMESTAMP"),))
    log = LogBuilder()
    unit(log, partial(_insert, table, ("2024-02-29 13:05:09.123456789",)))
    log_of = source(tmp_path, log, table)
    words = ("export", *log_of, "--format", "debezium", "--out")
    assert main([*words, str(tmp_path / "out")]) == 8
    export(log_of, tmp_path / "cut", "--format", "debezium", "--timestamps", "truncate")
    (event,) = lines(tmp_path / "cut", "dba.t")
    assert event["value"]["payload"]["after"]["until"] == 1709211909123456


def test_a_number_beyond_the_type_of_the_schema_is_set_aside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """SMALLINT goes up to 65535 here, int16 to 32767: Kafka Connect would read 65535 as -1."""
    columns = (Col("ID", "INTEGER", null=False), Col("SMALL", "SMALLINT"), Col("TINY", "TINYINT"))
    table = Tab(10_301, "DBA", "T", columns, key=("ID",))
    log = LogBuilder()
    for number, values in enumerate([(32_767, 255), (65_535, 0), (-32_768, -128), (None, None)]):
        unit(log, partial(_insert, table, (number, *values)))
    words = ("export", *source(tmp_path, log, table), "--format", "debezium", "--out")
    assert main([*words, str(tmp_path / "out")]) == 8
    assert "found 65535" in capsys.readouterr().out
    after = [event["value"]["payload"]["after"] for event in lines(tmp_path / "out", "dba.t")]
    assert [(row["id"], row["small"], row["tiny"]) for row in after] == [
        (0, 32_767, 255),
        (2, -32_768, -128),
        (3, None, None),
    ]


def _insert(table: Tab, values: tuple[object, ...], made: Unit) -> None:
    made.insert(table, values)


@pytest.mark.parametrize("how", few(["grow", "after"], "grow"))
@pytest.mark.parametrize(
    "form",
    [
        ["--format", "debezium"],
        ["--format", "debezium", "--schemas", "apart"],
        ["--format", "parquet", "--parquet-types", "native"],
    ],
)
def test_an_export_goes_on_in_the_units_of_time_that_it_began_with(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    form: list[str],
    how: str,
) -> None:
    """A version that counted nanoseconds began it."""
    table = Tab(
        10_301, "DBA", "T", (Col("ID", "INTEGER", null=False), Col("UNTIL", "TIMESTAMP")), ("ID",)
    )
    other = Tab(10_401, "DBA", "U", (Col("ID", "INTEGER", null=False),), key=("ID",))
    log = LogBuilder()
    unit(log, partial(_insert, table, (1, "2024-02-29 13:05:09.123456")))
    log_of = source(tmp_path, log, table, other)
    words = ["export", *log_of, *form, "--schema", "none"]
    first = ["--grow"] if how == "grow" else ["--after", "none"]
    with monkeypatch.context() as older:
        older.setattr(connect, "UNSIZED_DIGITS", 9)
        older.setattr(parquet, "type_of", _with_nanoseconds)
        older.setattr(Debezium, "_value", _value_of_nine_digits)
        assert main([*words, *first, "--out", str(tmp_path / "out")]) == 0
    more = ["--grow"] if how == "grow" else ["--after", str(tmp_path / "out")]
    to = str(tmp_path / ("out" if how == "grow" else "more"))
    unit(log, partial(_insert, other, (1,)))
    source(tmp_path, log, table, other)
    assert main([*words, *more, "--out", to]) == 0  # without the column
    unit(log, partial(_insert, table, (2, "2024-02-29 13:05:10")))
    source(tmp_path, log, table, other)
    capsys.readouterr()
    last = more if how == "grow" else ["--after", str(tmp_path / "out")]
    out = to if how == "grow" else str(tmp_path / "last")
    assert main([*words, *last, "--out", out]) == 8
    said = capsys.readouterr().err
    assert "LR4006" in said
    assert "found column until as" in said
    assert "Export to another folder" in said
    assert main([*words, "--out", str(tmp_path / "anew")]) == 0


def _with_nanoseconds(column: Column, native: bool) -> pa.DataType:
    return parquet_type_of(replace(column, unsized=False), native)


def _value_of_nine_digits(
    self: Debezium, values: pa.Array, column: Column
) -> tuple[pa.Array, list[ValueProblem]]:
    return debezium_value(self, values, replace(column, unsized=False))


parquet_type_of, debezium_value = parquet.type_of, Debezium._value
