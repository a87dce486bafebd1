"""SQLite as a target, in this process. ``sqlite:////data/sakila.db`` is the schema ``sakila`` (the file's name; ``?schema=NAME`` says otherwise);
``sqlite:////data/folder/`` is the one ``.db`` file in that folder.

The file is attached to an empty connection, under its schema's name, which is what scripts expect (``sakila.film``). All of a transaction is in
this one file, so that its journal makes the data and the position one.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from replay.errors import TargetError, Where
from replay.targets import DUPLICATE_KEY, FOREIGN_KEY, OTHER, Difference, Failure, Outcome, Session, TableFacts, Transient
from replay.targets.states import file_of, no_server, path_of, state_rows, state_tables, statements_of

if TYPE_CHECKING:
    import sqlite3

__all__ = ["compare_states", "connect", "dialect", "keys", "load_state", "run_scripts", "scratch", "shown", "state_tables"]

dialect = "sqlite"

_WAIT_SECONDS = 10
_ACTIONS = ("CASCADE", "SET NULL", "SET DEFAULT")
_CONDITIONS = {
    "SQLITE_CONSTRAINT_UNIQUE": DUPLICATE_KEY,
    "SQLITE_CONSTRAINT_PRIMARYKEY": DUPLICATE_KEY,
    "SQLITE_CONSTRAINT_ROWID": DUPLICATE_KEY,
    "SQLITE_CONSTRAINT_FOREIGNKEY": FOREIGN_KEY,
}


def connect(url: str) -> Session:
    """A session; TargetError (LR4003) when there is no such file."""
    return SqliteSession(url)


def shown(url: str) -> str:
    """The URL: it holds no secret."""
    return url


@contextmanager
def scratch(url: str | None = None) -> Iterator[str]:
    """The URL of a temporary folder, where the first schema that is made becomes a file."""
    no_server(url)
    with tempfile.TemporaryDirectory(prefix="logreplay-sqlite-") as folder:
        yield f"sqlite:///{folder}/"


def run_scripts(url: str, scripts: Iterable[Path]) -> None:
    """Run scripts in the given order; TargetError (LR4001) with the script's name when a statement fails."""
    with closing(SqliteSession(url)) as session:
        for script in scripts:
            try:
                session.script(script.read_text(encoding="utf-8"))
            except TargetError as error:
                raise TargetError(error.code, error.message, Where(file=script.name)) from error


def load_state(url: str, schema: str, folder: Path) -> int:
    """Put the rows of a state into existing tables of ``schema``, foreign keys unchecked; the number of rows."""
    with closing(SqliteSession(url)) as session:
        session.begin()
        count = sum(session.load(_name(schema, table), schema, table, path) for table, path in state_tables(folder).items())
        session.commit()
    return count


def compare_states(url: str, schema: str, folder: Path, overlay: Path | None = None) -> list[Difference]:
    """The tables of ``schema`` whose rows are not those of the state ``folder`` (duplicates count); an empty list when all are equal.

    Values are the same when SQLite would store them alike: a date's text must be written as the table has it. Tables of ``overlay`` replace those of
    ``folder``. Raises TargetError (LR4002) when an expected table or column does not exist.
    """
    with closing(SqliteSession(url)) as session:
        expected = state_tables(folder) | (state_tables(overlay) if overlay is not None else {})
        found = [session.difference(schema, table, path) for table, path in sorted(expected.items())]
    return [difference for difference in found if difference is not None]


def keys(url: str, tables: Sequence[str]) -> str:
    """DDL of the unique keys and foreign keys of tables with these names. SQLite does not tell which foreign keys can wait: none is said to."""
    known = {table.lower() for table in tables}
    with closing(SqliteSession(url)) as session:
        lines = []
        for table in session.tables():
            facts = session.facts(session.schema, table)
            if table.lower() not in known or facts is None:
                continue
            texts = [f"UNIQUE ({_list(key)})" for key in facts.unique_keys]
            for parent, columns, parent_columns, on_delete, _ in session.foreign_keys(table):
                target = f"{_name(session.schema, parent)}" + (f" ({_list(parent_columns)})" if all(parent_columns) else "")
                texts.append(f"FOREIGN KEY ({_list(columns)}) REFERENCES {target} ON DELETE {on_delete}")
            lines += [f"ALTER TABLE {_name(session.schema, table)} ADD CONSTRAINT k{n} {text};" for n, text in enumerate(texts)]
    return "\n".join(lines)


