"""What positions of a Log Master log must obey: a change lies between the begin and the commit of
its unit, by RBA and by LRSN."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from replay.arrays import Mask
from replay.changes.position import sortable
from replay.logs.logmaster.headers import Headers
from replay.logs.logmaster.reader import LogmasterLog

#: (earlier field, later field): what is told of both must not stand the other way round.
_RISING = (
    ("UORID", "LOGRBA"),
    ("LOGRBA", "UORCOMMITPOINT"),
    ("UORIDLRSN", "LOGLRSN"),
    ("LOGLRSN", "UORCOMMITLRSN"),
)


def faults(log: LogmasterLog, envelope: Headers) -> Sequence[tuple[str, str, str, Mask]]:
    """(field, found, expected, records) for changes that lie outside of their unit; zeros tell
    nothing."""
    return list(_faults(envelope))


def _faults(envelope: Headers) -> Iterator[tuple[str, str, str, Mask]]:
    positions = {name: envelope.position(name) for name in {*chain(*_RISING)}}
    words = {name: sortable(position) for name, position in positions.items()}
    for earlier, later in _RISING:
        wrong = words[earlier] > words[later]
        if not wrong.any():
            continue
        wrong &= positions[earlier].any(axis=1) & positions[later].any(axis=1)
        if wrong.any():
            name = earlier if earlier.startswith("LOG") else later
            yield name, f"{earlier} above {later}", f"at most {later}", wrong


def rising(log: LogmasterLog) -> bool:
    """Whether records are placed by LOGRBA."""
    return "ORDERVALUE" not in log.control.header.names
