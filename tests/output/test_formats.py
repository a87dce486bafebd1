"""Text of values for JSON and CSV, against what reads it."""

from __future__ import annotations

import base64
import csv
import io
import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.output.formats import exported_values
from sqlgen.schema import Column, SqlType

_TEXT = st.lists(st.none() | st.text(st.characters(codec="utf-8"), max_size=12), max_size=8)


@given(_TEXT)
def test_json_text_reads_back(texts: list[str | None]) -> None:
    found = exported_values.json_text(pa.array(texts, pa.string())).to_pylist()
    assert [None if text is None else json.loads(text) for text in found] == texts
    assert all(len(text.splitlines()) == 1 for text in found if text)


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12),
        min_size=1,
        max_size=8,
    )
)
def test_csv_text_reads_back(texts: list[str]) -> None:
    line = ",".join(exported_values.csv_text(pa.array(texts, pa.string())).to_pylist())
    assert next(csv.reader(io.StringIO(line, newline=""))) == texts


@given(st.lists(st.none() | st.binary(max_size=20), max_size=8), st.integers(0, 2))
def test_base64_reads_back(data: list[bytes | None], skipped: int) -> None:
    array = pa.array(data, pa.binary()).slice(skipped)
    expected = [
        None if value is None else base64.b64encode(value).decode("ascii")
        for value in data[skipped:]
    ]
    assert exported_values.base64_of(array).to_pylist() == expected


@pytest.mark.parametrize(("type_", "bits"), [(SqlType.REAL, 32), (SqlType.DOUBLE, 64)])
@given(data=st.data())
def test_floats_read_back(data: st.DataObject, type_: SqlType, bits: int) -> None:
    numbers = data.draw(st.lists(st.floats(width=bits), min_size=1, max_size=6))
    kind = {32: pa.float32(), 64: pa.float64()}[bits]
    column = Column("X", type_)
    found = exported_values.quoted_floats(
        exported_values.number_text(pa.array(numbers, kind), column)
    ).to_pylist()
    read = [json.loads(text) for text in found]
    assert all(
        isinstance(value, str) == (not np.isfinite(number))
        for value, number in zip(read, numbers, strict=True)
    )
    back = pa.array([float(value) for value in read], kind)
    assert back.equals(pa.array(numbers, kind)) or any(np.isnan(numbers))


def test_a_negative_zero_is_no_whole_number_in_json() -> None:
    """Readers take -0 for a whole number, which has no sign then."""
    column = Column("X", SqlType.DOUBLE)
    numbers = exported_values.number_text(pa.array([-0.0, 0.0, -1.0, None]), column)
    found = exported_values.quoted_floats(numbers).to_pylist()
    assert found == ["-0.0", "0", "-1", None]
    assert str(float(json.loads(found[0]))) == "-0.0"


def test_what_a_type_cannot_hold_is_named() -> None:
    found, problems = exported_values.held(
        pa.array(["1.25", "123.45", None, "-99.99"]),
        Column("AMOUNT", SqlType.DECIMAL, True, 4, 2),
        pa.decimal128(4, 2),
    )
    assert [str(value) for value in found.to_pylist()] == ["1.25", "None", "None", "-99.99"]
    assert [(problem.row, problem.column, problem.found, problem.code) for problem in problems] == [
        (1, "AMOUNT", "123.45", "LR3001")
    ]


def test_moments_that_nanoseconds_do_not_reach_are_named() -> None:
    """The last day that many tables have for ever: 64 bits end in 2262."""
    texts = pa.array(["2262-04-11 00:00:00.000000000", "9999-12-31 00:00:00.000000000", None])
    column = Column("T", SqlType.TIMESTAMP, length=9)
    zoned = pa.array([f"{text.as_py()}+01:00" for text in texts[:2]])
    _, (problem,) = exported_values.held(zoned, column, pa.timestamp("ns", "UTC"))
    assert "from 1677-09-21 to 2262-04-11" in problem.expected
    found, (problem,) = exported_values.held(texts, column, pa.timestamp("ns"))
    assert found.null_count == 2
    assert (problem.row, problem.found) == (1, "9999-12-31 00:00:00.000000000")
    assert "from 1677-09-21 to 2262-04-11" in problem.expected
