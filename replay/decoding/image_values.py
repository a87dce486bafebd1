"""The values of one column of row images (format notes, section 6.4).

``start`` is where the values begin in ``buffer``, ``length`` their bytes (one number where all have
the same), ``null`` which of them are null (None: none).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from replay.arrays import Bytes, Index, Mask
from replay.changes.catalog import ColumnFormat
from replay.decoding import code_pages, codecs
from replay.errors import InputError
from sqlgen.schema import ARROW_TYPES, SqlType

_INTEGERS = frozenset({SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT})
_TEXTS = frozenset({SqlType.CHAR, SqlType.VARCHAR})
_BINARY = frozenset({SqlType.BINARY, SqlType.VARBINARY})
#: Hexadecimal digits of a value shown in a finding.
_SHOWN = 128


def decode(
    column: ColumnFormat, buffer: Bytes, start: Index, null: Mask | None, length: Index | int
) -> codecs.Decoded:
    """The values, by the contract of :mod:`sqlgen.schema`, bad ones as null; and which of them
    cannot be decoded (None: all can). ``InputError`` when the column's character set is not
    known."""
    if column.lob:
        kind = ARROW_TYPES[column.column.type]
        return pa.nulls(len(start), kind), np.ones(len(start), bool) if null is None else ~null
    if isinstance(length, int):
        return decode_fixed(column, codecs.gather(buffer, start, length), null)
    if null is not None:
        length = np.where(null, 0, length)
    data, offsets = codecs.gather_varying(buffer, start, length)
    if is_binary(column):
        return codecs.binary_values(data, offsets, null), None
    return codecs.decode_text(data, offsets, ccsid_of(column), null)


def decode_fixed(column: ColumnFormat, block: Bytes, null: Mask | None) -> codecs.Decoded:
    """As :func:`decode` of ``n`` values of one length, each a row of ``block`` (``uint8[n,
    width]``); ``null`` (``bool[n]``) marks those that are none. Errors as there."""
    kind, width = column.column.type, block.shape[1]
    if is_binary(column):
        return (
            codecs.binary_values(block.reshape(-1), np.arange(len(block) + 1) * width, null),
            None,
        )
    if unusable(column, width):
        wrong = np.ones(len(block), bool) if null is None else ~null
        return pa.nulls(len(block), ARROW_TYPES[kind]), wrong if wrong.any() else None
    if kind in _INTEGERS:
        return codecs.decode_integer(block, null)
    if kind is SqlType.DECIMAL:
        return codecs.decode_packed(block, column.scale, null)
    if kind is SqlType.REAL:
        return codecs.decode_real(block, null)
    if kind is SqlType.DOUBLE:
        return codecs.decode_hfp(block, null)
    if kind is SqlType.DATE:
        return codecs.decode_date(block, null)
    if kind is SqlType.TIME:
        return codecs.decode_time(block, null)
    if kind in (SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ):
        return codecs.decode_timestamp(block, kind is SqlType.TIMESTAMP_TZ, null)
    return codecs.decode_fixed_text(block, ccsid_of(column), null)


def readable(column: ColumnFormat) -> bool:
    """Whether any bytes are a value: integers and long floats of a possible length, bit data, and
    text of which every byte is a character. ``InputError`` when the character set is not known."""
    kind = column.column.type
    if column.lob:
        return False
    if is_binary(column):
        return True
    if kind in _TEXTS:
        return code_pages.is_complete(ccsid_of(column))
    fixed = not column.variable and (kind in _INTEGERS or kind is SqlType.DOUBLE)
    return fixed and not unusable(column, column.length)


def is_binary(column: ColumnFormat) -> bool:
    """Whether values are bytes and no text."""
    return column.column.type in _BINARY or column.raw


def ccsid_of(column: ColumnFormat) -> int:
    """The character set of a column; ``InputError`` when it is not known."""
    if column.ccsid is None:
        message = (
            f"found no CCSID for column {column.column.name} with encoding {column.encoding};"
            " expected one in the XTYP record"
        )
        raise InputError("LR2015", message, hint="Name one with --ccsid")
    return column.ccsid


def unusable(column: ColumnFormat, width: int) -> bool:
    """A length that the type cannot have (the catalog should have refused it)."""
    kind = column.column.type
    if kind in _INTEGERS:
        return width not in (2, 4, 8)
    if kind is SqlType.DECIMAL:
        return not 1 <= width <= 16
    if kind in (SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ):
        width -= 6 if kind is SqlType.TIMESTAMP_TZ else 0
        return width != 19 and not 21 <= width <= 32
    if column.wide:
        return width != 4
    return width != {SqlType.REAL: 4, SqlType.DOUBLE: 8, SqlType.DATE: 10, SqlType.TIME: 8}.get(
        kind, width
    )


_EXPECTED = {
    SqlType.DECIMAL: "packed digits 0 to 9 and a sign A to F",
    SqlType.REAL: "a short hexadecimal float that an IEEE single can hold (1.4E-45 to 3.4E+38)",
    SqlType.DATE: "a date YYYY-MM-DD",
    SqlType.TIME: "a time HH.MM.SS",
    SqlType.TIMESTAMP: "a timestamp YYYY-MM-DD-HH.MM.SS",
    SqlType.TIMESTAMP_TZ: "a timestamp YYYY-MM-DD-HH.MM.SS with a time zone",
}


def explain(column: ColumnFormat, data: Bytes) -> tuple[str, str]:
    """Of the bytes of a value that cannot be decoded: what was found and what was expected."""
    kind = column.column.type
    if column.lob:
        return (
            f"a value in large object column {column.column.name}",
            "NULL: a row holds no more of a large object than that there is one",
        )
    text = f"X'{_hex(data)}' in {kind.value} column {column.column.name}"
    if kind is SqlType.REAL and len(data) == 4:
        text += f" = {float(codecs.hfp_values(data.reshape(1, 4))[0])!r}"
    return text, expected(column, len(data))


def expected(column: ColumnFormat, size: int) -> str:
    """What a value of ``size`` bytes should have been that cannot be decoded."""
    kind = column.column.type
    if unusable(column, size):
        return f"a length that {kind.value} can have, not {size} bytes"
    return _EXPECTED.get(kind, f"characters of CCSID {column.ccsid}")


def _hex(data: Bytes) -> str:
    digits = data[: _SHOWN // 2].tobytes().hex().upper()
    return digits + ("…" if len(data) > _SHOWN // 2 else "")
