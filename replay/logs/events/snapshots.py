"""The connector's snapshot, which is the state of the database where the events begin, as one
transaction before the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Index, Mask, Records
from replay.errors import Refusal, Where
from replay.logs.events import rules

_FIRST, _LAST = "first", "last"


@dataclass
class Snapshot:
    """Rows of a snapshot: how many there are, and how many of them are its first and its last
    one; ``incremental``: some were read while changes went on."""

    count: int = 0
    first: int = 0
    last: int = 0
    incremental: bool = False

    def take(self, found: Records, rows: Mask, marks: pa.Array) -> None:
        """Make some lines inserts of the state, numbered in their order."""
        chosen = np.flatnonzero(rows)
        marked = marks.take(pa.array(chosen))
        for name in (_FIRST, _LAST):
            number = pc.sum(pc.equal(marked, name)).as_py() or 0
            setattr(self, name, getattr(self, name) + number)
        self.incremental |= bool(pc.any(pc.equal(marked, "incremental")).as_py())
        found["kind"][chosen] = rules.CREATE
        found["snapshot"][chosen] = True
        found["total"][chosen] = self.count + 1 + np.arange(len(chosen))
        self.count += len(chosen)

    def check(self, ids: Index, commit: Index, path: str) -> None:
        """Refusal LR3020 where it is none, or not whole, or not of the beginning of the log."""
        others = commit[(ids != rules.STATE) & (commit >= 0)]
        wrong = {
            "no snapshot": not self.count,
            "rows of an incremental snapshot, which was taken while changes went on": (
                self.incremental
            ),
            "several snapshots, or one that was begun again": self.first > 1 or self.last > 1,
            "a snapshot without its last row": self.last == 0,
            "a snapshot behind changes of the log": bool(
                self.count and len(others) and others.min() <= commit[ids == rules.STATE].max()
            ),
        }
        for found, holds in wrong.items():
            if holds:
                raise Refusal(
                    "LR3020",
                    f"found {found}; expected one whole snapshot before all changes",
                    Where(path),
                    "Leave --log-option snapshot=insert out: snapshots are then ignored",
                )
