"""What a CREATE TABLE of solidDB says, taken apart: columns, key, constraints, defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlgen.ddl.expressions import CannotSay, source_name
from sqlgen.schema import Column
from sqlgen.soliddb.columns import column_of


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
            nullable = not any(
                isinstance(c.kind, exp.NotNullColumnConstraint) for c in entry.constraints
            )
            columns.append(column_of(source_name(entry.this), entry.args["kind"], nullable))
            entries += _own_constraints(entry)
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


def _own_constraints(column: exp.ColumnDef) -> list[tuple[exp.Expr | None, exp.Expr]]:
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
