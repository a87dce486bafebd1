"""The order nearest to a given one in which some things come before others: as few pairs as can
change places. Pairs of which nothing says that one comes first keep their order, unless one of the
two is forced past the other by what must come before or after it.

The least number of turned pairs is hard to find in general; it is found for stretches of up to
:data:`EXACT` things. In longer ones things go back behind what they wait for, or come forward to
what waits for them, whichever turns fewer pairs.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # only where some are looked for
    import networkx as nx

#: So many things of one stretch are put in the best of all orders.
EXACT = 9

#: The first comes before the second.
Pair = tuple[int, int]


class Cycle(Exception):
    """Things that each need another to go first; ``changes`` is the way round."""

    def __init__(self, changes: list[int]) -> None:
        super().__init__(changes)
        self.changes = changes


def least_turned(count: int, pairs: Iterable[Pair]) -> list[int]:
    """``0 … count-1`` in an order that puts the first of each of some ``pairs`` before the second,
    with as few turned pairs as can. Cycle if there is none: it names things that wait for each
    other, and others that wait for these."""
    wanted = set(pairs)
    order = list(range(count))
    stretches = list(_stretches(wanted))
    if not stretches:
        return order
    stretch_of = {
        one: number for number, (low, high) in enumerate(stretches) for one in range(low, high + 1)
    }
    inside: list[list[Pair]] = [[] for _ in stretches]
    for one, other in wanted:
        number = stretch_of.get(one, -1)
        if number >= 0 and number == stretch_of.get(other):
            low = stretches[number][0]
            inside[number].append((one - low, other - low))
    for (low, high), some in zip(stretches, inside, strict=True):
        order[low : high + 1] = [low + one for one in _nearest(high - low + 1, some, low)]
    return order


def _stretches(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """(first, last) of each stretch within which pairs stand the wrong way round. What lies in
    different ones need not change places."""
    last: Pair | None = None
    for low, high in sorted((other, one) for one, other in pairs if one > other):
        if last is not None and low <= last[1]:
            last = last[0], max(last[1], high)
            continue
        if last is not None:
            yield last
        last = low, high
    if last is not None:
        yield last


def _nearest(count: int, pairs: Sequence[Pair], base: int) -> list[int]:
    """The same for one stretch, which begins at ``base``."""
    back = _as_ready(count, pairs, base)
    mirrored = [(count - 1 - other, count - 1 - one) for one, other in pairs]
    forward = [count - 1 - one for one in reversed(_as_ready(count, mirrored, base))]
    best = min(back, forward, key=turned)  # the first of equals
    if count <= EXACT and turned(best) > sum(one > other for one, other in pairs):
        exact = _best(count, pairs)
        return min(best, exact, key=turned)
    return best


def _as_ready(count: int, pairs: Iterable[Pair], base: int) -> list[int]:
    """Each thing as soon as it waits for nothing, the first first."""
    waits, then = [0] * count, [list[int]() for _ in range(count)]
    for one, other in pairs:
        waits[other] += 1
        then[one].append(other)
    ready = [one for one in range(count) if not waits[one]]
    order = []
    while ready:
        order.append(heapq.heappop(ready))
        for other in then[order[-1]]:
            waits[other] -= 1
            if not waits[other]:
                heapq.heappush(ready, other)
    if len(order) < count:
        raise Cycle([base + one for one in range(count) if waits[one]])
    return order


def _best(count: int, pairs: Iterable[Pair]) -> list[int]:
    """The best of all orders: of each set of things that may come first, how few pairs are turned,
    and which of them is the last then."""
    needs = [0] * count
    for one, other in pairs:
        needs[other] |= 1 << one
    least: dict[int, tuple[int, int]] = {0: (0, -1)}
    for placed in range(1 << count):
        if placed not in least:
            continue
        for one in range(count):
            if placed >> one & 1 or needs[one] & ~placed:
                continue
            passed = ~placed & ((1 << one) - 1)
            cost, more = least[placed][0] + passed.bit_count(), placed | 1 << one
            if more not in least or cost < least[more][0]:
                least[more] = cost, one
    order, placed = list[int](), (1 << count) - 1
    while placed:
        order.append(least[placed][1])
        placed ^= 1 << order[-1]
    return order[::-1]


def circles(edges: Iterable[tuple[Any, Any]]) -> Iterator[tuple[list[tuple[Any, Any]], set[Any]]]:
    """(a way round, all things) of each group of things that lead to each other along edges."""
    import networkx as nx

    graph: nx.DiGraph[Any] = nx.DiGraph([*edges])
    for group in nx.strongly_connected_components(graph):
        if len(group) > 1:
            yield [*nx.find_cycle(graph.subgraph(group))], group


def turned(order: Sequence[int]) -> int:
    """How many pairs of ``0 … n-1`` stand the other way round in an order of them."""
    sums, total = [0] * (len(order) + 1), 0
    for seen, one in enumerate(order):
        total += seen
        place = one
        while place:  # those before that are smaller
            total -= sums[place]
            place &= place - 1
        place = one + 1
        while place <= len(order):
            sums[place] += 1
            place += place & -place
    return total
