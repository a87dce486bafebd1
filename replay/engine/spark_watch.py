"""What looks after Spark while it works for a job: its progress, the tasks that end, when the job
is given up, and Spark's own error where it fails."""

from __future__ import annotations

import os
import pickle
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from replay.engine.contract import PARTS, READING, Progress, TaskEvent, Told
from replay.errors import LogReplayError, UsageError, cut_to

Result = TypeVar("Result")

#: Seconds between two looks at a running job, and what one takes at most, with what is before it:
#: one that seems to take longer was stopped (Ctrl-Z, a machine that slept).
_LOOKS, _LONGEST_LOOK = 0.5, 10
#: Seconds for which the tasks of a job go on after one has raised an error of ours: which of
#: several is raised shall not depend on which came first.
_AFTER_ERROR = 30
#: Seconds within which a job ends that was cancelled, or whose context has stopped. One that Spark
#: was given as it stopped never does: the scheduler drops what comes then, and tells nobody.
_AFTER_STOP = 60
#: Milliseconds for which news of a job that has ended are waited for; tasks of a stage that are
#: looked at, and characters of an error that are shown.
_NEWS, _LISTED, _SHOWN = 5_000, 10_000, 500

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
        r"maxResultSize|TaskResultLost",
        "LR1005",
        "--conf spark.driver.maxResultSize=SIZE allows more; spark.driver.memory must hold it",
    ),
    (
        r"No module named|PYTHON_VERSION_MISMATCH|Cannot run program|Error from python worker",
        "LR1005",
        "PYSPARK_PYTHON names the Python of the executors; replay/docs/cluster.md says what it"
        " needs",
    ),
    (
        r"FetchFailed|Failed to connect",
        "LR1005",
        "Is there a firewall or a network policy between executors? --conf"
        " spark.blockManager.port=PORT fixes the port that must be open",
    ),
    ("", "LR1005", "The logs of the executors, at the workers, say more"),
)
#: A task that raised what is no error of ours and none of the above is a defect of this program.
_DEFECT = "Traceback (most recent call last)"


@dataclass(frozen=True)
class Limits:
    """After how many seconds a job is given up: without an executor (``executors``), and where none
    of the tasks that run ends (``tasks``). None: never."""

    executors: int | None = None
    tasks: int | None = None


#: Waiting for ever.
UNLIMITED = Limits()


def reason(text: str) -> str:
    """What went wrong, of what Spark says of a task: the line that a Python traceback ends with,
    where there is one."""
    lines = [line for line in text.splitlines() if line.strip()] or [text]
    begins = [at for at, line in enumerate(lines) if _DEFECT in line]
    if begins:
        deep = len(lines[begins[-1]]) - len(lines[begins[-1]].lstrip())  # of a worker that fails
        behind = (line for line in lines[begins[-1] + 1 :] if not line[deep : deep + 1].isspace())
        return cut_to(next(behind, lines[0]).strip(), _SHOWN)
    return cut_to(lines[0], _SHOWN)


def _of_java(error: Exception) -> Any:
    """The exception of Java behind an error, where there is one."""
    return getattr(error, "java_exception", None) or getattr(error, "_origin", None)


def said(error: Exception) -> str:
    """What Spark itself says: the first line of an exception, the last one of its Python traceback,
    and the first line of the Java exception behind it all, where that says more."""
    java = _of_java(error)
    text = str(error) if java is None else str(java.toString())
    words = [text.partition("\n")[0].rstrip(".: ").removesuffix(_DEFECT), reason(text)]
    while java is not None and java.getCause() is not None:
        java = java.getCause()
        words[2:] = [str(java.toString()).partition("\n")[0]]
    words = [word.rstrip(".: ") for word in words]
    more = [word for at, word in enumerate(words) if not any(word in one for one in words[:at])]
    return cut_to(": ".join(more), _SHOWN)


def failed(where: str, error: Exception) -> UsageError | None:
    """Spark's own error behind the words ``where``, with what to look at; None for a defect of this
    program in a task."""
    java = _of_java(error)
    text = str(error) if java is None else str(java.toString())
    _, code, hint = next(one for one in _ABOUT if re.search(one[0], text, re.DOTALL))
    if hint is _ABOUT[-1][2] and _DEFECT in text:
        return None
    if java is None and not isinstance(error, PySparkException):
        message = f"found that Spark's Java process ended, {where}; expected it to stay"
        return UsageError("LR1005", message, hint="Was it killed, or is there no memory left?")
    return UsageError(code, f"found that Spark failed {where}: {said(error)}", hint=hint)


