"""What becomes of a run is said in words where its cluster is in the way."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import pytest

from replay.errors import LogReplayError, UsageError
from replay.logs import LogFile, Split
from replay.pipeline import spark_engine, spark_watch
from replay.pipeline.cluster_trouble import Limits, no_task_ended, why_failed
from replay.pipeline.spark_start import start_context

LOST = "Lost task 0.3 in stage 0.0 (TID 3) (10.0.0.7 executor 1): "


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (
            LOST + "OSError: [Errno 28] No space left on device",
            "LR1006",
            ["No space left on device on 10.0.0.7", "spark.local.dir"],
        ),
        (
            "OSError: [Errno 28] No space left on device on worker-2\nat",
            "LR1006",
            ["No space left on device on worker-2, in the stage: write scripts;"],
        ),
        (
            "OSError: [Errno 122] Disk quota exceeded on worker-2: /data/a b\nat",
            "LR1006",
            ["Disk quota exceeded on worker-2, writing to /data/a b, in the stage"],
        ),
        (
            "Job aborted: ExecutorLostFailure (executor 3 exited)\nmore",
            "LR1005",
            ["gave up the stage: write scripts: ExecutorLostFailure (executor 3 exited);"],
        ),
        (LOST + "No module named 'zstandard'", "LR1005", ["no Python module zstandard"]),
        (
            "Job aborted due to stage failure: Total size of serialized results of 3 tasks"
            " (1.2 GiB) is bigger than spark.driver.maxResultSize (1024.0 MiB)\nat",
            "LR1005",
            ["found 1.2 GiB of results", "write scripts", "maxResultSize, 1g", "memory"],
        ),
        (
            LOST + "PythonException: Traceback\n  File\nMemoryError: Cannot allocate memory\n",
            "LR1007",
            ["no memory left for the Python of a task on 10.0.0.7", "pyspark.memory, 300m. "],
        ),
        (LOST + "pyarrow.lib.ArrowMemoryError: malloc of size 64 failed", "LR1007", ["--split-mb"]),
        (
            LOST + "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)",
            "LR1007",
            ["the Python of a task on 10.0.0.7 was ended, as it is where memory is short"],
        ),
        (
            LOST + "java.lang.OutOfMemoryError: Direct buffer memory",
            "LR1007",
            ["no memory left for Java on 10.0.0.7", "spark.driver.memory=SIZE"],
        ),
        ("[PYTHON_VERSION_MISMATCH] 3.9 and 3.11", "LR1005", ["another Python", "3.9 and 3.11"]),
    ],
)
def test_what_is_said(text: str, code: str, words: list[str]) -> None:
    told = why_failed(SETTINGS, RuntimeError(text), "write scripts", None, True)
    assert isinstance(told, LogReplayError)
    assert told.code == code
    for word in words:
        assert word in str(told)
    assert "\n" not in str(told)


def test_what_is_said_of_executors_that_do_not_come() -> None:
    for came, words in (
        (False, "found no executor of spark://m:7077"),
        (True, "the last executor was lost"),
    ):
        told = str(why_failed(SETTINGS, RuntimeError(), "write scripts", 5, came))
        assert words in told
        assert "spark.driver.host" in told
    assert why_failed(SETTINGS, RuntimeError("ZeroDivisionError"), "x", None, True) is None


def test_spark_connect_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"LR1005 found --master sc://host, a server") as caught:
        start_context("sc://host/;token=hidden", {})
    assert "hidden" not in str(caught.value)
    monkeypatch.setenv("SPARK_REMOTE", "sc://host/;token=hidden")
    with pytest.raises(UsageError, match=r"LR1005 found SPARK_REMOTE, a server") as caught:
        start_context("local[*]", {})
    assert "hidden" not in str(caught.value)


SETTINGS = {
    "spark.driver.host": "here",
    "spark.master": "spark://m:7077",
    "spark.executor.pyspark.memory": "300m",
}


class Described:
    """Notes what Spark shows of its stage, and fails as a full disk does where it is told to."""

    title = "note what is shown"
    buckets = 0

    def __init__(self, full: bool) -> None:
        self.full = full

    def scan(self, log: Any, split: Split) -> Any:
        from pyspark import TaskContext

        if self.full:
            raise OSError(28, "No space left on device")
        there = TaskContext.get()
        assert there is not None
        yield 0, str(there.getLocalProperty("spark.job.description")).encode()

    def reduce(self, log: Any, bucket: int, blocks: Any) -> Any:
        raise AssertionError("never called: there are no buckets")


@pytest.mark.spark
def test_stages_have_names_and_bytes_are_counted(spark: Any) -> None:
    splits = [Split(0, 0, 3_000_000, 1), Split(0, 3_000_000, 5_000_000, 2)]
    shown = list(spark_engine.execute(spark.sparkContext, Described(False), None, splits))
    assert shown == [b"logreplay: note what is shown (5.0 MB, 2 splits)"] * 2
    assert spark.sparkContext.getLocalProperty("spark.job.description") is None


@pytest.mark.spark
def test_a_full_disk_is_named_with_its_machine(spark: Any) -> None:
    import socket

    with pytest.raises(UsageError, match="LR1006 found No space left on device on") as caught:
        list(spark_engine.execute(spark.sparkContext, Described(True), None, [Split(0, 0, 9, 1)]))
    assert socket.gethostname() in str(caught.value)
    assert "in the stage: note what is shown" in str(caught.value)


@dataclass(frozen=True)
class Tasks:
    """A job whose first task raises an error of ours, where it is told to, and whose others take
    so many seconds."""

    seconds: float
    raises: bool = False
    title: str = "tasks"
    buckets: int = 0

    def scan(self, log: Any, split: Split) -> Iterator[tuple[int, bytes]]:
        if self.raises and split.start == 0:
            raise UsageError("LR1005", "found a reason")
        time.sleep(self.seconds)
        yield 0, b"result"

    def reduce(self, log: Any, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        raise AssertionError


SPLITS = [Split(0, start, start + 1, 1) for start in range(4)]


def test_tasks_that_do_not_end(spark: Any) -> None:
    context, log = spark.sparkContext, cast(LogFile, None)
    _let_go(spark)  # workers have started
    # each of two rounds takes less, by what a busy machine may need
    found = list(spark_engine.execute(context, Tasks(5), log, SPLITS, limits=Limits(tasks=9)))
    assert found == [b"result"] * 4
    began = time.monotonic()
    with pytest.raises(UsageError, match="LR1005 found no task that ended within 2 s") as caught:
        list(spark_engine.execute(context, Tasks(25), log, SPLITS, limits=Limits(tasks=2)))
    assert time.monotonic() - began < 22
    task = r"in the stage: tasks: task 0 \(attempt 0\) on \S+, task 1 "
    assert re.search(task, str(caught.value))
    _let_go(spark)


def _let_go(spark: Any) -> None:
    """Wait for tasks of a job that was given up, which other tests would wait for."""
    list(spark_engine.execute(spark.sparkContext, Tasks(0), cast(LogFile, None), SPLITS))


def test_an_error_of_a_task_does_not_wait_for_all_others(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_watch, "_AFTER_ERROR", 1)
    began, job = time.monotonic(), Tasks(25, raises=True)
    with pytest.raises(UsageError, match="LR1005 found a reason"):
        list(spark_engine.execute(spark.sparkContext, job, cast(LogFile, None), SPLITS))
    assert time.monotonic() - began < 22
    _let_go(spark)


def test_what_is_said_of_tasks_that_do_not_end() -> None:
    assert "stage: sort; expected" in str(no_task_ended("sort", 9, []))
    said = str(no_task_ended("sort", 9, [f"task {number} on m" for number in range(5)]))
    assert "sort: task 0 on m, task 1 on m, task 2 on m, 2 more; expected" in said
