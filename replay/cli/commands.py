"""The commands that write files: arguments in, text and exit code out. No decision about logs or
SQL is made here."""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from replay.changes.choices import (
    DrawingFormat,
    ExportFormat,
    Gaps,
    Generation,
    Mode,
)
from replay.changes.options import ScriptOptions
from replay.changes.position import UnitId
from replay.changes.selection import Selection
from replay.cli.also import EXTRACT, also_outputs, check_also
from replay.cli.exporting import export_of, grow
from replay.cli.extracting import write_copy
from replay.cli.log_words import log_words, look_at
from replay.cli.outcome import check_file, is_printed, tell_bundle, tell_notes
from replay.cli.progress import Bar
from replay.cli.request import (
    engine_of,
    keys_of,
    open_log,
    options_of,
    request_of,
    selection_of,
)
from replay.cli.terminal import OUTPUT
from replay.engine.contract import Engine
from replay.errors import EXIT_OK, EXIT_WARNING, UsageError
from replay.live.keys import NO_SCHEMA, schema_text
from replay.machine import room_for
from replay.output.bundle import Bundle
from replay.output.growth import GrowingFolder
from replay.output.whole_folder import check_output
from replay.pipeline.extent import nothing_left, skipped_records
from replay.pipeline.plan import Plan
from replay.pipeline.request import (
    Demand,
    Request,
    make_request,
    mapping_file,
    named_tables,
    script_notes,
    unread_keys,
)
from replay.storage import is_database
from replay.storage.durable import write_file
from replay.targets import target_of
from replay.temp_folders import WorkFolder
from replay.writable import Writable
from sqlgen.choices import DEFAULT_DIALECT, Assertion, RealPolicy, StatementForm
from sqlgen.constraints import Constraints
from sqlgen.dialects import profile_named
from sqlgen.late import LateModule

if TYPE_CHECKING:
    from replay.cli import demo
    from replay.dependencies import analysis, cascade, drawing, key_spaces, passes
    from replay.live import dry_run
    from replay.output import migration, structure
    from replay.reports import ask, page
    from sqlgen import schema_file
    from sqlgen import schema_script as schemas
else:  # what some commands alone need
    demo = LateModule("replay.cli.demo")
    analysis, cascade, drawing, passes, key_spaces = (
        LateModule(f"replay.dependencies.{name}")
        for name in ("analysis", "cascade", "drawing", "passes", "key_spaces")
    )
    dry_run = LateModule("replay.live.dry_run")
    migration, structure = (
        LateModule(f"replay.output.{name}") for name in ("migration", "structure")
    )
    ask, page = LateModule("replay.reports.ask"), LateModule("replay.reports.page")
    schema_file, schemas = (
        LateModule(f"sqlgen.{name}") for name in ("schema_file", "schema_script")
    )


def _demo(arguments: argparse.Namespace) -> int:
    def generate(mode: str, control: Path, data: Path, out: Path) -> Bundle:
        named = argparse.Namespace(
            source="logmaster",
            in_turn=[("control", [str(control)]), ("data", [str(data)])],
            log=[],
            logs=[],
            gaps=None,
            catalog=None,
            framing=None,
            ccsid=[],
            log_option=[],
        )
        with WorkFolder() as scratch, Bar(sys.stderr) as progress:
            demand = Demand(Mode(mode), ScriptOptions())
            keys = Constraints()  # the tables of the demo have none but those of the log
            request = make_request(open_log(named, scratch), Selection(), demand, keys)
            engine = engine_of(arguments, request.log, progress)
            return Writable(request, engine, arguments.split_mb << 20).write(out)

    return demo.run(generate, print, arguments.keep)


# -- dependencies
# -------------------------------------------------------------------------------------------------


