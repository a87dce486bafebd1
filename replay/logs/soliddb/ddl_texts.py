"""The DDL of committed transactions, as it stands in a log: its records (:mod:`ddl_records`), each
with the statement that another record has for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from replay.arrays import Index, Mask, Records
from replay.logs.soliddb import ddl
from replay.logs.soliddb.ddl_records import DdlRecord, with_statements
from replay.logs.soliddb.export_values import NONE
from replay.logs.soliddb.joined_rows import Joined
from replay.logs.soliddb.layouts import Rec, ValueFraming
from replay.logs.soliddb.notes import IndexNotes
from replay.logs.soliddb.transactions import SolidTransactions
from replay.logs.soliddb.wanted import WantedTables


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
