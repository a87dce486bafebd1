"""The engine on Spark: maps splits to blocks, shuffles these, collects results, and looks after the
job meanwhile. It holds no rule about logs, SQL or databases.

A job's splits are exact byte ranges: each is scanned by a task that yields blocks by bucket, Spark
brings the blocks of a bucket together, and a task reduces them. Blocks are bytes that only Python
looks into, so the engine stays below Spark SQL, whose start alone costs as much as reading half a
million records. What tasks do is in :mod:`replay.engine.spark_tasks`, how Spark starts in
:mod:`replay.engine.spark_start`.
"""

from __future__ import annotations

import os
import pickle
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import RDD, SparkContext, StorageLevel, cloudpickle
from pyspark.accumulators import AddingAccumulatorParam
from pyspark.errors import PySparkException

from replay.changes.choices import EngineName
from replay.engine.contract import (
    READING,
    Engine,
    Job,
    Progress,
    is_local,
    read_size,
    scan_tasks,
    silent,
)
from replay.engine.spark_start import (
    DEFECT,
    end_java,
    java_behind,
    said,
    that_travelled,
    with_package,
)
from replay.engine.spark_tasks import (
    BucketBlock,
    Given,
    carried_out,
    if_few,
    place,
    reduce,
    scan,
    versions,
)
from replay.errors import LogReplayError, UsageError
from replay.logs import LogFile, Split
from replay.temp_folders import lasting_folder, outside

Result = TypeVar("Result")

#: Bytes of results that come to the driver together; and of what Spark allows, one in so many: it
#: counts what goes around a result, too.
PIECE, _PIECES = 64 << 20, 4
#: Seconds between two looks at a running job. Time is what these are together: that in which this
#: process was stopped (Ctrl-Z, a machine that slept) does not count.
_LOOKS = 0.5
#: Seconds for which the tasks of a job go on after one has raised an error of ours: which of
#: several is raised shall not depend on which came first.
_AFTER_ERROR = 30
#: Seconds within which a job ends that was cancelled, or whose context has stopped. One that Spark
#: was given as it stopped never does: the scheduler drops what comes then, and tells nobody.
_AFTER_STOP = 60
#: What the Python driver meets where Spark, or its Java, fails.
_FAILURES = (Py4JError, PySparkException, ConnectionError)
#: What Spark's words are about: how they are known, the code, and what to look at.
_ABOUT = (
    (
        r"No space left on device|Disk quota exceeded|File too large",
        "LR1006",
        "Tasks write to the temporary folder (TMPDIR) and to Spark's (spark.local.dir) of their"
        " machine, and to the output folder",
    ),
    (
        r"OutOfMemoryError|MemoryError|Cannot allocate memory|malloc of size"
        r"|Python worker (?:exited unexpectedly|process terminated)(?!.*Fatal Python error)",
        "LR1007",
        "--split-mb N reads less at once, --conf spark.executor.cores=1 runs one task of an"
        " executor at a time; spark.executor.memory and spark.driver.memory are Java's, and"
        " spark.executor.pyspark.memory limits Python",
    ),
    (
        r"No module named|PYTHON_VERSION_MISMATCH|Cannot run program|Error from python worker",
        "LR1005",
        "PYSPARK_PYTHON names the Python of the executors; replay/docs/how-to/cluster.md says what"
        " it needs",
    ),
    (
        "",
        "LR1005",
        "The logs of the executors, at the workers, say more; a firewall between them must leave"
        " spark.blockManager.port open; --conf spark.driver.maxResultSize=SIZE allows more results",
    ),
)


# -- the engine


@dataclass(eq=False)
class SparkEngine(Engine):
    """The engine on a context, which ``started`` gives when it is needed. ``files`` of this machine
    are given to executors elsewhere. A job is given up after so many seconds without an executor
    (``executor_timeout``), or in which none of the tasks that run ends (``task_timeout``); None:
    never."""

    started: Callable[[], SparkContext] = field(kw_only=True)
    progress: Progress = silent
    reason: str = ""
    files: Sequence[str] = ()
    executor_timeout: int | None = None
    task_timeout: int | None = None
    name: EngineName = EngineName.SPARK
    _sent: dict[str, str] = field(default_factory=dict)

    def execute(self, job: Job, log: LogFile, splits: Sequence[Split]) -> Iterator[bytes]:
        """One task for a split, or for some (:func:`replay.engine.contract.scan_tasks`), then one
        for each bucket. Executors must be able to reach the files of the log, but for those that
        were given to them. UsageError where the job is given up (LR1005), where executors have
        other libraries (LR1005), and where Spark fails (LR1005, LR1006, LR1007)."""
        context = self.started()
        if not self._sent and not is_local(str(context.master)):
            self._sent.update((path, _given(context, Path(path))) for path in self.files)
        try:
            errors = context.accumulator([], AddingAccumulatorParam[Any]([]))
            packed = cloudpickle.dumps((job, log))  # type: ignore[no-untyped-call]
            libraries = {**versions(), **that_travelled(context)}
            given = Given(packed, libraries, dict(self._sent), errors)
            buckets = job.buckets
            tasks = scan_tasks(job, len(splits), context.defaultParallelism)
            # a partition is one bucket, the last one all else
            blocks: RDD[Any] = context.parallelize(splits, tasks)
            blocks = blocks.mapPartitions(partial(carried_out, given, scan))
            if buckets:
                blocks = blocks.partitionBy(buckets + 1, partial(place, buckets))
                blocks = blocks.mapPartitions(partial(carried_out, given, reduce))
            watch = _Watch(self, context, job.title, read_size(splits), errors)
        except _FAILURES as error:
            raise failed(f"in the stage: {job.title}", error) or error from error
        for number, block in _collected(context, blocks, watch):
            if number > buckets:
                raise pickle.loads(block)
            yield block


