"""What is said of many units that are set aside is found for all of them at once."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import replay
from replay.changes.position import UnitId
from replay.dependencies import graph as graphs
from replay.dependencies.analysis import shown_steps
from replay.dependencies.graph import DependencyGraph
from replay.logs.logmaster.reader import LogmasterLog
from tests.support.logbuilder import Col, LogBuilder, Tab


def unit(number: int) -> UnitId:
    return UnitId(number.to_bytes(12, "big"))


@pytest.mark.parametrize("seed", range(20))
def test_reach_counts(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Circles too, and more groups than are counted together."""
    monkeypatch.setattr(graphs, "_TOGETHER", 7)
    chance = random.Random(seed)
    graph = DependencyGraph()
    units = [unit(number) for number in range(40)]
    graph.graph.add_nodes_from(units)
    graph.graph.add_edges_from(chance.sample(units, 2) for _ in range(45))
    assert graph.reach_counts() == {one: len(nx.descendants(graph.graph, one)) + 1 for one in units}


def test_long_paths_are_shown_by_their_ends() -> None:
    path = [unit(number) for number in range(100)]
    steps, more = shown_steps(path)
    assert (len(steps), more) == (20, 79)
    assert steps[0] == (path[0], path[1])
    assert steps[9:11] == [(path[9], path[10]), (path[89], path[90])]
    assert steps[-1] == (path[98], path[99])
    assert shown_steps(path[:21]) == (list(pairwise(path[:21])), 0)


def looks_at_images(folder: Path, units: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often images are looked for, in a redo that sets all units but one aside."""
    table = Tab("T", (Col("ID", "INT", 4, key=1), Col("AT", "TIME", 8), Col("N", "INT", 4)))
    log = LogBuilder((table,))
    log.unit().insert(table, (1, "10:20:30", 0))
    log.unit().update(table, (1, "10:20:30", 0), (1, "24:00:00", 0))
    for number in range(units):
        log.unit().update(table, (1, "24:00:00", number), (1, "24:00:00", number + 1))
    folder.mkdir()
    control, data = log.write(folder)
    looks: list[int] = []
    images = LogmasterLog.images

    def counted(self: LogmasterLog, *more: Any) -> Any:
        looks.append(1)
        return images(self, *more)

    monkeypatch.setattr(LogmasterLog, "images", counted)
    with replay.open_log(control=control, data=data) as opened:
        done = opened.select().redo("tsql", schema="none").write(folder / "out")
    monkeypatch.undo()
    assert len(done.manifest["quarantined_units"]) == units + 1
    return len(looks)


def test_keys_are_put_into_words_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = looks_at_images(tmp_path / "few", 5, monkeypatch)
    assert looks_at_images(tmp_path / "many", 150, monkeypatch) == few
