"""What the bytes of a column say (format notes, section 12)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa

from replay.arrays import Bytes, Mask
from replay.changes.catalog import ColumnFormat
from replay.decoding import codecs
from replay.decoding.codecs import Decoded
from sqlgen.schema import ARROW_TYPES, SqlType
from sqlgen.value_texts import constant

#: What the bytes of a value must be, for messages.
EXPECTED = {
    SqlType.DECIMAL: "packed digits and a sign",
    SqlType.DATE: "a date yyyymmdd in packed digits",
    SqlType.TIME: "a time hhmmss in packed digits",
    SqlType.TIMESTAMP: "a timestamp yyyymmddhhmmss and fraction in packed digits",
    SqlType.CHAR: "characters of the column's code page",
    SqlType.VARCHAR: "characters of the column's code page",
}
_INTEGERS = frozenset({SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT})
_DIGITS = np.array([[48 + (byte >> 4), 48 + (byte & 15)] for byte in range(256)], np.uint8)


def default_bytes(column: ColumnFormat) -> bytes:
    """The system's default of a fixed column: zero, or blanks."""
    if column.column.type is SqlType.DECIMAL:
        return bytes(column.length - 1) + b"\x0c"
    if column.column.type is SqlType.CHAR:
        return (b"\0 " if column.code == "GRAPHIC" else b" ").ljust(1) * (
            column.length // (2 if column.code == "GRAPHIC" else 1)
        )
    return bytes(column.length)


@lru_cache(maxsize=1 << 12)
def initial_value(column: ColumnFormat) -> pa.Scalar | None:
    """What rows have in a column that are older than it; None where that is not known."""
    kind = ARROW_TYPES[column.column.type]
    if column.initial is None or column.raw:
        return None
    try:
        value = constant(column.initial, column.column)
    except ValueError:
        return None
    if value is None:
        return pa.scalar(None, kind) if column.nullable else None
    if isinstance(value, str) and column.column.type is SqlType.CHAR:
        used = len(value) if column.code == "GRAPHIC" else len(value.encode())
        value += " " * (column.column.length - used)
    elif isinstance(value, bytes) and column.column.type is SqlType.BINARY:
        value = value.ljust(column.length, b"\0")
    return pa.scalar(value, kind)


def fixed_values(column: ColumnFormat, block: Bytes, null: Mask, big: bool) -> Decoded:
    """The values of a column of fixed length, whose bytes are the rows of ``block``."""
    kind, missing = column.column.type, null if null.any() else None
    if kind in _INTEGERS:
        return codecs.decode_integer(
            block if big else np.ascontiguousarray(block[:, ::-1]), missing
        )
    if kind in (SqlType.REAL, SqlType.DOUBLE):
        floats = (
            np.ascontiguousarray(block).view(f"{'>' if big else '<'}f{block.shape[1]}").reshape(-1)
        )
        values = floats.astype(np.float32 if kind is SqlType.REAL else np.float64)
        return pa.array(values, ARROW_TYPES[kind], mask=missing), None
    if kind is SqlType.DECIMAL:
        values, bad = codecs.decode_packed(block, column.scale, missing)
        if column.column.length % 2 == 0:  # an even precision leaves the first digit unused
            spare = (block[:, 0] > 0x0F) & ~null
            bad = (spare if bad is None else bad | spare) if spare.any() else bad
        return values, bad
    if kind in (SqlType.DATE, SqlType.TIME, SqlType.TIMESTAMP):
        return _moment(kind, column.column.length, block, missing)
    if column.ccsid is None:
        return (
            codecs.binary_values(
                block.reshape(-1), np.arange(len(block) + 1) * block.shape[1], missing
            ),
            None,
        )
    return codecs.decode_fixed_text(block, column.ccsid, missing)


def _moment(kind: SqlType, precision: int, block: Bytes, null: Mask | None) -> Decoded:
    """Packed digits as the text that :mod:`replay.decoding.codecs` checks and completes."""
    digits = _DIGITS[block].reshape(len(block), 2 * block.shape[1])
    picture = {SqlType.DATE: "0000-00-00", SqlType.TIME: "00:00:00"}.get(
        kind, "0000-00-00 00:00:00" + (f".{'0' * precision}" if precision else "")
    )
    text = np.empty((len(block), len(picture)), np.uint8)
    at = 0
    for place, character in enumerate(picture):
        if character == "0":
            text[:, place] = digits[:, at]
            at += 1
        else:
            text[:, place] = ord(character)
    decode = {SqlType.DATE: codecs.decode_date, SqlType.TIME: codecs.decode_time}.get(kind)
    if decode is not None:
        return decode(text, null=null)
    return codecs.decode_timestamp(text, null=null)