class Watch:
    """Looks after what Spark does for a job, in a thread of its own: tells the ``progress`` and,
    where somebody is ``told``, the tasks that end; ends the job by its ``limits``, and where a task
    ``raised`` an error of ours. ``end_java`` is called where Spark does not end it."""

    def __init__(
        self,
        context: SparkContext,
        job: tuple[str, str, int],
        progress: Progress,
        limits: Limits,
        accumulators: tuple[Any, Any],
        told: Told | None,
        end_java: Callable[[], None],
    ) -> None:
        self.context, self.progress, self.limits, self.told = context, progress, limits, told
        self.title, self.description, self.size = job
        self.raised, self.events = accumulators
        self.end_java = end_java
        self.conf = dict(context._conf.getAll())  # Java may be gone when it is needed
        self.tracker, self.store = context.statusTracker(), context._jsc.sc().statusStore()
        #: By which Spark knows the jobs of this thread from those that others give to the context.
        self.tag = f"logreplay-{os.urandom(8).hex()}"
        self.error: LogReplayError | None = None
        self._count, self._failed = 0, set[tuple[int, int, int, int]]()
        self._came = False

    def over(self, call: Callable[[], Result]) -> Result:
        """What a call of Spark gives. LogReplayError where the job is given up, or Spark says why
        it failed."""
        name, done = "spark.job.description", threading.Event()
        thread = threading.Thread(target=self._look_on, args=(done,), daemon=True)
        try:
            before = self.context.getLocalProperty(name)
            self.context.setLocalProperty(name, self.description)
            self.context.addJobTag(self.tag)
            thread.start()
            try:
                return call()
            finally:
                done.set()
                thread.join()
                with suppress(Py4JError, ConnectionError):  # Java is gone
                    self.context.removeJobTag(self.tag)
                    self.context.setLocalProperty(name, before)  # type: ignore[arg-type]
        except (Py4JError, PySparkException, ConnectionError) as failure:
            why = self.error or failed(f"in the stage: {self.title}", failure)
            if why is None:
                raise
            raise why from failure

    def _look_on(self, done: threading.Event) -> None:
        with suppress(Py4JError, ConnectionError):  # Java is gone, as who waits for the job hears
            if self._until_over(done):
                self.context.cancelJobsWithTag(self.tag)
        if not done.wait(_AFTER_STOP):
            self.end_java()
        if self.told is not None:
            with suppress(Py4JError, ConnectionError):
                self.context._jsc.sc().listenerBus().waitUntilEmpty(_NEWS)
                self._tell(self.told)

    def _until_over(self, done: threading.Event) -> bool:
        """Look until the job is done, or its context has stopped; True where it is given up."""
        alone = still = since = 0.0
        ended, now = list[tuple[int, int]](), time.monotonic()
        while not done.wait(_LOOKS):
            before, now = now, time.monotonic()
            passed = min(now - before, _LONGEST_LOOK)
            if self.context._jsc is None or self.context._jsc.sc().isStopped():
                return False
            with suppress(Py4JJavaError):  # what was looked at went away; Spark, it may be
                if self.told is not None:
                    self._tell(self.told)
                # the driver is listed too
                there = int(self.context._jsc.sc().getExecutorMemoryStatus().size()) > 1
                there |= self.limits.executors is None
                self._came |= there
                known, ended = ended, self._ended()
                alone = 0.0 if there else alone + passed
                still = 0.0 if ended != known or not there else still + passed
                since += passed if self.raised.value else 0.0
                self.error = self._given_up(alone, still, since)
                if self.error is not None:
                    return True
        return False

    def _given_up(self, alone: float, still: float, since: float) -> LogReplayError | None:
        """Why the job is given up: so many seconds without an executor, without a task that ended,
        or since a task raised an error of ours; None where it goes on."""
        executors, tasks = self.limits.executors, self.limits.tasks
        if executors is not None and alone >= executors:
            found = "that the last executor was lost, and none" if self._came else "no executor"
            address = f"{self.conf.get('spark.driver.host')}:{self.conf.get('spark.driver.port')}"
            return UsageError(
                "LR1005",
                f"found {found} of {self.conf.get('spark.master')} within {executors} s"
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
        error = pickle.loads(self.raised.value[0]) if since >= _AFTER_ERROR else None
        assert error is None or isinstance(error, LogReplayError)
        return error

    def _ended(self) -> list[tuple[int, int]]:
        """The stages that run, with how many of their tasks have ended, well or otherwise: those of
        the job, or all, where none of its tasks runs, for those of others may be served first."""
        ours, ended, others, runs = dict(self._stages()), [], [], False
        for stage in self.tracker.getActiveStageIds():
            info = self.tracker.getStageInfo(stage)
            if info is None:
                continue
            one = (stage, info.numCompletedTasks + info.numFailedTasks)
            if stage not in ours:
                others.append(one)
                continue
            ended.append(one)
            runs |= info.numActiveTasks > 0
            if ours[stage] == PARTS[0]:
                read = self.size * info.numCompletedTasks // max(info.numTasks, 1)
                self.progress(READING, read, self.size)
            else:
                self.progress("writing", info.numCompletedTasks, info.numTasks)
        return ended if runs else ended + others

    def _stages(self) -> Iterator[tuple[int, str]]:
        """The stages of the job, with what they are called."""
        for job in self.context._jsc.sc().statusTracker().getJobIdsForTag(self.tag):
            info = self.tracker.getJobInfo(job)
            yield from zip(sorted(info.stageIds) if info else (), PARTS, strict=False)

    def _tell(self, told: Told) -> None:
        """Tell of the tasks that ended since the last look. What a task that failed had to tell is
        lost with it; the scheduler knows of it."""
        for event in self.events.value[self._count :]:
            told(event)
            self._count += 1
        for stage, part in self._stages():
            info = self.tracker.getStageInfo(stage)
            if info is None or not (info.numFailedTasks or info.currentAttemptId):
                continue
            for attempt in range(info.currentAttemptId + 1):
                tasks = self.store.taskList(stage, attempt, _LISTED)
                for task in (tasks.apply(at) for at in range(tasks.size())):
                    key = (stage, attempt, task.index(), task.attempt())
                    if task.status() == "FAILED" and key not in self._failed:
                        self._failed.add(key)
                        told(self._of_failed(part, task))

    def _of_failed(self, part: str, task: Any) -> TaskEvent:
        took, error = task.duration(), task.errorMessage()
        where = (self.title, part, task.index(), task.attempt(), task.host())
        seconds = took.get() / 1000 if took.isDefined() else 0.0
        why = reason(error.get()) if error.isDefined() else "no reason is known"
        return TaskEvent(*where, seconds, 0, 0, why)
