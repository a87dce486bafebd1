"""The index of a large log made of what tasks say (:mod:`replay.logs.db2luw.by_transaction`): what
grows with units and tables is put together here, as that of a log which has no other records."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from replay.arrays import Hashes, Index, Records
from replay.logs import Split
from replay.logs.by_tasks import OddError, OpeningTasks
from replay.logs.db2luw import opening_warnings, units
from replay.logs.db2luw.binary import numbers
from replay.logs.db2luw.by_transaction import (
    SENT,
    UNIT_TOLD,
    BucketTold,
    PositionForm,
    RangeTold,
    Told,
    TransactionsJob,
    base_of,
    form_of,
    order_of,
    taken,
)
from replay.logs.db2luw.framed import FramedLog
from replay.logs.db2luw.framing import OpenedFile, lsns_rise
from replay.logs.db2luw.index import LuwIndex
from replay.logs.db2luw.index_entries import ENTRY
from replay.logs.db2luw.index_units import units_told
from replay.logs.db2luw.repeats import keys_of
from replay.logs.db2luw.scan import first_record
from replay.logs.db2luw.table_history import LuwTableHistory, build, held_of
from replay.logs.db2luw.tables import LuwTable, TableId
from replay.logs.long_arrays import LongArrays, windows
from replay.logs.made_arrays import MadeArray

#: Bytes of log whose transactions come together, and splits that are sampled for that.
_TOGETHER, _SAMPLED = 128 << 20, 4096
#: As :data:`replay.logs.db2luw.chains`: what is found where fewer records are placed is another
#: thing, and so many gaps are those of a filter.
_SOME, _RARE = 8, 500


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
        if not all(map(len, heads)) or not all(lsns_rise(file.shape) for file in files):
            raise OddError("positions whose byte order is not known")
        job = TransactionsJob(
            splits, _bounds(log, splits), form_of(heads[0][0]), keys_of(np.concatenate(heads[1:]))
            if len(heads) > 1 else np.zeros(0, np.uint64),
        )  # fmt: skip
        gathering = _Gathering(job, log, LongArrays(folder))
        for packed in tasks.results(job, log, splits):
            gathering.take(pickle.loads(packed))
        gathering.check()
    except OddError as odd:
        return Gathered(odd=str(odd))
    read = gathering.files(files)
    return Gathered(gathering.index(read, tables, code_page, tasks, folder, set_aside), read)


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
        self._few, self._few_units, self._told_units = (
            arrays.growing(dtype) for dtype in (SENT, np.int64, UNIT_TOLD)
        )
        self._places: dict[int, tuple[slice, slice]] = {}

    @property
    def form(self) -> PositionForm:
        """How positions are told."""
        return self.job.form

    def take(self, told: RangeTold | BucketTold) -> None:
        """What one said. OddError where it is."""
        if told.odd:
            raise OddError(told.odd)
        if isinstance(told, RangeTold):
            self.ranges[told.number] = told
        else:
            self.buckets[told.number] = told
            self._keep(told)

    def _keep(self, told: BucketTold) -> None:
        """Put what grows with units where it may be large."""
        few = np.frombuffer(bytearray(told.few), SENT)
        numbers_ = np.array([self.names.setdefault(name, len(self.names)) for name in told.names])
        few["name"] = numbers_[few["name"]]
        known = np.frombuffer(told.units, UNIT_TOLD)
        self._places[told.number] = (
            slice(self._few.count, self._few.count + len(few)),
            slice(self._told_units.count, self._told_units.count + len(known)),
        )
        self._few.add(few)
        self._few_units.add(np.frombuffer(told.few_units, np.int64))
        self._told_units.add(known)
        told.few = told.few_units = told.units = b""
        told.names = []

    def _in_order(self) -> list[RangeTold]:
        return [self.ranges[number] for number in sorted(self.ranges)]

    def _last(self) -> dict[int, np.void]:
        """The last record of each file."""
        return {told.file: np.frombuffer(told.last, SENT)[0] for told in self._in_order()}

    def files(self, files: Sequence[OpenedFile]) -> list[OpenedFile]:
        """The files, with what is left at their ends."""
        ends = {file: int(row["offset"]) + int(row["length"]) for file, row in self._last().items()}
        return [
            replace(file, tail=ends[number] if ends[number] < self.log.size(number) else None)
            for number, file in enumerate(files)
        ]

    def check(self) -> None:
        """Whether it all fits together. OddError where it does not."""
        ranges, form = self._in_order(), self.form
        if len(ranges) != len(self.job.splits) or len(set.union(*(t.streams for t in ranges))) > 1:
            raise OddError("several log streams")
        if not any(told.named for told in ranges):
            raise OddError("no record that names the one before it")
        within, rises, alike = sum(told.rise for told in ranges), 0, any(t.alike for t in ranges)
        before = self._places_before()
        for one, other in pairwise(ranges):
            rows = np.concatenate([np.frombuffer(one.last, SENT), np.frombuffer(other.first, SENT)])
            rows["place"] += np.array([before[one.file], before[other.file]])
            base = base_of(rows, form)
            if order_of(rows, form) or base[1] < base[0]:
                raise OddError("records out of order")
            rise = int(base[1] - base[0] >= self._least())
            within, rises = within + rise * (one.file == other.file), rises + rise
            alike |= form.lfs and bool(rows["lsn"][0] == rows["lsn"][1])
        rises += sum(told.rise for told in ranges)
        if min(told.least for told in ranges) != self._least():
            raise OddError("no record with the usual header")
        buckets, first = list(self.buckets.values()), np.frombuffer(ranges[0].first, SENT)
        if alike and any(told.by_lsn for told in buckets):
            raise OddError("changes taken back by LSNs that several records have")
        count = sum(told.whole for told in ranges)
        start = int(form.position(first)[0])
        if not form.told:
            count, start = sum(told.chained for told in buckets), self._base(before)
        if count < _SOME or (rises > 0 and within <= 1 + count // _RARE):
            raise OddError("places where records are missing")
        if max(told.before for told in buckets) >= start:
            raise OddError("records that name others which are not those of their transaction")
        self._check_strays(buckets)

    def _least(self) -> int:
        return self.log.files[0].shape.dialect.sizes[0]

    def _places_before(self) -> list[int]:
        """How long the records of the files before each are."""
        last = self._last()
        if sorted(last) != [*range(len(self.log.files))]:
            raise OddError("a file without a record")
        sizes = [int(last[file]["place"]) + int(last[file]["length"]) for file in sorted(last)]
        return [0, *np.cumsum(sizes).tolist()]

    def _base(self, before: Sequence[int]) -> int:
        """How far all positions are from places, where records do not tell theirs."""
        bases = {
            base - before[file]
            for told in self.buckets.values()
            for file, both in told.bases.items()
            for base in both
        }
        if len(bases) != 1:
            raise OddError("places where records are missing")
        return bases.pop()

    def _check_strays(self, buckets: Sequence[BucketTold]) -> None:
        """Whether :func:`replay.logs.db2luw.strays.strays` finds nothing."""
        loose = sum(told.loose for told in buckets)
        count = self._told_units.count
        if not loose or 2 * loose > count:
            return
        early = min(told.last_open for told in buckets) < min(
            told.first_chained for told in buckets
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
        timeline = build(few, result, files, tables, code_page, arrays)
        known, by_lsn, untimed = units_told(few, result, of["holds"], files, [*self.names], arrays)
        for part in windows(len(known)):
            known["incomplete"][part] = of["lacks"][part] & set_aside
        paths = self._written(few, timeline, tasks, folder)
        holds, lacks = of["holds"], of["lacks"]
        buckets = list(self.buckets.values())
        texts = (
            *timeline.warnings,
            *opening_warnings.halves(sum(told.apart for told in buckets)),
            *untimed,
            *opening_warnings.incomplete(few, result, holds, lacks, known),
            *opening_warnings.endless(result, holds),
            *self._lost(few, files, buckets),
            *opening_warnings.passed_over(few, files),
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
            by_lsn, texts,
        )  # fmt: skip

    def _lost(
        self, few: Records, files: list[OpenedFile], buckets: Sequence[BucketTold]
    ) -> list[str]:
        """As :func:`replay.logs.db2luw.units.lost` finds them."""
        missing, there = sum(t.headless for t in buckets), sum(t.chained for t in buckets)
        if not missing or not self.form.told or 4 * missing > there:
            return []
        first = min(told.first_headless for told in buckets)
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
            place, mine = self._places[number]
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
        for number, (_, mine) in self._places.items():
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
        )
        for result in tasks.results(replace(self.job, told=told), self.log, self.job.splits):
            taken(result, files)
        return files[0].path, files[1].path
