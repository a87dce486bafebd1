"""What an export of SYS_LOG looks like: types, values with their edges, the bytes of DATA under
every framing that the format knows, and files. Nothing of logreplay is used here."""

from __future__ import annotations

import csv
import gzip
import io
import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

#: A row by the identity of its columns (and its hidden version), by names, and a row of SYS_LOG.
Row = dict[int | str, Any]
Image = dict[str, Any]
Line = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """A type as SQL writes it, as SYS_COLUMNS lists it and as DATA holds it."""

    sql: str
    name: str
    number: int
    code: int
    length: int = 0
    precision: int = 0
    scale: int = 0


@dataclass(frozen=True)
class Column:
    ident: int
    name: str
    kind: Kind
    number: int
    nullable: bool = True
    attribute: int = 0


@dataclass
class Table:
    relid: int
    name: str
    columns: list[Column]
    key: tuple[int, ...]
    schema: str = "DBA"
    rows: list[Row] = field(default_factory=list)
    dropped: list[Column] = field(default_factory=list)
    hidden: list[Column] = field(default_factory=list)

    def copy(self) -> Table:
        return replace(
            self,
            columns=list(self.columns),
            rows=[dict(row) for row in self.rows],
            dropped=list(self.dropped),
            hidden=list(self.hidden),
        )

    def named(self, row: Row) -> Image:
        return {column.name: row[column.ident] for column in self.columns}

    def key_of(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[ident] for ident in self.key)


@dataclass(frozen=True)
class Way:
    """How the export is written."""

    length: str = "len32"
    nul: bool = False
    count: int = 0
    columns: str = "A"
    biased: bool = True
    wide_address: bool = False
    shared_address: bool = False
    form: str = "csv"
    utf16_ddl: bool = False
    loose_decimals: bool = False


def version_column(ident: int, number: int) -> Column:
    """The hidden column that every table has."""
    kind = Kind("BIGINT", "BIGINT", -5, 8, 8, 19)
    return Column(ident, "RS_ANAME_TUPLE_VERSION", kind, number, False, 2)


def kinds(random: Random) -> list[Kind]:
    size = random.choice([1, 7, 40, 250])
    scale = random.choice(SCALES)
    digits = min(52, scale + random.choice([0, 1, 9, 18])) or 5
    return [
        Kind("TINYINT", "TINYINT", -6, 1, 1, 3),
        Kind("SMALLINT", "SMALLINT", 5, 1, 2, 5),
        Kind("INTEGER", "INTEGER", 4, 1, 4, 10),
        Kind("BIGINT", "BIGINT", -5, 8, 8, 19),
        Kind("REAL", "REAL", 7, 2, 4, 7),
        Kind("FLOAT", "FLOAT", 6, 3, 8, 15),
        Kind("DOUBLE PRECISION", "DOUBLE PRECISION", 8, 3, 8, 15),
        Kind(f"DECIMAL({digits},{scale})", "DECIMAL", 3, 5, digits + 2, digits, scale),
        Kind(f"NUMERIC({digits},{scale})", "NUMERIC", 2, 5, digits + 2, digits, scale),
        Kind(f"CHAR({size})", "CHAR", 1, 0, size),
        Kind(f"VARCHAR({size})", "VARCHAR", 12, 0, size),
        Kind("LONG VARCHAR", "LONG VARCHAR", -1, 0, 2147483647),
        Kind(f"WCHAR({size})", "WCHAR", -8, 7, size),
        Kind(f"WVARCHAR({size})", "WVARCHAR", -9, 7, size),
        Kind("LONG WVARCHAR", "LONG WVARCHAR", -10, 7, 2147483647),
        Kind(f"BINARY({size})", "BINARY", -2, 6, size),
        Kind(f"VARBINARY({size})", "VARBINARY", -3, 6, size),
        Kind("LONG VARBINARY", "LONG VARBINARY", -4, 6, 2147483647),
        Kind("DATE", "DATE", 9, 4, 11),
        Kind("TIME", "TIME", 10, 4, 11),
        Kind("TIMESTAMP", "TIMESTAMP", 11, 4, 11),
    ]


SCALES = [0, 1, 5, 13, 30, 52]
LETTERS = "aZ09 _-.,;:'\"\\/%$#\n\r\tÅéß€漢字\u00a0\u3000\u200b\ufeff\U0001f600\U0010ffff\U00020000"


