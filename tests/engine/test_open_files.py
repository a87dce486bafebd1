"""A run needs few open files, however many it writes."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any, cast

import pytest

from replay.engine import local


def test_files_are_not_opened_for_each_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks wait, in bounded memory, and lie in their files as they came."""
    monkeypatch.setattr(local, "WAITING", 4000)
    opened: list[str] = []
    really = Path.open

    def noting(path: Path, *given: Any, **named: Any) -> IO[Any]:
        opened.append(path.name)
        return cast(IO[Any], really(path, *given, **named))

    monkeypatch.setattr(Path, "open", noting)
    blocks = {bucket: [b"%d %d " % (bucket, k) * 5 for k in range(50)] for bucket in range(20)}
    files = local._BucketFiles(tmp_path / "buckets")
    for number in range(50):
        for bucket in blocks:
            files.append(bucket, blocks[bucket][number])
            assert files._size <= 4000
    size = sum(len(block) for those in blocks.values() for block in those)
    buckets = files.buckets()
    assert len(opened) <= 20 * (size // 4000 + 1)
    assert len(opened) < 200  # of 1,000 blocks
    assert {bucket: list(files.taken(bucket)) for bucket in buckets} == blocks
