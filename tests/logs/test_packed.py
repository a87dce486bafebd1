"""A gzip file is looked at while it is unpacked: none that becomes more than a log would is written
to the disk."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from replay.cli.main import main
from replay.errors import InputError
from replay.logs import files


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


def test_a_log_that_packs_well_is_one(tmp_path: Path) -> None:
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(b"abc" * 1_000_000))
    assert len(files.whole(str(path))) == 3_000_000


def packed(folder: Path, *contents: bytes) -> list[str]:
    paths = [folder / f"{number}.gz" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(gzip.compress(content))
    return list(map(str, paths))


def test_several_files_are_unpacked_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are begun before either is done."""
    both, inner = threading.Barrier(2), files.unpacked_blocks

    def met(*given: Any) -> Iterator[bytes]:
        both.wait(60)
        yield from inner(*given)

    monkeypatch.setattr(files, "unpacked_blocks", met)
    contents = [b"first" * 1000, b"second" * 1000]
    found = files.unpacked_together(packed(tmp_path, *contents), str(tmp_path))
    assert [Path(path).read_bytes() for path in found] == contents


def test_the_error_is_that_of_the_first_file_which_has_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever comes first; and those that are being unpacked end."""
    paths = packed(tmp_path, b"good", b"cut off", b"endless", b"cut off, too")
    for path in (paths[1], paths[3]):
        Path(path).write_bytes(Path(path).read_bytes()[:-4])
    inner, begun, ended = files.unpacked_blocks, threading.Event(), threading.Event()

    def endless(path: str, *given: Any) -> Iterator[bytes]:
        if path == paths[1]:
            begun.wait(60)
        if path != paths[2]:
            yield from inner(path, *given)
            return
        begun.set()
        try:
            while True:
                yield b"more"
        finally:
            ended.set()

    monkeypatch.setattr(files, "unpacked_blocks", endless)
    with pytest.raises(InputError, match="LR2006") as caught:
        files.unpacked_together(paths, str(tmp_path))
    assert caught.value.where.file == paths[1]
    assert ended.is_set()
