"""What is published outlives a loss of power: it is on the disk before it has its name."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.output import run_plan
from replay.storage import durable
from replay.storage.durable import write_file
from tests.support.logbuilder import ACCT, LogBuilder, acct


class Disk:
    """A disk that keeps what was synced: (file, size, time of the last change)."""

    def __init__(self) -> None:
        self.synced: set[tuple[int, int, int]] = set()
        self.published: list[str] = []
        self.torn: list[str] = []
        self.folders_after: set[str] = set()

    def fsync(self, handle: int) -> None:
        status = os.fstat(handle)
        self.synced.add((status.st_ino, status.st_size, status.st_mtime_ns))
        self.folders_after.add(os.readlink(f"/proc/self/fd/{handle}"))

    def look(self, path: Path) -> None:
        """A path is about to get a name that others see."""
        files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
        for file in files:
            status = file.stat()
            if (status.st_ino, status.st_size, status.st_mtime_ns) not in self.synced:
                self.torn.append(str(file))

    def folder_synced(self, path: Path) -> bool:
        return str(path.resolve()) in self.folders_after


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    seen, rename = Disk(), Path.rename

    def renamed(path: Path, target: Path) -> Path:
        hidden = any(part.startswith(".") for part in target.parts)
        if not hidden:
            seen.look(path)
            seen.published.append(target.name)
            seen.folders_after.clear()
        return rename(path, target)

    monkeypatch.setattr(os, "fsync", seen.fsync)
    monkeypatch.setattr(Path, "rename", renamed)
    yield seen
    assert seen.published
    assert not seen.torn


@pytest.fixture
def log(tmp_path: Path) -> list[str]:
    builder = LogBuilder()
    for key in range(3):
        builder.unit().insert(ACCT, acct(key))
    control, data = builder.write(tmp_path)
    named = ["--control", str(control), "--data", *map(str, data)]
    return [*named, "--schema", "none", "--engine", "local"]


@pytest.mark.parametrize(
    "words",
    [
        ["redo"],
        ["export", "--format", "jsonl"],
        ["export", "--format", "parquet", "--grow"],
        ["extract"],
    ],
    ids=" ".join,
)
def test_what_is_published_is_on_the_disk_first(
    words: list[str], log: list[str], tmp_path: Path, disk: Disk
) -> None:
    named = log if words[0] != "extract" else [*log[:4], "--engine", "local"]
    out = tmp_path / "out"
    assert main([*words, *named, "--out", str(out)]) == 0
    assert disk.folder_synced(out if "--grow" in words else tmp_path)


def test_the_disk_begins_with_what_is_whole(
    log: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    begin = durable.begin_to_sync

    def beginning(path: Path) -> None:
        begin(path)
        begun.append(path.name)
        assert path.stat().st_size

    monkeypatch.setattr(run_plan, "begin_to_sync", beginning)
    out = tmp_path / "out"
    assert main(["redo", *log, "--records-per-file", "1", "--out", str(out)]) == 0
    assert sorted(begun) == sorted(path.name for path in out.glob("*.sql"))
    assert len(begun) > 1
    begun.clear()
    assert main(["export", *log, "--format", "jsonl", "--out", str(tmp_path / "rows")]) == 0
    assert begun


def test_what_the_system_cannot_begin_with_is_left_for_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    durable.begin_to_sync(tmp_path / "none")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    whole = tmp_path / "whole"
    whole.write_text("text", encoding="utf-8")
    durable.begin_to_sync(whole)


def test_a_bundle_that_takes_the_place_of_another(
    log: list[str], tmp_path: Path, disk: Disk
) -> None:
    words = ["redo", *log, "--out", str(tmp_path / "out")]
    assert main(words) == 0
    assert main([*words, "--overwrite"]) == 0


def test_one_file(tmp_path: Path, disk: Disk) -> None:
    write_file(tmp_path / "page.html", "text")
    assert disk.folder_synced(tmp_path)


def test_a_disk_that_takes_no_more(
    log: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", full)
    out = tmp_path / "out"
    assert main(["redo", *log, "--out", str(out)]) == 12
    assert "Input/output error" in capsys.readouterr().err
    assert not out.exists()


def failing(code: int) -> Callable[[int], None]:
    def fsync(handle: int) -> None:
        raise OSError(code, os.strerror(code))

    return fsync


def test_a_file_system_that_cannot_sync_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", failing(errno.EINVAL))
    durable.sync_folders([tmp_path])
    monkeypatch.setattr(os, "fsync", failing(errno.ENOSPC))
    with pytest.raises(OSError, match="No space"):
        durable.sync_folders([tmp_path])
