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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from replay.arrays import Hashes, Index, Mask, Records, one_of
from replay.logs.db2luw import layouts, units
from replay.logs.db2luw.layouts import RecordKind, RecordRole
from replay.logs.db2luw.units import Units
from replay.spill import Spill, windows, windows_back

_STREAM = np.uint64(48)
_FAR = np.iinfo(np.int64).max
_CHANGES = (RecordRole.INSERT, RecordRole.DELETE, RecordRole.UPDATE)
#: Pairs of records that are compared at most, and those that are compared together.
_PAIRS, _TOGETHER = 1 << 22, 1 << 18


@dataclass(frozen=True)
class Strays:
    """``suspects``: first records of units that fit the end of a unit that has none, or a gap in
    another one. ``contradicted`` (``bool[n]``): records that no sound log has: the first of a unit
    that names one before the end of the unit that had its transaction id before, and that end."""

    suspects: Index
    contradicted: Mask


def strays(records: Records, result: Units, position: Hashes, arrays: Spill) -> Strays:
    """What may be of another unit. ``position``: that of each record, 0 where it is not
    known."""
    nothing = np.zeros(0, np.int64)
    previous = records["previous"]
    contradicted = arrays.zeros(len(records), bool)
    heads = arrays.chosen(result.first, lambda rows: previous[rows].astype(np.int64) > 0)
    if not len(heads):
        return Strays(nothing, contradicted)
    bounds = _bounds(records, result.unit, position, arrays)
    # two records of two units that name the same one, where the framing does not tell whose it is
    shared = _named_among(
        records, heads, bounds, arrays,
        lambda part: (bounds.follower[part] >= 0) & (position[part] == 0),
    )  # fmt: skip
    placed = _named_among(records, heads, bounds, arrays, lambda part: bounds.known[part] > 0)
    loose = arrays.chosen(heads, lambda rows: ~placed[rows])
    _mark_begun_too_early(records, result, loose, bounds, contradicted)
    suspects = [arrays.chosen(heads, lambda rows: shared[rows])]
    # where a filter left records out, most units begin with one that names what is not there
    if not len(loose) or 2 * len(loose) > len(result.first):
        return Strays(suspects[0], contradicted)
    suspects += [
        _behind_open_units(records, result, loose, bounds, arrays),
        _within_units(records, result, loose, bounds, arrays),
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


def _bounds(records: Records, unit: Index, position: Hashes, arrays: Spill) -> _Bounds:
    previous, tid = records["previous"], records["tid"]
    rows = arrays.places(
        len(records),
        lambda part: (
            (records["part"][part] == 0)
            & ~one_of(records["type"][part], layouts.OUTSIDE_TRANSACTIONS)
        ),
    )
    known, low = (arrays.zeros(len(records), np.int64) for _ in range(2))
    follower = arrays.full(len(records), -1, np.int64)
    high = arrays.full(len(records), _FAR, np.int64)
    for part in windows(len(records)):
        known[part] = position[part].astype(np.int64)
    # a subtransaction has a chain of its own
    of_units = arrays.chosen(rows, lambda some: unit[some] >= 0)
    of_units = arrays.by(of_units, lambda some: tid[some])
    of_units = arrays.by(of_units, lambda some: np.asarray(unit[some]))
    last = of_units[:0]
    for part in windows(len(of_units)):
        mine = np.concatenate([last, of_units[part]])
        before, after = mine[:-1], mine[1:]
        named = previous[after].astype(np.int64)
        chained = (unit[before] == unit[after]) & (tid[before] == tid[after]) & (named > 0)
        follower[before[chained]] = after[chained]
        told = chained & (known[before] == 0)
        known[before[told]] = named[told]
        last = mine[-1:]
    reached: dict[int, int] = {}
    for part in windows(len(rows)):
        for stream, mine in _by_stream(records, rows[part]):
            named = previous[mine].astype(np.int64)
            named[0] = max(int(named[0]), reached.get(stream, int(named[0])))
            low[mine] = np.maximum.accumulate(named)
            reached[stream] = int(low[mine[-1]])
    reached.clear()
    for part in windows_back(len(rows)):
        for stream, mine in _by_stream(records, rows[part]):
            later = np.where(known[mine] > 0, known[mine], _FAR)
            later = np.append(later, reached.get(stream, _FAR))
            least = np.minimum.accumulate(later[::-1])[::-1]
            high[mine] = least[1:]
            reached[stream] = int(least[0])
    return _Bounds(known, follower, low, high)


def _by_stream(records: Records, rows: Index) -> Iterator[tuple[int, Index]]:
    """(log stream, those of some records that are of it)."""
    streams = records["tid"][rows] >> _STREAM
    for stream in np.unique(streams).tolist():
        yield stream, rows[streams == stream]


def _named_among(
    records: Records,
    heads: Index,
    bounds: _Bounds,
    arrays: Spill,
    those: Callable[[slice], Mask],
) -> Mask:
    """Of each record: whether it is one of ``heads`` and names a position that one of ``those`` of
    its log stream is known to have."""
    rows = arrays.places(len(records), those)
    result = arrays.zeros(len(records), bool)
    previous = records["previous"]
    for names, others in arrays.together(
        heads, lambda some: previous[some], rows, lambda some: bounds.known[some].astype(np.uint64)
    ):
        stream = records["tid"][others] >> _STREAM
        for each, mine in _by_stream(records, names):
            named = previous[mine].astype(np.int64)
            result[mine] = np.isin(named, bounds.known[others[stream == each]])
    return result


def _mark_begun_too_early(
    records: Records, result: Units, loose: Index, bounds: _Bounds, contradicted: Mask
) -> None:
    """First records that name one before the end of the unit that had their transaction id before,
    and those ends."""
    for part in windows(len(loose)):
        unit = result.unit[loose[part]]
        again = loose[part][result.again[unit] > 0]
        ends = result.last[result.unit[again] - 1]
        ended = one_of(records["kind"][ends], (RecordKind.COMMIT, RecordKind.ABORT))
        ended &= records["tid"][ends] == records["tid"][again]
        early = ended & (records["previous"][again].astype(np.int64) <= bounds.low[ends])
        contradicted[again[early]] = True
        contradicted[ends[early]] = True


def _behind_open_units(
    records: Records, result: Units, loose: Index, bounds: _Bounds, arrays: Spill
) -> Index:
    """Those of ``loose`` that may name the last record of a unit that has changes and no end."""
    holds = changing(records, result, arrays)
    open_ = arrays.places(
        len(holds), lambda part: (result.disposition[part] == ord("F")) & holds[part]
    )
    last = np.sort(_whole(records, result.last[open_]))
    # what is counted from lengths is not exact where a record of another stream lay between
    at = units.positions(records, arrays)[last].astype(np.int64)
    low, high = (
        np.where(at > 0, at - 1, bounds.low[last]), np.where(at > 0, at + 1, bounds.high[last])
    )  # fmt: skip
    fits = arrays.zeros(len(loose), bool)
    streams = records["tid"][last] >> _STREAM
    for stream in np.unique(streams).tolist():
        mine = np.flatnonzero(streams == stream)
        for part in windows(len(loose)):
            named = records["previous"][loose[part]].astype(np.int64)
            # both bounds rise along the log, so the units that a position fits lie side by side
            begin = np.searchsorted(high[mine], named, "right")
            end = np.searchsorted(low[mine], named, "left")
            first = last[mine[np.minimum(begin, len(mine) - 1)]]
            fits[part] |= (begin < end) & (first < loose[part])
    return arrays.collected((loose[part][fits[part]] for part in windows(len(loose))), np.int64)


def _within_units(
    records: Records, result: Units, loose: Index, bounds: _Bounds, arrays: Spill
) -> Index:
    """Those of ``loose`` that are the only record of their unit, a change or a compensation without
    an end, and may stand between two records of another unit."""

    def alone(rows: Index) -> Mask:
        unit = result.unit[rows]
        last = _whole(records, result.last[unit])
        open_ = (last == rows) & (result.disposition[unit] == ord("F"))
        return np.asarray(open_ & (records["kind"][rows] == RecordKind.COMPONENT))

    single = arrays.chosen(loose, alone)
    before = arrays.places(len(records), lambda part: bounds.follower[part] >= 0)
    if not len(single) or not len(before):
        return single[:0]
    before = arrays.by(before, lambda rows: bounds.known[rows])
    known = arrays.zeros(len(before), np.int64)
    for part in windows(len(before)):
        known[part] = bounds.known[before[part]]
    most = max(_PAIRS // len(single), 1)
    step = max(_TOGETHER // most, 1)
    found = (
        _fitting(records, single[start : start + step], before, known, bounds, most)
        for start in range(0, len(single), step)
    )
    return np.unique(np.concatenate(list(found)))


def _fitting(
    records: Records, single: Index, before: Index, known: Index, bounds: _Bounds, most: int
) -> Index:
    """Those of ``single`` that may stand between a record of ``before`` (by position, which is
    ``known``) and its follower; ``most``: how many are tried for each."""
    begin = np.searchsorted(known, bounds.low[single], "right")
    end = np.searchsorted(known, bounds.high[single], "left")
    count = np.minimum(np.maximum(end - begin, 0), most)
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


def changing(
    records: Records, result: Units, arrays: Spill, roles: Sequence[RecordRole] = _CHANGES
) -> Mask:
    """``bool[units]``: which change rows, as far as that was not taken back."""
    holds = arrays.zeros(len(result.first), bool)
    for part in windows(len(records)):
        rows = (result.unit[part] >= 0) & ~result.cancelled[part]
        rows &= one_of(records["role"][part], roles)
        holds[result.unit[part][rows]] = True
    return holds
