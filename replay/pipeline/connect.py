"""The stages on a server of Spark Connect, a session of which has no RDDs: tables of (bucket,
block) go from stage to stage, and each stage is a function over Arrow batches.

The package, what opening the log made, and the job travel as artifacts of the session. Nothing else
of this machine is there, so files are named by URL.
"""

from __future__ import annotations

import atexit
import os
import pickle
import re
import socket
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Event
from typing import Any

import pyarrow as pa
from pyspark import SparkFiles, cloudpickle
from pyspark.errors import PySparkException

from replay.answers import Running
from replay.changes.choices import EngineName
from replay.errors import UsageError, optional_library
from replay.leftovers import WorkFolder
from replay.logs import LogFile, Split, files
from replay.pipeline.cluster_trouble import Limits, no_task_ended, why_failed
from replay.pipeline.engine import Engine, Job, ThreeStageJob, third_stage
from replay.pipeline.libraries import versions
from replay.pipeline.local import READING, Progress, read_size, silent
from replay.pipeline.package_archive import write_archive
from replay.pipeline.stages import (
    OTHERS,
    BucketBlock,
    compared,
    last_number,
    met,
    reduced,
    results_of,
    scanned,
)
from replay.pipeline.travel import Travel
from replay.public import public

#: A table of blocks, as Spark and as Arrow say it.
_COLUMNS = "bucket int, block binary"
_SCHEMA = pa.schema([("bucket", pa.int32()), ("block", pa.binary())])

#: Bytes of blocks that go together in a batch, unless one alone has more.
_BATCH = 8 << 20

#: What the engine asks of a session unless ``--conf`` says otherwise. There are as many tasks as
#: splits and buckets, each of a size that was chosen: nothing is to be joined.
DEFAULTS = {
    "spark.sql.execution.arrow.maxBytesPerBatch": str(_BATCH),
    # results come in batches that are as large as this many rows, or as the server allows: the
    # larger of them, and the client holds each four times
    "spark.sql.execution.arrow.maxRecordsPerBatch": "8",
    "spark.sql.adaptive.enabled": "false",
}

#: The library that is the server's own, of which any release from :data:`_RELEASE` on will do.
_SERVERS = "pyspark"

#: By what gRPC knows of a proxy.
_PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")

#: The port of a server where its URL has none.
_PORT = 15002

#: The first release of Spark with ``repartitionById``, by which a partition is one bucket.
_RELEASE = (4, 1)

#: Seconds between two looks at a running job.
_LOOKS = 0.5

#: Seconds for which the end of this program waits for the server.
_FAREWELL = 5

#: What Spark calls an object that is there for this session only (its classes carry no types).
Session = Any


def _look_again() -> None:
    """Have pyspark see anew which packages there are: a command of this process that started Spark
    another way had it look where some could not be found."""
    for name in [*sys.modules]:
        if name.split(".")[:2] == ["pyspark", "testing"]:
            del sys.modules[name]


def start_session(url: str, conf: Mapping[str, str], timeout: int) -> Session:
    """A session of its own at a server, with :data:`DEFAULTS` and ``conf`` on top.
    UsageError (LR1005) where the server does not answer within ``timeout`` seconds, is of a release
    that lacks what is needed, or refuses a setting."""
    shown = public(url)
    # Its threads would start again in a child between fork and exec, and end that child.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    for module in ("pandas", "zstandard", "grpc_status", "grpc"):
        grpc = optional_library(module, "connect", f"--master {shown}")
    _look_again()
    from pyspark.sql.connect.client import DefaultChannelBuilder
    from pyspark.sql.connect.session import SparkSession

    _reach(url, shown, timeout)
    place = DefaultChannelBuilder(url)
    channel = place.toChannel()
    place.toChannel = lambda: channel  # type: ignore[method-assign]

    def begun() -> tuple[Session, str]:
        grpc.channel_ready_future(channel).result()
        builder = SparkSession.builder.channelBuilder(place)
        for name, value in {**DEFAULTS, **conf}.items():
            builder = builder.config(name, value)
        session = builder.create()
        return session, session.version

    try:
        session, release = Running(begun).result(timeout)
    except PySparkException as error:
        raise UsageError(
            "LR1005",
            f"found that {shown} gives no session: {_line(error)}",
            hint="Look at --master and --conf; settings of the cluster are the server's own",
        ) from error
    except TimeoutError as error:
        channel.close()
        raise UsageError(
            "LR1005",
            f"found no answer of {shown} within {timeout} s (--executor-timeout); expected a"
            " session",
            hint="Is it a server of Spark Connect, and does its URL need use_ssl=true or a token?",
        ) from error
    atexit.register(_end, session, channel)
    _check_release(release, shown)
    return session


