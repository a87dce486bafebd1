"""What becomes of a run is said in words where its cluster is in the way."""

from __future__ import annotations

from typing import Any, cast

import pytest
from pyspark.errors import PySparkException

from replay.engine.spark import SparkEngine, failed
from replay.engine.spark_start import said, start_context
from replay.errors import UsageError
from replay.logs import LogFile, Split

#: Jobs of these tests look at none.
NO_LOG = cast(LogFile, None)
LOST = "Lost task 0.3 in stage 0.0 (TID 3) (10.0.0.7 executor 1): "


class OfJava(PySparkException):
    """An exception of Java, with its causes."""

    def __init__(self, *texts: str) -> None:
        super().__init__(texts[0])
        self.texts = texts
        self.java_exception: Any = self

    def toString(self) -> str:
        return self.texts[0]

    def getCause(self) -> Any:
        return OfJava(*self.texts[1:]) if self.texts[1:] else None

    def __str__(self) -> str:
        return self.texts[0]


JOB = "org.apache.spark.SparkException: Job aborted due to stage failure: " + LOST


@pytest.mark.parametrize(
    ("text", "code", "hint"),
    [
        ("OSError: [Errno 28] No space left on device", "LR1006", "spark.local.dir"),
        ("OSError: [Errno 122] Disk quota exceeded: /data/a b", "LR1006", "spark.local.dir"),
        ("ExecutorLostFailure (executor 3 exited)\nmore", "LR1005", "logs of the executors"),
        ("No module named 'zstandard'", "LR1005", "PYSPARK_PYTHON"),
        (
            "Total size of serialized results of 3 tasks (1.2 GiB) is bigger than"
            " spark.driver.maxResultSize (1024.0 MiB)\nat",
            "LR1005",
            "spark.driver.maxResultSize=SIZE",
        ),
        ("MemoryError: Cannot allocate memory\n", "LR1007", "--split-mb"),
        ("pyarrow.lib.ArrowMemoryError: malloc of size 64 failed", "LR1007", "--split-mb"),
        ("Python worker exited unexpectedly (crashed)", "LR1007", "spark.executor.pyspark.memory"),
        ("java.lang.OutOfMemoryError: Direct buffer memory", "LR1007", "spark.driver.memory"),
        ("[PYTHON_VERSION_MISMATCH] 3.9 and 3.11", "LR1005", "PYSPARK_PYTHON"),
        ("FetchFailed(BlockManagerId): Failed to connect to m:1", "LR1005", "firewall"),
    ],
)
def test_what_spark_says_is_shown_as_it_says_it(text: str, code: str, hint: str) -> None:
    told = failed("in the stage: write scripts", OfJava(JOB + text))
    assert told is not None
    assert told.code == code
    line = (JOB + text).partition("\n")[0]
    assert told.message == f"found that Spark failed in the stage: write scripts: {line}"
    assert hint in told.hint


def test_the_end_of_a_traceback_and_the_cause_are_shown() -> None:
    traceback = "Traceback (most recent call last):\n  File x\nOSError: [Errno 28] No space left\n"
    shown = said(OfJava(JOB + traceback))
    assert shown == f"{JOB.rstrip(': ')}: OSError: [Errno 28] No space left"
    nested = (
        "Error from python worker:\n  " + traceback.replace("\n", "\n  ") + "\nPYTHONPATH was:\n  x"
    )
    assert said(OfJava(nested)) == "Error from python worker: OSError: [Errno 28] No space left"
    assert len(said(OfJava("y" * 9000))) == 500
    assert said(OfJava("a.B: it failed.", "c.D: why")) == "a.B: it failed: c.D: why"
    assert said(OfJava("a.B: it failed.", "a.B: it failed")) == "a.B: it failed"


def test_a_defect_of_ours_in_a_task_is_no_trouble_of_sparks() -> None:
    defect = OfJava(JOB + "Traceback (most recent call last):\n  File x\nZeroDivisionError: y\n")
    assert failed("in the stage: x", defect) is None


def test_java_that_is_gone() -> None:
    told = failed("in the stage: x", ConnectionError())
    assert told is not None
    assert told.message == (
        "found that Spark's Java process ended, in the stage: x; expected it to stay"
    )


def test_spark_connect_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="LR1005 found a server of Spark Connect") as caught:
        start_context("sc://host/;token=hidden", {})
    assert "hidden" not in str(caught.value)
    monkeypatch.setenv("SPARK_REMOTE", "sc://host/;token=hidden")
    with pytest.raises(UsageError, match="LR1005 found a server of Spark Connect") as caught:
        start_context("local[*]", {})
    assert "hidden" not in str(caught.value)


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


def on(spark: Any, task_timeout: int | None = None) -> SparkEngine:
    """The engine on a session."""
    return SparkEngine(started=lambda: spark.sparkContext, task_timeout=task_timeout)


@pytest.mark.spark
def test_stages_have_names(spark: Any) -> None:
    splits = [Split(0, 0, 3_000_000, 1), Split(0, 3_000_000, 5_000_000, 2)]
    shown = list(on(spark).execute(Described(False), NO_LOG, splits))
    assert shown == [b"logreplay: note what is shown"] * 2
    assert spark.sparkContext.getLocalProperty("spark.job.description") is None


@pytest.mark.spark
def test_a_full_disk_is_named(spark: Any) -> None:
    with pytest.raises(UsageError, match="LR1006 .* No space left on device") as caught:
        list(on(spark).execute(Described(True), NO_LOG, [Split(0, 0, 9, 1)]))
    assert "in the stage: note what is shown" in str(caught.value)
