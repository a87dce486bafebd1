"""Groups of options that several commands have."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from replay.changes.choices import (
    SOURCES,
    Arrival,
    CascadeMode,
    Derived,
    EngineName,
    Gaps,
    Generation,
    Incomplete,
    Late,
    OnTrouble,
    Operation,
)
from replay.cli.argument_types import (
    InTurn,
    OncePerName,
    ccsid,
    number,
    numbers,
    pair,
    place,
    position,
    positive,
    rid,
    time,
    unit,
    unit_choice,
)
from sqlgen.choices import (
    DEFAULT_DIALECT,
    DIALECTS,
    Assertion,
    EmptyTextPolicy,
    MidnightPolicy,
    Names,
    NulPolicy,
    PaddingPolicy,
    RealPolicy,
    TimestampPolicy,
    WhereColumns,
)


def add_how(command: argparse.ArgumentParser) -> None:
    """How statements of commands on live databases are made, and of what."""
    add_statements(command, "guard", dialect=False)
    add_selection(command, False)
    add_schema(command)
    add_engine(command)


def add_mapping(command: argparse.ArgumentParser) -> None:
    """Names, types, exclusions and masks of the target."""
    group = command.add_argument_group("mapping")
    group.add_argument(
        "--mapping",
        type=place,
        metavar="F",
        help="names, types, exclusions and masks of the target (TOML; see logreplay docs)",
    )
    group.add_argument(
        "--mask-key-file",
        type=place,
        metavar="F",
        help="the key for masks: at least 16 bytes that nobody else knows",
    )


def add_target(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """The database."""
    group = parser.add_argument_group("target")
    what = (
        "the database: postgresql://user@host/database (better without a password: PGPASSWORD,"
        " PGSERVICE and ~/.pgpass are heard), "
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
    group.add_argument("--selection", metavar="NAME", help="a selection that --config stores")
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
            "PATH",
            "several logs read as one: a folder, a glob of control or log files, or a list (TOML)",
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
        "--framing", metavar="NAME", help="how records are framed in all files (default: found out)"
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


def add_after(parser: argparse.ArgumentParser) -> None:
    """The bundle to go on from."""
    group = parser.add_argument_group("continuation")
    group.add_argument(
        "--after",
        type=place,
        metavar="MANIFEST",
        help=(
            "go on where the bundle with this manifest (or in this folder) ended: what it took is"
            " left out, what it set aside is taken where the logs have it whole now; none: the"
            " first of a chain, whose logs may end inside of units"
        ),
    )
    add_late(group)


def add_late(group: argparse._ArgumentGroup) -> None:
    """What becomes of units that come late."""
    group.add_argument(
        "--late",
        choices=tuple(Late),
        default=Late.REFUSE,
        help=(
            "units that commit below where the last run ended, in logs that were not read before:"
            " refuse (default), take (they come behind later ones), or skip (they are there)"
        ),
    )


def add_following(parser: argparse.ArgumentParser) -> None:
    """How a folder is followed."""
    group = parser.add_argument_group("follow (--logs names the folder)")
    group.add_argument(
        "--arrival",
        choices=tuple(Arrival),
        default=Arrival.STABLE,
        metavar="HOW",
        help=(
            "a file is whole when it has not changed for --settle seconds (stable, default), when"
            " NAME.done is beside it (marker), or as soon as it is there (rename: writers rename)"
        ),
    )
    group.add_argument(
        "--settle", type=number, default=10, metavar="S", help="seconds (default 10)"
    )
    group.add_argument(
        "--every", type=positive, default=30, metavar="S", help="look every S seconds (default 30)"
    )
    group.add_argument("--once", action="store_true", help="one look, then end (for cron)")
    group.add_argument(
        "--on-trouble",
        choices=tuple(OnTrouble),
        default=OnTrouble.WAIT,
        metavar="HOW",
        help="logs that are damaged, late or missing: wait (default) or stop",
    )
    group.add_argument(
        "--cut-over",
        action="store_true",
        help="apply to the end, compare with --expected, say whether both are equal, and stop",
    )
    group.add_argument(
        "--expected", type=place, metavar="DIR", help="the rows before the logs, for --cut-over"
    )
    group.add_argument("--log-json", action="store_true", help="say what happens as lines of JSON")
    group.add_argument(
        "--metrics-port",
        type=number,
        metavar="N",
        help="answer /metrics (Prometheus) and /health on this port (0: any that is free)",
    )
    group.add_argument(
        "--metrics-host",
        default="127.0.0.1",
        metavar="HOST",
        help="on this address (default 127.0.0.1: this machine alone)",
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
        help="or as many whole units as have N statements, whichever comes first; units are never"
        " split",
    )
    group.add_argument(
        "--records-per-file",
        type=positive,
        default=250_000,
        metavar="N",
        help="about how many log records go into one script (default 250000)",
    )
    group.add_argument("--trace", action="store_true", help="LRSN and RBA after each statement")
    group.add_argument("--strict", action="store_true", help="stop at the first damaged record")
    what = (
        "put rows in place whether they are there or not, so that a script may be applied again or"
        " over a part of itself; every table needs a key"
    )
    group.add_argument("--upsert", action="store_true", help=what)
    what = (
        "rows: a statement that does not touch exactly one row stops the script, with unit and"
        " statement named (default of undo, but with --upsert, --cascade force and where units are"
        " set aside); none (default of redo)"
    )
    group.add_argument("--assert", dest="asserts", choices=tuple(Assertion), help=what)
    add_statements(parser, "key")


def add_dialect(group: argparse._ArgumentGroup) -> None:
    """The SQL dialect."""
    group.add_argument(
        "--dialect",
        default=DEFAULT_DIALECT,
        help=f"SQL dialect: {', '.join(DIALECTS)} (default {DEFAULT_DIALECT})",
    )


def add_generation(group: argparse._ArgumentGroup) -> None:
    """Which form of a table."""
    group.add_argument(
        "--generation",
        choices=tuple(Generation),
        default=Generation.LAST,
        help="of tables that changed within the log (default last)",
    )


def add_names(group: argparse._ArgumentGroup) -> None:
    """How names are spelled."""
    group.add_argument(
        "--names",
        choices=tuple(Names),
        default=Names.LOWER,
        help="lower: fold to lower case, quote where needed; exact: as they are, quoted",
    )


def add_tables(group: argparse._ArgumentGroup) -> None:
    """Which tables."""
    group.add_argument(
        "--table",
        action="append",
        default=[],
        metavar="GLOB",
        help="only tables OWNER.NAME (repeatable)",
    )
    group.add_argument(
        "--exclude-table",
        action="append",
        default=[],
        metavar="GLOB",
        help="not these tables (repeatable)",
    )


def add_statements(parser: argparse.ArgumentParser, where: str, dialect: bool = True) -> None:
    """How statements are written; ``where`` is the default of ``--where-columns``."""
    group = parser.add_argument_group("statements")
    if dialect:
        add_dialect(group)
    add_names(group)
    group.add_argument(
        "--where-columns",
        choices=tuple(WhereColumns),
        default=where,
        help=(
            "what finds a row: its key; key and the old values of what changes (guard); all"
            f" columns (default {where})"
        ),
    )
    add_columns(group, "an update of nothing else is counted, and a comment in scripts")
    add_policies(group)
    group.add_argument(
        "--empty-text",
        choices=tuple(EmptyTextPolicy),
        default=EmptyTextPolicy.REFUSE,
        help="empty text where the target takes it for NULL (Oracle; default: refuse)",
    )
    add_reals(group)


def add_reals(group: argparse._ArgumentGroup) -> None:
    """What hexadecimal floats become."""
    group.add_argument(
        "--reals",
        choices=tuple(RealPolicy),
        default=RealPolicy.SINGLE,
        help=(
            "REAL of Db2 for z/OS, which reaches further than an IEEE single: single (default; what"
            " does not fit is set aside) or double (columns are double precision); exports have"
            " doubles always"
        ),
    )


def add_columns(group: argparse._ArgumentGroup, otherwise: str) -> None:
    """Which columns; ``otherwise``: what becomes of an update of others."""
    group.add_argument(
        "--columns",
        action="append",
        default=[],
        metavar="GLOB",
        help="only these columns (COLUMN or OWNER.TABLE.COLUMN)",
    )
    group.add_argument(
        "--exclude-columns",
        action="append",
        default=[],
        metavar="GLOB",
        help=f"not these columns; {otherwise}",
    )


def add_policies(group: argparse._ArgumentGroup) -> None:
    """What becomes of values that the target cannot hold."""
    group.add_argument(
        "--nul",
        choices=tuple(NulPolicy),
        default=NulPolicy.REFUSE,
        help="X'00' in text (default: refuse, the unit is set aside)",
    )
    group.add_argument(
        "--timestamps",
        choices=tuple(TimestampPolicy),
        default=TimestampPolicy.REFUSE,
        help="more fraction digits than the target holds (default: refuse on loss)",
    )
    group.add_argument(
        "--char-padding",
        choices=tuple(PaddingPolicy),
        default=PaddingPolicy.STRIP,
        help="blanks at the end of CHAR (default strip)",
    )
    group.add_argument(
        "--midnight",
        choices=tuple(MidnightPolicy),
        default=MidnightPolicy.REFUSE,
        help=(
            "hour 24 where the target has none (default: refuse; next: hour 0, of the next day in a"
            " timestamp)"
        ),
    )


def add_selection(parser: argparse.ArgumentParser, script: bool = True) -> None:
    """Which changes; ``script``: of a range too."""
    group = parser.add_argument_group("selection (all of it combines)")
    if script:
        add_range(group)
    add_tables(group)
    group.add_argument(
        "--op",
        action="append",
        default=[],
        choices=sorted(Operation),
        help="only these operations (repeatable)",
    )
    group.add_argument(
        "--ur",
        action="append",
        default=[],
        type=unit,
        metavar="URID[/MEMBER]",
        help="only these units of recovery (repeatable)",
    )
    for name, what in (
        ("authid", "authorization ids"),
        ("plan", "plans"),
        ("correlation", "correlation ids"),
        ("connection", "connection ids"),
    ):
        group.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar="GLOB",
            help=f"only these {what} (repeatable)",
        )
    group.add_argument(
        "--member",
        action="append",
        default=[],
        type=int,
        metavar="N",
        help="only this data sharing member (repeatable)",
    )
    _add_places(group)
    group.add_argument(
        "--where",
        metavar="SQL",
        help=(
            "only changes whose values satisfy a condition: before.col, after.col, or col (either"
            " image)"
        ),
    )
    group.add_argument(
        "--ri",
        choices=tuple(Derived),
        default=Derived.APPLY,
        help=(
            "changes caused by RI (with or without a trigger): skip where the target's foreign keys"
            " do the same"
        ),
    )
    group.add_argument(
        "--triggers",
        choices=tuple(Derived),
        default=Derived.APPLY,
        help="changes caused by triggers alone: skip where the target's triggers do the same",
    )
    group.add_argument(
        "--incomplete",
        choices=tuple(Incomplete),
        default=Incomplete.RESOLVE,
        help=(
            "incomplete units: set aside those and what provably depends on them (default), every"
            " unit the log flags, or all from DEPENDENTRBA on (Log Master's rule)"
        ),
    )
    group.add_argument(
        "--from-recovery-point",
        action="store_true",
        help="also records of SQLTYPE R (after a REDO recovery point)",
    )


def add_positions(group: Any) -> None:
    """From which commit position to which."""
    group.add_argument(
        "--from-position",
        "--from-lrsn",
        type=position,
        metavar="X",
        help="lowest commit position, inclusive",
    )
    group.add_argument(
        "--until-position",
        "--until-lrsn",
        type=position,
        metavar="X",
        help="highest commit position, inclusive",
    )


def add_range(group: Any) -> None:
    """From where to where in the log."""
    add_positions(group)
    group.add_argument(
        "--from-time",
        type=partial(time, False),
        metavar="T",
        help="earliest commit time, inclusive, as in the log",
    )
    group.add_argument(
        "--until-time",
        type=partial(time, True),
        metavar="T",
        help="latest commit time, inclusive; '2026-03-02 10:15' means up to the end of that minute",
    )
    group.add_argument(
        "--include-aborted", action="store_true", help="show rolled back work too, as comments"
    )


def add_schema(parser: argparse.ArgumentParser) -> None:
    """Keys that the log does not know."""
    group = parser.add_argument_group("keys that the log does not know")
    group.add_argument(
        "--schema",
        metavar="FILE|URL|none",
        help=(
            "DDL of the tables, or a database that has them: unique keys and foreign keys, for what"
            " depends on what; none: there are none, I know"
        ),
    )
    group.add_argument(
        "--schema-dialect",
        default="postgres",
        metavar="NAME",
        help="SQL dialect of the file: db2, soliddb, or one of sqlglot (default postgres)",
    )


def add_dependents(parser: argparse.ArgumentParser, mode: str) -> None:
    """What becomes of changes that depend on others."""
    group = parser.add_argument_group("what depends on what")
    if mode == "undo":
        group.add_argument(
            "--cascade",
            choices=tuple(CascadeMode),
            default=CascadeMode.NONE,
            help=(
                "later changes that build on what is undone: refuse and name them (default), undo"
                " them too, leave out what they built on, or undo what was asked for all the same"
            ),
        )
    else:
        group.add_argument(
            "--except",
            dest="excepted",
            action="append",
            default=[],
            type=unit_choice,
            metavar="URID[/M] or KIND=GLOB",
            help=(
                "all but these units of recovery and what builds on them; KIND is ur, authid, plan,"
                " correlation, connection or luw (repeatable)"
            ),
        )


def _add_places(group: argparse._ArgumentGroup) -> None:
    """Which logical units of work, and where rows lie."""
    texts: tuple[tuple[str, str, str], ...] = (
        (
            "luw",
            "NETWORK.NAME.INSTANCE[.SEQUENCE]",
            "only these logical units of work (LUWIDs; globs, repeatable)",
        ),
        ("database", "GLOB|DBID", "only tables of this database, by name or id (repeatable)"),
        (
            "tablespace",
            "GLOB|DATABASE.GLOB|ID",
            "only tables of this table space, by name or id (repeatable)",
        ),
    )
    for name, form, what in texts:
        group.add_argument(f"--{name}", action="append", default=[], metavar=form, help=what)
    for name, what in (
        ("partition", "only rows of these partitions (repeatable)"),
        (
            "page",
            "only rows of these pages, as the RID in the log has them; 0x1F or 31 (repeatable)",
        ),
    ):
        group.add_argument(
            f"--{name}",
            action="append",
            default=[],
            type=numbers,
            metavar="N|FIRST-LAST",
            help=what,
        )
    group.add_argument(
        "--rid",
        action="append",
        default=[],
        type=rid,
        metavar="X",
        help="only the row with this identifier, in the hexadecimal digits of the log (repeatable)",
    )


def add_baseline(parser: argparse.ArgumentParser, when: str) -> None:
    """A state that rows are compared with."""
    group = parser.add_argument_group("state of the rows beside the log")
    proves = (
        "; a unit that may depend on an incomplete one is released where this proves what it found"
        if when == "before the log"
        else ""
    )
    group.add_argument(
        "--baseline",
        metavar="DIR|URL",
        help=(
            f"the state {when}: a folder with TABLE.csv each, or a database; rows that are not in"
            f" it as the log says are counted and named{proves}"
        ),
    )


def add_engine(parser: argparse.ArgumentParser, usual: EngineName = EngineName.AUTO) -> None:
    """What carries out a run."""
    group = parser.add_argument_group("engine")
    group.add_argument(
        "--engine",
        choices=tuple(EngineName),
        default=usual,
        help=(
            "spark; local: this process alone; auto: Spark from 64 MB of log on, and where"
            " --master, --conf or the environment speak of Spark. The output is the same (default"
            f" {usual})"
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
            " of the system); on a cluster one that all machines share, or the URL of one in a"
            " store for unpacked logs (default there: they travel with the job)"
        ),
    )
    group.add_argument(
        "--executor-timeout",
        type=positive,
        default=300,
        metavar="S",
        help="seconds after which a cluster that gives no executor is an error (default 300)",
    )
    group.add_argument(
        "--split-mb",
        type=positive,
        default=32,
        metavar="N",
        help="MB of log read by one task (default 32)",
    )
