"""Values of a column as another generation of the table has them: after ALTER TABLE … ALTER COLUMN
the same value has more digits, blanks at its end, or another type."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from replay.storage.state_values import padded
from sqlgen.schema import Column, SqlType

_WHOLE = (SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT)
_FIXED = (SqlType.CHAR, SqlType.VARCHAR)


def widened(values: pa.Array, source: Column, target: Column) -> pa.Array:
    """``values`` of ``source`` in the words of ``target``; what that does not hold stays as it is.
    (Images have CHAR without blanks at the end.)"""
    if (source.type, source.length, source.scale) == (target.type, target.length, target.scale):
        return values
    if target.type is SqlType.DECIMAL and source.type in (*_WHOLE, SqlType.DECIMAL):
        return _with_digits(pc.cast(values, pa.string()), target.scale)
    if target.type in _WHOLE and source.type is SqlType.DECIMAL:
        return _with_digits(values, 0)
    if target.type is SqlType.TIMESTAMP and source.type is SqlType.TIMESTAMP:
        return _with_digits(values, target.length)
    if (source.type, target.type) == _FIXED:
        # of other text the column's size counts bytes that its code page decides
        plain = pc.string_is_ascii(values)
        return pc.if_else(plain, pc.utf8_rpad(values, source.length), values)
    if (target.type, source.type) == _FIXED:
        return pc.utf8_rtrim(values, " ")
    return values


def _with_digits(texts: pa.Array, digits: int) -> pa.Array:
    """Numbers, or moments, with so many digits behind the point, where no others than zeros go."""
    fits = pc.match_substring_regex(texts, rf"^[^.]*(\.\d{{0,{digits}}}0*)?$")
    return pc.if_else(fits, padded(texts, digits), texts)
