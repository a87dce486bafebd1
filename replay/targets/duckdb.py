"""DuckDB as a target, in this process: ``duckdb:////data/shop.duckdb``. DuckDB itself lets one
process at a time open a file for writing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from replay.errors import TargetError
from replay.redaction import public
from replay.targets import Condition, StatementFailure, TableFacts, Transient
from replay.targets.duckdb_facts import columns_of, table_facts
from replay.targets.outcomes import Reference
from replay.targets.session import SqlSession
from replay.targets.states import file_of, parameters_of
from replay.targets.target import FileTarget

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

#: Rows that are read at once.
_BATCH_ROWS = 65_536
#: A single alone is shown with digits that a double of the same look may have.
_WIDER = {"FLOAT": "::DOUBLE"}


class DuckdbSession(SqlSession):
    """A session on a file of DuckDB, which one process at a time has open for writing. A statement
    that fails ends DuckDB's transaction, and there are no savepoints; every commit is on the disk,
    and no constraint waits for it."""

    dialect, title = "duckdb", "DuckDB"
    savepoints = False
    MARK = "?"
    #: Statements of single rows take a third less time where no other thread gets a task.
    BEGIN = "SET threads = 1;\nBEGIN"
    PLACE = "SELECT 1 FROM duckdb_schemas() WHERE schema_name = 'logreplay'"
    OWN_TABLES = """SELECT table_name FROM information_schema.tables
    WHERE table_catalog = current_database() AND table_schema = 'logreplay'"""
    OWN_COLUMNS = """SELECT table_name, column_name, NULL FROM information_schema.columns
    WHERE table_catalog = current_database() AND table_schema = 'logreplay'
    AND list_contains(%s, table_name) ORDER BY table_name, ordinal_position"""
    STRANGE = (
        """SELECT table_name, 'is not a table' FROM information_schema.tables
        WHERE table_catalog = current_database() AND table_schema = 'logreplay'
        AND table_type <> 'BASE TABLE' AND list_contains(%s, table_name) ORDER BY 1""",
        """SELECT DISTINCT table_name, 'has constraints or columns that compute' FROM (
        SELECT table_name FROM information_schema.columns WHERE column_default IS NOT NULL
        AND table_catalog = current_database() AND table_schema = 'logreplay'
        UNION ALL SELECT table_name FROM duckdb_constraints()
        WHERE database_name = current_database() AND schema_name = 'logreplay'
        AND constraint_type NOT IN ('PRIMARY KEY', 'NOT NULL'))
        WHERE list_contains(%s, table_name) ORDER BY 1""",
    )
    ALIKE = """SELECT table_schema, table_name FROM information_schema.tables
    WHERE table_catalog = current_database() AND lower(table_name) = lower(%s) ORDER BY 1, 2"""
    TABLES = """SELECT table_schema, table_name FROM information_schema.tables
    WHERE table_catalog = current_database() AND table_schema <> 'logreplay'
    AND table_type = 'BASE TABLE' ORDER BY 1, 2"""
    #: DuckDB has foreign keys within one schema only.
    REFERENCES = """SELECT referenced_table, constraint_column_names, referenced_column_names
    FROM duckdb_constraints() WHERE schema_name = %s AND table_name = %s
    AND constraint_type = 'FOREIGN KEY' ORDER BY ALL"""

    def __init__(self, url: str) -> None:
        import duckdb

        super().__init__(url)
        path = file_of(url)
        parameters_of(url, ())
        try:
            self.connection: duckdb.DuckDBPyConnection = duckdb.connect(str(path))
        except duckdb.Error as error:
            raise TargetError("LR4003", f"cannot connect to {public(url)}: {error}") from error
        self.execute("SET TimeZone = 'UTC'")

    def errors(self) -> tuple[type[Exception], ...]:
        import duckdb

        return (duckdb.Error,)

    def said(self, error: Exception) -> tuple[str, str]:
        return type(error).__name__, str(error).strip()

    def failure(self, error: Exception) -> StatementFailure:
        code, message = self.said(error)
        if code == "TransactionException" and "conflict" in message.lower():
            raise Transient("LR4001", message) from error
        return StatementFailure(_condition(error), code, message)

    def ask(self, statement: str, values: Sequence[Any]) -> duckdb.DuckDBPyConnection:
        return self.connection.execute(statement, list(values) or None)

    def touched(self, cursor: Any) -> int:
        row = cursor.fetchone()
        return int(row[0]) if row and isinstance(row[0], int) else -1

    def enforce(self, on: bool) -> None:
        if not on and self.query(
            "SELECT 1 FROM duckdb_constraints() WHERE constraint_type = 'FOREIGN KEY'"
        ):
            raise TargetError(
                "LR4001",
                "DuckDB cannot keep foreign keys from acting, and this database has some",
                hint="Make its tables without them",
            )

    def rollback(self) -> None:
        import duckdb

        try:
            self.connection.execute("ROLLBACK")
        except duckdb.TransactionException:
            return  # there is none

    def facts(self, schema: str, table: str) -> TableFacts | None:
        return table_facts(self.query, schema, table)

    def columns(self, schema: str, table: str) -> list[tuple[str, str, str]]:
        return [
            (column.name, column.kind, "" if column.nullable else "NOT NULL")
            for column in columns_of(self.query, schema, table)
        ]

    def references(self, schema: str, table: str) -> list[Reference]:
        return [
            Reference((schema, parent), columns, parent_columns)
            for parent, columns, parent_columns in self.query(self.REFERENCES, (schema, table))
        ]

    def texts(
        self, schema: str, table: str, columns: Sequence[str], decimals: Collection[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        kinds = {column: kind for column, kind, _ in self.columns(schema, table)}
        texts = ", ".join(
            f"'\\x' || lower(hex({self.quoted(name)})) AS {self.quoted(name)}"
            if kinds[name] == "BLOB"
            else f"{self.quoted(name)}{_WIDER.get(kinds[name], '')}::VARCHAR AS {self.quoted(name)}"
            for name in columns
        )
        import duckdb

        try:  # a relation streams, where the result of execute() is copied first
            rows = self.connection.sql(f"SELECT {texts} FROM {self.quoted(schema, table)}")
            read = getattr(rows, "to_arrow_reader", None)  # of DuckDB 2
            yield from (read or getattr(rows, "fetch_record_batch"))(_BATCH_ROWS)  # noqa: B009
        except duckdb.Error as error:
            raise TargetError("LR4001", str(self.failure(error))) from error

    def put(self, into: str, kinds: Mapping[str, str], rows: Iterable[pa.RecordBatch]) -> int:
        import pyarrow as pa

        values = ", ".join(
            f"unhex({self.quoted(name)}[3:])" if kind == "BLOB" else f"{self.quoted(name)}::{kind}"
            for name, kind in kinds.items()
        )
        statement = f"INSERT INTO {into} ({self.quoted_list(kinds)}) SELECT {values} FROM given"
        count = 0
        for batch in rows:
            self.connection.register("given", pa.Table.from_batches([batch]))
            count += self.execute(statement.replace("%", "%%"))
            self.connection.unregister("given")
        return count

    def unchecked(self, schema: str, tables: Iterable[str]) -> None:
        """DuckDB's foreign keys always act."""


def _condition(error: Exception) -> Condition:
    import duckdb

    text = str(error)
    if "foreign key" in text.lower():
        return Condition.FOREIGN_KEY
    if isinstance(
        error, duckdb.IOException | duckdb.OutOfMemoryException | duckdb.InterruptException
    ):
        return Condition.SERVER
    return Condition.DUPLICATE_KEY if "duplicate key" in text.lower() else Condition.OTHER


def _create(path: Path) -> None:
    import duckdb

    try:
        duckdb.connect(str(path)).close()
    except duckdb.Error as error:
        raise OSError(str(error)) from error


DUCKDB = FileTarget("duckdb", DuckdbSession, _create, "scratch.duckdb")
