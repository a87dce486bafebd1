"""Digests of inputs, and of what a file would be if it ended earlier."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import SimpleNamespace

import pytest

from replay import storage
from replay.errors import InputError
from replay.pipeline import input_digests
from replay.pipeline.input_digests import FileDigest, digests_of_starts


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_digests, "WHOLE_BYTES", 50)
    monkeypatch.setattr(input_digests, "RANGE_BYTES", 20)
    monkeypatch.setattr(input_digests, "_BLOCK", 7)
    monkeypatch.setattr(input_digests, "_MAPPED_BLOCK", 7)


def digest(data: bytes) -> FileDigest:
    """The documented digest, from all bytes."""
    if len(data) <= 50:
        return FileDigest(len(data), hashlib.sha256(data).hexdigest())
    parts = [hashlib.sha256(data[at : at + 20]).digest() for at in range(0, len(data), 20)]
    return FileDigest(len(data), hashlib.sha256(b"".join(parts)).hexdigest(), True)


@pytest.mark.parametrize(
    "sizes", [[0], [1], [50], [51], [99], [100], [100, 3, 40, 60, 3], [*range(101)]]
)
@pytest.mark.parametrize("scheme", ["", "file://"])
def test_starts_of_a_file_are_digested_in_one_pass(
    scheme: str, sizes: list[int], tmp_path: Path
) -> None:
    data = bytes(range(100))
    path = tmp_path / "log"
    path.write_bytes(data)
    wanted = [digest(data[:size]) for size in sorted(set(sizes))]
    assert digests_of_starts(f"{scheme}{path}", sizes) == wanted


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_fewer_bytes_are_told_where_fewer_are_there(scheme: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"few")
    assert digests_of_starts(f"{scheme}{path}", [9]) == [digest(b"few")]


def test_a_file_that_is_gone_is_an_error_to_whoever_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"few")
    digests = SimpleNamespace(inputs=lambda: [str(path)])
    monkeypatch.setattr(storage, "size_of", lambda place: path.unlink() or 3)
    with pytest.raises(InputError, match="LR2001.*cannot be read"):
        input_digests.Digests(digests).wait()
