"""The clauses of DDL that state keys, checks and what columns are, read token by token in the words
of any database.

Vendors write many things behind a key: where its index lies, how full its pages are, when it is
checked. What is known to say nothing of the key itself is passed over; a word that is not known
makes the clause one that is not understood, for it may say that there is no such key.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

from sqlgen.ddl.ddl_tokens import KEY_WORDS, Cursor, NotUnderstood, is_slip

#: Dialects of MySQL's kind, and of SQL Server's.
MYSQLS = frozenset({"mysql", "mariadb", "singlestore", "doris", "starrocks"})
TSQLS = frozenset({"tsql", "fabric"})

#: What may stand behind the columns of a key and does not change it: word -> what follows it, a
#: name (n), another word or number (w), or nothing.
_HARMLESS = {
    **dict.fromkeys(
        "ASC DESC USING INDEX BTREE HASH RTREE WITH ENABLE ENABLED VALIDATE NOVALIDATE DEFERRABLE"
        " INITIALLY DEFERRED IMMEDIATE ENFORCED RELY NORELY COMPUTE STATISTICS STORAGE LOGGING"
        " NOLOGGING LOCAL GLOBAL CLUSTERED NONCLUSTERED COLUMNSTORE VISIBLE INVISIBLE REVERSE"
        " NOREVERSE SORT NOSORT COMPRESS NOCOMPRESS PARALLEL NOPARALLEL BUFFER_POOL ONLINE"
        " VALID = TRUSTED UNUSABLE ALGORITHM LOCK DEFAULT INPLACE COPY INCLUDE".split(),
        "",
    ),
    **dict.fromkeys(
        "COMMENT MATCH PCTFREE PCTUSED INITRANS MAXTRANS KEY_BLOCK_SIZE FILLFACTOR PARSER ENGINE"
        " CHARSET".split(),
        "w",
    ),
    **dict.fromkeys("TABLESPACE FILESTREAM_ON FLASH_CACHE CELL_FLASH_CACHE".split(), "n"),
}
_ON_DELETE = ("SET NULL", "SET DEFAULT", "NO ACTION", "CASCADE", "RESTRICT")
#: What else may stand between the words of a key and its columns.
_BEFORE_COLUMNS = frozenset(
    "KEY INDEX CLUSTERED NONCLUSTERED HASH USING BTREE IF NOT EXISTS".split()
)
#: What has something in brackets behind the columns of a key.
_BEFORE_GROUPS = frozenset("WITH STORAGE INDEX INCLUDE PARALLEL LOCAL =".split())
#: How statements begin, which are words that no condition has.
_BEGIN_STATEMENTS = frozenset({"ALTER", "CREATE", "DROP", "GO"})
#: What is there where a statement ends too soon: nothing, or a word of a block.
_NO_VALUES = frozenset({"", "BEGIN", "END"})
#: Behind a column of an index; Db2 may keep its values in an order of chance.
_OF_KEY_COLUMN = frozenset("ASC DESC NULLS FIRST LAST COLLATE RANDOM".split())
#: What begins the next clause of a column.
_COLUMN_CLAUSES = frozenset(
    "CONSTRAINT PRIMARY UNIQUE REFERENCES FOREIGN CHECK DEFAULT NULL COLLATE GENERATED COMMENT"
    " AUTO_INCREMENT IDENTITY AS ENCODE AUTOINCREMENT".split()
)
#: Words behind the first of a type that belong to it.
_OF_TYPE = frozenset(
    "UNSIGNED ZEROFILL SIGNED VARYING PRECISION LARGE OBJECT BINARY CHAR CHARACTER VARCHAR VARCHAR2"
    " VARGRAPHIC RAW INT INTEGER YEAR MONTH DAY TO SECOND HOUR MINUTE BYTE".split()
)
_TYPE_PAIRS = {("FOR", "BIT"), ("WITH", "TIME"), ("WITH", "LOCAL"), ("WITHOUT", "TIME")}
#: Words of a column that say nothing of its keys, with the number of names that follow each.
_OF_COLUMN = {
    **dict.fromkeys(
        "DATA SBCS MIXED DBCS IMPLICITLY HIDDEN LOGGED COMPACT COMPRESS SYSTEM ENABLE DISABLE"
        " VALIDATE NOVALIDATE RELY NORELY VISIBLE INVISIBLE SPARSE ROWGUIDCOL PERSISTED STORED"
        " VIRTUAL AUTO_INCREMENT AUTOINCREMENT TIME ZONE ENFORCED TRUSTED REPLICATION ASCII UNICODE"
        " BINARY KEY CONFLICT ROLLBACK ABORT FAIL IGNORE REPLACE NULL UNSIGNED [ ]".split(),
        0,
    ),
    **dict.fromkeys(
        "CCSID LENGTH COMMENT COLLATE CHARSET ENCODE SRID STORAGE FORMAT TITLE COLUMN_FORMAT SET"
        " SECURED AFTER FIELDPROC OPTIONS".split(),
        1,
    ),
}
#: Words of a column that take another word along.
_PAIRS = {
    ("NOT", "NULL"), ("NOT", "LOGGED"), ("NOT", "COMPACT"), ("NOT", "HIDDEN"), ("NOT", "FOR"),
    ("NOT", "TRUSTED"), ("FOR", "SBCS"), ("FOR", "MIXED"), ("INLINE", "LENGTH"), ("ON", "CONFLICT"),
    ("SYSTEM", "DEFAULT"), ("CHARACTER", "SET"), ("SECURED", "WITH"),
}  # fmt: skip
#: What ends a value.
_VALUE_ENDS = (_COLUMN_CLAUSES - {"AS"}) | frozenset(
    "NOT ON IMPLICITLY CCSID INLINE COMPRESS LOGGED COMPACT ENABLE DISABLE VALIDATE NOVALIDATE"
    " SPARSE ROWGUIDCOL VISIBLE INVISIBLE FIELDPROC SECURED ADD ALTER".split()
)


@dataclass
class Options:
    """What stands behind a key: ``where``: a condition of its rows; ``set_columns``: which columns
    ON DELETE sets, where a list says so; ``deferrable`` None: nothing is said."""

    enforced: bool = True
    deferrable: bool | None = None
    on_delete: str = "NO ACTION"
    on_update: str = "NO ACTION"
    set_columns: tuple[str, ...] = ()
    where: bool = False


@dataclass
class KeyClause:
    """A primary or unique key or unique index; ``problem``: why it is none of whole columns and all
    rows. ``deferrable``: its check can wait for the end of a transaction."""

    name: str
    columns: tuple[str, ...]
    primary: bool = False
    enforced: bool = True
    problem: str = ""
    deferrable: bool = False


@dataclass
class ReferenceClause:
    """A foreign key; ``parent``: the parts of a table's name."""

    name: str
    columns: tuple[str, ...]
    parent: tuple[str, ...]
    parent_columns: tuple[str, ...]
    options: Options


