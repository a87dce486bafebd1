"""Which columns a table's rows have at each place of a log (section 7.4), and what its DDL records
mean for the change stream.

The export of the system tables is of one moment. From there the statements lead back, and forward;
where the log does not have their text, what an older image holds is what closes it: columns that
were added later are missing at its end, dropped ones are still there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from replay.arrays import Index
from replay.changes.catalog import ColumnFormat, RowFormat, TableVersion
from replay.logs.indexed_log import version_named
from replay.logs.soliddb import ddl, layouts
from replay.logs.soliddb.ddl import Name
from replay.logs.soliddb.ddl_records import DdlRecord, effect_of, names_of, words_of_record
from replay.logs.soliddb.detect import listed
from replay.logs.soliddb.layouts import TABLE_DDL, Ddl
from replay.logs.soliddb.table_states import (
    TableState,
    earlier_candidates,
    state_after,
    state_before,
    with_later_column,
)
from replay.logs.soliddb.tables import Attribute, SolidTable, version_of
from replay.spill import windows
from sqlgen.schema import Table
from sqlgen.soliddb.history import History
from sqlgen.soliddb.table_shape import Alter, created, home, tables_in
from sqlgen.soliddb.translate import is_qualified
from sqlgen.structure import Action, StructureChange
from sqlgen.value_texts import constant

#: Whether all images of rows ``low`` to ``high`` (exclusive) of a table close with a format, and
#: how many there are.
Closes = Callable[[int, int, int, RowFormat], tuple[bool, int]]
#: Whether rows of a table that lie before row ``low`` are found behind it, byte for byte, and with
#: a value in each column of a format.
Stays = Callable[[int, int, RowFormat], bool]


@dataclass(frozen=True)
class Known:
    """``row`` is the first row of a log that the export of the system tables does not know of;
    ``dropped``: that of tables of which it has the lines of an earlier one."""

    row: int
    dropped: Mapping[int, int] = field(default_factory=dict)

    def of(self, relid: int) -> int:
        """The first row that the lines of a table do not know of."""
        return self.dropped.get(relid, self.row)


#: A state and its version (-1: none).
_Held = tuple["TableState | None", int]


@dataclass
class SolidTableHistory:
    """``versions`` of all tables, with all ``attributes`` of each; of each table id the rows from
    which on a version holds (``steps``; -1: none); ``changes`` of structure by row, with the
    version they are filed under; ``truncated`` rows; ``warnings``.
    """

    versions: list[TableVersion] = field(default_factory=list)
    attributes: dict[int, tuple[Attribute, ...]] = field(default_factory=dict)
    steps: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    changes: dict[int, tuple[int, StructureChange]] = field(default_factory=dict)
    truncated: dict[int, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def version_at(self, relid: int, rows: Index) -> npt.NDArray[np.int32]:
        """The version of a table at rows; -1 where it has none."""
        steps = self.steps.get(relid, [(-1, -1)])
        places = np.array([row for row, _ in steps])
        values = np.array([version for _, version in steps], np.int32)
        return values[np.searchsorted(places, rows, side="right") - 1]

    def versions_at(self, relid: int, rows: Index) -> list[int]:
        """The versions of a table at rows, rising."""
        found = set[int]()
        for part in windows(len(rows)):
            found.update(np.unique(self.version_at(relid, rows[part])).tolist())
        return sorted(found)


def build(
    tables: Mapping[int, SolidTable],
    records: Sequence[DdlRecord],
    exported: Known,
    columns: str,
    charset: int,
    closes: Closes,
    stays: Stays = lambda *_: False,
) -> SolidTableHistory:
    """The timeline of a log. ``exported``: what the export of the system tables knows of;
    ``columns`` the list of columns that images hold."""
    return _Builder(tables, records, exported, columns, charset, closes, stays).run()


class _Builder:
    def __init__(
        self,
        tables: Mapping[int, SolidTable],
        records: Sequence[DdlRecord],
        exported: Known,
        columns: str,
        charset: int,
        closes: Closes,
        stays: Stays,
    ) -> None:
        self.tables, self.records, self.exported, self.columns, self.charset = (
            tables,
            records,
            exported,
            columns,
            charset,
        )
        self.closes, self.stays = closes, stays
        self.result = SolidTableHistory()
        self.ddl_records: dict[int, list[DdlRecord]] = {}
        self.created_tables: dict[int, SolidTable] = {}
        self.around: dict[int, tuple[_Held, _Held]] = {}
        self.states: dict[int, list[tuple[int, TableState | None]]] = {}
        #: Of each table the state before an ADD COLUMN, and that of images widened to the last one.
        self.widest: dict[int, tuple[TableState, TableState]] = {}
        #: Schemas of views and sequences that statements of the log made, by their id.
        self.homes: dict[int, str] = {}
        self.stray: dict[tuple[str, str], int] = {}
        self.names: dict[str, set[int]] = {}
        for entry in self._listed().values():
            self.names.setdefault(entry.name, set()).add(entry.id)

    def run(self) -> SolidTableHistory:
        created = {
            (r.event.name.schema, r.event.name.name): r.relid
            for r in self.records
            if r.event.kind is Ddl.CREATE_TABLE and r.relid
        }
        meant = self._meant()
        for record in self.records:
            relid = record.relid if record.event.kind in TABLE_DDL else None
            if record.event.kind in TABLE_DDL and relid is None:
                relid = created.get(
                    (record.event.name.schema, record.event.name.name)
                ) or meant.get(record.row)
            if relid is not None:
                self.ddl_records.setdefault(relid, []).append(record)
        for relid in sorted({*self.tables, *self.ddl_records}):
            self._table(relid, self.ddl_records.get(relid, []))
        history = History()
        for record in self.records:
            self._change(record, history)
        return self.result

    def _meant(self) -> dict[int, int]:
        """The tables of records that name theirs only, by row: from the export of the system tables
        back, and on from it."""
        meant: dict[int, int] = {}
        before = [
            record
            for record in self.records
            if record.row < self.exported.row and record.event.kind in TABLE_DDL
        ]
        after = [
            record
            for record in self.records
            if record.row >= self.exported.row and record.event.kind in TABLE_DDL
        ]
        for back, records in ((True, before[::-1]), (False, after)):
            places = {relid: (entry.schema, entry.name) for relid, entry in self._listed().items()}
            for record in records:
                old, new = names_of(record)
                relid, wanted = record.relid, new if back else old
                if relid in self.exported.dropped and record.event.kind is Ddl.DROP_TABLE:
                    assert relid is not None
                    places[relid] = old.schema, old.name
                if relid is None:
                    fits = [
                        one
                        for one, (schema, name) in places.items()
                        if name == wanted.name and wanted.schema in ("", schema)
                    ]
                    if len(fits) != 1:
                        continue
                    relid = meant[record.row] = fits[0]
                if old != new and relid in places:
                    other = old if back else new
                    places[relid] = other.schema or places[relid][0], other.name
        return meant

    def _listed(self) -> dict[int, SolidTable]:
        """The tables that were there when the system tables were read."""
        gone = self.exported.dropped
        return {relid: entry for relid, entry in self.tables.items() if relid not in gone}

    def _by_name(self, wanted: Name) -> int | None:
        """The table of a name that only one table has."""
        fits = [
            relid
            for relid in self.names.get(wanted.name, ())
            if wanted.schema in ("", self.tables[relid].schema)
        ]
        return fits[0] if len(fits) == 1 else None

    # -- one table
    # ---------------------------------------------------------------------------------------------

    def _table(self, relid: int, records: list[DdlRecord]) -> None:
        """The states between a table's DDL records, and what each of these does."""
        table = self.tables.get(relid)
        before = [record for record in records if record.row < self.exported.of(relid)]
        if table is None and records[0].event.kind is Ddl.CREATE_TABLE:
            before = []  # made and gone before the export: from its beginning on
        after = records[len(before) :]
        states: list[TableState | None] = [
            None if table is None else TableState(table.attributes, table.schema, table.name)
        ]
        for number in range(len(before) - 1, -1, -1):
            low = before[number - 1].row if number else -1
            earlier = self._earlier(relid, before[number], states[0], low, before[:number])
            states = [earlier, *self._believed(before[number], states)]
        for record in after:
            states.append(self._later(relid, record, states[-1]))
        versions = self._versions(relid, states)
        self.result.steps[relid] = [
            (-1, versions[0]),
            *((record.row, version) for record, version in zip(records, versions[1:], strict=True)),
        ]
        self.states[relid] = list(
            zip((-1, *(record.row for record in records)), states, strict=True)
        )
        held = list(zip(states, versions, strict=True))
        for number, record in enumerate(records):
            self.around[record.row] = held[number], held[number + 1]

    def _versions(self, relid: int, states: Sequence[TableState | None]) -> list[int]:
        """A version of each state (-1: none), one for neighbours that are the same."""
        versions: list[int] = []
        last: tuple[TableState, int] | None = None
        for state in states:
            if state is None or state.attributes is None:
                versions.append(-1)
                continue
            if last is None or last[0] != state:
                base = self.tables.get(relid) or self.created_tables[relid]
                held = listed(state.attributes, self.columns)
                version = version_of(
                    len(self.result.versions),
                    base,
                    held,
                    len(versions) + 1,
                    (state.schema, state.name),
                )
                self.result.versions.append(version)
                self.result.attributes[version.index] = state.attributes
                last = state, version.index
            versions.append(last[1])
        return versions

    def _earlier(
        self,
        relid: int,
        record: DdlRecord,
        after: TableState | None,
        low: int,
        sooner: Sequence[DdlRecord],
    ) -> TableState | None:
        """The state before a record, from the one after it. ``sooner``: the table's records before
        this one, of which the last is at ``low``."""
        kind, high = record.event.kind, record.row
        if kind is Ddl.CREATE_TABLE:
            return None
        change = record.change
        if after is not None and change is not None and change.what == "schema":
            return self._former_schema(record, change, after, sooner)
        if after is None or after.attributes is None:
            return (
                after
                if kind is not Ddl.DROP_TABLE
                else TableState(None, record.event.name.schema, record.event.name.name)
            )
        if kind is Ddl.RENAME_TABLE:
            return self._former_name(record, after)
        if kind is not Ddl.ALTER_TABLE:
            return after
        if change is None:
            schema = record.event.name.schema if not record.text else ""
            former = replace(after, schema=schema or after.schema)
            return self._by_closing(relid, record, former, low, former != after)
        earlier = state_before(after, change)
        if change.what == "modify" and self._has_stayed(relid, record, after):
            return after
        if earlier.attributes is None:
            self._warn_unknown(after, record, "before")
        elif change.what == "add":
            # images may hold what the next statement adds, or also what those behind it add
            as_later, widest = self.widest.get(relid, (after, after))
            forms = [
                earlier,
                with_later_column(after, change),
                with_later_column(widest if as_later is after else after, change),
            ]
            closing = (form for form in forms if self._closes(relid, form, low, high))
            earlier = next(closing, earlier)
            self.widest[relid] = earlier, forms[-1]
        return earlier

    def _has_stayed(self, relid: int, record: DdlRecord, after: TableState) -> bool:
        """Whether an ALTER TABLE left the rows as they were, because they are found behind it as
        they lie before: it made a column wider, say. Where there are several such statements, two
        columns may have exchanged their names."""
        held = listed(after.attributes or (), self.columns)
        alters = [
            one
            for one in self.ddl_records[relid]
            if one.event.kind is Ddl.ALTER_TABLE
            and (one.change is None or one.change.what in ("modify", "rename"))
        ]
        return alters == [record] and self.stays(
            relid, record.row, RowFormat(tuple(entry.format for entry in held))
        )

    def _closes(self, relid: int, state: TableState, low: int, high: int) -> bool:
        """Whether the images between two records close with a table's columns; True where there are
        none."""
        good, count = self.closes(relid, low, high, self._format_of(state))
        return good or not count

    def _format_of(self, state: TableState) -> RowFormat:
        """How images of a table with the columns of a state lie."""
        assert state.attributes is not None
        return RowFormat(tuple(entry.format for entry in listed(state.attributes, self.columns)))

    def _believed(
        self, record: DdlRecord, states: list[TableState | None]
    ) -> list[TableState | None]:
        """The states after a record; without what they are where they contradict where it says that
        the table went: the export is older then."""
        change, after = record.change, states[0]
        if after is None or after.lost or change is None or change.what not in ("name", "schema"):
            return states
        if (after.name if change.what == "name" else after.schema).upper() in (
            "",
            change.new.upper(),
        ):
            return states
        self.result.warnings.append(
            f"{after.schema}.{after.name}: the export of the system tables is older than"
            f" {record.text!r}: later changes of the table are quarantined; say in the manifest of"
            " what time it is (metadata_logaddr)"
        )
        return [
            None if state is None else TableState(None, "", state.name, lost=True)
            for state in states
        ]

    def _former_schema(
        self, record: DdlRecord, change: Alter, after: TableState, sooner: Sequence[DdlRecord]
    ) -> TableState:
        """Where a table was that MODIFY SCHEMA moved: as the statement says, its record, or what
        came before; else nobody knows."""
        schema = change.schema or (
            record.event.name.schema if record.event.name.schema != change.new else ""
        )
        schema = schema or (
            after.schema if after.schema != change.new else ""
        )  # the export is older than the record
        for other in reversed(sooner if not schema else ()):
            moved = other.change
            schema = (
                moved.new
                if moved is not None and moved.what == "schema"
                else home(other.text) or other.event.name.schema
            )
            if schema:
                break
        if schema:
            return replace(after, schema=schema)
        self.result.warnings.append(
            f"{change.new}.{after.name} came from another schema by {record.text!r}, and which one"
            " is not in the log: its changes before are quarantined"
        )
        return TableState(None, "", after.name, lost=True)

    def _former_name(self, record: DdlRecord, after: TableState) -> TableState:
        name = record.event.name
        change = record.change
        if change is not None and change.what == "name":
            return replace(after, name=change.table)
        if name.name != after.name:
            return replace(after, schema=name.schema or after.schema, name=name.name)
        self.result.warnings.append(
            f"{after.schema}.{after.name} was renamed, and its former name is not in the log:"
            " earlier changes name it so"
        )
        return after

    def _by_closing(
        self, relid: int, record: DdlRecord, after: TableState, low: int, moved: bool
    ) -> TableState:
        """The columns with which all images before a record close; the state is not known where
        several do, or those of later, and the table did not just move (``moved``)."""
        high = record.row
        fits = []
        for candidate in earlier_candidates(after):
            good, count = self.closes(relid, low, high, self._format_of(candidate))
            if not count:
                return after
            if good:
                fits.append(candidate)
        if len(fits) == 1 and (moved or fits[0] is not after):
            return fits[0]
        if fits == [after] and self._has_stayed(relid, record, after):
            return after
        what = (
            "with several sets of columns"
            if len(fits) > 1
            else "with the columns of later, which may have had other types or names"
            if fits
            else "with no set of columns that the catalog export knows of"
        )
        self.result.warnings.append(
            f"{after.schema}.{after.name}: rows before an ALTER TABLE whose text is not in the log"
            f" close {what}; their changes are quarantined"
        )
        return replace(after, attributes=None)

    def _later(self, relid: int, record: DdlRecord, before: TableState | None) -> TableState | None:
        """The state after a record that the catalog export does not know of."""
        kind, name = record.event.kind, record.event.name
        if kind is Ddl.DROP_TABLE:
            return None
        if kind is Ddl.CREATE_TABLE:
            return self._created(relid, record)
        change = record.change
        if before is not None and change is not None and change.what == "schema":
            return replace(before, schema=change.new)
        if before is None or before.attributes is None:
            return before
        if kind is Ddl.RENAME_TABLE and name.name != before.name:
            return replace(before, schema=name.schema or before.schema, name=name.name)
        if kind is Ddl.RENAME_TABLE:
            return self._renamed(record, before)
        if kind is not Ddl.ALTER_TABLE:
            return before
        after = None if change is None else state_after(before, change, self.charset)
        if after is None or after.attributes is None:
            self._warn_unknown(before, record, "after")
            return replace(before, attributes=None)
        return after

    def _created(self, relid: int, record: DdlRecord) -> TableState:
        """A table that the catalog export does not have, as its CREATE TABLE says; which hidden
        columns it has is not known."""
        name = record.event.name
        columns = created(record.text) if self.columns != "C" else None
        if columns is None:
            return TableState(None, name.schema, name.name)
        declared, key = columns
        attributes = tuple(
            ddl.attribute(one, number, self.charset) for number, one in enumerate(declared)
        )
        self.created_tables[relid] = SolidTable(
            relid, name.catalog, name.schema, name.name, attributes, key
        )
        return TableState(attributes, name.schema, name.name)

    def _renamed(self, record: DdlRecord, before: TableState) -> TableState:
        change = record.change
        if change is not None and change.what == "name":
            return replace(before, name=change.new)
        return replace(before, attributes=None)

    def _warn_unknown(self, state: TableState, record: DdlRecord, where: str) -> None:
        what = record.text or "an ALTER TABLE whose text is not in the log"
        self.result.warnings.append(
            f"{state.schema}.{state.name}: its columns {where} {what!r} are not known; its changes"
            " there are quarantined"
        )

    # -- what goes into the change stream
    # ---------------------------------------------------------------------------------------------

    def _change(self, record: DdlRecord, history: History) -> None:
        """What a record puts into the change stream: its statement; without one, what the columns
        before and after say, or a note."""
        kind = record.event.kind
        (old, old_version), (new, new_version) = self.around.get(
            record.row, ((None, -1), (None, -1))
        )
        version = new_version if new_version >= 0 else old_version
        if kind is Ddl.TRUNCATE_TABLE:
            self.result.truncated[record.row] = version
            return
        if version < 0 and kind not in TABLE_DDL:
            version = self._owner(record)
        if version < 0:
            version = self._stray(record, old or new)
        table = self.result.versions[version].table
        schema = self._schema(record, old or new)
        note = StructureChange(Action.NOTE, table, note=words_of_record(record))
        if record.text and (schema or is_qualified(record.text)) and kind not in _COUNTERS:
            if record.relid is not None and kind in _STANDING:
                self.homes[record.relid] = home(record.text) or schema
            former = (
                self.result.versions[old_version].table
                if old_version >= 0 and kind in TABLE_DDL
                else None
            )
            change = history.change(record.text, table, schema, former)
            change = replace(change, effect=effect_of(record), former=former)
            self.result.changes[record.row] = version, change
            return
        change = note
        if kind is Ddl.CREATE_TABLE and new_version >= 0:
            change = StructureChange(Action.CREATE_TABLE, table)
        elif kind is Ddl.DROP_TABLE and table.schema:
            change = StructureChange(Action.DROP_TABLE, table, reversible=False)
        elif kind is Ddl.ALTER_TABLE and min(old_version, new_version) >= 0:
            held = self.result.versions[new_version]
            change = _altered(self.result.versions[old_version].table, table, held.format, note)
        if kind not in _COUNTERS:
            history.forget()
            if change is note:
                what = (
                    "its schema is not known" if record.text else "its statement is not in the log"
                )
                name = f"{layouts.DDL_NAMES[kind]} {record.event.name.name}"
                self.result.warnings.append(f"{name}: {what}; it is noted and not repeated")
        self.result.changes[record.row] = version, change

    def _owner(self, record: DdlRecord) -> int:
        """The version of the table that a statement about an index speaks of; -1 where that is not
        clear."""
        if record.event.kind not in (Ddl.CREATE_INDEX, Ddl.DROP_INDEX):
            return -1
        named = {
            relid
            for word in tables_in(record.text)
            if (relid := self._by_name(Name(word))) is not None
        }
        relid = (
            record.relid
            if record.relid in self.result.steps
            else named.pop()
            if len(named) == 1
            else None
        )
        return (
            -1 if relid is None else int(self.result.version_at(relid, np.array([record.row]))[0])
        )

    def _schema(self, record: DdlRecord, state: TableState | None) -> str:
        """Where names without schema are in a statement: where its object is, or the table that it
        speaks of."""
        if state is not None and (state.schema or state.lost):
            return state.schema or record.event.name.schema
        known = self._home(record.relid, record.row) if record.relid is not None else None
        if record.event.name.schema or known is not None:
            return record.event.name.schema or known or ""
        fits = [self._by_name(Name(word)) for word in tables_in(record.text)]
        schemas = {self._home(relid, record.row) or "" for relid in fits if relid is not None}
        return schemas.pop() if len(schemas) == 1 else ""

    def _home(self, relid: int, row: int) -> str | None:
        """The schema of an object at a row: empty where it is not known, None for an object of
        which nothing is."""
        states = [state for place, state in self.states.get(relid, ()) if place < row]
        if states and states[-1] is not None:
            return states[-1].schema
        owner = self.tables.get(relid) or self.created_tables.get(relid)
        return self.homes.get(relid) if owner is None else owner.schema

    def _stray(self, record: DdlRecord, state: TableState | None) -> int:
        """The version under which a record of an object without known columns is filed."""
        named = record.event.name
        schema, name = (
            (state.schema or named.schema, state.name or named.name)
            if state
            else (named.schema, named.name)
        )
        if (schema, name) not in self.stray:
            index = len(self.result.versions)
            empty = Table(schema, name, ())
            self.result.versions.append(version_named(index, empty, RowFormat(())))
            self.stray[schema, name] = index
        return self.stray[schema, name]


