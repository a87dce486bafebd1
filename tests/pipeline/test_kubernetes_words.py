"""What is said of pods and of the API server, in words; and how long they are waited for."""

from __future__ import annotations

import json
import os
import time
from typing import Any

import pytest
from py4j.protocol import Py4JError

from replay.errors import UsageError
from replay.pipeline.cluster_trouble import (
    check_settings,
    java_ended,
    not_started,
    said_by,
    timeouts,
    why_failed,
)
from replay.pipeline.java_words import QuietPipe
from replay.pipeline.kubernetes import in_words, states


class Thrown:
    """An exception of Java, of lines that causes have."""

    def __init__(self, line: str, *causes: str) -> None:
        self.line, self.causes = line, causes

    def toString(self) -> str:
        return self.line

    def getCause(self) -> Thrown | None:
        return Thrown(*self.causes) if self.causes else None


class OfJava(Exception):
    def __init__(self, *lines: str) -> None:
        super().__init__("An error occurred while calling None.\n\tat")
        self.java_exception = Thrown(*lines)


def test_causes_are_told_as_far_as_they_say_more() -> None:
    error = OfJava(
        "io.fabric8.kubernetes.client.KubernetesClientException: An error has occurred.",
        "java.io.IOException: Connection refused: /10.0.0.1:6443\n\tat java",
        "io.netty.channel.AbstractChannel$ConnectException: Connection refused: /10.0.0.1:6443",
        "java.net.ConnectException: Connection refused",
    )
    assert said_by(error) == (
        "KubernetesClientException: An error has occurred: AbstractChannel$ConnectException:"
        " Connection refused: /10.0.0.1:6443"
    )
    assert said_by(ValueError("one.\ntwo")) == "one"


REFUSED = (
    "io.fabric8.KubernetesClientException: Failure executing: POST at: https://h/pods. Message:"
    " {}. Received status: Status(apiVersion=v1, code=403)"
)


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("Unauthorized", "oauthTokenFile"),
        ("pods is forbidden", "needs a role"),
        ("PKIX path building failed", "caCertFile"),
        ("The timeout period of 4000ms has been exceeded", "address of the API server"),
        ("something else", "--engine local"),
    ],
)
def test_what_to_do_is_said(said: str, hint: str) -> None:
    told = not_started("k8s://https://h", OfJava(REFUSED.format(said)), "")
    assert told.code == "LR1005"
    assert "Spark cannot be started: KubernetesClientException: Failure executing" in str(told)
    assert said in str(told)
    assert "Received" not in str(told)
    assert hint in (told.hint or "")
    assert "API server" not in str(not_started("spark://h", OfJava(REFUSED.format(said)), ""))


def test_states_of_pods_in_words() -> None:
    def pod(phase: str, **status: object) -> dict[str, object]:
        return {"status": {"phase": phase, **status}}

    waiting = {"waiting": {"reason": "ErrImagePull", "message": "not found"}}
    ended = {"terminated": {"reason": "OOMKilled", "exitCode": 137}}
    placed = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    items = [
        pod("Running", containerStatuses=[{"state": {"running": {}}}]),
        pod("Failed", containerStatuses=[{"state": ended}]),
        *[pod("Pending", containerStatuses=[{"state": waiting}])] * 2,
        pod("Pending", conditions=[{**placed, "message": "no node"}]),
    ]
    assert in_words({"items": items}) == [
        "2 pods Pending: ErrImagePull: not found",
        "1 pod Running",
        "1 pod Failed: OOMKilled (exit code 137)",
    ]
    assert in_words({"items": items[4:]}) == ["1 pod Pending: Unschedulable: no node"]
    assert in_words({}) == []


def test_what_spark_says_of_pods_is_kept_for_the_error(capsys: pytest.CaptureFixture[str]) -> None:
    pipe = QuietPipe()
    lines = [
        f"10:00:00 spark ERROR ExecutorPodsAllocator: {REFUSED.format('forbidden')}",
        "10:00:01 spark ERROR Other: something",
        "10:00:01 spark ERROR ExecutorPodsLifecycleManager: Max number of executor failures (3)"
        " reached ",
    ]
    os.write(pipe.write, "".join(f"{line}\n" for line in lines).encode())
    pipe.started()
    end = time.monotonic() + 60
    while not pipe.executors.startswith("Max") and time.monotonic() < end:
        time.sleep(0.01)
    assert capsys.readouterr().err == f"{lines[1]}\n"
    told = not_started("k8s://https://h", OfJava("java.lang.Exception: stopped"), pipe.executors)
    assert "(3) reached: io.fabric8.KubernetesClientException: Failure" in str(told)
    assert "needs a role" in (told.hint or "")
    told = java_ended("write scripts", ["1 pod Failed"])
    assert "Java process ended, in the stage: write scripts (1 pod Failed); " in str(told)


def test_waits_are_not_longer_than_the_run() -> None:
    short, usual = timeouts("k8s://https://h", 20), timeouts("k8s://https://h", 300)
    first, answer = (
        "spark.scheduler.maxRegisteredResourcesWaitingTime",
        "spark.kubernetes.driver.requestTimeout",
    )
    assert (short[first], short[answer]) == ("2s", "4000")
    assert timeouts("k8s://https://h", 5)[answer] == "2000"
    assert (usual[first], usual[answer]) == ("30s", "10000")
    assert first not in timeouts("spark://h:7077", 20)


def test_yarn_needs_the_folder_of_its_settings() -> None:
    with pytest.raises(UsageError, match="LR1005 found --master yarn"):
        check_settings("yarn", {})
    check_settings("yarn", {"YARN_CONF_DIR": "/etc/hadoop"})
    check_settings("spark://h:7077", {})


def test_a_python_that_executors_do_not_have() -> None:
    text = 'Lost task 0.3 (TID 3) (10.0.0.7 executor 1): Cannot run program "/my/python": error=2'
    told = why_failed({}, RuntimeError(text), "write scripts", None, True)
    assert "found no program /my/python on 10.0.0.7 to run as Python" in str(told)
    assert "PYSPARK_PYTHON" in str(told)


_FULL = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}


class _Busy:
    """A context whose API server does not answer the first question about its pods, has none or
    not yet looked at them when asked again, and then says why they do not run."""

    def __init__(self) -> None:
        self.answers = iter(
            [
                None,
                [],
                [{"status": {"phase": "Pending"}}],
                [{"status": {"phase": "Pending", "conditions": [_FULL]}}],
            ]
        )

    def __getattr__(self, name: str) -> Any:
        """Whatever Py4J has for an object of Java."""
        return self

    def __call__(self, *words: object) -> Any:
        return self

    def list(self) -> str:
        pods = next(self.answers)
        if pods is None:
            raise Py4JError("timeout")
        return json.dumps({"items": pods})

    def asJson(self, pods: str) -> str:
        return pods


def test_an_api_server_that_is_busy_is_asked_again() -> None:
    busy = _Busy()
    assert states(busy) == ["1 pod Pending: Unschedulable"]
    assert list(busy.answers) == []
