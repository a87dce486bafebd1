"""The order of the changes of one unit where foreign keys are known: children go before their parent is deleted, and come after it is inserted,
whatever the order of the log. Only units that need it are touched; all others keep the order they have."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from replay.changes import ROW_CHANGES, Change
from replay.graph import Cycle, reordered, unit_needs
from replay.keys import Batch, Index, KeySpaces, Mask, Toucher
from replay.logs import LogFile
from sqlgen.constraints import Constraints


class KeyOrder:
    """Arranges the changes of a log's units; ``undo`` turns every order round."""

    def __init__(self, log: LogFile, constraints: Constraints, undo: bool) -> None:
        self.log, self.constraints, self.undo = log, constraints, undo
        self.spaces = KeySpaces(log.catalog, constraints)
        related = {name for foreign in constraints.foreign_keys for name in (foreign.table, foreign.parent)}
        self.related = np.array([version.name.upper() in related for version in log.catalog.versions] or [False], bool)

    def arrange(self, batch: Batch, unit: Index, live: Mask, sequence: Index) -> tuple[Index, list[tuple[int, str]]]:
        """``sequence`` (places in ``batch``, unit by unit) with the changes of each unit in an order that keeps every reference whole, and for each
        unit without such an order one of its changes and the way round. ``unit`` numbers the unit of each change."""
        known = (batch.version >= 0) & self.related[np.maximum(batch.version, 0)]
        rows = np.flatnonzero(live & known & np.isin(batch.change, ROW_CHANGES))
        if not len(rows):
            return sequence, []
        part = Batch(batch.records, batch.head[rows], batch.weight[rows], batch.change[rows], batch.version[rows])
        touches = Toucher(self.log, self.spaces).touches(part)
        first, second = (rows[side] for side in unit_needs(touches, unit[rows]))
        if self.undo:
            first, second = second, first
        place = np.empty(len(sequence), np.int64)
        place[sequence] = np.arange(len(sequence))
        wrong = np.unique(unit[first[place[first] > place[second]]])
        if not len(wrong):
            return sequence, []
        return self._mend(batch, unit, sequence, first, second, wrong)

    def _mend(
        self, batch: Batch, unit: Index, sequence: Index, first: Index, second: Index, wrong: Index
    ) -> tuple[Index, list[tuple[int, str]]]:
        sequence, cycles = sequence.copy(), []
        pairs: dict[int, list[tuple[int, int]]] = defaultdict(list)
        concerned = np.isin(unit[first], wrong)
        for number, one, other in zip(unit[first[concerned]].tolist(), first[concerned].tolist(), second[concerned].tolist(), strict=True):
            pairs[number].append((one, other))
        for number in wrong.tolist():
            slots = np.flatnonzero(unit[sequence] == number)
            try:
                sequence[slots] = reordered(sequence[slots].tolist(), pairs[number])
            except Cycle as cycle:
                cycles.append((cycle.changes[0], self._way(batch, cycle.changes)))
        return sequence, cycles

    def _way(self, batch: Batch, changes: list[int]) -> str:
        toucher = Toucher(self.log, self.spaces)
        steps = []
        for change in changes:
            version, kind = int(batch.version[change]), Change(int(batch.change[change]))
            side = "after" if kind is Change.INSERT else "before"
            values = toucher.values_of(batch, change, side, self.spaces.row_space(version).columns)
            steps.append(f"{kind.name.lower()} of {self.log.catalog.versions[version].name} {','.join(values)}")
        return "changes that each need another one first: " + " -> ".join([*steps, steps[0]])
