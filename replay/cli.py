"""The command line: arguments in, text and exit code out. No decision about logs or SQL lives here."""

from __future__ import annotations

import argparse
import errno
import json
import os
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from replay import demo, inspect, live, local, migrate, picture, status, verify
from replay.apply import Pace
from replay.arguments import make_parser
from replay.bundle import Bundle, check_output, write_bundle, write_file
from replay.cascade import consequences, what_if, what_if_text
from replay.catalog import TableVersion
from replay.ddl import structure_script, tables_before
from replay.errors import EXIT_OK, EXIT_UNUSABLE, EXIT_WARNING, InputError, LogReplayError, UsageError, Where
from replay.formats import check_datasets
from replay.keys import KeySpaces
from replay.logs import Family, Inputs, LogFile, source_named
from replay.needs import check_needs
from replay.plan import Export, ScriptOptions, make_plan
from replay.progress import Bar
from replay.report import balance_text
from replay.resolve import Asker, Seeds
from replay.responses import responses_of
from replay.selection import Selection
from replay.stages import Engine
from replay.targets import target_of
from replay.where import ValueFilter
from sqlgen.constraints import Constraints, parse_constraints
from sqlgen.declared import Declared, parse_declared
from sqlgen.dialects import profile_named
from sqlgen.errors import SqlgenError
from sqlgen.literals import Policy
from sqlgen.mapping import parse_mapping
from sqlgen.masking import mask_key
from sqlgen.names import check_collisions
from sqlgen.schema_script import schema_script
from sqlgen.statements import RenderOptions, identity, shown_columns


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    arguments = make_parser(_COMMANDS).parse_args(argv)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever ends a run wants its temporary folders gone, as with Ctrl-C
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except LogReplayError as error:
        return _fail(error, arguments)
    except SqlgenError as error:
        return _fail(UsageError(error.code, error.message, hint=error.hint), arguments)
    except BrokenPipeError:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # whoever read the output has read enough; nothing more can be said there
        return EXIT_OK
    except OSError as error:
        if error.filename is None and error.errno not in (errno.ENOSPC, errno.EDQUOT):
            return _defect(error, arguments)
        hint = "Name a folder that is there and may be written, on a disk with room"
        found = f"found {error.strerror}{f': {error.filename}' if error.filename is not None else ''}; expected to read and write there"
        return _fail(UsageError("LR1006", found, hint=hint), arguments)
    except KeyboardInterrupt:
        print("logreplay: interrupted; nothing was published", file=sys.stderr)
        return EXIT_UNUSABLE
    except Exception as error:
        return _defect(error, arguments)


def _defect(error: Exception, arguments: argparse.Namespace) -> int:
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
        if arguments.record is None and arguments.hex:
            raise UsageError("LR1001", "found --hex without --record; expected the number of a record", hint="For example --record 7 --hex")
        if arguments.record is not None and arguments.json:
            raise UsageError("LR1001", "found --record with --json; expected one of them: a record is shown as text")
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
            engine = _engine(arguments, progress)
            plan = make_plan(log, "undo", selection, ScriptOptions(), arguments.split_mb << 20)
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
        _check(log, selection, options)
        with Bar(sys.stderr) as progress:
            engine = _engine(arguments, progress)
            plan = make_plan(log, "redo", selection, options, arguments.split_mb << 20)
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


def _ddl(arguments: argparse.Namespace) -> int:
    if arguments.out is not None and arguments.out.exists() and not arguments.overwrite:
        raise UsageError("LR1002", f"{arguments.out} exists", hint="Name another file, or use --overwrite")
    if arguments.changes is not None:
        return _structure(arguments)
    if arguments.from_lrsn or arguments.until_lrsn or arguments.ur:
        raise UsageError("LR1001", "--from-lrsn, --until-lrsn and --ur choose changes", hint="Give --changes redo or --changes undo")
    selection = Selection(tables=tuple(arguments.table), exclude_tables=tuple(arguments.exclude_table))
    with tempfile.TemporaryDirectory(prefix="logreplay-") as scratch:
        log = _open(arguments, source_named(arguments.source), scratch)
        constraints, declared = _constraints(arguments, log), _declared(arguments, log)
    versions = _taken(log, selection)
    if arguments.generation == "first":
        versions.reverse()
    tables = {version.name: version.table for version in versions}
    made = schema_script(
        [tables[name] for name in sorted(tables)], constraints, profile_named(arguments.dialect), arguments.names, declared
    )
    if arguments.out is None:
        print(made.text, end="")
    else:
        write_file(arguments.out, made.text)
        print(f"{len(tables)} tables in {arguments.out}")
    for note in made.notes:
        print(f"note: {note.table}.{note.column}: {note.source} becomes {note.target}, {note.fidelity}: {note.note}", file=sys.stderr)
    for entry in made.outside:
        print(f"note: not in the script, for it refers to a table that is not: {entry}", file=sys.stderr)
    for entry in made.left_out:
        print(f"warning: not said in {arguments.dialect}: {entry}", file=sys.stderr)
    return EXIT_WARNING if made.left_out else EXIT_OK


