"""Only what is shown of quarantined units is limited: what stays out, and what is pending and taken
later, are all of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from replay.changes import balance
from replay.cli.main import main
from replay.dependencies import why_held
from replay.logs import LogPair
from replay.output import quarantine
from tests.support.cutlogs import with_end
from tests.support.logbuilder import Col, LogBuilder, Tab, frame, lrsn

TABLE = Tab("T", (Col("ID", "INT", 4, key=1), Col("N", "INT", 4)))
#: Rows that nothing is wrong with.
SOUND = 10


class Site(NamedTuple):
    """A log whose first units are incomplete, and a later one that has them whole. ``rows`` that an
    incomplete unit inserts and another one updates; so many units are ``shown``."""

    rows: int
    shown: int
    first: LogPair
    later: LogPair


def log_of(folder: Path, name: str, rows: int, whole: bool) -> LogPair:
    log = LogBuilder((TABLE,))
    flags = {} if whole else {"INCOMPLETETRANS": "Y"}
    for row in range(rows):
        log.unit(**flags).insert(TABLE, (row, 0))
        log.unit().update(TABLE, (row, 0), (row, 1))
    for row in range(SOUND):
        log.unit().insert(TABLE, (rows + row, 2))
        log.unit().update(TABLE, (rows + row, 2), (rows + row, 3))
    if whole:
        del log.changes[2 * rows :]
        log.unit().insert(TABLE, (rows + SOUND, 4))
    control, data = folder / f"{name}.ctl", folder / f"{name}.dat"
    records = frame(log.control_records(), "rdw")
    control.write_bytes(with_end(records, lrsn((1 << 26) + whole)))
    data.write_bytes(frame(log.records(), "rdw"))
    return LogPair(str(control), (str(data),))


@pytest.fixture(
    params=[(30, 25), pytest.param((12_500, balance.SHOWN), id="25,000", marks=pytest.mark.long)]
)
def site(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    rows, shown = request.param
    for module in (balance, quarantine, why_held):
        monkeypatch.setattr(module, "SHOWN", shown)
    logs = (log_of(tmp_path, name, rows, name == "end") for name in ("begin", "end"))
    return Site(rows, shown, *logs)


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
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, shown, every = site.rows, site.shown, 2 * site.rows
    out = tmp_path / "first"
    assert run("redo", out, site.first) == 4
    assert f"… {every - 20} more quarantined units" in capsys.readouterr().out
    assert (lines(out, "INSERT"), lines(out, "UPDATE")) == (SOUND, SOUND)
    told, apart = manifest(out), manifest(out / "quarantine")
    assert told["balance"]["quarantined"] == told["quarantine"]["units"] == every
    assert len(told["positions"]["after"]["pending"]) == every
    for one, listed in ((told, "quarantined_units"), (apart, "units")):
        assert (len(one[listed]), one[f"more_{listed}"]) == (shown, every - shown)
    assert [entry["holds"] for entry in apart["missing_inputs"]] == [2] * shown
    assert apart["more_missing_inputs"] == rows - shown
    assert lines(out / "quarantine", "INSERT") == lines(out / "quarantine", "UPDATE") == rows

    after = tmp_path / "after"
    assert run("redo", after, site.later, "--after", str(out), "--gaps", "warn") == 0
    assert (lines(after, "INSERT"), lines(after, "UPDATE")) == (rows + 1, rows)
    assert manifest(after)["units"] == every + 1
    assert manifest(after)["positions"]["after"]["pending"] == {}


def test_undo_with_those_that_depend_on_it(site: Site, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("undo", out, site.first, "--cascade", "all") == 4
    assert (lines(out, "DELETE"), lines(out, "UPDATE")) == (SOUND, SOUND)
    told = manifest(out)
    assert told["balance"]["quarantined"] == told["quarantine"]["units"] == 2 * site.rows
    assert told["more_quarantined_units"] == 2 * site.rows - site.shown
