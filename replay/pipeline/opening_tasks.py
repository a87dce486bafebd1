"""What an engine does while a log is opened: implements
:class:`replay.logs.by_tasks.OpeningTasks`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from replay.changes.choices import EngineName
from replay.logs import Split
from replay.logs.by_tasks import OpeningTasks, ScanJob, WalkedFiles
from replay.logs.ranged import RangedLog
from replay.pipeline.engine import Engine, Job

#: Bytes of a log that are looked at together.
_SPLIT_BYTES = 16 << 20


@dataclass(frozen=True)
class EngineTasks:
    """Tasks of the engine that is ``started``, which each call gives; ``on_this_machine``: they
    find the files of this process."""

    started: Callable[[], Engine]
    on_this_machine: bool

    def walked(self, log: RangedLog) -> WalkedFiles | None:
        """As :func:`replay.pipeline.range_walk.walk_by_tasks`."""
        from replay.pipeline.range_walk import walk_by_tasks  # few logs are large

        return walk_by_tasks(log, _SPLIT_BYTES, self.started())

    def results(self, job: ScanJob, log: Any, splits: Sequence[Split]) -> Iterator[bytes]:
        """What the engine gives."""
        return self.started().execute(cast(Job, job), log, splits)


def tasks_of(engine: Engine | None, on_this_machine: bool) -> OpeningTasks | None:
    """The tasks of an engine for which that pays: of Spark."""
    if engine is None or engine.name is not EngineName.SPARK:
        return None
    return EngineTasks(lambda: engine, on_this_machine)
