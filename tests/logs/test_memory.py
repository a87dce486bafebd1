"""Logs are indexed a window and a part at a time, so that memory does not grow with the log."""

from __future__ import annotations

import random
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from replay import spill
from replay.logs import Inputs, files, indexed_log
from replay.logs.db2luw import framing, reader, scan
from replay.logs.soliddb import export_files, index
from replay.logs.soliddb import reader as solid_reader
from tests.logs.db2luw.test_damage import row
from tests.logs.soliddb.test_structure import OLD, unit
from tests.support import solidbuilder
from tests.support.luwbuilder import PLAIN, LogBuilder, catalog_csv
from tests.support.solidbuilder import write_catalog, write_rows


def units_side_by_side(count: int) -> bytes:
    """Two units at a time, of which one takes a change back."""
    builder = LogBuilder("v10", big=False, framing="raw")
    for number in range(count):
        one, other = builder.begin(), builder.begin()
        one.insert(PLAIN, row(number), (number, 1))
        other.insert(PLAIN, row(-number), (number, 2))
        other.insert(PLAIN, row(-number - 1), (number, 3))
        other.undo(other.written[-1])
        one.update(PLAIN, row(number), row(number, "Bea"), (number, 1))
        other.commit()
        one.commit()
    return builder.bytes()


@pytest.mark.long
def test_memory_does_not_grow_with_a_db2luw_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spill, "WINDOW", 256)
    monkeypatch.setattr(spill, "BUDGET", 4096)
    monkeypatch.setattr(reader, "_HEAD", 4096)
    monkeypatch.setattr(scan, "_BATCH", 256)
    monkeypatch.setattr(framing, "_TOGETHER", 256)
    (tmp_path / "catalog.csv").write_text(catalog_csv((PLAIN,)), encoding="utf-8")
    peaks = []
    for count in (60, 200, 1600):  # the first one for what is made once
        path = tmp_path / f"{count}.log"
        path.write_bytes(units_side_by_side(count))
        inputs = Inputs(
            log=(str(path),), catalog=str(tmp_path / "catalog.csv"), scratch=str(tmp_path)
        )
        tracemalloc.start()
        log = reader.open_log(inputs)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(log.entries()) == 7 * count
        assert len(log.units()) == 2 * count
        assert not np.asarray(log.entries()["fault"]).any()
    assert peaks[2] < 1.2 * peaks[1], peaks


@pytest.mark.long
@pytest.mark.parametrize("kind", ["parquet", "jsonl", "jsonl.gz"])
def test_memory_does_not_grow_with_a_soliddb_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(spill, "WINDOW", 256)
    monkeypatch.setattr(spill, "BUDGET", 4096)
    monkeypatch.setattr(export_files, "_ROWS", 256)
    monkeypatch.setattr(export_files, "_SMALL_BLOCK", 1 << 14)
    monkeypatch.setattr(export_files, "_BUFFER", 1 << 13)
    monkeypatch.setattr(files, "_BLOCK", 1 << 13)
    monkeypatch.setattr(index, "_BATCH", 256)
    write_catalog(tmp_path, (OLD,))
    peaks = []
    for count in (60, 300, 2400):  # the first one for what is made once
        log = solidbuilder.LogBuilder()
        for number in range(count):
            unit(log, lambda made, number=number: made.insert(OLD, (number, "Ann")))
        path = write_rows(tmp_path / f"{count}.{kind}", log.rows)
        inputs = Inputs(log=(str(path),), catalog=str(tmp_path), scratch=str(tmp_path))
        tracemalloc.start()
        opened = solid_reader.open_log(inputs)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(opened.entries()) == 3 * count
        assert len(opened.units()) == count
        assert not np.asarray(opened.entries()["fault"]).any()
    assert peaks[2] < 1.2 * peaks[1], peaks


@pytest.mark.parametrize("seed", range(8))
def test_ranges_of_rows(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges end before the row with which they would be as large as is wanted."""
    draw = random.Random(seed)
    monkeypatch.setattr(spill, "WINDOW", draw.choice([1, 2, 7, 64]))
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
