"""Changes of whole tables -> statements: a table that is emptied, made, altered or dropped.

Each is one statement or a few, so they are made one by one, apart from those of rows.
"""

from __future__ import annotations

from typing import NamedTuple

from replay.changes.envelope import Change
from replay.pipeline.plan import Plan
from sqlgen import structure
from sqlgen.dialects import Profile
from sqlgen.errors import SqlgenError
from sqlgen.schema import Table
from sqlgen.statements import delete_all_statement, truncate_statement


class Unsayable(NamedTuple):
    """Why a change cannot be said in a script, as a finding has it."""

    code: str
    found: str
    expected: str
    hint: str


def event_statement(plan: Plan, profile: Profile, kind: Change, table: Table) -> str:
    """What empties ``table``, '' for an exchange, which scripts do not repeat."""
    if kind == Change.EXCHANGE:
        return ""
    options = plan.options
    make = truncate_statement if kind == Change.TRUNCATE else delete_all_statement
    target = table if options.mapping is None else options.mapping.table(table, options.render)
    return make(target, profile, options.names)


def structure_statements(
    plan: Plan, profile: Profile, change: structure.StructureChange, name: str
) -> str | Unsayable:
    """What happened to the structure of the table ``name``, or (undo) its inverse, a line for each
    statement; refused where the former state is not known, where the target cannot say it, in
    scripts that may be applied again, and under a mapping.
    """
    wanted = change.inverse() if plan.mode == "undo" else change
    found = f"a committed {change.action.value}{f' ({change.note})' if change.note else ''}"
    if change.action is not structure.Action.NOTE:
        hint = (
            "Write the part of the log with it alone (--from-position, --until-position), without"
            " {}, or leave the table out (--exclude-table)"
        )
        if plan.options.render.upsert:
            expected = (
                "changes of rows only: an upsert script may be applied again, and a table is made"
                " or altered once"
            )
            return Unsayable("LR3003", found, expected, hint.format("--upsert"))
        if plan.options.mapping is not None:
            expected = (
                "changes of rows only: a mapping says what a table becomes, not what its changes do"
            )
            return Unsayable("LR3003", found, expected, hint.format("--mapping"))
    if wanted is None:
        hint = (
            "Undo only what came after it (--from-position), or leave the table out"
            " (--exclude-table) and restore it from a backup"
        )
        return Unsayable("LR3002", found, "a former state that the log holds", hint)
    try:
        statements = structure.statements(wanted, profile, plan.options.names)
    except SqlgenError as error:
        found, _, expected = error.message.removeprefix("found ").partition("; expected ")
        expected = expected or f"what {profile.name} can say"
        return Unsayable(error.code, found, expected, error.hint)
    if not statements:
        return f"-- {name}: nothing to do ({change.action.value})"
    return "\n".join(statements)