def analysis_of(
    arguments: argparse.Namespace, request: Request, engine: Engine
) -> tuple[Plan, analysis.DependencyAnalysis]:
    """The plan of a request, and who can be asked what depends on what in it."""
    plan = request.plan(arguments.split_mb << 20, engine)
    spaces = key_spaces.KeySpaces(request.log.catalog, request.constraints)
    return plan, analysis.DependencyAnalysis(engine.execute, request.log, plan.splits, spaces)


def _graph(arguments: argparse.Namespace) -> int:
    check_file(arguments.out, arguments.overwrite)
    with WorkFolder() as scratch:
        demand = Demand(options=options_of(arguments), dependencies=True)
        request = request_of(arguments, scratch, demand, selection_of(arguments))
        tell_notes(request.notes)
        with Bar(sys.stderr) as progress:
            engine = engine_of(arguments, request.log, progress)
            plan, asked = analysis_of(arguments, request, engine)
            survey = asked.survey(passes.StartUnits(units=cascade.taken_units(asked, plan)))
            answer = asked.reached(survey, by_column=arguments.by_column, back=arguments.back)
        if len(answer.graph) > arguments.max_units:
            raise UsageError(
                "LR1001",
                f"the graph has {len(answer.graph):,} units of recovery; expected at most"
                f" {arguments.max_units:,} (--max-units)",
                hint="Select fewer (--ur, --table, --from-position …), or raise --max-units",
            )
        warnings = [*request.warnings, *survey.warnings()]
        if not survey.start:
            warnings += nothing_left(
                request.log, plan.selection, skipped_records(plan, request.log), engine
            )
        chosen = frozenset(survey.start)
        if arguments.format == DrawingFormat.HTML:
            drawn, said = graph_page(arguments, request, engine, answer, chosen, warnings)
        else:
            picture = drawing.describe(answer, chosen, plan, warnings)
            drawn = drawing.text(picture, arguments.format)
            said = (
                f"{len(picture['units']):,} units, {len(picture['rows']):,} rows,"
                f" {len(picture['edges']):,} dependencies"
            )
    if is_printed(arguments.out):
        sys.stdout.write(drawn)
    else:
        write_file(arguments.out, drawn)
    stream = sys.stderr if is_printed(arguments.out) else sys.stdout
    for warning in warnings:
        print(f"warning: {warning}", file=stream)
    where = "" if is_printed(arguments.out) else f" in {arguments.out}"
    print(f"{said}{where}", file=stream)
    return EXIT_WARNING if warnings else EXIT_OK


def graph_page(
    arguments: argparse.Namespace,
    request: Request,
    engine: Engine,
    answer: analysis.Subgraph,
    chosen: frozenset[UnitId],
    warnings: list[str],
) -> tuple[str, str]:
    """The page about the units of a graph, which begins with who built on whom, and its size in
    words."""
    with WorkFolder() as work:
        opened, words = request.opened, log_words(arguments)
        about = ask.Asked(
            opened,
            engine,
            lambda: Path(tempfile.mkdtemp(dir=work)),
            arguments.split_mb << 20,
            request.constraints,
            words,
        )
        made = page.graph_page(about, answer.graph, chosen, arguments.by_column)
    made["warnings"] = warnings
    units, edges = len(made["units"]["name"]), len((made["edges"] or {"from": ()})["from"])
    return page.page_html(made), f"{units:,} units, {edges:,} dependencies"


# -- structure
# -------------------------------------------------------------------------------------------------