@dataclass
class CheckClause:
    """A check: its condition as it stands there."""

    name: str
    condition: str
    enforced: bool


Clause = KeyClause | ReferenceClause | CheckClause


@dataclass
class ColumnEntry:
    """A column: ``spelled`` as the database keeps it (in upper case unless it stands in quotes);
    its ``type`` as it stands there; ``default``: its value, as it stands there, "" where Db2 finds
    it out from the type, None where there is none; ``identity``: where it starts and its
    step; ``generated``: the database makes its values otherwise; ``clauses``: its keys and checks;
    ``strange``: it has words that are not known; ``named``: the names of its constraints."""

    name: str
    spelled: str
    type: str = ""
    nullable: bool = True
    default: str | None = None
    identity: tuple[str, str] | None = None
    generated: bool = False
    clauses: list[Clause] = field(default_factory=list)
    strange: bool = False
    named: list[str] = field(default_factory=list)


_PARTS, _EXPRESSION = "it is over parts of values", "it is over an expression"
PERIOD = "it is over more than columns (a period, parts of values or an expression)"
_SOME_ROWS = "it is over a part of the rows"


def constraint(cursor: Cursor, name: str = "") -> Clause | None:
    """The key, foreign key or check of a table that comes next, None where there is none.
    NotUnderstood when it is one in words that are not known."""
    if cursor.take("CONSTRAINT"):
        if cursor.peek() not in ("PRIMARY", "UNIQUE", "FOREIGN", "CHECK"):
            name = cursor.name()[-1]
        found = constraint(cursor, name)
        if found is None and cursor.states_key():
            raise NotUnderstood
        return found
    if cursor.take("FOREIGN", "KEY"):
        cursor.if_exists()
        named = name if cursor.peek() == "(" else cursor.name()[-1]
        columns = _whole(_columns(cursor))
        if not cursor.take("REFERENCES"):
            raise NotUnderstood
        return reference(cursor, name or named, columns)
    if cursor.take("PRIMARY", "KEY"):
        return _key(cursor, name, primary=True)
    if cursor.take("UNIQUE"):
        return _key(cursor, name)
    return check(cursor, name) if cursor.take("CHECK") else None


