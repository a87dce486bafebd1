"""What a schema file says of the tables of a log, as its statements are read: keys, foreign keys
and checks; in the end they are Constraints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlgen.ddl.ddl_clauses import (
    MYSQLS,
    PERIOD,
    CheckClause,
    ColumnEntry,
    KeyClause,
    ReferenceClause,
)
from sqlgen.errors import SqlgenError
from sqlgen.names import alike
from sqlgen.schema import ACTIONS, Constraints, ForeignKey, Table

#: Why a constraint is left out that the database does not see to.
NOT_ENFORCED = "NOT ENFORCED, so the database neither checks it nor acts on it"
WORD = re.compile(r"[\w@#$]+")


@dataclass
class Facts:
    """What a file says of one table: its ``columns`` by their names in upper case, ``checks``
    (table's and columns'), and ``notes`` on what cannot be told of its values."""

    columns: dict[str, ColumnEntry] = field(default_factory=dict)
    checks: list[CheckClause] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(eq=False)
class _Stated:
    """A key or foreign key of a table; ``gone``: the file drops it again."""

    table: str
    clause: KeyClause | ReferenceClause
    parent: str = ""
    gone: bool = False
    enforced: bool = True

    @property
    def said(self) -> str:
        name = self.clause.name or "(unnamed)"
        if isinstance(self.clause, ReferenceClause):
            return f"foreign key {name} of {self.table}"
        return f"key {name} of {self.table}"


@dataclass(frozen=True)
class Schema:
    """What is known after a file: ``facts`` by OWNER.NAME in upper case; ``tables``: (schema, name)
    of those that it defines, as they are spelled."""

    constraints: Constraints
    facts: dict[str, Facts]
    tables: dict[str, tuple[str, str]]


class TableNames:
    """Which table of the log DDL means: the one with the schema and name that it says, else the
    only one with the name, unless the file tells of several such tables, or of the log's too. It
    means none where two tables of the file have names that differ in case only, where
    these are two for the database (``cased``)."""

    def __init__(self, tables: Sequence[str], cased: bool = False) -> None:
        self.cased, self.known = cased, frozenset(tables)
        self.by_name: dict[str, list[str]] = {}
        for table in sorted(self.known):
            self.by_name.setdefault(table.partition(".")[2], []).append(table)
        self.stated: dict[str, set[str]] = {}
        self.spelled: dict[tuple[str, str], set[str]] = {}
        #: Tables of the log that the file may mean, and why it is not known.
        self.doubtful: dict[str, str] = {}

    def state(self, name: tuple[str, str], spelled: str) -> None:
        """Note that the file is about a table."""
        self.stated.setdefault(name[1], set()).add(name[0])
        self.spelled.setdefault(name, set()).add(cased(spelled))

    def find(self, name: tuple[str, str]) -> str:
        """OWNER.NAME in upper case, "" when the log has no such table."""
        found, several = self._found(name), sorted(self.spelled.get(name, ()))
        if found and self.cased and len(several) > 1:
            self.doubtful[found] = f"the tables {', '.join(several)} differ in case only"
            return ""
        return found

    def _found(self, name: tuple[str, str]) -> str:
        schema, own = name
        exact, same = f"{schema}.{own}", self.by_name.get(own, [])
        if exact in self.known:
            return exact
        if len(same) != 1:
            return ""
        stated = self.stated.get(own, set()) - {""}
        if schema and same[0].partition(".")[0] in stated:
            return ""
        if schema and len(stated) > 1:
            homes = ", ".join(sorted(stated))
            self.doubtful[same[0]] = f"the schemas {homes} have a table like {same[0]} each"
            return ""
        return same[0]


class SchemaFacts:
    """What is known of the tables after some statements. ``log``: the tables of the log by
    OWNER.NAME in upper case; ``wants_all``: there is none, all tables of the file matter."""

    names: TableNames
    own: Sequence[str] = ()  # the name of the table that a statement is about, as it says it

    def __init__(self, dialect: str, tables: Sequence[Table] | None) -> None:
        self.dialect = dialect
        self.log = {f"{table.schema}.{table.name}".upper(): table for table in tables or ()}
        self.wants_all = tables is None
        self.facts: dict[str, Facts] = {}
        self.keys: list[_Stated] = []
        self.outside: list[tuple[str, str, str]] = []
        self.referred: list[tuple[str, tuple[str, ...]]] = []
        #: Foreign keys to tables of the log, of other tables too: the child, and the parent.
        self.towards: list[tuple[str, ReferenceClause, str]] = []
        self.unused: list[tuple[str, str]] = []  # of which table
        self.unread: list[str] = []
        #: What is renamed: tables, or columns of a table.
        self.renames: list[tuple[list[str], list[str]]] = []
        #: History tables of the log, and the temporal tables that they belong to.
        self.history: dict[str, str] = {}
        self.passed = 0
        self.schema = ""  # that of names without one
        self.table = ""  # of the log, that a statement is about

    def _qualified(self, parts: Sequence[str], schema: str) -> tuple[str, str]:
        """(schema, name) in upper case, as names compare."""
        own = parts[-2] if len(parts) > 1 else schema
        return own.upper(), parts[-1].upper()

    def _find(self, parts: Sequence[str]) -> str:
        return self.names.find(self._qualified(parts, self.schema))

    def _of(self, table: str) -> Facts:
        return self.facts.setdefault(table, Facts())

    def _key(self, key: KeyClause) -> None:
        if not self.table:
            return
        name = key.name or "(unnamed)"
        if key.problem == PERIOD:
            self.unused.append((self.table, f"key {name} of {self.table}: {key.problem}"))
        elif key.problem:
            self.unused.append(
                (self.table, f"unique index {key.name} on {self.table}: {key.problem}")
            )
        else:
            stated = _Stated(self.table, key, enforced=key.enforced)
            if not key.enforced:
                self.unused.append((self.table, f"{stated.said}: {NOT_ENFORCED}"))
            self.keys.append(stated)

    def _reference(self, reference: ReferenceClause) -> None:
        parent, enforced = self._find(reference.parent), reference.options.enforced
        if parent and enforced:
            self.towards.append((self._own_name(), reference, parent))
        if not self.table:
            if parent and enforced:
                self.referred.append((parent, tuple(_upper(reference.parent_columns))))
            return
        stated = _Stated(self.table, reference, parent, enforced=enforced)
        if not enforced:
            self.unused.append((self.table, f"{stated.said}: {NOT_ENFORCED}"))
        elif not parent:
            to = ".".join(filter(None, self._qualified(reference.parent, self.schema)))
            self.outside.append((self.table, reference.name, f"{stated.said} to {to}"))
            return
        self.keys.append(stated)

    def _forget(self, table: str) -> None:
        """All that was said of a table that is dropped."""
        if not table:
            return
        self.facts.pop(table, None)
        self.keys = [key for key in self.keys if key.table != table]
        self.towards = [one for one in self.towards if one[0] != table]
        self.outside = [one for one in self.outside if one[0] != table]
        self.unused = [one for one in self.unused if one[0] != table]

    def _own_name(self) -> str:
        """The table that a statement is about, which the log may not have."""
        return self.table or ".".join(filter(None, self._qualified(self.own, self.schema)))

    def _versioning(self, history: Sequence[str] | None) -> None:
        """The table that a statement is about has another as its history table, or none any
        more."""
        own = self._own_name()
        self.history = {name: table for name, table in self.history.items() if table != own}
        if history is not None and (found := self._find(history)):
            self.history[found] = own

    def _call(self, table: str | None, old: str, new: str) -> None:
        """Call a key otherwise from here on; an index is named without its table."""
        for key in self.keys:
            if table in (None, key.table) and key.clause.name.upper() == old.upper():
                key.clause.name = new

    def _give_up(self, names: set[str], primary: bool, drops: str) -> bool:
        """Use nothing any more of what the file stated of the table that has one of some names (in
        upper case), is over a column of one, or is its ``primary`` key. ``drops``: whether these
        are columns, or constraints that are no more ('': that may be switched off). False where
        nothing has such a name, and of constraints that the file does not state."""
        found = drops == "column" and bool(names)
        for key in [key for key in self.keys if not key.gone]:
            clause, own = key.clause, key.table == self.table
            hit = {*_upper(clause.columns)} & names if own and drops == "column" else set()
            if isinstance(clause, ReferenceClause):
                if key.parent == self.table and drops == "column":
                    hit |= {*_upper(clause.parent_columns)} & names
            elif own and primary and clause.primary:
                hit = {clause.name}
            if not hit and not (own and clause.name.upper() in names):
                continue
            found = key.gone = True
            if drops != "constraint":
                said = f"the file drops column {min(hit)}" if hit else NOT_ENFORCED
                self.unused.append((key.table, f"{key.said}: {said}"))
            several = isinstance(clause, KeyClause) and len(clause.columns) > 1
            found &= not (hit and several and self.dialect in MYSQLS)
        left = [one for one in self.outside if one[0] != self.table or one[1].upper() not in names]
        found |= len(left) < len(self.outside)
        self.outside, facts = left, self._of(self.table)
        for check in list(facts.checks):
            over = names & {*WORD.findall(check.condition.upper())} if drops == "column" else set()
            if over or check.name.upper() in names:
                found = True
                facts.checks.remove(check)
                if over:
                    said = f"the file drops column {min(over)}"
                    facts.notes.append(f"check {check.name or '(unnamed)'} of {self.table}: {said}")
        known = self.log.get(self.table)
        kept = {column.name.upper() for column in known.columns} if known else set()
        for name in names - kept if drops == "column" else ():
            facts.columns.pop(name, None)
        return found

    def _constraints(self, lenient: bool, about: bool) -> Constraints:
        tables, columns = set[str](), set[tuple[str, str]]()
        for names, of_them in self.renames:
            tables |= set() if of_them else {*names}
            columns |= {(table, name) for table in names for name in of_them}
        keys: list[tuple[str, tuple[str, ...]]] = []
        deferrable = set[tuple[str, frozenset[str]]]()
        foreign_keys: list[ForeignKey] = []
        for stated in self.keys:
            clause = stated.clause
            touched = {(stated.table, name) for name in _upper(clause.columns)}
            if isinstance(clause, ReferenceClause):
                touched |= {(stated.parent, name) for name in _upper(clause.parent_columns)}
            renamed = tables & {stated.table, stated.parent} or columns & touched
            if stated.gone or renamed or not stated.enforced:
                continue
            own = self._columns(stated.table, clause.columns, lenient)
            if isinstance(clause, KeyClause):
                if own is not None:
                    keys.append((stated.table, own))
                    deferrable |= {(stated.table, frozenset(own))} if clause.deferrable else set()
                continue
            others = self._columns(stated.parent, clause.parent_columns, lenient)
            some = self._columns(stated.table, clause.options.set_columns, lenient)
            if own is not None and others is not None and some is not None:
                sets = () if {*some} == {*own} else some
                options = clause.options
                foreign_keys.append(
                    ForeignKey(
                        clause.name,
                        stated.table,
                        own,
                        stated.parent,
                        others,
                        options.on_delete,
                        bool(options.deferrable),
                        sets,
                    )
                )
        self.unread += [
            f"{why}, and which of them is meant is not said" for why in self.names.doubtful.values()
        ]
        return Constraints(
            tuple(dict.fromkeys(keys)),
            tuple(dict.fromkeys(foreign_keys)),
            tuple(said for _, said in self.unused),
            tuple(dict.fromkeys((table, said) for table, _, said in self.outside)),
            referred=tuple(dict.fromkeys(self.referred)),
            unread=tuple(dict.fromkeys(self.unread)),
            passed=self.passed,
            strange=bool(self.log) and not about,
            acting=tuple(self._acting(lenient)),
            history=tuple(self.history.items()),
            deferrable=frozenset(deferrable),
        )

    def _acting(self, lenient: bool) -> Iterator[ForeignKey]:
        """The foreign keys to tables of the log that change rows of their own by themselves."""
        for child, clause, parent in self.towards:
            options = clause.options
            columns = self._columns(parent, clause.parent_columns, lenient)
            if {options.on_delete, options.on_update} & ACTIONS:
                yield ForeignKey(
                    clause.name,
                    child,
                    tuple(clause.columns),
                    parent,
                    columns or (),
                    options.on_delete,
                    on_update=options.on_update,
                )

    def _columns(self, table: str, names: Sequence[str], lenient: bool) -> tuple[str, ...] | None:
        """The log's names of columns, None where the key has one that the log's table does not
        have."""
        if self.wants_all:
            own = self.facts.get(table, Facts()).columns
            known = {name: column.spelled for name, column in own.items()}
        else:
            known = {column.name.upper(): column.name for column in self.log[table].columns}
            doubles = alike(column.name for column in self.log[table].columns)
            if several := [name for name in names if name.upper() in doubles]:
                said = f"a key of {table}: columns of the log's table differ from {several[0]} in"
                self.unused.append((table, f"{said} case only, and which is meant is not known"))
                return None
        found = [known.get(name.upper()) for name in names]
        missing = [name for name, one in zip(names, found, strict=True) if one is None]
        if not missing:
            return tuple(name for name in found if name is not None)
        if not (lenient or self.wants_all):
            raise SqlgenError(
                "LR1010",
                f"found column {missing[0]} in a key of {table}; expected a column of the log's"
                " table",
                f"The log's {table} has: {', '.join(known.values())}",
            )
        self.unused.append((table, f"a key of {table}: the log's table has no column {missing[0]}"))
        return None


def cased(name: str) -> str:
    """A name as it is where it has letters of both cases, else in upper case: who folds names has
    all of them in one case."""
    return name.upper() if name in (name.lower(), name.upper()) else name


def same(name: str, other: str) -> bool:
    """Whether two names are equal as they compare."""
    return name.upper() == other.upper()


def _upper(names: Sequence[str]) -> list[str]:
    return [name.upper() for name in names]
