"""Results of tasks come to the driver piece by piece."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from tests.support.places import ROOT


def blocks_of(task: int) -> list[tuple[int, bytes]]:
    """Of one task nothing, of one much, of one a block larger than a piece."""
    count = {0: 0, 3: 40}.get(task, 3)
    size = 5_000 if task == 4 else 100 + task
    return [(task % 2, bytes([task, number]) * (size // 2)) for number in range(count)]


@pytest.mark.parametrize(
    ("piece", "pieces", "at_most"),
    [(1_000, 12, 5_000), (100_000, 1, 15_000), (1 << 20, 0, 0)],
    ids=["all tasks have many", "one task has many", "all tasks have few"],
)
def test_pieces(
    spark: Any, monkeypatch: pytest.MonkeyPatch, piece: int, pieces: int, at_most: int
) -> None:
    """No more of them are here at a time than a piece, or one block; none is lost or made twice.
    What tasks have few of comes without being asked for."""
    from replay.pipeline import spark_results

    monkeypatch.setattr(spark_results, "PIECE", piece)
    context = spark.sparkContext
    made = context.accumulator(0)

    def work(tasks: Iterator[int]) -> Iterator[tuple[int, bytes]]:
        for task in tasks:
            made.add(1)
            yield from blocks_of(task)

    results = spark_results.PiecedResults(
        context, context.parallelize(range(12), 12).mapPartitions(work)
    )
    found: list[tuple[int, bytes]] = []
    times: list[int] = []

    @contextmanager
    def watched() -> Iterator[None]:
        times.append(len(found))
        yield

    results.make()
    for block in results.pieces(watched):
        found.append(block)
    assert sorted(found) == sorted(block for task in range(12) for block in blocks_of(task))
    sizes = [
        sum(len(block[1]) for block in found[low:high])
        for low, high in zip(times, [*times[1:], len(found)][: len(times)], strict=True)
    ]
    assert len(sizes) == pieces
    assert max(sizes, default=0) <= at_most
    assert sum(len(block[1]) for block in found[: times[0] if times else len(found)]) <= piece
    assert made.value == 12
    assert results.blocks.is_cached
    results.forget()
    assert not results.blocks.is_cached


def test_other_results_of_a_repeated_task_are_an_error(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from replay.pipeline import spark_results

    monkeypatch.setattr(spark_results, "PIECE", 1_000)
    context = spark.sparkContext
    results = spark_results.PiecedResults(context, context.parallelize([3], 1).flatMap(blocks_of))
    results.make()
    results._sizes.value[0][1][1] = (9, 928)
    with pytest.raises(Exception, match="other results than those that were weighed"):
        list(results.pieces(nullcontext))
    results.forget()


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
    assert "spark.driver.maxResultSize, 100" in ended.stderr
    assert "--conf spark.driver.maxResultSize=SIZE" in ended.stderr
