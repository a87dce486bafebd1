"""What became of each task of a job: which, where, how long it took, and how much came to it."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

Block = TypeVar("Block")


@dataclass(frozen=True)
class TaskEvent:
    """A task that ended well: the ``number``-th (from 0) of a ``part`` of the ``stage``, as errors
    call it. ``bytes``: of the log where it scanned a split, else of the blocks that came to it;
    ``results``: the blocks that it gave. Engines may carry out an ``attempt`` more than one."""

    stage: str
    part: str
    number: int
    attempt: int
    host: str
    seconds: float
    bytes: int
    results: int


#: Is told of tasks, in no order.
Told = Callable[[TaskEvent], None]


class TaskClock:
    """Measures one task while its results are taken."""

    def __init__(self, stage: str, part: str, number: int, attempt: int = 0) -> None:
        self.stage, self.part, self.number, self.attempt = stage, part, number, attempt
        self.bytes = 0

    def came(self, blocks: Iterable[Block], size: Callable[[Block], int]) -> Iterator[Block]:
        """What came to the task; its bytes are counted."""
        for block in blocks:
            self.bytes += size(block)
            yield block

    def results(self, blocks: Iterable[Block], told: Told) -> Iterator[Block]:
        """What the task gives; at the end somebody is ``told`` of it."""
        began, given = time.monotonic(), 0
        for block in blocks:
            given += 1
            yield block
        seconds = round(time.monotonic() - began, 3)
        host = socket.gethostname()
        told(
            TaskEvent(
                self.stage, self.part, self.number, self.attempt, host, seconds, self.bytes, given
            )
        )
