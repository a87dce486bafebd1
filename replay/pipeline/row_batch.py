"""The row images of one table version and kind: decoded late and lazily, each column when somebody
asks for it, and what is wrong with them noted.
"""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from replay.arrays import Bytes, Index, Mask, Records
from replay.changes.catalog import TableVersion
from replay.changes.envelope import Change
from replay.errors import InputError
from replay.logs import Images, Judging, LogFile, PartialWalk, Walk, where_of
from replay.redaction import masked_value, options
from sqlgen import literals, statements
from sqlgen.mapping import TableMap
from sqlgen.schema import Column, Op, Rows, SqlType

#: The kind of statement that a change of a row needs.
OPS = {Change.INSERT: Op.INSERT, Change.UPDATE: Op.UPDATE, Change.DELETE: Op.DELETE}
#: Options that name code pages, of each log family that has one.
_CODE_PAGE = "--ccsid; db2luw: --log-option codepage=…, soliddb: --log-option charset=…"
#: Findings made in full per batch; all damaged rows are counted.
_SHOWN = 20


@dataclass(frozen=True)
class RowProblem:
    """One value that cannot be decoded or said: ``row`` within the batch."""

    row: int
    code: str
    field: str | None
    found: str
    expected: str
    hint: str


class RowBatch:
    """The images of one batch with what has been decoded of them, and what was wrong. ``mapping``:
    the masks of columns, whose values are not told."""

    def __init__(
        self,
        log: LogFile,
        version: TableVersion,
        kind: Change,
        image: Images,
        walks: Mapping[str, Walk] | None = None,
        mapping: TableMap | None = None,
    ) -> None:
        self.log, self.version, self.kind, self.mapping = log, version, kind, mapping
        self.count = len(image.bad)
        self.failed: Mask = image.bad.copy()
        self.problems: list[RowProblem] = []
        for row in np.flatnonzero(image.bad)[:_SHOWN]:
            self.problems.append(RowProblem(int(row), "LR2014", "DATA", *image.reason(int(row))))
        self.walks: dict[str, Walk] = {}
        for side, bounds in (("before", image.before), ("after", image.after)):
            if bounds is not None:
                walk = self._walk(image, bounds) if walks is None else walks[side]
                self._check(side, walk)
                self.walks[side] = walk
        self._decoded: dict[tuple[str, str], pa.Array] = {}

    def _walk(self, image: Images, bounds: tuple[Index, Index]) -> Walk:
        start, end = (np.where(self.failed, 0, edge) for edge in bounds)
        return self.log.walk(self.version.index, image.buffer, start, end)

    def _check(self, side: str, walk: Walk) -> None:
        """Note the images that do not fit the table."""
        fresh = walk.bad & ~self.failed
        for row in np.flatnonzero(fresh)[:_SHOWN]:
            field, found, expected = walk.reason(int(row))
            hint = (
                "The row does not fit the table's columns: does the control file, or the catalog"
                " export, belong to this log?"
            )
            self.problems.append(
                RowProblem(int(row), "LR2014", field, f"{side} image: {found}", expected, hint)
            )
        self.failed |= fresh

    def problem(
        self, row: int, code: str, field: str | None, found: str, expected: str, hint: str
    ) -> None:
        """Note a problem of one row; rows that have one already keep their first."""
        if not self.failed[row]:
            self.failed[row] = True
            self.problems.append(RowProblem(row, code, field, found, expected, hint))

    def value_problem(self, problem: literals.ValueProblem) -> None:
        """Note a value that its place cannot hold."""
        self.problem(
            problem.row,
            problem.code,
            problem.column,
            problem.found,
            problem.expected,
            problem.hint,
        )

    def changed(self, name: str) -> Mask | None:
        """Where the two images differ in a column; None where they never do."""
        if name in self.version.constants:
            return None
        index = self.version.index_of(name)
        mask = ~self.walks["before"].equal(self.walks["after"], index)
        mask &= ~self.failed
        return mask if mask.any() else None

    def outcome(self, columns: Sequence[Column]) -> Bytes:
        """What becomes of each update where only the ``shown`` columns count
        (:func:`sqlgen.statements.outcome_of`)."""
        table = self.version.table
        changed = {
            column.name: mask
            for column in table.columns
            if (mask := self.changed(column.name)) is not None
        }
        named = np.logical_or.reduce(
            [changed[column.name] for column in columns if column.name in changed]
            or [np.zeros(self.count, bool)]
        )
        rows = Rows(
            table,
            Op.UPDATE,
            self.count,
            {},
            {},
            {name: pa.array(mask) for name, mask in changed.items()},
        )
        return statements.outcome_of(rows, tuple(columns), named)

    def large(self, name: str) -> bool:
        """Whether it is a large object's column, whose values are not in the log."""
        if name in self.version.constants:
            return False
        return self.version.format.columns[self.version.index_of(name)].lob

    def unreported(self, side: str, name: str) -> tuple[pa.Array, Mask]:
        """A column of one image as the target gets it, and the rows that have no value of it, of
        which nothing is said."""
        values, bad = self.walks[side].decode(self.version.index_of(name))
        return self._masked(name, values), np.zeros(self.count, bool) if bad is None else bad

    def decode(self, side: str, name: str, mask: Mask | None = None) -> pa.Array:
        """A column of one image; with ``mask`` only its True rows are decoded and the others are
        null."""
        if (added := self.version.constants.get(name)) is not None:
            return added.constants(self.count)
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

    def written(self, side: str, name: str, mask: Mask | None = None) -> pa.Array:
        """As :meth:`decode`, with the values that the target gets: masks, where the column has
        them."""
        return self._masked(name, self.decode(side, name, mask))

    def _masked(self, name: str, values: pa.Array) -> pa.Array:
        if self.mapping is None or name in self.version.constants:
            return values
        return self.mapping.mask(self.version.source, self.version.source_name(name), values)

    def look(self, side: str, name: str, index: int, rows: Index | None = None) -> None:
        """Note the values of a column of one image, in ``rows`` (all when None), that cannot be
        decoded, and keep none."""
        walk = self.walks[side]
        bad = walk.decode(index, rows)[1]
        absent = walk.absent(index) if isinstance(walk, PartialWalk) else None
        if absent is not None and bad is not None:
            bad = bad & ~(absent if rows is None else absent[rows])
        if bad is not None and bad.any():
            self._report(side, name, index, rows, bad)

    def _report(self, side: str, name: str, index: int, rows: Index | None, bad: Mask) -> None:
        wrong = np.flatnonzero(bad)
        wrong = wrong if rows is None else rows[wrong]
        hint = "The record is damaged, or the table had other columns when it was written"
        column, name = self.version.format.columns[index], self.version.source_name(name)
        if column.lob:
            column_name = glob.escape(f"{self.version.name}.{name}")
            words = options("--exclude-columns", column_name)
            hint = f"Leave the column out ({words}) and bring its values over another way"
        elif column.ccsid is not None:
            hint = f"The record is damaged, or the column's code page is another one ({_CODE_PAGE})"
        elif column.column.type is SqlType.REAL and column.code == "FLOT":
            hint = (
                "Db2's REAL reaches further than an IEEE single: write such columns as double"
                " precision (--reals double)"
            )
        masked = () if self.mapping is None else self.mapping.masked_columns(self.version.source)
        for row in wrong[~self.failed[wrong]]:
            found, expected = self.walks[side].explain(index, int(row))
            if name in masked:
                found = masked_value(name)
            self.problem(int(row), "LR2015", name, f"{side} image: {found}", expected, hint)


