#!/usr/bin/env python3
"""Finds out how a solidDB server lays out row images in SYS_LOG, for: logreplay --source soliddb
--framing NAME --log-option columns=LETTER.

    SOLID_USER=owner SOLID_PASSWORD=... scripts/calibrate_soliddb.py DSN FOLDER

Makes two tables, LOGREPLAY_CALIBRATE_TYPES and LOGREPLAY_CALIBRATE_SHAPES, writes rows of known
values, exports what the log says of them with scripts/export_soliddb.py, drops the tables, and
prints the framing and the column list that give every value back, if they are the only ones. Run it
on an idle server whose log reader is enabled; it takes seconds. Needs pyodbc and logreplay.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(1, str(Path(__file__).resolve().parent.parent))

import export_soliddb
import numpy as np

from replay.changes.catalog import RowFormat
from replay.errors import InputError, LogReplayError, Where
from replay.logs.soliddb import layouts
from replay.logs.soliddb.detect import SolidShape, listed
from replay.logs.soliddb.export import read_rows
from replay.logs.soliddb.export_files import find
from replay.logs.soliddb.joined_rows import Joined, join
from replay.logs.soliddb.layouts import Rec
from replay.logs.soliddb.manifest import charset_number, read_manifest
from replay.logs.soliddb.rows import SolidRowWalk, walk
from replay.logs.soliddb.tables import SolidTable, SystemTables
from replay.storage import at
from sqlgen.schema import SqlType

#: Tables that calibration makes, and drops again.
TYPES, SHAPES = "LOGREPLAY_CALIBRATE_TYPES", "LOGREPLAY_CALIBRATE_SHAPES"
#: (column, type) of the table of types; every value of :data:`ROWS` stands in this order.
COLUMNS: tuple[tuple[str, str], ...] = (
    ("ID", "INTEGER NOT NULL"), ("C_TINY", "TINYINT"), ("C_SMALL", "SMALLINT"), ("C_BIG", "BIGINT"),
    ("C_REAL", "REAL"), ("C_DOUBLE", "DOUBLE PRECISION"),
    ("C_DECIMAL", "DECIMAL(20,4)"), ("C_CHAR", "CHAR(20)"), ("C_VARCHAR", "VARCHAR(400)"),
    ("C_LONG", "LONG VARCHAR"), ("C_WCHAR", "WCHAR(20)"),
    ("C_WVARCHAR", "WVARCHAR(400)"), ("C_BINARY", "VARBINARY(400)"),
    ("C_LONGBINARY", "LONG VARBINARY"), ("C_DATE", "DATE"), ("C_TIME", "TIME"),
    ("C_TIMESTAMP", "TIMESTAMP"),
)  # fmt: skip
_NULLS: tuple[Any, ...] = (None,) * (len(COLUMNS) - 1)
_FULL: tuple[Any, ...] = (
    -128, -32768, -(2**63), 0.5, -0.75, "12.5000", "Ada", "Lovelace", "x" * 300,
    "\u00c5\u00e9\u20ac", "\u00c5sa", b"\x00\x01", b"\x00" * 300,
    "2024-02-29", "23:59:59", "2024-02-29 13:05:09.123456",
)  # fmt: skip
#: The rows of the table of types.
ROWS: tuple[tuple[Any, ...], ...] = (
    (1, *_NULLS),
    (2, *_FULL),
    (3, 0, 0, 0, 0.0, 0.0, "0.0000", "", "", "", "", "", b"", b"", "0001-01-01", "00:00:00",
        "0001-01-01 00:00:00.000000"),
    (
        4, 127, 32767, 2**63 - 1, 0.125, 1e300, "-0.7500", "a b", " ", " ", "w", " ",
        b"\x00", b"\x00\x00", "9999-12-31", "00:00:01", "9999-12-31 23:59:59.999999",
    ),
    *((10 + size, *_NULLS[:7], "v" * size, *_NULLS[8:]) for size in (1, 127, 253, 254, 255, 256)),
    (5, *_NULLS[:8], "y" * 3_000, *_NULLS[9:]),
)  # fmt: skip
#: The table of shapes: a column is dropped and another added; its last rows have ID, C_KEPT and
#: C_MORE.
SHAPE_ROWS: tuple[tuple[Any, ...], ...] = ((7, "left", 70), (8, None, None))

#: Statements with their parameters, in order; None commits.
STATEMENTS: tuple[tuple[str, tuple[Any, ...]] | None, ...] = (
    (
        (
            f"CREATE TABLE {TYPES} ({', '.join(f'{name} {kind}' for name, kind in COLUMNS)},"
            " PRIMARY KEY (ID))"
        ),
        (),
    ),
    (
        (
            f"CREATE TABLE {SHAPES} (ID INTEGER NOT NULL, C_GONE VARCHAR(20), C_KEPT VARCHAR(20),"
            " PRIMARY KEY (ID))"
        ),
        (),
    ),
    None,
    *((f"INSERT INTO {TYPES} VALUES ({', '.join('?' * len(COLUMNS))})", row) for row in ROWS),
    (f"INSERT INTO {SHAPES} VALUES (?, ?, ?)", (6, "away", "left")),
    None,
    (f"UPDATE {TYPES} SET C_VARCHAR = 'changed' WHERE ID = 2", ()),
    (f"UPDATE {TYPES} SET ID = 99 WHERE ID = 1", ()),
    (f"DELETE FROM {TYPES} WHERE ID = 3", ()),
    None,
    (f"ALTER TABLE {SHAPES} DROP COLUMN C_GONE", ()),
    None,
    (f"ALTER TABLE {SHAPES} ADD COLUMN C_MORE INTEGER", ()),
    None,
    *((f"INSERT INTO {SHAPES} VALUES (?, ?, ?)", row) for row in SHAPE_ROWS),
    None,
)


def parameters(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values of a row of :data:`ROWS` as a driver takes them: decimals, dates and times as
    such."""
    if len(row) != len(COLUMNS):
        return row
    kinds: dict[str, Callable[[str], Any]] = {
        "DECIMAL(20,4)": Decimal,
        "DATE": date.fromisoformat,
        "TIME": time.fromisoformat,
        "TIMESTAMP": datetime.fromisoformat,
    }
    return tuple(
        value if value is None or kind not in kinds else kinds[kind](value)
        for value, (_, kind) in zip(row, COLUMNS, strict=True)
    )


