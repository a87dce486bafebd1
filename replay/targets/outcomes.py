"""What a session on a target says: how statements end, and what tables are like."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from replay.errors import TargetError
from replay.targets.hazards import Hazard, HazardKind

if TYPE_CHECKING:
    from sqlgen.type_capacity import Holding

#: What a foreign key does by itself, of what it may say.
_ACTIONS = ("CASCADE", "SET NULL", "SET DEFAULT")


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


class Reference(NamedTuple):
    """A foreign key of a table, as databases list it: the parent and the columns, what it does, and
    whether it waits for the end of a transaction. Parent columns of None are those of its key."""

    parent: tuple[str, str]
    columns: list[str]
    parent_columns: list[str]
    on_delete: str = "NO ACTION"
    on_update: str = "NO ACTION"
    waits: bool = False

    @property
    def acts(self) -> list[str]:
        """What it does by itself."""
        rules = {"ON DELETE": self.on_delete, "ON UPDATE": self.on_update}
        return [f"{when} {rule}" for when, rule in rules.items() if rule in _ACTIONS]

    def described(self, child: str) -> str:
        """The key of a child, with what it does by itself."""
        return f"{child} ({', '.join(self.columns)}) to {self.parent[1]} ({', '.join(self.acts)})"


def standard_name(*names: str) -> str:
    """A name in quotes, with the names of what it is in."""
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def comparisons(
    query: Callable[..., list[tuple[Any, ...]]],
    table: str,
    columns: Sequence[str],
    like_a: Mapping[str, str],
) -> Iterator[Hazard]:
    """Columns of a table (as it is spelled) whose collation takes one of other texts for 'a'. It
    shows in a text that is put in the column's place, so that the table is not touched."""
    if not columns:
        return
    names = [standard_name(column) for column in columns]
    texts = ", ".join("'a'" for _ in columns)
    rows = f"SELECT {', '.join(names)} FROM {table} WHERE 1 = 0 UNION ALL SELECT {texts}"
    for text, what in like_a.items():
        equal = ", ".join(f"{name} = '{text}'" for name in names)
        row = query(f"SELECT {equal} FROM ({rows})")[0]
        for column, same in zip(columns, row, strict=True):
            if same:
                yield Hazard(HazardKind.COMPARISON, what, column)
