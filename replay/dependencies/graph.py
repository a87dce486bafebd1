"""The dependency graph of units of recovery: edges from touches, what is reachable, and the paths
that prove it.

An edge A → B says that a change of B builds on one of A (:mod:`replay.dependencies.links`). Edges
are found on sorted arrays of touches (:mod:`replay.dependencies.write_sets`) of any size; what a
question reaches is kept in arrays too, which lie in files where they are long
(:mod:`replay.spill`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from replay.arrays import Hashes, Index, Mask, Records, take_rows
from replay.changes.envelope import as_bytes
from replay.changes.position import UNIT, UNIT_POSITION_FIELDS, UnitId, UnitPosition
from replay.changes.units import unit_column
from replay.decoding.hashes import unit_hash
from replay.dependencies.links import Links
from replay.spill import PARTS, Growing, in_parts, spilled

# -- reaching, without a graph
# -------------------------------------------------------------------------------------------------


class Edges:
    """Edges between units by 64-bit hash, packed: 16 bytes each, in a file where they are many.
    Collisions can only join units, never part them. OSError where there is no room for them."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        #: (sources, rising; targets) of edges that are searched together.
        self._pieces: list[tuple[Hashes, Hashes]] = []
        waiting: list[bytes] = []
        size = 0
        for block in blocks:
            for low in range(0, len(block), _PIECE):
                waiting.append(block[low : low + _PIECE])
                size += len(waiting[-1])
                if size >= _PIECE:
                    self._add(b"".join(waiting))
                    waiting, size = [], 0
        self._add(b"".join(waiting))

    def _add(self, block: bytes) -> None:
        pairs = np.frombuffer(block, np.uint64).reshape(-1, 2)
        self._sort(pairs[:, 0], pairs[:, 1])

    def _sort(self, source: Hashes, target: Hashes) -> None:
        if len(source):
            sequence = np.argsort(source, kind="stable")
            self._pieces.append((spilled(source[sequence]), spilled(target[sequence])))

    def turned(self) -> Edges:
        """The edges the other way round."""
        other = Edges(())
        for source, target in self._pieces:
            other._sort(target, source)
        return other

    def reach(self, start: Hashes) -> Hashes:
        """The sorted hashes of the units that can be reached from ``start``, with them."""
        seen = _Seen()
        frontier = np.unique(start)
        while len(frontier):
            seen.add(frontier)
            found = [self._targets(frontier, *piece) for piece in self._pieces]
            frontier = np.unique(np.concatenate([np.zeros(0, np.uint64), *found]))
            frontier = frontier[~seen.has(frontier)]
        return seen.all()

    @staticmethod
    def _targets(frontier: Hashes, source: Hashes, target: Hashes) -> Hashes:
        low = np.searchsorted(source, frontier, "left")
        count = np.searchsorted(source, frontier, "right") - low
        rows = np.repeat(low - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
        return np.unique(target[rows])


class _Seen:
    """Hashes that were seen, in sorted pieces of which each is less than half as long as the one
    before: what takes a step for each unit of a long path must not sort all of them each time."""

    def __init__(self) -> None:
        self._pieces: list[Hashes] = []

    def add(self, hashes: Hashes) -> None:
        """Add some that were not seen, sorted."""
        self._pieces.append(hashes)
        while len(self._pieces) > 1 and 2 * len(self._pieces[-1]) >= len(self._pieces[-2]):
            self._join()

    def _join(self) -> None:
        later, earlier = self._pieces.pop(), self._pieces.pop()
        self._pieces.append(np.sort(np.concatenate([earlier, later]), kind="stable"))

    def has(self, hashes: Hashes) -> Mask:
        """Which of some were seen."""
        there = np.zeros(len(hashes), bool)
        for piece in self._pieces:
            place = np.minimum(np.searchsorted(piece, hashes), len(piece) - 1)
            there |= piece[place] == hashes
        return there

    def all(self) -> Hashes:
        """All of them, sorted."""
        while len(self._pieces) > 1:
            self._join()
        return self._pieces[0] if self._pieces else np.zeros(0, np.uint64)


def packed_edges(touches: Records, between: Links) -> bytes:
    """The different unit pairs of links, for :class:`Edges`."""
    unit = unit_hash(as_bytes(touches["unit"]))
    pairs = np.stack([unit[between.source], unit[between.target]], axis=1)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if not len(pairs):
        return b""
    return bytes(np.unique(np.ascontiguousarray(pairs).view("V16").reshape(-1)).tobytes())


# -- the graph of a question
# -------------------------------------------------------------------------------------------------


#: Bytes of edges that are sorted, and searched, together.
_PIECE = 128 << 20
_PAIR = np.dtype([("source", "<i8"), ("target", "<i8"), ("row", "<i8")])
#: An edge: its nodes, the first of its links, and its number.
_EDGE = np.dtype([*_PAIR.descr, ("edge", "<i8")])
#: Edges, or pairs, that are looked at together.
PART = 1 << 21
#: Units that are counted behind one at most, and looked at behind all that are asked about.
COUNTED, LOOKED_AT = 10_000, 1 << 22
#: Nodes that are taken one by one, and not as arrays.
_FEW = 64
#: Steps that are shown of either end of a path; more would take the square of its length.
STEPS_SHOWN = 10
#: What stands for the unit before in a path: that there is none, for it begins here; that the unit
#: is not reached.
_BEGINS, _UNREACHED = -1, -2


class DependencyGraph:
    """Units as nodes, and for each edge the links that prove it: arrays, 30 bytes for a unit, 40
    for an edge and 8 for a link beside the links themselves.

    ``units`` (:data:`replay.changes.position.UNIT_POSITION`) are in commit order, each once, and
    their places are the numbers of nodes; ``links`` (:data:`replay.dependencies.links.LINK`) lead
    from the nodes ``source`` to the nodes ``target``, none from a unit to itself.
    """

    def __init__(self, units: Records, source: Index, target: Index, links: Records) -> None:
        self.units, self._links = units, links
        parts = min(-(-len(source) // PART) or 1, PARTS)
        rows, begin, edges = Growing(np.int64), Growing(np.int64), Growing(_EDGE)
        for pairs in in_parts(
            _pairs(source, target), lambda some: some["source"] * parts // len(units), parts, _PAIR
        ):
            pairs = pairs[np.lexsort([pairs["row"], pairs["target"], pairs["source"]])]
            new = np.ones(len(pairs), bool)
            for name in ("source", "target"):
                new[1:] &= pairs[name][1:] == pairs[name][:-1]
            new[1:] = ~new[1:]
            first = np.flatnonzero(new)
            found = np.zeros(len(first), _EDGE)
            for name in ("source", "target", "row"):
                found[name] = pairs[name][first]
            found["edge"] = np.arange(len(edges), len(edges) + len(first))
            begin.add(first + len(rows))
            rows.add(np.ascontiguousarray(pairs["row"]))
            edges.add(found)
        begin.add(np.array([len(rows)], np.int64))
        self._rows: Index = rows.array()
        self._begin: Index = begin.array()
        every = edges.array()
        self._source, self._target = _column(every, "source"), _column(every, "target")
        self._out = _ends(self._source, len(units))
        # what a unit builds on, what was linked first first
        back = Growing(np.int64)
        for found in in_parts(
            windows(every), lambda some: some["target"] * parts // len(units), parts, _EDGE
        ):
            sequence = np.lexsort([found["row"], found["target"]])
            back.add(np.ascontiguousarray(found["edge"][sequence]))
        self._back: Index = back.array()
        self._in = _ends(self._target, len(units))
        ids = self._ids(np.ascontiguousarray(units.view(UNIT_POSITION_FIELDS)["unit"]))
        self._by_id: Index = spilled(np.argsort(ids, kind="stable"))
        self._sorted = spilled(ids[self._by_id])

    @property
    def edge_count(self) -> int:
        """How many pairs of units depend on each other directly."""
        return len(self._source)

    @staticmethod
    def _ids(units: Records) -> npt.NDArray[np.bytes_]:
        """Units (:data:`replay.changes.position.UNIT`) as values that NumPy compares."""
        return units.view(f"S{UNIT.itemsize}").reshape(-1)

    def nodes(self, units: Iterable[UnitId]) -> Index:
        """The numbers of those of some units that are here, rising."""
        nodes, there = self.nodes_of(unit_column(units))
        return np.unique(nodes[there])

    def nodes_of(self, units: Records) -> tuple[Index, Mask]:
        """(numbers of some units, whether they are here)."""
        wanted = self._ids(units)
        if not len(self._sorted):
            return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
        place = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
        return self._by_id[place], np.asarray(self._sorted[place] == wanted)

    def unit(self, node: int) -> UnitId:
        """The unit of a node."""
        return UnitPosition(self.units[node].tobytes()).unit

    def unit_column(self, nodes: Index) -> Records:
        """The units of some nodes (:data:`replay.changes.position.UNIT`)."""
        return np.ascontiguousarray(self.units.view(UNIT_POSITION_FIELDS)["unit"][nodes])

    def first_links(self, source: Index, target: Index) -> Records:
        """The first link of the edge between each two nodes. KeyError where there is none."""
        edge, end = self._out[source], self._out[source + 1]
        while (seeks := edge < end).any():
            middle = edge + end >> 1
            before = seeks & (self._target[np.where(seeks, middle, 0)] < target)
            edge = np.where(before, middle + 1, edge)
            end = np.where(seeks & ~before, middle, end)
        if (edge >= self._out[source + 1]).any() or (self._target[edge] != target).any():
            raise KeyError("two nodes without an edge")
        return take_rows(self._links, self._rows[self._begin[edge]])

    def links_into(self, nodes: Index) -> tuple[Records, Index]:
        """All links from other nodes to some, and where those of each one begin, and the last ones
        end (int64[n + 1])."""
        edges, of_node = ranges(self._in[nodes], self._in[nodes + 1])
        edges = self._back[edges]
        rows, of_edge = ranges(self._begin[edges], self._begin[edges + 1])
        return take_rows(self._links, self._rows[rows]), of_edge[of_node]

    def sources(self, unit: UnitId) -> list[UnitId]:
        """The units that a unit builds on."""
        (node,) = self.nodes([unit]).tolist()
        edges = self._back[self._in[node] : self._in[node + 1]]
        return [self.unit(one) for one in self._source[edges].tolist()]

    def __iter__(self) -> Iterator[UnitId]:
        return map(self.unit, range(len(self.units)))

    def __len__(self) -> int:
        return len(self.units)

    def reach_counts(self, asked: Index) -> tuple[Index, Mask]:
        """How many units can be reached from each of some nodes, with itself, and of which there
        are more than that: from each one, only so many are looked at (:data:`COUNTED`, and
        :data:`LOOKED_AT` for all of them)."""
        most = max(1, min(COUNTED, LOOKED_AT // max(len(asked), 1)))
        found = [self._reached(node, most) for node in asked.tolist()]
        counts = np.array([len(reached) for reached in found], np.int64)
        return np.minimum(counts, most), counts > most

    def _reached(self, node: int, most: int) -> set[int]:
        """Nodes that can be reached from one, with itself: all, or one more than ``most``."""
        reached, waiting = {node}, [node]
        while waiting:
            one = waiting.pop()
            low = self._out[one]
            end = min(int(self._out[one + 1]), int(low) + most + 1)
            for target in self._target[low:end].tolist():
                if target not in reached:
                    reached.add(target)
                    waiting.append(target)
                if len(reached) > most:
                    return reached
        return reached

    def _targets(self, node: int) -> list[int]:
        targets: list[int] = self._target[self._out[node] : self._out[node + 1]].tolist()
        return targets

    def paths(self, start: Iterable[UnitId]) -> Paths:
        """A shortest path from one of ``start`` to every unit that can be reached, that one first.
        Ties go to what committed first."""
        before = np.full(len(self.units), _UNREACHED, np.int64)
        level = self.nodes(start)
        before[level] = _BEGINS
        levels = [level]
        while len(level):
            level = self._following(level, before)
            levels.append(level)
        return Paths(self, before, levels)

    def _following(self, level: Index, before: Index) -> Index:
        """The nodes that are reached first behind a level, with those before them noted."""
        if len(level) < _FEW:
            found = []
            for node in level.tolist():
                for target in self._targets(node):
                    if before[target] == _UNREACHED:
                        before[target] = node
                        found.append(target)
            return np.array(found, np.int64)
        low = self._out[level]
        count = self._out[level + 1] - low
        edges = np.repeat(low - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
        edges = edges[before[self._target[edges]] == _UNREACHED]
        _, first = np.unique(self._target[edges], return_index=True)
        edges = edges[np.sort(first)]
        following: Index = self._target[edges]
        before[following] = self._source[edges]
        return following


class Paths:
    """The path to each unit that is reached, in commit order of these. Kept are the node
    ``before`` each (``int64[n]``), how long its path is, and where that is shown from: 20 bytes a
    node. ``levels`` are the nodes that are reached, by the lengths of their paths."""

    def __init__(self, graph: DependencyGraph, before: Index, levels: Iterable[Index]) -> None:
        self.graph, self._before = graph, before
        self._length = np.zeros(len(before), np.int32)
        #: The node at which what is shown of the path's beginning ends.
        self._early = np.arange(len(before))
        for number, level in enumerate(levels):
            self._length[level] = number + 1
            if number > STEPS_SHOWN:
                self._early[level] = self._early[before[level]]

    def or_else(self, other: Paths) -> Paths:
        """These paths, and those of ``other`` to units that these do not reach."""
        both = Paths(self.graph, np.where(self._length, self._before, other._before), ())
        both._length = np.where(self._length, self._length, other._length)
        both._early = np.where(self._length, self._early, other._early)
        return both

    def nodes(self) -> Index:
        """The nodes that are reached."""
        return np.flatnonzero(self._length)

    def nodes_of(self, units: Records) -> tuple[Index, Mask]:
        """(nodes of some units, whether they are reached)."""
        nodes, there = self.graph.nodes_of(units)
        there[there] = self._length[nodes[there]] > 0
        return nodes, there

    def begins(self) -> Index:
        """The nodes that paths of one unit lead to."""
        return np.flatnonzero(self._length == 1)

    def shown(self, node: int) -> tuple[int, list[tuple[int, int]], int]:
        """(first, steps, more): the node that the path to a node begins with, the steps of it that
        are shown, which are all or those of its two ends, and how many are left out after the first
        :data:`STEPS_SHOWN`."""
        more = max(0, int(self._length[node]) - 1 - 2 * STEPS_SHOWN)
        if not more:
            path = self._back(node, int(self._length[node]))
            return path[0], list(pairwise(path)), 0
        early = self._back(int(self._early[node]), STEPS_SHOWN + 1)
        late = self._back(node, STEPS_SHOWN + 1)
        return early[0], [*pairwise(early), *pairwise(late)], more

    def begins_of(self, nodes: Index) -> Index:
        """The node that the path to each of some nodes that are reached begins with."""
        found = self._early[nodes]
        for _ in range(STEPS_SHOWN):
            found = np.where(self._length[found] > 1, self._before[found], found)
        return found

    def _back(self, node: int, count: int) -> list[int]:
        """The last nodes of the path to a node."""
        path = [node]
        while len(path) < count:
            path.append(int(self._before[path[-1]]))
        return path[::-1]


def ranges(low: Index, high: Index) -> tuple[Index, Index]:
    """The numbers of some ranges one behind the other, and where each one's begin, and the last
    ones end."""
    count = high - low
    ends = np.append(0, np.cumsum(count))
    return np.repeat(low - ends[:-1], count) + np.arange(int(ends[-1])), ends


def _pairs(source: Index, target: Index) -> Iterator[Records]:
    """The links between nodes, numbered, in parts (:data:`_PAIR`)."""
    low = 0
    for one, other in zip(windows(source), windows(target), strict=True):
        pairs = np.zeros(len(one), _PAIR)
        pairs["source"], pairs["target"] = one, other
        pairs["row"] = np.arange(low, low + len(one))
        low += len(one)
        yield pairs


def _column(records: Records, name: str) -> Index:
    """A field of records as an array of its own."""
    column = Growing(np.int64)
    for some in windows(records):
        column.add(np.ascontiguousarray(some[name]))
    return column.array()


def _ends(nodes: Index, count: int) -> Index:
    """Where the rows of each node begin, and the last ones end, among rows in the order of their
    ``nodes``."""
    sizes = np.zeros(count + 1, np.int64)
    for some in windows(nodes):
        sizes[1:] += np.bincount(some, minlength=count)
    return spilled(np.cumsum(sizes))


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
