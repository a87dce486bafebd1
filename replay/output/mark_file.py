"""Adding a mark to the file of marks of a log, and taking one back, so that nobody's mark is lost:
behind a lock in a file, as an object of its own in a store."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from replay import storage
from replay.errors import UsageError, Where
from replay.logs.marks import (
    ADDED,
    Mark,
    check_mark_name,
    named_mark,
    read_marks,
    read_parts,
)
from replay.storage import Place, StoredPath
from replay.storage.durable import write_file


def add_mark(place: Place, mark: Mark) -> None:
    """Write a mark behind those that are there. UsageError (LR1001) for its name, LR1002 for a
    place that is a folder; InputError (LR2040) where what is there is no file of marks: nothing is
    added to it then. Raises OSError."""
    check_mark_name(mark.name)
    if place.is_dir():
        raise UsageError("LR1002", "found a folder; expected a file of marks", Where(str(place)))
    if isinstance(place, StoredPath):
        read_marks(place)
        folder = place.parent / f"{place.name}{ADDED}"
        moment = "".join(letter for letter in mark.made if letter.isalnum())
        storage.put(mark.line().encode(), folder / f"{moment}-{os.urandom(8).hex()}.jsonl")
        return
    with _locked(place, "ab") as file:
        read_marks(place)
        file.write(mark.line().encode())
        os.fsync(file.fileno())


def remove_mark(place: Place, words: str) -> Mark:
    """Take back the mark that ``NAME``, ``NAME(-1)`` … means; the mark. Those of that name that are
    older are nearer then. UsageError (LR1004) where it is not there; InputError as
    :func:`replay.logs.marks.read_marks`. Raises OSError."""
    if isinstance(place, StoredPath):
        return _remove_stored(place, words)
    if not place.is_file():
        return read_marks(place)[named_mark([], words, place)]
    with _locked(place, "rb"):
        known = read_marks(place)
        mark = known.pop(named_mark(known, words, place))
        write_file(place, "".join(one.line() for one in known))
    return mark


def _remove_stored(place: StoredPath, words: str) -> Mark:
    """Remove the object of a mark, or write the one that has it together with others anew."""
    parts = read_parts(place)
    owners = [(part, number) for part, marks in parts for number in range(len(marks))]
    known = [mark for _, marks in parts for mark in marks]
    chosen = named_mark(known, words, place)
    part, number = owners[chosen]
    left = [mark for one, marks in parts if one == part for mark in marks]
    del left[number]
    if left:
        part.write_text("".join(mark.line() for mark in left))
    else:
        part.unlink()
    return known[chosen]


@contextmanager
def _locked(place: Path, mode: str) -> Iterator[IO[bytes]]:
    """A file behind its lock, and still the one of that name: whoever takes a mark back puts
    another file in its place. Without a buffer, so a reader sees a line whole or not at all."""
    while True:
        with place.open(mode, buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if place.exists() and os.path.samestat(os.fstat(file.fileno()), place.stat()):
                yield file
                return
