"""The engine on Spark: starts it, maps splits to blocks, shuffles these, and collects results. It
holds no rule about logs, SQL or databases.

A job's splits are exact byte ranges: each is scanned by a task that yields blocks by bucket, Spark
brings the blocks of a bucket together, and a task reduces them. Blocks are bytes that only Python
looks into, so the engine stays below Spark SQL, whose start alone costs as much as reading half a
million records. What tasks do is in :mod:`replay.engine.spark_tasks`.
"""

from __future__ import annotations

import logging
import os
import pickle
import re
import shutil
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

import pyspark
from py4j.protocol import Py4JError
from pyspark import RDD, SparkConf, SparkContext, StorageLevel, cloudpickle
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway

from replay.changes.choices import EngineName
from replay.engine.contract import (
    Engine,
    Job,
    Progress,
    Told,
    is_local,
    read_size,
    scan_tasks,
    silent,
    third_stage,
)
from replay.engine.java import prepare_environment
from replay.engine.spark_tasks import (
    BucketBlock,
    Given,
    Listed,
    carried_out,
    place,
    versions,
    weighed,
    write_archive,
)
from replay.engine.spark_watch import UNLIMITED, Limits, Watch, failed, said
from replay.errors import UsageError
from replay.logs import LogFile, Split
from replay.machine import hidden
from replay.public import is_secret_setting
from replay.temp_folders import lasting_folder, outside

#: What the engine asks of Spark unless ``--conf`` or Spark's own files say otherwise.
DEFAULTS = {
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.python.daemon.module": "replay.engine.spark_tasks",
    # blocks of positions: packing them costs more than moving them
    "spark.shuffle.compress": "false",
    # else, with up to 200 buckets, each scan opens a file for each of them
    "spark.shuffle.sort.bypassMergeThreshold": "1",
}
#: Little Java code runs for long: the first compiler is enough. Its files lie where ours do, so
#: that they go with the next run where this one is killed.
_JAVA = "-XX:TieredStopAtLevel=1 -XX:-UsePerfData -Djava.io.tmpdir={}"
#: The variable from which Spark's launcher takes them, before those of ``--conf``.
_JAVA_OPTIONS = "SPARK_SUBMIT_OPTS"
#: The longest folder of a Unix socket by which Java asks workers: its path has 107 bytes at most.
_SOCKETS = 60
#: Where the Python of tasks looks for modules.
_PATH = "spark.executorEnv.PYTHONPATH"
#: The jar that each Spark has, which says its release.
_CORE = re.compile(r"spark-core_[\d.]+-(\d+\.\d+).*\.jar")
#: Seconds that Spark has to start, at least; lines of Java that are kept.
_STARTING, _KEPT = 60, 40
#: What the lines of Java say that are shown where it is gone.
_TELLS = re.compile(r"Error\b|Exception|^Unrecognized|^Invalid|^Conflicting| ERROR |fatal")
#: Bytes of results that come to the driver together; and of what Spark allows, one in so many: it
#: counts what goes around a result, too.
PIECE, _PIECES = 64 << 20, 4
#: Seconds for a connection between executors.
_CONNECTS = "10s"


# -- the engine


@dataclass(eq=False)
class SparkEngine(Engine):
    """The engine on a context, which ``started`` gives when it is needed. ``files`` of this machine
    are given to executors elsewhere; ``limits`` say when a job is given up; ``told`` of each
    task."""

    started: Callable[[], SparkContext] = field(kw_only=True)
    progress: Progress = silent
    reason: str = ""
    files: Sequence[str] = ()
    limits: Limits = UNLIMITED
    exchange: str = ""
    told: Told | None = None
    name: EngineName = EngineName.SPARK
    _sent: dict[str, str] = field(default_factory=dict)

    def execute(self, job: Job, log: LogFile, splits: Sequence[Split]) -> Iterator[bytes]:
        """As :func:`execute`."""
        context = self.started()
        if self.files and not self._sent and not is_local(str(context.master)):
            for path in map(Path, self.files):
                self._sent[str(path)] = self._give(context, path)
        more = (self.progress, self._sent, self.limits, self.told)
        yield from execute(context, job, log, splits, *more)

    def _give(self, context: SparkContext, path: Path) -> str:
        """Give a file to executors: the name under which they find it, one of its own, for they may
        have had another log's. Spark never takes it back: each executor that comes later asks for
        all that a context was given. So it lies there for as long as this process, empty once
        nobody has this engine any more."""
        link = _kept_in(outside(path)) / f"{os.urandom(8).hex()}-{path.name}"
        try:
            os.link(path, link)
        except OSError:  # a file system without links
            shutil.copyfile(path, link)
        weakref.finalize(self, _emptied, link)
        context.addFile(link.as_uri())
        return link.name


