"""The changes of a log as Arrow record batches in commit order.

They go through the same jobs as an export, into streams in a temporary folder, one of a bucket, so
memory is that of a few batches, whatever the log's size.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from replay.changes.balance import Tally
from replay.engine.contract import Engine
from replay.errors import UsageError
from replay.output.bundle import raise_for, selection_warnings
from replay.output.formats import Datasets, structure_dataset
from replay.output.formats.batches import format_of
from replay.output.run_plan import carry_out
from replay.pipeline.request import Request


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
    reader = pa.RecordBatchReader.from_batches(described, _all(paths, described, folder))
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
    form = format_of(export, options.render)
    datasets = Datasets(request.log.catalog, options.render, form.profile)
    found = [datasets.of(version.index) for version in request.versions]
    schemas = [form.schema(one) for one in sorted(found, key=lambda one: one.generation)]
    return list(dict.fromkeys(schemas or [form.schema(structure_dataset())]))


def _all(paths: Sequence[Path], schema: pa.Schema, folder: Path) -> Iterator[pa.RecordBatch]:
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
