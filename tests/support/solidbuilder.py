"""Builds SYS_LOG exports for tests, record by record; bytes are those of the independent encoder
(:mod:`tests.independent.solid_export`), which shares nothing with the reader.

A :class:`Framing` puts values behind each other; a :class:`LogBuilder` makes rows; :func:`write`
puts rows, system tables and manifest into a folder.
"""

from __future__ import annotations

import csv
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.independent import solid_export
from tests.independent.solid_export import TYPES, VARYING, Form

Row = Sequence[Any]

NAMES = {0: "EMPTY", **solid_export.NAMES}


@dataclass(frozen=True)
class Col:
    name: str
    type: str
    length: int = 0
    scale: int | None = None
    null: bool = True
    number: int = -1
    attr: int = 0
    default: str | None = None

    def encode(self, value: Any, charset: str, bias: bool) -> bytes:
        """A value as SYS_LOG holds it."""
        kind = TYPES[self.type][1]
        if kind in (1, 8):
            return struct.pack(">i" if kind == 1 else ">q", value)
        if kind in (2, 3):
            return struct.pack(">d", value)
        if kind == 4:
            return Form("len32", plain_years=not bias).moment(self.type, value)
        if kind == 5:
            return str(value).encode("ascii")
        if kind == 6:
            return bytes(value)
        text = str(value).rstrip(" ") if self.type in ("CHAR", "WCHAR") else str(value)
        return text.encode("utf-16-be" if kind == 7 else charset)


@dataclass(frozen=True)
class Foreign:
    """A foreign key: its columns, the table and columns they refer to, and
    SYS_FORKEYS.KEY_ACTION."""

    columns: tuple[str, ...]
    parent: int
    parent_columns: tuple[str, ...]
    action: int = 0


