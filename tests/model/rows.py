"""Rows, keys, statements and units of recovery: what a database that is logged holds.

A `Database` is rows in dicts. It carries out one SQL statement at a time (`Database.statement`),
many rows at once, and looks at its keys when the statement has ended, as Db2 does. A `History`
runs statements of several units of recovery side by side, with locks, savepoints and aborts, and
keeps the records that a log would have. It knows no bytes; encoders take them from
`History.records`. Rows have an identity of their own (`rid`), which no key and no change of a key
can confuse: this is what makes the model's answers certain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

Row = dict[str, Any]


class Violation(Exception):
    """A statement that Db2 would refuse; nothing of it was done."""


class Locked(Exception):
    """A statement that would wait for another unit; nothing of it was done."""


@dataclass(frozen=True)
class Column:
    """A column; `kind` is one of the keys of `compare.TYPES`, and of each encoder's table."""

    name: str
    kind: str
    length: int = 0
    scale: int = 0
    nullable: bool = False
    default: Any = None


@dataclass(frozen=True)
class ForeignKey:
    """Columns that refer to the key of `parent`; `on_delete` is cascade, set null or no action."""

    columns: tuple[str, ...]
    parent: str
    parent_columns: tuple[str, ...]
    on_delete: str = "cascade"


@dataclass(frozen=True)
class Table:
    """One generation of a table. NULLs in a unique key are different from one another."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    foreign: tuple[ForeignKey, ...] = ()
    generation: int = 1
    incarnation: int = 1
    """Counts how often the table was created anew under its name."""

    @property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        """The primary key, where there is one, and the unique keys."""
        return ((self.key,) if self.key else ()) + self.unique

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


@dataclass(frozen=True)
class Edit:
    """What a statement does with one row: `rid` is None for an insert, `row` for a delete."""

    table: str
    rid: int | None
    row: Row | None


@dataclass
class Change:
    """What a statement did with one row."""

    table: Table
    rid: int
    before: Row | None
    after: Row | None
    origin: str = " "
    """R where a foreign key caused it."""
    spelled_anew: frozenset[str] = frozenset()
    """Columns of the same value that the log may have in other bytes (a packed 1.00 whose sign is
    C, then F). The product writes them, so it counts them as changed: units may be refused or
    undone with others because of them, they need not."""

    @property
    def op(self) -> str:
        return "I" if self.before is None else "D" if self.after is None else "U"

    @property
    def changed(self) -> set[str]:
        """Columns that are different; all of them for an insert or a delete."""
        if self.before is None or self.after is None:
            return set(self.table.names)
        return {name for name in self.after if self.before.get(name) != self.after[name]}


def values(row: Row | None, columns: Sequence[str]) -> tuple[Any, ...] | None:
    """The values of a key, None where there is no row or one of the values is NULL."""
    if row is None or any(row.get(name) is None for name in columns):
        return None
    return tuple(row[name] for name in columns)


class Database:
    """Tables and their rows, with keys that are looked at when a statement has ended."""

    def __init__(self, tables: Iterable[Table] = ()) -> None:
        self.tables: dict[str, Table] = {table.name: table for table in tables}
        self.rows: dict[str, dict[int, Row]] = {name: {} for name in self.tables}
        self.next_rid = 1

    def copy(self) -> Database:
        other = Database()
        other.tables = dict(self.tables)
        other.rows = {name: dict(rows) for name, rows in self.rows.items()}
        other.next_rid = self.next_rid
        return other

    def state(self) -> dict[str, list[Row]]:
        """The rows of every table, without their identity."""
        return {name: list(rows.values()) for name, rows in self.rows.items()}

    def statement(self, edits: Sequence[Edit]) -> list[Change]:
        """Carry out one statement with what it cascades to, or raise `Violation`."""
        return self.statement_with_cascades(edits)[0]

    def statement_with_cascades(
        self, edits: Sequence[Edit]
    ) -> tuple[list[Change], dict[int, list[int]]]:
        """As `statement`; also which changes (by place) each change caused by a foreign key."""
        changes: list[Change] = []
        causes: dict[int, list[int]] = {}
        try:
            for edit in edits:
                changes.append(self._carry_out(edit, " "))
            done = 0
            while done < len(changes):
                caused = list(self._cascaded(changes[done]))
                causes[done] = list(range(len(changes), len(changes) + len(caused)))
                changes.extend(caused)
                done += 1
            self.check(changes)
        except Violation:
            self.take_back(changes)
            raise
        return changes, causes

    def _carry_out(self, edit: Edit, origin: str) -> Change:
        table, rows = self.tables[edit.table], self.rows[edit.table]
        rid = edit.rid
        if rid is None:
            rid, self.next_rid = self.next_rid, self.next_rid + 1
        before = rows.get(rid)
        if edit.row is None:
            if before is None:
                raise Violation("no such row")
            del rows[rid]
        else:
            rows[rid] = edit.row
        return Change(table, rid, before, edit.row, origin)

    def _cascaded(self, change: Change) -> Iterator[Change]:
        if change.op != "D":
            return
        for child in self.tables.values():
            for foreign in child.foreign:
                if foreign.parent != change.table.name or foreign.on_delete == "no action":
                    continue
                gone = values(change.before, foreign.parent_columns)
                for rid, row in list(self.rows[child.name].items()):
                    if gone is None or values(row, foreign.columns) != gone:
                        continue
                    after = None
                    if foreign.on_delete == "set null":
                        after = row | dict.fromkeys(foreign.columns)
                    yield self._carry_out(Edit(child.name, rid, after), "R")

    def apply(self, change: Change) -> None:
        """Do again what was done once, whatever the keys say; updates set what they changed."""
        rows = self.rows[change.table.name]
        if change.after is None:
            del rows[change.rid]
        elif change.before is None:
            if change.rid in rows:
                raise Violation("the row is there")
            rows[change.rid] = self.widened(change.table, change.after)
        elif change.changed:  # an update that changes nothing needs no row
            rows[change.rid] = rows[change.rid] | {
                name: change.after[name] for name in change.changed
            }

    def widened(self, table: Table, row: Row) -> Row:
        """A row of an older generation as the table holds it now."""
        names = {column.name: column.default for column in self.tables[table.name].columns}
        return names | row

    def take_back(self, changes: Sequence[Change]) -> None:
        """Undo changes, the latest first."""
        for change in reversed(changes):
            rows = self.rows[change.table.name]
            if change.before is None:
                del rows[change.rid]
            elif change.after is None:
                rows[change.rid] = self.widened(change.table, change.before)
            else:
                rows[change.rid] = rows[change.rid] | {
                    name: change.before[name] for name in change.changed
                }

    def check(self, changes: Sequence[Change] | None = None) -> None:
        """Raise `Violation` where a key stands twice or refers to nothing."""
        tables = self.tables if changes is None else {c.table.name for c in changes}
        for name in tables:
            table = self.tables[name]
            for key in table.keys:
                held = [v for v in (values(r, key) for r in self.rows[name].values()) if v]
                if len(held) != len(set(held)):
                    raise Violation(f"duplicate key of {name}")
        for child in self.tables.values():
            for foreign in child.foreign:
                if child.name not in tables and foreign.parent not in tables:
                    continue
                there = {
                    values(row, foreign.parent_columns)
                    for row in self.rows[foreign.parent].values()
                }
                for row in self.rows[child.name].values():
                    wanted = values(row, foreign.columns)
                    if wanted is not None and wanted not in there:
                        raise Violation(f"{child.name} refers to no row of {foreign.parent}")


@dataclass
class Record:
    """A change as the log has it. `moment` is its place in time, over all units."""

    unit: Unit
    change: Change
    moment: int
    statement: int
    disposition: str = "C"
    """C committed, S undone by ROLLBACK TO SAVEPOINT, O by the database itself, A aborted."""
    missing: bool = False
    """Not in the log: the log's maker could not complete it."""


