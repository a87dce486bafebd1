"""A session on a PostgreSQL that changes are replayed into.

Statements travel as simple queries of many statements each: one message there, one result for each statement back, so that every count can be
checked without a round trip for it. They execute prepared statements by name: half the server's time of statements in full.
"""

from __future__ import annotations

import select
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from replay.errors import TargetError
from replay.targets import DUPLICATE_KEY, FOREIGN_KEY, OTHER, ConnectionLost, Failure, Outcome, TableFacts, Transient

if TYPE_CHECKING:
    import psycopg

#: Both halves of the advisory lock's key: the letters LOGR and PLAY.
_LOCK = (0x4C4F4752, 0x504C4159)
_SETTINGS = (
    "SET client_encoding = 'UTF8'",
    "SET standard_conforming_strings = on",
    "SET DateStyle = 'ISO, YMD'",
    "SET IntervalStyle = 'postgres'",
    "SET TimeZone = 'UTC'",
    "SET extra_float_digits = 1",
    "SET bytea_output = 'hex'",
    "SET client_min_messages = warning",
    "SET statement_timeout = 0",
    "SET idle_in_transaction_session_timeout = 0",
)
#: Prepared statements that a session keeps; each takes some 20 KB of the server's memory.
_PREPARED = 4000
#: Text handed to COPY at once.
_COPY_BYTES = 1 << 20
_CONDITIONS = {"23505": DUPLICATE_KEY, "23503": FOREIGN_KEY, "23001": FOREIGN_KEY}
_TRANSIENT = frozenset({"40001", "40P01", "55P03"})
#: The server goes away: class 08, and what it says on shutdown, crash and start.
_GONE = frozenset({"57P01", "57P02", "57P03", "57P05"})
_REPLICA = "Only a superuser, or who was granted SET ON PARAMETER session_replication_role, may do that"

T = TypeVar("T")


