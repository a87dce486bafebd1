"""Masks: nobody reads the value, equal values stay equal, different ones different, and the type
holds them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlgen.errors import SqlgenError
from sqlgen.masking import cannot_mask, mask_key, masked, permuted
from sqlgen.schema import Column, SqlType

KEY, OTHER = mask_key(b"a secret of the team"), mask_key(b"another secret, longer")


@pytest.mark.parametrize("size", [1, 2, 3, 255, 256, 257, 1999])
def test_a_permutation_is_one(size: int) -> None:
    found = [permuted(number, size, KEY, b"x") for number in range(size)]
    assert sorted(found) == list(range(size))


@given(
    st.integers(-(2**15), 2**15 - 1),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-(10**15) + 1, 10**15 - 1),
)
def test_numbers_stay_within_their_type(small: int, big: int, decimal: int) -> None:
    (one,) = masked(pa.array([small]), Column("A", SqlType.SMALLINT), KEY).to_pylist()
    assert -(2**15) <= one < 2**15
    (two,) = masked(pa.array([big]), Column("B", SqlType.BIGINT), KEY).to_pylist()
    assert -(2**63) <= two < 2**63
    text = f"{'-' if decimal < 0 else ''}{abs(decimal) // 100}.{abs(decimal) % 100:02d}"
    (three,) = masked(pa.array([text]), Column("C", SqlType.DECIMAL, True, 15, 2), KEY).to_pylist()
    whole, _, fraction = three.removeprefix("-").partition(".")
    assert len(whole) <= 13
    assert len(fraction) == 2


def test_a_number_outside_of_its_type_stays_one() -> None:
    """Only a damaged record has one; no number may come of it that the column holds."""
    numbers = [2**15, -(2**15) - 1, 65535, -(2**63), 2**63 - 1]
    found = masked(pa.array(numbers), Column("A", SqlType.SMALLINT), KEY).to_pylist()
    assert len(set(found)) == 5
    assert not [number for number in found if -(2**15) <= number < 2**15]
    texts = ["1000.0", "-1000.0", "9999.9", "75220025.6"]
    masks = masked(pa.array(texts), Column("C", SqlType.DECIMAL, True, 4, 1), KEY).to_pylist()
    assert len(set(masks)) == 4
    assert [len(mask.strip("-")) for mask in masks] == [6, 6, 6, 10]


@given(
    st.lists(st.none() | st.text(max_size=20), min_size=1),
    st.lists(st.none() | st.binary(max_size=20), min_size=1),
)
def test_equal_values_have_equal_masks_whatever_their_column(
    texts: list[str | None], blobs: list[bytes | None]
) -> None:
    one = masked(
        pa.array(texts, pa.string()), Column("A", SqlType.VARCHAR, True, 16), KEY
    ).to_pylist()
    two = masked(
        pa.array(texts[::-1], pa.string()), Column("B", SqlType.CHAR, True, 40), KEY
    ).to_pylist()[::-1]
    assert one == two
    assert all(
        (text is None) == (mask is None) and (mask is None or len(mask) == 16)
        for text, mask in zip(texts, one, strict=True)
    )
    masks = {
        text.rstrip(" "): mask
        for text, mask in zip(texts, one, strict=True)
        if text is not None and mask is not None
    }
    assert len(set(masks.values())) == len(masks)
    assert (
        masked(
            pa.array(texts, pa.string()), Column("A", SqlType.VARCHAR, True, 16), OTHER
        ).to_pylist()
        != one
        or not masks
    )
    three = masked(
        pa.array(blobs, pa.binary()), Column("C", SqlType.VARBINARY, True, 10), KEY
    ).to_pylist()
    assert all(
        (data is None) == (mask is None) and (mask is None or len(mask) == 10)
        for data, mask in zip(blobs, three, strict=True)
    )


def test_what_cannot_be_masked_says_why() -> None:
    assert "16 characters" in cannot_mask(Column("A", SqlType.CHAR, True, 15))
    assert "10 bytes" in cannot_mask(Column("A", SqlType.BINARY, True, 9))
    assert "DATE" in cannot_mask(Column("A", SqlType.DATE))
    assert cannot_mask(Column("A", SqlType.DECIMAL, True, 31, 2)) == ""
    with pytest.raises(SqlgenError, match="expected at least 16") as caught:
        mask_key(b"short\n")
    assert caught.value.code == "LR1011"
