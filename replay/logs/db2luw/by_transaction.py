"""The index of a large log made by tasks: the records of one transaction come to one task, in the
order of the log, which finds there what they say of each other, as of a log with fewer records.

That holds for logs with every record of one log stream, each of which names the one before it in
its transaction. What each task looks at says so, or something is odd, and the log is indexed in one
process (:mod:`replay.logs.db2luw.index`), which has the rules for what is missing or out of place.
The records are brought together twice: once to know what units there are and what becomes of tables
(:class:`Told`), and once more to write the entries.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from replay.arrays import Hashes, Index, Mask, Records
from replay.changes.catalog import TableVersion
from replay.logs import Split
from replay.logs.db2luw import chains, layouts, opening_warnings, row_moves, strays, units
from replay.logs.db2luw.framed import FramedLog
from replay.logs.db2luw.framing import LuwShape, OpenedFile
from replay.logs.db2luw.index_entries import ENTRY, fill, in_committed, moved_rows
from replay.logs.db2luw.layouts import RecordKind, RecordRole
from replay.logs.db2luw.repeats import keys_of
from replay.logs.db2luw.scan import SCANNED, UNKNOWN, scan_records
from replay.logs.db2luw.table_history import EVENTS, Held, LuwTableHistory, versions_of
from replay.logs.db2luw.tables import TableId
from replay.logs.long_arrays import LongArrays
from replay.logs.made_arrays import MadeArray
from sqlgen.structure import StructureChange

#: A record on its way: as it was scanned; the number of its split in the high 32 bits of ``row``,
#: its own among those of the split in the low ones; how long the records of its file are before it.
SENT = np.dtype([*SCANNED.descr, ("row", "<i8"), ("place", "<i8")])
#: An entry on its way.
_PLACED = np.dtype([*ENTRY.descr, ("row", "<i8")])
_SPLIT, _WITHIN = 32, (1 << 32) - 1
_FAR = np.iinfo(np.int64).max
#: Records of a bucket that are given to the driver beside the first and the last one of each unit.
_MOST_SPECIAL = 1 << 16
_SPECIAL_KINDS = (RecordKind.LOAD, RecordKind.UNKNOWN)


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
class RangeTold:
    """What the records of one split say of the log: ``entries`` of them, the ``first`` and the
    ``last`` record (dtype :data:`SENT`, of one row or none), how many ``whole`` records there are,
    at how many of them positions ``rise`` by a record and more, whether one is ``named``, whether
    neighbours have LSNs ``alike``, the ``least`` size of a header, and log ``streams``. ``odd``:
    what is, in words."""

    number: int
    file: int
    entries: int = 0
    whole: int = 0
    rise: int = 0
    named: bool = False
    alike: bool = False
    least: int = 255
    streams: set[int] = field(default_factory=set)
    first: bytes = b""
    last: bytes = b""
    odd: str = ""


@dataclass
class BucketTold:
    """What the transactions of a bucket say. ``units``: :data:`UNIT_TOLD`; ``few`` records (dtype
    :data:`SENT`): first and last ones of units, those about tables, and those that warnings count,
    by ``row``, with their ``few_units``; ``names`` by their numbers. ``bases``: by file, the lowest
    and highest distance of positions from places.

    Of transactions that begin before the log: ``before`` is the highest position that they name,
    ``headless`` how many there are, ``first_headless`` the first such record; ``loose`` units begin
    with one, some ``single``. ``chained`` records name the one before them, the first of them at
    ``first_chained``; ``last_open``: where the first unit ends that has changes and no end.
    ``apart``: overflow records that stay changes of committed units. ``by_lsn``: a record names an
    LSN as the change that it takes back."""

    number: int
    units: bytes = b""
    few: bytes = b""
    few_units: bytes = b""
    names: list[bytes] = field(default_factory=list)
    bases: dict[int, tuple[int, int]] = field(default_factory=dict)
    before: int = 0
    headless: int = 0
    first_headless: int = _FAR
    loose: int = 0
    single: bool = False
    chained: int = 0
    first_chained: int = _FAR
    last_open: int = _FAR
    apart: int = 0
    by_lsn: bool = False
    odd: str = ""


#: Of a unit: rows of its first and last record, and what :class:`replay.logs.db2luw.units.Units`
#: has; ``holds`` changes, ``lacks`` records.
UNIT_TOLD = np.dtype(
    [
        ("first", "<i8"), ("last", "<i8"), ("tid", "<u8"), ("again", "<i8"),
        ("disposition", "u1"), ("holds", "?"), ("lacks", "?"),
    ]
)  # fmt: skip


@dataclass(frozen=True)
class Told:
    """What is known of a log once all have told: where the units of each bucket begin among all of
    them, and the entries of each split; what tables are like, as :class:`LuwTableHistory` but by
    rows; and where entries and their offsets are written, where tasks find that."""

    unit_offsets: Sequence[int]
    first_rows: Index
    versions: list[TableVersion]
    held: Held
    base: Mapping[TableId, int]
    changes: Mapping[int, tuple[StructureChange, int]]
    files: tuple[MadeArray, ...] = ()


@dataclass(frozen=True)
class TransactionsJob:
    """Brings the records of splits (``splits``) together by transaction: those up to the first of
    ``bounds`` (rising), and so on. ``firsts``: what :func:`replay.logs.db2luw.repeats.keys_of` says
    of the first records of files. Without ``told`` the results are pickled :class:`RangeTold` and
    :class:`BucketTold`; with it entries are written, or the results are: see :func:`taken`."""

    splits: tuple[Split, ...]
    bounds: Hashes
    form: PositionForm
    firsts: Hashes
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
        watch = _Watch(self, split, number, entry.shape)
        before, lead, count = split.first_record - 1, entry.shape.framing.size, 0
        for offsets, lengths in log.steps(split.file, split.start, split.stop):
            at = np.arange(before + 1, before + 1 + len(offsets))
            places, before = offsets - entry.shape.start - lead * at, before + len(offsets)
            names: dict[bytes, int] = {b"": 0}
            for scanned in scan_records(opened, split.file, offsets, lengths, names):
                sent = np.zeros(len(scanned), SENT)
                octets = sent.view(np.uint8).reshape(len(sent), -1)
                octets[:, : SCANNED.itemsize] = scanned.view(np.uint8).reshape(len(sent), -1)
                sent["row"] = np.arange(count, count + len(sent)) + (number << _SPLIT)
                count += len(sent)
                of = np.searchsorted(offsets, scanned["offset"], "right") - 1
                sent["place"] = places[of]
                if self.told is None:
                    watch.look(sent)
                of = np.searchsorted(self.bounds, sent["tid"], "right")
                order = np.argsort(of, kind="stable")
                edges = np.flatnonzero(np.diff(of[order])) + 1
                for rows in np.split(order, edges):
                    yield int(of[rows[0]]), pickle.dumps(([*names], sent[rows].tobytes()))
        if self.told is None:
            yield self.buckets, pickle.dumps(watch.told)

    def reduce(self, log: FramedLog, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """What transactions say, or their entries by split."""
        sent, names = _together(blocks)
        transactions = _Transactions(sent, self.form)
        if self.told is None:
            yield pickle.dumps(transactions.say(bucket, names))
            return
        entries = transactions.entries(log, bucket, self.told)
        for rows in np.split(entries, np.flatnonzero(np.diff(entries["row"] >> _SPLIT)) + 1):
            yield int(rows["row"][0] >> _SPLIT).to_bytes(8, "little") + rows.tobytes()

    def divide(self, result: bytes) -> Iterator[tuple[int, bytes]]:
        """The entries of a split for it."""
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
    OSError."""
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


