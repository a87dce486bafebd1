"""DDL from our own :class:`Table` and :class:`Column`: what becomes of types, and one function for
each kind of statement.

Everything is built as sqlglot trees. What a target cannot express raises; a type that holds its
values only nearly says so in a note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from sqlgen.dialects import REFUSED, WIDENED, Profile, TypeRule
from sqlgen.errors import SqlgenError
from sqlgen.lazy_imports import errors, exp
from sqlgen.literals import Policy, literals
from sqlgen.names import identifier, table_expression, target_name
from sqlgen.schema import ARROW_TYPES, Column, SqlType, Table
from sqlgen.value_texts import constant


@dataclass(frozen=True)
class TypeNote:
    """What becomes of a column's type: ``source`` and ``target`` as text, ``fidelity`` (exact,
    widened, lossy or refused) and why."""

    table: str
    column: str
    source: str
    target: str
    fidelity: str
    note: str

    def __str__(self) -> str:
        return (
            f"{self.table}.{self.column}: {self.source} -> {self.target or 'nothing'}:"
            f" {self.fidelity}{', ' + self.note if self.note else ''}"
        )


@dataclass(frozen=True)
class TableIndex:
    """An index: its name, its table, its columns with True where descending, and whether it is
    unique."""

    name: str
    table: Table
    columns: tuple[tuple[str, bool], ...]
    unique: bool = False


# -- types
# -------------------------------------------------------------------------------------------------


def source_type(column: Column) -> str:
    """The type of a column in Db2's words."""
    kind = column.type
    if kind is SqlType.DECIMAL:
        return f"DECIMAL({column.length},{column.scale})"
    if kind is SqlType.TIMESTAMP_TZ:
        return f"TIMESTAMP({column.length}) WITH TIME ZONE"
    sized = kind in (
        SqlType.CHAR,
        SqlType.VARCHAR,
        SqlType.BINARY,
        SqlType.VARBINARY,
        SqlType.TIMESTAMP,
    )
    return f"{kind.value}({column.length})" if sized else kind.value


def type_rule(column: Column, profile: Profile) -> TypeRule:
    """The rule for a column, with its text filled in: the first of the profile's that fits the
    column's type and length."""
    if column.declared:
        return TypeRule(
            column.type,
            column.declared,
            0,
            WIDENED,
            "as the mapping says; whether it holds every value is not checked",
        )
    for rule in profile.types:
        fits = column.length <= (rule.up_to or column.length) and column.scale <= (
            rule.most_scale or column.scale
        )
        if rule.type is column.type and fits:
            length = max(column.length, 1)
            digits = min(column.length, profile.time_digits)
            text = rule.text.format(
                length=length, scale=column.scale, digits=digits, bytes=4 * length
            )
            return replace(rule, text=text)
    return TypeRule(column.type, "", 0, REFUSED, f"{profile.name} has no type for it")


def type_notes(table: Table, profile: Profile) -> list[TypeNote]:
    """What becomes of each column's type in the target."""
    name = f"{table.schema}.{table.name}" if table.schema else table.name
    rules = [(column, type_rule(column, profile)) for column in table.columns]
    return [
        TypeNote(name, column.name, source_type(column), rule.text, rule.fidelity, rule.note)
        for column, rule in rules
    ]


def _type(column: Column, table: Table, profile: Profile) -> exp.Var:
    rule = type_rule(column, profile)
    if rule.fidelity == REFUSED:
        found = f"found column {column.name} of {table.schema}.{table.name}, {source_type(column)}"
        raise SqlgenError(
            "LR3003", f"{found}; {rule.note}", "Leave the column out (--exclude-columns)"
        )
    return exp.Var(this=rule.text)


# -- statements
# -------------------------------------------------------------------------------------------------


