"""``extract``: a part of a log as a log again."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace

from replay.changes.balance import SHOWN, balance_text
from replay.changes.choices import Gaps
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.cli.log_words import look_at
from replay.cli.progress import Bar
from replay.cli.request import engine_of, keys_of, open_log, selection_of
from replay.errors import UsageError
from replay.logs import source_named
from replay.output.bundle import Bundle
from replay.output.extraction import check_name, writer_of
from replay.output.whole_folder import check_output
from replay.pipeline.request import Demand, OpenLog, Request, make_request
from replay.temp_folders import WorkFolder
from replay.writable import Extract

#: Findings, and units that are left out, which are shown.
_SHOWN = 20


def _extract(arguments: argparse.Namespace) -> int:
    if str(arguments.out) == "-":
        raise UsageError("LR1001", "found --out -; expected a folder: a log is two files")
    writer_of(source_named(arguments.source))
    check_output(arguments.out, arguments.overwrite)
    check_name(arguments.name)
    demand = Demand(copied=True)
    selection = selection_of(arguments)
    if arguments.committed_only:
        selection = replace(selection, include_aborted=False)
    with WorkFolder() as scratch:
        opened = open_log(arguments, scratch, demand, selection)
        return write_copy(arguments, copy_request(opened, selection, arguments))


def copy_request(opened: OpenLog, selection: Selection, arguments: argparse.Namespace) -> Request:
    """What is wanted of an open log that a part of becomes a log. Errors as those of
    :func:`replay.pipeline.request.make_request`."""
    request = make_request(opened, selection, Demand(copied=True), keys_of(arguments))
    options = ScriptOptions(records_per_file=arguments.records_per_file, strict=arguments.strict)
    return replace(request, options=options)


def write_copy(arguments: argparse.Namespace, request: Request) -> int:
    """Write the part of a log into ``arguments.out``, and say what is in it; the exit code."""
    for note in request.notes:
        print(f"note: {note}", file=sys.stderr)
    if arguments.ccsid:
        print("note: the copy is read with the same --ccsid", file=sys.stderr)
    with Bar(sys.stderr) as progress:
        engine = engine_of(arguments, request.log, progress)
        extract = Extract(request, engine, arguments.whole_units, arguments.split_mb << 20)
        bundle = extract.write(
            arguments.out,
            name=arguments.name,
            overwrite=arguments.overwrite,
            after=arguments.after,
            adjoining=arguments.gaps in (Gaps.WARN, Gaps.ALLOW),
        )
    _tell(bundle)
    if bundle.contents["quarantined_units"]:
        print(look_at(bundle.contents["quarantined_units"][0]["unit"], arguments))
    return bundle.exit_code


def _tell(bundle: Bundle) -> None:
    manifest = bundle.contents
    for warning in manifest["warnings"]:
        print(f"warning: {warning}")
    for finding in manifest["findings"]["shown"][:_SHOWN]:
        print(finding)
    if manifest["findings"]["count"] > _SHOWN:
        print(f"… {manifest['findings']['count'] - _SHOWN} more findings in manifest.json")
    for unit in manifest["quarantined_units"][:_SHOWN]:
        print(f"left out: unit {unit['unit']}: {unit['reason']}")
    if (more := len(bundle.tally.quarantined_units) - _SHOWN) > 0:
        print(f"… {more} more such units; manifest.json names up to {SHOWN:,}")
    print(balance_text(bundle.tally, "changes"))
    control, data = manifest["files"]
    print(f"{control}, {data} and manifest.json are in {bundle.folder}")


EXTRACTS: dict[str, Callable[[argparse.Namespace], int]] = {"extract": _extract}
