"""Exports of solidDB's SYS_LOG, written from the format specification alone.

All framings of row images, both lengths of LOGADDR, CSV, JSON lines and Parquet, read sessions,
and the system tables. Nothing here knows the program under test.
"""

from __future__ import annotations

import csv
import gzip
import json
import random
import struct
from dataclasses import dataclass, field
from datetime import date, datetime, time
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.model.luw_model import Change, Column, Row, Table

#: How values are told apart.
PROFILES = ("len32", "len32z", "va", "ind0", "ind1", "ind0p", "len16", "len32le")
ALWAYS_NUL = ("len32z", "va")

START, COMMIT, INSERT, UPDATE, DELETE, BEFORE = 7, 12, 1, 3, 4, 5
NAMES = {
    7: "TRX_START",
    12: "COMMIT",
    1: "INSERT",
    3: "UPDATE",
    4: "DELETE_FULL",
    5: "UPDATE_BEFOREIMAGE",
}

#: Type of the model -> DATA_TYPE, SQL_DATA_TYPE_NUM, DATA_TYPE_NUMBER.
_TYPES = {
    "SMALLINT": ("SMALLINT", 5, 1),
    "INTEGER": ("INTEGER", 4, 1),
    "BIGINT": ("BIGINT", -5, 8),
    "DECIMAL": ("DECIMAL", 3, 5),
    "DOUBLE": ("DOUBLE PRECISION", 8, 3),
    "REAL": ("REAL", 7, 2),
    "DATE": ("DATE", 9, 4),
    "TIME": ("TIME", 10, 4),
    "TIMESTAMP": ("TIMESTAMP", 11, 4),
    "CHARACTER": ("CHAR", 1, 0),
    "VARCHAR": ("VARCHAR", 12, 0),
}
_WIDE = {"CHARACTER": ("WCHAR", -8, 7), "VARCHAR": ("WVARCHAR", -9, 7)}


@dataclass
class Form:
    """How an export is written."""

    profile: str = "len32"
    #: Bytes of the count of values in front of a row: 0, 2 or 4.
    count: int = 0
    nul: bool = False
    wide: bool = False
    bias: int = 0x8000
    address: int = 20
    file: str = "csv"
    #: Files, and read sessions.
    files: int = 1
    sessions: int = 1
    nops: bool = False
    #: 5 before 3 and 4 before 1, or the other way round.
    swapped: bool = False

    @classmethod
    def drawn(cls, rng: random.Random, **fixed: object) -> Form:
        profile = rng.choice(PROFILES)
        form = cls(
            profile=profile,
            count=rng.choice([0, 0, 2, 4]),
            nul=profile in ALWAYS_NUL or rng.random() < 0.4,
            wide=rng.random() < 0.3,
            bias=rng.choice([0x8000, 0x8000, 0]),
            address=rng.choice([20, 28]),
            file=rng.choice(["csv", "jsonl", "csv.gz", "jsonl.gz", "parquet"]),
            files=rng.choice([1, 1, 2, 3]),
            sessions=rng.choice([1, 1, 2]),
            nops=rng.random() < 0.3,
            swapped=rng.random() < 0.3,
        )
        for name, value in fixed.items():
            setattr(form, name, value)
        return form

    @property
    def framing(self) -> str:
        name = self.profile
        if self.count:
            name += f"/count{self.count * 8}"
        if self.nul and self.profile not in ALWAYS_NUL:
            name += "/nul"
        return name

    def __str__(self) -> str:
        flags = [name for name in ("wide", "nops", "swapped") if getattr(self, name)]
        return " ".join(
            [
                self.framing,
                str(self.address),
                f"{self.files}x{self.file}",
                f"s{self.sessions}",
                *flags,
            ]
        )


@dataclass
class Line:
    """A row of SYS_LOG."""

    recid: int | None
    trxid: int | None = None
    stmt: int | None = None
    relid: int | None = None
    flags: int = 1
    address: bytes | None = None
    data: bytes | None = None
    session: int = 0