def _ddl(arguments: argparse.Namespace) -> int:
    check_file(arguments.out, arguments.overwrite)
    if arguments.changes is not None:
        return _structure(arguments)
    marked = arguments.from_mark or arguments.until_mark
    if arguments.from_position or arguments.until_position or marked or arguments.ur:
        raise UsageError(
            "LR1001",
            "--from-position, --until-position, --from-mark, --until-mark and --ur choose changes",
            hint="Give --changes redo or --changes undo",
        )
    tables, excluded = tuple(arguments.table), tuple(arguments.exclude_table)
    selection = Selection(tables=tables, exclude_tables=excluded)
    with WorkFolder() as scratch:
        demand = Demand(wide_reals=arguments.reals == RealPolicy.DOUBLE)
        request = request_of(arguments, scratch, demand, selection)
        declared = _declared(arguments, request)
        first = arguments.generation == Generation.FIRST
        latest = structure.tables_within(request.log, request.versions, first)
    tell_notes(request.notes)
    script = schemas.schema_script(
        [latest[name] for name in sorted(latest)],
        request.constraints,
        profile_named(arguments.dialect),
        arguments.names,
        declared,
    )
    code = _write_schema(arguments, script, len(latest))
    ordered = reversed(request.versions) if first else request.versions
    chosen = {version.name: version for version in ordered}  # of each table the form that is meant
    told_of = request.log.warnings(list(chosen.values()))
    warnings = [*told_of, *unread_keys(request.constraints)]
    if not latest:
        told = named_tables(request.log)
        warnings.append(f"--table and --exclude-table leave no table of the log, which has: {told}")
    for entry in warnings:
        print(f"warning: {entry}", file=sys.stderr)
    return EXIT_WARNING if warnings else code


def _write_schema(arguments: argparse.Namespace, script: schemas.SchemaScript, tables: int) -> int:
    if arguments.out is None or is_printed(arguments.out):
        print(script.text, end="")
    else:
        write_file(arguments.out, script.text)
        print(f"{tables} tables in {arguments.out}")
    for note in script.notes:
        print(
            f"note: {note.table}.{note.column}: {note.source} becomes {note.target},"
            f" {note.fidelity}: {note.note}",
            file=sys.stderr,
        )
    for entry in script.outside:
        print(
            f"note: not in the script, for it refers to a table that is not: {entry}",
            file=sys.stderr,
        )
    for entry in script.left_out:
        print(f"warning: not said in {arguments.dialect}: {entry}", file=sys.stderr)
    return EXIT_WARNING if script.left_out else EXIT_OK


def _declared(arguments: argparse.Namespace, request: Request) -> dict[str, schema_file.Declared]:
    """What a schema file declares beyond keys."""
    if arguments.schema in (None, NO_SCHEMA) or is_database(arguments.schema):
        return {}
    tables = [version.table for version in request.log.catalog.versions]
    text, _ = schema_text(arguments.schema, arguments.schema_dialect, arguments.schema_encoding)
    return schema_file.parse_declared(text, arguments.schema_dialect, tables)


def _structure(arguments: argparse.Namespace) -> int:
    """``ddl --changes``."""
    selection = Selection(
        tables=tuple(arguments.table),
        exclude_tables=tuple(arguments.exclude_table),
        from_position=arguments.from_position,
        until_position=arguments.until_position,
        from_mark=arguments.from_mark,
        until_mark=arguments.until_mark,
        marks=arguments.marks,
        units=tuple(arguments.ur),
    )
    with WorkFolder() as scratch:
        request = request_of(arguments, scratch, Demand(structure=True), selection)
        undo, profile = arguments.changes == Mode.UNDO, profile_named(arguments.dialect)
        script = structure.structure_script(
            request.log, request.selection, profile, arguments.names, undo
        )
    if arguments.out is None or is_printed(arguments.out):
        print(script.text, end="")
    else:
        write_file(arguments.out, script.text)
        print(f"{script.changes} changes of structure in {arguments.out}")
    for entry in script.lost:
        print(f"warning: not brought back: {entry}", file=sys.stderr)
    warnings = list(dict.fromkeys((*request.warnings, *script.warnings)))
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    return EXIT_WARNING if script.lost or warnings else EXIT_OK


# -- folders
# -------------------------------------------------------------------------------------------------


