"""Rows of changes as Arrow record batches whose images have the values of the log as they are
(contract: :mod:`sqlgen.schema`), for what follows rows along the log."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from replay.changes.options import Export
from replay.output.formats import FACTS, Dataset, ImageColumns, Writer
from replay.output.formats.batches import BatchWriter
from replay.output.formats.values import MOMENTS, both_images, profile_of, shaped
from sqlgen.literals import Policy, ValueProblem
from sqlgen.render_options import RenderOptions
from sqlgen.schema import ARROW_TYPES, Column


def row_type(columns: tuple[Column, ...]) -> pa.StructType:
    """The type of an image: a struct with the source's names."""
    return pa.struct([(column.name, ARROW_TYPES[column.type]) for column in columns])


def row_values(values: pa.Array, column: Column) -> pa.Array:
    """Values of a column as images have them: without blanks at the end of CHAR."""
    return shaped(values, column, profile_of("rows", 12, MOMENTS), Policy())[0]


class RowBatches:
    """``table`` (OWNER.NAME), facts, ``fate``, and both images as structs."""

    suffix = "arrow"

    def __init__(self, policy: Policy) -> None:
        self.policy, self.profile = policy, profile_of("rows", 12, MOMENTS)

    def images(
        self, dataset: Dataset, before: ImageColumns | None, after: ImageColumns | None, count: int
    ) -> tuple[pa.Table, list[ValueProblem]]:
        """Two columns of structs; an image that a change does not have is null."""
        return both_images(partial(self._struct, dataset), before, after, count)

    def _struct(
        self, dataset: Dataset, side: ImageColumns | None, count: int, problems: list[ValueProblem]
    ) -> pa.Array:
        kind = row_type(dataset.columns)
        if side is None:
            return pa.nulls(count, kind)
        columns = []
        for column, field in zip(dataset.columns, kind, strict=True):
            values, value_problems = shaped(side[column.name], column, self.profile, self.policy)
            columns.append(values.cast(field.type))
            problems += value_problems
        return pa.StructArray.from_arrays(columns, fields=list(kind))

    def rows(self, dataset: Dataset, facts: pa.Table, images: pa.Table) -> pa.Table:
        """The table's name, facts, then images."""
        table = dataset.table
        name = f"{table.schema}.{table.name}" if table.schema else table.name
        names = pa.array([name] * len(facts), pa.string())
        columns = [names, *(facts[name] for name in FACTS.names), facts["fate"], *images.columns]
        return pa.table(columns, schema=self.schema(dataset))

    def schema(self, dataset: Dataset) -> pa.Schema:
        """The schema of the rows of a dataset."""
        kind = row_type(dataset.columns)
        images = [("before", kind), ("after", kind)]
        return pa.schema([("table", pa.string()), *FACTS, ("fate", pa.int32()), *images])

    def open(self, path: Path, dataset: Dataset) -> Writer:
        """A stream of its own."""
        return BatchWriter(path, self.schema(dataset))

    def describe(self, dataset: Dataset) -> dict[str, Any]:
        """Nothing more: nobody else reads it."""
        return {}


def format_of(export: Export, options: RenderOptions) -> RowBatches:
    """The format as the options want it."""
    return RowBatches(options.policy)
