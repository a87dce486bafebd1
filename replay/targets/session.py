"""A session on a database that changes are replayed into: what all kinds of databases do alike.

A kind is a class that adds its SQL texts, the codes of its errors, and what its driver does another
way. A session runs text and counts rows, and knows nothing of logs, positions or what to do about a
problem.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from replay.csv_states import CsvForm
from replay.errors import TargetError, UsageError, Where
from replay.redaction import public
from replay.targets.outcomes import (
    LOST,
    Condition,
    ConnectionLost,
    OwnTable,
    Reference,
    StatementCounts,
    StatementFailure,
    TableFacts,
    Transient,
    standard_name,
)
from replay.targets.states import no_roles, statements_of

if TYPE_CHECKING:
    import pyarrow as pa

    from sqlgen.schema import SqlType

#: What to do about a server that cannot be connected to.
NOT_REACHED = (
    "Check host, port, database and user of the URL and the password, and that the server runs"
)
#: Rows that are read at once.
_BATCH_ROWS = 20_000

T = TypeVar("T")


class SqlSession:
    """One connection to a target, used by one thread at a time.

    Every method raises :class:`ConnectionLost` (LR4003) when the connection breaks,
    :class:`Transient` (LR4001) for a deadlock or serialization failure, and TargetError (LR4001)
    for anything else that the database refuses; only :meth:`settle`, :meth:`run` and :meth:`copy`
    report a refusal instead of raising it. Names of schemas, tables and columns are those of the
    target's catalog, unquoted.
    """

    #: The SQL that it understands, a profile of :mod:`sqlgen.dialects`; how messages call it.
    dialect: str
    title: str
    #: The statement that drops our tables, for a hint.
    forget: ClassVar[str] = "DROP SCHEMA logreplay CASCADE"
    #: The statement that makes the place for our tables (a schema); empty where they need none.
    home: ClassVar[str] = "CREATE SCHEMA logreplay"
    #: What our tables' types ``text`` (of any length) and ``timestamp`` are called, where not so.
    types: ClassVar[Mapping[str, str]] = {}
    #: Whether :meth:`savepoint` works; else it is never called.
    savepoints: ClassVar[bool] = True
    #: Whether :meth:`prepare` works; else it is never called.
    prepares: ClassVar[bool] = False
    #: Whether :meth:`copy` works and the dialect is one of :mod:`sqlgen.render.staged_merge`; else
    #: it is never called.
    merges: ClassVar[bool] = False
    #: Whether tables are seen by users without rights on them.
    shows_all: ClassVar[bool] = True
    #: Whether statements that change tables' structure are part of a transaction, and are undone
    #: with it.
    alters: ClassVar[bool] = True

    #: How a name is quoted, and how a value is marked in a statement.
    QUOTE: ClassVar[str] = '"'
    MARK: ClassVar[str] = "%s"
    #: Statements that begin a transaction, and one that reads all tables at one moment.
    BEGIN: ClassVar[str] = "BEGIN"
    SNAPSHOT: ClassVar[str] = "BEGIN"
    VERSION: ClassVar[str] = "SELECT version()"
    #: What stands behind the columns of a table that is made.
    TABLE_END: ClassVar[str] = ""
    #: Queries of the catalog, where ``{schema}`` is :attr:`place`: a row where the place for our
    #: tables is; names of ours; (name, column, type or None) of ours; (name, what is strange), both
    #: of the last with the list of our names as a value; (schema, name) of what has a name; the
    #: same of all tables of users; (name, type, what is behind it in DDL) of a table's columns.
    PLACE: ClassVar[str]
    OWN_TABLES: ClassVar[str]
    OWN_COLUMNS: ClassVar[str]
    STRANGE: ClassVar[tuple[str, ...]]
    ALIKE: ClassVar[str]
    TABLES: ClassVar[str]
    COLUMNS: ClassVar[str]
    #: Codes of errors: conditions, the beginnings of those that would end any statement, of those
    #: that pass, and of those that say that the connection is gone.
    CONDITIONS: ClassVar[Mapping[str, Condition]]
    SERVER: ClassVar[tuple[str, ...]] = ()
    TRANSIENT: ClassVar[tuple[str, ...]] = ()

    #: The driver's connection.
    connection: Any

    def __init__(self, url: str) -> None:
        self.url, self.name = url, public(url)
        self._parted = False

    # -- what drivers do their own way
    # ---------------------------------------------------------------------------------------------

    @abstractmethod
    def errors(self) -> tuple[type[Exception], ...]:
        """The classes of the driver's errors."""

    @abstractmethod
    def said(self, error: Exception) -> tuple[str, str]:
        """The code and the message of a driver's error."""

    @abstractmethod
    def ask(self, statement: str, values: Sequence[Any]) -> Any:
        """The driver's cursor behind one statement as the driver takes it."""

    @abstractmethod
    def facts(self, schema: str, table: str) -> TableFacts | None:
        """What :class:`TableFacts` says, None when there is no such table."""

    def facts_of(
        self, places: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str], TableFacts | None]:
        """:meth:`facts` of tables by schema and name."""
        return {place: self.facts(*place) for place in places}

    def touched(self, cursor: Any) -> int:
        """The rows that a statement touched, -1 where nobody says it."""
        return int(cursor.rowcount)

    def is_lost(self, error: Exception, code: str) -> bool:
        """Whether an error says that the connection is gone."""
        return False

    @property
    def place(self) -> str:
        """What ``{schema}`` stands for in queries of the catalog, quoted."""
        return ""

    # -- our tables, and who may do what
    # ---------------------------------------------------------------------------------------------

    def own(self, table: str) -> str:
        """How our table of this name is spelled in a statement, quoted where need be: in a schema
        ``logreplay``, or with that prefix. Asks the database nothing."""
        return f"logreplay.{table}"

    def own_name(self, table: str) -> str:
        """The same in messages."""
        return self.own(table)

    def has_place(self) -> bool:
        """Whether the place for our tables is there."""
        return bool(self.catalog_rows(self.PLACE))

    def own_tables(self) -> frozenset[str]:
        """The names under which we keep tables that are taken, by whatever."""
        return frozenset(str(name) for (name,) in self.catalog_rows(self.OWN_TABLES))

    def strange_tables(self, tables: Mapping[str, OwnTable], writes: bool) -> list[str]:
        """Why what stands under our names is not what we make of ``tables``: other columns, views,
        triggers, rules, defaults, indexes that compute; with ``writes``, also an owner who could
        have them act."""
        names = list(tables)
        strange = [
            f"{self.own_name(name)} {what}"
            for text in self.STRANGE
            for name, what in self.catalog_rows(text, (names,))
        ]
        columns_of: dict[str, list[tuple[str, str | None]]] = {}
        for table, column, kind in self.own_columns(names):
            columns_of.setdefault(table, []).append((column, kind))
        for table, columns in columns_of.items():
            wanted = [
                (column, None if columns[0][1] is None else self.spelled(kind))
                for column, kind, _ in tables[table].columns
            ]
            if columns != wanted:
                unlike = next(
                    (pair for pair in columns if pair not in wanted),
                    next((pair for pair in wanted if pair not in columns), columns[0]),
                )
                named = " ".join(filter(None, unlike))
                strange.append(f"{self.own_name(table)} has other columns ({named})")
        return strange

    def own_columns(self, names: Sequence[str]) -> list[tuple[Any, ...]]:
        """(name, column, type or None) of those tables under our names that are there."""
        return self.catalog_rows(self.OWN_COLUMNS, (names,))

    def spelled(self, kind: str) -> str:
        """A type of our tables as the catalog calls it."""
        return kind

    def read_only(self) -> str:
        """Why nothing can be written here; empty where something can."""
        return ""

    def missing_rights(self, schema: str, table: str, empties: bool) -> list[str]:
        """Rights that changes of a table need and this user lacks, beside those of its facts;
        ``empties``: it will also be emptied as a whole. None where there is no such table."""
        return []

    def missing_for_own(self, tables: Mapping[str, OwnTable]) -> list[str]:
        """Rights that our tables need and this user lacks: to make those that are not there, and to
        change all."""
        return []

    def grants(self, role: str, tables: Iterable[str]) -> list[str]:
        """Statements (without ``;``) that give ``role`` the rights on our tables that a replay
        needs. UsageError (LR1001) where the target has no roles."""
        return no_roles(role)

    def way_back(self, role: str | None, schema: str | None) -> list[str]:
        """Statements (without ``;``) that have the changes of users (in one ``schema``) recorded as
        change events, and logreplay's position with them; ``role`` may read them. UsageError
        (LR1001) where there is nothing to do it with."""
        raise UsageError(
            "LR1001",
            f"found --way-back for {self.title}; expected PostgreSQL",
            hint="Debezium reads the binary log of MySQL and MariaDB without it, whole rows with"
            " binlog_row_image=FULL; it must read the database logreplay, too",
        )

    def alike(self, table: str) -> list[tuple[str, str]]:
        """(schema, name) of what has this name in any schema and case."""
        return [
            (str(schema), str(name)) for schema, name in self.catalog_rows(self.ALIKE, (table,))
        ]

    def lock(self) -> bool:
        """Take the one lock of all replays into this database, without waiting and until the
        connection ends; whether that worked."""
        return True

    # -- transactions
    # ---------------------------------------------------------------------------------------------

    @abstractmethod
    def enforce(self, on: bool) -> None:
        """Set whether triggers and foreign keys act on what this session does (they do unless
        set), outside a transaction. TargetError (LR4001) where the database or the user's rights do
        not allow it."""

    def begin(self) -> None:
        """Begin a transaction; constraints that can wait are checked by :meth:`settle`."""
        self._parted = False
        self.plain(self.BEGIN)

    def durable(self) -> None:
        """Have this transaction's commit survive a crash of the server even where the server is set
        not to wait for its disk, if a session can."""

    def settle(self) -> StatementFailure | None:
        """Check the constraints that were left waiting; the first that does not hold."""
        return None

    def commit(self) -> None:
        """Commit. After ConnectionLost nobody knows whether that happened; the position row does.
        Raises :class:`replay.targets.CommitRefused` where a constraint that waited does not
        hold."""
        self.plain("COMMIT")

    def rollback(self) -> None:
        """Undo the transaction; nothing happens where there is none."""
        self.plain("ROLLBACK")

    def savepoint(self) -> None:
        """Begin a part of the transaction; the part before it can no longer be undone alone."""
        release = "RELEASE SAVEPOINT part;\n" if self._parted else ""
        self.plain(f"{release}SAVEPOINT part")
        self._parted = True

    def back_to_savepoint(self) -> None:
        """Undo what came after :meth:`savepoint`."""
        self.plain("ROLLBACK TO SAVEPOINT part")

    def snapshot(self) -> None:
        """Begin a transaction that only reads, and sees all tables at one moment; :meth:`rollback`
        ends it."""
        self._parted = False
        self.plain(self.SNAPSHOT)

    # -- statements
    # ---------------------------------------------------------------------------------------------

    def prepare(self, shapes: Mapping[str, str]) -> None:
        """Prepare statements (name -> text with ``$1 …`` for values) that texts then ``EXECUTE``,
        outside a transaction; those of earlier calls may be forgotten."""

    def run(self, text: bytes) -> StatementCounts:
        """Run statements (UTF-8, each on a line of its own, ending in ``;``; comment lines begin
        with ``--``) inside the transaction, stopping at the first that fails; as many counts as
        statements that did not. After a failure the transaction, or the part since
        :meth:`savepoint`, can only be undone."""
        counts: list[int] = []
        for statement in statements_of(text):
            try:
                counts.append(self.touched(self.connection.execute(statement)))
            except self.errors() as error:
                return StatementCounts(counts, self.failure(error))
        return StatementCounts(counts)

    def script(self, path: Path) -> None:
        """Run a script, whatever statements it has. TargetError (LR4001) at the first that
        fails."""
        self._do(lambda: self.connection.execute(path.read_text(encoding="utf-8")))

    def plain(self, text: str) -> None:
        """Run statements that have no reason to fail but the connection or the end of a
        transaction."""
        failure = self.run(f"{text};".encode()).failure
        if failure is not None:
            raise TargetError("LR4001", f"{text}: {failure}")

    def copy(self, statement: str, text: bytes) -> StatementCounts:
        """Run a statement that reads rows from the client inside the transaction, and send it
        ``text`` (:attr:`sqlgen.render.staged_merge.Load.text`); one count, the rows it read."""
        raise TargetError("LR4001", f"{self.title} reads no rows from a client's stream")

    def execute(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Run one statement with ``%s`` for values and ``%%`` for a percent sign; the rows it
        touched."""
        return self._do(lambda: self.touched(self.ask(self.marked(statement, values), values)))

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of one query with ``%s`` for values, as the driver has their types."""
        return self._do(lambda: list(self.ask(self.marked(statement, values), values).fetchall()))

    def catalog_rows(self, text: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query of this class, with the values that it takes."""
        return self.query(text.replace("{schema}", self.place), values if "%s" in text else ())

    def marked(self, statement: str, values: Sequence[Any]) -> str:
        """A statement as the driver takes it: without values, it reads no marks."""
        if self.MARK != "%s":
            return re.sub("%[s%]", lambda mark: self.MARK if mark[0] == "%s" else "%", statement)
        return statement if values else statement.replace("%%", "%")

    def _do(self, action: Callable[[], T]) -> T:
        """Do what may come upon an error of the driver."""
        try:
            return action()
        except self.errors() as error:
            raise TargetError("LR4001", str(self.failure(error))) from error

    def failure(self, error: Exception) -> StatementFailure:
        """What a statement failed of; raises what is not the statement's fault."""
        return self.failed(*self.said(error), error)

    def failed(self, code: str, message: str, error: Exception | None = None) -> StatementFailure:
        """The same of a code and a message."""
        if self.is_lost(error or Exception(), code):
            with suppress(*self.errors()):
                self.connection.close()
            raise ConnectionLost(
                "LR4003",
                f"the connection to {self.name} was lost: {message or type(error).__name__}",
                hint=LOST,
            ) from error
        if code.startswith(self.TRANSIENT):
            raise Transient("LR4001", str(StatementFailure(Condition.OTHER, code, message)))
        return StatementFailure(self.condition(code), code, message)

    def condition(self, code: str) -> Condition:
        """What a code means."""
        other = Condition.SERVER if code.startswith(self.SERVER) else Condition.OTHER
        return self.CONDITIONS.get(code, other)

    def interrupt(self) -> None:
        """End what is under way in the session, if anything is: it fails for whoever waits for it,
        which may be another thread; who waits in this process hears of it already. Raises
        nothing."""

    def close(self) -> None:
        """End the connection, and with it a transaction and the lock; may be called again."""
        with suppress(*self.errors()):
            self.connection.close()

    # -- tables
    # ---------------------------------------------------------------------------------------------

    def quoted(self, *names: str) -> str:
        """A name, in quotes, with the names of what it is in."""
        mark = self.QUOTE
        return ".".join(mark + name.replace(mark, 2 * mark) + mark for name in names)

    def quoted_list(self, names: Iterable[str]) -> str:
        """Names in quotes, with commas in between."""
        return ", ".join(map(self.quoted, names))

    def version(self) -> str:
        """The database's name and version."""
        return f"{self.title} {self.query(self.VERSION)[0][0]}"

    def sequences(self, schema: str, table: str) -> list[str]:
        """The sequences that :meth:`move_sequences` may move, as ``NAME (COLUMN)``; none where they
        follow the rows by themselves, or cannot be set."""
        return []

    def move_sequences(self, schema: str, table: str) -> dict[str, int]:
        """Move the sequences behind a table's columns to the last value that they could have given
        (the lowest one where they count down), never back; those that were moved, and to where."""
        return {}

    def make_schema(self, schema: str) -> None:
        """Make a schema where it is not there."""
        self.execute(f"CREATE SCHEMA IF NOT EXISTS {self.quoted(schema)}")

    def otherwise_called(self, schema: str) -> str:
        """How to say that the database is this schema, where its URL says that it is another one;
        '' where a URL says nothing of the kind."""
        return ""

    def columns(self, schema: str, table: str) -> list[tuple[str, str, str]]:
        """(name, type in full, what is behind it in DDL) of a table's columns in order; none where
        there is no such table."""
        rows = self.catalog_rows(self.COLUMNS, (schema, table))
        return [(str(name), str(kind), str(rest)) for name, kind, rest, *_ in rows]

    def unique_keys(self, schema: str, table: str) -> Sequence[tuple[str, ...]]:
        """The unique keys of a table over whole columns."""
        facts = self.facts(schema, table)
        return () if facts is None else facts.unique_keys

    def references(self, schema: str, table: str) -> list[Reference]:
        """The foreign keys of a table."""
        return []

    def definition(self, schema: str, table: str) -> list[str]:
        """Statements (without ``;``) that make a table like this one, with its keys and without
        triggers, foreign keys and computed columns' rules."""
        parts = [
            f"{self.quoted(name)} {kind} {rest}".rstrip()
            for name, kind, rest in self.columns(schema, table)
        ]
        parts += [f"UNIQUE ({self.quoted_list(key)})" for key in self.unique_keys(schema, table)]
        return [f"CREATE TABLE {self.quoted(schema, table)} ({', '.join(parts)}){self.TABLE_END}"]

    def count(self, schema: str, table: str) -> int:
        """Number of rows."""
        return int(self.query(f"SELECT count(*) FROM {self.quoted(schema, table)}")[0][0])

    def tables(self) -> list[tuple[str, str]]:
        """(schema, name) of the tables of users, without ours."""
        return [(str(schema), str(name)) for schema, name in self.catalog_rows(self.TABLES)]

    def tables_of(self, schema: str) -> list[str]:
        """The names of a schema's tables, without ours; none where there is no such schema."""
        return [name for home, name in self.tables() if home == schema]

    def keys(self, names: Sequence[str]) -> str:
        """DDL (ALTER TABLE ... ADD CONSTRAINT as PostgreSQL writes it, one a line) of the unique
        and foreign keys of tables with these names, in any schema and case, and the foreign keys of
        others to them."""
        known = {name.lower() for name in names}
        lines = []
        for schema, table in self.tables():
            own = table.lower() in known
            texts = [f"UNIQUE ({_listed(key)})" for key in self.unique_keys(schema, table) if own]
            for key in self.references(schema, table):
                if not (own or key.parent[1].lower() in known):
                    continue
                referred = f" ({_listed(key.parent_columns)})" if all(key.parent_columns) else ""
                texts.append(
                    f"FOREIGN KEY ({_listed(key.columns)}) REFERENCES"
                    f" {standard_name(*key.parent)}{referred} ON DELETE {key.on_delete}"
                    f" ON UPDATE {key.on_update}{' DEFERRABLE' * key.waits}"
                )
            lines += [
                f"ALTER TABLE {standard_name(schema, table)} ADD CONSTRAINT k{n} {text};"
                for n, text in enumerate(texts)
            ]
        return "\n".join(lines)

    # -- rows
    # ---------------------------------------------------------------------------------------------

    def text_of(self, name: str, kind: str) -> str:
        """The expression of a column, as text that is equal where the values are, or as what
        :meth:`shown` makes of it."""
        return self.quoted(name)

    def shown(self, values: Sequence[Any], decimal: bool) -> Sequence[str | None]:
        """The values of such an expression as text."""
        return values

    def texts(
        self, schema: str, table: str, columns: Sequence[str], decimals: Collection[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        """The rows in batches, in no order: values as text with all their digits, as the database
        holds them (blanks at the end too), bytes as ``\\x`` and hexadecimal digits, null for
        NULL. ``decimals``: the columns of decimals, of which a target that holds them as doubles
        keeps 15 digits. Nothing else may be asked of the session until all are read."""
        import pyarrow as pa

        statement = f"SELECT {self.all_texts(schema, table, columns)}"
        cursor = self._do(lambda: self.stream(f"{statement} FROM {self.quoted(schema, table)}"))
        try:
            while held := self._do(lambda: cursor.fetchmany(_BATCH_ROWS)):
                arrays = [
                    pa.array(self.shown(values, name in decimals), pa.string())
                    for name, values in zip(columns, zip(*held, strict=True), strict=True)
                ]
                yield pa.RecordBatch.from_arrays(arrays, list(columns))
        finally:
            with suppress(*self.errors()):
                cursor.close()

    def stream(self, statement: str) -> Any:
        """The driver's cursor of a query whose rows are fetched a part at a time."""
        return self.connection.execute(statement)

    def all_texts(self, schema: str, table: str, columns: Sequence[str]) -> str:
        """The expressions of columns."""
        kinds = {name: kind for name, kind, _ in self.columns(schema, table)}
        return ", ".join(self.text_of(name, kinds[name]) for name in columns)

    def load(
        self,
        into: str,
        schema: str,
        table: str,
        path: Path,
        form: CsvForm | None = None,
        types: Mapping[str, SqlType] | None = None,
    ) -> int:
        """Put the rows of a state's file into a table that is spelled ``into`` and has columns of
        ``table``; the number of rows. ``types``: those of columns that the log knows. TargetError
        (LR4002) when the table does not exist."""
        # who looks at a command's help does not wait for what these import
        from replay.csv_states.state_csv import StateCsv
        from replay.csv_states.state_values import family_of
        from sqlgen.schema import Column

        kinds = {name: kind for name, kind, _ in self.columns(schema, table)}
        where = Where(table=f"{schema}.{table}")
        if not kinds:
            raise TargetError("LR4002", "the database lacks what the state has: the table", where)
        columns = [
            Column(name, (types or {}).get(name) or family_of(kind, self.dialect))
            for name, kind in kinds.items()
        ]
        file = StateCsv(path, f"{schema}.{table}", columns, form, partial=True, logged=False)
        wanted = {column.name: kinds[column.name] for column in file.columns}
        try:
            return self._do(lambda: self.put(into, wanted, file.batches()))
        except (ConnectionLost, Transient):
            raise
        except TargetError as error:
            raise TargetError(error.code, error.message, where, error.hint) from error

    def put(self, into: str, kinds: Mapping[str, str], rows: Iterable[pa.RecordBatch]) -> int:
        """Insert the rows of a state's file, whose columns have these types."""
        marks = ", ".join([self.MARK] * len(kinds))
        statement = f"INSERT INTO {into} ({self.quoted_list(kinds)}) VALUES ({marks})"
        count = 0
        for batch in rows:
            values = [
                self.bound(column.to_pylist(), kind)
                for column, kind in zip(batch.columns, kinds.values(), strict=True)
            ]
            self.connection.cursor().executemany(statement, list(zip(*values, strict=True)))
            count += batch.num_rows
        return count

    def bound(self, texts: list[str | None], kind: str) -> Sequence[Any]:
        """Texts of a state as the driver takes them for a column of a type."""
        return texts

    def load_state(
        self,
        schema: str,
        tables: Mapping[str, Path],
        form: CsvForm | None = None,
        types: Mapping[str, Mapping[str, SqlType]] | None = None,
    ) -> int:
        """Put the rows of a state's files into existing, empty tables, foreign keys unchecked; the
        number of rows. ``types``: by table, those of columns that the log knows."""
        self.unchecked(schema, tables)
        self.begin()
        known = types or {}
        rows = [
            self.load(self.quoted(schema, table), schema, table, path, form, known.get(table))
            for table, path in tables.items()
        ]
        self.commit()
        return sum(rows)

    def unchecked(self, schema: str, tables: Iterable[str]) -> None:
        """Have foreign keys of tables not checked, and their triggers not act."""
        self.enforce(False)


def _listed(names: Iterable[str]) -> str:
    """Names as PostgreSQL quotes them."""
    return ", ".join(map(standard_name, names))
