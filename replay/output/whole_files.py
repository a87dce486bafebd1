"""Whether the files of an output are those that its tasks wrote: they are read again where they
lie, and their bytes compared with what the attempts that count said of them.

A size says that a file is not cut off, and nothing of what is in it: blocks that a machine lost on
its way down have the right length. Few files are read by the driver, many by tasks.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from replay import storage
from replay.changes.choices import EngineName
from replay.engine import local
from replay.engine.contract import Engine, read_size
from replay.errors import InputError, Where
from replay.logs import LogFile, Split
from replay.pipeline.bucket_result import WrittenFile
from replay.storage import Place, StoredPath

#: Bytes of files that one task reads, bytes from which on tasks of the engine do it, and bytes that
#: are read at a time.
_TOGETHER, _BY_TASKS, _READ = 64 << 20, 256 << 20, 1 << 20
_HINT = "Run it again. If it comes back, look at the disks, and at who else writes there"


@dataclass(frozen=True)
class ReadAgainJob:
    """Reads files of ``folder`` and compares them: the ``file`` of a split is the number of its
    group. Results are (group, :func:`problem` with its first bad file); good groups have none."""

    title = "read files again"
    together = 4

    folder: Place
    groups: tuple[tuple[WrittenFile, ...], ...]

    @property
    def buckets(self) -> int:
        """None: nothing meets."""
        return 0

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        """What is wrong with the files of a group."""
        for file in self.groups[split.file]:
            found = problem(self.folder / file.name, file)
            if found is not None:
                yield 0, pickle.dumps((split.file, found))
                return

    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Nothing."""
        yield from ()


def check_files(engine: Engine, log: LogFile, folder: Place, files: Sequence[WrittenFile]) -> None:
    """Read files of a folder again, which tasks of ``engine`` must be able to reach. InputError
    LR2001 where one is not what its task wrote."""
    groups = tuple(_groups(files))
    job = ReadAgainJob(folder.absolute() if isinstance(folder, Path) else folder, groups)
    splits = [
        Split(number, 0, sum(file.size for file in group), 1) for number, group in enumerate(groups)
    ]
    by_tasks = read_size(splits) >= _BY_TASKS
    execute = engine.execute if by_tasks else local.execute
    problems = sorted(pickle.loads(blob) for blob in execute(job, log, splits))
    if problems:
        raise InputError("LR2001", problems[0][1], Where(file=str(folder)), _HINT)


def files_beside(folder: Path, known: Iterable[WrittenFile]) -> tuple[WrittenFile, ...]:
    """The files of a folder that are none of those ``known``."""
    names = {file.name for file in known}
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if name not in names:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            found.append(WrittenFile(name, path.stat().st_size, digest, 0))
    return tuple(found)


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


def _groups(files: Sequence[WrittenFile]) -> Iterator[tuple[WrittenFile, ...]]:
    group: list[WrittenFile] = []
    size = 0
    for file in files:
        if group and size + file.size > _TOGETHER:
            yield tuple(group)
            group, size = [], 0
        group.append(file)
        size += file.size
    if group:
        yield tuple(group)
