"""Options of the command that writes a part of a log as a log again."""

from __future__ import annotations

import argparse
from typing import Any

from replay.changes.choices import USUAL_NAME
from replay.cli.argument_groups import add_engine, add_log
from replay.cli.argument_types import place, positive
from replay.cli.selection_arguments import add_dependents, add_selection
from replay.cli.statement_arguments import add_schema

EXTRACT = """\
Write the selected changes of a log, or of a set of logs, as one Log Master logical log again: a
control file and a data file, in the order of commit, no change twice. Records are passed on as they
are, octet by octet, damaged ones too (exit code 8 names them). Rolled-back work, the REDO set and
incomplete units stay in, marked as in the original; catalog changes, commands and status records
too where nothing about rows is selected. The copy is read again before it is published."""


def add_extract(commands: Any, layout: dict[str, Any]) -> argparse.ArgumentParser:
    """The command ``extract``."""
    command: argparse.ArgumentParser = commands.add_parser(
        "extract",
        help="write the selected changes as one Log Master logical log again",
        description=EXTRACT,
        **layout,
    )
    add_log(command)
    group = command.add_argument_group("output")
    group.add_argument(
        "--out",
        required=True,
        type=place,
        metavar="DIR",
        help="folder for the two files and manifest.json; appears whole or not at all",
    )
    group.add_argument(
        "--name",
        default=USUAL_NAME,
        help=f"what the files are called: NAME.ctl and NAME.dat (default {USUAL_NAME})",
    )
    group.add_argument(
        "--overwrite", action="store_true", help="replace a bundle that is already there"
    )
    group.add_argument(
        "--records-per-file",
        type=positive,
        default=250_000,
        metavar="N",
        help="about how many log records one task writes (default 250000)",
    )
    group.add_argument("--strict", action="store_true", help="stop at the first damaged record")
    add_selection(command, copies=True)
    add_schema(command)
    add_dependents(command, "redo")
    add_engine(command)
    command.set_defaults(
        columns=[], exclude_columns=[], include_aborted=True, from_recovery_point=True
    )
    return command
