"""Machine code finds the records that the other way finds, and none where that finds none."""

from __future__ import annotations

import numpy as np
import pytest

from replay.arrays import Bytes
from replay.decoding.machine_code import available
from replay.logs.logmaster import framing
from replay.logs.logmaster.framing import Block, Framing, RecordShape

SHAPE = RecordShape(20, b"\xc4\xc2\xf2\xd7")


def records(seed: int, count: int) -> Bytes:
    """Records of 20 to 900 bytes with descriptor words."""
    rng = np.random.default_rng(seed)
    parts = []
    for size in rng.integers(20, 900, count).tolist():
        body = SHAPE.pattern + rng.bytes(size - len(SHAPE.pattern))
        parts.append((size + 4).to_bytes(2, "big") + b"\0\0" + body)
    return np.frombuffer(b"".join(parts), np.uint8)


def walked(buffer: Bytes, stop: int) -> Block | None:
    return framing._walk_parallel(buffer, Framing.RDW, SHAPE, 0, stop, 7)


def both(
    monkeypatch: pytest.MonkeyPatch, buffer: Bytes, stop: int
) -> tuple[Block | None, Block | None]:
    plain = walked(buffer, stop)
    monkeypatch.setattr(framing, "WORTH", 0)
    assert available(framing._KERNEL) is not None
    made = []
    really = framing._walk_compiled
    monkeypatch.setattr(framing, "_walk_compiled", lambda *a: made.append(really(*a)) or made[0])
    again = walked(buffer, stop)
    assert (again is None) is (plain is None)
    return plain, made[0]


@pytest.mark.parametrize("part", [1, 3, 4])
def test_they_find_the_same(monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    buffer = records(part, 1500)
    plain, quick = both(monkeypatch, buffer, len(buffer) * part // 4)
    assert plain is not None
    assert quick is not None
    assert (plain.start, plain.stop, plain.first_record) == (0, quick.stop, 7)
    assert plain.offsets.tolist() == quick.offsets.tolist()
    assert plain.lengths.tolist() == quick.lengths.tolist()
    assert (quick.offsets.dtype, quick.lengths.dtype) == (plain.offsets.dtype, plain.lengths.dtype)


@pytest.mark.parametrize(
    ("place", "octets"),
    [(0, b"\0\4"), (2, b"\1"), (3, b"\1"), (0, b"\0\5"), (0, b"\xff\xff")],
    ids=["too short", "third octet", "fourth octet", "within itself", "beyond the next chain"],
)
@pytest.mark.parametrize("record", [0, 700, 1499])
def test_neither_goes_on_after_a_wrong_word(
    monkeypatch: pytest.MonkeyPatch, record: int, place: int, octets: bytes
) -> None:
    buffer = records(9, 1500).copy()
    good = walked(buffer, len(buffer))
    assert good is not None
    at = int(good.offsets[record]) - 4 + place
    buffer[at : at + len(octets)] = np.frombuffer(octets, np.uint8)
    assert both(monkeypatch, buffer, len(buffer)) == (None, None)


def test_neither_goes_on_behind_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = records(11, 1500)
    assert both(monkeypatch, buffer[:-1], len(buffer) - 1) == (None, None)


@pytest.mark.long
def test_more_records_than_headers_fit_are_left_to_the_other_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    buffer = np.frombuffer(b"\0\6\0\0ab" * 40_000, np.uint8)
    plain, quick = both(monkeypatch, buffer, len(buffer))
    assert plain is not None
    assert len(plain.offsets) == 40_000
    assert quick is None
