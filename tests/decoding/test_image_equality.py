"""Values of two images compared column by column: against the values that were written, and under
readings in which a column is of other lengths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.changes.catalog import ColumnFormat, RowFormat
from replay.decoding import images
from sqlgen.schema import SqlType
from tests.decoding.test_images import column, row_format, walk

BITS, TEXT = SqlType.VARBINARY, SqlType.VARCHAR


def bits(name: str, length: int, nullable: bool, variable: bool, expanded: bool) -> ColumnFormat:
    return column(
        name, BITS, "VCHR", length, ccsid=None,
        nullable=nullable, variable=variable, expanded=expanded,
    )  # fmt: skip


#: Length, and whether the column may be null, varies, is filled up.
SHAPES = (
    (1, False, False, False), (3, True, False, False), (11, True, False, False),
    (30, False, True, False), (30, True, True, False), (5, True, True, True),
)  # fmt: skip
FORMAT = row_format(*(bits(f"C{number}", *shape) for number, shape in enumerate(SHAPES)))

Values = tuple[bytes | None, ...]


def written(values: Values, filler: int) -> bytes:
    """An image; ``filler`` stands where a null has bytes, and behind a value that is filled up."""
    image = b""
    for (length, nullable, variable, expanded), value in zip(SHAPES, values, strict=True):
        data = value if value is not None else bytes([filler]) * (0 if variable else length)
        image += b"\xff" if value is None else b"\x00" * nullable
        image += len(data).to_bytes(2, "big") if variable else b""
        image += data.ljust(length, bytes([filler])) if expanded else data
    return image


def drawn_values() -> st.SearchStrategy[Values]:
    """Few of them, so that many are equal; some differ in their first byte, last one, or length."""
    columns = []
    for length, nullable, variable, _ in SHAPES:
        texts = [
            b"ab" * length,
            b"ab" * (length // 2) + b"a",
            b"ac" * length,
            b"b",
            b"",
            b"xb" * length,
        ]
        cut = [text[:length] for text in texts]
        last = cut[0][:-1] + b"\xfe"
        values = [*cut, last] if variable else [cut[0], cut[2], cut[5], last]
        columns.append(st.sampled_from([*values, *[None] * nullable]))
    return st.tuples(*columns)


@given(st.lists(st.tuples(drawn_values(), drawn_values(), st.booleans()), min_size=1, max_size=5))
def test_equal_is_equality_of_values(rows: list[tuple[Values, Values, bool]]) -> None:
    pairs = [(one, one if same else other) for one, other, same in rows]
    before = walk(FORMAT, *(written(one, 0x40) for one, _ in pairs))
    after = walk(FORMAT, *(written(other, 0x77) for _, other in pairs), around=b"\xff\x00")
    assert not (before.bad | after.bad).any()
    for index in range(len(SHAPES)):
        expected = [one[index] == other[index] for one, other in pairs]
        assert before.equal(after, index).tolist() == expected
        assert after.equal(before, index).tolist() == expected


def test_null_on_one_side_alone() -> None:
    """Columns without any null on one side, and with some on the other."""
    full = tuple(b"x" * length for length, *_ in SHAPES)
    null = tuple(None if nullable else b"x" for _, nullable, *_ in SHAPES)
    no_nulls = walk(FORMAT, written(full, 1), written(full, 1), written(full, 1))
    some = walk(FORMAT, written(full, 2), written(null, 2), written(full, 2))
    for index, (length, nullable, *_) in enumerate(SHAPES):
        same = [True, not nullable and length == 1, True]
        assert no_nulls.equal(some, index).tolist() == same
        assert some.equal(no_nulls, index).tolist() == same


def at_once(fmt: RowFormat, reading: int, *rows: str) -> images.ImageWalk:
    """Walk images under one reading."""
    raw = [bytes.fromhex(row) for row in rows]
    edges = np.cumsum([0, *map(len, raw)])
    return images.walk(fmt, np.frombuffer(b"".join(raw), np.uint8), edges[:-1], edges[1:], reading)


@pytest.mark.parametrize("nullable", [False, True])
def test_lengths_that_differ_by_the_reading(nullable: bool) -> None:
    """A column that is fixed on one side and varies on the other, as its reading was taken: equal
    where length and bytes are. Fixed ones of two lengths are never equal, but where both are null.
    """
    value, null = "00" * nullable, "FF" * nullable
    open_length = row_format(column("R", BITS, "ROWI", 3, nullable=nullable, ccsid=None))
    fixed = at_once(open_length, 0, *[f"{value}AABBCC"] * 4)
    varies = at_once(
        open_length, 1,
        *(value + text for text in ("0003AABBCC", "0002AABB", "0003AABBCD", "0004AABBCCDD")),
    )  # fmt: skip
    assert not (fixed.bad | varies.bad).any()
    for one, other in ((fixed, varies), (varies, fixed)):
        assert one.equal(other, 0).tolist() == [True, False, False, False]
    graphic = row_format(column("G", TEXT, "GRPH", 2, nullable=nullable, ccsid=1200))
    short = at_once(graphic, 0, value + "0061", null + "0000")
    long = at_once(graphic, 1, value + "00610020", null + "00000000")
    assert not (short.bad | long.bad).any()
    assert short.equal(long, 0).tolist() == [False, nullable]
    assert short.equal(long, 0).dtype == bool
    assert short.equal(short, 0).tolist() == [True, True]


def test_nothing_is_equal_to_images_of_which_none_fits() -> None:
    """Whatever side they are on."""
    fmt = row_format(column("N", SqlType.SMALLINT, "INT", 2))
    good, bad = at_once(fmt, 0, "0001", "0001"), at_once(fmt, 0, "00", "00")
    for one, other in ((good, bad), (bad, good), (bad, bad)):
        found = one.equal(other, 0)
        assert found.dtype == bool
        assert found.tolist() == [False, False]
