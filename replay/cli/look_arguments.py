"""Options of the commands that answer questions."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from replay.cli.argument_groups import (
    add_engine,
    add_log,
)
from replay.cli.argument_types import number, place, positive
from replay.cli.selection_arguments import (
    add_marks,
    add_selection,
    add_tables,
)
from replay.cli.statement_arguments import (
    add_schema,
)

HISTORY = """\
Every version that the log has of some rows: when, who (authid, plan, correlation id, unit of
recovery), what changed, and where the change came from (statement, RI, trigger). A row is followed
through changes of its key and of the table's layout. The last lines are commands that undo the last
change, its unit, or everything that job did. The exit code is 4 if the log has no such row."""


def add_looks(
    commands: Any, layout: dict[str, Any], run: Mapping[str, Callable[[argparse.Namespace], int]]
) -> None:
    """The commands that answer questions."""
    explain = commands.add_parser(
        "explain", help="explain an error code: what it means, its causes, what to do", **layout
    )
    explain.add_argument("code", nargs="*", metavar="CODE", help="such as LR2011 (default: all)")
    explain.set_defaults(run=run["explain"])
    docs = commands.add_parser(
        "docs", help="open the documentation (no network needed), or write man pages", **layout
    )
    docs.add_argument("--man", type=Path, metavar="DIR", help="write man pages into this folder")
    docs.add_argument(
        "--no-browser", action="store_true", help="only print where the documentation is"
    )
    docs.set_defaults(run=run["docs"])
    shell = commands.add_parser(
        "completion", help="print the completion script for a shell", **layout
    )
    shell.add_argument("shell", choices=("bash", "zsh", "fish"), help="bash, zsh or fish")
    shell.set_defaults(run=run["completion"])
    _add_doctor(commands, layout).set_defaults(run=run["doctor"])
    _add_report(commands, layout).set_defaults(run=run["report"])
    _add_state(commands, layout).set_defaults(run=run["state"])
    _add_history(commands, layout).set_defaults(run=run["history"], columns=[], exclude_columns=[])


def add_answer(group: Any, forms: tuple[str, ...]) -> None:
    """How an answer is written, and where to."""
    group.add_argument(
        "--format", choices=forms, default=forms[0], help=f"{', '.join(forms)} (default {forms[0]})"
    )
    group.add_argument("--json", action="store_true", help="as --format json")
    group.add_argument(
        "--out", type=place, metavar="FILE", help="the file to write (default, and -: print it)"
    )
    group.add_argument(
        "--overwrite", action="store_true", help="replace a file that is already there"
    )


DOCTOR = """\
The published record layouts leave some points open. This report says which reading of them the log
confirms, with how many records, and which points no record of the log shows; and it counts header
layouts, lengths, codes and types. It holds no value of a row, no name and no position. --compare
compares two such reports (exit code 4 if they differ). The exit code is 8 if the log contradicts
the reading that logreplay uses, and 12 if it cannot be opened; the report says why."""


def _add_doctor(commands: Any, layout: dict[str, Any]) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        "doctor",
        help="report how well a log matches the published format, without any data values",
        description=DOCTOR,
        **layout,
    )
    add_log(command)
    group = command.add_argument_group("doctor")
    group.add_argument("--json", action="store_true", help="print the report as JSON")
    group.add_argument("--out", type=place, metavar="FILE", help="write the report here, as JSON")
    group.add_argument(
        "--overwrite", action="store_true", help="replace a file that is already there"
    )
    group.add_argument(
        "--sign-key", type=place, metavar="F", help="sign it with this private key (Ed25519, PEM)"
    )
    group.add_argument(
        "--compare",
        nargs=2,
        type=place,
        metavar=("A", "B"),
        help="read no log, but compare two such reports",
    )
    return command


def _add_history(commands: Any, layout: dict[str, Any]) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        "history",
        help="the history of a row: every version, who made it, when, and how to undo it",
        description=HISTORY,
        **layout,
    )
    add_log(command)
    group = command.add_argument_group("history")
    group.add_argument(
        "--key",
        action="append",
        default=[],
        metavar="K",
        help=(
            "the row with this key: a value, the values of several columns with commas between, or"
            " COLUMN=VALUE,… (repeatable)"
        ),
    )
    group.add_argument(
        "--whole", action="store_true", help="whole rows, not only the columns that changed"
    )
    add_answer(group, ("text", "json", "csv"))
    add_selection(command)
    add_schema(command)
    add_engine(command)
    return command


STATE = """\
The rows of tables as they were at a point of the log (a commit position, a time, a mark, start or
end; with all that committed at or before it), or the differences between two points. --initial is a
known state, from before the log or after it: a folder of TABLE.csv files or a database. Every row
that the log touches must be in it as the log has it. Without --initial, only the rows that the log
itself shows are written (exit code 4); --diff does not need it."""


def _add_state(commands: Any, layout: dict[str, Any]) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        "state",
        help="the rows as they were at a point, or what differs between two points",
        description=STATE,
        **layout,
    )
    add_log(command)
    group = command.add_argument_group("state")
    which = group.add_mutually_exclusive_group(required=True)
    which.add_argument("--at", metavar="POINT", help="the rows at this point")
    which.add_argument(
        "--diff", nargs=2, metavar=("A", "B"), help="how the rows at B differ from those at A"
    )
    group.add_argument(
        "--initial", metavar="DIR|URL", help="the rows before or after the log, or a database"
    )
    group.add_argument(
        "--initial-at",
        metavar="POINT",
        help=(
            "the point of the rows in --initial: before, after, or a point of the log (default: the"
            " position that a database was replayed to; else detected from the rows)"
        ),
    )
    group.add_argument(
        "--to",
        metavar="URL",
        help="put the rows into the empty tables of a database; tables that are not there are made",
    )
    group.add_argument(
        "--format",
        choices=("parquet", "csv", "json", "text"),
        help="--at: parquet (default) or csv; --diff: text (default), json or csv",
    )
    group.add_argument("--json", action="store_true", help="as --format json")
    group.add_argument(
        "--out",
        type=place,
        metavar="PATH",
        help="--at: the folder to write the rows to (without it, or with -, the rows of one table"
        " are printed as CSV); --diff: the file to write",
    )
    group.add_argument("--overwrite", action="store_true", help="replace what is there already")
    add_tables(group)
    add_marks(group, "a POINT that is a mark")
    add_schema(command)
    add_engine(command)
    return command


REPORT = """\
Reports from the log alone:

  audit      who changed which columns of which row, and when
  detail     every change with whole rows and its place in the log
  summary    how many changes of each kind, by table (or --group-by)
  activity   the same by hour and user (or --group-by)
  integrity  for each selected change, what later work an undo would hit, by row, key and column
  quiet      spans in which no unit of recovery was open (--min, --max-open)
  open       units without an end in the log, or open at a point (--at)
  large      the longest and the largest units (--top)
  catalog    changes of structure and of whole tables, commands, status changes
  page       all of it as one page for a browser that needs no network: a timeline, units and rows
             with filters, their dependencies, and the command for each choice (--max-rows)

