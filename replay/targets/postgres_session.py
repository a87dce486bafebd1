"""A session on a PostgreSQL that changes are replayed into.

Statements travel as simple queries of many statements each: one message there, one result for each
statement back, so that every count can be checked without a round trip for it. They execute
prepared statements by name: half the server's time of statements in full.
"""

from __future__ import annotations

import re
import select
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from replay.errors import TargetError, optional_library
from replay.public import public, without
from replay.targets import (
    LOST,
    Condition,
    ConnectionLost,
    OwnTable,
    StatementCounts,
    StatementFailure,
    TableFacts,
    Transient,
    postgres_own,
    postgres_rights,
)
from replay.targets.postgres_facts import table_facts
from replay.targets.postgres_settings import (
    KEEPALIVES,
    SEARCH_PATH,
    refuse_shared,
    settings_statement,
)
from replay.targets.states import text_batches

if TYPE_CHECKING:
    import psycopg

#: Both halves of the advisory lock's key: the letters LOGR and PLAY.
_LOCK = (0x4C4F4752, 0x504C4159)
#: Prepared statements that a session keeps; each takes memory of the server's memory.
_PREPARED = 4000
#: Seconds within which the server must take the request to cancel a statement.
_CANCEL_SECONDS = 5.0
#: Text handed to COPY at once.
_COPY_BYTES = 1 << 20
_CONDITIONS = {
    "23505": Condition.DUPLICATE_KEY,
    "23503": Condition.FOREIGN_KEY,
    "23001": Condition.FOREIGN_KEY,
}
_TRANSIENT = frozenset({"40001", "40P01", "55P03"})
#: Any statement would end in these: no room or memory, what an operator did, what only reads, files
#: that cannot be read, defects.
_SERVER = ("53", "57", "58", "F0", "XX", "25006")
#: The server goes away: class 08, and what it says on shutdown, crash and start.
_GONE = frozenset({"57P01", "57P02", "57P03", "57P05"})
_NOT_PREPARED, _PREPARED_ALREADY = "26000", "42P05"
#: Who may keep triggers and foreign keys from acting.
REPLICA = (
    "Only a superuser, or who was granted SET ON PARAMETER session_replication_role, may do that"
)

T = TypeVar("T")


def is_gone(sqlstate: str | None) -> bool:
    """Whether an error says that the server has gone away; without a SQLSTATE nobody answered."""
    return not sqlstate or sqlstate in _GONE or sqlstate.startswith("08")


