"""DDL records as they stand in a log: where, of which table, and with which statement, which
another record may have for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from replay.arrays import Index, Mask, Records
from replay.logs.soliddb import ddl, layouts
from replay.logs.soliddb.ddl import Event, Name
from replay.logs.soliddb.export import NONE
from replay.logs.soliddb.joined_rows import Joined
from replay.logs.soliddb.layouts import Ddl, Rec, ValueFraming
from replay.logs.soliddb.tables import WantedTables
from replay.logs.soliddb.transactions import IndexNotes, SolidTransactions
from sqlgen.soliddb.table_shape import Alter, alter
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

    @cached_property
    def change(self) -> Alter | None:
        """What its ALTER TABLE statement changes; None where the log has none that is
        understood."""
        return alter(self.text)


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


@dataclass(frozen=True)
class DdlTexts:
    """Finds and reads the DDL of a log. ``live``: which rows are of units that are committed and
    new; ``entries``: their faults so far; ``notes`` are told how many statements have no record."""

    rows: Joined
    bounds: SolidTransactions
    wanted: WantedTables
    live: Mask
    entries: Records
    notes: IndexNotes
    charset: int

    def records(self, framing: ValueFraming | None) -> tuple[list[DdlRecord], Index]:
        """DDL records of committed units with their statements, and those that cannot be read (as
        long as no framing is known: in no plain layout)."""
        table, wanted = self.rows.numbers["RELID"], self._live_records(Rec.DDL)
        wanted = wanted[~self.wanted.away(table[wanted])]
        texts = self._statements(wanted)
        records, unread = [], []
        for row in wanted.tolist():
            event = ddl.read(self._data(row), self.charset, framing)
            if event is None:
                unread.append(row)
                continue
            relid = None if table[row] == NONE else int(table[row])
            records.append(DdlRecord(row, relid, event, event.text or texts.get(row, "")))
        return records, np.array(unread, np.int64)

    def _live_records(self, kind: Rec) -> Index:
        """Records of a kind, in committed units and without a fault."""
        recid, fault = self.rows.numbers["RECID"], self.entries["fault"]
        arrays = self.rows.arrays
        # few are of these kinds, and to ask all entries would fetch all of them
        found = arrays.places(len(self.rows), lambda part: self.live[part] & (recid[part] == kind))
        return arrays.chosen(found, lambda rows: fault[rows] == 0)

    def _data(self, row: int) -> bytes:
        return self.rows.data[self.rows.start[row] : self.rows.end[row]].tobytes()

    def _statements(self, wanted: Index) -> dict[int, str]:
        """The statement of each DDL record, as far as the log has it."""
        sql, numbers = self._live_records(Rec.SQL), self.rows.numbers
        pairs = with_statements(
            wanted, sql, self.bounds.unit, numbers["STMTTRXID"], numbers["RECID"]
        )
        taken = set(pairs.values())
        self.notes.lost_texts = sum(row not in taken for row in sql.tolist())
        found_text = {
            row: ddl.read_text(self._data(other), self.charset) for row, other in pairs.items()
        }
        return {row: text for row, text in found_text.items() if text}
