"""The command line's options: what they are called, what they accept, and what they mean."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import replay
from replay import picture
from replay.cascade import MODES as CASCADE_MODES
from replay.changes import OP_NAMES
from replay.formats import FORMATS
from replay.logs import FAMILIES
from sqlgen.dialects import BUILT_IN

EPILOG = """\
exit codes: 0 all is well, 2 an option is not understood, 4 warnings (read them), 8 errors (something was set aside or refused), 12 unusable input or options

Words: redo repeats the logged changes in commit order (Log Master calls plain forward SQL MIGRATE, and uses REDO for "after a recovery, all
but the selected"); undo takes them back, in reverse order."""

#: What commands on live databases have instead of the options of scripts.
_NOT_ASKED: dict[str, Any] = {
    "from_lrsn": None, "from_time": None, "include_aborted": False, "records_per_file": 250_000, "trace": False, "strict": False,
}  # fmt: skip
_ALL_OF_IT: dict[str, Any] = {**_NOT_ASKED, "until_lrsn": None, "until_time": None, "commit_every": 1}


def _position(text: str) -> bytes:
    digits = text.upper().removeprefix("X'").removesuffix("'").removeprefix("0X")
    if not re.fullmatch(r"[0-9A-F]{12}|[0-9A-F]{16}|[0-9A-F]{20}|[0-9A-F]{40}|[0-9A-F]{56}", digits):
        expected = "an LRSN, RBA or LSN of 20 (or 12, or 16) hexadecimal digits, or a LOGADDR of 40 or 56"
        raise argparse.ArgumentTypeError(f"found {text!r}; expected {expected}")
    return bytes.fromhex(digits)


def _time(last: bool, text: str) -> bytes:
    """A time as 34 packed digits. What is left out counts as the first (``--from-time``) or last (``--until-time``) moment."""
    match = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)(?:[T \-](\d\d)[:.](\d\d)(?:[:.](\d\d)(?:[.,](\d{1,12}))?)?)?", text.strip())
    if not match:
        raise argparse.ArgumentTypeError(f"found {text!r}; expected YYYY-MM-DD[ HH:MM[:SS[.ffffff]]]")
    parts = [part or "" for part in match.groups()]
    limits = (0, 99), (1, 12), (1, 31), (0, 24), (0, 59), (0, 59)
    for part, (low, high) in zip(parts[1:6], limits[1:], strict=True):
        if part and not low <= int(part) <= high:
            raise argparse.ArgumentTypeError(f"found {text!r}; expected a real date and time")
    fill = ["", "", "", "23", "59", "59"] if last else ["", "", "", "00", "00", "00"]
    digits = "".join(part or other for part, other in zip(parts[:6], fill, strict=True))
    return bytes.fromhex((digits + parts[6]).ljust(34, "9" if last else "0"))


def _unit(text: str) -> tuple[bytes, int | None]:
    urid, _, member = text.partition("/")
    if member and not member.isdigit():
        raise argparse.ArgumentTypeError(f"found member {member!r}; expected a number")
    unit = _position(urid)
    if len(unit) > 10:
        raise argparse.ArgumentTypeError(f"found {urid!r}; expected the id of a unit, of 20 (or 12, or 16) hexadecimal digits")
    return unit, int(member) if member else None


def _pair(what: str, text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise argparse.ArgumentTypeError(f"found {text!r}; expected {what}")
    return name, value


def _ccsid(text: str) -> tuple[str, int]:
    scheme, value = _pair("E=CCSID, A=CCSID or U=CCSID", text)
    if scheme.upper() not in ("E", "A", "U") or not value.isdigit():
        raise argparse.ArgumentTypeError(f"found {text!r}; expected E=CCSID, A=CCSID or U=CCSID, for example E=1140")
    return scheme.upper(), int(value)


def _bare(text: str) -> str:
    if set(text) & set(',"') or not text.isprintable():
        raise argparse.ArgumentTypeError(f"found {text!r}; expected text without commas, quotes and control characters")
    return text


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"found {text!r}; expected a number of at least 1")
    return int(text)


def _unit_choice(text: str) -> tuple[str, Any]:
    kind, sign, value = text.partition("=")
    if not sign:
        return "units", _unit(text)
    fields = {"ur": "units", "authid": "authids", "plan": "plans", "correlation": "correlations", "connection": "connections"}
    if kind not in fields or not value:
        raise argparse.ArgumentTypeError(f"found {text!r}; expected URID[/MEMBER], or KIND=VALUE with KIND one of {', '.join(fields)}")
    return fields[kind], _unit(value) if kind == "ur" else value


