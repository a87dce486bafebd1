"""A session on a PostgreSQL that changes are replayed into.

Statements travel as simple queries of many statements each: one message there, one result for each
statement back, so that every count can be checked without a round trip for it. They execute
prepared statements by name: half the server's time of statements in full.
"""

from __future__ import annotations

import io
import re
import select
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

from replay.errors import TargetError, UsageError, optional_library
from replay.redaction import without
from replay.targets import (
    LOST,
    Condition,
    ConnectionLost,
    OwnTable,
    StatementCounts,
    StatementFailure,
    TableFacts,
    postgres_own,
)
from replay.targets.postgres_facts import table_facts
from replay.targets.postgres_settings import (
    FIRST,
    KEEPALIVES,
    refuse_shared,
    settings_statement,
)
from replay.targets.session import NOT_REACHED, SqlSession
from replay.targets.states import text_batches

if TYPE_CHECKING:
    import psycopg
    import pyarrow as pa

#: Both halves of the advisory lock's key: the letters LOGR and PLAY.
_LOCK = (0x4C4F4752, 0x504C4159)
#: Prepared statements that a session keeps; each takes memory of the server's memory.
_PREPARED = 4000
#: Seconds within which the server must take the request to cancel a statement.
_CANCEL_SECONDS = 5.0
#: Text handed to COPY at once.
_COPY_BYTES = 1 << 20
#: The server goes away: class 08, and what it says on shutdown, crash and start.
_GONE = frozenset({"57P01", "57P02", "57P03", "57P05"})
_NOT_PREPARED, _PREPARED_ALREADY = "26000", "42P05"
#: Who may keep triggers and foreign keys from acting.
REPLICA = (
    "Only a superuser, or who was granted SET ON PARAMETER session_replication_role, may do that"
)


#: Publication and slot of what is recorded for the way back.
_WAY_BACK = "logreplay_way_back"
_RECORDING = "-- restart the server after this statement\nALTER SYSTEM SET wal_level = logical"
#: Tables of users: schema, name, whether it is a partition, whether old rows are recorded whole.
_TO_RECORD = """SELECT n.nspname, c.relname, c.relispartition, c.relreplident = 'f' FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p')
AND c.relpersistence = 'p' AND (n.nspname = %s OR (%s::text IS NULL AND n.nspname NOT IN
('pg_catalog', 'information_schema', 'logreplay'))) ORDER BY 1, 2"""


def is_gone(sqlstate: str | None) -> bool:
    """Whether an error says that the server has gone away; without a SQLSTATE nobody answered."""
    return not sqlstate or sqlstate in _GONE or sqlstate.startswith("08")


