"""When a file of a folder counts as whole, whatever its clock says."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from replay.changes.choices import Arrival
from replay.cli.main import main
from replay.logs import source_named
from replay.logs.arrivals import Ahead, arrived
from tests.support.logbuilder import ACCT, LogBuilder, acct

DAY = 86_400


def test_a_file_whose_time_lies_ahead_is_whole_once_it_has_stayed_as_it_is(
    tmp_path: Path,
) -> None:
    """A sender's clock is ahead, or keeps another zone's time; or ours was set back."""
    clock = 0.0
    file, now = tmp_path / "S0000001.LOG", 1_700_000_000.0
    file.write_bytes(b"one")
    ahead, family = Ahead(lambda: clock), source_named("db2luw")

    def look(later: float, size: bytes | None = None) -> tuple[str, ...]:
        nonlocal clock
        clock += later
        if size is not None:
            file.write_bytes(size)
        os.utime(file, (now + DAY, now + DAY))
        return arrived(str(tmp_path), family, Arrival.STABLE, 10, now + clock, ahead).log

    assert look(0) == ()
    assert look(9) == ()
    assert look(2) == (str(file),)
    assert look(1, b"more of it") == ()
    assert look(11) == (str(file),)
    assert arrived(str(tmp_path), family, Arrival.STABLE, 10, now + 2 * DAY).log == (str(file),)


def test_one_look_waits_for_such_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder, logs = LogBuilder(), tmp_path / "logs"
    logs.mkdir()
    builder.unit().insert(ACCT, acct(1))
    builder.write(logs)
    for file in logs.iterdir():
        os.utime(file, (time.time() + DAY, time.time() + DAY))
    words = ["follow", "--logs", str(logs), "--export", str(tmp_path / "out"), "--schema", "none"]
    assert main([*words, "--settle", "0.1", "--once", "--engine", "local"]) == 0
    assert "applied: logs 1, units 1" in capsys.readouterr().out


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