def _given(context: SparkContext, path: Path) -> str:
    """Give a file to executors: the name under which they find it, one of its own, for they may
    have had another log's. Spark never takes it back: each executor that comes later asks for all
    that a context was given. So it lies there for as long as this process."""
    link = _kept_in(outside(path)) / f"{os.urandom(8).hex()}-{path.name}"
    try:
        os.link(path, link)
    except OSError:  # a file system without links
        shutil.copyfile(path, link)
    context.addFile(link.as_uri())
    return link.name


#: A folder in a place, for as long as this process lives.
_kept_in = cache(lasting_folder)


def engine_on(session: Any, files: Sequence[str] = ()) -> Engine:
    """The engine on a ``SparkSession`` that a program has already: a notebook, or one that was
    submitted to a cluster. ``files`` of this machine are given to executors. UsageError
    for what is no session (LR1001), or is one of Spark Connect or was stopped (LR1005)."""
    if not hasattr(session, "createDataFrame"):
        raise UsageError("LR1001", f"found spark={session!r:.80}; expected a SparkSession")
    context = getattr(session, "sparkContext", None)
    if context is None or context._jsc is None:
        message = f"found spark={session!r:.80}; expected a SparkSession that runs"
        raise UsageError("LR1005", message, hint="A session of Spark Connect has no SparkContext")
    if is_local(str(context.master)):
        return SparkEngine(started=lambda: context)
    wait = (300, 3600)  # as a command does
    return SparkEngine(silent, "", files, *wait, started=cache(partial(with_package, context)))


