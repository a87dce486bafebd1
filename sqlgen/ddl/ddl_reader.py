"""What a schema file says of tables: columns, keys, foreign keys, checks, defaults and identities,
in one pass over its statements, for any database.

Only statements that name a table of the log are read; of the others the number is said. Each word
of :data:`~sqlgen.ddl.ddl_tokens.KEY_WORDS` in a statement that is read is accounted for, or named
with its line. What is renamed, dropped or
switched is not followed: it is named, and the keys of the table are not used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from sqlgen.ddl import ddl_clauses
from sqlgen.ddl.ddl_clauses import KeyClause
from sqlgen.ddl.ddl_facts import WORD, Schema, TableNames
from sqlgen.ddl.ddl_tables import BEGIN_ACTIONS, HASH_KEY, TableReader, all_names, names_in
from sqlgen.ddl.ddl_tokens import (
    LEXIS,
    Cursor,
    NotUnderstood,
    Statement,
    Token,
    is_routine,
    is_slip,
)
from sqlgen.errors import SqlgenError
from sqlgen.lazy_imports import sqlglot
from sqlgen.schema import Constraints, Table

#: The dialects that sqlglot has from us.
OWN_DIALECTS = ("db2", "soliddb")
#: Kinds of object that CREATE, ALTER and DROP are about beside tables and indexes.
_OTHER_OBJECTS = frozenset(
    "FUNCTION PROCEDURE PROC TRIGGER VIEW TYPE PACKAGE PUBLICATION POLICY RULE STATISTICS SEQUENCE"
    " DOMAIN EVENT EXTENSION SCHEMA DATABASE AGGREGATE CAST OPERATOR ALIAS SYNONYM NICKNAME SERVER"
    " WRAPPER TABLESPACE BUFFERPOOL STOGROUP MODULE METHOD ROLE USER MASK PERMISSION VARIABLE LOGIN"
    " DIRECTORY SESSION DEFAULT SECURITY TRUSTED HISTOGRAM SERVICE WORKLOAD THRESHOLD AUDIT USAGE"
    " SYSTEM EXTERNAL AUXILIARY COLLATION LANGUAGE PROFILE CONTEXT LIBRARY MATERIALIZED CATALOG"
    " FULLTEXT SUBSCRIPTION".split()
)
#: How a statement begins that says nothing about keys, unless it holds others as text.
_KNOWN = frozenset(
    "CREATE ALTER DROP COMMENT LABEL GRANT REVOKE DENY SET RESET SELECT INSERT UPDATE DELETE MERGE"
    " REPLACE VALUES WITH COMMIT ROLLBACK SAVEPOINT RELEASE START BEGIN END USE GO PRINT IF ELSE"
    " EXEC EXECUTE DECLARE DO CALL COPY ANALYZE ANALYSE VACUUM REINDEX CLUSTER REFRESH LOCK UNLOCK"
    " TRUNCATE SHOW EXPLAIN PRAGMA ATTACH DETACH LOAD IMPORT INSTALL EXPORT OPTIMIZE FLUSH SECURITY"
    " NOTIFY LISTEN DISCARD CHECKPOINT KILL RAISERROR THROW WAITFOR RETURN WHILE PURGE AUDIT"
    " NOAUDIT CONNECT DISCONNECT RENAME ENABLE DISABLE REASSIGN UNDROP SP_RENAME ADMIN"
    # Db2's, and the rest of a routine's body that was cut apart
    " ACTIVATE BACKUP CHANGE DB2 DB2START DB2STOP DEACTIVATE DESCRIBE FORCE FREE GET LIST QUIESCE"
    " QUIT REBIND REORG RUNSTATS SIGNAL TERMINATE TRANSFER UNQUIESCE ? CLOSE ELSEIF FETCH FOR"
    " ITERATE LEAVE LOOP OPEN REPEAT RESIGNAL UNTIL WHEN".split()
)
#: How a piece begins of a statement that was cut too early.
_PIECES = frozenset(
    "ON INDEX CONSTRAINT USING KEY TABLE MATCH DEFERRABLE INITIALLY NOT WHERE ( ) ,".split()
)
#: Dialects whose databases have two tables where names differ in case only: one of them is quoted,
#: or (on servers that keep names) as it stands.
_FOLDING = frozenset("db2 postgres oracle soliddb snowflake redshift".split())
_KEEPING = frozenset("mysql mariadb".split())
#: Statements in which words of keys say nothing of them.
_RIGHTS = frozenset("GRANT REVOKE DENY COMMENT LABEL INSERT SECURITY TRUNCATE".split())
_DYNAMIC = frozenset("BEGIN CALL EXEC EXECUTE DO IF ELSE DECLARE WHILE PREPARE WITH".split())
#: What a statement holds that makes tables or keys by others that it has as text or inside it.
_DYNAMIC_TABLE = re.compile(r"\b(CREATE|ALTER)\s+TABLE\b|\bUNIQUE\s+INDEX\b", re.I)
#: In a text that has begun too early, because one before it does not end.
_SWALLOWED = re.compile(
    r"\b(PRIMARY|FOREIGN)\s+KEY\b|\bUNIQUE\s*([(,\n]|KEY|INDEX|(NON)?CLUSTERED)"
    r"|\b(CREATE|ALTER)\s+TABLE\b",
    re.I,
)
_SP_RENAME = re.compile(r"\bsp_rename\b", re.I)
_SETS_SCHEMA = re.compile(
    r"(SET (CURRENT )?(SCHEMA|SQLID)|SET CURRENT_SCHEMA|CREATE SCHEMA|CONNECT)\b"
)
#: Statements that matter whatever they name, for they name keys without a table.
_ALWAYS = re.compile(
    r"(DROP|RENAME|ALTER) INDEX\b|CREATE (OR REPLACE )?UNIQUE( ;| (?!INDEX|\w+ INDEX))|EXEC"
    r"|SP_RENAME"
)
#: What may stand between CREATE and INDEX.
_BEFORE_INDEX = frozenset(
    "CREATE OR REPLACE UNIQUE CLUSTERED NONCLUSTERED COLUMNSTORE BITMAP TYPE 1 2 WHERE NOT"
    " NULL".split()
)
#: CREATE or ALTER, and the parts of the name of the table that a statement is about, folded.
_Subject = tuple[str, tuple[str, ...]]


@lru_cache(maxsize=1)
def read_schema(
    text: str, dialect: str, tables: tuple[Table, ...] | None, lenient: bool = False
) -> Schema:
    """What a schema file of a dialect says of ``tables`` (None: of those that it defines). The last
    is kept, because its keys and what else it declares are asked for in turn.

    SqlgenError LR1010 when no statement about tables is understood as SQL of the dialect, although
    there are some, or a key names a column that the log's table does not have; a ``lenient`` reader
    passes over such a key.
    """
    if dialect not in LEXIS and dialect not in OWN_DIALECTS:
        known = {*sqlglot.Dialect.classes, *OWN_DIALECTS, "mariadb"} - {""}
        if dialect not in known:
            raise SqlgenError(
                "LR1010",
                f"found the dialect {dialect} for the schema; expected db2, soliddb, or a dialect"
                " of sqlglot",
                f"Name one of: {', '.join(sorted(known))}",
            )
    return _FileReader(text, dialect, tables).read(lenient)


def parse_constraints(
    text: str, dialect: str, tables: Sequence[Table], lenient: bool = False
) -> Constraints:
    """The keys that the DDL statements in ``text`` state about ``tables``.

    SqlgenError LR1010 when nothing in the text is understood as SQL of the dialect, or a key names
    a column that the log's table does not have; a ``lenient`` reader passes over such a key.
    """
    return read_schema(text, dialect, tuple(tables), lenient).constraints


class _FileReader(TableReader):
    """Reads the statements of a file in their order."""

    def __init__(self, text: str, dialect: str, tables: Sequence[Table] | None) -> None:
        super().__init__(text, dialect, tables)
        self.defined: dict[str, tuple[str, str]] = {}

    def read(self, lenient: bool) -> Schema:
        """All that the file says."""
        chosen = list(self._chosen())
        kept = self.dialect in _KEEPING
        subjects = [(_subject(statement, kept), schema) for statement, schema in chosen]
        if self.wants_all:
            self._define(subjects)
        self.names = TableNames(
            list(self.defined if self.wants_all else self.log), kept or self.dialect in _FOLDING
        )
        stated = [(self._qualified(one[1], home), one[1][-1]) for one, home in subjects if one]
        for name, spelled in stated:
            self.names.state(name, spelled)
        about = any(list(map(self.names.find, (name for name, _ in stated))))
        for statement, schema in chosen:
            self.statement, self.schema, self.taken = statement, schema, set()
            self.table, self.spelled, self.own = "", "", ()
            self._one()
        for at in self.script.open:
            line = self.script.text.count("\n", 0, at) + 1
            what = "comment" if self.script.text.startswith("/*", at) else "text or name in quotes"
            begin = " ".join(self.script.text[at : at + 60].split())
            self.unread.append(f"line {line}: a {what} that does not end: {begin}")
        if self.unread and not self.understood:
            raise SqlgenError(
                "LR1010",
                f"the schema is not understood as {self.dialect} SQL, beginning with"
                f" {self.unread[0]}",
                f"It was read as {self.dialect}: --schema-dialect names another dialect (db2,"
                " soliddb, or one of sqlglot), else take what is not SQL out of the file",
            )
        return Schema(self._constraints(lenient, about), self.facts, self.defined)

    def _chosen(self) -> Iterator[tuple[Statement, str]]:
        """The statements that are to be read, with the schema of names without one in each."""
        schema, wanted, every = "", set[str](), self.wants_all
        for name in self.log:
            words = WORD.findall(name.partition(".")[2])
            wanted.update(words[:1])
            every |= not words
        for statement in self.script.statements():
            head = statement.words[:6]
            if self.dialect == "db2" and _SETS_SCHEMA.match(" ".join(head)):
                schema = _schema_set(statement)
            always = every or _ALWAYS.match(" ".join(head)) or head[0] not in _KNOWN
            if always or _lacks_name(statement.words) or wanted.intersection(_said(statement)):
                yield statement, schema
            else:
                self.passed += _is_other(statement.words)
                self.understood |= head[:2] in (["CREATE", "TABLE"], ["ALTER", "TABLE"])
                text = statement.text
                if text.count("(") != text.count(")") and _opens(statement.tokens):
                    said = f"line {statement.line()}: {statement.said(0, len(statement.tokens))}"
                    self.unused.append(("", f"{said}: its brackets do not match"))

    def _define(self, subjects: Sequence[tuple[_Subject | None, str]]) -> None:
        """The tables that the file defines, where no log says which matter."""
        for said, schema in subjects:
            if said is not None and said[0] == "CREATE":
                name = (said[1][-2] if len(said[1]) > 1 else schema, said[1][-1])
                self.defined[f"{name[0]}.{name[1]}".upper()] = name

    def _one(self) -> None:
        """Read one statement, and name each word of keys in it that was not understood."""
        statement, named = self.statement, len(self.unread)
        tokens = statement.tokens
        if not tokens:
            return
        cursor = Cursor(statement, 0, len(tokens), self.taken)
        try:
            self._statement(cursor)
            if self.own and _opens(tokens) != 0:
                raise NotUnderstood
        except NotUnderstood:
            self._name(0, len(tokens))
        if self._swallows():
            self._name(0, len(tokens), always=True)
        end = -1
        for place, token in enumerate(tokens):
            if place not in self.taken and statement.of_keys(place) and token.start >= end:
                end = token.start + 80
                self._name(place, len(tokens))
        self.passed += named == len(self.unread) and _is_other(statement.words)

    def _swallows(self) -> bool:
        """Whether a quoted thing holds lines that may state keys: one may have ended too late."""
        return any(
            token.kind in ("text", "name")
            and token.text[0] != "$"
            and "\n" in token.text
            and _SWALLOWED.search(token.text) is not None
            for token in self.statement.tokens
        )

    def _statement(self, cursor: Cursor) -> None:
        words = cursor.words()[:12]
        first, second = (*words[:2], "")[:2]
        kind = _object(words)
        if first == "CREATE" and kind == "TABLE":
            self._create(cursor)
        elif first == "CREATE" and kind == "INDEX":
            self._index(cursor, words)
        elif first == "ALTER" and kind == "TABLE":
            self._alter(cursor)
        elif first == "DROP" and second in ("TABLE", "INDEX"):
            cursor.skip(2)
            self._drop(cursor, second)
        elif first == "RENAME" or (first == "ALTER" and second in ("INDEX", "SCHEMA")):
            self._rename(cursor, second)
        else:
            self._other(cursor, first, words)

    def _other(self, cursor: Cursor, first: str, words: Sequence[str]) -> None:
        """A statement that is about no table or index, or is a piece of one."""
        head, others = " ".join(words), {*words[1:4]} & _OTHER_OBJECTS
        if first in _RIGHTS:
            cursor.skip(cursor.end)
        elif first == "DROP" and others:
            cursor.skip()
        elif (
            head.startswith(("CREATE UNIQUE", "CREATE OR REPLACE UNIQUE"))
            or (first not in _KNOWN and (first in _PIECES or cursor.states_key()))
            or (first == "ALTER" and len(words) < 3)
        ):
            self._name(0, cursor.end, always=True)
        elif (
            first not in _KNOWN
            or (first == "ALTER" and not others)
            or (first in _DYNAMIC and _DYNAMIC_TABLE.search(self.statement.text))
        ):
            raise NotUnderstood
        elif _SP_RENAME.search(self.statement.text) and not is_routine(words, self.script.lexis):
            self._sp_rename(cursor)

    def _create(self, cursor: Cursor) -> None:
        while not cursor.take("TABLE"):
            cursor.skip()
        self._stated(cursor)
        if cursor.peek() != "(":
            by_other = {*cursor.words()} & {"AS", "LIKE"}
            if not by_other or cursor.states_key():
                raise NotUnderstood
            return
        if self.wants_all:
            self._of(
                self.table
            ).columns.clear()  # of tables that are defined twice, the last counts
        for part in cursor.group().parts():
            self._entry(part)
        self.understood = True
        while cursor:  # storage, or a query; words of keys there are named
            if cursor.take("ORGANIZE", "BY", "HASH", "UNIQUE"):
                self._key(KeyClause(HASH_KEY, names_in(cursor)))
            elif not cursor.take("WITH", "RESTRICT", "ON", "DROP"):
                cursor.at += 1

    def _index(self, cursor: Cursor, words: Sequence[str]) -> None:
        before = words[: words.index("INDEX")]
        if "UNIQUE" not in before:
            if any(map(is_slip, before)):
                raise NotUnderstood
            cursor.skip(len(before) + 1)
            return
        if {*before} - _BEFORE_INDEX:
            raise NotUnderstood
        cursor.skip(len(before) + 1)
        if _lacks_name(words):
            self._name(0, cursor.end, always=True)
            return
        table, key = ddl_clauses.unique_index(cursor, self.dialect)
        self.table = self._find(table)
        self.understood = True
        self._key(key)

    def _drop(self, cursor: Cursor, kind: str) -> None:
        cursor.if_exists()
        cursor.take("CONCURRENTLY")
        for part in cursor.parts():
            part.if_exists()
            name = part.name()
            if kind == "TABLE":
                self._forget(self._find(name))
                continue
            on = self._find(part.name()) if part.take("ON") and part.is_name() else None
            for key in self.keys:
                same = key.clause.name.upper() == name[-1].upper()
                if same and not key.parent and on in (None, key.table):
                    key.gone = True

    def _rename(self, cursor: Cursor, second: str) -> None:
        """RENAME [TABLE] a TO b, RENAME INDEX a TO b, ALTER INDEX a RENAME TO b, and ALTER SCHEMA s
        TRANSFER t."""
        words = cursor.words()
        is_index = second == "INDEX"
        if words[0] == "ALTER" and not {"RENAME", "TRANSFER"} & {*words}:
            cursor.skip()
            return
        if is_index and "TO" in words:
            cursor.skip(2)
            cursor.if_exists()
            old = cursor.name()[-1]
            cursor.take("RENAME")
            if cursor.take("TO") and cursor.is_name():
                self._call(None, old, cursor.name()[-1])
                return
        rest = Cursor(self.statement, 1, cursor.end, self.taken)
        tables = [self._find(name) for name in all_names(rest)]
        self._not_followed(0, cursor.end, [table for table in tables if table])

    def _sp_rename(self, cursor: Cursor) -> None:
        """SQL Server's procedure that renames tables, columns, keys and indexes."""
        texts = [token.text for token in self.statement.tokens if token.kind == "text"]
        names = [word for text in texts for word in WORD.findall(text.partition("'")[2])]
        tables = [table for name in names if (table := self._find([name]))]
        if tables:
            self._not_followed(0, cursor.end, tables)
        elif len(texts) < 2 or not names:
            self._name(0, cursor.end, always=True)
        else:
            old = WORD.findall(texts[0])[-1]
            self._call(None, old, WORD.findall(texts[1])[-1])