def _check_release(release: str, shown: str) -> None:
    numbers = re.match(r"(\d+)\.(\d+)", release)
    if numbers is None or tuple(map(int, numbers.groups())) < _RELEASE:
        raise UsageError(
            "LR1005",
            f"found Spark {release} at {shown}; expected {_RELEASE[0]}.{_RELEASE[1]} or newer",
            hint="--engine local reads and writes by URL too, on one machine",
        )


def _give_package(session: Session) -> str:
    """Have the tasks of a session find this package before any other: its archive's name."""
    with WorkFolder() as folder:
        archive = write_archive(Path(folder))
        session.addArtifacts(str(archive), pyfile=True)
    return archive.name


def engine(
    url: str,
    conf: Mapping[str, str],
    travel: Travel,
    progress: Progress = silent,
    reason: str = "",
) -> Engine:
    """The engine at a server of Spark Connect, whose session begins when it is needed; progress and
    ``reason`` as in :func:`replay.pipeline.spark_engine.engine`."""
    begun = partial(start_session, url, conf, travel.limits.executors or 300)
    return _engine(begun, public(url), travel, progress, reason)


def engine_on(session: Session, travel: Travel) -> Engine:
    """The engine on a session that a program has already. Its settings that count are as
    :data:`DEFAULTS` says while a job runs. UsageError (LR1005) for a server of a release that lacks
    what is needed."""
    shown = "the session's server"

    def begun() -> Session:
        _check_release(session.version, shown)
        return session

    return _engine(begun, shown, travel, set_up=partial(_settings, shown))


def _engine(
    begun: Callable[[], Session],
    server: str,
    travel: Travel,
    progress: Progress = silent,
    reason: str = "",
    set_up: Callable[[Session], AbstractContextManager[None]] = nullcontext,
) -> Engine:
    """The engine on the session that is ``begun`` when it is needed, ``set_up`` for each job."""

    @cache
    def started() -> tuple[Session, _Sent]:
        session = begun()
        program = _give_package(session)
        given = {path: _give(session, Path(path).read_bytes()) for path in travel.files}
        return session, _Sent(program, given)

    def run(job: Job, log: LogFile, splits: Sequence[Split]) -> Iterator[bytes]:
        session, sent = started()
        with set_up(session):
            yield from execute(session, server, job, log, splits, progress, sent, travel)

    return Engine(run, EngineName.SPARK, reason, travel.exchange, lambda: True)


@dataclass(frozen=True)
class _Sent:
    """What the tasks of a session were given: the archive of this program, and the names of files,
    by their paths here."""

    program: str
    names: Mapping[str, str]


@contextmanager
def _settings(server: str, session: Session) -> Iterator[None]:
    """Have a session of others the settings that the stages count on, for a while. Raises
    UsageError (LR1005) where the server refuses one."""
    before = {name: session.conf.get(name, None) for name in DEFAULTS}
    ours: list[str] = []
    try:
        for name, value in DEFAULTS.items():
            try:
                session.conf.set(name, value)
            except PySparkException as error:
                raise UsageError(
                    "LR1005",
                    f"found that {server} refuses {name}={value}: {_line(error)}; expected it to be"
                    " set while a job runs",
                    hint="Results would not fit into what the server sends at a time otherwise",
                ) from error
            ours.append(name)
        yield
    except BaseException:
        with suppress(PySparkException):  # the error may be that the connection is lost
            _set_back(session, ours, before)
        raise
    _set_back(session, ours, before)


def _set_back(session: Session, names: list[str], before: Mapping[str, str | None]) -> None:
    for name in names:
        value = before[name]
        if value is None:
            session.conf.unset(name)
        else:
            session.conf.set(name, value)


