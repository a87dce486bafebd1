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
from replay.decoding.image_layouts import NULL_BYTE, plain_rows
from replay.decoding.images import describe_image
from replay.errors import InputError
from sqlgen.schema import Column, SqlType
from tests.support.encoders import (
    encode_date,
    encode_hfp,
    encode_integer,
    encode_packed,
    encode_text,
    encode_timestamp,
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


def test_expanded_varying_columns() -> None:
    fmt = account(expanded=True)
    padded = FULL[:28] + b"\x40" * 5 + FULL[28:]
    null = NULLS[:23] + b"\x40" * 10 + NULLS[23:]
    long = padded[:21] + b"\x00\x0a" + padded[23:]  # the prefix may hold the full length
    found = walk(fmt, padded, null, long)
    assert not found.bad.any()
    assert [row[3] for row in table(fmt, found)] == ["ABCDE", None, "ABCDE     "]
    assert walk(fmt, FULL).bad.tolist() == [True]


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


@pytest.mark.parametrize(
    ("image", "field", "found", "expected"),
    [
        (FULL + b"\x00", "UPD", "an image of 63 bytes whose columns end at byte 62", images._EXACT),
        (
            FULL[:-1],
            "UPD",
            "an image of 61 bytes in which this column goes to byte 62",
            images._INSIDE,
        ),
        (FULL[:3], "ID", "an image of 3 bytes in which this column goes to byte 4", images._INSIDE),
        (b"", "ID", "an image of 0 bytes in which this column goes to byte 4", images._INSIDE),
        (
            FULL[:12],
            "OPEN_DT",
            "an image of 12 bytes in which this column goes to byte 20",
            images._INSIDE,
        ),
        (
            FULL[:21],
            "NAME",
            "an image of 21 bytes in which this column goes to byte 23",
            images._INSIDE,
        ),
        (FULL[:4] + b"\x01" + FULL[5:], "BAL", "X'01' at byte 4 of the image", NULL_BYTE),
        (
            FULL[:20] + b"\x40" + FULL[21:],
            "NAME",
            "X'40' at byte 20 of the image",
            NULL_BYTE,
        ),
        (
            FULL[:21] + b"\xff\xff" + FULL[23:],
            "NAME",
            "a length of 65535 bytes at byte 21 of an image of 62",
            images._INSIDE,
        ),
        (
            FULL[:21] + b"\x00\x06" + FULL[23:],
            "UPD",
            "an image of 62 bytes in which this column goes to byte 63",
            images._INSIDE,
        ),
        (
            FULL[:21] + b"\x00\x04" + FULL[23:],
            "UPD",
            "an image of 62 bytes whose columns end at byte 61",
            images._EXACT,
        ),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_images_that_do_not_fit(
    image: bytes, field: str, found: str, expected: str, first: bool
) -> None:
    rows = [image, FULL, NULLS] if first else [FULL, NULLS, image]
    result = walk(ACCT, *rows)
    at = 0 if first else 2
    assert result.bad.tolist() == [row == at for row in range(3)]
    assert result.reason(at) == (field, found, expected)
    good = [values for row, values in enumerate(table(ACCT, result)) if row != at]
    assert good == [FULL_VALUES, NULLS_VALUES]
    if expected != images._EXACT:  # from there on it reads as the first image that fits
        there = [column.column.name for column in ACCT.columns].index(field)
        assert table(ACCT, result)[at][there:] == FULL_VALUES[there:]
    alone = walk(ACCT, image)
    assert alone.reason(0) == (field, found, expected)
    assert table(ACCT, alone) == [[None] * 6]
    assert alone.equal(alone, 0).tolist() == [False]
    assert "***" in "".join(line[3] for line in describe_image(ACCT, image))


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


def test_damaged_values_are_bad_and_explained() -> None:
    damaged = FULL[:9] + b"\x50" + FULL[10:]
    date = FULL[:15] + b"\xf9" + FULL[16:]
    found = walk(ACCT, FULL, damaged, date)
    assert not found.bad.any()
    assert table(ACCT, found) == [
        FULL_VALUES,
        [498, "bad", *FULL_VALUES[2:]],
        [*FULL_VALUES[:2], "bad", *FULL_VALUES[3:]],
    ]
    assert found.explain(1, 1) == (
        "X'0000123450' in DECIMAL column BAL",
        "packed digits 0 to 9 and a sign A to F",
    )
    assert found.explain(2, 2) == (
        "X'F2F0F2F460F9F360F1F5' in DATE column OPEN_DT",
        "a date YYYY-MM-DD",
    )


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


@pytest.mark.parametrize("width", range(20))
def test_equal_of_fixed_columns_sees_every_byte(width: int) -> None:
    fmt = row_format(column("B", SqlType.BINARY, "CHAR", width, ccsid=None))
    one = bytes(range(width))
    others = [one[:place] + b"\xee" + one[place + 1 :] for place in range(width)]
    before, after = walk(fmt, *[one] * (width + 1)), walk(fmt, one, *others)
    assert before.equal(after, 0).tolist() == [True] + [False] * width


@pytest.mark.parametrize("unit", [2, 1])
def test_graphic_length_in_characters_or_bytes(unit: int) -> None:
    fmt = row_format(
        column("G", SqlType.VARCHAR, "VGRF", 60, nullable=True, variable=True, ccsid=1200),
        column("N", SqlType.SMALLINT, "INT", 2),
    )

    def row(text: str) -> bytes:
        data = encode_text(text, 1200)
        return b"\x00" + encode_integer(len(data) // unit, 2) + data + b"\x00\x07"

    texts = ["ab", "", "é€😀"]
    found = walk(fmt, *map(row, texts), b"\xff\x00\x00\x00\x07")
    assert not found.bad.any()
    assert table(fmt, found) == [[text, 7] for text in [*texts, None]]
    assert describe_image(fmt, row("ab"))[0][3] == "ab"
    assert found.reading == 2 - unit
    settled = images.walk(fmt, found.buffer, found.start, found.end, reading=unit - 1)
    assert settled.bad.tolist() == [True, False, True, False]
    damaged = walk(fmt, row("abc"), row("ab") + b"\x00", row("d"))
    assert damaged.bad.tolist() == [False, True, False]


def test_a_reading_that_there_is_none_of_is_refused() -> None:
    with pytest.raises(ValueError, match="^row images of this format have no reading 1$"):
        images.walk(ACCT, np.frombuffer(FULL, np.uint8), np.array([0]), np.array([62]), reading=1)


def test_large_object_columns() -> None:
    lob = column("L", SqlType.VARBINARY, "CLOB", 4, nullable=True, lob=True)
    fmt = row_format(
        column("N", SqlType.SMALLINT, "INT", 2), lob, column("M", SqlType.SMALLINT, "INT", 2)
    )
    fixed = walk(fmt, b"\x00\x01\x00\xaa\xbb\xcc\xdd\x00\x02")
    assert fixed.decode(0)[0].to_pylist() == [1]
    assert fixed.decode(2)[0].to_pylist() == [2]
    assert fixed.decode(1)[1].tolist() == [True]
    assert fixed.explain(1, 0)[0] == "a value in large object column L"
    assert (
        describe_image(fmt, b"\x00\x01\x00\xaa\xbb\xcc\xdd\x00\x02")[1][3]
        == "(its value is not in the log)"
    )
    none = walk(fmt, b"\x00\x01\xff\x00\x00\x00\x00\x00\x02")
    assert table(fmt, none) == [[1, None, 2]]
    varying = walk(fmt, b"\x00\x01\x00\x00\x01\xaa\x00\x02")
    assert [varying.decode(index)[0].to_pylist() for index in (0, 2)] == [[1], [2]]
    unknown = walk(fmt, b"\x00\x01\x00" + bytes(50) + b"\x00\x02")
    assert unknown.bad.tolist() == [True]
    assert unknown.reason(0)[0] == "L"
    assert "not documented" in unknown.reason(0)[2]


def test_every_type_and_empty_against_null() -> None:
    fmt = row_format(
        column("B", SqlType.BIGINT, "INT", 8),
        column("C", SqlType.CHAR, "CHAR", 4),
        column("T", SqlType.TIME, "TIME", 8),
        column("Z", SqlType.TIMESTAMP_TZ, "DTTZ", 38),
        column("R", SqlType.REAL, "FLOT", 4),
        column(
            "X", SqlType.VARBINARY, "VCHR", 9, nullable=True, variable=True, subtype="B", ccsid=None
        ),
        column("U", SqlType.VARBINARY, "XXXX", 2, ccsid=None, raw=True),
        column("G", SqlType.CHAR, "GRPH", 4, ccsid=1200),
    )
    row = (
        encode_integer(-(2**63), 8)
        + encode_text("a¢", 37, 4)
        + encode_text("24.00.00", 37)
        + encode_timestamp("0001-01-01 00:00:00.123456789012-03:30")
        + encode_hfp(-1.5, 4)
        + b"\x00\x00\x00"
        + b"\x00\xff"
        + encode_text("é😀"[:1], 1200, 4)
    )
    found = walk(fmt, row)
    values = [
        -(2**63),
        "a¢  ",
        "24:00:00",
        "0001-01-01 00:00:00.123456789012-03:30",
        -1.5,
        b"",
        b"\x00\xff",
        "é ",
    ]
    assert table(fmt, found) == [values]
    lines = describe_image(fmt, row)
    assert [line[3] for line in lines] == [
        f"X'{value.hex().upper()}'" if isinstance(value, bytes) else str(value) for value in values
    ]
    assert "".join(line[2] for line in lines) == row.hex().upper()


def test_real_out_of_the_range_of_a_single_is_bad() -> None:
    fmt = row_format(column("R", SqlType.REAL, "FLOT", 4, nullable=True))
    found = walk(
        fmt, b"\x00" + encode_hfp(1e60, 4), b"\x00\x41\x10\x00\x00", b"\xff\x7f\xff\xff\xff"
    )
    assert table(fmt, found) == [["bad"], [1.0], [None]]
    text, expected = found.explain(0, 0)
    assert text.startswith("X'")
    assert "e+60" in text or "e+59" in text
    assert "IEEE single" in expected


@pytest.mark.parametrize(
    ("kind", "code", "length"),
    [
        (SqlType.INTEGER, "INT", 3),
        (SqlType.DECIMAL, "DEC", 17),
        (SqlType.DOUBLE, "FLOT", 4),
        (SqlType.DATE, "DATE", 8),
        (SqlType.TIME, "TIME", 6),
        (SqlType.TIMESTAMP, "DTTM", 20),
        (SqlType.TIMESTAMP_TZ, "DTTZ", 26),
    ],
)
def test_lengths_that_a_type_cannot_have(kind: SqlType, code: str, length: int) -> None:
    fmt = row_format(column("V", kind, code, length, nullable=True))
    found = walk(fmt, b"\x00" + bytes(length), b"\xff" + bytes(length))
    assert table(fmt, found) == [["bad"], [None]]
    assert f"not {length} bytes" in found.explain(0, 0)[1]
    nulls = walk(fmt, b"\xff" + bytes(length)).decode(0)
    assert (nulls[0].to_pylist(), nulls[1]) == ([None], None)


def test_text_that_cannot_be_decoded() -> None:
    fmt = row_format(
        column("V", SqlType.VARCHAR, "VCHR", 9, variable=True, ccsid=1208, encoding="U")
    )
    found = walk(fmt, b"\x00\x01\xff", b"\x00\x02\xc3\xa9")
    assert table(fmt, found) == [["bad"], ["é"]]
    assert found.explain(0, 0) == ("X'FF' in VARCHAR column V", "characters of CCSID 1208")
    none = row_format(column("V", SqlType.VARCHAR, "VCHR", 9, variable=True, ccsid=None))
    with pytest.raises(InputError, match="LR2015.*no CCSID for column V.*--ccsid"):
        walk(none, b"\x00\x01\xff").decode(0)
    assert describe_image(none, b"\x00\x01\xff")[0][3].startswith("*** LR2015")


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
