"""The second stage: the sorted records of one bucket -> the text of one script file.

Render by shape, emit by order: changes of a chunk are grouped by table version and kind, decoded and rendered column by column, and their
statements are put back into order. A unit of recovery with a damaged record is left out whole; where it is too long for one chunk, what was
already written of it is cut off again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay import order
from replay.changes import RECORD, ROW_CHANGES, TABLE_EVENTS, Change, Envelope, distinct, opaque, take_records
from replay.decode import RowDecoder
from replay.errors import Finding, Where
from replay.keyorder import Arranged, KeyOrder
from replay.keys import Batch
from replay.logs import LogFile, where_of
from replay.plan import Plan
from replay.report import Tally
from replay.selection import REASONS
from replay.sink import Sink, Written
from replay.steps import sources_of
from sqlgen import structure
from sqlgen.dialects import Profile, profile_named
from sqlgen.errors import SqlgenError
from sqlgen.script import script_prologue, unit_comments
from sqlgen.statements import delete_all_statement, truncate_statement

#: Records rendered together, and the log bytes they may have: rows of 32 KB must not make a chunk of a gigabyte.
CHUNK = 65_536
CHUNK_BYTES = 64 << 20
#: Outcome of a change that is damaged itself; other outcomes are indexes of :data:`replay.selection.REASONS`, 0 = emitted.
FAILED = 251

Index = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass
class Changes:
    """The changes of a chunk in log order. ``head`` is the row of a change's first record in ``records``, ``weight`` its number of segments."""

    records: npt.NDArray[np.void]
    head: Index
    weight: Index
    unit: Index
    envelope: Envelope
    change: npt.NDArray[np.uint8]
    version: npt.NDArray[np.int32]
    outcome: npt.NDArray[np.uint8]
    uncommitted: npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Chunk:
    """Rows ``start:stop`` of a bucket: whole units, or one piece of a unit too long for a chunk (``piece`` k of ``pieces``, in emission order)."""

    start: int
    stop: int
    piece: int = 0
    pieces: int = 1


