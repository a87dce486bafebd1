"""A gzip file is looked at while it is unpacked: none that becomes more than a log would, or than
there is room for, is written to the disk."""

from __future__ import annotations

import gzip
import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.errors import InputError
from replay.logs import files
from replay.logs.soliddb.export import _longest_line


@pytest.fixture
def bomb(tmp_path: Path) -> Path:
    """Two million zeros in two thousand bytes."""
    path = tmp_path / "bomb.dat.gz"
    path.write_bytes(gzip.compress(bytes(2 << 20)))
    return path


def test_a_file_that_grows_too_much(
    bomb: Path, tmp_path: Path, sakila_small: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(files, "_UNSUSPICIOUS", 1 << 20)
    log = ["--control", str(sakila_small / "small.ctl"), "--data", str(bomb)]
    assert main(["redo", *log, "--engine", "local", "--out", str(tmp_path / "out")]) == 12
    told = capsys.readouterr().err
    assert "LR2001" in told
    assert "unpacks to more than 250 times its size" in told
    with pytest.raises(InputError, match="250 times"):
        files.whole(str(bomb))


def test_a_file_that_there_is_no_room_for(
    bomb: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(9, 9, 1 << 20))
    with pytest.raises(InputError, match=r"more than the 1,048,576 that are free in"):
        files.unpacked(str(bomb), str(tmp_path), 0)


def test_a_log_that_packs_well_is_one(tmp_path: Path) -> None:
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(b"abc" * 1_000_000))
    assert len(files.whole(str(path))) == 3_000_000


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_the_longest_line_of_blocks(size: int) -> None:
    text = b"ab\n\nabcdefg\nx"
    blocks = [text[start : start + size] for start in range(0, len(text), size)]
    assert _longest_line(blocks) == 8
