"""Which units of recovery were taken, one by one: of those that commit at or below a position, a
position alone does not tell.

Each run keeps 8 octets (a hash) of every unit that it took, with its commit position, and so many
of those before it that the newest :data:`KEPT` are known. What commits at or below ``since`` is not
known any more. So the size depends on the last run and not on how many there were. Where an id
names one unit for good, 8 octets of the id alone tell a unit whose commit position is damaged in
another copy of it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from replay.arrays import Hashes, Mask, Records
from replay.changes.envelope import compare
from replay.changes.position import UNIT_POSITION, UNIT_POSITION_FIELDS, UnitPosition
from replay.decoding.hashes import hash_rows

#: So many units of runs before the last one are known at least, if there were so many.
KEPT = 1 << 14
#: So many units of one run at most.
MOST = 1 << 18
_SIZE = UNIT_POSITION.itemsize


def hashes_of(units: Records) -> Hashes:
    """A hash of each unit with its commit position (:data:`UNIT_POSITION`)."""
    return hash_rows(np.ascontiguousarray(units).view(np.uint8).reshape(-1, _SIZE))


def _ids_of(units: Records) -> Hashes:
    """A hash of the id of each unit, and none where ids are numbers of one run (and left out)."""
    ids = np.ascontiguousarray(units.view(UNIT_POSITION_FIELDS)["unit"])
    octets = ids.view(np.uint8).reshape(-1, ids.itemsize)
    return hash_rows(octets) if octets.any() else np.zeros(0, np.uint64)


@dataclass(frozen=True)
class Pool:
    """Units of one run, as rising hashes. ``since`` and ``until``: of the units that commit behind
    the one and up to the other, the run took these and no others; at or below ``since``, these and
    maybe others. ``ids``: rising hashes of their ids alone (empty: not known); ``last``: the last
    of them."""

    since: UnitPosition
    hashes: Hashes
    until: UnitPosition | None = None
    ids: Hashes = field(default_factory=lambda: np.zeros(0, np.uint64))
    last: UnitPosition | None = None

    @classmethod
    def made_of(cls, since: UnitPosition, ordered: Records) -> Pool:
        """The pool of units (:data:`UNIT_POSITION`) in the order of their commits."""
        ids = np.sort(_ids_of(ordered))
        last = UnitPosition(ordered[-1].tobytes()) if len(ids) else None
        return cls(since, np.sort(hashes_of(ordered)), None, ids, last)

    @property
    def taken_ids(self) -> Hashes:
        """Hashes of ids of units that were taken, as far as that is known: a run that planned more
        than it took does not tell of which ones."""
        whole = self.until is None or (self.last is not None and self.last <= self.until)
        return self.ids if whole else self.ids[:0]

    def describe(self) -> dict[str, Any]:
        """As JSON-able data, without ``until``."""
        kept = {"since": self.since.hexadecimal, "units": _packed(self.hashes)}
        if self.last is not None:
            kept |= {"ids": _packed(self.ids), "last": self.last.hexadecimal}
        return kept

    @classmethod
    def of(cls, kept: Mapping[str, Any], until: UnitPosition | None = None) -> Pool:
        """The inverse of :meth:`describe`; an older version did not note ids."""
        ids = _unpacked(kept.get("ids", ""))
        last = UnitPosition.from_hex(kept["last"]) if "last" in kept else None
        since = UnitPosition.from_hex(kept["since"])
        return cls(since, _unpacked(kept["units"]), until, ids, last)


def _ordered(units: Records) -> Records:
    """Units (:data:`UNIT_POSITION`) in the order of their commits, each once. They are compared as
    words of their octets; those of buckets in their order need no sorting."""
    octets = np.zeros((len(units), -_SIZE % 8 + _SIZE), np.uint8)
    octets[:, :_SIZE] = np.ascontiguousarray(units).view(np.uint8).reshape(-1, _SIZE)
    words = np.ascontiguousarray(octets.view(">u8").T.astype(np.uint64))
    rows = np.arange(len(units))
    rising, same = np.zeros(len(units) - 1, bool), np.ones(len(units) - 1, bool)
    for word in words:
        rising |= same & (word[:-1] < word[1:])
        same &= word[:-1] == word[1:]
    if not (rising | same).all():
        rows = np.lexsort(words[::-1])
        words = words[:, rows]
        same = (words[:, :-1] == words[:, 1:]).all(axis=0)
    ordered: Records = np.ascontiguousarray(units)[rows[np.append(True, ~same)]]
    return ordered


def _packed(hashes: Hashes) -> str:
    return base64.b64encode(hashes.astype("<u8").tobytes()).decode()


def _unpacked(text: str) -> Hashes:
    return np.frombuffer(base64.b64decode(text), "<u8").astype(np.uint64)


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

    @property
    def knows_ids(self) -> bool:
        """Whether :meth:`moved` can find any."""
        return any(len(pool.taken_ids) for pool in self.pools)

    def moved(self, units: Records) -> Mask:
        """``bool[n]``: units with commit positions other than those at which units with their ids
        were taken, as far as that is known."""
        found = np.zeros(len(units), bool)
        if not len(units) or not self.knows_ids:
            return found
        ids, hashes = _ids_of(units), hashes_of(units)
        if not len(ids):
            return found
        for pool in self.pools:
            found |= np.isin(ids, pool.taken_ids)
        for pool in self.pools:
            found &= ~np.isin(hashes, pool.hashes)
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
        ordered = _ordered(units)
        gap = since
        if named_behind is not None:
            gap = max(gap, named_behind)
        if len(ordered) > MOST:
            gap = max(gap, UnitPosition(ordered[-MOST - 1].tobytes()))
        if gap > since:  # nothing is known of what lies before it
            return TakenUnits((Pool.made_of(gap, ordered[-MOST:]),))
        pools, count = [Pool.made_of(since, ordered)], 0
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
