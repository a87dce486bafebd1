"""Work on parts of a log side by side, whose results come in the order of the log."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from replay.machine import cores

#: More threads than these wait for one another: what they give is put in order.
_MOST = 8

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(call: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """What ``call`` gives for each item, in the order of items. One thread a core works on it,
    :data:`_MOST` at most, and one more item is held than they are. Raises what ``call`` and
    ``items`` raise."""
    threads = min(cores(), _MOST)
    if threads < 2:
        yield from map(call, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        running = deque[Future[Result]]()
        try:
            for item in items:
                running.append(pool.submit(call, item))
                if len(running) > threads:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            for future in running:
                future.cancel()
