"""The index of a large log made of what tasks say (:mod:`replay.logs.db2luw.by_transaction`): what
grows with units and tables is put together here, as that of a log which has no other records."""

from __future__ import annotations

import pickle
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from replay.arrays import Hashes, Index, Mask, Records
from replay.logs import Split
from replay.logs.by_tasks import OddError, OpeningTasks
from replay.logs.db2luw import chains, opening_warnings, units
from replay.logs.db2luw.binary import numbers
from replay.logs.db2luw.by_transaction import (
    FAR,
    OUTSIDE,
    UNIT_TOLD,
    BucketTold,
    Told,
    TransactionsJob,
    taken,
)
from replay.logs.db2luw.framed import FramedLog
from replay.logs.db2luw.framing import OpenedFile, lsns_rise
from replay.logs.db2luw.index import LuwIndex
from replay.logs.db2luw.index_entries import ENTRY
from replay.logs.db2luw.index_units import units_told
from replay.logs.db2luw.range_watch import (
    SENT,
    PositionForm,
    RangeTold,
    StreamsWhole,
    form_of,
)
from replay.logs.db2luw.repeats import keys_of
from replay.logs.db2luw.scan import first_record, first_records
from replay.logs.db2luw.subtransactions import Owners
from replay.logs.db2luw.table_history import LuwTableHistory, build, held_of
from replay.logs.db2luw.tables import LuwTable, TableId
from replay.logs.long_arrays import LongArrays, windows
from replay.logs.made_arrays import MadeArray

#: Bytes of log whose transactions come together, and splits that are sampled for that.
_TOGETHER, _SAMPLED = 128 << 20, 4096
#: Bytes of a file, and files, that show which byte order positions of 6 bytes have.
_ORDER_SHOWS, _FILES_SHOW = 1 << 20, 4
#: Subtransactions whose owners each task is told.
_MOST_OWNERS = 1 << 18


@dataclass(frozen=True)
class Gathered:
    """An ``index``, or what is ``odd`` about the log. ``files`` have their tails."""

    index: LuwIndex | None = None
    files: Sequence[OpenedFile] = ()
    odd: str = ""


def index_by_tasks(
    files: Sequence[OpenedFile],
    tables: Mapping[TableId, LuwTable],
    code_page: int,
    splits: tuple[Split, ...],
    tasks: OpeningTasks,
    folder: str,
    set_aside: bool,
) -> Gathered:
    """The index of files in the order of the log, whose ``splits`` are known. ``set_aside`` as
    :func:`replay.logs.db2luw.index.build_index`; ``folder``: where the index is made. Raises what
    tasks raise, and OSError."""
    log = FramedLog.of(files)
    heads = [first_record(file) for file in files]
    try:
        if not all(map(len, heads)):
            raise OddError("a file without a record")
        turned = not all(lsns_rise(file.shape) for file in files) and _turned(files)
        for head in heads if turned else ():
            chains.turn(head)
        job = TransactionsJob(
            splits, _bounds(log, splits), form_of(heads[0][0], turned),
            keys_of(np.concatenate(heads[1:])) if len(heads) > 1 else np.zeros(0, np.uint64),
        )  # fmt: skip
        gathering = _Gathering(job, log, LongArrays(folder))
        gathering.look(tasks)
        owners = gathering.owners()
        if owners:
            # who owns what is known now, so records come together once more
            gathering = _Gathering(replace(job, owners=Owners(owners)), log, LongArrays(folder))
            gathering.look(tasks)
        gathering.check()
        read = gathering.files(files)
        index = gathering.index(read, tables, code_page, tasks, folder, set_aside)
    except OddError as odd:
        return Gathered(odd=str(odd))
    return Gathered(index, read)


def _turned(files: Sequence[OpenedFile]) -> bool:
    """Whether positions of 6 bytes of a little-endian server are in the other byte order, by the
    first records of files. As :func:`replay.logs.db2luw.chains.rising_positions`, for where these
    are out of order, the log is; that all of it is in order is seen by tasks. OddError where
    neither order does."""
    readings = [[first_records(file, _ORDER_SHOWS) for file in files[:_FILES_SHOW]]]
    readings.append([records.copy() for records in readings[0]])
    for records in readings[1]:
        chains.turn(records)
    for turned, parts in enumerate(readings):
        none = LongArrays(None)
        if all(units.disorder(part, none) is None for part in parts):
            return bool(turned)
    raise OddError("positions whose byte order is not known")


