"""Groups of options that several commands have: log, target, output, formats, engine, chains."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from replay.changes.choices import (
    SOURCES,
    Arrival,
    CsvFormulas,
    EngineName,
    EventSchemas,
    ExportFormat,
    Gaps,
    OnTrouble,
    ParquetTypes,
)
from replay.cli.argument_types import (
    InTurn,
    OncePerName,
    also_output,
    bare,
    ccsid,
    pair,
    place,
    port,
    positive,
    seconds,
)
from replay.cli.selection_arguments import add_selection
from replay.cli.statement_arguments import add_schema, add_statements
from sqlgen.choices import (
    Assertion,
)


def add_how(command: argparse.ArgumentParser) -> None:
    """How statements of commands on live databases are made, and of what."""
    add_statements(command, "guard", dialect=False)
    add_selection(command, False)
    add_schema(command)
    add_engine(command)


def add_target(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """The database."""
    group = parser.add_argument_group("target")
    what = (
        "the database: postgresql://user@host/database (leave the password out: PGPASSWORD,"
        " PGSERVICE and ~/.pgpass are read), "
    )
    what += (
        "mariadb://user@host/, mysql://user@host/ (MYSQL_PWD), duckdb:////path/file,"
        " sqlite:////path/file"
    )
    group.add_argument("--to", required=required, metavar="URL", help=what)


def add_log(parser: argparse.ArgumentParser) -> None:
    """The files of a log, and its settings."""
    group = parser.add_argument_group("log")
    group.add_argument(
        "--config",
        metavar="F",
        help=(
            "options and stored selections (TOML; default: logreplay.toml beside the log); the"
            " command line wins"
        ),
    )
    group.add_argument("--selection", metavar="NAME", help="a selection stored in --config")
    group.add_argument(
        "--source",
        default="logmaster",
        metavar="FAMILY",
        help=f"{', '.join(SOURCES)} (default logmaster), or an installed one",
    )
    for name, what in (
        ("--control", "logmaster: control file; of several logs, each before its data; repeatable"),
        ("--data", "logmaster: data file(s), .gz too (repeatable)"),
    ):
        group.add_argument(name, nargs="+", action=InTurn, default=[], metavar="F", help=what)
    for name, metavar, what in (
        ("--log", "F", "other families: log file(s), in order (repeatable)"),
        (
            "--logs",
            "PATH|URL",
            "several logs read as one: a folder (in a store, too: s3://bucket/logs), a glob of"
            " control or log files, or a list (TOML)",
        ),
    ):
        group.add_argument(name, nargs="+", action="extend", default=[], metavar=metavar, help=what)
    group.add_argument(
        "--gaps",
        choices=tuple(Gaps),
        metavar="HOW",
        help=("a hole between logs: refuse (default; db2luw: warn), warn or allow"),
    )
    catalog = "other families: export of the catalog; logmaster-load: DDL"
    group.add_argument("--catalog", metavar="PATH", help=catalog)
    group.add_argument(
        "--framing", metavar="NAME", help="how records are framed in all files (default: detected)"
    )
    group.add_argument(
        "--log-option",
        type=partial(pair, "NAME=VALUE"),
        action=OncePerName,
        default=[],
        metavar="NAME=VALUE",
        help="a setting of the log family (repeatable; logreplay docs lists them)",
    )
    group.add_argument(
        "--ccsid",
        type=ccsid,
        action=OncePerName,
        default=[],
        metavar="E=N",
        help=(
            "single-byte CCSID of EBCDIC (E), ASCII (A) or Unicode (U) tables, instead of the"
            " control file's"
        ),
    )


def add_after(parser: argparse.ArgumentParser, also: bool = False) -> None:
    """The bundle to go on from; ``also``: those of other outputs, too."""
    group = parser.add_argument_group("continuation")
    group.add_argument(
        "--after",
        type=place,
        metavar="MANIFEST",
        help=(
            "go on where the bundle with this manifest (or in this folder) ended: units that it"
            " wrote are left out, units that it set aside are taken if the logs now have them"
            " whole; none: begin a chain, whose logs may end in the middle of units"
        ),
    )
    if also:
        group.add_argument(
            "--also-after",
            action=OncePerName,
            default=[],
            type=also_output,
            metavar="KIND:MANIFEST",
            help=(
                "with --after and --also: the bundle that the output of this kind goes on from, or"
                " none (repeatable; with --after none all begin a chain)"
            ),
        )


def add_following(parser: argparse.ArgumentParser) -> None:
    """How a folder is followed."""
    group = parser.add_argument_group("follow (--logs names the folder, or the place in a store)")
    group.add_argument(
        "--arrival",
        choices=tuple(Arrival),
        default=Arrival.STABLE,
        metavar="HOW",
        help=(
            "a file is complete when it has not changed for --settle seconds (stable, default),"
            " when NAME.done is beside it (marker), or as soon as it is there (rename: for programs"
            " that write under another name and rename)"
        ),
    )
    group.add_argument(
        "--settle",
        type=seconds,
        default=10,
        metavar="S",
        help="with --arrival stable: seconds without a change, 0.5 too (default 10)",
    )
    group.add_argument(
        "--every", type=positive, default=30, metavar="S", help="seconds between looks (default 30)"
    )
    group.add_argument("--once", action="store_true", help="one look, then end (for cron)")
    group.add_argument(
        "--log-json", action="store_true", help="events as lines of JSON on standard output"
    )
    group.add_argument(
        "--on-trouble",
        choices=tuple(OnTrouble),
        default=OnTrouble.WAIT,
        metavar="HOW",
        help="logs that are damaged or missing, or come behind later ones: wait (default) or stop",
    )
    group.add_argument(
        "--cut-over",
        action="store_true",
        help="apply to the end of the logs, compare the database with --expected plus the logged"
        " changes, report whether they are equal, and stop",
    )
    group.add_argument(
        "--expected", type=place, metavar="DIR", help="the rows before the logs, for --cut-over"
    )
    group.add_argument(
        "--metrics-port",
        type=port,
        metavar="N",
        help="serve /metrics (Prometheus) and /health on this port (0: any free port)",
    )
    group.add_argument(
        "--metrics-host",
        default="127.0.0.1",
        metavar="HOST",
        help="the address that --metrics-port is opened on (default 127.0.0.1: this machine only)",
    )


def add_formats(group: Any) -> None:
    """The format of an export, and how each is written."""
    group.add_argument(
        "--format",
        choices=tuple(ExportFormat),
        default=ExportFormat.PARQUET,
        help=(
            "parquet (default); csv, jsonl, debezium or load (text; load: for Db2's LOAD utility,"
            " with its control statements)"
        ),
    )
    group.add_argument(
        "--parquet-types",
        choices=tuple(ParquetTypes),
        default=ParquetTypes.PORTABLE,
        help=(
            "portable (default): types that Spark reads too (times of day are text, timestamps"
            " have microseconds); native: times of day have their own type, and timestamps have"
            " nanoseconds where a column has more than 6 fraction digits"
        ),
    )
    group.add_argument(
        "--csv-null",
        type=bare,
        default="",
        metavar="TEXT",
        help="csv: what stands for null, without quotes (default: nothing)",
    )
    group.add_argument(
        "--csv-formulas",
        choices=tuple(CsvFormulas),
        default=CsvFormulas.KEEP,
        help="csv: text that a spreadsheet would take for a formula is written as it is (keep,"
        " default) or after an apostrophe (text)",
    )
    group.add_argument(
        "--schemas",
        choices=tuple(EventSchemas),
        default=EventSchemas.INLINE,
        help="debezium: schemas in every event (inline, default), or once, in manifest.json"
        " (apart)",
    )


def add_output(parser: argparse.ArgumentParser, tries: bool = False) -> None:
    """The folder of scripts, and how scripts are cut; ``tries``: or the database to try them
    in."""
    group = parser.add_argument_group("output")
    destination = group.add_mutually_exclusive_group(required=True)
    destination.add_argument(
        "--out",
        type=place,
        metavar="DIR",
        help="folder for the scripts and manifest.json; appears whole or not at all",
    )
    if tries:
        what = (
            "write nothing: try the statements in this database, in a transaction that is rolled"
            " back, and name those that do not touch exactly one row, or fail"
        )
        destination.add_argument("--dry-run", metavar="URL", help=what)
    group.add_argument(
        "--overwrite", action="store_true", help="replace a bundle that is already there"
    )
    group.add_argument(
        "--commit-every",
        type=positive,
        default=1,
        metavar="N",
        help="units of recovery in one target transaction (default 1)",
    )
    group.add_argument(
        "--commit-statements",
        type=positive,
        metavar="N",
        help="commit after N statements too, at the end of the unit, whichever comes first; units"
        " are never split",
    )
    group.add_argument(
        "--records-per-file",
        type=positive,
        default=250_000,
        metavar="N",
        help="about how many log records go into one script (default 250000)",
    )
    group.add_argument(
        "--trace", action="store_true", help="write LRSN and RBA after each statement, as a comment"
    )
    group.add_argument("--strict", action="store_true", help="stop at the first damaged record")
    what = (
        "insert or update each row, whether it is there or not, so that a script can be run again,"
        " also after a part of it; every table needs a key"
    )
    group.add_argument("--upsert", action="store_true", help=what)
    what = (
        "rows: a statement that does not touch exactly one row stops the script and names unit and"
        " statement (default of undo, and of redo with --where-columns guard or all, except with"
        " --upsert, with --cascade force, where units are set aside and with --dialect db2); none:"
        " it does not (default of redo)"
    )
    group.add_argument("--assert", dest="asserts", choices=tuple(Assertion), help=what)
    add_statements(parser, "key")


def add_engine(parser: argparse.ArgumentParser, usual: EngineName = EngineName.AUTO) -> None:
    """What carries out a run."""
    group = parser.add_argument_group("engine")
    group.add_argument(
        "--engine",
        choices=tuple(EngineName),
        default=usual,
        help=(
            "spark; local: this process alone; auto: Spark from 64 MB of log on, and where"
            " --master, --conf or the environment configure Spark. The output is the same"
            f" (default {usual})"
        ),
    )
    group.add_argument("--master", help="Spark master (default local[*])")
    group.add_argument(
        "--conf",
        action=OncePerName,
        default=[],
        type=partial(pair, "KEY=VALUE"),
        metavar="K=V",
        help="Spark configuration (repeatable)",
    )
    group.add_argument(
        "--work",
        metavar="DIR|URL",
        help=(
            "an existing folder for temporary files: unpacked logs, indexes, blocks (default: that"
            " of the system); on a cluster one that all machines share, or a URL in an object"
            " store for unpacked logs (default on a cluster: they are sent with the job)"
        ),
    )
    group.add_argument(
        "--executor-timeout",
        type=positive,
        default=300,
        metavar="S",
        help="seconds to wait for an executor of the cluster before giving up (default 300)",
    )
    group.add_argument(
        "--task-timeout",
        type=positive,
        default=3600,
        metavar="S",
        help="seconds within which one of the cluster's running tasks must end (default 3600)",
    )
    group.add_argument(
        "--split-mb",
        type=positive,
        default=32,
        metavar="N",
        help="MB of log read by one task (default 32)",
    )
