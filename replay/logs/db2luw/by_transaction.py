"""The index of a large log made by tasks: the records of one transaction come to one task, in the
order of the log, which finds there what they say of each other, as of a log with fewer records.

What a record names may be in the log, and of another transaction: the split that it lies in says
that of what is near (:mod:`replay.logs.db2luw.range_watch`), and of the rest each split is asked
when the entries are written. Where something is odd, the log is indexed in one process
(:mod:`replay.logs.db2luw.index`), which has the rules for what is out of place. The records are
brought together twice: once to know what units there are and what becomes of tables
(:class:`Told`), and once more to write the entries.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from replay.arrays import Hashes, Index, Mask, Records, one_of
from replay.changes.catalog import TableVersion
from replay.logs import Split
from replay.logs.by_tasks import OddError
from replay.logs.db2luw import chains, layouts, opening_warnings, row_moves, strays, units
from replay.logs.db2luw.framed import FramedLog
from replay.logs.db2luw.framing import OpenedFile
from replay.logs.db2luw.index_entries import ENTRY, fill, in_committed, moved_rows
from replay.logs.db2luw.layouts import RecordKind, RecordRole
from replay.logs.db2luw.range_watch import SENT, PositionForm, RangeTold, RangeWatch
from replay.logs.db2luw.scan import SCANNED, UNKNOWN, pass_over, scan_records
from replay.logs.db2luw.subtransactions import Owners, told_owners
from replay.logs.db2luw.table_history import EVENTS, Held, LuwTableHistory, versions_of
from replay.logs.db2luw.tables import TableId
from replay.logs.long_arrays import LongArrays
from replay.logs.made_arrays import MadeArray
from sqlgen.structure import StructureChange

#: An entry on its way.
_PLACED = np.dtype([*ENTRY.descr, ("row", "<i8")])
_SPLIT, _WITHIN = 32, (1 << 32) - 1
_STREAM = np.uint64(48)
FAR = np.iinfo(np.int64).max
#: Records of a bucket that are given to the driver beside the first and the last one of each unit.
_MOST_SPECIAL = 1 << 16
#: Subtransactions whose owners a split tells.
_MOST_OWNERS = 1 << 16
#: A result in place of entries, which are longer: a record has a position that none may have.
_ODD = b"odd"
_SPECIAL_KINDS = (RecordKind.LOAD, RecordKind.UNKNOWN)


@dataclass
class BucketTold:
    """What the transactions of a bucket say. ``units``: :data:`UNIT_TOLD`; ``few`` records (dtype
    :data:`SENT`): first and last ones of units, those about tables, and those that warnings count,
    by ``row``, with their ``few_units``; ``names`` by their numbers. ``bases``: by split and log
    stream, the lowest and highest distance of named positions from places, where none are told.

    Records that name one before them which is not of their transaction are ``missing`` one, the
    first of them ``first_missing``; ``outside`` has those that may name one of another split (dtype
    :data:`OUTSIDE`). ``loose`` units begin with one, some ``single``. ``chained`` records name the
    one before them, the first of them of each log stream at ``first_chained``; ``last_open``: where
    the first unit of each ends that has changes and no end. ``apart``: overflow records that stay
    changes of committed units."""

    number: int
    units: bytes = b""
    few: bytes = b""
    few_units: bytes = b""
    names: list[bytes] = field(default_factory=list)
    bases: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    missing: int = 0
    first_missing: int = FAR
    outside: bytes = b""
    loose: int = 0
    single: bool = False
    chained: int = 0
    first_chained: dict[int, int] = field(default_factory=dict)
    last_open: dict[int, int] = field(default_factory=dict)
    apart: int = 0
    odd: str = ""


#: Of a unit: rows of its first and last record, and what :class:`replay.logs.db2luw.units.Units`
#: has; ``holds`` changes; ``gone``: a record names one that its split does not have.
UNIT_TOLD = np.dtype(
    [
        ("first", "<i8"), ("last", "<i8"), ("tid", "<u8"), ("again", "<i8"),
        ("disposition", "u1"), ("holds", "?"), ("gone", "?"),
    ]
)  # fmt: skip


#: A record at ``row`` that names a position which neither its transaction nor what is near it has:
#: ``previous``, in a log ``stream``, and each ``unit`` of its bucket that lacks it (-1: none).
OUTSIDE = np.dtype([("row", "<i8"), ("previous", "<i8"), ("stream", "<i8"), ("unit", "<i8")])


@dataclass(frozen=True)
class Told:
    """What is known of a log once all have told: where the units of each bucket begin among all of
    them, and the entries of each split; what tables are like, as :class:`LuwTableHistory` but by
    rows; where entries and their offsets are written, where tasks find that; and the positions of
    each log stream that no record may have (``named``): others name them, of other transactions;
    ``emptied`` data partitions, as ``changes``."""

    unit_offsets: Sequence[int]
    first_rows: Index
    versions: list[TableVersion]
    held: Held
    base: Mapping[TableId, int]
    changes: Mapping[int, tuple[StructureChange, int]]
    files: tuple[MadeArray, ...] = ()
    named: Mapping[int, Index] = field(default_factory=dict)
    emptied: Mapping[int, tuple[bool, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class TransactionsJob:
    """Brings the records of splits (``splits``) together by transaction: those up to the first of
    ``bounds`` (rising), and so on. ``firsts``: what :func:`replay.logs.db2luw.repeats.keys_of` says
    of the first records of files; ``owners`` of subtransactions, where there are any and they are
    known. Without ``told`` the results are pickled :class:`RangeTold` and
    :class:`BucketTold`; with it entries are written, or the results are: see :func:`taken`."""

    splits: tuple[Split, ...]
    bounds: Hashes
    form: PositionForm
    firsts: Hashes
    owners: Owners | None = None
    told: Told | None = None

    @property
    def title(self) -> str:
        """What it does."""
        return "index transactions" if self.told is None else "write the index"

    @property
    def buckets(self) -> int:
        """The parts of transactions."""
        return len(self.bounds) + 1

    @property
    def meetings(self) -> int:
        """The splits, whose entries come together."""
        return 0 if self.told is None else len(self.splits)

    @cached_property
    def _numbers(self) -> dict[tuple[int, int], int]:
        return {(split.file, split.start): number for number, split in enumerate(self.splits)}

    def scan(self, log: FramedLog, split: Split) -> Iterator[tuple[int, bytes]]:
        """The records of a split, by bucket."""
        number, entry = self._numbers[split.file, split.start], log.files[split.file]
        opened = OpenedFile(entry.name, entry.path, entry.shape)
        told, count = RangeTold(number, split.file), 0
        watch = RangeWatch(told, self.form, entry.shape.dialect.sizes[0])
        for offsets, lengths in log.steps(split.file, split.start, split.stop):
            names: dict[bytes, int] = {b"": 0}
            for scanned in scan_records(opened, split.file, offsets, lengths, names):
                sent = np.zeros(len(scanned), SENT)
                octets = sent.view(np.uint8).reshape(len(sent), -1)
                octets[:, : SCANNED.itemsize] = scanned.view(np.uint8).reshape(len(sent), -1)
                if self.form.turned:
                    chains.turn(sent)
                sent["row"] = np.arange(count, count + len(sent)) + (number << _SPLIT)
                count += len(sent)
                tids = sent["tid"]
                if self.owners is not None:
                    tids, mine = self.owners.transactions(tids)
                    told.owned |= bool((tids[mine] != sent["tid"][mine]).any())
                if self.told is None:
                    watch.look(sent, self.firsts, split.first_record == 1)
                    self._ask_owners(told, sent, opened)
                else:
                    sent["inside"] = self._named(sent, self.told.named)
                pass_over(sent, np.flatnonzero(sent["temporary"]))
                of = np.searchsorted(self.bounds, tids, "right")
                order = np.argsort(of, kind="stable")
                edges = np.flatnonzero(np.diff(of[order])) + 1
                for rows in np.split(order, edges):
                    yield int(of[rows[0]]), pickle.dumps(([*names], sent[rows].tobytes()))
        if self.told is None:
            watch.settle()
            yield self.buckets, pickle.dumps(told)

    def _ask_owners(self, told: RangeTold, sent: Records, opened: OpenedFile) -> None:
        """Note whose subtransactions some records tell."""
        rows = np.flatnonzero(sent["type"] == layouts.SUBTRANSACTION)
        if len(rows):
            told.owners.update(told_owners(sent, rows, {told.file: opened}))
        if len(told.owners) > _MOST_OWNERS:
            told.odd = told.odd or "many subtransactions"

    def _named(self, sent: Records, named: Mapping[int, Index]) -> Mask:
        """Which of some records have a position that others name, of other transactions."""
        found = np.zeros(len(sent), bool)
        for stream, positions in named.items():
            mine = np.flatnonzero((sent["tid"] >> _STREAM) == stream)
            found[mine] = np.isin(self.form.position(sent[mine]), positions)
        return found

    def reduce(self, log: FramedLog, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """What transactions say, or their entries by split."""
        sent, names = _together(blocks)
        transactions = _Transactions(sent, self.form, self.owners)
        if self.told is None:
            yield pickle.dumps(transactions.say(bucket, names))
            return
        if sent["inside"].any():
            yield _ODD
            return
        entries = transactions.entries(log, bucket, self.told)
        for rows in np.split(entries, np.flatnonzero(np.diff(entries["row"] >> _SPLIT)) + 1):
            yield int(rows["row"][0] >> _SPLIT).to_bytes(8, "little") + rows.tobytes()

    def divide(self, result: bytes) -> Iterator[tuple[int, bytes]]:
        """The entries of a split for it; what is odd for the caller."""
        if result == _ODD:
            yield self.meetings, result
            return
        yield int.from_bytes(result[:8], "little"), result[8:]

    def meet(self, meeting: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Write the entries of a split, or give them to the caller."""
        assert self.told is not None
        placed = np.concatenate([np.frombuffer(block, _PLACED) for block in blocks])
        placed = placed[np.argsort(placed["row"])]
        entries = np.empty(len(placed), ENTRY)
        octets = placed.view(np.uint8).reshape(len(placed), -1)[:, : ENTRY.itemsize]
        entries.view(np.uint8).reshape(len(placed), -1)[:] = octets
        first = int(self.told.first_rows[meeting])
        if not self.told.files:
            yield first.to_bytes(8, "little") + entries.tobytes()
            return
        write_entries(self.told.files, first, entries)
        yield first.to_bytes(8, "little")


