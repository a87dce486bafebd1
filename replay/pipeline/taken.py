"""Which units of recovery were taken, one by one: of those that commit at or below a position, a
position alone does not tell.

Each run keeps 8 octets (a hash) of every unit that it took, in the order of commits, and so many of
those before it that the newest :data:`KEPT` are known. What commits at or below ``since`` is not
known any more. So the size depends on the last run and not on how many there were.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from replay.arrays import Hashes, Mask, Records
from replay.changes.envelope import compare
from replay.changes.position import UNIT_POSITION, UnitPosition
from replay.decoding.hashes import hash_ranges

#: So many units of runs before the last one are known at least, if there were so many.
KEPT = 1 << 14
#: So many units of one run at most.
MOST = 1 << 18
_SIZE = UNIT_POSITION.itemsize


def hashes_of(units: Records) -> Hashes:
    """A hash of each unit with its commit position (:data:`UNIT_POSITION`)."""
    octets = np.ascontiguousarray(units).view(np.uint8).reshape(-1)
    start = np.arange(len(units), dtype=np.int64) * _SIZE
    return hash_ranges(octets, start, start + _SIZE)


@dataclass(frozen=True)
class Pool:
    """Units of one run, as rising hashes. ``since`` and ``until``: of the units that commit behind
    the one and up to the other, the run took these and no others; at or below ``since``, these and
    maybe others."""

    since: UnitPosition
    hashes: Hashes
    until: UnitPosition | None = None

    def describe(self) -> dict[str, Any]:
        """As JSON-able data, without ``until``."""
        packed = base64.b64encode(self.hashes.astype("<u8").tobytes()).decode()
        return {"since": self.since.hexadecimal, "units": packed}

    @classmethod
    def of(cls, kept: Mapping[str, Any], until: UnitPosition | None = None) -> Pool:
        """The inverse of :meth:`describe`."""
        hashes = np.frombuffer(base64.b64decode(kept["units"]), "<u8").astype(np.uint64)
        return cls(UnitPosition.from_hex(kept["since"]), hashes, until)


@dataclass(frozen=True)
class TakenUnits:
    """What runs took, the newest run first. Each pool begins where the next one ends, but for units
    that came late. Empty: nothing is known of units one by one."""

    pools: Sequence[Pool] = field(default_factory=tuple)

    @property
    def since(self) -> UnitPosition | None:
        """All units behind it that were taken are known; None: of none this is known."""
        return self.pools[-1].since if self.pools else None

    def known(self, units: Records) -> Mask:
        """``bool[n]``: units with their commit positions of which it is known whether they were
        taken."""
        if self.since is None or not len(units):
            return np.zeros(len(units), bool)
        octets = np.ascontiguousarray(units).view(np.uint8).reshape(-1, _SIZE)
        return np.asarray(compare(octets, self.since) > 0)

    def has(self, units: Records) -> Mask:
        """``bool[n]``: units with their commit positions that were taken, as far as it is known."""
        found = np.zeros(len(units), bool)
        if not len(units):
            return found
        hashes = hashes_of(units)
        octets = np.ascontiguousarray(units).view(np.uint8).reshape(-1, _SIZE)
        for pool in self.pools:
            there = np.isin(hashes, pool.hashes)
            if pool.until is not None:
                there &= compare(octets, pool.until) <= 0
            found |= there
        return found

    def and_then(
        self, units: Records, since: UnitPosition, named_behind: UnitPosition | None = None
    ) -> TakenUnits:
        """With the units (:data:`UNIT_POSITION`) of one more run, which took all behind ``since``;
        of the runs before it, as many as are kept. ``named_behind``: of the units that commit at or
        below it, some are not named here (:attr:`replay.pipeline.plan.Plan.named_behind`)."""
        if self.pools:  # others are known, or too long ago
            units = units[self.known(units) & ~self.has(units)]
        if not len(units):
            return self
        ordered = np.unique(units.view(f"S{_SIZE}")).astype(f"S{_SIZE}").view(UNIT_POSITION)
        gap = since
        if named_behind is not None:
            gap = max(gap, named_behind)
        if len(ordered) > MOST:
            gap = max(gap, UnitPosition(ordered[-MOST - 1].tobytes()))
        if gap > since:  # nothing is known of what lies before it
            return TakenUnits((Pool(gap, np.sort(hashes_of(ordered[-MOST:]))),))
        pools, count = [Pool(since, np.sort(hashes_of(ordered)))], 0
        for older in self.pools:
            if count >= KEPT:
                break
            pools.append(older)
            count += len(older.hashes)
        return TakenUnits(tuple(pools))

    def describe(self) -> list[dict[str, Any]]:
        """As JSON-able data."""
        return [pool.describe() for pool in self.pools]

    @classmethod
    def of(cls, kept: Iterable[Mapping[str, Any]]) -> TakenUnits:
        """The inverse of :meth:`describe`."""
        return cls(tuple(map(Pool.of, kept)))
