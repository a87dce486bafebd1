"""Random histories of a Db2 LUW database, with the log that it would write and its true rows.

Units run side by side under locks; some roll back to a savepoint or altogether, some are in flight
when the log ends. Statements of one row and of many, rows that move to another page, rows in short
form, rows from before a column was added.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from tests.independent import values
from tests.independent.judge import Case
from tests.independent.locks import Locked
from tests.independent.luw_records import (
    FRAMINGS,
    VARYING,
    Form,
    Log,
    Order,
    RowWriter,
    write_catalog,
)
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

ORDERS: tuple[Order, Order] = ("big", "little")
#: Those that a log itself tells.
FORMS = [
    (release, order, framing)
    for release, names in FRAMINGS.items()
    if release != "v95"
    for order in ORDERS
    for framing in names
]

_BITS_AND_FLOATS = ("REAL", "DOUBLE", "CHAR BIT", "VARCHAR BIT", "GRAPHIC", "VARGRAPHIC")
_BITS = {"SMALLINT": 16, "INTEGER": 32, "BIGINT": 64}


@dataclass(frozen=True)
class Wants:
    """What a history may have. ``values``: floats, bytes, large objects and graphic text too.
    ``described``: the log tells how tables were made."""

    changes: int = 40
    tables: int = 3
    rows: int = 10
    values: bool = True
    moves: bool = False
    short: bool = False
    compressed: bool = False
    described: bool = False


@dataclass(frozen=True)
class Changed:
    """What became of a row. ``lay``: where it lay before, if it had moved."""

    place: Place
    before: Row | None
    after: Row | None
    short: bool = False
    lay: Place | None = None


@dataclass(frozen=True)
class Wrote:
    """A record of a row: I, U, D, or M for several inserts."""

    lsn: int
    kind: str
    places: tuple[Place, ...]
    old: bytes = b""
    new: bytes = b""


@dataclass
class Statement:
    table: Table
    changed: list[Changed] = field(default_factory=list)
    wrote: list[Wrote] = field(default_factory=list)


@dataclass
class Unit:
    """A unit of recovery that is not ended, with what it holds locks on."""

    number: int
    statements: list[Statement] = field(default_factory=list)
    keys: set[tuple[str, Row]] = field(default_factory=set)
    places: set[tuple[str, Place]] = field(default_factory=set)

    def last(self) -> int:
        """Where its last record lies that was not taken back; 0 if there is none."""
        return self.statements[-1].wrote[-1].lsn if self.statements else 0


@dataclass
class Pages:
    """Where rows of a table lie: free places, and the next one; rows that moved, and rows that are
    older than the columns that were added."""

    free: list[Place] = field(default_factory=list)
    moved: dict[Place, Place] = field(default_factory=dict)
    short: set[Place] = field(default_factory=set)
    page: int = 0
    slot: int = 0

    def next(self, pick: random.Random) -> Place:
        if self.free and pick.random() < 0.5:
            return self.free.pop(pick.randrange(len(self.free)))
        self.slot += 1
        if self.slot > 40:
            self.page, self.slot = self.page + 1, 1
        return self.page, self.slot

    def overflow(self) -> Place:
        """A place on another page."""
        self.page, self.slot = self.page + 1, 5
        return self.page, 3


class History(Locked):
    """Makes a history at once; ``log`` and the tables hold what came of it."""

    def __init__(self, seed: object, form: Form, wants: Wants) -> None:
        self.pick = random.Random(f"independent luw {seed}")
        self.form, self.wants = form, wants
        self.log = Log(form, self.pick)
        self.writer = RowWriter(form, self.pick)
        self.tables = [self._table(number) for number in range(wants.tables)]
        self.pages = {table.name: Pages() for table in self.tables}
        late = form.release != "v7" and wants.compressed
        self.compressed = {t.name for t in self.tables if late and self.pick.random() < 0.5}
        self.open: list[Unit] = []
        self.count: Counter[str] = Counter()
        self.number = 0xA1F
        for table in self.tables[wants.described :]:
            self._fill(table)
        self.before = state_of(self.tables)
        if wants.described:
            self._describe()
        while self.count["changes"] < wants.changes:
            self._step()
        for unit in list(self.open):
            self._end(unit)
        self.after = state_of(self.tables)

    # -- tables and rows

    def _table(self, number: int) -> Table:
        pick = self.pick
        names = pick.sample(NAMES, pick.randint(1, 9))
        columns = [self._column(name) for name in names]
        key = drawn_key(pick, columns, KEYS)
        first = len(columns)
        if self.wants.short and first > 3 and pick.random() < 0.5:
            first = max([pick.randint(1, first - 1), *(n + 1 for n in key)])
        columns = [
            Column(c.name, c.kind, c.length, c.scale, n >= first or (c.nullable and n not in key),
                   c.bit)
            for n, c in enumerate(columns)
        ]  # fmt: skip
        schema = pick.choice(("S0", "S0", "S1", "My Schema"))
        name = pick.choice((f"T{number}", f"T{number}", f"Tab le'{number}"))
        return Table(schema, name, (2 + number % 3, 4 + number), tuple(columns), tuple(key), first)

    def _column(self, name: str) -> Column:
        pick, release = self.pick, self.form.release
        more = _BITS_AND_FLOATS if self.wants.values else ()
        if more and release == "v10":
            more += ("BINARY", "VARBINARY")
        if more and release != "v7":
            more += ("CLOB",)
        kind, _, bit = pick.choice(KINDS + more).partition(" ")
        nullable, length, scale = pick.random() < 0.55, 0, 0
        if kind == "DECIMAL":
            length = pick.choice((1, 2, 3, 4, 5, 8, 9, 10, 15, 16, 18, 19, 30, 31))
            scale = pick.randint(0, length)
        elif kind == "TIMESTAMP":
            scale = 6 if release == "v7" or not self.wants.values else pick.randint(0, 12)
        elif kind == "CLOB":
            length = 200
        elif kind in VARYING or kind in ("CHAR", "BINARY", "GRAPHIC"):
            length = pick.choice((1, 3, 8) if bit else (1, 2, 4, 7, 20, 60))
        return Column(name, kind, length, scale, nullable, bool(bit))

    def _value(self, table: Table, number: int, column: Column) -> Value:
        pick, length = self.pick, column.length
        if column.nullable and pick.random() < 0.2:
            return None
        match column.kind:
            case "SMALLINT" | "INTEGER" | "BIGINT" as kind:
                return values.whole(pick, _BITS[kind])
            case "DECIMAL":
                return values.decimal(pick, length, column.scale)
            case "REAL":
                return values.single(pick)
            case "DOUBLE":
                return values.double(pick)
            case "DATE":
                return values.day(pick)
            case "TIME":
                return values.hour(pick)
            case "TIMESTAMP":
                return values.moment(pick, column.scale)
            case "BINARY":
                return values.octets(pick, length)
            case "VARBINARY":
                return values.octets(pick, pick.randint(0, min(20, length)))
        if column.bit:
            return values.octets(pick, length if column.kind == "CHAR" else pick.randint(0, length))
        if "GRAPHIC" in column.kind:
            found = values.text(pick, 2 * length, "utf-16-be")
        else:
            found = values.text(pick, min(length, 60))
        padded = number in table.key or column.kind in ("CHAR", "GRAPHIC")
        return found.rstrip(" ") if padded else found

    def _fill(self, table: Table) -> None:
        pages = self.pages[table.name]
        for _ in range(self.pick.randint(0, self.wants.rows)):
            row = self._row(table, None)
            if row is None:
                continue
            place = pages.next(self.pick)
            if table.first < len(table.columns) and self.pick.random() < 0.7:
                row = row[: table.first] + (None,) * (len(table.columns) - table.first)
                pages.short.add(place)
            table.put(place, row)

    def _describe(self) -> None:
        """The log begins with a unit that makes tables: those that are empty."""
        for table in self.tables:
            if not table.rows and table.name not in self.compressed:
                self.log.table(self.number, table)
                self.count["tables"] += 1
                del self.before[table.name]
        self.log.commit(self.number)
        self.number += 1

    # -- units and statements

    def _step(self) -> None:
        pick = self.pick
        if not self.open or (len(self.open) < 4 and pick.random() < 0.15):
            self.open.append(Unit(self.number))
            self.number += 1
        unit = pick.choice(self.open)
        what = pick.random()
        if what < 0.08:
            self._finish(unit, pick.random() < 0.8)
        elif what < 0.14 and unit.statements:
            self.count["savepoints"] += 1
            self._back(unit, pick.randrange(len(unit.statements)))
        else:
            self._statement(unit, pick.choice(self.tables))

    def _statement(self, unit: Unit, table: Table) -> None:
        pick, what = self.pick, self.pick.random()
        there = [p for p in islice(reversed(table.rows), 100) if self._may(unit, table, p)]
        statement = Statement(table)
        if what < 0.06 and table.key and there and not self.wants.moves:
            self._shift(unit, statement, there)
        elif what < 0.11 and self.form.release != "v7":
            self._inserts(unit, statement)
        elif what < 0.42 or not there:
            self._insert(unit, statement)
        else:
            place = pick.choice(there)
            old = table.rows[place]
            new = None
            if what < 0.78:
                rate, rekey = pick.choice((0, 0.2, 0.5, 1)), pick.random() < 0.2
                new = self._row(table, unit, old, rate, rekey)
                if new is None:
                    return
            self._change(unit, statement, place, new)
        if statement.wrote:
            unit.statements.append(statement)

    def _may(self, unit: Unit, table: Table, place: Place) -> bool:
        return not self._others_hold(unit, place=(table.name, place))

    def _lock(self, unit: Unit, table: Table, place: Place, rows: Iterable[Row | None]) -> None:
        unit.places.add((table.name, place))
        for row in rows:
            if row is not None and table.key:
                unit.keys.add((table.name, table.key_of(row)))

    def _bytes(self, table: Table, row: Row, short: bool = False, outer: int = 0) -> bytes:
        return self.writer.row(table, row, short, outer, table.name in self.compressed)

    def _free_place(self, unit: Unit, table: Table) -> Place | None:
        place = self.pages[table.name].next(self.pick)
        return None if place in table.rows or not self._may(unit, table, place) else place

    def _insert(self, unit: Unit, statement: Statement) -> None:
        table = statement.table
        row, place = self._row(table, unit), self._free_place(unit, table)
        if row is None or place is None:
            return
        self._lock(unit, table, place, [row])
        data = self._bytes(table, row)
        lsn = self.log.insert(unit.number, table, place, data)
        self._done(statement, Changed(place, None, row), [Wrote(lsn, "I", (place,), new=data)])

    def _inserts(self, unit: Unit, statement: Statement) -> None:
        """Several rows by one record."""
        table = statement.table
        parts: list[tuple[Place, bytes]] = []
        for _ in range(self.pick.randint(1, 5)):
            row, place = self._row(table, unit), self._free_place(unit, table)
            if row is None or place is None:
                break
            self._lock(unit, table, place, [row])
            parts.append((place, self._bytes(table, row)))
            self._done(statement, Changed(place, None, row), [])
        if parts:
            lsn = self.log.inserts(unit.number, table, parts)
            statement.wrote.append(Wrote(lsn, "M", tuple(place for place, _ in parts)))
            self.count["many"] += 1

    def _change(self, unit: Unit, statement: Statement, place: Place, new: Row | None) -> None:
        """Update a row, or delete it if ``new`` is None."""
        table, pages = statement.table, self.pages[statement.table.name]
        old, lay = table.rows[place], pages.moved.get(place)
        self._lock(unit, table, place, [old, new])
        short = place in pages.short
        changed = Changed(place, old, new, short, lay)
        if lay is not None or (new is not None and self.wants.moves and self.pick.random() < 0.25):
            self._done(statement, changed, self._moved(unit, table, changed))
            return
        before = self._bytes(table, old, short)
        if new is None:
            lsn = self.log.delete(unit.number, table, place, before)
            wrote = Wrote(lsn, "D", (place,), before)
        else:
            after = self._bytes(table, new)
            lsn = self.log.update(unit.number, table, place, before, after)
            wrote = Wrote(lsn, "U", (place,), before, after)
        self._done(statement, changed, [wrote])

    def _done(self, statement: Statement, changed: Changed, wrote: list[Wrote]) -> None:
        """The rows are as a change left them."""
        table, pages = statement.table, self.pages[statement.table.name]
        if changed.before is not None:
            table.take(changed.place)
        if changed.after is not None:
            table.put(changed.place, changed.after)
        pages.short.discard(changed.place)
        statement.changed.append(changed)
        statement.wrote += wrote
        self.count["changes"] += 1

    def _moved(self, unit: Unit, table: Table, changed: Changed) -> list[Wrote]:
        """The records of a row that moves, had moved, or comes back (17)."""
        log, pages, wrote = self.log, self.pages[table.name], list[Wrote]()
        home, lay, pointer = changed.place, changed.lay, self.writer.pointer
        self.count["moves"] += 1

        def insert(place: Place, row: bytes) -> None:
            lsn = log.insert(unit.number, table, place, row)
            wrote.append(Wrote(lsn, "I", (place,), new=row))

        def delete(place: Place, row: bytes) -> None:
            lsn = log.delete(unit.number, table, place, row)
            wrote.append(Wrote(lsn, "D", (place,), row))

        def update(place: Place, old: bytes, new: bytes) -> None:
            lsn = log.update(unit.number, table, place, old, new)
            wrote.append(Wrote(lsn, "U", (place,), old, new))

        old, new = changed.before, changed.after
        if old is None:
            raise AssertionError("a row that is inserted has not moved")
        if new is None and lay is not None:
            delete(home, pointer(lay))
            delete(lay, self._bytes(table, old, changed.short, 4))
            del pages.moved[home]
        elif new is not None and lay is None:
            away = pages.overflow()
            insert(away, self._bytes(table, new, outer=4))
            update(home, self._bytes(table, old, changed.short), pointer(away))
            pages.moved[home] = away
        elif new is not None and lay is not None:
            there, what = self._bytes(table, old, changed.short, 4), self.pick.random()
            if what < 0.4:
                update(lay, there, self._bytes(table, new, outer=4))
            elif what < 0.7:
                away = pages.overflow()
                insert(away, self._bytes(table, new, outer=4))
                delete(lay, there)
                update(home, pointer(lay), pointer(away))
                pages.moved[home] = away
            else:
                update(home, pointer(lay), self._bytes(table, new))
                delete(lay, there)
                del pages.moved[home]
        return wrote

    def _shift(self, unit: Unit, statement: Statement, there: list[Place]) -> None:
        """Keys of many rows walk by a number, or go round, in one statement."""
        table, pick = statement.table, self.pick
        able = [number for number in table.key if table.columns[number].kind in _BITS]
        # To break a circle, a row is deleted and inserted again, which a large object forbids.
        if not able or any(column.kind == "CLOB" for column in table.columns):
            return
        number = pick.choice(able)
        if pick.random() < 0.5:
            there = pick.sample(there, min(len(there), pick.randint(1, 6)))
        step, most = pick.choice((1, -1, 2)), 1 << _BITS[table.columns[number].kind] - 1
        circle = len(there) > 1 and pick.random() < 0.5
        rows = shifted(table, there, number, None if circle else step, most)
        keys = [(table.name, table.key_of(row)) for row in (rows or {}).values()]
        if rows is None or any(self._others_hold(unit, key=key) for key in keys):
            return
        self.count["shifts"] += 1
        # A key may have two holders until the statement has ended.
        for place in there:
            self._change(unit, statement, place, rows[place])

    # -- ends of units

    def _back(self, unit: Unit, to: int, logged: bool = True) -> None:
        """Take back all statements but the first ones: newest first, a record for each."""
        while len(unit.statements) > to:
            statement = unit.statements[-1]
            while statement.wrote:
                wrote = statement.wrote.pop()
                before = statement.wrote or [w for s in unit.statements[:-1] for w in s.wrote]
                undone = (before[-1].lsn if before else 0, wrote.lsn)
                if logged:
                    self.count["compensations"] += 1
                    self._compensate(unit, statement.table, wrote, undone)
            unit.statements.pop()
            for changed in reversed(statement.changed):
                self._restore(statement.table, changed)

    def _compensate(self, unit: Unit, table: Table, wrote: Wrote, undone: tuple[int, int]) -> None:
        log, place = self.log, wrote.places[0]
        match wrote.kind:
            case "M":
                log.no_inserts(unit.number, table, wrote.places, undone)
            case "I":
                log.no_insert(unit.number, table, place, len(wrote.new), undone)
            case "U":
                log.no_update(unit.number, table, place, wrote.old, undone)
            case _:
                log.no_delete(unit.number, table, place, wrote.old, undone)

    def _restore(self, table: Table, changed: Changed) -> None:
        pages, place = self.pages[table.name], changed.place
        if changed.after is not None:
            table.take(place)
        pages.moved.pop(place, None)
        if changed.before is not None:
            table.put(place, changed.before)
            if changed.short:
                pages.short.add(place)
            if changed.lay is not None:
                pages.moved[place] = changed.lay

    def _end(self, unit: Unit) -> None:
        """The log ends: most units end before it, some are in flight."""
        what = self.pick.random()
        if what < 0.9:
            self._finish(unit, what < 0.7)
            return
        self.count["in flight"] += 1
        self._back(unit, 0, logged=False)
        self.open.remove(unit)

    def _finish(self, unit: Unit, commits: bool) -> None:
        if not commits:  # an abort takes back what was not taken back by records
            self._back(unit, 0, logged=self.pick.random() < 0.6)
        self.open.remove(unit)
        if unit.number in self.log.previous:
            (self.log.commit if commits else self.log.abort)(unit.number)
            self.count["commits" if commits else "aborts"] += 1
        for table in self.tables:
            pages = self.pages[table.name]
            for name, place in sorted(unit.places):
                free = name == table.name and place not in table.rows and place not in pages.free
                if free and not self._others_hold(unit, place=(name, place)):
                    pages.free.append(place)


def form_of(seed: int) -> Form:
    """Forms in turn, so that the first ones are of all releases and byte orders."""
    release, order, framing = FORMS[seed * 13 % len(FORMS)]
    pick = random.Random(f"form {seed}")
    gaps = framing != "raw" and pick.random() < 0.4
    return Form(release, order, framing, gaps, pick.random() < 0.5, pick.random() < 0.5)


def wants_of(seed: int) -> Wants:
    """Moved rows, short rows and forms, drawn."""
    pick = random.Random(f"wants {seed}")
    flags = [pick.random() < 0.5 for _ in range(4)]
    return Wants(moves=flags[0], short=flags[1], compressed=flags[2], described=flags[3])


def case_of(history: History, folder: Path) -> Case:
    """The log and the catalog on disk."""
    log, catalog = folder / "log", folder / "catalog.csv"
    log.write_bytes(b"".join(record.bytes for record in history.log.records))
    write_catalog(history.tables, catalog)
    source = ("--source", "db2luw", "--log", str(log), "--catalog", str(catalog))
    return Case(source, history.tables, history.before, history.after, folder)
