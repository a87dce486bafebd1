"""Db2's schema files, statement by statement: what ``db2look`` 8.2 to 12.1 and the generators for
z/OS write, and what people wrote by hand.

A CREATE or ALTER TABLE that is not understood as a whole is read part by part, so that a clause
nobody knows costs neither the keys beside it nor the columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp

from sqlgen.constraints import HASH_KEY
from sqlgen.db2.script_file import statements
from sqlgen.ddl_reader import holds_statement, swallows
from sqlgen.ddl_script import ScriptToken, Statement, after_name, close_of, listed
from sqlgen.key_clauses import KEY_WORDS, states_key
from sqlgen.rename_clauses import rename_statement
from sqlgen.schema_statements import (
    DYNAMIC_TABLE,
    WITH_OBJECT,
    SchemaReading,
    SchemaStatements,
    Unread,
    beginning,
    count_parts,
    kind_of,
    parsed,
    unique_of_nothing,
)

_TABLE = re.compile(r"CREATE( OR REPLACE)? TABLE\b|ALTER TABLE\b")
_UNIQUE_INDEX = re.compile(r"CREATE( \S+){0,2}? UNIQUE( \S+){0,4}? INDEX\b")
_ENDS_TABLE = re.compile(r"DROP( TABLE| INDEX)\b|(DROP|RENAME)( TABLE| INDEX)?\b")
_SCHEMA = re.compile(r"(SET (CURRENT )?(SCHEMA|SQLID)|SET CURRENT_SCHEMA|CREATE SCHEMA|CONNECT)\b")
#: Statements that may hold others as text.
_DYNAMIC = re.compile(r"(BEGIN|CALL|EXECUTE|\S+ : BEGIN)\b")
#: What else a script holds that says nothing about keys.
_OTHERS = frozenset(
    "ACTIVATE ATTACH AUDIT BACKUP CALL CHANGE COMMIT CONNECT DB2 DB2START DB2STOP DEACTIVATE"
    " DECLARE DELETE DESCRIBE DETACH ECHO EXPLAIN EXPORT FLUSH FORCE FREE GET GRANT IMPORT INSERT"
    " LIST LOAD LOCK MERGE QUIESCE QUIT REBIND REFRESH RELEASE REORG RESET REVOKE ROLLBACK RUNSTATS"
    " SAVEPOINT SELECT SET SIGNAL TERMINATE TRANSFER TRUNCATE UNQUIESCE UPDATE VALUES WITH ! ?"
    # the rest of a routine's body that was cut apart
    " CLOSE ELSE ELSEIF END FETCH FOR IF ITERATE LEAVE LOOP OPEN REPEAT RESIGNAL RETURN UNTIL"
    " WHEN WHILE".split()
)
#: How an action of ALTER TABLE begins.
_ACTIONS = frozenset({"ADD", "ALTER", "DROP", "RENAME"})
_KEYS_ALONE = frozenset({"CONSTRAINT", "FOREIGN", "PRIMARY", "UNIQUE", "CHECK"})


def read(text: str) -> SchemaStatements:
    """What a schema file says of tables and keys; tables without a schema get the one that the
    file set."""
    reading, schema = SchemaReading(), ""
    for statement in statements(text):
        head = statement.head(8)
        if _SCHEMA.match(head):
            schema = _schema(statement)
        before = len(reading.trees)
        _read(reading, statement, head)
        for tree in reading.trees[before:]:
            _qualify(tree, schema)
    return reading.done()


def _read(reading: SchemaReading, statement: Statement, head: str) -> None:
    if not (_TABLE.match(head) or _UNIQUE_INDEX.match(head) or _ENDS_TABLE.match(head)):
        _pass_over(reading, statement, head)
        return
    if head.startswith("CREATE") and not _UNIQUE_INDEX.match(head):
        count_parts(reading, statement.pieces)
    if head.startswith("RENAME"):
        trees = rename_statement(statement.pieces)
    else:
        trees = parsed(statement.text, "db2")
    if trees is not None:
        reading.trees += trees + _hash_key(statement)
    elif head.startswith("ALTER"):
        _actions(reading, statement)
    elif _UNIQUE_INDEX.match(head):
        _index(reading, statement)
    elif head.startswith("CREATE"):
        _elements(reading, statement)
    elif head.startswith("RENAME"):
        reading.unread.append(Unread(statement.line, beginning(statement.text)))
    else:
        _pass_over(reading, statement, head)


def _pass_over(reading: SchemaReading, statement: Statement, head: str) -> None:
    first = head.partition(" ")[0]
    known = first in WITH_OBJECT or first in _OTHERS
    dynamic = _DYNAMIC.match(head) and DYNAMIC_TABLE.search(statement.text)
    words = {piece.upper for piece in statement.pieces if piece.kind == "word"}
    ran_on = holds_statement(statement.pieces) or swallows(statement.pieces)
    ran_on |= unique_of_nothing(head)
    if ran_on or dynamic or (not known and not _DYNAMIC.match(head) and words & KEY_WORDS):
        reading.unread.append(Unread(statement.line, beginning(statement.text)))
    else:
        reading.passed[kind_of(head)] += 1


def _schema(statement: Statement) -> str:
    """The schema of names without one after a statement, "" where that is not known."""
    pieces = statement.pieces
    if statement.head(1) == "CONNECT":
        return ""
    last = pieces[-1]
    if statement.head(1) == "CREATE":  # for what stands inside it
        names = [piece for piece in pieces[2:] if piece.upper != "AUTHORIZATION"]
        last = names[0] if names else last
    if last.kind == "text":
        return last.text[1:-1].replace("''", "'").rstrip()
    if last.kind == "name":
        return last.text[1:-1].replace('""', '"').rstrip()
    return "" if last.upper in ("USER", "DEFAULT") or last.kind != "word" else last.upper


def _qualify(tree: exp.Expr, schema: str) -> None:
    for table in tree.find_all(exp.Table):
        if isinstance(table.parent, exp.AlterRename):
            continue  # it stays in its schema
        name = table.args.get("db")
        if isinstance(name, exp.Identifier):
            name.set("this", name.name.rstrip())
        elif schema:
            table.set("db", exp.to_identifier(schema, quoted=True))


def _hash_key(statement: Statement) -> list[exp.Expr]:
    """The unique key by whose hash Db2 for z/OS organizes a table, as a key of its own."""
    pieces = statement.pieces
    words = [piece.upper for piece in pieces]
    for at in range(len(words) - 4):
        if words[at : at + 5] == ["ORGANIZE", "BY", "HASH", "UNIQUE", "("]:
            name_at = words.index("TABLE") + 1
            name = statement.of(pieces[name_at : after_name(pieces, name_at)])
            columns = statement.of(pieces[at + 4 : close_of(pieces, at + 4) + 1])
            key = f'ALTER TABLE {name} ADD CONSTRAINT "{HASH_KEY}" UNIQUE {columns}'
            return parsed(key, "db2") or []
    return []


# -- statements that are not understood as a whole
# -------------------------------------------------------------------------------------------------


def _elements(reading: SchemaReading, statement: Statement) -> None:
    """CREATE TABLE, column by column and key by key; what follows the columns is about storage, or
    a query, unless it has words of keys."""
    pieces = statement.pieces
    name_at = 1 + next(i for i, piece in enumerate(pieces) if piece.upper == "TABLE")
    start = after_name(pieces, name_at)
    if start >= len(pieces) or pieces[start].text != "(":
        by_other = {piece.upper for piece in pieces[start:]} & {"AS", "LIKE", "OF"}
        if by_other and not states_key(pieces[start:]):
            reading.passed["CREATE TABLE by a query or another table"] += 1
        else:
            reading.unread.append(Unread(statement.line, beginning(statement.text)))
        return
    name = statement.of(pieces[name_at:start])
    table = _table(name)
    for part in listed(pieces, start):
        said = statement.of(part)
        trees = parsed(f"CREATE TABLE {name} ({said})", "db2")
        if table is None or trees is None:
            line = statement.line_of(part[0])
            reading.unread.append(
                Unread(line, f"{beginning(said)} (table {name})", table, states_key(part))
            )
        else:
            reading.trees += trees
    rest = pieces[close_of(pieces, start) + 1 :]
    if holds_statement(rest) or states_key(rest):
        reading.unread.append(
            Unread(statement.line_of(rest[0]), f"{beginning(statement.of(rest))} (table {name})")
        )


def _actions(reading: SchemaReading, statement: Statement) -> None:
    """ALTER TABLE, action by action."""
    pieces = statement.pieces
    start = after_name(pieces, 2)
    name = statement.of(pieces[2:start])
    table = _table(name)
    for part in _split_actions(pieces[start:]):
        said = statement.of(part)
        trees = parsed(f"ALTER TABLE {name} {said}", "db2")
        if table is not None and trees is not None:
            reading.trees += trees
        elif states_key(part) or part[0].upper == "ADD":
            line = statement.line_of(part[0])
            reading.unread.append(
                Unread(line, f"{beginning(said)} (table {name})", table, states_key(part))
            )
        else:
            reading.passed["ALTER TABLE"] += 1


def _index(reading: SchemaReading, statement: Statement) -> None:
    """CREATE UNIQUE INDEX without what follows its columns."""
    pieces = statement.pieces
    open_at = next((i for i, piece in enumerate(pieces) if piece.text == "("), len(pieces))
    close_at = close_of(pieces, open_at)
    trees = parsed(statement.of(pieces[: close_at + 1]), "db2")
    after = {piece.upper for piece in pieces[close_at + 1 :]}
    if trees is None or "XMLPATTERN" in after:
        on = next((i + 1 for i, piece in enumerate(pieces) if piece.upper == "ON"), len(pieces))
        # an index of an auxiliary table has no columns, and is about no table of a log
        table = _table(statement.of(pieces[on : after_name(pieces, on)]))
        reading.unread.append(Unread(statement.line, beginning(statement.text), table))
    else:
        reading.trees += trees


def _table(name: str) -> exp.Table | None:
    trees = parsed(f"SELECT 1 FROM {name}", "db2")
    return trees[0].find(exp.Table) if trees else None


def _split_actions(pieces: Sequence[ScriptToken]) -> Iterator[Sequence[ScriptToken]]:
    """The actions of ALTER TABLE."""
    begin, depth = 0, 0
    for place, piece in enumerate(pieces):
        depth += (piece.text == "(") - (piece.text == ")")
        if place == begin or depth or piece.kind != "word":
            continue
        before = pieces[place - 1].upper
        starts = piece.upper in _ACTIONS and not _continues(pieces[begin:place])
        if starts or (piece.upper in _KEYS_ALONE and before == ")"):
            yield pieces[begin:place]
            begin = place
    if begin < len(pieces):
        yield pieces[begin:]


def _continues(action: Sequence[ScriptToken]) -> bool:
    """Whether DROP or the like belongs to the action before (``ALTER COLUMN A DROP DEFAULT``)."""
    words = [piece.upper for piece in action]
    return words[0] == "ALTER" and len(words) <= (3 if words[1:2] == ["COLUMN"] else 2)
