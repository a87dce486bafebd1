"""Which table a record belongs to, and how its rows are laid out, at its place in the log (format
notes, sections 9.6 to 9.8 and 19).

The log describes a table when it is created and when columns are added; the export describes it at
one moment. What records say of tables (:mod:`table_events`) gives each table id the versions that
it has along the log; here follows what that means for rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import replace

import numpy as np

from replay.arrays import Index, Records, Versions, one_of
from replay.logs.db2luw import statements, units
from replay.logs.db2luw.framing import OpenedFile
from replay.logs.db2luw.layouts import RecordRole
from replay.logs.db2luw.table_events import EVENTS, LuwTableHistory, TableEvents, TableSteps
from replay.logs.db2luw.tables import LuwTable, TableId
from replay.spill import Spill, windows
from sqlgen.structure import Action, StructureChange

_ROWS = (
    RecordRole.INSERT,
    RecordRole.DELETE,
    RecordRole.UPDATE,
    RecordRole.UNDO_INSERT,
    RecordRole.UNDO_DELETE,
    RecordRole.UNDO_UPDATE,
    RecordRole.TRUNCATE,
    RecordRole.PARTIAL_UPDATE,
    RecordRole.FOREIGN,
)


def build(
    records: Records,
    resolved: units.Units,
    files: Sequence[OpenedFile],
    tables: Mapping[TableId, LuwTable],
    code_page: int,
    arrays: Spill,
) -> LuwTableHistory:
    """Which version of a table each of ``records`` is of, from the catalog export's ``tables`` and
    what the log says of changes of tables; ``arrays`` makes what is as long as the log."""
    said = statements.read(records, resolved, files, code_page)
    tables = said.trusted(tables)
    result = LuwTableHistory([], arrays.full(len(records), -1, np.int32))
    of_known: dict[int, int] = {}
    base: dict[TableId, int] = {}
    for key, entry in tables.items():
        if id(entry) not in of_known:
            of_known[id(entry)] = result.add(entry.id, entry.table, entry.format, 1)
        base[key] = of_known[id(entry)]
    events = TableEvents(records, resolved, files, tables, code_page, result, base)
    _Builder(events, said).run()
    return result


class _Builder:
    def __init__(self, events: TableEvents, said: statements.Statements) -> None:
        self.events, self.said, self.result = events, said, events.result
        self.records, self.units, self.base = events.records, events.units, events.base
        self.states, self.tables = events.states, events.tables
        self.partitions = partitions_of(events.tables)

    def run(self) -> None:
        role = self.records["role"]
        found = {
            row
            for part in windows(len(role))
            for row in (np.flatnonzero(one_of(role[part], EVENTS)) + part.start).tolist()
        }
        of_events = {int(self.units.unit[row]) for row in found} - {-1}
        aborted = {unit for unit in of_events if self.units.disposition[unit] == ord("A")}
        ends = {int(self.units.last[unit]): unit for unit in aborted}
        for row in sorted({*found, *ends}):
            if row in ends:
                self.events.aborted(row, ends[row])
            else:
                self.events.take(row)
        for key, state in self.states.items():
            self._settle(key, state)
        for (_, key), row in self.events.bare.items():
            name = self.events.name(key, self.base.get(key, -1))
            text = f"{name} is created, and the log does not say with which columns: neither redo"
            self.events.told.append(
                (row, f"{text} nor undo says so; create it in the target first")
            )
        self._stated()
        self._assign()
        if self.partitions:
            self._join(aborted)
        self.result.warnings += self.said.warnings
        self.result.warnings += [
            text
            for row, text in self.events.told
            if row not in self.events.gone and self.units.unit[row] not in aborted
        ]

    def _settle(self, key: TableId, state: TableSteps) -> None:
        """A table that the log sees created was, before that, none that the export could mean; one
        that it sees dropped, and another one with its number created as the export describes it, is
        none that the export names; and before columns are dropped, nothing says which it has."""
        if not state.stack:
            return
        first, created = state.steps[0][1], state.stack[0].row
        if state.stack[0].role == RecordRole.INITIALIZE:
            state.steps = [
                (place, -1 if place < created and version == first else version)
                for place, version in state.steps
            ]
        roles = [step.role for step in state.stack]
        gone = roles.index(RecordRole.DROP) if RecordRole.DROP in roles else len(roles)
        made = [step.row for step in state.stack[gone:] if step.role == RecordRole.INITIALIZE]
        if made and RecordRole.INITIALIZE not in roles[:gone] and key in self.base:
            if self._exported(key, self._version_at(key, np.array(made))):
                self._forget(key, state, state.stack[gone].row)
        elif roles[-1] == RecordRole.DROP:
            self._used_again(key, state, state.stack[-1].row)
        dropped = [step.row for step in state.stack if step.role == RecordRole.DROP_COLUMNS]
        if dropped:
            state.steps = [
                (place, -1 if place < dropped[-1] else version) for place, version in state.steps
            ]

    def _stated(self) -> None:
        """Say of all versions what statements of the log say that older rows have in their columns,
        and of additions what rows get."""
        for place, version in enumerate(self.result.versions):
            name = version.table.schema, version.table.name
            columns = tuple(self.said.corrected(name, column) for column in version.format.columns)
            if columns != version.format.columns:
                self.result.versions[place] = replace(
                    version, format=replace(version.format, columns=columns)
                )
        for row, (table, text) in self.said.seen.items():
            known = statements.ids_of(self.tables, table)
            if known:
                about = self.result.versions[self.base[known[0]]].table
                note = StructureChange(Action.NOTE, about, note=" ".join(text.split()))
                self.events.changed(row, self.base[known[0]], note)
        for row, table in self.said.recast:
            for key in statements.ids_of(self.tables, table):
                self._recast(row, key)
        for row, change in self.result.changes.items():
            if change.action is Action.ADD_COLUMNS:
                format_ = self.result.versions[self.result.version[row]].format
                added = format_.columns[-len(change.columns) :]
                self.result.changes[row] = replace(change, defaults=statements.defaults_of(added))

    def _recast(self, row: int, key: TableId) -> None:
        """Rows before a statement that drops columns or gives them other types are not laid out as
        the export describes them."""
        state = self.states.setdefault(key, TableSteps(self.base[key]))
        dropping = int(self.units.unit[row]), RecordRole.DROP_COLUMNS
        if any((step.unit, step.role) == dropping for step in state.stack):
            return
        then = [version for place, version in state.steps if place <= row][-1]
        later = [(place, version) for place, version in state.steps if place > row]
        state.steps = [(-1, -1), (row, then), *later]
        self.events.warn(
            row,
            key,
            "a statement drops columns or gives them other types: its changes before that are"
            " quarantined, and the later ones are read as the catalog export describes the table,"
            " which must be from after it",
        )

    def _used_again(self, key: TableId, state: TableSteps, dropped: int) -> None:
        """Rows that come after a table was dropped, whose making is not in the log, are of the
        table that the export describes; those before are of one that it does not name."""
        base = self.base.get(key, -1)
        if base < 0 or not any(
            self._has_rows(key, slice(max(part.start, dropped), part.stop))
            for part in windows(len(self.records))
            if part.stop > dropped
        ):
            return
        self._forget(key, state, dropped)
        state.steps = [(place, base if place >= dropped else old) for place, old in state.steps]

    def _exported(self, key: TableId, versions: Versions) -> bool:
        """Whether one of some versions has the name of the table that the export describes."""
        name = self.result.versions[self.base[key]].name
        return any(self.result.versions[one].name == name for one in versions.tolist() if one >= 0)

    def _forget(self, key: TableId, state: TableSteps, dropped: int) -> None:
        """What the log has of a table before it was dropped is not of the one that the export
        describes."""
        base = self.base[key]
        state.steps = [
            (row, -1 if row < dropped and self._exported(key, np.array([version])) else version)
            for row, version in state.steps
        ]
        for row in [row for row in self.result.changes if row <= dropped]:
            if self.events.id_of(row) == key and self._exported(key, self.result.version[[row]]):
                del self.result.changes[row]
                self.result.version[row] = -1
        text = (
            f"table {key[1]} of table space {key[0]} is dropped, and its number used again by"
            f" {self.result.versions[base].name}: the changes before that are of a table that the"
            " catalog export does not name, and are quarantined unless the log tells its columns;"
            " where it is in the target, drop it there"
        )
        self.events.told.append((dropped, text))

    def _has_rows(self, key: TableId, part: slice) -> bool:
        of_rows = one_of(self.records["role"][part], _ROWS)
        space, table = (self.records[name][part] for name in ("space", "table"))
        return bool((of_rows & (space == key[0]) & (table == key[1])).any())

    def _version_at(self, key: TableId, places: Index) -> Versions:
        """The version of a table at places of the log (``int64[n]``, numbers of records):
        ``int32[n]``; -1 where it is not known."""
        state = self.states.get(key)
        steps = np.array(state.steps if state else [(-1, self.base.get(key, -1))], np.int64)
        found = steps[np.searchsorted(steps[:, 0], places, "right") - 1, 1]
        return np.asarray(found, np.int32)

    def _join(self, aborted: set[int]) -> None:
        """What becomes of all partitions of a table becomes of it, once."""

        def name_at(key: TableId, row: int) -> tuple[str, str]:
            version = int(self._version_at(key, np.array([row]))[0])
            table = self.result.versions[version].table if version >= 0 else None
            return (table.schema, table.name) if table is not None else ("", "")

        events, said = [], {*self.result.changes}
        for row in sorted({*self.result.changes, *self.events.truncated} - self.events.gone):
            key = self.events.id_of(row)
            unit, version = int(self.units.unit[row]), int(self.result.version[row])
            if key in self.partitions and version >= 0 and unit not in aborted:
                table = self.result.versions[version].table
                truncate = StructureChange(Action.TRUNCATE, table)
                events.append((row, unit, key, self.result.changes.get(row, truncate)))
        self.result.emptied = joined(events, self.partitions, name_at, self.result.changes)
        for row in said - {*self.result.changes}:
            if not self.result.emptied.get(row):
                self.result.version[row] = -1

    def _assign(self) -> None:
        """The version of every record about rows: by its table id, and by its place where that has
        several."""
        unknown: set[tuple[TableId, int]] = set()
        for part in windows(len(self.records)):
            rows = np.flatnonzero(one_of(self.records["role"][part], _ROWS)) + part.start
            for key, here in self._by_table(rows):
                self.result.version[here] = self._version_at(key, here)
                if key in self.states:
                    unknown.update((key, place) for place in self._endless(key, here))
        for key, place in sorted(unknown):
            self.events.warn(
                self.states[key].stack[place].row,
                key,
                "its structure changes in a unit of recovery whose end is not in the log; what"
                " others change in it later is quarantined",
            )

    def _by_table(self, rows: Index) -> Iterator[tuple[TableId, Index]]:
        """Each table that some records are about, and those about it."""
        ids = self.records["space"][rows].astype(np.int64) << 16 | self.records["table"][rows]
        order = np.argsort(ids, kind="stable")
        edges = np.flatnonzero(np.diff(ids[order])) + 1
        for here in np.split(rows[order], edges) if len(rows) else ():
            yield self.events.id_of(int(here[0])), here

    def _endless(self, key: TableId, rows: Index) -> Iterator[int]:
        """Whether a change was kept is unknown to other units where the end of its own is not in
        the log. The places of such changes of which ``rows`` are of others, which are of no known
        version."""
        stack = self.states[key].stack
        for place, step in enumerate(stack):
            if step.unit < 0 or self.units.disposition[step.unit] not in (ord("F"), ord("P")):
                continue
            until = next(
                (later.row for later in stack[place + 1 :] if later.role == RecordRole.INITIALIZE),
                len(self.records),
            )
            others = rows[(rows > step.row) & (rows < until) & (self.units.unit[rows] != step.unit)]
            if len(others):
                self.result.version[others] = -1
                yield place


# -- range-partitioned tables: one table under the ids of its data partitions (section 20)
# -------------------------------------------------------------------------------------------------

#: What empties a partition, or takes it away.
_EMPTIES = (Action.TRUNCATE, Action.DROP_TABLE)


def partitions_of(tables: Mapping[TableId, LuwTable]) -> dict[TableId, Sequence[TableId]]:
    """Of each id that a table of ``tables`` shares with others: all of these. A partitioned table
    has an id of its own too, with negative numbers, that no record has."""
    shared: dict[int, list[TableId]] = {}
    for key, entry in tables.items():
        if min(key) >= 0:
            shared.setdefault(id(entry), []).append(key)
    return {key: keys for keys in shared.values() if len(keys) > 1 for key in keys}


def joined(
    events: Iterable[tuple[int, int, TableId, StructureChange]],
    partitions: Mapping[TableId, Sequence[TableId]],
    name_at: Callable[[TableId, int], tuple[str, str]],
    changes: MutableMapping[int, StructureChange],
) -> dict[int, bool]:
    """Make one change of a table of those of its partitions: ``changes`` (by record) has it at the
    first of them. ``events``: (record, unit, id, change) of partitions, in the order of the log;
    ``name_at``: which table (schema, name) an id is of behind a record.

    Of records that empty a partition: whether that is all they do, so that the rest of the table
    stays (True), or another record of their unit says it of the whole table (False)."""
    groups: dict[object, list[tuple[int, TableId, StructureChange]]] = {}
    for row, unit, key, change in events:
        if change.action is Action.NOTE:
            continue
        what = change if change.action is Action.ADD_COLUMNS else change.action
        name = change.table.schema, change.table.name
        groups.setdefault((unit, name, what), []).append((row, key, change))
    emptied: dict[int, bool] = {}
    for group in groups.values():
        (first, key, change), rest = group[0], [row for row, _, _ in group[1:]]
        name = change.table.schema, change.table.name
        before = {other for other in partitions[key] if name_at(other, first - 1) == name}
        if change.action in _EMPTIES and before - {other for _, other, _ in group}:
            emptied.update((row, True) for row in (first, *rest))
            changes.pop(first, None)
        elif change.action is Action.CREATE_TABLE and before:
            note = replace(change, action=Action.NOTE, note="has one more data partition")
            changes.update((row, note) for row in (first, *rest))
            continue
        elif change.action in _EMPTIES:
            emptied.update((row, False) for row in rest)
        for row in rest:
            changes.pop(row, None)
    return emptied
