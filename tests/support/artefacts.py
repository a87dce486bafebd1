"""What is kept of tests that failed: what they said and the files that they wrote."""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from pathlib import Path

from tests.support.places import ROOT

#: Made anew by each run.
FOLDER = ROOT / "build" / "failed"
#: Bytes of files that are kept of one test at most.
_MOST = 64 << 20


def folder_of(test: str) -> Path:
    """The folder of a test, of its name as pytest prints it."""
    return FOLDER / re.sub(r"[^\w.,=-]+", "_", test.removeprefix("tests/"))[:180]


def keep_text(test: str, text: str) -> None:
    """Keep what a failed test said."""
    place = folder_of(test)
    place.mkdir(parents=True, exist_ok=True)
    with (place / "said.txt").open("a", encoding="utf-8") as file:
        file.write(text + "\n")


def keep_files(test: str, source: Path) -> None:
    """Keep the files of a failed test, where they are not too many."""
    with suppress(OSError):  # what is still written, or is no plain file
        if sum(path.stat().st_size for path in source.rglob("*") if path.is_file()) <= _MOST:
            shutil.copytree(source, folder_of(test) / "files", symlinks=True, dirs_exist_ok=True)
