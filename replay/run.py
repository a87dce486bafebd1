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
    a damaged record) leaves out the unit and all that builds on it.

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
            unresolved = wants and resolution is None and tally.incomplete_records > 0
            if not (damaged - asked) and not unresolved:
                return outcome
            asked |= damaged
            resolution = resolve_incomplete(asker, asked, incomplete=wants)
            following = _held(plan, resolution, asked)
            if set(following.resolved.held if following.resolved else ()) == set(held) and following.flags_resolved == plan.flags_resolved:
                return replace(outcome, resolution=resolution)
            plan = following
        clear(work)


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
