"""Rows as dictionaries, statements that check keys at their end, and histories made from a seed.

The model knows which row is which (each has a number of its own), so it can say what any set of
units leaves behind, and which units another one cannot do without.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal

Row = dict[str, object]


@dataclass(frozen=True)
class Column:
    """A column: Db2's name of its type, length (precision), scale."""

    name: str
    type: str
    length: int = 0
    scale: int = 0
    nullable: bool = True


@dataclass(frozen=True)
class ForeignKey:
    columns: tuple[str, ...]
    parent: str
    action: str


@dataclass(frozen=True)
class Table:
    schema: str
    name: str
    space: int
    id: int
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    foreign: tuple[ForeignKey, ...] = ()

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    @property
    def keys(self) -> list[tuple[str, ...]]:
        return [key for key in (self.key, *self.unique) if key]


@dataclass
class Change:
    """What happened to one row."""

    table: str
    row: int
    before: Row | None
    after: Row | None
    statement: int = 0

    @property
    def op(self) -> str:
        return "I" if self.before is None else "D" if self.after is None else "U"


@dataclass
class Unit:
    """A transaction: changes as done, and as taken back within it."""

    number: int
    authid: str = "DB2INST1"
    commit: str = "normal"
    aborted: bool = False
    #: ("do" | "undo", change) in the order of the log.
    events: list[tuple[str, Change]] = field(default_factory=list)

    @property
    def changes(self) -> list[Change]:
        """What is left of it."""
        if self.aborted:
            return []
        undone = {id(change) for how, change in self.events if how == "undo"}
        return [c for how, c in self.events if how == "do" and id(c) not in undone]

    def net(self) -> dict[tuple[str, int], tuple[Row | None, Row | None]]:
        """Row -> what it was before and after the unit."""
        rows: dict[tuple[str, int], tuple[Row | None, Row | None]] = {}
        for change in self.changes:
            place = (change.table, change.row)
            first = rows[place][0] if place in rows else change.before
            rows[place] = (first, change.after)
        return rows

    def leaves(self) -> dict[str, Counter]:
        """Table -> what it has more of and less of, whichever row is which: a circle of rows that
        are equal but for the key leaves nothing."""
        balance: dict[str, Counter] = {}
        for (table, _), images in self.net().items():
            for image, sign in zip(images, (-1, 1), strict=True):
                if image is not None:
                    shape = tuple((k, plain(v)) for k, v in image.items())
                    balance.setdefault(table, Counter())[shape] += sign
        found = {t: Counter({k: n for k, n in c.items() if n}) for t, c in balance.items()}
        return {table: counts for table, counts in found.items() if counts}


State = dict[str, dict[int, Row]]


def copied(state: State) -> State:
    return {
        name: {number: dict(row) for number, row in rows.items()} for name, rows in state.items()
    }


class Inconsistent(Exception):
    """A set of units that makes no sense without the others."""


