"""Rows of changes as Arrow record batches, for readers in the same process: the images as JSON text
(any table), as structs with the types of one table, or as structs of the values themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from replay.changes.options import Export
from replay.output.formats import (
    FACTS,
    TEXT_BATCHES,
    VALUE_BATCHES,
    Dataset,
    ImageColumns,
    Writer,
)
from replay.output.formats.lines import JsonLines
from replay.output.formats.parquet import Parquet
from replay.output.formats.values import MOMENTS, profile_of
from sqlgen.literals import ValueProblem
from sqlgen.render_options import RenderOptions
from sqlgen.schema import ARROW_TYPES

#: Rows of a batch at most.
BATCH_ROWS = 8192
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="zstd")


class BatchWriter:
    """An Arrow stream."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.stream = pa.ipc.new_stream(path, schema, options=_COMPRESSED)

    def write(self, rows: pa.Table) -> None:
        """Append rows."""
        self.stream.write_table(rows, max_chunksize=BATCH_ROWS)

    def close(self) -> None:
        """End the stream."""
        self.stream.close()


class Values:
    """Structs of the values by the contract of :mod:`sqlgen.schema`, under the names of the
    source."""

    profile = profile_of("values", 12, MOMENTS)

    def images(
        self, dataset: Dataset, before: ImageColumns | None, after: ImageColumns | None, count: int
    ) -> tuple[pa.Table, list[ValueProblem]]:
        """Two columns of structs; nothing is beyond them."""
        fields = [pa.field(column.name, ARROW_TYPES[column.type]) for column in dataset.columns]
        sides = [
            pa.nulls(count, pa.struct(fields))
            if side is None
            else pa.StructArray.from_arrays(
                [side[field.name].cast(field.type) for field in fields], fields=fields
            )
            for side in (before, after)
        ]
        return pa.table(sides, ["before", "after"]), []


class Batches:
    """``table`` (OWNER.NAME), facts, and both images as another format has them."""

    suffix = "arrow"

    def __init__(self, form: JsonLines | Parquet | Values) -> None:
        self.form, self.profile = form, form.profile

    def images(
        self, dataset: Dataset, before: ImageColumns | None, after: ImageColumns | None, count: int
    ) -> tuple[pa.Table, list[ValueProblem]]:
        """Two columns; an image that a change does not have is null."""
        table, problems = self.form.images(dataset, before, after, count)
        sides = [
            pa.nulls(count, column.type) if side is None else column
            for side, column in zip((before, after), table.columns, strict=True)
        ]
        return pa.table(sides, ["before", "after"]), problems

    def rows(self, dataset: Dataset, facts: pa.Table, images: pa.Table) -> pa.Table:
        """The table's name, facts, then images."""
        table = dataset.table
        name = f"{table.schema}.{table.name}" if table.schema else table.name
        return pa.table(
            [
                pa.array([name] * len(facts), pa.string()),
                *(facts[name] for name in FACTS.names),
                *images.columns,
            ],
            schema=self.schema(dataset),
        )

    def schema(self, dataset: Dataset) -> pa.Schema:
        """The schema of the rows of a dataset."""
        empty, _ = self.images(dataset, None, None, 0)
        return pa.schema([pa.field("table", pa.string()), *FACTS, *empty.schema])

    def open(self, path: Path, dataset: Dataset) -> Writer:
        """A stream of its own."""
        return BatchWriter(path, self.schema(dataset))

    def describe(self, dataset: Dataset) -> dict[str, Any]:
        """Nothing more: nobody else reads it."""
        return {}


def format_of(export: Export, options: RenderOptions) -> Batches:
    """The format as the options want it."""
    if export.format == VALUE_BATCHES:
        return Batches(Values())
    if export.format == TEXT_BATCHES:
        return Batches(JsonLines(options.policy))
    return Batches(Parquet(True, options.policy))
