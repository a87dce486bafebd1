"""When Spark gives a job up because of its cluster, and what is said then."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from replay.errors import LogReplayError, UsageError
from replay.pipeline.libraries import REFUSED, differing

#: What the system of a task says of a full disk: what, on which machine, and in which place.
_FULL = re.compile(
    r"(No space left on device|Disk quota exceeded|File too large)(?: on ([\w.-]+))?"
    r"(?:: '?([^'\n]+)'?)?"
)


@dataclass(frozen=True)
class Limits:
    """After how many seconds a job is given up: without an executor (``executors``), and where none
    of the tasks that run ends (``tasks``). None: never."""

    executors: int | None = None
    tasks: int | None = None


#: Waiting for ever.
UNLIMITED = Limits()
#: Of tasks that do not end, how many are named.
_NAMED = 3


#: Seconds for a connection between executors.
_CONNECTS = 10
#: Of the causes of an exception of Java, how many are looked at.
_CAUSES = 8


def not_started(error: Exception) -> UsageError:
    """What is said where Spark does not start because of an error."""
    message = said_by(error)
    hint = "Look at --master and --conf; --engine local does without Spark"
    if getattr(error, "java_exception", None) is None:
        hint = hint.replace(";", ", and at what Java said above;")
    return UsageError("LR1005", f"Spark cannot be started: {message}", hint=hint)


def not_by_connect(found: str) -> UsageError:
    """What is said where Spark Connect is ``found``, whose sessions cannot carry out our stages."""
    return UsageError(
        "LR1005",
        f"found {found}; expected the master of a cluster",
        hint="--master takes spark://HOST:PORT, yarn, k8s://URL or local[*]; unset SPARK_REMOTE",
    )


def another_runs(runs: str, master: str, differ: Sequence[str]) -> UsageError:
    """What is said where this process has a Spark with the master ``runs`` already, and another one
    is asked for, or settings that ``differ``."""
    what = f" and other values of {', '.join(sorted(set(differ)))}" if differ else ""
    return UsageError(
        "LR1005",
        f"found a Spark with --master {runs} in this process already; expected --master {master}"
        f"{what}",
        hint="A process has one Spark: run this in a process of its own",
    )


def timeouts(seconds: int) -> dict[str, str]:
    """Settings by which executors that give no sign of life for so many seconds are
    lost, of which Spark alone thinks so after two minutes; and by which a task that takes much
    longer than others of its stage, or alone longer than ``seconds``, is given to a second machine
    too. An executor that another one does not reach within ten seconds is asked three times more,
    in four tries of a stage."""
    answers = min(max(seconds, 20), 120)
    return {
        "spark.network.timeout": f"{answers}s",
        "spark.network.timeoutInterval": f"{answers // 2}s",
        "spark.shuffle.io.connectionCreationTimeout": f"{_CONNECTS}s",
        "spark.speculation": "true",
        "spark.speculation.minTaskRuntime": "60s",
        "spark.speculation.task.duration.threshold": f"{max(seconds, 60)}s",
    }


def never_started(master: str, seconds: int) -> UsageError:
    """What is said where Spark still waits after so many seconds."""
    return UsageError(
        "LR1005",
        f"found that Spark with --master {master} did not start within {seconds} s"
        " (--executor-timeout, a minute at least); expected the cluster to answer",
        hint="Is that the address of the cluster, and can it be reached from here?",
    )


def java_ended(title: str, pods: Sequence[str]) -> UsageError:
    """What is said where Java, and with it Spark, ended in a job (called ``title``)."""
    known = f" ({'; '.join(pods)})" if pods else ""
    return UsageError(
        "LR1005",
        f"found that Spark's Java process ended, in the stage: {title}{known}; expected it to stay",
        hint="Was it killed, or is there no memory left?",
    )


def said_by(error: Exception) -> str:
    """The first lines of an exception of Java and of its causes, as far as they say more, without
    the names of packages; of another exception its own first line."""
    java = getattr(error, "java_exception", None)
    if java is None:
        return str(error).partition("\n")[0].rstrip(".")
    told: list[str] = []
    while java is not None and len(told) < _CAUSES:
        line = re.sub(r"^(?:\w+\.)+(?=[\w$]+(?::|$))", "", str(java.toString()).partition("\n")[0])
        words = line.partition(": ")[2] or line
        if told and told[-1].endswith(f": {words}"):
            told[-1] = line  # a cause has the more telling name
        elif not any(words in before for before in told):
            told.append(line)
        java = java.getCause()
    return ": ".join(line.rstrip(".") for line in told)


def no_task_ended(title: str, seconds: int, running: Sequence[str]) -> UsageError:
    """What is said of a job (called ``title``) none of whose tasks ended for so many seconds;
    ``running``: the tasks, as far as they are known, each with its place."""
    shown = [*running[:_NAMED], *([f"{len(running) - _NAMED} more"] if running[_NAMED:] else [])]
    found = ": " + ", ".join(shown) if shown else ""
    return UsageError(
        "LR1005",
        f"found no task that ended within {seconds} s (--task-timeout), in the stage:"
        f" {title}{found}; expected one",
        hint=(
            "Does storage answer on these machines, and do the Python processes of the executors"
            " run? A unit of recovery of more than 100 million changes may need a longer time"
        ),
    )


def _reach(conf: Mapping[str, str]) -> str:
    """A sentence about the driver's address."""
    if "spark.driver.host" not in conf:
        return ""
    address = f"{conf['spark.driver.host']}:{conf.get('spark.driver.port')}"
    return (
        f" They must reach this program at {address}: --conf spark.driver.host=ADDRESS names"
        " another address"
    )


