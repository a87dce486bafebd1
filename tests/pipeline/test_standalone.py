"""A master and two workers that share nothing with the driver but an S3 server: the same bytes as
on this machine, whatever happens to workers on the way."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer
from pyarrow import fs

from tests.support import luwsakila, solidsakila
from tests.support.luwbuilder import catalog_csv
from tests.support.places import ROOT
from tests.support.solidbuilder import Framing, write_catalog, write_rows
from tests.support.standalone import Standalone, cluster, stop

SECRET = "never-in-a-message"
SPECULATION = [
    *("--conf", "spark.speculation=true", "--conf", "spark.speculation.multiplier=1.01"),
    *("--conf", "spark.speculation.quantile=0.1", "--conf", "spark.speculation.interval=50ms"),
]


@dataclass
class Store:
    """A bucket of an S3 server, and the environment in which it is found."""

    system: fs.FileSystem
    environment: dict[str, str]

    def put(self, path: Path) -> str:
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.is_file():
                name = f"logs/in/{file.relative_to(path.parent)}"
                with self.system.open_output_stream(name, compression=None) as out:
                    out.write(file.read_bytes())
        return f"s3://logs/in/{path.name}"

    def digests(self, folder: str) -> dict[str, str]:
        infos = self.system.get_file_info(fs.FileSelector(f"logs/{folder}", recursive=True))
        return {
            info.path.removeprefix(f"logs/{folder}/"): self._digest(info.path)
            for info in infos
            if info.type == fs.FileType.File
        }

    def _digest(self, path: str) -> str:
        with self.system.open_input_stream(path, compression=None) as file:
            return hashlib.sha256(file.read()).hexdigest()


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    environment = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        system, _ = fs.FileSystem.from_uri("s3://logs/?allow_bucket_creation=true")
        system.create_dir("logs")
        yield Store(system, environment)
    server.stop()


@pytest.fixture(scope="module")
def workers(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    base = tmp_path_factory.mktemp("cluster")
    (base / "driver").mkdir()
    with cluster(base / "spark", [base / "driver"]) as running:
        yield running


@pytest.fixture(scope="module")
def logs(
    sakila: Path, store: Store, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[str]]:
    """The same work in the words of each family, in the store."""
    place = tmp_path_factory.mktemp("logs")
    luw = luwsakila.encode(sakila, place, "v10", True, "raw")
    (place / "sakila.log").write_bytes(luw.data)
    (place / "catalog.csv").write_text(catalog_csv(luw.tables), encoding="utf-8")
    solid = solidsakila.encode(sakila, place, Framing("len32"), 20)
    write_catalog(place / "catalog", solid.tables)
    rows = Path(write_rows(place / "syslog.parquet", solid.log.rows))
    put = store.put
    return {
        "logmaster": [
            *("--control", put(sakila / "sakila.ctl"), "--data", put(sakila / "sakila.dat.gz"))
        ],
        "db2luw": [
            *("--source", "db2luw", "--log", put(place / "sakila.log")),
            *("--catalog", put(place / "catalog.csv")),
        ],
        "soliddb": [
            *("--source", "soliddb", "--log", put(rows), "--catalog", put(place / "catalog"))
        ],
    }


def started(workers: Standalone, words: list[str]) -> subprocess.Popen[str]:
    driver = workers.folder.parent / "driver"
    return subprocess.Popen(
        [sys.executable, "-m", "replay", *words],
        cwd=driver,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(driver)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run(workers: Standalone, words: list[str]) -> str:
    process = started(workers, words)
    told, _ = process.communicate(timeout=900)
    assert process.returncode in (0, 4), told
    assert SECRET not in told
    return told


def on_cluster(workers: Standalone) -> list[str]:
    settings = ("spark.executor.memory=600m", "spark.executor.cores=2", "spark.driver.memory=600m")
    confs = [word for setting in settings for word in ("--conf", setting)]
    return ["--engine", "spark", "--master", workers.master, "--split-mb", "1", *confs]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "words", "how"),
    [
        ("logmaster", ["redo", "--records-per-file", "3000"], []),
        ("logmaster", ["undo", "--schema", "none", "--records-per-file", "3000"], SPECULATION),
        ("logmaster", ["export"], SPECULATION),
        ("db2luw", ["redo", "--records-per-file", "3000"], SPECULATION),
        ("db2luw", ["undo", "--schema", "none"], []),
        ("soliddb", ["redo", "--records-per-file", "3000"], SPECULATION),
        ("soliddb", ["undo", "--schema", "none"], []),
        ("soliddb", ["export", "--format", "csv"], []),
    ],
)
def test_the_same_bytes(
    workers: Standalone,
    store: Store,
    logs: dict[str, list[str]],
    family: str,
    words: list[str],
    how: list[str],
) -> None:
    name = f"{family}-{words[0]}"
    for place, engine in (("cluster", on_cluster(workers)), ("local", ["--engine", "local"])):
        more = how if place == "cluster" else []
        run(
            workers,
            [*words, *logs[family], "--out", f"s3://logs/{place}/{name}", *engine, *more],
        )
    assert store.digests(f"cluster/{name}") == store.digests(f"local/{name}")


@pytest.mark.spark
@pytest.mark.slow
def test_unpacked_into_the_store(
    workers: Standalone, store: Store, logs: dict[str, list[str]]
) -> None:
    words = ["redo", *logs["logmaster"], "--out"]
    run(
        workers,
        [*words, "s3a://logs/out/work", *on_cluster(workers), "--work", "s3a://logs/work"],
    )
    run(workers, [*words, "s3://logs/out/plain", "--engine", "local"])
    assert store.digests("out/work") == store.digests("out/plain")
    assert store.digests("work") == {}


@pytest.mark.spark
@pytest.mark.slow
def test_a_worker_that_is_killed(
    workers: Standalone, store: Store, logs: dict[str, list[str]]
) -> None:
    words = ["redo", *logs["logmaster"], "--records-per-file", "500", "--out"]
    victim = workers.add_worker()
    process = started(workers, [*words, "s3://logs/out/killed", *on_cluster(workers)])
    killer = threading.Thread(target=_kill_when_written, args=(store, victim))
    killer.start()
    told, _ = process.communicate(timeout=900)
    killer.join()
    assert process.returncode in (0, 4), told
    run(workers, [*words, "s3://logs/out/whole", "--engine", "local"])
    assert store.digests("out/killed") == store.digests("out/whole")


def _kill_when_written(store: Store, victim: subprocess.Popen[bytes]) -> None:
    """End a worker as soon as the first attempt has written something."""
    end = time.monotonic() + 600
    selector = fs.FileSelector("logs/out/killed", allow_not_found=True, recursive=True)
    while time.monotonic() < end:
        if any(info.path.endswith(".sql") for info in store.system.get_file_info(selector)):
            break
        time.sleep(0.1)
    stop(victim)


@pytest.mark.spark
@pytest.mark.slow
def test_no_executor_is_an_error_and_not_a_hang(
    store: Store, logs: dict[str, list[str]], tmp_path: Path
) -> None:
    (tmp_path / "driver").mkdir()
    with cluster(tmp_path / "spark", [], workers=0) as alone:
        words = ["redo", *logs["logmaster"], "--out", "s3://logs/out/none", *on_cluster(alone)]
        process = started(alone, [*words, "--executor-timeout", "5"])
        told, _ = process.communicate(timeout=600)
    assert process.returncode == 12
    assert "LR1005 found no executor of spark://" in told
    assert "spark.driver.host" in told
    assert "Traceback" not in told
    assert store.digests("out/none") == {}
