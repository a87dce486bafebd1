"""DuckDB as a target, in this process: ``duckdb:////data/shop.duckdb``. DuckDB itself lets one process at a time open a file for writing."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from replay.errors import TargetError, Where
from replay.targets import DUPLICATE_KEY, FOREIGN_KEY, OTHER, Difference, Failure, Outcome, Session, TableFacts, Transient
from replay.targets.states import file_of, no_server, state_tables, statements_of

if TYPE_CHECKING:
    import duckdb

__all__ = ["compare_states", "connect", "dialect", "keys", "load_state", "run_scripts", "scratch", "shown", "state_tables"]

dialect = "duckdb"

T = TypeVar("T")


def connect(url: str) -> Session:
    """A session; TargetError (LR4003) when there is no such file, or another process has it open."""
    return DuckdbSession(url)


def shown(url: str) -> str:
    """The URL: it holds no secret."""
    return url


@contextmanager
def scratch(url: str | None = None) -> Iterator[str]:
    """The URL of an empty database in a temporary folder."""
    import duckdb

    no_server(url)
    with tempfile.TemporaryDirectory(prefix="logreplay-duckdb-") as folder:
        path = Path(folder) / "scratch.duckdb"
        duckdb.connect(str(path)).close()
        yield f"duckdb:///{path}"


def run_scripts(url: str, scripts: Iterable[Path]) -> None:
    """Run scripts in the given order; TargetError (LR4001) with the script's name when a statement fails."""
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
        return sum(session.load(_name(schema, table), schema, table, path) for table, path in state_tables(folder).items())
    finally:
        session.close()


def compare_states(url: str, schema: str, folder: Path, overlay: Path | None = None) -> list[Difference]:
    """The tables of ``schema`` whose rows are not those of the state ``folder`` (duplicates count); an empty list when all are equal.

    Tables of ``overlay`` replace those of ``folder``. Raises TargetError (LR4002) when an expected table or column does not exist.
    """
    session = DuckdbSession(url)
    try:
        expected = state_tables(folder) | (state_tables(overlay) if overlay is not None else {})
        found = [session.difference(schema, table, path) for table, path in sorted(expected.items())]
    finally:
        session.close()
    return [difference for difference in found if difference is not None]


def keys(url: str, tables: Sequence[str]) -> str:
    """DDL of the unique keys and foreign keys of tables with these names, in any schema and case."""
    session = DuckdbSession(url)
    try:
        rows = session.query(_ALL_KEYS, ([table.lower() for table in tables],))
    finally:
        session.close()
    lines = []
    for number, (schema, table, kind, columns, parent, parent_columns) in enumerate(rows):
        text = f"ALTER TABLE {_name(schema, table)} ADD CONSTRAINT k{number} "
        if kind == "FOREIGN KEY":
            # a reference names its table without the schema; DuckDB has foreign keys within one schema only
            text += f"FOREIGN KEY ({_list(columns)}) REFERENCES {_name(schema, parent)} ({_list(parent_columns)});"
        else:
            text += f"UNIQUE ({_list(columns)});"
        lines.append(text)
    return "\n".join(lines)


