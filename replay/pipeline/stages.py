"""What tasks do in the stages of a job, whichever way Spark calls them.

What goes from stage to stage are pairs of a number and a block. There is a number for each bucket
(:data:`BucketBlock`), then one for results as they are, then one for errors of ours, which so
arrive as they were raised, and one for what is to be told of machines: :data:`OTHERS` in all.
"""

from __future__ import annotations

import gc
import os
import pickle
import socket
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from replay.errors import LogReplayError
from replay.logs import LogFile, Split
from replay.machine import is_full
from replay.pipeline.engine import Job, ThreeStageJob, third_stage
from replay.pipeline.libraries import check_libraries, check_program

#: A bucket, and bytes for it.
BucketBlock = tuple[int, bytes]
#: Is told of an error of ours when it is raised, pickled.
Hears = Callable[[bytes], None]
#: Is told, in words, what a user must know of machines.
Warned = Callable[[str], None]
#: How many numbers there are beside those of buckets.
OTHERS = 3


class First:
    """What Spark's accumulators ask for where the first value that comes is kept."""

    def zero(self, value: bytes) -> bytes:
        """Nothing yet."""
        return b""

    def addInPlace(self, value: bytes, other: bytes) -> bytes:
        """The first of two that is there."""
        return value or other


class Listed:
    """The same where all values that come are kept."""

    def zero(self, value: list[Any]) -> list[Any]:
        """Nothing yet."""
        return []

    def addInPlace(self, value: list[Any], other: list[Any]) -> list[Any]:
        """Those that are there, and others."""
        value.extend(other)
        return value


def deaf(error: bytes) -> None:
    """Errors that come with the results only."""


@lru_cache(maxsize=1)
def unpacked(packed: bytes) -> tuple[Any, LogFile]:
    """A job and its log, as they were pickled: a worker that does many tasks of it does this once.
    Catalogs of many tables take longer to read than splits, and Spark looks for garbage after each
    task, so they are left out of that."""
    gc.disable()
    try:
        job, log = pickle.loads(packed)
    finally:
        gc.enable()
    gc.freeze()
    return job, log


def settled(packed: bytes, stage: str, blocks: Iterable[BucketBlock]) -> Iterator[BucketBlock]:
    """The blocks of a task. What the first one of a stage made for all of them, as key spaces of
    many tables, is left out of the looks for garbage, too."""
    yield from blocks
    _freeze(packed, stage)


@lru_cache(maxsize=4)
def _freeze(packed: bytes, stage: str) -> None:
    gc.collect()
    gc.freeze()


def compared(
    libraries: Mapping[str, str],
    last: int,
    work: Callable[[], Iterable[BucketBlock]],
    hears: Hears = deaf,
    program: str = "",
) -> Iterator[BucketBlock]:
    """The blocks of a stage, whose results have the number ``last``, on a machine that has the
    ``libraries`` of the driver, and runs the ``program`` that travelled (its archive's name, '' for
    none). Where it has others no work is begun: the job is not even unpickled."""
    try:
        check_program(program)
        note = check_libraries(libraries)
    except LogReplayError as error:
        packed = pickle.dumps(error)
        hears(packed)
        yield last + 1, packed
        return
    if note:
        yield last + 2, note.encode()
    yield from work()


def last_number(job: Job) -> int:
    """The number of results when all stages of a job are done."""
    last = third_stage(job)
    return job.buckets if last is None else last.meetings


def scanned(
    job: Job,
    log: LogFile,
    splits: Iterable[Split],
    done: Callable[[Split], None],
    hears: Hears = deaf,
) -> Iterator[BucketBlock]:
    """The blocks of some splits; ``done`` is told of each that was read."""
    for split in splits:
        yield from _caught(job.buckets, job.scan(log, split), hears)
        done(split)


