"""What the statements of a schema file say, statement by statement: one that is not understood
never costs the file.

What says nothing about tables and keys is passed over and counted by its kind. What may say
something about them and is not understood is named, with its line.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from sqlgen.errors import SqlgenError

#: The dialects that sqlglot has from us.
OWN_DIALECTS = ("db2", "soliddb")

#: Statements that state keys.
_ABOUT_KEYS = re.compile(
    r"(CREATE|ALTER)\s(?=.*\bTABLE\b).*\b(UNIQUE|PRIMARY KEY|FOREIGN KEY|REFERENCES)\b|CREATE"
    r" UNIQUE\b.*\bINDEX\b",
    re.I | re.S,
)
_ABOUT_TABLES = re.compile(r"(CREATE|ALTER)\s+TABLE\b", re.I)
#: Words of a statement that states keys, in whatever order.
KEY_WORDS = frozenset({"UNIQUE", "PRIMARY", "FOREIGN", "REFERENCES"})


@dataclass(frozen=True)
class Unread:
    """A part of a schema file that is not understood: its line, how it begins, and the table it is
    about where that can be told. ``keys``: it may state a key; else it is about columns alone."""

    line: int
    said: str
    table: exp.Table | None = None
    keys: bool = True

    def __str__(self) -> str:
        return f"line {self.line}: {self.said}"


@dataclass(frozen=True)
class SchemaStatements:
    """``trees`` of the statements about tables and keys, in the order of the file; ``unread``: what
    may be about them and is not understood; ``passed``: kind of statement -> how many say nothing
    about them."""

    trees: tuple[exp.Expr, ...]
    unread: tuple[Unread, ...] = ()
    passed: tuple[tuple[str, int], ...] = ()


@dataclass
class SchemaReading:
    """The statements of a file, as they are read."""

    trees: list[exp.Expr] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    passed: Counter[str] = field(default_factory=Counter)

    def done(self) -> SchemaStatements:
        """All that was read."""
        return SchemaStatements(
            tuple(self.trees), tuple(self.unread), tuple(sorted(self.passed.items()))
        )


def beginning(text: str, length: int = 80) -> str:
    """How a statement begins, on one line, without comments."""
    plain = re.sub(r"--[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
    said = " ".join(plain.split())
    return f"{said[:length]}{'…' if len(said) > length else ''}"


@lru_cache(maxsize=1)
def schema_statements(text: str, dialect: str) -> SchemaStatements:
    """The statements of a schema file, to be read only: those of the last file are kept, because
    its keys and what else it declares are asked for in turn. SqlgenError LR1010 when no statement
    about tables is understood as SQL of the dialect, although there are some."""
    if dialect in OWN_DIALECTS:
        import_module(f"sqlgen.{dialect}")  # sqlglot knows it from then on
    with _silence():
        if dialect == "db2":
            statements: SchemaStatements = import_module("sqlgen.db2.schema_reader").read(text)
        else:
            statements = _read(text, dialect)
    if not statements.trees and statements.unread:
        first = statements.unread[0]
        raise SqlgenError(
            "LR1010",
            f"the schema is not understood as {dialect} SQL, beginning with line {first.line}:"
            f" {first.said}",
            f"It was read as {dialect}: --schema-dialect names another dialect (db2, soliddb, or"
            " one of sqlglot), else take what is not SQL out of the file",
        )
    return statements


@contextmanager
def _silence() -> Iterator[None]:
    """sqlglot warns of each statement that it does not understand; we name those that matter."""
    log = logging.getLogger("sqlglot")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


def parsed(text: str, dialect: str) -> list[exp.Expr] | None:
    """The trees of a text, None where it is not understood."""
    try:
        return [tree for tree in sqlglot.parse(text, dialect=dialect) if tree is not None]
    except (SqlglotError, RecursionError):
        return None


def _read(text: str, dialect: str) -> SchemaStatements:
    """A file of any dialect but Db2's."""
    reading = SchemaReading()
    whole = parsed(text, dialect)
    parts = [(1, text, whole)] if whole is not None else _parts(text, dialect)
    for line, said, trees in parts:
        for tree in trees or ():
            _take(reading, tree, text)
        if trees is None and (about_keys(said) or _ABOUT_TABLES.match(said)):
            reading.unread.append(Unread(line, beginning(said), keys=about_keys(said)))
        elif trees is None:
            reading.passed[_kind(said)] += 1
    return reading.done()


def _parts(text: str, dialect: str) -> Iterator[tuple[int, str, list[exp.Expr] | None]]:
    """(line, text, trees) of each statement. SqlgenError LR1010 when the text has no tokens."""
    try:
        tokens = sqlglot.tokenize(text, read=dialect)
    except SqlglotError as error:
        raise SqlgenError(
            "LR1010",
            f"the schema is not {dialect} SQL: {str(error).splitlines()[0]}",
            "Look for a quotation mark or a comment that is not closed, or name another dialect"
            " with --schema-dialect",
        ) from None
    begin = 0
    for end, token in enumerate([*tokens, None]):
        if token is None or token.token_type is TokenType.SEMICOLON:
            if begin < end:
                said = text[tokens[begin].start : tokens[end - 1].end + 1]
                line = text.count("\n", 0, tokens[begin].start) + 1
                yield line, said, parsed(said, dialect)
            begin = end + 1


def _take(reading: SchemaReading, tree: exp.Expr, text: str) -> None:
    if not isinstance(tree, exp.Command):
        reading.trees.append(tree)
        return
    said = f"{tree.name} {tree.text('expression')}".strip()
    if about_keys(said):
        place = text.find(tree.text("expression").strip())
        line = text.count("\n", 0, max(place, 0)) + 1
        reading.unread.append(Unread(line, beginning(said)))
    else:
        reading.passed[_kind(said)] += 1


def about_keys(text: str) -> bool:
    """Whether a statement may state keys: a key that nobody reads is one that nobody keeps."""
    return _ABOUT_KEYS.match(" ".join(beginning(text, len(text)).split())) is not None


def _kind(text: str) -> str:
    return " ".join(beginning(text).split()[:2]).upper()
