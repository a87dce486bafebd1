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

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise
from typing import Any

import numpy as np

from replay.arrays import Bytes, Index, Mask, Records
from replay.changes.envelope import Change
from replay.decoding.hashes import mixed
from replay.dependencies.least_turned import Cycle, circles, least_turned
from replay.dependencies.write_sets import KeyRole


class StatementPart(IntEnum):
    """What an entry of a unit's order does: the change as it is; the half that removes the row as
    it was; the half that puts it as it becomes; the net change of a row from the first of several
    changes to the last; the row of the first change gets the values of another row, that of the
    last, which takes its key; its unique keys get values that no row has; what the last leaves."""

    WHOLE = 0
    REMOVE = 1
    PUT = 2
    NET = 3
    EXCHANGE = 4
    PARK = 5
    UNPARK = 6


#: Parts that stand for a first and a last change.
OF_TWO = (StatementPart.NET, StatementPart.EXCHANGE, StatementPart.PARK, StatementPart.UNPARK)


@dataclass(frozen=True)
class Entry:
    """One statement of a unit: changes by number. ``first`` and ``last`` differ for
    a net change and an exchange of values only."""

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
    itself (-1: none); they tell whose row is whose, but stand for no statement. ``table``: by
    number of change its table; none of the touches are of images of rows without a key.
    ``lacking``: changes whose old rows lack values. Their source checks the keys of rows one by
    one, so rows of their tables keep their order, and are never at one key together.
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
    table: Mapping[int, int] = field(default_factory=dict)
    lacking: frozenset[int] = frozenset()


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


#: The halves of a statement, and that part of the first by which it gives up a key that may be
#: parked.
_REMOVE, _PUT, _GIVE = 0, 1, 2
#: A half of a statement, and one that must be done before another.
_Half = tuple[int, int]
_Arc = tuple[_Half, _Half]
#: Which halves of its change a touch belongs to: what must be done before it, what is done with it.
_HALVES = {
    KeyRole.CREATE: (_PUT, _PUT),
    KeyRole.CHANGE: (_REMOVE, _PUT),
    KeyRole.DESTROY: (_REMOVE, _REMOVE),
    KeyRole.REFER: (_PUT, _PUT),
    KeyRole.RELEASE: (_REMOVE, _REMOVE),
}


@dataclass(frozen=True)
class RowAbilities:
    """What may be done with the row of an update, by number of change: ``partible``, removed and
    put back; ``rewritten``, given the values of another row, all but the key. ``parked``: spaces of
    unique keys of such rows that may get values that no row has meanwhile, with the table."""

    partible: Callable[[int], bool]
    rewritten: Callable[[int], bool] = lambda change: False
    parked: Mapping[int, int] = field(default_factory=dict)


#: Which images a key's role is of, and a change has: before (False) and after.
_SIDES = {
    KeyRole.CREATE: (True,),
    KeyRole.CHANGE: (False, True),
    KeyRole.DESTROY: (False,),
}
_SIDES_OF = {
    Change.INSERT: (True,),
    Change.UPDATE: (False, True),
    Change.DELETE: (False,),
}


def unit_order(unit: UnitChanges, sequence: Sequence[int], able: RowAbilities) -> list[Entry]:
    """The statements of a unit in an order that keeps every key free when it is taken and every
    reference whole, and in which as few pairs as can stand otherwise than in ``sequence`` (numbers
    of changes, in the direction of the log).

    Raises :class:`replay.dependencies.least_turned.Cycle` where no order exists.
    """
    followed = _Followed(unit)
    followed.follow()
    statements = _Statements(followed, sequence, able)
    statements.exchange()
    return statements.in_order()


