"""What is packed for the way from task to task comes back as it was."""

from __future__ import annotations

import numpy as np
import pytest

from replay.arrays import Bytes
from replay.changes.envelope import RECORD
from replay.pipeline.scan import packed, unpacked

SIZE = RECORD.itemsize


def drawn(seed: int) -> Bytes:
    """Bytes of records of which some columns are alike in all of them: none to all."""
    draw = np.random.default_rng(seed)
    count, differ = int(draw.integers(0, 300)), int(draw.integers(0, SIZE + 1))
    rows = np.tile(draw.integers(0, 256, SIZE, np.uint8), (count, 1))
    columns = draw.choice(SIZE, differ, replace=False)
    rows[:, columns] = draw.integers(0, draw.choice([2, 256]), (count, differ), np.uint8)
    return rows.reshape(-1)


@pytest.mark.parametrize("seed", range(40))
def test_records_come_back(seed: int) -> None:
    octets = drawn(seed)
    assert unpacked(packed(octets)).tobytes() == octets.tobytes()


def test_what_is_alike_is_packed_once() -> None:
    records = np.zeros(1000, RECORD)
    records["offset"] = np.arange(1000) + 7_000_000
    assert len(packed(records.view(np.uint8))) < SIZE + 2 * 1000 + 10
