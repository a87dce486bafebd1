"""Images of changes of several kinds are found together where all of them close."""

from __future__ import annotations

import numpy as np
import pytest

from replay.arrays import Bytes, Index
from replay.changes.envelope import Change
from replay.logs.logmaster import data
from replay.logs.logmaster.data import Reading

ROWS = 100


def drawn(
    rng: np.random.Generator, reading: Reading, outer: bool, kind: Change
) -> tuple[Bytes, Index, Index]:
    """DATA of changes in random order with other bytes between, and where it begins and ends."""
    pieces, edges, place = [], [], 0
    for size in rng.integers(0, 300, (ROWS, 2 if kind is Change.UPDATE else 1)).tolist():
        counted = 2 if reading is Reading.B else 0
        body = b"".join((one + counted).to_bytes(2, "big") + rng.bytes(one) for one in size)
        if reading is Reading.A and outer:
            body = (len(body) + 2).to_bytes(2, "big") + body
        between = rng.bytes(int(rng.integers(1, 9)))
        edges.append((place, place + len(body)))
        pieces += [body, between]
        place += len(body) + len(between)
    rng.shuffle(edges)
    start, end = np.array(edges, np.int64).T
    return np.frombuffer(b"".join(pieces), np.uint8), start, end


@pytest.mark.parametrize("outer", [True, False])
@pytest.mark.parametrize("kind", [Change.INSERT, Change.UPDATE, Change.DELETE])
@pytest.mark.parametrize("reading", list(Reading))
def test_what_does_not_close_is_left_to_the_other_way(
    reading: Reading, kind: Change, outer: bool
) -> None:
    rng = np.random.default_rng(5)
    two = np.full(ROWS, kind is Change.UPDATE)
    for damaged in range(40):
        buffer, start, end = drawn(rng, reading, outer, kind)
        row = int(rng.integers(0, ROWS))
        match damaged % 5:
            case 1:
                buffer = buffer.copy()
                buffer[start[row] + int(rng.integers(0, 2))] ^= 1 << int(rng.integers(0, 8))
            case 2:
                end[row] += int(rng.choice([-2, -1, 1]))
            case 3:
                start[row] = end[row]
            case 4:
                buffer = buffer[: int(end.max()) - 1]
        bounds = data.closing_bounds(buffer, start, end, two, reading, outer)
        assert (bounds is None) is bool(damaged % 5)


@pytest.mark.parametrize("outer", [True, False])
@pytest.mark.parametrize("reading", list(Reading))
def test_kinds_that_are_found_together(reading: Reading, outer: bool) -> None:
    rng = np.random.default_rng(7)
    one, two = (drawn(rng, reading, outer, kind) for kind in (Change.DELETE, Change.UPDATE))
    buffer = np.concatenate([one[0], two[0]])
    order = rng.permutation(2 * ROWS)
    start, end = (np.append(one[n], two[n] + len(one[0]))[order] for n in (1, 2))
    updates = (np.arange(2 * ROWS) >= ROWS)[order]
    bounds = data.closing_bounds(buffer, start, end, updates, reading, outer)
    assert bounds is not None
    for kind, rows in ((Change.DELETE, ~updates), (Change.UPDATE, updates)):
        expected = data.find_images(buffer, start[rows], end[rows], kind, reading, outer)
        assert not expected.bad.any()
        edges = bounds[:, rows].tolist()
        assert edges[:2] == [edge.tolist() for edge in expected.first]
        if expected.second is None:
            assert edges[2:] == [edges[1]] * 2
        else:
            assert edges[2:] == [edge.tolist() for edge in expected.second]
    end[3] += 1
    assert data.closing_bounds(buffer, start, end, updates, reading, outer) is None
    assert (
        data.closing_bounds(buffer[:1], start[:0], end[:0], updates[:0], reading, outer) is not None
    )
