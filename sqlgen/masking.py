"""Masking: values replaced so that nobody can read them back without the key, and so that rows that
belong together still do.

The same value of the same kind becomes the same mask in every column: numbers of one type, text,
bytes. Whole numbers are permuted within their type, so that different values stay different; text
and bytes become a keyed digest of 80 bits. NULL stays NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlgen.errors import SqlgenError
from sqlgen.schema import Column, SqlType

#: What these masks are called; ``replay/docs/reference/masks.md`` specifies them.
MASKS = "logreplay-masks-1"
#: Length of masked text in characters, and of masked bytes.
TEXT_LENGTH, BYTES_LENGTH = 16, 10
_BITS = {SqlType.SMALLINT: 16, SqlType.INTEGER: 32, SqlType.BIGINT: 64}
_WHOLE = -(1 << 63), (1 << 63) - 1
_TEXT = frozenset({SqlType.CHAR, SqlType.VARCHAR})
_BYTES = frozenset({SqlType.BINARY, SqlType.VARBINARY})
#: Rounds of a permutation, and bytes of the digests that it takes.
_ROUNDS, _PERMUTED_LENGTH = 8, 16
#: The digits of masked text: five bits each (RFC 4648, in lower case).
_DIGITS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz234567", np.uint8)
_SHORTEST_SECRET = 16


def mask_key(secret: bytes) -> bytes:
    """The key that a secret makes. SqlgenError (LR1011) for one that is too short to be a
    secret."""
    if len(secret.strip()) < _SHORTEST_SECRET:
        raise SqlgenError(
            "LR1011",
            f"found a key of {len(secret.strip())} bytes; expected at least {_SHORTEST_SECRET}",
            "For example: head -c 32 /dev/urandom > F",
        )
    return blake2b(secret.strip(), digest_size=32, person=b"logreplay key").digest()


def fingerprint(key: bytes) -> str:
    """What tells a key from others, and nothing else of it."""
    return blake2b(key=key, digest_size=4, person=b"logreplay print").hexdigest()


def cannot_mask(column: Column) -> str:
    """Why a column cannot be masked; '' when it can."""
    if column.type in _TEXT:
        return (
            ""
            if column.length >= TEXT_LENGTH
            else f"a mask has {TEXT_LENGTH} characters, and the column holds {column.length}"
        )
    if column.type in _BYTES:
        return (
            ""
            if column.length >= BYTES_LENGTH
            else f"a mask has {BYTES_LENGTH} bytes, and the column holds {column.length}"
        )
    if column.type in _BITS or column.type is SqlType.DECIMAL:
        return ""
    return f"there is no mask for {column.type.value}"


def mask_kind(column: Column) -> str:
    """What a mask depends on beside the value and the key: columns of one kind have the same
    masks."""
    if column.type in _TEXT:
        return "text"
    if column.type in _BYTES:
        return "bytes"
    return (
        f"DECIMAL({column.length},{column.scale})"
        if column.type is SqlType.DECIMAL
        else column.type.value
    )


def masked(values: pa.Array, column: Column, key: bytes) -> pa.Array:
    """The masks of a column's values (value contract: :mod:`sqlgen.schema`); each distinct value is
    computed once."""
    if column.type in _TEXT:
        # blanks at the end do not count where Db2 compares text
        values = pc.utf8_rtrim(values, " ")
    encoded = values.dictionary_encode()
    if column.type in _TEXT:
        data = encoded.dictionary.cast(pa.binary()).to_pylist()
        masks = _text(b"".join(_digests(data, key, b"text")))
    elif column.type in _BYTES:
        masks = pa.array(_digests(encoded.dictionary.to_pylist(), key, b"bytes"), values.type)
    else:
        mask = _mask_of(column, key)
        masks = pa.array([mask(value) for value in encoded.dictionary.to_pylist()], values.type)
    return masks.take(encoded.indices)


def _mask_of(column: Column, key: bytes) -> Callable[..., str | int]:
    if column.type is SqlType.DECIMAL:
        return lambda digits: _decimal(digits, column, key)
    half = 1 << (_BITS[column.type] - 1)
    person = column.type.value.encode()
    return lambda number: _number(number, -half, half - 1, _WHOLE, key, person)


def _number(
    number: int, low: int, high: int, beyond: tuple[int, int], key: bytes, person: bytes
) -> int:
    """The mask of a number from ``low`` to ``high``. One outside of that, which only a damaged
    record can hold, becomes another one outside, between the two of ``beyond``."""
    if low <= number <= high:
        return permuted(number - low, high - low + 1, key, person) + low
    least, most = beyond
    while True:
        number = permuted(number - least, most - least + 1, key, person) + least
        if not low <= number <= high:
            return number


def _digests(values: Iterable[bytes], key: bytes, person: bytes) -> list[bytes]:
    """A digest of each value. All begin as one that has the key."""
    begun = blake2b(digest_size=BYTES_LENGTH, key=key, person=person)
    digests = []
    for value in values:
        digest = begun.copy()
        digest.update(value)
        digests.append(digest.digest())
    return digests


def _text(digests: bytes) -> pa.StringArray:
    """Digests of :data:`BYTES_LENGTH` bytes, one after the other, in base 32."""
    groups = np.frombuffer(digests, np.uint8).reshape(-1, 5).astype(np.uint64)
    numbers = np.zeros(len(groups), np.uint64)
    for place in range(5):
        numbers = numbers << np.uint64(8) | groups[:, place]
    shifts = np.arange(35, -1, -5, dtype=np.uint64)
    text = _DIGITS[(numbers[:, None] >> shifts & np.uint64(31)).astype(np.uint8)]
    offsets = np.arange(len(digests) // BYTES_LENGTH + 1, dtype=np.int32) * np.int32(TEXT_LENGTH)
    return pa.StringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(text))
    )


def _decimal(digits: str, column: Column, key: bytes) -> str:
    number, most = int(digits.replace(".", "")), 10**column.length - 1
    beyond = 10 ** len(str(abs(number))) - 1
    person = f"{column.length},{column.scale}".encode()
    masked = _number(number, -most, most, (-beyond, beyond), key, person)
    text = f"{abs(masked):0{column.scale + 1}d}"
    sign = "-" if masked < 0 else ""
    return (
        f"{sign}{text[: len(text) - column.scale]}.{text[len(text) - column.scale :]}"
        if column.scale
        else sign + text
    )


def permuted(number: int, size: int, key: bytes, person: bytes) -> int:
    """A keyed permutation of the numbers below ``size``: a Feistel network over the next even
    number of bits, repeated until within."""
    half = ((size - 1).bit_length() + 1) // 2
    low = (1 << half) - 1
    begun = blake2b(digest_size=_PERMUTED_LENGTH, key=key, person=person)
    while True:
        left, right = number >> half, number & low
        for turn in range(_ROUNDS):
            digest = begun.copy()
            digest.update(b"%d:%d" % (turn, right))
            left, right = right, left ^ (int(digest.hexdigest(), 16) & low)
        number = left << half | right
        if number < size:
            return number