def _migrate(arguments: argparse.Namespace) -> int:
    check_output(arguments.out, arguments.overwrite)
    mapping = mapping_file(arguments.mapping, arguments.mask_key_file)
    demand = Demand(options=options_of(arguments), mapping=mapping)
    with WorkFolder() as scratch:
        request = request_of(arguments, scratch, demand, selection_of(arguments))
        tell_notes(request.notes)
        wanted = _migration(arguments, request)
        with Bar(sys.stderr) as progress:
            engine = engine_of(arguments, request.log, progress)
            written = migration.write_migration(
                request.plan(arguments.split_mb << 20, engine),
                request.log,
                wanted,
                arguments.out,
                engine,
                arguments.overwrite,
            )
    for note in written.manifest["types"]:
        print(
            f"note: {note['table']}.{note['column']}: {note['source']} becomes {note['target']},"
            f" {note['fidelity']}: {note['note']}"
        )
    for entry in written.manifest["not_migrated"]:
        print(f"note: not migrated: {entry}")
    for warning in written.manifest["warnings"]:
        print(f"warning: {warning}")
    tell_bundle(written.redo)
    print(f"{written.folder / migration.STEPS} says what to run in which order")
    return written.exit_code


def _migration(arguments: argparse.Namespace, request: Request) -> migration.MigrationRequest:
    """What is to be migrated: the tables as they are before the redo scripts."""
    log = request.log
    # the redo scripts make what came later
    first = arguments.generation == Generation.FIRST or log.has_structure
    latest = structure.tables_within(log, request.versions, first)
    tables = structure.tables_before(log, request.selection, latest)
    return migration.MigrationRequest(
        [tables[name] for name in sorted(tables)],
        arguments.initial,
        request.constraints,
        list(request.warnings),
        _declared(arguments, request),
    )


#: Formats whose files may stand one behind the other.
_LINES = (ExportFormat.JSONL, ExportFormat.DEBEZIUM)


def _passing(arguments: argparse.Namespace, folder: Path, **others: object) -> argparse.Namespace:
    """The same options, with ``others``, for output into a folder that goes with the command."""
    return argparse.Namespace(**{**vars(arguments), "out": folder, "passing": True, **others})


def _printed(write: Callable[[argparse.Namespace], int], arguments: argparse.Namespace) -> int:
    """Write a bundle into a temporary folder, print its files in order, and say on standard error
    what became of it. What is set aside is not printed."""
    with WorkFolder() as scratch:
        folder = Path(scratch) / "out"
        with contextlib.redirect_stdout(sys.stderr):
            code = write(_passing(arguments, folder))
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        names = [entry["name"] for entry in manifest.get("scripts", ())]
        names += [file["name"] for data in manifest.get("datasets", ()) for file in data["files"]]
        for name in names:
            with (folder / name).open("rb") as file, room_for(OUTPUT):
                shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.flush()
    return code


def _tried(mode: Mode, arguments: argparse.Namespace) -> int:
    """``--dry-run URL``: write the scripts into a temporary folder and try them."""
    dialect = target_of(arguments.dry_run).dialect
    if arguments.dialect not in (dialect, DEFAULT_DIALECT):
        raise UsageError(
            "LR1001",
            f"found --dialect {arguments.dialect} with --dry-run and a database of {dialect};"
            f" expected {dialect}",
        )
    with WorkFolder() as scratch:
        folder = Path(scratch) / "out"
        how = {"dialect": dialect, "asserts": Assertion.NONE, "dry_run": None}
        how |= {"statements": StatementForm.LITERALS, "parameter_style": None}
        with contextlib.redirect_stdout(sys.stderr):
            code = _script(mode, _passing(arguments, folder, **how))
        counted = not arguments.upsert
        tried = dry_run.dry_run(sorted(folder.glob("*.sql")), arguments.dry_run, counted)
    print(tried)
    return max(code, tried.exit_code)


