"""Tasks in threads, whose results come in their order.

Threads are enough: what a task spends its time on (NumPy, Arrow, machine code, digests, files) lets
go of the interpreter's lock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from typing import Generic, TypeVar

#: Bytes that tasks which run together may have been given.
TOGETHER = 64 << 20

Result = TypeVar("Result")


@dataclass(frozen=True)
class Task(Generic[Result]):
    """Something to do, and the bytes that it was given: its memory is a multiple of them."""

    call: Callable[[], Result]
    size: int = 0


def in_threads(tasks: Iterable[Task[Result]], threads: int) -> Iterator[Result]:
    """What tasks give, in their order; ``threads`` of them work at a time, and one more is held.
    With one thread, or one task, this one does it. Raises what the first task in that order raised,
    or ``tasks``; those begun after it have ended then."""
    tasks = iter(tasks)
    first = [*islice(tasks, min(threads, 2))]
    tasks = chain(first, tasks)
    if len(first) < 2:
        for task in tasks:
            yield task.call()
        return
    with ThreadPoolExecutor(threads, "task") as pool:
        running = deque[tuple[Future[Result], int]]()
        size = 0
        try:
            for task in tasks:
                while running and (len(running) > threads or size + task.size > TOGETHER):
                    future, freed = running.popleft()
                    yield future.result()
                    size -= freed
                running.append((pool.submit(task.call), task.size))
                size += task.size
            while running:
                yield running.popleft()[0].result()
        finally:
            for future, _ in running:
                future.cancel()
