"""The stages on Spark, the engine. It holds no rule about logs, SQL or databases.

After :func:`register`, ``spark.read.format("logmaster")`` shows a log to a user, one row per record
(:data:`replay.changes.envelope.ENVELOPE`). The engine carries out jobs over the same partitions,
which are exact byte ranges: each is scanned by a task that yields blocks by bucket, Spark brings
the blocks of a bucket together, and a task reduces them. Blocks are bytes that only Python looks
into, so the engine stays below Spark SQL, whose start alone costs as much as reading half a million
records.
"""

from __future__ import annotations

import atexit
import logging
import os
import pickle
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import Accumulator, SparkConf, SparkContext, SparkFiles, TaskContext, cloudpickle
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from replay.changes.choices import EngineName
from replay.changes.envelope import ENVELOPE
from replay.changes.settings import is_secret_setting
from replay.errors import InputError, LogReplayError, UsageError
from replay.leftovers import WorkFolder
from replay.logs import Inputs, LogFile, Split, envelope_batch, files, source_named
from replay.machine import hidden
from replay.pipeline import kubernetes
from replay.pipeline.cluster_trouble import (
    UNLIMITED,
    Limits,
    check_settings,
    is_kubernetes,
    java_ended,
    never_started,
    no_task_ended,
    not_started,
    pods_given_up,
    why_failed,
)
from replay.pipeline.engine import Engine, Job, scan_tasks, third_stage
from replay.pipeline.failed_tasks import FailedTasks
from replay.pipeline.java import prepare_environment, program_of
from replay.pipeline.java_archive import JavaArchive, java_archive
from replay.pipeline.java_words import GIVES_UP, QuietPipe
from replay.pipeline.libraries import VARIABLE, versions, written
from replay.pipeline.local import READING, Progress, read_size, silent
from replay.pipeline.package_archive import write_archive
from replay.pipeline.spark_results import PiecedResults
from replay.pipeline.spark_settings import DEFAULTS, JAVA_OPTIONS
from replay.pipeline.stages import (
    OTHERS,
    BucketBlock,
    First,
    Listed,
    Warned,
    compared,
    error_of,
    last_number,
    met,
    reduced,
    results_of,
    scanned,
    settled,
    unpacked,
    warn,
)
from replay.pipeline.task_events import TaskClock, TaskEvent, Told

_DDL = {
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.string(): "string",
    pa.binary(): "binary",
    pa.bool_(): "boolean",
}

#: Seconds between two looks at a running job.
_LOOKS = 0.5

#: Seconds for which the tasks of a job go on after one has raised an error of ours.
_AFTER_ERROR = 30

#: Seconds that Spark has to start, at least.
_STARTING = 60

#: Tasks that are looked at for those that do not end.
_LISTED = 10_000


def start_context(master: str, conf: Mapping[str, str]) -> SparkContext:
    """A Spark context with :data:`DEFAULTS` and ``conf`` on top. Its own log goes to stderr, errors
    only. Raises UsageError (LR1005) when it does not start."""
    if os.environ.get("SPARK_REMOTE"):
        raise UsageError(
            "LR1005",
            f"found a server of Spark Connect (SPARK_REMOTE) and --master {master}; expected one of"
            " them",
            hint="Unset SPARK_REMOTE, which keeps Java from starting, or leave out --master",
        )
    check_settings(master, os.environ)
    prepare_environment(master)
    travels = {} if is_local(master) else _travelling(conf)
    logging.getLogger("py4j").setLevel(logging.ERROR)
    logging.getLogger().addFilter(_of_others)
    program = program_of(Path(os.environ["JAVA_HOME"]))
    archive = java_archive(program, DEFAULTS[JAVA_OPTIONS])
    java = {JAVA_OPTIONS: f"{DEFAULTS[JAVA_OPTIONS]} {archive.options}".rstrip()}
    settings = (
        SparkConf()
        .setMaster(master)
        .setAppName("logreplay")
        .setAll([*{**DEFAULTS, **java, **_authenticated(master), **conf, **travels}.items()])
    )
    try:
        _start_java(settings, archive)
        context = SparkContext.getOrCreate(settings)
    except (PySparkException, Py4JError) as error:
        raise not_started(master, error, _said_of_pods()) from error
    context.setLogLevel("ERROR")
    # that Java is gone is told by whoever waits for it
    context._accumulatorServer.handle_error = lambda *_: None  # type: ignore[method-assign]
    if is_kubernetes(master):
        atexit.register(_end, context)
    return context


def _of_others(record: logging.LogRecord) -> bool:
    """Py4J says by the root logger, with a traceback, that Java is gone."""
    return "py4j" not in record.pathname


