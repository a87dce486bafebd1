"""Folders that only this run uses, and that the next one removes where this one is killed: by a
lock that ends with the process, not by age.

The lock is on the folder itself (``flock``); the name tells on which machine that counts.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import socket
import tempfile
import weakref
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO

_MARK = "logreplay-"
#: After how many days without use a file of the user's cache goes, when another one is made.
UNUSED_DAYS = 90
#: How often a folder is removed in which others still make files.
_REMOVALS = 100
#: What the name of a folder has in it where something lies while another takes its place.
ASIDE = "-old-"


class WorkFolder:
    """A folder for a while, at most for as long as this process lives: of a name that begins with
    ``prefix``, in ``parent`` (None: where temporary files lie). What killed runs of the same user
    left there is removed. ``name`` is its path."""

    def __init__(self, prefix: str = "", parent: Path | None = None) -> None:
        place = Path(tempfile.gettempdir()) if parent is None else parent
        remove_leftovers(place)
        while True:
            self.name = tempfile.mkdtemp(prefix=f"{prefix}{_mark()}-", dir=place)
            lock = _locked(Path(self.name))
            if lock is not None:
                self._end = weakref.finalize(self, _remove, self.name, lock)
                return

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *_: object) -> None:
        self.cleanup()

    def cleanup(self) -> None:
        """Remove the folder where it still is under its name; may be called again."""
        self._end()


#: Folders that nobody else holds.
_LASTING: list[WorkFolder] = []


def lasting_folder(parent: Path | None = None) -> Path:
    """A :class:`WorkFolder` in ``parent`` for as long as this process lives."""
    _LASTING.append(WorkFolder(parent=parent))
    return Path(_LASTING[-1].name)


def outside(path: Path) -> Path:
    """Where the outermost folder of ours lies in which a file is; of other files their folder."""
    ours = [folder for folder in path.parents if _mark() in folder.name]
    return (ours[-1] if ours else path).parent


def user_cache() -> Path:
    """Where such files are kept, which need not be there yet. Raises RuntimeError where the user
    has no home."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "logreplay"


def remove_unused(paths: Iterable[Path], now: float) -> None:
    """Remove files that nobody used for :data:`UNUSED_DAYS` before ``now`` (seconds, as times of
    files have them)."""
    for path in paths:
        with suppress(OSError):  # another process was faster
            if path.stat().st_mtime < now - UNUSED_DAYS * 86_400:
                path.unlink()


def scratch_file() -> IO[bytes]:
    """A file without a name where temporary files lie, which goes with the process. Raises
    OSError."""
    return tempfile.TemporaryFile()


def remove_tree(folder: Path) -> None:
    """Remove a folder in which others may still make files: once it is gone, none can. Raises
    OSError where it cannot be removed."""
    for _ in range(_REMOVALS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
    shutil.rmtree(folder)


def _remove(name: str, lock: int) -> None:
    with suppress(OSError):
        remove_tree(Path(name))
    if lock >= 0:
        os.close(lock)


def remove_leftovers(place: Path) -> None:
    """Remove folders of ours in ``place`` whose run, of this user and on this machine, is no
    more."""
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if _mark() not in entry.name:
                continue
            aside = re.match(rf"\.(.+){ASIDE}{_mark()}", entry.name)
            if aside and not (place / aside[1]).exists():
                continue  # the only copy of what was to be replaced
            if entry.is_dir(follow_symlinks=False):
                _remove_left(Path(entry.path))


def _remove_left(folder: Path) -> None:
    with suppress(OSError):
        if folder.stat().st_uid != os.geteuid():
            return
        lock = _locked(folder)
        if lock is not None and lock >= 0:
            _remove(str(folder), lock)


def _locked(folder: Path) -> int | None:
    """A descriptor that holds the folder's lock; negative where none can be locked, None where
    somebody else has it or the folder is no more."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock), folder.stat()):
            return lock
    except BlockingIOError:
        pass
    except FileNotFoundError:
        pass
    except OSError:
        os.close(lock)
        return -1
    os.close(lock)
    return None


@cache
def _mark() -> str:
    """What the names of our folders on this machine have in them."""
    try:
        machine = Path("/etc/machine-id").read_text(encoding="ascii")
    except (OSError, UnicodeError):
        machine = ""
    digest = hashlib.sha256(f"{machine.strip()} {socket.gethostname()}".encode())
    return f"{_MARK}{digest.hexdigest()[:8]}"
