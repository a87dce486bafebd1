"""What is told of each task of a job, by both engines."""

from __future__ import annotations

import json
import socket
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from replay.cli.main import main
from replay.engine import local
from replay.engine.contract import TaskEvent, scan_tasks
from replay.errors import EXIT_OK
from replay.logs import LogFile, Split

SPLITS = [Split(0, start, start + 5 + start, 1) for start in range(3)]


@dataclass(frozen=True)
class Sums:
    """A job of all three stages; the second takes a while."""

    title: str = "sums"
    buckets: int = 2
    meetings: int = 2

    def scan(self, log: Any, split: Split) -> Iterator[tuple[int, bytes]]:
        yield split.start % 2, bytes(10 + split.start)

    def reduce(self, log: Any, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        size = sum(map(len, blocks))
        time.sleep(0.2)
        yield bytes([bucket, size])

    def divide(self, result: bytes) -> Iterator[tuple[int, bytes]]:
        yield result[0], result[1:]

    def meet(self, meeting: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        yield bytes([sum(block[0] for block in blocks)])


def check(events: list[TaskEvent], results: Iterable[bytes]) -> None:
    assert sorted(results) == [b"\x0b", b"\x16"]  # 11, 10 + 12
    assert {(event.part, event.number): event.bytes for event in events} == {
        **{("scan", number): 5 + number for number in range(3)},
        ("reduce", 0): 22,
        ("reduce", 1): 11,
        ("meet", 0): 1,
        ("meet", 1): 1,
    }
    assert len(events) == 7
    for event in events:
        assert (event.stage, event.attempt, event.results) == ("sums", 0, 1)
        assert event.host == socket.gethostname()
        assert (event.seconds >= 0.2) is (event.part == "reduce")


@pytest.mark.parametrize("threads", [1, 2])
def test_tasks_of_this_process(threads: int) -> None:
    events: list[TaskEvent] = []
    log = cast(LogFile, None)
    results = local.execute(Sums(), log, SPLITS, threads=threads, told=events.append)
    check(events, list(results))


def test_tasks_of_spark(spark: Any) -> None:
    from replay.engine import spark as spark_engine

    events: list[TaskEvent] = []
    log = cast(LogFile, None)
    results = spark_engine.execute(spark.sparkContext, Sums(), log, SPLITS, told=events.append)
    check(events, list(results))


class Ranges:
    """A job of which some splits are worth one task; results are the files of splits."""

    title, buckets, together = "ranges", 0, 4

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        yield 0, split.file.to_bytes(2, "big")

    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        raise AssertionError


@pytest.mark.parametrize(("splits", "tasks"), [(1, 1), (2, 2), (5, 2), (30, 8)])
def test_splits_that_are_worth_less_than_a_task_share_one(
    spark: Any, splits: int, tasks: int
) -> None:
    """Both cores have something to do, whatever the job says."""
    from replay.engine import spark as spark_engine

    events: list[TaskEvent] = []
    some = [Split(number, 0, 10, 1) for number in range(splits)]
    log = cast(LogFile, None)
    results = spark_engine.execute(spark.sparkContext, Ranges(), log, some, told=events.append)
    assert sorted(int.from_bytes(result, "big") for result in results) == list(range(splits))
    assert len(events) == tasks
    assert sum(event.bytes for event in events) == splits * 10


@pytest.mark.parametrize(
    ("together", "splits", "cores", "tasks"),
    [
        (1, 100, 2, 100),
        (4, 0, 2, 1),
        (4, 3, 2, 2),
        (4, 100, 2, 25),
        (4, 100, 64, 64),
        (8, 5, 64, 5),
    ],
)
def test_how_many_tasks_scan(together: int, splits: int, cores: int, tasks: int) -> None:
    job = Ranges()
    job.together = together
    assert scan_tasks(job, splits, cores) == tasks


def test_lines_of_a_command(
    sakila_small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["redo", "--control", str(sakila_small / "small.ctl"), "--engine", "local"]
    words += ["--data", str(sakila_small / "small.dat"), "--log-json", "--out", str(tmp_path / "o")]
    assert main(words) == EXIT_OK
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines() if line[0] == "{"]
    assert Counter(line["part"] for line in lines) == {"scan": 1, "reduce": 1}
    scan = next(line for line in lines if line["part"] == "scan")
    assert scan["event"] == "task"
    assert scan.keys() == {
        *("time", "event", "stage", "part", "number", "attempt", "host", "seconds", "bytes"),
        "results",
    }
    assert scan["stage"] == "write scripts"
    assert scan["bytes"] == (sakila_small / "small.dat").stat().st_size
