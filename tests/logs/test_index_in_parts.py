"""Logs are indexed a window and a part at a time: whatever these hold, the index and what is said
are the same, and memory does not grow with the log."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from replay.errors import LogReplayError
from replay.logs import Inputs, long_arrays
from replay.logs.db2luw import framing, reader, scan
from replay.logs.indexed_log import IndexedLog
from tests.independent import luw_history
from tests.independent.harm import harmed_log
from tests.logs.db2luw.test_damage import row
from tests.support.luwbuilder import LogBuilder, catalog_csv
from tests.support.luwhistory import PLAIN

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
        patch.setattr(long_arrays, "WINDOW", 1 << 40)
        whole = outcome(open_log, inputs)
        for number, size in enumerate(sizes):
            patch.setattr(long_arrays, "WINDOW", size)
            patch.setattr(long_arrays, "BUDGET", 0 if number else 1 << 20)
            assert outcome(open_log, inputs) == whole, f"windows of {size}"
    return whole


def drawn_sizes(draw: random.Random) -> list[int]:
    return [draw.randrange(1, 40), draw.randrange(40, 200)]


@pytest.mark.parametrize("seed", SEEDS)
def test_db2luw(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs of all releases, whole, damaged, and with a stretch that a second file repeats."""
    draw = random.Random(f"parts {seed}")
    form, wants = luw_history.form_of(seed), luw_history.wants_of(seed)
    if seed % 3 == 2:
        form = luw_history.Form("v10", form.order, form.framing, streams=2)
    wants = luw_history.Wants(
        changes=25, tables=3, rows=6, values=False,
        moves=wants.moves, short=wants.short, described=wants.described,
    )  # fmt: skip
    history = luw_history.History(f"parts {seed}", form, wants)
    luw_history.case_of(history, tmp_path)
    records = [record.bytes for record in history.log.records]
    one, two = sorted(draw.sample(range(1, len(records)), 2))
    files = {
        "whole": [b"".join(records)],
        "again": [b"".join(records[:two]), b"".join(records[one:])],
        "gap": [b"".join(records[:one]), b"".join(records[one + 2 :])],
        **{f"harm {number}": [harmed_log(history.log, draw)[1]] for number in range(3)},
    }
    options = {"byte-order": form.order, "dialect": form.release}
    for name, parts in files.items():
        paths = [tmp_path / f"{name} {number}" for number in range(len(parts))]
        for path, part in zip(paths, parts, strict=True):
            path.write_bytes(part)
        inputs = Inputs(
            log=tuple(map(str, paths)), catalog=str(tmp_path / "catalog.csv"),
            framing=form.framing, options=options, scratch=str(tmp_path),
        )  # fmt: skip
        found = compare(reader.open_log, inputs, monkeypatch, drawn_sizes(draw))
        assert not isinstance(found, str) or name != "whole", found


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


def test_memory_does_not_grow_with_a_db2luw_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_arrays, "WINDOW", 256)
    monkeypatch.setattr(long_arrays, "BUDGET", 4096)
    monkeypatch.setattr(scan, "_BATCH", 256)
    monkeypatch.setattr(framing, "_TOGETHER", 256)
    monkeypatch.setattr(framing, "WORTH", 0)
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