def execute(
    session: Session,
    server: str,
    job: Job,
    log: LogFile,
    splits: Sequence[Split],
    progress: Progress,
    sent: _Sent,
    travel: Travel,
) -> Iterator[bytes]:
    """Carry out a job as :func:`replay.pipeline.spark_engine.execute` does: the same stages, so the
    same bytes. UsageError LR1005 where no task runs, or ends, within the limits of ``travel``, or
    where executors have other libraries than this process, or another version of it."""
    limits = travel.limits
    title = job.title
    given = _give(session, cloudpickle.dumps((job, log, sent.names)))  # type: ignore[no-untyped-call]
    numbered = [[*range(len(splits))], [pickle.dumps(split) for split in splits]]
    table = session.createDataFrame(pa.table(numbered, schema=_SCHEMA))

    libraries = {name: number for name, number in versions().items() if name != _SERVERS}
    here = libraries, sent.program

    def staged(
        there: Any, parts: int, ends: int, work: Callable[..., Iterator[BucketBlock]]
    ) -> Any:
        there = there.repartitionById(parts, "bucket")
        return there.mapInArrow(partial(_in_task, here, ends, given, work), _COLUMNS)

    last, ends = third_stage(job), last_number(job)
    table = staged(table, max(len(splits), 1), job.buckets, _scan)
    if job.buckets:
        table = staged(table, job.buckets + OTHERS, ends, _reduce)
    if last is not None:
        table = staged(table, last.meetings + OTHERS, ends, _meet)
    watch = _Watch(session, splits, progress, limits)
    rows = watch.over(table.toLocalIterator())
    try:
        yield from results_of(
            job, ((number, bytes(block)) for number, block in rows), travel.warned
        )
    except PySparkException as error:
        told = why_failed({"spark.master": server}, error, title, None, watch.came)
        if told is None:
            raise
        raise told from error
    finally:
        rows.close()
    if watch.stalled is not None:
        raise no_task_ended(title, watch.stalled, [])
    if watch.expired is not None:
        conf = {"spark.master": server}
        trouble = why_failed(conf, RuntimeError(), title, watch.expired, watch.came)
        assert trouble is not None
        raise trouble


# -- what tasks do


def _in_task(
    here: tuple[Mapping[str, str], str],
    ends: int,
    given: str,
    work: Callable[..., Iterator[BucketBlock]],
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """A stage over the batches of one partition, whose results have the number ``ends``; ``here``:
    the libraries of the client, and the program that it gave to the session."""
    libraries, program = here

    def begun() -> Iterator[BucketBlock]:
        job, log, sent = _given(SparkFiles.get(given))
        files.ELSEWHERE.update({path: SparkFiles.get(name) for path, name in sent.items()})
        return work(job, log, _pairs(batches))

    return _batches(compared(libraries, ends, begun, program=program))


@cache
def _given(path: str) -> Any:
    return pickle.loads(Path(path).read_bytes())


def _scan(job: Job, log: LogFile, blocks: Iterable[BucketBlock]) -> Iterator[BucketBlock]:
    splits = (pickle.loads(block) for _, block in blocks)
    return scanned(job, log, splits, lambda _: None)


def _reduce(job: Job, log: LogFile, blocks: Iterable[BucketBlock]) -> Iterator[BucketBlock]:
    return reduced(job, log, blocks)


def _meet(job: ThreeStageJob, log: LogFile, blocks: Iterable[BucketBlock]) -> Iterator[BucketBlock]:
    return met(job, blocks)


def _pairs(batches: Iterable[pa.RecordBatch]) -> Iterator[BucketBlock]:
    for batch in batches:
        for number, block in zip(batch.column(0), batch.column(1), strict=True):
            yield number.as_py(), block.as_py()


def _batches(blocks: Iterable[BucketBlock]) -> Iterator[pa.RecordBatch]:
    """Blocks as batches of up to :data:`_BATCH` bytes, or of one block."""
    numbers: list[int] = []
    contents: list[bytes] = []
    held = 0
    for number, block in blocks:
        if numbers and held + len(block) > _BATCH:
            yield pa.record_batch([numbers, contents], schema=_SCHEMA)
            numbers, contents, held = [], [], 0
        numbers.append(number)
        contents.append(block)
        held += len(block)
    if numbers:
        yield pa.record_batch([numbers, contents], schema=_SCHEMA)


# -- what the client does


def _give(session: Session, content: bytes) -> str:
    """Give a file to the tasks of a session: the name under which they find it."""
    with WorkFolder() as folder:
        path = Path(folder, os.urandom(8).hex())
        path.write_bytes(content)
        session.addArtifacts(str(path), file=True)
    return path.name


def _end(session: Session, channel: Any) -> None:
    """Give the session back, so that the server forgets its artifacts; but wait for nobody."""
    with suppress(TimeoutError, PySparkException):
        Running(session.stop).result(_FAREWELL)
    channel.close()


def _reach(url: str, shown: str, timeout: int) -> None:
    """Ask whether something listens there, unless the client asks a proxy to do so: the client
    itself would try for ten minutes."""
    place = re.match(r"sc://(\[[^]]+\]|[^:/;]+)(?::(\d+))?", url)
    if place is None:
        raise UsageError(
            "LR1005", f"found --master {shown}; expected sc://HOST:PORT", hint="See cluster.md"
        )
    if any(os.environ.get(name) for name in _PROXIES):
        return  # from here there may be no other way
    host, port = place[1].strip("[]"), int(place[2] or _PORT)
    try:
        socket.create_connection((host, port), min(timeout, 30)).close()
    except OSError as error:
        raise UsageError(
            "LR1005",
            f"found that {shown} cannot be reached: {error.strerror or error}; expected a server of"
            " Spark Connect",
            hint="Look at the host and port of --master, and whether the server runs",
        ) from error


def _line(error: Exception) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)


