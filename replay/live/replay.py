"""Brings a live database to a point in time, in two steps: a plan says what will happen, and its
``apply`` does it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from replay.arrays import Mask, Records
from replay.changes.balance import Tally
from replay.changes.choices import Derived, Enforcement, Late, Mode
from replay.changes.envelope import Envelope, opaque
from replay.changes.options import ScriptOptions
from replay.changes.position import Position, UnitId, UnitPosition
from replay.changes.selection import Selection
from replay.dependencies.baseline import StateBefore
from replay.dependencies.proof import AppliedUnits
from replay.errors import EXIT_OK, EXIT_WARNING, LogReplayError, Refusal, TargetError
from replay.leftovers import WorkFolder
from replay.live.applier import Applier, Strategy
from replay.live.bulk import OrderInBulk, brings_loads, independent_changes
from replay.live.diagnosis import Diagnoser
from replay.live.error_policy import ErrorPolicy
from replay.live.hazards import inexact_key
from replay.live.merged import MergedChanges
from replay.live.messages import estimate, plan_lines, report_lines
from replay.live.net_changes import NetChanges
from replay.live.pace import Pace
from replay.live.parallel import ParallelSessions, Partitioner, SessionPool
from replay.live.position_store import Store, TargetPosition, rejected_units
from replay.live.preflight import (
    Facts,
    check_identity,
    connect_locked,
    identity_of,
    limits_of,
    problems_of,
    refuse_altered,
    refuse_incomplete_units,
    refuse_mode,
    refuse_moved,
    refuse_problems,
    refuse_unheld_values,
    refuse_units_ahead,
    table_facts,
)
from replay.live.rights import changed_versions, missing_rights, refuse_read_only
from replay.live.route import Destination, Route, Workload, find_route
from replay.live.strict import StrictOrder
from replay.live.target_state import TargetState
from replay.live.transactions import Transactions, nothing
from replay.logs import LogFile
from replay.output.bundle import empty_bundle, raise_for
from replay.output.carry_out import CompletedRun, carry_out
from replay.output.later_texts import TextMaker
from replay.output.steps import Scripts
from replay.output.stored_scripts import exchange_of, scripts_in
from replay.pipeline.engine import Engine
from replay.pipeline.extent import LogExtent, log_extent
from replay.pipeline.input_digests import Digests
from replay.pipeline.late import (
    REASON_OF_LATE,
    Before,
    LateUnits,
    late_units,
    named_units,
    read_before,
)
from replay.pipeline.marked import marks_with
from replay.pipeline.pending_logs import logs_of_pending
from replay.pipeline.plan import Plan, make_plan
from replay.targets import ConnectionLost, Session, Target, Transient, target_of
from replay.targets.hazards import HazardKind
from replay.version import __version__
from sqlgen.constraints import Constraints
from sqlgen.dialects import profile_named
from sqlgen.names import target_name

#: Hears (stage, done, total).
Progress = Callable[[str, int, int], None]
#: Lines of history that are read to learn how fast the target is.
_LATEST_RUNS = 20


@dataclass(frozen=True)
class ReplayRequest:
    """What a user asks of a replay.

    ``apply``: the plan is to be carried out at once, so that it is made under the lock (else the
    lock is taken when it is carried out). ``at``: where a target stands that was never replayed.
    ``accepted``: codes (:class:`replay.targets.hazards.HazardKind`) of what the user answers for.
    ``adjoining``: the log begins, or ends, where the target stands. ``late``: what becomes of units
    that come late. ``reached`` hears of every point where a kill is interesting.
    """

    url: str
    apply: bool = False
    destination: Destination = field(default_factory=Destination)
    at: Position | None = None
    adjoining: bool = False
    enforcement: Enforcement = Enforcement.ON
    policy: ErrorPolicy = field(default_factory=ErrorPolicy)
    pace: Pace = field(default_factory=Pace)
    reached: Callable[[str], None] = nothing
    accepted: frozenset[str] = frozenset()
    late: Late = Late.REFUSE

    @property
    def enforced(self) -> bool:
        """Whether the target's triggers and foreign keys act."""
        return self.enforcement is Enforcement.ON

    def connect(self, target: Target) -> Session:
        """A session for what is asked: to apply it, one that holds the lock."""
        return self.connect_locked(target) if self.apply else target.connect(self.url)

    def connect_locked(self, target: Target) -> Session:
        """A session that holds the lock of all replays into the target."""
        return connect_locked(target, self.url, self.enforced)


