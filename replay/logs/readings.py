"""What published layouts leave open, as data: each unconfirmed reading, how a log decides it, and
what one log has to say about it, in counts and without a value of any row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class UnconfirmedReading:
    """A point that the published pages leave open and no real file has settled here: what is
    ``open``, how the program ``decides``, and what it ``refuses``."""

    name: str
    open: str
    decides: str
    refuses: str


@dataclass(frozen=True)
class Evidence:
    """What a log says of the reading ``name``: of ``looked_at`` records, rows or fields that could
    tell, how many each candidate ``fits``. ``taken`` is the candidate that the program reads this
    log by; empty where the counts alone are the point, and none is preferred."""

    name: str
    looked_at: int
    fits: Mapping[str, int]
    taken: str = ""

    def verdict(self) -> str:
        """``not exercised``, ``seen``, ``fits all``, ``fits all, and so does …`` or
        ``contradicted``."""
        if not self.looked_at:
            return "not exercised"
        if not self.taken:
            return "seen"
        if self.fits.get(self.taken, 0) < self.looked_at:
            return "contradicted"
        others = [
            name
            for name, count in self.fits.items()
            if name != self.taken and count == self.looked_at
        ]
        return "fits all" + (f", and so does {' and '.join(others)}" if others else "")


@dataclass(frozen=True)
class Checkup:
    """What a family says of a log for ``logreplay doctor``: how it is ``laid_out`` (numbers and
    words of the published layouts only), ``counts`` of codes by field, and evidence."""

    laid_out: Mapping[str, Any]
    counts: Mapping[str, Mapping[str, int]]
    evidence: Sequence[Evidence] = field(default_factory=tuple)


def nothing_open(log: Any) -> Checkup:
    """The checkup of a family that has none of its own."""
    return Checkup({}, {})
