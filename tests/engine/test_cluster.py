"""A master and two workers on machines of their own, which share nothing with the driver but an S3
server: the same bytes as on this machine, and Spark's own errors."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.drivers import driver, ended, only_line, said, wait_until
from tests.support.networks import processes_of
from tests.support.s3 import SECRET, Store, locally
from tests.support.standalone import SPECULATION, Standalone, on_cluster

pytestmark = pytest.mark.spark

#: What is carried out by one driver: of each family something else.
WAYS = {
    "logmaster": ["redo", "--records-per-file", "1500"],
    "db2luw": ["undo", "--schema", "none"],
    "soliddb": ["export", "--format", "csv"],
}
#: What takes a while, for something is to happen meanwhile.
LONG = ["redo", "--records-per-file", "1500"]


@pytest.fixture(scope="module")
def carried(workers: Standalone, store: Store, logs: dict[str, list[str]]) -> str:
    """The work of :data:`WAYS`, whose results are in the store, and then the first of it into a
    folder that only the driver has; what was said."""
    how, folder = [*on_cluster(workers), *SPECULATION], workers.top / "driver"
    places = {family: f"s3://logs/ways/{family}" for family in WAYS}
    commands = [
        [*WAYS[family], *logs[family], "--out", place, *how]
        for family, place in [*places.items(), ("logmaster", str(folder / "bundle"))]
    ]
    process = driver(workers.network, folder, workers.environment, commands)
    told = said(process, 900)
    assert process.returncode == 1, told
    return told


@pytest.mark.parametrize("family", WAYS)
def test_the_same_bytes(
    carried: str, store: Store, logs: dict[str, list[str]], tmp_path: Path, family: str
) -> None:
    """Many tasks are tried by both workers; the result of one attempt counts."""
    expected = locally(tmp_path, [*WAYS[family], *logs[family]])
    assert store.digests(f"ways/{family}") == expected, carried


def test_a_folder_that_executors_do_not_find(carried: str, workers: Standalone) -> None:
    (line,) = [line for line in carried.splitlines() if line.startswith("logreplay: ")]
    assert "LR2001" in line
    assert "cannot write there" in line
    assert "--out may be the URL of a store" in line
    assert SECRET not in carried
    assert not (workers.top / "driver" / "bundle").exists()


def test_an_executor_that_is_killed(
    workers: Standalone, store: Store, logs: dict[str, list[str]], tmp_path: Path
) -> None:
    """Its tasks are made up for, and nothing is said of it. When it is killed, the driver has at
    least one more command to carry out."""
    how = on_cluster(workers)
    commands = [
        [*LONG, *logs["logmaster"], "--out", f"s3://logs/killed/{number}", *how]
        for number in range(3)
    ]
    process = driver(workers.network, workers.top / "driver", workers.environment, commands)
    wait_until(lambda: bool(store.names("killed/1")) or process.poll() is not None)
    killed = 0
    for number, command in processes_of(workers.workers[0]).items():
        if "CoarseGrainedExecutorBackend" in command:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
                killed += 1
    told = ended(process)
    assert killed
    assert "ERROR" not in told
    assert "\tat " not in told
    expected = locally(tmp_path, [*LONG, *logs["logmaster"]])
    assert [store.digests(f"killed/{number}") == expected for number in range(3)] == [True] * 3


def test_an_error_of_spark_is_shown_as_sparks(
    workers: Standalone, store: Store, logs: dict[str, list[str]]
) -> None:
    """Behind our name of the stage, and with what to look at."""
    words = [*LONG, *logs["logmaster"], "--out", "s3://logs/none", *on_cluster(workers)]
    environment = {**workers.environment, "PYSPARK_PYTHON": "/no/python"}
    process = driver(workers.network, workers.top / "driver", environment, [words])
    line = only_line(said(process))
    assert line.startswith("logreplay: LR1005 found that Spark failed in the stage: "), line
    assert 'Cannot run program "/no/python"' in line
    assert "PYSPARK_PYTHON names the Python of the executors" in line
    assert store.names("none") == []


def test_no_executor_is_an_error_and_not_a_hang(
    workers: Standalone, store: Store, logs: dict[str, list[str]]
) -> None:
    """No worker has so much memory."""
    small, large = "spark.executor.memory=600m", "spark.executor.memory=900g"
    how = [large if word == small else word for word in on_cluster(workers)]
    words = [*LONG, *logs["logmaster"], "--out", "s3://logs/none", *how, "--executor-timeout", "3"]
    process = driver(workers.network, workers.top / "driver", workers.environment, [words])
    line = only_line(said(process))
    assert "LR1005 found no executor of spark://" in line, line
    assert "spark.driver.host" in line
    assert store.names("none") == []