#: What takes the tables away again, after the export.
CLEAN_UP = (f"DROP TABLE {TYPES}", f"DROP TABLE {SHAPES}")
_HINT = "Run this again with another folder; if it fails again, report it with that folder"


def calibrated(folder: str, charset: int) -> SolidShape:
    """The shape that a calibration export was written with.

    InputError LR2031 where the export lacks the calibration tables or their rows, LR2018 where not
    exactly one reading gives back every value.
    """
    path = find(at(folder), "syslog") if at(folder).is_dir() else None
    if path is None:
        raise InputError(
            "LR2031",
            "found no syslog file; expected the export of the log",
            Where(folder),
            _HINT,
        )
    rows = join([read_rows(str(path))])
    tables = {
        entry.name: entry
        for entry in SystemTables(folder).tables(read_manifest(at(folder)), charset).values()
    }
    for name in (TYPES, SHAPES):
        if name not in tables:
            raise InputError(
                "LR2031", f"found no table {name}; expected it in sys_tables", Where(folder), _HINT
            )
    fits: dict[tuple[Any, ...], SolidShape] = {}
    for columns in layouts.COLUMN_LISTS:
        for framing in layouts.framings():
            shape = SolidShape(framing, columns)
            if _gives_back(rows, tables[TYPES], shape, ROWS) and _gives_back(
                rows, tables[SHAPES], shape, SHAPE_ROWS
            ):
                fits.setdefault(_places(rows, tables, shape), shape)
    if len(fits) != 1:
        readings = " and ".join(str(shape) for shape in fits.values()) or "no reading"
        raise InputError(
            "LR2018",
            f"found {readings} that gives back every calibration value; expected exactly one",
            Where(folder),
            _HINT,
        )
    return next(iter(fits.values()))


