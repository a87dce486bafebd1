"""What LOGADDRs say about the rows between a start and its commit (section 6).

It is not published whether they rise within a transaction, nor what their parts mean, so a log is
asked for its own habit: where they rise from nearly every row to the next, one that does not is
damage; where the number at their beginning rises by one, rows are missing where it rises by more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from replay.arrays import Index
from replay.logs.soliddb.joined_rows import Joined
from replay.logs.soliddb.transactions import SolidTransactions
from replay.spill import windows

#: So many pairs of rows, with one exception and one more in so many, are a habit.
_MANY, _RARE = 12, 500


@dataclass(frozen=True)
class AddressFaults:
    """Rows whose address is not above that of the row before in their transaction (``falls``), and
    those before which rows of it are missing (``gaps``), of so many ``pairs`` of rows."""

    pairs: int
    falls: Index
    gaps: Index

    @property
    def rises(self) -> bool:
        """Whether one that does not rise is damage."""
        return self.pairs >= _MANY and len(self.falls) <= 1 + self.pairs // _RARE

    @property
    def counts(self) -> bool:
        """Whether one that leaves out numbers says that rows are missing."""
        return self.rises and len(self.gaps) <= 1 + self.pairs // _RARE


def address_faults(rows: Joined, bounds: SolidTransactions) -> AddressFaults:
    """Where the addresses within transactions do not go on as those of most logs do."""
    last = np.zeros(0, np.int64)
    falls, gaps = rows.arrays.growing(np.int64), rows.arrays.growing(np.int64)
    pairs = 0
    for part in windows(len(rows)):
        inside = (bounds.unit[part] >= 0) & ~rows.address_null[part]
        mine = np.concatenate([last, np.flatnonzero(inside) + part.start])
        one, other = mine[:-1], mine[1:]
        same = bounds.unit[one] == bounds.unit[other]
        one, other = one[same], other[same]
        pairs, last = pairs + len(one), mine[-1:]
        if not len(one):
            continue
        before, after = rows.address[one], rows.address[other]
        different = before != after
        first = different.argmax(axis=1)
        at = np.arange(len(one))
        fallen = ~different.any(axis=1) | (before[at, first] > after[at, first])
        start, end = (
            np.ascontiguousarray(each[:, :8]).view(">u8").reshape(-1).astype(np.uint64)
            for each in (before, after)
        )
        falls.add(other[fallen])
        gaps.add(other[~fallen & (end - start != 1)])
    return AddressFaults(pairs, falls.array(), gaps.array())
