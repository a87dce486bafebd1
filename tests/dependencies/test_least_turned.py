"""Orders with as few turned pairs as can, against an exhaustive search."""

from __future__ import annotations

import itertools
import random

import pytest

from replay.dependencies.least_turned import Cycle, Pair, least_turned, turned


def drawn(pick: random.Random, count: int, pairs: int) -> set[Pair]:
    """Pairs that some order of ``count`` things keeps."""
    rank = pick.sample(range(count), count)
    some = (pick.sample(range(count), 2) for _ in range(pairs))
    return {(one, other) if rank[one] < rank[other] else (other, one) for one, other in some}


def keeps(order: list[int], pairs: set[Pair]) -> bool:
    place = {one: number for number, one in enumerate(order)}
    return all(place[one] < place[other] for one, other in pairs)


def test_no_order_turns_fewer_pairs() -> None:
    for seed in range(300):
        pick = random.Random(seed)
        count = pick.randrange(2, 8)
        pairs = drawn(pick, count, pick.randrange(1, 7))
        order = least_turned(count, pairs)
        orders = ([*one] for one in itertools.permutations(range(count)))
        least = min(turned(one) for one in orders if keeps(one, pairs))
        assert keeps(order, pairs), (seed, pairs, order)
        assert turned(order) == least, (seed, pairs, order)


def test_in_long_ones_a_turned_pair_has_one_that_is_forced() -> None:
    for seed in range(60):
        pick = random.Random(seed)
        count = pick.randrange(20, 60)
        pairs = drawn(pick, count, pick.randrange(1, 12))
        order = least_turned(count, pairs)
        before = {one: {one} for one in range(count)}
        for one in order:  # what must come before, at any distance
            before[one] |= {far for near, last in pairs if last == one for far in before[near]}
        forced = {
            one for last in range(count) for first in before[last] if first > last
            for one in (first, last)
        }  # fmt: skip
        assert keeps(order, pairs)
        for one, other in itertools.combinations(order, 2):
            assert one < other or {one, other} & forced, (seed, pairs, order)


def test_what_waits_for_one_thing_stays_where_it_is() -> None:
    """One comes forward instead of many that go back."""
    assert least_turned(22, [(21, one) for one in (0, 1, 2)]) == [21, *range(21)]
    assert least_turned(22, [(one, 0) for one in (19, 20, 21)]) == [*range(1, 22), 0]


def test_things_that_wait_for_each_other_are_named() -> None:
    with pytest.raises(Cycle) as raised:
        least_turned(6, [(2, 3), (3, 4), (4, 2), (0, 1)])
    assert sorted(raised.value.changes) == [2, 3, 4]
