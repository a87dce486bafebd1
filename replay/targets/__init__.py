"""Targets: databases that scripts are run on, changes are replayed into, and whose states are
compared. One module each, found by name.

A target is a module or an object (of this package, or in the entry-point group
``logreplay.targets``) with the functions of :class:`Target`. Drivers are imported inside functions,
so that writing scripts needs none of them. What its ``connect`` gives is a :class:`Session`, which
can be replayed into: it runs text and counts rows, and knows nothing of logs, positions or what to
do about a problem.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from replay.errors import TargetError, UsageError
from replay.public import is_readable
from replay.targets.hazards import Hazard

if TYPE_CHECKING:
    import pyarrow as pa

    from sqlgen.holding import Holding


class Condition(StrEnum):
    """What a statement can end in other than in one row; ``--on`` names all but ``SERVER``, where
    the reason is the database's (no room, no memory, a statement that somebody cancelled, damaged
    files) and would end any statement."""

    NO_ROW = "no-row"
    SEVERAL_ROWS = "several-rows"
    DUPLICATE_KEY = "duplicate-key"
    FOREIGN_KEY = "foreign-key"
    OTHER = "other"
    SERVER = "server"


class ConnectionLost(TargetError):
    """The connection broke, and whether what was under way was committed is not known; or it cannot
    be made."""


#: What to do where a connection broke.
LOST = "Run the same command again when it answers: what was committed counts, and it goes on there"


class Transient(TargetError):
    """The database undid a transaction for reasons that pass: a deadlock, a serialization
    failure."""


@dataclass(frozen=True, slots=True)
class StatementFailure:
    """Why a statement failed: the condition, with the database's code and words."""

    condition: Condition
    sqlstate: str
    message: str

    def __str__(self) -> str:
        standard = len(self.sqlstate) == 5 and self.sqlstate.isalnum()
        return f"{'SQLSTATE ' if standard else ''}{self.sqlstate}: {self.message}"


class CommitRefused(TargetError):
    """The commit came upon a constraint that waited for it, and that does not hold; the transaction
    is still there."""

    def __init__(self, failure: StatementFailure) -> None:
        super().__init__("LR4001", str(failure))
        self.failure = failure


@dataclass(frozen=True, slots=True)
class StatementCounts:
    """What became of a text of statements: rows touched by each one in turn (-1 where the database
    does not say), up to the first that failed."""

    counts: list[int]
    failure: StatementFailure | None = None


