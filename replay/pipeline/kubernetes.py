"""What the API server of Kubernetes says of pods that do not run, and how a context whose executors
are pods ends. Whoever is asked here is an object of Spark, through Py4J."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from py4j.protocol import Py4JError

#: Seconds for which pods are asked about, and those of the end of a run waited for.
_ASKED, _ENDING = 10, 20
#: Seconds between two questions about pods, where the first one was not answered.
_AGAIN = 0.5
#: Of states, how many are told.
_TOLD = 3
#: What stands between a state of a pod and the reason for it.
_WHY = ": "
_APP, _SERIALIZED = "spark-app-selector", "io.fabric8.kubernetes.client.utils.Serialization"


def states(context: Any) -> list[str]:
    """What the API server says of the pods of a context that do not run, in words; nothing where it
    does not answer within some seconds. It is asked again where it is busy (a client that waits for
    answers as long as a short ``--executor-timeout`` allows gives up each of them soon), and until
    there is a pod of which it says why."""
    told: list[str] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            with suppress(Py4JError, ConnectionError):
                scheduler = context._jsc.sc()
                client = scheduler.schedulerBackend().kubernetesClient()
                namespace = context.getConf().get("spark.kubernetes.namespace", "default")
                pods = (
                    client.pods().inNamespace(namespace).withLabel(_APP, scheduler.applicationId())
                )
                to_json = getattr(context._jvm, _SERIALIZED).asJson
                told[:] = in_words(json.loads(to_json(pods.list())))
                if any(_WHY in words for words in told):
                    return
            done.wait(_AGAIN)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(_ASKED)
    done.set()
    return list(told)


def in_words(pods: Mapping[str, Any]) -> list[str]:
    """The states of a list of pods, as the API has it, each once with its number of pods, the most
    frequent ones first."""
    found = Counter(_state(pod.get("status", {})) for pod in pods.get("items", []))
    counted = [f"{count} pod{'s' * (count > 1)} {words}" for words, count in found.most_common()]
    return counted[:_TOLD]


def _state(status: Mapping[str, Any]) -> str:
    phase = status.get("phase", "Unknown")
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return _joined(phase, condition)
    for container in status.get("containerStatuses") or ():
        state = container.get("state") or {}
        if waiting := state.get("waiting"):
            return _joined(phase, waiting)
        if ended := state.get("terminated"):
            return f"{_joined(phase, ended)} (exit code {ended.get('exitCode')})"
    return str(phase)


def _joined(phase: str, why: Mapping[str, Any]) -> str:
    return _WHY.join(str(part) for part in (phase, why.get("reason"), why.get("message")) if part)


def end(context: Any) -> None:
    """End a context before its process does: what it made at the API server goes with it, but where
    that does not answer for some seconds. (A driver's pod ends with its process, and Java with it,
    which else would do so a little later.)"""

    def stop() -> None:
        with suppress(Py4JError, ConnectionError):
            context._jsc.stop()

    ending = threading.Thread(target=stop, daemon=True)
    ending.start()
    ending.join(_ENDING)
