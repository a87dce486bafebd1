"""A Spark master and workers on machines of their own (:mod:`tests.support.networks`), which share
nothing with the driver but the network: neither the program nor any folder of the test's."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen

import pyspark

from replay.engine.spark_start import java_home
from tests.support.networks import SHORT_LIVED, Network
from tests.support.places import ROOT

_CLASS = "org.apache.spark.deploy"
_STARTED = "Successfully registered with master"


#: Settings by which Spark gives many tasks to a second machine too.
SPECULATION = [
    *("--conf", "spark.speculation=true", "--conf", "spark.speculation.multiplier=1.01"),
    *("--conf", "spark.speculation.quantile=0.1", "--conf", "spark.speculation.interval=50ms"),
]


@dataclass
class Standalone:
    """A running cluster: the URL of its master, and the processes of its workers, which see nothing
    below ``top`` but their own folder in ``folder``, and have the ``environment`` beside what Spark
    needs."""

    network: Network
    folder: Path
    top: Path
    environment: Mapping[str, str]
    master: str = ""
    workers: list[Popen[str]] = field(default_factory=list)

    def add_worker(self) -> Popen[str]:
        """Start a worker of two tasks, and wait for it."""
        words = ["--cores", "2", "--memory", "1g", "--webui-port", "0", "--work-dir", "work"]
        worker, _ = self._start(
            "worker.Worker", _STARTED, ["--host", "{address}", *words, self.master]
        )
        self.workers.append(worker)
        return worker

    def begin(self) -> None:
        """Start the master."""
        words = ["--port", "7077", "--webui-port", "0"]
        _, address = self._start(
            "master.Master", "I have been elected leader", ["--host", "{address}", *words]
        )
        self.master = f"spark://{address}:7077"

    def _start(self, name: str, ready: str, words: list[str]) -> tuple[Popen[str], str]:
        place = self.folder / f"machine-{len(self.network.machines)}"
        place.mkdir(parents=True)
        program = [str(_home() / "bin" / "spark-class"), f"{_CLASS}.{name}"]
        started = self.network.start(
            [*program, *words],
            place,
            [ROOT / "replay", ROOT / "sqlgen", self.top],
            {**_environment(), **self.environment, "TMPDIR": str(place)},
        )
        _wait_for(ready, place / "log")
        return started


def _home() -> Path:
    return Path(pyspark.__file__).parent


def _environment() -> dict[str, str]:
    left_out = ("PYTHONPATH", "PYSPARK_PYTHON", "SPARK_LOCAL_IP")
    mine = {name: value for name, value in os.environ.items() if name not in left_out}
    java = {"JAVA_HOME": str(java_home()), "JDK_JAVA_OPTIONS": " ".join(SHORT_LIVED)}
    return {**mine, **java, "SPARK_HOME": str(_home())}


def _wait_for(words: str, log: Path, seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while words not in log.read_text(encoding="utf-8", errors="replace"):
        assert time.monotonic() < end, log.read_text(encoding="utf-8", errors="replace")[-2000:]
        time.sleep(0.2)


@contextmanager
def cluster(
    network: Network, folder: Path, top: Path, environment: Mapping[str, str]
) -> Iterator[Standalone]:
    """A master and two workers, in ``folder``, while the context lasts."""
    running = Standalone(network, folder, top, environment)
    try:
        running.begin()
        for _ in range(2):
            running.add_worker()
        yield running
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def on_cluster(workers: Standalone) -> list[str]:
    """The options of a command that runs on them, one executor on each."""
    settings = ("spark.executor.memory=600m", "spark.executor.cores=2", "spark.driver.memory=600m")
    confs = [word for setting in settings for word in ("--conf", setting)]
    return ["--engine", "spark", "--master", workers.master, "--split-mb", "1", *confs]
