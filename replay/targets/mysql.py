"""MariaDB and MySQL as targets: ``mariadb://user@host:3306/`` or ``mysql://…``. A schema is a
database of the server.

The password comes from the URL, the environment (``MYSQL_PWD``), or an option file
(``?defaults-file=~/.my.cnf``); ``?socket=/path`` connects by a Unix socket, ``?ca=FILE`` demands
TLS and a certificate of that authority.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from replay.errors import TargetError, UsageError, Where, optional_library
from replay.public import public, without
from replay.targets import (
    LOST,
    Condition,
    ConnectionLost,
    Difference,
    OwnTable,
    Session,
    StatementCounts,
    StatementFailure,
    TableFacts,
    Transient,
    mysql_own,
    mysql_settings,
)
from replay.targets.mysql_errors import failure_of, is_lost, is_transient, said_by
from replay.targets.mysql_facts import MysqlCatalog
from replay.targets.mysql_url import connect_arguments
from replay.targets.states import script_parts, state_rows, state_tables

if TYPE_CHECKING:
    import pymysql

_CONNECT_SECONDS = 30
#: Where the server sees the client of a connection: behind it stands its number.
_SEEN_FROM = "SELECT host FROM information_schema.processlist WHERE id ="
#: Rows that are read at once.
_BATCH_ROWS = 20_000
_LOCK = "logreplay"
_OWN_DATABASES = ("information_schema", "mysql", "performance_schema", "sys")
_BINARY = frozenset({"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "bit"})
#: A float alone is shown with six digits, so it is made a double. MySQL 9 writes a sum in 22
#: characters at most, which the sign of a small one would take a digit from.
_FLOAT = "CONCAT(IF({0} < 0, '-', ''), CAST(ABS({0}) + 0e0 AS CHAR))"

T = TypeVar("T")


@dataclass(frozen=True)
class Server:
    """Implements :class:`replay.targets.Target` for one of the two dialects."""

    dialect: str

    def connect(self, url: str) -> Session:
        """A session; ConnectionLost (LR4003) when the server cannot be reached."""
        return MysqlSession(url, self.dialect)

    def make(self, url: str) -> Path | None:
        """Makes nothing: a server is no file."""
        return None

    @contextmanager
    def scratch(self, url: str | None) -> Iterator[str]:
        """The server that ``url`` names, emptied afterwards: tables keep the names of their
        databases. Raises UsageError (LR1001) when there is none, and TargetError (LR4003) when it
        holds databases already."""
        if url is None:
            raise UsageError(
                "LR1001",
                f"a {self.dialect} needs a server of its own for this",
                hint=f"Name an empty one: --scratch {self.dialect}://user@host:port/",
            )
        with closing(MysqlSession(url, self.dialect)) as session:
            if databases := session.databases():
                message = f"{public(url)} is not empty: found the databases {', '.join(databases)}"
                raise TargetError(
                    "LR4003",
                    message,
                    hint="What is there would be lost; name a server without databases",
                )
        try:
            yield url
        finally:
            with closing(MysqlSession(url, self.dialect)) as session:
                session.execute("SET foreign_key_checks = 0")
                for name in session.databases():
                    session.execute(f"DROP DATABASE {_name(name)}")

    def state_tables(self, folder: Path) -> dict[str, Path]:
        """The files of a state by table; InputError (LR2001) when there are none."""
        return state_tables(folder)

    def run_scripts(self, url: str, scripts: Iterable[Path]) -> None:
        """Run scripts in the given order; TargetError (LR4001) with the script's name when a
        statement fails."""
        with closing(MysqlSession(url, self.dialect)) as session:
            for script in scripts:
                for text in script_parts(script):
                    failure = session.run(text).failure
                    if failure is not None:
                        raise TargetError(
                            "LR4001",
                            f"{failure.sqlstate}: {failure.message}",
                            Where(file=script.name),
                        )

    def load_state(self, url: str, schema: str, folder: Path) -> int:
        """Put the rows of a state into existing tables of ``schema``, foreign keys unchecked; the
        number of rows."""
        with closing(MysqlSession(url, self.dialect)) as session:
            session.execute("SET foreign_key_checks = 0")
            session.begin()
            count = sum(
                session.load(_name(schema, table), schema, table, path)
                for table, path in state_tables(folder).items()
            )
            session.commit()
        return count

    def compare_states(
        self, url: str, schema: str, folder: Path, overlay: Path | None = None
    ) -> list[Difference]:
        """The tables of ``schema`` whose rows are not those of the state ``folder`` (duplicates
        count); an empty list when all are equal.

        Tables of ``overlay`` replace those of ``folder``. Raises TargetError (LR4002) when an
        expected table or column does not exist.
        """
        expected = state_tables(folder) | (state_tables(overlay) if overlay is not None else {})
        with closing(MysqlSession(url, self.dialect)) as session:
            differences = [
                session.difference(schema, table, path) for table, path in sorted(expected.items())
            ]
        return [difference for difference in differences if difference is not None]

    def keys(self, url: str, tables: Sequence[str]) -> str:
        """DDL of the unique keys and foreign keys of tables with these names, in any schema and
        case."""
        known = {table.lower() for table in tables}
        lines = []
        with closing(MysqlSession(url, self.dialect)) as session:
            for schema, table in session.query(_TABLES):
                if table.lower() not in known:
                    continue
                texts = [
                    f"UNIQUE ({_standard_list(key)})"
                    for key in session.catalog.unique_keys(schema, table)
                ]
                for (
                    parent_schema,
                    parent,
                    columns,
                    parent_columns,
                    on_delete,
                    _,
                ) in session.catalog.foreign_keys(schema, table):
                    text = (
                        f"FOREIGN KEY ({_standard_list(columns)}) REFERENCES"
                        f" {_standard(parent_schema, parent)} ({_standard_list(parent_columns)})"
                    )
                    texts.append(f"{text} ON DELETE {on_delete}")
                lines += [
                    f"ALTER TABLE {_standard(schema, table)} ADD CONSTRAINT k{n} {text};"
                    for n, text in enumerate(texts)
                ]
        return "\n".join(lines)


MARIADB, MYSQL = Server("mariadb"), Server("mysql")


class MysqlSession:
    """Implements :class:`replay.targets.Session`. Texts of many statements travel as one message;
    the server answers each of them. Constraints are checked by each statement; none waits."""

    forget = "DROP DATABASE logreplay"
    home = "CREATE DATABASE logreplay CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
    types: Mapping[str, str] = {"text": "longtext", "timestamp": "datetime"}
    savepoints = True
    prepares = False
    merges = False
    shows_all = False
    alters = False

    def __init__(self, url: str, dialect: str) -> None:
        optional_library("pymysql", "mysql", "a MariaDB or MySQL database")
        import pymysql
        from pymysql.constants import CLIENT

        self.dialect, self.name = dialect, public(url)
        self._parted = False
        self._arguments: dict[str, Any] = {
            **connect_arguments(url),
            "charset": "utf8mb4",
            "autocommit": True,
            "client_flag": CLIENT.FOUND_ROWS | CLIENT.MULTI_STATEMENTS,
            "connect_timeout": _CONNECT_SECONDS,
            "program_name": "logreplay",
        }
        try:
            self.connection: pymysql.Connection[Any] = pymysql.connect(**self._arguments)
        except (pymysql.MySQLError, OSError) as error:
            said = without(str(error), url)
            raise ConnectionLost("LR4003", f"cannot connect to {self.name}: {said}") from error
        self._packet = mysql_settings.set_up(self.query, self.execute)
        self._seen_from = self.query(f"{_SEEN_FROM} CONNECTION_ID()")
        self.catalog = MysqlCatalog(self.query, dialect)

    def own(self, table: str) -> str:
        return f"logreplay.{table}"

    def has_place(self) -> bool:
        return bool(
            self.query("SELECT 1 FROM information_schema.schemata WHERE schema_name = 'logreplay'")
        )

    def own_tables(self) -> frozenset[str]:
        rows = self.query(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'logreplay'"
        )
        return frozenset(str(name) for (name,) in rows)

    def strange_tables(self, tables: Mapping[str, OwnTable], writes: bool) -> list[str]:
        return mysql_own.strange_tables(self.query, tables)

    def read_only(self) -> str:
        return mysql_settings.read_only(self.query, self.execute, self.dialect)

    def missing_rights(self, schema: str, table: str, empties: bool) -> list[str]:
        columns = [
            _name(name)
            for name, _, _, _, _, generated, _ in self.query(_COLUMNS, (schema, table))
            if not generated
        ]
        if not columns:
            return []
        return mysql_settings.missing_rights(self.execute, _name(schema, table), columns[0])

    def missing_for_own(self, tables: Mapping[str, OwnTable]) -> list[str]:
        there = self.own_tables()
        return [
            f"{right} on logreplay.{name}"
            for name, table in tables.items()
            if name in there
            for right in mysql_settings.missing_rights(
                self.execute, f"logreplay.{name}", table.columns[0][0]
            )
        ]

    def grants(self, role: str, tables: Iterable[str]) -> list[str]:
        user, at, host = role.rpartition("@")
        account = f"{_name(user)}@{_name(host)}" if at else _name(role)
        return [f"GRANT SELECT, INSERT, UPDATE, DELETE ON logreplay.* TO {account}"]

    def alike(self, table: str) -> list[tuple[str, str]]:
        return [(str(schema), str(name)) for schema, name in self.query(_ALIKE, (table,))]

    def lock(self) -> bool:
        return bool(self.query("SELECT GET_LOCK(%s, 0)", (_LOCK,))[0][0] == 1)

    def enforce(self, on: bool) -> None:
        self.execute(f"SET SESSION foreign_key_checks = {int(on)}")

    def begin(self) -> None:
        self._parted = False
        self.execute("START TRANSACTION")

    def durable(self) -> None:
        """How commits reach the disk is for the server to say (``innodb_flush_log_at_trx_commit``),
        not for a session."""

    def settle(self) -> StatementFailure | None:
        return None

    def commit(self) -> None:
        self.execute("COMMIT")

    def rollback(self) -> None:
        self.execute("ROLLBACK")

    def savepoint(self) -> None:
        if self._parted:
            self.execute("RELEASE SAVEPOINT part")
        self.execute("SAVEPOINT part")
        self._parted = True

    def back_to_savepoint(self) -> None:
        self.execute("ROLLBACK TO SAVEPOINT part")

    def prepare(self, shapes: Mapping[str, str]) -> None:
        """Texts are statements in full."""

    def run(self, text: bytes) -> StatementCounts:
        if len(text) < self._packet:
            return self._send(text)
        counts: list[int] = []
        for part in mysql_settings.parts(text, self._packet):
            if len(part) >= self._packet:
                message = (
                    f"the statement has {len(part):,} bytes; the server takes less than"
                    f" {self._packet:,} at once (raise its max_allowed_packet)"
                )
                return StatementCounts(
                    counts, StatementFailure(Condition.OTHER, "error 1153", message)
                )
            result = self._send(part)
            counts += result.counts
            if result.failure is not None:
                return StatementCounts(counts, result.failure)
        return StatementCounts(counts)

    def _send(self, text: bytes) -> StatementCounts:
        import pymysql

        counts: list[int] = []
        try:
            with self.connection.cursor() as cursor:
                counts.append(int(cursor.execute(text)))
                while cursor.nextset():
                    counts.append(int(cursor.rowcount))
        except (pymysql.MySQLError, OSError) as error:
            return StatementCounts(counts, self._failure(error))
        return StatementCounts(counts)

    def copy(self, statement: str, text: bytes) -> StatementCounts:
        raise TargetError("LR4001", f"a {self.dialect} reads no rows from a client's stream")

    def execute(self, statement: str, values: Sequence[Any] = ()) -> int:
        return self._do(lambda cursor: int(cursor.execute(*_asked(statement, values))))

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        def rows(cursor: Any) -> list[tuple[Any, ...]]:
            cursor.execute(*_asked(statement, values))
            return list(cursor.fetchall())

        return self._do(rows)

    def databases(self) -> list[str]:
        """The databases that users made."""
        return sorted(
            name for (name,) in self.query("SHOW DATABASES") if name.lower() not in _OWN_DATABASES
        )

    def facts(self, schema: str, table: str) -> TableFacts | None:
        return self.catalog.facts(schema, table)

    def sequences(self, schema: str, table: str) -> list[str]:
        return []

    def move_sequences(self, schema: str, table: str) -> dict[str, int]:
        return {}  # AUTO_INCREMENT follows the highest value by itself

    # -- comparing
    # ---------------------------------------------------------------------------------------------

    def version(self) -> str:
        return f"{self.dialect} {self.query('SELECT VERSION()')[0][0]}"

    def snapshot(self) -> None:
        self.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        self.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")

    def make_schema(self, schema: str) -> None:
        self.execute(
            f"CREATE DATABASE IF NOT EXISTS {_name(schema)} CHARACTER SET utf8mb4 COLLATE"
            " utf8mb4_bin"
        )

    def definition(self, schema: str, table: str) -> list[str]:
        columns = []
        for name, _, kind, collation, null, _, _ in self.query(_COLUMNS, (schema, table)):
            spelled = (
                f"CHARACTER SET {collation.partition('_')[0]} COLLATE {collation}"
                if collation
                else ""
            )
            columns.append(
                f"{_name(name)} {kind} {spelled} {'NULL' if null == 'YES' else 'NOT NULL'}"
            )
        keys = [f"UNIQUE KEY ({_list(key)})" for key in self.catalog.unique_keys(schema, table)]
        return [
            f"CREATE TABLE {_name(schema, table)} ({', '.join([*columns, *keys])}) ENGINE = InnoDB"
        ]

    def count(self, schema: str, table: str) -> int:
        return int(self.query(f"SELECT count(*) FROM {_name(schema, table)}")[0][0])

    def tables_of(self, schema: str) -> list[str]:
        return [name for home, name in self.query(_TABLES) if home == schema]

    def texts(
        self, schema: str, table: str, columns: Sequence[str], decimals: Collection[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        import pymysql
        from pymysql.cursors import SSCursor

        texts = ", ".join(self._texts(schema, table, columns))
        try:
            with self.connection.cursor(SSCursor) as cursor:
                cursor.execute(f"SELECT {texts} FROM {_name(schema, table)}")
                while held := cursor.fetchmany(_BATCH_ROWS):
                    arrays = [pa.array(values, pa.string()) for values in zip(*held, strict=True)]
                    yield pa.RecordBatch.from_arrays(arrays, list(columns))
        except (pymysql.MySQLError, OSError) as error:
            failure = self._failure(error)
            raise TargetError("LR4001", f"{failure.sqlstate}: {failure.message}") from error

    def _texts(self, schema: str, table: str, columns: Sequence[str]) -> list[str]:
        """Expressions for columns as text that is equal where the values are."""
        kinds = {name: kind.lower() for name, kind, *_ in self.query(_COLUMNS, (schema, table))}
        forms = dict.fromkeys(_BINARY, "CONCAT('\\\\x', LOWER(HEX({0})))") | {"float": _FLOAT}
        return [forms.get(kinds[name], "CAST({0} AS CHAR)").format(_name(name)) for name in columns]

    def load(self, into: str, schema: str, table: str, path: Path) -> int:
        """Insert the rows of a state's file; the number of rows. TargetError (LR4002) when the
        table or a column does not exist."""
        kinds = {name: kind.lower() for name, kind, *_ in self.query(_COLUMNS, (schema, table))}
        rows = state_rows(path)
        if missing := [name for name in rows.column_names if name not in kinds]:
            what = f"column {missing[0]}" if kinds else "the table"
            raise TargetError(
                "LR4002",
                f"the database lacks what the state has: {what}",
                Where(table=f"{schema}.{table}"),
            )
        values = zip(
            *(
                _values(column, kinds[name])
                for name, column in zip(rows.column_names, rows.columns, strict=True)
            ),
            strict=True,
        )
        statement = (
            f"INSERT INTO {into} ({_list(rows.column_names)}) VALUES"
            f" ({', '.join(['%s'] * rows.num_columns)})"
        )
        self._do(lambda cursor: cursor.executemany(statement, list(values)) if rows.num_rows else 0)
        return int(rows.num_rows)

    def difference(self, schema: str, table: str, path: Path) -> Difference | None:
        """How a table differs from a state's file; None when it does not."""
        columns = [name for name, *_ in self.query(_COLUMNS, (schema, table))]
        home = _name(schema, "logreplay expected")
        if columns:
            self.execute(f"DROP TEMPORARY TABLE IF EXISTS {home}")
            self.execute(f"CREATE TEMPORARY TABLE {home} LIKE {_name(schema, table)}")
        self.load(home, schema, table, path)
        texts = ", ".join(self._texts(schema, table, columns))
        actual, wanted = (
            Counter(self.query(f"SELECT {texts} FROM {name}"))
            for name in (_name(schema, table), home)
        )
        self.execute(f"DROP TEMPORARY TABLE {home}")
        extra, lost = actual - wanted, wanted - actual
        if not extra and not lost:
            return None
        examples = (str(min(rows, key=repr)) if rows else None for rows in (extra, lost))
        return Difference(f"{schema}.{table}", extra.total(), lost.total(), *examples)

    def interrupt(self) -> None:
        """The number of a connection is that of another one after a restart, and on another server
        behind the same address: only one that is seen from the same place is ended."""
        import pymysql

        with (
            suppress(pymysql.MySQLError, OSError),
            closing(pymysql.connect(**self._arguments)) as other,
            other.cursor() as cursor,
        ):
            number = self.connection.thread_id()  # type: ignore[no-untyped-call]
            cursor.execute(f"{_SEEN_FROM} {number}")
            if [*cursor.fetchall()] == self._seen_from:
                cursor.execute(f"KILL {number}")

    def close(self) -> None:
        import pymysql

        with suppress(pymysql.MySQLError, OSError):
            self.connection.close()

    # -- errors
    # ---------------------------------------------------------------------------------------------

    def _failure(self, error: Exception) -> StatementFailure:
        """What a statement failed of; raises what is not the statement's fault."""
        import pymysql

        code, message = said_by(error)
        if is_lost(error):
            with suppress(pymysql.MySQLError, OSError):
                self.connection.close()
            raise ConnectionLost(
                "LR4003",
                f"the connection to {self.name} was lost: {message or type(error).__name__}",
                hint=LOST,
            ) from error
        if is_transient(error):
            raise Transient("LR4001", f"error {code}: {message}") from error
        return failure_of(error)

    def _do(self, action: Callable[[Any], T]) -> T:
        import pymysql

        try:
            with self.connection.cursor() as cursor:
                return action(cursor)
        except (pymysql.MySQLError, OSError) as error:
            failure = self._failure(error)
            raise TargetError("LR4001", f"{failure.sqlstate}: {failure.message}") from error


