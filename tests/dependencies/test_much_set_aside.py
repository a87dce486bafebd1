"""What is said of many units that are set aside is found for all of them at once."""

from __future__ import annotations

import random
from itertools import pairwise

import networkx as nx
import pytest

from replay.changes.position import UnitId
from replay.dependencies import graph as graphs
from replay.dependencies.analysis import shown_steps
from replay.dependencies.graph import DependencyGraph


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
