"""Why units of recovery stay out: of millions of them too, for a reason may be long."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from replay.arrays import Index, Mask, Records
from replay.changes.position import UnitId
from replay.changes.units import Columns, UnitSet, UnitTable, unit_texts
from replay.errors import CODES

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
            octets = units[some].view("V12")
            numbers, told = code[some].tolist(), text[some].tolist()
            for unit, number, place in zip(octets, numbers, told, strict=True):
                yield UnitId(unit.tobytes()), Verdict(_CODES[number], self._texts[place])


class _Items(ItemsView[UnitId, Verdict]):
    def __init__(self, verdicts: Verdicts) -> None:
        super().__init__(verdicts)
        self._verdicts = verdicts

    def __iter__(self) -> Iterator[tuple[UnitId, Verdict]]:
        return self._verdicts.rows()
