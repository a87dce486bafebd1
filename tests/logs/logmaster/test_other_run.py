"""A control file and data files of different runs: where units commit behind the end that the
control file states, nothing is written; where the data end long before it, a check says so."""

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
    assert end == Position(lrsn(1 << 30))
    refuse_behind_end(log, end)
    refuse_behind_end(log, None)


@pytest.mark.parametrize(("hours", "told"), [(23, False), (25, True)])
def test_data_that_end_long_before(tmp_path: Path, hours: int, told: bool) -> None:
    """An LRSN counts microseconds times 4096 behind its first byte."""
    log = open_log(*_small(tmp_path))
    assert log.final_position is not None
    ticks = int.from_bytes(log.final_position[1:9]) - (hours * 3_600_000_000 << 12)
    last = Position(b"\0" + ticks.to_bytes(8) + b"\0")
    assert bool(long_before_end(log, last)) is told


def _small(folder: Path) -> tuple[Path, list[Path]]:
    log = LogBuilder()
    log.unit().insert(ACCT, acct(1))
    return log.write(folder)
