"""Jobs in this process, without Spark: ``--engine local``, and the referee for the Spark engine in
tests. Their tasks run in threads."""

from __future__ import annotations

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
from replay.machine import Task, cores, give_back_free, in_threads
from replay.temp_folders import WorkFolder

#: Bytes of blocks that wait until they are written into the files of their buckets.
WAITING = 8 << 20


@dataclass(eq=False)
class LocalEngine(Engine):
    """This engine: it carries out a job in ``threads`` (None: one a core) and tells ``progress``;
    results come in the order of splits and buckets. What meets in a bucket waits in a temporary
    file, so memory is that of the buckets that are reduced together."""

    progress: Progress = silent
    reason: str = ""
    threads: int | None = None
    name: EngineName = EngineName.LOCAL

    def execute(self, job: Job, log: LogFile, splits: Sequence[Split]) -> Iterator[bytes]:
        """As the engine says."""
        threads = cores() if self.threads is None else self.threads
        with WorkFolder() as scratch:
            files = _BucketFiles(Path(scratch, "buckets"))
            done, total = 0, read_size(splits)
            scans = (Task(partial(_scanned, job, log, split)) for split in splits)
            results = in_threads(scans, min(threads, len(splits)))
            for split, blocks in zip(splits, results, strict=True):
                self.progress(READING, done, total)
                done += split.stop - split.start
                for bucket, block in blocks:
                    if bucket == job.buckets:
                        yield block
                        continue
                    files.append(bucket, block)
            give_back_free(done)
            buckets = files.buckets()
            reductions = (
                Task(partial(_reduced, job, log, bucket, files), files.size(bucket))
                for bucket in buckets
            )
            for done, made in enumerate(in_threads(reductions, min(threads, len(buckets)))):
                self.progress("writing", done, len(buckets))
                yield from made


def _scanned(job: Job, log: LogFile, split: Split) -> list[tuple[int, bytes]]:
    return list(job.scan(log, split))


def _reduced(job: Job, log: LogFile, bucket: int, files: _BucketFiles) -> list[bytes]:
    size = files.size(bucket)
    results = list(job.reduce(log, bucket, files.taken(bucket)))
    give_back_free(size)
    return results


class _BucketFiles:
    """A file for each bucket. To open one for each block would cost more than to write it, and a
    process may not have all of them open, so blocks wait until there are many of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self._waiting: dict[int, list[bytes]] = {}
        self._size = 0

    def append(self, bucket: int, block: bytes) -> None:
        """Put a block behind the others of its bucket."""
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
        return sorted(int(path.name) for path in self.folder.iterdir())

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


ENGINE = LocalEngine()
