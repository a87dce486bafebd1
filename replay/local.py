"""The stages in this process, without Spark: ``--engine local``, and the referee for the Spark engine in tests."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO

from replay.logs import LogFile, Split
from replay.plan import Plan
from replay.render import BucketResult, render_bucket
from replay.report import Tally
from replay.scan import scan_split
from replay.stages import Engine, Job

Progress = Callable[[str, int, int], None]


def silent(stage: str, done: int, total: int) -> None:
    """Progress that nobody wants to see."""


def execute(job: Job, log: LogFile, splits: Sequence[Split]) -> Iterator[bytes]:
    """Carry out a job (:data:`replay.stages.Runner`). What meets in a bucket waits in a temporary file, so memory is that of one bucket."""
    with tempfile.TemporaryDirectory(prefix="logreplay-") as scratch, ExitStack() as files:
        opened: dict[int, IO[bytes]] = {}
        for split in splits:
            for bucket, block in job.scan(log, split):
                if bucket == job.buckets:
                    yield block
                    continue
                if bucket not in opened:
                    opened[bucket] = files.enter_context(open(Path(scratch) / str(bucket), "w+b"))
                opened[bucket].write(block)
        for bucket, file in sorted(opened.items()):
            file.seek(0)
            yield from job.reduce(log, bucket, [file.read()])


def run(plan: Plan, log: LogFile, folder: Path, progress: Progress = silent) -> tuple[Tally, list[BucketResult]]:
    """Scan every split, then render every bucket into ``folder``. ``progress`` is told (stage, done, total)."""
    tally = Tally()
    blocks: dict[int, list[bytes]] = {}
    for done, split in enumerate(plan.splits):
        progress("reading", done, len(plan.splits))
        for bucket, block in scan_split(plan, log, split, tally):
            blocks.setdefault(bucket, []).append(block)
    results = []
    for done, bucket in enumerate(sorted(blocks)):
        progress("writing", done, len(blocks))
        results.append(render_bucket(plan, log, bucket, blocks.pop(bucket), folder))
    return tally, results


def engine(progress: Progress = silent) -> Engine:
    """This engine, telling progress."""
    return Engine(partial(run, progress=progress), execute)


ENGINE = engine()
