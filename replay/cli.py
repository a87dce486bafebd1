"""The command line: arguments in, text and exit code out. No decision about logs or SQL lives here."""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import replay
from replay import demo, inspect, live_commands, local, picture
from replay.bundle import Bundle, check_output, write_bundle, write_file
from replay.cascade import MODES as CASCADE_MODES
from replay.cascade import consequences, what_if, what_if_text
from replay.changes import OP_NAMES
from replay.errors import EXIT_UNUSABLE, InputError, LogReplayError, UsageError, Where
from replay.keys import KeySpaces
from replay.logs import FAMILIES, Family, Inputs, LogFile, source_named
from replay.needs import check_needs
from replay.plan import ScriptOptions, make_plan
from replay.progress import Bar
from replay.report import balance_text
from replay.resolve import Asker, Seeds
from replay.selection import Selection
from replay.stages import Engine
from replay.where import ValueFilter
from sqlgen.constraints import Constraints, parse_constraints
from sqlgen.dialects import profile_named
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
            log = source_named("logmaster").open_log(Inputs(control=str(control), data=(str(data),), scratch=scratch))
            return _write(log, mode, Selection(), ScriptOptions(), out, arguments, [])

    return demo.run(generate, print, arguments.keep)


def _inspect(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="logreplay-") as scratch:
        family = source_named(arguments.source)
        log = _open(arguments, family, scratch)
        if arguments.record is not None:
            for line in family.dump_record(log, arguments.record, arguments.file, arguments.hex):
                print(line)
            return 0
        description = inspect.describe(family, log)
    print(json.dumps(description, indent=1, ensure_ascii=False) if arguments.json else inspect.text(family, description))
    return int(description["exit_code"])


def _whatif(arguments: argparse.Namespace) -> int:
    family = source_named(arguments.source)
    check_needs(family, "redo", _chosen_units(arguments.without))
    with tempfile.TemporaryDirectory(prefix="logreplay-") as scratch:
        log = _open(arguments, family, scratch)
        selection = _placed(_chosen_units(arguments.without), log)
        with Bar(sys.stderr) as progress:
            session = _start(arguments)
            plan = make_plan(log, "undo", selection, ScriptOptions(), arguments.split_mb << 20)
            engine = _engine(session, progress)
            asker = Asker(engine.execute, log, plan.splits, KeySpaces(log.catalog, _constraints(arguments, log)))
            found = what_if(consequences(asker, plan))
    if not found["without"]:
        raise UsageError("LR1004", "--without names no unit of recovery whose changes took effect in this log")
    print(json.dumps(found, indent=1) if arguments.json else what_if_text(found))
    return 0


def _graph(arguments: argparse.Namespace) -> int:
    if arguments.out.exists() and not arguments.overwrite:
        raise UsageError("LR1002", f"{arguments.out} exists", hint="Name another file, or use --overwrite")
    family = source_named(arguments.source)
    check_needs(family, "redo", _selection(arguments))
    with tempfile.TemporaryDirectory(prefix="logreplay-") as scratch:
        log = _open(arguments, family, scratch)
        selection = _placed(_selection(arguments), log)
        options = _options(arguments)
        _check(log, selection, options, "redo")
        with Bar(sys.stderr) as progress:
            session = _start(arguments)
            plan = make_plan(log, "redo", selection, options, arguments.split_mb << 20)
            engine = _engine(session, progress)
            asker = Asker(engine.execute, log, plan.splits, KeySpaces(log.catalog, _constraints(arguments, log)))
            survey = asker.survey(Seeds(selection=selection))
            answer = asker.ask(survey, by_column=arguments.by_column, back=arguments.back)
        if len(answer.graph) > arguments.max_units:
            raise UsageError(
                "LR1001",
                f"the graph has {len(answer.graph):,} units of recovery; expected at most {arguments.max_units:,} (--max-units)",
                hint="Select fewer (--ur, --table, --from-lrsn …), or raise --max-units",
            )
        found = picture.describe(answer, frozenset(survey.seeds), plan)
        write_file(arguments.out, picture.text(found, arguments.format))
    print(f"{len(found['units']):,} units, {len(found['rows']):,} rows, {len(found['edges']):,} dependencies in {arguments.out}")
    return 0


