"""Which table a record belongs to, and how its rows are laid out, at its place in the log (format notes, sections 9.6 to 9.8 and 19).

The log describes a table when it is created and when columns are added; the export describes it at one moment. Undoing such a change is logged as
well, so the layout at any place follows from the records before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from replay.catalog import ColumnFormat, TableVersion
from replay.logs.db2luw import layouts
from replay.logs.db2luw.binary import number
from replay.logs.db2luw.framing import Shape
from replay.logs.db2luw.layouts import Role
from replay.logs.db2luw.tables import Known, TableId, descriptor_columns, named, version_of
from sqlgen.structure import Action, StructureChange

Bytes = npt.NDArray[np.uint8]

#: Records that say something of a table as a whole.
_EVENTS = (
    Role.INITIALIZE, Role.ADD_COLUMNS, Role.UNDO_ADD_COLUMNS, Role.UNDO_CREATE, Role.DROP, Role.UNDO_DROP, Role.REORG, Role.NOT_LOGGED,
    Role.ATTRIBUTE, Role.SCHEMA,
)  # fmt: skip
_ROWS = (Role.INSERT, Role.DELETE, Role.UPDATE, Role.UNDO_INSERT, Role.UNDO_DELETE, Role.UNDO_UPDATE, Role.TRUNCATE, Role.PARTIAL_UPDATE)


@dataclass
class Timeline:
    """``versions`` of all tables; ``version`` of each record (-1 unknown); ``changes`` of structure by record; ``warnings`` for users."""

    versions: list[TableVersion]
    version: npt.NDArray[np.int32]
    changes: dict[int, StructureChange] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


@dataclass
class _State:
    """A table id at a place of the log: its version now (-1 none), and those before each change that may be undone."""

    version: int
    undo: list[int] = field(default_factory=list)


def build(
    found: npt.NDArray[np.void], buffers: Mapping[int, tuple[Bytes, Shape]], known: Mapping[TableId, Known], code_page: int
) -> Timeline:
    """The timeline of a log. ``buffers`` are the bytes and shape of each file."""
    versions: list[TableVersion] = []
    of_known: dict[int, int] = {}
    base: dict[TableId, int] = {}
    for key, entry in known.items():
        if id(entry) not in of_known:
            of_known[id(entry)] = len(versions)
            versions.append(version_of(len(versions), entry.id, entry.table, entry.format, 1))
        base[key] = of_known[id(entry)]
    builder = _Builder(found, buffers, known, code_page, Timeline(versions, np.full(len(found), -1, np.int32)), base)
    builder.run()
    return builder.result


class _Builder:
    def __init__(
        self,
        found: npt.NDArray[np.void],
        buffers: Mapping[int, tuple[Bytes, Shape]],
        known: Mapping[TableId, Known],
        code_page: int,
        result: Timeline,
        base: dict[TableId, int],
    ) -> None:
        self.found, self.buffers, self.known, self.code_page = found, buffers, known, code_page
        self.result, self.base = result, base
        self.states: dict[TableId, _State] = {}
        self.steps: dict[TableId, list[tuple[int, int]]] = {}

    def run(self) -> None:
        for row in np.flatnonzero(np.isin(self.found["role"], _EVENTS)).tolist():
            self._event(row)
        self._assign()

    def _assign(self) -> None:
        """The version of every record about rows: by its table id, and by its place where that has several."""
        rows = np.flatnonzero(np.isin(self.found["role"], _ROWS))
        ids = (self.found["space"][rows].astype(np.int64) << 16) | self.found["table"][rows]
        for value in np.unique(ids).tolist():
            key = (value >> 16, value & 0xFFFF)
            here = rows[ids == value]
            steps = self.steps.get(key)
            if steps is None:
                self.result.version[here] = self.base.get(key, -1)
                continue
            places = np.array([place for place, _ in steps])
            values = np.array([version for _, version in steps], np.int32)
            self.result.version[here] = values[np.searchsorted(places, here, side="right") - 1]

    # -- one event ----------------------------------------------------------------------------------------------------------------------

    def _event(self, row: int) -> None:
        key = int(self.found["space"][row]), int(self.found["table"][row])
        role = Role(int(self.found["role"][row]))
        if key not in self.states:
            first = -1 if role == Role.INITIALIZE else self.base.get(key, -1)
            self.states[key] = _State(first)
            self.steps[key] = [(-1, first)]
        state = self.states[key]
        handler = {
            Role.INITIALIZE: self._initialize,
            Role.ADD_COLUMNS: self._add_columns,
            Role.DROP: self._drop,
            Role.REORG: self._note,
            Role.ATTRIBUTE: self._note,
            Role.NOT_LOGGED: self._not_logged,
            Role.SCHEMA: self._schema,
        }.get(role, self._undo)
        handler(row, key, state)

    def _become(self, row: int, key: TableId, state: _State, version: int) -> None:
        state.undo.append(state.version)
        state.version = version
        self.steps[key].append((row, version))

    def _record(self, row: int) -> tuple[bytes, Shape]:
        """A record after its log manager header."""
        buffer, shape = self.buffers[int(self.found["file"][row])]
        start, length = int(self.found["offset"][row]), int(self.found["length"][row])
        return buffer[start + int(self.found["header"][row]) : start + length].tobytes(), shape

    def _name(self, key: TableId, state: _State) -> str:
        return self.result.versions[state.version].name if state.version >= 0 else f"TS{key[0]}.T{key[1]}"

    def _new_version(self, key: TableId, columns: list[ColumnFormat]) -> int:
        table, fmt = named(columns, key, self.known.get(key))
        version = version_of(len(self.result.versions), key, table, fmt, len(self.steps[key]))
        self.result.versions.append(version)
        return version.index

    def _changed(self, row: int, version: int, change: StructureChange) -> None:
        self.result.changes[row] = change
        self.result.version[row] = version

    def _initialize(self, row: int, key: TableId, state: _State) -> None:
        payload, shape = self._record(row)
        columns = _described(payload, shape, self.code_page)
        again = state.version >= 0 or len(self.steps[key]) > 1
        version = -1 if columns is None else self._new_version(key, columns)
        self._become(row, key, state, version)
        if version < 0:
            self.result.warnings.append(f"TS{key[0]}.T{key[1]}: its description in the log cannot be read; its changes are set aside")
            return
        self._changed(row, version, StructureChange(Action.CREATE_TABLE, self.result.versions[version].table))
        if again:
            name = self.result.versions[version].name
            self.result.warnings.append(
                f"TS{key[0]}.T{key[1]} is created although the log has it already: from there on its changes are those of {name}"
            )
        flags = number(payload, 0, shape.dialect.initialize["flags"], shape.big)
        if flags & layouts.NOT_LOGGED_INITIALLY:
            self._not_logged(row, key, state)

    def _add_columns(self, row: int, key: TableId, state: _State) -> None:
        payload, shape = self._record(row)
        arrays = _added(payload, shape, self.code_page)
        if arrays is None:
            self._become(row, key, state, -1)
            self.result.warnings.append(
                f"{self._name(key, state)}: columns are added in a way that cannot be read; its changes are set aside from there on"
            )
            return
        old, new = arrays
        if len(self.steps[key]) == 1:
            first = self._new_version(key, old)
            self.steps[key] = [(-1, first)]
            state.version = first
        version = self._new_version(key, new)
        added = self.result.versions[version].table.columns[len(old) :]
        self._become(row, key, state, version)
        table = self.result.versions[version].table
        self._changed(row, version, StructureChange(Action.ADD_COLUMNS, table, tuple(replace(column, nullable=True) for column in added)))
        known = self.known.get(key)
        if known is not None and table.name != known.table.name:
            self.result.warnings.append(
                f"{known.table.schema}.{known.table.name} gets columns that the catalog export does not know: export the catalog again"
            )

    def _drop(self, row: int, key: TableId, state: _State) -> None:
        if state.version >= 0:
            table = self.result.versions[state.version].table
            self._changed(row, state.version, StructureChange(Action.DROP_TABLE, table, reversible=False))
        self._become(row, key, state, -1)

    def _undo(self, row: int, key: TableId, state: _State) -> None:
        if state.undo:
            state.version = state.undo.pop()
            self.steps[key].append((row, state.version))

    def _note(self, row: int, key: TableId, state: _State) -> None:
        if state.version < 0:
            return
        note = "reorganised" if self.found["role"][row] == Role.REORG else self._attributes(row)
        if "data capture off" in note:
            self.result.warnings.append(f"{self._name(key, state)}: data capture ends within the log; later changes of it may be missing")
        if note:
            self._changed(row, state.version, StructureChange(Action.NOTE, self.result.versions[state.version].table, note=note))

    def _attributes(self, row: int) -> str:
        payload, shape = self._record(row)
        layout = shape.dialect.attribute
        mask, values = (number(payload, 0, layout[name], shape.big) for name in ("mask", "values"))
        return ", ".join(f"{name} {'on' if values & bit else 'off'}" for bit, name in layouts.ATTRIBUTES.items() if mask & bit)

    def _not_logged(self, row: int, key: TableId, state: _State) -> None:
        self.result.warnings.append(
            f"{self._name(key, state)}: changed with NOT LOGGED INITIALLY; the changes of that unit of recovery are not in the log"
        )

    def _schema(self, row: int, key: TableId, state: _State) -> None:
        what = layouts.FUNCTION_NAMES[int(self.found["component"][row]), int(self.found["function"][row])]
        self.result.warnings.append(
            f"{self._name(key, state)}: {what} is in the log, and not how; rows that do not fit the catalog export are set aside"
        )


def _described(payload: bytes, shape: Shape, code_page: int) -> list[ColumnFormat] | None:
    """The columns of an initialize-table record. Where v97 has the description is not published: the place that closes the record counts."""
    for dialect in (shape.dialect, layouts.DIALECTS["v7"], layouts.DIALECTS["v10"]):
        layout = dialect.initialize
        start, size = layout["description"].offset, number(payload, 0, layout["size"], shape.big)
        count = number(payload, start, layouts.DESCRIPTION["columns"], shape.big)
        if start + size == len(payload) and count * layouts.DESCRIPTOR_SIZE + layouts.DESCRIPTION["array"].offset <= size:
            columns = descriptor_columns(payload[start + layouts.DESCRIPTION["array"].offset :], count, shape.big, code_page)
            if columns is not None:
                return columns
    return None


def _added(payload: bytes, shape: Shape, code_page: int) -> tuple[list[ColumnFormat], list[ColumnFormat]] | None:
    """(columns before, columns after) of an add-columns record; the former must be the first of the latter."""
    counts = [number(payload, 0, layouts.ADD_COLUMNS[name], shape.big) for name in ("old", "new")]
    each = layouts.DESCRIPTOR_SIZE + layouts.LOB_DESCRIPTOR_SIZE
    start = layouts.ADD_COLUMNS["arrays"].offset
    rest = len(payload) - start - each * sum(counts)
    if not 0 <= rest <= layouts.ADD_COLUMNS_TAIL or counts[1] <= counts[0]:
        return None
    old = descriptor_columns(payload[start:], counts[0], shape.big, code_page)
    new = descriptor_columns(payload[start + each * counts[0] :], counts[1], shape.big, code_page)
    if old is None or new is None or old != new[: len(old)]:
        return None
    return old, new
