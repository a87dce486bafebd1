"""Constraints: the unique keys and foreign keys that DDL states about the tables of a log.

Names are those of the log: DDL names are matched without regard to case, with the schema where both
state one and by the table's name alone where only one table of the log has it. Statements about
other tables, and everything but keys, are passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sqlgen.errors import SqlgenError
from sqlgen.late import LateModule, exp
from sqlgen.schema import Table
from sqlgen.schema_names import followed, spelled, stated_table

if TYPE_CHECKING:
    from sqlgen import ddl_grammar
else:
    ddl_grammar = LateModule("sqlgen.ddl_grammar")

#: Why a constraint is left out that the database does not see to.
NOT_ENFORCED = "NOT ENFORCED, so the database neither checks it nor acts on it"
#: What a key is called that a table of Db2 for z/OS is organized by.
HASH_KEY = "ORGANIZE BY HASH"
_NO_COLUMNS = "it is over more than columns (a period, parts of values or an expression)"
_ENFORCED_LATER = "it is enforced in the end, and was not at first"
_DROPS_KEY = frozenset({"DROP CONSTRAINT", "DROP FOREIGN KEY", "DROP UNIQUE"})
#: The words of a clause about all foreign keys and checks of a table.
ALL_CONSTRAINTS = "ALTER ALL CONSTRAINTS"
_ALTERS_KEY = frozenset({"ALTER CONSTRAINT", "ALTER FOREIGN KEY"})


@dataclass(frozen=True)
class ForeignKey:
    """``columns`` of ``table`` refer to ``parent_columns`` of ``parent`` (tables as OWNER.NAME; no
    parent columns: its primary key).

    ``on_delete`` is NO ACTION, RESTRICT, CASCADE, SET NULL or SET DEFAULT; of the last two,
    ``set_columns`` are those that it sets where these are not all. ``deferrable``: the check can
    wait for the end of a transaction; what else happens on a delete never waits.
    """

    name: str
    table: str
    columns: tuple[str, ...]
    parent: str
    parent_columns: tuple[str, ...] = ()
    on_delete: str = "NO ACTION"
    deferrable: bool = False
    set_columns: tuple[str, ...] = ()

    @property
    def waits(self) -> bool:
        """Whether the whole constraint can be left to the end of a transaction."""
        return self.deferrable and self.on_delete == "NO ACTION"


_KeysByTable = dict[str, dict[tuple[str, ...], tuple[str, ...]]]


@dataclass(frozen=True)
class Constraints:
    """``keys``: (OWNER.NAME, columns) of primary and unique keys. ``unused``: what was found and
    cannot be used, in words; ``outside``: (OWNER.NAME, in words) of foreign keys to tables that the
    log does not have. ``complete``: the foreign keys are all that there are, even where there are
    none; else nobody told of others. ``unread``: what is not understood and may state a key of
    these tables, in words; ``passed``: kind of statement -> how many say nothing of keys.
    ``strange``: no statement of the DDL is about one of these tables."""

    keys: tuple[tuple[str, tuple[str, ...]], ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    unused: tuple[str, ...] = ()
    outside: tuple[tuple[str, str], ...] = ()
    complete: bool = False
    unread: tuple[str, ...] = ()
    passed: tuple[tuple[str, int], ...] = field(default=(), compare=False)
    strange: bool = field(default=False, compare=False)

    @property
    def tell_foreign_keys(self) -> bool:
        """Whether foreign keys are known: some are named, or it is stated that there are none."""
        return self.complete or bool(self.foreign_keys)

    def keys_of(self, table: str) -> list[tuple[str, ...]]:
        """The unique keys of a table: those stated, and those that foreign keys refer to."""
        return list(self._by_table[0].get(table, {}).values())

    def firm(self) -> Constraints:
        """The constraints without the foreign keys that can wait; the keys these refer to stay."""
        return self._without(tuple(foreign for foreign in self.foreign_keys if foreign.waits))

    def without_foreign_keys(self) -> Constraints:
        """The unique keys alone, those that foreign keys refer to among them: for where foreign
        keys do not act."""
        return self._without(self.foreign_keys)

    def _without(self, gone: Sequence[ForeignKey]) -> Constraints:
        """All but some of the foreign keys; the keys that these refer to stay."""
        keys = tuple(
            (foreign.parent, foreign.parent_columns) for foreign in gone if foreign.parent_columns
        )
        known = set(gone)
        return replace(
            self,
            keys=tuple(dict.fromkeys(self.keys + keys)),
            foreign_keys=tuple(one for one in self.foreign_keys if one not in known),
        )

    def foreign_keys_of(self, table: str) -> list[ForeignKey]:
        """The foreign keys of a child table."""
        return list(self._by_table[1].get(table, ()))

    @cached_property
    def _by_table(self) -> tuple[_KeysByTable, dict[str, list[ForeignKey]]]:
        """Unique keys by their columns in order, and foreign keys, of each table."""
        keys: _KeysByTable = {}
        foreign_keys: dict[str, list[ForeignKey]] = {}
        referred = [(foreign.parent, foreign.parent_columns) for foreign in self.foreign_keys]
        for name, columns in (*self.keys, *(entry for entry in referred if entry[1])):
            keys.setdefault(name, {})[tuple(sorted(columns))] = columns
        for foreign in self.foreign_keys:
            foreign_keys.setdefault(foreign.table, []).append(foreign)
        return keys, foreign_keys


class TableNames:
    """Which table of the log DDL means: the one with the schema and name that it says, else the
    only one with the name, unless the file tells of several such tables, or of the log's too."""

    def __init__(self, tables: Iterable[str], trees: Iterable[exp.Expr] = ()) -> None:
        self._tables = frozenset(tables)
        self._stated: dict[str, set[str]] = {}
        for tree in trees:
            if (table := stated_table(tree)) is not None:
                self._stated.setdefault(spelled(table, "name"), set()).add(spelled(table, "db"))
        #: Tables of the log that the file has under several other schemas, and under which.
        self.doubtful: dict[str, set[str]] = {}

    def find(self, tree: exp.Expression) -> str | None:
        """OWNER.NAME in upper case, None when the log has no such table."""
        schema, name = spelled(tree, "db"), spelled(tree, "name")
        exact = f"{schema}.{name}"
        if exact in self._tables:
            return exact
        same = [known for known in self._tables if known.partition(".")[2] == name]
        if len(same) != 1:
            return None
        stated = self._stated.get(name, set()) - {""}
        if schema and same[0].partition(".")[0] in stated:
            return None
        if schema and len(stated) > 1:
            self.doubtful[same[0]] = stated
            return None
        return same[0]


