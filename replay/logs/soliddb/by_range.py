"""The index of a large export made by tasks, range by range of its rows.

solidDB writes the rows of a transaction one behind the other, so a task has all of those that it
judges: it takes the transactions that begin in its range, and reads on behind it up to where the
next one begins. What it does with them is what one process does with a whole log
(:mod:`replay.logs.soliddb.index`). What is true of a log as a whole each task tells of its share
(:class:`ShareTold`); once that is known (:class:`LogTold`), a second look writes the entries.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from replay.arrays import Index
from replay.errors import LogReplayError
from replay.logs import Split
from replay.logs.by_tasks import OddError
from replay.logs.long_arrays import LongArrays, windows
from replay.logs.made_arrays import MadeArray
from replay.logs.soliddb.addresses import AddressHabit, address_faults, habit_of
from replay.logs.soliddb.ddl_records import DdlText
from replay.logs.soliddb.detect import FittingFramings, SolidShape, fitting
from replay.logs.soliddb.export import ExportReading, SyslogRows
from replay.logs.soliddb.export_ranges import ExportLog
from replay.logs.soliddb.export_values import numbers_of
from replay.logs.soliddb.index import IndexBuilder
from replay.logs.soliddb.joined_rows import BLANK, Joined, held_sessions, join
from replay.logs.soliddb.layouts import Rec
from replay.logs.soliddb.manifest import Manifest
from replay.logs.soliddb.notes import IndexNotes
from replay.logs.soliddb.table_history import SolidTableHistory
from replay.logs.soliddb.transactions import OutsideRows, find_transactions
from replay.logs.soliddb.units import CommitHeads, UnitsBefore, heads_of, placed_units
from replay.logs.soliddb.values import ValueNotes
from replay.logs.soliddb.wanted import Settings, WantedTables

#: Bytes of a range from which on what is known of its rows lies in files, and bytes of a result.
_LARGE, _RESULT = 256 << 20, 8 << 20
#: What a note says where commits do not rise from file to file.
OVERLAP = "read sessions of which one holds what another one does, or in another order"
#: DDL records that a share may have.
_MOST_DDL = 1 << 16


@dataclass
class ShareTold:
    """What the rows of a share say of the log. ``parts``: (file, rows of it) in order, each row of
    a file once among all shares; ``ordered``: whether there are SEQ and SESSION; ``kinds`` by file,
    as :func:`replay.logs.soliddb.export_files.json_tables` takes them. ``edges``: the first and the
    last row; ``few`` rows that tell of read sessions, of which those at ``commits`` end
    transactions; of all commits the ``first_commit`` and the ``last_commit``; whether no
    transaction is open in the last row (``ends``). ``behind``: the row behind the last commit up to
    an address; ``images``: the first and the last row with an image of a table. ``odd``: what is,
    in words."""

    number: int
    parts: list[tuple[int, int]] = field(default_factory=list)
    ordered: tuple[bool, bool] = (False, False)
    kinds: dict[int, dict[str, str]] = field(default_factory=dict)
    address: int = 0
    data: int = 0
    units: int = 0
    edges: Joined | None = None
    few: Joined | None = None
    commits: Index = field(default_factory=lambda: np.zeros(0, np.int64))
    first_commit: bytes = b""
    last_commit: bytes = b""
    ends: bool = True
    outside: OutsideRows = field(default_factory=OutsideRows)
    heads: CommitHeads = field(default_factory=CommitHeads)
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)
    behind: dict[bytes, int] = field(default_factory=dict)
    images: dict[int, tuple[int, int]] = field(default_factory=dict)
    fitting: list[FittingFramings] = field(default_factory=list)
    ddl: list[tuple[DdlText, int, int]] = field(default_factory=list)
    habit: AddressHabit = field(default_factory=AddressHabit)
    notes: IndexNotes = field(default_factory=IndexNotes)
    odd: str = ""

    @property
    def rows(self) -> int:
        """How many they are."""
        return sum(count for _, count in self.parts)


@dataclass(frozen=True)
class ShareBefore:
    """What comes before a share: so many ``rows``, ``data`` and ``units``, by file ``rows_of`` it,
    and the highest beginning of an address that commits have (``reached``)."""

    rows: int
    data: int
    units: int
    rows_of: Mapping[int, int]
    reached: int


@dataclass(frozen=True)
class LogTold:
    """What is known of a log once all shares have told: what is ``before`` each (and behind the
    last), the shape of its images, its tables, habits and positions; and where entries, data and
    addresses are written, where tasks find that."""

    before: Sequence[ShareBefore]
    shape: SolidShape
    line: SolidTableHistory
    habit: AddressHabit
    by_address: bool
    address: int
    files: tuple[MadeArray, ...] = ()


@dataclass
class ShareDone:
    """What the second look at a share says: its units, still without names
    (:func:`replay.logs.soliddb.units.placed_units`), and what is to be told."""

    number: int
    units: bytes = b""
    notes: IndexNotes = field(default_factory=IndexNotes)
    of_values: dict[int, ValueNotes] = field(default_factory=dict)
    odd: str = ""


@dataclass(frozen=True)
class SharePart:
    """``values`` for one of the arrays, from entry ``first`` on."""

    array: int
    first: int
    values: npt.NDArray[Any]


@dataclass(frozen=True)
class SharesJob:
    """Looks at the ranges of an export. Without ``told`` the results are pickled
    :class:`ShareTold`; with it pickled :class:`ShareDone`, and :class:`SharePart` where no task
    finds the files of arrays."""

    splits: tuple[Split, ...]
    wanted: WantedTables
    manifest: Manifest
    settings: Settings
    told: LogTold | None = None
    buckets: int = 0

    @property
    def title(self) -> str:
        """What it does."""
        return "index transactions" if self.told is None else "write the index"

    def scan(self, log: ExportLog, split: Split) -> Iterator[tuple[int, bytes]]:
        """One range."""
        number = split.first_record - 1
        try:
            share = ExportShare(self, log, number)
            results = iter([share.say()]) if self.told is None else share.results(self.told)
            for result in results:
                yield self.buckets, pickle.dumps(result)
        except OddError as odd:
            yield self.buckets, pickle.dumps(self._odd(number, str(odd)))
        except LogReplayError as error:
            # one process reads everything one behind the other, and tells what is wrong first
            yield self.buckets, pickle.dumps(self._odd(number, words_of_error(error)))

    def _odd(self, number: int, reason: str) -> ShareTold | ShareDone:
        kind = ShareTold if self.told is None else ShareDone
        return kind(number, odd=reason)

    def reduce(self, log: ExportLog, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Never called: there are no buckets."""
        raise AssertionError


