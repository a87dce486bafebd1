"""Logs as frames of Spark."""

from __future__ import annotations

import json
import re
import runpy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.errors import StreamingQueryException
from pyspark.sql.datasource import EqualTo, GreaterThan, In, IsNotNull, LessThanOrEqual

import replay
from replay.changes.envelope import ENVELOPE
from replay.frames.batch import Pushed
from replay.frames.options import RowKind
from replay.frames.spark import LogreplayDataSource, condition_of, register
from replay.logs import LogPair
from tests.frames.test_parts import FAMILIES, damaged, exported, sorted_rows
from tests.support import family_logs
from tests.support.cutlogs import cut_log
from tests.support.family_logs import SMALL, FamilyLog


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


# -- streams
# -------------------------------------------------------------------------------------------------


def python_of(page: str, begin: str) -> str:
    """The first example of a page that begins with some words."""
    text = (family_logs.FIXTURES.parent / "replay" / "docs" / page).read_text(encoding="utf-8")
    return next(
        block for block in re.findall(r"```python\n(.+?)```", text, re.DOTALL) if begin in block
    )


def arrive(pair: LogPair, folder: Path) -> None:
    for name in (*pair.data, pair.control):
        shutil.copyfile(name, folder / Path(name).name)


def test_a_delta_table_stays_equal_to_the_source(
    frames: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The example of the page, stopped in the middle of a batch and started again."""
    pairs = cut_log(
        SMALL / "small.ctl", SMALL / "small.dat", tmp_path / "cut", 6, 4, shuffled=False
    )
    (tmp_path / "logs").mkdir()
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "example.py"
    text = python_of("how-to/spark.md", "readStream")
    checkpoint = f"{tmp_path}/checkpoints/"  # Spark's processes are elsewhere
    script.write_text(text.replace("checkpoints/", checkpoint), encoding="utf-8")
    calls: list[int] = []
    merge = replay.merge_batch

    def crashing(*given: Any, **how: Any) -> bool:
        calls.append(how["batch"])
        done = merge(*given, **how)
        if len(calls) == 2:
            raise RuntimeError("killed behind the commit of the table")
        return done

    monkeypatch.setattr(replay, "merge_batch", crashing)
    for number, pair in enumerate(pairs):
        arrive(pair, tmp_path / "logs")
        if number % 2 == 0:
            continue
        if number == 3:
            with pytest.raises(StreamingQueryException, match="killed behind"):
                runpy.run_path(str(script), {"spark": frames})
        runpy.run_path(str(script), {"spark": frames})
    assert calls == [0, 1, 1, 2]
    with replay.open_log(control=SMALL / "small.ctl", data=SMALL / "small.dat") as log:
        chosen = log.select(tables="SAKILA.RENTAL")
        chosen.export("delta", merge=True).write(tmp_path / "expected")
    tables = [
        DeltaTable(str(tmp_path / folder / "sakila.rental")).to_pyarrow_table()
        for folder in ("lake", "expected")
    ]
    kept, expected = (table.sort_by("rental_id").to_pylist() for table in tables)
    assert kept == expected
    assert len(kept) > 10


def test_a_stream_goes_on_from_its_checkpoint(frames: Any, tmp_path: Path) -> None:
    pairs = cut_log(
        SMALL / "small.ctl", SMALL / "small.dat", tmp_path / "cut", 4, 5, shuffled=False
    )
    folder = tmp_path / "logs"
    folder.mkdir()
    options = {"rows": "changes", "arrival": "rename", "maxUnitsPerBatch": "20"}

    def run() -> dict[str, Any]:
        query = (
            frames.readStream.format("logreplay")
            .options(**options)
            .load(str(folder))
            .writeStream.format("parquet")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(tmp_path / "out"))
        )
        query.awaitTermination()
        return json.loads(query.lastProgress["sources"][0]["endOffset"])

    arrive(pairs[0], folder)
    arrive(pairs[1], folder)
    first = run()
    arrive(pairs[2], folder)
    arrive(pairs[3], folder)
    last = run()
    assert first["unitsTaken"] < last["unitsTaken"]
    assert last["pending"] == {}
    rows = frames.read.parquet(str(tmp_path / "out")).toArrow()
    with replay.open_log(control=SMALL / "small.ctl", data=SMALL / "small.dat") as log:
        expected = log.select().changes().read_all().drop_columns(["log_file", "log_record"])
    found = rows.select(expected.column_names).cast(expected.schema)
    assert sorted_rows(found).equals(sorted_rows(expected).replace_schema_metadata(None))
