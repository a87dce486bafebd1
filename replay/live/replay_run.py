"""Carries out a replay that was planned, as a line of the target's history."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from replay.changes.balance import Tally
from replay.changes.position import UnitPosition
from replay.errors import EXIT_OK, EXIT_WARNING, LogReplayError, TargetError
from replay.live.applier import Applier, Strategy
from replay.live.bulk import OrderInBulk, independent_changes
from replay.live.diagnosis import Diagnoser
from replay.live.messages import report_lines
from replay.live.position_store import Store, TargetPosition, outcome_of
from replay.live.preflight import Facts, check_identity, refuse_altered, refuse_moved
from replay.live.replay_request import ReplayRequest
from replay.live.rights import changed_versions
from replay.live.route import Route, Workload
from replay.live.row_loads import RowLoads
from replay.live.strict import StrictOrder
from replay.live.transactions import Transactions
from replay.logs import LogFile
from replay.output.steps import Script
from replay.pipeline.plan import Plan
from replay.pipeline.positions import LogPosition, lasting, lasting_ids, units_here
from replay.targets import (
    ConnectionLost,
    Session,
    Target,
    Transient,
    undone_where_it_fails,
)
from replay.version import __version__

#: Hears (stage, done, total).
Progress = Callable[[str, int, int], None]


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
class PlannedStatements:
    """The statements of a route, made and ready to be applied: scripts with their steps.
    ``before``: where the target stands; ``after``: what the logs say of where the route leads;
    ``first_log``: no log from before this one was replayed into the target."""

    plan: Plan
    tally: Tally
    scripts: Sequence[Script]
    route: Route
    workload: Workload
    facts: Facts
    stored: TargetPosition | None
    before: LogPosition
    after: LogPosition
    first_log: bool


def target_tables(log: LogFile, plan: Plan, tally: Tally) -> list[tuple[str, str]]:
    """The tables that changes are of, by schema and name in the target."""
    tables = (log.catalog.versions[version].table for version in changed_versions(log, tally))
    return list(dict.fromkeys(map(plan.options.place, tables)))


class ReplayRun:
    """One replay that is carried out, as a line of the target's history."""

    def __init__(
        self,
        log: LogFile,
        request: ReplayRequest,
        target: Target,
        session: Session,
        statements: PlannedStatements,
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
            # in strict order all statements were made before
            self.log if pace.in_bulk else None,
            partial(lasting_ids, self.log),
        )
        strategy = self._strategy(transactions)
        applier = Applier(transactions, strategy)
        total = self.statements.workload.statements
        began = time.perf_counter()
        sequences: dict[str, int] = {}  # to where each was moved
        positions: list[UnitPosition] = []

        def finish(session: Session) -> None:
            """What is left to do on the target when all is applied, and to be asked of it; may be
            done twice."""
            sequences.update(self._move_sequences(session))
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
        plan, pace = self.statements.plan, self.request.pace
        first_log = self.statements.first_log
        diagnoser = Diagnoser(plan, self.log)
        request = self.request
        strict = StrictOrder(
            transactions, request.policy, diagnoser, first_log, request.enforcement
        )
        if pace.in_bulk:
            expected = self.statements.workload.statements
            row_loads = RowLoads(plan, self.log, self.statements.facts, expected)
            accepted, enforced = self.request.accepted, self.request.enforced
            independent = independent_changes(row_loads, accepted, enforced)
            return strict if independent is None else OrderInBulk(strict, independent)
        return strict

    def _begin(
        self, identity: Mapping[str, Any], inputs: list[dict[str, Any]]
    ) -> tuple[int, Route]:
        """Write where the target stands, this run and the units that it sets aside, in one
        transaction; the number of the run and its route. Raises Refusal (LR4007) when the target no
        longer stands where the plan began."""
        store = Store(self.session)
        store.make()
        with undone_where_it_fails(self.session):
            self.session.begin()
            return self._note_begin(store, identity, inputs)

    def _note_begin(
        self, store: Store, identity: Mapping[str, Any], inputs: list[dict[str, Any]]
    ) -> tuple[int, Route]:
        """What :meth:`_begin` does in its transaction. What the plan was made of is asked again
        under the position's lock, when nothing that others did can still be on its way."""
        route, tally = self.statements.route, self.statements.tally
        store.hold()
        stored, kept_aside = store.position(), frozenset(store.pending())
        pending = units_here(self.log, kept_aside)
        check_identity(stored, self.log.source, identity, self.session)
        refuse_moved(
            self.statements.stored, stored, route, pending - tally.quarantined_units.keys()
        )
        self._refuse_altered(self.session)
        self.session.durable()
        if stored is None:
            store.begin_at(self.log.source, identity, route.position)
        elif stored.position != route.position:
            store.move(stored.position, route.position, 0, 0, 0)
        program = f"logreplay {__version__}"
        direction = "forward" if route.forward else "backward"
        accepted = sorted(self.request.accepted)
        store.accept(accepted)
        kept = [*inputs, *([{"accepted": accepted}] if accepted else [])]
        before, after = self.statements.before, self.statements.after
        run = store.start_run(
            program, direction, kept, before, after, route.until, self._numbered()
        )
        rejected: frozenset[UnitPosition] = frozenset()
        if route.forward:
            quarantined = lasting(self.log, tally.quarantined_units)
            store.set_aside({unit: str(verdict) for unit, verdict in quarantined.items()}, run)
        else:
            rejected = frozenset(reject.position for reject in store.rejects())
        self.session.commit()
        return run, replace(route, pending=pending, rejected=rejected)

    def _numbered(self) -> tuple[tuple[str, str], ...]:
        """The tables of this run, by schema and name, that have sequences to be moved."""
        tables = target_tables(self.log, self.statements.plan, self.statements.tally)
        return tuple(place for place in tables if self.session.sequences(*place))

    @staticmethod
    def _move_sequences(session: Session) -> dict[str, int]:
        """Move the sequences behind the tables that were changed, also by runs that were
        interrupted before they could; those that were, and to where."""
        moved: dict[str, int] = {}
        for schema, table in Store(session).numbered():
            moved.update(session.move_sequences(schema, table))
        return moved

    def _fail(self, transactions: Transactions, error: LogReplayError, seconds: float) -> None:
        """Complete the line of history with what ended the run. When the database is gone, the line
        stays open, and status calls the run interrupted."""
        outcome = outcome_of(error)
        committed = transactions.committed
        with suppress(TargetError):
            Store(transactions.session()).end_run(
                transactions.run, outcome, committed.units, committed.statements, seconds
            )
