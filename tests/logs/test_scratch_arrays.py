"""Large arrays lie in files: they hold the same, and what is made of them is the same."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from replay.logs import long_arrays, scratch_arrays
from replay.logs.indexed_log import save
from tests.support import luwsakila, solidsakila
from tests.support.luwbuilder import catalog_csv
from tests.support.solidbuilder import Framing, write_catalog, write_rows
from tests.support.stored import written

PAIR = np.dtype([("one", "<i8"), ("two", "u1")])


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


@pytest.mark.parametrize("budget", [0, 8, 9 * 3, 9 * 74, 1 << 20])
def test_they_hold_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: int) -> None:
    monkeypatch.setattr(scratch_arrays, "BUDGET", budget)
    monkeypatch.setattr(scratch_arrays, "_COPIED", 50)
    whole = np.concatenate(list(parts()))
    for folder in (None, str(tmp_path)):
        found = scratch_arrays.collected(parts(), PAIR, folder)
        assert found.dtype == PAIR
        assert (found == whole).all()
        found["two"][5] = 9  # as if they were in memory
        assert found["two"][5] == 9
        assert len(found) == len(whole)
        mask = whole["one"] % 3 == 0
        assert (scratch_arrays.chosen(whole, mask, folder) == whole[mask]).all()
        nothing = scratch_arrays.zeros(500, PAIR, folder)
        assert not nothing.view(np.uint8).any()
        nothing["one"] = 3
        assert (nothing["one"] == 3).all()
    assert len(scratch_arrays.collected(iter(()), PAIR, str(tmp_path))) == 0
    assert list(tmp_path.iterdir()) == []


def test_they_take_no_memory(tmp_path: Path) -> None:
    before = anonymous()
    one = np.ones(1 << 20, np.uint8)
    held = [
        scratch_arrays.collected((one for _ in range(100)), one.dtype, str(tmp_path)),
        scratch_arrays.zeros(100 << 20, one.dtype, str(tmp_path)),
    ]
    held[1][:] = held[0]
    assert anonymous() - before < 20 << 20
    assert held[1].all()


@pytest.mark.long
def test_logs_whose_index_lies_in_files(
    sakila: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    luw = luwsakila.encode(sakila, "v10", True, "raw")
    (tmp_path / "sakila.log").write_bytes(luw.data)
    (tmp_path / "catalog.csv").write_text(catalog_csv(luw.tables), encoding="utf-8")
    solid = solidsakila.encode(sakila, Framing("len32"), 20)
    (tmp_path / "catalog").mkdir()
    write_catalog(tmp_path / "catalog", solid.tables)
    half = len(solid.log.rows) // 2
    rows = [
        write_rows(tmp_path / f"syslog-{number}.parquet", part)
        for number, part in enumerate((solid.log.rows[:half], solid.log.rows[half:]))
    ]
    made, inner = list[int](), scratch_arrays._mapped

    def counted(*given: object) -> np.ndarray:
        made.append(1)
        return inner(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(scratch_arrays, "_mapped", counted)
    for source, logs, catalog in (
        ("db2luw", [tmp_path / "sakila.log"], tmp_path / "catalog.csv"),
        ("soliddb", rows, tmp_path / "catalog"),
    ):
        words = ["redo", "--source", source, "--schema", "none", "--catalog", str(catalog)]
        for log in logs:
            words += ["--log", str(log)]
        for holder in (scratch_arrays, long_arrays):
            monkeypatch.setattr(holder, "BUDGET", 1 << 40)
        monkeypatch.setattr(scratch_arrays, "KEPT", 1 << 40)
        here = written(tmp_path / f"{source}-memory", *words)
        assert not made
        for holder in (scratch_arrays, long_arrays):
            monkeypatch.setattr(holder, "BUDGET", 0)
        monkeypatch.setattr(scratch_arrays, "KEPT", 0)
        assert written(tmp_path / f"{source}-files", *words) == here
        assert len(made) >= 2
        made.clear()


@pytest.mark.long
def test_arrays_that_are_put_into_files(tmp_path: Path) -> None:
    """Those that are files already get another name; what nobody puts anywhere is removed."""
    folder, dtype = str(tmp_path), np.dtype([("one", "<u2"), ("other", "V6")])
    count = scratch_arrays.KEPT
    whole = scratch_arrays.kept(count, dtype, folder)
    whole["one"] = np.arange(count) % 7
    growing = scratch_arrays.GrowingArray(np.dtype(np.uint8), folder, kept=True, budget=10)
    for number in range(5):
        growing.add(np.full(number + 3, number, np.uint8))
    grown = growing.array()
    unused = [scratch_arrays.kept(count, dtype, folder), whole[5:9]]
    small = scratch_arrays.kept(3, dtype, folder)
    assert len(list(tmp_path.iterdir())) == 3
    arrays = [whole, grown, small, *unused[1:]]
    saved = save(arrays, folder)
    del unused
    gc.collect()
    assert len([path for path in tmp_path.iterdir() if path.is_file()]) == 0
    for path, array in zip(saved, arrays, strict=True):
        assert isinstance(path, str)
        np.save(tmp_path / "beside.npy", array)
        assert Path(path).read_bytes() == (tmp_path / "beside.npy").read_bytes()
    whole["one"][3] = 9
    assert np.load(saved[0], mmap_mode="r")["one"][3] == 9
