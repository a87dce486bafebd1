"""Schema files of any database but Db2, statement by statement and part by part, so that a clause
nobody knows costs neither the keys beside it nor the columns.

What states keys is read token by token (:mod:`sqlgen.key_clauses`); columns, for what else they
declare, by sqlglot in the file's dialect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp

from sqlgen import key_clauses
from sqlgen.alter_actions import (
    ACTIONS,
    BEGIN_ACTIONS,
    declared_by,
    default_for,
    key_clause_of,
    said_in_full,
    split_actions,
)
from sqlgen.ddl_script import (
    LEXIS,
    Lexis,
    ScriptToken,
    Statement,
    after_name,
    close_of,
    closes,
    entries,
    is_routine,
    listed,
    statements,
)
from sqlgen.key_clauses import KEY_WORDS, NotUnderstood, identifier, states_key, table_of
from sqlgen.rename_clauses import (
    altered,
    dropped_columns,
    rename_action,
    rename_statement,
    sp_rename,
)
from sqlgen.schema_statements import (
    DYNAMIC_TABLE,
    SchemaReading,
    SchemaStatements,
    Unread,
    beginning,
    count_parts,
    kind_of,
    parsed,
    unique_of_nothing,
)
from sqlgen.switch_clauses import each_in_full, switched

#: Kinds of object that have a word of tables or keys in their definitions.
_OTHER_OBJECTS = frozenset(
    "FUNCTION PROCEDURE PROC TRIGGER VIEW TYPE PACKAGE PUBLICATION POLICY RULE STATISTICS SEQUENCE"
    " DOMAIN EVENT EXTENSION SCHEMA DATABASE AGGREGATE CAST OPERATOR ON AS (".split()
)
#: How a statement begins that says nothing about keys, unless it holds others as text.
_KNOWN = frozenset(
    "CREATE ALTER DROP COMMENT GRANT REVOKE DENY SET RESET SELECT INSERT UPDATE DELETE MERGE"
    " REPLACE VALUES WITH COMMIT ROLLBACK SAVEPOINT RELEASE START BEGIN END USE GO PRINT IF ELSE"
    " EXEC EXECUTE DECLARE DO CALL COPY ANALYZE ANALYSE VACUUM REINDEX CLUSTER REFRESH LOCK UNLOCK"
    " TRUNCATE SHOW EXPLAIN PRAGMA ATTACH DETACH LOAD IMPORT INSTALL EXPORT OPTIMIZE FLUSH SECURITY"
    " NOTIFY LISTEN DISCARD CHECKPOINT KILL RAISERROR THROW WAITFOR RETURN WHILE PURGE AUDIT"
    " NOAUDIT CONNECT DISCONNECT RENAME ENABLE DISABLE REASSIGN UNDROP".split()
)
#: How a piece begins of a statement that was cut too early.
_PIECES = frozenset(
    "ON INDEX CONSTRAINT USING KEY TABLE MATCH DEFERRABLE INITIALLY NOT WHERE ( ) ,".split()
)
#: Words of a foreign key alone.
_OF_REFERENCES = frozenset({"DELETE", "DEFERRABLE", "DEFERRED", "MATCH"})
_DYNAMIC = frozenset("BEGIN CALL EXEC EXECUTE DO IF ELSE DECLARE WHILE PREPARE WITH".split())
#: Where one stands alone, what it opens has no end.
_QUOTES = frozenset("'\"`")
_RENAMES = "what has another name later is not followed"
_RENAMING = re.compile(r"\bsp_rename\b", re.I)
_RENAMES_PARTITION = re.compile(r"RENAME (SUB)?PARTITION ")
#: What RENAME is about where it is about neither tables nor indexes.
_RENAMED_OTHERS = frozenset({"USER", "ROLE", "DATABASE", "VIEW", "SEQUENCE"})
#: Behind TABLE where a statement gives or takes the right to it.
_NO_TABLE = frozenset({"TO", "FROM", ",", "ON", ""})
#: In a text that has begun too early, because one before it does not end.
_SWALLOWED = re.compile(
    r"\b(PRIMARY|FOREIGN)\s+KEY\b|\bUNIQUE\s*([(,\n]|KEY|INDEX|(NON)?CLUSTERED)"
    r"|\b(CREATE|ALTER)\s+TABLE\b",
    re.I,
)
_MYSQLS = frozenset({"mysql", "mariadb", "singlestore", "doris", "starrocks"})
_TSQLS = frozenset({"tsql", "fabric"})
#: Entries of MySQL's tables that state no key.
_PLAIN_ENTRIES = frozenset({"FULLTEXT", "SPATIAL", "KEY", "INDEX"})
#: Words of a column or check that say nothing of its values.
_OF_NO_VALUE = frozenset(
    "ENABLE VALIDATE NOVALIDATE RELY NORELY VISIBLE INVISIBLE SPARSE ROWGUIDCOL".split()
)
#: Words of statements about constraints that are there.
_OF_CHECKS = frozenset({"CONSTRAINT", "NOCHECK"})
_IF = re.compile(r"IF (NOT )?EXISTS ")


def read(text: str, dialect: str) -> SchemaStatements:
    """What a schema file of a dialect says of tables and keys."""
    reader = _FileReader(dialect)
    for statement in statements(text, dialect):
        reader.statement(statement)
    return reader.reading.done()


class _FileReader:
    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.lexis = LEXIS.get(dialect, Lexis())
        self.reading = SchemaReading()

    def statement(self, statement: Statement) -> None:
        """Read one statement; where it is not understood at all, it is named."""
        try:
            self._statement(statement)
        except NotUnderstood:
            self.unread(statement, statement.pieces)

    def _statement(self, statement: Statement) -> None:
        pieces = statement.pieces
        if swallows(pieces) or any(piece.text in _QUOTES for piece in pieces):
            self.unread(statement, pieces)
        first, second = (*(piece.upper for piece in pieces[:2]), "")[:2]
        kind, at = _object(pieces)
        if first == "CREATE" and kind == "TABLE":
            self._create(statement, at)
        elif first == "CREATE" and kind == "INDEX":
            self._index(statement)
        elif first == "ALTER" and kind == "TABLE":
            self._alter(statement, at)
        elif first == "RENAME" or (first == "ALTER" and second in ("INDEX", "SCHEMA")):
            self._renamed(statement, first)
        elif first == "DROP" and second == "TABLE":
            self._gone(statement)
        elif first == "DROP" and second == "INDEX":
            self.reading.trees.append(_dropped_index(pieces))
        else:
            self._pass_over(statement, first)

    def unread(
        self,
        statement: Statement,
        pieces: Sequence[ScriptToken],
        table: exp.Table | None = None,
        keys: bool = True,
    ) -> None:
        """Name a part of a statement."""
        said = beginning(statement.of(pieces))
        if table is not None and len(pieces) < len(statement.pieces):
            said += f" (table {table.sql('postgres')})"
        self.reading.unread.append(Unread(statement.line_of(pieces[0]), said, table, keys))

    # -- CREATE TABLE

    def _create(self, statement: Statement, at: int) -> None:
        pieces = statement.pieces
        start = after_name(pieces, at)
        if at >= len(pieces):
            self.unread(statement, pieces)
            return
        table = table_of(pieces[at:start])
        if start >= len(pieces) or pieces[start].text != "(":
            if start < len(pieces) and pieces[start].upper == "AS":
                self.reading.passed["CREATE TABLE by a query"] += 1
            else:
                inherits = pieces[min(start, len(pieces) - 1)].upper in ("PARTITION", "OF", "LIKE")
                self.unread(statement, pieces, table if inherits else None)
            return
        end = close_of(pieces, start)
        elements: list[exp.Expr] = []
        others: list[exp.Expr] = []
        for part in listed(pieces, start):
            for tree in self._element(statement, part, table):
                (others if isinstance(tree, exp.Create) else elements).append(tree)
        if elements:
            schema = exp.Schema(this=table, expressions=elements)
            self.reading.trees.append(exp.Create(this=schema, kind="TABLE"))
        self.reading.trees += others
        rest = pieces[end + 1 :]
        count_parts(self.reading, rest)
        if holds_statement(rest) or states_key(rest):
            self.unread(statement, rest, table)
        elif not closes(pieces[start:]):
            self.unread(statement, pieces, table)

    def _element(
        self, statement: Statement, part: Sequence[ScriptToken], table: exp.Table
    ) -> Iterator[exp.Expr]:
        """The trees of an entry of a table's list; what is not understood is named."""
        try:
            yield from self._understood(statement, part, table)
        except NotUnderstood:
            self.unread(statement, part, table)

    def _understood(
        self, statement: Statement, part: Sequence[ScriptToken], table: exp.Table
    ) -> Iterator[exp.Expr]:
        name, own = "", part
        if part[0].upper == "CONSTRAINT" and len(part) > 1:
            unnamed = part[1].upper in KEY_WORDS | {"CHECK"}
            name = "" if unnamed else identifier(part[1]).name
            own = part[1 if unnamed else 2 :]
        tree = key_clauses.key_clause(own, name, table)
        first = own[0].upper if own else ""
        if tree is not None:
            yield tree
        elif first == "INDEX" and self.dialect in _TSQLS and len(own) > 2:
            if own[2].upper == "UNIQUE":
                yield self._required(
                    key_clauses.key_clause(own[2:], identifier(own[1]).name, table)
                )
            elif states_key(own):
                raise NotUnderstood
        elif first in ("PERIOD", "SUPPLEMENTAL") or (
            self.dialect in _MYSQLS and first in _PLAIN_ENTRIES
        ):
            pass
        elif first in KEY_WORDS or first in ("LIKE", "EXCLUDE", "(", "ON", ")"):
            raise NotUnderstood
        elif first == "CHECK" or own is not part:
            yield from self._parsed(statement, part, table, states_key(own))
        else:
            yield from self._column(statement, part, table)

    @staticmethod
    def _required(tree: exp.Expr | None) -> exp.Expr:
        if tree is None:
            raise NotUnderstood
        return tree

    def _parsed(
        self,
        statement: Statement,
        part: Sequence[ScriptToken],
        table: exp.Table,
        keys: bool = False,
        said: str = "",
    ) -> Iterator[exp.Expr]:
        """An entry as sqlglot reads it in the file's dialect."""
        for text in (said or statement.of(part), _plain(statement, part)):
            trees = None if keys else parsed(f"CREATE TABLE t ({text})", self.dialect)
            schema = trees[0].this if trees and isinstance(trees[0], exp.Create) else None
            if isinstance(schema, exp.Schema) and len(schema.expressions) == 1:
                yield schema.expressions[0].pop()
                return
        self.unread(statement, part, table, keys or bool(_words(part[1:]) & _OF_REFERENCES))

    def _column(
        self, statement: Statement, part: Sequence[ScriptToken], table: exp.Table
    ) -> Iterator[exp.Expr]:
        keys = list(key_clauses.column_keys(part[1:], self.dialect in _MYSQLS))
        if states_key(_bracketed(part)):
            raise NotUnderstood
        column: exp.ColumnDef | None = None
        for tree in self._parsed(statement, part, table):
            if isinstance(tree, exp.ColumnDef):
                column = tree
        if column is None:
            if not keys:
                return
            column = exp.ColumnDef(this=identifier(part[0]))
        if not all(isinstance(one, exp.ColumnConstraint) for one in column.constraints):
            raise NotUnderstood
        said = (
            exp.PrimaryKeyColumnConstraint,
            exp.UniqueColumnConstraint,
            exp.Reference,
        )
        stay = [one for one in column.constraints if not isinstance(one.kind, said)]
        column.set("constraints", [*stay, *keys])
        yield column

    # -- ALTER TABLE, CREATE INDEX, DROP

    def _alter(self, statement: Statement, at: int) -> None:
        pieces = statement.pieces
        start = after_name(pieces, at)
        named = at < len(pieces) and pieces[at].upper not in BEGIN_ACTIONS
        if start >= len(pieces) or not named:
            self.unread(statement, pieces)
            return
        table = table_of(pieces[at:start])
        start += pieces[start].text == "*"
        if [piece.upper for piece in pieces[start : start + 2]] in (
            ["WITH", "CHECK"],
            ["WITH", "NOCHECK"],
        ):
            start += 2
        adding = False
        moved: list[exp.Expr] = []  # what the table is called in the end, for the next statement
        for action in self._actions(pieces[start:]):
            first = action[0].upper
            adding = first == "ADD" or (adding and first not in ACTIONS)
            renamed = None if adding else rename_action(table, action, self.dialect)
            if isinstance(renamed, exp.AlterRename):
                moved.append(altered(table, renamed))
            elif renamed is not None and first == "RENAME":
                self.reading.trees.append(altered(table, renamed))
            else:
                self._action(statement, table, action, adding)
                if renamed is not None:
                    self.reading.trees.append(altered(table, renamed))
        self.reading.trees += moved

    def _actions(self, pieces: Sequence[ScriptToken]) -> Iterator[Sequence[ScriptToken]]:
        """The actions of ALTER TABLE, each said in full."""
        is_tsql = self.dialect in _TSQLS
        actions = said_in_full(split_actions(pieces), is_tsql)
        return each_in_full(actions) if is_tsql else actions

    def _action(
        self,
        statement: Statement,
        table: exp.Table,
        action: Sequence[ScriptToken],
        adding: bool,
    ) -> None:
        if holds_statement(action) or action[0].text in ("(", ")"):
            self.unread(statement, action, table)
            return
        words = " ".join(piece.upper for piece in action[:6]) + " "
        if adding:
            self._add(statement, table, action[action[0].upper == "ADD" :])
            return
        clause = key_clause_of(action, words, bare=self.dialect in _TSQLS)
        if clause is not None:
            self.reading.trees.append(altered(table, clause))
        elif (dropped := dropped_columns(action, self.dialect in _TSQLS)) is not None:
            self.reading.trees.append(altered(table, dropped))
        elif words.startswith("RENAME ") and not _RENAMES_PARTITION.match(words):
            self._not_followed(statement, action, table)
        elif (declared := declared_by(statement, action, words)) is not None:
            for tree in self._parsed(statement, action, table, said=declared):
                self.reading.trees.append(altered(table, tree))
        elif states_key(action) and action[0].upper not in ("CLUSTER", "REPLICA", "OWNER"):
            self.unread(statement, action, table if action[0].upper in ACTIONS else None)
        elif action[0].upper in ("MODIFY", "CHANGE") and "DEFAULT" in words:
            self.unread(statement, action, table, keys=False)
        else:
            self._switch(statement, table, action)

    def _switch(
        self, statement: Statement, table: exp.Table, action: Sequence[ScriptToken]
    ) -> None:
        """An action that says which constraints the database sees to, or is about none."""
        try:
            clause = switched(action, self.dialect in _TSQLS)
        except NotUnderstood:
            self.unread(statement, action, table)
            return
        if clause is not None:
            self.reading.trees.append(altered(table, clause))
        else:
            self.reading.passed["ALTER TABLE"] += 1

    def _add(self, statement: Statement, table: exp.Table, said: Sequence[ScriptToken]) -> None:
        """What ADD adds: an entry as of CREATE TABLE, or several in brackets."""
        if said and said[0].upper == "COLUMN":
            said = said[1:]
        if _IF.match(" ".join(piece.upper for piece in said[:3]) + " "):
            said = said[3:]
        first = said[0].upper if said else ""
        if not said or first in ("SUPPLEMENTAL", "PARTITION", "VALUE", "TABLE", "LOGFILE"):
            self.reading.passed["ALTER TABLE"] += 1
            return
        if (declared := default_for(statement, said)) is not None:
            for tree in self._parsed(statement, said, table, said=declared):
                self.reading.trees.append(altered(table, tree))
            return
        parts = list(listed(said, 0)) if first == "(" else [said]
        behind = said[close_of(said, 0) :] if first == "(" else ()
        if states_key(behind) or any(piece.upper == "CASCADE" for piece in behind):
            self.unread(statement, said, table)
        for part in parts:
            for tree in self._element(statement, part, table):
                if isinstance(tree, exp.Create):
                    self.reading.trees.append(tree)
                elif isinstance(tree, exp.ColumnDef):
                    self.reading.trees.append(altered(table, tree))
                else:
                    self.reading.trees.append(altered(table, exp.AddConstraint(expressions=[tree])))

    def _index(self, statement: Statement) -> None:
        words = {piece.upper for piece in statement.pieces[1:5]}
        if "UNIQUE" not in words:
            self._pass_over(statement, "CREATE")
            return
        try:
            tree = key_clauses.index_statement(statement.pieces)
        except NotUnderstood:
            self.unread(statement, statement.pieces)
        else:
            self.reading.trees.append(tree)

    def _gone(self, statement: Statement) -> None:
        pieces = statement.pieces
        start = 4 if _IF.match(" ".join(piece.upper for piece in pieces[2:4]) + " ") else 2
        for name in entries(pieces[start:]):
            end = after_name(name, 0)
            self.reading.trees.append(exp.Drop(tables=[table_of(name[:end])], kind="TABLE"))

    def _renamed(self, statement: Statement, first: str) -> None:
        trees = rename_statement(statement.pieces)
        if trees is not None:
            self.reading.trees += trees
        elif first == "ALTER" or statement.pieces[1].upper in _RENAMED_OTHERS:
            self._pass_over(statement, first)
        else:
            self._not_followed(statement, statement.pieces)

    def _not_followed(
        self, statement: Statement, pieces: Sequence[ScriptToken], table: exp.Table | None = None
    ) -> None:
        said = f"{beginning(statement.of(pieces))}: {_RENAMES}"
        self.reading.unread.append(Unread(statement.line_of(pieces[0]), said, table))

    def _made(self, table: exp.Table) -> bool:
        """Whether the file speaks of a table of that name: a procedure may rename other things."""
        return any(
            node.name.upper() == table.name.upper()
            for tree in self.reading.trees
            for node in tree.find_all(exp.Table)
        )

    # -- all others

    def _pass_over(self, statement: Statement, first: str) -> None:
        pieces = statement.pieces
        head = statement.head(12)
        kind = kind_of(head)
        named = holds_statement(pieces) or unique_of_nothing(head)
        if kind.endswith((" TABLE", " INDEX")) or first == "WITH":
            named |= states_key(pieces)
        if first not in _KNOWN or (first == "ALTER" and not _alters_other(pieces)):
            named |= states_key(pieces) or first in _PIECES or bool(_words(pieces) & _OF_CHECKS)
            named |= first == "ALTER" and len(pieces) < 3
        elif first in _DYNAMIC:
            named |= DYNAMIC_TABLE.search(statement.text) is not None
        if named:
            self.unread(statement, pieces)
        elif _RENAMING.search(statement.text) and not is_routine(pieces, self.lexis):
            tree = sp_rename(pieces)
            if tree is not None and self._made(tree.this):
                self.reading.trees.append(tree)
            else:
                self._not_followed(statement, pieces)
        elif kind != "CREATE SCHEMA":  # where the tables are
            self.reading.passed[kind] += 1


