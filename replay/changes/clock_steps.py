"""Selections by time of a log whose commit times go back: the clock that gave them was set back, to
winter time, say. Each unit is taken by its own time, so one beyond an end of the selection may
commit among those within."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from replay.arrays import Bytes
from replay.changes.envelope import Envelope, bounds_of, compare
from replay.changes.notation import time_text
from replay.changes.position import Position
from replay.changes.selection import Selection, beyond


@dataclass(frozen=True, order=True)
class _Commit:
    """Where and when units commit."""

    position: Position
    time: bytes

    def __str__(self) -> str:
        return f"{self.position.hexadecimal} ({time_text(self.time)})"


@dataclass
class ClockSteps:
    """What is seen of the commits in a log by who selects by time, in any order: the first and the
    last ``within`` (none, or two), those that are too ``late``, and those that are too ``early``.
    """

    within: list[_Commit] = field(default_factory=list)
    late: list[_Commit] = field(default_factory=list)
    early: list[_Commit] = field(default_factory=list)

    def look(self, selection: Selection, envelope: Envelope) -> None:
        """Look at some headers. Nothing is seen where no time is selected."""
        low, high = selection.from_time, selection.until_time
        if low is None and high is None:
            return
        commits, times = envelope.commit(), envelope.commit_time()
        chosen = (envelope.unit_disposition() == ord("C")) & times.any(axis=1)
        chosen &= ~beyond(commits, selection.from_position, selection.until_position)
        late = chosen & beyond(times, None, high)
        early = chosen & beyond(times, low, None)
        for known, rows in (
            (self.within, chosen & ~late & ~early),
            (self.late, late),
            (self.early, early),
        ):
            if rows.any():
                _widen(known, _ends(commits[rows], times[rows]))

    def add(self, other: ClockSteps) -> None:
        """Add what was seen elsewhere."""
        _widen(self.within, other.within)
        _widen(self.late, other.late)
        _widen(self.early, other.early)

    def warnings(self) -> list[str]:
        """A warning for each end of the selection that parts the log in no one place."""
        if not self.within:
            return []
        first, last = self.within[0], self.within[-1]
        told = []
        if self.late and self.late[0].position < last.position:
            late = self.late[0]
            told.append(_step("--until-time", late, last, "before", late.position.below))
        if self.early and self.early[-1].position > first.position:
            told.append(_step("--from-time", self.early[-1], first, "behind", first.position))
        return told


def _ends(commits: Bytes, times: Bytes) -> list[_Commit]:
    """The lowest and the highest of some commits."""
    rows = [int(np.flatnonzero(compare(commits, end) == 0)[0]) for end in bounds_of(commits)]
    return [_Commit(Position(commits[row].tobytes()), times[row].tobytes()) for row in rows]


def _widen(known: list[_Commit], found: list[_Commit]) -> None:
    both = [*known, *found]
    known[:] = [min(both), max(both)] if both else []


def _step(option: str, outside: _Commit, inside: _Commit, where: str, end: Position) -> str:
    name = option.replace("time", "position")
    return (
        f"commit times go back within the log: a unit beyond {option} commits at {outside}, {where}"
        f" one that is taken, at {inside}; so what is taken is no one stretch of the log, and may"
        f" depend on what is not. Name the place by a commit position, for example {name}"
        f" {end.hexadecimal}"
    )
