"""What LOGADDRs say about the rows between a start and its commit (section 6).

It is not published whether they rise within a transaction, nor what their parts mean, so a log is
asked for its own habit: where they rise from nearly every row to the next, one that does not is
damage; where the number at their beginning rises by one, rows are missing where it rises by more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from replay.arrays import Index
from replay.logs.soliddb.transactions import Joined, SolidTransactions

#: So many pairs of rows, with one exception and one more in so many, are a habit.
_MANY, _RARE = 12, 500


@dataclass(frozen=True)
class AddressFaults:
    """Rows whose address is not above that of the row before in their transaction (``falls``), and
    those before which rows of it are missing (``gaps``)."""

    falls: Index
    gaps: Index


def address_faults(rows: Joined, bounds: SolidTransactions) -> AddressFaults:
    """What is wrong with the addresses within transactions, where those of the log have a habit."""
    nothing = np.zeros(0, np.int64)
    inside = np.flatnonzero((bounds.unit >= 0) & ~rows.address_null)
    one, other = inside[:-1], inside[1:]
    same = bounds.unit[one] == bounds.unit[other]
    one, other = one[same], other[same]
    if len(one) < _MANY:
        return AddressFaults(nothing, nothing)
    before, after = rows.address[one], rows.address[other]
    different = before != after
    first = different.argmax(axis=1)
    at = np.arange(len(one))
    falls = ~different.any(axis=1) | (before[at, first] > after[at, first])
    allowed = 1 + len(one) // _RARE
    if int(falls.sum()) > allowed:
        return AddressFaults(nothing, nothing)
    start, end = (
        np.ascontiguousarray(each[:, :8]).view(">u8").reshape(-1).astype(np.uint64)
        for each in (before, after)
    )
    gaps = ~falls & (end - start != 1)
    if int(gaps.sum()) > allowed:
        gaps[:] = False
    return AddressFaults(other[falls], other[gaps])
