"""Work in a thread of its own, one piece ahead of who takes what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

Made = TypeVar("Made")


def made_ahead(calls: Iterable[Callable[[], Made]]) -> Iterator[Made]:
    """What the calls give, in their order. While the taker is busy with one, the next is made, and
    taken from ``calls`` as well. Raises what a call raises where its turn is."""
    left = iter(calls)

    def made() -> list[Made]:
        """What the next call gives; nothing when there is none."""
        return [call() for call in islice(left, 1)]

    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(made)
        while here := following.result():
            following = pool.submit(made)
            yield here[0]
