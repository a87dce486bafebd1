"""What is said of many units that are set aside is found for all of them at once."""

from __future__ import annotations

import gc
import os
import random
import signal
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import replay
from replay import spill
from replay.changes import balance, units
from replay.changes.position import (
    POSITION,
    UNIT,
    UNIT_POSITION,
    UnitId,
    UnitPosition,
    unit_positions,
)
from replay.changes.units import unit_column
from replay.cli.main import main
from replay.dependencies import analysis, passes, why_held
from replay.dependencies import graph as graphs
from replay.dependencies.graph import (
    DependencyGraph,
)
from replay.dependencies.links import (
    LINK,
    Link,
)
from replay.logs.logmaster.reader import LogmasterLog
from replay.output import quarantine
from replay.pipeline import partition, scan
from tests.support.logbuilder import Col, LogBuilder, Tab
from tests.support.places import FIXTURES, ROOT


def unit(number: int) -> UnitId:
    return UnitId(number.to_bytes(12, "big"))


def made(seed: int, nodes: int = 40, links: int = 45) -> tuple[DependencyGraph, nx.DiGraph[int]]:
    """A graph with circles and several links between two units, and another library's."""
    chance = random.Random(seed)
    positions = [
        UnitPosition((1 + number // 3).to_bytes(10) + bytes(unit(1 + (number * 37) % 256)))
        for number in range(nodes)
    ]
    pairs = [chance.sample(range(nodes), 2) for _ in range(links)]
    pairs += chance.choices(pairs, k=links // 3)
    between = np.zeros(len(pairs), LINK)
    between["source"] = range(len(pairs))
    between["space"] = [one for one, _ in pairs]
    between["kind"] = chance.choices(list(Link), k=len(pairs))
    source, target = np.array(pairs, np.int64).T
    judge: nx.DiGraph[int] = nx.DiGraph()
    judge.add_nodes_from(range(nodes))
    judge.add_edges_from(pairs)
    units = np.frombuffer(b"".join(sorted(positions)), UNIT_POSITION)
    return DependencyGraph(units, source, target, between), judge


@pytest.mark.parametrize("few", [0, 3, 64])
@pytest.mark.parametrize("seed", range(20))
def test_paths_and_links(seed: int, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each path is a shortest one; the first ones go to what committed first."""
    monkeypatch.setattr(graphs, "_FEW", few)
    graph, judge = made(seed)
    start = random.Random(seed).sample(range(len(graph)), 4)
    paths = graph.paths([unit(256), *(graph.unit(node) for node in start)])
    lengths = nx.multi_source_dijkstra_path_length(judge, set(start))
    assert lengths == {node: len(paths.shown(node)[1]) for node in paths.nodes().tolist()}
    assert sorted(graph.unit(node) for node in start) == sorted(
        graph.unit(node) for node in paths.begins().tolist()
    )
    level, before = sorted(start), dict.fromkeys(start, -1)
    while level:
        following = []
        for node in level:
            for target in sorted(judge.successors(node)):
                if target not in before:
                    before[target] = node
                    following.append(target)
        level = following
    assert paths.nodes().tolist() == sorted(before)
    for node in before:
        first, steps, more = paths.shown(node)
        path = [first, *(target for _, target in steps)]
        assert more == 0
        assert path[-1] == node
        assert [-1, *path[:-1]] == [before[one] for one in path]
    every = np.arange(len(graph))
    into, ends = graph.links_into(every)
    assert len(into) == 45 + 15
    for node, (low, high) in enumerate(pairwise(ends.tolist())):
        sources = graph.sources(graph.unit(node))
        assert sorted(sources) == sorted(map(graph.unit, judge.predecessors(node)))
        nodes, _ = graph.nodes_of(unit_column(sources))
        firsts = graph.first_links(nodes, np.full(len(nodes), node))
        rows, space = into["source"][low:high], into["space"][low:high]
        wanted = [min(rows[space == one].tolist()) for one in nodes.tolist()]
        assert firsts["source"].tolist() == wanted
    rest = graph.paths([graph.unit(0)])
    both = paths.or_else(rest)
    known = {node: paths.shown(node) for node in paths.nodes().tolist()}
    more = {node: rest.shown(node) for node in rest.nodes().tolist()}
    assert {node: both.shown(node) for node in both.nodes().tolist()} == {**more, **known}


@pytest.mark.parametrize("length", [1, 2, 11, 12, 20, 21, 22, 23, 40, 100])
def test_long_paths_are_shown_by_their_ends(length: int) -> None:
    graph = chain(length)
    path = list(range(length))
    first, steps, more = graph.paths([unit(1)]).shown(length - 1)
    assert first == 0
    assert more == max(0, length - 21)
    every = list(pairwise(path))
    assert steps == ([*every[:10], *every[-10:]] if more else every)
    both = graph.paths([]).or_else(graph.paths([unit(1)]))
    assert both.shown(length - 1) == (first, steps, more)


def chain(count: int) -> DependencyGraph:
    """Units of which each builds on the one before."""
    places = np.arange(count)
    units = unit_positions(
        np.frombuffer(b"".join(n.to_bytes(10) for n in range(1, count + 1)), POSITION),
        np.frombuffer(b"".join(n.to_bytes(12) for n in range(1, count + 1)), UNIT),
    )
    return DependencyGraph(units, places[:-1], places[1:], np.zeros(count - 1, LINK))


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


# -- what does not fit into memory
# -------------------------------------------------------------------------------------------------

INCOMPLETE_LOG = (
    FIXTURES / "incomplete" / "log" / "incomplete.ctl",
    FIXTURES / "incomplete" / "log" / "incomplete.dat",
)


def all_in_files(set_value: Callable[[Any, str, int], None]) -> None:
    """Columns of a few bytes lie in files, and whatever is done together is done of few."""
    set_value(spill, "BUDGET", 8)
    set_value(units, "_TOGETHER", 3)
    set_value(quarantine, "_TOGETHER", 7)
    set_value(analysis, "TOGETHER", 40)
    set_value(graphs, "PART", 6)
    set_value(graphs, "_PIECE", 64)
    set_value(scan, "RUN", 64)


def bundle_of(folder: Path, mode: str, name: str) -> dict[str, bytes]:
    with replay.open_log(control=INCOMPLETE_LOG[0], data=INCOMPLETE_LOG[1]) as log:
        script = getattr(log.select(), mode)("postgres", schema="none")
        done = script.write(folder / f"{mode}-{name}")
    assert len(done.manifest["quarantined_units"]) > 50
    return {
        str(path.relative_to(done.folder)): path.read_bytes()
        for path in Path(done.folder).rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("mode", ["redo", "undo"])
def test_what_lies_in_files_gives_the_same_bundle(
    tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    scratch_file = spill.scratch_file
    monkeypatch.setattr(spill, "scratch_file", lambda: (made.append(1), scratch_file())[1])
    usual = bundle_of(tmp_path, mode, "usual")
    assert not made
    all_in_files(monkeypatch.setattr)
    assert bundle_of(tmp_path, mode, "files") == usual
    assert len(made) > 20


def open_files(folder: Path) -> list[str]:
    """What this process has open in a folder, also what has no name there any more."""
    gc.collect()
    found = []
    for one in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found.append(str(one.readlink()))
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    return [name for name in (*found, *maps) if str(folder) in name]


def test_files_go_with_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    all_in_files(monkeypatch.setattr)
    bundle_of(tmp_path, "redo", "whole")
    assert open_files(place) == []
    assert list(place.iterdir()) == []

    def fails(*_: object) -> None:
        assert open_files(place)
        raise ZeroDivisionError

    monkeypatch.setattr("replay.output.whole_folder.publish", fails)
    with pytest.raises(ZeroDivisionError):
        bundle_of(tmp_path, "redo", "failed")
    assert open_files(place) == []
    assert list(place.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["redo-whole", "temporary"]


def test_a_full_disk_ends_the_run_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is published."""
    all_in_files(monkeypatch.setattr)
    monkeypatch.setattr(spill, "scratch_file", partial(open, "/dev/full", "r+b", 0))
    control, data = map(str, INCOMPLETE_LOG)
    work = tmp_path / "work"
    work.mkdir()
    words = ["redo", "--control", control, "--data", data, "--out", str(tmp_path / "out")]
    assert main([*words, "--engine", "local", "--work", str(work)]) == 12
    said = capsys.readouterr().err
    assert f"LR1006 found No space left on device: {work}; expected" in said
    assert "on a disk that has more" in said
    assert list(tmp_path.iterdir()) == [work]
    assert list(work.iterdir()) == []


_STOPS = """
import sys, time
from pathlib import Path
from replay.output import whole_folder
from tests.dependencies import test_much_set_aside as ours
from replay.cli.main import main

ours.all_in_files(setattr)
def waits(*_):
    assert ours.open_files(Path(sys.argv[1]))
    print("here", flush=True)
    time.sleep(300)
whole_folder.publish = waits
sys.exit(main(sys.argv[2:]))
"""


def test_files_go_with_a_run_that_is_ended(tmp_path: Path) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    control, data = map(str, INCOMPLETE_LOG)
    words = ["redo", "--control", control, "--data", data, "--out", str(tmp_path / "out")]
    run = subprocess.Popen(
        [sys.executable, "-c", _STOPS, str(place), *words, "--engine", "local"],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(place)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert run.stdout is not None
    assert run.stdout.readline() == "here\n"
    run.send_signal(signal.SIGTERM)
    assert run.wait(60) == 143
    run.stdout.close()
    assert list(place.iterdir()) == []
    assert list(tmp_path.iterdir()) == [place]


def memory_of(folder: Path, units: int) -> int:
    """The most memory, in bytes, that Python and NumPy have in a redo that sets units aside: one
    that is incomplete, and those that each build on the one before of their row."""
    table = Tab("T", (Col("ID", "INT", 4, key=1), Col("N", "INT", 4)))
    log = LogBuilder((table,))
    log.unit(INCOMPLETETRANS="Y").insert(table, (0, 0))
    for number in range(units):
        log.unit().update(table, (0, number), (0, number + 1))
    folder.mkdir()
    control, data = log.write(folder)
    with replay.open_log(control=control, data=data) as opened:
        tracemalloc.start()
        done = opened.select().redo("postgres", schema="none").write(folder / "out")
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert len(done.tally.quarantined_units) == units + 1
    return most


def test_memory_of_a_unit_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one change, where a reason has some 600 bytes. There were 5 KB of each."""
    monkeypatch.setattr(passes, "TOGETHER", 64)
    monkeypatch.setattr(scan, "BATCH", 64)
    monkeypatch.setattr(partition, "CHUNK", 64)
    for module in (balance, quarantine, why_held):
        monkeypatch.setattr(module, "SHOWN", 50)
    all_in_files(monkeypatch.setattr)
    memory_of(tmp_path / "first", 10)  # what is loaded once
    few, many = memory_of(tmp_path / "few", 60), memory_of(tmp_path / "many", 360)
    assert (many - few) / 300 < 250