def _opens(tokens: Sequence[Token]) -> int:
    """How many more brackets open than close."""
    return sum((token.text == "(") - (token.text == ")") for token in tokens)


def _said(statement: Statement) -> list[str]:
    return WORD.findall(statement.text.upper())


def _is_other(words: Sequence[str]) -> bool:
    """Whether a statement says nothing of tables and keys, whichever."""
    about = _object(words) or "SCHEMA" in words[1:3] or words[0] == "RENAME"
    return not (about and words[0] in ("CREATE", "ALTER", "DROP", "RENAME"))


def _lacks_name(words: Sequence[str]) -> bool:
    """Whether a statement begins as one about a table or index, and then names none."""
    if words[0] == "ALTER" and (len(words) < 2 or words[1] == ";"):
        return True
    lacks = BEGIN_ACTIONS | {";", "(", "USING"}
    if words[1:2] == ["TABLE"] and (*words[2:3], ";")[0] in lacks:
        return True
    pairs = pairwise(words)
    return bool(_object(words)) and any(one == "." and two in lacks for one, two in pairs)


def _object(words: Sequence[str]) -> str:
    """TABLE or INDEX where a statement is about one."""
    if words[1:2] == ["TYPE"] and words[2:3] in (["1"], ["2"]):  # of an index of Db2 for z/OS
        words = [words[0], *words[3:]]
    for word in words[1:9]:
        if word in _OTHER_OBJECTS or word in ("ON", "AS", "("):
            return ""
        if word in ("TABLE", "INDEX"):
            return word
    return ""


