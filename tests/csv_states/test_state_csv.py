"""Files of states as PostgreSQL, DuckDB, Db2 and we write them: the same rows of each, and what
could be read in two ways is refused with its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from replay.csv_states import CsvForm
from replay.errors import InputError
from replay.output.initial_load import state_file, state_rows
from sqlgen.schema import Column, SqlType, Table

COLUMNS = (
    Column("ID", SqlType.INTEGER, False),
    Column("D", SqlType.DECIMAL, True, 7, 2),
    Column("T", SqlType.VARCHAR, True, 20),
    Column("DAY", SqlType.DATE),
    Column("AT", SqlType.TIME),
    Column("TS", SqlType.TIMESTAMP, True, 6),
    Column("YES", SqlType.BOOLEAN),
    Column("F", SqlType.DOUBLE),
    Column("B", SqlType.BLOB),
)
TABLE = Table("S", "T", COLUMNS, ("ID",))
VALUES = (
    "(1, 12.50, 'a \"b\",'||chr(10)||'c', DATE '2024-03-15', TIME '10:20:30',"
    " TIMESTAMP '2024-03-15 10:20:30.5', true, 1e20, {}),"
    "(2, NULL, '', NULL, NULL, NULL, NULL, NULL, NULL),"
    "(3, -0.01, NULL, DATE '0001-01-01', TIME '00:00:00', TIMESTAMP '2024-02-29 00:00:00', false,"
    " -0.5, {})"
)
ROWS: list[tuple[Any, ...]] = [
    (1, "12.50", 'a "b",\nc', "2024-03-15", "10:20:30", "2024-03-15 10:20:30.500000", True, 1e20)
    + (b"\x00\xffab'\"\\",),
    (2, None, "", None, None, None, None, None, None),
    (3, "-0.01", None, "0001-01-01", "00:00:00", "2024-02-29 00:00:00.000000", False, -0.5, b""),
]
TYPES = "int, numeric(7, 2), varchar(20), date, time, timestamp, boolean, double precision, bytea"


def read(path: Path, table: Table = TABLE, form: CsvForm | None = None) -> list[tuple[Any, ...]]:
    """The rows of a file, columns in the table's order."""
    found: list[tuple[Any, ...]] = []
    for part in state_rows(state_file(path, table, form), table):
        columns = [part.after[column.name].to_pylist() for column in table.columns]
        found += zip(*columns, strict=True)
    return found


def named(types: str) -> str:
    names = (column.name.lower() for column in COLUMNS)
    kinds = types.split(", ")
    kinds[1:3] = [", ".join(kinds[1:3])]
    return ", ".join(f'"{name}" {kind}' for name, kind in zip(names, kinds, strict=True))


@pytest.mark.parametrize("header", ["", ", HEADER"])
def test_postgresql(fresh_database: str, tmp_path: Path, header: str) -> None:
    values = VALUES.format(r"'\x00ff6162272' || '25c'", "''").replace("'\\x00ff6162272' || '25c'",
        "'\\x00ff616227225c'")  # fmt: skip
    with psycopg.connect(fresh_database) as connection:
        connection.execute(f"CREATE TABLE t ({named(TYPES)})".encode())
        connection.execute(f"INSERT INTO t VALUES {values}".encode())
        with (
            connection.cursor().copy(f"COPY t TO STDOUT (FORMAT csv{header})".encode()) as copy,
            (tmp_path / "t.csv").open("wb") as file,
        ):
            for block in copy:
                file.write(block)
    assert read(tmp_path / "t.csv") == ROWS


@pytest.mark.parametrize("header", ["", ", HEADER false"])
def test_duckdb(tmp_path: Path, header: str) -> None:
    blob = r"'\x00\xFFab\x27\x22\x5C'::BLOB"
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t ({named(TYPES.replace('bytea', 'blob'))})")
        connection.execute(f"INSERT INTO t VALUES {VALUES.format(blob, repr('') + '::BLOB')}")
        connection.execute(f"COPY t TO '{tmp_path / 't.csv'}' (FORMAT csv{header})")
    assert read(tmp_path / "t.csv", form=CsvForm.DUCKDB) == ROWS
    with pytest.raises(InputError, match="column B, .* Bytes of DuckDB: --csv duckdb"):
        read(tmp_path / "t.csv")


def test_db2(tmp_path: Path) -> None:
    """As ``EXPORT TO t.csv OF DEL`` writes them; bytes by ``'\\x' || HEX(B)``."""
    (tmp_path / "t.csv").write_text(
        '1,+00012.50,"a ""b"",\nc",20240315,"10.20.30","2024-03-15-10.20.30.500000",1,'
        '+1.00000000000000E+020,"\\x00FF616227225C"\n'
        '2,,"",,,,,,\n'
        '3,-00000.01,,00010101,"00.00.00","2024-02-29-00.00.00.000000",0,-5.0E-001,"\\x"\n'
    )
    assert read(tmp_path / "t.csv") == ROWS
    assert read(tmp_path / "t.csv", form=CsvForm.DB2) == ROWS
    (tmp_path / "t.csv").write_text("")
    assert read(tmp_path / "t.csv", form=CsvForm.DB2) == []


