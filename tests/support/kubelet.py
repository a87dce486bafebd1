"""Carries out what a double of an API server (:mod:`tests.support.kubernetes_api`) has: pods are
machines of a network, each with processes, mounts and an address of its own, and a root folder in
which there is what an image of executors has, and nothing else of this machine."""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
import threading
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen

import pyspark

from replay.pipeline.java import java_home, program_of
from tests.support.kubernetes_api import Api, Key, Object, Refused
from tests.support.networks import LINKED, SHORT_LIVED, Network, children, stop

#: Where Spark's own image has things, and where its Python is here.
_SPARK, _WORK, _PYTHON = "/opt/spark", "/opt/spark/work-dir", "/opt/python"
_BACKEND = "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend"
#: Seconds after which an image that cannot be pulled is tried again at first.
_BACKOFF = 1.0
_UNITS = {"m": 1e-3, "": 1.0, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}


@dataclass
class Kubelet:
    """A node that has some memory (octets) and cores, and can pull some ``images``. Pods are in
    ``folder``, each with a folder in which its output is ``log``. ``environment``: that of the
    image."""

    api: Api
    network: Network
    folder: Path
    images: Collection[str]
    memory: float = 2.0**33
    cores: float = 8
    environment: Mapping[str, str] = field(default_factory=dict)
    running: dict[Key, Popen[str]] = field(default_factory=dict)
    stopped: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Begin to look after pods, until :meth:`stop`."""
        threading.Thread(target=self._look, daemon=True).start()

    def stop(self) -> None:
        self.stopped.set()
        for process in list(self.running.values()):
            stop(process)

    def _look(self) -> None:
        for what, key, pod in self.api.events("pods", None, self.stopped.is_set):
            with suppress(Refused):  # it is gone by now
                if what == "ADDED" and "nodeName" not in pod["spec"]:
                    self._place(key, pod)
                elif what == "MODIFIED" and "deletionTimestamp" in pod["metadata"]:
                    self._end(key, pod["metadata"]["deletionGracePeriodSeconds"])

    def _place(self, key: Key, pod: Object) -> None:
        """Give the pod a place, and carry it out there."""
        container = pod["spec"]["containers"][0]
        free = {"memory": self.memory, "cpu": self.cores}
        for other in [self.api.objects.get(key) for key in list(self.running)]:
            for name in free if other else ():
                free[name] -= _requests(other or {}, name)
        lacks = [name for name in free if _requests(pod, name) > free[name]]
        if lacks:
            message = f"0/1 nodes are available: 1 Insufficient {', 1 Insufficient '.join(lacks)}."
            unplaced = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
            self._tell(key, "Pending", conditions=[{**unplaced, "message": message}])
        elif container["image"] not in self.images:
            self._cannot_pull(key, container["image"])
        else:
            self._run(key, pod, container)

    def _cannot_pull(self, key: Key, image: str) -> None:
        def waits(reason: str, message: str) -> None:
            state = {"waiting": {"reason": reason, "message": message}}
            self._tell(key, "Pending", state=state)

        def later() -> None:
            if not self.stopped.wait(_BACKOFF):
                with suppress(Refused):
                    waits("ImagePullBackOff", f'Back-off pulling image "{image}"')

        waits("ErrImagePull", f'failed to pull image "{image}": not found')
        threading.Thread(target=later, daemon=True).start()

    def _run(self, key: Key, pod: Object, container: Object) -> None:
        place = self.folder / pod["metadata"]["name"]
        place.mkdir(parents=True)
        environment = {
            "PATH": f"{_PYTHON}/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "LANG": "C.UTF-8",
            "HOME": "/tmp",
            "SPARK_HOME": _SPARK,
            "JAVA_HOME": str(java_home()),
            "JDK_JAVA_OPTIONS": " ".join(SHORT_LIVED),
            **self.environment,
            **self._variables(key, pod, container),
        }
        assert container["args"] == ["executor"]
        process, address = self.network.begin(
            LINKED + _root(self._mounts(key, pod, container, place), environment),
            entrypoint(environment),
            place,
            environment,
            ("--pid", "--fork", "--kill-child"),
        )
        self.running[key] = process
        state = {"running": {"startedAt": pod["metadata"]["creationTimestamp"]}}
        self._tell(key, "Running", state=state, podIP=address)
        threading.Thread(target=self._wait, args=(key, process), daemon=True).start()

    def _wait(self, key: Key, process: Popen[str]) -> None:
        code = process.wait()
        self.running.pop(key, None)
        with suppress(Refused):
            if "deletionTimestamp" in self.api.get(key)["metadata"]:
                self.api.gone(key)
                return
            ended = {"exitCode": code % 256, "reason": "Error" if code else "Completed"}
            self._tell(key, "Failed" if code else "Succeeded", state={"terminated": ended})

    def _end(self, key: Key, seconds: int) -> None:
        """Ask the first process of a pod to end, and end it when its time is over."""
        process = self.running.get(key)
        if process is None:
            return
        for child in children(process.pid) if seconds else []:
            os.kill(child, signal.SIGTERM)
        timer = threading.Timer(seconds, stop, (process,))
        timer.daemon = True
        timer.start()

    def _tell(self, key: Key, phase: str, state: Object | None = None, **more: object) -> None:
        pod = self.api.get(key)
        container = pod["spec"]["containers"][0]
        told = {"name": container["name"], "image": container["image"], "state": state}
        statuses = {"containerStatuses": [{**told, "ready": phase == "Running"}]} if state else {}
        self.api.patch(key, {"status": {"phase": phase, **statuses, **more}})

    def _variables(self, key: Key, pod: Object, container: Object) -> dict[str, str]:
        """The environment of a container; what is only known when it runs is ``{address}``."""
        fields = {"status.podIP": "{address}", "metadata.name": pod["metadata"]["name"]}
        found = {}
        for each in container.get("env", []):
            source = each.get("valueFrom", {})
            if "fieldRef" in source:
                found[each["name"]] = fields[source["fieldRef"]["fieldPath"]]
            elif "secretKeyRef" in source:
                wanted = source["secretKeyRef"]
                secret = self.api.get(("secrets", key[1], wanted["name"]))
                found[each["name"]] = secret["stringData"][wanted["key"]]
            elif "value" in each:
                found[each["name"]] = each["value"]
        return found

    def _mounts(self, key: Key, pod: Object, container: Object, place: Path) -> dict[str, Path]:
        """The volumes of a container, as folders: empty ones, and those of config maps."""
        made = {"": place / "work"}
        made[""].mkdir()
        for volume in pod["spec"].get("volumes", []):
            made[volume["name"]] = folder = place / f"volume-{volume['name']}"
            folder.mkdir()
            if "configMap" in volume:
                name = volume["configMap"]["name"]
                data = self.api.get(("configmaps", key[1], name)).get("data") or {}
                for item in volume["configMap"].get("items", []):
                    (folder / item["path"]).write_text(data[item["key"]], encoding="utf-8")
            else:
                assert "emptyDir" in volume, volume
        asked = {one["mountPath"]: made[one["name"]] for one in container.get("volumeMounts", [])}
        return {_WORK: made[""], **asked}


def entrypoint(environment: Mapping[str, str]) -> list[str]:
    """What the entry point of Spark's image becomes for ``executor``, in an environment."""
    options = [name for name in environment if name.startswith("SPARK_JAVA_OPT_")]
    options.sort(key=lambda name: int(name.rpartition("_")[2]))
    path = [
        environment.get("SPARK_CONF_DIR", f"{_SPARK}/conf"),
        f"{_SPARK}/jars/*",
        environment.get("SPARK_EXTRA_CLASSPATH", ""),
    ]
    stated = {
        "--driver-url": "SPARK_DRIVER_URL",
        "--executor-id": "SPARK_EXECUTOR_ID",
        "--cores": "SPARK_EXECUTOR_CORES",
        "--app-id": "SPARK_APPLICATION_ID",
        "--hostname": "SPARK_EXECUTOR_POD_IP",
        "--resourceProfileId": "SPARK_RESOURCE_PROFILE_ID",
        "--podName": "SPARK_EXECUTOR_POD_NAME",
    }
    return [
        f"{environment['JAVA_HOME']}/bin/java",
        *(environment[name] for name in options),
        f"-Xms{environment['SPARK_EXECUTOR_MEMORY']}",
        f"-Xmx{environment['SPARK_EXECUTOR_MEMORY']}",
        *("-cp", ":".join(filter(None, path)), _BACKEND),
        *(word for name, value in stated.items() for word in (name, environment[value])),
    ]


