"""What published layouts leave open, and what one log has to say about it, in counts and without a
value of any row. The page of the documentation lists each unconfirmed reading: what is open, how a
log decides it, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: The page that lists them: a table for each family.
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "unconfirmed-readings.md"


def open_points(source: str) -> dict[str, str]:
    """Of each unconfirmed reading of a family's logs, what is open; none of a family that the page
    does not have."""
    page = PAGE.read_text(encoding="utf-8")
    of_family = page.partition(f"(`--source {source}`)\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"(?m)^\| `([\w-]+)` \| (.*?) \|", of_family))


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
