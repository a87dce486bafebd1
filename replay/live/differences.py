"""Comparing the rows of a table that should be there with those that are, in bounded memory: by
bucket, then by key where buckets differ, then value by value for the rows that are named.

Sums of hashes tell two multisets of rows apart, whatever the order of their rows. A row counts with
the hash of its values, an added row with +1 and a removed one with -1, modulo 2**64, twice with
different seeds. So the rows that a log leaves behind need not be made: the sum of a state, of the
after images and (taken away) of the before images is that of the rows in the end. Where a log's
changes are only a part of all that happened to a row, a row is its cells, each with its key, and an
update counts with the cells that it changed.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa

from replay.arrays import Hashes, Index, Mask
from replay.decoding.hashes import hash_texts, mixed, name_hash

#: Groups that wait to be added up.
_WAITING = 1 << 20


@dataclass(frozen=True)
class SignedRows:
    """Rows that are there (``sign`` 1) or are taken away (-1): comparable texts by column.

    ``cells`` says of which rows a column counts, None: of all; only where rows are cells."""

    columns: Mapping[str, pa.Array]
    count: int
    sign: int = 1
    cells: Mapping[str, Mask] | None = None

    def take(self, rows: Index) -> SignedRows:
        """Some of the rows."""
        chosen = pa.array(rows)
        cells = None if self.cells is None else {n: m[rows] for n, m in self.cells.items()}
        columns = {name: values.take(chosen) for name, values in self.columns.items()}
        return SignedRows(columns, len(rows), self.sign, cells)


@dataclass(frozen=True)
class HashedRows:
    """The hash of each row's key, and both words that it adds to a sum."""

    key: Hashes
    words: tuple[Hashes, Hashes]


@dataclass(frozen=True)
class RowHash:
    """How rows are hashed: their ``columns``, those of the ``key`` among them (none: a row is its
    own key), and whether a row is its ``cells``."""

    columns: tuple[str, ...]
    key: tuple[str, ...] = ()
    cells: bool = False

    def of(self, rows: SignedRows) -> HashedRows:
        """The hashes of rows."""
        hashes = [
            {name: hash_texts(rows.columns[name], seed) for name in self.columns} for seed in (0, 1)
        ]
        words = [self._row(hashes[seed], self.columns) for seed in (0, 1)]
        key = self._row(hashes[0], self.key) if self.key else words[0]
        if self.cells:
            words = [self._cells(hashes[seed], key, rows.cells) for seed in (0, 1)]
        if rows.sign < 0:
            words = [np.uint64(0) - word for word in words]
        return HashedRows(key, (words[0], words[1]))

    @cached_property
    def _salts(self) -> dict[str, np.uint64]:
        """What tells columns apart, whatever their order."""
        return {name: mixed(np.array([name_hash(name)]))[0] for name in self.columns}

    def _row(self, hashes: Mapping[str, Hashes], names: Sequence[str]) -> Hashes:
        total = np.zeros(len(hashes[names[0]]), np.uint64)
        for name in names:
            total += mixed(hashes[name] ^ self._salts[name])
        return mixed(total)

    def _cells(
        self, hashes: Mapping[str, Hashes], key: Hashes, cells: Mapping[str, Mask] | None
    ) -> Hashes:
        total = np.zeros(len(key), np.uint64)
        home = mixed(key)
        for name in self.columns:
            cell = mixed(mixed(hashes[name] ^ self._salts[name]) ^ home)
            total += cell if cells is None else np.where(cells[name], cell, np.uint64(0))
        return total


@dataclass
class Total:
    """The number of rows of a multiset, and both sums."""

    count: int = 0
    sums: tuple[int, int] = (0, 0)

    def add(self, rows: SignedRows, hashed: HashedRows) -> None:
        """Count rows in."""
        one, other = (
            (before + int(words.sum(dtype=np.uint64))) % (1 << 64)
            for before, words in zip(self.sums, hashed.words, strict=True)
        )
        self.count += rows.sign * rows.count
        self.sums = (one, other)

    def digest(self, named: str) -> str:
        """The digest of the rows of what is ``named`` (a table with its columns)."""
        text = f"{named}\n{self.count}\n{self.sums[0]:016x}{self.sums[1]:016x}\n"
        return hashlib.sha256(text.encode()).hexdigest()


class BucketSums:
    """What is expected less what was found, by bucket of keys."""

    def __init__(self, buckets: int) -> None:
        self.buckets = buckets
        self.rows = np.zeros(buckets, np.int64)
        self._net = np.zeros((3, buckets), np.uint64)

    def add(self, rows: SignedRows, hashed: HashedRows, expected: bool) -> None:
        """Count rows in; ``expected``, or found in the target."""
        bucket = bucket_of(hashed.key, self.buckets)
        self.rows += np.bincount(bucket, minlength=self.buckets)
        ones = np.full(rows.count, np.int64(rows.sign)).view(np.uint64)
        for total, words in zip(self._net, (ones, *hashed.words), strict=True):
            np.add.at(total, bucket, words if expected else np.uint64(0) - words)

    @property
    def differing(self) -> Index:
        """The buckets in which something differs."""
        return np.flatnonzero(self._net.any(axis=0))


def bucket_of(key: Hashes, buckets: int) -> Index:
    """The bucket of each key."""
    return (key % np.uint64(buckets)).astype(np.int64)


@dataclass
class KeySums:
    """As :class:`BucketSums`, by key: for the keys of some buckets, whose rows fit into memory."""

    _held: list[Hashes] = field(default_factory=list)
    _waiting: int = 0

    def add(self, rows: SignedRows, hashed: HashedRows, chosen: Index, expected: bool) -> None:
        """Count the ``chosen`` rows in."""
        if not len(chosen):
            return
        ones = np.full(len(chosen), np.int64(rows.sign)).view(np.uint64)
        words = np.stack([ones, *(words[chosen] for words in hashed.words)])
        part = np.empty((4, len(chosen)), np.uint64)
        part[0] = hashed.key[chosen]
        part[1:] = words if expected else np.uint64(0) - words
        self._held.append(part)
        self._waiting += len(chosen)
        if self._waiting > _WAITING:
            self._held, self._waiting = [self._settled()], 0

    def differing(self) -> tuple[Hashes, Index]:
        """(the keys' hashes, the number of rows too few or too many) of what differs."""
        if not self._held:
            return np.zeros(0, np.uint64), np.zeros(0, np.int64)
        net = self._settled()
        wrong = net[:, net[1:].any(axis=0)]
        return wrong[0], np.abs(wrong[1].view(np.int64))

    def _settled(self) -> Hashes:
        parts = np.concatenate(self._held, axis=1)
        order = np.argsort(parts[0], kind="stable")
        parts = np.ascontiguousarray(parts[:, order])
        starts = np.flatnonzero(np.concatenate([[True], parts[0][1:] != parts[0][:-1]]))
        sums = [np.add.reduceat(row, starts) for row in parts[1:]]
        return np.stack([parts[0][starts], *sums])


def totals_of(rows: Iterable[SignedRows], form: RowHash) -> Total:
    """The total of rows."""
    total = Total()
    for part in rows:
        total.add(part, form.of(part))
    return total


def in_ranges(buckets: Index, rows: Index, most: int) -> Iterator[Index]:
    """Buckets in groups of at most about ``most`` rows; ``rows`` by bucket."""
    held: list[int] = []
    count = 0
    for bucket in buckets.tolist():
        if held and count + int(rows[bucket]) > most:
            yield np.array(held, np.int64)
            held, count = [], 0
        held.append(bucket)
        count += int(rows[bucket])
    if held:
        yield np.array(held, np.int64)


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
