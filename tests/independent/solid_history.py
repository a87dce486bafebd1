"""Random histories of a solidDB database, with the export of its log and its true rows.

Transactions stand one behind the other, as the log has them; statements of one row and of many,
keys that change, walk and go round.
"""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal
from itertools import islice
from pathlib import Path

from tests.independent import values
from tests.independent.judge import Case
from tests.independent.solid_export import (
    AFTER,
    BEFORE,
    COMMIT,
    DELETE,
    INSERT,
    START,
    TYPES,
    Export,
    Form,
    write_system_tables,
)
from tests.independent.tables import (
    NAMES,
    Column,
    Place,
    Row,
    Table,
    drawn_key,
    exactly,
    new_row,
    shifted,
    state_of,
)
from tests.independent.values import Value

_KEYS = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "DECIMAL", "CHAR", "VARCHAR", "WVARCHAR"),
    *("DATE", "TIMESTAMP"),
)
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64}


def shown(column: Column, value: Value) -> object:
    """As a database compares them: decimals are logged with digits of their own."""
    if value is not None and column.kind in ("DECIMAL", "NUMERIC"):
        return Decimal(str(value))
    return exactly(column, value)


class History:
    """Makes a history at once; ``export`` and the tables hold what came of it. ``bytes_too``:
    columns of bytes, in which no framing shows."""

    def __init__(
        self, seed: object, form: Form, changes: int = 40, tables: int = 3, bytes_too: bool = True
    ) -> None:
        self.pick = random.Random(f"independent solid {seed}")
        self.form, self.bytes_too = form, bytes_too
        self.export = Export(form)
        self.count: Counter[str] = Counter()
        #: What each transaction did to rows, as the log has it.
        self.number, self.place = 659, 0
        self.tables = [self._table(number) for number in range(tables)]
        for table in self.tables:
            for _ in range(self.pick.randint(0, 12)):
                row = self._row(table)
                if row is not None:
                    self._put(table, row)
        self.before = state_of(self.tables)
        while self.count["changes"] < changes:
            self._unit()
        self.after = state_of(self.tables)

    # -- tables and rows

    def _table(self, number: int) -> Table:
        pick = self.pick
        columns = [self._column(name) for name in pick.sample(NAMES, pick.randint(1, 9))]
        if not self.bytes_too:  # a text that ends in a zero byte tells the framing
            columns[0] = Column(columns[0].name, "VARCHAR", 20, 0, columns[0].nullable)
        key = drawn_key(pick, columns, _KEYS)
        first = len(columns)
        if first > 2 and pick.random() < 0.3:  # the last ones were added later
            first = max([pick.randint(1, first - 1), *(n + 1 for n in key)])
        columns = [
            Column(c.name, c.kind, c.length, c.scale, c.nullable and n not in key)
            for n, c in enumerate(columns)
        ]
        schema = pick.choice(("DBA", "DBA", "S2"))
        name = pick.choice((f"T{number}", f"T{number}", f"Tab le'{number}"))
        place = (10_012 + 7 * number, 0)
        return Table(schema, name, place, tuple(columns), tuple(key), first)

    def _column(self, name: str) -> Column:
        pick = self.pick
        kinds = [kind for kind in TYPES if self.bytes_too or "BINARY" not in kind]
        kind = pick.choice([*kinds, "VARCHAR", "DECIMAL", "INTEGER"])
        length, scale = pick.choice((1, 2, 4, 8, 20, 60)), 0
        if kind in ("DECIMAL", "NUMERIC"):
            length = pick.choice((1, 2, 3, 5, 9, 10, 15, 16, 18, 31, 38, 52))
            scale = pick.randint(0, min(length, 31))
        elif "LONG" in kind:
            length = 300
        return Column(name, kind, length, scale, pick.random() < 0.55)

    def _value(self, column: Column, key: bool) -> Value:
        pick, length = self.pick, column.length
        if column.nullable and pick.random() < 0.2:
            return None
        match column.kind:
            case "TINYINT" | "SMALLINT" | "INTEGER" | "BIGINT" as kind:
                return values.whole(pick, _BITS[kind])
            case "REAL":
                return values.single(pick)
            case "FLOAT" | "DOUBLE PRECISION":
                return values.double(pick)
            case "DECIMAL" | "NUMERIC":
                return values.decimal(pick, length, column.scale)
            case "DATE":
                return values.day(pick)
            case "TIME":
                return values.hour(pick)
            case "TIMESTAMP":
                return values.moment(pick, pick.choice((3, 6, 9))).ljust(29, "0")
            case "BINARY":
                return values.octets(pick, length)
            case "VARBINARY" | "LONG VARBINARY":
                return values.octets(pick, pick.randint(0, min(20, length)))
        if column.kind in ("WCHAR", "WVARCHAR", "LONG WVARCHAR"):
            found = values.text(pick, 2 * length, "utf-16-be")
        else:
            found = values.text(pick, length)
        return found.rstrip(" ") if key or column.kind in ("CHAR", "WCHAR") else found

    def _row(
        self, table: Table, old: Row | None = None, rate: float = 1, rekey: bool = True
    ) -> Row | None:
        """A row that may be there beside the others."""

        def value(number: int, column: Column) -> Value:
            return self._value(column, number in table.key)

        return new_row(self.pick, table, value, lambda _: True, old, rate, rekey)

    def _put(self, table: Table, row: Row) -> None:
        self.place += 1
        table.put((self.place, 0), row)

    # -- transactions and statements

    def _unit(self) -> None:
        pick, export, trx = self.pick, self.export, self._next()
        export.put(START, trx, trx)
        if self.form.nothing and pick.random() < 0.3:
            export.nothing()
        for _ in range(pick.choice((0, 1, 1, 2, 5, pick.randint(1, 15)))):
            if pick.random() < 0.05:  # what DDL writes to a system table
                export.put(INSERT, trx, self._next(), pick.choice((1, 8001, 9999)), b"\1\2\3")
            self._statement(trx, self._next(), pick.choice(self.tables))
        export.put(COMMIT, trx, trx)
        self.count["commits"] += 1
        if self.form.nothing and pick.random() < 0.2:
            export.nothing()

    def _next(self) -> int:
        self.number += 1
        return self.number - 1

    def _statement(self, trx: int, number: int, table: Table) -> None:
        pick, what = self.pick, self.pick.random()
        there = list(islice(reversed(table.rows), 100))
        some = pick.sample(there, min(len(there), pick.choice((1, 1, 1, 3))))
        if what < 0.08 and table.key and there:
            self._shift(trx, number, table, there[:30])
        elif what < 0.4 or not there:
            for _ in range(pick.choice((1, 1, 1, 3))):
                row = self._row(table)
                if row is not None:
                    self._put(table, row)
                    self._wrote(trx, number, table, None, row)
        else:
            for place in some:
                old, new = table.rows[place], None
                if what < 0.72:
                    rate, rekey = pick.choice((0, 0.3, 0.6, 1)), pick.random() < 0.25
                    new = self._row(table, old, rate, rekey)
                    if new is None:
                        continue
                table.take(place)
                if new is not None:
                    table.put(place, new)
                self._wrote(trx, number, table, old, new)

    def _wrote(self, trx: int, number: int, table: Table, old: Row | None, new: Row | None) -> None:
        """The rows of the log that a change writes; a key that changes is a delete and an
        insert (9.1, 9.2)."""
        self.count["changes"] += 1
        pairs = [(DELETE, old), (INSERT, new)]
        if old is not None and new is not None:
            if table.key_of(old) == table.key_of(new):
                pairs = [(BEFORE, old), (AFTER, new)]
            else:
                self.count["keys"] += 1
            if self.form.after_first:
                pairs.reverse()
        for recid, row in pairs:
            if row is not None:
                self.export.row(recid, trx, number, table, row)

    def _shift(self, trx: int, number: int, table: Table, there: list[Place]) -> None:
        """Keys of many rows walk by a number, or go round, in one statement."""
        pick = self.pick
        able = [at for at in table.key if table.columns[at].kind in _BITS]
        if not able:
            return
        at = pick.choice(able)
        if pick.random() < 0.5:
            there = pick.sample(there, min(len(there), pick.randint(1, 6)))
        most = 1 << _BITS[table.columns[at].kind] - 1
        step, circle = pick.choice((1, 1, -1, 2)), len(there) > 1 and pick.random() < 0.4
        rows = shifted(table, there, at, None if circle else step, most)
        if rows is None:
            return
        self.count["shifts"] += 1
        for place in there:
            self._wrote(trx, number, table, table.rows[place], rows[place])
        for place in there:
            table.take(place)
        for place in there:
            table.put(place, rows[place])


def case_of(history: History, folder: Path, named: bool, export: Export | None = None) -> Case:
    """The export (or another one of the history) and the system tables on disk. ``named``: the
    command is told the framing."""
    log = (export or history.export).write(folder)
    write_system_tables(history.tables, folder)
    source = ("--source", "soliddb", "--log", str(log), "--catalog", str(folder))
    source += ("--framing", history.form.name) if named else ()
    return Case(source, history.tables, history.before, history.after, folder, shown)
