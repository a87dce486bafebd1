"""The clauses of DDL that state keys, read token by token in the words of any database.

Vendors write many things behind a key: where its index lies, how full its pages are, when it is
checked. What is known to say nothing of the key itself is passed over; a word that is not known
makes the clause one that is not understood, for it may say that there is no such key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sqlgen.ddl_grammar import PARTS_OF_VALUES, Clause
from sqlgen.ddl_script import ScriptToken, after_name, close_of, closes, entries

#: Words of a statement that states keys, in whatever order.
KEY_WORDS = frozenset({"UNIQUE", "PRIMARY", "FOREIGN", "REFERENCES"})
NOT_ENFORCED = "NOT ENFORCED"

#: What may stand behind the columns of a key and does not change it: word -> what follows it, a
#: name (n), another word or number (w), or nothing.
_HARMLESS = {
    **dict.fromkeys(
        "ASC DESC USING INDEX BTREE HASH RTREE WITH ENABLE ENABLED VALIDATE NOVALIDATE DEFERRABLE"
        " INITIALLY DEFERRED IMMEDIATE ENFORCED RELY NORELY COMPUTE STATISTICS STORAGE LOGGING"
        " NOLOGGING LOCAL GLOBAL CLUSTERED NONCLUSTERED COLUMNSTORE VISIBLE INVISIBLE REVERSE"
        " NOREVERSE SORT NOSORT COMPRESS NOCOMPRESS PARALLEL NOPARALLEL BUFFER_POOL ONLINE"
        " VALID = TRUSTED UNUSABLE ALGORITHM LOCK DEFAULT INPLACE COPY".split(),
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
    {"KEY", "INDEX", "CLUSTERED", "NONCLUSTERED", "HASH", "USING", "BTREE", "IF", "NOT", "EXISTS"}
)
#: How statements begin, which are words that no condition has.
_BEGIN_STATEMENTS = frozenset({"ALTER", "CREATE", "DROP", "GO"})
#: What is there where a statement ends too soon: nothing, or a word of a block.
_NO_VALUES = frozenset({"", "BEGIN", "END"})
#: Behind a column of an index.
_OF_COLUMN = frozenset({"ASC", "DESC", "NULLS", "FIRST", "LAST", "COLLATE"})
#: What begins the next clause of a column.
_COLUMN_CLAUSES = frozenset(
    {
        *("CONSTRAINT", "PRIMARY", "UNIQUE", "REFERENCES", "CHECK", "DEFAULT", "NULL", "COLLATE"),
        *("GENERATED", "COMMENT", "AUTO_INCREMENT", "IDENTITY", "AS", "ENCODE", "AUTOINCREMENT"),
    }
)


class NotUnderstood(Exception):
    """A clause that may state a key and is not understood."""


@dataclass
class Options:
    """What stands behind a key: ``said`` as a reader of constraints takes it, ``where``: a
    condition of its rows; ``set_columns``: which columns ON DELETE sets, where a list says so."""

    said: list[str] = field(default_factory=list)
    where: bool = False
    set_columns: list[exp.Expr] = field(default_factory=list)


def identifier(piece: ScriptToken) -> exp.Identifier:
    """A name as it stands in the script."""
    if piece.kind in ("name", "text"):
        closing = piece.text[-1]
        return exp.to_identifier(piece.text[1:-1].replace(closing * 2, closing), quoted=True)
    return exp.to_identifier(piece.text, quoted=False)


def table_of(pieces: Sequence[ScriptToken]) -> exp.Table:
    """A table from the tokens of its name. NotUnderstood where they are none."""
    parts = [identifier(piece) for piece in pieces if piece.text != "."]
    if not parts:
        raise NotUnderstood
    return exp.Table(this=parts[-1], db=parts[-2] if len(parts) > 1 else None)


def states_key(pieces: Sequence[ScriptToken]) -> bool:
    """Whether a word of keys stands there, in brackets too."""
    return bool({piece.upper for piece in pieces if piece.kind == "word"} & KEY_WORDS)


def key_clause(pieces: Sequence[ScriptToken], name: str, table: exp.Table) -> exp.Expr | None:
    """The tree of a key, unique key or foreign key of a table that stands at ``pieces``, as an
    element of a table or, over parts of values, as an index of its own; None where no such clause
    begins here. NotUnderstood when it is one in words that are not known."""
    words = [piece.upper for piece in pieces[:2]]
    if words == ["FOREIGN", "KEY"]:
        return _named(name, _foreign_key(pieces[2:]))
    if words == ["PRIMARY", "KEY"]:
        start = 2
    elif words[:1] == ["UNIQUE"]:
        start = 1
    else:
        return None
    nulls, start = _nulls(pieces, start)
    at = _columns_at(pieces, start)
    if not name and at > start and pieces[at - 1].upper not in _BEFORE_COLUMNS:
        name = identifier(pieces[at - 1]).name
    columns, end = _list(pieces, at)
    found = options(pieces[end:])
    found.said += nulls
    if found.where or any(_is_part(column) for column in columns):
        return unique_index(name, table, columns, found)
    names = [column.this for column in columns]
    tree: exp.Expr = (
        exp.PrimaryKey(expressions=names, options=found.said)
        if start == 2 and words[0] == "PRIMARY"
        else exp.UniqueColumnConstraint(this=exp.Schema(expressions=names), options=found.said)
    )
    return _named(name, tree)


def unique_index(
    name: str, table: exp.Table, columns: Sequence[exp.Expr], found: Options
) -> exp.Create:
    """CREATE UNIQUE INDEX as a tree; of a column that is not whole, its clauses say so."""
    whole = [column.this if isinstance(column, exp.Bracket) else column for column in columns]
    index = exp.Index(
        this=exp.to_identifier(name, quoted=True),
        table=table,
        params=exp.IndexParameters(
            columns=[
                column.this if isinstance(column, exp.Bracket) else column for column in columns
            ],
            where=exp.Where(this=exp.true()) if found.where else None,
        ),
    )
    clauses = [Clause(this=PARTS_OF_VALUES)] if whole != list(columns) else []
    return exp.Create(this=index, kind="INDEX", unique=True, clauses=clauses)


def index_statement(pieces: Sequence[ScriptToken]) -> exp.Create:
    """CREATE UNIQUE INDEX from its tokens. NotUnderstood."""
    on = next((i for i, piece in enumerate(pieces) if piece.upper == "ON"), len(pieces))
    index = next(i for i, piece in enumerate(pieces) if piece.upper == "INDEX")
    own = [piece for piece in pieces[index + 1 : on] if piece.upper not in _NOT_NAMES]
    start = on + 1 + (pieces[on + 1 : on + 2] != () and _upper(pieces, on + 1) == "ONLY")
    end = after_name(pieces, start)
    if end >= len(pieces):
        raise NotUnderstood
    table = table_of(pieces[start:end])
    at = _columns_at(pieces, end, unnamed=True)
    columns, end = _list(pieces, at)
    found = options(pieces[end:])
    while own and own[-1].text != "." and own[-1].upper in ("BTREE", "HASH"):
        own.pop()
    return unique_index(identifier(own[-1]).name if own else "", table, columns, found)


_NOT_NAMES = frozenset({"CONCURRENTLY", "IF", "NOT", "EXISTS", "USING"})


def column_keys(pieces: Sequence[ScriptToken], lone_key: bool) -> Iterator[exp.ColumnConstraint]:
    """The keys and references that a column states, from the tokens behind its name. ``lone_key``:
    KEY alone is a primary key (MySQL). NotUnderstood."""
    name, at = "", 0
    while at < len(pieces):
        word, start = pieces[at].upper, at
        if pieces[at].text == "(":
            at = close_of(pieces, at) + 1
            continue
        at += 1
        if word == "CONSTRAINT" and at < len(pieces):
            name, at = identifier(pieces[at]).name, at + 1
            continue
        kind: exp.Expr | None = None
        if word == "REFERENCES":
            end = _clause_end(pieces, at)
            kind, some = _reference(pieces[at:end])
            if some:
                raise NotUnderstood
            at = end
        elif word in ("UNIQUE", "PRIMARY") or (word == "KEY" and lone_key):
            at += word != "KEY" and _upper(pieces, at) == "KEY"
            end = _clause_end(pieces, at)
            found = options(pieces[at:end], strict=False)
            if found.where:
                raise NotUnderstood
            key = exp.UniqueColumnConstraint if word == "UNIQUE" else exp.PrimaryKeyColumnConstraint
            kind = key(options=found.said)
            at = end
        elif word == "FOREIGN":
            at += _upper(pieces, at) == "KEY"
            continue
        if kind is not None:
            yield exp.ColumnConstraint(
                this=exp.to_identifier(name, quoted=True) if name else None, kind=kind
            )
        if word in _COLUMN_CLAUSES and start < at:
            name = ""


def _clause_end(pieces: Sequence[ScriptToken], at: int) -> int:
    while at < len(pieces):
        word, before = pieces[at].upper, pieces[at - 1].upper
        action = before in ("SET", "ON")  # ON DELETE SET NULL
        if pieces[at].text == "(":
            at = close_of(pieces, at) + 1
            continue
        if word in _COLUMN_CLAUSES and not action:
            return at - (before == "NOT")  # NOT NULL
        at += 1
    return at


def options(pieces: Sequence[ScriptToken], strict: bool = True) -> Options:
    """What stands behind the columns of a key, or of a reference. NotUnderstood for a word that is
    not known (unless not ``strict``)."""
    found, at = Options(), 0
    while at < len(pieces):
        piece = pieces[at]
        word, following = piece.upper, _upper(pieces, at + 1)
        at += 1
        if piece.text == "(":
            end = close_of(pieces, at - 1)
            if strict and pieces[end].text != ")":
                raise NotUnderstood
            at = end + 1
        elif word == "NOT":
            if following == "ENFORCED":
                found.said.append(NOT_ENFORCED)
            elif following == "DEFERRABLE":
                found.said.append("NOT DEFERRABLE")
            elif following == "FOR":
                at += 1
            elif strict and following not in ("VALID", "NULL"):
                raise NotUnderstood
            at += 1
        elif word in ("DISABLE", "DISABLED", "NOCHECK"):
            found.said.append(NOT_ENFORCED)
        elif word == "ON" and following in ("DELETE", "UPDATE"):
            at = _action(pieces, at, found)
        elif word == "ON" and following == "CONFLICT":
            at += 2
        elif word == "ON" and following in _NO_VALUES:
            raise NotUnderstood
        elif word == "ON":  # a file group, with the column that divides it
            at = after_name(pieces, at)
        elif word == "WHERE":
            found.where = True
            if strict and not _is_condition(pieces[at:]):
                raise NotUnderstood
            return found
        elif word == "INCLUDE" or (word == "STORAGE" and following == "("):
            pass
        elif word == "NULLS":
            distinct, end = _nulls(pieces, at - 1)
            found.said += distinct
            at = max(end, at)
        elif strict and word in ("ASC", "DESC"):  # of a column: the list of them ended too soon
            raise NotUnderstood
        elif word == "DEFERRABLE":
            found.said.append(word)
        elif word == "INITIALLY" and following == "DEFERRED" and "NOT DEFERRABLE" in found.said:
            raise NotUnderstood
        elif word in _HARMLESS:
            if word == "INDEX" and piece.kind == "word" and _is_name(pieces[at : at + 1]):
                at = after_name(pieces, at)
            elif _HARMLESS[word] and strict and following in _NO_VALUES:
                raise NotUnderstood
            elif _HARMLESS[word] and at < len(pieces):
                at += pieces[at].text == "="
                at = after_name(pieces, at)
            elif word == "=" or following == "=":
                at += 1
        elif strict and not (piece.kind in ("text", "other") or word[:1].isdigit()):
            raise NotUnderstood
    return found


def _is_condition(pieces: Sequence[ScriptToken]) -> bool:
    """Whether a condition, and what may follow it, is nothing else: where the end of a statement
    was not seen, the next one would be taken for a part of it."""
    depth = 0
    for piece in pieces:
        depth += (piece.text == "(") - (piece.text == ")")
        if depth < 0 or (piece.kind == "word" and piece.upper in _BEGIN_STATEMENTS):
            return False
    return depth == 0


def _action(pieces: Sequence[ScriptToken], at: int, found: Options) -> int:
    """ON DELETE or ON UPDATE with what happens then, and to which columns (PostgreSQL)."""
    said = " ".join(piece.upper for piece in pieces[at + 1 : at + 3])
    action = next((one for one in _ON_DELETE if f"{said} ".startswith(f"{one} ")), None)
    if action is None:
        raise NotUnderstood
    event = pieces[at].upper
    at += 1 + len(action.split())
    if _upper(pieces, at) == "(":
        columns, at = _list(pieces, at)
        sets = event == "DELETE" and action in ("SET NULL", "SET DEFAULT")
        if not sets or found.set_columns or any(_is_part(column) for column in columns):
            raise NotUnderstood
        found.set_columns = [column.this for column in columns]
    found.said.append(f"ON {event} {action}")
    return at


def _foreign_key(pieces: Sequence[ScriptToken]) -> exp.ForeignKey:
    at = next((i for i, piece in enumerate(pieces) if piece.text == "("), len(pieces))
    columns, end = _list(pieces, at)
    if _upper(pieces, end) != "REFERENCES" or any(_is_part(column) for column in columns):
        raise NotUnderstood
    reference, some = _reference(pieces[end + 1 :])
    key = exp.ForeignKey(expressions=[column.this for column in columns], reference=reference)
    key.set("set_columns", some)
    return key


def _reference(pieces: Sequence[ScriptToken]) -> tuple[exp.Reference, list[exp.Expr]]:
    """REFERENCES, from the tokens behind that word, and the columns that ON DELETE sets where a
    list says so."""
    if not pieces:
        raise NotUnderstood
    end = after_name(pieces, 0)
    target: exp.Expr = table_of(pieces[:end])
    if _upper(pieces, end) == "(":
        columns, end = _list(pieces, end)
        if any(_is_part(column) for column in columns):
            raise NotUnderstood
        target = exp.Schema(this=target, expressions=[column.this for column in columns])
    found = options(pieces[end:])
    return exp.Reference(this=target, options=found.said), found.set_columns


def _list(pieces: Sequence[ScriptToken], at: int) -> tuple[list[exp.Expr], int]:
    """The columns of a key in brackets, as columns, columns of which parts count (Bracket) or
    something else (Paren), and where what follows them begins."""
    if at >= len(pieces) or pieces[at].text != "(":
        raise NotUnderstood
    end = close_of(pieces, at)
    columns = [_column(entry) for entry in entries(pieces[at + 1 : end])]
    if not columns or not closes(pieces[at : end + 1]):
        raise NotUnderstood
    return columns, end + 1


def _column(entry: Sequence[ScriptToken]) -> exp.Expr:
    first, rest = entry[0], list(entry[1:])
    if first.text == "(" or first.kind not in ("word", "name", "text"):
        return exp.Paren(this=exp.null())
    column: exp.Expr = exp.Column(this=identifier(first))
    if rest and rest[0].text == "(":
        if [piece.text.isdigit() for piece in rest[1:-1]] == [True] or (
            len(rest) > 2 and rest[1].text.isdigit() and rest[2].text == ")"
        ):
            return exp.Bracket(this=column)
        return exp.Paren(this=exp.null())
    for place, piece in enumerate(rest):
        after_collate = place > 0 and rest[place - 1].upper in ("COLLATE", ".")
        is_operators = piece.kind == "word" and piece.text.endswith("_ops")
        if piece.upper == "WITHOUT":
            raise NotUnderstood  # periods that do not overlap
        if not (piece.upper in _OF_COLUMN or after_collate or is_operators or piece.text == "."):
            return exp.Paren(this=exp.null())
    return column


def _is_part(column: exp.Expr) -> bool:
    return not isinstance(column, exp.Column)


def _columns_at(pieces: Sequence[ScriptToken], start: int, unnamed: bool = False) -> int:
    """Where the columns of a key begin: behind the name of its index (unless ``unnamed``), how it
    is built, or both."""
    at, names = start, 0
    while at < len(pieces) and pieces[at].text != "(":
        names += pieces[at].upper not in _BEFORE_COLUMNS and pieces[at - 1].upper != "USING"
        at += 1
    if names > (0 if unnamed else 1):
        raise NotUnderstood
    return at


def _nulls(pieces: Sequence[ScriptToken], at: int) -> tuple[list[str], int]:
    """NULLS [NOT] DISTINCT, if it stands here, and where what follows begins."""
    if _upper(pieces, at) != "NULLS":
        return [], at
    equal = _upper(pieces, at + 1) == "NOT"
    return (["NULLS NOT DISTINCT"] if equal else []), at + 2 + equal


def _named(name: str, tree: exp.Expr) -> exp.Expr:
    if not name:
        return tree
    return exp.Constraint(this=exp.to_identifier(name, quoted=True), expressions=[tree])


def _is_name(pieces: Sequence[ScriptToken]) -> bool:
    return bool(pieces) and (
        pieces[0].kind == "name" or (pieces[0].kind == "word" and pieces[0].upper not in _HARMLESS)
    )


def _upper(pieces: Sequence[ScriptToken], at: int) -> str:
    return pieces[at].upper if 0 <= at < len(pieces) else ""
