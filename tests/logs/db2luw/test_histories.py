"""Random histories: what the reader takes for committed, applied in commit order, is the state that
the history ended in."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from replay.changes.envelope import Change
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.engine import local
from replay.logs import Inputs
from replay.logs.db2luw.reader import LuwLog, open_log
from replay.output.bundle import write_bundle
from replay.pipeline.plan import make_plan
from sqlgen.structure import Action
from tests.support.luwbuilder import catalog_csv
from tests.support.luwhistory import History

SHAPES = [
    ("v7", True, "lsn6"), ("v7", False, "lsn6"), ("v7", True, "raw"), ("v97", False, "flt16"),
    ("v97", True, "lsn8"), ("v97", False, "raw"),
    ("v10", False, "flt56"), ("v10", True, "lri48"), ("v10", False, "lsn8"), ("v10", True, "raw"),
]  # fmt: skip


def opened(folder: Path, history: History, **settings: Any) -> LuwLog:
    (folder / "x.log").write_bytes(history.log.bytes())
    (folder / "catalog.csv").write_text(catalog_csv(history.catalog), encoding="utf-8")
    return open_log(
        Inputs(
            log=(str(folder / "x.log"),),
            catalog=str(folder / "catalog.csv"),
            scratch=str(folder),
            **settings,
        )
    )


def committed(log: LuwLog) -> dict[str, dict[int, tuple[Any, ...]]]:
    """The tables after all committed units, from nothing."""
    units, entries = log.units(), log.entries()
    tables: dict[str, dict[int, tuple[Any, ...]]] = {}
    done = np.flatnonzero(units["disposition"] == ord("C"))
    order = done[np.argsort(np.ascontiguousarray(units["commit"][done]).view("S10"), kind="stable")]
    for unit in order.tolist():
        for entry in entries[
            (entries["unit"] == unit) & ~entries["cancelled"] & (entries["segment"] == 1)
        ]:
            assert not entry["fault"]
            assert not entry["problem"]
            apply(log, entry, tables)
    return tables


def apply(log: LuwLog, entry: np.void, tables: dict[str, dict[int, tuple[Any, ...]]]) -> None:
    change = Change(int(entry["change"]))
    if change in (Change.CONTROL, Change.COMPENSATION):
        return
    version = log.catalog.versions[int(entry["version"])]
    name = version.table.name
    rows = tables.setdefault(name, {})
    if change is Change.TRUNCATE:
        rows.clear()
    elif change is Change.STRUCTURE:
        action = log.changes[int(entry["file"]), int(entry["offset"])].action
        if action is Action.DROP_TABLE:
            del tables[name]
        elif action is Action.ADD_COLUMNS:
            tables[name] = {
                number: row + (None,) * (len(version.table.columns) - len(row))
                for number, row in rows.items()
            }
    else:
        before = row_of(log, entry, "before") if change is not Change.INSERT else None
        after = row_of(log, entry, "after") if change is not Change.DELETE else None
        if before is not None:
            assert rows.pop(before[0]) == before
        if after is not None:
            assert after[0] not in rows
            rows[after[0]] = after


def row_of(log: LuwLog, entry: np.void, side: str) -> tuple[Any, ...]:
    start = np.array([entry[side]], np.int64)
    walk = log.walk(
        int(entry["version"]),
        log.buffer(int(entry[f"{side}_file"])),
        start,
        start + entry[f"{side}_size"],
    )
    assert not walk.bad[0], walk.reason(0)
    row = []
    for index, column in enumerate(walk.format.columns):
        values, bad = walk.decode(index)
        assert bad is None, walk.explain(index, 0)
        value = values[0].as_py()
        row.append(value.rstrip(" ") if column.code == "CHARACTER" and value is not None else value)
    return tuple(row)


def expected(history: History) -> dict[str, dict[int, tuple[Any, ...]]]:
    tables: dict[str, dict[int, tuple[Any, ...]]] = {}
    for name, rows in history.finish().items():
        columns = history.tables[name].columns
        for number, row in rows.items():
            shown = []
            for column, value in zip(columns, row, strict=True):
                scaled = column.type == "DECIMAL" and value is not None
                shown.append(
                    format(Decimal(value).quantize(Decimal(1).scaleb(-column.scale)), "f")
                    if scaled
                    else value
                )
            tables.setdefault(name, {})[number] = tuple(shown)
    return tables


@pytest.mark.parametrize(("dialect", "big", "framing"), SHAPES)
@pytest.mark.parametrize("seed", range(4))
def test_random_histories(tmp_path: Path, dialect: str, big: bool, framing: str, seed: int) -> None:
    history = History(seed * 31 + 7, dialect, big, framing).run(500)
    log = opened(tmp_path, history)
    assert (
        log.files[0].shape.framing.name,
        log.files[0].shape.big,
        log.files[0].shape.dialect.name,
    ) == (framing, big, dialect)
    found = {name: rows for name, rows in committed(log).items() if rows}
    assert found == {name: rows for name, rows in expected(history).items() if rows}


def test_histories_hold_what_they_are_about(tmp_path: Path) -> None:
    """Else the histories above would prove less than they seem to."""
    log = opened(tmp_path, History(1).run(4000))
    entries, units = log.entries(), log.units()
    assert (entries["segments"] == 2).any()
    assert (entries["segments"] == 3).any()
    assert entries["cancelled"].sum() > 50
    assert {chr(code) for code in units["disposition"]} >= {"C", "A"}
    assert {change.action for change in log.changes.values()} >= {
        Action.CREATE_TABLE,
        Action.ADD_COLUMNS,
        Action.NOTE,
        Action.DROP_TABLE,
    }


@pytest.mark.parametrize("mode", ["redo"])
@pytest.mark.parametrize(("dialect", "big", "framing"), SHAPES[::3])
def test_the_sheet_closes(tmp_path: Path, mode: str, dialect: str, big: bool, framing: str) -> None:
    log = opened(tmp_path, History(5, dialect, big, framing).run(1500))
    plan = make_plan(log, mode, Selection(), ScriptOptions(records_per_file=200), 4096)
    assert plan.buckets > 1
    bundle = write_bundle(plan, log, tmp_path / "out", local.ENGINE)
    assert bundle.manifest["balance"]["closes"]
    assert bundle.manifest["balance"]["failed"] == 0
    assert bundle.manifest["quarantined_units"] == []
    assert bundle.tally.read == len(log.entries())
