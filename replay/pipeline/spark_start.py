"""Starting Spark: Java and its command line, the settings of a context, and this package, which
travels to executors. What is known of the Java that this process started is here."""

from __future__ import annotations

import atexit
import logging
import os
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from pathlib import Path
from types import MappingProxyType
from weakref import WeakKeyDictionary

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark import __version__ as pyspark_release
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway

from replay.errors import UsageError
from replay.leftovers import lasting_folder
from replay.machine import hidden
from replay.pipeline.cluster_trouble import (
    another_runs,
    never_started,
    not_by_connect,
    not_started,
)
from replay.pipeline.installed_spark import check_release
from replay.pipeline.java import prepare_environment, program_of
from replay.pipeline.java_archive import JavaArchive, java_archive
from replay.pipeline.java_words import QuietPipe
from replay.pipeline.libraries import PROGRAM, VARIABLE, versions, written
from replay.pipeline.masters import is_local
from replay.pipeline.package_archive import write_archive
from replay.pipeline.spark_settings import DEFAULTS, JAVA_OPTIONS, with_log
from replay.public import is_secret_setting

#: Seconds that Spark has to start, at least.
_STARTING = 60
#: Where the Python of tasks looks for modules.
_PATH = "spark.executorEnv.PYTHONPATH"


def start_context(
    master: str, conf: Mapping[str, str], usual: Mapping[str, str] = MappingProxyType({})
) -> SparkContext:
    """A Spark context with :data:`DEFAULTS`, what is ``usual`` here, and ``conf``, which is asked
    for, on top. Its own log goes to stderr, errors only. One that runs in this process already is
    taken where it is what is asked for. Raises UsageError (LR1005) where it is not, and when none
    starts."""
    if os.environ.get("SPARK_REMOTE"):
        raise not_by_connect("SPARK_REMOTE, a server of Spark Connect")
    if master.startswith("sc://"):
        raise not_by_connect(f"--master {master.partition(';')[0]}, a server of Spark Connect")
    check_release(pyspark_release, os.environ)
    _forget_java_that_ended()
    _end_what_stopped()
    running = SparkContext._active_spark_context
    if running is not None:
        return _that_runs(running, master, conf)
    asked, conf = dict(conf), {**usual, **conf}
    prepare_environment(master)
    travels = _beside(conf) if is_local(master) else _travelling(conf)
    logging.getLogger("py4j").setLevel(logging.ERROR)
    logging.getLogger().addFilter(_of_others)
    program = program_of(Path(os.environ["JAVA_HOME"]))
    archive = java_archive(program, DEFAULTS[JAVA_OPTIONS])
    java = {JAVA_OPTIONS: f"{DEFAULTS[JAVA_OPTIONS]} {archive.options}".rstrip()}
    settings = (
        SparkConf()
        .setMaster(master)
        .setAppName("logreplay")
        .setAll([*{**_asked(master), **java, **with_log(conf), **travels}.items()])
    )
    try:
        _start_java(settings, archive)
        context = SparkContext(conf=settings)
    except (PySparkException, Py4JError) as error:
        raise not_started(error) from error
    context.setLogLevel("ERROR")
    # that Java is gone is told by whoever waits for it
    context._accumulatorServer.handle_error = lambda *_: None  # type: ignore[method-assign]
    _STARTED[context] = asked
    return context


#: The context that was started here, and the settings that were asked for.
_STARTED: WeakKeyDictionary[SparkContext, dict[str, str]] = WeakKeyDictionary()


def _that_runs(context: SparkContext, master: str, conf: Mapping[str, str]) -> SparkContext:
    """The context that this process has, with this package. Raises UsageError (LR1005) where it has
    another master (of tasks on this machine any will do) or other settings: Spark would leave
    those that were asked for aside and say nothing."""
    ours = _STARTED.get(context)
    has = dict(context.getConf().getAll()) if ours is None else ours
    differ = [name for name, value in conf.items() if has.get(name) != value]
    if ours is not None:
        differ += ours.keys() - conf.keys()
    runs = str(context.master)
    local = is_local(runs)
    if (runs != master and not (local and is_local(master))) or differ:
        raise another_runs(runs, master, differ)
    return context if local or ours is not None else with_package(context)


def submitted() -> dict[str, str]:
    """The settings of ``spark-submit``, which started Java, and this process after it. Raises
    UsageError (LR1005) where that Java is gone."""
    try:
        SparkContext._ensure_initialized()
    except (PySparkException, Py4JError, OSError) as error:
        raise not_started(error) from error
    return dict(SparkConf(_jvm=SparkContext._jvm).getAll())


def _of_others(record: logging.LogRecord) -> bool:
    """Py4J says by the root logger, with a traceback, that Java is gone."""
    return "py4j" not in record.pathname


@cache
def _archive() -> Path:
    """The archive of this package, for as long as this process lives."""
    return write_archive(lasting_folder())


def with_package(context: SparkContext) -> SparkContext:
    """A context that runs already, whose tasks find this package before any other."""
    if _archive().name not in (context._python_includes or ()):
        context.addPyFile(str(_archive()))
    return context


def that_travelled(context: SparkContext) -> str:
    """The name of the archive of this package that executors of a context have, or ''."""
    given = [name for name in context._python_includes or () if name.startswith("logreplay-")]
    return str(context._conf.get(f"spark.executorEnv.{PROGRAM}", given[-1] if given else ""))


