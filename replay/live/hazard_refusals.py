"""What a target may do by itself with the changes of a log: which of the hazards that it shows
stand in the way of a replay, in what words, and what to do about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from replay.changes.choices import Derived
from replay.changes.options import ScriptOptions
from replay.errors import UsageError
from replay.pipeline.plan import Plan
from replay.targets import TableFacts
from replay.targets.hazards import ACCEPTABLE, Hazard, HazardKind, Under
from sqlgen.ddl import source_type
from sqlgen.render_options import RenderOptions, shown_columns
from sqlgen.schema import Column, SqlType, Table
from sqlgen.type_capacity import Fit, Holding, ValueLimit, fit


@dataclass(frozen=True)
class Treatment:
    """What a kind of hazard is called in a refusal (``{what}``, ``{columns}``), and the
    ``way_out``."""

    words: str
    way_out: str


_OFF = "--enforcement off keeps the target's triggers and foreign keys from acting in this session"
TREATMENTS: Mapping[HazardKind, Treatment] = {
    HazardKind.TYPE: Treatment(
        "values would not be kept as the log has them: {what}", "Give the columns those types"
    ),
    HazardKind.COMPARISON: Treatment(
        "its column {columns} takes different texts for equal ({what}), so that a statement may"
        " find another row",
        "Give the column a collation that compares every character",
    ),
    HazardKind.TRIGGER: Treatment(
        "triggers of the target would fire again: {what}", "Disable or drop them meanwhile"
    ),
    HazardKind.FOREIGN_KEY_ACTION: Treatment(
        "foreign keys of the target would change rows that the log changes as well: {what}",
        "Replace their actions by NO ACTION meanwhile",
    ),
    HazardKind.RULE: Treatment(
        "rules of the target would do something else, or more: {what}",
        "Disable or drop them meanwhile",
    ),
    HazardKind.ROW_SECURITY: Treatment(
        "row-level security hides rows from this user, or refuses them: {what}",
        "Replay as a user that it does not concern (BYPASSRLS, or the owner without FORCE)",
    ),
    HazardKind.GENERATED: Treatment(
        "the target computes its column {columns}, and the log has values for it",
        "Leave the column out (--exclude-columns), or take the expression away",
    ),
    HazardKind.REQUIRED: Treatment(
        "rows are inserted, and its column {columns} is NOT NULL and has no default, and gets no"
        " value from the log",
        "Give the column a default, or take NOT NULL away meanwhile",
    ),
    HazardKind.CHANGES_ITSELF: Treatment(
        "its column {columns} changes by itself: {what}", "Take that away from it meanwhile"
    ),
    HazardKind.CONFLICT_CLAUSE: Treatment(
        "a constraint of its DDL says what happens in place of an error: {what}",
        "Make the table again without ON CONFLICT",
    ),
    HazardKind.EXCLUSION: Treatment(
        "exclusion constraints are not followed from row to row, and may stop a unit half-way or"
        " hold up sessions: {what}",
        "Drop them meanwhile",
    ),
    HazardKind.INHERITED: Treatment(
        "rows are inserted, and its unique keys are not those of tables that inherit from it, so"
        " that a key which one of these holds comes twice: {what}",
        "ALTER TABLE … NO INHERIT meanwhile",
    ),
    HazardKind.UNLOGGED: Treatment(
        "a crash empties it, and the position would not know: {what}",
        "ALTER TABLE … SET LOGGED",
    ),
    HazardKind.PUBLISHED: Treatment(
        "a publication has its updates and deletes, which PostgreSQL refuses of a table without a"
        " replica identity: {what}",
        "ALTER TABLE … REPLICA IDENTITY FULL",
    ),
    HazardKind.VERSIONED: Treatment(
        "it keeps its own history, with the time of the replay: {what}",
        "Take the versioning away meanwhile",
    ),
    HazardKind.UNSEEN: Treatment(
        "this user cannot see {what}, so it is not known that there are none",
        "Grant it, or replay as a user who has it",
    ),
    HazardKind.NO_TABLE: Treatment(
        "it is not a table in the target but {what}", "Replay into the table behind it"
    ),
    HazardKind.NO_TRANSACTION: Treatment(
        "what is written there is not part of the target's transaction: {what}",
        "Make it an ordinary table (MariaDB and MySQL: ALTER TABLE … ENGINE = InnoDB)",
    ),
    HazardKind.NO_ROW_ID: Treatment(
        "the log's table has no key, and equal rows are told apart by the target's row id: {what}",
        "Give it a row id, or leave the table out (--exclude-table)",
    ),
}
#: Types whose values are compared by a collation.
_COLLATED = frozenset({SqlType.CHAR, SqlType.VARCHAR, SqlType.CLOB, SqlType.XML})


def accepted_kinds(codes: str | Iterable[str]) -> frozenset[str]:
    """What a user answers for, of codes as ``--accept`` takes them. Raises UsageError (LR1001) for
    one that there is not."""
    accepted = frozenset([codes] if isinstance(codes, str) else codes)
    if unknown := sorted(accepted.difference(ACCEPTABLE)):
        expected = ", ".join(ACCEPTABLE)
        raise UsageError("LR1001", f"found --accept {unknown[0]}; expected one of: {expected}")
    return accepted


def table_problems(
    name: str,
    table: Table,
    facts: TableFacts,
    plan: Plan,
    asked: RenderOptions,
    enforced: bool,
    accepted: frozenset[str],
    inserts: bool,
) -> Iterator[str]:
    """Why the changes of the log's ``table`` (``name`` as OWNER.NAME) would not come out as the log
    says, a line for each kind of hazard that was not accepted. ``asked``: how statements are
    written, before the columns that the target computes were left out. ``inserts``: whether rows
    come in."""
    by_kind: dict[HazardKind, list[Hazard]] = {}
    asked_columns = _columns_of(table, plan, asked)
    concerned = [
        hazard
        for hazard in facts.hazards
        if _concerns(hazard, table, plan, enforced, asked_columns, inserts)
    ]
    for hazard in (*concerned, *_narrow_types(table, facts, plan)):
        by_kind.setdefault(hazard.kind, []).append(hazard)
    for kind, hazards in by_kind.items():
        if kind in accepted:
            continue
        treatment = TREATMENTS[kind]
        what = ", ".join(dict.fromkeys(hazard.what for hazard in hazards))
        columns = ", ".join(dict.fromkeys(h.column for h in hazards if h.column))
        words = treatment.words.format(what=what, columns=columns)
        yield f"{name}: {words}. {_way_out(kind, hazards, plan, enforced)}"


def _way_out(kind: HazardKind, hazards: Iterable[Hazard], plan: Plan, enforced: bool) -> str:
    """What a user can do."""
    treatment = TREATMENTS[kind]
    ways = [treatment.way_out]
    avoidable = enforced and all(hazard.under is Under.ON for hazard in hazards)
    if kind in (HazardKind.TRIGGER, HazardKind.FOREIGN_KEY_ACTION) and avoidable:
        ways.append(_OFF)
    if plan.mode == "redo" and enforced and kind in _DERIVED:
        ways.append(_DERIVED[kind])
    if kind in ACCEPTABLE:
        ways.append(f"where you know that it does no harm: --accept {kind}")
    return "; or ".join(ways)


_DERIVED = {
    HazardKind.TRIGGER: "leave what triggers did to the target (--triggers skip)",
    HazardKind.FOREIGN_KEY_ACTION: "leave what foreign keys did to the target (--ri skip)",
}


def _concerns(
    hazard: Hazard,
    table: Table,
    plan: Plan,
    enforced: bool,
    asked: Mapping[str, Column],
    inserts: bool,
) -> bool:
    """Whether a hazard stands in the way of these changes."""
    if hazard.under is not Under.BOTH and (hazard.under is Under.ON) is not enforced:
        return False
    kind, chosen = hazard.kind, plan.selection
    if kind is HazardKind.TRIGGER:
        return chosen.triggers is Derived.APPLY
    if kind is HazardKind.FOREIGN_KEY_ACTION:
        return chosen.ri is Derived.APPLY
    if kind is HazardKind.NO_ROW_ID:
        return not table.key
    if kind is HazardKind.GENERATED:
        return hazard.column in asked
    if kind is HazardKind.INHERITED:
        return inserts and bool(table.key)
    if kind is HazardKind.REQUIRED:
        return inserts and hazard.column not in asked
    if kind is HazardKind.COMPARISON:
        column = asked.get(hazard.column)
        profile = plan.options.profile
        if column is None or (profile.folds and column.type in profile.exact):
            return False  # so usual there that statements compare every character
        return column.type in _COLLATED and _compares(column, table, plan)
    return True


def _compares(column: Column, table: Table, plan: Plan) -> bool:
    """Whether statements find rows by the values of a column."""
    in_key = column.name in table.key or not table.key
    return in_key or plan.options.render.where_columns != "key"


def _columns_of(table: Table, plan: Plan, options: RenderOptions) -> dict[str, Column]:
    """The columns that statements name, by their names in the target."""
    return {plan.options.spelled(column.name): column for column in shown_columns(table, options)}


def _judged(
    table: Table, facts: TableFacts, options: ScriptOptions
) -> Iterator[tuple[Column, Holding, Fit]]:
    """The columns that statements name, what the target's hold, and how they fit."""
    for column in shown_columns(table, options.render):
        name = options.spelled(column.name)
        if name in facts.columns and facts.holdings:
            actual = facts.holdings[facts.columns.index(name)]
            yield column, actual, fit(column, actual, options.profile)


def _narrow_types(table: Table, facts: TableFacts, plan: Plan) -> Iterator[Hazard]:
    for column, actual, judged in _judged(table, facts, plan.options):
        if judged.reason:
            name = plan.options.spelled(column.name)
            better = f", {judged.better} would do" if judged.better else ""
            what = (
                f"column {name} is {actual.declared}, {source_type(column)} in the log:"
                f" {judged.reason}{better}"
            )
            yield Hazard(HazardKind.TYPE, what, name)


def inexact_key(table: Table, facts: TableFacts, options: ScriptOptions) -> bool:
    """Whether the target takes different texts in the table's key for equal, and statements can
    tell them apart."""
    exact = options.profile.exact
    key = {options.spelled(name) for name in table.key if table.column(name).type in exact}
    return any(h.kind is HazardKind.COMPARISON and h.column in key for h in facts.hazards)


def value_limits(table: Table, facts: TableFacts, options: ScriptOptions) -> dict[str, ValueLimit]:
    """What values the target's columns hold, where their types alone do not decide, by the log's
    column."""
    return {
        column.name: judged.limit
        for column, _, judged in _judged(table, facts, options)
        if judged.limit is not None
    }
