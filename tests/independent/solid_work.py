"""A solidDB database under work, drawn from a seed: its log as exported, and what is true of it.

Nothing of logreplay is used here. Rows lie by the identity of their columns, so what a name meant
at a time is the model's own knowledge; changes of structure stand amid changes of rows, in
transactions that are committed, rolled back (and not in the log) or cut off by its end.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from tests.independent.solid_work_form import (
    Column,
    Image,
    Kind,
    Line,
    Row,
    Table,
    Way,
    csv_text,
    framed,
    kinds,
    metadata,
    packed,
    shown,
    value,
    version_column,
    written,
)


@dataclass
class Change:
    op: str
    table: str
    before: Image | None
    after: Image | None


@dataclass
class Unit:
    trxid: int
    changes: list[Change] = field(default_factory=list)
    structure: list[str] = field(default_factory=list)
    lossy: bool = False
    address: str = ""
    rows: int = 0


class Work:
    """Draws a database, works on it, and keeps both the rows of SYS_LOG and the truth."""

    def __init__(
        self,
        seed: int,
        units: int = 14,
        way: Way | None = None,
        micro: bool = True,
        structure: float = 0.35,
    ) -> None:
        self.random = Random(seed)
        self.micro = micro
        self.way = way or self._drawn_way()
        self.structure = structure
        self.log: list[Line] = []
        self.tables: dict[str, Table] = {}
        self.gone: list[tuple[Table, str]] = []
        self.units: list[Unit] = []
        self.next_id, self.trx, self.counter = 20000, 100, 1
        self.names = 0
        self.last = "0" * (56 if self.way.wide_address else 40)
        for _ in range(self.random.randint(1, 3)):
            self._made(self._table(f"T{self._name()}"))
        for table in self.tables.values():
            for _ in range(self.random.randint(0, 5)):
                row = self._row(table)
                if row is not None:
                    table.rows.append(row)
        self.initial = self.snapshot()
        self.states = [self.snapshot()]
        for _ in range(units):
            self.transaction()

    def _drawn_way(self) -> Way:
        draw = self.random
        length = draw.choice(
            ["len32"] * 4 + ["len32z", "va", "ind0", "ind1", "ind0p", "len16", "len32le"]
        )
        return Way(
            length=length,
            nul=length in ("len32z", "va") or draw.random() < 0.25,
            count=draw.choice([0, 0, 0, 2, 4]),
            columns=draw.choice("AAABC"),
            biased=draw.random() < 0.7,
            wide_address=draw.random() < 0.3,
            shared_address=draw.random() < 0.2,
            form=draw.choice(["csv", "csv.gz", "jsonl", "parquet"]),
            utf16_ddl=draw.random() < 0.2,
            loose_decimals=draw.random() < 0.2,
        )

    # the database

    def _name(self) -> str:
        self.names += 1
        odd = ["", "", "", "_x", " y", "$z", "é", "Low"]
        return f"{self.names}{self.random.choice(odd)}"

    def _ident(self) -> int:
        self.next_id += 1
        return self.next_id

    def snapshot(self) -> dict[str, Table]:
        return {name: table.copy() for name, table in self.tables.items()}

    def _made(self, table: Table) -> None:
        self.tables[table.name] = table

    def _table(self, name: str) -> Table:
        draw = self.random
        chosen = draw.sample(kinds(draw), draw.randint(2, 7))
        columns: list[Column] = []
        keyed = draw.random() < 0.8
        if keyed:
            firsts = [
                k
                for k in kinds(draw)
                if k.name
                in (
                    "INTEGER",
                    "BIGINT",
                    "VARCHAR",
                    "DECIMAL",
                    "TIMESTAMP",
                    "WVARCHAR",
                    "VARBINARY",
                    "DATE",
                )
                and (k.length or 0) > 1
            ]
            for kind in draw.sample(firsts, draw.choice([1, 1, 2])):
                columns.append(Column(self._ident(), f"K{len(columns)}", kind, len(columns), False))
        key = tuple(column.ident for column in columns)
        for kind in chosen:
            columns.append(
                Column(self._ident(), f"C{self._name()}", kind, len(columns), draw.random() < 0.8)
            )
        draw.shuffle(columns)
        columns = [replace(column, number=n) for n, column in enumerate(columns)]
        hidden, number = list[Column](), len(columns)
        if not key:
            version = version_column(self._ident(), number)
            hidden.append(replace(version, name="RS_ANAME_TUPLE_ID", attribute=1))
            number += 1
        hidden.append(version_column(self._ident(), number))
        return Table(self._ident(), name, columns, key, hidden=hidden)

    def _row(self, table: Table, like: Row | None = None) -> Row | None:
        draw = self.random
        for _ in range(20):
            row: Row = {"version": draw.getrandbits(40)}
            for column in table.columns:
                if column.nullable and draw.random() < 0.2:
                    row[column.ident] = None
                elif (like and column.ident not in table.key and draw.random() < 0.5) or (
                    like and column.ident in table.key
                ):
                    row[column.ident] = like[column.ident]
                else:
                    row[column.ident] = value(draw, column.kind, self.micro)
            if like or not table.key or not self._taken(table, row):
                return row
        return None

    def _taken(self, table: Table, row: Row) -> bool:
        def plain(key: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(k.rstrip(" ") if isinstance(k, str) else k for k in key)

        return plain(table.key_of(row)) in [plain(table.key_of(other)) for other in table.rows]

    # records

    def _address(self) -> str:
        if not self.way.shared_address:
            self.counter += 1
        low = self.counter & 0xFFFF
        form = (
            "{:016X}FFFFFFFF{:016X}{:016X}"
            if self.way.wide_address
            else "{:016X}FFFFFFFF{:08X}{:08X}"
        )
        return form.format(self.counter, low, low)

    def _record(
        self,
        recid: int,
        statement: int | None,
        relid: int | None,
        data: bytes | None,
        flags: int = 1,
    ) -> None:
        names = {
            1: "INSERT",
            3: "UPDATE",
            4: "DELETE_FULL",
            5: "UPDATE_BEFOREIMAGE",
            6: "SQL",
            7: "TRX_START",
            12: "COMMIT",
            13: "DDL",
        }
        self.log.append(
            {
                "SEQ": len(self.log),
                "RECID": recid,
                "RECNAME": "DBE_LOGREADER_LOG_REC_" + names[recid],
                "TRXID": self.trx_now,
                "STMTTRXID": statement,
                "RELID": relid,
                "FLAGS": flags,
                "LOGADDR": self._address(),
                "DATA": None if data is None else data.hex().upper(),
            }
        )

    def _image(self, table: Table, row: Row) -> bytes:
        columns = list(table.columns)
        if self.way.columns in "BC":
            columns += table.dropped
        if self.way.columns == "C":
            columns += table.hidden
        values = []
        for column in sorted(columns, key=lambda c: c.number):
            given = row.get(column.ident)
            if column.attribute == 8:
                given = None
            elif column.attribute:
                given = row.get("version", 7)
            data = (
                None
                if given is None
                else packed(given, column.kind, self.way.biased, self.way.loose_decimals)
            )
            values.append((data, column.kind.code in (0, 5, 6, 7)))
        return framed(values, self.way)

    def _ddl(self, logrecid: int, table: Table, info: str, sql: str) -> None:
        statement = self._statement()
        coded = info.encode()
        self._record(13, statement, table.relid, struct.pack(">iI", logrecid, len(coded)) + coded)
        code = "utf-16-be" if self.way.utf16_ddl else "utf-8"
        self._record(6, statement, None, sql.encode(code))
        self.unit.structure.append(sql)

    def _statement(self) -> int:
        self.statement += 1
        return self.statement

    # work

    def transaction(self) -> None:
        draw = self.random
        fate = draw.choices(["commit", "rollback"], [9, 1])[0]
        kept = (self.snapshot(), list(self.gone), len(self.log), self.counter)
        if self.way.shared_address:
            self.counter += 1
        self.begin()
        for _ in range(draw.choice([1, 2, 3, 6])):
            if draw.random() < self.structure:
                self.change_structure()
            else:
                self.change_rows()
        if fate == "commit":
            self.commit()
        else:
            self.tables, self.gone = kept[0], kept[1]
            del self.log[kept[2] :]

    def begin(self) -> None:
        self.trx += self.random.randint(1, 9)
        self.trx_now = self.statement = self.trx
        self.unit = Unit(self.trx)
        self._record(7, self.trx_now, None, None)

    def commit(self) -> None:
        self._record(12, self.trx_now, None, None)
        self.unit.address = self.last = self.log[-1]["LOGADDR"]
        self.trx = max(self.trx, self.statement)
        self.units.append(self.unit)
        self.states.append(self.snapshot())

    def leave_open(self) -> None:
        """A transaction without its COMMIT at the end; its effects are not there."""
        kept = self.snapshot()
        if self.way.shared_address:
            self.counter += 1
        self.begin()
        for _ in range(3):
            self.change_rows()
        self.tables = kept

    def change_rows(self) -> None:
        draw = self.random
        if not self.tables:
            return
        table = draw.choice(list(self.tables.values()))
        what = draw.choice(
            ["insert", "insert", "update", "update", "delete", "key", "swap", "many"]
        )
        statement = self._statement()
        if what == "insert" or not table.rows:
            row = self._row(table)
            if row is not None:
                self.insert(table, row)
            return
        if what in ("update", "many"):
            count = 1 if what == "update" else min(len(table.rows), 4)
            places = draw.sample(range(len(table.rows)), count)
            pairs = []
            for place in places:
                after = self._row(table, like=table.rows[place])
                assert after is not None
                pairs.append((table.rows[place], after))
                table.rows[place] = after
            turned = draw.random() < 0.2
            for before, after in pairs:
                images = [(5, before), (3, after)]
                for recid, row in reversed(images) if turned and table.key else images:
                    self._record(recid, statement, table.relid, self._image(table, row))
                self._told("update", table, before, after)
            return
        if what == "delete":
            row = table.rows.pop(draw.randrange(len(table.rows)))
            self._record(4, statement, table.relid, self._image(table, row))
            self._told("delete", table, row, None)
            return
        if not table.key:
            return
        if what == "key":
            place = draw.randrange(len(table.rows))
            before, after = table.rows[place], self._row(table)
            if after is None:
                return
            for ident in before:
                if ident not in (*table.key, "version") and draw.random() < 0.7:
                    after[ident] = before[ident]
            records = [(4, before), (1, after)]
            if draw.random() < 0.3:
                records.reverse()
            for recid, row in records:
                self._record(recid, statement, table.relid, self._image(table, row))
            table.rows[place] = after
            self._told("delete", table, before, None)
            self._told("insert", table, None, after)
        elif len(table.rows) > 1:
            one, two = draw.sample(range(len(table.rows)), 2)
            first, second = table.rows[one], table.rows[two]
            new_first = {**first, **{i: second[i] for i in table.key}}
            new_second = {**second, **{i: first[i] for i in table.key}}
            if new_first == second:
                return
            for recid, row in [(4, first), (1, new_first), (4, second), (1, new_second)]:
                self._record(recid, statement, table.relid, self._image(table, row))
            table.rows[one], table.rows[two] = new_first, new_second
            self._told("delete", table, first, None)
            self._told("delete", table, second, None)
            self._told("insert", table, None, new_first)
            self._told("insert", table, None, new_second)

    def _told(self, op: str, table: Table, before: Row | None, after: Row | None) -> None:
        self.unit.changes.append(
            Change(op, table.name, before and table.named(before), after and table.named(after))
        )

    def change_structure(self) -> None:
        draw = self.random
        whats = ["add", "add", "rename", "rename table", "create", "drop", "drop table", "again"]
        what = draw.choice([*whats, "truncate"])
        if what == "create" or not self.tables:
            self._create(f"N{self._name()}")
            return
        table = draw.choice(list(self.tables.values()))
        free = [column for column in table.columns if column.ident not in table.key]
        if what == "add":
            self.add(table, f"A{self._name()}", draw.choice(kinds(draw)))
        elif what == "drop" and len(free) > 1:
            self.drop(table, draw.choice(free))
        elif what == "rename":
            old = draw.choice(table.columns)
            wanted = draw.choice([f"R{self._name()}", old.name[:1] + "0X"])
            if wanted not in {column.name for column in table.columns}:
                self.rename(table, old, wanted)
        elif what == "rename table":
            self.rename_table(table, f"M{self._name()}")
        elif what == "truncate":
            table.rows.clear()
            self.unit.lossy = True
            self.unit.changes.append(Change("truncate", table.name, None, None))
            self._ddl(73, table, table.name, f"TRUNCATE TABLE {self._shown(table)}")
        elif what in ("drop table", "again"):
            lines = [one for one in self.states[-1].values() if one.relid == table.relid]
            if lines:  # else nobody could have read them
                self.drop_table(table)
                if what == "again":
                    self._create(table.name)

    def rename_table(self, table: Table, wanted: str) -> None:
        text = f"ALTER TABLE {self._shown(table)} SET TABLE NAME {self._quoted(wanted)}"
        del self.tables[table.name]
        table.name = wanted
        self.tables[wanted] = table
        self._ddl(47, table, f"SHOP.DBA.{wanted}", text)

    def drop_table(self, table: Table) -> None:
        """One that was there when the last transaction committed."""
        (lines,) = (one for one in self.states[-1].values() if one.relid == table.relid)
        del self.tables[table.name]
        self.gone.append((lines, self.last))
        self.unit.lossy = True
        self._ddl(17, table, table.name, f"DROP TABLE {self._shown(table)}")

    def add(self, table: Table, name: str, kind: Kind) -> None:
        number = 1 + max(c.number for c in table.columns + table.dropped + table.hidden)
        column = Column(self._ident(), name, kind, number)
        table.columns.append(column)
        for row in table.rows:
            row[column.ident] = None
        self._alter(table, f"ADD {self._word()}{self._quoted(name)} {kind.sql}")

    def drop(self, table: Table, column: Column) -> None:
        table.columns.remove(column)
        hidden = f"$SYS_DELETED_{column.ident}_{column.name}"
        table.dropped.append(replace(column, name=hidden, nullable=True, attribute=8))
        for row in table.rows:
            del row[column.ident]
        self.unit.lossy = True
        self._alter(table, f"DROP {self._word()}{self._quoted(column.name)}")

    def rename(self, table: Table, column: Column, wanted: str) -> None:
        table.columns[table.columns.index(column)] = replace(column, name=wanted)
        names = f"{self._quoted(column.name)} {self._quoted(wanted)}"
        self._alter(table, f"RENAME {self._word()}{names}")

    def insert(self, table: Table, row: Row) -> None:
        self._record(1, self._statement(), table.relid, self._image(table, row))
        table.rows.append(row)
        self._told("insert", table, None, row)

    def _alter(self, table: Table, what: str) -> None:
        self._ddl(22, table, table.name, f"ALTER TABLE {self._shown(table)} {what}")

    def _word(self) -> str:
        return self.random.choice(["COLUMN ", ""])

    def _shown(self, table: Table) -> str:
        return self.random.choice(["", "DBA."]) + self._quoted(table.name)

    def _create(self, name: str) -> None:
        table = self._table(name)
        self.create(name, table.columns, table.key, table)

    def create(
        self, name: str, columns: list[Column], key: tuple[int, ...], drawn: Table | None = None
    ) -> None:
        version = version_column(self._ident(), len(columns))
        table = drawn or Table(self._ident(), name, columns, key, hidden=[version])
        entries = [
            f"{self._quoted(c.name)} {c.kind.sql}{'' if c.nullable else ' NOT NULL'}"
            for c in columns
        ]
        by_ident = {column.ident: self._quoted(column.name) for column in columns}
        entries += [f"PRIMARY KEY ({', '.join(by_ident[ident] for ident in key)})"] if key else []
        tail = self.random.choice(["", " STORE MEMORY", " STORE DISK"])
        self.tables[name] = table
        text = f"CREATE TABLE {self._quoted(name)} ({', '.join(entries)}){tail}"
        self._ddl(45, table, f"SHOP.DBA.{name}", text)

    def _quoted(self, name: str) -> str:
        plain = name.isascii() and name.replace("_", "a").isalnum() and name == name.upper()
        return name if plain and self.random.random() < 0.7 else f'"{name}"'

    # the export

    def write(
        self,
        folder: Path,
        log: list[Line] | None = None,
        extra: dict[str, Any] | None = None,
        form: str | None = None,
        name: str = "syslog",
    ) -> Path:
        """The export in a folder; the path of its log."""
        folder.mkdir(parents=True, exist_ok=True)
        meta = metadata(list(self.tables.values()) + [t for t, _ in self.gone])
        (folder / "meta").mkdir(exist_ok=True)
        for table, lines in meta.items():
            (folder / "meta" / f"{table}.csv").write_text(csv_text(lines), encoding="utf-8")
        manifest = {
            "product_version": "7.0",
            "char_encoding": "UTF8",
            "dropped_tables": {str(t.relid): at for t, at in self.gone},
        }
        manifest.update(extra or {})
        (folder / "manifest.json").write_text(json.dumps(manifest))
        return written(self.log if log is None else log, folder, form or self.way.form, name)

    def write_initial(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        for table in self.initial.values():
            lines = [[f'"{c.name}"' for c in table.columns]]
            lines += [[shown(row[c.ident]) for c in table.columns] for row in table.rows]
            text = "".join(",".join(line) + "\n" for line in lines)
            (folder / f"{table.name}.csv").write_text(text, encoding="utf-8", newline="")
        return folder