def _collected(
    context: SparkContext, blocks: RDD[BucketBlock], watch: _Watch
) -> Iterator[BucketBlock]:
    """The blocks that the last tasks give. A task that has few sends them along with the word that
    it has ended. Others leave theirs on the disks of their executors; the driver asks for one
    task's at a time, so neither its memory nor ``spark.driver.maxResultSize`` must hold all of
    them."""

    def made() -> list[tuple[int, list[BucketBlock] | None]]:
        allowed = context._jsc.sc().conf().getSizeAsBytes("spark.driver.maxResultSize", "1g")
        piece = min(PIECE, allowed // _PIECES) if allowed else PIECE
        few = piece // blocks.getNumPartitions()
        blocks.persist(StorageLevel.DISK_ONLY)
        return blocks.mapPartitionsWithIndex(partial(if_few, few)).collect()

    try:
        found = sorted(watch.over(made), key=lambda one: one[0])
        for _, those in found:
            yield from those or ()
        for task in (number for number, few in found if few is None):
            yield from watch.over(partial(context.runJob, blocks, iter, [task]))
    finally:
        with suppress(Py4JError, ConnectionError):  # Java is gone
            blocks.unpersist()


# -- while a job runs


@dataclass(eq=False)
class _Watch:
    """Looks after what Spark does for a job, in a thread of its own: tells the progress, and gives
    the job up as the ``engine`` says, and where a task raised one of the ``errors``."""

    engine: SparkEngine
    context: SparkContext
    title: str
    size: int
    errors: Any
    error: LogReplayError | None = None
    #: By which Spark knows the jobs of this thread from those that others give to the context.
    _tag: str = field(default_factory=lambda: f"logreplay-{os.urandom(8).hex()}")

    def over(self, call: Callable[[], Result]) -> Result:
        """What a call of Spark gives. LogReplayError where the job is given up, or Spark fails."""
        name, done = "spark.job.description", threading.Event()
        thread = threading.Thread(target=self._look_on, args=(done,), daemon=True)
        try:
            before = self.context.getLocalProperty(name)
            self.context.setLocalProperty(name, f"logreplay: {self.title}")
            self.context.addJobTag(self._tag)
            thread.start()
            try:
                return call()
            finally:
                done.set()
                thread.join()
                with suppress(Py4JError, ConnectionError):  # Java is gone
                    self.context.removeJobTag(self._tag)
                    self.context.setLocalProperty(name, before)  # type: ignore[arg-type]
        except _FAILURES as failure:
            why = self.error or failed(f"in the stage: {self.title}", failure)
            if why is None:
                raise
            raise why from failure

    def _look_on(self, done: threading.Event) -> None:
        with suppress(Py4JError, ConnectionError):  # Java is gone, as who waits for the job hears
            self._until_over(done)
            if self.error is not None:
                self.context.cancelJobsWithTag(self._tag)
        if not done.wait(_AFTER_STOP):
            end_java()

    def _until_over(self, done: threading.Event) -> None:
        """Look until the job is done or given up, or its context has stopped."""
        alone = still = since = 0.0
        ended = list[tuple[int, int]]()
        while self.error is None and not done.wait(_LOOKS):
            if self.context._jsc is None or self.context._jsc.sc().isStopped():
                return
            with suppress(Py4JJavaError):  # what was looked at went away; Spark, it may be
                # the driver is listed too
                there = int(self.context._jsc.sc().getExecutorMemoryStatus().size()) > 1
                there |= self.engine.executor_timeout is None
                known, ended = ended, self._ended()
                alone = 0.0 if there else alone + _LOOKS
                still = 0.0 if ended != known or not there else still + _LOOKS
                since += _LOOKS if self.errors.value else 0.0
                self.error = self._given_up(alone, still, since)

    def _given_up(self, alone: float, still: float, since: float) -> LogReplayError | None:
        """Why the job is given up: so many seconds without an executor, without a task that ended,
        or since a task raised an error of ours; None where it goes on."""
        executors, tasks = self.engine.executor_timeout, self.engine.task_timeout
        if executors is not None and alone >= executors:
            conf = self.context._conf
            address = f"{conf.get('spark.driver.host')}:{conf.get('spark.driver.port')}"
            return UsageError(
                "LR1005",
                f"found no executor of {self.context.master} within {executors} s"
                f" (--executor-timeout), in the stage: {self.title}; expected at least one",
                hint=f"Look at the master, and at the logs of its workers. Executors must reach"
                f" this program at {address}: --conf spark.driver.host=ADDRESS names another one",
            )
        if tasks is not None and still >= tasks:
            return UsageError(
                "LR1005",
                f"found no task that ended within {tasks} s (--task-timeout), in the stage:"
                f" {self.title}; expected one",
                hint="Does storage answer on the executors, and do their Python processes run? A"
                " unit of recovery of more than 100 million changes may need a longer time",
            )
        error = pickle.loads(self.errors.value[0]) if since >= _AFTER_ERROR else None
        assert error is None or isinstance(error, LogReplayError)
        return error

    def _ended(self) -> list[tuple[int, int]]:
        """The stages that run, with how many of their tasks have ended, well or otherwise: those of
        the job, or all, where none of its tasks runs, for those of others may be served first."""
        tracker, spark = self.context.statusTracker(), self.context._jsc.sc()
        jobs = map(tracker.getJobInfo, spark.statusTracker().getJobIdsForTag(self._tag))
        ours = {stage: min(job.stageIds) for job in jobs if job for stage in job.stageIds}
        ended, others, runs = list[tuple[int, int]](), list[tuple[int, int]](), False
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info is None:
                continue
            one = (stage, info.numCompletedTasks + info.numFailedTasks)
            (ended if stage in ours else others).append(one)
            runs |= stage in ours and info.numActiveTasks > 0
            if ours.get(stage) == stage:  # the first one
                read = self.size * info.numCompletedTasks // max(info.numTasks, 1)
                self.engine.progress(READING, read, self.size)
            elif stage in ours:
                self.engine.progress("writing", info.numCompletedTasks, info.numTasks)
        return ended if runs else ended + others


# -- when Spark fails


def failed(where: str, error: Exception) -> UsageError | None:
    """Spark's own error behind the words ``where``, with what to look at; None for a defect of this
    program in a task."""
    java = java_behind(error)
    text = str(error) if java is None else str(java.toString())
    _, code, hint = next(one for one in _ABOUT if re.search(one[0], text, re.DOTALL))
    if hint is _ABOUT[-1][2] and DEFECT in text:
        return None
    if java is None and not isinstance(error, PySparkException):
        message = f"found that Spark's Java process ended, {where}; expected it to stay"
        return UsageError("LR1005", message, hint="Was it killed, or is there no memory left?")
    return UsageError(code, f"found that Spark failed {where}: {said(error)}", hint=hint)
