"""What CREATE TABLE and ALTER TABLE say, entry by entry and action by action: what is not
understood is named. And what a statement in a log says of the columns that rows depend on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from sqlgen.ddl import ddl_clauses
from sqlgen.ddl.ddl_clauses import (
    MYSQLS,
    TSQLS,
    CheckClause,
    Clause,
    ColumnEntry,
    KeyClause,
)
from sqlgen.ddl.ddl_facts import WORD, SchemaFacts, TableNames, same
from sqlgen.ddl.ddl_tokens import KEY_WORDS, Cursor, DdlScript, NotUnderstood, Statement, is_slip
from sqlgen.schema import Table

#: What a key is called that a table of Db2 for z/OS is organized by.
HASH_KEY = "ORGANIZE BY HASH"
_NOT_FOLLOWED = "this is not followed, so no key of it is used"
#: What is enabled and disabled, or altered, that states no key.
_NO_CONSTRAINT = frozenset(
    "TRIGGER RULE ROW KEYS ALL TABLE ALWAYS REPLICA QUERY FLASHBACK LOGICAL CONTAINERS ARCHIVE"
    " CHANGE_TRACKING FILETABLE_NAMESPACE".split()
)
#: What is in an action that is about constraints.
OF_CONSTRAINTS = frozenset(
    {"CONSTRAINT", "KEY", "INDEX", "UNIQUE", "CHECK", "FOREIGN", "PRIMARY", "ORGANIZATION"}
)
#: How an action of ALTER TABLE begins.
_ACTIONS = frozenset({"ADD", "ALTER", "DROP", "RENAME", "MODIFY", "CHANGE"})
_KEYS_ALONE = frozenset({"CONSTRAINT", "FOREIGN", "PRIMARY", "UNIQUE", "CHECK"})
#: What ALTER TABLE adds and drops that is no column and no key.
_NO_COLUMN = frozenset(
    "PARTITION SUBPARTITION PERIOD SYSTEM VERSIONING SUPPLEMENTAL STATISTICS PROJECTION FIELD"
    " RESTRICT CLONE IMMUTABILITY ROW SEARCH TAG MASKING AGGREGATION STORAGE DISTRIBUTION"
    " MATERIALIZED LOB TABLE LABEL OPTION FEATURE LOGFILE SECURITY ORGANIZE DISTRIBUTE CACHE"
    " HISTORY".split()
)
#: What begins no entry, but the rest of one.
_NO_ENTRY = frozenset(
    "LIKE EXCLUDE ( ON ) REFERENCES DROP KEY DEFERRABLE INITIALLY MATCH NOT ENABLE DISABLE RELY"
    " NORELY NOVALIDATE ENFORCED".split()
)
#: Entries of tables that state no key, and those that only MySQL has.
_PLAIN = frozenset({"PERIOD", "SUPPLEMENTAL"})
_PLAIN_OF_MYSQL = frozenset({"FULLTEXT", "SPATIAL", "KEY", "INDEX"})
#: What stands where a table's name is missing.
BEGIN_ACTIONS = _ACTIONS | {"CHECK", "NOCHECK", "ENABLE", "DISABLE", "WITH", "CONSTRAINT"}
_MOVES = {("SET", "SCHEMA"), ("MODIFY", "SCHEMA"), ("SET", "TABLE")}
_OF_RENAMES = frozenset("RENAME TABLE TO AS COLUMN IF EXISTS SCHEMA NAME".split())
#: What further names in a list without a word of their own mean.
_Carried = Callable[["Cursor"], Any] | None


class TableReader(SchemaFacts):
    """Reads what statements say of tables."""

    def __init__(self, text: str, dialect: str, tables: Sequence[Table] | None) -> None:
        super().__init__(dialect, tables)
        self.script = DdlScript(text, dialect)
        self.understood = False  # some statement about a table was
        # of the statement that is being read: its name as it is spelled, and its parts
        self.statement = Statement(self.script, 0, 0, ())
        self.taken: set[int] = set()
        self.spelled = ""
        self.own: tuple[str, ...] = ()

    def _name(self, begin: int, end: int, keys: bool = True, always: bool = False) -> None:
        """Name a part of a statement that is not understood, where it may be about a table of the
        log; ``keys``: it may state a key, else it is about values alone."""
        self.taken.update(range(begin, end))
        whole = begin == 0 and end == len(self.statement.tokens)
        region = (begin, end) if self.own else (0, len(self.statement.tokens))
        if not (always or self.table or self._mentions(*region)):
            return
        said = f"line {self.statement.line(begin)}: {self.statement.said(begin, end)}"
        if self.spelled and not whole:
            said += f" (table {self.spelled})"
        if keys:
            self.unread.append(said)
        elif self.table:
            self._of(self.table).notes.append(f"{said}: not understood")

    def _mentions(self, begin: int, end: int) -> bool:
        """Whether some tokens name a table of the log, in their texts too."""
        names = self.names.by_name
        for token in self.statement.tokens[begin:end]:
            if token.kind == "text":
                if any(word in names for word in WORD.findall(token.text.upper())):
                    return True
            elif token.kind in ("word", "name") and token.identifier.upper() in names:
                return True
        return False

    def _stated(self, cursor: Cursor) -> None:
        """The table that a statement is about, which comes next."""
        cursor.if_exists()
        cursor.take("ONLY")
        begin = cursor.at
        try:
            self.own = cursor.name()
        except NotUnderstood:
            self.own = ("",)
        if cursor.peek(-1) in BEGIN_ACTIONS or not self.own[-1]:
            self.own = ()
            self._name(0, len(self.statement.tokens), always=True)
            raise NotUnderstood
        self.spelled = cursor.source(begin)
        self.table = self._find(self.own)
        words = cursor.words()
        if self.dialect in TSQLS and "SYSTEM_VERSIONING" in words:
            versions = Cursor(cursor.statement, cursor.at, cursor.end, set())
            while versions and not versions.take("HISTORY_TABLE", "="):
                versions.skip()
            self._versioning(versions.name() if versions else None)

    def _entry(self, part: Cursor, adds: bool = False) -> None:
        """An entry of a table's list, or what is added to a table; what is not understood is
        named."""
        begin = part.at
        try:
            self._understood(part, adds)
            if part.states_key():
                raise NotUnderstood
        except NotUnderstood:
            self._name(begin, part.end)

    def _understood(self, part: Cursor, adds: bool) -> None:
        first, begin = part.peek(), part.at
        if self.dialect in TSQLS and part.take("INDEX"):
            name = part.name()[-1]
            if part.peek() == "UNIQUE":
                self._clause(ddl_clauses.constraint(part, name))
            return
        if first in _PLAIN or (self.dialect in MYSQLS and first in _PLAIN_OF_MYSQL):
            while part.peek() not in ("(", ""):
                part.skip()
            inside = part.group()
            inside.skip(inside.end)
            return
        if first in _NO_ENTRY:
            raise NotUnderstood
        clause = ddl_clauses.constraint(part)
        if clause is None and first in KEY_WORDS:
            raise NotUnderstood
        if clause is None and first != "CONSTRAINT":
            self._column(part, begin)
        elif clause is None or (part and isinstance(clause, CheckClause)):
            words = part.words()
            if adds or {"EXCLUDE", "FOREIGN", "ON", "KEY"} & {*words} or part.states_key():
                raise NotUnderstood
            if any(map(is_slip, words)):
                raise NotUnderstood
            self._name(begin, part.end, keys=False)
        elif part:
            raise NotUnderstood
        else:
            self._clause(clause)

    def _column(self, part: Cursor, begin: int) -> None:
        column = ddl_clauses.column(part, self.dialect)
        if column.strange:
            self._name(begin, part.end, keys=False)
        if self.table:
            self._of(self.table).columns[column.name.upper()] = column
        for clause in column.clauses:
            self._clause(clause)

    def _clause(self, clause: Clause | None) -> None:
        """Take a key, foreign key or check of the table that the statement is about."""
        if clause is None:
            raise NotUnderstood
        if isinstance(clause, CheckClause):
            if self.table:
                self._of(self.table).checks.append(clause)
        elif isinstance(clause, KeyClause):
            self._key(clause)
        else:
            self._reference(clause)

    def _not_followed(
        self,
        begin: int,
        end: int,
        tables: Sequence[str],
        columns: Sequence[str] = (),
    ) -> None:
        """Name what renames, drops or switches something; the keys of the tables, or over the
        columns of one, are not used."""
        self.taken.update(range(begin, end))
        said = f"line {self.statement.line(begin)}: {self.statement.said(begin, end)}"
        if self.spelled and begin:
            said += f" (table {self.spelled})"
        if not tables:
            return
        self.unread.append(f"{said}: {_NOT_FOLLOWED}")
        self.renames.append(([*tables], [name.upper() for name in columns]))
        for table in tables:
            self._of(table).notes.append(f"{said}: not understood")

    def _changes_keys(self, action: Cursor, drops: str = "") -> _Carried:
        """An action that drops constraints or columns, or switches constraints off or on: nothing
        that it names, and no key over a column that it drops, is used any more. Where it names
        nothing that was stated, no key of the table is used. ``drops``: what further names in a
        list are."""
        begin, words = action.at, {*action.words()}
        if action.peek() in BEGIN_ACTIONS or action.peek() == "SET":
            drops = "constraint" if words & OF_CONSTRAINTS else "column"
            drops = drops if {"DROP", "UNUSED"} & words else ""
            action.skip()
        names = {name[-1].upper() for name in all_names(action)} - {"COLUMN", "COLUMNS"}
        self.taken.update(range(begin, action.end))
        is_known = drops != "" or "CASCADE" not in words  # which switches those of other tables
        if self.table and not (self._give_up(names, "PRIMARY" in words, drops) and is_known):
            self._not_followed(begin, action.end, [self.table])
        return partial(self._changes_keys, drops=drops)

    def _alter(self, cursor: Cursor) -> None:
        while not cursor.take("TABLE"):
            cursor.skip()
        self._stated(cursor)
        cursor.take("*")
        if cursor.peek() == "WITH" and cursor.peek(1) in ("CHECK", "NOCHECK"):
            cursor.skip(2)
        if not cursor or _runs_on(cursor):
            raise NotUnderstood
        named = len(self.unread)
        carried: _Carried = None
        for part in cursor.parts():
            for action in self._split(part):
                of_constraints = action.peek() in ("CHECK", "NOCHECK")
                begins = action.peek() in _ACTIONS or (
                    of_constraints and action.peek(1) == "CONSTRAINT"
                )
                does = self._action if carried is None or begins else carried
                carried = self._caught(action, does) or (None if begins else carried)
        self.understood |= named == len(self.unread)

    def _caught(self, action: Cursor, does: Callable[[Cursor], _Carried]) -> _Carried:
        """Do what an action says; it is named where it is not understood."""
        begin = action.at
        try:
            carried = does(action)
            if action.states_key():
                raise NotUnderstood
        except NotUnderstood:
            self._name(begin, action.end)
            return self._add if self.statement.tokens[begin].upper == "ADD" else None
        return carried

    def _split(self, part: Cursor) -> Iterator[Cursor]:
        """The actions of ALTER TABLE between which no comma stands."""
        depth, end = 0, part.end
        tokens = self.statement.tokens
        for place in range(part.at, end):
            word, begin = tokens[place].upper, part.at
            depth += (word == "(") - (word == ")")
            if place == begin or depth:
                continue
            first, before = tokens[begin].upper, tokens[place - 1].upper
            if word in _ACTIONS and first in ("ADD", "DROP") and before != "ON":
                starts = place - begin > 1
            elif word in _ACTIONS and self.dialect == "db2" and before != "ON":
                with_word = tokens[begin + 1].upper in ("COLUMN", "CONSTRAINT", "FOREIGN", "CHECK")
                starts = place - begin > (3 if with_word else 2)
            else:
                of_keys = {token.upper for token in tokens[begin : begin + 2]} & _KEYS_ALONE
                starts = bool(word in _KEYS_ALONE and before == ")" and of_keys)
                starts &= self.dialect == "db2"
            if starts:
                yield part.to(place)
        yield part.to(end)

    def _action(self, action: Cursor) -> _Carried:
        """One action; gives what further names in a list without a word of their own mean."""
        first, second = action.peek(), action.peek(1)
        is_tsql = self.dialect in TSQLS
        if first == "ADD":
            action.skip()
            self._add(action)
            return self._add
        if (first, second) == ("SET", "UNUSED") or (first == "DROP" and second not in _NO_COLUMN):
            return self._changes_keys(action)
        if first == "RENAME" or (first, second) in _MOVES or first == "CHANGE":
            self._renames(action)
        elif first in _KEYS_ALONE and not (is_tsql and first == "CHECK"):
            self._entry(action, adds=True)
        elif first in ("ALTER", "MODIFY") and second not in ("CONSTRAINT", "FOREIGN", "CHECK"):
            self._alter_column(action)
        elif first in ("DROP", "CLUSTER", "REPLICA", "OWNER"):
            if second == "VERSIONING":
                self._versioning(None)
            if not action.take("DROP", "RESTRICT", "ON", "DROP"):
                action.skip()
        elif is_tsql and first in ("CHECK", "NOCHECK") and second != "CONSTRAINT":
            raise NotUnderstood
        elif first in ("CHECK", "ENABLE") and self._enforced():
            action.skip(action.end)
            return _skipped
        elif first in ("CHECK", "NOCHECK", "ALTER", "MODIFY"):
            return self._changes_keys(action)
        elif first in ("ENABLE", "DISABLE"):
            if not {second, action.peek(2)} & _NO_CONSTRAINT:
                return self._changes_keys(action)
        elif (first, second) != ("VALIDATE", "CONSTRAINT") and "CONSTRAINT" in action.words()[:3]:
            raise NotUnderstood
        return None

    def _enforced(self) -> bool:
        """Whether all constraints that were stated of the table are enforced."""
        facts = self._of(self.table) if self.table else None
        keys = [key for key in self.keys if key.table == self.table]
        return all(key.enforced for key in keys) and all(
            check.enforced for check in (facts.checks if facts else ())
        )

    def _add(self, action: Cursor) -> None:
        """What ADD adds: an entry as of CREATE TABLE, or several in brackets."""
        action.take("COLUMN")
        action.if_exists()
        if not action:
            raise NotUnderstood
        if action.take("ORGANIZE", "BY", "HASH", "UNIQUE"):
            self._key(KeyClause(HASH_KEY, names_in(action)))
        elif action.take("VERSIONING", "USE", "HISTORY", "TABLE"):
            self._versioning(action.name())
            action.skip(action.end)
        elif action.peek() in _NO_COLUMN:
            if action.peek() in ("SUPPLEMENTAL", "RESTRICT"):
                action.skip(action.end)
        elif self._default_for(action):
            pass
        elif action.peek() == "(":
            for part in action.group().parts():
                self._entry(part)
            if action.peek() in ("CASCADE", "ON"):
                raise NotUnderstood
        else:
            self._entry(action, adds=True)

    def _default_for(self, action: Cursor) -> bool:
        """SQL Server's ADD [CONSTRAINT name] DEFAULT value FOR column."""
        words = action.words()
        at = 2 if words[0] == "CONSTRAINT" else 0
        if words[at : at + 1] != ["DEFAULT"] or words[-2:-1] != ["FOR"]:
            return False
        value = self.statement.source(action.at + at + 1, action.end - 2)
        name = self.statement.tokens[action.end - 1].identifier
        action.skip(len(words))
        self._changed(name).default = value
        return True

    def _changed(self, name: str) -> ColumnEntry:
        """A column that the file has, or one of no type."""
        columns = self._of(self.table).columns if self.table else {}
        return columns.setdefault(name.upper(), ColumnEntry(name, name))

    def _renames(self, action: Cursor) -> None:
        """What an action of ALTER TABLE renames, or moves to another schema."""
        begin, words = action.at, action.words()
        if words[0] == "CHANGE":
            action.skip(2 if words[1:2] == ["COLUMN"] else 1)
            action.if_exists()
            old, new = action.name()[-1], action.name()[-1]
            if not same(old, new):
                self._not_followed(begin, action.end, [self.table] * bool(self.table), [old, new])
            elif "DEFAULT" in words:
                self._name(begin, action.end, keys=False)
            return
        action.skip()
        if words[1:2] in (["CONSTRAINT"], ["INDEX"], ["KEY"]) and len(words) == 5:
            action.skip()
            old = action.name()[-1]
            if not action.take("TO"):
                raise NotUnderstood
            if self.table:
                self._call(self.table, old, action.name()[-1])
            return
        if words[1:2] and words[1] in _NO_COLUMN and words[0] == "RENAME":
            return
        columns = [name[-1] for name in all_names(action)]
        is_column = words[0] == "RENAME" and "TO" in words[2:]
        is_column |= self.dialect == "soliddb" and words[1:2] == ["COLUMN"]
        tables = [self.table] if self.table else []
        if not is_column and columns:
            moved = words[1:2] == ["SCHEMA"]
            other = self._find([columns[-1], self.own[-1]] if moved else columns[-1:])
            tables += [other] if other else []
        self._not_followed(begin, action.end, tables, columns if is_column else ())

    def _alter_column(self, action: Cursor) -> None:
        """What is changed of a column, or of a table otherwise."""
        begin, words = action.at, action.words()
        if len(words) < 2:
            raise NotUnderstood
        action.skip(2 if words[1] == "COLUMN" else 1)
        if not action.is_name():
            if {"ENFORCED", "DISABLE"} & {*words}:
                raise NotUnderstood
            if words[0] == "MODIFY" and "DEFAULT" in words:
                self._name(begin, action.end, keys=False)
            return
        if words[1] in ("PRIMARY", "UNIQUE"):
            raise NotUnderstood
        name = action.name()[-1]
        if action.take("SET", "DEFAULT") or action.take("SET", "WITH", "DEFAULT"):
            self._changed(name).default = ddl_clauses.value(action)
        elif action.take("ADD", "GENERATED"):
            said = self.statement.source(action.at, action.end)
            self._changed(name).identity = ddl_clauses.identity_of(said)
            action.skip(action.end)
        elif action.take("DROP"):
            if action.peek() == "DEFAULT":
                self._changed(name).default = None
        elif {"ENFORCED", "DISABLE"} & {*words}:
            raise NotUnderstood
        elif words[0] == "MODIFY" and "DEFAULT" in words:
            self._name(begin, action.end, keys=False)


