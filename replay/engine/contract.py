"""What an engine is: something that carries out jobs over the splits of a log."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, runtime_checkable

from replay.changes.choices import EngineName
from replay.logs import LogFile, Split
from replay.logs.files import seen_unchanged


class Job(Protocol):
    """A job over a log in two stages: each split is scanned by a task of its own, and all blocks of
    one bucket meet in a task that reduces them. It must be picklable, and may keep nothing between
    two calls: tasks run in other processes, in any order. ``together`` (else 1) says of how many
    splits an engine may make one task, because to scan one costs less than a task. Raises
    LogReplayError, which an engine hands to the caller as it was raised."""

    @property
    def title(self) -> str:
        """What it does, where an engine shows its stages, and in messages."""
        ...

    @property
    def buckets(self) -> int:
        """The number of buckets; 0 for a job whose scan yields results only."""
        ...

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        """(bucket, block) for the records of one split: buckets from 0, several blocks for one
        bucket if need be. A block for the bucket :attr:`buckets` is a result as it is. Blocks are
        bytes that the job alone reads.
        """
        ...

    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The results of one bucket, of all blocks (one at least) that were yielded for it, in no
        order. Not called for buckets without blocks."""
        ...


class ScanJob:
    """What jobs share whose scan yields results only."""

    buckets = 0

    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Nothing meets."""
        return iter(())


def scan_tasks(job: Job, splits: int, cores: int) -> int:
    """How many tasks scan so many splits (one at least), where none of ``cores`` shall be idle."""
    together = getattr(job, "together", 1)
    return max(-(-splits // together), min(splits, cores), 1)


def is_local(master: str) -> bool:
    """Whether the tasks of a master of Spark run in processes that share everything with this
    one."""
    return re.fullmatch(r"local(\[.*\])?", master) is not None


#: Runs a job over splits and gives its results, in no order. Raises what ``scan`` or ``reduce``
#: raise, and UsageError (LR1005) where the engine cannot be started.
Runner = Callable[[Job, LogFile, Sequence[Split]], Iterator[bytes]]


#: Is told (stage, done, total).
Progress = Callable[[str, int, int], None]
#: The stage whose progress is in bytes (of a log of rows: in rows).
READING = "reading"


def silent(stage: str, done: int, total: int) -> None:
    """Progress that nobody wants to see."""


def read_size(splits: Sequence[Split]) -> int:
    """How much there is to read, in bytes."""
    return sum(split.stop - split.start for split in splits)


@runtime_checkable
class Engine(Protocol):
    """Carries out jobs. ``name`` is what it is called, ``reason`` why it was taken where nobody
    named it; manifests hold it then."""

    name: EngineName
    reason: str

    def execute(self, job: Job, log: LogFile, splits: Sequence[Split]) -> Iterator[bytes]:
        """Run a job over splits and give its results, in no order. Raises what ``scan`` or
        ``reduce`` raise, and UsageError (LR1005) where the engine cannot be started."""
        ...

    def results(self, job: Job, log: LogFile, splits: Sequence[Split]) -> Iterator[bytes]:
        """What :meth:`execute` gives. Raises what that raises, and InputError LR2001 where a file
        of the log is another one than when it was opened."""
        with seen_unchanged(log):
            yield from self.execute(job, log, splits)


#: Bytes of a log that one task reads.
SPLIT_BYTES = 32 << 20
