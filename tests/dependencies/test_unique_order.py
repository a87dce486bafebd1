"""The order of a unit over its keys, against a model that runs one statement after the other with
every key enforced: random statements that shift, rotate and exchange keys, in any order of rows."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import combinations, permutations

import numpy as np
import pytest

from replay.changes.envelope import Change
from replay.dependencies.least_turned import Cycle, Pair, least_turned, turned
from replay.dependencies.unique_order import (
    Entry,
    RowAbilities,
    StatementPart,
    UnitChanges,
    crossed_units,
    unit_order,
)
from replay.dependencies.write_sets import TOUCH, KeyRole

#: A row: key, another column, a second unique key.
Row = tuple[int, int, int]
Logged = tuple[Change, Row | None, Row | None]


class Broken(Exception):
    """A statement found no row, or a key that is taken."""


@dataclass
class Table:
    """Rows by key; ``unique``: the third column is unique too."""

    rows: dict[int, Row]
    unique: bool

    def remove(self, row: Row) -> None:
        if self.rows.get(row[0]) != row:
            raise Broken(f"{row} is not there")
        del self.rows[row[0]]

    def put(self, row: Row) -> None:
        if row[0] in self.rows:
            raise Broken(f"key {row[0]} is taken")
        if self.unique and row[2] in {other[2] for other in self.rows.values()}:
            raise Broken(f"unique key {row[2]} is taken")
        self.rows[row[0]] = row

    def run(self, logged: Iterable[Logged]) -> None:
        for _, before, after in logged:
            if before is not None:
                self.remove(before)
            if after is not None:
                self.put(after)


@dataclass
class History:
    """Statements of one unit as a log lists them, checked at their end. ``link``: rows are equal
    but for their key."""

    pick: random.Random
    unique: bool
    link: bool
    rows: dict[int, Row] = field(default_factory=dict)
    log: list[Logged] = field(default_factory=list)

    def __post_init__(self) -> None:
        keys = self.pick.sample(range(8), self.pick.randrange(2, 7))
        self.rows = {key: self.row(key, self.pick.randrange(2), key + 100) for key in keys}
        self.initial = dict(self.rows)
        for _ in range(self.pick.randrange(1, 4)):
            statement = self.pick.choice(
                (self.move, self.exchange, self.insert, self.delete, self.update, self.take_over)
            )
            self.log += statement()

    def row(self, key: int, value: int, other: int) -> Row:
        return (key, 0, 0) if self.link else (key, value, other)

    def moved(self, places: dict[int, int], value: int | None = None) -> list[Logged]:
        """The rows of some keys under others, if that leaves every key once."""
        rows = {key: row for key, row in self.rows.items() if key not in places}
        logged: list[Logged] = []
        for key, place in places.items():
            before = self.rows[key]
            after = self.row(place, before[1] if value is None else value, before[2])
            if place in rows:
                return []
            rows[place] = after
            if before != after:
                logged.append((Change.UPDATE, before, after))
        self.rows = rows
        self.pick.shuffle(logged)
        return logged

    def move(self) -> list[Logged]:
        by = self.pick.choice((1, -1, 2))
        chosen = [key for key in self.rows if self.pick.random() < 0.8]
        return self.moved({key: key + by for key in chosen}, self.pick.choice((None, None, 5)))

    def exchange(self) -> list[Logged]:
        if self.unique and self.pick.random() < 0.5:
            return self.exchange_others()
        keys = list(self.rows)
        return self.moved(dict(zip(keys, self.pick.sample(keys, len(keys)), strict=True)))

    def exchange_others(self) -> list[Logged]:
        others = [row[2] for row in self.rows.values()]
        self.pick.shuffle(others)
        logged: list[Logged] = []
        for other, (key, row) in zip(others, list(self.rows.items()), strict=True):
            self.rows[key] = self.row(key, row[1], other)
            if self.rows[key] != row:
                logged.append((Change.UPDATE, row, self.rows[key]))
        return logged

    def insert(self) -> list[Logged]:
        key = self.pick.randrange(-3, 12)
        if key in self.rows:
            return []
        self.rows[key] = self.row(key, self.pick.randrange(2), 200 + len(self.log))
        return [(Change.INSERT, None, self.rows[key])]

    def delete(self) -> list[Logged]:
        if not self.rows:
            return []
        return [(Change.DELETE, self.rows.pop(self.pick.choice(list(self.rows))), None)]

    def update(self) -> list[Logged]:
        if self.link or not self.rows:
            return []
        before = self.rows[self.pick.choice(list(self.rows))]
        self.rows[before[0]] = after = self.row(before[0], before[1] + 1, before[2])
        return [(Change.UPDATE, before, after)]

    def take_over(self) -> list[Logged]:
        """One row is deleted, and another one takes its key."""
        if len(self.rows) < 2:
            return []
        gone, mover = self.pick.sample(list(self.rows), 2)
        deleted, before = self.rows.pop(gone), self.rows.pop(mover)
        self.rows[gone] = self.row(gone, before[1], before[2])
        logged: list[Logged] = [
            (Change.DELETE, deleted, None),
            (Change.UPDATE, before, self.rows[gone]),
        ]
        self.pick.shuffle(logged)
        return logged


Touch = tuple[int, KeyRole, tuple[int, int, int], int, int]


def touches_of(history: History) -> list[Touch]:
    """What each change does to keys: space 0 is the key, space 1 the second unique key."""
    touches: list[Touch] = []
    for number, (_, before, after) in enumerate(history.log):
        gone, come = (0 if row is None else hash(row) & 0xFFFF_FFFF for row in (before, after))
        for space, column in ((0, 0), (1, 2)) if history.unique else ((0, 0),):
            if before is not None and after is not None and before[column] == after[column]:
                if space == 0:
                    touches.append((number, KeyRole.CHANGE, (0, before[0] + 50, 0), gone, come))
                continue
            for row, role, images in (
                (before, KeyRole.DESTROY, (gone, 0)),
                (after, KeyRole.CREATE, (0, come)),
            ):
                if row is not None:
                    touches.append((number, role, (space, row[column] + 50, 0), *images))
    return touches


def unit_of(history: History) -> UnitChanges:
    columns = list(zip(*touches_of(history), strict=True))
    kinds = {number: logged[0] for number, logged in enumerate(history.log)}
    table = dict.fromkeys(kinds, 7)
    return UnitChanges(*columns, row_space=[True, False], kind=kinds, table=table)


def flagged(history: History) -> bool:
    touches = np.zeros(len(touches_of(history)), TOUCH)
    for row, (change, role, key, before, after) in enumerate(touches_of(history)):
        touches[row]["change"], touches[row]["role"] = change, role
        touches[row]["space"], touches[row]["key"], touches[row]["check"] = key
        touches[row]["before"], touches[row]["after"] = before, after
    kind = np.array([logged[0] for logged in history.log], np.uint8)
    unit = np.zeros(len(kind), np.int64)
    return bool(len(crossed_units(touches, unit, kind, np.array([True, False]))))


def carry_out(history: History, entries: Iterable[Entry], table: Table) -> None:
    for entry in entries:
        before, after = history.log[entry.first][1], history.log[entry.last][2]
        parked = (*before[:2], -1 - entry.first) if before is not None else None
        before = parked if entry.part is StatementPart.UNPARK else before
        after = parked if entry.part is StatementPart.PARK else after
        if before is not None and entry.part is not StatementPart.PUT:
            table.remove(before)
        if after is not None and entry.part is not StatementPart.REMOVE:
            table.put(after)


@pytest.mark.parametrize(("unique", "link"), [(False, False), (True, False), (False, True)])
def test_every_statement_finds_its_row_and_a_free_key(unique: bool, link: bool) -> None:
    parted = net = 0
    for seed in range(1500):
        history = History(random.Random(seed), unique, link)
        if not history.log:
            continue
        entries = unit_order(
            unit_of(history), range(len(history.log)), RowAbilities(lambda _: True)
        )
        table = Table(dict(history.initial), unique)
        carry_out(history, entries, table)
        assert table.rows == history.rows, (seed, history.log, entries)
        parted += any(entry.part is StatementPart.REMOVE for entry in entries)
        net += any(entry.part is StatementPart.NET for entry in entries)
    assert parted > 50
    assert net > 50


@pytest.mark.parametrize(("unique", "link"), [(False, False), (True, False), (False, True)])
def test_units_that_cannot_run_as_logged_are_flagged(unique: bool, link: bool) -> None:
    broken = 0
    for seed in range(1500):
        history = History(random.Random(seed), unique, link)
        table = Table(dict(history.initial), unique)
        try:
            table.run(history.log)
        except Broken:
            broken += 1
            assert flagged(history), (seed, history.log)
    assert broken > 200


def test_what_runs_as_logged_stays_as_it_is() -> None:
    kept = 0
    for seed in range(1500):
        history = History(random.Random(seed), unique=False, link=False)
        if history.log and not flagged(history):
            entries = unit_order(
                unit_of(history), range(len(history.log)), RowAbilities(lambda _: True)
            )
            assert entries == [Entry(number, number) for number in range(len(history.log))]
            kept += 1
    assert kept > 300


@pytest.mark.parametrize("unique", [False, True])
def test_no_order_that_runs_turns_fewer_pairs(unique: bool) -> None:
    """All orders of units of up to 7 changes, run one statement after the other."""
    looked = moved = 0
    for seed in range(700):
        history = History(random.Random(seed), unique, link=False)
        if not 2 <= len(history.log) <= 7:
            continue
        every = range(len(history.log))
        entries = unit_order(unit_of(history), every, RowAbilities(lambda _: True))
        if any(entry.part is not StatementPart.WHOLE for entry in entries):
            continue
        found = turned([entry.first for entry in entries])
        least = min(turned(order) for order in permutations(every) if runs(history, order))
        assert found == least, (seed, history.log, entries)
        looked, moved = looked + 1, moved + (found > 0)
    assert looked > 200
    assert moved > 50


def runs(history: History, order: Iterable[int]) -> bool:
    table = Table(dict(history.initial), history.unique)
    try:
        table.run(history.log[one] for one in order)
    except Broken:
        return False
    return table.rows == history.rows


def test_second_keys_are_parked_where_no_row_may_be_removed() -> None:
    parked = exchanged = refused = 0
    for seed in range(1500):
        history = History(random.Random(seed), unique=True, link=False)
        if not history.log:
            continue
        able = RowAbilities(lambda _: False, lambda _: True, {1: 7})
        try:
            entries = unit_order(unit_of(history), range(len(history.log)), able)
        except Cycle:
            refused += 1
            continue
        table = Table(dict(history.initial), unique=True)
        carry_out(history, entries, table)
        assert table.rows == history.rows, (seed, history.log, entries)
        parts = {entry.part for entry in entries}
        parked += StatementPart.PARK in parts
        exchanged += {StatementPart.PARK, StatementPart.EXCHANGE} <= parts
    assert parked > 200
    assert exchanged > 20
    assert refused < 30


def test_an_insert_and_a_delete_of_one_image_at_two_places_cancel_out() -> None:
    """A statement that puts a row in and takes an equal one out: one row that comes and goes, or
    the same key twice. Where they lie at two places, neither is written: right in either case."""
    row = (26, 0, 101)
    history = History(random.Random(0), unique=False, link=False)
    history.log = [(Change.INSERT, None, row), (Change.DELETE, row, None)]
    unit = replace(unit_of(history), ids_differ=True)
    as_logged = [Entry(0, 0), Entry(1, 1)]
    for ids, part, expected in (
        ({0: 7, 1: 9}, True, list[Entry]()),
        ({0: 7, 1: 9}, False, as_logged),
        ({0: 7, 1: 7}, True, as_logged),
        ({0: 7, 1: 0}, True, as_logged),
    ):
        told = replace(unit, row_id=ids, ids_part=part)
        assert unit_order(told, [0, 1], RowAbilities(lambda _: True)) == expected
    unseen = replace(unit, row_id={0: 7, 1: 9}, ids_part=True, before=[None] * len(unit.before))
    assert unit_order(unseen, [0, 1], RowAbilities(lambda _: True)) == as_logged


def test_a_circle_that_cannot_be_parted_is_named() -> None:
    one, other = (1, 0, 101), (2, 0, 102)
    history = History(random.Random(0), unique=False, link=False)
    history.log = [
        (Change.UPDATE, one, (2, 0, 101)),
        (Change.UPDATE, other, (1, 0, 102)),
    ]
    with pytest.raises(Cycle) as raised:
        unit_order(unit_of(history), [0, 1], RowAbilities(lambda _: False))
    assert sorted(raised.value.changes) == [0, 1]


def test_rows_that_exchange_their_keys_get_each_others_values() -> None:
    """Nothing is removed, so nothing that refers to a key notices. What cannot be told without
    places of rows, and is no circle alone, is refused."""
    rotated = refused = 0
    for seed in range(1500):
        history = History(random.Random(seed), unique=False, link=seed % 2 > 0)
        every = range(len(history.log))
        if history.log:
            able = RowAbilities(lambda _: False, lambda _: True)
            try:
                entries = unit_order(unit_of(history), every, able)
            except Cycle:
                refused += 1
                continue
            table = Table(dict(history.initial), unique=False)
            carry_out(history, entries, table)
            assert table.rows == history.rows, (seed, history.log, entries)
            rotated += any(
                entry.part is StatementPart.NET
                and history.log[entry.first][1] is not None
                and (history.log[entry.first][1] or ())[:1]
                == (history.log[entry.last][2] or ())[:1]
                for entry in entries
            )
    assert rotated > 50
    assert refused < 15


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
        orders = ([*one] for one in permutations(range(count)))
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
        for one, other in combinations(order, 2):
            assert one < other or {one, other} & forced, (seed, pairs, order)


def test_what_waits_for_one_thing_stays_where_it_is() -> None:
    """One comes forward instead of many that go back."""
    assert least_turned(22, [(21, one) for one in (0, 1, 2)]) == [21, *range(21)]
    assert least_turned(22, [(one, 0) for one in (19, 20, 21)]) == [*range(1, 22), 0]


def test_things_that_wait_for_each_other_are_named() -> None:
    with pytest.raises(Cycle) as raised:
        least_turned(6, [(2, 3), (3, 4), (4, 2), (0, 1)])
    assert sorted(raised.value.changes) == [2, 3, 4]
