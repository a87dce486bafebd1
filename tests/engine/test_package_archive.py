"""The archive of this package that travels to executors."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from replay.engine.spark_tasks import write_archive
from tests.support.places import ROOT

_ALL = """
import sys, replay
assert sys.argv[1] in replay.__file__, replay.__file__
import replay.output.run_plan, replay.native.fast_path_kernel, replay.engine.spark_tasks
for family in ("logmaster", "db2luw", "soliddb"):
    __import__(f"replay.logs.{family}.family")
"""


def test_everything_is_imported_from_it(tmp_path: Path) -> None:
    archive = write_archive(tmp_path)
    ended = subprocess.run(
        [sys.executable, "-c", _ALL, archive.name],
        cwd=tmp_path,
        env={"PYTHONPATH": archive.name, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr


def test_it_is_named_after_its_contents(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    one, two = write_archive(tmp_path), write_archive(tmp_path / "again")
    assert one.name == two.name
    assert one.read_bytes() == two.read_bytes()
    names = zipfile.ZipFile(one).namelist()
    assert not [name for name in names if "__pycache__" in name]
    assert (ROOT / "replay" / "errors.py").read_bytes() == zipfile.ZipFile(one).read(
        "replay/errors.py"
    )
