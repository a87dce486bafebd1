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
from replay.errors import EXIT_OK
from replay.logs import LogFile, Split
from replay.pipeline import local
from replay.pipeline.task_events import TaskEvent

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
    from replay.pipeline import spark as engine

    events: list[TaskEvent] = []
    log = cast(LogFile, None)
    results = engine.execute(spark.sparkContext, Sums(), log, SPLITS, told=events.append)
    check(events, list(results))


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
    assert scan["stage"] == "write scripts"
    assert scan["bytes"] == (sakila_small / "small.dat").stat().st_size
