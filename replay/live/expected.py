"""The rows that a log adds to a table of a target and takes away, in logreplay's own types."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Mask
from replay.changes.catalog import TableVersion, names_apart
from replay.changes.choices import Mode
from replay.changes.envelope import ROW_CHANGES, Change
from replay.changes.options import Export
from replay.changes.position import UnitId, UnitPosition
from replay.csv_states import CsvForm
from replay.engine.contract import SPLIT_BYTES
from replay.live.comparable import ComparedColumn, of_values
from replay.live.differences import RowHash, SignedRows
from replay.live.preflight import refuse_problems
from replay.live.replay_request import ReplayInput
from replay.output.formats import ROW_BATCHES, Dataset
from replay.output.initial_load import proof_in
from replay.output.row_changes import row_changes
from replay.output.structure import catalog_drops
from replay.output.table_lives import (
    BEHIND,
    Place,
    committed,
    place_in_log,
    place_of_drop,
    precedes,
    rows_before,
    structure_images,
)
from replay.pipeline.plan import make_plan
from replay.storage import at
from sqlgen.render_options import RenderOptions, shown_columns
from sqlgen.schema import Table
from sqlgen.structure import Action

_OPS = pa.array(["insert", "update", "delete"])
_EMPTYING = (Change.TRUNCATE, Change.MASS_DELETE)
#: Changes of structure after which a table holds no row, and those that leave its rows alone.
_RENEWING = frozenset({Action.CREATE_TABLE.value, Action.DROP_TABLE.value})
_HARMLESS = frozenset({Action.CREATE_INDEX.value, Action.DROP_INDEX.value, Action.NOTE.value})
_MOVING = frozenset({Action.RENAME_TABLE.value, Action.STATEMENT.value})


@dataclass(frozen=True)
class TableChanges:
    """What a log says of one table of the target: its forms (``versions``), whether it ``changes``
    rows there, the place of the last change that left it empty, whether it was dropped, and why its
    rows cannot be followed ('' where they can)."""

    versions: tuple[TableVersion, ...]
    changes: bool
    emptied: Place | None = None
    dropped: bool = False
    unknown: str = ""


class LogChanges:
    """The changes of a log up to where the target stands, written into ``folder`` as batches of
    values.

    ``until``: the last unit; None: all. ``pending``: units before it that the target lacks.
    ``state``: the folder of the state before the log, in this ``form``, which proves flagged units
    as the target does when they are applied. Raises what a replay of the same log raises before it
    writes: InputError (LR2016) for a damaged log.
    """

    def __init__(
        self,
        work: ReplayInput,
        until: UnitPosition | None,
        pending: frozenset[UnitId],
        folder: Path,
        state: Path,
        form: CsvForm | None = None,
    ) -> None:
        self.work, self.log = work, work.log
        self.until, self.pending = until, pending
        self.profile, self.spelled = work.options.profile, work.options.spelled
        options = replace(work.options, render=_without_large(work), trace=False)
        chosen = replace(work.selection, until_position=None if until is None else until.commit)
        plan = make_plan(work.log, Mode.REDO, chosen, options, SPLIT_BYTES, work.engine)
        plan = replace(plan, export=Export(ROW_BATCHES), constraints=work.constraints)
        proof = proof_in(at(state), work.log, form)
        self._changes = row_changes(plan, work.log, work.engine, folder, state=proof)
        refuse_problems(self._changes.tally, [])
        self.partial = not self._changes.plan.whole_rows
        versions = work.log.catalog.versions
        self._names = names_apart(_name(version.source) for version in versions)
        self._structure: dict[str, list[tuple[Place, str]]] = {}
        for drop in catalog_drops(work.log):
            place = place_of_drop(drop)
            if drop.amid and (until is None or precedes(place, self._end)):
                act = Action.CREATE_TABLE if drop.table.later else Action.DROP_TABLE
                name = self._identity(drop.table.name)
                self._structure.setdefault(name, []).append((place, act.value))
        for place, image in structure_images(self._changes, self._within):
            if image["action"] not in _HARMLESS:
                name = self._identity(f"{image['table_owner']}.{image['table_name']}")
                self._structure.setdefault(name, []).append((place, image["action"]))

    def _identity(self, name: str) -> str:
        """The one name of a table (OWNER.NAME) whatever its case, where that is one table."""
        return self._names.get(name) or self._names.get(name.upper(), name.upper())

    def tables(self, schema: str) -> dict[str, TableChanges]:
        """What the log says of the tables of a schema of the target, by their names there."""
        versions_of: dict[str, list[TableVersion]] = {}
        taken = self.log.catalog.taken_by(self.work.selection.takes_tables)
        for version in self.log.catalog.versions:
            if self.spelled(version.table.schema) == schema and taken[version.index]:
                versions_of.setdefault(self.spelled(version.table.name), []).append(version)
        return {name: self._changes_of(versions) for name, versions in versions_of.items()}

    def _changes_of(self, versions: Sequence[TableVersion]) -> TableChanges:
        kinds = {
            Change(kind)
            for version, kind in self._changes.tally.changes
            if version in {entry.index for entry in versions}
        }
        names = {self._identity(_name(entry.source)) for entry in versions}
        acts = sorted(act for name in names for act in self._structure.get(name, ()))
        ends = [(place, action) for place, action in acts if action in _RENEWING]
        emptied = [place for place, _ in ends]
        for _, rows in self._of(versions) if kinds & set(_EMPTYING) else ():
            events = rows.filter(pc.equal(rows["op"], "truncate"))
            events = events.filter(pa.array(self._within(events)))
            emptied += map(place_in_log, events.to_pylist())
        moved = sorted({action for _, action in acts if action in _MOVING})
        unknown = f"the log changes its structure ({', '.join(moved)})" if moved else ""
        if len(names) > 1 and emptied:
            unknown, emptied, ends = "the log empties one of the tables that become it", [], []
        return TableChanges(
            tuple(versions),
            bool(kinds & {*ROW_CHANGES, *_EMPTYING}),
            max(emptied, default=None),
            bool(ends) and ends[-1][1] == Action.DROP_TABLE.value,
            unknown,
        )

    def rows(
        self, table: TableChanges, columns: Sequence[ComparedColumn], form: RowHash
    ) -> Iterator[SignedRows]:
        """After images (added) and before images (taken away) of a table's changes, where ``form``
        says so as cells."""
        for rows, sides in self._images(table, columns):
            yield from _signed(sides["before"], sides["after"], rows, form)

    def moves_rows(
        self, table: TableChanges, columns: Sequence[ComparedColumn], key: Sequence[str]
    ) -> bool:
        """Whether a change gives a row another key."""
        keys = [column for column in columns if column.name in key]
        for rows, sides in self._images(table, keys):
            update = np.asarray(pc.equal(rows["op"].combine_chunks(), "update"))
            before, after = sides["before"], sides["after"]
            if any((_differ(before[name], after[name]) & update).any() for name in key):
                return True
        return False

    def _images(
        self, table: TableChanges, columns: Sequence[ComparedColumn]
    ) -> Iterator[tuple[pa.Table, dict[str, dict[str, pa.Array]]]]:
        """The changes of a table's rows, and the values of their images by side and column."""
        for dataset, rows in self._of(table.versions):
            taken = np.asarray(pc.is_in(rows["op"], _OPS)) & self._within(rows)
            if table.emptied is not None:
                taken &= ~rows_before(rows, table.emptied)
            rows = rows.filter(pa.array(taken))
            own = {self.spelled(name): name for name in target_columns(dataset.table)}
            sides = ("before", "after")
            yield rows, {side: self._side(rows, side, columns, own) for side in sides}

    def _of(self, versions: Sequence[TableVersion]) -> Iterator[tuple[Dataset, pa.Table]]:
        """The changes of tables, some at a time, in no order."""
        names = {self._changes.datasets.of(version.index).name for version in versions}
        return self._changes.parts(lambda dataset: dataset.name in names)

    def _side(
        self,
        rows: pa.Table,
        side: str,
        columns: Sequence[ComparedColumn],
        own: Mapping[str, str],
    ) -> dict[str, pa.Array]:
        images = rows[side].combine_chunks()
        if isinstance(images, pa.ChunkedArray):
            images = images.chunk(0)
        policy = self.work.options.render.policy
        values = dict(zip([f.name for f in images.type], images.flatten(), strict=True))
        return {
            column.name: of_values(values[own[column.name]], column.column, self.profile, policy)
            for column in columns
        }

    def _within(self, rows: pa.Table) -> Mask:
        """Which changes are committed, of units that the target has."""
        taken = committed(rows)
        if self.until is not None:
            taken = taken & rows_before(rows, self._end)
        for member in {unit.member for unit in self.pending}:
            urids = [_urid(unit) for unit in self.pending if unit.member == member]
            late = pc.is_in(rows["urid"], pa.array(urids))
            late = pc.and_(late, pc.equal(pc.fill_null(rows["member"], 0), member))
            taken = taken & ~np.asarray(late)
        return taken

    @property
    def _end(self) -> Place:
        """Behind the last unit that the target has."""
        assert self.until is not None
        last = self.until.unit
        return self.until.commit.hexadecimal, _urid(last), last.member, BEHIND


