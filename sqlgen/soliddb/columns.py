"""solidDB's columns as ours: types with the limits that the manuals give.

A DECIMAL has 52 digits whatever it was declared with; a NUMERIC has those it was declared with, and
scale 2 by itself. A DECIMAL without scale floats. A text or binary type without length has no
limit. TIMESTAMP has up to nine fraction digits.
"""

from __future__ import annotations

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
    sql_type = _KINDS[kind.this]
    if sql_type is SqlType.TIMESTAMP:
        return Column(name, sql_type, nullable, FRACTION_DIGITS, unsized=True)
    if sizes:
        return Column(name, sql_type, nullable, sizes[0])
    if sql_type in (SqlType.CHAR, SqlType.BINARY):
        return Column(name, sql_type, nullable, 1)
    return Column(name, _UNLIMITED.get(sql_type, sql_type), nullable)


_WORDS = {
    SqlType.SMALLINT: "SMALLINT", SqlType.INTEGER: "INTEGER", SqlType.BIGINT: "BIGINT",
    SqlType.REAL: "REAL", SqlType.DOUBLE: "DOUBLE PRECISION",
    SqlType.DECFLOAT: "DECIMAL", SqlType.CHAR: "CHAR", SqlType.VARCHAR: "VARCHAR",
    SqlType.CLOB: "LONG VARCHAR", SqlType.BINARY: "BINARY",
    SqlType.VARBINARY: "VARBINARY", SqlType.BLOB: "LONG VARBINARY", SqlType.DATE: "DATE",
    SqlType.TIME: "TIME", SqlType.TIMESTAMP: "TIMESTAMP",
}  # fmt: skip


def type_text(column: Column) -> str | None:
    """A type of solidDB for which :func:`column_of` gives the column again; None where it has none.
    (Which of those that are kept in the same way it was declared with, TINYINT or SMALLINT, the
    column does not tell.)"""
    if column.type is SqlType.DECIMAL:
        return f"NUMERIC({column.length}, {column.scale})"
    word = _WORDS.get(column.type)
    sized = column.type in (SqlType.CHAR, SqlType.VARCHAR, SqlType.BINARY, SqlType.VARBINARY)
    return f"{word}({column.length})" if word is not None and sized else word