@dataclass
class Unit:
    """A unit of recovery."""

    number: int
    begin: int
    user: str = "CLERK0"
    commit: int = 0
    aborted: bool = False
    records: list[Record] = field(default_factory=list)
    savepoints: list[int] = field(default_factory=list)
    locks: set[tuple[Any, ...]] = field(default_factory=set)
    incomplete: bool = False
    dependent: bool = False
    """Flagged as one that may depend on an incomplete unit."""

    @property
    def open(self) -> bool:
        return not self.commit

    @property
    def effective(self) -> list[Change]:
        """The changes that a commit kept, in the order of the log."""
        if self.aborted:
            return []
        return [record.change for record in self.records if record.disposition == "C"]


@dataclass(frozen=True)
class Alteration:
    """From `moment` on the table has another form."""

    moment: int
    table: Table


class History:
    """Units of recovery that run side by side, and the records they leave."""

    def __init__(self, database: Database) -> None:
        self.initial = database.copy()
        self.database = database
        self.units: list[Unit] = []
        self.records: list[Record] = []
        #: What a log has that tells of work that is taken back, in order: do, undo, end, alter.
        self.events: list[tuple[str, Any]] = []
        self.alterations: list[Alteration] = []
        self.generations: list[Table] = list(database.tables.values())
        self.moment = 0
        self.statements = 0

    def tick(self, steps: int = 1) -> int:
        self.moment += steps
        return self.moment

    def begin(self, user: str = "CLERK0") -> Unit:
        unit = Unit(len(self.units) + 1, self.tick(), user)
        self.units.append(unit)
        return unit

    @property
    def open_units(self) -> list[Unit]:
        return [unit for unit in self.units if unit.open]

    @property
    def committed(self) -> list[Unit]:
        """Committed units in the order of their commits."""
        return sorted((u for u in self.units if not u.aborted), key=lambda unit: unit.commit)

    def statement(
        self,
        unit: Unit,
        edits: Sequence[Edit],
        order: Sequence[int] | None = None,
        late_cascades: bool = False,
    ) -> list[Record]:
        """Run a statement; its records are logged in `order`, cascades after what caused them."""
        changes, causes = self.database.statement_with_cascades(edits)
        try:
            self._lock(unit, changes)
        except Locked:
            self.database.take_back(changes)
            raise
        self.statements += 1
        placed: list[int] = []

        def place(which: int) -> None:
            placed.append(which)
            if not late_cascades:
                for caused in causes.get(which, ()):
                    place(caused)

        for which in order if order is not None else range(len(edits)):
            place(which)
        if late_cascades:
            placed.extend(range(len(edits), len(changes)))
        made = [Record(unit, changes[which], self.tick(), self.statements) for which in placed]
        unit.records.extend(made)
        self.records.extend(made)
        self.events += [("do", record) for record in made]
        return made

    def failed_statement(self, unit: Unit, edits: Sequence[Edit]) -> None:
        """A statement that the database reverses after some rows (a negative SQLCODE)."""
        made = self.statement(unit, edits)
        self.database.take_back([record.change for record in made])
        for record in made:
            record.disposition = "O"
        self.events += [("undo", record) for record in reversed(made)]

    def savepoint(self, unit: Unit) -> None:
        unit.savepoints.append(len(unit.records))

    def rollback_to_savepoint(self, unit: Unit) -> None:
        """Back to the last savepoint, which stays."""
        undone = [r for r in unit.records[unit.savepoints[-1] :] if r.disposition == "C"]
        self._take_back(undone)
        for record in undone:
            record.disposition = "S"

    def _take_back(self, records: list[Record]) -> None:
        """By statement: within one the order of the log is not that of what it did."""
        for record in reversed(records):
            self.events.append(("undo", record))
            rows = self.database.rows[record.change.table.name]
            if record.change.before is None:
                rows.pop(record.change.rid, None)
            else:
                rows[record.change.rid] = record.change.before

    def commit(self, unit: Unit) -> None:
        unit.commit = self.tick()
        self.events.append(("end", unit))
        unit.locks.clear()

    def abort(self, unit: Unit) -> None:
        self._take_back([r for r in unit.records if r.disposition == "C"])
        for record in unit.records:
            if record.disposition == "C":
                record.disposition = "A"
        unit.aborted = True
        self.commit(unit)

    def alter(self, table: Table, again: bool = False) -> None:
        """Give a table another form. Rows get the defaults of new columns.

        Nobody may be at work in it. With `again` it is dropped and created anew: its rows must
        have been deleted before.
        """
        old = self.database.tables[table.name]
        rows = self.database.rows[table.name]
        if again and rows:
            raise Violation("rows would vanish without a record")
        held = [tuple(row.get(name) for name in table.key) for row in rows.values()]
        if table.key != old.key and (len({*held}) < len(held) or None in {*chain(*held)}):
            raise Violation("rows have the same new key, or none")
        if any(lock[1] == table.name for unit in self.open_units for lock in unit.locks):
            raise Locked
        table = replace(
            table,
            generation=old.generation + 1,
            incarnation=old.incarnation + (1 if again else 0),
        )
        self.database.tables[table.name] = table
        for rid, row in rows.items():
            rows[rid] = {c.name: row.get(c.name, c.default) for c in table.columns}
        self.generations.append(table)
        self.alterations.append(Alteration(self.tick(), table))
        self.events.append(("alter", table))

    def _lock(self, unit: Unit, changes: Sequence[Change]) -> None:
        wanted: set[tuple[Any, ...]] = set()
        for change in changes:
            wanted.update(locks_of(change))
        for other in self.open_units:
            if other is not unit and other.locks & wanted:
                raise Locked
        unit.locks |= wanted

    def without(self, left_out: set[int], upto: int | None = None) -> Database:
        """The rows after all committed units but some (by number), in the order of commits.

        Raises `Violation` or `KeyError` where the others can't be without these.
        """
        database = self.latest_form()
        for unit in self.committed:
            if unit.number in left_out or (upto is not None and unit.commit > upto):
                continue
            for change in unit.effective:
                database.apply(change)
        return database

    def latest_form(self) -> Database:
        """The rows before the log, in tables of the form that the log ends with."""
        database = self.initial.copy()
        database.tables = dict(self.database.tables)
        for name, rows in database.rows.items():
            for rid, row in rows.items():
                rows[rid] = database.widened(database.tables[name], row)
        return database


