"""Row images: the worked bytes of the format notes (section 10.1), every way an image can be wrong,
and a scalar referee."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.changes.catalog import ColumnFormat, RowFormat
from replay.decoding import images
from replay.decoding.image_layouts import plain_rows
from replay.decoding.images import describe_image
from replay.errors import InputError
from sqlgen.schema import Column, SqlType
from tests.support.encoders import (
    encode_date,
    encode_integer,
    encode_packed,
    encode_text,
)
from tests.support.examples import examples


def column(name: str, kind: SqlType, code: str, length: int, **facts: Any) -> ColumnFormat:
    nullable, scale = facts.pop("nullable", False), facts.pop("scale", 0)
    given_facts: dict[str, Any] = {
        "variable": False,
        "encoding": "E",
        "subtype": "",
        "ccsid": 37,
        "expanded": False,
        "position": -1,
        "key_sequence": 0,
        "raw": False,
        "lob": False,
    }
    return ColumnFormat(
        column=Column(name, kind, nullable, length, scale),
        code=code,
        length=length,
        scale=scale,
        nullable=nullable,
        **(given_facts | facts),
    )


def row_format(*columns: ColumnFormat) -> RowFormat:
    return RowFormat(columns=columns, date_format="ISO")


def account(expanded: bool = False) -> RowFormat:
    """Table TESTOWN.ACCT of section 10."""
    return row_format(
        column("ID", SqlType.INTEGER, "INT", 4),
        column("BAL", SqlType.DECIMAL, "DEC", 5, nullable=True, scale=2),
        column("OPEN_DT", SqlType.DATE, "DATE", 10),
        column(
            "NAME", SqlType.VARCHAR, "VCHR", 10, nullable=True, variable=True, expanded=expanded
        ),
        column("RATE", SqlType.DOUBLE, "FLOT", 8),
        column("UPD", SqlType.TIMESTAMP, "DTTM", 26),
    )


ACCT = account()
FULL = bytes.fromhex(
    "000001F2 00 000012345D F2F0F2F460F0F360F1F5 00 0005 C1C2C3C4C5 4110000000000000"
    " F2F0F2F460F0F360F1F560F1F04BF2F04BF3F04BF1F2F3F4F5F6"
)
NULLS = bytes.fromhex(
    "000001F2 FF 0000000000 F2F0F2F460F0F360F1F5 FF 0000 C276A00000000000"
    " F2F0F2F460F0F360F1F560F1F04BF2F04BF3F14BF0F0F0F0F0F1"
)
FULL_VALUES = [498, "-123.45", "2024-03-15", "ABCDE", 1.0, "2024-03-15 10:20:30.123456"]
NULLS_VALUES = [498, None, "2024-03-15", None, -118.625, "2024-03-15 10:20:31.000001"]


def walk(fmt: RowFormat, *rows: bytes, around: bytes = b"") -> images.ImageWalk:
    """Walk images that lie one after another, with ``around`` before, between and behind them."""
    starts, data = [], around
    for row in rows:
        starts.append(len(data))
        data += row + around
    start = np.array(starts, np.int64)
    return images.walk(
        fmt,
        np.frombuffer(data, np.uint8),
        start,
        start + np.array([len(row) for row in rows], np.int64),
    )


def table(fmt: RowFormat, found: images.ImageWalk) -> list[list[Any]]:
    """All values by row; "bad" for those that cannot be decoded."""
    decoded = []
    for index in range(len(fmt.columns)):
        array, bad = found.decode(index)
        array.validate(full=True)
        decoded.append(
            [
                "bad" if bad is not None and bad[row] else array[row].as_py()
                for row in range(len(found.bad))
            ]
        )
    return [list(row) for row in zip(*decoded, strict=True)]


@pytest.mark.parametrize("around", [b"", b"\xff", b"\x00\x01"])
def test_worked_examples(around: bytes) -> None:
    assert (len(FULL), len(NULLS)) == (62, 57)
    found = walk(ACCT, FULL, NULLS, FULL, around=around)
    assert not found.bad.any()
    assert table(ACCT, found) == [FULL_VALUES, NULLS_VALUES, FULL_VALUES]


@pytest.mark.parametrize("unit", [1, 2])
@pytest.mark.parametrize("filler", ["0020", "0000", "4040", "8140", "A140"])
def test_the_filler_of_expanded_graphic_columns_tells_the_unit_of_their_length(
    unit: int, filler: str
) -> None:
    """An image ends exactly under both: only what lies behind a value tells them apart."""
    width = 8
    name = column("G", SqlType.VARCHAR, "VGRF", width // unit, variable=True, expanded=True)
    fmt = row_format(replace(name, ccsid=1200), column("N", SqlType.SMALLINT, "INT", 2))

    def image(text: str) -> bytes:
        data = text.encode("utf-16-be")
        rest = bytes.fromhex(filler) * ((width - len(data)) // 2)
        return (len(data) // unit).to_bytes(2) + data + rest + b"\0\1"

    found = walk(fmt, *map(image, ("a", "", "bc", "日本")))
    assert not found.bad.any()
    assert [row[0] for row in table(fmt, found)] == ["a", "", "bc", "日本"]
    assert plain_rows(fmt, found.reading) is None
    odd = bytearray(image("a"))
    odd[5:7] = b"\1\2"  # neither filler nor value
    assert walk(fmt, bytes(odd)).bad.tolist() == [True]
    short = replace(fmt.columns[0], length=4 // unit)
    fmt, width = replace(fmt, columns=(short, fmt.columns[1])), 4
    found = walk(fmt, *map(image, ("ab", "日本", "")))  # no more than one character lies behind one
    assert [row[0] for row in table(fmt, found)] == ["ab", "日本", ""]


def test_chosen_rows_in_chosen_order() -> None:
    found = walk(ACCT, FULL, NULLS, FULL)
    rows = np.array([1, 0, 1], np.int64)
    for index in range(6):
        array, bad = found.decode(index, rows)
        assert bad is None
        assert array.to_pylist() == [NULLS_VALUES[index], FULL_VALUES[index], NULLS_VALUES[index]]
    assert found.decode(3, np.array([], np.int64))[0].to_pylist() == []


def test_bounds_outside_the_buffer_are_bad() -> None:
    buffer = np.frombuffer(FULL, np.uint8)
    found = images.walk(ACCT, buffer, np.array([0, -5, 10, 0]), np.array([62, 57, 5, 63]))
    assert found.bad.tolist() == [False, True, True, True]
    assert [found.reason(row) for row in (1, 2, 3)] == [
        ("ID", f"an image from {begin} to {end}", "an image inside the data")
        for begin, end in ((-5, 57), (10, 5), (0, 63))
    ]
    assert table(ACCT, found)[0] == FULL_VALUES
    nothing = images.walk(
        ACCT, np.empty(0, np.uint8), np.array([], np.int64), np.array([], np.int64)
    )
    assert table(ACCT, nothing) == []
    assert images.walk(ACCT, np.empty(0, np.uint8), np.array([0]), np.array([0])).bad.tolist() == [
        True
    ]


def test_undefined_bytes_of_null_columns_do_not_matter() -> None:
    other = NULLS[:5] + b"\xff\xff\xff\xff\xff" + NULLS[10:]
    one, two = walk(ACCT, NULLS), walk(ACCT, other)
    assert table(ACCT, two) == [NULLS_VALUES]
    assert [one.equal(two, index).tolist() for index in range(6)] == [[True]] * 6


def test_equal_compares_raw_values() -> None:
    longer = FULL[:21] + b"\x00\x06" + FULL[23:28] + b"\x40" + FULL[28:]
    other = FULL[:27] + b"\xc6" + FULL[28:]
    empty = FULL[:21] + b"\x00\x00" + FULL[28:]
    before = walk(ACCT, FULL, FULL, FULL, FULL, empty, NULLS)
    after = walk(ACCT, FULL, NULLS, longer, other, NULLS, NULLS)
    found = [before.equal(after, index).tolist() for index in range(6)]
    assert found == [
        [True] * 6,
        [True, False, True, True, False, True],
        [True] * 6,
        [True, False, False, False, False, True],
        [True, False, True, True, False, True],
        [True, False, True, True, False, True],
    ]


def test_a_reading_that_there_is_none_of_is_refused() -> None:
    with pytest.raises(ValueError, match="^row images of this format have no reading 1$"):
        images.walk(ACCT, np.frombuffer(FULL, np.uint8), np.array([0]), np.array([62]), reading=1)


WIDE = row_format(
    column("A", SqlType.SMALLINT, "INT", 2),
    column("B", SqlType.VARCHAR, "VCHR", 12, variable=True),
    column("C", SqlType.DECIMAL, "DEC", 3, nullable=True, scale=1),
    column("D", SqlType.VARCHAR, "VCHR", 12, nullable=True, variable=True, ccsid=1208),
    column("E", SqlType.VARCHAR, "VCHR", 12, nullable=True, variable=True, ccsid=500),
    column("F", SqlType.DATE, "DATE", 10, nullable=True),
)


def varying(text: str, ccsid: int) -> bytes:
    data = encode_text(text, ccsid)
    return len(data).to_bytes(2, "big") + data


short_text = st.text(st.sampled_from("aZ9 é'\\"), max_size=8)
maybe = st.none() | short_text
rows_of_wide = st.builds(
    lambda a, b, c, d, e, f: (
        encode_integer(a, 2)
        + varying(b, 37)
        + (b"\xff\x00\x00\x00" if c is None else b"\x00" + encode_packed(c, 3, 1))
        + (b"\xff\x00\x00" if d is None else b"\x00" + varying(d, 1208))
        + (b"\xff\x00\x00" if e is None else b"\x00" + varying(e, 500))
        + (b"\xff" + bytes(10) if f is None else b"\x00" + encode_date(f))
    ),
    st.integers(-(2**15), 2**15 - 1),
    short_text,
    st.none() | st.sampled_from(["0.0", "-12.3", "9999.9"]),
    maybe,
    maybe,
    st.none() | st.dates().map(str),
)
damage = st.tuples(
    st.integers(0, 80),
    st.sampled_from([0, 1, 0x40, 0xF0, 0xFF]),
    st.sampled_from(["set", "cut", "add", "none", "none"]),
)


def hurt(row: bytes, where: int, value: int, how: str) -> bytes:
    where = min(where, len(row) - 1)
    return {
        "set": row[:where] + bytes([value]) + row[where + 1 :],
        "cut": row[:where],
        "add": row + bytes([value]),
        "none": row,
    }[how]


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.tuples(rows_of_wide, damage), min_size=1, max_size=6))
def test_walk_agrees_with_its_scalar_referee(
    rows: list[tuple[bytes, tuple[int, int, str]]],
) -> None:
    raw = [hurt(row, *what) for row, what in rows]
    found = walk(WIDE, *raw)
    values = table(WIDE, found)
    for row, image in enumerate(raw):
        lines = describe_image(WIDE, image)
        structure = any(
            "missing" in line[3] or "left over" in line[3] or "null byte" in line[3]
            for line in lines
        )
        assert bool(found.bad[row]) == structure
        if not structure:
            expected = [line[3] for line in lines]
            shown = ["NULL" if value is None else str(value) for value in values[row]]
            assert [
                text if value != "bad" else "bad"
                for text, value in zip(expected, shown, strict=True)
            ] == shown
            assert [text.startswith("***") for text in expected] == [
                value == "bad" for value in shown
            ]
        else:
            assert found.reason(row)[1] != "nothing wrong"
    doubled = walk(WIDE, *raw)
    for index in range(len(WIDE.columns)):
        assert found.equal(doubled, index)[~found.bad].all()


@given(st.binary(max_size=120))
def test_describing_rubbish_never_raises(image: bytes) -> None:
    for fmt in (ACCT, WIDE, account(expanded=True)):
        lines = describe_image(fmt, image)
        assert "".join(line[2] for line in lines) == image.hex().upper()


JUDGED = (
    column("I", SqlType.INTEGER, "INT", 4, nullable=True),
    column("H", SqlType.SMALLINT, "SMIN", 3),
    column("P", SqlType.DECIMAL, "DEC", 2, nullable=True, scale=1),
    column("W", SqlType.DECIMAL, "DEC", 17),
    column("D", SqlType.DATE, "DATE", 10, nullable=True),
    column("T", SqlType.TIME, "TIME", 8),
    column("M", SqlType.TIMESTAMP, "DTTM", 21),
    column("Z", SqlType.TIMESTAMP_TZ, "TMTZ", 27),
    column("F", SqlType.DOUBLE, "FLOT", 8),
    column("R", SqlType.REAL, "FLOT", 4),
    column("C", SqlType.CHAR, "CHAR", 3, ccsid=37),
    column("U", SqlType.CHAR, "CHAR", 3, ccsid=1208, nullable=True),
    column("G", SqlType.CHAR, "CHAR", 3, ccsid=424),
    column("B", SqlType.CHAR, "CHAR", 3, raw=True),
)
_LIKELY = {
    SqlType.DECIMAL: st.sampled_from([b"\x12\x3c", b"\x12\xa3", b"\x00\x0d", b"\xab\xcd"]),
    SqlType.DATE: st.sampled_from(["2024-02-29", "2023-02-29", "2024-13-01", "2024/01/01"]).map(
        lambda text: text.encode("cp037")
    ),
    SqlType.TIME: st.sampled_from([b"24.00.00", b"24.00.01", b"23:59:59", b"2a.00.00"]),
    SqlType.TIMESTAMP: st.sampled_from([b"2024-01-31-10.20.30.5", b"2024-01-32-10.20.30.5"]),
    SqlType.TIMESTAMP_TZ: st.sampled_from(
        [b"2024-01-31-10.20.30.5+01:00", b"2024-01-31-10.20.30.5+25:00"]
    ),
}


@settings(max_examples=examples(100))
@given(st.sampled_from(JUDGED), st.data())
def test_any_value_of_a_readable_column_can_be_decoded(
    judged: ColumnFormat, data: st.DataObject
) -> None:
    likely = _LIKELY.get(judged.column.type, st.nothing())
    value = st.binary(min_size=judged.length, max_size=judged.length) | likely.filter(
        lambda raw: len(raw) == judged.length
    )
    flags = st.sampled_from([b"\0", b"\xff"] if judged.nullable else [b""])
    rows = data.draw(st.lists(st.builds(bytes.__add__, flags, value), min_size=1, max_size=8))
    edges = np.cumsum([0, *map(len, rows)])
    buffer = np.frombuffer(b"".join(rows), np.uint8)
    walk = images.walk(row_format(judged), buffer, edges[:-1], edges[1:])
    bad = walk.decode(0)[1]
    assert not (walk.readable(0) and bad is not None and bad.any())


def test_columns_that_hold_no_wrong_value_are_known() -> None:
    walk = images.walk(row_format(*JUDGED), np.zeros(0, np.uint8), *np.zeros((2, 0), np.int64))
    known = [entry.column.name for index, entry in enumerate(JUDGED) if walk.readable(index)]
    assert known == ["I", "F", "C", "B"]
    unknown = row_format(column("X", SqlType.CHAR, "CHAR", 3, ccsid=None))
    with pytest.raises(InputError, match="no CCSID"):
        images.walk(unknown, np.zeros(0, np.uint8), *np.zeros((2, 0), np.int64)).readable(0)