def words_of_error(error: LogReplayError | pa.ArrowException) -> str:
    """What a note says of an error that tasks met."""
    if not isinstance(error, LogReplayError) or error.code == "LR2001":
        return "files that they cannot read"
    return f"an error ({error.code})"


def some_rows(rows: Joined, places: Index) -> Joined:
    """Some rows alone, without what they hold."""
    none = np.zeros(len(places), np.int64)
    return Joined(
        (),
        rows.file[places],
        rows.row[places],
        {name: values[places] for name, values in rows.numbers.items()},
        rows.named[places],
        np.ascontiguousarray(rows.address[places]),
        rows.address_null[places],
        np.zeros(0, np.uint8),
        none,
        none,
        rows.data_null[places],
        None if rows.sequence is None else rows.sequence[places],
        None if rows.named_session is None else rows.named_session[places],
        rows.session[places],
        LongArrays(None),
    )


def _tables_of(
    job: SharesJob, log: ExportLog, number: int, kinds: dict[int, dict[str, str]]
) -> Iterator[tuple[int, pa.Table]]:
    """The rows of a share, by file: those from the first start of a transaction in a range on (of
    the first range, all), up to the first one in a range behind it."""
    begun = number == 0
    for split in job.splits[number:]:
        mine = split.first_record - 1 == number
        of_file = kinds.setdefault(split.file, {})
        for table in log.tables(split, few=not mine, kinds=of_file):
            if mine and begun:
                yield split.file, table
                continue
            recid = numbers_of(log.files[split.file].name, table, "RECID")
            starts = np.flatnonzero(recid == Rec.START)
            if mine and len(starts):
                begun = True
                yield split.file, table.slice(int(starts[0]))
            elif not mine and len(starts):
                yield split.file, table.slice(0, int(starts[0]))
                return
            elif not mine:
                yield split.file, table
        if not begun:
            return