@dataclass
class SolidLog:
    """An export that grows by one transaction after the other."""

    form: Form
    rng: random.Random
    lines: list[Line] = field(default_factory=list)
    counter: int = 660
    place: int = 1
    session: int = 0

    # -- values

    def value(self, column: Column, value: object) -> bytes:
        kind = column.type
        if kind in ("SMALLINT", "INTEGER"):
            return int(value).to_bytes(4, "big", signed=True)
        if kind == "BIGINT":
            return int(value).to_bytes(8, "big", signed=True)
        if kind in ("REAL", "DOUBLE"):
            return struct.pack(">d", value)
        if kind == "DATE" and isinstance(value, date):
            return self._moment(value.year, value.month, value.day)
        if kind == "TIME" and isinstance(value, time):
            return self._moment(0, 0, 0, value.hour, value.minute, value.second)
        if kind == "TIMESTAMP" and isinstance(value, datetime):
            return self._moment(*value.timetuple()[:6], value.microsecond * 1000)
        if kind == "DECIMAL":
            return f"{value:f}".encode()
        return str(value).encode("utf-16-be" if self.form.wide else "utf-8")

    def _moment(self, year: int, *fields: int) -> bytes:
        parts = [*fields, 0, 0, 0, 0, 0, 0][:6]
        head = (year + self.form.bias).to_bytes(2, "big") + bytes(parts[:5])
        return head + parts[5].to_bytes(4, "big")

    def row(self, table: Table, row: Row) -> bytes:
        """A row image in the form's framing."""
        form = self.form
        data = len(table.columns).to_bytes(form.count, "big") if form.count else b""
        for column in table.columns:
            value = row[column.name]
            text = column.type in ("CHARACTER", "VARCHAR", "DECIMAL")
            if value is None:
                data += self._null()
                continue
            raw = self.value(column, value) + (b"\0" if form.nul and text else b"")
            data += self._length(len(raw)) + raw
        return data

    def _null(self) -> bytes:
        return {
            "len32": b"\xff" * 4,
            "len32z": bytes(4),
            "va": b"\0",
            "ind0": b"\1",
            "ind1": b"\0",
            "ind0p": b"\1" + bytes(4),
            "len16": b"\xff\xff",
            "len32le": b"\xff" * 4,
        }[self.form.profile]

    def _length(self, size: int) -> bytes:
        profile = self.form.profile
        if profile == "va":
            return bytes([size]) if size < 0xFE else b"\xfe" + size.to_bytes(4, "little")
        if profile == "len16":
            return size.to_bytes(2, "big")
        if profile == "len32le":
            return size.to_bytes(4, "little")
        mark = {"ind0": b"\0", "ind0p": b"\0", "ind1": b"\1"}.get(profile, b"")
        return mark + size.to_bytes(4, "big")

    # -- rows of SYS_LOG

    def address(self) -> bytes:
        self.place += 1
        wide = 4 if self.form.address == 20 else 8
        tail = (self.place + 0x294).to_bytes(wide, "big")
        return self.place.to_bytes(8, "big") + b"\xff" * 4 + tail + tail

    def put(self, recid: int, trx: int, stmt: int, relid: int | None, data: bytes | None) -> Line:
        if self.form.nops and self.rng.random() < 0.15:
            self.lines.append(Line(None, flags=0, session=self.session))
        line = Line(recid, trx, stmt, relid, 1, self.address(), data, self.session)
        self.lines.append(line)
        return line

    def transaction(self, changes: list[Change], tables: dict[str, Table]) -> int:
        """A bracket with these changes; answer its TRXID."""
        self.counter += 1
        trx = self.counter
        self.put(START, trx, trx, None, None)
        statements: dict[int, list[Change]] = {}
        for change in changes:
            statements.setdefault(change.statement, []).append(change)
        for group in statements.values():
            self.counter += 1
            self._statement(trx, self.counter, group, tables)
        self.put(COMMIT, trx, trx, None, None)
        return trx

    def _statement(
        self, trx: int, stmt: int, group: list[Change], tables: dict[str, Table]
    ) -> None:
        for change in group:
            table = tables[change.table]
            relid = relid_of(table)
            old = change.before and self.row(table, change.before)
            new = change.after and self.row(table, change.after)
            if change.op == "I":
                self.put(INSERT, trx, stmt, relid, new)
            elif change.op == "D":
                self.put(DELETE, trx, stmt, relid, old)
            else:
                moved = any(change.before[c] != change.after[c] for c in table.key)
                pair = [(DELETE, old), (INSERT, new)] if moved else [(BEFORE, old), (UPDATE, new)]
                if self.form.swapped and table.key:
                    pair.reverse()
                for recid, data in pair:
                    self.put(recid, trx, stmt, relid, data)

    # -- files

    def write(self, folder: Path) -> list[Path]:
        """The export's files, in order."""
        rows = []
        for number, line in enumerate(self.lines):
            rows.append(
                {
                    "SEQ": number,
                    "RECID": line.recid,
                    "RECNAME": f"DBE_LOGREADER_LOG_REC_{NAMES[line.recid]}"
                    if line.recid in NAMES
                    else None,
                    "TRXID": line.trxid,
                    "STMTTRXID": line.stmt,
                    "RELID": line.relid,
                    "FLAGS": line.flags,
                    "LOGADDR": line.address,
                    "DATA": line.data,
                    **({"SESSION": line.session} if self.form.sessions > 1 else {}),
                }
            )
        parts = min(self.form.files, max(1, len(rows) - 1))
        cuts = sorted(self.rng.sample(range(1, len(rows)), parts - 1)) if parts > 1 else []
        ends = [0, *cuts, len(rows)]
        paths = []
        for number, (low, high) in enumerate(pairwise(ends)):
            path = folder / f"syslog-{number:03}.{self.form.file}"
            write_rows(path, rows[low:high])
            paths.append(path)
        return paths

    def sessions(self) -> list[dict[str, str]]:
        """The manifest's list of read sessions."""
        found = []
        last = bytes(self.form.address).hex().upper()
        for session in range(self.form.sessions):
            commits = [x for x in self.lines if x.session == session and x.recid == COMMIT]
            if commits:
                end = commits[-1].address.hex().upper()
                found.append({"start_logaddr": last, "last_commit_logaddr": end, "ended_by": "nop"})
                last = end
        return found


