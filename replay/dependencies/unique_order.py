"""The order of the changes of one unit of recovery over its keys.

Db2 checks unique keys at the end of a statement, and a log lists rows: between two records of one
statement a key may stand twice (``UPDATE T SET K = K + 1`` logs 1→2, 2→3, 3→4). Statements that
run one by one need an order in which every key is free when it is taken. So each key of a unit is
followed through its touches: which row held it, who gave it up, who took it. That says which change
must come first. Where changes wait for each other in a circle (1↔2), one of them is parted: its
row is removed early and put back last. Where the log cannot tell one row that moved twice (1→2,
2→3) from two rows that moved once, because all else is equal, both readings have the same net
change, and that is what is written.

Everything here is over touches (:mod:`replay.dependencies.write_sets`); values are never seen.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise
from typing import Any

import numpy as np

from replay.arrays import Bytes, Index, Mask, Records
from replay.changes.envelope import Change
from replay.decoding.hashes import mixed
from replay.dependencies.graph import Cycle
from replay.dependencies.write_sets import KeyRole


class StatementPart(IntEnum):
    """What an entry of a unit's order does: the change as it is; the half that removes the row as
    it was; the half that puts it as it becomes; the net change of a row from the first of several
    changes to the last."""

    WHOLE = 0
    REMOVE = 1
    PUT = 2
    NET = 3


@dataclass(frozen=True)
class Entry:
    """One statement of a unit: changes by number. ``first`` and ``last`` differ for a net change
    only, and ``covered`` are then all changes that it stands for."""

    first: int
    last: int
    part: StatementPart = StatementPart.WHOLE


@dataclass(frozen=True)
class UnitChanges:
    """The changes of one unit that have touches, and these touches in log order.

    ``change``, ``role``, ``space``, ``key``, ``before`` and ``after`` are arrays over touches:
    the number of the change, what it does to a key (space, and 96 bits as two numbers), and hashes
    of the row's images (None: they cannot be compared). ``row_space``: by space, whether it is the
    identity of rows. ``kind``: by number of change, what it is. ``row_id``: where the row lies in
    the source, as far as the log tells (0: it does not); equal ids are evidence for one row where
    the log's ids differ at all (``ids_differ``; None: where those of the unit do), and different
    ones for two rows, or one that moved, where the family's ids are such (``ids_part``).
    ``unwritten``: changes that are left out, and the one by which the target does the same by
    itself (-1: none); they tell whose row is whose, but stand for no statement.
    """

    change: Sequence[int]
    role: Sequence[int]
    key: Sequence[tuple[int, int, int]]
    before: Sequence[int | None]
    after: Sequence[int | None]
    row_space: Sequence[bool]
    kind: Mapping[int, Change]
    row_id: Mapping[int, int] = field(default_factory=dict)
    ids_differ: bool | None = None
    unwritten: Mapping[int, int] = field(default_factory=dict)
    ids_part: bool = False


def met_spans(touches: Records, span: Index) -> Index:
    """The stretches ``span[change]`` in which a key that one change takes is touched again by a
    later one. ``touches`` are those of all changes that take or give up a key; images may be left
    out of them. Log order is the order of the changes' numbers."""
    writes = touches[touches["role"] <= KeyRole.DESTROY]
    if not len(writes):
        return np.zeros(0, np.int64)
    change = np.ascontiguousarray(writes["change"])
    of_span = span[change]
    key = np.ascontiguousarray(writes["key"]) ^ mixed(of_span.astype(np.uint64))
    sequence = np.lexsort([change, key])
    same = key[sequence][1:] == key[sequence][:-1]
    taken = np.ascontiguousarray(writes["role"])[sequence][:-1] == KeyRole.CREATE
    return np.unique(of_span[sequence][1:][same & taken])


