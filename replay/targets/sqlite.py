"""SQLite as a target, in this process. ``sqlite:////data/sakila.db`` is the schema ``sakila`` (the
file's name; ``?schema=NAME`` says otherwise); ``sqlite:////data/folder/`` is the one ``.db`` file
in that folder.

The file is attached to an empty connection, under its schema's name, which is what scripts expect
(``sakila.film``); as the schema ``main`` it is opened by itself. All of a transaction is in this
one file, so that its journal makes the data and the position one.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from replay.errors import Refusal, TargetError
from replay.redaction import public
from replay.targets import CommitRefused, Condition, StatementFailure, TableFacts
from replay.targets.outcomes import Reference
from replay.targets.session import SqlSession
from replay.targets.sqlite_facts import (
    bound,
    columns_of,
    decimal_shown,
    foreign_keys,
    shown,
    table_facts,
)
from replay.targets.states import file_of, parameters_of, path_of
from replay.targets.target import FileTarget

if TYPE_CHECKING:
    import sqlite3

    import pyarrow as pa

_WAIT_SECONDS = 10
_MAIN, _TAKEN = "main", "temp"  # schemas that each connection has: its own file, and a passing one
#: How a file says that its text is UTF-16, so that it cannot be attached to a connection of ours.
_UTF16 = (b"\0\0\0\2", b"\0\0\0\3")


def _is_utf16(path: Path) -> bool:
    """Whether a file has its text in UTF-16, by bytes 56 to 59 of its header (the file format's
    page "Database File Format", 1.3.13)."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(60)[56:] in _UTF16
    return False


def _database(url: str) -> tuple[Path | None, str]:
    """(file, schema) that a URL names; no file for a folder that has none yet."""
    path, given = path_of(url), parameters_of(url, ("schema",))
    if path.is_dir():
        files = sorted(path.glob("*.db"))
        if len(files) > 1:
            found = f"found {len(files)} databases in the folder; expected one"
            message = f"cannot connect to {public(url)}: {found}"
            raise TargetError(
                "LR4003",
                message,
                hint="Name the file: a transaction over several would not be one after a crash",
            )
        return (files[0], files[0].stem) if files else (None, "")
    return file_of(url), given.get("schema", path.stem)