@dataclass
class _Reader:
    tables: dict[str, Table]
    names: TableNames
    lenient: bool
    #: (name, table, columns) of each key.
    keys: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)
    #: Of these, the primary one of a table.
    primary: dict[str, tuple[str, str, tuple[str, ...]]] = field(default_factory=dict)
    foreign_keys: list[ForeignKey] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    outside: list[tuple[str, str]] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    #: (table, name), in upper case, of constraints that are no keys, and of keys that the database
    #: does not see to.
    others: set[tuple[str, str]] = field(default_factory=set)
    unenforced: set[tuple[str, str]] = field(default_factory=set)
    #: Keys and foreign keys that the file switches off, which it may switch on again.
    keys_off: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)
    foreign_off: list[ForeignKey] = field(default_factory=list)

    def find(self, tree: exp.Expression) -> str | None:
        """The log's name of a table, None when the log has no such table."""
        return self.names.find(tree)

    def columns(self, table: str, trees: Iterable[exp.Expression]) -> tuple[str, ...] | None:
        """The log's names of columns, None where the key has one that the log's table does not have
        (SqlgenError unless ``lenient``)."""
        known = {column.name.upper(): column.name for column in self.tables[table].columns}
        declared = []
        for tree in trees:
            name = tree.name.upper()
            if name not in known:
                if self.lenient:
                    self.unused.append(
                        f"a key of {table}: the log's table has no column {tree.name}"
                    )
                    return None
                hint = f"The log's {table} has: {', '.join(known.values())}"
                raise SqlgenError(
                    "LR1010",
                    f"found column {tree.name} in a key of {table}; expected a column of the log's"
                    " table",
                    hint,
                )
            declared.append(known[name])
        return tuple(declared)

    def statement(self, tree: exp.Expr) -> None:
        if (
            isinstance(tree, exp.Create)
            and tree.kind == "TABLE"
            and isinstance(tree.this, exp.Schema)
        ):
            table = self.find(tree.this.this)
            if table:
                for entry in tree.this.expressions:
                    self.element(table, entry, "")
        elif isinstance(tree, exp.Create) and tree.kind == "INDEX" and tree.args.get("unique"):
            self.index(tree.this, tree.args.get("clauses") or ())
        elif isinstance(tree, exp.Drop) and tree.kind == "INDEX":
            self.drop_index(tree)
        elif isinstance(tree, exp.Alter):
            table = self.find(tree.this)
            for action in tree.args.get("actions") or () if table else ():
                self.action(str(table), action)
        elif (
            isinstance(tree, ddl_grammar.VerbatimStatement) and tree.args["this"] == "RENAME INDEX"
        ):
            self.rename(None, *(name.name for name in tree.expressions))

    def action(self, table: str, action: exp.Expr) -> None:
        if isinstance(action, exp.AddConstraint):
            for entry in action.expressions:
                self.element(table, entry, "")
        elif isinstance(action, exp.ColumnDef):
            self.element(table, action, "")
        elif isinstance(action, ddl_grammar.Clause) and action.words == "DROP PRIMARY KEY":
            self.drop_primary(table)
        elif isinstance(action, ddl_grammar.Clause) and action.words == "DROP ORGANIZATION":
            self.drop(table, HASH_KEY)
        elif isinstance(action, ddl_grammar.Clause) and action.words in _DROPS_KEY:
            self.drop(table, action.expressions[0].name)
        elif isinstance(action, exp.Drop) and action.kind == "CONSTRAINT":
            named = action.find(exp.Identifier)
            self.drop(table, named.name if named else "")
        elif isinstance(action, ddl_grammar.Clause) and action.words == "RENAME CONSTRAINT":
            self.rename(table, *(name.name for name in action.expressions))
        elif isinstance(action, ddl_grammar.Clause) and action.words in _ALTERS_KEY:
            name, *rest = (part.name for part in action.expressions)
            self.switch(table, name, rest)
        elif isinstance(action, ddl_grammar.Clause) and action.words == ALL_CONSTRAINTS:
            self.switch_all(table, [part.name for part in action.expressions] == ["ENFORCED"])

    def switch_all(self, table: str, enforced: bool) -> None:
        """All foreign keys of a table are enforced from here on, or none is."""
        if enforced:
            back = [key for key in self.foreign_off if key.table == table]
            self.foreign_keys += back
            self.foreign_off = [key for key in self.foreign_off if key.table != table]
            notes = {f"{key.name} of {table}: {NOT_ENFORCED}" for key in back}
            self.unused = [one for one in self.unused if one not in notes]
            for _, name in sorted(place for place in self.unenforced if place[0] == table):
                self.unread.append(f"{name} of {table}: {_ENFORCED_LATER}")
            return
        off = [key for key in self.foreign_keys if key.table == table]
        self.foreign_keys = [key for key in self.foreign_keys if key.table != table]
        self.foreign_off += off
        self.unused += [f"{key.name} of {table}: {NOT_ENFORCED}" for key in off]

    def switch(self, table: str, name: str, state: Sequence[str]) -> None:
        """A constraint is enforced from here on, or is not."""
        place = (table, name.upper())

        def named(of: str, known: str) -> bool:
            return (of, known.upper()) == place

        keys = [key for key in self.keys if named(key[1], key[0])]
        foreign = [key for key in self.foreign_keys if named(key.table, key.name)]
        begins = _said(name, table).upper()
        outside = [one for one in self.outside if one[1].upper().startswith(begins)]
        note = f"{name} of {table}: {NOT_ENFORCED}"
        if "ENFORCED" not in state:
            return
        back = [key for key in self.keys_off if named(key[1], key[0])]
        foreign_back = [key for key in self.foreign_off if named(key.table, key.name)]
        stated = place in self.others or place in self.unenforced
        if not (keys or foreign or outside or back or foreign_back or stated):
            said = NOT_ENFORCED if state[0] == "NOT" else "it is enforced"
            self.unread.append(f"{name} of {table}: {said}, and not stated in the file")
        if state[0] == "NOT":
            self.keys_off += keys
            self.foreign_off += foreign
            self.drop(table, name)
            self.unused.append(note)
            return
        self.keys += back
        self.foreign_keys += foreign_back
        self.keys_off = [key for key in self.keys_off if key not in back]
        self.foreign_off = [key for key in self.foreign_off if key not in foreign_back]
        self.unused = [one for one in self.unused if one != note]
        if place in self.unenforced:
            self.unread.append(f"{name} of {table}: {_ENFORCED_LATER}")

    def drop_primary(self, table: str) -> None:
        """Forget the primary key that the file stated, or else the one that the log tells of."""
        stated, own = self.primary.pop(table, None), set(self.tables[table].key)
        if stated is not None and stated in self.keys:
            self.keys.remove(stated)
        elif stated is None:
            self.keys = [one for one in self.keys if one[1] != table or set(one[2]) != own]

    def drop(self, table: str, name: str) -> None:
        """Forget a key that the file drops again."""

        def stays(of: str, known: str) -> bool:
            return of != table or known.upper() != name.upper()

        self.keys = [key for key in self.keys if stays(key[1], key[0])]
        self.foreign_keys = [key for key in self.foreign_keys if stays(key.table, key.name)]
        begins = _said(name, table).upper()
        self.outside = [one for one in self.outside if not one[1].upper().startswith(begins)]

    def rename(self, table: str | None, old: str, new: str) -> None:
        """Call a key otherwise from here on; an index is named without its table."""

        def name(of: str, known: str) -> str:
            return new if of in (table or of,) and known.upper() == old.upper() else known

        self.keys = [(name(key[1], key[0]), *key[1:]) for key in self.keys]
        self.primary = {of: (name(of, key[0]), *key[1:]) for of, key in self.primary.items()}
        self.foreign_keys = [
            replace(key, name=name(key.table, key.name)) for key in self.foreign_keys
        ]

    def drop_index(self, tree: exp.Drop) -> None:
        """Forget the key of a unique index that the file drops again."""
        names = {spelled(name, "name") for name in tree.args.get("tables") or ()}
        on = tree.args.get("expression")
        table = None if on is None else self.find(on)
        self.keys = [
            key
            for key in self.keys
            if key[0].upper() not in names or (on is not None and key[1] != table)
        ]

    def element(self, table: str, entry: exp.Expression, name: str) -> None:
        if isinstance(entry, exp.Constraint):
            for part in entry.expressions:
                self.element(table, part, entry.name)
            self.others.add((table, entry.name.upper()))
        elif isinstance(entry, exp.ColumnDef):
            for constraint in entry.constraints:
                if isinstance(constraint, exp.ColumnConstraint):  # words of no meaning are none
                    self.of_column(table, entry, constraint)
                    self.others.add((table, constraint.name.upper()))
        elif isinstance(entry, exp.PrimaryKey):
            self.key(table, entry.expressions, name, entry)
        elif isinstance(entry, exp.UniqueColumnConstraint):
            self.key(table, entry.this.expressions, name, entry)
        elif isinstance(entry, exp.ForeignKey):
            some = entry.args.get("set_columns") or ()
            self.reference(name, table, entry.expressions, entry.args["reference"], some)

    def of_column(
        self, table: str, column: exp.ColumnDef, constraint: exp.ColumnConstraint
    ) -> None:
        if isinstance(constraint.kind, exp.PrimaryKeyColumnConstraint | exp.UniqueColumnConstraint):
            self.key(table, [column], constraint.name, constraint.kind)
        elif isinstance(constraint.kind, exp.Reference):
            self.reference(constraint.name, table, [column], constraint.kind)

    def key(
        self, table: str, trees: Iterable[exp.Expression], name: str, stated: exp.Expression
    ) -> None:
        if "NOT ENFORCED" in options_of(stated):
            self.unused.append(f"key {name or '(unnamed)'} of {table}: {NOT_ENFORCED}")
            self.unenforced.add((table, name.upper()))
            return
        trees = list(trees)
        if not all(isinstance(tree, exp.Column | exp.Identifier | exp.ColumnDef) for tree in trees):
            self.unused.append(f"key {name or '(unnamed)'} of {table}: {_NO_COLUMNS}")
            return
        columns = self.columns(table, trees)
        if columns is not None:
            self.keys.append((name, table, columns))
            if isinstance(stated, exp.PrimaryKey | exp.PrimaryKeyColumnConstraint):
                self.primary[table] = self.keys[-1]

    def reference(
        self,
        name: str,
        table: str,
        columns: Sequence[exp.Expression],
        reference: exp.Expression,
        set_columns: Sequence[exp.Expression] = (),
    ) -> None:
        target = reference.this
        named = target.this if isinstance(target, exp.Schema) else target
        options = " ".join(options_of(reference))
        said = _said(name, table)
        if "NOT ENFORCED" in options:
            self.unused.append(f"{said.rstrip()}: {NOT_ENFORCED}")
            self.unenforced.add((table, name.upper()))
            return
        parent = self.find(named)
        if parent is None:
            to = ".".join(filter(None, (spelled(named, "db"), spelled(named, "name"))))
            self.outside.append((table, f"{said}to {to}"))
            return
        on_delete = next(
            (
                rule
                for rule in ("CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT")
                if f"ON DELETE {rule}" in options
            ),
            "NO ACTION",
        )
        own = self.columns(table, columns)
        others = self.columns(parent, target.expressions) if isinstance(target, exp.Schema) else ()
        some = self.columns(table, set_columns)
        if own is not None and others is not None and some is not None:
            deferrable = "DEFERRABLE" in options and "NOT DEFERRABLE" not in options
            sets = () if set(some) == set(own) else some
            self.foreign_keys.append(
                ForeignKey(name, table, own, parent, others, on_delete, deferrable, sets)
            )

    def index(self, index: Any, clauses: Sequence[ddl_grammar.Clause]) -> None:
        table = self.find(index.args["table"])
        if table is None:
            return
        columns = [_indexed(entry) for entry in index.args["params"].args.get("columns") or ()]
        name = index.this.name if isinstance(index.this, exp.Expression) else ""
        if index.args["params"].args.get("where"):
            self.unused.append(f"unique index {name} on {table}: it is over a part of the rows")
        elif any(clause.words == ddl_grammar.PARTS_OF_VALUES for clause in clauses):
            self.unused.append(f"unique index {name} on {table}: it is over parts of values")
        elif all(isinstance(column, exp.Column | exp.Identifier) for column in columns):
            self.key(table, columns, name, index)
        else:
            self.unused.append(f"unique index {name} on {table}: it is over an expression")


