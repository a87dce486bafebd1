"""The stages in this process, without Spark: ``--engine local``, and the referee for the Spark engine in tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from replay.logs import LogFile
from replay.plan import Plan
from replay.render import BucketResult, render_bucket
from replay.report import Tally
from replay.scan import scan_split

Progress = Callable[[str, int, int], None]


def silent(stage: str, done: int, total: int) -> None:
    """Progress that nobody wants to see."""


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
