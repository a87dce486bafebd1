"""The command line: arguments in, text and exit code out. No decision about logs or SQL lives here."""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import replay
from replay import demo, inspect, local
from replay.bundle import Bundle, Engine, check_output, write_bundle
from replay.changes import OP_NAMES
from replay.errors import EXIT_UNUSABLE, LogReplayError, UsageError
from replay.logs.logmaster.framing import Framing
from replay.logs.logmaster.reader import LogmasterLog, open_log
from replay.plan import Plan, ScriptOptions, make_plan
from replay.progress import Bar
from replay.report import balance_text
from replay.selection import Selection
from replay.where import ValueFilter
from sqlgen.dialects import BUILT_IN, profile_named
from sqlgen.errors import SqlgenError
from sqlgen.literals import Policy
from sqlgen.names import check_collisions
from sqlgen.statements import RenderOptions, identity

EPILOG = """\
exit codes: 0 all is well, 4 warnings (read them), 8 errors (something was set aside or refused), 12 unusable input or options

Words: redo repeats the logged changes in commit order (Log Master calls plain forward SQL MIGRATE, and uses REDO for "after a recovery, all
but the selected"); undo takes them back, in reverse order."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    arguments = _parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
        return code
    except LogReplayError as error:
        return _fail(error, arguments)
    except SqlgenError as error:
        return _fail(UsageError(error.code, error.message, hint=error.hint), arguments)
    except KeyboardInterrupt:
        print("logreplay: interrupted; nothing was published", file=sys.stderr)
        return EXIT_UNUSABLE
    except Exception as error:
        if arguments.debug:
            traceback.print_exc()
        print(f"logreplay: unexpected {type(error).__name__}: {error}", file=sys.stderr)
        print("This is a defect of logreplay; nothing was published. Run again with --debug and report what it prints.", file=sys.stderr)
        return EXIT_UNUSABLE


def _fail(error: LogReplayError, arguments: argparse.Namespace) -> int:
    if arguments.debug:
        traceback.print_exc()
    print(f"logreplay: {error}", file=sys.stderr)
    return error.exit_code


# -- commands ---------------------------------------------------------------------------------------------------------------------------


def _demo(arguments: argparse.Namespace) -> int:
    def generate(mode: str, control: Path, data: Path, out: Path) -> Bundle:
        with tempfile.TemporaryDirectory(prefix="logreplay-") as scratch:
            log = open_log(control, [data], scratch=scratch)
            return _write(log, mode, Selection(), ScriptOptions(), out, arguments, [])

    return demo.run(generate, print, arguments.keep)


def _inspect(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="logreplay-") as scratch:
        log = _open(arguments, scratch)
        if arguments.record is not None:
            for line in inspect.dump_record(log, arguments.record, arguments.file, arguments.hex):
                print(line)
            return 0
        description = inspect.describe(log)
    print(json.dumps(description, indent=1, ensure_ascii=False) if arguments.json else inspect.text(description))
    return int(description["exit_code"])


def _script(mode: str, arguments: argparse.Namespace) -> int:
    check_output(arguments.out, arguments.overwrite)
    selection = _selection(arguments)
    options = _options(arguments)
    with tempfile.TemporaryDirectory(prefix="logreplay-") as scratch:
        log = _open(arguments, scratch)
        selection = _placed(selection, log)
        warnings = _check(log, selection, options, mode)
        bundle = _write(log, mode, selection, options, arguments.out, arguments, warnings)
    for warning in warnings:
        print(f"warning: {warning}")
    for finding in bundle.manifest["findings"]["shown"][:20]:
        print(finding)
    if bundle.manifest["findings"]["count"] > 20:
        print(f"… {bundle.manifest['findings']['count'] - 20} more findings; manifest.json shows up to 1,000")
    for unit in bundle.manifest["quarantined_units"][:20]:
        print(f"quarantined: unit {unit['unit']}: {unit['reason']}")
    if len(bundle.manifest["quarantined_units"]) > 20:
        print(f"… {len(bundle.manifest['quarantined_units']) - 20} more quarantined units in manifest.json")
    print(balance_text(bundle.tally))
    print(f"{len(bundle.manifest['scripts'])} script(s) and manifest.json in {bundle.folder}")
    return bundle.exit_code


def _write(
    log: LogmasterLog,
    mode: str,
    selection: Selection,
    options: ScriptOptions,
    out: Path,
    arguments: argparse.Namespace,
    warnings: list[str],
) -> Bundle:
    with Bar(sys.stderr) as progress:
        session = _start(arguments)
        plan = make_plan(log, mode, selection, options, arguments.split_mb << 20)
        engine: Engine
        if session is None:
            engine = partial(_local, progress)
        else:
            engine = partial(_spark, session(), progress)
        return write_bundle(plan, log, out, engine, overwrite=getattr(arguments, "overwrite", False), warnings=warnings)


def _local(progress: Callable[[str, int, int], None], plan: Plan, log: Any, folder: Path) -> Any:
    return local.run(plan, log, folder, progress)


def _spark(session: Any, progress: Callable[[str, int, int], None], plan: Plan, log: Any, folder: Path) -> Any:
    from replay import spark

    return spark.run(session, plan, log, folder, progress)


def _start(arguments: argparse.Namespace) -> Callable[[], Any] | None:
    """Begin to start Spark in the background; the function waits for it. None for the local engine."""
    if arguments.engine == "local":
        return None
    from replay import spark

    return spark.start_in_background(arguments.master, dict(arguments.conf))


# -- from arguments to values -------------------------------------------------------------------------------------------------------------


def _open(arguments: argparse.Namespace, scratch: str) -> LogmasterLog:
    framing = Framing(arguments.framing) if arguments.framing else None
    return open_log(arguments.control, arguments.data, framed=framing, ccsids=dict(arguments.ccsid), scratch=scratch)


def _options(arguments: argparse.Namespace) -> ScriptOptions:
    policy = Policy(arguments.nul, arguments.timestamps, arguments.char_padding, arguments.midnight, arguments.empty_text)
    render = RenderOptions(arguments.names, arguments.where_columns, tuple(arguments.columns), tuple(arguments.exclude_columns), policy)
    return ScriptOptions(
        arguments.dialect, arguments.names, arguments.commit_every, arguments.records_per_file, arguments.trace, arguments.strict, render
    )


def _selection(arguments: argparse.Namespace) -> Selection:
    low, high = arguments.from_time, arguments.until_time
    if low and high and low > high:
        raise UsageError("LR1001", "--from-time is later than --until-time")
    return Selection(
        from_position=arguments.from_lrsn,
        until_position=arguments.until_lrsn,
        from_time=low,
        until_time=high,
        tables=tuple(arguments.table),
        exclude_tables=tuple(arguments.exclude_table),
        ops=tuple(arguments.op),
        units=tuple(arguments.ur),
        authids=tuple(arguments.authid),
        plans=tuple(arguments.plan),
        correlations=tuple(arguments.correlation),
        connections=tuple(arguments.connection),
        members=tuple(arguments.member),
        where=arguments.where,
        columns=tuple(arguments.columns),
        exclude_columns=tuple(arguments.exclude_columns),
        include_aborted=arguments.include_aborted,
        ri=arguments.ri,
        triggers=arguments.triggers,
        incomplete=arguments.incomplete,
        from_recovery_point=arguments.from_recovery_point,
    )


def _placed(selection: Selection, log: LogmasterLog) -> Selection:
    """Positions given with 12 digits, placed as this log places them (LRSN at byte 1, RBA at byte 4)."""
    from dataclasses import replace as changed

    sharing = log.uses_lrsn()

    def place(position: bytes | None) -> bytes | None:
        if position is None or len(position) == 10:
            return position
        return b"\0" + position + bytes(3) if sharing else bytes(4) + position

    units = tuple((place_rba(unit), member) for unit, member in selection.units)
    placed = changed(selection, from_position=place(selection.from_position), until_position=place(selection.until_position), units=units)
    if placed.from_position and placed.until_position and placed.from_position > placed.until_position:
        raise UsageError("LR1001", "--from-lrsn is higher than --until-lrsn")
    return placed


def place_rba(position: bytes) -> bytes:
    """A 6-byte RBA in its 10-byte form."""
    return position if len(position) == 10 else bytes(4) + position


def _check(log: LogmasterLog, selection: Selection, options: ScriptOptions, mode: str) -> list[str]:
    """What can be refused before anything is read; the warnings that the run carries."""
    taken = [version for version in log.catalog.versions if selection.takes_table(version.name)]
    if not taken:
        names = ", ".join(sorted({version.name for version in log.catalog.versions})[:20])
        raise UsageError("LR1004", "--table and --exclude-table leave no table of the log", hint=f"The log has: {names}")
    profile = profile_named(options.dialect)
    latest = {version.name: version for version in taken}
    check_collisions([version.table for version in latest.values()], profile, options.names)
    for version in taken:
        identity(version.table, options.render)
    if selection.where:
        ValueFilter(selection.where, log.catalog)
    warnings = log.warnings(taken)
    if mode == "redo" and selection.ri == "apply":
        print(
            "note: RI-caused changes are applied (--ri apply); with foreign keys on the target that cascade by themselves, use --ri skip",
            file=sys.stderr,
        )
    return warnings


def _position(text: str) -> bytes:
    digits = text.upper().removeprefix("X'").removesuffix("'").removeprefix("0X")
    if not re.fullmatch(r"[0-9A-F]{12}|[0-9A-F]{20}", digits):
        raise argparse.ArgumentTypeError(f"found {text!r}; expected an LRSN or RBA of 20 (or 12) hexadecimal digits")
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
    return _position(urid), int(member) if member else None


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


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"found {text!r}; expected a number of at least 1")
    return int(text)


# -- the parser ---------------------------------------------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
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
    shown.set_defaults(run=_demo)

    look = commands.add_parser("inspect", help="what is in a log, and what it can support", **layout)
    _add_log(look)
    look.add_argument("--json", action="store_true", help="as JSON")
    look.add_argument("--record", type=_positive, metavar="N", help="show the N-th record of a data file, field by field")
    look.add_argument("--file", type=_positive, default=1, metavar="K", help="of the K-th data file (default 1)")
    look.add_argument("--hex", action="store_true", help="with --record: the bytes of each field in hexadecimal too")
    look.set_defaults(run=_inspect)

    for mode, what in (
        ("redo", "write SQL that repeats the logged changes, in commit order"),
        ("undo", "write SQL that takes them back, in reverse"),
    ):
        command = commands.add_parser(mode, help=what, description=what, **layout)
        _add_log(command)
        _add_output(command)
        _add_selection(command)
        _add_engine(command)
        command.set_defaults(run=partial(_script, mode))
    return parser


def _add_log(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("log")
    group.add_argument("--control", required=True, metavar="F", help="control file")
    group.add_argument("--data", required=True, nargs="+", metavar="F", help="data file(s), .gz too")
    group.add_argument(
        "--framing", choices=[entry.value for entry in Framing], help="how records are framed in all files (default: found out)"
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
    group.add_argument("--dialect", default="postgres", help=f"SQL dialect: {', '.join(BUILT_IN)} (default postgres)")
    group.add_argument(
        "--names",
        choices=("lower", "exact"),
        default="lower",
        help="lower: fold to lower case, quote where needed; exact: as they are, quoted",
    )
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
    group.add_argument(
        "--where-columns",
        choices=("key", "guard", "all"),
        default="key",
        help="what finds a row: its key; key and the old values of what changes; all columns",
    )
    group.add_argument("--columns", action="append", default=[], metavar="GLOB", help="only these columns (COLUMN or OWNER.TABLE.COLUMN)")
    group.add_argument(
        "--exclude-columns",
        action="append",
        default=[],
        metavar="GLOB",
        help="not these columns; an update of nothing else yields no statement, and is counted",
    )
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
    group.add_argument(
        "--empty-text",
        choices=("refuse", "null", "space"),
        default="refuse",
        help="empty text where the target takes it for NULL (Oracle; default: refuse)",
    )
    group.add_argument("--trace", action="store_true", help="LRSN and RBA after each statement")
    group.add_argument("--strict", action="store_true", help="stop at the first damaged record")


def _add_selection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("selection (all of it combines)")
    group.add_argument("--from-lrsn", type=_position, metavar="X", help="lowest commit LRSN, inclusive")
    group.add_argument("--until-lrsn", type=_position, metavar="X", help="highest commit LRSN, inclusive")
    group.add_argument("--from-time", type=partial(_time, False), metavar="T", help="earliest commit time, inclusive, as in the log")
    group.add_argument(
        "--until-time",
        type=partial(_time, True),
        metavar="T",
        help="latest commit time, inclusive; 10:15 means up to the end of that minute",
    )
    group.add_argument("--table", action="append", default=[], metavar="GLOB", help="only tables OWNER.NAME (repeatable)")
    group.add_argument("--exclude-table", action="append", default=[], metavar="GLOB", help="not these tables (repeatable)")
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
        "--ri", choices=("apply", "skip"), default="apply", help="changes caused by RI: skip where the target's foreign keys do the same"
    )
    group.add_argument(
        "--triggers",
        choices=("apply", "skip"),
        default="apply",
        help="changes caused by triggers: skip where the target's triggers do the same",
    )
    group.add_argument(
        "--incomplete",
        choices=("quarantine", "dependentrba"),
        default="quarantine",
        help="incomplete units: set aside every flagged unit, or all from DEPENDENTRBA on (Log Master's rule)",
    )
    group.add_argument("--include-aborted", action="store_true", help="show rolled back work too, as comments")
    group.add_argument("--from-recovery-point", action="store_true", help="also records of SQLTYPE R (after a REDO recovery point)")


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


if __name__ == "__main__":
    sys.exit(main())
