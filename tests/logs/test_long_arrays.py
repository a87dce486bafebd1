"""Arrays as long as logs are put in order, and their rows together, window by window as at once."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from replay.logs import indexed_log, long_arrays
from replay.logs.long_arrays import LongArrays, all_of, any_of, windows, windows_back

WINDOWS = [1, 2, 7, 64]


@pytest.fixture(params=WINDOWS)
def window(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(long_arrays, "WINDOW", request.param)
    monkeypatch.setattr(long_arrays, "BUDGET", 0)
    return int(request.param)


def drawn(draw: random.Random) -> np.ndarray:
    """Numbers: few and many different ones, of which one may be of most rows, in order or not."""
    count, most = draw.randrange(1, 300), draw.choice([1, 3, 1 << 20, (1 << 64) - 1])
    values = [draw.randint(0, most) for _ in range(count)]
    often = draw.choice([values[0], 0, (1 << 64) - 1])
    if draw.random() < 0.5:
        values = [often if draw.random() < 0.8 else value for value in values]
    if draw.random() < 0.3:
        values.sort()
    return np.array(values, np.uint64)


def test_windows(window: int) -> None:
    for count in (0, 1, 2, window - 1, window, window + 1, 5 * window + 2):
        found = [row for part in windows(count) for row in range(part.start, part.stop)]
        assert found == list(range(count))
        assert list(windows_back(count)) == list(windows(count))[::-1]
        assert all(part.stop - part.start <= window for part in windows(count))
        values = np.zeros(count, np.int64)
        assert not any_of(values)
        assert all_of(values) == (count == 0)
        if count:
            values[count // 2] = 1
            assert any_of(values)
            assert all_of(values, np.array([count // 2]))


@pytest.mark.parametrize("seed", range(8))
def test_rows_in_the_order_of_a_number(window: int, seed: int, tmp_path: Path) -> None:
    draw, arrays = random.Random(seed), LongArrays(str(tmp_path))
    values = drawn(draw)
    for numbers in (values, values.astype(np.int64)):
        rows = np.array(draw.sample(range(len(values)), draw.randrange(len(values) + 1)), np.int64)
        kept = rows.copy()
        found = arrays.by(rows, lambda some, of=numbers: of[some])
        expected = rows[np.argsort(numbers[rows], kind="stable")]
        assert found.tolist() == expected.tolist()
        assert rows.tolist() == kept.tolist()


@pytest.mark.parametrize("seed", range(8))
def test_rows_of_one_key_are_together(window: int, seed: int, tmp_path: Path) -> None:
    draw, arrays = random.Random(seed), LongArrays(str(tmp_path))
    values = drawn(draw)
    one = arrays.places(len(values), lambda part: np.arange(part.start, part.stop) % 3 > 0)
    other = arrays.chosen(one, lambda rows: values[rows] % np.uint64(2) > 0)
    assert one.tolist() == [row for row in range(len(values)) if row % 3]
    assert other.tolist() == [row for row in one.tolist() if values[row] % 2]
    parts = list(arrays.together(one, lambda rows: values[rows], other, lambda rows: values[rows]))
    for number, rows in ((0, one), (1, other)):
        assert sorted(row for part in parts for row in part[number].tolist()) == rows.tolist()
        assert all((np.diff(part[number]) > 0).all() for part in parts)
    held = [{*values[mine].tolist(), *values[theirs].tolist()} for mine, theirs in parts]
    assert sum(map(len, held)) == len(set().union(*held))


def test_they_are_put_behind_each_other(window: int, tmp_path: Path) -> None:
    arrays = LongArrays(str(tmp_path))

    def parts() -> Iterator[np.ndarray]:
        yield from (np.arange(size) for size in (0, 5, 40))

    assert arrays.collected(parts(), np.int64).tolist() == [*range(5), *range(40)]
    seven = arrays.full(90, 7, np.int64)
    copy = arrays.copied(seven)
    copy[3] = 1
    assert set(seven.tolist()) == {7}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("seed", range(8))
def test_ranges_of_rows(window: int, seed: int) -> None:
    """Ranges end before the row with which they would be as large as is wanted."""
    draw = random.Random(seed)
    size = np.array([draw.choice([0, 1, 9, 70, 900]) for _ in range(draw.randrange(130))], np.int32)
    for wanted in (1, 64, 65, 200, 1000, 1 << 20):
        expected, start = [], 0
        while start < len(size):
            stop, held = start + 1, int(size[start]) + 64
            while stop < len(size) and held + int(size[stop]) + 64 < wanted:
                held += int(size[stop]) + 64
                stop += 1
            expected.append((start, stop))
            start = stop
        assert list(indexed_log._ranges(size, 64, wanted)) == expected