def _key(cursor: Cursor, name: str, primary: bool = False) -> KeyClause:
    _nulls(cursor)
    own = _up_to_columns(cursor, most=1)
    columns = _columns(cursor)
    found = options(cursor)
    return _of_columns(name or (own[-1] if own else ""), columns, found, primary)


def _of_columns(
    name: str, columns: list[tuple[str, str]], found: Options, primary: bool = False
) -> KeyClause:
    problems = [problem for _, problem in columns if problem]
    problem = PERIOD if PERIOD in problems else problems[0] if problems else ""
    if found.where:
        problem = _SOME_ROWS
    names = tuple(one for one, _ in columns)
    return KeyClause(name, names, primary, found.enforced, problem, bool(found.deferrable))


def unique_index(cursor: Cursor, dialect: str) -> tuple[tuple[str, ...], KeyClause]:
    """A unique index from the tokens behind INDEX, and its table. NotUnderstood."""
    own = list[str]()
    while cursor and cursor.peek() != "ON":
        if cursor.take_any(_NOT_NAMES):
            continue
        own = list(cursor.name())
        if cursor.take("USING"):
            cursor.skip()
    if not cursor.take("ON"):
        raise NotUnderstood
    cursor.take("ONLY")
    table = cursor.name()
    if _up_to_columns(cursor, most=0):
        raise NotUnderstood
    columns = _columns(cursor)
    if dialect == "db2":  # what follows is about storage, but for two clauses
        words = cursor.words()
        cursor.at = cursor.end
        found = Options(where="WHERE" in words)
        parts = [("", _PARTS)] if "GENERATE KEY USING" in " ".join(words) else []
        return table, _of_columns(own[-1] if own else "", [*columns, *parts], found)
    return table, _of_columns(own[-1] if own else "", columns, options(cursor))


_NOT_NAMES = frozenset("CONCURRENTLY IF NOT EXISTS USING BTREE HASH".split())


def _up_to_columns(cursor: Cursor, most: int) -> list[str]:
    """Take what stands before the columns of a key: the name of its index, how it is built, or
    both."""
    names = list[str]()
    while cursor and cursor.peek() != "(":
        if cursor.take("USING"):
            cursor.skip()
        elif not cursor.take_any(_BEFORE_COLUMNS):
            names.append(cursor.name()[-1])
    if len(names) > most:
        raise NotUnderstood
    return names


def _columns(cursor: Cursor) -> list[tuple[str, str]]:
    """The columns of a key in brackets, each with why it is no whole column. NotUnderstood where
    one is missing."""
    inside = cursor.group()
    words = [",", *inside.words(), ","]
    if (",", ",") in pairwise(words):
        raise NotUnderstood
    return [_column_of_key(part) for part in inside.parts()]


def _column_of_key(entry: Cursor) -> tuple[str, str]:
    if entry.words() == ["BUSINESS_TIME", "WITHOUT", "OVERLAPS"] or (
        entry.words()[1:] == ["WITHOUT", "OVERLAPS"]
    ):
        return "", PERIOD
    if not entry.is_name():
        return "", _EXPRESSION
    token = entry.token()
    assert token is not None
    entry.skip()
    if entry.peek() == "(":
        digits = [word for word in entry.words()[1:-1] if word.isdigit()]
        is_length = len(digits) == 1 and entry.words()[2:3] == [")"]
        return token.identifier, _PARTS if is_length else _EXPRESSION
    while entry:
        if entry.take("COLLATE"):
            entry.name()
            continue
        following = entry.token()
        assert following is not None
        is_operators = following.kind == "word" and following.text.endswith("_ops")
        if not (is_operators or following.upper in _OF_KEY_COLUMN):
            return token.identifier, _EXPRESSION
        entry.skip()
    return token.identifier, ""


