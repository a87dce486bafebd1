"""The Spark profile on a live Spark: its parser takes every statement, its tables hold every value,
and its conditions find the row they mean.

The tables are Parquet ones, which take INSERT but no UPDATE, DELETE or MERGE: of these the text is
parsed and the condition is evaluated.
"""

from __future__ import annotations

import itertools
import math
import random
import re
import struct
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from replay.cli import main
from sqlgen import ddl
from sqlgen.dialects import profile_named
from sqlgen.literals import Policy, literals
from sqlgen.names import table_expression
from sqlgen.render import upsert
from sqlgen.render_options import RenderOptions
from sqlgen.schema import ARROW_TYPES, Column, Op, Rows, SqlType, Table
from sqlgen.statements import render
from tests.golden.test_shapes import golden
from tests.support.texts import every_character

SPARK = profile_named("spark")
STATEMENT = re.compile(r"INSERT|UPDATE|DELETE|MERGE|SET|CREATE|ALTER|DROP")
LARGEST, SMALLEST = 3.4028234663852886e38, 1.401298464324817e-45
#: Edge values of every type, by the column that holds them.
EDGES: dict[Column, tuple[Any, ...]] = {
    Column("S", SqlType.SMALLINT): (-(2**15), 2**15 - 1, 0),
    Column("I", SqlType.INTEGER): (-(2**31), 2**31 - 1, 0),
    Column("BIG", SqlType.BIGINT): (-(2**63), 2**63 - 1, 0),
    Column("D", SqlType.DECIMAL, True, 31, 5): (f"-{'9' * 26}.99999", f"{'9' * 26}.99999",
        "0.00001", "-0.00001", "0.00000"),
    Column("W", SqlType.DECIMAL, True, 31, 0): ("9" * 31, "-" + "9" * 31, "0"),
    Column("R", SqlType.REAL): (0.1, LARGEST, -LARGEST, SMALLEST, -0.0, math.inf, -math.inf,
        math.nan),
    Column("F", SqlType.DOUBLE): (0.1, 1.7976931348623157e308, 5e-324, -0.0, math.inf, -math.inf,
        math.nan, 1e22, 123456789.123456789),
    Column("C", SqlType.CHAR, True, 20): ("", "x", "two words", "é"),
    Column("V", SqlType.VARCHAR, True, 200): (
        "", " ", "trailing  ", "null", "it's", '"', "back\\slash", "\\u0041", "\\n",
        "tab\tline\nfeed\rnul\0end", "${x} $y", "--x", "/*y*/", ";",
        "%_", "`", "¢¦|", "\x85\u2028\u202e", "\ud7ff\ue000\uffff", "\U0001f600", "e\u0301",
    ),
    Column("B", SqlType.VARBINARY, True, 50): (b"", b"\x00", b"\x41\xff", bytes(range(50))),
    Column("FIX", SqlType.BINARY, True, 2): (b"\x00\x00", b"' "),
    Column("DAY", SqlType.DATE): ("0001-01-01", "1582-10-10", "1900-02-28", "2024-02-29",
        "9999-12-31"),
    Column("CLOCK", SqlType.TIME): ("00:00:00", "23:59:59", "24:00:00"),
    Column("TS", SqlType.TIMESTAMP, True, 6): (
        "0001-01-01 00:00:00.000000", "1582-10-10 00:00:00.000001", "2024-03-31 02:30:00.000000",
        "9999-12-31 23:59:59.999999",
    ),
    Column("TZ", SqlType.TIMESTAMP_TZ, True, 6): (
        "2024-02-29 10:00:00.500000+05:30", "1970-01-01 00:00:00.000000-12:00",
        "9999-12-30 23:59:59.999999+00:00",
    ),
    Column("FLAG", SqlType.BOOLEAN): (True, False),
    Column("DECF", SqlType.DECFLOAT): ("1E+6144", "-0.00", "NaN", "-Infinity", "123"),
    Column("DOC", SqlType.CLOB): ("", "a\nb"),
    Column("RAW", SqlType.BLOB): (b"", b"\x00\xff"),
    Column("X", SqlType.XML): ("<a b='c'>&amp;</a>",),
}  # fmt: skip
COLUMNS = (Column("ID", SqlType.INTEGER, False), *EDGES)
TRIP = Table("ROUND", "TRIP", COLUMNS, ("ID",))
#: UTC of the zoned edges.
MOMENTS = {
    "2024-02-29 10:00:00.500000+05:30": "2024-02-29 04:30:00.500000",
    "1970-01-01 00:00:00.000000-12:00": "1970-01-01 12:00:00.000000",
    "9999-12-30 23:59:59.999999+00:00": "9999-12-30 23:59:59.999999",
}


