"""A session has jobs of others too, which go on where one of ours is given up, and do not count
for it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, cast

import pytest

from replay.engine.spark import SparkEngine
from replay.errors import UsageError
from replay.logs import LogFile, Split


@dataclass(frozen=True)
class Endless:
    """Has a task that does not end."""

    title: str = "endless"
    buckets: int = 1

    def scan(self, log: Any, split: Split) -> Iterator[tuple[int, bytes]]:
        time.sleep(600)
        yield 0, b""

    def reduce(self, log: Any, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        yield from blocks


@pytest.mark.long
def test_they_end_well(spark: Any, tmp_path: Path) -> None:
    """All jobs of the session were cancelled."""
    ours, going, over = cast(Any, Endless()), tmp_path / "going", tmp_path / "over"

    def waits(number: int) -> int:
        going.touch()
        while not over.exists():
            time.sleep(0.1)
        return number

    def given_up() -> str:
        while not going.exists():
            time.sleep(0.1)
        engine = SparkEngine(started=lambda: spark.sparkContext, task_timeout=1)
        try:
            with pytest.raises(UsageError) as caught:
                list(engine.execute(ours, cast(LogFile, None), [Split(0, 0, 1, 1)]))
            return str(caught.value)
        finally:
            over.touch()

    with ThreadPoolExecutor(1) as others:
        told = others.submit(given_up)
        assert spark.sparkContext.parallelize([7], 1).map(waits).collect() == [7]
        assert "found no task that ended within 1 s" in told.result()


@pytest.mark.long
def test_what_ends_of_others_is_not_ours(spark: Any) -> None:
    """Their tasks ended, one after the other, and ours was waited for as long as they did."""
    ours, context = cast(Any, Endless()), spark.sparkContext
    engine = SparkEngine(started=lambda: context, task_timeout=2)
    over = Event()

    def others() -> None:
        while not over.is_set():
            context.parallelize(range(4), 4).map(lambda _: time.sleep(0.3)).count()

    with ThreadPoolExecutor(1) as pool:
        told = pool.submit(others)
        try:
            with pytest.raises(UsageError, match="found no task that ended within 2 s"):
                list(engine.execute(ours, cast(LogFile, None), [Split(0, 0, 1, 1)]))
        finally:
            over.set()
        told.result()