#: A folder in a place, for as long as this process lives.
_kept_in = cache(lasting_folder)


def _emptied(path: Path) -> None:
    with suppress(OSError):  # the process ends
        path.unlink()
        path.touch()


def engine_on(session: Any, files: Sequence[str] = (), exchange: str = "") -> Engine:
    """The engine on a ``SparkSession`` that a program has already: a notebook, or one that was
    submitted to a cluster. ``files`` of this machine are given to executors; ``exchange`` is the
    URL of a folder in a store, through which tasks give files back. UsageError for what is no
    session (LR1001), or is one of Spark Connect or has ended (LR1005)."""
    if not hasattr(session, "createDataFrame"):
        raise UsageError("LR1001", f"found spark={session!r:.80}; expected a SparkSession")
    if type(session).__module__.startswith("pyspark.sql.connect."):
        raise _not_by_connect("a session of Spark Connect")
    context = session.sparkContext
    if context._jsc is None:
        message = "found a Spark session that was stopped; expected one that runs"
        raise UsageError("LR1005", message, hint="Begin another one, and open the log with it")
    if is_local(str(context.master)):
        return SparkEngine(started=lambda: context)
    limits = Limits(executors=300, tasks=3600)  # what a command waits for
    started = cache(partial(with_package, context))
    return SparkEngine(started=started, files=files, limits=limits, exchange=exchange)


def execute(
    context: SparkContext,
    job: Job,
    log: LogFile,
    splits: Sequence[Split],
    progress: Progress = silent,
    sent: Mapping[str, str] = MappingProxyType({}),
    limits: Limits = UNLIMITED,
    told: Told | None = None,
) -> Iterator[bytes]:
    """Carry out a job (:data:`replay.engine.contract.Runner`): one task for a split, or for some
    (:func:`replay.engine.contract.scan_tasks`), then one for each bucket. Executors must be able to
    reach the files of the log, but for those that were ``sent`` to them (path, name). UsageError
    where the job is given up by its ``limits`` (LR1005), where executors have other libraries
    (LR1005), and where Spark fails (LR1005, LR1006, LR1007)."""
    try:
        errors = context.accumulator([], Listed())  # type: ignore[arg-type,var-annotated]
        events = context.accumulator([], Listed()) if told else None  # type: ignore[arg-type,var-annotated]
        packed = cloudpickle.dumps((job, log))  # type: ignore[no-untyped-call]
        given = Given(packed, versions(), _that_travelled(context), dict(sent), errors, events)
        last, buckets = third_stage(job), job.buckets
        tasks = scan_tasks(job, len(splits), context.defaultParallelism)
        # a partition is one bucket, the last one all else
        blocks: RDD[Any] = context.parallelize(splits, tasks)
        blocks = blocks.mapPartitions(partial(carried_out, given, "scan"))
        if buckets:
            blocks = blocks.partitionBy(buckets + 1, partial(place, buckets))
            blocks = blocks.mapPartitions(partial(carried_out, given, "reduce"))
        if last is not None:
            blocks = blocks.partitionBy(last.meetings + 1, partial(place, last.meetings))
            blocks = blocks.mapPartitions(partial(carried_out, given, "meet"))
        ends = buckets if last is None else last.meetings
        size = f"{read_size(splits) / 1e6:,.1f} MB, {len(splits):,} splits"
        then = f", then {buckets:,} buckets" if buckets else ""
        described = f"logreplay: {job.title} ({size}{then})"
        facts, counts = (job.title, described, read_size(splits)), (errors, events)
        watch = Watch(context, facts, progress, limits, counts, told, end_java)
    except (Py4JError, PySparkException, ConnectionError) as error:
        raise failed(f"in the stage: {job.title}", error) or error from error
    for number, block in _collected(context, blocks, watch):
        if number > ends:
            raise pickle.loads(block)
        yield block


