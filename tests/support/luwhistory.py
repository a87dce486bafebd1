"""Random histories of a database with Db2 LUW logs: concurrent transactions with nested savepoints,
failed work, rows that move, tables that change.

The state is kept twice: as the log that is written, and as plain dictionaries of what the tables
hold.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from tests.support.luwbuilder import Col, LogBuilder, Tab, Transaction

Row = tuple[Any, ...]
COLUMNS = (
    Col("ID", "INTEGER", key=1),
    Col("NAME", "VARCHAR", 60, null=True),
    Col("PRICE", "DECIMAL", 8, 3, null=True),
    Col("BORN", "DATE"),
    Col("AT", "TIMESTAMP", scale=6, null=True),
    Col("CODE", "CHARACTER", 4),
    Col("SHARE", "DOUBLE"),
    Col("NOTE", "VARCHAR", 60),
)
ADDED = (Col("MORE", "BIGINT", null=True), Col("WHY", "VARCHAR", 30, null=True))
COMPRESSED = Tab(
    3, 9, "APP", "PACKED", (*COLUMNS[:5], Col("LEFT", "SMALLINT", null=True)), compressed=True
)
PLAIN = Tab(3, 8, "APP", "PLAIN", COLUMNS)
LATE = Tab(3, 300, "APP", "LATE", COLUMNS[:4])


@dataclass
class Held:
    """A row: its values, where it lives, and where its moved part lies (None: at home)."""

    values: Row
    rid: tuple[int, int]
    moved: tuple[int, int] | None = None


@dataclass
class Open:
    """An open transaction: how to take back each change in the model, and where savepoints are."""

    log: Transaction
    undo: list[Callable[[], None]] = field(default_factory=list)
    marks: list[tuple[int, int]] = field(default_factory=list)
    locked: set[tuple[str, int]] = field(default_factory=set)


@dataclass
class History:
    """``rows[table][id]`` is what the tables hold now, by name; ``tables`` those that exist,
    ``points`` states after commits."""

    seed: int
    dialect: str = "v97"
    big: bool = False
    framing: str = "flt16"
    structure: bool = True

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.log = LogBuilder(self.dialect, self.big, self.framing)
        tables = (PLAIN,) if self.dialect == "v7" else (PLAIN, COMPRESSED)
        self.tables = {table.name: table for table in tables}
        self.rows: dict[str, dict[int, Held]] = {name: {} for name in self.tables}
        self.open: list[Open] = []
        self.next_id = self.next_slot = 1
        self.commits = 0

    # -- values
    # ---------------------------------------------------------------------------------------------

    def values(self, table: Tab, number: int) -> Row:
        made: list[Any] = [number]
        for column in table.columns[1:]:
            made.append(None if column.null and self.random.random() < 0.25 else self.value(column))
        return tuple(made)

    def value(self, column: Col) -> Any:
        pick = self.random
        if column.type == "VARCHAR":
            return "".join(
                pick.choice("abcXYZ 'ä€\\") for _ in range(pick.choice((0, 1, 5, 12)))
            ).rstrip() + pick.choice(("", "!"))
        return {
            "DECIMAL": lambda: (
                f"{pick.choice(('-', ''))}{pick.randrange(1, 99999)}.{pick.randrange(1000):03d}"
            ),
            "DATE": lambda: (
                f"{pick.randrange(1, 9999):04d}-{pick.randrange(1, 13):02d}"
                f"-{pick.randrange(1, 29):02d}"
            ),
            "TIMESTAMP": lambda: (
                f"20{pick.randrange(100):02d}-02-28"
                f" {pick.randrange(24):02d}:59:00.{pick.randrange(10**6):06d}"
            ),
            "CHARACTER": lambda: pick.choice(("A", "bc", "Zzzz")),
            "DOUBLE": lambda: pick.choice((0.0, -1.5, 1e300, 0.1)),
            "SMALLINT": lambda: pick.randrange(-32768, 32767),
            "BIGINT": lambda: pick.randrange(-(2**62), 2**62),
        }[column.type]()

    def slot(self) -> tuple[int, int]:
        self.next_slot += 1
        return self.next_slot // 200, self.next_slot % 200

    # -- one step
    # ---------------------------------------------------------------------------------------------

    def run(self, steps: int) -> History:
        for _ in range(steps):
            self.step()
        return self

    def step(self) -> None:
        choice = self.random.random()
        if len(self.open) < 2 or (choice < 0.1 and len(self.open) < 5):
            self.open.append(Open(self.log.begin()))
            return
        unit = self.random.choice(self.open)
        if choice < 0.68:
            self.change(unit)
        elif choice < 0.76:
            unit.marks.append((len(unit.undo), len(unit.log.written)))
        elif choice < 0.86 and unit.marks:
            mark = unit.marks.pop(self.random.randrange(len(unit.marks)))
            unit.marks = [known for known in unit.marks if known <= mark]
            self.roll_back(unit, *mark)
        elif choice < 0.93:
            self.commit(unit)
        elif choice < 0.96:
            self.roll_back(unit, 0, 0)
            if self.random.random() < 0.7:
                unit.log.abort()
            self.open.remove(unit)
        elif self.structure:
            self.alter()

    def commit(self, unit: Open) -> None:
        unit.log.commit(1_000_000_000 + self.commits, self.random.choice(("ANNA", "BERT")))
        self.commits += 1
        self.open.remove(unit)

    def roll_back(self, unit: Open, changes: int, records: int) -> None:
        unit.log.rollback_to(records, named=self.random.random() < 0.8)
        while len(unit.undo) > changes:
            unit.undo.pop()()

    def free_rows(self, unit: Open, name: str) -> list[int]:
        taken = set().union(*(other.locked for other in self.open if other is not unit))
        return [number for number in self.rows[name] if (name, number) not in taken]

    def change(self, unit: Open) -> None:
        name = self.random.choice(list(self.tables))
        table, rows = self.tables[name], self.rows[name]
        free = self.free_rows(unit, name)
        if not free or self.random.random() < 0.4:
            number = self.next_id
            self.next_id += 1
            held = Held(self.values(table, number), self.slot())
            unit.log.insert(table, held.values, held.rid)
            rows[number] = held
            unit.undo.append(lambda: rows.pop(number) and None)
        else:
            number = self.random.choice(free)
            held = rows[number]
            unit.undo.append(lambda: rows.update({number: held}))
            if self.random.random() < 0.3:
                self.delete(unit, table, held)
                del rows[number]
            else:
                rows[number] = self.update(unit, table, held)
        unit.locked.add((name, number))

    def delete(self, unit: Open, table: Tab, held: Held) -> None:
        if held.moved is None:
            unit.log.delete(table, held.values, held.rid)
        else:
            unit.log.delete_pointer(table, held.rid)
            unit.log.delete(table, held.values, held.moved, outer=4)

    def update(self, unit: Open, table: Tab, held: Held) -> Held:
        log = unit.log
        values = (
            held.values[0],
            *(
                new if self.random.random() < 0.5 else old
                for old, new in zip(held.values[1:], self.values(table, 0)[1:], strict=True)
            ),
        )
        moves = self.random.random() < 0.35
        if not moves:
            log.update(
                table,
                held.values,
                values,
                held.moved or held.rid,
                outer=0 if held.moved is None else 4,
            )
            return replace(held, values=values)
        if held.moved is None:
            place = self.slot()
            log.insert(table, values, place, outer=4)
            log.update(table, table.row(held.values, self.big), log.pointer(), held.rid)
            return Held(values, held.rid, place)
        if self.random.random() < 0.5:
            place = self.slot()
            log.insert(table, values, place, outer=4)
            log.delete(table, held.values, held.moved, outer=4)
            log.update(table, log.pointer(), log.pointer(), held.rid)
            return Held(values, held.rid, place)
        log.update(table, log.pointer(), table.row(values, self.big), held.rid)
        log.delete(table, held.values, held.moved, outer=4)
        return Held(values, held.rid)

    # -- structure
    # ---------------------------------------------------------------------------------------------

    def alter(self) -> None:
        """Structure changes want the table alone: everybody else ends first."""
        for unit in list(self.open):
            self.commit(unit)
        unit = Open(self.log.begin())
        self.open.append(unit)
        kind = self.random.choice(("create", "add", "truncate", "reorg", "undone add"))
        plain = self.tables["PLAIN"]
        if kind == "create" and "LATE" not in self.tables:
            unit.log.create(LATE)
            self.tables["LATE"], self.rows["LATE"] = LATE, {}
        elif kind == "create":
            unit.log.drop(LATE)
            del self.tables["LATE"], self.rows["LATE"]
        elif kind.endswith("add") and len(plain.columns) == len(COLUMNS):
            added = replace(plain, columns=(*plain.columns, *ADDED))
            logged = unit.log.add_columns(added, len(plain.columns))
            if kind == "undone add":
                unit.log.undo(logged)
            else:
                self.tables["PLAIN"] = added
                for number, held in self.rows["PLAIN"].items():
                    self.rows["PLAIN"][number] = replace(held, values=(*held.values, None, None))
        elif kind == "truncate":
            unit.log.truncate(plain)
            self.rows["PLAIN"] = {}
        elif kind == "reorg":
            unit.log.reorg(plain)
        self.commit(unit)

    # -- what must come out
    # ---------------------------------------------------------------------------------------------

    def finish(self) -> dict[str, dict[int, Row]]:
        """The committed state: open transactions stay open in the log and count as never made."""
        for unit in reversed(self.open):
            while unit.undo:
                unit.undo.pop()()
        return {
            name: {number: held.values for number, held in sorted(rows.items())}
            for name, rows in self.rows.items()
        }

    @property
    def catalog(self) -> list[Tab]:
        """The tables as an export at the end would show them."""
        return [self.tables.get(table.name, table) for table in (PLAIN, COMPRESSED, LATE)]