def _migrate(arguments: argparse.Namespace) -> int:
    check_output(arguments.out, arguments.overwrite)
    selection, family = _selection(arguments), source_named(arguments.source)
    check_needs(family, "redo", selection)
    with tempfile.TemporaryDirectory(prefix="logreplay-") as scratch:
        log = _open(arguments, family, scratch)
        selection = _placed(selection, log)
        options = _mapped(arguments, log, _options(arguments))
        warnings = _check(log, selection, options)
        versions = _taken(log, selection)
        if arguments.generation == "first" or log.has_structure:  # the redo scripts make what came later
            versions.reverse()
        tables = tables_before(log, selection, {version.name: version.table for version in versions})
        chosen = [tables[name] for name in sorted(tables)]
        request = migrate.Request(chosen, arguments.initial, _constraints(arguments, log), warnings, _declared(arguments, log))
        with Bar(sys.stderr) as progress:
            plan = make_plan(log, "redo", selection, options, arguments.split_mb << 20)
            made = migrate.write_migration(plan, log, request, arguments.out, _engine(arguments, progress), arguments.overwrite)
    for note in made.manifest["types"]:
        print(f"note: {note['table']}.{note['column']}: {note['source']} becomes {note['target']}, {note['fidelity']}: {note['note']}")
    for entry in made.manifest["not_migrated"]:
        print(f"note: not migrated: {entry}")
    for warning in made.manifest["warnings"]:
        print(f"warning: {warning}")
    _tell_bundle(made.redo)
    print(f"{made.folder / migrate.STEPS} says what to run in which order")
    return made.exit_code


def _structure(arguments: argparse.Namespace) -> int:
    """``ddl --changes``."""
    family = source_named(arguments.source)
    chosen = Selection(
        tables=tuple(arguments.table),
        exclude_tables=tuple(arguments.exclude_table),
        from_position=arguments.from_lrsn,
        until_position=arguments.until_lrsn,
        units=tuple(arguments.ur),
    )
    check_needs(family, "structure", chosen)
    with tempfile.TemporaryDirectory(prefix="logreplay-") as scratch:
        log = _open(arguments, family, scratch)
        _taken(log, chosen)
        undo, profile = arguments.changes == "undo", profile_named(arguments.dialect)
        made = structure_script(log, _placed(chosen, log), profile, arguments.names, undo)
    if arguments.out is None:
        print(made.text, end="")
    else:
        write_file(arguments.out, made.text)
        print(f"{made.changes} changes of structure in {arguments.out}")
    for entry in made.lost:
        print(f"warning: not brought back: {entry}", file=sys.stderr)
    return EXIT_WARNING if made.lost else EXIT_OK


def _script(mode: str, arguments: argparse.Namespace) -> int:
    check_output(arguments.out, arguments.overwrite)
    selection = _selection(arguments)
    options = _options(arguments)
    family = source_named(arguments.source)
    check_needs(family, mode, selection)
    with tempfile.TemporaryDirectory(prefix="logreplay-") as scratch:
        log = _open(arguments, family, scratch)
        selection = _placed(selection, log)
        options = _mapped(arguments, log, options)
        _check_bounds(selection)
        warnings = _check(log, selection, options)
        if mode == "redo" and selection.ri == "apply" and "origins" not in family.capabilities.unknown:
            said = "note: RI-caused changes are applied (--ri apply); with foreign keys on the target that cascade by themselves, use --ri skip"
            print(said, file=sys.stderr)
        bundle = _write(log, mode, selection, options, arguments.out, arguments, warnings)
    for warning in bundle.manifest["warnings"]:
        print(f"warning: {warning}")
    _tell_bundle(bundle)
    return bundle.exit_code


