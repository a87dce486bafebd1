"""Keys compared as they lie in the images, where that says as much as their values: most keys are
whole numbers at a fixed place, and most units touch none of them twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Hashes, Index, Mask
from replay.changes.catalog import TableVersion
from replay.changes.envelope import ROW_CHANGES, Change, distinct
from replay.decoding.hashes import mixed
from replay.decoding.image_layouts import layouts
from replay.decoding.image_values import unusable
from replay.dependencies.key_spaces import KeySpaces
from replay.dependencies.write_sets import ChangeBatch
from replay.logs import Images, LogFile
from sqlgen.schema import SqlType

_INTEGERS = (SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT)
_ODD = np.uint64(0x9E37_79B9_7F4A_7C15)


class KeyTouches(NamedTuple):
    """That changes touch keys: hashes of the keys, the changes' numbers, and whether they take
    them."""

    key: Hashes
    change: Index
    takes: Mask

    @classmethod
    def of(cls, key: Hashes, span: Index, change: Index, takes: Mask | bool) -> KeyTouches:
        """Those of changes of stretches ``span[change]``: in another one a key is another one."""
        takes = np.broadcast_to(takes, change.shape)
        return cls(key ^ mixed(span[change].astype(np.uint64)), change, takes)

    def taken_again(self) -> Index:
        """The changes that touch a key that the touch before them takes."""
        ordered = np.sort(self.key)
        again = ordered[1:][ordered[1:] == ordered[:-1]]
        rows = np.flatnonzero(np.isin(self.key, again)) if len(again) else np.zeros(0, np.int64)
        key, change, takes = (column[rows] for column in self)
        sequence = np.lexsort([change, key])
        same = key[sequence][1:] == key[sequence][:-1]
        later: Index = change[sequence][1:][same & takes[sequence][:-1]]
        return later


@dataclass(frozen=True)
class _Key:
    """A key of a table version: its space, whether it is what tells rows apart, and (place in the
    image, bytes) of its columns."""

    space: int
    of_row: bool
    columns: tuple[tuple[int, int], ...]


class RawKeys:
    """The keys of tables that have one generation in the log, and keys of integers that nothing of
    varying length or state stands before. Of those, equal values are equal bytes."""

    def __init__(self, log: LogFile, spaces: KeySpaces) -> None:
        self.log, self.spaces = log, spaces
        self._known: dict[int, Sequence[_Key] | None] = {}

    def met_spans(self, batch: ChangeBatch, rows: Index, span: Index) -> Index | None:
        """The stretches ``span[change]`` in which a key that one of the changes ``rows`` takes is
        touched again by a later one, and perhaps others: hashes may collide. None where the bytes
        do not tell.

        ``rows``, rising, are inserts, deletes and updates of keys.
        """
        touches = self.touches(batch, rows, span)
        return None if touches is None else np.unique(span[touches.taken_again()])

    def touches(self, batch: ChangeBatch, rows: Index, span: Index) -> KeyTouches | None:
        """The keys that changes ``rows`` of stretches ``span[change]`` touch. None where the bytes
        do not tell."""
        group = batch.version[rows].astype(np.int64) * 16 + batch.change[rows]
        found = [KeyTouches.of(np.zeros(0, np.uint64), span, rows[:0], False)]
        for value in distinct(group).tolist():
            kind, keys = Change(value % 16), self._keys(value // 16)
            if keys is None:
                return None
            some = rows[group == value]
            for part, image in _known(batch, value // 16, kind, some) or (
                (some[part], image)
                for part, image in self.log.images(
                    batch.records, batch.head[some], batch.weight[some], kind
                )
            ):
                touches = _touches(image, keys, kind)
                if touches is None:
                    return None
                found += [
                    KeyTouches.of(key, span, part[rows_of_key], takes)
                    for key, rows_of_key, takes in touches
                ]
        return KeyTouches(*(np.concatenate(column) for column in zip(*found, strict=True)))

    def alone(self, batch: ChangeBatch) -> Mask | None:
        """Which of a batch's changes of rows touch no key that another one touches; updates that
        change a key are not among them. None where the bytes do not tell."""
        alone = np.ones(len(batch.head), bool)
        touched, changes = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
        group = batch.version.astype(np.int64) * 16 + batch.change
        for value in distinct(group).tolist():
            kind, keys = Change(value % 16), self._all_keys(value // 16)
            if keys is None or kind not in ROW_CHANGES:
                return None
            some = np.flatnonzero(group == value)
            for part, image in self.log.images(
                batch.records, batch.head[some], batch.weight[some], kind
            ):
                touches = _touches(image, keys, kind)
                if touches is None:
                    return None
                rows = some[part]
                touched += [key for key, _, _ in touches]
                changes += [rows[rows_of_key] for _, rows_of_key, _ in touches]
                alone[rows[_moved(image, keys)]] = False
        key, change = np.concatenate(touched), np.concatenate(changes)
        order = np.argsort(key)
        met = np.flatnonzero(key[order][1:] == key[order][:-1])
        alone[change[order[np.concatenate([met, met + 1])]]] = False
        return alone

    def _keys(self, version: int) -> Sequence[_Key] | None:
        """The keys of a table version, of which each has a place in its images."""
        if version not in self._known:
            self._known[version] = self._found(version)
        return self._known[version]

    def _all_keys(self, version: int) -> Sequence[_Key] | None:
        """The keys of a table version that tells rows apart by one and refers to no other table;
        None of another one, and where the bytes do not tell."""
        if any(use.how == "child" for use in self.spaces.uses[version]):
            return None
        keys = self._keys(version)
        return keys if keys is not None and any(key.of_row for key in keys) else None

    def _found(self, version: int) -> Sequence[_Key] | None:
        if self.spaces.generations(version) > 1:
            return None
        table, reading = self.log.catalog.versions[version], self.log.image_reading(version)
        if reading is None:
            return None
        places = _fixed_integers(table, reading)
        found = []
        for use in self.spaces.uses[version]:
            if use.how == "child" or not use.columns:
                continue
            if not set(use.columns) <= set(places):
                return None
            found.append(
                _Key(use.space, use.how == "row", tuple(places[name] for name in use.in_order))
            )
        return found


def _known(
    batch: ChangeBatch, version: int, kind: Change, rows: Index
) -> list[tuple[Index, Images]]:
    """The images of changes ``rows`` of a batch, in parts, as far as they are known of all; empty
    where they are not."""
    parts, left = [], len(rows)
    for changes, image in batch.images.get((version, kind), ()):
        if len(changes) == len(rows) and (changes == rows).all():
            return [(rows, image)]
        place = np.searchsorted(changes, rows)
        there = np.take(changes, place, mode="clip") == rows
        parts.append((rows[there], image.take(place[there])))
        left -= len(parts[-1][0])
    return [] if left else parts


def _fixed_integers(table: TableVersion, reading: int) -> dict[str, tuple[int, int]]:
    """(place in the image, bytes) of integers that have one, by name; those that may be null are
    left out."""
    places, at = {}, 0
    cells = list(layouts(table.format))[reading]
    for cell, column in zip(cells, table.format.columns, strict=True):
        if cell.variable:
            break
        whole = column.column.type in _INTEGERS and not column.raw
        if whole and not cell.nullable and not unusable(column, cell.width):
            places[column.column.name] = at, cell.width
        at += cell.nullable + cell.width
    return places


def _touches(
    image: Images, keys: Sequence[_Key], kind: Change
) -> list[tuple[Hashes, Index, bool]] | None:
    """(hashes of keys, the rows they are of, whether these take them) of some changes; None where
    an image is damaged."""
    sides = [bounds for bounds in (image.before, image.after) if bounds is not None]
    needed = max((at + size for key in keys for at, size in key.columns), default=0)
    if image.bad.any() or any(
        (start < 0).any() or (end - start < needed).any() or (end > len(image.buffer)).any()
        for start, end in sides
    ):
        return None
    touches = []
    every = np.arange(len(image.bad))
    for key in keys:
        hashes = [_hashed(image, start, key) for start, _ in sides]
        if kind is not Change.UPDATE:
            touches.append((hashes[0], every, kind is Change.INSERT))
            continue
        before, after = hashes
        moved = np.flatnonzero(before != after)
        held = every if key.of_row else moved
        touches += [(before[held], held, False), (after[moved], moved, True)]
    return touches


def _moved(image: Images, keys: Sequence[_Key]) -> Mask:
    """Which changes change a key; the images are as :func:`_touches` takes them."""
    moved = np.zeros(len(image.bad), bool)
    if image.before is None or image.after is None:
        return moved
    for at, size in {column for key in keys for column in key.columns}:
        before, after = (
            _words(image.buffer, start, at, size) for start in (image.before[0], image.after[0])
        )
        moved |= before != after
    return moved


def _words(buffer: Bytes, start: Index, at: int, size: int) -> npt.NDArray[Any]:
    """The words of ``size`` bytes that lie ``at`` so many bytes from each ``start``."""
    words: npt.NDArray[Any] = np.ndarray((len(buffer) - size + 1,), f"u{size}", buffer, 0, (1,))
    return words[start + at]


def _hashed(image: Images, start: Index, key: _Key) -> Hashes:
    hashed: Hashes = np.full(len(start), mixed(np.array([key.space], np.uint64))[0])
    for at, size in key.columns:
        hashed = hashed * _ODD + _words(image.buffer, start, at, size)
    return hashed
