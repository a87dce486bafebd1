"""Values as people write them, read by the type of their column."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sqlgen.schema import Column, SqlType
from sqlgen.value_texts import constant, value_of

T = SqlType


def is_value(read: Callable[[str, Column], object], text: str, column: Column) -> bool:
    try:
        read(text, column)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    ("kind", "sizes", "texts", "value"),
    [
        (T.BIGINT, (), ["10000000000", "1e10", "10000000000.0", "+1E10"], 10**10),
        (T.SMALLINT, (), ["-2", "-2.0", "-20e-1"], -2),
        (T.DECIMAL, (9, 2), ["0.5", ".5", "0.50", "5e-1", "00.500"], "0.50"),
        (T.DECIMAL, (9, 2), ["-2.5", "-2.50"], "-2.50"),
        (T.DECIMAL, (9, 0), ["-0", "0", "0.0"], "0"),
        (T.DOUBLE, (), ["1e10", "10000000000", "10000000000.0"], 1e10),
        (T.DATE, (), ["2024-03-15", "03/15/2024", "15.03.2024", "2024-3-15"], "2024-03-15"),
        (T.TIME, (), ["10:20:00", "10.20.00", "10:20", "10:20 AM"], "10:20:00"),
        (T.TIME, (), ["24:00:00", "24.00.00", "12:00 AM"], "24:00:00"),
        (T.TIME, (), ["00:00 AM", "0.00"], "00:00:00"),
        (T.TIME, (), ["1 pm", "1:00 P.M.", "13.00"], "13:00:00"),
        (T.TIME, (), ["12:05 AM", "00.05"], "00:05:00"),
        (
            T.TIMESTAMP,
            (6,),
            ["2024-03-15-10.20.30.000000", "2024-03-15 10:20:30", "2024-03-15T10:20:30.0"],
            "2024-03-15 10:20:30.000000",
        ),
        (T.TIMESTAMP, (0,), ["2024-03-15", "2024-03-15-00.00.00.000"], "2024-03-15 00:00:00"),
        (
            T.TIMESTAMP_TZ,
            (0,),
            ["2024-03-15 10:20:30+00:00", "2024-03-15T10:20:30Z"],
            "2024-03-15 10:20:30+00:00",
        ),
        (T.VARBINARY, (3,), ["\\x0aFF", "X'0aff'", "0AFF", "BX'0AFF'"], b"\x0a\xff"),
        (T.BOOLEAN, (), ["true", "TRUE", "1"], True),
        (T.VARCHAR, (3,), ["abc"], "abc"),
    ],
)
def test_every_spelling_of_a_value_is_that_value(
    kind: SqlType, sizes: tuple[int, ...], texts: list[str], value: object
) -> None:
    column = Column("C", kind, True, *sizes)
    assert [value_of(text, column) for text in texts] == [value] * len(texts)


@pytest.mark.parametrize(
    ("kind", "sizes", "texts"),
    [
        (T.SMALLINT, (), ["", "x", "1.5", "32768", "1e999", "1_0", "0x1", "١"]),
        (T.DECIMAL, (5, 2), ["1.234", "1234", "x", "", "1e9999", "NaN"]),
        (T.DOUBLE, (), ["", "x", "1e999", "1,5"]),
        (T.REAL, (), ["1e39"]),
        (T.DATE, (), ["2024-02-30", "24-02-03", "", "2024-03-15 10:20"]),
        (T.TIME, (), ["10", "24:00:01", "13:00 PM", "0:30 PM", "10:60"]),
        (T.TIMESTAMP, (6,), ["2024-03-15 10:20:30.1234567", "2024-03-15 25:00:00", "x"]),
        (T.TIMESTAMP_TZ, (0,), ["2024-03-15 10:20:30"]),
        (T.VARBINARY, (3,), ["0", "xyz"]),
        (T.BOOLEAN, (), ["yes"]),
        (T.VARCHAR, (3,), ["abcd"]),
    ],
)
def test_what_is_no_value_of_the_type_is_none(
    kind: SqlType, sizes: tuple[int, ...], texts: list[str]
) -> None:
    for text in texts:
        assert not is_value(value_of, text, Column("C", kind, True, *sizes)), text


def test_a_constant_of_sql_is_no_function() -> None:
    text, number = Column("C", T.VARCHAR, True, 9), Column("C", T.INTEGER)
    moment = Column("C", T.TIMESTAMP, True, 6)
    assert constant("'it''s'", text) == "it's"
    assert constant(" 7 ", number) == 7
    assert constant("null", number) is None
    assert constant("X'00'", Column("C", T.BINARY, True, 1)) == b"\0"
    for wrong, column in (("USER", text), ("CURRENT TIMESTAMP", moment), ("'7'", number)):
        assert not is_value(constant, wrong, column)