def _export(arguments: argparse.Namespace) -> int:
    check_output(arguments.out, arguments.overwrite)
    family = source_named(arguments.source)
    with tempfile.TemporaryDirectory(prefix="logreplay-") as scratch:
        log = _opened(arguments, "redo", scratch)
        selection, options = _placed(_selection(arguments), log), _options(arguments)
        _check_bounds(selection)
        unknown = frozenset(family.capabilities.unknown)
        export = Export(arguments.format, arguments.parquet_types, arguments.csv_null, arguments.schemas, log.source, unknown)
        versions = _taken(log, selection)
        _check_columns(versions, options.render)
        check_datasets(versions, export, options)
        if selection.where is not None:
            ValueFilter(selection.where, log.catalog)
        bundle = _write(log, "redo", selection, options, arguments.out, arguments, log.warnings(versions), export)
    for warning in bundle.manifest["warnings"]:
        print(f"warning: {warning}")
    _tell_bundle(bundle)
    return bundle.exit_code


def _check_bounds(selection: Selection) -> None:
    if selection.from_position and selection.until_position and selection.from_position > selection.until_position:
        raise UsageError("LR1001", "--from-lrsn is higher than --until-lrsn")


def _tell_bundle(bundle: Bundle) -> None:
    for finding in bundle.manifest["findings"]["shown"][:20]:
        print(finding)
    if bundle.manifest["findings"]["count"] > 20:
        print(f"… {bundle.manifest['findings']['count'] - 20} more findings; manifest.json shows up to 1,000")
    for unit in bundle.manifest["quarantined_units"][:20]:
        print(f"quarantined: unit {unit['unit']}: {unit['reason']}")
    if len(bundle.manifest["quarantined_units"]) > 20:
        print(f"… {len(bundle.manifest['quarantined_units']) - 20} more quarantined units in manifest.json")
    exported = bundle.manifest["mode"] == "export"
    print(balance_text(bundle.tally, "changes" if exported else "statements"))
    parts, what = ("datasets", "dataset") if exported else ("scripts", "script")
    print(f"{len(bundle.manifest[parts])} {what}(s) and manifest.json in {bundle.folder}")


def _replay(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="logreplay-") as scratch:
        log = _opened(arguments, "redo", scratch)
        asked = _selection(arguments)
        selection = _placed(replace(asked, until_position=None, until_time=None), log)
        options = _options(arguments)
        for warning in _check(log, selection, options):
            print(f"warning: {warning}")
        request = live.Request(
            arguments.to,
            arguments.apply,
            until=_at(log, arguments.until_lrsn, True),
            until_time=arguments.until_time,
            until_mark=arguments.until_mark,
            at=_at(log, arguments.at_lrsn, True),
            adjoining=arguments.adjoining,
            enforcement=arguments.enforcement == "on",
            responses=responses_of(arguments.on),
            pace=_pace(arguments),
        )
        with Bar(sys.stderr) as progress:
            work = live.Work(log, selection, options, _constraints(arguments, log, arguments.to), _engine(arguments, progress))
            return live.run(work, request, print, progress, arguments.split_mb << 20)


def _pace(arguments: argparse.Namespace) -> Pace:
    merged = (arguments.commit_statements or live.MERGED) if arguments.mode == "merged" else 0
    return Pace(
        arguments.commit_every,
        10_000 if merged else arguments.commit_statements or 10_000,
        arguments.tries,
        merged=merged,
        sessions=arguments.sessions,
    )


def _verify(arguments: argparse.Namespace) -> int:
    logged = bool(arguments.control or arguments.data or arguments.log)
    if arguments.roundtrip and not logged:
        raise UsageError("LR1001", "verify --roundtrip needs a log", hint="Give the options that name one, such as --control and --data")
    if arguments.to is None and not arguments.roundtrip:
        raise UsageError("LR1001", "found neither --to nor --roundtrip", hint="Say which database is to be compared")
    with tempfile.TemporaryDirectory(prefix="logreplay-") as scratch, Bar(sys.stderr) as progress:
        work = None
        if logged:
            log = _opened(arguments, "undo" if arguments.roundtrip else "redo", scratch)
            selection, options = _placed(_selection(arguments), log), _options(arguments)
            for option in ("ri", "triggers"):
                if getattr(selection, option) == "skip":
                    message = (
                        f"found --{option} skip with verify; the expected state is made without the target's foreign keys and triggers"
                    )
                    hint = "Compare with a state that you unloaded: verify --to URL --expected DIR, without a log"
                    raise UsageError("LR1001", f"{message}, so what was left to them is not in it", hint=hint)
            work = live.Work(log, selection, options, _constraints(arguments, log), _engine(arguments, progress))
        if arguments.roundtrip:
            assert work is not None
            code, found = verify.roundtrip(
                arguments.to, arguments.ddl, arguments.target_schema, arguments.expected, work, print, arguments.scratch
            )
        else:
            code, found = verify.state(arguments.to, arguments.target_schema, arguments.expected, work, print, arguments.scratch)
    if arguments.certificate is not None:
        verify.write_certificate(found, arguments.certificate)
    return code


