"""What the records of a split say of a large log, while tasks send them to those that judge
transactions (:mod:`replay.logs.db2luw.by_transaction`); and what all splits say together.

Each log stream counts positions for itself. Where records tell theirs, they are as far apart as the
records between are long, or something is missing there: a filter left it out where that is so at
many places, else it was lost (:func:`replay.logs.db2luw.chains.holes`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from replay.arrays import Hashes, Index, Mask, Records
from replay.logs.by_tasks import OddError
from replay.logs.db2luw import chains, layouts, units
from replay.logs.db2luw.repeats import keys_of
from replay.logs.db2luw.scan import SCANNED, tables_of_rows

#: A record on its way: as it was scanned; the number of its split in the high 32 bits of ``row``,
#: its own among those of the split in the low ones; how long the records of its log stream are
#: before it in the split; whether it names a position that this is known to have no other record of
#: (``inside``).
SENT = np.dtype([*SCANNED.descr, ("row", "<i8"), ("place", "<i8"), ("inside", "?")])

_STREAM = np.uint64(48)
_DISORDER = "records out of order"


@dataclass(frozen=True)
class PositionForm:
    """How the records of a log say where they are: ``lso``, ``lsn`` and ``lfs`` are there or not.
    ``told``: positions are in the form in which others name them."""

    lso: bool
    lsn: bool
    lfs: bool

    @property
    def told(self) -> bool:
        """Whether that is said of each record."""
        return self.lso or (self.lsn and not self.lfs)

    def position(self, records: Records) -> Index:
        """The position of each record, in that form."""
        return records["lso" if self.lso else "lsn"].astype(np.int64)


def form_of(record: np.void) -> PositionForm:
    """That of a log by its first record."""
    return PositionForm(*(bool(record[name]) for name in ("lso", "lsn", "lfs")))


@dataclass
class StreamTold:
    """What a split has of a log stream: ``count`` records of ``size`` bytes, none with a header
    below ``least``, the last at ``last_offset``. Where positions are told: ``first`` is that of the
    first record, ``bases`` how far those of the first and the last are from their places, ``span``
    the first and last one of records of transactions; at ``rises`` places positions go on further
    than records are long, the first of them ``gap``: the offset of the record before it, and by how
    many bytes."""

    count: int = 0
    size: int = 0
    least: int = 255
    last_offset: int = 0
    first: int = 0
    bases: tuple[int, int] = (0, 0)
    span: tuple[int, int] | None = None
    rises: int = 0
    gap: tuple[int, int] | None = None


@dataclass
class RangeTold:
    """What the records of one split say of the log: ``entries`` of them, the ``first`` and the
    ``last`` record (dtype :data:`SENT`, of one row or none), whether one is ``named``, whether one
    is ``before`` another by flush sequence and LSN, its log ``streams``, the tables of which rows
    are ``temporary``, and those of which rows are not (``lasting``). ``odd``: what is, in words."""

    number: int
    file: int
    entries: int = 0
    named: bool = False
    before: bool = False
    streams: dict[int, StreamTold] = field(default_factory=dict)
    temporary: set[int] = field(default_factory=set)
    lasting: set[int] = field(default_factory=set)
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
    return _DISORDER if units.falls(rows, alike=form.lfs).any() else ""


class RangeWatch:
    """Looks at the records of a split as they come. ``firsts``: what
    :func:`replay.logs.db2luw.repeats.keys_of` says of the first records of files, ``begins``
    whether the split has one; ``least``: bytes of the smallest header."""

    def __init__(self, told: RangeTold, form: PositionForm, least: int) -> None:
        self.told, self.form, self.least = told, form, least
        self.last = np.zeros(0, SENT)

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
        if (whole["type"] == layouts.SUBTRANSACTION).any():
            self._odd("subtransactions")
        if again.any():
            self._odd("records that files repeat")
        pairs = np.concatenate([self.last, whole])
        self._odd(order_of(pairs, form))
        told.before |= form.lso and bool(units.falls(pairs, alike=True).any())
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
            self._positions(told, mine, position, position - place)
            sent["inside"][rows] = self._names(mine, position)
        told.count, told.size = told.count + len(rows), told.size + int(length.sum())
        told.least = min(told.least, int(mine["header"].min()))
        told.last_offset = int(mine["offset"][-1])

    def _positions(self, told: StreamTold, mine: Records, position: Index, base: Index) -> None:
        """Look at positions, and how far they are from places."""
        if not told.count:
            told.first, told.bases = int(position[0]), (int(base[0]), int(base[0]))
        step = np.diff(np.append(told.bases[1], base))
        if (step < 0).any():
            self._odd("positions that fall behind the lengths of records")
        rises = np.flatnonzero(step >= self.least)
        told.rises += len(rises)
        if len(rises) and told.gap is None:
            before = np.append(told.last_offset, mine["offset"])[rises[0]]
            told.gap = int(before), int(step[rises[0]])
        told.bases = told.bases[0], int(base[-1])
        of = position[~np.isin(mine["type"], layouts.OUTSIDE_TRANSACTIONS)]
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
    long those before each split are (``before``); and where positions are told, the ``start``, the
    ``rises``, those ``within`` a file, the first of them (``gap``: file, offset and bytes), and
    where those of each file begin and end (``spans``)."""

    count: int = 0
    size: int = 0
    least: int = 255
    before: dict[int, int] = field(default_factory=dict)
    start: int = 0
    rises: int = 0
    within: int = 0
    gap: tuple[int, int, int] | None = None
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)


class StreamsWhole:
    """The log ``streams`` of all splits, which are given in the order of the log. OddError where
    they do not fit."""

    def __init__(self, ranges: Sequence[RangeTold], form: PositionForm, least: int) -> None:
        self.streams: dict[int, StreamWhole] = {}
        self.form, self.least = form, least
        last: dict[int, tuple[RangeTold, StreamTold, int]] = {}
        for told in ranges:
            for stream, part in told.streams.items():
                whole = self.streams.setdefault(stream, StreamWhole(start=part.first))
                if form.told:
                    self._go_on(whole, last.get(stream), told, part)
                whole.before[told.number] = whole.size
                last[stream] = told, part, part.bases[1] - whole.size
                whole.count, whole.size = whole.count + part.count, whole.size + part.size
                whole.least = min(whole.least, part.least)
        if any(whole.least != least for whole in self.streams.values()):
            raise OddError("no record with the usual header")
        self._together(ranges)

    def _go_on(
        self,
        whole: StreamWhole,
        last: tuple[RangeTold, StreamTold, int] | None,
        told: RangeTold,
        part: StreamTold,
    ) -> None:
        """Take the next split of a stream."""
        if last is not None:
            step = part.bases[0] - whole.size - last[2]
            if step < 0:
                raise OddError(_DISORDER)
            if step >= self.least:
                whole.rises += 1
                whole.within += last[0].file == told.file
                whole.gap = whole.gap or (last[0].file, last[1].last_offset, step)
        whole.rises, whole.within = whole.rises + part.rises, whole.within + part.rises
        if part.gap is not None:
            whole.gap = whole.gap or (told.file, *part.gap)
        if part.span is not None:
            first = whole.spans.get(told.file, part.span)[0]
            whole.spans[told.file] = first, part.span[1]

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
            fallen |= self.form.lso and bool(units.falls(rows, alike=True).any())
        if several and fallen:
            raise OddError(_DISORDER)

    @property
    def holds_all(self) -> bool:
        """Whether nothing was filtered out, where positions are told."""
        count = sum(whole.count for whole in self.streams.values())
        return chains.holds_all(count, sum(whole.within for whole in self.streams.values()))

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
