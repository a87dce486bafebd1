"""Subtransactions (10.1 and later): their records are those of the transaction that owns them, and
name each other."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from replay.logs.db2luw.reader import LuwLog, open_log
from tests.logs.db2luw.test_damage import row
from tests.logs.db2luw.test_side_by_side import as_log
from tests.support.luwbuilder import PLAIN, LogBuilder, Transaction


def with_subtransactions(draw: random.Random, framing_name: str, sound: bool) -> LogBuilder:
    """Units with subtransactions, whose ids come again in others (``sound``: not), which are open
    side by side, take changes back, and end by themselves or not."""
    builder = LogBuilder("v10", draw.random() < 0.5, framing_name)
    units, owned = list[Transaction](), dict[int, list[Transaction]]()
    for number in range(120):
        if len(units) < 2 or draw.random() < 0.2:
            unit = builder.begin()
            if draw.random() < 0.8:
                unit.insert(PLAIN, row(number), (1, number))
            units.append(unit)
            owned[unit.tid] = []
            continue
        unit = draw.choice(units)
        made = draw.choice([unit, *owned[unit.tid]])
        if not sound and draw.random() < 0.2:
            made = draw.choice([unit, *(child for each in owned.values() for child in each)])
        match draw.choice(("insert", "update", "undo", "begin", "begin", "end", "commit")):
            case "insert":
                made.insert(PLAIN, row(number), (2, number))
            case "update":
                made.update(PLAIN, row(number), row(number, "Bea"), (draw.randrange(3), number))
            case "undo" if made.written:
                made.undo(made.written[-1])
            case "begin":
                child = builder.begin()
                if not sound and draw.random() < 0.3:
                    child.tid = draw.choice(units).tid
                early = draw.random() < 0.3
                if early:
                    child.insert(PLAIN, row(number), (3, number))
                size = 5 if draw.random() < 0.1 else draw.choice([6, 10])
                unit.add(0x46, (builder.six(child.tid) + bytes(4))[:size])
                owned[unit.tid].append(child)
            case "end" if owned[unit.tid]:
                child = owned[unit.tid].pop()
                draw.choice([child.commit, child.abort])()
            case "commit":
                units.remove(unit)
                if draw.random() < 0.8:
                    draw.choice([unit.commit, unit.commit, unit.abort])()
    return builder


@pytest.mark.parametrize("seed", range(6))
def test_units_are_the_same_in_all_framings(seed: int, tmp_path: Path) -> None:
    """Of records that are open side by side, each stands behind the one that it names."""
    opened: list[LuwLog] = []
    for framing_name in ("flt56", "lri48", "lsn8", "raw"):
        builder = with_subtransactions(random.Random(seed), framing_name, True)
        inputs = replace(as_log(tmp_path, builder), options={"dialect": "v10"})
        opened.append(open_log(inputs))
    first, *others = opened
    for log in others:
        for name in ("unit", "change", "cancelled", "fault"):
            assert log.entries()[name].tolist() == first.entries()[name].tolist()
        for name in ("unit", "disposition", "incomplete"):
            assert log.units()[name].tolist() == first.units()[name].tolist()


@pytest.mark.parametrize("framing_name", ["flt56", "raw"])
def test_a_subtransaction_that_goes_on_behind_its_owner_is_contradicted(
    framing_name: str, tmp_path: Path
) -> None:
    builder = LogBuilder("v10", True, framing_name)
    unit, child = builder.begin(), builder.begin()
    unit.insert(PLAIN, row(1), (1, 1))
    unit.add(0x46, builder.six(child.tid))
    child.insert(PLAIN, row(2), (1, 2))
    unit.commit()
    child.insert(PLAIN, row(3), (1, 3))
    inputs = as_log(tmp_path, builder)
    assert (open_log(inputs).entries()["fault"] > 0).any()


@pytest.mark.parametrize("dialect", ["v7", "v97", "v10"])
def test_forgotten_transactions_are_no_subtransactions(dialect: str, tmp_path: Path) -> None:
    """They have the same type: of earlier releases, and without an id."""
    builder = LogBuilder(dialect, True, {"v7": "lsn6", "v97": "flt16"}.get(dialect, "flt56"))
    for number in range(6):
        unit = builder.begin()
        unit.insert(PLAIN, row(number), (1, number))
        unit.commit()
        unit.previous = 0
        unit.add(0x46, b"" if dialect == "v10" else builder.six(unit.tid + 1))
    inputs = as_log(tmp_path, builder)
    assert open_log(inputs).units()["disposition"].tolist().count(ord("C")) == 18
