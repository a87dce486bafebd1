"""Results of tasks come to the driver piece by piece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import pytest

from replay.engine import spark as spark_engine
from replay.logs import LogFile, Split


@dataclass(frozen=True)
class Many:
    """A job whose first task has no result, whose fourth has much, and others a little."""

    title: str = "many"
    buckets: int = 0

    def scan(self, log: Any, split: Split) -> Iterator[tuple[int, bytes]]:
        count = {0: 0, 3: 40}.get(split.start, 3)
        yield from ((0, bytes([split.start, number]) * 60) for number in range(count))

    def reduce(self, log: Any, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        raise AssertionError


@pytest.mark.parametrize(
    ("piece", "calls"),
    [(1_000, 11), (20_000, 1), (1 << 20, 0)],
    ids=["all tasks have many", "one task has many", "all tasks have few"],
)
def test_pieces(spark: Any, monkeypatch: pytest.MonkeyPatch, piece: int, calls: int) -> None:
    """Of tasks that have many, one's are here at a time; none is lost or made twice.
    What tasks have few of comes without being asked for."""
    monkeypatch.setattr(spark_engine, "PIECE", piece)
    context = spark.sparkContext
    asked: list[list[int]] = []
    run = context.runJob

    def counted(blocks: Any, work: Any, tasks: list[int]) -> Any:
        if isinstance(tasks, list):
            asked.append(tasks)
        return run(blocks, work, tasks)

    monkeypatch.setattr(context, "runJob", counted)
    splits = [Split(0, start, start + 1, 1) for start in range(12)]
    engine = spark_engine.SparkEngine(started=lambda: context)
    found = list(engine.execute(Many(), cast(LogFile, None), splits))
    expected = [block for split in splits for _, block in Many().scan(None, split)]
    assert sorted(found) == sorted(expected)
    assert [len(tasks) for tasks in asked] == [1] * calls
    assert context._jsc.sc().getPersistentRDDs().isEmpty()
