"""What the tables and columns of a schema file are called in the end: a file may rename them, move
tables to another schema, and drop columns together with the keys over them.

Statements speak of tables and columns by the names of their moment. They are given the last names
here, or, where the log does not have these but an earlier one, the name of the log: then it was
written before the rename.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlgen.late import LateModule, exp
from sqlgen.schema import Table

if TYPE_CHECKING:
    from sqlgen import ddl_grammar
else:
    ddl_grammar = LateModule("sqlgen.ddl_grammar")

#: The log's tables by their names without schema.
_Log = dict[str, list[Table]]
#: Where a key that loses a column goes on without it.
_KEYS_SHRINK = frozenset({"mysql", "mariadb", "singlestore", "doris", "starrocks"})


@dataclass(frozen=True)
class Gone:
    """What a file takes back by dropping a column: of which table, and what, in words. ``key``: it
    is a key or foreign key, else a check; ``shrinks``: the other columns may still be a key."""

    table: exp.Table
    said: str
    key: bool
    shrinks: bool = False


@dataclass(frozen=True)
class Followed:
    """``trees`` with the last names; what is ``gone``; ``later``: name of a table at some moment,
    in upper case -> what such tables are called in the end."""

    trees: tuple[exp.Expr, ...]
    gone: tuple[Gone, ...] = ()
    later: dict[str, list[exp.Table]] = field(default_factory=dict)

    def names_of(self, table: exp.Table) -> list[exp.Table]:
        """The table by its own name, and by those that it may have got later."""
        return [table, *self.later.get(spelled(table, "name"), ())]


def spelled(table: exp.Expression, part: str) -> str:
    """A name as it compares; db2look pads schemas with blanks."""
    return str(table.name if part == "name" else table.text(part)).rstrip().upper()


def stated_table(tree: exp.Expr) -> exp.Expression | None:
    """The table that a statement is about."""
    stated: exp.Expression | None = tree.this if isinstance(tree, exp.Create | exp.Alter) else None
    if isinstance(stated, exp.Schema):
        return stated.find(exp.Table)
    return stated.args.get("table") if isinstance(stated, exp.Index) else stated


def followed(trees: Sequence[exp.Expr], dialect: str, tables: Iterable[Table] | None) -> Followed:
    """The statements of a file under the last names, or those of the log's ``tables`` (None: there
    is no log)."""
    if not any(_changes_names(tree) for tree in trees):
        return Followed(tuple(trees))
    names = _Names(dialect)
    own = [tree.copy() for tree in trees]
    for tree in own:
        names.take(tree)
    log: _Log = {}
    for table in tables or ():
        log.setdefault(table.name.upper(), []).append(table)
    return names.settled(own, None if tables is None else log)


def _changes_names(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Alter) and any(
        isinstance(action, exp.AlterRename | exp.RenameColumn) or _drops_column(action)
        for action in tree.args.get("actions") or ()
    )


def _drops_column(action: exp.Expr) -> bool:
    return isinstance(action, exp.Drop) and action.kind == "COLUMN"


@dataclass(eq=False)
class _Column:
    """A column: its names in turn, the places that speak of it."""

    names: list[exp.Expression]
    places: list[exp.Identifier] = field(default_factory=list)
    gone: bool = False


@dataclass(eq=False)
class _Table:
    """A table: its names in turn, the places that speak of it, its columns by their names of the
    moment, and all that it ever had."""

    names: list[exp.Table]
    places: list[exp.Table] = field(default_factory=list)
    columns: dict[str, _Column] = field(default_factory=dict)
    ever: list[_Column] = field(default_factory=list)
    live: bool = True

    def is_called(self, name: str) -> bool:
        """Whether it is there, under a name, at this moment."""
        return self.live and spelled(self.names[-1], "name") == name

    def column(self, name: exp.Expression) -> _Column:
        """The column of a name, at this moment."""
        known = self.columns.get(name.name.upper())
        if known is None:
            known = self.columns[name.name.upper()] = _Column([name.copy()])
            self.ever.append(known)
        return known

    def rename(self, old: exp.Expression, new: exp.Expression) -> None:
        """From here on a column has another name."""
        column = self.column(old)
        self.columns.pop(old.name.upper())
        self.columns[new.name.upper()] = column
        column.names.append(new.copy())

    def drop(self, name: exp.Expression) -> None:
        """From here on there is no such column, until one is added."""
        self.column(name).gone = True
        self.columns.pop(name.name.upper())


class _Names:
    """The tables of a file, statement by statement."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.tables: list[_Table] = []
        #: Tables that have a name now or had it, by that name.
        self.named: dict[str, list[_Table]] = {}

    def _table(self, node: exp.Expression) -> _Table:
        """The table of a name, at this moment."""
        schema, name = spelled(node, "db"), spelled(node, "name")
        same = [table for table in self.named.get(name, ()) if table.is_called(name)]
        schemas = [spelled(table.names[-1], "db") for table in same]
        if schema in schemas:
            return same[schemas.index(schema)]
        loose = [
            table for table, other in zip(same, schemas, strict=True) if not (schema and other)
        ]
        if len(loose) == 1:
            return loose[0]
        last = exp.Table(this=node.this.copy(), db=_copy(node.args.get("db")))
        self.tables.append(_Table([last]))
        self.named.setdefault(name, []).append(self.tables[-1])
        return self.tables[-1]

    def take(self, tree: exp.Expr) -> None:
        """Note what a statement speaks of, and what it changes."""
        for node in tree.find_all(exp.Table):
            if isinstance(node.parent, exp.AlterRename) or _names_index(node):
                continue
            table = self._table(node)
            table.places.append(node)
            if isinstance(tree, exp.Drop):
                table.live = tree.kind != "TABLE"
        stated = stated_table(tree)
        if stated is None or not isinstance(tree, exp.Create | exp.Alter):
            return
        table = self._table(stated)
        for entry in _entries(tree):
            if isinstance(entry, exp.AlterRename):
                new = entry.this
                schema = new.args.get("db") or table.names[-1].args.get("db")
                table.names.append(exp.Table(this=new.this.copy(), db=_copy(schema)))
                called = self.named.setdefault(spelled(new, "name"), [])
                if table not in called:
                    called.append(table)
            elif isinstance(entry, exp.RenameColumn):
                table.rename(entry.this, entry.args["to"])
            elif _drops_column(entry):
                for name in entry.args["tables"]:
                    table.drop(name)
            else:
                self._columns(table, entry)

    def _columns(self, table: _Table, entry: exp.Expr) -> None:
        for name in entry.find_all(exp.Identifier):
            owner, parent = table, name.parent
            if parent is not None and name is not entry:
                reference = name.find_ancestor(exp.Reference)
                if reference is not None and entry.find(exp.Reference) is not None:
                    owner = self._table(_referred(reference))
                named = isinstance(parent, exp.Table | exp.Constraint | exp.ColumnConstraint)
                if named or name.find_ancestor(ddl_grammar.Clause, exp.DataType) is not None:
                    continue
            owner.column(name).places.append(name)

    def settled(self, trees: list[exp.Expr], log: _Log | None) -> Followed:
        """The statements with the last names."""
        dropped = {
            action.expressions[0].name.upper()
            for tree in trees
            for action in tree.args.get("actions") or ()
            if isinstance(action, ddl_grammar.Clause)
            and action.words.startswith("DROP ")
            and action.expressions
        }
        gone: list[Gone] = []
        later: dict[str, list[exp.Table]] = {}
        for table in self.tables:
            last = self._last_name(table, log)
            for place in table.places:
                place.set("this", last.this.copy())
                if last.args.get("db") is not None:
                    place.set("db", last.args["db"].copy())
            for name in table.names if len(table.names) > 1 else ():
                later.setdefault(spelled(name, "name"), []).append(last)
        for table in self.tables:
            known = _columns_of(log, self._last_name(table, log))
            for column in table.ever:
                if column.gone:
                    gone += self._without(trees, column, known, dropped)
                else:
                    self._call(table, column, known)
        return Followed(tuple(trees), tuple(gone), later)

    def _last_name(self, table: _Table, log: _Log | None) -> exp.Table:
        last = table.names[-1]
        if log is None or len(table.names) == 1 or not table.live or _of_log(log, last):
            return last
        for name in reversed(table.names[:-1]):
            plain = spelled(name, "name")
            taken = (one is not table and one.is_called(plain) for one in self.named[plain])
            if _of_log(log, name) and not any(taken):
                return name
        return last

    @staticmethod
    def _call(table: _Table, column: _Column, known: frozenset[str] | None) -> None:
        if len(column.names) == 1:
            return
        last = column.names[-1]
        if known is not None and last.name.upper() not in known:
            earlier = (
                name
                for name in reversed(column.names)
                if name.name.upper() in known and name.name.upper() not in table.columns
            )
            last = next(earlier, last)
        for place in column.places:
            place.set("this", last.name)
            place.set("quoted", last.args.get("quoted"))

    def _without(
        self,
        trees: list[exp.Expr],
        column: _Column,
        known: frozenset[str] | None,
        dropped: set[str],
    ) -> Iterator[Gone]:
        """Take out what states a key or check over a column that is dropped afterwards."""
        stays = known is not None and column.names[-1].name.upper() in known
        for place in column.places:
            tree = place.root()
            stated = stated_table(tree)
            if stated is None or not isinstance(stated, exp.Table):
                continue
            if isinstance(place.parent, exp.ColumnDef) and place.arg_key == "this":
                definition = place.parent
                for named in list(definition.constraints):
                    if (words := _words(named.kind)) is not None:
                        yield self._gone(stated, words, named.name, column, named.kind)
                        named.pop()
                if not stays:
                    _take_out(definition)
            elif (part := _stating(place)) is not None:
                words = _words(part) or ""
                label = _label(part)
                if not label or label.upper() not in dropped:
                    yield self._gone(stated, words, label, column, part)
                if isinstance(part, exp.Index):
                    trees[:] = [one for one in trees if one is not tree]
                else:
                    _take_out(part)

    def _gone(
        self, table: exp.Table, words: str, label: str, column: _Column, part: exp.Expr
    ) -> Gone:
        name = f"{spelled(table, 'db')}.{spelled(table, 'name')}".lstrip(".")
        several = len(_key_columns(part)) > 1
        return Gone(
            table.copy(),
            f"{words} {label or '(unnamed)'} of {name}: the file drops column"
            f" {column.names[-1].name}",
            words != "check",
            words == "key" and several and self.dialect in _KEYS_SHRINK,
        )


