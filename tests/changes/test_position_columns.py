"""Columns of positions and units: taken apart, put together and compared as the scalars are."""

from __future__ import annotations

import numpy as np
import pytest

from replay.changes.envelope import as_bytes, opaque
from replay.changes.position import (
    HIGHEST,
    LOWEST,
    POSITION,
    UNIT,
    UNIT_POSITION_FIELDS,
    Position,
    UnitId,
    UnitPosition,
    commit_of,
    highest_of,
    leading_words,
    lowest_of,
    sortable,
    unit_of,
    unit_positions,
    urids_of,
)

POSITIONS = [LOWEST, LOWEST.above, Position(b"\1" + bytes(9)), HIGHEST.below, HIGHEST]
UNITS = [UnitId(bytes([n]) * 10 + bytes([0, n])) for n in range(len(POSITIONS))]


@pytest.mark.parametrize("count", range(len(POSITIONS) + 1))
def test_columns_say_what_scalars_say(count: int) -> None:
    positions, units = POSITIONS[:count], UNITS[:count]
    commit, unit = (
        np.frombuffer(b"".join(positions), POSITION),
        np.frombuffer(b"".join(units), UNIT),
    )
    both = unit_positions(commit, unit)
    assert [UnitPosition(row.tobytes()) for row in both] == [
        UnitPosition(one + other) for one, other in zip(positions, units, strict=True)
    ]
    rows = both.view(UNIT_POSITION_FIELDS)
    assert [commit_of(row) for row in rows] == positions
    assert [unit_of(row) for row in rows] == units
    urids = urids_of(as_bytes(unit))
    assert urids.shape == (count, 10)
    assert [row.tobytes() for row in urids] == [one.urid for one in units]


def test_order_of_columns_is_order_of_octets() -> None:
    shuffled = [POSITIONS[place] for place in (3, 0, 4, 2, 1)]
    column = np.frombuffer(b"".join(shuffled), POSITION)
    assert [shuffled[place] for place in np.argsort(sortable(column))] == POSITIONS
    assert (sortable(as_bytes(column)) == sortable(column)).all()
    words = leading_words(column).tolist()
    assert words == [int.from_bytes(one) >> 16 for one in shuffled]
    assert highest_of(column) == HIGHEST
    assert highest_of(opaque(as_bytes(column)[1:2])) == LOWEST
    assert lowest_of(column) == LOWEST
    assert lowest_of(column[[0, 2, 3]]) == Position(b"\1" + bytes(9))
    assert type(lowest_of(column)) is Position
