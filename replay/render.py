"""The second stage: the sorted records of one bucket -> the text of one script file.

Render by shape, emit by order: changes of a chunk are grouped by table version and kind, decoded and rendered column by column, and their
statements are put back into order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay import order
from replay.bucket import FAILED, BucketReader, BucketResult, Changes, Chunk, Index, Mask, WrittenFile
from replay.changes import ROW_CHANGES, TABLE_EVENTS, Change
from replay.errors import Finding
from replay.keyorder import Arranged, KeyOrder
from replay.keys import Batch
from replay.logs import LogFile
from replay.plan import Plan
from replay.sink import Sink, Written
from replay.steps import sources_of
from sqlgen import structure
from sqlgen.dialects import profile_named
from sqlgen.errors import SqlgenError
from sqlgen.script import script_prologue, unit_comments
from sqlgen.statements import delete_all_statement, truncate_statement


class BucketRenderer(BucketReader[tuple[pa.StringArray, Index]]):
    """Renders one bucket as a script into ``sink``."""

    def __init__(self, plan: Plan, log: LogFile, blocks: Iterable[bytes], sink: Sink) -> None:
        super().__init__(plan, log, blocks, sink, sink.profile)
        self.sink = sink
        self.placer = (
            KeyOrder(log, plan.constraints, plan.mode == "undo", bool(self.profile.defer)) if plan.constraints.foreign_keys else None
        )

    # -- statements -----------------------------------------------------------------------------------------------------------------------

    def _make(self, changes: Changes) -> tuple[pa.StringArray, Index]:
        """``(texts, place)``: the statement of change ``i`` is ``texts[place[i]]`` ('' for none). Made by group of table version and kind."""
        pieces: list[pa.Array] = []
        places: list[Index] = []
        for rows, kind, version in self._groups(changes):
            if kind in ROW_CHANGES:
                for part, text in self._row_statements(changes, rows, kind, version):
                    pieces.append(text)
                    places.append(part)
            elif kind in TABLE_EVENTS:
                pieces.append(self._event_statements(changes, rows, kind, version))
                places.append(rows)
            elif kind is Change.STRUCTURE:
                pieces.append(self._structure_statements(changes, rows, version))
                places.append(rows)
        done = np.concatenate([*places, np.zeros(0, np.int64)])
        place = np.full(len(changes.head), len(done), np.int64)  # a change without a statement: the empty text after all others
        place[done] = np.arange(len(done))
        return pa.concat_arrays([*pieces, pa.array([""], pa.string())]), place

    def _row_statements(self, changes: Changes, rows: Index, kind: Change, version: int) -> Iterator[tuple[Index, pa.Array]]:
        for chosen, images in self._images(changes, rows, kind):
            result = self.decoder.statements(version, kind, images)
            self._blame(changes, chosen, version, result.problems)
            changes.outcome[chosen] = np.where(result.failed, FAILED, result.outcome)
            self.sink.knows(result.shapes)
            yield chosen, result.text

    def _event_statements(self, changes: Changes, rows: Index, kind: Change, version: int) -> pa.Array:
        self._refuse_part_events(changes, rows, kind, version)
        table = self.log.catalog.versions[version].table
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

    def _emit(self, changes: Changes, made: tuple[pa.StringArray, Index], shown: Mask, chunk: Chunk) -> int:
        texts, place = made
        arranged = self._arranged(changes)
        sequence = arranged.sequence
        ordered = sequence[shown[sequence]]
        text = texts.take(pa.array(place[ordered]))
        silent = changes.uncommitted[ordered] > 0
        more = self._further_lines(text, ~silent)
        if silent.any():
            said = "-- rolled back, not applied: "
            lines = pc.replace_substring(text, "\n", f"\n{said}")
            text = pc.if_else(pa.array(silent), pc.binary_join_element_wise(said, lines, ""), text)
        if self.plan.options.trace:
            text = pc.binary_join_element_wise(text, self.log.trace(self._headers(changes, ordered)), " -- ")
        self._write(changes, ordered, text, arranged.waiting)
        return more

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
            origin = changes.origin
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
        first = self._headers(changes, ordered[starts])
        comments = unit_comments(self.log.unit_fields(first))
        ordinal = unit if self.plan.mode == "redo" else len(self.unit_start) - 1 - unit
        sources = None
        if self.plan.steps:
            told = ordered if spoken is None else ordered[spoken]
            head, weight = changes.head[told], changes.weight[told]
            sources = sources_of(changes.records, head, weight, changes.version[told], changes.change[told])
        defers = np.isin(unit[starts], waiting)
        self.sink.write(Written(text, starts, comments, defers, unit, ordinal // self.plan.options.commit_every, sources, spoken))


def render_bucket(plan: Plan, log: LogFile, bucket: int, blocks: Iterable[bytes], folder: Path) -> BucketResult:
    """Render the blocks of one bucket into ``folder``."""
    name = plan.file_name(bucket)
    profile = profile_named(plan.options.dialect)
    sink = Sink(folder / name, profile, script_prologue(profile, plan.mode), plan.steps)
    renderer = BucketRenderer(plan, log, blocks, sink)
    tally = renderer.run()
    files = (WrittenFile(name, sink.size, sink.digest.hexdigest(), tally.statements),) if sink.size else ()
    return BucketResult(files, tally, renderer.commits())


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
