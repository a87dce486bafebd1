"""The balance sheet: every record read has exactly one outcome, and the outcomes add up.

``read = emitted + skipped (by reason) + quarantined + failed``, in physical log records. A
segmented change counts all its segments under the outcome of the change. *Failed* records are
damaged themselves (or hold a value that cannot be said); *quarantined* ones belong to a unit of
recovery with a failed record, or to an incomplete unit, or to one that may depend on such a unit;
*unproven* are those quarantined ones of which nothing proves whether they do.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from replay.arrays import Bytes
from replay.changes.envelope import Envelope, bounds_of, compare
from replay.changes.notation import time_text
from replay.changes.position import Position
from replay.changes.selection import Selection, beyond
from replay.changes.units import UnitTable, Verdicts
from replay.errors import EXIT_ERROR, EXIT_OK, EXIT_WARNING, Finding, counted

# -- commit times that go back
# -------------------------------------------------------------------------------------------------
# Selections by time of a log whose commit times go back: the clock that gave them was set back, to
# winter time, say. Each unit is taken by its own time, so one beyond an end of the selection may
# commit among those within.


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
            told.append(_step("--from-time", self.early[-1], first, "after", first.position))
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


#: How many findings are kept in full; all are counted.
FINDINGS_KEPT = 1000
#: How many of many units are shown in manifests and reports; all are counted.
SHOWN = 10_000


@dataclass
class Tally:
    """Outcomes counted by one task; tallies of all tasks are added up by :meth:`add`. ``parted``:
    rows that are removed early and put back last. ``without_cause``: changes that are left to the
    target, which does not get what caused them. ``clock``: commits on either side of a selected
    time; ``held``: those of the plan's held units that were found, of which the plan knows why
    (:meth:`settle`); ``flagged_records``: committed ones of units that are incomplete or may depend
    on one, chosen or not."""

    read: int = 0
    emitted: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    quarantined: int = 0
    unproven: int = 0
    failed: int = 0
    statements: int = 0
    changes: Counter[tuple[int, int]] = field(default_factory=Counter)
    units: int = 0
    parted: int = 0
    without_cause: int = 0
    quarantined_units: Verdicts = field(default_factory=Verdicts)
    held: UnitTable[None] = field(default_factory=UnitTable)
    flagged_records: int = 0
    findings: list[Finding] = field(default_factory=list)
    finding_count: int = 0
    refusals: list[Finding] = field(default_factory=list)
    fatal: list[Finding] = field(default_factory=list)
    first_commit: Position | None = None
    last_commit: Position | None = None
    clock: ClockSteps = field(default_factory=ClockSteps)

    def find(self, finding: Finding) -> None:
        """Keep a finding (only counted once :data:`FINDINGS_KEPT` are held)."""
        self.finding_count += 1
        if len(self.findings) < FINDINGS_KEPT:
            self.findings.append(finding)

    def saw_commits(self, low: Position, high: Position) -> None:
        """Widen the range of commit positions of emitted units."""
        self.first_commit = low if self.first_commit is None else min(low, self.first_commit)
        self.last_commit = high if self.last_commit is None else max(high, self.last_commit)

    def add(self, other: Tally) -> None:
        """Add the outcomes of another task."""
        for name, count in list(vars(self).items()):
            if isinstance(count, int):
                setattr(self, name, count + getattr(other, name))
        self.skipped.update(other.skipped)
        self.changes.update(other.changes)
        self.quarantined_units.update(other.quarantined_units)
        self.held.put(other.held.units().column())
        self.findings.extend(other.findings[: FINDINGS_KEPT - len(self.findings)])
        self.refusals.extend(other.refusals)
        self.fatal.extend(other.fatal)
        self.clock.add(other.clock)
        if other.first_commit is not None and other.last_commit is not None:
            self.saw_commits(other.first_commit, other.last_commit)

    def settle(self, held: Verdicts) -> None:
        """Count the units that were :attr:`held` among the quarantined ones, with the verdicts of
        the plan; what tasks found themselves counts before."""
        if self.held:
            mine = held.only(self.held.units().mask(held.units().column()))
            self.quarantined_units = mine.with_own(self.quarantined_units)
            self.held = UnitTable()

    @property
    def outcomes(self) -> int:
        """Records with an outcome; equals :attr:`read` when nothing was lost."""
        return self.emitted + sum(self.skipped.values()) + self.quarantined + self.failed

    def exit_code(self, warnings: list[str]) -> int:
        """0 when all is well, 4 with warnings or incomplete units, 8 when a record failed or the
        sheet does not close."""
        if self.failed or self.finding_count or self.outcomes != self.read:
            return EXIT_ERROR
        return EXIT_WARNING if warnings or self.quarantined else EXIT_OK

    def balance(self) -> dict[str, Any]:
        """The balance sheet as JSON-able data."""
        return {
            "read": self.read,
            "emitted": self.emitted,
            "skipped": dict(sorted(self.skipped.items())),
            "quarantined": self.quarantined,
            **({"quarantined_unproven": self.unproven} if self.unproven else {}),
            "failed": self.failed,
            "closes": self.outcomes == self.read,
        }

    def quarantine(self) -> dict[str, Any]:
        """Quarantined units with the reason, in unit order, as far as they are shown, and how many
        more there are."""
        shown = islice(self.quarantined_units.described(), SHOWN)
        more = len(self.quarantined_units) - SHOWN
        return {
            "quarantined_units": [{"unit": unit, "reason": reason} for unit, reason in shown],
            **({"more_quarantined_units": more} if more > 0 else {}),
        }

    def account(self) -> dict[str, Any]:
        """What a manifest tells of records, units set aside and findings, as JSON-able data."""
        return {
            "balance": self.balance(),
            **self.quarantine(),
            "findings": {
                "count": self.finding_count,
                "shown": [str(finding) for finding in sorted(self.findings, key=str)],
            },
        }


def balance_text(tally: Tally, emitted: str = "statements", note: str = "") -> str:
    """The balance sheet for the terminal. ``emitted`` is what changes became; ``note`` says more of
    these."""
    lines = [("log records read", tally.read), ("  emitted", tally.emitted)]
    lines += [(f"  skipped: {reason}", count) for reason, count in sorted(tally.skipped.items())]
    lines.append(("  quarantined with their unit", tally.quarantined))
    if tally.unproven:
        lines.append(("    of these, dependence not proven or refuted", tally.unproven))
    lines.append(("  failed", tally.failed))
    width = max(len(label) for label, _ in lines)
    text = [f"{label:<{width}}  {count:>12,}" for label, count in lines]
    if tally.outcomes != tally.read:
        text.append(
            f"THE SHEET DOES NOT CLOSE: {tally.read:,} read, {tally.outcomes:,} accounted for. Do"
            " not use this output; report it."
        )
    done = counted(tally.statements, emitted.removesuffix("s"))
    text.append(f"{done} in {counted(tally.units, 'unit')} of recovery{note}")
    return "\n".join(text)
