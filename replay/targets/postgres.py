"""PostgreSQL as a target: run scripts with ``psql``, replay changes, load a state, compare with a
state.

A state is a folder of ``<table>.csv`` or ``<table>.csv.gz``: a header with column names, rows in
CSV form, ``\\N`` for NULL. Nothing here writes to a database except what the caller asks for by
name; comparing works in a transaction that is rolled back.
"""

from __future__ import annotations

import csv
import gzip
import io
import secrets
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast
from urllib.parse import urlsplit, urlunsplit

from replay.errors import TargetError, Where, cut_to, optional_library
from replay.public import password_of, public, without
from replay.targets import LOST, ConnectionLost, Difference, Session, embedded
from replay.targets.embedded import client_environment, psql_path
from replay.targets.states import state_tables

if TYPE_CHECKING:
    import psycopg
    from psycopg import sql

dialect = "postgres"

_COPY_BYTES = 1 << 20
#: Partitions are left out; a unique index over part of a table or over an expression is no key.
_KEYS = """WITH t AS (SELECT c.oid, format('%%I.%%I', n.nspname, c.relname) AS name
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND n.nspname NOT IN ('pg_catalog', 'information_schema')
    AND lower(c.relname) = ANY(%(names)s)),
k AS (SELECT i.indexrelid, i.indrelid,
    string_agg(quote_ident(a.attname), ', ' ORDER BY u.place) AS columns
    FROM pg_index i
    CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS u (attnum, place)
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = u.attnum
    WHERE i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL AND u.place <= i.indnkeyatts
    GROUP BY i.indexrelid, i.indrelid)
SELECT format('ALTER TABLE %%s ADD CONSTRAINT %%I UNIQUE (%%s);', t.name, x.relname, k.columns)
FROM t JOIN k ON k.indrelid = t.oid JOIN pg_class x ON x.oid = k.indexrelid
UNION ALL
SELECT format('ALTER TABLE %%s ADD CONSTRAINT %%I %%s;', t.name, f.conname,
    replace(pg_get_constraintdef(f.oid), ' NOT VALID', ''))
FROM t JOIN pg_constraint f ON f.conrelid = t.oid JOIN t AS p ON p.oid = f.confrelid
WHERE f.contype = 'f' AND f.conparentid = 0 ORDER BY 1"""
#: Tables with triggers that fire for a row that comes in; foreign keys are triggers, too.
_ACTING = """SELECT DISTINCT c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = ANY(%s)
AND t.tgtype & 4 <> 0 AND t.tgenabled IN ('O', 'A') ORDER BY 1"""
#: psql's exit code when the connection failed or was lost.
_NO_CONNECTION = 2


def run_scripts(url: str, scripts: Iterable[Path]) -> None:
    """Run scripts in the given order with ``psql -X -v ON_ERROR_STOP=1 -f``, as a user would.

    Raises TargetError with what psql said: LR4001 when a statement fails, LR4003 when the server
    cannot be reached.
    """
    psql = psql_path()
    environment = client_environment()
    if (password := password_of(url)) is not None:
        environment["PGPASSWORD"] = (
            password  # not on the command line, which every user of the machine can read
        )
    for script in scripts:
        command = [
            str(psql),
            "-X",
            "-q",
            "-v",
            "ON_ERROR_STOP=1",
            "-d",
            public(url),
            "-f",
            str(script),
        ]
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment,
            check=False,
        )
        if done.returncode:
            said = cut_to(done.stderr.decode("utf-8", "replace").strip(), 2000)
            code = "LR4003" if done.returncode == _NO_CONNECTION else "LR4001"
            raise TargetError(
                code,
                f"psql stopped with exit code {done.returncode}: {said}",
                Where(file=script.name),
            )


def keys(url: str, tables: Sequence[str]) -> str:
    """DDL of the unique keys and foreign keys of tables with these names, in any schema and case.
    Raises TargetError (LR4001, LR4003)."""
    with _connection(url) as connection:
        rows = connection.execute(
            _KEYS, {"names": sorted({table.lower() for table in tables})}
        ).fetchall()
    return "\n".join(statement for (statement,) in rows)


def load_state(url: str, schema: str, folder: Path) -> int:
    """Copy every table of a state into the existing, empty tables of ``schema``, foreign keys
    unchecked and no triggers fired; the number of rows.

    A user who may not say so gets tables without either loaded. Raises InputError (LR2001) for an
    unusable folder, TargetError for the database.
    """
    rows = 0
    with _connection(url) as connection:
        import psycopg
        from psycopg import sql

        from replay.targets.postgres_session import REPLICA

        tables = state_tables(folder)
        try:
            with connection.transaction():
                connection.execute("SET LOCAL session_replication_role = replica")
        except psycopg.errors.InsufficientPrivilege as error:
            for (acts,) in connection.execute(_ACTING, (schema, list(tables))):
                raise TargetError(
                    "LR4001",
                    f"SQLSTATE {error.sqlstate}: {error}; the table {schema}.{acts} has triggers or"
                    " foreign keys, which are not to act here",
                    hint=f"{REPLICA}. Or load before they are made",
                ) from error
        for table, path in tables.items():
            rows += _copy(connection, sql.Identifier(schema, table), path)
    return rows


