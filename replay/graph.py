"""The dependency graph of units of recovery: edges from touches, what is reachable, and the paths that prove it.

An edge A → B says that B built on A: it wrote a row or key that A wrote before, its row refers to a parent that A inserted, it deleted a parent
whose child A deleted, or one of the two emptied the table. Edges are found on sorted arrays of touches (:mod:`replay.keys`) of any size; only
what a question reaches becomes a networkx graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

from replay import order
from replay.keys import Hashes, Index, KeySpaces, Mask, Role, octets, unit_hash


class Link(IntEnum):
    """Why one touch needs another: the same row, the same key value, a child its parent, a parent's delete its children's, the whole table.
    GAP: the row is not as the log last left it, so a record is missing in between."""

    ROW = 1
    KEY = 2
    PARENT = 3
    CHILD = 4
    TABLE = 5
    GAP = 6


LINK_WORDS = {
    Link.ROW: "wrote the row after it",
    Link.KEY: "took the key after it",
    Link.PARENT: "refers to the row it inserted",
    Link.CHILD: "deleted the parent of the row it deleted",
    Link.TABLE: "touched the table after or before it was emptied",
    Link.GAP: "found the row other than the log last left it",
}


@dataclass(frozen=True)
class Links:
    """Links between touches of one sorted array: ``source`` and ``target`` are places in it (source -1 for a GAP), ``kind`` a :class:`Link`."""

    source: Index
    target: Index
    kind: npt.NDArray[np.uint8]


def touch_order(touches: npt.NDArray[np.void]) -> Index:
    """The order by key space, key, and then commit order."""
    names = [*_word_columns(touches, ("commit", "unit", "position"))]
    keys = [np.ascontiguousarray(touches[name]) for name in ("space", "key", "check")]
    return np.lexsort([np.ascontiguousarray(touches["change"]), *reversed([*keys, *names])])


def _word_columns(touches: npt.NDArray[np.void], names: Sequence[str]) -> Iterable[npt.NDArray[Any]]:
    for name in names:
        yield from order.words(touches[name])


def links(touches: npt.NDArray[np.void], row_spaces: npt.NDArray[np.bool_]) -> Links:
    """The links in touches that stand in :func:`touch_order`. ``row_spaces`` says per key space whether it is a row identity without table events."""
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
    found: list[tuple[Index, Index, Link]] = []
    writes = np.flatnonzero(role <= Role.DESTROY)
    previous, following = writes[:-1], writes[1:]
    chained = start[previous] == start[following]
    previous, following = previous[chained], following[chained]
    is_row = row_spaces[space[following]]
    found.append((previous[is_row], following[is_row], Link.ROW))
    found.append((previous[~is_row], following[~is_row], Link.KEY))
    found += _nearest(role, start, Role.CREATE, Role.REFER, Link.PARENT, False)
    found += _nearest(role, start, Role.DESTROY, Role.RELEASE, Link.CHILD, True)
    found += _nearest(role, start, Role.EVENT, Role.MEMBER, Link.TABLE, False)
    found += _nearest(role, start, Role.EVENT, Role.MEMBER, Link.TABLE, True)
    events = np.flatnonzero(role == Role.EVENT)
    same = start[events[:-1]] == start[events[1:]]
    found.append((events[:-1][same], events[1:][same], Link.TABLE))
    gaps = _gaps(touches, previous[is_row], following[is_row])
    found.append((np.full(len(gaps), -1, np.int64), gaps, Link.GAP))
    return joined([Links(source, target, np.full(len(source), kind, np.uint8)) for source, target, kind in found])


def _nearest(
    role: npt.NDArray[np.uint8], start: Index, anchor: Role, other: Role, kind: Link, ahead: bool
) -> list[tuple[Index, Index, Link]]:
    """Links from the last ``anchor`` before each ``other`` of the same key; with ``ahead`` from each ``other`` to the next ``anchor``."""
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


def _gaps(touches: npt.NDArray[np.void], previous: Index, following: Index) -> Index:
    """Touches whose before image is not the after image of the touch before, where the two can be compared."""
    version, before, after = (np.ascontiguousarray(touches[name]) for name in ("version", "before", "after"))
    comparable = (version[previous] == version[following]) & (version[following] >= 0)
    return np.asarray(following[comparable & (after[previous] != before[following])])


def column_links(touches: npt.NDArray[np.void], rows: Mask, changed: Mapping[int, int]) -> Links:
    """Links of row version chains by column: an update is linked to the last change of each column it changed, an insert or delete to the last
    change of any. ``touches`` stand in :func:`touch_order`; ``changed``: change -> bit mask of the columns an update changed.

    Each column's chain is whole, so everything that builds on a change can be reached from it, and updates of other columns cannot.
    """
    sources, targets = [], []
    last: dict[int, int] = {}
    whole, group = -1, None
    names = ("space", "key", "check", "role", "change")
    for place, (space, key, check, role, change) in enumerate(zip(*(touches[name].tolist() for name in names), strict=True)):
        if not rows[space] or role > Role.DESTROY:
            continue
        if (space, key, check) != group:
            group, last, whole = (space, key, check), {}, -1
        mask = changed[change] if role == Role.CHANGE else _EVERY_COLUMN
        before = [other for other, bits in last.items() if bits & mask]
        for other in before or [whole] * (whole >= 0):
            sources.append(other)
            targets.append(place)
        if role == Role.CHANGE:
            last = {other: bits & ~mask for other, bits in last.items() if bits & ~mask}
            last[place] = mask
        else:
            last, whole = {place: _EVERY_COLUMN}, place
    return Links(np.array(sources, np.int64), np.array(targets, np.int64), np.full(len(targets), Link.ROW, np.uint8))


#: A bit mask with every bit set.
_EVERY_COLUMN = -1


def others(found: Links, kind: Link) -> Links:
    """The links that are not of a kind."""
    kept = found.kind != kind
    return Links(found.source[kept], found.target[kept], found.kind[kept])


def joined(parts: Sequence[Links]) -> Links:
    """Several links as one."""
    return Links(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("source", "target", "kind")))


# -- order within a unit -----------------------------------------------------------------------------------------------------------------------


def unit_needs(touches: npt.NDArray[np.void], number: Index) -> tuple[Index, Index]:
    """(first, second): changes of one unit of which the first must be done before the second, undone after it.

    ``touches`` are those of some changes in commit order, ``number`` the unit of each change. Versions of a row and of a key stay in their
    order; a child row, or a reference to a parent, comes after the parent's insert and goes before its delete, whatever the log's order.
    """
    unit = number[touches["change"]]
    names = [np.ascontiguousarray(touches[name]) for name in ("check", "key", "space")]
    sequence = np.lexsort([np.ascontiguousarray(touches["change"]), *names, unit])
    role, change = np.ascontiguousarray(touches["role"])[sequence], np.ascontiguousarray(touches["change"])[sequence]
    group = np.zeros(len(sequence), np.int64)
    for column in (unit, *names):
        group[1:] |= column[sequence][1:] != column[sequence][:-1]
    group = np.cumsum(group)
    writes = np.flatnonzero(role <= Role.DESTROY)
    same = group[writes[:-1]] == group[writes[1:]]
    first, second = [change[writes[:-1][same]]], [change[writes[1:][same]]]
    for parent, child in ((Role.CREATE, Role.REFER), (Role.DESTROY, Role.RELEASE)):
        rows = np.flatnonzero(role == child)
        for ahead in (False, True):
            at = np.searchsorted(writes, rows) - (0 if ahead else 1)
            there = (at >= 0) & (at < len(writes))
            near = writes[np.where(there, at, 0)] if len(writes) else rows
            fits = there & (group[near] == group[rows]) & (role[near] == parent) & (change[near] != change[rows])
            pair = change[near[fits]], change[rows[fits]]
            first.append(pair[0] if parent is Role.CREATE else pair[1])
            second.append(pair[1] if parent is Role.CREATE else pair[0])
    return np.concatenate(first), np.concatenate(second)


class Cycle(Exception):
    """Changes that each need another to go first; ``changes`` is the way round."""

    def __init__(self, changes: list[int]) -> None:
        super().__init__(changes)
        self.changes = changes


def reordered(changes: Sequence[int], pairs: Iterable[tuple[int, int]]) -> list[int]:
    """``changes`` in an order that puts the first of each pair before the second, as close to the given order as that allows. Cycle if none does."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(changes)
    graph.add_edges_from(pairs)
    place = {change: number for number, change in enumerate(changes)}
    try:
        return list(nx.lexicographical_topological_sort(graph, key=place.__getitem__))
    except nx.NetworkXUnfeasible:
        raise Cycle([int(edge[0]) for edge in nx.find_cycle(graph)]) from None


