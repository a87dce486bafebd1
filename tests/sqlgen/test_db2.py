"""Db2 as a sqlglot dialect: the types, constants and conditions that it reads it writes again in
Db2's words, and for others as far as they can say it.

The statements were written from the SQL references of Db2 for z/OS and Db2 LUW.
"""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, UnsupportedError

from sqlgen.ddl.ddl_reader import parse_constraints
from sqlgen.schema import Column, SqlType, Table
from tests.support.places import FIXTURES, GOLDEN

#: Statements that are written as they are read; and pairs, read as the first and written as the
#: second.
SAME, SPELLED = (
    (GOLDEN / f"db2.{name}.sql").read_text(encoding="utf-8").splitlines()
    for name in ("same", "spelled")
)


def read(text: str) -> exp.Expr:
    tree = sqlglot.parse_one(text, dialect="db2")
    assert not list(tree.find_all(exp.Command)), text
    return tree


@pytest.mark.parametrize("text", SAME)
def test_written_as_read(text: str) -> None:
    assert read(text).sql("db2") == text


@pytest.mark.parametrize(("text", "spelled"), list(zip(SPELLED[::2], SPELLED[1::2], strict=True)))
def test_written_in_one_spelling(text: str, spelled: str) -> None:
    assert read(text).sql("db2") == spelled
    assert read(spelled).sql("db2") == spelled


@pytest.mark.parametrize(
    "text",
    [
        "SELECT CAST(A AS CHAR(10.2))",
        "SELECT CAST(A AS FLOAT(12.3))",
        "CREATE TABLESPACE TSX IN DBX",
        "ALTER TABLE T FROBNICATE",
        "SET NLS_STRING_UNITS =",
    ],
)
def test_what_is_not_known_is_an_error(text: str) -> None:
    with pytest.raises(ParseError):
        sqlglot.parse_one(text, dialect="db2")


@pytest.mark.parametrize("target", ["postgres", "mysql", "duckdb", "sqlite", "tsql", "oracle"])
@pytest.mark.parametrize("text", ["SELECT CURRENT SQLID", "SELECT GX'42C1'", "SELECT UX'0041'"])
def test_what_only_db2_has_is_never_left_out(text: str, target: str) -> None:
    with pytest.raises((UnsupportedError, ValueError)):
        read(text).sql(target, unsupported_level=sqlglot.ErrorLevel.RAISE)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("CHAR(8) FOR BIT DATA", "BINARY(8)"),
        ("VARCHAR(9 OCTETS) FOR BIT DATA", "VARBINARY(9)"),
        ("LONG VARCHAR FOR BIT DATA", "BLOB"),
        ("CLOB(2M)", "CLOB"),
        ("VARGRAPHIC(5)", "VARGRAPHIC(5)"),
        ("ROWID", "VARBINARY(40)"),
    ],
)
def test_types(text: str, written: str) -> None:
    assert read(f"SELECT CAST(A AS {text})").sql("db2") == f"SELECT CAST(A AS {written})"


@pytest.mark.parametrize(
    ("text", "written"), [("X'41ff'", "X'41FF'"), ("BX'41'", "X'41'"), ("GX'42c1'", "GX'42C1'")]
)
def test_hexadecimal_constants(text: str, written: str) -> None:
    assert read(f"SELECT {text}").sql("db2") == f"SELECT {written}"


@pytest.mark.parametrize(
    ("text", "target", "spelled"),
    [
        (
            "SELECT A FROM T FETCH FIRST 3 ROWS ONLY",
            "postgres",
            "SELECT A FROM T FETCH FIRST 3 ROWS ONLY",
        ),
        (
            "SELECT CURRENT TIMESTAMP FROM SYSIBM.SYSDUMMY1",
            "postgres",
            "SELECT CURRENT_TIMESTAMP FROM SYSIBM.SYSDUMMY1",
        ),
        ("SELECT D + 1 MONTH FROM T", "postgres", "SELECT D + INTERVAL '1 MONTH' FROM T"),
        ("SELECT VALUE(A, 0) FROM T", "mysql", "SELECT COALESCE(A, 0) FROM T"),
        ("INSERT INTO T (A) VALUES ('it''s')", "sqlite", "INSERT INTO T (A) VALUES ('it''s')"),
    ],
)
def test_in_other_dialects(text: str, target: str, spelled: str) -> None:
    assert read(text).sql(target) == spelled


def test_keys_out_of_db2_ddl() -> None:
    columns = {
        "CITY": "CITY_ID CITY COUNTRY_ID",
        "COUNTRY": "COUNTRY_ID COUNTRY",
        "ADDRESS": "ADDRESS_ID ADDRESS CITY_ID",
    }
    tables = [
        Table("SAKILA", name, tuple(Column(c, SqlType.INTEGER) for c in text.split()))
        for name, text in columns.items()
    ]
    found = parse_constraints((FIXTURES / "sakila" / "db2-schema.sql").read_text(), "db2", tables)
    assert set(found.keys) == {(f"SAKILA.{name}", (f"{name}_ID",)) for name in columns}
    assert {(key.table, key.columns, key.parent) for key in found.foreign_keys} == {
        ("SAKILA.CITY", ("COUNTRY_ID",), "SAKILA.COUNTRY"),
        ("SAKILA.ADDRESS", ("CITY_ID",), "SAKILA.CITY"),
    }
