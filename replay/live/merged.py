"""Merged mode: the net changes of a group come in as loads of whole tables, between them the
statements of changes that cannot be folded; all in the group's one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from replay.arrays import Index
from replay.live.ahead import made_ahead
from replay.live.net_changes import Folded, MakeLoad, NetChanges
from replay.live.route import UnitGroup
from replay.live.strict import StrictOrder
from replay.live.transactions import BadStatement, Transactions
from replay.output.steps import ScriptUnit
from replay.targets import Condition, Session, StatementCounts, StatementFailure
from sqlgen.staged_merge import Load, Unmergeable

#: Statements of one unit that are folded whatever the pace; beyond that, memory counts more than
#: speed.
LONGEST_UNIT = 200_000


class MergedChanges:
    """A strategy: applies groups as net changes, and in strict order (``strict``) what cannot be
    folded or does not fit as a whole."""

    def __init__(self, strict: StrictOrder, net_changes: NetChanges) -> None:
        self.strict, self.net_changes = strict, net_changes
        self.transactions = strict.transactions
        self.pace = self.transactions.pace
        self.prepares_ahead = True

    def prepare(self, group: UnitGroup) -> Callable[[], None]:
        """Fold the group's changes; what applies them."""
        folded = self._fold(group)
        if folded is None:
            return partial(self.strict.apply_in_order, group)
        return partial(self._apply, group, folded)

    def _fold(self, group: UnitGroup) -> Folded | None:
        committed = self.transactions.committed
        if group.statements > max(self.pace.merged_statements, LONGEST_UNIT):
            reason = f"a unit of {group.statements:,} statements is too long to be folded"
            committed.note_in_order(group, reason)
            return None
        try:
            script = self.transactions.scripts[group.units[0].script]
            return self.net_changes.fold(script, group.units.steps())
        except Unmergeable as reason:
            committed.note_in_order(group, str(reason))
            return None

    def _apply(self, group: UnitGroup, folded: Folded) -> None:
        committed, net = self.transactions.committed, 0

        def body(session: Session, group: UnitGroup) -> tuple[BadStatement | None, int]:
            nonlocal net
            bad, net = self._merge(session, group, folded)
            return bad, 0

        bad = self.transactions.apply(group, body, folded.loose)
        if bad is None:
            committed.folded += group.statements - len(folded.loose)
            committed.net += net
            return
        assert bad.failure is not None
        self.strict.end_where_cancelled(group, bad)
        committed.note_in_order(group, bad.failure.message)
        self.strict.apply_in_order(group)

    def _merge(
        self, session: Session, group: UnitGroup, folded: Folded
    ) -> tuple[BadStatement | None, int]:
        """Bring the net changes in, and run the loose statements between them. (Why that failed,
        the number of net changes.)"""
        bad, before = self._loads(session, folded.before)
        bad = bad or run_loose(self.transactions, session, group, folded.loose)
        if bad is not None:
            return bad, 0
        bad, after = self._loads(session, folded.after)
        return bad, before + after

    def _loads(
        self, session: Session, makers: Sequence[MakeLoad]
    ) -> tuple[BadStatement | None, int]:
        """Bring loads in, each while the next is made. (Why that failed, the net changes.)"""
        net = 0
        try:
            for load in made_ahead(makers):
                if load is not None:
                    bad = bring_in(session, load, load.merge, self.transactions.reached)
                    if bad is not None:
                        return bad, 0
                    net += load.count - load.kept
        except Unmergeable as reason:
            return _failed(Condition.OTHER, str(reason)), 0
        return None, net


def run_loose(
    transactions: Transactions, session: Session, group: UnitGroup, loose: Index
) -> BadStatement | None:
    """Run statements of a group's script by their steps; the first bad one."""
    number = group.units[0].script
    ends = np.flatnonzero(np.diff(loose, append=-1) != 1)
    starts = np.concatenate([[0], ends[:-1] + 1])
    for start, stop in (
        zip(loose[starts].tolist(), loose[ends].tolist(), strict=True) if len(loose) else ()
    ):
        steps = ScriptUnit(number, group.units[0].key, start, stop + 1)
        bad = transactions.run_steps(session, steps)
        if bad is not None:
            what = f"a statement touched {bad.count:,} rows"
            return bad if bad.failure else _failed(bad.condition, what)
    return None


def bring_in(
    session: Session, load: Load, merge: Sequence[str], reached: Callable[[str], None]
) -> BadStatement | None:
    """Bring the rows of one load in with some of its statements; why that failed, or that it
    touched more or fewer rows than there are."""
    result = session.run(f"{load.make};".encode()) if load.make else StatementCounts([])
    if result.failure is None:
        result = session.copy(load.copy, load.text)
        reached("rows copied")
    for statement in merge:
        if result.failure is None:
            result = session.run(f"{statement};".encode())
    if result.failure is not None:
        return BadStatement(None, result.failure.condition, result.failure)
    count = result.counts[0]
    if count == load.count:
        return None
    condition = Condition.NO_ROW if count < load.count else Condition.SEVERAL_ROWS
    table = f"{load.table.schema}.{load.table.name}"
    what = (
        f"the {load.op.value}s in {table} touched {count:,} rows; expected {load.count:,}"
        if load.count
        else f"{count:,} rows of {table} have keys that rows only pass through; expected none"
    )
    return _failed(condition, what)


def _failed(condition: Condition, what: str) -> BadStatement:
    return BadStatement(None, condition, StatementFailure(condition, "", what))
