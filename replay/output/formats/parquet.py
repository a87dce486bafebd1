"""Parquet: facts as columns, images as structs ``before`` and ``after`` (null where a change has
none)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from replay.changes.options import Export
from replay.output.formats import FACTS, Dataset, Writer
from replay.output.formats.exported_values import StructImages, held, profile_of, seconds_of, shaped
from sqlgen.literals import Policy, ValueProblem
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Column, SqlType

_TYPES: dict[SqlType, pa.DataType] = {
    SqlType.SMALLINT: pa.int16(),
    SqlType.INTEGER: pa.int32(),
    SqlType.BIGINT: pa.int64(),
    SqlType.REAL: pa.float32(),
    SqlType.DOUBLE: pa.float64(),
    SqlType.BINARY: pa.binary(),
    SqlType.VARBINARY: pa.binary(),
    SqlType.BLOB: pa.binary(),
    SqlType.DATE: pa.date32(),
    SqlType.BOOLEAN: pa.bool_(),
}
#: Digits that a decimal128 holds.
_DIGITS = 38


def type_of(column: Column, native: bool) -> pa.DataType:
    """The Arrow type of a column. Unless ``native``, one that Spark reads too: it has no time of
    day and no nanoseconds in Parquet. Timestamps whose source declares no digits have
    microseconds, which reach further."""
    kind = column.type
    if kind is SqlType.DECIMAL and 0 < column.length <= _DIGITS:
        return pa.decimal128(column.length, column.scale)
    if kind is SqlType.TIME and native:
        return pa.time64("us")
    if kind in (SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ):
        return pa.timestamp(
            "ns" if native and column.length > 6 and not column.unsized else "us",
            "UTC" if kind is SqlType.TIMESTAMP_TZ else None,
        )
    return _TYPES.get(kind, pa.string())


class Parquet(StructImages):
    """Typed columns; see :func:`type_of`."""

    suffix = "parquet"

    def __init__(self, native: bool, policy: Policy) -> None:
        self.native, self.policy = native, policy
        micro = profile_of("Parquet", 6, () if native else (SqlType.TIME,))
        self.profile = micro
        self._nano = profile_of("Parquet", 9, micro.hour_24)

    def fields(self, dataset: Dataset) -> list[pa.Field]:
        """Typed, under the names of exports."""
        return [
            pa.field(name, type_of(column, self.native))
            for column, name in zip(dataset.columns, dataset.names, strict=True)
        ]

    def values(
        self, values: pa.Array, column: Column, kind: pa.DataType
    ) -> tuple[pa.Array, list[ValueProblem]]:
        """Values as Parquet holds them."""
        fine = pa.types.is_timestamp(kind) and kind.unit == "ns"
        values, problems = shaped(values, column, self._nano if fine else self.profile, self.policy)
        if pa.types.is_time(kind):
            return pc.cast(pc.multiply(seconds_of(values), 1_000_000), kind), problems
        typed, misfits = held(values, column, kind)
        return typed, problems + misfits

    def rows(self, dataset: Dataset, facts: pa.Table, images: pa.Table) -> pa.Table:
        """Facts, then images."""
        return pa.table(
            [*(facts[name] for name in FACTS.names), *images.columns],
            [*FACTS.names, *images.column_names],
        )

    def open(self, path: Path, dataset: Dataset) -> Writer:
        """A file of its own; the schema is that of the dataset, whatever is in it."""
        empty, _ = self.images(dataset, None, None, 0)
        schema = pa.schema([*FACTS, *empty.schema])
        writer: Writer = pq.ParquetWriter(path, schema, compression="zstd")
        return writer

    def describe(self, dataset: Dataset) -> dict[str, Any]:
        """The type of each column."""
        named = zip(dataset.columns, dataset.names, strict=True)
        return {"types": {name: str(type_of(column, self.native)) for column, name in named}}


def format_of(export: Export, options: RenderOptions) -> Parquet:
    """The format as the options want it."""
    return Parquet(export.types == "native", options.policy)
