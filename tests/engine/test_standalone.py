"""A master and two workers on machines of their own, which share nothing with the driver but an S3
server: the same bytes as on this machine, whatever happens to processes on the way."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

import replay
from replay.engine.spark_start import java_home
from tests.live.test_dry_run import options
from tests.support.drivers import driver, ended, only_line, said, wait_until
from tests.support.networks import Network, processes_of, stop
from tests.support.s3 import Store, locally
from tests.support.standalone import SPECULATION, Standalone, cluster, on_cluster


@pytest.fixture(scope="module")
def alone(
    wires: Network, store: Store, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Standalone]:
    """A master without workers: tests have their own, which they break."""
    base = tmp_path_factory.mktemp("alone")
    (base / "driver").mkdir()
    where = wires, base / "spark", base, store.environment
    with cluster(*where, workers=0, lost_after=20) as running:
        yield running


@contextmanager
def with_workers(alone: Standalone, count: int) -> Iterator[list[subprocess.Popen[str]]]:
    """So many workers while the context lasts."""
    mine = [alone.add_worker() for _ in range(count)]
    try:
        yield mine
    finally:
        for worker in mine:
            stop(worker)


def started(workers: Standalone, *commands: list[str]) -> subprocess.Popen[str]:
    """A driver on a machine that sees the workers by the network alone."""
    return driver(workers.network, workers.top / "driver", workers.environment, commands)


def run(workers: Standalone, *commands: list[str]) -> str:
    return ended(started(workers, *commands))


def wait_for_scripts(store: Store, out: str, process: subprocess.Popen[str]) -> None:
    """Wait until one of a command's scripts is in the store. Fails with what the command says,
    where it ends without."""

    def there() -> bool:
        return any("redo" in name for name in store.names(out))

    wait_until(lambda: there() or process.poll() is not None)
    assert there(), process.communicate()[0]


def in_store(store: Store, words: list[str]) -> list[str]:
    return [store.put(Path(word)) if word.startswith("/") else word for word in words]


#: For each family both directions and an export.
WAYS = [
    ("logmaster", ["redo", "--records-per-file", "3000"]),
    ("logmaster", ["undo", "--schema", "none", "--records-per-file", "3000"]),
    ("logmaster", ["export"]),
    ("db2luw", ["redo", "--records-per-file", "3000"]),
    ("db2luw", ["undo", "--schema", "none"]),
    ("db2luw", ["export", "--format", "jsonl"]),
    ("soliddb", ["redo", "--records-per-file", "3000"]),
    ("soliddb", ["undo", "--schema", "none"]),
    ("soliddb", ["export", "--format", "csv"]),
]


@dataclass
class Ways:
    """Work of :data:`WAYS`, and where in the store its results are."""

    store: Store
    logs: dict[str, list[str]]
    place: str
    ways: Sequence[tuple[str, list[str]]]

    def commands(self, how: list[str]) -> list[list[str]]:
        return [
            [*words, *self.logs[family], "--out", f"s3://logs/{self.place}/{number}", *how]
            for number, (family, words) in enumerate(self.ways)
        ]

    def check(self, here: Path) -> None:
        """The bytes are those of the same commands on this machine."""
        for number, (family, words) in enumerate(self.ways):
            expected = locally(here, [*words, *self.logs[family]])
            found = self.store.digests(f"{self.place}/{number}")
            bad = sorted(name for name in found | expected if found.get(name) != expected.get(name))
            assert bad == [], (family, words)


#: A program of somebody's: its own session, and logs that it has that session work on.
PROGRAM = """
import json, sys
import replay
from pyspark.sql import SparkSession

settings, logs = json.loads(sys.argv[1])
builder = SparkSession.builder
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
for words, out in logs:
    with replay.open_log(**words, spark=spark, work="s3://logs/work") as log:
        log.select().redo().write(out)
