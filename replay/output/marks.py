"""Adding a mark to the file of marks of a log, so that nobody's mark is lost: behind a lock in a
file, as an object of its own in a store."""

from __future__ import annotations

import fcntl
import os

from replay import storage
from replay.errors import UsageError, Where
from replay.logs.marks import ADDED, Mark, check_mark_name, read_marks
from replay.storage import Place, StoredPath


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
    with place.open("ab", buffering=0) as file:  # so a reader sees a line whole or not at all
        fcntl.flock(file, fcntl.LOCK_EX)
        read_marks(place)
        file.write(mark.line().encode())
        os.fsync(file.fileno())
