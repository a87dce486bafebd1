"""Which units of a script are taken, and in what groups."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from replay.changes.envelope import RECORD, Change
from replay.changes.position import Position, UnitId, UnitPosition
from replay.live.pace import Pace
from replay.live.route import Route, steps_of
from replay.output import steps
from replay.output.steps import STEP, Script, ScriptsHere, ScriptUnit


def script_of(folder: Path, keys: list[UnitPosition]) -> Script:
    """A script without text whose statements are of units by their ``keys``."""
    rows = np.zeros(len(keys), STEP)
    rows["key"] = np.frombuffer(b"".join(keys), rows["key"].dtype)
    rows["change"] = Change.UPDATE
    (folder / "0.sql").write_bytes(b";")
    (folder / "0.steps").write_bytes(rows.tobytes())
    (folder / "0.records").write_bytes(np.zeros(1, RECORD).tobytes())
    (folder / "0.shapes").write_text(json.dumps({}))
    return Script(folder / "0.sql")


def unit(commit: int, number: int) -> UnitPosition:
    return UnitPosition(commit.to_bytes(10) + number.to_bytes(12))


def expected(route: Route, key: UnitPosition) -> bool:
    """Whether a route takes a unit, as its docstring says it."""
    late = key.unit in route.pending
    if not route.forward:
        return key <= route.position and not late and key.commit > (route.until or b"")
    if key in route.ahead or (route.last is not None and key > route.last):
        return False
    return key > route.position or late


keys = st.lists(st.builds(unit, st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    keys,
    st.lists(st.integers(1, 4), min_size=12, max_size=12),
    st.integers(1, 7),
    st.builds(
        Route,
        st.booleans(),
        st.builds(unit, st.integers(0, 3), st.integers(0, 3)),
        st.none() | st.integers(0, 3).map(lambda commit: Position(commit.to_bytes(10))),
        st.none() | st.builds(unit, st.integers(0, 3), st.integers(0, 3)),
        st.frozensets(st.integers(0, 3).map(lambda n: UnitId(n.to_bytes(12))), max_size=3),
        st.frozensets(st.builds(unit, st.integers(0, 3), st.integers(0, 3)), max_size=3),
    ),
)
def test_a_route_takes_the_units_that_are_on_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    keys: list[UnitPosition],
    counts: list[int],
    block: int,
    route: Route,
) -> None:
    """Whatever lies at the edges of the blocks in which steps are read."""
    keys = sorted(set(keys), reverse=not route.forward)
    units, start = [], 0
    for key, count in zip(keys, counts, strict=False):
        units.append(ScriptUnit(0, key, start, start + count))
        start += count
    monkeypatch.setattr(steps, "_BLOCK", block)
    script = script_of(tmp_path, [one.key for one in units for _ in range(one.count)])
    assert list(script.units(0)) == units
    on_it = [one for one in units if expected(route, one.key)]
    if route.forward or route.until is not None:
        groups = list(route.groups(ScriptsHere([script]), Pace(units=1)))
        assert [one for group in groups for one in group.units] == on_it
    workload = route.workload(ScriptsHere([script]))
    assert (workload.units, workload.statements) == (
        len(on_it),
        sum(one.count for one in on_it),
    )
    assert workload.changes == ({(0, int(Change.UPDATE)): workload.statements} if on_it else {})
    assert steps_of(on_it).tolist() == [
        step for one in on_it for step in range(one.start, one.stop)
    ]
