"""The tables that DDL defines: names, columns with their types, and primary keys, for logs whose
records say neither types nor keys."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlgen.ddl.ddl_clauses import ColumnEntry, KeyClause
from sqlgen.ddl.ddl_facts import Facts
from sqlgen.ddl.ddl_reader import read_schema
from sqlgen.ddl.schema_file import expression
from sqlgen.schema import Column, SqlType, Table

_TYPES: dict[exp.DType, SqlType] = {
    exp.DType.SMALLINT: SqlType.SMALLINT,
    exp.DType.INT: SqlType.INTEGER,
    exp.DType.BIGINT: SqlType.BIGINT,
    exp.DType.DECIMAL: SqlType.DECIMAL,
    exp.DType.DOUBLE: SqlType.DOUBLE,
    exp.DType.DECFLOAT: SqlType.DECFLOAT,
    exp.DType.CHAR: SqlType.CHAR,
    exp.DType.NCHAR: SqlType.CHAR,
    exp.DType.VARCHAR: SqlType.VARCHAR,
    exp.DType.NVARCHAR: SqlType.VARCHAR,
    exp.DType.BINARY: SqlType.BINARY,
    exp.DType.VARBINARY: SqlType.VARBINARY,
    exp.DType.DATE: SqlType.DATE,
    exp.DType.TIME: SqlType.TIME,
    exp.DType.TIMESTAMP: SqlType.TIMESTAMP,
    exp.DType.TIMESTAMPTZ: SqlType.TIMESTAMP_TZ,
    exp.DType.BOOLEAN: SqlType.BOOLEAN,
    exp.DType.TEXT: SqlType.CLOB,
    exp.DType.BLOB: SqlType.BLOB,
    exp.DType.XML: SqlType.XML,
}
#: Db2's FLOAT(n) is single precision up to this many bits.
_SINGLE_BITS = 21
#: Digits of a DECIMAL, and fraction digits of a TIMESTAMP, that state none; length of a CHAR.
_DECIMAL_DIGITS, _FRACTION, _CHARACTERS = 5, 6, 1
_MOMENTS = (SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ)


def defined_tables(text: str, dialect: str) -> list[Table]:
    """The tables that ``CREATE TABLE`` statements in ``text`` define, in their order, with their
    primary keys. Those that a query or another table defines are not listed. SqlgenError LR1010
    where the text is not understood as SQL of the dialect."""
    found = read_schema(text, dialect, None, lenient=True)
    keys: dict[str, tuple[str, ...]] = {}
    for name, key in found.constraints.keys:
        keys.setdefault(name, key)
    tables = []
    for place, (schema, name) in found.tables.items():
        known = found.facts.get(place, Facts()).columns.values()
        columns = [_column(one, dialect) for one in known]
        if columns:
            own = tuple(one for one in columns if one is not None)
            tables.append(Table(schema, name, own, keys.get(place, ())))
    return tables


def _column(said: ColumnEntry, dialect: str) -> Column | None:
    try:
        kind = expression(f"CAST(1 AS {said.type})", dialect).args["to"]
    except SqlglotError:
        return None
    primary = any(isinstance(one, KeyClause) and one.primary for one in said.clauses)
    if not isinstance(kind, exp.DataType):
        return None
    return _typed(said.spelled, kind, said.nullable and not primary)


def _typed(name: str, kind: exp.DataType, nullable: bool) -> Column | None:
    given = [int(one.name) for one in kind.expressions if one.name.isdecimal()]
    if kind.this is exp.DType.FLOAT:  # REAL, or FLOAT with its bits
        single = not given or given[0] <= _SINGLE_BITS
        return Column(name, SqlType.REAL if single else SqlType.DOUBLE, nullable)
    if kind.this not in _TYPES:
        return None
    sql_type = _TYPES[kind.this]
    if sql_type is SqlType.DECIMAL:
        digits, scale = (*given, 0, 0)[:2] if given else (_DECIMAL_DIGITS, 0)
        return Column(name, sql_type, nullable, digits, scale)
    default = _FRACTION if sql_type in _MOMENTS else _CHARACTERS
    return Column(name, sql_type, nullable, given[0] if given else default)
