"""What an engine does while a log is opened: implements
:class:`replay.logs.by_tasks.OpeningTasks`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from replay.changes.choices import EngineName
from replay.engine.contract import Engine, Job
from replay.logs import Split
from replay.logs.by_tasks import OpeningTasks, ScanJob, WalkedFiles
from replay.logs.ranged import RangedLog
from replay.machine import cores

#: Bytes of a log that are looked at together.
_SPLIT_BYTES = 16 << 20
#: Cores of this machine from which on tasks on it open a log faster than this process alone, which
#: does without bringing records together through Spark: a quarter of the work.
_WORTH = 8


@dataclass(frozen=True)
class EngineTasks:
    """Tasks of the engine that is ``started``, which each call gives; ``elsewhere`` says whether
    they run on other machines; ``told`` why they were not enough."""

    started: Callable[[], Engine]
    elsewhere: Callable[[], bool]
    told: Callable[[str, str], None] = lambda reason, uses: None

    @property
    def on_this_machine(self) -> bool:
        """Whether they find the files of this process."""
        return not self.elsewhere()

    @property
    def pays(self) -> bool:
        """Whether they are faster than this process."""
        return self.elsewhere() or cores() >= _WORTH

    def walked(self, log: RangedLog) -> WalkedFiles | None:
        """As :func:`replay.pipeline.range_walk.walk_by_tasks`."""
        from replay.pipeline.range_walk import walk_by_tasks  # few logs are large

        return walk_by_tasks(log, _SPLIT_BYTES, self.started())

    def digested(self, places: Mapping[str, str]) -> Mapping[str, Any]:
        """As :func:`replay.pipeline.range_walk.digests_by_tasks`."""
        from replay.pipeline.range_walk import digests_by_tasks  # few logs are large

        return digests_by_tasks(places, self.started())

    def not_enough(self, reason: str, uses: str = "") -> None:
        """Tell it."""
        self.told(reason, uses)

    def results(self, job: ScanJob, log: Any, splits: Sequence[Split]) -> Iterator[bytes]:
        """What the engine gives."""
        return self.started().results(cast(Job, job), log, splits)


def tasks_of(engine: Engine | None) -> OpeningTasks | None:
    """The tasks of an engine that may have some on other machines: of Spark."""
    if engine is None or engine.name is not EngineName.SPARK:
        return None
    return EngineTasks(lambda: engine, engine.elsewhere)
