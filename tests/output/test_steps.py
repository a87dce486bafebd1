"""The steps beside a script: every statement at its place, with its log records, also where a long
unit was cut off again."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.engine import local
from replay.logs.logmaster.opening import open_log
from replay.output.run_plan import write
from replay.output.steps import Script, scripts_of_folder
from replay.pipeline.plan import make_plan

#: Length of the headers of the Sakila log.
HEADER = 288


@pytest.fixture(params=["redo", "undo"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def scripts_of(
    control: Path, data: Path, folder: Path, mode: str, prepared: bool = False
) -> tuple[list[Script], int]:
    """The scripts of a log with steps, and how many statements the engine counted."""
    log = open_log(control, [data], scratch=folder)
    options = ScriptOptions(commit_every=1 << 62, records_per_file=7000)
    plan = replace(make_plan(log, mode, Selection(), options), steps=True, prepared=prepared)
    out = folder / "out"
    out.mkdir()
    tally, results = write(local.ENGINE, plan, log, out)
    return [*map(Script, scripts_of_folder(out))], tally.statements + sum(
        result.tally.statements for result in results
    )


@pytest.mark.parametrize("prepared", [False, True])
def test_every_statement_is_where_its_step_says(
    sakila: Path, tmp_path: Path, mode: str, prepared: bool
) -> None:
    scripts, count = scripts_of(
        sakila / "sakila.ctl", sakila / "sakila.dat.gz", tmp_path, mode, prepared
    )
    assert len(scripts) == 3
    assert sum(len(script.steps) for script in scripts) == count == 19_549
    begins = (b"EXECUTE ", b"INSERT ", b"UPDATE ", b"DELETE ")
    keys = []
    for number, script in enumerate(scripts):
        for step in range(len(script.steps)):
            text = script.slice(step, step + 1)
            assert text.startswith(begins)
            assert text.endswith(b";")
            assert b"\n" not in text
        units = list(script.units(number))
        assert [unit.start for unit in units[1:]] == [unit.stop for unit in units[:-1]]
        assert units[-1].stop == len(script.steps)
        for unit in units[:20]:
            records = script.records(unit.start)
            assert records["commit"][0].tobytes() + records["unit"][0].tobytes() == unit.key
        keys += [unit.key for unit in units]
        assert bool(script.shapes) == prepared
    assert keys == sorted(set(keys), reverse=mode == "undo")


def test_batches_cover_everything_once(sakila: Path, tmp_path: Path) -> None:
    scripts, _ = scripts_of(sakila / "sakila.ctl", sakila / "sakila.dat.gz", tmp_path, "redo")
    script = scripts[0]
    for size in (1, 1000, 100_000, 1 << 30):
        cuts = list(script.batches(3, len(script.steps) - 5, size))
        assert cuts[0][0] == 3
        assert cuts[-1][1] == len(script.steps) - 5
        assert all(end == start for (_, end), (start, _) in pairwise(cuts))
        assert all(
            high - low == 1 or len(script.slice(low, high)) <= size + 70_000 for low, high in cuts
        )
    assert int(np.sum(list(script.kinds(0, len(script.steps)).values()))) == len(script.steps)


def test_a_long_unit_that_is_damaged_leaves_nothing(
    sakila_small: Path, tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Units longer than a chunk are written piece by piece; a damaged record in the last piece cuts
    all of it off, steps too."""
    monkeypatch.setattr("replay.pipeline.partition.CHUNK", 4)
    (tmp_path / "whole").mkdir()
    (tmp_path / "hurt").mkdir()
    before, _ = scripts_of(
        sakila_small / "small.ctl", sakila_small / "small.dat", tmp_path / "whole", mode
    )
    raw = bytearray((sakila_small / "small.dat").read_bytes())
    longest = max(before[0].units(0), key=lambda unit: unit.count)
    record = before[0].records((longest.stop if mode == "redo" else longest.start + 1) - 1)[0]
    image = int(record["offset"]) + HEADER
    raw[image : image + 2] = b"\xff\xff"
    (tmp_path / "hurt" / "small.dat").write_bytes(raw)
    after, count = scripts_of(
        sakila_small / "small.ctl", tmp_path / "hurt" / "small.dat", tmp_path / "hurt", mode
    )
    assert len(after[0].steps) == count
    units = {unit.key: unit for unit in after[0].units(0)}
    assert longest.key not in units
    for unit in before[0].units(0):
        if unit.key in units:
            there = units[unit.key]
            assert before[0].slice(unit.start, unit.stop) == after[0].slice(there.start, there.stop)
