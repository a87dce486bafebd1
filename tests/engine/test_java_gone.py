"""Java, or the context in it, that ends while a job runs: one line says so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.drivers import wait_until
from tests.support.networks import children
from tests.support.places import ROOT


@pytest.mark.spark
@pytest.mark.long
def test_java_that_is_killed(sakila: Path, tmp_path: Path) -> None:
    words = ["--control", str(sakila / "sakila.ctl"), "--data", str(sakila / "sakila.dat.gz")]
    how = ["--engine", "spark", "--master", "local[1]", "--split-mb", "1"]
    # the first of 760 files is seen long before the last is written
    few = ["--records-per-file", "30", "--out", str(tmp_path / "out")]
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "logreplay_command.py"), "redo", *words, *how, *few],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(lambda: any("redo" in path.name for path in tmp_path.rglob("*")), 120)
    for child in children(process.pid):
        os.kill(child, signal.SIGKILL)
    told = process.communicate(timeout=120)[1]
    assert process.returncode == 12
    assert told.count("\n") == 3, told  # a note comes before
    assert "LR1005 found that Spark's Java process ended, in the stage: write scripts" in told
    assert not (tmp_path / "out").exists()


#: The same command again in a process whose Java was killed, or whose Spark stopped by itself.
AGAIN = """
import sys
from pyspark import SparkContext
from replay.cli.main import main
assert main(sys.argv[1:]) == 0
{}
sys.exit(main([*sys.argv[1:], "--overwrite"]))
"""
KILLED = "SparkContext._gateway.proc.kill(); SparkContext._gateway.proc.wait()"
STOPPED = "SparkContext._active_spark_context._jsc.sc().stop()"


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("ends", [KILLED, STOPPED])
def test_another_java_is_started_after_one_that_ended(
    sakila_small: Path, tmp_path: Path, ends: str
) -> None:
    words = ["--control", str(sakila_small / "small.ctl")]
    words += ["--data", str(sakila_small / "small.dat"), "--out", str(tmp_path / "out")]
    how = ["--engine", "spark", "--master", "local[1]"]
    run = subprocess.run(
        [sys.executable, "-c", AGAIN.format(ends), "redo", *words, *how],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
