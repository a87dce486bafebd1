"""What a schema file says of the tables of a log, as its statements are read: keys, foreign keys
and checks come and go, are switched on and off, renamed; in the end they are Constraints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlgen.constraints import Constraints, ForeignKey
from sqlgen.ddl.ddl_clauses import (
    MYSQLS,
    PERIOD,
    CheckClause,
    ColumnEntry,
    KeyClause,
    ReferenceClause,
)
from sqlgen.errors import SqlgenError
from sqlgen.schema import Table

#: Why a constraint is left out that the database does not see to.
NOT_ENFORCED = "NOT ENFORCED, so the database neither checks it nor acts on it"
_ENFORCED_LATER = "it is enforced in the end, and was not at first"
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
    """A key or foreign key of a table; ``since``: it was enforced when it was stated; ``gone``: it
    is not used, and that was said."""

    table: str
    clause: KeyClause | ReferenceClause
    parent: str = ""
    since: bool = True
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
    only one with the name, unless the file tells of several such tables, or of the log's too."""

    def __init__(self, tables: Sequence[str]) -> None:
        self.known = frozenset(tables)
        self.by_name: dict[str, list[str]] = {}
        for table in sorted(self.known):
            self.by_name.setdefault(table.partition(".")[2], []).append(table)
        self.stated: dict[str, set[str]] = {}
        #: Tables of the log that the file has under several other schemas, and under which.
        self.doubtful: dict[str, set[str]] = {}

    def state(self, name: tuple[str, str]) -> None:
        """Note that the file is about a table."""
        self.stated.setdefault(name[1], set()).add(name[0])

    def find(self, name: tuple[str, str]) -> str:
        """OWNER.NAME in upper case, "" when the log has no such table."""
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
            self.doubtful[same[0]] = stated
            return ""
        return same[0]