# -- the parser ---------------------------------------------------------------------------------------------------------------------------


def make_parser(run: Mapping[str, Callable[[argparse.Namespace], int]]) -> argparse.ArgumentParser:
    """The parser of the command line; ``run`` has the function of each command."""
    parser = argparse.ArgumentParser(
        "logreplay", description="Reads database change logs and turns them into verified redo and undo SQL.", epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=f"logreplay {replay.__version__}")
    parser.add_argument("--debug", action="store_true", help="show where an error arose")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    layout: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter, "epilog": EPILOG}

    shown = commands.add_parser("demo", help="redo and undo a bundled log on a throw-away PostgreSQL and compare", **layout)
    shown.add_argument("--keep", type=Path, metavar="DIR", help="keep the scripts in this folder")
    _add_engine(shown)
    shown.set_defaults(run=run["demo"])

    look = commands.add_parser("inspect", help="what is in a log, and what it can support", **layout)
    _add_log(look)
    look.add_argument("--json", action="store_true", help="as JSON")
    look.add_argument("--record", type=_positive, metavar="N", help="show the N-th record of a data file, field by field")
    look.add_argument("--file", type=_positive, default=1, metavar="K", help="of the K-th data file (default 1)")
    look.add_argument("--hex", action="store_true", help="with --record: the bytes of each field in hexadecimal too")
    look.set_defaults(run=run["inspect"])

    ask = commands.add_parser("whatif", help="who built on a unit of recovery, and what doing without it would take", **layout)
    _add_log(ask)
    ask.add_argument(
        "--without",
        action="append",
        required=True,
        type=_unit_choice,
        metavar="URID[/M] or KIND=GLOB",
        help="the units to do without; KIND is ur, authid, plan, correlation or connection (repeatable)",
    )
    ask.add_argument("--json", action="store_true", help="as JSON")
    _add_schema(ask)
    _add_engine(ask)
    ask.set_defaults(run=run["whatif"])

    _add_graph(commands, layout).set_defaults(run=run["graph"], commit_every=1, records_per_file=250_000, trace=False, strict=False)
    _add_ddl(commands, layout, run)
    _add_migrate(commands, layout).set_defaults(run=run["migrate"])

    for mode, what in (
        ("redo", "write SQL that repeats the logged changes, in commit order"),
        ("undo", "write SQL that takes them back, in reverse"),
    ):
        command = commands.add_parser(mode, help=what, description=what, **layout)
        _add_log(command)
        _add_output(command)
        _add_selection(command)
        _add_schema(command)
        _add_dependents(command, mode)
        _add_mapping(command)
        _add_engine(command)
        command.set_defaults(run=run[mode])
    _add_export(commands, layout, run)
    _add_live(commands, layout, run)
    return parser


def _add_graph(commands: Any, layout: dict[str, Any]) -> argparse.ArgumentParser:
    view: argparse.ArgumentParser = commands.add_parser(
        "graph", help="who built on whom around some units: a page to look at, or data", **layout
    )
    _add_log(view)
    group = view.add_argument_group("graph")
    group.add_argument("--out", required=True, type=Path, metavar="FILE", help="the file to write")
    group.add_argument("--overwrite", action="store_true", help="replace a file that is already there")
    group.add_argument("--format", choices=picture.FORMATS, default="html", help="html (default): one page that needs no network; or data")
    group.add_argument("--by-column", action="store_true", help="no dependency between updates of different columns of a row")
    group.add_argument("--back", action="store_true", help="also what the selected units built on")
    group.add_argument("--max-units", type=_positive, default=5000, metavar="N", help="refuse to draw more units (default 5000)")
    _add_statements(view, "key")
    _add_selection(view)
    _add_schema(view)
    _add_engine(view)
    return view


