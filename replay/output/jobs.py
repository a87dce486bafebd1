"""The jobs that write scripts, datasets and copies, and running one of them.

An engine may run a task twice: it was lost, or thought lost, or slow. So no two attempts write the
same file. Each attempt at a bucket writes into a folder of its own; the driver takes the files of
the attempt whose result it got, gives them their names, has their bytes compared with what the
attempt said of them, and removes what other attempts left. An attempt that wakes up late finds its
folder gone and ends.
"""

from __future__ import annotations

import os
import pickle
import socket
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from replay.changes.balance import Tally
from replay.engine.contract import Engine
from replay.errors import InputError, Where
from replay.logs import LogFile, Split
from replay.machine import room_for
from replay.output.whole_folder import (
    StoredFolder,
    check_files,
    rewritten_elsewhere,
    send_attempt,
    wrong_size,
)
from replay.pipeline.plan import BucketResult, Plan
from replay.pipeline.scan import scan_split
from replay.storage import Place
from replay.storage.durable import begin_to_sync
from replay.temp_folders import WorkFolder, remove_tree
from sqlgen.lazy_imports import when_used

with when_used():  # a run makes one of them
    from replay.output import datasets, extract_bucket, scripts

_SHARED = (
    "The folder must be one that all executors and the driver share, as one user (--work names that"
    " of a replay); --out may be the URL of a store"
)


@dataclass(frozen=True)
class Attempt:
    """What one attempt at a bucket wrote: its folder's name, and the result."""

    folder: str
    result: BucketResult


@dataclass(frozen=True)
class RenderJob:
    """Writes the scripts, datasets or copies of a plan: blocks of sort records by bucket, and a
    task for each bucket that sorts and renders them into a new folder in ``folder``.
    Images never travel: tasks gather them from the
    log by position. Results are (bucket, :class:`Attempt`), and (-1,
    :class:`replay.changes.balance.Tally`) of each split.
    """

    plan: Plan
    folder: Place

    def __post_init__(self) -> None:
        # each task is given its own split; those of all others would travel with it
        object.__setattr__(self, "plan", replace(self.plan, splits=(), digests={}))

    @property
    def title(self) -> str:
        """What tasks do."""
        return _kind(self.plan)[0]

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
        staging, write_bucket = self.folder, _kind(self.plan)[1]
        if isinstance(staging, Path):
            try:
                attempt = Path(tempfile.mkdtemp(prefix=f"{bucket}-", dir=staging))
            except OSError as error:
                user = f"a task of user {os.geteuid()} on {socket.gethostname()}"
                message = f"{user} cannot write there: {error.strerror}"
                raise InputError("LR2001", message, Where(file=str(staging)), _SHARED) from None
            with room_for(_known_to_users(staging)):
                result = write_bucket(self.plan, log, bucket, blocks, attempt)
            if not self.plan.steps:  # they are published, and not only applied
                for file in result.files:
                    begin_to_sync(attempt / file.name)
            yield pickle.dumps((bucket, Attempt(attempt.name, result)))
            return
        name = f"{bucket}-{os.urandom(8).hex()}"
        with WorkFolder() as place:
            here = Path(place)
            result = write_bucket(self.plan, log, bucket, blocks, here)
            send_attempt(staging, name, here, result.files)
        yield pickle.dumps((bucket, Attempt(name, result)))


def _kind(plan: Plan) -> tuple[str, Callable[..., BucketResult]]:
    """What tasks do, in words, and what makes the files of a bucket."""
    if plan.copies is not None:
        return "copy records", extract_bucket.copy_bucket
    if plan.export is not None:
        return "write datasets", datasets.export_bucket
    return "write scripts", scripts.render_bucket


def _known_to_users(place: Path) -> Path:
    """The folder around one of ours, whose name begins with a dot and which goes in the end."""
    return next((one for one in place.parents if not one.name.startswith(".")), place)


def write(
    engine: Engine, plan: Plan, log: LogFile, folder: Path, stored: StoredFolder | None = None
) -> tuple[Tally, list[BucketResult]]:
    """Write the scripts or datasets of a plan into ``folder``, which every task must be able to
    reach, or into ``stored``: the tally of what was read, the
    buckets in order.

    Raises what a task raised, and InputError LR2001 where files of a task are not there, or are not
    those that it wrote (of ``stored`` that is found when it is published).
    """
    if stored is not None:
        stored.taken.clear()
        return _written(engine, RenderJob(plan, stored.staging), plan, log, _InStore(stored))
    attempts = Path(tempfile.mkdtemp(prefix=".attempts-", dir=folder.absolute()))
    try:
        taking = _InFolder(attempts, folder)
        tally, results = _written(engine, RenderJob(plan, attempts), plan, log, taking)
    finally:
        remove_tree(attempts)
    if rewritten_elsewhere(engine, folder):
        check_files(folder, [file for result in results for file in result.files])
    return tally, results


def _written(
    engine: Engine, job: RenderJob, plan: Plan, log: LogFile, taking: _InStore | _InFolder
) -> tuple[Tally, list[BucketResult]]:
    tally = Tally()
    results: dict[int, BucketResult] = {}
    for blob in engine.results(job, log, plan.splits):
        bucket, value = pickle.loads(blob)
        if isinstance(value, Tally):
            tally.add(value)
        elif bucket not in results:
            taking.take(value)
            results[bucket] = value.result
    return tally, [results[bucket] for bucket in sorted(results)]


@dataclass(frozen=True)
class _InStore:
    """Files that go into a folder of a store."""

    stored: StoredFolder

    def take(self, attempt: Attempt) -> None:
        """Those of an attempt, when all is published."""
        self.stored.take(attempt.folder, attempt.result.files)


@dataclass(frozen=True)
class _InFolder:
    """Files that go into ``folder`` from ``attempts``."""

    attempts: Path
    folder: Path

    def take(self, attempt: Attempt) -> None:
        """Move what an attempt wrote into the folder, under the same names. InputError LR2001 where
        a file is not whole."""
        place = self.attempts / attempt.folder
        for file in attempt.result.files:
            path = place / file.name
            size = path.stat().st_size if path.is_file() else None
            if size != file.size:
                raise InputError("LR2001", wrong_size(file, size), Where(file=str(place)), _SHARED)
        for path in sorted(place.rglob("*")):
            if path.is_file():
                target = self.folder / path.relative_to(place)
                target.parent.mkdir(parents=True, exist_ok=True)
                path.rename(target)
