"""Mode ``bulk``, strict order in fewer statements. The rows of a transaction whose order nothing
can tell come in as loads of whole tables, the other statements one by one behind them.

A change may leave its place where it shares no value of a key with another change of the
transaction: not of the row's key, of no unique key, and it refers to no row that another one
changes. What such a change finds is then the same before all the others as after them. What else of
a table could tell the order, the target is asked for beforehand
(:attr:`replay.targets.TableFacts.movable`). A load must touch as many rows as it has; where it does
not, and where anything else fails, the transaction is undone and its statements run in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np

from replay.arrays import Index, Mask
from replay.changes.catalog import any_masked
from replay.changes.envelope import ROW_CHANGES, Change, distinct
from replay.dependencies.key_spaces import KeySpaces
from replay.dependencies.write_sets import WRITES, ChangeBatch, KeyRole, WriteSets
from replay.errors import InputError, counted
from replay.live.route import UnitGroup
from replay.live.strict import StrictOrder
from replay.live.target_transactions import BadStatement, Transactions
from replay.logs import LogFile
from replay.machine import Task, in_threads
from replay.output.steps import Script, ScriptUnit
from replay.pipeline.plan import Plan
from replay.pipeline.row_batch import whole_rows
from replay.targets import (
    Condition,
    Session,
    StatementCounts,
    StatementFailure,
    TableFacts,
    TargetForeignKey,
)
from replay.targets.hazards import HazardKind, Under
from sqlgen.literals import Policy
from sqlgen.render.staged_merge import BY_KEY, Load, Merging, Unmergeable
from sqlgen.render_options import shown_columns
from sqlgen.schema import Constraints, ForeignKey, SqlType


class RowLoads:
    """Makes loads of changes of a plan's scripts. ``facts`` is what the target says about the
    tables, by OWNER.NAME."""

    def __init__(
        self,
        plan: Plan,
        log: LogFile,
        facts: Mapping[str, TableFacts | None],
    ) -> None:
        self.plan, self.log, self.facts = plan, log, facts
        self.profile = plan.options.profile

    def loads(self, batch: ChangeBatch) -> list[Load]:
        """The loads of changes of rows, each of a row of its own: inserts, then updates, then
        deletes. Raises Unmergeable where a change has no load."""
        groups = [
            (kind, version) for kind in ROW_CHANGES for version in distinct(batch.version).tolist()
        ]
        loads = []
        for number, (kind, version) in enumerate(groups):
            changes = np.flatnonzero((batch.change == kind) & (batch.version == version))
            if not len(changes):
                continue
            load = self._load(batch, changes, version, kind, number)
            if load.count != len(changes):
                raise Unmergeable("a change that changes nothing")
            loads.append(load)
        return loads

    def more_columns(self, version: int) -> bool:
        """Whether the target's table has columns that the statements do not name: a row that is
        made anew would lose its values there."""
        table_version = self.log.catalog.versions[version]
        facts = self.facts[table_version.name]
        assert facts is not None
        named = {
            self.plan.options.spelled(column.name)
            for column in shown_columns(table_version.table, self.plan.options.render)
        }
        return bool(set(facts.columns) - named - set(facts.generated))

    def _load(
        self, batch: ChangeBatch, changes: Index, version: int, kind: Change, number: int
    ) -> Load:
        """The load of some changes of a kind."""
        facts = self.facts[self.log.catalog.versions[version].name]
        assert facts is not None
        types = dict(zip(facts.columns, facts.types, strict=True))
        merging = Merging(self.profile, self.plan.options.render, types)
        place = batch.records, batch.head[changes], batch.weight[changes], version, kind
        try:
            rows = whole_rows(self.log, *place, self.plan.options.mapping)
            return merging.load(rows, number)
        except InputError as error:
            raise Unmergeable(error.message) from error


#: Rows that make a load worth its statements.
WORTH = 200
#: Text of statements whose rows are held in memory at most.
MOST_BYTES = 32 << 20
#: What a table may do by itself without telling the order of its changes.
_HARMLESS = frozenset({HazardKind.GENERATED, HazardKind.REQUIRED, HazardKind.UNLOGGED})
#: What does something to other tables, or may.
_REACHING = frozenset({HazardKind.TRIGGER, HazardKind.RULE, HazardKind.FOREIGN_KEY_ACTION})
#: Types in which values are equal in the target exactly where the log's are.
_ALIKE = frozenset(
    {
        SqlType.SMALLINT,
        SqlType.INTEGER,
        SqlType.BIGINT,
        SqlType.DECIMAL,
        SqlType.CHAR,
        SqlType.VARCHAR,
        SqlType.DATE,
        SqlType.TIMESTAMP,
    }
)


@dataclass(frozen=True)
class Parted:
    """A transaction's changes: ``loads``, and the steps of the others, in their order."""

    loads: tuple[Load, ...]
    loose: Index


