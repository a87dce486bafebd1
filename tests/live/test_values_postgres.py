"""Values make the round trip: Arrow -> literal -> PostgreSQL -> Python, for every type; and each
statement touches exactly one row."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqlgen.dialects import profile_named
from sqlgen.dialects.reserved_words import RESERVED_BY_POSTGRES as RESERVED
from sqlgen.render.staged_merge import Merging
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Column, Rows, SqlType, Table
from sqlgen.shapes import render_shaped
from sqlgen.statements import render
from tests.support.examples import examples
from tests.targets.test_values import decimals, there_and_back, times

POSTGRES = profile_named("postgres")
COLUMNS = {
    Column("ID", SqlType.BIGINT, False): "bigint",
    Column("S", SqlType.SMALLINT): "smallint",
    Column("D", SqlType.DECIMAL, True, 31, 5): "numeric(31,5)",
    Column("R", SqlType.REAL): "real",
    Column("F", SqlType.DOUBLE): "double precision",
    Column("C", SqlType.CHAR, True, 20): "char(20)",
    Column("V", SqlType.VARCHAR, True, 200): "varchar(200)",
    Column("B", SqlType.VARBINARY, True, 50): "bytea",
    Column("DAY", SqlType.DATE): "date",
    Column("CLOCK", SqlType.TIME): "time",
    Column("TS", SqlType.TIMESTAMP, True, 6): "timestamp(6)",
}
KEYED = Table("ROUND", "TRIP", tuple(COLUMNS), ("ID",))
KEYLESS = Table("ROUND", "LOOSE", tuple(COLUMNS))

text = st.text(
    alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20
)
singles = st.floats(width=32, allow_subnormal=False)
row = st.tuples(
    *(
        st.none() | value
        for value in (
            st.integers(-(2**15), 2**15 - 1), decimals(31, 5), singles,
            st.floats(allow_subnormal=False), text, text, st.binary(max_size=50),
            st.dates().map(str), times, st.datetimes().map(lambda t: t.isoformat(" ",
                "microseconds")),
        )
    )
)  # fmt: skip


def plain(value: Any) -> Any:
    """A value as it is compared: floats by their bits (all NaN alike), the rest as PostgreSQL shows
    it."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack(">d", value)
    return value


@pytest.fixture(scope="module")
def connection(postgres: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(postgres, autocommit=True) as session:
        session.execute("SET TimeZone = 'UTC'; SET standard_conforming_strings = on")
        columns = ", ".join(f"{column.name.lower()} {kind}" for column, kind in COLUMNS.items())
        session.execute(
            f"CREATE SCHEMA round; CREATE TABLE round.trip ({columns}, PRIMARY KEY (id)); CREATE"
            f" TABLE round.loose ({columns})"
        )
        yield session
        session.execute("DROP SCHEMA round CASCADE")


def state(connection: psycopg.Connection[Any], table: str) -> list[tuple[Any, ...]]:
    shown = "id, s, d::text, r::float8, f, rtrim(c), v, b, day::text, clock::text, ts::text"
    return sorted(
        (
            tuple(map(plain, found))
            for found in connection.execute(f"SELECT {shown} FROM round.{table}").fetchall()
        ),
        key=repr,
    )


def expected(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    def shown(values: tuple[Any, ...]) -> tuple[Any, ...]:
        found = list(values)
        if found[5] is not None:
            found[5] = found[5].rstrip(" ")
        if found[10] is not None:
            found[10] = found[10].rstrip("0").rstrip(".") if "." in found[10] else found[10]
        return tuple(map(plain, found))

    return sorted(map(shown, rows), key=repr)


def merge(connection: psycopg.Connection[Any], rows: Rows, options: RenderOptions) -> None:
    """Bring rows in as a load."""
    types = {
        column.name.lower(): kind.partition("(")[0].replace("char", "bpchar", kind == "char(20)")
        for column, kind in COLUMNS.items()
    }
    load = Merging(POSTGRES, options, types).load(rows, 0)
    with connection.transaction(), connection.cursor() as cursor:
        if load.make:
            cursor.execute(load.make.encode())
        with cursor.copy(load.copy.encode()) as copy:
            copy.write(load.text)
        if load.merge:
            cursor.execute(load.merge.encode())
        assert cursor.rowcount == load.count == rows.count


def run(connection: psycopg.Connection[Any], rows: Rows, options: RenderOptions, way: str) -> None:
    if way == "loaded":
        merge(connection, rows, options)
        return
    prepared = way == "prepared"
    if prepared:
        shaped = render_shaped(rows, POSTGRES, options, worth=1)
        for name, statement in shaped.shapes.items():
            connection.execute(f"PREPARE {name} AS {statement}".encode())
        assert all(
            text.startswith("EXECUTE")
            for text in shaped.rendered.text.to_pylist()
            if "= (SELECT" not in text
        )
    rendered = shaped.rendered if prepared else render(rows, POSTGRES, options)
    assert rendered.problems == []
    for statement in filter(None, rendered.text.to_pylist()):
        assert connection.execute(statement.encode()).rowcount == 1, statement
    for name in shaped.shapes if prepared else ():
        connection.execute(f"DEALLOCATE {name}".encode())


@pytest.mark.parametrize(
    ("table", "way"),
    [
        (KEYED, "in full"),
        (KEYED, "prepared"),
        (KEYED, "loaded"),
        (KEYLESS, "in full"),
        (KEYLESS, "prepared"),
    ],
)
@pytest.mark.parametrize("where", ["key", "guard", "all"])
@settings(
    max_examples=examples(12),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    first=st.lists(row, min_size=1, max_size=6),
    second=st.lists(row, min_size=6, max_size=6),
    twin=st.booleans(),
)
def test_redo_and_undo_of_values(
    connection: psycopg.Connection[Any],
    table: Table,
    where: str,
    way: str,
    first: list[Any],
    second: list[Any],
    twin: bool,
) -> None:
    name = table.name.lower()
    connection.execute(f"TRUNCATE round.{name}")

    def holds(rows: list[tuple[Any, ...]]) -> None:
        assert state(connection, name) == expected(rows)

    def go(rows: Rows, options: RenderOptions) -> None:
        run(connection, rows, options, way)

    there_and_back(table, (first, second, twin), RenderOptions(where_columns=where), go, holds)


def test_reserved_words_are_those_of_the_server(connection: psycopg.Connection[Any]) -> None:
    words = {
        word
        for (word,) in connection.execute(
            "SELECT word FROM pg_get_keywords() WHERE catcode IN ('R', 'T')"
        )
    }
    assert words <= RESERVED
