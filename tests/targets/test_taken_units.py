"""A unit that a target has is not set aside where a later log has it incomplete, or flags it: it
would come twice, and stay on the way back."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from replay.cli.main import main
from tests.support.history import LOOSE
from tests.support.logbuilder import LogBuilder


def written(folder: Path, name: str, units: int, flag: str = "", at: int = 0) -> list[str]:
    """The options that name a log of some units, of which the one ``at`` a place may have a flag.
    Each inserts a row; ids and positions are the same in all logs."""
    log = LogBuilder([LOOSE])
    for number in range(units):
        flags = {flag: "Y"} if flag and number == at else {}
        log.unit(**flags).insert(LOOSE, (f"row{number}", number))
    control, data = log.write(folder, name=name)
    return ["--control", str(control), "--data", *map(str, data)]


@pytest.mark.parametrize(
    ("flag", "choice"),
    [("INCOMPLETETRANS", "resolve"), ("INCOMPLETEDEP", "quarantine")],
)
@pytest.mark.parametrize("waiting", [False, True], ids=["last", "before one that waits"])
def test_a_unit_that_was_taken_whole_is_not_set_aside(
    waiting: bool, flag: str, choice: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = tmp_path / "testown.db"
    with closing(sqlite3.connect(base)) as connection:
        connection.execute("CREATE TABLE loose (t varchar(8) NOT NULL, n integer NOT NULL)")
    url = f"sqlite:///{base}"

    def replay(log: list[str], *words: str) -> list[tuple[object, ...]]:
        options = ["--engine", "local", "--schema", "none", "--incomplete", choice, *words]
        assert main(["replay", *log, "--to", url, "--apply", *options]) in (0, 4)
        with closing(sqlite3.connect(base)) as connection:
            return sorted(connection.execute("SELECT n FROM loose"))

    first = written(tmp_path, "first", 3 if waiting else 1, "INCOMPLETETRANS", 2 if waiting else 9)
    again = written(tmp_path, "again", 4, flag)
    whole = written(tmp_path, "whole", 5)
    rows = [(number,) for number in range(5)]
    assert replay(first) == rows[: 2 if waiting else 1]
    capsys.readouterr()
    assert replay(again) == rows[:4]
    assert "quarantined: unit" not in capsys.readouterr().out
    assert replay(whole) == rows
    assert replay(again) == rows
    assert replay(whole, "--until-position", "00" * 10) == []
