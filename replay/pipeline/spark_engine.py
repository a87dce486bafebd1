"""The stages on Spark, the engine. It holds no rule about logs, SQL or databases.

The engine carries out jobs over the splits of a log, which are exact byte ranges: each is scanned
by a task that yields blocks by bucket, Spark brings the blocks of a bucket together, and a task
reduces them. Blocks are bytes that only Python looks into, so the engine stays below Spark SQL,
whose start alone costs as much as reading half a million records.

What tasks do by name is in :mod:`replay.pipeline.stages`, so that workers import that and not this
module.
"""

from __future__ import annotations

import os
import shutil
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

from pyspark import Accumulator, SparkContext, SparkFiles, TaskContext, cloudpickle

from replay.changes.choices import EngineName
from replay.leftovers import lasting_folder, outside
from replay.logs import LogFile, Split, files
from replay.pipeline.cluster_trouble import (
    UNLIMITED,
    Limits,
)
from replay.pipeline.engine import Engine, Job, scan_tasks, third_stage
from replay.pipeline.libraries import versions
from replay.pipeline.local import Progress, silent
from replay.pipeline.masters import is_local
from replay.pipeline.spark_results import PiecedResults
from replay.pipeline.spark_start import count_archives, that_travelled
from replay.pipeline.spark_watch import going_on, watched
from replay.pipeline.stages import (
    BucketBlock,
    First,
    Listed,
    Warned,
    block_size,
    compared,
    error_of,
    last_number,
    met,
    place,
    reduced,
    results_of,
    scanned,
    settled,
    split_size,
    unpacked,
    warn,
)
from replay.pipeline.task_events import TaskClock, TaskEvent, Told
from replay.pipeline.travel import Travel


def engine(
    started: Callable[[], SparkContext],
    progress: Progress = silent,
    reason: str = "",
    travel: Travel | None = None,
    told: Told | None = None,
) -> Engine:
    """The engine on a context, which ``started`` gives when it is needed; tells progress.
    ``reason`` as in :class:`replay.pipeline.engine.Engine`; ``told`` of each task."""
    sent = _Sent()

    def run(job: Job, log: LogFile, splits: Sequence[Split]) -> Iterator[bytes]:
        context = started()
        limits = UNLIMITED if travel is None else travel.limits
        warned = warn if travel is None else travel.warned
        with going_on(job):
            if travel is not None and not sent.names:
                sent.give(context, travel.files)
            names = sent.names
            yield from execute(context, job, log, splits, progress, names, limits, told, warned)

    return Engine(
        run,
        EngineName.SPARK,
        reason,
        "" if travel is None else travel.exchange,
        lambda: not is_local(str(started().master)),
    )


class _Sent:
    """Files that executors were given: ``names`` under which they find them.

    Spark never takes back what a context was given: each executor that comes later asks for all of
    it before its first task. So there is a file of that name for as long as this process, empty
    once nobody has this object any more, as by then nobody reads it.
    """

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def give(self, context: SparkContext, paths: Sequence[str]) -> None:
        """Give more of them."""
        for path in map(Path, paths):
            # a name of its own: executors may have had another log's
            link = _kept_in(outside(path)) / f"{os.urandom(8).hex()}-{path.name}"
            try:
                os.link(path, link)
            except OSError:  # a file system without links
                shutil.copyfile(path, link)
            weakref.finalize(self, _emptied, link)
            context.addFile(link.as_uri())
            self.names[str(path)] = link.name


#: A folder in a place, for as long as this process lives.
_kept_in = cache(lasting_folder)


def _emptied(path: Path) -> None:
    with suppress(OSError):  # the process ends
        path.unlink()
        path.touch()


