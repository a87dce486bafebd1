"""DDL records as they stand in a log: where, of which table, and with which statement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from replay.arrays import Index
from replay.logs.soliddb import ddl, layouts
from replay.logs.soliddb.ddl import Alter, Event, Name
from replay.logs.soliddb.layouts import Ddl, Rec
from sqlgen.structure import Action

#: Of all rows of a log.
Integers = npt.NDArray[np.signedinteger[Any]]


@dataclass(frozen=True)
class DdlRecord:
    """A DDL record at ``row``: its RELID (None: NULL), what it says, and the statement (empty: not
    in the log)."""

    row: int
    relid: int | None
    event: Event
    text: str

    @property
    def change(self) -> Alter | None:
        """What its ALTER TABLE statement changes; None where the log has none that is
        understood."""
        return ddl.alter(self.text) if self.text else None


def with_statements(
    wanted: Index, sql: Index, units: Integers, statements: Integers, kinds: Integers
) -> dict[int, int]:
    """The SQL record of each of the ``wanted`` DDL records (row -> row): that of its statement,
    where there is one for each DDL record of it, else the one next to it in its unit. ``sql``: the
    SQL records of committed units; of all rows the ``units``, ``statements`` and ``kinds``."""
    groups: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
    for side, place in ((0, wanted), (1, sql)):
        for row in place.tolist():
            key = int(units[row]), int(statements[row])
            groups.setdefault(key, ([], []))[side].append(row)
    pairs: dict[int, int] = {}
    for records, texts in groups.values():
        if len(records) == len(texts):
            pairs.update(zip(records, texts, strict=True))
    taken = set(pairs.values())
    for row in wanted.tolist():
        for other in (row - 1, row + 1):
            near = (
                row not in pairs
                and other not in taken
                and 0 <= other < len(kinds)
                and kinds[other] == Rec.SQL
            )
            if near and units[other] == units[row]:
                pairs[row] = other
                taken.add(other)
    return pairs


def names_of(record: DdlRecord) -> tuple[Name, Name]:
    """What a record's table was called before it and after, as far as its statement says; both are
    what the record calls it otherwise."""
    change, name = record.change, record.event.name
    if change is None or change.what not in ("name", "schema"):
        return name, name
    schema = change.schema or name.schema
    if change.what == "name":
        return Name(change.table, schema), Name(change.new, schema)
    return Name(
        change.table, change.schema or (name.schema if name.schema != change.new else "")
    ), Name(change.table, change.new)


def words_of_record(record: DdlRecord) -> str:
    """What a record does, for a note: its kind, and its statement as far as the log has it."""
    text = (
        f": {' '.join(record.text.split())}"
        if record.text
        else " (its statement is not in the log)"
    )
    return f"{layouts.DDL_NAMES[record.event.kind]}{text}"


#: What statements do to a table as a whole.
_EFFECTS = {
    Ddl.CREATE_TABLE: Action.CREATE_TABLE,
    Ddl.DROP_TABLE: Action.DROP_TABLE,
    Ddl.RENAME_TABLE: Action.RENAME_TABLE,
}


def effect_of(record: DdlRecord) -> Action | None:
    """What a record does to a table as a whole: makes, drops or renames it."""
    if record.change is not None and record.change.what in ("name", "schema"):
        return Action.RENAME_TABLE
    return _EFFECTS.get(record.event.kind)
