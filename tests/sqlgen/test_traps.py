"""Traps of sqlglot's own output, of which none may reach a script: each test is one that a
statement made by sqlglot alone would fail."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from sqlgen import ddl
from sqlgen.db2 import Db2
from sqlgen.dialects import BUILT_IN, Profile, profile_named
from sqlgen.literals import Policy, ValueProblem, literals
from sqlgen.render_options import RenderOptions
from sqlgen.schema import ARROW_TYPES, Column, Op, Rows, SqlType, Table
from sqlgen.statements import render
from tests.golden.test_shapes import golden
from tests.support.examples import examples
from tests.support.few import few

EVERY_DIALECT = pytest.mark.parametrize("dialect", BUILT_IN)


def written(dialect: str, value: Any, kind: SqlType) -> tuple[str, list[ValueProblem]]:
    values = pa.array([value], ARROW_TYPES[kind])
    text, problems = literals(
        values, Column("C", kind, True, 6), profile_named(dialect), Policy(empty_text="null")
    )
    return text[0].as_py(), problems


def test_bit_data_in_db2s_ddl_is_read() -> None:
    """sqlglot alone knows no Db2, and fails at FOR BIT DATA in every dialect."""
    text = "SELECT CAST(C AS CHAR(8) FOR BIT DATA)"
    with pytest.raises(sqlglot.errors.ParseError):
        sqlglot.parse_one(text)
    assert sqlglot.parse_one(text, dialect=Db2).sql(Db2) == "SELECT CAST(C AS BINARY(8))"


@EVERY_DIALECT
def test_decimals_and_texts_keep_their_types(dialect: str) -> None:
    """sqlglot makes ``REAL(31, 5)`` of NUMERIC(31,5) for SQLite, which loses digits, and
    ``TEXT(8)`` of CHAR(8)."""
    profile = profile_named(dialect)
    columns = (Column("D", SqlType.DECIMAL, True, 31, 5), Column("C", SqlType.CHAR, True, 8))
    made = ddl.create_table(Table("S", "T", columns), profile)
    assert not re.search(r"REAL|FLOAT|DOUBLE|TEXT\(", made), made
    wide = {
        "postgres",
        "db2",
        "db2zos",
        "soliddb",
        "duckdb",
        "mysql",
        "mariadb",
        "tsql",
        "snowflake",
        "redshift",
        "spark",
        "trino",
    }
    kind = (
        r"(DECIMAL|NUMERIC)\(31, 5\)"
        if dialect in wide
        else {"sqlite": "TEXT", "oracle": r"NUMBER\(31, 5\)", "bigquery": "BIGNUMERIC"}[dialect]
    )
    assert re.search(rf"(?i)\bd\b\S? {kind}", made), made


@EVERY_DIALECT
def test_null_is_asked_for_with_is_null(dialect: str) -> None:
    """sqlglot writes IS NOT DISTINCT FROM for Oracle, and for SQL Server before 2022, which do not
    know it."""
    text = golden(dialect).read_text(encoding="utf-8")
    assert "DISTINCT" not in text
    assert "<=>" not in text
    table = Table(
        "S",
        "T",
        (Column("ID", SqlType.INTEGER, False), Column("V", SqlType.VARCHAR, True, 9)),
        ("ID",),
    )
    rows = Rows(
        table, Op.DELETE, 1, {"ID": pa.array([1]), "V": pa.array([None], pa.string())}, {}, {}
    )
    line = render(rows, profile_named(dialect), RenderOptions(where_columns="all")).text[0].as_py()
    assert re.search(r"(?i)WHERE id = 1 AND v IS NULL;$", line), line


@EVERY_DIALECT
def test_neither_nul_nor_a_bare_nan_gets_out(dialect: str) -> None:
    """sqlglot passes X'00' in a text and ``NaN`` as a word through; PostgreSQL fails at both when
    the script runs."""
    text, problems = written(dialect, "a\0b", SqlType.VARCHAR)
    assert problems or "\0" not in text
    assert bool(problems) != profile_named(dialect).null_byte
    for kind in (SqlType.REAL, SqlType.DOUBLE):
        for number in (float("nan"), float("inf"), float("-inf")):
            text, problems = written(dialect, number, kind)
            assert problems or re.search(r"'-?(?i:nan|inf|infinity)'|9e999", text), text


# -- texts
# -------------------------------------------------------------------------------------------------


def value_of(tree: exp.Expr) -> str:
    """The text that an expression of literals, concatenations and characters by number stands
    for."""
    if isinstance(tree, exp.Literal):
        return str(tree.this) if tree.is_string else chr(int(tree.this))
    if isinstance(tree, exp.National):
        return str(tree.this)
    if isinstance(tree, exp.Null):
        return ""
    if isinstance(tree, exp.Cast | exp.Paren | exp.ByteString):
        return value_of(tree.this) if isinstance(tree.this, exp.Expr) else str(tree.this)
    if isinstance(tree, exp.Chr | exp.Concat) or (
        isinstance(tree, exp.Anonymous) and tree.name.upper() in ("NCHAR", "CHAR", "CHR")
    ):
        return "".join(map(value_of, tree.expressions))
    assert isinstance(tree, exp.DPipe | exp.Add), repr(tree)
    return value_of(tree.this) + value_of(tree.expression)


def unescaped(text: str, profile: Profile) -> str:
    """What is left to do where sqlglot's reader keeps an escape: ``\\uXXXX`` of BigQuery and Spark,
    an E string of PostgreSQL."""
    if profile.text.escaped is None:
        return text
    return re.sub(
        r"\\u([0-9a-f]{4})|\\x([0-9a-f]{2})", lambda found: chr(int(found[1] or found[2], 16)), text
    )


@pytest.mark.parametrize("dialect", few(BUILT_IN, "postgres", "mysql", "bigquery", "tsql"))
@settings(max_examples=examples(40))
@given(data=st.data())
def test_texts_read_back_as_they_were(dialect: str, data: st.DataObject) -> None:
    profile = profile_named(dialect)
    exclude = "\\" if profile.text.escaped is not None else ""
    exclude += "" if profile.null_byte else "\0"
    value = data.draw(
        st.text(
            st.sampled_from("ab'\"\n\r\t&$%_`{}\x1a\x7f\x85\u2028")
            | st.characters(exclude_categories=["Cs"])
        )
    )
    value = value.translate({ord(character): None for character in exclude})
    text, problems = written(dialect, value, SqlType.VARCHAR)
    if dialect == "soliddb" and re.search("[\x00-\x1f\x7f]", value):
        assert len(problems) == 1
        return
    assert problems == []
    assert not re.search("[\x00-\x1f\x7f]", text)
    tree = sqlglot.parse_one(f"SELECT {text}", dialect=profile.sqlglot).expressions[0]
    assert unescaped(value_of(tree), profile) == value
