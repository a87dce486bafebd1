"""Options of the command that names points."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from replay.cli.argument_groups import add_log, add_target
from replay.cli.argument_types import position, time, unit
from replay.cli.selection_arguments import add_marks

MARK = """\
Name a point of a log, or list the existing marks (without NAME). With a log, marks are lines of a
file beside it, and redo, undo, export, history, state, report, extract and replay know their names:
--from-mark NAME selects what committed after the mark, --until-mark NAME what committed at or
before it, and state --at NAME the rows at the mark. A name can be used again: NAME is the latest
mark of that name, NAME(-1) the one before. With --to, a mark is kept in a live database, for
replay --until-mark."""


def add_mark(commands: Any, layout: dict[str, Any]) -> argparse.ArgumentParser:
    """The command ``mark``."""
    command: argparse.ArgumentParser = commands.add_parser(
        "mark",
        help="name a point of a log or of a live database, or list the marks",
        description=MARK,
        **layout,
    )
    command.add_argument("name", nargs="?", metavar="NAME", help="without it: list the marks")
    add_log(command)
    add_target(command, required=False)
    group = command.add_argument_group("mark")
    which = group.add_mutually_exclusive_group()
    which.add_argument(
        "--position",
        "--lrsn",
        type=position,
        metavar="X",
        help="the commit position (default: the last one of the log; with --to: the position of"
        " the target; there all 20 digits)",
    )
    which.add_argument(
        "--time",
        type=partial(time, True),
        metavar="T",
        help="the last commit up to this time, as in the log",
    )
    which.add_argument(
        "--ur", type=unit, metavar="URID[/MEMBER]", help="where this unit of recovery commits"
    )
    which.add_argument(
        "--delete",
        metavar="NAME",
        help="take a mark back: NAME, or NAME(-1) for the one before it; of --marks FILE, the file"
        " beside the log, or --to",
    )
    group.add_argument("--note", default="", metavar="TEXT", help="what the mark is for")
    group.add_argument(
        "--by", metavar="WHO", help="who made the mark (default: the user of this machine)"
    )
    group.add_argument("--json", action="store_true", help="print the list as JSON")
    add_marks(group)
    return command