def reduced(
    job: Job, log: LogFile, blocks: Iterable[BucketBlock], hears: Hears = deaf
) -> Iterator[BucketBlock]:
    """The results of the buckets that came to a task, or their parts where a third stage follows.
    Raises AssertionError where blocks of one bucket do not lie together."""
    _use_folders_of_spark()
    last, ends = third_stage(job), last_number(job)
    for bucket, content in _together(blocks, job.buckets):
        if bucket >= job.buckets:
            those = set(content) if bucket == job.buckets + 2 else content
            yield from ((bucket - job.buckets + ends, block) for block in those)
        else:
            results = job.reduce(log, bucket, content)
            yield from _caught(ends, _divided(last, ends, results), hears)


def met(
    job: ThreeStageJob, blocks: Iterable[BucketBlock], hears: Hears = deaf
) -> Iterator[BucketBlock]:
    """The results of the meetings that came to a task. Raises as :func:`reduced`."""
    for meeting, content in _together(blocks, job.meetings):
        if meeting >= job.meetings:
            yield from ((meeting, block) for block in content)
        else:
            results = ((job.meetings, result) for result in job.meet(meeting, content))
            yield from _caught(job.meetings, results, hears)


def split_size(split: Split) -> int:
    """The bytes that a task is given with a split."""
    return split.stop - split.start


def block_size(block: BucketBlock) -> int:
    """The bytes that a task is given with a block."""
    return len(block[1])


def place(buckets: int, number: int) -> int:
    """The partition of Spark's in which the blocks of a number meet: one for each bucket, and one
    for all that are beside them, which are few, for each task has its price."""
    return min(number, buckets)


def error_of(last: int, block: BucketBlock) -> str:
    """The error that a block of a stage is, whose results have the number ``last``, in words; ''
    for others."""
    return str(pickle.loads(block[1])) if block[0] == last + 1 else ""


def results_of(job: Job, blocks: Iterable[BucketBlock], warned: Warned) -> Iterator[bytes]:
    """What the last stage gave to the caller. Raises the errors of tasks. ``warned`` is told what
    is to be told of machines, each once."""
    last, told = last_number(job), set()
    for number, block in blocks:
        if number == last + 1:
            raise pickle.loads(block)
        if number == last:
            yield block
        elif block not in told:
            told.add(block)
            warned(f"libraries differ in their patch versions: {block.decode()}")


def warn(message: str) -> None:
    """Tell a program that uses this package."""
    warnings.warn(message, RuntimeWarning, stacklevel=2)


def _together(blocks: Iterable[BucketBlock], buckets: int) -> Iterator[tuple[int, Iterator[bytes]]]:
    """The blocks of each number. A bucket in two pieces would be ordered in two pieces; what is
    beside the ``buckets`` comes in as many as it likes."""
    seen: set[int] = set()
    for number, those in groupby(blocks, itemgetter(0)):
        if number in seen:
            raise AssertionError(f"blocks of bucket {number} do not lie together")
        if number < buckets:
            seen.add(number)
        yield number, map(itemgetter(1), those)


def _divided(
    job: ThreeStageJob | None, ends: int, results: Iterable[bytes]
) -> Iterator[BucketBlock]:
    """Results of the second stage, for the third where there is one."""
    for result in results:
        if job is None:
            yield ends, result
        else:
            yield from job.divide(result)


def _caught(results: int, blocks: Iterator[BucketBlock], hears: Hears) -> Iterator[BucketBlock]:
    """Blocks; an error of ours becomes one too (of the number after the results). Where a disk is
    full the machine is named; Spark tries elsewhere."""
    try:
        yield from blocks
    except LogReplayError as error:
        packed = pickle.dumps(error)
        hears(packed)
        yield results + 1, packed
    except OSError as error:
        if not is_full(error) or error.errno is None:
            raise
        place = error.filename or tempfile.gettempdir()
        said = os.strerror(error.errno)
        raise OSError(error.errno, f"{said} on {socket.gethostname()}: {place}") from None


def _use_folders_of_spark() -> None:
    """Temporary files of a task lie where Spark wants its own: there may be several disks."""
    folders = [one for one in os.environ.get("SPARK_LOCAL_DIRS", "").split(",") if one]
    if folders and Path(place := folders[os.getpid() % len(folders)]).is_dir():
        tempfile.tempdir = place
