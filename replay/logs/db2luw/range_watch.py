"""What the records of a split say of a large log, while tasks send them to those that judge
transactions (:mod:`replay.logs.db2luw.by_transaction`); and what all splits say together.

Each log stream counts positions for itself. Where records tell theirs, they are as far apart as the
records between are long, or something is missing there: a filter left it out where that is so at
many places, else it was lost (:func:`replay.logs.db2luw.chains.holes`). Rows that the log reader
expanded are longer than in the log, so places fall behind, too: what counts is the lowest distance
that is still to come, which later splits have a part in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from replay.arrays import Hashes, Index, Mask, Records, one_of
from replay.logs.by_tasks import OddError
from replay.logs.db2luw import chains, layouts, units
from replay.logs.db2luw.repeats import keys_of
from replay.logs.db2luw.scan import SCANNED, tables_of_rows

#: A record on its way: as it was scanned; the number of its split in the high 32 bits of ``row``,
#: its own among those of the split in the low ones; how long the records of its log stream are
#: before it in the split; whether it names a position that this is known to have no other record of
#: (``inside``).
SENT = np.dtype([*SCANNED.descr, ("row", "<i8"), ("place", "<i8"), ("inside", "?")])

#: A place of a split where the lowest distance rises from ``low`` to ``high``, behind the record at
#: an ``offset``, and its number among these.
_RISE = np.dtype([("rank", "<i8"), ("low", "<i8"), ("high", "<i8"), ("offset", "<i8")])
#: Of these, so many are told of a split.
_MARKS = 16

_STREAM = np.uint64(48)
_FAR = np.iinfo(np.int64).max >> 1
_DISORDER = "records out of order"


@dataclass(frozen=True)
class PositionForm:
    """How the records of a log say where they are: ``lso``, ``lsn`` and ``lfs`` are there or not.
    ``told``: positions are in the form in which others name them; ``turned``: those of 6 bytes are
    in the byte order that the server does not have otherwise."""

    lso: bool
    lsn: bool
    lfs: bool
    turned: bool = False

    @property
    def told(self) -> bool:
        """Whether that is said of each record."""
        return self.lso or (self.lsn and not self.lfs)

    def position(self, records: Records) -> Index:
        """The position of each record, in that form."""
        return records["lso" if self.lso else "lsn"].astype(np.int64)


def form_of(record: np.void, turned: bool) -> PositionForm:
    """That of a log by its first record."""
    lso, lsn, lfs = (bool(record[name]) for name in ("lso", "lsn", "lfs"))
    return PositionForm(lso, lsn, lfs, turned)


@dataclass
class StreamTold:
    """What a split has of a log stream: ``count`` records of ``size`` bytes, none with a header
    below ``least``, the last at ``last_offset``. Where positions are told: ``first`` and ``last``
    are those of its first and last record, ``span`` those of records of transactions; ``base`` is
    how far that of the last is from its place, and ``lowest`` the least such distance. Within the
    split that rises by a record and more at ``rises`` places, of which ``marks`` has some (dtype
    :data:`_RISE`): the first and the last one, and others evenly between."""

    count: int = 0
    size: int = 0
    least: int = 255
    last_offset: int = 0
    first: int = 0
    last: int = 0
    span: tuple[int, int] | None = None
    base: int = 0
    lowest: int = 0
    rises: int = 0
    marks: bytes = b""

    def settle(self, base: Index, offset: Index, least: int) -> None:
        """Take the distances of all records (``int64[n]``), which are at some offsets."""
        lowest = np.minimum.accumulate(base[::-1])[::-1]
        places = np.flatnonzero(np.diff(lowest) >= least)
        self.base, self.lowest, self.rises = int(base[-1]), int(lowest[0]), len(places)
        ranks = np.unique(np.linspace(0, len(places) - 1, _MARKS).astype(np.int64))
        marks = np.zeros(len(ranks) if len(places) else 0, _RISE)
        some = places[ranks[: len(marks)]]
        marks["rank"], marks["offset"] = ranks[: len(marks)], offset[some]
        marks["low"], marks["high"] = lowest[some], lowest[some + 1]
        self.marks = marks.tobytes()

    def rises_below(self, most: int, least: int) -> tuple[int, int, tuple[int, int] | None]:
        """(how many of the places count where ``most`` is the lowest distance behind the split, at
        least and at most; offset and bytes of the first)."""
        marks = np.frombuffer(self.marks, _RISE)
        counts = np.minimum(marks["high"], most) - marks["low"] >= least
        whole = int((marks["high"] <= most).sum())
        first = None
        if counts[:1].any():
            first = int(marks["offset"][0]), int(min(marks["high"][0], most) - marks["low"][0])
        if whole == len(marks):
            return self.rises, self.rises, first
        some = int(counts[whole])
        if whole == 0:
            return some, some, first
        low, high = int(marks["rank"][whole - 1]) + 1, int(marks["rank"][whole])
        return (high + some, high + some, first) if low == high else (low, high + 1, first)


@dataclass
class RangeTold:
    """What the records of one split say of the log: ``entries`` of them, the ``first`` and the
    ``last`` record (dtype :data:`SENT`, of one row or none), whether one is ``named``, whether one
    is ``before`` another by flush sequence and LSN, its log ``streams``, the tables of which rows
    are ``temporary``, and those of which rows are not (``lasting``); ``owners`` of subtransactions
    that it tells, and whether it has records of such (``owned``). ``odd``: what is, in words."""

    number: int
    file: int
    entries: int = 0
    named: bool = False
    before: bool = False
    streams: dict[int, StreamTold] = field(default_factory=dict)
    temporary: set[int] = field(default_factory=set)
    lasting: set[int] = field(default_factory=set)
    owners: dict[int, int] = field(default_factory=dict)
    owned: bool = False
    first: bytes = b""
    last: bytes = b""
    odd: str = ""


def order_of(rows: Records, form: PositionForm) -> str:
    """What is odd in the order of records, one behind the other; '' where nothing is. ``form``:
    which positions the log's records have. Those of log streams are looked at by themselves."""
    for name in ("lso", "lsn", "lfs"):
        if (rows[name] > 0).any() != getattr(form, name) or (
            getattr(form, name) and not rows[name].all()
        ):
            return f"positions ({name}) are told of some records only"
    if form.lso or not form.lsn:
        return ""
    return _DISORDER if units.falls(rows["lsn"], rows["lfs"], alike=form.lfs).any() else ""