def _script(mode: Mode, arguments: argparse.Namespace) -> int:
    check_also(mode, arguments)
    if arguments.dry_run is not None:
        return _tried(mode, arguments)
    if arguments.statements == StatementForm.PARAMETERS and is_printed(arguments.out):
        raise UsageError(
            "LR1001", "found --statements parameters with --out -; expected a folder: two files"
        )
    if is_printed(arguments.out):
        return _printed(partial(_script, mode), arguments)
    check_output(arguments.out, arguments.overwrite)
    mapping = mapping_file(arguments.mapping, arguments.mask_key_file)
    demand = Demand(mode, options_of(arguments), mapping, baseline=arguments.baseline)
    with WorkFolder() as scratch:
        selection = selection_of(arguments)
        opened = open_log(arguments, scratch, demand, selection)
        request = make_request(opened, selection, demand, keys_of(arguments))
        others = also_outputs(opened, arguments, mapping)
        tell_notes(script_notes(request))
        code = _write(arguments, request)
        for other in others:
            print(f"also {other.arguments.out}:")
            if other.kind == EXTRACT:
                code = max(code, write_copy(other.arguments, other.request))
                continue
            scripts = other.request.export is None
            tell_notes(script_notes(other.request) if scripts else other.request.notes)
            code = max(code, _write(other.arguments, other.request))
        return code


def _export(arguments: argparse.Namespace) -> int:
    if is_printed(arguments.out):
        if arguments.format not in _LINES:
            raise UsageError(
                "LR1001",
                f"found --out - with --format {arguments.format}; expected one of lines:"
                f" {' or '.join(_LINES)}",
            )
        return _printed(_export, arguments)
    export = export_of(arguments)
    if arguments.grow:
        return _grown(arguments)
    if arguments.back_to is not None:
        raise UsageError("LR1001", "found --back-to without --grow; expected both")
    check_output(arguments.out, arguments.overwrite)
    demand = Demand(options=options_of(arguments), export=export, baseline=arguments.baseline)
    with WorkFolder() as scratch:
        request = request_of(arguments, scratch, demand, selection_of(arguments))
        tell_notes(request.notes)
        return _write(arguments, request)


def _grown(arguments: argparse.Namespace) -> int:
    """``export --grow``: one more commit of a dataset that is there."""
    if arguments.overwrite or arguments.after is not None:
        raise UsageError(
            "LR1001",
            "found --grow with --overwrite or --after; expected --grow alone: the folder"
            " records its own position",
        )
    if arguments.back_to is not None:
        taken_back = GrowingFolder(arguments.out).back_to(arguments.back_to)
        print(f"{taken_back} commit(s) behind {arguments.back_to:06d} are taken back")
    with Bar(sys.stderr) as progress:
        growth = grow(arguments, progress, lambda request: tell_notes(request.notes))
    code = _tell_written(arguments, growth.bundle, arguments.out)
    if growth.commit is None:
        print(f"nothing new for {arguments.out}")
    else:
        print(f"commit {growth.commit:06d} of {arguments.out}")
    return code


def _write(arguments: argparse.Namespace, request: Request) -> int:
    with Bar(sys.stderr) as progress:
        engine = engine_of(arguments, request.log, progress)
        writable = Writable(request, engine, arguments.split_mb << 20)
        bundle = writable.write(
            arguments.out,
            overwrite=arguments.overwrite,
            after=getattr(arguments, "after", None),
            adjoining=arguments.gaps in (Gaps.WARN, Gaps.ALLOW),
        )
    return _tell_written(arguments, bundle)


def _tell_written(arguments: argparse.Namespace, bundle: Bundle, out: Path | None = None) -> int:
    for warning in bundle.contents["warnings"]:
        print(f"warning: {warning}")
    tell_bundle(bundle, out, stays=not getattr(arguments, "passing", False))
    if bundle.contents["quarantined_units"]:
        print(look_at(bundle.contents["quarantined_units"][0]["unit"], arguments))
    return bundle.exit_code


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "demo": _demo,
    "ddl": _ddl,
    "migrate": _migrate,
    "redo": partial(_script, Mode.REDO),
    "undo": partial(_script, Mode.UNDO),
    "export": _export,
    "graph": _graph,
}
