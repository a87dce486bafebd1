"""A store in memory (fsspec's), and what a command writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import fsspec
import pytest

Upload = Callable[[Path], str]


@pytest.fixture
def upload(tmp_path: Path) -> Iterator[Upload]:
    """Puts a file or folder into the store, and gives its URL."""
    store, root = fsspec.filesystem("memory"), f"/{tmp_path.name}"

    def put(path: Path) -> str:
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.is_file():
                store.pipe(f"{root}/{file.relative_to(path.parent)}", file.read_bytes())
        return f"memory:/{root}/{path.name}"

    yield put
    if store.exists(root):
        store.rm(root, recursive=True)
