"""Changes of table structure: what happened, as data, and the statements that repeat it or take it back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from sqlglot import ErrorLevel, exp

from sqlgen.dialects import Profile
from sqlgen.names import identifier, table_expression
from sqlgen.schema import Column, SqlType, Table


class Action(Enum):
    """What happened to a table. ``NOTE`` is an event that no statement repeats, such as a reorganisation."""

    CREATE_TABLE = "create table"
    DROP_TABLE = "drop table"
    ADD_COLUMNS = "add columns"
    DROP_COLUMNS = "drop columns"
    NOTE = "note"


@dataclass(frozen=True)
class StructureChange:
    """``table`` is the table after the change (before it, for DROP_TABLE); ``columns`` are those added or dropped; ``note`` says in words what
    happened. ``reversible`` False: what was there before is not known, so it cannot be taken back."""

    action: Action
    table: Table
    columns: tuple[Column, ...] = ()
    note: str = ""
    reversible: bool = True

    def inverse(self) -> StructureChange | None:
        """The change that takes this one back; None where the former state is not known."""
        inverse = {
            Action.CREATE_TABLE: Action.DROP_TABLE,
            Action.DROP_TABLE: Action.CREATE_TABLE,
            Action.ADD_COLUMNS: Action.DROP_COLUMNS,
            Action.DROP_COLUMNS: Action.ADD_COLUMNS,
            Action.NOTE: Action.NOTE,
        }
        return replace(self, action=inverse[self.action]) if self.reversible else None


_BYTES = frozenset({SqlType.BINARY, SqlType.VARBINARY})
_LENGTH = frozenset({SqlType.CHAR, SqlType.VARCHAR, SqlType.BINARY, SqlType.VARBINARY})


def statement(change: StructureChange, profile: Profile, names: str) -> str:
    """One line of SQL; a comment for a NOTE."""
    if change.action is Action.NOTE:
        return f"-- {change.table.schema}.{change.table.name}: {change.note}"
    table = table_expression(change.table, profile, names)
    if change.action is Action.CREATE_TABLE:
        parts: list[exp.Expr] = [_definition(column, profile, names, True) for column in change.table.columns]
        if change.table.key:
            parts.append(exp.PrimaryKey(expressions=[identifier(name, profile, names) for name in change.table.key]))
        return _sql(exp.Create(this=exp.Schema(this=table, expressions=parts), kind="TABLE"), profile)
    if change.action is Action.DROP_TABLE:
        return _sql(exp.Drop(tables=[table], kind="TABLE"), profile)
    actions: list[exp.Expr]
    if change.action is Action.ADD_COLUMNS:
        actions = [_definition(column, profile, names, False) for column in change.columns]
    else:
        actions = [exp.Drop(tables=[exp.Column(this=identifier(column.name, profile, names))], kind="COLUMN") for column in change.columns]
    return _sql(exp.Alter(this=table, kind="TABLE", actions=actions), profile)


def _definition(column: Column, profile: Profile, names: str, whole: bool) -> exp.ColumnDef:
    """A column of a new table, or one added to a table with rows, which must let them be null: what they get is not in the log."""
    constraints = [exp.ColumnConstraint(kind=exp.NotNullColumnConstraint())] if whole and not column.nullable else []
    return exp.ColumnDef(this=identifier(column.name, profile, names), kind=_type(column), constraints=constraints)


def _type(column: Column) -> exp.DataType:
    if column.type is SqlType.DECIMAL:
        return exp.DataType.build(f"DECIMAL({column.length}, {column.scale})")
    if column.type is SqlType.TIMESTAMP_TZ:
        return exp.DataType.build(f"TIMESTAMPTZ({column.length})")
    if column.type is SqlType.TIMESTAMP:
        return exp.DataType.build(f"TIMESTAMP({column.length})")
    if column.type in _LENGTH and column.length and column.type not in _BYTES:
        return exp.DataType.build(f"{column.type.value}({column.length})")
    return exp.DataType.build("DOUBLE" if column.type is SqlType.DOUBLE else column.type.value)


def _sql(tree: exp.Expr, profile: Profile) -> str:
    return tree.sql(dialect=profile.sqlglot, unsupported_level=ErrorLevel.RAISE) + ";"
