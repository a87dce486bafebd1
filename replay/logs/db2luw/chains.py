"""What the chains of previous positions say: which units of recovery lack records, and which byte
order positions of 6 bytes have (format notes, sections 3, 4 and 16).

A record without a previous one begins its transaction. One whose previous one is not in the log may
have lost it, or a filter left it out. It was left out if it lies between records of a file; before
the first file, or between two files, it is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from replay.arrays import Hashes, Index, Mask, Records
from replay.logs.db2luw import layouts, units
from replay.logs.db2luw.layouts import RecordKind

_STREAM = np.uint64(48)
#: Pairs of records that must agree for positions to be counted.
_ENOUGH = 3
#: A log of which so many records are placed was not filtered where it has one gap within its files
#: at most, and one more in so many records.
_SOME, _RARE = 8, 500


@dataclass
class Holes:
    """What is missing in a log that holds every other record. ``gone`` (``bool[n]``): records whose
    predecessor is not in the log although nothing was filtered out, ``behind`` those behind which
    other records are missing, and ``size`` how many bytes of them. ``misplaced``: the first record
    that names a predecessor which cannot stand before it, or None. ``position``: where records of
    such files are, also where their framing does not tell; 0 elsewhere."""

    position: Hashes
    gone: Mask
    behind: Index
    size: Index
    misplaced: int | None = None


def holes(records: Records) -> Holes:
    """Where records are missing, in files or between them, in a log without gaps otherwise: there,
    all that records name of each other is as far apart as the records between are long. A log out
    of which a filter left records tells nothing."""
    rows, head = _transactions(records)
    position = units.positions(records)
    result = Holes(
        position.copy(), np.zeros(len(records), bool), np.zeros(0, np.int64), np.zeros(0, np.int64)
    )
    first = np.zeros(len(records), bool)
    first[rows[head]] = True
    successor = np.full(len(records), -1, np.int64)
    named = np.flatnonzero(~head)
    successor[rows[named - 1]] = rows[named]
    place = np.zeros(len(records), np.int64)
    parts = []
    for mine in _groups(records, by_file=False):
        length = records["length"][mine].astype(np.int64)
        place[mine] = np.cumsum(length) - length
        at, base = _bases(records, mine, position, successor, place)
        if len(at):
            smallest = int(records["header"][mine].min())
            parts.append(_Stretch(mine, at, base, smallest, bool((position[mine] > 0).all())))
    positioned = sum(len(part.at) for part in parts)
    within = sum(_within_a_file(records, part) for part in parts)
    if positioned < _SOME or within > 1 + positioned // _RARE:
        return result
    for part in parts:
        _look_into(part, records, first, successor, place, result)
    result.behind = np.concatenate([part.at[part.steps] for part in parts])
    result.size = np.concatenate([np.diff(part.lowest)[part.steps] for part in parts])
    return result


class _Stretch:
    """Records of one file and log stream (``mine``), and of those ``at`` how far their position is
    from their place among the lengths: ``base``, and at most ``lowest``, which never falls.
    ``steps`` are the places in ``at`` behind which it rises by a record and more; what is ``off``
    names a record that is not there. ``told``: positions are those of the framing."""

    def __init__(self, mine: Index, at: Index, base: Index, smallest: int, told: bool) -> None:
        self.mine, self.at, self.base = mine, at, base
        self.lowest = np.minimum.accumulate(base[::-1])[::-1]
        if not told:
            between = self._between(smallest)
            self.lowest[between] = self.lowest[between - 1]
        self.off = base > self.lowest
        self.steps = np.flatnonzero(np.diff(self.lowest) >= smallest)

    def _between(self, smallest: int) -> Index:
        """Places between two rises, one at either side: that record stands before the gap, and the
        next one of its transaction names what is missing, which is longer than itself."""
        rises = np.diff(self.lowest) >= smallest
        around = np.concatenate([[False, False], rises, [False, False]])
        alone = around[1:-2] & around[2:-1] & ~around[:-3] & ~around[3:]
        return np.flatnonzero(alone)


def _within_a_file(records: Records, part: _Stretch) -> int:
    """How many steps lie within a file, not between two."""
    file = records["file"]
    return int((file[part.at[part.steps]] == file[part.at[part.steps + 1]]).sum())


def _look_into(
    part: _Stretch, records: Records, first: Mask, successor: Index, place: Index, result: Holes
) -> None:
    """Find what is ``gone`` and ``misplaced`` in a stretch without other gaps than its steps, and
    the positions there."""
    mine, at, lowest, off = part.mine, part.at, part.lowest, part.off
    previous, position = records["previous"][mine].astype(np.int64), result.position[mine]
    positioned = bool((position > 0).all())
    lost = (previous > 0) & (previous >= place[mine[0]] + lowest[0])
    lost &= ~np.isin(previous, position) if positioned else first[mine]
    result.gone[mine[lost]] = True
    if positioned:
        return
    result.gone[successor[at[off]]] = True
    if not off.any() and not lost.any():
        # what the first record behind a gap names may be what is missing
        result.gone[successor[at[part.steps + 1]]] = True
    next_at = np.searchsorted(at, mine)
    highest = place[mine] + lowest[np.minimum(next_at, len(at) - 1)]
    wrong = mine[(previous >= highest) & (next_at < len(at))]
    if len(wrong) and (result.misplaced is None or wrong[0] < result.misplaced):
        result.misplaced = int(wrong[0])
    longer = np.append(lowest, lowest[-1])
    even = longer[next_at] == longer[np.maximum(next_at - 1, 0)]
    result.position[mine] = np.where(even, highest, 0)
    result.position[at[~off]] = place[at[~off]] + part.base[~off]


def _groups(records: Records, *, by_file: bool) -> list[Index]:
    """The records of each log stream, or of each file and log stream, in the order of the log."""
    whole = np.flatnonzero(records["part"] == 0)
    if not len(whole):
        return []
    place = (records["tid"] >> _STREAM).astype(np.int64)
    if by_file:
        place |= records["file"].astype(np.int64) << 16
    whole = whole[np.argsort(place[whole], kind="stable")]
    return np.split(whole, np.flatnonzero(np.diff(place[whole])) + 1)


def _bases(
    records: Records, mine: Index, position: Hashes, successor: Index, place: Index
) -> tuple[Index, Index]:
    """(records, how far their position is from their place among the lengths of the records of
    their file): as the framing tells, else as the next record of the transaction names it, which is
    too far where it names a record between."""
    if (position[mine] > 0).all():
        at, position_before = mine, position[mine]
    else:
        at = mine[successor[mine] >= 0]
        at = at[records["previous"][successor[at]] > 0]
        position_before = records["previous"][successor[at]]
    return at, position_before.astype(np.int64) - place[at]


def _transactions(records: Records) -> tuple[Index, Mask]:
    """(records by transaction, which of them begin one as far as the log shows)."""
    rows = np.flatnonzero(
        (records["part"] == 0) & ~np.isin(records["type"], layouts.OUTSIDE_TRANSACTIONS)
    )
    rows = rows[np.argsort(records["tid"][rows], kind="stable")]
    tid, previous = records["tid"][rows], records["previous"][rows]
    ends = np.isin(records["kind"][rows], (RecordKind.COMMIT, RecordKind.ABORT)) | _alone(
        records, rows
    )
    head = np.ones(len(rows), bool)
    head[1:] = (tid[1:] != tid[:-1]) | ends[:-1] | (previous[1:] == 0)
    return rows, head


def _alone(records: Records, rows: Index) -> Mask:
    """Records that are a transaction by themselves."""
    return np.asarray(
        (records["kind"][rows] == RecordKind.COMPONENT)
        & ((records["flags"][rows] & layouts.SINGULAR) > 0)
    )


def lacking(records: Records, unit: Index, count: int, known: Holes) -> Mask:
    """Which of ``count`` units lack records that neither the log has nor a filter left out:
    ``bool[count]``. ``unit`` is that of each record, ``known`` what :func:`holes` says."""
    missing = np.zeros(count, bool)
    if not records["previous"].any():
        return missing
    rows, head = _transactions(records)
    if not len(rows):
        return missing
    tid, previous = records["tid"][rows], records["previous"][rows]
    alone = _alone(records, rows)
    after_alone = np.zeros(len(rows), bool)
    after_alone[1:] = (tid[1:] == tid[:-1]) & alone[:-1]
    position = known.position[rows]
    if not position.all():
        position = np.where(position > 0, position, _counted(records, rows, head))
    between = _within_files(records, rows, position, head)
    gone = (previous > 0) & ~between & ~after_alone & ~np.isin(previous, position[position > 0])
    # within a transaction nothing but positions says that the record before it is another one
    gone[1:] &= head[1:] | (position[:-1] > 0)
    gone |= known.gone[rows] & ~after_alone
    segment = np.cumsum(head) - 1
    broken = np.zeros(int(segment[-1]) + 1, bool)
    broken[segment[gone]] = True
    of = unit[rows]
    missing[of[broken[segment] & (of >= 0)]] = True
    return missing


def _counted(records: Records, rows: Index, head: Mask) -> Hashes:
    """Positions of ``rows`` (by transaction; ``head``: their first ones) in files whose framing
    tells none, where all that records of a file and log stream name of each other are as far apart
    as the records between are long: nothing was filtered out. 0 in other files. Records of later
    files may name them, too."""
    position = np.zeros(len(records), np.int64)
    named = np.flatnonzero(~head)
    before, after = rows[named - 1], rows[named]
    group, place = np.zeros(len(records), np.int64), np.zeros(len(records), np.int64)
    groups = _groups(records, by_file=True)
    for number, mine in enumerate(groups):
        length = records["length"][mine].astype(np.int64)
        group[mine], place[mine] = number, np.cumsum(length) - length
    order = np.argsort(group[before], kind="stable")
    before, after = before[order], after[order]
    bases = records["previous"][after].astype(np.int64) - place[before]
    bounds = np.searchsorted(group[before], np.arange(len(groups) + 1))
    for number, mine in enumerate(groups):
        here = slice(int(bounds[number]), int(bounds[number + 1]))
        own = bases[here][group[after[here]] == number]
        told_bases = own if len(own) else bases[here]
        agree = int((bases[here] == told_bases[0]).sum()) if len(told_bases) else 0
        if agree >= _ENOUGH and (told_bases == told_bases[0]).all():
            position[mine] = place[mine] + told_bases[0]
    return np.maximum(position, 0)[rows].astype(np.uint64)


def _within_files(records: Records, rows: Index, position: Hashes, head: Mask) -> Mask:
    """Those of ``rows``, records by transaction, whose previous position lies between two that are
    of one file and log stream. Where the framing tells none, those count that the file's own
    records name of each other."""
    file, stream = records["file"][rows].astype(np.int64), records["tid"][rows] >> _STREAM
    previous = records["previous"][rows]
    named = np.zeros(len(rows), bool)
    named[1:] = ~head[1:] & (file[1:] == file[:-1]) & (previous[1:] > 0)
    place = (file << 16) | stream.astype(np.int64)
    inside = np.zeros(len(rows), bool)
    for each in np.unique(place).tolist():
        here = place == each
        known = np.concatenate([position[here & (position > 0)], previous[here & named]])
        if len(known):
            same = stream == np.uint64(each & 0xFFFF)
            inside |= same & (previous >= known.min()) & (previous <= known.max())
    return inside


def rising_positions(records: Records, tids: Hashes) -> Records | None:
    """Records with their positions of 6 bytes, which are read as little-endian, in the byte order
    under which they rise in each file; None where they rise in neither, or nothing tells."""
    files: Sequence[int] = np.unique(records["file"]).tolist()
    turned = records.copy()
    for name in ("lsn", "previous", "compensated"):
        turned[name] = records[name].byteswap() >> np.uint64(16)
    readings = []
    for reading in (records, turned):
        parts = [reading["file"] == file for file in files]
        if all(units.disorder(reading[part], tids[part]) is None for part in parts):
            readings.append(reading)
    whole = [reading for reading in readings if units.disorder(reading, tids) is None]
    return next(iter(whole or readings), None)