class SchemaFacts:
    """What is known of the tables after some statements. ``log``: the tables of the log by
    OWNER.NAME in upper case; ``wants_all``: there is none, all tables of the file matter."""

    names: TableNames

    def __init__(self, dialect: str, tables: Sequence[Table] | None) -> None:
        self.dialect = dialect
        self.log = {f"{table.schema}.{table.name}".upper(): table for table in tables or ()}
        self.wants_all = tables is None
        self.facts: dict[str, Facts] = {}
        self.keys: list[_Stated] = []
        self.outside: list[tuple[str, str, str]] = []
        self.unused: list[tuple[str, str]] = []  # of which table
        self.unread: list[str] = []
        #: What is renamed: tables, or columns of a table.
        self.renames: list[tuple[list[str], list[str]]] = []
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
            stated = _Stated(self.table, key, since=key.enforced, enforced=key.enforced)
            if not key.enforced:
                self.unused.append((self.table, f"{stated.said}: {NOT_ENFORCED}"))
            self.keys.append(stated)

    def _reference(self, reference: ReferenceClause) -> None:
        if not self.table:
            return
        parent, enforced = self._find(reference.parent), reference.options.enforced
        stated = _Stated(self.table, reference, parent, enforced, enforced=enforced)
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
        self.outside = [one for one in self.outside if one[0] != table]
        self.unused = [one for one in self.unused if one[0] != table]

    def _call(self, table: str | None, old: str, new: str) -> None:
        """Call a key otherwise from here on; an index is named without its table."""
        for key in self.keys:
            if table in (None, key.table) and key.clause.name.upper() == old.upper():
                key.clause.name = new

    def _drop_primary(self) -> None:
        """Forget the primary key that the file stated, or else the one that the log tells of."""
        own = [key for key in self.keys if key.table == self.table and not key.parent]
        stated = [key for key in own if isinstance(key.clause, KeyClause) and key.clause.primary]
        known = self.log.get(self.table)
        same = {name.upper() for name in known.key} if known is not None else set()
        for key in stated or own:
            if stated or {name.upper() for name in key.clause.columns} == same:
                key.gone = True

    def _drop_key(self, name: str) -> None:
        """Forget a key, foreign key or check that the file drops again."""
        if not self.table:
            return
        for key in self.keys:
            key.gone |= key.table == self.table and key.clause.name.upper() == name.upper()
        self.outside = [
            one for one in self.outside if one[0] != self.table or not same(one[1], name)
        ]
        checks = self._of(self.table).checks
        checks[:] = [check for check in checks if not same(check.name, name)]

    def _drop_column(self, name: str) -> None:
        said = f"the file drops column {name}"
        for key in self.keys:
            own = name.upper() in _upper(key.clause.columns) and key.table == self.table
            clause = key.clause
            others = clause.parent_columns if isinstance(clause, ReferenceClause) else ()
            referred = key.parent == self.table and name.upper() in _upper(others)
            if key.gone or not (own or referred):
                continue
            key.gone = True
            self.unused.append((key.table, f"{key.said}: {said}"))
            several = isinstance(key.clause, KeyClause) and len(key.clause.columns) > 1
            if several and self.dialect in MYSQLS:
                self.unread.append(
                    f"{key.said}: {said}, and whether the others are unique is not said"
                )
        facts = self._of(self.table)
        for check in [check for check in facts.checks if _speaks_of(check.condition, name)]:
            facts.checks.remove(check)
            facts.notes.append(f"check {check.name or '(unnamed)'} of {self.table}: {said}")
        if not self._in_log(name):
            facts.columns.pop(name.upper(), None)

    def _in_log(self, name: str) -> bool:
        table = self.log.get(self.table)
        return table is not None and any(same(column.name, name) for column in table.columns)

    def _state(self, name: str, enforced: bool) -> None:
        """A constraint is enforced from here on, or is not."""
        if not self.table:
            return
        keys = [key for key in self.keys if key.table == self.table and same(key.clause.name, name)]
        for key in keys:
            self._set(key, enforced)
        outside = [one for one in self.outside if one[0] == self.table and same(one[1], name)]
        self.outside = [one for one in self.outside if enforced or one not in outside]
        facts = self._of(self.table)
        checks = [one for one in facts.checks if same(one.name, name)]
        for check in checks:
            check.enforced = enforced
        others = [one for column in facts.columns.values() for one in column.named]
        if not (keys or outside or checks or any(same(one, name) for one in others)):
            said = "it is enforced" if enforced else NOT_ENFORCED
            self.unread.append(f"{name} of {self.table}: {said}, and not stated in the file")

    def _set(self, key: _Stated, enforced: bool) -> None:
        note = (key.table, f"{key.clause.name} of {key.table}: {NOT_ENFORCED}")
        self.unused = [one for one in self.unused if one != note]
        if enforced and not key.since and not key.gone:
            self.unread.append(f"{key.clause.name} of {key.table}: {_ENFORCED_LATER}")
            key.gone = True
        elif not enforced and not key.gone:
            self.unused.append(note)
        key.enforced = enforced

    def _constraints(self, lenient: bool, about: bool) -> Constraints:
        tables, columns = set[str](), set[tuple[str, str]]()
        for names, of_them in self.renames:
            tables |= set() if of_them else {*names}
            columns |= {(table, name) for table in names for name in of_them}
        keys: list[tuple[str, tuple[str, ...]]] = []
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
            f"the schemas {', '.join(sorted(schemas))} have a table of the name of {table} each,"
            " and which of them is meant is not said"
            for table, schemas in self.names.doubtful.items()
        ]
        return Constraints(
            tuple(dict.fromkeys(keys)),
            tuple(dict.fromkeys(foreign_keys)),
            tuple(said for _, said in self.unused),
            tuple(dict.fromkeys((table, said) for table, _, said in self.outside)),
            unread=tuple(dict.fromkeys(self.unread)),
            passed=self.passed,
            strange=bool(self.log) and not about,
        )

    def _columns(self, table: str, names: Sequence[str], lenient: bool) -> tuple[str, ...] | None:
        """The log's names of columns, None where the key has one that the log's table does not
        have."""
        if self.wants_all:
            own = self.facts.get(table, Facts()).columns
            known = {name: column.spelled for name, column in own.items()}
        else:
            known = {column.name.upper(): column.name for column in self.log[table].columns}
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


def same(name: str, other: str) -> bool:
    """Whether two names are equal as they compare."""
    return name.upper() == other.upper()


def _upper(names: Sequence[str]) -> list[str]:
    return [name.upper() for name in names]


def _speaks_of(condition: str, column: str) -> bool:
    return column.upper() in WORD.findall(condition.upper())