def text(random: Random, limit: int, units: bool) -> str:
    if random.random() < 0.12:
        return random.choice(
            ["", " ", "NULL", "\\N", "''", "x ", " x", "--", "';--", "$$", "{}", "="]
        )[:limit]
    wanted = (
        min(limit, random.choice([1, 2, limit // 2, limit]))
        if limit < 1000
        else random.choice([0, 3, 253, 254, 255, 256, 257, 300, 269, 273, 5000])
    )
    out, used = [], 0
    while used < wanted:
        letter = random.choice(LETTERS if random.random() < 0.6 else "abcdefgh ")
        used += 2 if units and ord(letter) > 0xFFFF else 1
        if used <= wanted:
            out.append(letter)
    return "".join(out)


def value(random: Random, kind: Kind, micro: bool) -> Any:
    name = kind.name
    if kind.code in (0, 7):
        drawn = text(random, kind.length, kind.code == 7)
        return drawn.rstrip(" ") if name in ("CHAR", "WCHAR") else drawn
    if kind.code == 6:
        if kind.length < 1000:
            size = kind.length if name == "BINARY" else random.choice([0, 1, kind.length])
        else:
            size = random.choice([0, 1, 256, 300])
        if random.random() < 0.3:
            return bytes(range(256))[:size].ljust(size, b"\0") if size <= 300 else b""
        return random.choice([bytes(size), b"\xff" * size, random.randbytes(size)])
    if kind.code in (1, 8):
        bits = {"TINYINT": 7, "SMALLINT": 15, "INTEGER": 31, "BIGINT": 63}[name]
        edge = [-(1 << bits), (1 << bits) - 1, 0, 1, -1, random.getrandbits(bits)]
        return random.choice(edge)
    if kind.code == 2:
        single = random.choice([0.1, -0.0, 0.0, 1.5, -2.25, 1.7e38, 1e-30, 16777216.0, 3.4028e-5])
        return struct.unpack(">f", struct.pack(">f", single))[0]
    if kind.code == 3:
        return random.choice(
            [
                0.1,
                -0.0,
                0.0,
                1e300,
                -1e-300,
                123456789.123456789,
                2.0**53,
                5e-324,
                1 / 3,
                -1e15,
                1e16,
            ]
        )
    if kind.code == 5:
        digits = random.choice([1, min(2, kind.precision), kind.precision])
        number = random.getrandbits(180) % 10**digits if random.random() < 0.8 else 10**digits - 1
        return exactly(random.choice([-1, 1]) * number, kind.scale)
    year = random.choice([1, 1582, 1752, 1899, 1900, 1969, 1970, 2000, 2024, 9999])
    month, day = random.choice([(1, 1), (2, 28), (12, 31), (10, 10)])
    date = f"{year:04d}-{month:02d}-{day:02d}"
    clock = random.choice(["00:00:00", "23:59:59", "12:00:01", "08:09:10"])
    if name == "DATE":
        return date
    if name == "TIME":
        return clock
    fraction = random.choice([0, 1000, 999999000, 123456000, 100000000])
    if not micro and random.random() < 0.4:
        fraction = random.choice([1, 999999999, 123456789])
    return f"{date} {clock}.{fraction:09d}"


def exactly(number: int, scale: int) -> Decimal:
    """A decimal of any number of digits (the context of arithmetic would round it)."""
    return Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -scale))


def packed(given: Any, kind: Kind, biased: bool, loose: bool) -> bytes:
    if kind.code == 0:
        return str(given).encode()
    if kind.code == 7:
        return str(given).encode("utf-16-be")
    if kind.code == 6:
        return bytes(given)
    if kind.code == 1:
        return struct.pack(">i", given)
    if kind.code == 8:
        return struct.pack(">q", given)
    if kind.code in (2, 3):
        return struct.pack(">d", given)
    if kind.code == 5:
        shown = f"{given:f}"
        if loose and "." not in shown:
            shown += "."
        elif loose and shown.lstrip("-").startswith("0."):
            shown = shown.replace("0.", ".", 1)
        return shown.encode()
    date, clock, fraction = "0000-00-00", "00:00:00", 0
    if kind.name == "DATE":
        date = given
    elif kind.name == "TIME":
        clock = given
    else:
        date, rest = given.split(" ")
        clock, digits = rest.split(".")
        fraction = int(digits)
    year, month, day = map(int, date.split("-"))
    hour, minute, second = map(int, clock.split(":"))
    return struct.pack(
        ">HBBBBBI", year + 32768 * biased, month, day, hour, minute, second, fraction
    )


def framed(values: Sequence[tuple[bytes | None, bool]], way: Way) -> bytes:
    """DATA of (bytes or None, whether text or bytes) under a framing."""
    out = struct.pack({0: "", 2: ">H", 4: ">I"}[way.count], *([len(values)] if way.count else []))
    for data, open_ended in values:
        if data is not None and open_ended and (way.nul or way.length in ("len32z", "va")):
            data += b"\0"
        size = 0 if data is None else len(data)
        if way.length == "len32":
            out += b"\xff\xff\xff\xff" if data is None else struct.pack(">I", size)
        elif way.length == "len32z":
            out += struct.pack(">I", size)
        elif way.length == "va":
            out += bytes([size]) if size < 0xFE else b"\xfe" + struct.pack("<I", size)
        elif way.length in ("ind0", "ind1"):
            null = way.length == "ind0"
            out += bytes([(data is not None and not null) or (data is None and null)])
            out += b"" if data is None else struct.pack(">I", size)
        elif way.length == "ind0p":
            out += bytes([data is None]) + struct.pack(">I", size)
        elif way.length == "len16":
            out += b"\xff\xff" if data is None else struct.pack(">H", size)
        elif way.length == "len32le":
            out += b"\xff\xff\xff\xff" if data is None else struct.pack("<I", size)
        out += data or b""
    return out


def shown(given: Any) -> str:
    if given is None:
        return "\\N"
    if isinstance(given, bytes):
        return "\\x" + given.hex()
    if isinstance(given, Decimal):
        return f"{given:f}"
    if isinstance(given, str):
        return '"' + given.replace('"', '""') + '"'
    return repr(given)


def csv_text(lines: Sequence[Line]) -> str:
    stream = io.StringIO()
    if lines:
        out = csv.DictWriter(stream, list(lines[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(lines)
    return stream.getvalue()


def written(log: Sequence[Line], folder: Path, form: str, name: str = "syslog") -> Path:
    path = folder / f"{name}.{form}"
    if form == "parquet":
        columns = {n: [line[n] for line in log] for n in log[0]}
        for n in ("LOGADDR", "DATA"):
            columns[n] = [None if v is None else bytes.fromhex(v) for v in columns[n]]
        pq.write_table(pa.table(columns), path)
        return path
    if form.startswith("csv"):
        data = csv_text(log).encode()
    else:
        data = "".join(json.dumps(line) + "\n" for line in log).encode()
    path.write_bytes(gzip.compress(data, mtime=0) if form.endswith("gz") else data)
    return path


def metadata(tables: Sequence[Table]) -> dict[str, list[Line]]:
    out: dict[str, list[Line]] = {
        "sys_tables": [],
        "sys_columns": [],
        "sys_keys": [],
        "sys_keyparts": [],
    }
    for table in tables:
        out["sys_tables"].append(
            {
                "ID": table.relid,
                "TABLE_NAME": table.name,
                "TABLE_TYPE": "BASE TABLE",
                "TABLE_SCHEMA": table.schema,
                "TABLE_CATALOG": "SHOP",
            }
        )
        for c in table.columns + table.dropped + table.hidden:
            out["sys_columns"].append(
                {
                    "ID": c.ident,
                    "REL_ID": table.relid,
                    "COLUMN_NAME": c.name,
                    "COLUMN_NUMBER": c.number,
                    "DATA_TYPE": c.kind.name,
                    "SQL_DATA_TYPE_NUM": c.kind.number,
                    "DATA_TYPE_NUMBER": c.kind.code,
                    "CHAR_MAX_LENGTH": c.kind.length or None,
                    "NUMERIC_PRECISION": c.kind.precision or None,
                    "NUMERIC_SCALE": c.kind.scale if c.kind.code == 5 else None,
                    "NULLABLE": "YES" if c.nullable else "NO",
                    "ATTR_TYPE": c.attribute,
                }
            )
        kid = table.relid + 500000
        by_ident = {c.ident: c for c in table.columns}
        out["sys_keys"].append(
            {
                "ID": kid,
                "REL_ID": table.relid,
                "KEY_NAME": ("$$T_PRIMARYKEY_" if table.key else "$$T_CLUSTKEY_")
                + str(table.relid),
                "KEY_UNIQUE": "YES" if table.key else "NO",
                "KEY_PRIMARY": "YES" if table.key else "NO",
                "KEY_NREF": len(table.key) + 1,
            }
        )
        parts = [by_ident[i] for i in table.key] + table.hidden
        parts += [c for c in table.columns if c.ident not in table.key]
        out["sys_keyparts"].append(
            {
                "ID": kid,
                "REL_ID": table.relid,
                "KEYP_NO": 0,
                "ATTR_ID": None,
                "ATTR_NO": None,
                "ATTR_TYPE": 7,
                "CONST_VALUE": "0000271D",
            }
        )
        for n, c in enumerate(parts, 1):
            out["sys_keyparts"].append(
                {
                    "ID": kid,
                    "REL_ID": table.relid,
                    "KEYP_NO": n,
                    "ATTR_ID": c.ident,
                    "ATTR_NO": c.number,
                    "ATTR_TYPE": c.attribute,
                    "CONST_VALUE": None,
                }
            )
    return out
