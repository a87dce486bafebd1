"""Statements and literals: each shape parses back, each value comes back, nothing breaks out of its
line."""

from __future__ import annotations

from datetime import date, timedelta

import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from sqlgen.dialects import profile_named
from sqlgen.errors import SqlgenError
from sqlgen.literals import Policy, literals
from sqlgen.names import check_collisions, identifier
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Column, Op, Rows, SqlType, Table
from sqlgen.script import escape_comment, script_prologue, unit_comments
from sqlgen.statements import (
    EMITTED,
    PROBLEM,
    render,
)

POSTGRES = profile_named("postgres")
COLUMNS = (
    Column("ID", SqlType.INTEGER, False),
    Column("User", SqlType.VARCHAR, True, 40),
    Column("AMOUNT", SqlType.DECIMAL, True, 9, 2),
    Column("RATE", SqlType.DOUBLE, True),
    Column("NOTE-1", SqlType.VARBINARY, True, 10),
)
KEYED = Table("SHOP", "ORDER", COLUMNS, ("ID",))


def batch(*rows: tuple[object, ...]) -> dict[str, pa.Array]:
    types = (pa.int64(), pa.string(), pa.string(), pa.float64(), pa.binary())
    return {
        column.name: pa.array([row[place] for row in rows], kind)
        for place, (column, kind) in enumerate(zip(COLUMNS, types, strict=True))
    }


def test_names() -> None:
    assert identifier("ORDER", POSTGRES, "lower").sql(dialect="postgres") == '"order"'
    assert identifier("AMOUNT", POSTGRES, "lower").sql(dialect="postgres") == "amount"
    assert identifier('a"b', POSTGRES, "exact").sql(dialect="postgres") == '"a""b"'
    for bad in ("", "a\0b", "é" * 32):
        with pytest.raises(SqlgenError) as refused:
            identifier(bad, POSTGRES, "lower")
        assert refused.value.code == "LR3005"
    twins = Table("S", "T", (Column("Id", SqlType.INTEGER), Column("ID", SqlType.INTEGER)))
    with pytest.raises(SqlgenError, match="both become 'id'"):
        check_collisions([twins], POSTGRES, "lower")
    check_collisions([twins], POSTGRES, "exact")
    with pytest.raises(SqlgenError, match="both become"):
        check_collisions([Table("S", "T", COLUMNS), Table("s", "T", COLUMNS)], POSTGRES, "lower")


def test_nul_policies() -> None:
    values, column = pa.array(["a\0b", "c", None]), Column("C", SqlType.VARCHAR)
    _, problems = literals(values, column, POSTGRES, Policy())
    assert [(problem.row, problem.code) for problem in problems] == [(0, "LR3001")]
    assert literals(values, column, POSTGRES, Policy(nul="strip"))[0].to_pylist() == [
        "'ab'",
        "'c'",
        "NULL",
    ]
    assert literals(values, column, POSTGRES, Policy(nul="space"))[0].to_pylist() == [
        "'a b'",
        "'c'",
        "NULL",
    ]
    rows = Rows(
        KEYED,
        Op.INSERT,
        2,
        {},
        {**batch((1, "a\0b", None, None, None), (2, "c", None, None, None))},
        {},
    )
    rendered = render(rows, POSTGRES, RenderOptions())
    assert rendered.outcome.tolist() == [PROBLEM, EMITTED]
    assert rendered.text.to_pylist()[0] == ""


@given(st.dates(), st.integers(0, 86_399), st.integers(0, 10**12 - 1))
def test_timestamps_beyond_microseconds(day: date, second: int, fraction: int) -> None:
    whole = f"{day} {timedelta(seconds=second)!s:0>8}"
    values, column = (
        pa.array([f"{whole}.{fraction:012d}"]),
        Column("C", SqlType.TIMESTAMP, True, 12),
    )
    text, problems = literals(values, column, POSTGRES, Policy())
    assert bool(problems) == bool(fraction % 10**6)
    assert text[0].as_py() == f"'{whole}.{fraction // 10**6:06d}'"
    assert literals(values, column, POSTGRES, Policy(timestamps="truncate")) == (text, [])
    rounded = (
        literals(values, column, POSTGRES, Policy(timestamps="round"))[0][0].as_py().strip("'")
    )
    assert len(rounded) == 26
    exact = (second * 10**12 + fraction) / 10**6
    moved = (date.fromisoformat(rounded[:10]) - day).days * 86_400 + sum(
        int(rounded[i : i + 2]) * k for i, k in ((11, 3600), (14, 60), (17, 1))
    )
    last = whole == "9999-12-31 23:59:59"
    assert last or abs(moved * 10**6 + int(rounded[20:]) - exact) <= 0.5 + 1e-3


@given(st.text())
def test_nothing_breaks_out_of_a_comment(value: str) -> None:
    value = value.encode("utf-8", "replace").decode()
    (line,) = unit_comments({"authid": pa.array([value])}).to_pylist()
    assert line.startswith("-- unit authid=")
    assert len(line.splitlines()) == 1
    assert "\0" not in line


def test_comments_hide_every_line_end() -> None:
    ends = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029\u202e"
    assert escape_comment(pa.array([ends, "plain"])).to_pylist() == [
        "".join(f"\\u{ord(c):04X}" for c in ends),
        "plain",
    ]


def test_prologue_is_plain_sql() -> None:
    text = script_prologue(POSTGRES, "redo")
    assert all(line.startswith(("--", "SET ")) for line in text.splitlines())
    assert "SET search_path = pg_catalog, pg_temp;" in text
    assert text.count("SET ") == len(POSTGRES.session) + 1
    assert len(sqlglot.parse(text, dialect="postgres")) == len(POSTGRES.session) + 1


@pytest.mark.parametrize(
    ("dialect", "taken", "refused"),
    [
        ("tsql", ["+14:00", "-14:00", "+13:59"], ["+14:01", "-14:30", "+15:00"]),
        ("bigquery", ["+14:00", "-14:00"], ["+14:01", "-15:00"]),
        ("trino", ["+14:00", "-14:00"], ["+14:01", "-14:59"]),
        ("db2", ["+14:00", "-12:59"], ["+14:01", "-13:00"]),
        ("oracle", ["+14:59", "-12:59"], ["+15:00", "-13:00"]),
        ("postgres", ["+15:59", "-15:59"], ["+16:00"]),
    ],
)
def test_time_zone_offsets(dialect: str, taken: list[str], refused: list[str]) -> None:
    column = Column("C", SqlType.TIMESTAMP_TZ, True, 6)
    offsets = [*taken, *refused]
    values = pa.array([f"2024-03-15 10:20:00.000000{offset}" for offset in offsets])
    _, problems = literals(values, column, profile_named(dialect), Policy())
    assert [problem.found[-6:] for problem in problems] == refused
    assert all("an offset within" in problem.expected for problem in problems)