def is_local(master: str) -> bool:
    """Whether the tasks of a master run in processes that share everything with this one."""
    return re.fullmatch(r"local(\[.*\])?", master) is not None


def is_connect(master: str) -> bool:
    """Whether a master is a server of Spark Connect (:mod:`replay.pipeline.connect`)."""
    return master.startswith("sc://")


@cache
def _archive() -> Path:
    """The archive of this package, for as long as this process lives."""
    folder = WorkFolder()
    atexit.register(folder.cleanup)
    return write_archive(Path(folder.name))


def with_package(context: SparkContext) -> SparkContext:
    """A context that runs already, whose tasks find this package before any other."""
    if _archive().name not in (context._python_includes or ()):
        context.addPyFile(str(_archive()))
    return context


def _travelling(conf: Mapping[str, str]) -> dict[str, str]:
    """Settings by which this package travels to executors that know nothing of it, or have another
    version: Spark puts the archive into their working folder before the first task, and Python
    looks there first."""
    archive, path = _archive(), "spark.executorEnv.PYTHONPATH"
    return {
        "spark.files": ",".join(filter(None, (archive.as_uri(), conf.get("spark.files")))),
        path: os.pathsep.join(filter(None, (archive.name, conf.get(path)))),
        f"spark.executorEnv.{VARIABLE}": written(versions()),
    }


def _start_java(settings: SparkConf, archive: JavaArchive) -> None:
    """Start Java with its chatter left out, unless it runs already. Others of this machine can read
    its command line: what is secret is not there, but comes with the context."""
    if SparkContext._gateway is not None:
        return
    pipe = QuietPipe()
    try:
        to = {"stdout": pipe.write, "stderr": pipe.write}
        public = [one for one in settings.getAll() if not is_secret_setting(one[0])]
        words = SparkConf(loadDefaults=False).setAll(public)
        gateway = launch_gateway(words, to)  # type: ignore[no-untyped-call]
    finally:
        pipe.started()
    atexit.register(pipe.hush)
    pipe.process = gateway.proc
    _pipes.append(pipe)
    _archives.append(archive)
    SparkContext._ensure_initialized(gateway=gateway)


#: That of the Java that this process started.
_pipes: list[QuietPipe] = []


def _said_of_pods() -> str:
    return _pipes[-1].pods if _pipes else ""


def _end(context: SparkContext) -> None:
    """End a context whose executors are pods, unless Spark ends by itself."""
    if not _said_of_pods().startswith(GIVES_UP):
        kubernetes.end(context)


def _authenticated(master: str) -> dict[str, str]:
    """Settings by which the parts of Spark ask each other for a secret. Spark makes one itself but
    for a cluster of its own, where all who take part must be given the same."""
    if master.startswith("local-cluster"):
        secret = os.urandom(32).hex()
        return {"spark.authenticate": "true", "spark.authenticate.secret": secret}
    own_cluster = master.startswith(("local", "yarn", "k8s"))
    return {"spark.authenticate": "true"} if own_cluster else {}