@pytest.fixture(scope="module")
def session(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session of its own, with the settings of our scripts, whose tables lie in a folder that
    goes away."""
    own = spark.newSession()
    for line in (*SPARK.session, "SET spark.sql.session.timeZone = UTC;"):
        own.sql(line.rstrip(";"))
    schemas = {"round", "sakila"}
    for schema in schemas:
        own.sql(f"CREATE SCHEMA {schema} LOCATION '{tmp_path_factory.mktemp(schema)}'")
    yield own
    for schema in schemas:
        own.sql(f"DROP SCHEMA {schema} CASCADE")


@pytest.fixture
def trip(session: Any) -> Iterator[str]:
    """The table of all types, empty."""
    session.sql(ddl.create_table(TRIP, SPARK).rstrip(";"))
    name = table_expression(TRIP, SPARK, "lower").sql(dialect="spark")
    yield name
    session.sql(f"DROP TABLE {name}")


def parsed(session: Any, text: str) -> None:
    session._jsparkSession.sessionState().sqlParser().parsePlan(text)


def edge_rows() -> list[tuple[Any, ...]]:
    """As many rows as the longest list of edges has values; a row of nulls comes last."""
    count = max(map(len, EDGES.values()))
    rows = [
        (number, *(values[number % len(values)] for values in EDGES.values()))
        for number in range(count)
    ]
    return [*rows, (count, *(None for _ in EDGES))]


def random_rows(count: int) -> list[tuple[Any, ...]]:
    choice = random.Random(17)
    characters = [
        chr(code)
        for code in itertools.chain(
            range(0x250), range(0x2000, 0x2070), range(0xFF00, 0xFFFF), range(0x1F600, 0x1F610)
        )
    ]
    rows = []
    for number in range(count):
        row: dict[str, Any] = {
            column.name: choice.choice([None, *values]) for column, values in EDGES.items()
        }
        row["V"] = "".join(choice.choices(characters, k=20))
        row["F"] = struct.unpack(">d", choice.randbytes(8))[0]
        row["R"] = struct.unpack(">f", choice.randbytes(4))[0]
        row["D"] = (
            f"{choice.choice(['', '-'])}{choice.randrange(1, 10**26)}.{choice.randrange(10**5):05d}"
        )
        row["BIG"] = choice.randrange(-(2**63), 2**63)
        row["B"] = choice.randbytes(choice.randrange(50))
        rows.append((1000 + number, *(row[column.name] for column in EDGES)))
    return rows


def inserts(rows: list[tuple[Any, ...]]) -> Rows:
    return Rows(TRIP, Op.INSERT, len(rows), {}, images(rows), {})


def images(rows: list[tuple[Any, ...]]) -> dict[str, pa.Array]:
    return {
        column.name: pa.array([row[place] for row in rows], ARROW_TYPES[column.type])
        for place, column in enumerate(COLUMNS)
    }


def shape(column: Column, value: Any) -> Any:
    """A value as it is compared: floats by their bits, decimals with all their digits."""
    if value is None:
        return None
    if column.type in (SqlType.REAL, SqlType.DOUBLE):
        form = ">f" if column.type is SqlType.REAL else ">d"
        return "nan" if math.isnan(value) else struct.pack(form, value)
    if column.type is SqlType.DECIMAL:
        return f"{Decimal(value):.{column.scale}f}"
    if column.type is SqlType.TIMESTAMP_TZ:
        return MOMENTS.get(value, value)
    return bytes(value) if isinstance(value, bytearray) else value


def state(session: Any, name: str) -> list[tuple[Any, ...]]:
    """The rows of the table by ID, dates and times as text."""
    shown = []
    for column in COLUMNS:
        if column.type in (SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ):
            shown.append(f"date_format({column.name}, 'yyyy-MM-dd HH:mm:ss.SSSSSS')")
        else:
            shown.append(
                f"CAST({column.name} AS STRING)" if column.type is SqlType.DATE else column.name
            )
    found = session.sql(f"SELECT {', '.join(shown)} FROM {name} ORDER BY id").collect()
    return [tuple(map(shape, COLUMNS, row)) for row in found]


def expected(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [tuple(map(shape, COLUMNS, row)) for row in rows]


def test_sparks_own_parser_takes_every_statement(session: Any) -> None:
    lines = [
        line
        for line in golden("spark").read_text(encoding="utf-8").splitlines()
        if not line.startswith("--")
    ]
    assert {line.split(" ")[0] for line in lines} == {"SET", "INSERT", "UPDATE", "DELETE", "MERGE"}
    for line in lines:
        parsed(session, line)
    with pytest.raises(Exception, match="PARSE_SYNTAX_ERROR"):
        parsed(
            session,
            next(line for line in lines if line.startswith("MERGE")).replace(" ON (", " OFF ("),
        )


def test_edge_values_come_back_one_statement_each(session: Any, trip: str) -> None:
    rows = edge_rows()
    rendered = render(inserts(rows), SPARK, RenderOptions())
    assert rendered.problems == []
    for text in rendered.text.to_pylist():
        session.sql(text.rstrip(";"))
    assert state(session, trip) == expected(rows)


def test_random_values_come_back(session: Any, trip: str) -> None:
    """The rows of many statements in one, because Parquet makes a file of each."""
    rows = random_rows(150)
    texts = render(inserts(rows), SPARK, RenderOptions()).text.to_pylist()
    head = texts[0].split(" VALUES ")[0]
    assert all(text.startswith(f"{head} VALUES (") for text in texts)
    session.sql(
        f"{head} VALUES "
        + ", ".join(text.removeprefix(f"{head} VALUES ").removesuffix(";") for text in texts)
    )
    assert state(session, trip) == expected(rows)


def test_every_character(session: Any) -> None:
    texts = every_character(5000, True)
    written, problems = literals(pa.array(texts), Column("C", SqlType.VARCHAR), SPARK, Policy())
    assert problems == []
    for at in range(0, len(texts), 20):
        (row,) = session.sql(f"SELECT {', '.join(written.to_pylist()[at : at + 20])}").collect()
        assert list(row) == texts[at : at + 20]


@pytest.mark.parametrize("where", ["key", "guard", "all"])
def test_conditions_find_their_row(session: Any, trip: str, where: str) -> None:
    """Of each statement that changes a row, how many rows its condition finds: one, and none once
    the row is another."""
    rows = edge_rows()
    texts = render(inserts(rows), SPARK, RenderOptions()).text.to_pylist()
    head = texts[0].split(" VALUES ")[0]
    session.sql(
        f"{head} VALUES "
        + ", ".join(text.removeprefix(f"{head} VALUES ").removesuffix(";") for text in texts)
    )
    options = RenderOptions(where_columns=where)
    deleted = render(Rows(TRIP, Op.DELETE, len(rows), images(rows), {}, {}), SPARK, options)
    other = [
        (
            row[0],
            *(
                None if value is not None else EDGES[column][-1]
                for column, value in zip(EDGES, row[1:], strict=True)
            ),
        )
        for row in rows
    ]
    changed = {column.name: pa.array([True] * len(rows)) for column in EDGES}
    updated = render(
        Rows(TRIP, Op.UPDATE, len(rows), images(rows), images(other), changed), SPARK, options
    )
    assert deleted.problems == updated.problems == []
    texts = [*deleted.text.to_pylist(), *updated.text.to_pylist()]
    counts = [f"count_if({text.rstrip(';').split(' WHERE ', 1)[1]})" for text in texts]
    put = upsert.render(inserts(rows), SPARK, RenderOptions(upsert=True)).text.to_pylist()
    matched = [
        re.match(
            r"MERGE INTO \S+ AS t USING \(SELECT 1 AS one\) AS s ON (\(.*?\)) WHEN MATCHED", text
        )
        for text in put
    ]
    merged = [f"count_if{found[1]}" for found in matched if found]
    assert [
        list(row) for row in session.sql(f"SELECT {', '.join(merged)} FROM {trip} AS t").collect()
    ] == [[1] * len(rows)]
    assert [
        list(row) for row in session.sql(f"SELECT {', '.join(counts)} FROM {trip}").collect()
    ] == [[1] * len(texts)]
    if where != "key":
        session.sql(f"TRUNCATE TABLE {trip}")
        texts = render(inserts(other), SPARK, RenderOptions()).text.to_pylist()
        session.sql(
            f"{head} VALUES "
            + ", ".join(text.removeprefix(f"{head} VALUES ").removesuffix(";") for text in texts)
        )
        assert [
            list(row) for row in session.sql(f"SELECT {', '.join(counts)} FROM {trip}").collect()
        ] == [[0] * len(counts)]


def test_tables_of_a_log_and_its_inserts(
    session: Any, sakila: Path, sakila_small: Path, tmp_path: Path
) -> None:
    """``ddl`` makes the tables; the inserts of a script go into them, one row each; every other
    statement is parsed."""
    log = ["--control", str(sakila_small / "small.ctl"), "--data", str(sakila_small / "small.dat")]
    assert (
        main.main(["ddl", *log, "--dialect", "spark", "--out", str(tmp_path / "tables.sql")]) == 0
    )
    made = [
        line
        for line in (tmp_path / "tables.sql").read_text().splitlines()
        if line and not line.startswith("--")
    ]
    assert sum(line.startswith("CREATE TABLE") for line in made) == 11
    for line in made:
        if not line.startswith("CREATE SCHEMA"):
            session.sql(line.rstrip(";"))
    redo = ["redo", *log, "--dialect", "spark", "--engine", "local"]
    assert (
        main.main([*redo, "--out", str(tmp_path / "redo"), "--exclude-table", "*.KIOSK_SCAN"]) == 0
    )
    assert (
        main.main(
            [*redo, "--out", str(tmp_path / "put"), "--exclude-table", "*.KIOSK_SCAN", "--upsert"]
        )
        == 0
    )
    lines = [
        line
        for folder in ("redo", "put")
        for line in (tmp_path / folder / "0000-redo.sql").read_text().splitlines()
    ]
    for line in lines:
        if STATEMENT.match(line):
            parsed(session, line)
        else:
            assert line.startswith("--"), line
    fresh = [line for line in lines if line.startswith("INSERT")][:25]
    for line in fresh:
        session.sql(line.rstrip(";"))
    names = {line.split(" ")[2] for line in fresh}
    assert sum(session.table(name).count() for name in names) == len(fresh) == 25