def _subject(statement: Statement, kept: bool) -> _Subject | None:
    """The table that a statement is about; ``kept``: names that stand without quotes, too."""
    words = list(statement.words)
    if words[0] not in ("CREATE", "ALTER") or not (kind := _object(words)):
        return None
    cursor = Cursor(statement, 0, len(statement.tokens), set())
    while cursor and not cursor.take("TABLE" if kind == "TABLE" else "ON"):
        cursor.skip()
    cursor.if_exists()
    cursor.take("ONLY")
    begin = cursor.at
    try:
        cursor.name()
    except NotUnderstood:
        return None
    own = [token for token in statement.tokens[begin : cursor.at] if token.text != "."]
    folded = [
        token.upper if token.kind == "word" and not kept else token.identifier for token in own
    ]
    return words[0] if kind == "TABLE" else "INDEX", tuple(folded)


def _schema_set(statement: Statement) -> str:
    """The schema of names without one after a statement, "" where that is not known."""
    if statement.words[0] == "CONNECT":
        return ""
    tokens = statement.tokens
    last = tokens[-1]
    if statement.words[0] == "CREATE":  # for what stands inside it
        names = [token for token in tokens[2:] if token.upper != "AUTHORIZATION"]
        last = names[0] if names else last
    if last.kind in ("text", "name"):
        return last.identifier
    return "" if last.upper in ("USER", "DEFAULT") or last.kind != "word" else last.upper
