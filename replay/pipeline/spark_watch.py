"""What looks after a job while Spark works for it: its progress, the tasks that end, when it is
given up, and why Spark failed."""

from __future__ import annotations

import os
import pickle
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, cast

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import Accumulator, SparkContext
from pyspark.errors import PySparkException

from replay.errors import LogReplayError
from replay.logs import Split
from replay.pipeline.cluster_trouble import (
    Limits,
    executors_in_vain,
    java_ended,
    no_task_ended,
    why_failed,
)
from replay.pipeline.engine import Job
from replay.pipeline.failed_tasks import FailedTasks, jobs_of
from replay.pipeline.local import READING, Progress, read_size
from replay.pipeline.spark_start import (
    end_java,
    executors_that_ended,
    has_stopped,
    java_has_ended,
    said_of_executors,
)
from replay.pipeline.task_events import TaskEvent, Told

#: Seconds between two looks at a running job.
_LOOKS = 0.5

#: What a look takes at most, with what is before it: one that seems to take longer was stopped
#: (Ctrl-Z, a machine that slept), and nothing was waited for then.
_LONGEST_LOOK = 10

#: Seconds for which the tasks of a job go on after one has raised an error of ours.
_AFTER_ERROR = 30

#: Seconds within which a job ends that was cancelled, or whose context has stopped. One that Spark
#: was given as it stopped never does: the scheduler drops what comes then, and tells nobody.
_AFTER_STOP = 60

#: Executors of a standalone cluster that end, one after the other, while none is there: its master
#: starts another one at once, some sixty a second, and for ever, where Java itself does not start.
_IN_VAIN = 30

#: Tasks that are looked at for those that do not end.
_LISTED = 10_000


@contextmanager
def watched(
    context: SparkContext,
    job: tuple[str, Sequence[Split], int, int],
    limited: tuple[Progress, Limits],
    counts: tuple[Accumulator[int], Accumulator[bytes], Accumulator[list[TaskEvent]]],
    told: Told | None,
) -> Iterator[None]:
    """What looks after Spark while it works for a ``job`` (its title, splits, tasks that scan them,
    buckets). Raises LogReplayError where that is why Spark failed."""
    title, splits, tasks, buckets = job
    read, error, events = counts
    watch = _ProgressWatch(context, (splits, tasks), *limited, read, error)
    described = _described(context, title, splits, buckets)
    with _told_of(context, (title, watch.tag), events, told), described, watch:
        try:
            yield
        except (Py4JError, PySparkException, ConnectionError) as failure:
            reason = watch.reason(failure, title)
            if reason is None:
                raise
            raise reason from failure


@contextmanager
def going_on(job: Job) -> Iterator[None]:
    """Raises LogReplayError where Spark is gone between what is watched of a job."""
    try:
        yield
    except (Py4JError, PySparkException, ConnectionError) as failure:
        reason = _reason(failure, job.title)
        if reason is None:
            raise
        raise reason from failure


def _reason(
    failure: Exception,
    title: str,
    conf: Mapping[str, str] | None = None,
    expired: int | None = None,
    came: bool = True,
) -> LogReplayError | None:
    """Why a job (called ``title``) failed, as far as its cluster or Java is why; the rest as for
    :func:`replay.pipeline.cluster_trouble.why_failed`."""
    said = said_of_executors()
    known = [said] if said else []
    if not hasattr(failure, "java_exception") and java_has_ended():
        return java_ended(title, known)
    return why_failed(conf or {}, failure, title, expired, came, known)


@contextmanager
def _told_of(
    context: SparkContext,
    job: tuple[str, str],
    events: Accumulator[list[TaskEvent]],
    told: Told | None,
) -> Iterator[None]:
    """Tell of the tasks of a job (its title and tag), as they end."""
    if told is None:
        yield
        return
    done, failed = threading.Event(), FailedTasks(context, *job, told)

    def tell() -> None:
        count = 0
        while True:
            ended = done.wait(_LOOKS)
            for event in events.value[count:]:
                told(event)
                count += 1
            with suppress(Py4JError, ConnectionError):  # Java is gone
                failed.end() if ended else failed.look()
            if ended:
                return

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@contextmanager
def _described(
    context: SparkContext, title: str, splits: Sequence[Split], buckets: int
) -> Iterator[None]:
    """Name the stages of a job in Spark's pages."""
    name = "spark.job.description"
    before = context.getLocalProperty(name)
    size = f"{read_size(splits) / 1e6:,.1f} MB, {len(splits):,} splits"
    then = f", then {buckets:,} buckets" if buckets else ""
    context.setLocalProperty(name, f"logreplay: {title} ({size}{then})")
    try:
        yield
    finally:
        with suppress(Py4JError, ConnectionError):  # Java is gone
            context.setLocalProperty(name, before)  # type: ignore[arg-type]