class _Statements:
    """The statements of a unit, in the order of ``sequence``: each removes the row of the change
    ``first`` and puts that of ``last``. ``halves``: by change the statements that remove and that
    put its row; what the target does by itself, it does with the statement that causes it.
    ``apart``: those that are two, with what the first is."""

    def __init__(self, followed: _Followed, sequence: Sequence[int], able: RowAbilities) -> None:
        self.unit, self.followed, self.sequence = followed.unit, followed, sequence
        self.able, self.apart = able, dict[int, StatementPart]()
        self.tables = {*able.parked.values()}
        self.first: list[int] = []
        self.last: list[int] = []
        self.halves: dict[int, list[int]] = {}
        self.exchanged: set[int] = set()
        inner, unwritten = set(followed.next_move.values()), self.unit.unwritten
        for change in sequence:
            if change in inner or change in followed.cancelled or unwritten.get(change, -1) >= 0:
                continue
            last = change
            self.halves[last] = [len(self.first)] * 2
            while last in followed.next_move:
                last = followed.next_move[last]
                self.halves[last] = [len(self.first)] * 2
            self.first.append(change)
            self.last.append(last)
        for change, cause in unwritten.items():
            if cause in self.halves:
                self.halves[change] = self.halves[cause]

    def exchange(self) -> None:
        """Where rows take each other's keys in a circle, each key stays and its row gets the values
        of the one that takes the key: nothing that refers to the key notices, and nothing waits.
        Unique keys that come with them are parked, so that is done where no row may be removed."""
        unit, takes = self.unit, dict[int, int]()
        for earlier, later in self.followed.pairs:
            if (unit.role[earlier], unit.role[later]) == (KeyRole.DESTROY, KeyRole.CREATE):
                gone, come = (self.halves.get(unit.change[one]) for one in (earlier, later))
                if unit.row_space[unit.key[later][0]] and gone and come:
                    takes[gone[_REMOVE]] = come[_PUT]
        left, put = dict(takes), dict[int, int]()
        while left:
            here, way = next(iter(left)), list[int]()
            while here in left:
                way.append(here)
                here = left.pop(here)
            circle = way[way.index(here) :] if here in way else []
            changes = {side[one] for one in circle for side in (self.first, self.last)}
            able = all(map(self._is_rewritten, changes)) and not (
                self.tables.issuperset(unit.table.get(one, -1) for one in changes)
                and any(map(self.able.partible, changes))
            )
            if len(circle) > 1 and able:
                following = [*circle[1:], circle[0]]
                self.exchanged |= {*circle}
                put.update(zip(following, circle, strict=True))
                for one, last in zip(circle, [self.last[one] for one in following], strict=True):
                    self.last[one] = last
        for change, (remove, place) in self.halves.items():
            self.halves[change] = [remove, put.get(place, place)]

    def in_order(self) -> list[Entry]:
        """The entries. Where updates wait for each other in a circle, the row of one is removed
        early and put back last, or has its unique keys parked meanwhile."""
        arcs = self._arcs()
        while True:
            nodes = list[tuple[int, StatementPart]]()
            # by half: the node that does it, and the one that must wait for what comes before it
            done, begun = dict[_Half, int](), dict[_Half, int]()
            pairs = set[tuple[int, int]]()
            for one in range(len(self.first)):
                early, parked = len(nodes), self.apart.get(one) is StatementPart.PARK
                nodes += [(one, part) for part in self._parts(one)]
                late = len(nodes) - 1
                pairs |= {(early, late)} if early < late else set()
                for half in (_REMOVE, _PUT, _GIVE):
                    begun[one, half] = late if half == _PUT else early
                    done[one, half] = (
                        late if half == _PUT or (half == _REMOVE and parked) else early
                    )
            edges: dict[tuple[int, int], set[_Arc]] = defaultdict(set)
            for source, target in arcs:
                edges[done[source], begun[target]].add((source, target))
            try:
                order = least_turned(len(nodes), pairs | edges.keys())
            except Cycle as cycle:
                waiting = {*cycle.changes}
                among = {two: edges.get(two, set()) for two in pairs | edges.keys()}
                held = {two: some for two, some in among.items() if waiting.issuperset(two)}
                self._part(held, [one for one, _ in nodes])
                continue
            return [self._entry(*nodes[one]) for one in order]

    def _parts(self, one: int) -> tuple[StatementPart, ...]:
        if one not in self.apart:
            return (StatementPart.WHOLE,)
        early = self.apart[one]
        late = StatementPart.PUT if early is StatementPart.REMOVE else StatementPart.UNPARK
        return early, late

    def _entry(self, one: int, part: StatementPart) -> Entry:
        first, last = self.first[one], self.last[one]
        if part is not StatementPart.WHOLE:
            return Entry(first, last, part)
        if one in self.exchanged:
            return Entry(first, last, StatementPart.EXCHANGE)
        return Entry(first, last, StatementPart.WHOLE if first == last else StatementPart.NET)

    def _arcs(self) -> set[_Arc]:
        """Which half of a statement must be done before which one of another."""
        unit, arcs = self.unit, set[_Arc]()

        def add(before: int, source: int, after: int, target: int) -> None:
            ends = [self.halves[before][source == _PUT], self.halves[after][target == _PUT]]
            if ends[0] != ends[1]:
                arcs.add(((ends[0], source), (ends[1], target)))

        for earlier, later in self.followed.pairs:
            one, other = unit.change[earlier], unit.change[later]
            if one in self.halves and other in self.halves:
                add(one, self._half(earlier, 1), other, self._half(later, 0))
        for kept in self._without_key():
            for one, other in pairwise(kept):
                add(one, _PUT, other, _REMOVE)
        for one in self.halves:  # unique keys come with the values that are exchanged
            if unit.table.get(one) in self.tables:
                add(one, _GIVE, one, _PUT)
        return arcs

    def _half(self, touch: int, side: int) -> int:
        role = KeyRole(self.unit.role[touch])
        if role is KeyRole.DESTROY and self.unit.key[touch][0] in self.able.parked:
            return _GIVE
        return _HALVES[role][side]

    def _without_key(self) -> Iterator[list[int]]:
        """By table the changes of rows that no key tells apart, and all where old rows lack values:
        they keep their order."""
        unit, touched = self.unit, set[tuple[int, bool]]()
        lacking = {unit.table.get(change) for change in unit.lacking}
        for change, role, key in zip(unit.change, unit.role, unit.key, strict=True):
            if role <= KeyRole.DESTROY and unit.row_space[key[0]]:
                touched |= {(change, side) for side in _SIDES[KeyRole(role)]}
        kept: dict[int, list[int]] = defaultdict(list)
        for change in self.sequence:
            if change not in self.halves or change in unit.unwritten or change not in unit.table:
                continue
            told = all((change, side) in touched for side in _SIDES_OF[unit.kind[change]])
            if not told or unit.table[change] in lacking:
                kept[unit.table[change]].append(change)
        yield from kept.values()

    def _part(self, edges: Mapping[tuple[int, int], set[_Arc]], statement: list[int]) -> None:
        """Part one statement of each circle among ``edges`` of nodes, of which each is of a
        ``statement``: the first that can be parted and so opens it. Raises Cycle where none can."""
        for way, circle in circles(edges):
            opening = list[tuple[int, int]]()
            every = [edge for edge in edges if circle.issuperset(edge)]
            for parked, able in enumerate((self._is_partible, self._is_parkable)):
                for some in (way, every):
                    arcs = [arc for edge in some for arc in edges[edge]]
                    entered = {one for _, (one, half) in arcs if half == _PUT}
                    left = {
                        one
                        for (one, half), _ in arcs
                        if half == _GIVE or (half == _REMOVE and not parked)
                    }
                    whole = (entered & left) - self.apart.keys()
                    opening = opening or [(one, parked) for one in sorted(whole) if able(one)][:1]
            if not opening:
                here = dict.fromkeys(statement[edge[0]] for edge in way)
                raise Cycle([self.first[one] for one in here])
            ((one, parked),) = opening
            self.apart[one] = StatementPart.PARK if parked else StatementPart.REMOVE

    def _is_rewritten(self, change: int) -> bool:
        return self.unit.kind[change] is Change.UPDATE and self.able.rewritten(change)

    def _is_parkable(self, one: int) -> bool:
        return self._is_rewritten(self.first[one]) and self._is_rewritten(self.last[one])

    def _is_partible(self, one: int) -> bool:
        first, last = self.first[one], self.last[one]
        update = self.unit.kind[first] is Change.UPDATE
        return update and self.able.partible(first) and self.able.partible(last)