def _collected(
    context: SparkContext, blocks: RDD[BucketBlock], watch: Watch
) -> Iterator[BucketBlock]:
    """The blocks that the last tasks give. A task that has few sends them along with the word that
    it has ended. Others leave theirs on the disks of their executors; the driver asks for as many
    tasks' at a time as it may hold, so neither its memory nor ``spark.driver.maxResultSize`` must
    hold all of them."""

    def made() -> list[tuple[int, int, list[BucketBlock] | None]]:
        allowed = context._jsc.sc().conf().getSizeAsBytes("spark.driver.maxResultSize", "1g")
        piece = min(PIECE, allowed // _PIECES) if allowed else PIECE
        few = piece // blocks.getNumPartitions()
        blocks.persist(StorageLevel.DISK_ONLY)
        return blocks.mapPartitionsWithIndex(partial(weighed, few)).collect()

    try:
        found = sorted(watch.over(made), key=lambda one: one[0])
        for _, _, those in found:
            yield from those or ()
        for tasks in _together([(number, size) for number, size, few in found if few is None]):
            yield from watch.over(partial(context.runJob, blocks, _as_they_are, tasks))
    finally:
        with suppress(Py4JError, ConnectionError):  # Java is gone
            blocks.unpersist()


def _as_they_are(blocks: Iterable[BucketBlock]) -> Iterable[BucketBlock]:
    return blocks


def _together(sizes: Sequence[tuple[int, int]]) -> Iterator[list[int]]:
    """The tasks whose results come together, of (task, bytes): up to :data:`PIECE`, or one."""
    waiting, held = list[int](), 0
    for task, size in sizes:
        if waiting and held + size > PIECE:
            yield waiting
            waiting, held = [], 0
        waiting.append(task)
        held += size
    if waiting:
        yield waiting


# -- how Spark starts


def start_context(
    master: str, conf: Mapping[str, str], usual: Mapping[str, str] = MappingProxyType({})
) -> SparkContext:
    """A Spark context with ``conf``, which is asked for; what Spark's own files (or
    ``spark-submit``) say where that does not; then what is ``usual`` here, and :data:`DEFAULTS`.
    One that runs in this process already is taken where it is what is asked for. UsageError
    (LR1005) where it is not, and when none starts."""
    if os.environ.get("SPARK_REMOTE"):
        raise _not_by_connect("SPARK_REMOTE, a server of Spark Connect")
    if master.startswith("sc://"):
        raise _not_by_connect(
            f"--master {master.partition(';')[0].rstrip('/')}, a server of Spark Connect"
        )
    _check_release(pyspark.__version__)
    _forget_what_ended()
    running = SparkContext._active_spark_context
    if running is not None:
        return _that_runs(running, master, conf)
    prepare_environment(master)
    logging.getLogger("py4j").setLevel(logging.ERROR)
    logging.getLogger().addFilter(_of_others)
    place = str(lasting_folder())
    sockets = {"spark.python.unix.domain.socket.enabled": "true"}
    try:
        _start_java(master, conf, place)
        settings = SparkConf().setMaster(master).setAppName("logreplay").setAll([*conf.items()])
        own = {**DEFAULTS, **usual, **_authenticated(master)}
        own |= sockets if is_local(master) and len(place) <= _SOCKETS else {}
        for name, value in own.items():
            settings.setIfMissing(name, value)
        settings.setAll([*_travels(master, settings).items()])
        context = SparkContext(conf=settings)
    except (PySparkException, Py4JError) as error:
        raise _not_started(error) from error
    # that Java is gone is told by whoever waits for it
    context._accumulatorServer.handle_error = lambda *_: None  # type: ignore[method-assign]
    _ASKED[context] = dict(conf)
    return context


#: The context that was started here, and the settings that were asked for.
_ASKED: WeakKeyDictionary[SparkContext, dict[str, str]] = WeakKeyDictionary()


def start_in_background(
    master: str,
    conf: Mapping[str, str],
    usual: Mapping[str, str],
    seconds: int | None = None,
) -> Callable[[], SparkContext]:
    """Begin to start a context (most of which is waiting for Java); the function returned waits for
    it and gives it, or raises what went wrong: UsageError (LR1005) where it was waited for in vain
    for so many ``seconds`` (a minute at least; None: however long that takes)."""

    def begun() -> SparkContext:
        # pyspark asks the tools of its tests which packages there are, which imports pandas
        with hidden("pandas", "google"):
            return start_context(master, conf, usual)

    pool = ThreadPoolExecutor(1, thread_name_prefix="spark-start")
    future = pool.submit(begun)
    pool.shutdown(wait=False)

    def started() -> SparkContext:
        if seconds is None:
            return future.result()
        allowed = max(seconds, _STARTING)
        if wait([future], allowed).done:
            return future.result()
        end_java()
        raise UsageError(
            "LR1005",
            f"found that Spark with --master {master} did not start within {allowed} s"
            " (--executor-timeout, a minute at least); expected the cluster to answer",
            hint="Is that the address of the cluster, and can it be reached from here?",
        )

    return started


def timeouts(seconds: int) -> dict[str, str]:
    """Settings by which executors that give no sign of life for so many seconds are lost, of which
    Spark alone thinks so after two minutes; and by which a task that takes much longer than others
    of its stage, or alone longer than ``seconds``, is given to a second machine too."""
    answers = min(max(seconds, 20), 120)
    return {
        "spark.network.timeout": f"{answers}s",
        "spark.network.timeoutInterval": f"{answers // 2}s",
        "spark.shuffle.io.connectionCreationTimeout": _CONNECTS,
        "spark.speculation": "true",
        "spark.speculation.minTaskRuntime": "60s",
        "spark.speculation.task.duration.threshold": f"{max(seconds, 60)}s",
    }


def submitted_master() -> str | None:
    """The master that ``spark-submit`` was told, where that started this process. UsageError
    (LR1005) where its Java is gone."""
    if not {"PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"} <= os.environ.keys():
        return None
    try:
        SparkContext._ensure_initialized()
        return SparkConf().get("spark.master")
    except (PySparkException, Py4JError, OSError) as error:
        raise _not_started(error) from error


def with_package(context: SparkContext) -> SparkContext:
    """A context that runs already, whose tasks find this package before any other."""
    if _archive().name not in (context._python_includes or ()):
        context.addPyFile(str(_archive()))
    return context


def end_java() -> None:
    """End the Java that this process started, if it did, so that who waits for it hears of it."""
    process = getattr(SparkContext._gateway, "proc", None)
    if process is not None:
        process.kill()


def _not_by_connect(found: str) -> UsageError:
    hint = "--master takes spark://HOST:PORT, yarn, k8s://URL or local[*]; unset SPARK_REMOTE"
    return UsageError("LR1005", f"found {found}; expected the master of a cluster", hint=hint)


def _not_started(error: Exception) -> UsageError:
    """What is said where Spark does not start because of an error, behind what Java said."""
    if getattr(error, "java_exception", None) is None:
        sys.stderr.writelines(line for line in _LINES if _TELLS.search(line))
    hint = "Look at --master and --conf, and at what Java said above; --engine local needs no Spark"
    message = f"Spark cannot be started: {said(error)}"
    return UsageError("LR1005", message, hint=hint)


def _check_release(release: str) -> None:
    """UsageError (LR1005) where ``SPARK_HOME`` is of another ``release`` than pyspark: the two talk
    to each other in ways that change."""
    home = os.environ.get("SPARK_HOME")
    names = (_CORE.fullmatch(jar.name) for jar in Path(home or "/").glob("jars/spark-core_*.jar"))
    found = next((name[1] for name in names if home and name), None)
    if found is not None and found != ".".join(release.split(".")[:2]):
        raise UsageError(
            "LR1005",
            f"found SPARK_HOME={home}, a Spark {found}; expected the release of pyspark, {release}",
            hint="Unset SPARK_HOME, for pyspark brings its own, or install the pyspark of that one",
        )


def _forget_what_ended() -> None:
    """A Java that this process started, and that is gone, keeps no other from starting, nor does a
    context that Spark stopped by itself."""
    process = getattr(SparkContext._gateway, "proc", None)
    if process is not None and process.poll() is not None:
        SparkContext._active_spark_context = SparkContext._gateway = SparkContext._jvm = None
    context = SparkContext._active_spark_context
    if context is not None and (context._jsc is None or context._jsc.sc().isStopped()):
        context.stop()


def _that_runs(context: SparkContext, master: str, conf: Mapping[str, str]) -> SparkContext:
    """The context that this process has, with this package. UsageError (LR1005) where it has
    another master (of tasks on this machine any will do) or other settings: Spark would leave those
    that were asked for aside and say nothing."""
    asked = _ASKED.get(context)
    has = dict(context.getConf().getAll()) if asked is None else asked
    differ = {name for name, value in conf.items() if has.get(name) != value}
    differ |= (asked or {}).keys() - conf.keys()
    runs = str(context.master)
    local = is_local(runs)
    if (runs != master and not (local and is_local(master))) or differ:
        what = f" and other values of {', '.join(sorted(differ))}" if differ else ""
        raise UsageError(
            "LR1005",
            f"found a Spark with --master {runs} in this process already; expected --master"
            f" {master}{what}",
            hint="A process has one Spark: run this in a process of its own",
        )
    return context if local or asked is not None else with_package(context)


def _of_others(record: logging.LogRecord) -> bool:
    """Py4J says by the root logger, with a traceback, that Java is gone."""
    return "py4j" not in record.pathname


#: The last lines that Java and Spark's workers said on their standard error.
_LINES: deque[str] = deque(maxlen=_KEPT)


def _kept(end: int) -> None:
    with os.fdopen(end, encoding="utf-8", errors="replace") as lines:
        _LINES.extend(lines)


def _start_java(master: str, conf: Mapping[str, str], folder: str) -> None:
    """Start Java, whose files lie in a ``folder``, unless it runs already. Its lines are kept, and
    shown where it does not start. Others of this machine can read its command line: what is secret
    is not there, but comes with the context."""
    if SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
        SparkContext._ensure_initialized()
        return
    _LINES.clear()
    given, before = os.pipe(), os.environ.get(_JAVA_OPTIONS)
    threading.Thread(target=_kept, args=(given[0],), daemon=True, name="java-lines").start()
    options = _JAVA.format(re.sub(r"""([\\\s"'])""", r"\\\1", folder))
    os.environ[_JAVA_OPTIONS] = f"{options} {before or ''}".rstrip()
    public = [item for item in conf.items() if not is_secret_setting(item[0])]
    words = SparkConf(loadDefaults=False).setMaster(master).setAll(public)
    try:
        gateway = launch_gateway(words, {"stdout": given[1], "stderr": given[1]})  # type: ignore[no-untyped-call]
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        home = os.environ.get("SPARK_HOME")
        if home is None:
            raise
        raise UsageError(
            "LR1005",
            f"found SPARK_HOME={home}, whose {error.filename} does not start: {error.strerror};"
            " expected a Spark of the release of pyspark",
            hint="Unset SPARK_HOME: pyspark brings its own",
        ) from error
    finally:
        os.close(given[1])
        if before is None:
            del os.environ[_JAVA_OPTIONS]
        else:
            os.environ[_JAVA_OPTIONS] = before
    SparkContext._ensure_initialized(gateway=gateway)


def _authenticated(master: str) -> dict[str, str]:
    """Settings by which the parts of Spark ask each other for a secret. Spark makes one itself but
    for a cluster of its own, where all who take part must be given the same."""
    if master.startswith("local-cluster"):
        secret = os.urandom(32).hex()
        return {"spark.authenticate": "true", "spark.authenticate.secret": secret}
    own_cluster = master.startswith(("local", "yarn", "k8s"))
    return {"spark.authenticate": "true"} if own_cluster else {}


@cache
def _archive() -> Path:
    """The archive of this package, for as long as this process lives."""
    return write_archive(lasting_folder())


def _that_travelled(context: SparkContext) -> str:
    """The name of the archive of this package that executors of a context have, or ''."""
    given = [name for name in context._python_includes or () if name.startswith("logreplay-")]
    named = context._conf.get("spark.files", "") or ""
    given += re.findall(r"logreplay-[^/,]+\.zip", named)
    return given[-1] if given else ""


def _travels(master: str, conf: SparkConf) -> dict[str, str]:
    """Settings by which tasks find this package and no other. It travels to executors that know
    nothing of it, or have another version: Spark puts the archive into their working folder before
    the first task, and Python looks there first. On this machine Python would look first where the
    user is, unless that is where this process looks, too; where packages are installed any Python
    looks by itself, behind its own modules."""
    if not is_local(master):
        files = ",".join(filter(None, (_archive().as_uri(), conf.get("spark.files"))))
        return {"spark.files": files, **_found_in(_archive().name, conf)}
    if {"", os.getcwd()} & set(sys.path):
        return {}
    root = Path(__file__).parents[2]
    installed = root.name in ("site-packages", "dist-packages")
    found = {} if installed else _found_in(str(root), conf)
    return {"spark.executorEnv.PYTHONSAFEPATH": "1", **found}


def _found_in(place: str, conf: SparkConf) -> dict[str, str]:
    """A setting by which tasks look there first."""
    return {_PATH: os.pathsep.join(filter(None, (place, conf.get(_PATH))))}
