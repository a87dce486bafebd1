"""Executors in containers of YARN: doubles of its servers, of which each is a machine of its own,
which shares nothing with the driver but an S3 server and a folder in place of HDFS."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.drivers import AGAIN, ended, only_line, said, wait_until
from tests.support.networks import Network
from tests.support.s3 import Store, locally
from tests.support.yarn import EXECUTOR, MASTER, Yarn, cluster, packed_python


@pytest.fixture(scope="module")
def yarn(wires: Network, store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yarn]:
    top, shared = tmp_path_factory.mktemp("yarn"), tmp_path_factory.mktemp("hdfs")
    with cluster(wires, top, shared, store.environment) as running:
        yield running


#: Both directions of each family; redo is cut into more files.
WAYS = [
    (family, words)
    for family in ("logmaster", "db2luw", "soliddb")
    for words in (["redo", "--records-per-file", "3000"], ["undo", "--schema", "none"])
]


@pytest.mark.spark
@pytest.mark.long
def test_the_same_bytes(
    yarn: Yarn, store: Store, logs: dict[str, list[str]], tmp_path: Path
) -> None:
    """By a Python that travels as an archive. The end of the command leaves nothing."""
    archive = packed_python(yarn.shared)
    on = yarn.options({"spark.yarn.dist.archives": f"{archive.as_uri()}#env"})
    commands = [
        [*words, *logs[family], "--out", f"s3://logs/yarn/{number}", *on]
        for number, (family, words) in enumerate(WAYS)
    ]
    ended(yarn.started(*commands, python="./env/bin/python"))
    places = {line.split()[-1] for line in yarn.events() if line.startswith("allocated")}
    assert len(places) == 2, yarn.events()
    (tmp_path / "local").mkdir()
    for number, (family, words) in enumerate(WAYS):
        expected = locally(tmp_path / "local", [*words, *logs[family]])
        assert store.digests(f"yarn/{number}") == expected, (family, words)
    wait_until(lambda: any(line.startswith("FINISHED") for line in yarn.events()), 60)
    wait_until(lambda: yarn.processes() == [], 60)
    assert [path for path in yarn.shared.rglob("*application_*") if path.is_dir()] == []


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("killed", [EXECUTOR, MASTER])
def test_a_process_that_is_killed_while_it_works(
    yarn: Yarn, store: Store, logs: dict[str, list[str]], tmp_path: Path, killed: str
) -> None:
    """Another container takes its place. That is asked for when Spark looks next, and a command may
    end before: so the driver has work until then."""
    before = len(yarn.events())

    def given() -> int:
        return sum(line.startswith("allocated") for line in yarn.events()[before:])

    words = ["redo", *logs["logmaster"], "--records-per-file", "1500"]
    places = [f"killed-{killed}", f"again-{killed}"]
    on = [*yarn.options(), "--overwrite"]
    commands = [[*words, "--out", f"s3://logs/{place}", *on] for place in places]
    process = yarn.started(*commands, program=AGAIN)
    wait_until(lambda: any("redo" in name for name in store.names(places[0])))
    os.kill(yarn.processes(killed)[0], signal.SIGKILL)
    # the master, two executors, and one more
    wait_until(lambda: given() >= 4 or process.poll() is not None)
    (yarn.place / "enough").touch()
    ended(process)
    (yarn.place / "enough").unlink()
    assert given() >= 4
    (tmp_path / "local").mkdir()
    assert [store.digests(place) for place in places] == [locally(tmp_path / "local", words)] * 2


#: What is wrong with a cluster, and what is said of it.
TROUBLES = {
    "full": "found no executor of yarn within 5 s (--executor-timeout), in the stage",
    "large": "Required executor memory (61440 MB",
    "python": "found no program /no/python",
    # while Spark starts, or while it works
    "crash": "Max number of executor failures (3) reached",
    "killed": "killed by its client",
}


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_cluster_that_cannot_be_had_is_an_error_and_not_a_hang(
    yarn: Yarn, store: Store, logs: dict[str, list[str]], trouble: str
) -> None:
    settings = {
        "full": {"spark.executor.memory": "3g"},
        # it waits for executors, and so does not end before it is killed
        "killed": {"spark.executor.memory": "3g"},
        "large": {"spark.executor.memory": "60g"},
        "crash": {
            "spark.executor.extraJavaOptions": "-agentlib:none",
            "spark.yarn.maxAppAttempts": "1",
            "spark.executor.maxNumFailures": "3",
        },
    }
    on = yarn.options(settings.get(trouble))
    python = "/no/python" if trouble == "python" else sys.executable
    out = f"s3://logs/none-{trouble}"
    words = ["redo", *logs["logmaster"], "--out", out]
    words += ["--executor-timeout", "5" if trouble == "full" else "100"]
    process = yarn.started([*words, *on], python=python)
    if trouble == "killed":
        wait_until(lambda: len(yarn.processes(MASTER)) == 1)
        yarn.kill_application()
    told = said(process)
    line = only_line(told)
    assert line.startswith("logreplay: LR1005 "), told
    assert TROUBLES[trouble] in line
    assert store.digests(f"none-{trouble}") == {}
