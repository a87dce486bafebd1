"""What a user wants of a log, opened, placed and checked: the one way in, for the command line and
the library alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from replay import storage
from replay.changes.catalog import TableVersion
from replay.changes.choices import SETTING_ASIDE, CascadeMode, Derived, Incomplete, Mode
from replay.changes.notation import TIME_SIZE
from replay.changes.options import Export, ScriptOptions
from replay.changes.selection import Selection, unit_text
from replay.engine.contract import SPLIT_BYTES, Engine
from replay.errors import UsageError, Where, counted, some_of
from replay.logs import Family, Inputs, LogFile, PartialImages, source_named
from replay.logs.capabilities import check_needs, check_told
from replay.logs.record_facts import placed_unit, resolve_position
from replay.pipeline.script_client import unchecked_notes, with_client
from sqlgen.choices import Assertion, RealPolicy, WhereColumns
from sqlgen.constraints import Constraints
from sqlgen.dialects import profile_named
from sqlgen.errors import SqlgenError, choice, did_you_mean
from sqlgen.late import LateModule
from sqlgen.masking import mask_key
from sqlgen.names import check_collisions
from sqlgen.render_options import RenderOptions, identity, shown_columns
from sqlgen.schema import Table

if TYPE_CHECKING:
    from replay.changes import value_filter
    from replay.pipeline import plan as planning
    from replay.pipeline import resolve_positions
    from replay.pipeline.plan import Plan
    from sqlgen import mapping as mappings
    from sqlgen.render import upsert
else:  # what a look into a log, or a usual script, does without
    value_filter = LateModule("replay.changes.value_filter")
    mappings = LateModule("sqlgen.mapping")
    upsert = LateModule("sqlgen.render.upsert")
    planning = LateModule("replay.pipeline.plan")
    resolve_positions = LateModule("replay.pipeline.resolve_positions")


from copy import copy

from replay.changes.catalog import Catalog, names_alike
from sqlgen.schema import SqlType

#: What a user must know of dependencies where nobody told of foreign keys.
NO_FOREIGN_KEYS = (
    "no foreign keys are known, so rows that refer to others count as independent, and a DELETE may"
    " cascade in the database to rows that are not in the log: name the tables' DDL or database"
    " (--schema), or say that there are none (--schema none)"
)

#: What is known of the tables' keys: as it is, or made of the tables of the log, once all else is
#: checked (a database may have to be asked).
KeySource = Constraints | Callable[[Sequence[Table]], Constraints] | None


#: How many statements that are not understood are named.
_UNREAD = 20


@dataclass(frozen=True)
class OpenLog:
    """A log that is open, and its family."""

    family: Family
    log: LogFile


@dataclass(frozen=True)
class Request:
    """A log that is open, and what is wanted of it: positions are placed as this log places them,
    and everything that can be refused before a record is read has been.

    ``versions`` are the table versions that are taken and have columns, in the order of the
    catalog; ``constraints`` what is known of the tables' keys; ``warnings`` what the result
    carries; ``notes`` what a user may want to know beside it. ``export``: data is written, not
    scripts. ``baseline``: where the state is that the rows are compared with.
    """

    opened: OpenLog
    mode: Mode
    selection: Selection
    options: ScriptOptions
    versions: tuple[TableVersion, ...]
    constraints: Constraints = field(default_factory=Constraints)
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    export: Export | None = None
    baseline: str | None = None

    @property
    def log(self) -> LogFile:
        """The log."""
        return self.opened.log

    def plan(self, split_bytes: int = SPLIT_BYTES, engine: Engine | None = None) -> Plan:
        """The plan of it. Raises what :func:`replay.pipeline.plan.make_plan` raises."""
        plan = planning.make_plan(
            self.log, self.mode, self.selection, self.options, split_bytes, engine
        )
        return replace(plan, export=self.export, constraints=self.constraints)


@dataclass(frozen=True)
class MappingFile:
    """What a mapping file says (TOML), the key for its masks, and where the file lies."""

    text: str
    key: bytes | None = None
    place: str | None = None


@dataclass(frozen=True)
class Demand:
    """What is to be made: ``mode``; ``options`` of statements and values, None where none are
    written; ``structure``: changes of table structure alone. ``continued``: runs over several logs
    with the same words, so a table that is not in this one is a warning; and where it goes to is
    said apart from the selection. ``dependencies``: who built on whom is asked for; ``baseline``:
    the folder or URL of the state before the log (undo: of now); ``wide_reals``: REAL columns of
    hexadecimal floats are doubles; ``copied``: records become a log again as they are."""

    mode: Mode = Mode.REDO
    options: ScriptOptions | None = None
    mapping: MappingFile | None = None
    structure: bool = False
    continued: bool = False
    export: Export | None = None
    dependencies: bool = False
    baseline: str | None = None
    wide_reals: bool = False
    copied: bool = False

    @property
    def exact_reals(self) -> bool:
        """Whether hexadecimal floats of REAL are doubles: where asked for, and in each export."""
        policy = (self.options or ScriptOptions()).render.policy
        return self.wide_reals or self.export is not None or policy.reals is RealPolicy.DOUBLE


@contextmanager
def usage_errors() -> Iterator[None]:
    """What cannot be said in SQL, as the UsageError of the option that asked for it."""
    try:
        yield
    except SqlgenError as error:
        raise UsageError(error.code, error.message, hint=error.hint) from error


def open_source(
    source: str, inputs: Inputs, demand: Demand | None = None, selection: Selection | None = None
) -> OpenLog:
    """Open the log of a family. UsageError for a family, files or settings that do not fit; Refusal
    (LR3020), before anything is read, for what its logs cannot know (``demand``,
    ``selection``)."""
    family = source_named(source)
    inputs = _settled(inputs)
    if demand is not None:
        _check_needs(family, demand, selection or Selection())
    _check_files("--data", [*inputs.data, *(path for pair in inputs.pairs for path in pair.data)])
    _check_files("--control", [pair.control for pair in inputs.pairs])
    _check_files("--log", inputs.log)
    return OpenLog(family, family.open_log(inputs))


def _settled(inputs: Inputs) -> Inputs:
    """The inputs with URLs as this program spells them (:func:`replay.storage.settled`)."""
    options = {name: storage.settled(value) for name, value in inputs.options.items()}
    return replace(
        inputs,
        control=None if inputs.control is None else storage.settled(inputs.control),
        catalog=None if inputs.catalog is None else storage.settled(inputs.catalog),
        data=tuple(map(storage.settled, inputs.data)),
        log=tuple(map(storage.settled, inputs.log)),
        options=options,
        pairs=tuple(
            replace(
                pair,
                control=storage.settled(pair.control),
                data=tuple(map(storage.settled, pair.data)),
            )
            for pair in inputs.pairs
        ),
    )


def _check_files(option: str, paths: Sequence[str]) -> None:
    """UsageError (LR1001) for a file that is given twice: each of its changes would be made
    twice."""
    known: dict[str, str] = {}
    for path in paths:
        place = storage.same(path)
        if place in known:
            raise UsageError(
                "LR1001",
                f"found {option} {path}, which is {known[place]} again; expected each file once",
            )
        known[place] = path


def make_request(
    opened: OpenLog, selection: Selection, demand: Demand, keys: KeySource = None
) -> Request:
    """Place and check what is wanted of a log.

    ``keys``: what is known of the tables' keys (None: what came with the log). Refusal LR3020 for
    what the family cannot know; UsageError LR1001 (positions, times, ranges, contradictions),
    LR1003 (``where``), LR1004 (tables and columns that are not there), LR1011 (mapping), LR3005,
    LR3006, LR3013 (names, keys and upserts that the target cannot have).
    """
    with usage_errors():
        demand = replace(demand, mode=choice(Mode, demand.mode, "mode"))
        _check_needs(opened.family, demand, selection)
        _check_kept(demand, selection)
        check_told(opened.log, "structure" if demand.structure else demand.mode, selection)
        opened.family.admit(opened.log)
        if demand.exact_reals and opened.family.with_wide_reals is not None:
            opened = replace(opened, log=opened.family.with_wide_reals(opened.log))
        placed = place(selection, opened.log)
        check_ranges(placed)
        log, options = opened.log, demand.options or ScriptOptions()
        if not options.dialect:
            options = replace(options, dialect=opened.family.dialect)
        if placed.columns or placed.exclude_columns:
            options = _of_columns(placed, options)
        if demand.mapping is not None:
            options = _mapped(demand.mapping, log, options)
        versions, strange = taken_versions(log, placed, demand.continued)
        _check_columns(versions, options.render)
        undo = demand.mode is Mode.UNDO
        if isinstance(log, PartialImages) and (undo or demand.export or demand.baseline):
            log.check_whole(versions, "an undo" if undo else "whole rows")
        if demand.options is not None and demand.export is None:
            _check_statements(versions, placed, options)
            _check_cascades(demand, placed, options)
            options = asserting(demand, placed, with_client(log, options))
        if placed.where is not None:
            value_filter.ValueFilter(placed.where, log.catalog)
        constraints = log.constraints
        writes = demand.options is not None or demand.copied or demand.structure
        notes = list(resolve_positions.mark_notes(selection, log)) if writes else []
        if keys is not None:
            tables = [version.table for version in log.catalog.versions]
            constraints = keys if isinstance(keys, Constraints) else keys(tables)
            constraints = replace(constraints, complete=not constraints.strange)
            notes += [f"a key is not considered: {entry}" for entry in constraints.unused]
            notes += [*_passed_over(constraints), *constraints.notes]
        if options.mapping is not None:
            options.mapping.check_masks(
                constraints, [one.table for one in versions], options.render
            )
        constraints, found = of_one_table(log, constraints)
        notes += found if writes else []
        if (demand.options is not None and demand.export is None) or demand.dependencies:
            log, found = with_unique_keys(log, constraints, options.render)
            notes += found if writes else []
            opened = replace(opened, log=log)
            versions = [log.catalog.versions[version.index] for version in versions]
        warnings = (
            *_strange_schema(constraints, log),
            *_no_foreign_keys(demand, placed, constraints),
            *unread_keys(constraints),
            *strange,
            *log.warnings([] if demand.copied else versions),
        )
    return Request(
        opened,
        demand.mode,
        placed,
        options,
        tuple(versions),
        constraints,
        warnings,
        tuple(notes),
        demand.export,
        demand.baseline,
    )


def _check_needs(family: Family, demand: Demand, selection: Selection) -> None:
    check_needs(family, "structure" if demand.structure else demand.mode, selection)


def _check_kept(demand: Demand, selection: Selection) -> None:
    """UsageError (LR1001) where incomplete units would be written as if they were whole."""
    if selection.incomplete is Incomplete.KEEP and demand.options is not None:
        raise UsageError(
            "LR1001",
            f"found --incomplete keep; expected one of: {', '.join(SETTING_ASIDE)}",
            hint="Only a copy of the log (extract) can keep incomplete units, flagged as they are",
        )


def _no_foreign_keys(
    demand: Demand, selection: Selection, constraints: Constraints
) -> tuple[str, ...]:
    """What a user must know who asks what builds on what where nobody told of foreign keys.

    That is each undo, of a whole log too: rows that are not in the log may refer to one that it
    inserted. A replay asks its target, and a round trip compares what comes out (``continued``)."""
    undo = demand.mode is Mode.UNDO and not (demand.structure or demand.continued)
    asked = undo or demand.dependencies or selection.excepted is not None
    return () if constraints.tell_foreign_keys or not asked else (NO_FOREIGN_KEYS,)


def _strange_schema(constraints: Constraints, log: LogFile) -> tuple[str, ...]:
    """A warning of a schema that is not about any table of the log: that of another database, say,
    whose silence must not count as "there are no foreign keys"."""
    if not constraints.strange:
        return ()
    names = list(dict.fromkeys(version.name for version in log.catalog.versions))
    return (
        "the schema (--schema) states nothing of the tables of the log, so none of their keys is"
        " known from it: is it that of another database? The log has:"
        f" {some_of(names, len(names))}",
    )


def unread_keys(constraints: Constraints) -> tuple[str, ...]:
    """Warnings of schema parts that could not be read and may state keys, whose dependencies are
    not seen."""
    named = [
        f"a statement of the schema is not understood, so a key that it may state is not"
        f" considered: {entry}"
        for entry in constraints.unread[:_UNREAD]
    ]
    more = len(constraints.unread) - len(named)
    return (*named, *([f"{more:,} more statements of the schema are not understood"] * bool(more)))


def _passed_over(constraints: Constraints) -> list[str]:
    count = constraints.passed
    said = f"ignored in the schema (no key information): {counted(count, 'statement')}"
    return [said] if count else []


def script_notes(request: Request) -> tuple[str, ...]:
    """What a user may want to know before scripts are written."""
    selection, family = request.selection, request.opened.family
    derived = selection.ri is Derived.APPLY and "origins" not in family.capabilities.unknown
    notes = unchecked_notes(request.options) if request.mode is Mode.UNDO else []
    if selection.ri is Derived.SKIP and request.options.dialect == "sqlite":
        notes.append(
            "SQLite's foreign keys cascade (--ri skip) only while PRAGMA foreign_keys = ON holds:"
            " run it before each script"
        )
    elif request.mode is Mode.REDO and derived:
        notes.append(
            "RI-caused changes are applied (--ri apply); with foreign keys on the target that"
            " cascade by themselves, use --ri skip"
        )
    return *notes, *request.notes


# -- positions
# -------------------------------------------------------------------------------------------------


def place(selection: Selection, log: LogFile) -> Selection:
    """A selection with positions and units as this log places them. UsageError (LR1001) for those
    that its family does not have, and for times of another form than that of headers; errors as
    :func:`replay.pipeline.resolve_positions.without_marks`."""
    selection = resolve_positions.without_marks(selection, log)
    for name in ("from_time", "until_time"):
        time = getattr(selection, name)
        if time is not None and len(time) != TIME_SIZE:
            raise UsageError(
                "LR1001",
                f"found a {name} of {len(time)} bytes; expected {TIME_SIZE}, as in headers",
            )
    bounds: dict[str, Any] = {
        name: resolve_position(log, getattr(selection, name), name == "until_position")
        for name in ("from_position", "until_position")
    }
    units = tuple((_placed_unit(log, unit, member), member) for unit, member in selection.units)
    excepted = place(selection.excepted, log) if selection.excepted else None
    return replace(selection, **bounds, units=units, excepted=excepted)


def _placed_unit(log: LogFile, unit: bytes | str, member: int | None) -> bytes:
    if isinstance(unit, bytes):
        return placed_unit(log, unit)
    raise UsageError(
        "LR1001", f"found the unit {unit_text(unit, member)}; expected all 20 digits of its id"
    )


def check_ranges(selection: Selection) -> None:
    """UsageError (LR1001) for a range whose ends are the wrong way round: nothing lies in it."""
    if selection.excepted is not None:
        check_ranges(selection.excepted)
    low, high = selection.from_position, selection.until_position
    if low is not None and high is not None and low > high:
        raise UsageError("LR1001", "--from-position is higher than --until-position")
    first, last = selection.from_time, selection.until_time
    if first is not None and last is not None and first > last:
        raise UsageError("LR1001", "--from-time is later than --until-time")


# -- tables and columns
# -------------------------------------------------------------------------------------------------


def taken_versions(
    log: LogFile, selection: Selection, continued: bool = False
) -> tuple[list[TableVersion], list[str]]:
    """The table versions with columns that a selection takes, and what to warn of.

    UsageError (LR1004) where the log describes no table, and for a glob that no table of the log
    matches: its writer meant one (``continued``: a warning, as other logs may have it, where the
    globs leave a table of this one). Globs that match and leave no table are a selection that
    leaves nothing, as any other."""
    names = sorted({version.name for version in log.catalog.versions})
    if not names:
        hint = (
            "Give the catalog of the database that wrote the log (--catalog); Log Master has its"
            " tables in the control file (--control)"
        )
        raise UsageError(
            "LR1004",
            "found no description of any table of the log; expected one of at least one",
            hint=hint,
        )
    takes = log.catalog.taken_by(selection.takes_tables)
    taken = [version for version in log.catalog.versions if takes[version.index]]
    known = [*names, *(name.rpartition(".")[2] for name in names)]
    strange = [
        f"found {option} {glob}; expected a table of the log{did_you_mean(glob.upper(), known)}"
        for option, globs in (
            ("--table", selection.tables),
            ("--exclude-table", selection.exclude_tables),
        )
        for glob in globs
        if not _named_by(option, glob, names)
    ]
    if strange and not (continued and taken):
        raise UsageError("LR1004", strange[0], hint=f"The log has: {named_tables(log)}")
    return [version for version in taken if version.table.columns], strange


def _named_by(option: str, glob: str, names: Sequence[str]) -> bool:
    """Whether a glob names a table. UsageError (LR1001) for one without an owner, and no pattern,
    that is a table of several owners."""
    named = [name for name in names if Selection(tables=(glob,)).takes_table(name)]
    owners = {name.partition(".")[0].upper() for name in named}
    if len(owners) > 1 and not set(glob) & set(".*?["):
        raise UsageError(
            "LR1001",
            f"found {option} {glob}, which is {some_of(named, len(named))}; expected one of them,"
            f" or *.{glob} for all",
        )
    return bool(named)


def named_tables(log: LogFile) -> str:
    """The tables of a log, some of many, for a message."""
    names = sorted({version.name for version in log.catalog.versions})
    return some_of(names, len(names))


def _check_columns(versions: Sequence[TableVersion], render: RenderOptions) -> None:
    """UsageError (LR1004) for a glob of ``--columns`` or ``--exclude-columns`` that no column
    matches: its writer meant one."""
    for option, globs in (
        ("--columns", render.columns),
        ("--exclude-columns", render.exclude_columns),
    ):
        for glob in globs:
            only = RenderOptions(columns=(glob,))
            if not any(shown_columns(version.table, only) for version in versions):
                hint = (
                    "Columns are named NAME or OWNER.TABLE.NAME, with * and ?; logreplay inspect"
                    " shows them"
                )
                raise UsageError(
                    "LR1004",
                    f"found {option} {glob}; expected a column of the selected tables",
                    hint=hint,
                )


def _check_statements(
    versions: Sequence[TableVersion], selection: Selection, options: ScriptOptions
) -> None:
    """UsageError and SqlgenError for statements that cannot be had: names that collide, rows that
    nothing finds, upserts."""
    profile = profile_named(options.dialect)
    latest = {version.name: version for version in versions}
    check_collisions([version.table for version in latest.values()], profile, options.names)
    for version in versions:
        identity(version.table, options.render)
    if options.render.upsert:
        _check_upsert(selection, options)
        upsert.check_keys(version.table for version in versions)


def _check_cascades(demand: Demand, selection: Selection, options: ScriptOptions) -> None:
    """UsageError (LR1001) where changes are left to foreign keys of a target whose keys do not
    cascade: rows would stay whose parents go."""
    rules = profile_named(options.dialect).abilities.on_delete
    if demand.mode is Mode.REDO and selection.ri is Derived.SKIP and not rules:
        raise UsageError(
            "LR1001",
            f"found --ri skip for {options.dialect}, whose foreign keys do not cascade; expected"
            " --ri apply",
            hint="--ri apply writes what Db2 did because of a foreign key",
        )


def _check_upsert(selection: Selection, options: ScriptOptions) -> None:
    """UsageError (LR1001) for what a script that may be applied again cannot be combined with."""
    again = "may be applied again"
    for option, found, expected, why in (
        (
            "--where-columns",
            str(options.render.where_columns),
            "key",
            f"A script that {again} finds rows by their key alone: what they hold differs",
        ),
        (
            "--ri",
            str(selection.ri),
            "apply",
            (
                "What the target's foreign keys do by themselves is not the same when a script"
                f" {again}"
            ),
        ),
        (
            "--triggers",
            str(selection.triggers),
            "apply",
            f"The target's triggers would act each time that a script {again}",
        ),
    ):
        if found != expected:
            raise UsageError(
                "LR1001", f"found --upsert with {option} {found}; expected {expected}", hint=why
            )
    if selection.cascade is CascadeMode.FORCE:
        hint = (
            "It would put the former row in the place of one that a later change made; undo the"
            " later changes too (--cascade all)"
        )
        raise UsageError(
            "LR1001",
            "found --upsert with --cascade force; expected none, all or non-conflicting",
            hint=hint,
        )


def asserting(demand: Demand, selection: Selection, options: ScriptOptions) -> ScriptOptions:
    """The options of scripts that assert, where the user wants it, or an undo or one that finds
    rows by their old values is better for it.
    UsageError (LR1001) where it cannot be had."""
    asked = options.asserts is Assertion.ROWS
    profile, upsert = profile_named(options.dialect), options.render.upsert
    if asked and (upsert or profile.row_check is None):
        found = "--upsert" if upsert else f"--dialect {profile.name}"
        hint = (
            "An upsert puts its row in place whatever is there"
            if upsert
            else "Compare the counts of rows that your client shows"
        )
        raise UsageError(
            "LR1001",
            f"found --assert rows with {found}; expected statements whose rows can be counted",
            hint=hint,
        )
    usual = (
        options.asserts is None
        and (demand.mode is Mode.UNDO or options.render.where_columns is not WhereColumns.KEY)
        and not (demand.continued or demand.structure or upsert)
        and selection.cascade is not CascadeMode.FORCE
        and profile.row_check is not None
        and profile.row_check.usual
    )
    if not (asked or usual):
        return options
    return replace(options, render=replace(options.render, assert_rows=True))


def _of_columns(selection: Selection, options: ScriptOptions) -> ScriptOptions:
    """The options with the columns that a selection names, where they name none themselves."""
    render = options.render
    if render.columns or render.exclude_columns:
        return options
    chosen = replace(render, columns=selection.columns, exclude_columns=selection.exclude_columns)
    return replace(options, render=chosen)


def _mapped(mapping: MappingFile, log: LogFile, options: ScriptOptions) -> ScriptOptions:
    """The options under a mapping. UsageError (LR1011) names all that is wrong with it."""
    tables = [version.table for version in log.catalog.versions]
    profile = profile_named(options.dialect)
    try:
        parsed = mappings.parse_mapping(mapping.text, tables, profile, options.render, mapping.key)
    except SqlgenError as error:
        where = Where(mapping.place)
        raise UsageError(error.code, error.message, where, error.hint) from error
    excluded = (*options.render.exclude_columns, *parsed.excluded())
    return replace(
        options, mapping=parsed, render=replace(options.render, exclude_columns=excluded)
    )


def mapping_file(path: str | Path | None, key: str | Path | None) -> MappingFile | None:
    """A mapping file and the key for its masks. InputError (LR2001) for one that cannot be read,
    UsageError (LR1001) for a key alone."""
    if path is None:
        if key is not None:
            raise UsageError("LR1001", "found --mask-key-file without --mapping; expected both")
        return None
    with usage_errors():
        secret = None if key is None else mask_key(storage.read_bytes(key))
    return MappingFile(storage.read_text(str(path)), secret, str(path))


# -- unique keys
# -------------------------------------------------------------------------------------------------
# Tables without a primary key whose rows a unique index tells apart: statements find them by its
# columns, in place of all.


#: Values that another database may hold with another last bit.
_INEXACT = (SqlType.REAL, SqlType.DOUBLE, SqlType.DECFLOAT)


def of_one_table(log: LogFile, constraints: Constraints) -> tuple[Constraints, list[str]]:
    """Constraints without the unique keys of tables that the log drops and makes again under their
    names: of which of them they are is not told, and another one may have rows with equal values. A
    note for each of these tables."""
    tables: dict[str, set[tuple[int, int, int]]] = {}
    for version in log.catalog.versions:
        ids = version.dbid, version.psid, version.obid
        tables.setdefault(version.name.upper(), set()).add(ids)
    alike = {name.upper() for name in names_alike(one.name for one in log.catalog.versions)}
    several = {name for name, ids in tables.items() if len(ids) > 1} - alike
    left = sorted({name for name, _ in constraints.keys} & several)
    if not left:
        return constraints, []
    kept = tuple((name, key) for name, key in constraints.keys if name not in several)
    notes = [
        f"unique keys of {name} are not considered: several tables have that name in the log"
        for name in left
    ]
    return replace(constraints, keys=kept), notes


def with_unique_keys(
    log: LogFile, constraints: Constraints, render: RenderOptions
) -> tuple[LogFile, list[str]]:
    """The log with a key for each table that has none, where a unique key of ``constraints`` holds
    no NULL, no value that the log may lack and no float, and all of its columns are written; and a
    note for each of these tables. Not of tables whose names differ in case only, which constraints
    do not tell apart."""
    alike = names_alike(version.name for version in log.catalog.versions)
    versions = tuple(
        version if version.name in alike else _keyed(version, constraints, render)
        for version in log.catalog.versions
    )
    if versions == log.catalog.versions:
        return log, []
    keyed: Any = copy(log)
    keyed.catalog = Catalog(versions)
    found = {
        version.name: version.table.key
        for version, before in zip(versions, log.catalog.versions, strict=True)
        if version != before
    }
    notes = [
        f"{name} has no primary key: rows are found by its unique key ({', '.join(key)})"
        for name, key in found.items()
    ]
    return keyed, notes


def _keyed(version: TableVersion, constraints: Constraints, render: RenderOptions) -> TableVersion:
    table = version.table
    if table.key or not table.columns:
        return version
    usable = {column.name for column in shown_columns(table, render)} & {
        entry.column.name
        for entry in version.format.columns
        if not entry.nullable and not entry.lob and entry.column.type not in _INEXACT
    }
    keys = [key for key in constraints.keys_of(version.name.upper()) if set(key) <= usable]
    if not keys:
        return version
    return replace(version, table=replace(table, key=keys[0]))
