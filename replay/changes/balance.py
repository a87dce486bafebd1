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
from typing import Any

from replay.changes.position import Position, UnitId
from replay.errors import EXIT_ERROR, EXIT_OK, EXIT_WARNING, Finding

#: How many findings are kept in full; all are counted.
FINDINGS_KEPT = 1000


@dataclass(frozen=True, order=True, slots=True)
class Verdict:
    """Why a unit of recovery stays out: ``code`` as in :data:`replay.errors.CODES` ('' where the
    findings of its records have one each), and ``text``."""

    code: str
    text: str

    def __str__(self) -> str:
        return f"{self.code} {self.text}" if self.code else self.text


@dataclass
class Tally:
    """Outcomes counted by one task; tallies of all tasks are added up by :meth:`add`. ``parted``:
    rows that are removed early and put back last. ``contradictory``: units that were found with
    more than one commit position."""

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
    quarantined_units: dict[UnitId, Verdict] = field(default_factory=dict)
    incomplete_records: int = 0
    findings: list[Finding] = field(default_factory=list)
    finding_count: int = 0
    refusals: list[Finding] = field(default_factory=list)
    fatal: list[Finding] = field(default_factory=list)
    first_commit: Position | None = None
    last_commit: Position | None = None
    contradictory: set[UnitId] = field(default_factory=set)

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
        for name in (
            "read",
            "emitted",
            "quarantined",
            "unproven",
            "failed",
            "statements",
            "units",
            "parted",
            "incomplete_records",
            "finding_count",
        ):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.skipped.update(other.skipped)
        self.changes.update(other.changes)
        self.quarantined_units.update(other.quarantined_units)
        self.findings.extend(other.findings[: FINDINGS_KEPT - len(self.findings)])
        self.refusals.extend(other.refusals)
        self.fatal.extend(other.fatal)
        self.contradictory |= other.contradictory
        if other.first_commit is not None and other.last_commit is not None:
            self.saw_commits(other.first_commit, other.last_commit)

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

    def quarantine(self) -> list[dict[str, str]]:
        """Quarantined units with the reason, in unit order."""
        return [
            {"unit": str(unit), "reason": str(verdict)}
            for unit, verdict in sorted(self.quarantined_units.items())
        ]

    def account(self) -> dict[str, Any]:
        """What a manifest tells of records, units set aside and findings, as JSON-able data."""
        return {
            "balance": self.balance(),
            "quarantined_units": self.quarantine(),
            "findings": {
                "count": self.finding_count,
                "shown": [str(finding) for finding in sorted(self.findings, key=str)],
            },
        }


def balance_text(tally: Tally, emitted: str = "statements") -> str:
    """The balance sheet for the terminal. ``emitted`` is what changes became."""
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
    text.append(f"{tally.statements:,} {emitted} in {tally.units:,} units of recovery")
    return "\n".join(text)
