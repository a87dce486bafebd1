"""Tasks that open logs, in the process of a test."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from replay.changes.choices import EngineName
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.engine import local
from replay.engine.contract import Engine, Job
from replay.logs import LogFile, Split
from replay.output.bundle import write_bundle
from replay.pipeline import opening_tasks as opening
from replay.pipeline import range_walk
from replay.pipeline.plan import make_plan
from tests.support.made_engine import MadeEngine


class Tasks:
    """Tasks of this process, as if they were Spark's, whose results come in any order; counts the
    ranges that were walked and looked at. ``wrote``: tasks wrote the index; ``reasons``: why they
    did not."""

    def __init__(self, draw: random.Random) -> None:
        self.draw, self.walked, self.looked, self.wrote = draw, 0, 0, False
        self.reasons: list[str] = []

    def tasks(self) -> opening.EngineTasks:
        engine = MadeEngine(self._execute, EngineName.SPARK)
        here = self.draw.random() < 0.5
        return opening.EngineTasks(lambda: engine, lambda: not here, self._told)

    def _told(self, reason: str, uses: str) -> None:
        self.wrote = False  # what they wrote is thrown away
        self.reasons.append(reason)

    def _execute(self, job: Job, log: Any, splits: Sequence[Split]) -> Iterator[bytes]:
        if isinstance(job, range_walk.RangeWalkJob):
            self.walked += len(splits)
        else:
            self.looked += len(splits)
        self.wrote |= getattr(job, "told", None) is not None
        results = list(local.execute(job, log, splits, threads=1))
        self.draw.shuffle(results)
        yield from results


def counted(engine: Engine, ran: list[str]) -> Engine:
    """An engine that notes the jobs which it runs."""

    def execute(job: Job, log: Any, splits: Sequence[Split]) -> Iterator[bytes]:
        ran.append(type(job).__name__)
        return engine.execute(job, log, splits)

    return MadeEngine(execute, engine.name, exchange=engine.exchange)


def check_bundles(here: LogFile, there: LogFile, engine: Engine, folder: Path) -> None:
    """A log that this process indexed, and the same one that tasks of an engine did, become the
    same scripts."""
    bundles = []
    for name, log, by in (("here", here, local.ENGINE), ("there", there, engine)):
        options = ScriptOptions(records_per_file=300)
        ran: list[str] = []
        plan = make_plan(log, "redo", Selection(), options, 20_000, counted(by, ran))
        assert ran == (["SampleJob"] if name == "there" else [])
        assert plan.buckets > 1
        bundles.append(write_bundle(plan, log, folder / name, by))
    assert bundles[0].manifest == bundles[1].manifest
    for path in (folder / "here").glob("*.sql"):
        assert path.read_bytes() == (folder / "there" / path.name).read_bytes()