def _whole(columns: list[tuple[str, str]]) -> tuple[str, ...]:
    if any(problem for _, problem in columns):
        raise NotUnderstood
    return tuple(name for name, _ in columns)


def _nulls(cursor: Cursor) -> None:
    if cursor.take("NULLS"):
        cursor.take("NOT")
        cursor.take("DISTINCT")


def reference(
    cursor: Cursor, name: str, columns: tuple[str, ...], of_column: bool = False
) -> ReferenceClause:
    """A foreign key, from the tokens behind REFERENCES. NotUnderstood."""
    parent = cursor.name()
    others = _whole(_columns(cursor)) if cursor.peek() == "(" else ()
    found = options(cursor, of_column)
    if found.where or (of_column and found.set_columns):
        raise NotUnderstood
    return ReferenceClause(name, columns, parent, others, found)


def check(cursor: Cursor, name: str) -> CheckClause:
    """A check, from the tokens behind CHECK. NotUnderstood."""
    if cursor.take("NOT", "FOR"):  # SQL Server: NOT FOR REPLICATION
        cursor.skip()
    inside = cursor.group()
    begin = inside.at
    inside.skip(inside.end)
    found = CheckClause(name, inside.source(begin), True)
    while cursor.peek() in _OF_CHECK or (cursor.peek(), cursor.peek(1)) == ("NOT", "ENFORCED"):
        found.enforced &= cursor.peek() not in ("NOT", "DISABLE") or cursor.peek(1) == "QUERY"
        cursor.skip()
    return found


_OF_CHECK = frozenset(
    "ENFORCED ENABLE DISABLE VALIDATE NOVALIDATE RELY NORELY QUERY OPTIMIZATION TRUSTED".split()
)


def options(cursor: Cursor, of_column: bool = False) -> Options:
    """What stands behind the columns of a key, or of a reference; ``of_column``: up to the next
    clause of the column. NotUnderstood for a word that is not known."""
    found = Options()
    while cursor:
        word, following = cursor.peek(), cursor.peek(1)
        if of_column and (word in _COLUMN_CLAUSES or (word == "NOT" and following == "NULL")):
            return found
        if word == "(":
            if cursor.peek(-1) not in _BEFORE_GROUPS:
                raise NotUnderstood  # columns of another key, where a comma is missing
            inside = cursor.group()
            inside.skip(inside.end)
        elif word == "NOT":
            _negated(cursor, found, following)
        elif word in ("ENABLE", "DISABLE") and following == "QUERY":
            cursor.skip(3)
        elif word in ("DISABLE", "DISABLED", "NOCHECK"):
            cursor.skip()
            found.enforced = False
        elif word == "ON":
            _on(cursor, found, following)
        elif word == "WHERE":
            cursor.skip()
            found.where = True
            if not _is_condition(cursor):
                raise NotUnderstood
            cursor.skip(cursor.end)
        elif word == "NULLS":
            _nulls(cursor)
        elif (word in ("ASC", "DESC") and not of_column) or (  # the list of columns ended too soon
            word == "INITIALLY" and following == "DEFERRED" and found.deferrable is False
        ):
            raise NotUnderstood
        elif word in _HARMLESS:
            _harmless(cursor, found, word)
        else:
            token = cursor.token()
            assert token is not None
            if not (token.kind in ("text", "other") or word[:1].isdigit()):
                raise NotUnderstood
            cursor.skip()
    return found


def _negated(cursor: Cursor, found: Options, following: str) -> None:
    if following == "ENFORCED":
        found.enforced = False
    elif following == "DEFERRABLE":
        found.deferrable = False
    elif following not in ("VALID", "NULL", "FOR", "TRUSTED"):
        raise NotUnderstood
    cursor.skip(3 if following == "FOR" else 2)


def _on(cursor: Cursor, found: Options, following: str) -> None:
    if following == "CONFLICT":
        cursor.skip(3)
    elif following in ("DELETE", "UPDATE"):
        cursor.skip(2)
        _action(cursor, found, following)
    elif following in _NO_VALUES:
        raise NotUnderstood
    else:  # a file group, with the column that divides it
        cursor.skip()
        cursor.name()
        if cursor.peek() == "(":
            _plain_group(cursor)