def _alters_other(pieces: Sequence[ScriptToken]) -> bool:
    """Whether ALTER is about what has no keys."""
    return bool(_words(pieces[1:3]) & (_OTHER_OBJECTS | _RENAMED_OTHERS | {"INDEX"}))


def _dropped_index(pieces: Sequence[ScriptToken]) -> exp.Drop:
    """DROP INDEX, with the table (``expression``) where the statement names it."""
    names = [piece for piece in pieces[2:] if piece.upper not in ("IF", "EXISTS", "CONCURRENTLY")]
    end = after_name(names, 0)
    on = names[end + 1 :] if [piece.upper for piece in names[end : end + 1]] == ["ON"] else []
    table = table_of(on[: after_name(on, 0)]) if on else None
    return exp.Drop(tables=[table_of(names[:end] or pieces[1:2])], kind="INDEX", expression=table)


def _object(pieces: Sequence[ScriptToken]) -> tuple[str, int]:
    """TABLE or INDEX where a statement is about one, and the place of its name."""
    for place, piece in enumerate(pieces[1:9], 1):
        if piece.upper in _OTHER_OBJECTS or piece.kind not in ("word", "other"):
            break
        if piece.upper in ("TABLE", "INDEX"):
            at = place + 1
            words = [one.upper for one in pieces[at : at + 3]]
            at += (
                3 if words == ["IF", "NOT", "EXISTS"] else 2 if words[:2] == ["IF", "EXISTS"] else 0
            )
            at += [one.upper for one in pieces[at : at + 1]] == ["ONLY"]
            return piece.upper, at
    return "", 0


