"""The index of a large export put together of what tasks say of its ranges
(:mod:`replay.logs.soliddb.by_range`): what grows with units and tables, as that of a log which has
no other rows."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa

from replay.arrays import Index, Records
from replay.errors import LogReplayError
from replay.logs.by_tasks import OddError, OpeningTasks
from replay.logs.long_arrays import LongArrays
from replay.logs.made_arrays import MadeArray
from replay.logs.soliddb import table_history
from replay.logs.soliddb.addresses import AddressHabit
from replay.logs.soliddb.by_range import (
    OVERLAP,
    LogTold,
    ShareBefore,
    ShareDone,
    SharesJob,
    ShareTold,
    some_rows,
    words_of_error,
)
from replay.logs.soliddb.by_version import AskedImages
from replay.logs.soliddb.detect import FittingFramings, SolidShape, none_fits, settled
from replay.logs.soliddb.entries import ENTRY
from replay.logs.soliddb.export import SyslogRows
from replay.logs.soliddb.export_ranges import ExportLog, RangedExport
from replay.logs.soliddb.index import SolidIndex
from replay.logs.soliddb.joined_rows import Joined, count_sessions, held_sessions
from replay.logs.soliddb.manifest import Manifest
from replay.logs.soliddb.notes import IndexNotes
from replay.logs.soliddb.read_sessions import SessionChain, check_sessions
from replay.logs.soliddb.table_history import Known, SolidTableHistory
from replay.logs.soliddb.tables import SolidTable
from replay.logs.soliddb.transactions import OutsideRows, SolidTransactions
from replay.logs.soliddb.units import UNIT, CommitHeads, name_units
from replay.logs.soliddb.values import ValueNotes, words_of
from replay.logs.soliddb.wanted import Settings, WantedTables
from replay.storage import size_of
from sqlgen.structure import StructureChange

#: Bytes of files from which on tasks look at them.
TASKS_FROM = 256 << 20


@dataclass(frozen=True)
class GatheredExport:
    """An ``index``, whose entries lie in a file as data and addresses (``data``, ``address``: the
    paths) do; the rows of each file (``counts``), how read sessions follow one another (``chain``)
    how many rows are ``headless``, and the ``digests`` of the files
    (:class:`replay.logs.by_tasks.Digested`)."""

    index: SolidIndex
    entries: str
    data: str
    address: str
    counts: Sequence[int]
    chain: SessionChain
    headless: int
    digests: Mapping[str, Any]


def index_by_tasks(
    names: Sequence[str],
    tables: Mapping[int, SolidTable],
    manifest: Manifest,
    settings: Settings,
    accept_gaps: bool,
    tasks: OpeningTasks | None,
    folder: str | None,
) -> GatheredExport | None:
    """The index of large files in the order of the log, made in ``folder``; None where tasks do not
    look at them, and where they meet what they cannot judge, which a note names. Raises what tasks
    raise, and OSError."""
    if tasks is None or folder is None or not _reached(tasks, names):
        return None
    try:
        log = ExportLog([RangedExport.of(name) for name in names])
        job = SharesJob(tuple(log.ranges()), WantedTables.of(tables, settings), manifest, settings)
        gathering = _Gathering(job, log, LongArrays(folder))
        gathering.look(tasks)
        chain = gathering.check(accept_gaps)
        return gathering.gathered(tasks, folder, chain)
    except OddError as odd:
        tasks.not_enough(str(odd))
    except (pa.ArrowException, LogReplayError) as error:
        tasks.not_enough(words_of_error(error))
    return None


def _reached(tasks: OpeningTasks, names: Sequence[str]) -> bool:
    """Whether tasks look at files: at large ones."""
    try:
        size = sum(map(size_of, names))
    except OSError:
        return False
    return size > TASKS_FROM and tasks.pays


class _Gathering:
    """What the tasks of a job say."""

    def __init__(self, job: SharesJob, log: ExportLog, arrays: LongArrays) -> None:
        self.job, self.log, self.arrays = job, log, arrays
        self.told: list[ShareTold] = []
        self.before: list[ShareBefore] = []

    def look(self, tasks: OpeningTasks) -> None:
        """Have tasks look at all ranges. OddError where one meets what is odd."""
        found: dict[int, ShareTold] = {}
        for packed in tasks.results(self.job, self.log, self.job.splits):
            told: ShareTold = pickle.loads(packed)
            if told.odd:
                raise OddError(told.odd)
            found[told.number] = told
        self.told = [found[number] for number in sorted(found)]

    @property
    def there(self) -> list[ShareTold]:
        """Those that have rows."""
        return [told for told in self.told if told.parts]

    # -- whether it all fits together
    # ---------------------------------------------------------------------------------------------

    def check(self, accept_gaps: bool) -> SessionChain:
        """Whether shares fit together; how read sessions follow one another. OddError where they do
        not, LogReplayError where that is an error."""
        there = self.there
        counts = self.counts()
        if not there or not all(counts) or len(self.told) != len(self.job.splits):
            raise OddError("a file without rows")
        if len({told.ordered for told in there}) > 1:
            raise OddError("files of which only some have SEQ or SESSION")
        if len(counts) > 1 and not there[0].ordered[0]:
            raise OddError("several files without SEQ")
        if len({told.address for told in there}) > 1:
            raise OddError("LOGADDRs of several lengths")
        self._check_kinds()
        commits = [told for told in there if told.last_commit]
        if any(one.last_commit >= other.first_commit for one, other in pairwise(commits)):
            raise OddError(OVERLAP)
        self._place()
        return self._sessions(accept_gaps)

    def counts(self) -> list[int]:
        """The rows of each file."""
        counts = [0] * len(self.log.files)
        for told in self.told:
            for file, count in told.parts:
                counts[file] += count
        return counts

    def _check_kinds(self) -> None:
        kinds: dict[tuple[int, str], str] = {}
        for told in self.told:
            for file, columns in told.kinds.items():
                for column, kind in columns.items():
                    if kinds.setdefault((file, column), kind) != kind:
                        raise OddError("columns of JSON with values of several kinds")

    def _place(self) -> None:
        """Say what is before each share."""
        rows = data = units = reached = 0
        rows_of: dict[int, int] = {}
        for told in self.told:
            self.before.append(ShareBefore(rows, data, units, dict(rows_of), reached))
            for file, count in told.parts:
                rows_of[file] = rows_of.get(file, 0) + count
            rows, data, units = rows + told.rows, data + told.data, units + told.units
            reached = told.heads.last if told.heads.count else reached
        self.before.append(ShareBefore(rows, data, units, rows_of, reached))

    def _sessions(self, accept_gaps: bool) -> SessionChain:
        """As :func:`replay.logs.soliddb.read_sessions.check_sessions`, of the rows that tell of
        them."""
        manifest = self.job.manifest
        named = [entry["last_commit_logaddr"] for entry in held_sessions(manifest.sessions)]
        if any(one >= other for one, other in pairwise(named)):
            raise OddError("a manifest whose read sessions are not in order")
        few, commits, count = list[Joined](), list[Index](), 0
        session, last, closed = 0, None, True
        for number, told in enumerate(self.told):
            if told.few is None or told.edges is None:
                continue
            few_of, edges = (self._of_log(number, each) for each in (told.few, told.edges))
            first, end = (some_rows(edges, np.array([place])) for place in (0, 1))
            if last is not None:
                both = self._behind([last, first])
                count_sessions(both, manifest.sessions)
                if not closed and not both.session[1]:
                    # it ends where the next one begins, and not with its read session
                    raise OddError("transactions without a commit")
                session += int(both.session[1])
            few_of.session[:] += session
            session, last, closed = session + int(end.session[0]), end, told.ends
            few.append(few_of)
            commits.append(told.commits + count)
            count += len(few_of)
        rows, ends = self._behind(few), np.concatenate(commits)
        of = len(ends)
        bounds = SolidTransactions(
            np.full(count, -1), ends, ends, np.full(of, ord("C"), np.uint8), np.ones(of, bool),
            np.zeros(of, bool), np.zeros(of, np.int64),
        )  # fmt: skip
        return check_sessions(rows, bounds, manifest, accept_gaps)

    def _of_log(self, number: int, rows: Joined) -> Joined:
        """Some rows of a share with their places in files."""
        before = self.before[number].rows_of
        begin = np.array([before.get(file, 0) for file in rows.file.tolist()], np.int64)
        return replace(rows, row=rows.row + begin, session=rows.session.copy())

    def _behind(self, parts: Sequence[Joined]) -> Joined:
        """Some rows behind each other."""

        def all_of(name: str) -> Index:
            return np.concatenate([getattr(part, name) for part in parts])

        def optional(name: str) -> Index | None:
            return None if getattr(parts[0], name) is None else all_of(name)

        return Joined(
            [_file(file.name) for file in self.log.files],
            all_of("file"),
            all_of("row"),
            {
                name: np.concatenate([part.numbers[name] for part in parts])
                for name in parts[0].numbers
            },
            np.concatenate([part.named for part in parts]),
            np.concatenate([part.address for part in parts]),
            np.concatenate([part.address_null for part in parts]),
            parts[0].data,
            all_of("start"),
            all_of("end"),
            np.concatenate([part.data_null for part in parts]),
            optional("sequence"),
            optional("named_session"),
            all_of("session"),
            LongArrays(None),
        )

    # -- the index
    # ---------------------------------------------------------------------------------------------

    def gathered(self, tasks: OpeningTasks, folder: str, chain: SessionChain) -> GatheredExport:
        """The index, whose entries tasks write. OddError, LogReplayError."""
        job = self.job
        job.wanted.check_names(self._spans(), self.log.files[0].name)
        shape, alike, line = self._tables(tasks)
        heads, habit = CommitHeads(), AddressHabit()
        for each in self.told:
            heads, habit = heads.followed_by(each.heads), habit + each.habit
        end, place = self.before[-1], Path(tempfile.mkdtemp(prefix="index-", dir=folder))
        address = self.there[0].address
        files = tuple(
            MadeArray.of(place / f"{name}.npy", dtype, shape_of)
            for name, dtype, shape_of in (
                ("entries", ENTRY, [end.rows]), ("data", np.uint8, [end.data]),
                ("address", np.uint8, [end.rows, address]),
            )
        )  # fmt: skip
        told = LogTold(
            self.before, shape, line, habit, heads.tell_apart, address,
            files if tasks.on_this_machine else (),
        )  # fmt: skip
        units = self.arrays.zeros(end.units, UNIT)
        done: dict[int, ShareDone] = {}
        for packed in tasks.results(replace(job, told=told), self.log, job.splits):
            result = pickle.loads(packed)
            if isinstance(result, ShareDone):
                self._take(result, units)
                done[result.number] = result
            else:
                files[result.array].put(result.first, result.values)
        name_units(units, self.arrays)
        notes, of_values = IndexNotes(), dict[int, ValueNotes]()
        for number in sorted(done):
            notes.add(done[number].notes)
            for version, each_notes in done[number].of_values.items():
                of_values.setdefault(version, ValueNotes()).add(each_notes)
        for each in self.told:
            notes.add(each.notes)
        words = [
            text
            for version, each_notes in sorted(of_values.items())
            for text in words_of(each_notes, line.versions[version], _nowhere)
        ]
        index = SolidIndex(
            np.zeros(0, ENTRY), units, line, self._places(line), shape, alike, heads.tell_apart,
            (*line.warnings, *notes.words(self._outside(), words)),
        )  # fmt: skip
        entries, data, addresses = (file.path for file in files)
        headless = self.told[0].outside.headless
        digests = tasks.digested({file.name: file.place for file in self.log.files})
        return GatheredExport(
            index, entries, data, addresses, self.counts(), chain, headless, digests
        )

    def _take(self, done: ShareDone, units: Records) -> None:
        """Take the units of a share. OddError where it met what is odd."""
        if done.odd:
            raise OddError(done.odd)
        found = np.frombuffer(done.units, UNIT)
        first = self.before[done.number].units
        units[first : first + len(found)] = found
        done.units = b""

    def _outside(self) -> OutsideRows:
        """The rows that are in no whole transaction."""
        outside = OutsideRows()
        for number, told in enumerate(self.told):
            mine = told.outside
            outside.endless += mine.endless
            outside.headless += mine.headless
            outside.commit |= mine.commit and not number
            outside.strange |= mine.strange
            if not outside.first and mine.first:
                file = told.parts[0][0]
                # it begins the share, unless this is the first one
                outside.first = mine.first + self.before[number].rows_of.get(file, 0)
            if not number:
                outside.sequence = mine.sequence
        return outside

    def _spans(self) -> dict[int, tuple[int, int]]:
        return self._joined_spans([told.spans for told in self.told])

    def _joined_spans(
        self, spans: Sequence[Mapping[int, tuple[int, int]]]
    ) -> dict[int, tuple[int, int]]:
        """First and last rows, of all shares."""
        joined: dict[int, tuple[int, int]] = {}
        for before, mine in zip(self.before, spans, strict=False):
            for relid, (first, last) in mine.items():
                begin = joined.get(relid, (before.rows + first, 0))[0]
                joined[relid] = begin, before.rows + last
        return joined

    def _tables(self, tasks: OpeningTasks) -> tuple[SolidShape, tuple[str, ...], SolidTableHistory]:
        """(the shape of images, others that read the same, what becomes of tables). OddError where
        tasks cannot tell."""
        settings, tables = self.job.settings, self.job.wanted.tables
        exported = self._exported()
        texts = [
            replace(text, row=text.row + before.rows)
            for told, before in zip(self.told, self.before, strict=False)
            for text, _, _ in told.ddl
        ]
        plain = [text.read(settings.charset, None) for text in texts]
        if any(record is None for record in plain):
            raise OddError("changes of tables that are framed as rows are")
        records = [record for record in plain if record is not None]

        def line_of(columns: str, closes: table_history.Closes) -> SolidTableHistory:
            return table_history.build(tables, records, exported, columns, settings.charset, closes)

        first = line_of("C", lambda *_: (False, 1))
        asked = AskedImages(self.job, self.log, self.told, self.before, tasks)
        found = self._settled(first, exported, asked)
        line = asked.line(lambda closes: line_of(found[0].columns, closes), found[0])
        return *found, line

    def _settled(
        self, line: SolidTableHistory, exported: Known, asked: AskedImages
    ) -> tuple[SolidShape, tuple[str, ...]]:
        """The shape of images, others that read the same. ``line``: what becomes of tables without
        what images say of that. As :meth:`replay.logs.soliddb.index.IndexBuilder._shape`, for old
        images may have been widened to the columns of now. OddError where that is not certain."""
        settings, file = self.job.settings, self.log.files[0].name

        def as_they_are() -> list[list[FittingFramings]]:
            return [told.fitting for told in self.there]

        attempts = [as_they_are]
        if self._changing(line):
            last = {
                relid: int(line.version_at(relid, np.array([exported.of(relid) - 1]))[0])
                for relid in self.job.wanted.tables
            }
            attempts = [lambda: asked.fitting(line), lambda: asked.fitting(line, last), as_they_are]
        for attempt in attempts:
            said = attempt()
            if len(attempts) > 1 and not any(each.tables for share in said for each in share):
                continue
            found = settled(said, settings.framing, settings.columns, file)
            if found is not None:
                return found
            if not none_fits(said, settings.framing, settings.columns):
                break
        raise OddError("row images that the columns of their tables do not close")

    def _images(self) -> dict[int, tuple[int, int]]:
        """The first and the last row with an image of each table."""
        return self._joined_spans([told.images for told in self.told])

    def _changing(self, line: SolidTableHistory) -> bool:
        """Whether there are images of tables which have other columns there than in the export of
        the system tables."""
        tables = self.job.wanted.tables
        for relid, (begin, end) in self._images().items():
            for number in _versions_within(line, relid, begin, end):
                known = relid in tables and number >= 0
                if known and line.attributes[number] == tables[relid].attributes:
                    continue
                if known or number >= 0 or relid in tables:
                    return True
        return False

    def _exported(self) -> Known:
        """What the export of the system tables knows of."""

        def behind(at: bytes) -> int:
            places = [
                before.rows + told.behind[at]
                for told, before in zip(self.told, self.before, strict=False)
                if told.behind.get(at)
            ]
            return max(places, default=0)

        manifest = self.job.manifest
        dropped = {relid: behind(at) for relid, at in manifest.dropped.items()}
        at = manifest.metadata_at
        return Known(self.before[-1].rows if at is None else behind(at), dropped)

    def _places(self, line: SolidTableHistory) -> dict[tuple[int, int], StructureChange]:
        """The changes of structure by file and row in it."""
        places = {}
        for told, before in zip(self.told, self.before, strict=False):
            for text, file, row in told.ddl:
                change = line.changes.get(text.row + before.rows)
                if change is not None:
                    places[file, row + before.rows_of.get(file, 0)] = change[1]
        return places


def _versions_within(line: SolidTableHistory, relid: int, first: int, last: int) -> list[int]:
    """The versions that a table has from one row up to another."""
    steps = [row for row, _ in line.steps.get(relid, []) if first < row <= last]
    return line.versions_at(relid, np.array([first, *steps], np.int64))


def _nowhere(row: int, name: str | None) -> NoReturn:
    raise OddError("an error (LR2015)")


def _file(name: str) -> SyslogRows:
    """A file by its name alone."""
    none, octets = np.zeros(0, np.int64), np.zeros(0, np.uint8)
    return SyslogRows(
        name, {}, none.astype(np.int16), None, None, octets.reshape(0, 0), none > 0, octets, none,
        none > 0, 0,
    )  # fmt: skip