@dataclass(frozen=True)
class ReplayInput:
    """A log, what is to be taken of it and how it is written, what is known of the tables' keys,
    and the engine that does it."""

    log: LogFile
    selection: Selection
    options: ScriptOptions
    constraints: Constraints
    engine: Engine


@dataclass(frozen=True)
class ReplayReport:
    """What a replay did; as text, the lines that the command prints."""

    exit_code: int
    lines: tuple[str, ...] = ()
    units: int = 0
    statements: int = 0
    rejected: int = 0
    position: UnitPosition | None = None

    def __str__(self) -> str:
        return "\n".join(self.lines)


@dataclass(frozen=True)
class _Statements:
    """The statements of a route, made and ready to be applied: scripts with their steps.
    ``planned``: the units that are then in the target, as they are called whatever files are given;
    ``late``: those among them that came late; ``pending_logs``: the digests of the logs that units
    set aside are in or hang on (None: not known)."""

    plan: Plan
    tally: Tally
    scripts: Scripts
    route: Route
    workload: Workload
    facts: Facts
    stored: TargetPosition | None
    late: frozenset[UnitId]
    planned: Records
    pending_logs: frozenset[str] | None


def target_tables(log: LogFile, plan: Plan, tally: Tally) -> list[tuple[str, str]]:
    """The tables that changes are of, by schema and name in the target."""
    profile, names = profile_named(plan.options.dialect), plan.options.names
    tables = [log.catalog.versions[version].table for version in changed_versions(log, tally)]
    both = (
        (target_name(table.schema, profile, names), target_name(table.name, profile, names))
        for table in tables
    )
    return list(dict.fromkeys(both))


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
        self._identity = identity_of(source.log, source.selection, source.options)
        self._statements: _Statements | None = None
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
        run = _Run(self.source.log, self.request, self._target, self._session, statements)
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
        request = self.request
        refuse_read_only(self._session)
        store = Store(self._session)
        if self._locked and store.is_there():
            request.pace.retrying(Transient)(store.settle)
        stored = store.position()
        check_identity(stored, log.source, self._identity, self._session)
        marks = marks_with(store.marks(), request.destination.mark, log, selection.marks)
        extent = log_extent(log, request.destination.time)
        pending = store.pending() if stored is not None else {}
        late = self._late(store, stored, extent, marks, frozenset(pending), split_bytes)
        to, units = request.destination, late.taken | pending.keys()
        route = find_route(to, request.at, request.adjoining, stored, extent, marks, units)
        if route is None:
            stand = "this log has no committed unit"
            if stored is not None:
                stand = f"the target stands at {stored.position}"
            self.lines.append(f"Nothing to do: {stand}")
            return
        route = replace(route, ahead=store.ahead() if stored is not None else frozenset())
        refuse_units_ahead(route)
        refuse_mode(self._session, route, selection, request.pace, request.policy)
        facts = table_facts(self._session, log, selection, options)
        plan = replace(
            plan_of_route(log, selection, options, route, facts, split_bytes),
            prepared=self._session.prepares and not log.has_structure,
            constraints=self.source.constraints,
            awaited=frozenset(route.pending),
        )
        if HazardKind.TYPE not in request.accepted:
            plan = replace(plan, limits=limits_of(log, facts, plan.options))
        runs = store.runs(_LATEST_RUNS) if stored is not None else []
        folder = Path(self._resources.enter_context(WorkFolder()))
        began = time.perf_counter()
        state = self._state(route, options)
        stored_at = exchange_of(self.source.engine, self._resources)
        accepted, enforced, pace = request.accepted, request.enforced, request.pace
        later = stored_at is None and brings_loads(plan, log, facts, pace, accepted, enforced)
        plan = replace(plan, texts_later=later)
        outcome = carry_out(plan, log, self.source.engine, folder, state, stored_at)
        plan, tally = outcome.plan, outcome.tally
        raise_for(plan, tally)
        if not route.forward:
            refuse_unheld_values(tally)
        refuse_incomplete_units(route, tally)
        self.problems = problems_of(
            plan, log, tally, facts, self._session, options, enforced, accepted
        )
        self.problems += missing_rights(self._session, plan, log, tally)
        scripts = scripts_in(folder, stored_at, self._resources, TextMaker(plan, log))
        workload = route.workload(scripts)
        seconds = time.perf_counter() - began
        self.lines += plan_lines(
            log,
            self._target.public_url(request.url),
            route,
            workload,
            tally,
            request.pace,
        )
        if not self.problems:  # among which are rights that asking for sequences needs
            self.lines += [
                f"sequence {name} will be moved on to the highest value, if that is beyond it"
                for schema, table in target_tables(log, plan, tally)
                for name in self._session.sequences(schema, table)
            ]
        self.lines += [f"refused: {problem}" for problem in self.problems]
        self.lines.append(estimate(self._target.dialect, workload.statements, runs, seconds))
        warnings = empty_bundle(replace(plan, selection=selection), log, tally)
        self.lines += [f"warning: {warning}" for warning in warnings]
        warns = self.problems or warnings or tally.exit_code([])
        self.exit_code = EXIT_WARNING if warns else EXIT_OK
        taken = late.taken, _planned(log, late, outcome)
        named = _pending_logs(log, plan, store, route, tally)
        self._statements = _Statements(
            plan, tally, scripts, route, workload, facts, stored, *taken, named
        )

    def _late(
        self,
        store: Store,
        stored: TargetPosition | None,
        extent: LogExtent,
        marks: Mapping[str, Position],
        pending: frozenset[UnitId],
        split_bytes: int,
    ) -> LateUnits:
        """The units that come late, on the way forward. InputError (LR2039) where they are
        refused."""
        if stored is None or extent.first is None:
            return LateUnits()
        position = stored.position
        until = self.request.destination.commit(extent, marks)
        if until is not None and until < position.commit:
            return LateUnits()
        log, options = self.source.log, self.source.options
        plan = make_plan(log, Mode.REDO, self.source.selection, options, split_bytes)

        applied = AppliedUnits(position, pending)

        def covers(envelope: Envelope) -> Mask:
            """Which records are of units up to the position, and not set aside."""
            return applied.mask(opaque(envelope.commit()), opaque(envelope.unit()))

        last = frozenset({position.unit})
        read = store.inputs_read()
        before = Before(covers, position.commit, last, read_before(read), store.taken(), read)
        return late_units(plan, log, before, self.request.late)

    def _state(self, route: Route, options: ScriptOptions) -> StateBefore:
        """The target as the state before what it lacks of the log. What it has is not asked about,
        nor is anything on the way back, which takes back what was applied."""
        settled = AppliedUnits(route.position, route.pending, route.ahead, every=not route.forward)
        name = self._target.public_url(self.request.url)
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
            out("Nothing was written. Run with --apply to do this.")
            return plan.exit_code
        report = plan.apply(progress)
        out(str(report))
        return max(report.exit_code, plan.exit_code)


