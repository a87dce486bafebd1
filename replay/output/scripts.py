"""The second stage: the sorted records of one bucket -> the text of one script file.

Render by shape, emit by order: changes of a chunk are grouped by table version and kind, decoded
and rendered column by column, and their statements are put back into order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay import native
from replay.arrays import Index, Mask, of_rows, one_of
from replay.changes import order
from replay.changes.envelope import ROW_CHANGES, TABLE_EVENTS, Change, distinct
from replay.changes.selection import REASON, UNSATISFIED, UNWRITTEN
from replay.dependencies.constraint_order import Arranged, ConstraintOrder, with_shown
from replay.dependencies.write_sets import ChangeBatch
from replay.errors import Finding
from replay.logs import LogFile
from replay.output.delete_and_reinsert import RowParts
from replay.output.script_file import Checks, Sink, Written, comments_of, pace_of, traces_of
from replay.pipeline.partition import (
    FAILED,
    BucketReader,
    Chunk,
    ChunkChanges,
    joined,
    uncommitted_of,
)
from replay.pipeline.plan import BucketResult, Plan, WrittenFile, places_of
from replay.pipeline.rows import LEFT_OUT, ChangeStatements, RowDecoder
from replay.pipeline.script_client import script_form
from sqlgen.choices import Deferral
from sqlgen.dialects import profile_named
from sqlgen.lazy_imports import when_used
from sqlgen.literals import as_bytes
from sqlgen.script import script_prologue, unit_names

with when_used():  # what some scripts alone need
    from replay.dependencies import long_units
    from replay.output import steps, structure
    from replay.pipeline import mixed_rows
    from sqlgen import row_checks

#: Bytes of log of a unit whose changes are ordered by their keys all together: statements of one
#: chunk must fit into what Arrow's strings address.
LONGEST_CROSSED = 512 << 20


@dataclass(frozen=True)
class ChunkStatements:
    """The statements of a chunk: that of entry ``i`` of ``arranged`` is ``text[place[i]]``, '' for
    none."""

    text: pa.StringArray
    place: Index
    arranged: Arranged


class _Texts:
    """Texts of ``count`` changes, as they are made."""

    def __init__(self, count: int) -> None:
        self._place = np.full(count, -1, np.int64)
        self._pieces: list[pa.StringArray] = []
        self._size = 0

    def behind(self, text: pa.StringArray) -> Index:
        """Put texts behind the others; where they are among them."""
        self._pieces.append(text)
        self._size += len(text)
        return np.arange(self._size - len(text), self._size)

    def add(self, rows: Index, text: pa.StringArray) -> None:
        """The texts of the changes ``rows``, in place of those that these may have."""
        self._place[rows] = self.behind(text)

    def places(self) -> Index:
        """Where the text of each change is; changes without one have an empty text."""
        without = self._place < 0
        if without.any() or not self._pieces:
            self._place[without] = self.behind(pa.array([""], pa.string()))[0]
        return self._place

    def joined(self) -> pa.StringArray:
        """All texts."""
        return self._pieces[0] if len(self._pieces) == 1 else pa.concat_arrays(self._pieces)


class BucketRenderer(BucketReader[ChunkStatements]):
    """Renders one bucket as a script into ``sink``."""

    def __init__(self, plan: Plan, log: LogFile, blocks: Iterable[bytes], sink: Sink) -> None:
        super().__init__(plan, log, blocks, sink, sink.profile)
        self.sink = sink
        self._decoders = {0: self.decoder}  # see :meth:`_by_decoder`
        self._asserted = (-1, 0)  # the last unit with checks, and its statements so far
        self.parts = RowParts(plan, log, self.profile)
        self.order = ConstraintOrder(
            log,
            plan.acting,
            plan.mode == "undo",
            self.parts.deferral,
            self.parts.possible,
            self.profile.nulls_equal,
            plan.options.masked,
            self.parts.rewritable,
            not self.parts.untold,
            self.profile.deferral is Deferral.DECLARED,
        )

    def _stays_whole(self, start: int, stop: int) -> bool:
        """Whether rows of a long unit may take each other's keys; refused where it is too long."""
        if not long_units.crosses(self.order, lambda: self._windows(start, stop)):
            return False
        size = int(self.records["length"][start:stop].sum(dtype=np.int64))
        if size > LONGEST_CROSSED:
            found = f"a unit of {size:,} bytes in which rows take the keys of other rows"
            expected = f"at most {LONGEST_CROSSED:,} bytes: its changes are ordered all together"
            hint = "Leave the unit or its tables out, and bring these over another way"
            where = self._where(self.records[start])
            self.tally.refusals.append(Finding("LR3012", where, found, expected, hint))
            return False
        return True

    def _windows(self, start: int, stop: int) -> Iterator[ChangeBatch]:
        """The changes of a unit's records, some at a time."""
        while start < stop:
            cut = min(self._limit(start), stop)
            while (
                cut < stop
                and len(
                    joined(self.records[cut - 1 : cut + 1], self._units_of(cut - 1, cut + 1)).head
                )
                < 2
            ):
                cut += 1
            records = self.records[start:cut]
            changes = joined(records, np.zeros(len(records), np.int64))
            batch = ChangeBatch(
                records, changes.head, changes.weight, changes.change, changes.version
            )
            if self.plan.selection.include_aborted:
                every = np.arange(len(changes.head))
                shown = uncommitted_of(self._headers(changes, every)) > 0
                batch = batch.part(np.flatnonzero(~shown))
            if len(batch.head):
                yield batch
            start = cut

    # -- statements
    # ---------------------------------------------------------------------------------------------

    def _make(self, changes: ChunkChanges) -> ChunkStatements:
        """The statements of a chunk, made together where that can be and else by group of table
        version and kind, and their order."""
        texts = _Texts(len(changes.head))
        moved = np.zeros(len(changes.head), bool)
        live = self._live(changes)
        self._together(changes, live, moved, texts)
        for rows, kind, version in self._groups(changes, live):
            if kind in ROW_CHANGES:
                for decoder, some in self._by_decoder(changes, rows):
                    for part, image in self._images(changes, some, kind):
                        made = decoder.statements(version, kind, image)
                        texts.add(part, self._row_statements(changes, part, version, made, moved))
            elif kind in TABLE_EVENTS:
                texts.add(rows, self._event_statements(changes, rows, kind, version))
            elif kind is Change.STRUCTURE:
                texts.add(rows, self._structure_statements(changes, rows, version))
        arranged = self._arranged(changes, moved)
        place = texts.places()[arranged.sequence]
        if arranged.part is not None:
            parts = np.flatnonzero(arranged.part)
            place[parts] = texts.behind(self._part_statements(changes, arranged))
        return ChunkStatements(texts.joined(), place, arranged)

    def _by_decoder(self, changes: ChunkChanges, rows: Index) -> Iterator[tuple[RowDecoder, Index]]:
        """Some changes of rows, and what makes their statements: of units that are taken whole no
        condition on values is asked; a row that is unlike its images is not put in place whole."""
        kind = self.whole[changes.unit[rows]] + 2 * self._unlike(changes, rows)
        for number in distinct(kind).tolist():
            yield self._decoder_of(number), rows[kind == number]

    def _unlike(self, changes: ChunkChanges, rows: Index) -> Mask:
        """Which changes an upsert must not write as their images show the row."""
        unlike = self.plan.decisions.unlike if self.plan.decisions is not None else ()
        if not (len(unlike) and self.plan.puts_whole):
            return np.zeros(len(rows), bool)
        heads = changes.records[changes.head[rows]]
        return np.isin(places_of(heads["file"].astype(np.int64), heads["offset"]), unlike)

    def _decoder_of(self, number: int) -> RowDecoder:
        if number not in self._decoders:
            plan = self.plan
            if number & 1:
                plan = replace(plan, selection=replace(plan.selection, where=None))
            if number & 2:
                plan = replace(plan, units_stay_out=True)
            self._decoders[number] = RowDecoder(plan, self.log, self.profile)
        return self._decoders[number]

    def _together(self, changes: ChunkChanges, live: Mask, moved: Mask, texts: _Texts) -> None:
        """Make the statements of ``live`` changes of rows whose tables and kinds need not be looked
        at apart; ``live`` are those that are left then."""
        rows = np.flatnonzero(live & one_of(changes.change, ROW_CHANGES))
        rows = rows[~self._unlike(changes, rows)]
        if self.decoder.mixed is None or not len(rows) or self.whole[changes.unit[rows]].any():
            return
        version, change, head, weight = (
            of_rows(column, rows)
            for column in (changes.version, changes.change, changes.head, changes.weight)
        )
        mixed = mixed_rows.MixedChanges(
            changes.records, head, weight, version.astype(np.int64) * 16 + change
        )
        for made in self.decoder.together(mixed):
            here = of_rows(rows, made.images.changes)
            texts.add(here, made.text)
            done = np.flatnonzero(made.settled)
            settled = of_rows(here, done)
            live[settled] = False
            changes.outcome[settled] = of_rows(made.outcome, done)
            moved[settled] = of_rows(made.moved, done)

    def _row_statements(
        self,
        changes: ChunkChanges,
        rows: Index,
        version: int,
        result: ChangeStatements,
        moved: Mask,
    ) -> pa.Array:
        """The statements of some changes, and what becomes of these; notes in ``moved`` which
        updates change a key."""
        self._blame(changes, rows, version, result.problems)
        changes.outcome[rows] = np.where(result.failed, FAILED, result.outcome)
        moved[rows] = result.moved
        self.sink.knows(result.shapes)
        return result.text

    def _part_statements(self, changes: ChunkChanges, arranged: Arranged) -> pa.StringArray:
        """The statements of the entries that are not a change as it is."""
        assert arranged.part is not None
        assert arranged.last is not None
        rows = np.flatnonzero(arranged.part)
        self.tally.parted += self.parts.counted(arranged.part)
        first, last = arranged.sequence[rows], arranged.last[rows]
        rendered = self.parts.statements(changes, first, last, arranged.part[rows])
        for problem in rendered.problems:
            change = int(first[problem.row])
            table = self.log.catalog.versions[changes.version[change]].name
            record = changes.records[changes.head[change]]
            self._finding(
                problem.code,
                record,
                problem.column,
                problem.found,
                problem.expected,
                problem.hint,
                table,
            )
            changes.outcome[change] = FAILED
        return rendered.text

    def _event_statements(
        self, changes: ChunkChanges, rows: Index, kind: Change, version: int
    ) -> pa.Array:
        self._refuse_part_events(changes, rows, kind, version)
        table = self.log.catalog.versions[version].table
        text = structure.event_statement(self.plan, self.profile, kind, table)
        return pa.array([text] * len(rows), pa.string())

    def _structure_statements(self, changes: ChunkChanges, rows: Index, version: int) -> pa.Array:
        """What happened to the table's structure; what cannot be said is refused where its unit is
        committed."""
        texts = []
        name = self.log.catalog.versions[version].name
        for row, change in zip(
            rows, self.log.structure(changes.records[changes.head[rows]]), strict=True
        ):
            where = self._where(changes.records[changes.head[row]], table=name)
            made = structure.structure_statements(self.plan, self.profile, change, where)
            texts.append(made if isinstance(made, str) else "")
            if not isinstance(made, str) and not changes.uncommitted[row]:
                self.tally.refusals.append(made)
        return pa.array(texts, pa.string())

    # -- emission
    # ---------------------------------------------------------------------------------------------

    def _emit(
        self, changes: ChunkChanges, content: ChunkStatements, emitted: Mask, chunk: Chunk
    ) -> int:
        arranged = content.arranged
        entries = np.flatnonzero((emitted | self._remarks(changes))[arranged.sequence])
        if self._as_made(changes, arranged, entries):
            place = content.place[entries]
            self._write(changes, entries, content.text, arranged, place)
            written = changes.outcome[arranged.sequence[entries]] == 0
            less = int(emitted.sum() - written.sum())  # of changes that take each other back
            return self._further_lines(content.text, place) - less
        text = content.text.take(pa.array(content.place[entries]))
        if arranged.part is not None:
            there = (pc.binary_length(text).to_numpy() > 0) | (arranged.part[entries] == 0)
            entries, text = entries[there], text.filter(pa.array(there))
        ordered = arranged.sequence[entries]
        silent = changes.uncommitted[ordered] > 0
        spoken = changes.outcome[ordered] == 0
        more = self._further_lines(text, ~silent & spoken) + int(spoken.sum() - emitted.sum())
        if silent.any():
            prefix = "-- rolled back, not applied: "
            lines = pc.replace_substring(text, "\n", f"\n{prefix}")
            text = pc.if_else(
                pa.array(silent), pc.binary_join_element_wise(prefix, lines, ""), text
            )
        if self.plan.options.trace:
            text = pc.binary_join_element_wise(
                text, self.log.trace(self._headers(changes, ordered)), " -- "
            )
        self._write(changes, entries, text, arranged)
        return more

    def _as_made(self, changes: ChunkChanges, arranged: Arranged, entries: Index) -> bool:
        """Whether the script has a statement or a comment for each of some changes as it was made,
        apart from what stands beside it."""
        ordered = arranged.sequence[entries]
        if len(self.records) < native.WORTH or arranged.part is not None or not self.sink.quick:
            return False
        more = (changes.uncommitted[ordered] > 0) | (changes.change[ordered] == Change.STRUCTURE)
        return not more.any()

    def _remarks(self, changes: ChunkChanges) -> Mask:
        """Changes that are a comment of the script, but no statement."""
        if self.plan.steps:
            return np.zeros(len(changes.outcome), bool)
        remarks: Mask = (changes.outcome == LEFT_OUT) & (changes.uncommitted == 0)
        return remarks & ~self.bad_units[changes.unit]

    def _further_lines(self, text: pa.Array, counted: Mask | Index) -> int:
        """How many statements there are beyond one for each change."""
        if not self.plan.options.render.upsert or not (as_bytes(text) == ord("\n")).any():
            return 0
        return int(pc.count_substring(text, "\n").to_numpy()[counted].sum())

    def _arranged(self, changes: ChunkChanges, moved: Mask) -> Arranged:
        """The changes in the order of the script; refuses units that have none. Work that was
        rolled back is only shown: it takes no part in the order of the rest."""
        shown = changes.uncommitted > 0
        if not shown.any():
            return self._in_order(changes, moved)
        kept = np.flatnonzero(~shown)
        arranged = self._in_order(changes.part(kept), moved[kept])
        return with_shown(arranged, kept, changes.unit, self.plan.mode == "undo")

    def _in_order(self, changes: ChunkChanges, moved: Mask) -> Arranged:
        """The order of changes that are written."""
        count = len(changes.head)
        if self.plan.mode == "redo":
            sequence = np.arange(count, dtype=np.int64)
        else:
            origin = changes.origin
            derived = (origin == ord("R")) | (origin == ord("B"))
            sequence = order.undo_order(
                changes.unit, origin == ord(" "), derived, changes.change, changes.version
            )
        live = (changes.outcome == 0) & ~self.bad_units[changes.unit]
        batch = ChangeBatch(
            changes.records, changes.head, changes.weight, changes.change, changes.version
        )
        unwritten = self._unwritten(changes, live)
        arranged = self.order.arrange(batch, changes.unit, live, sequence, moved, unwritten)
        for change, way in arranged.cycles:
            record = changes.records[changes.head[change]]
            hint = (
                "Make these tables' foreign keys DEFERRABLE on the target (and in --schema) if it"
                " has such keys, keep them from acting (replay --enforcement off), write all"
                " columns and changes of the tables, or leave the unit out"
            )
            if change in self.order.lacking:
                hint += ". With REPLICA IDENTITY FULL events have the old values of keys"
            if self.parts.never_counted:
                hint += (
                    ". A row that is removed and put back must be counted where rows are found by"
                    " their old values: --assert rows"
                )
            if self.parts.untold:
                hint += (
                    ". A row that others may refer to is not removed and put back: say which"
                    " foreign keys there are (--schema; none: there are none)"
                )
            if self.parts.unlike:
                hint += (
                    ". A row is not removed and put back while later work on its other columns is"
                    " left as it is (or, with --except, left out): choose that unit as well"
                )
            self.tally.refusals.append(
                Finding(
                    "LR3012",
                    self._where(record),
                    way,
                    "an order in which every row finds its parent, and every key is free when it"
                    " is taken",
                    hint,
                )
            )
        return arranged

    def _unwritten(self, changes: ChunkChanges, live: Mask) -> tuple[Index, Index]:
        """The changes that are left out of units, and of each the live one that makes the target do
        the same (-1: none, as of those that the user left out)."""
        reasons = (*UNWRITTEN, REASON[UNSATISFIED])
        rows = np.flatnonzero(one_of(changes.outcome, reasons) & (changes.uncommitted == 0))
        if not len(rows):
            return rows, rows
        every = np.arange(len(changes.head))
        cause = np.maximum.accumulate(np.where(changes.origin == ord(" "), every, -1))[rows]
        caused = (changes.unit[cause] == changes.unit[rows]) & live[cause] & (cause >= 0)
        caused &= (cause != rows) & (changes.outcome[rows] != REASON[UNSATISFIED])
        return rows, np.where(caused, cause, -1)

    def _write(
        self,
        changes: ChunkChanges,
        entries: Index,
        text: pa.Array,
        arranged: Arranged,
        picked: Index | None = None,
    ) -> None:
        """Write the statements of some entries, ``text``, or those of its places ``picked``."""
        if not len(entries):
            return
        ordered = arranged.sequence[entries]
        if self.plan.options.render.assert_rows and picked is None:
            text = self._with_checks(changes, ordered, text)
        comments_only = (changes.outcome[ordered] > 0) | (changes.uncommitted[ordered] > 0)
        spoken: Mask | None = ~comments_only if comments_only.any() else None
        if (changes.change[ordered] == Change.STRUCTURE).any():
            entries, text, spoken = _by_statement(entries, text)
            ordered = arranged.sequence[entries]
        unit = changes.unit[ordered]
        starts = order.run_starts(unit)
        first = self._headers(changes, ordered[starts])
        comments = comments_of(self.log, first)
        notes, checks = None, None
        if picked is not None and self.plan.options.trace:
            notes = traces_of(self.log, self._headers(changes, ordered))
        if picked is not None and self.plan.options.render.assert_rows:
            checked, numbers = self._numbered(changes, ordered, starts)
            checks = Checks.of(checked, numbers, self.profile)
        ordinal = unit if self.plan.mode == "redo" else len(self.unit_start) - 1 - unit
        group = ordinal // self.plan.options.commit_every
        sources = None
        if self.plan.steps:
            stepped = entries if spoken is None else entries[spoken]
            sources = self._sources(changes, stepped, arranged)
        defers = np.isin(unit[starts], arranged.waiting)
        self.sink.write(
            Written(
                text,
                starts,
                comments,
                defers,
                unit,
                group,
                sources,
                spoken,
                picked,
                notes,
                checks,
            )
        )

    @staticmethod
    def _sources(changes: ChunkChanges, entries: Index, arranged: Arranged) -> steps.Sources:
        """What is behind the statements of some entries."""
        last, part = arranged.last, arranged.part
        return steps.sources_of(
            changes,
            arranged.sequence[entries],
            None if last is None else last[entries],
            None if part is None else part[entries],
        )

    def _with_checks(
        self, changes: ChunkChanges, ordered: Index, text: pa.StringArray
    ) -> pa.StringArray:
        """Statements, those of rows with their checks (:mod:`sqlgen.row_checks`)."""
        starts = order.run_starts(changes.unit[ordered])
        checked, numbers = self._numbered(changes, ordered, starts)
        fields = self.log.unit_fields(self._headers(changes, ordered[starts]))
        lengths = np.diff(np.append(starts, len(ordered)))
        names = unit_names(fields).take(pa.array(np.repeat(np.arange(len(starts)), lengths)))
        return row_checks.with_checks(text, checked, names, numbers, self.profile)

    def _numbered(self, changes: ChunkChanges, ordered: Index, starts: Index) -> tuple[Mask, Index]:
        """Which statements have a check, and the number of each in its unit, whose first statement
        is at ``starts``. It counts from the beginning of the unit, which may lie in an earlier
        chunk."""
        unit = changes.unit[ordered]
        checked = one_of(changes.change[ordered], ROW_CHANGES)
        checked &= (changes.uncommitted[ordered] == 0) & (changes.outcome[ordered] == 0)
        counted = np.cumsum(checked)
        before: Index = np.repeat(
            counted[starts] - checked[starts], np.diff(np.append(starts, len(unit)))
        )
        last, so_far = self._asserted
        before[unit == last] -= so_far
        numbers = counted - before
        self._asserted = int(unit[-1]), int(numbers[-1])
        return checked, numbers


