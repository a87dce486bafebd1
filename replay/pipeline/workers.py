"""Threads that carry out tasks, whose results come in the order of the tasks.

Threads are enough: what a task spends its time on (NumPy, Arrow, the compiled kernel, digests,
files) lets go of the interpreter's lock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from types import TracebackType
from typing import Generic, TypeVar

#: Bytes that tasks which run together may have been given.
TOGETHER = 64 << 20

Result = TypeVar("Result")


@dataclass(frozen=True)
class Task(Generic[Result]):
    """Something to do, and the bytes that it was given: its memory is a multiple of them."""

    call: Callable[[], Result]
    size: int


class Workers:
    """Up to ``threads`` tasks at a time; with one thread, or for one task, this thread does it."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        place: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def results(self, tasks: Iterable[Task[Result]], count: int) -> Iterator[Result]:
        """What ``count`` tasks give, in their order. Raises what the first one in that order
        raised; those begun after it have ended then."""
        if self.threads < 2 or count < 2:
            for task in tasks:
                yield task.call()
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads, "task")
        running: deque[tuple[Future[Result], int]] = deque()
        size = 0
        try:
            for task in tasks:
                while running and (len(running) > self.threads or size + task.size > TOGETHER):
                    future, freed = running.popleft()
                    yield future.result()
                    size -= freed
                running.append((self._pool.submit(task.call), task.size))
                size += task.size
            while running:
                yield running.popleft()[0].result()
        finally:
            for future, _ in running:
                future.cancel()
            wait([future for future, _ in running])
