"""What became of each task of a job: which, where, how long it took, and how much came to it."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

Block = TypeVar("Block")

#: What the stages of a job are called, in their order.
PARTS = ("scan", "reduce", "meet")


@dataclass(frozen=True)
class TaskEvent:
    """A task that ended: the ``number``-th (from 0) of a ``part`` of the ``stage``, as errors call
    it. ``bytes``: of the log where it scanned a split, else of the blocks that came to it;
    ``results``: the blocks that it gave. Engines may carry out an ``attempt`` more than one.
    ``error``: why it failed, '' where it ended well; then bytes and results mean nothing."""

    stage: str
    part: str
    number: int
    attempt: int
    host: str
    seconds: float
    bytes: int
    results: int
    error: str = ""


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

    def results(
        self,
        blocks: Iterable[Block],
        told: Told,
        wrong: Callable[[Block], str] = lambda _: "",
    ) -> Iterator[Block]:
        """What the task gives; at the end somebody is ``told`` of it. ``wrong`` says of a block
        that it is an error, and which."""
        began, given, error = time.monotonic(), 0, ""
        try:
            for block in blocks:
                given, error = given + 1, error or wrong(block)
                yield block
        except Exception as raised:
            told(self._event(began, given, f"{type(raised).__name__}: {raised}"))
            raise
        told(self._event(began, given, error))

    def _event(self, began: float, given: int, error: str) -> TaskEvent:
        seconds, host = round(time.monotonic() - began, 3), socket.gethostname()
        return TaskEvent(
            self.stage,
            self.part,
            self.number,
            self.attempt,
            host,
            seconds,
            self.bytes,
            given,
            error,
        )
