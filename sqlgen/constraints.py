"""Constraints: the unique keys and foreign keys that DDL states about the tables of a log.

Names are those of the log: DDL names are matched without regard to case, with the schema where both state one and by the table's name alone
where only one table of the log has it. Statements about other tables, and everything but keys, are passed over.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import import_module
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlgen.errors import SqlgenError
from sqlgen.schema import Table

#: Statements that state keys.
_ABOUT_KEYS = re.compile(
    r"(CREATE|ALTER)\s(?=.*\bTABLE\b).*\b(UNIQUE|PRIMARY KEY|FOREIGN KEY|REFERENCES)\b|CREATE UNIQUE\b.*\bINDEX\b", re.I
)
#: The dialects that sqlglot has from us.
OWN_DIALECTS = ("db2", "soliddb")


@dataclass(frozen=True)
class ForeignKey:
    """``columns`` of ``table`` refer to ``parent_columns`` of ``parent`` (tables as OWNER.NAME; no parent columns: its primary key).

    ``on_delete`` is NO ACTION, RESTRICT, CASCADE, SET NULL or SET DEFAULT. ``deferrable``: the check can wait for the end of a transaction; what
    else happens on a delete never waits.
    """

    name: str
    table: str
    columns: tuple[str, ...]
    parent: str
    parent_columns: tuple[str, ...] = ()
    on_delete: str = "NO ACTION"
    deferrable: bool = False

    @property
    def waits(self) -> bool:
        """Whether the whole constraint can be left to the end of a transaction."""
        return self.deferrable and self.on_delete == "NO ACTION"


@dataclass(frozen=True)
class Constraints:
    """``keys``: (OWNER.NAME, columns) of primary and unique keys. ``unused``: what was found and cannot be used, in words; ``outside``: (OWNER.NAME,
    in words) of foreign keys to tables that the log does not have."""

    keys: tuple[tuple[str, tuple[str, ...]], ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    unused: tuple[str, ...] = ()
    outside: tuple[tuple[str, str], ...] = ()

    def keys_of(self, table: str) -> list[tuple[str, ...]]:
        """The unique keys of a table: those stated, and those that foreign keys refer to."""
        found = [columns for name, columns in self.keys if name == table]
        found += [foreign.parent_columns for foreign in self.foreign_keys if foreign.parent == table and foreign.parent_columns]
        return list({tuple(sorted(columns)): columns for columns in found}.values())

    def firm(self) -> Constraints:
        """The constraints without the foreign keys that can wait; the keys these refer to stay."""
        stay = tuple(foreign for foreign in self.foreign_keys if not foreign.waits)
        keys = tuple((foreign.parent, foreign.parent_columns) for foreign in self.foreign_keys if foreign.waits and foreign.parent_columns)
        return replace(self, keys=tuple(dict.fromkeys(self.keys + keys)), foreign_keys=stay)

    def foreign_keys_of(self, table: str) -> list[ForeignKey]:
        """The foreign keys of a child table."""
        return [foreign for foreign in self.foreign_keys if foreign.table == table]


def find_table(tree: exp.Expression, tables: Mapping[str, Table]) -> str | None:
    """The name (OWNER.NAME in upper case) of the table that DDL names, None when there is none, or several have that name."""
    schema, name = tree.text("db").upper(), tree.name.upper()
    exact = f"{schema}.{name}"
    if exact in tables:
        return exact
    same = [known for known in tables if known.partition(".")[2] == name]
    return same[0] if len(same) == 1 else None


@dataclass
class _Reader:
    tables: dict[str, Table]
    lenient: bool
    keys: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    foreign_keys: list[ForeignKey] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    outside: list[tuple[str, str]] = field(default_factory=list)

    def find(self, tree: exp.Expression) -> str | None:
        """The log's name of a table, None when the log has no such table."""
        return find_table(tree, self.tables)

    def columns(self, table: str, trees: Iterable[exp.Expression]) -> tuple[str, ...] | None:
        """The log's names of columns, None where the key has one that the log's table does not have (SqlgenError unless ``lenient``)."""
        known = {column.name.upper(): column.name for column in self.tables[table].columns}
        found = []
        for tree in trees:
            name = tree.name.upper()
            if name not in known:
                if self.lenient:
                    self.unused.append(f"a key of {table}: the log's table has no column {tree.name}")
                    return None
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
            self.key(table, entry.expressions)
        elif isinstance(entry, exp.UniqueColumnConstraint):
            self.key(table, entry.this.expressions)
        elif isinstance(entry, exp.ForeignKey):
            self.reference(name, table, entry.expressions, entry.args["reference"])

    def of_column(self, table: str, column: exp.ColumnDef, constraint: exp.ColumnConstraint) -> None:
        if isinstance(constraint.kind, exp.PrimaryKeyColumnConstraint | exp.UniqueColumnConstraint):
            self.key(table, [column])
        elif isinstance(constraint.kind, exp.Reference):
            self.reference(constraint.name, table, [column], constraint.kind)

    def key(self, table: str, trees: Iterable[exp.Expression]) -> None:
        columns = self.columns(table, trees)
        if columns is not None:
            self.keys.append((table, columns))

    def reference(self, name: str, table: str, columns: Sequence[exp.Expression], reference: exp.Expression) -> None:
        target = reference.this
        named = target.this if isinstance(target, exp.Schema) else target
        parent = self.find(named)
        if parent is None:
            spelled = ".".join(filter(None, (named.text("db"), named.name))).upper()
            self.outside.append((table, f"foreign key {name or '(unnamed)'} of {table} to {spelled}"))
            return
        options = " ".join(str(option).upper() for option in reference.args.get("options") or ())
        on_delete = next(
            (rule for rule in ("CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT") if f"ON DELETE {rule}" in options), "NO ACTION"
        )
        own = self.columns(table, columns)
        others = self.columns(parent, target.expressions) if isinstance(target, exp.Schema) else ()
        if own is not None and others is not None:
            deferrable = "DEFERRABLE" in options and "NOT DEFERRABLE" not in options
            self.foreign_keys.append(ForeignKey(name, table, own, parent, others, on_delete, deferrable))

    def index(self, index: Any) -> None:
        table = self.find(index.args["table"])
        if table is None:
            return
        columns = [entry.this if isinstance(entry, exp.Ordered) else entry for entry in index.args["params"].args.get("columns") or ()]
        if index.args["params"].args.get("where"):
            self.unused.append(f"unique index {index.name} on {table}: it is over a part of the rows")
        elif all(isinstance(column, exp.Column | exp.Identifier) for column in columns):
            self.key(table, columns)
        else:
            self.unused.append(f"unique index {index.name} on {table}: it is over an expression")


