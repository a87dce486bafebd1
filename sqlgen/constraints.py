"""Constraints: the unique keys and foreign keys that DDL states about the tables of a log.

Names are those of the log: DDL names are matched without regard to case, with the schema where both state one and by the table's name alone
where only one table of the log has it. Statements about other tables, and everything but keys, are passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlgen.errors import SqlgenError
from sqlgen.schema import Table


@dataclass(frozen=True)
class ForeignKey:
    """``columns`` of ``table`` refer to ``parent_columns`` of ``parent`` (tables as OWNER.NAME; no parent columns: its primary key).

    ``on_delete`` is NO ACTION, RESTRICT, CASCADE, SET NULL or SET DEFAULT.
    """

    name: str
    table: str
    columns: tuple[str, ...]
    parent: str
    parent_columns: tuple[str, ...] = ()
    on_delete: str = "NO ACTION"
    deferrable: bool = False


@dataclass(frozen=True)
class Constraints:
    """``keys``: (OWNER.NAME, columns) of primary and unique keys. ``unused``: what was found and cannot be used, in words."""

    keys: tuple[tuple[str, tuple[str, ...]], ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    unused: tuple[str, ...] = ()

    def keys_of(self, table: str) -> list[tuple[str, ...]]:
        """The unique keys of a table: those stated, and those that foreign keys refer to."""
        found = [columns for name, columns in self.keys if name == table]
        found += [foreign.parent_columns for foreign in self.foreign_keys if foreign.parent == table and foreign.parent_columns]
        return list({tuple(sorted(columns)): columns for columns in found}.values())

    def foreign_keys_of(self, table: str) -> list[ForeignKey]:
        """The foreign keys of a child table."""
        return [foreign for foreign in self.foreign_keys if foreign.table == table]


@dataclass
class _Reader:
    tables: dict[str, Table]
    keys: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    foreign_keys: list[ForeignKey] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)

    def find(self, tree: exp.Expression) -> str | None:
        """The log's name of a table, None when the log has no such table."""
        schema, name = tree.text("db").upper(), tree.name.upper()
        exact = f"{schema}.{name}"
        if exact in self.tables:
            return exact
        same = [known for known in self.tables if known.partition(".")[2] == name]
        return same[0] if len(same) == 1 else None

    def columns(self, table: str, trees: Iterable[exp.Expression]) -> tuple[str, ...]:
        """The log's names of columns. SqlgenError for a column that the log's table does not have."""
        known = {column.name.upper(): column.name for column in self.tables[table].columns}
        found = []
        for tree in trees:
            name = tree.name.upper()
            if name not in known:
                hint = f"The log's {table} has: {', '.join(known.values())}"
                raise SqlgenError("LR1010", f"found column {tree.name} in a key of {table}; expected a column of the log's table", hint)
            found.append(known[name])
        return tuple(found)

    def statement(self, tree: exp.Expr) -> None:
        if isinstance(tree, exp.Create) and tree.kind == "TABLE" and isinstance(tree.this, exp.Schema):
            table = self.find(tree.this.this)
            if table:
                for entry in tree.this.expressions:
                    self.element(table, entry, "")
        elif isinstance(tree, exp.Create) and tree.kind == "INDEX" and tree.args.get("unique"):
            self.index(tree.this)
        elif isinstance(tree, exp.Alter):
            table = self.find(tree.this)
            for action in tree.args.get("actions") or () if table else ():
                if isinstance(action, exp.AddConstraint):
                    for entry in action.expressions:
                        self.element(str(table), entry, "")

    def element(self, table: str, entry: exp.Expression, name: str) -> None:
        if isinstance(entry, exp.Constraint):
            for part in entry.expressions:
                self.element(table, part, entry.name)
        elif isinstance(entry, exp.ColumnDef):
            for constraint in entry.constraints:
                self.of_column(table, entry, constraint)
        elif isinstance(entry, exp.PrimaryKey):
            self.keys.append((table, self.columns(table, entry.expressions)))
        elif isinstance(entry, exp.UniqueColumnConstraint):
            self.keys.append((table, self.columns(table, entry.this.expressions)))
        elif isinstance(entry, exp.ForeignKey):
            self.reference(name, table, entry.expressions, entry.args["reference"])

    def of_column(self, table: str, column: exp.ColumnDef, constraint: exp.ColumnConstraint) -> None:
        if isinstance(constraint.kind, exp.PrimaryKeyColumnConstraint | exp.UniqueColumnConstraint):
            self.keys.append((table, self.columns(table, [column])))
        elif isinstance(constraint.kind, exp.Reference):
            self.reference(constraint.name, table, [column], constraint.kind)

    def reference(self, name: str, table: str, columns: Sequence[exp.Expression], reference: exp.Expression) -> None:
        target = reference.this
        parent = self.find(target.this if isinstance(target, exp.Schema) else target)
        if parent is None:
            return
        options = " ".join(str(option).upper() for option in reference.args.get("options") or ())
        on_delete = next(
            (rule for rule in ("CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT") if f"ON DELETE {rule}" in options), "NO ACTION"
        )
        self.foreign_keys.append(
            ForeignKey(
                name,
                table,
                self.columns(table, columns),
                parent,
                self.columns(parent, target.expressions) if isinstance(target, exp.Schema) else (),
                on_delete,
                "DEFERRABLE" in options and "NOT DEFERRABLE" not in options,
            )
        )

    def index(self, index: Any) -> None:
        table = self.find(index.args["table"])
        if table is None:
            return
        columns = [entry.this if isinstance(entry, exp.Ordered) else entry for entry in index.args["params"].args.get("columns") or ()]
        if all(isinstance(column, exp.Column | exp.Identifier) for column in columns):
            self.keys.append((table, self.columns(table, columns)))
        else:
            self.unused.append(f"unique index {index.name} on {table}: it is over an expression")


def parse_constraints(text: str, dialect: str, tables: Sequence[Table]) -> Constraints:
    """The keys that the DDL statements in ``text`` state about ``tables``.

    SqlgenError LR1010 when the text is not SQL of the dialect, or a key names a column that the log's table does not have.
    """
    reader = _Reader({f"{table.schema}.{table.name}".upper(): table for table in tables})
    for tree in _statements(text, dialect):
        reader.statement(tree)
    return Constraints(tuple(dict.fromkeys(reader.keys)), tuple(dict.fromkeys(reader.foreign_keys)), tuple(reader.unused))


def _statements(text: str, dialect: str) -> Iterator[exp.Expr]:
    try:
        yield from (tree for tree in sqlglot.parse(text, dialect=dialect) if tree is not None)
    except SqlglotError as error:
        message = str(error).splitlines()[0]
        raise SqlgenError("LR1010", f"the schema is not {dialect} SQL: {message}", "Name its dialect with --schema-dialect") from None