def crossed_units(touches: Records, unit: Index, kind: Bytes, row_space: Mask) -> Index:
    """The units in which a key may be taken while it is held: candidates for :func:`unit_order`.

    ``touches`` (dtype :data:`replay.dependencies.write_sets.TOUCH`) are of changes whose unit is
    ``unit[change]`` and whose kind is ``kind[change]``; ``row_space`` says by space whether it is
    an identity of rows. Log order within a unit is the order of the changes' numbers.
    """
    writes = touches[touches["role"] <= KeyRole.DESTROY]
    if not len(writes):
        return np.zeros(0, np.int64)
    change = np.ascontiguousarray(writes["change"])
    names = [np.ascontiguousarray(writes[name]) for name in ("check", "key", "space")]
    of_unit = unit[change]
    sequence = np.lexsort([change, *names, of_unit])
    same = np.ones(len(sequence) - 1, bool)
    for column in (of_unit, *names):
        ordered = column[sequence]
        same &= ordered[1:] == ordered[:-1]
    role = np.ascontiguousarray(writes["role"])[sequence]
    before, after = (np.ascontiguousarray(writes[name])[sequence] for name in ("before", "after"))
    created = role[:-1] == KeyRole.CREATE
    taken_twice = (role[1:] == KeyRole.CREATE) & (role[:-1] != KeyRole.DESTROY)
    other_row = created & (role[1:] != KeyRole.CREATE) & (after[:-1] != before[1:])
    given_up = created & (role[1:] == KeyRole.DESTROY)
    rows = row_space[np.ascontiguousarray(writes["space"])[sequence]][1:]
    ordered = change[sequence]
    by_update = kind[ordered] == Change.UPDATE
    moved_twice = given_up & (by_update[1:] | by_update[:-1]) & (after[:-1] == before[1:])
    rewritten = given_up & ~by_update[1:] & ~by_update[:-1] & (after[:-1] == before[1:])
    suspect = same & (taken_twice | np.where(rows, other_row | moved_twice, given_up))
    suspect |= same & rows & rewritten & _as_update(ordered, kind)
    return np.unique(of_unit[sequence][1:][suspect])


def _as_update(change: Index, kind: Bytes) -> Mask:
    """Of neighbouring touches (insert, delete): whether a delete comes right before the insert and
    an insert right after the delete, as where a log writes an update as delete and insert."""
    last = len(kind) - 1
    inserted, deleted = change[:-1], change[1:]
    earlier = (inserted > 0) & (kind[np.maximum(inserted - 1, 0)] == Change.DELETE)
    later = (deleted < last) & (kind[np.minimum(deleted + 1, last)] == Change.INSERT)
    return np.asarray(earlier & later)


@dataclass
class _Node:
    """Changes that are one statement: ``waits`` and ``then`` of its two halves (remove, put)."""

    first: int
    last: int
    place: int
    waits: list[int] = field(default_factory=lambda: [0, 0])
    then: tuple[list[tuple[int, int]], list[tuple[int, int]]] = field(
        default_factory=lambda: ([], [])
    )
    done: list[bool] = field(default_factory=lambda: [False, False])

    @property
    def entry(self) -> Entry:
        part = StatementPart.WHOLE if self.first == self.last else StatementPart.NET
        return Entry(self.first, self.last, part)


#: The halves of a statement.
_REMOVE, _PUT = 0, 1
#: Which halves of its change a touch belongs to: what must be done before it, what is done with it.
_HALVES = {
    KeyRole.CREATE: (_PUT, _PUT),
    KeyRole.CHANGE: (_REMOVE, _PUT),
    KeyRole.DESTROY: (_REMOVE, _REMOVE),
    KeyRole.REFER: (_PUT, _PUT),
    KeyRole.RELEASE: (_REMOVE, _REMOVE),
}


def unit_order(
    unit: UnitChanges, sequence: Sequence[int], partible: Callable[[int], bool]
) -> list[Entry]:
    """The statements of a unit in an order that keeps every key free when it is taken and every
    reference whole, as close to ``sequence`` (numbers of changes, in the direction of the log) as
    that allows. ``partible(change)``: whether the row of an update may be removed and put back.

    Raises :class:`replay.dependencies.graph.Cycle` where no order exists.
    """
    try:
        return _ordered(unit, sequence, partible, net=True)
    except Cycle:
        return _ordered(unit, sequence, partible, net=False)


