"""Exports of solidDB's SYS_LOG by the format notes: row images, rows of the log, system tables.

Numbers of sections in comments are those of the notes on that format.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.independent.tables import Column, Row, Table
from tests.independent.values import Value

#: Type -> its numbers in SQL and in the engine (7.1, 11).
TYPES = {
    "TINYINT": (-6, 1),
    "SMALLINT": (5, 1),
    "INTEGER": (4, 1),
    "BIGINT": (-5, 8),
    "REAL": (7, 2),
    "FLOAT": (6, 3),
    "DOUBLE PRECISION": (8, 3),
    "DECIMAL": (3, 5),
    "NUMERIC": (2, 5),
    "CHAR": (1, 0),
    "VARCHAR": (12, 0),
    "LONG VARCHAR": (-1, 0),
    "WCHAR": (-8, 7),
    "WVARCHAR": (-9, 7),
    "LONG WVARCHAR": (-10, 7),
    "BINARY": (-2, 6),
    "VARBINARY": (-3, 6),
    "LONG VARBINARY": (-4, 6),
    "DATE": (9, 4),
    "TIME": (10, 4),
    "TIMESTAMP": (11, 4),
}
#: Engine's types whose values have no one length.
VARYING = (0, 5, 6, 7)
PROFILES = ("len32", "len32z", "va", "ind0", "ind1", "ind0p", "len16", "len32le")
#: Profiles whose text always ends in one more zero byte (7.2).
ALWAYS_NUL = ("len32z", "va")
COUNTS = {"": "", "count16": ">H", "count32": ">I"}

INSERT, AFTER, DELETE, BEFORE, STATEMENT, START, COMMIT, DDL = 1, 3, 4, 5, 6, 7, 12, 13
NAMES = {
    INSERT: "INSERT",
    AFTER: "UPDATE",
    DELETE: "DELETE_FULL",
    BEFORE: "UPDATE_BEFOREIMAGE",
    STATEMENT: "SQL",
    START: "TRX_START",
    COMMIT: "COMMIT",
    DDL: "DDL",
}


@dataclass(frozen=True)
class Form:
    """How an export is written. ``hidden``: rows hold the hidden columns too. ``plain_years``: no
    32768 is added to years. ``after_first``: the image after an update comes before the one before
    it, and the new row before the old one where a key changes."""

    profile: str
    count: str = ""
    nul: bool = False
    address: int = 20
    hidden: bool = False
    plain_years: bool = False
    after_first: bool = False
    nothing: bool = False

    @property
    def name(self) -> str:
        """As the option that names a framing has it."""
        count = f"/{self.count}" if self.count else ""
        return self.profile + count + ("/nul" if self.ends and not self.always else "")

    @property
    def always(self) -> bool:
        return self.profile in ALWAYS_NUL

    @property
    def ends(self) -> bool:
        """Whether text ends in a zero byte."""
        return self.nul or self.always

    def image(self, parts: Sequence[tuple[bytes | None, bool]]) -> bytes:
        """A row of values and whether they are of varying length (7.2)."""
        data = struct.pack(COUNTS[self.count], len(parts)) if self.count else b""
        for value, varying in parts:
            data += self._value(value + b"\0" if value is not None and varying and self.ends
                                else value)  # fmt: skip
        return data

    def _value(self, value: bytes | None) -> bytes:
        lengths = {"len32": ">I", "len32le": "<I", "len16": ">H", "len32z": ">I"}
        form = lengths.get(self.profile)
        if form is not None:
            null = 0 if self.profile == "len32z" else (1 << 8 * struct.calcsize(form)) - 1
            length = struct.pack(form, null if value is None else len(value))
            return length + (value or b"")
        if self.profile == "va":
            if value is None:
                return b"\0"
            short = bytes((len(value),)) if len(value) < 0xFE else b""
            return (short or b"\xfe" + struct.pack("<I", len(value))) + value
        null_byte, there = (b"\0", b"\1") if self.profile == "ind1" else (b"\1", b"\0")
        if value is None:
            return null_byte + (bytes(4) if self.profile == "ind0p" else b"")
        return there + struct.pack(">I", len(value)) + value

    def bytes_of(self, column: Column, value: Value) -> bytes | None:
        """A value (7.5 to 7.8)."""
        engine = TYPES[column.kind][1]
        if value is None or isinstance(value, bytes):
            return value
        if isinstance(value, Decimal):
            return format(value, "f").encode()
        if isinstance(value, float):
            return struct.pack(">d", value)
        if isinstance(value, int):
            return struct.pack(">q" if engine == 8 else ">i", value)
        if engine == 4:
            return self.moment(column.kind, value)
        return value.encode("utf-16-be" if engine == 7 else "utf-8")

    def moment(self, kind: str, value: str) -> bytes:
        day = "0-0-0" if kind == "TIME" else value[:10]
        hour = value if kind == "TIME" else value[11:19] or "0:0:0"
        year, month, number = map(int, day.split("-"))
        fraction = int(value[20:].ljust(9, "0")) if kind == "TIMESTAMP" else 0
        year += 0 if self.plain_years else 0x8000
        return struct.pack(">HBBBBBI", year, month, number, *map(int, hour.split(":")), fraction)


@dataclass
class Line:
    """A row of SYS_LOG; ``trx`` and ``statement`` are numbers, but of a row that says nothing."""

    recid: int | None
    trx: int | None = None
    statement: int | None = None
    relid: int | None = None
    flags: int = 1
    address: bytes = b""
    data: bytes | None = None
    session: int = 0


LOG = ("SEQ", "RECID", "RECNAME", "TRXID", "STMTTRXID", "RELID", "FLAGS", "LOGADDR", "DATA")


@dataclass
class Export:
    """The rows of an export as they are fetched."""

    form: Form
    lines: list[Line] = field(default_factory=list)
    position: int = 1

    def put(
        self,
        recid: int,
        trx: int,
        statement: int,
        relid: int | None = None,
        data: bytes | None = None,
    ) -> None:
        form = ">QIII" if self.form.address == 20 else ">QIQQ"
        address = struct.pack(form, self.position, 0xFFFFFFFF, trx, statement)
        self.position += 1
        self.lines.append(Line(recid, trx, statement, relid, 1, address, data))

    def nothing(self) -> None:
        """There is nothing at the moment (5)."""
        self.lines.append(Line(None, flags=0))

    def row(self, recid: int, trx: int, statement: int, table: Table, row: Row) -> None:
        parts: list[tuple[bytes | None, bool]] = []
        for at, column in enumerate(numbered(table)):
            if column is not None and column.removed:
                continue
            if column is not None:
                value = self.form.bytes_of(column, row[table.columns.index(column)])
                parts.append((value, TYPES[column.kind][1] in VARYING))
            elif self.form.hidden:
                parts.append((struct.pack(">q", 1000 + at), False))
        self.put(recid, trx, statement, table.number[0], self.form.image(parts))

    def write(self, folder: Path) -> Path:
        return self.write_parts(folder, "csv", [(0, len(self.lines))])[0]

    def write_parts(
        self, folder: Path, suffix: str, parts: Sequence[tuple[int, int]]
    ) -> list[Path]:
        """Files with the lines from one number up to another (3)."""
        sessions = any(line.session for line in self.lines)
        rows: list[dict[str, object]] = []
        for number, line in enumerate(self.lines):
            name = NAMES.get(line.recid or 0)
            name = name and f"DBE_LOGREADER_LOG_REC_{name}"
            numbers = (line.recid, name, line.trx, line.statement, line.relid, line.flags)
            row = dict(zip(LOG, (number, *numbers, line.address or None, line.data), strict=True))
            rows.append({**row, "SESSION": line.session} if sessions else row)
        paths = []
        for number, (low, high) in enumerate(parts):
            name = f"syslog-{number:03}" if len(parts) > 1 else "syslog"
            paths.append(folder / f"{name}.{suffix}")
            write_rows(paths[-1], rows[low:high])
        return paths


def write_rows(path: Path, rows: Sequence[dict[str, object]]) -> None:
    """Rows as CSV, JSON lines or Parquet, by the name of the file."""
    if path.suffix == ".parquet":
        kinds = {"RECNAME": pa.string(), "LOGADDR": pa.binary(), "DATA": pa.binary()}
        names = list(rows[0] if rows else LOG)
        arrays = [pa.array([row[n] for row in rows], type=kinds.get(n, pa.int64())) for n in names]
        pq.write_table(pa.Table.from_arrays(arrays, names=names), path)
        return
    plain = [
        {k: v.hex().upper() if isinstance(v, bytes) else v for k, v in row.items()} for row in rows
    ]
    text = io.StringIO(newline="")
    if ".csv" in path.name:
        writer = csv.DictWriter(text, [*plain[0]] if plain else LOG)
        writer.writeheader()
        writer.writerows(plain)
    else:
        text.writelines(json.dumps(row) + "\n" for row in plain)
    data = text.getvalue().encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def numbered(table: Table) -> Iterator[Column | None]:
    """The columns by their numbers; None for hidden ones, which lie behind those that the table was
    created with (7.4)."""
    yield from table.columns[: table.first]
    if not table.key:
        yield None
    yield None
    yield from table.columns[table.first :]


# -- system tables (11, 14)

_TABLES = ("ID", "TABLE_NAME", "TABLE_TYPE", "TABLE_SCHEMA", "TABLE_CATALOG")
_COLUMNS = (
    *("ID", "REL_ID", "COLUMN_NAME", "COLUMN_NUMBER", "DATA_TYPE", "SQL_DATA_TYPE_NUM"),
    *("DATA_TYPE_NUMBER", "CHAR_MAX_LENGTH", "NUMERIC_PRECISION", "NUMERIC_SCALE", "NULLABLE"),
    *("ATTR_TYPE", "DEFAULT_VAL"),
)
_KEYS = ("ID", "REL_ID", "KEY_NAME", "KEY_UNIQUE", "KEY_PRIMARY", "KEY_NREF")
_PARTS = ("ID", "REL_ID", "KEYP_NO", "ATTR_ID", "ATTR_NO", "ATTR_TYPE", "CONST_VALUE")
_FOREIGN = (
    *("ID", "REF_REL_ID", "CREATE_REL_ID", "REF_KEY_ID", "REF_TYPE", "KEY_SCHEMA"),
    *("KEY_CATALOG", "KEY_NREF", "KEY_NAME", "KEY_ACTION"),
)
_FOREIGN_PARTS = tuple(name for name in _PARTS if name != "REL_ID")
_HIDDEN = {1: "RS_ANAME_TUPLE_ID", 2: "RS_ANAME_TUPLE_VERSION"}
#: What happens to a row whose parent is deleted (11).
_ACTIONS = {"cascade": 0, "set null": 1, "no action": 4}

Cells = tuple[object, ...]
Names = tuple[str, ...]


@dataclass(frozen=True)
class Keys:
    """Keys of a table beside its first one. ``foreign``: columns, the parent's name and columns,
    and what a delete of the parent does."""

    unique: tuple[Names, ...] = ()
    foreign: tuple[tuple[Names, str, Names, str], ...] = ()


def write_system_tables(
    tables: Sequence[Table], folder: Path, keys: Mapping[str, Keys] | None = None
) -> None:
    """The folder ``meta`` and ``manifest.json``. ``keys``: more of them, by table."""
    meta = folder / "meta"
    meta.mkdir(exist_ok=True)
    rows: dict[str, list[Cells]] = {
        name: [] for name in ("sys_tables", "sys_columns", "sys_keys", "sys_keyparts")
    }
    names: tuple[Names, ...] = (_TABLES, _COLUMNS, _KEYS, _PARTS)
    if keys and any(found.foreign for found in keys.values()):
        rows |= {"sys_forkeys": [], "sys_forkeyparts": []}
        names = (*names, _FOREIGN, _FOREIGN_PARTS)
    for number, table in enumerate(tables):
        relid = table.number[0]
        rows["sys_tables"].append((relid, table.name, "BASE TABLE", table.schema, "CAT"))
        _describe(table, 20_000 + 100 * number, rows)
    for table in tables:
        _describe_keys(tables, table, (keys or {}).get(table.name, Keys()), rows)
    for (name, cells), header in zip(rows.items(), names, strict=True):
        with (meta / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *cells])
    text = json.dumps({"product_version": "7.0", "char_encoding": "UTF8"})
    (folder / "manifest.json").write_text(text, encoding="utf-8")


def _describe(table: Table, ident: int, rows: dict[str, list[Cells]]) -> None:
    """The columns and the first key of a table, whose parts are all its columns."""
    relid, primary = table.number[0], bool(table.key)
    at = dict[object, tuple[int, int]]()
    hidden = 2 if primary else 1
    for number, column in enumerate(numbered(table)):
        ident += 1
        if column is None:
            at[hidden] = (ident, number)
            cells: Cells = (_HIDDEN[hidden], number, "BIGINT", -5, 8, 8, 19, "", "NO", hidden)
            hidden += 1
        else:
            at[column.name] = (ident, number)
            numeric = column.kind in ("DECIMAL", "NUMERIC")
            sizes = (column.length, column.scale) if numeric else ("", "")
            null = "YES" if column.nullable else "NO"
            length = column.length + 2 * numeric
            kind = (column.kind, *TYPES[column.kind])
            cells = (column.name, number, *kind, length, *sizes, null, 8 * column.removed)
        default = column.default if column else ""
        rows["sys_columns"].append((ident, relid, *cells, default))
    key, said = relid + 1, "YES" if primary else "NO"
    name = f"$$T_{'PRIMARYKEY' if primary else 'CLUSTKEY'}_{relid}"
    rows["sys_keys"].append((key, relid, name, said, said, len(table.key) + 1))
    parts: list[Cells] = [("", "", 7, "0000271D")]
    parts += [(*at[table.columns[number].name], 0, "") for number in table.key]
    parts += [(*at[kind], kind, "") for kind in _HIDDEN if kind in at]
    others = [c for n, c in enumerate(table.columns) if n not in table.key]
    parts += [(*at[other.name], 8 * other.removed, "") for other in others]
    rows["sys_keyparts"] += [(key, relid, number, *part) for number, part in enumerate(parts)]


def _describe_keys(
    tables: Sequence[Table], table: Table, keys: Keys, rows: dict[str, list[Cells]]
) -> None:
    """Unique keys, and foreign ones, of which each end has a row."""
    relid, ident = table.number[0], 10 * table.number[0]
    for number, key in enumerate(keys.unique):
        ident += 1
        name = f"$$T_UNQKEY_{relid}_{number}"
        rows["sys_keys"].append((ident, relid, name, "YES", "NO", len(key) + 1))
        rows["sys_keyparts"] += [(ident, relid, *part) for part in _parts(tables, table, key, True)]
    for columns, parent, theirs, action in keys.foreign:
        other = next(one for one in tables if one.name == parent)
        ident += 1
        name, done = f"$$T_FORKEY_{ident}", (4 + 1) << 8 | _ACTIONS[action] + 1
        for side, (owner, key) in enumerate(((table, columns), (other, theirs)), 1):
            end = 10 * ident + side
            row = (end, owner.number[0], relid, end, side, table.schema, "CAT", len(key) + 1)
            rows["sys_forkeys"].append((*row, name, done))
            parts = _parts(tables, owner, key, False)
            rows["sys_forkeyparts"] += [(end, *part) for part in parts]


def _parts(tables: Sequence[Table], table: Table, key: Names, hidden: bool) -> Iterator[Cells]:
    """The parts of a key: a constant, its columns, and of keys the hidden version."""
    yield (0, "", "", 7, "00000001")
    first = 20_001 + 100 * tables.index(table)
    listed = [*numbered(table)]
    places = [n for name in key for n, one in enumerate(listed) if one and one.name == name]
    for number, place in enumerate(places, 1):
        yield (number, first + place, place, 0, "")
    if hidden:
        place = max(n for n, one in enumerate(listed) if one is None)
        yield (len(key) + 1, first + place, place, 2, "")


def form_of(seed: int) -> Form:
    """Framings in turn; the rest is drawn."""
    forms = [
        (profile, count, nul)
        for profile in PROFILES
        for count in COUNTS
        for nul in (False, True)
        if not (nul and profile in ALWAYS_NUL)
    ]
    pick = random.Random(f"solid form {seed}")
    flags = [pick.random() < chance for chance in (0.25, 0.25, 0.3, 0.5)]
    profile, count, nul = forms[seed * 11 % len(forms)]
    return Form(profile, count, nul, pick.choice((20, 20, 28)), *flags)
