"""What an engine is, something that carries out jobs over a log, and the jobs that write scripts and datasets."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from replay.bucket import BucketResult
from replay.errors import InputError
from replay.export import export_bucket
from replay.logs import LogFile, Split
from replay.plan import Plan
from replay.render import render_bucket
from replay.report import Tally
from replay.scan import scan_split


class Job(Protocol):
    """A picklable job over a log. ``scan`` yields (bucket, block); the blocks of one bucket meet in one call of ``reduce``. What is yielded for
    the bucket after the last (``buckets``) is a result as it is."""

    @property
    def buckets(self) -> int: ...
    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]: ...
    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]: ...


#: Runs a job over splits and gives its results in no order.
Runner = Callable[[Job, LogFile, Sequence[Split]], Iterator[bytes]]


@dataclass(frozen=True)
class RenderJob:
    """Writes the scripts of a plan into a folder: blocks of sort records by bucket, and a task for each bucket that sorts and renders them. Images
    never travel: tasks gather them from the log by position. Results are (bucket, :class:`BucketResult`), and (-1, :class:`Tally`) of each split."""

    plan: Plan
    folder: Path

    @property
    def buckets(self) -> int:
        """Those of the plan."""
        return self.plan.buckets

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        """The blocks of a split, and its tally."""
        tally = Tally()
        yield from scan_split(self.plan, log, split, tally)
        yield self.buckets, pickle.dumps((-1, tally))

    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Write the script of a bucket."""
        yield pickle.dumps((bucket, render_bucket(self.plan, log, bucket, blocks, self.folder)))


@dataclass(frozen=True)
class ExportJob(RenderJob):
    """Writes the datasets of a plan's export into a folder, along the same path."""

    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Write the files of a bucket."""
        yield pickle.dumps((bucket, export_bucket(self.plan, log, bucket, blocks, self.folder)))


@dataclass(frozen=True)
class Engine:
    """Carries out jobs."""

    execute: Runner

    def render(self, plan: Plan, log: LogFile, folder: Path) -> tuple[Tally, list[BucketResult]]:
        """Write the scripts or datasets of a plan into ``folder``, which every task must be able to reach: the tally of what was read, the buckets in order.

        Raises what a task raised, and InputError LR2001 when a task wrote to another machine's folder.
        """
        tally = Tally()
        results: dict[int, BucketResult] = {}
        job = RenderJob(plan, folder) if plan.export is None else ExportJob(plan, folder)
        for blob in self.execute(job, log, plan.splits):
            bucket, value = pickle.loads(blob)
            if isinstance(value, Tally):
                tally.add(value)
            else:
                results[bucket] = value
        for result in results.values():
            for file in result.files:
                if not (folder / file.name).is_file():
                    hint = "The output folder must be on storage that all executors and the driver share"
                    raise InputError("LR2001", f"a task wrote {file.name} to {folder}, but it is not there", hint=hint)
        return tally, [results[bucket] for bucket in sorted(results)]