class _Watch:
    """Tells the progress of a running job from what the server says of it, and gives it up by its
    ``limits``. ``came`` says whether a task ever ran; ``expired`` after how many seconds without
    one, ``stalled`` after how many in which none of those that run had ended, it was given up."""

    def __init__(
        self, session: Session, splits: Sequence[Split], progress: Progress, limits: Limits
    ) -> None:
        self.session, self.progress, self.limits = session, progress, limits
        self.splits, self.size = len(splits), read_size(splits)
        self.came = False
        self.expired: int | None = None
        self.stalled: int | None = None
        self._alive = self._ended_at = time.monotonic()
        self._ended: list[tuple[int, int]] = []
        #: By which the server knows what is to be ended.
        self._tag = os.urandom(8).hex()
        self._over = Event()

    def over(self, rows: Iterator[Any]) -> Generator[Any]:
        """The rows, for which the server is asked with the first one, as they come; fewer where the
        job was given up. Raises what the client raises. What is not waited for any more is ended at
        the server."""
        self.session.registerProgressHandler(self._hear)
        came: Queue[Any] = Queue(1)
        asking = Running(partial(self._ask, rows, came))
        whole = False
        try:
            while (row := self._waited(asking, came)) is not None:
                yield row
            whole = self.expired is self.stalled is None
        finally:
            self._over.set()
            with suppress(Exception):
                self.session.removeProgressHandler(self._hear)
            if not whole:
                with suppress(TimeoutError, PySparkException):
                    Running(partial(self.session.interruptTag, self._tag)).result(_LOOKS)

    def _ask(self, rows: Iterator[Any], came: Queue[Any]) -> None:
        """Put the rows, and None behind them, in one thread for all: others would each keep the
        memory of a row. Raises what the client raises."""
        self.session.addTag(self._tag)  # of this thread alone
        for row in chain(rows, [None]):
            while not self._over.is_set():
                with suppress(Full):
                    came.put(row, timeout=_LOOKS)
                    break
            if self._over.is_set():
                return

    def _waited(self, asking: Running[None], came: Queue[Any]) -> Any:
        """The row that comes next; None behind the last one, or where the job was given up."""
        self._alive = self._ended_at = time.monotonic()
        while not self._gave_up():
            ended = asking.ended()
            with suppress(Empty):
                return came.get(timeout=0 if ended else _LOOKS)
            if ended:
                asking.result(0)
        return None

    def _gave_up(self) -> bool:
        now, limits = time.monotonic(), self.limits
        if limits.executors is not None and now - self._alive > limits.executors:
            self.expired = limits.executors
        elif limits.tasks is not None and now - self._ended_at > limits.tasks:
            self.stalled = limits.tasks
        return not (self.expired is self.stalled is None)

    def _hear(
        self, stages: Iterable[Any] | None, inflight_tasks: int, operation_id: Any, done: bool
    ) -> None:
        if inflight_tasks:
            self.came, self._alive = True, time.monotonic()
        ended = [(stage.num_tasks, stage.num_completed_tasks) for stage in stages or ()]
        if ended != self._ended:
            self._ended, self._ended_at = ended, time.monotonic()
        for stage in stages or ():
            if 0 < stage.num_completed_tasks < stage.num_tasks:
                if stage.num_tasks == self.splits:
                    part = stage.num_completed_tasks / stage.num_tasks
                    self.progress(READING, int(part * self.size), self.size)
                else:
                    self.progress("writing", stage.num_completed_tasks, stage.num_tasks)