class BucketRenderer:
    """Renders one bucket into ``sink``; :meth:`run` returns what became of its records."""

    def __init__(self, plan: Plan, log: LogFile, records: npt.NDArray[np.void], sink: Sink) -> None:
        self.plan, self.log, self.sink = plan, log, sink
        self.profile: Profile = profile_named(plan.options.dialect)
        self.records = take_records(records, order.commit_order(records))
        self.tally = Tally()
        same = (self.records["commit"][1:] == self.records["commit"][:-1]) & (self.records["unit"][1:] == self.records["unit"][:-1])
        self.unit_start = np.concatenate([[0], np.flatnonzero(~same) + 1]).astype(np.int64)
        self.unit_of = np.zeros(len(self.records), np.int64)
        self.unit_of[self.unit_start[1:]] = 1
        self.unit_of = np.cumsum(self.unit_of)
        self.size_before = np.concatenate([[0], np.cumsum(self.records["length"], dtype=np.int64)])
        self.decoder = RowDecoder(plan, log, self.profile)
        self.twice = self._duplicates()
        self.bad_units = np.zeros(len(self.unit_start), bool)
        self.bad_units |= self._contradictory_units() | self._units_of_one_commit()
        self.placer = (
            KeyOrder(log, plan.constraints, plan.mode == "undo", bool(self.profile.defer)) if plan.constraints.foreign_keys else None
        )

    def run(self) -> Tally:
        """Render everything; the sink holds the text afterwards."""
        chunks = list(self._chunks())
        if self.plan.mode == "undo":
            chunks.reverse()
        for chunk in chunks:
            self._render(chunk)
        self.sink.close()
        return self.tally

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
            envelope = self._envelope(self.records[low - 1 : high])
            change, version = self.log.classify(envelope)
            first = envelope.segment() <= 1
            safe = np.flatnonzero(order.unit_safe_cuts(envelope.origin() == ord(" "), change, version, first))
            if len(safe):
                return low - 1 + int(safe[-1])
            low = high
        return None

    def _envelope(self, records: npt.NDArray[np.void]) -> Envelope:
        return self.log.envelope_of(records["file"], records["offset"], records["length"])

    # -- checks over the whole bucket ---------------------------------------------------------------------------------------------------

    def _duplicates(self) -> Mask:
        """Records that are the same change (or segment) as their neighbour: same unit, LOGRBA, SEGNUM, and then table, row and change."""
        records = self.records
        twice = np.zeros(len(records), bool)
        if len(records) < 2:
            return twice
        same = self.unit_of[1:] == self.unit_of[:-1]
        for name in ("position", "segment"):
            same &= records[name][1:] == records[name][:-1]
        rows = np.flatnonzero(same) + 1
        if len(rows):
            here, before = self._envelope(records[rows]), self._envelope(records[rows - 1])
            twice[rows[self.log.same_change(here, before)]] = True
        return twice

    def _contradictory_units(self) -> Mask:
        """Units in the plan's quarantine: their records disagree about the commit position, so the log cannot be trusted about them."""
        if not self.plan.quarantine:
            return np.zeros(len(self.unit_start), bool)
        units = [row.tobytes() for row in self.records["unit"][self.unit_start]]
        bad = np.array([unit in self.plan.quarantine for unit in units], bool)
        for row in np.flatnonzero(bad):
            record = self.records[self.unit_start[row]]
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
        starts = self.records[self.unit_start]
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

    def _render(self, chunk: Chunk) -> None:
        changes = self._assemble(self.records[chunk.start : chunk.stop], chunk.start)
        texts, place = self._statements(changes)
        self._settle(changes, texts, place, chunk)

    def _assemble(self, records: npt.NDArray[np.void], base: int) -> Changes:
        """Join segments, check headers against each other, and note what is damaged."""
        envelope = self._envelope(records)
        change, version = self.log.classify(envelope)
        unit = self.unit_of[base : base + len(records)]
        segments, number = envelope.segments(), envelope.segment()
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
            envelope if len(head) == len(records) else envelope.take(head),
            change[head],
            version[head],
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
            changes.uncommitted = _uncommitted(changes.envelope)
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
        self._check_units(changes, base)

    def _check_units(self, changes: Changes, base: int) -> None:
        """What is a fact of the unit must be the same in all its records."""
        starts = order.run_starts(changes.unit)
        units = changes.unit[starts]
        inverse = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(changes.unit))))
        begins = self.unit_start[units]
        whole = len(begins) > 0 and int(begins[0]) >= base  # else the first unit began in an earlier chunk
        reference = changes.envelope.take(starts) if whole else self._envelope(self.records[begins])
        for field, own, first in (
            ("UORDISP", changes.envelope.unit_disposition(), reference.unit_disposition()),
            ("UORIDLRSN", changes.envelope.unit_position(), reference.unit_position()),
            ("UORCOMMITTIMESTAMP", changes.envelope.commit_time(), reference.commit_time()),
        ):
            different = own != first[inverse] if own.ndim == 1 else opaque(own) != opaque(first)[inverse]
            for row in np.flatnonzero(different):
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

    # -- statements -----------------------------------------------------------------------------------------------------------------------

    def _statements(self, changes: Changes) -> tuple[pa.StringArray, Index]:
        """``(texts, place)``: the statement of change ``i`` is ``texts[place[i]]`` ('' for none). Made by group of table version and kind."""
        live = (changes.outcome == 0) & ~self.bad_units[changes.unit]
        group = changes.version.astype(np.int64) * 16 + changes.change
        pieces: list[pa.Array] = []
        places: list[Index] = []
        for value in distinct(group[live]):
            rows = np.flatnonzero(live & (group == value))
            kind = Change(int(value) % 16)
            if kind in ROW_CHANGES:
                for part, text in self._row_statements(changes, rows, kind, int(value) // 16):
                    pieces.append(text)
                    places.append(part)
            elif kind in TABLE_EVENTS:
                pieces.append(self._event_statements(changes, rows, kind, int(value) // 16))
                places.append(rows)
            elif kind is Change.STRUCTURE:
                pieces.append(self._structure_statements(changes, rows, int(value) // 16))
                places.append(rows)
        done = np.concatenate([*places, np.zeros(0, np.int64)])
        place = np.full(len(changes.head), len(done), np.int64)  # a change without a statement: the empty text after all others
        place[done] = np.arange(len(done))
        return pa.concat_arrays([*pieces, pa.array([""], pa.string())]), place

    def _row_statements(self, changes: Changes, rows: Index, kind: Change, version: int) -> Iterator[tuple[Index, pa.Array]]:
        for part, images in self.log.images(changes.records, changes.head[rows], changes.weight[rows], kind):
            chosen = rows[part]
            result = self.decoder.statements(version, kind, images)
            for problem in result.problems:
                record = changes.records[changes.head[chosen[problem.row]]]
                table = self.log.catalog.versions[version].table
                self._finding(
                    problem.code, record, problem.field, problem.found, problem.expected, problem.hint, f"{table.schema}.{table.name}"
                )
            changes.outcome[chosen] = np.where(result.failed, FAILED, result.outcome)
            self.sink.knows(result.shapes)
            yield chosen, result.text

    def _event_statements(self, changes: Changes, rows: Index, kind: Change, version: int) -> pa.Array:
        table = self.log.catalog.versions[version].table
        name = f"{table.schema}.{table.name}"
        whole = self.log.whole_table(changes.envelope.take(rows), changes.records["length"][changes.head[rows]])
        refused = (changes.uncommitted[rows] == 0) & (~whole | (kind == Change.EXCHANGE))
        what = "a committed " + kind.name.lower().replace("_", " ") + ("" if kind == Change.EXCHANGE else " of one partition")
        hint = "Leave the table out (--exclude-table), or begin after it (--from-lrsn), and copy the table as a whole"
        for row in rows[refused]:
            where = self._where(changes.records[changes.head[row]], table=name)
            self.tally.refusals.append(Finding("LR3003", where, what, "changes that a statement can repeat", hint))
        make = truncate_statement if kind == Change.TRUNCATE else delete_all_statement
        mapping = self.plan.options.mapping
        target = table if mapping is None else mapping.table(table, self.plan.options.render)
        text = "" if kind == Change.EXCHANGE else make(target, self.profile, self.plan.options.names)
        return pa.array([text] * len(rows), pa.string())

    def _structure_statements(self, changes: Changes, rows: Index, version: int) -> pa.Array:
        """What happened to the table's structure, or (undo) its inverse, a line for each statement; refused where the former state is not known,
        where the target cannot say it, in scripts that may be applied again, and under a mapping."""
        texts = []
        name = self.log.catalog.versions[version].name
        for row, change in zip(rows, self.log.structure(changes.records[changes.head[rows]]), strict=True):
            text, refused = self._structure_statement(change, name)
            texts.append(text)
            if refused is not None and not changes.uncommitted[row]:
                code, found, expected, hint = refused
                where = self._where(changes.records[changes.head[row]], table=name)
                self.tally.refusals.append(Finding(code, where, found, expected, hint))
        return pa.array(texts, pa.string())

    def _structure_statement(self, change: structure.StructureChange, name: str) -> tuple[str, tuple[str, str, str, str] | None]:
        """(text, what a refusal says: code, found, expected, hint)."""
        wanted = change.inverse() if self.plan.mode == "undo" else change
        found = f"a committed {change.action.value}{f' ({change.note})' if change.note else ''}"
        if change.action is not structure.Action.NOTE:
            hint = (
                "Write the part of the log with it alone (--from-lrsn, --until-lrsn), without {}, or leave the table out (--exclude-table)"
            )
            if self.plan.options.render.upsert:
                expected = "changes of rows only: an upsert script may be applied again, and a table is made or altered once"
                return "", ("LR3003", found, expected, hint.format("--upsert"))
            if self.plan.options.mapping is not None:
                expected = "changes of rows only: a mapping says what a table becomes, not what its changes do"
                return "", ("LR3003", found, expected, hint.format("--mapping"))
        if wanted is None:
            hint = "Undo only what came after it (--from-lrsn), or leave the table out (--exclude-table) and restore it from a backup"
            return "", ("LR3002", found, "a former state that the log holds", hint)
        try:
            made = structure.statements(wanted, self.profile, self.plan.options.names)
        except SqlgenError as error:
            found, _, expected = error.message.removeprefix("found ").partition("; expected ")
            return "", (error.code, found, expected or f"what {self.profile.name} can say", error.hint)
        return "\n".join(made) if made else f"-- {name}: nothing to do ({change.action.value})", None

    # -- emission -------------------------------------------------------------------------------------------------------------------------

    def _settle(self, changes: Changes, texts: pa.Array, place: Index, chunk: Chunk) -> None:
        """Decide what is emitted, write it, and count every record of the chunk."""
        failed_units = np.unique(changes.unit[changes.outcome == FAILED])
        for unit in failed_units[~self.bad_units[failed_units]]:
            self.bad_units[unit] = True
            key = self.records["unit"][self.unit_start[unit]].tobytes()
            self.tally.quarantined_units.setdefault(key, "a record of the unit is damaged")
        arranged = self._arranged(changes)
        sequence = arranged.sequence
        shown = (changes.outcome == 0) & ~self.bad_units[changes.unit]
        emitted = shown & (changes.uncommitted == 0)
        ordered = sequence[shown[sequence]]
        text = texts.take(pa.array(place[ordered]))
        silent = changes.uncommitted[ordered] > 0
        more = self._further_lines(text, ~silent)
        if silent.any():
            said = "-- rolled back, not applied: "
            lines = pc.replace_substring(text, "\n", f"\n{said}")
            text = pc.if_else(pa.array(silent), pc.binary_join_element_wise(said, lines, ""), text)
        if self.plan.options.trace:
            text = pc.binary_join_element_wise(text, self.log.trace(changes.envelope.take(ordered)), " -- ")
        if chunk.pieces > 1 and chunk.piece == 0:
            self.sink.mark()
        self._write(changes, ordered, text, arranged.waiting)
        self._count(changes, emitted, more, chunk)
        if chunk.pieces > 1 and chunk.piece == chunk.pieces - 1 and self.bad_units[changes.unit[0]]:
            self.sink.cut_back()

    def _further_lines(self, text: pa.Array, counted: Mask) -> int:
        """How many statements there are beyond one for each change."""
        if not self.plan.options.render.upsert:
            return 0
        return int(pc.count_substring(text, "\n").to_numpy()[counted].sum())

    def _arranged(self, changes: Changes) -> Arranged:
        count = len(changes.head)
        if self.plan.mode == "redo":
            sequence = np.arange(count, dtype=np.int64)
        else:
            origin = changes.envelope.origin()
            derived = (origin == ord("R")) | (origin == ord("B"))
            sequence = order.undo_order(changes.unit, origin == ord(" "), derived, changes.change, changes.version)
        if self.placer is None:
            return Arranged(sequence)
        live = (changes.outcome == 0) & ~self.bad_units[changes.unit]
        batch = Batch(changes.records, changes.head, changes.weight, changes.change, changes.version)
        arranged = self.placer.arrange(batch, changes.unit, live, sequence)
        for change, way in arranged.cycles:
            record = changes.records[changes.head[change]]
            hint = "Make these tables' foreign keys DEFERRABLE on the target (and in --schema) if it has such keys, or leave the unit out"
            self.tally.refusals.append(Finding("LR3012", self._where(record), way, "an order in which every row finds its parent", hint))
        return arranged

    def _write(self, changes: Changes, ordered: Index, text: pa.Array, waiting: Sequence[int]) -> None:
        if not len(ordered):
            return
        spoken: Mask | None = None
        if (changes.change[ordered] == Change.STRUCTURE).any():
            ordered, text, spoken = _by_statement(ordered, text)
        unit = changes.unit[ordered]
        starts = order.run_starts(unit)
        first = changes.envelope.take(ordered[starts])
        comments = unit_comments(self.log.unit_fields(first))
        ordinal = unit if self.plan.mode == "redo" else len(self.unit_start) - 1 - unit
        sources = None
        if self.plan.steps:
            told = ordered if spoken is None else ordered[spoken]
            head, weight = changes.head[told], changes.weight[told]
            sources = sources_of(changes.records, head, weight, changes.version[told], changes.change[told])
        defers = np.isin(unit[starts], waiting)
        self.sink.write(Written(text, starts, comments, defers, unit, ordinal // self.plan.options.commit_every, sources, spoken))

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


@dataclass(frozen=True)
class BucketResult:
    """What became of one bucket: its script (``name`` None when it has no statement) with size and SHA-256, the tally, and the commit position
    and key of every unit seen (22 bytes each), for the check that no unit has two commit positions."""

    name: str | None
    size: int
    sha256: str
    tally: Tally
    units: bytes

    def commits(self) -> Iterator[tuple[bytes, bytes]]:
        """(commit position, unit) of every unit seen."""
        return ((self.units[at : at + 10], self.units[at + 10 : at + 22]) for at in range(0, len(self.units), 22))


def render_bucket(plan: Plan, log: LogFile, bucket: int, blocks: Iterable[bytes], folder: Path) -> BucketResult:
    """Render the blocks of one bucket into ``folder``."""
    records = np.concatenate([np.frombuffer(block, RECORD) for block in blocks])
    name = plan.file_name(bucket)
    profile = profile_named(plan.options.dialect)
    sink = Sink(folder / name, profile, script_prologue(profile, plan.mode), plan.steps)
    renderer = BucketRenderer(plan, log, records, sink)
    tally = renderer.run()
    starts = renderer.records[renderer.unit_start]
    units = np.concatenate([_octets(starts["commit"]), _octets(starts["unit"])], axis=1).tobytes()
    return BucketResult(name if sink.size else None, sink.size, sink.digest.hexdigest(), tally, units)


def _octets(column: npt.NDArray[np.void]) -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(column).view(np.uint8).reshape(len(column), column.dtype.itemsize)


def contradictory_units(results: list[BucketResult]) -> frozenset[bytes]:
    """Units that occur with more than one commit position: at least one of their records is damaged."""
    rows = np.frombuffer(b"".join(result.units for result in results), np.uint8).reshape(-1, 22)
    units = np.ascontiguousarray(rows[:, 10:]).view("V12").reshape(-1)
    values, counts = np.unique(units, return_counts=True)
    return frozenset(value.tobytes() for value in values[counts > 1])


def _by_statement(ordered: Index, text: pa.Array) -> tuple[Index, pa.Array, Mask]:
    """Changes with a line for each of their statements, so that each is a statement of the script; comments stay with the statement after them.
    The mask says which are more than comments."""
    pieces = [_statements_of(lines) for lines in text.to_pylist()]
    flat = [one for piece in pieces for one in piece]
    spoken = np.array([not one.rpartition("\n")[2].startswith("--") for one in flat], bool)
    return np.repeat(ordered, [len(piece) for piece in pieces]), pa.array(flat, pa.string()), spoken


def _statements_of(text: str) -> list[str]:
    """The statements of a change's text; comments that no statement follows are a piece of their own."""
    found, waiting = [], []
    for line in text.split("\n"):
        waiting.append(line)
        if not line.startswith("--"):
            found.append("\n".join(waiting))
            waiting = []
    return [*found, *(["\n".join(waiting)] if waiting else [])]