def whole_rows(
    log: LogFile,
    records: Records,
    heads: Index,
    weights: Index,
    version: int,
    kind: Change,
    mapping: TableMap | None = None,
) -> Rows:
    """Changes of one table version and kind with all columns of both images, in their order.
    ``heads`` and ``weights`` are as for :meth:`replay.logs.LogFile.images`, ``mapping`` as for
    :class:`RowBatch`. Raises InputError (LR2014, LR2015) where one cannot be read.
    """
    parts: list[tuple[Index, Rows]] = []
    for part, image in log.images(records, heads, weights, kind):
        table = log.catalog.versions[version]
        batch = RowBatch(log, table, kind, image, None, mapping)
        sides = {
            side: {column.name: batch.written(side, column.name) for column in table.table.columns}
            for side in batch.walks
        }
        changed = {}
        if kind is Change.UPDATE:
            masks = {column.name: batch.changed(column.name) for column in table.table.columns}
            changed = {name: pa.array(mask) for name, mask in masks.items() if mask is not None}
        for problem in batch.problems:
            record = records[heads[part[problem.row]]]
            where = where_of(log, record, problem.field)
            raise InputError(
                problem.code,
                f"found {problem.found}; expected {problem.expected}",
                where,
                problem.hint,
            )
        before, after = sides.get("before", {}), sides.get("after", {})
        rows = Rows(table.table, OPS[kind], batch.count, before, after, changed)
        parts.append((part, rows))
    first = parts[0][1]
    places = np.concatenate([places for places, _ in parts])
    if len(parts) == 1 and (np.diff(places) > 0).all():
        return first
    order = pa.array(np.argsort(places))

    def joined(side: str) -> dict[str, pa.Array]:
        found = [getattr(rows, side) for _, rows in parts]
        return {
            name: pa.concat_arrays(
                [
                    one[name] if name in one else pa.array(np.zeros(rows.count, bool))
                    for one, (_, rows) in zip(found, parts, strict=True)
                ]
            ).take(order)
            for name in dict.fromkeys(name for one in found for name in one)
        }

    before, after, changed = map(joined, ("before", "after", "changed"))
    return Rows(first.table, first.op, len(order), before, after, changed)


def unread_changes(
    log: LogFile, version: int, kind: Change, image: Images, walks: Mapping[str, Walk]
) -> tuple[int, list[RowProblem]]:
    """How many of the changes of one table version and kind have a row or a value that cannot be
    read, and the first problems. ``walks`` are those of their ``before`` and ``after`` images. Not
    looked at are large objects, and REAL columns of hexadecimal floats, of which every one is a
    number. InputError where a column's character set is not known."""
    table = log.catalog.versions[version]
    batch = RowBatch(log, table, kind, image, walks)
    first, *others = batch.walks
    walk = batch.walks[first]
    judging = walk if isinstance(walk, Judging) else None  # walks of one log are of one class
    for index, column in enumerate(table.format.columns):
        if column.lob or (column.column.type is SqlType.REAL and column.code == "FLOT"):
            continue
        if judging is not None and judging.readable(index):
            continue
        batch.look(first, column.column.name, index)
        for side in others:  # where the bytes are the same, so is what was read of them
            same = walk.equal(batch.walks[side], index)
            if len(rows := np.flatnonzero(~same)):
                batch.look(side, column.column.name, index, rows)
    return int(batch.failed.sum()), batch.problems
