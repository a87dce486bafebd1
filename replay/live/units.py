"""Units of recovery as columns: those that share a transaction may be many thousands, and hardly
anybody asks for one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np

from replay.arrays import Index, Records
from replay.changes.position import UnitPosition
from replay.output.steps import ScriptUnit, script_units


@dataclass(frozen=True)
class UnitBlock:
    """Units of the ``script``-th script, in its order; ``keys`` (dtype UNIT_POSITION), ``starts``
    and ``stops`` as in :class:`replay.output.steps.ScriptUnit`."""

    script: int
    keys: Records
    starts: Index
    stops: Index

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def counts(self) -> Index:
        """How many statements each unit has."""
        return self.stops - self.starts

    def key(self, place: int) -> UnitPosition:
        """The key of one of the units."""
        return UnitPosition(self.keys[place].tobytes())

    def part(self, start: int, stop: int) -> UnitBlock:
        """Some that follow one another."""
        chosen = slice(start, stop)
        return UnitBlock(self.script, self.keys[chosen], self.starts[chosen], self.stops[chosen])

    def units(self) -> Iterator[ScriptUnit]:
        """The units, one by one."""
        return script_units(self.script, self.keys, self.starts, self.stops)


class UnitColumns(Sequence[ScriptUnit]):
    """Units in the order in which they are applied. None of the ``blocks`` is empty."""

    def __init__(self, blocks: Iterable[UnitBlock]) -> None:
        self.blocks = tuple(blocks)
        self._ends = np.cumsum([len(block) for block in self.blocks], dtype=np.int64)

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def __iter__(self) -> Iterator[ScriptUnit]:
        for block in self.blocks:
            yield from block.units()

    @overload
    def __getitem__(self, place: int) -> ScriptUnit: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[ScriptUnit, ...]: ...

    def __getitem__(self, place: int | slice) -> ScriptUnit | tuple[ScriptUnit, ...]:
        if isinstance(place, slice):
            return tuple(self)[place]
        place = range(len(self))[place]
        number = int(np.searchsorted(self._ends, place, side="right"))
        block, within = self.blocks[number], place - int(self._ends[number])
        (unit,) = block.part(within + len(block), within + len(block) + 1).units()
        return unit

    @property
    def scripts(self) -> list[int]:
        """The scripts that they are in, in order."""
        return list(dict.fromkeys(block.script for block in self.blocks))

    @property
    def statements(self) -> int:
        """How many statements they have."""
        return sum(int(block.counts.sum()) for block in self.blocks)

    def of_script(self, number: int) -> UnitColumns:
        """Those of one script."""
        return UnitColumns(block for block in self.blocks if block.script == number)

    def runs(self) -> Iterator[ScriptUnit]:
        """Units that follow one another without a gap, taken together (under the key of the
        first)."""
        held: ScriptUnit | None = None
        for block in self.blocks:
            gaps = np.flatnonzero(block.starts[1:] != block.stops[:-1]) + 1
            firsts, lasts = np.append(0, gaps), np.append(gaps, len(block)) - 1
            stops = block.stops[lasts]
            for run in script_units(block.script, block.keys[firsts], block.starts[firsts], stops):
                if held is None:
                    held = run
                elif run.start == held.stop and run.script == held.script:
                    held = ScriptUnit(held.script, held.key, held.start, run.stop)
                else:
                    yield held
                    held = run
        if held is not None:
            yield held

    def steps(self) -> Index:
        """Their steps, where they are all of one script."""
        runs = [np.arange(run.start, run.stop) for run in self.runs()]
        return np.concatenate([*runs, np.zeros(0, np.int64)])
