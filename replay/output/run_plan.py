"""Carrying out a plan: ask the dependency graph what it needs to know, write the scripts, and ask
again when writing finds damage."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from replay.changes.balance import Tally
from replay.changes.choices import BehindDamage
from replay.changes.envelope import as_bytes, compare
from replay.changes.position import UNIT_POSITION_FIELDS
from replay.changes.units import UnitSet, unit_column
from replay.changes.verdicts import DAMAGED, Verdicts
from replay.dependencies.key_spaces import key_spaces
from replay.engine.contract import Engine
from replay.logs import LogFile
from replay.logs.record_facts import refuse_behind_end
from replay.output.delete_and_reinsert import can_count, counts_parts
from replay.output.jobs import write
from replay.output.whole_folder import StoredFolder
from replay.pipeline.plan import BucketResult, Plan, UnitDecisions, contradictory_units
from replay.pipeline.scan import HEADLESS, INCOMPLETE_UNIT
from sqlgen.choices import WhereColumns
from sqlgen.lazy_imports import when_used
from sqlgen.render_options import shown_columns

with when_used():  # what a run asks that is about a part of a log, or of a log that is not whole
    from replay.dependencies import analysis, baseline, cascade


@dataclass(frozen=True)
class CompletedRun:
    """A plan as it was carried out in the end, what came of it, why units were held (None: the
    dependency graph was not asked), who built on what was undone or left out (None likewise), and
    how the rows agree with a state beside the log (None: there is none).
    """

    plan: Plan
    tally: Tally
    results: list[BucketResult]
    resolution: analysis.Resolution | None
    consequences: cascade.Consequences | None
    differences: baseline.StateDifferences | None = None

    def contradictions(self) -> list[str]:
        """What a user must know of a log that contradicts itself, as far as the graph was asked."""
        for answer in (self.consequences, self.resolution):
            if answer is not None:
                return answer.subgraph.survey.warnings()
        return []


def carry_out(
    plan: Plan,
    log: LogFile,
    engine: Engine,
    work: Path,
    state: baseline.StateBefore | None = None,
    stored: StoredFolder | None = None,
) -> CompletedRun:
    """Write the scripts of ``plan`` into ``work`` (or ``stored``), as often as it takes to leave
    out what cannot be trusted.

    Incomplete units are resolved first where the log says that it has some, and once more where a
    record shows it: units that are chosen may build on others that are not. What rendering finds
    out (a unit with two commit positions, a damaged record) leaves out the unit and all that builds
    on it. An undo then finds rows by their old values too (:func:`_guarded`). ``state``: what is
    known of the rows beside the log, before a redo and after an undo's log.

    Refusal LR3010 when others built on what shall be undone (see
    :func:`replay.dependencies.cascade.cascade`).
    """
    prover = None if plan.mode == "undo" and not plan.steps else state
    asked_plan = plan

    @cache
    def graph() -> analysis.DependencyAnalysis:
        return analysis_of(asked_plan, log, engine, prover)

    differences = None
    if state is not None and state.compared and not plan.steps:
        after = plan.mode == "undo"
        differences = baseline.state_differences(graph(), state.rows, after, plan.version_taken)
    plan, dependents = _decided(plan, graph)
    resolves = plan.selection.incomplete == "resolve"
    behind = plan.selection.behind_damage is BehindDamage.HOLD
    resolution = (
        analysis.resolve_incomplete(graph(), behind=behind)
        if resolves and log.dependent_position is not None
        else None
    )
    plan = _counted(_held(plan, resolution), Tally())
    asked = UnitSet()
    while True:
        tally, results = write(engine, plan, log, work, stored)
        contradictory = contradictory_units([result.units for result in results]) - plan.quarantine
        for result in results:
            tally.add(result.tally)
        if not contradictory:  # a damaged commit position is no end
            refuse_behind_end(log, tally.last_commit)
        tally.settle(plan.held)
        outcome = CompletedRun(plan, tally, results, resolution, dependents, differences)
        if tally.fatal or tally.refusals or (plan.options.strict and tally.findings):
            return outcome
        if contradictory:
            plan = replace(plan, quarantine=plan.quarantine | contradictory)
        elif (beside := _beside_others(plan, tally, graph)) is not plan:
            plan = beside
        else:
            damaged = damaged_units(tally.quarantined_units, plan)
            following = plan
            if damaged - asked or (resolves and resolution is None and tally.flagged_records > 0):
                asked |= damaged
                resolution = analysis.resolve_incomplete(
                    graph(), asked, incomplete=resolves, behind=behind, damage=_damage(tally)
                )
                aside = tally.quarantined_units
                headless = aside.only(aside.of_code(HEADLESS.code)).units()
                following = _held(plan, resolution, asked - headless)
            following = _counted(_guarded(following, tally, results, log), tally)
            if following.writes_as(plan):
                return replace(outcome, resolution=resolution)
            plan = following
        clear(work)


def analysis_of(
    plan: Plan, log: LogFile, engine: Engine, prover: baseline.StateBefore | None = None
) -> analysis.DependencyAnalysis:
    """What answers questions to the dependency graph of the log of a plan; ``prover`` as it has
    it."""
    spaces = key_spaces(log.catalog, plan.constraints, plan.options.masked)
    return analysis.DependencyAnalysis(engine.execute, log, plan.splits, spaces, prover)


def _beside_others(
    plan: Plan, tally: Tally, graph: Callable[[], analysis.DependencyAnalysis]
) -> Plan:
    """The plan as units that stay out may have written what images of others show: those that
    commit on the wrong side of a selected time; those that are quarantined, where what depends on
    them is not (by the log's flags alone), or what they did later is to be overwritten. A redo by
    upserts asks the graph which rows these are, where all changes of such units can be read."""
    if plan.units_stay_out:
        return plan
    by_flags = plan.selection.incomplete in ("quarantine", "dependentrba")
    upsert = plan.options.render.upsert
    aside = tally.quarantined_units.units()
    others = bool(aside) and (by_flags or (upsert and plan.mode == "undo"))
    if not others and not tally.clock.warnings():
        return plan
    unlike = None
    if upsert and plan.mode == "redo" and not tally.clock.warnings():
        unlike = cascade.rows_touched(graph(), aside)
    if unlike is None:
        return replace(plan, units_stay_out=True)
    decisions = plan.decisions or UnitDecisions()
    unlike = np.union1d(decisions.unlike, unlike)
    if len(unlike) == len(decisions.unlike):
        return plan
    return replace(plan, decisions=replace(decisions, unlike=unlike))


def damaged_units(aside: Verdicts, plan: Plan) -> UnitSet:
    """Those of the units that are set ``aside`` that tasks found something wrong with."""
    others = aside.only(~aside.of_code(INCOMPLETE_UNIT))
    return others.units() - plan.held.units()


def _damage(tally: Tally) -> str:
    """What is wrong with the units of which something is: the log is not blamed for values that the
    target does not hold."""
    codes = {finding.code for finding in tally.findings}
    if "LR3001" not in codes:
        return DAMAGED
    every = codes == {"LR3001"} and tally.finding_count == len(tally.findings)
    return "not written (LR3001)" if every else f"{DAMAGED}, or not written (LR3001)"


def _guarded(plan: Plan, tally: Tally, results: Sequence[BucketResult], log: LogFile) -> Plan:
    """The plan of a script whose rows may be others by now, by ``--where-columns guard`` where it
    was ``key``.

    That is an undo that units were set aside of: what such a unit changed after one that is undone
    is still there, unless the database was filled by a redo, which sets the same units aside; and
    it must not be overwritten. There statements that touch no row are part of the bargain, so
    nothing is asserted of them unless asked for. And it is a redo with units that come late, behind
    some that may have changed their rows since: there the script stops at such a row. Values of
    large objects cannot be compared, so tables with them leave it at the key."""
    render = plan.options.render
    scripts = plan.export is None and plan.copies is None and not plan.steps
    if not scripts or render.upsert or plan.selection.cascade == "force":
        return plan
    if plan.mode == "undo":
        if not tally.quarantined_units:
            return plan
        asserts = render.assert_rows and plan.options.asserts is not None
    elif _late(plan, tally, results):
        asserts = render.assert_rows or (plan.options.asserts is None and can_count(plan.options))
    else:
        return plan
    render = replace(render, assert_rows=asserts)
    if render.where_columns == "key" and not _has_large(plan, tally, log):
        render = replace(render, where_columns=WhereColumns.GUARD)
    return replace(plan, options=replace(plan.options, render=render), rows_differ=True)


def _late(plan: Plan, tally: Tally, results: Sequence[BucketResult]) -> bool:
    """Whether units are written that commit below where the bundle before ended."""
    if plan.continued is None or plan.continued.position is None or not plan.awaited:
        return False
    waiting = unit_column(plan.awaited)
    waiting = waiting[~tally.quarantined_units.units().mask(waiting)]
    for result in results:
        fields = result.units.view(UNIT_POSITION_FIELDS)
        commits = fields["commit"][np.isin(np.ascontiguousarray(fields["unit"]), waiting)]
        if len(commits) and (compare(as_bytes(commits), plan.continued.position.commit) < 0).any():
            return True
    return False


def _has_large(plan: Plan, tally: Tally, log: LogFile) -> bool:
    """Whether statements name large objects."""
    for version in {index for index, _ in tally.changes}:
        table = log.catalog.versions[version]
        columns = {column.name for column in shown_columns(table.table, plan.options.render)}
        if any(column.lob and column.column.name in columns for column in table.format.columns):
            return True
    return False


def _counted(plan: Plan, tally: Tally) -> Plan:
    """The plan of a script whose rows may be others by now, as it gives no row a key that another
    one has: by conditions where statements may touch no row (:mod:`sqlgen.render.free_keys`). Where
    a row is removed early and put back last, these cannot tell whether it was found: then every row
    is counted."""
    render = plan.options.render
    scripts = plan.export is None and plan.copies is None and not plan.steps
    if not scripts or render.upsert:
        return plan
    if tally.parted and counts_parts(plan):
        counted = plan.options.asserts is None and can_count(plan.options)
        render = replace(render, assert_rows=render.assert_rows or counted)
    found_as_logged = render.where_columns != "key" or (
        plan.mode == "undo" and bool(tally.quarantined_units) and plan.selection.cascade != "force"
    )
    if not plan.options.profile.upsert.kind:  # a key that is taken is an error there
        found_as_logged = False
    render = replace(render, free_keys=found_as_logged and not render.assert_rows)
    return replace(plan, options=replace(plan.options, render=render))


def _decided(
    plan: Plan, graph: Callable[[], analysis.DependencyAnalysis]
) -> tuple[Plan, cascade.Consequences | None]:
    """The plan after ``--cascade`` and ``--except``. A replay (``plan.steps``) takes back all that
    it applied after a point: nobody is left who could have built on it."""
    selection = plan.selection
    if plan.mode == "undo" and not plan.steps and cascade.limits_changes(selection):
        dependents = cascade.consequences(graph(), plan)
        return cascade.cascade(plan, dependents, selection.cascade), dependents
    if plan.mode == "redo" and selection.excepted is not None:
        dependents = cascade.consequences(graph(), replace(plan, selection=selection.excepted))
        return cascade.leave_out(plan, dependents), dependents
    return plan, None


def _held(
    plan: Plan, resolution: analysis.Resolution | None, damaged: UnitSet | None = None
) -> Plan:
    """The plan with the held units of a resolution. ``damaged`` units stay with the task that finds
    the damage, which says what it is."""
    if resolution is None:
        return plan
    held = resolution.held.but(damaged) if damaged else resolution.held
    decisions = plan.decisions or UnitDecisions()
    return replace(
        plan,
        decisions=replace(decisions, held=held),
        flags_resolved=plan.selection.incomplete == "resolve",
    )


def clear(work: Path) -> None:
    """Remove what a run wrote that is made again."""
    for path in work.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
