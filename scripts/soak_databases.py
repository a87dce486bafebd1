"""The databases of the soak: how each is made, asked by its own driver, and hurt."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import duckdb
import psycopg
import pymysql

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from replay.targets import duckdb as duckdb_target
from replay.targets import mysql, postgres_session, sqlite
from tests.support.history import SCHEMA

#: Seconds that a database may be away, and that waits last.
AWAY, SHORT = 60, 0.02
#: Users whose sessions are the server's own (MySQL's scheduler has one from its start).
_SERVERS_OWN = "('system user', 'event_scheduler')"

Row = tuple[Any, ...]


class Database:
    """A database of one kind: how it is made, asked by its own driver, and hurt."""

    kind = ""
    url = ""
    merges = False
    #: The classes and methods by which replay sends requests.
    requests: tuple[tuple[Any, str], ...] = ()

    def make(self) -> None:
        """Make the tables, empty."""

    def read(self, queries: list[str]) -> list[list[Row]]:
        """The rows of some queries at one moment; [] for a table that is not there."""
        raise NotImplementedError

    def execute(self, statement: str) -> int:
        """Run a statement as somebody else; rows touched."""
        raise NotImplementedError

    def own(self, table: str) -> str:
        """What replay's own table is called."""
        return f"logreplay.{table}"

    def crash(self, session: Any) -> None:
        """End the server, or the connection, of a session of replay's in the middle of it."""

    def quiet(self) -> None:
        """Wait until no session of a run that was killed is left."""

    def drop(self) -> None:
        """Remove the database."""


class Postgres(Database):
    kind, merges = "postgres", True
    requests = tuple((postgres_session.PostgresSession, name) for name in ("run", "copy", "_do"))

    def __init__(self, server: str, name: str) -> None:
        self.server, self.name = server, name
        parts = urlsplit(server)
        self.url = server.removesuffix(parts.path) + f"/{name}"

    def make(self) -> None:
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {self.name}".encode())
        self.execute(SCHEMA)

    def read(self, queries: list[str]) -> list[list[Row]]:
        with psycopg.connect(self.url) as connection:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            found = []
            for query in queries:
                table = query.rpartition(" FROM ")[2].partition(" ")[0]
                there = connection.execute("SELECT to_regclass(%s)", (table,)).fetchone()
                known = there is not None and there[0] is not None
                found.append(connection.execute(query.encode()).fetchall() if known else [])
            return found

    def execute(self, statement: str) -> int:
        with psycopg.connect(self.url, autocommit=True) as connection:
            return connection.execute(statement.encode()).rowcount

    def crash(self, session: Any) -> None:
        """A server process that dies takes all others with it, and the server recovers."""
        os.kill(session.connection.info.backend_pid, signal.SIGKILL)
        time.sleep(0.05)

    def quiet(self) -> None:
        query = (
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'logreplay' AND"
            f" datname = '{self.name}'"
        )
        for _ in patient():
            with suppress(psycopg.OperationalError), psycopg.connect(self.url) as connection:
                if connection.execute(query.encode()).fetchone() == (0,):
                    return

    def drop(self) -> None:
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {self.name} WITH (FORCE)".encode())


class Mariadb(Database):
    kind = "mariadb"
    requests = tuple((mysql.MysqlSession, name) for name in ("run", "_do"))

    def __init__(self, url: str) -> None:
        self.url = url

    def _connect(self) -> Any:
        parts = urlsplit(self.url)
        return pymysql.connect(
            host=parts.hostname,
            port=parts.port or 3306,
            user=parts.username,
            password=parts.password or "",
            autocommit=True,
        )

    def make(self) -> None:
        self.drop()
        for statement in filter(
            str.strip, SCHEMA.replace("CREATE SCHEMA", "CREATE DATABASE").split(";")
        ):
            self.execute(
                statement.replace("REFERENCES testown.parent", "REFERENCES testown.parent (id)")
            )

    def read(self, queries: list[str]) -> list[list[Row]]:
        with closing(self._connect()) as connection, connection.cursor() as cursor:
            cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            found = []
            for query in queries:
                rows: list[Row] = []
                with suppress(pymysql.ProgrammingError, pymysql.OperationalError):
                    cursor.execute(query)
                    rows = list(cursor.fetchall())
                found.append(rows)
            return found

    def execute(self, statement: str) -> int:
        with closing(self._connect()) as connection, connection.cursor() as cursor:
            return int(cursor.execute(statement))

    def crash(self, session: Any) -> None:
        with suppress(pymysql.MySQLError):
            self.execute(f"KILL CONNECTION {session.connection.thread_id()}")

    def quiet(self) -> None:
        query = "SELECT count(*) FROM information_schema.processlist WHERE id <> connection_id()"
        for _ in patient():
            if self.read([f"{query} AND user NOT IN {_SERVERS_OWN}"])[0] == [(0,)]:
                return

    def drop(self) -> None:
        for name in ("testown", "logreplay"):
            self.execute(f"DROP DATABASE IF EXISTS {name}")


class Sqlite(Database):
    kind = "sqlite"
    requests = tuple((sqlite.SqliteSession, name) for name in ("run", "_do"))

    def __init__(self, folder: Path) -> None:
        self.path = folder / "testown.db"
        self.url = f"sqlite:///{self.path}"

    def make(self) -> None:
        text = SCHEMA.replace("CREATE SCHEMA testown;", "").replace("testown.", "")
        with closing(sqlite3.connect(self.path)) as connection:
            connection.executescript(text)

    def read(self, queries: list[str]) -> list[list[Row]]:
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            connection.execute("BEGIN")
            found = []
            for query in queries:
                rows: list[Row] = []
                with suppress(sqlite3.OperationalError):
                    rows = connection.execute(query.replace("testown.", "")).fetchall()
                found.append(rows)
            return found

    def execute(self, statement: str) -> int:
        with closing(sqlite3.connect(self.path, timeout=30)) as connection:
            count = connection.execute(statement.replace("testown.", "")).rowcount
            connection.commit()
            return count

    def own(self, table: str) -> str:
        return f"logreplay_{table}"


class Duckdb(Database):
    kind = "duckdb"
    requests = tuple((duckdb_target.DuckdbSession, name) for name in ("run", "_do"))

    def __init__(self, folder: Path) -> None:
        self.path = folder / "shop.duckdb"
        self.url = f"duckdb:///{self.path}"

    def make(self) -> None:
        # DuckDB checks keys at once, also where a row goes and comes back: none but the first
        text = SCHEMA.replace(" UNIQUE", "").replace(" REFERENCES testown.parent", "")
        with closing(duckdb.connect(str(self.path))) as connection:
            connection.execute(text)

    def read(self, queries: list[str]) -> list[list[Row]]:
        with closing(duckdb.connect(str(self.path))) as connection:
            connection.execute("BEGIN")
            found = []
            for query in queries:
                rows: list[Row] = []
                with suppress(duckdb.CatalogException):
                    rows = connection.execute(query).fetchall()
                found.append(rows)
            return found

    def execute(self, statement: str) -> int:
        with closing(duckdb.connect(str(self.path))) as connection:
            row = connection.execute(statement).fetchone()
            return int(row[0]) if row and isinstance(row[0], int) else 0


def patient() -> Iterator[None]:
    """Asks again for a while. TimeoutError at its end."""
    end = time.monotonic() + AWAY
    while time.monotonic() < end:
        yield
        time.sleep(SHORT)
    raise TimeoutError("a session of a run that has ended is still there")