def _said(name: str, table: str) -> str:
    """How messages about a foreign key begin."""
    return f"foreign key {name or '(unnamed)'} of {table} "


def _indexed(entry: exp.Expression) -> Any:
    """The column of an entry of an index; Db2 may keep its values in an order of chance."""
    clause = entry.this
    if isinstance(clause, ddl_grammar.Clause) and not clause.words:
        column, *order = clause.expressions or [entry]
        return column if [part.name for part in order] == ["RANDOM"] else entry
    return clause if isinstance(entry, exp.Ordered) else entry


def parse_constraints(
    text: str, dialect: str, tables: Sequence[Table], lenient: bool = False
) -> Constraints:
    """The keys that the DDL statements in ``text`` state about ``tables``.

    SqlgenError LR1010 when nothing in the text is understood as SQL of the dialect, or a key names
    a column that the log's table does not have; a ``lenient`` reader passes over such a key.
    """
    by_name = {f"{table.schema}.{table.name}".upper(): table for table in tables}
    from sqlgen.schema_statements import schema_statements

    schema = schema_statements(text, dialect)
    last = followed(schema.trees, dialect, tables)
    names = TableNames(by_name, last.trees)
    reader = _Reader(by_name, names, lenient)
    for tree in _not_dropped(last.trees, names):
        reader.statement(tree)
    unread = [
        str(part)
        for part in schema.unread
        if part.keys and (part.table is None or any(map(names.find, last.names_of(part.table))))
    ]
    for gone in last.gone:
        if gone.key and names.find(gone.table):
            reader.unused.append(gone.said)
            if gone.shrinks:
                unread.append(f"{gone.said}, and whether the others are unique is not said")
    unread += [
        f"the schemas {', '.join(sorted(schemas))} have a table of the name of {table} each, and"
        " which of them is meant is not said"
        for table, schemas in names.doubtful.items()
    ]
    return Constraints(
        tuple(dict.fromkeys((table, columns) for _, table, columns in reader.keys)),
        tuple(dict.fromkeys(reader.foreign_keys)),
        tuple(reader.unused),
        tuple(dict.fromkeys(reader.outside)),
        unread=(*unread, *reader.unread),
        passed=schema.passed,
        strange=bool(by_name)
        and not any(names.find(table) for table in map(stated_table, last.trees) if table),
    )


def _not_dropped(trees: Sequence[exp.Expr], names: TableNames) -> list[exp.Expr]:
    """The statements without those about tables that the file drops after them."""
    dropped: set[str | None] = set()
    stay = []
    for tree in reversed(trees):
        if isinstance(tree, exp.Drop) and tree.kind == "TABLE":
            dropped |= {names.find(table) for table in tree.find_all(exp.Table)} - {None}
            continue
        stated = stated_table(tree)
        if not dropped or stated is None or names.find(stated) not in dropped:
            stay.append(tree)
    return stay[::-1]


def options_of(stated: exp.Expression) -> list[str]:
    """The options of a key, foreign key or check, in upper case."""
    return [
        option.words if isinstance(option, ddl_grammar.Clause) else str(option).upper()
        for option in stated.args.get("options") or ()
    ]
