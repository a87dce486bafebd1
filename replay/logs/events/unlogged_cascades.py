"""What foreign keys of MySQL and MariaDB change by themselves: InnoDB does not write it to the
binary log (MySQL before 9.6, MariaDB), so it is in no event."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from replay.arrays import Index, Mask
from replay.changes.envelope import Change
from replay.errors import some_of
from replay.spill import windows
from sqlgen.schema import ACTIONS, ForeignKey

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


def passed_on(log: EventLog, keys: Iterable[ForeignKey], rows: Index) -> Mask:
    """Which changes (``rows``: their entries) some foreign keys pass on to rows of other tables."""
    entries = log.entries()[rows]
    found = np.zeros(len(rows), bool)
    for key in keys:
        for version in log.catalog.versions:
            if version.name.upper() != key.parent.upper():
                continue
            mine = entries["version"] == version.index
            if key.on_delete in ACTIONS:
                found |= mine & (entries["change"] == Change.DELETE)
            if key.on_update in ACTIONS:
                updates = np.flatnonzero(mine & (entries["change"] == Change.UPDATE))
                columns = key.parent_columns or version.table.key
                found[updates] |= _changed(log, version.index, rows[updates], columns)
    return found


def _changed(log: EventLog, version: int, rows: Index, columns: Sequence[str]) -> Mask:
    """Which updates change one of some columns."""
    entries = log.entries()[rows]
    old, new = (
        log.walk(version, log.array(2), start, start + entries[f"{side}_size"])
        for side, start in (("before", entries["before"]), ("after", entries["after"]))
    )
    same = np.ones(len(rows), bool)
    for place, column in enumerate(log.catalog.versions[version].table.columns):
        if column.name in columns:
            same &= old.equal(new, place)
    return ~same


def warnings(log: EventLog, keys: Sequence[ForeignKey]) -> tuple[str, ...]:
    """What a user must know of changes that are passed on, who does not undo them."""
    shown = []
    for key in dict.fromkeys(keys):
        parts = (np.arange(part.start, part.stop) for part in windows(len(log.entries())))
        if count := sum(int(passed_on(log, [key], rows).sum()) for rows in parts):
            shown.append(f"{count:,} of {key.parent} by {_said(key)}")
    if not shown:
        return ()
    return (
        f"foreign keys pass changes on to other rows, which are not in the log"
        f" ({some_of(shown, len(shown))}): a target must have the same foreign keys, and what is"
        " asked of those other rows does not know of it",
    )


def _said(key: ForeignKey) -> str:
    rules = [("ON DELETE", key.on_delete), ("ON UPDATE", key.on_update)]
    acts = ", ".join(f"{when} {rule}" for when, rule in rules if rule in ACTIONS)
    return f"{key.name or 'a foreign key'} of {key.table or 'another table'} ({acts})"
