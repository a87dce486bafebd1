"""Work in a thread of its own, one piece ahead of who takes what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Made = TypeVar("Made")


def made_ahead(calls: Iterable[Callable[[], Made]]) -> Iterator[Made]:
    """What the calls give, in their order. While the taker is busy with one, the next is made.
    Raises what a call raises where its turn is."""
    with ThreadPoolExecutor(1) as pool:
        waiting: Future[Made] | None = None
        for call in calls:
            following = pool.submit(call)
            if waiting is not None:
                yield waiting.result()
            waiting = following
        if waiting is not None:
            yield waiting.result()
