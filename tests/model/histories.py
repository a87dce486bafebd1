"""Draws histories from seeds: tables, units side by side, and statements of one kind or of all.

A kind is what the statements of a history are likely to be. Everything that a history does is
also kept as text (`Story.told`), so that a failing seed can be read. The kinds:

* plain: rows with a key come, change and go; keys walk in statements of one row
* keyless: tables without a key, equal rows, NULLs
* edges: values at the edge of their types
* segments: long rows, cut into segments
* savepoint: ROLLBACK TO SAVEPOINT, statements the database reversed, aborted units
* cascade: parents and children, deleted together or set to NULL
* reinsert: a key is deleted and inserted again, in one unit and across units
* shift: K = K + 1 and K = K - 1 over many rows of one statement
* swap: two rows of one statement exchange their keys
* circle: three rows and more exchange their keys
* takeover: one statement deletes a row and gives its key to another
* composite: shifts, swaps and circles over composite keys
* unique: shifts, swaps and circles over a unique key
* alike: shifts of rows that are equal but for their key
* link: a table all of whose columns are its key: they shift and turn
* float: a table without a key whose rows differ in floats only, 0.0 among them
* generations: columns are added, keys change, tables are created anew
* idle: updates that change nothing, among others
* incomplete: units that could not be completed, and flags on those that may depend
* incomplete-keys: the same, with parents and children, and keys that shift
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from tests.model.rows import (
    Column,
    Database,
    Edit,
    ForeignKey,
    History,
    Locked,
    Row,
    Table,
    Unit,
    Violation,
    values,
)

Told = list[str]


@dataclass
class Story:
    """A history with what was done, in words."""

    history: History
    kind: str
    told: Told = field(default_factory=list)
    cut: float = 0.0

    def tell(self, text: str) -> None:
        self.told.append(text)


def draw_story(
    rng: random.Random, kind: str, wide: bool = True, steps: int | None = None, digits: int = 6
) -> Story:
    """A history of a kind; `wide` says whether text may have all of Unicode, `digits` how many a
    timestamp has behind its seconds."""
    return Drawer(rng, kind, wide, digits).run(steps)


class Drawer:
    """Draws one history."""

    def __init__(self, rng: random.Random, kind: str, wide: bool, digits: int) -> None:
        self.rng, self.kind, self.wide, self.digits = rng, kind, wide, digits
        self.tags = 0
        tables = self.tables()
        database = Database(tables)
        self.database = database
        for table in tables:
            self.fill(database, table)
        self.story = Story(History(database), kind)
        self.history = self.story.history
        if self.kind == "segments":
            self.story.cut = 0.5
        for table in tables:
            rows = database.rows[table.name]
            keys = ", ".join("(" + ", ".join(key) + ")" for key in table.keys) or "none"
            self.story.tell(f"table {table.name}, keys {keys}")
            for foreign in table.foreign:
                self.story.tell(
                    f"  ({', '.join(foreign.columns)}) -> {foreign.parent} {foreign.on_delete}"
                )
            for rid, row in rows.items():
                self.story.tell(f"  #{rid} {brief(row)}")

    # -- tables and rows ------------------------------------------------------------------------

    def tables(self) -> list[Table]:
        kind = self.kind
        if kind in ("cascade", "incomplete-keys"):
            return self.family()
        if kind == "keyless":
            return [self.keyless("TEST.HEAP"), self.keyless("TEST.PILE")]
        if kind == "composite":
            return [self.composite("TEST.PAIR")]
        if kind == "unique":
            return [self.keyed("TEST.ITEM", unique=True)]
        if kind == "alike":
            name = Column("K", "integer")
            other = Column("P", "varchar", 10, nullable=True)
            return [Table("TEST.LINK", (name, other), ("K",))]
        if kind == "link":
            return [
                Table("TEST.LINK", (Column("A", "integer"), Column("B", "integer")), ("A", "B"))
            ]
        if kind == "float":
            real = Column("F", self.rng.choice(("double", "real")), nullable=True)
            return [Table("TEST.HEAP", (real, Column("P", "integer", nullable=True)))]
        count = self.rng.choice((1, 2))
        out = [self.keyed(f"TEST.T{n}", unique=self.rng.random() < 0.2) for n in range(count)]
        if kind in ("plain", "savepoint", "edges", "segments") and self.rng.random() < 0.5:
            out.append(self.keyless("TEST.HEAP"))
        if kind in ("generations", "incomplete") and self.rng.random() < 0.5:
            out.append(self.keyless("TEST.HEAP"))
        return out

    def payload(self) -> list[Column]:
        """Columns beside the keys; TAG is different in every row that was ever written."""
        out = [Column("TAG", "varchar", 24)]
        pool: list[Column] = [
            Column("N1", "integer", nullable=True), Column("N2", "smallint", nullable=True),
            Column("N8", "bigint", nullable=True), Column("C", "char", 6, nullable=True),
            Column("V", "varchar", 30, nullable=True), Column("W", "varchar", 30),
            Column("M", "decimal", 9, 2, nullable=True), Column("BIG", "decimal", 31, 5),
            Column("F8", "double", nullable=True), Column("F4", "real", nullable=True),
            Column("D", "date", nullable=True), Column("TI", "time", nullable=True),
            Column("TS", "timestamp", 0, self.digits, True),
            Column("X", "varbinary", 12, nullable=True),
        ]  # fmt: skip
        count = self.rng.randint(5, 12) if self.kind == "edges" else self.rng.randint(1, 4)
        out += self.rng.sample(pool, count)
        if self.kind == "segments":
            out.append(Column("LONG", "varchar", 3000, nullable=True))
        return out

    def keyed(self, name: str, unique: bool = False) -> Table:
        kind = "integer"
        if self.kind in ("plain", "edges"):
            kind = self.rng.choice(("integer", "integer", "smallint", "bigint", "decimal", "char"))
        length, scale = {"decimal": (7, 0), "char": (8, 0)}.get(kind, (0, 0))
        columns = [Column("K", kind, length, scale), *self.payload()]
        uniques: tuple[tuple[str, ...], ...] = ()
        if unique:
            columns.insert(1, Column("U", "integer", nullable=self.rng.random() < 0.5))
            uniques = (("U",),)
        if self.rng.random() < 0.3:
            columns.append(columns.pop(0))
        return Table(name, tuple(columns), ("K",), uniques)

    def composite(self, name: str) -> Table:
        columns = [Column("A", "integer"), Column("B", "integer"), *self.payload()]
        key = ("A", "B") if self.rng.random() < 0.7 else ("B", "A")
        return Table(name, tuple(columns), key)

    def keyless(self, name: str) -> Table:
        columns = [c for c in self.payload() if c.name != "TAG"]
        extra = [Column("P", "integer", nullable=True), Column("Q", "varchar", 8, nullable=True)]
        return Table(name, (*extra, *columns))

    def family(self) -> list[Table]:
        """A parent, children, and sometimes children of these."""
        rng = self.rng
        to_unique = rng.random() < 0.3
        parent = self.keyed("TEST.PARENT", unique=to_unique)
        if to_unique:
            columns = tuple(replace(c, nullable=False) if c.name == "U" else c
                            for c in parent.columns)  # fmt: skip
            parent = replace(parent, columns=columns)
        target = ("U",) if to_unique else ("K",)
        out = [parent]
        above = ("TEST.PARENT", target)
        for name in ("TEST.CHILD", "TEST.GRAND")[: rng.choice((1, 1, 2))]:
            rule = rng.choice(("cascade", "cascade", "cascade", "set null"))
            child = self.keyed(name)
            link = Column("REF", "integer", nullable=rule == "set null" or rng.random() < 0.5)
            foreign = ForeignKey(("REF",), above[0], above[1], rule)
            out.append(replace(child, columns=(*child.columns, link), foreign=(foreign,)))
            above = (name, ("K",))
        return out

    def fill(self, database: Database, table: Table) -> None:
        count = self.rng.randint(3, 6)
        for _ in range(count):
            try:
                database.statement([Edit(table.name, None, self.new_row(table))])
            except Violation:
                continue

    def new_row(self, table: Table, **fixed: Any) -> Row:
        row: Row = {}
        for column in table.columns:
            row[column.name] = (
                fixed[column.name] if column.name in fixed else self.value(table, column)
            )
        return row

    def value(self, table: Table, column: Column) -> Any:
        rng = self.rng
        if column.name == "TAG":
            self.tags += 1
            return f"tag {self.tags}"
        for foreign in table.foreign:
            if column.name in foreign.columns:
                there = [values(r, foreign.parent_columns)
                         for r in self.database.rows[foreign.parent].values()]  # fmt: skip
                if there and (not column.nullable or rng.random() < 0.8):
                    return rng.choice(there)[0]  # type: ignore[index]
                return None if column.nullable else 999_999
        if column.name == "F":
            tiny = {"double": 2.2250738585072014e-308, "real": 1.1754943508222875e-38}[column.kind]
            return rng.choice((0.0, tiny, -tiny, 1.0, None))
        if any(column.name in key for key in table.keys):
            if column.nullable and rng.random() < 0.15:
                return None
            number = rng.randint(1, 4 if len(table.key) > 1 else 9)
            match column.kind:
                case "decimal":
                    return Decimal(number)
                case "char":
                    return f"key {number}"
            return number
        if column.nullable and rng.random() < 0.2:
            return None
        if column.name == "P":
            return rng.choice((1, 2)) if column.kind == "integer" else rng.choice("ab")
        if column.name == "Q":
            return rng.choice("xy")
        if not table.key and rng.random() < 0.5:
            return self.plain_value(column, 2)
        return self.edge_value(column) if rng.random() < 0.3 else self.plain_value(column, 50)

    def plain_value(self, column: Column, many: int) -> Any:
        number = self.rng.randint(1, many)
        match column.kind:
            case "decimal":
                return Decimal(number * 25).scaleb(-2).quantize(Decimal(1).scaleb(-column.scale))
            case "char" | "varchar":
                return f"text {number}"[: column.length]
            case "varbinary":
                return bytes([number, 255 - number])
            case "real" | "double":
                return number / 8
            case "date":
                return f"2024-02-{number % 28 + 1:02d}"
            case "time":
                return f"10:{number % 60:02d}:00"
            case "timestamp":
                day = f"2024-02-{number % 28 + 1:02d}"
                return f"{day} 10:20:30.{number:06d}".ljust(20 + column.scale, "0")
        return number

    def edge_value(self, column: Column) -> Any:
        rng = self.rng
        match column.kind:
            case "smallint" | "integer" | "bigint":
                bits = {"smallint": 16, "integer": 32, "bigint": 64}[column.kind]
                return rng.choice((0, -1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1))))
            case "decimal":
                nines = "9" * (column.length - column.scale) + "." + "9" * column.scale
                tiny = "0." + "0" * (column.scale - 1) + "1"
                return Decimal(rng.choice((nines, "-" + nines, "0." + "0" * column.scale,
                                           "-" + tiny)))  # fmt: skip
            case "char" | "varchar":
                pool = ["", "'", "''", "\\", "a'b\\", "\n", "null", "é£", "--", "%s", " x", "/*"]
                if self.wide:
                    pool += ["日本", "😀", "\u0301"]
                text = rng.choice(pool)
                if column.name == "LONG" and rng.random() < 0.7:
                    text = (text or "z") * (2400 // len((text or "z").encode()))
                return text if len(text.encode()) <= column.length else "x"
            case "varbinary":
                return rng.choice((b"", b"\0", b"\xff" * 12, b"'\\"))
            case "double":
                return rng.choice((0.0, -0.1, 1e-70, 7e75, 0.1, 1 / 3, 2.0**53, 123456.123456))
            case "real":
                exact = rng.choice((0.0, 0.5, -0.75, 8388607.0, 2.0**-20, 0.1, 1 / 3))
                short = struct.unpack(">f", struct.pack(">f", exact))[0]
                return fits_short(short)
            case "date":
                return rng.choice(("0001-01-01", "9999-12-31", "2024-02-29"))
            case "time":
                return rng.choice(("00:00:00", "23:59:59"))
            case "timestamp":
                moment = rng.choice(
                    ("0001-01-01 00:00:00.000000", "9999-12-31 23:59:59.999999",
                     "2024-02-29 00:00:00.000001", "2024-03-31 02:30:00.100000")
                )  # fmt: skip
                return moment.ljust(20 + column.scale, "0")
        raise ValueError(column.kind)

    # -- units ----------------------------------------------------------------------------------

    def run(self, steps: int | None) -> Story:
        rng, history = self.rng, self.history
        for _ in range(steps or rng.choice((4, 8, 14, 24, 40))):
            running = history.open_units
            roll = rng.random()
            if not running and self.kind == "generations" and roll < 0.4:
                self.alter()
                continue
            if not running or (roll < 0.15 and len(running) < 3):
                unit = history.begin(rng.choice(("CLERK0", "CLERK1", "BATCH")))
                self.story.tell(f"u{unit.number} begin {unit.user}")
                self.act(unit)
                continue
            unit = rng.choice(running)
            hasty = 0.60 if self.kind == "generations" else 0.40
            if roll < hasty and unit.records:
                self.end(unit)
            elif self.kind == "savepoint" and roll < 0.55:
                self.partly(unit)
            elif self.kind == "generations" and roll < hasty + 0.1:
                self.alter()
            else:
                self.act(unit)
        for unit in history.open_units:
            self.end(unit)
        if self.kind in ("incomplete", "incomplete-keys"):
            self.break_units()
        return self.story

    def end(self, unit: Unit) -> None:
        likely = 0.25 if self.kind == "savepoint" else 0.05
        if self.rng.random() < likely:
            self.history.abort(unit)
            self.story.tell(f"u{unit.number} ROLLBACK")
        else:
            self.history.commit(unit)
            self.story.tell(f"u{unit.number} COMMIT")

    def partly(self, unit: Unit) -> None:
        """Savepoints, and statements that fail half-way."""
        roll = self.rng.random()
        if roll < 0.35:
            self.history.savepoint(unit)
            self.story.tell(f"u{unit.number} SAVEPOINT")
        elif roll < 0.75 and unit.savepoints:
            self.history.rollback_to_savepoint(unit)
            self.story.tell(f"u{unit.number} ROLLBACK TO SAVEPOINT")
        else:
            self.act(unit, failing=True)

    def act(self, unit: Unit, failing: bool = False) -> None:
        """A statement of the history's kind, or none where nothing fits or another unit waits."""
        rng = self.rng
        for _ in range(6):
            table = rng.choice(list(self.history.database.tables.values()))
            edits = rng.choices(*zip(*self.actions(table), strict=True))[0](table)
            if not edits:
                continue
            order = list(range(len(edits)))
            rng.shuffle(order)
            try:
                if failing:
                    self.history.failed_statement(unit, edits)
                    made = unit.records[-len(edits) :]
                else:
                    late = rng.random() < 0.5
                    made = self.history.statement(unit, edits, order, late)
            except (Violation, Locked):
                continue
            self.story.tell(f"u{unit.number} statement on {table.name}" + (" (fails)" * failing))
            for record in made:
                change = record.change
                cause = " by RI" if change.origin == "R" else ""
                self.story.tell(
                    f"    {change.op}{cause} {change.table.name} #{change.rid}"
                    f" {brief(change.before)} -> {brief(change.after)}"
                )
            return

    def actions(self, table: Table) -> list[tuple[Callable[[Table], list[Edit]], float]]:
        """What a statement may do, with weights by kind."""
        out: list[tuple[Callable[[Table], list[Edit]], float]] = [
            (self.insert, 2), (self.update, 3), (self.delete, 1.5),
        ]  # fmt: skip
        kind = self.kind
        if not table.key:
            return out
        if kind in ("plain", "generations", "incomplete"):
            out.append((self.walk, 2))
        if kind in ("reinsert", "plain", "incomplete", "generations"):
            out.append((self.return_of_a_key, 3 if kind == "reinsert" else 1))
        if kind in ("shift", "composite", "unique", "alike", "link"):
            out.append((self.shift, 4))
        if kind == "incomplete-keys" and table.name == "TEST.PARENT":
            out.append((self.shift, 6))
        if kind in ("swap", "circle", "composite", "unique", "link"):
            out.append((self.rotate, 4))
        if kind in ("takeover", "composite", "unique", "alike"):
            out.append((self.takeover, 4))
        if kind in ("cascade", "incomplete-keys"):
            out.append((self.delete, 2))
        return out

    # -- statements -----------------------------------------------------------------------------

    def rows(self, table: Table) -> list[tuple[int, Row]]:
        return list(self.database.rows[table.name].items())

    def insert(self, table: Table) -> list[Edit]:
        return [
            Edit(table.name, None, self.new_row(table))
            for _ in range(self.rng.choice((1, 1, 1, 2)))
        ]

    def update(self, table: Table) -> list[Edit]:
        rows = self.rows(table)
        if not rows:
            return []
        names = [n for n in table.names if not any(n in key for key in table.keys)]
        columns = [c for c in table.columns if c.name in names]
        chosen = self.rng.sample(columns, min(len(columns), self.rng.choice((1, 1, 2))))
        picked = self.rng.sample(rows, min(len(rows), self.rng.choice((1, 1, 2, 3))))
        edits = [
            Edit(table.name, rid, row | {c.name: self.value(table, c) for c in chosen})
            for rid, row in picked
        ]
        if self.kind == "idle":
            return [edit if self.rng.random() < 0.7 else Edit(table.name, edit.rid, row)
                    for edit, (_, row) in zip(edits, picked, strict=True)]  # fmt: skip
        return [e for e, (_, row) in zip(edits, picked, strict=True) if e.row != row]

    def delete(self, table: Table) -> list[Edit]:
        rows = self.rows(table)
        picked = self.rng.sample(rows, min(len(rows), self.rng.choice((1, 1, 1, 2))))
        return [Edit(table.name, rid, None) for rid, _ in picked]

    def walk(self, table: Table) -> list[Edit]:
        """One row gets another key, that nobody has."""
        rows = self.rows(table)
        if not rows or table.name == "TEST.PARENT":
            return []
        rid, row = self.rng.choice(rows)
        names = self.rng.choice(table.keys)
        fresh = {n: self.value(table, c) for n in names for c in table.columns if c.name == n}
        return [Edit(table.name, rid, row | fresh)]

    def return_of_a_key(self, table: Table) -> list[Edit]:
        """Insert a key that once was deleted, or delete a row, for the next time."""
        gone = [
            record.change.before
            for record in self.history.records
            if record.change.table.name == table.name and record.change.op == "D"
        ]
        if not gone or self.rng.random() < 0.3:
            return self.delete(table)
        row = self.rng.choice(gone) or {}
        kept = {n: row[n] for key in table.keys for n in key if n in row}
        return [Edit(table.name, None, self.new_row(table, **kept))]

    def movable(self, table: Table) -> tuple[str, ...]:
        """The columns of a key that may move: of the unique key where the kind asks for it."""
        return table.unique[0] if self.kind == "unique" and table.unique else table.key

    def shift(self, table: Table) -> list[Edit]:
        """K = K + 1 over the rows from some key on, or K = K - 1 up to some key."""
        key = self.movable(table)
        name = self.rng.choice(key)
        rows = [(rid, row) for rid, row in self.rows(table) if row[name] is not None]
        if not rows or not isinstance(rows[0][1][name], int):
            return []
        step = self.rng.choice((1, 1, -1, -1, 2, -2))
        edge = self.rng.choice([row[name] for _, row in rows])
        if self.rng.random() < 0.5:
            edge = -99 if step > 0 else 99
        extra = self.rng.random() < 0.2
        out: list[Edit] = []
        for rid, row in rows:
            if (row[name] >= edge) if step > 0 else (row[name] <= edge):
                new = row | {name: row[name] + step}
                if extra and "TAG" in row:
                    new["TAG"] = row["TAG"] + "'"
                out.append(Edit(table.name, rid, new))
        return out

    def rotate(self, table: Table) -> list[Edit]:
        """Rows exchange their keys in a circle; two rows where the kind is swap."""
        key = self.movable(table)
        rows = [(rid, row) for rid, row in self.rows(table) if values(row, key)]
        most = 2 if self.kind == "swap" else 5
        least = 3 if self.kind == "circle" else 2
        count = self.rng.randint(least, most) if most > least else most
        if len(rows) < count:
            return []
        picked = self.rng.sample(rows, count)
        open_end = self.rng.random() < 0.2
        out: list[Edit] = []
        for place, (rid, row) in enumerate(picked):
            other = picked[(place + 1) % count][1]
            taken = {n: other[n] for n in key}
            if open_end and place == count - 1 and isinstance(other[key[0]], int):
                taken = {key[0]: self.rng.randint(10, 14)}
            out.append(Edit(table.name, rid, row | taken))
        return out

    def takeover(self, table: Table) -> list[Edit]:
        """Delete a row and let another, old or new, have its key; or a chain of such."""
        key = self.movable(table)
        rows = [(rid, row) for rid, row in self.rows(table) if values(row, key)]
        if len(rows) < 2:
            return []
        picked = self.rng.sample(rows, min(len(rows), self.rng.choice((2, 2, 3))))
        out = [Edit(table.name, picked[0][0], None)]
        for place in range(1, len(picked)):
            rid, row = picked[place]
            out.append(Edit(table.name, rid, row | {n: picked[place - 1][1][n] for n in key}))
        if self.rng.random() < 0.4:
            last = picked[-1][1]
            out.append(Edit(table.name, None, self.new_row(table, **{n: last[n] for n in key})))
        return out

    # -- generations ----------------------------------------------------------------------------

    def alter(self) -> None:
        """Another form of a table, while nobody is at work in it."""
        rng = self.rng
        table = rng.choice(list(self.database.tables.values()))
        if any(foreign.parent == table.name
               for t in self.database.tables.values() for foreign in t.foreign):  # fmt: skip
            return
        roll = rng.random()
        names = table.names
        try:
            if roll < 0.5:
                number = table.generation
                new = rng.choice((
                    Column(f"G{number}", "integer", nullable=True),
                    Column(f"G{number}", "varchar", 8, default="new"),
                    Column(f"G{number}", "integer", default=0),
                ))  # fmt: skip
                self.history.alter(replace(table, columns=(*table.columns, new)))
                self.story.tell(f"ALTER {table.name} ADD {new.name}, default {new.default}")
            elif roll < 0.75 and table.key and "TAG" in names:
                key = ("TAG",) if table.key != ("TAG",) else ("K",) if "K" in names else table.key
                self.history.alter(replace(table, key=key))
                self.story.tell(f"ALTER {table.name}, now with the key {', '.join(key)}")
            elif not self.database.rows[table.name]:
                self.history.alter(table, again=True)
                self.story.tell(f"DROP and CREATE {table.name}")
            else:
                self.empty(table)
        except (Locked, Violation):
            return

    def empty(self, table: Table) -> None:
        """Delete all rows in a unit of its own, and create the table anew."""
        unit = self.history.begin()
        edits = [Edit(table.name, rid, None) for rid in self.database.rows[table.name]]
        try:
            self.history.statement(unit, edits)
        except (Locked, Violation):
            self.history.abort(unit)
            return
        self.story.tell(f"u{unit.number} deletes all of {table.name}, and commits")
        self.history.commit(unit)
        self.history.alter(table, again=True)
        self.story.tell(f"DROP and CREATE {table.name}")

    # -- incomplete units -----------------------------------------------------------------------

    def break_units(self) -> None:
        """Take some updates out of some units and flag what may depend on them."""
        rng, history = self.rng, self.history
        able = [u for u in history.committed if any(c.op == "U" for c in u.effective)]
        if not able:
            return
        broken = rng.sample(able, min(len(able), rng.choice((1, 1, 2))))
        for unit in broken:
            unit.incomplete = True
            updates = [r for r in unit.records if r.change.op == "U" and r.disposition == "C"]
            for record in rng.sample(updates, rng.randint(0, min(2, len(updates)))):
                if sum(not r.missing for r in unit.records) > 1:
                    record.missing = True
                    self.story.tell(f"not in the log: u{unit.number} #{record.change.rid}")
            self.story.tell(f"u{unit.number} is flagged incomplete")
        suspect: set[str] = set()
        for unit in history.committed:
            tables = {r.change.table.name for r in unit.records}
            if unit.incomplete:
                suspect |= tables
            elif tables & suspect:
                unit.dependent = True
                suspect |= tables
                self.story.tell(f"u{unit.number} is flagged as perhaps dependent")


def fits_short(value: float) -> float:
    """The nearest number that short hexadecimal and short binary floating point both have."""
    if value == 0:
        return 0.0
    scaled, power = value, 0
    while abs(scaled) >= 1:
        scaled /= 16
        power += 1
    while abs(scaled) < 1 / 16:
        scaled *= 16
        power -= 1
    return float(int(scaled * 2**20) / 2**20 * 16.0**power)


def brief(row: Row | None) -> str:
    """A row in a few characters."""
    if row is None:
        return "nothing"
    return "(" + ", ".join(f"{name} {value!r}"[:40] for name, value in row.items()) + ")"