def _travelling(conf: Mapping[str, str]) -> dict[str, str]:
    """Settings by which this package travels to executors that know nothing of it, or have another
    version: Spark puts the archive into their working folder before the first task, and Python
    looks there first."""
    archive = _archive()
    return {
        "spark.files": ",".join(filter(None, (archive.as_uri(), conf.get("spark.files")))),
        **_found_in(archive.name, conf),
        f"spark.executorEnv.{VARIABLE}": written(versions()),
        f"spark.executorEnv.{PROGRAM}": archive.name,
    }


def _beside(conf: Mapping[str, str]) -> dict[str, str]:
    """Settings by which tasks on this machine find this package and no other: Python would look
    first where the user is, unless that is where this process looks, too. (Where packages are
    installed any Python looks by itself, behind its own modules.)"""
    if {"", os.getcwd()} & set(sys.path):
        return {}
    root = Path(__file__).parents[2]
    installed = root.name in ("site-packages", "dist-packages")
    found = {} if installed else _found_in(str(root), conf)
    return {"spark.executorEnv.PYTHONSAFEPATH": "1", **found}


def _found_in(place: str, conf: Mapping[str, str]) -> dict[str, str]:
    """A setting by which tasks look there first."""
    return {_PATH: os.pathsep.join(filter(None, (place, conf.get(_PATH))))}


def has_stopped(context: SparkContext) -> bool:
    """Whether somebody stopped a context, or Spark did by itself."""
    return context._jsc is None or bool(context._jsc.sc().isStopped())


def _forget_java_that_ended() -> None:
    """A Java that this process started, and that is gone, keeps no other from starting."""
    process = getattr(SparkContext._gateway, "proc", None)
    if process is not None and process.poll() is not None:
        SparkContext._active_spark_context = SparkContext._gateway = SparkContext._jvm = None


def _end_what_stopped() -> None:
    """A context that Spark stopped by itself, as it does without executors, keeps no other from
    starting; what was said of its executors says nothing of others."""
    context = SparkContext._active_spark_context
    if context is not None and has_stopped(context):
        context.stop()
    for pipe in _pipes[-1:]:
        pipe.executors, pipe.ended = "", 0


def _start_java(settings: SparkConf, archive: JavaArchive) -> None:
    """Start Java with its chatter left out, unless it runs already. Others of this machine can read
    its command line: what is secret is not there, but comes with the context."""
    if SparkContext._gateway is not None:
        return
    pipe = QuietPipe()
    try:
        to = {"stdout": pipe.write, "stderr": pipe.write}
        public = [one for one in settings.getAll() if not is_secret_setting(*one)]
        words = SparkConf(loadDefaults=False).setAll(public)
        gateway = launch_gateway(words, to)  # type: ignore[no-untyped-call]
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
        pipe.started()
    atexit.register(pipe.hush)
    pipe.process = gateway.proc
    _pipes.append(pipe)
    _archives.append(archive)
    SparkContext._ensure_initialized(gateway=gateway)


#: That of the Java that this process started.
_pipes: list[QuietPipe] = []


def said_of_executors() -> str:
    """What Java said of executors, or nothing."""
    return _pipes[-1].executors if _pipes else ""


def executors_that_ended() -> int:
    """How many executors of a standalone cluster its master says have ended."""
    return _pipes[-1].ended if _pipes else 0


def java_has_ended() -> bool:
    """Whether Java was started here, and is gone."""
    return any(pipe.has_ended() for pipe in _pipes[-1:])


def end_java() -> None:
    """End the Java that this process started, if it did, so that who waits for it hears of it."""
    for pipe in _pipes[-1:]:
        pipe.kill()


def _asked(master: str) -> dict[str, str]:
    """The settings of a run of which nothing else is said."""
    sockets = {"spark.python.unix.domain.socket.enabled": "true"} if is_local(master) else {}
    return {**DEFAULTS, **sockets, **_authenticated(master)}


def _authenticated(master: str) -> dict[str, str]:
    """Settings by which the parts of Spark ask each other for a secret. Spark makes one itself but
    for a cluster of its own, where all who take part must be given the same."""
    if master.startswith("local-cluster"):
        secret = os.urandom(32).hex()
        return {"spark.authenticate": "true", "spark.authenticate.secret": secret}
    own_cluster = master.startswith(("local", "yarn", "k8s"))
    return {"spark.authenticate": "true"} if own_cluster else {}


def start_in_background(
    master: str,
    conf: Mapping[str, str],
    usual: Mapping[str, str],
    seconds: int | None = None,
) -> Callable[[], SparkContext]:
    """Begin to start a context (most of which is waiting for Java); the function returned waits for
    it and gives it, or raises what went wrong: UsageError (LR1005) where it was waited for in vain
    for so many ``seconds`` (a minute at least; None: however long that takes)."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="spark-start")
    future = pool.submit(_start_lean, master, conf, usual)
    pool.shutdown(wait=False)

    def started() -> SparkContext:
        if seconds is None:
            return future.result()
        allowed = max(seconds, _STARTING)
        wait([future], allowed)
        if future.done():
            return future.result()
        end_java()
        raise never_started(master, allowed)

    return started


def _start_lean(master: str, conf: Mapping[str, str], usual: Mapping[str, str]) -> SparkContext:
    """:func:`start_context` for a command. To make an object of Java, pyspark asks the tools of its
    tests which packages there are, which imports pandas: here they find none."""
    with hidden("pandas", "google"):
        return start_context(master, conf, usual)


#: That of the Java that this process started, until it carried out a job.
_archives: list[JavaArchive] = []


def count_archives() -> None:
    """A run carried out a job, which the archive that Java was started with takes note of."""
    while _archives:
        _archives.pop().count()