class IndependentChanges:
    """Finds the changes whose order cannot be told. ``facts`` as for :class:`RowLoads`."""

    def __init__(self, row_loads: RowLoads) -> None:
        self.row_loads, self.log = row_loads, row_loads.log
        self.names = _TargetNames(row_loads)
        self.spaces = KeySpaces(self.log.catalog, self.names.constraints())
        versions = self.log.catalog.versions
        self.movable = np.array([self._movable(number) for number in range(len(versions))], bool)

    def part(self, script: Script, steps: Index) -> Parted | None:
        """Part the steps of a transaction of a script; None where no change may leave its place, or
        too few to be worth it, and where statements are among them that are no changes of rows.
        Raises Unmergeable where that cannot be said."""
        rows = script.rows(steps)
        change, version = (np.ascontiguousarray(rows[name]) for name in ("change", "version"))
        free = self.movable[version]
        if not free.any() or (~np.isin(change, ROW_CHANGES) | (rows["part"] > 0)).any():
            return None
        records, head = script.records_of(steps)
        batch = ChangeBatch(records, head, rows["weight"].astype(np.int64), change, version)
        free &= ~self._tied(batch)
        kind = version * 4 + change
        free &= np.bincount(kind, free)[kind] >= WORTH
        if not free.any():
            return None
        loads = self.row_loads.loads(batch.part(np.flatnonzero(free)))
        return Parted(tuple(loads), steps[~free])

    def _tied(self, batch: ChangeBatch) -> Mask:
        """Which changes share a key with another one, of which one writes what has that key; and
        updates that give a row another key."""
        write_sets = WriteSets(self.log, self.spaces, with_images=False)
        touches = write_sets.touches(batch)
        if write_sets.unreadable:
            raise Unmergeable("keys that cannot be read")
        tied = np.zeros(len(batch.head), bool)
        if not len(touches):
            return tied
        of = [touches[name] for name in ("check", "key", "space")]
        order = np.lexsort(of)
        begins = np.ones(len(order), bool)
        begins[1:] = np.logical_or.reduce([one[order][1:] != one[order][:-1] for one in of])
        first = np.flatnonzero(begins)
        change, role = touches["change"][order], touches["role"][order]
        several = np.minimum.reduceat(change, first) != np.maximum.reduceat(change, first)
        written = np.logical_or.reduceat(np.isin(role, WRITES), first)
        tied[change[(several & written)[np.cumsum(begins) - 1]]] = True
        moved = np.isin(role, (KeyRole.CREATE, KeyRole.DESTROY))
        moved &= batch.change[change] == Change.UPDATE
        tied[change[moved]] = True
        return tied

    def _movable(self, number: int) -> bool:
        """Whether a table version's changes can leave their places."""
        version = self.log.catalog.versions[number]
        facts = self.row_loads.facts.get(version.name)
        if facts is None or not facts.movable or facts.calls or not version.table.key:
            return False
        if {hazard.kind for hazard in facts.hazards} - _HARMLESS or self.spaces.forms[number]:
            return False
        if any(column.lob for column in version.format.columns):
            return False
        if len(self.names.versions[version.name]) > 1 or self.row_loads.more_columns(number):
            return False
        keys = self.names.keys_of(version.name, facts)
        masked = self.row_loads.plan.options.masked  # two texts of one mask are equal there
        return keys is not None and all(
            version.table.column(column).type in _ALIKE
            and not any_masked(masked, version.name, [column])
            for columns in (version.table.key, *keys)
            for column in columns
        )