def executors_in_vain(conf: Mapping[str, str], title: str, count: int, said: str) -> UsageError:
    """What is said where ``count`` executors ended, one after the other, in a job (called
    ``title``), and none was there; ``said``: of the last of them, or nothing."""
    known = f": {said}" if said else ""
    return UsageError(
        "LR1005",
        f"found that {count} executors of {conf.get('spark.master')} ended as they began, in the"
        f" stage: {title}{known}; expected executors that stay",
        hint=f"Their logs, at the workers, say why they ended.{_reach(conf)}",
    )


def why_failed(
    conf: Mapping[str, str],
    error: Exception,
    title: str,
    expired: int | None,
    came: bool,
    pods: Sequence[str] = (),
) -> LogReplayError | None:
    """Why a job (called ``title``) ended, where that is a matter of the cluster; None for others.
    ``conf``: Spark's settings, ``expired``: after how many seconds without an executor, ``came``:
    whether there was one; ``pods``: what is known of those that do not run."""
    known = f" ({'; '.join(pods)})" if pods else ""
    reach = _reach(conf)
    if expired is not None:
        found = "no executor" if not came else "that the last executor was lost, and none"
        return UsageError(
            "LR1005",
            f"found {found} of {conf.get('spark.master')} within {expired} s (--executor-timeout),"
            f" in the stage: {title}{known}; expected at least one",
            hint=f"Does the master have workers with memory and cores left?{reach}",
        )
    text = str(getattr(error, "java_exception", None) or error)
    place = re.search(r"\(TID \d+\) \(([^ )]+)", text)
    where = f" on {place[1]}" if place else ""
    refused = re.search(rf"{REFUSED}([^\n]*)", text)
    if refused is not None:
        return differing(refused[1])
    python = _of_python(text, where)
    if python is not None:
        return python
    full = _FULL.search(text)
    if full is not None:
        where = f" on {full[2]}" if full[2] else where
        where += f", writing to {full[3]}" if full[3] else ""
        return UsageError(
            "LR1006",
            f"found {full[1]}{where}, in the stage: {title}; expected to read and write there",
            hint=(
                "Tasks write to the temporary folder (TMPDIR) and to Spark's (spark.local.dir) of"
                " their machine, and to the output folder"
            ),
        )
    memory = _no_memory(conf, text, where, title)
    if memory is not None:
        return memory
    large = _too_large(conf, text, title)
    if large is not None:
        return large
    apart = re.search(r"FetchFailed.*?((?:Failed to connect|Connecting) to \S*\d)", text, re.DOTALL)
    if apart is not None:
        return UsageError(
            "LR1005",
            f"found that executors do not reach each other, in the stage: {title}: {apart[1]};"
            " expected that each of them gets what the others made",
            hint=(
                "Is there a firewall or a network policy between them? --conf"
                " spark.blockManager.port=PORT fixes the port that must be open, on executors too"
            ),
        )
    lost = re.search(
        r"ExecutorLostFailure[^\n]*|Master removed our application[^\n]*"
        r"|All masters are unresponsive[^\n]*|MetadataFetchFailed[^\n]*|FetchFailed[^\n]*"
        r"|(?P<ended>(?:stopped SparkContext|SparkContext was shut down"
        r"|SparkContext has been shutdown)[^\n]*)",
        text,
    )
    if lost is not None:
        # why Spark ended says more than that it did
        why = "; ".join(pods) if lost["ended"] and pods else lost[0] + known
        return UsageError(
            "LR1005",
            f"found that Spark gave up the stage: {title}: {why}; expected executors that stay",
            hint=f"Their logs, at the workers, say why they ended.{reach}",
        )
    return None


