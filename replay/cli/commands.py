"""The commands that write files: arguments in, text and exit code out. No decision about logs or
SQL is made here."""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from replay.changes.choices import (
    ExportFormat,
    Generation,
    Mode,
)
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.cli.outcome import (
    check_file,
    check_folder,
    is_printed,
    put_text,
    tell,
    tell_beside,
    tell_bundle,
    tell_notes,
)
from replay.cli.request import (
    LogInput,
    asked_log,
    data_options_of,
    export_of,
    look_at,
    mapping_of,
    options_of,
    selection_of,
)
from replay.cli.terminal import OUTPUT, Bar
from replay.errors import EXIT_OK, EXIT_WARNING, UsageError, counted, usage_errors
from replay.machine import room_for
from replay.output.bundle import Bundle
from replay.pipeline.mapped_catalog import as_logged, mapping_file
from replay.pipeline.request import Demand, Request, make_request
from replay.pipeline.request_checks import asserting, script_notes
from replay.storage import Place, read_text
from replay.targets import target_of
from replay.temp_folders import WorkFolder
from replay.writable import Writable
from sqlgen.choices import Assertion, RealPolicy
from sqlgen.lazy_imports import when_used

if TYPE_CHECKING:
    from sqlgen.ddl.schema_script import SchemaScript

with when_used():  # what some commands alone need
    from replay.cli import extra_outputs, keep_commands
    from replay.live import dry_run
    from replay.output import growth as growths
    from replay.output import migration, structure
    from replay.reports import states, tables
    from sqlgen import mapping_file as mapping_files


# -- structure
# -------------------------------------------------------------------------------------------------


def _ddl(arguments: argparse.Namespace) -> int:
    check_file(arguments.out, arguments.overwrite)
    if arguments.changes is not None:
        return _structure(arguments)
    marked = arguments.from_mark or arguments.until_mark
    if arguments.from_position or arguments.until_position or marked or arguments.units:
        raise UsageError(
            "LR1001",
            "--from-position, --until-position, --from-mark, --until-mark and --ur choose changes",
            hint="Give --changes redo or --changes undo",
        )
    selection = Selection(tables=arguments.tables, exclude_tables=arguments.exclude_tables)
    with asked_log(arguments, selection) as (asked, selection):
        found = tables.tables_script(
            asked,
            selection,
            arguments.dialect,
            arguments.names,
            arguments.generation,
            arguments.reals == RealPolicy.DOUBLE,
            (arguments.schema, arguments.schema_dialect, arguments.schema_encoding),
            mapping_file(arguments.mapping, None),
        )
    tell_notes(found.notes)
    code = _write_schema(arguments, found.script, found.tables)
    tell_beside(found.warnings)
    return EXIT_WARNING if found.warnings else code


def _write_schema(arguments: argparse.Namespace, script: SchemaScript, tables: int) -> int:
    put_text(arguments.out, script.text, f"{counted(tables, 'table')} in {{}}")
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
    tell_beside(f"not available in {arguments.dialect}: {entry}" for entry in script.left_out)
    return EXIT_WARNING if script.left_out else EXIT_OK


def _structure(arguments: argparse.Namespace) -> int:
    """``ddl --changes``."""
    if arguments.mapping is not None:
        raise UsageError(
            "LR1001",
            "found --mapping with --changes; expected one of them: a mapping says what a table"
            " becomes, not what its changes do",
        )
    with WorkFolder() as scratch:
        demand = Demand(structure=True)
        request = LogInput.of(arguments).request(scratch, demand, selection_of(arguments))
        options = ScriptOptions(arguments.dialect, arguments.names).of_log(request.opened.dialect)
        undo = arguments.changes == Mode.UNDO
        script = structure.structure_script(
            request.log, request.selection, options.profile, options.names, undo
        )
    said = f"{counted(script.changes, 'change')} of structure in {{}}"
    put_text(arguments.out, script.text, said)
    tell_beside(f"not brought back: {entry}" for entry in script.lost)
    warnings = list(dict.fromkeys((*request.warnings, *script.warnings)))
    tell_beside(warnings)
    return EXIT_WARNING if script.lost or warnings else EXIT_OK