#: Counters are solidDB's own; there is no SQL for them.
_COUNTERS = (Ddl.CREATE_COUNTER, Ddl.DROP_COUNTER)
#: What makes objects that are no tables and stay where they are.
_STANDING = (Ddl.CREATE_VIEW, Ddl.CREATE_SEQUENCE)


def _default(entry: ColumnFormat) -> str | None:
    """What the rows that are there get in a column that is added; None where that is not known."""
    if entry.initial is None:
        return None
    try:
        constant(entry.initial, entry.column)
    except ValueError:
        return None
    return entry.initial


def _altered(old: Table, new: Table, formats: RowFormat, other: StructureChange) -> StructureChange:
    """ADD or DROP COLUMN, by what the table had and has; else ``other``."""
    had, has = (
        {column.name: column for column in old.columns},
        {column.name: column for column in new.columns},
    )
    more, less = (
        tuple(has[name] for name in has if name not in had),
        tuple(had[name] for name in had if name not in has),
    )
    if more and not less:
        return StructureChange(
            Action.ADD_COLUMNS,
            new,
            tuple(replace(column, nullable=True) for column in more),
            defaults=tuple(_default(formats.columns[formats.places[one.name]]) for one in more),
        )
    if less and not more:
        return StructureChange(Action.DROP_COLUMNS, new, less, reversible=False)
    return other
