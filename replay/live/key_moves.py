"""Rows whose keys change, where a part of a log's changes is expected. A row that moves takes
values along that its images do not tell: what was left out may have changed them. So what is known
of a row is laid to the key that it has in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from replay.arrays import Hashes, Index, Mask
from replay.decoding.hashes import mixed
from replay.live.differences import RowHash, SignedRows

#: A unit: commit position, URID (hexadecimal), member; and where in it a change stands.
Unit = tuple[str, str, int]
Place = tuple[str, str, int, int]
#: In place of a key's hash, where there is no row.
NO_KEY = np.uint64(0)


@dataclass(eq=False)
class _Row:
    """One row through time: its number, the hashes of its key (None: it is gone) and of its image,
    and the unit that last brought it to its key (None: it was there before the log)."""

    number: int
    key: int | None
    image: int | None = None
    unit: Unit | None = None

    @property
    def home(self) -> int:
        """The key in the end; of a row that is gone, something that no key is."""
        if self.key is not None:
            return self.key
        return int(mixed(np.array([self.number], np.uint64))[0])


@dataclass(frozen=True)
class KeyedChanges:
    """Changes of rows: the hashes of their keys and images before and after (0: there is none), and
    what tells the places of some of them."""

    keys: tuple[Hashes, Hashes]
    images: tuple[Hashes, Hashes]
    places: Callable[[Index], Sequence[Place]]

    @property
    def moving(self) -> Mask:
        """Which changes give a row another key."""
        before, after = self.keys
        return np.asarray((before != after) & (before != NO_KEY) & (after != NO_KEY))

    def touching(self, keys: Hashes) -> Index:
        """The changes of rows under these keys."""
        return np.flatnonzero(np.isin(self.keys[0], keys) | np.isin(self.keys[1], keys))


@dataclass(frozen=True)
class KeyMoves:
    """Where rows are in the end. ``keys`` (sorted) are those that some row moves from or to,
    ``homes`` where the row is in the end that had one before the log; ``changed`` says the same of
    each change of a row under these keys."""

    keys: Hashes
    homes: Hashes
    changed: Mapping[Place, int]

    def of_initial(self, rows: SignedRows, form: RowHash) -> SignedRows:
        """Rows that were there before the log, at home."""
        home = form.key_of(rows)
        at = np.minimum(np.searchsorted(self.keys, home), len(self.keys) - 1)
        return replace(rows, home=np.where(self.keys[at] == home, self.homes[at], home))

    def of_changes(self, changes: KeyedChanges) -> Hashes:
        """Where the rows of changes are in the end."""
        before, after = changes.keys
        homes = np.where(before != NO_KEY, before, after)
        chosen = changes.touching(self.keys)
        homes[chosen] = [self.changed[place] for place in changes.places(chosen)]
        return homes


def key_moves(parts: Callable[[], Iterator[KeyedChanges]]) -> KeyMoves | None:
    """Where rows are in the end; None where none moves. ``parts`` gives the changes, each time from
    their beginning and in any order."""
    moving = [
        np.concatenate([keys[changes.moving] for keys in changes.keys]) for changes in parts()
    ]
    keys = np.unique(np.concatenate([np.zeros(0, np.uint64), *moving]))
    if not len(keys):
        return None
    events = [
        (place, *event)
        for changes in parts()
        for chosen in [changes.touching(keys)]
        for place, *event in zip(
            changes.places(chosen),
            *(column[chosen].tolist() for column in (*changes.keys, *changes.images)),
            strict=True,
        )
    ]
    rows = _Rows()
    changed = {
        place: rows.follow(place[:3], before, after, ones, others)
        for place, before, after, ones, others in sorted(events)
    }
    initial = [rows.initial(key) for key in keys.tolist()]
    return KeyMoves(
        keys,
        np.array([row.home for row in initial], np.uint64),
        {place: row.home for place, row in changed.items()},
    )


class _Rows:
    """The rows under keys that rows move from or to, as the changes go by."""

    def __init__(self) -> None:
        self._count = 0
        self._there: dict[int, list[_Row]] = {}
        self._first: dict[int, _Row] = {}

    def initial(self, key: int) -> _Row:
        """The row that had this key before the log."""
        if key not in self._first:
            self._first[key] = self._row(key)
        return self._first[key]

    def follow(self, unit: Unit, before: int, after: int, image: int, new_image: int) -> _Row:
        """The row that a change is of."""
        row = self._found(before, image, unit) if before else self._row(None)
        row.image = new_image
        if before != after:
            if before:
                self._at(before).remove(row)
            row.key = after or None
            row.unit = unit
            if after:
                self._at(after).append(row)
        return row

    def _row(self, key: int | None) -> _Row:
        self._count += 1
        return _Row(self._count, key)

    def _at(self, key: int) -> list[_Row]:
        if key not in self._there:
            self._there[key] = [self.initial(key)]
        return self._there[key]

    def _found(self, key: int, image: int, unit: Unit) -> _Row:
        """The row under a key. Between two changes of a unit a key may stand twice; else whoever
        came last is there."""
        rows = self._at(key)
        if not rows:
            rows.append(self._row(key))
        for row in reversed(rows):
            if row.unit == unit and row.image == image:
                return row
        stayed = [row for row in rows if row.unit != unit]
        return stayed[-1] if stayed else rows[-1]