class _Followed:
    """Follows the keys of a unit. ``pairs``: touches of which the first must come before the
    second. ``next_move``: update -> the next update of the same row where only their net change is
    certain. ``cancelled``: inserts and deletes of one image that cancel out."""

    def __init__(self, unit: UnitChanges) -> None:
        self.unit = unit
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
        there = [*holders]  # those that may have the key still
        for touch in writes:
            if self.unit.role[touch] == KeyRole.CREATE:
                holders.append([touch])
                there.append(holders[-1])
                continue
            fitting = [held for held in reversed(there) if not held or same(held[-1], touch)]
            held = next(
                (held for held in fitting if held[:1] and held is not holders[0]), holders[0]
            )
            if rows and held:
                self._join(held[-1], touch)
                self._note_ambiguous(held[-1], touch, len(fitting) > 1)
            held.append(touch)
            if self.unit.role[touch] == KeyRole.DESTROY:
                there = [one for one in there if one is not held]
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

    def _note_ambiguous(self, created: int, destroyed: int, others: bool) -> None:
        """Note where one row that moved on cannot be told from two that moved once, because there
        are ``others`` that it may be. An insert and a delete of one image at two places cancel out:
        it is one row that moved in between, or the same row twice."""
        unit = self.unit
        if (unit.role[created], unit.role[destroyed]) != (KeyRole.CREATE, KeyRole.DESTROY):
            return
        one, other = unit.change[created], unit.change[destroyed]
        if {one, other} & (unit.unwritten.keys() | unit.lacking):
            return
        if self._at_one_place(created, destroyed) or self._referred_between(one, other):
            return
        if (unit.kind[one], unit.kind[other]) != (Change.INSERT, Change.DELETE):
            if others:
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
