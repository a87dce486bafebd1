"""The bench beside other programs gives them the binary log of the same changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.places import ROOT

pytestmark = [pytest.mark.containers, pytest.mark.long]

#: Stands for a program that undoes a binary log: it tells what it was given.
PROGRAM = """#!/bin/sh
for last; do :; done
echo "$@"
head -c 4 "$last" | od -An -tx1
"""


def test_programs_get_the_binary_log_of_the_changes(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "mariadb-binlog"
    program.parent.mkdir()
    program.write_text(PROGRAM, encoding="utf-8")
    program.chmod(0o755)
    folder, figures = tmp_path / "log", tmp_path / "figures.json"
    words = ["--records", "2000", "--rounds", "1", "--engines", "local", "--dir", str(folder)]
    done = subprocess.run(
        [sys.executable, "scripts/bench_peers.py", *words, "--json", str(figures)],
        cwd=ROOT,
        env={**os.environ, "PATH": f"{program.parent}:/usr/local/sbin:/usr/sbin:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "not measured: found no my2sql on PATH" in done.stderr
    runs = {run["program"]: run for run in json.loads(figures.read_text(encoding="utf-8"))}
    assert set(runs) == {"logreplay undo --engine local", "mariadb-binlog --flashback"}
    assert runs["logreplay undo --engine local"]["changes"] > 1900
    given, magic = (folder / "said").read_text(encoding="utf-8").splitlines()
    assert given.startswith("--flashback --database=bench ")
    assert magic.split() == ["fe", "62", "69", "6e"]