@pytest.mark.parametrize(
    ("kind", "length", "text", "value"),
    [
        (SqlType.DECIMAL, 5, "+00012.", "12"),
        (SqlType.DECIMAL, 5, "-.0", "0"),
        (SqlType.INTEGER, 0, "+7", 7),
        (SqlType.DOUBLE, 0, "+1.5E+002", 150.0),
        (SqlType.BOOLEAN, 0, "TRUE", True),
        (SqlType.TIMESTAMP, 0, "2024-03-15T10:20:30", "2024-03-15 10:20:30"),
        (SqlType.TIMESTAMP, 0, "2024-03-15-24.00.00", "2024-03-15 24:00:00"),
        (SqlType.TIMESTAMP_TZ, 0, "2024-03-15 10:20:30-05", "2024-03-15 10:20:30-05:00"),
        (SqlType.TIMESTAMP_TZ, 1, "2024-03-15 10:20:30.5+05:30", "2024-03-15 10:20:30.5+05:30"),
        (SqlType.TIMESTAMP_TZ, 0, "2024-03-15-10.20.30-05:00", "2024-03-15 10:20:30-05:00"),
    ],
)
def test_spellings(tmp_path: Path, kind: SqlType, length: int, text: str, value: Any) -> None:
    (tmp_path / "t.csv").write_text(f"a\n{text}\n")
    assert read(tmp_path / "t.csv", Table("S", "T", (Column("A", kind, True, length),))) == [
        (value,)
    ]


TEXTS = Table("S", "T", (Column("A", SqlType.VARCHAR, True, 9), Column("B", SqlType.CHAR, True, 9)))


@pytest.mark.parametrize(
    ("text", "form", "rows"),
    [
        ('a,b\n,""\n', None, [(None, "")]),
        ('a,b\n"\\N",\n', None, [("\\N", None)]),
        ('a,b\n,\\N\n"",y\n', CsvForm.POSTGRES, [(None, "\\N"), ("", "y")]),
        ("a,b\n,\\N\n", CsvForm.DUCKDB, [(None, "\\N")]),
        ('"x",\n', CsvForm.DB2, [("x", None)]),
        ('"a","b"\n', CsvForm.DB2, [("a", "b")]),
        ('b,A\n"x,\\N,y",\n', None, [(None, "x,\\N,y")]),
    ],
)
def test_null_and_the_empty_text(
    tmp_path: Path, text: str, form: CsvForm | None, rows: list[tuple[Any, ...]]
) -> None:
    (tmp_path / "t.csv").write_text(text)
    assert read(tmp_path / "t.csv", TEXTS, form) == rows


@pytest.mark.parametrize(
    ("text", "form", "found"),
    [
        ('a,b\n"\\N",""\nx,\\N\n', None, r"line 3, column B, table S.T: found \N without quotes"),
        ("x,y\n", None, "found the columns x, y; expected those of the log's table: A, B"),
        ("x,y\n", CsvForm.POSTGRES, "found the columns x, y"),
        ("a,b\n", CsvForm.DB2, "found the columns' names in the first line; expected rows"),
        ('"x","y"\n', None, "found the columns x, y"),
        ("", None, "found the columns of no first line"),
        ("a,b\nx,y\nz\n", None, "t.csv, line 3, table S.T: found 1 values; expected 2"),
    ],
)
def test_what_cannot_be_told_is_refused(
    tmp_path: Path, text: str, form: CsvForm | None, found: str
) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError) as caught:
        read(tmp_path / "t.csv", TEXTS, form)
    assert caught.value.code == "LR2035"
    assert found in str(caught.value)


def test_bytes_are_digits_unless_duckdb_wrote_them(tmp_path: Path) -> None:
    table = Table("S", "T", (Column("B", SqlType.BLOB),))
    (tmp_path / "t.csv").write_text("b\n\\x0062\n")
    assert read(tmp_path / "t.csv", table) == [(b"\x00b",)]
    assert read(tmp_path / "t.csv", table, CsvForm.DUCKDB) == [(b"\x0062",)]
    (tmp_path / "t.csv").write_text("b\n\\x0062\nplain\n")
    assert read(tmp_path / "t.csv", table, CsvForm.DUCKDB) == [(b"\x0062",), (b"plain",)]
    with pytest.raises(InputError, match="line 3, column B, .* found 'plain'"):
        read(tmp_path / "t.csv", table)


def test_a_value_is_named_by_its_line(tmp_path: Path) -> None:
    numbers = Table("S", "T", (Column("A", SqlType.VARCHAR, True, 9), Column("N", SqlType.INTEGER)))
    (tmp_path / "t.csv").write_text('a,n\n"x\ny",1\n\n"z\n",many\n')
    with pytest.raises(InputError) as caught:
        read(tmp_path / "t.csv", numbers)
    said = "t.csv, line 5, column N, table S.T: found 'many'; expected a value of INTEGER"
    assert said in str(caught.value)
    (tmp_path / "t.csv").write_bytes(b"a,n\nx,1\n\xff,2\n")
    with pytest.raises(InputError, match="line 3, table S.T: found bytes that are not UTF-8"):
        read(tmp_path / "t.csv", numbers)
    large = Table("S", "T", (Column("N", SqlType.INTEGER), Column("A", SqlType.CLOB)))
    (tmp_path / "t.csv").write_text('1,"x"\n2,"t.csv.001.lob.0.123/"\n')
    with pytest.raises(InputError, match="line 2, column A, .* found a reference to another file"):
        read(tmp_path / "t.csv", large)
