"""One target transaction after another: statements of whole units of recovery, and the move of the
position row in the same transaction.

What was committed is therefore what the position says, wherever the client or the server is killed;
after any interruption the position is read again and the work goes on behind it. Every statement
must touch exactly one row (but for those that empty a table); a transaction in which one does not
is undone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from replay.errors import Refusal, TargetError
from replay.live.position_store import Store, TargetPosition
from replay.live.route import Route, UnitGroup
from replay.live.transaction_size import Pace
from replay.logs import LogFile
from replay.logs.files import check_unchanged
from replay.output.steps import Script, ScriptUnit
from replay.pipeline.positions import LastingNames
from replay.targets import (
    CommitRefused,
    Condition,
    ConnectionLost,
    Session,
    StatementCounts,
    StatementFailure,
    Transient,
    undone_where_it_fails,
)
from sqlgen.schema import Op

#: Text sent at once: large enough to make the round trip disappear, small enough for any memory.
BATCH_BYTES = 256 << 10


def nothing(_: str) -> None:
    """Where nobody watches."""


@dataclass
class Committed:
    """What this run has committed."""

    units: int = 0
    statements: int = 0
    rejected: int = 0
    retried: int = 0


#: What PostgreSQL, and MariaDB and MySQL, say of a statement that was cancelled (SQLSTATE).
_CANCELLED = frozenset({"57014", "70100"})


@dataclass(frozen=True)
class BadStatement:
    """The statement that did not do what it should (``step`` None: what cannot be laid to one, such
    as the check at the end of the unit). ``count``: the rows that it touched; ``script``: that of
    the step, where the statement is one of several units (None: not told)."""

    step: int | None
    condition: Condition
    failure: StatementFailure | None
    count: int = 0
    script: int | None = None

    @property
    def sqlstate(self) -> str:
        """That of the server's message; '' where the statement did not fail."""
        return "" if self.failure is None else self.failure.sqlstate

    @property
    def is_cancelled(self) -> bool:
        """Whether somebody, or a time limit, ended the statement."""
        return self.sqlstate in _CANCELLED

    def explained(self, op: Op, table: str) -> str:
        """What happened, in words."""
        if self.failure is not None:
            return f"the {op.value} in {table} failed: {self.failure}"
        return (
            f"the {op.value} in {table} touched {self.count:,} rows; expected exactly one"
            " (SQLSTATE 00000)"
        )


def first_bad(
    script: Script, start: int, stop: int, result: StatementCounts
) -> BadStatement | None:
    """The first of the statements ``start:stop`` that failed or did not touch exactly one row.
    Raises TargetError (LR4001) when the target answered more or fewer than were sent."""
    counts = np.array(result.counts, np.int64)
    done = start + len(counts)
    if done > stop or (result.failure is None and done != stop):
        raise TargetError(
            "LR4001",
            f"{stop - start} statements were sent and {len(counts)} answered",
            hint="This is a defect; report it",
        )
    wrong = np.flatnonzero((counts != 1) & script.counted(start, done))
    if len(wrong):
        count = int(counts[wrong[0]])
        condition = Condition.NO_ROW if count == 0 else Condition.SEVERAL_ROWS
        return BadStatement(start + int(wrong[0]), condition, None, count)
    if result.failure is None:
        return None
    return BadStatement(done, result.failure.condition, result.failure)


#: What a transaction does between its begin and the move of the position: the bad statement that
#: ends it, if any, and the number of changes that were not applied as the log says.
Body = Callable[[Session, UnitGroup], tuple[BadStatement | None, int]]


