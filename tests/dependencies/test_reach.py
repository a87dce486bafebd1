"""How many units each one holds is counted up to a limit."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import replay
from replay.dependencies import graph as graphs
from tests.dependencies.test_much_set_aside import chain, made
from tests.support.logbuilder import Col, LogBuilder, Tab


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("links", [75, 225, 450])
def test_reach_counts(seed: int, links: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As another library finds it, with circles; what is said to be all is all, of the others there
    are more."""
    graph, judge = made(seed, 200, links)
    every = np.arange(len(graph))
    expected = np.array([len(nx.descendants(judge, one)) + 1 for one in every.tolist()])
    for most in (1, 5, 60, 200):
        monkeypatch.setattr(graphs, "COUNTED", most)
        count, more = graph.reach_counts(every)
        assert (more == (expected > most)).all()
        assert (count == np.minimum(expected, most)).all()
    some = every[::7]
    assert graph.reach_counts(some)[0].tolist() == expected[some].tolist()
    assert not len(graph.reach_counts(every[:0])[0])


def test_many_units_have_few_steps_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "LOOKED_AT", 1000)
    counts, more = chain(100).reach_counts(np.arange(100))
    assert counts.tolist() == [10] * 90 + [*range(10, 0, -1)]
    assert more.tolist() == [True] * 90 + [False] * 10


@pytest.mark.parametrize(("most", "said"), [(6, {"holds": 6}), (4, {"holds_more_than": 4})])
def test_the_manifest_says_what_was_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, said: dict[str, int]
) -> None:
    table = Tab("T", (Col("ID", "INT", 4, key=1), Col("N", "INT", 4)))
    log = LogBuilder((table,))
    log.unit(INCOMPLETETRANS="Y").insert(table, (0, 0))
    for number in range(5):
        log.unit().update(table, (0, number), (0, number + 1))
    control, data = log.write(tmp_path)
    monkeypatch.setattr(graphs, "COUNTED", most)
    with replay.open_log(control=control, data=data) as opened:
        opened.select().redo("postgres", schema="none").write(tmp_path / "out")
    text = (tmp_path / "out" / "quarantine" / "manifest.json").read_text(encoding="utf-8")
    (entry,) = json.loads(text)["missing_inputs"]
    assert {name: number for name, number in entry.items() if name.startswith("holds")} == said