def order_of(rows: Records, form: PositionForm) -> str:
    """What is odd in the order of records, one behind the other; '' where nothing is. ``form``:
    which positions the log's records have."""
    for name in ("lso", "lsn", "lfs"):
        if (rows[name] > 0).any() != getattr(form, name) or (
            getattr(form, name) and not rows[name].all()
        ):
            return f"positions ({name}) are told of some records only"
    fallen = np.zeros(max(len(rows) - 1, 0), bool)
    if form.lso:
        fallen |= rows["lso"][1:] <= rows["lso"][:-1]
    elif form.lfs:
        fallen |= (rows["lfs"][1:] < rows["lfs"][:-1]) | (rows["lsn"][1:] < rows["lsn"][:-1])
    elif form.lsn:
        fallen |= rows["lsn"][1:] <= rows["lsn"][:-1]
    return "records out of order" if fallen.any() else ""


def base_of(rows: Records, form: PositionForm) -> Index:
    """How far the positions of records are from their places, where they are told."""
    return form.position(rows) - rows["place"] if form.told else np.zeros(len(rows), np.int64)


class _Watch:
    """Looks at the records of a split as they come."""

    def __init__(self, job: TransactionsJob, split: Split, number: int, shape: LuwShape) -> None:
        self.job, self.told = job, RangeTold(number, split.file)
        self.least, self.begins = shape.dialect.sizes[0], split.first_record == 1
        self.last = np.zeros(0, SENT)

    def look(self, sent: Records) -> None:
        """Look at the next ones."""
        told, form = self.told, self.job.form
        whole = sent[sent["part"] == 0]
        rows = np.concatenate([self.last, whole])
        base = base_of(rows, form)
        again = np.zeros(len(whole), bool)
        if len(self.job.firsts):
            again = np.isin(keys_of(whole), self.job.firsts)
        if self.begins and not told.whole:
            again[:1] = False  # the first record of a file itself
        found = {
            "rows of temporary tables": sent["temporary"].any(),
            "subtransactions": (whole["type"] == layouts.SUBTRANSACTION).any(),
            "records that files repeat": again.any(),
            "positions that fall behind the lengths of records": (base[1:] < base[:-1]).any(),
            order_of(rows, form): True,
        }
        odd = [reason for reason, there in found.items() if there and reason]
        told.odd = told.odd or (odd[0] if odd else "")
        told.rise += int((np.diff(base) >= self.least).sum())
        told.alike |= form.lfs and bool((rows["lsn"][1:] == rows["lsn"][:-1]).any())
        if len(whole):
            told.first = told.first or whole[:1].tobytes()
            told.last, self.last = whole[-1:].tobytes(), whole[-1:]
            told.least = min(told.least, int(whole["header"].min()))
            told.streams.update(np.unique(whole["tid"] >> np.uint64(48)).tolist())
            told.named |= bool(whole["previous"].any())
        told.entries, told.whole = told.entries + len(sent), told.whole + len(whole)


