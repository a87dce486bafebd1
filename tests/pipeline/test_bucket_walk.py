"""A walk along the records of a bucket finds the units, and every record that is no whole change of
its own."""

from __future__ import annotations

import random

import numpy as np
import pytest

from replay.arrays import Records, take_rows
from replay.changes.envelope import RECORD
from replay.changes.order import commit_order
from replay.pipeline import chunk
from replay.pipeline.chunk import walked


def drawn(draw: random.Random, count: int) -> Records:
    """Records in commit order, of which some are odd; one field of each odd one, or both of two
    neighbours, says so."""
    records = np.zeros(count, RECORD)
    of_unit = draw.choice([1, 3, 40])
    for number, record in enumerate(records):
        unit = number // of_unit
        record["commit"] = (unit // 2).to_bytes(10, "big")  # two members commit at one time
        record["unit"] = unit.to_bytes(12, "big")
        record["position"] = (number // draw.choice([1, 1, 1, 1, 2])).to_bytes(10, "big")
        record["segment"] = draw.choice([0, 1] if draw.random() < 0.99 else [2, 256])
        record["segments"] = draw.choice([0, 1] if draw.random() < 0.99 else [2, 256])
        record["damaged"] = draw.random() < 0.01
        record["unit_facts"] = unit + (1 << 63) * (draw.random() < 0.02)
        record["offset"] = number
    return take_rows(records, commit_order(records))


def expected(records: Records) -> tuple[list[int], list[bool]]:
    """The first record of each unit, and which records are odd, one by one."""
    starts, odd = list[int](), list[bool]()
    for number, record in enumerate(records):
        before = records[number - 1] if number else None
        if before is None or any(before[name] != record[name] for name in ("commit", "unit")):
            starts.append(number)
            again = False
        else:
            again = all(before[name] == record[name] for name in ("position", "segment"))
        facts = records["unit_facts"][starts[-1]]
        strange = record["segment"] > 1 or record["segments"] > 1 or record["damaged"]
        odd.append(bool(strange or again or record["unit_facts"] != facts))
    return starts, odd


@pytest.mark.parametrize("seed", range(12))
def test_units_and_odd_records(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(seed)
    monkeypatch.setattr(chunk, "BLOCK", 1)
    monkeypatch.setattr(chunk, "STEP", draw.choice([1, 7, 64, 1 << 16]))
    records = drawn(draw, draw.choice([1, 2, 300, 700]))
    found = walked(records)
    starts, odd = expected(records)
    assert found.unit_start.tolist() == starts
    assert found.odd.tolist() == odd


def test_an_odd_record_is_seen_wherever_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunk, "STEP", 128)
    records = np.zeros(400, RECORD)
    for number, record in enumerate(records):
        record["position"] = number.to_bytes(10, "big")
    assert walked(records).each_alone(0, 400)
    for place in (0, 63, 64, 127, 128, 255, 399):
        changed = records.copy()
        changed["damaged"][place] = True
        found = walked(changed)
        assert not found.each_alone(place, place + 1)
        assert not found.each_alone(0, 400)
        assert found.each_alone(0, place // 64 * 64)
        assert found.each_alone((place // 64 + 1) * 64, 400)


def test_no_records() -> None:
    assert walked(np.zeros(0, RECORD)).unit_start.tolist() == []
