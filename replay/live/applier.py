"""Carries the scripts of a replay out on a target, exactly once, however often the connection is
lost on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Protocol, TypeVar

from replay.live.route import UnitGroup
from replay.live.target_transactions import Committed, Transactions
from replay.live.transaction_size import Pace
from replay.targets import ConnectionLost, Session, Transient

Made = TypeVar("Made")


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
            groups = transactions.route.groups(transactions.scripts, strategy.pace)
            prepared: Iterator[Callable[[], None]] = map(strategy.prepare, groups)
            if strategy.prepares_ahead:
                prepared = made_ahead(partial(strategy.prepare, group) for group in groups)
            for apply_group in prepared:
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


def made_ahead(calls: Iterable[Callable[[], Made]]) -> Iterator[Made]:
    """What the calls give, in their order. While the taker is busy with one, the next is made in a
    thread of its own. Raises what a call raises where its turn is."""
    with ThreadPoolExecutor(1) as pool:
        waiting: Future[Made] | None = None
        for call in calls:
            following = pool.submit(call)
            if waiting is not None:
                yield waiting.result()
            waiting = following
        if waiting is not None:
            yield waiting.result()
