"""Keys as people write them are the texts of rows that have them, or refused."""

from __future__ import annotations

import pyarrow as pa
import pytest

from replay.errors import UsageError
from replay.reports.images import image_texts, key_text
from sqlgen.schema import ARROW_TYPES, Column, SqlType

T = SqlType


@pytest.mark.parametrize(
    ("column", "value", "texts"),
    [
        (Column("K", T.BIGINT), 10**10, ["1e10", "10000000000.0", "'10000000000'"]),
        (Column("K", T.DOUBLE), 1e10, ["1e10", "10000000000", "10000000000.0"]),
        (Column("K", T.DOUBLE), -2.5, ["-2.5", "-2.50"]),
        (Column("K", T.REAL), 0.5, ["0.50", ".5"]),
        (Column("K", T.DECIMAL, length=9, scale=2), "0.50", ["0.5", "0.50", "5e-1"]),
        (Column("K", T.TIME), "10:20:30", ["10.20.30", "10:20:30"]),
        (
            Column("K", T.TIMESTAMP, length=6),
            "2024-03-15 10:20:30.000000",
            ["2024-03-15-10.20.30.000000", "2024-03-15 10:20:30", "2024-03-15T10:20:30.0"],
        ),
        (Column("K", T.CHAR, length=4), "ab  ", ["ab", "ab  ", "'ab'"]),
        (Column("K", T.BINARY, length=2), b"\x0a\xff", ["X'0AFF'", "\\x0aff"]),
    ],
)
def test_a_key_in_any_spelling_is_that_of_the_row(
    column: Column, value: object, texts: list[str]
) -> None:
    rows = pa.StructArray.from_arrays([pa.array([value], ARROW_TYPES[column.type])], [column.name])
    (wanted,) = image_texts(rows, [column], loose=True).to_pylist()
    assert {key_text(text, [column]) for text in texts} == {wanted}
    assert {key_text(f"K={text}", [column]) for text in texts} == {wanted}


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (Column("K", T.INTEGER), "1.5"),
        (Column("K", T.DATE), "2024-02-30"),
        (Column("K", T.DECIMAL, length=5, scale=2), "1.234"),
        (Column("K", T.VARCHAR, length=2), "abc"),
    ],
)
def test_what_is_no_value_of_the_key_is_refused(column: Column, text: str) -> None:
    with pytest.raises(UsageError, match="key column K") as caught:
        key_text(text, [column])
    assert caught.value.code == "LR1001"
