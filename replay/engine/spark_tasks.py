"""What tasks do on Spark, and what travels to them. Workers import this, and not what starts Spark.

What goes from stage to stage are pairs of a number and a block (:data:`BucketBlock`). There is a
number for each bucket, then one for results as they are, then one for errors of ours, which so
arrive as they were raised.
"""

from __future__ import annotations

import gc
import hashlib
import os
import pickle
import platform
import re
import socket
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib import import_module
from io import BytesIO
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from replay.engine.contract import Job
from replay.errors import LogReplayError, UsageError
from replay.logs import LogFile, Split, files
from replay.machine import give_back_memory, start_arrow
from replay.version import __version__
from sqlgen.lazy_imports import when_used

with when_used():
    from importlib import metadata

#: A bucket, and bytes for it.
BucketBlock = tuple[int, bytes]
#: A part of a job: what it gives of the splits, or the blocks, that came to a task.
Part = Callable[[Job, LogFile, Iterable[Any]], Iterator[BucketBlock]]

#: Libraries that decide what tasks write: modules that every task imports, and the names of others
#: as they are installed (what is called by several names: any of them), without which the program
#: writes the same.
_IMPORTED = ("numpy", "pyarrow", "pyspark", "sqlglot")
_INSTALLED = {
    "ebcdic": ["ebcdic"],
    "llvmlite": ["llvmlite"],
    "numba": ["numba"],
    "PyICU": ["pyicu-wheels", "PyICU"],
}

#: How the names of archives of this program begin.
ARCHIVE = "logreplay-"
#: The packages that tasks import, and what of them is no part of a program.
_PACKAGES = ("sqlgen", "replay")
_LEFT_OUT = frozenset({"__pycache__", "bundled", "docs"})
#: The time of every entry of the archive: equal programs are equal archives.
_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Given:
    """What each task of a job is given: the job and its log, ``packed``; the driver's
    ``libraries``; files that were ``sent`` (path, name); an accumulator for ``errors`` of ours, as
    they are raised."""

    packed: bytes
    libraries: Mapping[str, str]
    sent: Mapping[str, str]
    errors: Any


@lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> tuple[Job, LogFile]:
    """A job and its log, as they were pickled: a worker that does many tasks of it does this once.
    Catalogs of many tables take longer to read than splits, and Spark looks for garbage after each
    task, so they are left out of that."""
    gc.disable()
    try:
        job, log = pickle.loads(packed)
    finally:
        gc.enable()
    gc.freeze()
    return job, log


def carried_out(given: Given, part: Part, came: Iterable[Any]) -> Iterator[BucketBlock]:
    """What one task gives that carries out a ``part`` of a job, of the splits or blocks that
    ``came`` to it. An error of ours becomes a block too. No work is begun where this machine has
    other libraries: the job is not even unpickled."""
    from pyspark import SparkFiles

    number = NOT_BEGUN
    try:
        check_libraries(given.libraries)
        files.ELSEWHERE.update({path: SparkFiles.get(name) for path, name in given.sent.items()})
        _use_folders_of_spark()
        job, log = _unpacked(given.packed)
        number = job.buckets + 1
        yield from part(job, log, came)
    except LogReplayError as error:
        packed = pickle.dumps(error)
        given.errors.add([packed])
        yield number, packed


#: The number of an error of a task that did not look at its job: one that no bucket has.
NOT_BEGUN = 1 << 40


def scan(job: Job, log: LogFile, splits: Iterable[Split]) -> Iterator[BucketBlock]:
    """The part of a job that looks at splits."""
    for split in splits:
        yield from job.scan(log, split)


def reduce(job: Job, log: LogFile, blocks: Iterable[BucketBlock]) -> Iterator[BucketBlock]:
    """The part of a job that works through buckets."""
    for bucket, content in _together(blocks, job.buckets):
        if bucket >= job.buckets:
            yield from ((bucket, block) for block in content)
        else:
            yield from ((job.buckets, result) for result in job.reduce(log, bucket, content))


def _together(blocks: Iterable[BucketBlock], buckets: int) -> Iterator[tuple[int, Iterator[bytes]]]:
    """The blocks of each number. Raises AssertionError where those of a bucket do not lie together:
    it would be ordered in two pieces."""
    seen: set[int] = set()
    for number, those in groupby(blocks, itemgetter(0)):
        if number in seen:
            raise AssertionError(f"blocks of bucket {number} do not lie together")
        if number < buckets:
            seen.add(number)
        yield number, map(itemgetter(1), those)


