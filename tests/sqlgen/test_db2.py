"""Db2 as a sqlglot dialect: what it reads it writes again in Db2's words, and for others as far as
they can say it.

The statements were written from the SQL references of Db2 for z/OS and Db2 LUW.
"""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, UnsupportedError

from sqlgen.constraints import parse_constraints
from sqlgen.db2 import portable
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
        "CREATE TABLE T (A INTEGER) SOMETHING ELSE",
        "CREATE VIEW V AS SELECT A FROM T WITH CHECK OPTION",
        "UPDATE T SET A = 1 WHERE CURRENT OF C",
        "ALTER TABLE T FROBNICATE",
        "CREATE TABLE T (A CHAR(10.2))",
        "CREATE TABLE T (A FLOAT(12.3))",
        "CREATE ALIAS A FOR TABLE (B",
        "ALTER TABLE T CHECK A",
        "SET NLS_STRING_UNITS =",
        "CREATE FUNCTION F() BEGIN SET A = (1; END",
    ],
)
def test_what_is_not_known_is_an_error(text: str) -> None:
    with pytest.raises(ParseError):
        sqlglot.parse_one(text, dialect="db2")


def test_a_whole_schema() -> None:
    trees = [
        tree
        for tree in sqlglot.parse(
            (FIXTURES / "sakila" / "db2-schema.sql").read_text(), dialect="db2"
        )
        if tree is not None
    ]
    assert len(trees) == 65
    assert not [node for tree in trees for node in tree.walk() if isinstance(node, exp.Command)]
    for tree in trees:
        text = tree.sql("db2", comments=False)
        assert read(text).sql("db2") == text


@pytest.mark.parametrize("target", ["postgres", "mysql", "duckdb", "sqlite", "tsql", "oracle"])
@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE T (A INTEGER) IN DBX.TSX",
        (
            "CREATE TABLE P (S TIMESTAMP(12) NOT NULL GENERATED ALWAYS AS ROW BEGIN, E"
            " TIMESTAMP(12), PERIOD SYSTEM_TIME (S, E))"
        ),
        (
            "CREATE TRIGGER X AFTER UPDATE ON T REFERENCING NEW AS N FOR EACH ROW BEGIN SET N.A ="
            " 1; END"
        ),
        "SET CURRENT SQLID = 'APP'",
        "CREATE TABLESPACE TSX IN DBX",
        "SELECT ID FROM FINAL TABLE (INSERT INTO T (A) VALUES (1))",
        "ALTER TABLE T ADD CONSTRAINT C UNIQUE (A) NOT TRUSTED",
        "ALTER TABLE T ADD CONSTRAINT C FOREIGN KEY (A) REFERENCES U DISABLE QUERY OPTIMIZATION",
        "CREATE TABLE T (A INTEGER CHECK (A > 0) NOT ENFORCED)",
    ],
)
def test_what_only_db2_has_is_never_left_out(text: str, target: str) -> None:
    with pytest.raises((UnsupportedError, ValueError)):
        read(text).sql(target, unsupported_level=sqlglot.ErrorLevel.RAISE)


def test_storage_can_be_taken_off_and_is_named() -> None:
    tree, taken = portable(
        read(
            "CREATE TABLE A.T (B INTEGER NOT NULL, C VARCHAR(5) FOR SBCS DATA) IN DBX.TSX CCSID"
            " EBCDIC DATA CAPTURE CHANGES"
        )
    )
    assert tree.sql("postgres") == "CREATE TABLE A.T (B INT NOT NULL, C VARCHAR(5))"
    assert taken == ["IN DBX.TSX", "CCSID EBCDIC", "DATA CAPTURE CHANGES", "FOR SBCS DATA"]


def test_what_holds_anyway_can_be_taken_off() -> None:
    tree, _ = portable(
        read(
            "CREATE TABLE T (A INTEGER PRIMARY KEY ENFORCED, B INTEGER REFERENCES U (C) ON DELETE"
            " CASCADE ENFORCED ENABLE QUERY OPTIMIZATION, CHECK (A > 0) ENFORCED)"
        )
    )
    assert (
        tree.sql("postgres")
        == "CREATE TABLE T (A INT PRIMARY KEY, B INT REFERENCES U (C) ON DELETE CASCADE, CHECK"
        " (A > 0))"
    )


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