def render_bucket(
    plan: Plan, log: LogFile, bucket: int, blocks: Iterable[bytes], folder: Path
) -> BucketResult:
    """Render the blocks of one bucket into ``folder``."""
    sink = _sink(plan, folder / plan.file_name(bucket))
    renderer = BucketRenderer(plan, log, blocks, sink)
    tally = renderer.run()
    files: tuple[WrittenFile, ...] = ()
    if sink.size:
        digest = sink.digest.hexdigest()
        files = (WrittenFile(sink.path.name, sink.size, digest, tally.statements),)
    return BucketResult(files, tally, renderer.commits())


def _sink(plan: Plan, path: Path) -> Sink:
    """Where the script of a plan goes."""
    options = plan.options
    profile = profile_named(options.dialect)
    form = script_form(options)
    command = "" if form is None else form.command
    head = script_prologue(profile, plan.mode, options.render.assert_rows, command)
    return Sink(path, profile, head, plan.steps, pace_of(options), form)


def _by_statement(ordered: Index, text: pa.Array) -> tuple[Index, pa.Array, Mask]:
    """Changes with a line for each of their statements, so that each is a statement of the script;
    comments stay with the statement after them. The mask says which are more than comments."""
    pieces = [_statements_of(lines) for lines in text.to_pylist()]
    flat = [one for piece in pieces for one in piece]
    spoken = np.array([not one.rpartition("\n")[2].startswith("--") for one in flat], bool)
    return np.repeat(ordered, [len(piece) for piece in pieces]), pa.array(flat, pa.string()), spoken


def _statements_of(text: str) -> list[str]:
    """The statements of a change's text; comments that no statement follows are a piece of their
    own."""
    pieces, waiting = [], []
    for line in text.split("\n"):
        waiting.append(line)
        if not line.startswith("--"):
            pieces.append("\n".join(waiting))
            waiting = []
    return [*pieces, *(["\n".join(waiting)] if waiting else [])]
