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

from replay.errors import UsageError
from replay.logs import LogFile, Split
from replay.pipeline import libraries, stages
from replay.pipeline.cluster_trouble import why_failed
from replay.pipeline.libraries import REFUSED, as_written, check_libraries, versions, written
from tests.support.networks import EXECUTORS
from tests.support.places import FIXTURES, ROOT

HOST = socket.gethostname()


def test_libraries_of_this_machine_are_known() -> None:
    found = versions()
    assert found["Python"].split(".")[:2] == [str(part) for part in sys.version_info[:2]]
    assert {"numpy", "pyarrow", "pyspark", "sqlglot", "ebcdic", "numba", "PyICU"} <= found.keys()
    assert as_written(written(found)) == found
    assert as_written("") == {}


@pytest.mark.parametrize(
    ("driver", "here", "refused", "told"),
    [
        ("2.4.6", "2.4.6", False, False),
        ("2.4.6", "2.4.5", False, True),
        ("2.4.6", "2.4.6.post1", False, True),
        ("2.4.6", "2.3.6", True, False),
        ("2.4.6", "2.40.6", True, False),
        ("2.4.6", "1.4.6", True, False),
        ("2.4rc1", "2.4.0", False, True),
        ("main", "2.4.0", True, False),
        ("main", "other", True, False),
    ],
)
def test_what_is_compared(
    monkeypatch: pytest.MonkeyPatch, driver: str, here: str, refused: bool, told: bool
) -> None:
    monkeypatch.setattr(libraries, "versions", lambda: {"numpy": here, "only-here": "1.0"})
    given = {"numpy": driver, "only-there": "1.0"}
    words = f"numpy {here} (the driver has {driver}) on {HOST}"
    if refused:
        with pytest.raises(UsageError, match="LR1005 found other libraries") as caught:
            check_libraries(given)
        assert words in str(caught.value)
    else:
        assert check_libraries(given) == (words if told else "")


def test_what_a_daemon_says_is_found_in_sparks_words() -> None:
    text = f"Error from python worker:\n  {REFUSED}found numpy 1; expected 2\nPYTHONPATH was:\n"
    told = why_failed({}, RuntimeError(text), "write scripts", None, True)
    assert str(told).startswith("LR1005 found numpy 1; expected 2. What another version writes")


@dataclass(frozen=True)
class Lengths:
    """A job of all three stages."""

    title: str = "lengths"
    buckets: int = 2
    meetings: int = 2

    def scan(self, log: Any, split: Split) -> Iterator[tuple[int, bytes]]:
        yield split.start % 2, b"x"

    def reduce(self, log: Any, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        yield bytes([bucket, sum(map(len, blocks))])

    def divide(self, result: bytes) -> Iterator[tuple[int, bytes]]:
        yield result[0], result[1:]

    def meet(self, meeting: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        yield b"".join(blocks)


SPLITS = [Split(0, start, start + 1, 1) for start in range(3)]


@pytest.mark.parametrize(("release", "refused"), [("0.1.2", True), ("{same}.987", False)])
def test_tasks_compare_before_they_begin(
    spark: Any, monkeypatch: pytest.MonkeyPatch, release: str, refused: bool
) -> None:
    """A context of the user's own, whose daemon is Spark's."""
    from replay.pipeline import spark_engine

    same = ".".join(versions()["sqlglot"].split(".")[:2])
    mine = {**versions(), "sqlglot": release.format(same=same)}
    monkeypatch.setattr(spark_engine, "versions", lambda: mine)
    said: list[str] = []
    log, context = cast(LogFile, None), spark.sparkContext
    results = spark_engine.execute(context, Lengths(), log, SPLITS, warned=said.append)
    if refused:
        with pytest.raises(UsageError, match="LR1005 found other libraries") as caught:
            list(results)
        assert f"(the driver has 0.1.2) on {HOST}" in str(caught.value)
        return
    assert sorted(results) == [b"\x01", b"\x02"]
    assert len(said) == 1
    assert (
        f"sqlglot {versions()['sqlglot']} (the driver has {mine['sqlglot']}) on {HOST}" in said[0]
    )


def test_tasks_of_another_program_do_not_begin(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that had imported an installed one before, say."""
    from replay.pipeline import spark_engine

    monkeypatch.setattr(spark_engine, "that_travelled", lambda context: "logreplay-0.9-abc.zip")
    results = spark_engine.execute(spark.sparkContext, Lengths(), cast(LogFile, None), SPLITS)
    with pytest.raises(UsageError, match="LR1005 found logreplay in .*logreplay-0.9-abc.zip"):
        list(results)


def test_a_library_is_told_to_the_program_that_uses_this_one() -> None:
    job: Any = Lengths()
    blocks = [(4, b"numpy 1"), (2, b"a"), (4, b"numpy 1")]
    with pytest.warns(RuntimeWarning, match="libraries differ .* numpy 1") as caught:
        assert list(stages.results_of(job, blocks, stages.warn)) == [b"a"]
    assert len(caught) == 1


#: In place of the library of an executor's machine.
OTHER = """
import numpy, os, sys
if os.environ.get("SPARK_EXECUTOR_DIRS"):
    numpy.__version__ = "{version}"
"""


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize(("version", "code"), [("1.26.4", 12), ("{same}.999", 0)])
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
    else:
        lines = [line for line in run.stderr.splitlines() if "numpy" in line]
        assert len(lines) == 1
        assert lines[0].startswith(f"warning: libraries differ in their patch versions: {found}"), (
            lines
        )
    assert "Traceback" not in run.stderr
