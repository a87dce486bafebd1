"""Where commands write: what they say of it, and errors that do not say where there is no room."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from replay.errors import UsageError, counted
from replay.machine import is_full
from replay.pipeline.script_client import how_to_run
from replay.storage.durable import refuse_special, write_file
from sqlgen.lazy_imports import when_used

if TYPE_CHECKING:
    from replay.output.bundle import Bundle
    from replay.storage import Place

with when_used():  # what commands that write need
    from replay.changes import balance
    from replay.output import whole_folder

#: Options that name what is written, where they are given.
_OUTPUTS = ("out", "export", "keep", "rejects", "certificate", "man")


def tell_notes(notes: tuple[str, ...]) -> None:
    """Say what a user may want to know beforehand."""
    for note in notes:
        print(f"note: {note}", file=sys.stderr)


def tell(text: str) -> None:
    """Print lines of results; notes and warnings among them go to standard error."""
    for line in text.split("\n"):
        beside = line.startswith(("note: ", "warning: "))
        print(line, file=sys.stderr if beside else sys.stdout)


def put_text(out: Place | None, text: str, said: str = "written to {}") -> None:
    """Write what was asked for to a file, and say where it is; print it where none is named."""
    if out is None or is_printed(out):
        sys.stdout.write(text)
    else:
        write_file(out, text)
        print(said.format(out))


def tell_beside(warnings: Iterable[str], reason: str = "") -> None:
    """Say on standard error what an answer has no room for: the warnings, and why there is no
    row."""
    for line in (*warnings, *filter(None, [reason])):
        print(f"warning: {line}", file=sys.stderr)


def is_printed(out: Place | None) -> bool:
    """Whether an output goes to standard output: ``--out -``."""
    return out is not None and str(out) == "-"


def check_folder(out: Place, overwrite: bool) -> None:
    """Errors as :func:`replay.output.whole_folder.check_output`; a note of the folder above it that
    will be made too, because its name may be misspelt."""
    whole_folder.check_output(out, overwrite)
    if isinstance(out, Path) and not out.parent.exists():
        print(f"note: found no folder {out.parent}; it will be made", file=sys.stderr)


def check_file(path: Place | None, overwrite: bool) -> None:
    """Refuse an output that is there, unless it is a file that may be overwritten, or whose folder
    is not there (:class:`UsageError`). A store makes its folders as they are needed."""
    if path is None or is_printed(path):
        return
    if isinstance(path, Path) and not path.parent.is_dir():
        raise UsageError("LR1006", f"found no folder {path.parent}; expected one for {path.name}")
    if isinstance(path, Path):
        refuse_special(path)
    if path.exists() and not overwrite:
        raise UsageError("LR1002", f"{path} exists", hint="Name another file, or use --overwrite")


def tell_bundle(bundle: Bundle, out: Path | None = None, *, stays: bool = True) -> None:
    """Print what became of every record: findings, quarantined units, the balance sheet;
    and where the files are, if they stay. ``out``: their folder, if it is not the bundle's."""
    for finding in bundle.contents["findings"]["shown"][:20]:
        print(finding)
    if bundle.contents["findings"]["count"] > 20:
        print(
            f"… {bundle.contents['findings']['count'] - 20} more findings; manifest.json shows up"
            " to 1,000"
        )
    for unit in bundle.contents["quarantined_units"][:20]:
        print(f"quarantined: unit {unit['unit']}: {unit['reason']}")
    if (more := len(bundle.tally.quarantined_units) - 20) > 0:
        print(f"… {more} more quarantined units; manifest.json names up to {balance.SHOWN:,}")
    kind = bundle.contents["mode"]
    scripts = kind not in ("export", "extract")
    print(balance.balance_text(bundle.tally, "statements" if scripts else "changes"))
    if stays:
        parts, what = ("scripts", "script") if scripts else ("datasets", "dataset")
        files = (
            ", ".join(bundle.contents["files"])
            if kind == "extract"
            else counted(len(bundle.contents[parts]), what)
        )
        print(f"{files} and manifest.json in {out or bundle.folder}")
        options = bundle.contents.get("options", {})
        if (client := options.get("client")) is not None:
            print(how_to_run(client, options["terminator"], options["encoding"]))


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
