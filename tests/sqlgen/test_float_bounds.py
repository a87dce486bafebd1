"""The numbers that count as the same as a float in a WHERE."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sqlgen.dialects import profile_named
from sqlgen.literals import float_text
from sqlgen.schema import ARROW_TYPES, Column, SqlType
from sqlgen.statements import FLOAT_ULPS, float_bounds


@pytest.mark.parametrize("kind", [SqlType.REAL, SqlType.DOUBLE])
@pytest.mark.parametrize("dialect", ["postgres", "sqlite", "tsql"])
def test_zero_is_itself_alone(dialect: str, kind: SqlType) -> None:
    width = np.float32 if kind is SqlType.REAL else np.float64
    info = np.finfo(width)
    least = info.smallest_subnormal
    numbers = np.array([0.0, -0.0, info.tiny, -info.tiny, 1.0, least, -least], width)
    low, high = (
        np.array([float(text) for text in side.to_pylist()], width)
        for side in float_bounds(pa.array(numbers), Column("F", kind), profile_named(dialect))
    )
    assert (low[:2] == 0).all()
    assert (high[:2] == 0).all()
    assert ((low <= numbers) & (numbers <= high)).all()
    assert not ((low[2:] <= 0) & (high[2:] >= 0)).any()


def steps(value: float, width: type[np.float32] | type[np.float64], away: int) -> float:
    """The number that is some numbers further up (or down), by the order of their bits; infinity is
    the last one."""
    bits = {np.float32: np.uint32, np.float64: np.uint64}[width]
    top = 1 << 8 * np.dtype(bits).itemsize - 1

    def place(number: float) -> int:
        raw = int(np.array(number, width).view(bits))
        return raw if raw < top else top - raw

    last = place(np.inf)
    at = max(min(place(value) + away, last), -last)
    return float(np.array(at if at >= 0 else top - at, bits).view(width))


@pytest.mark.parametrize("kind", [SqlType.REAL, SqlType.DOUBLE])
@pytest.mark.parametrize("dialect", ["postgres", "sqlite", "tsql", "db2"])
def test_bounds_are_four_numbers_away(dialect: str, kind: SqlType) -> None:
    """But zero is no neighbour of any; infinity, where the target has it, is one as others are."""
    width = np.float32 if kind is SqlType.REAL else np.float64
    info, form = np.finfo(width), profile_named(dialect).floats[kind]
    sizes = [info.smallest_subnormal, 3 * info.smallest_subnormal, info.tiny, 0.1, 1.0, 2.0, 1e30]
    sizes += [info.max, np.nextafter(info.max, width(0))]
    numbers = [width(sign * size) for size in sizes for sign in (1, -1)]
    expected: list[tuple[float, float]] = []
    for number in [*numbers, width(np.inf), width(-np.inf)]:
        low, high = (steps(float(number), width, way) for way in (-FLOAT_ULPS, FLOAT_ULPS))
        low = max(low, float(info.smallest_subnormal)) if number > 0 else low
        high = min(high, -float(info.smallest_subnormal)) if number < 0 else high
        if not form.infinity:
            low, high = max(low, -float(info.max)), min(high, float(info.max))
            low, high = min(low, float(info.max)), max(high, -float(info.max))
        expected.append((low, high))
    expected += [(0.0, 0.0)] * 3
    values = [*map(float, numbers), np.inf, -np.inf, 0.0, -0.0, None]
    with np.errstate(over="raise"):  # whatever is said elsewhere of floats that overflow
        found = float_bounds(
            pa.array(values, ARROW_TYPES[kind]), Column("F", kind), profile_named(dialect)
        )
    for side, texts in enumerate(found):
        wanted = pa.array([pair[side] for pair in expected], ARROW_TYPES[kind])
        assert texts.to_pylist() == float_text(wanted, form).to_pylist()