class PostgresSession:
    """Implements :class:`replay.targets.Session`."""

    dialect = "postgres"
    forget = "DROP SCHEMA logreplay CASCADE"
    home = "CREATE SCHEMA logreplay"
    types: Mapping[str, str] = {}
    savepoints = True
    prepares = True
    merges = True
    shows_all = True
    alters = True

    def __init__(self, url: str) -> None:
        optional_library("psycopg", "postgres", "a PostgreSQL database")
        import psycopg
        from psycopg.conninfo import conninfo_to_dict, make_conninfo

        self.name = public(url)
        self._parted = False
        self._prepared: set[str] = set()
        #: Why the database did not prepare a statement: its first execution fails of that.
        self._unprepared: dict[bytes, StatementFailure] = {}
        try:
            given = conninfo_to_dict(url)
            unset = {name: value for name, value in KEEPALIVES.items() if name not in given}
            self.connection = psycopg.connect(
                make_conninfo(url, **unset),
                connect_timeout=30,
                autocommit=True,
                prepare_threshold=None,
                fallback_application_name="logreplay",
            )
        except psycopg.Error as error:
            said = f"cannot connect to {self.name}: {without(str(error), url)}"
            if isinstance(error, psycopg.OperationalError):
                raise ConnectionLost("LR4003", said) from error
            raise TargetError("LR4003", said) from error
        try:
            self._do(lambda: refuse_shared(self.connection, url))
            self.execute(SEARCH_PATH)
            self.query(settings_statement())
        except BaseException:
            self.close()
            raise

    def own(self, table: str) -> str:
        return f"logreplay.{table}"

    def has_place(self) -> bool:
        return bool(self.query("SELECT 1 FROM pg_namespace WHERE nspname = 'logreplay'"))

    def own_tables(self) -> frozenset[str]:
        return frozenset(
            str(name)
            for (name,) in self.query(
                "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                " WHERE n.nspname = 'logreplay'"
            )
        )

    def strange_tables(self, tables: Mapping[str, OwnTable], writes: bool) -> list[str]:
        return postgres_own.strange_tables(self.query, tables, writes)

    def read_only(self) -> str:
        return postgres_rights.read_only(self.query)

    def missing_rights(self, schema: str, table: str, empties: bool) -> list[str]:
        return postgres_rights.missing_rights(self.query, schema, table, empties)

    def missing_for_own(self, tables: Mapping[str, OwnTable]) -> list[str]:
        return postgres_rights.missing_for_own(self.query, tables.keys() - self.own_tables())

    def grants(self, role: str, tables: Iterable[str]) -> list[str]:
        rights = f"GRANT SELECT, INSERT, UPDATE, DELETE ON {', '.join(map(self.own, tables))}"
        return [
            f"GRANT USAGE ON SCHEMA logreplay TO {_name(role)}",
            f"{rights} TO {_name(role)}",
        ]

    def alike(self, table: str) -> list[tuple[str, str]]:
        return [(str(schema), str(name)) for schema, name in self.query(_ALIKE, (table,))]

    def lock(self) -> bool:
        return bool(self.query("SELECT pg_try_advisory_lock(%s, %s)", _LOCK)[0][0])

    def enforce(self, on: bool) -> None:
        if self.query("SHOW session_replication_role")[0][0] == ("origin" if on else "replica"):
            return
        if on:
            self.execute("SET session_replication_role = origin")
            return
        try:
            self.execute("SET session_replication_role = replica")
        except ConnectionLost:
            raise
        except TargetError as error:
            raise TargetError("LR4001", error.message, error.where, REPLICA) from error

    def begin(self) -> None:
        self._parted = False
        self._plain("BEGIN; SET CONSTRAINTS ALL DEFERRED")

    def durable(self) -> None:
        if self.query("SHOW synchronous_commit")[0][0] == "off":
            self._plain("SET LOCAL synchronous_commit = on")

    def settle(self) -> StatementFailure | None:
        return self.run(b"SET CONSTRAINTS ALL IMMEDIATE;").failure

    def commit(self) -> None:
        self._plain("COMMIT")

    def rollback(self) -> None:
        self._plain("ROLLBACK")

    def savepoint(self) -> None:
        self._plain("RELEASE SAVEPOINT part; SAVEPOINT part" if self._parted else "SAVEPOINT part")
        self._parted = True

    def back_to_savepoint(self) -> None:
        self._plain("ROLLBACK TO SAVEPOINT part")

    def prepare(self, shapes: Mapping[str, str]) -> None:
        fresh = {name: text for name, text in shapes.items() if name not in self._prepared}
        if len(self._prepared) + len(fresh) > _PREPARED:
            self._plain("DEALLOCATE ALL")
            self._prepared, self._unprepared, fresh = set(), {}, dict(shapes)
        if not fresh:
            return
        for name, failure in self._prepare(fresh).items():
            if failure.sqlstate != _PREPARED_ALREADY:
                self._unprepared[name.encode()] = failure
        self._prepared |= fresh.keys()

    def _prepare(self, shapes: Mapping[str, str]) -> dict[str, StatementFailure]:
        """Prepare statements, each in a message of its own: with every execution the server copies
        the whole text of the message that a statement was prepared in. Why those failed that did,
        by name."""
        import psycopg
        from psycopg.pq import ExecStatus

        failed: dict[str, Any] = {}  # results; what is raised for one comes when all are read
        server = self.connection.pgconn
        try:
            server.enter_pipeline_mode()
            for name, text in shapes.items():
                server.send_prepare(name.encode(), text.encode())
                server.pipeline_sync()  # the next one is prepared whatever becomes of this one
            self._send()
            for name in shapes:
                while (result := self._result()) is not None:
                    if result.status == ExecStatus.FATAL_ERROR:
                        failed[name] = result
                self._result()  # that of the synchronization
            server.exit_pipeline_mode()
        except psycopg.OperationalError as error:
            for result in failed.values():
                self._failure(result)
            raise self._lost(error) from error
        return {name: self._failure(result) for name, result in failed.items()}

    def _send(self) -> None:
        """Send what the network did not take at once; the server may want to be read from first."""
        server = self.connection.pgconn
        while server.flush():
            readable, _, _ = select.select([server.socket], [server.socket], [])
            if readable:
                server.consume_input()

    def _result(self) -> Any:
        """The next result, waited for; None at the end of those of a message."""
        server = self.connection.pgconn
        while server.is_busy():
            select.select([server.socket], [], [])
            server.consume_input()
        return server.get_result()

    def run(self, text: bytes) -> StatementCounts:
        import psycopg
        from psycopg.pq import ExecStatus

        counts: list[int] = []
        failed: Any = None  # a result; what is raised for it comes when all are read
        server = self.connection.pgconn
        try:
            server.send_query(text)
            self._send()
            while (result := self._result()) is not None:
                if result.status in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK):
                    rows = result.command_tuples
                    counts.append(-1 if rows is None else rows)
                elif failed is None:
                    failed = result
        except psycopg.OperationalError as error:
            if failed is not None:
                self._failure(failed)
            raise self._lost(error) from error
        failure = None if failed is None else self._failure(failed)
        if failure is not None and failure.sqlstate == _NOT_PREPARED and self._unprepared:
            name = re.match(rb"EXECUTE (\w+)", _line(text, len(counts)))
            failure = self._unprepared.get(name[1], failure) if name else failure
        return StatementCounts(counts, failure)

    def copy(self, statement: str, text: bytes) -> StatementCounts:
        import psycopg

        try:
            with self.connection.cursor() as cursor:
                with cursor.copy(statement.encode()) as copy:
                    for start in range(0, len(text), _COPY_BYTES):
                        copy.write(text[start : start + _COPY_BYTES])
                return StatementCounts([cursor.rowcount])
        except psycopg.Error as error:
            if self.connection.broken or self.connection.closed:
                raise self._lost(error) from error
            sqlstate = error.sqlstate or ""
            self._raise_for(sqlstate, str(error))
            return StatementCounts(
                [],
                StatementFailure(_condition(sqlstate), sqlstate, str(error)),
            )

    def execute(self, statement: str, values: Sequence[Any] = ()) -> int:
        return self._do(lambda: self.connection.execute(*_asked(statement, values)).rowcount)

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._do(lambda: self.connection.execute(*_asked(statement, values)).fetchall())

    def facts(self, schema: str, table: str) -> TableFacts | None:
        return table_facts(self.query, schema, table)

    def sequences(self, schema: str, table: str) -> list[str]:
        found = self.query(_SEQUENCES, (schema, table))
        return [f"{sequence} ({column})" for column, sequence, *_ in found]

    def move_sequences(self, schema: str, table: str) -> dict[str, int]:
        moved = {}
        for column, sequence, up, least, most in self.query(_SEQUENCES, (schema, table)):
            name = _name(column)
            farthest, beyond = ("max", ">") if up else ("min", "<")
            set_to = (
                f"SELECT setval(%s::regclass, m::bigint) FROM (SELECT {farthest}({name}) AS m FROM"
                f" {_name(schema, table)} WHERE {name} BETWEEN %s AND %s) AS t, {sequence} AS s"
                f" WHERE m {beyond} s.last_value OR (m = s.last_value AND NOT s.is_called)"
            )
            for (value,) in self.query(set_to, (sequence, least, most)):
                moved[sequence] = value
        return moved

    # -- comparing
    # ---------------------------------------------------------------------------------------------

    def version(self) -> str:
        return f"PostgreSQL {self.query('SHOW server_version')[0][0]}"

    def snapshot(self) -> None:
        self._parted = False
        self._plain("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")

    def make_schema(self, schema: str) -> None:
        # IF NOT EXISTS would ask for the right to create one
        if not self.query("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)):
            self.execute(f"CREATE SCHEMA {_name(schema)}")

    def definition(self, schema: str, table: str) -> list[str]:
        columns = self.query(_DEFINITIONS, (schema, table))
        text = ", ".join(
            f"{_name(name)} {kind}{' NOT NULL' if strict else ''}" for name, kind, strict in columns
        )
        facts = self.facts(schema, table)
        keys = () if facts is None else facts.unique_keys
        statements = [f"CREATE TABLE {_name(schema, table)} ({text})"]
        return statements + [
            f"CREATE UNIQUE INDEX ON {_name(schema, table)} ({', '.join(map(_name, key))})"
            for key in keys
        ]

    def count(self, schema: str, table: str) -> int:
        return int(self.query(f"SELECT count(*) FROM {_name(schema, table)}")[0][0])

    def tables_of(self, schema: str) -> list[str]:
        return [name for (name,) in self.query(_TABLES, (schema,))]

    def texts(
        self, schema: str, table: str, columns: Sequence[str], decimals: Collection[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        import psycopg

        kinds = {name: kind for name, kind, _ in self.query(_DEFINITIONS, (schema, table))}
        names = ", ".join(
            f"{_name(name)}::pg_catalog.float8" if kinds[name] == "real" else _name(name)
            for name in columns
        )  # a single alone is shown with digits that a double of the same look may have
        statement = (
            f"COPY (SELECT {names} FROM {_name(schema, table)}) TO STDOUT (FORMAT csv, NULL '\\N')"
        )
        try:
            with self.connection.cursor() as cursor, cursor.copy(statement.encode()) as copy:
                yield from text_batches(copy, columns)
        except psycopg.Error as error:
            if self.connection.broken or self.connection.closed:
                raise self._lost(error) from error
            self._raise_for(error.sqlstate or "", str(error))
            raise TargetError("LR4001", f"SQLSTATE {error.sqlstate}: {error}") from error

    def interrupt(self) -> None:
        import psycopg

        with suppress(psycopg.Error):
            self.connection.cancel_safe(timeout=_CANCEL_SECONDS)

    def close(self) -> None:
        import psycopg

        with suppress(psycopg.Error):
            self.connection.close()

    # -- errors
    # ---------------------------------------------------------------------------------------------

    def _failure(self, result: Any) -> StatementFailure:
        from psycopg.pq import DiagnosticField

        code = result.error_field(DiagnosticField.SQLSTATE)
        sqlstate = code.decode() if code else ""
        parts = [
            result.error_field(field)
            for field in (DiagnosticField.MESSAGE_PRIMARY, DiagnosticField.MESSAGE_DETAIL)
        ]
        message = ". ".join(
            part.decode("utf-8", "replace") for part in parts if part
        ) or result.error_message.decode("utf-8", "replace")
        self._raise_for(sqlstate, message)
        return StatementFailure(_condition(sqlstate), sqlstate, message)

    def _raise_for(self, sqlstate: str, message: str) -> None:
        if is_gone(sqlstate):
            raise ConnectionLost(
                "LR4003",
                f"the connection to {self.name} was lost: {message.strip()}",
                hint=LOST,
            )
        if sqlstate in _TRANSIENT:
            raise Transient("LR4001", f"SQLSTATE {sqlstate}: {message}")

    def _lost(self, error: psycopg.Error) -> ConnectionLost:
        return ConnectionLost(
            "LR4003",
            f"the connection to {self.name} was lost: {str(error).strip()}",
            hint=LOST,
        )

    def _plain(self, statement: str) -> None:
        """Run a statement that has no reason to fail but the connection or the end of a
        transaction."""
        failure = self.run(statement.encode()).failure
        if failure is not None:
            raise TargetError(
                "LR4001", f"{statement}: SQLSTATE {failure.sqlstate}: {failure.message}"
            )

    def _do(self, action: Callable[[], T]) -> T:
        import psycopg

        try:
            return action()
        except psycopg.Error as error:
            if self.connection.broken or self.connection.closed:
                raise self._lost(error) from error
            self._raise_for(error.sqlstate or "", str(error))
            raise TargetError("LR4001", f"SQLSTATE {error.sqlstate}: {error}") from error


def _condition(sqlstate: str) -> Condition:
    other = Condition.SERVER if sqlstate.startswith(_SERVER) else Condition.OTHER
    return _CONDITIONS.get(sqlstate, other)


def _line(text: bytes, number: int) -> bytes:
    """A statement of a text, counted from 0."""
    lines = [line for line in text.split(b"\n") if line and not line.startswith(b"--")]
    return lines[number] if number < len(lines) else b""


def _name(*names: str) -> str:
    from psycopg import sql

    return sql.Identifier(*names).as_string()


def _asked(statement: str, values: Sequence[Any]) -> tuple[bytes, Sequence[Any] | None]:
    """A statement and its values as the driver takes them: without values, it reads no marks."""
    if not values:
        return statement.replace("%%", "%").encode(), None
    return statement.encode(), values


_DEFINITIONS = """SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull FROM
pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = %s AND a.attnum
> 0 AND NOT a.attisdropped ORDER BY a.attnum"""
_ALIKE = """SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid =
c.relnamespace WHERE lower(c.relname) = lower(%s) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
AND n.nspname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2"""
_TABLES = """SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY c.relname"""
#: Those of columns with numbers: name, whether it counts up, its least and its highest value.
_SEQUENCES = """SELECT o.attname, o.sequence, s.seqincrement > 0, s.seqmin, s.seqmax
FROM (SELECT a.attname, a.atttypid,
pg_get_serial_sequence(quote_ident(n.nspname) || '.' || quote_ident(c.relname), a.attname)
AS sequence
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid =
c.relnamespace
WHERE n.nspname = %s AND c.relname = %s AND a.attnum > 0 AND NOT a.attisdropped) AS o
JOIN pg_type t ON t.oid = o.atttypid JOIN pg_sequence s ON s.seqrelid = o.sequence::regclass
WHERE coalesce(nullif(t.typbasetype, 0), t.oid) IN ('int2'::regtype, 'int4'::regtype,
'int8'::regtype, 'numeric'::regtype)"""
