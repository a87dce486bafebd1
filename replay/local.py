"""Jobs in this process, without Spark: ``--engine local``, and the referee for the Spark engine in tests."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO

from replay.logs import LogFile, Split
from replay.stages import Engine, Job

Progress = Callable[[str, int, int], None]


def silent(stage: str, done: int, total: int) -> None:
    """Progress that nobody wants to see."""


def execute(job: Job, log: LogFile, splits: Sequence[Split], progress: Progress = silent) -> Iterator[bytes]:
    """Carry out a job (:data:`replay.stages.Runner`). What meets in a bucket waits in a temporary file, so memory is that of one bucket.
    ``progress`` is told (stage, done, total)."""
    with tempfile.TemporaryDirectory(prefix="logreplay-") as scratch, ExitStack() as files:
        opened: dict[int, IO[bytes]] = {}
        for done, split in enumerate(splits):
            progress("reading", done, len(splits))
            for bucket, block in job.scan(log, split):
                if bucket == job.buckets:
                    yield block
                    continue
                if bucket not in opened:
                    opened[bucket] = files.enter_context(open(Path(scratch) / str(bucket), "w+b"))
                opened[bucket].write(block)
        for done, (bucket, file) in enumerate(sorted(opened.items())):
            progress("writing", done, len(opened))
            file.seek(0)
            yield from job.reduce(log, bucket, [file.read()])


def engine(progress: Progress = silent) -> Engine:
    """This engine, telling progress."""
    return Engine(partial(execute, progress=progress))


ENGINE = engine()
