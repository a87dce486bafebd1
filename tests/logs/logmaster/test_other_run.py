"""A control file and data files of different runs: where units commit behind the end that the
control file states, nothing is written; where the data end long before it, a warning says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay.changes.position import Position
from replay.cli.main import main
from replay.logs.logmaster.opening import open_log
from replay.logs.record_facts import long_before_end, refuse_behind_end
from tests.support.logbuilder import ACCT, LogBuilder, acct, lrsn
from tests.support.places import FIXTURES

SMALL, WHOLE = FIXTURES / "sakila" / "small", FIXTURES / "sakila" / "log"


@pytest.mark.parametrize(
    "command",
    [
        *("redo", "report summary", "check", "export", "inspect", "doctor"),
        *("whatif --user CLERK0", "mark NIGHT --ur 2DF3/2"),
    ],
)
def test_units_behind_the_stated_end(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        *command.split(),
        "--control",
        str(SMALL / "small.ctl"),
        "--data",
        str(WHOLE / "sakila.dat.gz"),
    ]
    out = ["--out", str(tmp_path / "out")] if command in ("redo", "export") else []
    assert main([*words, *out]) == 12
    told = capsys.readouterr().err
    assert "LR2042" in told
    assert "00DECBEB722CB1800000" in told
    assert not (tmp_path / "out").exists()


def test_the_end_is_the_last_position(tmp_path: Path) -> None:
    log = open_log(*_small(tmp_path))
    end = log.final_position
    assert end == Position(lrsn((1 << 26) + (1 << 24) + 16))
    refuse_behind_end(log, end)
    refuse_behind_end(log, None)


@pytest.mark.parametrize(
    "command", ["redo --out O", "undo --out O", "export --out O", "report summary", "who", "check"]
)
def test_data_of_a_shorter_run(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two minutes of three hours: the last data file is missing, or of another run."""
    words = [word.replace("O", str(tmp_path / "out")) for word in command.split()]
    words += ["--control", str(WHOLE / "sakila.ctl"), "--data", str(SMALL / "small.dat")]
    more = ["--from-time", "2024-03-15 08:01"] if command.startswith("redo") else []
    assert main([*words, *more]) == 4
    told = "".join(capsys.readouterr())
    assert "the data end long before their control file says: the log goes from" in told
    assert "00DECBEB722CB1800000" in told  # also where a part is selected
    assert "(about 2024-03-15 10:58" in told


@pytest.mark.parametrize(
    ("hours", "had", "told"),
    [(23, 24, False), (25, 48, True), (0.9, 0, False), (3, 2, True), (3, 4, False)],
)
def test_data_that_end_long_before(tmp_path: Path, hours: float, had: int, told: bool) -> None:
    """An LRSN counts microseconds times 4096 behind its first byte."""
    log = open_log(*_small(tmp_path))
    assert log.final_position is not None
    ticks = int.from_bytes(log.final_position[1:9]) - (int(hours * 3_600_000_000) << 12)
    last = Position(b"\0" + ticks.to_bytes(8) + b"\0")
    first = Position(b"\0" + (ticks - (had * 3_600_000_000 << 12)).to_bytes(8) + b"\0")
    assert bool(long_before_end(log, first, last)) is told


def _small(folder: Path) -> tuple[Path, list[Path]]:
    log = LogBuilder()
    log.unit().insert(ACCT, acct(1))
    return log.write(folder)
