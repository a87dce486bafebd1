"""A stand-in for an ODBC connection to a solidDB server: it serves SYS_LOG rows and system tables,
and takes the statements of the calibration."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, time
from decimal import Decimal
from typing import Any

from tests.support.places import ROOT
from tests.support.solidbuilder import Col, LogBuilder, Tab, Unit, catalog_tables

#: Of the script that calibrates.
COLUMNS, SHAPES, TYPES = map(
    runpy.run_path(str(ROOT / "scripts" / "calibrate_soliddb.py")).get,
    ("COLUMNS", "SHAPES", "TYPES"),
)
NAMES = ("RECID", "RECNAME", "TRXID", "STMTTRXID", "RELID", "FLAGS", "LOGADDR", "DATA")


class Problem(Exception):
    """What the driver raises."""


@dataclass
class Server:
    """``on_idle`` is called whenever the log has nothing more to give, and may write more;
    ``fails_after`` rows the cursor is aborted."""

    log: LogBuilder
    tables: list[Tab]
    on_idle: Callable[[int], None] = lambda count: None
    fails_after: int | None = None
    columns: str = "A"
    autocommit: bool = True
    statements: list[str] = field(default_factory=list)
    unit: Unit | None = None
    idle: int = 0

    def cursor(self) -> Cursor:
        return Cursor(self)

    def commit(self) -> None:
        if self.unit is not None:
            self.unit.commit()
        self.unit = None

    def open_unit(self) -> Unit:
        if self.unit is None:
            self.unit = self.log.begin()
            self.unit.columns = self.columns
        return self.unit

    def run(self, text: str, values: Sequence[Any]) -> None:
        """A statement of the calibration."""
        words = text.split()
        name = words[2]
        self.statements.append(" ".join(words[:3]))
        if words[0] == "CREATE":
            self.tables.append(self.created(name, text))
            self.open_unit().ddl(45, f"SHOP.DBA.{name}", self.tables[-1].relid, text)
            return
        table = next(
            table
            for table in self.tables
            if table.name == (words[1] if words[0] == "UPDATE" else name)
        )
        if words[0] == "INSERT":
            self.open_unit().insert(
                table,
                [
                    str(value) if isinstance(value, Decimal | date | time) else value
                    for value in values
                ],
            )
        elif words[0] == "ALTER":
            self.open_unit().ddl(22, name, table.relid, text)
            self.tables[self.tables.index(table)] = altered(table, words)
        elif words[0] == "DROP":
            self.tables.remove(table)

    def created(self, name: str, text: str) -> Tab:
        columns = (
            COLUMNS
            if name == TYPES
            else [("ID", "INTEGER NOT NULL"), ("C_GONE", "VARCHAR(20)"), ("C_KEPT", "VARCHAR(20)")]
        )
        assert name in (TYPES, SHAPES)
        assert all(f"{column} {kind}" in text for column, kind in columns)
        made = []
        for column, kind in columns:
            sizes = [int(size) for size in re.findall(r"\d+", kind)]
            bare = kind.partition("(")[0].removesuffix(" NOT NULL")
            made.append(
                Col(
                    column,
                    bare,
                    sizes[0] if sizes else 0,
                    sizes[1] if len(sizes) > 1 else None,
                    null="NOT NULL" not in kind,
                )
            )
        return Tab(
            10_500 + len(self.tables),
            "DBA",
            name,
            (*made, Col("RS_ANAME_TUPLE_VERSION", "BIGINT", attr=2)),
            key=("ID",),
        )


def altered(table: Tab, words: list[str]) -> Tab:
    if words[3] == "ADD":
        return replace(table, columns=(*table.columns, Col(words[5], words[6])))
    gone = [
        replace(c, name=f"$SYS_DELETED_9_{c.name}", attr=8) if c.name == words[5] else c
        for c in table.columns
    ]
    return replace(table, columns=tuple(gone))


@dataclass
class Cursor:
    server: Server
    rows: Iterator[Any] = field(default_factory=lambda: iter(()))
    description: list[tuple[str]] = field(default_factory=list)

    def execute(self, text: str, *values: Any) -> Cursor:
        if "FROM SYS_LOG WHERE" in text:
            self.rows = self.log(bytes(values[0]))
        elif "FROM SYS_LOG" in text:
            self.rows = iter([(self.server.log.address(),)])
        elif "SELECT TABLE_NAME" in text:
            self.rows = iter(
                [
                    (name,)
                    for name in (
                        "SYS_TABLES",
                        "SYS_COLUMNS",
                        "SYS_KEYS",
                        "SYS_KEYPARTS",
                        "SYS_VIEWS",
                    )
                ]
            )
        elif "_SYSTEM." in text:
            header, rows = catalog_tables(self.server.tables).get(
                text.split("_SYSTEM.")[1].lower(), (["V_ID"], [])
            )
            self.description = [(name,) for name in header]
            self.rows = iter([tuple(row) for row in rows])
        else:
            self.server.run(text, values)
        return self

    def log(self, start: bytes) -> Iterator[Any]:
        """Rows after a position, then NOPs for ever."""
        at = 0
        while True:
            while at < len(self.server.log.rows):
                row = self.server.log.rows[at]
                at += 1
                if self.server.fails_after is not None and at > self.server.fails_after:
                    raise Problem("the cursor was aborted")
                if row["LOGADDR"] is None or row["LOGADDR"] > start:
                    yield tuple(
                        bytearray(row[name]) if isinstance(row[name], bytes) else row[name]
                        for name in NAMES
                    )
            self.server.idle += 1
            self.server.on_idle(self.server.idle)
            if at < len(self.server.log.rows):
                continue
            yield (None, None, None, None, None, 0, None, None)

    def fetchone(self) -> Any:
        return next(self.rows, None)

    def fetchall(self) -> list[Any]:
        return list(self.rows)