assert spark.range(3).count() == 3
assert spark.conf.get("spark.sql.adaptive.enabled") == "true"
"""


def of_library(words: list[str]) -> dict[str, str]:
    """Words of a command that name a log, as the library takes them."""
    return {
        name.removeprefix("--"): value for name, value in zip(words[::2], words[1::2], strict=True)
    }


def written_by_program(
    workers: Standalone, store: Store, logs: dict[str, list[str]], tmp_path: Path
) -> None:
    """A program writes a bundle of each log to the store, and those are as on this machine."""
    out = "program"
    logs = {name.replace(" ", "-"): words for name, words in logs.items()}
    work = [(of_library(words), f"s3://logs/{out}/{name}") for name, words in logs.items()]
    settings = {
        "spark.master": workers.master,
        "spark.executor.memory": "600m",
        "spark.executor.cores": "2",
        "spark.driver.memory": "600m",
        "spark.ui.enabled": "false",
    }
    more = {"JAVA_HOME": str(java_home()), "PYSPARK_PYTHON": sys.executable}
    given = [settings, work]
    ended(
        driver(
            workers.network,
            workers.top / "driver",
            {**workers.environment, **more},
            given,
            program=PROGRAM,
        )
    )
    for family, words in logs.items():
        with replay.open_log(**of_library(words)) as log:
            log.select().redo().write(tmp_path / family)
        expected = {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in (tmp_path / family).iterdir()
        }
        assert store.digests(f"{out}/{family}") == expected, family
    assert store.names("work") == []


@pytest.mark.spark
@pytest.mark.long
def test_the_session_of_a_program(
    workers: Standalone, store: Store, logs: dict[str, list[str]], tmp_path: Path
) -> None:
    written_by_program(workers, store, logs, tmp_path)


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_processes_that_are_killed_or_stopped_on_the_way(
    workers: Standalone, store: Store, logs: dict[str, list[str]], tmp_path: Path, seed: int
) -> None:
    """A worker with its executor, an executor, or the Python processes of one (which are stopped,
    and wake up when all is over), at a drawn moment; what is unpacked goes through the store."""
    draw = random.Random(seed)
    out = f"out/killed-{seed}"
    words = ["redo", *logs["logmaster"], "--records-per-file", "1500"]
    victim = workers.add_worker()
    how = SPECULATION if seed == 3 else []
    more = ["--work", "s3a://logs/work", "--out", f"s3://logs/{out}", *on_cluster(workers), *how]
    process = started(workers, [*words, *more])
    wait_until(lambda: bool(store.names(out)) or process.poll() is not None)
    time.sleep(draw.uniform(0, 3))
    if seed == 3:
        wait_until(lambda: any("spark_tasks" in one for one in processes_of(victim).values()))
    stopped: list[int] = []
    if seed == 1:
        stop(victim)
    for number, command in processes_of(victim).items():
        with suppress(ProcessLookupError):
            if seed == 2 and "CoarseGrainedExecutorBackend" in command:
                os.kill(number, signal.SIGKILL)
            if seed == 3 and "spark_tasks" in command:
                os.kill(number, signal.SIGSTOP)
                stopped.append(number)
    assert stopped or seed != 3
    ended(process)
    expected = locally(tmp_path, words)
    assert store.digests(out) == expected
    for number in stopped:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGCONT)
    time.sleep(1 if stopped else 0)
    assert store.digests(out) == expected
    assert store.names("work") == []
    stop(victim)


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("seed", [1])
def test_a_driver_that_is_killed(
    workers: Standalone, store: Store, logs: dict[str, list[str]], tmp_path: Path, seed: int
) -> None:
    """The same command again ends right, and leaves nothing."""
    draw = random.Random(seed)
    out = f"out/driver-{seed}"
    words = ["redo", *logs["logmaster"], "--records-per-file", "1500"]
    where = ["--out", f"s3://logs/{out}", "--work", "s3://logs/work", "--overwrite"]
    process = started(workers, [*words, *where, *on_cluster(workers)])
    wait_for_scripts(store, out, process)
    time.sleep(draw.uniform(0, 1.5))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    run(workers, [*words, *where, *on_cluster(workers)])
    expected = locally(tmp_path, words)
    assert store.digests(out) == expected
    time.sleep(2)  # tasks of the first one may still have been there
    assert store.digests(out) == expected
    assert store.names("work") == []


@pytest.mark.spark
@pytest.mark.long
def test_replay_and_a_folder_of_the_drivers(
    workers: Standalone, store: Store, logs: dict[str, list[str]], tmp_path: Path
) -> None:
    """Executors find neither the folder of a bundle nor that of a replay's scripts. The same driver
    has work whose results are in the store, one way of each family."""
    stored = Ways(store, logs, "default", WAYS[::4])
    out, on = workers.top / "driver", ["--work", "s3://logs/work", *on_cluster(workers)]
    with closing(sqlite3.connect(out / "shop.db")) as database:
        database.execute("CREATE TABLE item (n INTEGER PRIMARY KEY, word TEXT)")
        database.execute("INSERT INTO item VALUES (1, 'a'), (2, 'a'), (3, 'x')")
        database.commit()
    words = ["redo", *logs["soliddb"], "--records-per-file", "3000"]
    run(
        workers,
        *stored.commands(on_cluster(workers)),
        [*words, "--out", str(out / "bundle"), *on],
        [
            "replay",
            *in_store(store, options(out)),
            "--to",
            f"sqlite:///{out}/shop.db",
            "--apply",
            *on,
        ],
    )
    stored.check(tmp_path)
    assert locally(tmp_path, words) == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (out / "bundle").iterdir()
    }
    with closing(sqlite3.connect(out / "shop.db")) as database:
        rows = database.execute("SELECT n, word FROM item ORDER BY n").fetchall()
    assert rows == [(1, "b"), (2, "b"), (4, "z")]
    assert store.names("work") == []


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize(
    ("how", "limit", "expected"),
    [
        ("cut", 3600, "LR1005 found no executor of spark://"),
        ("frozen", 3600, "LR1005 found no executor of spark://"),
        ("stopped", 15, "LR1005 found no task that ended within 15 s (--task-timeout)"),
    ],
)
def test_what_stops_answering_is_an_error_and_not_a_hang(
    alone: Standalone,
    store: Store,
    logs: dict[str, list[str]],
    how: str,
    limit: int,
    expected: str,
) -> None:
    """The network of the only worker, all of its processes, or its Python processes. By then the
    executor is there, however long it took to start, and when that happens the driver has another
    command to carry out, for one may be over before."""
    out = f"out/{how}"
    with with_workers(alone, 1) as (worker,):
        limits = ["--executor-timeout", "10", "--task-timeout", str(limit)]
        words = ["redo", *logs["logmaster"], "--records-per-file", "1500"]
        commands = [
            [*words, "--out", f"s3://logs/{out}/{number}", *on_cluster(alone), *more]
            for number, more in enumerate(([], limits, limits))
        ]
        process = started(alone, *commands)
        wait_for_scripts(store, f"{out}/1", process)
        if how == "cut":
            alone.network.cut(worker)
        for number, command in processes_of(worker).items():
            if how == "frozen" or (how == "stopped" and "spark_tasks" in command):
                os.kill(number, signal.SIGSTOP)
        told = said(process)
    assert expected in told, told
    assert "Traceback" not in told


@pytest.mark.spark
@pytest.mark.long
def test_executors_that_do_not_reach_each_other_are_an_error_and_not_a_hang(
    alone: Standalone, store: Store, logs: dict[str, list[str]]
) -> None:
    """Both are there before there are tasks, for one of them may do all of a short job; and a stage
    has one try, for in the next one an executor may make all that it had not got."""
    waits = {
        "spark.shuffle.io.connectionCreationTimeout": "2s",
        "spark.shuffle.io.maxRetries": "1",
        "spark.shuffle.io.retryWait": "1s",
        "spark.stage.maxConsecutiveAttempts": "1",
        "spark.cores.max": "4",
        "spark.scheduler.minRegisteredResourcesRatio": "1",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "300s",
    }
    conf = [word for item in waits.items() for word in ("--conf", "=".join(item))]
    with with_workers(alone, 2) as two:
        alone.network.part(*two)
        words = ["redo", *logs["logmaster"], "--records-per-file", "1500", *conf]
        process = started(alone, [*words, "--out", "s3://logs/out/apart", *on_cluster(alone)])
        told = said(process)
    line = only_line(told)
    assert line.startswith("logreplay: LR1005 found that Spark failed in the stage: "), line
    assert "firewall" in line
    assert store.digests("out/apart") == {}