def _harmless(cursor: Cursor, found: Options, word: str) -> None:
    named = cursor.is_name(1) and cursor.peek(1) not in _HARMLESS
    following, follows = cursor.peek(1), _HARMLESS[word]
    cursor.skip()
    if word == "DEFERRABLE":
        found.deferrable = True
    if word == "INDEX" and named:
        cursor.name()
    elif follows and following in _NO_VALUES:
        raise NotUnderstood
    elif follows:
        cursor.take("=")
        if cursor.is_name():
            cursor.name()
        else:
            cursor.skip()
    elif word == "=" or (following == "=" and cursor.take("=")):
        cursor.skip()


def _action(cursor: Cursor, found: Options, event: str) -> None:
    """ON DELETE or ON UPDATE with what happens then, and to which columns (PostgreSQL)."""
    action = next((one for one in _ON_DELETE if cursor.take(*one.split())), None)
    if action is None:
        raise NotUnderstood
    if cursor.peek() == "(":
        columns = _whole(_columns(cursor))
        if event == "UPDATE" or not action.startswith("SET ") or found.set_columns:
            raise NotUnderstood
        found.set_columns = columns
    if event == "DELETE":
        found.on_delete = action
    else:
        found.on_update = action


def _is_condition(cursor: Cursor) -> bool:
    """Whether a condition, and what may follow it, is nothing else: where the end of a statement
    was not seen, the next one would be taken for a part of it."""
    depth = 0
    for token in cursor.statement.tokens[cursor.at : cursor.end]:
        depth += (token.text == "(") - (token.text == ")")
        if depth < 0 or token.upper in _BEGIN_STATEMENTS:
            return False
    return depth == 0


# -- columns
# -------------------------------------------------------------------------------------------------


def column(cursor: Cursor, dialect: str) -> ColumnEntry:
    """A column of a table. NotUnderstood where it states a key in words that are not known."""
    token = cursor.token()
    name = cursor.name()[-1]
    quoted = token is not None and token.kind != "word"
    found = ColumnEntry(name, name if quoted else name.upper())
    _type(cursor, found)
    name = ""
    while cursor:
        word = cursor.peek()
        if cursor.take("CONSTRAINT"):
            name = cursor.name()[-1]
            found.named.append(name)
            continue
        if not _stated(cursor, found, word, name, dialect):
            _attribute(cursor, found, word)
        name = ""
    if found.strange and found.clauses:
        raise NotUnderstood
    return found


def _stated(cursor: Cursor, found: ColumnEntry, word: str, name: str, dialect: str) -> bool:
    """Take a key or check of a column, if one comes next."""
    if word in ("PRIMARY", "UNIQUE") or (word == "KEY" and dialect in MYSQLS):
        cursor.skip()
        if word != "KEY":
            cursor.take("KEY")
        said = options(cursor, of_column=True)
        if said.where:
            raise NotUnderstood
        found.clauses.append(
            KeyClause(
                name,
                (found.name,),
                word != "UNIQUE",
                said.enforced,
                deferrable=bool(said.deferrable),
            )
        )
    elif cursor.take("REFERENCES") or cursor.take("FOREIGN", "KEY", "REFERENCES"):
        found.clauses.append(reference(cursor, name, (found.name,), of_column=True))
    elif cursor.take("CHECK"):
        found.clauses.append(check(cursor, name))
    else:
        return False
    return True


def _type(cursor: Cursor, found: ColumnEntry) -> None:
    begin = cursor.at
    if cursor.peek() in ("KEY", "("):  # behind a word of keys that is misspelt
        raise NotUnderstood
    if cursor.peek() in _VALUE_ENDS | {"AS"} or not cursor.is_name():
        return  # a column of no type (SQLite), or a computed one
    cursor.name()
    while cursor:
        pair = (cursor.peek(), cursor.peek(1))
        if pair[0] == "(":
            _plain_group(cursor)
        elif pair in _TYPE_PAIRS:
            cursor.skip(2 + (cursor.peek(2) in ("DATA", "ZONE", "TIME")))
            cursor.take("ZONE")
        elif pair[0] == "[":  # PostgreSQL's arrays
            cursor.skip(2 + (pair[1] != "]"))
        elif pair[0] in _OF_TYPE and pair != ("CHARACTER", "SET"):
            cursor.skip()
        else:
            break
    found.type = cursor.source(begin)


