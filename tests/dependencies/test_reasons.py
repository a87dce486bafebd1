"""Reasons, paths and keys are put into words the same, however many units are told together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import replay
from replay.changes import verdicts
from replay.output import quarantine
from tests.dependencies.test_much_set_aside import INCOMPLETE_LOG
from tests.support.logbuilder import Col, LogBuilder, Tab

TABLE = Tab("T", (Col("ID", "CHAR", 9, key=1), Col("N", "INT", 4)))
OTHER = Tab("LOOSE", (Col("ID", "CHAR", 9), Col("N", "INT", 4)), obid=4)
THIRD = Tab("THIRD", (Col("ID", "INT", 4, key=1), Col("N", "INT", 4)), obid=5)


def long_chains(folder: Path) -> tuple[Path, Path]:
    """Paths of each length up to 26, keys that JSON escapes, several of them in one unit, a table
    without key, one that was emptied, and a record that is missing."""
    names = ['it"s', "back\\", "tab\t", "ä"]
    log = LogBuilder((TABLE, OTHER, THIRD))
    log.unit(INCOMPLETETRANS="Y").insert(TABLE, (names[0], 0))
    for number in range(26):
        unit = log.unit(INCOMPLETEDEP="Y")
        if number == 3:
            for name in names[1:]:
                unit.insert(TABLE, (name, number))
        unit.update(TABLE, (names[0], number), (names[0], number + 1))
        for name in names[1:] if number > 3 else ():
            unit.update(TABLE, (name, number - 1), (name, number))
    log.unit().insert(THIRD, (1, 1))
    log.unit(INCOMPLETEDEP="Y").update(THIRD, (1, 5), (1, 6))
    bad = log.unit(INCOMPLETETRANS="Y")
    bad.insert(OTHER, ("x", 1))
    log.unit().update(OTHER, ("x", 1), ("x", 2))
    bad.event(TABLE, "DM")
    log.unit().insert(TABLE, ("new", 1))
    folder.mkdir()
    control, data = log.write(folder)
    return control, data[0] if isinstance(data, list) else data


def told(folder: Path, control: Path, data: Path) -> str:
    """What is said of the units that a redo sets aside."""
    with replay.open_log(control=control, data=data) as log:
        log.select().redo("postgres", schema="none").write(folder)
    return (folder / "quarantine" / "manifest.json").read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.parametrize("case", ["bundled", "chains"])
def test_as_unit_by_unit(tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many units are described together, as JSON would have it."""
    control, data = INCOMPLETE_LOG if case == "bundled" else long_chains(tmp_path / "log")
    whole = told(tmp_path / "whole", control, data)
    described = json.loads(whole)
    assert whole == json.dumps(described, indent=1, ensure_ascii=False) + "\n"
    for together in (1, 3):
        for module, name in (
            (quarantine, "_TOGETHER"),
            (verdicts, "_TOGETHER"),
        ):
            monkeypatch.setattr(module, name, together)
        assert told(tmp_path / f"{together}", control, data) == whole
    for unit in described["units"]:
        steps = [f"{step['key']} -> {step['next']}" for step in unit["path"]]
        if "steps_left_out" in unit:
            steps.insert(10, f"({unit['steps_left_out']:,} more steps)")
        assert unit["reason"].endswith("".join(f" -> {step}" for step in steps))
    assert ("steps_left_out" in whole) == (case == "chains")
    held = [one["holds"] for one in described["missing_inputs"]]
    assert held == sorted(held, reverse=True)
    whys = {one["why"] for one in described["missing_inputs"]}
    assert len(whys) == (2 if case == "chains" else 1)
