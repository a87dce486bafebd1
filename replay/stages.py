"""What an engine is: something that writes the scripts of a plan, and carries out jobs over a log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from replay.logs import LogFile, Split
from replay.plan import Plan
from replay.render import BucketResult
from replay.report import Tally


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
class Engine:
    """``render`` writes the scripts of a plan into a folder; ``execute`` runs a job."""

    render: Callable[[Plan, LogFile, Path], tuple[Tally, list[BucketResult]]]
    execute: Runner
