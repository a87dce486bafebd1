"""LOG: the log that the words of a command line name, as the options that name it; and commands
about it that messages propose."""

from __future__ import annotations

import argparse
import os
import re
import sys

from replay import storage
from replay.cli.request import LogInput
from replay.errors import UsageError
from replay.logs.recognized import Recognized, kind_of, recognized
from replay.redaction import command

#: Options that name a log too.
_EXPLICIT = ("control", "data", "log", "logs")
#: Commands whose answers depend on keys.
_WANT_KEYS = ("undo", "whatif", "graph")
#: A unit of recovery in a message.
_UNIT = re.compile(r"\b(?:unit (?=[0-9A-F]{20})|URID=)?([0-9A-F]{20}/\d+)")
#: Files that are listed at most.
_LISTED = 5


def settle_log(values: argparse.Namespace) -> None:
    """Put into ``values`` what the words name; notes on standard error say which files of a folder
    are no part of it. Errors as of :func:`recognized`; UsageError
    (LR1001) beside an option that names a log."""
    for name in _EXPLICIT:
        if name in values.given:
            raise UsageError(
                "LR1001", f"found LOG ({values.named[0]}) and --{name}; expected one of them"
            )
    if values.command.name == "follow":
        values.logs = values.named
        return
    found = recognized(values.named, values.source if "source" in values.given else None)
    values.source, values.in_turn = found.source, found.in_turn
    values.log, values.logs = found.log, found.logs
    values.control, values.data = (
        tuple(path for which, paths in found.in_turn if which == name for path in paths)
        for name in ("control", "data")
    )
    if "catalog" not in values.given:
        values.catalog = found.catalog
    _tell(values, found)


def _tell(values: argparse.Namespace, found: Recognized) -> None:
    strays = [os.path.basename(path) for path in found.strays]
    if strays:
        more = f" and {len(strays) - _LISTED} more" if len(strays) > _LISTED else ""
        said = ", ".join(strays[:_LISTED]) + more
        print(f"note: no part of the log: {said}", file=sys.stderr)
    if values.command.name in _WANT_KEYS and values.schema is None:
        values.beside = found.schemas or _beside(found)


def _beside(found: Recognized) -> tuple[str, ...]:
    """Files of DDL in the folder of the log."""
    files = [*found.log, *found.logs, *(path for _, paths in found.in_turn for path in paths)]
    if not files or storage.is_url(files[0]):
        return ()
    folder = storage.at(files[0]).parent
    names = [str(file.place) for file in storage.files_in(folder) if file.name.endswith(".sql")]
    return tuple(name for name in sorted(names) if kind_of(name) == "ddl")


def look_at(unit: str, reading: LogInput) -> str:
    """How to see what a unit of recovery did."""
    return f"To see what unit {unit} did: {command('history', *reading.words(), '--ur', unit)}"


def ways_to_look(
    message: str, record: int | None, file: str | None, reading: LogInput
) -> list[str]:
    """How to look at the unit and the record that an error names."""
    lines = []
    unit = _UNIT.search(message)
    if unit:
        lines.append(look_at(unit.group(1), reading))
    if record is not None and file in reading.files:
        words = [*reading.words(False), "--record", str(record)]
        if len(reading.files) > 1:
            words += ["--file", str(reading.files.index(file) + 1)]
        lines.append(f"record {record}: {command('inspect', *words)} --hex")
    return lines
