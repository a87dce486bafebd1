"""MariaDB and MySQL as targets: ``mariadb://user@host:3306/`` or ``mysql://…``. A schema is a
database of the server.

The password comes from the URL, the environment (``MYSQL_PWD``), or an option file
(``?defaults-file=~/.my.cnf``); ``?socket=/path`` connects by a Unix socket, ``?ca=FILE`` demands
TLS and a certificate of that authority.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from replay.errors import TargetError, UsageError, optional_library
from replay.redaction import public, without
from replay.targets import (
    Condition,
    ConnectionLost,
    OwnTable,
    StatementCounts,
    StatementFailure,
    TableFacts,
    mysql_settings,
)
from replay.targets.mysql_facts import MysqlCatalog
from replay.targets.outcomes import Reference
from replay.targets.session import NOT_REACHED, SqlSession
from replay.targets.states import script_parts
from replay.targets.target import SqlTarget

if TYPE_CHECKING:
    import pymysql

_CONNECT_SECONDS = 30
#: Where the server sees the client of a connection: behind it stands its number.
_SEEN_FROM = "SELECT host FROM information_schema.processlist WHERE id ="
_LOCK = "logreplay"
_OWN_DATABASES = ("information_schema", "mysql", "performance_schema", "sys")
_BINARY = frozenset({"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "bit"})
#: A float alone is shown with six digits, so it is made a double. MySQL 9 writes a sum in 22
#: characters at most, which the sign of a small one would take a digit from.
_FLOAT = "CONCAT(IF({0} < 0, '-', ''), CAST(ABS({0}) + 0e0 AS CHAR))"
#: How columns are made texts that are equal where the values are.
_TEXTS = dict.fromkeys(_BINARY, "CONCAT('\\\\x', LOWER(HEX({0})))") | {"float": _FLOAT}
#: Any statement would end in these: no room or memory, a statement that somebody or a time limit
#: ended, servers and tables that only read, files that cannot be read or written, damaged tables.
_SERVER = (
    1015, 1016, 1017, 1021, 1023, 1024, 1026, 1028, 1030, 1034, 1035, 1036, 1037, 1038, 1041, 1114,
    1135, 1180, 1194, 1195, 1206, 1290, 1317, 1637, 1792, 1836, 1969, 3024, 3170,
)  # fmt: skip
_NUMBERS = {
    1022: Condition.DUPLICATE_KEY,
    1062: Condition.DUPLICATE_KEY,
    1586: Condition.DUPLICATE_KEY,
    1216: Condition.FOREIGN_KEY,
    1217: Condition.FOREIGN_KEY,
    1451: Condition.FOREIGN_KEY,
    1452: Condition.FOREIGN_KEY,
} | dict.fromkeys(_SERVER, Condition.SERVER)
#: The server goes away, says so, or does not answer any more. 0 is the driver's own: the socket is
#: closed.
_GONE = frozenset(
    {
        0,
        1053,
        1077,
        1079,
        1152,
        1158,
        1159,
        1160,
        1161,
        1184,
        1927,
        2002,
        2003,
        2006,
        2013,
        2014,
        2055,
        3169,
        4031,
    }
)


class MysqlTarget(SqlTarget):
    """Servers of one of the two dialects."""

    @contextmanager
    def scratch(self, url: str | None = None) -> Iterator[str]:
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
                    session.execute(f"DROP DATABASE {session.quoted(name)}")


class MysqlSession(SqlSession):
    """A session on a MariaDB or MySQL. Texts of many statements travel as one message; the server
    answers each of them. Constraints are checked by each statement; none waits. How commits reach
    the disk is for the server to say (``innodb_flush_log_at_trx_commit``)."""

    forget = "DROP DATABASE logreplay"
    home = "CREATE DATABASE logreplay CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
    types: ClassVar = {"text": "longtext", "timestamp": "datetime"}
    shows_all = False
    alters = False
    QUOTE = "`"
    BEGIN = "START TRANSACTION"
    SNAPSHOT = (
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;\n"
        "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"
    )
    TABLE_END = " ENGINE = InnoDB"
    CONDITIONS: ClassVar = {f"error {number}": meant for number, meant in _NUMBERS.items()}
    TRANSIENT = ("error 1020", "error 1205", "error 1213")
    PLACE = "SELECT 1 FROM information_schema.schemata WHERE schema_name = 'logreplay'"
    OWN_TABLES = """SELECT table_name FROM information_schema.tables
    WHERE table_schema = 'logreplay'"""
    OWN_COLUMNS = """SELECT table_name, column_name, NULL FROM information_schema.columns
    WHERE table_schema = 'logreplay' AND table_name IN %s ORDER BY table_name, ordinal_position"""
    STRANGE = (
        """SELECT table_name, IF(table_type = 'BASE TABLE', CONCAT('is a table of the engine ',
        engine), CONCAT('is a ', LOWER(table_type))) FROM information_schema.tables
        WHERE table_schema = 'logreplay' AND table_name IN %s
        AND (table_type <> 'BASE TABLE' OR engine <> 'InnoDB') ORDER BY 1""",
        """SELECT table_name, CONCAT('has a column that computes, ', column_name)
        FROM information_schema.columns WHERE table_schema = 'logreplay' AND table_name IN %s
        AND (extra <> '' OR coalesce(generation_expression, '') <> ''
        OR coalesce(column_default, 'NULL') <> 'NULL') ORDER BY table_name, ordinal_position""",
        """SELECT event_object_table, CONCAT('has the trigger ', trigger_name)
        FROM information_schema.triggers WHERE event_object_schema = 'logreplay' ORDER BY 1, 2""",
        """SELECT table_name, CONCAT('has the ', constraint_type, ' ', constraint_name)
        FROM information_schema.table_constraints WHERE table_schema = 'logreplay'
        AND constraint_type <> 'PRIMARY KEY' ORDER BY 1, 2""",
    )
    ALIKE = """SELECT table_schema, table_name FROM information_schema.tables
    WHERE lower(table_name) = lower(%s) ORDER BY 1, 2"""
    TABLES = """SELECT table_schema, table_name FROM information_schema.tables
    WHERE table_type = 'BASE TABLE' AND table_schema NOT IN
    ('information_schema', 'mysql', 'performance_schema', 'sys', 'logreplay') ORDER BY 1, 2"""
    COLUMNS = """SELECT column_name, column_type, CONCAT_WS(' ',
    CONCAT('CHARACTER SET ', character_set_name, ' COLLATE ', collation_name),
    IF(is_nullable = 'YES', 'NULL', 'NOT NULL')), coalesce(generation_expression, '') <> ''
    FROM information_schema.columns WHERE table_schema = %s AND table_name = %s
    ORDER BY ordinal_position"""

    def __init__(self, url: str, dialect: str) -> None:
        optional_library("pymysql", "mysql", "a MariaDB or MySQL database")
        import pymysql
        from pymysql.constants import CLIENT

        super().__init__(url)
        self.dialect = self.title = dialect
        self._arguments: dict[str, Any] = {
            **mysql_settings.connect_arguments(url),
            "charset": "utf8mb4",
            "autocommit": True,
            "client_flag": CLIENT.FOUND_ROWS | CLIENT.MULTI_STATEMENTS,
            "connect_timeout": _CONNECT_SECONDS,
            "program_name": "logreplay",
        }
        try:
            self.connection: pymysql.Connection[Any] = mysql_settings.connected(self._arguments)
        except (pymysql.MySQLError, OSError) as error:
            said = f"cannot connect to {self.name}: {without(str(error), url)}"
            raise ConnectionLost("LR4003", said, hint=NOT_REACHED) from error
        self._packet = mysql_settings.set_up(self.query, self.execute)
        self._seen_from = self.query(f"{_SEEN_FROM} CONNECTION_ID()")
        self.catalog = MysqlCatalog(self.query, dialect)

    def errors(self) -> tuple[type[Exception], ...]:
        import pymysql

        return (pymysql.MySQLError, OSError)

    def said(self, error: Exception) -> tuple[str, str]:
        number = error.args[0] if error.args and isinstance(error.args[0], int) else 0
        message = str(error.args[1]) if len(error.args) > 1 and number else str(error)
        return f"error {number}", message

    def is_lost(self, error: Exception, code: str) -> bool:
        import pymysql

        gone = int(code.partition(" ")[2]) in _GONE
        gone = gone and not isinstance(error, pymysql.ProgrammingError)
        return gone or isinstance(error, OSError)

    def ask(self, statement: str, values: Sequence[Any]) -> Any:
        cursor = self.connection.cursor()
        cursor.execute(statement, tuple(values) or None)
        return cursor

    def read_only(self) -> str:
        return mysql_settings.read_only(self.query, self.execute, self.dialect)

    def missing_rights(self, schema: str, table: str, empties: bool) -> list[str]:
        for name, _, _, generated in self.query(self.COLUMNS, (schema, table)):
            if not generated:
                place = self.quoted(schema, table)
                return mysql_settings.missing_rights(self.execute, place, self.quoted(name))
        return []

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
        account = f"{self.quoted(user)}@{self.quoted(host)}" if at else self.quoted(role)
        return [f"GRANT SELECT, INSERT, UPDATE, DELETE ON logreplay.* TO {account}"]

    def lock(self) -> bool:
        return bool(self.query("SELECT GET_LOCK(%s, 0)", (_LOCK,))[0][0] == 1)

    def enforce(self, on: bool) -> None:
        self.execute(f"SET SESSION foreign_key_checks = {int(on)}")

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
            return StatementCounts(counts, self.failure(error))
        return StatementCounts(counts)

    def databases(self) -> list[str]:
        """The databases that users made."""
        return sorted(
            name for (name,) in self.query("SHOW DATABASES") if name.lower() not in _OWN_DATABASES
        )

    def facts(self, schema: str, table: str) -> TableFacts | None:
        return self.catalog.facts(schema, table)

    def unique_keys(self, schema: str, table: str) -> Sequence[tuple[str, ...]]:
        return self.catalog.unique_keys(schema, table)

    def references(self, schema: str, table: str) -> list[Reference]:
        return self.catalog.foreign_keys(schema, table)

    def make_schema(self, schema: str) -> None:
        self.execute(
            f"CREATE DATABASE IF NOT EXISTS {self.quoted(schema)} CHARACTER SET utf8mb4 COLLATE"
            " utf8mb4_bin"
        )

    def stream(self, statement: str) -> Any:
        from pymysql.cursors import SSCursor

        cursor = self.connection.cursor(SSCursor)
        cursor.execute(statement)
        return cursor

    def text_of(self, name: str, kind: str) -> str:
        return _TEXTS.get(_base(kind), "CAST({0} AS CHAR)").format(self.quoted(name))

    def bound(self, texts: list[str | None], kind: str) -> Sequence[Any]:
        if _base(kind) in _BINARY:
            return [text and bytes.fromhex(text.removeprefix("\\x")) for text in texts]
        if _base(kind) == "tinyint":
            return [{"t": "1", "f": "0"}.get(text or "", text) for text in texts]
        return texts

    def script(self, path: Path) -> None:
        for text in script_parts(path):
            failure = self.run(text).failure
            if failure is not None:
                raise TargetError("LR4001", str(failure))

    def interrupt(self) -> None:
        """The number of a connection is that of another one after a restart, and on another server
        behind the same address: only one that is seen from the same place is ended."""
        import pymysql

        with (
            suppress(pymysql.MySQLError, OSError),
            closing(mysql_settings.connected(self._arguments)) as other,
            other.cursor() as cursor,
        ):
            number = self.connection.thread_id()  # type: ignore[no-untyped-call]
            cursor.execute(f"{_SEEN_FROM} {number}")
            if [*cursor.fetchall()] == self._seen_from:
                cursor.execute(f"KILL {number}")


def _base(kind: str) -> str:
    """A type without length and the like."""
    return re.split(r"\W", kind.lower(), maxsplit=1)[0]


MARIADB, MYSQL = (
    MysqlTarget(name, partial(MysqlSession, dialect=name)) for name in ("mariadb", "mysql")
)
