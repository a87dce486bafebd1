"""How a replay cuts its units into transactions, and how long it tries again."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import tenacity

from replay.arrays import Index
from replay.changes.choices import ApplyMode as ApplyMode
from replay.errors import TargetError
from sqlgen.errors import settle_counts, settle_kinds

#: (units, statements) that end a transaction where nothing else is named. Rows that come in
#: together are worth it by the thousand of a table and operation; a large transaction holds its
#: locks longer.
USUAL = {ApplyMode.STRICT: (1000, 10_000), ApplyMode.BULK: (5000, 50_000)}


@dataclass(frozen=True)
class Pace:
    """How much goes into a transaction, and how long to try again.

    ``units`` or ``statements`` end a transaction, whichever comes first. ``tries`` in all, with
    waits that begin at ``wait`` seconds and double up to ``longest``.
    """

    units: int = USUAL[ApplyMode.STRICT][0]
    statements: int = USUAL[ApplyMode.STRICT][1]
    tries: int = 8
    wait: float = 0.2
    longest: float = 30.0
    mode: ApplyMode = ApplyMode.STRICT

    def __post_init__(self) -> None:
        settle_counts(
            self,
            units="--commit-every",
            statements="--commit-statements",
            tries="--tries",
        )
        settle_kinds(self)

    @property
    def in_bulk(self) -> bool:
        """Whether rows come in together where nothing can tell their order."""
        return self.mode is ApplyMode.BULK

    def retrying(self, *errors: type[TargetError]) -> tenacity.Retrying:
        """Calls again, or goes round again, after these errors; raises the last one in the end."""
        return tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(errors),
            stop=tenacity.stop_after_attempt(self.tries),
            wait=tenacity.wait_exponential(multiplier=self.wait, max=self.longest)
            + tenacity.wait_random(0, self.wait),
            reraise=True,
        )

    def unit_by_unit(self) -> Pace:
        """The pace of strict order, one unit a transaction."""
        return replace(self, mode=ApplyMode.STRICT, units=1)

    def stop(self, ends: Index, place: int, units: int, statements: int) -> int:
        """Where the part of a script's units ends that goes into a group which has some ``units``
        already, with so many ``statements``: at ``place``, where the group is full. ``ends`` are
        the numbers of statements up to each unit and with it."""
        before = int(ends[place - 1]) if place else 0
        if units >= self.units or statements >= self.statements:
            return place
        filling = int(np.searchsorted(ends, before + self.statements - statements))
        return min(place + self.units - units, filling + 1, len(ends))
