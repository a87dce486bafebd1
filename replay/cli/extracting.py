"""``extract``: a part of a log as a log again."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from replay.changes.choices import USUAL_NAME
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.cli.commands import tell_written
from replay.cli.outcome import check_folder, tell_notes
from replay.cli.request import LogInput, selection_of
from replay.cli.terminal import Bar
from replay.errors import UsageError
from replay.logs import source_named
from replay.output.extraction import check_name, writer_of
from replay.pipeline.request import Demand, OpenLog, Request, make_request
from replay.storage import Place
from replay.temp_folders import WorkFolder
from replay.writable import Extract


def _extract(arguments: argparse.Namespace) -> int:
    if str(arguments.out) == "-":
        raise UsageError("LR1001", "found --out -; expected a folder: a log is two files")
    writer_of(source_named(arguments.source))
    check_folder(arguments.out, arguments.overwrite)
    check_name(arguments.name)
    reading = LogInput.of(arguments)
    selection = replace(
        selection_of(arguments),
        include_aborted=not arguments.committed_only,
        from_recovery_point=True,
    )
    options = ScriptOptions(records_per_file=arguments.records_per_file, strict=arguments.strict)
    with WorkFolder() as scratch:
        opened = reading.open(scratch, Demand(copied=True), selection)
        selection = reading.settled(opened, selection, scratch)
        request = copy_request(opened, selection, reading, options)
        place = CopyPlace(arguments.out, arguments.name, arguments.overwrite, arguments.after)
        return write_copy(request, reading, place, arguments.whole_units)


def copy_request(
    opened: OpenLog, selection: Selection, reading: LogInput, options: ScriptOptions
) -> Request:
    """What is wanted of an open log that a part of becomes a log. Errors as those of
    :func:`replay.pipeline.request.make_request`."""
    request = make_request(opened, selection, Demand(copied=True), reading.keys())
    return replace(request, options=options)


@dataclass(frozen=True)
class CopyPlace:
    """Where the part of a log is written, what its files are called, and what it goes on from."""

    out: Path
    name: str = USUAL_NAME
    overwrite: bool = False
    after: Place | None = None


def write_copy(
    request: Request, reading: LogInput, place: CopyPlace, whole_units: bool = False
) -> int:
    """Write the part of a log, and say what is in it; the exit code."""
    tell_notes(request.notes)
    if reading.ccsids:
        print("note: the copy is read with the same --ccsid", file=sys.stderr)
    with Bar(sys.stderr) as progress:
        engine = reading.engine_for(request.log, progress)
        bundle = Extract(request, engine, whole_units, reading.split_bytes).write(
            place.out,
            name=place.name,
            overwrite=place.overwrite,
            after=place.after,
            adjoining=reading.adjoining,
        )
    return tell_written(reading, bundle)


EXTRACTS: dict[str, Callable[[argparse.Namespace], int]] = {"extract": _extract}
