"""Which table a record belongs to, and how its rows are laid out, at its place in the log (format
notes, sections 9.6 to 9.8 and 19).

The log describes a table when it is created and when columns are added; the export describes it at
one moment. Such a change lasts until a compensation record takes it back, or the unit of recovery
that made it ends in an abort; so the layout at any place follows from the records before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from replay.arrays import Index, Records, Versions, one_of
from replay.changes.catalog import ColumnFormat, TableVersion
from replay.logs.db2luw import layouts, statements, units
from replay.logs.db2luw.data_partitions import joined, partitions_of
from replay.logs.db2luw.framing import LuwShape, OpenedFile
from replay.logs.db2luw.layouts import RecordRole, number
from replay.logs.db2luw.tables import (
    LuwTable,
    TableId,
    added_columns,
    described,
    named,
    version_of,
    widened,
)
from replay.spill import Spill, windows
from sqlgen.structure import Action, StructureChange

#: Records that say something of a table as a whole.
_EVENTS = (
    RecordRole.INITIALIZE, RecordRole.ADD_COLUMNS, RecordRole.UNDO_ADD_COLUMNS,
    RecordRole.UNDO_CREATE, RecordRole.DROP,
    RecordRole.UNDO_DROP, RecordRole.REORG, RecordRole.NOT_LOGGED,
    RecordRole.ATTRIBUTE, RecordRole.SCHEMA, RecordRole.TRUNCATE,
    RecordRole.DROP_COLUMNS, RecordRole.UNDO_DROP_COLUMNS,
)  # fmt: skip
#: What a record takes back -> the change it is about.
_UNDOES = {
    RecordRole.UNDO_ADD_COLUMNS: RecordRole.ADD_COLUMNS,
    RecordRole.UNDO_CREATE: RecordRole.INITIALIZE,
    RecordRole.UNDO_DROP: RecordRole.DROP,
    RecordRole.UNDO_DROP_COLUMNS: RecordRole.DROP_COLUMNS,
}
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


@dataclass
class LuwTableHistory:
    """``versions`` of all tables; ``version`` of each record (-1 unknown); ``changes`` of structure
    by record; ``warnings`` for users; ``emptied``: records that empty a data partition, as
    :func:`data_partitions.joined`."""

    versions: list[TableVersion]
    version: Versions
    changes: dict[int, StructureChange] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    emptied: Mapping[int, bool] = field(default_factory=dict)


@dataclass
class _Step:
    """A change of a table's version that holds: its record, its unit, what it is, and the version
    before it."""

    row: int
    unit: int
    role: RecordRole
    before: int


@dataclass
class _State:
    """A table id at a place of the log: its version now (-1 none), and the changes that led to it
    and were not taken back."""

    version: int
    stack: list[_Step] = field(default_factory=list)


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
    versions: list[TableVersion] = []
    of_known: dict[int, int] = {}
    base: dict[TableId, int] = {}
    for key, entry in tables.items():
        if id(entry) not in of_known:
            of_known[id(entry)] = len(versions)
            versions.append(version_of(len(versions), entry.id, entry.table, entry.format, 1))
        base[key] = of_known[id(entry)]
    builder = _Builder(
        records,
        resolved,
        files,
        tables,
        code_page,
        LuwTableHistory(versions, arrays.full(len(records), -1, np.int32)),
        base,
        said,
    )
    builder.run()
    return builder.result


#: Of a table, from which places on its versions count, and these.
_Held = Mapping[TableId, tuple[Index, Versions]]


def _held_of(steps: Mapping[TableId, Sequence[tuple[int, int]]]) -> _Held:
    """Steps as arrays."""
    return {
        key: (
            np.array([place for place, _ in of]),
            np.array([version for _, version in of], np.int32),
        )
        for key, of in steps.items()
    }


def _version_at(
    key: TableId, places: Index, held: _Held, base: Mapping[TableId, int]
) -> Versions | int:
    """The version of a table at places of the log (``int64[n]``, numbers of records): ``int32[n]``,
    or one number where the log changes nothing of it; -1 where it is not known."""
    if key not in held:
        return base.get(key, -1)
    begins, versions = held[key]
    return np.asarray(versions[np.searchsorted(begins, places, "right") - 1])


def _by_table(records: Records, rows: Index) -> Iterator[tuple[TableId, Index]]:
    """Each table that some records are about, and those about it."""
    ids = (records["space"][rows].astype(np.int64) << 16) | records["table"][rows]
    order = np.argsort(ids, kind="stable")
    edges = np.flatnonzero(np.diff(ids[order])) + 1
    for here in np.split(rows[order], edges) if len(rows) else ():
        yield (int(records["space"][here[0]]), int(records["table"][here[0]])), here


class _Builder:
    def __init__(
        self,
        records: Records,
        resolved: units.Units,
        files: Sequence[OpenedFile],
        tables: Mapping[TableId, LuwTable],
        code_page: int,
        result: LuwTableHistory,
        base: dict[TableId, int],
        said: statements.Statements,
    ) -> None:
        self.records, self.units, self.files, self.tables, self.code_page = (
            records,
            resolved,
            files,
            tables,
            code_page,
        )
        self.result, self.base, self.said = result, base, said
        self.states: dict[TableId, _State] = {}
        self.steps: dict[TableId, list[tuple[int, int]]] = {}
        self.told: list[tuple[int, str]] = []
        self.gone: set[int] = set()
        self.partitions = partitions_of(tables)
        self.truncated: list[int] = []

    def run(self) -> None:
        role = self.records["role"]
        events = np.concatenate(
            [
                np.zeros(0, np.int64),
                *(
                    np.flatnonzero(one_of(role[part], _EVENTS)) + part.start
                    for part in windows(len(role))
                ),
            ]
        )
        of = self.units.unit[events]
        aborted = {
            unit
            for unit in np.unique(of[of >= 0]).tolist()
            if self.units.disposition[unit] == ord("A")
        }
        ends = {int(self.units.last[unit]): unit for unit in aborted}
        for row in sorted({*events.tolist(), *ends}):
            if row in ends:
                self._aborted(row, ends[row])
            else:
                self._event(row)
        for key, state in self.states.items():
            self._settle(key, state)
        self._stated()
        self._assign()
        if self.partitions:
            self._join(aborted)
        self.result.warnings += self.said.warnings
        self.result.warnings += [
            text
            for row, text in self.told
            if row not in self.gone and self.units.unit[row] not in aborted
        ]

    def _settle(self, key: TableId, state: _State) -> None:
        """A table that the log sees created was, before that, none that the export could mean; and
        before columns are dropped, nothing says which it has."""
        if state.stack and state.stack[0].role == RecordRole.INITIALIZE:
            first, created = self.steps[key][0][1], state.stack[0].row
            self.steps[key] = [
                (place, -1 if place < created and version == first else version)
                for place, version in self.steps[key]
            ]
        if state.stack and state.stack[-1].role == RecordRole.DROP:
            self._used_again(key, state, state.stack[-1].row)
        dropped = [step.row for step in state.stack if step.role == RecordRole.DROP_COLUMNS]
        if dropped:
            self.steps[key] = [
                (place, -1 if place < dropped[-1] else version)
                for place, version in self.steps[key]
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
                self._changed(row, self.base[known[0]], note)
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
        state, unit = self.states.get(key), int(self.units.unit[row])
        if state is not None and any(
            (step.unit, step.role) == (unit, RecordRole.DROP_COLUMNS) for step in state.stack
        ):
            return
        steps = self.steps.get(key, [(-1, self.base[key])])
        then = [version for place, version in steps if place <= row][-1]
        later = [(place, version) for place, version in steps if place > row]
        self.steps[key] = [(-1, -1), (row, then), *later]
        self.states.setdefault(key, _State(then))
        self._warn(
            row,
            f"{self._name(key, self.states[key])}: a statement drops columns or gives them other"
            " types: its changes before that are quarantined, and the later ones are read as the"
            " catalog export describes the table, which must be from after it",
        )

    def _used_again(self, key: TableId, state: _State, dropped: int) -> None:
        """Rows that come after a table was dropped, whose making is not in the log, are of the
        table that the export describes; those before are of one that it does not name."""
        base = self.base.get(key, -1)
        if base < 0 or not any(
            self._has_rows(key, slice(max(part.start, dropped), part.stop))
            for part in windows(len(self.records))
            if part.stop > dropped
        ):
            return
        self.steps[key] = [
            (place, base if place >= dropped else -1 if version == base else version)
            for place, version in self.steps[key]
        ]
        for row in [row for row, change in self.result.changes.items() if row <= dropped]:
            ids = int(self.records["space"][row]), int(self.records["table"][row])
            if ids == key and self.result.version[row] == base:
                del self.result.changes[row]
                self.result.version[row] = -1
        self._warn(
            dropped,
            f"table {key[1]} of table space {key[0]} is dropped, and its number used again by"
            f" {self.result.versions[base].name}: the changes before that are of a table that the"
            " catalog export does not name, and are quarantined; where it is in the target, drop it"
            " there",
        )

    def _has_rows(self, key: TableId, part: slice) -> bool:
        of_rows = one_of(self.records["role"][part], _ROWS)
        space, table = (self.records[name][part] for name in ("space", "table"))
        return bool((of_rows & (space == key[0]) & (table == key[1])).any())

    def _join(self, aborted: set[int]) -> None:
        """What becomes of all partitions of a table becomes of it, once."""
        held = _held_of(self.steps)

        def name_at(key: TableId, row: int) -> tuple[str, str]:
            version = int(np.max(_version_at(key, np.array([row]), held, self.base)))
            table = self.result.versions[version].table if version >= 0 else None
            return (table.schema, table.name) if table is not None else ("", "")

        events, said = [], {*self.result.changes}
        for row in sorted({*self.result.changes, *self.truncated} - self.gone):
            key = int(self.records["space"][row]), int(self.records["table"][row])
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
        held = _held_of(self.steps)
        unknown: set[tuple[TableId, int]] = set()
        for part in windows(len(self.records)):
            rows = np.flatnonzero(one_of(self.records["role"][part], _ROWS)) + part.start
            for key, here in _by_table(self.records, rows):
                self.result.version[here] = _version_at(key, here, held, self.base)
                if key not in held:
                    continue
                unknown.update((key, place) for place in self._endless(key, here))
        for key, place in sorted(unknown):
            text = (
                f"{self._name(key, self.states[key])}: its structure changes in a unit of recovery"
                " whose end is not in the log; what others change in it later is quarantined"
            )
            self.told.append((self.states[key].stack[place].row, text))

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

    # -- one event
    # ---------------------------------------------------------------------------------------------

    def _event(self, row: int) -> None:
        key = int(self.records["space"][row]), int(self.records["table"][row])
        role = RecordRole(int(self.records["role"][row]))
        if key not in self.states:
            first = self.base.get(key, -1)
            self.states[key] = _State(first)
            self.steps[key] = [(-1, first)]
        state = self.states[key]
        handler = {
            RecordRole.INITIALIZE: self._initialize,
            RecordRole.ADD_COLUMNS: self._add_columns,
            RecordRole.DROP: self._drop,
            RecordRole.REORG: self._note,
            RecordRole.ATTRIBUTE: self._note,
            RecordRole.NOT_LOGGED: self._not_logged,
            RecordRole.SCHEMA: self._schema,
            RecordRole.TRUNCATE: self._truncate,
            RecordRole.DROP_COLUMNS: self._drop_columns,
        }.get(role, self._undo)
        handler(row, key, state)

    def _become(self, row: int, key: TableId, state: _State, version: int) -> None:
        state.stack.append(
            _Step(
                row,
                int(self.units.unit[row]),
                RecordRole(int(self.records["role"][row])),
                state.version,
            )
        )
        state.version = version
        self.steps[key].append((row, version))

    def _take_back(self, row: int, key: TableId, state: _State, first: int, unit: int) -> None:
        """Take back a unit's changes from number ``first`` of the table's stack on."""
        for place in range(len(state.stack) - 1, first - 1, -1):
            step = state.stack[place]
            if step.unit != unit:
                continue
            if place == len(state.stack) - 1:
                state.version = step.before
            else:
                state.stack[place + 1].before = step.before
            self.gone.add(step.row)
            del state.stack[place]
        self.steps[key].append((row, state.version))

    def _aborted(self, row: int, unit: int) -> None:
        for key, state in self.states.items():
            if any(step.unit == unit for step in state.stack):
                self._take_back(row, key, state, 0, unit)

    def _warn(self, row: int, text: str) -> None:
        self.told.append((row, text))

    def _record(self, row: int) -> tuple[bytes, LuwShape]:
        """A record after its log manager header."""
        file = self.files[int(self.records["file"][row])]
        start, length = int(self.records["offset"][row]), int(self.records["length"][row])
        begin = start + int(self.records["header"][row])
        return file.buffer(begin, start + length)[begin : start + length].tobytes(), file.shape

    def _name(self, key: TableId, state: _State) -> str:
        return (
            self.result.versions[state.version].name
            if state.version >= 0
            else f"TS{key[0]}.T{key[1]}"
        )

    def _new_version(self, key: TableId, columns: list[ColumnFormat]) -> int:
        table, fmt = named(columns, key, self.tables.get(key))
        version = version_of(len(self.result.versions), key, table, fmt, len(self.steps[key]))
        self.result.versions.append(version)
        return version.index

    def _changed(self, row: int, version: int, change: StructureChange) -> None:
        self.result.changes[row] = change
        self.result.version[row] = version

    def _initialize(self, row: int, key: TableId, state: _State) -> None:
        payload, shape = self._record(row)
        columns, flags = described(payload, shape, self.code_page)
        before = state.stack[-1] if state.stack else None
        old = self._name(key, state)
        version = -1 if columns is None else self._new_version(key, columns)
        self._become(row, key, state, version)
        if version < 0:
            self._warn(
                row,
                f"TS{key[0]}.T{key[1]}: its description in the log cannot be read; its changes are"
                " quarantined",
            )
            return
        self._changed(
            row, version, StructureChange(Action.CREATE_TABLE, self.result.versions[version].table)
        )
        unnamed = self._unnamed(key, version, "is created with columns")
        if unnamed:
            self._warn(row, unnamed)
        again = self._again(key, version, before, old)
        if again:
            self._warn(row, again)
        if flags & layouts.NOT_LOGGED_INITIALLY:
            self._not_logged(row, key, state)

    def _again(self, key: TableId, version: int, before: _Step | None, old: str) -> str:
        """What to say of a table, ``version`` now, whose number had another one, called ``old``
        where nothing had dropped it; ``before`` is what last became of that. Empty where there is
        nothing to say."""
        if before is None:
            return ""
        name, number = self.result.versions[version].name, f"TS{key[0]}.T{key[1]}"
        if before.role != RecordRole.DROP:
            return (
                f"{old} is created again as {name}, and nothing in the log drops it: from there on"
                f" the changes of table {key[1]} of table space {key[0]} are those of {name}"
            )
        if before.before < 0 or number in (name, self.result.versions[before.before].name):
            return ""  # each has a name of its own, or is said to have none
        return (
            f"{name} is dropped and created again as the catalog export describes it: what the log"
            " has of it before is read so, too, and is wrong where that was another table"
        )

    def _unnamed(self, key: TableId, version: int, what: str) -> str:
        """What to say of a table that ``what`` happens to where nothing but its number names it;
        empty elsewhere."""
        table = self.result.versions[version].table
        name = self.result.versions[version].name
        return (
            f"table {key[1]} of table space {key[0]} {what} that the catalog export does not"
            f" name: it is called {name} here, its columns C1 to C{len(table.columns)}; export"
            " the catalog again"
            if name == f"TS{key[0]}.T{key[1]}"
            else ""
        )

    def _add_columns(self, row: int, key: TableId, state: _State) -> None:
        payload, shape = self._record(row)
        arrays = added_columns(payload, shape, self.code_page)
        if arrays is None:
            self._become(row, key, state, -1)
            self._warn(
                row,
                f"{self._name(key, state)}: columns are added in a way that cannot be read; its"
                " changes are quarantined from there on",
            )
            return
        old, new = arrays
        if not state.stack:
            self._begin(key, state, old)
        version = self._widened(key, state, old, new)
        self._become(row, key, state, version)
        if version < 0:
            self._warn(
                row,
                f"TS{key[0]}.T{key[1]}: nothing names the columns that are added; its changes are"
                " quarantined from there on",
            )
            return
        table = self.result.versions[version].table
        added = table.columns[len(old) :]
        self._changed(
            row,
            version,
            StructureChange(
                Action.ADD_COLUMNS,
                table,
                tuple(replace(column, nullable=True) for column in added),
            ),
        )
        known = self.tables.get(key)
        if known is not None and {column.name for column in added} - {
            column.name for column in known.table.columns
        }:
            what = ", ".join(column.name for column in added)
            name = f"{known.table.schema}.{known.table.name}"
            self._warn(
                row,
                f"{name} gets columns that the catalog export does not know, here called {what}:"
                " export the catalog again",
            )

    def _begin(self, key: TableId, state: _State, old: list[ColumnFormat]) -> None:
        """Up to the first change that holds, a table has the columns that this one begins with; the
        export may have them all."""
        table, fmt = named(old, key, self.tables.get(key))
        if state.version >= 0 and (
            self.result.versions[state.version].table,
            self.result.versions[state.version].format,
        ) == (table, fmt):
            return
        before, state.version = self.steps[key][0][1], self._new_version(key, old)
        unnamed = self._unnamed(key, state.version, "has columns")
        if unnamed:  # also where its unit takes back that columns are added
            self.result.warnings.append(unnamed)
        self.steps[key] = [
            (place, state.version if version == before else version)
            for place, version in self.steps[key]
        ]

    def _widened(
        self, key: TableId, state: _State, old: list[ColumnFormat], new: list[ColumnFormat]
    ) -> int:
        """The version of a table with columns added: by the export if it has them; else the table
        as it is called before, and they by their numbers."""
        before = self.result.versions[state.version] if state.version >= 0 else None
        table, fmt = named(new, key, self.tables.get(key))
        if before is not None and (table.schema, table.name) != (
            before.table.schema,
            before.table.name,
        ):
            wider = widened(before.table, before.format, old, new)
            if wider is None:
                return -1
            table, fmt = wider
        version = version_of(len(self.result.versions), key, table, fmt, len(self.steps[key]))
        self.result.versions.append(version)
        return version.index

    def _drop(self, row: int, key: TableId, state: _State) -> None:
        if state.version < 0 and not state.stack:
            self._warn(
                row,
                f"table {key[1]} of table space {key[0]} is dropped, and neither the catalog export"
                " nor the log says what it is called: where it is in the target, drop it there",
            )
        if state.version >= 0:
            table = self.result.versions[state.version].table
            self._changed(
                row, state.version, StructureChange(Action.DROP_TABLE, table, reversible=False)
            )
        self._become(row, key, state, -1)

    def _undo(self, row: int, key: TableId, state: _State) -> None:
        unit, role = int(self.units.unit[row]), _UNDOES[RecordRole(int(self.records["role"][row]))]
        mine = [
            place
            for place, step in enumerate(state.stack)
            if (step.unit, step.role) == (unit, role)
        ]
        if mine:
            self._take_back(row, key, state, mine[-1], unit)

    def _drop_columns(self, row: int, key: TableId, state: _State) -> None:
        name, base = self._name(key, state), self.base.get(key, -1)
        another = any(s.role in (RecordRole.INITIALIZE, RecordRole.DROP) for s in state.stack)
        exported = base >= 0 and (not another or self.result.versions[base].name == name)
        self._become(row, key, state, base if exported else -1)
        self._warn(
            row,
            f"{name}: columns are dropped, and the log does not say which: its"
            " changes before that are quarantined, and the later ones are read as the catalog"
            " export"
            " describes the table, which must be from after it",
        )

    def _truncate(self, row: int, key: TableId, state: _State) -> None:
        self.truncated.append(row)

    def _note(self, row: int, key: TableId, state: _State) -> None:
        if state.version < 0:
            return
        note = (
            "reorganised"
            if self.records["role"][row] == RecordRole.REORG
            else self._attributes(row)
        )
        if "data capture off" in note:
            self._warn(
                row,
                f"{self._name(key, state)}: data capture ends within the log; later changes of it"
                " may be missing",
            )
        if note:
            self._changed(
                row,
                state.version,
                StructureChange(Action.NOTE, self.result.versions[state.version].table, note=note),
            )

    def _attributes(self, row: int) -> str:
        payload, shape = self._record(row)
        layout = shape.dialect.attribute
        mask, values = (number(payload, 0, layout[name], shape.big) for name in ("mask", "values"))
        return ", ".join(
            f"{name} {'on' if values & bit else 'off'}"
            for bit, name in layouts.ATTRIBUTES.items()
            if mask & bit
        )

    def _not_logged(self, row: int, key: TableId, state: _State) -> None:
        self._warn(
            row,
            f"{self._name(key, state)}: changed with NOT LOGGED INITIALLY; the changes of that unit"
            " of recovery are not in the log",
        )

    def _schema(self, row: int, key: TableId, state: _State) -> None:
        function = int(self.records["component"][row]), int(self.records["function"][row])
        if function == layouts.PARTITION_STATE:
            self._warn(
                row,
                f"{self._name(key, state)}: a data partition is attached or detached, and the log"
                " does not say which: rows that come or go with it are not in the log, and changes"
                " of one that was detached are taken as the table's; copy the table again",
            )
            return
        what = layouts.FUNCTION_NAMES[function]
        self._warn(
            row,
            f"{self._name(key, state)}: {what} is in the log, and not how: all its rows are read as"
            " the catalog export names and describes them, and are wrong where a column had another"
            " type of the same length; those that do not fit are quarantined",
        )
