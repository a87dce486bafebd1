"""Literals do not depend on their neighbours: a value is written alike in every batch."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import fields
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlgen.dialects import profile_named
from sqlgen.errors import SqlgenError
from sqlgen.literals import Policy, float_body, literal_parts, literals, other_readings
from sqlgen.schema import ARROW_TYPES, Column, SqlType

POSTGRES = profile_named("postgres")
SQLITE = profile_named("sqlite")

TEXTS = st.lists(
    st.none() | st.text(st.sampled_from("aé'\\\n\x7f \U0001f600"), max_size=6), max_size=8
)
NUMBERS = st.lists(
    st.none() | st.floats() | st.sampled_from([float("nan"), float("inf"), -0.0]), max_size=8
)
BYTES = st.lists(st.none() | st.binary(max_size=5), max_size=8)
#: Timestamps with twelve digits, most of which lose some in PostgreSQL.
MOMENTS = st.lists(
    st.none() | st.integers(0, 10**12 - 1).map(lambda n: f"2024-12-31 23:59:59.{n:012d}"),
    max_size=8,
)

KINDS = [
    (SqlType.VARCHAR, TEXTS),
    (SqlType.CHAR, TEXTS),
    (SqlType.DOUBLE, NUMBERS),
    (SqlType.VARBINARY, BYTES),
    (SqlType.TIMESTAMP, MOMENTS),
]


@pytest.mark.parametrize(("kind", "values"), KINDS, ids=[kind.value for kind, _ in KINDS])
@given(data=st.data())
def test_a_batch_says_what_each_value_says_alone(
    kind: SqlType, values: st.SearchStrategy[list[object]], data: st.DataObject
) -> None:
    column = Column("C", kind, True, 12)
    batch = pa.array(data.draw(values), ARROW_TYPES[kind])
    policy = Policy(timestamps=data.draw(st.sampled_from(["refuse", "truncate", "round"])))
    together, problems = literals(batch, column, POSTGRES, policy)
    alone = [literals(batch[row : row + 1], column, POSTGRES, policy) for row in range(len(batch))]
    assert together.to_pylist() == [text[0].as_py() for text, _ in alone]
    assert {problem.row for problem in problems} == {
        row for row, (_, found) in enumerate(alone) if found
    }
    assert literals(batch[1:], column, POSTGRES, policy)[0].to_pylist() == together.to_pylist()[1:]


def doubles() -> np.ndarray[Any, np.dtype[np.float64]]:
    """Numbers of few digits, any bytes that are no NaN, small and large numbers, and some that
    were misread."""
    dice = np.random.default_rng(1)
    octets = dice.integers(0, 1 << 64, 6000, dtype=np.uint64)
    small = dice.integers(1, 1 << 58, 2000, dtype=np.uint64)
    large = dice.integers(0x7A00 << 48, 0x7FF0 << 48, 2000, dtype=np.uint64)
    short = dice.integers(-(10**6), 10**6, 2000) / 10.0 ** dice.integers(-8, 9, 2000)
    known = [1.2771231028632218e-302, 5.953666059648127e-297, 0.1, 1 / 3, -5e-324, -0.0]
    # fifteen digits, or fewer, that lie near to the middle between two doubles
    known += [-0.0623396655350975, 0.707056753354459, 0.940030237150629, 0.610096720368348]
    numbers = np.concatenate([octets, small, large]).view(np.float64)
    ends = [float("inf"), float("-inf"), *np.ldexp(1.0, np.arange(-1074, 1024))]
    return np.concatenate([short, numbers[~np.isnan(numbers)], ends, known])


def test_sqlite_reads_a_double_to_the_last_bit() -> None:
    """Releases before 3.47 miss the last bit of some digits."""
    numbers = doubles()
    values = pa.array(numbers, pa.float64())
    texts, problems = literals(values, Column("C", SqlType.DOUBLE), SQLITE, Policy())
    assert not problems
    with closing(sqlite3.connect(":memory:")) as engine:
        for number, text in zip(numbers.tolist(), texts.to_pylist(), strict=True):
            assert engine.execute(f"SELECT {text}").fetchone() == (number,)


def test_sqlite_reads_fifteen_digits_to_the_last_bit() -> None:
    """Of a hundred thousand, it would miss the last bit of some ten, and those few are written
    otherwise."""
    dice = np.random.default_rng(1)
    whole, power = dice.integers(10**13, 10**15, 100_000), dice.integers(8, 21, 100_000)
    numbers = whole / 10.0**power
    body = float_body(pa.array(numbers), SQLITE.floats[SqlType.DOUBLE]).to_pylist()
    with closing(sqlite3.connect(":memory:")) as engine:
        for start in range(0, len(numbers), 500):
            texts = ", ".join(body[start : start + 500])
            read = engine.execute(f"SELECT {texts}").fetchone()
            assert read == tuple(numbers[start : start + 500].tolist())
    assert sum(text.startswith("(") for text in body) < len(body) / 20


@pytest.mark.parametrize("scale", [5, 6, 14, 22, 23, 31])
def test_the_other_reading_of_a_decimal_is_its_double(scale: int) -> None:
    dice = np.random.default_rng(scale)
    whole = [0, 1, -12, 10**30, *dice.integers(-(10**15), 10**15, 3000).tolist()]
    bodies = [f"{Decimal(number).scaleb(-scale):.{scale}f}" for number in whole]
    column = Column("C", SqlType.DECIMAL, True, 31, scale)
    others = other_readings(pa.array([*bodies, None]), column, SQLITE)
    assert others is not None
    with closing(sqlite3.connect(":memory:")) as engine:
        for body, more in zip(bodies, others.to_pylist(), strict=False):
            if more:
                assert engine.execute(f"SELECT 0{more}").fetchone() == (0, float(body))
            elif len(body.strip("-0.").replace(".", "")) <= 15:
                assert engine.execute(f"SELECT {body}").fetchone() == (float(body),)


def test_doubles_that_sqlite_reads_for_certain_stay_as_they_are() -> None:
    values = pa.array([12345.678, -0.1, None, 1e22, float("inf"), 1 / 3, 1e23])
    assert literals(values, Column("C", SqlType.DOUBLE), SQLITE, Policy())[0].to_pylist() == [
        "12345.678e0",
        "-0.1e0",
        "NULL",
        "1e+22",
        "9e999",
        "(6004799503160661.0/18014398509481984.0)",
        "(2980232238769531.0*33554432.0)",
    ]


def test_not_a_number_beside_null() -> None:
    values = pa.array([None, float("nan"), float("-inf")])
    assert literals(values, Column("C", SqlType.DOUBLE), POSTGRES, Policy())[0].to_pylist() == [
        "NULL",
        "'NaN'",
        "'-Infinity'",
    ]
    values = pa.array([None, float("nan")], pa.float32())
    assert literals(values, Column("C", SqlType.REAL), POSTGRES, Policy())[0].to_pylist() == [
        "NULL",
        "'NaN'",
    ]


@pytest.mark.parametrize("kind", list(SqlType))
def test_parts_join_to_the_literal(kind: SqlType) -> None:
    given_text = {SqlType.DECIMAL: "1.50", SqlType.DATE: "2024-02-29", SqlType.TIME: "10:00:00"}
    fallback = "2024-02-29 10:00:00.500000" + ("+00:00" if kind is SqlType.TIMESTAMP_TZ else "")
    one: object = given_text.get(kind, fallback)
    if pa.types.is_binary(ARROW_TYPES[kind]):
        one = b"\x00a"
    elif kind is SqlType.BOOLEAN:
        one = True
    elif not pa.types.is_string(ARROW_TYPES[kind]):
        one = 7
    values, column = pa.array([one, None], ARROW_TYPES[kind]), Column("C", kind, True, 6)
    parts = literal_parts(values, column, POSTGRES, Policy())
    text, problems = literals(values, column, POSTGRES, Policy())
    assert problems == parts.problems == []
    assert parts.body.is_null().to_pylist() == [False, True]
    assert text.to_pylist() == [f"{parts.opening}{parts.body[0].as_py()}{parts.closing}", "NULL"]


@pytest.mark.parametrize("kind", list(SqlType))
def test_nothing_in_nothing_out(kind: SqlType) -> None:
    column = Column("C", kind, True, 12)
    assert (
        literals(pa.array([], ARROW_TYPES[kind]), column, POSTGRES, Policy())[0].to_pylist() == []
    )
    assert literals(pa.nulls(2, ARROW_TYPES[kind]), column, POSTGRES, Policy())[0].to_pylist() == [
        "NULL",
        "NULL",
    ]


@pytest.mark.parametrize(
    ("kind", "value", "policy"),
    [
        (SqlType.VARCHAR, "a\0b", Policy(nul="strip")),
        (SqlType.TIMESTAMP, "2024-12-31 23:59:59.123456789012", Policy(timestamps="truncate")),
        (SqlType.TIMESTAMP, "2024-12-31 24:00:00.000000", Policy(midnight="next")),
    ],
    ids=["nul", "timestamps", "midnight"],
)
def test_no_value_of_a_key_is_changed(kind: SqlType, value: str, policy: Policy) -> None:
    """Changed, it may be the key of another row; other columns are changed as the policy says."""
    values, column = pa.array([value], ARROW_TYPES[kind]), Column("C", kind, True, 12)
    assert literal_parts(values, column, POSTGRES, policy).problems == []
    (problem,) = literal_parts(values, column, POSTGRES, policy, in_key=True).problems
    assert "--exclude-table" in problem.hint


@pytest.mark.parametrize("field", [field.name for field in fields(Policy)])
def test_each_choice_of_a_policy_is_one_of_its_words(field: str) -> None:
    with pytest.raises(SqlgenError, match="sometimes"):
        Policy(**{field: "sometimes"})