class RangeWatch:
    """Looks at the records of a split as they come. ``firsts``: what
    :func:`replay.logs.db2luw.repeats.keys_of` says of the first records of files, ``begins``
    whether the split has one; ``least``: bytes of the smallest header."""

    def __init__(self, told: RangeTold, form: PositionForm, least: int) -> None:
        self.told, self.form, self.least = told, form, least
        self.last = np.zeros(0, SENT)
        self._bases: dict[int, list[tuple[Index, Index]]] = {}

    def look(self, sent: Records, firsts: Hashes, begins: bool) -> None:
        """Look at the next ones, and say what is known of each: ``place`` and ``inside``."""
        told, form = self.told, self.form
        rows = np.flatnonzero(sent["part"] == 0)
        whole = sent[rows]
        again = np.zeros(len(whole), bool)
        if len(firsts):
            again = np.isin(keys_of(whole), firsts)
        if begins and not told.first:
            again[:1] = False  # the first record of a file itself
        if again.any():
            self._odd("records that files repeat")
        pairs = np.concatenate([self.last, whole])
        self._odd(order_of(pairs, form))
        told.before |= form.lso and bool(units.falls(pairs["lsn"], pairs["lfs"], alike=True).any())
        streams = whole["tid"] >> _STREAM
        for stream in np.unique(streams).tolist():
            self._stream(sent, rows[streams == stream], int(stream))
        temporary, lasting = tables_of_rows(sent)
        told.temporary |= temporary
        told.lasting |= lasting
        told.entries += len(sent)
        if len(whole):
            told.first = told.first or whole[:1].tobytes()
            told.last, self.last = whole[-1:].tobytes(), whole[-1:]
            told.named |= bool(whole["previous"].any())

    def _odd(self, reason: str) -> None:
        self.told.odd = self.told.odd or reason

    def _stream(self, sent: Records, rows: Index, stream: int) -> None:
        """Look at the next records of a log stream."""
        told = self.told.streams.setdefault(stream, StreamTold())
        mine = sent[rows]
        length = mine["length"].astype(np.int64)
        place = np.cumsum(length) - length + told.size
        sent["place"][rows] = place
        if self.form.told:
            position = self.form.position(mine)
            self._positions(told, mine, position)
            self._bases.setdefault(stream, []).append((position - place, mine["offset"].copy()))
            sent["inside"][rows] = self._names(mine, position)
        told.count, told.size = told.count + len(rows), told.size + int(length.sum())
        told.least = min(told.least, int(mine["header"].min()))
        told.last_offset = int(mine["offset"][-1])

    def settle(self) -> None:
        """Say what all records of the split say together."""
        for stream, parts in self._bases.items():
            base, offset = (np.concatenate(each) for each in zip(*parts, strict=True))
            self.told.streams[stream].settle(base, offset, self.least)

    def _positions(self, told: StreamTold, mine: Records, position: Index) -> None:
        """Look at the positions of records."""
        if not told.count:
            told.first, told.last = int(position[0]), int(position[0]) - 1
        if (np.diff(np.append(told.last, position)) <= 0).any():
            self._odd(_DISORDER)
        told.last = int(position[-1])
        of = position[~one_of(mine["type"], layouts.OUTSIDE_TRANSACTIONS)]
        if len(of):
            told.span = told.span[0] if told.span else int(of[0]), int(of[-1])

    def _names(self, mine: Records, position: Index) -> Mask:
        """Which of some records name a position between those of others of them, which are of no
        other transaction."""
        previous = mine["previous"].astype(np.int64)
        if (previous >= position).any():
            self._odd("records that name one behind them")
        inside = np.asarray((previous > 0) & (previous >= position[0]))
        at = np.minimum(np.searchsorted(position, previous), len(position) - 1)
        other = inside & (position[at] == previous) & (mine["tid"][at] != mine["tid"])
        if other.any():
            self._odd("records that name others which are not those of their transaction")
        return inside


