"""The jobs that write scripts, datasets and copies, and running one of them.

An engine may run a task twice: it was lost, or thought lost, or slow. So no two attempts write the
same file. Each attempt at a bucket writes into a folder of its own; the driver takes the files of
the attempt whose result it got, checks their sizes, gives them their names, and removes what other
attempts left. An attempt that wakes up late finds its folder gone and ends.
"""

from __future__ import annotations

import pickle
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from replay.changes.balance import Tally
from replay.errors import InputError, Where
from replay.logs import LogFile, Split
from replay.output.copies import copy_bucket
from replay.output.datasets import export_bucket
from replay.output.scripts import render_bucket
from replay.output.stored_folder import AttemptFolder, StoredFolder
from replay.pipeline.engine import Engine
from replay.pipeline.partition import BucketResult
from replay.pipeline.plan import Plan
from replay.pipeline.scan import scan_split
from replay.storage import Place, StoredPath

#: How often a folder is removed in which others still make files.
_REMOVALS = 100
_SHARED = "The output folder must be on storage that all executors and the driver share"


@dataclass(frozen=True)
class Attempt:
    """What one attempt at a bucket wrote: its folder's name, and the result."""

    folder: str
    result: BucketResult


@dataclass(frozen=True)
class RenderJob:
    """Writes the scripts of a plan: blocks of sort records by bucket, and a task for each bucket
    that sorts and renders them into a new folder in ``folder``. Images never travel: tasks gather
    them from the log by position. Results are (bucket, :class:`Attempt`), and (-1,
    :class:`replay.changes.balance.Tally`) of each split.
    """

    plan: Plan
    folder: Place

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
        """Write the files of a bucket. InputError LR2001 where the folder cannot be written to."""
        if isinstance(self.folder, StoredPath):
            attempt_folder = AttemptFolder(self.folder, bucket)
            with attempt_folder as here:
                result = self._write(log, bucket, blocks, here)
                attempt_folder.send(result.files)
            yield pickle.dumps((bucket, Attempt(attempt_folder.name, result)))
            return
        try:
            attempt = Path(tempfile.mkdtemp(prefix=f"{bucket}-", dir=self.folder))
        except OSError as error:
            message = f"a task cannot write there: {error.strerror}"
            raise InputError("LR2001", message, Where(file=str(self.folder)), _SHARED) from error
        result = self._write(log, bucket, blocks, attempt)
        yield pickle.dumps((bucket, Attempt(attempt.name, result)))

    def _write(
        self, log: LogFile, bucket: int, blocks: Iterable[bytes], folder: Path
    ) -> BucketResult:
        return render_bucket(self.plan, log, bucket, blocks, folder)


@dataclass(frozen=True)
class ExportJob(RenderJob):
    """Writes the datasets of a plan's export, along the same path."""

    def _write(
        self, log: LogFile, bucket: int, blocks: Iterable[bytes], folder: Path
    ) -> BucketResult:
        return export_bucket(self.plan, log, bucket, blocks, folder)


@dataclass(frozen=True)
class CopyJob(RenderJob):
    """Writes records as they are, along the same path."""

    def _write(
        self, log: LogFile, bucket: int, blocks: Iterable[bytes], folder: Path
    ) -> BucketResult:
        return copy_bucket(self.plan, log, bucket, blocks, folder)


def _job(plan: Plan, attempts: Place) -> RenderJob:
    if plan.copies is not None:
        return CopyJob(plan, attempts)
    return RenderJob(plan, attempts) if plan.export is None else ExportJob(plan, attempts)


def write(
    engine: Engine, plan: Plan, log: LogFile, folder: Path, stored: StoredFolder | None = None
) -> tuple[Tally, list[BucketResult]]:
    """Write the scripts or datasets of a plan into ``folder``, which every task must be able to
    reach, or into ``stored``: the tally of what was read, the buckets in order.

    Raises what a task raised, and InputError LR2001 where files of a task are not there or are not
    whole.
    """
    tally = Tally()
    results: dict[int, BucketResult] = {}
    if stored is not None:
        stored.taken.clear()
        attempts: Place = stored.staging
    else:
        attempts = Path(tempfile.mkdtemp(prefix=".attempts-", dir=folder.absolute()))
    job = _job(plan, attempts)
    try:
        for blob in engine.execute(job, log, plan.splits):
            bucket, value = pickle.loads(blob)
            if isinstance(value, Tally):
                tally.add(value)
            elif bucket not in results:
                if stored is not None:
                    stored.take(value.folder, value.result.files)
                elif isinstance(attempts, Path):
                    _take(attempts / value.folder, value.result, folder)
                results[bucket] = value.result
    finally:
        if isinstance(attempts, Path):
            _remove(attempts)
    return tally, [results[bucket] for bucket in sorted(results)]


def _take(attempt: Path, result: BucketResult, folder: Path) -> None:
    """Move what an attempt wrote into ``folder``, under the same names."""
    for file in result.files:
        path = attempt / file.name
        size = path.stat().st_size if path.is_file() else None
        if size != file.size:
            state = "it is not there" if size is None else f"{size:,} bytes of it are there"
            message = f"a task wrote {file.size:,} bytes of {file.name}, but {state}"
            raise InputError("LR2001", message, Where(file=str(attempt)), _SHARED)
    for path in sorted(attempt.rglob("*")):
        if path.is_file():
            place = folder / path.relative_to(attempt)
            place.parent.mkdir(parents=True, exist_ok=True)
            path.rename(place)


def _remove(attempts: Path) -> None:
    """Remove what other attempts left. One that still runs may make a file meanwhile; once the
    folder is gone, none can."""
    for _ in range(_REMOVALS):
        shutil.rmtree(attempts, ignore_errors=True)
        if not attempts.exists():
            return
    shutil.rmtree(attempts)