def _ordered(
    unit: UnitChanges, sequence: Sequence[int], partible: Callable[[int], bool], net: bool
) -> list[Entry]:
    """As :func:`unit_order`; without ``net``, whatever may be one row that moved on is one."""
    followed = _Followed(unit, net)
    followed.follow()
    place = {change: number for number, change in enumerate(sequence)}
    nodes, node_of = _nodes(followed, sequence, place)
    for earlier, later in followed.pairs:
        one, other = node_of.get(unit.change[earlier]), node_of.get(unit.change[later])
        if one is None or other is None or one == other:
            continue
        source = _HALVES[KeyRole(unit.role[earlier])][1]
        target = _HALVES[KeyRole(unit.role[later])][0]
        nodes[one].then[source].append((other, target))
        nodes[other].waits[target] += 1
    return _sorted(
        nodes,
        lambda node: (
            unit.kind[node.first] is Change.UPDATE and partible(node.first) and partible(node.last)
        ),
    )


def _nodes(
    followed: _Followed, sequence: Sequence[int], place: Mapping[int, int]
) -> tuple[list[_Node], dict[int, int]]:
    """A node for each statement, and the node of each change that has one: what the target does by
    itself, it does with the statement that causes it."""
    nodes: list[_Node] = []
    node_of: dict[int, int] = {}
    inner = set(followed.next_move.values())
    unwritten = followed.unit.unwritten
    for change in sequence:
        if change in inner or change in followed.cancelled or unwritten.get(change, -1) >= 0:
            continue
        last, covered = change, [change]
        while last in followed.next_move:
            last = followed.next_move[last]
            covered.append(last)
        for one in covered:
            node_of[one] = len(nodes)
        nodes.append(_Node(change, last, place[change]))
    for change, cause in unwritten.items():
        if cause in node_of:
            node_of[change] = node_of[cause]
    return nodes, node_of


