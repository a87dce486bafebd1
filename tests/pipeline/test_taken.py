"""Units of a run are noted in the order of their commits, each once, however they come."""

from __future__ import annotations

import numpy as np
import pytest

from replay.arrays import Records
from replay.changes.position import UNIT_POSITION
from replay.pipeline.taken import TakenUnits, UnitPosition

SIZE = UNIT_POSITION.itemsize
START = UnitPosition(bytes(SIZE))


def units_of(rng: np.random.Generator, count: int, values: int) -> Records:
    """Units whose octets have few values, so that they differ late or not at all."""
    octets = rng.integers(0, values, (count, SIZE)).astype(np.uint8)
    octets[:, 1] = rng.integers(1, values + 1, count)
    octets[:, :-3] *= rng.integers(0, 2, (count, 1)).astype(np.uint8)
    octets[:, 1] += 1
    return np.ascontiguousarray(octets).view(UNIT_POSITION).reshape(-1)


@pytest.mark.parametrize("values", [2, 255])
@pytest.mark.parametrize("count", [1, 2, 300])
@pytest.mark.parametrize("order", ["as drawn", "rising", "falling", "rising, some twice"])
def test_units_in_any_order(count: int, values: int, order: str) -> None:
    rng = np.random.default_rng(count + values)
    units = units_of(rng, count, values)
    rising = sorted(unit.tobytes() for unit in units)
    if order != "as drawn":
        units = np.frombuffer(b"".join(rising), UNIT_POSITION)
        units = units[::-1] if order == "falling" else units
        units = np.repeat(units, 2) if order == "rising, some twice" else units
    (pool,) = TakenUnits().and_then(units, START).pools
    assert len(pool.hashes) == len(set(rising))
    assert pool.last == rising[-1]
    expected = np.frombuffer(b"".join(sorted(set(rising))), UNIT_POSITION)
    assert TakenUnits().and_then(expected, START).pools[0].describe() == pool.describe()
    assert TakenUnits((pool,)).has(units).all()
