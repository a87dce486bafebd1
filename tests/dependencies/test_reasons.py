"""Reasons, paths and keys that are put into words in columns are those of the graph's own answers,
unit by unit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import replay
from replay.changes import verdicts
from replay.changes.verdicts import Verdicts
from replay.dependencies import key_words, reasons
from replay.dependencies.analysis import Resolution
from replay.dependencies.key_words import key_text
from replay.output import quarantine
from tests.dependencies.test_much_set_aside import INCOMPLETE_LOG
from tests.support.logbuilder import Col, LogBuilder, Tab

TABLE = Tab("T", (Col("ID", "CHAR", 9, key=1), Col("N", "INT", 4)))
OTHER = Tab("LOOSE", (Col("ID", "CHAR", 9), Col("N", "INT", 4)), obid=4)
THIRD = Tab("THIRD", (Col("ID", "INT", 4, key=1), Col("N", "INT", 4)), obid=5)


def long_chains(folder: Path) -> tuple[Path, Path]:
    """Paths of each length up to 26, keys that JSON escapes, several of them in one unit, a table
    without key, one that was emptied, and a record that is missing."""
    names = ['it"s', "back\\", "tab\t", "ä"]
    log = LogBuilder((TABLE, OTHER, THIRD))
    log.unit(INCOMPLETETRANS="Y").insert(TABLE, (names[0], 0))
    for number in range(26):
        unit = log.unit(INCOMPLETEDEP="Y")
        if number == 3:
            for name in names[1:]:
                unit.insert(TABLE, (name, number))
        unit.update(TABLE, (names[0], number), (names[0], number + 1))
        for name in names[1:] if number > 3 else ():
            unit.update(TABLE, (name, number - 1), (name, number))
    log.unit().insert(THIRD, (1, 1))
    log.unit(INCOMPLETEDEP="Y").update(THIRD, (1, 5), (1, 6))
    bad = log.unit(INCOMPLETETRANS="Y")
    bad.insert(OTHER, ("x", 1))
    log.unit().update(OTHER, ("x", 1), ("x", 2))
    bad.event(TABLE, "DM")
    log.unit().insert(TABLE, ("new", 1))
    folder.mkdir()
    control, data = log.write(folder)
    return control, data[0] if isinstance(data, list) else data


def expected_of(resolution: Resolution, unit: Any) -> dict[str, Any]:
    subgraph, graph = resolution.subgraph, resolution.subgraph.graph
    node = resolution.paths.node(unit)
    if node is None:
        return {"path": [], "keys": []}
    _, shown, more = resolution.paths.shown(node)
    steps = []
    for source, target in shown:
        link = graph.node_links(source, target)[0]
        steps.append(
            {
                "unit": str(graph.unit(source)),
                "key": key_text(subgraph, link),
                "link": link.kind.name.lower(),
                "next": str(graph.unit(target)),
            }
        )
    keys = {
        key_text(subgraph, link)
        for source in graph.node_sources(node)
        for link in graph.node_links(source, node)
    }
    left_out = {"steps_left_out": more} if more else {}
    return {"path": steps, **left_out, "keys": sorted(keys)}


def expected_inputs(resolution: Resolution) -> list[dict[str, Any]]:
    subgraph, graph = resolution.subgraph, resolution.subgraph.graph
    log, records = subgraph.log, subgraph.batch.records
    nodes = resolution.paths.begins()
    counts = dict(zip(nodes.tolist(), graph.reach_counts(nodes)[0].tolist(), strict=True))
    found = []
    for node in sorted(
        nodes.tolist(), key=lambda node: (-counts[node], graph.units[node].tobytes())
    ):
        unit = graph.unit(node)
        if unit in subgraph.unproven or unit in subgraph.followers:
            continue
        rows = [row for row, one in enumerate(records["unit"]) if one.tobytes() == unit]
        envelope = log.envelope(*(records[name][rows] for name in ("file", "offset", "length")))
        _, versions = log.classify(envelope)
        found.append(
            {
                "unit": str(unit),
                "why": "incomplete or damaged" if unit in subgraph.survey.start else "gap",
                "log_of_member": unit.member,
                "from": envelope.unit_position()[0].tobytes().hex().upper(),
                "until": graph.commit(unit).hexadecimal,
                "tables": sorted({log.catalog.versions[one].name for one in versions.tolist()}),
                "holds": int(counts[node]),
            }
        )
    return found


@pytest.mark.long
@pytest.mark.parametrize("together", [1, 3, 4096])
@pytest.mark.parametrize("case", ["bundled", "chains"])
def test_as_unit_by_unit(
    tmp_path: Path, case: str, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in (
        (reasons, "TOGETHER"),
        (quarantine, "_TOGETHER"),
        (verdicts, "_TOGETHER"),
        (key_words, "_TOGETHER"),
    ):
        monkeypatch.setattr(module, name, together)
    kept: list[tuple[Resolution, Verdicts]] = []
    described_units = quarantine.described_units

    def noted(resolution: Resolution, aside: Verdicts, *units: Any) -> list[dict[str, Any]]:
        kept.append((resolution, aside))
        return described_units(resolution, aside, *units)

    monkeypatch.setattr(quarantine, "described_units", noted)
    control, data = INCOMPLETE_LOG if case == "bundled" else long_chains(tmp_path / "log")
    with replay.open_log(control=control, data=data) as log:
        done = log.select().redo("postgres", schema="none").write(tmp_path / "out")
        ((resolution, aside),) = kept
        text = (tmp_path / "out" / "quarantine" / "manifest.json").read_text(encoding="utf-8")
        units = json.loads(text)["units"]
        assert text == json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n"
        verdict_of = {str(unit): str(verdict) for unit, verdict in aside.items()}
        for unit, found in zip(resolution.paths, resolution.paths.nodes(), strict=True):
            assert resolution.subgraph.graph.unit(int(found)) == unit
        by_name = {str(unit): unit for unit in aside}
        assert sorted(by_name) == sorted(unit["unit"] for unit in units)
        for unit in units:
            expected = expected_of(resolution, by_name[unit["unit"]])
            assert {name: unit.get(name) for name in expected} == expected
            assert unit["reason"] == verdict_of[unit["unit"]]
            steps = [f"{step['key']} -> {step['next']}" for step in expected["path"]]
            if "steps_left_out" in expected:
                steps.insert(10, f"({expected['steps_left_out']:,} more steps)")
            assert unit["reason"].endswith("".join(f" -> {step}" for step in steps))
        assert ("steps_left_out" in text) == (case == "chains")
        inputs = json.loads(text)["missing_inputs"]
        assert inputs == expected_inputs(resolution)
        assert len({one["why"] for one in inputs}) == (2 if case == "chains" else 1)
    whole = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert whole["quarantined_units"] == done.manifest["quarantined_units"]
    assert whole["positions"]["after"]["pending"] == done.manifest["positions"]["after"]["pending"]
    said = {one["unit"]: one["reason"] for one in whole["quarantined_units"]}
    assert said == verdict_of
