"""A run needs few open files, however many it writes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.places import ROOT


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "limit"), [(["local"], 64), (["spark", "--master", "local[2]"], 640)]
)
def test_few_files_are_open_at_a_time(
    sakila: Path, tmp_path: Path, engine: list[str], limit: int
) -> None:
    """Of Spark's 640 Java needs most for itself; there are more buckets than Spark's shuffle opens
    files for at a time (200)."""
    words = ["redo", "--control", str(sakila / "sakila.ctl"), "--records-per-file", "10"]
    words += ["--data", str(sakila / "sakila.dat.gz"), "--split-mb", "1"]
    few = ["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh", sys.executable, "-m", "replay"]
    run = subprocess.run(
        [*few, *words, "--out", str(tmp_path / "out"), "--engine", *engine],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr
    assert len(list((tmp_path / "out").glob("*.sql"))) > 240
