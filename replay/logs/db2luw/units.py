"""Units of recovery: which records belong together, how each unit ended, and which changes
compensation records took back (section 16).

A unit is the records of one transaction id up to the record that ends it, and those of its
subtransactions (10.1 and later). There is no begin record.
Everything here is arrays over the scanned records of the whole log, in file order, which are made
window by window, or part by part where records come together that lie apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from replay.arrays import Bytes, Hashes, Index, Mask, Records, one_of
from replay.decoding.hashes import mixed
from replay.logs.db2luw import layouts
from replay.logs.db2luw.framing import OpenedFile
from replay.logs.db2luw.layouts import RecordKind, RecordRole, number
from replay.spill import Spill, windows

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
#: Kinds of records that a unit is made of.
_OF_UNITS = (RecordKind.COMPONENT, RecordKind.COMMIT, RecordKind.ABORT, RecordKind.PREPARE)
_FAR = np.iinfo(np.int64).max


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


def resolve(records: Records, tids: Hashes, splits_at_start: bool, arrays: Spill) -> Units:
    """Group records into units and match compensations. ``tids`` is the transaction of each record,
    subtransactions already given to their parents; ``splits_at_start``: a change without a previous
    record begins a unit, whatever came before.
    """
    kind = records["kind"]
    relevant = arrays.places(len(records), lambda part: one_of(kind[part], _OF_UNITS))
    order = arrays.by(relevant, lambda rows: np.asarray(tids[rows]))
    unit, count = _numbered(records, tids, order, splits_at_start, arrays)
    found = Units(
        unit=unit,
        first=arrays.zeros(count, np.int64),
        last=arrays.zeros(count, np.int64),
        disposition=arrays.zeros(count, np.uint8),
        tid=arrays.zeros(count, np.uint64),
        again=arrays.zeros(count, np.int64),
        cancelled=arrays.zeros(len(records), bool),
        unmatched=arrays.zeros(len(records), bool),
    )
    prepared = arrays.zeros(count, bool)
    before = -1
    for part in windows(len(order)):
        rows = order[part]
        number = unit[rows]
        begins = number != np.append(before, number[:-1])
        found.first[number[begins]] = rows[begins]
        found.tid[number[begins]] = tids[rows[begins]]
        ends = np.append(number[1:] != number[:-1], True)
        found.last[number[ends]] = rows[ends]
        prepared[number[kind[rows] == RecordKind.PREPARE]] = True
        before = int(number[-1])
    _count_uses(found)
    _compensations(records, found, arrays)
    rolled_back = _all_taken_back(records, found, arrays)
    for part in windows(count):
        last = kind[found.last[part]]
        alone = singular(records, found.last[part])
        found.disposition[part] = np.select(
            [
                (last == RecordKind.COMMIT) | alone,
                last == RecordKind.ABORT,
                prepared[part],
                rolled_back[part],
            ],
            [ord("C"), ord("A"), ord("P"), ord("A")],
            ord("F"),
        )
    return found


def singular(records: Records, rows: Index) -> Mask:
    """Records that are a unit by themselves, or end one."""
    return np.asarray(
        (records["kind"][rows] == RecordKind.COMPONENT)
        & ((records["flags"][rows] & layouts.SINGULAR) > 0)
    )


def _numbered(
    records: Records, tids: Hashes, order: Index, splits_at_start: bool, arrays: Spill
) -> tuple[Index, int]:
    """(the unit of each record, how many there are): numbered in ``order``, in which those of one
    transaction id follow each other."""
    unit = arrays.full(len(records), -1, np.int64)
    count, tid_before, ended = 0, -1, True
    for part in windows(len(order)):
        rows = order[part]
        tid, kind = tids[rows], records["kind"][rows]
        ends = one_of(kind, (RecordKind.COMMIT, RecordKind.ABORT)) | singular(records, rows)
        starts = np.append(ended or int(tid[0]) != tid_before, (tid[1:] != tid[:-1]) | ends[:-1])
        if splits_at_start:
            # the entries of one record of many rows share its header, and belong together
            starts |= (
                (kind == RecordKind.COMPONENT)
                & (records["previous"][rows] == 0)
                & (records["part"][rows] == 0)
            )
        unit[rows] = np.cumsum(starts) + (count - 1)
        count += int(starts.sum())
        tid_before, ended = int(tid[-1]), bool(ends[-1])
    return unit, count


def _count_uses(found: Units) -> None:
    """How many units with the transaction id of each came before it."""
    tid_before, uses = -1, 0
    for part in windows(len(found.tid)):
        tid, place = found.tid[part], np.arange(part.stop - part.start)
        fresh = np.append(int(tid[0]) != tid_before, tid[1:] != tid[:-1])
        found.again[part] = place - np.maximum.accumulate(np.where(fresh, place, -uses))
        tid_before, uses = int(tid[-1]), int(found.again[part.stop - 1]) + 1


def _all_taken_back(records: Records, found: Units, arrays: Spill) -> Mask:
    """Units that have changes and took all of them back: rolled back, with or without a record that
    says so."""
    changes, left = (arrays.zeros(len(found.last), bool) for _ in range(2))
    for part in windows(len(records)):
        unit = found.unit[part]
        rows = (unit >= 0) & one_of(records["role"][part], _ROW_ROLES)
        changes[unit[rows]] = True
        left[unit[rows & ~found.cancelled[part]]] = True
    for part in windows(len(changes)):
        changes[part] &= ~left[part]
    return changes


def _compensations(records: Records, found: Units, arrays: Spill) -> None:
    """Find the changes that were taken back, and the compensations of nothing."""
    unit, role, cancelled = found.unit, records["role"], found.cancelled
    undo = arrays.places(len(records), lambda part: _UNDOES[role[part]] & (unit[part] >= 0))
    if not len(undo):
        return
    concerned = arrays.zeros(len(found.last) + 1, bool)  # the last one is of records without unit
    for part in windows(len(undo)):
        concerned[unit[undo[part]]] = True
    change = arrays.places(
        len(records),
        lambda part: (_CLASS[role[part]] > 0) & ~_UNDOES[role[part]] & concerned[unit[part]],
    )
    left = _left_by_position(records, unit, change, undo, cancelled, arrays)
    change = arrays.chosen(change, lambda rows: ~cancelled[rows])

    def group(rows: Index) -> Hashes:
        row_class = _CLASS[role[rows]].astype(np.uint64)
        key = mixed(np.where(row_class > 3, np.uint64(0), records["rid"][rows]))
        key = mixed(key ^ (records["space"][rows].astype(np.uint64) << np.uint64(16)))
        key = mixed(key ^ records["table"][rows] ^ (row_class << np.uint64(32)))
        return mixed(key ^ unit[rows].astype(np.uint64))

    for changes, undoes in arrays.together(change, group, left, group):
        found.unmatched[_by_nesting(records, unit, changes, undoes, cancelled)] = True


def _left_by_position(
    records: Records, unit: Index, change: Index, undo: Index, cancelled: Mask, arrays: Spill
) -> Index:
    """Cancel the changes that compensation records name by position, where the framing tells the
    positions; the compensations left over."""
    position = records["lso"] if records["lso"].any() else records["lsn"]
    named = arrays.chosen(
        undo, lambda rows: (records["compensated"][rows] > 0) & (records["part"][rows] == 0)
    )
    single = arrays.chosen(change, lambda rows: position[rows] > 0)
    if not len(named) or not len(single):
        return undo
    used = arrays.zeros(len(records), bool)
    for names, held in arrays.together(
        named,
        lambda rows: _in_unit(records["compensated"][rows], unit[rows]),
        single,
        lambda rows: _in_unit(position[rows], unit[rows]),
    ):
        if len(names) and len(held):
            used[_by_position(records, unit, position, held, names, cancelled)] = True
    return arrays.chosen(undo, lambda rows: ~used[rows])


def _in_unit(position: Hashes, unit: Index) -> Hashes:
    """Hashes of positions in units: log streams count theirs alike."""
    return mixed(position ^ mixed(unit.astype(np.uint64)))


def _same(records: Records, unit: Index, one: Index, other: Index) -> Mask:
    same: Mask = (unit[one] == unit[other]) & (
        _CLASS[records["role"][one]] == _CLASS[records["role"][other]]
    )
    for name in ("space", "table"):
        same &= records[name][one] == records[name][other]
    return same


def _by_position(
    records: Records, unit: Index, position: Hashes, single: Index, named: Index, cancelled: Mask
) -> Index:
    """Cancel those of the changes ``single`` that the compensations ``named`` name by their
    position. Returns the compensations that did."""
    held = _in_unit(position[single], unit[single])
    order = np.argsort(held, kind="stable")
    place = np.searchsorted(held[order], _in_unit(records["compensated"][named], unit[named]))
    target = single[order[np.minimum(place, len(order) - 1)]]
    hit = (
        (position[target] == records["compensated"][named])
        & _same(records, unit, named, target)
        & (target < named)
    )
    hit &= (records["rid"][target] == records["rid"][named]) | (_CLASS[records["role"][named]] > 3)
    _, first = np.unique(target[hit], return_index=True)
    used = np.flatnonzero(hit)[first]
    cancelled[target[used]] = True
    return np.asarray(named[used])


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


def disorder(records: Records, arrays: Spill) -> int | None:
    """The first record that cannot stand where it does, or None: positions must rise, within each
    log stream and from one stream to the next, and each must lie between those that the records
    around it in its transaction and in the log say. Copied, reordered and spliced files break
    this, and log streams that nobody merged."""
    if records["lso"].any():
        wrong, several = _sinks(records)
        if wrong is not None or not several:
            return wrong
        return _first_fall(records, alike=True)
    has_lsn, has_lfs = False, False
    for part in windows(len(records)):
        whole = records["part"][part] == 0
        has_lsn |= bool((whole & (records["lsn"][part] > 0)).any())
        has_lfs |= bool((whole & (records["lfs"][part] > 0)).any())
    if has_lsn:
        wrong = _first_fall(records, alike=has_lfs)
        if wrong is not None:
            return wrong
        if not has_lfs:
            return None
    return _unchained(records, arrays)


def _sinks(records: Records) -> tuple[int | None, bool]:
    """(the first record whose LSO is not above that of the one before it in its log stream,
    whether there are several streams)."""
    highest: dict[int, int] = {}
    for part in windows(len(records)):
        rows = np.flatnonzero(records["part"][part] == 0) + part.start
        streams = records["tid"][rows] >> np.uint64(48)
        wrong = []
        for stream in np.unique(streams).tolist():
            mine = rows[streams == stream]
            position = records["lso"][mine]
            sinks = np.append(
                stream in highest and int(position[0]) <= highest[stream],
                position[1:] <= position[:-1],
            )
            wrong += mine[sinks][:1].tolist()
            highest[stream] = int(position[-1])
        if wrong:
            return min(wrong), True
    return None, len(highest) > 1


def _first_fall(records: Records, *, alike: bool) -> int | None:
    """The first record that lies before the one in front of it: by flush sequence and LSN, which
    log streams share, and in which neighbours may be ``alike``; else by LSN."""
    before = np.zeros(0, np.int64)
    for part in windows(len(records)):
        places = np.flatnonzero(records["part"][part] == 0) + part.start
        rows = np.concatenate([before, places])
        fallen = falls(records["lsn"][rows], records["lfs"][rows], alike=alike)
        if fallen.any():
            return int(rows[np.flatnonzero(fallen)[0] + 1])
        before = rows[-1:]
    return None


def falls(lsn: Hashes, lfs: Hashes, *, alike: bool) -> Mask:
    """``bool[n - 1]``: which of ``n`` records lie before the one in front of them: by flush
    sequence and LSN, which log streams share, and in which neighbours may be ``alike``; else by
    LSN."""
    if not alike:
        return np.asarray(lsn[1:] <= lsn[:-1])
    return np.asarray((lfs[1:] < lfs[:-1]) | ((lfs[1:] == lfs[:-1]) & (lsn[1:] < lsn[:-1])))


def _unchained(records: Records, arrays: Spill) -> int | None:
    """The first record that names a predecessor which comes after one that a record before
    it, or of its own transaction, names; None. This is known without any position. A subtransaction
    has a chain of its own."""
    tids = records["tid"]
    rows = arrays.places(len(records), lambda part: records["part"][part] == 0)
    order = arrays.by(rows, lambda some: np.asarray(tids[some]))
    following = arrays.full(len(records), _FAR, np.int64)
    before = order[:0]
    for part in windows(len(order)):
        mine = np.concatenate([before, order[part]])
        previous = records["previous"][mine].astype(np.int64)
        succeeds = (tids[mine][1:] == tids[mine][:-1]) & (previous[1:] > 0)
        following[mine[:-1][succeeds]] = previous[1:][succeeds]
        before = mine[-1:]
    highest: dict[int, int] = {}
    for part in windows(len(rows)):
        streams = records["tid"][rows[part]] >> np.uint64(48)
        wrong = []
        for stream in np.unique(streams).tolist():
            mine = rows[part][streams == stream]
            previous = records["previous"][mine].astype(np.int64)
            previous[0] = max(int(previous[0]), highest.get(stream, int(previous[0])))
            reached = np.maximum.accumulate(previous)
            wrong += mine[reached >= following[mine]][:1].tolist()
            highest[stream] = int(reached[-1])
        if wrong:
            return int(min(wrong))
    return None


def positions(records: Records, arrays: Spill) -> Hashes:
    """The position of each record in the form in which others name it; 0 where the framing does not
    tell it."""
    result = arrays.zeros(len(records), np.uint64)
    has_lso = bool(records["lso"].any())
    for part in windows(len(records)):
        result[part] = _told_position(records[part], has_lso)
    return result


def _told_position(rows: Records, has_lso: bool) -> Hashes:
    return np.asarray(
        rows["lso"] if has_lso else np.where(rows["lfs"] > 0, np.uint64(0), rows["lsn"])
    )


def lonely_streams(records: Records) -> Mask:
    """``bool[65536]``: log streams with a single record."""
    count = np.zeros(1 << 16, np.int64)
    for part in windows(len(records)):
        whole = records["part"][part] == 0
        streams = records["tid"][part][whole] >> np.uint64(48)
        count += np.bincount(streams.astype(np.int64), minlength=1 << 16)
    return np.asarray(count == 1)


def _predecessors(
    records: Records, position: Hashes, arrays: Spill, *, unplaced: bool = False
) -> Index:
    """The record before each in its transaction: -1 for one that is not there, -2 for a record that
    names none. Records whose own position is not known are among them with ``unplaced`` alone. Each
    log stream counts its positions for itself; one that holds a single record may be no stream, so
    what it names is looked for in all."""
    previous = records["previous"]
    target = arrays.full(len(records), -2, np.int64)
    alone = lonely_streams(records)
    named = arrays.places(
        len(records),
        lambda part: (
            (previous[part] > 0) & (records["part"][part] == 0) & (unplaced | (position[part] > 0))
        ),
    )
    placed = arrays.places(
        len(records), lambda part: (position[part] > 0) & (records["part"][part] == 0)
    )
    for names, rows in arrays.together(
        named, lambda some: previous[some], placed, lambda some: position[some]
    ):
        target[names] = named_ones(records, position, names, rows, alone)
    return target


def named_ones(
    records: Records, position: Hashes, named: Index, rows: Index, lonely_streams: Mask
) -> Index:
    """Those of ``rows`` whose position the records ``named`` name; -1 for none."""
    target = np.full(len(named), -1, np.int64)
    stream = (records["tid"][named] >> np.uint64(48)).astype(np.int64)
    of_rows, at = (records["tid"][rows] >> np.uint64(48)).astype(np.int64), position[rows]
    lonely, previous = lonely_streams[stream], records["previous"][named]
    alike = len(rows) > 0 and bool((of_rows == of_rows[0]).all())
    for each in [int(of_rows[0])] if alike else np.unique(of_rows).tolist():
        mine = np.flatnonzero((stream == each) | lonely)
        if not len(mine):
            continue
        theirs = np.arange(len(rows)) if alike else np.flatnonzero(of_rows == each)
        held = at[theirs]
        if (held[1:] < held[:-1]).any():
            order = np.argsort(held, kind="stable")
            theirs, held = theirs[order], held[order]
        wanted = previous[mine]
        place = np.minimum(np.searchsorted(held, wanted), len(held) - 1)
        hit = held[place] == wanted
        target[mine[hit]] = rows[theirs[place[hit]]]
    return target


def tangled(records: Records, arrays: Spill) -> int | None:
    """The first record with the position of an earlier one, or before the one that it names as its
    predecessor; None. This needs no order of positions, which those of 6 bytes do not have on
    little-endian servers."""
    position = positions(records, arrays)
    target = _predecessors(records, position, arrays)
    wrong = []
    for part in windows(len(records)):
        places = np.flatnonzero(target[part] >= np.arange(part.start, part.stop))
        wrong += (places[:1] + part.start).tolist()
        if wrong:
            break
    if not records["lfs"].any():
        rows = arrays.places(
            len(records), lambda part: (position[part] > 0) & (records["part"][part] == 0)
        )
        rows = arrays.by(rows, lambda some: np.asarray(position[some]))
        before = rows[:0]
        for part in windows(len(rows)):
            mine = np.concatenate([before, rows[part]])
            lsn = records["lsn"][mine]
            same = mine[1:][lsn[1:] == lsn[:-1]]
            wrong += [int(same.min())] if len(same) else []
            before = mine[-1:]
    return min(wrong, default=None)


def lost(records: Records, arrays: Spill) -> tuple[int, int]:
    """(how many records have a predecessor that is not in the log, where nearly all others' is; the
    first of them). It is a hint and no proof: what a filter left out is in the chain, too (section
    16)."""
    target = _predecessors(records, positions(records, arrays), arrays)
    missing, there, first = 0, 0, -1
    for part in windows(len(records)):
        gone = np.flatnonzero(target[part] == -1)
        if len(gone) and first < 0:
            first = part.start + int(gone[0])
        missing, there = missing + len(gone), there + int((target[part] >= 0).sum())
    return (missing, first) if 4 * missing <= there else (0, -1)


def foreign(records: Records, tids: Hashes, unit: Index, position: Hashes, arrays: Spill) -> Mask:
    """Records that contradict each other: one names, by its position, another as the one before it
    in its transaction, and that one is of another transaction, or of a unit that had ended. Nothing
    is said of those that name a record whose position is not known (0)."""
    targets = _predecessors(records, position, arrays, unplaced=True)
    wrong = arrays.zeros(len(records), bool)
    for part in windows(len(records)):
        named = np.flatnonzero(targets[part] >= 0) + part.start
        target = targets[named]
        other = (tids[target] != tids[named]) | (
            (unit[target] >= 0) & (unit[named] >= 0) & (unit[target] != unit[named])
        )
        outside = one_of(records["type"][target], layouts.OUTSIDE_TRANSACTIONS)
        other |= (unit[target] < 0) & outside
        wrong[named[other]] = True
        wrong[target[other]] = True
    return wrong


# -- subtransactions
# -------------------------------------------------------------------------------------------------

_ENDS = (RecordKind.COMMIT, RecordKind.ABORT, RecordKind.PREPARE)


def parents_of(records: Records, files: list[OpenedFile], arrays: Spill) -> tuple[Hashes, bool]:
    """(the transaction of each record, with subtransactions (v10) given to the transaction that
    owns them, whether there are any); records that end one end nothing. Log streams count
    transactions alike, so ids have that of the stream in front."""
    found = arrays.places(
        len(records), lambda part: records["type"][part] == layouts.SUBTRANSACTION
    )
    parents = _owners(records, found, files)
    children = np.array(sorted(parents), np.uint64)
    owners = np.array([parents[child] for child in sorted(parents)], np.uint64)
    tids = arrays.zeros(len(records), np.uint64)
    apart = False
    for window in windows(len(records)):
        tid = records["tid"][window]
        tids[window] = tid
        if not len(children):
            continue
        place = np.minimum(np.searchsorted(children, tid), len(children) - 1)
        mine = np.flatnonzero(children[place] == tid)
        tids[window][mine] = owners[place[mine]]
        apart |= bool((tids[window][mine] != tid[mine]).any())
        ended = mine[one_of(records["kind"][window][mine], _ENDS)]
        records["kind"][window][ended] = RecordKind.IGNORED
    return tids, apart


def _owners(records: Records, rows: Index, files: list[OpenedFile]) -> dict[int, int]:
    """The transaction that owns each subtransaction, as some records of type
    :data:`replay.logs.db2luw.layouts.SUBTRANSACTION` say; the last one counts."""
    owners: dict[int, int] = {}
    for row in rows.tolist():
        file = files[int(records["file"][row])]
        part = file.shape.dialect.header["tid"]
        payload = int(records["offset"][row]) + int(records["header"][row])
        if (
            file.shape.dialect.name != "v10"
            or records["length"][row] < records["header"][row] + part.size
        ):
            continue
        child = number(
            file.buffer(payload, payload + part.size)[payload : payload + part.size].tobytes(),
            0,
            layouts.Part(0, part.size),
            file.shape.big,
        )
        stream = int(records["tid"][row]) >> 48 << 48
        owners[stream | child] = int(records["tid"][row])
    return owners
