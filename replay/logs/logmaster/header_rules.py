"""What the headers of a log have in common, learned from its first records and asked of all: that a
change lies between the begin and the commit of its unit, that positions are filled, what SEGLEN
counts. What the first records do not show is not asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Mask
from replay.changes.envelope import Change
from replay.logs.logmaster.headers import Headers, zero

#: (earlier field, later field) of the log of one member.
_RISING = (
    ("UORID", "LOGRBA"),
    ("LOGRBA", "UORCOMMITPOINT"),
    ("UORIDLRSN", "LOGLRSN"),
    ("LOGLRSN", "UORCOMMITLRSN"),
)


@dataclass(frozen=True)
class HeaderRules:
    """``rising``: pairs of positions that never stand the other way round; ``commits``: members of
    a data sharing group have commit LRSNs; ``lengths``: by how many bytes SEGLEN exceeds the length
    of a first, and of a later, segment, None where it has no one meaning."""

    rising: tuple[tuple[str, str], ...] = ()
    commits: bool = False
    lengths: tuple[int | None, int | None] = (None, None)

    @classmethod
    def settled(
        cls, envelope: Headers, lengths: npt.NDArray[np.integer], change: Bytes, header: int
    ) -> HeaderRules:
        """The rules that these records keep, but for a few that are damaged."""
        rows = _of_rows(change)
        names = envelope.layout.names
        ordered = () if "ORDERVALUE" in names else _RISING
        pairs = [pair for pair in ordered if set(pair) <= set(names)]
        rising = tuple(pair for pair in pairs if _most(~_fallen(envelope, *pair)[rows]))
        shared = rows & (envelope.member() != 0)
        commits = _most(~zero(envelope.position("UORCOMMITLRSN")[shared]))
        excess: list[int | None] = [None, None]
        if "SEGLEN" in names:
            more = _excess(envelope, lengths)
            for place, segments in enumerate(_first_and_later(envelope)):
                mine = more[rows & segments]
                kept = [n for n in (0, 4, -header, -header - 2) if _most(mine == n & 0xFFFF)]
                excess[place] = kept[0] if kept else None
        return cls(rising, commits, (excess[0], excess[1]))

    def broken(
        self, envelope: Headers, lengths: npt.NDArray[np.integer], change: Bytes
    ) -> Iterator[tuple[str, str, Mask]]:
        """(field, what is expected of it, records that break it)."""
        rows = _of_rows(change)
        for earlier, later in self.rising:
            field = earlier if earlier.startswith("LOG") else later
            other = later if field == earlier else earlier
            where = f"at most {other}" if field == earlier else f"at least {other}"
            yield field, f"{where}, within the unit", _fallen(envelope, earlier, later) & rows
        if self.commits:
            unfilled = zero(envelope.position("UORCOMMITLRSN"))
            yield (
                "UORCOMMITLRSN",
                "the LRSN of the commit, as other records have it",
                unfilled & rows & (envelope.member() != 0),
            )
        if self.lengths != (None, None) and "SEGLEN" in envelope.layout.names:
            more = _excess(envelope, lengths)
            for excess, segments in zip(self.lengths, _first_and_later(envelope), strict=True):
                if excess is not None:
                    wrong = (more != excess & 0xFFFF) & segments & rows
                    yield "SEGLEN", "the length of the segment", wrong


def _of_rows(change: Bytes) -> Mask:
    return np.asarray((change > 0) & (change <= Change.DELETE))


def _most(kept: Mask) -> bool:
    """Whether all keep a rule but one, or one in fifty."""
    breaks = len(kept) - int(kept.sum())
    return breaks * 2 < len(kept) and breaks <= max(1, len(kept) // 50)


def _fallen(envelope: Headers, earlier: str, later: str) -> Mask:
    """Records whose later position lies before the earlier one; zeros tell nothing."""
    first, first_low = _words(envelope.position(earlier))
    second, second_low = _words(envelope.position(later))
    fallen = (first > second) | ((first == second) & (first_low > second_low))
    return np.asarray(fallen & ((second | second_low) != 0))


def _words(position: Bytes) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint16]]:
    return (
        position[:, :8].view(">u8")[:, 0].astype(np.uint64),
        position[:, 8:].view(">u2")[:, 0].astype(np.uint16),
    )


def _excess(envelope: Headers, lengths: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """By how much SEGLEN exceeds the length of each record, in 16 bits."""
    return np.asarray((envelope.number("SEGLEN").astype(np.int64) - lengths) & 0xFFFF)


def _first_and_later(envelope: Headers) -> tuple[Mask, Mask]:
    first = np.asarray(envelope.segment() <= 1)
    return first, ~first
