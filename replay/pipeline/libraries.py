"""Versions of the libraries that decide what tasks write, compared between the machine that makes a
job and those that carry it out. Imports none of them before it is asked: the daemon of Spark's
workers asks before it imports anything that another version may break."""

from __future__ import annotations

import platform
import re
import socket
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from replay.errors import UsageError
from sqlgen.late import LateModule

if TYPE_CHECKING:
    from importlib import metadata
else:
    metadata = LateModule("importlib.metadata")

#: The variable by which executors are told what the driver has.
VARIABLE = "LOGREPLAY_LIBRARIES"
#: The variable by which they are told the archive of the program, which travels.
PROGRAM = "LOGREPLAY_PROGRAM"
#: Stands before what a worker daemon that refuses to begin says to Spark.
REFUSED = "LOGREPLAY-REFUSED "

#: Modules that every task imports, and the names of others as they are installed (what is called
#: by several names: any of them). Where one of the latter is missing, the program does without it
#: and writes the same, or names it when it is needed.
_IMPORTED = ("numpy", "pyarrow", "pyspark", "sqlglot")
_INSTALLED = {
    "ebcdic": ("ebcdic",),
    "llvmlite": ("llvmlite",),
    "numba": ("numba",),
    "PyICU": ("pyicu-wheels", "PyICU"),
}


@cache
def versions() -> dict[str, str]:
    """Name and version of Python and of the libraries that there are on this machine."""
    found = {"Python": platform.python_version()}
    for name in _IMPORTED:
        try:
            found[name] = str(import_module(name).__version__)
        except ModuleNotFoundError:  # named by what imports it
            continue
        except (ImportError, AttributeError) as error:  # built for another version of another one
            found[name] = f"that cannot be imported: {error}"
    for name, packages in _INSTALLED.items():
        for package in packages:
            try:
                found.setdefault(name, metadata.version(package))
            except metadata.PackageNotFoundError:
                continue
    return found


def written(found: Mapping[str, str]) -> str:
    """Versions as one word of text."""
    return ",".join(f"{name}={number}" for name, number in found.items())


def as_written(text: str) -> dict[str, str]:
    """The versions in such a word."""
    return dict(word.split("=", 1) for word in text.split(",") if "=" in word)


def check_libraries(driver: Mapping[str, str]) -> str:
    """Compare this machine's libraries with those of the ``driver``. UsageError (LR1005) where the
    major or minor version of one is another; what is to be told where only the rest differs, ''
    where nothing does. What only one of them has is not compared."""
    refused: list[str] = []
    told: list[str] = []
    here = versions()
    for name in driver.keys() & here.keys():
        if driver[name] != here[name]:
            words = f"{name} {here[name]} (the driver has {driver[name]})"
            same = _release(driver[name]) == _release(here[name])
            (told if same else refused).append(words)
    if refused:
        raise differing(
            f"found other libraries on an executor: {', '.join(sorted(refused))} on"
            f" {socket.gethostname()}; expected the driver's major and minor versions"
        )
    return f"{', '.join(sorted(told))} on {socket.gethostname()}" if told else ""


def check_program(archive: str) -> None:
    """Raises UsageError (LR1005) where this program is not that of an ``archive`` (its name; ''
    where none travelled): another version may be installed here."""
    if archive and archive not in Path(__file__).parts:
        raise differing(
            f"found logreplay in {Path(__file__).parents[2]} on {socket.gethostname()}; expected"
            f" that of the driver, {archive}"
        )


def differing(message: str) -> UsageError:
    """The error of libraries that differ too much."""
    hint = "What another version writes may differ. Install the driver's for the Python there"
    return UsageError("LR1005", message, hint=hint)


def _release(number: str) -> str:
    """The major and minor version; all of a version that has no such parts."""
    parts = re.match(r"\d+\.\d+(?!\d)", number)
    return number if parts is None else parts[0]
