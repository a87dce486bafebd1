"""``mark`` and ``extract``: names for points of a log or of a live database, and a part of a log as
a log again."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from replay import storage
from replay.changes.choices import USUAL_NAME
from replay.changes.options import ScriptOptions
from replay.changes.position import Position
from replay.changes.selection import Selection, unit_text
from replay.cli.commands import tell_written
from replay.cli.outcome import check_folder, tell, tell_notes
from replay.cli.request import LogInput, selection_of
from replay.cli.terminal import Bar
from replay.errors import EXIT_OK, UsageError, counted
from replay.live import status
from replay.logs import LogFile, source_named
from replay.logs.marks import (
    Mark,
    add_mark,
    check_mark_name,
    marks_place,
    position_kind,
    read_marks,
    remove_mark,
)
from replay.output.extraction import check_name, writer_of
from replay.pipeline.extent import log_extent, refuse_other_run
from replay.pipeline.request import Demand, OpenLog, Request, make_request
from replay.pipeline.resolve_positions import commit_point, lies_outside
from replay.reports.layout import table_lines
from replay.storage import Place
from replay.temp_folders import WorkFolder
from replay.writable import Extract

#: Letters that a note may have.
_LONGEST_NOTE = 1000


def _mark(arguments: argparse.Namespace) -> int:
    reading = LogInput.of(arguments)
    if arguments.delete is not None:
        return _delete(arguments, reading)
    if arguments.to is not None:
        return _in_target(arguments, reading.is_named)
    if reading.is_named:
        with WorkFolder() as scratch:
            opened = reading.open(scratch)
            if arguments.ur is not None:
                chosen = reading.settled(opened, Selection(units=(arguments.ur,)), scratch)
                arguments.ur = chosen.units[0]
            return _beside_log(arguments, opened.log)
    if arguments.marks is None or arguments.name is not None:
        raise UsageError(
            "LR1001",
            "found neither a log nor --to; expected the log that a mark is of (--control and"
            " --data, --logs, --log), or a database",
            hint="--marks FILE alone lists the marks of a file",
        )
    place = storage.at(arguments.marks)
    return _listed(arguments, read_marks(place), place, None)


def _delete(arguments: argparse.Namespace, reading: LogInput) -> int:
    """A mark is taken back: of a live database, of the file beside a log, or of ``--marks``."""
    given = {
        "NAME": arguments.name is not None,
        "--note": bool(arguments.note),
        "--by": arguments.by is not None,
        "--json": arguments.json,
        "--marks or a log with --to": arguments.to is not None
        and (reading.is_named or arguments.marks is not None),
    }
    for option, there in given.items():
        if there:
            raise UsageError(
                "LR1001", f"found {option} with --delete; expected the mark and where it is"
            )
    if arguments.to is not None:
        print(status.forget_mark(arguments.to, arguments.delete))
        return EXIT_OK
    if arguments.marks is not None:
        place = storage.at(arguments.marks)
    elif reading.is_named:
        with WorkFolder() as scratch:
            place = marks_place(reading.open(scratch).log, None)
    else:
        raise UsageError(
            "LR1001", "found --delete alone; expected --marks FILE, the log beside it, or --to"
        )
    mark = remove_mark(place, arguments.delete)
    print(
        f"mark {mark.name} is no more; it was {mark.kind} {mark.position.hexadecimal}, in {place}"
    )
    return EXIT_OK


def _in_target(arguments: argparse.Namespace, with_log: bool) -> int:
    """A mark in a live database, or those that it has."""
    beside = {
        "a log": with_log,
        "--marks": arguments.marks is not None,
        "--time": arguments.time is not None,
        "--ur": arguments.ur is not None,
        "--note": bool(arguments.note),
        "--by": arguments.by is not None,
    }
    given = [option for option, there in beside.items() if there]
    if given:
        raise UsageError(
            "LR1001",
            f"found {given[0]} with --to; expected one of them: a mark of a database is its name"
            " and a commit position",
        )
    if arguments.name is None:
        marks = status.stand(arguments.to).marks
        told = {name: position.hexadecimal for name, position in marks.items()}
        if arguments.json:
            print(json.dumps(told, indent=1, ensure_ascii=False))
        else:
            lines = [{"name": name, "commit position": digits} for name, digits in told.items()]
            print("\n".join(table_lines(("name", "commit position"), lines)))
        return EXIT_OK
    if arguments.position is not None and len(arguments.position) != Position.SIZE:
        raise UsageError(
            "LR1001",
            "found --position with fewer than 20 digits; expected 20: without a log a short"
            " form cannot be completed",
        )
    position = None if arguments.position is None else Position(arguments.position)
    print(status.mark(arguments.to, arguments.name, position))
    return EXIT_OK


def _beside_log(arguments: argparse.Namespace, log: LogFile) -> int:
    """A mark in the file beside a log, or those that it has."""
    place = marks_place(log, arguments.marks)
    if arguments.name is None:
        return _listed(arguments, read_marks(place), place, log)
    check_mark_name(arguments.name)
    if len(arguments.note) > _LONGEST_NOTE:
        raise UsageError(
            "LR1001",
            f"found a --note of {len(arguments.note):,} letters; expected {_LONGEST_NOTE:,} at"
            " most",
        )
    refuse_other_run(log)
    point = commit_point(log, arguments.position, arguments.time, arguments.ur)
    unit = "" if arguments.ur is None else unit_text(*arguments.ur)
    mark = Mark(
        arguments.name,
        point.position,
        log.source,
        position_kind(log),
        point.committed,
        unit,
        datetime.now(UTC).isoformat(timespec="microseconds"),
        arguments.by or getpass.getuser(),
        arguments.note,
    )
    add_mark(place, mark)
    when = f", committed {point.committed}" if point.committed else ""
    print(f"mark {mark.name}: {mark.kind} {point.position.hexadecimal}{when}, in {place}")
    if not point.units:
        tell(f"note: nothing commits there; {log_extent(log)}")
    elif point.units > 1:
        tell(f"note: {point.units} units of recovery commit there, and lie before the mark")
    return EXIT_OK


def _listed(
    arguments: argparse.Namespace, marks: Sequence[Mark], place: Place, log: LogFile | None
) -> int:
    if arguments.json:
        told = [asdict(mark) | {"position": mark.position.hexadecimal} for mark in marks]
        for one in told:
            del one["removed"]
        print(json.dumps(told, indent=1, ensure_ascii=False))
        return EXIT_OK
    heads = ("name", "number", "commit position", "committed", "made", "by", "note")
    lines = [
        {
            "name": mark.name,
            "number": f".{mark.number}",
            "commit position": mark.position.hexadecimal,
            "committed": mark.committed,
            "made": mark.made[:19].replace("T", " "),
            "by": mark.by,
            "note": mark.note,
        }
        for mark in marks
    ]
    print("\n".join([f"{counted(len(marks), 'mark')} in {place}", *table_lines(heads, lines)]))
    if log is not None:
        extent = log_extent(log)
        for mark in marks:
            if (mark.source, mark.kind) != (log.source, position_kind(log)):
                tell(f"note: {mark.name} is of another log ({mark.source}, {mark.kind})")
            elif lies_outside(mark.position, extent):
                digits = mark.position.hexadecimal
                tell(f"note: {mark.name} ({digits}) lies outside of the log: {extent}")
    return EXIT_OK


# -- a part of a log
# -------------------------------------------------------------------------------------------------


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


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {"mark": _mark, "extract": _extract}