def _walked(rows: Joined, table: SolidTable, shape: SolidShape, count: int) -> SolidRowWalk | None:
    """The last ``count`` inserts of a table, read in one way; None where there are fewer."""
    mine = np.flatnonzero(
        (rows.numbers["RECID"] == Rec.INSERT) & (rows.numbers["RELID"] == table.id)
    )
    if table.name == TYPES:
        mine = mine[:count]
    mine = mine[-count:]
    fmt = RowFormat(tuple(entry.format for entry in listed(table.attributes, shape.columns)))
    return (
        walk(fmt, rows.data, rows.start[mine], rows.end[mine], shape.framing)
        if len(mine) == count
        else None
    )


def _gives_back(
    rows: Joined,
    table: SolidTable,
    shape: SolidShape,
    expected: Sequence[tuple[Any, ...]],
) -> bool:
    walk = _walked(rows, table, shape, len(expected))
    if walk is None or walk.bad.any():
        return False
    user = [
        entry.format.column.name for entry in table.attributes if entry.kind == layouts.ATTR_USER
    ]
    index = {column.column.name: number for number, column in enumerate(walk.format.columns)}
    for place, name in enumerate(user):
        values, bad = walk.decode(index[name])
        if bad is not None or place >= len(expected[0]):
            return False
        kind = walk.format.columns[index[name]].column.type
        if [_plain(value, kind) for value in values.to_pylist()] != [
            _plain(row[place], kind) for row in expected
        ]:
            return False
    return True


def _plain(value: Any, kind: SqlType) -> Any:
    """A value in the form in which both sides can be compared: text without blanks at its end,
    moments without zeros at theirs."""
    if value is None:
        return None
    if kind in (SqlType.CHAR, SqlType.VARCHAR, SqlType.CLOB):
        return str(value).rstrip(" ")
    if kind is SqlType.TIMESTAMP:
        return str(value).rstrip("0").rstrip(".")
    if kind in (SqlType.DECIMAL, SqlType.DECFLOAT):
        whole, _, fraction = str(value).partition(".")
        return whole, fraction.rstrip("0")
    return value


def _places(rows: Joined, tables: dict[str, SolidTable], shape: SolidShape) -> tuple[Any, ...]:
    """Where a reading finds its values: readings that find the same are the same."""
    walk = _walked(rows, tables[TYPES], shape, len(ROWS))
    assert walk is not None
    return tuple(
        (cells.place.tobytes(), cells.length.tobytes(), cells.null.tobytes())
        for cells in walk.columns
    )


def calibrate(connection: Any, folder: Path, charset: str = "utf-8", **settings: Any) -> SolidShape:
    """Run the statements, export the log, and find its shape. Errors as :func:`calibrated`; those
    of the connection pass through."""
    first = connection.cursor().execute(export_soliddb.FIRST).fetchone()
    if first is None or first[0] is None:
        raise ValueError(
            "the server gives no position of its log; is LogReader.LogReaderEnabled set to yes?"
        )
    connection.autocommit = False
    try:
        for statement in STATEMENTS:
            if statement is None:
                connection.commit()
            else:
                connection.cursor().execute(statement[0], *parameters(statement[1]))
        connection.autocommit = True
        export_soliddb.export(connection, folder, start=bytes(first[0]), **settings)
    finally:
        connection.autocommit = True
        for text in CLEAN_UP:
            connection.cursor().execute(text)
    (folder / "syslog-0000.jsonl.gz").replace(folder / "syslog.jsonl.gz")
    return calibrated(str(folder), charset_number(charset) or 1208)


def main(arguments: list[str] | None = None) -> int:
    """Run the calibration; its exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dsn", help="ODBC data source or connection string")
    parser.add_argument("folder", type=Path, help="a new folder for the result")
    parser.add_argument("--charset", default="utf-8", help="of CHAR columns (default utf-8)")
    given = parser.parse_args(arguments)
    if given.folder.exists():
        print(f"{given.folder} exists; name a new folder", file=sys.stderr)
        return 12
    try:
        connection, error, binary = export_soliddb.connect(given.dsn)
    except ImportError:
        print("pyodbc is not installed: pip install pyodbc", file=sys.stderr)
        return 12
    try:
        shape = calibrate(connection, given.folder, given.charset, binary=binary, error=error)
    except (LogReplayError, ValueError, OSError, error) as problem:
        print(f"calibrate_soliddb: {problem}", file=sys.stderr)
        return 12
    print(f"{shape}: --framing {shape.framing} --log-option columns={shape.columns}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
