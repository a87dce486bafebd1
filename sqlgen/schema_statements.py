"""What the statements of a schema file say, statement by statement: one that is not understood
never costs the file.

What says nothing about tables and keys is passed over and counted by its kind. What may say
something about them and is not understood is named, with its line.
"""

from __future__ import annotations

import itertools
import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module

import sqlglot
from sqlglot import Dialect, exp
from sqlglot.errors import SqlglotError

from sqlgen.ddl_script import ScriptToken
from sqlgen.errors import SqlgenError

#: The dialects that sqlglot has from us.
OWN_DIALECTS = ("db2", "soliddb")

#: Databases that sqlglot knows by the name of another.
_SPOKEN = {"mariadb": "mysql"}
#: What a statement holds that makes tables or keys by others that it has as text or inside it.
DYNAMIC_TABLE = re.compile(r"\b(CREATE|ALTER)\s+TABLE\b|\bUNIQUE\s+INDEX\b", re.I)

#: Kinds of object that CREATE, ALTER, DROP, COMMENT ON and the like are about; the longest counts.
_OBJECTS = re.compile(
    r"\b(SECURITY LABEL COMPONENT|SECURITY LABEL|SECURITY POLICY|TRUSTED CONTEXT|USER MAPPING"
    r"|FUNCTION MAPPING|EVENT MONITOR|AUDIT POLICY|DATABASE PARTITION GROUP|DISTINCT TYPE"
    r"|SUMMARY TABLE|EXTERNAL TABLE|TEMPORARY TABLE|AUXILIARY TABLE|HISTOGRAM TEMPLATE"
    r"|SERVICE CLASS|WORK CLASS"
    r" SET|WORK ACTION SET|TABLESPACE|BUFFERPOOL|STOGROUP|DATABASE|FUNCTION|PROCEDURE|TRIGGER"
    r"|METHOD|MODULE|PACKAGE|TYPE|ALIAS|SYNONYM|NICKNAME|WRAPPER|SERVER|SEQUENCE|VIEW|INDEX"
    r"|VARIABLE|ROLE|MASK|PERMISSION|TRANSFORM|THRESHOLD|WORKLOAD|XSROBJECT|COLUMN|TABLE|SCHEMA|EXTENSION|DOMAIN|PUBLICATION|POLICY|RULE|STATISTICS|EVENT"
    r"|PARTITION|LANGUAGE|OPERATOR|CAST|AGGREGATE|COLLATION|LOGIN|USER|DIRECTORY|SESSION)\b"
)
#: What says how the rows of a table are divided.
_DIVIDE = frozenset(
    {"PARTITION", "PARTITIONED", "DISTRIBUTE", "DISTRIBUTED", "ORGANIZE", "CLUSTERED"}
)
WITH_OBJECT = frozenset({"CREATE", "ALTER", "DROP", "COMMENT", "LABEL"})


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
    dialect = _SPOKEN.get(dialect, dialect)
    if dialect in OWN_DIALECTS:
        import_module(f"sqlgen.{dialect}")  # sqlglot knows it from then on
    if Dialect.get(dialect) is None:
        raise SqlgenError(
            "LR1010",
            f"found the dialect {dialect} for the schema; expected db2, soliddb, or a dialect of"
            " sqlglot",
            f"Name one of: {', '.join(sorted({*Dialect.classes, *_SPOKEN} - {''}))}",
        )
    with _silence():
        if dialect == "db2":
            statements: SchemaStatements = import_module("sqlgen.db2.schema_reader").read(text)
        else:
            statements = import_module("sqlgen.ddl_reader").read(text, dialect)
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


def unique_of_nothing(head: str) -> bool:
    """Whether a statement that is no index begins as one of a unique index does: a word or a mark
    too many cut it off."""
    return head.startswith(("CREATE UNIQUE", "CREATE OR REPLACE UNIQUE"))


def kind_of(head: str) -> str:
    """What a statement is about that is passed over, from its first words."""
    first, _, rest = head.partition(" ")
    if first in WITH_OBJECT and (noun := _OBJECTS.search(rest)):
        return f"{first} {'ON ' if first in ('COMMENT', 'LABEL') else ''}{noun[0]}"
    if first == "SET":
        return " ".join(head.split()[: 3 if rest.startswith("CURRENT ") else 2])
    return first


def count_parts(reading: SchemaReading, pieces: Sequence[ScriptToken]) -> None:
    """Count what a table says of how its rows are divided."""
    words = [piece.upper for piece in pieces]
    for first, second in itertools.pairwise(words):
        if second == "BY" and first in _DIVIDE:
            reading.passed[f"{first} BY of a table"] += 1
