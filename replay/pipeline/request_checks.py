"""What can be refused of a request before a record is read: facts that a log family cannot know,
tables, columns and statements; and what a user is told beside: warnings that its result carries,
and notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from replay.changes.catalog import TableVersion
from replay.changes.choices import CascadeMode, Derived, Mode
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection, is_id
from replay.errors import Refusal, UsageError, counted, some_of
from replay.logs import FACTS, Family, LogFile, TellsLess
from replay.pipeline.script_client import unchecked_notes
from sqlgen.choices import Assertion, WhereColumns
from sqlgen.dialects import profile_named
from sqlgen.errors import did_you_mean
from sqlgen.names import check_collisions
from sqlgen.render_options import RenderOptions, identity, shown_columns
from sqlgen.schema import Constraints

if TYPE_CHECKING:
    from replay.pipeline.request import Demand, Request

#: Field of :class:`replay.changes.selection.Selection`, the value that needs something (None: any
#: limit), the option it came from, the fact.
_SELECTION: tuple[tuple[str, str | None, str, str], ...] = (
    ("from_time", None, "--from-time", "commit times"),
    ("until_time", None, "--until-time", "commit times"),
    ("authids", None, "--user", "authorization ids"),
    ("plans", None, "--plan", "plans"),
    ("correlations", None, "--job", "correlation ids"),
    ("connections", None, "--connection", "connections"),
    ("members", None, "--member", "members"),
    ("luws", None, "--luw", "logical units of work"),
    ("databases", None, "--database", "databases"),
    ("tablespaces", None, "--tablespace", "table spaces"),
    ("partitions", None, "--partition", "partitions"),
    ("pages", None, "--page", "pages"),
    ("rids", None, "--rid", "row identifiers"),
    ("ri", "skip", "--ri skip", "origins"),
    ("triggers", "skip", "--triggers skip", "origins"),
    ("incomplete", "dependentrba", "--incomplete dependentrba", "incomplete units"),
    ("include_aborted", None, "--include-aborted", "rolled-back work"),
    ("from_recovery_point", None, "--from-recovery-point", "recovery sets"),
)


def needed(mode: str, selection: Selection) -> Iterator[tuple[str, str]]:
    """(option or command, fact it needs) of a run."""
    if mode == "undo":
        yield "undo", "before images"
    if mode == "structure":
        yield "ddl --changes", "structure"
    for field, value, option, fact in _SELECTION:
        given = getattr(selection, field)
        if given == value if value is not None else given:
            yield option, fact
    for name in selection.tablespaces:
        if not is_id(name):
            yield f"--tablespace {name}", "table space names"
        if "." in name:
            yield f"--tablespace {name}", "databases"
    if selection.excepted is not None:
        yield from (
            (f"--except {option.removeprefix('--')}", fact)
            for option, fact in needed("redo", selection.excepted)
        )


def check_needs(family: Family, mode: str, selection: Selection) -> None:
    """Refusal LR3020 when a run needs a fact that the logs of ``family`` cannot give."""
    _refuse(mode, selection, f"a {family.title}", family.capabilities.unknown)


def check_told(log: LogFile, mode: str, selection: Selection) -> None:
    """Refusal LR3020 when a run needs a fact that this log lacks, whatever others of its family
    hold."""
    if isinstance(log, TellsLess):
        _refuse(mode, selection, "this log", log.untold())


def _refuse(mode: str, selection: Selection, what: str, unknown: Mapping[str, str]) -> None:
    for option, fact in needed(mode, selection):
        if fact in unknown:
            message = (
                f"found {option}, which needs to know {FACTS[fact]}; expected what {what}"
                f" can tell: {unknown[fact]}"
            )
            raise Refusal("LR3020", message, hint="logreplay inspect lists what cannot be known")


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
            ("--history", selection.named_history()),
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


def check_columns(versions: Sequence[TableVersion], render: RenderOptions) -> None:
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


def check_statements(
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
        if not profile.upsert.kind:
            raise UsageError(
                "LR1001",
                f"found --upsert with --dialect {profile.name}; expected one that puts a row in"
                " place whether it is there or not",
            )
        _check_upsert(selection, options)


def check_cascades(mode: Mode, selection: Selection, options: ScriptOptions) -> None:
    """UsageError (LR1001) where changes are left to foreign keys of a target whose keys do not
    cascade: rows would stay whose parents go."""
    rules = profile_named(options.dialect).abilities.on_delete
    if mode is Mode.REDO and selection.ri is Derived.SKIP and not rules:
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


def asserting(options: ScriptOptions, selection: Selection, mode: Mode | None) -> ScriptOptions:
    """The options of scripts that assert, where the user wants it, or an undo or one that finds
    rows by their old values is better for it (``mode``; None where neither is).
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
        and mode is not None
        and (mode is Mode.UNDO or options.render.where_columns is not WhereColumns.KEY)
        and not upsert
        and selection.cascade is not CascadeMode.FORCE
        and profile.row_check is not None
    )
    if not (asked or usual):
        return options
    return replace(options, render=replace(options.render, assert_rows=True))


# -- what a user is told
# -------------------------------------------------------------------------------------------------

#: What a user must know of dependencies where nobody told of foreign keys.
NO_FOREIGN_KEYS = (
    "no foreign keys are known, so rows that refer to others count as independent, and a DELETE may"
    " cascade in the database to rows that are not in the log: name the tables' DDL or database"
    " (--schema), or say that there are none (--schema none)"
)

#: How many statements that are not understood are named.
_UNREAD = 20


def no_foreign_keys(
    demand: Demand, selection: Selection, constraints: Constraints
) -> tuple[str, ...]:
    """What a user must know who asks what builds on what where nobody told of foreign keys.

    That is each undo, of a whole log too: rows that are not in the log may refer to one that it
    inserted. A replay asks its target, and a round trip compares what comes out (``continued``)."""
    asked = _asks_what_builds(demand, selection)
    return () if constraints.tell_foreign_keys or not asked else (NO_FOREIGN_KEYS,)


def none_stated(demand: Demand, selection: Selection, constraints: Constraints) -> list[str]:
    """A note for who asks so, of a file of DDL that has no foreign key: it may be half of it."""
    none = not (constraints.foreign_keys or constraints.outside or constraints.unread)
    if not (none and constraints.complete and _asks_what_builds(demand, selection)):
        return []
    return [
        "the schema (--schema) states no foreign key, so rows that refer to others count as"
        " independent: are foreign keys in another file?"
    ]


def _asks_what_builds(demand: Demand, selection: Selection) -> bool:
    undo = demand.mode is Mode.UNDO and not (demand.structure or demand.continued)
    return undo or demand.dependencies or selection.excepted is not None


def strange_schema(constraints: Constraints, log: LogFile) -> tuple[str, ...]:
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


def applied_history(
    selection: Selection, versions: Sequence[TableVersion], constraints: Constraints
) -> list[str]:
    """Warnings of history tables whose rows are written although nobody said so."""
    taken = {version.name.upper() for version in versions if selection.history is None}
    return [
        f"{name} is the history table of {table}, whose rows a database with versioning writes by"
        " itself: for such a target leave them out (--history skip), else say --history apply"
        for name, table in constraints.history
        if name in taken
    ]


def key_notes(constraints: Constraints) -> list[str]:
    """Notes of what a schema states of keys and cannot be used, of its statements that are ignored,
    and of how it was read."""
    notes = [f"a key is not considered: {entry}" for entry in constraints.unused]
    if count := constraints.passed:
        notes.append(f"ignored in the schema (no key information): {counted(count, 'statement')}")
    return [*notes, *constraints.notes]


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
