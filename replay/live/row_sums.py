"""Sums of hashes that tell two multisets of rows apart, whatever the order of their rows.

A row counts with the hash of its values, an added row with +1 and a removed one with -1, modulo
2**64, twice with different seeds. So the rows that a log leaves behind need not be made: the sum of
a state, of the after images and (taken away) of the before images is that of the rows in the end.
Where a log's changes are only a part of all that happened to a row, a row is its cells, each with
its key, and an update counts with the cells that it changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