def _bounds(log: FramedLog, splits: Sequence[Split]) -> Hashes:
    """Transaction ids that part the records of a log about evenly."""
    size = sum(map(log.size, range(len(log.files))))
    count = size // _TOGETHER + 1
    sampled = splits[:: -(-len(splits) // _SAMPLED)]
    tids = [np.zeros(0, np.uint64)]
    for number, entry in enumerate(log.files):
        shape, header = entry.shape, entry.shape.dialect.header
        starts = [max(split.start, shape.start) for split in sampled if split.file == number]
        at = np.array(starts, np.int64) + shape.framing.size
        buffer = log.buffer(number, at, at + shape.dialect.sizes[0])
        tid = numbers(buffer, at, header["tid"], shape.big)
        if "stream" in header:
            tid |= numbers(buffer, at, header["stream"], shape.big) << np.uint64(48)
        tids.append(tid)
    rising = np.sort(np.concatenate(tids))
    cuts = [len(rising) * number // count for number in range(1, count)]
    return np.unique(rising[cuts])


class _Gathering:
    """What the tasks of a job said."""

    def __init__(self, job: TransactionsJob, log: FramedLog, arrays: LongArrays) -> None:
        self.job, self.log, self.arrays = job, log, arrays
        self.ranges: dict[int, RangeTold] = {}
        self.buckets: dict[int, BucketTold] = {}
        self.names: dict[bytes, int] = {b"": 0}
        self._few, self._few_units, self._told_units, self._outside = (
            arrays.growing(dtype) for dtype in (SENT, np.int64, UNIT_TOLD, OUTSIDE)
        )
        self._places: dict[int, tuple[slice, slice, slice]] = {}
        self._bases: dict[tuple[int, int], tuple[int, int]] = {}
        #: What is odd about transactions, in words.
        self.odd = ""

    @property
    def form(self) -> PositionForm:
        """How positions are told."""
        return self.job.form

    def look(self, tasks: OpeningTasks) -> None:
        """Have tasks look at all records. OddError where one of them meets what is odd."""
        for packed in tasks.results(self.job, self.log, self.job.splits):
            told: RangeTold | BucketTold = pickle.loads(packed)
            if isinstance(told, BucketTold):
                self.odd = self.odd or told.odd
                self.buckets[told.number] = told
                if not told.odd:
                    self._keep(told)
                continue
            if told.odd:
                raise OddError(told.odd)
            self.ranges[told.number] = told

    def owners(self) -> dict[int, int]:
        """The owners of subtransactions, where there are any. OddError where what is odd about
        transactions does not come from that; or may not."""
        found: dict[int, int] = {}
        for told in self._in_order():
            found.update(told.owners)
        if self.odd and not found:
            raise OddError(self.odd)
        if len(found) > _MOST_OWNERS:
            raise OddError("many subtransactions")
        return found

    def _keep(self, told: BucketTold) -> None:
        """Put what grows with units where it may be large."""
        few = np.frombuffer(bytearray(told.few), SENT)
        numbers_ = np.array([self.names.setdefault(name, len(self.names)) for name in told.names])
        few["name"] = numbers_[few["name"]]
        known = np.frombuffer(told.units, UNIT_TOLD)
        self._places[told.number] = (
            slice(self._few.count, self._few.count + len(few)),
            slice(self._told_units.count, self._told_units.count + len(known)),
            slice(self._outside.count, self._outside.count + len(told.outside) // OUTSIDE.itemsize),
        )
        self._outside.add(np.frombuffer(told.outside, OUTSIDE))
        self._few.add(few)
        self._few_units.add(np.frombuffer(told.few_units, np.int64))
        self._told_units.add(known)
        for place, (least, most) in told.bases.items():
            low, high = self._bases.get(place, (least, most))
            self._bases[place] = min(low, least), max(high, most)
        told.few = told.few_units = told.units = told.outside = b""
        told.names, told.bases = [], {}

    def _in_order(self) -> list[RangeTold]:
        return [self.ranges[number] for number in sorted(self.ranges)]

    def files(self, files: Sequence[OpenedFile]) -> list[OpenedFile]:
        """The files, with what is left at their ends."""
        last = {told.file: np.frombuffer(told.last, SENT)[0] for told in self._in_order()}
        ends = {file: int(row["offset"]) + int(row["length"]) for file, row in last.items()}
        return [
            replace(file, tail=ends[number] if ends[number] < self.log.size(number) else None)
            for number, file in enumerate(files)
        ]

    def check(self) -> None:
        """Whether it all fits together. OddError where it does not."""
        ranges, form = self._in_order(), self.form
        if self.odd:
            raise OddError(self.odd)
        if self.job.owners is not None and not any(told.owned for told in ranges):
            raise OddError("subtransactions without records")
        if len(ranges) != len(self.job.splits) or not all(told.first for told in ranges):
            raise OddError("a range without a record")
        if not any(told.named for told in ranges):
            raise OddError("no record that names the one before it")
        if {told.file for told in ranges} != {*range(len(self.log.files))}:
            raise OddError("a file without a record")
        temporary, lasting = (
            set[int]().union(*sets)
            for sets in zip(*((told.temporary, told.lasting) for told in ranges), strict=True)
        )
        if temporary & lasting:
            raise OddError("rows of temporary tables in others")
        self.streams = StreamsWhole(ranges, form, self.log.files[0].shape.dialect.sizes[0])
        buckets = list(self.buckets.values())
        if not form.told:
            self.streams.bases(self._bases)
            holds_all = chains.holds_all(sum(told.chained for told in buckets), 0)
            if not holds_all or any(len(part) for part in self._named_within()):
                raise OddError("places where records are missing")
        self._check_strays(buckets)

    def _named_within(self) -> Iterator[Records]:
        """What records name that may be in the log (dtype :data:`OUTSIDE`), a part at a time."""
        outside = self._outside.array()
        starts = np.zeros(1 << 16, np.int64)
        for stream, whole in self.streams.streams.items():
            starts[stream] = whole.start
        for part in windows(len(outside)):
            mine = outside[part]
            yield mine[mine["previous"] >= starts[mine["stream"]]]

    def _check_strays(self, buckets: Sequence[BucketTold]) -> None:
        """Whether :func:`replay.logs.db2luw.strays.strays` finds nothing."""
        loose = sum(told.loose for told in buckets)
        count = self._told_units.count
        if not loose or 2 * loose > count:
            return
        early = any(
            min(told.last_open.get(stream, FAR) for told in buckets)
            < min(told.first_chained.get(stream, FAR) for told in buckets)
            for stream in self.streams.streams
        )
        if any(told.single for told in buckets) or (early and not self.form.told):
            raise OddError("units that may lack records which begin others")

    # -- the index
    # ---------------------------------------------------------------------------------------------

    def index(
        self,
        files: list[OpenedFile],
        tables: Mapping[TableId, LuwTable],
        code_page: int,
        tasks: OpeningTasks,
        folder: str,
        set_aside: bool,
    ) -> LuwIndex:
        """The index, whose entries tasks write."""
        arrays = self.arrays
        few, result, of = self._units()
        lacks = self._lacking(of)
        timeline = build(few, result, files, tables, code_page, arrays)
        known, by_lsn, untimed = units_told(few, result, of["holds"], files, [*self.names], arrays)
        for part in windows(len(known)):
            known["incomplete"][part] = lacks[part] & set_aside
        paths = self._written(few, timeline, tasks, folder)
        holds, missing = of["holds"], self._missing(files)
        buckets = list(self.buckets.values())
        texts = (
            *timeline.warnings,
            *opening_warnings.halves(sum(told.apart for told in buckets)),
            *untimed,
            *opening_warnings.incomplete(few, result, holds, lacks, known),
            *opening_warnings.endless(result, holds),
            *missing,
            *self._lost(few, files, buckets),
            *opening_warnings.passed_over(few, files, tables),
        )
        counts = [0] * len(files)
        for told in self._in_order():
            counts[told.file] += told.entries
        return LuwIndex(
            paths[0], counts, known, paths[1], timeline,
            {
                (int(few["file"][row]), int(few["offset"][row])): change
                for row, change in timeline.changes.items()
            },
            by_lsn, texts, next(iter(missing), None),
        )  # fmt: skip

    def _lacking(self, of: Records) -> Mask:
        """Which units lack records that neither the log has nor a filter left out, as
        :func:`replay.logs.db2luw.chains.lacking`."""
        lacks = self.arrays.zeros(len(of), bool)
        all_there = not self.form.told or self.streams.holds_all
        for part in windows(len(of)):
            lacks[part] = of["gone"][part] & all_there
        outside, count = self._outside.array(), 0
        for number in sorted(self._places):
            _, mine, place = self._places[number]
            for stream in self.streams.streams if place.stop > place.start else ():
                names = outside[place]
                names = names[(names["unit"] >= 0) & (names["stream"] == stream)]
                if not all_there:
                    names = names[~self.streams.between(stream, names["previous"])]
                lacks[names["unit"] + count] = True
            count += mine.stop - mine.start
        return lacks

    def _missing(self, files: list[OpenedFile]) -> list[str]:
        """As :func:`replay.logs.db2luw.opening_warnings.missing`."""
        streams = [self.streams.streams[stream] for stream in sorted(self.streams.streams)]
        gaps = [whole.gap for whole in streams if whole.gap is not None]
        if not gaps or not self.streams.holds_all:
            return []
        return opening_warnings.missing_at(sum(whole.rises[0] for whole in streams), gaps[0], files)

    def _lost(
        self, few: Records, files: list[OpenedFile], buckets: Sequence[BucketTold]
    ) -> list[str]:
        """As :func:`replay.logs.db2luw.units.lost` finds them."""
        missing, there = sum(t.missing for t in buckets), sum(t.chained for t in buckets)
        if not missing or not self.form.told or 4 * missing > there:
            return []
        first = min(told.first_missing for told in buckets)
        row = few[int(np.searchsorted(few["row"], first))]
        return opening_warnings.lost_ones(missing, row, files)

    def _units(self) -> tuple[Records, units.Units, Records]:
        """(some records in the order of the log, among them the first and last ones of all units;
        the units of these records; what was told of each unit)."""
        arrays, numbers_ = self.arrays, sorted(self._places)
        held, held_units, told = (
            each.array() for each in (self._few, self._few_units, self._told_units)
        )
        of = arrays.collected((told[self._places[number][1]] for number in numbers_), UNIT_TOLD)
        count = 0
        for number in numbers_:
            place, mine, _ = self._places[number]
            unit = held_units[place]
            unit[unit >= 0] += count
            count += mine.stop - mine.start
        everyone = arrays.places(len(held), lambda part: np.ones(part.stop - part.start, bool))
        order = arrays.by(everyone, lambda some: held["row"][some])
        few = arrays.collected((held[order[part]] for part in windows(len(order))), SENT)
        unit = arrays.collected((held_units[order[part]] for part in windows(len(order))), np.int64)
        row = arrays.collected((few["row"][part] for part in windows(len(few))), np.int64)

        def column(name: str, dtype: npt.DTypeLike, of_rows: bool = False) -> npt.NDArray[Any]:
            parts = (of[name][part] for part in windows(len(of)))
            found = (np.searchsorted(row, part) if of_rows else part for part in parts)
            return arrays.collected(found, dtype)

        nothing = arrays.zeros(len(few), bool)
        result = units.Units(
            unit,
            column("first", np.int64, of_rows=True),
            column("last", np.int64, of_rows=True),
            column("disposition", np.uint8),
            column("tid", np.uint64),
            column("again", np.int64),
            nothing,
            nothing,
        )
        return few, result, of

    def _written(
        self, few: Records, timeline: LuwTableHistory, tasks: OpeningTasks, folder: str
    ) -> tuple[str, str]:
        """Have tasks write entries and offsets: the paths of their files."""
        counts = np.array([told.entries for told in self._in_order()])
        place = Path(tempfile.mkdtemp(prefix="index-", dir=folder))
        files = tuple(
            MadeArray.of(place / f"{name}.npy", dtype, [int(counts.sum())])
            for name, dtype in (("entries", ENTRY), ("offsets", np.int64))
        )
        units_of = [0] * self.job.buckets
        for number, (_, mine, _) in self._places.items():
            units_of[number] = mine.stop - mine.start

        def rows(places: Index) -> Index:
            """Where records are in the log; -1: a table is so from its beginning."""
            return np.where(places < 0, -1, few["row"][np.maximum(places, 0)])

        told = Told(
            [0, *np.cumsum(units_of).tolist()],
            np.append(0, np.cumsum(counts))[:-1],
            timeline.versions,
            {key: (rows(begins), of) for key, (begins, of) in held_of(timeline.steps).items()},
            timeline.base,
            {
                int(few["row"][place]): (change, int(timeline.version[place]))
                for place, change in timeline.changes.items()
            },
            files if tasks.on_this_machine else (),
            self._asked(),
            {
                int(few["row"][place]): (alone, int(timeline.version[place]))
                for place, alone in timeline.emptied.items()
            },
        )
        try:
            for result in tasks.results(replace(self.job, told=told), self.log, self.job.splits):
                taken(result, files)
        except OddError:
            shutil.rmtree(place)
            raise
        return files[0].path, files[1].path

    def _asked(self) -> dict[int, Index]:
        """The positions of each log stream that no record may have."""
        found: dict[int, list[Index]] = {}
        for part in self._named_within() if self.form.told else ():
            for stream in np.unique(part["stream"]).tolist():
                found.setdefault(stream, []).append(part["previous"][part["stream"] == stream])
        return {stream: np.unique(np.concatenate(parts)) for stream, parts in found.items()}
