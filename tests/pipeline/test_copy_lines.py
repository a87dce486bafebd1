"""Lines that machine code writes from row images, against those of decoded values: the same loads,
whatever the values, and none where they are not plain."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from replay.changes.envelope import RECORD, Change
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.engine import local
from replay.logs.logmaster.opening import open_log
from replay.native import fast_path
from replay.output.delete_and_reinsert import values_differ
from replay.output.jobs import write
from replay.output.steps import Script, scripts_of_folder
from replay.pipeline.copy_lines import CopyLines
from replay.pipeline.plan import Mode, make_plan
from replay.pipeline.row_batch import whole_rows
from sqlgen.dialects import profile_named
from sqlgen.literals import Policy
from sqlgen.render.staged_merge import Merging, NotPlain
from sqlgen.render_options import RenderOptions
from sqlgen.rows import Rows
from tests.support.logbuilder import Col, LogBuilder, Tab

POSTGRES = profile_named("postgres")
#: Every type that machine code writes, with values at its bounds and in between.
VALUES: dict[Col, tuple[Any, ...]] = {
    Col("S", "INT", 2, nulls="Y"): (None, 0, -1, 2**15 - 1, -(2**15)),
    Col("I", "INT", 4): (0, 7, -1, 2**31 - 1, -(2**31)),
    Col("B", "INT", 8, nulls="Y"): (None, 0, -1, 2**63 - 1, -(2**63)),
    Col("D", "DEC", 16, scale=5, nulls="Y"): (
        *(None, "0", "-0.00001", "1", "99999999999999999999999999.99999"),
        *("-99999999999999999999999999.99999", "0.1", "100"),
    ),
    Col("W", "DEC", 2, scale=3): ("0", "-0.999", "0.001"),
    Col("C", "CHAR", 6, nulls="Y"): (None, "", "ab", "a\\b", "'q'", "\\N", " x ", "é¢"),
    Col("V", "VCHR", 20, nulls="Y"): (
        *(None, "", " ", "\\N", "\\.", "a\tb", "a\nb", "a\rb", "a\\", "it's", "\x01\x7f", "¢é"),
        "x" * 20,
    ),
    Col("DAY", "DATE", 10, nulls="Y"): (None, "0001-01-01", "9999-12-31", "2024-02-29"),
    Col("CLOCK", "TIME", 8): ("00:00:00", "23:59:59"),
    Col("TS", "DTTM", 26, nulls="Y"): (
        *(None, "0001-01-01 00:00:00.000000", "9999-12-31 23:59:59.999999"),
        "2024-03-15 10:20:30.123456",
    ),
}
TABLE = Tab("PLAIN", (Col("K", "INT", 4, key=1), Col("K2", "VCHR", 8, key=2), *VALUES))
TYPES = {column.name.lower(): f"type of {column.name}" for column in TABLE.columns}
Log = tuple[Path, list[Path]]


def drawn(dice: random.Random, key: int) -> tuple[Any, ...]:
    return (key, dice.choice(["a", "b\t", "\\"]), *(dice.choice(some) for some in VALUES.values()))


def changed(dice: random.Random, row: tuple[Any, ...], columns: list[int]) -> tuple[Any, ...]:
    """A row with other values in some of the columns, and in one at least."""
    fresh = list(row)
    while fresh == list(row):
        for column in columns:
            if dice.random() < 0.5:
                fresh[column + 2] = dice.choice(list(VALUES.values())[column])
    return tuple(fresh)


def log_of(folder: Path, kind: Change, rows: list[tuple[Any, Any]]) -> Log:
    log = LogBuilder((TABLE,))
    unit = log.unit()
    for before, after in rows:
        if kind is Change.INSERT:
            unit.insert(TABLE, after)
        elif kind is Change.DELETE:
            unit.delete(TABLE, before)
        else:
            unit.update(TABLE, before, after)
    return log.write(folder)


def both(
    log: Log, folder: Path, kind: Change, render: RenderOptions, lines: CopyLines | None = None
) -> tuple[Callable[[], Any], Rows, Merging]:
    """What makes rows of images (by ``lines``) of all changes of a log, their values, and what
    makes loads."""
    opened = open_log(*log, scratch=folder)
    options = ScriptOptions(render=render)
    plan = replace(make_plan(opened, Mode.REDO, Selection(), options), steps=True)
    out = folder / "out"
    out.mkdir()
    write(local.ENGINE, plan, opened, out)
    (script,) = map(Script, scripts_of_folder(out))
    steps = np.arange(len(script.steps))
    records, head = script.records_of(steps)
    weight = script.steps["weight"].astype(np.int64)
    ((_, values),) = whole_rows(opened, records, head, weight, 0, kind)
    if kind is Change.UPDATE:  # as the values differ, not their bytes
        masks = {
            column.name: values_differ(values.before[column.name], values.after[column.name], False)
            for column in values.table.columns
        }
        shown = {name: pa.array(mask) for name, mask in masks.items() if mask.any()}
        values = Rows(values.table, values.op, values.count, values.before, values.after, shown)
    quick = lines or CopyLines(opened, POSTGRES, options)
    merging = Merging(POSTGRES, render, TYPES)
    return lambda: quick.rows(records, head, weight, 0, kind), values, merging


@pytest.mark.parametrize(
    ("padding", "where"),
    [
        *(("strip", "key"), ("keep", "all")),
        *(
            pytest.param(*pair, marks=pytest.mark.long)
            for pair in (("strip", "guard"), ("strip", "all"), ("keep", "key"), ("keep", "guard"))
        ),
    ],
)
@pytest.mark.parametrize("kind", [Change.INSERT, Change.UPDATE, Change.DELETE])
def test_loads_are_those_of_values(tmp_path: Path, kind: Change, padding: Any, where: Any) -> None:
    render = RenderOptions(where_columns=where, policy=Policy(char_padding=padding))
    for seed, columns in enumerate(([*range(len(VALUES))], [0, 3, 6], [5], [9, 4])):
        dice = random.Random(seed)
        before = [drawn(dice, key) for key in range(120)]
        rows = [(row, changed(dice, row, columns)) for row in before]
        folder = tmp_path / str(seed)
        folder.mkdir()
        images, values, merging = both(log_of(folder, kind, rows), folder, kind, render)
        found = images()
        assert found is not None
        assert found.count == 120
        assert {name: mask.to_pylist() for name, mask in found.changed.items()} == {
            name: mask.to_pylist() for name, mask in values.changed.items()
        }
        assert merging.load(found, 1) == merging.load(values, 1)
        counts = [40, 0, 60, 20]
        assert merging.load(found, 1).cut(counts) == merging.load(values, 1).cut(counts)


NOT_PLAIN: dict[str, dict[str, Any]] = {
    "hour 24": {"CLOCK": "24:00:00"},
    "hour 24 of a moment": {"TS": "2024-03-15 24:00:00.000000"},
    "a null character": {"V": "a\0b"},
    "no digits": {"D": bytes.fromhex("AA" * 15 + "AC")},
    "no such day": {"DAY": "2023-02-29".encode("cp037")},
}


@pytest.mark.parametrize("odd", NOT_PLAIN)
@pytest.mark.parametrize("kind", [Change.INSERT, Change.UPDATE, Change.DELETE])
def test_what_is_not_plain_is_left_to_others(tmp_path: Path, kind: Change, odd: str) -> None:
    """The plan would set a value aside that cannot be read, so its records are those of a log that
    is the same but for that value."""
    names = [column.name for column in TABLE.columns]

    def with_values(values: dict[str, Any]) -> list[tuple[Any, Any]]:
        dice = random.Random(odd)
        pairs = [(row, changed(dice, row, [1])) for row in (drawn(dice, key) for key in range(20))]
        first, second = (list(row) for row in pairs[7])
        for name, value in values.items():
            first[names.index(name)] = second[names.index(name)] = value
        pairs[7] = tuple(first), tuple(second)
        return pairs

    sound = {"CLOCK": "23:00:00", "TS": "2024-03-15 23:00:00.000000", "V": "axb", "D": "1"}
    sound["DAY"] = "2023-02-28"
    render = RenderOptions(where_columns="all")
    spoilt = {}
    for name, values in (("sound", sound), ("odd", {**sound, **NOT_PLAIN[odd]})):
        folder = tmp_path / name
        folder.mkdir()
        spoilt[name] = log_of(folder, kind, with_values(values))
    lines = CopyLines(
        open_log(*spoilt["odd"], scratch=tmp_path), POSTGRES, ScriptOptions(render=render)
    )
    images, _, merging = both(spoilt["sound"], tmp_path, kind, render, lines)
    found = images()
    assert found is not None
    with pytest.raises(NotPlain):
        merging.load(found, 1)
    images, _, merging = both(spoilt["sound"], tmp_path / "sound", kind, render)
    assert merging.load(images(), 1).count == 20


def test_other_tables_are_left_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A float, and where machine code does not work."""
    floats = Tab("FLOATS", (Col("K", "INT", 4, key=1), Col("F", "FLOT", 8)), obid=5)
    log = LogBuilder((TABLE, floats))
    opened = open_log(*log.write(tmp_path), scratch=tmp_path)
    none: Any = (np.zeros(0, RECORD), np.zeros(0, np.int64), np.zeros(0, np.int64))
    lines = CopyLines(opened, POSTGRES, ScriptOptions())
    assert lines.rows(*none, 0, Change.INSERT) is not None
    assert lines.rows(*none, 1, Change.INSERT) is None
    monkeypatch.setattr(fast_path, "compiled", lambda: None)
    assert lines.rows(*none, 0, Change.INSERT) is None
