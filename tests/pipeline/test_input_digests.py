"""Digests of inputs."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import SimpleNamespace

import pytest

from replay import storage
from replay.errors import InputError
from replay.pipeline import input_digests
from replay.pipeline.input_digests import FileDigest, digest_of


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


@pytest.mark.parametrize("size", [0, 1, 49, 50, 51, 60, 99, 100])
@pytest.mark.parametrize("scheme", ["", "file://"])
def test_the_digest_is_as_documented(scheme: str, size: int, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(bytes(range(size)))
    assert digest_of(f"{scheme}{path}") == digest(bytes(range(size)))


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_fewer_bytes_are_told_where_fewer_are_there(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"few")
    monkeypatch.setattr(storage, "size_of", lambda _: 9)
    assert digest_of(f"{scheme}{path}") == digest(b"few")


def test_a_file_that_is_gone_is_an_error_to_whoever_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"few")
    digests = SimpleNamespace(inputs=lambda: [str(path)])
    monkeypatch.setattr(storage, "size_of", lambda place: path.unlink() or 3)
    with pytest.raises(InputError, match="LR2001.*cannot be read"):
        input_digests.Digests(digests).wait()
