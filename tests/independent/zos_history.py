"""Random histories of a Db2 for z/OS database, with the logical log of them and the true rows.

Units of recovery of several members run side by side under locks; some roll back to a savepoint or
altogether. Statements of one row and of many, keys that walk and go round, rows that triggers and
constraints changed, tables that get columns.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from tests.independent import values
from tests.independent.locks import Locked
from tests.independent.tables import (
    KEYS,
    KINDS,
    NAMES,
    Column,
    Place,
    Row,
    Table,
    drawn_key,
    shifted,
    state_of,
)
from tests.independent.values import Value
from tests.independent.zos_headers import Change, Form, UnitFacts, scheme
from tests.independent.zos_records import Generation, Log
from tests.independent.zos_rows import WHOLE, hfp, hfp_value, sort_of
from tests.independent.zos_text import MIXED_A, MIXED_E, SINGLE_A, SINGLE_E, UNKNOWN, Pages

_MORE = (
    *("REAL", "DOUBLE", "CHAR BIT", "VARCHAR BIT", "CHAR MIXED", "VARCHAR MIXED", "GRAPHIC"),
    *("VARGRAPHIC", "LONG VARCHAR", "LONG VARGRAPHIC", "TIMESTAMPTZ"),
)
_BITS = {kind: 8 * size for kind, size in WHOLE.items()}
_ZONES = (
    *("+00:00", "-00:00", "+05:30", "-03:30", "-08:00", "+14:00", "-12:59", "+12:45", "+01:00"),
    *("-00:30", "-14:00"),
)


@dataclass(frozen=True)
class Wants:
    """What a history may have: so many changes, tables and rows at its begin. ``short``: columns
    that are added."""

    changes: int = 50
    tables: int = 3
    rows: int = 10
    short: bool = False


@dataclass(frozen=True)
class Effect:
    """What became of a row, and the change that the log has of it."""

    table: Table
    place: Place
    before: Row | None
    after: Row | None
    change: Change


@dataclass
class Unit:
    """A unit of recovery with what it holds locks on."""

    facts: UnitFacts
    statements: list[list[Effect]] = field(default_factory=list)
    keys: set[tuple[str, Row]] = field(default_factory=set)
    places: set[tuple[str, Place]] = field(default_factory=set)

    @property
    def effects(self) -> list[Effect]:
        """What it does to rows in the end, without what changes nothing."""
        return [e for statement in self.statements for e in statement if e.before != e.after]


class History(Locked):
    """Makes a history at once; ``log``, ``done`` (the units that took effect, in the order of their
    commits) and the tables hold what came of it."""

    def __init__(self, seed: object, form: Form, wants: Wants) -> None:
        self.pick = random.Random(f"independent zos {seed}")
        self.form, self.wants = form, wants
        self.log = Log(form, self.pick)
        self.members = (1, 2, 7) if form.sharing else (0,)
        # Members number their units alike.
        self.rbas = {member: 0x12345000 + 40 * self.pick.randint(0, 3) for member in self.members}
        self.clock, self.order, self.still = 1000, 0, False
        self.open: list[Unit] = []
        self.done: list[Unit] = []
        self.count: Counter[str] = Counter()
        self.tables = [self._table(number) for number in range(wants.tables)]
        self.free: dict[str, list[Place]] = {table.name: [] for table in self.tables}
        self.next: Counter[str] = Counter()
        self.columns = {table.name: table.first for table in self.tables}
        for table in self.tables:
            created = self.pick.choice((0, 5, 900))
            self.log.generations[table.name] = [Generation(1, created, 0, table.first)]
            for _ in range(self.pick.randint(0, wants.rows)):
                row = self._row(table, None)
                if row is not None:
                    table.put(self._new_place(table), row)
        self.before = state_of(self.tables)
        self._start = {table.name: dict(table.rows) for table in self.tables}
        while self.count["changes"] < wants.changes:
            self._step()
        while self.open:
            self._finish(self.open[0], self.pick.random() < 0.8)
        self.after = state_of(self.tables)
        self.done.sort(key=lambda unit: unit.facts.commit_lrsn)

    @property
    def end(self) -> int:
        """A position behind everything."""
        return (self.clock if self.form.sharing else self.rbas[0]) + 100

    # -- tables and rows

    def _table(self, number: int) -> Table:
        pick = self.pick
        obid = 3 * (100 * number + pick.randint(1, 99)) + pick.choice((0, 0, 1, 2))
        table = Table("", "", (0x105 + number // 2, obid), (), (), 0)
        columns = [self._column(n, table) for n in pick.sample(NAMES, pick.randint(1, 9))]
        key = drawn_key(pick, columns, KEYS)
        first = len(columns)
        if self.wants.short and first > 2 and pick.random() < 0.6:
            first = max([pick.randint(1, first - 1), *(n + 1 for n in key)])
        columns = [
            replace(column, nullable=n >= first or (column.nullable and n not in key))
            for n, column in enumerate(columns)
        ]
        schema = pick.choice(("S0", "S0", "S1", "My Schema", "A LONG OWNER"))
        name = pick.choice(
            (f"T{number}", f"T{number}", f"Tab le'{number}", f"T{number}_{'X' * 30}")
        )
        return Table(schema, name, table.number, tuple(columns), tuple(key), first)

    def _column(self, name: str, table: Table) -> Column:
        pick, more = self.pick, list(_MORE)
        if self.form.pages(table).mixed == UNKNOWN:
            more = [k for k in more if "GRAPHIC" not in k and "MIXED" not in k]
        kind = pick.choice([*KINDS, *more])
        bit, mixed = kind.endswith(" BIT"), kind.endswith(" MIXED")
        kind = kind.removesuffix(" BIT").removesuffix(" MIXED")
        length, scale = 0, 0
        if kind == "DECIMAL":
            length = pick.choice((*range(1, 32, 2), 8, 18))
            scale = pick.randint(0, length)
        elif "TIMESTAMP" in kind:
            scale = pick.choice((6, pick.randint(0, 12)))
        elif kind.startswith("LONG"):
            length = 90
        elif "CHAR" in kind or "GRAPHIC" in kind:
            length = pick.choice((1, 3, 8) if bit else (1, 2, 4, 7, 20, 60))
        return Column(name, kind, length, scale, pick.random() < 0.55, bit, mixed)

    def _value(self, table: Table, number: int, column: Column) -> Value:
        pick, length = self.pick, column.length
        absent = number >= self.columns[table.name]
        if absent or (column.nullable and pick.random() < 0.2):
            return None
        match column.kind:
            case "SMALLINT" | "INTEGER" | "BIGINT" as kind:
                return values.whole(pick, _BITS[kind])
            case "DECIMAL":
                return values.decimal(pick, length, column.scale)
            case "REAL" | "DOUBLE" as kind:
                return self._float(4 if kind == "REAL" else 8)
            case "DATE":
                return values.day(pick)
            case "TIME":
                return values.hour(pick)
            case "TIMESTAMP":
                return values.moment(pick, column.scale)
            case "TIMESTAMPTZ":
                found = "0001"
                while not "0001-01-02" < found < "9999-12-30":
                    found = values.moment(pick, column.scale)
                return found + pick.choice(_ZONES)
        if column.bit:
            return values.octets(pick, length if column.kind == "CHAR" else pick.randint(0, length))
        return self._text(table, column, number in table.key)

    def _text(self, table: Table, column: Column, key: bool) -> str:
        graphic, pages = "GRAPHIC" in column.kind, self.form.pages(table)
        sort = "G" if graphic else sort_of(table, column, self.form)
        found = pages.text(self.pick, sort, min(column.length, 60) * (1 + graphic))
        if key or column.kind == "CHAR":
            return found.rstrip(" ")
        if column.kind != "GRAPHIC":
            return found
        # Outside Unicode what fills a column up is a letter like others.
        return found.rstrip(" ") if scheme(table) == "U" else found.ljust(column.length, "\u3000")

    def _float(self, length: int) -> float:
        """A number that a hexadecimal one holds exactly, and a short one within what a single
        has."""
        pick = self.pick
        while True:
            drawn = values.single(pick) if length == 4 else values.double(pick)
            try:
                data = hfp(drawn, length)
            except ValueError:
                data = pick.randbytes(length)
            if pick.random() < 0.2:
                data = bytes([pick.choice((0x40, 0x41, 0xC1, 0xC6)), *data[1:]])
            value = hfp_value(data)
            low, high = (2.0**-126, 2.0**127) if length == 4 else (1e-70, 1e76)
            try:
                if not value or (low <= abs(value) < high and hfp(value, length)):
                    return value
            except ValueError:
                continue

    def _new_place(self, table: Table) -> Place:
        free = self.free[table.name]
        if free and self.pick.random() < 0.5:
            return free.pop(self.pick.randrange(len(free)))
        number = self.next[table.name]
        self.next[table.name] += 1
        return 2 + number // 20, 1 + number % 20

    # -- units and statements

    def _tick(self, member: int) -> tuple[int, int]:
        """LRSN and RBA of the next record. Records of several members may have one LRSN."""
        self.rbas[member] += self.pick.randint(40, 400)
        if not self.form.sharing:
            return self.rbas[member], self.rbas[member]
        self.clock += 0 if self.still else self.pick.choice((0, 0, 1, 1, 3, 500))
        return self.clock, self.rbas[member]

    def _begin(self) -> Unit:
        pick, member = self.pick, self.pick.choice(self.members)
        lrsn, rba = self._tick(member)
        facts = UnitFacts(rba, lrsn, member)
        facts.authid = pick.choice(("CLERK0", "CLERK1", "BATCH", "O'NEIL"))
        facts.plan, facts.correlation = pick.choice(("PLAN1", "DSNTEP2")), f"JOB{pick.randrange(9)}"
        return Unit(facts)

    def _step(self) -> None:
        pick = self.pick
        if not self.open or (len(self.open) < 5 and pick.random() < 0.15):
            self.open.append(self._begin())
        unit, what = pick.choice(self.open), pick.random()
        table = pick.choice(self.tables)
        if what < 0.08:
            self._finish(unit, pick.random() < 0.8)
        elif what < 0.13 and unit.statements:
            self._back(unit, pick.randrange(len(unit.statements)), "S")
            self.count["savepoints"] += 1
        elif what < 0.15 and unit.statements:
            self._back(unit, len(unit.statements) - 1, "O")
            self.count["reversed"] += 1
        elif what < 0.21 and self.wants.short:
            self._widen(table)
        elif what < 0.23:
            data = b"\0\x0c" + pick.randbytes(10)
            self._log(unit, None, pick.choice(("CO", "CM", "SC")), (data,))
            self.count["others"] += 1
        else:
            self._statement(unit, table)

    def _statement(self, unit: Unit, table: Table) -> None:
        pick, what = self.pick, self.pick.random()
        there = [
            place
            for place in islice(reversed(table.rows), 100)
            if not self._others_hold(unit, place=(table.name, place))
        ]
        unit.statements.append([])
        if what < 0.08 and table.key and there:
            self._shift(unit, table, there)
        elif what < 0.42 or not there:
            for _ in range(pick.choice((1, 1, 1, 4))):
                row, place = self._row(table, unit), self._new_place(table)
                held = place in table.rows or self._others_hold(unit, place=(table.name, place))
                if row is not None and not held:
                    self._change(unit, table, place, row)
        else:
            kind, rate, rekey = pick.random(), pick.choice((0, 0.2, 0.5, 1)), pick.random() < 0.2
            for place in pick.sample(there, min(len(there), pick.choice((1, 1, 1, 4)))):
                new = None
                if kind < 0.65:
                    new = self._row(table, unit, table.rows[place], rate, rekey)
                if new is not None or kind >= 0.65:
                    self._change(unit, table, place, new)
        if not unit.statements[-1]:
            unit.statements.pop()

    def _log(
        self,
        unit: Unit,
        table: Table | None,
        kind: str,
        images: tuple[bytes, ...] = (),
        rid: Place = (0, 0),
    ) -> Change:
        lrsn, rba = self._tick(unit.facts.member)
        self.order += 1
        change = Change(table, kind, images, unit.facts, lrsn, rba, rid, self.order)
        change.sqltype = self.pick.choice("UUU ")
        if table is not None and images and table.number[0] % 2:
            change.partition = 1 + rid[0] % 3
        self.log.changes.append(change)
        return change

    def _logged(
        self, unit: Unit, table: Table, place: Place, old: Row | None, new: Row | None
    ) -> Change:
        """The record of a change of a row."""
        columns, rows = self.columns[table.name], [row for row in (old, new) if row is not None]
        kind = "UB" if len(rows) > 1 else "D " if new is None else self.pick.choice(INSERTS)
        images = tuple(self.log.rows.row(table, row, columns) for row in rows)
        return self._log(unit, table, kind, images, place)

    def _change(self, unit: Unit, table: Table, place: Place, new: Row | None) -> None:
        """Insert, update or delete a row: at once in the table and in the log."""
        old = table.rows.get(place)
        unit.places.add((table.name, place))
        for row in (old, new):
            if row is not None and table.key:
                unit.keys.add((table.name, table.key_of(row)))
        change = self._logged(unit, table, place, old, new)
        change.source = self.pick.choice(" " * 8 + "TRB")
        if old is not None:
            table.take(place)
        if new is not None:
            table.put(place, new)
        unit.statements[-1].append(Effect(table, place, old, new, change))
        self.count["changes"] += 1

    def _shift(self, unit: Unit, table: Table, there: list[Place]) -> None:
        """Keys of many rows walk by a number, or go round, in one statement."""
        pick = self.pick
        able = [number for number in table.key if table.columns[number].kind in _BITS]
        if not able:
            return
        at = pick.choice(able)
        if pick.random() < 0.5:
            there = pick.sample(there, min(len(there), pick.randint(1, 6)))
        circle = len(there) > 1 and pick.random() < 0.5
        step = None if circle else pick.choice((1, -1, 2))
        rows = shifted(table, there, at, step, 1 << _BITS[table.columns[at].kind] - 1)
        keys = [(table.name, table.key_of(row)) for row in (rows or {}).values()]
        if rows is None or any(self._others_hold(unit, key=key) for key in keys):
            return
        self.count["shifts"] += 1
        for place, row in rows.items():  # a key may have two holders until the statement has ended
            self._change(unit, table, place, row)

    # -- what is no change of one row

    def _still(self) -> int:
        """A position that nothing lies close to."""
        self.clock += 100
        for member in self.members:
            self.rbas[member] += 1000
        return self.clock if self.form.sharing else self.rbas[0]

    def _widen(self, table: Table) -> None:
        """Columns are added as soon as nobody has changed the table: its rows have them from here
        on."""
        there = self.columns[table.name]
        if there == len(table.columns):
            return
        while held := [u for u in self.open if any(name == table.name for name, _ in u.places)]:
            self._finish(held[0], self.pick.random() < 0.8)
        at = self._still()
        generations = self.log.generations[table.name]
        generations[-1] = replace(generations[-1], drop=at)
        self.columns[table.name] = there = self.pick.randint(there + 1, len(table.columns))
        generations.append(Generation(len(generations) + 1, at, 0, there))
        self._still()
        self.count["widened"] += 1

    # -- ends of units

    def _back(self, unit: Unit, to: int, why: str) -> None:
        """Take back all statements but the first ones; some logs have records of that."""
        unit.facts.compensated = True
        records = self.pick.random() < 0.5
        while len(unit.statements) > to:
            for effect in reversed(unit.statements.pop()):
                effect.change.disposition = why
                table, place = effect.table, effect.place
                if effect.after is not None:
                    table.take(place)
                if effect.before is not None:
                    table.put(place, effect.before)
                if records and effect.change.images:
                    made = self._logged(unit, table, place, effect.after, effect.before)
                    made.disposition = why

    def _finish(self, unit: Unit, commits: bool) -> None:
        facts = unit.facts
        if not commits:
            self._back(unit, 0, "A")
            for change in reversed(self.log.changes):
                if change.unit is facts:
                    change.disposition = "A"
                if change.lrsn < facts.lrsn:
                    break
        self.open.remove(unit)
        facts.commit_lrsn, facts.commit_rba = self._tick(facts.member)
        facts.commits = commits
        self.count["commits" if commits else "aborts"] += 1
        if commits and unit.statements:
            self.done.append(unit)
        tables = {table.name: table for table in self.tables}
        for name, place in sorted(unit.places):
            held = place in tables[name].rows or place in self.free[name]
            if not held and not self._others_hold(unit, place=(name, place)):
                self.free[name].append(place)
        others = [other for other in self.open if other.facts.member != facts.member]
        if others and not self.still and self.pick.random() < 0.2:
            # Units of several members may commit at one LRSN, if none needs the other.
            self.still = True
            self._finish(self.pick.choice(others), True)
            self.still = False
            self.count["together"] += 1
        self.clock += not self.still


INSERTS = ("I ",) * 9 + ("IL",)


def parts(history: History) -> Iterator[tuple[Unit, Effect]]:
    """What took effect, by unit; updates that change nothing too."""
    for unit in history.done:
        for statement in unit.statements:
            for effect in statement:
                yield unit, effect


def form_of(seed: int) -> Form:
    """A form drawn by a seed; the first ones have all framings, readings and headers."""
    pick = random.Random(f"form zos {seed}")
    reading = ("A", "A", "A", "B", "B'")[seed % 5]
    framing = ("rdw", "bdw", "ftp", "none")[seed % 4]
    if reading != "A" and framing == "none":  # where a record ends is told by its length of DATA
        framing = "rdw"
    header = ("plain", "described", "shuffled", "old", "plain")[3 * seed % 5]
    sharing, described = pick.random() < 0.7, header != "plain"
    ebcdic = Pages(pick.choice(SINGLE_E), UNKNOWN, UNKNOWN)
    if pick.random() < 0.5:
        ebcdic = Pages(*pick.choice(MIXED_E))
    form = Form(
        framing=framing,
        reading=reading,
        header=header,
        base=pick.choice((0, 1)) if described else 0,
        extra=pick.choice((0, 0, 12)),
        sharing=sharing,
        zero_lrsn=not sharing and pick.random() < 0.5,
        wide=header != "old" and pick.random() < 0.6,
        expand=pick.random() < 0.3,
        filler=pick.choice(("blank", "zero", "")),
        segments=reading == "A" and pick.random() < 0.5,
        heads="each" if framing == "none" else pick.choice(("each", "first")),
        graphic=pick.choice((1, 2)),
        numbers=pick.choice(("0>", " >", "<")),
        nothing=pick.choice((b"", b"\0\2")),
        ordervalue=described and pick.random() < 0.4,
        index=pick.random() < 0.4,
        ebcdic=ebcdic,
        ascii=Pages(pick.choice(SINGLE_A), UNKNOWN, UNKNOWN),
        plus=pick.choice(("C", "C", "F", "CF")),
        dates_follow=pick.random() < 0.3,
    )
    if ebcdic.mixed != UNKNOWN and pick.random() < 0.7:  # MIXED is of both
        form = replace(form, ascii=Pages(*pick.choice(MIXED_A)))
    return form
