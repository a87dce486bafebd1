"""Which units hang together, as several sessions share them out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.live.parallel import Partitioner, _joined
from replay.logs.logmaster.opening import open_log
from replay.output.bundle import write_bundle
from replay.output.steps import open_scripts
from replay.pipeline import local
from replay.pipeline.plan import Mode, make_plan
from sqlgen.constraints import Constraints
from sqlgen.render_options import RenderOptions
from tests.support.logbuilder import Col, LogBuilder, Tab

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


def test_a_value_that_is_only_spelled_anew_keeps_its_place(tmp_path: Path) -> None:
    """12.34 with the sign X'F' is 12.34 with X'C', and yet an update that is written: it must not
    come behind the next one of its row."""
    table = Tab(
        "T",
        (
            Col("K", "INT", 4, key=1),
            Col("V", "DEC", 3, scale=2, nulls="Y"),
            Col("W", "INT", 4, nulls="Y"),
        ),
    )
    log = LogBuilder((table,))
    change = log.unit().update(table, (1, "12.34", None), (1, "12.34", None))
    at = change.images[1].index(b"\x4c")
    change.images[1] = change.images[1][:at] + b"\x4f" + change.images[1][at + 1 :]
    log.unit().update(table, (1, "12.34", None), (1, "56.78", None))
    log.unit().insert(table, (2, "0.00", None))
    opened = open_log(*log.write(tmp_path))
    options = ScriptOptions(render=RenderOptions(where_columns="guard"))
    plan = replace(make_plan(opened, Mode.REDO, Selection(), options), steps=True)
    write_bundle(plan, opened, tmp_path / "out", local.ENGINE)
    scripts = list(open_scripts(tmp_path / "out"))
    units = list(scripts[0].units(0))
    assert len(units) == 3
    shares = Partitioner(opened, scripts, Constraints(), 1).shares(units)
    assert [share.units for share in shares] == [tuple(units[:2]), tuple(units[2:])]


def _shares(log: LogBuilder, folder: Path, statements: int) -> list[list[int]]:
    """The shares of all units of a log, by the units' numbers."""
    opened = open_log(*log.write(folder))
    plan = replace(make_plan(opened, Mode.REDO, Selection(), ScriptOptions()), steps=True)
    write_bundle(plan, opened, folder / "out", local.ENGINE)
    scripts = list(open_scripts(folder / "out"))
    units = list(scripts[0].units(0))
    shares = Partitioner(opened, scripts, Constraints(), statements).shares(units)
    return [[units.index(unit) for unit in share.units] for share in shares]


def test_units_of_a_table_without_a_key_hang_together(tmp_path: Path) -> None:
    keyed = Tab("T", (Col("K", "INT", 4, key=1),))
    keyless = Tab("N", (Col("K", "INT", 4),), obid=4)
    log = LogBuilder((keyed, keyless))
    for number, table in enumerate((keyed, keyless, keyed, keyless, keyed)):
        log.unit().insert(table, (number,))
    assert sorted(_shares(log, tmp_path, 1)) == [[0], [1, 3], [2], [4]]


def test_neighbours_stay_together(tmp_path: Path) -> None:
    """The statements of units that follow one another are one text."""
    table = Tab("T", (Col("K", "INT", 4, key=1),))
    log = LogBuilder((table,))
    for number in range(40):
        unit = log.unit()
        unit.insert(table, (2 * number,))
        if number % 2:
            unit.insert(table, (2 * number + 1,))
    shares = _shares(log, tmp_path, 40)
    assert shares == [list(range(27)), list(range(27, 40))]