class DuckdbSession:
    """Implements :class:`replay.targets.Session`. A statement that fails ends DuckDB's transaction, and there are no savepoints."""

    dialect = dialect
    forget = "DROP SCHEMA logreplay CASCADE"
    prepares = False
    merges = False
    parallel = False
    alters = True
    types: Mapping[str, str] = {}
    savepoints = False

    def __init__(self, url: str) -> None:
        import duckdb

        path = file_of(url)
        try:
            self.connection: duckdb.DuckDBPyConnection = duckdb.connect(str(path))
        except duckdb.Error as error:
            raise TargetError("LR4003", f"cannot connect to {url}: {error}") from error
        self.do("SET TimeZone = 'UTC'")

    def do(self, statement: str, values: Sequence[Any] = ()) -> duckdb.DuckDBPyConnection:
        """Execute statements. TargetError (LR4001) when one fails."""
        import duckdb

        try:
            return self.connection.execute(statement, list(values)) if values else self.connection.execute(statement)
        except duckdb.Error as error:
            raise TargetError("LR4001", str(error).strip()) from error

    def own(self, table: str) -> str:
        return f"logreplay.{table}"

    def make_home(self) -> None:
        self.do("CREATE SCHEMA IF NOT EXISTS logreplay")

    def has_home(self) -> bool:
        return bool(self.query("SELECT 1 FROM duckdb_tables() WHERE schema_name = 'logreplay' AND table_name = 'position'"))

    def lock(self) -> bool:
        return True  # nobody else can have the file open for writing

    def enforce(self, on: bool) -> None:
        if not on and self.query("SELECT 1 FROM duckdb_constraints() WHERE constraint_type = 'FOREIGN KEY'"):
            raise TargetError("LR4001", "DuckDB cannot keep foreign keys from acting, and this database has some")

    def begin(self) -> None:
        self.do("SET threads = 1")  # statements of single rows take a third less time where no task is handed to other threads
        self.do("BEGIN")

    def durable(self) -> None:
        """Every commit is."""

    def settle(self) -> Failure | None:
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

    def run(self, text: bytes) -> Outcome:
        import duckdb

        counts: list[int] = []
        for statement in statements_of(text):
            try:
                found = self.connection.execute(statement).fetchone()
            except duckdb.Error as error:
                if isinstance(error, duckdb.TransactionException) and "conflict" in str(error).lower():
                    raise Transient("LR4001", str(error)) from error
                return Outcome(counts, Failure(_condition(error), type(error).__name__, str(error).strip()))
            counts.append(int(found[0]) if found else -1)
        return Outcome(counts)

    def copy(self, statement: str, text: bytes) -> Outcome:
        raise TargetError("LR4001", "DuckDB reads no rows from a client's stream")

    def execute(self, statement: str, values: Sequence[Any] = ()) -> int:
        found = self.do(_marked(statement), values).fetchone()
        return int(found[0]) if found and isinstance(found[0], int) else 0

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self.do(_marked(statement), values).fetchall()

    def facts(self, schema: str, table: str) -> TableFacts | None:
        columns = self._columns(schema, table)
        if not columns:
            return None
        found = self.query(_KEYS, (schema, table))
        found += [(names,) for (text,) in self.query(_INDEXES, (schema, table)) if (names := _index_columns(text, columns))]
        return TableFacts(
            tuple(name for name, _, _, _ in columns),
            tuple(name for name, _, _, generated in columns if generated),
            (),
            tuple(tuple(names) for (names,) in found),
            types=tuple(kind for _, kind, _, _ in columns),
        )

    def move_sequences(self, schema: str, table: str) -> list[str]:
        return []  # a column's default may name a sequence, but DuckDB cannot set one forward

    # -- comparing ----------------------------------------------------------------------------------------------------------------------

    def version(self) -> str:
        return f"DuckDB {self.query('SELECT version()')[0][0]}"

    def snapshot(self) -> None:
        self.do("BEGIN")

    def make_schema(self, schema: str) -> None:
        self.do(f"CREATE SCHEMA IF NOT EXISTS {_name(schema)}")

    def definition(self, schema: str, table: str) -> list[str]:
        columns = [f"{_name(name)} {kind}{'' if null else ' NOT NULL'}" for name, kind, null, _ in self._columns(schema, table)]
        facts = self.facts(schema, table)
        keys = () if facts is None else facts.unique_keys
        made = [f"CREATE TABLE {_name(schema, table)} ({', '.join(columns)})"]
        return made + [
            f"CREATE UNIQUE INDEX {_name(f'{table}_{n}')} ON {_name(schema, table)} ({_list(key)})" for n, key in enumerate(keys)
        ]

    def count(self, schema: str, table: str) -> int:
        return int(self.query(f"SELECT count(*) FROM {_name(schema, table)}")[0][0])

    def hashes(self, schema: str, table: str, columns: Sequence[str], key: Sequence[str], buckets: int) -> dict[int, tuple[int, str]]:
        query = f"SELECT {_bucket(key, buckets)}, count(*), sum(hash({_list(columns)})) FROM {_name(schema, table)} GROUP BY 1"
        return {bucket: (count, str(total)) for bucket, count, total in self.query(query)}

    def bucket(
        self, schema: str, table: str, columns: Sequence[str], key: Sequence[str], bucket: int, buckets: int
    ) -> list[tuple[Any, ...]]:
        texts = ", ".join(f"{_name(name)}::VARCHAR" for name in columns)
        return self.query(f"SELECT {texts} FROM {_name(schema, table)} WHERE {_bucket(key, buckets)} = {bucket}")

    def load(self, into: str, schema: str, table: str, path: Path) -> int:
        """Insert the rows of a state's file; the number of rows. TargetError (LR4002) when the table or a column does not exist."""
        kinds = {name: kind for name, kind, _, _ in self._columns(schema, table)}
        source = "read_csv(%s, header = true, all_varchar = true, nullstr = '\\N', quote = '\"', escape = '\"', allow_quoted_nulls = false)"
        header = [row[0] for row in self.query(f"DESCRIBE SELECT * FROM {source}", (str(path),))]
        if missing := [name for name in header if name not in kinds]:
            what = f"column {missing[0]}" if kinds else "the table"
            raise TargetError("LR4002", f"the database lacks what the state has: {what}", Where(table=f"{schema}.{table}"))
        values = ", ".join(f"unhex({_name(name)}[3:])" if kinds[name] == "BLOB" else f"{_name(name)}::{kinds[name]}" for name in header)
        return self.execute(f"INSERT INTO {into} ({_list(header)}) SELECT {values} FROM {source}", (str(path),))

    def difference(self, schema: str, table: str, path: Path) -> Difference | None:
        """How a table differs from a state's file; None when it does not."""
        self.do(
            f"CREATE OR REPLACE TEMP TABLE expected AS SELECT * FROM {_name(schema, table)} LIMIT 0"
            if self._columns(schema, table)
            else ";"
        )
        self.load("temp.expected", schema, table, path)

        def only_in(one: str, other: str) -> tuple[int, str | None]:
            found = self.query(f"SELECT count(*), min(r::VARCHAR) FROM (SELECT * FROM {one} EXCEPT ALL SELECT * FROM {other}) r")[0]
            return int(found[0]), found[1]

        (unexpected, extra), (missing, lost) = (
            only_in(*pair) for pair in ((_name(schema, table), "temp.expected"), ("temp.expected", _name(schema, table)))
        )
        return Difference(f"{schema}.{table}", unexpected, missing, extra, lost) if unexpected or missing else None

    def _columns(self, schema: str, table: str) -> list[tuple[str, str, bool, bool]]:
        """(name, type, whether it may be null, whether it is computed) in order."""
        return [(name, kind, null == "YES", made == "ALWAYS") for name, kind, null, made in self.query(_COLUMNS, (schema, table))]

    def close(self) -> None:
        self.connection.close()


