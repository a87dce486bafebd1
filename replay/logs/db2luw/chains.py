"""What the chains of previous positions say: which units of recovery lack records, and which byte
order positions of 6 bytes have (format notes, sections 3, 4 and 16).

A record without a previous one begins its transaction. One whose previous one is not in the log may
have lost it, or a filter left it out. It was left out if it lies between records of a file; before
the first file, or between two files, it is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from replay.arrays import Hashes, Index, Mask, Records, one_of
from replay.logs.db2luw import layouts, units
from replay.logs.db2luw.layouts import RecordKind
from replay.spill import Spill, windows, windows_back

_STREAM = np.uint64(48)
_FAR = np.iinfo(np.int64).max
#: Pairs of records that must agree for positions to be counted.
_ENOUGH = 3
#: A log was not filtered where it has no gap within its files; one, where so many of its records
#: are placed, and one more in so many records.
_SOME, _RARE = 8, 500


@dataclass
class Holes:
    """What is missing in a log that holds every other record. ``transactions``: as
    :func:`transactions`. ``position``: where records of such files are, also where their framing
    does not tell; 0 elsewhere. ``gone`` (``bool[n]``): records whose predecessor is not in the log
    although nothing was filtered out, ``behind`` those behind which other records are missing, and
    ``size`` how many bytes of them. ``misplaced``: the first record that names a predecessor which
    cannot stand before it, or None."""

    transactions: tuple[Index, Mask]
    position: Hashes
    gone: Mask
    behind: Index
    size: Index
    misplaced: int | None = None


def holes(records: Records, arrays: Spill) -> Holes:
    """Where records are missing, in files or between them, in a log without gaps otherwise: there,
    all that records name of each other is as far apart as the records between are long. A log out
    of which a filter left records tells nothing."""
    log = _Log(records, arrays)
    result = Holes(
        log.transactions,
        arrays.copied(log.position),
        arrays.zeros(len(records), bool),
        np.zeros(0, np.int64),
        np.zeros(0, np.int64),
    )
    parts = [part for mine in log.streams if len((part := _Stretch(log, mine)).at)]
    positioned = sum(len(part.at) for part in parts)
    within = sum(part.within_a_file() for part in parts)
    if not holds_all(positioned, within):
        return result
    for part in parts:
        part.look_into(result)
    result.behind = np.concatenate([part.at[part.steps] for part in parts])
    result.size = np.concatenate(
        [part.lowest[part.steps + 1] - part.lowest[part.steps] for part in parts]
    )
    return result


def holds_all(positioned: int, within: int) -> bool:
    """Whether a log with so many records whose position is known, and so many gaps within its
    files, holds all but few: what lacks more was filtered."""
    return positioned > 0 and within <= (positioned >= _SOME) + positioned // _RARE


class _Log:
    """Of each record of a log: its ``position`` as the framing tells it, whether it is the
    ``first`` one of its transaction, the ``successor`` in it (-1: none), and its ``place`` among
    the lengths of the records of its log stream."""

    def __init__(self, records: Records, arrays: Spill) -> None:
        self.records, self.arrays = records, arrays
        self.transactions = transactions(records, arrays)
        self.position = units.positions(records, arrays)
        self.first = arrays.zeros(len(records), bool)
        self.successor = arrays.full(len(records), -1, np.int64)
        rows, head = self.transactions
        before = rows[:0]
        for part in windows(len(rows)):
            mine, begins = rows[part], head[part]
            self.first[mine[begins]] = True
            pair = np.concatenate([before, mine])
            named = np.flatnonzero(~begins) + len(before)
            self.successor[pair[named - 1]] = pair[named]
            before = mine[-1:]
        self.place = arrays.zeros(len(records), np.int64)
        self.streams = _groups(records, arrays, by_file=False)
        for mine in self.streams:
            _place(records, mine, self.place)

    def named(self, rows: Index) -> Hashes:
        """What the successors of records call their predecessor; 0 for none."""
        successor = self.successor[rows]
        return np.where(successor < 0, np.uint64(0), self.records["previous"][successor])


class _Stretch:
    """Records of one log stream (``mine``), and of those ``at`` how far their position is
    from their place among the lengths: ``base``, and at most ``lowest``, which never falls.
    ``steps`` are the places in ``at`` behind which it rises by a record and more; what is ``off``
    names a record that is not there. ``told``: positions are those of the framing."""

    def __init__(self, log: _Log, mine: Index) -> None:
        self.log, self.mine, arrays = log, mine, log.arrays
        self.told = _all_placed(log.position, mine)
        self.at = mine
        if not self.told:
            self.at = arrays.chosen(mine, lambda rows: log.named(rows) > 0)
        self.base, self.lowest = (arrays.zeros(len(self.at), np.int64) for _ in range(2))
        for part in windows(len(self.at)):
            rows = self.at[part]
            position = log.position[rows] if self.told else log.named(rows)
            self.base[part] = position.astype(np.int64) - log.place[rows]
        reached = _FAR
        for part in windows_back(len(self.at)):
            lowest = np.minimum.accumulate(np.append(reached, self.base[part][::-1]))[1:]
            self.lowest[part] = lowest[::-1]
            reached = int(lowest[-1])
        header = log.records["header"]
        self.smallest = min(int(header[mine[part]].min()) for part in windows(len(mine)))
        if not self.told:
            self._settle_between()

    def _rises(self, start: int, stop: int) -> Mask:
        """Behind which places from ``start`` to ``stop`` (exclusive) the lowest base rises; False
        outside."""
        inside = slice(max(start, 0), min(stop, len(self.lowest) - 1))
        rises = np.zeros(stop - start, bool)
        found = np.diff(self.lowest[inside.start : inside.stop + 1]) >= self.smallest
        rises[inside.start - start : inside.start - start + len(found)] = found
        return rises

    def _settle_between(self) -> None:
        """A place between two rises, one at either side: that record stands before the gap, and the
        next one of its transaction names what is missing, which is longer than itself."""
        between = self.log.arrays.zeros(len(self.lowest), bool)
        for part in windows(len(between)):
            rises = self._rises(part.start - 2, part.stop + 1)
            between[part] = rises[1:-2] & rises[2:-1] & ~rises[:-3] & ~rises[3:]
        for part in windows(len(between)):
            places = np.flatnonzero(between[part]) + part.start
            self.lowest[places] = self.lowest[places - 1]

    def within_a_file(self) -> int:
        """How many steps lie within a file, and not between two: where only its successor says the
        position of a record, the gap may be between them."""
        file, within = self.log.records["file"], 0
        for part in windows(len(self.at)):
            steps = np.flatnonzero(self._rises(part.start, part.stop)) + part.start
            behind = self.at[steps + 1]
            behind = behind if self.told else self.log.successor[behind]
            within += int((file[self.at[steps]] == file[behind]).sum())
        return within

    @cached_property
    def steps(self) -> Index:
        """Few, where :func:`holes` looks for them."""
        return np.concatenate(
            [
                np.flatnonzero(self._rises(part.start, part.stop)) + part.start
                for part in windows(len(self.at))
            ]
        )

    def look_into(self, result: Holes) -> None:
        """Find what is ``gone`` and ``misplaced`` in a stretch without other gaps than its steps,
        and the positions there."""
        log, some = self.log, self._lost(result)
        if self.told:
            return
        for part in windows(len(self.at)):
            off = self.base[part] > self.lowest[part]
            some |= bool(off.any())
            result.gone[log.successor[self.at[part][off]]] = True
        if not some:
            # what the first record behind a gap names may be what is missing
            result.gone[log.successor[self.at[self.steps + 1]]] = True
        for part in windows(len(self.mine)):
            self._tell(self.mine[part], result)
        for part in windows(len(self.at)):
            rows, base = self.at[part], self.base[part]
            good = base <= self.lowest[part]
            result.position[rows[good]] = log.place[rows[good]] + base[good]

    def _lost(self, result: Holes) -> bool:
        """Mark records whose predecessor is missing; whether there are any."""
        log, lowest = self.log, int(self.log.place[self.mine[0]] + self.lowest[0])
        previous = log.records["previous"]
        names = log.arrays.chosen(
            self.mine,
            lambda rows: (
                (previous[rows].astype(np.int64) >= max(lowest, 1)) & (self.told | log.first[rows])
            ),
        )
        lost: Iterable[tuple[Index, Index]] = [(names, self.mine[:0])]
        if self.told:
            lost = log.arrays.together(
                names, lambda rows: previous[rows], self.mine, lambda rows: log.position[rows]
            )
        some = False
        for mine, others in lost:
            missing = mine
            if self.told:
                missing = mine[~np.isin(previous[mine], log.position[others])]
            for part in windows(len(missing)):
                result.gone[missing[part]] = True
            some |= len(missing) > 0
        return some

    def _tell(self, mine: Index, result: Holes) -> None:
        """Tell the positions of some records, and which of them is misplaced."""
        log, lowest = self.log, self.lowest
        next_at = np.searchsorted(self.at, mine)
        highest = log.place[mine] + lowest[np.minimum(next_at, len(self.at) - 1)]
        previous = log.records["previous"][mine].astype(np.int64)
        wrong = mine[(previous >= highest) & (next_at < len(self.at))]
        if len(wrong) and (result.misplaced is None or wrong[0] < result.misplaced):
            result.misplaced = int(wrong[0])
        last = len(lowest) - 1
        even = lowest[np.minimum(next_at, last)] == lowest[np.clip(next_at - 1, 0, last)]
        result.position[mine] = np.where(even, highest, 0)


def _groups(records: Records, arrays: Spill, *, by_file: bool) -> list[Index]:
    """The records of each log stream, or of each file and log stream, in the order of the log."""
    whole = arrays.places(len(records), lambda part: records["part"][part] == 0)
    if not len(whole):
        return []

    def place(rows: Index) -> Index:
        stream = (records["tid"][rows] >> _STREAM).astype(np.int64)
        return stream | (records["file"][rows].astype(np.int64) << 16) if by_file else stream

    whole = arrays.by(whole, place)
    edges = [0]
    for part in windows(len(whole)):
        mine = whole[max(part.start - 1, 0) : part.stop]
        edges += (np.flatnonzero(np.diff(place(mine))) + max(part.start - 1, 0) + 1).tolist()
    edges.append(len(whole))
    return [whole[begin:end] for begin, end in pairwise(edges)]


def _place(records: Records, mine: Index, place: Index) -> None:
    """Say how long the records before each of some are."""
    reached = 0
    for part in windows(len(mine)):
        rows = mine[part]
        length = records["length"][rows].astype(np.int64)
        behind = np.cumsum(length) + reached
        place[rows] = behind - length
        reached = int(behind[-1])


def transactions(records: Records, arrays: Spill) -> tuple[Index, Mask]:
    """(records by transaction, which of them begin one as far as the log shows)."""
    rows = arrays.places(
        len(records),
        lambda part: (
            (records["part"][part] == 0)
            & ~one_of(records["type"][part], layouts.OUTSIDE_TRANSACTIONS)
        ),
    )
    rows = arrays.by(rows, lambda some: records["tid"][some])
    head = arrays.zeros(len(rows), bool)
    tid_before, ended = -1, True
    for part in windows(len(rows)):
        mine = rows[part]
        tid, kind = records["tid"][mine], records["kind"][mine]
        ends = one_of(kind, (RecordKind.COMMIT, RecordKind.ABORT)) | units.singular(records, mine)
        head[part] = records["previous"][mine] == 0
        head[part] |= np.append(
            ended or int(tid[0]) != tid_before, (tid[1:] != tid[:-1]) | ends[:-1]
        )
        tid_before, ended = int(tid[-1]), bool(ends[-1])
    return rows, head


def _follows_alone(tid: Hashes, alone: Mask) -> Mask:
    """``bool[n - 1]``: which of ``n`` records, by transaction, follow one that is a transaction by
    itself."""
    return np.asarray((tid[1:] == tid[:-1]) & alone[:-1])


def lacking(records: Records, unit: Index, count: int, known: Holes, arrays: Spill) -> Mask:
    """Which of ``count`` units lack records that neither the log has nor a filter left out:
    ``bool[count]``. ``unit`` is that of each record, ``known`` what :func:`holes` says."""
    missing = arrays.zeros(count, bool)
    rows, head = known.transactions
    if not len(rows) or not records["previous"].any():
        return missing
    position = _all_positions(records, known, arrays)
    within = _within_files(records, rows, position, head)
    gone = _not_there(records, rows, position, arrays)
    # transactions of which a record is gone, and so their units
    broken = arrays.zeros(len(rows), bool)
    tid_before, alone_before, told_before, segment = -1, False, False, -1
    for part in windows(len(rows)):
        mine, begins = rows[part], head[part]
        tid, alone = records["tid"][mine], units.singular(records, mine)
        after_alone = np.append(
            alone_before and int(tid[0]) == tid_before, _follows_alone(tid, alone)
        )
        told = position[mine] > 0
        lost = gone[mine] & ~within.between(mine) & ~after_alone
        # within a transaction nothing but positions says that the record before it is another one
        lost &= begins | np.append(told_before or part.start == 0, told[:-1])
        lost |= known.gone[mine] & ~after_alone
        broken[(np.cumsum(begins) + segment)[lost]] = True
        segment += int(begins.sum())
        tid_before, alone_before, told_before = int(tid[-1]), bool(alone[-1]), bool(told[-1])
    segment = -1
    for part in windows(len(rows)):
        of = unit[rows[part]]
        missing[of[broken[np.cumsum(head[part]) + segment] & (of >= 0)]] = True
        segment += int(head[part].sum())
    return missing


def _all_positions(records: Records, known: Holes, arrays: Spill) -> Hashes:
    """The positions that :func:`holes` says, and where it says none, those that lengths tell."""
    rows, head = known.transactions
    if _all_placed(known.position, rows):
        return known.position
    position = arrays.copied(known.position)
    counted = _counted(records, rows, head, arrays)
    for part in windows(len(position)):
        mine = position[part]
        mine[:] = np.where(mine > 0, mine, counted[part])
    return position


def _not_there(records: Records, rows: Index, position: Hashes, arrays: Spill) -> Mask:
    """Those of ``rows`` that name a position which none of them has in their log stream; of each
    record. One that is alone in its stream may be of another one."""
    gone, previous = arrays.zeros(len(records), bool), records["previous"]
    lonely = units.lonely_streams(records)
    names = arrays.chosen(rows, lambda some: previous[some] > 0)
    placed = arrays.chosen(rows, lambda some: position[some] > 0)
    for mine, others in arrays.together(
        names, lambda some: previous[some], placed, lambda some: position[some]
    ):
        gone[mine[units.named_ones(records, position, mine, others, lonely) < 0]] = True
    return gone


def _counted(records: Records, rows: Index, head: Mask, arrays: Spill) -> Hashes:
    """Positions of ``rows`` (by transaction; ``head``: their first ones) in files whose framing
    tells none, where all that records of a file and log stream name of each other is as far apart
    as the records between are long: nothing was filtered out. 0 in other files, and of other
    records. Records of later files may name them, too."""
    group, place = (arrays.zeros(len(records), np.int64) for _ in range(2))
    groups = _groups(records, arrays, by_file=True)
    for number, mine in enumerate(groups):
        _place(records, mine, place)
        for part in windows(len(mine)):
            group[mine[part]] = number

    def bases() -> Iterator[tuple[Index, Index, Mask]]:
        """(group of a record, its base as the next one names it, whether that is of the group)."""
        last = rows[:0]
        for part in windows(len(rows)):
            pair = np.concatenate([last, rows[part]])
            named = np.flatnonzero(~head[part]) + len(last)
            before, after = pair[named - 1], pair[named]
            base = records["previous"][after].astype(np.int64) - place[before]
            yield group[before], base, group[after] == group[before]
            last = rows[part][-1:]

    lowest, highest = np.full((2, len(groups)), _FAR), np.full((2, len(groups)), -_FAR)
    for of, base, own in bases():
        for kind, chosen in ((0, np.ones(len(of), bool)), (1, own)):
            np.minimum.at(lowest[kind], of[chosen], base[chosen])
            np.maximum.at(highest[kind], of[chosen], base[chosen])
    has_own = lowest[1] <= highest[1]
    base_of = np.where(has_own, lowest[1], lowest[0])
    one = np.where(has_own, lowest[1] == highest[1], lowest[0] == highest[0])
    agree = np.zeros(len(groups), np.int64)
    for of, base, _ in bases():
        agree += np.bincount(of[base == base_of[of]], minlength=len(groups))
    counted = one & (agree >= _ENOUGH)
    position = arrays.zeros(len(records), np.uint64)
    for part in windows(len(rows)):
        mine = rows[part]
        of = group[mine]
        told = np.where(counted[of], place[mine] + np.where(counted, base_of, 0)[of], 0)
        position[mine] = np.maximum(told, 0).astype(np.uint64)
    return position


@dataclass(frozen=True)
class _Within:
    """Of each log stream: where the positions of its files begin (``first``) and end (``last``),
    rising, none within another."""

    records: Records
    spans: dict[int, tuple[Hashes, Hashes]]

    def between(self, rows: Index) -> Mask:
        """Those of some records whose previous position lies between two of one file."""
        inside = np.zeros(len(rows), bool)
        stream, previous = self.records["tid"][rows] >> _STREAM, self.records["previous"][rows]
        for each in np.unique(stream).tolist():
            if each not in self.spans:
                continue
            first, last = self.spans[each]
            mine = np.flatnonzero(stream == each)
            place = np.searchsorted(first, previous[mine], side="right") - 1
            inside[mine] = (place >= 0) & (previous[mine] <= last[np.maximum(place, 0)])
        return inside


def _within_files(records: Records, rows: Index, position: Hashes, head: Mask) -> _Within:
    """What of each log stream lies between two positions of one file. ``rows``: records by
    transaction. Where the framing tells none, those count that the file's own records name of each
    other."""
    low: dict[int, int] = {}
    high: dict[int, int] = {}
    before = -1
    for part in windows(len(rows)):
        mine = rows[part]
        file, stream = records["file"][mine].astype(np.int64), records["tid"][mine] >> _STREAM
        previous, previous_file = records["previous"][mine], np.append(before, file[:-1])
        named = ~head[part] & (file == previous_file) & (previous > 0)
        place = (file << 16) | stream.astype(np.int64)
        placed = position[mine] > 0
        of = np.concatenate([place[placed], place[named]])
        known = np.concatenate([position[mine][placed], previous[named]])
        order = np.argsort(of, kind="stable")
        begin = np.flatnonzero(np.append(True, np.diff(of[order]) > 0))[: len(of)]
        if len(of):
            lowest = np.minimum.reduceat(known[order], begin).tolist()
            highest = np.maximum.reduceat(known[order], begin).tolist()
            for one, least, most in zip(of[order][begin].tolist(), lowest, highest, strict=True):
                low[one], high[one] = min(low.get(one, least), least), max(high.get(one, 0), most)
        before = int(file[-1])
    spans: dict[int, list[list[int]]] = {}
    for one in sorted(low, key=lambda place: low[place]):
        of_stream = spans.setdefault(one & 0xFFFF, [])
        if of_stream and low[one] <= of_stream[-1][1]:
            of_stream[-1][1] = max(of_stream[-1][1], high[one])
        else:
            of_stream.append([low[one], high[one]])
    return _Within(
        records,
        {
            stream: (np.array(held, np.uint64)[:, 0], np.array(held, np.uint64)[:, 1])
            for stream, held in spans.items()
        },
    )


def rising_positions(records: Records, edges: Sequence[int], arrays: Spill) -> Records | None:
    """Records with their positions of 6 bytes, which are read as little-endian, in the byte order
    under which they rise in each file (``edges``: where files begin among the records, and the last
    one ends); None where they rise in neither, or nothing tells."""
    turned = arrays.copied(records)
    for part in windows(len(turned)):
        for name in ("lsn", "previous", "compensated"):
            turned[name][part] = turned[name][part].byteswap() >> np.uint64(16)
    readings = []
    for reading in (records, turned):
        parts = (slice(*edge) for edge in pairwise(edges))
        if all(units.disorder(reading[part], arrays) is None for part in parts):
            readings.append(reading)
    whole = (reading for reading in readings if units.disorder(reading, arrays) is None)
    return next(whole, next(iter(readings), None))


def _all_placed(position: Hashes, rows: Index) -> bool:
    """Whether each of some rows has a position."""
    return all(bool(position[rows[part]].all()) for part in windows(len(rows)))
