"""``extract``: a part of a log as a log again."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace

from replay.api import Extract
from replay.changes.balance import balance_text
from replay.changes.options import ScriptOptions
from replay.cli.log_words import look_at
from replay.cli.progress import Bar
from replay.cli.request import engine_of, keys_of, open_log, selection_of
from replay.errors import UsageError
from replay.leftovers import WorkFolder
from replay.logs import source_named
from replay.output.bundle import Bundle, check_output
from replay.output.extraction import check_name, writer_of
from replay.pipeline.request import Demand, make_request

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
        request = make_request(opened, selection, demand, keys_of(arguments))
        options = ScriptOptions(
            records_per_file=arguments.records_per_file, strict=arguments.strict
        )
        request = replace(request, options=options)
        for note in request.notes:
            print(f"note: {note}", file=sys.stderr)
        if arguments.ccsid:
            print("note: the copy is read with the same --ccsid", file=sys.stderr)
        with Bar(sys.stderr) as progress:
            engine = engine_of(arguments, request.log, progress)
            extract = Extract(request, engine, arguments.whole_units, arguments.split_mb << 20)
            bundle = extract.write(
                arguments.out, name=arguments.name, overwrite=arguments.overwrite
            )
    _tell(bundle)
    if bundle.manifest["quarantined_units"]:
        print(look_at(bundle.manifest["quarantined_units"][0]["unit"], arguments))
    return bundle.exit_code


def _tell(bundle: Bundle) -> None:
    manifest = bundle.manifest
    for warning in manifest["warnings"]:
        print(f"warning: {warning}")
    for finding in manifest["findings"]["shown"][:_SHOWN]:
        print(finding)
    if manifest["findings"]["count"] > _SHOWN:
        print(f"… {manifest['findings']['count'] - _SHOWN} more findings in manifest.json")
    for unit in manifest["quarantined_units"][:_SHOWN]:
        print(f"left out: unit {unit['unit']}: {unit['reason']}")
    if len(manifest["quarantined_units"]) > _SHOWN:
        print(f"… {len(manifest['quarantined_units']) - _SHOWN} more such units in manifest.json")
    print(balance_text(bundle.tally, "changes"))
    control, data = manifest["files"]
    print(f"{control}, {data} and manifest.json are in {bundle.folder}")


EXTRACTS: dict[str, Callable[[argparse.Namespace], int]] = {"extract": _extract}