def write_entries(files: Sequence[MadeArray], first: int, entries: Records) -> None:
    """Write entries from number ``first`` on to the first of two ``files``, and their offsets to
    the second. Raises OSError."""
    for file, values in zip(files, (entries, entries["offset"]), strict=True):
        file.put(first, values)


def taken(result: bytes, files: Sequence[MadeArray]) -> None:
    """Take a result of a job with ``told``: write the entries that no task wrote. Raises
    OSError, and OddError."""
    if result == _ODD:
        raise OddError("records that name others which are not those of their transaction")
    if len(result) > 8:
        entries = np.frombuffer(result, ENTRY, offset=8)
        write_entries(files, int.from_bytes(result[:8], "little"), entries)


def _together(blocks: Iterable[bytes]) -> tuple[Records, list[bytes]]:
    """The records of all blocks, in the order of the log, and their names by numbers."""
    names: dict[bytes, int] = {b"": 0}
    parts: dict[int, Records] = {}
    for block in blocks:
        told, octets = pickle.loads(block)
        part = np.frombuffer(octets, SENT)
        if len(told) > 1:
            part = part.copy()
            part["name"] = np.array([names.setdefault(n, len(names)) for n in told])[part["name"]]
        parts[int(part["row"][0])] = part
    # blocks are of stretches that lie one behind the other
    return np.concatenate([parts[row] for row in sorted(parts)]), [*names]