class PostgresSession:
    """Implements :class:`replay.targets.Session`."""

    dialect = "postgres"
    forget = "DROP SCHEMA logreplay CASCADE"
    types: Mapping[str, str] = {}
    savepoints = True
    prepares = True
    merges = True
    parallel = True
    alters = True

    def __init__(self, url: str, shown: str) -> None:
        import psycopg

        self.shown = shown
        self._parted = False
        self._prepared: set[str] = set()
        try:
            self.connection = psycopg.connect(
                url, connect_timeout=30, autocommit=True, prepare_threshold=None, fallback_application_name="logreplay"
            )
        except psycopg.OperationalError as error:
            raise ConnectionLost("LR4003", f"cannot connect to {shown}: {error}") from error
        self._do(lambda: self.connection.execute("; ".join(_SETTINGS)))

    def own(self, table: str) -> str:
        return f"logreplay.{table}"

    def make_home(self) -> None:
        if not self.query("SELECT 1 FROM pg_namespace WHERE nspname = 'logreplay'"):
            self.execute("CREATE SCHEMA logreplay")

    def has_home(self) -> bool:
        return bool(self.query("SELECT 1 FROM pg_tables WHERE schemaname = 'logreplay' AND tablename = 'position'"))

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
            raise TargetError("LR4001", error.message, error.where, _REPLICA) from error

    def begin(self) -> None:
        self._parted = False
        self._plain("BEGIN; SET CONSTRAINTS ALL DEFERRED")

    def durable(self) -> None:
        if self.query("SHOW synchronous_commit")[0][0] == "off":
            self._plain("SET LOCAL synchronous_commit = on")

    def settle(self) -> Failure | None:
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
            self._prepared, fresh = set(), dict(shapes)
        if fresh:
            self._plain(" ".join(f"PREPARE {name} AS {text}" for name, text in fresh.items()))
            self._prepared |= fresh.keys()

    def run(self, text: bytes) -> Outcome:
        import psycopg
        from psycopg.pq import ExecStatus

        counts: list[int] = []
        failure: Failure | None = None
        server = self.connection.pgconn
        try:
            server.send_query(text)
            while server.flush():  # what the network did not take at once; the server may want to be read from first
                readable, _, _ = select.select([server.socket], [server.socket], [])
                if readable:
                    server.consume_input()
            while True:
                while server.is_busy():
                    select.select([server.socket], [], [])
                    server.consume_input()
                result = server.get_result()
                if result is None:
                    break
                if result.status in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK):
                    rows = result.command_tuples
                    counts.append(-1 if rows is None else rows)
                else:
                    failure = self._failure(result)
        except psycopg.OperationalError as error:
            raise self._lost(error) from error
        return Outcome(counts, failure)

    def copy(self, statement: str, text: bytes) -> Outcome:
        import psycopg

        try:
            with self.connection.cursor() as cursor:
                with cursor.copy(statement.encode()) as copy:
                    for start in range(0, len(text), _COPY_BYTES):
                        copy.write(text[start : start + _COPY_BYTES])
                return Outcome([cursor.rowcount])
        except psycopg.Error as error:
            if self.connection.broken or self.connection.closed:
                raise self._lost(error) from error
            sqlstate = error.sqlstate or ""
            self._raise_for(sqlstate, str(error))
            return Outcome([], Failure(_CONDITIONS.get(sqlstate, OTHER), sqlstate, str(error)))

    def execute(self, statement: str, values: Sequence[Any] = ()) -> int:
        return self._do(lambda: self.connection.execute(statement.encode(), values or None).rowcount)

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._do(lambda: self.connection.execute(statement.encode(), values or None).fetchall())

    def facts(self, schema: str, table: str) -> TableFacts | None:
        found = self.query(_TABLE, (schema, table))
        if not found:
            return None
        oid = found[0][0]
        columns = self.query(_COLUMNS, (oid,))
        keys = self.query(_KEYS, (oid,))
        triggers = self.query(_TRIGGERS, (oid,))
        cascades = self.query(_CASCADES, (oid, oid))
        privileges = self.query(_PRIVILEGES, (oid,))
        return TableFacts(
            tuple(name for name, *_ in columns),
            tuple(name for name, generated, *_ in columns if generated),
            tuple(name for name, _, identity, _ in columns if identity == "a"),
            tuple(tuple(names) for (names,) in keys),
            tuple(name for (name,) in triggers),
            tuple(text for (text,) in cascades),
            tuple(name for name, has in privileges if not has),
            tuple(kind for *_, kind in columns),
        )

    def move_sequences(self, schema: str, table: str) -> list[str]:
        moved = []
        for column, sequence in self.query(_SEQUENCES, (schema, table)):
            name = _name(column)
            where = _name(schema, table)
            set_to = f"SELECT setval(%s::regclass, m) FROM (SELECT max({name}) AS m FROM {where}) AS t, {sequence} AS s "
            set_to += "WHERE m > s.last_value OR (m = s.last_value AND NOT s.is_called)"
            for (value,) in self.query(set_to, (sequence,)):
                moved.append(f"{sequence} to {value}")
        return moved

    # -- comparing ----------------------------------------------------------------------------------------------------------------------

    def version(self) -> str:
        return f"PostgreSQL {self.query('SHOW server_version')[0][0]}"

    def snapshot(self) -> None:
        self._parted = False
        self._plain("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")

    def make_schema(self, schema: str) -> None:
        self.execute(f"CREATE SCHEMA IF NOT EXISTS {_name(schema)}")

    def definition(self, schema: str, table: str) -> list[str]:
        columns = self.query(_DEFINITIONS, (schema, table))
        text = ", ".join(f"{_name(name)} {kind}{' NOT NULL' if strict else ''}" for name, kind, strict in columns)
        facts = self.facts(schema, table)
        keys = () if facts is None else facts.unique_keys
        made = [f"CREATE TABLE {_name(schema, table)} ({text})"]
        return made + [f"CREATE UNIQUE INDEX ON {_name(schema, table)} ({', '.join(map(_name, key))})" for key in keys]

    def count(self, schema: str, table: str) -> int:
        return int(self.query(f"SELECT count(*) FROM {_name(schema, table)}")[0][0])

    def hashes(self, schema: str, table: str, columns: Sequence[str], key: Sequence[str], buckets: int) -> dict[int, tuple[int, str]]:
        row = ", ".join(self._texts(schema, table, columns))
        part = self._bucket(schema, table, key, buckets)
        query = (
            f"SELECT b, count(*), sum(h) FROM (SELECT {part} AS b, {_HASH.format(row)} AS h FROM {_name(schema, table)}) AS r GROUP BY b"
        )
        return {bucket: (count, str(total)) for bucket, count, total in self.query(query)}

    def bucket(
        self, schema: str, table: str, columns: Sequence[str], key: Sequence[str], bucket: int, buckets: int
    ) -> list[tuple[Any, ...]]:
        texts = ", ".join(self._texts(schema, table, columns))
        return self.query(f"SELECT {texts} FROM {_name(schema, table)} WHERE {self._bucket(schema, table, key, buckets)} = {bucket}")

    def _bucket(self, schema: str, table: str, key: Sequence[str], buckets: int) -> str:
        return f"(('x' || left(md5(ROW({', '.join(self._texts(schema, table, key))})::text), 7))::bit(28)::int % {buckets})"

    def _texts(self, schema: str, table: str, columns: Sequence[str]) -> list[str]:
        """Expressions for columns as text that is equal where the values are: a decimal's zeros at the end do not count."""
        kinds = {name: kind for name, kind, _ in self.query(_DEFINITIONS, (schema, table))}
        return [f"trim_scale({_name(name)})::text" if kinds[name].startswith("numeric") else f"{_name(name)}::text" for name in columns]

    def close(self) -> None:
        import psycopg

        with suppress(psycopg.Error):
            self.connection.close()

    # -- errors -------------------------------------------------------------------------------------------------------------------------

    def _failure(self, result: Any) -> Failure:
        from psycopg.pq import DiagnosticField

        code = result.error_field(DiagnosticField.SQLSTATE)
        sqlstate = code.decode() if code else ""
        parts = [result.error_field(field) for field in (DiagnosticField.MESSAGE_PRIMARY, DiagnosticField.MESSAGE_DETAIL)]
        message = ". ".join(part.decode("utf-8", "replace") for part in parts if part) or result.error_message.decode("utf-8", "replace")
        self._raise_for(sqlstate, message)
        return Failure(_CONDITIONS.get(sqlstate, OTHER), sqlstate, message)

    def _raise_for(self, sqlstate: str, message: str) -> None:
        if not sqlstate or sqlstate in _GONE or sqlstate.startswith("08"):
            raise ConnectionLost("LR4003", f"the connection to {self.shown} was lost: {message.strip()}")
        if sqlstate in _TRANSIENT:
            raise Transient("LR4001", f"SQLSTATE {sqlstate}: {message}")

    def _lost(self, error: psycopg.Error) -> ConnectionLost:
        return ConnectionLost("LR4003", f"the connection to {self.shown} was lost: {str(error).strip()}")

    def _plain(self, statement: str) -> None:
        """Run a statement that has no reason to fail but the connection or the end of a transaction."""
        failure = self.run(statement.encode()).failure
        if failure is not None:
            raise TargetError("LR4001", f"{statement}: SQLSTATE {failure.sqlstate}: {failure.message}")

    def _do(self, action: Callable[[], T]) -> T:
        import psycopg

        try:
            return action()
        except psycopg.Error as error:
            if self.connection.broken or self.connection.closed:
                raise self._lost(error) from error
            self._raise_for(error.sqlstate or "", str(error))
            raise TargetError("LR4001", f"SQLSTATE {error.sqlstate}: {error}") from error