@dataclass
class StreamWhole:
    """A log stream: ``count`` records of ``size`` bytes, none with a header below ``least``; how
    long those before each split are (``before``); and where positions are told, the ``start``, at
    least and at most how often they go on further than records are long (``rises``), also
    ``within`` a file, where first (``gap``: file, offset and bytes), and where those of each file
    begin and end (``spans``)."""

    count: int = 0
    size: int = 0
    least: int = 255
    before: dict[int, int] = field(default_factory=dict)
    start: int = 0
    rises: tuple[int, int] = (0, 0)
    within: tuple[int, int] = (0, 0)
    gap: tuple[int, int, int] | None = None
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)


class StreamsWhole:
    """The log ``streams`` of all splits, which are given in the order of the log. OddError where
    they do not fit."""

    def __init__(self, ranges: Sequence[RangeTold], form: PositionForm, least: int) -> None:
        self.streams: dict[int, StreamWhole] = {}
        self.form, self.least = form, least
        parts: dict[int, list[tuple[RangeTold, StreamTold]]] = {}
        for told in ranges:
            for stream, part in told.streams.items():
                parts.setdefault(stream, []).append((told, part))
        for stream, mine in parts.items():
            whole = self.streams[stream] = StreamWhole(start=mine[0][1].first)
            for told, part in mine:
                whole.before[told.number] = whole.size
                whole.count, whole.size = whole.count + part.count, whole.size + part.size
                whole.least = min(whole.least, part.least)
            if form.told:
                self._positions(whole, mine)
        if any(whole.least != least for whole in self.streams.values()):
            raise OddError("no record with the usual header")
        self._together(ranges)

    def _positions(self, whole: StreamWhole, parts: list[tuple[RangeTold, StreamTold]]) -> None:
        """Look at the positions of a stream."""
        for (_, one), (_, other) in pairwise(parts):
            if other.first <= one.last:
                raise OddError(_DISORDER)
        lowest, behind = _FAR, -1
        for told, part in reversed(parts):
            if part.span is not None:
                last = whole.spans.get(told.file, part.span)[1]
                whole.spans[told.file] = part.span[0], last
            # distances in a split are from where its first record is
            before = whole.before[told.number]
            low, high, gap = part.rises_below(lowest + before, self.least)
            ends = int(self.least <= lowest + before - part.base < _FAR >> 1)
            if ends and gap is None:
                gap = part.last_offset, lowest + before - part.base
            whole.rises = whole.rises[0] + low + ends, whole.rises[1] + high + ends
            ends &= told.file == behind
            whole.within = whole.within[0] + low + ends, whole.within[1] + high + ends
            whole.gap = whole.gap if gap is None else (told.file, *gap)
            lowest, behind = min(lowest, part.lowest - before), told.file

    def _together(self, ranges: Sequence[RangeTold]) -> None:
        """Look at the order of all records."""
        several = len(self.streams) > 1
        if several and any(whole.count < 2 for whole in self.streams.values()):
            raise OddError("a log stream with one record")
        fallen = any(told.before for told in ranges)
        for one, other in pairwise(ranges):
            rows = np.concatenate([np.frombuffer(one.last, SENT), np.frombuffer(other.first, SENT)])
            if order_of(rows, self.form):
                raise OddError(_DISORDER)
            fallen |= self.form.lso and bool(
                units.falls(rows["lsn"], rows["lfs"], alike=True).any()
            )
        if several and fallen:
            raise OddError(_DISORDER)

    @cached_property
    def holds_all(self) -> bool:
        """Whether nothing was filtered out, where positions are told. OddError where that is not
        known."""
        streams = self.streams.values()
        count = sum(whole.count for whole in streams)
        least, most = (
            chains.holds_all(count, sum(whole.within[side] for whole in streams)) for side in (0, 1)
        )
        if least != most or (least and any(w.rises[0] != w.rises[1] for w in streams)):
            raise OddError("places where records may be missing")
        return least

    def between(self, stream: int, positions: Index) -> Mask:
        """Which positions of a log stream lie between two of one file."""
        spans = np.array(sorted(self.streams[stream].spans.values()), np.int64).reshape(-1, 2)
        place = np.searchsorted(spans[:, 0], positions, "right") - 1
        return np.asarray((place >= 0) & (positions <= spans[np.maximum(place, 0), 1]))

    def bases(self, told: Mapping[tuple[int, int], tuple[int, int]]) -> None:
        """Where each stream starts by what its records name, which ``told`` says by split and
        stream: how far that is from places, at least and at most."""
        found: dict[int, set[int]] = {stream: set() for stream in self.streams}
        for (split, stream), both in told.items():
            found[stream] |= {base - self.streams[stream].before[split] for base in both}
        if any(len(bases) != 1 for bases in found.values()):
            raise OddError("places where records are missing")
        for stream, bases in found.items():
            self.streams[stream].start = bases.pop()
