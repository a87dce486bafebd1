"""Targets: databases that scripts are run on, changes are replayed into, and whose states are compared. One module each, found by name.

A target is a module or an object (of this package, or in the entry-point group ``logreplay.targets``) with the functions of :class:`Target`. Drivers
are imported inside functions, so that writing scripts needs none of them. What its ``connect`` gives is a :class:`Session`, which can be replayed into:
it runs text and counts rows, and knows nothing of logs, positions or what to do about a problem.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Protocol, cast
from urllib.parse import urlsplit

from replay.errors import TargetError, UsageError

#: Conditions that a statement can end in; ``--on`` names them.
NO_ROW, SEVERAL_ROWS, DUPLICATE_KEY, FOREIGN_KEY, OTHER = "no-row", "several-rows", "duplicate-key", "foreign-key", "other"


class ConnectionLost(TargetError):
    """The connection broke, and whether what was under way was committed is not known; or it cannot be made."""


class Transient(TargetError):
    """The database undid a transaction for reasons that pass: a deadlock, a serialization failure."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a statement failed: one of the conditions above, with the database's code and words."""

    condition: str
    sqlstate: str
    message: str

    def __str__(self) -> str:
        standard = len(self.sqlstate) == 5 and self.sqlstate.isalnum()
        return f"{'SQLSTATE ' if standard else ''}{self.sqlstate}: {self.message}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a text of statements: rows touched by each one in turn (-1 where the database does not say), up to the first that failed."""

    counts: list[int]
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What a replay must know about a table of the target: its columns in order, those the database computes (``generated``) or insists on
    numbering (``identity``), unique keys, triggers that would fire, foreign keys whose action would change further rows (``cascades``),
    privileges that are missing, the columns' types without length and precision, and why the table as it is cannot be replayed into (``unfit``)."""

    columns: tuple[str, ...]
    generated: tuple[str, ...] = ()
    identity: tuple[str, ...] = ()
    unique_keys: tuple[tuple[str, ...], ...] = ()
    triggers: tuple[str, ...] = ()
    cascades: tuple[str, ...] = ()
    missing_privileges: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """A table whose rows are not the expected ones: how many rows are there too many and too few, with an example of each."""

    table: str
    unexpected: int
    missing: int
    unexpected_example: str | None = None
    missing_example: str | None = None

    def __str__(self) -> str:
        parts = [f"{self.table}: {self.unexpected:,} rows not expected, {self.missing:,} expected rows missing"]
        if self.unexpected_example is not None:
            parts.append(f"  found    {self.unexpected_example}")
        if self.missing_example is not None:
            parts.append(f"  expected {self.missing_example}")
        return "\n".join(parts)


