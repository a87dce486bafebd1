"""What becomes of a run is said in words where its cluster is in the way."""

from __future__ import annotations

from typing import Any

import pytest

from replay.errors import LogReplayError, UsageError
from replay.logs import Split
from replay.pipeline import spark as engine
from replay.pipeline.cluster_trouble import why_failed
from replay.pipeline.spark import start_context

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
            "Job aborted: ExecutorLostFailure (executor 3 exited)\nmore",
            "LR1005",
            ["gave up the stage: write scripts: ExecutorLostFailure (executor 3 exited);"],
        ),
        (LOST + "No module named 'zstandard'", "LR1005", ["no Python module zstandard"]),
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


def test_a_master_and_a_server_of_spark_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_REMOTE", "sc://host/;token=hidden")
    with pytest.raises(UsageError, match=r"LR1005 found a server of Spark Connect") as caught:
        start_context("local[*]", {})
    assert "hidden" not in str(caught.value)


def test_a_driver_that_is_elsewhere_has_no_address() -> None:
    told = str(why_failed({"spark.master": "sc://h"}, RuntimeError(), "write scripts", 5, False))
    assert "found no executor of sc://h within 5 s" in told
    assert "None" not in told
    assert "reach this program" not in told


SETTINGS = {
    "spark.driver.host": "here",
    "spark.master": "spark://m:7077",
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
    shown = list(engine.execute(spark.sparkContext, Described(False), None, splits))
    assert shown == [b"logreplay: note what is shown (5.0 MB, 2 splits)"] * 2
    assert spark.sparkContext.getLocalProperty("spark.job.description") is None


@pytest.mark.spark
def test_a_full_disk_is_named_with_its_machine(spark: Any) -> None:
    import socket

    with pytest.raises(UsageError, match="LR1006 found No space left on device on") as caught:
        list(engine.execute(spark.sparkContext, Described(True), None, [Split(0, 0, 9, 1)]))
    assert socket.gethostname() in str(caught.value)
    assert "in the stage: note what is shown" in str(caught.value)
