"""What a replay says of changes that the target has already, and of those beyond its end: the
balance sheet and what is applied are the same numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from replay.cli.main import main
from tests.support.logbuilder import LogBuilder, lrsn, rba
from tests.support.servers import server_of
from tests.support.small_target import TABLE, replay, run, small_target


@pytest.fixture
def empty(request: pytest.FixtureRequest) -> Iterator[str]:
    with small_target("sqlite", server_of(request, "sqlite")) as url:
        run(url, "DELETE FROM testown.t")
        yield url


@pytest.fixture
def log(tmp_path: Path) -> list[str]:
    """Four units; the last two commit at one position."""
    builder = LogBuilder([TABLE])
    for number, commit in enumerate([2000, 2001, 2002, 2002]):
        unit = builder.unit(1 + number % 2, commit, 1000 + number, UORCOMMITPOINT=rba(number))
        unit.insert(TABLE, (f"k{number}", "v"))
    control, data = builder.write(tmp_path, seed=1)
    return ["--control", str(control), "--data", str(data[0])]


def sheet(said: str) -> dict[str, int]:
    """The lines of a balance sheet."""
    lines = (line.rpartition(" ") for line in said.splitlines())
    return {
        name.strip(): int(number)
        for name, _, number in lines
        if number.isdecimal() and name.endswith("   ")
    }


def test_a_target_that_has_the_log(
    log: list[str], empty: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert replay(log, empty) == 0
    said = capsys.readouterr().out
    assert "already" not in said
    assert "4 units and 4 statements applied" in said
    assert replay(log, empty) == 0
    said = capsys.readouterr().out
    assert sheet(said)["skipped: in the target already"] == 2
    assert sheet(said)["emitted"] == 2
    assert (
        "2 statements in 2 units of recovery, of which 2 statements in 2 units are in the target"
        " already"
    ) in said
    assert "Nothing is to be applied" in said
    assert "Nothing was applied" in said
    assert "Estimated" not in said
    assert "--from" not in said


def test_a_target_on_its_way(
    log: list[str], empty: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Forward in two parts, and back: what is left out is where the target stands, whatever the
    end was given by."""
    time = "2024-03-15 10:20:30"  # before any unit commits
    assert replay(log, empty, "--until-time", time) == 4  # the log does not reach it
    assert sheet(capsys.readouterr().out)["skipped: after the range (--until-*)"] == 4
    assert replay(log, empty, "--until-position", lrsn(2001).hex()) == 0
    assert sheet(capsys.readouterr().out)["skipped: after the range (--until-*)"] == 2
    assert replay(log, empty) == 0
    said = capsys.readouterr().out
    assert sheet(said)["skipped: in the target already"] == 1
    assert "3 statements in 3 units of recovery, of which 1 statement in 1 unit is in" in said
    assert "2 units and 2 statements applied" in said
    assert replay(log, empty, "--until-position", lrsn(2000).hex()) == 0
    said = capsys.readouterr().out
    assert sheet(said)["skipped: stays in the target"] == 1
    assert "3 units and 3 statements undone" in said


def test_the_history_of_runs_says_why_one_ended(
    log: list[str], empty: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where the place of the change is long."""
    run(empty, "INSERT INTO testown.t VALUES ('k1', 'v')")
    assert replay(log, empty) == 8
    capsys.readouterr()
    assert main(["status", "--to", empty]) == 0
    said = capsys.readouterr().out.splitlines()[-1]
    assert "LR4006 unit 000000001234567" in said
    assert "duplicate-key: the insert in TESTOWN.T failed" in said
    assert str(tmp_path) not in said
    assert ", 1 unit, 1 statement" in said
