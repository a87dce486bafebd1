"""Tables and their rows, and what a database holds of them. It knows no logs."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from tests.independent.values import Value

Row = tuple[Value, ...]
#: Where a row lies: page and slot, or a number in place of them.
Place = tuple[int, int]
State = Mapping[str, Sequence[Row]]
#: How a value is compared: a log need not tell two values apart that a database holds as one.
Shown = Callable[["Column", Value], object]

#: Types of columns of Db2, as often as they are drawn.
KINDS = (
    *("SMALLINT", "INTEGER", "BIGINT", "DECIMAL", "DECIMAL", "DECIMAL", "CHAR", "CHAR", "VARCHAR"),
    *("VARCHAR", "VARCHAR", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP"),
)
#: Those that columns of a key have.
KEYS = ("SMALLINT", "INTEGER", "BIGINT", "DECIMAL", "CHAR", "VARCHAR", "DATE", "TIMESTAMP")
NAMES = (
    *("ID", "NAME", "ORDER", "select", "Mixed Case", "A1", "GROUP", "VALUE", "X_Y", "TS", "Ärger"),
    *('q"t', "DATE", "KEY", "NOTE", "AMOUNT", "C"),
)


@dataclass(frozen=True)
class Column:
    """``length``: bytes or characters of text, digits of a number. ``bit``: FOR BIT DATA;
    ``mixed``: text of one and of two bytes. ``default`` as catalogs have it, ``flags`` as a log of
    Db2 LUW; ``removed``: it was dropped, and its place is kept."""

    name: str
    kind: str
    length: int = 0
    scale: int = 0
    nullable: bool = True
    bit: bool = False
    mixed: bool = False
    default: str = ""
    flags: int = 0
    removed: bool = False


@dataclass
class Table:
    """A table with the rows that it has now. ``key``: columns of its primary key, by number.
    ``first``: how many columns it was created with; the others were added later."""

    schema: str
    name: str
    number: tuple[int, int]
    columns: tuple[Column, ...]
    key: tuple[int, ...]
    first: int
    rows: dict[Place, Row] = field(default_factory=dict)
    held: dict[Row, set[Place]] = field(default_factory=dict)

    def key_of(self, row: Row) -> Row:
        """The values of the key; text is padded with blanks to be compared."""
        values = (row[number] for number in self.key)
        return tuple(v.rstrip(" ") if isinstance(v, str) else v for v in values)

    def put(self, place: Place, row: Row) -> None:
        self.rows[place] = row
        if self.key:
            self.held.setdefault(self.key_of(row), set()).add(place)

    def take(self, place: Place) -> Row:
        row = self.rows.pop(place)
        if self.key:
            places = self.held[self.key_of(row)]
            places.discard(place)
            if not places:
                del self.held[self.key_of(row)]
        return row

    def has_key_of(self, row: Row) -> bool:
        return bool(self.key) and self.key_of(row) in self.held


def drawn_key(pick: random.Random, columns: Sequence[Column], kinds: Collection[str]) -> list[int]:
    """The columns of a primary key, if there is one: some of these kinds."""
    able = [n for n, column in enumerate(columns) if column.kind in kinds and not column.bit]
    if pick.random() >= 0.85:
        return []
    return pick.sample(able, min(len(able), pick.choice((1, 1, 1, 2, 3))))


def new_row(
    pick: random.Random,
    table: Table,
    value: Callable[[int, Column], Value],
    is_free: Callable[[Row], bool],
    old: Row | None = None,
    rate: float = 1,
    rekey: bool = True,
) -> Row | None:
    """A row that may be there beside the others, made of ``old`` with some new values (``rate`` of
    them, and those of the key only with ``rekey``); None if none was found. ``is_free``: whether
    nobody else holds the key of a row."""
    for _ in range(8):
        row = tuple(
            value(number, column)
            if old is None or (rekey if number in table.key else pick.random() < rate)
            else old[number]
            for number, column in enumerate(table.columns)
        )
        if not table.key or (old is not None and table.key_of(row) == table.key_of(old)):
            return row
        if not table.has_key_of(row) and is_free(row):
            return row
    return None


def shifted(
    table: Table, there: Sequence[Place], at: int, step: int | None, most: int
) -> dict[Place, Row] | None:
    """Some rows when their keys walk by ``step`` in column ``at``, whose values lie below ``most``,
    or go round (None). None where two rows would have one key, or a value would be too large."""
    rows = dict[Place, Row]()
    for place, other in zip(there, [*there[1:], *there[:1]], strict=True):
        row = list(table.rows[place])
        if step is None:
            for part in table.key:
                row[part] = table.rows[other][part]
        value = row[at]
        if step is not None and isinstance(value, int):
            if not -most <= value + step < most:
                return None
            row[at] = value + step
        rows[place] = tuple(row)
    keys = {table.key_of(row) for row in rows.values()}
    others = any(not table.held.get(key, set()) <= set(there) for key in keys)
    return None if others or len(keys) < len(rows) else rows


def state_of(tables: Sequence[Table]) -> dict[str, list[Row]]:
    return {table.name: list(table.rows.values()) for table in tables}


# -- a database


def quoted(name: str) -> str:
    return '"' + name.lower().replace('"', '""') + '"'


def stored(value: Value) -> Value:
    """A value as scripts for SQLite write it."""
    return format(value, "f") if isinstance(value, Decimal) else value


def place_of(table: Table) -> str:
    return f"{quoted(table.schema)}.{quoted(table.name)}"


def exactly(column: Column, value: Value) -> object:
    """Type and text: 1 is not 1.0, nor is 0.0 -0.0."""
    return type(value).__name__, repr(stored(value))


@dataclass
class Target:
    """A SQLite database with some tables, their primary keys and rows. Columns have no type, so
    values stay as they are written."""

    tables: Sequence[Table]
    base: sqlite3.Connection

    @classmethod
    def of(cls, tables: Sequence[Table], rows: State) -> Target:
        """Tables that ``rows`` lacks are not there yet."""
        base = sqlite3.connect(":memory:", isolation_level=None)
        for schema in sorted({quoted(table.schema) for table in tables}):
            base.execute(f"ATTACH ':memory:' AS {schema}")
        target = cls(tables, base)
        for table in tables:
            if table.name in rows:
                target.create(table, rows[table.name])
        return target

    def create(self, table: Table, rows: Sequence[Row] = ()) -> None:
        parts = [quoted(column.name) for column in table.columns]
        if table.key:
            names = ", ".join(quoted(table.columns[number].name) for number in table.key)
            parts.append(f"PRIMARY KEY ({names})")
        self.base.execute(f"CREATE TABLE {place_of(table)} ({', '.join(parts)})")
        marks = ", ".join("?" * len(table.columns))
        values = (tuple(map(stored, row)) for row in rows)
        self.base.executemany(f"INSERT INTO {place_of(table)} VALUES ({marks})", values)

    def columns_of(self, table: Table) -> list[str]:
        """Names of columns; none where there is no such table."""
        asked = "SELECT name FROM pragma_table_info(?, ?) ORDER BY cid"
        rows = self.base.execute(asked, (table.name.lower(), table.schema.lower()))
        return [name for (name,) in rows]

    def apply(self, folder: Path) -> str | None:
        """Run the scripts of a folder, a statement a line; the first error, with its statement."""
        for file in sorted(folder.glob("*.sql")):
            for line in file.read_bytes().decode().split("\n"):
                if not line.strip() or line.startswith("--"):
                    continue
                try:
                    self._run(line)
                except sqlite3.Error as error:
                    return f"{file.name}: {error}: {line[:300]}"
        return None

    def _run(self, line: str) -> None:
        there = {table.name for table in self.tables if self.columns_of(table)}
        self.base.execute(line)
        if not line.startswith("CREATE TABLE"):
            return
        for table in self.tables:
            found = self.columns_of(table)
            if table.name in there or not found:
                continue
            if found != [column.name.lower() for column in table.columns]:
                raise sqlite3.DataError(f"columns {found}")
            # SQLite would make numbers of its own of what goes into columns with types.
            self.base.execute(f"DROP TABLE {place_of(table)}")
            self.create(table)

    def difference(self, state: State, shown: Shown) -> str | None:
        """What it lacks of a state and has beside it, of the first table where they differ."""
        for table in self.tables:

            def counted(rows: Sequence[Row], table: Table = table) -> Counter[tuple[object, ...]]:
                return Counter(tuple(map(shown, table.columns, map(stored, row))) for row in rows)

            if (table.name in state) is not bool(self.columns_of(table)):
                return f"{table.name} is there, or is not, and should not, or should"
            if table.name not in state:
                continue
            found = counted(self.base.execute(f"SELECT * FROM {place_of(table)}").fetchall())
            expected = counted(state[table.name])
            if found != expected:
                less, more = (expected - found).most_common(2), (found - expected).most_common(2)
                return f"{table.name} {table.columns} lacks {less}, has {more} beside"
        return None
