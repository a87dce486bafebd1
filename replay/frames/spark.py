"""``spark.read.format("logreplay")``: logs as a data source of Spark, in rows that are typed.

Filters that help to read less come here as a :class:`replay.frames.batch.Pushed`; Spark applies
them all the same. It tells sources of no columns, so option ``columns`` says which are read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    LessThan,
    LessThanOrEqual,
)
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from replay.errors import LogReplayError, UsageError
from replay.frames.batch import LogPart, Prepared, Pushed, prepared, schema_for
from replay.frames.options import RowKind, SourceOptions, read_options
from replay.frames.stream import Offset, Stream, stream_schema
from replay.leftovers import lasting_folder
from replay.pipeline.spark_source import LogmasterDataSource

#: The setting without which Spark passes no filters on, and refuses sources that take some.
_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


def register(session: SparkSession, work: str | None = None) -> None:
    """Make ``format("logreplay")`` and ``format("logmaster")`` known to a session, and let Spark
    pass filters on. ``work`` is where prepared logs are kept, a folder that all machines of a
    cluster must find (None: a temporary one of this machine, for as long as this process lives).
    UsageError (LR1001) for what is no session."""
    if not hasattr(session, "dataSource"):
        raise UsageError("LR1001", f"found session {session!r}; expected a session of Spark")
    if work is None:
        work = str(lasting_folder())
    session.conf.set(_PUSHDOWN, "true")
    session.dataSource.register(LogmasterDataSource)
    # a class of this session's, which Spark carries into the processes that plan
    of_session = {"work": work, "place": os.getcwd()}
    session.dataSource.register(type("Logreplay", (LogreplayDataSource,), of_session))


class LogreplayDataSource(DataSource):
    """Logs of all families. ``work``: where prepared logs are kept, unless an option says it;
    ``place``: where relative paths begin, for Spark plans in processes that are elsewhere."""

    work: ClassVar[str | None] = None
    place: ClassVar[str] = ""

    @classmethod
    def name(cls) -> str:
        return "logreplay"

    def schema(self) -> StructType:
        options, work = self._asked()
        if options.goes_on:
            found = stream_schema(options, work)
        else:
            try:
                found = schema_for(options, work)
            except LogReplayError:  # Spark does not say whether it is a stream
                if options.logs is None or options.rows is not RowKind.CHANGES:
                    raise
                found = stream_schema(options, work)
        return from_arrow_schema(found, prefer_timestamp_ntz=True)

    def reader(self, schema: StructType) -> DataSourceReader:
        options, work = self._asked()
        found = prepared(options, work)
        check_schema(schema, found.schema)
        return _Reader(found)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        options, work = self._asked()
        rows = to_arrow_schema(schema, timezone="UTC")
        return _StreamReader(Stream(options, work, rows))

    def _asked(self) -> tuple[SourceOptions, str]:
        options = read_options(self.options, self.place)
        work = options.work or self.work
        if work is None:
            raise UsageError(
                "LR1001",
                "found no folder for prepared logs; expected option work",
                hint="replay.register_spark(session) makes one",
            )
        return options, work


def check_schema(given: StructType, found: pa.Schema) -> None:
    """UsageError (LR1001) for a schema that a user gave and rows do not have."""
    expected = from_arrow_schema(found, prefer_timestamp_ntz=True)
    if given != expected:
        raise UsageError(
            "LR1001",
            f"found schema {given.simpleString()}; expected {expected.simpleString()}",
            hint="Leave the schema out: it is read from the log",
        )


class _Part(InputPartition):
    def __init__(self, part: LogPart) -> None:
        super().__init__(part)
        self.part = part


class _Reader(DataSourceReader):
    """Reads what was prepared."""

    def __init__(self, found: Prepared) -> None:
        self.found, self.condition = found, Pushed()

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        self.condition = condition_of(filters, self.found.options.rows)
        return filters

    def partitions(self) -> list[InputPartition]:
        return [_Part(part) for part in self.found.parts(self.condition)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if isinstance(partition, _Part):
            yield from self.found.read(partition.part, self.condition)


class _StreamPart(_Part):
    """A part with all that reads it: tasks know nothing else of a batch."""

    def __init__(self, found: Prepared, part: LogPart) -> None:
        super().__init__(part)
        self.found = found


class _StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans batches in the driver."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream

    def initialOffset(self) -> dict[str, Any]:
        return Offset().as_json()

    def getDefaultReadLimit(self) -> ReadLimit:
        options = self.stream.options
        if options.max_logs is not None:
            return ReadMaxFiles(options.max_logs)
        return ReadAllAvailable() if options.max_units is None else ReadMaxRows(options.max_units)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        limited = not isinstance(limit, ReadAllAvailable)
        return self.stream.latest(Offset.of(start), limited).as_json()

    def prepareForTriggerAvailableNow(self) -> None:
        self.stream.present = frozenset(self.stream.logs())

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        if start == end:
            return []
        found, parts = self.stream.parts(Offset.of(start), Offset.of(end))
        return [_StreamPart(found, part) for part in parts]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _StreamPart)
        yield from partition.found.read(partition.part, Pushed())

    def commit(self, end: dict[str, Any]) -> None:
        self.stream.done(Offset.of(end))

    def stop(self) -> None:
        self.stream.close()

    def __getstate__(self) -> dict[str, Any]:
        # tasks get a reader too, and ask it for nothing but to read
        return {"stream": None}


# -- filters
# -------------------------------------------------------------------------------------------------

#: Columns of each kind of rows that say something of a condition.
_POSITIONS = {RowKind.CHANGES: "commit_lrsn", RowKind.ENVELOPE: "uorcommitlrsn"}
_WORDS = {
    RowKind.CHANGES: {"op": "ops", "table": "tables"},
    RowKind.ENVELOPE: {"table_owner": "owners", "table_name": "names", "change_type": "kinds"},
}
_SIZE = 10


def condition_of(filters: Iterable[Filter], rows: RowKind) -> Pushed:
    """What filters (all of which must hold) say of a condition. It leaves out nothing that they
    let pass."""
    condition = Pushed()
    for one in filters:
        path: tuple[str, ...] = getattr(one, "attribute", ())
        name = path[0] if len(path) == 1 else ""
        if name and name == _POSITIONS.get(rows):
            low, high = _range(one)
            condition = replace(
                condition,
                low=max(filter(None, (condition.low, low)), default=None),
                high=min(filter(None, (condition.high, high)), default=None),
            )
        elif name in _WORDS.get(rows, {}):
            words, kind = _words(one), _WORDS[rows][name]
            if words is not None:
                known = getattr(condition, kind)
                asked: dict[str, Any] = {kind: words if known is None else known & words}
                condition = replace(condition, **asked)
    return condition


def _range(one: Filter) -> tuple[bytes | None, bytes | None]:
    """From where to where positions may be that a filter lets pass."""
    if isinstance(one, (EqualTo, EqualNullSafe)):
        return _octets(one.value, 0), _octets(one.value, 255)
    if isinstance(one, (GreaterThan, GreaterThanOrEqual)):
        return _octets(one.value, 0), None
    if isinstance(one, (LessThan, LessThanOrEqual)):
        return None, _octets(one.value, 255)
    if isinstance(one, In) and one.value:
        lows = [_octets(value, 0) for value in one.value]
        highs = [_octets(value, 255) for value in one.value]
        if None not in lows and None not in highs:
            return min(filter(None, lows)), max(filter(None, highs))
    return None, None


def _octets(value: object, rest: int) -> bytes | None:
    """A position or the beginning of one, as octets or as hexadecimal digits in capitals (which
    sort as positions do); the ``rest`` is filled up. None for what is none."""
    if isinstance(value, str):
        digits = len(value) - len(value) % 2
        plain = all(digit in "0123456789ABCDEF" for digit in value)
        value = bytes.fromhex(value[:digits]) if plain else None
    if not isinstance(value, (bytes, bytearray)):
        return None
    return bytes(value[:_SIZE]).ljust(_SIZE, bytes([rest]))


def _words(one: Filter) -> frozenset[str] | None:
    """The words that a filter lets pass; None where that is not told."""
    if isinstance(one, (EqualTo, EqualNullSafe)):
        values: Iterable[object] = (one.value,)
    elif isinstance(one, In):
        values = one.value
    else:
        return None
    words = [value for value in values if isinstance(value, str)]
    return frozenset(words) if len(words) == len(list(values)) else None
