"""What a command writes, by name: on this machine, or in the store in memory."""

from __future__ import annotations

import hashlib
from pathlib import Path

import fsspec

from replay.cli.main import main


def written(out: Path, *arguments: str) -> dict[str, str]:
    assert main([*arguments, "--engine", "local", "--out", str(out)]) in (0, 4)
    return {
        str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(out.rglob("*"))
        if path.is_file()
    }


def stored(url: str, *arguments: str) -> dict[str, str]:
    """The same of a folder of the store, whatever lies in it."""
    assert main([*arguments, "--engine", "local", "--out", url]) in (0, 4)
    return objects(url)


def objects(url: str) -> dict[str, str]:
    """The digests of what is in a folder of the store."""
    store, root = fsspec.filesystem("memory"), "/" + url.partition("://")[2]
    return {
        path.removeprefix(f"{root}/"): hashlib.sha256(store.cat(path)).hexdigest()
        for path in store.find(root)
    }
