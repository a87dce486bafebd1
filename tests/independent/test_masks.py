"""Masks as ``reference/masks.md`` specifies them: an implementation of its own from that page's
words, and the page's test vectors, against the product's."""

from __future__ import annotations

import re
from base64 import b32encode
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlgen.masking import MASKS, fingerprint, mask_key, masked
from sqlgen.schema import ARROW_TYPES, Column, SqlType

PAGE = Path(__file__).resolve().parents[2] / "replay" / "docs" / "reference" / "masks.md"
SECRET = b" an example, not a secret\n"
_VECTOR = re.compile(r"^\| (\w+)(?:\((\d+),(\d+)\))? \| `(.*)` \| `(.*)` \|$", re.M)
_BITS = {"SMALLINT": 16, "INTEGER": 32, "BIGINT": 64}


def digest(data: bytes, length: int, person: str, key: bytes = b"") -> bytes:
    return blake2b(data, digest_size=length, key=key, person=person.encode()).digest()


def by_the_page(kind: str, precision: int, scale: int, value: Any, key: bytes) -> Any:
    """The mask of a value; numbers as whole ones."""
    if kind in ("CHAR", "VARCHAR"):
        data = digest(value.rstrip(" ").encode(), 10, "text", key)
        return b32encode(data).decode().lower()
    if kind in ("BINARY", "VARBINARY"):
        return digest(value, 10, "bytes", key)
    decimal = kind == "DECIMAL"
    lowest = -(10**precision - 1) if decimal else -(2 ** (_BITS[kind] - 1))
    count = 2 * 10**precision - 1 if decimal else 2 ** _BITS[kind]
    person = f"{precision},{scale}" if decimal else kind
    half = -(-(count - 1).bit_length() // 2)
    x = value - lowest
    while True:
        left, right = divmod(x, 2**half)
        for turn in range(8):
            made = int.from_bytes(digest(f"{turn}:{right}".encode(), 16, person, key), "big")
            left, right = right, left ^ (made % 2**half)
        x = left * 2**half + right
        if x < count:
            return x + lowest


def by_the_product(kind: str, precision: int, scale: int, value: Any, key: bytes) -> Any:
    column = Column("C", SqlType[kind], True, precision, scale)
    return masked(pa.array([value], ARROW_TYPES[SqlType[kind]]), column, key)[0].as_py()


def said(text: str, kind: str) -> Any:
    if kind in _BITS:
        return int(text)
    return bytes.fromhex(text) if kind in ("BINARY", "VARBINARY") else text


def test_the_vectors_of_the_page() -> None:
    text, key = PAGE.read_text(encoding="utf-8"), mask_key(SECRET)
    vectors = _VECTOR.findall(text)
    assert len(vectors) == 13
    assert key == digest(SECRET.strip(), 32, "logreplay key")
    assert fingerprint(key) == digest(b"", 4, "logreplay print", key).hex()
    for fact in (key.hex(), fingerprint(key), MASKS):
        assert f"`{fact}`" in text
    for kind, precision, scale, value, mask in vectors:
        shape = int(precision or 0), int(scale or 0)
        assert by_the_product(kind, *shape, said(value, kind), key) == said(mask, kind)
        number = said(value.replace(".", ""), "INTEGER") if kind == "DECIMAL" else said(value, kind)
        found = by_the_page(kind, *shape, number, key)
        assert found == (int(mask.replace(".", "")) if kind == "DECIMAL" else said(mask, kind))


@pytest.mark.parametrize("kind", ["VARCHAR", "VARBINARY", *_BITS, "DECIMAL"])
@given(
    data=st.data(), secret=st.binary(min_size=16, max_size=40).filter(lambda s: len(s.strip()) > 15)
)
def test_both_make_the_same_masks(kind: str, data: st.DataObject, secret: bytes) -> None:
    key = mask_key(secret)
    if kind == "DECIMAL":
        precision = data.draw(st.integers(1, 31))
        scale = data.draw(st.integers(0, precision))
        number = data.draw(st.integers(-(10**precision) + 1, 10**precision - 1))
        digits = f"{abs(number):0{scale + 1}d}"
        whole, fraction = digits[: len(digits) - scale], digits[len(digits) - scale :]
        text = f"{'-' if number < 0 else ''}{whole}{'.' if scale else ''}{fraction}"
        found = by_the_product(kind, precision, scale, text, key)
        assert int(found.replace(".", "")) == by_the_page(kind, precision, scale, number, key)
        return
    if kind in _BITS:
        half = 2 ** (_BITS[kind] - 1)
        value: Any = data.draw(st.integers(-half, half - 1))
    else:
        value = data.draw(st.text() if kind == "VARCHAR" else st.binary())
    assert by_the_product(kind, 0, 0, value, key) == by_the_page(kind, 0, 0, value, key)