class _Transactions:
    """The records of some transactions, all of each of them, in the order of the log."""

    def __init__(self, records: Records, form: PositionForm) -> None:
        self.records, self.form, self.arrays = records, form, LongArrays(None)
        self.tids: Hashes = records["tid"].copy()
        self.result = units.resolve(records, self.tids, True, self.arrays)

    def say(self, number: int, names: list[bytes]) -> BucketTold:
        """What they say of the log."""
        records, result = self.records, self.result
        told = BucketTold(number, names=names)
        headless = self._chains(told)
        holds = opening_warnings.changing(records, result, self.arrays)
        of = np.zeros(len(result.last), UNIT_TOLD)
        of["first"], of["last"] = records["row"][result.first], records["row"][result.last]
        of["tid"], of["again"], of["disposition"] = result.tid, result.again, result.disposition
        of["holds"], of["lacks"] = holds, self._lacking(headless)
        told.units = of.tobytes()
        self._strays(told, headless)
        self._few(told, headless)
        undoes = records["compensated"][records["compensated"] > 0]
        told.by_lsn = not self.form.lso and bool(np.isin(undoes, records["lsn"]).any())
        moves = row_moves.Moves()
        live = ~result.cancelled & (result.unit >= 0)
        parts = [moves.pair(records, result.unit, live, 0), moves.rest()]
        single = np.concatenate([part.single for part in parts])
        told.apart = int(in_committed(result, result.unit[single]).sum())
        return told

    def _chains(self, told: BucketTold) -> Index:
        """Look at what records name; those that begin their transaction, and name one before
        them."""
        records, form = self.records, self.form
        whole = np.flatnonzero(records["part"] == 0)
        order = whole[np.argsort(self.tids[whole], kind="stable")]
        same = self.tids[order][1:] == self.tids[order][:-1]
        before, after = order[:-1][same], order[1:][same]
        named = records["previous"][after] > 0
        before, after = before[named], after[named]
        previous = records["previous"][after].astype(np.int64)
        told.chained = len(after)
        told.first_chained = int(records["row"][after].min(initial=_FAR))
        if form.told and (form.position(records[before]) != previous).any():
            told.odd = "records that do not name the one before them in their transaction"
        if np.isin(records["type"][before], layouts.OUTSIDE_TRANSACTIONS).any():
            told.odd = "transactions with records of backups"
        if not form.told:
            base, file = previous - records["place"][before], records["file"][before]
            for place in np.unique(file).tolist():
                mine = base[file == place]
                told.bases[place] = int(mine.min()), int(mine.max())
            rows, head = chains.transactions(records, self.arrays)
            if np.isin(after, rows[head]).any():
                told.odd = "transactions that name the one before them"
        first = order[np.append(True, ~same)] if len(order) else order
        headless = np.sort(first[records["previous"][first] > 0])
        told.headless = len(headless)
        told.before = int(records["previous"][headless].max(initial=0))
        told.first_headless = int(records["row"][headless].min(initial=_FAR))
        return headless

    def _lacking(self, headless: Index) -> Mask:
        """Units of transactions that begin before the log, up to where the log begins one."""
        rows, head = chains.transactions(self.records, self.arrays)
        missing = np.zeros(len(self.result.last), bool)
        if not len(rows):
            return missing
        segment = np.cumsum(head) - 1
        broken = np.zeros(int(segment[-1]) + 1, bool)
        broken[segment[np.isin(rows, headless)]] = True
        of = self.result.unit[rows]
        missing[of[broken[segment] & (of >= 0)]] = True
        return missing

    def _strays(self, told: BucketTold, headless: Index) -> None:
        """Say what :mod:`replay.logs.db2luw.strays` would look at."""
        records, result = self.records, self.result
        open_ = result.disposition == ord("F")
        last = result.last - records["part"][result.last]
        loose = np.isin(result.first, headless)
        told.loose = int(loose.sum())
        alone = loose & open_ & (last == result.first)
        alone &= records["kind"][result.first] == RecordKind.COMPONENT
        told.single = bool(alone.any())
        changing = strays.changing(records, result, self.arrays)
        told.last_open = int(records["row"][last[open_ & changing]].min(initial=_FAR))

    def _few(self, told: BucketTold, headless: Index) -> None:
        records, result = self.records, self.result
        special = np.isin(records["kind"], _SPECIAL_KINDS) | np.isin(records["role"], EVENTS)
        special |= records["role"] == RecordRole.UNKNOWN
        special |= (records["before_is"] == UNKNOWN) | (records["after_is"] == UNKNOWN)
        unit = result.unit[np.isin(records["role"], EVENTS)]
        if np.isin(result.disposition[unit[unit >= 0]], (ord("F"), ord("P"))).any():
            told.odd = "tables that a unit without an end changes"
        if special.sum() > _MOST_SPECIAL:
            told.odd = "many records of unknown types or functions, or about tables"
            return
        chosen = [np.flatnonzero(special), headless[:1], result.first, result.last]
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
        timeline = LuwTableHistory(
            told.versions, version, {place: change for place, (change, _) in changes.items()}
        )
        files = [OpenedFile(file.name, file.path, file.shape) for file in log.files]
        foreign = np.zeros(len(records), bool)
        if self.form.told:
            position = units.positions(records, self.arrays)
            foreign = units.foreign(records, self.tids, result.unit, position, self.arrays)
        entries = np.zeros(len(records), _PLACED)
        fill(entries, records, files, result, timeline, (foreign,))
        moved_rows(records, result, entries)
        row = records["row"][entries["head"]]
        entries["head"] = told.first_rows[row >> _SPLIT] + (row & _WITHIN)
        entries["unit"][entries["unit"] >= 0] += told.unit_offsets[bucket]
        entries["row"] = records["row"]
        return entries
