"""Machine code finds the images that the other way finds, and leaves it what does not close."""

from __future__ import annotations

import numpy as np
import pytest

from replay.arrays import Bytes, Index
from replay.changes.envelope import Change
from replay.logs.logmaster import data
from replay.logs.logmaster.data import Bounds, Reading
from replay.native.kernels import CLOSING_IMAGES
from replay.native.machine_code import available

ROWS = 100


def drawn(
    rng: np.random.Generator, reading: Reading, outer: bool, kind: Change
) -> tuple[Bytes, Index, Index]:
    """DATA of changes in random order with other octets between, and where it begins and ends."""
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


def same(one: Bounds, other: Bounds) -> None:
    for mine, theirs in ((one.first, other.first), (one.second, other.second)):
        assert (mine is None) is (theirs is None)
        if mine is not None and theirs is not None:
            assert [edge.tolist() for edge in mine] == [edge.tolist() for edge in theirs]
    assert one.bad.tolist() == other.bad.tolist()
    assert [one.reason(row) for row in range(ROWS)] == [other.reason(row) for row in range(ROWS)]


@pytest.mark.long
@pytest.mark.parametrize("outer", [True, False])
@pytest.mark.parametrize("kind", [Change.INSERT, Change.UPDATE, Change.DELETE])
@pytest.mark.parametrize("reading", list(Reading))
def test_both_find_the_same(
    monkeypatch: pytest.MonkeyPatch, reading: Reading, kind: Change, outer: bool
) -> None:
    monkeypatch.setattr(data, "WORTH", 0)
    assert available(CLOSING_IMAGES) is not None
    rng = np.random.default_rng(5)
    for damaged in range(40):
        buffer, start, end = drawn(rng, reading, outer, kind)
        row = int(rng.integers(0, ROWS))
        match damaged % 4:
            case 1:
                buffer = buffer.copy()
                buffer[start[row] + int(rng.integers(0, 2))] ^= 1 << int(rng.integers(0, 8))
            case 2:
                end[row] += int(rng.choice([-2, -1, 1]))
            case 3:
                start[row] = end[row]
        given = buffer, start, end, kind, reading, outer
        quick = data._closing_images(*given)
        assert (quick is None) is bool(damaged % 4)
        expected = data._found_images(*given)
        assert expected.bad.any() == bool(damaged % 4)
        same(data.find_images(*given), expected)
        if quick is not None:
            same(quick, expected)


def test_images_behind_the_end_are_left_to_the_other_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "WORTH", 0)
    rng = np.random.default_rng(6)
    buffer, start, end = drawn(rng, Reading.A, True, Change.UPDATE)
    cut = buffer[: int(end.max()) - 1]
    assert data._closing_images(buffer, start, end, Change.UPDATE, Reading.A, True) is not None
    assert data._closing_images(cut, start, end, Change.UPDATE, Reading.A, True) is None


@pytest.mark.parametrize("outer", [True, False])
@pytest.mark.parametrize("reading", list(Reading))
def test_kinds_that_are_found_together(reading: Reading, outer: bool) -> None:
    rng = np.random.default_rng(7)
    one, two = (drawn(rng, reading, outer, kind) for kind in (Change.DELETE, Change.UPDATE))
    buffer = np.concatenate([one[0], two[0]])
    order = rng.permutation(2 * ROWS)
    start, end = (np.append(one[n], two[n] + len(one[0]))[order] for n in (1, 2))
    updates = (np.arange(2 * ROWS) >= ROWS).astype(np.uint8)[order]
    bounds = data.closing_bounds(buffer, start, end, updates, reading, outer)
    assert bounds is not None
    for kind, rows in ((Change.DELETE, updates == 0), (Change.UPDATE, updates == 1)):
        expected = data._found_images(buffer, start[rows], end[rows], kind, reading, outer)
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
