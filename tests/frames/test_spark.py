"""Logs as frames of Spark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.datasource import EqualTo, GreaterThan, In, IsNotNull, LessThanOrEqual

import replay
from replay.changes.envelope import ENVELOPE
from replay.frames.batch import Pushed
from replay.frames.options import RowKind
from replay.frames.spark import LogreplayDataSource, condition_of, register
from tests.frames.test_parts import FAMILIES, damaged, exported, sorted_rows
from tests.support import family_logs
from tests.support.family_logs import FamilyLog


@pytest.fixture(scope="module")
def frames(spark: Any) -> Any:
    replay.register_spark(spark)
    return spark


def frame_of(spark: Any, log: FamilyLog, **more: str) -> Any:
    return spark.read.format("logreplay").options(**{**log.options, **more}).load()


@pytest.mark.parametrize("make", FAMILIES)
def test_every_family(make: Callable[[Path], FamilyLog], frames: Any, tmp_path: Path) -> None:
    log = make(tmp_path)
    frame = frame_of(frames, log, table=log.table, recordsPerPartition="40")
    rows = sorted_rows(frame.toArrow())
    expected = exported(log, tmp_path / "out")
    assert rows.drop_columns(["table"]).cast(expected.schema).equals(expected)
    assert frame.filter("op = 'insert' AND after.rental_id > 0").count() == sum(
        op == "insert" for op in expected["op"].to_pylist()
    )
    envelope = frame_of(frames, log)
    assert envelope.columns == ENVELOPE.names
    assert envelope.filter("table_name = 'RENTAL'").count() >= len(expected)


def test_filters_leave_out_tasks(frames: Any, tmp_path: Path) -> None:
    log = family_logs.logmaster(tmp_path)
    frame = frame_of(frames, log, table=log.table, recordsPerPartition="10")
    rows = sorted_rows(frame.toArrow()).to_pylist()
    first = rows[0]["commit_lrsn"]
    below = frame.filter(frame.commit_lrsn <= first)
    assert below.rdd.getNumPartitions() < frame.rdd.getNumPartitions()
    assert below.count() == sum(row["commit_lrsn"] <= first for row in rows)
    assert frame.filter("commit_lrsn < '00'").count() == 0


def test_a_report(frames: Any, tmp_path: Path) -> None:
    log = damaged(tmp_path)
    report = frame_of(frames, log, rows="report")
    assert report.filter("kind = 'unit'").count() == 1
    assert report.filter("kind = 'finding' AND code = 'LR2012'").count() == 1
    assert report.filter("text = 'read'").first()["count"] == 337


def test_refusals_have_their_codes(frames: Any, tmp_path: Path) -> None:
    log = family_logs.logmaster(tmp_path)
    for options, message in (
        ({"table": "SAKILA.NOPE"}, "LR1004 found --table SAKILA.NOPE"),
        ({"rows": "changes", "fromTime": "noon"}, "LR1001 found 'noon'"),
        ({"tabel": "x"}, "LR1001 found option 'tabel'"),
    ):
        with pytest.raises(Exception, match=message):
            frame_of(frames, log, **options)
    with pytest.raises(Exception, match=r"LR1001 found schema struct<a:int>"):
        frames.read.format("logreplay").options(**log.options).schema("a int").load().count()


def test_records_as_ever(frames: Any, sakila_small: Path) -> None:
    reader = frames.read.format("logmaster").option("control", str(sakila_small / "small.ctl"))
    assert reader.load(str(sakila_small / "small.dat")).count() == 337


def test_without_a_folder() -> None:
    with pytest.raises(replay.errors.UsageError, match="option work"):
        LogreplayDataSource({"control": "x"}).schema()


# -- filters
# -------------------------------------------------------------------------------------------------

LOW, HIGH = "00DECBEAE1CD1E900000", "00DECBEB21B92AB00000"


def test_conditions() -> None:
    commit = ("commit_lrsn",)
    found = condition_of(
        [
            IsNotNull(commit),
            GreaterThan(commit, "00DECBEAE"),
            LessThanOrEqual(commit, HIGH),
            In(("op",), ["insert", "delete"]),
            EqualTo(("op",), "delete"),
            EqualTo(("after", "op"), "update"),
        ],
        RowKind.CHANGES,
    )
    low, high = bytes.fromhex("00DECBEA") + bytes(6), bytes.fromhex(HIGH)
    assert found == Pushed(low, high, frozenset(["delete"]))
    assert condition_of([EqualTo(commit, "x"), EqualTo(("op",), 5)], RowKind.CHANGES) == Pushed()
    both = condition_of([In(commit, [HIGH, LOW]), GreaterThan(commit, LOW)], RowKind.CHANGES)
    assert (both.low, both.high) == (bytes.fromhex(LOW), high)
    octets = condition_of([LessThanOrEqual(("uorcommitlrsn",), b"\x01\x02")], RowKind.ENVELOPE)
    assert octets == Pushed(high=b"\x01\x02" + b"\xff" * 8)
    assert condition_of([LessThanOrEqual(commit, HIGH)], RowKind.ENVELOPE) == Pushed()


def test_a_session_may_say_where(spark: Any, tmp_path: Path) -> None:
    register(spark, str(tmp_path))
    log = family_logs.logmaster(tmp_path)
    assert frame_of(spark, log, table=log.table).count() > 0
    assert list(tmp_path.glob("*.pickle"))
