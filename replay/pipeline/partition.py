"""The changes of one bucket: sorted, cut into chunks (records that are worked on together), joined
from segments, checked, and counted by what becomes of them.

What is made of them is up to a :class:`BucketReader`: statements (:mod:`replay.output.scripts`) or
datasets (:mod:`replay.output.datasets`). A unit of recovery with a damaged record is left out
whole; where it is too long for one chunk, what was already written of it is cut off again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Index, Mask, Records, Versions, of_rows, one_of, take_rows
from replay.changes import order
from replay.changes.balance import Tally
from replay.changes.envelope import (
    RECORD,
    Change,
    Envelope,
    distinct,
    field_slice,
)
from replay.changes.position import (
    UNIT,
    Position,
    unit_of,
    unit_positions,
)
from replay.changes.selection import (
    LEFT_TO_TARGET,
    REASONS,
    UNWRITTEN,
    RecordFacts,
    decide,
)
from replay.changes.units import Verdict
from replay.decoding import codecs
from replay.errors import Finding, Where
from replay.logs import Images, LogFile, where_of
from replay.pipeline.plan import Plan
from replay.pipeline.row_batch import RowProblem
from replay.pipeline.rows import RowDecoder
from replay.pipeline.scan import in_commit_order
from sqlgen.dialects import Profile

#: Outcome of a change that is damaged itself; other outcomes are indexes of
#: :data:`replay.changes.selection.REASONS`, 0 = emitted.
FAILED = 251


@dataclass
class ChunkChanges:
    """The changes of a chunk in log order. ``head`` is the row of a change's first record in
    ``records``, ``weight`` its number of segments; ``change``, ``version`` and ``origin`` are those
    of the first record."""

    records: Records
    head: Index
    weight: Index
    unit: Index
    change: Bytes
    version: Versions
    origin: Bytes
    outcome: Bytes
    uncommitted: Bytes

    def part(self, rows: Index) -> ChunkChanges:
        """Some of the changes."""
        names = [one.name for one in fields(self) if one.name != "records"]
        return replace(self, **{name: getattr(self, name)[rows] for name in names})


@dataclass(frozen=True)
class Chunk:
    """Rows ``start:stop`` of a bucket: whole units, or one piece of a unit too long for a chunk
    (``piece`` k of ``pieces``, in emission order)."""

    start: int
    stop: int
    piece: int = 0
    pieces: int = 1


def joined(records: Records, unit: Index) -> ChunkChanges:
    """The changes of records in order, segments joined; ``unit`` numbers the unit of each."""
    change, version, segments = (
        np.ascontiguousarray(records[name]) for name in ("change", "version", "segments")
    )
    follows = np.zeros(len(records), bool)
    follows[1:] = (
        (segments[1:] > 1)
        & (segments[1:] == segments[:-1])
        & (unit[1:] == unit[:-1])
        & (change[1:] == change[:-1])
        & (version[1:] == version[:-1])
        & (records["position"][1:] == records["position"][:-1])
    )
    head = np.flatnonzero(~follows)
    outcome, uncommitted = (np.zeros(len(head), np.uint8) for _ in range(2))
    return ChunkChanges(
        records,
        head,
        np.diff(np.append(head, len(records))),
        unit[head],
        change[head],
        version[head],
        records["origin"][head],
        outcome,
        uncommitted,
    )


def uncommitted_of(envelope: Envelope) -> Bytes:
    """For ``--include-aborted``: the reason each change would have been left out for, 0 for
    committed work."""
    result = np.zeros(len(envelope), np.uint8)
    disposition = envelope.disposition()
    result[disposition != ord("C")] = 4
    result[disposition == ord("S")] = 3
    result[disposition == ord("A")] = 2
    result[envelope.unit_disposition() != ord("C")] = 1
    return result


# -- where units begin
# -------------------------------------------------------------------------------------------------

#: Records that are walked along together.
STEP = 1 << 16
#: What tells units apart, which a record begins with.
_UNIT = ("commit", "unit")


def unit_starts(records: Records) -> Index:
    """The first record of each unit, rising, among ``records``, which are in commit order."""
    starts = [np.arange(min(len(records), 1))]
    for low in range(0, len(records), STEP):
        first = max(low - 1, 0)
        same = like_the_one_before(records[first : low + STEP], *_UNIT)
        starts.append(np.flatnonzero(~same) + first + 1)
    return np.concatenate(starts)


def like_the_one_before(records: Records, *names: str) -> Mask:
    """Which records but the first are the same as their neighbour in some fields."""
    rows = np.ascontiguousarray(records).view(np.uint8).reshape(len(records), RECORD.itemsize)
    same = np.ones(max(len(rows) - 1, 0), bool)
    for name in names:
        field = rows[:, field_slice(name)]
        same &= codecs.equal_rows(field[1:], field[:-1])
    return same


#: Records rendered together, and the log bytes they may have: rows of 32 KB must not make a chunk
#: of a gigabyte.
CHUNK = 16_384
CHUNK_BYTES = 64 << 20


class Output(Protocol):
    """Where a reader writes. A unit too long for a chunk is written piece by piece, and cut off
    again where a later piece turns out to be damaged. Raises OSError where it cannot be written,
    LogReplayError where what it writes is refused."""

    def mark(self) -> None:
        """Remember this place, before the first piece of a long unit."""
        ...

    def cut_back(self) -> None:
        """Forget everything written since :meth:`mark`."""
        ...

    def close(self) -> None:
        """Write what waits and end the output; called once, after the last chunk."""
        ...


Content = TypeVar("Content")


class BucketReader(ABC, Generic[Content]):
    """Reads the blocks of one bucket; :meth:`run` writes what :meth:`_make` makes of its changes to
    ``output``, and returns what became of them."""

    def __init__(
        self, plan: Plan, log: LogFile, blocks: Iterable[bytes], output: Output, profile: Profile
    ) -> None:
        self.plan, self.log, self.output, self.profile = plan, log, output, profile
        self.records = in_commit_order(blocks)
        self.tally = Tally()
        self.unit_start = unit_starts(self.records)
        self.unit_heads = take_rows(self.records, self.unit_start)
        self.decoder = RowDecoder(plan, log, self.profile, len(self.records))
        added = b"" if plan.decisions is None else b"".join(plan.decisions.added)
        #: Which units are taken whole, whatever the selection says of rows.
        self.whole = np.isin(self.unit_heads["unit"], np.frombuffer(added, UNIT))
        self.bad_units = np.zeros(len(self.unit_start), bool)
        self.bad_units |= self._contradictory_units() | self._units_of_one_commit()

    def _units_of(self, start: int, stop: int) -> Index:
        """The number of the unit of each of some records."""
        first, last = np.searchsorted(self.unit_start, [start, stop - 1], side="right") - 1
        edges = [start, *self.unit_start[first + 1 : last + 1].tolist(), stop]
        return np.repeat(np.arange(first, last + 1), np.diff(edges))

    @abstractmethod
    def _make(self, changes: ChunkChanges) -> Content:
        """What the live changes of a chunk become; sets ``outcome`` of those that are not
        emitted."""

    @abstractmethod
    def _emit(self, changes: ChunkChanges, content: Content, emitted: Mask, chunk: Chunk) -> int:
        """Write what the ``emitted`` changes became; how many statements that is beyond one for
        each that is committed."""

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

    def commits(self) -> Records:
        """:attr:`BucketResult.units`."""
        return unit_positions(self.unit_heads["commit"], self.unit_heads["unit"])

    # -- cutting
    # ---------------------------------------------------------------------------------------------

    def _limit(self, start: int) -> int:
        """The first row after ``start`` that no longer fits into a chunk that begins there."""
        size = np.cumsum(self.records["length"][start : start + CHUNK], dtype=np.int64)
        return start + max(1, int(np.searchsorted(size, CHUNK_BYTES, side="right")))

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
        """A long unit cut where its undo order allows it (never between a cause and what followed
        from it, or between segments). One that must stay whole is one piece."""
        if self._stays_whole(start, stop):
            yield Chunk(start, stop)
            return
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

    def _stays_whole(self, start: int, stop: int) -> bool:
        """Whether the order of a long unit's changes can only be told of all of them together."""
        return False

    def _safe_cut(self, start: int, stop: int) -> int | None:
        low = start + 1
        while low < stop:
            high = min(max(self._limit(low), low + 1), stop)
            records = self.records[low - 1 : high]
            first = records["segment"] <= 1
            safe = np.flatnonzero(
                order.unit_safe_cuts(
                    records["origin"] == ord(" "), records["change"], records["version"], first
                )
            )
            if len(safe):
                return low - 1 + int(safe[-1])
            low = high
        return None

    def _envelope(self, records: Records) -> Envelope:
        return self.log.envelope(records["file"], records["offset"], records["length"])

    def _headers(self, changes: ChunkChanges, rows: Index) -> Envelope:
        """The headers of some changes, that of the first record of each."""
        return self._envelope(take_rows(changes.records, changes.head[rows]))

    # -- checks over the whole bucket
    # ---------------------------------------------------------------------------------------------

    def _duplicates(self, start: int, stop: int) -> Mask:
        """Which of some records are the same change (or segment) as one before them: same unit,
        LOGRBA, SEGNUM, and then table, row and change."""
        low = self._first_of_place(start)
        same = self._like_before(low, stop)
        twice = np.zeros(stop - low, bool)
        again = np.flatnonzero(same) + 1
        if len(again):
            rows = np.union1d(again - 1, again)
            place = np.cumsum(np.concatenate([[True], ~same]))[rows]
            change = self.log.change_hashes(self._envelope(self.records[low:stop][rows]))
            by_change = np.lexsort((rows, change, place))
            place, change = place[by_change], change[by_change]
            known = (place[1:] == place[:-1]) & (change[1:] == change[:-1])
            twice[rows[by_change][1:][known]] = True
        return twice[start - low :]

    def _like_before(self, start: int, stop: int) -> Mask:
        """Which records but the first have unit, LOGRBA and SEGNUM of their neighbour."""
        records = self.records[start:stop]
        same = like_the_one_before(records, "commit", "unit", "position")
        return np.asarray(same & (records["segment"][1:] == records["segment"][:-1]))

    def _first_of_place(self, row: int) -> int:
        """The first record that has unit, LOGRBA and SEGNUM of record ``row``."""
        low, back = row, 1
        while low:
            begin = max(low - back, 0)
            other = np.flatnonzero(~self._like_before(begin, low + 1))
            if len(other):
                return begin + int(other[-1]) + 1
            low, back = begin, 2 * back
        return 0

    def _contradictory_units(self) -> Mask:
        """Units in the plan's quarantine: their records disagree about the commit position, so the
        log cannot be trusted about them."""
        if not self.plan.quarantine:
            return np.zeros(len(self.unit_start), bool)
        units = [unit_of(head) for head in self.unit_heads]
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
            self.tally.quarantined_units[units[row]] = Verdict(
                "LR2016", self.log.in_words("records disagree about UORCOMMITLRSN")
            )
        return bad

    def _units_of_one_commit(self) -> Mask:
        """Units that share one commit record: a record of one claims to be of the other, so neither
        is known to be whole."""
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
            found, expected = (
                "the commit of another unit of recovery too",
                "a commit record for each unit",
            )
            self._finding(
                "LR2016",
                starts[row],
                "UORID",
                found,
                expected,
                "One of the records is damaged; make the log again or transfer it again",
            )
            self.tally.quarantined_units[unit_of(starts[row])] = Verdict(
                "LR2016", "it shares its commit record with another unit"
            )
        return bad

    # -- one chunk
    # ---------------------------------------------------------------------------------------------

    def _assemble(self, records: Records, base: int) -> ChunkChanges:
        """Join segments, check headers against each other, and note what is damaged."""
        unit = self._units_of(base, base + len(records))
        changes = joined(records, unit)
        self._check(changes, base)
        if self.plan.parts_units:
            self._leave_unwritten(changes)
        if self.plan.selection.include_aborted:
            every = np.arange(len(changes.head))
            changes.uncommitted = uncommitted_of(self._headers(changes, every))
        return changes

    def _check(self, changes: ChunkChanges, base: int) -> None:
        """Note changes of which segments are missing, and what is damaged."""
        records, head, weight = changes.records, changes.head, changes.weight
        segments, number = (np.ascontiguousarray(records[name]) for name in ("segments", "segment"))
        place = np.arange(len(records)) - np.repeat(head, weight)
        in_order = (
            number.astype(np.int64) - np.repeat(number[head].astype(np.int64), weight) == place
        )
        complete = np.logical_and.reduceat(in_order, head) if len(head) else in_order
        complete &= (weight == np.maximum(segments[head], 1)) & (number[head] <= 1)
        for row in np.flatnonzero(~complete):
            self._fail_segments(changes, int(row), number, int(segments[head[row]]))
        self._check_records(changes, base)

    def _leave_unwritten(self, changes: ChunkChanges) -> None:
        """Changes that are here for the sake of the order of others."""
        every = np.arange(len(changes.head))
        plan, log = self.plan, self.log
        facts = RecordFacts(
            changes.change, changes.version, plan.version_taken, log.dependent_position, True
        )
        verdict = decide(plan.selection, self._headers(changes, every), facts)
        unwritten = one_of(verdict, UNWRITTEN) & (changes.outcome == 0)
        changes.outcome[unwritten] = verdict[unwritten]

    def _fail_segments(
        self, changes: ChunkChanges, row: int, number: npt.NDArray[np.integer], expected: int
    ) -> None:
        start = changes.head[row]
        seen = ", ".join(
            str(int(n)) for n in number[start : start + min(int(changes.weight[row]), 20)]
        )
        record = changes.records[start]
        hint = (
            "All data files of the log must be given (--data F F …); if they are, the transfer lost"
            " records: send the files again"
        )
        self._finding(
            "LR2013",
            record,
            "SEGNUM",
            f"segments {seen} of TOTALSEGS {expected}",
            f"each of 1 to {max(expected, 1)} once",
            hint,
        )
        changes.outcome[row] = FAILED

    def _check_records(self, changes: ChunkChanges, base: int) -> None:
        records = changes.records
        change_of_record = np.repeat(np.arange(len(changes.head)), changes.weight)
        for row in np.flatnonzero(records["damaged"]):
            record = records[row]
            self.tally.find(
                self.log.header_finding(
                    int(record["file"]),
                    int(record["number"]),
                    int(record["offset"]),
                    int(record["length"]),
                )
            )
            changes.outcome[change_of_record[row]] = FAILED
        for row in np.flatnonzero(self._duplicates(base, base + len(records))):
            hint = "Was a data file given twice, or do two files overlap? Give each record once"
            self._finding(
                "LR2017",
                records[row],
                "LOGRBA",
                "the same change as in another record",
                "each change once",
                hint,
            )
            changes.outcome[change_of_record[row]] = FAILED
        self._check_units(changes)

    def _check_units(self, changes: ChunkChanges) -> None:
        """What is a fact of the unit must be the same in all its records."""
        own = changes.records["unit_facts"][changes.head]
        rows = np.flatnonzero(own != self.unit_heads["unit_facts"][changes.unit])
        if not len(rows):
            return
        here, first = (
            self._headers(changes, rows),
            self._envelope(self.unit_heads[changes.unit[rows]]),
        )
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
                    "LR2016",
                    record,
                    field,
                    "a value other than in the unit's first record",
                    "one value in all records of a unit",
                    hint,
                )
                changes.outcome[row] = FAILED

    def _where(self, record: np.void, field: str | None = None, table: str | None = None) -> Where:
        return where_of(self.log, record, field, table)

    def _finding(
        self,
        code: str,
        record: np.void,
        field: str | None,
        found: str,
        expected: str,
        hint: str,
        table: str | None = None,
    ) -> None:
        said = self.log.in_words
        where = self._where(record, None if field is None else said(field), table)
        self.tally.find(Finding(code, where, said(found), said(expected), said(hint)))

    # -- what is made of changes
    # ---------------------------------------------------------------------------------------------

    def _live(self, changes: ChunkChanges) -> Mask:
        """The changes of which something may become."""
        live: Mask = (changes.outcome == 0) & ~self.bad_units[changes.unit]
        return live

    def _groups(
        self, changes: ChunkChanges, live: Mask | None = None
    ) -> Iterator[tuple[Index, Change, int]]:
        """The ``live`` changes of a chunk (None: all of which something may become) by kind and
        table version."""
        live = self._live(changes) if live is None else live
        group = changes.version.astype(np.int64) * 16 + changes.change
        for value in distinct(group[live]).tolist():
            yield np.flatnonzero(live & (group == value)), Change(value % 16), value // 16

    def _images(
        self, changes: ChunkChanges, rows: Index, kind: Change
    ) -> Iterator[tuple[Index, Images]]:
        """Row images of changes of one table version and kind, in parts: which changes they are of,
        and the images."""
        for part, images in self.log.images(
            changes.records, changes.head[rows], changes.weight[rows], kind
        ):
            yield rows[part], images

    def _blame(
        self, changes: ChunkChanges, rows: Index, version: int, problems: list[RowProblem]
    ) -> None:
        """Findings for values that cannot be decoded or said."""
        for problem in problems:
            record = changes.records[changes.head[rows[problem.row]]]
            table = self.log.catalog.versions[version].name
            self._finding(
                problem.code,
                record,
                problem.field,
                problem.found,
                problem.expected,
                problem.hint,
                table,
            )

    def _refuse_part_events(
        self, changes: ChunkChanges, rows: Index, kind: Change, version: int
    ) -> None:
        """Refuse what empties a part of a table, or exchanges its rows: they are not in the log. Of
        undo the scan has refused it."""
        if self.plan.mode == "undo":
            return
        whole = self.log.whole_table(
            self._headers(changes, rows), changes.records["length"][changes.head[rows]]
        )
        refused = (changes.uncommitted[rows] == 0) & (~whole | (kind == Change.EXCHANGE))
        what = (
            "a committed "
            + kind.name.lower().replace("_", " ")
            + ("" if kind == Change.EXCHANGE else " of one partition")
        )
        which = "both tables" if kind == Change.EXCHANGE else "the table"
        hint = (
            f"Leave {which} out (--exclude-table), or begin after it (--from-position), and copy"
            f" {which} as a whole"
        )
        for row in rows[refused]:
            where = self._where(
                changes.records[changes.head[row]], table=self.log.catalog.versions[version].name
            )
            self.tally.refusals.append(
                Finding("LR3003", where, what, "changes that a statement can repeat", hint)
            )

    # -- outcomes
    # ---------------------------------------------------------------------------------------------

    def _settle(self, changes: ChunkChanges, content: Content, chunk: Chunk) -> None:
        """Decide what is emitted, write it, and count every record of the chunk."""
        failed_units = np.unique(changes.unit[changes.outcome == FAILED])
        for unit in failed_units[~self.bad_units[failed_units]]:
            self.bad_units[unit] = True
            self.tally.quarantined_units.setdefault(
                unit_of(self.unit_heads[unit]),
                Verdict("", "a change of the unit is damaged, or cannot be written"),
            )
        emitted = (changes.outcome == 0) & ~self.bad_units[changes.unit]
        if chunk.pieces > 1 and chunk.piece == 0:
            self.output.mark()
        more = self._emit(changes, content, emitted, chunk)
        self._count(changes, emitted & (changes.uncommitted == 0), more, chunk)
        if chunk.pieces > 1 and chunk.piece == chunk.pieces - 1 and self.bad_units[changes.unit[0]]:
            self.output.cut_back()

    def _count(self, changes: ChunkChanges, emitted: Mask, more: int, chunk: Chunk) -> None:
        part, bad, rows = Tally(), False, np.flatnonzero(emitted)
        if len(rows) < len(emitted):
            bad = self._count_others(changes, part)
        weight, unit, version, change = (
            of_rows(column, rows)
            for column in (changes.weight, changes.unit, changes.version, changes.change)
        )
        part.emitted = int(weight.sum())
        part.statements = len(rows) + more
        part.units = len(order.run_starts(unit))
        key = version.astype(np.int64) * 16 + change
        for value, count in enumerate(np.bincount(key).tolist()):
            if count:
                part.changes[(value // 16, value % 16)] += count
        if len(rows):
            first, last = changes.records["commit"][changes.head[rows[[0, -1]]]]
            part.saw_commits(Position(first.tobytes()), Position(last.tobytes()))
        if chunk.pieces == 1:
            self.tally.add(part)
        else:
            self._count_piece(part, chunk, bad)

    def _count_others(self, changes: ChunkChanges, part: Tally) -> bool:
        """Count the changes that are not emitted; whether a unit of them is bad."""
        bad = self.bad_units[changes.unit]
        failed = changes.outcome == FAILED
        part.failed = int(changes.weight[failed].sum())
        part.quarantined = int(changes.weight[bad & ~failed].sum())
        reasons = np.where(changes.outcome == 0, changes.uncommitted, changes.outcome)
        for code in distinct(reasons[~bad & (reasons > 0)]):
            part.skipped[self.log.in_words(REASONS[code])] += int(
                changes.weight[~bad & (reasons == code)].sum()
            )
        left = np.flatnonzero(one_of(changes.outcome, LEFT_TO_TARGET) & ~bad)
        if len(left):
            part.without_cause = int((~self._caused(changes, left)).sum())
        return bool(bad.any())

    @staticmethod
    def _caused(changes: ChunkChanges, rows: Index) -> Mask:
        """Whether what may have caused some changes is written: the direct change before each."""
        every = np.arange(len(changes.head))
        cause = np.maximum.accumulate(np.where(changes.origin == ord(" "), every, -1))[rows]
        by_keys = changes.outcome[rows] == LEFT_TO_TARGET[0]
        may_be = ~by_keys | (changes.change[cause] != Change.INSERT)
        found = (cause >= 0) & (changes.unit[cause] == changes.unit[rows])
        return np.asarray(found & may_be & (changes.outcome[cause] == 0))

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