def _status(arguments: argparse.Namespace) -> int:
    found = status.of(arguments.to, arguments.runs)
    if arguments.rejects is not None:
        status.write_rejects(found, arguments.rejects)
    print(json.dumps(found, indent=1, ensure_ascii=False) if arguments.json else status.text(found))
    return 0


def _mark(arguments: argparse.Namespace) -> int:
    if arguments.lrsn is not None and len(arguments.lrsn) != 10:
        raise UsageError("LR1001", "found --lrsn with fewer than 20 digits; expected 20, because no log is there to place them")
    print(status.mark(arguments.to, arguments.name, arguments.lrsn))
    return 0


def _write(
    log: LogFile,
    mode: str,
    selection: Selection,
    options: ScriptOptions,
    out: Path,
    arguments: argparse.Namespace,
    warnings: list[str],
    export: Export | None = None,
) -> Bundle:
    with Bar(sys.stderr) as progress:
        engine = _engine(arguments, progress)
        plan = replace(make_plan(log, mode, selection, options, arguments.split_mb << 20), export=export)
        overwrite = getattr(arguments, "overwrite", False)
        return write_bundle(plan, log, out, engine, overwrite=overwrite, warnings=warnings, constraints=_constraints(arguments, log))


def _engine(arguments: argparse.Namespace, progress: Callable[[str, int, int], None]) -> Engine:
    """The engine asked for; Spark begins to start in the background."""
    if arguments.engine == "local":
        return local.engine(progress)
    from replay import spark

    return spark.engine(spark.start_in_background(arguments.master, dict(arguments.conf)), progress)


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
    """A log whose family can tell what the command needs."""
    family = source_named(arguments.source)
    check_needs(family, mode, _selection(arguments))
    return _open(arguments, family, scratch)


def _constraints(arguments: argparse.Namespace, log: LogFile, target: str | None = None) -> Constraints:
    """The keys that ``--schema`` knows of; where it is not given, those of the database ``target``, else those that came with the log."""
    source = getattr(arguments, "schema", None) or target
    tables = [version.table for version in log.catalog.versions]
    if source is None:
        return log.constraints
    if "://" in source:
        found = parse_constraints(target_of(source).keys(source, [table.name for table in tables]), "postgres", tables, lenient=True)
    else:
        found = parse_constraints(_text(source), arguments.schema_dialect, tables)
    for entry in found.unused:
        print(f"note: a key is not considered: {entry}", file=sys.stderr)
    return found


def _declared(arguments: argparse.Namespace, log: LogFile) -> dict[str, Declared]:
    """What a schema file declares beyond keys."""
    if arguments.schema is None or "://" in arguments.schema:
        return {}
    return parse_declared(_text(arguments.schema), arguments.schema_dialect, [version.table for version in log.catalog.versions])


def _text(path: str) -> str:
    try:
        return _read(Path(path)).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("LR2001", f"the file cannot be read: {error}", Where(path)) from None


def _options(arguments: argparse.Namespace) -> ScriptOptions:
    policy = Policy(arguments.nul, arguments.timestamps, arguments.char_padding, arguments.midnight, arguments.empty_text)
    columns, excluded = tuple(arguments.columns), tuple(arguments.exclude_columns)
    render = RenderOptions(arguments.names, arguments.where_columns, columns, excluded, policy, upsert=getattr(arguments, "upsert", False))
    dialect = (
        arguments.dialect
        if hasattr(arguments, "dialect")
        else target_of(arguments.to or getattr(arguments, "scratch", None) or "postgresql:").dialect
    )
    return ScriptOptions(
        dialect, arguments.names, arguments.commit_every, arguments.records_per_file, arguments.trace, arguments.strict, render
    )


