"""Options of the command that writes a part of a log as a log again."""

from __future__ import annotations

import argparse
from typing import Any

from replay.changes.choices import USUAL_NAME
from replay.cli.argument_groups import add_after, add_engine, add_log
from replay.cli.argument_types import place, positive
from replay.cli.selection_arguments import add_dependents, add_selection
from replay.cli.statement_arguments import add_schema

EXTRACT = """\
Write the selected changes of a log, or of a set of logs, as one Log Master logical log again: a
control file and a data file, in commit order, with no change twice. Records are copied byte for
byte, damaged ones too (they are listed, and the exit code is 8). Rolled-back work, the REDO set and
incomplete units are kept, marked as in the original. Catalog changes, commands and status records
are kept unless rows are selected. The copy is read back before it is published."""


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
    add_after(command)
    add_engine(command)
    command.set_defaults(
        columns=[], exclude_columns=[], include_aborted=True, from_recovery_point=True
    )
    return command
