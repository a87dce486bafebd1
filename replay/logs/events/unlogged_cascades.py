"""What foreign keys of MySQL and MariaDB change by themselves: InnoDB does not write it to the
binary log (MySQL before 9.6, MariaDB), so it is in no event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from replay.arrays import Index, Mask
from replay.changes.envelope import Change
from replay.errors import some_of
from sqlgen.schema import ACTIONS, Constraints, ForeignKey

if TYPE_CHECKING:
    from replay.logs.events.reader import EventLog

#: What a user must know where nobody told of foreign keys.
UNKNOWN = (
    "no foreign keys are known, and what they change by themselves (ON DELETE CASCADE, SET NULL) is"
    " not in a binary log: name the tables' DDL or database (--schema), or say that there are none"
    " (--schema none)"
)
HINT = (
    "Bring the rows back that the foreign keys changed by hand, or leave the unit out. MySQL from"
    " 9.6 on logs them: --log-option cascades=logged says so"
)
#: Changes that are compared at once.
_PART = 1 << 16


@dataclass(frozen=True)
class Cascading:
    """Changes (their entries) of a parent that a foreign key passes on."""

    key: ForeignKey
    rows: Index


def changes_that_cascade(log: EventLog, constraints: Constraints) -> list[Cascading]:
    """The changes of a log that foreign keys pass on to rows of other tables, by key."""
    found = []
    for key in constraints.acting:
        parts = [*_passed_on(log, key)]
        rows = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        if len(rows):
            found.append(Cascading(key, rows))
    return found


def _passed_on(log: EventLog, key: ForeignKey) -> Iterator[Index]:
    entries = log.entries()
    for version in log.catalog.versions:
        if version.name.upper() != key.parent.upper():
            continue
        mine = entries["version"] == version.index
        if key.on_delete in ACTIONS:
            yield np.flatnonzero(mine & (entries["change"] == Change.DELETE))
        if key.on_update in ACTIONS:
            rows = np.flatnonzero(mine & (entries["change"] == Change.UPDATE))
            names = [column.name for column in version.table.columns]
            columns = key.parent_columns or version.table.key
            places = [names.index(name) for name in columns if name in names]
            for start in range(0, len(rows), _PART):
                part = rows[start : start + _PART]
                yield part[_changed(log, version.index, part, places)]


def _changed(log: EventLog, version: int, rows: Index, places: Sequence[int]) -> Mask:
    """Which updates change one of some columns."""
    entries = log.entries()[rows]
    old, new = (
        log.walk(version, log.array(2), start, start + entries[f"{side}_size"])
        for side, start in (("before", entries["before"]), ("after", entries["after"]))
    )
    same = np.ones(len(rows), bool)
    for place in places:
        same &= old.equal(new, place)
    return ~same


def warning(found: Sequence[Cascading]) -> str:
    """What a user must know of them who does not undo them."""
    shown = [
        f"{sum(len(one.rows) for one in found if one.key == key):,} of {key.parent} by {_said(key)}"
        for key in dict.fromkeys(one.key for one in found)
    ]
    return (
        f"foreign keys pass changes on to other rows, which are not in the log"
        f" ({some_of(shown, len(shown))}): a target must have the same foreign keys, and what is"
        " asked of those other rows does not know of it"
    )


def _said(key: ForeignKey) -> str:
    rules = [("ON DELETE", key.on_delete), ("ON UPDATE", key.on_update)]
    acts = ", ".join(f"{when} {rule}" for when, rule in rules if rule in ACTIONS)
    return f"{key.name or 'a foreign key'} of {key.table or 'another table'} ({acts})"