class _TargetNames:
    """The log's tables and columns behind the names that the target has; no columns that are left
    out, which have other values there."""

    def __init__(self, row_loads: RowLoads) -> None:
        spelled = row_loads.plan.options.spelled
        self.facts: Mapping[str, TableFacts | None] = row_loads.facts
        self.versions: dict[str, list[int]] = {}
        self.tables: dict[tuple[str, str], str] = {}
        self.columns: dict[str, dict[str, str]] = {}
        for version in row_loads.log.catalog.versions:
            self.versions.setdefault(version.name, []).append(version.index)
            self.tables[row_loads.plan.options.place(version.table)] = version.name
            shown = shown_columns(version.table, row_loads.plan.options.render)
            self.columns.setdefault(version.name, {}).update(
                {spelled(column.name): column.name for column in shown}
            )

    def keys_of(self, name: str, facts: TableFacts) -> list[tuple[str, ...]] | None:
        """The columns of the unique keys and foreign keys of a table; None where one has a column,
        or refers to a table, that the log does not know."""
        found = [self._known(name, columns) for columns in facts.unique_keys]
        for foreign in facts.foreign_keys:
            sides = self._sides(foreign)
            if sides is None:
                return None
            found += [columns for table, columns in sides if table == name]
        return None if None in found else [columns for columns in found if columns is not None]

    def constraints(self) -> Constraints:
        """The keys of the target's tables, as far as the log has their columns."""
        keys, foreign_keys = [], []
        for name, facts in self.facts.items():
            for columns in () if facts is None else facts.unique_keys:
                if (known := self._known(name, columns)) is not None:
                    keys.append((name.upper(), known))
            for foreign in () if facts is None else facts.foreign_keys:
                if (sides := self._sides(foreign)) is not None:
                    (child, columns), (parent, referred) = sides
                    entry = ForeignKey("", child.upper(), columns, parent.upper(), referred)
                    foreign_keys.append(entry)
        return Constraints(tuple(dict.fromkeys(keys)), tuple(dict.fromkeys(foreign_keys)))

    def _sides(self, foreign: TargetForeignKey) -> list[tuple[str, tuple[str, ...]]] | None:
        sides = []
        for table, columns in (
            (foreign.child, foreign.columns),
            (foreign.parent, foreign.parent_columns),
        ):
            name = self.tables.get(table)
            known = None if name is None else self._known(name, columns)
            if name is None or known is None:
                return None
            sides.append((name, known))
        return sides

    def _known(self, name: str, columns: tuple[str, ...]) -> tuple[str, ...] | None:
        """The log's names of columns; None where it does not have one of them."""
        known = self.columns[name]
        if not set(columns) <= known.keys():
            return None
        return tuple(known[column] for column in columns)


def may_part(row_loads: RowLoads, accepted: frozenset[str], enforced: bool) -> bool:
    """Whether changes may leave their places at all: the tables stay as they are, what is done to
    one neither changes nor reads another one, and a value is never written as another one, for else
    two keys could become one. ``enforced``: triggers and foreign keys act."""
    options = row_loads.plan.options
    policy = Policy(char_padding=options.render.policy.char_padding)
    return (
        row_loads.plan.prepared
        and not row_loads.log.has_structure
        and not any(_reaches(facts, enforced) for facts in row_loads.facts.values())
        and not accepted & {HazardKind.TYPE.value, HazardKind.COMPARISON.value}
        and options.render.policy == policy
    )


def _reaches(facts: TableFacts | None, enforced: bool) -> bool:
    """Whether what is done to a table may do something to others, or depend on their rows."""
    return facts is not None and (
        facts.calls
        or any(
            hazard.kind in _REACHING
            and (hazard.under is Under.BOTH or (hazard.under is Under.ON) is enforced)
            for hazard in facts.hazards
        )
    )


def independent_changes(
    row_loads: RowLoads, accepted: frozenset[str], enforced: bool
) -> IndependentChanges | None:
    """What finds the changes that need not stay in order; None where all must. The others as for
    :func:`may_part`."""
    if not may_part(row_loads, accepted, enforced):
        return None
    independent = IndependentChanges(row_loads)
    return independent if independent.movable.any() else None


