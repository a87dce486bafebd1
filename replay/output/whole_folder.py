"""A folder that is written whole or not at all, with a ``manifest.json`` that says what is in it.

On this machine everything is written into a hidden folder beside it, which takes its name at the
end. A store cannot rename: tasks write under names of their own attempts, the files of the attempts
that count are copied to their places in the store and read again there, and the manifest comes
last. What no manifest names does not exist. Whoever publishes says first which names that concerns,
in an object beside the attempts. Where a run is killed then, the next one knows by it that what
lies there without a manifest is its to replace.

The files are those that tasks wrote: they are read again where they lie, and their bytes compared
with what the attempts that count said of them. A size says that a file is not cut off, and nothing
of what is in it: blocks that a machine lost on its way down have the right length.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from replay import storage
from replay.changes.choices import EngineName
from replay.engine.contract import Engine
from replay.errors import InputError, UsageError, Where
from replay.pipeline.plan import WrittenFile
from replay.storage import Place, StoredPath
from replay.storage.durable import refuse_url_as_path, rename_durably, sync_tree
from replay.temp_folders import ASIDE, WorkFolder, remove_leftovers

#: Names of the files of a bundle: manifests, plans, scripts, parts of datasets.
_OURS = re.compile(
    r"manifest\.json|PLAN\.md|load\.ctl|\d{2,}-.+\.(sql|jsonl|templates\.json)"
    r"|part-\d+(-\d+)?\.\w+"
)


def check_output(folder: Place, overwrite: bool) -> None:
    """Refuse an output folder that holds something, unless ``overwrite``; refuse a file, and a URL
    of which a path was made."""
    if isinstance(folder, StoredPath):
        filled = holds_something(folder)
    else:
        refuse_url_as_path(folder)
        filled = folder.is_dir() and any(folder.iterdir())
    if folder.exists() and not folder.is_dir():
        raise UsageError("LR1002", f"{folder} is a file; --out names a folder")
    if filled:
        if not overwrite:
            raise UsageError(
                "LR1002",
                f"{folder} is not empty",
                hint="Name another folder, or use --overwrite to replace an output folder",
            )
        strange = _strange(folder)
        if strange is not None:
            raise UsageError(
                "LR1002",
                f"{folder} {strange}, so it is not an output folder",
                hint="--overwrite replaces bundles only",
            )


def _strange(folder: Place) -> str | None:
    """Why a folder is no bundle of ours, or holds more than that; None where it may be replaced."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return "is not empty and holds no manifest.json"
    except (OSError, ValueError):
        return "holds a manifest.json that cannot be read"
    if not isinstance(manifest, dict) or not str(manifest.get("program", "")).startswith(
        "logreplay "
    ):
        return "holds a manifest.json that logreplay did not write"
    for name in sorted(storage.names_below(folder)):
        ours = _OURS.fullmatch(name.rpartition("/")[2]) or name in manifest.get("files", ())
        if not ours and not name.startswith(STAGED):
            return f"holds {name}, which logreplay did not write"
    return None


# -- publishing
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UnpublishedFolder:
    """A folder while it is written: what this process makes of it lies in ``work``, what tasks make
    in ``stored`` where it becomes one of a store."""

    work: Path
    stored: StoredFolder | None


@contextmanager
def whole_folder(out: Place, overwrite: bool) -> Iterator[UnpublishedFolder]:
    """A folder to be written, which becomes ``out`` at the end of the block, when what tasks wrote
    into a store was read again. Where the block raises, nothing is left behind. Errors as those of
    :func:`check_output` and :func:`check_files`."""
    check_output(out, overwrite)
    above: list[Path] = []  # the folders that are made on the way to it
    if isinstance(out, Path):
        above = [folder for folder in out.parents if not folder.exists()]
        out.parent.mkdir(parents=True, exist_ok=True)
        hidden = WorkFolder(f".{out.name}-", out.parent)
    else:
        hidden = WorkFolder()
    work = Path(hidden.name)
    stored = StoredFolder.begun(out) if isinstance(out, StoredPath) else None
    try:
        yield UnpublishedFolder(work, stored)
        check_output(out, overwrite)  # another run may have been faster
        publish(work, out, stored)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        if stored is not None:
            with suppress(OSError):
                stored.discard()
        hidden.cleanup()
        with suppress(OSError):
            for folder in above:
                folder.rmdir()
        raise
    finally:
        hidden.cleanup()