@dataclass
class History:
    """Tables, the rows before the log, and units in the order of their commits."""

    kind: str
    tables: list[Table]
    initial: State
    final: State
    units: list[Unit]
    #: Lists of units whose records lie between one another, as (unit, event) pairs in log order.
    tape: list[tuple[Unit, str, Change | None]]
    #: Whether foreign and unique keys are told to the program.
    schema: bool = False
    notes: dict[str, object] = field(default_factory=dict)

    def table(self, name: str) -> Table:
        return next(table for table in self.tables if table.name == name)

    @property
    def committed(self) -> list[Unit]:
        return [unit for unit in self.units if not unit.aborted]

    def only(self, units: Iterable[Unit]) -> State:
        """The rows that these units leave, in commit order, changing only their columns."""
        chosen = {unit.number for unit in units}
        state = copied(self.initial)
        for unit in self.units:
            if unit.number not in chosen:
                continue
            for (table, number), (before, after) in unit.net().items():
                rows = state[table]
                if before == after:
                    continue
                if before is None:
                    if after is not None:
                        rows[number] = dict(after)
                    continue
                if number not in rows:
                    raise Inconsistent(f"unit {unit.number}: {table} row {number}")
                if after is None:
                    del rows[number]
                else:
                    rows[number].update({k: v for k, v in after.items() if before[k] != v})
        for table in self.tables:
            for key in table.keys:
                if clashes(state[table.name].values(), key):
                    raise Inconsistent(f"{table.name}: {key}")
        return state

    # -- who builds on whom

    def must(self, first: Unit, second: Unit) -> bool:
        """Whether the second provably builds on the first."""
        a, b = first.net(), second.net()
        for place in a.keys() & b.keys():
            (before, after), (old, new) = a[place], b[place]
            if before == after or old == new:
                continue
            if before is None or new is None or old is None or after is None:
                return True
            if changed(before, after) & changed(old, new):
                return True
        for name, key in self._known_keys():
            mine, theirs = key_values(a, name, key), key_values(b, name, key)
            if (mine[0] ^ mine[1]) & (theirs[0] ^ theirs[1]):
                return True
        if self.schema:
            for table, foreign in self._foreign():
                parent = self.table(foreign.parent)
                ours, yours = (
                    key_values(a, parent.name, parent.key),
                    key_values(b, parent.name, parent.key),
                )
                mine = key_values(a, table.name, foreign.columns)
                theirs = key_values(b, table.name, foreign.columns)
                if (ours[1] - ours[0]) & (theirs[1] - theirs[0]):
                    return True
                if (mine[0] - mine[1]) & (yours[0] - yours[1]):
                    return True
        return False

    def may(self, first: Unit, second: Unit) -> bool:
        """Whether a careful reader could think that the second builds on the first."""
        touched = []
        for unit in (first, second):
            marks: set[object] = set()
            for change in unit.changes:
                marks.add((change.table, change.row))
                table = self.table(change.table)
                for image in (change.before, change.after):
                    if image is None:
                        continue
                    for key in table.keys:
                        marks.add((table.name, key, tuple(image[c] for c in key)))
                    if not table.key:
                        marks.add((table.name, tuple(map(str, image.values()))))
                    for foreign in table.foreign:
                        parent = self.table(foreign.parent)
                        value = tuple(image[c] for c in foreign.columns)
                        marks.add((parent.name, parent.key, value))
            touched.append(marks)
        return bool(touched[0] & touched[1])

    def closure(self, start: Unit, edge: Callable[[Unit, Unit], bool]) -> set[int]:
        """The units that build on one, itself too."""
        found = [start]
        units = self.committed
        later = units[units.index(start) + 1 :]
        for unit in later:
            if any(edge(earlier, unit) for earlier in found):
                found.append(unit)
        return {unit.number for unit in found}

    def _known_keys(self) -> list[tuple[str, tuple[str, ...]]]:
        return [
            (table.name, key)
            for table in self.tables
            for key in (table.keys if self.schema else [table.key] if table.key else [])
        ]

    def _foreign(self) -> list[tuple[Table, ForeignKey]]:
        return [(table, foreign) for table in self.tables for foreign in table.foreign]


def changed(before: Row, after: Row) -> set[str]:
    return {name for name in before if before[name] != after[name]}


def key_values(
    net: dict[tuple[str, int], tuple[Row | None, Row | None]], name: str, key: tuple[str, ...]
) -> tuple[set[tuple], set[tuple]]:
    """The values of a key that a unit took from the table, and those it left there."""
    sides: tuple[set[tuple], set[tuple]] = (set(), set())
    for (table, _), images in net.items():
        if table == name:
            for side, image in zip(sides, images, strict=True):
                if image is not None and None not in (v := tuple(image[c] for c in key)):
                    side.add(v)
    return sides


def clashes(rows: Iterable[Row], key: tuple[str, ...]) -> bool:
    """Whether a key stands twice (NULL is no value)."""
    values = [v for row in rows if None not in (v := tuple(row[c] for c in key))]
    return len(values) != len(set(values))


def multiset(rows: Iterable[Row]) -> Counter:
    return Counter(tuple(sorted((k, plain(v)) for k, v in row.items())) for row in rows)


def plain(value: object) -> str:
    """A value as text that does not depend on how a database keeps it."""
    if value is None:
        return "NULL"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S.%f")
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value.normalize() + 0, "f")
    if isinstance(value, float):
        return format(Decimal(repr(value)).normalize() + 0, "f")
    if isinstance(value, int):
        return str(Decimal(value).normalize() + 0) if abs(value) < 10**27 else str(value)
    return str(value).rstrip(" ")