class OrderInBulk:
    """A strategy: what strict order (``strict``) does, in fewer statements. Where that fails and
    single statements do not, it is not tried again."""

    def __init__(self, strict: StrictOrder, independent: IndependentChanges) -> None:
        self.strict, self.independent = strict, independent
        self.transactions = strict.transactions
        self.tried = True
        #: Changes that came in together so far.
        self.loaded = 0

    def apply_each(self, groups: Iterable[UnitGroup]) -> Iterator[None]:
        """Apply groups; while the target takes one, the loads of the next are made. Errors as those
        of :meth:`StrictOrder.apply`."""
        tasks = (Task(partial(self._parted, group), self._bytes(group)) for group in groups)
        for group, part in in_threads(tasks, 2):
            self._apply(group, part)
            yield

    def _apply(self, group: UnitGroup, part: Parted | None) -> None:
        if part is not None and self.tried:
            if self.transactions.apply(group, partial(self._run, part)) is None:
                self.loaded += sum(load.count for load in part.loads)
                return
            self.tried = False
        self.strict.apply(group)

    def _bytes(self, group: UnitGroup) -> int:
        """How much text its statements have, where they are of one script; else 0."""
        if len(group.units.scripts) > 1:
            return 0
        first, last = group.units[0], group.units[-1]
        return self.transactions.scripts[first.script].size(first.start, last.stop)

    def _parted(self, group: UnitGroup) -> tuple[UnitGroup, Parted | None]:
        """A group and the loads of it; None where it is too short or too large for them, or they
        cannot be made."""
        if not self.tried or group.statements < WORTH or not 0 < self._bytes(group) <= MOST_BYTES:
            return group, None
        script = self.transactions.scripts[group.units[0].script]
        with suppress(Unmergeable):
            return group, self.independent.part(script, group.units.steps())
        return group, None

    def _run(
        self, parted: Parted, session: Session, group: UnitGroup
    ) -> tuple[BadStatement | None, int]:
        session.run(f"{BY_KEY};".encode())
        for load in parted.loads:
            bad = bring_in(session, load, self.transactions.reached)
            if bad is not None:
                return bad, 0
        return run_loose(self.transactions, session, group, parted.loose), 0


def run_loose(
    transactions: Transactions, session: Session, group: UnitGroup, loose: Index
) -> BadStatement | None:
    """Run statements of a group's script by their steps; the first bad one."""
    number = group.units[0].script
    ends = np.flatnonzero(np.diff(loose, append=-1) != 1)
    starts = np.concatenate([[0], ends[:-1] + 1])
    for start, stop in (
        zip(loose[starts].tolist(), loose[ends].tolist(), strict=True) if len(loose) else ()
    ):
        steps = ScriptUnit(number, group.units[0].key, start, stop + 1)
        bad = transactions.run_steps(session, steps)
        if bad is not None:
            what = f"a statement touched {counted(bad.count, 'row')}"
            return bad if bad.failure else _failed(bad.condition, what)
    return None


def bring_in(session: Session, load: Load, reached: Callable[[str], None]) -> BadStatement | None:
    """Bring the rows of a load in; why that failed, or that it touched more or fewer rows than
    there are."""
    result = session.run(f"{load.make};".encode()) if load.make else StatementCounts([])
    if result.failure is None:
        result = session.copy(load.copy, load.text)
        reached("rows copied")
    if load.merge and result.failure is None:
        result = session.run(f"{load.merge};".encode())
    if result.failure is not None:
        return BadStatement(None, result.failure.condition, result.failure)
    count = result.counts[0]
    if count == load.count:
        return None
    condition = Condition.NO_ROW if count < load.count else Condition.SEVERAL_ROWS
    table = f"{load.table.schema}.{load.table.name}"
    what = f"the {load.op.value}s in {table} touched {count:,} rows; expected {load.count:,}"
    return _failed(condition, what)


def _failed(condition: Condition, what: str) -> BadStatement:
    return BadStatement(None, condition, StatementFailure(condition, "", what))
