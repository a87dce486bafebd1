"""Many changes -> what is different in the end: one net change for each row, for ``replay --mode
merged``.

Changes are followed by key, not by row: a key that had a row before the first change and has one
after the last is an update, whichever rows they were. So changed keys, rows that swap keys and rows
that are deleted and inserted again need no thought. What cannot be followed this way is *loose*:
its changes stay the statements that they were, and run in their order beside the net changes of
other tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from replay.arrays import Bytes, Index, Mask, Records, Versions
from replay.changes.envelope import ROW_CHANGES, Change, distinct
from replay.dependencies.key_spaces import KeySpaces
from replay.dependencies.raw_keys import RawKeys
from replay.dependencies.write_sets import TOUCH, ChangeBatch, KeyRole, WriteSets
from replay.logs import LogFile, Walk
from replay.output.row_parts import values_differ
from replay.output.steps import Script
from replay.pipeline.copy_lines import CopyLines
from replay.pipeline.fast_path import WORTH
from replay.pipeline.plan import Plan
from replay.targets import TableFacts
from sqlgen.choices import WhereColumns
from sqlgen.constraints import Constraints
from sqlgen.dialects import profile_named
from sqlgen.names import target_name
from sqlgen.render_options import shown_columns
from sqlgen.rows import Op, Rows
from sqlgen.schema import FLOATS
from sqlgen.staged_merge import ImageRows, Load, Merging, NotPlain, Unmergeable

#: Where a part of the loads stands: deletes that make room for keys, what adds and changes rows,
#: deletes that wait until nothing refers to their rows.
_FIRST, _MIDDLE, _LAST = 0, 1, 2
#: What is asked of touches.
_TOUCHED = ("space", "key", "check", "role", "change", "before", "after")
#: By kind of change: what it does to its key, where that stays the same.
_ROLES = np.zeros(256, np.uint8)
for _kind, _role in zip(
    ROW_CHANGES, (KeyRole.CREATE, KeyRole.CHANGE, KeyRole.DESTROY), strict=True
):
    _ROLES[_kind] = _role


#: Makes a load, as often as it is asked; None where no row of it has changed in the end. Raises
#: Unmergeable.
MakeLoad = Callable[[], Load | None]


@dataclass(frozen=True)
class Folded:
    """``before`` and ``after``: what makes the loads that come before and after the statements of
    ``loose`` steps, in order."""

    before: tuple[MakeLoad, ...]
    loose: Index
    after: tuple[MakeLoad, ...]


@dataclass(frozen=True)
class ChangesLoad:
    """The load of changes of one ``kind`` of a table version, in their order."""

    version: int
    kind: Change
    load: Load


@dataclass(frozen=True)
class _Nets:
    """The net changes of one table version. ``first`` and ``last``: the changes of a batch whose
    before image a key had and whose after image it has in the end, by operation (an insert has no
    first, a delete no last). ``proven``: they stand for other changes than themselves, each of
    which strict order would have checked, so the whole row must be as the log has it. ``passing``:
    what brought keys that had no row before and have none after."""

    version: int
    proven: bool
    first: Mapping[Op, Index]
    last: Mapping[Op, Index]
    passing: Index = field(default_factory=lambda: np.zeros(0, np.int64))

    def count(self, op: Op) -> int:
        """How many net changes of an operation there are."""
        return len(self.first[op] if op is Op.DELETE else self.last[op])


class NetChanges:
    """Folds steps of a plan's scripts. ``facts`` is what the target says about the tables, by
    OWNER.NAME."""

    def __init__(
        self,
        plan: Plan,
        log: LogFile,
        facts: Mapping[str, TableFacts | None],
        expected: int = 0,
    ) -> None:
        """``expected``: about how many steps there are in all."""
        self.plan, self.log, self.facts = plan, log, facts
        self.profile = profile_named(plan.options.dialect)
        self.spaces = KeySpaces(log.catalog)
        self.raw_keys = RawKeys(log, self.spaces)
        self.rank = _ranks(plan.constraints)
        self.quick = None
        if expected >= WORTH and plan.options.mapping is None:
            self.quick = CopyLines(log, self.profile, plan.options.render)

    def fold(self, script: Script, steps: Index) -> Folded:
        """The net changes of some steps of a script. Raises Unmergeable where it shows here that
        there is no way but to run them one by one."""
        rows = script.rows(steps)
        change, version = (
            np.ascontiguousarray(rows["change"]),
            np.ascontiguousarray(rows["version"]),
        )
        if (change == Change.STRUCTURE).any():
            raise Unmergeable("a table's structure changes among them")
        parted = version[np.flatnonzero(rows["part"])]
        loose = self._unsuited(change, version, parted)
        records, head = script.records_of(steps)
        weight = rows["weight"].astype(np.int64)
        while True:
            kept = np.flatnonzero(~loose[version])
            batch = ChangeBatch(records, head[kept], weight[kept], change[kept], version[kept])
            nets, odd = self._followed(batch)
            if not len(odd):
                break
            loose[odd] = True
        loads = self._loads(batch, nets)
        before = [make for place, make in loads if place != _LAST]
        after = [make for place, make in loads if place == _LAST]
        return Folded(tuple(before), steps[loose[version]], tuple(after))

    def loads(self, batch: ChangeBatch) -> list[ChangesLoad]:
        """The loads of changes of rows, each of a row of its own: inserts, then updates, then
        deletes. Raises Unmergeable where a change has no load."""
        groups = [
            (op, kind, version)
            for op, kind in zip(Op, ROW_CHANGES, strict=True)
            for version in distinct(batch.version).tolist()
        ]
        loads = []
        for number, (op, kind, version) in enumerate(groups):
            changes = np.flatnonzero((batch.change == kind) & (batch.version == version))
            if not len(changes):
                continue
            first: dict[Op, Index] = {} if op is Op.INSERT else {op: changes}
            last: dict[Op, Index] = {} if op is Op.DELETE else {op: changes}
            net = _Nets(version, False, first, last)
            load = self._load(batch, net, op, number)
            if load is None or load.count != len(changes):
                raise Unmergeable("a change that changes nothing")
            loads.append(ChangesLoad(version, kind, load))
        return loads

    # -- what can be followed
    # ---------------------------------------------------------------------------------------------

    def _unsuited(self, change: Bytes, version: Versions, parted: Versions) -> Mask:
        """By table version: tables without a key, or whose key may be there twice in the target,
        with columns that the log does not hold, with several row layouts here, emptied as a whole,
        and those of the steps that are ``parted``, which are no change of the log but one of its
        halves or several of them."""
        versions = self.log.catalog.versions
        loose = np.zeros(len(versions), bool)
        seen = distinct(version)
        names = [versions[index].name for index in seen]
        eventful = set(distinct(version[~np.isin(change, ROW_CHANGES)]).tolist())
        eventful |= set(distinct(parted).tolist())
        bad = {versions[index].name for index in eventful} | {
            name for name in names if names.count(name) > 1
        }
        for index in seen.tolist():
            candidate = versions[index]
            loose[index] = (
                candidate.name in bad
                or not candidate.table.key
                or any(column.lob for column in candidate.format.columns)
                or ((facts := self.facts.get(candidate.name)) is not None and facts.inherited)
            )
        return loose

    def _followed(self, batch: ChangeBatch) -> tuple[list[_Nets], list[int]]:
        """The net changes of each table version; or, which must be left loose."""
        touches, alone = self._touches(batch)
        count = len(touches["change"])
        if not count:
            return [], []
        order = np.arange(count)
        together = [touches[name][alone:] for name in ("change", "check", "key", "space")]
        order[alone:] = alone + np.lexsort(together)
        sorted_ = {name: column[order] for name, column in touches.items()}
        begins = np.ones(count, bool)
        begins[alone + 1 :] = False
        for name in ("space", "key", "check"):
            begins[alone + 1 :] |= sorted_[name][alone + 1 :] != sorted_[name][alone:-1]
        version = batch.version[sorted_["change"]]
        broken = ~begins[1:] & (sorted_["after"][:-1] != sorted_["before"][1:])
        odd = set(distinct(version[1:][broken]).tolist())
        first = np.flatnonzero(begins)
        last = np.append(first[1:], len(order)) - 1
        role = sorted_["role"]
        here, there = role[first] != KeyRole.CREATE, role[last] != KeyRole.DESTROY
        moved = np.isin(role, (KeyRole.CREATE, KeyRole.DESTROY)) & (
            batch.change[sorted_["change"]] == Change.UPDATE
        )
        renewed = first[np.logical_or.reduceat(role == KeyRole.CREATE, first) & here & there]
        for index in distinct(np.concatenate([version[moved], version[renewed]])).tolist():
            if self.more_columns(index):
                odd.add(index)
        change = sorted_["change"]
        proven = (first != last) | (moved[first] & ~there)
        nets = []
        for index in distinct(version).tolist():
            mine = version[first] == index
            for whole in (False, True):
                some = mine & (proven == whole)
                wanted = {
                    Op.INSERT: mine & ~here & there & (not whole),
                    Op.DELETE: some & here & ~there,
                    Op.UPDATE: some & here & there,
                }
                chosen = {op: np.flatnonzero(mask) for op, mask in wanted.items()}
                nets.append(
                    _Nets(
                        index,
                        whole,
                        {op: change[first[at]] for op, at in chosen.items() if op is not Op.INSERT},
                        {op: change[last[at]] for op, at in chosen.items() if op is not Op.DELETE},
                        change[first[some & ~here & ~there]],
                    )
                )
        return nets, sorted(odd)

    def _touches(self, batch: ChangeBatch) -> tuple[Mapping[str, npt.NDArray[Any]], int]:
        """The keys that changes touch, by column, and how many of them, at the begin, no other
        change touches: of those it is not said which they are. What rows held before and after,
        which takes reading them whole, is told only of changes that touch a key as others do."""
        alone = self.raw_keys.alone(batch)
        if alone is None:
            alone = self._met_by_none(self._taken_from(batch, with_images=False), len(batch.head))
        by_itself, rows = np.flatnonzero(alone), np.flatnonzero(~alone)
        told = self._taken_from(batch.part(rows), with_images=True)
        columns = {}
        for name in _TOUCHED:
            columns[name] = np.zeros(len(by_itself) + len(told), TOUCH[name])
            columns[name][len(by_itself) :] = told[name]
        columns["role"][: len(by_itself)] = _ROLES[batch.change[by_itself]]
        columns["change"][: len(by_itself)] = by_itself
        columns["change"][len(by_itself) :] = rows[told["change"]]
        return columns, len(by_itself)

    @staticmethod
    def _met_by_none(touches: Records, changes: int) -> Mask:
        """Which of so many changes touch one key, which none of the others touches."""
        key = np.ascontiguousarray(touches["key"])
        order = np.argsort(key)
        ordered, change = key[order], touches["change"][order]
        pairs = np.flatnonzero(ordered[1:] == ordered[:-1])
        alone: Mask = np.bincount(change, minlength=changes) == 1
        alone[change[np.concatenate([pairs, pairs + 1])]] = False
        return alone

    def _taken_from(self, batch: ChangeBatch, *, with_images: bool) -> Records:
        write_sets = WriteSets(self.log, self.spaces, with_images=with_images)
        touches = write_sets.touches(batch)
        if write_sets.unreadable:
            raise Unmergeable("keys that cannot be read")
        return touches

    def _merging(self, version: int, proven: bool = False) -> Merging:
        """What makes loads of a table version; ``proven``: that find rows by all their columns."""
        facts = self.facts[self.log.catalog.versions[version].name]
        assert facts is not None
        types = dict(zip(facts.columns, facts.types, strict=True))
        render = self.plan.options.render
        if proven:
            render = replace(render, where_columns=WhereColumns.ALL)
        return Merging(self.profile, render, types)

    def more_columns(self, version: int) -> bool:
        """Whether the target's table has columns that the statements do not name: a row that is
        made anew would lose its values there."""
        table_version = self.log.catalog.versions[version]
        facts = self.facts[table_version.name]
        assert facts is not None
        named = {
            self._target(column.name)
            for column in shown_columns(table_version.table, self.plan.options.render)
        }
        return bool(set(facts.columns) - named - set(facts.generated))

    def _target(self, name: str) -> str:
        return target_name(name, self.profile, self.plan.options.names)

    # -- loads
    # ---------------------------------------------------------------------------------------------

    def _loads(self, batch: ChangeBatch, nets: list[_Nets]) -> list[tuple[int, MakeLoad]]:
        """What makes the loads, with their places, in order: parents are added before their
        children and removed after them."""
        crowded = self._crowded([self.log.catalog.versions[net.version].name for net in nets])
        placed: list[tuple[tuple[int, int, int], MakeLoad]] = []
        for net in nets:
            name = self.log.catalog.versions[net.version].name.upper()
            merging = self._merging(net.version, net.proven)
            rank = self.rank.get(name, 0)
            if len(net.passing):
                came = partial(_passing, self.log, batch, net)
                placed.append(
                    ((_FIRST, -rank, 0), partial(_made, merging.absent, came, len(placed)))
                )
            for op, make in self._parts(batch, net, len(placed)):
                if op is Op.DELETE:
                    place = (_FIRST if name in crowded else _LAST, -rank, 0)
                else:
                    place = (_MIDDLE, rank, int(op is Op.UPDATE))
                placed.append((place, make))
        return [(place[0], make) for place, make in sorted(placed, key=lambda entry: entry[0])]

    def _parts(self, batch: ChangeBatch, net: _Nets, number: int) -> Iterator[tuple[Op, MakeLoad]]:
        """The net changes of a table version by operation, and what makes their loads, whose
        staging tables have names from ``number`` on."""
        merging = self._merging(net.version, net.proven)
        for op in Op:
            if not net.count(op):
                continue
            if op is not Op.UPDATE or not self._other_keys(
                self.log.catalog.versions[net.version].name
            ):
                yield op, partial(self._load, batch, net, op, number)
                number += 1
                continue
            for rows in self._apart(_decoded(self.log, batch, net, op), net.version):
                yield rows.op, partial(_made, merging.load, partial(_as_it_is, rows), number)
                number += 1

    def _load(self, batch: ChangeBatch, net: _Nets, op: Op, number: int) -> Load | None:
        """The load of the net changes of one operation; None where there are none in the end.
        Raises Unmergeable."""
        load = self._merging(net.version, net.proven).load
        rows = self._images(batch, net, op)
        if rows is not None:
            with suppress(NotPlain):
                return load(rows, number) if rows.count else None
        return _made(load, partial(_decoded, self.log, batch, net, op), number)

    def _images(self, batch: ChangeBatch, net: _Nets, op: Op) -> ImageRows | None:
        """The net changes of one operation with values that are not decoded; None where they are
        not those of single changes, or cannot be had so."""
        kind = ROW_CHANGES[list(Op).index(op)]
        changes = net.last[op] if op is Op.INSERT else net.first[op]
        if self.quick is None or net.proven or (batch.change[changes] != kind).any():
            return None
        changes = np.sort(changes)
        return self.quick.rows(
            batch.records, batch.head[changes], batch.weight[changes], net.version, kind
        )

    def _apart(self, update: Rows, version: int) -> list[Rows]:
        """Updates; those that change a unique key beside the identity, as deletes and inserts: two
        rows may exchange their values."""
        name = self.log.catalog.versions[version].name
        columns = {column for key in self._other_keys(name) for column in key}
        masks = [mask for column, mask in update.changed.items() if self._target(column) in columns]
        if not masks:
            return [update]
        moving = np.logical_or.reduce([mask.to_numpy(zero_copy_only=False) for mask in masks])
        if not moving.any():
            return [update]
        if self.more_columns(version) or self.plan.options.render.where_columns == "key":
            raise Unmergeable(
                f"a unique key of {name} changes, and its rows cannot be made anew from the log"
                " alone"
            )
        stay, go = _taken(update, ~moving), _taken(update, moving)
        gone = replace(go, op=Op.DELETE, after={}, changed={})
        come = replace(go, op=Op.INSERT, before={}, changed={})
        return [stay, gone, come]

    def _other_keys(self, name: str) -> list[tuple[str, ...]]:
        """The unique keys of the target's table that are not the log's key, in the target's
        names."""
        facts = self.facts.get(name)
        keys = [version.table.key for version in self.log.catalog.versions if version.name == name]
        own = [{self._target(column) for column in key} for key in keys]
        return [] if facts is None else [key for key in facts.unique_keys if set(key) not in own]

    def _crowded(self, names: list[str]) -> set[str]:
        """Tables where deletes go first: those with further unique keys, and all that refer to
        them."""
        crowded = {name.upper() for name in names if self._other_keys(name)}
        while True:
            more = {
                foreign.table
                for foreign in self.plan.constraints.foreign_keys
                if foreign.parent in crowded
            } - crowded
            if not more:
                return crowded
            crowded |= more


def _made(
    load: Callable[[Rows, int], Load], make_rows: Callable[[], Rows], number: int
) -> Load | None:
    rows = make_rows()
    return load(rows, number) if rows.count else None


def _as_it_is(rows: Rows) -> Rows:
    return rows


def _decoded(log: LogFile, batch: ChangeBatch, net: _Nets, op: Op) -> Rows:
    """The net changes of one operation; of updates those whose rows differ, and all that are to be
    proven."""
    table = log.catalog.versions[net.version].table
    sides = [
        {} if changes is None else _Side(log, batch, net.version, name, changes).columns()
        for name, changes in (("before", net.first.get(op)), ("after", net.last.get(op)))
    ]
    before, after = sides
    count = net.count(op)
    if op is not Op.UPDATE:
        return Rows(table, op, count, before, after, {})
    changed = {}
    everything = np.zeros(count, bool)
    for column in table.columns:
        mask = values_differ(before[column.name], after[column.name], column.type in FLOATS)
        if mask.any():
            changed[column.name] = pa.array(mask)
            everything |= mask
    rows = Rows(table, op, count, before, after, changed)
    return rows if net.proven or everything.all() else _taken(rows, everything)


def _passing(log: LogFile, batch: ChangeBatch, net: _Nets) -> Rows:
    """The rows that came and went, as what would have to be deleted."""
    table = log.catalog.versions[net.version].table
    came = _Side(log, batch, net.version, "after", net.passing).columns()
    return Rows(table, Op.DELETE, len(net.passing), came, {}, {})


class _Side:
    """One side (``before`` or ``after``) of some ``changes`` of a table version."""

    def __init__(
        self, log: LogFile, batch: ChangeBatch, version: int, side: str, changes: Index
    ) -> None:
        self.log, self.batch, self.side, self.changes = log, batch, side, changes
        self.number, self.version = version, log.catalog.versions[version]

    def columns(self) -> dict[str, pa.Array]:
        """The values of all columns, in the order of the changes. Raises Unmergeable."""
        kinds = self.batch.change[self.changes]
        places: list[Index] = []
        parts: list[dict[str, pa.Array]] = []
        for kind in ROW_CHANGES:
            mine = np.flatnonzero(kinds == kind)
            if not len(mine):
                continue
            mine = mine[np.argsort(self.changes[mine], kind="stable")]
            chosen = self.changes[mine]
            for part, image in self.log.images(
                self.batch.records, self.batch.head[chosen], self.batch.weight[chosen], kind
            ):
                bounds = image.before if self.side == "before" else image.after
                assert bounds is not None
                walk = self.log.walk(self.number, image.buffer, bounds[0], bounds[1])
                places.append(mine[part])
                parts.append(self._decoded(walk))
        if not parts:
            return {}
        order = pa.array(np.argsort(np.concatenate(places)))
        return {
            column.name: pa.concat_arrays([part[column.name] for part in parts]).take(order)
            for column in self.version.table.columns
        }

    def _decoded(self, walk: Walk) -> dict[str, pa.Array]:
        decoded = {}
        for column in self.version.table.columns:
            values, bad = walk.decode(self.version.index_of(column.name))
            if bad is not None and bad.any():
                raise Unmergeable(
                    f"column {self.version.name}.{column.name} cannot be read in every row"
                )
            decoded[column.name] = values
        return decoded


def _taken(rows: Rows, mask: Mask) -> Rows:
    """The rows where ``mask`` is true."""
    chosen = pa.array(np.flatnonzero(mask))
    sides = [
        {name: values.take(chosen) for name, values in side.items()}
        for side in (rows.before, rows.after, rows.changed)
    ]
    return replace(rows, count=len(chosen), before=sides[0], after=sides[1], changed=sides[2])


def _ranks(constraints: Constraints) -> dict[str, int]:
    """A rank for each table: parents below their children; in a circle, as far as that goes."""
    rank = {
        name: 0 for foreign in constraints.foreign_keys for name in (foreign.parent, foreign.table)
    }
    for _ in rank:
        for foreign in constraints.foreign_keys:
            if foreign.parent != foreign.table:
                rank[foreign.table] = max(
                    rank[foreign.table], min(rank[foreign.parent] + 1, len(rank))
                )
    return rank
