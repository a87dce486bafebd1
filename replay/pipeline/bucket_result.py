"""What became of the changes of a bucket: the files that were written, a tally, and the units that
were seen, which are compared with those of other buckets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from replay.arrays import Records
from replay.changes.balance import Tally
from replay.changes.envelope import octets
from replay.changes.position import (
    UNIT_POSITION,
    UNIT_POSITION_FIELDS,
    Position,
    UnitId,
    commit_of,
    unit_of,
)
from replay.decoding.hashes import unit_hash


@dataclass(frozen=True)
class WrittenFile:
    """A file of the output: its path within the folder, its bytes and their SHA-256, and the number
    of changes in it."""

    name: str
    size: int
    sha256: str
    changes: int


@dataclass(frozen=True)
class BucketResult:
    """What became of one bucket: its files, the tally, and the commit position and id of every unit
    seen (:data:`replay.changes.position.UNIT_POSITION`), for the check that no unit has two commit
    positions."""

    files: tuple[WrittenFile, ...]
    tally: Tally
    units: Records

    def commits(self) -> Iterator[tuple[Position, UnitId]]:
        """(commit position, unit) of every unit seen."""
        return ((commit_of(row), unit_of(row)) for row in self.units.view(UNIT_POSITION_FIELDS))


def contradictory_units(columns: Iterable[Records]) -> frozenset[UnitId]:
    """Units that occur with more than one commit position in columns of
    :data:`replay.changes.position.UNIT_POSITION`: at least one of their records is damaged."""
    seen = np.concatenate([np.zeros(0, UNIT_POSITION), *columns])
    units = np.ascontiguousarray(seen.view(UNIT_POSITION_FIELDS)["unit"])
    hashes = unit_hash(octets(units))
    several = np.sort(hashes)
    several = several[1:][several[1:] == several[:-1]]
    if not len(several):
        return frozenset()
    values, counts = np.unique(units[np.isin(hashes, several)], return_counts=True)
    return frozenset(UnitId(value.tobytes()) for value in values[counts > 1])
