"""Which units of a script are taken, and in what groups."""

from __future__ import annotations

import json
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from replay.changes.envelope import RECORD, Change
from replay.changes.position import UNIT_POSITION, Position, UnitId, UnitPosition
from replay.live.route import Route, UnitBlock, UnitColumns, UnitGroup
from replay.live.transaction_size import Pace
from replay.output import steps
from replay.output.steps import STEP, Script, ScriptUnit


def script_of(folder: Path, keys: list[UnitPosition], number: int = 0) -> Script:
    """The ``number``-th script of a folder, without text; its statements are of units by their
    ``keys``."""
    rows = np.zeros(len(keys), STEP)
    rows["key"] = np.frombuffer(b"".join(keys), rows["key"].dtype)
    rows["change"] = Change.UPDATE
    (folder / f"{number}.sql").write_bytes(b";")
    (folder / f"{number}.steps").write_bytes(rows.tobytes())
    (folder / f"{number}.records").write_bytes(np.zeros(1, RECORD).tobytes())
    (folder / f"{number}.shapes").write_text(json.dumps({}))
    return Script(folder / f"{number}.sql")


def unit(commit: int, number: int) -> UnitPosition:
    return UnitPosition(commit.to_bytes(10) + number.to_bytes(12))


def expected(route: Route, key: UnitPosition) -> bool:
    """Whether a route takes a unit, as its docstring says it."""
    late = key.unit in route.pending
    if not route.forward:
        return key <= route.position and not late and key.commit > (route.until or b"")
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
        groups = list(route.groups([script], Pace(units=1)))
        assert [one for group in groups for one in group.units] == on_it
    workload = route.workload([script])
    assert (workload.units, workload.statements) == (
        len(on_it),
        sum(one.count for one in on_it),
    )
    assert workload.changes == ({(0, int(Change.UPDATE)): workload.statements} if on_it else {})
    assert columns_of(on_it).steps().tolist() == [
        step for one in on_it for step in range(one.start, one.stop)
    ]


def columns_of(units: list[ScriptUnit]) -> UnitColumns:
    """Units as columns, a block for those of one script that follow one another."""
    return UnitColumns(
        UnitBlock(
            script,
            np.frombuffer(b"".join(unit.key for unit in some), UNIT_POSITION),
            np.array([unit.start for unit in some]),
            np.array([unit.stop for unit in some]),
        )
        for script, group in groupby(units, lambda unit: unit.script)
        for some in [list(group)]
    )


def grouped(route: Route, units: list[ScriptUnit], pace: Pace) -> list[list[ScriptUnit]]:
    """Units in groups, as the docstrings of pace and route say it."""
    groups: list[list[ScriptUnit]] = []
    for unit in units:
        group = groups[-1] if groups else []
        count = sum(one.count for one in group)
        full = len(group) >= pace.units or count >= pace.statements
        alone = bool(group) and not route.rejected.isdisjoint({group[-1].key, unit.key})
        if not group or full or alone:
            groups.append([])
        groups[-1].append(unit)
    return groups


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=9), min_size=1, max_size=3),
    st.booleans(),
    st.builds(
        Pace,
        units=st.integers(1, 5),
        statements=st.integers(1, 9),
    ),
    st.builds(Pace, units=st.integers(1, 3), statements=st.integers(1, 9)),
    st.frozensets(st.integers(0, 26), max_size=4),
    st.integers(1, 7),
)
def test_groups_hold_what_the_pace_says(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    scripts: list[list[int]],
    forward: bool,
    pace: Pace,
    smaller: Pace,
    rejected: frozenset[int],
    block: int,
) -> None:
    """And where one ends, the next begins; a group is parted in the same way."""
    monkeypatch.setattr(steps, "_BLOCK", block)
    total = sum(map(len, scripts))
    numbers = list(range(1, total + 1) if forward else range(total, 0, -1))
    units, made, place = [], [], 0
    for script, counts in enumerate(scripts):
        keys: list[UnitPosition] = []
        for count in counts:
            key = unit(numbers[place], 0)
            units.append(ScriptUnit(script, key, len(keys), len(keys) + count))
            keys += [key] * count
            place += 1
        made.append(script_of(tmp_path, keys, script))
    position, until = unit(0 if forward else total, 0), None if forward else Position(bytes(10))
    aside = frozenset(unit(number, 0) for number in rejected)
    route = Route(forward, position, until, rejected=aside)
    groups = list(route.groups(made, pace))
    expected_groups = grouped(route, units, pace)
    assert [list(group.units) for group in groups] == expected_groups
    ends = [position, *(group.after for group in groups)]
    assert [(group.before, group.after) for group in groups] == list(pairwise(ends))
    for group in groups:
        assert group.after == (group.units[-1].key if forward else behind(units, group))
        assert group.statements == sum(one.count for one in group.units)
        parts = list(route.split(group, smaller))
        assert [list(part.units) for part in parts] == grouped(route, list(group.units), smaller)
        assert (parts[0].before, parts[-1].after) == (group.before, group.after)


def behind(units: list[ScriptUnit], group: UnitGroup) -> UnitPosition:
    """Where a target stands that took a group back."""
    place = units.index(group.units[-1]) + 1
    return units[place].key if place < len(units) else Position(bytes(10)).end


def test_units_are_had_one_by_one_or_in_runs() -> None:
    """As a tuple of them is."""
    places = [(0, 0, 2), (0, 2, 3), (0, 5, 6), (1, 6, 9), (1, 9, 10), (0, 10, 11)]
    plain = [ScriptUnit(script, unit(n, 1), *at) for n, (script, *at) in enumerate(places)]
    units = columns_of(plain)
    assert (list(units), len(units), units.scripts) == (plain, 6, [0, 1])
    assert [units[place] for place in range(-6, 6)] == plain + plain
    assert units[1:4] == tuple(plain[1:4])
    with pytest.raises(IndexError):
        units[6]
    assert [(run.script, run.key, run.start, run.stop) for run in units.runs()] == [
        (0, plain[0].key, 0, 3),
        (0, plain[2].key, 5, 6),
        (1, plain[3].key, 6, 10),
        (0, plain[5].key, 10, 11),
    ]
    assert units.statements == 9
    assert columns_of(plain[3:5]).steps().tolist() == [6, 7, 8, 9]
    assert (
        len(UnitColumns([])),
        list(UnitColumns([]).runs()),
        UnitColumns([]).steps().tolist(),
    ) == (0, [], [])
