"""DDL statements in the log (format notes, section 15): what older rows have in the columns that
they add, and which rows they make unreadable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from replay.arrays import Records, one_of
from replay.changes.catalog import ColumnFormat
from replay.decoding import codecs
from replay.errors import InputError, counted
from replay.logs.db2luw import layouts, units
from replay.logs.db2luw.framing import OpenedFile
from replay.logs.db2luw.layouts import RecordRole, number
from replay.logs.db2luw.tables import LuwTable, TableId, system_default
from replay.logs.db2luw.values import initial_value
from replay.spill import windows
from sqlgen.ddl.ddl_clauses import ColumnEntry
from sqlgen.ddl.ddl_tables import Alteration, alteration
from sqlgen.errors import SqlgenError

#: Schema and name of a table, in upper case.
Name = tuple[str, str]


@dataclass
class Statements:
    """What the statements of a log say, except those of units that were rolled back: ``added``:
    columns by table and name (as DDL compares them); ``doubtful``: tables of which a statement is
    not understood, and columns whose default was another one before; ``recast``: records whose
    statements drop columns or change types, and the tables; ``seen``: all that are understood, by
    record; ``warnings`` for users."""

    added: dict[Name, dict[str, ColumnEntry]] = field(default_factory=dict)
    doubtful: set[tuple[str, ...]] = field(default_factory=set)
    recast: list[tuple[int, Name]] = field(default_factory=list)
    seen: dict[int, tuple[Name, str]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def took(self, row: int, text: str, said: Alteration) -> None:
        """Take a statement at a record into account."""
        name = said.schema, said.table
        if said.verb != "ALTER":
            self.added.pop(name, None)
            self.doubtful = {about for about in self.doubtful if about[:2] != name}
            return
        self.seen[row] = name, text
        known = self.added.setdefault(name, {})
        known |= said.added
        self.doubtful |= {(*name, column) for column in said.changed - {*known}}
        if not said.clear:
            self.doubtful.add(name)
        if said.recasts:
            self.recast.append((row, name))

    def initial(self, table: Name, column: ColumnFormat) -> str | None:
        """What rows have in a column that a statement of the log adds; "" where none does, None
        where the statement does not say."""
        name = (table[0].upper(), table[1].upper())
        said = self.added.get(name, {}).get(column.column.name.upper())
        if said is None:
            return ""
        if said.strange or said.generated or said.identity is not None:
            return None
        if said.default == "":
            return system_default(column.code)
        return said.default or ("NULL" if said.nullable else None)

    def corrected(self, table: Name, column: ColumnFormat) -> ColumnFormat:
        """A column with what a statement of the log says that older rows have in it."""
        said = self.initial(table, column)
        return column if said == "" else replace(column, initial=said)

    def trusted(self, tables: Mapping[TableId, LuwTable]) -> Mapping[TableId, LuwTable]:
        """The tables of an export without the defaults that were others before it."""
        if not self.doubtful:
            return tables
        made: dict[int, LuwTable] = {}
        for entry in tables.values():
            name = entry.table.schema.upper(), entry.table.name.upper()
            columns = tuple(
                replace(column, initial=None)
                if {name, (*name, column.column.name.upper())} & self.doubtful
                else column
                for column in entry.format.columns
            )
            made[id(entry)] = replace(entry, format=replace(entry.format, columns=columns))
        return {key: made[id(entry)] for key, entry in tables.items()}


def read(
    records: Records, resolved: units.Units, files: Sequence[OpenedFile], code_page: int
) -> Statements:
    """The statements of a log's records."""
    found, open_ = Statements(), dict[int, bytes]()
    taken: list[tuple[int, int, Alteration, str]] = []
    role, unread = records["role"], list[int]()
    for part in windows(len(records)):
        wanted = one_of(role[part], (RecordRole.STATEMENT, RecordRole.UNDO_STATEMENT))
        for row in (np.flatnonzero(wanted) + part.start).tolist():
            unit = int(resolved.unit[row])
            if unit < 0 or resolved.disposition[unit] == ord("A"):
                continue
            if role[row] == RecordRole.UNDO_STATEMENT:
                mine = [place for place, entry in enumerate(taken) if entry[1] == unit]
                taken = [entry for place, entry in enumerate(taken) if place not in mine[-1:]]
                continue
            schema, piece, left = _pieces(records, files, row)
            whole = open_.pop(unit, b"") + piece
            if left:
                open_[unit] = whole
                continue
            text, owner = _text(whole, code_page), _text(schema, code_page)
            if text is None or owner is None or not piece:
                unread.append(row)
            elif (said := _understood(text, owner)) is not None:
                taken.append((row, unit, said, text))
    for row, _, said, text in taken:
        found.took(row, text, said)
    if unread or open_:
        found.warnings.append(
            f"cannot read {counted(len(unread) + len(open_), 'DDL statement')} of the log: what"
            " older rows have in columns that they add is taken from the catalog export"
        )
    return found


def ids_of(tables: Mapping[TableId, LuwTable], name: Name) -> list[TableId]:
    """The ids of the table, or of its data partitions, that a name in upper case means."""
    return [
        key
        for key, entry in tables.items()
        if (entry.table.schema.upper(), entry.table.name.upper()) == name
    ]


def defaults_of(columns: Sequence[ColumnFormat]) -> tuple[str | None, ...]:
    """What the rows that are there get in columns that are added."""
    return tuple(None if initial_value(column) is None else column.initial for column in columns)


def _pieces(records: Records, files: Sequence[OpenedFile], row: int) -> tuple[bytes, bytes, int]:
    """Of a record: the schema of names without one, what it has of its statement (nothing where
    the record does not close), and how many bytes of that are left for the next."""
    file = files[int(records["file"][row])]
    start, length = int(records["offset"][row]), int(records["length"][row])
    begin, big = start + int(records["header"][row]), file.shape.big
    payload = file.buffer(begin, start + length)[begin : start + length].tobytes()
    layout, entry = layouts.STATEMENT, layouts.STATEMENT_ENTRY
    at = layout["list"].offset
    sizes = []
    for _ in range(number(payload, 0, layout["entries"], big)):
        sizes.append(tuple(number(payload, at, entry[name], big) for name in ("type", "length")))
        at += layouts.STATEMENT_ENTRY_SIZE
    schema = b""
    for kind, size in sizes:
        schema = payload[at : at + size] if kind == layouts.DEFAULT_SCHEMA else schema
        at += size
    closes = at + number(payload, 0, layout["length"], big) == len(payload)
    return schema, payload[at:] if closes else b"", number(payload, 0, layout["left"], big)


def _text(raw: bytes, code_page: int) -> str | None:
    try:
        values, bad = codecs.decode_text(
            np.frombuffer(raw, np.uint8), np.array([0, len(raw)]), code_page
        )
    except InputError:
        return None
    return None if bad is not None else str(values[0].as_py()).rstrip("\0 ")


def _understood(text: str, schema: str) -> Alteration | None:
    try:
        return alteration(text, "db2", schema)
    except SqlgenError:
        return None
