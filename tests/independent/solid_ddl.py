"""Random histories of a solidDB database whose tables change all the time, also in the midst of
transactions: columns come, go and get other names, tables too; and tables are emptied, dropped, and
made again under the same name with other columns and another key.
"""

from __future__ import annotations

import copy
import csv
import json
import random
import struct
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from tests.independent import solid_export, values
from tests.independent.solid_export import (
    AFTER,
    BEFORE,
    COMMIT,
    DDL,
    DELETE,
    INSERT,
    START,
    STATEMENT,
    TYPES,
    VARYING,
    Export,
    Form,
)
from tests.independent.tables import Column
from tests.independent.values import Value

#: Types of columns, as DDL has them.
_TYPES = {
    "INTEGER": "INTEGER",
    "BIGINT": "BIGINT",
    "VARCHAR": "VARCHAR(20)",
    "DECIMAL": "DECIMAL(9,2)",
    "DATE": "DATE",
    "VARBINARY": "VARBINARY(20)",
    "TIMESTAMP": "TIMESTAMP",
}
_KINDS = tuple(_TYPES)
_NAMES = tuple("ABCDEFGHI")
_TABLES = ("T0", "T1", "T2", "T3", "T4")
_ACTS = (
    *("add", "add", "drop", "name", "move", "again", "again", "gone", "create", "empty"),
)  # fmt: skip
Named = dict[str, Value]


@dataclass
class Attribute:
    """A column; ``removed``: its place is kept."""

    name: str
    kind: str
    nullable: bool = True
    removed: bool = False

    @property
    def text(self) -> str:
        return f"{self.name} {_TYPES[self.kind]}{'' if self.nullable else ' NOT NULL'}"


@dataclass
class Relation:
    """A table; ``first``: how many columns it was made with."""

    relid: int
    name: str
    columns: list[Attribute]
    key: list[str]
    rows: list[Named] = field(default_factory=list)
    first: int = 0

    def __post_init__(self) -> None:
        self.first = len(self.columns)

    def shown(self) -> list[Attribute]:
        return [column for column in self.columns if not column.removed]

    def form(self) -> Relation:
        """The table as system tables tell of it: without its rows."""
        found = copy.deepcopy(self)
        found.rows, found.first = [], self.first
        return found


@dataclass
class Stand:
    """What there is after a commit, which ends the first ``lines`` of the log: the tables, and of
    those that were dropped how they were at a commit before, and the place of the drop."""

    lines: int
    tables: list[Relation]
    dropped: dict[int, tuple[Relation, int, int]]


