"""Carries the scripts of a replay out on a target, exactly once, however often the connection is
lost on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

from replay.live.ahead import made_ahead
from replay.live.pace import Pace
from replay.live.route import UnitGroup
from replay.live.transactions import Committed, Transactions
from replay.targets import ConnectionLost, Session, Transient


class Strategy(Protocol):
    """How groups of units are applied. Raises TargetError; :meth:`prepare` says which."""

    #: How units are grouped.
    pace: Pace
    #: Whether a group is prepared while the one before it is applied, in a thread of its own.
    prepares_ahead: bool

    def prepare(self, group: UnitGroup) -> Callable[[], None]:
        """Do what can be done without the target; what then applies the group. That raises
        TargetError (LR4006) with the first change that does not fit, ConnectionLost, and Transient
        when trying again did not help."""


class Applier:
    """Applies all groups of the route of ``transactions`` by a strategy."""

    def __init__(self, transactions: Transactions, strategy: Strategy) -> None:
        self.transactions, self.strategy = transactions, strategy

    def apply(
        self,
        progress: Callable[[int], None] = lambda _: None,
        finish: Callable[[Session], None] = lambda _: None,
    ) -> Committed:
        """Apply everything; ``progress`` hears the statements committed so far. ``finish`` is done
        in the end, and again where the database interrupts it: after a lost connection, after what
        the server lost with it.

        Raises TargetError (LR4006) with the first change that does not fit, Refusal (LR4007) when
        somebody else moves the position, ConnectionLost or Transient when trying again did not
        help. What was committed before stays, and the position says so.
        """
        transactions, pace = self.transactions, self.transactions.pace
        committed = transactions.committed
        losses, units_before = 0, -1
        while True:
            try:
                transactions.begin()
                for apply_group in self._prepared():
                    apply_group()
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

    def _prepared(self) -> Iterator[Callable[[], None]]:
        """What applies each of the groups that are left."""
        strategy, transactions = self.strategy, self.transactions
        groups = transactions.route.groups(transactions.scripts, strategy.pace)
        if not strategy.prepares_ahead:
            yield from map(strategy.prepare, groups)
            return
        yield from made_ahead(partial(strategy.prepare, group) for group in groups)
