"""The command line's options: what they are called, what they accept, and what they mean."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from replay.changes.choices import (
    DrawingFormat,
    EngineName,
    Mode,
)
from replay.cli.argument_groups import (
    add_after,
    add_engine,
    add_formats,
    add_log,
    add_output,
)
from replay.cli.argument_types import (
    HelpLayout,
    Parser,
    also_output,
    number,
    place,
    positive,
    unit,
    unit_choice,
)
from replay.cli.examples import examples_of
from replay.cli.extract_arguments import add_extract
from replay.cli.live_arguments import add_live
from replay.cli.look_arguments import add_answer, add_looks
from replay.cli.selection_arguments import (
    add_baseline,
    add_dependents,
    add_positions,
    add_selection,
    add_tables,
)
from replay.cli.statement_arguments import (
    add_columns,
    add_dialect,
    add_generation,
    add_mapping,
    add_names,
    add_policies,
    add_reals,
    add_schema,
    add_statements,
)
from replay.version import __version__
from sqlgen.choices import ParameterStyle, StatementForm

EPILOG = """\
exit codes: 0 all is well, 2 an option is not understood, 4 warnings (read them), 8 errors
(something was set aside or refused), 12 unusable input or options

Words: redo repeats the logged changes in commit order (Log Master calls plain forward SQL MIGRATE,
and uses REDO for "after a recovery, all but the selected"); undo takes them back, in reverse
order. Positions are LRSNs, RBAs, LSNs or LOGADDRs, as the log has them."""

CHECK = """\
Every before image must equal the last after image of its row, an insert must meet no row, an update
or delete must meet one; positions lie between the begin and the commit of their unit and rise along
the changes of a row; segments and units are whole. Each contradiction is listed with its record and
row; what could not be compared is counted. Exit code 8 if there is any contradiction. A log that
was written with a filter contains some, because the changes in between are not in it."""


# -- the parser
# -------------------------------------------------------------------------------------------------


def make_parser(run: Mapping[str, Callable[[argparse.Namespace], int]]) -> argparse.ArgumentParser:
    """The parser of the command line; ``run`` has the function of each command."""
    parser = Parser(
        "logreplay",
        description="Reads database change logs and turns them into verified redo and undo SQL.",
        epilog=EPILOG,
        formatter_class=HelpLayout,
    )
    parser.add_argument("--version", action="version", version=f"logreplay {__version__}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    layout: dict[str, Any] = {
        "formatter_class": HelpLayout,
        "epilog": EPILOG,
    }

    _add_looks(commands, layout, run)
    add_looks(commands, layout, run)
    _add_graph(commands, layout).set_defaults(
        run=run["graph"], commit_every=1, records_per_file=250_000, trace=False, strict=False
    )
    _add_ddl(commands, layout, run)
    _add_migrate(commands, layout).set_defaults(run=run["migrate"])

    for mode, what in (
        ("redo", "write SQL that repeats the logged changes, in commit order"),
        ("undo", "write SQL that takes the logged changes back, in reverse order"),
    ):
        command = commands.add_parser(mode, help=what, description=what, **layout)
        add_log(command)
        add_output(command, tries=True)
        add_selection(command)
        add_schema(command)
        add_dependents(command, mode)
        command.add_argument(
            "--also",
            action="append",
            default=[],
            type=also_output,
            metavar="KIND:DIR",
            help="also write a redo, undo, export (Parquet) or extract (a log again) of the same"
            " changes into another folder (repeatable); the log is opened only once",
        )
        _add_parameters(command)
        if mode == "redo":
            add_after(command, also=True)
        add_baseline(command, "before the log" if mode == "redo" else "after the log")
        add_mapping(command)
        add_engine(command)
        command.set_defaults(run=run[mode])
    _add_export(commands, layout, run)
    add_after(commands.choices["export"])
    add_extract(commands, layout).set_defaults(run=run["extract"])
    add_live(commands, layout, run)
    for name, command in commands.choices.items():
        command.epilog = f"{examples_of(name)}\n\n{EPILOG}"
    return parser


def _add_looks(
    commands: Any, layout: dict[str, Any], run: Mapping[str, Callable[[argparse.Namespace], int]]
) -> None:
    shown = commands.add_parser(
        "demo",
        help="redo and undo a bundled log on a temporary PostgreSQL server and compare every row",
        **layout,
    )
    shown.add_argument("--keep", type=Path, metavar="DIR", help="keep the scripts in this folder")
    add_engine(shown, EngineName.SPARK)
    shown.set_defaults(run=run["demo"])

    look = commands.add_parser(
        "inspect", help="what is in a log, and what cannot be done with it", **layout
    )
    add_log(look)
    look.add_argument("--json", action="store_true", help="print the description as JSON")
    look.add_argument(
        "--record",
        type=positive,
        metavar="N",
        help="show the N-th record of a data file, field by field",
    )
    look.add_argument(
        "--file",
        type=positive,
        default=1,
        metavar="K",
        help="with --record: from the K-th data file (default 1)",
    )
    look.add_argument(
        "--hex",
        action="store_true",
        help="with --record: also show the bytes of each field in hexadecimal",
    )
    look.add_argument(
        "--deep",
        action="store_true",
        help="also check that the log does not contradict itself, as logreplay check does",
    )
    add_engine(look)
    look.set_defaults(run=run["inspect"])

    check = commands.add_parser(
        "check",
        help="find damaged values, lost records and contradictions in a log",
        description=CHECK,
        **layout,
    )
    add_log(check)
    check.add_argument("--json", action="store_true", help="print the result as JSON")
    add_schema(check)
    add_engine(check)
    check.set_defaults(run=run["check"])
    _add_whatif(commands, layout).set_defaults(run=run["whatif"])


def _add_whatif(commands: Any, layout: dict[str, Any]) -> Any:
    ask = commands.add_parser(
        "whatif",
        help="which later units depend on some units of recovery and would have to go with them",
        **layout,
    )
    add_log(ask)
    ask.add_argument(
        "--without",
        action="append",
        required=True,
        type=unit_choice,
        metavar="URID[/M] or KIND=GLOB",
        help=(
            "the units of recovery to leave out; KIND is ur, authid, plan, correlation, connection"
            " or luw (repeatable: all that one of them names)"
        ),
    )
    add_columns(ask, "later work on others is no conflict, as for undo and redo")
    ask.add_argument(
        "--tree",
        action="store_true",
        help="show dependent units as a tree, each below the unit it depends on, not as a table",
    )
    ask.add_argument(
        "--all",
        action="store_true",
        help="list all dependent units (default: the first 40)",
    )
    add_answer(ask, ("text", "json", "csv"))
    add_schema(ask)
    add_baseline(ask, "after the log")
    add_engine(ask)
    return ask


def _add_parameters(command: argparse.ArgumentParser) -> None:
    """Whether statements have literals or parameters."""
    command.add_argument(
        "--statements",
        choices=tuple(StatementForm),
        default=StatementForm.LITERALS,
        help="literals: SQL with the values in it, for any client (default); parameters:"
        " statements with placeholders and a file of their values (JSON lines), for a program"
        " and its database driver",
    )
    command.add_argument(
        "--parameter-style",
        choices=tuple(ParameterStyle),
        help="the placeholders: qmark is ?, format is %%s, numeric is $1 (default: qmark for"
        " sqlite, format for postgres)",
    )


def _add_graph(commands: Any, layout: dict[str, Any]) -> argparse.ArgumentParser:
    view: argparse.ArgumentParser = commands.add_parser(
        "graph",
        help="draw which units depend on the selected ones, as a page or as data",
        **layout,
    )
    add_log(view)
    group = view.add_argument_group("graph")
    group.add_argument("--out", required=True, type=place, metavar="FILE", help="the file to write")
    group.add_argument(
        "--overwrite", action="store_true", help="replace a file that is already there"
    )
    group.add_argument(
        "--format",
        choices=tuple(DrawingFormat),
        default=DrawingFormat.HTML,
        help="html (default): the page of `report page`, opened at its dependency graph; json,"
        " graphml, mermaid: the graph as data",
    )
    group.add_argument(
        "--by-column",
        action="store_true",
        help="no dependency between updates of different columns of a row",
    )
    group.add_argument(
        "--back", action="store_true", help="also the units that the selected ones depend on"
    )
    group.add_argument(
        "--max-units",
        type=positive,
        default=5000,
        metavar="N",
        help="refuse to draw more units (default 5000)",
    )
    add_statements(view, "key")
    add_selection(view, undone=False)
    add_schema(view)
    add_engine(view)
    view.set_defaults(include_aborted=False)
    return view


def _add_ddl(
    commands: Any, layout: dict[str, Any], run: Mapping[str, Callable[[argparse.Namespace], int]]
) -> None:
    make = commands.add_parser(
        "ddl",
        help=(
            "write the CREATE TABLE statements of a log's tables for another database, or the"
            " structure changes that the log holds"
        ),
        **layout,
    )
    add_log(make)
    group = make.add_argument_group("tables")
    group.add_argument(
        "--changes",
        choices=tuple(Mode),
        help=(
            "write the log's structure changes (CREATE, ALTER, DROP) instead of the tables: redo"
            " repeats them, undo takes them back"
        ),
    )
    group.add_argument(
        "--out", type=place, metavar="FILE", help="the file to write (default: standard output)"
    )
    group.add_argument(
        "--overwrite", action="store_true", help="replace a file that is already there"
    )
    add_generation(group)
    add_dialect(group)
    add_names(group)
    add_reals(group)
    add_tables(group)
    group = make.add_argument_group("with --changes")
    add_positions(group)
    group.add_argument(
        "--ur",
        action="append",
        default=[],
        type=unit,
        metavar="URID[/MEMBER]",
        help="only these units of recovery",
    )
    add_schema(make)
    make.set_defaults(run=run["ddl"])


def _add_migrate(commands: Any, layout: dict[str, Any]) -> argparse.ArgumentParser:
    what = (
        "write everything needed to move the tables of a log to another database: schema, load,"
        " redo scripts, foreign keys, verification"
    )
    command: argparse.ArgumentParser = commands.add_parser(
        "migrate", help=what, description=what, **layout
    )
    add_log(command)
    add_output(command)
    group = command.add_argument_group("migrate")
    group.add_argument(
        "--initial",
        type=place,
        metavar="DIR",
        help="the rows before the log: TABLE.csv or TABLE.csv.gz for each table",
    )
    add_generation(group)
    add_selection(command)
    add_schema(command)
    add_mapping(command)
    add_engine(command)
    return command


def _add_export(
    commands: Any, layout: dict[str, Any], run: Mapping[str, Callable[[argparse.Namespace], int]]
) -> None:
    what = (
        "write the logged changes as data: one dataset for each table, partitioned by commit date"
    )
    command = commands.add_parser("export", help=what, description=what, **layout)
    add_log(command)
    group = command.add_argument_group("output")
    group.add_argument(
        "--out",
        required=True,
        type=place,
        metavar="DIR",
        help="folder for the datasets and manifest.json; appears whole or not at all",
    )
    group.add_argument(
        "--overwrite", action="store_true", help="replace a bundle that is already there"
    )
    group.add_argument(
        "--grow",
        action="store_true",
        help="add to the datasets in DIR, in one commit, the units that they do not hold yet",
    )
    group.add_argument(
        "--back-to",
        type=number,
        metavar="N",
        help="with --grow: first take back the commits of DIR behind number N (0: all)",
    )
    add_formats(group)
    group.add_argument(
        "--records-per-file",
        type=positive,
        default=250_000,
        metavar="N",
        help="about how many log records one task writes (default 250000)",
    )
    group.add_argument("--strict", action="store_true", help="stop at the first damaged record")
    values = command.add_argument_group("values")
    add_names(values)
    add_columns(values, "an update of nothing else is left out, and is counted")
    add_policies(values)
    add_selection(command)
    add_schema(command)
    add_baseline(command, "before the log")
    add_dependents(command, "redo")
    add_engine(command)
    command.set_defaults(
        run=run["export"],
        dialect="duckdb",
        where_columns="key",
        commit_every=1,
        trace=False,
        empty_text="refuse",
    )
