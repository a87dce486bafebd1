"""The logs of a set in the order of what they cover: where one ends and the next begins, where both
cover the same, and where a hole is between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from replay.changes.position import Position
from replay.logs.logmaster.headers import timestamp_text
from replay.logs.text import hexadecimal

#: What stands between a log and those before it.
FIRST, JOINS, OVERLAPS, HOLE, UNTOLD = "first", "joins", "overlaps", "hole", "not told"


@dataclass(frozen=True)
class Span:
    """What a log covers. ``begin`` is what a list of logs says of it, ``end`` that or DLGE.ENDRBA;
    ``first`` and ``last`` are the lowest and the highest position of its records (LRSN in data
    sharing, RBA otherwise). None: nothing tells."""

    control: str
    data: tuple[str, ...]
    records: int
    begin: Position | None
    end: Position | None
    first: Position | None
    last: Position | None
    end_time: bytes | None
    dependent: Position | None

    @property
    def reach(self) -> Position | None:
        """How far the log goes, as far as anything tells."""
        told = [position for position in (self.end, self.last) if position is not None]
        return max(told) if told else None

    @property
    def order(self) -> tuple[bytes, bytes, bytes]:
        """What the logs of a set are sorted by."""
        return self.reach or b"", self.last or b"", self.begin or self.first or b""


@dataclass(frozen=True)
class Junction:
    """What is between a log and those before it, up to ``reach``. Of a ``hole``: from where to
    where nothing is covered."""

    kind: str
    reach: Position | None = None
    begin: Position | None = None


def junctions(spans: Sequence[Span]) -> list[Junction]:
    """What is between each log and those before it; ``spans`` in order."""
    found = []
    reach: Position | None = None
    told = True
    for place, span in enumerate(spans):
        found.append(_junction(span, reach, told) if place else Junction(FIRST))
        told = span.end is not None
        reach = max((p for p in (reach, span.reach) if p is not None), default=None)
    return found


def _junction(span: Span, reach: Position | None, told: bool) -> Junction:
    begin = span.begin
    if reach is not None and begin is not None and (begin <= reach or told):
        kind = HOLE if begin > reach else JOINS if begin == reach else OVERLAPS
        return Junction(kind, reach, begin)
    if reach is not None and span.first is not None and span.first <= reach:
        return Junction(OVERLAPS, reach, span.first)
    return Junction(UNTOLD, reach, span.first)


def holes(spans: Sequence[Span]) -> Iterator[str]:
    """Each hole between the logs, in words."""
    for place, junction in enumerate(junctions(spans)):
        if junction.kind == HOLE:
            assert junction.reach is not None
            assert junction.begin is not None
            yield (
                f"nothing covers {hexadecimal(junction.reach)} to {hexadecimal(junction.begin)},"
                f" between {spans[place - 1].control} and {spans[place].control}"
            )


def describe(spans: Sequence[Span], repeated: Sequence[int]) -> list[dict[str, Any]]:
    """The timeline as JSON-able data; ``repeated``: of each log, the records of which another one
    has the copy that counts."""
    return [
        {
            "control": span.control,
            "data": list(span.data),
            "records": span.records,
            "repeated": repeated[place],
            "begin": _hex(span.begin),
            "end": _hex(span.end),
            "end_time": None if span.end_time is None else timestamp_text(span.end_time),
            "first": _hex(span.first),
            "last": _hex(span.last),
            "dependent_position": _hex(span.dependent),
            "joint": junction.kind,
            "hole": (
                [_hex(junction.reach), _hex(junction.begin)] if junction.kind == HOLE else None
            ),
        }
        for place, (span, junction) in enumerate(zip(spans, junctions(spans), strict=True))
    ]


def _hex(position: Position | None) -> str | None:
    return None if position is None else hexadecimal(position)