def _name(*names: str) -> str:
    from psycopg import sql

    return sql.Identifier(*names).as_string()


#: 60 bits of a row's digest, to be added up.
_HASH = "('x' || left(md5(ROW({0})::text), 15))::bit(60)::bigint"
_DEFINITIONS = """SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"""
_TABLE = """SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = %s AND c.relkind IN ('r', 'p')"""
_COLUMNS = """SELECT attname, attgenerated <> '', attidentity::text, format_type(atttypid, -1) FROM pg_attribute
WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped ORDER BY attnum"""
_KEYS = """SELECT array_agg(a.attname::text ORDER BY k.place) FROM pg_index i
CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k (attnum, place)
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
WHERE i.indrelid = %s AND i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL AND k.place <= i.indnkeyatts
GROUP BY i.indexrelid ORDER BY min(i.indexrelid)"""
_TRIGGERS = "SELECT tgname FROM pg_trigger WHERE tgrelid = %s AND NOT tgisinternal AND tgenabled IN ('O', 'A') ORDER BY tgname"
_CASCADES = """SELECT format('%%s of %%s (%%s)', conname, conrelid::regclass, concat_ws(', ',
    CASE confdeltype WHEN 'c' THEN 'ON DELETE CASCADE' WHEN 'n' THEN 'ON DELETE SET NULL' WHEN 'd' THEN 'ON DELETE SET DEFAULT' END,
    CASE confupdtype WHEN 'c' THEN 'ON UPDATE CASCADE' WHEN 'n' THEN 'ON UPDATE SET NULL' WHEN 'd' THEN 'ON UPDATE SET DEFAULT' END))
FROM pg_constraint WHERE contype = 'f' AND conparentid = 0 AND (conrelid = %s OR confrelid = %s)
AND (confdeltype IN ('c', 'n', 'd') OR confupdtype IN ('c', 'n', 'd')) ORDER BY 1"""
_PRIVILEGES = """SELECT p, has_table_privilege(%s::oid, p) FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS p"""
_SEQUENCES = """SELECT a.attname, pg_get_serial_sequence(quote_ident(n.nspname) || '.' || quote_ident(c.relname), a.attname)
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = %s AND a.attnum > 0 AND NOT a.attisdropped
AND pg_get_serial_sequence(quote_ident(n.nspname) || '.' || quote_ident(c.relname), a.attname) IS NOT NULL"""
