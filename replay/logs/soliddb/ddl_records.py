"""DDL records as they stand in a log: where, of which table, and with which statement."""

from __future__ import annotations

from dataclasses import dataclass

from replay.logs.soliddb import ddl, layouts
from replay.logs.soliddb.ddl import Alter, Event, Name
from replay.logs.soliddb.export import NONE
from replay.logs.soliddb.layouts import ValueFraming


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


@dataclass(frozen=True)
class DdlText:
    """A DDL record as it stands at ``row``: its table (:data:`NONE`: NULL), its ``data``, and the
    statement that another record has for it ('': none)."""

    row: int
    table: int
    data: bytes
    text: str

    def read(self, charset: int, framing: ValueFraming | None) -> DdlRecord | None:
        """What it says; None where no layout fits it."""
        event = ddl.read(self.data, charset, framing)
        if event is None:
            return None
        relid = None if self.table == NONE else self.table
        return DdlRecord(self.row, relid, event, event.text or self.text)


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
