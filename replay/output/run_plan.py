"""Carrying out a plan: ask the dependency graph what it needs to know, run the jobs that write
scripts, datasets and copies, and ask again when writing finds damage.

An engine may run a task twice: it was lost, or thought lost, or slow. So no two attempts write the
same file. Each attempt at a bucket writes into a folder of its own; the driver takes the files of
the attempt whose result it got, gives them their names, has their bytes compared with what the
attempt said of them, and removes what other attempts left. An attempt that wakes up late finds its
folder gone and ends.
"""

from __future__ import annotations

import os
import pickle
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from replay.changes.balance import Tally
from replay.changes.choices import BehindDamage
from replay.changes.envelope import as_bytes, compare
from replay.changes.position import UNIT_POSITION_FIELDS
from replay.changes.units import DAMAGED, UnitSet, Verdicts, unit_column
from replay.dependencies.key_spaces import key_spaces
from replay.engine.contract import Engine
from replay.errors import InputError, Where
from replay.logs import LogFile, Split
from replay.logs.record_facts import refuse_behind_end
from replay.machine import room_for
from replay.output.delete_and_reinsert import can_count, counts_parts
from replay.output.whole_folder import (
    StoredFolder,
    check_files,
    rewritten_elsewhere,
    send_attempt,
    wrong_size,
)
from replay.pipeline.plan import BucketResult, Plan, UnitDecisions, contradictory_units
from replay.pipeline.scan import HEADLESS, INCOMPLETE_UNIT, scan_split
from replay.storage import Place
from replay.storage.durable import begin_to_sync
from replay.temp_folders import WorkFolder, remove_tree
from sqlgen.choices import WhereColumns
from sqlgen.lazy_imports import when_used
from sqlgen.render_options import shown_columns

with when_used():  # what a run asks that is about a part of a log, or of a log that is not whole
    from replay.dependencies import analysis, baseline, cascade
    from replay.output import datasets, extract_bucket, scripts

_SHARED = (
    "The folder must be one that all executors and the driver share, as one user (--work names that"
    " of a replay); --out may be the URL of a store"
)


@dataclass(frozen=True)
class Attempt:
    """What one attempt at a bucket wrote: its folder's name, and the result."""

    folder: str
    result: BucketResult


@dataclass(frozen=True)
class RenderJob:
    """Writes the scripts, datasets or copies of a plan: blocks of sort records by bucket, and a
    task for each bucket that sorts and renders them into a new folder in ``folder``.
    Images never travel: tasks gather them from the
    log by position. Results are (bucket, :class:`Attempt`), and (-1,
    :class:`replay.changes.balance.Tally`) of each split.
    """

    plan: Plan
    folder: Place

    def __post_init__(self) -> None:
        # each task is given its own split; those of all others would travel with it
        object.__setattr__(self, "plan", replace(self.plan, splits=(), digests={}))

    @property
    def title(self) -> str:
        """What tasks do."""
        return _kind(self.plan)[0]

    @property
    def buckets(self) -> int:
        """Those of the plan."""
        return self.plan.buckets

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        """The blocks of a split, and its tally."""
        tally = Tally()
        yield from scan_split(self.plan, log, split, tally)
        yield self.buckets, pickle.dumps((-1, tally))

    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Write the files of a bucket. InputError LR2001 where the folder cannot be written to."""
        staging, write_bucket = self.folder, _kind(self.plan)[1]
        if isinstance(staging, Path):
            try:
                attempt = Path(tempfile.mkdtemp(prefix=f"{bucket}-", dir=staging))
            except OSError as error:
                user = f"a task of user {os.geteuid()} on {socket.gethostname()}"
                message = f"{user} cannot write there: {error.strerror}"
                raise InputError("LR2001", message, Where(file=str(staging)), _SHARED) from None
            with room_for(_known_to_users(staging)):
                result = write_bucket(self.plan, log, bucket, blocks, attempt)
            if not self.plan.steps:  # they are published, and not only applied
                for file in result.files:
                    begin_to_sync(attempt / file.name)
            yield pickle.dumps((bucket, Attempt(attempt.name, result)))
            return
        name = f"{bucket}-{os.urandom(8).hex()}"
        with WorkFolder() as place:
            here = Path(place)
            result = write_bucket(self.plan, log, bucket, blocks, here)
            send_attempt(staging, name, here, result.files)
        yield pickle.dumps((bucket, Attempt(name, result)))


def _kind(plan: Plan) -> tuple[str, Callable[..., BucketResult]]:
    """What tasks do, in words, and what makes the files of a bucket."""
    if plan.copies is not None:
        return "copy records", extract_bucket.copy_bucket
    if plan.export is not None:
        return "write datasets", datasets.export_bucket
    return "write scripts", scripts.render_bucket


def _known_to_users(place: Path) -> Path:
    """The folder around one of ours, whose name begins with a dot and which goes in the end."""
    return next((one for one in place.parents if not one.name.startswith(".")), place)


def write(
    engine: Engine, plan: Plan, log: LogFile, folder: Path, stored: StoredFolder | None = None
) -> tuple[Tally, list[BucketResult]]:
    """Write the scripts or datasets of a plan into ``folder``, which every task must be able to
    reach, or into ``stored``: the tally of what was read, the
    buckets in order.

    Raises what a task raised, and InputError LR2001 where files of a task are not there, or are not
    those that it wrote (of ``stored`` that is found when it is published).
    """
    if stored is not None:
        stored.taken.clear()
        return _written(engine, RenderJob(plan, stored.staging), plan, log, _InStore(stored))
    attempts = Path(tempfile.mkdtemp(prefix=".attempts-", dir=folder.absolute()))
    try:
        taking = _InFolder(attempts, folder)
        tally, results = _written(engine, RenderJob(plan, attempts), plan, log, taking)
    finally:
        remove_tree(attempts)
    if rewritten_elsewhere(engine, folder):
        check_files(folder, [file for result in results for file in result.files])
    return tally, results


def _written(
    engine: Engine, job: RenderJob, plan: Plan, log: LogFile, taking: _InStore | _InFolder
) -> tuple[Tally, list[BucketResult]]:
    tally = Tally()
    results: dict[int, BucketResult] = {}
    for blob in engine.results(job, log, plan.splits):
        bucket, value = pickle.loads(blob)
        if isinstance(value, Tally):
            tally.add(value)
        elif bucket not in results:
            taking.take(value)
            results[bucket] = value.result
    return tally, [results[bucket] for bucket in sorted(results)]


@dataclass(frozen=True)
class _InStore:
    """Files that go into a folder of a store."""

    stored: StoredFolder

    def take(self, attempt: Attempt) -> None:
        """Those of an attempt, when all is published."""
        self.stored.take(attempt.folder, attempt.result.files)


@dataclass(frozen=True)
class _InFolder:
    """Files that go into ``folder`` from ``attempts``."""

    attempts: Path
    folder: Path

    def take(self, attempt: Attempt) -> None:
        """Move what an attempt wrote into the folder, under the same names. InputError LR2001 where
        a file is not whole."""
        place = self.attempts / attempt.folder
        for file in attempt.result.files:
            path = place / file.name
            size = path.stat().st_size if path.is_file() else None
            if size != file.size:
                raise InputError("LR2001", wrong_size(file, size), Where(file=str(place)), _SHARED)
        for path in sorted(place.rglob("*")):
            if path.is_file():
                target = self.folder / path.relative_to(place)
                target.parent.mkdir(parents=True, exist_ok=True)
                path.rename(target)


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
    one has: by conditions where statements may touch no row (:mod:`sqlgen.statements`). Where
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
