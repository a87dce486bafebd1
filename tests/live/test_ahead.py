"""Work that is done one piece ahead of who takes it."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

import pytest

from replay.live.target_transactions import made_ahead


def test_the_next_is_made_while_one_is_in_use() -> None:
    begun = [Event() for _ in range(3)]

    def call(number: int) -> Callable[[], int]:
        def made() -> int:
            begun[number].set()
            return number

        return made

    taken = []
    for made in made_ahead(map(call, range(3))):
        assert made == 2 or begun[made + 1].wait(300)
        taken.append(made)
    assert taken == [0, 1, 2]
    assert list(made_ahead(())) == []


def test_what_fails_fails_in_its_turn() -> None:
    def fails() -> int:
        raise ValueError("no")

    calls = made_ahead((lambda: 1, fails, lambda: 3))
    assert next(calls) == 1
    with pytest.raises(ValueError, match="no"):
        next(calls)


def test_who_stops_taking_leaves_no_thread() -> None:
    calls = made_ahead(iter([lambda: 1, lambda: 2, lambda: 3]))
    assert next(calls) == 1
    calls.close()  # type: ignore[attr-defined]
    assert list(calls) == []
