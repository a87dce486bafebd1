"""SQLite as a target, in this process. ``sqlite:////data/sakila.db`` is the schema ``sakila`` (the
file's name; ``?schema=NAME`` says otherwise); ``sqlite:////data/folder/`` is the one ``.db`` file
in that folder.

The file is attached to an empty connection, under its schema's name, which is what scripts expect
(``sakila.film``). All of a transaction is in this one file, so that its journal makes the data and
the position one.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa

from replay.errors import TargetError, Where, cause_of
from replay.public import public
from replay.targets import (
    CommitRefused,
    Condition,
    Difference,
    OwnTable,
    Session,
    StatementCounts,
    StatementFailure,
    TableFacts,
    Transient,
)
from replay.targets.sqlite_facts import (
    bound,
    columns_of,
    decimal_shown,
    foreign_keys,
    shown,
    table_facts,
)
from replay.targets.states import (
    file_of,
    new_file_of,
    no_roles,
    no_server,
    path_of,
    state_rows,
    state_tables,
    statements_of,
)
from replay.temp_folders import WorkFolder

if TYPE_CHECKING:
    import sqlite3

__all__ = [
    "compare_states",
    "connect",
    "dialect",
    "keys",
    "load_state",
    "make",
    "run_scripts",
    "scratch",
    "state_tables",
]

dialect = "sqlite"

_WAIT_SECONDS = 10
#: Rows that are read at once.
_BATCH_ROWS = 20_000
_CONDITIONS = {
    "SQLITE_CONSTRAINT_UNIQUE": Condition.DUPLICATE_KEY,
    "SQLITE_CONSTRAINT_PRIMARYKEY": Condition.DUPLICATE_KEY,
    "SQLITE_CONSTRAINT_ROWID": Condition.DUPLICATE_KEY,
    "SQLITE_CONSTRAINT_FOREIGNKEY": Condition.FOREIGN_KEY,
}
#: What comes upon foreign keys that waited.
_COMMIT = "COMMIT"
#: Any statement would end in these, and what they begin with.
_SERVER = (
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


def connect(url: str) -> Session:
    """A session; TargetError (LR4003) when there is no such file."""
    return SqliteSession(url)


def make(url: str) -> Path | None:
    """Make a database file where there is none; the file, or None. TargetError (LR4003) where it
    cannot be made."""
    path = new_file_of(url)
    if path is not None:
        try:
            path.touch(exist_ok=False)
        except OSError as error:
            raise TargetError("LR4003", f"cannot make {public(url)}: {cause_of(error)}") from error
    return path


@contextmanager
def scratch(url: str | None = None) -> Iterator[str]:
    """The URL of a temporary folder, where the first schema that is made becomes a file."""
    no_server(url)
    with WorkFolder() as folder:
        yield f"sqlite:///{folder}/"


def run_scripts(url: str, scripts: Iterable[Path]) -> None:
    """Run scripts in the given order; TargetError (LR4001) with the script's name when a statement
    fails."""
    with closing(SqliteSession(url)) as session:
        for script in scripts:
            try:
                session.script(script.read_text(encoding="utf-8"))
            except TargetError as error:
                raise TargetError(error.code, error.message, Where(file=script.name)) from error


def load_state(url: str, schema: str, folder: Path) -> int:
    """Put the rows of a state into existing tables of ``schema``, foreign keys unchecked; the
    number of rows."""
    with closing(SqliteSession(url)) as session:
        session.begin()
        count = sum(
            session.load(_name(schema, table), schema, table, path)
            for table, path in state_tables(folder).items()
        )
        session.commit()
    return count


def compare_states(
    url: str, schema: str, folder: Path, overlay: Path | None = None
) -> list[Difference]:
    """The tables of ``schema`` whose rows are not those of the state ``folder`` (duplicates count);
    an empty list when all are equal.

    Values are the same when SQLite would store them alike: a date's text must be written as the
    table has it. Tables of ``overlay`` replace those of ``folder``. Raises TargetError (LR4002)
    when an expected table or column does not exist.
    """
    with closing(SqliteSession(url)) as session:
        expected = state_tables(folder) | (state_tables(overlay) if overlay is not None else {})
        differences = [
            session.difference(schema, table, path) for table, path in sorted(expected.items())
        ]
    return [difference for difference in differences if difference is not None]


def keys(url: str, tables: Sequence[str]) -> str:
    """DDL of the unique keys and foreign keys of tables with these names."""
    known = {table.lower() for table in tables}
    with closing(SqliteSession(url)) as session:
        lines = []
        for table in session.tables():
            facts = session.facts(session.schema, table)
            if table.lower() not in known or facts is None:
                continue
            texts = [f"UNIQUE ({_list(key)})" for key in facts.unique_keys]
            for parent, columns, parent_columns, on_delete, _, waits in foreign_keys(
                session.query, session.schema, table
            ):
                target = f"{_name(session.schema, parent)}" + (
                    f" ({_list(parent_columns)})" if all(parent_columns) else ""
                )
                texts.append(
                    f"FOREIGN KEY ({_list(columns)}) REFERENCES {target} ON DELETE {on_delete}"
                    f"{' DEFERRABLE' * waits}"
                )
            lines += [
                f"ALTER TABLE {_name(session.schema, table)} ADD CONSTRAINT k{n} {text};"
                for n, text in enumerate(texts)
            ]
    return "\n".join(lines)


def _database(url: str) -> tuple[Path | None, str]:
    """(file, schema) that a URL names; no file for a folder that has none yet."""
    path = path_of(url)
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
    named = parse_qs(urlsplit(url).query).get("schema", [])
    return file_of(url), named[0] if named else path.stem


class SqliteSession:
    """Implements :class:`replay.targets.Session`. Constraints are checked by each statement, those
    that wait by the commit."""

    dialect = dialect
    forget = (
        "DROP TABLE logreplay_position (and the other tables whose names begin with logreplay_)"
    )
    home = ""
    savepoints = True
    prepares = False
    merges = False
    shows_all = True
    alters = True
    types: Mapping[str, str] = {}

    def __init__(self, url: str) -> None:
        import sqlite3

        self.url = url
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
            self.connection.execute(f"ATTACH ? AS {_name(self.schema)}", (str(path),))
            # a commit is on the disk, and nothing in the file is called that could do harm
            self.connection.execute(f"PRAGMA {_name(self.schema)}.synchronous = FULL")
            self.connection.execute("PRAGMA trusted_schema = OFF")
            self.connection.execute(
                f"SELECT count(*) FROM {_name(self.schema)}.sqlite_master"
            ).fetchone()
        except sqlite3.Error as error:
            taken = self.schema.lower() in ("main", "temp")
            raise TargetError(
                "LR4003",
                f"cannot connect to {public(self.url)}: {error}",
                hint="Name the schema, ?schema=NAME, or give the file another name" * taken,
            ) from error

    def _do(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        import sqlite3

        try:
            return self.connection.execute(statement, values)
        except sqlite3.Error as error:
            _raise_if_transient(error)
            if self.path is None:
                raise TargetError(
                    "LR4003",
                    f"cannot connect to {public(self.url)}: found a folder without a database"
                    " (*.db); expected a file",
                ) from error
            code = _code(error)
            if statement == _COMMIT and _condition(code) is Condition.FOREIGN_KEY:
                raise CommitRefused(
                    StatementFailure(Condition.FOREIGN_KEY, code, str(error))
                ) from error
            raise TargetError("LR4001", f"{code}: {error}") from error

    def script(self, text: str) -> None:
        """Run the statements of a script."""
        import sqlite3

        try:
            self.connection.executescript(text)
        except sqlite3.Error as error:
            raise TargetError("LR4001", f"{_code(error)}: {error}") from error

    def own(self, table: str) -> str:
        return f"{_name(self.schema)}.logreplay_{table}"

    def has_place(self) -> bool:
        return self.path is not None

    def own_tables(self) -> frozenset[str]:
        if self.path is None:
            return frozenset()
        rows = self.query(
            f"SELECT substr(name, 11) FROM {_name(self.schema)}.sqlite_master WHERE type IN"
            " ('table', 'view') AND substr(name, 1, 10) = 'logreplay_'"
        )
        return frozenset(str(name) for (name,) in rows)

    def strange_tables(self, tables: Mapping[str, OwnTable], writes: bool) -> list[str]:
        if self.path is None:
            return []
        rows = self.query(
            f"SELECT type, name, tbl_name FROM {_name(self.schema)}.sqlite_master WHERE type <>"
            " 'table' AND substr(lower(tbl_name), 1, 10) = 'logreplay_' AND name NOT LIKE"
            " 'sqlite_autoindex%%' ORDER BY type, name"
        )
        strange = [
            f"{name} is a view" if kind == "view" else f"{table} has the {kind} {name}"
            for kind, name, table in rows
        ]
        for name in sorted(tables.keys() & self.own_tables()):
            columns = self._columns(self.schema, f"logreplay_{name}")
            if [(column, hidden) for column, _, _, _, hidden in columns] != [
                (column, False) for column, *_ in tables[name].columns
            ]:
                strange.append(f"logreplay_{name} has other columns")
        return strange

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

    def missing_rights(self, schema: str, table: str, empties: bool) -> list[str]:
        return []

    def missing_for_own(self, tables: Mapping[str, OwnTable]) -> list[str]:
        return []

    def grants(self, role: str, tables: Iterable[str]) -> list[str]:
        return no_roles(role)

    def alike(self, table: str) -> list[tuple[str, str]]:
        if self.path is None:
            return []
        rows = self.query(
            f"SELECT name FROM {_name(self.schema)}.sqlite_master WHERE type IN ('table', 'view')"
            " AND lower(name) = lower(%s)",
            (table,),
        )
        return [(self.schema, str(name)) for (name,) in rows]

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
        self._do(f"PRAGMA foreign_keys = {'ON' if on else 'OFF'}")

    def begin(self) -> None:
        self._do("BEGIN IMMEDIATE")

    def durable(self) -> None:
        """Every commit is."""

    def settle(self) -> StatementFailure | None:
        return None  # the commit checks what waits

    def commit(self) -> None:
        self._do(_COMMIT)

    def rollback(self) -> None:
        if self.connection.in_transaction:
            self._do("ROLLBACK")

    def savepoint(self) -> None:
        self._do("SAVEPOINT part")

    def back_to_savepoint(self) -> None:
        self._do("ROLLBACK TO part")

    def prepare(self, shapes: Mapping[str, str]) -> None:
        """Texts are statements in full."""

    def run(self, text: bytes) -> StatementCounts:
        import sqlite3

        counts: list[int] = []
        for statement in statements_of(text):
            try:
                counts.append(self.connection.execute(statement).rowcount)
            except sqlite3.Error as error:
                _raise_if_transient(error)
                code = _code(error)
                return StatementCounts(
                    counts,
                    StatementFailure(_condition(code), code, str(error)),
                )
        return StatementCounts(counts)

    def copy(self, statement: str, text: bytes) -> StatementCounts:
        raise TargetError("LR4001", "SQLite reads no rows from a client's stream")

    def execute(self, statement: str, values: Sequence[Any] = ()) -> int:
        return self._do(_marked(statement), values).rowcount

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._do(_marked(statement), values).fetchall()

    def tables(self) -> list[str]:
        """The tables of the schema."""
        rows = self.query(
            f"SELECT name FROM {_name(self.schema)}.sqlite_master WHERE type = 'table' ORDER BY"
            " name"
        )
        return [str(name) for (name,) in rows]

    def facts(self, schema: str, table: str) -> TableFacts | None:
        here = self.path is not None and schema == self.schema
        return table_facts(self.query, schema, table) if here else None

    def sequences(self, schema: str, table: str) -> list[str]:
        return []

    def move_sequences(self, schema: str, table: str) -> dict[str, int]:
        return {}  # SQLite moves its own with every row

    # -- comparing
    # ---------------------------------------------------------------------------------------------

    def version(self) -> str:
        return f"SQLite {self.query('SELECT sqlite_version()')[0][0]}"

    def snapshot(self) -> None:
        self._do("BEGIN")
        if self.path is not None:
            self.tables()  # the first read fixes what is seen

    def make_schema(self, schema: str) -> None:
        if self.path is None:
            self.path, self.schema = path_of(self.url) / f"{schema}.db", schema
            self._attach(self.path)
            self._do(f"PRAGMA {_name(schema)}.user_version = 0")  # makes the file
        if schema != self.schema:
            raise TargetError(
                "LR4002",
                f"found the schema {self.schema} in {public(self.url)}; expected {schema}",
                hint=f"Say so: ?schema={schema}",
            )

    def definition(self, schema: str, table: str) -> list[str]:
        columns = [
            f"{_name(name)} {kind}{' NOT NULL' if strict else ''}"
            for name, kind, strict, _, _ in self._columns(schema, table)
        ]
        facts = self.facts(schema, table)
        statements = [f"CREATE TABLE {_name(schema, table)} ({', '.join(columns)})"]
        for number, key in enumerate(() if facts is None else facts.unique_keys):
            statements.append(
                f"CREATE UNIQUE INDEX {_name(schema, f'{table}_{number}')} ON {_name(table)}"
                f" ({_list(key)})"
            )
        return statements

    def count(self, schema: str, table: str) -> int:
        return int(self.query(f"SELECT count(*) FROM {_name(schema, table)}")[0][0])

    def tables_of(self, schema: str) -> list[str]:
        if self.path is None or schema != self.schema:
            return []
        ours = ("logreplay_", "sqlite_")
        return [name for name in self.tables() if not name.startswith(ours)]

    def texts(
        self, schema: str, table: str, columns: Sequence[str], decimals: Collection[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        self.connection.text_factory = _text
        try:
            rows = self._do(f"SELECT {_list(columns)} FROM {_name(schema, table)}")
            shows = [decimal_shown if name in decimals else shown for name in columns]
            while held := rows.fetchmany(_BATCH_ROWS):
                arrays = [
                    pa.array([show(value) for value in values], pa.string())
                    for show, values in zip(shows, zip(*held, strict=True), strict=True)
                ]
                yield pa.RecordBatch.from_arrays(arrays, list(columns))
        finally:
            self.connection.text_factory = str

    def load(self, into: str, schema: str, table: str, path: Path) -> int:
        """Insert the rows of a state's file; the number of rows. TargetError (LR4002) when the
        table or a column does not exist."""
        kinds = {name: kind.upper() for name, kind, _, _, _ in self._columns(schema, table)}
        rows = state_rows(path)
        if missing := [name for name in rows.column_names if name not in kinds]:
            what = f"column {missing[0]}" if kinds else "the table"
            raise TargetError(
                "LR4002",
                f"the database lacks what the state has: {what}",
                Where(table=f"{schema}.{table}"),
            )
        values = [
            bound(column.to_pylist(), kinds[name])
            for name, column in zip(rows.column_names, rows.columns, strict=True)
        ]
        marks = ", ".join("?" * rows.num_columns)
        statement = f"INSERT INTO {into} ({_list(rows.column_names)}) VALUES ({marks})"
        self._do_many(statement, zip(*values, strict=True), f"{schema}.{table}")
        return int(rows.num_rows)

    def _do_many(self, statement: str, rows: Iterable[Sequence[Any]], table: str) -> None:
        import sqlite3

        try:
            self.connection.executemany(statement, rows)
        except sqlite3.Error as error:
            raise TargetError("LR4001", f"{_code(error)}: {error}", Where(table=table)) from error

    def difference(self, schema: str, table: str, path: Path) -> Difference | None:
        """How a table differs from a state's file; None when it does not."""
        columns = [name for name, _, _, _, _ in self._columns(schema, table)]
        if columns:
            self._do("DROP TABLE IF EXISTS temp.expected")
            self._do(f"CREATE TEMP TABLE expected AS SELECT * FROM {_name(schema, table)} LIMIT 0")
        self.load("temp.expected", schema, table, path)
        actual, wanted = (
            Counter(self._do(f"SELECT {_quoted(columns)} FROM {name}"))
            for name in (_name(schema, table), "temp.expected")
        )
        extra, lost = actual - wanted, wanted - actual
        if not extra and not lost:
            return None
        examples = (f"({', '.join(min(rows))})" if rows else None for rows in (extra, lost))
        return Difference(f"{schema}.{table}", extra.total(), lost.total(), *examples)

    def _columns(self, schema: str, table: str) -> list[tuple[str, str, bool, int, bool]]:
        """(name, declared type, NOT NULL, place in the primary key or 0, computed) in order; none
        for a schema that is not here."""
        if self.path is None or schema != self.schema:
            return []
        return columns_of(self.query, schema, table)

    def interrupt(self) -> None:
        """A thread that waits for a statement hears of an interruption itself."""

    def close(self) -> None:
        self.connection.close()
        if self._lock is not None:
            with suppress(OSError):
                os.close(self._lock)
            self._lock = None


def _code(error: sqlite3.Error) -> str:
    return str(getattr(error, "sqlite_errorname", type(error).__name__))


def _condition(code: str) -> Condition:
    other = Condition.SERVER if code.startswith(_SERVER) else Condition.OTHER
    return _CONDITIONS.get(code, other)


def _raise_if_transient(error: sqlite3.Error) -> None:
    if _code(error).startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        raise Transient("LR4001", f"{_code(error)}: {error}") from error


def _marked(statement: str) -> str:
    """``%s`` as SQLite marks values."""
    return re.sub("%[s%]", lambda mark: "?" if mark[0] == "%s" else "%", statement)


def _text(octets: bytes) -> str:
    """Text; octets that are no UTF-8 are shown as escapes."""
    return octets.decode("utf-8", "backslashreplace")


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"quote({_name(name)})" for name in names)


def _list(names: Sequence[str]) -> str:
    return ", ".join(map(_name, names))


def _name(*names: str) -> str:
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)