def _planned(log: LogFile, late: LateUnits, outcome: CompletedRun) -> Records:
    """The units that a target has when all is applied, as they are called whatever files are
    given."""
    units = [late.skipped, *(result.units for result in outcome.results)]
    return named_units(log, np.concatenate(units))


def _pending_logs(
    log: LogFile, plan: Plan, store: Store, route: Route, tally: Tally
) -> frozenset[str] | None:
    """The digests of the logs that units set aside are in or hang on, now or before a run forward
    that is planned."""
    before = store.pending() if route.forward and store.is_there("pending") else {}
    named = store.pending_logs() if before else frozenset()
    read = store.logs_read() if before and named is None else None
    units = tally.quarantined_units.units() | route.pending
    return logs_of_pending(log, plan.splits, units, named, read) if route.forward else None


def plan_of_route(
    log: LogFile,
    selection: Selection,
    options: ScriptOptions,
    route: Route,
    facts: Facts,
    split_bytes: int,
) -> Plan:
    """The plan of the changes that lie on the route. Backward, everything is taken back, also what
    RI and triggers did."""
    profile = profile_named(options.dialect)
    computed = []
    for version in log.catalog.versions:
        table = facts.get(version.name)
        for column in version.table.columns:
            if (
                table is not None
                and target_name(column.name, profile, options.names) in table.generated
            ):
                computed.append(f"{version.name}.{column.name}")
    render = replace(
        options.render,
        exclude_columns=(*options.render.exclude_columns, *computed),
        keep_identity=any(table is not None and table.identity for table in facts.values()),
        exact_keys=any(
            (table := facts.get(version.name)) is not None
            and inexact_key(version.table, table, profile, options.names)
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
    plan = make_plan(log, Mode.REDO if route.forward else Mode.UNDO, chosen, options, split_bytes)
    return replace(plan, steps=True)


class _Run:
    """One replay that is carried out, as a line of the target's history."""

    def __init__(
        self,
        log: LogFile,
        request: ReplayRequest,
        target: Target,
        session: Session,
        statements: _Statements,
    ) -> None:
        self.log, self.request, self.target = log, request, target
        self.session, self.statements = session, statements

    def apply(
        self, identity: Mapping[str, Any], inputs: list[dict[str, Any]], progress: Progress
    ) -> ReplayReport:
        """Apply, and write the history. ``identity``: what must stay the same from one replay of
        the target to the next. ``inputs``: name, size and digest of the log's files."""
        pace = self.request.pace
        for attempt in pace.retrying(ConnectionLost, Transient):
            with attempt:
                if attempt.retry_state.attempt_number > 1:
                    self.session.close()
                    self.session = self.request.connect_locked(self.target)
                run, route = self._begin(identity, inputs)
        transactions = Transactions(
            self._connect_again,
            self.statements.scripts,
            route,
            run,
            pace,
            self.request.reached,
            self.session,
        )
        strategy = self._strategy(transactions)
        applier = Applier(transactions, strategy)
        total = self.statements.workload.statements
        began = time.perf_counter()
        sequences: list[str] = []
        positions: list[UnitPosition] = []

        def finish(session: Session) -> None:
            """What is left to do on the target when all is applied, and to be asked of it; may be
            done twice."""
            sequences.extend(self._move_sequences(session))
            committed = transactions.committed
            seconds = time.perf_counter() - began
            Store(session).end_run(run, "done", committed.units, committed.statements, seconds)
            positions.append(transactions.position().position)

        try:
            committed = applier.apply(lambda count: progress("applying", count, total), finish)
        except LogReplayError as error:
            self._fail(transactions, error, time.perf_counter() - began)
            raise
        finally:
            strategy.close()
            transactions.close()
        lines = report_lines(
            committed,
            route.forward,
            pace,
            strategy.loaded if isinstance(strategy, OrderInBulk) else 0,
            sequences,
            positions[-1],
            time.perf_counter() - began,
        )
        warns = committed.rejected or self.statements.tally.quarantined
        return ReplayReport(
            EXIT_WARNING if warns else EXIT_OK,
            tuple(lines),
            committed.units,
            committed.statements,
            committed.rejected,
            positions[-1],
        )

    def _connect_again(self) -> Session:
        """A session that holds the lock, after one was lost: meanwhile anybody could change a
        table."""
        session = self.request.connect_locked(self.target)
        try:
            self._refuse_altered(session)
        except BaseException:
            session.close()
            raise
        return session

    def _refuse_altered(self, session: Session) -> None:
        statements = self.statements
        options = statements.plan.options
        refuse_altered(session, self.log, statements.tally, options, statements.facts)

    def _strategy(self, transactions: Transactions) -> Strategy:
        """The way of applying that the pace asks for."""
        plan, scripts, pace = self.statements.plan, self.statements.scripts, self.request.pace
        strict = StrictOrder(transactions, self.request.policy, Diagnoser(plan, self.log))
        if pace.merged or pace.in_bulk:
            expected = self.statements.workload.statements
            net_changes = NetChanges(plan, self.log, self.statements.facts, expected)
            if pace.merged:
                return MergedChanges(strict, net_changes)
            accepted, enforced = self.request.accepted, self.request.enforced
            independent = independent_changes(net_changes, accepted, enforced)
            return strict if independent is None else OrderInBulk(strict, independent)
        if pace.sessions == 1:
            return strict

        def connect() -> Session:
            session = self.target.connect(self.request.url)
            session.enforce(self.request.enforced)
            return session

        pool = SessionPool(
            connect, scripts, pace.sessions, transactions.run, self.request.reached, pace.tries
        )
        partitioner = Partitioner(self.log, scripts, plan.constraints, pace.statements)
        return ParallelSessions(strict, pool, partitioner)

    def _begin(
        self, identity: Mapping[str, Any], inputs: list[dict[str, Any]]
    ) -> tuple[int, Route]:
        """Write where the target stands, this run and the units that it sets aside, in one
        transaction; the number of the run and its route. Raises Refusal (LR4007) when the target no
        longer stands where the plan began."""
        store = Store(self.session)
        store.make()
        self.session.begin()
        try:
            return self._note_begin(store, identity, inputs)
        except ConnectionLost:
            raise
        except BaseException:
            self.session.rollback()
            raise

    def _note_begin(
        self, store: Store, identity: Mapping[str, Any], inputs: list[dict[str, Any]]
    ) -> tuple[int, Route]:
        """What :meth:`_begin` does in its transaction. What the plan was made of is asked again
        under the position's lock, when nothing that others did can still be on its way."""
        route, tally = self.statements.route, self.statements.tally
        store.hold()
        stored, pending, ahead = store.position(), frozenset(store.pending()), store.ahead()
        pending |= self.statements.late
        check_identity(stored, self.log.source, identity, self.session)
        refuse_moved(route, stored, pending - tally.quarantined_units.keys(), ahead)
        self._refuse_altered(self.session)
        self.session.durable()
        if stored is None:
            store.begin_at(self.log.source, identity, route.position)
        program = f"logreplay {__version__}"
        direction = "forward" if route.forward else "backward"
        accepted = sorted(self.request.accepted)
        store.accept(accepted)
        kept = [*inputs, *([{"accepted": accepted}] if accepted else [])]
        planned = self.statements.planned if route.forward else None
        behind = self.statements.plan.named_behind
        named = self.statements.pending_logs if route.forward else None
        run = store.start_run(
            program, direction, kept, route.position, route.until, planned, behind, named
        )
        store.forget_taken()
        rejected: frozenset[UnitPosition] = frozenset()
        if route.forward:
            quarantined = tally.quarantined_units
            store.set_aside(dict.fromkeys(self.statements.late, REASON_OF_LATE), run)
            store.set_aside({unit: str(verdict) for unit, verdict in quarantined.items()}, run)
        else:
            rejected = rejected_units(store.rejects())
        self.session.commit()
        return run, replace(route, pending=pending, ahead=ahead, rejected=rejected)

    def _move_sequences(self, session: Session) -> list[str]:
        """Move the sequences behind the tables that were changed; what was moved."""
        moved = []
        for schema, table in target_tables(self.log, self.statements.plan, self.statements.tally):
            moved += session.move_sequences(schema, table)
        return moved

    def _fail(self, transactions: Transactions, error: LogReplayError, seconds: float) -> None:
        """Complete the line of history with what ended the run. When the database is gone, the line
        stays open, and status calls the run interrupted."""
        outcome = str(error).partition("\n")[0]
        committed = transactions.committed
        with suppress(TargetError):
            Store(transactions.session()).end_run(
                transactions.run, outcome, committed.units, committed.statements, seconds
            )
