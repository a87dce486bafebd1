"""What is said where Spark gives a job up because of its cluster."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from replay.errors import LogReplayError, UsageError
from replay.pipeline.libraries import REFUSED, differing


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


def why_failed(
    conf: Mapping[str, str], error: Exception, title: str, expired: int | None, came: bool
) -> LogReplayError | None:
    """Why a job (called ``title``) ended, where that is a matter of the cluster; None for others.
    ``conf``: Spark's settings, ``expired``: after how many seconds without an executor, ``came``:
    whether there was one."""
    reach = ""
    if "spark.driver.host" in conf:  # not at a server of Spark Connect, which has its own driver
        address = f"{conf['spark.driver.host']}:{conf.get('spark.driver.port')}"
        reach = (
            f" They must reach this program at {address}: --conf spark.driver.host=ADDRESS names"
            " another address"
        )
    if expired is not None:
        found = "no executor" if not came else "that the last executor was lost, and none"
        return UsageError(
            "LR1005",
            f"found {found} of {conf.get('spark.master')} within {expired} s (--executor-timeout),"
            f" in the stage: {title}; expected at least one",
            hint=f"Does the master have workers with memory and cores left?{reach}",
        )
    text = str(getattr(error, "java_exception", None) or error)
    place = re.search(r"\(TID \d+\) \(([^ )]+)", text)
    where = f" on {place[1]}" if place else ""
    refused = re.search(rf"{REFUSED}([^\n]*)", text)
    if refused is not None:
        return differing(refused[1])
    missing = re.search(r"No module named '?([\w.]+)'?", text)
    if missing is not None:
        return UsageError(
            "LR1005",
            f"found no Python module {missing[1]} on an executor; expected the libraries that"
            " logreplay needs there (it brings its own modules itself)",
            hint="Install them for the Python of the executors; replay/docs/cluster.md says how",
        )
    python = re.search(r"PYTHON_VERSION_MISMATCH[^\n]*", text)
    if python is not None:
        return UsageError(
            "LR1005",
            f"found another Python on an executor: {python[0]}",
            hint="PYSPARK_PYTHON names the Python of the executors",
        )
    full = re.search(r"(No space left on device|Disk quota exceeded)(?: on ([\w.-]+))?", text)
    if full is not None:
        where = f" on {full[2]}" if full[2] else where
        return UsageError(
            "LR1006",
            f"found {full[1]}{where}, in the stage: {title}; expected to read and write there",
            hint=(
                "Tasks write to the temporary folder (TMPDIR) and to Spark's (spark.local.dir) of"
                " their machine, and to the output folder"
            ),
        )
    large = _too_large(conf, text, title)
    if large is not None:
        return large
    lost = re.search(
        r"ExecutorLostFailure[^\n]*|Master removed our application[^\n]*"
        r"|All masters are unresponsive[^\n]*|SparkContext was shut down[^\n]*"
        r"|cancelled because SparkContext[^\n]*|MetadataFetchFailed[^\n]*|FetchFailed[^\n]*",
        text,
    )
    if lost is not None:
        return UsageError(
            "LR1005",
            f"found that Spark gave up the stage: {title}: {lost[0]}; expected executors that stay",
            hint=f"Their logs, at the workers, say why they ended.{reach}",
        )
    return None


def _too_large(conf: Mapping[str, str], text: str, title: str) -> LogReplayError | None:
    """What is said where results of tasks were more than the driver may take."""
    found = re.search(
        r"\(([^()]*)\) is bigger than spark\.driver\.maxResultSize|TaskResultLost", text
    )
    if found is None:
        return None
    what = f"{found[1]} of results" if found[1] else "that Spark dropped the result of a task"
    server = "spark.driver.host" not in conf
    allowed = conf.get("spark.driver.maxResultSize", "1g")
    return UsageError(
        "LR1005",
        f"found {what}, in the stage: {title}; expected no more at a time than"
        f" spark.driver.maxResultSize{' of the server' if server else f', {allowed}'}",
        hint=(
            "All results of a stage count there: the server must be started with a larger one, and"
            " its spark.driver.memory must hold it. Any --master but sc:// takes them in pieces"
            if server
            else "--conf spark.driver.maxResultSize=SIZE allows more; spark.driver.memory must hold"
            " it. Results of executors that ended are lost, too: their logs say why"
        ),
    )