def _script(mode: str, arguments: argparse.Namespace) -> int:
    check_output(arguments.out, arguments.overwrite)
    selection = _selection(arguments)
    options = _options(arguments)
    family = source_named(arguments.source)
    check_needs(family, mode, selection)
    with tempfile.TemporaryDirectory(prefix="logreplay-") as scratch:
        log = _open(arguments, family, scratch)
        selection = _placed(selection, log)
        warnings = _check(log, selection, options, mode)
        bundle = _write(log, mode, selection, options, arguments.out, arguments, warnings)
    for warning in bundle.manifest["warnings"]:
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
    log: LogFile,
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
        engine = _engine(session, progress)
        overwrite = getattr(arguments, "overwrite", False)
        return write_bundle(plan, log, out, engine, overwrite=overwrite, warnings=warnings, constraints=_constraints(arguments, log))


def _start(arguments: argparse.Namespace) -> Callable[[], Any] | None:
    """Begin to start Spark in the background; the function waits for it. None for the local engine."""
    if arguments.engine == "local":
        return None
    from replay import spark

    return spark.start_in_background(arguments.master, dict(arguments.conf))


def _engine(session: Callable[[], Any] | None, progress: Callable[[str, int, int], None]) -> Engine:
    """The engine on the session that :func:`_start` began to start."""
    if session is None:
        return local.engine(progress)
    from replay import spark

    return spark.engine(session(), progress)


def _started(arguments: argparse.Namespace, progress: Callable[[str, int, int], None]) -> Engine:
    return _engine(_start(arguments), progress)


# -- from arguments to values -------------------------------------------------------------------------------------------------------------


def _open(arguments: argparse.Namespace, family: Family, scratch: str) -> LogFile:
    inputs = Inputs(
        arguments.control,
        tuple(arguments.data),
        tuple(arguments.log),
        arguments.catalog,
        arguments.framing,
        dict(arguments.ccsid),
        dict(arguments.log_option),
        scratch,
    )
    return family.open_log(inputs)


def _opened(arguments: argparse.Namespace, mode: str, scratch: str) -> LogFile:
    family = source_named(arguments.source)
    check_needs(family, mode, _selection(arguments))
    return _open(arguments, family, scratch)


def _constraints(arguments: argparse.Namespace, log: LogFile) -> Constraints:
    path = getattr(arguments, "schema", None)
    if path is None:
        return Constraints()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("LR2001", f"the file cannot be read: {error}", Where(str(path))) from None
    return parse_constraints(text, arguments.schema_dialect, [version.table for version in log.catalog.versions])


def _options(arguments: argparse.Namespace) -> ScriptOptions:
    policy = Policy(arguments.nul, arguments.timestamps, arguments.char_padding)
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
        cascade=getattr(arguments, "cascade", "none"),
        excepted=_chosen_units(arguments.excepted) if getattr(arguments, "excepted", None) else None,
    )


def _chosen_units(pairs: Sequence[tuple[str, Any]]) -> Selection:
    """The selection that ``--except`` and ``--without`` values make: whole units of recovery."""
    values: dict[str, Any] = {}
    for kind, value in pairs:
        values[kind] = (*values.get(kind, ()), value)
    return Selection(**values)


def _unit_choice(text: str) -> tuple[str, Any]:
    kind, sign, value = text.partition("=")
    if not sign:
        return "units", _unit(text)
    fields = {"ur": "units", "authid": "authids", "plan": "plans", "correlation": "correlations", "connection": "connections"}
    if kind not in fields or not value:
        raise argparse.ArgumentTypeError(f"found {text!r}; expected URID[/MEMBER], or KIND=VALUE with KIND one of {', '.join(fields)}")
    return fields[kind], _unit(value) if kind == "ur" else value


