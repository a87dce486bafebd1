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
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from replay import storage
from replay.errors import InputError, Where
from replay.machine import is_full
from replay.output.whole_files import problem, wrong_size
from replay.pipeline.bucket_result import WrittenFile
from replay.storage import StoredPath

#: How the names of folders begin that hold attempts, of the object that lets them write, and of
#: that with the names that are being published.
STAGED, _OPEN, _PUBLISHES = ".attempts-", "open", "publishes"
MANIFEST = "manifest.json"
#: Objects that are fetched side by side.
_FETCHED = 16
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

    def fetch(self, attempt: str, files: Iterable[WrittenFile], folder: Path) -> None:
        """Copy the files of an attempt into a folder of this machine. InputError LR2001 where one
        is not what its task wrote."""
        _fetch([(self.staging / attempt / file.name, file) for file in files], folder)

    def fetch_some(self, names: Iterable[str], folder: Path) -> None:
        """The same for some of the files that were taken, which stay what they are."""
        _fetch([self.taken[name] for name in names], folder)

    def fetch_taken(self, folder: Path) -> None:
        """The same for all files that were taken, which are no part of the folder then."""
        _fetch(list(self.taken.values()), folder)
        self.taken.clear()

    def publish(self, work: Path, check: Checking) -> None:
        """Put everything into its place, with the files of ``work``; what is there goes, its
        manifest first. InputError LR2001 where a file is not whole, or ``check`` finds others."""
        old = [path for path in self.out.rglob("*") if not _staged(self.out, path)]
        own = [path for path in work.rglob("*") if path.is_file() and path != work / MANIFEST]
        names = {path.relative_to(work).as_posix(): path for path in own}
        self.put = [*self.taken, *names]
        concerned = {*self.put, MANIFEST, *(storage.name_below(path, self.out) for path in old)}
        storage.put(json.dumps(sorted(concerned)).encode(), self.staging / _PUBLISHES)
        for path in sorted(old, key=lambda one: one.name != MANIFEST):
            storage.remove(path)
        storage.copy_all([(staged, self.out / name) for name, (staged, _) in self.taken.items()])
        for name, file in names.items():
            storage.put(file, self.out / name)
        self._check_sizes()
        check(self.out, [replace(file, name=name) for name, (_, file) in self.taken.items()])
        storage.remove(self.staging / _OPEN)
        for staging in _stagings(self.out):
            if staging == self.staging:
                _remove(path for path in staging.rglob("*") if path.name != _PUBLISHES)
            else:
                storage.remove_folder(staging)
        storage.put(work / MANIFEST, self.out / MANIFEST)
        storage.remove_folder(self.staging)

    def _check_sizes(self) -> None:
        found = storage.sizes([self.out / name for name in self.taken])
        for (_, file), there in zip(self.taken.values(), found, strict=True):
            if there != file.size:
                message = wrong_size(file, there)
                raise InputError("LR2001", message, Where(file=str(self.out)), _HINT)

    def end(self) -> None:
        """Remove what attempts of this run left; none can write any more."""
        storage.remove(self.staging / _OPEN)
        storage.remove_folder(self.staging)

    def discard(self) -> None:
        """Remove what this run put there, and what attempts left, of this run and of those that
        were killed."""
        with suppress(FileNotFoundError):  # it may have come so far
            storage.remove(self.staging / _OPEN)
        _remove(self.out / name for name in self.put if (self.out / name).exists())
        for staging in _stagings(self.out):
            if staging == self.staging or not (staging / _PUBLISHES).exists():
                storage.remove_folder(staging)


def _fetch(files: Sequence[tuple[StoredPath, WrittenFile]], folder: Path) -> None:
    def one(pair: tuple[StoredPath, WrittenFile]) -> None:
        place, file = pair
        found: str | None
        target = folder / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            storage.copy(place, target)
        except FileNotFoundError:
            found = wrong_size(file, None)
        except OSError as error:
            if is_full(error):
                raise
            message = f"it cannot be read: {str(error).partition(chr(10))[0]}"
            raise InputError("LR2001", message, Where(file=str(place)), _HINT) from error
        else:
            found = problem(target, file)
        if found is not None:
            raise InputError("LR2001", found, Where(file=str(place)), _HINT)

    with ThreadPoolExecutor(_FETCHED) as pool:
        list(pool.map(one, files))


def _remove(places: Iterable[StoredPath]) -> None:
    """Remove files, of which some may be gone: attempts that find their run ended take back
    theirs."""
    for place in list(places):
        with suppress(FileNotFoundError):
            storage.remove(place)


def _stagings(out: StoredPath) -> list[StoredPath]:
    return [path for path in out.iterdir() if path.name.startswith(STAGED)]


def _staged(out: StoredPath, path: StoredPath) -> bool:
    return str(path).startswith(str(out / STAGED))


def holds_something(out: StoredPath) -> bool:
    """Whether there is more in a folder than what runs left that were killed: attempts, and files
    that were being published, without a manifest. Of a run that was killed behind its last file,
    the last trace is removed."""
    if not out.is_dir():
        return False
    there = {storage.name_below(path, out) for path in out.rglob("*") if not _staged(out, path)}
    if not there:
        return False
    if MANIFEST in there:
        for staging in _stagings(out):
            if [path.name for path in staging.rglob("*")] == [_PUBLISHES]:
                storage.remove_folder(staging)
        return True
    for staging in _stagings(out):
        if (staging / _PUBLISHES).exists():
            there -= set(json.loads((staging / _PUBLISHES).read_bytes()))
    return bool(there)


class AttemptFolder:
    """A folder of this machine for what a task writes; :meth:`send` puts it into the store."""

    def __init__(self, staging: StoredPath, bucket: int) -> None:
        self.staging = staging
        self.name = f"{bucket}-{os.urandom(8).hex()}"
        self._folder = tempfile.TemporaryDirectory(prefix="logreplay-attempt-")

    def __enter__(self) -> Path:
        return Path(self._folder.name)

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def send(self, files: Iterable[WrittenFile]) -> None:
        """Write the files under the name of this attempt. InputError LR2001 where that cannot be,
        or the run is over; then nothing of the attempt stays."""
        sent: list[StoredPath] = []
        try:
            for file in files:
                self._check_open()
                sent.append(self.staging / self.name / file.name)
                storage.put(Path(self._folder.name, file.name), sent[-1])
            # one that slept while it sent its last file
            self._check_open()
        except OSError as error:
            raise _unwritable(self.staging, error) from error
        except InputError:
            for place in sent:
                with suppress(OSError):
                    storage.remove(place)
            raise

    def _check_open(self) -> None:
        if not (self.staging / _OPEN).exists():
            message = "the run that this task is of has ended"
            raise InputError("LR2001", message, Where(file=str(self.staging)))


def _unwritable(place: StoredPath, error: OSError) -> InputError:
    message = f"files cannot be written there: {str(error).partition(chr(10))[0]}"
    return InputError("LR2001", message, Where(file=str(place)), _HINT)
