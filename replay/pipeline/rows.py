"""Row images of one table version and kind -> SQL statements: decode what is needed, turn round for
undo, render.

Of an update only the identity columns are decoded in every row, the others only where they changed
(:mod:`replay.pipeline.row_batch`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay import native
from replay.arrays import Bytes, Index, Mask
from replay.changes.catalog import TableVersion
from replay.changes.envelope import Change, distinct
from replay.changes.selection import REASON, UNSATISFIED
from replay.logs import Images, LogFile
from replay.logs.log_file import PlainImages
from replay.pipeline.plan import Plan
from replay.pipeline.row_batch import OPS, RowBatch, RowProblem
from sqlgen import literals, render_options, statements
from sqlgen.dialects import Profile
from sqlgen.lazy_imports import when_used
from sqlgen.schema import Column, Op, Rows
from sqlgen.statements import render_by

with when_used():  # what many changes, conditions on values and prepared statements need
    from replay.changes import value_filter
    from replay.native import fast_path
    from replay.pipeline import mixed_rows
    from sqlgen import shapes as shaping

#: The outcome of updates that are a comment in scripts.
LEFT_OUT = REASON["update touches excluded columns only"]


@dataclass(frozen=True)
class ChangeStatements:
    """``text`` one statement a row ('' for none, a comment for those of the outcome
    :data:`LEFT_OUT`); ``outcome`` an index of :data:`replay.changes.selection.REASONS`;
    ``failed`` rows with a problem; ``moved`` updates that
    change a key; ``shapes`` the statements that the texts execute by name."""

    text: pa.Array
    outcome: Bytes
    failed: Mask
    moved: Mask
    problems: list[RowProblem]
    shapes: Mapping[str, str]


#: Both images of some changes (None where the kind has none), and how many there are -> rows of an
#: export, and values that cannot be said.
RowShaper = Callable[
    [Mapping[str, pa.Array] | None, Mapping[str, pa.Array] | None, int],
    tuple[pa.Table, list[literals.ValueProblem]],
]


@dataclass(frozen=True)
class ExportedRows:
    """As :class:`ChangeStatements`, with the rows of an export in ``rows``."""

    rows: pa.Table
    outcome: Bytes
    failed: Mask
    problems: list[RowProblem]


class RowDecoder:
    """Decodes and renders for one plan, about ``expected`` records."""

    def __init__(self, plan: Plan, log: LogFile, profile: Profile, expected: int = 0) -> None:
        self.plan, self.log, self.profile = plan, log, profile
        self.options = plan.options.render
        self.filter = (
            value_filter.ValueFilter(plan.selection.where, log.catalog, plan.options.masked)
            if plan.selection.where is not None
            else None
        )
        self.shortcut = None
        if expected >= native.WORTH and self.filter is None:
            self.shortcut = fast_path.FastPath(
                plan.mode == "undo",
                profile,
                self.options,
                partial(_watched, plan),  # no circle with this: it holds much room
                plan.prepared,
                plan.options.masked,
                plan.puts_whole,
            )

        self.mixed = None
        source: object = log
        if self.shortcut is not None and not plan.prepared and isinstance(source, PlainImages):
            self.mixed = mixed_rows.MixedRows(log, source, self.shortcut, plan.limits)

    def together(self, changes: mixed_rows.MixedChanges) -> Iterator[mixed_rows.MixedStatements]:
        """Statements of changes of several table versions and kinds, as far as they can be written
        together; their outcome is that of :class:`ChangeStatements`. Those that are in none of the
        parts, or not settled there, need :meth:`statements`."""
        if self.mixed is not None:
            for made in self.mixed.statements(changes):
                outcome = _reasons(made.outcome)
                text, settled = made.text, made.settled
                left = np.flatnonzero(settled & (outcome == LEFT_OUT))
                if len(left):
                    version = changes.group[made.images.changes[left]] // 16
                    text, settled = self._with_comments(made, left, version)
                yield replace(made, outcome=outcome, text=text, settled=settled)

    def _with_comments(
        self, made: mixed_rows.MixedStatements, left: Index, version: Index
    ) -> tuple[pa.StringArray, Mask]:
        """The statements, with the comments of the updates ``left``, which are of these table
        versions and change excluded columns only; and which changes are settled."""
        settled, parts, done = made.settled.copy(), [], [left[:0]]
        for value in distinct(version).tolist():
            rows = left[version == value]
            edges = made.images.bounds[:, rows]
            sides = (edges[0], edges[1]), (edges[2], edges[3])
            bad = np.zeros(len(rows), bool)
            image = Images(made.images.buffer, *sides, bad, lambda _: ("", "", ""))
            if (comments := self._left_out(value, image)) is None:
                settled[rows] = False
            else:
                parts.append(comments)
                done.append(rows)
        if not parts:
            return made.text, settled
        place = np.concatenate(done)
        comments = pa.concat_arrays(parts).take(pa.array(np.argsort(place)))
        return pc.replace_with_mask(made.text, _where(place, len(settled)), comments), settled

    def _left_out(self, version: int, image: Images) -> pa.StringArray | None:
        """The comments of updates that change excluded columns only, of which machine code found
        nothing wrong; None where the other way finds something."""
        batch = self._batch(version, Change.UPDATE, image)
        table, options = batch.version.table, self.options
        shown = render_options.shown_columns(table, options)
        changed = {
            column.name: pa.array(mask)
            for column in table.columns
            if column not in shown and (mask := batch.changed(column.name)) is not None
        }
        side = "after" if self.plan.mode == "undo" else "before"
        names = [column.name for column in render_options.identity(table, options)]
        found_by = {name: batch.written(side, name) for name in names}
        rows = Rows(table, Op.UPDATE, batch.count, found_by, {}, changed)
        comments = statements.left_out_comments(rows, self.profile, options)
        return None if batch.failed.any() else comments

    def statements(self, version: int, kind: Change, image: Images) -> ChangeStatements:
        """Statements of the changes whose images are given; all are of one table version and
        kind."""
        quick = self._quick(version, kind, image)
        if quick is None:
            return self._statements(version, kind, image)[0]
        made, odd = quick, quick.odd
        outcome, failed = _reasons(made.outcome), np.zeros(len(made.outcome), bool)
        if len(odd):
            rest, prepared = self._statements(version, kind, image.take(odd), made.callers)
        else:
            rest, prepared = None, shaping.worth_preparing(made.callers)
        if (texts := made.texts(prepared)) is None:
            return self._statements(version, kind, image)[0]
        text, shapes = texts
        left = np.flatnonzero((outcome == LEFT_OUT) & (not self.plan.prepared))
        if len(left):
            if (comments := self._left_out(version, image.take(left))) is None:
                return self._statements(version, kind, image)[0]
            text = pc.replace_with_mask(text, _where(left, len(outcome)), comments)
        if rest is None:
            return ChangeStatements(text, outcome, failed, made.moved, [], shapes)
        outcome[odd], failed[odd] = rest.outcome, rest.failed
        moved = made.moved
        moved[odd] = rest.moved
        problems = [replace(problem, row=int(odd[problem.row])) for problem in rest.problems]
        return ChangeStatements(
            pc.replace_with_mask(text, _where(odd, len(outcome)), rest.text),
            outcome,
            failed,
            moved,
            problems,
            {**shapes, **rest.shapes},
        )

    def _quick(self, version: int, kind: Change, image: Images) -> fast_path.FastStatements | None:
        """What machine code makes of changes; None where it makes nothing of them."""
        if self.shortcut is None or version in self.plan.limits:
            return None
        if (plain := self.log.plain_rows(version)) is None:
            return None
        return self.shortcut.statements(self.log.catalog.versions[version], OPS[kind], image, plain)

    def _batch(self, version: int, kind: Change, image: Images) -> RowBatch:
        table = self.log.catalog.versions[version]
        return RowBatch(self.log, table, kind, image, None, self.plan.options.mapping)

    def _statements(
        self,
        version: int,
        kind: Change,
        image: Images,
        callers: Mapping[str, int] = MappingProxyType({}),
    ) -> tuple[ChangeStatements, frozenset[str]]:
        """The statements of some changes of a batch, and the names of those that the batch
        prepares. ``callers``: how many of its other changes are to call each."""
        batch = self._batch(version, kind, image)
        outcome = np.zeros(batch.count, np.uint8)
        if self.filter is not None:
            wanted = self._wanted(self.filter, batch)
            outcome[~wanted] = REASON[UNSATISFIED]
        rows, options = self._rows(batch), self.options
        if self.plan.mode == "undo":
            rows = rows.inverse()
        shapes: Mapping[str, str] = {}
        prepared: frozenset[str] = frozenset()
        if self.plan.prepared:
            shaped = shaping.render_shaped(
                rows, self.profile, options, others=callers, failed=batch.failed
            )
            rendered, shapes, prepared = shaped.rendered, shaped.shapes, shaped.prepared
        else:
            rendered = render_by(rows, self.profile, options)
        outcome = np.where(outcome == 0, _reasons(rendered.outcome), outcome)
        alike = self._not_found(batch.version, rows.op, np.flatnonzero(outcome == 0))
        for problem in (*rendered.problems, *self._too_wide(version, rows), *alike):
            if outcome[problem.row] != REASON[UNSATISFIED]:  # nobody wants to write it
                batch.value_problem(problem)
        text = rendered.text
        left = np.flatnonzero((outcome == LEFT_OUT) & ~batch.failed)
        if len(left) and not self.plan.prepared:
            comments = statements.left_out_comments(_some(rows, left), self.profile, options)
            text = pc.replace_with_mask(text, _where(left, batch.count), comments)
        moved = np.zeros(batch.count, bool)
        if kind is Change.UPDATE:
            for name in _watched(self.plan, batch.version) & {
                c.name for c in batch.version.table.columns
            }:
                if (mask := batch.changed(name)) is not None:
                    moved |= mask
        made = ChangeStatements(text, outcome, batch.failed, moved, batch.problems, shapes)
        return made, prepared

    def _not_found(
        self, version: TableVersion, op: Op, rows: Index
    ) -> Iterator[literals.ValueProblem]:
        """Each of some rows that a statement must find by columns of which one is hidden."""
        hidden = render_options.lacking_identity(version.table, self.options)
        if hidden and op is not Op.INSERT:
            hidden = version.source_name(hidden)
            found = f"a row of {version.name}, which has no key, without {hidden}"
            expected = "all of its columns, by which it is found"
            hint = (
                f"Leave {hidden} in, or the table out (--exclude-table); or state a unique key of"
                " other columns that are NOT NULL (--schema)"
            )
            for row in rows.tolist():
                yield literals.ValueProblem(row, "", found, expected, hint, "LR3006")

    def _too_wide(self, version: int, rows: Rows) -> Iterator[literals.ValueProblem]:
        """Values to be written that the target's columns do not hold."""
        for name, limit in self.plan.limits.get(version, {}).items():
            if name in rows.after:
                problems = limit.problems(
                    rows.after[name], rows.table.column(name), self.options.policy
                )
                mask = rows.changed.get(name)
                yield from problems if mask is None else statements.only_rows(problems, mask)

    def shaped(
        self, version: int, kind: Change, image: Images, columns: Sequence[Column], make: RowShaper
    ) -> ExportedRows:
        """The changes whose images are given, with all ``columns`` of both images, as ``make``
        shapes them."""
        batch = self._batch(version, kind, image)
        outcome = np.zeros(batch.count, np.uint8)
        if self.filter is not None:
            outcome[~self._wanted(self.filter, batch)] = REASON[UNSATISFIED]
        if kind is Change.UPDATE and not (self.plan.export and self.plan.export.unchanged):
            outcome = np.where(outcome == 0, _reasons(batch.outcome(columns)), outcome)
        wanted = (outcome == 0) & ~batch.failed
        sides = {
            side: {column.name: batch.written(side, column.name, wanted) for column in columns}
            for side in batch.walks
        }
        table, problems = make(sides.get("before"), sides.get("after"), batch.count)
        for problem in problems:
            batch.value_problem(problem)
        return ExportedRows(table, outcome, batch.failed, batch.problems)

    def judged(
        self, version: int, kind: Change, image: Images
    ) -> tuple[Mask, Mask, list[RowProblem]]:
        """Which of the changes satisfy ``--where``, for which it cannot be evaluated, and why."""
        batch = self._batch(version, kind, image)
        if self.filter is None:
            return np.ones(batch.count, bool), batch.failed, batch.problems
        return self._wanted(self.filter, batch), batch.failed, batch.problems

    @staticmethod
    def _wanted(chosen: value_filter.ValueFilter, batch: RowBatch) -> Mask:
        return chosen.select(
            batch.version,
            lambda name, side: batch.decode(side, batch.version.target_name(name)),
            batch.kind,
            batch.count,
        )

    def _rows(self, batch: RowBatch) -> Rows:
        table, op = batch.version.table, OPS[batch.kind]
        undo = self.plan.mode == "undo"
        empty = Rows(table, op, batch.count, {}, {}, {})
        before, after = render_options.columns_needed(
            table, empty.inverse().op if undo else op, self.options
        )
        if undo:
            before, after = after, before
        if op is not Op.UPDATE:  # one side has no columns then
            old, new = (
                {name: batch.written(side, name) for name in names}
                for side, names in (("before", before), ("after", after))
            )
            return replace(empty, before=old, after=new)
        changed = {
            column.name: mask
            for column in table.columns
            if (mask := batch.changed(column.name)) is not None
        }
        match, become = ("after", "before") if undo else ("before", "after")
        matched = after if undo else before
        images_of = {match: {name: batch.written(match, name) for name in matched}, become: {}}
        settable = before if undo else after
        for name, mask in changed.items():
            if name in settable:
                images_of[become][name] = batch.written(become, name, mask)
        masks = {name: pa.array(mask) for name, mask in changed.items()}
        whole = None
        if self.plan.puts_whole:
            images_of[become] |= {
                name: batch.written(become, name) for name in settable if not batch.large(name)
            }
            whole = np.ones(batch.count, bool)
            for name in settable:
                if batch.large(name):
                    images_of[become][name], unknown = batch.unreported(become, name)
                    whole &= ~unknown
        return Rows(
            table,
            op,
            batch.count,
            images_of["before"],
            images_of["after"],
            masks,
            None if whole is None else pa.array(whole),
        )


def _watched(plan: Plan, version: TableVersion) -> frozenset[str]:
    """The columns of the keys of a table version, as far as they are known."""
    keys = plan.constraints.keys_of(version.name.upper())
    return frozenset(version.table.key).union(*keys)


def _where(rows: Index, count: int) -> pa.BooleanArray:
    """True at ``rows``."""
    mask = np.zeros(count, bool)
    mask[rows] = True
    return pa.array(mask)


def _reasons(outcome: Bytes) -> Bytes:
    """What became of statements, as indexes of :data:`replay.changes.selection.REASONS`."""
    reasons = np.zeros(len(outcome), np.uint8)
    reasons[outcome == statements.NO_CHANGE] = REASON["update changes nothing"]
    reasons[outcome == statements.EXCLUDED_COLUMNS] = LEFT_OUT
    return reasons


def _some(rows: Rows, chosen: Index) -> Rows:
    """Some of the updates, without what they become."""
    place = pa.array(chosen)
    return Rows(
        rows.table,
        rows.op,
        len(chosen),
        {name: values.take(place) for name, values in rows.before.items()},
        {},
        {name: mask.take(place) for name, mask in rows.changed.items()},
    )
