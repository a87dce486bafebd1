"""Java that is killed while a job runs: one line says so."""

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
@pytest.mark.slow
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
    assert told.count("\n") == 2, told  # a note comes before
    assert "LR1005 found that Spark's Java process ended, in the stage: write scripts" in told
    assert not (tmp_path / "out").exists()