def holds_statement(pieces: Sequence[ScriptToken]) -> bool:
    """Whether a statement about tables or unique indexes begins behind the first word, because
    nothing that we know ended the one before."""
    for place, piece in enumerate(pieces):
        if place and piece.kind == "word" and piece.upper in ("CREATE", "ALTER"):
            kind, at = _object(pieces[place : place + 9])
            named = pieces[place + at].upper if place + at < len(pieces) else ""
            if kind == "TABLE" and named not in _NO_TABLE and not named.startswith("#"):
                return True
            if kind == "INDEX" and "UNIQUE" in _words(pieces[place : place + 4]):
                return True
    return False


def swallows(pieces: Sequence[ScriptToken]) -> bool:
    """Whether a quoted thing holds lines that may state keys: one may have ended too late."""
    return any(
        piece.kind in ("text", "name")
        and piece.text[0] != "$"
        and "\n" in piece.text
        and _SWALLOWED.search(piece.text)
        for piece in pieces
    )


def _bracketed(pieces: Sequence[ScriptToken]) -> list[ScriptToken]:
    """What stands in brackets."""
    inside, depth = list[ScriptToken](), 0
    for piece in pieces:
        depth += (piece.text == "(") - (piece.text == ")")
        if depth:
            inside.append(piece)
    return inside


def _words(pieces: Sequence[ScriptToken]) -> set[str]:
    return {piece.upper for piece in pieces}


def _plain(statement: Statement, part: Sequence[ScriptToken]) -> str:
    """An entry without words that some databases have and that declare nothing of values."""
    kept, at, depth = list[str](), 0, 0
    while at < len(part):
        piece = part[at]
        depth += (piece.text == "(") - (piece.text == ")")
        unit = depth and piece.upper in ("CHAR", "BYTE") and part[at - 1].text.isdigit()
        if piece.upper == "COLLATE" and piece.kind == "word":
            at = after_name(part, at + 1)
            continue
        if not (unit or (depth == 0 and piece.upper in _OF_NO_VALUE)):
            kept.append(piece.text)
        at += 1
    return " ".join(kept)
