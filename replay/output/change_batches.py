"""The changes of a log as Arrow record batches in commit order.

They go through the same jobs as an export, into streams in a temporary folder that are merged as
they are read, so memory is that of a few batches, whatever the log's size.
"""

from __future__ import annotations

import json
import shutil
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from replay.changes.balance import Tally
from replay.engine.contract import Engine
from replay.errors import UsageError
from replay.output.bundle import raise_for, selection_warnings
from replay.output.datasets import ROLLED_BACK
from replay.output.formats import Datasets, structure_dataset
from replay.output.formats.batches import format_of
from replay.output.run_plan import carry_out
from replay.pipeline.request import Request

#: What orders changes: units of recovery by commit, and changes within a unit.
ORDERED_BY = ("commit_lrsn", "urid", "member", "sequence")
#: Streams of one bucket that are read side by side; of more, each is read whole.
_SIDE_BY_SIDE = 200


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
    buckets = [
        [folder / file.name for file in result.files if _is_of(schema, file.name)]
        for result in outcome.results
    ]
    about = {
        "balance": outcome.tally.balance(),
        **outcome.tally.quarantine(),
        "warnings": list(warnings),
    }
    described = schema.with_metadata({"logreplay": json.dumps(about, ensure_ascii=False)})
    reader = pa.RecordBatchReader.from_batches(described, _all(buckets, described, folder))
    return ChangeBatches(reader, outcome.tally, warnings)


def _is_of(schema: pa.Schema, name: str) -> bool:
    """Whether a file has committed changes with rows of the schema: changes of structure have no
    columns of a table."""
    if name.startswith(f"{ROLLED_BACK}/"):
        return False
    typed = pa.types.is_struct(schema.field("after").type)
    return not (typed and name.startswith(f"{structure_dataset().name}/"))


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


def _all(
    buckets: Sequence[Sequence[Path]], schema: pa.Schema, folder: Path
) -> Iterator[pa.RecordBatch]:
    """The batches of all buckets, which follow one another in commit order."""
    try:
        for paths in buckets:
            for table in _merged(paths):
                yield from table.replace_schema_metadata(schema.metadata).to_batches()
            for path in paths:
                path.unlink()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _merged(paths: Sequence[Path]) -> Iterator[pa.Table]:
    """The rows of streams, each in order, in one order."""
    streams = [_batches(path, len(paths) > _SIDE_BY_SIDE) for path in paths]
    heads: dict[int, _Head] = {}
    for number, stream in enumerate(streams):
        _advance(heads, number, stream)
    while heads:
        limit = min(head.last for head in heads.values())
        ready = []
        for number, head in sorted(heads.items()):
            stop = head.up_to(limit)
            ready.append(head.rows.slice(head.start, stop - head.start))
            head.start = stop
            if stop == len(head.rows):
                _advance(heads, number, streams[number])
        table = pa.concat_tables(ready)
        yield (
            table
            if len(ready) == 1
            else table.sort_by([(name, "ascending") for name in ORDERED_BY])
        )


class _Head:
    """The batch of a stream that is being read, from ``start`` on."""

    def __init__(self, rows: pa.Table) -> None:
        self.rows, self.start = rows, 0
        self.last = self.key(len(rows) - 1)

    def key(self, row: int) -> tuple[Any, ...]:
        """What orders a row."""
        values = (self.rows[name][row].as_py() for name in ORDERED_BY)
        return tuple(-1 if value is None else value for value in values)

    def up_to(self, limit: tuple[Any, ...]) -> int:
        """The first row after ``limit``."""
        return bisect_right(range(len(self.rows)), limit, lo=self.start, key=self.key)


def _advance(heads: dict[int, _Head], number: int, stream: Iterator[pa.RecordBatch]) -> None:
    heads.pop(number, None)
    for batch in stream:
        if len(batch):
            heads[number] = _Head(pa.Table.from_batches([batch]))
            return


def _batches(path: Path, whole: bool) -> Iterator[pa.RecordBatch]:
    with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as stream:
        yield from stream.read_all().to_batches() if whole else stream
