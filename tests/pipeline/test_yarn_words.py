"""What is said of containers of YARN, and of a Python that does not begin."""

from __future__ import annotations

import os
import time

import pytest

from replay.pipeline.cluster_trouble import executors_given_up, not_started, why_failed
from replay.pipeline.java_words import QuietPipe
from replay.pipeline.spark_settings import DEFAULTS, of_master
from tests.pipeline.test_kubernetes_words import OfJava


def _that_keeps(kept: str, lines: list[str]) -> QuietPipe:
    """A pipe that was given lines, of which it keeps what begins so. Fails where it does not."""
    pipe = QuietPipe()
    os.write(pipe.write, "".join(lines).encode())
    pipe.started()
    end = time.monotonic() + 60
    while not pipe.executors.startswith(kept) and time.monotonic() < end:
        time.sleep(0.01)
    assert pipe.executors.startswith(kept)
    return pipe


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        (
            [
                "YARN application has exited unexpectedly with state KILLED! Check the logs.",
                "Diagnostics message: killed by root",
            ],
            "killed by root",
        ),
        (
            ["YARN application has exited unexpectedly!", "Diagnostics message: "],
            "YARN application",
        ),
        (["Already ended!", "Application diagnostics message: no queue X"], "no queue X"),
        (
            [
                "YARN application has exited unexpectedly with state FAILED!",
                "Diagnostics message: Max number of executor failures (3) reached",
            ],
            "Max number of executor failures (3) reached: YARN application has exited",
        ),
    ],
)
def test_what_spark_says_of_an_application_is_kept_for_the_error(
    capsys: pytest.CaptureFixture[str], lines: list[str], kept: str
) -> None:
    said = [f"10:00:00 spark ERROR YarnClientSchedulerBackend: {line}\n" for line in lines]
    pipe = _that_keeps(kept, said)
    assert capsys.readouterr().err == ""
    assert kept in str(not_started("yarn", OfJava("java.lang.Exception: ended"), pipe.executors))
    assert "yarn logs" in str(
        executors_given_up("Max number of executor failures (3) reached").hint
    )


def test_why_executors_of_a_standalone_cluster_ended_is_kept(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = "10:00:00 spark ERROR StandaloneAppClient$ClientEndpoint: Executor"
    lines = [f"{said} updated: app-1-2/{number} is now EXITED (code 1)\n" for number in range(3)]
    killed = "Application has been killed. Reason: Master removed our application: FAILED"
    lines.append(f"10:00:01 spark ERROR StandaloneSchedulerBackend: {killed}\n")
    why = "Master removed our application: FAILED: executor EXITED: code 1"
    pipe = _that_keeps(why, lines)
    assert (pipe.executors, pipe.ended) == (why, 3)
    assert capsys.readouterr().err == ""
    for failure in (
        "SparkContext has been shutdown",
        "Cannot call methods on a stopped SparkContext.",
        "Job 3 cancelled because SparkContext was shut down",
    ):
        told = why_failed({}, RuntimeError(failure), "write scripts", None, True, [why])
        assert f"Spark gave up the stage: write scripts: {why}; expected" in str(told)
        assert failure[-20:].lstrip(".") in str(
            why_failed({}, RuntimeError(failure), "write scripts", None, True)
        )


def test_an_application_that_ended_early_has_its_reason_in_the_exception(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pipe = QuietPipe()
    said = "The YARN application has already ended! It might have been killed. Check its logs."
    lines = [f"10:00:00 spark ERROR YarnClientSchedulerBackend: {said}", "another line"]
    os.write(pipe.write, "".join(f"{line}\n" for line in lines).encode())
    pipe.started()
    end = time.monotonic() + 60
    told = ""
    while not told and time.monotonic() < end:
        time.sleep(0.01)
        told = capsys.readouterr().err
    assert told == "another line\n"
    error = OfJava("org.apache.spark.SparkException: Application killed by its client.")
    assert str(not_started("yarn", error, pipe.executors)).startswith(
        "LR1005 Spark cannot be started: SparkException: Application killed by its client. Look at"
    )


DAEMON = """Lost task 0.3 in stage 0.0 (TID 9) (node-2 executor 2): org.apache.spark.SparkException:
Error from python worker:
  Traceback (most recent call last):
    File "pyspark/daemon.py", line 129, in manager
  {}
PYTHONPATH was:
  a.zip
"""


@pytest.mark.parametrize(
    ("ended", "hint"),
    [
        ("OSError: AF_UNIX path too long", "spark.python.unix.domain.socket.enabled=false"),
        ("ImportError: libpython3.11.so: cannot open shared object file", "PYSPARK_PYTHON"),
    ],
)
def test_a_python_that_does_not_begin(ended: str, hint: str) -> None:
    told = why_failed({}, Exception(DAEMON.format(ended)), "write scripts", None, True)
    assert told is not None
    assert told.code == "LR1005"
    assert f"Python of an executor on node-2 ended as it began: {ended}; expected" in str(told)
    assert hint in (told.hint or "")


def test_workers_of_yarn_are_asked_by_tcp() -> None:
    """Sockets in a container's folder have too long a path."""
    name = "spark.python.unix.domain.socket.enabled"
    assert DEFAULTS[name] == "true"
    assert of_master("yarn")[name] == "false"
    assert of_master("spark://h:7077") == of_master("local[2]") == {}
