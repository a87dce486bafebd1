"""Many units of recovery, as columns: sets of them, and what is known of each.

As Python objects a set or dictionary of them takes a hundred bytes or more for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from replay.arrays import Index, Mask, Records, take_rows
from replay.changes.envelope import Envelope, as_bytes, compare, opaque
from replay.changes.position import (
    POSITION,
    UNIT,
    Position,
    UnitId,
    UnitPosition,
    unit_positions,
)

#: Units as values that NumPy compares.
_SORTED = np.dtype(f"S{UNIT.itemsize}")
#: The columns of a table of units: units (rising, each once), and what is known of each.
Columns = tuple[npt.NDArray[Any], ...]
Value = TypeVar("Value")


def unit_column(units: Iterable[UnitId]) -> Records:
    """Units as a column (:data:`replay.changes.position.UNIT`)."""
    if isinstance(units, UnitSet):
        return units.column()
    if isinstance(units, UnitTable):
        return units.units().column()
    return np.frombuffer(b"".join(units), UNIT)


def unit_texts(units: Records) -> list[str]:
    """Units (:data:`replay.changes.position.UNIT`) as messages have them."""
    return [str(UnitId(unit.tobytes())) for unit in np.ascontiguousarray(units).view("V12")]


def as_sorted(units: Records) -> npt.NDArray[np.bytes_]:
    """Units (:data:`replay.changes.position.UNIT`) as values that NumPy compares."""
    return np.ascontiguousarray(units).view(_SORTED).reshape(-1)


def _found(known: npt.NDArray[np.bytes_], wanted: npt.NDArray[np.bytes_]) -> tuple[Index, Mask]:
    """(places of what is wanted in what is known, whether it is there)."""
    if not len(known):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return place, np.asarray(known[place] == wanted)


def _place(known: npt.NDArray[np.bytes_], unit: object) -> int:
    """The place of a unit; -1 where it is not there, or is none."""
    if not isinstance(unit, bytes) or len(unit) != UNIT.itemsize:
        return -1
    wanted = np.frombuffer(unit, _SORTED)
    place = int(np.searchsorted(known, wanted)[0])
    return place if place < len(known) and known[place] == wanted[0] else -1


class UnitSet(Set[UnitId]):
    """A set of units, in the order of their bytes; 12 bytes for each."""

    def __init__(self, units: Iterable[UnitId] = ()) -> None:
        self._sorted = np.unique(as_sorted(unit_column(units)))

    @classmethod
    def of(cls, units: Records) -> UnitSet:
        """That of a column (:data:`replay.changes.position.UNIT`), where one may stand twice."""
        made = cls()
        made._sorted = np.unique(as_sorted(units))
        return made

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> UnitSet:  # type: ignore[override]
        return cls(it)

    def column(self) -> Records:
        """The units (:data:`replay.changes.position.UNIT`), rising."""
        return self._sorted.view(UNIT)

    def mask(self, units: Records) -> Mask:
        """Which of some units (:data:`replay.changes.position.UNIT`) are in the set."""
        return _found(self._sorted, as_sorted(units))[1]

    def __contains__(self, unit: object) -> bool:
        return _place(self._sorted, unit) >= 0

    def __iter__(self) -> Iterator[UnitId]:
        return (UnitId(unit.tobytes()) for unit in self.column())

    def __len__(self) -> int:
        return len(self._sorted)

    def __or__(self, other: Iterable[Any]) -> UnitSet:
        return UnitSet.of(np.concatenate([self.column(), unit_column(other)]))

    __ror__ = __or__

    def __sub__(self, other: Iterable[Any]) -> UnitSet:
        return UnitSet.of(self.column()[~_as_set(other).mask(self.column())])

    def __rsub__(self, other: Iterable[Any]) -> UnitSet:
        return _as_set(other) - self

    def __and__(self, other: Iterable[Any]) -> UnitSet:
        return UnitSet.of(self.column()[_as_set(other).mask(self.column())])

    __rand__ = __and__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Set):
            return NotImplemented
        return len(self) == len(other) and np.array_equal(self._sorted, _as_set(other)._sorted)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"UnitSet({len(self)})"


def _as_set(units: Iterable[UnitId]) -> UnitSet:
    return units if isinstance(units, UnitSet) else UnitSet(units)


class UnitTable(Mapping[UnitId, Value]):
    """What is known of units, in columns beside these (where there are none: only which units).
    What is put last counts. The order is that of the bytes of units."""

    #: Dtypes of the columns beside the units.
    DTYPES: tuple[npt.DTypeLike, ...] = ()

    def __init__(self) -> None:
        # each rising; later ones count, and are less than half as long as the one before
        self._pieces: list[Columns] = []

    def put(self, units: Records, *values: npt.NDArray[Any]) -> None:
        """Put what is known of some units (:data:`replay.changes.position.UNIT`), of which one may
        stand several times."""
        if not len(units):
            return
        known = as_sorted(units)[::-1]
        found, first = np.unique(known, return_index=True)
        rows = len(known) - 1 - first
        self._put((found, *(take_rows(column, rows) for column in values)))

    def _put(self, piece: Columns) -> None:
        self._pieces.append(piece)
        while len(self._pieces) > 1 and 2 * len(self._pieces[-1][0]) >= len(self._pieces[-2][0]):
            later, earlier = self._pieces.pop(), self._pieces.pop()
            self._pieces.append(_merged(earlier, later))

    def columns(self) -> Columns:
        """The units (as :func:`as_sorted` has them), rising, and what is known of them."""
        if not self._pieces:
            empty = (np.zeros(0, dtype) for dtype in self.DTYPES)
            return (np.zeros(0, _SORTED), *empty)
        while len(self._pieces) > 1:
            later, earlier = self._pieces.pop(), self._pieces.pop()
            self._pieces.append(_merged(earlier, later))
        return self._pieces[0]

    def units(self) -> UnitSet:
        """The units."""
        made = UnitSet()
        made._sorted = self.columns()[0]
        return made

    def _value(self, row: int) -> Value:
        raise NotImplementedError

    def _row(self, unit: object) -> int:
        """The row of a unit; -1 where it is not there."""
        return _place(self.columns()[0], unit)

    def rows_of(self, units: Records) -> tuple[Index, Mask]:
        """(rows of some units, whether they are there)."""
        return _found(self.columns()[0], as_sorted(units))

    def __getitem__(self, unit: UnitId) -> Value:
        row = self._row(unit)
        if row < 0:
            raise KeyError(unit)
        return self._value(row)

    def __contains__(self, unit: object) -> bool:
        return self._row(unit) >= 0

    def __iter__(self) -> Iterator[UnitId]:
        return iter(self.units())

    def __len__(self) -> int:
        return len(self.columns()[0])

    def __bool__(self) -> bool:
        return any(len(piece[0]) for piece in self._pieces)


def _merged(earlier: Columns, later: Columns) -> Columns:
    """Two pieces as one; of a unit that is in both, what the later one says."""
    kept = np.flatnonzero(~_found(later[0], earlier[0])[1])
    both = [
        np.concatenate([take_rows(one, kept), other])
        for one, other in zip(earlier, later, strict=True)
    ]
    rising = np.argsort(both[0], kind="stable")
    return tuple(take_rows(column, rising) for column in both)


class UnitCommits(UnitTable[Position]):
    """The commit position of each of some units; 22 bytes for each."""

    DTYPES = (POSITION,)

    def _value(self, row: int) -> Position:
        return Position(self.columns()[1][row].tobytes())

    def commits(self, units: UnitSet | None = None) -> Records:
        """The commit positions (:data:`replay.changes.position.POSITION`) of those of ``units``
        that are here (None: of all)."""
        if units is None:
            return self.columns()[1]
        rows, there = self.rows_of(units.column())
        return self.columns()[1][rows[there]]


class UnitRows(UnitTable[np.void]):
    """A record of one dtype about each of some units."""

    def _value(self, row: int) -> np.void:
        record: np.void = self.columns()[1][row]
        return record


@dataclass(frozen=True)
class AppliedUnits:
    """Units that were taken before, though they are in the log: those up to ``position`` but for
    the ``pending`` ones; or ``every`` one."""

    position: UnitPosition | None = None
    pending: Set[UnitId] = frozenset()
    every: bool = False

    def mask(self, commit: Records, unit: Records) -> Mask:
        """Which units are (columns of dtypes POSITION and UNIT)."""
        there = np.full(len(commit), self.every)
        if self.position is not None:
            there |= compare(as_bytes(unit_positions(commit, unit)), self.position) <= 0
            if self.pending:
                rows = np.flatnonzero(there)
                there[rows[np.isin(unit[rows], unit_column(self.pending))]] = False
        return there

    def covers(self, envelope: Envelope) -> Mask:
        """Which records are of such units."""
        return self.mask(opaque(envelope.commit()), opaque(envelope.unit()))
