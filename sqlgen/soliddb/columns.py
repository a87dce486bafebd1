"""solidDB's columns as ours: types with the limits that the manuals give, and the values of defaults.

A DECIMAL has 52 digits whatever it was declared with; a NUMERIC has those it was declared with, and scale 2 by itself. A DECIMAL without scale
floats. A text or binary type without length has no limit. TIMESTAMP has up to nine fraction digits.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Any

from sqlglot import exp

from sqlgen.schema import Column, SqlType

MOST_DIGITS = 52
FRACTION_DIGITS = 9

_KINDS = {
    exp.DType.BIT: SqlType.SMALLINT,
    exp.DType.TINYINT: SqlType.SMALLINT,
    exp.DType.SMALLINT: SqlType.SMALLINT,
    exp.DType.INT: SqlType.INTEGER,
    exp.DType.BIGINT: SqlType.BIGINT,
    exp.DType.FLOAT: SqlType.REAL,
    exp.DType.DOUBLE: SqlType.DOUBLE,
    exp.DType.CHAR: SqlType.CHAR,
    exp.DType.NCHAR: SqlType.CHAR,
    exp.DType.VARCHAR: SqlType.VARCHAR,
    exp.DType.NVARCHAR: SqlType.VARCHAR,
    exp.DType.TEXT: SqlType.CLOB,
    exp.DType.LONGTEXT: SqlType.CLOB,
    exp.DType.BINARY: SqlType.BINARY,
    exp.DType.VARBINARY: SqlType.VARBINARY,
    exp.DType.BLOB: SqlType.BLOB,
    exp.DType.DATE: SqlType.DATE,
    exp.DType.TIME: SqlType.TIME,
    exp.DType.TIMESTAMP: SqlType.TIMESTAMP,
}
_UNLIMITED = {SqlType.VARCHAR: SqlType.CLOB, SqlType.VARBINARY: SqlType.BLOB}
_WHOLE = {SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT}
_TEXT = {SqlType.CHAR, SqlType.VARCHAR, SqlType.CLOB}
_BYTES = {SqlType.BINARY, SqlType.VARBINARY, SqlType.BLOB}
_MOMENTS = {
    SqlType.DATE: re.compile(r"\d{4}-\d\d-\d\d()\Z"),
    SqlType.TIME: re.compile(r"\d\d:\d\d:\d\d()\Z"),
    SqlType.TIMESTAMP: re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.(\d{1,9}))?\Z"),
}


def column_of(name: str, kind: exp.DataType, nullable: bool) -> Column:
    """The column of a type as solidDB declares it."""
    sizes = [int(size.name) for size in kind.expressions]
    if kind.this == exp.DType.DECIMAL:
        if kind.meta.get("soliddb") == "NUMERIC":
            digits, scale = (*sizes, 0)[:2] if sizes else (MOST_DIGITS, 2)
            return Column(name, SqlType.DECIMAL, nullable, digits, scale)
        if not sizes:
            return Column(name, SqlType.DECFLOAT, nullable)
        return Column(name, SqlType.DECIMAL, nullable, MOST_DIGITS, (*sizes, 0)[1])
    found = _KINDS[kind.this]
    if found is SqlType.TIMESTAMP:
        return Column(name, found, nullable, FRACTION_DIGITS)
    if sizes:
        return Column(name, found, nullable, sizes[0])
    if found in (SqlType.CHAR, SqlType.BINARY):
        return Column(name, found, nullable, 1)
    return Column(name, _UNLIMITED.get(found, found), nullable)


_WORDS = {
    SqlType.SMALLINT: "SMALLINT", SqlType.INTEGER: "INTEGER", SqlType.BIGINT: "BIGINT", SqlType.REAL: "REAL", SqlType.DOUBLE: "DOUBLE PRECISION",
    SqlType.DECFLOAT: "DECIMAL", SqlType.CHAR: "CHAR", SqlType.VARCHAR: "VARCHAR", SqlType.CLOB: "LONG VARCHAR", SqlType.BINARY: "BINARY",
    SqlType.VARBINARY: "VARBINARY", SqlType.BLOB: "LONG VARBINARY", SqlType.DATE: "DATE", SqlType.TIME: "TIME", SqlType.TIMESTAMP: "TIMESTAMP",
}  # fmt: skip


def type_text(column: Column) -> str | None:
    """A type of solidDB for which :func:`column_of` gives the column again; None where it has none. (Which of those that are kept in the same way
    it was declared with, TINYINT or SMALLINT, the column does not tell.)"""
    if column.type is SqlType.DECIMAL:
        return f"NUMERIC({column.length}, {column.scale})"
    word = _WORDS.get(column.type)
    sized = column.type in (SqlType.CHAR, SqlType.VARCHAR, SqlType.BINARY, SqlType.VARBINARY)
    return f"{word}({column.length})" if word is not None and sized else word


def constant(tree: exp.Expr, column: Column) -> Any:
    """The value of a constant in a column, by the contract of :mod:`sqlgen.schema`; None for NULL. ValueError, with what was expected, for a
    constant that the column's type does not have."""
    if isinstance(tree, exp.Null):
        return None
    sign, inner = ("-", tree.this) if isinstance(tree, exp.Neg) else ("", tree)
    kind = column.type
    if isinstance(inner, exp.HexString) and kind in _BYTES:
        return bytes.fromhex(inner.name)
    if isinstance(inner, exp.Date | exp.Time | exp.Timestamp):
        inner = inner.this
    if not isinstance(inner, exp.Literal):
        raise ValueError(f"expected a constant of type {kind.value}")
    text = sign + inner.name
    if kind in _TEXT and inner.is_string:
        return inner.name
    if kind in _BYTES and inner.is_string and inner.name.isascii():
        return inner.name.encode("ascii")
    if kind in _MOMENTS and inner.is_string:
        return _moment(inner.name, kind)
    try:
        return _number(Decimal(text), column)
    except InvalidOperation:
        raise ValueError(f"expected a constant of type {kind.value}") from None


def _moment(text: str, kind: SqlType) -> str:
    found = _MOMENTS[kind].match(text)
    if not found:
        raise ValueError(f"expected a {kind.value} as text, most significant part first")
    if kind is not SqlType.TIMESTAMP:
        return text
    return f"{text.partition('.')[0]}.{(found.group(1) or '').ljust(FRACTION_DIGITS, '0')}"


def _number(value: Decimal, column: Column) -> Any:
    """A number in a column of numbers."""
    kind = column.type
    if not value.is_finite():
        raise ValueError("expected a number")
    if kind in _WHOLE and value == value.to_integral_value():
        return int(value)
    if kind in (SqlType.REAL, SqlType.DOUBLE):
        return float(value)
    if kind is SqlType.DECFLOAT:
        return str(value)
    if kind is SqlType.DECIMAL:
        _, digits, exponent = value.as_tuple()
        assert isinstance(exponent, int)
        shift = exponent + column.scale
        if shift >= 0 or not any(digits[shift:]):
            return f"{value:.{column.scale}f}"
    raise ValueError(f"expected a constant of type {kind.value}")
