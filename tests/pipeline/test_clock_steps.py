"""Selections by time over a log whose commit times go back, as those of a clock do that is set to
winter time: what is taken is no one stretch of the log, and that is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from replay.changes.balance import ClockSteps
from replay.changes.notation import time_of
from replay.changes.selection import Selection
from replay.cli.main import main
from replay.logs import LogFile
from replay.pipeline.extent import log_extent
from tests.logs.db2luw.test_damage import opened, row
from tests.support.luwbuilder import PLAIN, LogBuilder

#: 2001-09-09 01:46:40.
MILLENNIUM = 1_000_000_000


def log_of(*seconds: int) -> bytes:
    """A log of units that commit so many seconds after :data:`MILLENNIUM`."""
    builder = LogBuilder("v97", False, "flt16")
    for number, second in enumerate(seconds):
        unit = builder.begin()
        unit.insert(PLAIN, row(number), (1, number))
        unit.commit(MILLENNIUM + second)
    return builder.bytes()


def time(second: int | None, last: bool) -> bytes | None:
    return None if second is None else time_of(f"2001-09-09 01:46:{40 + second}", last)


def clock_steps(log: LogFile, selection: Selection, split_bytes: int = 1 << 20) -> list[str]:
    """What is said after tasks looked at a split each; what they saw comes in any order."""
    seen = ClockSteps()
    for split, offsets, lengths in reversed([*log.splits(split_bytes)]):
        mine = ClockSteps()
        mine.look(selection, log.envelope(split.file, offsets, lengths))
        seen.add(mine)
    return seen.warnings()


@pytest.mark.parametrize(
    ("seconds", "low", "high", "said"),
    [
        ((1, 2, 3), 2, 2, []),
        ((1, 3, 2), None, None, []),
        ((1, 3, 2), None, 3, []),
        ((1, 3, 2), None, 2, ["--until-time"]),
        ((1, 3, 3, 4), None, 3, []),
        ((2, 1, 3), 2, None, ["--from-time"]),
        ((2, 1, 3), 1, None, []),
        ((1, 3, 2), 3, None, ["--from-time"]),
        ((2, 4, 1, 3), 2, 3, ["--until-time", "--from-time"]),
        ((4, 1), None, 0, []),
    ],
)
def test_times_that_go_back(
    seconds: tuple[int, ...], low: int | None, high: int | None, said: list[str], tmp_path: Path
) -> None:
    log = opened(tmp_path, log_of(*seconds))
    selection = Selection(from_time=time(low, False), until_time=time(high, True))
    found = clock_steps(log, selection)
    assert [text.split("beyond ")[1].split()[0] for text in found] == said
    for split_bytes in (1, 200):
        assert clock_steps(log, selection, split_bytes) == found


def test_positions_that_leave_the_step_out(tmp_path: Path) -> None:
    log = opened(tmp_path, log_of(1, 3, 2))
    until = time(2, True)
    late = log_extent(log, until).late
    assert late is not None
    assert clock_steps(log, Selection(until_time=until, until_position=late)) == []
    (text,) = clock_steps(log, Selection(until_time=until))
    assert text.endswith(f"--until-position {late.below.hexadecimal}")


@pytest.mark.parametrize("command", ["redo", "undo", "export"])
def test_commands_say_it(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    opened(tmp_path, log_of(1, 3, 2))
    words = ["--source", "db2luw", "--log", str(tmp_path / "0.log"), "--engine", "local"]
    words += ["--catalog", str(tmp_path / "catalog.csv"), "--out", str(tmp_path / "out")]
    words += ["--schema", "none"] if command == "undo" else []
    assert main([command, *words, "--until-time", "2001-09-09 01:46:42"]) == 4
    assert "commit times go back within the log" in capsys.readouterr().err
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert any("commit times go back" in text for text in manifest["warnings"])