class Changing:
    """Makes a history at once: ``export``, the tables ``before``, and where it ``stands`` after
    each transaction."""

    def __init__(self, seed: object, form: Form, units: int) -> None:
        self.pick = random.Random(f"changing {seed}")
        self.form, self.export = form, Export(form)
        self.relid, self.number, self.acts = 10_012, 700, 0
        self.names = ["N3", "N2", "N1"]
        self.tables: dict[str, Relation] = {}
        self.dropped: dict[int, tuple[Relation, int, int]] = {}
        for name in _TABLES[:2]:
            self.tables[name] = table = self._table(name)
            for _ in range(self.pick.randint(0, 6)):
                self._insert(table, 0)
        self.before = copy.deepcopy(list(self.tables.values()))
        self.stands: list[Stand] = []
        while len(self.stands) < units:
            self._unit()

    def _table(self, name: str) -> Relation:
        pick = self.pick
        self.relid += 7
        names = pick.sample(_NAMES[:5], pick.randint(2, 5))
        columns = [Attribute(one, pick.choice(_KINDS)) for one in names]
        if pick.random() < 0.2:
            return Relation(self.relid, name, columns, [])
        columns[0] = Attribute(names[0], pick.choice(("INTEGER", "VARCHAR", "BIGINT")), False)
        return Relation(self.relid, name, columns, names[:1])

    def _value(self, column: Attribute) -> Value:
        pick = self.pick
        if column.nullable and pick.random() < 0.25:
            return None
        match column.kind:
            case "INTEGER":
                return pick.randint(-5, 300)
            case "BIGINT":
                return pick.randint(-(2**40), 2**40)
            case "DECIMAL":
                return Decimal(f"{pick.randint(-99_999, 99_999)}E-2")
            case "DATE":
                return values.day(pick)
            case "TIMESTAMP":
                return values.moment(pick, 6) + "000"
            case "VARBINARY":
                return values.octets(pick, pick.randint(1, 5))
        return pick.choice(("a", "", "b c", "x'y", "é", str(pick.randint(0, 99))))

    def _row(self, table: Relation, old: Named | None = None) -> Named | None:
        for _ in range(9):
            row = {
                column.name: self._value(column)
                if old is None or self.pick.random() < 0.5
                else old[column.name]
                for column in table.shown()
            }
            others = [other for other in table.rows if other is not old]
            if not table.key or all(
                any(other[name] != row[name] for name in table.key) for other in others
            ):
                return row
        return None

    # -- transactions

    def _next(self) -> int:
        self.number += 1
        return self.number

    def _unit(self) -> None:
        pick, trx = self.pick, self.begin()
        for _ in range(pick.choice((1, 2, 4))):
            if pick.random() < 0.2:
                self._change(trx)
            for _ in range(pick.choice((1, 2, 4))):
                if self.tables:
                    self._statement(trx, pick.choice(list(self.tables.values())))
        self.commit(trx)

    def _image(self, recid: int, trx: int, statement: int, table: Relation, row: Named) -> None:
        parts = [
            (
                self.form.bytes_of(Column(one.name, one.kind, 20, 2), row[one.name]),
                TYPES[one.kind][1] in VARYING,
            )
            for one in table.shown()
        ]
        self.export.put(recid, trx, statement, table.relid, self.form.image(parts))

    def _insert(self, table: Relation, trx: int) -> None:
        row = self._row(table)
        if row is not None:
            table.rows.append(row)
            if trx:
                self._image(INSERT, trx, self._next(), table, row)

    def _statement(self, trx: int, table: Relation) -> None:
        what = self.pick.random()
        if what < 0.5 or not table.rows:
            self._insert(table, trx)
            return
        at = self.pick.randrange(len(table.rows))
        old, statement = table.rows[at], self._next()
        if what < 0.7:
            del table.rows[at]
            self._image(DELETE, trx, statement, table, old)
            return
        new = self._row(table, old)
        if new is None:
            return
        table.rows[at] = new
        moves = any(old[name] != new[name] for name in table.key)
        for recid, row in zip((DELETE, INSERT) if moves else (BEFORE, AFTER), (old, new),
                              strict=True):  # fmt: skip
            self._image(recid, trx, statement, table, row)

    # -- DDL (8, 13)

    def _ddl(self, trx: int, table: Relation, number: int, info: str, text: str) -> None:
        statement, name = self._next(), info.encode()
        data = struct.pack(">iI", number, len(name)) + name
        self.export.put(DDL, trx, statement, table.relid, data)
        self.export.put(STATEMENT, trx, statement, table.relid, text.encode())
        self.acts += 1

    def _alter(self, trx: int, table: Relation, text: str) -> None:
        self._ddl(trx, table, 22, table.name, f"ALTER TABLE {table.name} {text}")

    def _create(self, trx: int, name: str) -> None:
        table = self.tables[name] = self._table(name)
        columns = [column.text for column in table.columns]
        columns += [f"PRIMARY KEY ({', '.join(table.key)})"] if table.key else []
        self._ddl(trx, table, 45, f"CAT.DBA.{name}", f"CREATE TABLE {name} ({', '.join(columns)})")

    def _change(self, trx: int) -> None:
        pick, act = self.pick, self.pick.choice(_ACTS)
        unused = [name for name in _TABLES if name not in self.tables]
        if not self.tables or act == "create":
            if unused:
                self._create(trx, pick.choice(unused))
            return
        table = pick.choice(list(self.tables.values()))
        free = [name for name in _NAMES if name not in {one.name for one in table.columns}]
        if act == "add" and free:
            self.add(trx, table, Attribute(pick.choice(free), pick.choice(_KINDS)))
        elif act == "drop":
            able = [column for column in table.shown() if column.name not in table.key]
            if len(able) > 1:
                self.remove(trx, table, pick.choice(able))
        elif act == "name" and free:
            self.rename(trx, table, pick.choice(table.shown()), pick.choice(free))
        elif act == "empty":
            self._ddl(trx, table, 73, table.name, f"TRUNCATE TABLE {table.name}")
            table.rows.clear()
        elif act == "move" and self.names:
            self.move(trx, table, self.names.pop())  # a name that no table had before
        elif act in ("again", "gone"):
            self._drop(trx, table, act == "again")

    def add(self, trx: int, table: Relation, column: Attribute) -> None:
        self._alter(trx, table, f"ADD COLUMN {column.text}")
        table.columns.append(column)
        table.rows = [{**row, column.name: None} for row in table.rows]

    def remove(self, trx: int, table: Relation, column: Attribute) -> None:
        self._alter(trx, table, f"DROP COLUMN {column.name}")
        for row in table.rows:
            del row[column.name]
        column.name, column.removed = f"$SYS_DELETED_{self.acts}_{column.name}", True

    def rename(self, trx: int, table: Relation, column: Attribute, name: str) -> None:
        self._alter(trx, table, f"RENAME COLUMN {column.name} {name}")
        for row in table.rows:
            row[name] = row.pop(column.name)
        table.key = [name if one == column.name else one for one in table.key]
        column.name = name

    def move(self, trx: int, table: Relation, name: str) -> None:
        """The table gets another name."""
        self._ddl(
            *(trx, table, 47, f"CAT.DBA.{name}"),
            f"ALTER TABLE {table.name} SET TABLE NAME {name}",
        )
        del self.tables[table.name]
        self.tables[name], table.name = table, name

    def put(self, trx: int, table: Relation, row: Named) -> None:
        """A row is inserted."""
        table.rows.append(row)
        self._image(INSERT, trx, self._next(), table, row)

    def begin(self) -> int:
        trx = self._next()
        self.export.put(START, trx, trx)
        return trx

    def commit(self, trx: int) -> None:
        self.export.put(COMMIT, trx, trx)
        tables = copy.deepcopy(list(self.tables.values()))
        self.stands.append(Stand(len(self.export.lines), tables, dict(self.dropped)))

    def _drop(self, trx: int, table: Relation, again: bool) -> None:
        """The system tables must have been read while the table was there."""
        last = self.stands[-1] if self.stands else Stand(1, self.before, {})
        known = [one for one in last.tables if one.relid == table.relid]
        if not known:
            return
        self._ddl(trx, table, 17, table.name, f"DROP TABLE {table.name}")
        del self.tables[table.name]
        self.dropped[table.relid] = known[0].form(), len(self.export.lines), last.lines - 1
        if again:
            self._create(trx, table.name)

    # -- on disk

    def write(self, start: int, stand: Stand, folder: Path) -> list[str]:
        """The lines from ``start`` up to where the history stands, as one read session; how the
        command is told of it."""
        folder.mkdir()
        lines = self.export.lines
        log = Export(self.form, lines[start : stand.lines]).write(folder)
        gone = {k: entry for k, entry in stand.dropped.items() if start < entry[1]}
        ends = [lines[at - 1].address.hex().upper() if at else None for at in (start, stand.lines)]
        session = {"start_logaddr": ends[0], "last_commit_logaddr": ends[1]}
        read = {str(k): lines[at].address.hex().upper() for k, (_, _, at) in gone.items()}
        _write_system_tables(folder, [*stand.tables, *(form for form, _, _ in gone.values())])
        manifest = {"char_encoding": "UTF8", "sessions": [session], "dropped_tables": read}
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        where = ["--source", "soliddb", "--log", str(log), "--catalog", str(folder)]
        return [*where, "--framing", self.form.name]

    def write_rows(self, folder: Path) -> Path:
        """The rows before the log, as unloads have them."""
        folder.mkdir()
        for table in self.before:
            lines = [",".join(f'"{one.name}"' for one in table.columns)]
            lines += [",".join(map(unloaded, row.values())) for row in table.rows]
            text = "".join(f"{line}\n" for line in lines)
            (folder / f"{table.name}.csv").write_text(text, encoding="utf-8", newline="")
        return folder