def _add_ddl(commands: Any, layout: dict[str, Any], run: Mapping[str, Callable[[argparse.Namespace], int]]) -> None:
    make = commands.add_parser(
        "ddl", help="write SQL that makes the tables of a log in another database, or changes them as it says", **layout
    )
    _add_log(make)
    group = make.add_argument_group("tables")
    group.add_argument(
        "--changes",
        choices=("redo", "undo"),
        help="not the tables, but the log's changes of their structure (CREATE, ALTER, DROP), or what takes them back",
    )
    group.add_argument("--out", type=Path, metavar="FILE", help="the file to write (default: standard output)")
    group.add_argument("--overwrite", action="store_true", help="replace a file that is already there")
    _add_generation(group)
    _add_dialect(group)
    _add_names(group)
    _add_tables(group)
    group = make.add_argument_group("with --changes")
    group.add_argument("--from-lrsn", type=_position, metavar="X", help="lowest commit LRSN, inclusive")
    group.add_argument("--until-lrsn", type=_position, metavar="X", help="highest commit LRSN, inclusive")
    group.add_argument("--ur", action="append", default=[], type=_unit, metavar="URID[/MEMBER]", help="only these units of recovery")
    _add_schema(make)
    make.set_defaults(run=run["ddl"])


def _add_migrate(commands: Any, layout: dict[str, Any]) -> argparse.ArgumentParser:
    what = "write all that takes the tables of a log to another database: schema, load, redo scripts, foreign keys, verification"
    command: argparse.ArgumentParser = commands.add_parser("migrate", help=what, description=what, **layout)
    _add_log(command)
    _add_output(command)
    group = command.add_argument_group("migrate")
    group.add_argument("--initial", type=Path, metavar="DIR", help="the rows before the log: TABLE.csv or TABLE.csv.gz for each table")
    _add_generation(group)
    _add_selection(command)
    _add_schema(command)
    _add_mapping(command)
    _add_engine(command)
    return command


def _add_mapping(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("mapping")
    group.add_argument("--mapping", type=Path, metavar="F", help="names, types, exclusions and masks of the target (TOML; see README)")
    group.add_argument("--mask-key-file", type=Path, metavar="F", help="the key for masks: at least 16 bytes that nobody else knows")


def _add_export(commands: Any, layout: dict[str, Any], run: Mapping[str, Callable[[argparse.Namespace], int]]) -> None:
    what = "write the logged changes as data: a dataset for each table, parted by the date of commit"
    command = commands.add_parser("export", help=what, description=what, **layout)
    _add_log(command)
    group = command.add_argument_group("output")
    group.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="folder for the datasets and manifest.json; appears whole or not at all"
    )
    group.add_argument("--overwrite", action="store_true", help="replace a bundle that is already there")
    group.add_argument("--format", choices=tuple(FORMATS), default="parquet", help="parquet (default); csv, jsonl or debezium (text)")
    group.add_argument(
        "--parquet-types",
        choices=("portable", "native"),
        default="portable",
        help="portable (default): what Spark reads too, times of day as text, timestamps in microseconds; native: times of day, and nanoseconds "
        "where a column has more than 6 fraction digits",
    )
    group.add_argument(
        "--csv-null", type=_bare, default="", metavar="TEXT", help="csv: what stands for null, without quotes (default: nothing)"
    )
    group.add_argument(
        "--schemas", choices=("inline", "apart"), default="inline", help="debezium: in every event (default), or once, in manifest.json"
    )
    group.add_argument(
        "--records-per-file",
        type=_positive,
        default=250_000,
        metavar="N",
        help="about how many log records one task writes (default 250000)",
    )
    group.add_argument("--strict", action="store_true", help="stop at the first damaged record")
    values = command.add_argument_group("values")
    _add_names(values)
    _add_columns(values, "an update of nothing else is left out, and is counted")
    _add_policies(values)
    _add_selection(command)
    _add_schema(command)
    _add_dependents(command, "redo")
    _add_engine(command)
    command.set_defaults(run=run["export"], dialect="duckdb", where_columns="key", commit_every=1, trace=False, empty_text="refuse")


def _add_live(commands: Any, layout: dict[str, Any], run: Mapping[str, Callable[[argparse.Namespace], int]]) -> None:
    _add_replay(commands, layout).set_defaults(run=run["replay"], **_NOT_ASKED)
    _add_verify(commands, layout).set_defaults(run=run["verify"], **_ALL_OF_IT)

    command = commands.add_parser("status", help="how far a database has been replayed", **layout)
    _add_target(command)
    command.add_argument("--json", action="store_true", help="as JSON")
    command.add_argument("--runs", type=_positive, default=10, metavar="N", help="how many runs to show (default 10)")
    what = "write all changes that were not applied as the log says, one JSON object a line"
    command.add_argument("--rejects", type=Path, metavar="F", help=what)
    command.set_defaults(run=run["status"])

    command = commands.add_parser("mark", help="name a point, for replay --until-mark", **layout)
    command.add_argument("name", metavar="NAME")
    command.add_argument("--lrsn", type=_position, metavar="X", help="the commit LRSN, 20 digits (default: where the target stands)")
    _add_target(command)
    command.set_defaults(run=run["mark"])


