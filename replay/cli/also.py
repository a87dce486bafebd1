"""``--also KIND:DIR``: more outputs of the same changes, from the log as it is open."""

from __future__ import annotations

import argparse
from pathlib import Path

from replay.changes.choices import CascadeMode, Mode
from replay.changes.options import Export
from replay.cli.request import keys_of, options_of, selection_of
from replay.errors import UsageError
from replay.output.bundle import check_output
from replay.output.formats import export_request
from replay.pipeline.request import Demand, MappingFile, OpenLog, Request, make_request
from replay.storage import Place
from sqlgen.choices import EmptyTextPolicy, WhereColumns

#: The kind of output that is data.
EXPORT = "export"


def check_also(mode: Mode, arguments: argparse.Namespace) -> None:
    """UsageError (LR1001, LR1002) for other outputs that cannot be had beside the first, before
    anything is read."""
    if arguments.also and (arguments.dry_run is not None or str(arguments.out) == "-"):
        raise UsageError("LR1001", "found --also without a folder in --out; expected both")
    if arguments.also and getattr(arguments, "after", None) is not None:
        raise UsageError(
            "LR1001", "found --also with --after; expected a chain of bundles for each output"
        )
    places: list[Path] = [Path(str(arguments.out)).absolute()]
    for kind, place in arguments.also:
        other = kind == Mode.UNDO or mode is Mode.UNDO
        if other and kind != mode:
            _refuse_meant_for(mode, kind, arguments)
        if kind == EXPORT and arguments.mapping is not None:
            raise UsageError(
                "LR1001",
                "found --mapping with --also export; expected one of them: an export has no"
                " mapping, so that its values would not be masked",
            )
        check_output(place, arguments.overwrite)
        path = Path(str(place)).absolute()
        if any(path == one or path in one.parents or one in path.parents for one in places):
            raise UsageError(
                "LR1002", f"found {place} for two outputs; expected a folder of its own for each"
            )
        places.append(path)


def _refuse_meant_for(mode: Mode, kind: str, arguments: argparse.Namespace) -> None:
    """UsageError (LR1001) for an option that means something else in the other direction."""
    meant = {
        "--baseline": arguments.baseline is not None,
        "--except": bool(getattr(arguments, "excepted", None)),
        "--cascade": getattr(arguments, "cascade", CascadeMode.NONE) != CascadeMode.NONE,
        "--upsert": arguments.upsert,
    }
    given = [option for option, is_given in meant.items() if is_given]
    if given:
        raise UsageError(
            "LR1001",
            f"found {given[0]} of {mode} with --also {kind}, for which it means something else;"
            " expected two commands",
        )


def also_requests(
    opened: OpenLog, arguments: argparse.Namespace, mapping: MappingFile | None
) -> list[tuple[Place, Request]]:
    """What is wanted of an open log beside the first output, and the folder of each. Errors as
    those of :func:`replay.pipeline.request.make_request`."""
    wanted: list[tuple[Place, Request]] = []
    for kind, place in arguments.also:
        selection, keys = selection_of(arguments), keys_of(arguments)
        options = options_of(arguments)
        if kind == EXPORT:
            values = {
                "dialect": "duckdb",
                "where_columns": WhereColumns.KEY,
                "empty_text": EmptyTextPolicy.REFUSE,
                "commit_every": 1,
                "commit_statements": None,
                "trace": False,
                "upsert": False,
                "asserts": None,
            }
            options = options_of(argparse.Namespace(**{**vars(arguments), **values}))
            demand = Demand(options=options, export=Export("parquet"), baseline=arguments.baseline)
            wanted.append((place, export_request(opened, selection, demand, keys)))
            continue
        demand = Demand(Mode(kind), options, mapping, baseline=arguments.baseline)
        wanted.append((place, make_request(opened, selection, demand, keys)))
    return wanted