def _copy(name: Any) -> Any:
    return name.copy() if isinstance(name, exp.Expr) else None


def _names_index(node: exp.Table) -> bool:
    """Whether what is spelled as a table is the name of an index."""
    above = node.parent
    return node.arg_key in ("this", "tables") and (
        isinstance(above, exp.Index) or (isinstance(above, exp.Drop) and above.kind != "TABLE")
    )


def _entries(tree: exp.Create | exp.Alter) -> list[exp.Expr]:
    """The columns, keys and actions of a statement, in their order."""
    if isinstance(tree, exp.Alter):
        return list(tree.args.get("actions") or ())
    if isinstance(tree.this, exp.Index):
        params = tree.this.args.get("params")
        return [] if params is None else list(params.args.get("columns") or ())
    return list(tree.this.expressions) if isinstance(tree.this, exp.Schema) else []


def _referred(reference: exp.Reference) -> exp.Expression:
    target: exp.Expression = reference.this
    return target.this if isinstance(target, exp.Schema) else target


def _stating(place: exp.Expression) -> exp.Expr | None:
    """What states a key, foreign key or check over a column, from where it speaks of the column."""
    within = place.parent
    found: exp.Expr | None = None
    while within is not None and not isinstance(within, exp.Create | exp.Alter):
        if _words(within) is not None:
            found = within
        within = within.parent
    return found


