"""This package as an archive, for executors on which it is not installed, or in another version."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

from replay.version import __version__

#: The packages that tasks import, and what of them is no part of a program.
_PACKAGES = ("sqlgen", "replay")
_LEFT_OUT = frozenset({"__pycache__", "bundled", "docs"})
#: The time of every entry: equal programs are equal archives.
_TIME = (1980, 1, 1, 0, 0, 0)


def write_archive(folder: Path) -> Path:
    """Write the archive into a folder. Its name has the version and a digest of the program, so
    that executors of a long-lived cluster never take one for another."""
    root = Path(__file__).resolve().parents[2]
    files = sorted(
        path
        for package in _PACKAGES
        for path in (root / package).rglob("*")
        if path.is_file() and not _LEFT_OUT & set(path.relative_to(root).parts)
    )
    digest = hashlib.sha256()
    found = {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
    # in an archive, only what says so is a package
    packages = {name.rpartition("/")[0] for name in found if name.endswith(".py")}
    contents = sorted(({f"{package}/__init__.py": b"" for package in packages} | found).items())
    for name, content in contents:
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
    archive = folder / f"logreplay-{__version__}-{digest.hexdigest()[:16]}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in contents:
            packed.writestr(zipfile.ZipInfo(name, _TIME), content, zipfile.ZIP_DEFLATED)
    return archive
