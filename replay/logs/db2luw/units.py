"""Units of recovery: which records belong together, how each unit ended, and which changes
compensation records took back (section 16).

A unit is the records of one transaction id up to the record that ends it. There is no begin record.
Everything here is arrays over the scanned records of the whole log, in file order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from replay.arrays import Bytes, Hashes, Index, Mask, Records
from replay.logs.db2luw import layouts
from replay.logs.db2luw.layouts import RecordKind, RecordRole

#: What compensation roles take back, and the class in which the two are matched.
_TAKES_BACK = {
    RecordRole.UNDO_INSERT: (RecordRole.INSERT, 1), RecordRole.UNDO_DELETE: (RecordRole.DELETE, 2),
    RecordRole.UNDO_UPDATE: (RecordRole.UPDATE, 3),
    RecordRole.UNDO_ADD_COLUMNS: (RecordRole.ADD_COLUMNS, 4),
    RecordRole.UNDO_CREATE: (RecordRole.CREATE, 5),
    RecordRole.UNDO_DROP: (RecordRole.DROP, 6),
}  # fmt: skip
_CLASS = np.zeros(32, np.int64)
_UNDOES = np.zeros(32, bool)
for _undo, (_role, _class) in _TAKES_BACK.items():
    _CLASS[_undo] = _CLASS[_role] = _class
    _UNDOES[_undo] = True
_ROW_ROLES = (RecordRole.INSERT, RecordRole.DELETE, RecordRole.UPDATE)


@dataclass(frozen=True)
class Units:
    """``unit`` numbers the unit of each record (-1: none). Per unit: ``last`` its last record,
    ``disposition`` (ASCII C, A, P or F), ``tid`` and ``again`` (how many units with this id came
    before). ``cancelled`` marks changes that were taken back, ``unmatched`` compensation records
    that take back nothing that is in the log."""

    unit: Index
    first: Index
    last: Index
    disposition: Bytes
    tid: Hashes
    again: Index
    cancelled: Mask
    unmatched: Mask


def resolve(records: Records, tids: Hashes, splits_at_start: bool) -> Units:
    """Group records into units and match compensations. ``tids`` is the transaction of each record,
    subtransactions already given to their parents; ``splits_at_start``: a change without a previous
    record begins a unit, whatever came before.
    """
    kind = records["kind"]
    relevant = np.flatnonzero(
        np.isin(
            kind, (RecordKind.COMPONENT, RecordKind.COMMIT, RecordKind.ABORT, RecordKind.PREPARE)
        )
    )
    order = relevant[np.argsort(tids[relevant], kind="stable")]
    ordered_tid, ordered_kind = tids[order], kind[order]
    component = ordered_kind == RecordKind.COMPONENT
    singular = component & ((records["flags"][order] & layouts.SINGULAR) > 0)
    ends = np.isin(ordered_kind, (RecordKind.COMMIT, RecordKind.ABORT)) | singular
    starts = np.ones(len(order), bool)
    starts[1:] = (ordered_tid[1:] != ordered_tid[:-1]) | ends[:-1]
    if splits_at_start:
        # the entries of one record of many rows share its header, and belong together
        starts |= (
            component
            & (records["previous"][order] == 0)
            & (records["part"][order] == 0)
            & (np.arange(len(order)) > 0)
        )
    number = np.cumsum(starts) - 1
    unit = np.full(len(records), -1, np.int64)
    unit[order] = number
    first = np.flatnonzero(starts)
    last = np.append(first[1:], len(order))[: len(first)] - 1
    committed = (
        (ordered_kind[last] == RecordKind.COMMIT) | singular[last]
        if len(first)
        else np.zeros(0, bool)
    )
    aborted = ordered_kind[last] == RecordKind.ABORT if len(first) else committed
    prepared = (
        np.logical_or.reduceat(ordered_kind == RecordKind.PREPARE, first)
        if len(first)
        else committed
    )
    tid = ordered_tid[first]
    same = np.zeros(len(first), bool)
    same[1:] = tid[1:] == tid[:-1]
    begins = np.flatnonzero(~same)
    again = np.arange(len(first)) - np.repeat(begins, np.diff(np.append(begins, len(first))))
    cancelled, unmatched = _compensations(records, unit)
    rolled_back = _all_taken_back(records, unit, len(first), cancelled)
    disposition = np.select(
        [committed, aborted, prepared, rolled_back],
        [ord("C"), ord("A"), ord("P"), ord("A")],
        ord("F"),
    ).astype(np.uint8)
    return Units(unit, order[first], order[last], disposition, tid, again, cancelled, unmatched)


def _all_taken_back(records: Records, unit: Index, units: int, cancelled: Mask) -> Mask:
    """Units that have changes and took all of them back: rolled back, with or without a record that
    says so."""
    rows = (unit >= 0) & np.isin(records["role"], _ROW_ROLES)
    changes = np.bincount(unit[rows], minlength=units)
    gone = np.bincount(unit[rows & cancelled], minlength=units)
    return np.asarray((changes > 0) & (changes == gone))


def _compensations(records: Records, unit: Index) -> tuple[Mask, Mask]:
    """(changes taken back, compensations of nothing)."""
    cancelled, unmatched = np.zeros(len(records), bool), np.zeros(len(records), bool)
    role = records["role"]
    undo = np.flatnonzero(_UNDOES[role] & (unit >= 0))
    if not len(undo):
        return cancelled, unmatched
    concerned = np.zeros(int(unit.max()) + 1, bool)
    concerned[unit[undo]] = True
    change = np.flatnonzero((_CLASS[role] > 0) & ~_UNDOES[role] & (unit >= 0))
    change = change[concerned[unit[change]]]
    left = _by_position(records, unit, change, undo, cancelled)
    change = change[~cancelled[change]]
    unmatched[_by_nesting(records, unit, change, left, cancelled)] = True
    return cancelled, unmatched


def _same(records: Records, unit: Index, one: Index, other: Index) -> Mask:
    same: Mask = (unit[one] == unit[other]) & (
        _CLASS[records["role"][one]] == _CLASS[records["role"][other]]
    )
    for name in ("space", "table"):
        same &= records[name][one] == records[name][other]
    return same


def _by_position(
    records: Records, unit: Index, change: Index, undo: Index, cancelled: Mask
) -> Index:
    """Cancel the changes that compensation records name by position, where the framing tells the
    positions; the compensations left over."""
    position = records["lso"] if records["lso"].any() else records["lsn"]
    named = undo[(records["compensated"][undo] > 0) & (records["part"][undo] == 0)]
    single = change[position[change] > 0]
    if not len(named) or not len(single):
        return undo
    by_position = single[np.argsort(position[single], kind="stable")]
    place = np.searchsorted(position[by_position], records["compensated"][named])
    target = by_position[np.minimum(place, len(by_position) - 1)]
    hit = (
        (position[target] == records["compensated"][named])
        & _same(records, unit, named, target)
        & (target < named)
    )
    hit &= (records["rid"][target] == records["rid"][named]) | (_CLASS[records["role"][named]] > 3)
    _, first = np.unique(target[hit], return_index=True)
    used = np.flatnonzero(hit)[first]
    cancelled[target[used]] = True
    return np.setdiff1d(undo, named[used], assume_unique=True)


def _by_nesting(
    records: Records, unit: Index, change: Index, undo: Index, cancelled: Mask
) -> Index:
    """Cancel, for each compensation, the newest change of the same unit, table, row and kind that
    is not cancelled yet: changes and compensations of a group match like brackets. Returns the
    compensations without a change."""
    rows = np.sort(np.concatenate([change, undo]))
    if not len(undo):
        return undo
    row_class = _CLASS[records["role"][rows]]
    rid = np.where(row_class > 3, 0, records["rid"][rows])
    keys = [row_class, rid, records["table"][rows], records["space"][rows], unit[rows]]
    order = np.lexsort([np.arange(len(rows)), *keys])
    differs = np.zeros(len(rows), bool)
    differs[0] = True
    for key in keys:
        differs[1:] |= key[order][1:] != key[order][:-1]
    group = np.cumsum(differs) - 1
    step = np.where(_UNDOES[records["role"][rows[order]]], -1, 1)
    depth = np.cumsum(step)
    begin = np.flatnonzero(differs)
    depth -= np.repeat(depth[begin] - step[begin], np.diff(np.append(begin, len(rows))))
    far = len(rows) + 2
    low = np.minimum.accumulate(np.minimum(depth, 0) - group * far) + group * far
    level = depth - low
    before = np.concatenate([[0], low[:-1]])
    before[begin] = 0
    alone = (step < 0) & (low < before)
    paired = np.flatnonzero(~alone)
    nesting = np.where(step > 0, level, level + 1)[paired]
    by_level = paired[np.lexsort([paired, nesting, group[paired]])]
    closing = np.flatnonzero(step[by_level] < 0)
    cancelled[rows[order[by_level[closing - 1]]]] = True
    return rows[order[np.flatnonzero(alone)]]


def disorder(records: Records, tids: Hashes) -> int | None:
    """The first record that cannot stand where it does, or None: positions must rise, within each
    log stream and from one stream to the next, and each must lie between those that the records
    around it in its transaction and in the log say. Copied, reordered and spliced files break
    this, and log streams that nobody merged."""
    rows = np.flatnonzero(records["part"] == 0)
    if records["lso"].any():
        stream = records["tid"][rows] >> np.uint64(48)
        rows = rows[np.argsort(stream, kind="stable")]
        stream, position = records["tid"][rows] >> np.uint64(48), records["lso"][rows]
        places = np.flatnonzero((stream[1:] == stream[:-1]) & (position[1:] <= position[:-1]))
        if len(places):
            return int(rows[places + 1].min())
        if stream[0] == stream[-1]:
            return None
        rows = np.sort(rows)
        places = np.flatnonzero(_falls(records["lsn"][rows], records["lfs"][rows]))
        return int(rows[places[0] + 1]) if len(places) else None
    lsn, lfs = records["lsn"][rows], records["lfs"][rows]
    if lsn.any():
        places = np.flatnonzero(_falls(lsn, lfs) if lfs.any() else lsn[1:] <= lsn[:-1])
        if len(places):
            return int(rows[places[0] + 1])
        if not lfs.any():
            return None
    return _unchained(records, tids, rows)


def _falls(lsn: Index, lfs: Index) -> Mask:
    """Where a record lies before the one in front of it: by flush sequence and LSN, which log
    streams share, and in which neighbours may be alike."""
    fallen: Mask = (lfs[1:] < lfs[:-1]) | ((lfs[1:] == lfs[:-1]) & (lsn[1:] < lsn[:-1]))
    return fallen


def _unchained(records: Records, tids: Hashes, rows: Index) -> int | None:
    """The first of some records that names a predecessor which comes after one that a record before
    it, or of its own transaction, names; None. This is known without any position."""
    wrong = []
    streams = records["tid"][rows] >> np.uint64(48)
    for stream in np.unique(streams).tolist():
        mine = rows[streams == stream]
        previous = records["previous"][mine].astype(np.int64)
        order = np.argsort(tids[mine], kind="stable")
        following = np.full(len(mine), np.iinfo(np.int64).max)
        succeeds = (tids[mine][order][1:] == tids[mine][order][:-1]) & (previous[order][1:] > 0)
        following[order[:-1][succeeds]] = previous[order[1:][succeeds]]
        wrong += mine[np.maximum.accumulate(previous) >= following][:1].tolist()
    return min(wrong, default=None)


def positions(records: Records) -> Hashes:
    """The position of each record in the form in which others name it; 0 where the framing does not
    tell it."""
    if records["lso"].any():
        return np.asarray(records["lso"])
    return np.where(records["lfs"] > 0, np.uint64(0), records["lsn"])


def _predecessors(
    records: Records, position: Hashes, *, unplaced: bool = False
) -> tuple[Index, Index]:
    """(records that name the one before them in their transaction, that one or -1). Records whose
    own position is not known are among them with ``unplaced`` alone. Each log stream counts its
    positions for itself; one that holds a single record may be no stream, so what it names is
    looked for in all."""
    whole, stream = records["part"] == 0, records["tid"] >> np.uint64(48)
    named = np.flatnonzero((records["previous"] > 0) & whole & (unplaced | (position > 0)))
    rows = np.flatnonzero((position > 0) & whole)
    target = np.full(len(named), -1, np.int64)
    streams, count = np.unique(stream[whole], return_counts=True)
    lonely = np.isin(stream[named], streams[count == 1])
    for each in streams.tolist():
        mine = np.flatnonzero((stream[named] == each) | lonely)
        theirs = rows[stream[rows] == each]
        if not len(mine) or not len(theirs):
            continue
        theirs = theirs[np.argsort(position[theirs], kind="stable")]
        wanted = records["previous"][named[mine]]
        found = theirs[np.minimum(np.searchsorted(position[theirs], wanted), len(theirs) - 1)]
        hit = position[found] == wanted
        target[mine[hit]] = found[hit]
    return named, target


def tangled(records: Records) -> int | None:
    """The first record with the position of an earlier one, or before the one that it names as its
    predecessor; None. This needs no order of positions, which those of 6 bytes do not have on
    little-endian servers."""
    position = positions(records)
    named, target = _predecessors(records, position)
    rows = np.flatnonzero((position > 0) & (records["part"] == 0))
    rows = rows[np.argsort(position[rows], kind="stable")]
    same = (
        rows[1:][records["lsn"][rows[1:]] == records["lsn"][rows[:-1]]]
        if not records["lfs"].any()
        else rows[:0]
    )
    wrong = np.concatenate([same, named[target >= named]])
    return int(wrong.min()) if len(wrong) else None


def lost(records: Records) -> Index:
    """Records whose predecessor is not in the log, where nearly all others' is. It is a hint and no
    proof: what a filter left out is in the chain, too (section 16)."""
    named, target = _predecessors(records, positions(records))
    missing = named[target < 0]
    return missing if 4 * len(missing) <= int((target >= 0).sum()) else missing[:0]


def foreign(records: Records, tids: Hashes, unit: Index, position: Hashes) -> Mask:
    """Records that contradict each other: one names, by its position, another as the one before it
    in its transaction, and that one is of another transaction, or of a unit that had ended. Nothing
    is said of those that name a record whose position is not known (0).
    """
    named, target = _predecessors(records, position, unplaced=True)
    named, target = named[target >= 0], target[target >= 0]
    other = (tids[target] != tids[named]) | (
        (unit[target] >= 0) & (unit[named] >= 0) & (unit[target] != unit[named])
    )
    other |= (unit[target] < 0) & np.isin(records["type"][target], layouts.OUTSIDE_TRANSACTIONS)
    wrong = np.zeros(len(records), bool)
    wrong[named[other]] = wrong[target[other]] = True
    return wrong