def _add_replay(commands: Any, layout: dict[str, Any]) -> argparse.ArgumentParser:
    what = "bring a live database to a point in time; without --apply only say what would happen"
    command: argparse.ArgumentParser = commands.add_parser("replay", help=what, description=what, **layout)
    _add_log(command)
    _add_target(command)
    group = command.add_argument_group("replay")
    act = group.add_mutually_exclusive_group()
    act.add_argument("--apply", action="store_true", help="do it")
    act.add_argument("--dry-run", dest="apply", action="store_false", help="only say what would happen (default)")
    until = group.add_mutually_exclusive_group()
    what = "up to this commit LRSN, inclusive; below the target's position: back to it"
    until.add_argument("--until-lrsn", type=_position, metavar="X", help=what)
    until.add_argument("--until-time", type=partial(_time, True), metavar="T", help="up to this commit time, inclusive, as in the log")
    until.add_argument("--until-mark", metavar="NAME", help="up to a point named with: logreplay mark")
    what = "where a target stands that was never replayed (default: before the log)"
    group.add_argument("--at-lrsn", type=_position, metavar="X", help=what)
    group.add_argument("--adjoining", action="store_true", help="the log continues where the last one ended, although they share no unit")
    what = (
        "no-row, several-rows, duplicate-key, foreign-key or other, of insert, update or delete: stop (default), skip, overwrite or retry; the "
        "last one that fits counts"
    )
    group.add_argument("--on", action="append", default=[], metavar="CONDITION[:OP]=RESPONSE", help=what)
    what = "whether the target's triggers and foreign keys act on the replay (default on)"
    group.add_argument("--enforcement", choices=("on", "off"), default="on", help=what)
    what = "units of recovery in one transaction (default 1000)"
    group.add_argument("--commit-every", type=_positive, default=1000, metavar="N", help=what)
    what = "or as many whole units as have N statements (default 10000; merged: 200000, and --commit-every does not count)"
    group.add_argument("--commit-statements", type=_positive, metavar="N", help=what)
    what = (
        "strict: every statement in commit order (default); merged: the net change of each row in every transaction, for a first catch-up of a "
        "PostgreSQL; the states between are lost"
    )
    group.add_argument(
        "--sessions", type=_positive, default=1, metavar="N", help="apply units that do not depend on each other side by side (default 1)"
    )
    group.add_argument("--mode", choices=("strict", "merged"), default="strict", help=what)
    what = "tries after deadlocks, lost connections and with retry (default 8)"
    group.add_argument("--tries", type=_positive, default=8, metavar="N", help=what)
    _add_how(command)
    return command


def _add_verify(commands: Any, layout: dict[str, Any]) -> argparse.ArgumentParser:
    what = "compare a database with the state that it should be in, row by row; or prove that undo takes back what redo did"
    command: argparse.ArgumentParser = commands.add_parser("verify", help=what, description=what, **layout)
    _add_log(command)
    _add_target(command, required=False)
    group = command.add_argument_group("verify")
    what = "the state: TABLE.csv or TABLE.csv.gz for each table; with a log: before it"
    group.add_argument("--expected", required=True, type=Path, metavar="DIR", help=what)
    group.add_argument("--target-schema", metavar="NAME", help="the schema of the tables in the target (default: that of the log)")
    what = "redo, undo and redo the log in a scratch database, and certify what comes out"
    group.add_argument("--roundtrip", action="store_true", help=what)
    group.add_argument("--ddl", type=Path, metavar="F", help="for --roundtrip without --to: a script that makes the tables")
    group.add_argument(
        "--scratch", metavar="URL", help="server for the scratch database (an empty one for MariaDB and MySQL, which need it)"
    )
    group.add_argument("--certificate", type=Path, metavar="F", help="write what was found as JSON")
    _add_how(command)
    return command


def _add_how(command: argparse.ArgumentParser) -> None:
    _add_statements(command, "guard", dialect=False)
    _add_selection(command, False)
    _add_schema(command)
    _add_engine(command)