def publish(work: Path, out: Place, stored: StoredFolder | None) -> None:
    """Rename ``work`` to ``out``; an old bundle is moved aside first and removed last. In a store,
    what tasks wrote (``stored``) and what is in ``work`` get their places, the manifest last, when
    what tasks wrote was read again."""
    if stored is not None:
        stored.publish(work)
        return
    assert isinstance(out, Path)
    plain = work / ".mode"
    plain.mkdir()  # as the user's umask has it, which a folder of ours has not
    work.chmod(plain.stat().st_mode & 0o7777)
    plain.rmdir()
    aside = WorkFolder(f".{out.name}{ASIDE}", out.parent) if out.exists() else None
    if aside is not None:
        sync_tree(work)  # while the old bundle still has its name
        out.rename(Path(aside.name) / out.name)
    try:
        rename_durably(work, out)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        raise UsageError(
            "LR1002",
            f"found {out} written by another run meanwhile; expected one run for a folder",
            hint="Name another folder",
        ) from None
    if aside is not None:
        aside.cleanup()
    remove_leftovers(out.parent)  # what a run that was killed here had put aside


# -- in a store
# -------------------------------------------------------------------------------------------------


#: How the names of folders begin that hold attempts, of the object that lets them write, and of
#: that with the names that are being published.
STAGED, _OPEN, _PUBLISHES = ".attempts-", "open", "publishes"
MANIFEST = "manifest.json"
_RIGHTS = "Look at the rights of the executors there, and at their credentials in the environment"


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

    def fetch(self, folder: Path) -> None:
        """Copy the files that were taken into a folder of this machine. InputError LR2001 where one
        is not what its task wrote."""

        def one(name: str) -> None:
            place, file = self.taken[name]
            with storage.readable(place, "it", _RIGHTS), suppress(FileNotFoundError):
                storage.copy(place, folder / name)
            found = problem(folder / name, file)
            if found is not None:
                raise InputError("LR2001", found, Where(file=str(place)), _RIGHTS)

        with ThreadPoolExecutor(storage.REQUESTS) as pool:
            list(pool.map(one, self.taken))

    def publish(self, work: Path) -> None:
        """Put everything into its place, with the files of ``work``; what is there goes, its
        manifest first. InputError LR2001 where a file is not what its task wrote."""
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
        check_files(self.out, [replace(file, name=name) for name, (_, file) in self.taken.items()])
        (self.staging / _OPEN).unlink()
        for staging in _stagings(self.out):
            if staging == self.staging:
                rest = (name for name in storage.names_below(staging) if name != _PUBLISHES)
                _remove(staging / name for name in rest)
            else:
                storage.remove_folder(staging)
        storage.put(work / MANIFEST, self.out / MANIFEST)
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
    return InputError("LR2001", message, Where(file=str(place)), _RIGHTS)


# -- what tasks wrote
# -------------------------------------------------------------------------------------------------


#: Bytes that are read at a time.
_READ = 1 << 20
_DISKS = "Run it again. If it comes back, look at the disks, and at who else writes there"


def check_files(folder: Place, files: Sequence[WrittenFile]) -> None:
    """Read files of a folder again. InputError LR2001 where one is not what its task wrote."""

    def found(file: WrittenFile) -> str | None:
        return problem(folder / file.name, file)

    with ThreadPoolExecutor(storage.REQUESTS) as pool:
        problems = list(filter(None, pool.map(found, files)))
    if problems:
        raise InputError("LR2001", problems[0], Where(file=str(folder)), _DISKS)


def rewritten_elsewhere(engine: Engine, folder: Place) -> bool:
    """Whether files of a folder went through more hands than those of this process."""
    return engine.name is EngineName.SPARK or isinstance(folder, StoredPath)


def problem(place: Place, file: WrittenFile) -> str | None:
    """What is wrong with a file; None where it is the one that was written."""
    digest, size = hashlib.sha256(), 0
    try:
        with storage.opened(place) as content:
            while block := content.read(_READ):
                digest.update(block)
                size += len(block)
    except FileNotFoundError:
        return f"a task wrote {file.size:,} bytes of {file.name}, but it is not there"
    except OSError as error:
        return f"{file.name} cannot be read again: {str(error).partition(chr(10))[0]}"
    if size != file.size:
        return wrong_size(file, size)
    if digest.hexdigest() != file.sha256:
        return (
            f"a task wrote {file.name} with the SHA-256 {file.sha256}, but the bytes that are there"
            f" have {digest.hexdigest()}"
        )
    return None


def wrong_size(file: WrittenFile, size: int | None) -> str:
    """What is said of a file that has ``size`` bytes (None: that is not there)."""
    state = "it is not there" if size is None else f"{size:,} bytes of it are there"
    return f"a task wrote {file.size:,} bytes of {file.name}, but {state}"


# -- the manifest
# -------------------------------------------------------------------------------------------------


def write_manifest(contents: Mapping[str, Any], path: Path) -> None:
    """Write a manifest, piece by piece: units that are pending may be many. Raises OSError."""
    with path.open("w", encoding="utf-8", newline="") as file:
        json.dump(contents, file, indent=1, ensure_ascii=False, default=dict)
        file.write("\n")