class SqliteSession(SqlSession):
    """A session on a file of SQLite. Constraints are checked by each statement, those that wait by
    the commit, and every commit is on the disk."""

    dialect, title = "sqlite", "SQLite"
    forget = (
        "DROP TABLE logreplay_position (and the other tables whose names begin with logreplay_)"
    )
    home = ""
    MARK = "?"
    BEGIN = "BEGIN IMMEDIATE"
    VERSION = "SELECT sqlite_version()"
    CONDITIONS: ClassVar = {
        "SQLITE_CONSTRAINT_UNIQUE": Condition.DUPLICATE_KEY,
        "SQLITE_CONSTRAINT_PRIMARYKEY": Condition.DUPLICATE_KEY,
        "SQLITE_CONSTRAINT_ROWID": Condition.DUPLICATE_KEY,
        "SQLITE_CONSTRAINT_FOREIGNKEY": Condition.FOREIGN_KEY,
    }
    TRANSIENT = ("SQLITE_BUSY", "SQLITE_LOCKED")
    SERVER = (
        "SQLITE_FULL",
        "SQLITE_IOERR",
        "SQLITE_NOMEM",
        "SQLITE_READONLY",
        "SQLITE_CORRUPT",
        "SQLITE_NOTADB",
        "SQLITE_CANTOPEN",
        "SQLITE_INTERRUPT",
        "SQLITE_PERM",
        "SQLITE_PROTOCOL",
    )
    OWN_TABLES = """SELECT substr(name, 11) FROM {schema}.sqlite_master
    WHERE type IN ('table', 'view') AND substr(name, 1, 10) = 'logreplay_'"""
    STRANGE = (
        """SELECT substr(tbl_name, 11), iif(type = 'view', 'is a view',
        'has the ' || type || ' ' || name) FROM {schema}.sqlite_master WHERE type <> 'table'
        AND substr(lower(tbl_name), 1, 10) = 'logreplay_' AND substr(name, 1, 16) <>
        'sqlite_autoindex' ORDER BY type, name""",
    )
    ALIKE = """SELECT name FROM {schema}.sqlite_master WHERE type IN ('table', 'view')
    AND lower(name) = lower(%s)"""
    TABLES = """SELECT name FROM {schema}.sqlite_master WHERE type = 'table'
    AND substr(name, 1, 10) <> 'logreplay_' AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name"""

    def __init__(self, url: str) -> None:
        import sqlite3

        super().__init__(url)
        self.path, self.schema = _database(url)
        self._lock: int | None = None
        self.connection: sqlite3.Connection = sqlite3.connect(
            ":memory:", isolation_level=None, timeout=_WAIT_SECONDS
        )
        if self.path is not None:
            self._attach(self.path)

    def _attach(self, path: Path) -> None:
        import sqlite3

        try:
            if self.schema.lower() == _MAIN:
                self.connection.close()
                self.connection = sqlite3.connect(path, isolation_level=None, timeout=_WAIT_SECONDS)
            else:
                self.connection.execute(f"ATTACH ? AS {self.quoted(self.schema)}", (str(path),))
            # a commit is on the disk, and nothing in the file is called that could do harm
            self.connection.execute(f"PRAGMA {self.quoted(self.schema)}.synchronous = FULL")
            self.connection.execute("PRAGMA trusted_schema = OFF")
            self.connection.execute(
                f"SELECT count(*) FROM {self.quoted(self.schema)}.sqlite_master"
            ).fetchone()
        except sqlite3.Error as error:
            if _is_utf16(path):
                raise Refusal(
                    "LR4010",
                    f"found text in UTF-16 in {public(self.url)}; expected a file with UTF-8",
                    hint="Make a copy: sqlite3 FILE .dump | sqlite3 COPY",
                ) from error
            other = "Name the schema, ?schema=NAME, or give the file another name"
            raise TargetError(
                "LR4003",
                f"cannot connect to {public(self.url)}: {error}",
                hint=other * (self.schema.lower() == _TAKEN),
            ) from error

    @property
    def place(self) -> str:
        """The file; the empty connection where there is none yet."""
        return "main" if self.path is None else self.quoted(self.schema)

    def errors(self) -> tuple[type[Exception], ...]:
        import sqlite3

        return (sqlite3.Error,)

    def said(self, error: Exception) -> tuple[str, str]:
        return str(getattr(error, "sqlite_errorname", type(error).__name__)), str(error)

    def failed(self, code: str, message: str, error: Exception | None = None) -> StatementFailure:
        failure = super().failed(code, message, error)
        if self.path is None:
            raise self._no_file() from error
        return failure

    def _no_file(self) -> TargetError:
        message = "found a folder without a database (*.db); expected a file"
        return TargetError("LR4003", f"cannot connect to {self.name}: {message}")

    def ask(self, statement: str, values: Sequence[Any]) -> sqlite3.Cursor:
        return self.connection.execute(statement, values)

    def own(self, table: str) -> str:
        return f"{self.quoted(self.schema)}.{self.own_name(table)}"

    def own_name(self, table: str) -> str:
        return f"logreplay_{table}"

    def has_place(self) -> bool:
        return self.path is not None

    def own_columns(self, names: Sequence[str]) -> list[tuple[Any, ...]]:
        return [
            (name, "a computed column" if computed else column, None)
            for name in sorted(self.own_tables() & set(names))
            for column, *_, computed in columns_of(self.query, self.schema, self.own_name(name))
        ]

    def read_only(self) -> str:
        if self.path is None:
            return ""
        for place, what in (
            (self.path, "the file"),
            (self.path.parent, "the folder of its journal"),
        ):
            if not os.access(place, os.W_OK, effective_ids=True):
                return f"{what} {place} cannot be written by this user"
        return ""

    def alike(self, table: str) -> list[tuple[str, str]]:
        return [(self.schema, str(name)) for (name,) in self.catalog_rows(self.ALIKE, (table,))]

    def lock(self) -> bool:
        if self.path is None:
            return True
        if self._lock is None:
            self._lock = os.open(
                self.path, os.O_RDONLY
            )  # SQLite's own locks are of another kind and do not meet this one
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def enforce(self, on: bool) -> None:
        self.execute(f"PRAGMA foreign_keys = {'ON' if on else 'OFF'}")

    def commit(self) -> None:
        failure = self.run(b"COMMIT;").failure
        if failure is not None and failure.condition is Condition.FOREIGN_KEY:
            raise CommitRefused(failure)
        if failure is not None:
            raise TargetError("LR4001", str(failure))

    def rollback(self) -> None:
        if self.connection.in_transaction:
            self.plain("ROLLBACK")

    def snapshot(self) -> None:
        super().snapshot()
        self.tables()  # the first read fixes what is seen

    def script(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        self._do(lambda: self.connection.executescript(text))

    def facts(self, schema: str, table: str) -> TableFacts | None:
        if self.path is None:
            raise self._no_file()
        return table_facts(self.query, schema, table) if self._is_here(schema) else None

    def references(self, schema: str, table: str) -> list[Reference]:
        return foreign_keys(self.query, schema, table)

    def make_schema(self, schema: str) -> None:
        if self.path is None:
            self.path, self.schema = path_of(self.url) / f"{schema}.db", schema
            self._attach(self.path)
            self.execute(f"PRAGMA {self.quoted(schema)}.user_version = 0")  # makes the file
        if schema != self.schema:
            raise TargetError(
                "LR4002",
                f"found the schema {self.schema} in {public(self.url)}; expected {schema}",
                hint=self.otherwise_called(schema),
            )

    def otherwise_called(self, schema: str) -> str:
        if schema.lower() == _TAKEN:
            return f"SQLite keeps the name {schema} for itself: map it to another (--mapping)"
        return "" if self._is_here(schema) else f"Say so: ?schema={schema} after the URL"

    def columns(self, schema: str, table: str) -> list[tuple[str, str, str]]:
        listed = columns_of(self.query, schema, table) if self._is_here(schema) else []
        return [(name, kind, "NOT NULL" * strict) for name, kind, strict, *_ in listed]

    def _is_here(self, schema: str) -> bool:
        return self.path is not None and schema == self.schema

    def tables(self) -> list[tuple[str, str]]:
        return [(self.schema, str(name)) for (name,) in self.catalog_rows(self.TABLES)]

    def texts(
        self, schema: str, table: str, columns: Sequence[str], decimals: Collection[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        """Bytes that are no UTF-8 are shown as escapes."""
        self.connection.text_factory = lambda octets: octets.decode("utf-8", "backslashreplace")
        try:
            yield from super().texts(schema, table, columns, decimals)
        finally:
            self.connection.text_factory = str

    def shown(self, values: Sequence[Any], decimal: bool) -> Sequence[str | None]:
        return [(decimal_shown if decimal else shown)(value) for value in values]

    def bound(self, texts: list[str | None], kind: str) -> Sequence[Any]:
        return bound(texts, kind.upper())

    def close(self) -> None:
        self.connection.close()
        if self._lock is not None:
            with suppress(OSError):
                os.close(self._lock)
            self._lock = None


SQLITE = FileTarget("sqlite", SqliteSession, lambda path: path.touch(exist_ok=False), "")
