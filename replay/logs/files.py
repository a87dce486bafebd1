"""Files of bytes that a log lies in: mapped into memory, unpacked once where they are packed (of
files in a store the ranges are read that somebody asks for); whether they are still those that were
there when the log was opened; and whether a log is one that was read before.

A local file is mapped, by this process and by tasks, each time that something of it is read. One
that somebody writes, or puts another one in place of, meanwhile would be read as two halves of two
logs, each of them sound. (Objects in stores are read by their version.)
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import socket
import threading
import zlib
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar, cast, runtime_checkable

import numpy as np
import numpy.typing as npt

from replay import storage
from replay.arrays import Bytes
from replay.errors import InputError, Where
from replay.machine import is_full, room_for
from replay.storage import readable
from sqlgen.lazy_imports import when_used

with when_used():  # for files in a store
    from replay.storage import ranges

_REACH = (
    "Every machine that runs tasks must find the log, and what was unpacked of it (--work), under"
    " the same path"
)
_GZIP = b"\x1f\x8b"
#: Logs are packed to a tenth, or a fiftieth; what grows more than this, beyond so much, is no log.
_MOST_TIMES, _UNSUSPICIOUS = 250, 64 << 20
#: A file that is read as a whole has less than this, unpacked.
_SMALL = 1 << 30
_BLOCK = 1 << 20


Result = TypeVar("Result")

#: Where files that opening a log made elsewhere are found on this machine, by their paths there.
ELSEWHERE: dict[str, str] = {}


def here(path: str) -> str:
    """Where a file is found on this machine."""
    return ELSEWHERE.get(path, path)


def mapped(
    path: str,
    start: npt.NDArray[Any] | int | None = None,
    stop: npt.NDArray[Any] | int | None = None,
) -> Bytes:
    """The bytes of a file, mapped. Of one in a store (:func:`unpacked` gives its path) nothing but
    the ranges ``start:stop`` is there, each a number or ``int64[n]``; without them all of it.
    InputError LR2001 where it cannot be read, MemoryError where there is no room to map it."""
    try:
        if storage.is_url(path):
            stored = ranges.ranges(path)
            return stored.filled(
                np.atleast_1d(0 if start is None else start),
                np.atleast_1d(stored.size if stop is None else stop),
            )
        path = here(path)
        status = os.stat(path)
        return _mapped(path, status.st_size, status.st_mtime_ns)
    except OSError as error:
        if error.errno == errno.ENOMEM:
            raise MemoryError(error.strerror) from None
        if is_full(error):
            raise
        message = f"the file cannot be read on {socket.gethostname()}: {error.strerror or error}"
        where = Where(storage.unversioned(path))
        raise InputError("LR2001", message, where, _REACH) from None


def size_of(path: str) -> int:
    """Bytes of a file that :func:`mapped` reads; errors as there."""
    none = np.zeros(0, np.int64)
    return len(mapped(path, none, none))


@lru_cache(maxsize=256)
def _mapped(path: str, size: int, changed_ns: int) -> Bytes:
    """The mapped bytes; ``changed_ns`` makes a file that was written again another one."""
    # a plain array over the mapping: every slice of a memmap object would be one too, which costs
    # far more than the slice
    return np.asarray(np.memmap(path, np.uint8, "r")) if size else np.zeros(0, np.uint8)


class FilesOfBytes:
    """What logs of files of bytes have in common. Of each of their ``files`` ``name`` is what the
    user gave, ``path`` where its (unpacked) bytes are. InputError LR2001 where it cannot be
    read."""

    files: Sequence[Any]

    def buffer(
        self,
        file: int,
        start: npt.NDArray[Any] | int | None = None,
        stop: npt.NDArray[Any] | int | None = None,
    ) -> Bytes:
        """The bytes of a data file, mapped; of one in a store, the ranges ``start:stop`` are there
        (None: all of it)."""
        return mapped(self.files[file].path, start, stop)

    def size(self, file: int) -> int:
        """Bytes of a data file."""
        return size_of(self.files[file].path)

    def unpacked_files(self) -> list[str]:
        """The files of this machine that were made by unpacking."""
        return [
            file.path
            for file in self.files
            if not storage.is_url(file.path) and file.path != os.path.abspath(file.name)
        ]


def head(path: str, size: int = 64) -> bytes:
    """The first bytes of a file. InputError LR2001 where it cannot be read."""
    with readable(path), storage.opened(path) as file:
        return file.read(size)


def unpacked_head(path: str, size: int = 64) -> bytes:
    """The first bytes of a file, unpacked. InputError LR2001 where it cannot be read, OSError or
    EOFError where it cannot be unpacked."""
    first = head(path, max(size, len(_GZIP)))
    if not first.startswith(_GZIP):
        return first[:size]
    with storage.opened(path) as raw, gzip.open(cast(IO[bytes], raw), "rb") as file:
        return file.read(size)


class _EndedError(Exception):
    """Another file cannot be unpacked, or the run was interrupted."""


def unpacked_together(paths: Sequence[str], scratch: str | None) -> list[str]:
    """:func:`unpacked` for the files of a log, which are unpacked side by side. Errors as there, of
    the first file in this order that has any."""
    if len(paths) < 2:
        return [unpacked(path, scratch, number) for number, path in enumerate(paths)]
    ended = threading.Event()
    with ThreadPoolExecutor(thread_name_prefix="unpack") as pool:
        running = [
            pool.submit(unpacked, path, scratch, number, ended) for number, path in enumerate(paths)
        ]
        try:
            # an error of a later file waits for those before it, which may have one too
            return [future.result() for future in running]
        finally:
            ended.set()
            for future in running:
                future.cancel()


def unpacked(
    path: str,
    scratch: str | None,
    number: int,
    ended: threading.Event | None = None,
) -> str:
    """Where the uncompressed bytes are, for :func:`mapped`, and for tasks run in other folders: the
    absolute path, or the URL with its version. A ``.gz`` file, the ``number``-th of a log, is
    unpacked into the folder ``scratch`` once, because images are gathered by position.
    ``ended``: that nobody waits for it any more.

    InputError LR2001 where it cannot be read or there is no folder, LR2006 where it is damaged.
    """
    if head(path, len(_GZIP)) != _GZIP:
        return _place(path)
    if scratch is None:
        raise InputError(
            "LR2001",
            "found a gzip file and no folder to unpack it to; expected one",
            Where(path),
            "Unpack it first",
        )
    name = f"{number:03d}-{storage.name_of(path).removesuffix('.gz')}"
    try:
        with closing(unpacked_blocks(path)) as blocks:
            target = Path(scratch) / name
            with room_for(target), target.open("wb") as plain:
                for block in blocks:
                    if ended is not None and ended.is_set():
                        raise _EndedError
                    plain.write(block)
    except (OSError, EOFError, zlib.error) as error:
        if is_full(error):
            raise
        raise InputError(
            "LR2006",
            f"the gzip file cannot be unpacked: {error}",
            Where(path),
            "The file is damaged or cut off: transfer it again",
        ) from None
    return str(target.absolute())


def in_place(path: str, given: str) -> bool:
    """Whether ``path``, which :func:`unpacked` gave, is the very file that the user gave."""
    return storage.unversioned(path) in (given, os.path.abspath(given))


def _place(path: str) -> str:
    if not storage.is_url(path):
        return os.path.abspath(path)
    with readable(path):
        return ranges.versioned(path)


def unpacked_blocks(
    path: str, most: int | None = None, what: str = ""
) -> Generator[bytes, None, None]:
    """The blocks of a gzip file, unpacked. InputError LR2001 as soon as they are more than ``most``
    bytes (``what``: which), or more than any log would become; OSError, EOFError and zlib.error
    where it is damaged or cannot be read."""
    done, largest = 0, max(_UNSUSPICIOUS, storage.size_of(path) * _MOST_TIMES)
    with (
        storage.opened(path, whole=True) as raw,
        gzip.open(cast(IO[bytes], raw), "rb") as file,
    ):
        while block := file.read(_BLOCK):
            done += len(block)
            over = most is not None and done > most
            if over or done > largest:
                raise _too_large(
                    path, f"the {most:,} {what}" if over else f"{_MOST_TIMES} times its size"
                )
            yield block


def _too_large(path: str, limit: str) -> InputError:
    message = (
        f"found a gzip file of {storage.size_of(path):,} bytes that unpacks to more than {limit};"
        " expected a log"
    )
    return InputError("LR2001", message, Where(path), "Where it is one, unpack it first")


def whole(path: str) -> bytes:
    """All bytes of a small file, unpacked. InputError LR2001 where it cannot be read."""
    with readable(path):
        if head(path, len(_GZIP)) == _GZIP:
            with closing(unpacked_blocks(path, _SMALL, "bytes of a small file")) as blocks:
                return b"".join(blocks)
        with storage.opened(path, whole=True) as file:
            return file.read()


# -- whether files are those that were opened
# -------------------------------------------------------------------------------------------------

#: Bytes of a file, and when it was last written (nanoseconds since 1970); None where it is not
#: there.
FileState = tuple[int, int] | None


@runtime_checkable
class KnowsFiles(Protocol):
    """A log that knows in which state its files were when it was opened. Raises no error."""

    #: Their states, by their paths; of local files alone.
    as_found: Mapping[str, FileState]


def states_of(paths: Iterable[str]) -> dict[str, FileState]:
    """In which state local files are; URLs are left out. Raises no error."""
    return {path: _state_of(path) for path in paths if not storage.is_url(path)}


def check_unchanged(log: object) -> None:
    """InputError LR2001 where a file of the log is in another state than when it was opened."""
    found = log.as_found if isinstance(log, KnowsFiles) else {}
    for path, before in found.items():
        now = _state_of(path)
        if now != before:
            raise InputError(
                "LR2001",
                f"found {_in_words(now)}; expected {_in_words(before)}, as it was when the log was"
                " opened",
                Where(path),
                "It was written while it was read. Run again with a copy that nobody writes",
            )


@contextmanager
def seen_unchanged(log: object) -> Iterator[None]:
    """:func:`check_unchanged` after something was read, or could not be: of a log that is written
    meanwhile results are of two, and what is wrong is of none."""
    try:
        yield
    except Exception:
        check_unchanged(log)
        raise
    check_unchanged(log)


def _state_of(path: str) -> FileState:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def _in_words(state: FileState) -> str:
    if state is None:
        return "no such file"
    size, written = state
    at = datetime.fromtimestamp(written / 1e9, UTC)
    return f"{size:,} bytes written at {at:%Y-%m-%d %H:%M:%S.%f} UTC"


def file_version(path: str) -> object:
    """What tells a file from others of its name. Raises OSError."""
    return storage.version_of(path) if storage.is_url(path) else _state_of(path)


# -- by what logs are known
# -------------------------------------------------------------------------------------------------

#: Hexadecimal digits of a digest that logs are known by.
DIGITS = 16
_READ = 1 << 20


def control_name(place: str, size: int | None, state: FileState = None) -> str:
    """How the names of logs begin that have a control file: with its digest, and how many bytes of
    data there are (None: not known). The digest of these comes behind it, for one-time scans may
    have equal control files. ``state``: that of the file, where it is known. Raises OSError."""
    digest = _digest(place, state or file_version(place))
    return digest if size is None else f"{digest}-{size}"


@lru_cache(maxsize=1 << 14)
def _digest(place: str, version: object) -> str:
    digest = hashlib.sha256()
    with storage.opened(place) as file:
        while block := file.read(_READ):
            digest.update(block)
    return digest.hexdigest()[:DIGITS]


def control_names(logs: Iterable[str]) -> Counter[str]:
    """How many of some logs have a name that begins so (:func:`control_name`)."""
    parts = (name.split("-") for name in logs)
    return Counter(begin for one in parts for begin in {one[0], "-".join(one[:2])})