def execute(
    context: SparkContext,
    job: Job,
    log: LogFile,
    splits: Sequence[Split],
    progress: Progress = silent,
    sent: Mapping[str, str] | None = None,
    limits: Limits = UNLIMITED,
    told: Told | None = None,
    warned: Warned = warn,
) -> Iterator[bytes]:
    """Carry out a job (:data:`replay.pipeline.engine.Runner`): one task for a split, or for some
    (:func:`replay.pipeline.engine.scan_tasks`), then one for some buckets. Executors must be able
    to reach the files of the log, but for those that were ``sent`` to them (path, name). UsageError
    LR1005 where the job is given up by its ``limits``, or executors cannot run our programs or have
    other libraries; ``warned`` is told of patches."""
    title = job.title
    read, noting = context.accumulator(0), told is not None
    error = context.accumulator(b"", First())  # type: ignore[arg-type]
    events: Accumulator[list[TaskEvent]] = context.accumulator([], Listed())  # type: ignore[arg-type]
    packed = cloudpickle.dumps((job, log))  # type: ignore[no-untyped-call]
    last, here, buckets = third_stage(job), versions(), job.buckets
    program = that_travelled(context)
    ends, meetings = last_number(job), last.meetings if last else 0
    tasks = scan_tasks(job, len(splits), context.defaultParallelism)

    def noted(
        part: tuple[str, int, int],
        came: Iterable[Any],
        size: Callable[[Any], int],
        work: Callable[..., Any],
    ) -> Iterator[BucketBlock]:
        files.ELSEWHERE.update({path: SparkFiles.get(name) for path, name in (sent or {}).items()})
        task = TaskContext.get()
        if not noting or task is None or task.partitionId() >= part[1]:
            return cast("Iterator[BucketBlock]", work(came))
        clock = TaskClock(title, part[0], task.partitionId(), task.attemptNumber())
        tells, wrong = lambda event: events.add([event]), partial(error_of, part[2])
        return clock.results(work(clock.came(came, size)), tells, wrong)

    def counted(split: Split) -> None:
        read.add(split_size(split))

    def scan(part: Iterable[Split]) -> Iterator[BucketBlock]:
        def begun() -> Iterator[BucketBlock]:
            work, opened = unpacked(packed)
            call = lambda came: scanned(work, opened, came, counted, error.add)  # noqa: E731
            done = noted(("scan", tasks, buckets), part, split_size, call)
            return settled(packed, "scan", done)

        return compared(here, buckets, begun, error.add, program)

    def reduce(part: Iterable[BucketBlock]) -> Iterator[BucketBlock]:
        def begun() -> Iterator[BucketBlock]:
            work, opened = unpacked(packed)
            call = lambda came: reduced(work, opened, came, error.add)  # noqa: E731
            done = noted(("reduce", buckets, ends), part, block_size, call)
            return settled(packed, "reduce", done)

        return compared(here, ends, begun, error.add, program)

    def meet(part: Iterable[BucketBlock]) -> Iterator[BucketBlock]:
        def begun() -> Iterator[BucketBlock]:
            work = unpacked(packed)[0]
            call = lambda came: met(work, came, error.add)  # noqa: E731
            return noted(("meet", meetings, ends), part, block_size, call)

        return compared(here, ends, begun, error.add, program)

    # a partition is one bucket, the last one all else (:func:`replay.pipeline.stages.place`)
    blocks = context.parallelize(splits, tasks).mapPartitions(scan)
    if buckets:
        blocks = blocks.partitionBy(buckets + 1, partial(place, buckets)).mapPartitions(reduce)
    if last is not None:
        blocks = blocks.partitionBy(meetings + 1, partial(place, meetings)).mapPartitions(meet)
    results = PiecedResults(context, blocks)
    counts, limited = (read, error, events), (progress, limits)
    looking = partial(watched, context, (title, splits, tasks, buckets), limited, counts)
    yield from results_of(job, _given(results, looking, told), warned)


def _given(
    results: PiecedResults,
    looking: Callable[[Told | None], AbstractContextManager[None]],
    told: Told | None,
) -> Iterator[BucketBlock]:
    """The results, which are made first. Tasks are told of as they make them."""
    try:
        with looking(told):
            results.make()
        count_archives()
        yield from results.pieces(partial(looking, None))
    finally:
        results.forget()