def create_table(
    table: Table,
    profile: Profile,
    names: str = "lower",
    words: Mapping[str, str] | None = None,
    constraints: Sequence[str] = (),
) -> str:
    """CREATE TABLE with columns, nullability and the key; ``words`` follow the types of columns,
    ``constraints`` the key. SqlgenError (LR3003) for a column without a type in the target."""
    entries: list[exp.Expr] = [
        column_definition(column, table, profile, names, (words or {}).get(column.name, ""))
        for column in table.columns
    ]
    if table.key and profile.keys is not None:
        entries.append(key_constraint(table, profile, names))
    entries += [exp.Var(this=constraint) for constraint in constraints]
    return _sql(
        exp.Create(
            kind="TABLE",
            this=exp.Schema(this=table_expression(table, profile, names), expressions=entries),
        ),
        profile,
    )


def column_definition(
    column: Column, table: Table, profile: Profile, names: str, words: str = ""
) -> exp.ColumnDef:
    """``name type [words] [NOT NULL]``."""
    constraints = (
        [] if column.nullable else [exp.ColumnConstraint(kind=exp.NotNullColumnConstraint())]
    )
    kind = _type(column, table, profile)
    kind = exp.Var(this=f"{kind.name} {words}") if words else kind
    return exp.ColumnDef(
        this=identifier(column.name, profile, names), kind=kind, constraints=constraints
    )


def key_constraint(table: Table, profile: Profile, names: str) -> exp.Expr:
    """PRIMARY KEY, or UNIQUE where a column of the key may be null."""
    columns = [identifier(name, profile, names) for name in table.key]
    spelled = ", ".join(column.sql(dialect=profile.sqlglot) for column in columns)
    word = "UNIQUE" if any(table.column(name).nullable for name in table.key) else "PRIMARY KEY"
    return exp.Var(this=f"{word} ({spelled}){profile.keys}")


def drop_table(table: Table, profile: Profile, names: str = "lower") -> str:
    """DROP TABLE."""
    return _sql(exp.Drop(kind="TABLE", tables=[table_expression(table, profile, names)]), profile)


def rename_table(table: Table, new_name: str, profile: Profile, names: str = "lower") -> str:
    """ALTER TABLE … RENAME TO, or what the dialect has for it."""
    new = replace(table, name=new_name, schema=table.schema if profile.rename_in_schema else "")
    return _alter(
        table, [exp.AlterRename(this=table_expression(new, profile, names))], profile, names
    )


def add_columns(
    table: Table,
    columns: Sequence[Column],
    profile: Profile,
    names: str = "lower",
    defaults: Sequence[str | None] = (),
) -> list[str]:
    """ALTER TABLE … ADD, a statement for each column. The new columns are nullable: the rows that
    are there have no values for them but ``defaults``, constants of SQL. SqlgenError (LR3003) where
    one is not known (None)."""
    statements = []
    for column, default in zip(columns, defaults or ("NULL",) * len(columns), strict=True):
        definition = column_definition(replace(column, nullable=True), table, profile, names)
        if default is None:
            raise SqlgenError(
                "LR3003",
                f"a default of {table.schema}.{table.name}.{column.name} for the rows that are"
                " there, which neither the log nor the catalog export says",
                "Export the catalog again, with the defaults of its columns",
            )
        value = constant(default, column)
        if value is not None:
            spelled, problems = literals(
                pa.array([value], ARROW_TYPES[column.type]), column, profile, Policy()
            )
            if problems:
                raise SqlgenError("LR3003", f"the default {default} of {column.name}")
            literal = exp.Var(this=spelled[0].as_py())
            kind = exp.DefaultColumnConstraint(this=literal)
            definition.set("constraints", [exp.ColumnConstraint(kind=kind)])
        statements.append(_alter(table, [definition], profile, names))
    return statements


def drop_columns(
    table: Table, columns: Sequence[Column], profile: Profile, names: str = "lower"
) -> list[str]:
    """ALTER TABLE … DROP COLUMN, a statement for each column."""
    drops = [
        exp.Drop(kind="COLUMN", tables=[exp.Column(this=identifier(column.name, profile, names))])
        for column in columns
    ]
    return [_alter(table, [drop], profile, names) for drop in drops]