def _database(url: str) -> tuple[Path | None, str]:
    """(file, schema) that a URL names; no file for a folder that has none yet."""
    path = path_of(url)
    if path.is_dir():
        files = sorted(path.glob("*.db"))
        if len(files) > 1:
            found = f"cannot connect to {url}: found {len(files)} databases in the folder; expected one"
            raise TargetError("LR4003", found, hint="Name the file: a transaction over several would not be one after a crash")
        return (files[0], files[0].stem) if files else (None, "")
    named = parse_qs(urlsplit(url).query).get("schema", [])
    return file_of(url), named[0] if named else path.stem


class SqliteSession:
    """Implements :class:`replay.targets.Session`. Constraints are checked by each statement; none waits."""

    dialect = dialect
    forget = "DROP TABLE logreplay_position (and the other tables whose names begin with logreplay_)"
    savepoints = True
    prepares = False
    merges = False
    parallel = False
    alters = True
    types: Mapping[str, str] = {}

    def __init__(self, url: str) -> None:
        import sqlite3

        self.url = url
        self.path, self.schema = _database(url)
        self._lock: int | None = None
        self.connection: sqlite3.Connection = sqlite3.connect(":memory:", isolation_level=None, timeout=_WAIT_SECONDS)
        if self.path is not None:
            self._attach(self.path)

    def _attach(self, path: Path) -> None:
        import sqlite3

        try:
            self.connection.execute(f"ATTACH ? AS {_name(self.schema)}", (str(path),))
            self.connection.execute(f"SELECT count(*) FROM {_name(self.schema)}.sqlite_master").fetchone()
        except sqlite3.Error as error:
            raise TargetError("LR4003", f"cannot connect to {self.url}: {error}") from error

    def _do(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        import sqlite3

        try:
            return self.connection.execute(statement, values)
        except sqlite3.Error as error:
            _raise_if_transient(error)
            raise TargetError("LR4001", f"{_code(error)}: {error}") from error

    def script(self, text: str) -> None:
        """Run the statements of a script."""
        import sqlite3

        try:
            self.connection.executescript(text)
        except sqlite3.Error as error:
            raise TargetError("LR4001", f"{_code(error)}: {error}") from error

    def own(self, table: str) -> str:
        return f"{_name(self.schema)}.logreplay_{table}"

    def make_home(self) -> None:
        """Nothing to make: our tables stand beside the others."""

    def has_home(self) -> bool:
        return self.path is not None and "logreplay_position" in self.tables()

    def lock(self) -> bool:
        if self.path is None:
            return True
        if self._lock is None:
            self._lock = os.open(self.path, os.O_RDONLY)  # SQLite's own locks are of another kind and do not meet this one
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def enforce(self, on: bool) -> None:
        if not on and self.path is not None:
            found = self.query(f"SELECT name FROM {_name(self.schema)}.sqlite_master WHERE type = 'trigger' ORDER BY name")
            if found:
                names = ", ".join(str(name) for (name,) in found)
                raise TargetError("LR4001", f"SQLite cannot keep triggers from firing, and this database has some: {names}")
        self._do(f"PRAGMA foreign_keys = {'ON' if on else 'OFF'}")

    def begin(self) -> None:
        self._do("BEGIN IMMEDIATE")

    def durable(self) -> None:
        """Every commit is."""

    def settle(self) -> Failure | None:
        return None

    def commit(self) -> None:
        self._do("COMMIT")

    def rollback(self) -> None:
        if self.connection.in_transaction:
            self._do("ROLLBACK")

    def savepoint(self) -> None:
        self._do("SAVEPOINT part")

    def back_to_savepoint(self) -> None:
        self._do("ROLLBACK TO part")

    def prepare(self, shapes: Mapping[str, str]) -> None:
        """Texts are statements in full."""

    def run(self, text: bytes) -> Outcome:
        import sqlite3

        counts: list[int] = []
        for statement in statements_of(text):
            try:
                counts.append(self.connection.execute(statement).rowcount)
            except sqlite3.Error as error:
                _raise_if_transient(error)
                code = _code(error)
                return Outcome(counts, Failure(_CONDITIONS.get(code, OTHER), code, str(error)))
        return Outcome(counts)

    def copy(self, statement: str, text: bytes) -> Outcome:
        raise TargetError("LR4001", "SQLite reads no rows from a client's stream")

    def execute(self, statement: str, values: Sequence[Any] = ()) -> int:
        return self._do(_marked(statement), values).rowcount

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._do(_marked(statement), values).fetchall()

    def tables(self) -> list[str]:
        """The tables of the schema."""
        rows = self.query(f"SELECT name FROM {_name(self.schema)}.sqlite_master WHERE type = 'table' ORDER BY name")
        return [str(name) for (name,) in rows]

    def foreign_keys(self, table: str) -> list[tuple[str, list[str], list[str], str, str]]:
        """(parent, columns, the parent's columns, ON DELETE, ON UPDATE) of the foreign keys of a table."""
        found: dict[int, tuple[str, list[str], list[str], str, str]] = {}
        for number, _, parent, column, other, on_update, on_delete, _ in self._pragma("foreign_key_list", table):
            entry = found.setdefault(number, (parent, [], [], on_delete, on_update))
            entry[1].append(column)
            entry[2].append(other)
        return list(found.values())

    def _pragma(self, name: str, argument: str) -> list[tuple[Any, ...]]:
        return self.query(f"PRAGMA {_name(self.schema)}.{name}({_name(argument)})")

    def facts(self, schema: str, table: str) -> TableFacts | None:
        columns = self._columns(schema, table)
        if not columns:
            return None
        primary = [name for _, name in sorted((place, name) for name, _, _, place, _ in columns if place)]
        unique = [tuple(primary)] if primary else []
        for _, name, is_unique, _, partial in self._pragma("index_list", table):
            names = [column for _, _, column in self._pragma("index_info", name)]
            if is_unique and not partial and None not in names and set(names) != set(primary):
                unique.append(tuple(names))
        fired = self.query(
            f"SELECT name FROM {_name(schema)}.sqlite_master WHERE type = 'trigger' AND lower(tbl_name) = lower(%s) ORDER BY name", (table,)
        )
        return TableFacts(
            tuple(name for name, _, _, _, _ in columns),
            tuple(name for name, _, _, _, hidden in columns if hidden),
            (),
            tuple(unique),
            tuple(str(name) for (name,) in fired),
            tuple(self._cascades(table)),
            types=tuple(kind for _, kind, _, _, _ in columns),
        )

    def _cascades(self, table: str) -> Iterator[str]:
        for child in self.tables():
            for parent, columns, _, on_delete, on_update in self.foreign_keys(child):
                acts = [f"ON DELETE {on_delete}"] * (on_delete in _ACTIONS) + [f"ON UPDATE {on_update}"] * (on_update in _ACTIONS)
                if acts and table.lower() in (child.lower(), parent.lower()):
                    yield f"{child} ({', '.join(columns)}) to {parent} ({', '.join(acts)})"

    def move_sequences(self, schema: str, table: str) -> list[str]:
        return []  # SQLite moves its own with every row

    # -- comparing ----------------------------------------------------------------------------------------------------------------------

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
                "LR4002", f"found the schema {self.schema} in {self.url}; expected {schema}", hint=f"Say so: ?schema={schema}"
            )

    def definition(self, schema: str, table: str) -> list[str]:
        columns = [f"{_name(name)} {kind}{' NOT NULL' if strict else ''}" for name, kind, strict, _, _ in self._columns(schema, table)]
        facts = self.facts(schema, table)
        made = [f"CREATE TABLE {_name(schema, table)} ({', '.join(columns)})"]
        for number, key in enumerate(() if facts is None else facts.unique_keys):
            made.append(f"CREATE UNIQUE INDEX {_name(schema, f'{table}_{number}')} ON {_name(table)} ({_list(key)})")
        return made

    def count(self, schema: str, table: str) -> int:
        return int(self.query(f"SELECT count(*) FROM {_name(schema, table)}")[0][0])

    def hashes(self, schema: str, table: str, columns: Sequence[str], key: Sequence[str], buckets: int) -> dict[int, tuple[int, str]]:
        counts: Counter[int] = Counter()
        sums: Counter[int] = Counter()
        for at, row in self._rows(schema, table, columns, key):
            bucket = _hash(at) % buckets
            counts[bucket] += 1
            sums[bucket] += _hash(row)
        return {bucket: (counts[bucket], str(sums[bucket])) for bucket in counts}

    def bucket(
        self, schema: str, table: str, columns: Sequence[str], key: Sequence[str], bucket: int, buckets: int
    ) -> list[tuple[Any, ...]]:
        return [row for at, row in self._rows(schema, table, columns, key) if _hash(at) % buckets == bucket]

    def _rows(
        self, schema: str, table: str, columns: Sequence[str], key: Sequence[str]
    ) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        """(key, row) of all rows, values as SQL literals."""
        for row in self._do(f"SELECT {_quoted([*key, *columns])} FROM {_name(schema, table)}"):
            yield row[: len(key)], row[len(key) :]

    def load(self, into: str, schema: str, table: str, path: Path) -> int:
        """Insert the rows of a state's file; the number of rows. TargetError (LR4002) when the table or a column does not exist."""
        kinds = {name: kind.upper() for name, kind, _, _, _ in self._columns(schema, table)}
        rows = state_rows(path)
        if missing := [name for name in rows.column_names if name not in kinds]:
            what = f"column {missing[0]}" if kinds else "the table"
            raise TargetError("LR4002", f"the database lacks what the state has: {what}", Where(table=f"{schema}.{table}"))
        values = [
            [None if text is None else bytes.fromhex(text.removeprefix("\\x")) for text in column.to_pylist()]
            if "BLOB" in kinds[name]
            else column.to_pylist()
            for name, column in zip(rows.column_names, rows.columns, strict=True)
        ]
        marks = ", ".join("?" * rows.num_columns)
        self.connection.executemany(f"INSERT INTO {into} ({_list(rows.column_names)}) VALUES ({marks})", zip(*values, strict=True))
        return int(rows.num_rows)

    def difference(self, schema: str, table: str, path: Path) -> Difference | None:
        """How a table differs from a state's file; None when it does not."""
        columns = [name for name, _, _, _, _ in self._columns(schema, table)]
        if columns:
            self._do("DROP TABLE IF EXISTS temp.expected")
            self._do(f"CREATE TEMP TABLE expected AS SELECT * FROM {_name(schema, table)} LIMIT 0")
        self.load("temp.expected", schema, table, path)
        found, wanted = (Counter(self._do(f"SELECT {_quoted(columns)} FROM {name}")) for name in (_name(schema, table), "temp.expected"))
        extra, lost = found - wanted, wanted - found
        if not extra and not lost:
            return None
        examples = (f"({', '.join(min(rows))})" if rows else None for rows in (extra, lost))
        return Difference(f"{schema}.{table}", extra.total(), lost.total(), *examples)

    def _columns(self, schema: str, table: str) -> list[tuple[str, str, bool, int, bool]]:
        """(name, declared type, NOT NULL, place in the primary key or 0, computed) in order; none for a schema that is not here."""
        if self.path is None or schema != self.schema:
            return []
        return [(name, kind, bool(strict), key, hidden > 1) for _, name, kind, strict, _, key, hidden in self._pragma("table_xinfo", table)]

    def close(self) -> None:
        self.connection.close()
        if self._lock is not None:
            with suppress(OSError):
                os.close(self._lock)
            self._lock = None


def _code(error: sqlite3.Error) -> str:
    return str(getattr(error, "sqlite_errorname", type(error).__name__))


def _raise_if_transient(error: sqlite3.Error) -> None:
    if _code(error).startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        raise Transient("LR4001", f"{_code(error)}: {error}") from error


def _marked(statement: str) -> str:
    """``%s`` as SQLite marks values."""
    return statement.replace("%s", "?").replace("%%", "%")


def _hash(values: Sequence[str]) -> int:
    return int(hashlib.blake2b("\x1f".join(values).encode(), digest_size=8).hexdigest(), 16)


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"quote({_name(name)})" for name in names)


def _list(names: Sequence[str]) -> str:
    return ", ".join(map(_name, names))


def _name(*names: str) -> str:
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)
