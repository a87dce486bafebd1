"""Arrays of any length hold the same in files as in memory; they are sorted and grouped window by
window as at once."""

from __future__ import annotations

import gc
import random
import re
import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from replay import spill
from replay.arrays import take_rows
from replay.logs.indexed_log import save
from replay.spill import Growing, Spill, in_parts, merged, spilled, windows, windows_back, zeros

PAIR = np.dtype([("one", "<i8"), ("two", "u1")])


@pytest.fixture(params=[1, 2, 7, 64])
def window(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(spill, "WINDOW", request.param)
    monkeypatch.setattr(spill, "BUDGET", 0)
    monkeypatch.setattr(spill, "STEP", 5)
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


def parts() -> Iterator[np.ndarray]:
    for size in (0, 3, 70, 0, 500):
        part = np.zeros(size, PAIR)
        part["one"], part["two"] = np.arange(size) - 7, 1 + np.arange(size) % 255
        yield part


def anonymous() -> int:
    """Bytes of this process that no file holds."""
    told = re.search(r"RssAnon:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    assert told is not None
    return int(told[1]) << 10


# -- in memory and in files
# -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [0, 8, 9 * 3, 9 * 74, 1 << 20])
def test_they_hold_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: int) -> None:
    monkeypatch.setattr(spill, "BUDGET", budget)
    whole = np.concatenate(list(parts()))
    for arrays in (Spill(), Spill(str(tmp_path))):
        growing = arrays.growing(PAIR)
        for part in parts():
            growing.add(part)
        with pytest.raises(TypeError, match="found values of int32; expected"):
            growing.add(np.zeros(1, np.int32))
        found = growing.array()
        assert found.dtype == PAIR
        assert found.tobytes() == whole.tobytes()
        assert arrays.copied(whole).tobytes() == whole.tobytes()
        assert spilled(whole).tobytes() == whole.tobytes()
        found["two"][5] = 9  # as if they were in memory
        assert found["two"][5] == 9
        nothing = arrays.zeros(500, PAIR)
        assert not nothing.view(np.uint8).any()
        nothing["one"] = 3
        assert (nothing["one"] == 3).all()
        assert set(arrays.full(90, 7, np.int64).tolist()) == {7}
        assert len(arrays.collected(iter(()), PAIR)) == 0
        assert arrays.collected(parts(), PAIR).tobytes() == whole.tobytes()
    del found, nothing, growing
    gc.collect()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("named", [False, True])
def test_they_take_no_memory(tmp_path: Path, named: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    arrays = Spill(str(tmp_path) if named else None)
    before = anonymous()
    one = np.ones(1 << 20, np.uint8)
    held = [
        arrays.collected((one for _ in range(100)), one.dtype),
        arrays.zeros(100 << 20, one.dtype),
    ]
    held[1][:] = held[0]
    assert anonymous() - before < 20 << 20
    assert held[1].all()


def test_a_full_disk_is_an_error_that_names_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(spill, "scratch_file", partial(open, "/dev/full", "r+b", 0))
    with pytest.raises(OSError, match=f"No space left on device: '{tmp_path}'"):
        zeros(1 << 20, np.int64)
    growing = Growing(np.int64, budget=8)
    with pytest.raises(OSError, match=f"No space left on device: '{tmp_path}'"):
        growing.add(np.zeros(9, np.int64))


def test_arrays_that_are_put_into_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are files already get another name; what nobody puts anywhere is removed."""
    monkeypatch.setattr(spill, "BUDGET", 100)
    arrays, dtype = Spill(str(tmp_path)), np.dtype([("one", "<u2"), ("other", "V6")])
    whole = arrays.zeros(4000, dtype)
    whole["one"] = np.arange(4000) % 7
    grown = arrays.collected((np.full(50 + n, n, np.uint8) for n in range(5)), np.uint8)
    unused = [arrays.zeros(4000, dtype), whole[5:9]]
    given_up = arrays.growing(np.int64)
    given_up.add(np.zeros(1000, np.int64))
    small = arrays.zeros(3, dtype)
    assert len(list(tmp_path.iterdir())) == 4
    made = [whole, grown, small, *unused[1:]]
    saved = save(made, str(tmp_path))
    del unused, given_up
    gc.collect()
    assert len([path for path in tmp_path.iterdir() if path.is_file()]) == 0
    for path, array in zip(saved, made, strict=True):
        assert isinstance(path, str)
        np.save(tmp_path / "beside.npy", array)
        assert Path(path).read_bytes() == (tmp_path / "beside.npy").read_bytes()
    whole["one"][3] = 9
    assert np.load(str(saved[0]), mmap_mode="r")["one"][3] == 9


# -- in order, and in parts
# -------------------------------------------------------------------------------------------------


def test_windows(window: int) -> None:
    for count in (0, 1, 2, window - 1, window, window + 1, 5 * window + 2):
        found = [row for part in windows(count) for row in range(part.start, part.stop)]
        assert found == list(range(count))
        assert list(windows_back(count)) == list(windows(count))[::-1]
        assert all(part.stop - part.start <= window for part in windows(count))


@pytest.mark.parametrize("together", [1, 30, 1 << 19])
@pytest.mark.parametrize("step", [1, 7, 4096])
@pytest.mark.parametrize("seed", range(6))
def test_runs_are_merged_and_equal_rows_stay_as_they_are(
    seed: int, step: int, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spill, "STEP", step)
    monkeypatch.setattr(spill, "TOGETHER", together)
    monkeypatch.setattr(spill, "BUDGET", random.Random(seed).choice([0, 1 << 20]))
    draw = random.Random(seed)
    pairs = np.zeros(draw.randrange(1, 400), [("number", "<i8"), ("row", "<i8")])
    most = draw.choice([0, 3, 1000])
    pairs["number"] = [draw.randint(-most, most) for _ in pairs]
    if draw.random() < 0.3:
        pairs["number"].sort()
    pairs["row"] = np.arange(len(pairs))
    cuts = [0, *sorted(draw.choices(range(len(pairs) + 1), k=draw.randrange(9))), len(pairs)]
    order = partial(np.argsort, kind="stable", order="number")

    def runs() -> Iterator[np.ndarray]:
        for low, high in pairwise(cuts):
            yield take_rows(pairs[low:high], order(pairs[low:high]))

    found = merged(runs(), order, lambda some, row: int(some["number"][row]))
    assert found.tolist() == pairs[order(pairs)].tolist()


@pytest.mark.parametrize("seed", range(8))
def test_rows_in_the_order_of_a_number(window: int, seed: int, tmp_path: Path) -> None:
    draw, arrays = random.Random(seed), Spill(str(tmp_path))
    values = drawn(draw)
    for numbers in (values, values.astype(np.int64)):
        rows = np.array(draw.sample(range(len(values)), draw.randrange(len(values) + 1)), np.int64)
        kept = rows.copy()
        found = arrays.by(rows, partial(np.take, numbers))
        expected = rows[np.argsort(numbers[rows], kind="stable")]
        assert found.tolist() == expected.tolist()
        assert rows.tolist() == kept.tolist()


@pytest.mark.parametrize("seed", range(8))
def test_rows_of_one_key_are_together(window: int, seed: int, tmp_path: Path) -> None:
    draw, arrays = random.Random(seed), Spill(str(tmp_path))
    values = drawn(draw)
    one = arrays.places(len(values), lambda part: np.arange(part.start, part.stop) % 3 > 0)
    other = arrays.chosen(one, lambda rows: values[rows] % np.uint64(2) > 0)
    assert one.tolist() == [row for row in range(len(values)) if row % 3]
    assert other.tolist() == [row for row in one.tolist() if values[row] % 2]
    found = list(arrays.together(one, lambda rows: values[rows], other, lambda rows: values[rows]))
    for number, rows in ((0, one), (1, other)):
        assert sorted(row for part in found for row in part[number].tolist()) == rows.tolist()
        assert all((np.diff(part[number]) > 0).all() for part in found)
    held = [{*values[mine].tolist(), *values[theirs].tolist()} for mine, theirs in found]
    assert sum(map(len, held)) == len(set().union(*held))


@pytest.mark.parametrize("budget", [8, 1 << 20])
@pytest.mark.parametrize("count", [1, 4])
def test_blocks_in_parts(count: int, budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "BUDGET", budget)
    whole = np.concatenate(list(parts()))
    found = list(in_parts(parts(), lambda some: some["one"] % count, count, PAIR))
    assert [part.tolist() for part in found] == [
        whole[whole["one"] % count == number].tolist() for number in range(count)
    ]
