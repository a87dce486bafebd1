"""What a CREATE TABLE of solidDB says, taken apart: columns, key, constraints, defaults; and what
a statement of a log says of the rows of its table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlgen.ddl.expressions import CannotSay, source_name
from sqlgen.errors import SqlgenError
from sqlgen.schema import Column, SqlType
from sqlgen.soliddb import Soliddb
from sqlgen.soliddb.parser import TYPES, ModifySchema

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


# -- statements
# -------------------------------------------------------------------------------------------------

_SHOWN = 500
_TYPE_WORDS = {entry.kind: entry.words[0] for entry in reversed(TYPES)}


def read(text: str) -> exp.Expr:
    """The tree of one statement. SqlgenError (LR3021) when it is not understood."""
    try:
        trees = [tree for tree in sqlglot.parse(text, dialect=Soliddb) if tree is not None]
    except SqlglotError as error:
        reason = str(error).splitlines()[0]
        raise SqlgenError(
            "LR3021", f"found {shown(text)}; expected a statement of solidDB: {reason}"
        ) from None
    if len(trees) != 1:
        raise SqlgenError("LR3021", f"found {shown(text)}; expected one statement of solidDB")
    return trees[0]


def shown(text: str) -> str:
    """A statement as a message names it: on one line, and not without end."""
    line = " ".join(text.split())
    return f"the statement {line[:_SHOWN]}{' …' if len(line) > _SHOWN else ''}"


@dataclass(frozen=True)
class DeclaredColumn:
    """A column: the first words of its type in solidDB's manuals, and the numbers behind them."""

    name: str
    words: str
    sizes: tuple[int, ...] = ()
    nullable: bool = True


@dataclass(frozen=True)
class Alter:
    """What ALTER TABLE does to rows: ``add``, ``drop``, ``rename``, ``modify`` a column; ``name``
    or ``schema`` the table; ``null`` (a column may be null, or may not); or ``other``, which leaves
    rows as they are. ``table``: what the statement calls it; ``added``: the column that it adds;
    ``schema``: that of the table, where the statement says it."""

    what: str
    table: str
    column: str = ""
    new: str = ""
    added: DeclaredColumn | None = None
    schema: str = ""


def alter(text: str) -> Alter | None:
    """What an ALTER TABLE statement does; None for a text that is none."""
    tree = _tree(text)
    if not isinstance(tree, exp.Alter):
        return None
    action, table = tree.args["actions"][0], source_name(tree.this.this)
    if isinstance(action, exp.AlterRename | ModifySchema):
        renames = isinstance(action, exp.AlterRename)
        new = source_name(action.this.this if renames else action.this)
        return Alter("name" if renames else "schema", table, new=new, schema=home(text))
    if isinstance(action, exp.ColumnDef):
        column = _declared(action)
        return Alter("add", table, column.name, added=column)
    if isinstance(action, exp.Drop):
        return Alter("drop", table, source_name(action.args["tables"][0].this))
    if isinstance(action, exp.RenameColumn):
        return Alter("rename", table, source_name(action.this), source_name(action.args["to"]))
    if not isinstance(action, exp.AlterColumn):
        return Alter("other", table)
    null = "other" if action.args.get("allow_null") is None else "null"
    what = null if action.args.get("dtype") is None else "modify"
    return Alter(what, table, source_name(action.this))


def created(text: str) -> tuple[tuple[DeclaredColumn, ...], tuple[str, ...]] | None:
    """The columns and the key that a CREATE TABLE makes; None for a text that is none."""
    tree = _tree(text)
    if not isinstance(tree, exp.Create) or tree.kind != "TABLE":
        return None
    try:
        shape = shape_of(tree)
    except CannotSay:
        return None
    return tuple(_declared(one, shape.key) for one in shape.definitions.values()), shape.key


def home(text: str) -> str:
    """The schema that a statement states for the table, view or sequence that it makes, changes or
    drops; empty where it states none."""
    tree = _tree(text)
    if tree is None or tree.args.get("kind") == "INDEX":
        return ""
    named = tree.args.get("tables", [tree.this])[0]
    named = named.this if isinstance(named, exp.Schema) else named
    schema = named.args.get("db") if isinstance(named, exp.Table) else None
    return "" if schema is None else source_name(schema)


def tables_in(text: str) -> list[str]:
    """The names of the tables that a statement speaks of, without their schemas."""
    tree = _tree(text)
    return [] if tree is None else [source_name(one.this) for one in tree.find_all(exp.Table)]


def _tree(text: str) -> exp.Expr | None:
    try:
        return read(text) if text else None
    except SqlgenError:
        return None


def _declared(tree: exp.ColumnDef, key: tuple[str, ...] = ()) -> DeclaredColumn:
    name, kind = source_name(tree.this), tree.args["kind"]
    return DeclaredColumn(
        name,
        kind.meta.get("soliddb") or _TYPE_WORDS[kind.this],
        tuple(int(size.name) for size in kind.expressions),
        is_nullable(tree) and name not in key,
    )
