"""Spark reads exports without logreplay, and makes the same ones as the local engine."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.support.exported import export, rows
from tests.support.words import of_log_master


def test_spark_reads_parquet(spark: Any, sakila_small: Path, tmp_path: Path) -> None:
    log = [
        *of_log_master(sakila_small / "small.ctl", sakila_small / "small.dat"),
        "--engine",
        "local",
    ]
    manifest = export(log, tmp_path / "out")
    for dataset in manifest["datasets"]:
        frame = spark.read.parquet(str(tmp_path / "out" / dataset["name"]))
        found = frame.orderBy("commit_lrsn", "urid", "member", "sequence").collect()
        plain = [tuple(_plain(value) for value in row) for row in found]
        assert plain == [
            tuple(_plain(value) for value in row) for row in rows(tmp_path / "out", dataset["name"])
        ]
        assert len(found) == dataset["changes"]
    film = spark.read.parquet(str(tmp_path / "out" / "sakila.film"))
    assert dict(film.select("after.*").dtypes)["rental_rate"] == "decimal(5,2)"
    assert dict(film.select("after.*").dtypes)["last_update"] == "timestamp_ntz"
    assert isinstance(film.select("after.rental_rate").first()[0], Decimal)


@pytest.mark.long
def test_spark_reads_text(spark: Any, sakila_small: Path, tmp_path: Path) -> None:
    """The images that Spark reads from text are those that it reads from Parquet."""
    log = [
        *of_log_master(sakila_small / "small.ctl", sakila_small / "small.dat"),
        "--engine",
        "local",
    ]
    for form, *options in (("debezium",), ("parquet",), ("jsonl",), ("csv", "--csv-null", "\\N")):
        manifest = export(log, tmp_path / form, "--format", form, *options)
    assert manifest["datasets"]
    for dataset in manifest["datasets"]:
        folders = {
            form: str(tmp_path / form / dataset["name"])
            for form in ("parquet", "jsonl", "csv", "debezium")
        }
        parquet = spark.read.parquet(folders["parquet"])
        found = {
            "jsonl": (
                spark.read.schema(parquet.schema)
                .json(folders["jsonl"])
                .select("after.*", "sequence", "urid")
            ),
            "csv": (
                spark.read.options(header=True, multiLine=True, escape='"', nullValue="\\N").csv(
                    folders["csv"]
                )
            ),
        }
        fields = [
            field
            for field in parquet.schema["after"].dataType
            if field.dataType.typeName() != "binary"
        ]
        shown = [parquet["after"][field.name].alias(field.name) for field in fields]
        wanted = _rows(parquet.select(*shown, "urid", "sequence"))
        assert len(wanted) == dataset["changes"]
        assert (
            _rows(found["jsonl"].select(*[field.name for field in fields], "urid", "sequence"))
            == wanted
        )
        cast = [
            found["csv"][f"after_{field.name}"].cast(field.dataType).alias(field.name)
            for field in fields
        ]
        assert (
            _rows(
                found["csv"].select(
                    *cast, "urid", found["csv"]["sequence"].cast("bigint").alias("sequence")
                )
            )
            == wanted
        )
        events = spark.read.json(folders["debezium"])
        changes = events.filter("value IS NOT NULL").select(
            "value.payload.op", "value.payload.source.urid", "value.payload.transaction.total_order"
        )
        assert changes.count() >= dataset["changes"]
        assert {row.op for row in changes.collect()} <= set("cud")


def _rows(frame: Any) -> list[Any]:
    return sorted((tuple(row) for row in frame.collect()), key=repr)


def _plain(value: Any) -> Any:
    """A value of Spark or DuckDB as both would have it."""
    if isinstance(value, bytearray):
        return bytes(value)
    if hasattr(value, "asDict"):
        return {name: _plain(inner) for name, inner in value.asDict().items()}
    return (
        {name: _plain(inner) for name, inner in value.items()} if isinstance(value, dict) else value
    )