class _Followed:
    """Follows the keys of a unit. ``pairs``: touches of which the first must come before the
    second. ``next_move``: update -> the next update of the same row where only their net change is
    certain. ``cancelled``: inserts and deletes of one image that cancel out."""

    def __init__(self, unit: UnitChanges, net: bool) -> None:
        self.unit, self.net = unit, net
        self.pairs: list[tuple[int, int]] = []
        self.next_move: dict[int, int] = {}
        self.cancelled: set[int] = set()
        self.row: dict[int, int] = {}
        #: Where rows refer to others: by change, the keys that it takes, those that it gives up,
        #: and the spaces of its rows; by key, the changes whose rows come to refer to it.
        self.taken, self.given_up, self.spaces_of, self.referring = (
            defaultdict[Any, set[Any]](set) for _ in range(4)
        )
        differ = unit.ids_differ
        self.ids_tell = 0 not in unit.row_id.values() and (
            len(set(unit.row_id.values())) > 1 if differ is None else differ
        )

    def follow(self) -> None:
        """Follow identities of rows first: they say which changes are of one row."""
        unit = self.unit
        groups: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        referring = KeyRole.REFER in unit.role
        for touch, key in enumerate(unit.key):
            groups[key].append(touch)
            if referring:
                self._note(unit.role[touch], unit.change[touch], key)
        in_order = {}
        for rows in (True, False):
            for key, touches in groups.items():
                if unit.row_space[key[0]] == rows:
                    writes = [one for one in touches if unit.role[one] <= KeyRole.DESTROY]
                    in_order[key] = self._ordered(writes, rows)
        net = self._firsts()
        for key, touches in groups.items():
            ordered = self._lasting(in_order[key], net)
            self.pairs.extend(pairwise(ordered))
            self._references(ordered, touches)

    def _note(self, role: int, change: int, key: tuple[int, int, int]) -> None:
        if role == KeyRole.REFER:
            if change not in self.unit.unwritten:
                self.referring[key].add(change)
            return
        if role == KeyRole.CREATE:
            self.taken[change].add(key)
        elif role == KeyRole.DESTROY:
            self.given_up[change].add(key)
        if role <= KeyRole.DESTROY and self.unit.row_space[key[0]]:
            self.spaces_of[change].add(key[0])

    def _lasting(self, ordered: Sequence[int], net: Mapping[int, int]) -> list[int]:
        """Touches without those of which nothing is left in net changes: a key that a row takes
        and gives up again within one."""
        unit, lasting = self.unit, list[int]()
        for touch in ordered:
            change = unit.change[touch]
            if change in self.cancelled:
                continue
            last = lasting[-1] if lasting else None
            if (
                last is not None
                and (unit.role[last], unit.role[touch]) == (KeyRole.CREATE, KeyRole.DESTROY)
                and unit.change[last] != change
                and net.get(unit.change[last], -1) == net.get(change, -2)
            ):
                lasting.pop()
            else:
                lasting.append(touch)
        return lasting

    def _firsts(self) -> dict[int, int]:
        """For each change that is part of a net change, the first one of it."""
        first: dict[int, int] = {}
        for one in sorted(self.next_move):
            first[self.next_move[one]] = first.setdefault(one, one)
        return first

    def _ordered(self, writes: Sequence[int], rows: bool) -> list[int]:
        """The touches of one key in the order in which they can be done one by one: row after row,
        beginning with the row that held the key before the unit."""
        same = self._same_image if rows else self._same_row
        holders: list[list[int]] = [[]]
        for touch in writes:
            if self.unit.role[touch] == KeyRole.CREATE:
                holders.append([touch])
                continue
            held = next((one for one in reversed(holders[1:]) if same(one[-1], touch)), holders[0])
            if rows and held:
                self._join(held[-1], touch)
                self._note_ambiguous(held[-1], touch)
            held.append(touch)
        return [touch for held in holders for touch in held]

    def _same_image(self, earlier: int, later: int) -> bool:
        """Whether a touch found the row as another one, of the same key, left it; or found that
        row otherwise, because a change in between is not in the log."""
        if self.unit.role[earlier] == KeyRole.DESTROY:
            return False
        left, seen = self.unit.after[earlier], self.unit.before[later]
        return left is None or seen is None or left == seen or self._at_one_place(earlier, later)

    def _at_one_place(self, earlier: int, later: int) -> bool:
        one, other = self.unit.change[earlier], self.unit.change[later]
        return self.ids_tell and self.unit.row_id.get(one, 0) == self.unit.row_id.get(other, 1)

    def _same_row(self, earlier: int, later: int) -> bool:
        """Whether two touches of a key beside the identity are of one row."""
        if self.unit.role[earlier] == KeyRole.DESTROY:
            return False
        return self._root(self.unit.change[earlier]) == self._root(self.unit.change[later])

    def _root(self, change: int) -> int:
        while self.row.get(change, change) != change:
            self.row[change] = self.row.get(self.row[change], self.row[change])
            change = self.row[change]
        return change

    def _join(self, earlier: int, later: int) -> None:
        one, other = self._root(self.unit.change[earlier]), self._root(self.unit.change[later])
        self.row[max(one, other)] = min(one, other)

    def _note_ambiguous(self, created: int, destroyed: int) -> None:
        """Note where one row that moved on cannot be told from two that moved once. An insert and
        a delete of one image at two places cancel out: it is one row that moved in between, or the
        same row twice."""
        unit = self.unit
        if (
            not self.net
            or unit.role[created] != KeyRole.CREATE
            or unit.role[destroyed] != KeyRole.DESTROY
        ):
            return
        one, other = unit.change[created], unit.change[destroyed]
        if one in unit.unwritten or other in unit.unwritten:
            return
        if self._at_one_place(created, destroyed) or self._referred_between(one, other):
            return
        if (unit.kind[one], unit.kind[other]) != (Change.INSERT, Change.DELETE):
            self.next_move[one] = other
        elif self._parted(created, destroyed) or (
            unit.kind.get(one - 1) is Change.DELETE and unit.kind.get(other + 1) is Change.INSERT
        ):
            self.cancelled |= {one, other}

    def _referred_between(self, one: int, other: int) -> bool:
        """Whether a row of another table came to refer to a key that ``one`` took and ``other``
        gave up, in between. A statement changes one table, so a statement ended there: the key was
        held once, and it is one row that moved on."""
        taken = self.taken[one] & self.given_up[other]
        table = {key[0] for key in taken if self.unit.row_space[key[0]]}
        return any(
            one < change < other and not self.spaces_of[change] & table
            for key in taken
            for change in self.referring[key]
        )

    def _parted(self, created: int, destroyed: int) -> bool:
        """Whether the log says that an insert and a delete of one image are not at one place."""
        known = self.unit.after[created] == self.unit.before[destroyed] is not None
        return known and self.ids_tell and self.unit.ids_part

    def _references(self, ordered: Sequence[int], touches: Sequence[int]) -> None:
        """A reference comes after its key was made and goes before its key is removed."""
        unit = self.unit
        made = [one for one in ordered if unit.role[one] == KeyRole.CREATE]
        gone = [one for one in ordered if unit.role[one] == KeyRole.DESTROY]
        held_before = bool(ordered) and ordered[0] not in made
        for touch in touches:
            role, change = unit.role[touch], unit.change[touch]
            if change in unit.unwritten:
                continue
            if role == KeyRole.REFER:
                earlier = [one for one in made if unit.change[one] < change]
                lost = any(unit.change[one] < change for one in gone)
                near = earlier[-1:] or (made[:1] if lost or not held_before else [])
                self.pairs.extend((one, touch) for one in near if unit.change[one] != change)
            elif role == KeyRole.RELEASE:
                later = [one for one in gone if unit.change[one] > change]
                near = later[:1] or [one for one in gone[-1:] if not self._new(touch, one, touches)]
                self.pairs.extend((touch, one) for one in near if unit.change[one] != change)

    def _new(self, release: int, gone: int, touches: Sequence[int]) -> bool:
        """Whether the row that gives up a reference came to it after the key was removed, so that
        it refers to the row that has the key since. (What foreign keys do may stand in the log
        behind that one too.)"""
        unit = self.unit
        return any(
            unit.role[one] == KeyRole.REFER
            and unit.change[gone] < unit.change[one] < unit.change[release]
            and self._root(unit.change[one]) == self._root(unit.change[release])
            for one in touches
        )


