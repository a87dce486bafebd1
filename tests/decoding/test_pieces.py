"""Machine code brings pieces of a buffer together, and hashes them, as the other way does."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from replay.decoding import codecs, hashes
from replay.decoding.machine_code import available


def drawn(seed: int) -> tuple[Any, Any, Any]:
    """(a buffer, where pieces of it begin, how long they are)."""
    draw = random.Random(f"pieces {seed}")
    buffer = np.frombuffer(draw.randbytes(draw.choice([1, 9, 300, 5000])), np.uint8)
    most = min(draw.choice([1, 7, 8, 9, 25, 70]), len(buffer))
    length = np.array([draw.randint(0, most) for _ in range(draw.randrange(1, 200))])
    start = np.array([draw.randint(0, len(buffer) - size) for size in length.tolist()])
    return buffer, start, length


@pytest.mark.parametrize("seed", range(40))
def test_pieces(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    buffer, start, length = drawn(seed)
    ways: list[Any] = [lambda *_: None, lambda kernel, *_: available(kernel)]
    found = []
    for way in ways:
        for module in (codecs, hashes):
            monkeypatch.setattr(module, "once_worth", way)
            monkeypatch.setattr(module, "_MANY", 1)
        data, offsets = codecs.gather_varying(buffer, start, length)
        sums = [hashes.hash_ranges(buffer, start, start + length, number) for number in (0, 1)]
        found.append((data.tolist(), offsets.tolist(), [each.tolist() for each in sums]))
    assert found[0] == found[1]


@pytest.mark.parametrize("wrong", [(-1, 3), (8, 3)])
def test_pieces_outside_are_refused(
    wrong: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    start, length = np.array([0, wrong[0]]), np.array([5, wrong[1]])
    for module in (codecs, hashes):
        monkeypatch.setattr(module, "once_worth", lambda kernel, *_: available(kernel))
        monkeypatch.setattr(module, "_MANY", 1)
    buffer = np.zeros(10, np.uint8)
    with pytest.raises(ValueError, match="outside a buffer"):
        codecs.gather_varying(buffer, start, length)
    with pytest.raises(ValueError, match="outside a buffer"):
        hashes.hash_ranges(buffer, start, start + length)
