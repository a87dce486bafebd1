"""The numbers that count as the same as a float in a WHERE."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sqlgen.dialects import profile_named
from sqlgen.schema import Column, SqlType
from sqlgen.statements import float_bounds


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