# -- folders
# -------------------------------------------------------------------------------------------------


def _migrate(arguments: argparse.Namespace) -> int:
    check_folder(arguments.out, arguments.overwrite)
    reading, selection = LogInput.of(arguments), selection_of(arguments)
    options = options_of(arguments, arguments.dialect, selection)
    demand = Demand(options=options, mapping=mapping_of(arguments))
    with WorkFolder() as scratch:
        request = reading.request(scratch, demand, selection)
        tell_notes(request.notes)
        opened = reading.open(scratch) if demand.mapping else request.opened
        with Bar(sys.stderr) as progress:
            asked = replace(reading, beside=()).asked(opened, scratch, progress)
            known = arguments.initial, arguments.csv
            left = partial(states.rows_left, asked, request.selection, *known)
            written = migration.write_migration(
                request.plan(reading.split_bytes, asked.engine),
                request.log,
                replace(_migration(arguments, request), left=left),
                arguments.out,
                asked.engine,
                arguments.overwrite,
            )
    for note in written.manifest["types"]:
        tell(
            f"note: {note['table']}.{note['column']}: {note['source']} becomes {note['target']},"
            f" {note['fidelity']}: {note['note']}"
        )
    for entry in written.manifest["not_migrated"]:
        tell(f"note: not migrated: {entry}")
    for warning in written.manifest["warnings"]:
        tell(f"warning: {warning}")
    tell_bundle(written.redo)
    print(f"{written.folder / migration.STEPS} says what to run in which order")
    return written.exit_code


def _migration(arguments: argparse.Namespace, request: Request) -> migration.MigrationRequest:
    """What is to be migrated: the tables as they are before the redo scripts."""
    log = request.log
    # the redo scripts make what came later
    first = arguments.generation == Generation.FIRST or log.has_structure
    versions = [as_logged(version) for version in request.versions]
    latest = structure.tables_within(log, versions, first)
    before = structure.tables_before(log, request.selection, latest)
    logged = [before[name] for name in sorted(before)]
    schema = tables.whole_schema(
        request, logged, arguments.schema, arguments.schema_dialect, arguments.schema_encoding
    )
    return migration.MigrationRequest(
        logged,
        schema.more,
        arguments.initial,
        schema.constraints,
        request.constraints,
        list(request.warnings),
        schema.declared,
        arguments.csv,
        schema.undefined,
    )


#: Hears (stage, done, total).
Progress = Callable[[str, int, int], None]
#: Formats whose files may stand one behind the other.
_LINES = (ExportFormat.JSONL, ExportFormat.DEBEZIUM)


def _printed(write: Callable[[Path], int]) -> int:
    """Write a bundle into a temporary folder, print its files in order, and say on standard error
    what became of it. What is quarantined is not printed."""
    with WorkFolder() as scratch:
        folder = Path(scratch) / "out"
        with contextlib.redirect_stdout(sys.stderr):
            code = write(folder)
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        names = [entry["name"] for entry in manifest.get("scripts", ())]
        names += [file["name"] for data in manifest.get("datasets", ()) for file in data["files"]]
        for name in names:
            with (folder / name).open("rb") as file, room_for(OUTPUT):
                shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.flush()
    return code


def _tried(
    arguments: argparse.Namespace, write: Callable[[Path], int], mode: Mode, checked: bool
) -> int:
    """``--dry-run URL``: write the scripts into a temporary folder and try them. ``checked``: they
    would have checks if they were kept and no unit were quarantined."""
    with WorkFolder() as scratch:
        folder = Path(scratch) / "out"
        with contextlib.redirect_stdout(sys.stderr):
            code = write(folder)
        counted = not arguments.upsert
        if checked and arguments.asserts is None and mode is Mode.UNDO:
            manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
            checked = not manifest["quarantined_units"]
        tried = dry_run.dry_run(sorted(folder.glob("*.sql")), arguments.dry_run, counted, checked)
    print(tried)
    return max(code, tried.exit_code)