def write_rows(path: Path, rows: list[dict[str, object]]) -> None:
    """Rows as CSV, JSON lines or Parquet, by the file's name."""
    if path.suffix == ".parquet":
        kinds = {"RECNAME": pa.string(), "LOGADDR": pa.binary(), "DATA": pa.binary()}
        names = list(rows[0]) if rows else []
        arrays = [pa.array([r[n] for r in rows], type=kinds.get(n, pa.int64())) for n in names]
        pq.write_table(pa.Table.from_arrays(arrays, names=names), path)
        return
    plain = [
        {k: v.hex().upper() if isinstance(v, bytes) else v for k, v in row.items()} for row in rows
    ]
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wt", newline="") as stream:
        if ".csv" in path.name:
            writer = csv.DictWriter(stream, list(plain[0]))
            writer.writeheader()
            writer.writerows(plain)
        else:
            stream.writelines(json.dumps(row) + "\n" for row in plain)


def relid_of(table: Table) -> int:
    return 10_000 + table.id


def write_meta(
    folder: Path, tables: list[Table], form: Form, sessions: list[dict[str, str]]
) -> Path:
    """The system tables and the manifest; answers the folder."""
    meta = folder / "meta"
    meta.mkdir(parents=True, exist_ok=True)
    files: dict[str, list[dict[str, object]]] = {
        "sys_tables": [],
        "sys_columns": [],
        "sys_keys": [],
        "sys_keyparts": [],
        "sys_forkeys": [],
        "sys_forkeyparts": [],
    }
    key_id = 20_000
    for table in tables:
        relid = relid_of(table)
        files["sys_tables"].append(
            {
                "ID": relid,
                "TABLE_NAME": table.name,
                "TABLE_TYPE": "BASE TABLE",
                "TABLE_SCHEMA": table.schema,
                "TABLE_CATALOG": "SHOP",
            }
        )
        hidden = [] if table.key else [("RS_ANAME_TUPLE_ID", 1)]
        hidden.append(("RS_ANAME_TUPLE_VERSION", 2))
        for number, column in enumerate(table.columns):
            kind = (_WIDE if form.wide else {}).get(column.type) or _TYPES[column.type]
            files["sys_columns"].append(_column(relid, number, column.name, kind, column, 0))
        for number, (name, kind) in enumerate(hidden, len(table.columns)):
            blank = Column(name, "BIGINT", nullable=False)
            files["sys_columns"].append(_column(relid, number, name, _TYPES["BIGINT"], blank, kind))
        if not table.key:
            key_id += 10
            files["sys_keys"].append(
                {
                    "ID": key_id,
                    "REL_ID": relid,
                    "KEY_NAME": f"$$T_CLUSTKEY_{relid}",
                    "KEY_UNIQUE": "NO",
                    "KEY_CLUSTERING": "YES",
                    "KEY_PRIMARY": "NO",
                    "KEY_NREF": 2,
                }
            )
            first = len(table.columns)
            files["sys_keyparts"] += [
                _part(key_id, relid, 0, None, None, 7, key_id.to_bytes(4, "big")),
                _part(key_id, relid, 1, relid * 100 + first, first, 1, None),
                _part(key_id, relid, 2, relid * 100 + first + 1, first + 1, 2, None),
            ]
        for key in table.keys:
            key_id += 10
            primary = key == table.key
            files["sys_keys"].append(
                {
                    "ID": key_id,
                    "REL_ID": relid,
                    "KEY_NAME": f"$$T_{'PRIMARYKEY' if primary else 'UNQKEY'}_{relid}_{key_id}",
                    "KEY_UNIQUE": "YES",
                    "KEY_CLUSTERING": "YES" if primary else "NO",
                    "KEY_PRIMARY": "YES" if primary else "NO",
                    "KEY_NREF": len(key) + 1,
                }
            )
            rest = [c.name for c in table.columns if c.name not in key]
            files["sys_keyparts"] += _parts(table, relid, key_id, key, rest if primary else [])
        for foreign in table.foreign:
            key_id += 10
            files["sys_forkeys"] += _foreign(tables, table, foreign, key_id, files)
    for name, rows in files.items():
        if rows:
            write_rows(meta / f"{name}.csv", rows)
    manifest = {"product_version": "7.0", "char_encoding": "UTF8", "sessions": sessions}
    if sessions:
        manifest["metadata_logaddr"] = sessions[-1]["last_commit_logaddr"]
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1))
    return folder