# -- reaching, without a graph -------------------------------------------------------------------------------------------------------------


class Edges:
    """Edges between units by 64-bit hash, packed: 16 bytes each. Collisions can only join units, never part them. ``gaps``: the units that found a
    row other than the log last left it, sorted."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        pairs = np.frombuffer(b"".join(blocks), np.uint64).reshape(-1, 2)
        own = pairs[:, 0] == pairs[:, 1]
        self.gaps: Hashes = np.unique(pairs[own, 0])
        self._sort(pairs[~own])

    def _sort(self, pairs: Hashes) -> None:
        sequence = np.argsort(pairs[:, 0], kind="stable")
        self.source: Hashes = pairs[sequence, 0]
        self.target: Hashes = pairs[sequence, 1]

    def turned(self) -> Edges:
        """The edges the other way round."""
        other = Edges(())
        other._sort(np.stack([self.target, self.source], axis=1))
        return other

    def reach(self, seeds: Hashes) -> Hashes:
        """The sorted hashes of the units that can be reached from ``seeds``, with them."""
        seen = np.unique(seeds)
        frontier = seen
        while len(frontier):
            low = np.searchsorted(self.source, frontier, "left")
            count = np.searchsorted(self.source, frontier, "right") - low
            rows = np.repeat(low - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
            frontier = np.setdiff1d(self.target[rows], seen)
            seen = np.union1d(seen, frontier)
        return seen


def packed_edges(touches: npt.NDArray[np.void], found: Links) -> bytes:
    """The different unit pairs of links, for :class:`Edges`; a unit with itself for a gap."""
    unit = unit_hash(octets(touches["unit"]))
    gap = found.kind == Link.GAP
    pairs = np.stack([unit[np.where(gap, found.target, found.source)], unit[found.target]], axis=1)
    pairs = pairs[gap | (pairs[:, 0] != pairs[:, 1])]
    if not len(pairs):
        return b""
    return bytes(np.unique(np.ascontiguousarray(pairs).view("V16").reshape(-1)).tobytes())


# -- the graph of an answer ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Evidence:
    """One link that can be checked: the changes of the two units by their places among the changes of the answer, the key space, and whether
    the key is in the before image of the target (``gone``)."""

    kind: Link
    space: int
    source: int
    target: int
    gone: bool


class DependencyGraph:
    """Units as nodes (12 bytes each), and for each edge the evidence. Small: it holds what a question reaches."""

    def __init__(self) -> None:
        self.graph: nx.DiGraph[bytes] = nx.DiGraph()

    def add_unit(self, unit: bytes, commit: bytes) -> None:
        """A unit and its commit position."""
        self.graph.add_node(unit, commit=commit)

    def add(self, source: bytes, target: bytes, evidence: Evidence) -> None:
        """A link; the first evidence of a pair in commit order is the one shown first."""
        if self.graph.has_edge(source, target):
            self.graph.edges[source, target]["evidence"].append(evidence)
        else:
            self.graph.add_edge(source, target, evidence=[evidence])

    def evidence(self, source: bytes, target: bytes) -> list[Evidence]:
        """Why ``target`` builds on ``source``."""
        found: list[Evidence] = self.graph.edges[source, target]["evidence"]
        return found

    def sources(self, unit: bytes) -> list[bytes]:
        """The units that a unit builds on."""
        return list(self.graph.predecessors(unit))

    def commit(self, unit: bytes) -> bytes:
        """The commit position of a unit."""
        position: bytes = self.graph.nodes[unit]["commit"]
        return position

    def __contains__(self, unit: bytes) -> bool:
        return unit in self.graph

    def __len__(self) -> int:
        return len(self.graph)

    def reach(self, seeds: Iterable[bytes]) -> set[bytes]:
        """The units reachable from ``seeds``, with them."""
        found: set[bytes] = set()
        for seed in seeds:
            if seed in self.graph and seed not in found:
                found.add(seed)
                found |= nx.descendants(self.graph, seed)
        return found

    def paths(self, seeds: Iterable[bytes]) -> Mapping[bytes, list[bytes]]:
        """A shortest path from a seed to every unit that can be reached, seed first. Ties go to what committed first."""
        starts = sorted((seed for seed in seeds if seed in self.graph), key=lambda unit: (self.commit(unit), unit))
        path: dict[bytes, list[bytes]] = {seed: [seed] for seed in starts}
        level = starts
        while level:
            following: list[bytes] = []
            for unit in level:
                for target in sorted(self.graph.successors(unit), key=lambda node: (self.commit(node), node)):
                    if target not in path:
                        path[target] = [*path[unit], target]
                        following.append(target)
            level = following
        return path


def row_spaces(spaces: KeySpaces, evented: Iterable[int]) -> Mask:
    """Per key space: whether it is a row identity whose versions can be followed (a declared key, in a table that was never emptied)."""
    emptied = {spaces.spaces[number].table for number in evented}
    return np.array([space.kind == "row" and space.table not in emptied for space in spaces.spaces] or [False], bool)


def components(arrows: Iterable[tuple[int, int]], count: int) -> list[list[int]]:
    """The groups of ``0 … count-1`` that hang together by arrows, the largest first."""
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(arrows)
    return sorted((sorted(group) for group in nx.connected_components(graph)), key=lambda group: (-len(group), group))


def graphml(nodes: Sequence[tuple[str, Mapping[str, str]]], edges: Sequence[tuple[str, str, Mapping[str, str]]]) -> str:
    """Nodes and edges with their attributes as GraphML."""
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    graph.add_nodes_from((name, {key: _xml(value) for key, value in facts.items()}) for name, facts in nodes)
    graph.add_edges_from((one, other, {key: _xml(value) for key, value in facts.items()}) for one, other, facts in edges)
    return "\n".join(nx.generate_graphml(graph)) + "\n"


def _xml(text: str) -> str:
    """Text without the control characters that XML cannot hold, which are shown as ``\\u00XX``."""
    return "".join(c if c >= " " or c in "\t\n" else f"\\u{ord(c):04X}" for c in text)
