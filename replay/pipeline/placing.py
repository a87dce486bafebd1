"""Positions and units of recovery as people give them, in the form of a log's envelopes."""

from __future__ import annotations

from replay.changes.position import Position
from replay.errors import UsageError
from replay.logs import LogFile, placed_position


def place_position(log: LogFile, position: bytes | None, last: bool) -> Position | None:
    """A position as the user gave it, as the log places it; of several that it may mean, the
    ``last`` or the first one. UsageError (LR1001) for a form of position that its family does not
    have."""
    if position is None:
        return None
    octets = bytes(position)
    placed = log.placed(octets, last) if len(octets) in _SIZES else octets
    return placed_position(placed, octets)


#: Octets of a position as a user may give it.
_SIZES = (6, 8, 10, 20, 28)


def placed_unit(log: LogFile, unit: bytes) -> bytes:
    """The id of a unit of recovery as the log places it. UsageError (LR1001) for one that its
    family does not have."""
    placed = log.placed_unit(unit)
    if len(placed) != Position.SIZE or len(unit) not in _SIZES:
        raise UsageError(
            "LR1001",
            f"found the id of a unit of {2 * len(unit)} digits; expected 20 (or 12, or 16)",
        )
    return placed
