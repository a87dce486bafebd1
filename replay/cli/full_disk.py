"""Where a command writes to, for errors that say that there is no room and not where."""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from replay.machine import is_full

#: Options that name what is written, where they are given.
_OUTPUTS = ("out", "export", "keep", "rejects", "certificate", "man")


def full_place(error: OSError, arguments: argparse.Namespace) -> str:
    """Where there is no room, as the end of a sentence: what the error names; else the folders that
    the command writes to, the fullest first, for what it wrote may be gone already; '' for other
    errors that name nothing."""
    if error.filename is not None:
        return f": {error.filename}"
    if not is_full(error):
        return ""
    free = {}
    for name, place in _places(arguments):
        with suppress(OSError):
            free[name] = shutil.disk_usage(place).free
    names = sorted(free, key=lambda name: free[name])
    return ": " + " or ".join(f"{name} ({free[name]:,} bytes free)" for name in names)


def _places(arguments: argparse.Namespace) -> Iterator[tuple[str, Path]]:
    """What a command writes to on this machine, as the user knows it, and a folder that is
    there."""
    # whoever gave --work is no longer within its time
    work = getattr(arguments, "work", None)
    folder = str(work) if work is not None and os.path.isdir(work) else tempfile.gettempdir()
    yield folder, Path(folder)
    outputs = [getattr(arguments, name, None) for name in _OUTPUTS]
    outputs += [place for _, place in getattr(arguments, "also", None) or ()]
    for output in outputs:
        if isinstance(output, (str, Path)) and str(output) != "-" and "://" not in str(output):
            path = Path(output).absolute()
            yield str(output), next(one for one in (path, *path.parents) if os.path.isdir(one))
