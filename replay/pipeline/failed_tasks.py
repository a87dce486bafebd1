"""Tasks that failed, as Spark's scheduler keeps them: what such a task had to tell is lost with it.
Whoever is asked here is an object of Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from replay.errors import cut_to
from replay.pipeline.task_events import PARTS, TaskEvent, Told

#: Tasks of a stage that are looked at, and characters of an error that are told.
_LISTED, _SHOWN = 10_000, 500
#: Milliseconds for which news of a job that has ended are waited for.
_NEWS = 5_000


def jobs_of(context: Any, tag: str) -> list[int]:
    """The jobs of a context that have a tag."""
    return list(context._jsc.sc().statusTracker().getJobIdsForTag(tag))


class FailedTasks:
    """Those of the job of a context that is called ``title`` and has a ``tag``."""

    def __init__(self, context: Any, title: str, tag: str, told: Told) -> None:
        self._context, self._title, self._tag, self._told = context, title, tag, told
        self._tracker, self._store = context.statusTracker(), context._jsc.sc().statusStore()
        self._seen: set[tuple[int, int, int, int]] = set()

    def look(self) -> None:
        """Tell of those that failed since the last look."""
        for job in jobs_of(self._context, self._tag):
            info = self._tracker.getJobInfo(job)
            for part, stage in zip(PARTS, sorted(info.stageIds) if info else (), strict=False):
                self._look_at(part, stage)

    def end(self) -> None:
        """The last look, at a job that has ended."""
        self._context._jsc.sc().listenerBus().waitUntilEmpty(_NEWS)
        self.look()

    def _look_at(self, part: str, stage: int) -> None:
        info = self._tracker.getStageInfo(stage)
        if info is None or not (info.numFailedTasks or info.currentAttemptId):
            return
        for attempt in range(info.currentAttemptId + 1):
            for task in self._tasks(stage, attempt):
                key = (stage, attempt, task.index(), task.attempt())
                if task.status() == "FAILED" and key not in self._seen:
                    self._seen.add(key)
                    self._told(self._event(part, task))

    def _tasks(self, stage: int, attempt: int) -> Iterator[Any]:
        tasks = self._store.taskList(stage, attempt, _LISTED)
        return (tasks.apply(at) for at in range(tasks.size()))

    def _event(self, part: str, task: Any) -> TaskEvent:
        took, error = task.duration(), task.errorMessage()
        return TaskEvent(
            self._title,
            part,
            task.index(),
            task.attempt(),
            task.host(),
            took.get() / 1000 if took.isDefined() else 0.0,
            0,
            0,
            reason(error.get()) if error.isDefined() else "no reason is known",
        )


def reason(text: str) -> str:
    """What went wrong, of what Spark says of a task: the line that a Python traceback ends with,
    where there is one."""
    lines = [line for line in text.splitlines() if line.strip()] or [text]
    begins = [at for at, line in enumerate(lines) if "Traceback (most recent call last)" in line]
    if begins:
        behind = (line for line in lines[begins[-1] + 1 :] if not line[0].isspace())
        return cut_to(next(behind, lines[0]), _SHOWN)
    return cut_to(lines[0], _SHOWN)