class ExportShare:
    """The transactions that begin in a range."""

    def __init__(self, job: SharesJob, log: ExportLog, number: int) -> None:
        self.job, self.number = job, number
        split = job.splits[number]
        large = log.files[split.file].packed or split.stop - split.start >= _LARGE
        folder = tempfile.gettempdir() if large else None
        self.kinds: dict[int, dict[str, str]] = {}
        readings: dict[int, ExportReading] = {}
        for file, table in _tables_of(job, log, number, self.kinds):
            if table.num_rows and file not in readings:
                name, columns = log.files[file].name, table.column_names
                readings[file] = ExportReading(name, columns, LongArrays(folder))
            if table.num_rows:
                readings[file].add(table)
        self.files = [*readings]
        read: list[SyslogRows] = [each.rows() for each in readings.values()]
        self.there = bool(read)
        if not self.there:
            return
        self.rows = join(read, job.manifest.sessions, folder)
        self.bounds = find_transactions(self.rows)
        self.builder = IndexBuilder(
            self.rows, self.bounds, job.wanted, job.manifest, job.settings, folder
        )
        self.builder.look()

    # -- the first look
    # ---------------------------------------------------------------------------------------------

    def say(self) -> ShareTold:
        """What its rows say. OddError."""
        told = ShareTold(self.number, kinds=self.kinds)
        if not self.there:
            return told
        rows, bounds, builder, job = self.rows, self.bounds, self.builder, self.job
        told.parts = [(file, len(part)) for file, part in zip(self.files, rows.files, strict=True)]
        told.ordered = rows.sequence is not None, rows.named_session is not None
        told.address = max(part.address.shape[1] for part in rows.files)
        told.data, told.units = len(rows.data), len(bounds.first)
        told.edges = self._chosen(np.array([0, len(rows) - 1]))
        closed = bounds.whole[-1:] | (bounds.last[-1:] < len(rows) - 1)
        told.ends = bool(closed.all())
        self._commits(told)
        told.outside, told.heads = bounds.outside, heads_of(rows, bounds)
        told.spans = builder.spans()
        about = [*job.manifest.dropped.values(), job.manifest.metadata_at]
        told.behind = {at: builder.row_behind(at) for at in about if at is not None}
        told.images = {
            relid: (int(mine[0]), int(mine[-1])) for relid, mine in builder.of_table.items()
        }
        told.fitting = fitting(
            builder.as_they_are(), rows.data, job.settings.framing, job.settings.columns
        )
        told.ddl = [
            (text, self.files[int(rows.file[text.row])], int(rows.row[text.row]))
            for text in builder.ddl.texts()
        ]
        if len(told.ddl) > _MOST_DDL:
            raise OddError("many changes of tables")
        told.habit, told.notes = habit_of(address_faults(rows, bounds)), builder.notes
        return told

    def _commits(self, told: ShareTold) -> None:
        """Look at the ends of transactions, and choose rows that tell of read sessions. OddError
        where they do not rise."""
        rows, bounds = self.rows, self.bounds
        whole = rows.arrays.places(len(bounds.last), lambda part: bounds.whole[part])
        named = np.array(
            [
                np.frombuffer(entry["last_commit_logaddr"], np.uint8)
                for entry in held_sessions(self.job.manifest.sessions)
                if len(entry["last_commit_logaddr"]) == rows.address.shape[1]
            ]
        )
        # that of a transaction whose start is not in the log
        loose = rows.arrays.places(
            bounds.begin(),
            lambda part: (rows.numbers["RECID"][part] == Rec.COMMIT) & ~rows.address_null[part],
        )
        places, commits, before = [0, len(rows) - 1], set[int](), loose
        if (rows.addresses(loose[1:]) <= rows.addresses(loose[:-1])).any():
            raise OddError(OVERLAP)
        for part in windows(len(whole)):
            mine = bounds.last[whole[part]]
            done = np.concatenate([before, mine])
            at, session = rows.addresses(done), rows.session[done]
            if (at[1:] <= at[:-1]).any():
                raise OddError(OVERLAP)
            commits.update(done[:-1][session[1:] != session[:-1]].tolist())
            commits.difference_update(loose.tolist())
            if len(named):
                same = np.isin(at, np.ascontiguousarray(named).view(at.dtype).reshape(-1))
                commits.update(np.setdiff1d(done[same], loose).tolist())
            before = done[-1:]
        if len(whole):
            first, last = bounds.last[whole[0]], bounds.last[whole[-1]]
            told.first_commit, told.last_commit = map(rows.address_of, (int(first), int(last)))
            commits.add(int(last))
        if len(loose):
            told.first_commit = rows.address_of(int(loose[0]))
            told.last_commit = told.last_commit or rows.address_of(int(loose[-1]))
        begins: tuple[dict[int, int], dict[int, int]] = {}, {}
        for part in windows(len(rows)):
            session, recid = rows.session[part], rows.numbers["RECID"][part]
            holds = ~np.isin(recid, BLANK)
            for of, those in zip(begins, (np.ones(len(session), bool), holds), strict=True):
                each, first_of = np.unique(session[those], return_index=True)
                found = np.flatnonzero(those)[first_of] + part.start
                for number, row in zip(each.tolist(), found.tolist(), strict=True):
                    of.setdefault(number, row)
        places += [row for of in begins for row in of.values()]
        chosen = np.unique(np.array([*places, *commits], np.int64))
        told.few = self._chosen(chosen)
        told.commits = np.searchsorted(chosen, np.array(sorted(commits), np.int64))

    def _chosen(self, places: Index) -> Joined:
        """Some rows alone, with the numbers of their files in the log."""
        chosen = some_rows(self.rows, places)
        return replace(chosen, file=np.array(self.files)[chosen.file])

    # -- the second look
    # ---------------------------------------------------------------------------------------------

    def results(self, told: LogTold) -> Iterator[ShareDone | SharePart]:
        """Write its entries, data and addresses, or give them to the caller. OddError,
        LogReplayError."""
        done, before, behind = ShareDone(self.number), *told.before[self.number : self.number + 2]
        if not self.there:
            yield done
            return
        rows, bounds, builder = self.rows, self.bounds, self.builder
        counts = len(rows), len(rows.data), len(bounds.first)
        if counts != tuple(
            getattr(behind, name) - getattr(before, name) for name in ("rows", "data", "units")
        ):
            raise OddError("files that change while they are read")
        line = told.line.of_rows(before.rows, before.rows + len(rows))
        builder.finish(told.shape, line, address_faults(rows, bounds), told.habit)
        done.of_values = builder.of_values
        done.notes = IndexNotes(several=builder.notes.several, ids=builder.notes.ids)
        file, row = self._places(before)
        placed = placed_units(
            replace(rows, file=file, row=row), bounds, told.by_address,
            UnitsBefore(before.rows, before.reached),
        )  # fmt: skip
        done.units = placed.tobytes()
        self._shift(before, file, row)
        if rows.address.shape[1] != told.address:
            raise OddError("rows without LOGADDR")
        arrays = (builder.entries, rows.data, rows.address)
        firsts = (before.rows, before.data, before.rows)
        for number, (values, first) in enumerate(zip(arrays, firsts, strict=True)):
            if told.files:
                told.files[number].put(first, values)
                continue
            step = max(_RESULT // (values[:1].nbytes or 1), 1)
            for start in range(0, len(values), step):
                part = np.ascontiguousarray(values[start : start + step])
                yield SharePart(number, first + start, part)
        yield done

    def _places(self, before: ShareBefore) -> tuple[Index, Index]:
        """(file of the log, row in it) of each row."""
        begin = np.array([before.rows_of.get(file, 0) for file in self.files], np.int64)
        return np.array(self.files)[self.rows.file], self.rows.row + begin[self.rows.file]

    def _shift(self, before: ShareBefore, file: Index, row: Index) -> None:
        """Entries with places in the log in place of those in the share."""
        for part in windows(len(file)):
            entries = self.builder.entries[part]
            entries["file"], entries["row"] = file[part], row[part]
            entries["place"] += before.rows
            entries["start"] += before.data
            for name, by in (
                ("unit", before.units), ("other", before.rows),
                ("before", before.data), ("after", before.data),
            ):  # fmt: skip
                entries[name] += np.where(entries[name] >= 0, by, 0)
