"""Names and literals that are likely to go wrong, tried on a live PostgreSQL: every key word, every
control character, the ends of each type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from psycopg import sql

from sqlgen.dialects import profile_named
from sqlgen.literals import Policy, literals
from sqlgen.render_options import RenderOptions
from sqlgen.rows import Op, Rows
from sqlgen.schema import ARROW_TYPES, Column, SqlType, Table
from sqlgen.statements import delete_all_statement, render, truncate_statement
from tests.support.texts import every_character

POSTGRES = profile_named("postgres")


@pytest.fixture
def connection(fresh_database: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(fresh_database, autocommit=True) as session:
        session.execute("SET TimeZone = 'UTC'")
        yield session


def key_words(connection: psycopg.Connection[Any]) -> list[str]:
    return [word for (word,) in connection.execute("SELECT word FROM pg_get_keywords() ORDER BY 1")]


def run(connection: psycopg.Connection[Any], rows: Rows, options: RenderOptions) -> None:
    for statement in render(rows, POSTGRES, options).text.to_pylist():
        assert connection.execute(statement.encode()).rowcount == 1, statement


def each_change(connection: psycopg.Connection[Any], table: Table, names: str = "lower") -> None:
    """Insert, update and delete one row (and one of nulls where there is no key), with every form
    of WHERE."""
    values = {
        number: {
            column.name: pa.array([number], ARROW_TYPES[column.type]) for column in table.columns
        }
        for number in (1, 2)
    }
    masks = {column.name: pa.array([True]) for column in table.columns}
    for where in ("key", "guard", "all"):
        options = RenderOptions(names=names, where_columns=where)
        run(connection, Rows(table, Op.INSERT, 1, {}, values[1], {}), options)
        run(connection, Rows(table, Op.UPDATE, 1, values[1], values[2], masks), options)
        run(connection, Rows(table, Op.DELETE, 1, values[2], {}, {}), options)
    if not table.key:
        nulls = {column.name: pa.nulls(1, ARROW_TYPES[column.type]) for column in table.columns}
        run(connection, Rows(table, Op.INSERT, 1, {}, nulls, {}), RenderOptions(names=names))
        run(connection, Rows(table, Op.DELETE, 1, nulls, {}, {}), RenderOptions(names=names))


@pytest.mark.parametrize("keyed", [True, False], ids=["key", "no key"])
def test_every_key_word_is_a_column(connection: psycopg.Connection[Any], keyed: bool) -> None:
    words = key_words(connection)
    assert len(words) > 400
    made = sql.SQL(", ").join(sql.SQL("{} bigint").format(sql.Identifier(word)) for word in words)
    connection.execute(sql.SQL("CREATE TABLE words ({})").format(made))
    columns = tuple(Column(word.upper(), SqlType.BIGINT) for word in words)
    each_change(connection, Table("PUBLIC", "WORDS", columns, (columns[0].name,) if keyed else ()))


def test_every_key_word_is_a_table_and_a_schema(connection: psycopg.Connection[Any]) -> None:
    for word in key_words(connection):
        name = sql.Identifier(word)
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(name))
        connection.execute(sql.SQL("CREATE TABLE {}.{} (id bigint)").format(name, name))
        table = Table(word.upper(), word.upper(), (Column("ID", SqlType.BIGINT),))
        values = {"ID": pa.array([1, 2])}
        script = render(
            Rows(table, Op.INSERT, 2, {}, values, {}), POSTGRES, RenderOptions()
        ).text.to_pylist()
        script += render(
            Rows(table, Op.DELETE, 1, {"ID": pa.array([1])}, {}, {}), POSTGRES, RenderOptions()
        ).text.to_pylist()
        connection.execute("".join(script).encode())
        assert connection.execute(
            sql.SQL("SELECT count(*) FROM {}.{}").format(name, name)
        ).fetchone() == (1,), word
        connection.execute(
            (
                delete_all_statement(table, POSTGRES, "lower")
                + truncate_statement(table, POSTGRES, "lower")
            ).encode()
        )
        connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(name))


def test_odd_names_exactly(connection: psycopg.Connection[Any]) -> None:
    odd = ['a"b', "Mixed Case", "ünï", "#$@", "1st", "a'b", "select", "-- x", "/*", "ü" * 31]
    made = sql.SQL(", ").join(sql.SQL("{} bigint").format(sql.Identifier(name)) for name in odd)
    connection.execute(sql.SQL("CREATE TABLE {} ({})").format(sql.Identifier('T"x'), made))
    each_change(
        connection,
        Table("public", 'T"x', tuple(Column(name, SqlType.BIGINT) for name in odd)),
        names="exact",
    )


@pytest.mark.parametrize("conforming", ["on", "off"])
def test_text_does_not_hang_on_the_session(
    connection: psycopg.Connection[Any], conforming: str
) -> None:
    connection.execute(
        f"SET escape_string_warning = off; SET standard_conforming_strings = {conforming}"
    )
    texts = [chr(code) for code in range(1, 0x100)]
    texts += [f"{character}'7f" for character in texts] + [
        "\\",
        "\\'",
        "\\\\'",
        "'",
        "''",
        "$$",
        "--",
        "/*",
        "\\x41",
        "\u2028\u2029",
        "\U0001f600",
        "",
    ]
    written, problems = literals(pa.array(texts), Column("C", SqlType.VARCHAR), POSTGRES, Policy())
    assert problems == []
    assert not any("\n" in text or "\r" in text for text in written.to_pylist())
    for text, literal in zip(texts, written.to_pylist(), strict=True):
        assert connection.execute(f"SELECT {literal}".encode()).fetchone() == (text,), literal


@pytest.mark.parametrize("conforming", ["on", "off"])
def test_every_character(connection: psycopg.Connection[Any], conforming: str) -> None:
    connection.execute(
        f"SET escape_string_warning = off; SET standard_conforming_strings = {conforming}"
    )
    texts = every_character(5000, False)
    written, problems = literals(pa.array(texts), Column("C", SqlType.VARCHAR), POSTGRES, Policy())
    assert problems == []
    for text, literal in zip(texts, written.to_pylist(), strict=True):
        assert connection.execute(f"SELECT {literal}".encode()).fetchone() == (text,)


MOMENTS = [
    (
        "timestamptz",
        SqlType.TIMESTAMP_TZ,
        6,
        "2024-02-29 10:20:30.123456+05:30",
        "2024-02-29 04:50:30.123456+00",
    ),
    (
        "timestamptz",
        SqlType.TIMESTAMP_TZ,
        12,
        "2024-02-29 10:20:30.123456000000-12:59",
        "2024-02-29 23:19:30.123456+00",
    ),
    ("timestamptz", SqlType.TIMESTAMP_TZ, 0, "2024-02-29 10:20:30+15:59", "2024-02-28 18:21:30+00"),
    (
        "timestamp",
        SqlType.TIMESTAMP,
        12,
        "0001-01-01 00:00:00.000001000000",
        "0001-01-01 00:00:00.000001",
    ),
    ("timestamp", SqlType.TIMESTAMP, 6, "9999-12-31 23:59:59.999999", "9999-12-31 23:59:59.999999"),
    ("time", SqlType.TIME, 0, "24:00:00", "24:00:00"),
    ("date", SqlType.DATE, 0, "0001-01-01", "0001-01-01"),
]


@pytest.mark.parametrize(("target", "kind", "digits", "text", "shown"), MOMENTS)
def test_moments(
    connection: psycopg.Connection[Any],
    target: str,
    kind: SqlType,
    digits: int,
    text: str,
    shown: str,
) -> None:
    written, problems = literals(
        pa.array([text]), Column("C", kind, True, digits), POSTGRES, Policy()
    )
    assert problems == []
    assert connection.execute(
        f"SELECT {written[0].as_py()}::{target}::text".encode()
    ).fetchone() == (shown,)