def _add_target(parser: argparse.ArgumentParser, required: bool = True) -> None:
    group = parser.add_argument_group("target")
    what = "the database: postgresql://user@host/database (better without a password: PGPASSWORD, PGSERVICE and ~/.pgpass are heard), "
    what += "mariadb://user@host/, mysql://user@host/ (MYSQL_PWD), duckdb:////path/file, sqlite:////path/file"
    group.add_argument("--to", required=required, metavar="URL", help=what)


def _add_log(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("log")
    group.add_argument(
        "--source", default="logmaster", metavar="FAMILY", help=f"{', '.join(FAMILIES)} (default logmaster), or an installed one"
    )
    group.add_argument("--control", metavar="F", help="logmaster: control file")
    group.add_argument("--data", nargs="+", default=[], metavar="F", help="logmaster: data file(s), .gz too")
    group.add_argument("--log", nargs="+", default=[], metavar="F", help="other families: log file(s), in order")
    group.add_argument("--catalog", metavar="PATH", help="other families: export of the catalog")
    group.add_argument("--framing", metavar="NAME", help="how records are framed in all files (default: found out)")
    group.add_argument(
        "--log-option",
        type=partial(_pair, "NAME=VALUE"),
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of the log family (repeatable; README lists them)",
    )
    group.add_argument(
        "--ccsid",
        type=_ccsid,
        action="append",
        default=[],
        metavar="E=N",
        help="single-byte CCSID of EBCDIC (E), ASCII (A) or Unicode (U) tables, instead of the control file's",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="folder for the scripts and manifest.json; appears whole or not at all"
    )
    group.add_argument("--overwrite", action="store_true", help="replace a bundle that is already there")
    group.add_argument(
        "--commit-every", type=_positive, default=1, metavar="N", help="units of recovery in one target transaction (default 1)"
    )
    group.add_argument(
        "--records-per-file",
        type=_positive,
        default=250_000,
        metavar="N",
        help="about how many log records go into one script (default 250000)",
    )
    group.add_argument("--trace", action="store_true", help="LRSN and RBA after each statement")
    group.add_argument("--strict", action="store_true", help="stop at the first damaged record")
    what = "put rows in place whether they are there or not, so that a script may be applied again or over a part of itself; every table needs a key"
    group.add_argument("--upsert", action="store_true", help=what)
    _add_statements(parser, "key")


def _add_dialect(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--dialect", default="postgres", help=f"SQL dialect: {', '.join(BUILT_IN)} (default postgres)")


def _add_generation(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--generation", choices=("first", "last"), default="last", help="of tables that changed within the log (default last)"
    )


def _add_names(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--names",
        choices=("lower", "exact"),
        default="lower",
        help="lower: fold to lower case, quote where needed; exact: as they are, quoted",
    )


def _add_tables(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--table", action="append", default=[], metavar="GLOB", help="only tables OWNER.NAME (repeatable)")
    group.add_argument("--exclude-table", action="append", default=[], metavar="GLOB", help="not these tables (repeatable)")


def _add_statements(parser: argparse.ArgumentParser, where: str, dialect: bool = True) -> None:
    group = parser.add_argument_group("statements")
    if dialect:
        _add_dialect(group)
    _add_names(group)
    group.add_argument(
        "--where-columns",
        choices=("key", "guard", "all"),
        default=where,
        help=f"what finds a row: its key; key and the old values of what changes (guard); all columns (default {where})",
    )
    _add_columns(group, "an update of nothing else yields no statement, and is counted")
    _add_policies(group)
    group.add_argument(
        "--empty-text",
        choices=("refuse", "null", "space"),
        default="refuse",
        help="empty text where the target takes it for NULL (Oracle; default: refuse)",
    )


def _add_columns(group: argparse._ArgumentGroup, otherwise: str) -> None:
    group.add_argument("--columns", action="append", default=[], metavar="GLOB", help="only these columns (COLUMN or OWNER.TABLE.COLUMN)")
    group.add_argument("--exclude-columns", action="append", default=[], metavar="GLOB", help=f"not these columns; {otherwise}")


def _add_policies(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--nul", choices=("refuse", "strip", "space"), default="refuse", help="X'00' in text (default: refuse, the unit is set aside)"
    )
    group.add_argument(
        "--timestamps",
        choices=("refuse", "truncate", "round"),
        default="refuse",
        help="more fraction digits than the target holds (default: refuse on loss)",
    )
    group.add_argument("--char-padding", choices=("strip", "keep"), default="strip", help="blanks at the end of CHAR (default strip)")
    group.add_argument(
        "--midnight",
        choices=("refuse", "next"),
        default="refuse",
        help="hour 24 where the target has none (default: refuse; next: hour 0, of the next day in a timestamp)",
    )


def _add_selection(parser: argparse.ArgumentParser, script: bool = True) -> None:
    group = parser.add_argument_group("selection (all of it combines)")
    if script:
        _add_range(group)
    _add_tables(group)
    group.add_argument("--op", action="append", default=[], choices=sorted(OP_NAMES), help="only these operations (repeatable)")
    group.add_argument(
        "--ur", action="append", default=[], type=_unit, metavar="URID[/MEMBER]", help="only these units of recovery (repeatable)"
    )
    for name, what in (
        ("authid", "authorization ids"),
        ("plan", "plans"),
        ("correlation", "correlation ids"),
        ("connection", "connection ids"),
    ):
        group.add_argument(f"--{name}", action="append", default=[], metavar="GLOB", help=f"only these {what} (repeatable)")
    group.add_argument("--member", action="append", default=[], type=int, metavar="N", help="only this data sharing member (repeatable)")
    group.add_argument(
        "--where", metavar="SQL", help="only changes whose values satisfy a condition: before.col, after.col, or col (either image)"
    )
    group.add_argument(
        "--ri",
        choices=("apply", "skip"),
        default="apply",
        help="changes caused by RI (with or without a trigger): skip where the target's foreign keys do the same",
    )
    group.add_argument(
        "--triggers",
        choices=("apply", "skip"),
        default="apply",
        help="changes caused by triggers alone: skip where the target's triggers do the same",
    )
    group.add_argument(
        "--incomplete",
        choices=("resolve", "quarantine", "dependentrba"),
        default="resolve",
        help="incomplete units: set aside those and what provably depends on them (default), every unit the log flags, or all from DEPENDENTRBA "
        "on (Log Master's rule)",
    )
    group.add_argument("--from-recovery-point", action="store_true", help="also records of SQLTYPE R (after a REDO recovery point)")


def _add_range(group: Any) -> None:
    group.add_argument("--from-lrsn", type=_position, metavar="X", help="lowest commit LRSN, inclusive")
    group.add_argument("--until-lrsn", type=_position, metavar="X", help="highest commit LRSN, inclusive")
    group.add_argument("--from-time", type=partial(_time, False), metavar="T", help="earliest commit time, inclusive, as in the log")
    group.add_argument(
        "--until-time",
        type=partial(_time, True),
        metavar="T",
        help="latest commit time, inclusive; '2026-03-02 10:15' means up to the end of that minute",
    )
    group.add_argument("--include-aborted", action="store_true", help="show rolled back work too, as comments")


def _add_schema(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("keys that the log does not know")
    group.add_argument(
        "--schema",
        metavar="FILE|URL",
        help="DDL of the tables, or a database that has them: unique keys and foreign keys, for what depends on what",
    )
    group.add_argument(
        "--schema-dialect",
        default="postgres",
        metavar="NAME",
        help="SQL dialect of the file: db2, soliddb, or one of sqlglot (default postgres)",
    )


def _add_dependents(parser: argparse.ArgumentParser, mode: str) -> None:
    group = parser.add_argument_group("what depends on what")
    if mode == "undo":
        group.add_argument(
            "--cascade",
            choices=CASCADE_MODES,
            default="none",
            help="later changes that build on what is undone: refuse and name them (default), undo them too, leave out what they built on, or "
            "undo what was asked for all the same",
        )
    else:
        group.add_argument(
            "--except",
            dest="excepted",
            action="append",
            default=[],
            type=_unit_choice,
            metavar="URID[/M] or KIND=GLOB",
            help="all but these units of recovery and what builds on them; KIND is ur, authid, plan, correlation or connection (repeatable)",
        )


def _add_engine(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("engine")
    group.add_argument(
        "--engine", choices=("spark", "local"), default="spark", help="spark (default), or this process alone; the output is the same"
    )
    group.add_argument("--master", default="local[*]", help="Spark master (default local[*])")
    group.add_argument(
        "--conf", action="append", default=[], type=partial(_pair, "KEY=VALUE"), metavar="K=V", help="Spark configuration (repeatable)"
    )
    group.add_argument("--split-mb", type=_positive, default=32, metavar="N", help="MB of log read by one task (default 32)")