def _root(mounts: Mapping[str, Path], environment: Mapping[str, str]) -> str:
    """Lines of a script that make the root folder of a container in ``$0``, of what an image has
    and ``mounts``, and become the program within it."""
    spark, java = Path(pyspark.__file__).parent, Path(environment["JAVA_HOME"])
    shown = {name: Path(name) for name in ("/usr", "/etc", "/dev")}
    shown |= {f"{_SPARK}/{name}": spark / name for name in ("bin", "jars", "python")}
    shown[_PYTHON] = Path(sys.prefix)
    # the interpreter of a virtual environment, and Java, are where their own words say
    for needed in (Path(sys.base_prefix), java, program_of(java).parents[1]):
        if Path("/usr") not in (needed, *needed.parents):
            shown[str(needed)] = needed
    top = {name: Path("/", name) for name in ("bin", "sbin", "lib", "lib64")}
    links = [name for name, path in top.items() if path.is_symlink()]
    shown |= {f"/{name}": path for name, path in top.items() if path.is_dir() and name not in links}
    lines = ['root="$0/root"', 'mkdir "$root"', 'mount -t tmpfs none "$root"']
    lines += [f'cp -P /{name} "$root/{name}"' for name in links]
    lines += ['mkdir -m 1777 "$root/tmp"', 'mkdir "$root/proc"', 'mount -t proc none "$root/proc"']
    for target, source in sorted({**shown, **mounts}.items()):
        within = '"$root"' + shlex.quote(target)
        lines += [f"mkdir -p {within}", f"mount --rbind {shlex.quote(str(source))} {within}"]
    # what other machines keep in memory is not here
    lines += ['mount -t tmpfs none "$root/dev/shm"']
    return "\n".join([*lines, f'exec chroot "$root" env --chdir={_WORK} "$@"'])


def _requests(pod: Object, name: str) -> float:
    text = pod["spec"]["containers"][0]["resources"]["requests"][name]
    number = re.fullmatch(r"([0-9.]+)(\w*)", text)
    assert number, text
    return float(number[1]) * _UNITS[number[2]]
