"""The archive of Java's classes: when it is made, when it is used, and that no file in its place
keeps a run from its end."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from replay.pipeline.java_archive import RUNS, JavaArchive, java_archive

SMALL = Path(__file__).parents[2] / "fixtures" / "sakila" / "small"


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program to start, and a user who has no archive yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    program = tmp_path / "home" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.touch()
    return program


def wanted(java: Path) -> JavaArchive:
    """The archive when runs enough were counted."""
    for _ in range(RUNS):
        archive = java_archive(java, "")
        assert archive.options == ""
        archive.count()
    return java_archive(java, "")


def written(java: Path, content: bytes = b"header and classes") -> Path:
    archive = wanted(java)
    assert archive.path is not None
    assert archive.options.endswith(f"-XX:ArchiveClassesAtExit={archive.path}")
    archive.count()
    archive.path.write_bytes(content)
    return archive.path


def test_it_is_made_once_runs_enough_were_counted(java: Path) -> None:
    path = written(java)
    for _ in range(2):
        archive = java_archive(java, "")
        archive.count()
        assert archive.options.endswith(f"-XX:SharedArchiveFile={path}")
    assert java_archive(java, "-Xmx1g").options == ""  # other options, other classes
    java.write_text("another release")
    assert java_archive(java, "").options == ""


def test_a_home_with_a_blank(java: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Spark takes options apart as a shell does, and Java took what was behind the blank for the
    name of a class."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "of \\ 'one\""))
    archive = wanted(java)
    assert shlex.split(archive.options)[-1] == f"-XX:ArchiveClassesAtExit={archive.path}"
    archive.count()
    assert archive.path is not None
    archive.path.write_bytes(b"header and classes")
    used = java_archive(java, "")
    assert shlex.split(used.options)[-1] == f"-XX:SharedArchiveFile={archive.path}"


def test_runs_without_a_job_do_not_count(java: Path) -> None:
    for _ in range(RUNS + 1):
        assert java_archive(java, "").options == ""


def test_what_a_run_without_a_job_made_is_made_anew(java: Path) -> None:
    """It lacks most classes."""
    archive = wanted(java)
    assert archive.path is not None
    archive.path.write_bytes(b"header and classes")
    assert wanted(java).options == archive.options
    assert not archive.path.exists()


def test_two_do_not_make_it_at_the_same_time(java: Path) -> None:
    assert wanted(java).options
    assert java_archive(java, "").options == ""


def test_a_file_without_a_header_is_none_and_is_made_anew_later(java: Path) -> None:
    path = written(java, bytes(100))
    assert wanted(java).options == ""
    hours_ago = time.time() - 2 * 3600
    os.utime(path, (hours_ago, hours_ago))
    assert "ArchiveClassesAtExit" in java_archive(java, "").options


def test_a_file_of_another_size_is_removed(java: Path) -> None:
    path = written(java)
    assert java_archive(java, "").options
    path.write_bytes(b"header")
    assert java_archive(java, "").options == ""
    assert list(path.parent.iterdir()) == []


def test_old_files_of_others_are_removed(java: Path) -> None:
    path = written(java)
    old, used = path.with_name("spark-old.jsa"), path.with_name("spark-used.jsa")
    for other, days in ((old, 91), (used, 1)):
        other.write_bytes(b"header")
        then = path.stat().st_mtime - days * 86_400
        os.utime(other, (then, then))
    java.write_text("another release")
    assert "ArchiveClassesAtExit" in wanted(java).options
    assert {entry.name for entry in path.parent.glob("*.jsa")} == {path.name, used.name}


def test_no_place_for_one(java: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(java))  # a file
    assert java_archive(java, "") == JavaArchive(None)


@pytest.mark.long
def test_a_damaged_file_changes_nothing(tmp_path: Path) -> None:
    """Made by Java after some runs; then damaged in the middle, which Java sees, and replaced by
    what is none. (That one of another size is removed before Java sees it is tried above.)"""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "replay", "redo", "--engine", "spark"]
    command += ["--control", str(SMALL / "small.ctl"), "--data", str(SMALL / "small.dat")]

    def run(name: str) -> list[bytes]:
        out = tmp_path / name
        told = subprocess.run(
            [*command, "--out", str(out)], env=environment, capture_output=True, check=True
        )
        assert b"warning" not in told.stdout + told.stderr
        return [path.read_bytes() for path in sorted(out.glob("*.sql"))]

    expected = run("0")
    for number in range(RUNS):
        assert run(f"more {number}") == expected
    folder = tmp_path / "cache" / "logreplay"
    limit = time.monotonic() + 120
    while not (made := [path for path in folder.glob("*.jsa") if any(path.read_bytes()[:4])]):
        assert time.monotonic() < limit, list(folder.iterdir())
        time.sleep(0.5)
    (path,) = made
    assert run("used") == expected
    assert path.with_suffix(".size").exists()
    content = path.read_bytes()
    path.chmod(0o644)
    middle = len(content) // 2
    for damaged in (
        content[:middle] + bytes(4096) + content[middle + 4096 :],
        b"no archive" * 100,
    ):
        # Removed already where a run saw that its size is another; else the Java of the run before
        # may still have it in memory.
        path.unlink(missing_ok=True)
        path.write_bytes(damaged)
        assert run(f"damaged {len(list(tmp_path.iterdir()))}") == expected
