"""The changes of a log for readers in the same process: as rows of values, bucket by bucket in
commit order, with those that were rolled back and those of quarantined units (what histories,
states and the rows that a target should have are made of); and as Arrow record batches in commit
order.

They go through the same jobs as an export, into streams in a temporary folder, one of a bucket, so
memory is that of a few batches, whatever the log's size.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.changes.balance import Tally
from replay.changes.selection import REASONS
from replay.changes.units import UnitSet, Verdicts
from replay.dependencies.baseline import StateBefore
from replay.engine.contract import Engine
from replay.errors import UsageError
from replay.logs import LogFile
from replay.output.bundle import raise_for, selection_warnings
from replay.output.formats import Dataset, Datasets, batches, format_of, structure_dataset
from replay.output.run_plan import carry_out, damaged_units, write
from replay.pipeline.plan import BucketResult, Plan, UnitDecisions
from replay.pipeline.request import Request

#: What orders changes: units of recovery by commit, and changes within a unit by their place.
IN_ORDER = [(name, "ascending") for name in ("commit_lrsn", "urid", "member", "log_position")]
#: ``fate`` of a committed change of a quarantined unit (incomplete, or builds on one).
QUARANTINED = -1
#: Rows that are read together where their order does not count, at least.
_TOGETHER = 65_536


def fate_text(fate: int, log: LogFile) -> str:
    """What became of a change, in words that users of such logs know."""
    if fate == QUARANTINED:
        return "quarantined"
    return log.in_words(REASONS[fate].replace("unit of recovery ", "")) if fate else "committed"


def in_turn(parts: Sequence[tuple[Dataset, pa.Table]]) -> Iterator[tuple[Dataset, pa.Table]]:
    """The changes of a table, in order within each of its datasets, in the order of all: a dataset
    comes as often as changes of others lie between its own."""
    if len(parts) < 2:
        yield from parts
        return
    places = [
        rows.select([name for name, _ in IN_ORDER])
        .append_column("part", pa.array(np.full(len(rows), number)))
        .append_column("row", pa.array(np.arange(len(rows))))
        for number, (_, rows) in enumerate(parts)
    ]
    order = [*IN_ORDER, ("part", "ascending"), ("row", "ascending")]
    every = pa.concat_tables(places).sort_by(order)
    part, row = every["part"].to_numpy(), every["row"].to_numpy()
    cuts = np.flatnonzero(np.diff(part)) + 1
    for start, stop in pairwise([0, *cuts.tolist(), len(part)]):
        if stop > start:
            dataset, rows = parts[int(part[start])]
            yield dataset, rows.slice(int(row[start]), stop - start)


@dataclass(frozen=True)
class RowChanges:
    """Streams of changes by bucket: (dataset, whether its units are quarantined, file). ``plan`` as
    it was carried out, ``datasets`` of its catalog; ``tally`` says what became of every record;
    ``quarantined`` why units are; ``damaged`` those of them whose changes cannot be read;
    ``warnings`` of who asked for them."""

    folder: Path
    buckets: tuple[tuple[tuple[Dataset, bool, Path], ...], ...]
    plan: Plan
    datasets: Datasets
    tally: Tally
    quarantined: Verdicts
    damaged: UnitSet
    warnings: tuple[str, ...] = ()

    def tables(
        self, wanted: Callable[[Dataset], bool] = lambda _: True
    ) -> Iterator[tuple[Dataset, pa.Table]]:
        """The changes of each ``wanted`` dataset in each bucket, in order (schema:
        :meth:`replay.output.formats.batches.Batches.schema`); buckets follow one another.
        May be read again until :meth:`close`."""
        for some in self.by_bucket(wanted):
            yield from some

    def by_bucket(
        self, wanted: Callable[[Dataset], bool] = lambda _: True
    ) -> Iterator[list[tuple[Dataset, pa.Table]]]:
        """What :meth:`tables` gives, bucket by bucket: a table that changed its form, perhaps to
        one that it had before, has several datasets in a bucket, whose changes lie among each
        other."""
        for bucket in self.buckets:
            parts: dict[str, list[pa.Table]] = {}
            datasets = {dataset.name: dataset for dataset, _, _ in bucket}
            for dataset, quarantined, path in bucket:
                if not wanted(dataset):
                    continue
                with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as stream:
                    rows = stream.read_all()
                if quarantined:
                    marked = pa.array(np.full(len(rows), QUARANTINED, np.int32))
                    where = rows.schema.get_field_index("fate")
                    fate = pc.if_else(pc.equal(rows["fate"], 0), marked, rows["fate"])
                    rows = rows.set_column(where, rows.schema.field(where), fate)
                parts.setdefault(dataset.name, []).append(rows)
            yield [
                (datasets[name], pa.concat_tables(tables).sort_by(IN_ORDER))
                for name, tables in parts.items()
            ]

    def parts(
        self, wanted: Callable[[Dataset], bool] = lambda _: True
    ) -> Iterator[tuple[Dataset, pa.Table]]:
        """The changes of each ``wanted`` dataset in no order, some at a time however large a bucket
        is; of quarantined units, too. May be read again until :meth:`close`."""
        for dataset, _, path in (entry for bucket in self.buckets for entry in bucket):
            if not wanted(dataset):
                continue
            with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as stream:
                held: list[pa.RecordBatch] = []
                for batch in stream:
                    held.append(batch)
                    if sum(map(len, held)) >= _TOGETHER:
                        yield dataset, pa.Table.from_batches(held)
                        held = []
                if held:
                    yield dataset, pa.Table.from_batches(held)

    def close(self) -> None:
        """Remove the streams."""
        shutil.rmtree(self.folder, ignore_errors=True)


def row_changes(
    plan: Plan,
    log: LogFile,
    engine: Engine,
    folder: Path,
    with_quarantined: bool = False,
    state: StateBefore | None = None,
) -> RowChanges:
    """The changes of a plan whose export is :data:`replay.output.formats.ROW_BATCHES`, in
    ``folder``; ``with_quarantined``: also those of quarantined units; ``state``: what proves
    flagged units.

    Raises what :func:`replay.output.bundle.write_bundle` raises."""
    known, later = folder / "known", folder / "aside"
    known.mkdir()
    later.mkdir()
    outcome = carry_out(plan, log, engine, known, state)
    raise_for(outcome.plan, outcome.tally)
    quarantined = outcome.tally.quarantined_units
    damaged = damaged_units(quarantined, outcome.plan)
    results: list[BucketResult] = []
    if with_quarantined and quarantined.units() - damaged:
        only = UnitDecisions(only=quarantined.units() - damaged)
        plan = replace(outcome.plan, decisions=only, flags_resolved=True)
        _, results = write(engine, plan, log, later)
    form = format_of(outcome.plan.export, plan.options.render)  # type: ignore[arg-type]
    datasets = Datasets(log.catalog, plan.options.render, form.profile)
    taken = np.flatnonzero(outcome.plan.version_taken).tolist()
    by_name = {dataset.name: dataset for dataset in map(datasets.of, taken)}
    by_name[structure_dataset().name] = structure_dataset()
    streams: dict[str, list[tuple[Dataset, bool, Path]]] = {}
    for place, is_quarantined, bucket_results in (
        (known, False, outcome.results),
        (later, True, results),
    ):
        for file in (file for result in bucket_results for file in result.files):
            dataset = by_name[file.name.rpartition("/commit_date=")[0].rpartition("/")[2]]
            bucket = file.name.rpartition("/part-")[2].partition(".")[0].partition("-")[0]
            streams.setdefault(bucket, []).append((dataset, is_quarantined, place / file.name))
    buckets = tuple(tuple(streams[number]) for number in sorted(streams))
    return RowChanges(folder, buckets, outcome.plan, datasets, outcome.tally, quarantined, damaged)


# -- as record batches
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChangeBatches:
    """``reader`` gives the batches, and may be read once; ``tally`` says what became of every
    record, ``warnings`` what a user should know."""

    reader: pa.RecordBatchReader
    tally: Tally
    warnings: tuple[str, ...]


def change_batches(request: Request, engine: Engine, folder: Path) -> ChangeBatches:
    """The changes of a request whose export is of :mod:`replay.output.formats.batches`. ``folder``
    is removed when all is read.

    Raises what :func:`replay.output.bundle.write_bundle` raises; UsageError (LR1001) for
    rolled-back work, and for one table that had several forms where types are asked for.
    """
    if request.selection.include_aborted:
        raise UsageError(
            "LR1001", "found rolled-back work (include_aborted) among changes in commit order"
        )
    schema = schema_of(request)
    outcome = carry_out(request.plan(engine=engine), request.log, engine, folder)
    raise_for(outcome.plan, outcome.tally)
    told = selection_warnings(outcome.plan, request.log, outcome.tally, engine)
    warnings = (*request.warnings, *told)
    files = (folder / file.name for result in outcome.results for file in result.files)
    paths = sorted(files, key=_number)
    about = {
        "balance": outcome.tally.balance(),
        **outcome.tally.quarantine(),
        "warnings": list(warnings),
    }
    described = schema.with_metadata({"logreplay": json.dumps(about, ensure_ascii=False)})
    reader = pa.RecordBatchReader.from_batches(described, _in_order(paths, described, folder))
    return ChangeBatches(reader, outcome.tally, warnings)


def schema_of(request: Request) -> pa.Schema:
    """The schema of the batches of a request. UsageError (LR1001) for one table that had several
    forms where types are asked for."""
    forms = _forms_of(request)
    if len(forms) > 1:
        raise UsageError(
            "LR1001",
            f"found {request.versions[0].name} in {len(forms)} forms; expected one",
            hint="Read its changes without naming the table: images are JSON text then",
        )
    return forms[0]


def _forms_of(request: Request) -> list[pa.Schema]:
    """The different schemas of the batches of a request, by the tables' generations; one at
    least."""
    export, options = request.export, request.options
    assert export is not None
    form = batches.format_of(export, options.render)
    datasets = Datasets(request.log.catalog, options.render, form.profile)
    found = [datasets.of(version.index) for version in request.versions]
    schemas = [form.schema(one) for one in sorted(found, key=lambda one: one.generation)]
    return list(dict.fromkeys(schemas or [form.schema(structure_dataset())]))


def _in_order(paths: Sequence[Path], schema: pa.Schema, folder: Path) -> Iterator[pa.RecordBatch]:
    """The batches of all buckets, which follow one another in commit order."""
    try:
        for path in paths:
            with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as stream:
                for batch in stream:
                    yield batch.replace_schema_metadata(schema.metadata)
            path.unlink()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _number(path: Path) -> tuple[int, ...]:
    """The place of a file of a bucket among its others: a long unit begins a new one."""
    return tuple(int(part) for part in path.stem.split("-")[1:])
