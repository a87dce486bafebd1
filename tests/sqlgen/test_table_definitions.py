"""Tables from DDL, with the types and keys that logs may lack."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlgen.ddl.schema_file import defined_tables
from sqlgen.schema import SqlType

FIXTURES = Path(__file__).parents[2] / "fixtures" / "db2ddl"
TYPES = {
    "SMALLINT": (SqlType.SMALLINT, 1, 0),
    "DECIMAL(7,2)": (SqlType.DECIMAL, 7, 2),
    "DECIMAL": (SqlType.DECIMAL, 5, 0),
    "REAL": (SqlType.REAL, 0, 0),
    "FLOAT(21)": (SqlType.REAL, 0, 0),
    "FLOAT(22)": (SqlType.DOUBLE, 1, 0),
    "DOUBLE": (SqlType.DOUBLE, 1, 0),
    "CHAR": (SqlType.CHAR, 1, 0),
    "CHAR(8) FOR BIT DATA": (SqlType.BINARY, 8, 0),
    "VARGRAPHIC(9)": (SqlType.VARCHAR, 9, 0),
    "TIMESTAMP": (SqlType.TIMESTAMP, 6, 0),
    "TIMESTAMP(0)": (SqlType.TIMESTAMP, 0, 0),
    "DECFLOAT(34)": (SqlType.DECFLOAT, 34, 0),
    "CLOB(1M)": (SqlType.CLOB, 1, 0),
}


@pytest.mark.parametrize("words", TYPES)
def test_types(words: str) -> None:
    (table,) = defined_tables(f"CREATE TABLE A.T (C {words} NOT NULL)", "db2")
    (column,) = table.columns
    kind, length, scale = TYPES[words]
    assert (column.type, column.scale, column.nullable) == (kind, scale, False)
    if kind not in (SqlType.REAL, SqlType.DOUBLE):
        assert column.length == length


def test_columns_of_types_that_no_log_has_are_left_out() -> None:
    (table,) = defined_tables("CREATE TABLE A.T (C MYTYPE, D DATE)", "db2")
    assert [column.name for column in table.columns] == ["D"]


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.sql")), ids=lambda path: path.stem)
def test_files_in_the_shapes_that_tools_write(path: Path) -> None:
    tables = {
        f"{table.schema}.{table.name}": table
        for table in defined_tables(path.read_text(encoding="utf-8"), "db2")
    }
    assert tables["HARBOR.CARGO"].key == ("CALL_ID", "LINE_NO")
    names = [column.name for column in tables["HARBOR.PORTCALL"].columns]
    assert names[:2] == ["CALL_ID", "IMO"]
