"""Whether rows of a unit of any size take each other's keys.

A long unit is written in pieces, and its changes are ordered piece by piece; that is right only
where no key is taken while it is held. Keys are looked at window by window and meet in parts by
their hashes, which wait on disk: memory is that of a window, a part, and a byte a change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from replay.arrays import Bytes, Hashes, Index, Mask, Records
from replay.changes.envelope import ROW_CHANGES, Change
from replay.decoding.hashes import mixed
from replay.dependencies.constraint_order import ConstraintOrder, nulls_once, of_rows
from replay.dependencies.unique_order import crossed_units, met_spans
from replay.dependencies.write_sets import TOUCH, ChangeBatch, KeyRole, WriteSets
from replay.spill import PARTS, in_parts

#: The changes of a unit whose keys meet in a part, about, where the unit has no more than some
#: 30 million.
PART = 1 << 19

#: What of a touch says which keys meet.
_KEY = np.dtype([("key", "<u8"), ("change", "<i8"), ("role", "u1")])

#: The changes of a unit in windows, in log order; may be called again.
Windows = Callable[[], Iterator[ChangeBatch]]


def crosses(order: ConstraintOrder, windows: Windows) -> bool:
    """Whether the changes of one unit may need another order for their keys."""
    return _LongUnit(order, windows).crosses()


@dataclass(frozen=True)
class _Window:
    """Changes from number ``base`` of the unit on. ``span`` numbers the stretch of each, ``rows``
    are those of tables with keys, and ``group`` their stretches and tables in one."""

    batch: ChangeBatch
    base: int
    span: Index
    rows: Index
    group: Index


class _LongUnit:
    def __init__(self, order: ConstraintOrder, windows: Windows) -> None:
        self.order = order
        self._read = windows
        self.kind: Bytes = np.zeros(0, np.uint8)
        self.breaks: Index = np.zeros(0, np.int64)

    def crosses(self) -> bool:
        untold = self.order.untold
        if untold.late and any(len(untold.lacking(one.batch, one.rows)) for one in self._windows()):
            return True
        suspects = self._suspects()
        if not len(suspects):
            return False
        met = self._met(suspects)
        return bool(len(met)) and self._crossed(suspects, met)

    def _windows(self) -> Iterator[_Window]:
        """A stretch ends where a table is emptied or altered: nothing is moved over that."""
        base, last = 0, 0
        tables = int(self.order.table.max()) + 1
        for batch in self._read():
            row_change = np.isin(batch.change, ROW_CHANGES)
            span = last + np.cumsum(~row_change)
            version = np.maximum(batch.version, 0)
            rows = np.flatnonzero(row_change & (batch.version >= 0) & self.order.keyed[version])
            yield _Window(
                batch, base, span, rows, span[rows] * tables + self.order.table[version[rows]]
            )
            base, last = base + len(span), int(span[-1])

    def _suspects(self) -> Index:
        """The stretches and tables (:attr:`_Window.group`) in which a row is updated, or one is
        deleted after another one was inserted."""
        kinds, breaks = [self.kind], [self.breaks]
        first: dict[int, int] = {}
        suspects: set[int] = set()
        last = 0
        for window in self._windows():
            kinds.append(window.batch.change)
            breaks.append(np.flatnonzero(np.diff(window.span, prepend=last)) + window.base)
            last = int(window.span[-1])
            change = window.batch.change[window.rows]
            suspects.update(np.unique(window.group[change == Change.UPDATE]).tolist())
            for group, place in _first(window, change == Change.INSERT):
                first.setdefault(group, place)
            deletes = np.flatnonzero(change == Change.DELETE)[::-1]
            groups, at = np.unique(window.group[deletes], return_index=True)
            places = window.base + window.rows[deletes[at]]
            suspects.update(
                group
                for group, place in zip(groups.tolist(), places.tolist(), strict=True)
                if first.get(group, place) < place
            )
        self.kind, self.breaks = np.concatenate(kinds), np.concatenate(breaks)
        return np.array(sorted(suspects), np.int64)

    def _span(self, change: Index) -> Index:
        return np.searchsorted(self.breaks, change, side="right")

    def _by_key(self, touches: Iterator[Records], dtype: np.dtype[Any]) -> Iterator[Records]:
        """Touches in parts, those of one ``key`` in the same part."""
        count = min(len(self.kind) // PART + 1, PARTS)

        def part_of(some: Records) -> Index:
            keys: Hashes = mixed(np.ascontiguousarray(some["key"]))
            return (keys % np.uint64(count)).astype(np.int64)

        return in_parts(touches, part_of, count, dtype)

    def _met(self, suspects: Index) -> Index:
        """The stretches in which a key that one change takes is touched again by a later one."""

        def of_windows() -> Iterator[Records]:
            for window in self._windows():
                rows = window.rows[np.isin(window.group, suspects)]
                touches = self._writes(window, rows, with_images=False)
                keys = np.zeros(len(touches), _KEY)
                for name in _KEY.names or ():
                    keys[name] = touches[name]
                yield keys

        met = [np.zeros(0, np.int64)]
        for held in self._by_key(of_windows(), _KEY):
            keys, _, span = self._compact(held)
            met.append(met_spans(keys, span))
        return np.unique(np.concatenate(met))

    def _writes(self, window: _Window, rows: Index, with_images: bool) -> Records:
        """The keys that changes ``rows`` take or give up."""
        order = self.order
        write_sets = WriteSets(order.log, order.spaces, with_images=with_images, with_nulls=True)
        touches = of_rows(write_sets.touches(window.batch.part(rows)), window.base + rows)
        return touches[touches["role"] <= KeyRole.DESTROY]

    def _crossed(self, suspects: Index, met: Index) -> bool:
        """Whether a key may be taken while it is held, in any of some stretches."""
        order = self.order

        def of_windows() -> Iterator[Records]:
            for window in self._windows():
                wanted = np.isin(window.group, suspects) & np.isin(window.span[window.rows], met)
                yield self._writes(window, window.rows[wanted], with_images=True)

        for held in self._by_key(of_windows(), TOUCH):
            touches, kind, span = self._compact(held)
            touches = nulls_once(touches, span, len(order.spaces.spaces))
            if len(crossed_units(touches, span, kind, order.row_spaces)):
                return True
        return False

    def _compact(self, touches: Records) -> tuple[Records, Bytes, Index]:
        """(touches, kind, span): their changes, and those beside them, numbered from 0."""
        change = np.ascontiguousarray(touches["change"])
        near = np.unique(np.concatenate([change - 1, change, change + 1]))
        near = near[(near >= 0) & (near < len(self.kind))]
        touches = touches.copy()
        touches["change"] = np.searchsorted(near, change)
        return touches, self.kind[near], self._span(near)


def _first(window: _Window, chosen: Mask) -> Iterator[tuple[int, int]]:
    """(group, number of the first of the chosen changes in it)."""
    groups, at = np.unique(window.group[chosen], return_index=True)
    places = window.base + window.rows[chosen][at]
    return zip(groups.tolist(), places.tolist(), strict=True)
