"""What a user is told about a request: warnings that its result carries, and notes beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from replay.changes.catalog import TableVersion
from replay.changes.choices import Derived, Mode
from replay.changes.selection import Selection
from replay.errors import counted, some_of
from replay.logs import LogFile
from replay.pipeline.script_client import unchecked_notes
from sqlgen.constraints import Constraints

if TYPE_CHECKING:
    from replay.pipeline.request import Demand, Request

#: What a user must know of dependencies where nobody told of foreign keys.
NO_FOREIGN_KEYS = (
    "no foreign keys are known, so rows that refer to others count as independent, and a DELETE may"
    " cascade in the database to rows that are not in the log: name the tables' DDL or database"
    " (--schema), or say that there are none (--schema none)"
)

#: How many statements that are not understood are named.
_UNREAD = 20


def no_foreign_keys(
    demand: Demand, selection: Selection, constraints: Constraints
) -> tuple[str, ...]:
    """What a user must know who asks what builds on what where nobody told of foreign keys.

    That is each undo, of a whole log too: rows that are not in the log may refer to one that it
    inserted. A replay asks its target, and a round trip compares what comes out (``continued``)."""
    asked = _asks_what_builds(demand, selection)
    return () if constraints.tell_foreign_keys or not asked else (NO_FOREIGN_KEYS,)


def none_stated(demand: Demand, selection: Selection, constraints: Constraints) -> list[str]:
    """A note for who asks so, of a file of DDL that has no foreign key: it may be half of it."""
    none = not (constraints.foreign_keys or constraints.outside or constraints.unread)
    if not (none and constraints.complete and _asks_what_builds(demand, selection)):
        return []
    return [
        "the schema (--schema) states no foreign key, so rows that refer to others count as"
        " independent: are foreign keys in another file?"
    ]


def _asks_what_builds(demand: Demand, selection: Selection) -> bool:
    undo = demand.mode is Mode.UNDO and not (demand.structure or demand.continued)
    return undo or demand.dependencies or selection.excepted is not None


def strange_schema(constraints: Constraints, log: LogFile) -> tuple[str, ...]:
    """A warning of a schema that is not about any table of the log: that of another database, say,
    whose silence must not count as "there are no foreign keys"."""
    if not constraints.strange:
        return ()
    names = list(dict.fromkeys(version.name for version in log.catalog.versions))
    return (
        "the schema (--schema) states nothing of the tables of the log, so none of their keys is"
        " known from it: is it that of another database? The log has:"
        f" {some_of(names, len(names))}",
    )


def unread_keys(constraints: Constraints) -> tuple[str, ...]:
    """Warnings of schema parts that could not be read and may state keys, whose dependencies are
    not seen."""
    named = [
        f"a statement of the schema is not understood, so a key that it may state is not"
        f" considered: {entry}"
        for entry in constraints.unread[:_UNREAD]
    ]
    more = len(constraints.unread) - len(named)
    return (*named, *([f"{more:,} more statements of the schema are not understood"] * bool(more)))


def applied_history(
    selection: Selection, versions: Sequence[TableVersion], constraints: Constraints
) -> list[str]:
    """Warnings of history tables whose rows are written although nobody said so."""
    taken = {version.name.upper() for version in versions if selection.history is None}
    return [
        f"{name} is the history table of {table}, whose rows a database with versioning writes by"
        " itself: for such a target leave them out (--history skip), else say --history apply"
        for name, table in constraints.history
        if name in taken
    ]


def key_notes(constraints: Constraints) -> list[str]:
    """Notes of what a schema states of keys and cannot be used, of its statements that are ignored,
    and of how it was read."""
    notes = [f"a key is not considered: {entry}" for entry in constraints.unused]
    if count := constraints.passed:
        notes.append(f"ignored in the schema (no key information): {counted(count, 'statement')}")
    return [*notes, *constraints.notes]


def script_notes(request: Request) -> tuple[str, ...]:
    """What a user may want to know before scripts are written."""
    selection, family = request.selection, request.opened.family
    derived = selection.ri is Derived.APPLY and "origins" not in family.capabilities.unknown
    notes = unchecked_notes(request.options) if request.mode is Mode.UNDO else []
    if selection.ri is Derived.SKIP and request.options.dialect == "sqlite":
        notes.append(
            "SQLite's foreign keys cascade (--ri skip) only while PRAGMA foreign_keys = ON holds:"
            " run it before each script"
        )
    elif request.mode is Mode.REDO and derived:
        notes.append(
            "RI-caused changes are applied (--ri apply); with foreign keys on the target that"
            " cascade by themselves, use --ri skip"
        )
    return *notes, *request.notes
