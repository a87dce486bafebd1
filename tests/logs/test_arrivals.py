"""When a file of a folder counts as whole, whatever its clock says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from replay.changes.choices import Arrival
from replay.logs import source_named
from replay.logs.arrivals import arrived

DAY = 86_400


@pytest.mark.parametrize(("settle", "taken"), [(10, False), (0, True)])
def test_a_file_whose_time_lies_ahead_waits_for_it(
    tmp_path: Path, settle: float, taken: bool
) -> None:
    """A sender's clock is ahead, or keeps another zone's time; or ours was set back."""
    file, now = tmp_path / "S0000001.LOG", 1_700_000_000.0
    file.write_bytes(b"one")
    os.utime(file, (now + DAY, now + DAY))
    family = source_named("db2luw")
    found = arrived(str(tmp_path), family, Arrival.STABLE, settle, now)
    assert (found.log, found.waiting) == (((str(file),), ()) if taken else ((), (str(file),)))
    assert arrived(str(tmp_path), family, Arrival.STABLE, 10, now + 2 * DAY).log == (str(file),)


def test_files_without_a_control_file_are_taken_in_the_order_of_their_numbers(
    tmp_path: Path,
) -> None:
    """A file that is not whole yet holds back those whose names differ in higher numbers alone."""
    now = 1_700_000_000.0
    for name in ("S0000009.LOG", "S0000010.LOG", "S0000011.LOG.part", "S0000012.LOG", "T1.LOG"):
        file = tmp_path / name
        file.write_bytes(b"one")
        os.utime(file, (now - DAY, now - DAY))
    family = source_named("db2luw")
    found = arrived(str(tmp_path), family, Arrival.STABLE, 10, now)
    assert [Path(name).name for name in found.log] == ["S0000009.LOG", "S0000010.LOG", "T1.LOG"]
    assert [Path(name).name for name in found.held] == ["S0000012.LOG"]
    (tmp_path / "S0000011.LOG.part").rename(tmp_path / "S0000011.LOG")
    found = arrived(str(tmp_path), family, Arrival.STABLE, 10, now)
    assert len(found.log) == 5
    assert found.held == ()
