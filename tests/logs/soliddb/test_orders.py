"""Rows of one key have one number, by hashes as by the key itself."""

from __future__ import annotations

import random

import numpy as np
import pytest

from replay.logs.soliddb.values import Keys
from replay.spill import Spill


@pytest.mark.parametrize("seed", range(40))
def test_numbers_of_keys(seed: int) -> None:
    """The same for those of one row, also where first hashes are the same by chance."""
    draw = random.Random(f"codes {seed}")
    count = draw.randrange(1, 60)
    keys = Keys(Spill(), count)
    most = draw.choice([1, 3, 40])
    pairs = [(draw.randint(0, most), draw.choice([0, 0, 0, 1, 7])) for _ in range(count)]
    if seed % 2:
        pairs = [(one, one % 2) for one, _ in pairs]
    for row, pair in enumerate(pairs):
        keys.known[row] = draw.random() < 0.9
        for hashes, value in zip(keys.hashes, pair, strict=True):
            hashes[row] = value
    rows = np.arange(count)
    codes = keys.codes(rows, np.zeros(count, np.int64)).tolist()
    number = {pair: at for at, pair in enumerate(sorted({*_known(pairs, keys)}))}
    expected = [number[pair] if keys.known[row] else -1 for row, pair in enumerate(pairs)]
    assert codes == expected


def _known(pairs: list[tuple[int, int]], keys: Keys) -> list[tuple[int, int]]:
    return [pair for row, pair in enumerate(pairs) if keys.known[row]]
