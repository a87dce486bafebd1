"""``--where``: what it may say, what is refused and where, and that DuckDB understands it as SQL
does."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from datetime import datetime

import duckdb
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sqlgen.errors import SqlgenError
from sqlgen.predicate import at_time, parse_predicate
from sqlgen.schema import ARROW_TYPES, Column, SqlType, Table

TABLE = Table(
    "SHOP",
    "ORDERS",
    (
        Column("ID", SqlType.INTEGER, False),
        Column("STATUS", SqlType.CHAR, True, 3),
        Column("NAME", SqlType.VARCHAR, True, 20),
        Column("AMOUNT", SqlType.DECIMAL, True, 9, 2),
        Column("RATE", SqlType.DOUBLE),
        Column("DAY", SqlType.DATE),
        Column("CLOCK", SqlType.TIME),
        Column("MADE", SqlType.TIMESTAMP, True, 12),
        Column("RAW", SqlType.VARBINARY, True, 9),
    ),
    ("ID",),
)
OTHER = Table(
    "SHOP",
    "PLACES",
    (Column("ID", SqlType.INTEGER, False), Column("CITY", SqlType.VARCHAR, True, 9)),
    ("ID",),
)
VALUES = (
    -7,
    "A  ",
    "Ann ",
    "12.50",
    0.5,
    "2024-02-29",
    "24:00:00",
    "2024-02-29 10:20:30.123456789012",
    b"\x00\xff",
)


def holds(
    condition: str, values: tuple[object, ...] = VALUES, side: str = "after", update: bool = True
) -> bool | None:
    """What DuckDB says about one row, with the same values in both images; no ``update``: of a
    change that has only the image ``side``."""
    predicate = parse_predicate(condition, [TABLE, OTHER])
    columns = {
        f"{image}.{column.name}": pa.array([value], ARROW_TYPES[column.type])
        for image in ("before", "after")
        for column, value in zip(TABLE.columns, values, strict=True)
    }
    with duckdb.connect(":memory:") as connection:
        connection.register("rows", pa.table(columns))
        (found,) = connection.sql(
            f"SELECT ({predicate.duckdb_sql(TABLE, side, update)}) FROM rows"
        ).fetchall()
    return found[0]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("after.name IS NULL", None),
        ("NOT after.name IS NULL", None),
        ("(after.name IS NULL) AND before.id = -7", None),
        ("coalesce(after.id, -7) = -7", None),
        ("after.id IS DISTINCT FROM 5", None),
        ("before.name = after.name", None),
        ("after.name IS NULL OR before.id = -7", True),
        ("after.name IS NULL AND before.id = 7", False),
        ("name IS NOT NULL AND before.id = -7", True),
        ("changed(name)", False),
    ],
)
def test_no_condition_on_an_image_that_a_change_lacks_holds(
    condition: str, expected: bool | None
) -> None:
    assert holds(condition, side="before", update=False) is expected
    mirrored = condition.replace("after", "AFTER").replace("before", "after")
    mirrored = mirrored.replace("AFTER", "before")
    assert holds(mirrored, side="after", update=False) is expected
    assert holds(condition) is not None


TRUE = [
    "id = -7",
    "ID = -7 AND Before.Id = after.iD",
    '"ID" = -7',
    "NOT id > 0",
    "id IN (1, -7) AND id BETWEEN -8 AND -6",
    "id % 2 = -1 AND abs(id) = 7",
    "status = 'A' AND status = 'A  ' AND 'A ' = status",
    "status IN ('X', 'A ')",
    "status BETWEEN 'A  ' AND 'B'",
    "(status) <= ('A ')",
    "status LIKE 'A'",
    "length(status) = 1",
    "name = 'Ann ' AND NOT name = 'Ann'",
    "trim(name) = 'Ann'",
    "upper(name) LIKE 'ANN%'",
    "substr(name, 1, 2) || 'x' = 'Anx'",
    "coalesce(name, '') <> ''",
    "VALUE(NULL, name) CONCAT 'x' = 'Ann x' AND LEFT(name, 2) = 'An' AND RIGHT(status, 1) = 'A'",
    "name = 'Ann ' -- '; a comment",
    "amount * 2 > 24.99 AND amount < 1e2",
    "cast(amount AS integer) > 11",
    "amount = 12.5 AND amount = '+12.500' AND amount <> '12.501' AND amount * 2 <> '25.001'",
    "id BETWEEN '-7.4' AND -7 AND id <> '-7.4' AND id = '-7.0' AND rate = '.5' AND rate = 0.5",
    "day = DATE '2024-02-29' AND day = '2024-02-29'",
    "day + INTERVAL '1' day = DATE '2024-03-01'",
    "clock = TIME '24:00:00'",
    "made > TIMESTAMP '2024-02-29 10:20:30'",
    "made < '2024-03-01'",
    "made > '2024-02-29 10:20:30.123456'",
    "NOT made = '2024-02-29 10:20:30.123456'",
    "made = '2024-02-29-10.20.30.123456789012'",
    "(made) IN ('2024-02-29', '2024-02-29 10:20:30.123456789012')",
    "made BETWEEN '2024-2-29' AND CAST('2024-02-29T10:20:30.1234567891' AS timestamp)",
    "before.made = made AND '2024-02-29 10:20' < made",
    "made + INTERVAL '1' day < '2024-03-01 10:20:31'",
    "made + 1 DAY < '2024-03-01 10:20:31' AND day - 2 months = '2023-12-29'",
    "YEAR(made) = 2024 AND month(day) = 2 AND DAY(after.made) / 2 = 14",
    "HOUR(made) = 10 AND MINUTE(made) = 20 AND SECOND(made) = 30 AND hour(clock) = 24",
    "raw = x'00FF'",
    "raw = BX'00FF'",
    "raw IS NOT NULL",
    "id IS DISTINCT FROM 1",
    "id / 2 = -3",
    "(id + 1) / 4 * 4 = -4",
    "id / 2 / 3 = -1",
    "id / 2.0 = -3.5",
    "amount / 5 = 2.5",
]


@pytest.mark.parametrize("condition", TRUE)
def test_true_in_sql_is_true_in_duckdb(condition: str) -> None:
    assert holds(condition) is True


def test_a_text_is_compared_with_a_number_as_a_number() -> None:
    told = (*VALUES[:2], "12.501", *VALUES[3:])
    assert holds("name = 12.501 AND name <> 12.5 AND NOT name IN (-12.5, 12.5)", told)
    assert holds("name <> amount AND amount < name AND name BETWEEN 9 AND 13", told)


def test_hour_24_lies_before_the_next_day() -> None:
    late = (*VALUES[:7], "2024-02-29 24:00:00", *VALUES[8:])
    assert holds("made < '2024-03-01' AND made > '2024-02-29 23:59:59.999999999999'", late)
    assert holds("made = '2024-02-29 24:00:00' AND made <> '2024-03-01 00:00:00'", late)
    assert holds("DAY(made) = 29 AND HOUR(made) = 24", late)


@pytest.mark.parametrize("moment", ["2024-02-30", "2024-02-29 25:00:00", "2024-02-29 10:20:30+01x"])
def test_what_is_no_moment_is_refused(moment: str) -> None:
    with pytest.raises(duckdb.Error):
        holds(f"made > '{moment}'")


def test_null_is_unknown() -> None:
    nothing = (None,) * len(VALUES)
    assert holds("status = 'A'", nothing) is None
    assert holds("made > '2024-02-29'", nothing) is None
    assert holds("status IS NULL AND amount IS NULL AND made IS NULL", nothing) is True


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("id = 1", {("", "ID")}),
        (
            "before.name = after.name OR amount > 1",
            {("before", "NAME"), ("after", "NAME"), ("", "AMOUNT")},
        ),
        ("BEFORE.NAME IS NULL", {("before", "NAME")}),
    ],
)
def test_columns_it_reads(text: str, columns: set[tuple[str, str]]) -> None:
    assert parse_predicate(text, [TABLE]).columns == columns


def test_a_bare_column_is_of_either_image() -> None:
    predicate = parse_predicate("id = 1 AND before.name = 'x'", [TABLE])
    assert predicate.duckdb_sql(TABLE, "before") == '"before.ID" = 1 AND "before.NAME" = \'x\''
    assert predicate.duckdb_sql(TABLE, "after") == '"after.ID" = 1 AND "before.NAME" = \'x\''
    assert predicate.duckdb_sql(TABLE, "before") == '"before.ID" = 1 AND "before.NAME" = \'x\''


def test_which_tables_it_is_about() -> None:
    predicate = parse_predicate("id = 1 AND city = 'Oslo'", [TABLE, OTHER])
    assert not predicate.applies_to(TABLE)
    assert predicate.applies_to(OTHER)


REFUSED = [
    ("id >", "line 1, column 4"),
    ("id = 1 garbage", "line 1, column 8"),
    ("id = 1; DROP TABLE x", "line 1, column 9"),
    ("SELECT id", "line 1, column 1"),
    ("name = 'x", "line 1, column 8: a ' that is not closed"),
    ("id = 1 AND\n  name = 'it''s", "line 2, column 10: a ' that is not closed"),
    ("id = 1 /* it's", "line 1, column 8: a /* that is not closed"),
    ('"id = 1', 'line 1, column 1: a " that is not closed'),
    ("id = 1\n AND nope = 2", "'nope' at line 2, column 6"),
    ("wrong.id = 1", "wrong.id at line 1, column 1"),
    ("a.before.id = 1", "line 1, column 1"),
    ("id = (SELECT 1)", "SUBQUERY"),
    ("id IN (SELECT id FROM t)", "SUBQUERY"),
    ("EXISTS (SELECT 1)", "EXISTS"),
    ("id > 1 AND pg_sleep(9) IS NULL", "(PG_SLEEP(9)) at line 1, column 12"),
    ("id = 1 OR read_csv('/etc/passwd') = 1", "READCSV"),
    ("getenv('HOME') = name", "uses GETENV (GETENV('HOME')) at line 1"),
    ("HEX(name) = '00FF'", "HEX (HEX(name)) at line 1, column 1; expected a column of bytes"),
    ("HEX(upper(name)) = '00FF'", "expected a column of bytes"),
    ("id > random()", "line 1, column 6"),
    ("day > current_date", "line 1, column 7"),
    ("made > current timestamp", "expected CURRENT DATE, "),
    ("count(*) > 1", "line 1, column 1"),
    ("row_number() OVER () = 1", "WINDOW"),
    ("id = :x", "line 1, column 7"),
    ("id = $1", "PARAMETER"),
    ("before.* = 1", "STAR"),
    ("cast(name AS inet) = '::1'", "casts to INET at line 1, column 6"),
    ("name::json IS NULL", "casts to JSON"),
    ("cast(id AS int[]) IS NULL", "casts to"),
    ("1 = 1", "names no column"),
    ("", "cannot be read"),
    ("amount = 1 AND city = 'Oslo'", "columns of one table"),
    ("(" * 41 + "id = 1" + ")" * 41, "nests 41 deep"),
    ("NOT " * 20_000 + "id = 1", "too deep"),
]


@pytest.mark.parametrize(("text", "told"), REFUSED, ids=[text[:40] for text, _ in REFUSED])
def test_refused_with_its_place(text: str, told: str) -> None:
    with pytest.raises(SqlgenError) as refused:
        parse_predicate(text, [TABLE, OTHER])
    assert refused.value.code == "LR1003"
    assert told in refused.value.message
    assert "--where" in refused.value.hint


@pytest.mark.parametrize(
    ("text", "said", "holds_then"),
    [
        ("day > CURRENT DATE - 7 DAYS", "day > DATE '2024-03-05' - 7 DAYS", True),
        ("day > current_date - 5 days", "day > DATE '2024-03-05' - 5 days", False),
        ("clock >  Current  Time", "clock >  TIME '09:08:07'", True),
        (
            "made + 4 days < CURRENT TIMESTAMP or name = 'current date'",
            "made + 4 days < TIMESTAMP '2024-03-05 09:08:07.006005' or name = 'current date'",
            True,
        ),
        (
            "made between current timestamp - 4 days and current_timestamp",
            "made between TIMESTAMP '2024-03-05 09:08:07.006005' - 4 days and"
            " TIMESTAMP '2024-03-05 09:08:07.006005'",
            False,
        ),
    ],
)
def test_the_present_is_a_constant(text: str, said: str, holds_then: bool) -> None:
    found = at_time(text, datetime(2024, 3, 5, 9, 8, 7, 6005))
    assert found == said
    assert holds(found) is holds_then
    assert at_time("name = 'current date", datetime.now()) == "name = 'current date"


def test_hexadecimal_digits_of_bytes() -> None:
    assert holds("HEX(raw) = '00FF'") is True
    assert holds("hex(before.raw) IN ('00FE', '00ff')") is False
    assert holds("left(hex(after.raw), 2) = '00'") is True


def test_columns_that_differ_in_case_only_are_not_told_apart() -> None:
    columns = (Column("ID", SqlType.INTEGER), Column("Id", SqlType.CHAR), Column("N", SqlType.DATE))
    pair = Table("SHOP", "PAIR", columns)
    for text in ('"Id" = 5', "before.id is null"):
        with pytest.raises(SqlgenError, match="SHOP.PAIR has as 'ID' and as 'Id'"):
            parse_predicate(text, [TABLE, pair])
    assert parse_predicate("n is null", [pair]).applies_to(pair)


def test_brackets_in_texts_do_not_nest() -> None:
    assert holds("name <> '" + "(" * 500 + "'") is True
    assert holds("(" * 40 + "id = -7" + ")" * 40) is True


def test_comments_do_not_reach_the_engine() -> None:
    sql = parse_predicate("id = 1 -- */ OR 1 = 1 /*", [TABLE]).duckdb_sql(TABLE, "after")
    assert sql == '"after.ID" = 1'


WORDS = st.sampled_from(
    "id name 1 'x' ( ) = < > and or not in between like is null , . :: cast( as int end select * +"
    " - / % || ; -- /* */ ' \" [ ] { } @ # $ $$ ? : \\ interval day trim( both substr( date array["
    " exists( \n \0 é x'ff' e'\\n' 0x1 1e5 .5 before. after. coalesce( over( union collate".split(
        " "
    )
)


@given(st.lists(WORDS, max_size=10).map(" ".join) | st.text(max_size=30))
@example("'")
@example("id = e'\\n'")
def test_any_text_is_understood_or_refused(text: str) -> None:
    codes = {"LR1003"}
    try:
        predicate = parse_predicate(text, [TABLE])
    except SqlgenError as refused:
        codes.add(refused.code)
    else:
        assert predicate.columns
        assert duckdb.extract_statements(f"SELECT {predicate.duckdb_sql(TABLE, 'after')}")[1:] == []
    assert codes == {"LR1003"}


def test_a_refusal_says_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(SqlgenError):
        parse_predicate("name = e'\\n'", [TABLE])
    assert caplog.records == []


def test_moments_compare_alike_in_every_time_zone() -> None:
    program = (
        "import pyarrow as pa; from replay.changes.catalog import Catalog; from"
        " replay.changes.envelope import Change; from replay.changes.value_filter import"
        " ValueFilter; from sqlgen.schema import *; from replay.changes.catalog import *; t ="
        " Table('S', 'T', (Column('Z', SqlType.TIMESTAMP_TZ, True, 6),), ()); v = TableVersion(0,"
        ' t, 1, 1, 1, 1, 0, bytes(10), bytes(10), RowFormat(())); f = ValueFilter("z >'
        " '2024-03-15 11:00:00'\", Catalog((v,))); print(f.select(v, lambda name, side:"
        " pa.array(['2024-03-15 12:00:00.000000+00:00']), Change.INSERT, 1).tolist())"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "TZ": zone},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for zone in ("UTC", "America/New_York", "Asia/Tokyo")
    }
    assert said == {"[True]\n"}
