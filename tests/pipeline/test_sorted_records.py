"""A bucket of any size is in the order that sorting it in memory gives."""

from __future__ import annotations

import os
import pickle
import random
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from replay import temp_folders
from replay.arrays import Records
from replay.changes.envelope import RECORD, take_records
from replay.changes.order import commit_order
from replay.decoding.machine_code import available
from replay.engine import local
from replay.engine import spark as spark_engine
from replay.logs import LogFile, Split
from replay.pipeline import sorted_records
from replay.pipeline.packed_records import packed
from replay.pipeline.sorted_records import in_commit_order


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
    expected = take_records(records, commit_order(records)).tobytes()
    monkeypatch.setattr(sorted_records, "RUN", draw.choice([1, 10, 99]))
    monkeypatch.setattr(sorted_records, "TOGETHER", draw.choice([2, 3, 128]))
    monkeypatch.setattr(sorted_records, "WINDOW", draw.choice([1, 7, 4096]))
    cuts = [0, *sorted(draw.sample(range(len(records)), min(5, len(records)))), len(records)]
    blocks = [block_of(records[low:high]) for low, high in pairwise(cuts) if low < high]
    draw.shuffle(blocks)
    assert in_commit_order(iter(blocks)).tobytes() == expected


@pytest.mark.parametrize("of_one_commit", [1, 9, 400])
@pytest.mark.parametrize("seed", range(6))
def test_machine_code_sorts_as_the_other_way(
    seed: int, of_one_commit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(seed)
    count = 800
    records = drawn(draw, count, draw.choice([1, 2, 5, 200]))
    commits = [draw.randrange(1 << 40) for _ in range(-(-count // of_one_commit))]
    for number, record in enumerate(records):
        record["commit"] = commits[number // of_one_commit].to_bytes(10, "big")
        record["segment"], record["file"] = draw.randrange(1 << 16), draw.randrange(1 << 32)
        record["offset"] = draw.randrange(1 << 62)
        if seed % 2:
            record["position"] = draw.randrange(1 << 30).to_bytes(10, "big")
    records = records[draw.sample(range(count), count)]
    expected = take_records(records, commit_order(records)).tobytes()
    monkeypatch.setattr(sorted_records, "WORTH", 1)
    assert available(sorted_records._KERNEL) is not None
    ways: list[int] = []

    monkeypatch.setattr(sorted_records, "available", partial(told, available, ways))
    monkeypatch.setattr(sorted_records, "commit_order", partial(told_order, ways))
    blocks = [block_of(records[:7]), block_of(records[7:8]), block_of(records[8:])]
    assert in_commit_order(blocks).tobytes() == expected
    assert ways == ([0] if of_one_commit < 400 else [1, 2])


@pytest.mark.parametrize("seed", range(20))
def test_words_are_in_the_order_of_commits_and_as_far_as_they_can_of_positions(seed: int) -> None:
    draw = random.Random(seed)
    join = available(sorted_records._JOIN)
    assert join is not None
    long, ends = draw.choice([8, 40, 62, 80]), draw.choice([0, 13])
    pairs = [
        ((draw.randrange(1 << long) << ends) % (1 << 80), draw.randrange(1 << draw.choice([4, 30])))
        for _ in range(draw.choice([1, 2, 300]))
    ]
    base = draw.choice([0, 1 << 70])
    fields = np.array(
        [
            [commit >> 16, commit & 0xFFFF, (position + base) >> 16, (position + base) & 0xFFFF]
            for commit, position in pairs
        ],
        np.uint64,
    )
    words = np.empty(len(pairs), np.uint64)
    used = join(fields, np.empty(sorted_records._STATE, np.uint64), words)
    keys = [
        (commit >> 16 if used == 0 else commit, position if used == 2 else 0)
        for commit, position in pairs
    ]
    rank = {key: number for number, key in enumerate(sorted(set(keys)))}
    of_words = {word: number for number, word in enumerate(sorted(set(words.tolist())))}
    assert [rank[key] for key in keys] == [of_words[word] for word in words.tolist()]
    if long == 8:
        assert used == 2
    elif long == 80:
        assert used == 0 or len(pairs) < 300


@pytest.mark.parametrize("bits", [1, 10, 11, 30, 50, 64])
@pytest.mark.parametrize("count", [1, 2, 3000])
def test_words_are_ranked_and_equal_ones_stay_in_their_order(bits: int, count: int) -> None:
    rank = available(sorted_records._RANK)
    assert rank is not None
    draw = random.Random(bits)
    some = [draw.randrange(1 << bits) for _ in range(count)]
    words = np.array([draw.choice(some) for _ in some], np.uint64)
    pairs = np.empty((2, count, 2), np.uint64)
    ranks, counts = np.empty(count, np.int64), np.full(sorted_records._COUNTS, -1)
    assert rank(words, pairs, counts, ranks) == max(-(-int(words.max()).bit_length() // 10), 1)
    assert np.argsort(ranks).tolist() == np.argsort(words, kind="stable").tolist()


def told(real: Callable[..., Any], ways: list[int], wanted: Any) -> Callable[..., int]:
    """Machine code; that which settles an order notes what it says."""
    code = real(wanted)
    if wanted.name != "settle_order":
        return cast(Callable[..., int], code)

    def noted(*arguments: Any) -> int:
        ways.append(code(*arguments))
        return ways[-1]

    return noted


def told_order(ways: list[int], records: Records) -> Any:
    """The other way, which notes that it was gone."""
    ways.append(2)
    return commit_order(records)


def test_few_records_need_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorted_records, "scratch_file", None)
    records = drawn(random.Random(1), 100, 5)
    ordered = take_records(records, commit_order(records))
    assert in_commit_order([block_of(records)]).tobytes() == ordered.tobytes()
    assert not len(in_commit_order([]))


@pytest.mark.spark
def test_files_of_tasks_lie_where_spark_wants_them(spark: Any) -> None:
    log = SimpleNamespace()
    results = spark_engine.execute(
        spark.sparkContext, Placed(), cast(LogFile, log), [Split(0, 0, 1, 1)]
    )
    ((place, folders),) = map(pickle.loads, results)
    assert any(Path(folder) in place.parents for folder in folders.split(","))


def test_blocks_come_back_as_they_were_put(tmp_path: Path) -> None:
    with local._BucketFiles(tmp_path) as files:
        for block in (b"one", b"", b"three"):
            files.append(0, block)
        files.append(1, b"other")
        assert files.buckets() == [0, 1]
        assert list(files.taken(0)) == [b"one", b"", b"three"]
    assert [path.name for path in tmp_path.iterdir()] == ["1"]
