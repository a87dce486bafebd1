"""An output folder in a store, which cannot rename: tasks write under names of their own attempts,
the files of the attempts that count are copied to their places in the store and read again there,
and the manifest comes last. What no manifest names does not exist.

Whoever publishes says first which names that concerns, in an object beside the attempts. Where a
run is killed then, the next one knows by it that what lies there without a manifest is its to
replace.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from replay import storage
from replay.errors import InputError, Where
from replay.output.whole_files import problem
from replay.pipeline.bucket_result import WrittenFile
from replay.storage import StoredPath

#: How the names of folders begin that hold attempts, of the object that lets them write, and of
#: that with the names that are being published.
STAGED, _OPEN, _PUBLISHES = ".attempts-", "open", "publishes"
MANIFEST = "manifest.json"
_HINT = "Look at the rights of the executors there, and at their credentials in the environment"
#: Reads files of a folder again, and raises InputError where one is not what its task wrote.
Checking = Callable[[StoredPath, Sequence[WrittenFile]], None]


@dataclass
class StoredFolder:
    """``out`` while it is written; ``taken`` are the files by their names in it, with the objects
    that hold them, ``put`` the names of all that are being published."""

    out: StoredPath
    staging: StoredPath
    taken: dict[str, tuple[StoredPath, WrittenFile]] = field(default_factory=dict)
    put: list[str] = field(default_factory=list)

    @classmethod
    def begun(cls, out: StoredPath) -> StoredFolder:
        """A folder that attempts may write for. InputError LR2001 where nobody can write there."""
        staging = out / f"{STAGED}{os.urandom(8).hex()}"
        try:
            storage.put(b"", staging / _OPEN)
        except OSError as error:
            raise _unwritable(out, error) from error
        return cls(out, staging)

    def below(self, name: str) -> StoredFolder:
        """A folder in it, written for by the same right; its files are taken by :meth:`add`."""
        return StoredFolder(self.out / name, self.staging)

    def add(self, name: str, inner: StoredFolder) -> None:
        """Take the files of a folder that is below this one."""
        self.taken |= {f"{name}/{file}": staged for file, staged in inner.taken.items()}

    def take(self, attempt: str, files: Iterable[WrittenFile]) -> None:
        """The files of an attempt, which are those of the folder from now on."""
        for file in files:
            self.taken[file.name] = (self.staging / attempt / file.name, file)

    def fetch(self, names: Iterable[str], folder: Path) -> None:
        """Copy files that were taken into a folder of this machine. InputError LR2001 where one is
        not what its task wrote."""

        def one(name: str) -> None:
            place, file = self.taken[name]
            target = folder / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            with storage.readable(place, "it", _HINT), suppress(FileNotFoundError):
                storage.copy(place, target)
            found = problem(target, file)
            if found is not None:
                raise InputError("LR2001", found, Where(file=str(place)), _HINT)

        with ThreadPoolExecutor(storage.REQUESTS) as pool:
            list(pool.map(one, names))

    def publish(self, work: Path, check: Checking) -> None:
        """Put everything into its place, with the files of ``work``; what is there goes, its
        manifest first. InputError LR2001 where a file is not whole, or ``check`` finds others."""
        old = _published(self.out)
        own = [path for path in work.rglob("*") if path.is_file() and path != work / MANIFEST]
        names = {path.relative_to(work).as_posix(): path for path in own}
        self.put = [*self.taken, *names]
        concerned = sorted({*self.put, MANIFEST, *old})
        storage.put(json.dumps(concerned).encode(), self.staging / _PUBLISHES)
        for name in sorted(old, key=lambda name: name != MANIFEST):
            (self.out / name).unlink()
        storage.copy_all([(staged, self.out / name) for name, (staged, _) in self.taken.items()])
        for name, file in names.items():
            storage.put(file, self.out / name)
        check(self.out, [replace(file, name=name) for name, (_, file) in self.taken.items()])
        (self.staging / _OPEN).unlink()
        for staging in _stagings(self.out):
            if staging == self.staging:
                rest = (name for name in storage.names_below(staging) if name != _PUBLISHES)
                _remove(staging / name for name in rest)
            else:
                storage.remove_folder(staging)
        storage.put(work / MANIFEST, self.out / MANIFEST)
        storage.remove_folder(self.staging)

    def end(self) -> None:
        """Remove what attempts of this run left; none can write any more."""
        (self.staging / _OPEN).unlink()
        storage.remove_folder(self.staging)

    def discard(self) -> None:
        """Remove what this run put there, and what attempts left, of this run and of those that
        were killed."""
        _remove([self.staging / _OPEN])  # it may have come so far
        _remove(self.out / name for name in self.put if (self.out / name).exists())
        for staging in _stagings(self.out):
            if staging == self.staging or not (staging / _PUBLISHES).exists():
                storage.remove_folder(staging)


def _remove(places: Iterable[StoredPath]) -> None:
    """Remove files, of which some may be gone: attempts that find their run ended take back
    theirs."""
    for place in list(places):
        with suppress(FileNotFoundError):
            place.unlink()


def _stagings(out: StoredPath) -> list[StoredPath]:
    return [path for path in out.iterdir() if path.name.startswith(STAGED)]


def _published(out: StoredPath) -> list[str]:
    """The names of the files of a folder that are none of attempts."""
    return [name for name in storage.names_below(out) if not name.startswith(STAGED)]


def holds_something(out: StoredPath) -> bool:
    """Whether there is more in a folder than what runs left that were killed: attempts, and files
    that were being published, without a manifest. Of a run that was killed behind its last file,
    the last trace is removed."""
    there = set(_published(out))
    if not there:
        return False
    for staging in _stagings(out):
        if MANIFEST in there:
            if storage.names_below(staging) == [_PUBLISHES]:
                storage.remove_folder(staging)
        elif (staging / _PUBLISHES).exists():
            there -= set(json.loads((staging / _PUBLISHES).read_bytes()))
    return bool(there)


def send_attempt(
    staging: StoredPath, name: str, folder: Path, files: Iterable[WrittenFile]
) -> None:
    """Write what a task wrote into a folder of this machine under the name of its attempt.
    InputError LR2001 where that cannot be, or the run is over; then nothing of the attempt
    stays."""
    sent: list[StoredPath] = []
    try:
        for file in files:
            _check_open(staging)
            sent.append(staging / name / file.name)
            storage.put(folder / file.name, sent[-1])
        # one that slept while it sent its last file
        _check_open(staging)
    except OSError as error:
        raise _unwritable(staging, error) from error
    except InputError:
        for place in sent:
            with suppress(OSError):
                place.unlink()
        raise


def _check_open(staging: StoredPath) -> None:
    if not (staging / _OPEN).exists():
        message = "the run that this task is of has ended"
        raise InputError("LR2001", message, Where(file=str(staging)))


def _unwritable(place: StoredPath, error: OSError) -> InputError:
    message = f"files cannot be written there: {str(error).partition(chr(10))[0]}"
    return InputError("LR2001", message, Where(file=str(place)), _HINT)
