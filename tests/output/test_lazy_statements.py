"""Scripts whose statements are made when they are run: the same steps, and then the same text."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from replay.changes.balance import Tally
from replay.changes.envelope import ROW_CHANGES
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.engine import local
from replay.errors import InputError
from replay.logs.logmaster.opening import open_log
from replay.native import machine_code
from replay.output.jobs import write
from replay.output.lazy_statements import LateScript, open_scripts
from replay.output.steps import LATER, Script, scripts_of_folder
from replay.pipeline.plan import make_plan
from sqlgen.constraints import Constraints
from sqlgen.render_options import RenderOptions
from tests.support.history import CHILD, LOOSE, PARENT, Maker
from tests.support.logbuilder import LogBuilder

Log = tuple[Path, list[Path]]
#: What a step says beside where its text is.
SAID = ("key", "version", "change", "weight", "head", "part", "last_change", "last_weight")


def made(
    log: Log, folder: Path, mode: str = "redo", prepared: bool = True, **more: Any
) -> tuple[list[LateScript], list[Script], list[Tally]]:
    """The scripts of a log with texts left for later, those of the same with all texts (in full),
    and the tallies of both."""
    opened = open_log(*log, scratch=folder)
    options = ScriptOptions(
        records_per_file=7000, render=RenderOptions(where_columns="guard"), commit_every=1 << 62
    )
    plan = replace(make_plan(opened, mode, Selection(), options), steps=True, **more)
    later = replace(plan, texts_later=True, prepared=prepared)
    tallies = []
    for name, one in (("later", later), ("full", plan)):
        (folder / name).mkdir()
        tally, results = write(local.ENGINE, one, opened, folder / name)
        for result in results:
            tally.add(result.tally)
        tallies.append(tally)
    scripts = open_scripts(folder / "later", later, opened)
    full = [Script(path) for path in scripts_of_folder(folder / "full")]
    return scripts, full, tallies  # type: ignore[return-value]


def said(script: Script) -> list[bytes]:
    """What the steps of a script say, a column each."""
    return [np.ascontiguousarray(script.steps[name]).tobytes() for name in SAID]


def sakila_log(sakila: Path) -> Log:
    return sakila / "sakila.ctl", [sakila / "sakila.dat.gz"]


@pytest.mark.parametrize("mode", ["redo", "undo"])
@pytest.mark.parametrize("quick", [False, True])
def test_the_statements_are_the_same(
    sakila: Path, tmp_path: Path, mode: str, quick: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if quick:
        monkeypatch.setattr(machine_code, "WORTH", 1)
    later, full, tallies = made(sakila_log(sakila), tmp_path, mode)
    assert tallies[0] == tallies[1]
    assert len(later) == len(full) == 3
    dice = random.Random(mode)
    for one, other in zip(later, full, strict=True):
        assert said(one) == said(other)
        assert one.steps["size"].tolist() == other.steps["size"].tolist()
        assert (one.steps["start"] == LATER).mean() > 0.9
        assert len(one.text) < len(other.text) / 10
        count = len(one.steps)
        for start in dice.sample(range(count), 10):
            stop = min(start + dice.randrange(1, 40), count)
            lines = b"\n".join(other.slice(step, step + 1) for step in range(start, stop))
            assert one.slice(start, stop) == lines
        some = np.sort(dice.sample(range(count), 300))
        texts = one.make(some, prepared=False)
        wanted = [other.slice(step, step + 1) for step in texts.steps.tolist()]
        assert texts.text == b"".join(line + b"\n" for line in wanted)


def test_what_is_ready_is_called_by_name(sakila: Path, tmp_path: Path) -> None:
    later, full, _ = made(sakila_log(sakila), tmp_path)
    (script, *_), (whole, *_) = later, full
    late = np.flatnonzero(script.steps["start"] == LATER)
    first = int(late[np.flatnonzero(np.diff(late, prepend=-9, n=1) == 1)[0]])
    shapes = script.ready(np.arange(first, first + 100))
    assert shapes
    held = script.held
    assert len(held.steps) > 1000
    for step in held.steps[:200].tolist():
        text = script.slice(step, step + 1).decode()
        if not text.startswith("EXECUTE "):
            assert text.encode() == whole.slice(step, step + 1)
            continue
        name, _, values = text.removeprefix("EXECUTE ").partition("(")
        assert shapes[name].count("$") > 0
        assert values.endswith(");")
    assert script.slice(first, first + 100).count(b"EXECUTE ") > 50
    script.ready(np.arange(first + 50, first + 150))
    assert script.held is held  # which has them
    script.ready(late[::7])
    assert script.held.steps.tolist() == late[::7].tolist()
    assert script.slice(first, first + 100).count(b"EXECUTE ") == 0


def test_batches_cover_everything_once(sakila: Path, tmp_path: Path) -> None:
    (script, *_), _, _ = made(sakila_log(sakila), tmp_path)
    for size in (1, 1000, 100_000, 1 << 30):
        cuts = list(script.batches(3, len(script.steps) - 5, size))
        assert cuts[0][0] == 3
        assert cuts[-1][1] == len(script.steps) - 5
        assert all(end == start for (_, end), (start, _) in pairwise(cuts))
        assert all(high - low == 1 or script.size(low, high) <= size for low, high in cuts)
        assert size == 1 or all(
            script.size(low, after) > size for (low, _), (_, after) in pairwise(cuts)
        )


def test_what_is_not_one_change_of_a_row_is_written(tmp_path: Path) -> None:
    """Keys that cross within a unit are several statements, and stand in the script."""
    keys = Constraints((("TESTOWN.PARENT", ("CODE",)),))
    parted = 0
    for seed in range(4):
        folder = tmp_path / str(seed)
        folder.mkdir()
        log = Maker(seed, 80).history.log(folder, seed=seed)
        later, full, tallies = made(log, folder, prepared=False, constraints=keys)
        assert tallies[0] == tallies[1]
        for one, other in zip(later, full, strict=True):
            steps = one.steps
            parted += int((steps["part"] > 0).sum())
            assert said(one) == said(other)
            single = np.isin(steps["change"], ROW_CHANGES) & (steps["part"] == 0)
            assert ((steps["start"] == LATER) == single).all()
            for step in range(len(steps)):
                assert one.slice(step, step + 1) == other.slice(step, step + 1)
            assert one.slice(0, len(steps)).split(b"\n") == [
                line
                for line in other.slice(0, len(steps)).split(b"\n")
                if line.startswith((b"INSERT", b"UPDATE", b"DELETE"))
            ]
    assert parted


@pytest.mark.long
def test_long_units_have_their_texts(
    sakila_small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("replay.pipeline.partition.CHUNK", 4)
    log = sakila_small / "small.ctl", [sakila_small / "small.dat"]
    (script,), (whole,), _ = made(log, tmp_path)
    late = script.steps["start"] == LATER
    longest = []
    for unit in script.units(0):
        mine = late[unit.start : unit.stop]
        assert mine.all() == mine.any()  # a unit is cut or not
        assert mine.all() or unit.count > 4
        longest += [] if mine.all() else [unit]
    assert longest
    assert late.any()
    prepared = script.ready(np.arange(len(late)))
    assert prepared.keys() >= script.shapes.keys()
    assert script.shapes  # of long units
    for start in range(0, len(late), 5):
        lines = script.slice(start, min(start + 9, len(late))).split(b"\n")
        assert [line for line in lines if line.startswith((b"INS", b"UPD", b"DEL", b"EXEC"))]
    assert whole.size(0, len(late)) > 0


def bad_value(folder: Path) -> Log:
    """A log with a unit that has a value that PostgreSQL does not take."""
    log = LogBuilder((PARENT, CHILD, LOOSE))
    log.unit().insert(PARENT, (1, "A", 1, 2))
    log.unit().insert(PARENT, (2, "\0", 1, 2))
    log.unit().insert(PARENT, (3, "B", 1, 2))
    return log.write(folder)


def test_a_value_that_cannot_be_written_is_found_by_the_plan(tmp_path: Path) -> None:
    (script,), (whole,), tallies = made(bad_value(tmp_path), tmp_path)
    assert tallies[0] == tallies[1]
    assert len(tallies[0].quarantined_units) == 1
    assert len(tallies[0].findings) == 1
    assert len(script.steps) == len(whole.steps) == 2


def test_a_log_that_was_changed_meanwhile_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = LogBuilder((PARENT,))
    log.unit().insert(PARENT, (1, "A", 1, 2))
    control, (data,) = log.write(tmp_path)
    (script,), _, _ = made((control, [data]), tmp_path)
    raw = bytearray(data.read_bytes())
    record = script.records(0)[0]
    end = int(record["offset"]) + int(record["length"])
    place = raw.rindex(b"\xc1", 0, end)  # the A
    raw[place] = 0  # the null that no text may have
    with data.open("r+b") as file:
        file.write(raw)
    with pytest.raises(InputError, match="LR2001 .*that the plan looked at"):
        script.slice(0, 1)


def test_steps_of_a_late_script_name_their_statements(sakila: Path, tmp_path: Path) -> None:
    (script, *_), _, _ = made(sakila_log(sakila), tmp_path)
    shapes: Mapping[str, str] = script.ready(np.arange(10))
    assert {text.partition(" ")[0] for text in shapes.values()} <= {"INSERT", "UPDATE", "DELETE"}
