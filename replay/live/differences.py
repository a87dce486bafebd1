"""Comparing the rows of a table that should be there with those that are, in bounded memory: by
bucket, then by key where buckets differ, then value by value for the rows that are named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from replay.arrays import Hashes
from replay.live.row_sums import (
    BucketSums,
    KeySums,
    RowHash,
    SignedRows,
    Total,
    bucket_of,
    in_ranges,
)

#: Rows of a bucket, about, and buckets at most.
_BUCKET_ROWS, _BUCKETS = 1000, 65_536
#: Rows of differing buckets whose keys are held at once.
_HELD_ROWS = 4_000_000
#: Differing rows that are named for each table; all are counted.
_EXAMPLES = 20

Row = tuple[str | None, ...]
#: Gives the rows of one side, from their beginning each time.
Side = Callable[[], Iterator[SignedRows]]


@dataclass(frozen=True)
class RowDifferences:
    """The totals of both sides, how many rows differ, and the first of them in words."""

    expected: Total
    found: Total
    differing: int = 0
    examples: tuple[str, ...] = ()


def differences_of(form: RowHash, expected: Side, found: Side, about: int) -> RowDifferences:
    """How the rows ``found`` differ from those ``expected``; ``about`` how many there are."""
    buckets = max(1, min(_BUCKETS, about // _BUCKET_ROWS))
    sums, totals = BucketSums(buckets), (Total(), Total())
    for side, total, wanted in ((expected, totals[0], True), (found, totals[1], False)):
        for rows in side():
            hashed = form.of(rows)
            total.add(rows, hashed)
            sums.add(rows, hashed, wanted)
    wrong = sums.differing
    if not len(wrong):
        return RowDifferences(*totals)
    count = 0
    named: list[int] = []
    for group in in_ranges(wrong, sums.rows, _HELD_ROWS):
        keys = KeySums()
        for side, wanted in ((expected, True), (found, False)):
            for rows in side():
                hashed = form.of(rows)
                chosen = np.flatnonzero(np.isin(bucket_of(hashed.key, buckets), group))
                keys.add(rows, hashed, chosen, wanted)
        hashes, counts = keys.differing()
        count += int(np.maximum(counts, 1).sum())
        named = sorted([*named, *hashes[:_EXAMPLES].tolist()])[:_EXAMPLES]
    examples = _examples(form, expected, found, np.array(named, np.uint64))
    return RowDifferences(*totals, count, tuple(examples))


# -- naming rows
# -------------------------------------------------------------------------------------------------


@dataclass
class _KeyRows:
    """What both sides have under one key: rows, or the values of each column."""

    key: Row
    rows: Counter[Row] = field(default_factory=Counter)
    wanted: Counter[Row] = field(default_factory=Counter)
    cells: dict[str, Counter[str | None]] = field(default_factory=dict)


def _examples(form: RowHash, expected: Side, found: Side, keys: Hashes) -> Iterator[str]:
    seen: dict[int, _KeyRows] = {}
    for side, wanted in ((expected, True), (found, False)):
        for rows in side():
            hashed = form.of(rows)
            chosen = np.flatnonzero(np.isin(hashed.key, keys))
            if not len(chosen):
                continue
            part = rows.take(chosen)
            values = [part.columns[name].to_pylist() for name in form.columns]
            for number, row in enumerate(zip(*values, strict=True)):
                at = form.key or form.columns
                key = tuple(row[form.columns.index(name)] for name in at)
                one = seen.setdefault(int(hashed.key[chosen[number]]), _KeyRows(key))
                if wanted and form.cells:
                    _add_cells(one, form, part, number, row)
                elif wanted:
                    one.wanted[row] += part.sign
                else:
                    one.rows[row] += 1
                    one.key = key
    for one in sorted(seen.values(), key=lambda one: repr(one.key)):
        yield _described(form, one)


def _add_cells(one: _KeyRows, form: RowHash, rows: SignedRows, number: int, row: Row) -> None:
    for name, value in zip(form.columns, row, strict=True):
        if rows.cells is None or rows.cells[name][number]:
            one.cells.setdefault(name, Counter())[value] += rows.sign


def _described(form: RowHash, one: _KeyRows) -> str:
    """One key's rows in words."""
    name = ", ".join(
        f"{column} = {value}"
        for column, value in zip(form.key or form.columns, one.key, strict=True)
    )
    if form.cells:
        one.wanted = _rows_of(form, one.cells)
    unfit = [row for row, count in one.wanted.items() if count < 0]
    if unfit:
        values = ", ".join(f"{c}: {v!r}" for c, v in zip(form.columns, unfit[0], strict=True))
        return f"{name}: the log changes a row that the state does not have: {values}"
    extra, missing = one.rows - one.wanted, one.wanted - one.rows
    if extra and missing:
        ours, theirs = min(extra, key=repr), min(missing, key=repr)
        other = [
            f"{c}: expected {e!r}, found {f!r}"
            for c, f, e in zip(form.columns, ours, theirs, strict=True)
            if f != e
        ]
        return f"{name}: {'; '.join(other)}"
    times = (extra or missing).total()
    what = "row not expected" if extra else "row missing"
    return f"{name}: {what}" + (f" ({times} times)" if times > 1 else "")


def _rows_of(form: RowHash, cells: dict[str, Counter[str | None]]) -> Counter[Row]:
    """The row that the cells of a key make; what does not come out as one value counts as a row
    that the log changes and the state lacks."""
    row: list[str | None] = []
    wrong: Row = ()
    for name in form.columns:
        values = {value: count for value, count in cells.get(name, Counter()).items() if count}
        if len(values) > 1 or any(count != 1 for count in values.values()):
            wrong = tuple(
                next((value for value, count in cells[n].items() if count < 0), None)
                for n in form.columns
            )
        row.append(next(iter(values), None))
    if wrong:
        return Counter({wrong: -1})
    there = any(count for values in cells.values() for count in values.values())
    return Counter({tuple(row): 1} if there else {})
