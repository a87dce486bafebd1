"""DuckDB as a target, in this process: ``duckdb:////data/shop.duckdb``. DuckDB itself lets one
process at a time open a file for writing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from replay.errors import TargetError, Where, optional_library
from replay.public import public
from replay.targets import (
    Condition,
    Difference,
    OwnTable,
    Session,
    StatementCounts,
    StatementFailure,
    TableFacts,
    Transient,
)
from replay.targets.duckdb_facts import TableColumn, columns_of, table_facts
from replay.targets.states import (
    file_of,
    new_file_of,
    no_roles,
    no_server,
    state_tables,
    statements_of,
)
from replay.temp_folders import WorkFolder

if TYPE_CHECKING:
    import duckdb

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

dialect = "duckdb"

#: Rows that are read at once.
_BATCH_ROWS = 65_536
#: A single alone is shown with digits that a double of the same look may have.
_WIDER = {"FLOAT": "::DOUBLE"}
_DRIVER = ("duckdb", "duckdb", "a DuckDB database")

T = TypeVar("T")


def connect(url: str) -> Session:
    """A session; TargetError (LR4003) when there is no such file, or another process has it
    open."""
    return DuckdbSession(url)


def make(url: str) -> Path | None:
    """Make a database file where there is none; the file, or None. TargetError (LR4003) where it
    cannot be made."""
    path = new_file_of(url)
    if path is None:
        return None
    optional_library(*_DRIVER)
    import duckdb

    try:
        duckdb.connect(str(path)).close()
    except duckdb.Error as error:
        raise TargetError("LR4003", f"cannot make {public(url)}: {error}") from error
    return path


@contextmanager
def scratch(url: str | None = None) -> Iterator[str]:
    """The URL of an empty database in a temporary folder."""
    no_server(url)
    optional_library(*_DRIVER)
    import duckdb

    with WorkFolder() as folder:
        path = Path(folder) / "scratch.duckdb"
        duckdb.connect(str(path)).close()
        yield f"duckdb:///{path}"


def run_scripts(url: str, scripts: Iterable[Path]) -> None:
    """Run scripts in the given order; TargetError (LR4001) with the script's name when a statement
    fails."""
    session = DuckdbSession(url)
    try:
        for script in scripts:
            try:
                session.do(script.read_text(encoding="utf-8"))
            except TargetError as error:
                raise TargetError(error.code, error.message, Where(file=script.name)) from error
    finally:
        session.close()


def load_state(url: str, schema: str, folder: Path) -> int:
    """Put the rows of a state into existing tables of ``schema``; the number of rows."""
    session = DuckdbSession(url)
    try:
        return sum(
            session.load(_name(schema, table), schema, table, path)
            for table, path in state_tables(folder).items()
        )
    finally:
        session.close()


def compare_states(
    url: str, schema: str, folder: Path, overlay: Path | None = None
) -> list[Difference]:
    """The tables of ``schema`` whose rows are not those of the state ``folder`` (duplicates count);
    an empty list when all are equal.

    Tables of ``overlay`` replace those of ``folder``. Raises TargetError (LR4002) when an expected
    table or column does not exist.
    """
    session = DuckdbSession(url)
    try:
        expected = state_tables(folder) | (state_tables(overlay) if overlay is not None else {})
        differences = [
            session.difference(schema, table, path) for table, path in sorted(expected.items())
        ]
    finally:
        session.close()
    return [difference for difference in differences if difference is not None]


def keys(url: str, tables: Sequence[str]) -> str:
    """DDL of the unique keys and foreign keys of tables with these names, in any schema and
    case."""
    session = DuckdbSession(url)
    try:
        rows = session.query(_ALL_KEYS, ([table.lower() for table in tables],))
    finally:
        session.close()
    lines = []
    for number, (schema, table, kind, columns, parent, parent_columns) in enumerate(rows):
        text = f"ALTER TABLE {_name(schema, table)} ADD CONSTRAINT k{number} "
        if kind == "FOREIGN KEY":
            # a reference names its table without the schema; DuckDB has foreign keys within one
            # schema only
            text += (
                f"FOREIGN KEY ({_list(columns)}) REFERENCES {_name(schema, parent)}"
                f" ({_list(parent_columns)});"
            )
        else:
            text += f"UNIQUE ({_list(columns)});"
        lines.append(text)
    return "\n".join(lines)


class DuckdbSession:
    """Implements :class:`replay.targets.Session`. A statement that fails ends DuckDB's transaction,
    and there are no savepoints."""

    dialect = dialect
    forget = "DROP SCHEMA logreplay CASCADE"
    home = "CREATE SCHEMA logreplay"
    prepares = False
    merges = False
    shows_all = True
    alters = True
    types: Mapping[str, str] = {}
    savepoints = False

    def __init__(self, url: str) -> None:
        optional_library(*_DRIVER)
        import duckdb

        path = file_of(url)
        try:
            self.connection: duckdb.DuckDBPyConnection = duckdb.connect(str(path))
        except duckdb.Error as error:
            raise TargetError("LR4003", f"cannot connect to {public(url)}: {error}") from error
        self.do("SET TimeZone = 'UTC'")

    def do(self, statement: str, values: Sequence[Any] = ()) -> duckdb.DuckDBPyConnection:
        """Execute statements. TargetError (LR4001) when one fails."""
        import duckdb

        try:
            return (
                self.connection.execute(statement, list(values))
                if values
                else self.connection.execute(statement)
            )
        except duckdb.Error as error:
            raise TargetError("LR4001", str(error).strip()) from error

    def own(self, table: str) -> str:
        return f"logreplay.{table}"

    def has_place(self) -> bool:
        return bool(self.query("SELECT 1 FROM duckdb_schemas() WHERE schema_name = 'logreplay'"))

    def own_tables(self) -> frozenset[str]:
        rows = self.query(
            "SELECT table_name FROM information_schema.tables WHERE table_catalog ="
            " current_database() AND table_schema = 'logreplay'"
        )
        return frozenset(str(name) for (name,) in rows)

    def strange_tables(self, tables: Mapping[str, OwnTable], writes: bool) -> list[str]:
        strange = []
        kinds = dict(self.query(_OWN_KINDS))
        columns: dict[str, list[str]] = {}
        computing = {name for (name,) in self.query(_OWN_RULES)}
        for name, column, made in self.query(_OWN_COLUMNS):
            columns.setdefault(name, []).append(column)
            if made:
                computing.add(name)
        for name in sorted(tables.keys() & kinds.keys()):
            if kinds[name] != "BASE TABLE":
                strange.append(f"logreplay.{name} is not a table")
            elif columns[name] != [column for column, *_ in tables[name].columns]:
                strange.append(f"logreplay.{name} has other columns")
            elif name in computing:
                strange.append(f"logreplay.{name} has constraints or columns that compute")
        return strange

    def read_only(self) -> str:
        return ""  # who cannot write the file cannot open it

    def missing_rights(self, schema: str, table: str, empties: bool) -> list[str]:
        return []

    def missing_for_own(self, tables: Mapping[str, OwnTable]) -> list[str]:
        return []

    def grants(self, role: str, tables: Iterable[str]) -> list[str]:
        return no_roles(role)

    def alike(self, table: str) -> list[tuple[str, str]]:
        return [(str(schema), str(name)) for schema, name in self.query(_ALIKE, (table,))]

    def lock(self) -> bool:
        return True  # nobody else can have the file open for writing

    def enforce(self, on: bool) -> None:
        if not on and self.query(
            "SELECT 1 FROM duckdb_constraints() WHERE constraint_type = 'FOREIGN KEY'"
        ):
            raise TargetError(
                "LR4001",
                "DuckDB cannot keep foreign keys from acting, and this database has some",
                hint="Make its tables without them",
            )

    def begin(self) -> None:
        # Statements of single rows take a third less time where no other thread gets a task.
        self.do("SET threads = 1")
        self.do("BEGIN")

    def durable(self) -> None:
        """Every commit is."""

    def settle(self) -> StatementFailure | None:
        return None  # DuckDB has no constraints that wait

    def commit(self) -> None:
        self.do("COMMIT")

    def rollback(self) -> None:
        import duckdb

        try:
            self.connection.execute("ROLLBACK")
        except duckdb.TransactionException:
            return  # there is none

    def savepoint(self) -> None:
        raise TargetError("LR4001", "DuckDB has no savepoints")

    back_to_savepoint = savepoint

    def prepare(self, shapes: Mapping[str, str]) -> None:
        """Texts are statements in full."""

    def run(self, text: bytes) -> StatementCounts:
        import duckdb

        counts: list[int] = []
        for statement in statements_of(text):
            try:
                row = self.connection.execute(statement).fetchone()
            except duckdb.Error as error:
                if (
                    isinstance(error, duckdb.TransactionException)
                    and "conflict" in str(error).lower()
                ):
                    raise Transient("LR4001", str(error)) from error
                return StatementCounts(
                    counts,
                    StatementFailure(_condition(error), type(error).__name__, str(error).strip()),
                )
            counts.append(int(row[0]) if row else -1)
        return StatementCounts(counts)

    def copy(self, statement: str, text: bytes) -> StatementCounts:
        raise TargetError("LR4001", "DuckDB reads no rows from a client's stream")

    def execute(self, statement: str, values: Sequence[Any] = ()) -> int:
        row = self.do(_marked(statement), values).fetchone()
        return int(row[0]) if row and isinstance(row[0], int) else 0

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self.do(_marked(statement), values).fetchall()

    def facts(self, schema: str, table: str) -> TableFacts | None:
        return table_facts(self.query, schema, table)

    def sequences(self, schema: str, table: str) -> list[str]:
        return []

    def move_sequences(self, schema: str, table: str) -> dict[str, int]:
        return {}  # a column's default may name a sequence, but DuckDB cannot set one forward

    # -- comparing
    # ---------------------------------------------------------------------------------------------

    def version(self) -> str:
        return f"DuckDB {self.query('SELECT version()')[0][0]}"

    def snapshot(self) -> None:
        self.do("BEGIN")

    def make_schema(self, schema: str) -> None:
        self.do(f"CREATE SCHEMA IF NOT EXISTS {_name(schema)}")

    def definition(self, schema: str, table: str) -> list[str]:
        columns = [
            f"{_name(column.name)} {column.kind}{'' if column.nullable else ' NOT NULL'}"
            for column in self._columns(schema, table)
        ]
        facts = self.facts(schema, table)
        keys = () if facts is None else facts.unique_keys
        statements = [f"CREATE TABLE {_name(schema, table)} ({', '.join(columns)})"]
        return statements + [
            f"CREATE UNIQUE INDEX {_name(f'{table}_{n}')} ON {_name(schema, table)} ({_list(key)})"
            for n, key in enumerate(keys)
        ]

    def count(self, schema: str, table: str) -> int:
        return int(self.query(f"SELECT count(*) FROM {_name(schema, table)}")[0][0])

    def tables_of(self, schema: str) -> list[str]:
        return [name for (name,) in self.query(_TABLES, (schema,))]

    def texts(
        self, schema: str, table: str, columns: Sequence[str], decimals: Collection[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        kinds = {column.name: column.kind for column in self._columns(schema, table)}
        texts = ", ".join(
            f"'\\x' || lower(hex({_name(name)})) AS {_name(name)}"
            if kinds[name] == "BLOB"
            else f"{_name(name)}{_WIDER.get(kinds[name], '')}::VARCHAR AS {_name(name)}"
            for name in columns
        )
        import duckdb

        try:  # a relation streams, where the result of execute() is copied first
            rows = self.connection.sql(f"SELECT {texts} FROM {_name(schema, table)}")
            read = getattr(rows, "to_arrow_reader", None)  # of DuckDB 2
            yield from (read or getattr(rows, "fetch_record_batch"))(_BATCH_ROWS)  # noqa: B009
        except duckdb.Error as error:
            raise TargetError("LR4001", str(error).strip()) from error

    def load(self, into: str, schema: str, table: str, path: Path) -> int:
        """Insert the rows of a state's file; the number of rows. TargetError (LR4002) when the
        table or a column does not exist."""
        kinds = {column.name: column.kind for column in self._columns(schema, table)}
        source = (
            "read_csv(%s, header = true, all_varchar = true, nullstr = '\\N', quote = '\"', escape"
            " = '\"', allow_quoted_nulls = false)"
        )
        header = [row[0] for row in self.query(f"DESCRIBE SELECT * FROM {source}", (str(path),))]
        if missing := [name for name in header if name not in kinds]:
            what = f"column {missing[0]}" if kinds else "the table"
            raise TargetError(
                "LR4002",
                f"the database lacks what the state has: {what}",
                Where(table=f"{schema}.{table}"),
            )
        values = ", ".join(
            (
                f"unhex({_name(name)}[3:])"
                if kinds[name] == "BLOB"
                else f"{_name(name)}::{kinds[name]}"
            )
            for name in header
        )
        return self.execute(
            f"INSERT INTO {into} ({_list(header)}) SELECT {values} FROM {source}", (str(path),)
        )

    def difference(self, schema: str, table: str, path: Path) -> Difference | None:
        """How a table differs from a state's file; None when it does not."""
        self.do(
            f"CREATE OR REPLACE TEMP TABLE expected AS SELECT * FROM {_name(schema, table)} LIMIT 0"
            if self._columns(schema, table)
            else ";"
        )
        self.load("temp.expected", schema, table, path)

        def only_in(one: str, other: str) -> tuple[int, str | None]:
            counts = self.query(
                f"SELECT count(*), min(r::VARCHAR) FROM (SELECT * FROM {one} EXCEPT ALL SELECT *"
                f" FROM {other}) r"
            )[0]
            return int(counts[0]), counts[1]

        (unexpected, extra), (missing, lost) = (
            only_in(*pair)
            for pair in (
                (_name(schema, table), "temp.expected"),
                ("temp.expected", _name(schema, table)),
            )
        )
        return (
            Difference(f"{schema}.{table}", unexpected, missing, extra, lost)
            if unexpected or missing
            else None
        )

    def _columns(self, schema: str, table: str) -> list[TableColumn]:
        """The columns of a table in order."""
        return columns_of(self.query, schema, table)

    def interrupt(self) -> None:
        """A thread that waits for a statement hears of an interruption itself."""

    def close(self) -> None:
        self.connection.close()