def _of_python(text: str, where: str) -> UsageError | None:
    """What is said of executors whose Python is none, another one or lacks a module."""
    missing = re.search(r"No module named '?([\w.]+)'?", text)
    if missing is not None:
        return UsageError(
            "LR1005",
            f"found no Python module {missing[1]} on an executor; expected the libraries that"
            " logreplay needs there (it brings its own modules itself)",
            hint="Install them for the Python of the executors; replay/docs/cluster.md says how",
        )
    program = re.search(r'Cannot run program "([^"]*)"', text)
    if program is not None:
        return UsageError(
            "LR1005",
            f"found no program {program[1]}{where} to run as Python; expected one on each executor",
            hint="PYSPARK_PYTHON names the Python of the executors, as they find it",
        )
    python = re.search(r"PYTHON_VERSION_MISMATCH[^\n]*", text)
    if python is not None:
        return UsageError(
            "LR1005",
            f"found another Python on an executor: {python[0]}",
            hint="PYSPARK_PYTHON names the Python of the executors",
        )
    return _not_begun(text, where)


def _not_begun(text: str, where: str) -> UsageError | None:
    """What is said where the Python of an executor ended before it had a task."""
    ended = re.search(r"Error from python worker:\n(.*?)\n *PYTHONPATH was:", text, re.DOTALL)
    words = [line.strip() for line in ended[1].splitlines() if line.strip()] if ended else []
    if not words:
        return None
    hint = "PYSPARK_PYTHON names the Python of the executors"
    if "AF_UNIX" in words[-1]:
        hint = (
            "The temporary folder of its Java (java.io.tmpdir) is too long a path for a socket:"
            " --conf spark.python.unix.domain.socket.enabled=false does without"
        )
    return UsageError(
        "LR1005",
        f"found that the Python of an executor{where} ended as it began: {words[-1]}; expected it"
        " to wait for tasks",
        hint=hint,
    )


def _no_memory(conf: Mapping[str, str], text: str, where: str, title: str) -> UsageError | None:
    """What is said where a task, or Java, had no memory, or the system ended its process."""
    if "OutOfMemoryError" in text:
        return UsageError(
            "LR1007",
            f"found no memory left for Java{where}, in the stage: {title}; expected it to have what"
            " it asks for",
            hint=(
                "--conf spark.driver.memory=SIZE gives this machine's Java more, and"
                " spark.executor.memory that of executors"
            ),
        )
    if re.search(r"MemoryError|Cannot allocate memory|malloc of size \d+ failed", text):
        found = f"no memory left for the Python of a task{where}"
    elif "Fatal Python error" in text:
        return None
    elif re.search(r"Python worker exited unexpectedly|Python worker process terminated", text):
        found = f"that the Python of a task{where} was ended, as it is where memory is short"
    else:
        return None
    limit = conf.get("spark.executor.pyspark.memory")
    within = f" within spark.executor.pyspark.memory, {limit}" if limit else ""
    return UsageError(
        "LR1007",
        f"found {found}, in the stage: {title}; expected it to have what it asks for{within}",
        hint=(
            "--split-mb N reads less at once, --conf spark.executor.cores=1 runs one task of an"
            " executor at a time; replay/docs/explanation/growth.md says what a task needs"
        ),
    )


def _too_large(conf: Mapping[str, str], text: str, title: str) -> LogReplayError | None:
    """What is said where results of tasks were more than the driver may take."""
    found = re.search(
        r"\(([^()]*)\) is bigger than spark\.driver\.maxResultSize|TaskResultLost", text
    )
    if found is None:
        return None
    what = f"{found[1]} of results" if found[1] else "that Spark dropped the result of a task"
    allowed = conf.get("spark.driver.maxResultSize", "1g")
    return UsageError(
        "LR1005",
        f"found {what}, in the stage: {title}; expected no more at a time than"
        f" spark.driver.maxResultSize, {allowed}",
        hint=(
            "--conf spark.driver.maxResultSize=SIZE allows more; spark.driver.memory must hold"
            " it. Results of executors that ended are lost, too: their logs say why"
        ),
    )
