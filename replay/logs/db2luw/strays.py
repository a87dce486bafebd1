"""Records that may be of another unit of recovery than their transaction id says, in logs whose
framing tells no positions (format notes, sections 3, 4 and 16).

A damaged transaction id, or number of a log stream, takes a record out of its unit: a commit out
of one that then seems to be in flight, a change out of one that is then written without it. Where
positions are known, the predecessor that the record names gives that away. Where they are not, what
the records around name of each other still bounds the position of each: it lies behind all that
records up to it name, and before all that is named of later ones. Between these bounds there is
room for few others, so a record that names nothing known, and fits a unit without an end, is
suspicious.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from replay.arrays import Hashes, Index, Mask, Records
from replay.logs.db2luw import layouts
from replay.logs.db2luw.layouts import RecordKind, RecordRole
from replay.logs.db2luw.units import Units, positions

_STREAM = np.uint64(48)
_FAR = np.iinfo(np.int64).max
_CHANGES = (RecordRole.INSERT, RecordRole.DELETE, RecordRole.UPDATE)
#: Pairs of records that are compared at most.
_PAIRS = 1 << 22


@dataclass(frozen=True)
class Strays:
    """``suspects``: first records of units that fit the end of a unit that has none, or a gap in
    another one. ``contradicted`` (``bool[n]``): records that no sound log has: the first of a unit
    that names one before the end of the unit that had its transaction id before, and that end."""

    suspects: Index
    contradicted: Mask


def strays(records: Records, result: Units, position: Hashes) -> Strays:
    """What may be of another unit. ``position``: of each record, 0 where it is not known."""
    nothing = Strays(np.zeros(0, np.int64), np.zeros(len(records), bool))
    if not len(result.first):
        return nothing
    previous = records["previous"].astype(np.int64)
    heads = result.first[previous[result.first] > 0]
    if not len(heads):
        return nothing
    bounds = _bounds(records, result.unit, position)
    # two records of two units that name the same one, where the framing does not tell whose it is
    followed = np.flatnonzero((bounds.follower >= 0) & (position == 0))
    shared = heads[_named_among(records, heads, bounds, followed)]
    placed = np.flatnonzero(bounds.known > 0)
    loose = heads[~_named_among(records, heads, bounds, placed)]
    contradicted = nothing.contradicted
    contradicted[_begun_too_early(records, result, loose, bounds)] = True
    # where a filter left records out, most units begin with one that names what is not there
    if not len(loose) or 2 * len(loose) > len(result.first):
        return Strays(shared, contradicted)
    suspects = [
        shared,
        _behind_open_units(records, result, loose, bounds),
        _within_units(records, result, loose, bounds),
    ]
    return Strays(np.unique(np.concatenate(suspects)), contradicted)


@dataclass(frozen=True)
class _Bounds:
    """Of each record: its position as far as it is ``known`` (0: not), by the framing or by the
    next record of its unit, which is ``follower`` (-1: none); and what it lies between, ``low`` and
    ``high``, that knowledge of itself left out."""

    known: Index
    follower: Index
    low: Index
    high: Index


def _bounds(records: Records, unit: Index, position: Hashes) -> _Bounds:
    rows = np.flatnonzero(
        (records["part"] == 0) & ~np.isin(records["type"], layouts.OUTSIDE_TRANSACTIONS)
    )
    previous = records["previous"].astype(np.int64)
    of_units = rows[unit[rows] >= 0]
    tid = records["tid"]  # a subtransaction has a chain of its own
    of_units = of_units[np.lexsort((tid[of_units], unit[of_units]))]
    before, after = of_units[:-1], of_units[1:]
    chained = (unit[before] == unit[after]) & (tid[before] == tid[after]) & (previous[after] > 0)
    follower = np.full(len(records), -1, np.int64)
    follower[before[chained]] = after[chained]
    known = position.astype(np.int64)
    told = before[chained][known[before[chained]] == 0]
    known[told] = previous[follower[told]]
    low, high = np.zeros(len(records), np.int64), np.full(len(records), _FAR)
    streams = records["tid"][rows] >> _STREAM
    for stream in np.unique(streams).tolist():
        mine = rows[streams == stream]
        low[mine] = np.maximum.accumulate(previous[mine])
        later = np.where(known[mine] > 0, known[mine], _FAR)
        high[mine[:-1]] = np.minimum.accumulate(later[::-1])[::-1][1:]
    return _Bounds(known, follower, low, high)


def _named_among(records: Records, heads: Index, bounds: _Bounds, rows: Index) -> Mask:
    """Whether ``heads`` name a position that one of ``rows`` of their log stream is known to
    have."""
    stream, named = records["tid"] >> _STREAM, records["previous"].astype(np.int64)
    result = np.zeros(len(heads), bool)
    for each in np.unique(stream[heads]).tolist():
        mine = stream[heads] == each
        result[mine] = np.isin(named[heads[mine]], bounds.known[rows[stream[rows] == each]])
    return result


def _begun_too_early(records: Records, result: Units, loose: Index, bounds: _Bounds) -> Index:
    """First records that name one before the end of the unit that had their transaction id before,
    and those ends."""
    unit = result.unit[loose]
    again = loose[result.again[unit] > 0]
    ends = result.last[result.unit[again] - 1]
    ended = np.isin(records["kind"][ends], (RecordKind.COMMIT, RecordKind.ABORT))
    ended &= records["tid"][ends] == records["tid"][again]
    early = ended & (records["previous"][again].astype(np.int64) <= bounds.low[ends])
    return np.concatenate([again[early], ends[early]])


def _behind_open_units(records: Records, result: Units, loose: Index, bounds: _Bounds) -> Index:
    """Those of ``loose`` that may name the last record of a unit that has changes and no end."""
    open_ = np.flatnonzero((result.disposition == ord("F")) & _changing(records, result))
    last = np.sort(_whole(records, result.last[open_]))
    # what is counted from lengths is not exact where a record of another stream lay between
    at = positions(records).astype(np.int64)
    low, high = (np.where(at > 0, at - 1, bounds.low), np.where(at > 0, at + 1, bounds.high))
    named = records["previous"][loose].astype(np.int64)
    fits = np.zeros(len(loose), bool)
    streams = records["tid"][last] >> _STREAM
    for stream in np.unique(streams).tolist():
        mine = last[streams == stream]
        # both bounds rise along the log, so the units that a position fits lie side by side
        begin = np.searchsorted(high[mine], named, "right")
        end = np.searchsorted(low[mine], named, "left")
        fits |= (begin < end) & (mine[np.minimum(begin, len(mine) - 1)] < loose)
    return loose[fits]


def _within_units(records: Records, result: Units, loose: Index, bounds: _Bounds) -> Index:
    """Those of ``loose`` that are the only record of their unit, a change or a compensation without
    an end, and may stand between two records of another unit."""
    unit = result.unit[loose]
    alone = (_whole(records, result.last[unit]) == loose) & (result.disposition[unit] == ord("F"))
    alone &= records["kind"][loose] == RecordKind.COMPONENT
    single: Index = loose[alone]
    before = np.flatnonzero(bounds.follower >= 0)
    before = before[np.argsort(bounds.known[before], kind="stable")]
    if not len(single) or not len(before):
        return single[:0]
    begin = np.searchsorted(bounds.known[before], bounds.low[single], "right")
    end = np.searchsorted(bounds.known[before], bounds.high[single], "left")
    count = np.minimum(np.maximum(end - begin, 0), max(_PAIRS // len(single), 1))
    of = np.repeat(np.arange(len(single)), count)
    place = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
    here, earlier = single[of], before[begin[of] + place]
    named = records["previous"][here].astype(np.int64)
    fits = (earlier < here) & (bounds.follower[earlier] > here)
    fits &= (bounds.low[earlier] < named) & (named < bounds.high[earlier])
    return np.asarray(np.unique(here[fits]))


def _whole(records: Records, rows: Index) -> Index:
    """The records that ``rows`` are of: one of many rows has an entry for each."""
    return np.asarray(rows - records["part"][rows], np.int64)


def _changing(records: Records, result: Units) -> Mask:
    """Units that change rows, as far as that was not taken back."""
    rows = (result.unit >= 0) & ~result.cancelled & np.isin(records["role"], _CHANGES)
    return np.asarray(np.bincount(result.unit[rows], minlength=len(result.first)) > 0)
