"""A bucket of any size is in the order that sorting it in memory gives."""

from __future__ import annotations

import os
import pickle
import random
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from replay import spill, temp_folders
from replay.arrays import Records, take_rows
from replay.changes.envelope import RECORD
from replay.changes.order import commit_order
from replay.engine.spark import SparkEngine
from replay.logs import LogFile, Split
from replay.pipeline import scan
from replay.pipeline.scan import in_commit_order, packed


class Placed:
    """Tells where a task puts files, and where Spark wants them."""

    title, buckets = "say where files lie", 1

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        yield 0, b""

    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        with temp_folders.scratch_file() as file:
            held = Path(f"/proc/self/fd/{file.fileno()}").readlink()
        yield pickle.dumps((held, os.environ["SPARK_LOCAL_DIRS"]))


def drawn(draw: random.Random, count: int, values: int) -> Records:
    """Records whose fields have few values each, so that many are equal in the first ones."""
    records = np.zeros(count, RECORD)
    for record in records:
        for name in ("commit", "unit", "position"):
            record[name] = bytes([draw.randrange(values)]) * RECORD[name].itemsize
        record["segment"], record["file"] = draw.randrange(values), draw.randrange(values)
    records["offset"] = draw.sample(range(10 * count), count)
    return records


def block_of(records: Records) -> bytes:
    """Records as they go from task to task."""
    return packed(np.frombuffer(records.tobytes(), np.uint8))


@pytest.mark.parametrize("seed", range(8))
def test_runs_are_merged_into_one_order(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(seed)
    records = drawn(draw, draw.randrange(1, 700), draw.choice([1, 2, 5, 200]))
    expected = take_rows(records, commit_order(records)).tobytes()
    monkeypatch.setattr(scan, "RUN", draw.choice([1, 10, 99]))
    monkeypatch.setattr(spill, "STEP", draw.choice([1, 7, 4096]))
    monkeypatch.setattr(spill, "BUDGET", draw.choice([0, 1 << 20]))
    cuts = [0, *sorted(draw.sample(range(len(records)), min(5, len(records)))), len(records)]
    blocks = [block_of(records[low:high]) for low, high in pairwise(cuts) if low < high]
    draw.shuffle(blocks)
    assert in_commit_order(iter(blocks)).tobytes() == expected


@pytest.mark.spark
def test_files_of_tasks_lie_where_spark_wants_them(spark: Any) -> None:
    log = SimpleNamespace()
    engine = SparkEngine(started=lambda: spark.sparkContext)
    results = engine.execute(Placed(), cast(LogFile, log), [Split(0, 0, 1, 1)])
    ((place, folders),) = map(pickle.loads, results)
    assert any(Path(folder) in place.parents for folder in folders.split(","))
