"""A Spark master and workers as processes of their own, which share nothing with the driver but the
network: what the driver has of this clone and of its temporary files is hidden from them."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyspark

from replay.pipeline.java import java_home
from tests.support.places import ROOT

_CLASS = "org.apache.spark.deploy"
_STARTED = "Successfully registered with master"
#: Mounts empty file systems over folders, and becomes the program.
_HIDING = 'for one in $HIDDEN; do mount -t tmpfs none "$one"; done; cd "$0" && exec "$@"'


@dataclass
class Standalone:
    """A running cluster: the URL of its master, and the processes of its workers."""

    master: str
    folder: Path
    hidden: list[Path]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def add_worker(self) -> subprocess.Popen[bytes]:
        """Start a worker of two tasks that does not see ``hidden``, and wait for it."""
        place = self.folder / f"worker-{len(self.workers)}"
        place.mkdir()
        namespaces = ["--mount"] if os.geteuid() == 0 else ["--user", "--map-root-user", "--mount"]
        command = [
            *("unshare", *namespaces, "sh", "-c", _HIDING, str(place)),
            *(str(_home() / "bin" / "spark-class"), f"{_CLASS}.worker.Worker", "--host"),
            *("127.0.0.1", "--cores", "2", "--memory", "1g", "--webui-port", "0"),
            *("--work-dir", str(place), self.master),
        ]
        hidden = {"HIDDEN": " ".join(map(str, self.hidden)), "TMPDIR": str(place)}
        worker = _started(command, place / "log", hidden)
        self.workers.append(worker)
        _wait_for(_STARTED, place / "log")
        return worker


def _home() -> Path:
    return Path(pyspark.__file__).parent


def _started(
    command: list[str], log: Path, more: dict[str, str] | None = None
) -> subprocess.Popen[bytes]:
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "PYSPARK_PYTHON", "SPARK_LOCAL_IP")
    }
    environment |= {
        "JAVA_HOME": str(java_home()),
        "SPARK_HOME": str(_home()),
        "SPARK_LOCAL_IP": "127.0.0.1",
        **(more or {}),
    }
    with log.open("wb") as out:
        return subprocess.Popen(
            command, stdout=out, stderr=out, env=environment, start_new_session=True
        )


def _wait_for(words: str, log: Path, seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while words not in log.read_text(encoding="utf-8", errors="replace"):
        assert time.monotonic() < end, log.read_text(encoding="utf-8", errors="replace")[-2000:]
        time.sleep(0.2)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process and what it started, at once."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def cluster(folder: Path, hidden: list[Path], workers: int = 2) -> Iterator[Standalone]:
    """A master and its workers, while the context lasts. ``hidden``: folders of the driver's that
    workers do not see, beside the program itself."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(_home() / "bin" / "spark-class"), f"{_CLASS}.master.Master"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
    folder.mkdir()
    master = _started(command, folder / "master.log")
    running = Standalone(
        f"spark://127.0.0.1:{port}", folder, [ROOT / "replay", ROOT / "sqlgen", *hidden]
    )
    try:
        _wait_for("I have been elected leader", folder / "master.log")
        for _ in range(workers):
            running.add_worker()
        yield running
    finally:
        for process in (*running.workers, master):
            stop(process)
        shutil.rmtree(folder, ignore_errors=True)
