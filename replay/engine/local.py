"""Jobs in this process, without Spark: ``--engine local``, and the referee for the Spark engine in
tests. Their tasks run in threads."""

from __future__ import annotations

import ctypes
import pickle
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from replay.changes.choices import EngineName
from replay.engine.contract import (
    READING,
    Engine,
    Job,
    Progress,
    read_size,
    silent,
)
from replay.logs import LogFile, Split
from replay.logs.threads import Task, in_threads
from replay.machine import cores
from replay.temp_folders import WorkFolder

#: Bytes from which on memory is given back when they are worked through.
_MUCH = 4 << 20
#: Bytes of blocks that wait until they are written into the files of their buckets.
WAITING = 8 << 20


def execute(
    job: Job,
    log: LogFile,
    splits: Sequence[Split],
    progress: Progress = silent,
    threads: int | None = None,
) -> Iterator[bytes]:
    """Carry out a job (:data:`replay.engine.contract.Runner`) in ``threads`` (None: one a core);
    results come in the order of splits and buckets. What meets in a bucket waits in a temporary
    file, so memory is that of the buckets that are reduced together. ``progress`` is told (stage,
    done, total)."""
    threads = cores() if threads is None else threads
    with WorkFolder() as scratch:
        files = _BucketFiles(Path(scratch, "buckets"))
        done, total = 0, read_size(splits)
        scans = (Task(partial(_scanned, job, log, split)) for split in splits)
        for split, blocks in zip(splits, in_threads(scans, min(threads, len(splits))), strict=True):
            progress(READING, done, total)
            done += split.stop - split.start
            for bucket, block in blocks:
                if bucket == job.buckets:
                    yield block
                    continue
                files.append(bucket, block)
        _give_back(done)
        buckets = files.buckets()
        reductions = (
            Task(partial(_reduced, job, log, bucket, files), files.size(bucket))
            for bucket in buckets
        )
        for done, results in enumerate(in_threads(reductions, min(threads, len(buckets)))):
            progress("writing", done, len(buckets))
            yield from results


def _scanned(job: Job, log: LogFile, split: Split) -> list[tuple[int, bytes]]:
    return list(job.scan(log, split))


def _reduced(job: Job, log: LogFile, bucket: int, files: _BucketFiles) -> list[bytes]:
    size = files.size(bucket)
    results = list(job.reduce(log, bucket, files.taken(bucket)))
    _give_back(size)
    return results


def _give_back(size: int) -> None:
    """Have the C library give memory back that is free, when ``size`` bytes were worked through: it
    lies in pieces among what is still used, so that it would keep it."""
    if size >= _MUCH:
        with suppress(AttributeError, OSError, TypeError):  # only glibc has it
            ctypes.CDLL(None).malloc_trim(0)


class _BucketFiles:
    """A file for each bucket. To open one for each block would cost more than to write it, and a
    process may not have all of them open, so blocks wait until there are many of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self._known: set[int] = set()
        self._waiting: dict[int, list[bytes]] = {}
        self._size = 0

    def append(self, bucket: int, block: bytes) -> None:
        """Put a block behind the others of its bucket."""
        self._known.add(bucket)
        self._waiting.setdefault(bucket, []).append(block)
        self._size += len(block)
        if self._size > WAITING:
            self._write_waiting()

    def _write_waiting(self) -> None:
        for bucket, blocks in self._waiting.items():
            with (self.folder / str(bucket)).open("ab") as file:
                for block in blocks:
                    pickle.dump(block, file)
        self._waiting, self._size = {}, 0

    def buckets(self) -> list[int]:
        """The buckets that have blocks, in order; nothing is appended from now on."""
        self._write_waiting()
        return sorted(self._known)

    def size(self, bucket: int) -> int:
        """The bytes of a bucket."""
        return (self.folder / str(bucket)).stat().st_size

    def taken(self, bucket: int) -> Iterator[bytes]:
        """The blocks of a bucket, whose file goes."""
        path = self.folder / str(bucket)
        with path.open("rb") as file:
            path.unlink()
            with suppress(EOFError):
                while True:
                    yield pickle.load(file)


@dataclass(eq=False)
class LocalEngine(Engine):
    """This engine; ``progress`` and ``threads`` as for :func:`execute`."""

    progress: Progress = silent
    reason: str = ""
    threads: int | None = None
    name: EngineName = EngineName.LOCAL
    exchange: str = ""

    def execute(self, job: Job, log: LogFile, splits: Sequence[Split]) -> Iterator[bytes]:
        """As :func:`execute`."""
        return execute(job, log, splits, self.progress, self.threads)


ENGINE = LocalEngine()
