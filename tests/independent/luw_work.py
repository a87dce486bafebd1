"""Drawn work on tables of a Db2 LUW database: what its log holds, and the rows at every commit.

Units run side by side under row and key locks. They insert (one row or several), update in place,
move rows to other pages and back, change and rotate keys, delete, go back to savepoints, fail in
the midst of a statement, roll back, or are still open when the log ends.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from tests.independent import luw_desk as d
from tests.independent.luw_desk import Column, Desk

Values = list[Any]
State = dict[str, dict[int, Values]]  # table: number of the row: values
#: In place of the number of a row: its table grew by columns, was dropped, was made.
GROWN, DROPPED, MADE = 0, -1, -2
LETTERS = ["a", "Z", "0", " ", "'", '"', "\\", "é", "Ж", "日", "\n", "%", "\t", ";", "--", "😀"]


def draw(rng: random.Random, column: Column) -> Any:
    """A value for a column, in the form of ``luw_desk.value_bytes``."""
    if column.nullable and rng.random() < 0.2:
        return None
    kind = column.type
    if kind in ("SMALLINT", "INTEGER", "BIGINT"):
        bits = {"SMALLINT": 15, "INTEGER": 31, "BIGINT": 63}[kind]
        return rng.choice([0, -1, 1, 2**bits - 1, -(2**bits), rng.randrange(-999, 9999)])
    if kind in ("DOUBLE", "REAL"):
        return rng.choice([0.0, 1.5, -2.25, 1024.0, rng.randrange(-999, 999) / 8])
    if kind == "DECIMAL":
        most = 10**column.length - 1
        whole = rng.choice([0, most, -most, rng.randint(-most, most), rng.randrange(100)])
        return Decimal((whole < 0, tuple(map(int, str(abs(whole)))), -column.scale))
    if kind == "DATE":
        return rng.choice(["0001-01-01", "9999-12-31", "2000-02-29", "2024-05-15", "2024-09-15"])
    if kind == "TIME":
        return rng.choice(["00:00:00", "23:59:59", f"12:{rng.randint(10, 59)}:01"])
    if kind == "TIMESTAMP":
        fraction = "".join(rng.choice("0189") for _ in range(column.scale))
        day = rng.choice(["0001-01-01", "9999-12-31", "2024-05-17"])
        return f"{day} 0{rng.randint(0, 9)}:00:59" + (f".{fraction}" if fraction else "")
    room = rng.choice([0, 1, column.length // 2, column.length])
    if column.bits:
        raw = bytes(rng.randrange(256) for _ in range(room))
        return raw.ljust(column.length, b"\0") if kind == "CHARACTER" else raw
    text = ""
    for letter in rng.choices(LETTERS, k=column.length):
        if len((text + letter).encode()) > room:
            break
        text += letter
    return text.rstrip(" ") if kind == "CHARACTER" else text


@dataclass
class Row:
    values: Values
    home: tuple[int, int]
    over: tuple[int, int] | None = None
    width: int = 0  # columns that its bytes have
    owner: int | None = None


@dataclass
class Table:
    name: str
    ids: tuple[int, int]
    columns: list[Column]
    key: list[int]
    compressed: bool = False
    from_array: bool = True
    rows: dict[int, Row] = field(default_factory=dict)
    locked: dict[tuple[Any, ...], int] = field(default_factory=dict)  # key values: unit
    known: int = 0  # columns before the log
    holder: int | None = None  # unit that changes its structure
    there: bool = True

    def key_of(self, values: Values) -> tuple[Any, ...]:
        return tuple(values[place] for place in self.key)


@dataclass
class Change:
    """What a record did, and how to take it back."""

    at: int
    operation: str
    table: Table
    rid: tuple[int, int]
    row: bytes  # before an update or delete; what an insert put there
    rids: list[tuple[int, int]] | None = None
    empty_page: bool = False
    again: Callable[[], bytes] | None = None  # the record that takes structure back


@dataclass
class Unit:
    number: int
    prev: int = 0
    changes: list[Change] = field(default_factory=list)
    back: list[Callable[[], None]] = field(default_factory=list)
    done: list[tuple[str, int, Values | None, Values | None]] = field(default_factory=list)
    marks: list[tuple[int, int, int]] = field(default_factory=list)
    left: int = 0


class Work:
    """Draws units and writes what they do to a desk; ``states`` are the rows at each commit."""

    def __init__(self, desk: Desk, tables: list[Table], rng: random.Random) -> None:
        self.desk, self.tables, self.rng = desk, tables, rng
        self.slots = itertools.count(4)
        self.numbers = itertools.count(1)
        self.free: list[tuple[int, int]] = []
        self.committed: State = {table.name: {} for table in tables}
        self.states: list[State] = []
        self.at: list[int] = []
        self.ended: list[Unit] = []
        self.open_units: list[Unit] = []
        self.shapes: list[dict[str, list[Column]]] = []
        self.shape = {table.name: list(table.columns) for table in tables}
        self.made: set[str] = set()  # tables that the log makes
        self.names = itertools.count(10)
        self.lives: list[list[tuple[str, int, Values | None, Values | None]]] = []
        self.when = 1_700_000_000
        self.tids = itertools.count(0xA00)
        self.options = {"moves": 0.2, "many": 0.1, "empty": 0.1}

    # places and rows

    def place(self) -> tuple[int, int]:
        if self.free and self.rng.random() < 0.4:
            return self.free.pop(self.rng.randrange(len(self.free)))
        number = next(self.slots)
        return number // 50 + 1, number % 50

    def image(
        self, table: Table, row: Row | Values, outer: int = d.NORMAL, width: int = 0
    ) -> bytes:
        values = row.values if isinstance(row, Row) else row
        width = width or (row.width if isinstance(row, Row) else 0) or len(table.columns)
        columns, values = table.columns[:width], values[:width]
        if table.compressed:
            body = d.compressed_row(columns, values, self.desk.order, table.from_array)
            return self.desk.row(body, width, outer, inner=2)
        body = d.plain_row(columns, values, self.desk.order, self.rng.choice("cccaef"))
        return self.desk.row(body, d.fixed_length(columns), outer)

    def load(self, table: Table, count: int) -> None:
        """Rows that were there before the log."""
        for _ in range(count):
            values = self.fresh(table)
            if values is not None:
                number = next(self.numbers)
                table.rows[number] = Row(values, self.place(), None, len(table.columns))
                self.committed[table.name][number] = list(values)

    def fresh(self, table: Table) -> Values | None:
        for _ in range(20):
            values = [draw(self.rng, column) for column in table.columns]
            for place in table.key:  # Db2 takes keys that differ in blanks at the end for the same
                if isinstance(values[place], str):
                    values[place] = values[place].rstrip(" ")
            if not table.key or self.free_key(table, table.key_of(values)):
                return values
        return None

    def free_key(self, table: Table, key: tuple[Any, ...]) -> bool:
        return key not in table.locked and all(
            table.key_of(r.values) != key for r in table.rows.values()
        )

    # records

    def put(self, unit: Unit, change: Change, body: bytes, flags: int = d.PROPAGATABLE) -> None:
        change.at = unit.prev = self.desk.write(unit.number, unit.prev, 0x4E, body, flags=flags)
        unit.changes.append(change)

    def put_insert(self, unit: Unit, table: Table, rid: tuple[int, int], row: bytes) -> None:
        empty = self.desk.later and self.rng.random() < self.options["empty"]
        body = self.desk.one(d.INSERT, table.ids, rid, row, empty)
        self.put(unit, Change(0, d.INSERT, table, rid, row, empty_page=empty), body)

    def put_delete(self, unit: Unit, table: Table, rid: tuple[int, int], row: bytes) -> None:
        empty = self.desk.later and self.rng.random() < self.options["empty"]
        body = self.desk.one(d.DELETE, table.ids, rid, row, empty)
        self.put(unit, Change(0, d.DELETE, table, rid, row, empty_page=empty), body)

    def put_update(
        self, unit: Unit, table: Table, rid: tuple[int, int], old: bytes, new: bytes
    ) -> None:
        body = self.desk.update(table.ids, rid, old, new)
        self.put(unit, Change(0, d.UPDATE, table, rid, old), body)

    # what statements do

    def lock(self, unit: Unit, table: Table, *images: Values) -> None:
        if table.key:
            for values in images:
                table.locked[table.key_of(values)] = unit.number

    def mine(self, unit: Unit, table: Table) -> list[int]:
        return [n for n, row in table.rows.items() if row.owner in (None, unit.number)]

    def insert(self, unit: Unit, table: Table) -> None:
        several = self.desk.later and self.rng.random() < self.options["many"]
        made = []
        for _ in range(self.rng.randint(2, 4) if several else 1):
            values = self.fresh(table)
            if values is None:
                continue
            number, row = next(self.numbers), Row(values, self.place(), None, len(table.columns))
            row.owner = unit.number
            self.lock(unit, table, values)
            table.rows[number] = row
            made.append(row)
            unit.back.append(lambda table=table, number=number: table.rows.pop(number))
            unit.done.append((table.name, number, None, list(values)))
        if len(made) > 1:
            rows = [(row.home, self.image(table, row)) for row in made]
            change = Change(0, d.INSERT, table, rows[0][0], b"", [rid for rid, _ in rows])
            self.put(unit, change, self.desk.many(table.ids, rows))
        elif made:
            self.put_insert(unit, table, made[0].home, self.image(table, made[0]))

    def update(self, unit: Unit, table: Table, number: int, values: Values) -> None:
        row = table.rows[number]
        before, home, over, width = list(row.values), row.home, row.over, row.width
        self.lock(unit, table, before, values)
        if before == values and width == len(table.columns):
            pass  # an update that changes nothing is a record too
        old = self.image(table, row, d.OVERFLOW if over else d.NORMAL)
        row.values, row.width, row.owner = list(values), len(table.columns), unit.number
        moves = self.rng.random() < self.options["moves"]
        new_plain, new_over = self.image(table, row), self.image(table, row, d.OVERFLOW)
        if not over and not moves:
            self.put_update(unit, table, home, old, new_plain)
        elif not over:
            row.over = self.place()
            self.put_insert(unit, table, row.over, new_over)
            self.put_update(unit, table, home, old, self.desk.pointer(row.over))
        elif not moves:
            self.put_update(unit, table, over, old, new_over)
        elif self.rng.random() < 0.5:
            row.over = self.place()
            self.put_insert(unit, table, row.over, new_over)
            self.put_delete(unit, table, over, old)
            self.put_update(unit, table, home, self.desk.pointer(over), self.desk.pointer(row.over))
        else:
            row.over = None
            self.put_update(unit, table, home, self.desk.pointer(over), new_plain)
            self.put_delete(unit, table, over, old)

        def back() -> None:
            row.values, row.home, row.over, row.width = before, home, over, width

        unit.back.append(back)
        unit.done.append((table.name, number, before, list(values)))

    def delete(self, unit: Unit, table: Table, number: int) -> None:
        row = table.rows.pop(number)
        self.lock(unit, table, row.values)
        row.owner = unit.number
        if row.over:
            steps = [
                (row.home, self.desk.pointer(row.over)),
                (row.over, self.image(table, row, d.OVERFLOW)),
            ]
            if self.rng.random() < 0.5:
                steps.reverse()
            for rid, image in steps:
                self.put_delete(unit, table, rid, image)
        else:
            self.put_delete(unit, table, row.home, self.image(table, row))

        def back() -> None:
            table.rows[number] = row

        unit.back.append(back)
        unit.done.append((table.name, number, list(row.values), None))

    def rotate(self, unit: Unit, table: Table) -> None:
        """Some rows pass their keys on to one another, as ``SET ID = …`` of many rows does."""
        numbers = self.mine(unit, table)
        if not table.key or len(numbers) < 2:
            return
        chosen = self.rng.sample(numbers, min(len(numbers), self.rng.randint(2, 4)))
        keys = [table.key_of(table.rows[n].values) for n in chosen]
        for number, key in zip(chosen, keys[1:] + keys[:1], strict=True):
            values = list(table.rows[number].values)
            for place, value in zip(table.key, key, strict=True):
                values[place] = value
            self.update(unit, table, number, values)

    def some_update(self, unit: Unit, table: Table) -> None:
        numbers = self.mine(unit, table)
        if not numbers:
            return
        number = self.rng.choice(numbers)
        values = list(table.rows[number].values)
        fresh = self.fresh(table)
        if fresh is None:
            return
        places = set(self.rng.sample(range(len(values)), self.rng.randint(0, len(values))))
        if self.rng.random() < 0.7:
            places -= set(table.key)
        elif table.key:
            places |= set(table.key)
        for place in places:
            values[place] = fresh[place]
        if table.key:
            key = table.key_of(values)
            if key != table.key_of(table.rows[number].values) and not self.free_key(table, key):
                return
        self.update(unit, table, number, values)

    # structure

    def free_of_others(self, unit: Unit, table: Table) -> bool:
        return (
            table.holder in (None, unit.number)
            and all(row.owner in (None, unit.number) for row in table.rows.values())
            and all(owner == unit.number for owner in table.locked.values())
            and not any(
                table.name == done[0]
                for other in self.open_units
                if other is not unit
                for done in other.done
            )
        )

    def put_structure(
        self, unit: Unit, table: Table, kind: int, body: bytes, again: Callable[[], bytes]
    ) -> None:
        change = Change(0, "structure", table, (0, 0), b"", again=again)
        change.at = unit.prev = self.desk.write(unit.number, unit.prev, kind, body)
        unit.changes.append(change)
        table.holder = unit.number

    def add_columns(self, unit: Unit, table: Table) -> None:
        old = list(table.columns)
        kind = self.rng.choice(
            [
                Column("X", "INTEGER"),
                Column("X", "VARCHAR", 9),
                Column("X", "DECIMAL", 7, 3),
                Column("X", "CHARACTER", 4),
                Column("X", "TIMESTAMP", 10, 6),
            ]
        )
        more = [
            Column(f"A{len(old) + place}", kind.type, kind.length, kind.scale)
            for place in range(self.rng.randint(1, 2))
        ]
        ids, new = table.ids, old + more
        self.put_structure(
            unit,
            table,
            0x4E,
            self.desk.add_columns(ids, old, new),
            lambda: self.desk.add_columns(ids, new, old, 104),
        )
        table.columns = new
        for row in table.rows.values():
            row.values = [*row.values, *(None for _ in more)]

        def back() -> None:
            table.columns = old
            for row in table.rows.values():
                del row.values[len(old) :]

        unit.back.append(back)
        unit.done.append((table.name, GROWN, None, list(more)))

    def create(self, unit: Unit) -> None:
        number = next(self.names)
        table = draw_tables(self.rng, False)[0]
        table.name, table.ids, table.known = f"T{number}", (9, 40 + number), 0
        self.tables.append(table)
        self.committed[table.name] = {}
        ids = table.ids
        self.put_structure(
            unit, table, 0x4E, self.desk.dom(101, ids, 56), lambda: self.desk.dom(130, ids, 56)
        )
        body = self.desk.initialize(ids, table.columns)
        unit.prev = self.desk.write(unit.number, unit.prev, 0x52, body)

        def back() -> None:
            table.there = False
            table.rows.clear()

        unit.back.append(back)
        unit.done.append((table.name, MADE, None, list(table.columns)))
        self.made.add(table.name)

    def drop(self, unit: Unit, table: Table) -> None:
        ids, rows = table.ids, dict(table.rows)
        self.put_structure(unit, table, 0x4E, self.desk.dom(4, ids), lambda: self.desk.dom(5, ids))
        table.there = False
        table.rows.clear()

        def back() -> None:
            table.there = True
            table.rows.update(rows)

        unit.back.append(back)
        unit.done.append((table.name, DROPPED, None, None))

    def structure(self, unit: Unit) -> None:
        draw = self.rng.random()
        tables = [t for t in self.tables if t.there and self.free_of_others(unit, t)]
        if draw < 0.3 and len(self.tables) < 7:
            self.create(unit)
        elif tables and draw < 0.75 and not self.desk.later:
            table = self.rng.choice(tables)
            if not table.compressed and len(table.columns) < 9:
                self.add_columns(unit, table)
        elif tables and draw > 0.9:
            self.drop(unit, self.rng.choice(tables))

    def act(self, unit: Unit) -> None:
        if self.rng.random() < self.options.get("structure", 0):
            self.structure(unit)
            return
        tables = [t for t in self.tables if t.there and t.holder in (None, unit.number)]
        if not tables:
            return
        table = self.rng.choice(tables)
        draw = self.rng.random()
        if draw < 0.35:
            self.insert(unit, table)
        elif draw < 0.7:
            self.some_update(unit, table)
        elif draw < 0.78:
            self.rotate(unit, table)
        else:
            numbers = self.mine(unit, table)
            if numbers:
                self.delete(unit, table, self.rng.choice(numbers))

    # ends, wholly or in part

    def mark(self, unit: Unit) -> tuple[int, int, int]:
        return len(unit.changes), len(unit.back), len(unit.done)

    def back_to(self, unit: Unit, mark: tuple[int, int, int], most: int | None = None) -> None:
        """Compensate what a unit did since a mark; ``most`` records, where the log ends."""
        changes, backs, done = mark
        while len(unit.changes) > changes:
            if most is not None and most <= 0:
                return
            most = None if most is None else most - 1
            change = unit.changes.pop()
            following = unit.changes[-1].at if unit.changes else 0
            undone = (following, change.at)
            ids = change.table.ids
            if change.again:
                record = change.again()
                if record:
                    unit.prev = self.desk.write(unit.number, unit.prev, 0x43, record, undone=undone)
                continue
            if change.rids:
                body = self.desk.undo_many(ids, list(reversed(change.rids)))
            else:
                code = None
                if change.empty_page and change.operation == d.INSERT:
                    code = 131
                body = self.desk.undo(change.operation, ids, change.rid, change.row, code)
                if change.empty_page and change.operation == d.DELETE:
                    body = self.desk.half(166, ids, change.rid, change.row, more=6)
            unit.prev = self.desk.write(unit.number, unit.prev, 0x43, body, undone=undone)
        while len(unit.back) > backs:
            unit.back.pop()()
        del unit.done[done:]

    def release(self, unit: Unit) -> None:
        for table in self.tables:
            for row in table.rows.values():
                if row.owner == unit.number:
                    row.owner = None
            if table.holder == unit.number:
                table.holder = None
            for key in [key for key, owner in table.locked.items() if owner == unit.number]:
                del table.locked[key]

    def commit(self, unit: Unit) -> None:
        self.when += self.rng.randint(0, 3)
        self.unit_end(unit)
        for table, number, _, after in unit.done:
            if number == GROWN:
                self.shape[table] = [*self.shape[table], *(after or ())]
                for values in self.committed[table].values():
                    values.extend(None for _ in after or ())
            elif number == DROPPED:
                self.committed[table].clear()
                del self.shape[table]
            elif number == MADE:
                self.shape[table] = list(after or ())
            elif after is None:
                del self.committed[table][number]
            else:
                self.committed[table][number] = list(after)
        self.snap()
        self.lives.append(unit.done)
        self.ended.append(unit)
        self.release(unit)

    def unit_end(self, unit: Unit) -> None:
        self.at.append(
            self.desk.commit(unit.number, unit.prev, self.when, f"USER{unit.number % 3}")
        )

    def snap(self) -> None:
        self.states.append(
            {t: {n: list(v) for n, v in rows.items()} for t, rows in self.committed.items()}
        )
        self.shapes.append(dict(self.shape))

    def run(self, units: int, together: int = 3) -> None:
        self.snap()
        open_units = self.open_units
        rng = self.rng
        while units or open_units:
            if units and len(open_units) < together and rng.random() < 0.5:
                unit = Unit(next(self.tids), left=rng.randint(1, 9))
                open_units.append(unit)
                units -= 1
            if not open_units:
                continue
            unit = rng.choice(open_units)
            step = rng.random()
            if unit.left > 0:
                unit.left -= 1
                if step < 0.12:
                    unit.marks.append(self.mark(unit))
                elif step < 0.2 and unit.marks:
                    mark = unit.marks.pop(rng.randrange(len(unit.marks)))
                    unit.marks = [other for other in unit.marks if other < mark]
                    self.back_to(unit, mark)
                elif step < 0.3:
                    mark = self.mark(unit)  # a statement that fails
                    for _ in range(rng.randint(1, 3)):
                        self.act(unit)
                    self.back_to(unit, mark)
                else:
                    self.act(unit)
                continue
            open_units.remove(unit)
            if not units and rng.random() < 0.1:
                if rng.random() < 0.5:
                    self.back_to(unit, (0, 0, 0), most=1)
                continue  # still open at the end of the log; its locks stay
            if rng.random() < 0.2:
                self.back_to(unit, (0, 0, 0))
                if rng.random() < 0.8:
                    self.desk.abort(unit.number, unit.prev, "USER9")
                self.release(unit)
            elif unit.prev:
                self.commit(unit)
            else:
                self.release(unit)


def catalog(tables: list[Table], width: dict[str, int] | None = None) -> str:
    lines = [
        "TBSPACEID,TABLEID,TABSCHEMA,TABNAME,DATACAPTURE,COLNO,COLNAME,TYPENAME,LENGTH,SCALE,NULLS,"
        "CODEPAGE,KEYSEQ,GENERATED,IDENTITY"
    ]
    for table in tables:
        for place, column in enumerate(table.columns[: (width or {}).get(table.name)]):
            page = 0 if column.bits or column.type not in ("VARCHAR", "CHARACTER") else 1208
            seq = table.key.index(place) + 1 if place in table.key else ""
            lines.append(
                f"{table.ids[0]},{table.ids[1]},APP,{table.name},Y,{place},{column.name},"
                f"{column.type},{column.catalog_length()},{column.scale},"
                f"{'Y' if column.nullable else 'N'},{page},{seq},,N"
            )
    return "\n".join(lines) + "\n"


def draw_tables(rng: random.Random, compressed: bool) -> list[Table]:
    kinds = [
        Column("N", "SMALLINT"),
        Column("N", "BIGINT"),
        Column("N", "DECIMAL", 9, 2),
        Column("N", "DECIMAL", 4, 0),
        Column("N", "DECIMAL", 31, 10),
        Column("N", "DOUBLE"),
        Column("N", "CHARACTER", 5),
        Column("N", "VARCHAR", 20),
        Column("N", "VARCHAR", 3),
        Column("N", "DATE"),
        Column("N", "TIME"),
        Column("N", "TIMESTAMP", 10, 6),
        Column("N", "VARCHAR", 8, bits=True),
        Column("N", "INTEGER"),
        Column("N", "CHARACTER", 3, bits=True),
    ]
    tables = []
    for number in range(rng.randint(1, 3)):
        key_form = rng.choice(["one", "one", "text", "two", "none"])
        keys = {
            "one": [Column("K", "INTEGER", nullable=False)],
            "text": [Column("K", "VARCHAR", 6, nullable=False)],
            "two": [Column("K", "DATE", nullable=False), Column("L", "SMALLINT", nullable=False)],
            "none": [],
        }[key_form]
        columns = list(keys)
        for place in range(rng.randint(1, 5)):
            kind = rng.choice(kinds)
            columns.insert(
                rng.randint(0, len(columns)),
                Column(
                    f"C{place}", kind.type, kind.length, kind.scale, rng.random() < 0.7, kind.bits
                ),
            )
        table = Table(
            f"T{number}",
            (rng.randint(2, 4), 5 + number),
            columns,
            [columns.index(key) for key in keys],
        )
        table.compressed = compressed and rng.random() < 0.3
        table.from_array = rng.random() < 0.5
        tables.append(table)
    return tables


def draw_work(
    seed: int, release: str, order: str, framing: str, units: int = 25, structure: float = 0
) -> Work:
    rng = random.Random(f"{seed} {release} {order} {framing}")
    gap = None
    desk = Desk(release, order, framing, gap=gap)
    work = Work(desk, draw_tables(rng, compressed=release != "v7"), rng)
    work.options["structure"] = structure
    for table in work.tables:
        work.load(table, rng.randint(0, 12))
    work.run(units)
    return work