class Maker:
    """Makes units by running statements against rows, as Db2 would."""

    def __init__(self, rng: random.Random, tables: list[Table]) -> None:
        self.rng = rng
        self.tables = {table.name: table for table in tables}
        self.state: State = {table.name: {} for table in tables}
        self.units: list[Unit] = []
        self.rows = 0
        self.statements = 0
        self.unit: Unit | None = None
        self._start: State | None = None

    # -- values

    def value(self, column: Column) -> object:
        rng = self.rng
        if column.nullable and rng.random() < 0.25:
            return None
        kind = column.type
        if kind == "SMALLINT":
            return rng.choice([0, -1, 32767, -32768, rng.randrange(-99, 99)])
        if kind == "INTEGER":
            return rng.choice([0, 1, -1, 2**31 - 1, -(2**31), rng.randrange(-999, 999)])
        if kind == "BIGINT":
            return rng.choice([0, 2**63 - 1, -(2**63), rng.randrange(-(10**12), 10**12)])
        if kind == "DECIMAL":
            top = 10**column.length
            return Decimal(rng.choice([0, top - 1, 1 - top, rng.randrange(-top + 1, top)])).scaleb(
                -column.scale
            )
        if kind in ("REAL", "DOUBLE"):
            return rng.choice([0.0, 1.5, -0.25, 2.0**-7, float(rng.randrange(-50, 50))])
        if kind == "DATE":
            return date(2024, 1, 1) + timedelta(days=rng.randrange(400))
        if kind == "TIME":
            return time(rng.randrange(24), rng.randrange(60), rng.randrange(60))
        if kind == "TIMESTAMP":
            return datetime(2024, 1, 1) + timedelta(
                days=rng.randrange(400), microseconds=rng.randrange(10**9)
            )
        size = rng.randrange(0, min(column.length, 6) + 1)
        return "".join(rng.choice("abcXYZ '%é") for _ in range(size))[: column.length // 2].rstrip()

    def row(self, table: Table, **given: object) -> Row:
        row = {c.name: self.value(c) for c in table.columns}
        for c in table.columns:
            if c.name in table.key and c.name not in given and c.type in ("INTEGER", "SMALLINT"):
                row[c.name] = self.rng.randrange(1, 40)
        row.update(given)
        return row

    def new(self, table: Table, **given: object) -> Change:
        self.rows += 1
        return Change(table.name, self.rows, None, self.row(table, **given))

    def altered(self, table: Table, number: int, **given: object) -> Change:
        before = self.state[table.name][number]
        return Change(table.name, number, dict(before), {**before, **given})

    def gone(self, table: Table, number: int) -> Change:
        return Change(table.name, number, dict(self.state[table.name][number]), None)

    # -- statements and units

    def fill(self, table: Table, count: int, **given: object) -> None:
        """Rows that are there before the log."""
        for _ in range(count * 3):
            if len(self.state[table.name]) < count:
                self.run([self.new(table, **given)])

    def begin(self, **facts: object) -> Unit:
        self.unit = Unit(len(self.units) + 1, **facts)
        self._start = copied(self.state)
        return self.unit

    def run(self, changes: list[Change], order: str = "any") -> bool:
        """One statement: all of it or nothing; keys are checked at its end."""
        self.statements += 1
        changes = list(changes)
        if order == "any":
            self.rng.shuffle(changes)
        changes = [*changes, *self._cascades(changes)]
        state = copied(self.state)
        for change in changes:
            change.statement = self.statements
            if change.after is None:
                state[change.table].pop(change.row)
            else:
                state[change.table][change.row] = dict(change.after)
        if not self._sound(state):
            return False
        self.state = state
        if self.unit is not None:
            self.unit.events += [("do", change) for change in changes]
        return True

    def _cascades(self, changes: list[Change]) -> list[Change]:
        more: list[Change] = []
        deleted = [c for c in changes if c.after is None]
        while deleted:
            cause = deleted.pop()
            parent = self.tables[cause.table]
            for child in self.tables.values():
                for foreign in child.foreign:
                    if foreign.parent != parent.name:
                        continue
                    value = tuple(cause.before[c] for c in parent.key)
                    for number, row in self.state[child.name].items():
                        if tuple(row[c] for c in foreign.columns) != value:
                            continue
                        if any(c.row == number for c in (*changes, *more)):
                            continue
                        if foreign.action == "CASCADE":
                            more.append(self.gone(child, number))
                            deleted.append(more[-1])
                        elif foreign.action == "SET NULL":
                            nulls = dict.fromkeys(foreign.columns)
                            more.append(self.altered(child, number, **nulls))
        return more

    def _sound(self, state: State) -> bool:
        for table in self.tables.values():
            rows = state[table.name].values()
            if any(clashes(rows, key) for key in table.keys):
                return False
            for foreign in table.foreign:
                parent = self.tables[foreign.parent]
                there = {tuple(r[c] for c in parent.key) for r in state[parent.name].values()}
                for row in rows:
                    value = tuple(row[c] for c in foreign.columns)
                    if None not in value and value not in there:
                        return False
        return True

    def savepoint(self) -> tuple[int, State]:
        return len(self.unit.events), copied(self.state)

    def back_to(self, point: tuple[int, State]) -> None:
        """Roll back to a savepoint: the newest change first."""
        length, state = point
        undone = {id(c) for how, c in self.unit.events if how == "undo"}
        left = [c for how, c in self.unit.events[length:] if how == "do" and id(c) not in undone]
        self.unit.events += [("undo", change) for change in reversed(left)]
        self.state = state

    def end(self, abort: bool = False) -> None:
        unit = self.unit
        if abort:
            self.back_to((0, self._start))
            unit.aborted = True
        if unit.events:
            unit.number = len(self.units) + 1
            self.units.append(unit)
        self.unit = None

    def history(self, kind: str, initial: State, **facts: object) -> History:
        """What was made, with units between one another where their rows allow it."""
        tables = list(self.tables.values())
        result = History(kind, tables, initial, self.state, self.units, [], **facts)
        result.units, result.tape = woven(result, self.rng)
        return result


def woven(
    history: History, rng: random.Random
) -> tuple[list[Unit], list[tuple[Unit, str, Change | None]]]:
    """Units in commit order and the tape of records: neighbours that share nothing overlap."""
    tape: list[tuple[Unit, str, Change | None]] = []
    order: list[Unit] = []
    units = list(history.units)
    while units:
        group = [units.pop(0)]
        while units and len(group) < 3 and rng.random() < 0.5:
            if any(_meet(history, other, units[0]) for other in group):
                break
            group.append(units.pop(0))
        queues = [[(unit, how, change) for how, change in unit.events] for unit in group]
        for unit, queue in zip(group, queues, strict=True):
            queue.append((unit, "end", None))
        while queues:
            queue = rng.choice(queues)
            entry = queue.pop(0)
            tape.append(entry)
            if entry[1] == "end":
                order.append(entry[0])
            if not queue:
                queues.remove(queue)
    return order, tape


def _meet(history: History, first: Unit, second: Unit) -> bool:
    """Whether locks would keep them apart."""

    def marks(unit: Unit) -> set[object]:
        found: set[object] = set()
        for _, change in unit.events:
            table = history.table(change.table)
            found.add((change.table, change.row))
            for image in (change.before, change.after):
                if image is not None:
                    found |= {(table.name, k, tuple(image[c] for c in k)) for k in table.keys}
                    if not table.key:
                        found.add((table.name, tuple(map(str, image.values()))))
                    for foreign in table.foreign:
                        parent = history.table(foreign.parent)
                        value = tuple(image[c] for c in foreign.columns)
                        found.add((parent.name, parent.key, value))
        return found

    return bool(marks(first) & marks(second))


# -- histories


def _c(name: str, kind: str, length: int = 0, scale: int = 0, null: bool = True) -> Column:
    return Column(name, kind, length, scale, null)


EXTRAS = [
    ("SMALLINT", 0, 0),
    ("BIGINT", 0, 0),
    ("DECIMAL", 9, 2),
    ("DECIMAL", 4, 0),
    ("DATE", 0, 0),
    ("TIME", 0, 0),
    ("TIMESTAMP", 0, 0),
    ("CHARACTER", 6, 0),
    ("VARCHAR", 20, 0),
    ("DOUBLE", 0, 0),
    ("REAL", 0, 0),
]


def extras(rng: random.Random, count: int, without: tuple[str, ...] = ()) -> list[Column]:
    """Some more columns of any type."""
    columns = []
    for number in range(count):
        kind, length, scale = rng.choice([e for e in EXTRAS if e[0] not in without])
        columns.append(_c(f"C{number}", kind, length, scale, rng.random() < 0.7))
    return columns


def keyed(rng: random.Random, name: str = "T", number: int = 5, **facts: object) -> Table:
    """A table with a key of one whole number, in any place."""
    columns = extras(rng, rng.randrange(1, 4))
    columns.insert(rng.randrange(len(columns) + 1), _c("K", "INTEGER", null=False))
    return Table("APP", name, 2, number, tuple(columns), ("K",), **facts)


def _some(rng: random.Random, numbers: Iterable[int], low: int, high: int) -> list[int]:
    numbers = sorted(numbers)
    return rng.sample(numbers, min(len(numbers), rng.randrange(low, high + 1)))


def mixed(maker: Maker, table: Table, statements: int) -> None:
    """Ordinary statements: inserts, updates (some change nothing), deletes."""
    rng = maker.rng
    for _ in range(statements):
        rows = maker.state[table.name]
        what = rng.random()
        if what < 0.4 or not rows:
            count = rng.choice([1, 1, 2, 3])
            maker.run([maker.new(table) for _ in range(count)])
        elif what < 0.75:
            free = [c for c in table.columns if c.name not in table.key]
            chosen = (
                rng.sample(free, rng.randrange(0, len(free)) + (len(free) == 1)) if free else []
            )
            maker.run(
                [
                    maker.altered(table, n, **{c.name: maker.value(c) for c in chosen})
                    for n in _some(rng, rows, 1, 3)
                ]
            )
        else:
            maker.run([maker.gone(table, n) for n in _some(rng, rows, 1, 2)])


def shifted(maker: Maker, table: Table, columns: tuple[str, ...]) -> bool:
    """SET K = K + d for all rows or a run of them."""
    rng = maker.rng
    rows = maker.state[table.name]
    column = rng.choice(columns)
    live = [n for n in rows if rows[n][column] is not None and abs(rows[n][column]) < 10**4]
    step = rng.choice([1, 1, -1, 2, -3])
    edge = rng.choice([-1000, rng.randrange(1, 20)])
    chosen = [n for n in live if rows[n][column] >= edge] if step > 0 else live
    return maker.run([maker.altered(table, n, **{column: rows[n][column] + step}) for n in chosen])


def turned(maker: Maker, table: Table, key: tuple[str, ...], least: int = 2) -> bool:
    """Rows give their keys to one another in a circle; some change other columns too."""
    rng = maker.rng
    rows = maker.state[table.name]
    live = [n for n in rows if None not in [rows[n][c] for c in key]]
    if len(live) < least:
        return False
    chosen = rng.sample(sorted(live), rng.randrange(least, min(len(live), least + 3) + 1))
    values = [{c: rows[n][c] for c in key} for n in chosen]
    others = [c for c in table.columns if not any(c.name in k for k in table.keys)]
    changes = []
    for number, value in zip(chosen, values[1:] + values[:1], strict=True):
        if others and rng.random() < 0.3:
            column = rng.choice(others)
            value = {**value, column.name: maker.value(column)}
        changes.append(maker.altered(table, number, **value))
    return maker.run(changes)


def taken_over(maker: Maker, table: Table) -> bool:
    """A row goes and another one takes its key: by one statement or two, by update or insert."""
    rng = maker.rng
    rows = maker.state[table.name]
    if len(rows) < 2:
        return False
    old, other = rng.sample(sorted(rows), 2)
    value = {c: rows[old][c] for c in table.key}
    leave = maker.gone(table, old)
    if rng.random() < 0.5:
        take = maker.altered(table, other, **value)
    else:
        take = maker.new(table, **value)
    if rng.random() < 0.5:
        return maker.run([leave, take])
    return maker.run([leave]) and maker.run([take])


def _units(maker: Maker, count: int, work: Callable[[], object]) -> None:
    """Units of such work among ordinary ones, with savepoints and aborts."""
    rng = maker.rng
    for _ in range(count):
        maker.begin(authid=rng.choice(["DB2INST1", "CLERK", "BATCH7"]))
        for _ in range(rng.randrange(1, 4)):
            point = maker.savepoint()
            work()
            if rng.random() < 0.15:
                maker.back_to(point)
        maker.end(abort=rng.random() < 0.12)


def _history(
    kind: str,
    rng: random.Random,
    tables: list[Table],
    work: Callable[[Maker], object],
    *,
    rows: int = 6,
    units: int = 5,
    schema: bool = False,
) -> History:
    maker = Maker(rng, tables)
    for table in tables:
        given = {c: None for f in table.foreign for c in f.columns}
        maker.fill(table, rows, **given)
    initial = copied(maker.state)
    _units(maker, units, lambda: work(maker))
    return maker.history(kind, initial, schema=schema)


def plain_history(rng: random.Random) -> History:
    """Ordinary statements on two tables, with savepoints and aborts."""
    tables = [keyed(rng, "T", 5), keyed(rng, "S", 6)]
    return _history("plain", rng, tables, lambda m: mixed(m, rng.choice(tables), 1))


def shift_history(rng: random.Random) -> History:
    """SET K = K + d for all rows or a run of them."""
    table = keyed(rng)

    def work(maker: Maker) -> None:
        if rng.random() < 0.6:
            shifted(maker, table, ("K",))
        else:
            mixed(maker, table, 1)

    return _history("shift", rng, [table], work)


def swap_history(rng: random.Random) -> History:
    """Rows give their keys to one another, in circles of two to five."""
    table = keyed(rng)

    def work(maker: Maker) -> None:
        if rng.random() < 0.6:
            turned(maker, table, ("K",))
        else:
            mixed(maker, table, 1)

    return _history("swap", rng, [table], work)


def circle_history(rng: random.Random) -> History:
    """Circles of keys of three rows and more, and nothing else."""
    table = keyed(rng)
    return _history("circle", rng, [table], lambda m: turned(m, table, ("K",), 3), units=3)


def composite_history(rng: random.Random) -> History:
    """Keys of two columns that shift or turn in one or both."""
    columns = [_c("A", "INTEGER", null=False), _c("B", "SMALLINT", null=False), *extras(rng, 1)]
    rng.shuffle(columns)
    table = Table("APP", "T", 2, 5, tuple(columns), ("B", "A"))

    def work(maker: Maker) -> None:
        what = rng.random()
        if what < 0.4:
            shifted(maker, table, ("A", "B"))
        elif what < 0.7:
            turned(maker, table, rng.choice([("A",), ("B",), ("A", "B")]))
        else:
            mixed(maker, table, 1)

    return _history("composite", rng, [table], work)


def takeover_history(rng: random.Random) -> History:
    """A row goes and another one takes its key."""
    table = keyed(rng)

    def work(maker: Maker) -> None:
        what = rng.random()
        if what < 0.6:
            taken_over(maker, table)
        elif what < 0.8:
            shifted(maker, table, ("K",))
        else:
            mixed(maker, table, 1)

    return _history("takeover", rng, [table], work)


def unique_history(rng: random.Random) -> History:
    """Values of a second unique key, NULL too, that shift and turn."""
    columns = [_c("K", "INTEGER", null=False), _c("U", "INTEGER"), *extras(rng, 1)]
    table = Table("APP", "T", 2, 5, tuple(columns), ("K",), (("U",),))

    def work(maker: Maker) -> None:
        what = rng.random()
        if what < 0.35:
            shifted(maker, table, ("U",))
        elif what < 0.6:
            turned(maker, table, rng.choice([("U",), ("K",), ("K", "U")]))
        elif what < 0.75:
            taken_over(maker, table)
        else:
            maker.run([maker.new(table, U=rng.choice([None, rng.randrange(40)]))])

    return _history("unique", rng, [table], work, schema=True)


def cascade_history(rng: random.Random) -> History:
    """Parents deleted with their children, and keys taken over in the same unit."""
    action = rng.choice(["CASCADE", "CASCADE", "SET NULL"])
    parent = Table("APP", "P", 2, 5, (_c("K", "INTEGER", null=False), *extras(rng, 1)), ("K",))
    child = Table(
        "APP",
        "C",
        2,
        6,
        (_c("K", "INTEGER", null=False), _c("PK", "INTEGER"), *extras(rng, 1)),
        ("K",),
        foreign=(ForeignKey(("PK",), "P", action),),
    )

    def work(maker: Maker) -> None:
        rows = maker.state["P"]
        what = rng.random()
        if what < 0.35 and rows:
            number = rng.choice(sorted(rows))
            key = rows[number]["K"]
            maker.run([maker.gone(parent, number)], order="as is")
            if rng.random() < 0.6:
                maker.run([maker.new(parent, K=key)])
                maker.run([maker.new(child, PK=key)])
        elif what < 0.7 and rows:
            keys = [row["K"] for row in rows.values()]
            maker.run([maker.new(child, PK=rng.choice(keys)) for _ in range(2)])
        elif what < 0.85:
            shifted(maker, child, ("K",))
        else:
            mixed(maker, parent, 1)

    return _history("cascade", rng, [parent, child], work, schema=True, rows=4)


def keyless_history(rng: random.Random) -> History:
    """A table without key: rows that are equal, NULL, zeroes."""
    columns = (
        _c("A", "INTEGER"),
        _c("B", rng.choice(["VARCHAR", "CHARACTER"]), 4),
        _c("C", rng.choice(["SMALLINT", "DATE", "DECIMAL"]), 4),
    )
    columns = tuple(
        Column(c.name, c.type, 0 if c.type in ("SMALLINT", "DATE") else c.length) for c in columns
    )
    table = Table("APP", "T", 2, 5, columns)
    pool: list[Row] = []

    def work(maker: Maker) -> None:
        if not pool:
            pool.extend(maker.row(table) for _ in range(4))
        rows = maker.state["T"]
        what = rng.random()
        if what < 0.4 or not rows:
            maker.run([maker.new(table, **rng.choice(pool)) for _ in range(rng.randrange(1, 4))])
        elif what < 0.7:
            chosen = _some(rng, rows, 1, 3)
            maker.run([maker.altered(table, n, **rng.choice(pool)) for n in chosen])
        else:
            maker.run([maker.gone(table, n) for n in _some(rng, rows, 1, 2)])

    return _history("keyless", rng, [table], work)


def float_history(rng: random.Random) -> History:
    """A table without key whose rows differ in floats only, 0.0 among them."""
    kind = rng.choice(["DOUBLE", "REAL"])
    table = Table("APP", "T", 2, 5, (_c("F", kind), _c("A", "SMALLINT")))
    tiny = 2.2250738585072014e-308 if kind == "DOUBLE" else 1.1754943508222875e-38

    def work(maker: Maker) -> None:
        rows = maker.state["T"]
        what = rng.random()
        values = [0.0, tiny, -tiny, 1.0, None]
        if what < 0.4 or not rows:
            row = {"F": rng.choice(values), "A": rng.choice([1, None])}
            maker.run([maker.new(table, **row)])
        elif what < 0.7:
            number = rng.choice(sorted(rows))
            maker.run([maker.altered(table, number, F=rng.choice(values))])
        else:
            maker.run([maker.gone(table, rng.choice(sorted(rows)))])

    return _history("float", rng, [table], work)


def link_history(rng: random.Random) -> History:
    """A link table: all its columns are its key, and they shift."""
    columns = (_c("A", "INTEGER", null=False), _c("B", "INTEGER", null=False))
    table = Table("APP", "T", 2, 5, columns, ("A", "B"))

    def work(maker: Maker) -> None:
        what = rng.random()
        if what < 0.5:
            shifted(maker, table, ("A", "B"))
        elif what < 0.7:
            turned(maker, table, ("A", "B"))
        elif what < 0.85 or not maker.state["T"]:
            maker.run([maker.new(table, A=rng.randrange(6), B=rng.randrange(3))])
        else:
            maker.run([maker.gone(table, rng.choice(sorted(maker.state["T"])))])

    maker = Maker(rng, [table])
    start = rng.randrange(5)
    for a in range(start, start + rng.randrange(2, 6)):
        maker.run([maker.new(table, A=a, B=rng.choice([1, 1, 2]))])
    initial = copied(maker.state)
    _units(maker, 4, lambda: work(maker))
    return maker.history("link", initial)


HISTORIES: dict[str, Callable[[random.Random], History]] = {
    "plain": plain_history,
    "shift": shift_history,
    "swap": swap_history,
    "circle": circle_history,
    "composite": composite_history,
    "takeover": takeover_history,
    "unique": unique_history,
    "cascade": cascade_history,
    "keyless": keyless_history,
    "float": float_history,
    "link": link_history,
}
