"""solidDB as a sqlglot dialect: what it reads it writes again in solidDB's words, and nothing is
passed over.

The statements were written from the vendor's descriptions of the statements (releases 7, 100 and
200).
"""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, UnsupportedError

from sqlgen import soliddb
from sqlgen.ddl.ddl_reader import parse_constraints
from sqlgen.schema import Column, SqlType, Table
from sqlgen.soliddb.parser import TYPES
from tests.support.places import GOLDEN

#: Statements that are written as they are read; and pairs, read as the first and written as the
#: second.
SAME, SPELLED = (
    (GOLDEN / f"soliddb.{name}.sql").read_text(encoding="utf-8").splitlines()
    for name in ("same", "spelled")
)


def read(text: str) -> exp.Expr:
    tree = sqlglot.parse_one(text, dialect=soliddb.Soliddb)
    assert not list(tree.find_all(exp.Command)), text
    return tree


@pytest.mark.parametrize("text", SAME)
def test_written_as_read(text: str) -> None:
    assert read(text).sql("soliddb") == text


@pytest.mark.parametrize(("text", "spelled"), list(zip(SPELLED[::2], SPELLED[1::2], strict=True)))
def test_written_in_one_spelling(text: str, spelled: str) -> None:
    assert read(text).sql("soliddb", comments=False) == spelled
    assert read(spelled).sql("soliddb") == spelled


@pytest.mark.parametrize(
    "text",
    [
        "FROBNICATE T",
        "A + 1",
        "CREATE TABLE T (A INTEGER) SOMETHING ELSE",
        "CREATE TABLE T (A INTEGER) STORE TAPE",
        "CREATE TABLE T (A INTEGER IDENTITY)",
        "CREATE TABLE T (A JSON)",
        "CREATE TABLE T (A TIMESTAMP(6))",
        "CREATE TABLE T (A DECIMAL(9, 2, 1))",
        "CREATE TABLE T (A INTEGER DEFAULT NOW())",
        "CREATE TABLE T (A INTEGER DEFAULT B)",
        "CREATE TABLE A.B.C.T (A INTEGER)",
        "DROP TABLE A..T",
        "CREATE TABLE T (A INTEGER REFERENCES P ON DELETE CASCADE ON DELETE CASCADE)",
        "CREATE TABLE T AS SELECT A FROM U",
        "CREATE OR REPLACE VIEW V AS SELECT A FROM T",
        "CREATE VIEW V AS SELECT A FROM T WITH UR",
        "CREATE UNIQUE SEQUENCE S",
        "CREATE SEQUENCE S START WITH 1 START WITH 2",
        "CREATE COUNTER C",
        "CREATE INDEX I ON T (UCASE(A))",
        "ALTER TABLE T FROBNICATE",
        "ALTER TABLE T SET HISTORY COLUMNS",
        "ALTER TABLE T ALTER COLUMN A FROBNICATE",
        "ALTER TABLE T ADD CONSTRAINT C",
        "ALTER TABLE T ADD COLUMN A INTEGER, ADD COLUMN B INTEGER",
        "ALTER SEQUENCE S RESTART",
        "DROP DATABASE X",
        "DROP TABLE IF EXISTS T",
        "DROP INDEX I CASCADE",
        "TRUNCATE T",
        "UPDATE T SET A = 1 WHERE CURRENT OF C",
        "INSERT INTO T (A) VALUES (X'41')",
        "INSERT INTO T (A) VALUES (CAST('414' AS VARBINARY))",
    ],
)
def test_what_is_not_known_is_an_error(text: str) -> None:
    with pytest.raises(ParseError):
        sqlglot.parse_one(text, dialect="soliddb")


@pytest.mark.parametrize("words", [words for entry in TYPES for words in entry.words])
def test_every_type_is_read_in_columns_and_casts(words: str) -> None:
    kind = next(entry.kind for entry in TYPES if words in entry.words)
    for text in (f"CREATE TABLE T (C {words.lower()})", f"SELECT CAST(A AS {words}) FROM T"):
        found = read(text).find(exp.DataType)
        assert found is not None
        assert found.this == kind


def test_a_binary_constant_is_a_cast_of_digits() -> None:
    tree = read("INSERT INTO T (A) VALUES (CAST('01090bff' AS VARBINARY))")
    assert tree.sql("sqlite") == "INSERT INTO T (A) VALUES (x'01090BFF')"
    assert tree.sql("soliddb").endswith("(CAST('01090BFF' AS VARBINARY))")


@pytest.mark.parametrize(
    "target", ["postgres", "mysql", "duckdb", "sqlite", "tsql", "oracle", "db2"]
)
@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE T (A INTEGER) STORE MEMORY",
        "CREATE TRANSIENT TABLE T (A INTEGER)",
        "CREATE DENSE SEQUENCE S",
        "CREATE VIEW V AS SELECT A FROM T WITH CHECK OPTION",
        "ALTER TABLE T SET PESSIMISTIC",
        "ALTER TABLE T MODIFY SCHEMA S",
        "ALTER TABLE T DROP CONSTRAINT C",
        "SET CATALOG SHOP",
        '"CREATE PROCEDURE P BEGIN COMMIT WORK; END"',
    ],
)
def test_what_only_soliddb_has_is_never_left_out(text: str, target: str) -> None:
    with pytest.raises((UnsupportedError, ValueError)):
        read(text).sql(target, unsupported_level=sqlglot.ErrorLevel.RAISE)


def test_keys_out_of_soliddb_ddl() -> None:
    tables = [
        Table("DBA", name, (Column("ID", SqlType.INTEGER), Column("CUST", SqlType.INTEGER)))
        for name in ("CUSTOMER", "ORDERS")
    ]
    text = """
        -- a schema file as an editor takes it
        SET CATALOG SHOP;
        CREATE TABLE SHOP.DBA.CUSTOMER (ID INTEGER NOT NULL PRIMARY KEY, NAME WVARCHAR) STORE
        MEMORY;
        CREATE TABLE DBA.ORDERS (ID INTEGER NOT NULL, CUST INTEGER, PRIMARY KEY (ID)) STORE DISK;
        ALTER TABLE DBA.ORDERS ADD CONSTRAINT FK1 FOREIGN KEY (CUST) REFERENCES DBA.CUSTOMER (ID)
        ON DELETE SET NULL;
        "CREATE TRIGGER TR ON DBA.ORDERS AFTER INSERT BEGIN COMMIT WORK; END";
        CREATE UNIQUE INDEX IX ON ORDERS (CUST DESC, ID);
        COMMIT WORK;
    """
    found = parse_constraints(text, "soliddb", tables)
    assert found.keys == (
        ("DBA.CUSTOMER", ("ID",)),
        ("DBA.ORDERS", ("ID",)),
        ("DBA.ORDERS", ("CUST", "ID")),
    )
    assert [
        (key.name, key.table, key.columns, key.parent, key.on_delete) for key in found.foreign_keys
    ] == [("FK1", "DBA.ORDERS", ("CUST",), "DBA.CUSTOMER", "SET NULL")]
