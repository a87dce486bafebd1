"""The values in row images of LOAD files (:mod:`replay.logs.made_images`)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Mask
from replay.changes.catalog import ColumnFormat
from replay.decoding import codecs
from replay.decoding.codecs import Decoded
from replay.logs.made_images import MadeWalk, unlike, usable
from sqlgen.schema import ARROW_TYPES, SqlType
from sqlgen.value_texts import WHOLE_BITS

_SHOWN = 64
_INTEGER = r"^[+-]?[0-9]{1,19}$"
_DECIMAL = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)$"
_FLOAT = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_DECFLOAT = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$|^-?(NaN|sNaN|Infinity)$"
_HEX = r"^([0-9A-Fa-f]{2})*$"
#: What each type is in a file, for messages.
_EXPECTED = {
    SqlType.SMALLINT: "a whole number of SMALLINT",
    SqlType.INTEGER: "a whole number of INTEGER",
    SqlType.BIGINT: "a whole number of BIGINT",
    SqlType.REAL: "a number",
    SqlType.DOUBLE: "a number",
    SqlType.DECFLOAT: "a number",
    SqlType.DATE: "a date, year first (ISO)",
    SqlType.TIME: "a time of day (ISO)",
    SqlType.TIMESTAMP: "a timestamp, year first",
    SqlType.TIMESTAMP_TZ: "a timestamp with time zone, year first",
    SqlType.BINARY: "bit data as hexadecimal digits, two for each byte of the column at most",
    SqlType.VARBINARY: "bit data as hexadecimal digits, two for each byte of the column at most",
}


class LoadWalk(MadeWalk):
    """The columns of ``n`` row images of one table version, values as they stand in the file, in
    its character set. Implements :class:`replay.logs.Walk`."""

    def decode(self, index: int, rows: Index | None = None) -> tuple[pa.Array, Mask | None]:
        """As :meth:`replay.logs.Walk.decode`."""
        column = self.format.columns[index]
        chosen, null, data, offsets = self.among(index, rows)
        values, fails = decoded(column, data, offsets, null)
        if not column.nullable:
            lacking = null & ~self.bad[chosen]
            if lacking.any():
                fails = lacking if fails is None else fails | lacking
        return values, fails

    def explain(self, index: int, row: int) -> tuple[str, str]:
        """As :meth:`replay.logs.Walk.explain`."""
        column = self.format.columns[index]
        if self.length[row, index] < 0:
            return (
                f"no value of column {column.column.name}",
                "one, for the column is NOT NULL (of empty text, its delimiters)",
            )
        raw = self.raw(index, row)
        shown = raw[:_SHOWN].hex().upper() + ("…" if len(raw) > _SHOWN else "")
        size = column.column.length
        expected = _EXPECTED.get(
            column.column.type, f"at most {size} characters of CCSID {column.ccsid}"
        )
        if column.column.type is SqlType.DECIMAL:
            expected = f"at most {column.column.length} digits, {column.scale} after the point"
        return f"X'{shown}' in column {column.column.name}", expected


# -- values
# -------------------------------------------------------------------------------------------------


def decoded(column: ColumnFormat, data: Bytes, offsets: Index, null: Mask) -> Decoded:
    """Values of a column by the contract of :mod:`sqlgen.schema`, and which cannot be decoded."""
    kind = column.column.type
    text, bad = codecs.decode_text(
        data, offsets, column.ccsid or 1208, null if null.any() else None
    )
    wrong = np.zeros(len(null), bool) if bad is None else bad
    if kind in (SqlType.CHAR, SqlType.VARCHAR):
        fixed = kind is SqlType.CHAR
        size = column.column.length
        long = np.asarray(pc.fill_null(pc.greater(pc.utf8_length(text), size), False))
        bad = long if bad is None else bad | long
        return (pc.utf8_rpad(text, size) if fixed else text), bad if bad.any() else None
    text = pc.utf8_trim_whitespace(text)
    if kind in WHOLE_BITS:
        values, fails = _integers(text, 1 << WHOLE_BITS[kind])
    elif kind is SqlType.DECIMAL:
        values, fails = _decimals(text, column.column.length, column.scale)
    elif kind in (SqlType.REAL, SqlType.DOUBLE):
        fails = unlike(text, _FLOAT)
        values = pc.cast(usable(text, fails, "0"), pa.float64()).cast(ARROW_TYPES[kind])
        fails |= ~np.isfinite(pc.fill_null(values, 0).to_numpy(zero_copy_only=False))
    elif kind in (SqlType.BINARY, SqlType.VARBINARY):
        return _bits(text, null | wrong, column.column.length)
    elif kind is SqlType.DECFLOAT:
        fails = unlike(text, _DECFLOAT)
        values = usable(text, fails, "0")
    else:
        return _moments(kind, text, column.column.length, null, wrong)
    fails = (fails | wrong) & ~null
    return values, fails if fails.any() else None


def _integers(text: pa.Array, limit: int) -> tuple[pa.Array, Mask]:
    fails = unlike(text, _INTEGER)
    plain = pc.replace_substring_regex(usable(text, fails, "0"), r"^\+", "")
    # 19 digits may be more than 64 bits hold
    digits = pc.utf8_ltrim(pc.utf8_ltrim(plain, "-"), "0")
    most = np.where(
        np.asarray(pc.starts_with(plain, "-").fill_null(False)), str(limit), str(limit - 1)
    )
    padded = pc.utf8_lpad(digits, 19, "0")
    over = pc.greater(padded, pc.utf8_lpad(pa.array(most, pa.string()), 19, "0"))
    fails |= np.asarray(pc.fill_null(over, False).to_numpy(zero_copy_only=False), bool)
    return pc.cast(usable(plain, fails, "0"), pa.int64()), fails


def _decimals(text: pa.Array, digits: int, scale: int) -> tuple[pa.Array, Mask]:
    """Canonical digits with ``scale`` of them behind the point."""
    fails = unlike(text, _DECIMAL)
    text = usable(text, fails, "0")
    negative = pc.starts_with(text, "-")
    text = pc.utf8_ltrim(text, "+-")
    whole = pc.utf8_ltrim(pc.replace_substring_regex(text, r"\..*$", ""), "0")
    there = pc.match_substring(text, ".")
    fraction = pc.if_else(there, pc.replace_substring_regex(text, r"^[^.]*\.", ""), "")
    fraction = pc.utf8_rpad(pc.utf8_rtrim(fraction, "0"), scale, "0")
    over = pc.or_(
        pc.greater(pc.utf8_length(whole), digits - scale),
        pc.greater(pc.utf8_length(fraction), scale),
    )
    fails |= np.asarray(pc.fill_null(over, False).to_numpy(zero_copy_only=False), bool)
    zero = pc.match_substring_regex(pc.binary_join_element_wise(whole, fraction, ""), "^0*$")
    sign = pc.if_else(pc.and_(negative, pc.invert(zero)), "-", "")
    whole = pc.if_else(pc.equal(whole, ""), "0", whole)
    parts = (sign, whole, ".", fraction) if scale else (sign, whole)
    return pc.binary_join_element_wise(*parts, ""), fails


def _bits(text: pa.Array, null: Mask, most: int) -> Decoded:
    fails = unlike(text, _HEX)
    fails |= np.asarray(pc.fill_null(pc.greater(pc.binary_length(text), 2 * most), False))
    plain = pc.fill_null(usable(text, fails, ""), "")
    length = np.asarray(pc.binary_length(plain)) // 2
    data = np.frombuffer(bytes.fromhex(pc.binary_join(_one_list(plain), "")[0].as_py()), np.uint8)
    offsets = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    fails &= ~null
    return (
        codecs.binary_values(data, offsets, null if null.any() else None),
        fails if fails.any() else None,
    )


def _one_list(values: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)


def _moments(kind: SqlType, text: pa.Array, fraction: int, null: Mask, wrong: Mask) -> Decoded:
    """Dates, times, and timestamps with as many fraction digits as the column has."""
    text = pc.fill_null(text, "")
    zone: pa.Array = ""
    if kind is SqlType.TIMESTAMP_TZ:
        zone = pc.utf8_slice_codeunits(text, -6)
        text = pc.utf8_slice_codeunits(text, 0, -6)
    width = {SqlType.DATE: 10, SqlType.TIME: 8}.get(kind, 19)
    fails = np.zeros(len(null), bool)
    if width == 19:
        rest = pc.utf8_ltrim(pc.utf8_slice_codeunits(text, 19), ".")
        rest = pc.utf8_rpad(pc.utf8_rtrim(rest, "0"), fraction, "0")
        fails |= np.asarray(pc.greater(pc.utf8_length(rest), fraction))
        text = pc.utf8_slice_codeunits(text, 0, 19)
        short = np.asarray(pc.not_equal(pc.utf8_length(text), 19))
        if fraction:
            text = pc.binary_join_element_wise(
                text, pc.utf8_slice_codeunits(rest, 0, fraction), "."
            )
            width += 1 + fraction
        fails |= short
    if kind is SqlType.TIMESTAMP_TZ:
        text = pc.binary_join_element_wise(text, zone, "")
        width += 6
    fails |= np.asarray(pc.not_equal(pc.binary_length(text), width))
    fails |= wrong
    blank = np.frombuffer(b"0" * width, np.uint8)
    block = np.tile(blank, (len(null), 1))
    good = np.flatnonzero(~fails & ~null)
    if len(good):
        joined = pc.binary_join(_one_list(text.take(pa.array(good))), "")[0].as_py()
        block[good] = np.frombuffer(joined.encode(), np.uint8).reshape(len(good), width)
    missing = null | fails
    if kind is SqlType.DATE:
        values, more = codecs.decode_date(block, missing)
    elif kind is SqlType.TIME:
        values, more = codecs.decode_time(block, missing)
    else:
        values, more = codecs.decode_timestamp(block, kind is SqlType.TIMESTAMP_TZ, missing)
    fails = (fails | (False if more is None else more)) & ~null
    return values, fails if fails.any() else None
