"""Whether the chains of a log have nothing unusual, in one walk along its records.

In most logs each record names the one before it in its transaction, nothing is missing, and all
positions are as far apart as the records between are long. Of such a log most that
:mod:`replay.logs.db2luw.chains` and :mod:`replay.logs.db2luw.units` find out by bringing together
what lies apart is known beforehand: no record is out of order, lost, or of another transaction, and
positions that the framing does not tell are places among the lengths. Of all others this says
nothing, and those modules do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from replay.arrays import Hashes, Mask, Records
from replay.decoding.machine_code import NUMBER, ArrayOf, Kernel, once_worth
from replay.logs.db2luw import chains, layouts, units
from replay.logs.db2luw.layouts import RecordKind
from replay.logs.long_arrays import LongArrays, windows

#: Bytes of records from which on machine code walks along them.
WORTH = 1 << 20
#: The table of open transactions has 2 ** so many places, of which half may be taken.
_BITS = 15
_FIELDS = (
    "length", "type", "kind", "flags", "tid", "lsn", "lfs", "lso", "previous", "part",
)  # fmt: skip
_KERNEL = Kernel(
    "replay.logs.db2luw.plain_chains_kernel",
    "go_along",
    (
        ArrayOf("uint8", fixed=True),
        NUMBER,
        ArrayOf("int64", fixed=True),
        ArrayOf("uint8", fixed=True),
        ArrayOf("uint8", fixed=True),
        ArrayOf("int64"),
        ArrayOf("int64"),
        NUMBER,
        ArrayOf("int64"),
    ),
    sources=(__name__,),
)
#: What the walk carries on: how long the records so far are; how far positions are from places (-1:
#: not known); LSN and flush sequence of the last record; which positions records have (lso, lsn and
#: lfs: 1, 2, 4), and their log stream (-1: there was none yet); how many transactions are open, and
#: how many records named one before them.
PLACE, BASE, LSN, LFS, FORM, STREAM, OPEN, NAMED = range(8)


@dataclass(frozen=True)
class PlainChains:
    """The chains of a log (``records``) with nothing unusual. Its positions are ``base`` bytes from
    places among the lengths; ``told``: the framing says them."""

    records: Records
    base: int
    told: bool

    #: Nothing is missing.
    holes: chains.Holes | None = None

    def positions(self, arrays: LongArrays) -> Hashes:
        """As :class:`replay.logs.db2luw.chains.Holes` has them."""
        if self.told:
            return units.positions(self.records, arrays)
        result, reached = arrays.zeros(len(self.records), np.uint64), self.base
        for part in windows(len(self.records)):
            whole = self.records["part"][part] == 0
            length = np.where(whole, self.records["length"][part], 0).astype(np.int64)
            behind = np.cumsum(length) + reached
            result[part] = np.where(whole, behind - length, 0)
            reached = int(behind[-1])
        return result

    def foreign(self, result: units.Units, arrays: LongArrays) -> Mask:
        """As :func:`units.foreign`: none."""
        return arrays.zeros(len(result.unit), bool)

    def lacking(self, result: units.Units, arrays: LongArrays) -> Mask:
        """As :func:`chains.lacking`: none."""
        return arrays.zeros(len(result.last), bool)

    def lost(self, records: Records, arrays: LongArrays) -> tuple[int, int]:
        """As :func:`units.lost`: none."""
        return 0, -1


def plain_chains(records: Records) -> PlainChains | None:
    """What is known of the chains of a log that have nothing unusual; None of others, and of logs
    for which that is not looked at. Bytes of positions are in their order."""
    go_along = once_worth(_KERNEL, records.nbytes, WORTH)
    if go_along is None or not records.flags.c_contiguous:
        return None
    places: Mapping[str, Any] = records.dtype.fields or {}
    fields = np.array([*(places[name][1] for name in _FIELDS), records.dtype.itemsize], np.int64)
    outside, ends = np.zeros(256, np.uint8), np.zeros(258, np.uint8)
    outside[list(layouts.OUTSIDE_TRANSACTIONS)] = 1
    ends[[RecordKind.COMMIT, RecordKind.ABORT]] = 1
    ends[256:] = RecordKind.COMPONENT, layouts.SINGULAR
    ids, begins = np.zeros((2, 1 << _BITS), np.int64)
    state = np.array([0, -1, -1, -1, -1, -1, 0, 0])
    for part in windows(len(records)):
        octets, count = records[part].view(np.uint8), part.stop - part.start
        if go_along(octets, count, fields, outside, ends, ids, begins, _BITS, state) < count:
            return None
    # with fewer, positions are not counted from lengths
    if not chains.holds_all(int(state[NAMED]), 0):
        return None
    told = int(state[FORM]) == 2 or bool(state[FORM] & 1)
    return PlainChains(records, int(state[BASE]), told)