def _skipped(action: Cursor) -> None:
    """What further names in a list add nothing to."""
    action.skip(action.end)


def names_in(cursor: Cursor) -> tuple[str, ...]:
    """The names in brackets that come next."""
    return tuple(part.name()[-1] for part in cursor.group().parts())


def all_names(cursor: Cursor) -> Iterator[tuple[str, ...]]:
    """All names that are left, but for words of renames."""
    while cursor:
        if not cursor.is_name() or cursor.peek() in _OF_RENAMES:
            cursor.skip()
        else:
            yield cursor.name()


def _runs_on(cursor: Cursor) -> bool:
    """Whether another statement about a table begins, because nothing ended the one before."""
    words = cursor.words()
    return any(
        first in ("CREATE", "ALTER", "DROP") and second == "TABLE"
        for first, second in pairwise(words)
    )


# -- statements in a log
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Alteration:
    """A statement about a table: ``verb`` (CREATE, ALTER, DROP), the table's schema and name, the
    columns that it ``added``, those whose default it ``changed``, and whether it ``recasts`` rows:
    it drops columns, or gives them other types. ``clear``: all of it was understood. Names are in
    upper case."""

    verb: str
    schema: str
    table: str
    added: Mapping[str, ColumnEntry]
    changed: frozenset[str]
    recasts: bool
    clear: bool


