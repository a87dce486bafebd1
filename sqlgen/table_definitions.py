"""The tables that DDL defines: names, columns with their types, and primary keys, for logs whose
records say neither types nor keys."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqlgen.constraints import parse_constraints
from sqlgen.schema import Column, SqlType, Table
from sqlgen.schema_names import followed
from sqlgen.schema_statements import schema_statements

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
    primary keys. Of tables that are defined twice, the last definition counts; those that a query
    or another table defines are not listed. SqlgenError LR1010 for a type that is not known, and
    where the text is not understood as SQL of the dialect."""
    defined: dict[tuple[str, str], Table] = {}
    for tree in followed(schema_statements(text, dialect).trees, dialect, None).trees:
        if isinstance(tree, exp.Create) and isinstance(tree.this, exp.Schema):
            table = tree.this.this
            name = _spelled(table.args.get("db")), _spelled(table.this)
            earlier = defined.get(name)
            columns = tuple(_columns(tree.this))
            # a statement that is understood in parts states a column or a key at a time
            if earlier is not None and len(columns) <= 1:
                columns = (*earlier.columns, *columns)
            if columns:
                defined[name] = Table(*name, columns)
    tables = list(defined.values())
    keys = parse_constraints(text, dialect, tables, lenient=True).keys
    first: dict[str, tuple[str, ...]] = {}
    for table_name, key in keys:
        first.setdefault(table_name, key)
    return [
        Table(one.schema, one.name, one.columns, first.get(f"{one.schema}.{one.name}", ()))
        for one in tables
    ]


def _spelled(name: exp.Expr | None) -> str:
    if not isinstance(name, exp.Identifier):
        return ""
    return str(name.this).rstrip() if name.args.get("quoted") else str(name.this).upper()


def _columns(schema: exp.Schema) -> Iterator[Column]:
    for part in schema.expressions:
        kind = part.args.get("kind") if isinstance(part, exp.ColumnDef) else None
        if isinstance(kind, exp.DataType):
            keys = (exp.NotNullColumnConstraint, exp.PrimaryKeyColumnConstraint)
            nullable = not any(isinstance(one.kind, keys) for one in part.constraints)
            column = _column(_spelled(part.this), kind, nullable)
            if column is not None:
                yield column


def _column(name: str, kind: exp.DataType, nullable: bool) -> Column | None:
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