class Session(Protocol):
    """One connection to a target. Every method raises :class:`ConnectionLost` when it breaks, :class:`Transient` for a deadlock or serialization
    failure, and TargetError (LR4001) for anything else the database refuses; only :meth:`run` reports instead of raising."""

    dialect: str
    #: The statement that drops our tables.
    forget: str
    #: What our tables' types ``text`` (of any length) and ``timestamp`` are called, where not so.
    types: Mapping[str, str]
    #: Whether :meth:`savepoint` works; else it is never called.
    savepoints: bool
    #: Whether :meth:`prepare` works; else it is never called.
    prepares: bool
    #: Whether :meth:`copy` works and the dialect is one of :mod:`sqlgen.merging`; else it is never called.
    merges: bool
    #: Whether several sessions can write at once.
    parallel: bool
    #: Whether statements that change tables' structure are part of a transaction, and are undone with it.
    alters: bool

    def own(self, table: str) -> str:
        """How a table of ours is spelled (in a schema, or with a prefix)."""

    def make_home(self) -> None:
        """Make the place for our tables, if it is not there."""

    def has_home(self) -> bool:
        """Whether our tables are there."""

    def lock(self) -> bool:
        """Take the one lock of all replays into this database, until the connection ends; whether that worked."""

    def enforce(self, on: bool) -> None:
        """Whether triggers and foreign keys act on what this session does (they do unless told)."""

    def begin(self) -> None:
        """Begin a transaction; constraints that can wait are checked by :meth:`settle`."""

    def durable(self) -> None:
        """Have this transaction's commit survive a crash of the server even where the server is set not to wait for its disk."""

    def settle(self) -> Failure | None:
        """Check what was left waiting."""

    def commit(self) -> None:
        """Commit. After ConnectionLost nobody knows whether that happened; the position row does."""

    def rollback(self) -> None:
        """Undo the transaction; nothing happens where there is none."""

    def savepoint(self) -> None:
        """Begin a part of the transaction; the part before it can no longer be undone alone."""

    def back_to_savepoint(self) -> None:
        """Undo what came after :meth:`savepoint`."""

    def prepare(self, shapes: Mapping[str, str]) -> None:
        """Make statements (by name, ``$1 …`` for values) known that texts then ``EXECUTE``, outside a transaction; those known stay known."""

    def run(self, text: bytes) -> Outcome:
        """Run statements, each ending in ``;``, inside the transaction, stopping at the first that fails."""

    def copy(self, statement: str, text: bytes) -> Outcome:
        """Run a statement that reads rows from the client, inside the transaction; the rows it read."""

    def execute(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Run one statement with ``%s`` for values; the rows it touched."""

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of one query with ``%s`` for values."""

    def facts(self, schema: str, table: str) -> TableFacts | None:
        """What :class:`TableFacts` says, None when there is no such table."""

    def move_sequences(self, schema: str, table: str) -> list[str]:
        """Move the sequences behind a table's columns to beyond their highest value, never back; what was moved."""

    def version(self) -> str:
        """The database's name and version."""

    def snapshot(self) -> None:
        """Begin a transaction that only reads, and sees all tables at one moment; :meth:`rollback` ends it."""

    def make_schema(self, schema: str) -> None:
        """Make a schema where it is not there."""

    def definition(self, schema: str, table: str) -> list[str]:
        """Statements that make a table like this one, with its keys and without triggers, foreign keys and computed columns' rules."""

    def count(self, schema: str, table: str) -> int:
        """Number of rows."""

    def hashes(self, schema: str, table: str, columns: Sequence[str], key: Sequence[str], buckets: int) -> dict[int, tuple[int, str]]:
        """Rows and their hash, whatever their order, of each of the buckets that ``key`` divides the rows into."""

    def bucket(
        self, schema: str, table: str, columns: Sequence[str], key: Sequence[str], bucket: int, buckets: int
    ) -> list[tuple[Any, ...]]:
        """The rows of one bucket, values as text as they are hashed."""

    def close(self) -> None:
        """End the connection."""


class Target(Protocol):
    """What a target module offers. ``url`` names one database; a state is a folder of ``<table>.csv`` or ``<table>.csv.gz``. ``dialect`` is the SQL
    that it understands."""

    dialect: str

    def connect(self, url: str) -> Session:
        """Open a session; TargetError (LR4003) when the database cannot be reached, ConnectionLost where that may pass. No message shows a password."""

    def shown(self, url: str) -> str:
        """The URL without what must not be shown."""

    def scratch(self, url: str | None) -> AbstractContextManager[str]:
        """The URL of an empty database of the same kind, gone afterwards; ``url`` is a server to make it on. Raises UsageError (LR1001) where one is
        needed and not given, or the other way round."""

    def state_tables(self, folder: Path) -> dict[str, Path]:
        """The files of a state by table; InputError (LR2001) when there are none."""

    def keys(self, url: str, tables: Sequence[str]) -> str:
        """DDL (ALTER TABLE ... ADD CONSTRAINT as PostgreSQL writes it) of the unique and foreign keys of tables with these names, in any schema and
        case. TargetError (LR4003) when the server cannot be reached."""

    def run_scripts(self, url: str, scripts: Iterable[Path]) -> None:
        """Run scripts in the given order with the database's own client; stop at the first error (TargetError)."""

    def load_state(self, url: str, schema: str, folder: Path) -> int:
        """Put the rows of a state into existing tables; the number of rows."""

    def compare_states(self, url: str, schema: str, folder: Path, overlay: Path | None = None) -> list[Difference]:
        """Compare tables with a state, by type and counting duplicates. Tables of ``overlay`` replace those of ``folder``."""


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
    found = {point.name: point for point in entry_points(group=_GROUP)}
    found |= {built_in: EntryPoint(built_in, place, _GROUP) for built_in, place in BUILT_IN.items()}
    if name in found:
        return cast(Target, found[name].load())
    raise UsageError("LR1001", f"found target {name!r}; expected one of: {', '.join(sorted(found))}")


def target_of(url: str) -> Target:
    """The target for a URL, by its scheme; UsageError (LR1001) for one that no installed target knows."""
    scheme = urlsplit(url).scheme
    if not scheme:
        raise UsageError("LR1001", "found a target without a scheme; expected a URL such as postgresql://user@host/database")
    return target_named(_SCHEMES.get(scheme, scheme))
