"""From where to where a replay goes: decided from the target's position, the log and the request;
and the units of recovery that lie on it, in the groups that share a transaction. They are columns:
a group may have many thousands of units, and hardly anybody asks for one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import overload

import numpy as np

from replay.arrays import Index, Mask, Records
from replay.changes.envelope import as_bytes, compare, opaque
from replay.changes.notation import first_of_time, time_text
from replay.changes.position import (
    POSITION,
    UNIT,
    UNIT_POSITION,
    Position,
    UnitId,
    UnitPosition,
)
from replay.errors import Refusal, UsageError
from replay.live.position_store import TargetPosition
from replay.live.transaction_size import Pace
from replay.output.steps import Script, ScriptUnit, script_units
from replay.pipeline.extent import LogExtent
from replay.pipeline.positions import LogPosition


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


@dataclass(frozen=True)
class Destination:
    """Where a user wants the target; at most one is given, and none is the end of the log.

    ``position``: the last commit position. ``time``: the last commit time, 17 packed bytes.
    ``mark``: a name that was given to a position. ``lasting``: logs to come may reach it.
    """

    position: Position | None = None
    time: bytes | None = None
    mark: str | None = None
    lasting: bool = False

    def outside(self, extent: LogExtent, marks: Mapping[str, Position]) -> tuple[str, ...]:
        """What is said where the log does not reach it. Errors as :meth:`commit`."""
        if self.lasting:
            return ()
        if self.time is not None:
            return extent.outside(
                f"--until-time {time_text(first_of_time(self.time))}", None, self.time
            )
        position = self.commit(extent, marks)
        if position is None:
            return ()
        named = f"the mark {self.mark}" if self.mark else "--until-position"
        return extent.outside(f"{named} ({position.hexadecimal})", position)

    def commit(self, extent: LogExtent, marks: Mapping[str, Position]) -> Position | None:
        """The last commit position to go to; None for the end of the log. Raises UsageError
        (LR1004) for a mark that the target does not have."""
        if self.mark is not None:
            if self.mark not in marks:
                raise UsageError(
                    "LR1004",
                    f"found no mark {self.mark!r} in the target",
                    hint=f"Marks: {', '.join(marks) or 'none'}",
                )
            return marks[self.mark]
        if self.time is not None:
            return None if extent.late is None else extent.late.below
        return self.position


@dataclass(frozen=True)
class UnitGroup:
    """Units that share a transaction, and the position before and after it."""

    units: UnitColumns
    before: UnitPosition
    after: UnitPosition

    @cached_property
    def statements(self) -> int:
        """Number of statements."""
        return self.units.statements


@dataclass
class Workload:
    """What lies on a route: units, statements, and changes by (table version, kind). ``beside`` and
    ``statements_beside``: units of the same scripts that the target has already (forward) or does
    not have (backward)."""

    units: int = 0
    statements: int = 0
    beside: int = 0
    statements_beside: int = 0
    changes: Counter[tuple[int, int]] = field(default_factory=Counter)


@dataclass(frozen=True)
class Route:
    """The way of a run.

    ``position`` is where the target stands. Forward it goes up to the commit position ``until``
    (None: the end of the log); backward down to ``until``, which stays.
    ``pending`` are units that the target lacks although they lie before its position, ``rejected``
    units with rejects, each of which has a transaction of its own (backward only); ``time``: that
    of which ``until`` is the commit position, where a user named it.
    """

    forward: bool
    position: UnitPosition
    until: Position | None = None
    pending: frozenset[UnitId] = frozenset()
    rejected: frozenset[UnitPosition] = frozenset()
    time: bytes | None = None

    def __str__(self) -> str:
        to = "the end of the log" if self.until is None else str(self.until.end)
        if self.time is not None and self.until is not None:
            to = f"{time_text(self.time)}, {to}"
        direction = "forward" if self.forward else "backward (undo)"
        return f"{direction} from {self.position} to {to}"

    def groups(self, scripts: Sequence[Script], pace: Pace) -> Iterator[UnitGroup]:
        """The units that are still to be applied, in order, in groups."""
        return self._grouped(self._blocks(scripts), self.position, pace, None)

    def split(self, group: UnitGroup, pace: Pace) -> Iterator[UnitGroup]:
        """The units of a group in smaller ones."""
        return self._grouped(group.units.blocks, group.before, pace, group.after)

    def workload(self, scripts: Sequence[Script]) -> Workload:
        """What is still to be applied."""
        workload = Workload()
        for script in scripts:
            for keys, starts, stops in script.unit_blocks():
                taken = self._due(keys)
                workload.units += int(taken.sum())
                workload.statements += int((stops - starts)[taken].sum())
                workload.beside += int((~taken).sum())
                workload.statements_beside += int((stops - starts)[~taken].sum())
                edges = np.flatnonzero(np.diff(taken, prepend=False, append=False))
                for first, behind in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
                    run = int(starts[first]), int(stops[behind - 1])
                    workload.changes.update(script.kinds(*run))
        return workload

    def late(self, units: UnitColumns) -> list[UnitId]:
        """Those of the units that the target lacks although they lie before its position."""
        if not self.pending:
            return []
        return [unit.key.unit for unit in units if unit.key.unit in self.pending]

    def _grouped(
        self, blocks: Iterable[UnitBlock], at: UnitPosition, pace: Pace, end: UnitPosition | None
    ) -> Iterator[UnitGroup]:
        """Units in groups, the first of which begins ``at`` and the last of which comes to ``end``
        (None: to the last unit)."""
        held: list[UnitBlock] = []
        units = statements = 0
        for block in blocks:
            ends, place = np.cumsum(block.counts), 0
            borders = self._borders(held, block)
            while place < len(block):
                stop = pace.stop(ends, place, units, statements)
                border = int(np.searchsorted(borders, place + (not held)))
                if border < len(borders):
                    stop = min(stop, int(borders[border]))
                if stop > place:
                    held.append(block.part(place, stop))
                    units += stop - place
                    statements += int(held[-1].counts.sum())
                    place = stop
                    continue
                after = self._after(held[-1].key(-1), block.key(place), at)
                yield UnitGroup(UnitColumns(held), at, after)
                held, units, statements, at = [], 0, 0, after
        if held:
            after = end if end is not None else self._after(held[-1].key(-1), None, at)
            yield UnitGroup(UnitColumns(held), at, after)

    def _borders(self, held: list[UnitBlock], block: UnitBlock) -> Index:
        """The places in a block behind ``held`` units at which a group begins: units with rejects
        have a transaction of their own."""
        if not self.rejected:
            return np.zeros(0, np.int64)
        alone = np.isin(block.keys, _column(self.rejected, UNIT_POSITION))
        before = bool(held) and held[-1].key(-1) in self.rejected
        return np.flatnonzero(alone | np.append(before, alone[:-1]))

    def _blocks(self, scripts: Sequence[Script]) -> Iterator[UnitBlock]:
        for number, script in enumerate(scripts):
            if self._passes(*script.span):
                continue
            for keys, starts, stops in script.unit_blocks():
                taken = self._due(keys)
                if taken.any():
                    yield UnitBlock(number, keys[taken], starts[taken], stops[taken])

    def _passes(self, lowest: UnitPosition, highest: UnitPosition) -> bool:
        """Whether a script of these units has none of the route."""
        if self.forward:
            return highest <= self.position and not self.pending
        return lowest > self.position or (self.until is not None and highest.commit <= self.until)

    def _due(self, keys: Records) -> Mask:
        """Which units (of dtype UNIT_POSITION) are to be applied."""
        both = as_bytes(keys)
        late = np.isin(opaque(both[:, POSITION.itemsize :]), _column(self.pending, UNIT))
        beyond = compare(both, self.position) > 0
        if self.forward:
            return beyond | late
        taken: Mask = ~beyond & ~late
        if self.until is not None:
            taken &= compare(both[:, : POSITION.itemsize], self.until) > 0
        return taken

    def _after(
        self, last: UnitPosition, following: UnitPosition | None, before: UnitPosition
    ) -> UnitPosition:
        if self.forward:
            return max(last, before)
        if following is not None:
            return following
        assert self.until is not None
        return self.until.end


def _column(values: Iterable[bytes], dtype: np.dtype[np.void]) -> Records:
    column: Records = np.frombuffer(b"".join(values), dtype)
    return column


def find_route(
    destination: Destination,
    at: Position | None,
    adjoining: bool,
    stored: TargetPosition | None,
    before: LogPosition | None,
    extent: LogExtent,
    marks: Mapping[str, Position],
    pending: frozenset[UnitId],
) -> Route | None:
    """The route; None when the target is there already (and no unit was set aside that the log may
    bring). ``at``: where a target without a position stands. ``adjoining``: the user knows that the
    log begins, or ends, where the target stands. ``before``: where that is, and up to where the
    logs were read that brought it there.

    Raises Refusal (LR4007) when the log cannot bring it there, UsageError (LR1001, LR1004) when the
    request does not fit the target.
    """
    if extent.first is None or extent.last is None:
        return None
    until = destination.commit(extent, marks)
    position = _start(at, stored, before, extent.start or extent.first, extent.last)
    if until is not None and until < position.commit:
        start = _backward_end(position, until, extent.first, extent.last, adjoining)
        return Route(False, position, start, pending, time=destination.time)
    reached = None if before is None else before.reaches
    known = max(position.commit, reached or position.commit)
    # where a log does not tell its end, it begins with its first unit for all that anybody knows
    low = extent.first if extent.ends is None else extent.low or extent.first
    # a log that has what was open when nothing else was there reaches back to where that began
    begins = stored is not None and bool(pending) and not stored.units
    gap = stored is not None and known < low and position.commit != low.below and not begins
    if gap and not adjoining:
        raise Refusal(
            "LR4007",
            f"the target stands at {position}, and the first unit of this log commits at"
            f" {extent.first.hexadecimal}; nothing shows that no unit lies between them",
            hint=(
                "Replay the log between first. If there is none because this log continues where"
                " the last one ended, say so with --adjoining"
            ),
        )
    if extent.last < position.commit and stored is not None and not pending:
        return None
    return Route(True, position, until, pending, time=destination.time)


def _start(
    at: Position | None,
    stored: TargetPosition | None,
    before: LogPosition | None,
    start: Position,
    last: Position,
) -> UnitPosition:
    """Where the target stands (``start``: one without a position). Where it holds nothing of a log
    yet, a user may say so."""
    if stored is None or (at is not None and not stored.units):
        return (start if at is None else min(at, last)).end
    if at is not None:
        raise UsageError(
            "LR1001",
            f"the target has a position ({stored.position}); --at-position is for targets without"
            " one, or into which nothing is replayed",
        )
    return stored.position if before is None or before.position is None else before.position


def _backward_end(
    position: UnitPosition, until: Position, first: Position, last: Position, adjoining: bool
) -> Position:
    """The commit position that a way back ends at: as asked, but not before the log begins."""
    if last < position.commit and not adjoining:
        message = (
            f"the target stands at {position}, after the last unit of this log, which commits at"
            f" {last.hexadecimal}"
        )
        hint = (
            "Go back through the later log first, to where it begins; where that is done, say so"
            " with --adjoining"
        )
        raise Refusal("LR4007", message, hint=hint)
    start = first.below
    if until < start and until != bytes(Position.SIZE):
        message = (
            f"the first unit of this log commits at {first.hexadecimal}; nothing shows what lies"
            f" between that and {until.hexadecimal}"
        )
        raise Refusal(
            "LR4007",
            message,
            hint=(
                f"Go back to the start of this log (--until-position {start.hexadecimal}), then"
                " on with the log before it"
            ),
        )
    return max(until, start)