def start_in_background(
    master: str, conf: Mapping[str, str], seconds: int | None = None
) -> Callable[[], SparkContext]:
    """Begin to start a context (most of which is waiting for Java); the function returned waits for
    it and gives it, or raises what went wrong: UsageError (LR1005) where it was waited for in vain
    for so many ``seconds`` (a minute at least; None: however long that takes)."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="spark-start")
    future = pool.submit(_start_lean, master, conf)
    pool.shutdown(wait=False)

    def started() -> SparkContext:
        if seconds is None:
            return future.result()
        allowed = max(seconds, _STARTING)
        wait([future], allowed)
        if future.done():
            return future.result()
        for pipe in _pipes[-1:]:
            pipe.kill()
        raise never_started(master, allowed)

    return started


def _start_lean(master: str, conf: Mapping[str, str]) -> SparkContext:
    """:func:`start_context` for a command. To make an object of Java, pyspark asks the tools of its
    tests which packages there are, which imports pandas: here they find none. What is made of that
    (:func:`replay.pipeline.connect.start_session` forgets it) would be wrong for others."""
    with hidden("pandas", "google"):
        return start_context(master, conf)


def register(session: SparkSession) -> None:
    """Make ``format("logmaster")`` known to a session. Options: ``control`` (path), ``data``
    (paths, one a line) or the path given to ``load``."""
    session.dataSource.register(LogmasterDataSource)


class _SplitPartition(InputPartition):
    def __init__(self, split: Split) -> None:
        super().__init__(split)
        self.split = split


class LogmasterDataSource(DataSource):
    """Log Master logical logs as a Spark data source; partitions are exact byte ranges from a
    verified index."""

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


@dataclass(frozen=True)
class Travel:
    """What a cluster asks for: ``files`` of this machine that tasks need there, when a job is given
    up, the ``exchange`` of the engine, and who is ``warned`` of machines."""

    files: Sequence[str] = ()
    limits: Limits = UNLIMITED
    exchange: str = ""
    warned: Warned = warn


def engine(
    started: Callable[[], SparkContext],
    progress: Progress = silent,
    reason: str = "",
    travel: Travel | None = None,
    told: Told | None = None,
) -> Engine:
    """The engine on a context, which ``started`` gives when it is needed; tells progress.
    ``reason`` as in :class:`replay.pipeline.engine.Engine`; ``told`` of each task."""
    sent: dict[str, str] = {}

    def run(job: Job, log: LogFile, splits: Sequence[Split]) -> Iterator[bytes]:
        context = started()
        limits = UNLIMITED if travel is None else travel.limits
        warned = warn if travel is None else travel.warned
        with _going_on(job):
            if travel is not None and not sent:
                sent.update(_sent(context, travel.files))
            yield from execute(context, job, log, splits, progress, sent, limits, told, warned)

    return Engine(
        run,
        EngineName.SPARK,
        reason,
        "" if travel is None else travel.exchange,
        lambda: not is_local(str(started().master)),
    )


@contextmanager
def _going_on(job: Job) -> Iterator[None]:
    """Raises LogReplayError where Spark is gone between what is watched of a job."""
    try:
        yield
    except (Py4JError, PySparkException, ConnectionError) as failure:
        reason = _gone(failure, getattr(job, "title", type(job).__name__), ())
        if reason is None:
            raise
        raise reason from failure


def _gone(failure: Exception, title: str, pods: Sequence[str]) -> LogReplayError | None:
    """Why Spark is gone in a job (called ``title``), if it is; ``pods``: what is known of them."""
    said = _said_of_pods()
    if said.startswith(GIVES_UP):
        return pods_given_up(said)
    stopped = "stopped SparkContext" in str(failure)
    silent = not hasattr(failure, "java_exception")
    if stopped or (silent and any(pipe.has_ended() for pipe in _pipes[-1:])):
        return java_ended(title, [*pods, *filter(None, [said])])
    return None


def _sent(context: SparkContext, paths: Sequence[str]) -> dict[str, str]:
    """Give files to the executors: the names under which they find them."""
    names: dict[str, str] = {}
    for path in paths:
        # a name of its own: executors may have had another log's
        link = Path(path).with_name(f"{os.urandom(8).hex()}-{Path(path).name}")
        os.link(path, link)
        context.addFile(link.as_uri())
        names[path] = link.name
    return names


def execute(
    context: SparkContext,
    job: Job,
    log: LogFile,
    splits: Sequence[Split],
    progress: Progress = silent,
    sent: Mapping[str, str] | None = None,
    limits: Limits = UNLIMITED,
    told: Told | None = None,
    warned: Warned = warn,
) -> Iterator[bytes]:
    """Carry out a job (:data:`replay.pipeline.engine.Runner`): one task for a split, or for some
    (:func:`replay.pipeline.engine.scan_tasks`), then one for some buckets. Executors must be able
    to reach the files of the log, but for those that were ``sent`` to them (path, name). UsageError
    LR1005 where the job is given up by its ``limits``, or executors cannot run our programs or have
    other libraries; ``warned`` is told of patches."""
    title = getattr(job, "title", type(job).__name__)
    read, noting = context.accumulator(0), told is not None
    error = context.accumulator(b"", First())  # type: ignore[arg-type]
    events: Accumulator[list[TaskEvent]] = context.accumulator([], Listed())  # type: ignore[arg-type]
    packed = cloudpickle.dumps((job, log))  # type: ignore[no-untyped-call]
    last, here, buckets = third_stage(job), versions(), job.buckets
    ends, meetings = last_number(job), last.meetings if last else 0
    tasks = scan_tasks(job, len(splits), context.defaultParallelism)

    def noted(
        part: tuple[str, int, int],
        came: Iterable[Any],
        size: Callable[[Any], int],
        work: Callable[..., Any],
    ) -> Iterator[BucketBlock]:
        files.ELSEWHERE.update({path: SparkFiles.get(name) for path, name in (sent or {}).items()})
        task = TaskContext.get()
        if not noting or task is None or task.partitionId() >= part[1]:
            return cast("Iterator[BucketBlock]", work(came))
        clock = TaskClock(title, part[0], task.partitionId(), task.attemptNumber())
        tells, wrong = lambda event: events.add([event]), partial(error_of, part[2])
        return clock.results(work(clock.came(came, size)), tells, wrong)

    def counted(split: Split) -> None:
        read.add(_size(split))

    def scan(part: Iterable[Split]) -> Iterator[BucketBlock]:
        def begun() -> Iterator[BucketBlock]:
            work, opened = unpacked(packed)
            call = lambda came: scanned(work, opened, came, counted, error.add)  # noqa: E731
            done = noted(("scan", tasks, buckets), part, _size, call)
            return settled(packed, "scan", done)

        return compared(here, buckets, begun, error.add)

    def reduce(part: Iterable[BucketBlock]) -> Iterator[BucketBlock]:
        def begun() -> Iterator[BucketBlock]:
            work, opened = unpacked(packed)
            call = lambda came: reduced(work, opened, came, error.add)  # noqa: E731
            done = noted(("reduce", buckets, ends), part, _length, call)
            return settled(packed, "reduce", done)

        return compared(here, ends, begun, error.add)

    def meet(part: Iterable[BucketBlock]) -> Iterator[BucketBlock]:
        def begun() -> Iterator[BucketBlock]:
            work = unpacked(packed)[0]
            call = lambda came: met(work, came, error.add)  # noqa: E731
            return noted(("meet", meetings, ends), part, _length, call)

        return compared(here, ends, begun, error.add)

    # a partition is one bucket (:func:`_place`)
    blocks = context.parallelize(splits, tasks).mapPartitions(scan)
    if buckets:
        blocks = blocks.partitionBy(buckets + OTHERS, _place).mapPartitions(reduce)
    if last is not None:
        blocks = blocks.partitionBy(meetings + OTHERS, _place).mapPartitions(meet)
    results = PiecedResults(context, blocks)
    counts, limited = (read, error, events), (progress, limits)
    watched = partial(_watched, context, (title, splits, tasks, buckets), limited, counts)
    yield from results_of(job, _given(results, watched, told), warned)


def _given(
    results: PiecedResults,
    watched: Callable[[Told | None], AbstractContextManager[None]],
    told: Told | None,
) -> Iterator[BucketBlock]:
    """The results, which are made first. Tasks are told of as they make them."""
    try:
        with watched(told):
            results.make()
        _count_archives()
        yield from results.pieces(partial(watched, None))
    finally:
        results.forget()


@contextmanager
def _watched(
    context: SparkContext,
    job: tuple[str, Sequence[Split], int, int],
    limited: tuple[Progress, Limits],
    counts: tuple[Accumulator[int], Accumulator[bytes], Accumulator[list[TaskEvent]]],
    told: Told | None,
) -> Iterator[None]:
    """What looks after Spark while it works for a ``job`` (its title, splits, tasks that scan them,
    buckets). Raises LogReplayError where that is why Spark failed."""
    title, splits, tasks, buckets = job
    read, error, events = counts
    watch = _ProgressWatch(context, (splits, tasks), *limited, read, error)
    with _told_of(context, title, events, told), _described(context, title, splits, buckets), watch:
        try:
            yield
        except (Py4JError, PySparkException, ConnectionError) as failure:
            reason = watch.reason(failure, title)
            if reason is None:
                raise
            raise reason from failure


#: That of the Java that this process started, until it carried out a job.
_archives: list[JavaArchive] = []


def _count_archives() -> None:
    while _archives:
        _archives.pop().count()


def _size(split: Split) -> int:
    return split.stop - split.start


def _length(block: BucketBlock) -> int:
    return len(block[1])


@contextmanager
def _told_of(
    context: SparkContext, title: str, events: Accumulator[list[TaskEvent]], told: Told | None
) -> Iterator[None]:
    """Tell of the tasks of the job that this thread carries out, as they end."""
    if told is None:
        yield
        return
    done, failed = threading.Event(), FailedTasks(context, title, told)

    def tell() -> None:
        count = 0
        while True:
            ended = done.wait(_LOOKS)
            for event in events.value[count:]:
                told(event)
                count += 1
            with suppress(Py4JError, ConnectionError):  # Java is gone
                failed.end() if ended else failed.look()
            if ended:
                return

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@contextmanager
def _described(
    context: SparkContext, title: str, splits: Sequence[Split], buckets: int
) -> Iterator[None]:
    """Name the stages of a job in Spark's pages."""
    name = "spark.job.description"
    before = context.getLocalProperty(name)
    size = f"{read_size(splits) / 1e6:,.1f} MB, {len(splits):,} splits"
    then = f", then {buckets:,} buckets" if buckets else ""
    context.setLocalProperty(name, f"logreplay: {title} ({size}{then})")
    try:
        yield
    finally:
        with suppress(Py4JError, ConnectionError):  # Java is gone
            context.setLocalProperty(name, before)  # type: ignore[arg-type]