def locks_of(change: Change) -> Iterator[tuple[Any, ...]]:
    """What a change must have for itself until its unit ends."""
    table = change.table
    yield ("row", table.name, change.rid)
    for row in (change.before, change.after):
        for key in table.keys:
            held = values(row, key)
            if held is not None:
                yield ("key", table.name, key, held)
        for foreign in table.foreign:
            held = values(row, foreign.columns)
            if held is not None:
                yield ("key", foreign.parent, foreign.parent_columns, held)


# ---------------------------------------------------------------------------------------------
# What builds on what


@dataclass
class Footprint:
    """What a unit left: net images of its rows, and all that it touched on the way."""

    net: dict[int, tuple[Table, Row | None, Row | None]]
    touched: dict[int, set[str]]
    """Columns written of each row; all of them by an insert, a delete, or a change of a key."""
    keys: set[tuple[Any, ...]]
    """Values of keys that were given or taken on the way, in either direction."""
    images: set[tuple[Any, ...]]
    """Images of rows without a key."""
    freed: set[tuple[Any, ...]]
    taken: set[tuple[Any, ...]]
    refers: set[tuple[Any, ...]]
    """Parents that rows came to refer to."""
    leaves: set[tuple[Any, ...]]
    """Parents that rows no longer refer to."""
    references: set[tuple[Any, ...]]
    """All parents that rows it wrote refer to or did."""


