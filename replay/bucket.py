"""The changes of one bucket: sorted, cut into chunks, joined from segments, checked, and counted by what becomes of them.

What is made of them is up to a :class:`BucketReader`: statements (:mod:`replay.render`) or datasets (:mod:`replay.export`). A unit of recovery
with a damaged record is left out whole; where it is too long for one chunk, what was already written of it is cut off again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from replay import codecs, order
from replay.changes import RECORD, Change, Envelope, distinct, place_of, take_records
from replay.decode import Problem, RowDecoder
from replay.errors import Finding, Where
from replay.logs import Images, LogFile, where_of
from replay.plan import Plan
from replay.report import Tally
from replay.selection import REASONS
from sqlgen.dialects import Profile

#: Records rendered together, and the log bytes they may have: rows of 32 KB must not make a chunk of a gigabyte.
CHUNK = 65_536
CHUNK_BYTES = 64 << 20
#: Outcome of a change that is damaged itself; other outcomes are indexes of :data:`replay.selection.REASONS`, 0 = emitted.
FAILED = 251

Index = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass
class Changes:
    """The changes of a chunk in log order. ``head`` is the row of a change's first record in ``records``, ``weight`` its number of segments; ``change``,
    ``version`` and ``origin`` are those of the first record."""

    records: npt.NDArray[np.void]
    head: Index
    weight: Index
    unit: Index
    change: npt.NDArray[np.uint8]
    version: npt.NDArray[np.int32]
    origin: npt.NDArray[np.uint8]
    outcome: npt.NDArray[np.uint8]
    uncommitted: npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Chunk:
    """Rows ``start:stop`` of a bucket: whole units, or one piece of a unit too long for a chunk (``piece`` k of ``pieces``, in emission order)."""

    start: int
    stop: int
    piece: int = 0
    pieces: int = 1


class Output(Protocol):
    """Where a reader writes. A unit too long for a chunk is written piece by piece: ``cut_back`` forgets everything since ``mark``."""

    def mark(self) -> None: ...
    def cut_back(self) -> None: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class WrittenFile:
    """A file of the output: its path within the folder, its bytes and their SHA-256, and the number of changes in it."""

    name: str
    size: int
    sha256: str
    changes: int


@dataclass(frozen=True)
class BucketResult:
    """What became of one bucket: its files, the tally, and the commit position and key of every unit seen (22 bytes each), for the check that no
    unit has two commit positions."""

    files: tuple[WrittenFile, ...]
    tally: Tally
    units: bytes

    def commits(self) -> Iterator[tuple[bytes, bytes]]:
        """(commit position, unit) of every unit seen."""
        return ((self.units[at : at + 10], self.units[at + 10 : at + 22]) for at in range(0, len(self.units), 22))


Made = TypeVar("Made")


class BucketReader(ABC, Generic[Made]):
    """Reads the blocks of one bucket; :meth:`run` writes what :meth:`_make` makes of its changes to ``output``, and returns what became of them."""

    def __init__(self, plan: Plan, log: LogFile, blocks: Iterable[bytes], output: Output, profile: Profile) -> None:
        records = np.frombuffer(b"".join(blocks), RECORD)
        self.plan, self.log, self.output, self.profile = plan, log, output, profile
        self.records = take_records(records, order.commit_order(records))
        self.tally = Tally()
        same = self._like_the_one_before("commit", "unit")
        self.unit_start = np.concatenate([[0], np.flatnonzero(~same) + 1]).astype(np.int64)
        self.unit_heads = take_records(self.records, self.unit_start)
        self.unit_of = np.zeros(len(self.records), np.int64)
        self.unit_of[self.unit_start[1:]] = 1
        self.unit_of = np.cumsum(self.unit_of)
        self.size_before = np.concatenate([[0], np.cumsum(self.records["length"], dtype=np.int64)])
        self.decoder = RowDecoder(plan, log, self.profile, len(records))
        self.twice = self._duplicates()
        self.bad_units = np.zeros(len(self.unit_start), bool)
        self.bad_units |= self._contradictory_units() | self._units_of_one_commit()

    def _like_the_one_before(self, *names: str) -> Mask:
        """Which records but the first are the same as their neighbour in fields of bytes."""
        rows = self.records.view(np.uint8).reshape(len(self.records), RECORD.itemsize)
        same = np.ones(max(len(rows) - 1, 0), bool)
        for name in names:
            field = rows[:, place_of(name)]
            same &= codecs.equal_rows(field[1:], field[:-1])
        return same

    @abstractmethod
    def _make(self, changes: Changes) -> Made:
        """What the live changes of a chunk become; sets ``outcome`` of those that are not emitted."""

    @abstractmethod
    def _emit(self, changes: Changes, made: Made, shown: Mask, chunk: Chunk) -> int:
        """Write what was made of the ``shown`` changes; how many statements that is beyond one for each that is committed."""

    def run(self) -> Tally:
        """Read everything; what was made of it is in the output afterwards."""
        chunks = list(self._chunks())
        if self.plan.mode == "undo":
            chunks.reverse()
        for chunk in chunks:
            changes = self._assemble(self.records[chunk.start : chunk.stop], chunk.start)
            self._settle(changes, self._make(changes), chunk)
        self.output.close()
        return self.tally

    def commits(self) -> bytes:
        """:attr:`BucketResult.units`."""
        return np.concatenate([octets_of(self.unit_heads["commit"]), octets_of(self.unit_heads["unit"])], axis=1).tobytes()

    # -- cutting ----------------------------------------------------------------------------------------------------------------------

    def _limit(self, start: int) -> int:
        """The first row after ``start`` that no longer fits into a chunk that begins there."""
        size = int(self.size_before[start]) + CHUNK_BYTES
        return max(start + 1, min(start + CHUNK, int(np.searchsorted(self.size_before, size, side="right")) - 1))

    def _chunks(self) -> Iterator[Chunk]:
        ends = np.append(self.unit_start[1:], len(self.records))
        unit = 0
        while unit < len(self.unit_start):
            start = int(self.unit_start[unit])
            last = int(np.searchsorted(ends, self._limit(start), side="right"))
            if last > unit:
                yield Chunk(start, int(ends[last - 1]))
                unit = last
            else:
                yield from self._pieces(start, int(ends[unit]))
                unit += 1

    def _pieces(self, start: int, stop: int) -> Iterator[Chunk]:
        """A long unit cut where its undo order allows it (never between a cause and what followed from it, or between segments)."""
        cuts = [start]
        while self._limit(cuts[-1]) < stop:
            cut = self._safe_cut(cuts[-1], stop)
            if cut is None:
                break
            cuts.append(cut)
        cuts.append(stop)
        pieces = len(cuts) - 1
        for number, (low, high) in enumerate(pairwise(cuts)):
            piece = number if self.plan.mode == "redo" else pieces - 1 - number
            yield Chunk(low, high, piece, pieces)

    def _safe_cut(self, start: int, stop: int) -> int | None:
        low = start + 1
        while low < stop:
            high = min(max(self._limit(low), low + 1), stop)
            records = self.records[low - 1 : high]
            first = records["segment"] <= 1
            safe = np.flatnonzero(order.unit_safe_cuts(records["origin"] == ord(" "), records["change"], records["version"], first))
            if len(safe):
                return low - 1 + int(safe[-1])
            low = high
        return None

    def _envelope(self, records: npt.NDArray[np.void]) -> Envelope:
        return self.log.envelope_of(records["file"], records["offset"], records["length"])

    def _headers(self, changes: Changes, rows: Index) -> Envelope:
        """The headers of some changes, that of the first record of each."""
        return self._envelope(take_records(changes.records, changes.head[rows]))

    # -- checks over the whole bucket ---------------------------------------------------------------------------------------------------

    def _duplicates(self) -> Mask:
        """Records that are the same change (or segment) as their neighbour: same unit, LOGRBA, SEGNUM, and then table, row and change."""
        records = self.records
        twice = np.zeros(len(records), bool)
        if len(records) < 2:
            return twice
        same = (self.unit_of[1:] == self.unit_of[:-1]) & self._like_the_one_before("position")
        same &= records["segment"][1:] == records["segment"][:-1]
        rows = np.flatnonzero(same) + 1
        if len(rows):
            here, before = self._envelope(records[rows]), self._envelope(records[rows - 1])
            twice[rows[self.log.same_change(here, before)]] = True
        return twice

    def _contradictory_units(self) -> Mask:
        """Units in the plan's quarantine: their records disagree about the commit position, so the log cannot be trusted about them."""
        if not self.plan.quarantine:
            return np.zeros(len(self.unit_start), bool)
        units = [row.tobytes() for row in self.unit_heads["unit"]]
        bad = np.array([unit in self.plan.quarantine for unit in units], bool)
        for row in np.flatnonzero(bad):
            record = self.unit_heads[row]
            expected = "one UORCOMMITLRSN in all records of the unit"
            self._finding(
                "LR2016",
                record,
                "UORCOMMITLRSN",
                "a unit of recovery with several commit positions",
                expected,
                "Make the log again from the Db2 log",
            )
            self.tally.quarantined_units[units[row]] = "LR2016 records disagree about UORCOMMITLRSN"
        return bad

    def _units_of_one_commit(self) -> Mask:
        """Units that share one commit record: a record of one claims to be of the other, so neither is known to be whole."""
        starts = self.unit_heads
        bad = np.zeros(len(starts), bool)
        same = np.flatnonzero(starts["commit"][1:] == starts["commit"][:-1])
        if not len(same):
            return bad
        rows = np.unique(np.concatenate([same, same + 1]))
        keys = self.log.commit_keys(self._envelope(starts[rows]))
        _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
        bad[rows[counts[inverse] > 1]] = True
        for row in np.flatnonzero(bad):
            found, expected = "the commit of another unit of recovery too", "a commit record for each unit"
            self._finding(
                "LR2016", starts[row], "UORID", found, expected, "One of the records is damaged; make the log again or transfer it again"
            )
            self.tally.quarantined_units[starts[row]["unit"].tobytes()] = "LR2016 it shares its commit record with another unit"
        return bad

    # -- one chunk ----------------------------------------------------------------------------------------------------------------------

    def _assemble(self, records: npt.NDArray[np.void], base: int) -> Changes:
        """Join segments, check headers against each other, and note what is damaged."""
        change, version, segments, number = (np.ascontiguousarray(records[name]) for name in ("change", "version", "segments", "segment"))
        unit = self.unit_of[base : base + len(records)]
        joined = np.zeros(len(records), bool)
        joined[1:] = (segments[1:] > 1) & (segments[1:] == segments[:-1]) & (unit[1:] == unit[:-1]) & (change[1:] == change[:-1])
        joined[1:] &= (version[1:] == version[:-1]) & (records["position"][1:] == records["position"][:-1])
        head = np.flatnonzero(~joined)
        weight = np.diff(np.append(head, len(records)))
        outcome = np.zeros(len(head), np.uint8)
        changes = Changes(
            records,
            head,
            weight,
            unit[head],
            change[head],
            version[head],
            records["origin"][head],
            outcome,
            np.zeros(len(head), np.uint8),
        )
        place = np.arange(len(records)) - np.repeat(head, weight)
        in_order = number.astype(np.int64) - np.repeat(number[head].astype(np.int64), weight) == place
        complete = np.logical_and.reduceat(in_order, head) if len(head) else in_order
        complete &= (weight == np.maximum(segments[head], 1)) & (number[head] <= 1)
        for row in np.flatnonzero(~complete):
            self._fail_segments(changes, int(row), number, int(segments[head[row]]))
        self._check_records(changes, base)
        if self.plan.selection.include_aborted:
            changes.uncommitted = _uncommitted(self._headers(changes, np.arange(len(head))))
        return changes

    def _fail_segments(self, changes: Changes, row: int, number: npt.NDArray[np.integer], expected: int) -> None:
        start = changes.head[row]
        seen = ", ".join(str(int(n)) for n in number[start : start + min(int(changes.weight[row]), 20)])
        record = changes.records[start]
        hint = "All data files of the log must be given (--data F F …); if they are, the transfer lost records: send the files again"
        self._finding("LR2013", record, "SEGNUM", f"segments {seen} of TOTALSEGS {expected}", f"each of 1 to {max(expected, 1)} once", hint)
        changes.outcome[row] = FAILED

    def _check_records(self, changes: Changes, base: int) -> None:
        records = changes.records
        change_of_record = np.repeat(np.arange(len(changes.head)), changes.weight)
        for row in np.flatnonzero(records["damaged"]):
            record = records[row]
            self.tally.find(
                self.log.header_finding(int(record["file"]), int(record["number"]), int(record["offset"]), int(record["length"]))
            )
            changes.outcome[change_of_record[row]] = FAILED
        for row in np.flatnonzero(self.twice[base : base + len(records)]):
            hint = "Was a data file given twice, or do two files overlap? Give each record once"
            self._finding("LR2017", records[row], "LOGRBA", "the same change as in another record", "each change once", hint)
            changes.outcome[change_of_record[row]] = FAILED
        self._check_units(changes)

    def _check_units(self, changes: Changes) -> None:
        """What is a fact of the unit must be the same in all its records."""
        own = changes.records["unit_facts"][changes.head]
        rows = np.flatnonzero(own != self.unit_heads["unit_facts"][changes.unit])
        if not len(rows):
            return
        here, first = self._headers(changes, rows), self._envelope(self.unit_heads[changes.unit[rows]])
        for field, one, other in (
            ("UORDISP", here.unit_disposition(), first.unit_disposition()),
            ("UORIDLRSN", here.unit_position(), first.unit_position()),
            ("UORCOMMITTIMESTAMP", here.commit_time(), first.commit_time()),
        ):
            different = one != other if one.ndim == 1 else (one != other).any(axis=1)
            for row in rows[different]:
                record = changes.records[changes.head[row]]
                hint = "One of the records is damaged; make the log again or transfer it again"
                self._finding(
                    "LR2016", record, field, "a value other than in the unit's first record", "one value in all records of a unit", hint
                )
                changes.outcome[row] = FAILED

    def _where(self, record: np.void, field: str | None = None, table: str | None = None) -> Where:
        return where_of(self.log, record, field, table)

    def _finding(
        self, code: str, record: np.void, field: str | None, found: str, expected: str, hint: str, table: str | None = None
    ) -> None:
        self.tally.find(Finding(code, self._where(record, field, table), found, expected, hint))

    # -- what is made of changes ------------------------------------------------------------------------------------------------------------

    def _groups(self, changes: Changes) -> Iterator[tuple[Index, Change, int]]:
        """The live changes of a chunk by kind and table version."""
        live = (changes.outcome == 0) & ~self.bad_units[changes.unit]
        group = changes.version.astype(np.int64) * 16 + changes.change
        for value in distinct(group[live]).tolist():
            yield np.flatnonzero(live & (group == value)), Change(value % 16), value // 16

    def _images(self, changes: Changes, rows: Index, kind: Change) -> Iterator[tuple[Index, Images]]:
        """Row images of changes of one table version and kind, in parts: which changes they are of, and the images."""
        for part, images in self.log.images(changes.records, changes.head[rows], changes.weight[rows], kind):
            yield rows[part], images

    def _blame(self, changes: Changes, rows: Index, version: int, problems: list[Problem]) -> None:
        """Findings for values that cannot be decoded or said."""
        for problem in problems:
            record = changes.records[changes.head[rows[problem.row]]]
            table = self.log.catalog.versions[version].name
            self._finding(problem.code, record, problem.field, problem.found, problem.expected, problem.hint, table)

    def _refuse_part_events(self, changes: Changes, rows: Index, kind: Change, version: int) -> None:
        """Refuse what empties a part of a table, or exchanges its rows: they are not in the log. Of undo the scan has refused it."""
        if self.plan.mode == "undo":
            return
        whole = self.log.whole_table(self._headers(changes, rows), changes.records["length"][changes.head[rows]])
        refused = (changes.uncommitted[rows] == 0) & (~whole | (kind == Change.EXCHANGE))
        what = "a committed " + kind.name.lower().replace("_", " ") + ("" if kind == Change.EXCHANGE else " of one partition")
        hint = "Leave the table out (--exclude-table), or begin after it (--from-lrsn), and copy the table as a whole"
        for row in rows[refused]:
            where = self._where(changes.records[changes.head[row]], table=self.log.catalog.versions[version].name)
            self.tally.refusals.append(Finding("LR3003", where, what, "changes that a statement can repeat", hint))

    # -- outcomes -----------------------------------------------------------------------------------------------------------------------------

    def _settle(self, changes: Changes, made: Made, chunk: Chunk) -> None:
        """Decide what is emitted, write it, and count every record of the chunk."""
        failed_units = np.unique(changes.unit[changes.outcome == FAILED])
        for unit in failed_units[~self.bad_units[failed_units]]:
            self.bad_units[unit] = True
            key = self.unit_heads["unit"][unit].tobytes()
            self.tally.quarantined_units.setdefault(key, "a change of the unit is damaged, or cannot be written")
        shown = (changes.outcome == 0) & ~self.bad_units[changes.unit]
        if chunk.pieces > 1 and chunk.piece == 0:
            self.output.mark()
        more = self._emit(changes, made, shown, chunk)
        self._count(changes, shown & (changes.uncommitted == 0), more, chunk)
        if chunk.pieces > 1 and chunk.piece == chunk.pieces - 1 and self.bad_units[changes.unit[0]]:
            self.output.cut_back()

    def _count(self, changes: Changes, emitted: Mask, more: int, chunk: Chunk) -> None:
        bad = self.bad_units[changes.unit]
        part = Tally()
        failed = changes.outcome == FAILED
        part.failed = int(changes.weight[failed].sum())
        part.quarantined = int(changes.weight[bad & ~failed].sum())
        reasons = np.where(changes.outcome == 0, changes.uncommitted, changes.outcome)
        for code in distinct(reasons[~bad & (reasons > 0)]):
            part.skipped[REASONS[code]] += int(changes.weight[~bad & (reasons == code)].sum())
        part.emitted = int(changes.weight[emitted].sum())
        part.statements = int(emitted.sum()) + more
        part.units = len(order.run_starts(changes.unit[emitted]))
        key = changes.version[emitted].astype(np.int64) * 16 + changes.change[emitted]
        for value, count in enumerate(np.bincount(key).tolist()):
            if count:
                part.changes[(value // 16, value % 16)] += count
        if emitted.any():
            commits = changes.records["commit"][changes.head[emitted]]
            part.saw_commits(commits[0].tobytes(), commits[-1].tobytes())
        if chunk.pieces == 1:
            self.tally.add(part)
        else:
            self._count_piece(part, chunk, bool(bad.any()))

    def _count_piece(self, part: Tally, chunk: Chunk, bad: bool) -> None:
        """Counts of a long unit wait until its last piece has shown whether the unit is whole."""
        if chunk.piece == 0:
            self.pending = Tally()
        part.units = 0
        self.pending.add(part)
        if chunk.piece < chunk.pieces - 1:
            return
        if bad:
            whole = Tally(failed=self.pending.failed)
            whole.quarantined = self.pending.outcomes - self.pending.failed
            self.tally.add(whole)
        else:
            self.pending.units = int(self.pending.statements > 0)
            self.tally.add(self.pending)


def _uncommitted(envelope: Envelope) -> npt.NDArray[np.uint8]:
    """For ``--include-aborted``: the reason each change would have been left out for, 0 for committed work."""
    result = np.zeros(len(envelope), np.uint8)
    disposition = envelope.disposition()
    result[disposition != ord("C")] = 4
    result[disposition == ord("S")] = 3
    result[disposition == ord("A")] = 2
    result[envelope.unit_disposition() != ord("C")] = 1
    return result


def octets_of(column: npt.NDArray[np.void]) -> npt.NDArray[np.uint8]:
    """Opaque values of ``w`` bytes as ``uint8[n, w]``."""
    return np.ascontiguousarray(column).view(np.uint8).reshape(len(column), column.dtype.itemsize)


def contradictory_units(results: list[BucketResult]) -> frozenset[bytes]:
    """Units that occur with more than one commit position: at least one of their records is damaged."""
    rows = np.frombuffer(b"".join(result.units for result in results), np.uint8).reshape(-1, 22)
    units = np.ascontiguousarray(rows[:, 10:]).view("V12").reshape(-1)
    values, counts = np.unique(units, return_counts=True)
    return frozenset(value.tobytes() for value in values[counts > 1])
