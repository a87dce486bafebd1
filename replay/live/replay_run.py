"""Carries out a replay that was planned, as a line of the target's history; what is told of it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from replay.changes.balance import Tally, balance_text
from replay.changes.position import UnitId, UnitPosition
from replay.changes.selection import AFTER_RANGE, BEFORE_RANGE
from replay.errors import EXIT_OK, EXIT_WARNING, LogReplayError, TargetError, counted
from replay.live.bulk import OrderInBulk, RowLoads, independent_changes
from replay.live.diagnosis import Diagnoser
from replay.live.position_store import Run, Store, TargetPosition, outcome_of
from replay.live.preflight import (
    Facts,
    changed_versions,
    check_identity,
    refuse_altered,
    refuse_moved,
)
from replay.live.replay_request import ReplayRequest
from replay.live.route import Route, Workload
from replay.live.strict import StrictOrder
from replay.live.target_transactions import Committed, Strategy, Transactions, apply_all
from replay.live.transaction_size import Pace
from replay.logs import LogFile
from replay.output.bundle import changes_by_table
from replay.output.steps import Script
from replay.pipeline.plan import Plan
from replay.pipeline.positions import LastingNames, LogPosition
from replay.targets import (
    ConnectionLost,
    Session,
    Target,
    Transient,
    undone_where_it_fails,
)
from replay.version import __version__

#: Statements a second where the target has no history yet: those of a database on the same machine,
#: by dialect; and of one that was not measured.
_USUAL_RATES = {
    "postgres": 50_000,
    "sqlite": 100_000,
    "duckdb": 2_000,
    "mariadb": 8_000,
    "mysql": 8_000,
}
_UNMEASURED = 1_000
#: A run of fewer statements says nothing about the speed of the target.
_TELLING_RUN = 1000
#: Lines of one kind; the rest is counted.
LINES = 20


def plan_lines(
    log: LogFile, url: str, route: Route, workload: Workload, tally: Tally, pace: Pace
) -> Iterator[str]:
    """What is to be done. ``url`` is the target without what must stay secret."""
    yield f"Replay of {log.source} into {url}"
    yield f"Direction: {route}"
    verb = "applied" if route.forward else "undone"
    if workload.units:
        yield (
            f"{counted(workload.units, 'unit')} of recovery with"
            f" {counted(workload.statements, 'statement')} to be {verb}:"
        )
    else:
        yield f"Nothing is to be {verb}"
    tables = changes_by_table(log, workload.changes)
    width = max([len(name) for name in tables] or [0])
    for name, counts in tables.items():
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in counts.items())
        yield f"  {name:<{width}}  {kinds}"
    yield _balance(log, route, workload, tally)
    for unit, reason in islice(tally.quarantined_units.items(), LINES):
        yield f"quarantined: unit {UnitId(unit)}: {reason}"
    if len(tally.quarantined_units) > LINES:
        yield f"… {len(tally.quarantined_units) - LINES} more units quarantined"
    yield from map(str, tally.findings[:LINES])
    if pace.in_bulk:
        yield (
            "Mode bulk: the changes of a transaction whose order nothing can tell come in together,"
            " before the others"
        )


def _balance(log: LogFile, route: Route, workload: Workload, tally: Tally) -> str:
    """The balance sheet of a route, which begins and ends at positions that no user gave: what is
    left out because of them, and what became statements and is not on it."""
    if route.forward:
        before, after, beside = "in the target already", AFTER_RANGE, "in the target already"
    else:
        before, after, beside = "stays in the target", "not in the target", "not in the target"
    said = {log.in_words(BEFORE_RANGE): before, log.in_words(AFTER_RANGE): after}
    skipped: Counter[str] = Counter()
    for reason, count in tally.skipped.items():
        skipped[said.get(reason, reason)] += count
    note = ""
    if workload.beside:
        one = workload.statements_beside == 1
        note = (
            f", of which {counted(workload.statements_beside, 'statement')} in"
            f" {counted(workload.beside, 'unit')} {'is' if one else 'are'} {beside}"
        )
    return balance_text(replace(tally, skipped=skipped), note=note)


def estimate(dialect: str, statements: int, runs: Sequence[Run], seconds: float) -> str:
    """How long applying will take, after the latest of ``runs`` that tells; the statements were
    made in ``seconds``."""
    rates = [
        run.statements / run.seconds
        for run in runs
        if run.statements and run.seconds and run.statements >= _TELLING_RUN
    ]
    rate = rates[0] if rates else _USUAL_RATES.get(dialect, _UNMEASURED)
    source = "as in the last run" if rates else "as usual on one machine"
    return (
        f"Estimated time: {statements / rate:.1f} s at {rate:,.0f} statements a second, {source};"
        f" the statements were made in {seconds:.1f} s"
    )


def report_lines(
    committed: Committed,
    forward: bool,
    pace: Pace,
    loaded: int,
    sequences: Mapping[str, int],
    position: UnitPosition,
    seconds: float,
) -> Iterator[str]:
    """What was done. ``loaded``: the changes that came in together; ``sequences``: those that were
    moved, and to where."""
    verb = "applied" if forward else "undone"
    if committed.units:
        yield (
            f"{counted(committed.units, 'unit')} and"
            f" {counted(committed.statements, 'statement')} {verb} in {seconds:.1f} s"
            f" ({committed.statements / max(seconds, 1e-9):,.0f} a second)"
        )
    else:
        yield f"Nothing was {verb}"
    if pace.in_bulk:
        yield f"{counted(loaded, 'change')} came in together, the others one by one"
    for name, value in sequences.items():
        yield f"moved sequence {name} to {value}"
    if committed.rejected:
        yield (
            f"{counted(committed.rejected, 'change was', 'changes were')} not applied as the log"
            " says; status --rejects F.sql writes them as a script, with the reasons"
        )
    if committed.retried:
        yield f"{counted(committed.retried, 'transaction was', 'transactions were')} tried again"
    yield f"The target stands at {position}"


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
            LastingNames(self.log),
            self.request.reached,
            self.session,
            # in strict order all statements were made before
            self.log if pace.in_bulk else None,
        )
        strategy = self._strategy(transactions)
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
            committed = apply_all(
                transactions, strategy, lambda count: progress("applying", count, total), finish
            )
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
            row_loads = RowLoads(plan, self.log, self.statements.facts)
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
        pending = LastingNames(self.log).here(kept_aside)
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
            quarantined = LastingNames(self.log).of(tally.quarantined_units)
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
