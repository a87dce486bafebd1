"""What the records of a log say of tables as a whole (format notes, sections 9.6 to 9.8): each
changes the version of a table id from its place on, until a compensation record takes it back, or
the unit of recovery that made it ends in an abort."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from replay.arrays import Records, Versions
from replay.changes.catalog import ColumnFormat, RowFormat, TableVersion
from replay.logs.db2luw import layouts, units
from replay.logs.db2luw.framing import LuwShape, OpenedFile
from replay.logs.db2luw.layouts import RecordRole, number
from replay.logs.db2luw.tables import (
    LuwTable,
    TableId,
    added_columns,
    described,
    named,
    widened,
)
from replay.logs.indexed_log import version_named
from sqlgen.schema import Table
from sqlgen.structure import Action, StructureChange

#: What a record takes back -> the change it is about.
_UNDOES = {
    RecordRole.UNDO_ADD_COLUMNS: RecordRole.ADD_COLUMNS,
    RecordRole.UNDO_CREATE: RecordRole.INITIALIZE,
    RecordRole.UNDO_DROP: RecordRole.DROP,
    RecordRole.UNDO_DROP_COLUMNS: RecordRole.DROP_COLUMNS,
}
#: Records that say something of a table as a whole.
EVENTS = (
    *_UNDOES, *_UNDOES.values(), RecordRole.REORG, RecordRole.NOT_LOGGED, RecordRole.ATTRIBUTE,
    RecordRole.SCHEMA, RecordRole.TRUNCATE, RecordRole.CREATE,
)  # fmt: skip


@dataclass
class LuwTableHistory:
    """``versions`` of all tables; ``version`` of each record (-1 unknown); ``changes`` of structure
    by record; ``warnings`` for users; ``emptied``: records that empty a data partition, as
    :func:`replay.logs.db2luw.table_history.joined`."""

    versions: list[TableVersion]
    version: Versions
    changes: dict[int, StructureChange] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    emptied: Mapping[int, bool] = field(default_factory=dict)

    def add(self, key: TableId, table: Table, fmt: RowFormat, sequence: int) -> int:
        """The index of one more version."""
        index = len(self.versions)
        self.versions.append(
            version_named(index, table, fmt, space=key[0], number=key[1], sequence=sequence)
        )
        return index


@dataclass
class Step:
    """A change of a table's version that holds: its record, its unit, what it is, and the version
    before it."""

    row: int
    unit: int
    role: RecordRole
    before: int


@dataclass
class TableSteps:
    """A table id: its version now (-1 none), and the changes that led to it and were not taken back
    (``stack``); the places from which on each of its versions counts (``steps``)."""

    version: int
    stack: list[Step] = field(default_factory=list)
    steps: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.steps.append((-1, self.version))

    def take_back(self, row: int, first: int, unit: int) -> set[int]:
        """Take back a unit's changes from number ``first`` of the stack on; their records."""
        gone = set[int]()
        for place in range(len(self.stack) - 1, first - 1, -1):
            step = self.stack[place]
            if step.unit != unit:
                continue
            if place == len(self.stack) - 1:
                self.version = step.before
            else:
                self.stack[place + 1].before = step.before
            gone.add(step.row)
            del self.stack[place]
        self.steps.append((row, self.version))
        return gone


