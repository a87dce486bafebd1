"""How many nodes of a graph are reached from each of many, in bounded memory and work.

All nodes are walked through so that each comes behind those that lead to it; nodes that form a
circle are one. In one walk, each of up to :data:`BITS` nodes that are asked about has a bit, which
goes along the edges: a node has the bits of all that reach it, until the last edge out of it is
looked at. How often each bit was met is counted for all bits at once, in planes of one binary digit
each.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from replay.arrays import Index, Mask
from replay.spill import spilled

#: Bits that are carried in one walk at most: more of them would be carried where most are 0.
BITS = 4096
#: Octets of bits that are carried at a time; or 8 for each node that has some, where that is more.
MEMORY = 64 << 20
#: Words of 64 bits that go along edges, behind the nodes that were asked about, in all walks.
WORK = 1 << 32
#: Edges, or pairs, that are looked at together.
PART = 1 << 21
#: Nodes whose edges are looked at together.
_NODES = 1 << 14
#: Binary digits of a count.
_DIGITS = 48
_WORD = 64


class Arcs(NamedTuple):
    """Edges between nodes, each once and none from a node to itself: ``source`` and ``target``
    (int64[e], in the order of both), where those out of each node begin (``out``, int64[n + 1]),
    the edges by their targets (``back``, int64[e]), and where those into each node begin there
    (``into``, int64[n + 1])."""

    source: Index
    target: Index
    out: Index
    back: Index
    into: Index


class Reached(NamedTuple):
    """How many nodes are reached from each, with itself (``counts``, int64[n]), and whether there
    are ``more`` than that (bool[n]), because counting them took too much work."""

    counts: Index
    more: Mask


def reach_counts(arcs: Arcs, asked: Index) -> Reached:
    """What is reached from each of the nodes ``asked`` about; 1 of others.

    The counts are exact where all walks together carry :data:`WORK` words or fewer. Where not, each
    walk goes on behind the last node that it has a bit of for an equal part of that; of nodes whose
    bits are carried still, what was counted until then is less than there is. That depends on the
    graph and on what is asked about, and on nothing else.
    """
    reached = Reached(np.ones(len(arcs.out) - 1, np.int64), np.zeros(len(arcs.out) - 1, bool))
    if not len(arcs.source):
        return reached
    way = _Way.of(arcs)
    begins = way.begins(asked)
    if not len(begins):
        return reached
    words = min(BITS, len(begins)) + _WORD - 1 >> 6
    words = max(1, min(words, MEMORY // (8 * way.widest)))
    walks = -(-len(begins) // (words * _WORD))
    allowed = max(1, WORK // (words * walks))
    walk = _Walk(way)
    by_group = Reached(np.ones_like(reached.counts), np.zeros_like(reached.more))
    for low in range(0, len(begins), words * _WORD):
        some = begins[low : low + words * _WORD]
        groups = way.group[way.order[some]]
        by_group.counts[groups], by_group.more[groups] = walk.counts(some, allowed)
    leads = way.leading(asked)
    for mine, of_group in zip(reached, by_group, strict=True):
        mine[leads] = of_group[way.group[leads]]
    return reached


@dataclass(frozen=True)
class _Way:
    """The ``order`` of nodes in which each comes behind those that lead to it, those that hang
    together and those of one ``group`` (:func:`circles`) one after the other, and how many have
    bits to carry at the most (``widest``)."""

    arcs: Arcs
    order: Index
    group: Index
    widest: int

    @classmethod
    def of(cls, arcs: Arcs) -> _Way:
        count = len(arcs.out) - 1
        group, rank = circles(arcs)
        label = grouped(arcs.source, arcs.target, count)
        order = np.lexsort([rank, label])
        place = np.empty(count, np.int64)
        place[order] = np.arange(count)
        # the bits of a group are carried from its first place until the last edge out of it
        last = np.full(count, -1, np.int64)
        for some, others in zip(windows(arcs.source), windows(arcs.target), strict=True):
            np.maximum.at(last, group[some], place[others])
        begin = np.full(count, count, np.int64)
        np.minimum.at(begin, group, place)
        leads = np.flatnonzero(last >= 0)
        change = np.zeros(count + 1, np.int64)
        np.add.at(change, begin[leads], 1)
        np.add.at(change, last[leads] + 1, -1)
        widest = int(np.cumsum(change).max()) + 1
        return cls(arcs, spilled(order), spilled(group), widest)

    def leading(self, asked: Index) -> Index:
        """Those of some nodes that lead to others, or are in a group with one that does."""
        leads = np.zeros(len(self.group), bool)
        leads[self.group[np.diff(self.arcs.out) > 0]] = True
        return asked[leads[self.group[asked]]]

    def begins(self, asked: Index) -> Index:
        """The places in the order at which the groups begin that :meth:`leading` ones are in,
        rising."""
        wanted = np.zeros(len(self.group), bool)
        wanted[self.group[self.leading(asked)]] = True
        group = self.group[self.order]
        first = np.ones(len(group), bool)
        first[1:] = group[1:] != group[:-1]
        return np.flatnonzero(first & wanted[group])


#: The number of a node's group, the node, how many edges lead out of it, and from where edges lead
#: into it.
_Step = tuple[int, int, int, list[int]]


class _Walk:
    """Walks along a graph; bits are those of Python's numbers."""

    def __init__(self, way: _Way) -> None:
        self.way = way

    def counts(self, begins: Index, allowed: int) -> tuple[Index, Mask]:
        """How many nodes are reached from each of some places, and whether there are more."""
        places, begun, looked, live = begins.tolist(), 0, 0, 0
        # by node, for all of its group: bits, edges that were not looked at, and that group
        carried: dict[int, list[Any]] = {}
        planes, waiting = [0] * _DIGITS, [-1] * _DIGITS
        place, groups = -1, self._groups(0)
        while live or begun < len(places):
            if not live and place != places[begun]:
                place = places[begun]
                groups = self._groups(place)
            if begun == len(places) and looked >= allowed:
                break
            members = [*next(groups)[1]]
            group, bits, leads = {node for _, node, _, _ in members}, 0, 0
            for _, _, lead, sources in members:
                leads += lead
                if begun == len(places):
                    looked += len(sources)
                for source in sources:
                    leads -= source in group
                    theirs = carried.get(source)
                    if theirs is None:
                        continue
                    bits |= theirs[0]
                    theirs[1] -= 1
                    if not theirs[1]:
                        live -= 1
                        for node in theirs[2]:
                            del carried[node]
            if begun < len(places) and places[begun] == place:
                bits |= 1 << begun
                begun += 1
            if bits:
                for digit in range(len(members).bit_length()):
                    if len(members) >> digit & 1:
                        _count(bits, planes, waiting, digit)
                if leads:
                    live, theirs = live + 1, [bits, leads, group]
                    carried.update((node, theirs) for node in group)
            place += len(members)
        counts = np.zeros(len(places), np.int64)
        for digit, numbers in enumerate(zip(planes, waiting, strict=True)):
            for number in numbers:
                counts += _bits_of(max(number, 0), len(places)).astype(np.int64) << digit
        there = 0
        for bits, _, _ in carried.values():
            there |= bits
        return counts, _bits_of(there, len(places)).astype(bool)

    def _groups(self, place: int) -> Iterator[tuple[int, Iterator[_Step]]]:
        """The nodes from a place on, those of each group together."""
        return groupby(self._nodes(place), itemgetter(0))

    def _nodes(self, place: int) -> Iterator[_Step]:
        way, arcs = self.way, self.way.arcs
        for low in range(place, len(way.order), _NODES):
            nodes = way.order[low : low + _NODES]
            begin, leads = arcs.into[nodes], arcs.out[nodes + 1] - arcs.out[nodes]
            count = arcs.into[nodes + 1] - begin
            ends = np.cumsum(count)
            rows = np.repeat(begin - (ends - count), count) + np.arange(int(count.sum()))
            sources, start = arcs.source[arcs.back[rows]].tolist(), 0
            columns = (way.group[nodes], nodes, leads, ends)
            for group, node, lead, end in zip(*(one.tolist() for one in columns), strict=True):
                yield group, node, lead, sources[start:end]
                start = end


