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
from replay.changes.balance import Tally
from replay.changes.catalog import TableVersion
from replay.changes.choices import Mode
from replay.changes.envelope import ROW_CHANGES, Change
from replay.changes.options import Export
from replay.changes.position import UnitId, UnitPosition
from replay.engine.contract import SPLIT_BYTES
from replay.live.comparable import ComparedColumn, of_values
from replay.live.differences import RowHash, SignedRows
from replay.live.preflight import refuse_problems
from replay.live.replay_request import ReplayInput
from replay.output.bundle import raise_for
from replay.output.datasets import ROLLED_BACK
from replay.output.formats import ROW_BATCHES, Datasets, structure_dataset
from replay.output.formats.batches import format_of
from replay.output.initial_load import proof_in
from replay.output.run_plan import carry_out
from replay.pipeline.plan import make_plan
from replay.storage import at
from replay.storage.csv_form import CsvForm
from sqlgen.render_options import RenderOptions, shown_columns
from sqlgen.structure import Action

#: Where a change stands: commit position, URID (hexadecimal), member, and its number there.
Place = tuple[str, str, int, int]
#: Rows that are hashed at once, about.
_ROWS = 65_536
_EMPTYING = (Change.TRUNCATE, Change.MASS_DELETE)
#: Changes of structure after which a table holds no row, and those that leave its rows alone.
_RENEWING = frozenset({Action.CREATE_TABLE.value, Action.DROP_TABLE.value, Action.TRUNCATE.value})
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
        self.work, self.log, self.folder = work, work.log, folder
        self.until, self.pending = until, pending
        self.profile, self.spelled = work.options.profile, work.options.spelled
        options = replace(work.options, render=_without_large(work))
        chosen = replace(work.selection, until_position=None if until is None else until.commit)
        options = replace(options, trace=False)
        plan = make_plan(work.log, Mode.REDO, chosen, options, SPLIT_BYTES, work.engine)
        plan = replace(plan, export=Export(ROW_BATCHES), constraints=work.constraints)
        proof = proof_in(at(state), work.log, form)
        outcome = carry_out(plan, work.log, work.engine, folder, proof)
        raise_for(outcome.plan, outcome.tally)
        refuse_problems(outcome.tally, [])
        self.tally: Tally = outcome.tally
        self.partial = not outcome.plan.whole_rows
        export = outcome.plan.export
        assert export is not None
        self._datasets = Datasets(
            work.log.catalog, options.render, format_of(export, options.render).profile
        )
        self._files = [
            file.name
            for result in outcome.results
            for file in result.files
            if not file.name.startswith(f"{ROLLED_BACK}/")
        ]
        self._structure = list(self._structure_changes())

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
            for version, kind in self.tally.changes
            if version in {entry.index for entry in versions}
        }
        names = {(entry.source.schema.upper(), entry.source.name.upper()) for entry in versions}
        acts = [(place, action) for place, action, name in self._structure if name in names]
        emptied = [place for place, action in acts if action in _RENEWING]
        if kinds & set(_EMPTYING):
            emptied += [place for version in versions for place in self._truncations(version)]
        ends = [action for _, action in sorted(acts) if action in _RENEWING]
        moved = sorted({action for _, action in acts if action in _MOVING})
        return TableChanges(
            tuple(versions),
            bool(kinds & {*ROW_CHANGES, *_EMPTYING}),
            max(emptied, default=None),
            bool(ends) and ends[-1] == Action.DROP_TABLE.value,
            f"the log changes its structure ({', '.join(moved)})" if moved else "",
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
        seen: set[str] = set()
        for version in table.versions:
            name = self._datasets.of(version.index).name
            if name in seen:
                continue
            seen.add(name)
            own = {self.spelled(name): name for name in target_columns(version)}
            for batch in self._batches(name):
                rows = self._there(batch, table.emptied)
                sides = ("before", "after")
                yield rows, {side: self._side(rows, side, columns, own) for side in sides}

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

    def _there(self, batch: pa.Table, emptied: Place | None) -> pa.Table:
        """The row changes of a batch that count."""
        wanted = pc.is_in(batch["op"], pa.array(["insert", "update", "delete"]))
        taken = np.asarray(wanted.combine_chunks()) & self._within(batch)
        if emptied is not None:
            taken &= np.array([place > emptied for place in _places(batch)], bool)
        return batch if taken.all() else batch.filter(pa.array(taken))

    def _within(self, batch: pa.Table) -> Mask:
        """Which changes belong to units that the target has."""
        taken = np.ones(len(batch), bool)
        if self.until is not None:
            limit = self.until.commit.hexadecimal
            taken &= np.asarray(pc.less_equal(batch["commit_lrsn"], limit).combine_chunks())
            last = np.asarray(pc.equal(batch["commit_lrsn"], limit).combine_chunks())
            if last.any():
                unit = (self.until.unit.urid.hex().upper(), self.until.unit.member)
                places = _places(batch.filter(pa.array(last)))
                taken[last] &= np.array([place[1:3] <= unit for place in places], bool)
        if self.pending:
            urids = pa.array([unit.urid.hex().upper() for unit in self.pending])
            late = pc.is_in(batch["urid"], urids).combine_chunks()
            units = {(unit.urid.hex().upper(), unit.member) for unit in self.pending}
            for row in np.flatnonzero(np.asarray(late)):
                place = next(_places(batch.slice(row, 1)))
                taken[row] &= place[1:3] not in units
        return taken

    def _batches(self, name: str) -> Iterator[pa.Table]:
        """The changes of a dataset, in the order of its files."""
        for file in self._files:
            if not file.startswith(f"{name}/"):
                continue
            with pa.OSFile(str(self.folder / file)) as opened, pa.ipc.open_stream(opened) as stream:
                held: list[pa.RecordBatch] = []
                for batch in stream:
                    held.append(batch)
                    if sum(map(len, held)) >= _ROWS:
                        yield pa.Table.from_batches(held)
                        held = []
                if held:
                    yield pa.Table.from_batches(held)

    def _truncations(self, version: TableVersion) -> Iterator[Place]:
        for batch in self._batches(self._datasets.of(version.index).name):
            events = batch.filter(pc.equal(batch["op"], "truncate"))
            yield from _places(events.filter(pa.array(self._within(events))))

    def _structure_changes(self) -> Iterator[tuple[Place, str, tuple[str, str]]]:
        """(place, action, (owner, table)) of each change of structure that matters."""
        for batch in self._batches(structure_dataset().name):
            kept = batch.filter(pa.array(self._within(batch)))
            for place, image in zip(_places(kept), kept["after"].to_pylist(), strict=True):
                if image["action"] not in _HARMLESS:
                    name = (image["table_owner"].upper(), image["table_name"].upper())
                    yield place, image["action"], name


def target_columns(version: TableVersion) -> list[str]:
    """The columns of a table that the target has too: not those that a mapping leaves out, nor one
    whose name it gives to another column."""
    return [
        column.name
        for column in version.table.columns
        if column.name not in version.table.left_out and not column.name.endswith("\0")
    ]


def large_columns(version: TableVersion) -> set[str]:
    """The columns whose values are not in the log."""
    lobs = {entry.column.name for entry in version.format.columns if entry.lob}
    return lobs.intersection(target_columns(version))


def excluded_columns(work: ReplayInput, version: TableVersion) -> set[str]:
    """The columns that the user left out."""
    shown = {column.name for column in shown_columns(version.table, work.options.render)}
    return set(target_columns(version)) - shown


def _without_large(work: ReplayInput) -> RenderOptions:
    """How the changes are made, without columns whose values are not in the log."""
    render = work.options.render
    large = [
        glob.escape(f"{version.table.schema}.{version.table.name}.{name}")
        for version in work.log.catalog.versions
        for name in sorted(large_columns(version))
    ]
    return replace(render, exclude_columns=(*render.exclude_columns, *large))


def _places(batch: pa.Table) -> Iterator[Place]:
    names = ("commit_lrsn", "urid", "member", "sequence")
    for commit, urid, member, number in zip(*(batch[n].to_pylist() for n in names), strict=True):
        yield commit, urid, member or 0, number


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
