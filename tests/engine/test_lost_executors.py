"""Executors that are lost while the driver takes what their tasks left with them."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.networks import EXECUTORS
from tests.support.places import FIXTURES, ROOT

LOG = FIXTURES / "incomplete" / "log"
#: A run whose results come in many pieces, and whose executors (one of them, or all) are killed
#: before the second task of each job; the last line says of how many jobs.
_KILLS = """
import os, signal, sys
from collections import Counter
from pathlib import Path
from replay.cli.main import main
from replay.engine import spark as spark_engine
from pyspark import SparkContext

def parents():
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                status = (place / "stat").read_text().rpartition(")")[2].split()
                yield int(place.name), int(status[1]), (place / "cmdline").read_bytes()
            except OSError:
                pass

def executors():
    known = list(parents())
    mine = {os.getpid()}
    while more := {one for one, parent, _ in known if parent in mine} - mine:
        mine |= more
    mine.remove(os.getpid())  # these very words are in its command line
    return sorted(one for one, _, text in known if one in mine and b"ExecutorBackend" in text)

how_many, killed, asked = int(sys.argv[1]), [], Counter()
run = SparkContext.runJob

def interrupted(self, blocks, work, tasks):
    asked[blocks.id()] += 1
    if asked[blocks.id()] == 2:
        those = executors()[-how_many:]
        for executor in those:
            os.kill(executor, signal.SIGKILL)
        killed.append(len(those))
    return run(self, blocks, work, tasks)

spark_engine.PIECE = 2_000
SparkContext.runJob = interrupted
code = main(sys.argv[2:])
print("killed", *killed)
sys.exit(code)
"""


def redo(folder: Path, *start: str, options: list[str]) -> tuple[str, dict[str, str]]:
    words = ["redo", "--control", str(LOG / "incomplete.ctl"), "--schema", "none", "--out"]
    words += [str(folder), "--data", str(LOG / "incomplete.dat"), "--records-per-file", "100"]
    ended = subprocess.run(
        [sys.executable, *start, *words, *options],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert ended.returncode == 4, ended.stderr
    files = {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }
    return ended.stdout, files


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("how_many", [1, 2])
def test_the_same_bundle(tmp_path: Path, how_many: int) -> None:
    """One is lost before the second piece of each job, or both are."""
    cluster = ["--engine", "spark", "--master", "local-cluster[2,1,1024]", "--split-mb", "1"]
    cluster += ["--conf", "spark.executor.memory=600m", *EXECUTORS]
    start = ("-c", _KILLS, str(how_many))
    told, files = redo(tmp_path / "on-cluster", *start, options=cluster)
    killed = told.splitlines()[-1].split()
    assert killed[0] == "killed"
    assert len(killed) > 3
    assert set(killed[1:]) == {str(how_many)}
    assert files == redo(tmp_path / "here", "-m", "replay", options=["--engine", "local"])[1]
