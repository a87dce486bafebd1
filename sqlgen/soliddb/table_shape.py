"""What a CREATE TABLE of solidDB says, taken apart: columns, key, constraints, defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlgen.ddl.expressions import CannotSay, source_name
from sqlgen.schema import Column, SqlType

# -- columns
# -------------------------------------------------------------------------------------------------
# solidDB's columns as ours: types with the limits that the manuals give.
#
# A DECIMAL has 52 digits whatever it was declared with; a NUMERIC has those it was declared with,
# and scale 2 by itself. A DECIMAL without scale floats. A text or binary type without length has no
# limit. TIMESTAMP has up to nine fraction digits.


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


@dataclass(frozen=True)
class TableShape:
    """A table as its CREATE TABLE says: ``columns`` in order, ``definitions`` by name, ``key`` with
    its constraint's name, and the entries that are neither, each with its name (None without
    one)."""

    columns: tuple[Column, ...]
    definitions: Mapping[str, exp.ColumnDef]
    key: tuple[str, ...]
    key_name: exp.Expr | None
    rest: tuple[tuple[exp.Expr | None, exp.Expr], ...]


def shape_of(tree: exp.Create) -> TableShape:
    """The columns and constraints of a CREATE TABLE; those that stand at a column are brought into
    the form of those that stand alone."""
    columns: list[Column] = []
    definitions: dict[str, exp.ColumnDef] = {}
    entries: list[tuple[exp.Expr | None, exp.Expr]] = []
    for entry in tree.this.expressions:
        if isinstance(entry, exp.ColumnDef):
            definitions[source_name(entry.this)] = entry
            columns.append(defined_column(entry))
            entries += own_constraints(entry)
        elif isinstance(entry, exp.Constraint):
            entries.append((entry.this, entry.expressions[0]))
        else:
            entries.append((None, entry))
    keys = [(name, entry) for name, entry in entries if isinstance(entry, exp.PrimaryKey)]
    if len(keys) > 1 or len(definitions) != len(columns):
        raise CannotSay("it has two primary keys, or two columns of one name")
    key_name, key_entry = keys[0] if keys else (None, None)
    key = (
        tuple(source_name(name) for name in key_entry.expressions) if key_entry is not None else ()
    )
    if not set(key) <= definitions.keys():
        raise CannotSay(
            f"it has no column {', '.join(sorted(set(key) - definitions.keys()))}, which its"
            " primary key names"
        )
    columns = [
        replace(column, nullable=column.nullable and column.name not in key) for column in columns
    ]
    rest = tuple((name, entry) for name, entry in entries if not isinstance(entry, exp.PrimaryKey))
    return TableShape(tuple(columns), definitions, key, key_name, rest)


def defined_column(tree: exp.ColumnDef) -> Column:
    """The column of its definition."""
    return column_of(source_name(tree.this), tree.args["kind"], is_nullable(tree))


def is_nullable(tree: exp.ColumnDef) -> bool:
    """Whether the definition of a column does not say NOT NULL."""
    return not any(isinstance(c.kind, exp.NotNullColumnConstraint) for c in tree.constraints)


def own_constraints(column: exp.ColumnDef) -> list[tuple[exp.Expr | None, exp.Expr]]:
    """The constraints that a column states beside its default and NOT NULL, as those of a table,
    each with its name."""
    constraints: list[tuple[exp.Expr | None, exp.Expr]] = []
    for constraint in column.constraints:
        name, kind = constraint.args.get("this"), constraint.kind
        if isinstance(kind, exp.PrimaryKeyColumnConstraint):
            constraints.append((name, exp.PrimaryKey(expressions=[column.this.copy()])))
        elif isinstance(kind, exp.UniqueColumnConstraint):
            constraints.append(
                (
                    name,
                    exp.UniqueColumnConstraint(this=exp.Schema(expressions=[column.this.copy()])),
                )
            )
        elif isinstance(kind, exp.Reference):
            constraints.append(
                (name, exp.ForeignKey(expressions=[column.this.copy()], reference=kind.copy()))
            )
        elif isinstance(kind, exp.CheckColumnConstraint):
            constraints.append((name, kind))
    return constraints


def default_of(column: exp.ColumnDef) -> exp.Expr | None:
    """The default value of a column, None where it states none."""
    kinds = [constraint.kind for constraint in column.constraints]
    return next(
        (kind.this for kind in kinds if isinstance(kind, exp.DefaultColumnConstraint)), None
    )
