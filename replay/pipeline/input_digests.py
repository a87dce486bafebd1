"""Digests of inputs: what a manifest says a log was, so that anyone can tell whether a file is the
same one.

A file of up to 1 GiB has its SHA-256. A larger one is digested by ranges of 64 MiB, which many can
do side by side: its ``sha256_ranges`` is the SHA-256 of the SHA-256 digests (32 bytes each) of its
ranges, in order. Which of them a file has is a matter of its size alone, never of the engine.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from replay import storage
from replay.errors import InputError
from replay.logs import LogFile
from replay.logs.files import check_unchanged, file_version, mapped

#: Files of more bytes than this are digested by ranges.
WHOLE_BYTES = 1 << 30
#: Bytes of a range; the last one of a file may have fewer.
RANGE_BYTES = 64 << 20
#: Bytes that are digested at a time: of a file that is read, and of one that is mapped, of which
#: nothing is copied that should stay near the processor.
_BLOCK, _MAPPED_BLOCK = 1 << 18, 4 << 20


@dataclass(frozen=True)
class FileDigest:
    """Bytes of a file and its digest (hexadecimal): of the whole file, or by ranges."""

    size: int
    digest: str
    by_ranges: bool = False

    def describe(self) -> dict[str, Any]:
        """As JSON-able data, for manifests."""
        if not self.by_ranges:
            return {"size": self.size, "sha256": self.digest}
        return {"size": self.size, "sha256_ranges": self.digest, "range_bytes": RANGE_BYTES}


def digest_of_ranges(size: int, digests: Iterable[bytes]) -> FileDigest:
    """The digest of a file from those of its ranges, in order."""
    return FileDigest(size, hashlib.sha256(b"".join(digests)).hexdigest(), True)


def digest_of(path: str, abandoned: threading.Event | None = None) -> FileDigest:
    """The digest of a file; of its beginning where ``abandoned`` says to end. Raises OSError,
    InputError LR2001 where the file cannot be read and MemoryError where there is no room to map
    it."""
    size, done, ranges = storage.size_of(path), 0, list[bytes]()
    width = max(size, 1) if size <= WHOLE_BYTES else RANGE_BYTES
    part = hashlib.sha256()
    with _opened(path) as read:
        while done < size and not (abandoned is not None and abandoned.is_set()):
            block = read(done, min(size, done + width - done % width) - done)
            if not len(block):
                break
            part.update(block)
            done += len(block)
            if done % width == 0:
                ranges.append(part.digest())
                part = hashlib.sha256()
    if done % width or not ranges:
        ranges.append(part.digest())
    return (
        digest_of_ranges(done, ranges) if size > WHOLE_BYTES else FileDigest(done, ranges[0].hex())
    )


@contextmanager
def _opened(path: str) -> Iterator[Callable[[int, int], Any]]:
    """What gives the bytes of a file from a place on, so many or fewer, each piece behind the one
    before. Errors as :func:`digest_of`."""
    if storage.is_url(path):
        with storage.opened(path) as file:
            yield lambda _, size: file.read(min(size, _BLOCK))
        return
    # the mapping that is scanned too: each of its pages is asked for once, and none is copied
    buffer = mapped(os.path.abspath(path))
    yield lambda place, size: buffer[place : place + min(size, _MAPPED_BLOCK)]


#: The digests of files that were read, by their names and states, and who may make one: what two
#: ask for is made once.
_MADE: dict[tuple[str, object], FileDigest] = {}
_MAKING = threading.Lock()


def file_digest(path: str, abandoned: threading.Event | None = None) -> FileDigest:
    """:func:`digest_of`, or that of an earlier call where the file is as it was then."""
    with _MAKING:
        named = path, file_version(path)
        if named in _MADE:
            return _MADE[named]
        made = digest_of(path, abandoned)
        if abandoned is None or not abandoned.is_set():
            _MADE[named] = made
        return made


class Digests:
    """Digests of the inputs of a log, computed in a thread while the engine runs (hashing releases
    the interpreter lock). ``known``: those that tasks made already, by input."""

    def __init__(self, log: LogFile, known: Mapping[str, FileDigest] | None = None) -> None:
        self.log = log
        self.known = known or {}
        self._abandoned = threading.Event()
        self._inputs: Future[list[dict[str, Any]]] = Future()
        threading.Thread(target=self._run, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.abandon()

    def _run(self) -> None:
        try:
            self._inputs.set_result(self._digested())
        except (OSError, InputError, MemoryError) as error:
            self._inputs.set_exception(error)

    def _digested(self) -> list[dict[str, Any]]:
        return [
            {
                "name": storage.name_of(path),
                **(self.known.get(path) or self._digest(path)).describe(),
            }
            for path in self.log.inputs()
        ]

    def _digest(self, path: str) -> FileDigest:
        return file_digest(path, self._abandoned)

    def wait(self) -> list[dict[str, Any]]:
        """Name, size and digest of each input; raises what reading them raised, and InputError
        LR2001 where one is another one than when the log was opened."""
        inputs = self._inputs.result()
        check_unchanged(self.log)
        return inputs

    def abandon(self) -> None:
        """End: nobody will ask."""
        self._abandoned.set()
