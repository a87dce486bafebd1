"""Many units of recovery, as columns: sets of them, what is known of each, and why some stay out.

As Python objects a set or dictionary of them takes a hundred bytes or more for each."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence, Set
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
from replay.errors import CODES

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


# -- what is decided about units
# -------------------------------------------------------------------------------------------------

#: Units that are put into columns together.
_TOGETHER = 4096
_CODES = ("", *CODES)
_NUMBER = {code: number for number, code in enumerate(_CODES)}

#: What a unit is of which a record is damaged.
DAMAGED = "damaged"


@dataclass(frozen=True, order=True, slots=True)
class Verdict:
    """Why a unit of recovery stays out: ``code`` as in :data:`replay.errors.CODES` ('' where the
    findings of its records have one each), and ``text``."""

    code: str
    text: str

    def __str__(self) -> str:
        return f"{self.code} {self.text}" if self.code else self.text


class Verdicts(UnitTable[Verdict]):
    """Units, each with why it stays out, in the order of their bytes: 22 bytes for each, and its
    text, which is kept once where many have it. What is set last counts."""

    DTYPES = ("<u2", "<i8")

    def __init__(self, verdicts: Mapping[UnitId, Verdict] | None = None) -> None:
        super().__init__()
        self._texts: list[str] = []
        self._numbers: dict[str, int] = {}
        self._new: dict[UnitId, Verdict] = {}
        if verdicts:
            self.update(verdicts)

    def _number(self, text: str) -> int:
        number = self._numbers.setdefault(text, len(self._texts))
        if number == len(self._texts):
            self._texts.append(text)
        return number

    def __setitem__(self, unit: UnitId, verdict: Verdict) -> None:
        self._new[unit] = verdict
        if len(self._new) >= _TOGETHER:
            self._settle()

    def _settle(self) -> None:
        if self._new:
            new, self._new = self._new, {}
            numbers = [(_NUMBER[one.code], self._number(one.text)) for one in new.values()]
            code, text = np.array(numbers, np.int64).T
            units = np.frombuffer(b"".join(new), "V12")
            self.put(units, code.astype("<u2"), np.ascontiguousarray(text))

    def set_all(self, units: Records, verdict: Verdict) -> None:
        """Set one verdict of many units (:data:`replay.changes.position.UNIT`)."""
        self._settle()
        code = np.full(len(units), _NUMBER[verdict.code], "<u2")
        text = self._number(verdict.text) if len(units) else 0
        self.put(units, code, np.full(len(units), text, "<i8"))

    def set_each(self, units: Records, code: str, texts: Sequence[str]) -> None:
        """Set verdicts of one code of some units, with a text of each."""
        self._settle()
        numbers = np.array([self._number(text) for text in texts], "<i8")
        self.put(units, np.full(len(units), _NUMBER[code], "<u2"), numbers)

    def setdefault(self, unit: UnitId, verdict: Verdict) -> None:
        """Set the verdict of a unit that has none."""
        if unit not in self:
            self[unit] = verdict

    def update(self, others: Mapping[UnitId, Verdict]) -> None:
        """Set the verdicts of others."""
        if not isinstance(others, Verdicts):
            for unit, verdict in others.items():
                self[unit] = verdict
            return
        self._settle()
        units, code, text = others.columns()
        known, place = np.unique(text, return_inverse=True)
        numbers = [self._number(others._texts[number]) for number in known.tolist()]
        own = np.array(numbers, "<i8")[place.reshape(-1)]
        self.put(units.view("V12"), code, own)

    def clear(self) -> None:
        """Forget all."""
        self._pieces, self._new, self._texts, self._numbers = [], {}, [], {}

    def columns(self) -> Columns:
        """As :meth:`replay.changes.units.UnitTable.columns`: the number of a code, and of a
        text."""
        self._settle()
        return super().columns()

    def only(self, kept: Mask) -> Verdicts:
        """Those of some rows; the texts are the same ones."""
        made = self._with_texts()
        units, code, text = self.columns()
        made.put(units[kept].view("V12"), code[kept], text[kept])
        return made

    def _with_texts(self) -> Verdicts:
        """None yet, with the same texts."""
        made = Verdicts()
        made._texts, made._numbers = list(self._texts), dict(self._numbers)
        return made

    def but(self, units: UnitSet) -> Verdicts:
        """Those of other units."""
        return self.only(~units.mask(self.units().column()))

    def with_own(self, others: Verdicts) -> Verdicts:
        """These and others, which count where both are."""
        made = self._with_texts()
        if self:
            made._put(self.columns())
        made.update(others)
        return made

    def of_code(self, code: str) -> Mask:
        """Which rows have a code."""
        return np.asarray(self.columns()[1] == _NUMBER[code])

    def without_texts(self) -> Verdicts:
        """The same with empty texts, for tasks."""
        made = Verdicts()
        units, code, _ = self.columns()
        if len(units):
            made.put(units.view("V12"), code, np.full(len(units), made._number(""), "<i8"))
        return made

    def said(self, rows: Index) -> list[str]:
        """The verdicts of some rows as ``str`` has them."""
        return [str(self._value(row)) for row in rows.tolist()]

    def described(self) -> Iterator[tuple[str, str]]:
        """(unit, verdict) as ``str`` has them, in the order of units."""
        units = self.units().column()
        for low in range(0, len(units), _TOGETHER):
            rows = np.arange(low, min(low + _TOGETHER, len(units)))
            yield from zip(unit_texts(units[rows]), self.said(rows), strict=True)

    def _value(self, row: int) -> Verdict:
        _, code, text = self.columns()
        return Verdict(_CODES[code[row]], self._texts[int(text[row])])

    def _row(self, unit: object) -> int:
        if self._new:
            self._settle()
        return super()._row(unit)

    def __bool__(self) -> bool:
        return bool(self._new) or super().__bool__()

    def items(self) -> ItemsView[UnitId, Verdict]:
        """As :meth:`rows`."""
        return _Items(self)

    def rows(self) -> Iterator[tuple[UnitId, Verdict]]:
        """(unit, verdict), in the order of units; the verdict is made when it is asked for."""
        units, code, text = self.columns()
        for low in range(0, len(units), _TOGETHER):
            some = slice(low, low + _TOGETHER)
            ids = units[some].view("V12")
            numbers, told = code[some].tolist(), text[some].tolist()
            for unit, number, place in zip(ids, numbers, told, strict=True):
                yield UnitId(unit.tobytes()), Verdict(_CODES[number], self._texts[place])


class _Items(ItemsView[UnitId, Verdict]):
    def __init__(self, verdicts: Verdicts) -> None:
        super().__init__(verdicts)
        self._verdicts = verdicts

    def __iter__(self) -> Iterator[tuple[UnitId, Verdict]]:
        return self._verdicts.rows()
