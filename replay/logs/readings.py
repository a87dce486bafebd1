"""What published layouts leave open, and what one log has to say about it, in counts and without a
value of any row. The page of the documentation lists each unconfirmed reading: what is open, how a
log decides it, and what is refused."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

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


class Tallies:
    """What is counted while a log goes by: codes by field, and of each reading how many could tell
    and how many of them fit each candidate."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {}
        self._looked_at: Counter[str] = Counter()
        self._fits: dict[str, Counter[str]] = {}

    def codes(self, name: str, values: Any, shown: Callable[[int], str]) -> Counter[str]:
        """Count the codes of a field (``int[n]``) by what each is shown as; all of that field."""
        counter = self.counts.setdefault(name, Counter())
        for code, count in zip(*np.unique(values, return_counts=True), strict=True):
            counter[shown(int(code))] += int(count)
        return counter

    def fit(self, reading: str, looked_at: int, **candidates: Any) -> None:
        """Of so many that could tell, how many fit each candidate: a number, or ``bool[n]``."""
        self._looked_at[reading] += looked_at
        fits = self._fits.setdefault(reading, Counter())
        for name, fitting in candidates.items():
            fits[name.replace("_", " ")] += int(np.sum(fitting))

    def halves(self, reading: str, mask: Any, fits: str, others: str) -> None:
        """Of ``n`` that could tell (``bool[n]``), those that are so and those that are not."""
        self.fit(reading, len(mask), **{fits: mask, others: ~mask})

    def evidence(self, taken: Mapping[str, str]) -> Iterator[Evidence]:
        """Of each reading; ``taken``: the candidate that the program reads the log by."""
        for name, fits in self._fits.items():
            yield Evidence(name, self._looked_at[name], dict(fits), taken.get(name, ""))

    def by_field(self) -> dict[str, dict[str, int]]:
        """The counts, each in order."""
        return {name: dict(sorted(counter.items())) for name, counter in self.counts.items()}


def seen(reading: str, found: Mapping[str, int]) -> Evidence:
    """Counts that are the point of a reading of which no candidate is preferred."""
    return Evidence(reading, sum(found.values()), dict(sorted(found.items())))