def _sorted(nodes: list[_Node], partible: Callable[[_Node], bool]) -> list[Entry]:
    """Nodes in order, as near to their places as their waits allow; circles are parted."""
    entries: list[Entry] = []
    ready = [(node.place, number) for number, node in enumerate(nodes) if not any(node.waits)]
    heapq.heapify(ready)
    halfway: list[tuple[int, int]] = []
    left = len(nodes)

    def release(number: int, half: int) -> None:
        nodes[number].done[half] = True
        for other, target in nodes[number].then[half]:
            node = nodes[other]
            node.waits[target] -= 1
            if node.done[_REMOVE] != node.done[_PUT]:
                if not node.waits[_PUT]:
                    heapq.heappush(halfway, (node.place, other))
            elif not any(node.waits):
                heapq.heappush(ready, (node.place, other))

    while left:
        if halfway:
            _, number = heapq.heappop(halfway)
            entries.append(Entry(nodes[number].first, nodes[number].last, StatementPart.PUT))
            release(number, _PUT)
            left -= 1
        elif ready:
            _, number = heapq.heappop(ready)
            entries.append(nodes[number].entry)
            release(number, _REMOVE)
            release(number, _PUT)
            left -= 1
        else:
            number = _parted(nodes, partible)
            entries.append(Entry(nodes[number].first, nodes[number].last, StatementPart.REMOVE))
            release(number, _REMOVE)
    return entries


def _parted(nodes: list[_Node], partible: Callable[[_Node], bool]) -> int:
    """A node of a circle that can be parted, the first in place. Raises Cycle where none can."""
    circle = _circle(nodes)
    candidates = [
        number
        for number in circle
        if not nodes[number].done[_REMOVE]
        and not nodes[number].waits[_REMOVE]
        and partible(nodes[number])
    ]
    if not candidates:
        candidates = [
            number
            for number, node in enumerate(nodes)
            if not node.done[_REMOVE]
            and not node.waits[_REMOVE]
            and node.waits[_PUT]
            and partible(node)
        ]
    if not candidates:
        raise Cycle([nodes[number].first for number in circle])
    return min(candidates, key=lambda number: nodes[number].place)


def _circle(nodes: list[_Node]) -> list[int]:
    """Nodes that wait for each other: the way round."""
    blockers: dict[int, int] = {}
    for number, node in enumerate(nodes):
        for half in (_REMOVE, _PUT):
            if not node.done[half]:
                for other, _ in node.then[half]:
                    blockers.setdefault(other, number)
    here = next(iter(blockers))
    seen: dict[int, int] = {}
    while here not in seen:
        seen[here] = len(seen)
        here = blockers[here]
    return [number for number, place in seen.items() if place >= seen[here]][::-1]