def rename_column(
    table: Table, old_name: str, new_name: str, profile: Profile, names: str = "lower"
) -> str:
    """ALTER TABLE … RENAME COLUMN."""
    if profile.sqlglot == "tsql":
        of = exp.Column(this=identifier(old_name, profile, names))
        place = ".".join(
            part.sql(dialect="tsql") for part in (table_expression(table, profile, names), of)
        )
        texts = [
            exp.Literal.string(text).sql(dialect="tsql")
            for text in (place, target_name(new_name, profile, names), "COLUMN")
        ]
        return f"EXEC sp_rename {', '.join(texts)};"
    rename = exp.RenameColumn(
        this=identifier(old_name, profile, names), to=identifier(new_name, profile, names)
    )
    return _alter(table, [rename], profile, names)


def create_index(index: TableIndex, profile: Profile, names: str = "lower") -> str:
    """CREATE [UNIQUE] INDEX; '' where the dialect has none and the index is not unique. SqlgenError
    (LR3003) for a unique one there."""
    if not profile.indexes:
        if index.unique and profile.keys != " NOT ENFORCED":
            message = (
                f"found the unique index {index.name}; {profile.name} has no indexes and does not"
                " enforce keys"
            )
            raise SqlgenError("LR3003", message, "Leave its table out (--exclude-table)")
        return ""
    columns = [
        exp.Var(
            this=identifier(name, profile, names).sql(dialect=profile.sqlglot)
            + (" DESC" if descending else "")
        )
        for name, descending in index.columns
    ]
    tree = exp.Index(
        this=identifier(index.name, profile, names),
        table=table_expression(_bare(index.table, profile), profile, names),
        params=exp.IndexParameters(columns=columns),
    )
    text = _sql(exp.Create(kind="INDEX", unique=index.unique, this=tree), profile)
    if profile.indexes in ("index", "both") and index.table.schema:
        text = text.replace("INDEX ", f"INDEX {_schema(index.table, profile, names)}.", 1)
    return text


def drop_index(index: TableIndex, profile: Profile, names: str = "lower") -> str:
    """DROP INDEX; '' where the dialect has none."""
    if not profile.indexes:
        return ""
    name = identifier(index.name, profile, names).sql(dialect=profile.sqlglot)
    if profile.indexes == "of table":
        return (
            f"DROP INDEX {name} ON"
            f" {table_expression(index.table, profile, names).sql(dialect=profile.sqlglot)};"
        )
    return (
        f"DROP INDEX {_schema(index.table, profile, names)}.{name};"
        if index.table.schema
        else f"DROP INDEX {name};"
    )


def create_schema(schema: str, profile: Profile, names: str = "lower") -> str:
    """CREATE SCHEMA; '' for the one that each database has, and where a schema is something else
    (an attached database, a user)."""
    if not profile.schemas or target_name(schema, profile, names) == profile.default_schema:
        return ""
    name = identifier(schema, profile, names).sql(dialect=profile.sqlglot)
    return in_own_batch(f"CREATE {profile.schemas} {name}", profile)


def in_own_batch(statement: str, profile: Profile) -> str:
    """A statement that SQL Server takes only as the first of a batch, so that it may stand anywhere
    in a script."""
    if profile.sqlglot != "tsql":
        return f"{statement};"
    return f"EXEC({exp.Literal.string(statement).sql(dialect='tsql')});"


def _bare(table: Table, profile: Profile) -> Table:
    """The table as CREATE INDEX names it: without schema where that stands at the index."""
    return replace(table, schema="") if profile.indexes == "index" else table


def _schema(table: Table, profile: Profile, names: str) -> str:
    return identifier(table.schema, profile, names).sql(dialect=profile.sqlglot)


def _alter(table: Table, actions: list[exp.Expr], profile: Profile, names: str) -> str:
    return _sql(
        exp.Alter(kind="TABLE", this=table_expression(table, profile, names), actions=actions),
        profile,
    )


def _sql(tree: exp.Expr, profile: Profile) -> str:
    """The text of a tree on one line. SqlgenError (LR3003) for what sqlglot cannot say in the
    dialect."""
    try:
        return tree.sql(dialect=profile.sqlglot, unsupported_level=errors.ErrorLevel.RAISE) + ";"
    except errors.SqlglotError as error:
        raise SqlgenError(
            "LR3003",
            f"{profile.name} cannot say it: {error}",
            "Leave its table out (--exclude-table)",
        ) from error
