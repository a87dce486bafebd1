"""Names that outlive a loss of power: what a name stands for is on the disk before the name is.

A rename alone is atomic for other programs, and not for a machine that goes down: the new name may
be on the disk then, and what it names may not. So whatever is published is synced first, and the
folder that has the new name afterwards. The disk begins with a file as soon as it is whole, so that
little is left to wait for in the end."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

#: Files that are synced side by side: disks take many at once, and one after the other slowly.
_AT_ONCE = 16
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
    with ThreadPoolExecutor(min(_AT_ONCE, len(files) or 1)) as pool:
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
