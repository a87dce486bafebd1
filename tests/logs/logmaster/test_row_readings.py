"""How row images lie where the documents leave it open: the first blocks of a log are looked at
when it is opened, the rest when it is read anyway."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay.logs.logmaster import data as images_of_rows
from replay.logs.logmaster import opening
from replay.logs.logmaster.data import FitCounts
from replay.logs.logmaster.opening import open_log
from tests.support.logbuilder import Col, LogBuilder, Tab

PLAIN = Tab("PLAIN", (Col("ID", "INT", 4, key=1), Col("A", "INT", 4)), obid=9)
NOTE = Tab("NOTE", (Col("ID", "INT", 4, key=1), Col("TEXT", "CLOB", 4, nulls="L")))


def log_of(folder: Path, first: int) -> tuple[Path, list[Path]]:
    """``first`` changes of a plain table, then three of one with a large object."""
    log = LogBuilder((PLAIN, NOTE))
    for number in range(first):
        log.unit().insert(PLAIN, (number, 1))
    for number in range(3):
        log.unit().insert(NOTE, (number, b"\0\0\0\1"))
    return log.write(folder)


@pytest.mark.parametrize("asked", [False, True])
def test_a_log_is_not_read_to_its_end_to_open_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: bool
) -> None:
    control, data = log_of(tmp_path, 300)
    whole = open_log(control, data)
    assert whole.row_readings is None  # three images are fewer than would be looked at
    expected = whole.image_reading(1)
    looked: list[int] = []
    look = FitCounts.look

    def noted(self: FitCounts, file: int, block: opening.framing.Block) -> None:
        looked.append(block.stop)
        look(self, file, block)

    monkeypatch.setattr(opening, "_BLOCK", 4000)
    monkeypatch.setattr(FitCounts, "look", noted)
    log = open_log(control, data)
    assert len(looked) == 2
    assert max(looked) < data[0].stat().st_size / 4
    if not asked:
        assert log.row_readings is None
        list(log.splits(10_000))
    assert log.image_reading(1) == expected
    assert log.row_readings == whole.row_readings
    assert max(looked) == data[0].stat().st_size


def test_a_part_of_the_splits_settles_nothing(tmp_path: Path) -> None:
    control, data = log_of(tmp_path, 300)
    log = open_log(control, data)
    next(log.splits(10_000))
    assert log.row_readings is None
    assert log.image_reading(0) == 0


def test_a_log_without_such_tables_has_nothing_to_settle(tmp_path: Path) -> None:
    log = LogBuilder((PLAIN,))
    log.unit().insert(PLAIN, (1, 1))
    control, data = log.write(tmp_path)
    assert open_log(control, data).row_readings == {}


@pytest.mark.parametrize("block", [400, 1 << 20])
@pytest.mark.parametrize("value", [b"\0\0\0\1", b"\0\1a"])
def test_rows_that_all_lie_in_segments_tell_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: bytes, block: int
) -> None:
    """As updates of long rows do. Their segments may lie far apart."""
    readings = []
    for name, cuts in (("whole", ()), ("cut", (3, 9))):
        log = LogBuilder((PLAIN, NOTE))
        for number in range(3):
            log.unit().update(NOTE, (number, value), (number + 9, value), cuts)
            log.unit().insert(PLAIN, (number, 1))
        (tmp_path / name).mkdir()
        control, data = log.write(tmp_path / name)
        if cuts:
            monkeypatch.setattr(images_of_rows, "_BLOCK", block)
        readings.append(open_log(control, data).image_reading(1))
    assert readings[0] == readings[1]
    assert (readings[0] == 0) == (len(value) == 4)
