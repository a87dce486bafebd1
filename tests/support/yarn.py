"""A YARN of machines of their own (:mod:`tests.support.networks`): doubles of its ResourceManager
and of NodeManagers (``Yarn.java``, with Hadoop's own RPC, records and tokens around them), which
share nothing with the driver but the network, an S3 server, and one folder in place of HDFS."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen
from xml.sax.saxutils import escape

import pyspark

from replay.pipeline.java import java_home, program_of
from tests.support.drivers import SEVERAL, driver
from tests.support.networks import SHORT_LIVED, Network
from tests.support.places import ROOT

_JARS = Path(pyspark.__file__).parent / "jars"
_SOURCE = Path(__file__).with_name("Yarn.java")
#: How the main classes of containers end.
EXECUTOR, MASTER = "YarnCoarseGrainedExecutorBackend", "ExecutorLauncher"
#: Options of Java for containers.
_JAVA_OPTIONS = ("spark.executor.extraJavaOptions", "spark.yarn.am.extraJavaOptions")
#: Milliseconds until a connection that failed is tried again, where Hadoop waits ten to thirty
#: seconds each time: on a busy machine of two cores one may fail.
_AGAIN = {
    "yarn.client.nodemanager-connect.retry-interval-ms": "500",
    "yarn.resourcemanager.connect.retry-interval.ms": "500",
}


@dataclass
class Yarn:
    """Nodes of so much ``memory`` (MB), which see nothing below ``top`` but their own folder in
    ``folder``; all see ``shared``, the file system of the cluster. ``environment``: where the store
    is; ``conf``: what ``HADOOP_CONF_DIR`` names."""

    network: Network
    folder: Path
    top: Path
    shared: Path
    environment: Mapping[str, str]
    memory: int = 2400
    nodes: list[Popen[str]] = field(default_factory=list)

    @property
    def conf(self) -> Path:
        return self.shared / "conf"

    def begin(self, nodes: int) -> None:
        """Start NodeManagers, and a ResourceManager that knows them."""
        self.conf.mkdir(parents=True)
        _write(self.conf / "core-site.xml", {"fs.defaultFS": "file:///", **_AGAIN})
        addresses = []
        for _ in range(nodes):
            node, address = self._start("node", "{address}", "{place}")
            self.nodes.append(node)
            addresses.append(address)
        _, address = self._start("resources", "{address}", str(self.memory), *addresses)
        _write(self.conf / "yarn-site.xml", {"yarn.resourcemanager.hostname": address})

    def options(self, settings: Mapping[str, str] | None = None) -> list[str]:
        """The words of a command that name the cluster."""
        asked = {
            "spark.yarn.stagingDir": (self.shared / "staging").as_uri(),
            "spark.yarn.jars": f"local:{_JARS}/*",
            **{f"spark.executorEnv.{name}": word for name, word in self.environment.items()},
            **dict.fromkeys(_JAVA_OPTIONS, " ".join(SHORT_LIVED)),
            "spark.executor.memory": "600m",
            "spark.driver.memory": "600m",
            **(settings or {}),
        }
        words = [word for one in asked.items() for word in ("--conf", "=".join(one))]
        return ["--engine", "spark", "--master", "yarn", "--split-mb", "1", *words]

    @property
    def place(self) -> Path:
        """The folder of drivers."""
        return self.top / "driver"

    def started(
        self, *commands: list[str], program: str = SEVERAL, python: str = sys.executable
    ) -> Popen[str]:
        """Start a driver beside the cluster, whose executors have a Python of that name."""
        more = {"HADOOP_CONF_DIR": str(self.conf), "PYSPARK_PYTHON": python}
        environment = {**self.environment, **more}
        return driver(self.network, self.place, environment, commands, program=program)

    def events(self) -> list[str]:
        """What the ResourceManager did: a line each."""
        log = self.folder / f"machine-{len(self.nodes)}" / "log"
        return log.read_text(encoding="utf-8").splitlines()

    def processes(self, main: str = EXECUTOR) -> list[int]:
        """The processes of containers whose main class ends so."""
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has ended
                words = (place / "cmdline").read_text(encoding="utf-8").split("\0")
                here = os.readlink(place / "cwd").startswith(str(self.folder))
                if here and words[0].endswith("/java") and any(one.endswith(main) for one in words):
                    found.append(int(place.name))
        return found

    def kill_application(self) -> None:
        """End the last application, as an operator does: by Hadoop's own command."""
        name = next(line.split()[1] for line in reversed(self.events()) if "submitted" in line)
        words = ["org.apache.hadoop.yarn.client.cli.ApplicationCLI", "application", "-kill", name]
        subprocess.run([*self.network.inside(), *_java(self.conf), *words], check=True, timeout=120)

    def _start(self, *words: str) -> tuple[Popen[str], str]:
        place = self.folder / f"machine-{len(self.network.machines)}"
        place.mkdir(parents=True)
        environment = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "JAVA_HOME": str(java_home()),
            "TMPDIR": str(place),
        }
        started = self.network.start(
            [
                *_java(self.conf),
                *("org.codehaus.janino.SimpleCompiler", str(_SOURCE), "yarn.Yarn"),
                *(word.replace("{place}", str(place)) for word in words),
            ],
            place,
            [ROOT / "replay", ROOT / "sqlgen", self.top],
            environment,
        )
        _wait_for("ready", place / "log")
        return started


def _java(conf: Path) -> list[str]:
    return [str(program_of(java_home())), *SHORT_LIVED, "-Xmx200m", "-cp", f"{conf}:{_JARS}/*"]


def _write(path: Path, settings: Mapping[str, str]) -> None:
    lines = [
        f"<property><name>{name}</name><value>{escape(word)}</value></property>"
        for name, word in settings.items()
    ]
    path.write_text(f"<configuration>{''.join(lines)}</configuration>", encoding="utf-8")


def _wait_for(words: str, log: Path, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while words not in log.read_text(encoding="utf-8", errors="replace").splitlines():
        assert time.monotonic() < end, log.read_text(encoding="utf-8", errors="replace")[-2000:]
        time.sleep(0.2)


def packed_python(folder: Path) -> Path:
    """An environment as an archive, whose ``bin/python`` is the Python of these tests."""
    inside = folder / "env" / "bin"
    inside.mkdir(parents=True, exist_ok=True)
    (inside / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n', encoding="utf-8")
    (inside / "python").chmod(0o755)
    subprocess.run(["tar", "-czf", "env.tar.gz", "-C", "env", "bin"], cwd=folder, check=True)
    return folder / "env.tar.gz"


@contextmanager
def cluster(
    network: Network, top: Path, shared: Path, environment: Mapping[str, str], nodes: int = 2
) -> Iterator[Yarn]:
    """A ResourceManager and its nodes while the context lasts (they end with the network)."""
    running = Yarn(network, top / "nodes", top, shared, environment)
    running.place.mkdir(parents=True)
    running.begin(nodes)
    yield running
