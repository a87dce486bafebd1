"""Carrying out a plan: ask the dependency graph what it needs to know, write the scripts, and ask again when writing finds damage."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from replay.bucket import BucketResult, contradictory_units
from replay.cascade import Consequences, cascade, consequences, leave_out, limits_changes
from replay.keys import KeySpaces
from replay.logs import LogFile
from replay.plan import Plan, Resolved
from replay.report import Tally
from replay.resolve import Asker, Resolution, resolve_incomplete
from replay.stages import Engine
from sqlgen.statements import shown_columns


@dataclass(frozen=True)
class Outcome:
    """A plan as it was carried out in the end, what came of it, the evidence for the units that were held, and who built on what was undone or
    left out (None: nobody was asked)."""

    plan: Plan
    tally: Tally
    results: list[BucketResult]
    resolution: Resolution | None
    consequences: Consequences | None


def carry_out(plan: Plan, log: LogFile, engine: Engine, work: Path) -> Outcome:
    """Write the scripts of ``plan`` into ``work``, as often as it takes to leave out what cannot be trusted.

    Incomplete units are resolved first where the log says that it has some. What rendering finds out (a unit with two commit positions,
    a damaged record) leaves out the unit and all that builds on it. An undo then finds rows by their old values too (:func:`_guarded`).

    Refusal LR3010 when others built on what shall be undone (see :func:`replay.cascade.cascade`).
    """
    asker = Asker(engine.execute, log, plan.splits, KeySpaces(log.catalog, plan.constraints, plan.options.masked))
    plan, found = _decided(plan, asker)
    wants = plan.selection.incomplete == "resolve"
    resolution = resolve_incomplete(asker) if wants and log.dependent_position is not None else None
    plan = _held(plan, resolution)
    asked: frozenset[bytes] = frozenset()
    while True:
        tally, results = engine.render(plan, log, work)
        contradictory = contradictory_units(results) - plan.quarantine
        for result in results:
            tally.add(result.tally)
        outcome = Outcome(plan, tally, results, resolution, found)
        if tally.fatal or tally.refusals or (plan.options.strict and tally.findings):
            return outcome
        if contradictory:
            plan = replace(plan, quarantine=plan.quarantine | contradictory)
        elif plan.mode == "undo" and plan.options.render.upsert and tally.quarantined_units and not plan.units_stay_out:
            plan = replace(plan, units_stay_out=True)
        else:
            held = plan.resolved.held if plan.resolved else {}
            damaged = frozenset(
                unit for unit, reason in tally.quarantined_units.items() if unit not in held and not reason.startswith("LR3004")
            )
            following = plan
            if damaged - asked or (wants and resolution is None and tally.incomplete_records > 0):
                asked |= damaged
                resolution = resolve_incomplete(asker, asked, incomplete=wants)
                following = _held(plan, resolution, asked)
            following = _guarded(following, tally, log)
            if (
                set(following.resolved.held if following.resolved else ()) == set(held)
                and following.flags_resolved == plan.flags_resolved
                and following.options == plan.options
            ):
                return replace(outcome, resolution=resolution)
            plan = following
        clear(work)


def _guarded(plan: Plan, tally: Tally, log: LogFile) -> Plan:
    """The plan of an undo that units were set aside of, by ``--where-columns guard`` where it was ``key``: what such a unit changed after one that is
    undone is still there, unless the database was filled by a redo, which sets the same units aside; and it must not be overwritten. Values of large
    objects cannot be compared, so tables with them leave it at the key."""
    render = plan.options.render
    heeds = plan.mode == "undo" and not plan.steps and not render.upsert and plan.selection.cascade != "force"
    if not heeds or render.where_columns != "key" or not tally.quarantined_units:
        return plan
    for version in {index for index, _ in tally.changes}:
        known = log.catalog.versions[version]
        shown = {column.name for column in shown_columns(known.table, render)}
        if any(column.lob and column.column.name in shown for column in known.format.columns):
            return plan
    return replace(plan, options=replace(plan.options, render=replace(render, where_columns="guard")))


def _decided(plan: Plan, asker: Asker) -> tuple[Plan, Consequences | None]:
    """The plan after ``--cascade`` and ``--except``. A replay (``plan.steps``) takes back all that it applied after a point: nobody is left who
    could have built on it."""
    selection = plan.selection
    if plan.mode == "undo" and not plan.steps and limits_changes(selection):
        found = consequences(asker, plan)
        return cascade(plan, found, selection.cascade), found
    if plan.mode == "redo" and selection.excepted is not None:
        found = consequences(asker, replace(plan, selection=selection.excepted))
        return leave_out(plan, found), found
    return plan, None


def _held(plan: Plan, resolution: Resolution | None, damaged: frozenset[bytes] = frozenset()) -> Plan:
    """The plan with the held units of a resolution. Damaged units stay with the task that finds the damage, which says what it is."""
    if resolution is None:
        return plan
    held = {unit: reason for unit, reason in resolution.held.items() if unit not in damaged}
    known = plan.resolved or Resolved()
    return replace(plan, resolved=replace(known, held=held), flags_resolved=plan.selection.incomplete == "resolve")


def clear(work: Path) -> None:
    """Remove what a run wrote that is made again."""
    for path in work.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