def alteration(text: str, dialect: str, schema: str) -> Alteration | None:
    """What a statement says of a table; None where it is about none. ``schema``: that of names
    without one."""
    return _AlterationReader(text, dialect, None).alteration(schema)


class _AlterationReader(TableReader):
    def alteration(self, schema: str) -> Alteration | None:
        """See above."""
        self.schema, self.names, self.recasts = schema, TableNames(()), False
        self.statement = next(iter(self.script.statements()), self.statement)
        words = list(self.statement.words[:3])
        if words[:2] not in (["CREATE", "TABLE"], ["ALTER", "TABLE"], ["DROP", "TABLE"]):
            return None
        cursor = Cursor(self.statement, 0, len(self.statement.tokens), self.taken)
        clear = True
        try:
            if words[0] == "ALTER":
                self._alter(cursor)
            else:
                cursor.skip(2)
                self._stated(cursor)
        except NotUnderstood:
            clear = False
        if not self.own:
            return None
        owner, name = self._qualified(self.own, schema)
        columns = self.facts[self.table].columns if self.table in self.facts else {}
        return Alteration(
            words[0],
            owner,
            name,
            {column: said for column, said in columns.items() if said.type},
            frozenset(column for column, said in columns.items() if not said.type),
            self.recasts or self._retypes(),
            clear and not self.unread and all(not said.strange for said in columns.values()),
        )

    def _retypes(self) -> bool:
        """Whether a column gets another type; texts that vary lie in rows as before."""
        words = [token.upper for token in self.statement.tokens]
        kinds = [
            words[place + 3 : place + 4]
            for place in range(len(words))
            if words[place : place + 3] == ["SET", "DATA", "TYPE"]
        ]
        return any(kind not in (["VARCHAR"], ["VARGRAPHIC"], ["VARBINARY"]) for kind in kinds)

    def _find(self, parts: Sequence[str]) -> str:
        return ".".join(self._qualified(parts, self.schema))

    def _changes_keys(self, action: Cursor, drops: str = "") -> None:
        """What is dropped and is no constraint is a column."""
        words = {*action.words()}
        self.recasts |= "DROP" in words and not words & OF_CONSTRAINTS
        action.skip(action.end - action.at)

    def _clause(self, clause: Clause | None) -> None:
        """Keys and checks leave rows as they are."""
