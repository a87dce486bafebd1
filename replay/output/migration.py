"""A migration as a folder: the schema, the initial load, the redo scripts, the foreign keys, and
what proves the result, in the order to run them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from replay.changes.selection import Selection
from replay.csv_states import CsvForm
from replay.engine.contract import Engine
from replay.errors import EXIT_OK, EXIT_WARNING, InputError, Refusal, UsageError, counted
from replay.logs import LogFile
from replay.output.bundle import Bundle, write_bundle
from replay.output.initial_load import StateFiles, proof_in
from replay.output.migration_load import Loaded, load_steps, write_check, write_load
from replay.output.state_files import RowsLeft
from replay.output.whole_folder import whole_folder, write_manifest
from replay.pipeline.plan import Plan
from replay.storage import Place
from replay.version import __version__
from sqlgen.ddl.schema_file import Declared
from sqlgen.ddl.schema_script import SchemaScript, schema_script
from sqlgen.dialects import Profile, profile_named
from sqlgen.mapping import TableMap
from sqlgen.schema import Constraints, Table
from sqlgen.script import search_path

SCHEMA, LOAD, REDO, FOREIGN_KEYS, IDENTITIES, VERIFY, STEPS = (
    "10-schema.sql", "20-load", "30-redo", "40-foreign-keys.sql", "45-identities.sql",
    "50-verify.sql", "PLAN.md",
)  # fmt: skip
#: What compares a target with the log without a script.
_VERIFY = "logreplay verify LOG --to URL --expected DIR"
#: The selection of a whole log.
_WHOLE = Selection().describe()


@dataclass(frozen=True)
class Migration:
    """What was written: the folder, its manifest, the bundle of redo scripts, and the exit code."""

    folder: Place
    manifest: Mapping[str, Any]
    redo: Bundle
    exit_code: int


@dataclass(frozen=True)
class MigrationRequest:
    """What is to be migrated: ``tables`` as the log has them (before the mapping), ``more`` that
    the schema defines, without a change in the log; the state before the log (None: loaded by other
    means; ``csv``: how its files are written); the keys of all these, ``known`` of the log's tables
    alone; ``undefined``: tables of the schema that are not understood, in words; ``left``: finds
    out what the log leaves of rows."""

    tables: Sequence[Table]
    more: Sequence[Table]
    initial: Path | None
    constraints: Constraints
    known: Constraints
    warnings: Sequence[str] = ()
    declared: Mapping[str, Declared] = field(default_factory=dict)
    csv: CsvForm | None = None
    undefined: Sequence[str] = ()
    left: Callable[[], Sequence[RowsLeft]] = tuple

    @property
    def all_tables(self) -> list[Table]:
        """All of them."""
        return [*self.tables, *self.more]

    def without(self, missing: Sequence[str], unfit: Mapping[str, InputError]) -> MigrationRequest:
        """The same without tables beside the log that have no file, or one that is not as the
        schema has it: what refers to them would not hold."""
        gone = {*missing, *unfit}
        return replace(
            self,
            more=[one for one in self.more if f"{one.schema}.{one.name}" not in gone],
            undefined=[
                *self.undefined,
                *(f"table {name}: {self.initial} has no file of it" for name in missing),
            ],
            warnings=[
                *self.warnings,
                *(f"table {name} is not migrated: {error}" for name, error in unfit.items()),
            ],
        )


def write_migration(
    plan: Plan,
    log: LogFile,
    request: MigrationRequest,
    out: Place,
    engine: Engine,
    overwrite: bool = False,
) -> Migration:
    """Write the folder ``out``. Raises what :func:`replay.output.bundle.write_bundle` raises,
    InputError for an unusable initial state, and SqlgenError for what the target cannot hold; then
    nothing is left behind."""
    options, profile = plan.options, profile_named(plan.options.dialect)
    if options.client is not None:  # which reads no script of tables and rows
        raise UsageError(
            "LR1001",
            f"found migrate with --dialect {options.dialect}, whose scripts are for one client;"
            " expected a dialect of plain SQL",
            hint=f"Write the tables (ddl --dialect {options.dialect}), load the rows before the log"
            f" with UNLOAD and LOAD, then write the log's work (redo --dialect {options.dialect})",
        )
    mapping = options.mapping or TableMap()
    with whole_folder(out, overwrite) as folder:
        work = folder.work
        load, missing = Loaded({}, {}, {}, {}), list[str]()
        if request.initial is not None:
            files, missing = _files(request, StateFiles(request.initial, request.csv))
            load = write_load(
                work / LOAD, files, options, mapping, request.csv, frozenset(request.more)
            )
        asked, request = request, request.without(missing, load.unfit)
        constraints = mapping.constraints(request.constraints, request.all_tables)
        declared = mapping.declared(request.declared, request.all_tables)
        targets = mapping.joined(request.all_tables)
        schema = schema_script(targets, constraints, profile, options.names, declared)
        (work / SCHEMA).write_text("\n".join(schema.tables) + "\n", encoding="utf-8")
        bundle = write_bundle(
            plan,
            log,
            work / REDO,
            engine,
            warnings=list(request.warnings),
            constraints=request.known,
            state=None if request.initial is None else proof_in(request.initial, log, request.csv),
        )
        if any(not line.startswith("--") for line in schema.foreign_keys):
            said = f"foreign keys for {profile.name}: when all rows are there"
            _write_script(work / FOREIGN_KEYS, said, schema.foreign_keys, profile)
        if schema.afterwards:
            said = f"identity columns for {profile.name}: on after the highest value"
            _write_script(work / IDENTITIES, said, schema.afterwards, profile)
        unknown = _check(work / VERIFY, plan, request, load)
        not_migrated = [
            *(entry for entry in constraints.unused if entry not in request.constraints.unused),
            *_not_here(asked, schema),
            *request.undefined,
        ]
        manifest = _manifest(plan, request, schema, bundle, load.rows) | {
            "not_migrated": not_migrated,
            "not_compared": unknown,
            "verify": (work / VERIFY).exists(),
            "files": sorted(f"{one.parent.name}/{one.name}" for one in work.glob("[25]*/*.csv")),
        }
        write_manifest(manifest, work / "manifest.json")
        (work / STEPS).write_text(_plan_text(manifest, profile, log), encoding="utf-8")
    code = bundle.exit_code or (EXIT_WARNING if manifest["warnings"] else EXIT_OK)
    return Migration(
        out, manifest, Bundle(out / REDO, bundle.contents, bundle.tally, bundle.exit_code), code
    )


def _write_script(path: Path, said: str, statements: Sequence[str], profile: Profile) -> None:
    """A script of its own, to be run when all rows are there."""
    title = f"-- logreplay {said}. For example: {profile.client}"
    lines = [title, *search_path(profile), *statements]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _not_here(request: MigrationRequest, schema: SchemaScript) -> list[str]:
    """What the schema and the state before the log have of tables that are not migrated."""
    entries = [f"{entry}, which is neither in this log nor in --schema" for entry in schema.outside]
    if request.initial is not None:
        files = StateFiles(request.initial)
        others = files.others(_files(request, files)[0].values())
        where = "in this log or in --schema"
        entries += [f"the rows of {', '.join(others)}: of no table {where}"] if others else []
    return entries


def _files(request: MigrationRequest, files: StateFiles) -> tuple[dict[Table, Place], list[str]]:
    """The files of the tables, and the tables beside the log that have none."""
    every = request.all_tables
    found = files.of(request.tables, every) | files.of(request.more, every, partial=True)
    names = {f"{table.schema}.{table.name}": table for table in every}
    return (
        {names[name]: path for name, path in found.items()},
        [name for name in names if name not in found],
    )


def _check(script: Path, plan: Plan, request: MigrationRequest, load: Loaded) -> list[str]:
    """Write the script that compares rows, where it is known what they are. What it does not
    compare, in words."""
    chosen, options = plan.selection, plan.options
    if not chosen.whole_tables or chosen.parts_units:
        return ["values: the selection may take some changes of a row and leave others out"]
    if options.render.policy.char_padding == "keep":
        return ["values: --char-padding keep"]
    try:
        left = request.left()
    except (InputError, Refusal, UsageError) as error:
        return [f"values: {error}"]
    return write_check(script, load, left, options, options.mapping or TableMap())


def _manifest(
    plan: Plan,
    request: MigrationRequest,
    schema: SchemaScript,
    bundle: Bundle,
    loaded: Mapping[str, int],
) -> dict[str, Any]:
    mapping = plan.options.mapping
    warnings = [f"not available in {plan.options.dialect}: {entry}" for entry in schema.left_out]
    aside = len(bundle.tally.quarantined_units)
    if aside:
        warnings.append(
            f"{counted(aside, 'unit')} of recovery not in the scripts of {REDO}: its manifest.json"
            " says which, and why"
        )
    warnings += bundle.contents["warnings"]
    if (
        request.initial is None
        and mapping is not None
        and any(entry.mask for entry in mapping.tables.values())
    ):
        warnings.append(
            "columns are masked, and the rows before the log are loaded by other means: those must"
            " have the same masks (--initial)"
        )
    return {
        "program": f"logreplay {__version__}",
        "mode": "migrate",
        "dialect": plan.options.dialect,
        "mapping": None if mapping is None else mapping.describe(),
        "types": [
            {
                "table": n.table,
                "column": n.column,
                "source": n.source,
                "target": n.target,
                "fidelity": n.fidelity,
                "note": n.note,
            }
            for n in schema.notes
        ],
        "loaded": dict(loaded) if request.initial is not None else None,
        "selection": {
            name: value
            for name, value in plan.selection.describe().items()
            if (name, value) not in _WHOLE.items()
        },
        "identities": len(schema.afterwards),
        "foreign_keys": sum(not line.startswith("--") for line in schema.foreign_keys),
        "redo": {
            name: bundle.contents[name]
            for name in (
                "units",
                "statements",
                "first_commit_lrsn",
                "last_commit_lrsn",
                "inputs",
                "exit_code",
            )
        },
        "warnings": warnings,
    }


def _plan_text(manifest: Mapping[str, Any], profile: Profile, log: LogFile) -> str:
    """The steps, for people."""
    lines = [
        f"# Migration of {log.source} to {profile.name}",
        "",
        "Run the scripts in this folder and in this order, each to its end; stop at the first"
        " error.",
        "",
    ]
    lines += [f"{number}. {step}" for number, step in enumerate(_steps(manifest, profile), 1)]
    lines += ["", f"For example: `{profile.client}`", "", "## What proves the rows", ""]
    lines += _proof(manifest, profile)
    if manifest["types"]:
        lines += ["", "## Types that are not exactly those of the source", ""]
        lines += [
            f"* {n['table']}.{n['column']}: {n['source']} becomes {n['target']}, {n['fidelity']}:"
            f" {n['note']}"
            for n in manifest["types"]
        ]
    if manifest["not_migrated"]:
        lines += ["", "## Not migrated", "", *(f"* {entry}" for entry in manifest["not_migrated"])]
    if manifest["warnings"]:
        lines += ["", "## Warnings", "", *(f"* {warning}" for warning in manifest["warnings"])]
    return "\n".join(lines) + "\n"


def _steps(manifest: Mapping[str, Any], profile: Profile) -> list[str]:
    """What to do, one thing after the other."""
    redo = manifest["redo"]
    keys = "their keys, empty, without foreign keys"
    if profile.name == "sqlite":
        keys = "all their keys, empty; PRAGMA foreign_keys = ON has SQLite check foreign keys"
    steps = [f"`{SCHEMA}`: the tables and {keys}."]
    if manifest["loaded"] is None:
        steps.append(
            "Load the rows from before the log by your own means (or write this folder again with"
            " `--initial DIR`)."
        )
    else:
        steps.append(
            f"`{LOAD}/*.sql`: {counted(sum(manifest['loaded'].values()), 'row')} of"
            f" {counted(len(manifest['loaded']), 'table')}, as they were before the"
            f" log.{load_steps(profile)}"
        )
    steps.append(
        f"`{REDO}/*.sql`: {counted(redo['statements'], 'statement')} in"
        f" {counted(redo['units'], 'unit')} of recovery, in commit order."
    )
    if manifest["selection"]:
        steps[-1] += (
            f" **A part of the log only**: {json.dumps(manifest['selection'], ensure_ascii=False)}"
        )
    if manifest["foreign_keys"]:
        steps.append(
            f"`{FOREIGN_KEYS}`: {counted(manifest['foreign_keys'], 'foreign key')}. One that fails"
            " names rows that the source did not check either."
        )
    if manifest["identities"]:
        steps.append(
            f"`{IDENTITIES}`: {counted(manifest['identities'], 'identity column')}, to go on after"
            " the highest value."
        )
    if manifest["verify"]:
        steps.append(
            f"`{VERIFY}`: its last line says SAME, or DIFFERENT, below the rows that are there more"
            " or less often than expected. It makes and drops tables LOGREPLAY_1 and so on."
        )
    return steps


def _proof(manifest: Mapping[str, Any], profile: Profile) -> list[str]:
    """How to find out whether the rows arrived."""
    mapping = "" if manifest["mapping"] is None else " --mapping FILE"
    if manifest["mapping"] and "mask_key" in manifest["mapping"]:
        mapping += " --mask-key-file FILE"
    lines = []
    if manifest["verify"]:
        lines += [
            f"`{VERIFY}` compares the values of every row that the log left, and of keys that it"
            " removed;",
            "with --initial also of the rows that it never touched.",
        ]
    lines += ["", *(f"* not compared: {entry}" for entry in manifest["not_compared"]), ""]
    lines += [
        f"`{_VERIFY}{mapping}` compares the same from here, where logreplay can",
        "connect to (PostgreSQL, MariaDB, MySQL, DuckDB, SQLite). DIR is the state before the"
        " log, the folder of --initial.",
    ]
    if profile.as_text:
        lines.append(
            "Dates and times are text here: DIR must have them as the scripts do, timestamps with"
            " all their digits."
        )
    return lines
