"""Brings a live database to a point in time, in two steps: a plan says what will happen, and its
``apply`` does it."""

from __future__ import annotations

import glob
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from replay.changes.balance import Tally
from replay.changes.catalog import TableVersion
from replay.changes.choices import Derived, Mode
from replay.changes.options import ScriptOptions
from replay.changes.position import UNIT_POSITION_FIELDS, Position, UnitId, UnitPosition
from replay.changes.units import AppliedUnits, UnitSet, Verdicts
from replay.dependencies.baseline import StateBefore
from replay.errors import EXIT_ERROR, EXIT_OK, EXIT_WARNING, Refusal, counted
from replay.live.hazard_refusals import inexact_key
from replay.live.position_store import Store, TargetPosition
from replay.live.preflight import (
    Facts,
    changed_versions,
    check_identity,
    identity_of,
    limits_of,
    missing_rights,
    problems_of,
    refuse_incomplete_units,
    refuse_mode,
    refuse_problems,
    refuse_read_only,
    refuse_unheld_values,
    table_facts,
)
from replay.live.replay_request import ReplayInput, ReplayRequest
from replay.live.replay_run import (
    PlannedStatements,
    Progress,
    ReplayReport,
    ReplayRun,
    estimate,
    plan_lines,
    target_tables,
)
from replay.live.route import Route, Workload, find_route
from replay.live.target_state import TargetState
from replay.output.bundle import (
    raise_for,
    refuse_drops,
    refuse_other_tables,
    selection_warnings,
    without_cascades,
)
from replay.output.quarantine import described, flags_alone, taken_by_flags
from replay.output.run_plan import CompletedRun, carry_out
from replay.output.steps import Script, scripts_of_folder
from replay.pipeline.extent import LogExtent, log_extent
from replay.pipeline.input_digests import Digests
from replay.pipeline.mapped_catalog import renamings
from replay.pipeline.plan import Plan, make_plan
from replay.pipeline.positions import (
    LastingNames,
    LogPosition,
    commits_of,
    is_placed,
    logs_of,
    position_after,
    refuse_passed,
    refuse_rests,
)
from replay.pipeline.resolve_positions import marks_with
from replay.redaction import public
from replay.targets import Transient, target_of
from replay.targets.hazards import HazardKind
from replay.temp_folders import WorkFolder
from sqlgen.render_options import shown_columns

__all__ = [
    "ReplayInput",
    "ReplayPlan",
    "ReplayReport",
    "ReplayRequest",
    "plan_of_route",
    "plan_replay",
    "run",
]

#: Lines of history that are read to learn how fast the target is.
_LATEST_RUNS = 20
_NEVER_REPLAYED = (
    "This target was never replayed: it is taken to stand before this log (if its rows are those of"
    " a later point, say so: --at-position POINT, or end)"
)


