"""Rows of changes as Arrow record batches, for readers in the same process: the images as JSON text
(any table), as structs with the types of one table, or as structs of the values themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from replay.changes.options import Export
from replay.output.formats import (
    FACTS,
    ROW_BATCHES,
    STRUCTURE,
    TEXT_BATCHES,
    Dataset,
    ImageColumns,
    Writer,
)
from replay.output.formats.csv_and_json import JsonLines
from replay.output.formats.exported_values import MOMENTS, StructImages, profile_of, shaped
from replay.output.formats.parquet import Parquet
from sqlgen.literals import Policy, ValueProblem
from sqlgen.render_options import RenderOptions
from sqlgen.schema import ARROW_TYPES, Column

#: Rows of a batch at most.
BATCH_ROWS = 8192
#: Facts that are in no export: why a change is no committed work, and the place of its row.
_MORE = (pa.field("fate", pa.int32()), pa.field("rid", pa.uint64()))
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


def row_type(columns: tuple[Column, ...]) -> pa.StructType:
    """The type of an image of values: a struct with the source's names."""
    return pa.struct([(column.name, ARROW_TYPES[column.type]) for column in columns])


def row_values(values: pa.Array, column: Column) -> pa.Array:
    """Values of a column as such images have them: without blanks at the end of CHAR."""
    return shaped(values, column, RowValues.profile, Policy())[0]


class RowValues(StructImages):
    """Structs of the values by the contract of :mod:`sqlgen.schema`, under the names of the
    source."""

    profile = profile_of("rows", 12, MOMENTS)

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def fields(self, dataset: Dataset) -> list[pa.Field]:
        """Those of :func:`row_type`."""
        return list(row_type(dataset.columns))

    def values(
        self, values: pa.Array, column: Column, kind: pa.DataType
    ) -> tuple[pa.Array, list[ValueProblem]]:
        """The values themselves."""
        values, problems = shaped(values, column, self.profile, self.policy)
        return values.cast(kind), problems


class Batches:
    """``table`` (OWNER.NAME), facts (with ``fate`` and ``rid`` where images have the values
    themselves), and both images as another format has them."""

    suffix = "arrow"

    def __init__(self, form: JsonLines | Parquet | RowValues) -> None:
        self.form, self.profile = form, form.profile
        self.facts = pa.schema([*FACTS, *_MORE]) if isinstance(form, RowValues) else FACTS

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
                *(facts[name] for name in self.facts.names),
                *images.columns,
            ],
            schema=self.schema(dataset),
        )

    def schema(self, dataset: Dataset) -> pa.Schema:
        """The schema of the rows of a dataset."""
        empty, _ = self.images(dataset, None, None, 0)
        return pa.schema([pa.field("table", pa.string()), *self.facts, *empty.schema])

    def open(self, path: Path, dataset: Dataset) -> Writer:
        """A stream of its own."""
        return BatchWriter(path, self.schema(dataset))

    def describe(self, dataset: Dataset) -> dict[str, Any]:
        """Nothing more: nobody else reads it."""
        return {}


class StreamBatches(Batches):
    """As :class:`Batches`, of all tables in one stream; of one table, where images are typed."""

    def takes(self, dataset: Dataset) -> bool:
        """All where images are text: changes of structure have no columns of a table."""
        return isinstance(self.form, JsonLines) or dataset.table is not STRUCTURE


def format_of(export: Export, options: RenderOptions) -> Batches:
    """The format as the options want it."""
    if export.format == ROW_BATCHES:
        return Batches(RowValues(options.policy))
    if export.format == TEXT_BATCHES:
        return StreamBatches(JsonLines(options.policy))
    return StreamBatches(Parquet(True, options.policy))
