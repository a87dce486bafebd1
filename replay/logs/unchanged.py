"""Whether the files of an open log are still those that were there when it was opened, and whether
a log is one that was read before.

A local file is mapped, by this process and by tasks, each time that something of it is read. One
that somebody writes, or puts another one in place of, meanwhile would be read as two halves of two
logs, each of them sound. (Objects in stores are read by their version.)
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from typing import Protocol, runtime_checkable

from replay import storage
from replay.errors import InputError, Where

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
