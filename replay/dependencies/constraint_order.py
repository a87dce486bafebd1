"""The order of the changes of one unit where keys are known: a key is free before it is taken,
children go before their parent is deleted and come after it is inserted, whatever the order of the
log. Only units that need it are touched; all others keep the order they have. Where rows need each
other in a circle, foreign keys that can wait until the unit's end are left to wait, and a row whose
key another one takes is removed early and put back last."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from replay.arrays import Bytes, Hashes, Index, Mask, Records, Versions, one_of
from replay.changes.catalog import MASKED_KEY, any_masked
from replay.changes.envelope import ROW_CHANGES, Change
from replay.changes.order import run_starts
from replay.dependencies.key_spaces import MOST, KeySpaces, key_spaces, parking
from replay.dependencies.least_turned import Cycle
from replay.dependencies.unique_order import (
    Entry,
    RowAbilities,
    StatementPart,
    UnitChanges,
    crossed_units,
    met_spans,
    unit_order,
)
from replay.dependencies.write_sets import ChangeBatch, KeyRole, UntoldKeys, WriteSets
from replay.logs import LogFile
from sqlgen.choices import Deferral
from sqlgen.schema import Constraints, ForeignKey

#: Numbers of groups are taken as they are, where there are at most so many times as changes.
_AS_THEY_ARE = 8


@dataclass(frozen=True)
class Arranged:
    """Statements in order: ``sequence`` are places of changes, unit by unit. ``waiting``: units
    whose deferrable foreign keys must wait for the unit's end. ``cycles``: of each unit that has no
    order, one of its changes and the way round.

    ``part`` (numbers of :class:`replay.dependencies.unique_order.StatementPart`) and ``last`` (the
    last change of a net change) stand beside ``sequence``; None where every change is one
    statement.
    """

    sequence: Index
    waiting: list[int] = field(default_factory=list)
    cycles: list[tuple[int, str]] = field(default_factory=list)
    part: Bytes | None = None
    last: Index | None = None


@dataclass(frozen=True)
class _Reading:
    """``touches`` of one stretch (``nulls``: of keys with nulls too) to order its changes by."""

    spaces: KeySpaces
    touches: Records
    nulls: bool


class ConstraintOrder:
    """Arranges the changes of a log's units. ``undo`` turns every order round; ``deferral``: which
    foreign keys may be left to wait. ``partible`` says by table version and first record whether
    the row of a change may be removed and put back, ``rewritable`` whether it may get the values of
    another row, all but the key, or be parked (:mod:`replay.dependencies.key_spaces`) where all
    foreign keys are ``told``. ``nulls_equal``: the target lets a unique key
    with nulls be there once; an order that is right then is right elsewhere too, so it is taken
    where there is one, but only here is a row removed and put back for it. ``masked``: columns
    (OWNER.NAME.COLUMN) whose values must not be shown. ``unique_waits``: the checks of unique keys
    may be left to wait."""

    def __init__(
        self,
        log: LogFile,
        constraints: Constraints,
        undo: bool,
        deferral: Deferral,
        partible: Callable[[int, np.void], bool] = lambda version, head: True,
        nulls_equal: bool = False,
        masked: frozenset[str] = frozenset(),
        rewritable: Callable[[int, np.void], bool] = lambda version, head: True,
        told: bool = False,
        unique_waits: bool = True,
    ) -> None:
        self.log, self.undo = log, undo
        self.partible, self.rewritable = partible, rewritable
        self.nulls_equal = nulls_equal
        self.spaces = key_spaces(log.catalog, constraints, masked)
        firm = constraints.firm()
        able = deferral is not Deferral.NONE
        self.firm = key_spaces(log.catalog, firm) if able and firm != constraints else None
        foreign_keys = constraints.foreign_keys
        if deferral is not Deferral.ANY:
            foreign_keys = tuple(one for one in foreign_keys if able and one.deferrable)
        self.referred = self._referred(foreign_keys)
        acting = [one for one in constraints.acting if one.on_update == "CASCADE"]
        self.followed = self._referred(acting if undo else ())
        self.related = np.zeros(max(len(self.spaces.uses), 1), bool)
        for foreign in constraints.foreign_keys:
            for name in (foreign.table, foreign.parent):
                self.related[self.spaces.of_name.get(name, [])] = True
        keyed = self.spaces.kinds.keyed
        self.keyed = keyed if len(keyed) else np.zeros(1, bool)
        self.table = np.array(self.spaces.table_space or [0], np.int64)
        self.row_spaces = _row_spaces(self.spaces)
        self.unwritten: Mapping[int, int] = {}
        self.row_ids: Hashes = np.zeros(0, np.uint64)
        self.ids_differ = False
        self.untold = UntoldKeys(log, self.spaces, constraints)
        self.foreign_waits, self.unique_waits = able, unique_waits
        self.lacking: frozenset[int] = frozenset()
        self.told = told
        self.passed_on = [] if undo else self._passed_on(constraints)
        self.parked = {
            spaces: self._parked(spaces) for spaces in (self.spaces, self.firm) if spaces
        }

    def _passed_on(self, constraints: Constraints) -> list[int]:
        """The spaces of keys whose updates the target passes on to all rows that refer to them (ON
        UPDATE CASCADE), where these are found by keys of their own."""
        acting = {
            (one.table.upper(), frozenset(one.columns))
            for one in constraints.acting
            if one.on_update == "CASCADE"
        }
        passes: dict[int, bool] = {}
        for version in self.log.catalog.versions if acting else ():
            row, *more = self.spaces.uses[version.index]
            for use in more:
                if use.how == "child":
                    acts = (version.name.upper(), frozenset(use.columns)) in acting
                    acts &= bool(row.columns) and not {*row.columns} & {*use.columns}
                    passes[use.space] = passes.get(use.space, True) and acts
        return [space for space, acts in passes.items() if acts]

    def _parked(self, spaces: KeySpaces) -> dict[int, int]:
        """By space of a unique key that may be parked in all versions of its table, the table."""
        parked, never = dict[int, int](), set[int]()
        for version in {one for some in spaces.of_name.values() for one in some}:
            table = self.log.catalog.versions[version].table
            able = {one for one, *_ in parking(self.spaces, version, table, self.nulls_equal)}
            for use in spaces.uses[version]:
                if use.how == "unique" and self.told and {*use.columns} in able:
                    parked[use.space] = int(self.table[version])
                elif use.how == "unique":
                    never.add(use.space)
        return {space: table for space, table in parked.items() if space not in never}

    def arrange(
        self,
        batch: ChangeBatch,
        unit: Index,
        live: Mask,
        sequence: Index,
        moved: Mask,
        unwritten: tuple[Index, Index] | None = None,
    ) -> Arranged:
        """``sequence`` (places in ``batch``, unit by unit) with the changes of each unit in an
        order that keeps every key and reference whole. ``unit`` numbers the unit of each change;
        only those that are ``live`` count, and ``moved`` are updates that change a key.
        ``unwritten``: the changes that are left out, rising, and of each the one by which the
        target does the same (:class:`replay.dependencies.unique_order.UnitChanges`)."""
        self.unwritten = {}
        span = _stretches(batch.change, unit)
        waiting, wrong, cycles = list[int](), sequence[:0], list[tuple[int, str]]()
        if self.related.any():
            waiting, wrong, cycles = self._by_references(batch, unit, span, live, sequence)
        arranged = Arranged(sequence, waiting, cycles)
        self._wait_for_untold(batch, unit, span, live, moved, arranged)
        left, causes = (sequence[:0],) * 2 if unwritten is None else unwritten
        if len(left):
            live, moved = live.copy(), moved.copy()
            live[left], moved[left] = True, batch.change[left] == Change.UPDATE
        self.unwritten = dict(zip(left.tolist(), causes.tolist(), strict=True))
        rows, crossed, by_nulls = self._crossed(batch, span, live, moved)
        if not len(crossed) and not len(wrong):
            return arranged
        some = np.union1d(crossed, wrong)
        by_nulls = np.setdiff1d(by_nulls, wrong)
        part = np.flatnonzero(self._concerned(batch, live, rows) & np.isin(span, some))
        return self._by_keys(batch, unit, span, some, by_nulls, part, arranged)

    def _wait_for_untold(
        self,
        batch: ChangeBatch,
        unit: Index,
        span: Index,
        live: Mask,
        moved: Mask,
        arranged: Arranged,
    ) -> None:
        """Have units wait whose old rows do not tell what keys they give up, where the source may
        have checked them at the end; without an order where the target cannot."""
        self.lacking = frozenset()
        some = () if self.undo else self.untold.must_wait(batch, span, live, moved)
        for changes, unique in some:
            for change in changes.tolist():
                if self.unique_waits if unique else self.foreign_waits:
                    arranged.waiting.append(int(unit[change]))
                else:
                    way = f"{self._step(batch, change)} without the old values of its keys"
                    arranged.cycles.append((change, way))
                    self.lacking |= {change}

    def _concerned(self, batch: ChangeBatch, live: Mask, rows: Index) -> Mask:
        """The changes of tables that an order depends on: related ones, and those of ``rows``."""
        version = np.maximum(batch.version, 0)
        tables = self.table[version]
        concerned = self.related[version] | np.isin(tables, tables[rows])
        return concerned & live & one_of(batch.change, ROW_CHANGES) & (batch.version >= 0)

    # -- foreign keys
    # ---------------------------------------------------------------------------------------------

    def _by_references(
        self, batch: ChangeBatch, unit: Index, span: Index, live: Mask, sequence: Index
    ) -> tuple[list[int], Index, list[tuple[int, str]]]:
        """(the units whose foreign keys must wait, the stretches in which a row stands on the wrong
        side of one that it refers to, those in which an undone key would take along what refers to
        another row already, as ``cycles``)."""
        known = (batch.version >= 0) & self.related[np.maximum(batch.version, 0)]
        rows = np.flatnonzero(live & known & one_of(batch.change, ROW_CHANGES))
        write_sets = WriteSets(self.log, self.spaces)
        touches = of_rows(write_sets.touches(batch.part(rows)), rows)
        first, second = _unit_needs(touches, span)
        if self.undo:
            first, second = second, first
        place = np.empty(len(sequence), np.int64)
        place[sequence] = np.arange(len(sequence))
        wrong = np.unique(span[first[place[first] > place[second]]])
        refers = (touches["role"] == KeyRole.REFER) & np.isin(touches["space"], self.followed)
        along = self._retaken(batch, touches, unit, self.followed)
        along = along[np.isin(unit[along], unit[touches["change"][refers]])]
        _, first = np.unique(unit[along], return_index=True)
        way = "in a unit where rows take keys that others give up, and foreign keys pass both on"
        cycles = [(one, f"{self._step(batch, one)} {way}") for one in along[first].tolist()]
        again = unit[self._retaken(batch, touches, unit, self.referred)]
        return [int(number) for number in np.unique(again)], wrong, cycles

    def _referred(self, foreign_keys: Iterable[ForeignKey]) -> Index:
        """The spaces of keys that foreign keys refer to."""
        found = {
            use.space
            for foreign in foreign_keys
            for version in self.spaces.of_name.get(foreign.table, ())
            for use in self.spaces.uses[version]
            if use.how == "child" and sorted(use.columns) == sorted(foreign.columns)
        }
        return np.array(sorted(found), np.int64)

    def _retaken(self, batch: ChangeBatch, touches: Records, unit: Index, spaces: Index) -> Index:
        """The changes by which a row takes or gives up a key that others may refer to, where
        another row of its unit does the other: in between, rows that the log does not show refer to
        nothing. (Within a statement the log may show the taking first.)"""
        writes = touches[np.isin(touches["space"], spaces)]
        writes = writes[np.isin(writes["role"], (KeyRole.CREATE, KeyRole.DESTROY))]
        if not len(writes):
            return np.zeros(0, np.int64)
        names = [np.ascontiguousarray(writes[name]) for name in ("check", "key", "space")]
        names.append(unit[writes["change"]])
        sequence = np.lexsort([np.ascontiguousarray(writes["change"]), *names])
        same = np.ones(len(sequence) - 1, bool)
        for column in names:
            same &= column[sequence][1:] == column[sequence][:-1]
        role = np.ascontiguousarray(writes["role"])[sequence]
        updates = batch.change[np.ascontiguousarray(writes["change"])[sequence]] == Change.UPDATE
        again = same & (role[1:] != role[:-1])
        again &= (role[:-1] == KeyRole.DESTROY) | updates[1:] | updates[:-1]
        return np.asarray(writes["change"][sequence[1:][again]], np.int64)

    # -- unique keys
    # ---------------------------------------------------------------------------------------------

    def _crossed(
        self, batch: ChangeBatch, span: Index, live: Mask, moved: Mask
    ) -> tuple[Index, Index, Index]:
        """(rows, crossed, by_nulls): as :meth:`_candidates`, the stretches in which a key may be
        taken while it is held, and those of them in which that is so of keys with nulls only."""
        rows = self._candidates(batch, span, live, moved)
        if len(rows):
            rows = self._meeting(batch, span, rows, moved)
        if not len(rows):
            return rows, rows, rows
        write_sets = WriteSets(self.log, self.spaces, with_nulls=True)
        touches = of_rows(write_sets.touches(batch.part(rows)), rows)
        touches = nulls_once(touches, span, len(self.spaces.spaces))
        crossed = crossed_units(touches, span, batch.change, self.row_spaces)
        plain = touches[touches["space"] < len(self.spaces.spaces)]
        by_nulls = crossed[:0]
        if len(plain) < len(touches):
            plainly = crossed_units(plain, span, batch.change, self.row_spaces)
            by_nulls = np.setdiff1d(crossed, plainly)
        return rows, crossed, by_nulls

    def _candidates(self, batch: ChangeBatch, span: Index, live: Mask, moved: Mask) -> Index:
        """The changes of tables in which a key may be taken while it is held, within a stretch."""
        row_change = one_of(batch.change, ROW_CHANGES)
        version = np.maximum(batch.version, 0)
        rows = np.flatnonzero(live & row_change & (batch.version >= 0) & self.keyed[version])
        number: Index = span[rows] * (int(self.table.max()) + 1) + self.table[version[rows]]
        if int(number.max(initial=0)) > _AS_THEY_ARE * len(span):
            _, number = np.unique(number, return_inverse=True)
        count = int(number.max(initial=-1)) + 1
        suspect = np.zeros(count, bool)
        suspect[number[moved[rows] & (batch.change[rows] == Change.UPDATE)]] = True
        first, last = np.full(count, len(span)), np.full(count, -1)
        inserts = batch.change[rows] == Change.INSERT
        deletes = batch.change[rows] == Change.DELETE
        first[number[inserts][::-1]] = rows[inserts][::-1]
        last[number[deletes]] = rows[deletes]
        suspect |= first < last
        found: Index = rows[suspect[number]]
        return found

    def _meeting(self, batch: ChangeBatch, span: Index, rows: Index, moved: Mask) -> Index:
        """Of the candidates ``rows``, those of stretches in which a key that a change takes is
        touched again later: only they can cross. Keys are looked at alone, for most of a log's
        changes need no more."""
        kind = batch.change[rows]
        of_keys = rows[np.where(kind == Change.UPDATE, moved[rows], True)]
        write_sets = WriteSets(self.log, self.spaces, with_images=False, with_nulls=True)
        touches = of_rows(write_sets.touches(batch.part(of_keys)), of_keys)
        met = met_spans(nulls_once(touches, span, len(self.spaces.spaces)), span)
        return rows[np.isin(span[rows], met)]

    def _by_keys(
        self,
        batch: ChangeBatch,
        unit: Index,
        span: Index,
        crossed: Index,
        by_nulls: Index,
        part: Index,
        arranged: Arranged,
    ) -> Arranged:
        """``arranged`` with the changes of some stretches, of which ``part`` are looked at, in an
        order of their keys and references; those ``by_nulls`` keep theirs where there is no better
        one."""
        heads = batch.records[batch.head]
        envelope = self.log.envelope(heads["file"], heads["offset"], heads["length"])
        self.row_ids = self.log.row_ids(envelope)
        self.ids_differ = len(np.unique(self.row_ids)) > 1
        touches = {
            spaces: nulls_once(self._touches(batch, part, spaces), span, len(spaces.spaces))
            for spaces in (self.spaces, self.firm)
            if spaces is not None
        }
        self.lacking |= {*self.untold.lacking(batch, part).tolist()}
        only = frozenset(by_nulls.tolist())
        slots = np.full(len(arranged.sequence), 1, np.int64)
        entries: dict[int, list[Entry]] = {}
        for number in crossed.tolist():
            places = np.flatnonzero(span[arranged.sequence] == number)
            changes = arranged.sequence[places].tolist()
            here = self._readings(batch, touches, span, number, number in only)
            ordered, waits = self._ordered(batch, changes, here, arranged)
            if waits:
                arranged.waiting.append(int(unit[changes[0]]))
            if ordered is None:
                continue
            for place, one in zip(places.tolist(), ordered, strict=False):
                entries[place] = [one]
            entries[int(places[-1])] = [*entries.get(int(places[-1]), ()), *ordered[len(places) :]]
            slots[places] = [len(entries.get(place, ())) for place in places.tolist()]
        return _laid_out(arranged, entries, slots)

    def _touches(self, batch: ChangeBatch, part: Index, spaces: KeySpaces) -> Records:
        """Touches of some changes with images compared value by value."""
        write_sets = WriteSets(self.log, spaces, by_value=True, with_nulls=True)
        return of_rows(write_sets.touches(batch.part(part)), part)

    def _ordered(
        self,
        batch: ChangeBatch,
        changes: list[int],
        readings: list[_Reading],
        arranged: Arranged,
    ) -> tuple[list[Entry] | None, bool]:
        """The statements of one stretch (None: it stays as it is, or there is no order), and
        whether foreign keys must wait for them."""
        direction = changes[::-1] if self.undo else changes
        circle: list[int] = []
        for reading in readings:
            try:
                ordered = unit_order(
                    self._unit(batch, reading.touches, reading.spaces, changes),
                    direction,
                    self._abilities(batch, reading.spaces, len(changes)),
                )
            except Cycle as cycle:
                if not reading.nulls:
                    circle = circle or cycle.changes
                continue
            parted = (StatementPart.REMOVE, StatementPart.PARK)
            parts = any(entry.part in parted for entry in ordered)
            if reading.nulls and parts and not self.nulls_equal:
                continue
            gone = {entry.first for entry in ordered if entry.part is StatementPart.REMOVE}
            waits = bool(circle) and reading.spaces is not self.spaces
            waits |= any(self._is_referred(int(batch.version[one])) for one in gone)
            return (ordered[::-1] if self.undo else ordered), waits
        if circle:
            arranged.cycles.append((circle[0], self._way(batch, circle)))
        return None, False

    def _is_referred(self, version: int) -> bool:
        """Whether rows may refer to those of a table by foreign keys whose checks may wait."""
        return any(use.space in self.referred for use in self.spaces.uses[version])

    def _readings(
        self,
        batch: ChangeBatch,
        touches: dict[KeySpaces, Records],
        span: Index,
        number: int,
        by_nulls: bool,
    ) -> list[_Reading]:
        """What a stretch may be ordered by, the first that has an order: with keys with nulls, and
        without (unless it needs an order for these alone, ``by_nulls``); then with the foreign keys
        alone that cannot wait; then without what the target's own ON UPDATE CASCADE does before
        it."""
        readings, last = list[_Reading](), list[_Reading]()
        for spaces, some in touches.items():
            here = some[span[some["change"]] == number]
            plain = here[here["space"] < len(spaces.spaces)]
            if len(plain) < len(here):
                readings.append(_Reading(spaces, here, True))
            if not by_nulls:
                readings.append(_Reading(spaces, plain, False))
            if self.passed_on and spaces is self.spaces and not by_nulls:
                gone = plain["role"] == KeyRole.DESTROY
                gone &= batch.change[plain["change"]] == Change.DELETE
                passed = np.setdiff1d(self.passed_on, plain["space"][gone])
                left = np.isin(plain["space"], passed) & (plain["role"] == KeyRole.RELEASE)
                last = [_Reading(spaces, plain[~left], False)] if left.any() else []
        return [*readings, *last]

    def _abilities(self, batch: ChangeBatch, spaces: KeySpaces, count: int) -> RowAbilities:
        parked = self.parked[spaces] if count <= MOST else {}

        def asked(may: Callable[[int, np.void], bool], change: int) -> bool:
            version, head = int(batch.version[change]), batch.records[batch.head[change]]
            firm = change in self.unwritten or change in self.lacking
            return not firm and may(version, head)

        def rewritable(version: int, head: np.void) -> bool:
            """Whether a row may get the values of another one: of these, unique keys are parked."""
            uses = spaces.uses[version]
            alone = all(use.how != "unique" or use.space in parked for use in uses)
            return alone and self.rewritable(version, head)

        return RowAbilities(partial(asked, self.partible), partial(asked, rewritable), parked)

    def _unit(
        self, batch: ChangeBatch, touches: Records, spaces: KeySpaces, changes: list[int]
    ) -> UnitChanges:
        ordered = touches[np.argsort(touches["change"], kind="stable")]
        without_key = np.append(np.flatnonzero(spaces.kinds.image), -1)
        ordered = ordered[~np.isin(ordered["space"], without_key)]
        columns = {name: ordered[name].tolist() for name in ("space", "key", "check")}
        like = self._of_one_version(np.maximum(batch.version[ordered["change"]], 0)).tolist()
        images = {
            name: [one if same and one else None for one, same in zip(hashes, like, strict=True)]
            for name in ("before", "after")
            for hashes in (ordered[name].tolist(),)
        }
        row_ids = dict(zip(changes, self.row_ids[changes].tolist(), strict=True))
        return UnitChanges(
            ordered["change"].tolist(),
            ordered["role"].tolist(),
            list(zip(columns["space"], columns["key"], columns["check"], strict=True)),
            images["before"],
            images["after"],
            _row_spaces(spaces).tolist(),
            {change: Change(int(batch.change[change])) for change in changes},
            row_ids,
            self.ids_differ,
            {change: self.unwritten[change] for change in changes if change in self.unwritten},
            self.log.ids_part,
            {change: self.table[max(int(batch.version[change]), 0)] for change in changes},
            self.lacking,
        )

    def _of_one_version(self, version: Versions) -> Mask:
        """Which changes of a unit are of a table of which it has one version: rows of two versions
        are not compared by their images."""
        tables = self.table[version]
        pairs = np.unique(np.stack([tables, version], axis=1), axis=0)
        several = np.bincount(pairs[:, 0], minlength=int(self.table.max(initial=0)) + 1) > 1
        return np.asarray(~several[tables])

    def _step(self, batch: ChangeBatch, change: int) -> str:
        version, kind = int(batch.version[change]), Change(int(batch.change[change]))
        side = "after" if kind is Change.INSERT else "before"
        table = self.log.catalog.versions[version].name
        columns = self.spaces.row_space(version).columns
        hidden = any_masked(self.spaces.masked, table, columns)
        write_sets = WriteSets(self.log, self.spaces)
        values = [MASKED_KEY] if hidden else write_sets.values_of(batch, change, side, columns)
        return f"{kind.name.lower()} of {table} {','.join(values)}"

    def _way(self, batch: ChangeBatch, changes: list[int]) -> str:
        steps = [self._step(batch, change) for change in changes]
        return "changes that each need another one first: " + " -> ".join([*steps, steps[0]])


def with_shown(arranged: Arranged, kept: Index, unit: Index, undo: bool) -> Arranged:
    """``arranged``, which is of the changes ``kept`` of those whose units are ``unit``, with the
    others, which are only shown: each behind as many entries of its unit as there are changes
    before it in the log, or behind it for an undo."""
    shown = np.setdiff1d(np.arange(len(unit)), kept)
    sequence = kept[arranged.sequence]
    starts, here = run_starts(unit[sequence]), np.arange(len(sequence))
    here -= np.repeat(starts, np.diff(np.append(starts, len(sequence))))
    before = np.searchsorted(kept, shown)
    first, last = (np.searchsorted(unit[kept], unit[shown], side) for side in ("left", "right"))
    behind = last - before if undo else before - first
    every = np.concatenate([sequence, shown])
    way = -1 if undo else 1
    follows = np.arange(len(every)) >= len(sequence)
    order = np.lexsort(
        (way * every * follows, ~follows, np.concatenate([here, behind]), way * unit[every])
    )
    part, ends = arranged.part, arranged.last
    if part is not None and ends is not None:
        part = np.concatenate([part, np.zeros(len(shown), np.uint8)])[order]
        ends = np.concatenate([kept[ends], shown])[order]
    cycles = [(int(kept[change]), way_round) for change, way_round in arranged.cycles]
    return replace(arranged, sequence=every[order], cycles=cycles, part=part, last=ends)


def _row_spaces(spaces: KeySpaces) -> Mask:
    """By key space: whether it is what tells the rows of a table apart."""
    row = spaces.kinds.row
    return np.concatenate([row, np.zeros_like(row)])  # the second half: keys with nulls


def nulls_once(touches: Records, span: Index, spaces: int) -> Records:
    """``touches`` without those of keys with nulls (of spaces from ``spaces`` on) that cannot have
    been there once only, or that no row gives up for another one: in each stretch ``span[change]``
    such a key is taken and given up, as often, or once more or less."""
    null = np.flatnonzero(touches["space"] >= spaces)
    if not len(null):
        return touches
    mine = touches[null]
    columns = (
        span[mine["change"]],
        np.ascontiguousarray(mine["space"]),
        np.ascontiguousarray(mine["key"]),
        np.ascontiguousarray(mine["check"]),
    )
    order = np.lexsort(columns)
    starts = np.ones(len(order), bool)
    starts[1:] = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(starts) - 1
    takes = np.bincount(group, mine["role"] == KeyRole.CREATE)
    gives = np.bincount(group, mine["role"] == KeyRole.DESTROY)
    once = (takes > 0) & (gives > 0) & (np.abs(takes - gives) <= 1)
    kept = np.ones(len(touches), bool)
    kept[null] = once[group]
    return touches[kept]


def _stretches(change: Bytes, unit: Index) -> Index:
    """The number of the stretch of its unit that each change lies in. One ends where a table is
    emptied or altered: nothing is moved over that."""
    row_change = one_of(change, ROW_CHANGES)
    breaks = np.zeros(len(unit), bool)
    breaks[1:] = (unit[1:] != unit[:-1]) | ~row_change[1:] | ~row_change[:-1]
    return np.cumsum(breaks)


def of_rows(touches: Records, rows: Index) -> Records:
    """Touches of a part of a batch, numbered as in the whole."""
    touches = touches.copy()
    touches["change"] = rows[touches["change"]]
    return touches


def _laid_out(arranged: Arranged, entries: dict[int, list[Entry]], slots: Index) -> Arranged:
    """``arranged`` with the entries of some slots in their place."""
    sequence, last = np.repeat(arranged.sequence, slots), np.repeat(arranged.sequence, slots)
    part = np.zeros(len(sequence), np.uint8)
    start = np.cumsum(slots) - slots
    for slot, some in entries.items():
        for place, entry in enumerate(some, int(start[slot])):
            sequence[place], last[place], part[place] = entry.first, entry.last, entry.part
    if not part.any():
        return replace(arranged, sequence=sequence)
    return replace(arranged, sequence=sequence, part=part, last=last)


def _unit_needs(touches: Records, number: Index) -> tuple[Index, Index]:
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
