"""Logs are indexed a window and a part at a time: whatever these hold, the index and what is said
are the same, and memory does not grow with the log."""

from __future__ import annotations

import json
import random
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest

from replay import spill
from replay.errors import LogReplayError
from replay.logs import Inputs, files, indexed_log
from replay.logs.db2luw import framing, reader, scan
from replay.logs.indexed_log import IndexedLog
from replay.logs.soliddb import export_files, index
from replay.logs.soliddb import reader as solid_reader
from tests.independent import solid_export, solid_history
from tests.independent.harm import harmed_export
from tests.independent.solid_export import form_of
from tests.logs.db2luw.test_damage import row
from tests.logs.soliddb.test_structure import OLD, unit
from tests.support import solidbuilder
from tests.support.luwbuilder import PLAIN, LogBuilder, catalog_csv
from tests.support.solidbuilder import write_catalog, write_rows

SEEDS = range(12)
OpenLog = Callable[[Inputs], IndexedLog]


def outcome(open_log: OpenLog, inputs: Inputs) -> Any:
    """All that an index says, or the error."""
    try:
        log = open_log(inputs)
    except LogReplayError as error:
        return str(error)
    arrays = [log.array(number) for number in range(len(log.arrays))]
    return (
        [(str(array.dtype), array.shape, array.tobytes()) for array in arrays],
        log.opening_warnings,
        repr(log.catalog.versions),
        repr(sorted(log.changes.items())),
        [(file.name, file.first, file.count) for file in log.files],
        log.positions_are_places,
    )


def compare(
    open_log: OpenLog, inputs: Inputs, monkeypatch: pytest.MonkeyPatch, sizes: Sequence[int]
) -> Any:
    """The outcome at once and in windows of these sizes, which is the same."""
    with monkeypatch.context() as patch:
        patch.setattr(spill, "WINDOW", 1 << 40)
        whole = outcome(open_log, inputs)
        for number, size in enumerate(sizes):
            patch.setattr(spill, "WINDOW", size)
            patch.setattr(spill, "BUDGET", 0 if number else 1 << 20)
            assert outcome(open_log, inputs) == whole, f"windows of {size}"
    return whole


def drawn_sizes(draw: random.Random) -> list[int]:
    return [draw.randrange(1, 40), draw.randrange(40, 200)]


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_soliddb(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exports, whole, damaged, of two sessions of which the second repeats a part of the first, and
    without their beginning, which are read in pieces too."""
    draw, kind = random.Random(f"parts {seed}"), ("csv", "parquet", "jsonl")[seed % 3]
    history = solid_history.History(f"parts {seed}", form_of(seed), 30, 3, bytes_too=seed % 2 > 0)
    solid_history.case_of(history, tmp_path, named=False)
    lines = history.export.lines
    one, two = sorted(draw.sample(range(1, len(lines)), 2))
    exports = {
        "whole": [lines],
        "again": [lines[:two], lines[one:]],
        "headless": [lines[one:]],
        **{f"harm {number}": [harmed_export(history.export, draw)[1]] for number in range(3)},
    }
    monkeypatch.setattr(export_files, "_ROWS", draw.randrange(1, 60))
    monkeypatch.setattr(export_files, "_SMALL_BLOCK", draw.choice([1 << 9, 1 << 12, 1 << 20]))
    for name, parts in exports.items():
        paths = []
        for number, part in enumerate(parts):
            (tmp_path / f"{name} {number}").mkdir()
            written = solid_export.Export(history.form, part).write(tmp_path / f"{name} {number}")
            paths.append(as_kind(written, kind))
        inputs = Inputs(
            log=tuple(map(str, paths)), catalog=str(tmp_path), scratch=str(tmp_path),
            framing=draw.choice([None, history.form.name]), options={"gaps": "accept"},
        )  # fmt: skip
        found = compare(solid_reader.open_log, inputs, monkeypatch, drawn_sizes(draw))
        assert not isinstance(found, str) or name != "whole", found


def as_kind(path: Path, kind: str) -> Path:
    """A CSV export as another kind of file."""
    if kind == "csv":
        return path
    text = pa.string()
    columns = path.read_text(encoding="utf-8").partition("\n")[0].strip().split(",")
    table = csv.read_csv(
        path,
        convert_options=csv.ConvertOptions(
            column_types=dict.fromkeys(columns, text), strings_can_be_null=True, null_values=[""]
        ),
    )
    other = path.with_suffix(f".{kind}")
    if kind == "parquet":
        parquet.write_table(table, other, row_group_size=50)
    else:
        rows = (json.dumps(row) + "\n" for row in table.to_pylist())
        other.write_text("".join(rows), encoding="utf-8")
    return other


@pytest.mark.parametrize("seed", SEEDS)
def test_sessions_that_repeat(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read sessions of which the next ones hold units of those before, with the same rows or with
    others."""
    draw, log = random.Random(f"sessions {seed}"), solidbuilder.LogBuilder()
    write_catalog(tmp_path, (OLD,))
    for number in range(12):
        unit(log, lambda made, number=number: made.insert(OLD, (number, "Ann")))
    files = []
    for number in range(3):
        first, last = sorted(draw.sample(range(13), 2))
        rows = [{**held, "SEQ": at} for at, held in enumerate(log.rows[3 * first : 3 * last])]
        if seed % 4 == 3 and number == 2:
            rows[1]["STMTTRXID"] = 77
        files.append(str(write_rows(tmp_path / f"{number}.csv", rows)))
    inputs = Inputs(
        log=tuple(files), catalog=str(tmp_path), scratch=str(tmp_path), options={"gaps": "accept"}
    )
    compare(solid_reader.open_log, inputs, monkeypatch, [1, 2, 5, 40])


@pytest.mark.parametrize("seed", range(16))
def test_addresses_that_fall_or_leave_out_numbers(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, log = random.Random(f"addresses {seed}"), solidbuilder.LogBuilder()
    write_catalog(tmp_path, (OLD,))
    for number in range(6):
        unit(
            log,
            lambda made, number=number: [
                made.insert(OLD, (10 * number + each, "Ann")) for each in range(6)
            ],
        )
    rows = [dict(held) for held in log.rows]
    for _ in range(draw.randrange(1, 3)):
        number = draw.randrange(1, len(rows) - 1)
        if draw.random() < 0.5:
            del rows[number]
        else:
            rows[number]["LOGADDR"] = rows[number - 1]["LOGADDR"]
    rows = [{**held, "SEQ": at} for at, held in enumerate(rows)]
    path = write_rows(tmp_path / "rows.csv", rows)
    inputs = Inputs(log=(str(path),), catalog=str(tmp_path), scratch=str(tmp_path))
    compare(solid_reader.open_log, inputs, monkeypatch, [1, 2, 5, 7])


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
