"""What is packed for the way from task to task comes back as it was, whoever packed it."""

from __future__ import annotations

import numpy as np
import pytest

from replay.arrays import Bytes
from replay.changes.envelope import RECORD
from replay.decoding.machine_code import available
from replay.pipeline import packed_records
from replay.pipeline.packed_records import PackedRecords, packed, unpacked

SIZE = RECORD.itemsize


def drawn(seed: int) -> Bytes:
    """Octets of records of which some columns are alike in all of them: none to all."""
    draw = np.random.default_rng(seed)
    count, differ = int(draw.integers(0, 300)), int(draw.integers(0, SIZE + 1))
    rows = np.tile(draw.integers(0, 256, SIZE, np.uint8), (count, 1))
    columns = draw.choice(SIZE, differ, replace=False)
    rows[:, columns] = draw.integers(0, draw.choice([2, 256]), (count, differ), np.uint8)
    return rows.reshape(-1)


@pytest.mark.parametrize("seed", range(40))
def test_records_come_back_and_both_ways_pack_alike(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    octets = drawn(seed)
    monkeypatch.setattr(packed_records, "once_worth", lambda *_: None)
    block = packed(octets)
    assert unpacked(block).tobytes() == octets.tobytes()
    monkeypatch.setattr(packed_records, "once_worth", lambda kernel, *_: available(kernel))
    assert packed(octets) == block
    assert unpacked(block).tobytes() == octets.tobytes()


@pytest.mark.parametrize("seed", range(10))
def test_parts_and_whole_records_are_the_same_records(seed: int) -> None:
    octets = drawn(seed)
    whole, parts = PackedRecords.whole(octets), PackedRecords.of(packed(octets))
    half = whole.count // 2
    for records in (whole, parts):
        found = [records.part(0, half).records(), records.part(half, records.count).records()]
        assert np.concatenate(found).tobytes() == octets.tobytes()


@pytest.mark.parametrize("seed", range(10))
def test_machine_code_puts_records_where_they_belong_and_reads_their_positions(seed: int) -> None:
    octets = drawn(seed)
    records, block = octets.view(RECORD), PackedRecords.of(packed(octets))
    assert block.is_whole == (block.count < packed_records.FEW)
    ranks = np.random.default_rng(seed).permutation(block.count)
    out, fields = np.zeros(len(octets), np.uint8), np.zeros((block.count, 4), np.uint64)
    assert block.put(ranks, out)
    assert out.view(RECORD)[ranks].tobytes() == records.tobytes()
    assert block.leading_words(fields)
    for name, at in (("commit", 0), ("position", 2)):
        values = [int.from_bytes(record[name].tobytes(), "big") for record in records]
        assert (fields[:, at].astype(object) << 16 | fields[:, at + 1]).tolist() == values


def test_what_is_alike_is_packed_once() -> None:
    records = np.zeros(1000, RECORD)
    records["offset"] = np.arange(1000) + 7_000_000
    assert len(packed(records.view(np.uint8))) < SIZE + 2 * 1000 + 10