def unloaded(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return f"\\x{value.hex()}" if isinstance(value, bytes) else str(value)


def _write_system_tables(folder: Path, tables: list[Relation]) -> None:
    rows: dict[str, list[solid_export.Cells]] = {
        name: [] for name in ("sys_tables", "sys_columns", "sys_keys", "sys_keyparts")
    }
    for table in tables:
        relid, ident = table.relid, 100 * table.relid
        rows["sys_tables"].append((relid, table.name, "BASE TABLE", "DBA", "CAT"))
        hidden = [2] if table.key else [1, 2]
        listed = [*table.columns[: table.first], *hidden, *table.columns[table.first :]]
        at = dict[object, tuple[int, int]]()
        for number, one in enumerate(listed):
            ident += 1
            if isinstance(one, int):
                at[one] = ident, number
                name = ("RS_ANAME_TUPLE_ID", "RS_ANAME_TUPLE_VERSION")[one - 1]
                cells: solid_export.Cells = (
                    *(name, number, "BIGINT", -5, 8, 8, 19, "", "NO", one),
                )  # fmt: skip
            else:
                at[one.name] = ident, number
                sizes = (9, 2) if one.kind == "DECIMAL" else ("", "")
                null = "YES" if one.nullable else "NO"
                kind = (one.kind, *TYPES[one.kind])
                cells = (one.name, number, *kind, 20, *sizes, null, 8 * one.removed)
            rows["sys_columns"].append((ident, relid, *cells, ""))
        key, said = relid + 1, "YES" if table.key else "NO"
        rows["sys_keys"].append((key, relid, f"$KEY_{relid}", said, said, len(table.key) + 1))
        others = [one for one in table.columns if one.name not in table.key]
        parts: list[solid_export.Cells] = [("", "", 7, "0000271D")]
        parts += [(*at[name], 0, "") for name in table.key]
        parts += [(*at[one], one, "") for one in hidden]
        parts += [(*at[one.name], 8 * one.removed, "") for one in others]
        rows["sys_keyparts"] += [(key, relid, number, *part) for number, part in enumerate(parts)]
    meta = folder / "meta"
    meta.mkdir()
    headers = (solid_export._TABLES, solid_export._COLUMNS, solid_export._KEYS, solid_export._PARTS)
    for (name, cells_of), header in zip(rows.items(), headers, strict=True):
        with (meta / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *cells_of])