def _placed(selection: Selection, log: LogFile) -> Selection:
    """Positions and units as the user gave them, placed as this log places them."""
    bounds: dict[str, Any] = {}
    for name in ("from_position", "until_position"):
        given = getattr(selection, name)
        bounds[name] = None if given is None else log.placed(given, name == "until_position")
    units = tuple((log.placed_unit(unit), member) for unit, member in selection.units)
    excepted = _placed(selection.excepted, log) if selection.excepted else None
    placed = replace(selection, **bounds, units=units, excepted=excepted)
    if placed.from_position and placed.until_position and placed.from_position > placed.until_position:
        raise UsageError("LR1001", "--from-lrsn is higher than --until-lrsn")
    return placed


def _check(log: LogFile, selection: Selection, options: ScriptOptions, mode: str) -> list[str]:
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
    if not re.fullmatch(r"[0-9A-F]{12}|[0-9A-F]{16}|[0-9A-F]{20}", digits):
        raise argparse.ArgumentTypeError(f"found {text!r}; expected an LRSN, RBA or LSN of 20 (or 12, or 16) hexadecimal digits")
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
    ask.set_defaults(run=_whatif)

    view = commands.add_parser("graph", help="who built on whom around some units: a page to look at, or data", **layout)
    _add_log(view)
    group = view.add_argument_group("graph")
    group.add_argument("--out", required=True, type=Path, metavar="FILE", help="the file to write")
    group.add_argument("--overwrite", action="store_true", help="replace a file that is already there")
    group.add_argument("--format", choices=picture.FORMATS, default="html", help="html (default): one page that needs no network; or data")
    group.add_argument("--by-column", action="store_true", help="no dependency between updates of different columns of a row")
    group.add_argument("--back", action="store_true", help="also what the selected units built on")
    group.add_argument("--max-units", type=_positive, default=5000, metavar="N", help="refuse to draw more units (default 5000)")
    _add_statements(view)
    _add_selection(view)
    _add_schema(view)
    _add_engine(view)
    view.set_defaults(run=_graph, commit_every=1, records_per_file=250_000, trace=False, strict=False)

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
        _add_engine(command)
        command.set_defaults(run=partial(_script, mode))

    _add_live(commands, layout)
    return parser


def _add_live(commands: Any, layout: dict[str, Any]) -> None:
    add = live_commands.Adders(
        _add_log, _add_statements, _add_selection, _add_schema, _add_engine, _position, partial(_time, True), _positive
    )
    made = live_commands.Makers(_opened, _selection, _options, _placed, _check, _constraints, _started)
    live_commands.add_to(commands, layout, add, made, print)


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
    _add_statements(parser)


def _add_statements(parser: argparse.ArgumentParser, where: str = "key") -> None:
    group = parser.add_argument_group("statements")
    group.add_argument("--dialect", default="postgres", help="SQL dialect (default postgres)")
    group.add_argument(
        "--names",
        choices=("lower", "exact"),
        default="lower",
        help="lower: fold to lower case, quote where needed; exact: as they are, quoted",
    )
    group.add_argument(
        "--where-columns",
        choices=("key", "guard", "all"),
        default=where,
        help=f"what finds a row: its key; key and the old values of what changes; all columns (default {where})",
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


def _add_selection(parser: argparse.ArgumentParser, script: bool = True) -> None:
    group = parser.add_argument_group("selection (all of it combines)")
    if script:
        _add_range(group)
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
        help="latest commit time, inclusive; 10:15 means up to the end of that minute",
    )
    group.add_argument("--include-aborted", action="store_true", help="show rolled back work too, as comments")


def _add_schema(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("keys that the log does not know")
    group.add_argument(
        "--schema", type=Path, metavar="FILE", help="DDL of the tables: unique keys and foreign keys, for what depends on what"
    )
    group.add_argument("--schema-dialect", default="postgres", metavar="NAME", help="SQL dialect of the schema file (default postgres)")


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


if __name__ == "__main__":
    sys.exit(main())
