"""Whether columns of existing databases hold the values of a source's columns."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sqlgen.ddl import type_rule
from sqlgen.dialects import profile_named
from sqlgen.literals import Policy
from sqlgen.schema import ARROW_TYPES, Column, SqlType
from sqlgen.type_capacity import Fit, ValueLimit, fit, holding_of

LIVE = ("postgres", "duckdb", "sqlite", "mysql", "mariadb")
COLUMNS = [
    *(Column("C", kind) for kind in SqlType),
    *(
        Column("C", SqlType.DECIMAL, length=n, scale=s)
        for n, s in ((1, 0), (9, 2), (15, 15), (31, 2))
    ),
    *(
        Column("C", kind, length=n)
        for kind in (SqlType.CHAR, SqlType.VARCHAR, SqlType.BINARY, SqlType.VARBINARY)
        for n in (1, 255, 256, 4000, 32704)
    ),
    *(
        Column("C", kind, length=n)
        for kind in (SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ)
        for n in (0, 3, 6, 12)
    ),
]


@pytest.mark.parametrize("dialect", LIVE)
def test_what_ddl_makes_is_always_enough(dialect: str) -> None:
    profile = profile_named(dialect)
    for column in COLUMNS:
        text = type_rule(column, profile).text
        assert fit(column, holding_of(text, dialect), profile) == Fit(), (column, text)


INTEGER, BIGINT = Column("C", SqlType.INTEGER), Column("C", SqlType.BIGINT)
AMOUNT = Column("C", SqlType.DECIMAL, length=9, scale=2)
TEXT, FIXED = Column("C", SqlType.VARCHAR, length=10), Column("C", SqlType.CHAR, length=10)
BITS = Column("C", SqlType.VARBINARY, length=4)
MOMENT = Column("C", SqlType.TIMESTAMP, length=6)
DOUBLE = Column("C", SqlType.DOUBLE)
#: (dialect, column, type) of columns that hold all values.
ENOUGH = [
    ("postgres", INTEGER, "bigint"),
    ("postgres", INTEGER, "numeric(10,0)"),
    ("postgres", INTEGER, "double precision"),
    ("postgres", AMOUNT, "numeric"),
    ("postgres", AMOUNT, "numeric(12,4)"),
    ("postgres", TEXT, "text"),
    ("postgres", FIXED, "character varying(10)"),
    ("postgres", Column("C", SqlType.DATE), "timestamp(0) without time zone"),
    ("postgres", DOUBLE, "numeric"),
    ("postgres", Column("C", SqlType.DECIMAL, length=4), "integer"),
    ("duckdb", INTEGER, "HUGEINT"),
    ("duckdb", TEXT, "ENUM('a(1)', 'b')"),
    ("sqlite", TEXT, ""),
    ("sqlite", AMOUNT, "DECIMAL(9,2)"),
    ("sqlite", MOMENT, "TIMESTAMP"),
    ("sqlite", AMOUNT, "VARCHAR(20)"),
    ("mysql", INTEGER, "int(11)"),
    ("mysql", INTEGER, "bigint(20)"),
    ("mysql", TEXT, "tinytext"),
    ("mysql", MOMENT, "datetime(6)"),
    ("mysql", Column("C", SqlType.BOOLEAN), "tinyint(1)"),
]
#: (dialect, column, type, why) of columns that change values without an error.
TOO_NARROW = [
    ("postgres", AMOUNT, "numeric(9,1)", "it rounds to 1 digits"),
    ("postgres", INTEGER, "numeric(9,-2)", "it rounds to -2 digits"),
    ("postgres", Column("C", SqlType.DECIMAL, length=9), "numeric(9,-2)", "it rounds to -2 digits"),
    ("postgres", AMOUNT, "numeric(2,4)", "it holds nothing from 0.001 on"),
    ("postgres", AMOUNT, "double precision", "it holds binary"),
    ("postgres", AMOUNT, "integer", "it rounds to whole numbers"),
    ("postgres", BIGINT, "real", "it keeps 24 binary digits"),
    ("postgres", MOMENT, "timestamp(5) without time zone", "it rounds to 5 digits"),
    ("postgres", MOMENT, "timestamp with time zone", "it holds timestamps"),
    ("postgres", MOMENT, "date", "it holds dates"),
    ("postgres", TEXT, "uuid", "logreplay does not know"),
    ("postgres", TEXT, "integer[]", "logreplay does not know"),
    ("postgres", TEXT, '"char"', "logreplay does not know"),
    ("duckdb", MOMENT, "TIMESTAMP_S", "it rounds to 0 digits"),
    ("sqlite", TEXT, "INTEGER", "looks like a number"),
    ("sqlite", Column("C", SqlType.DECFLOAT, length=34), "NUMERIC", "15 digits"),
    ("sqlite", BIGINT, "DOUBLE", "53 binary digits"),
    ("mysql", BITS, "binary(4)", "it pads"),
    ("mysql", DOUBLE, "double(9,2)", "logreplay does not know"),
    ("mysql", INTEGER, "year(4)", "logreplay does not know"),
    ("mysql", TEXT, "set('a','b')", "logreplay does not know"),
]
#: (dialect, column, type, values, rows that do not fit).
BY_VALUE: list[tuple[str, Column, str, list[object], list[int]]] = [
    ("postgres", BIGINT, "integer", [2**31, 2**31 - 1, -(2**31), -(2**31) - 1, None], [0, 3]),
    ("postgres", INTEGER, "numeric(3,1)", [99, 100, -100], [1, 2]),
    ("postgres", INTEGER, "numeric(2,4)", [0, 1, -1], [1, 2]),
    ("postgres", AMOUNT, "numeric(5,2)", ["1000.00", "-999.99", "0.10", None], [0]),
    (
        "postgres",
        Column("C", SqlType.DECIMAL, length=9),
        "smallint",
        ["32767", "32768", "-32769"],
        [1, 2],
    ),
    (
        "sqlite",
        Column("C", SqlType.DECIMAL, length=31, scale=2),
        "NUMERIC",
        ["9999999999999.99", "-0.01", "10000000000000.00", "-12345678901234567890.12", None],
        [2, 3],
    ),
    ("postgres", TEXT, "character varying(3)", ["äöü", "abcd", "abc ", None], [1, 2]),
    ("postgres", TEXT, "character(10)", ["a", "a ", ""], [1]),
    ("postgres", FIXED, "character(3)", ["abc   ", "abcd"], [1]),
    ("mysql", AMOUNT, "decimal(9,2) unsigned", ["-0.01", "0.00", "-1.00", "5.00"], [0, 2]),
    ("mysql", BITS, "varbinary(2)", [b"ab", b"abc"], [1]),
    (
        "mysql",
        MOMENT,
        "timestamp(6)",
        ["1970-01-01 00:00:00.000000", "2024-01-01 00:00:00.000000", "2038-01-19 03:14:08.000000"],
        [0, 2],
    ),
    (
        "mysql",
        Column("C", SqlType.VARCHAR, length=200),
        "tinytext",
        ["ä" * 127, "ä" * 128],
        [1],
    ),
]


@pytest.mark.parametrize(("dialect", "column", "kind"), ENOUGH)
def test_types_that_hold_more(dialect: str, column: Column, kind: str) -> None:
    assert fit(column, holding_of(kind, dialect), profile_named(dialect)) == Fit()


@pytest.mark.parametrize(("dialect", "column", "kind", "why"), TOO_NARROW)
def test_types_that_hold_less(dialect: str, column: Column, kind: str, why: str) -> None:
    judged = fit(column, holding_of(kind, dialect), profile_named(dialect))
    assert why in judged.reason
    assert judged.better == type_rule(column, profile_named(dialect)).text


@pytest.mark.parametrize(("dialect", "column", "kind", "values", "wrong"), BY_VALUE)
def test_types_that_hold_some(
    dialect: str, column: Column, kind: str, values: list[object], wrong: list[int]
) -> None:
    judged = fit(column, holding_of(kind, dialect), profile_named(dialect))
    assert judged.reason == ""
    assert judged.limit is not None
    array = pa.array(values, ARROW_TYPES[column.type])
    problems = judged.limit.problems(array, column, Policy())
    assert [problem.row for problem in problems] == wrong
    assert all(problem.code == "LR3001" for problem in problems)
    assert all(f"of type {kind} holds it" in problem.expected for problem in problems)


def test_character_sets_and_null() -> None:
    limit = ValueLimit("varchar(9)", codec="cp1252", null=False)
    values = pa.array(["naïve €", "łódź", None, "ok"])
    assert [p.row for p in limit.problems(values, TEXT, Policy())] == [1, 2]
    limit = ValueLimit("varchar(9)", codec="utf-8-bmp")
    assert [p.row for p in limit.problems(pa.array(["łódź", "🐘"]), TEXT, Policy())] == [1]
