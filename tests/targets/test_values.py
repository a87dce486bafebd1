"""Values make the round trip: Arrow -> literal -> SQLite, DuckDB or MariaDB -> Python, for every
type; and each statement touches exactly one row."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqlgen import ddl
from sqlgen.ddl.schema_file import parse_declared
from sqlgen.ddl.schema_script import schema_script
from sqlgen.dialects import profile_named
from sqlgen.dialects.reserved_words import RESERVED
from sqlgen.render_options import RenderOptions
from sqlgen.schema import ARROW_TYPES, Column, Constraints, Op, Rows, SqlType, Table
from sqlgen.statements import render
from tests.sqlgen.test_schema_file import DB2, TABLE
from tests.support.engines import Engine, Place, shape, state
from tests.support.examples import examples

COLUMNS = (
    Column("ID", SqlType.BIGINT, False),
    Column("S", SqlType.SMALLINT),
    Column("SMALL_D", SqlType.DECIMAL, True, 15, 2),
    Column("D", SqlType.DECIMAL, True, 31, 5),
    Column("R", SqlType.REAL),
    Column("F", SqlType.DOUBLE),
    Column("C", SqlType.CHAR, True, 20),
    Column("V", SqlType.VARCHAR, True, 200),
    Column("B", SqlType.VARBINARY, True, 50),
    Column("DAY", SqlType.DATE),
    Column("CLOCK", SqlType.TIME),
    Column("TS", SqlType.TIMESTAMP, True, 6),
    Column("FLAG", SqlType.BOOLEAN),
    Column("BIG", SqlType.DECFLOAT),
    Column("DOC", SqlType.CLOB),
)
KEYED = Table("ROUND", "TRIP", COLUMNS, ("ID",))
KEYLESS = Table("ROUND", "LOOSE", COLUMNS)


def decimals(digits: int, scale: int) -> st.SearchStrategy[str]:
    most = 10**digits - 1
    return st.integers(-most, most).map(
        lambda n: f"{'-' if n < 0 else ''}{abs(n) // 10**scale}.{abs(n) % 10**scale:0{scale}d}"
    )


text = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20)
times = st.times().map(lambda t: t.strftime("%H:%M:%S")) | st.just("24:00:00")
doubles = st.floats(allow_subnormal=False, allow_nan=False).map(
    lambda x: x + 0.0
)  # SQLite stores -0.0 as 0.0
singles = st.floats(width=32, allow_subnormal=False, allow_nan=False).map(lambda x: x + 0.0)
row = st.tuples(
    *(
        st.none() | value
        for value in (
            st.integers(-(2**15), 2**15 - 1), decimals(15, 2), decimals(31, 5), singles, doubles,
            text, text, st.binary(max_size=50), st.dates().map(str), times,
            st.datetimes().map(lambda t: t.isoformat(" ", "microseconds")),
            st.booleans(), st.sampled_from(["1E+6144", "-0.00", "NaN", "123"]), text,
        )
    )
)  # fmt: skip


def arrays(columns: Iterable[Column], rows: list[tuple[Any, ...]]) -> dict[str, pa.Array]:
    return {
        column.name: pa.array([values[place] for values in rows], ARROW_TYPES[column.type])
        for place, column in enumerate(columns)
    }


def held(rows: list[tuple[Any, ...]], dialect: str) -> list[tuple[Any, ...]]:
    """Rows with zero for infinity, where the engine has none."""
    if profile_named(dialect).floats[SqlType.DOUBLE].infinity:
        return rows
    return [
        tuple(0.0 if isinstance(value, float) and math.isinf(value) else value for value in values)
        for values in rows
    ]


def run(engine: Engine, rows: Rows, options: RenderOptions) -> None:
    rendered = render(rows, engine.profile, options)
    assert rendered.problems == []
    for statement in filter(None, rendered.text.to_pylist()):
        assert "\n" not in statement
        assert engine.run(statement) == 1, statement


def expected(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted((tuple(map(shape, COLUMNS, values)) for values in rows), key=repr)


def there_and_back(
    table: Table,
    drawn: tuple[list[Any], list[Any], bool],
    options: RenderOptions,
    run: Callable[[Rows, RenderOptions], None],
    holds: Callable[[list[tuple[Any, ...]]], None],
) -> None:
    """Rows come in, become others, and both is taken back; after each step the target ``holds``
    what it should. ``drawn``: the first values, the second ones, and whether rows are equal."""
    first, second, twin = drawn
    same = twin and not table.key
    before = [
        (1 if same else number, *(first[0] if same else values))
        for number, values in enumerate(first)
    ]
    after = [(number, *values) for number, values in enumerate(second[: len(before)], 100)]
    one, two = arrays(table.columns, before), arrays(table.columns, after)
    masks = {
        name: pa.array(
            [
                repr(a) != repr(b)
                for a, b in zip(one[name].to_pylist(), two[name].to_pylist(), strict=True)
            ]
        )
        for name in one
    }
    inserts = Rows(table, Op.INSERT, len(before), {}, one, {})
    updates = Rows(table, Op.UPDATE, len(before), one, two, masks)
    for rows, left in (
        (inserts, before),
        (updates, after),
        (updates.inverse(), before),
        (inserts.inverse(), []),
    ):
        run(rows, options)
        holds(left)


@pytest.mark.long
@pytest.mark.parametrize("where", ["key", "guard", "all"])
@pytest.mark.parametrize("table", [KEYED, KEYLESS], ids=["key", "no key"])
@settings(max_examples=examples(8), suppress_health_check=[HealthCheck.too_slow])
@given(
    first=st.lists(row, min_size=1, max_size=5),
    second=st.lists(row, min_size=5, max_size=5),
    twin=st.booleans(),
)
def test_redo_and_undo_of_values(
    place: Place, table: Table, where: str, first: list[Any], second: list[Any], twin: bool
) -> None:
    drawn = held(first, place.dialect), held(second, place.dialect), twin
    with place.engine("round") as engine:
        engine.run(ddl.create_table(table, engine.profile))

        def holds(rows: list[tuple[Any, ...]]) -> None:
            assert state(engine, table) == expected(rows)

        options = RenderOptions(where_columns=where)
        there_and_back(table, drawn, options, partial(run, engine), holds)


def test_texts_that_break_out_elsewhere(place: Place) -> None:
    texts = [chr(code) for code in range(0x100)] + [f"{chr(code)}'7f\\" for code in range(0x80)]
    texts += [
        "\\",
        "\\'",
        "'",
        "''",
        "$$",
        "--",
        "/*",
        "\\x41",
        "\u2028",
        "\U0001f600",
        "",
        "a\nb\n" * 3000,
        "NULL",
    ]
    table = Table(
        "round",
        "texts",
        (Column("N", SqlType.INTEGER, False), Column("V", SqlType.VARCHAR, True, 30000)),
        ("N",),
    )
    values = {"N": pa.array(range(len(texts))), "V": pa.array(texts)}
    with place.engine("round") as engine:
        engine.run(ddl.create_table(table, engine.profile))
        run(engine, Rows(table, Op.INSERT, len(texts), {}, values, {}), RenderOptions())
        assert dict(engine.rows("SELECT n, v FROM round.texts")) == dict(enumerate(texts))
        run(
            engine,
            Rows(table, Op.DELETE, len(texts), values, {}, {}),
            RenderOptions(where_columns="all"),
        )


def test_blanks_and_letters_are_not_taken_for_equal(place: Place) -> None:
    """A table without key: the very row goes, not one that a lenient comparison takes for it."""
    table = Table("round", "loose", (Column("V", SqlType.VARCHAR, True, 9),))
    values = ["a", "a ", "A", "á", ""]
    for gone in values:
        with place.engine("round") as engine:
            engine.run(ddl.create_table(table, engine.profile))
            run(
                engine,
                Rows(table, Op.INSERT, len(values), {}, {"V": pa.array(values)}, {}),
                RenderOptions(),
            )
            run(engine, Rows(table, Op.DELETE, 1, {"V": pa.array([gone])}, {}, {}), RenderOptions())
            assert sorted(value for (value,) in engine.rows("SELECT v FROM round.loose")) == sorted(
                v for v in values if v != gone
            )


def test_ends_of_the_numbers(place: Place) -> None:
    numbers = [
        0.0,
        -0.0,
        5e-324,
        2.2250738585072014e-308,
        1.7976931348623157e308,
        -1.7976931348623157e308,
        1e16,
        0.1,
        math.inf,
        -math.inf,
    ]
    numbers = [number for (number,) in held([(number,) for number in numbers], place.dialect)]
    table = Table(
        "round",
        "ends",
        (Column("I", SqlType.BIGINT), Column("F", SqlType.DOUBLE), Column("R", SqlType.REAL)),
    )
    values = {
        "I": pa.array([2**63 - 1, -(2**63)] * 5),
        "F": pa.array(numbers),
        "R": pa.array([3.4028234663852886e38, 1.401298464324817e-45] * 5, pa.float32()),
    }
    with place.engine("round") as engine:
        engine.run(ddl.create_table(table, engine.profile))
        rows = Rows(table, Op.INSERT, len(numbers), {}, values, {})
        run(engine, rows, RenderOptions())
        found = [float(value) for (value,) in engine.rows("SELECT f FROM round.ends")]
        assert found == pytest.approx(numbers, rel=1e-15, abs=0)
        assert {value for (value,) in engine.rows("SELECT i FROM round.ends")} == {
            2**63 - 1,
            -(2**63),
        }
        run(engine, rows.inverse(), RenderOptions())


def test_moments_with_a_zone(place: Place) -> None:
    table = Table("round", "zoned", (Column("Z", SqlType.TIMESTAMP_TZ, True, 6),))
    values = {
        "Z": pa.array(["2024-02-29 10:20:30.123456+05:30", "0001-01-02 00:00:00.000000-12:59"])
    }
    with place.engine("round") as engine:
        engine.run(ddl.create_table(table, engine.profile))
        rows = Rows(table, Op.INSERT, 2, {}, values, {})
        run(engine, rows, RenderOptions())
        kept = (
            ["2024-02-29 04:50:30.123456", "0001-01-02 12:59:00.000000"]
            if place.dialect == "duckdb"
            else values["Z"].to_pylist()
        )
        assert state(engine, table) == sorted((value,) for value in kept)
        run(engine, rows.inverse(), RenderOptions())


def test_words_that_duckdb_reserves_are_known() -> None:
    with Place("duckdb").engine() as engine:
        words = {
            word
            for (word,) in engine.rows(
                "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"
            )
        }
    assert words - RESERVED == set()


@pytest.mark.long
def test_every_reserved_word_is_a_name(place: Place) -> None:
    profile = profile_named(place.dialect)
    columns = tuple(
        Column(word.upper(), SqlType.BIGINT)
        for word in sorted(RESERVED | profile_named("postgres").reserved)
    )
    table = Table("ROUND", "SELECT", columns, ("SELECT",))
    values = {column.name: pa.array([1]) for column in columns}
    with place.engine("round") as engine:
        engine.run(ddl.create_table(table, profile))
        rows = Rows(table, Op.INSERT, 1, {}, values, {})
        run(engine, rows, RenderOptions())
        run(engine, rows.inverse(), RenderOptions(where_columns="key"))


def test_defaults_checks_and_identities(place: Place) -> None:
    script = schema_script(
        [TABLE],
        Constraints(),
        profile_named(place.dialect),
        "lower",
        parse_declared(DB2, "db2", [TABLE]),
    )
    with place.engine("s") as engine:
        for line in script.tables:
            if line.startswith("CREATE TABLE"):
                engine.run(line)
        engine.run("INSERT INTO s.t (id, price, kind) VALUES (1, 2, 'a')")
        assert engine.rows("SELECT name FROM s.t") == [("it's",)]
        with pytest.raises(Exception, match="(?i)check|constraint"):
            engine.run("INSERT INTO s.t (id, price, kind) VALUES (2, 2, 'c')")
