"""``spark.read.format("logmaster")``: a log as it is, one row per record
(:data:`replay.changes.envelope.ENVELOPE`)."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from replay.changes.envelope import ENVELOPE
from replay.errors import InputError, UsageError
from replay.logs import Inputs, LogFile, Split, envelope_batch, source_named

_DDL = {
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.string(): "string",
    pa.binary(): "binary",
    pa.bool_(): "boolean",
}


def register(session: SparkSession) -> None:
    """Make ``format("logmaster")`` known to a session. UsageError (LR1001) for what is no
    session."""
    if not hasattr(session, "dataSource"):
        raise UsageError("LR1001", f"found session {session!r}; expected a session of Spark")
    session.dataSource.register(LogmasterDataSource)


class _SplitPartition(InputPartition):
    def __init__(self, split: Split) -> None:
        super().__init__(split)
        self.split = split


class LogmasterDataSource(DataSource):
    """Log Master logical logs as a Spark data source; partitions are exact byte ranges from a
    verified index. Options: ``control`` (path), ``data`` (paths, one a line) or the path given to
    ``load``."""

    @classmethod
    def name(cls) -> str:
        return "logmaster"

    def schema(self) -> str:
        return ", ".join(f"{field.name} {_DDL[field.type]}" for field in ENVELOPE)

    def reader(self, schema: StructType) -> DataSourceReader:
        data = self.options.get("data") or self.options.get("path") or ""
        control = self.options.get("control")
        if not control or not data:
            raise InputError(
                "LR2001",
                'format("logmaster") needs option("control", path) and option("data", path) or'
                " load(path)",
            )
        return _EnvelopeReader(
            source_named("logmaster").open_log(
                Inputs(control=control, data=tuple(data.splitlines()))
            )
        )


class _EnvelopeReader(DataSourceReader):
    def __init__(self, log: LogFile) -> None:
        self.log = log

    def partitions(self) -> list[InputPartition]:
        return [_SplitPartition(split) for split, _, _ in self.log.splits(64 << 20)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _SplitPartition)
        for first, offsets, lengths in self.log.records(partition.split, 16_384):
            yield envelope_batch(self.log, partition.split.file, first, offsets, lengths)