def _condition(error: duckdb.Error) -> Condition:
    import duckdb

    text = str(error)
    if "foreign key" in text.lower():
        return Condition.FOREIGN_KEY
    if isinstance(
        error, duckdb.IOException | duckdb.OutOfMemoryException | duckdb.InterruptException
    ):
        return Condition.SERVER
    return Condition.DUPLICATE_KEY if "duplicate key" in text.lower() else Condition.OTHER


def _marked(statement: str) -> str:
    """``%s`` as DuckDB marks values."""
    return re.sub("%[s%]", lambda mark: "?" if mark[0] == "%s" else "%", statement)


def _list(names: Sequence[str]) -> str:
    return ", ".join(map(_name, names))


def _name(*names: str) -> str:
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


_TABLES = """SELECT table_name FROM information_schema.tables
WHERE table_catalog = current_database() AND table_schema = %s AND table_type = 'BASE TABLE'
ORDER BY 1"""
_OWN_KINDS = """SELECT table_name, table_type FROM information_schema.tables
WHERE table_catalog = current_database() AND table_schema = 'logreplay'"""
_OWN_COLUMNS = """SELECT table_name, column_name, column_default IS NOT NULL
FROM information_schema.columns
WHERE table_catalog = current_database() AND table_schema = 'logreplay'
ORDER BY table_name, ordinal_position"""
_OWN_RULES = """SELECT DISTINCT table_name FROM duckdb_constraints()
WHERE database_name = current_database() AND schema_name = 'logreplay'
AND constraint_type NOT IN ('PRIMARY KEY', 'NOT NULL')"""
_ALIKE = """SELECT table_schema, table_name FROM information_schema.tables
WHERE table_catalog = current_database() AND lower(table_name) = lower(%s) ORDER BY 1, 2"""
_ALL_KEYS = """SELECT schema_name, table_name, constraint_type, constraint_column_names,
referenced_table, referenced_column_names
FROM duckdb_constraints() WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')
AND list_contains(%s, lower(table_name))
ORDER BY ALL"""