class _Transactions:
    """The records of some transactions, all of each of them, in the order of the log. ``owners`` as
    :class:`TransactionsJob`."""

    def __init__(self, records: Records, form: PositionForm, owners: Owners | None) -> None:
        self.records, self.form, self.arrays = records, form, LongArrays(None)
        self.tids: Hashes = records["tid"].copy()
        if owners is not None:
            self.tids, mine = owners.transactions(self.tids)
            owners.end_nothing(records, mine)
        self.result = units.resolve(records, self.tids, owners is None, self.arrays)

    def say(self, number: int, names: list[bytes]) -> BucketTold:
        """What they say of the log."""
        records, result = self.records, self.result
        told = BucketTold(number, names=names)
        absent = self._chains(told)
        holds = opening_warnings.changing(records, result, self.arrays)
        of = np.zeros(len(result.last), UNIT_TOLD)
        of["first"], of["last"] = records["row"][result.first], records["row"][result.last]
        of["tid"], of["again"], of["disposition"] = result.tid, result.again, result.disposition
        of["holds"], of["gone"] = holds, self._lacking(told, absent)
        told.units = of.tobytes()
        self._strays(told, absent)
        self._few(told, absent)
        moves = row_moves.Moves()
        live = ~result.cancelled & (result.unit >= 0)
        parts = [moves.pair(records, result.unit, live, 0), moves.rest()]
        single = np.concatenate([part.single for part in parts])
        told.apart = int(in_committed(result, result.unit[single]).sum())
        return told

    def _chains(self, told: BucketTold) -> Index:
        """Look at what records name; those that name one which is not of their transaction."""
        records, form = self.records, self.form
        whole = np.flatnonzero(records["part"] == 0)
        # a subtransaction has a chain of its own
        order = whole[np.argsort(records["tid"][whole], kind="stable")]
        same = records["tid"][order][1:] == records["tid"][order][:-1]
        before, after = order[:-1][same], order[1:][same]
        named = records["previous"][after] > 0
        before, after = before[named], after[named]
        first = order[np.append(True, ~same)] if len(order) else order
        absent = first[records["previous"][first] > 0]
        if one_of(records["type"][before], layouts.OUTSIDE_TRANSACTIONS).any():
            told.odd = "transactions with records of backups"
        previous = records["previous"][after].astype(np.int64)
        if form.told:
            position = form.position(records[before])
            if (previous < position).any():
                told.odd = "records that do not name the one before them in their transaction"
            absent = np.append(absent, after[previous > position])
            before, after = before[previous == position], after[previous == position]
        else:
            self._bases(told, before, previous)
            rows, head = chains.transactions(records, self.arrays)
            unit = self.result.unit
            parted = (unit[before] >= 0) & (unit[after] >= 0) & (unit[before] != unit[after])
            if np.isin(after, rows[head]).any() or parted.any():
                told.odd = "transactions that name the one before them"
        told.chained = len(after)
        told.first_chained = self._first_of_streams(after)
        told.missing = len(absent)
        told.first_missing = int(records["row"][absent].min(initial=FAR))
        return np.sort(absent)

    def _bases(self, told: BucketTold, before: Index, previous: Index) -> None:
        """Say how far the positions of records are from their places, as those behind name them."""
        records = self.records
        base = previous - records["place"][before]
        key = (records["row"][before] >> _SPLIT << 16) | self._streams(before)
        order = np.argsort(key, kind="stable")
        edges = np.flatnonzero(np.diff(key[order])) + 1
        for mine in np.split(order, edges) if len(order) else ():
            place = int(key[mine[0]]) >> 16, int(key[mine[0]]) & 0xFFFF
            told.bases[place] = int(base[mine].min()), int(base[mine].max())

    def _streams(self, rows: Index) -> Index:
        return (self.records["tid"][rows] >> _STREAM).astype(np.int64)

    def _first_of_streams(self, rows: Index) -> dict[int, int]:
        """Where the first of some records of each log stream is."""
        streams, place = self._streams(rows), self.records["row"][rows]
        return {
            stream: int(place[streams == stream].min()) for stream in np.unique(streams).tolist()
        }

    def _lacking(self, told: BucketTold, absent: Index) -> Mask:
        """Units with a record that names one which is not there, though others of its split are
        before and behind that; and those with one that may be in another split."""
        records, gone = self.records, np.zeros(len(self.result.last), bool)
        rows, head = chains.transactions(records, self.arrays)
        segment = np.cumsum(head) - 1
        lost = np.isin(rows, absent) & ~chains.after_alone(records, rows)
        inside = records["inside"][rows]
        of = self.result.unit[rows]
        broken = np.isin(segment, segment[lost & inside])
        gone[of[broken & (of >= 0)]] = True
        # all units that have records of a segment, once each
        held = np.flatnonzero((of >= 0) & np.isin(segment, segment[lost & ~inside]))
        pairs = np.unique(np.stack([segment[held], of[held]]), axis=1)
        names = np.flatnonzero(lost & ~inside)
        begin, end = (np.searchsorted(pairs[0], segment[names], side) for side in ("left", "right"))
        count = end - begin
        place = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        lacking = pairs[1][np.repeat(begin, count) + place]
        asked = absent[~records["inside"][absent]]
        outside = np.zeros(len(asked) + len(lacking), OUTSIDE)
        who = np.append(asked, np.repeat(rows[names], count))
        outside["row"], outside["stream"] = records["row"][who], self._streams(who)
        outside["previous"] = records["previous"][who]
        outside["unit"] = np.append(np.full(len(asked), -1), lacking)
        told.outside = outside.tobytes()
        return gone

    def _strays(self, told: BucketTold, absent: Index) -> None:
        """Say what :mod:`replay.logs.db2luw.strays` would look at."""
        records, result = self.records, self.result
        open_ = result.disposition == ord("F")
        last = result.last - records["part"][result.last]
        loose = np.isin(result.first, absent)
        told.loose = int(loose.sum())
        alone = loose & open_ & (last == result.first)
        alone &= records["kind"][result.first] == RecordKind.COMPONENT
        told.single = bool(alone.any())
        changing = strays.changing(records, result, self.arrays)
        told.last_open = self._first_of_streams(last[open_ & changing])
        again = np.flatnonzero(loose & (result.again > 0))
        if len(again) and self.form.told:
            ends = self.form.position(records[result.last[again - 1]])
            if (records["previous"][result.first[again]].astype(np.int64) <= ends).any():
                told.odd = "units that name what is before the one with their transaction id"

    def _few(self, told: BucketTold, absent: Index) -> None:
        records, result = self.records, self.result
        special = one_of(records["kind"], _SPECIAL_KINDS) | one_of(records["role"], EVENTS)
        special |= records["role"] == RecordRole.UNKNOWN
        special |= (records["before_is"] == UNKNOWN) | (records["after_is"] == UNKNOWN)
        unit = result.unit[one_of(records["role"], EVENTS)]
        if one_of(result.disposition[unit[unit >= 0]], (ord("F"), ord("P"))).any():
            told.odd = "tables that a unit without an end changes"
        if special.sum() > _MOST_SPECIAL:
            told.odd = "many records of unknown types or functions, or about tables"
            return
        chosen = [np.flatnonzero(special), absent[:1], result.first, result.last]
        few = np.unique(np.concatenate(chosen))
        told.few, told.few_units = records[few].tobytes(), result.unit[few].tobytes()

    def entries(self, log: FramedLog, bucket: int, told: Told) -> Records:
        """Their entries (dtype :data:`_PLACED`)."""
        records, result = self.records, self.result
        version = versions_of(records, records["row"], told.held, told.base)
        changed = np.array(sorted(told.changes), np.int64)
        places = np.flatnonzero(np.isin(records["row"], changed))
        changes = {place: told.changes[int(records["row"][place])] for place in places.tolist()}
        for place, (_, number) in changes.items():
            version[place] = number
        emptied = np.array(sorted(told.emptied), np.int64)
        places = np.flatnonzero(np.isin(records["row"], emptied))
        parts = {place: told.emptied[int(records["row"][place])] for place in places.tolist()}
        for place, (_, number) in parts.items():
            version[place] = number
        timeline = LuwTableHistory(
            told.versions,
            version,
            {place: change for place, (change, _) in changes.items()},
            emptied={place: alone for place, (alone, _) in parts.items()},
        )
        files = [OpenedFile(file.name, file.path, file.shape) for file in log.files]
        foreign = np.zeros(len(records), bool)
        if self.form.told:
            position = units.positions(records, self.arrays)
            foreign = units.foreign(
                records, self.tids, result.unit, position, self.arrays, np.zeros(1 << 16, bool)
            )
        entries = np.zeros(len(records), _PLACED)
        fill(entries, records, files, result, timeline, (foreign,))
        moved_rows(records, result, entries)
        if self.form.turned:
            chains.turn(entries, "lsn")  # an index has them as they were read
        row = records["row"][entries["head"]]
        entries["head"] = told.first_rows[row >> _SPLIT] + (row & _WITHIN)
        entries["unit"][entries["unit"] >= 0] += told.unit_offsets[bucket]
        entries["row"] = records["row"]
        return entries
