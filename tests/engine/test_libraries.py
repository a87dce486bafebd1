"""Executors whose libraries are other ones than the driver's: what may change a result ends the
run and names the machine; what may not is told."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from replay.engine import spark as spark_engine
from replay.engine import spark_tasks
from replay.engine.spark import SparkEngine
from replay.engine.spark_tasks import check_libraries, versions
from replay.errors import UsageError
from replay.logs import LogFile, Split
from tests.support.networks import EXECUTORS
from tests.support.places import FIXTURES, ROOT

HOST = socket.gethostname()


def test_libraries_of_this_machine_are_known() -> None:
    found = versions()
    assert found["Python"].split(".")[:2] == [str(part) for part in sys.version_info[:2]]
    assert {"numpy", "pyarrow", "pyspark", "sqlglot", "ebcdic", "numba", "PyICU"} <= found.keys()


@pytest.mark.parametrize(
    ("driver", "here", "refused"),
    [
        ("2.4.6", "2.4.6", False),
        ("2.4.6", "2.4.5", False),
        ("2.4.6", "2.4.6.post1", False),
        ("2.4.6", "2.3.6", True),
        ("2.4.6", "2.40.6", True),
        ("2.4.6", "1.4.6", True),
        ("2.4rc1", "2.4.0", False),
        ("main", "2.4.0", True),
        ("main", "other", True),
    ],
)
def test_what_is_compared(
    monkeypatch: pytest.MonkeyPatch, driver: str, here: str, refused: bool
) -> None:
    monkeypatch.setattr(spark_tasks, "versions", lambda: {"numpy": here, "only-here": "1.0"})
    given = {"numpy": driver, "only-there": "1.0"}
    words = f"numpy {here} (the driver has {driver}) on {HOST}"
    if refused:
        with pytest.raises(UsageError, match="LR1005 found other libraries") as caught:
            check_libraries(given)
        assert words in str(caught.value)
    else:
        check_libraries(given)


@dataclass(frozen=True)
class Lengths:
    """A job of both stages."""

    title: str = "lengths"
    buckets: int = 2

    def scan(self, log: Any, split: Split) -> Iterator[tuple[int, bytes]]:
        yield split.start % 2, b"x"

    def reduce(self, log: Any, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        yield bytes([sum(map(len, blocks))])


SPLITS = [Split(0, start, start + 1, 1) for start in range(3)]


def test_tasks_of_another_program_do_not_begin(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that had imported an installed one before, say."""
    monkeypatch.setattr(
        spark_engine, "that_travelled", lambda _: {"logreplay": "logreplay-0.9-a.zip"}
    )
    results = SparkEngine(started=lambda: spark.sparkContext).execute(
        Lengths(), cast(LogFile, None), SPLITS
    )
    with pytest.raises(
        UsageError, match="LR1005 found other .*: logreplay installed .*logreplay-0.9-a.zip"
    ):
        list(results)


#: In place of the library of an executor's machine.
OTHER = """
import numpy, os, sys
if os.environ.get("SPARK_EXECUTOR_DIRS"):
    numpy.__version__ = "{version}"
"""


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize(("version", "code"), [("2.0.1", 12), ("{same}.999", 0)])
def test_executors_with_another_library(tmp_path: Path, version: str, code: int) -> None:
    """In processes of their own, where the daemon looks before it imports anything else."""
    version = version.format(same=".".join(versions()["numpy"].split(".")[:2]))
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "sitecustomize.py").write_text(
        OTHER.format(version=version), encoding="utf-8"
    )
    log = FIXTURES / "sakila" / "small"
    words = ["redo", f"--control={log}/small.ctl", f"--data={log}/small.dat", "--engine=spark"]
    words += [f"--out={tmp_path}/out", "--master=local-cluster[1,1,1024]"]
    words += ["--conf", f"spark.executorEnv.PYTHONPATH={tmp_path}/there", *EXECUTORS]
    run = subprocess.run(
        [sys.executable, "-m", "replay", *words],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path), "SPARK_WORKER_DIR": str(tmp_path / "spark")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == code, run.stderr
    found = f"numpy {version} (the driver has {versions()['numpy']})"
    if code:
        assert f"LR1005 found other libraries on an executor: {found}" in run.stderr
        assert f" on {HOST}; expected the driver's" in run.stderr
        assert not (tmp_path / "out").exists()
    assert "Traceback" not in run.stderr
