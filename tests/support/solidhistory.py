"""Random histories of a database with SYS_LOG exports: transactions with updates, changed and
swapped keys, tables without key, tables that change.

The state is kept twice: as the rows that are written, and as plain dictionaries of what the tables
hold.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

from tests.support.solidbuilder import Col, Framing, LogBuilder, Tab, Unit

Row = tuple[Any, ...]
COLUMNS = (
    Col("ID", "INTEGER", null=False),
    Col("NAME", "VARCHAR", 60),
    Col("WIDE", "WVARCHAR", 60),
    Col("PRICE", "DECIMAL", 8, 3),
    Col("BORN", "DATE", null=False),
    Col("AT", "TIMESTAMP"),
    Col("SHARE", "DOUBLE PRECISION"),
    Col("RAW", "VARBINARY", 60),
    Col("RS_ANAME_TUPLE_VERSION", "BIGINT", attr=2),
)
ADDED = Col("MORE", "BIGINT")
MAIN = Tab(10_100, "APP", "MAIN", COLUMNS, key=("ID",))
PAIR = Tab(
    10_101,
    "APP",
    "PAIR",
    (Col("A", "INTEGER", null=False), Col("B", "VARCHAR", 9, null=False), *COLUMNS[1:]),
    key=("B", "A"),
)
LATE = Tab(10_102, "APP", "LATE", COLUMNS[:4], key=("ID",))


def with_column(table: Tab) -> Tab:
    return replace(table, columns=(*table.columns, ADDED))


def without_column(table: Tab, name: str) -> Tab:
    gone = next(column for column in table.columns if column.name == name)
    hidden = replace(gone, name=f"$SYS_DELETED_77_{name}", attr=8)
    return replace(
        table, columns=tuple(hidden if column is gone else column for column in table.columns)
    )


def create_text(table: Tab) -> str:
    sized = {"VARCHAR": "({0})", "WVARCHAR": "({0})", "DECIMAL": "({0},{1})"}
    columns = [
        f"{column.name}"
        f" {column.type}{sized.get(column.type, '').format(column.length, column.scale)}"
        f"{'' if column.null else ' NOT NULL'}"
        for column in table.user()
    ]
    return (
        f"CREATE TABLE {table.name} ({', '.join(columns)}, PRIMARY KEY ({', '.join(table.key)}))"
        " STORE MEMORY"
    )


@dataclass
class History:
    """``rows[table]`` holds what the tables hold now, by key; ``texts``: whether the log has the
    statements of DDL."""

    seed: int
    framing: Framing
    size: int = 20
    texts: bool = True
    structure: bool = True
    columns: str = "A"
    kinds: tuple[str, ...] = ("create", "add", "drop column", "truncate", "index")

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.log = LogBuilder(self.framing, size=self.size)
        self.tables = {"MAIN": MAIN, "PAIR": PAIR}
        self.rows: dict[str, dict[Row, Row]] = {name: {} for name in self.tables}
        self.next = 1
        self.done: set[str] = set()

    def run(self, units: int) -> History:
        for _ in range(units):
            self.unit()
        return self

    def unit(self) -> None:
        pick = self.random
        if self.structure and pick.random() < 0.08:
            self.alter()
            return
        unit = self.log.begin()
        unit.columns = self.columns
        for _ in range(pick.randrange(1, 7)):
            if pick.random() < 0.1:
                self.log.nop()
            self.change(unit)
        unit.commit()
        if pick.random() < 0.1:
            self.log.nop()

    # -- rows
    # ---------------------------------------------------------------------------------------------

    def value(self, column: Col) -> Any:
        pick = self.random
        if column.null and pick.random() < 0.25:
            return None
        if column.type in ("VARCHAR", "WVARCHAR"):
            return "".join(
                pick.choice("abcXYZ 'ä€😀\\") for _ in range(pick.choice((0, 1, 5, 12)))
            ) + pick.choice(("", "!"))
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
                f" {pick.randrange(24):02d}:59:00.{pick.randrange(10**6):06d}000"
            ),
            "DOUBLE PRECISION": lambda: pick.choice((0.0, -1.5, 1e300, 0.1)),
            "VARBINARY": lambda: pick.randbytes(pick.choice((0, 1, 7))) + b"\7",
            "BIGINT": lambda: pick.randrange(-(2**62), 2**62),
        }[column.type]()

    def make(self, table: Tab) -> Row:
        self.next += 1
        given = {"ID": self.next, "A": self.next, "B": f"k{self.next % 3}"}
        return tuple(
            given[column.name] if column.name in given else self.value(column)
            for column in table.user()
        )

    def key(self, table: Tab, row: Row) -> Row:
        names = [column.name for column in table.user()]
        return tuple(row[names.index(name)] for name in table.key)

    def change(self, unit: Unit) -> None:
        pick = self.random
        name = pick.choice(list(self.tables))
        table, rows = self.tables[name], self.rows[name]
        choice = pick.random()
        if not rows or choice < 0.4:
            row = self.make(table)
            unit.insert(table, row)
            rows[self.key(table, row)] = row
            return
        old = rows[pick.choice(list(rows))]
        if choice < 0.55:
            unit.delete(table, old)
            del rows[self.key(table, old)]
        elif choice < 0.85:
            self.update(unit, table, rows, old)
        elif len(rows) > 1:
            self.swap(unit, table, rows)

    def update(self, unit: Unit, table: Tab, rows: dict[Row, Row], old: Row) -> None:
        new = list(self.make(table))
        fixed = [place for place, column in enumerate(table.user()) if column.name in table.key]
        if self.random.random() < 0.7:
            for place in fixed:
                new[place] = old[place]
        unit.update(table, old, tuple(new), turned=self.random.random() < 0.4)
        del rows[self.key(table, old)]
        rows[self.key(table, tuple(new))] = tuple(new)

    def swap(self, unit: Unit, table: Tab, rows: dict[Row, Row]) -> None:
        """Two rows exchange their keys in one statement."""
        one, other = (rows[key] for key in self.random.sample(list(rows), 2))
        fixed = [place for place, column in enumerate(table.user()) if column.name in table.key]
        new_one = tuple(
            other[place] if place in fixed else value for place, value in enumerate(one)
        )
        new_other = tuple(
            one[place] if place in fixed else value for place, value in enumerate(other)
        )
        unit.next_statement()
        for old, new in ((one, new_one), (other, new_other)):
            unit.one(4, table, old)
            unit.one(1, table, new)
        rows[self.key(table, new_one)], rows[self.key(table, new_other)] = new_one, new_other

    # -- structure
    # ---------------------------------------------------------------------------------------------

    def alter(self) -> None:
        """One DDL statement, in a transaction of its own, each at most once but truncation."""
        kind = self.random.choice(self.kinds)
        if kind in self.done or (kind == "drop column" and "add" not in self.done):
            kind = "truncate"
        if kind not in self.kinds:
            return
        unit = self.log.begin()
        self.done.add(kind)
        main = self.tables["MAIN"]
        if kind == "create":
            self.ddl(unit, 45, "SHOP.APP.LATE", LATE, create_text(LATE))
            self.tables["LATE"], self.rows["LATE"] = LATE, {}
        elif kind == "add":
            self.ddl(unit, 22, "MAIN", main, "ALTER TABLE MAIN ADD COLUMN MORE BIGINT")
            self.tables["MAIN"] = with_column(main)
            self.rows["MAIN"] = {key: (*row, None) for key, row in self.rows["MAIN"].items()}
        elif kind == "drop column":
            self.ddl(unit, 22, "MAIN", main, "ALTER TABLE MAIN DROP COLUMN NAME")
            self.tables["MAIN"] = without_column(main, "NAME")
            self.rows["MAIN"] = {key: (row[0], *row[2:]) for key, row in self.rows["MAIN"].items()}
        elif kind == "index":
            self.ddl(unit, 16, "MAIN_I", None, "CREATE INDEX MAIN_I ON MAIN (PRICE)")
        else:
            self.ddl(unit, 73, "PAIR", PAIR, "TRUNCATE TABLE PAIR")
            self.rows["PAIR"] = {}
        unit.commit()

    def ddl(self, unit: Unit, kind: int, info: str, table: Tab | None, text: str) -> None:
        relid = None if table is None else table.relid
        unit.ddl(
            kind,
            info,
            relid,
            text if self.texts else None,
            sql=self.random.choice(("record", "first", "tail")),
        )

    @property
    def catalog(self) -> list[Tab]:
        """The tables as an export at the end would show them."""
        return list(self.tables.values())
