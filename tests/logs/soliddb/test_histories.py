"""Random histories: what the reader takes out of a log, applied in commit order, is the state that
the history ended in, and taken back it is none."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from replay.changes.envelope import ROW_CHANGES, Change
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.engine import local
from replay.logs import Inputs
from replay.logs.soliddb.reader import SolidLog, open_log
from replay.output.bundle import write_bundle
from replay.pipeline.plan import make_plan
from sqlgen.structure import Action
from tests.support.solidbuilder import Framing, write_catalog, write_rows
from tests.support.solidhistory import History

SHAPES = [
    (Framing(), 20, "A"), (Framing("len32z"), 28, "A"), (Framing("va"), 20, "A"),
    (Framing("ind0", 2), 20, "A"), (Framing("ind1"), 28, "A"),
    (Framing("ind0p", 4, True), 20, "A"), (Framing("len16", 2, True), 20, "B"),
    (Framing("len32le"), 20, "C"), (Framing("va", 2), 20, "C"),
]  # fmt: skip
Tables = dict[str, dict[tuple[Any, ...], tuple[Any, ...]]]


def opened(folder: Path, history: History, **settings: Any) -> SolidLog:
    write_catalog(folder, history.catalog)
    path = write_rows(folder / "syslog.parquet", history.log.rows)
    return open_log(Inputs(log=(str(path),), catalog=str(folder), scratch=str(folder), **settings))


def applied(log: SolidLog, history: History) -> Tables:
    """The tables after all units, from nothing; then everything is taken back again, up to the last
    change of structure."""
    entries, units = log.entries(), log.units()
    tables: Tables = {}
    images = images_of(log)
    chosen = [*ROW_CHANGES, Change.TRUNCATE, Change.STRUCTURE]
    order = np.lexsort(
        [entries["place"], np.ascontiguousarray(units["commit"]).view("S10")[entries["unit"]]]
    )
    done = []
    for row in order.tolist():
        entry = entries[row]
        if entry["change"] in chosen and entry["segment"] == 1 and entry["unit"] >= 0:
            assert not entry["fault"], log.header_finding(0, row + 1, row, 0)
            apply(log, entry, tables, images, history)
            done.append(entry)
    whole = {name: dict(rows) for name, rows in tables.items()}
    for entry in reversed(done):
        if Change(int(entry["change"])) not in ROW_CHANGES:
            break
        apply(log, entry, tables, images, history, back=True)
    else:
        assert not any(tables.values())
    return whole


def apply(
    log: SolidLog,
    entry: np.void,
    tables: Tables,
    images: dict[int, tuple[Any, ...]],
    history: History,
    back: bool = False,
) -> None:
    change = Change(int(entry["change"]))
    version = log.catalog.versions[int(entry["version"])]
    rows = tables.setdefault(version.table.name, {})
    if change is Change.TRUNCATE:
        rows.clear()
    elif change is Change.STRUCTURE:
        made = log.changes[int(entry["file"]), int(entry["row"])]
        text = made.source[0].text if made.action is Action.STATEMENT else made.action.value
        if "ADD COLUMN" in text.upper():
            tables[version.table.name] = {key: (*row, None) for key, row in rows.items()}
        elif "DROP COLUMN" in text.upper():
            tables[version.table.name] = {key: (row[0], *row[2:]) for key, row in rows.items()}
        elif version.table.name not in history.tables:
            del tables[version.table.name]
    else:
        old, new = ("after", "before") if back else ("before", "after")
        before = None if entry[old] < 0 else images[int(entry[old])]
        after = None if entry[new] < 0 else images[int(entry[new])]
        names = [column.name for column in version.table.columns]
        key = [names.index(name) for name in version.table.key]
        if before is not None:
            assert rows.pop(tuple(before[place] for place in key)) == before
        if after is not None:
            assert tuple(after[place] for place in key) not in rows
            rows[tuple(after[place] for place in key)] = after


def images_of(log: SolidLog) -> dict[int, tuple[Any, ...]]:
    """Every row image, by where it lies."""
    entries = log.entries()
    found = {}
    live = np.isin(entries["change"], ROW_CHANGES)
    for number in np.unique(entries["version"][live]).tolist():
        version = log.catalog.versions[number]
        start = entries["start"][live & (entries["version"] == number)].astype(np.int64)
        walk = log.walk(
            number,
            log.data(),
            start,
            start + entries["size"][live & (entries["version"] == number)],
        )
        assert not walk.bad.any(), walk.reason(int(np.flatnonzero(walk.bad)[0]))
        columns = []
        for column in version.table.columns:
            values, bad = walk.decode(version.index_of(column.name))
            assert bad is None, walk.explain(
                version.index_of(column.name), int(np.flatnonzero(bad)[0])
            )
            columns.append(values.to_pylist())
        found.update(zip(start.tolist(), zip(*columns, strict=True), strict=True))
    return found


def expected(history: History) -> Tables:
    def shown(value: Any, kind: str) -> Any:
        return (
            format(Decimal(value).quantize(Decimal("0.001")), "f")
            if kind == "DECIMAL" and value is not None
            else value
        )

    return {
        name: {
            key: tuple(
                shown(v, c.type) for v, c in zip(row, history.tables[name].user(), strict=True)
            )
            for key, row in rows.items()
        }
        for name, rows in history.rows.items()
        if rows
    }


@pytest.mark.parametrize(("framing", "size", "columns"), SHAPES, ids=str)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("texts", [True, False])
def test_random_histories(
    tmp_path: Path, framing: Framing, size: int, columns: str, seed: int, texts: bool
) -> None:
    structure = columns == "A"
    history = History(seed * 37 + 5, framing, size, texts, structure, columns).run(100)
    log = opened(tmp_path, history)
    assert (log.shape.framing.lengths.name, log.shape.framing.count, log.by_address) == (
        framing.profile,
        framing.count,
        True,
    )
    assert log.shape.columns == (
        "A" if columns == "B" else columns
    )  # no column is dropped there, so both lists are the same
    found = {name: rows for name, rows in applied(log, history).items() if rows}
    assert found == expected(history)


def test_histories_hold_what_they_are_about(tmp_path: Path) -> None:
    """Else the histories above would prove less than they seem to."""
    history = History(3, Framing()).run(900)
    log = opened(tmp_path, history)
    entries = log.entries()
    assert history.done == {"create", "add", "drop column", "truncate", "index"}
    assert {change.action for change in log.changes.values()} == {Action.STATEMENT}
    (tmp_path / "silent").mkdir()
    silent = opened(tmp_path / "silent", History(3, Framing(), texts=False).run(900))
    assert {change.action for change in silent.changes.values()} == {
        Action.CREATE_TABLE,
        Action.ADD_COLUMNS,
        Action.DROP_COLUMNS,
        Action.NOTE,
    }
    assert (entries["change"] == Change.TRUNCATE).any()
    moved = entries["place"] != np.arange(len(entries))
    assert moved[np.isin(entries["change"], (Change.INSERT, Change.DELETE))].any()
    assert sum(1 for version in log.catalog.versions if version.table.name == "MAIN") == 3


@pytest.mark.parametrize(("framing", "size", "columns"), SHAPES[::3], ids=str)
def test_the_sheet_closes(tmp_path: Path, framing: Framing, size: int, columns: str) -> None:
    log = opened(tmp_path, History(5, framing, size).run(500))
    plan = make_plan(log, "redo", Selection(), ScriptOptions(records_per_file=200), 4096)
    assert plan.buckets > 1
    bundle = write_bundle(plan, log, tmp_path / "out", local.ENGINE)
    assert bundle.manifest["balance"]["closes"]
    assert bundle.manifest["balance"]["failed"] == 0
    assert bundle.manifest["quarantined_units"] == []
    assert bundle.tally.read == len(log.entries())