def _tried_options(options: ScriptOptions, given: str | None, url: str) -> ScriptOptions:
    """How scripts are written that are tried in a database, and not kept."""
    dialect = target_of(url).dialect
    if given not in (dialect, None):
        raise UsageError(
            "LR1001",
            f"found --dialect {given} with --dry-run and a database of {dialect}; expected"
            f" {dialect}",
        )
    return replace(options, dialect=dialect, asserts=Assertion.NONE)


def _script(mode: Mode, arguments: argparse.Namespace) -> int:
    also: list[extra_outputs.Also] = []
    if arguments.also or getattr(arguments, "also_after", ()):
        also = extra_outputs.check_also(mode, arguments)
    reading, selection, url = LogInput.of(arguments), selection_of(arguments), arguments.dry_run
    options = options_of(arguments, arguments.dialect, selection)
    if is_printed(arguments.out) and options.encoding is None:
        options = replace(options, encoding="utf-8")  # a terminal and a pipe have text
    checked = False
    if url is not None:
        kept = replace(options, dialect=target_of(url).dialect)
        checked = asserting(kept, selection, mode).render.assert_rows
        options = _tried_options(options, arguments.dialect, url)

    def write(out: Path, stays: bool = False) -> int:
        check_folder(out, arguments.overwrite)
        demand = Demand(
            mode, options, mapping_of(arguments), baseline=arguments.baseline, csv=arguments.csv
        )
        with WorkFolder() as scratch:
            opened = reading.open(scratch, demand, selection)
            chosen = reading.settled(opened, selection, scratch)
            request = make_request(opened, chosen, demand, reading.keys())
            others: list[extra_outputs.OtherOutput] = []
            if also:
                usual = arguments, chosen
                others = extra_outputs.also_outputs(opened, also, reading, demand, usual, scratch)
            tell_notes(script_notes(request))
            after = getattr(arguments, "after", None)
            code = _write(reading, request, out, arguments.overwrite, after, stays)
            for other in others:
                print(f"also {other.out}:")
                if other.is_report:
                    found = extra_outputs.write_report(opened, other, reading, scratch)
                else:
                    found = _write_other(reading, other, arguments.overwrite)
                code = max(code, found)
            return code

    if url is not None:
        return _tried(arguments, write, mode, checked)
    return _printed(write) if is_printed(arguments.out) else write(arguments.out, stays=True)


def _write_other(reading: LogInput, other: extra_outputs.OtherOutput, overwrite: bool) -> int:
    """Write an output beside the first."""
    if other.kind == extra_outputs.EXTRACT:
        place = keep_commands.CopyPlace(other.out, overwrite=overwrite, after=other.after)
        return keep_commands.write_copy(other.request, reading, place)
    scripts = other.request.export is None
    tell_notes(script_notes(other.request) if scripts else other.request.notes)
    return _write(reading, other.request, other.out, overwrite, other.after)


def _export(arguments: argparse.Namespace) -> int:
    if is_printed(arguments.out) and arguments.format not in _LINES:
        raise UsageError(
            "LR1001",
            f"found --out - with --format {arguments.format}; expected one of lines:"
            f" {' or '.join(_LINES)}",
        )
    reading, selection = LogInput.of(arguments), selection_of(arguments)
    demand = Demand(
        options=data_options_of(arguments, selection),
        mapping=mapping_of(arguments),
        export=export_of(arguments),
        baseline=arguments.baseline,
        csv=arguments.csv,
    )

    def write(out: Path, stays: bool = False) -> int:
        if arguments.grow:
            return _grown(arguments, reading, demand, selection, out, stays)
        if arguments.back_to is not None:
            raise UsageError("LR1001", "found --back-to without --grow; expected both")
        check_folder(out, arguments.overwrite)
        with WorkFolder() as scratch:
            request = reading.request(scratch, demand, selection)
            tell_notes(request.notes)
            return _write(reading, request, out, arguments.overwrite, arguments.after, stays)

    return _printed(write) if is_printed(arguments.out) else write(arguments.out, stays=True)