class _ProgressWatch:
    """Reports the progress of the running job from Spark's status tracker, in a thread of its own,
    and ends a job by its ``limits``: ``expired`` says after how many seconds without an executor,
    ``came`` whether there was one, ``in_vain`` how many ended as they began, ``stalled`` which
    tasks do not end; and where a task raised an ``error`` of ours, for which others are waited for
    a while only: which of several is told shall not depend on which came first. ``read`` counts the
    bytes that tasks have read; ``scan``: the splits that are scanned, and by how many tasks."""

    def __init__(
        self,
        context: SparkContext,
        scan: tuple[Sequence[Split], int],
        progress: Progress,
        limits: Limits,
        read: Accumulator[int],
        error: Accumulator[bytes],
    ) -> None:
        self.context, self.limits, self.read = context, limits, read
        self.raised, self.error = error, b""
        self.conf = dict(context._conf.getAll())  # Java may be gone when it is needed
        self.expired: int | None = None
        self.in_vain: int | None = None
        self.came = False
        self.stalled: list[str] | None = None
        self.tracker, self.progress = context.statusTracker(), progress
        self.tasks, self.size = scan[1], read_size(scan[0])
        self.done = threading.Event()
        #: By which Spark knows the jobs of this thread from those that others give to the context.
        self.tag = f"logreplay-{os.urandom(8).hex()}"
        self.thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> _ProgressWatch:
        self.context.addJobTag(self.tag)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.thread.join()
        with suppress(Py4JError, ConnectionError):  # Java is gone
            self.context.removeJobTag(self.tag)

    def reason(self, failure: Exception, title: str) -> LogReplayError | None:
        """Why the job (called ``title``) failed, where that is known."""
        if self.error:
            return cast(LogReplayError, pickle.loads(self.error))
        if self.in_vain is not None:
            return executors_in_vain(self.conf, title, self.in_vain, said_of_executors())
        if self.stalled is not None:
            return no_task_ended(title, self.limits.tasks or 0, self.stalled)
        return _reason(failure, title, self.conf, self.expired, self.came)

    def _executors(self) -> int:
        """How many there are; the driver is listed too."""
        return int(self.context._jsc.sc().getExecutorMemoryStatus().size()) - 1

    def _watch(self) -> None:
        # Java is gone, as the thread that waits for the job hears, too
        with suppress(Py4JError, ConnectionError):
            while not self.done.is_set():
                with suppress(Py4JJavaError):  # what was looked at went away; Spark, it may be
                    self._look_on()

    def _look_on(self) -> None:
        alone = still = since = 0.0
        ended: list[tuple[int, int, int]] = []
        now, gone = time.monotonic(), executors_that_ended()
        while not self.done.wait(_LOOKS):
            before, now = now, time.monotonic()
            passed = min(now - before, _LONGEST_LOOK)
            if has_stopped(self.context):
                break
            there = self.limits.executors is None or self._executors() > 0
            self.came |= there
            alone = 0.0 if there else alone + passed
            if there:
                gone = executors_that_ended()
            known, ended = ended, self._ended()
            still = 0.0 if ended != known or not there else still + passed
            if self.limits.executors is not None and alone >= self.limits.executors:
                self.expired = self.limits.executors
            elif (vain := executors_that_ended() - gone) >= _IN_VAIN:
                self.in_vain = vain
            elif self.limits.tasks is not None and still >= self.limits.tasks:
                running, youngest = self._running([stage for stage, _, _ in ended])
                # of tasks that end together Spark counts some when the next ones do
                still = still if youngest is None else youngest
                if still < self.limits.tasks:
                    continue
                self.stalled = running
            elif since >= _AFTER_ERROR:
                self.error = self.raised.value
            else:
                since += passed if self.raised.value else 0.0
                continue
            self.context.cancelJobsWithTag(self.tag)
            break
        if not self.done.wait(_AFTER_STOP):
            end_java()

    def _ended(self) -> list[tuple[int, int, int]]:
        """Stages that run, with their tasks that have ended, well and otherwise: those of the job,
        or all, where none of its tasks runs, for those of others may be served first."""
        ours, ended, others, runs = self._stages(), [], [], False
        for stage in self.tracker.getActiveStageIds():
            info = self.tracker.getStageInfo(stage)
            if info is None:
                continue
            of_stage = (stage, info.numCompletedTasks, info.numFailedTasks)
            if stage not in ours:
                others.append(of_stage)
                continue
            ended.append(of_stage)
            runs |= info.numActiveTasks > 0
            if info.numTasks == self.tasks and stage % 2 == 0:
                # a split that was read twice counts twice
                self.progress(READING, min(self.read.value, self.size), self.size)
            else:
                self.progress("writing", info.numCompletedTasks, info.numTasks)
        return ended if runs else ended + others

    def _stages(self) -> set[int]:
        """The stages of the job."""
        known = map(self.tracker.getJobInfo, jobs_of(self.context, self.tag))
        return {stage for job in known if job is not None for stage in job.stageIds}

    def _running(self, stages: Sequence[int]) -> tuple[list[str], float | None]:
        """The tasks of stages that run, each with the machine that has it; and for how many seconds
        the youngest does, of each the oldest attempt (None: none of them runs)."""
        java: Any = self.context._jvm
        now, store = java.System.currentTimeMillis(), self.context._jsc.sc().statusStore()
        running, began = list[str](), dict[tuple[int, int], int]()
        for stage in stages:
            info = self.tracker.getStageInfo(stage)
            if info is None:
                continue
            tasks = store.taskList(stage, info.currentAttemptId, _LISTED)
            for at in range(tasks.size()):
                task = tasks.apply(at)
                if task.status() != "RUNNING":
                    continue
                running.append(f"task {task.index()} (attempt {task.attempt()}) on {task.host()}")
                since = task.launchTime().getTime()
                key = stage, task.index()
                began[key] = min(began.get(key, since), since)
        return running, (now - max(began.values())) / 1000 if began else None
