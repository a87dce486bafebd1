"""The dependency graph of units of recovery: edges from touches, what is reachable, and the paths
that prove it.

An edge A → B says that B built on A: it wrote a row or key that A wrote before, its row refers to a
parent that A inserted, it deleted a parent whose child A deleted, or one of the two emptied the
table. Edges are found on sorted arrays of touches (:mod:`replay.dependencies.write_sets`) of any
size; only what a question reaches becomes a networkx graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Hashes, Index, Mask, Records
from replay.changes import order
from replay.changes.envelope import octets
from replay.changes.position import Position, UnitId
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


class DependencyGraph:
    """Units as nodes, and for each edge the links that prove it. Small: it holds what a question
    reaches."""

    def __init__(self) -> None:
        import networkx as nx

        self.graph: nx.DiGraph[UnitId] = nx.DiGraph()

    def add_unit(self, unit: UnitId, commit: Position) -> None:
        """A unit and its commit position."""
        self.graph.add_node(unit, commit=commit)

    def add(self, source: UnitId, target: UnitId, link: ChangeLink) -> None:
        """Add a link; of a pair of units, the first one in commit order is the one shown first."""
        if self.graph.has_edge(source, target):
            self.graph.edges[source, target]["links"].append(link)
        else:
            self.graph.add_edge(source, target, links=[link])

    def links(self, source: UnitId, target: UnitId) -> list[ChangeLink]:
        """Why ``target`` builds on ``source``."""
        between: list[ChangeLink] = self.graph.edges[source, target]["links"]
        return between

    def sources(self, unit: UnitId) -> list[UnitId]:
        """The units that a unit builds on."""
        return list(self.graph.predecessors(unit))

    def commit(self, unit: UnitId) -> Position:
        """The commit position of a unit."""
        position: Position = self.graph.nodes[unit]["commit"]
        return position

    def __contains__(self, unit: UnitId) -> bool:
        return unit in self.graph

    def __len__(self) -> int:
        return len(self.graph)

    def reach_counts(self) -> dict[UnitId, int]:
        """How many units can be reached from each, with itself: of all units together, for one by
        one takes the square of their number."""
        import networkx as nx

        groups = list(nx.strongly_connected_components(self.graph))  # the last ones first
        group_of = {unit: number for number, group in enumerate(groups) for unit in group}
        following = [
            {group_of[target] for unit in group for target in self.graph.successors(unit)}
            - {number}
            for number, group in enumerate(groups)
        ]
        counts = [0] * len(groups)
        for low in range(0, len(groups), _TOGETHER):
            high = min(low + _TOGETHER, len(groups))
            sizes = [len(group) for group in groups[low:high]]
            single = max(sizes) == 1
            reached: list[int] = []
            for number, targets in enumerate(following):
                bits = 1 << (number - low) if low <= number < high else 0
                for target in targets:
                    bits |= reached[target]
                reached.append(bits)
                counts[number] += bits.bit_count() if single else _weight(bits, sizes)
        return {unit: counts[number] for unit, number in group_of.items()}

    def paths(self, start: Iterable[UnitId]) -> Mapping[UnitId, list[UnitId]]:
        """A shortest path from one of ``start`` to every unit that can be reached, that one first.
        Ties go to what committed first."""
        level = sorted(
            (unit for unit in start if unit in self.graph),
            key=lambda unit: (self.commit(unit), unit),
        )
        path: dict[UnitId, list[UnitId]] = {unit: [unit] for unit in level}
        while level:
            following: list[UnitId] = []
            for unit in level:
                for target in sorted(
                    self.graph.successors(unit), key=lambda node: (self.commit(node), node)
                ):
                    if target not in path:
                        path[target] = [*path[unit], target]
                        following.append(target)
            level = following
        return path


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