@dataclass(frozen=True)
class Tab:
    relid: int
    schema: str
    name: str
    columns: tuple[Col, ...]
    key: tuple[str, ...] = ()
    catalog: str = "SHOP"
    type: str = "BASE TABLE"
    foreign: tuple[Foreign, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()

    @property
    def numbered(self) -> list[Col]:
        return [
            Col(**{**c.__dict__, "number": c.number if c.number >= 0 else place})
            for place, c in enumerate(self.columns)
        ]

    def number(self, name: str) -> int:
        return next(column.number for column in self.numbered if column.name == name)

    def user(self) -> list[Col]:
        return [column for column in self.numbered if column.attr == 0]


@dataclass(frozen=True)
class Framing:
    """How values follow each other: ``profile`` of the notes, bytes of the number of values, one
    more X'00' behind text and binary values."""

    profile: str = "len32"
    count: int = 0
    nul: bool = False

    def row(self, values: Sequence[bytes | None], kinds: Sequence[int]) -> bytes:
        form = Form(self.profile, f"count{8 * self.count}" if self.count else "", self.nul)
        return form.image(
            [(value, kind in VARYING) for value, kind in zip(values, kinds, strict=True)]
        )


@dataclass
class LogBuilder:
    framing: Framing = field(default_factory=Framing)
    charset: str = "utf-8"
    bias: bool = True
    size: int = 20
    position: int = 0x295
    next_id: int = 661
    rows: list[dict[str, Any]] = field(default_factory=list)
    commits: list[bytes] = field(default_factory=list)

    def address(self) -> bytes:
        """A LOGADDR that grows."""
        half = (self.size - 12) // 2
        return (
            struct.pack(">QI", self.position, 0xFFFFFFFF) + self.position.to_bytes(half, "big") * 2
        )

    def add(
        self,
        recid: int | None,
        unit: int | None,
        statement: int | None,
        relid: int | None,
        flags: int,
        data: bytes | None,
    ) -> None:
        self.position += 1
        self.rows.append(
            {
                "SEQ": len(self.rows),
                "RECID": recid,
                "RECNAME": (
                    None if recid is None else "DBE_LOGREADER_LOG_REC_" + NAMES.get(recid, "NEW")
                ),
                "TRXID": unit,
                "STMTTRXID": statement,
                "RELID": relid,
                "FLAGS": flags,
                "LOGADDR": None if recid is None else self.address(),
                "DATA": data,
            }
        )

    def nop(self) -> None:
        self.add(None, None, None, None, 0, None)

    def shutdown(self) -> None:
        self.add(None, None, None, None, 2, None)

    def begin(self, flags: int = 1) -> Unit:
        unit = Unit(self, self.next_id, self.next_id)
        self.next_id += 1
        self.add(7, unit.id, unit.id, None, flags, None)
        return unit

    def image(self, table: Tab, values: Row, columns: str = "A") -> bytes:
        """A row image; ``columns`` is the list of columns that it holds."""
        held = [
            c
            for c in table.numbered
            if c.attr == 0 or columns == "C" or (columns == "B" and c.attr == 8)
        ]
        given = dict(zip([column.name for column in table.user()], values, strict=True))
        raws = [
            (
                (8 if column.attr != 8 else None, None)
                if column.attr
                else (TYPES[column.type][1], given[column.name])
            )
            for column in held
        ]
        encoded = [
            (
                (None if column.attr == 8 else struct.pack(">q", 7))
                if column.attr
                else (None if value is None else column.encode(value, self.charset, self.bias))
            )
            for column, (_, value) in zip(held, raws, strict=True)
        ]
        return self.framing.row(encoded, [TYPES[column.type][1] for column in held])


@dataclass
class Unit:
    log: LogBuilder
    id: int
    statement: int
    columns: str = "A"

    def next_statement(self) -> Unit:
        self.statement = self.log.next_id
        self.log.next_id += 1
        return self

    def one(self, recid: int, table: Tab, values: Row) -> None:
        self.log.add(
            recid,
            self.id,
            self.statement,
            table.relid,
            1,
            self.log.image(table, values, self.columns),
        )

    def insert(self, table: Tab, values: Row) -> None:
        self.next_statement().one(1, table, values)

    def delete(self, table: Tab, values: Row) -> None:
        self.next_statement().one(4, table, values)

    def update(self, table: Tab, before: Row, after: Row, turned: bool = False) -> None:
        """An update; of a changed key a delete and an insert."""
        self.next_statement()
        names = [column.name for column in table.user()]
        moved = any(before[names.index(key)] != after[names.index(key)] for key in table.key)
        pair = ((4, before), (1, after)) if moved else ((5, before), (3, after))
        for recid, values in reversed(pair) if turned else pair:
            self.one(recid, table, values)

    def ddl(
        self,
        kind: int,
        info: bytes | str,
        relid: int | None,
        text: str | None = None,
        layout: str = "D1",
        sql: str = "record",
    ) -> None:
        """A DDL record and its statement: ``sql`` is ``record`` (RECID 6 behind it), ``first``
        (before it) or ``tail`` (within it)."""
        self.next_statement()
        raw = info.encode() if isinstance(info, str) else info
        tail = text.encode() if text is not None and sql == "tail" else b""
        if layout == "D1":
            data = struct.pack(">iI", kind, len(raw)) + raw + tail
        elif layout == "D2":
            data = struct.pack(">i", kind) + raw + tail
        else:
            parts: list[bytes | None] = [struct.pack(">i", kind), raw, *([tail] if tail else [])]
            data = self.log.framing.row(parts, [1, 0, 0][: len(parts)])
        if text is not None and sql == "first":
            self.log.add(6, self.id, self.statement, None, 1, text.encode())
        self.log.add(13, self.id, self.statement, relid, 1, data)
        if text is not None and sql == "record":
            self.log.add(6, self.id, self.statement, None, 1, text.encode())

    def commit(self) -> bytes:
        self.log.add(12, self.id, self.id, None, 1, None)
        self.log.commits.append(self.log.rows[-1]["LOGADDR"])
        return self.log.commits[-1]


# -- files
# -------------------------------------------------------------------------------------------------

_LOG = (*solid_export.LOG, "SESSION")


def write_rows(
    path: Path, rows: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None
) -> Path:
    """Rows as Parquet, CSV or JSON lines, by the name of the file."""
    names = [
        name
        for name in columns or _LOG
        if name != "SESSION" or any("SESSION" in row for row in rows)
    ]
    solid_export.write_rows(path, [{name: row.get(name) for name in names} for row in rows])
    return path


_COLUMN_NAMES = "ID,REL_ID,COLUMN_NAME,COLUMN_NUMBER,DATA_TYPE,SQL_DATA_TYPE_NUM,DATA_TYPE_NUMBER,"
_COLUMN_NAMES += "CHAR_MAX_LENGTH,NUMERIC_PRECISION,NUMERIC_SCALE,NULLABLE,ATTR_TYPE,DEFAULT_VAL"


def foreign_tables(tables: Sequence[Tab]) -> tuple[list[list[Any]], list[list[Any]]]:
    """SYS_FORKEYS and SYS_FORKEYPARTS: two rows a constraint, each with a constant before its
    columns."""
    rows: list[list[Any]] = []
    parts: list[list[Any]] = []
    of = {table.relid: table for table in tables}
    for table in tables:
        for key in table.foreign:
            name = f"$$T_FORKEY_{len(rows)}"
            for side, relid, columns in (
                (1, table.relid, key.columns),
                (2, key.parent, key.parent_columns),
            ):
                number = 800_000 + len(rows)
                rows.append(
                    [number, relid, table.relid, 0, side, len(columns) + 1, name, key.action]
                )
                parts.append([number, 0, None, None, 0, "2710"])
                parts += [
                    [number, place, of[relid].number(column), None, 0, None]
                    for place, column in enumerate(columns, 1)
                ]
    return rows, parts


def catalog_tables(tables: Sequence[Tab]) -> dict[str, tuple[list[str], list[list[Any]]]]:
    """The system tables: header and rows by name."""
    columns: list[list[Any]] = []
    keys: list[list[Any]] = []
    parts: list[list[Any]] = []
    for table in tables:
        for column in table.numbered:
            sql, kind = TYPES[column.type]
            null = "YES" if column.null and column.name not in table.key else "NO"
            named = [
                10 * table.relid + column.number,
                table.relid,
                column.name,
                column.number,
                column.type,
                sql,
                kind,
            ]
            sizes = [column.length, column.length, column.scale]
            columns.append([*named, *sizes, null, column.attr, column.default])
        key = 5000 + table.relid
        keys.append(
            [
                key,
                table.relid,
                f"$$T_PRIMARYKEY_{table.relid}",
                "YES",
                "YES" if table.key else "NO",
                len(table.key) + 1,
            ]
        )
        parts.append([key, 0, None, None, 7, "00"])
        for place, name in enumerate(table.key, 1):
            column = next(c for c in table.numbered if c.name == name)
            parts.append([key, place, 10 * table.relid + column.number, column.number, 0, None])
        parts += [
            [key, len(table.key) + 1, None, None, 2, None],
            [key, len(table.key) + 2, None, None, 0, None],
        ]
        for number, names in enumerate(table.unique):
            other = 900_000 + 10 * table.relid + number
            keys.append(
                [
                    other,
                    table.relid,
                    f"$$T_UNQKEY_{table.relid}_{number}",
                    "YES",
                    "NO",
                    len(names) + 1,
                ]
            )
            parts += [
                [other, place, None, table.number(name), 0, None]
                for place, name in enumerate(names, 1)
            ]
    foreign, foreign_parts = foreign_tables(tables)
    system = [[number, f"SYS_{number}", "BASE TABLE", "_SYSTEM", ""] for number in (1, 8001)]
    return {
        "sys_forkeys": (
            "ID,REF_REL_ID,CREATE_REL_ID,REF_KEY_ID,REF_TYPE,KEY_NREF,KEY_NAME,KEY_ACTION".split(
                ","
            ),
            foreign,
        ),
        "sys_forkeyparts": (
            "ID,KEYP_NO,ATTR_NO,ATTR_ID,ATTR_TYPE,CONST_VALUE".split(","),
            foreign_parts,
        ),
        "sys_tables": (
            "ID,TABLE_NAME,TABLE_TYPE,TABLE_SCHEMA,TABLE_CATALOG".split(","),
            system + [[t.relid, t.name, t.type, t.schema, t.catalog] for t in tables],
        ),
        "sys_columns": (_COLUMN_NAMES.split(","), columns),
        "sys_keys": ("ID,REL_ID,KEY_NAME,KEY_UNIQUE,KEY_PRIMARY,KEY_NREF".split(","), keys),
        "sys_keyparts": ("ID,KEYP_NO,ATTR_ID,ATTR_NO,ATTR_TYPE,CONST_VALUE".split(","), parts),
    }


def write_catalog(
    folder: Path, tables: Sequence[Tab], manifest: Mapping[str, Any] | None = None
) -> Path:
    """The export of the system tables, and a manifest."""
    meta = folder / "meta"
    meta.mkdir(parents=True, exist_ok=True)
    for name, (header, rows) in catalog_tables(tables).items():
        with (meta / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            writer.writerows(rows)
    if manifest is not None:
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


CUSTOMER = Tab(
    10012, "DBA", "CUSTOMER",
    (
        Col("ID", "INTEGER", null=False), Col("NAME", "VARCHAR", 40), Col("WNAME", "WVARCHAR", 40),
        Col("BALANCE", "DECIMAL", 10, 2),
        Col("CREATED", "TIMESTAMP"), Col("CREDIT", "BIGINT"),
        Col("TUPLE_VERSION", "BIGINT", attr=2), Col("NOTE", "LONG VARCHAR"),
    ),
    key=("ID",),
)  # fmt: skip