class TableEvents:
    """Takes the records that are :data:`EVENTS` one after the other. ``base``: the version of each
    table id as the catalog export describes it; ``states``: table ids of which the log says
    something; ``told``: warnings by record, ``gone``: records that were taken back, ``truncated``:
    those that empty a table or a partition."""

    def __init__(
        self,
        records: Records,
        resolved: units.Units,
        files: Sequence[OpenedFile],
        tables: Mapping[TableId, LuwTable],
        code_page: int,
        result: LuwTableHistory,
        base: dict[TableId, int],
    ) -> None:
        self.records, self.units, self.files = records, resolved, files
        self.tables, self.code_page = tables, code_page
        self.result, self.base = result, base
        self.states: dict[TableId, TableSteps] = {}
        self.told: list[tuple[int, str]] = []
        self.gone: set[int] = set()
        self.truncated: list[int] = []
        #: Tables that a unit makes, up to where the log says how.
        self.bare: dict[tuple[int, TableId], int] = {}

    def take(self, row: int) -> None:
        """Take what a record says into account."""
        key, role = self.id_of(row), RecordRole(int(self.records["role"][row]))
        state = self.states.setdefault(key, TableSteps(self.base.get(key, -1)))
        handler = {
            RecordRole.INITIALIZE: self._initialize,
            RecordRole.ADD_COLUMNS: self._add_columns,
            RecordRole.DROP: self._drop,
            RecordRole.REORG: self._note,
            RecordRole.ATTRIBUTE: self._note,
            RecordRole.NOT_LOGGED: self._not_logged,
            RecordRole.SCHEMA: self._schema,
            RecordRole.TRUNCATE: lambda row, *_: self.truncated.append(row),
            RecordRole.DROP_COLUMNS: self._drop_columns,
            RecordRole.CREATE: self._create,
        }.get(role, self._undo)
        handler(row, key, state)

    def aborted(self, row: int, unit: int) -> None:
        """Take back what a unit changed that ends with a record."""
        for state in self.states.values():
            if any(step.unit == unit for step in state.stack):
                self.gone |= state.take_back(row, 0, unit)

    def warn(self, row: int, key: TableId, text: str) -> None:
        """Tell something of a table, unless its record is taken back."""
        self.told.append((row, f"{self.name(key, self.states[key].version)}: {text}"))

    def changed(self, row: int, version: int, change: StructureChange) -> None:
        """Note what a record changes."""
        self.result.changes[row], self.result.version[row] = change, version

    def id_of(self, row: int) -> TableId:
        """The table that a record is about."""
        return int(self.records["space"][row]), int(self.records["table"][row])

    def name(self, key: TableId, version: int) -> str:
        """What a table is called in a version; by its ids where it has none."""
        if version >= 0:
            return self.result.versions[version].name
        return f"TS{key[0]}.T{key[1]}"

    def _become(self, row: int, state: TableSteps, version: int) -> None:
        role = RecordRole(int(self.records["role"][row]))
        state.stack.append(Step(row, int(self.units.unit[row]), role, state.version))
        state.version = version
        state.steps.append((row, version))

    def _undo(self, row: int, key: TableId, state: TableSteps) -> None:
        unit, role = int(self.units.unit[row]), _UNDOES[RecordRole(int(self.records["role"][row]))]
        if role is RecordRole.INITIALIZE:
            self.bare.pop((unit, key), None)
        mine = [
            place
            for place, step in enumerate(state.stack)
            if (step.unit, step.role) == (unit, role)
        ]
        if mine:
            self.gone |= state.take_back(row, mine[-1], unit)

    def _record(self, row: int) -> tuple[bytes, LuwShape]:
        """A record after its log manager header."""
        file = self.files[int(self.records["file"][row])]
        start, length = int(self.records["offset"][row]), int(self.records["length"][row])
        begin = start + int(self.records["header"][row])
        return file.buffer(begin, start + length)[begin : start + length].tobytes(), file.shape

    # -- tables that come and go
    # ---------------------------------------------------------------------------------------------

    def _create(self, row: int, key: TableId, state: TableSteps) -> None:
        self.bare[int(self.units.unit[row]), key] = row

    def _initialize(self, row: int, key: TableId, state: TableSteps) -> None:
        self.bare.pop((int(self.units.unit[row]), key), None)
        payload, shape = self._record(row)
        columns, flags = described(payload, shape, self.code_page)
        before, old = state.stack[-1] if state.stack else None, self.name(key, state.version)
        version = -1 if columns is None else self._new_version(key, columns)
        self._become(row, state, version)
        if version < 0:
            self.warn(
                row, key, "its description in the log cannot be read; its changes are quarantined"
            )
            return
        table = self.result.versions[version].table
        self.changed(row, version, StructureChange(Action.CREATE_TABLE, table))
        texts = (
            self._unnamed(key, version, "is created with columns"),
            self._again(key, version, before, old),
        )
        self.told += [(row, text) for text in texts if text]
        if flags & layouts.NOT_LOGGED_INITIALLY:
            self._not_logged(row, key, state)

    def _again(self, key: TableId, version: int, before: Step | None, old: str) -> str:
        """What to say of a table, ``version`` now, whose number had another one, called ``old``
        where nothing had dropped it; ``before`` is what last became of that. Empty where there is
        nothing to say."""
        if before is None:
            return ""
        name, number = self.result.versions[version].name, self.name(key, -1)
        if before.role != RecordRole.DROP:
            return (
                f"{old} is created again as {name}, and nothing in the log drops it: from there on"
                f" the changes of table {key[1]} of table space {key[0]} are those of {name}"
            )
        made = any(step.role == RecordRole.INITIALIZE for step in self.states[key].stack[:-1])
        named = number not in (name, self.result.versions[before.before].name)
        if before.before < 0 or not (made and named):
            return ""  # each has a name of its own, or is said to have none
        return (
            f"{name} is dropped and created again as the catalog export describes it: what the log"
            " has of it before is read so, too, and is wrong where that was another table"
        )

    def _unnamed(self, key: TableId, version: int, what: str) -> str:
        """What to say of a table that ``what`` happens to where nothing but its number names it;
        empty elsewhere."""
        name, table = self.result.versions[version].name, self.result.versions[version].table
        if name != self.name(key, -1):
            return ""
        return (
            f"table {key[1]} of table space {key[0]} {what} that the catalog export does not"
            f" name: it is called {name} here, its columns C1 to C{len(table.columns)}; export"
            " the catalog again"
        )

    def _new_version(self, key: TableId, columns: list[ColumnFormat]) -> int:
        table, fmt = named(columns, key, self.tables.get(key))
        return self.result.add(key, table, fmt, len(self.states[key].steps))

    def _drop(self, row: int, key: TableId, state: TableSteps) -> None:
        if state.version >= 0:
            table = self.result.versions[state.version].table
            dropped = StructureChange(Action.DROP_TABLE, table, reversible=False)
            self.changed(row, state.version, dropped)
        elif not state.stack:
            text = (
                f"table {key[1]} of table space {key[0]} is dropped, and neither the catalog export"
                " nor the log says what it is called: where it is in the target, drop it there"
            )
            self.told.append((row, text))
        self._become(row, state, -1)

    # -- columns
    # ---------------------------------------------------------------------------------------------

    def _add_columns(self, row: int, key: TableId, state: TableSteps) -> None:
        payload, shape = self._record(row)
        arrays = added_columns(payload, shape, self.code_page)
        if arrays is None:
            self._become(row, state, -1)
            self.warn(
                row,
                key,
                "columns are added in a way that cannot be read; its changes are quarantined from"
                " there on",
            )
            return
        old, new = arrays
        if not state.stack:
            self._begin(key, state, old)
        version = self._widened(key, state, old, new)
        self._become(row, state, version)
        if version < 0:
            self.warn(
                row,
                key,
                "nothing names the columns that are added; its changes are quarantined from there"
                " on",
            )
            return
        table = self.result.versions[version].table
        added = table.columns[len(old) :]
        nullable = tuple(replace(column, nullable=True) for column in added)
        self.changed(row, version, StructureChange(Action.ADD_COLUMNS, table, nullable))
        known = self.tables.get(key)
        if known is not None and not {one.name for one in added} <= {
            one.name for one in known.table.columns
        }:
            what = ", ".join(column.name for column in added)
            text = (
                f"{known.table.schema}.{known.table.name} gets columns that the catalog export does"
                f" not know, here called {what}: export the catalog again"
            )
            self.told.append((row, text))

    def _begin(self, key: TableId, state: TableSteps, old: list[ColumnFormat]) -> None:
        """Up to the first change that holds, a table has the columns that this one begins with; the
        export may have them all."""
        table, fmt = named(old, key, self.tables.get(key))
        known = self.result.versions[state.version] if state.version >= 0 else None
        if known is not None and (known.table, known.format) == (table, fmt):
            return
        before, state.version = state.steps[0][1], self._new_version(key, old)
        unnamed = self._unnamed(key, state.version, "has columns")
        if unnamed:  # also where its unit takes back that columns are added
            self.result.warnings.append(unnamed)
        state.steps = [
            (place, state.version if version == before else version)
            for place, version in state.steps
        ]

    def _widened(
        self, key: TableId, state: TableSteps, old: list[ColumnFormat], new: list[ColumnFormat]
    ) -> int:
        """The version of a table with columns added: by the export if it has them; else the table
        as it is called before, and they by their numbers."""
        before = self.result.versions[state.version] if state.version >= 0 else None
        table, fmt = named(new, key, self.tables.get(key))
        if before is not None and f"{table.schema}.{table.name}" != before.name:
            wider = widened(before.table, before.format, old, new)
            if wider is None:
                return -1
            table, fmt = wider
        return self.result.add(key, table, fmt, len(state.steps))

    def _drop_columns(self, row: int, key: TableId, state: TableSteps) -> None:
        name, base = self.name(key, state.version), self.base.get(key, -1)
        another = any(s.role in (RecordRole.INITIALIZE, RecordRole.DROP) for s in state.stack)
        exported = base >= 0 and (not another or self.result.versions[base].name == name)
        self.warn(
            row,
            key,
            "columns are dropped, and the log does not say which: its changes before that are"
            " quarantined, and the later ones are read as the catalog export describes the table,"
            " which must be from after it",
        )
        self._become(row, state, base if exported else -1)

    # -- what a script only notes, or warns of
    # ---------------------------------------------------------------------------------------------

    def _note(self, row: int, key: TableId, state: TableSteps) -> None:
        if state.version < 0:
            return
        is_reorg = self.records["role"][row] == RecordRole.REORG
        note = "reorganised" if is_reorg else self._attributes(row)
        if "data capture off" in note:
            self.warn(
                row,
                key,
                "data capture ends within the log; later changes of it may be missing",
            )
        if note:
            table = self.result.versions[state.version].table
            self.changed(row, state.version, StructureChange(Action.NOTE, table, note=note))

    def _attributes(self, row: int) -> str:
        payload, shape = self._record(row)
        layout = shape.dialect.attribute
        mask, values = (number(payload, 0, layout[name], shape.big) for name in ("mask", "values"))
        return ", ".join(
            f"{name} {'on' if values & bit else 'off'}"
            for bit, name in layouts.ATTRIBUTES.items()
            if mask & bit
        )

    def _not_logged(self, row: int, key: TableId, state: TableSteps) -> None:
        self.warn(
            row,
            key,
            "changed with NOT LOGGED INITIALLY; the changes of that unit of recovery are not in the"
            " log",
        )

    def _schema(self, row: int, key: TableId, state: TableSteps) -> None:
        function = int(self.records["component"][row]), int(self.records["function"][row])
        if function == layouts.PARTITION_STATE:
            text = (
                "a data partition is attached or detached, and the log does not say which: rows"
                " that come or go with it are not in the log, and changes of one that was detached"
                " are taken as the table's; copy the table again"
            )
        else:
            text = (
                f"{layouts.FUNCTION_NAMES[function]} is in the log, and not how: all its rows are"
                " read as the catalog export names and describes them, and are wrong where a column"
                " had another type of the same length; those that do not fit are quarantined"
            )
        self.warn(row, key, text)
