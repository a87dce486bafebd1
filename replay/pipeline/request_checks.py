"""What can be refused of tables, columns and statements before a record is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from replay.changes.catalog import TableVersion
from replay.changes.choices import CascadeMode, Derived, Mode
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.errors import UsageError, some_of
from replay.logs import LogFile
from sqlgen.choices import Assertion, WhereColumns
from sqlgen.dialects import profile_named
from sqlgen.errors import did_you_mean
from sqlgen.names import check_collisions
from sqlgen.render_options import RenderOptions, identity, shown_columns


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