class ReplayPlan:
    """What a replay will do; as text, the lines that the command prints.

    ``problems`` are reasons why it would be refused, ``exit_code`` is that of a command that only
    plans. A context manager: until its end it holds a session, with it the lock where the request
    says so, and a temporary folder with the statements.
    """

    def __init__(self, source: ReplayInput, request: ReplayRequest) -> None:
        self.source, self.request = source, request
        self.lines: list[str] = []
        self.problems: list[str] = []
        self.exit_code = EXIT_OK
        self._target = target_of(request.url)
        self._digests = Digests(source.log)
        self._identity = identity_of(source.selection, source.options)
        self._statements: PlannedStatements | None = None
        self._locked = request.apply
        self._resources = ExitStack()
        self._resources.callback(self._digests.abandon)
        self._session = request.connect(self._target)
        self._resources.callback(self._session.close)

    def __str__(self) -> str:
        return self.source.log.in_words("\n".join(self.lines))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give up the session, and with it the lock, and the temporary folder."""
        self._resources.close()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return self._statements is None

    def apply(self, progress: Progress = lambda *_: None) -> ReplayReport:
        """Carry the plan out.

        Raises Refusal (LR4007) when the target no longer stands where the plan begins, Refusal
        (LR4008) and InputError (LR2016) for what the plan says is wrong, TargetError (LR4004) when
        another replay is under way, (LR4006) with the first change that does not fit, and other
        errors of :mod:`replay.errors`; what was committed before one stays, and the position in the
        target says how far that is.
        """
        statements = self._statements
        if statements is None:
            return ReplayReport(EXIT_OK)
        refuse_problems(statements.tally, self.problems)
        if not self._locked:
            self._lock(statements.stored)
        self._locked = False
        run = ReplayRun(self.source.log, self.request, self._target, self._session, statements)
        return run.apply(self._identity, self._digests.wait(), progress)

    def _lock(self, planned: TargetPosition | None) -> None:
        """Take the lock; the target must be as it was when the plan was made."""
        self._session.close()
        self._session = self.request.connect_locked(self._target)
        self._resources.callback(self._session.close)
        stored = Store(self._session).position()
        if stored != planned:
            at = "has no position" if stored is None else f"stands at {stored.position}"
            raise Refusal(
                "LR4007",
                f"the target {at} now, and was replayed into since the plan was made",
                hint="Plan again",
            )

    def make(self, split_bytes: int) -> None:
        """Decide the route, and make its statements."""
        log, selection, options = self.source.log, self.source.selection, self.source.options
        request, engine = self.request, self.source.engine
        refuse_read_only(self._session)
        store = Store(self._session)
        if self._locked and store.is_there():
            request.pace.retrying(Transient)(store.settle)
        stored = store.position()
        check_identity(stored, log.source, self._identity, self._session)
        marks = marks_with(store.marks(), request.destination.mark, log, selection.marks)
        extent = log_extent(log, request.destination.time, engine, split_bytes)
        before = store.log_position(is_placed(log))
        pending = frozenset[UnitId]()
        if before is not None and stored is not None:
            before = replace(before, position=self._place(stored))
            pending = LastingNames(log).here(before.pending.units())
            if extent.first is not None:
                self._refuse_passed(store, before, pending, split_bytes)
        route = find_route(
            request.destination, request.at, request.adjoining, stored, before, extent, marks,
            pending,
        )  # fmt: skip
        outside = request.destination.outside(extent, marks)
        if route is None:
            stand = "this log has no committed unit"
            if stored is not None:
                stand = f"the target stands at {stored.position}"
            self.lines.append(f"Nothing to do: {stand}")
            self._warn(outside)
            return
        refuse_mode(self._session, route, request.pace, request.policy)
        facts = table_facts(self._session, log, selection, options)
        plan = self._plan(route, facts, split_bytes)
        if route.forward and before is not None:
            refuse_rests(log, plan.splits, before, pending)
        runs = store.runs(_LATEST_RUNS) if stored is not None else []
        began = time.perf_counter()
        outcome, scripts = self._carry_out(plan, route, facts, before)
        seconds = time.perf_counter() - began
        plan, tally = outcome.plan, outcome.tally
        workload = route.workload(scripts)
        self._tell(plan, tally, route, workload)
        if stored is None and request.at is None:
            self.lines.append(_NEVER_REPLAYED)
        if workload.statements:
            self.lines.append(estimate(self._target.dialect, workload.statements, runs, seconds))
        warnings = [*outside]
        warnings += selection_warnings(replace(plan, selection=selection), log, tally, engine)
        built = taken_by_flags(outcome, log, engine)
        warnings += flags_alone(plan, described(built) if built else None)
        self._warn(warnings)
        self.exit_code = EXIT_ERROR if self.problems else tally.exit_code(warnings)
        begins = before or LogPosition(log.source)
        begins = replace(begins, position=route.position)
        aside = tally.quarantined_units if route.forward else Verdicts()
        units = [result.units for result in outcome.results] if route.forward else []
        back = None if route.forward or route.until is None else route.until.end
        changed = tally.changes if route.forward else ()
        after = position_after(begins, log, plan, aside, units, True, back, changed)
        mine = [name for name, _, _ in logs_of(log, plan.digests)]
        self._statements = PlannedStatements(
            plan=plan,
            tally=tally,
            scripts=scripts,
            route=route,
            workload=workload,
            facts=facts,
            stored=stored,
            before=begins,
            after=replace(after, logs={name: after.logs[name] for name in mine}),
            first_log=_is_first(store, extent) and begins.logs.keys() <= {*mine},
        )

    def _warn(self, warnings: Sequence[str]) -> None:
        self.lines += [f"warning: {warning}" for warning in warnings]
        self.exit_code = EXIT_WARNING if warnings else self.exit_code

    def _plan(self, route: Route, facts: Facts, split_bytes: int) -> Plan:
        """What is to be read and written for a route into tables with these facts."""
        log, options = self.source.log, self.source.options
        plan = replace(
            plan_of_route(self.source, options, route, facts, split_bytes),
            prepared=self._session.prepares and not log.has_structure,
            constraints=self.source.constraints,
            enforced=self.request.enforced,
            awaited=frozenset(route.pending),
        )
        if HazardKind.TYPE not in self.request.accepted:
            plan = replace(plan, limits=limits_of(log, facts, plan.options))
        return plan

    def _carry_out(
        self, plan: Plan, route: Route, facts: Facts, before: LogPosition | None
    ) -> tuple[CompletedRun, list[Script]]:
        """Make the statements. What ends a replay before it begins is raised; reasons why it would
        be refused become :attr:`problems`."""
        log, options, engine = self.source.log, self.source.options, self.source.engine
        accepted, enforced = self.request.accepted, self.request.enforced
        folder = Path(self._resources.enter_context(WorkFolder()))
        state = self._state(route, options)
        there = AppliedUnits(route.position, route.pending) if route.forward else None
        refuse_drops(replace(plan, continued=there), log, self._is_empty)
        outcome = carry_out(plan, log, engine, folder, state)
        plan, tally = outcome.plan, outcome.tally
        raise_for(plan, tally)
        refuse_other_tables(plan, log, tally, before, self._is_empty)
        if route.forward:
            self._keep_applied(plan, tally, route)
        else:
            refuse_unheld_values(tally)
        refuse_incomplete_units(route, tally)
        self.problems = problems_of(
            plan, log, tally, facts, self._session, options, enforced, accepted
        )
        self.problems += without_cascades(plan, log, tally)
        self.problems += missing_rights(self._session, plan, log, tally)
        return outcome, [Script(path) for path in scripts_of_folder(folder)]

    def _is_empty(self, version: TableVersion) -> bool:
        """Whether the target has no rows of a table."""
        schema, table = self.source.options.place(version.table)
        return table in self._session.tables_of(schema) and not self._session.count(schema, table)

    def _keep_applied(self, plan: Plan, tally: Tally, route: Route) -> None:
        """Set no unit aside that the target has, from a log in which it was whole or not flagged:
        it would come a second time, and stay on the way back."""
        log, aside = self.source.log, tally.quarantined_units.units()
        fields = commits_of(log, plan.splits, aside - route.pending).view(UNIT_POSITION_FIELDS)
        commit, unit = (np.ascontiguousarray(fields[name]) for name in ("commit", "unit"))
        there = AppliedUnits(route.position, route.pending).mask(commit, unit)
        applied = UnitSet.of(unit[there]) - UnitSet.of(unit[~there])
        if applied:
            tally.quarantined_units = tally.quarantined_units.but(applied)
            self.lines.append(
                f"in the target: {counted(len(applied), 'unit')} that this log does not have whole,"
                " or that may depend on such ones"
            )

    def _tell(self, plan: Plan, tally: Tally, route: Route, workload: Workload) -> None:
        """Put into words what will happen, and why it would be refused."""
        log, request = self.source.log, self.request
        url = public(request.url)
        self.lines += plan_lines(log, url, route, workload, tally, request.pace)
        if plan.options.mapping is not None:
            versions = [log.catalog.versions[index] for index in changed_versions(log, tally)]
            self.lines += [f"mapped: {line}" for line in renamings(versions, plan.options)]
        if not self.problems:  # among which are rights that asking for sequences needs
            self.lines += [
                f"sequence {name} will be moved on to the highest value, if that is beyond it"
                for schema, table in dict.fromkeys(
                    [*target_tables(log, plan, tally), *Store(self._session).numbered()]
                )
                for name in self._session.sequences(schema, table)
            ]
        self.lines += [f"refused: {problem}" for problem in self.problems]

    def _place(self, stored: TargetPosition) -> UnitPosition:
        """Where the target stands in this log. Where it holds nothing yet, a user may say so."""
        if self.request.at is not None and not stored.units:
            return self.request.at.end
        return LastingNames(self.source.log).place(stored.position)

    def _refuse_passed(
        self, store: Store, before: LogPosition, pending: frozenset[UnitId], split_bytes: int
    ) -> None:
        """InputError (LR2039) for units that commit up to where the target stands and are not
        there. On the way back, too: they are not there to be taken back, and from then on their log
        would count as read."""
        log, began = self.source.log, store.began()
        url = public(self.request.url)

        def start_over(lowest: Position) -> str:
            if began is None or lowest > began.commit:
                back, rest = lowest.below, "all of them"
            else:
                back = began.commit
                rest = f"all of them and --at-position {lowest.below.hexadecimal}"
            return (
                f"logreplay replay LOG --to {url} --until-position {back.hexadecimal} --apply (LOG:"
                f" the logs that were read), and then without --until-position, with {rest}"
            )

        plan = make_plan(
            log, Mode.REDO, self.source.selection, self.source.options, split_bytes,
            self.source.engine,
        )  # fmt: skip
        applied = AppliedUnits(before.position, pending)
        refuse_passed(plan, log, before, applied, start_over)

    def _state(self, route: Route, options: ScriptOptions) -> StateBefore:
        """The target as the state before what it lacks of the log. What it has is not asked about,
        nor is anything on the way back, which takes back what was applied."""
        settled = AppliedUnits(route.position, route.pending, every=not route.forward)
        name = public(self.request.url)
        return StateBefore(TargetState(self._session, name, options), settled)


def plan_replay(
    source: ReplayInput, request: ReplayRequest, split_bytes: int = 32 << 20
) -> ReplayPlan:
    """Plan a replay; nothing is written to the target.

    Raises Refusal when the log does not fit the target (LR4005, LR4007, LR4009) or cannot be
    written for it, InputError for a log that cannot be read, TargetError (LR4003, LR4004) when
    there is no session to be had.
    """
    plan = ReplayPlan(source, request)
    try:
        plan.make(split_bytes)
    except BaseException:
        plan.close()
        raise
    return plan


def run(
    source: ReplayInput,
    request: ReplayRequest,
    out: Callable[[str], None],
    progress: Progress,
    split_bytes: int = 32 << 20,
) -> int:
    """Plan a replay and, with ``request.apply``, carry it out; the exit code. ``out`` takes lines
    for the user. Raises what :func:`plan_replay` and :meth:`ReplayPlan.apply` do."""
    with plan_replay(source, request, split_bytes) as plan:
        out(str(plan))
        if plan.is_empty:
            return plan.exit_code
        if not request.apply:
            what = "--apply would be refused" if plan.problems else "Run with --apply to do this"
            out(f"Nothing was written. {what}.")
            return plan.exit_code
        report = plan.apply(progress)
        out(source.log.in_words(str(report)))
        return max(report.exit_code, plan.exit_code)


def _is_first(store: Store, extent: LogExtent) -> bool:
    """Whether no log from before this one was replayed into the target, as far as positions tell:
    its first run began where the log does, or it has none."""
    began = store.began()
    return began is None or (extent.start is not None and began == extent.start.end)


def plan_of_route(
    source: ReplayInput,
    options: ScriptOptions,
    route: Route,
    facts: Facts,
    split_bytes: int,
) -> Plan:
    """The plan of the changes that lie on the route. Backward, everything is taken back, also what
    RI and triggers did."""
    log, selection = source.log, source.selection
    computed = []
    for version in log.catalog.versions:
        table = facts.get(version.name)
        for column in version.table.columns:
            if column in shown_columns(version.table, options.render) and (
                table is not None and options.spelled(column.name) in table.generated
            ):
                place = f"{version.table.schema}.{version.table.name}"
                computed.append(glob.escape(f"{place}.{column.name}"))
    render = replace(
        options.render,
        exclude_columns=(*options.render.exclude_columns, *computed),
        keep_identity=any(table is not None and table.identity for table in facts.values()),
        exact_keys=any(
            (table := facts.get(version.name)) is not None
            and inexact_key(version.table, table, options)
            for version in log.catalog.versions
        ),
    )
    options = replace(
        options, render=render, commit_every=1 << 62, commit_statements=None, trace=False
    )
    if route.forward:
        start = None if route.pending else route.position.commit
        chosen = replace(selection, from_position=start, until_position=route.until)
    else:
        assert route.until is not None
        chosen = replace(
            selection,
            from_position=route.until.above,
            until_position=route.position.commit,
            ri=Derived.APPLY,
            triggers=Derived.APPLY,
        )
    mode = Mode.REDO if route.forward else Mode.UNDO
    plan = make_plan(source.log, mode, chosen, options, split_bytes, source.engine)
    return replace(plan, steps=True)