def parse_constraints(text: str, dialect: str, tables: Sequence[Table], lenient: bool = False) -> Constraints:
    """The keys that the DDL statements in ``text`` state about ``tables``.

    SqlgenError LR1010 when the text is not SQL of the dialect, or a key names a column that the log's table does not have; a ``lenient`` reader
    passes over such a key.
    """
    reader = _Reader({f"{table.schema}.{table.name}".upper(): table for table in tables}, lenient)
    for tree in schema_statements(text, dialect):
        _check_understood(tree, dialect)
        reader.statement(tree)
    keys, foreign_keys = tuple(dict.fromkeys(reader.keys)), tuple(dict.fromkeys(reader.foreign_keys))
    return Constraints(keys, foreign_keys, tuple(reader.unused), tuple(dict.fromkeys(reader.outside)))


def _check_understood(tree: exp.Expr, dialect: str) -> None:
    """SqlgenError (LR1010) for a statement about keys that sqlglot passed over: a key that nobody reads is one that nobody keeps."""
    if isinstance(tree, exp.Command):
        said = " ".join(f"{tree.name} {tree.text('expression')}".split())
        if _ABOUT_KEYS.match(said):
            message = f"found a statement that is not understood as {dialect} SQL: {said[:80]}{'…' if len(said) > 80 else ''}"
            raise SqlgenError(
                "LR1010", message, "Name the dialect of the schema with --schema-dialect, or take the statement out of the file"
            )


@lru_cache(maxsize=1)
def schema_statements(text: str, dialect: str) -> tuple[exp.Expr, ...]:
    """The statements of a schema file, to be read only: those of the last file are kept, because its keys and what else it declares are asked for in
    turn. SqlgenError LR1010 when it is not SQL of the dialect."""
    if dialect in OWN_DIALECTS:
        import_module(f"sqlgen.{dialect}")  # sqlglot knows it from then on
    log = logging.getLogger("sqlglot")
    level = log.level
    log.setLevel(logging.ERROR)  # it warns of each statement that it does not understand; we refuse those that matter
    try:
        return tuple(tree for tree in sqlglot.parse(text, dialect=dialect) if tree is not None)
    except SqlglotError as error:
        message = str(error).splitlines()[0]
        raise SqlgenError("LR1010", f"the schema is not {dialect} SQL: {message}", "Name its dialect with --schema-dialect") from None
    finally:
        log.setLevel(level)
