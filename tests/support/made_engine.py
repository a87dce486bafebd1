"""An engine that carries out jobs as a test says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from replay.changes.choices import EngineName
from replay.engine import local
from replay.engine.contract import Engine, Job, Runner
from replay.logs import LogFile, Split


@dataclass(eq=False)
class MadeEngine(Engine):
    """It ``runs`` jobs, in place of an engine of that ``name``."""

    runs: Runner = local.ENGINE.execute
    name: EngineName = EngineName.LOCAL
    reason: str = ""

    def execute(self, job: Job, log: LogFile, splits: Sequence[Split]) -> Iterator[bytes]:
        return self.runs(job, log, splits)