def footprint(changes: Sequence[Change], schema: bool = True) -> Footprint:
    """What a unit's changes left. Without `schema`, only primary keys are known."""
    net: dict[int, tuple[Table, Row | None, Row | None]] = {}
    touched: dict[int, set[str]] = {}
    keys: set[tuple[Any, ...]] = set()
    images: set[tuple[Any, ...]] = set()
    references: set[tuple[Any, ...]] = set()
    for change in changes:
        first = net[change.rid][1] if change.rid in net else change.before
        net[change.rid] = (change.table, first, change.after)
        touched.setdefault(change.rid, set()).update(change.changed, change.spelled_anew)
        for key in known_keys(change.table, schema):
            old, new = values(change.before, key), values(change.after, key)
            if old != new:
                keys |= {key_value(change.table.name, key, v) for v in (old, new) if v}
                touched[change.rid].update(change.table.names)
        if not change.table.key:
            images |= {
                (change.table.name, *sorted(map(repr, row.items())))
                for row in (change.before, change.after)
                if row is not None
            }
        if schema:
            for foreign in change.table.foreign:
                for row in (change.before, change.after):
                    held = values(row, foreign.columns)
                    if held:
                        references.add(key_value(foreign.parent, foreign.parent_columns, held))
    before = [(table, first) for table, first, _ in net.values()]
    after = [(table, last) for table, _, last in net.values()]
    held_before, held_after = held_keys(before, schema), held_keys(after, schema)
    refers_before, refers_after = held_references(before, schema), held_references(after, schema)
    return Footprint(
        net, touched, keys, images,
        freed=held_before - held_after, taken=held_after - held_before,
        refers=refers_after - refers_before, leaves=refers_before - refers_after,
        references=references,
    )  # fmt: skip


