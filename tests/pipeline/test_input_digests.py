"""Digests of inputs, and of what a file would be if it ended earlier."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from replay.pipeline import input_digests
from replay.pipeline.input_digests import FileDigest, digests_of_starts


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_digests, "WHOLE_BYTES", 50)
    monkeypatch.setattr(input_digests, "RANGE_BYTES", 20)
    monkeypatch.setattr(input_digests, "_BLOCK", 7)


def digest(data: bytes) -> FileDigest:
    """The documented digest, from all bytes."""
    if len(data) <= 50:
        return FileDigest(len(data), hashlib.sha256(data).hexdigest())
    parts = [hashlib.sha256(data[at : at + 20]).digest() for at in range(0, len(data), 20)]
    return FileDigest(len(data), hashlib.sha256(b"".join(parts)).hexdigest(), True)


@pytest.mark.parametrize(
    "sizes", [[0], [1], [50], [51], [99], [100], [100, 3, 40, 60, 3], [*range(101)]]
)
def test_starts_of_a_file_are_digested_in_one_pass(sizes: list[int], tmp_path: Path) -> None:
    data = bytes(range(100))
    path = tmp_path / "log"
    path.write_bytes(data)
    wanted = [digest(data[:size]) for size in sorted(set(sizes))]
    assert digests_of_starts(str(path), sizes) == wanted
