"""How many units each one holds is counted of many at once, in bounded memory and work."""

from __future__ import annotations

import json
import random
import tracemalloc
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import replay
from replay.dependencies import reach
from replay.dependencies.graph import DependencyGraph
from tests.dependencies.test_much_set_aside import chain, made
from tests.support.logbuilder import Col, LogBuilder, Tab


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few nodes are looked at together."""
    monkeypatch.setattr(reach, "_NODES", 7)


def counted(graph: DependencyGraph, asked: list[int]) -> list[int]:
    count, more = graph.reach_counts(np.array(asked, np.int64))
    assert not more.any()
    others = np.delete(count, asked)
    assert (others == 1).all()
    return [int(count[one]) for one in asked]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("links", [75, 225, 450])
def test_reach_counts(seed: int, links: int, monkeypatch: pytest.MonkeyPatch, few: None) -> None:
    """As another library finds it; with circles, and more units than are counted in one walk."""
    graph, judge = made(seed, 200, links)
    expected = [len(nx.descendants(judge, one)) + 1 for one in range(len(graph))]
    for memory in (8, 1 << 20):
        monkeypatch.setattr(reach, "MEMORY", memory)
        assert counted(graph, [*range(len(graph))]) == expected
        for some in (3, 150):
            asked = random.Random(seed).sample(range(len(graph)), some)
            assert counted(graph, asked) == [expected[one] for one in asked]
    assert counted(graph, []) == []


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("links", [100, 225, 450])
def test_more_than_were_counted(seed: int, links: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is less work to do than the counting takes: what is said to be all is all, of
    the others there are more."""
    graph, judge = made(seed, 300, links)
    monkeypatch.setattr(reach, "MEMORY", 8)
    expected = np.array([len(nx.descendants(judge, one)) + 1 for one in range(len(graph))])
    some: list[int] = []
    for work in (0, 50, 200, 1 << 30):
        monkeypatch.setattr(reach, "WORK", work)
        count, more = graph.reach_counts()
        assert (count[more] < expected[more]).all()
        assert (count[~more] == expected[~more]).all()
        some.append(int(more.sum()))
    assert some == sorted(some, reverse=True)
    assert some[-1] == 0
    assert links == 100 or some[0] > 0


@pytest.mark.parametrize("seed", range(10))
def test_circles(seed: int) -> None:
    """The order of units that nothing leads back to stays."""
    graph, judge = made(seed, 60, 70)
    arcs = reach.Arcs(graph._source, graph._target, graph._out, graph._back, graph._in)
    group, rank = reach.circles(arcs)
    assert sorted(rank.tolist()) == [*range(60)]
    expected = {one: min(some) for some in nx.strongly_connected_components(judge) for one in some}
    assert dict(enumerate(group.tolist())) == expected
    for one, other in judge.edges:
        assert group[one] == group[other] or rank[one] < rank[other]
    for first in set(expected.values()):
        ranks = np.sort(rank[group == first])
        assert (np.diff(ranks) == 1).all()
    straight = chain(50)
    arcs = reach.Arcs(*(getattr(straight, f"_{name}") for name in (*reach.Arcs._fields[:4], "in")))
    assert [one.tolist() for one in reach.circles(arcs)] == [[*range(50)]] * 2


@pytest.mark.long
def test_a_long_chain(few: None) -> None:
    """All units of it were together as many bits as their number squared."""
    count = 10_000
    graph = chain(count)
    graph.reach_counts(np.arange(2))  # what is loaded once
    tracemalloc.start()
    assert graph.reach_counts().counts.tolist() == [*range(count, 0, -1)]
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 400 * count


@pytest.mark.parametrize(("work", "said"), [(1 << 30, {"holds": 6}), (3, {"holds_more_than": 4})])
def test_the_manifest_says_what_was_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: int, said: dict[str, int]
) -> None:
    table = Tab("T", (Col("ID", "INT", 4, key=1), Col("N", "INT", 4)))
    log = LogBuilder((table,))
    log.unit(INCOMPLETETRANS="Y").insert(table, (0, 0))
    for number in range(5):
        log.unit().update(table, (0, number), (0, number + 1))
    control, data = log.write(tmp_path)
    monkeypatch.setattr(reach, "WORK", work)
    with replay.open_log(control=control, data=data) as opened:
        opened.select().redo("postgres", schema="none").write(tmp_path / "out")
    text = (tmp_path / "out" / "quarantine" / "manifest.json").read_text(encoding="utf-8")
    (entry,) = json.loads(text)["missing_inputs"]
    assert {name: number for name, number in entry.items() if name.startswith("holds")} == said