def _place(bucket: int) -> int:
    """Buckets are numbered as the partitions are."""
    return bucket


class _ProgressWatch:
    """Reports the progress of the running job from Spark's status tracker, in a thread of its own,
    and ends a job by its ``limits``: ``expired`` says after how many seconds without an executor,
    ``came`` whether there was one, ``stalled`` which tasks do not end; and where a task raised an
    ``error`` of ours, for which others are waited for a while only: which of several is told shall
    not depend on which came first. ``read`` counts the bytes that tasks have read; ``scan``: the
    splits that are scanned, and by how many tasks."""

    def __init__(
        self,
        context: SparkContext,
        scan: tuple[Sequence[Split], int],
        progress: Progress,
        limits: Limits,
        read: Accumulator[int],
        error: Accumulator[bytes],
    ) -> None:
        self.context, self.limits, self.read = context, limits, read
        self.raised, self.error = error, b""
        self.conf = dict(context.getConf().getAll())  # Java may be gone when it is needed
        self.expired: int | None = None
        self.came, self.pods = False, list[str]()
        self.stalled: list[str] | None = None
        self.tracker, self.progress = context.statusTracker(), progress
        self.tasks, self.size = scan[1], read_size(scan[0])
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> _ProgressWatch:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.thread.join()

    def reason(self, failure: Exception, title: str) -> LogReplayError | None:
        """Why the job (called ``title``) failed, where that is known."""
        if self.error:
            return cast(LogReplayError, pickle.loads(self.error))
        if self.stalled is not None:
            return no_task_ended(title, self.limits.tasks or 0, self.stalled)
        reason = _gone(failure, title, self.pods)
        if reason is not None:
            return reason
        pods = [*self.pods, *filter(None, [_said_of_pods()])]
        return why_failed(self.conf, failure, title, self.expired, self.came, pods)

    def _executors(self) -> int:
        """How many there are; the driver is listed too."""
        return int(self.context._jsc.sc().getExecutorMemoryStatus().size()) - 1

    def _watch(self) -> None:
        # Java is gone, as the thread that waits for the job hears, too
        with suppress(Py4JError, ConnectionError):
            self._look_on()

    def _look_on(self) -> None:
        alone = still = since = 0.0
        ended: list[tuple[int, int, int]] = []
        while not self.done.wait(_LOOKS):
            there = self.limits.executors is None or self._executors() > 0
            self.came |= there
            alone = 0.0 if there else alone + _LOOKS
            before, ended = ended, self._ended()
            still = 0.0 if ended != before or not there else still + _LOOKS
            if self.limits.executors is not None and alone >= self.limits.executors:
                self.expired = self.limits.executors
                if is_kubernetes(self.conf.get("spark.master", "")):
                    self.pods = kubernetes.states(self.context)
            elif self.limits.tasks is not None and still >= self.limits.tasks:
                self.stalled = self._running([stage for stage, _, _ in ended])
            elif since >= _AFTER_ERROR:
                self.error = self.raised.value
            else:
                since += _LOOKS if self.raised.value else 0.0
                continue
            self.context.cancelAllJobs()
            return

    def _ended(self) -> list[tuple[int, int, int]]:
        """Stages that run, with their tasks that have ended, well and otherwise."""
        ended = []
        for stage in self.tracker.getActiveStageIds():
            info = self.tracker.getStageInfo(stage)
            if info is None:
                continue
            ended.append((stage, info.numCompletedTasks, info.numFailedTasks))
            if info.numTasks == self.tasks and stage % 2 == 0:
                # a split that was read twice counts twice
                self.progress(READING, min(self.read.value, self.size), self.size)
            else:
                self.progress("writing", info.numCompletedTasks, info.numTasks)
        return ended

    def _running(self, stages: Sequence[int]) -> list[str]:
        """The tasks of stages that run, each with the machine that has it."""
        store = self.context._jsc.sc().statusStore()
        running = []
        for stage in stages:
            info = self.tracker.getStageInfo(stage)
            if info is None:
                continue
            tasks = store.taskList(stage, info.currentAttemptId, _LISTED)
            for at in range(tasks.size()):
                task = tasks.apply(at)
                if task.status() == "RUNNING":
                    running.append(
                        f"task {task.index()} (attempt {task.attempt()}) on {task.host()}"
                    )
        return running
