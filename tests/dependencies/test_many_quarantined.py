"""Only what is shown of quarantined units is limited: what stays out, and what is pending and taken
later, are all of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replay.changes import balance
from replay.cli.main import main
from replay.dependencies import why_held
from replay.logs import LogPair
from replay.output import quarantine
from tests.support.cutlogs import with_end
from tests.support.logbuilder import Col, LogBuilder, Tab, frame, lrsn

TABLE = Tab("T", (Col("ID", "INT", 4, key=1), Col("N", "INT", 4)))
#: Rows that an incomplete unit inserts and another one updates; rows that nothing is wrong with.
ROWS, SOUND = 30, 10
ALL = 2 * ROWS
#: So many are shown.
SHOWN = 25


def log_of(folder: Path, name: str, whole: bool) -> LogPair:
    log = LogBuilder((TABLE,))
    flags = {} if whole else {"INCOMPLETETRANS": "Y"}
    for row in range(ROWS):
        log.unit(**flags).insert(TABLE, (row, 0))
        log.unit().update(TABLE, (row, 0), (row, 1))
    for row in range(SOUND):
        log.unit().insert(TABLE, (ROWS + row, 2))
        log.unit().update(TABLE, (ROWS + row, 2), (ROWS + row, 3))
    if whole:
        del log.changes[2 * ROWS :]
        log.unit().insert(TABLE, (ROWS + SOUND, 4))
    control, data = folder / f"{name}.ctl", folder / f"{name}.dat"
    records = frame(log.control_records(), "rdw")
    control.write_bytes(with_end(records, lrsn((1 << 26) + whole)))
    data.write_bytes(frame(log.records(), "rdw"))
    return LogPair(str(control), (str(data),))


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[LogPair, LogPair]:
    """A log whose first units are incomplete, and a later one that has them whole."""
    for module in (balance, quarantine, why_held):
        monkeypatch.setattr(module, "SHOWN", SHOWN)
    return log_of(tmp_path, "begin", False), log_of(tmp_path, "end", True)


def run(command: str, out: Path, log: LogPair, *more: str) -> int:
    words = [command, "--control", log.control, "--data", *log.data, "--schema", "none"]
    return main([*words, "--out", str(out), "--engine", "local", *more])


def manifest(path: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    return read


def lines(out: Path, kind: str) -> int:
    """The statements of a kind in the scripts of a bundle."""
    return sum(
        line.startswith(kind)
        for path in out.glob("*.sql")
        for line in path.read_text(encoding="utf-8").splitlines()
    )


def test_redo_and_what_goes_on_after_it(
    logs: tuple[LogPair, LogPair], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "first"
    assert run("redo", out, logs[0]) == 4
    assert f"… {ALL - 20} more quarantined units" in capsys.readouterr().out
    assert (lines(out, "INSERT"), lines(out, "UPDATE")) == (SOUND, SOUND)
    told, apart = manifest(out), manifest(out / "quarantine")
    assert told["balance"]["quarantined"] == told["quarantine"]["units"] == ALL
    assert len(told["positions"]["after"]["pending"]) == ALL
    for one, listed in ((told, "quarantined_units"), (apart, "units")):
        assert (len(one[listed]), one[f"more_{listed}"]) == (SHOWN, ALL - SHOWN)
    assert [entry["holds"] for entry in apart["missing_inputs"]] == [2] * SHOWN
    assert apart["more_missing_inputs"] == ROWS - SHOWN
    assert lines(out / "quarantine", "INSERT") == lines(out / "quarantine", "UPDATE") == ROWS

    after = tmp_path / "after"
    assert run("redo", after, logs[1], "--after", str(out), "--gaps", "warn") == 0
    assert (lines(after, "INSERT"), lines(after, "UPDATE")) == (ROWS + 1, ROWS)
    assert manifest(after)["units"] == ALL + 1
    assert manifest(after)["positions"]["after"]["pending"] == {}


def test_undo_with_those_that_depend_on_it(logs: tuple[LogPair, LogPair], tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("undo", out, logs[0], "--cascade", "all") == 4
    assert (lines(out, "DELETE"), lines(out, "UPDATE")) == (SOUND, SOUND)
    told = manifest(out)
    assert told["balance"]["quarantined"] == told["quarantine"]["units"] == ALL
    assert told["more_quarantined_units"] == ALL - SHOWN