def _label(part: exp.Expr) -> str:
    """The name of a key, foreign key, check or index."""
    named = part.this if isinstance(part, exp.Index) else part.parent
    kinds = (exp.Constraint, exp.ColumnConstraint, exp.Identifier, exp.Table)
    return str(named.name) if isinstance(named, kinds) else ""


def _words(part: exp.Expr | None) -> str | None:
    """What a part of a statement states."""
    if isinstance(part, exp.ForeignKey | exp.Reference):
        return "foreign key"
    if isinstance(part, exp.CheckColumnConstraint):
        return "check"
    keys = (exp.PrimaryKey, exp.UniqueColumnConstraint, exp.PrimaryKeyColumnConstraint)
    if isinstance(part, keys):
        return "key"
    return "unique index" if isinstance(part, exp.Index) else None


def _key_columns(part: exp.Expr) -> Sequence[exp.Expr]:
    if isinstance(part, exp.UniqueColumnConstraint):
        return part.this.expressions if isinstance(part.this, exp.Schema) else ()
    if isinstance(part, exp.Index):
        return part.args["params"].args.get("columns") or ()
    return part.expressions if isinstance(part, exp.PrimaryKey) else ()


def _take_out(part: exp.Expr) -> None:
    """Take a part out of its statement, with the name that it has as a constraint."""
    above = part.parent
    part.pop()
    if isinstance(above, exp.ColumnConstraint) or (
        isinstance(above, exp.Constraint | exp.AddConstraint) and not above.expressions
    ):
        _take_out(above)


def _of_log(log: _Log, name: exp.Table) -> Table | None:
    schema = spelled(name, "db")
    same = log.get(spelled(name, "name"), [])
    exact = [table for table in same if table.schema.upper() == schema]
    return (exact or same)[0] if exact or len(same) == 1 else None


def _columns_of(log: _Log | None, name: exp.Table) -> frozenset[str] | None:
    """The columns of the log's table, None where there is none."""
    table = None if log is None else _of_log(log, name)
    return None if table is None else frozenset(column.name.upper() for column in table.columns)
