"""The graph of dependencies as others read it: igraph and networkx find the units, rows and edges
that the JSON of the same graph has."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import igraph
import networkx as nx
import pytest

from replay.cli import main
from tests.support.places import FIXTURES

SMALL = FIXTURES / "sakila" / "small"
LOG = ["--control", str(SMALL / "small.ctl"), "--data", str(SMALL / "small.dat"), "--engine"]
LOG += ["local", "--schema", str(SMALL / "schema-ri.sql")]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("graphs")
    for form in ("json", "graphml"):
        assert main.main(["graph", *LOG, "--format", form, "--out", str(out / form)]) == 0
    return out


def test_igraph_and_networkx_read_the_same_graph(drawn: Path) -> None:
    said = json.loads((drawn / "json").read_text(encoding="utf-8"))
    one = igraph.Graph.Read_GraphML(str(drawn / "graphml"))
    other = nx.read_graphml(drawn / "graphml")
    kinds = {"unit": len(said["units"]), "row": len(said["rows"])}
    assert kinds["unit"] > 30
    assert Counter(one.vs["kind"]) == kinds
    assert Counter(kind for _, kind in other.nodes(data="kind")) == kinds
    assert one.is_directed()
    assert other.is_directed()
    assert one.ecount() == other.number_of_edges() == len(said["changes"]) + len(said["edges"])

    names = one.vs["id"]
    theirs = Counter((names[e.source], names[e.target], e["kind"]) for e in one.es)
    assert theirs == Counter((a, b, kind) for a, b, kind in other.edges(data="kind"))
    built_on = Counter((f"u{edge['from']}", f"u{edge['to']}", "built on") for edge in said["edges"])
    assert built_on == Counter(
        {edge: count for edge, count in theirs.items() if edge[2] == "built on"}
    )
    statements = {edge["statement"] for edge in one.es if edge["statement"]}
    assert statements == {change["statement"] for change in said["changes"]}