def _name(table: Table) -> str:
    return f"{table.schema}.{table.name}"


def _urid(unit: UnitId) -> str:
    return unit.urid.hex().upper()


def target_columns(table: Table) -> list[str]:
    """The columns of a table that the target has too: not those that a mapping leaves out, nor one
    whose name it gives to another column."""
    return [
        column.name
        for column in table.columns
        if column.name not in table.left_out and not column.name.endswith("\0")
    ]


def large_columns(version: TableVersion) -> set[str]:
    """The columns whose values are not in the log."""
    lobs = {entry.column.name for entry in version.format.columns if entry.lob}
    return lobs.intersection(target_columns(version.table))


def excluded_columns(work: ReplayInput, version: TableVersion) -> set[str]:
    """The columns that the user left out."""
    shown = {column.name for column in shown_columns(version.table, work.options.render)}
    return set(target_columns(version.table)) - shown


def _without_large(work: ReplayInput) -> RenderOptions:
    """How the changes are made, without columns whose values are not in the log."""
    render = work.options.render
    large = [
        glob.escape(f"{version.table.schema}.{version.table.name}.{name}")
        for version in work.log.catalog.versions
        for name in sorted(large_columns(version))
    ]
    return replace(render, exclude_columns=(*render.exclude_columns, *large))


def _signed(
    before: Mapping[str, pa.Array],
    after: Mapping[str, pa.Array],
    rows: pa.Table,
    form: RowHash,
) -> Iterator[SignedRows]:
    """Both images of changes, as rows that go and come."""
    op = rows["op"].combine_chunks()
    cells: dict[str, Mask] | None = None
    if form.cells:
        update = np.asarray(pc.equal(op, "update"))
        differ = {name: _differ(before[name], after[name]) for name in before}
        cells = {name: ~update | differs for name, differs in differ.items()}
    for sign, images, kinds in (
        (-1, before, ["update", "delete"]),
        (1, after, ["update", "insert"]),
    ):
        part = SignedRows(images, len(rows), sign, cells)
        chosen = np.flatnonzero(np.asarray(pc.is_in(op, pa.array(kinds))))
        if len(chosen):
            yield part if len(chosen) == len(rows) else part.take(chosen)


def _differ(one: pa.Array, other: pa.Array) -> Mask:
    """Where two columns differ; NULL is a value like others."""
    same = pc.fill_null(pc.equal(one, other), False)
    return ~np.asarray(pc.or_(same, pc.and_(pc.is_null(one), pc.is_null(other))))