def _values(column: pa.ChunkedArray, kind: str) -> list[Any]:
    """Texts of a state as the driver takes them for a column of this type."""
    texts: list[Any] = column.to_pylist()
    if kind in _BINARY:
        return [None if text is None else bytes.fromhex(text.removeprefix("\\x")) for text in texts]
    if kind == "tinyint":
        return [{"t": "1", "f": "0"}.get(text, text) for text in texts]
    return texts


def _asked(statement: str, values: Sequence[Any]) -> tuple[str, tuple[Any, ...] | None]:
    """A statement and its values as the driver takes them: without values, it reads no marks."""
    return (statement, tuple(values)) if values else (statement.replace("%%", "%"), None)


def _name(*names: str) -> str:
    return ".".join("`" + name.replace("`", "``") + "`" for name in names)


def _list(names: Sequence[str]) -> str:
    return ", ".join(map(_name, names))


def _standard(*names: str) -> str:
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def _standard_list(names: Sequence[str]) -> str:
    return ", ".join(map(_standard, names))


_TABLES = """SELECT table_schema, table_name FROM information_schema.tables WHERE table_type =
'BASE TABLE'
AND table_schema NOT IN
('information_schema', 'mysql', 'performance_schema', 'sys', 'logreplay') ORDER BY 1, 2"""
_COLUMNS = """SELECT column_name, data_type, column_type, collation_name, is_nullable,
coalesce(generation_expression, '') <> '', extra
FROM information_schema.columns WHERE table_schema = %s AND table_name = %s ORDER BY
ordinal_position"""
_ALIKE = """SELECT table_schema, table_name FROM information_schema.tables
WHERE lower(table_name) = lower(%s) ORDER BY 1, 2"""
