"""An output folder in a store, which cannot rename: tasks write under names of their own attempts,
the files of the attempts that count are copied to their places in the store, and the manifest comes
last. What no manifest names does not exist.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from replay import storage
from replay.errors import InputError, Where
from replay.pipeline.partition import WrittenFile
from replay.storage import StoredPath

#: How the names of folders begin that hold attempts, and of the object that lets them write.
STAGED, _OPEN = ".attempts-", "open"
MANIFEST = "manifest.json"
_HINT = "Look at the rights of the executors there, and at their credentials in the environment"


@dataclass
class StoredFolder:
    """``out`` while it is written; ``taken`` are the files by their names in it, with the objects
    that hold them and their sizes."""

    out: StoredPath
    staging: StoredPath
    taken: dict[str, tuple[StoredPath, int]] = field(default_factory=dict)

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
            self.taken[file.name] = (self.staging / attempt / file.name, file.size)

    def publish(self, work: Path) -> None:
        """Put everything into its place, with the files of ``work``; what is there goes, its
        manifest first. InputError LR2001 where a file is not whole."""
        old = [path for path in self.out.rglob("*") if not _staged(self.out, path)]
        for path in sorted(old, key=lambda one: one.name != MANIFEST):
            storage.remove(path)
        storage.copy_all([(staged, self.out / name) for name, (staged, _) in self.taken.items()])
        own = [path for path in work.rglob("*") if path.is_file() and path != work / MANIFEST]
        for file in own:
            storage.put(file, self.out / file.relative_to(work).as_posix())
        self._check()
        storage.put(work / MANIFEST, self.out / MANIFEST)
        self.discard()

    def _check(self) -> None:
        found = storage.sizes([self.out / name for name in self.taken])
        for (name, (_, size)), there in zip(self.taken.items(), found, strict=True):
            if there != size:
                state = "it is not there" if there is None else f"{there:,} bytes of it are there"
                message = f"a task wrote {size:,} bytes of {name}, but {state}"
                raise InputError("LR2001", message, Where(file=str(self.out)), _HINT)

    def discard(self) -> None:
        """Remove what attempts left, of this run and of those that were killed."""
        storage.remove(self.staging / _OPEN)
        for path in self.out.iterdir():
            if path.name.startswith(STAGED):
                storage.remove_folder(path)


def _staged(out: StoredPath, path: StoredPath) -> bool:
    return str(path).startswith(str(out / STAGED))


def holds_something(out: StoredPath) -> bool:
    """Whether there is more in a folder than attempts of a run that was killed."""
    return out.is_dir() and any(not _staged(out, path) for path in out.rglob("*"))


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
        or the run is over."""
        try:
            for file in files:
                self._check_open()
                storage.put(
                    Path(self._folder.name, file.name), self.staging / self.name / file.name
                )
        except OSError as error:
            raise _unwritable(self.staging, error) from error

    def _check_open(self) -> None:
        if not (self.staging / _OPEN).exists():
            message = "the run that this task is of has ended"
            raise InputError("LR2001", message, Where(file=str(self.staging)))


def _unwritable(place: StoredPath, error: OSError) -> InputError:
    message = f"files cannot be written there: {str(error).partition(chr(10))[0]}"
    return InputError("LR2001", message, Where(file=str(place)), _HINT)