def known_keys(table: Table, schema: bool) -> tuple[tuple[str, ...], ...]:
    return table.keys if schema else ((table.key,) if table.key else ())


def key_value(table: str, key: Sequence[str], held: Sequence[Any]) -> tuple[Any, ...]:
    """A value of a key, the same whatever the order of the key's columns."""
    return (table, *sorted(zip(key, held, strict=True)))


def held_keys(rows: Iterable[tuple[Table, Row | None]], schema: bool) -> set[tuple[Any, ...]]:
    return {
        key_value(table.name, key, held)
        for table, row in rows
        for key in known_keys(table, schema)
        if (held := values(row, key))
    }


def held_references(rows: Iterable[tuple[Table, Row | None]], schema: bool) -> set[tuple[Any, ...]]:
    if not schema:
        return set()
    return {
        key_value(foreign.parent, foreign.parent_columns, held)
        for table, row in rows
        for foreign in table.foreign
        if (held := values(row, foreign.columns))
    }


def must_build(first: Footprint, later: Footprint) -> bool:
    """Whether the later unit can't be without the first."""
    for rid, (_, before, after) in first.net.items():
        if rid not in later.net or before == after:
            continue
        _, later_before, later_after = later.net[rid]
        if later_before == later_after:
            continue
        if before is None or later_after is None:
            return True
        written = {c for c in after or () if before.get(c) != after[c]}
        again = {c for c in later_after if (later_before or {}).get(c) != later_after[c]}
        if written & again:
            return True
    return bool(
        first.freed & later.taken or first.taken & later.refers or first.leaves & later.freed
    )


def may_build(first: Footprint, later: Footprint) -> bool:
    """Whether there is any reason at all to say that the later unit builds on the first.

    Updates of different columns of a row, none of them of a key, are no reason.
    """
    return bool(
        any(
            first.touched[rid] & later.touched[rid]
            for rid in first.touched.keys() & later.touched.keys()
        )
        or first.keys & later.keys
        or first.images & later.images
        or first.references & later.keys
        or first.keys & later.references
    )


def closure(order: Sequence[Unit], start: set[int], builds: Any, prints: Any) -> set[int]:
    """Units (by number) that build on `start`, over any number of steps, with `start` itself."""
    inside = set(start)
    for place, later in enumerate(order):
        if later.number in inside:
            continue
        for first in order[:place]:
            if first.number in inside and builds(prints[first.number], prints[later.number]):
                inside.add(later.number)
                break
    return inside
