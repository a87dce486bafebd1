"""Random histories of tables that refer to one another, with the logical log of them: deletes that
cascade or set NULL, triggers that write elsewhere, and triggers that deletes of constraints fire.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.independent.tables import Column, Place, Row, Table, quoted, state_of
from tests.independent.zos_headers import Change, Form, UnitFacts
from tests.independent.zos_records import Generation, Log

RULES = ("CASCADE", "SET NULL", "NO ACTION")


@dataclass(frozen=True)
class Reference:
    """A foreign key: which column of ``child`` refers to the first one of ``parent``."""

    child: Table
    at: int
    parent: Table
    rule: str


@dataclass
class Family:
    """Makes a history at once: P, its children C, theirs (G), and A, which a trigger writes to.

    Triggers: a row of C that goes leaves one in A; one that comes is counted in its P's column V.
    """

    seed: object
    form: Form
    changes: int = 40
    log: Log = field(init=False)

    def __post_init__(self) -> None:
        pick = self.pick = random.Random(f"family {self.seed}")
        self.log = Log(self.form, pick)
        self.clock, self.urid, self.order = 1000, 0x2000, 0
        number = lambda n: (0x105, 3 * n + pick.randint(0, 2))  # noqa: E731
        whole = lambda name, nullable=False: Column(name, "INTEGER", nullable=nullable)  # noqa: E731
        text = Column("NOTE", "VARCHAR", 8)
        keys = pick.random() < 0.7
        self.p = Table("S0", "P", number(1), (whole("ID"), whole("V"), text), (0,), 3)
        self.c = Table("S0", "C", number(2), (whole("ID"), whole("PID", True), text), (0,), 3)
        self.g = Table("S0", "G", number(3), (whole("ID"), whole("CID", True), text), (0,), 3)
        self.a = Table("S0", "A", number(4), (whole("ID"), text), (0,) if keys else (), 2)
        self.tables = [self.p, self.c, self.g, self.a]
        self.references = [
            Reference(self.c, 1, self.p, pick.choice(RULES)),
            Reference(self.g, 1, self.c, pick.choice(RULES)),
        ]
        if pick.random() < 0.4:
            self.references.append(Reference(self.g, 0, self.p, pick.choice(RULES[::2])))
        #: Whether what a delete brings with it stands before it in the log.
        self.first = pick.random() < 0.4
        self.triggers = pick.random() < 0.7
        self.slots = {table.name: 0 for table in self.tables}
        self.seen = 0
        for table in self.tables:
            self.log.generations[table.name] = [Generation(1, 0, 0, len(table.columns))]
        self.quiet = True
        self.unit = UnitFacts(0, 0, 0)
        for _ in range(pick.randint(0, 25)):
            self._insert(pick.choice([self.p, self.p, self.c, self.g]))
        self.quiet = False
        self.before = state_of(self.tables)
        while len(self.log.changes) < self.changes:
            self._unit()
        self.after = state_of(self.tables)
        self.end = (self.clock if self.form.sharing else self.urid) + 100

    def ddl(self, rules: bool | None = True, triggers: bool = True) -> Iterator[str]:
        """For SQLite and PostgreSQL, without triggers for the latter. ``rules``: foreign keys with
        what they do; False: without; None: no foreign keys."""
        for table in self.tables:
            parts = [
                f"{quoted(c.name)} {'integer' if c.kind == 'INTEGER' else 'varchar(8)'}"
                + ("" if c.nullable else " NOT NULL")
                for c in table.columns
            ]
            if table.key:
                parts.append("PRIMARY KEY (id)")
            for one in self.references:
                if rules is not None and one.child is table:
                    parts.append(
                        f"FOREIGN KEY ({quoted(table.columns[one.at].name)})"
                        f" REFERENCES {self.reach(one.parent)} (id)"
                        + (f" ON DELETE {one.rule}" if rules else "")
                    )
            yield f"CREATE TABLE s0.{table.name.lower()} ({', '.join(parts)})"

    def reach(self, table: Table) -> str:
        return f"s0.{table.name.lower()}"

    # -- what happens

    def _unit(self) -> None:
        pick = self.pick
        self.urid += pick.randint(40, 400)
        self.clock += pick.choice((1, 5, 100))
        member = pick.choice((1, 2)) if self.form.sharing else 0
        self.unit = UnitFacts(self.urid, self.clock if self.form.sharing else self.urid, member)
        self.unit.authid = pick.choice(("CLERK0", "BATCH"))
        for _ in range(pick.choice((1, 1, 2, 4, 7))):
            self._statement()
        self.clock += 3
        self.urid += 40
        self.unit.commit_rba = self.urid
        self.unit.commit_lrsn = self.clock if self.form.sharing else self.urid

    def _statement(self) -> None:
        pick, what = self.pick, self.pick.random()
        table = pick.choice([self.p, self.p, self.c, self.c, self.g])
        if what < 0.45 or not table.rows:
            self._insert(table)
            return
        place = pick.choice(list(table.rows))
        if what < 0.6:
            row = list(table.rows[place])
            row[2] = pick.choice(("a", "b", "", " x"))
            if table is not self.p and pick.random() < 0.5:
                row[1] = self._parent(table)
            if table is self.p and pick.random() < 0.3 and not self._held(table, row[0]):
                row[0] = self._id(table, tuple(row))
            self._change(table, place, tuple(row), " ")
        elif not self._restricted(table, table.rows[place][0], set()):
            self._delete(table, place, " ")

    def _id(self, table: Table, row: Row) -> int:
        """A number that is free; often one that was used before."""
        used = {r[0] for r in table.rows.values()}
        where = [r for r in self.references if r.child is table and r.at == 0]
        while where:  # of those that the row may refer to
            able = [r[0] for r in where[0].parent.rows.values() if r[0] not in used]
            return self.pick.choice(able) if able else -1  # type: ignore[return-value]
        return next(n for n in iter(lambda: self.pick.randint(1, 60), None) if n not in used)

    def _parent(self, table: Table) -> int | None:
        parents = next(r.parent for r in self.references if r.child is table and r.at == 1)
        able = [row[0] for row in parents.rows.values()]
        return self.pick.choice(able) if able and self.pick.random() < 0.85 else None  # type: ignore[return-value]

    def _insert(self, table: Table) -> None:
        number = self._id(table, ())
        if number < 0:
            return
        second = 0 if table is self.p else self._parent(table)
        row: Row = (number, second, self.pick.choice(("x", "y", "", "z ")))
        self._change(table, self._place(table), row, " ")
        if table is self.c and self.triggers and not self.quiet and second is not None:
            place = next(place for place, row in self.p.rows.items() if row[0] == second)
            one, count, note = self.p.rows[place]
            assert isinstance(count, int)
            self._change(self.p, place, (one, count + 1, note), "T")

    def _place(self, table: Table) -> Place:
        self.slots[table.name] += 1
        return 2 + self.slots[table.name] // 20, 1 + self.slots[table.name] % 20

    def _held(self, table: Table, number: object) -> bool:
        return any(
            row[r.at] == number
            for r in self.references
            if r.parent is table
            for row in r.child.rows.values()
        )

    def _restricted(self, table: Table, number: object, seen: set[tuple[str, object]]) -> bool:
        """Whether a delete is refused by what refers to its row, or by what goes with it."""
        for one in self.references:
            if one.parent is not table:
                continue
            for row in one.child.rows.values():
                if row[one.at] != number:
                    continue
                if one.rule == "NO ACTION":
                    return True
                if one.rule == "CASCADE" and self._restricted(one.child, row[0], seen):
                    return True
        return False

    def _delete(self, table: Table, place: Place, source: str) -> None:
        number, first = table.rows[place][0], self.first
        if not first:
            self._change(table, place, None, source)
        for one in self.references:
            if one.parent is not table:
                continue
            held = [at for at, row in one.child.rows.items() if row[one.at] == number]
            for at in held:
                if at not in one.child.rows:
                    continue
                if one.rule == "CASCADE":
                    self._delete(one.child, at, "R")
                else:
                    row = list(one.child.rows[at])
                    row[one.at] = None
                    self._change(one.child, at, tuple(row), "R")
        if first:
            self._change(table, place, None, source)
        if table is self.c and self.triggers:
            self.seen += 1
            row = (self.seen, f"c{number}")
            self._change(self.a, self._place(self.a), row, "T" if source == " " else "B")

    def _change(self, table: Table, place: Place, new: Row | None, source: str) -> None:
        old = table.rows.get(place)
        if old is not None:
            table.take(place)
        if new is not None:
            table.put(place, new)
        if self.quiet:
            return
        rows = [row for row in (old, new) if row is not None]
        kind = "UB" if len(rows) > 1 else "D " if new is None else "I "
        images = tuple(self.log.rows.row(table, row, len(table.columns)) for row in rows)
        self.clock += self.pick.choice((0, 1, 2)) if self.form.sharing else 0
        self.urid += self.pick.randint(40, 90)
        lrsn = self.clock if self.form.sharing else self.urid
        self.order += 1
        change = Change(table, kind, images, self.unit, lrsn, self.urid, place, self.order)
        change.source = source
        self.log.changes.append(change)