def _mapped(arguments: argparse.Namespace, log: LogFile, options: ScriptOptions) -> ScriptOptions:
    """The options with ``--mapping``. SqlgenError (LR1011) names all that is wrong with it."""
    if arguments.mapping is None:
        if arguments.mask_key_file is not None:
            raise UsageError("LR1001", "found --mask-key-file without --mapping; expected both")
        return options
    key = None if arguments.mask_key_file is None else mask_key(_read(arguments.mask_key_file))
    tables = [version.table for version in log.catalog.versions]
    text = _read(arguments.mapping).decode("utf-8", "replace")
    made = parse_mapping(text, tables, profile_named(options.dialect), options.render, key)
    render = replace(options.render, exclude_columns=(*options.render.exclude_columns, *made.excluded()))
    return replace(options, mapping=made, render=render)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError("LR2001", f"the file cannot be read: {error}", Where(str(path))) from None


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


def _at(log: LogFile, position: bytes | None, last: bool) -> bytes | None:
    """A position as the user gave it, as the log places it. UsageError for a form of position that its family does not have."""
    if position is None:
        return None
    placed = log.placed(position, last)
    if len(placed) != 10:
        raise UsageError("LR1001", f"found a position of {2 * len(position)} digits; expected 20 (or 12, or 16) with this log")
    return placed


def _placed(selection: Selection, log: LogFile) -> Selection:
    """Positions and units as the user gave them, placed as this log places them."""
    bounds: dict[str, Any] = {
        name: _at(log, getattr(selection, name), name == "until_position") for name in ("from_position", "until_position")
    }
    units = tuple((log.placed_unit(unit), member) for unit, member in selection.units)
    excepted = _placed(selection.excepted, log) if selection.excepted else None
    return replace(selection, **bounds, units=units, excepted=excepted)


def _check(log: LogFile, selection: Selection, options: ScriptOptions) -> list[str]:
    """What can be refused before anything is read; the warnings that the run carries."""
    taken = _taken(log, selection)
    profile = profile_named(options.dialect)
    latest = {version.name: version for version in taken}
    check_collisions([version.table for version in latest.values()], profile, options.names)
    _check_columns(taken, options.render)
    for version in taken:
        identity(version.table, options.render)
    if selection.where is not None:
        ValueFilter(selection.where, log.catalog)
    return log.warnings(taken)


def _check_columns(taken: Sequence[TableVersion], render: RenderOptions) -> None:
    """UsageError (LR1004) for a glob of ``--columns`` or ``--exclude-columns`` that no column matches: its writer meant one."""
    for option, globs in (("--columns", render.columns), ("--exclude-columns", render.exclude_columns)):
        for glob in globs:
            only = RenderOptions(columns=(glob,))
            if not any(shown_columns(version.table, only) for version in taken):
                hint = "Columns are named NAME or OWNER.TABLE.NAME, with * and ?; logreplay inspect shows them"
                raise UsageError("LR1004", f"found {option} {glob}; expected a column of the tables that are taken", hint=hint)


def _taken(log: LogFile, selection: Selection) -> list[TableVersion]:
    """The table versions that ``--table`` and ``--exclude-table`` take. UsageError (LR1004) when there is none."""
    if not log.catalog.versions:
        hint = "Give the catalog of the database that wrote the log (--catalog); Log Master has its tables in the control file (--control)"
        raise UsageError("LR1004", "found no description of any table of the log; expected one of at least one", hint=hint)
    taken = [version for version in log.catalog.versions if selection.takes_table(version.name)]
    if not taken:
        names = ", ".join(sorted({version.name for version in log.catalog.versions})[:20])
        raise UsageError("LR1004", "--table and --exclude-table leave no table of the log", hint=f"The log has: {names}")
    return [version for version in taken if version.table.columns]


_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "demo": _demo,
    "inspect": _inspect,
    "ddl": _ddl,
    "migrate": _migrate,
    "redo": partial(_script, "redo"),
    "undo": partial(_script, "undo"),
    "export": _export,
    "replay": _replay,
    "verify": _verify,
    "status": _status,
    "mark": _mark,
    "whatif": _whatif,
    "graph": _graph,
}


if __name__ == "__main__":
    sys.exit(main())