def _plain_group(cursor: Cursor) -> None:
    """Take what stands in brackets, without words of keys."""
    inside = cursor.group()
    if inside.states_key():
        raise NotUnderstood
    inside.skip(inside.end)


def _attribute(cursor: Cursor, found: ColumnEntry, word: str) -> None:
    """What a column says beside its type and keys."""
    pair = (word, cursor.peek(1))
    if word == "DEFAULT" or pair == ("WITH", "DEFAULT"):
        cursor.skip(2 if word == "WITH" else 1)
        cursor.take("ON", "NULL")
        found.default = value(cursor)
    elif cursor.take("ON", "UPDATE"):
        value(cursor)
        found.generated = True
    elif pair in _PAIRS:
        found.nullable &= pair != ("NOT", "NULL")
        cursor.skip(2)
        if pair in (
            ("CHARACTER", "SET"),
            ("NOT", "FOR"),
            ("INLINE", "LENGTH"),
            ("SECURED", "WITH"),
        ):
            cursor.skip()
    elif word in ("GENERATED", "IDENTITY", "AS"):
        _generated(cursor, found)
    elif word in _OF_COLUMN:
        cursor.skip()
        for _ in range(_OF_COLUMN[word]):
            cursor.take("=")
            if cursor.is_name():
                cursor.name()
            elif cursor.peek() == "(":
                _plain_group(cursor)
            else:
                cursor.skip()
    elif word == "(":
        _plain_group(cursor)
    elif word in KEY_WORDS or is_slip(word):
        raise NotUnderstood
    else:
        found.strange = True
        cursor.skip()


def value(cursor: Cursor) -> str:
    """A value, such as stands behind DEFAULT, as text; "" where there is none."""
    begin = cursor.at
    if cursor.peek() in (_VALUE_ENDS | {"FOR", "AS", ""}) - {"NULL"}:
        return ""
    while cursor and (cursor.at == begin or cursor.peek() not in _VALUE_ENDS):
        if cursor.peek() == "(":
            _plain_group(cursor)
        elif cursor.peek() in KEY_WORDS:
            raise NotUnderstood
        else:
            cursor.skip()
    return cursor.source(begin)


_OF_SEQUENCE = frozenset(
    "START WITH INCREMENT BY MINVALUE MAXVALUE NOMINVALUE NOMAXVALUE CACHE NOCACHE ORDER NOORDER"
    " CYCLE NOCYCLE KEEP NOKEEP SCALE NOSCALE LIMIT VALUE NO - +".split()
)
_OF_ROWS = frozenset("ROW TRANSACTION START BEGIN END ID CHANGE TIMESTAMP".split())


def _generated(cursor: Cursor, found: ColumnEntry) -> None:
    """GENERATED … AS, IDENTITY, or AS with an expression."""
    if cursor.take("GENERATED"):
        cursor.take("ALWAYS") or cursor.take("BY", "DEFAULT")
        cursor.take("ON", "NULL")
    if not (cursor.take("AS", "IDENTITY") or cursor.take("IDENTITY")):
        found.generated = True
        cursor.take("FOR", "EACH", "ROW", "ON", "UPDATE")
        cursor.take("AS")
        if cursor.peek() == "(":
            _plain_group(cursor)
        while cursor.take_any(_OF_ROWS):
            pass
        return
    begin = cursor.at
    if cursor.peek() == "(":
        _plain_group(cursor)
        found.identity = identity_of(cursor.source(begin)[1:-1])
        return
    while cursor.take_any(_OF_SEQUENCE) or cursor.peek()[:1].isdigit():
        cursor.skip(int(cursor.peek()[:1].isdigit()))
    found.identity = identity_of(cursor.source(begin))


def identity_of(text: str) -> tuple[str, str]:
    """Where an identity starts, and its step, from its options."""
    plain = re.fullmatch(r"\s*([+-]?\d+)\s*,\s*([+-]?\d+)\s*", text)
    if plain is not None:
        return plain[1], plain[2]
    said = dict(
        re.findall(r"\b(START|INCREMENT)\s+(?:WITH\s+|BY\s+)?([+-]?\s*[\w.$@#]+)", text.upper())
    )
    start, step = (re.sub(r"[+\s]", "", said.get(word, "1")) for word in ("START", "INCREMENT"))
    return start, step