def place(buckets: int, number: int) -> int:
    """The partition in which the blocks of a number meet: one for each bucket, and one for all that
    is beside them, which is little, for each task has its price."""
    return min(number, buckets)


def if_few(few: int, number: int, blocks: Iterable[BucketBlock]) -> Iterator[tuple[int, Any]]:
    """The number of a task, with its results where they are ``few`` bytes at most, else None."""
    size, kept = 0, list[BucketBlock]()
    for block in blocks:
        size += len(block[1])
        if size <= few:
            kept.append(block)
    yield number, kept if size <= few else None


def _use_folders_of_spark() -> None:
    """Temporary files of a task lie where Spark wants its own: there may be several disks."""
    folders = [one for one in os.environ.get("SPARK_LOCAL_DIRS", "").split(",") if one]
    if folders and Path(folder := folders[os.getpid() % len(folders)]).is_dir():
        tempfile.tempdir = folder


# -- what must be the same on each machine


@cache
def versions() -> dict[str, str]:
    """Name and version of Python and of the libraries that there are on this machine; of this
    program the name of the archive in which it travelled."""
    travelled = (part for part in Path(__file__).parts if part.startswith(ARCHIVE))
    found = {"Python": platform.python_version(), "logreplay": next(travelled, "installed")}
    for name in _IMPORTED:
        found[name] = str(import_module(name).__version__)
    for name, packages in _INSTALLED.items():
        for package in packages:
            with suppress(metadata.PackageNotFoundError):
                found.setdefault(name, metadata.version(package))
    return found


def check_libraries(driver: Mapping[str, str]) -> None:
    """UsageError (LR1005) where the major or minor version of a library is another one than the
    ``driver``'s. What only one of them has is not compared."""
    here = versions()
    other = [
        f"{name} {here[name]} (the driver has {driver[name]})"
        for name in sorted(driver.keys() & here.keys())
        if _release(driver[name]) != _release(here[name])
    ]
    if other:
        raise UsageError(
            "LR1005",
            f"found other libraries on an executor: {', '.join(other)} on {socket.gethostname()};"
            " expected the driver's major and minor versions",
            hint="What another version writes may differ: install the driver's there",
        )


#: The major and minor version; all of a version that has no such parts.
_release = partial(re.sub, r"^(\d+\.\d+).*", r"\1")


def write_archive(folder: Path) -> Path:
    """Write this program as an archive into a folder, for executors on which it is not installed,
    or in another version. Its name has the version and a digest, so that executors of a long-lived
    cluster never take one for another."""
    root = Path(__file__).resolve().parents[2]
    found = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for package in _PACKAGES
        for path in (root / package).rglob("*")
        if path.is_file() and not _LEFT_OUT & set(path.relative_to(root).parts)
    }
    # in an archive, only what says so is a package
    packages = {name.rpartition("/")[0] for name in found if name.endswith(".py")}
    contents = {f"{package}/__init__.py": b"" for package in packages} | found
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as entries:
        for name, content in sorted(contents.items()):
            entries.writestr(zipfile.ZipInfo(name, _TIME), content, zipfile.ZIP_DEFLATED)
    digest = hashlib.sha256(packed.getvalue()).hexdigest()
    archive = folder / f"{ARCHIVE}{__version__}-{digest[:16]}.zip"
    archive.write_bytes(packed.getvalue())
    return archive


# -- the daemon of workers


#: What tasks import: those of scripts and exports (a name, because the engine carries out jobs of
#: rooms above it), and what each worker would import for its first task by itself.
_OF_TASKS = (
    "replay.output.run_plan",
    "replay.output.datasets",
    "replay.output.scripts",
    "replay.engine.spark_tasks",
    "pyspark.worker_message",
    "dateutil.relativedelta",
    "numpy.ma",
    "llvmlite.binding",
)


def run_daemon() -> None:
    """Spark's worker daemon with what every task needs imported already: workers are forks of it
    and share that."""
    from pyspark import daemon

    start_arrow()
    give_back_memory()
    for name in _OF_TASKS:
        # a task says what is missing, or another version than it must be
        with suppress(ImportError, OSError, AttributeError):
            getattr(import_module(name), "versions", bool)()
    # Spark collects garbage after each task, and would look through all modules each time
    gc.freeze()
    daemon.manager()


if __name__ == "__main__":
    run_daemon()
