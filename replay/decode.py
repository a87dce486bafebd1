"""Row images of one table version and kind -> SQL statements: decode what is needed, turn round for undo, render.

Decoding is late and lazy: of an update only the identity columns are decoded in every row, the others only where they changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay import shortcut
from replay.catalog import TableVersion
from replay.changes import Change
from replay.errors import InputError
from replay.logs import Images, LogFile, Walk, where_of
from replay.plan import Plan
from replay.selection import REASON
from replay.where import ValueFilter
from sqlgen import literals, statements, upsert
from sqlgen.dialects import Profile
from sqlgen.mapping import plain
from sqlgen.rows import Op, Rows
from sqlgen.schema import Column
from sqlgen.shapes import render_shaped

Mask = npt.NDArray[np.bool_]

_OPS = {Change.INSERT: Op.INSERT, Change.UPDATE: Op.UPDATE, Change.DELETE: Op.DELETE}
#: Findings made in full per batch; all damaged rows are counted.
_SHOWN = 20


@dataclass(frozen=True)
class Problem:
    """One value that cannot be decoded or said: ``row`` within the batch."""

    row: int
    code: str
    field: str | None
    found: str
    expected: str
    hint: str


@dataclass(frozen=True)
class Rendered:
    """``text`` one statement a row ('' for none); ``outcome`` an index of :data:`replay.selection.REASONS`; ``failed`` rows with a problem;
    ``shapes`` the statements that the texts execute by name."""

    text: pa.Array
    outcome: npt.NDArray[np.uint8]
    failed: Mask
    problems: list[Problem]
    shapes: Mapping[str, str]


#: Both images of some changes (None where the kind has none), and how many there are -> rows of an export, and values that cannot be said.
Shape = Callable[[Mapping[str, pa.Array] | None, Mapping[str, pa.Array] | None, int], tuple[pa.Table, list[literals.Problem]]]


@dataclass(frozen=True)
class Shaped:
    """As :class:`Rendered`, with the rows of an export in ``rows``."""

    rows: pa.Table
    outcome: npt.NDArray[np.uint8]
    failed: Mask
    problems: list[Problem]


class RowDecoder:
    """Decodes and renders for one plan, about ``expected`` records."""

    def __init__(self, plan: Plan, log: LogFile, profile: Profile, expected: int = 0) -> None:
        self.plan, self.log, self.profile = plan, log, profile
        self.options = plan.options.render
        self.filter = ValueFilter(plan.selection.where, log.catalog) if plan.selection.where is not None else None
        plainly = self.filter is None and plan.options.mapping is None and not plan.prepared and expected >= shortcut.WORTH
        self.shortcut = shortcut.Shortcut(plan.mode == "undo", profile, self.options) if plainly else None

    def statements(self, version: int, kind: Change, image: Images) -> Rendered:
        """Statements of the changes whose images are given; all are of one table version and kind."""
        reading = self.log.image_reading(version)
        quick = None
        if self.shortcut is not None and reading is not None:
            quick = self.shortcut.statements(self.log.catalog.versions[version], _OPS[kind], image, reading)
        if quick is None:
            return self._statements(version, kind, image)
        outcome, failed = _reasons(quick.outcome), np.zeros(len(quick.outcome), bool)
        if not len(quick.odd):
            return Rendered(quick.text, outcome, failed, [], {})
        rest = self._statements(version, kind, image.take(quick.odd))
        outcome[quick.odd], failed[quick.odd] = rest.outcome, rest.failed
        problems = [replace(problem, row=int(quick.odd[problem.row])) for problem in rest.problems]
        return Rendered(pc.replace_with_mask(quick.text, _where(quick.odd, len(outcome)), rest.text), outcome, failed, problems, {})

    def _statements(self, version: int, kind: Change, image: Images) -> Rendered:
        batch = _Batch(self.log, self.log.catalog.versions[version], kind, image)
        outcome = np.zeros(batch.count, np.uint8)
        if self.filter is not None:
            wanted = self._wanted(self.filter, batch)
            outcome[~wanted] = REASON["does not satisfy --where"]
        rows, options = self._rows(batch), self.options
        if self.plan.mode == "undo":
            rows = rows.inverse()
        if self.plan.options.mapping is not None:
            rows, options = self.plan.options.mapping.rows(rows, options), plain(options)
        shapes: Mapping[str, str] = {}
        if self.plan.prepared:
            shaped = render_shaped(rows, self.profile, options)
            rendered, shapes = shaped.rendered, shaped.shapes
        else:
            render = upsert.render if self.options.upsert else statements.render
            rendered = render(rows, self.profile, options)
        for problem in rendered.problems:
            batch.problem(problem.row, problem.code, problem.column, problem.found, problem.expected, problem.hint)
        outcome = np.where(outcome == 0, _reasons(rendered.outcome), outcome)
        return Rendered(rendered.text, outcome, batch.failed, batch.problems, shapes)

    def shaped(self, version: int, kind: Change, image: Images, columns: Sequence[Column], make: Shape) -> Shaped:
        """The changes whose images are given, with all ``columns`` of both images, as ``make`` shapes them."""
        batch = _Batch(self.log, self.log.catalog.versions[version], kind, image)
        outcome = np.zeros(batch.count, np.uint8)
        if self.filter is not None:
            outcome[~self._wanted(self.filter, batch)] = REASON["does not satisfy --where"]
        if kind is Change.UPDATE:
            outcome = np.where(outcome == 0, _reasons(batch.outcome(columns)), outcome)
        wanted = (outcome == 0) & ~batch.failed
        sides = {side: {column.name: batch.decode(side, column.name, wanted) for column in columns} for side in batch.walks}
        table, problems = make(sides.get("before"), sides.get("after"), batch.count)
        for problem in problems:
            batch.problem(problem.row, problem.code, problem.column, problem.found, problem.expected, problem.hint)
        return Shaped(table, outcome, batch.failed, batch.problems)

    def wanted(self, version: int, kind: Change, image: Images) -> Mask:
        """Which of the changes satisfy ``--where``."""
        batch = _Batch(self.log, self.log.catalog.versions[version], kind, image)
        return np.ones(batch.count, bool) if self.filter is None else self._wanted(self.filter, batch)

    @staticmethod
    def _wanted(chosen: ValueFilter, batch: _Batch) -> Mask:
        return chosen.select(batch.version, lambda name, side: batch.decode(side, name), batch.kind, batch.count)

    def _rows(self, batch: _Batch) -> Rows:
        table, op = batch.version.table, _OPS[batch.kind]
        undo = self.plan.mode == "undo"
        shown = Rows(table, op, batch.count, {}, {}, {})
        before, after = statements.columns_needed(table, shown.inverse().op if undo else op, self.options)
        if undo:
            before, after = after, before
        if op is Op.INSERT:
            return Rows(table, op, batch.count, {}, {name: batch.decode("after", name) for name in after}, {})
        if op is Op.DELETE:
            return Rows(table, op, batch.count, {name: batch.decode("before", name) for name in before}, {}, {})
        changed = {column.name: mask for column in table.columns if (mask := batch.changed(column.name)) is not None}
        match, become = ("after", "before") if undo else ("before", "after")
        matched = after if undo else before
        images_of = {match: {name: batch.decode(match, name) for name in matched}, become: {}}
        settable = before if undo else after
        for name, mask in changed.items():
            if name in settable:
                images_of[become][name] = batch.decode(become, name, mask)
        masks = {name: pa.array(mask) for name, mask in changed.items()}
        whole = None
        if self.options.upsert and self.plan.whole_rows:
            images_of[become] |= {name: batch.decode(become, name) for name in settable if not batch.large(name)}
            whole = np.ones(batch.count, bool)
            for name in settable:
                if batch.large(name):
                    images_of[become][name], unknown = batch.unreported(become, name)
                    whole &= ~unknown
        return Rows(table, op, batch.count, images_of["before"], images_of["after"], masks, None if whole is None else pa.array(whole))


def _where(rows: npt.NDArray[np.int64], count: int) -> pa.BooleanArray:
    """True at ``rows``."""
    mask = np.zeros(count, bool)
    mask[rows] = True
    return pa.array(mask)


def _reasons(outcome: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """What became of statements, as indexes of :data:`replay.selection.REASONS`."""
    made = np.zeros(len(outcome), np.uint8)
    made[outcome == statements.NO_CHANGE] = REASON["update changes nothing"]
    made[outcome == statements.EXCLUDED_COLUMNS] = REASON["update touches excluded columns only"]
    return made


def whole_rows(
    log: LogFile, records: npt.NDArray[np.void], heads: npt.NDArray[np.int64], weights: npt.NDArray[np.int64], version: int, kind: Change
) -> Iterator[tuple[npt.NDArray[np.int64], Rows]]:
    """Changes of one table version and kind with all columns of both images: (which of them, their rows), in parts. ``heads`` and ``weights`` are
    as for :meth:`replay.logs.LogFile.images`. Raises InputError (LR2014, LR2015) where one cannot be read."""
    for part, image in log.images(records, heads, weights, kind):
        found = log.catalog.versions[version]
        batch = _Batch(log, found, kind, image)
        sides = {side: {column.name: batch.decode(side, column.name) for column in found.table.columns} for side in batch.walks}
        changed = {}
        if kind is Change.UPDATE:
            masks = {column.name: batch.changed(column.name) for column in found.table.columns}
            changed = {name: pa.array(mask) for name, mask in masks.items() if mask is not None}
        for problem in batch.problems:
            record = records[heads[part[problem.row]]]
            where = where_of(log, record, problem.field)
            raise InputError(problem.code, f"found {problem.found}; expected {problem.expected}", where, problem.hint)
        yield part, Rows(found.table, _OPS[kind], batch.count, sides.get("before", {}), sides.get("after", {}), changed)


class _Batch:
    """The images of one batch with what has been decoded of them, and what was wrong."""

    def __init__(self, log: LogFile, version: TableVersion, kind: Change, image: Images) -> None:
        self.log, self.version, self.kind = log, version, kind
        self.count = len(image.bad)
        self.failed: Mask = image.bad.copy()
        self.problems: list[Problem] = []
        for row in np.flatnonzero(image.bad)[:_SHOWN]:
            self.problems.append(Problem(int(row), "LR2014", "DATA", *image.reason(int(row))))
        self.walks: dict[str, Walk] = {}
        for side, bounds in (("before", image.before), ("after", image.after)):
            if bounds is not None:
                self.walks[side] = self._walk(side, image, bounds)
        self._decoded: dict[tuple[str, str], pa.Array] = {}

    def _walk(self, side: str, image: Images, bounds: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]) -> Walk:
        start, end = bounds
        walk = self.log.walk(self.version.index, image.buffer, np.where(self.failed, 0, start), np.where(self.failed, 0, end))
        fresh = walk.bad & ~self.failed
        for row in np.flatnonzero(fresh)[:_SHOWN]:
            field, found, expected = walk.reason(int(row))
            hint = "The row does not fit the table's columns: does the control file, or the catalog export, belong to this log?"
            self.problems.append(Problem(int(row), "LR2014", field, f"{side} image: {found}", expected, hint))
        self.failed |= fresh
        return walk

    def problem(self, row: int, code: str, field: str | None, found: str, expected: str, hint: str) -> None:
        """Note a problem of one row; rows that have one already keep their first."""
        if not self.failed[row]:
            self.failed[row] = True
            self.problems.append(Problem(row, code, field, found, expected, hint))

    def changed(self, name: str) -> Mask | None:
        """Where the two images differ in a column; None where they never do."""
        index = self.version.index_of(name)
        mask = ~self.walks["before"].equal(self.walks["after"], index)
        mask &= ~self.failed
        return mask if mask.any() else None

    def outcome(self, shown: Sequence[Column]) -> npt.NDArray[np.uint8]:
        """What becomes of each update where only the ``shown`` columns count (:func:`sqlgen.statements.outcome_of`)."""
        table = self.version.table
        changed = {column.name: mask for column in table.columns if (mask := self.changed(column.name)) is not None}
        named = np.logical_or.reduce([changed[column.name] for column in shown if column.name in changed] or [np.zeros(self.count, bool)])
        rows = Rows(table, Op.UPDATE, self.count, {}, {}, {name: pa.array(mask) for name, mask in changed.items()})
        return statements.outcome_of(rows, tuple(shown), named)

    def large(self, name: str) -> bool:
        """Whether it is a large object's column, whose values are not in the log."""
        return self.version.format.columns[self.version.index_of(name)].lob

    def unreported(self, side: str, name: str) -> tuple[pa.Array, Mask]:
        """A column of one image and the rows that have no value of it, of which nothing is said."""
        values, bad = self.walks[side].decode(self.version.index_of(name))
        return values, np.zeros(self.count, bool) if bad is None else bad

    def decode(self, side: str, name: str, mask: Mask | None = None) -> pa.Array:
        """A column of one image; with ``mask`` only its True rows are decoded and the others are null."""
        known = self._decoded.get((side, name))
        if known is not None:
            return known
        index = self.version.index_of(name)
        rows = None if mask is None or mask.all() else np.flatnonzero(mask)
        values, bad = self.walks[side].decode(index, rows)
        if bad is not None and bad.any():
            self._report(side, name, index, rows, bad)
        if rows is None or mask is None:
            self._decoded[(side, name)] = values
            return values
        place = np.zeros(self.count, np.int64)
        place[rows] = np.arange(len(rows))
        return values.take(pa.array(place, mask=np.logical_not(mask)))

    def _report(self, side: str, name: str, index: int, rows: npt.NDArray[np.int64] | None, bad: Mask) -> None:
        wrong = np.flatnonzero(bad)
        wrong = wrong if rows is None else rows[wrong]
        hint = "The record is damaged, or the column's code page is another one (--ccsid)"
        if self.version.format.columns[index].lob:
            hint = f"Leave the column out (--exclude-columns {self.version.name}.{name}) and bring its values over another way"
        for row in wrong[~self.failed[wrong]]:
            found, expected = self.walks[side].explain(index, int(row))
            self.problem(int(row), "LR2015", name, f"{side} image: {found}", expected, hint)