def _condition(error: duckdb.Error) -> str:
    text = str(error)
    if "foreign key" in text.lower():
        return FOREIGN_KEY
    return DUPLICATE_KEY if "Duplicate key" in text else OTHER


def _marked(statement: str) -> str:
    """``%s`` as DuckDB marks values."""
    return statement.replace("%s", "?").replace("%%", "%")


def _bucket(key: Sequence[str], buckets: int) -> str:
    return f"(hash({_list(key)}) % {buckets})::INTEGER"


def _list(names: Sequence[str]) -> str:
    return ", ".join(map(_name, names))


def _name(*names: str) -> str:
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def _index_columns(text: str, columns: Sequence[tuple[Any, ...]]) -> list[str]:
    """The columns of an index's expressions ``[a, "B"]``; none when one is not a column."""
    known = {name for name, _, _, _ in columns}
    names = [part.strip().strip("'").strip('"') for part in re.sub(r"^\[|\]$", "", text).split(",")]
    return names if set(names) <= known else []


_COLUMNS = """SELECT column_name, data_type, is_nullable, is_generated FROM information_schema.columns
WHERE table_catalog = current_database() AND table_schema = %s AND table_name = %s ORDER BY ordinal_position"""
_KEYS = """SELECT constraint_column_names FROM duckdb_constraints()
WHERE schema_name = %s AND table_name = %s AND constraint_type IN ('PRIMARY KEY', 'UNIQUE') ORDER BY constraint_index"""
_INDEXES = "SELECT expressions FROM duckdb_indexes() WHERE is_unique AND schema_name = %s AND table_name = %s ORDER BY index_name"
_ALL_KEYS = """SELECT schema_name, table_name, constraint_type, constraint_column_names, referenced_table, referenced_column_names
FROM duckdb_constraints() WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY') AND list_contains(%s, lower(table_name))
ORDER BY ALL"""
