"""The results of a job on Spark, which come to the driver piece by piece.

A task that has few sends them along with the word that it has ended. Others leave theirs on the
disks of their executors, and say how large they are; the driver then asks for as many at a time as
it may hold. So neither its memory nor ``spark.driver.maxResultSize`` must hold all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from itertools import chain, islice

from py4j.protocol import Py4JError
from pyspark import RDD, Accumulator, SparkContext, StorageLevel

from replay.pipeline.stages import BucketBlock, Listed

#: Bytes of results that come to the driver together.
PIECE = 64 << 20
#: What Spark allows, in pieces: it counts what goes around a result, too.
_PIECES = 4
_LIMIT = "spark.driver.maxResultSize"

#: The blocks and bytes of each part of the results of a task, by the number of the task.
_Sizes = tuple[int, list[tuple[int, int]]]
#: Few results of a task, by its number.
_Few = tuple[int, list[BucketBlock]]


@dataclass(frozen=True)
class _Part:
    """So many blocks from the ``first`` on, of ``size`` bytes, ``behind`` so many bytes."""

    first: int
    count: int
    behind: int
    size: int


class PiecedResults:
    """The results of the last stage of a job, whose tasks give the ``blocks``."""

    def __init__(self, context: SparkContext, blocks: RDD[BucketBlock]) -> None:
        self.context = context
        # 0: as many as there are
        allowed = context._jsc.sc().conf().getSizeAsBytes(_LIMIT, "1g") or _PIECES * PIECE
        self.piece = max(1, min(PIECE, allowed // _PIECES))
        self._sizes: Accumulator[list[_Sizes]] = context.accumulator([], Listed())  # type: ignore[arg-type]
        self._few: Accumulator[list[_Few]] = context.accumulator([], Listed())  # type: ignore[arg-type]
        sizes, few, piece = self._sizes, self._few, self.piece
        share = piece // blocks.getNumPartitions()

        def weighed(number: int, part: Iterable[BucketBlock]) -> Iterator[BucketBlock]:
            rest, first, size = iter(part), list[BucketBlock](), 0
            for block in rest:
                first.append(block)
                size += len(block[1])
                if size > share:
                    break
            else:
                few.add([(number, first)])
                return
            parts, count, size = [], 0, 0
            for block in chain(first, rest):
                if count and size + len(block[1]) > piece:
                    parts.append((count, size))
                    count = size = 0
                count, size = count + 1, size + len(block[1])
                yield block
            sizes.add([(number, [*parts, (count, size)])])

        self.blocks = blocks.mapPartitionsWithIndex(weighed).persist(StorageLevel.DISK_ONLY)

    def make(self) -> None:
        """Have the tasks make them. Raises what Spark raises."""
        self.blocks._jrdd.count()

    def pieces(self, watched: Callable[[], AbstractContextManager[None]]) -> Iterator[BucketBlock]:
        """All blocks, of which some are here at a time; ``watched`` looks after what Spark does for
        them."""
        few, sizes = dict(self._few.value), dict(self._sizes.value)
        yield from chain.from_iterable(few.values())
        for tasks, part in _together(sizes, self.piece):
            with watched():
                if part is not None:
                    blocks = self._of_task(tasks[0], part)
                elif len(tasks) == len(sizes):
                    blocks = self.blocks.collect()
                else:
                    blocks = self.context.runJob(self.blocks, _as_they_are, tasks)
            yield from blocks

    def _of_task(self, task: int, part: _Part) -> list[BucketBlock]:
        """Some of the results of a task. RuntimeError where a task that had to be repeated gave
        others than before."""

        def some(blocks: Iterable[BucketBlock]) -> Iterator[BucketBlock]:
            there = iter(blocks)
            skipped = sum(len(block[1]) for block in islice(there, part.first))
            kept = list(islice(there, part.count))
            if (skipped, sum(len(block[1]) for block in kept)) != (part.behind, part.size):
                raise RuntimeError("found other results than those that were weighed")
            yield from kept

        return self.context.runJob(self.blocks, some, [task])

    def forget(self) -> None:
        """Have executors remove them."""
        with suppress(Py4JError, ConnectionError):  # Java is gone
            self.blocks.unpersist()


def _as_they_are(blocks: Iterable[BucketBlock]) -> Iterable[BucketBlock]:
    return blocks


def _together(
    sizes: Mapping[int, Sequence[tuple[int, int]]], piece: int
) -> Iterator[tuple[list[int], _Part | None]]:
    """(tasks, part): those whose results come together, up to a ``piece``; of one with more each of
    its parts."""
    waiting: list[int] = []
    held = 0
    for task, parts in sorted(sizes.items()):
        size = sum(size for _, size in parts)
        if waiting and held + size > piece:
            yield waiting, None
            waiting, held = [], 0
        if len(parts) == 1:
            waiting.append(task)
            held += size
            continue
        first = behind = 0
        for count, size in parts:
            yield [task], _Part(first, count, behind, size)
            first, behind = first + count, behind + size
    if waiting:
        yield waiting, None
