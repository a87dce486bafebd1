"""The order of the changes of one unit where foreign keys are known: children go before their parent is deleted, and come after it is inserted,
whatever the order of the log. Only units that need it are touched; all others keep the order they have. Where rows need each other in a circle,
foreign keys that can wait until the unit's end are left to wait."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from replay.changes import ROW_CHANGES, Change
from replay.graph import Cycle, reordered, unit_needs
from replay.keys import Batch, Index, KeySpaces, Mask, Toucher
from replay.logs import LogFile
from sqlgen.constraints import Constraints


@dataclass(frozen=True)
class Arranged:
    """``sequence``: places of changes, unit by unit. ``waiting``: units whose deferrable foreign keys must wait for the unit's end. ``cycles``: of
    each unit that has no order, one of its changes and the way round."""

    sequence: Index
    waiting: list[int] = field(default_factory=list)
    cycles: list[tuple[int, str]] = field(default_factory=list)


class KeyOrder:
    """Arranges the changes of a log's units. ``undo`` turns every order round; ``deferral``: foreign keys that can wait may be left to wait."""

    def __init__(self, log: LogFile, constraints: Constraints, undo: bool, deferral: bool) -> None:
        self.log, self.undo = log, undo
        self.spaces = KeySpaces(log.catalog, constraints)
        firm = constraints.firm()
        self.firm = KeySpaces(log.catalog, firm) if deferral and firm != constraints else None
        related = {name for foreign in constraints.foreign_keys for name in (foreign.table, foreign.parent)}
        self.related = np.array([version.name.upper() in related for version in log.catalog.versions] or [False], bool)

    def arrange(self, batch: Batch, unit: Index, live: Mask, sequence: Index) -> Arranged:
        """``sequence`` (places in ``batch``, unit by unit) with the changes of each unit in an order that keeps every reference whole. ``unit`` numbers
        the unit of each change; only those that are ``live`` count."""
        known = (batch.version >= 0) & self.related[np.maximum(batch.version, 0)]
        rows = np.flatnonzero(live & known & np.isin(batch.change, ROW_CHANGES))
        first, second = self._needs(batch, unit, rows, self.spaces)
        place = np.empty(len(sequence), np.int64)
        place[sequence] = np.arange(len(sequence))
        wrong = np.unique(unit[first[place[first] > place[second]]])
        if not len(wrong):
            return Arranged(sequence)
        arranged = Arranged(sequence.copy())
        circles = self._mend(unit, arranged.sequence, (first, second), wrong)
        if circles and self.firm is not None:
            units = np.array(list(circles))
            pairs = self._needs(batch, unit, rows[np.isin(unit[rows], units)], self.firm)
            left = self._mend(unit, arranged.sequence, pairs, units)
            arranged.waiting.extend(number for number in circles if number not in left)
            circles = left
        arranged.cycles.extend((changes[0], self._way(batch, changes)) for changes in circles.values())
        return arranged

    def _needs(self, batch: Batch, unit: Index, rows: Index, spaces: KeySpaces) -> tuple[Index, Index]:
        """(first, second): of the changes ``rows``, pairs of which the first must be done before the second."""
        if not len(rows):
            return rows, rows
        part = Batch(batch.records, batch.head[rows], batch.weight[rows], batch.change[rows], batch.version[rows])
        first, second = (rows[side] for side in unit_needs(Toucher(self.log, spaces).touches(part), unit[rows]))
        return (second, first) if self.undo else (first, second)

    def _mend(self, unit: Index, sequence: Index, needs: tuple[Index, Index], wrong: Index) -> dict[int, list[int]]:
        """Rearrange the units ``wrong`` in ``sequence``; the way round of those that have no order."""
        circles = {}
        pairs: dict[int, list[tuple[int, int]]] = defaultdict(list)
        concerned = np.isin(unit[needs[0]], wrong)
        first, second = (side[concerned] for side in needs)
        for number, one, other in zip(unit[first].tolist(), first.tolist(), second.tolist(), strict=True):
            pairs[number].append((one, other))
        for number in wrong.tolist():
            slots = np.flatnonzero(unit[sequence] == number)
            try:
                sequence[slots] = reordered(sequence[slots].tolist(), pairs[number])
            except Cycle as cycle:
                circles[number] = cycle.changes
        return circles

    def _way(self, batch: Batch, changes: list[int]) -> str:
        toucher = Toucher(self.log, self.spaces)
        steps = []
        for change in changes:
            version, kind = int(batch.version[change]), Change(int(batch.change[change]))
            side = "after" if kind is Change.INSERT else "before"
            values = toucher.values_of(batch, change, side, self.spaces.row_space(version).columns)
            steps.append(f"{kind.name.lower()} of {self.log.catalog.versions[version].name} {','.join(values)}")
        return "changes that each need another one first: " + " -> ".join([*steps, steps[0]])
