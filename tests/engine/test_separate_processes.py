"""Executors in processes of their own, with another working directory: paths as a user types
them."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.networks import EXECUTORS


@pytest.mark.spark
@pytest.mark.long
def test_relative_paths_on_separate_executors(sakila: Path, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    for name in ("sakila.ctl", "sakila.dat.gz"):
        (tmp_path / name).symlink_to(sakila / name)

    def redo(out: str, *options: str) -> dict[str, str]:
        ended = subprocess.run(
            [
                *(sys.executable, "-c", "import sys; from replay.cli.main import main; "
                  "sys.exit(main(sys.argv[1:]))"),
                *("redo", "--control", "sakila.ctl", "--data", "sakila.dat.gz", "--out", out),
                *("--work", "work", *options),
            ],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        return {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in (tmp_path / out).iterdir()
        }

    cluster = ["--engine", "spark", "--master", "local-cluster[2,1,1024]", *EXECUTORS]
    speculation = [
        *("--conf", "spark.speculation=true", "--conf", "spark.speculation.multiplier=1.01"),
        *("--conf", "spark.speculation.quantile=0.1", "--conf", "spark.executor.memory=600m"),
    ]
    assert redo("on-spark", *cluster, *speculation) == redo("here", "--engine", "local")
    assert list((tmp_path / "work").iterdir()) == []
