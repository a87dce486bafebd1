"""The dependency graph of units of recovery: edges from touches, what is reachable, and the paths
that prove it.

An edge A → B says that B built on A: it wrote a row or key that A wrote before, its row refers to a
parent that A inserted, it deleted a parent whose child A deleted, or one of the two emptied the
table. Edges are found on sorted arrays of touches (:mod:`replay.dependencies.write_sets`) of any
size; what a question reaches is kept in arrays too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Hashes, Index, Mask, Records
from replay.changes import order
from replay.changes.envelope import octets
from replay.changes.position import UNIT, UNIT_POSITION_FIELDS, Position, UnitId, UnitPosition
from replay.decoding.hashes import unit_hash
from replay.dependencies.write_sets import KeyRole, KeySpaces

if TYPE_CHECKING:  # functions that make graphs import it: scripts without a question need none
    import networkx as nx


class Link(IntEnum):
    """Why one touch needs another: the same row, the same key value, a child its parent, a parent's
    delete its children's, the whole table. FORM: the table had another form then, so that rows
    cannot be told."""

    ROW = 1
    KEY = 2
    PARENT = 3
    CHILD = 4
    TABLE = 5
    FORM = 6


#: One link between two changes, given by their places in a batch. ``gone``: the key is in the
#: target's before image.
LINK = np.dtype(
    [("source", "<i8"), ("target", "<i8"), ("kind", "u1"), ("space", "<i8"), ("gone", "?")]
)

LINK_WORDS = {
    Link.ROW: "wrote the row after it",
    Link.KEY: "took the key after it",
    Link.PARENT: "refers to the row it inserted",
    Link.CHILD: "deleted the parent of the row it deleted",
    Link.TABLE: "touched the table after or before it was emptied",
    Link.FORM: "touched the table after its form changed",
}


@dataclass(frozen=True)
class Links:
    """Links between touches of one sorted array: ``source`` and ``target`` are places in it,
    ``kind`` a :class:`Link`."""

    source: Index
    target: Index
    kind: Bytes


def touch_order(touches: Records) -> Index:
    """The order by key space, key, and then commit order."""
    names = [*_word_columns(touches, ("commit", "unit", "position"))]
    keys = [np.ascontiguousarray(touches[name]) for name in ("space", "key", "check")]
    return np.lexsort([np.ascontiguousarray(touches["change"]), *reversed([*keys, *names])])


def _word_columns(touches: Records, names: Sequence[str]) -> Iterable[npt.NDArray[Any]]:
    for name in names:
        yield from order.words(touches[name])


def links(touches: Records, row_spaces: Mask, *, idle: bool = True) -> Links:
    """The links in touches that stand in :func:`touch_order`. ``row_spaces`` says per key space
    whether it is a row identity without table events; ``idle``: whether updates whose values stay
    the same count for nothing (else: all are written, in the order of their rows)."""
    count = len(touches)
    if count == 0:
        return Links(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8))
    role, space = (np.ascontiguousarray(touches[name]) for name in ("role", "space"))
    place = np.arange(count, dtype=np.int64)
    begins = np.ones(count, bool)
    begins[1:] = space[1:] != space[:-1]
    for name in ("key", "check"):
        column = np.ascontiguousarray(touches[name])
        begins[1:] |= column[1:] != column[:-1]
    start = np.maximum.accumulate(np.where(begins, place, 0))
    parts: list[tuple[Index, Index, Link]] = []
    images = np.flatnonzero(role <= KeyRole.DESTROY)
    counting = images[~_idle(touches[images])] if idle else images
    previous, following = _neighbours(counting, start)
    is_row = row_spaces[space[following]]
    parts.append((previous[is_row], following[is_row], Link.ROW))
    parts.append((previous[~is_row], following[~is_row], Link.KEY))
    parts += _nearest(role, start, KeyRole.CREATE, KeyRole.REFER, Link.PARENT, False)
    parts += _nearest(role, start, KeyRole.DESTROY, KeyRole.RELEASE, Link.CHILD, True)
    parts += _nearest(role, start, KeyRole.EVENT, KeyRole.MEMBER, Link.TABLE, False)
    parts += _nearest(role, start, KeyRole.EVENT, KeyRole.MEMBER, Link.TABLE, True)
    events = np.flatnonzero(role == KeyRole.EVENT)
    same = start[events[:-1]] == start[events[1:]]
    parts.append((events[:-1][same], events[1:][same], Link.TABLE))
    return joined(
        [
            Links(source, target, np.full(len(source), kind, np.uint8))
            for source, target, kind in parts
        ]
    )


def _neighbours(places: Index, start: Index) -> tuple[Index, Index]:
    """(previous, following): neighbours among ``places`` that are of one key."""
    same = start[places[:-1]] == start[places[1:]]
    return places[:-1][same], places[1:][same]


def _idle(touches: Records) -> Mask:
    """Updates that change nothing: nobody builds on them, and they build on nobody."""
    return np.asarray(
        (touches["role"] == KeyRole.CHANGE)
        & (touches["version"] >= 0)
        & (touches["before"] == touches["after"])
    )


def _nearest(
    role: Bytes, start: Index, anchor: KeyRole, other: KeyRole, kind: Link, ahead: bool
) -> list[tuple[Index, Index, Link]]:
    """Links from the last ``anchor`` before each ``other`` of the same key; with ``ahead`` from
    each ``other`` to the next ``anchor``."""
    place = np.arange(len(role), dtype=np.int64)
    rows = np.flatnonzero(role == other)
    anchors = np.flatnonzero(role == anchor)
    if not len(rows) or not len(anchors):
        return []
    at = np.searchsorted(anchors, rows) - (0 if ahead else 1)
    there = (at >= 0) & (at < len(anchors))
    rows, near = rows[there], anchors[at[there]]
    same = start[near] == start[rows]
    rows, near = place[rows[same]], near[same]
    return [(rows, near, kind)] if ahead else [(near, rows, kind)]


def column_links(
    touches: Records,
    rows: Mask,
    changed: Mapping[int, int],
    written: Mapping[int, int],
) -> Links:
    """Links of row version chains by column: an update is linked to the last change of each column
    it changed, an insert or delete to the last change of any. ``touches`` stand in
    :func:`touch_order`; ``changed``: change -> bit mask of the columns an update changed;
    ``written``: those of them that statements name.

    Each column's chain is whole, so everything that builds on a change can be reached from it, and
    updates of other columns cannot. An update of columns that no statement names builds on the
    insert of its row alone, which is taken back as a whole.
    """
    sources, targets = [], []
    last: dict[int, int] = {}
    whole, group = -1, None
    names = ("space", "key", "check", "role", "change")
    for place, (space, key, check, role, change) in enumerate(
        zip(*(touches[name].tolist() for name in names), strict=True)
    ):
        if not rows[space] or role > KeyRole.DESTROY:
            continue
        if (space, key, check) != group:
            group, last, whole = (space, key, check), {}, -1
        mask = written[change] if role == KeyRole.CHANGE else _EVERY_COLUMN
        if not mask:
            if changed[change] and whole >= 0:
                sources.append(whole)
                targets.append(place)
            continue
        before = [other for other, bits in last.items() if bits & mask]
        for other in before or [whole] * (whole >= 0):
            sources.append(other)
            targets.append(place)
        if role == KeyRole.CHANGE:
            last = {other: bits & ~mask for other, bits in last.items() if bits & ~mask}
            last[place] = mask
        else:
            last, whole = {place: _EVERY_COLUMN}, place
    return Links(
        np.array(sources, np.int64),
        np.array(targets, np.int64),
        np.full(len(targets), Link.ROW, np.uint8),
    )


#: A bit mask with every bit set.
_EVERY_COLUMN = -1


def others(between: Links, kind: Link) -> Links:
    """The links that are not of a kind."""
    kept = between.kind != kind
    return Links(between.source[kept], between.target[kept], between.kind[kept])


def joined(parts: Sequence[Links]) -> Links:
    """Several links as one."""
    return Links(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("source", "target", "kind")
        )
    )


# -- order within a unit
# -------------------------------------------------------------------------------------------------


def unit_needs(touches: Records, number: Index) -> tuple[Index, Index]:
    """(first, second): changes of one unit of which the first must be done before the second,
    undone after it.

    ``touches`` are those of some changes in commit order, ``number`` the unit of each change.
    Versions of a row and of a key stay in their order; a child row, or a reference to a parent,
    comes after the parent's insert and goes before its delete, whatever the log's order.
    """
    unit = number[touches["change"]]
    names = [np.ascontiguousarray(touches[name]) for name in ("check", "key", "space")]
    sequence = np.lexsort([np.ascontiguousarray(touches["change"]), *names, unit])
    role, change = (
        np.ascontiguousarray(touches["role"])[sequence],
        np.ascontiguousarray(touches["change"])[sequence],
    )
    group = np.zeros(len(sequence), np.int64)
    for column in (unit, *names):
        group[1:] |= column[sequence][1:] != column[sequence][:-1]
    group = np.cumsum(group)
    writes = np.flatnonzero(role <= KeyRole.DESTROY)
    same = group[writes[:-1]] == group[writes[1:]]
    first, second = [change[writes[:-1][same]]], [change[writes[1:][same]]]
    for parent, child in ((KeyRole.CREATE, KeyRole.REFER), (KeyRole.DESTROY, KeyRole.RELEASE)):
        rows = np.flatnonzero(role == child)
        for ahead in (False, True):
            at = np.searchsorted(writes, rows) - (0 if ahead else 1)
            there = (at >= 0) & (at < len(writes))
            near = writes[np.where(there, at, 0)] if len(writes) else rows
            fits = (
                there
                & (group[near] == group[rows])
                & (role[near] == parent)
                & (change[near] != change[rows])
            )
            pair = change[near[fits]], change[rows[fits]]
            first.append(pair[0] if parent is KeyRole.CREATE else pair[1])
            second.append(pair[1] if parent is KeyRole.CREATE else pair[0])
    return np.concatenate(first), np.concatenate(second)


class Cycle(Exception):
    """Changes that each need another to go first; ``changes`` is the way round."""

    def __init__(self, changes: list[int]) -> None:
        super().__init__(changes)
        self.changes = changes


def reordered(changes: Sequence[int], pairs: Iterable[tuple[int, int]]) -> list[int]:
    """``changes`` in an order that puts the first of each pair before the second, as close to the
    given order as that allows. Cycle if none does."""
    import networkx as nx

    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(changes)
    graph.add_edges_from(pairs)
    place = {change: number for number, change in enumerate(changes)}
    try:
        return list(nx.lexicographical_topological_sort(graph, key=place.__getitem__))
    except nx.NetworkXUnfeasible:
        raise Cycle([int(edge[0]) for edge in nx.find_cycle(graph)]) from None


# -- reaching, without a graph
# -------------------------------------------------------------------------------------------------


class Edges:
    """Edges between units by 64-bit hash, packed: 16 bytes each. Collisions can only join units,
    never part them."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        pairs = np.frombuffer(b"".join(blocks), np.uint64).reshape(-1, 2)
        self._sort(pairs)

    def _sort(self, pairs: Hashes) -> None:
        sequence = np.argsort(pairs[:, 0], kind="stable")
        self.source: Hashes = pairs[sequence, 0]
        self.target: Hashes = pairs[sequence, 1]

    def turned(self) -> Edges:
        """The edges the other way round."""
        other = Edges(())
        other._sort(np.stack([self.target, self.source], axis=1))
        return other

    def reach(self, start: Hashes) -> Hashes:
        """The sorted hashes of the units that can be reached from ``start``, with them."""
        seen = np.unique(start)
        frontier = seen
        while len(frontier):
            low = np.searchsorted(self.source, frontier, "left")
            count = np.searchsorted(self.source, frontier, "right") - low
            rows = np.repeat(low - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
            frontier = np.setdiff1d(self.target[rows], seen)
            seen = np.union1d(seen, frontier)
        return seen


def packed_edges(touches: Records, between: Links) -> bytes:
    """The different unit pairs of links, for :class:`Edges`."""
    unit = unit_hash(octets(touches["unit"]))
    pairs = np.stack([unit[between.source], unit[between.target]], axis=1)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if not len(pairs):
        return b""
    return bytes(np.unique(np.ascontiguousarray(pairs).view("V16").reshape(-1)).tobytes())


# -- the graph of a question
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChangeLink:
    """One link that can be checked: the changes of the two units by their places among the changes
    of the subgraph, the key space, and whether the key is in the before image of the target
    (``gone``)."""

    kind: Link
    space: int
    source: int
    target: int
    gone: bool


#: Groups of units whose reach is counted together: bits of a number.
_TOGETHER = 4096
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
    their places are the numbers of nodes; ``links`` (:data:`LINK`) lead from the nodes ``source``
    to the nodes ``target``, none from a unit to itself.
    """

    def __init__(self, units: Records, source: Index, target: Index, links: Records) -> None:
        self.units, self._links = units, links
        count = max(len(units), 1)
        pair = source * count + target
        self._rows: Index = np.argsort(pair, kind="stable")
        pairs, first = np.unique(pair[self._rows], return_index=True)
        self._begin = np.append(first, len(pair))
        self._source, self._target = pairs // count, pairs % count
        nodes = np.arange(len(units) + 1)
        self._out = np.searchsorted(self._source, nodes)
        # what a unit builds on, what was linked first first
        self._back: Index = np.lexsort([self._rows[first], self._target])
        self._in = np.searchsorted(self._target[self._back], nodes)
        ids = self._ids(np.ascontiguousarray(units.view(UNIT_POSITION_FIELDS)["unit"]))
        self._by_id: Index = np.argsort(ids, kind="stable")
        self._sorted = ids[self._by_id]

    @staticmethod
    def _ids(units: Records) -> npt.NDArray[np.bytes_]:
        """Units (:data:`replay.changes.position.UNIT`) as values that NumPy compares."""
        return units.view(f"S{UNIT.itemsize}").reshape(-1)

    def nodes(self, units: Iterable[UnitId]) -> Index:
        """The numbers of those of some units that are here, rising."""
        wanted = self._ids(np.frombuffer(b"".join(units), UNIT))
        if not len(self._sorted):
            return np.zeros(0, np.int64)
        place = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
        return np.unique(self._by_id[place[self._sorted[place] == wanted]])

    def unit(self, node: int) -> UnitId:
        """The unit of a node."""
        return UnitPosition(self.units[node].tobytes()).unit

    def _node(self, unit: UnitId) -> int:
        found = self.nodes([unit])
        if not len(found):
            raise KeyError(unit)
        return int(found[0])

    def links(self, source: UnitId, target: UnitId) -> list[ChangeLink]:
        """Why ``target`` builds on ``source``, in the order of the links. KeyError where it does
        not."""
        return self.node_links(self._node(source), self._node(target))

    def node_links(self, source: int, target: int) -> list[ChangeLink]:
        """The same of two nodes."""
        low, high = self._out[source], self._out[source + 1]
        edge = low + int(np.searchsorted(self._target[low:high], target))
        if edge == high or self._target[edge] != target:
            raise KeyError((source, target))
        rows = self._rows[self._begin[edge] : self._begin[edge + 1]]
        names = ("kind", "space", "source", "target", "gone")
        values = (self._links[name][rows].tolist() for name in names)
        return [ChangeLink(Link(kind), *rest) for kind, *rest in zip(*values, strict=True)]

    def sources(self, unit: UnitId) -> list[UnitId]:
        """The units that a unit builds on."""
        return [self.unit(node) for node in self.node_sources(self._node(unit))]

    def node_sources(self, node: int) -> list[int]:
        """The nodes that a node builds on."""
        edges = self._back[self._in[node] : self._in[node + 1]]
        before: list[int] = self._source[edges].tolist()
        return before

    def commit(self, unit: UnitId) -> Position:
        """The commit position of a unit."""
        return UnitPosition(self.units[self._node(unit)].tobytes()).commit

    def __iter__(self) -> Iterator[UnitId]:
        return map(self.unit, range(len(self.units)))

    def __contains__(self, unit: UnitId) -> bool:
        return len(self.nodes([unit])) > 0

    def __len__(self) -> int:
        return len(self.units)

    def reach_counts(self) -> Index:
        """How many units can be reached from each node, with itself. Those that hang together are
        looked at together, for one by one takes the square of their number."""
        count = len(self.units)
        counts = np.ones(count, np.int64)
        if not len(self._source):
            return counts
        label = grouped(self._source, self._target, count)
        group, rank = self._groups(label)
        # of each that hang together, those that are reached first
        ranked = np.lexsort([rank, label])
        sizes = np.bincount(label, minlength=count)
        ends = np.flatnonzero(np.diff(label[ranked], append=-1)) + 1
        several = sizes[label[ranked[ends - 1]]] > 1
        held: list[int] = []
        for end, size in zip(
            ends[several].tolist(), sizes[label[ranked[ends[several] - 1]]].tolist(), strict=True
        ):
            held += ranked[end - size : end].tolist()
            if len(held) >= _TOGETHER:
                self._count(held, group, counts)
                held = []
        self._count(held, group, counts)
        return counts

    def _groups(self, label: Index) -> tuple[Index, Index]:
        """(group, rank) of each node: the least one of those that it forms circles with, and a
        number that is lower the later what it reaches comes."""
        import networkx as nx

        group = np.arange(len(label))
        rank = len(label) - group
        backward = self._source > self._target
        if backward.any():
            there = np.isin(label, label[self._source[backward]])
            edges = np.flatnonzero(there[self._source])
            graph: nx.DiGraph[int] = nx.DiGraph()
            graph.add_edges_from(
                zip(self._source[edges].tolist(), self._target[edges].tolist(), strict=True)
            )
            # the last ones come first
            for number, circle in enumerate(nx.strongly_connected_components(graph)):
                members = list(circle)
                group[members], rank[members] = min(members), number
        return group, rank

    def _count(self, nodes: Sequence[int], group: Index, counts: Index) -> None:
        """Count what is reached from nodes, which follow in the order of their ranks among those
        that they hang together with."""
        members: dict[int, list[int]] = {}
        for node in nodes:
            members.setdefault(int(group[node]), []).append(node)
        number = {first: place for place, first in enumerate(members)}
        following = [
            {number[int(group[target])] for node in some for target in self._targets(node)}
            - {number[first]}
            for first, some in members.items()
        ]
        weights = [len(some) for some in members.values()]
        totals = [0] * len(weights)
        for low in range(0, len(weights), _TOGETHER):
            sizes = weights[low : low + _TOGETHER]
            single = max(sizes) == 1
            reached: list[int] = []
            for place, targets in enumerate(following):
                bits = 1 << (place - low) if low <= place < low + len(sizes) else 0
                for target in targets:
                    bits |= reached[target]
                reached.append(bits)
                totals[place] += bits.bit_count() if single else _weight(bits, sizes)
        for some, total in zip(members.values(), totals, strict=True):
            counts[some] = total

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


class Paths(Mapping[UnitId, list[UnitId]]):
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

    def _back(self, node: int, count: int) -> list[int]:
        """The last nodes of the path to a node."""
        path = [node]
        while len(path) < count:
            path.append(int(self._before[path[-1]]))
        return path[::-1]

    def node(self, unit: UnitId) -> int | None:
        """The node of a unit that is reached; None for any other."""
        found = self.graph.nodes([unit])
        return int(found[0]) if len(found) and self._length[found[0]] else None

    def __getitem__(self, unit: UnitId) -> list[UnitId]:
        node = self.node(unit)
        if node is None:
            raise KeyError(unit)
        path = self._back(node, int(self._length[node]))
        return [self.graph.unit(one) for one in path]

    def __iter__(self) -> Iterator[UnitId]:
        return (self.graph.unit(node) for node in self.nodes().tolist())

    def __len__(self) -> int:
        return len(self.nodes())


def _weight(bits: int, sizes: Sequence[int]) -> int:
    """The sum of the sizes whose bits are set."""
    return sum(size for place, size in enumerate(sizes) if bits >> place & 1)


def row_spaces(spaces: KeySpaces, evented: Iterable[int]) -> Mask:
    """Per key space: whether it is a row identity whose versions can be followed (a declared key,
    in a table that was never emptied)."""
    emptied = {spaces.spaces[number].table for number in evented}
    return np.array(
        [space.kind == "row" and space.table not in emptied for space in spaces.spaces] or [False],
        bool,
    )


def grouped(one: Index, other: Index, count: int) -> Index:
    """For each of ``0 … count-1`` the least member of the group that it hangs together with by the
    pairs ``one`` and ``other``."""
    label = np.arange(count, dtype=np.int64)
    while True:
        least = np.minimum(label[one], label[other])
        before = label.copy()
        np.minimum.at(label, before[one], least)
        np.minimum.at(label, before[other], least)
        label = label[label]
        if np.array_equal(label, before):
            return label


def graphml(
    nodes: Sequence[tuple[str, Mapping[str, str]]],
    edges: Sequence[tuple[str, str, Mapping[str, str]]],
    warnings: Sequence[str] = (),
) -> str:
    """Nodes and edges with their attributes as GraphML."""
    import networkx as nx

    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    if warnings:
        graph.graph["warnings"] = _xml("\n".join(warnings))
    graph.add_nodes_from(
        (name, {key: _xml(value) for key, value in facts.items()}) for name, facts in nodes
    )
    graph.add_edges_from(
        (one, other, {key: _xml(value) for key, value in facts.items()})
        for one, other, facts in edges
    )
    return "\n".join(nx.generate_graphml(graph)) + "\n"


def _xml(text: str) -> str:
    """Text without the control characters that XML cannot hold, which are shown as ``\\u00XX``."""
    return "".join(c if c >= " " or c in "\t\n" else f"\\u{ord(c):04X}" for c in text)