class PostgresSession(SqlSession):
    """A session on a PostgreSQL."""

    dialect, title = "postgres", "PostgreSQL"
    prepares = True
    merges = True
    BEGIN = "BEGIN; SET CONSTRAINTS ALL DEFERRED"
    SNAPSHOT = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
    VERSION = "SHOW server_version"
    CONDITIONS: ClassVar = {
        "23505": Condition.DUPLICATE_KEY,
        "23503": Condition.FOREIGN_KEY,
        "23001": Condition.FOREIGN_KEY,
    }
    TRANSIENT = ("40001", "40P01", "55P03")
    #: No room or memory, what an operator did, what only reads, files that cannot be read, defects.
    SERVER = ("53", "57", "58", "F0", "XX", "25006")
    PLACE = "SELECT 1 FROM pg_namespace WHERE nspname = 'logreplay'"
    OWN_TABLES = """SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'logreplay'"""
    OWN_COLUMNS = postgres_own.COLUMNS
    STRANGE = (postgres_own.KINDS, postgres_own.ACTING)
    ALIKE = """SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid =
    c.relnamespace WHERE lower(c.relname) = lower(%s) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND n.nspname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2"""
    TABLES = """SELECT n.nspname, c.relname FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname <> 'logreplay'
    AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1, 2"""
    COLUMNS = """SELECT a.attname, format_type(a.atttypid, a.atttypmod),
    CASE WHEN a.attnotnull THEN 'NOT NULL' ELSE '' END
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = %s
    AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"""

    def __init__(self, url: str) -> None:
        optional_library("psycopg", "postgres", "a PostgreSQL database")
        import psycopg
        from psycopg.conninfo import conninfo_to_dict, make_conninfo

        super().__init__(url)
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
            lost = isinstance(error, psycopg.OperationalError)
            kind = ConnectionLost if lost else TargetError
            said = " ".join(without(str(error), url).split())
            message = f"cannot connect to {self.name}: {said}"
            raise kind("LR4003", message, hint=NOT_REACHED) from error
        try:
            self._do(lambda: refuse_shared(self.connection, url))
            for statement in FIRST:
                self.execute(statement)
            self.query(settings_statement())
        except BaseException:
            self.close()
            raise

    def errors(self) -> tuple[type[Exception], ...]:
        import psycopg

        return (psycopg.Error,)

    def said(self, error: Any) -> tuple[str, str]:
        return error.sqlstate or "", str(error)

    def is_lost(self, error: Exception, code: str) -> bool:
        return bool(self.connection.broken or self.connection.closed) or is_gone(code)

    def ask(self, statement: str, values: Sequence[Any]) -> Any:
        return self.connection.execute(statement.encode(), values or None)

    def strange_tables(self, tables: Mapping[str, OwnTable], writes: bool) -> list[str]:
        strange = super().strange_tables(tables, writes)
        if writes and self.has_place():
            strange += postgres_own.strange_owners(self.query, tables)
        return strange

    def spelled(self, kind: str) -> str:
        return postgres_own.spelled(kind)

    def read_only(self) -> str:
        return postgres_own.read_only(self.query)

    def missing_rights(self, schema: str, table: str, empties: bool) -> list[str]:
        return postgres_own.missing_rights(self.query, schema, table, empties)

    def missing_for_own(self, tables: Mapping[str, OwnTable]) -> list[str]:
        return postgres_own.missing_for_own(self.query, tables.keys() - self.own_tables())

    def grants(self, role: str, tables: Iterable[str]) -> list[str]:
        rights = f"GRANT SELECT, INSERT, UPDATE, DELETE ON {', '.join(map(self.own, tables))}"
        return [
            f"GRANT USAGE ON SCHEMA logreplay TO {self.quoted(role)}",
            f"{rights} TO {self.quoted(role)}",
        ]

    def way_back(self, role: str | None, schema: str | None) -> list[str]:
        rows = self.query(_TO_RECORD, (schema, schema))
        if not rows:
            raise UsageError(
                "LR1001",
                f"found no tables{f' in schema {schema}' if schema else ''}; expected those whose"
                " changes are to be recorded",
            )
        names = [self.quoted(*name) for *name, is_part, _ in rows if not is_part]
        recording = self.query("SHOW wal_level")[0][0] == "logical"
        return [
            *([] if recording else [_RECORDING]),
            *(
                f"ALTER TABLE {self.quoted(*name)} REPLICA IDENTITY FULL"
                for *name, _, is_full in rows
                if not is_full
            ),
            f"CREATE PUBLICATION {_WAY_BACK} FOR TABLE"
            f" {', '.join([*names, self.own('position')])}"
            " WITH (publish_via_partition_root = true)",
            *([] if role is None else [f"ALTER ROLE {self.quoted(role)} REPLICATION"]),
            f"SELECT pg_create_logical_replication_slot('{_WAY_BACK}', 'pgoutput')",
        ]

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

    def unchecked(self, schema: str, tables: Iterable[str]) -> None:
        """Who may not say so gets tables loaded that have neither keys nor triggers."""
        try:
            self.enforce(False)
        except ConnectionLost:
            raise
        except TargetError as error:
            for (acts,) in self.query(_ACTING, (schema, list(tables))):
                message = (
                    f"{error.message}; the table {schema}.{acts} has triggers or foreign keys,"
                    " which are not to act here"
                )
                hint = f"{REPLICA}. Or load before they are made"
                raise TargetError(error.code, message, hint=hint) from error

    def durable(self) -> None:
        if self.query("SHOW synchronous_commit")[0][0] == "off":
            self.plain("SET LOCAL synchronous_commit = on")

    def settle(self) -> StatementFailure | None:
        return self.run(b"SET CONSTRAINTS ALL IMMEDIATE;").failure

    def prepare(self, shapes: Mapping[str, str]) -> None:
        fresh = {name: text for name, text in shapes.items() if name not in self._prepared}
        if len(self._prepared) + len(fresh) > _PREPARED:
            self.plain("DEALLOCATE ALL")
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
                self._failed(result)
            raise self.lost(error) from error
        return {name: self._failed(result) for name, result in failed.items()}

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
                self._failed(failed)
            raise self.lost(error) from error
        failure = None if failed is None else self._failed(failed)
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
            return StatementCounts([], self.failure(error))

    def facts(self, schema: str, table: str) -> TableFacts | None:
        return self.facts_of([(schema, table)])[schema, table]

    def facts_of(
        self, places: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str], TableFacts | None]:
        return table_facts(self.query, places)

    def sequences(self, schema: str, table: str) -> list[str]:
        found = self.query(_SEQUENCES, (schema, table))
        return [f"{sequence} ({column})" for column, sequence, *_ in found]

    def move_sequences(self, schema: str, table: str) -> dict[str, int]:
        moved = {}
        for column, sequence, up, least, most in self.query(_SEQUENCES, (schema, table)):
            name = self.quoted(column)
            farthest, beyond = ("max", ">") if up else ("min", "<")
            set_to = (
                f"SELECT setval(%s::regclass, m::bigint) FROM (SELECT {farthest}({name}) AS m FROM"
                f" {self.quoted(schema, table)} WHERE {name} BETWEEN %s AND %s) AS t,"
                f" {sequence} AS s WHERE m {beyond} s.last_value"
                " OR (m = s.last_value AND NOT s.is_called)"
            )
            for (value,) in self.query(set_to, (sequence, least, most)):
                moved[sequence] = value
        return moved

    def make_schema(self, schema: str) -> None:
        # IF NOT EXISTS would ask for the right to create one
        if not self.query("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)):
            self.execute(f"CREATE SCHEMA {self.quoted(schema)}")

    def keys(self, names: Sequence[str]) -> str:
        rows = self.query(_KEYS, ([name.lower() for name in names],))
        return "\n".join(statement for (statement,) in rows)

    def texts(
        self, schema: str, table: str, columns: Sequence[str], decimals: Collection[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        import psycopg

        kinds = {name: kind for name, kind, _ in self.columns(schema, table)}
        names = ", ".join(
            f"{self.quoted(name)}::pg_catalog.float8"
            if kinds[name] == "real"
            else self.quoted(name)
            for name in columns
        )  # a single alone is shown with digits that a double of the same look may have
        rows = f"SELECT {names} FROM {self.quoted(schema, table)}"
        statement = f"COPY ({rows}) TO STDOUT (FORMAT csv)"
        try:
            with self.connection.cursor() as cursor, cursor.copy(statement.encode()) as copy:
                yield from text_batches(copy, columns)
        except psycopg.Error as error:
            raise TargetError("LR4001", str(self.failure(error))) from error

    def put(self, into: str, kinds: Mapping[str, str], rows: Iterable[pa.RecordBatch]) -> int:
        import pyarrow.csv as pa_csv

        statement = f"COPY {into} ({self.quoted_list(kinds)}) FROM STDIN WITH (FORMAT csv)"
        plain = pa_csv.WriteOptions(include_header=False)  # texts in quotes, nothing for NULL
        with self.connection.cursor() as cursor:
            with cursor.copy(statement.encode()) as copy:
                for batch in rows:
                    held = io.BytesIO()
                    pa_csv.write_csv(batch, held, plain)
                    copy.write(held.getbuffer())
            return int(cursor.rowcount)

    def interrupt(self) -> None:
        import psycopg

        with suppress(psycopg.Error):
            self.connection.cancel_safe(timeout=_CANCEL_SECONDS)

    def _failed(self, result: Any) -> StatementFailure:
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
        return self.failed(sqlstate, message)

    def lost(self, error: psycopg.Error) -> ConnectionLost:
        """What is raised for a connection that is gone."""
        said = f"the connection to {self.name} was lost: {str(error).strip()}"
        return ConnectionLost("LR4003", said, hint=LOST)


def _line(text: bytes, number: int) -> bytes:
    """A statement of a text, counted from 0."""
    lines = [line for line in text.split(b"\n") if line and not line.startswith(b"--")]
    return lines[number] if number < len(lines) else b""


#: Partitions are left out; a unique index over part of a table or over an expression is no key.
_KEYS = """WITH t AS (SELECT c.oid, format('%%I.%%I', n.nspname, c.relname) AS name
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND n.nspname NOT IN ('pg_catalog', 'information_schema')
    AND lower(c.relname) = ANY(%s)),
k AS (SELECT i.indexrelid, i.indrelid, i.indimmediate,
    string_agg(quote_ident(a.attname), ', ' ORDER BY u.place) AS columns
    FROM pg_index i
    CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS u (attnum, place)
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = u.attnum
    WHERE i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL AND u.place <= i.indnkeyatts
    GROUP BY i.indexrelid, i.indrelid, i.indimmediate)
SELECT format('ALTER TABLE %%s ADD CONSTRAINT %%I UNIQUE (%%s)%%s;', t.name, x.relname, k.columns,
    CASE WHEN k.indimmediate THEN '' ELSE ' DEFERRABLE' END)
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
