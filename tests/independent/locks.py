"""Units that run side by side under locks: what one of them holds, the others leave alone."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

from tests.independent.tables import Column, Place, Row, Table, new_row
from tests.independent.values import Value


class Holder(Protocol):
    """A unit that is not ended, with what it holds locks on: keys and places of tables by name."""

    keys: set[tuple[str, Row]]
    places: set[tuple[str, Place]]


class Locked(ABC):
    """The part of a history that draws rows; ``open`` are its units that are not ended."""

    pick: random.Random
    open: Sequence[Holder]

    @abstractmethod
    def _value(self, table: Table, number: int, column: Column) -> Value:
        """A value of the column with this number."""

    def _row(
        self,
        table: Table,
        unit: Holder | None,
        old: Row | None = None,
        rate: float = 1,
        rekey: bool = True,
    ) -> Row | None:
        """A row that may be there beside the others (:func:`tests.independent.tables.new_row`)."""

        def value(number: int, column: Column) -> Value:
            return self._value(table, number, column)

        def is_free(row: Row) -> bool:
            return not self._others_hold(unit, key=(table.name, table.key_of(row)))

        return new_row(self.pick, table, value, is_free, old, rate, rekey)

    def _others_hold(
        self,
        unit: Holder | None,
        key: tuple[str, Row] | None = None,
        place: tuple[str, Place] | None = None,
    ) -> bool:
        others = (other for other in self.open if other is not unit)
        return any(key in other.keys or place in other.places for other in others)
