"""The stages on Spark, the engine; the only module that imports pyspark. It holds no rule about logs, SQL or databases.

After :func:`register`, ``spark.read.format("logmaster")`` shows a log to a user, one row per record (:data:`replay.changes.ENVELOPE`). The engine
carries out jobs over the same partitions, which are exact byte ranges: each is scanned by a task that yields blocks by bucket, Spark brings the
blocks of a bucket together, and a task reduces them. Blocks are bytes that only Python looks into, so the engine stays below Spark SQL, whose start
alone costs as much as reading half a million records.
"""

from __future__ import annotations

import logging
import os
import pickle
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from replay.changes import ENVELOPE
from replay.errors import InputError, LogReplayError, UsageError
from replay.java import prepare_environment
from replay.local import Progress, silent
from replay.logs import Inputs, LogFile, Split, source_named
from replay.stages import Engine, Job

#: A bucket, and bytes for it.
Block = tuple[int, bytes]

_DDL = {pa.int32(): "int", pa.int64(): "bigint", pa.string(): "string", pa.binary(): "binary", pa.bool_(): "boolean"}

#: Little Java code runs for long: the first compiler is enough, and a heap of 1 GB needs no concurrent collector.
_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"

#: What the engine asks of Spark unless ``--conf`` says otherwise.
DEFAULTS: dict[str, str] = {
    "spark.driver.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.python.worker.reuse": "true",
    "spark.python.daemon.module": "replay.daemon",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.shuffle.compress": "false",  # blocks of positions: packing them costs more than moving them
    "spark.driver.extraJavaOptions": f"{_JVM} -Dlog4j2.configurationFile={(Path(__file__).parent / 'log4j2.properties').as_uri()}",
}


def start_context(master: str, conf: Mapping[str, str]) -> SparkContext:
    """A Spark context with :data:`DEFAULTS` and ``conf`` on top. Its own log goes to stderr, errors only. Raises UsageError (LR1005) when it does not
    start."""
    prepare_environment()
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    logging.getLogger("py4j").setLevel(logging.ERROR)
    settings = SparkConf().setMaster(master).setAppName("logreplay").setAll([*{**DEFAULTS, **conf}.items()])
    try:
        context = SparkContext.getOrCreate(settings)
    except (PySparkException, Py4JError) as error:
        said = str(getattr(error, "java_exception", None) or error).partition("\n")[0]
        hint = "Look at --master and --conf, and at what Java said above; --engine local does without Spark"
        raise UsageError("LR1005", f"Spark cannot be started: {said}", hint=hint) from error
    context.setLogLevel("ERROR")
    return context


def start_in_background(master: str, conf: Mapping[str, str]) -> Callable[[], SparkContext]:
    """Begin to start a context (most of which is waiting for Java); the function returned waits for it and gives it, or raises what went wrong."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="spark-start")
    future = pool.submit(start_context, master, conf)
    pool.shutdown(wait=False)
    return future.result


def register(session: SparkSession) -> None:
    """Make ``format("logmaster")`` known to a session. Options: ``control`` (path), ``data`` (paths, one a line) or the path given to ``load``."""
    session.dataSource.register(LogmasterDataSource)


class _Part(InputPartition):
    def __init__(self, split: Split) -> None:
        super().__init__(split)
        self.split = split


class LogmasterDataSource(DataSource):
    """Log Master logical logs as a Spark data source; partitions are exact byte ranges from a verified index."""

    @classmethod
    def name(cls) -> str:
        return "logmaster"

    def schema(self) -> str:
        return ", ".join(f"{field.name} {_DDL[field.type]}" for field in ENVELOPE)

    def reader(self, schema: StructType) -> DataSourceReader:
        data = self.options.get("data") or self.options.get("path") or ""
        control = self.options.get("control")
        if not control or not data:
            raise InputError("LR2001", 'format("logmaster") needs option("control", path) and option("data", path) or load(path)')
        return _EnvelopeReader(source_named("logmaster").open_log(Inputs(control=control, data=tuple(data.splitlines()))))


class _EnvelopeReader(DataSourceReader):
    def __init__(self, log: LogFile) -> None:
        self.log = log

    def partitions(self) -> list[InputPartition]:
        return [_Part(split) for split, _, _ in self.log.splits(64 << 20)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _Part)
        for first, offsets, lengths in self.log.records(partition.split, 16_384):
            yield self.log.envelope_batch(partition.split.file, first, offsets, lengths)


def engine(started: Callable[[], SparkContext], progress: Progress = silent) -> Engine:
    """The engine on a context, which ``started`` gives when it is needed; tells progress."""
    return Engine(lambda job, log, splits: execute(started(), job, log, splits, progress))


def execute(context: SparkContext, job: Job, log: LogFile, splits: Sequence[Split], progress: Progress = silent) -> Iterator[bytes]:
    """Carry out a job (:data:`replay.stages.Runner`): one task a split, then one task for some buckets. Executors must be able to reach the files of
    the log."""

    def scan(numbers: Iterable[int]) -> Iterator[Block]:
        for number in numbers:
            yield from _caught(job.buckets, job.scan(log, splits[number]))

    def reduce(found: Iterable[Block]) -> Iterator[Block]:
        blocks: dict[int, list[bytes]] = {}
        for bucket, block in found:
            if bucket >= job.buckets:
                yield bucket, block
            else:
                blocks.setdefault(bucket, []).append(block)
        for bucket in sorted(blocks):
            yield from _caught(job.buckets, ((job.buckets, result) for result in job.reduce(log, bucket, blocks.pop(bucket))))

    blocks = context.parallelize(range(len(splits)), max(len(splits), 1)).mapPartitions(scan)
    if job.buckets:
        blocks = blocks.partitionBy(job.buckets + 2, _place).mapPartitions(reduce)
    with _Watch(context, len(splits), job.buckets + 2, progress):
        results = blocks.collect()
    for bucket, block in results:
        if bucket > job.buckets:
            raise pickle.loads(block)
        yield block


def _place(bucket: int) -> int:
    """Buckets are numbered as the partitions are."""
    return bucket


def _caught(results: int, found: Iterator[Block]) -> Iterator[Block]:
    """Blocks; an error of ours becomes one too (of the bucket after the results), so that it arrives as it was raised."""
    try:
        yield from found
    except LogReplayError as error:
        yield results + 1, pickle.dumps(error)


class _Watch:
    """Reports the progress of the running job from Spark's status tracker, in a thread of its own."""

    def __init__(self, context: SparkContext, splits: int, buckets: int, progress: Progress) -> None:
        self.tracker, self.splits, self.buckets, self.progress = context.statusTracker(), splits, buckets, progress
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> None:
        self.thread.start()

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.thread.join()

    def _watch(self) -> None:
        while not self.done.wait(0.5):
            for stage in self.tracker.getActiveStageIds():
                info = self.tracker.getStageInfo(stage)
                if info is not None:
                    reading = info.numTasks == self.splits and stage % 2 == 0
                    self.progress("reading" if reading else "writing", info.numCompletedTasks, info.numTasks)
