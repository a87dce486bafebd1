"""A walk along the records of a bucket finds the first record of each unit."""

from __future__ import annotations

import random

import numpy as np
import pytest

from replay.changes.envelope import RECORD
from replay.pipeline import partition
from replay.pipeline.partition import unit_starts


@pytest.mark.parametrize("seed", range(12))
def test_units_begin_where_commit_or_unit_change(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(seed)
    monkeypatch.setattr(partition, "STEP", draw.choice([1, 7, 64, 1 << 16]))
    records = np.zeros(draw.choice([1, 2, 300, 700]), RECORD)
    of_unit, starts = draw.choice([1, 3, 40]), []
    for number, record in enumerate(records):
        unit = number // of_unit
        record["commit"] = (unit // 2).to_bytes(10, "big")  # two members commit at one time
        record["unit"] = unit.to_bytes(12, "big")
        starts += [number] * (number % of_unit == 0)
    assert unit_starts(records).tolist() == starts


def test_no_records() -> None:
    assert not len(unit_starts(np.zeros(0, RECORD)))
