"""Results of tasks come to the driver piece by piece."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from replay.engine import spark as spark_engine
from replay.logs import LogFile, Split
from tests.support.places import ROOT


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


def test_the_setting_is_named_where_its_limit_is_hit(sakila_small: Path, tmp_path: Path) -> None:
    """Where it is too small even for what each task says of itself."""
    command = [sys.executable, "-m", "replay", "redo", "--control", sakila_small / "small.ctl"]
    command += ["--data", sakila_small / "small.dat", "--out", tmp_path / "out"]
    command += ["--engine", "spark", "--master", "local[1]"]
    command += ["--conf", "spark.driver.maxResultSize=100"]
    ended = subprocess.run(
        command, cwd=ROOT, env={**os.environ}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 12, ended.stderr
    assert "LR1005" in ended.stderr
    assert "LR1005 found that Spark failed in the stage: " in ended.stderr
    assert "--conf spark.driver.maxResultSize=SIZE" in ended.stderr
