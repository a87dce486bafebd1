"""Names that outlive a loss of power: what a name stands for is on the disk before the name is, and
is there whole or not at all.

A rename alone is atomic for other programs, and not for a machine that goes down: the new name may
be on the disk then, and what it names may not. So whatever is published is synced first, and the
folder that has the new name afterwards. The disk begins with a file as soon as it is whole, so that
little is left to wait for in the end."""

from __future__ import annotations

import ctypes
import errno
import os
import re
import shutil
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from replay.errors import UsageError
from replay.storage import REQUESTS, Place, StoredPath, put

#: What file systems say that cannot sync a folder.
_CANNOT = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EBADF)

#: SYNC_FILE_RANGE_WRITE of sync_file_range(2).
_WRITE = 2


def begin_to_sync(path: Path) -> None:
    """Have the disk begin to take a file that is whole, and wait for nothing: where the system
    cannot do that, or the disk fails, syncing it later does the work, or says what is wrong."""
    with suppress(OSError, AttributeError):
        write_out = ctypes.CDLL(None).sync_file_range
        handle = os.open(path, os.O_RDONLY)
        try:
            write_out(handle, ctypes.c_int64(0), ctypes.c_int64(0), _WRITE)
        finally:
            os.close(handle)


def rename_durably(work: Path, place: Path) -> None:
    """Give a file, or a folder with all that is in it, its name for good. Raises OSError, and
    nothing has the new name where that is not of the last step."""
    sync_tree(work)
    work.rename(place)
    sync_folders([place.parent])


def write_file(path: Place, content: str | bytes) -> None:
    """Write one file whole or not at all; one that it replaces hands on its rights. UsageError
    (LR1002) for what is no regular file."""
    raw = content.encode() if isinstance(content, str) else content
    if isinstance(path, StoredPath):
        put(raw, path)
        return
    refuse_url_as_path(path)
    refuse_special(path)
    work = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        work.write_bytes(raw)
        if path.exists():
            shutil.copymode(path, work)
        rename_durably(work, path)
    except BaseException:
        work.unlink(missing_ok=True)
        raise


def refuse_special(path: Path) -> None:
    """UsageError (LR1002) for a name that is there and no regular file's: a file in place of a
    device or a pipe would take it away from everybody."""
    if not path.exists() or path.is_file():
        return
    what = "a folder" if path.is_dir() else "a device, pipe or socket"
    raise UsageError(
        "LR1002",
        f"{path} is {what}; expected a file",
        hint="" if path.is_dir() else "--out - prints it, to be redirected",
    )


def refuse_url_as_path(path: Path) -> None:
    """UsageError (LR1002) for a path made of a URL: of ``s3a://bucket/name`` it would be a folder
    ``s3a:`` here."""
    scheme = path.parts[0] if path.parts else ""
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]+:", scheme):
        raise UsageError(
            "LR1002",
            f"{path} is a URL ({scheme}//…); expected a folder or file of this machine",
            hint="Is the scheme right? In Python, give URLs as text: a pathlib.Path drops a slash",
        )


def sync_tree(path: Path) -> None:
    """Bring a file, or a folder with all that is in it, to the disk. Raises OSError, with the name
    of the file."""
    if not path.is_dir():
        _sync(path)
        return
    folders: list[Path] = []
    files: list[Path] = []
    for root, _, names in os.walk(path, topdown=False):
        folders.append(Path(root))
        files += [Path(root, name) for name in names]
    with ThreadPoolExecutor(min(REQUESTS, len(files) or 1)) as pool:
        list(pool.map(_sync, files))
    sync_folders(folders)


def sync_folders(folders: Iterable[Path]) -> None:
    """Bring the names in some folders to the disk, where the file system can. Raises OSError."""
    for folder in folders:
        try:
            _sync(folder)
        except OSError as error:
            if error.errno not in _CANNOT:
                raise


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        error.filename = str(path)
        raise
    finally:
        os.close(handle)