def _count(bits: int, planes: list[int], waiting: list[int], digit: int) -> None:
    """Count each bit 2 ** ``digit`` times. Of each digit there is a plane of sums, and one more
    number may wait for the next that comes (-1: none does)."""
    while waiting[digit] >= 0:
        one, other = planes[digit], waiting[digit]
        either = one ^ other
        planes[digit], waiting[digit] = either ^ bits, -1
        bits = (one & other) | (bits & either)
        digit += 1
    waiting[digit] = bits


def _bits_of(number: int, count: int) -> npt.NDArray[np.uint8]:
    """The first bits of a number, the lowest first."""
    octets = number.to_bytes(-(-count // 8), "little")
    return np.unpackbits(np.frombuffer(octets, np.uint8), count=count, bitorder="little")


# -- the order of nodes
# -------------------------------------------------------------------------------------------------


def circles(arcs: Arcs) -> tuple[Index, Index]:
    """(group, rank) of each node: the least one of those that it forms circles with, and a number
    that is higher than that of each other group that leads to it; those of a group follow each
    other. Nodes keep their order but for those between the ends of edges that lead back."""
    group = np.arange(len(arcs.out) - 1)
    rank = group.copy()
    low = high = -1
    for first, end in _led_back(arcs):
        if first > high:
            _rank(arcs, low, high, group, rank)
            low = first
        high = max(high, end)
    _rank(arcs, low, high, group, rank)
    return group, rank


def _led_back(arcs: Arcs) -> Iterator[tuple[int, int]]:
    """The ends of edges that lead to an earlier node: target and source, in their order."""
    found = []
    for source, target in zip(windows(arcs.source), windows(arcs.target), strict=True):
        back = target < source
        found.append(np.stack([target[back], source[back]], axis=1))
    pairs = np.concatenate(found)
    # of each first node the last end
    pairs = pairs[np.lexsort([-pairs[:, 1], pairs[:, 0]])]
    pairs = pairs[np.unique(pairs[:, 0], return_index=True)[1]]
    return map(tuple, pairs.tolist())


def _rank(arcs: Arcs, low: int, high: int, group: Index, rank: Index) -> None:
    """Put the nodes from ``low`` to ``high`` in an order (Tarjan's strongly connected components,
    without recursion: whoever is finished first comes last)."""
    if low < 0:
        return
    edge = array("q", arcs.out[low : high + 2].tobytes())
    base = edge[0]
    target = arcs.target[base : edge[-1]]
    end, nothing = edge[1:], bytes(8 * (high + 1 - low))
    number, least = array("q", nothing), array("q", nothing)
    path, open_nodes, seen, place = array("q"), array("q"), 0, high
    closed = high - low + 2
    for root in range(high + 1 - low):
        if number[root]:
            continue
        path.append(root)
        while path:
            node = path[-1]
            if not number[node]:
                seen += 1
                number[node] = least[node] = seen
                open_nodes.append(node)
            if edge[node] < end[node]:
                other = int(target[edge[node] - base]) - low
                edge[node] += 1
                if other > high - low:
                    continue  # what is behind them leads to none of them
                if not number[other]:
                    path.append(other)
                elif least[other] < closed:
                    least[node] = min(least[node], number[other])
                continue
            path.pop()
            lowest = least[node]
            if lowest == number[node]:
                members = [open_nodes.pop()]
                while members[-1] != node:
                    members.append(open_nodes.pop())
                first = min(members)
                for one in members:
                    group[low + one], rank[low + one] = low + first, place
                    least[one], place = closed, place - 1
            if path:
                least[path[-1]] = min(least[path[-1]], lowest)


def windows(values: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    """An array in parts that one looks at together."""
    return (values[low : low + PART] for low in range(0, len(values), PART))


def grouped(one: Index, other: Index, count: int) -> Index:
    """For each of ``0 … count-1`` the least member of the group that it hangs together with by the
    pairs ``one`` and ``other``."""
    label = np.arange(count, dtype=np.int64)
    while True:
        before = label.copy()
        for here, there in zip(windows(one), windows(other), strict=True):
            least = np.minimum(before[here], before[there])
            np.minimum.at(label, before[here], least)
            np.minimum.at(label, before[there], least)
        label = label[label]
        if np.array_equal(label, before):
            return label
