"""An archive of the classes that Java loads for Spark, made once on a machine (class-data sharing).

Reading and checking some thousand classes is a third of the CPU time of a small run on Spark. Where
Spark is used again and again, Java writes down what it loaded, when it ends (which takes it some
ten seconds, for which nobody waits), and later runs map that file. Java looks itself whether the
file is of the same Java and the same jars, and whether it is as it was written; else it does
without. It writes the header last, so that a file that is not whole is none.
"""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from replay.leftovers import remove_unused, user_cache

#: Options of Java 13 and later (JEP 350). What it says of the file would go where reports are.
_USE = "-Xlog:disable -XX:+VerifySharedSpaces -XX:SharedArchiveFile={}"
_MAKE = "-Xlog:disable -XX:ArchiveClassesAtExit={}"
#: After so many runs with a job the file is made by the next one; for a few it does not pay.
RUNS = 2
#: After how many seconds a file that is not whole is made anew.
_STALE = 3600
_ENDING, _COUNT, _SIZE, _JOB = ".jsa", ".runs", ".size", ".job"


@dataclass(frozen=True)
class JavaArchive:
    """The file at ``path`` (None: there is no place for one), and what Java is told of it."""

    path: Path | None
    options: str = ""
    made: bool = False

    def count(self) -> None:
        """A run carried out a job: one more, until the file is made; it is ``made`` of what such a
        run loaded."""
        if self.path is None or (self.options and not self.made):
            return
        noted = self.path.with_suffix(_JOB if self.made else _COUNT)
        with suppress(OSError), noted.open("ab") as runs:
            runs.write(b".")


def java_archive(java: Path, options: str) -> JavaArchive:
    """The archive for a Java (its program, no wrapper of it) that is started with these options."""
    with suppress(OSError, RuntimeError):  # no home, or a folder of others
        folder = user_cache()
        path = folder / f"spark-{_key(java, options)}{_ENDING}"
        if _is_whole(path):
            with suppress(OSError):
                os.utime(path)  # it is still used
            return JavaArchive(path, _USE.format(_as_word(path)))
        folder.mkdir(parents=True, exist_ok=True)
        if _wanted(path):
            path.with_suffix(_COUNT).unlink(missing_ok=True)  # the next ones wait for this
            _clean(folder)
            return JavaArchive(path, _MAKE.format(_as_word(path)), made=True)
        return JavaArchive(path)
    return JavaArchive(None)


def _as_word(path: Path) -> str:
    """A path as one word of options, which Spark takes apart at blanks and where a backslash
    stands before a letter."""
    return re.sub(r"""([\\\s"'])""", r"\\\1", str(path))


def _is_whole(path: Path) -> bool:
    """Whether there is a header, and the file has the size that it had when that was first seen:
    Java ends where it does not (a disk that lost its power), and checks all else. One of another
    size is removed, and one of a run that ended before it had carried out a job: it lacks most."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        if not any(file.read(4)):
            return False
        size, seen = str(os.fstat(file.fileno()).st_size), path.with_suffix(_SIZE)
        if not seen.exists():
            seen.write_text(size, encoding="ascii")
        if seen.read_text(encoding="ascii") == size and path.with_suffix(_JOB).exists():
            return True
        for one in (path, seen, path.with_suffix(_JOB)):
            one.unlink(missing_ok=True)
    return False


def _wanted(path: Path) -> bool:
    """Whether runs enough were counted, and no other one makes the file now."""
    counted = path.with_suffix(_COUNT)
    if not counted.exists() or counted.stat().st_size < RUNS:
        return False
    return not path.exists() or counted.stat().st_mtime - path.stat().st_mtime > _STALE


def _clean(folder: Path) -> None:
    """Remove files of other Javas and jars that nobody uses, and what is noted of them."""
    found = list(folder.glob(f"spark-*{_ENDING}"))
    newest = max((path.stat().st_mtime for path in found), default=0.0)
    remove_unused(found, newest)
    for ending in (_SIZE, _JOB):
        for noted in folder.glob(f"spark-*{ending}"):
            if not noted.with_suffix(_ENDING).exists():
                noted.unlink(missing_ok=True)


def _key(java: Path, options: str) -> str:
    """What decides which classes are loaded and how: the options, Java, and Spark's jars."""
    digest = hashlib.sha256(f"{options}\n".encode())
    spark = find_spec("pyspark")
    jars = Path(spark.origin).parent / "jars" if spark is not None and spark.origin else java
    for place in (java, java.resolve().parents[1] / "lib" / "modules", jars):
        with suppress(OSError):
            found = place.stat()
            digest.update(f"{place.resolve()} {found.st_size} {found.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:32]