def _column(
    relid: int, number: int, name: str, kind: tuple[str, int, int], column: Column, attribute: int
) -> dict[str, object]:
    return {
        "ID": relid * 100 + number,
        "REL_ID": relid,
        "COLUMN_NAME": name,
        "COLUMN_NUMBER": number,
        "DATA_TYPE": kind[0],
        "SQL_DATA_TYPE_NUM": kind[1],
        "DATA_TYPE_NUMBER": kind[2],
        "CHAR_MAX_LENGTH": column.length or 4,
        "NUMERIC_PRECISION": column.length if kind[0] == "DECIMAL" else None,
        "NUMERIC_SCALE": column.scale if kind[0] == "DECIMAL" else None,
        "NULLABLE": "YES" if column.nullable else "NO",
        "ATTR_TYPE": attribute,
    }


def _parts(
    table: Table, relid: int, key_id: int, key: tuple[str, ...], rest: list[str]
) -> list[dict[str, object]]:
    """Parts of a key: a constant, its columns, the hidden version, the other columns."""
    names = [c.name for c in table.columns]
    rows = [_part(key_id, relid, 0, None, None, 7, key_id.to_bytes(4, "big"))]
    for name in key:
        number = names.index(name)
        rows.append(_part(key_id, relid, len(rows), relid * 100 + number, number, 0, None))
    number = len(names)
    rows.append(_part(key_id, relid, len(rows), relid * 100 + number, number, 2, None))
    for name in rest:
        number = names.index(name)
        rows.append(_part(key_id, relid, len(rows), relid * 100 + number, number, 0, None))
    return rows


def _part(
    key_id: int,
    relid: int,
    number: int,
    attribute: int | None,
    column: int | None,
    kind: int,
    constant: bytes | None,
) -> dict[str, object]:
    return {
        "ID": key_id,
        "REL_ID": relid,
        "KEYP_NO": number,
        "ATTR_ID": attribute,
        "ATTR_NO": column,
        "ATTR_TYPE": kind,
        "CONST_VALUE": constant,
    }


def _foreign(
    tables: list[Table],
    table: Table,
    foreign: object,
    key_id: int,
    files: dict[str, list[dict[str, object]]],
) -> list[dict[str, object]]:
    """Both rows of a foreign key, and their parts."""
    parent = next(t for t in tables if t.name == foreign.parent)
    action = {"CASCADE": 0, "SET NULL": 1, "NO ACTION": 4}[foreign.action]
    rows = []
    for side, (owner, columns) in enumerate(((table, foreign.columns), (parent, parent.key)), 1):
        number = key_id + side
        rows.append(
            {
                "ID": number,
                "REF_REL_ID": relid_of(owner),
                "CREATE_REL_ID": relid_of(table),
                "REF_KEY_ID": number,
                "REF_TYPE": side,
                "KEY_SCHEMA": table.schema,
                "KEY_CATALOG": "SHOP",
                "KEY_NREF": len(columns) + 1,
                "KEY_NAME": f"$$T_FORKEY_{key_id}",
                "KEY_ACTION": (4 + 1) << 8 | (action + 1),
            }
        )
        names = [c.name for c in owner.columns]
        parts = [_part(number, relid_of(owner), 0, None, None, 7, b"\0\0\0\1")]
        for name in columns:
            at = names.index(name)
            parts.append(
                _part(number, relid_of(owner), len(parts), relid_of(owner) * 100 + at, at, 0, None)
            )
        files["sys_forkeyparts"] += [
            {k: v for k, v in part.items() if k != "REL_ID"} for part in parts
        ]
    return rows