def compare_states(
    url: str, schema: str, folder: Path, overlay: Path | None = None
) -> list[Difference]:
    """The tables of ``schema`` whose rows are not those of the state ``folder``; an empty list when
    all are equal.

    Values are compared by the column's type (1.0 = 1.00, blanks at the end of CHAR do not count);
    duplicate rows count. Tables of ``overlay`` replace those of ``folder``. Raises TargetError
    (LR4002) when an expected table or column does not exist.
    """
    expected = state_tables(folder) | (state_tables(overlay) if overlay is not None else {})
    differences = []
    with _connection(url) as connection:
        for table, path in sorted(expected.items()):
            difference = _compare_table(connection, schema, table, path)
            if difference is not None:
                differences.append(difference)
        connection.rollback()
    return differences


def _compare_table(
    connection: psycopg.Connection[Any], schema: str, table: str, path: Path
) -> Difference | None:
    import psycopg
    from psycopg import sql

    actual = sql.Identifier(schema, table)
    expected = sql.Identifier("pg_temp", "expected")
    columns = sql.SQL(", ").join(map(sql.Identifier, _header(path)))
    try:
        connection.execute(sql.SQL("CREATE TEMP TABLE expected (LIKE {})").format(actual))
        _copy(connection, expected, path)
    except (
        psycopg.errors.UndefinedTable,
        psycopg.errors.UndefinedColumn,
        psycopg.errors.InvalidSchemaName,
    ) as error:
        raise TargetError(
            "LR4002",
            f"the database lacks what the state has: {error}",
            Where(table=f"{schema}.{table}"),
        ) from error

    def only_in(one: sql.Composable, other: sql.Composable) -> tuple[int, str | None]:
        rows = sql.SQL("SELECT {c} FROM {one} EXCEPT ALL SELECT {c} FROM {other}").format(
            c=columns, one=one, other=other
        )
        row = connection.execute(
            sql.SQL('SELECT count(*), min(r::text COLLATE "C") FROM ({}) r').format(rows)
        ).fetchone()
        return (row[0], row[1]) if row is not None else (0, None)

    unexpected, unexpected_example = only_in(actual, expected)
    missing, missing_example = only_in(expected, actual)
    connection.execute("DROP TABLE pg_temp.expected")
    if not unexpected and not missing:
        return None
    return Difference(f"{schema}.{table}", unexpected, missing, unexpected_example, missing_example)


def _copy(connection: psycopg.Connection[Any], table: sql.Identifier, path: Path) -> int:
    from psycopg import sql

    columns = sql.SQL(", ").join(map(sql.Identifier, _header(path)))
    statement = sql.SQL("COPY {} ({}) FROM STDIN WITH (FORMAT csv, HEADER, NULL '\\N')").format(
        table, columns
    )
    with connection.cursor() as cursor, _open(path) as file:
        with cursor.copy(statement) as copy:
            while block := file.read(_COPY_BYTES):
                copy.write(block)
        return cursor.rowcount


def _header(path: Path) -> list[str]:
    with io.TextIOWrapper(_open(path), encoding="utf-8", newline="") as file:
        return next(csv.reader(file), [])


def _open(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


@contextmanager
def _connection(url: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection whose work is one transaction, committed at the end; what is set ends with it.
    Driver errors become TargetError, ConnectionLost where the server goes away."""
    optional_library("psycopg", "postgres", "a PostgreSQL database")
    import psycopg

    from replay.targets.postgres_session import is_gone

    try:
        connection = psycopg.connect(url, connect_timeout=30, client_encoding="utf8")
        connection.execute("SET LOCAL search_path = pg_catalog, pg_temp")
    except psycopg.Error as error:
        raise TargetError(
            "LR4003",
            f"cannot connect to {public(url)}: {without(str(error), url)}",
        ) from error
    try:
        with connection:
            yield connection
    except psycopg.Error as error:
        if is_gone(error.sqlstate):
            said = f"the connection to {public(url)} was lost: {str(error).strip()}"
            raise ConnectionLost("LR4003", said, hint=LOST) from error
        raise TargetError("LR4001", f"SQLSTATE {error.sqlstate}: {error}") from error


@contextmanager
def scratch(url: str | None = None) -> Iterator[str]:
    """A database on an embedded server of its own, or a new one on the server of ``url``."""
    if url is None:
        with embedded.server() as server:
            yield server
        return
    name = f"logreplay_{secrets.token_hex(6)}"
    session = connect(url)
    try:
        session.execute(f"CREATE DATABASE {name}")
        try:
            yield urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
        finally:
            session.execute(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        session.close()


def make(url: str) -> Path | None:
    """Makes nothing: a server is no file."""
    return None


def connect(url: str) -> Session:
    """A session for replaying into the database, its settings as scripts set them. Raises
    ConnectionLost (LR4003)."""
    from replay.targets.postgres_session import PostgresSession

    return PostgresSession(url)
