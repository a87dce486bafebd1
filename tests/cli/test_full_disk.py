"""Where there is no room to write, the message says where. A limit on the size of files stands for
a disk: the system refuses what goes beyond, and does not say of which file."""

from __future__ import annotations

import gzip
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from replay.cli.main import main

LIMIT = 8192


@contextmanager
def small_files() -> Iterator[None]:
    """No file may become longer than some bytes. Python would write modules that it compiled as far
    as that goes, and take them for whole."""
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))
        sys.dont_write_bytecode = writes


@pytest.fixture
def log(sakila_small: Path) -> list[str]:
    files = "--control", sakila_small / "small.ctl", "--data", sakila_small / "small.dat"
    return [*map(str, files), "--engine", "local"]


@pytest.mark.parametrize(
    ("command", "out"),
    [
        (["redo"], "scripts"),
        (["undo"], "scripts"),
        (["redo", "--also", "export:{}/other"], "scripts"),
        (["export", "--format", "parquet"], "data"),
        (["export", "--format", "csv"], "data"),
        (["extract"], "log"),
        (["report", "page"], "page.html"),
        (["graph"], "graph.json"),
    ],
    ids=" ".join,
)
def test_it_says_where(
    command: list[str],
    out: str,
    log: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    there = tmp_path / out
    words = [word.format(tmp_path) for word in command]
    with small_files():
        assert main([*words, *log, "--out", str(there)]) == 12
    said = capsys.readouterr().err
    assert "LR1006 found File too large: " in said
    assert str(tmp_path) in said
    assert "Make room there, or name a folder on a disk that has more" in said
    assert not there.exists() or not list(there.iterdir())


def test_temporary_files_are_in_a_folder_of_their_own(
    log: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    with small_files():
        assert main(["redo", *log, "--out", str(tmp_path / "out"), "--work", str(work)]) == 12
    said = capsys.readouterr().err
    assert str(work) in said
    assert "--work is for temporary files" in said
    assert tempfile.gettempdir() + " (" not in said


def test_a_log_that_has_no_room_to_be_unpacked_is_not_damaged(
    log: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packed, work = tmp_path / "small.dat.gz", tmp_path / "work"
    work.mkdir()
    with open(log[3], "rb") as plain, gzip.open(packed, "wb") as file:
        shutil.copyfileobj(plain, file)
    words = [*log[:3], str(packed), *log[4:], "--work", str(work)]
    with small_files():
        assert main(["inspect", *words]) == 12
    said = capsys.readouterr().err
    assert f"LR1006 found File too large: {work}" in said


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_what_is_printed_is_written_whole_or_refused(
    unbuffered: str, log: list[str], tmp_path: Path
) -> None:
    """A disk takes what it has room for, and a write says how much that was."""

    def run(place: Path, most: int) -> subprocess.CompletedProcess[str]:
        program = "from replay.cli.main import main; raise SystemExit(main())"
        command = [sys.executable, "-B", "-c", program, "report", "audit", *log]
        with place.open("wb") as file:
            return subprocess.run(
                command,
                env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
                stdout=file,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
            )

    whole = run(tmp_path / "whole", 1 << 30)
    assert whole.returncode == 0
    size = (tmp_path / "whole").stat().st_size
    cut = run(tmp_path / "cut", size - 100)
    assert "LR1006 found File too large: standard output" in cut.stderr
    assert cut.returncode == 12