class Transactions:
    """Runs groups of units of ``scripts``, each in a transaction that also moves the position.

    ``connect`` opens a session that holds the lock, ``session`` is the first one; ``run`` is the
    number of the run; ``reached`` hears of every point where a kill is interesting. ``route`` and
    ``committed`` say where the run stands. ``log``: the log that is read while groups are applied
    (None: none is), which must stay as it was. ``names``: those of units that were set
    aside.
    """

    def __init__(
        self,
        connect: Callable[[], Session],
        scripts: Sequence[Script],
        route: Route,
        run: int,
        pace: Pace,
        names: LastingNames,
        reached: Callable[[str], None] = nothing,
        session: Session | None = None,
        log: LogFile | None = None,
    ) -> None:
        self.log, self._names = log, names
        self.connect, self.scripts, self.route, self.run = connect, scripts, route, run
        self.pace, self.reached = pace, reached
        self.committed = Committed()
        self._session = session
        self._base: TargetPosition | None = None
        #: The scripts of the last group, all of whose statements the session has prepared.
        self._prepared: Set[int] = frozenset()

    def session(self) -> Session:
        """The session in use, made where there is none."""
        if self._session is None:
            self._session = self.connect()
        return self._session

    def position(self) -> TargetPosition:
        """The position row of this run. Raises Refusal (LR4007) when it is gone or another run has
        begun since."""
        position = Store(self.session()).position()
        if position is None or position.run != self.run:
            at = "is gone" if position is None else f"belongs to run {position.run}"
            raise Refusal(
                "LR4007",
                f"the target's position {at}; expected that of run {self.run}",
                hint="Run replay again",
            )
        return position

    def begin(self) -> None:
        """Read where the target stands, once."""
        if self._base is None:
            self._base = self.position()

    def resume(self) -> None:
        """After a lost connection: connect again and go on behind what the position says. That may
        lie before what was believed to be committed, where the server does not wait for its
        disk."""
        self._prepared = frozenset()
        self.committed.retried += 1
        for attempt in self.pace.retrying(TargetError):
            with attempt:
                if self._session is not None:
                    self._session.close()
                self._session = None
                self._session = self.connect()
                store = Store(self._session)
                store.settle()
                position = self.position()
                pending = store.pending().keys()
        kept = self.route.pending & self._names.here(pending)
        self.route = replace(self.route, position=position.position, pending=kept)
        base = self._base = self._base or position
        self.committed.units = abs(position.units - base.units)
        self.committed.statements = abs(position.statements - base.statements)
        self.committed.rejected = position.rejected - base.rejected

    def apply(self, group: UnitGroup, body: Body) -> BadStatement | None:
        """Apply a group in a transaction, again after what passes by itself; the bad statement that
        undid it, if any."""
        try:
            return self._once(group, body)
        except Transient:
            self.committed.retried += 1
        return self.pace.retrying(Transient)(self._once, group, body)

    def run_steps(self, session: Session, units: ScriptUnit) -> BadStatement | None:
        """Run the statements of units that follow one another without a gap; the first bad one."""
        script = self.scripts[units.script]
        for start, stop in script.batches(units.start, units.stop, BATCH_BYTES):
            bad = first_bad(script, start, stop, session.run(script.slice(start, stop)))
            self.reached("batch run")
            if bad is not None:
                return replace(bad, script=units.script)
        return None

    def run_group(self, session: Session, group: UnitGroup) -> tuple[BadStatement | None, int]:
        """The plain body of a transaction: all statements of the group in order."""
        for units in group.units.runs():
            if (bad := self.run_steps(session, units)) is not None:
                return bad, 0
        return None, 0

    def close(self) -> None:
        """End the session in use."""
        if self._session is not None:
            self._session.close()

    def _once(self, group: UnitGroup, body: Body) -> BadStatement | None:
        session = self.session()
        with undone_where_it_fails(session):
            bad, rejected = self._transact(session, group, body)
        if bad is None:
            self.committed.units += len(group.units)
            self.committed.statements += group.statements
            self.committed.rejected += rejected
        return bad

    def _transact(
        self, session: Session, group: UnitGroup, body: Body
    ) -> tuple[BadStatement | None, int]:
        """Run a group and move the position; or, where a statement is bad, undo it all and say
        which."""
        store = Store(session)
        scripts = {number: self.scripts[number] for number in group.units.scripts}
        if not scripts.keys() <= self._prepared:
            shapes: dict[str, str] = {}
            for script in scripts.values():
                shapes |= script.shapes
            session.prepare(shapes)
            self._prepared = scripts.keys()
        session.begin()
        self.reached("begun")
        bad, rejected = body(session, group)
        self.reached("statements run")
        if bad is not None:
            session.rollback()
            return bad, 0
        failure = session.settle()
        if failure is not None:
            session.rollback()
            return BadStatement(None, failure.condition, failure), 0
        self._move(store, group, rejected)
        check_unchanged(self.log)
        self.reached("position moved")
        try:
            session.commit()
        except CommitRefused as refused:
            session.rollback()
            return BadStatement(None, refused.failure.condition, refused.failure), 0
        self.reached("committed")
        return None, rejected

    def _move(self, store: Store, group: UnitGroup, rejected: int) -> None:
        units, statements = len(group.units), group.statements
        if self.route.forward:
            store.arrived(self._names.ids(self.route.late(group.units)))
            store.move(group.before, group.after, units, statements, rejected)
            return
        forgotten = 0
        if self.route.rejected:
            rejected_here = (unit.key for unit in group.units if unit.key in self.route.rejected)
            forgotten = sum(map(store.forget_rejects, rejected_here))
        store.move(group.before, group.after, -units, -statements, rejected - forgotten)


# -- all of them, by a strategy
# -------------------------------------------------------------------------------------------------


class Strategy(Protocol):
    """How groups of units are applied."""

    def apply_each(self, groups: Iterable[UnitGroup]) -> Iterator[None]:
        """Apply groups, one whenever asked for the next. Raises TargetError (LR4006) with the first
        change that does not fit, ConnectionLost, and Transient when trying again did not help."""


def apply_all(
    transactions: Transactions,
    strategy: Strategy,
    progress: Callable[[int], None],
    finish: Callable[[Session], None],
) -> Committed:
    """Apply all groups of the route of ``transactions`` by a strategy; ``progress`` hears the
    statements committed so far. ``finish`` is done in the end, and again where the database
    interrupts it: after a lost connection, after what the server lost with it.

    Raises TargetError (LR4006) with the first change that does not fit, Refusal (LR4007) when
    somebody else moves the position, ConnectionLost or Transient when trying again did not help.
    What was committed before stays, and the position says so.
    """
    pace, committed = transactions.pace, transactions.committed
    losses, units_before = 0, -1
    while True:
        try:
            transactions.begin()
            groups = transactions.route.groups(transactions.scripts, pace)
            for _ in strategy.apply_each(groups):
                progress(committed.statements)
            pace.retrying(Transient)(finish, transactions.session())
        except ConnectionLost:
            losses = losses + 1 if committed.units == units_before else 1
            units_before = committed.units
            if losses >= pace.tries:
                raise
            transactions.resume()
        else:
            return committed