If there is nothing to report, the exit code is 4 and the reason is printed."""

KINDS = (
    "audit",
    "detail",
    "summary",
    "integrity",
    "quiet",
    "open",
    "activity",
    "catalog",
    "large",
    "page",
)
GROUPS = ("user", "job", "plan", "hour", "table", "unit", "day", "connection", "op", "origin")


def _add_report(commands: Any, layout: dict[str, Any]) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        "report",
        help="audit, detail, summary, integrity, quiet, open, activity, catalog, large or page",
        description=REPORT,
        **layout,
    )
    command.add_argument("kind", choices=KINDS, metavar="KIND", help=", ".join(KINDS))
    add_log(command)
    group = command.add_argument_group("report")
    add_answer(group, ("text", "html", "json", "csv"))
    command.set_defaults(format=None)
    group.add_argument(
        "--group-by",
        action="append",
        default=[],
        metavar="NAME,…",
        help=f"group or sort the lines of the report by: {', '.join(GROUPS)}",
    )
    group.add_argument(
        "--columns",
        dest="shown",
        action="append",
        default=[],
        metavar="NAME,…",
        help="the columns of the report, in order",
    )
    group.add_argument(
        "--times",
        choices=("iso", "usa", "eur", "jis"),
        default="iso",
        help="the format of dates and times (default iso)",
    )
    group.add_argument(
        "--top", type=positive, default=20, metavar="N", help="large: how many units (default 20)"
    )
    group.add_argument("--min", metavar="TIME", help="quiet: spans of at least 30s, 5m, 1h30m …")
    group.add_argument(
        "--max-open",
        type=number,
        default=0,
        metavar="N",
        help="quiet: spans with at most N open units (default 0)",
    )
    group.add_argument("--at", metavar="POINT", help="open: the units that were open at a point")
    group.add_argument(
        "--undo-columns",
        dest="columns",
        action="append",
        default=[],
        metavar="GLOB",
        help="integrity: as if these columns alone were undone (undo --columns)",
    )
    group.add_argument(
        "--undo-exclude-columns",
        dest="exclude_columns",
        action="append",
        default=[],
        metavar="GLOB",
        help="integrity: as if all but these columns were undone (undo --exclude-columns)",
    )
    group.add_argument(
        "--max-rows",
        type=positive,
        default=100_000,
        metavar="N",
        help=(
            "audit, detail, integrity: refuse to list more changes; page: leave out rows and"
            " dependencies if there are more (default 100000)"
        ),
    )
    add_selection(command)
    add_schema(command)
    add_engine(command)
    return command
