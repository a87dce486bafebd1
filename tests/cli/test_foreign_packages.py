"""The command where other projects' packages have the names of ours."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.places import ROOT

START = (
    "import sys, logreplay_command; sys.argv[1:] = ['--help']; sys.exit(logreplay_command.main())"
)


def started(*paths: Path) -> subprocess.CompletedProcess[str]:
    """The command with ``paths`` before everything else."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    return subprocess.run(
        [sys.executable, "-c", START],
        cwd="/",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_starts_where_both_packages_are_ours() -> None:
    run = started(ROOT)
    assert (run.returncode, run.stderr) == (0, "")
    assert "logreplay COMMAND -h" in run.stdout


@pytest.mark.parametrize("name", ["replay", "sqlgen"])
@pytest.mark.parametrize("text", ["VERSION = 1\n", '"""logreplay: of somebody else"""\n', None])
def test_it_refuses_where_another_package_is_in_the_way(
    tmp_path: Path, name: str, text: str | None
) -> None:
    other = tmp_path / name
    other.mkdir()
    (other / "cli.py").write_text("raise SystemExit('somebody else ran')\n")
    if text is not None:
        (other / "__init__.py").write_text(text)
    else:  # bytes that are no text
        (other / "__init__.py").write_bytes(b"# \xff\n")
    run = started(tmp_path, ROOT)
    assert run.returncode == 12
    assert f"found a package {name} in {other}" in run.stderr
    assert "install logreplay-sql" in run.stderr
    assert "Traceback" not in run.stderr
    assert run.stdout == ""


def test_it_refuses_where_its_own_package_was_written_over(tmp_path: Path) -> None:
    """Two distributions in one environment: the later one's files stand there."""
    (tmp_path / "logreplay_command.py").write_text((ROOT / "logreplay_command.py").read_text())
    for name in ("replay", "sqlgen"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text((ROOT / name / "__init__.py").read_text())
    (tmp_path / "replay" / "__init__.py").write_text("from .core import *\n")
    run = started(tmp_path)
    assert run.returncode == 12
    assert f"found a package replay in {tmp_path / 'replay'}" in run.stderr
    assert "sqlgen in" not in run.stderr


def test_an_installation_that_points_to_a_clone(tmp_path: Path) -> None:
    """The command's own module is copied there; the packages stay in the clone."""
    shutil.copy(ROOT / "logreplay_command.py", tmp_path)
    ended = subprocess.run(
        [sys.executable, str(tmp_path / "logreplay_command.py"), "--version"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
