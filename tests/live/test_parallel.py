"""Which units hang together, as several sessions share them out."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from replay.live.parallel import _joined

COUNT = 40
pairs = st.lists(st.tuples(st.integers(0, COUNT - 1), st.integers(0, COUNT - 1)), max_size=60)


@given(pairs)
def test_what_hangs_together_has_one_number(arrows: list[tuple[int, int]]) -> None:
    label = _joined(COUNT, np.array(arrows, np.int64).reshape(-1, 2))
    graph: nx.Graph[int] = nx.Graph(arrows)
    graph.add_nodes_from(range(COUNT))
    groups = [sorted(group) for group in nx.connected_components(graph)]
    assert [label[group].tolist() for group in groups] == [
        [min(group)] * len(group) for group in groups
    ]


def test_a_long_chain() -> None:
    count = 100_000
    order = np.random.default_rng(1).permutation(count)
    assert not _joined(count, np.stack([order[:-1], order[1:]], axis=1)).any()