@dataclass(frozen=True, slots=True)
class TargetForeignKey:
    """A foreign key of a target: (schema, table) and columns of the child and of the parent."""

    child: tuple[str, str]
    columns: tuple[str, ...]
    parent: tuple[str, str]
    parent_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What a replay must know about a table of the target: its columns in order, those the database
    computes (``generated``) or insists on numbering (``identity``), unique keys, privileges that
    are missing, the columns' types without length and precision, what each column holds
    (``holdings``), what the table does by itself or cannot do, and its foreign keys, as a child or
    as a parent. ``movable``: nothing but these keys can tell in which order rows were changed.
    ``calls``: functions of somebody's are called for its rows, which may look at other tables.
    """

    columns: tuple[str, ...]
    generated: tuple[str, ...] = ()
    identity: tuple[str, ...] = ()
    unique_keys: tuple[tuple[str, ...], ...] = ()
    missing_privileges: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    holdings: tuple[Holding, ...] = ()
    hazards: tuple[Hazard, ...] = ()
    foreign_keys: tuple[TargetForeignKey, ...] = ()
    movable: bool = False
    calls: bool = False


@dataclass(frozen=True, slots=True)
class OwnTable:
    """A table of ours: columns as (name, type in the words of the standard, whether it is NOT
    NULL), and the primary key."""

    columns: tuple[tuple[str, str, bool], ...]
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """A table whose rows are not the expected ones: how many rows are there too many and too few,
    with an example of each."""

    table: str
    unexpected: int
    missing: int
    unexpected_example: str | None = None
    missing_example: str | None = None

    def __str__(self) -> str:
        parts = [
            f"{self.table}: {self.unexpected:,} rows not expected, {self.missing:,} expected rows"
            " missing"
        ]
        if self.unexpected_example is not None:
            parts.append(f"  found    {self.unexpected_example}")
        if self.missing_example is not None:
            parts.append(f"  expected {self.missing_example}")
        return "\n".join(parts)


class Session(Protocol):
    """One connection to a target, used by one thread at a time.

    Every method raises :class:`ConnectionLost` (LR4003) when the connection breaks,
    :class:`Transient` (LR4001) for a deadlock or serialization failure, and TargetError (LR4001)
    for anything else that the database refuses; only :meth:`settle`, :meth:`run` and :meth:`copy`
    report a refusal instead of raising it. Names of schemas, tables and columns are those of the
    target's catalog, unquoted.
    """

    #: The SQL that it understands, a profile of :mod:`sqlgen.dialects`.
    dialect: str
    #: The statement that drops our tables, for a hint.
    forget: str
    #: The statement that makes the place for our tables (a schema); empty where they need none.
    home: str
    #: What our tables' types ``text`` (of any length) and ``timestamp`` are called, where not so.
    types: Mapping[str, str]
    #: Whether :meth:`savepoint` works; else it is never called.
    savepoints: bool
    #: Whether :meth:`prepare` works; else it is never called.
    prepares: bool
    #: Whether :meth:`copy` works and the dialect is one of :mod:`sqlgen.staged_merge`; else it is
    #: never called.
    merges: bool
    #: Whether tables are seen by users without rights on them.
    shows_all: bool
    #: Whether statements that change tables' structure are part of a transaction, and are undone
    #: with it.
    alters: bool

    def own(self, table: str) -> str:
        """How our table of this name is spelled in a statement, quoted where need be: in a schema
        ``logreplay``, or with that prefix. Asks the database nothing."""

    def has_place(self) -> bool:
        """Whether the place for our tables is there."""

    def own_tables(self) -> frozenset[str]:
        """The names under which we keep tables that are taken, by whatever."""

    def strange_tables(self, tables: Mapping[str, OwnTable], writes: bool) -> list[str]:
        """Why what stands under our names is not what we make of ``tables``: other columns, views,
        triggers, rules, defaults, indexes that compute; with ``writes``, also an owner who could
        have them act."""

    def read_only(self) -> str:
        """Why nothing can be written here; empty where something can."""

    def missing_rights(self, schema: str, table: str, empties: bool) -> list[str]:
        """Rights that changes of a table need and this user lacks, beside those of its facts;
        ``empties``: it will also be emptied as a whole. None where there is no such table."""

    def missing_for_own(self, tables: Mapping[str, OwnTable]) -> list[str]:
        """Rights that our tables need and this user lacks: to make those that are not there, and to
        change all."""

    def grants(self, role: str, tables: Iterable[str]) -> list[str]:
        """Statements (without ``;``) that give ``role`` the rights on our tables that a replay
        needs. UsageError (LR1001) where the target has no roles."""

    def alike(self, table: str) -> list[tuple[str, str]]:
        """(schema, name) of what has this name in any schema and case."""

    def lock(self) -> bool:
        """Take the one lock of all replays into this database, without waiting and until the
        connection ends; whether that worked."""

    def enforce(self, on: bool) -> None:
        """Set whether triggers and foreign keys act on what this session does (they do unless
        set), outside a transaction. TargetError (LR4001) where the database or the user's rights do
        not allow it."""

    def begin(self) -> None:
        """Begin a transaction; constraints that can wait are checked by :meth:`settle`."""

    def durable(self) -> None:
        """Have this transaction's commit survive a crash of the server even where the server is set
        not to wait for its disk."""

    def settle(self) -> StatementFailure | None:
        """Check the constraints that were left waiting; the first that does not hold."""

    def commit(self) -> None:
        """Commit. After ConnectionLost nobody knows whether that happened; the position row does.
        Raises :class:`CommitRefused` where a constraint that waited does not hold."""

    def rollback(self) -> None:
        """Undo the transaction; nothing happens where there is none."""

    def savepoint(self) -> None:
        """Begin a part of the transaction; the part before it can no longer be undone alone."""

    def back_to_savepoint(self) -> None:
        """Undo what came after :meth:`savepoint`."""

    def prepare(self, shapes: Mapping[str, str]) -> None:
        """Prepare statements (name -> text with ``$1 …`` for values) that texts then ``EXECUTE``,
        outside a transaction; those of earlier calls may be forgotten."""

    def run(self, text: bytes) -> StatementCounts:
        """Run statements (UTF-8, each on a line of its own, ending in ``;``; comment lines begin
        with ``--``) inside the transaction, stopping at the first that fails; as many counts as
        statements that did not. After a failure the transaction, or the part since
        :meth:`savepoint`, can only be undone."""

    def copy(self, statement: str, text: bytes) -> StatementCounts:
        """Run a statement that reads rows from the client inside the transaction, and send it
        ``text`` (:attr:`sqlgen.staged_merge.Load.text`); one count, the rows it read."""

    def execute(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Run one statement with ``%s`` for values and ``%%`` for a percent sign; the rows it
        touched."""

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of one query with ``%s`` for values, as the driver has their types."""

    def facts(self, schema: str, table: str) -> TableFacts | None:
        """What :class:`TableFacts` says, None when there is no such table."""

    def sequences(self, schema: str, table: str) -> list[str]:
        """The sequences that :meth:`move_sequences` may move, as ``NAME (COLUMN)``."""

    def move_sequences(self, schema: str, table: str) -> dict[str, int]:
        """Move the sequences behind a table's columns to the last value that they could have given
        (the lowest one where they count down), never back; those that were moved, and to where."""

    def version(self) -> str:
        """The database's name and version."""

    def snapshot(self) -> None:
        """Begin a transaction that only reads, and sees all tables at one moment; :meth:`rollback`
        ends it."""

    def make_schema(self, schema: str) -> None:
        """Make a schema where it is not there."""

    def definition(self, schema: str, table: str) -> list[str]:
        """Statements (without ``;``) that make a table like this one, with its keys and without
        triggers, foreign keys and computed columns' rules."""

    def count(self, schema: str, table: str) -> int:
        """Number of rows."""

    def tables_of(self, schema: str) -> list[str]:
        """The names of a schema's tables, without ours; none where there is no such schema."""

    def texts(
        self, schema: str, table: str, columns: Sequence[str], decimals: Collection[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        """The rows in batches, in no order: values as text with all their digits, as the database
        holds them (blanks at the end too), bytes as ``\\x`` and hexadecimal digits, null for
        NULL. ``decimals``: the columns of decimals, of which a target that holds them as doubles
        keeps 15 digits. Nothing else may be asked of the session until all are read."""

    def interrupt(self) -> None:
        """End what is under way in the session, if anything is: it fails for whoever waits for it,
        which may be another thread. Raises nothing."""

    def close(self) -> None:
        """End the connection, and with it a transaction and the lock; may be called again."""


@contextmanager
def undone_where_it_fails(session: Session) -> Iterator[None]:
    """Undo the transaction of a session where what is done in it ends in an error. Somebody who
    interrupts comes amid an answer: nothing can be asked of the session then (the error of that
    would hide the interruption, and be tried again), and its end undoes the transaction."""
    try:
        yield
    except ConnectionLost:
        raise
    except Exception:
        session.rollback()
        raise
    except BaseException:
        session.interrupt()
        session.close()
        raise


class Target(Protocol):
    """What a target module offers.

    ``url`` names one database. A state is a folder of ``<table>.csv`` or ``<table>.csv.gz``: a
    header with column names, rows in CSV form, ``\\N`` for NULL. Every function that connects
    raises TargetError: LR4003 when the database cannot be reached (ConnectionLost where that may
    pass), LR4001 when it refuses a statement. No message holds a password.
    """

    #: The SQL that it understands, a profile of :mod:`sqlgen.dialects`.
    dialect: str

    def connect(self, url: str) -> Session:
        """Open a session, with the settings that scripts set."""

    def make(self, url: str) -> Path | None:
        """Make the database that ``url`` names, where databases are files, there is none of that
        name and its folder is there; the file, or None where nothing was made."""

    def scratch(self, url: str | None) -> AbstractContextManager[str]:
        """The URL of an empty database of the same kind, gone afterwards; ``url`` is a server to
        make it on. Raises UsageError (LR1001) where one is needed and not given, or the other way
        round."""

    def state_tables(self, folder: Path) -> dict[str, Path]:
        """Table name -> file of a state; InputError (LR2001) when there are none."""

    def keys(self, url: str, tables: Sequence[str]) -> str:
        """DDL (ALTER TABLE ... ADD CONSTRAINT as PostgreSQL writes it, one a line) of the unique
        and foreign keys of tables with these names, in any schema and case."""

    def run_scripts(self, url: str, scripts: Iterable[Path]) -> None:
        """Run scripts in the given order with the database's own client; TargetError (LR4001) with
        the script's name at the first error."""

    def load_state(self, url: str, schema: str, folder: Path) -> int:
        """Put the rows of a state into existing, empty tables of ``schema``, foreign keys
        unchecked; the number of rows."""

    def compare_states(
        self, url: str, schema: str, folder: Path, overlay: Path | None = None
    ) -> list[Difference]:
        """The tables of ``schema`` whose rows are not those of the state, compared by the columns'
        types and counting duplicates; none when all are equal. Tables of ``overlay`` replace those
        of ``folder``. TargetError (LR4002) when a table or column of the state does not exist."""


#: Targets of this package, by name; others are entry points of this group.
_GROUP = "logreplay.targets"
BUILT_IN = {
    "postgres": "replay.targets.postgres",
    "duckdb": "replay.targets.duckdb",
    "sqlite": "replay.targets.sqlite",
    "mariadb": "replay.targets.mysql:MARIADB",
    "mysql": "replay.targets.mysql:MYSQL",
}
#: URL scheme -> target, where they differ.
_SCHEMES = {"postgresql": "postgres"}


def target_named(name: str) -> Target:
    """The target of this name; UsageError (LR1001) when there is none."""
    from importlib.metadata import EntryPoint, entry_points

    if name in BUILT_IN:
        return cast(Target, EntryPoint(name, BUILT_IN[name], _GROUP).load())
    points = {point.name: point for point in entry_points(group=_GROUP)}
    if name in points:
        return cast(Target, points[name].load())
    known = ", ".join(sorted({*BUILT_IN, *points}))
    raise UsageError("LR1001", f"found target {name!r}; expected one of: {known}")


def target_of(url: str) -> Target:
    """The target for a URL, by its scheme; UsageError (LR1001) for one that no installed target
    knows."""
    scheme = url.partition(":")[0] if ":" in url.partition("/")[0] else ""
    if not scheme:
        raise UsageError(
            "LR1001",
            "found a target without a scheme; expected a URL such as"
            " postgresql://user@host/database",
        )
    if not is_readable(url):
        raise UsageError(
            "LR1001",
            "found a URL that cannot be read; expected user, password, host and port each as URLs"
            " write them",
            hint="In a user or password write / as %2F, ? as %3F, # as %23, @ as %40, [ as %5B and"
            " ] as %5D; or leave the password to the environment",
        )
    return target_named(_SCHEMES.get(scheme, scheme))