def grow(
    place: Place,
    reading: LogInput,
    demand: Demand,
    selection: Selection,
    progress: Progress,
    opened: Callable[[Request], None] = lambda request: None,
) -> growths.Growth:
    """Add to the dataset in a place what some logs have and it has not, in one commit. ``opened``
    gets what is wanted before anything is read. Errors as those of
    :meth:`replay.output.growth.GrowingFolder.grow`."""
    continued = replace(reading, continues=True)

    def write(out: Path, after: Place | str) -> Bundle:
        with WorkFolder() as scratch:
            request = continued.request(scratch, demand, selection)
            opened(request)
            engine = continued.engine_for(request.log, progress)
            writable = Writable(request, engine, continued.split_bytes)
            return writable.write(out, after=after, adjoining=continued.adjoining)

    return growths.GrowingFolder(place).grow(write)


def _grown(
    arguments: argparse.Namespace,
    reading: LogInput,
    demand: Demand,
    selection: Selection,
    out: Path,
    stays: bool,
) -> int:
    """``export --grow``: one more commit of a dataset that is there."""
    if arguments.overwrite or arguments.after is not None:
        raise UsageError(
            "LR1001",
            "found --grow with --overwrite or --after; expected --grow alone: the folder"
            " records its own position",
        )
    if arguments.back_to is not None:
        taken_back = growths.GrowingFolder(out).back_to(arguments.back_to)
        print(f"{counted(taken_back, 'commit')} after {arguments.back_to:06d} undone")
    with Bar(sys.stderr) as progress:
        growth = grow(
            out, reading, demand, selection, progress, lambda request: tell_notes(request.notes)
        )
    code = tell_written(reading, growth.bundle, out, stays)
    if growth.commit is None:
        print(f"nothing new for {out}")
    else:
        print(f"commit {growth.commit:06d} of {out}")
    return code


def _write(
    reading: LogInput,
    request: Request,
    out: Path,
    overwrite: bool,
    after: Place | None,
    stays: bool = True,
) -> int:
    with Bar(sys.stderr) as progress:
        engine = reading.engine_for(request.log, progress)
        bundle = Writable(request, engine, reading.split_bytes).write(
            out, overwrite=overwrite, after=after, adjoining=reading.adjoining
        )
    return tell_written(reading, bundle, stays=stays)


def tell_written(
    reading: LogInput, bundle: Bundle, out: Path | None = None, stays: bool = True
) -> int:
    """Say what was written, and how to look at what is not; the exit code."""
    for warning in bundle.contents["warnings"]:
        tell(f"warning: {warning}")
    tell_bundle(bundle, out, stays=stays)
    if bundle.contents["quarantined_units"]:
        print(look_at(bundle.contents["quarantined_units"][0]["unit"], reading))
    return bundle.exit_code


def _mapping(arguments: argparse.Namespace) -> int:
    check_file(arguments.out, arguments.overwrite)
    with usage_errors():
        found = mapping_files.inverse_mapping(read_text(str(arguments.invert)))
    put_text(arguments.out, found.text)
    tell_beside(f"no way back: {one}" for one in found.lost)
    return EXIT_WARNING if found.lost else EXIT_OK


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "ddl": _ddl,
    "migrate": _migrate,
    "mapping": _mapping,
    "redo": partial(_script, Mode.REDO),
    "undo": partial(_script, Mode.UNDO),
    "export": _export,
}
